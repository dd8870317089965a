//! The names in a kubeconfig, for completion.

use super::{Ambient, ConfigError, Overrides, files};

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
    /// Reads the kubeconfig that kubectl would use.
    pub(crate) fn read(
        ambient: &Ambient,
        overrides: &Overrides,
    ) -> Result<KubeconfigNames, ConfigError> {
        let file = files::read(ambient, overrides)?;
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
