//! `Lookups`: the sources of which a model keeps only the objects around others.

use crate::graph::{Lookup, ReferenceTarget};
use crate::object::ServedTypes;
use crate::source::{Event, SourceKey, Version, Why};

/// The sources that a model looks through.
#[derive(Debug, Default)]
pub(super) struct Lookups {
    all: Vec<LookupProgress>,
}

/// A source, and how far the model has looked through it.
#[derive(Debug)]
struct LookupProgress {
    lookup: Lookup,
    /// How many objects it has.
    objects: usize,
}

impl Lookups {
    /// Replaces the lookups. Returns the sources that must be looked through again, for other objects than before.
    pub(super) fn replace(&mut self, lookups: Vec<Lookup>) -> Vec<SourceKey> {
        let mut before = std::mem::take(&mut self.all);
        let mut again = Vec::new();
        for lookup in lookups {
            let known = before
                .iter()
                .position(|known| known.lookup.source == lookup.source);
            let mut objects = 0;
            if let Some(known) = known.map(|at| before.swap_remove(at)) {
                if known.lookup == lookup {
                    objects = known.objects;
                } else {
                    again.push(lookup.source.clone());
                }
            }
            self.all.push(LookupProgress { lookup, objects });
        }
        again
    }

    /// Whether the model keeps a version from a source. A version that cannot be parsed is kept, so that it is seen.
    pub(super) fn keeps(&self, source: &SourceKey, version: &Version, types: &ServedTypes) -> bool {
        self.of(source).is_none_or(|known| {
            let doc = version.doc();
            doc.map_or(true, |doc| known.lookup.keeps(doc.root(), types))
        })
    }

    /// Whether the model keeps a named object from a source.
    pub(super) fn looks_for(&self, source: &SourceKey, target: &ReferenceTarget) -> bool {
        let known = self.of(source);
        known.is_none_or(|known| known.lookup.looks_for(target))
    }

    /// Counts the objects of a source.
    pub(super) fn count(&mut self, source: &SourceKey, event: &Event) {
        let mut all = self.all.iter_mut();
        let Some(known) = all.find(|known| known.lookup.source == *source) else {
            return;
        };
        match event {
            Event::Synced { count, .. } => known.objects = *count,
            Event::Object {
                why: Why::Added, ..
            } => known.objects += 1,
            Event::Object { why, .. } if why.is_gone() => {
                known.objects = known.objects.saturating_sub(1);
            }
            Event::Object { .. } | Event::State(_) | Event::Gap(_) | Event::Undecodable { .. } => {}
        }
    }

    /// The sources, with the numbers of their objects.
    pub(super) fn counts(&self) -> impl Iterator<Item = (&SourceKey, usize)> {
        let all = self.all.iter();
        all.map(|known| (&known.lookup.source, known.objects))
    }

    fn of(&self, source: &SourceKey) -> Option<&LookupProgress> {
        self.all.iter().find(|known| known.lookup.source == *source)
    }
}
