//! The identity of a source: subscribers with equal keys share it.

use std::collections::HashMap;
use std::fmt::{self, Write};
use std::sync::Arc;

use super::Event;
use super::select::Select;
use crate::object::{ObjectRef, Resource};

/// The cluster that a source reads: the name of a context or of a file. Views show it, and two clusters never
/// share a source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClusterId(pub Arc<str>);

/// The namespaces that a source covers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All namespaces, or a cluster-scoped resource.
    Cluster,
    /// One namespace.
    Namespace(Arc<str>),
}

/// How much of each object a source requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// The whole object.
    Full,
    /// `apiVersion`, `kind` and `metadata` (meta/v1 `PartialObjectMetadata`).
    Metadata,
    /// The whole object, and the cells that `kubectl get` shows of it ([`printed()`](super::printed())).
    Table,
}

/// The key of one upstream. Equal keys share it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceKey {
    /// The cluster.
    pub cluster: ClusterId,
    /// The resource.
    pub resource: Resource,
    /// The namespaces.
    pub scope: Scope,
    /// The objects.
    pub select: Select,
    /// How much of each object.
    pub form: Form,
}

impl SourceKey {
    /// The key of whole objects. Without a namespace, or of a cluster-scoped resource, it covers all namespaces.
    pub fn of(
        cluster: &ClusterId,
        resource: Resource,
        namespace: Option<Arc<str>>,
        select: Select,
    ) -> SourceKey {
        let namespace = namespace.filter(|_| resource.namespaced);
        SourceKey {
            cluster: cluster.clone(),
            resource,
            scope: namespace.map_or(Scope::Cluster, Scope::Namespace),
            select,
            form: Form::Full,
        }
    }

    /// The key of all objects in the same namespaces.
    #[must_use]
    pub fn of_all(&self) -> SourceKey {
        SourceKey {
            select: Select::All,
            ..self.clone()
        }
    }

    /// Whether it has all objects of another source of the same cluster.
    pub fn covers(&self, other: &SourceKey) -> bool {
        let is_same = |one: &Resource, other: &Resource| {
            (&one.group, &one.version, &one.plural) == (&other.group, &other.version, &other.plural)
        };
        let has_scope = self.scope == Scope::Cluster || self.scope == other.scope;
        let has_objects = self.select == Select::All || self.select == other.select;
        is_same(&self.resource, &other.resource) && has_scope && has_objects
    }

    /// Groups keys by the lists that have all their objects. Lists and keys keep the order of their first appearance.
    pub fn by_list(keys: impl IntoIterator<Item = SourceKey>) -> Vec<(SourceKey, Vec<SourceKey>)> {
        let mut places: HashMap<SourceKey, usize> = HashMap::new();
        let mut lists: Vec<(SourceKey, Vec<SourceKey>)> = Vec::new();
        for key in keys {
            let list = key.of_all();
            let place = *places.entry(list).or_insert_with_key(|list| {
                lists.push((list.clone(), Vec::new()));
                lists.len() - 1
            });
            let of_list = &mut lists[place].1;
            if !of_list.contains(&key) {
                of_list.push(key);
            }
        }
        lists
    }

    /// The keys of all objects in the same namespace, and in the cluster.
    pub fn wider(&self) -> [SourceKey; 2] {
        [self.scope.clone(), Scope::Cluster].map(|scope| SourceKey {
            scope,
            ..self.of_all()
        })
    }

    /// The object that the key names, whether or not it exists; `None` if the key names none.
    pub fn named_object(&self) -> Option<ObjectRef> {
        Some(ObjectRef {
            api_version: self.resource.api_version().into(),
            kind: self.resource.kind.clone(),
            namespace: self.namespace().map(Into::into),
            name: self.select.name()?.into(),
            uid: None,
        })
    }

    /// The key of one object of the source by its name, so that the server reads one key. It has no other selector, so
    /// it also has the object when the source's selector does not match it.
    pub(crate) fn of_object(&self, object: &ObjectRef) -> SourceKey {
        let namespace = object.namespace.clone();
        SourceKey {
            scope: namespace.map_or(Scope::Cluster, Scope::Namespace),
            select: Select::Name(object.name.clone()),
            ..self.clone()
        }
    }

    /// A source like this one, of the kind that an event of it defines. `None` unless this one is of `CustomResourceDefinition`s,
    /// and if one of the `known` sources is of that kind.
    pub fn of_new_kind(&self, event: &Event, known: &[SourceKey]) -> Option<SourceKey> {
        if *self.resource.kind != *"CustomResourceDefinition" {
            return None;
        }
        let Event::Object { why, now, .. } = event else {
            return None;
        };
        let definition = now.doc().ok().filter(|_| !why.is_gone())?;
        let resource = Resource::established_by(definition.root())?;
        let kind = resource.group_kind();
        let is_new = known.iter().all(|it| it.resource.group_kind() != kind);
        is_new.then(|| SourceKey {
            resource,
            ..self.clone()
        })
    }

    /// The namespace of the request path; `None` for all namespaces.
    pub fn namespace(&self) -> Option<&str> {
        match &self.scope {
            Scope::Cluster => None,
            Scope::Namespace(namespace) => Some(namespace),
        }
    }

    /// The type, with the name if the source selects one: `deployments.apps/web`.
    pub fn type_and_name(&self) -> String {
        let resource = self.resource.group_resource();
        match self.select.name() {
            Some(name) => format!("{resource}/{name}"),
            None => resource,
        }
    }

    /// The namespace and the selectors in words, with a space before them.
    pub fn place(&self) -> String {
        let mut text = String::new();
        if let Some(namespace) = self.namespace() {
            let _infallible = write!(text, " in namespace \"{namespace}\"");
        }
        if let Some(labels) = self.select.label_selector() {
            let _infallible = write!(text, " with labels {labels}");
        }
        let fields = self.select.field_selector();
        if let Some(fields) = fields.filter(|_| self.select.name().is_none()) {
            let _infallible = write!(text, " with fields {fields}");
        }
        text
    }
}

/// The name of a source in messages: `deployments.apps/web in namespace "shop"`.
impl fmt::Display for SourceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.type_and_name(), self.place())
    }
}

#[cfg(any(test, feature = "testing"))]
impl SourceKey {
    /// All objects of a well-known kind in all namespaces of the cluster `test`.
    pub fn all(group: &str, kind: &str) -> SourceKey {
        let found = crate::object::well_known_type(group, kind).expect("a well-known kind");
        let cluster = ClusterId("test".into());
        SourceKey::of(&cluster, found.resource.clone(), None, Select::All)
    }
}
