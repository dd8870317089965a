//! `--by`: the versions that some managers wrote, and of these what they wrote.

use super::state::{Happened, Step};
use crate::diff::{Change, Diff, Noise};
use crate::object::Doc;
use crate::object::managed_fields::{By as Who, Writers};

/// The managers that are asked for; all if none is named.
#[derive(Clone, Debug, Default)]
pub(super) struct By {
    managers: Vec<String>,
}

impl By {
    pub(super) fn new(managers: &[String]) -> By {
        By {
            managers: managers.to_vec(),
        }
    }

    /// Whether nobody in particular is asked for.
    pub(super) fn is_everyone(&self) -> bool {
        self.managers.is_empty()
    }

    /// Whether one of them wrote what has happened. Nobody is recorded for what is there at the start, nor
    /// for a deletion: these are everyone's.
    pub(super) fn wrote(&self, happened: &Happened) -> bool {
        if self.is_everyone() {
            return true;
        }
        let (old, now) = match &happened.step {
            Step::Modified { old, now, .. } => (old.doc().ok(), now.doc()),
            Step::Created { now, .. } => (None, now.doc()),
            Step::Baseline(_)
            | Step::Synced { .. }
            | Step::Deleted { .. }
            | Step::Left { .. }
            | Step::Gap(_)
            | Step::Undecodable { .. }
            | Step::State(_) => return true,
        };
        // What cannot be read is nobody's.
        let Ok(now) = now else { return true };
        let old = old.as_ref().map(Doc::root);
        self.is_among(&Writers::of(old, Some(now.root())))
    }

    /// Whether one of them wrote a version.
    pub(super) fn is_among(&self, writers: &Writers<'_>) -> bool {
        self.is_everyone() || writers.actors().any(|actor| self.names(&actor.manager))
    }

    /// Drops the changes that others made; says how many. What the server counts goes with every version.
    pub(super) fn narrow<'a>(&self, diff: &mut Diff<'a>, writers: &Writers<'a>) -> usize {
        if self.is_everyone() {
            return 0;
        }
        let all = diff.changes().len();
        diff.retain(|diff, change| {
            let counted = matches!(change.noise, Some(Noise::Version | Noise::ManagedFields));
            counted || self.made(diff, writers, change)
        });
        all - diff.changes().len()
    }

    fn made<'a>(&self, diff: &Diff<'a>, writers: &Writers<'a>, change: &Change) -> bool {
        match diff.by(writers, change) {
            Some(Who::Actor(actor) | Who::Took { actor, .. }) => self.names(&actor.manager),
            Some(Who::Owner(_)) | None => false,
        }
    }

    fn names(&self, manager: &str) -> bool {
        self.managers.iter().any(|name| name == manager)
    }
}
