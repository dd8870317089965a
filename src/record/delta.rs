//! Stores a version as its difference from a base: an earlier text of the same object, or of a sibling.
//!
//! The Pods of one controller differ in a few hundred of their five thousand bytes. A text that is far from all known bases
//! becomes a base itself. A base in turn is stored as its difference from another one, at most [`DEPTH`] times.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use crate::source::Packing;

/// How many bases must be unpacked, at most, to unpack a base.
const DEPTH: u8 = 3;
/// A difference is good if it is at least this many times smaller than the text, or if it has few bytes.
const GOOD: usize = 8;
const FEW: usize = 320;
/// How many names may have a base before the unused ones are removed.
const NAMES: usize = 1024;

/// A text that others are stored as differences from.
#[derive(Debug)]
pub(super) struct DeltaBase {
    /// Its number. No other base of the recorder has it.
    pub(super) id: i64,
    pub(super) text: Arc<str>,
    /// The base that it is stored as a difference from.
    pub(super) parent: Option<Arc<DeltaBase>>,
    depth: u8,
}

/// A text as its difference from a base.
#[derive(Clone, Debug)]
pub(super) struct Delta {
    pub(super) base: Arc<DeltaBase>,
    /// The length of the text.
    pub(super) length: usize,
    pub(super) bytes: Arc<[u8]>,
}

impl Delta {
    fn of(text: &str, base: &Arc<DeltaBase>) -> Delta {
        Delta {
            base: base.clone(),
            length: text.len(),
            bytes: Packing::of(text.len(), &base.text)
                .pack(text, &base.text)
                .into(),
        }
    }

    fn is_good(&self) -> bool {
        let bytes = self.bytes.len();
        bytes <= FEW || bytes.saturating_mul(GOOD) <= self.length
    }
}

/// Chooses the base of each text. It keeps only bases that a caller still uses.
#[derive(Debug, Default)]
pub(super) struct DeltaPacker {
    bases: i64,
    /// The newest base for the names of a source that begin alike.
    newest: HashMap<(usize, Box<str>), Weak<DeltaBase>>,
    /// How many names it has when the unused ones are removed next.
    clean_at: usize,
}

impl DeltaPacker {
    /// Packs the text of an object of a source. `before` is its last version.
    pub(super) fn pack(
        &mut self,
        name: PackedName<'_>,
        text: &Arc<str>,
        before: Option<&Delta>,
    ) -> Delta {
        let own = before.map(|before| before.base.clone());
        let sibling = name.stems().find_map(|stem| self.newest(name.source, stem));
        let is_other =
            |sibling: &Arc<DeltaBase>| own.as_ref().is_none_or(|own| own.id != sibling.id);
        let sibling = sibling.filter(is_other);
        let found = own.iter().chain(&sibling).map(|base| Delta::of(text, base));
        let best = found.min_by_key(|delta| delta.bytes.len());
        match best {
            Some(best) if best.is_good() => best,
            best => {
                let parent = best.map(|best| best.base);
                Delta::of(text, &self.add(name, text, parent))
            }
        }
    }

    fn newest(&self, source: usize, stem: &str) -> Option<Arc<DeltaBase>> {
        self.newest.get(&(source, stem.into()))?.upgrade()
    }

    fn add(
        &mut self,
        name: PackedName<'_>,
        text: &Arc<str>,
        parent: Option<Arc<DeltaBase>>,
    ) -> Arc<DeltaBase> {
        self.bases += 1;
        let parent = parent.filter(|parent| parent.depth < DEPTH);
        let base = Arc::new(DeltaBase {
            id: self.bases,
            text: text.clone(),
            depth: parent.as_ref().map_or(0, |parent| parent.depth + 1),
            parent,
        });
        for stem in name.stems() {
            self.newest
                .insert((name.source, stem.into()), Arc::downgrade(&base));
        }
        if self.newest.len() >= self.clean_at {
            self.newest.retain(|_, base| base.strong_count() > 0);
            // It may double until then, so the time for each text does not grow with their number.
            self.clean_at = NAMES.max(2 * self.newest.len());
        }
        base
    }
}

/// The name of an object of a source.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackedName<'a> {
    /// The number of the source. Objects of two sources are not alike.
    pub(super) source: usize,
    pub(super) name: &'a str,
}

impl<'a> PackedName<'a> {
    /// What the names of siblings have in common, the longest first: `web-7d9f` and `web` for `web-7d9f-x2x`, and nothing for
    /// the objects of one type.
    fn stems(self) -> impl Iterator<Item = &'a str> {
        let stem = |name: &str| name.rfind('-');
        let first = stem(self.name).map(|at| &self.name[..at]);
        let second = first.and_then(|first| stem(first).map(|at| &first[..at]));
        first.into_iter().chain(second).chain([""])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn named(name: &str) -> PackedName<'_> {
        PackedName { source: 0, name }
    }

    fn read(delta: &Delta) -> Option<Arc<str>> {
        let base = &delta.base.text;
        Packing::of(delta.length, base).unpack(&delta.bytes, delta.length, base)
    }

    proptest! {
        #[test]
        fn a_text_is_read_as_it_was_packed(texts in prop::collection::vec(("[a-c-]{0,4}", "[ab]{0,900}|\\PC{0,80}"), 1..20)) {
            let mut packer = DeltaPacker::default();
            let mut before: HashMap<String, Delta> = HashMap::new();
            for (name, text) in texts {
                let text: Arc<str> = text.into();
                let delta = packer.pack(named(&name), &text, before.get(&name));
                prop_assert_eq!(read(&delta), Some(text));
                before.insert(name, delta);
            }
        }
    }

    fn pod(name: &str) -> Arc<str> {
        let mut random = fastrand::Rng::with_seed(name.len() as u64);
        let shared: String = std::iter::repeat_with(|| random.alphanumeric())
            .take(5000)
            .collect();
        format!("{name}:{shared}").into()
    }

    #[test]
    fn siblings_share_a_base() {
        let mut packer = DeltaPacker::default();
        let names = ["web-1-a", "web-1-b", "web-2-a"];
        let deltas = names.map(|name| packer.pack(named(name), &pod(name), None));
        assert_eq!(deltas.each_ref().map(|delta| delta.base.id), [1, 1, 1]);
        assert!(deltas.iter().all(|delta| delta.bytes.len() < 100));
        // Another text of a sibling becomes a base, as a difference from the first.
        let other = packer.pack(named("web-1-a"), &pod("web-11-b"), Some(&deltas[0]));
        assert_eq!(other.base.parent.as_ref().map(|parent| parent.id), Some(1));
        // The objects of other sources are not alike.
        let name = PackedName {
            source: 1,
            ..named("web-1-a")
        };
        let elsewhere = packer.pack(name, &pod("web-1-a"), None);
        assert!(elsewhere.base.parent.is_none());
    }

    #[test]
    fn unused_bases_are_forgotten_however_many_names_a_text_has() {
        let mut packer = DeltaPacker::default();
        for number in 0..4 * NAMES {
            // Each adds two names: from 1 on, the number of names is odd.
            let name = format!("{number}-x-y");
            drop(packer.pack(named(&name), &name.as_str().into(), None));
            assert!(packer.newest.len() < NAMES + 3, "{}", packer.newest.len());
        }
    }

    #[test]
    fn the_names_of_siblings_begin_alike() {
        for (name, expected) in [
            ("web-7d9f-x2x", vec!["web-7d9f", "web", ""]),
            ("web-0", vec!["web", ""]),
            ("web", vec![""]),
            ("a-b-c-d", vec!["a-b-c", "a-b", ""]),
        ] {
            assert_eq!(named(name).stems().collect::<Vec<_>>(), expected);
        }
    }
}
