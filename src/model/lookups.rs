//! `Lookups`: the sources of which a model keeps only the objects around others.

use crate::graph::{Lookup, PassedOver, ReferenceTarget};
use crate::object::{ServedTypes, Uid, well_known_type};
use crate::source::{Event, SourceKey, Version, Why};

/// The sources that a model looks through.
#[derive(Debug, Default)]
pub(super) struct Lookups {
    all: Vec<LookupProgress>,
    /// The custom objects that no lookup kept. They may belong to objects that are found later.
    passed: PassedOver,
}

/// A source, and how far the model has looked through it.
#[derive(Debug)]
struct LookupProgress {
    /// What the plan asks for.
    planned: Lookup,
    /// The same, and what will be asked for next.
    lookup: Lookup,
    /// How many objects it has.
    objects: usize,
}

impl Lookups {
    /// Replaces the lookups. Returns the sources that must be looked through again, for other objects than before.
    pub(super) fn replace(&mut self, lookups: Vec<Lookup>) -> Vec<SourceKey> {
        let mut before = std::mem::take(&mut self.all);
        let mut again = Vec::new();
        for planned in lookups {
            let known = before
                .iter()
                .position(|known| known.planned.source == planned.source);
            let known = known.map(|at| before.swap_remove(at));
            let known = match known {
                Some(known) if known.planned == planned => {
                    self.all.push(known);
                    continue;
                }
                known => known,
            };
            let lookup = planned.with_passed(&self.passed);
            let mut objects = 0;
            match known {
                Some(known) if known.lookup == lookup => objects = known.objects,
                Some(_) => again.push(planned.source.clone()),
                None => {}
            }
            self.all.push(LookupProgress {
                planned,
                lookup,
                objects,
            });
        }
        again
    }

    /// Whether the model keeps a version from a source. A version that cannot be parsed is kept, so that it is seen.
    pub(super) fn keeps(
        &mut self,
        source: &SourceKey,
        version: &Version,
        types: &ServedTypes,
    ) -> bool {
        let Some(known) = self.of(source) else {
            return true;
        };
        let Ok(doc) = version.doc() else {
            return true;
        };
        let is_kept = known.lookup.keeps(doc.root(), types);
        if !is_kept && known.lookup.has_owners() && is_custom(source) {
            self.passed.put(&version.object.identity(), doc.root());
        }
        is_kept
    }

    /// Forgets an object that is gone.
    pub(super) fn forget(&mut self, uid: &Uid) {
        self.passed.remove(uid);
    }

    /// Whether the model keeps a named object from a source.
    pub(super) fn looks_for(&self, source: &SourceKey, target: &ReferenceTarget) -> bool {
        let known = self.of(source);
        known.is_none_or(|known| known.lookup.looks_for(target))
    }

    /// Counts the objects of a source.
    pub(super) fn count(&mut self, source: &SourceKey, event: &Event) {
        let mut all = self.all.iter_mut();
        let Some(known) = all.find(|known| known.planned.source == *source) else {
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
        all.map(|known| (&known.planned.source, known.objects))
    }

    /// Whether the model keeps only some objects of a source.
    pub(super) fn has(&self, source: &SourceKey) -> bool {
        self.of(source).is_some()
    }

    fn of(&self, source: &SourceKey) -> Option<&LookupProgress> {
        self.all
            .iter()
            .find(|known| known.planned.source == *source)
    }
}

/// Whether a source has custom resources.
pub(super) fn is_custom(source: &SourceKey) -> bool {
    let resource = &source.resource;
    well_known_type(&resource.group, &resource.kind).is_none()
}
