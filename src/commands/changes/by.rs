//! `--by`: selects the versions and changes of certain field managers.

use crate::diff::{Change, Diff, Noise};
use crate::object::managed_fields::{By, Writers};

/// The managers of `--by`. Without any, every manager matches.
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

    /// Whether every manager matches.
    pub(super) fn is_everyone(&self) -> bool {
        self.managers.is_empty()
    }

    /// Whether a matching manager wrote a version.
    pub(super) fn is_among(&self, writers: &Writers<'_>) -> bool {
        self.is_everyone() || writers.actors().any(|actor| self.names(&actor.manager))
    }

    /// Drops the changes of other managers and returns their number. Changes of the server's counters stay.
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
