//! `TracedObject`: the one object that is traced, and whether it is there.

use std::sync::Arc;

use super::objects::is_gone;
use crate::object::{ObjectRef, Resource, Uid};
use crate::watch::{ClusterId, Event, Form, Scope, Select, SourceKey};

/// The object that is traced.
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
    /// The source of the object alone.
    pub(super) fn source(&self) -> SourceKey {
        self.named(self.resource.clone(), &self.name)
    }

    /// The source of another object of its namespace.
    pub(super) fn named(&self, resource: Resource, name: &str) -> SourceKey {
        self.selected(resource, Select::Name(name.into()))
    }

    /// The source of selected objects of its namespace.
    pub(super) fn selected(&self, resource: Resource, select: Select) -> SourceKey {
        SourceKey {
            cluster: self.cluster.clone(),
            resource,
            scope: Scope::Namespace(self.namespace.clone()),
            select,
            form: Form::Full,
        }
    }

    /// Whether a source is that of the object.
    pub(super) fn is_source(&self, key: &SourceKey) -> bool {
        key.resource == self.resource && key.select.name().is_some()
    }

    /// What the object is called: `service/api`.
    pub(super) fn object(&self) -> ObjectRef {
        ObjectRef {
            api_version: self.resource.api_version().into(),
            kind: self.resource.kind.clone(),
            namespace: Some(self.namespace.clone()),
            name: self.name.clone(),
            uid: None,
        }
    }
}

/// Whether the object that is traced is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// Not known yet.
    Unread,
    /// It never was.
    Absent,
    /// It is.
    There(Uid),
    /// The one that it was is deleted.
    Deleted(Uid),
}

impl Presence {
    /// Notes what an event of the object's own source says; `uid` is the object's.
    pub(super) fn apply(&mut self, event: &Event, uid: Option<&Uid>) {
        match (event, uid) {
            // The end of a namesake that was replaced unseen may come after its successor.
            (Event::Object { why, .. }, Some(uid))
                if is_gone(*why) && self.uid().is_some_and(|there| there != uid) => {}
            (Event::Object { why, .. }, Some(uid)) if is_gone(*why) => {
                *self = Presence::Deleted(uid.clone());
            }
            (Event::Object { .. }, Some(uid)) => *self = Presence::There(uid.clone()),
            (Event::Synced { .. }, _) if *self == Presence::Unread => *self = Presence::Absent,
            _ => {}
        }
    }

    /// The object, if it is there.
    pub(super) fn uid(&self) -> Option<&Uid> {
        match self {
            Presence::There(uid) => Some(uid),
            Presence::Unread | Presence::Absent | Presence::Deleted(_) => None,
        }
    }
}
