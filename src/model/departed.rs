//! Objects that are gone: when the model forgets them.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::object::Uid;

use super::judge::services_of;
use super::{Model, Retention};

impl Model {
    /// The objects to remove: those that have been gone for long enough and, once all sources are read, those
    /// that no followed source shows.
    pub(super) fn expired(&mut self, now: Timestamp) -> Vec<Uid> {
        let owners = self.departed_owners();
        let mut expired: Vec<Uid> = self.departed.iter().cloned().collect();
        expired.retain(|uid| !owners.contains(uid) && self.has_expired(uid, now));
        if self.store.coverage.take_replaced() {
            for (uid, object) in &mut self.store.by_uid {
                object.retain_sources(|source| self.store.coverage.follows(source));
                if object.version().is_none() && object.departure.is_none() {
                    expired.push(uid.clone());
                }
            }
        }
        expired
    }

    fn has_expired(&self, uid: &Uid, now: Timestamp) -> bool {
        let departure = self
            .store
            .by_uid
            .get(uid)
            .and_then(|object| object.departure);
        match (self.retention, departure) {
            (Retention::For(time), Some((_, at))) => now.duration_since(at) >= time,
            (Retention::None, _) | (_, None) => true,
        }
    }

    /// The objects that are gone and kept because a dependent is there. The members of an inventory are not its own: they
    /// may stay.
    fn departed_owners(&self) -> BTreeSet<Uid> {
        if self.retention == Retention::None {
            return BTreeSet::new();
        }
        let owns_any = |uid: &&Uid| {
            let mut below = self.store.graph.directly_below(uid);
            below.any(|below| self.store.is_there(&below.uid))
        };
        let above = self
            .store
            .graph
            .with_above(self.departed.iter().filter(owns_any));
        let owners = above.into_iter();
        owners
            .filter(|uid| self.departed.contains(uid) && !self.store.graph.is_inventory(uid))
            .collect()
    }

    /// Removes an object. Returns the objects to judge again: those that name it, and its Services.
    pub(super) fn remove(&mut self, uid: &Uid) -> Vec<Uid> {
        self.departed.remove(uid);
        self.store.unwell.remove(uid);
        let mut around = services_of(self.around(), uid);
        self.store.graph.delete(uid);
        let Some(object) = self.store.by_uid.remove(uid) else {
            return around;
        };
        if let Some(review) = object.review {
            self.reviews.remove(&(review, uid.clone()));
        }
        around.extend(self.store.graph.referrers(&object.object).cloned());
        around
    }
}
