//! Resolves type words to resources.

use std::sync::Arc;

use super::{ArgumentError, Arguments, Filters, NamedType, Names, Namespaces, given};
use crate::cluster::discovery::{ResolveError, Resolver};
use crate::object::Resource;

/// The objects of one resource that the arguments name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The resource.
    pub resource: Resource,
    /// The namespace; `None` for all namespaces and for cluster-scoped resources.
    pub namespace: Option<Arc<str>>,
    /// The names.
    pub names: Names,
    /// `-l`. Named objects have none.
    pub labels: Option<Arc<str>>,
    /// `--field-selector`. Named objects have none.
    pub fields: Option<Arc<str>>,
}

/// Why the arguments have no target. Its `Display` is kubectl's line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// The arguments contradict each other.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// A word is not a type.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
}

impl Arguments {
    /// Resolves the words to resources, one target for each.
    pub async fn resolve(
        &self,
        resolver: &Resolver,
        filters: &Filters,
    ) -> Result<Vec<Target>, TargetError> {
        let mut targets: Vec<Target> = Vec::new();
        for asked in &self.asked {
            for resource in resources(asked, resolver).await? {
                let target = target(asked, resource, filters)?;
                if !targets.contains(&target) {
                    targets.push(target);
                }
            }
        }
        Ok(targets)
    }
}

async fn resources(asked: &NamedType, resolver: &Resolver) -> Result<Vec<Resource>, TargetError> {
    match resolver.category(&asked.word).await {
        Some(_) if asked.names != Names::All => Err(ArgumentError::NamedCategory.into()),
        Some(members) => Ok(members),
        None => Ok(vec![resolver.resolve(&asked.word).await?]),
    }
}

fn target(
    asked: &NamedType,
    resource: Resource,
    filters: &Filters,
) -> Result<Target, ArgumentError> {
    let namespace = match (&asked.namespace, &filters.namespaces) {
        _ if !resource.namespaced => None,
        (Some(own), _) => Some(own.clone()),
        (None, Namespaces::One(namespace)) => Some(namespace.clone()),
        (None, Namespaces::All) if asked.names != Names::All => {
            return Err(ArgumentError::NameEverywhere);
        }
        (None, Namespaces::All) => None,
    };
    Ok(Target {
        resource,
        namespace,
        names: asked.names.clone(),
        labels: given(filters.labels.as_ref()).map(Into::into),
        fields: given(filters.fields.as_ref()).map(Into::into),
    })
}
