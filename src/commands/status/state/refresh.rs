//! Working out what events mean: once for many, and again when only time has passed.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::super::sources::dependents;
use super::{Known, State};
use crate::object::Uid;
use crate::status::{Assessment, RolloutCounts, review_at};
use crate::watch::SourceKey;

/// How long the row of an object that is gone is still shown.
const FAREWELL: SignedDuration = SignedDuration::from_secs(5);

/// Of how many objects that a wide source finds the dependents are followed. Each costs a list and a
/// watch for every kind of them.
pub(in crate::commands::status) const TREES: usize = 8;

impl State {
    /// Assesses again what events or the time have changed since the last call. Returns whether
    /// anything is to be shown anew.
    pub(in crate::commands::status) fn refresh(&mut self, now: Timestamp) -> bool {
        let mut touched = BTreeSet::new();
        let mut changed = std::mem::take(&mut self.dirty);
        changed.extend(self.take_due(now));
        for uid in &changed {
            touched.extend(self.with_owners(uid));
            self.judge(uid, now);
            touched.extend(self.with_owners(uid));
        }
        for uid in &touched {
            self.judge_dependents(uid, now);
        }
        let expired = self.expire(now);
        if std::mem::take(&mut self.is_plan_old) {
            self.follow_dependents(now);
        }
        !touched.is_empty() || expired
    }

    /// What is to be judged again by now.
    fn take_due(&mut self, now: Timestamp) -> Vec<Uid> {
        let mut due = Vec::new();
        while let Some((at, uid)) = self.reviews.pop_first() {
            if at > now {
                self.reviews.insert((at, uid));
                break;
            }
            due.push(uid);
        }
        due
    }

    /// An object, and those above it.
    fn with_owners(&self, uid: &Uid) -> Vec<Uid> {
        let owners = self.graph.ancestors(uid).into_iter();
        let owners = owners.map(|owner| owner.uid.clone());
        owners.chain([uid.clone()]).collect()
    }

    fn judge(&mut self, uid: &Uid, now: Timestamp) {
        let Some(known) = self.objects.get_mut(uid) else {
            return;
        };
        if let Some(review) = known.review.take() {
            self.reviews.remove(&(review, uid.clone()));
        }
        let assessment = match (known.gone, known.held.first()) {
            (Some((how, _)), _) => Assessment::departed(how),
            (None, None) => return,
            (None, Some((source, version))) => match version.doc() {
                Err(error) => Assessment::unreadable(&error),
                Ok(doc) => {
                    self.graph.apply(doc.root());
                    known.review = review_at(doc.root(), now);
                    let review = known.review.map(|review| (review, uid.clone()));
                    self.reviews.extend(review);
                    known.rollout = RolloutCounts::of(doc.root());
                    if known.asked.is_some() {
                        let dependents = dependents(source, doc.root());
                        self.is_plan_old |= known.dependents != dependents;
                        known.dependents = dependents;
                    }
                    Assessment::of(doc.root(), now, self.rules)
                }
            },
        };
        if known.assessment != assessment {
            if known.is_news {
                known.changed = Some(now);
            }
            known.assessment = assessment;
        }
        known.is_news = true;
    }

    fn judge_dependents(&mut self, uid: &Uid, now: Timestamp) {
        let states = self.graph.current_dependents(uid).into_iter();
        let worst = states
            .filter_map(|dependent| self.objects.get(&dependent))
            .filter(|known| known.gone.is_none())
            .map(|known| known.assessment.verdict.status)
            .max();
        if let Some(known) = self.objects.get_mut(uid)
            && known.worst != worst
        {
            if known.worst.is_some() {
                known.changed = Some(now);
            }
            known.worst = worst;
        }
    }

    /// Drops objects that are gone. A requested object stays as long as anything that it owns.
    fn expire(&mut self, now: Timestamp) -> bool {
        let is_old = |at: Timestamp| now.duration_since(at) >= FAREWELL;
        let has_left = |known: &Known| known.gone.is_some_and(|(_, at)| is_old(at));
        let owns = |uid: &Uid| {
            let outline = self.graph.tree(uid).into_iter();
            outline
                .filter(|(depth, _)| *depth > 0)
                .filter_map(|(_, uid)| self.objects.get(&uid))
                .any(|known| known.gone.is_none())
        };
        let is_over = |uid: &&Uid| {
            let known = self.objects.get(uid);
            known.is_none_or(|known| has_left(known) && !(known.asked.is_some() && owns(uid)))
        };
        let expired: Vec<Uid> = self.gone.iter().filter(is_over).cloned().collect();
        for uid in &expired {
            self.take_out(uid);
        }
        !expired.is_empty()
    }

    /// Forgets an object.
    fn take_out(&mut self, uid: &Uid) {
        self.gone.remove(uid);
        self.graph.delete(uid);
        let Some(known) = self.objects.remove(uid) else {
            return;
        };
        if let Some(review) = known.review {
            self.reviews.remove(&(review, uid.clone()));
        }
        self.is_plan_old |= !known.dependents.is_empty();
        if known.asked.is_some_and(|index| !self.is_name(index)) {
            self.wide -= 1;
            self.is_plan_old |= self.wide == TREES;
        }
    }

    fn follow_dependents(&mut self, now: Timestamp) {
        let is_wide = |known: &&Known| known.asked.is_some_and(|index| !self.is_name(index));
        let many = self.wide > TREES;
        let (flat, followed): (Vec<&Known>, Vec<&Known>) = self
            .objects
            .values()
            .filter(|known| !known.dependents.is_empty())
            .partition(|known| many && is_wide(known));
        let is_flat = !flat.is_empty();
        let keys = followed.into_iter().flat_map(|known| &known.dependents);
        let keys: Vec<SourceKey> = keys.cloned().collect();
        self.is_flat = is_flat;
        let dropped = self.wanted.set_dependents(keys);
        if !dropped.is_empty() {
            self.forget(&dropped, now);
        }
    }

    /// Forgets objects that only dropped sources have shown: they would never change again.
    fn forget(&mut self, dropped: &[SourceKey], now: Timestamp) {
        let is_dropped = |key: &SourceKey| dropped.contains(key);
        let mut lost: Vec<Uid> = Vec::new();
        for (uid, known) in &mut self.objects {
            known.held.retain(|(key, _)| !is_dropped(key));
            if known.held.is_empty() && known.gone.is_none() {
                lost.push(uid.clone());
            }
        }
        for uid in &lost {
            self.take_out(uid);
        }
        let left: Vec<Uid> = self.objects.keys().cloned().collect();
        for uid in &left {
            self.judge_dependents(uid, now);
        }
    }
}
