//! From what a user named to the sources to watch.

use super::super::{ClusterId, Form, Scope, SourceKey};
use crate::cluster::Target;

/// The sources that hold what `target` names: one for each name, else one.
pub fn source_keys(cluster: &ClusterId, target: &Target, form: Form) -> Vec<SourceKey> {
    let scope = match &target.namespace {
        Some(namespace) => Scope::Namespace(namespace.clone()),
        None => Scope::Cluster,
    };
    let key = |fields| SourceKey {
        cluster: cluster.clone(),
        resource: target.resource.clone(),
        scope: scope.clone(),
        labels: target.labels.clone(),
        fields,
        form,
    };
    target.field_selectors().into_iter().map(key).collect()
}
