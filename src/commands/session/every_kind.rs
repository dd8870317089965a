//! All that a namespace or a cluster has, of whatever kind.

use std::sync::Arc;

use super::{Session, SessionPlace};
use crate::cluster::{Client, Names, Resolver, Target};
use crate::commands::{CommandError, Context, ObjectArgs, Subject};
use crate::object::Resource;

/// What there is, and what of it cannot be followed.
#[derive(Debug, Default)]
pub(crate) struct EveryKind {
    pub(crate) targets: Vec<Target>,
    /// What can be listed, and not watched.
    pub(crate) unwatched: Vec<Resource>,
    /// `GROUP/VERSION` of the groups whose API server does not answer.
    pub(crate) silent: Vec<String>,
}

impl From<Vec<Target>> for EveryKind {
    fn from(targets: Vec<Target>) -> EveryKind {
        EveryKind {
            targets,
            ..EveryKind::default()
        }
    }
}

impl Session {
    /// [`Session::targets`] of a command that is about every kind where it names neither objects nor types.
    pub(crate) async fn targets_or_every_kind(
        &self,
        args: &ObjectArgs,
        verb: &str,
        context: &mut Context<'_>,
    ) -> Result<EveryKind, CommandError> {
        match (&self.place, args.subject()) {
            (SessionPlace::Cluster(client), Subject::Unnamed) => {
                self.every_kind(args, client).await
            }
            (SessionPlace::Cluster(_), Subject::Manifests | Subject::Words)
            | (SessionPlace::File(_), _) => Ok(self.targets(args, verb, context).await?.into()),
        }
    }

    /// Every kind that can be listed and watched: of the namespace, or with `-A` of the cluster.
    async fn every_kind(
        &self,
        args: &ObjectArgs,
        client: &Client,
    ) -> Result<EveryKind, CommandError> {
        let resolver = Resolver::new(client.clone());
        let discovery = resolver.discovery().await?;
        let mut every = EveryKind {
            silent: discovery.stale.clone(),
            ..EveryKind::default()
        };
        for found in &discovery.types {
            let resource = &found.resource;
            // Another version of the same, or Events, which two groups serve.
            let is_same = |taken: &Resource| {
                taken.plural == resource.plural
                    && (taken.group == resource.group || &*resource.plural == "events")
            };
            let taken = every.targets.iter().map(|target| &target.resource);
            let is_taken = taken.chain(&every.unwatched).any(is_same);
            let is_here = args.all_namespaces || resource.namespaced;
            if !(is_here && found.listable()) || is_taken || is_deprecated(resource) {
                continue;
            }
            if !found.watchable() {
                every.unwatched.push(resource.clone());
                continue;
            }
            every.targets.push(Target {
                resource: resource.clone(),
                namespace: (!args.all_namespaces).then(|| self.namespace.clone()),
                names: Names::All,
                labels: args.selector.as_deref().map(Arc::from),
                fields: args.field_selector.as_deref().map(Arc::from),
            });
        }
        Ok(every)
    }
}

/// Whether nobody should be told of a kind any more. `ComponentStatus` is deprecated since Kubernetes 1.19, and
/// API servers still list it.
fn is_deprecated(resource: &Resource) -> bool {
    resource.group.is_empty() && &*resource.plural == "componentstatuses"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn component_statuses_are_left_out_and_nothing_else_of_that_name() {
        let resource = |group: &str, plural: &str| Resource {
            group: group.into(),
            version: "v1".into(),
            plural: plural.into(),
            kind: "Kind".into(),
            namespaced: false,
        };
        assert!(is_deprecated(&resource("", "componentstatuses")));
        assert!(!is_deprecated(&resource(
            "example.com",
            "componentstatuses"
        )));
        assert!(!is_deprecated(&resource("", "nodes")));
    }
}
