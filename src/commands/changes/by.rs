//! `--by`: the versions that certain managers wrote, and what they wrote in them.

use crate::diff::{Change, Diff, Noise};
use crate::object::managed_fields::{By, Writers};

/// The named managers; all if none is named.
#[derive(Clone, Debug, Default)]
pub(super) struct ManagerFilter {
    managers: Vec<String>,
}

impl ManagerFilter {
    pub(super) fn new(managers: &[String]) -> ManagerFilter {
        ManagerFilter {
            managers: managers.to_vec(),
        }
    }

    /// Whether no manager is named.
    pub(super) fn is_everyone(&self) -> bool {
        self.managers.is_empty()
    }

    /// Whether one of them wrote a version.
    pub(super) fn is_among(&self, writers: &Writers<'_>) -> bool {
        self.is_everyone() || writers.actors().any(|actor| self.names(&actor.manager))
    }

    /// Drops the changes that others made and returns how many. Changes of what the server counts stay.
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
            Some(By::Actor(actor) | By::Took { actor, .. }) => self.names(&actor.manager),
            Some(By::Owner(_)) | None => false,
        }
    }

    fn names(&self, manager: &str) -> bool {
        self.managers.iter().any(|name| name == manager)
    }
}
