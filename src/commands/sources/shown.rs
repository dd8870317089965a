//! `Shown`: what the requested sources have shown at the end of a verb.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::note::{Need, UnreadPart};
use super::source_status::SourceStatus;
use super::{Sources, named};
use crate::source::{SourceKey, SourceState};

/// What the requested sources have shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    /// Whether any of them has ever had an object.
    pub(crate) has_object: bool,
    /// Those of one named object that never existed.
    pub(crate) absent: Vec<SourceKey>,
    /// Their namespaces.
    pub(crate) namespaces: BTreeSet<Arc<str>>,
}

impl Sources {
    /// What the requested sources have shown so far.
    pub(crate) fn shown(&self) -> Shown {
        let absent = self.vital().filter(|known| known.is_absent());
        let namespaces = self.vital().filter_map(|known| known.key.namespace());
        Shown {
            has_object: self.vital().any(|known| known.met),
            absent: absent.map(|known| SourceKey::clone(&known.key)).collect(),
            namespaces: namespaces.map(Arc::from).collect(),
        }
    }

    /// The namespaces in which all requested lists are read and empty. Each is returned once.
    pub(crate) fn take_empty_namespaces(&mut self) -> Vec<Arc<str>> {
        let is_empty = |known: &SourceStatus| known.synced && !known.met;
        let lists = self.vital().filter(|known| named(&known.key).is_none());
        let namespaces = lists.filter_map(|known| known.key.namespace());
        let namespaces: BTreeSet<Arc<str>> = namespaces.map(Arc::from).collect();
        let is_new = |namespace: &Arc<str>| {
            let mut inside =
                (self.vital()).filter(|known| known.key.namespace() == Some(&**namespace));
            !self.empty.contains(namespace) && inside.all(is_empty)
        };
        let new: Vec<Arc<str>> = namespaces.into_iter().filter(is_new).collect();
        self.empty.extend(new.iter().cloned());
        new
    }

    /// The sources that could not be read, or no longer can be: the vital ones, and those that decide about these.
    pub(crate) fn unread(&self) -> Vec<UnreadPart> {
        let is_read = self.is_read();
        let decisive = self.known.iter().filter(|known| match known.need {
            Need::Vital => true,
            // There are no objects of a kind that the server does not serve.
            Need::Decisive => !matches!(known.state, SourceState::Unserved { .. }),
            Need::Useful => false,
        });
        let unread = decisive.filter_map(|known| match known.unread() {
            // Until a vital source answers, the server may only be slow.
            Some(UnreadPart::Refused(_)) if !is_read && !known.is_hopeless() => Some(known.late()),
            unread => unread,
        });
        unread.collect()
    }
}
