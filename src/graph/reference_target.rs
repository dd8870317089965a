//! `ReferenceTarget`: the type, namespace and name of an object that another one names.

use crate::object::{GroupKind, ObjectRef, ServedTypes};
use crate::source::{ClusterId, Form, Select, SourceKey};
use std::sync::Arc;

/// An object, by its type, namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReferenceTarget {
    /// Its type.
    pub kind: GroupKind,
    /// Its namespace; `None` for a cluster-scoped object.
    pub namespace: Option<Arc<str>>,
    /// Its name.
    pub name: Arc<str>,
}

impl ReferenceTarget {
    /// The name of an object.
    pub fn of(object: &ObjectRef) -> ReferenceTarget {
        ReferenceTarget {
            kind: object.group_kind(),
            namespace: object.namespace.clone(),
            name: object.name.clone(),
        }
    }

    /// The source of this one object; `None` if its type is not known. Of a Secret or a `ConfigMap` it has only the
    /// metadata: whether the object exists is all that others need to know.
    pub fn source(&self, cluster: &ClusterId, types: &ServedTypes) -> Option<SourceKey> {
        let resource = types.resource(&self.kind)?.clone();
        let form = match &*self.kind.kind {
            "Secret" | "ConfigMap" => Form::Metadata,
            _ => Form::Full,
        };
        let select = Select::Name(self.name.clone());
        let source = SourceKey::of(cluster, resource, self.namespace.clone(), select);
        Some(SourceKey { form, ..source })
    }

    /// The source of all objects of its type, in its namespace; `None` if its type is not known.
    pub fn list_source(&self, cluster: &ClusterId, types: &ServedTypes) -> Option<SourceKey> {
        Some(self.source(cluster, types)?.of_all())
    }

    /// The object, without a uid. Its version is that of the served type, or unknown.
    pub fn object(&self, types: &ServedTypes) -> ObjectRef {
        let api_version = match types.resource(&self.kind) {
            Some(resource) => resource.api_version(),
            None if self.kind.group.is_empty() => String::new(),
            None => format!("{}/", self.kind.group),
        };
        ObjectRef {
            api_version: api_version.into(),
            kind: self.kind.kind.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            uid: None,
        }
    }
}
