//! `Objects`: what a trace holds of the cluster, by uid, and the graph of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::graph::{Graph, Node};
use crate::object::{Doc, Uid, Value};
use crate::status::{Assessment, Rules};
use crate::watch::{SourceKey, Version, Why};

/// The newest version of each object, and how the objects relate.
#[derive(Default)]
pub(super) struct Objects {
    graph: Graph,
    held: BTreeMap<Uid, HeldObject>,
}

struct HeldObject {
    doc: Doc,
    source: Arc<SourceKey>,
}

/// Whether an object is no longer there, or no longer what was asked for.
pub(super) fn is_gone(why: Why) -> bool {
    match why {
        Why::Deleted | Why::LeftSelector | Why::Vanished => true,
        Why::Listed | Why::Added | Why::Modified | Why::Skipped => false,
    }
}

/// Whether an event arrived when its change happened. What a listing shows may have happened at any time
/// before.
pub(super) fn is_live(why: Why) -> bool {
    match why {
        Why::Added | Why::Modified | Why::Deleted | Why::LeftSelector => true,
        Why::Listed | Why::Skipped | Why::Vanished => false,
    }
}

impl Objects {
    /// Takes in a version, or takes out an object that is gone; returns the uid it is kept under. A
    /// version that cannot be read changes nothing.
    pub(super) fn apply(
        &mut self,
        source: &Arc<SourceKey>,
        why: Why,
        version: &Version,
    ) -> Option<Uid> {
        let doc = version.doc().ok()?;
        let uid = self.graph.apply(doc.root());
        if is_gone(why) {
            self.graph.delete(&uid);
            self.held.remove(&uid);
        } else {
            let source = source.clone();
            self.held.insert(uid.clone(), HeldObject { doc, source });
        }
        Some(uid)
    }

    /// A source has given a full listing: what another selector of the same resource found is old.
    pub(super) fn synced(&mut self, source: &Arc<SourceKey>) {
        let is_old = |held: &HeldObject| {
            held.source.resource == source.resource
                && held.source.select.name() == source.select.name()
                && held.source != *source
        };
        let graph = &mut self.graph;
        self.held.retain(|uid, held| {
            let stays = !is_old(held);
            if !stays {
                graph.delete(uid);
            }
            stays
        });
    }

    /// Forgets all objects of a kind: nobody looks at them any more.
    pub(super) fn forget(&mut self, kind: &'static str) {
        let old: Vec<Uid> = self.of_kind(kind).map(|node| node.uid.clone()).collect();
        for uid in old {
            self.graph.delete(&uid);
            self.held.remove(&uid);
        }
    }

    /// How the objects relate.
    pub(super) fn graph(&self) -> &Graph {
        &self.graph
    }

    /// An object.
    pub(super) fn get(&self, uid: &Uid) -> Option<Value<'_>> {
        Some(self.held.get(uid)?.doc.root())
    }

    /// The objects of a kind, whatever the order.
    pub(super) fn of_kind(&self, kind: &'static str) -> impl Iterator<Item = &Node> {
        self.graph
            .nodes()
            .filter(move |node| &*node.object.kind == kind)
    }

    /// How many objects there are.
    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// Assesses an object as it is at `now`.
    pub(super) fn assess(&self, uid: &Uid, now: Timestamp) -> Option<Assessment> {
        Some(Assessment::of(self.get(uid)?, now, Rules::Spy))
    }
}
