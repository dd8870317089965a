//! Which requested objects have rows, and in which order.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::sort_by::SortKey;
use super::state::StatusState;
use crate::model::{Rank, RootPlace};
use crate::object::{ObjectRef, Uid};
use crate::source::SourceKey;

/// A requested object.
pub(super) enum RequestedObject<'a> {
    /// An object that has been seen.
    There(Uid),
    /// The name of an object that has not been seen, and the source that selects it.
    Absent(&'a SourceKey, Arc<ObjectRef>),
}

/// The requested objects that have rows.
pub(super) struct RootSelection<'a> {
    /// In the order of their rows.
    pub(super) shown: Vec<RequestedObject<'a>>,
    /// The number of the others.
    pub(super) beyond: usize,
}

impl StatusState {
    /// The requested objects. Those that were requested by name come first, then the others, the worst first. With
    /// `--sort-by`, a field decides the order. `room` limits the Current objects, and keeps the recently changed ones. An
    /// object below another requested object comes last, because it already has a row below that one.
    pub(super) fn select_roots(&self, room: Option<usize>) -> RootSelection<'_> {
        let graph = self.model.graph();
        let places = self.places_within(room);
        let uids: Vec<Uid> = places.iter().map(|place| place.object.identity()).collect();
        // The objects of most long lists own nothing.
        let tops = graph.has_dependents().then(|| graph.tops(&uids));
        let tops: Option<FxHashSet<&Uid>> = tops.map(|tops| tops.into_iter().collect());
        let is_below = |uid: &Uid| tops.as_ref().is_some_and(|tops| !tops.contains(uid));
        let mut absent = self.absent_places().into_iter().peekable();
        let (mut shown, mut last) = (Vec::new(), Vec::new());
        let beyond = self.model.roots().count() - places.len();
        for (place, uid) in places.into_iter().zip(&uids) {
            while let Some((_, object)) = absent.next_if(|(absent, _)| absent < place) {
                shown.push(object);
            }
            if is_below(uid) {
                last.push(RequestedObject::There(uid.clone()));
            } else {
                shown.push(RequestedObject::There(uid.clone()));
            }
        }
        shown.extend(absent.map(|(_, object)| object));
        if let Some(sorting) = &self.sorting {
            let key = |object: &RequestedObject<'_>| match object {
                RequestedObject::There(uid) => sorting.key(uid),
                RequestedObject::Absent(..) => &SortKey::NONE,
            };
            shown.sort_by(|one, other| key(one).compare(key(other)));
        }
        shown.extend(last);
        RootSelection { shown, beyond }
    }

    /// The objects that were requested by name and have not been seen, in their order.
    fn absent_places(&self) -> Vec<(RootPlace, RequestedObject<'_>)> {
        let named = self.without_object().filter_map(|(requested, source)| {
            let object = source.named_object()?;
            let object = Arc::new(object);
            let place = RootPlace {
                rank: Rank::Named,
                namespace: None,
                requested,
                object: object.clone(),
            };
            Some((place, RequestedObject::Absent(source, object)))
        });
        let mut absent: Vec<_> = named.collect();
        absent.sort_by(|(place, _), (other, _)| place.cmp(other));
        absent
    }

    /// The places of the seen objects, in their order. With `room`, of the Current ones only that many of the recently
    /// changed, and as many of all.
    fn places_within(&self, room: Option<usize>) -> Vec<&RootPlace> {
        let places = self.model.roots().in_order();
        let Some(room) = room else {
            return places.collect();
        };
        let mut current = 0;
        let is_within = |place: &&RootPlace| {
            current += usize::from(place.rank == Rank::Well);
            current <= room
        };
        let mut shown: BTreeSet<&RootPlace> = places.take_while(is_within).collect();
        let recent = self.recent.uids();
        let recent = recent.filter_map(|uid| self.model.roots().place(uid));
        let recent: BTreeSet<&RootPlace> = recent.collect();
        shown.extend(recent.into_iter().take(room));
        shown.into_iter().collect()
    }
}
