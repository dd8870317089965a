//! `Shown`: which versions are shown, and which of their changes. The look-back stops by it, `--count` and
//! `--exit-code` go by it, and every format prints by it.

use std::collections::BTreeSet;

use super::by::By;
use super::state::{Happened, Step};
use crate::commands::sources::named;
use crate::diff::{Diff, Filter, Noise};
use crate::object::Value;
use crate::object::list_keys::{KindKeys, ListKeys};
use crate::object::managed_fields::Writers;
use crate::render::diff::{Counts, counts};
use crate::watch::SourceKey;

/// What the flags ask for.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// Which parts of objects.
    pub(super) filter: Filter,
    /// Whose changes.
    pub(super) by: By,
    /// Which sorts of noise.
    pub(super) noise: BTreeSet<Noise>,
    /// What tells the items of lists apart, by kind.
    pub(super) keys: KindKeys,
}

/// A version and the one before it, compared.
pub(super) struct Compared<'a> {
    /// The changes that the managers made who are asked for.
    pub(super) diff: Diff<'a>,
    /// Who wrote.
    pub(super) writers: Writers<'a>,
    /// How many changes are shown; none of a version that is not.
    pub(super) counts: Counts,
}

impl Compared<'_> {
    /// Whether the version is shown.
    pub(super) fn is_shown(&self) -> bool {
        self.counts.shown > 0
    }
}

impl Shown {
    /// Compares a version with the one before it, `sides[0]`.
    pub(super) fn compare<'a>(
        &self,
        key: &SourceKey,
        sides: [Value<'a>; 2],
        keys: &'a ListKeys,
    ) -> Compared<'a> {
        let [old, new] = sides.map(Some);
        let writers = Writers::of(old, new);
        let mut diff = Diff::keyed(old, new, keys);
        let others = self.by.narrow(&mut diff, &writers);
        let mut counts = counts(&diff, &self.filter, &self.noise_of(key));
        counts.filtered += others;
        if !self.by.is_among(&writers) {
            counts.filtered += std::mem::take(&mut counts.shown);
        }
        Compared {
            diff,
            writers,
            counts,
        }
    }

    /// Which sorts of noise are shown of the objects of a source. A Lease is nothing but heartbeats: who
    /// names one wants to see them.
    pub(super) fn noise_of(&self, key: &SourceKey) -> BTreeSet<Noise> {
        let is_lease = &*key.resource.kind == "Lease" && named(key).is_some();
        let heartbeats = is_lease.then_some(Noise::Heartbeat);
        self.noise.iter().copied().chain(heartbeats).collect()
    }

    /// Whether the first version of an object is shown.
    pub(super) fn shows_first(&self, object: Value<'_>) -> bool {
        self.by.is_among(&Writers::of(None, Some(object)))
    }

    /// Whether something that has happened is shown.
    pub(super) fn shows(&self, happened: &Happened) -> bool {
        let Step::Modified { old, now, .. } = &happened.step else {
            return self.by.wrote(happened);
        };
        let (Ok(before), Ok(after)) = (old.doc(), now.doc()) else {
            return true; // nobody can tell that it is not
        };
        let keys = self.keys.of(&now.object.group_kind());
        let sides = [before.root(), after.root()];
        self.compare(&happened.key, sides, &keys).is_shown()
    }
}
