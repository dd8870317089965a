//! `Reference`: another object that an object names.

use std::fmt;
use std::sync::Arc;

use crate::object::{GroupKind, ObjectRef, Value, well_known_type};
use crate::source::{ClusterId, Form, Scope, Select, SourceKey};

use super::relations::{RELATIONS, Relation, Tier, To};

/// Another object that an object names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// What the other object is for this one.
    pub relation: &'static Relation,
    /// The named object.
    pub target: ReferenceTarget,
    /// The port of the named Service; `None` if the field has none.
    pub port: Option<Port>,
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

/// A port of a Service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Port {
    /// Its number.
    Number(i64),
    /// Its name.
    Name(Arc<str>),
}

/// The objects that an object names, in the order of the relations. References that are marked as optional, and
/// references to kinds that Kubernetes itself does not define, are left out.
pub fn references(object: Value<'_>, upto: Tier) -> Vec<Reference> {
    let own = ObjectRef::of(object);
    let kind = own.group_kind();
    let mut references: Vec<Reference> = Vec::new();
    for relation in RELATIONS {
        let is_of_kind = split(relation.from) == (&*kind.group, &*kind.kind);
        if relation.tier > upto || !is_of_kind {
            continue;
        }
        let mut holders = Vec::new();
        collect(object, relation.path, &mut holders);
        for holder in holders {
            let found = reference(relation, &own, holder);
            references.extend(found.filter(|found| !references.contains(found)));
        }
    }
    references
}

/// The values at the end of a path.
fn collect<'a>(value: Value<'a>, path: &str, found: &mut Vec<Value<'a>>) {
    if path.is_empty() {
        found.push(value);
        return;
    }
    let (step, rest) = path.split_once('.').unwrap_or((path, ""));
    let lists: &[&str] = match step.strip_suffix("[]") {
        Some(list) => &[list],
        None if step == "containers*" => &["initContainers", "containers", "ephemeralContainers"],
        None => {
            if let Some(inner) = value.get(step) {
                collect(inner, rest, found);
            }
            return;
        }
    };
    for item in lists.iter().flat_map(|list| value.items_at(&[list])) {
        collect(item, rest, found);
    }
}

fn reference(relation: &'static Relation, own: &ObjectRef, holder: Value<'_>) -> Option<Reference> {
    let name = holder.text_at(&[relation.key]);
    let name = name.filter(|name| !name.is_empty())?;
    let is_optional = holder.get("optional").and_then(Value::as_bool);
    if is_optional == Some(true) {
        return None;
    }
    let kind = match relation.to {
        To::Kind(kind) => group_kind(kind),
        To::Reference(default) => referenced_kind(holder).unwrap_or_else(|| group_kind(default)),
    };
    let resource = &well_known_type(&kind.group, &kind.kind)?.resource;
    let namespace = holder.text_at(&["namespace"]);
    let namespace = namespace.or_else(|| own.namespace.clone());
    Some(Reference {
        relation,
        target: ReferenceTarget {
            kind,
            namespace: namespace.filter(|_| resource.namespaced),
            name,
        },
        port: holder.get("port").and_then(Port::of),
    })
}

/// The type beside a name.
fn referenced_kind(holder: Value<'_>) -> Option<GroupKind> {
    let text = |key| holder.text_at(&[key]);
    let kind = text("kind")?;
    let group = match text("apiVersion") {
        Some(version) => version
            .rsplit_once('/')
            .map_or("", |(group, _)| group)
            .into(),
        None => text("apiGroup")
            .or_else(|| text("group"))
            .unwrap_or_default(),
    };
    Some(GroupKind { group, kind })
}

fn group_kind(text: &str) -> GroupKind {
    let (group, kind) = split(text);
    GroupKind {
        group: group.into(),
        kind: kind.into(),
    }
}

/// The group and the kind of `GROUP/KIND`. `KIND` alone is of the core group.
fn split(text: &str) -> (&str, &str) {
    text.rsplit_once('/').unwrap_or(("", text))
}

impl ReferenceTarget {
    /// The name of an object.
    pub(super) fn of(object: &ObjectRef) -> ReferenceTarget {
        ReferenceTarget {
            kind: object.group_kind(),
            namespace: object.namespace.clone(),
            name: object.name.clone(),
        }
    }

    /// The source of this one object. Of a Secret or a `ConfigMap` it has only the metadata: whether the object
    /// exists is all that others need to know.
    pub fn source(&self, cluster: &ClusterId) -> SourceKey {
        let found = well_known_type(&self.kind.group, &self.kind.kind);
        let found = found.expect("references to other kinds are left out");
        let form = match &*self.kind.kind {
            "Secret" | "ConfigMap" => Form::Metadata,
            _ => Form::Full,
        };
        SourceKey {
            cluster: cluster.clone(),
            resource: found.resource.clone(),
            scope: self
                .namespace
                .clone()
                .map_or(Scope::Cluster, Scope::Namespace),
            select: Select::Name(self.name.clone()),
            form,
        }
    }
}

/// `volume secret/db`, or `storage class fast` if the relation is the kind.
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReferenceTarget { kind, name, .. } = &self.target;
        let relation = self.relation.name;
        let kind = kind.kind.to_lowercase();
        if relation.replace(' ', "") == kind {
            write!(f, "{relation} {name}")
        } else {
            write!(f, "{relation} {kind}/{name}")
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
    fn of(port: Value<'_>) -> Option<Port> {
        let number = port.as_i64().or_else(|| port.i64_at(&["number"]));
        let name = || port.as_str().map(|name| Arc::from(&*name));
        number
            .map(Port::Number)
            .or_else(|| name().or_else(|| port.text_at(&["name"])).map(Port::Name))
    }
}

#[cfg(test)]
mod tests;
