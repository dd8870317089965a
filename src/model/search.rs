//! `Search`: the search for what custom resources own in kinds that nothing else reads. Their owner references are looked
//! through, which are in the metadata. It begins after the first frame. What it finds is read as any other object.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::graph::{PassedOver, ReferenceTarget};
use crate::object::{GroupKind, ObjectRef, Uid, listed};
use crate::source::{ClusterId, Event, SourceKey, SourceState, Why};

use super::lookups::is_custom;

/// The most objects of a list. Of a longer one, only the first are looked through: ten pages.
const MAX_OBJECTS: usize = 5_000;

/// How many kinds of each sort a line names.
const MAX_NAMED: usize = 3;

/// For whose dependents to look, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SearchPlan {
    /// The custom resources whose dependents are looked for.
    pub(super) owners: BTreeSet<Uid>,
    /// The sources to look through. They have only the metadata.
    pub(super) sources: Vec<SourceKey>,
    /// The kinds that are left out, because there are too many.
    pub(super) beyond: BTreeSet<GroupKind>,
}

impl SearchPlan {
    /// Whether there is nothing to look through.
    pub(super) fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }
}

/// How far a source was looked through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// Its listing has begun, or not even that.
    Begun,
    /// Its whole listing was looked through. Changes follow.
    Whole,
    /// Its first objects were looked through: it has too many.
    Beginning,
    /// It cannot be read, or does not answer.
    Nothing,
}

/// A source that is looked through.
#[derive(Debug)]
struct SearchedSource {
    key: SourceKey,
    progress: Progress,
    /// How many objects it has, as far as it was read.
    objects: usize,
}

/// The search: its plan, how far it has come, and what it has seen.
#[derive(Debug, Default)]
pub(super) struct Search {
    sources: Vec<SearchedSource>,
    beyond: BTreeSet<GroupKind>,
    /// The owners of all objects that it has seen.
    passed: PassedOver,
    /// Those of these objects that have owners, and a source of each.
    seen: BTreeMap<Uid, (Arc<SourceKey>, Arc<ObjectRef>)>,
    /// The sources that must be read from the start, since the last call of `take_rereads`.
    rereads: Vec<SourceKey>,
}

impl Search {
    /// Replaces the plan. A source that stays keeps its progress.
    pub(super) fn follow(&mut self, plan: &SearchPlan) {
        let mut before = std::mem::take(&mut self.sources);
        for key in &plan.sources {
            let known = before.iter().position(|known| known.key == *key);
            let known = known.map(|at| before.swap_remove(at));
            self.sources.push(known.unwrap_or_else(|| {
                self.rereads.push(key.clone());
                SearchedSource {
                    key: key.clone(),
                    progress: Progress::Begun,
                    objects: 0,
                }
            }));
        }
        self.beyond.clone_from(&plan.beyond);
        if !before.is_empty() {
            let is_left = |key: &SourceKey| before.iter().any(|left| left.key == *key);
            let gone = self.seen.iter().filter(|(_, (source, _))| is_left(source));
            let gone: Vec<Uid> = gone.map(|(uid, _)| uid.clone()).collect();
            for uid in gone {
                self.forget(&uid);
            }
        }
    }

    /// The sources to follow.
    pub(super) fn sources(&self) -> impl Iterator<Item = &SourceKey> {
        let open = self.sources.iter();
        let open = open.filter(|source| source.progress != Progress::Beginning);
        open.map(|source| &source.key)
    }

    /// The sources that must be read from the start.
    pub(super) fn take_rereads(&mut self) -> Vec<SourceKey> {
        std::mem::take(&mut self.rereads)
    }

    /// Whether every source was looked through, as far as it can be.
    pub(super) fn is_over(&self) -> bool {
        let mut sources = self.sources.iter();
        sources.all(|source| source.progress != Progress::Begun)
    }

    /// The sources that were looked through, with the numbers of their objects.
    pub(super) fn counts(&self) -> impl Iterator<Item = (&SourceKey, usize)> {
        let read = self.sources.iter();
        let read =
            read.filter(|source| matches!(source.progress, Progress::Whole | Progress::Beginning));
        read.map(|source| (&source.key, source.objects))
    }

    /// Looks at an event, if it is of one of its sources.
    pub(super) fn apply(&mut self, source: &Arc<SourceKey>, event: &Event) {
        let mut sources = self.sources.iter_mut();
        let known = sources.find(|known| known.key == **source);
        let Some(known) = known.filter(|known| known.progress != Progress::Beginning) else {
            return;
        };
        match event {
            Event::Synced { count, .. } => {
                known.progress = Progress::Whole;
                known.objects = *count;
            }
            Event::State(state) if known.progress == Progress::Begun => {
                known.progress = Progress::of(state);
            }
            Event::Object { why, .. } if why.is_gone() => {
                known.objects = known.objects.saturating_sub(1);
            }
            Event::Object { why, now, .. } => {
                known.objects += usize::from(matches!(why, Why::Listed | Why::Added));
                if known.objects > MAX_OBJECTS && known.progress == Progress::Begun {
                    known.progress = Progress::Beginning;
                }
                let uid = now.object.identity();
                // Two groups may serve one object.
                let is_of_other = self
                    .seen
                    .get(&uid)
                    .is_some_and(|(known, _)| known != source);
                if let Ok(doc) = now.doc()
                    && !is_of_other
                {
                    if self.passed.put(&uid, doc.root()) {
                        self.seen.insert(uid, (source.clone(), now.object.clone()));
                    } else {
                        self.seen.remove(&uid);
                    }
                }
            }
            Event::State(_) | Event::Gap(_) | Event::Undecodable { .. } => {}
        }
    }

    /// Forgets an object that is gone.
    pub(super) fn forget(&mut self, uid: &Uid) {
        self.passed.remove(uid);
        self.seen.remove(uid);
    }

    /// The objects that it has found: what these custom resources own, directly and through other custom resources.
    pub(super) fn found(
        &self,
        owners: &BTreeSet<Uid>,
    ) -> BTreeMap<&ClusterId, BTreeSet<ReferenceTarget>> {
        let is_owner = |uid: &Uid| {
            self.seen
                .get(uid)
                .is_some_and(|(source, _)| is_custom(source))
        };
        let mut found: BTreeMap<&ClusterId, BTreeSet<ReferenceTarget>> = BTreeMap::new();
        for uid in self.passed.below(owners, is_owner) {
            if let Some((source, object)) = self.seen.get(&uid) {
                let target = ReferenceTarget {
                    kind: source.resource.group_kind(),
                    ..ReferenceTarget::of(object)
                };
                found.entry(&source.cluster).or_default().insert(target);
            }
        }
        found
    }

    /// Which dependents it may have missed, and why: `dependents may be missing: secrets (cannot be read); …`.
    pub(super) fn shortfall(&self) -> Option<String> {
        let names = |progress| -> Vec<String> {
            let sources = self.sources.iter();
            let sources = sources.filter(|source| source.progress == progress);
            let names: BTreeSet<String> = sources
                .map(|source| source.key.resource.group_resource())
                .collect();
            names.into_iter().collect()
        };
        let unread = names(Progress::Nothing);
        let mut parts = Vec::new();
        if !unread.is_empty() {
            parts.push(format!("{} (cannot be read)", listed(&unread, MAX_NAMED)));
        }
        let long = names(Progress::Beginning);
        if !long.is_empty() {
            let long = listed(&long, MAX_NAMED);
            parts.push(format!("{long} (over {MAX_OBJECTS} objects)"));
        }
        match self.beyond.len() {
            0 => {}
            1 => parts.push("1 more kind".to_owned()),
            more => parts.push(format!("{more} more kinds")),
        }
        let hint = match &self.sources[..] {
            _ if unread.is_empty() => "name a dependent to see it".to_owned(),
            [first, ..] if first.key.namespace().is_some() => {
                let namespace = first.key.namespace().unwrap_or_default();
                format!("`kubectl auth can-i --list -n {namespace}` shows your rights")
            }
            _ => "`kubectl auth can-i --list` shows your rights".to_owned(),
        };
        let parts = parts.join(", ");
        (!parts.is_empty()).then(|| format!("dependents may be missing: {parts}; {hint}"))
    }
}

impl Progress {
    /// The progress of a source in this state that has not delivered a full listing.
    fn of(state: &SourceState) -> Progress {
        match state {
            // There are no objects of such a kind.
            SourceState::Unserved { .. } => Progress::Whole,
            SourceState::Forbidden { .. } | SourceState::Failed { .. } => Progress::Nothing,
            SourceState::Retrying { .. } if state.is_given_up() => Progress::Nothing,
            SourceState::Retrying { .. }
            | SourceState::Connecting
            | SourceState::Live
            | SourceState::Polling { .. }
            | SourceState::Ended => Progress::Begun,
        }
    }
}

#[cfg(test)]
mod tests;
