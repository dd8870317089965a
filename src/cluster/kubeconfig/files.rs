//! Finds the kubeconfig files, and merges them.

use std::path::{Path, PathBuf};

use kube::config::{Kubeconfig, KubeconfigError};

use super::error::os_words;
use super::{Ambient, ConfigError, Overrides};

/// Reads the kubeconfig by kubectl's rules: only `--kubeconfig`, else the files of `KUBECONFIG`, else
/// `~/.kube/config`. Of several files the first that sets a value takes precedence. Missing files of a list are
/// skipped
/// (<https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/>).
pub(super) fn read(ambient: &Ambient, overrides: &Overrides) -> Result<Kubeconfig, ConfigError> {
    let given = overrides.kubeconfig.as_ref();
    if let Some(path) = given.filter(|path| !path.is_empty()).map(PathBuf::from) {
        if !path.exists() {
            return Err(ConfigError::NoFile(path));
        }
        return read_one(&path);
    }
    let mut merged = Kubeconfig::default();
    for path in candidates(ambient) {
        if path.exists() {
            let next = read_one(&path)?;
            merged = merged
                .merge(next)
                .map_err(|error| load_error(&path, &error))?;
        }
    }
    Ok(merged)
}

fn candidates(ambient: &Ambient) -> Vec<PathBuf> {
    let listed: Vec<PathBuf> = ambient
        .kubeconfig
        .iter()
        .flat_map(std::env::split_paths)
        .filter(|path| !path.as_os_str().is_empty())
        .collect();
    if listed.is_empty() {
        ambient
            .home
            .iter()
            .map(|home| home.join(".kube").join("config"))
            .collect()
    } else {
        listed
    }
}

fn read_one(path: &Path) -> Result<Kubeconfig, ConfigError> {
    let config = Kubeconfig::read_from(path).map_err(|error| load_error(path, &error))?;
    Ok(without_empty_context(config))
}

/// An empty context counts as unset, so that a later file can set it.
pub(super) fn without_empty_context(config: Kubeconfig) -> Kubeconfig {
    Kubeconfig {
        current_context: config.current_context.filter(|name| !name.is_empty()),
        ..config
    }
}

pub(super) fn load_error(path: &Path, error: &KubeconfigError) -> ConfigError {
    let detail = match error {
        KubeconfigError::ReadConfig(error, path) => {
            let action = if path.is_dir() { "read" } else { "open" };
            format!("{action} {}: {}", path.display(), os_words(error))
        }
        // The parser's own message quotes the lines around the error, which may contain a token.
        KubeconfigError::Parse(error) => match error.location() {
            Some(at) => format!("yaml: line {}: not a kubeconfig", at.line()),
            None => "yaml: not a kubeconfig".to_owned(),
        },
        other => other.to_string(),
    };
    ConfigError::Load {
        path: path.to_owned(),
        detail,
    }
}

/// The names of the contexts, clusters and users of a kubeconfig, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KubeconfigNames {
    pub(crate) contexts: Vec<ContextName>,
    pub(crate) clusters: Vec<String>,
    pub(crate) users: Vec<String>,
}

/// A context and what it selects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContextName {
    pub(crate) name: String,
    pub(crate) cluster: String,
    /// The namespace; empty if the context names none.
    pub(crate) namespace: String,
}

impl KubeconfigNames {
    pub(crate) fn read(
        ambient: &Ambient,
        overrides: &Overrides,
    ) -> Result<KubeconfigNames, ConfigError> {
        let file = read(ambient, overrides)?;
        let contexts = file.contexts.into_iter().map(|named| {
            let context = named.context.unwrap_or_default();
            ContextName {
                name: named.name,
                cluster: context.cluster,
                namespace: context.namespace.unwrap_or_default(),
            }
        });
        Ok(KubeconfigNames {
            contexts: contexts.collect(),
            clusters: file.clusters.into_iter().map(|named| named.name).collect(),
            users: file
                .auth_infos
                .into_iter()
                .map(|named| named.name)
                .collect(),
        })
    }
}
