//! Compares an answer with the true history: every printed version, its time, its writers and its order.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};

use super::claim::{Change, Claim, Length, Word};
use super::objects::Kind;
use super::question::{Answer, Filter};
use super::write::{Compacted, Storage, What, Write, created, owners, revision};

/// A recorded time may differ from the true one by this much.
pub const SLACK: SignedDuration = SignedDuration::from_secs(1);
/// How much later than its own time a renewal of a Lease may be stored on a busy machine. The ends of intervals come from
/// such times.
pub const LATE: SignedDuration = SignedDuration::from_secs(3);

/// Judges one answer.
pub struct Judge<'a> {
    /// All writes to the namespace, in the order of their answers.
    pub truth: &'a [Write],
    pub answer: &'a Answer,
    /// The revisions to which the storages are compacted.
    pub compacted: &'a Compacted,
    pub wrong: Vec<String>,
}

impl<'a> Judge<'a> {
    /// Judges the printed versions one by one, then their order.
    pub fn claims(&mut self) -> Vec<(&'a Claim, &'a Write)> {
        let mut known = Vec::new();
        for claim in &self.answer.printed.claims {
            match self.written(claim) {
                Some(write) => {
                    self.claim(claim, write);
                    known.push((claim, write));
                }
                None => self.say(claim, "nobody wrote this version"),
            }
        }
        self.order(&known);
        known
    }

    /// Notes that a claim is false.
    fn say(&mut self, claim: &Claim, why: impl std::fmt::Display) {
        self.wrong.push(format!("{why}:\n  {}", claim.line));
    }

    /// The write that a claim is about. `short` names no version, so there it is the one that fits best.
    fn written(&self, claim: &Claim) -> Option<&'a Write> {
        let is_of = |write: &&Write| Some(write.kind) == claim.kind && write.name == claim.name;
        let mut writes = self.truth.iter().filter(is_of);
        let Some(to) = claim.to else {
            return writes.min_by_key(|write| {
                let mut judge = Judge {
                    wrong: Vec::new(),
                    ..*self
                };
                judge.claim(claim, write);
                judge.wrong.len()
            });
        };
        match claim.word {
            // The last version, or the revision of the deletion.
            Word::Deleted => writes.find(|write| {
                let last = write.before.as_ref().map(revision);
                write.what == What::Deleted && (write.revision == to || last == Some(to))
            }),
            _ => writes.find(|write| write.revision == to && write.what != What::Deleted),
        }
    }

    fn claim(&mut self, claim: &Claim, write: &Write) {
        if !self.is_word(claim.word, write) {
            self.say(claim, format!("it is not {:?}: {write}", claim.word));
        }
        if claim.uid.as_ref().is_some_and(|uid| *uid != write.uid) {
            self.say(claim, format!("another uid: {write}"));
        }
        let before = write.before.as_ref().map(revision);
        if claim.word == Word::Modified && claim.from.is_some() && claim.from != before {
            self.say(claim, format!("it follows {before:?}: {write}"));
        }
        if claim.word == Word::Existing {
            return;
        }
        self.times(claim, write);
        for writer in &claim.writers {
            if *writer != write.by.to_string() {
                self.say(
                    claim,
                    format!("{} wrote it, not {writer}: {write}", write.by),
                );
            }
        }
        for change in &claim.changes {
            self.change(claim, change, write);
        }
    }

    fn is_word(&self, word: Word, write: &Write) -> bool {
        let same = |other: &&Write| (other.kind, &other.name) == (write.kind, &write.name);
        match word {
            Word::Existing => {
                let last = self.truth.iter().rfind(same);
                last.is_some_and(|last| last.revision == write.revision)
            }
            Word::Created => write.what == What::Created,
            Word::Recreated => {
                let before = self.truth.iter().filter(same);
                let mut before = before.take_while(|other| other.revision != write.revision);
                write.what == What::Created && before.any(|other| other.what == What::Deleted)
            }
            Word::Modified => write.what == What::Modified,
            Word::Deleted => write.what == What::Deleted,
            Word::Left => false,
        }
    }

    fn times(&mut self, claim: &Claim, write: &Write) {
        let Some(from) = claim.time else {
            return;
        };
        let until = claim.until.unwrap_or(from);
        let is_early = until + LATE < write.span.received;
        if is_early || from - SLACK > write.span.done || until < from {
            self.say(claim, format!("not its time: {write}"));
        }
        let is_age = |age: Length, time: Timestamp| {
            let ends = [self.answer.begun, self.answer.ended];
            let [least, most] = ends.map(|now| now.duration_since(time).max(SignedDuration::ZERO));
            age.is_between(least, most)
        };
        let ago = claim.ago;
        let ago = ago.is_none_or(|[least, most]| is_age(most, from) && is_age(least, until));
        if !ago {
            self.say(claim, "the age does not fit the time");
        }
        let spans = [from.min(write.span.received), until.max(write.span.done)];
        self.length(claim, claim.existed, spans, created(&write.object));
        let most = claim
            .existed_up_to
            .map(|most| most.span + most.unit + SLACK);
        let lived = created(&write.object).map(|it| write.span.received.duration_since(it));
        if most.zip(lived).is_some_and(|(most, lived)| most < lived) {
            self.say(claim, "it existed longer");
        }
        let previous = self.previous(write).map(|it| it.span.received);
        self.length(claim, claim.since, spans, previous);
    }

    /// Whether a printed length ends at the time of the claim, and begins at `begun`.
    #[expect(
        clippy::too_many_arguments,
        reason = "the claim and what it is judged by"
    )]
    fn length(
        &mut self,
        claim: &Claim,
        length: Option<Length>,
        [from, until]: [Timestamp; 2],
        begun: Option<Timestamp>,
    ) {
        let (Some(length), Some(begun)) = (length, begun) else {
            return;
        };
        let (least, most) = (from.duration_since(begun), until.duration_since(begun));
        if !length.is_between(least, most) {
            self.say(claim, format!("the length is false: {least:#} to {most:#}"));
        }
    }

    /// The version of the same object before this one.
    fn previous(&self, write: &Write) -> Option<&'a Write> {
        let same = |other: &&Write| other.uid == write.uid;
        let before = self.truth.iter().filter(same);
        before
            .take_while(|other| other.revision != write.revision)
            .last()
    }

    fn change(&mut self, claim: &Claim, change: &Change, write: &Write) {
        let (author, bare) = (write.by.to_string(), &write.by.manager);
        if let Some(by) = change
            .by
            .as_ref()
            .filter(|by| **by != author && *by != bare)
        {
            self.say(
                claim,
                format!("{author} made the change, not {by}: {write}"),
            );
        }
        if let Some(was) = &change.was {
            let before = write.before.as_ref();
            let mut owners = before.into_iter().flat_map(owners);
            if !owners.any(|owner| owner == *was) {
                self.say(claim, format!("{was} owned nothing before: {write}"));
            }
        }
        let sides = [
            (&change.new, Some(&write.object)),
            (&change.old, write.before.as_ref()),
        ];
        for (side, object) in sides {
            let Some((pointer, value)) = side else {
                continue;
            };
            let is_hidden = value.get("redacted").is_some() || write.kind == Kind::Secret;
            let there = object.and_then(|object| object.pointer(pointer));
            if !is_hidden && there != Some(value) {
                self.say(claim, format!("{pointer} is {there:?}: {write}"));
            }
        }
    }

    /// No version appears twice; revisions grow within a storage, and times between storages.
    fn order(&mut self, known: &[(&'a Claim, &'a Write)]) {
        let mut seen: HashMap<(Kind, u64), &Claim> = HashMap::new();
        let versions = known
            .iter()
            .filter(|(claim, _)| claim.word != Word::Existing);
        let mut last: Vec<(&Claim, &Write)> = Vec::new();
        for &(claim, write) in versions {
            if claim.to.is_some() && seen.insert((write.kind, write.revision), claim).is_some() {
                self.say(claim, "it is printed twice");
            }
            for (before, earlier) in &last {
                let is_one_storage = self.order_of(earlier) == self.order_of(write);
                let is_exact = claim.until.is_none() && before.until.is_none();
                let is_false = if is_one_storage {
                    earlier.revision > write.revision
                } else {
                    is_exact
                        && !self.answer.is_live()
                        && earlier.span.received > write.span.done + SLACK
                };
                if is_false && claim.to.is_some() {
                    self.say(
                        claim,
                        format!("it is printed after a later version:\n  {}", before.line),
                    );
                }
            }
            last.retain(|(_, earlier)| self.order_of(earlier) != self.order_of(write));
            last.push((claim, write));
        }
    }

    /// What orders a write among others: live, each kind has an order of its own.
    fn order_of(&self, write: &Write) -> (Storage, Option<Kind>) {
        let kind = self.answer.is_live().then_some(write.kind);
        (write.storage, kind)
    }

    /// Whether the answer must show a write, if it covers its time.
    pub fn is_wanted(&self, write: &Write) -> bool {
        let question = &self.answer.question;
        let is_filtered = match question.filter {
            Filter::Everyone => true,
            Filter::By(manager) => write.by.manager == manager && write.is_recorded(),
            Filter::People => write.is_by_people(),
        };
        question.is_about(write.kind, &write.name) && is_filtered
    }
}

impl Length {
    /// Whether it is the length of a span between these two, up to a second and to its own precision.
    fn is_between(self, least: SignedDuration, most: SignedDuration) -> bool {
        let slack = SLACK + self.unit;
        self.span + slack >= least && self.span <= most + slack
    }
}
