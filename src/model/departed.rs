//! Objects that are gone: when the model forgets them.

use jiff::Timestamp;

use crate::object::Uid;

use super::{Model, Retention};

impl Model {
    /// The objects to remove: those that have been gone for long enough and, once all sources are read, those
    /// that no followed source shows.
    pub(super) fn expired(&mut self, now: Timestamp) -> Vec<Uid> {
        let mut expired: Vec<Uid> = self.departed.iter().cloned().collect();
        expired.retain(|uid| self.has_expired(uid, now));
        if self.coverage.take_replaced() {
            for (uid, object) in &mut self.objects {
                object.retain_sources(|source| self.coverage.follows(source));
                if object.version().is_none() && object.departure.is_none() {
                    expired.push(uid.clone());
                }
            }
        }
        expired
    }

    fn has_expired(&self, uid: &Uid, now: Timestamp) -> bool {
        let departure = self.objects.get(uid).and_then(|object| object.departure);
        match (self.retention, departure) {
            (Retention::For(time), Some((_, at))) => {
                now.duration_since(at) >= time && !self.owns_any(uid)
            }
            (Retention::None, _) | (_, None) => true,
        }
    }

    /// Whether any dependent of the object is there. The members of an inventory are not its own: they may stay.
    fn owns_any(&self, uid: &Uid) -> bool {
        if self.graph.is_inventory(uid) {
            return false;
        }
        let mut below = self.graph.tree(uid).into_iter().map(|(_, below)| below);
        below.any(|below| {
            let object = self.objects.get(&below);
            below != *uid && object.is_some_and(|object| object.departure.is_none())
        })
    }

    /// Removes an object. Returns the objects to judge again: those that name it, and its Services.
    pub(super) fn remove(&mut self, uid: &Uid) -> Vec<Uid> {
        self.departed.remove(uid);
        self.unwell.remove(uid);
        let mut around = self.services_of(uid);
        self.graph.delete(uid);
        let Some(object) = self.objects.remove(uid) else {
            return around;
        };
        if let Some(review) = object.review {
            self.reviews.remove(&(review, uid.clone()));
        }
        around.extend(self.graph.referrers(&object.object).cloned());
        around
    }
}
