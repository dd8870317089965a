//! `TracedObject`: the traced object, and whether it exists.

use std::sync::Arc;

use crate::object::{ObjectRef, Resource, Uid};
use crate::source::{ClusterId, Event, Form, Scope, Select, SourceKey};

/// The traced object.
#[derive(Clone, Debug)]
pub(super) struct TracedObject {
    /// Its cluster.
    pub(super) cluster: ClusterId,
    /// Its type.
    pub(super) resource: Resource,
    /// Its namespace.
    pub(super) namespace: Arc<str>,
    /// Its name.
    pub(super) name: Arc<str>,
}

impl TracedObject {
    /// The source of this one object.
    pub(super) fn source(&self) -> SourceKey {
        SourceKey {
            cluster: self.cluster.clone(),
            resource: self.resource.clone(),
            scope: Scope::Namespace(self.namespace.clone()),
            select: Select::Name(self.name.clone()),
            form: Form::Full,
        }
    }

    /// Whether this is the source of the object.
    pub(super) fn is_source(&self, key: &SourceKey) -> bool {
        key.resource == self.resource && key.select.name().is_some()
    }

    /// The reference to the object: `service/api`.
    pub(super) fn object(&self) -> ObjectRef {
        let named = self.source().named_object();
        named.expect("the source selects one name")
    }
}

/// Whether the traced object exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// Not known yet.
    Unread,
    /// It has never existed.
    Absent,
    /// It exists.
    There(Uid),
    /// It existed and was deleted.
    Deleted(Uid),
}

impl Presence {
    /// Applies an event of the object's own source.
    pub(super) fn apply(&mut self, event: &Event) {
        match event {
            Event::Object { why, now, .. } => {
                let uid = now.object.identity();
                // The end of an older object of the same name may arrive after its successor.
                let is_of_another = self.uid().is_some_and(|there| *there != uid);
                match why.is_gone() {
                    true if is_of_another => {}
                    true => *self = Presence::Deleted(uid),
                    false => *self = Presence::There(uid),
                }
            }
            Event::Synced { .. } if *self == Presence::Unread => *self = Presence::Absent,
            Event::Synced { .. } | Event::State(_) | Event::Gap(_) | Event::Undecodable { .. } => {}
        }
    }

    /// The uid, if the object exists.
    pub(super) fn uid(&self) -> Option<&Uid> {
        match self {
            Presence::There(uid) => Some(uid),
            Presence::Unread | Presence::Absent | Presence::Deleted(_) => None,
        }
    }
}
