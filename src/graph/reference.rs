//! `Reference`: an object that another one names.

use std::fmt;
use std::sync::Arc;

use super::reference_target::ReferenceTarget;
use super::relations::{IfAbsent, Relation, Tier};
use crate::object::{ServedTypes, Value};
use crate::source::{ClusterId, Form, SourceKey};

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

/// `volume secret/db`, or `storageclass/fast` if the relation is the kind. The name of an object in another namespace has
/// that: `backend service/web -n shop`.
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReferenceTarget { kind, name, .. } = &self.target;
        let relation = self.relation.name;
        let kind = kind.kind.to_lowercase();
        if relation.replace(' ', "") != kind {
            write!(f, "{relation} ")?;
        }
        write!(f, "{kind}/{name}")?;
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
