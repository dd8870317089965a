//! The environment of the process, as far as it concerns clusters. Callers pass it as plain values.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

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

#[cfg(test)]
mod tests {
    use super::*;

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
