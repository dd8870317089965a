//! Kubeconfigs given as texts, for tests and fuzz targets.

use std::path::Path;

use kube::config::{Kubeconfig, KubeconfigError};
#[cfg(test)]
use serde_json::json;

use super::files::{load_error, without_empty_context};
use super::{Ambient, ClusterConfig, ConfigError, Overrides, choose, from_choice};

impl ClusterConfig {
    /// The cluster of kubeconfig texts and `overrides`. The texts must not name files or credential plugins, so
    /// reading them opens and runs nothing. Of several texts the first that sets a value takes precedence.
    pub fn of_texts(texts: &[&str], overrides: &Overrides) -> Result<ClusterConfig, ConfigError> {
        let request_timeout = overrides.request_timeout()?;
        let choice = choose::choose(&merged(texts)?, overrides)?;
        let found = from_choice(choice, &Ambient::default(), overrides)?;
        Ok(ClusterConfig {
            request_timeout,
            ..found
        })
    }

    /// The same cluster, with this credential plugin.
    #[cfg(test)]
    #[must_use]
    pub(crate) fn with_plugin(mut self, command: &str) -> ClusterConfig {
        self.config.auth_info.exec = serde_json::from_value(json!({
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": command,
            "interactiveMode": "Never",
        }))
        .expect("a plugin");
        self
    }
}

/// Reads self-contained kubeconfig texts: they must not name a file or a credential plugin.
fn merged(texts: &[&str]) -> Result<Kubeconfig, ConfigError> {
    let path = Path::new("kubeconfig");
    let fail = |error: KubeconfigError| load_error(path, &error);
    let mut merged = Kubeconfig::default();
    for text in texts {
        let next = without_empty_context(Kubeconfig::from_yaml(text).map_err(fail)?);
        merged = merged.merge(next).map_err(fail)?;
    }
    if reaches_out(&merged) {
        let problem = "a kubeconfig given as text must not name a file or a credential plugin";
        return Err(ConfigError::invalid(problem));
    }
    Ok(merged)
}

/// Whether a kubeconfig names files or programs.
fn reaches_out(config: &Kubeconfig) -> bool {
    let mut clusters = config
        .clusters
        .iter()
        .filter_map(|named| named.cluster.as_ref());
    let mut users = config
        .auth_infos
        .iter()
        .filter_map(|named| named.auth_info.as_ref());
    clusters.any(|cluster| cluster.certificate_authority.is_some())
        || users.any(|user| {
            let files = [&user.token_file, &user.client_certificate, &user.client_key];
            files.into_iter().any(Option::is_some)
                || user.exec.is_some()
                || user.auth_provider.is_some()
        })
}
