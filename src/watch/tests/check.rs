//! Checks the events of a lossless reader against the server's history.

use std::collections::{BTreeMap, BTreeSet};

use super::brief;
use crate::object::{ObjectRef, ResourceVersion};
use crate::source::{Event, Gap, GapCause, Version, Why};
use crate::watch::tests::fake::{Did, LoggedWrite, Model};

/// The objects that a reader has: the version of each uid.
pub(super) type Mirror = BTreeMap<String, u64>;

/// The objects at a version.
pub(super) fn state(model: &Model, rv: u64) -> Mirror {
    let there = model.at(rv).into_values();
    there.map(|pod| (pod.uid, pod.rv)).collect()
}

pub(super) fn number(version: &ResourceVersion) -> u64 {
    version.as_str().parse().expect("a number")
}

pub(super) fn uid(object: &ObjectRef) -> String {
    let uid = object.uid.as_ref().expect("has one");
    uid.as_str().to_owned()
}

/// A version in a history.
fn find<'a>(log: &'a [LoggedWrite], uid: &str, rv: u64) -> Option<&'a LoggedWrite> {
    log.iter().find(|op| op.pod.rv == rv && op.pod.uid == uid)
}

/// The faults that a reader got events for.
#[derive(Debug, Default)]
pub(super) struct ReportedFaults {
    pub(super) expired: usize,
    pub(super) damaged: usize,
    pub(super) polled: usize,
    pub(super) slow: usize,
    pub(super) restored: usize,
}

impl ReportedFaults {
    pub(super) fn add(&mut self, other: &ReportedFaults) {
        self.expired += other.expired;
        self.damaged += other.damaged;
        self.polled += other.polled;
        self.slow += other.slow;
        self.restored += other.restored;
    }
}

/// Checks the events of one reader one by one against the server's history.
pub(super) struct Check<'a> {
    label: &'a str,
    model: &'a Model,
    /// How many restores had happened when the events that are read now were written.
    restores: usize,
    mirror: Mirror,
    /// Every event up to this version has been checked.
    at: u64,
    epoch: u32,
    pub(super) told: ReportedFaults,
    /// How many undecodable lines arrived since the last gap for them.
    bad: usize,
    /// Whether the reader got an event for every fault.
    from_the_start: bool,
}

impl<'a> Check<'a> {
    /// Checks all events of a reader that joined at `from`. `from_the_start` is whether it got an event for every
    /// fault.
    pub(super) fn all(
        (label, from, restores): (&'a str, u64, usize),
        model: &'a Model,
        events: &'a [Event],
        from_the_start: bool,
    ) -> ReportedFaults {
        let mut check = Check {
            label,
            model,
            restores,
            mirror: Mirror::new(),
            at: 0,
            epoch: 0,
            told: ReportedFaults::default(),
            bad: 0,
            from_the_start,
        };
        let rest = check.start(events, from);
        check.run(rest);
        assert_eq!(check.mirror, state(model, model.rv), "{label}: the end");
        let unseen = model.log.iter().find(|op| op.pod.rv > check.at);
        assert!(unseen.is_none(), "{label}: never told of {unseen:?}");
        check.told
    }

    /// The history that the reader is in.
    fn log(&self) -> &'a [LoggedWrite] {
        self.log_after(self.restores)
    }

    fn log_after(&self, restores: usize) -> &'a [LoggedWrite] {
        self.model.lost.get(restores).unwrap_or(&self.model.log)
    }

    /// The objects at a version.
    fn state(&self, rv: u64) -> Mirror {
        let there = Model::replay(self.log(), rv).into_values();
        there.map(|pod| (pod.uid, pod.rv)).collect()
    }

    fn body(&self, now: &Version) {
        let rv = number(&now.version);
        let op = find(self.log(), &uid(&now.object), rv);
        // An object that vanished in a restore belongs to the history before.
        let before = self
            .restores
            .checked_sub(1)
            .map(|before| self.log_after(before));
        let op = op.or_else(|| find(before?, &uid(&now.object), rv));
        let uid = uid(&now.object);
        let op = op.unwrap_or_else(|| panic!("{}: {uid}@{rv} never was", self.label));
        assert_eq!(*now.body.text(), op.pod.body(), "{}", self.label);
    }

    /// Reads the snapshot at the start of a subscription, up to its `Synced`.
    fn start(&mut self, events: &'a [Event], from: u64) -> &'a [Event] {
        let mut left = events;
        while let Some((event, rest)) = left.split_first() {
            left = rest;
            match event {
                Event::Object { why, now, prev, .. } => {
                    assert_eq!(*why, Why::Listed, "{}", self.label);
                    assert!(prev.is_none(), "{}", self.label);
                    self.body(now);
                    let uid = uid(&now.object);
                    let again = self.mirror.insert(uid, number(&now.version));
                    assert!(again.is_none(), "{}: listed twice", self.label);
                }
                Event::Synced { epoch, count, .. } => {
                    self.epoch = *epoch;
                    assert_eq!(*count, self.mirror.len(), "{}", self.label);
                    assert_eq!(self.mirror, self.state(from), "{}: snapshot", self.label);
                    self.at = from;
                    return left;
                }
                Event::State(_) => {}
                Event::Gap(_) | Event::Undecodable { .. } => {
                    panic!("{}: {} before it is synced", self.label, brief(event))
                }
            }
        }
        left
    }

    fn run(&mut self, mut events: &'a [Event]) {
        while let Some((event, rest)) = events.split_first() {
            events = match event {
                Event::Object { .. } => {
                    self.live(event);
                    rest
                }
                Event::Gap(gap) => self.gap(gap, rest),
                Event::Synced { epoch, count, .. } => {
                    assert!(*epoch > self.epoch, "{}", self.label);
                    self.epoch = *epoch;
                    assert_eq!(*count, self.state(self.at).len(), "{}", self.label);
                    rest
                }
                Event::Undecodable { .. } => {
                    self.told.damaged += 1;
                    self.bad += 1;
                    rest
                }
                Event::State(_) => rest,
            };
        }
    }

    /// Checks an event outside of a gap: it must be the next entry of the history.
    fn live(&mut self, event: &Event) {
        let Event::Object { why, now, prev, .. } = event else {
            return;
        };
        let label = self.label;
        let next = self.log().iter().find(|op| op.pod.rv > self.at);
        let next = next.unwrap_or_else(|| panic!("{label}: {} after the end", brief(event)));
        assert_eq!(
            number(&now.version),
            next.pod.rv,
            "{label}: {}",
            brief(event)
        );
        let expected = match next.did {
            Did::Added => Why::Added,
            Did::Modified => Why::Modified,
            Did::Deleted => Why::Deleted,
        };
        assert_eq!(*why, expected, "{label}: {}", brief(event));
        self.body(now);
        self.follow(event);
        let has = prev.as_ref().map(|prev| number(&prev.version));
        assert_eq!(has.is_none(), next.did == Did::Added, "{label}");
        self.at = next.pod.rv;
    }

    /// Applies an event. Its `prev` must be the version that the reader has.
    fn follow(&mut self, event: &Event) {
        let Event::Object { why, now, prev, .. } = event else {
            return;
        };
        let uid = uid(&now.object);
        let has = match why {
            Why::Deleted | Why::LeftSelector | Why::Vanished => self.mirror.remove(&uid),
            Why::Listed | Why::Added | Why::Modified | Why::Skipped => {
                self.mirror.insert(uid, number(&now.version))
            }
        };
        let prev = prev.as_ref().map(|prev| number(&prev.version));
        assert_eq!(prev, has, "{}: {}", self.label, brief(event));
    }

    /// Checks a gap: it must begin where the reader was, and exactly the difference must follow.
    fn gap(&mut self, gap: &Gap, events: &'a [Event]) -> &'a [Event] {
        let label = self.label;
        let (after, upto) = (number(&gap.after), number(&gap.upto));
        let unseen = |op: &&LoggedWrite| op.pod.rv > self.at && op.pod.rv <= after;
        let lost = self.log().iter().find(unseen);
        assert!(lost.is_none(), "{label}: {lost:?} before {gap:?}");
        let is_restored = gap.cause == GapCause::Restored;
        assert!(
            after >= self.at && (upto >= after || is_restored),
            "{label}: {gap:?} at {}",
            self.at
        );
        let before = self.log();
        self.restores += usize::from(is_restored);
        match gap.cause {
            // Some of the servers keep no history.
            GapCause::Expired | GapCause::NotOffered => self.told.expired += 1,
            GapCause::Undecodable => {
                let bad = self.told.damaged;
                assert!(bad >= 2 || !self.from_the_start, "{label}: not bad twice");
                self.told.damaged = bad.saturating_sub(2);
            }
            GapCause::Polled => self.told.polled += 1,
            GapCause::Restored => self.told.restored += 1,
            // The server was unreachable for long, or several times.
            GapCause::Unanswered => {}
            // The histories are short enough to be searched completely.
            GapCause::Refused | GapCause::Unseen => panic!("{label}: {gap:?}"),
            GapCause::SlowSubscriber { dropped } => {
                self.told.slow += 1;
                let missed = upto - after;
                assert!(dropped <= missed, "{label}: {gap:?} of {missed}");
            }
        }
        let target = self.state(upto);
        let mut expected: BTreeSet<String> = BTreeSet::new();
        for (uid, rv) in &self.mirror {
            match target.get(uid) {
                None => expected.insert(format!("Vanished {uid}@{rv}")),
                Some(now) if now != rv || find(before, uid, *rv) != find(self.log(), uid, *rv) => {
                    expected.insert(format!("Skipped {uid}@{now}"))
                }
                Some(_) => false,
            };
        }
        for (uid, now) in &target {
            if !self.mirror.contains_key(uid) {
                expected.insert(format!("Listed {uid}@{now}"));
            }
        }
        let (told, rest) = events.split_at(expected.len().min(events.len()));
        let mut seen = BTreeSet::new();
        for event in told {
            if let Event::Object { why, now, .. } = event {
                let uid = uid(&now.object);
                seen.insert(format!("{why:?} {uid}@{}", now.version));
                self.body(now);
                self.follow(event);
            }
        }
        assert_eq!(seen, expected, "{label}: after {gap:?}");
        assert_eq!(self.mirror, target, "{label}");
        self.at = upto;
        rest
    }
}
