//! Parses the URL of a server, as flags and kubeconfigs write it.

use http::Uri;
use kube::config::Cluster;

use super::error::ConfigError;
use crate::object::{excerpt, shown_url};

/// The most bytes of a server's URL, which precedes every path.
const LONGEST_URL: usize = 4 << 10;

/// Parses the server of a setting. A URL without a scheme is `https://` if the cluster has a setting for its
/// certificate.
pub(super) fn parse(text: &str, setting: &str, cluster: &Cluster) -> Result<Uri, ConfigError> {
    let secure = cluster.insecure_skip_tls_verify == Some(true)
        || cluster.certificate_authority.is_some()
        || cluster.certificate_authority_data.is_some();
    let full = match (text.contains("://"), secure) {
        (true, _) => text.to_owned(),
        (false, true) => format!("https://{text}"),
        (false, false) => format!("http://{text}"),
    };
    let is_one = |url: &Uri| {
        matches!(url.scheme_str(), Some("http" | "https"))
            && url.host().is_some_and(|host| !host.is_empty())
            && full.len() <= LONGEST_URL
    };
    full.parse::<Uri>()
        .ok()
        .filter(is_one)
        .ok_or_else(|| ConfigError::Url {
            problem: "host must be a URL or a host:port pair",
            shown: excerpt(&shown_url(text), 200),
            setting: setting.to_owned(),
            wanted: "http:// or https:// with a host, or HOST:PORT",
        })
}
