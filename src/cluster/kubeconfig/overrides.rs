//! What selects a cluster besides the kubeconfig: kubectl's flags and the environment, passed as plain values.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::error::ConfigError;
use crate::object::parse_duration;

/// The flags that override the kubeconfig. Their names and meanings are those of `kubectl options`. An empty text
/// counts as absent.
#[derive(Args, Clone, Debug, Default)]
pub struct Overrides {
    /// Use this kubeconfig file (default: $KUBECONFIG, then ~/.kube/config)
    #[arg(long, global = true, value_name = "FILE")]
    pub kubeconfig: Option<OsString>,
    /// Use the credential plugin policy of this kuberc file (default: $KUBERC, then ~/.kube/kuberc)
    #[arg(long, global = true, value_name = "FILE")]
    pub kuberc: Option<OsString>,
    /// Use this kubeconfig context, or several: a,b (default: the current context)
    #[arg(long, global = true)]
    pub context: Option<String>,
    /// Use this kubeconfig cluster (default: the cluster of the context)
    #[arg(long, global = true)]
    pub cluster: Option<String>,
    /// Use this kubeconfig user (default: the user of the context)
    #[arg(long, global = true)]
    pub user: Option<String>,
    /// Look in this namespace (default: the namespace of the context)
    #[arg(short, long, global = true)]
    pub namespace: Option<String>,
    /// Connect to the API server at this address, for example localhost:6443
    #[arg(short, long, global = true, value_name = "URL")]
    pub server: Option<String>,
    /// The credentials to use.
    #[command(flatten)]
    pub credentials: Credentials,
    /// The user to impersonate.
    #[command(flatten)]
    pub impersonate: Impersonate,
    /// Trust the certificate authority in this file
    #[arg(long, global = true, value_name = "FILE")]
    pub certificate_authority: Option<String>,
    /// Authenticate with the client certificate in this file
    #[arg(long, global = true, value_name = "FILE")]
    pub client_certificate: Option<String>,
    /// Authenticate with the client key in this file
    #[arg(long, global = true, value_name = "FILE")]
    pub client_key: Option<String>,
    /// Do not check the server's certificate; this makes the connection insecure
    #[arg(long, global = true)]
    pub insecure_skip_tls_verify: bool,
    /// Check the server's certificate against this name (default: the host of the URL)
    #[arg(long, global = true, value_name = "NAME")]
    pub tls_server_name: Option<String>,
    /// Do not ask for compressed responses
    #[arg(long, global = true)]
    pub disable_compression: bool,
    /// Give up a single request after this time, for example 30s or 2m; 0: no limit. Watches have no
    /// limit
    #[arg(long, global = true, value_name = "DURATION", default_value = "0")]
    pub request_timeout: Option<String>,
}

/// The flags that replace the user's credentials.
#[derive(Args, Clone, Default)]
pub struct Credentials {
    /// Authenticate with this bearer token
    #[arg(long, global = true)]
    pub token: Option<String>,
    /// Authenticate with this user name (basic authentication)
    #[arg(long, global = true)]
    pub username: Option<String>,
    /// Authenticate with this password (basic authentication)
    #[arg(long, global = true)]
    pub password: Option<String>,
}

/// The flags of impersonation.
#[derive(Args, Clone, Debug, Default)]
pub struct Impersonate {
    /// Impersonate this user, for example jane
    #[arg(id = "as_user", long = "as", global = true, value_name = "USER")]
    pub user: Option<String>,
    /// Impersonate this group, for example system:masters; repeat for several
    #[arg(
        id = "as_group",
        long = "as-group",
        global = true,
        value_name = "GROUP"
    )]
    pub groups: Vec<String>,
    /// Impersonate this user ID
    #[arg(id = "as_uid", long = "as-uid", global = true, value_name = "UID")]
    pub uid: Option<String>,
    /// Impersonate with this extra field, for example reason=test; repeat for several
    #[arg(
        id = "as_user_extra",
        long = "as-user-extra",
        global = true,
        value_name = "KEY=VALUE"
    )]
    pub extra: Vec<String>,
}

impl Overrides {
    /// The same flags for one context.
    pub(crate) fn of_context(&self, name: &str) -> Overrides {
        Overrides {
            context: Some(name.to_owned()),
            ..self.clone()
        }
    }

    /// The time limit of one request; `None` if the user sets none.
    pub fn request_timeout(&self) -> Result<Option<Duration>, ConfigError> {
        match set(self.request_timeout.as_ref()) {
            None => Ok(None),
            Some(text) => parse_seconds(text)
                .map(|limit| Some(limit).filter(|limit| !limit.is_zero()))
                .ok_or(ConfigError::Timeout),
        }
    }
}

/// The text, if it is not empty.
pub(super) fn set(text: Option<&String>) -> Option<&str> {
    text.map(String::as_str).filter(|text| !text.is_empty())
}

fn parse_seconds(text: &str) -> Option<Duration> {
    match text.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => parse_duration(text),
    }
}

/// Shows which flags are set, without their values.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("token", &self.token.is_some())
            .field("password", &self.password.is_some())
            .finish_non_exhaustive()
    }
}

/// The environment variables and directories that select a cluster. This module and its callees never read the
/// environment themselves.
#[derive(Clone)]
pub struct Ambient {
    /// `KUBECONFIG`: a list of paths, with the platform's separator.
    pub kubeconfig: Option<OsString>,
    /// The home directory.
    pub home: Option<PathBuf>,
    /// `KUBERC`: the file with the user's preferences, or `off`.
    pub kuberc: Option<OsString>,
    /// `KUBECACHEDIR`: the directory in which responses are kept between runs.
    pub cache_dir: Option<OsString>,
    /// `PATH`, in which credential plugins are looked up.
    pub path: Option<OsString>,
    /// `HTTPS_PROXY` or `https_proxy`.
    pub https_proxy: Option<String>,
    /// `HTTP_PROXY` or `http_proxy`.
    pub http_proxy: Option<String>,
    /// `NO_PROXY` or `no_proxy`.
    pub no_proxy: Option<String>,
    /// `KUBERNETES_SERVICE_HOST`, which is set inside a pod.
    pub service_host: Option<String>,
    /// `KUBERNETES_SERVICE_PORT`.
    pub service_port: Option<String>,
    /// `POD_NAMESPACE`.
    pub pod_namespace: Option<String>,
    /// The directory with the credentials of a pod's service account.
    pub service_account: PathBuf,
}

impl Default for Ambient {
    /// An empty environment.
    fn default() -> Ambient {
        Ambient::from_lookup(|_| None)
    }
}

impl Ambient {
    /// Reads the variables with `lookup`, which is [`std::env::var_os`] in the program and a table in tests.
    /// Empty values count as unset.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<OsString>) -> Ambient {
        let raw = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let text = |names: &[&str]| names.iter().find_map(|name| raw(name)?.into_string().ok());
        Ambient {
            kubeconfig: raw("KUBECONFIG"),
            home: raw("HOME")
                .or_else(|| raw("USERPROFILE"))
                .map(PathBuf::from),
            kuberc: raw("KUBERC"),
            cache_dir: raw("KUBECACHEDIR"),
            path: raw("PATH"),
            https_proxy: text(&["HTTPS_PROXY", "https_proxy"]),
            http_proxy: text(&["HTTP_PROXY", "http_proxy"]),
            no_proxy: text(&["NO_PROXY", "no_proxy"]),
            service_host: text(&["KUBERNETES_SERVICE_HOST"]),
            service_port: text(&["KUBERNETES_SERVICE_PORT"]),
            pod_namespace: text(&["POD_NAMESPACE"]),
            service_account: PathBuf::from("/var/run/secrets/kubernetes.io/serviceaccount"),
        }
    }

    /// The directory in which responses are kept between runs. The default is kubectl's `~/.kube/cache`; without
    /// a home directory there is none.
    pub fn cache_dir(&self) -> Option<PathBuf> {
        let usual = || Some(self.home.as_ref()?.join(".kube").join("cache"));
        self.cache_dir.as_ref().map(PathBuf::from).or_else(usual)
    }
}

/// Leaves out the proxies, because their URLs may contain a password.
impl fmt::Debug for Ambient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ambient")
            .field("kubeconfig", &self.kubeconfig)
            .field("home", &self.home)
            .finish_non_exhaustive()
    }
}

/// How a credential plugin runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PluginRun {
    /// As kubectl runs it: it may use the terminal, and take any time.
    Attended,
    /// Without the terminal, for at most this long. A plugin that needs the terminal is an error.
    Unattended(Duration),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_timeouts_are_parsed_as_in_kubectl() {
        let millis = |text: &str| parse_seconds(text).map(|limit| limit.as_millis());
        assert_eq!(millis("30"), Some(30_000));
        assert_eq!(millis("1m30s"), Some(90_000));
        assert_eq!(millis("1.5h"), Some(5_400_000));
        assert_eq!(millis("250ms"), Some(250));
        assert_eq!(millis("0"), Some(0));
        for wrong in ["", "s", "1d", "-1s", "1.2.3s", "5 s", "1m5"] {
            assert_eq!(millis(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn zero_means_no_limit() {
        let flags = |text: &str| Overrides {
            request_timeout: Some(text.to_owned()),
            ..Overrides::default()
        };
        assert_eq!(flags("0").request_timeout().expect("valid"), None);
        assert_eq!(
            flags("zz")
                .request_timeout()
                .expect_err("refused")
                .to_string(),
            "error: Invalid timeout value. Timeout must be a single integer in seconds, or an \
             integer followed by a corresponding time unit (e.g. 1s | 2m | 3h)"
        );
    }

    #[test]
    fn debug_output_contains_no_credentials() {
        let flags = Overrides {
            credentials: Credentials {
                token: Some("s3cret".to_owned()),
                password: Some("s3cret".to_owned()),
                ..Credentials::default()
            },
            ..Overrides::default()
        };
        assert!(!format!("{flags:?}").contains("s3cret"));
    }

    #[test]
    fn the_cache_directory_is_kubectls() {
        let check = |variables: &[(&str, &str)], expect: Option<&str>| {
            let ambient = Ambient::from_lookup(|name| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| value.into())
            });
            assert_eq!(ambient.cache_dir(), expect.map(PathBuf::from));
        };
        check(&[], None);
        check(&[("HOME", "/root")], Some("/root/.kube/cache"));
        check(
            &[("HOME", "/root"), ("KUBECACHEDIR", "/var/c")],
            Some("/var/c"),
        );
        check(
            &[("HOME", "/root"), ("KUBECACHEDIR", "")],
            Some("/root/.kube/cache"),
        );
    }
}
