//! `Reference`: an object that another one names, and who names whom, in both directions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use crate::object::{GroupKind, ObjectRef, ServedTypes, Uid, Value};
use crate::source::{ClusterId, Form, Select, SourceKey};

use super::links::Links;
use super::node::Node;
use super::relations::{IfAbsent, Relation, Tier};

/// Another object that an object names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// What the other object is for this one.
    pub relation: &'static Relation,
    /// The named object.
    pub target: ReferenceTarget,
    /// The port of the named Service; `None` if the field has none.
    pub port: Option<Port>,
    /// Whether the field itself says that the object need not exist.
    pub is_optional: bool,
    /// Whether the named object is in another namespace than the object that names it.
    pub is_elsewhere: bool,
    /// The keys of the named `ConfigMap` or Secret that the object needs.
    pub keys: Vec<Arc<str>>,
}

/// A port of a Service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Port {
    /// Its number.
    Number(i64),
    /// Its name.
    Name(Arc<str>),
}

impl Reference {
    /// When the named object matters.
    pub fn tier(&self) -> Tier {
        if self.is_optional {
            Tier::Trace
        } else {
            self.relation.tier
        }
    }

    /// Whether it is by the same field as another, and differs from it only in its keys.
    pub(super) fn is_like(&self, other: &Reference) -> bool {
        self.relation.is_same_field(other.relation)
            && self.target == other.target
            && self.port == other.port
            && self.is_optional == other.is_optional
    }

    /// The source of the named object; `None` if its type is not known. Of a `ConfigMap` or a Secret with keys
    /// that the object needs, it has the whole object.
    pub fn source(&self, cluster: &ClusterId, types: &ServedTypes) -> Option<SourceKey> {
        let mut source = self.target.source(cluster, types)?;
        if !self.keys.is_empty() {
            source.form = Form::Full;
        }
        Some(source)
    }

    /// What it means if the named object does not exist.
    pub fn if_absent(&self) -> IfAbsent {
        if self.is_optional {
            IfAbsent::Works
        } else {
            self.relation.if_absent
        }
    }
}

/// `volume secret/db`, or `storage class fast` if the relation is the kind. The name of an object in another namespace has
/// that: `backend service/web -n shop`.
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReferenceTarget { kind, name, .. } = &self.target;
        let relation = self.relation.name;
        let kind = kind.kind.to_lowercase();
        if relation.replace(' ', "") == kind {
            write!(f, "{relation} {name}")?;
        } else {
            write!(f, "{relation} {kind}/{name}")?;
        }
        match &self.target.namespace {
            Some(namespace) if self.is_elsewhere => write!(f, " -n {namespace}"),
            Some(_) | None => Ok(()),
        }
    }
}

/// `80`, or `"http"`.
impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Port::Number(number) => write!(f, "{number}"),
            Port::Name(name) => write!(f, "\"{name}\""),
        }
    }
}

impl Port {
    /// Reads `80`, `"http"`, `{number: 80}` or `{name: http}`.
    pub(super) fn of(port: Value<'_>) -> Option<Port> {
        let number = port.as_i64().or_else(|| port.i64_at(&["number"]));
        let name = || port.text_at(&[]).or_else(|| port.text_at(&["name"]));
        number.map(Port::Number).or_else(|| name().map(Port::Name))
    }
}

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

/// The references between objects. The referenced objects need not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct References {
    /// The links of each object.
    pub(super) of: BTreeMap<Uid, Links>,
    /// The objects that select others.
    pub(super) selectors: BTreeSet<Uid>,
    /// Each referenced name.
    pub(super) names: BTreeMap<ReferenceTarget, Name>,
}

/// A referenced name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Name {
    /// The objects that refer to it.
    pub(super) referrers: BTreeSet<Uid>,
    /// The inventories that list it as a member. They are referrers, too.
    pub(super) inventories: BTreeSet<Uid>,
    /// The objects that bear it: at most one, but for a moment while an object is replaced.
    pub(super) bearers: BTreeSet<Uid>,
}

impl Name {
    /// Adds an object that refers to it.
    pub(super) fn add(&mut self, referrer: &Uid, reference: &Reference) {
        self.referrers.insert(referrer.clone());
        if reference.relation.lists_members() {
            self.inventories.insert(referrer.clone());
        }
    }
}

impl References {
    pub(super) fn add_bearer(&mut self, node: &Node) {
        if let Some(name) = self.name_of(&node.object) {
            name.bearers.insert(node.uid.clone());
        }
    }

    pub(super) fn remove_bearer(&mut self, node: &Node) {
        if let Some(name) = self.name_of(&node.object) {
            name.bearers.remove(&node.uid);
        }
    }

    fn name_of(&mut self, object: &ObjectRef) -> Option<&mut Name> {
        if self.names.is_empty() {
            return None;
        }
        self.names.get_mut(&ReferenceTarget::of(object))
    }

    /// Removes the references of an object.
    pub(super) fn forget(&mut self, uid: &Uid) {
        self.selectors.remove(uid);
        let links = self.of.remove(uid).unwrap_or_default();
        for reference in links.references {
            if let Some(name) = self.names.get_mut(&reference.target) {
                name.referrers.remove(uid);
                name.inventories.remove(uid);
                if name.referrers.is_empty() {
                    self.names.remove(&reference.target);
                }
            }
        }
    }
}
