//! `ShownVersions`: decides which versions and changes are shown. Every format, `--count`, `--exit-code` and the look-back
//! use it.

use std::collections::BTreeSet;

use super::by::ManagerFilter;
use super::compared::{Compared, ReadVersions, WriteTime};
use super::formats::ChangesFormat;
use crate::commands::sources::named;
use crate::diff::{Diff, Filter, Noise, Redactor};
use crate::env::Clock;
use crate::object::list_keys::KindKeys;
use crate::object::managed_fields::Writers;
use crate::object::path::Path;
use crate::render::diff::{ChangeType, Counts, counts};
use crate::source::SourceKey;

/// The flags that select versions and changes.
#[derive(Default)]
pub(super) struct ShownVersions {
    /// `--only` and `--ignore`.
    pub(super) filter: Filter,
    /// `--by` and `--people`.
    pub(super) by: ManagerFilter,
    /// The classes of noise to show.
    pub(super) noise: BTreeSet<Noise>,
    /// The keys that match list items, by kind.
    pub(super) keys: KindKeys,
    /// The server's clock. Nothing was written after its time.
    pub(super) clock: Option<Clock>,
}

impl ShownVersions {
    /// Compares the versions of an event that a source sent.
    pub(super) fn compare<'a>(&self, key: &SourceKey, read: &'a ReadVersions<'a>) -> Compared<'a> {
        let (old, new) = read.roots();
        let mut diff = (read.pair_keys()).map(|keys| Diff::keyed(old, Some(new), keys));
        let writers = match &diff {
            Some(diff) => diff.writers(old, Some(new)),
            None => Writers::of(old, Some(new)),
        };
        let mut writers = match &self.clock {
            Some(clock) => writers.up_to(clock()),
            None => writers,
        };
        if read.event.change == ChangeType::Joined {
            writers.retain(|_, _| false);
        }
        let writers = if read.event.was_unseen {
            writers.of_several_writes()
        } else {
            writers
        };
        let written = WriteTime::of(read, &writers, |time| {
            (diff.as_ref()).is_some_and(|diff| diff.is_again_by(&writers, time))
        });
        let noise = self.noise_of(key);
        let is_by_named = self.is_by_named(read, &writers, diff.as_ref());
        let counts = diff.as_mut().map_or_else(Counts::default, |diff| {
            let others = self.by.narrow(diff, &writers);
            let mut counts = counts(diff, &self.filter, &noise);
            counts.filtered += others;
            counts
        });
        let selected = counts.shown;
        let counts = if is_by_named {
            counts
        } else {
            counts.all_filtered()
        };
        Compared {
            read,
            diff,
            writers,
            counts,
            selected,
            noise,
            is_by_named,
            is_selected: self.selects(read),
            written,
        }
    }

    /// Whether a selected manager wrote a version. Nobody is recorded for an object that exists at the start, or that may
    /// only have started to match, so it matches every `--by`.
    fn is_by_named<'a>(
        &self,
        read: &ReadVersions<'a>,
        writers: &Writers<'a>,
        diff: Option<&Diff<'a>>,
    ) -> bool {
        match read.event.change {
            ChangeType::Baseline | ChangeType::Joined => true,
            ChangeType::Deleted | ChangeType::Left => self.by.has_written(read),
            ChangeType::Created | ChangeType::Recreated | ChangeType::Modified => {
                self.by.is_among(read, writers, diff)
            }
        }
    }

    /// Whether `--only` and `--ignore` select a part of the object.
    fn selects(&self, read: &ReadVersions<'_>) -> bool {
        let object = Path { steps: Vec::new() };
        let redactor = Redactor::new();
        self.filter.is_everything()
            || self
                .filter
                .keeps_value(&object, redactor.shown(read.doc.root()))
    }

    /// The classes of noise to show for a source. A Lease has only heartbeats, so a user who names one wants to see them.
    fn noise_of(&self, key: &SourceKey) -> BTreeSet<Noise> {
        let is_lease = &*key.resource.kind == "Lease" && named(key).is_some();
        let heartbeats = is_lease.then_some(Noise::Heartbeat);
        self.noise.iter().copied().chain(heartbeats).collect()
    }
}

/// Whether a format prints a version. `json` prints all versions. Patches lead from each version to the next, so they
/// include versions with only noise.
pub(super) fn prints(compared: &Compared<'_>, format: ChangesFormat) -> bool {
    let has_noise = || compared.counts.hidden() > 0;
    match format {
        ChangesFormat::Json => compared.is_by_named,
        ChangesFormat::JsonPatch | ChangesFormat::MergePatch => compared.is_shown() || has_noise(),
        ChangesFormat::Paths
        | ChangesFormat::Tree
        | ChangesFormat::Full
        | ChangesFormat::Short
        | ChangesFormat::Diff
        | ChangesFormat::Yaml
        | ChangesFormat::Name => compared.is_shown(),
    }
}
