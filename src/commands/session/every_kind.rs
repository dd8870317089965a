//! All that a namespace or a cluster has, of whatever kind.

use std::sync::Arc;

use super::{Place, Session};
use crate::cluster::{Names, Resolver, Target};
use crate::commands::{CommandError, Context, ObjectArgs};

impl Session {
    /// Every kind that can be listed and watched: of the namespace, or with `-A` of the cluster.
    pub(crate) async fn every_kind(
        &self,
        args: &ObjectArgs,
        asking: (&str, &mut Context<'_>),
    ) -> Result<Vec<Target>, CommandError> {
        let Place::Cluster(client) = &self.place else {
            return self.targets(args, asking).await;
        };
        let resolver = Resolver::new(client.clone());
        let discovery = resolver.discovery().await?;
        let mut targets: Vec<Target> = Vec::new();
        for found in &discovery.types {
            let resource = &found.resource;
            // Another version of the same, or Events, which two groups serve.
            let is_same = |taken: &Target| {
                taken.resource.plural == resource.plural
                    && (taken.resource.group == resource.group || &*resource.plural == "events")
            };
            let is_here = args.all_namespaces || resource.namespaced;
            if !(is_here && found.listable() && found.watchable()) || targets.iter().any(is_same) {
                continue;
            }
            targets.push(Target {
                resource: resource.clone(),
                namespace: (!args.all_namespaces).then(|| self.namespace.clone()),
                names: Names::All,
                labels: args.selector.as_deref().map(Arc::from),
                fields: args.field_selector.as_deref().map(Arc::from),
            });
        }
        Ok(targets)
    }
}
