//! Working out what events mean: once for many, and again when only time has passed.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::super::judged::{Judged, Progress};
use super::super::wanted::{dependents, is_same};
use super::{Known, State};
use crate::object::Uid;
use crate::status::review_at;
use crate::watch::SourceKey;

/// How long the row of an object that is gone is still shown.
const FAREWELL: SignedDuration = SignedDuration::from_secs(5);

/// Of how many objects that a wide source finds the dependents are followed. Each costs a list and a
/// watch for every kind of them.
pub(in crate::commands::status) const TREES: usize = 8;

impl State {
    /// Works out what the events since the last time mean, and what the time has changed; says whether
    /// anything is to be shown anew.
    pub(in crate::commands::status) fn refresh(&mut self, now: Timestamp) -> bool {
        let mut touched = BTreeSet::new();
        let dirty = std::mem::take(&mut self.dirty);
        let due = |known: &Known| known.review.is_some_and(|review| review <= now);
        let reviewed: Vec<Uid> = self
            .objects
            .iter()
            .filter(|(uid, known)| due(known) && !dirty.contains(uid))
            .map(|(uid, _)| uid.clone())
            .collect();
        for uid in dirty.iter().chain(&reviewed) {
            touched.extend(self.with_owners(uid));
            self.judge(uid, now);
            touched.extend(self.with_owners(uid));
        }
        for uid in &touched {
            self.judge_dependents(uid, now);
        }
        let expired = self.expire(now);
        if !dirty.is_empty() || expired {
            self.follow_dependents(now);
        }
        !touched.is_empty() || expired
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
        let judged = match (known.gone, known.held.first()) {
            (Some((how, _)), _) => {
                known.review = None;
                Judged::departed(how)
            }
            (None, None) => return,
            (None, Some((source, version))) => match version.doc() {
                Err(error) => Judged::unreadable(&error),
                Ok(doc) => {
                    self.graph.apply(doc.root());
                    known.review = review_at(doc.root(), now);
                    known.progress = Progress::of(doc.root());
                    if known.asked.is_some() {
                        known.dependents = dependents(source, doc.root());
                    }
                    Judged::of(doc.root(), now, self.rules)
                }
            },
        };
        if known.judged != judged {
            if known.is_news {
                known.changed = Some(now);
            }
            known.judged = judged;
        }
        known.is_news = true;
    }

    fn judge_dependents(&mut self, uid: &Uid, now: Timestamp) {
        let states = self.graph.current_dependents(uid).into_iter();
        let worst = states
            .filter_map(|dependent| self.objects.get(&dependent))
            .filter(|known| known.gone.is_none())
            .map(|known| known.judged.verdict.status)
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

    /// Takes leave of what is gone: an object that was asked for stays as long as anything it owns.
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
        let expired: Vec<Uid> = self
            .objects
            .iter()
            .filter(|(uid, known)| has_left(known) && !(known.asked.is_some() && owns(uid)))
            .map(|(uid, _)| uid.clone())
            .collect();
        for uid in &expired {
            self.objects.remove(uid);
            self.graph.delete(uid);
        }
        !expired.is_empty()
    }

    fn follow_dependents(&mut self, now: Timestamp) {
        let is_wide = |known: &&Known| known.asked.is_some_and(|index| !self.is_name(index));
        let many = self.objects.values().filter(is_wide).count() > TREES;
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

    /// Forgets what only sources have told of that are followed no longer: it would never change again.
    fn forget(&mut self, dropped: &[SourceKey], now: Timestamp) {
        let is_dropped = |key: &SourceKey| dropped.iter().any(|dropped| is_same(dropped, key));
        let graph = &mut self.graph;
        self.objects.retain(|uid, known| {
            known.held.retain(|(key, _)| !is_dropped(key));
            let stays = !known.held.is_empty() || known.gone.is_some();
            if !stays {
                graph.delete(uid);
            }
            stays
        });
        let left: Vec<Uid> = self.objects.keys().cloned().collect();
        for uid in &left {
            self.judge_dependents(uid, now);
        }
    }
}
