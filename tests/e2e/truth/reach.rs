//! Compares an answer with the true history: what it claims to be complete, its counts and its exit code.

use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::claim::{Claim, Word};
use super::objects::{KINDS, Kind};
use super::question::{Format, Scope, Since};
use super::verdict::{Judge, LATE, SLACK};
use super::write::{What, Write};

/// The default look-back shows at most this many versions.
const DEFAULT: usize = 20;
/// An earlier version than requested may be printed if its time is this close to the start of the window.
const MARGIN: SignedDuration = SignedDuration::from_secs(3);

/// What an answer claims to have printed.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// All versions after this time, of objects that existed then or exist now.
    of_existing: Timestamp,
    /// All versions after this time, of all objects.
    of_all: Timestamp,
}

impl<'a> Judge<'a> {
    /// Judges everything but the printed versions themselves. `known` are those.
    pub fn whole(&mut self, known: &[(&'a Claim, &'a Write)]) {
        let written = known
            .iter()
            .filter(|(claim, _)| claim.word != Word::Existing);
        let written = written.map(|(_, write)| (write.kind, write.revision));
        let printed: HashSet<(Kind, u64)> = written.collect();
        self.window(known);
        self.exit_code(known);
        match self.answer.question.format {
            Format::Json if self.answer.is_live() => self.live(&printed),
            Format::Json => self.records(&printed),
            Format::Paths | Format::Yaml => self.text(&printed),
            // It names no revisions.
            Format::Short => {}
        }
        self.counts(known);
    }

    pub fn note(&mut self, why: impl std::fmt::Display) {
        self.wrong.push(why.to_string());
    }

    /// The time at which the window begins: the earliest and the latest possible one.
    fn start(&self) -> [Timestamp; 2] {
        match self.answer.question.since {
            Since::Now | Since::Default | Since::All => [Timestamp::MIN; 2],
            Since::Seconds(seconds) => {
                let ago = SignedDuration::from_secs(seconds.into());
                [self.answer.begun - ago, self.answer.ended - ago]
            }
        }
    }

    /// Whether every version may belong to the window.
    fn window(&mut self, known: &[(&'a Claim, &'a Write)]) {
        let [from, _] = self.start();
        let from = from.checked_sub(MARGIN).unwrap_or(from);
        for (claim, _) in known {
            let until = claim.until.or(claim.time);
            if claim.word != Word::Existing && until.is_some_and(|until| until < from) {
                self.note(format!("it is not in the window:\n  {}", claim.line));
            }
        }
    }

    pub fn divider(&self) -> &'a [String] {
        self.answer.printed.divider.as_deref().unwrap_or_default()
    }

    /// Whether the object of a write exists now, or existed when this held of its creation but not of its deletion.
    fn existed(&self, write: &Write, is_before: impl Fn(&Write) -> bool) -> bool {
        let life = || self.truth.iter().filter(|other| other.uid == write.uid);
        let began = life().any(|it| it.what == What::Created && is_before(it));
        let gone = life().find(|it| it.what == What::Deleted);
        gone.is_none_or(|gone| began && !is_before(gone))
    }

    fn records(&mut self, printed: &HashSet<(Kind, u64)>) {
        let notices = &self.answer.printed.notices;
        for record in notices.iter().filter(|record| record["type"] == "lookback") {
            let Some(kind) = source(record) else { continue };
            let of_kind = self.truth.iter().filter(|write| write.kind == kind);
            for write in of_kind {
                self.bounds(record, write);
                let is_missing = !printed.contains(&(write.kind, write.revision));
                if is_missing && self.is_wanted(write) && self.claims_all(record, write) {
                    self.note(format!("a version is missing: {write}\n  {record}"));
                }
            }
        }
        let is_version = |claim: &&Claim| claim.word != Word::Existing;
        let versions = self.answer.printed.claims.iter().filter(is_version).count();
        for seam in notices.iter().filter(|record| record["type"] == "seam") {
            if seam["versions"] != versions {
                self.note(format!("{versions} versions are printed: {seam}"));
            }
        }
    }

    /// Without a gap, every version is printed.
    fn live(&mut self, printed: &HashSet<(Kind, u64)>) {
        let gaps = self.answer.printed.notices.iter();
        if gaps.filter(|record| record["type"] == "gap").count() > 0 {
            return;
        }
        for write in self.truth {
            if !printed.contains(&(write.kind, write.revision)) {
                self.note(format!("a live version is missing: {write}"));
            }
        }
    }

    /// Whether a record claims that a write is printed.
    fn claims_all(&self, record: &Value, write: &Write) -> bool {
        let after = |field: &str| number(&record[field]).is_some_and(|it| write.revision > it);
        let is_missing = record["missing"]
            .as_array()
            .is_some_and(|it| !it.is_empty());
        let [_, start] = self.start();
        // With `limit`, everything requested is printed.
        let is_asked = self.answer.question.since != Since::Default
            && record["end"] == "limit"
            && !is_missing
            && write.span.received >= start.saturating_add(SLACK).unwrap();
        let from = number(&record["from"]);
        let is_then = |it: &Write| from.is_some_and(|from| it.revision <= from);
        let is_old = |it: &Write| is_surely_old(it, start);
        after("complete")
            || (after("from") && self.existed(write, is_then))
            || (is_asked && self.existed(write, is_old))
    }

    /// Whether the times of a record are those of its revisions.
    fn bounds(&mut self, record: &Value, write: &Write) {
        for (revision, at) in [("from", "time"), ("complete", "completeTime")] {
            let (Some(revision), Some(at)) = (number(&record[revision]), time(&record[at])) else {
                continue;
            };
            if write.revision <= revision && write.span.received > at + LATE {
                self.note(format!(
                    "{revision} is later than {at}: {write}\n  {record}"
                ));
            }
        }
    }

    fn text(&mut self, printed: &HashSet<(Kind, u64)>) {
        if self.answer.question.folds() {
            return;
        }
        let Some(reach) = self.reach() else { return };
        for write in self.truth {
            let is_claimed = write.span.received > reach.of_all
                || (write.span.received > reach.of_existing
                    && self.existed(write, |it| self.is_then(it)));
            let is_line = !self.is_event_line(write.kind) && write.is_shown();
            let is_missing = !printed.contains(&(write.kind, write.revision));
            if is_claimed && is_line && is_missing && self.is_wanted(write) {
                let divider = self.divider().join(" · ");
                self.note(format!("a version is missing: {write}\n  {divider}"));
            }
        }
    }

    /// Whether text claims that an object existed at the start if this is its creation.
    fn is_then(&self, write: &Write) -> bool {
        let [_, start] = self.start();
        let is_old = is_surely_old(write, start);
        is_old
            || self
                .compacted
                .get(&write.storage)
                .is_some_and(|at| write.revision <= *at)
    }

    /// Whether the timeline prints this kind as Event lines.
    pub fn is_event_line(&self, kind: Kind) -> bool {
        let question = self.answer.question;
        kind == Kind::Event && question.scope == Scope::Namespace && question.format.is_text()
    }

    /// What text claims; `None` if it says that something is missing.
    pub fn reach(&self) -> Option<Reach> {
        let [_, start] = self.start();
        let question = self.answer.question;
        let is_cut =
            question.since == Since::Default && self.answer.printed.claims.len() >= DEFAULT;
        // Documents start from now, unless a look-back is asked for.
        let is_asked = question.since != Since::Default || question.format != Format::Yaml;
        // Documents say on stderr what may be missing.
        let mut messages = self.answer.stderr.lines();
        let is_told = !is_asked
            || messages.any(|line| !line.starts_with(LEFT_OUT))
            || !matches!(self.answer.code, 0 | 1);
        if is_cut || is_told || (question.format == Format::Paths && self.divider().is_empty()) {
            return None;
        }
        let start = start.saturating_add(SLACK).unwrap();
        let mut reach = Reach {
            of_existing: start,
            of_all: start,
        };
        for part in self.divider() {
            reach.narrow(part)?;
        }
        Some(reach)
    }
}

impl Reach {
    /// Takes in a part of the divider; `None` if it makes the reach unknown.
    fn narrow(&mut self, part: &str) -> Option<()> {
        let after = |words: &str| part.strip_prefix(words);
        let at = |text: &str| text.parse::<Timestamp>().ok()?.checked_add(LATE).ok();
        if let Some(since) = after("complete since ") {
            let (time, rest) = since.split_once('Z').unwrap_or((since, ""));
            self.of_all = self.of_all.max(at(&format!("{time}Z"))?);
            if rest.is_empty() {
                self.of_existing = self.of_existing.max(self.of_all);
            }
        } else if let Some(before) = after("the server has compacted versions before ")
            .or(after("the server's history starts before "))
        {
            self.of_existing = self.of_existing.max(at(before)?);
            self.of_all = self.of_all.max(self.of_existing);
        } else if part.ends_with("may be missing") {
            self.of_all = Timestamp::MAX;
        } else if !(is_count(part) || is_about_others(part)) {
            return None;
        }
        Some(())
    }
}

/// Leases date the start of a window with this precision.
const LEASE: SignedDuration = SignedDuration::from_secs(15);

fn is_surely_old(write: &Write, start: Timestamp) -> bool {
    start
        .checked_sub(LEASE)
        .is_ok_and(|start| write.span.done < start)
}

/// Whether a part of the divider says nothing about what may be missing.
fn is_about_others(part: &str) -> bool {
    part == "complete" || part.ends_with(": -A") || part.starts_with(LEFT_OUT)
}

/// The start of the words about managers that `--people` leaves out.
const LEFT_OUT: &str = "left out: ";

pub fn is_count(part: &str) -> bool {
    let words = [
        "earlier version",
        "objects changed",
        "object changed",
        " changed, in ",
        "none of ",
    ];
    // `earlier versions not read in 1 s` counts nothing.
    words.iter().any(|words| part.contains(words)) && !part.contains(" not read ")
}

/// The kind of a record's source.
fn source(record: &Value) -> Option<Kind> {
    let source = record["source"].as_str()?;
    let name = source.split([' ', '/', '.']).next()?;
    KINDS
        .into_iter()
        .find(|kind| kind.plural() == name || kind.word() == name)
}

fn number(value: &Value) -> Option<u64> {
    value.as_str()?.parse().ok()
}

fn time(value: &Value) -> Option<Timestamp> {
    value.as_str()?.parse().ok()
}
