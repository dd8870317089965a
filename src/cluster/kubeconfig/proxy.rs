//! Chooses the proxy for a server by the rules of Go's `httpproxy`, which kubectl uses.
//!
//! `hyper_util::client::proxy::matcher` follows curl's rules for `NO_PROXY`, which differ: it supports neither
//! the port of an entry nor `*.NAME`, `*` does not exempt IP addresses, and `.NAME` exempts the name itself. So
//! this module implements Go's rules.

use std::net::IpAddr;

use http::Uri;
use ipnet::IpNet;
use percent_encoding::percent_decode_str;

use super::error::ConfigError;
use super::overrides::Ambient;
use super::overrides::set;
use super::pem::to_base64;
use crate::object::{excerpt, shown_url};
use kube::config::Cluster;

/// The proxy for `server`: the cluster's own `proxy-url`, else the environment's. `NO_PROXY` can exempt a server
/// from the environment's proxy, and this machine never uses it.
pub(super) fn choose(
    cluster: &Cluster,
    cluster_name: &str,
    ambient: &Ambient,
    server: &Uri,
) -> Result<Option<Uri>, ConfigError> {
    if let Some(url) = set(cluster.proxy_url.as_ref()) {
        let setting = format!("the proxy-url of cluster {cluster_name:?}");
        return parse(url, &setting).map(Some);
    }
    let (from_environment, variable) = match server.scheme_str() {
        Some("https") => (ambient.https_proxy.as_deref(), "HTTPS_PROXY"),
        _ => (ambient.http_proxy.as_deref(), "HTTP_PROXY"),
    };
    match from_environment {
        Some(proxy) if !exempt(ambient.no_proxy.as_deref(), server) => {
            let setting = format!("the variable {variable}");
            parse(proxy, &setting).map(Some)
        }
        _ => Ok(None),
    }
}

/// Parses a proxy URL. Without a scheme it is an `http://` URL.
fn parse(text: &str, setting: &str) -> Result<Uri, ConfigError> {
    let bad = || ConfigError::Url {
        problem: "invalid proxy URL",
        shown: excerpt(&shown_url(text), 200),
        setting: setting.to_owned(),
        wanted: "http://, https:// or socks5:// with a host",
    };
    let full = if text.contains("://") {
        text.replacen("socks5h://", "socks5://", 1)
    } else {
        format!("http://{text}")
    };
    let uri: Uri = full.parse().map_err(|_| bad())?;
    match uri.scheme_str() {
        Some("http" | "https" | "socks5") if uri.host().is_some() => Ok(uri),
        _ => Err(bad()),
    }
}

/// The user and the password in a proxy's URL.
pub(crate) fn login(proxy: &Uri) -> Option<(String, String)> {
    let (login, _host) = proxy.authority()?.as_str().rsplit_once('@')?;
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    Some((percent_decoded(user), percent_decoded(password)))
}

pub(crate) fn basic_authorization(user: &str, password: &str) -> String {
    let pair = format!("{user}:{password}");
    format!("Basic {}", to_base64(pair))
}

fn percent_decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn exempt(no_proxy: Option<&str>, server: &Uri) -> bool {
    // An IPv6 address has brackets.
    let host = server.host().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let host = host.to_ascii_lowercase();
    let port = server.port_u16().unwrap_or(match server.scheme_str() {
        Some("https") => 443,
        _ => 80,
    });
    let address = host.parse::<IpAddr>().ok();
    if host == "localhost" || address.is_some_and(|address| address.is_loopback()) {
        return true;
    }
    no_proxy
        .unwrap_or_default()
        .split(',')
        .map(|entry| entry.trim().to_ascii_lowercase())
        .filter(|entry| !entry.is_empty())
        .any(|entry| match address {
            Some(address) => exempts_address(&entry, address, port),
            None => exempts_name(&entry, &host, port),
        })
}

fn exempts_address(entry: &str, address: IpAddr, port: u16) -> bool {
    if entry == "*" {
        return true;
    }
    if let Ok(network) = entry.parse::<IpNet>() {
        return network.contains(&address);
    }
    if entry.trim_matches(['[', ']']).parse() == Ok(address) {
        return true;
    }
    split_port(entry).is_some_and(|(host, wanted)| {
        wanted == port && host.trim_matches(['[', ']']).parse() == Ok(address)
    })
}

fn exempts_name(entry: &str, host: &str, port: u16) -> bool {
    if entry == "*" {
        return true;
    }
    let (name, port_fits) = match split_port(entry) {
        Some((name, wanted)) => (name, wanted == port),
        None => (entry, true),
    };
    let name = name.strip_prefix('*').unwrap_or(name);
    let fits = match name.strip_prefix('.') {
        Some(parent) => host
            .strip_suffix(parent)
            .is_some_and(|child| child.ends_with('.')),
        None => host
            .strip_suffix(name)
            .is_some_and(|child| child.is_empty() || child.ends_with('.')),
    };
    port_fits && !name.is_empty() && fits
}

fn split_port(entry: &str) -> Option<(&str, u16)> {
    let (host, port) = entry.rsplit_once(':')?;
    Some((host, port.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(url: Option<&str>) -> Cluster {
        Cluster {
            proxy_url: url.map(str::to_owned),
            ..Cluster::default()
        }
    }

    fn check(no_proxy: &str, server: &str, proxied: bool) {
        let ambient = Ambient {
            https_proxy: Some("proxy:3128".to_owned()),
            no_proxy: Some(no_proxy.to_owned()),
            ..Ambient::default()
        };
        let server: Uri = server.parse().expect("a server");
        let chosen = choose(&own(None), "c", &ambient, &server).expect("valid");
        assert_eq!(
            chosen.is_some(),
            proxied,
            "NO_PROXY={no_proxy} for {server}"
        );
    }

    #[test]
    fn no_proxy_exempts_the_server() {
        for (no_proxy, server, proxied) in [
            ("", "https://api.example.com:6443", true),
            ("*", "https://api.example.com:6443", false),
            ("example.com", "https://api.example.com:6443", false),
            ("example.com", "https://example.com", false),
            ("example.com", "https://badexample.com", true),
            (".example.com", "https://example.com", true),
            ("*", "https://10.1.2.3:6443", false),
            (".example.com", "https://api.example.com", false),
            ("*.example.com", "https://api.example.com", false),
            ("EXAMPLE.com", "https://API.Example.COM", false),
            ("example.com:6443", "https://api.example.com:6443", false),
            ("example.com:443", "https://api.example.com:6443", true),
            ("example.com:443", "https://api.example.com", false),
            ("10.1.2.3", "https://10.1.2.3:6443", false),
            ("10.1.2.3:443", "https://10.1.2.3:6443", true),
            ("10.0.0.0/8", "https://10.1.2.3:6443", false),
            ("10.0.0.0/16", "https://10.1.2.3:6443", true),
            ("0.0.0.0/0", "https://10.1.2.3:6443", false),
            ("10.0.0.0/33", "https://10.1.2.3:6443", true),
            ("fd00::/8", "https://[fd00::1]:6443", false),
            ("fd00::1", "https://[fd00::1]:6443", false),
            ("other, ,example.com,", "https://api.example.com", false),
            ("nothing", "https://127.0.0.1:6443", false),
            ("nothing", "https://localhost:6443", false),
            ("nothing", "https://[::1]:6443", false),
        ] {
            check(no_proxy, server, proxied);
        }
    }

    #[test]
    fn the_clusters_own_proxy_takes_precedence() {
        let ambient = Ambient {
            no_proxy: Some("*".to_owned()),
            ..Ambient::default()
        };
        let server = Uri::from_static("https://api.example.com");
        let chosen =
            choose(&own(Some("socks5h://jump:1080")), "c", &ambient, &server).expect("valid");
        assert_eq!(chosen, Some(Uri::from_static("socks5://jump:1080")));
    }

    #[test]
    fn a_proxys_login_is_decoded() {
        let check = |url: &str| login(&url.parse().expect("a URL"));
        assert_eq!(
            check("http://me:pa%40ss%3A%zz@proxy:3128"),
            Some(("me".to_owned(), "pa@ss:%zz".to_owned()))
        );
        assert_eq!(
            check("http://me@proxy"),
            Some(("me".to_owned(), String::new()))
        );
        assert_eq!(check("http://proxy"), None);
        assert_eq!(basic_authorization("me", "pass"), "Basic bWU6cGFzcw==");
    }

    #[test]
    fn a_refused_proxy_does_not_show_its_password() {
        let server = Uri::from_static("https://api.example.com");
        let error = choose(
            &own(Some("ftp://me:s3cret@x")),
            "c",
            &Ambient::default(),
            &server,
        )
        .expect_err("no such scheme");
        assert!(!error.to_string().contains("s3cret"));
    }
}
