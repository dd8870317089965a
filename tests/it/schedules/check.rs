//! Compares the events of a lossless reader with the server's log.

use std::collections::{BTreeMap, BTreeSet};

use kubectl_spy::object::ResourceVersion;
use kubectl_spy::sandbox::{Change, Record};
use kubectl_spy::source::{Event, Gap, GapCause, Version, Why};

use super::key;

/// The existing objects: the version of each uid.
pub type Mirror = BTreeMap<String, u64>;

/// The faults that one reader met, as counts.
#[derive(Debug, Default)]
pub struct Summary {
    pub expired: usize,
    /// Unreadable lines, and gaps after a line that was unreadable twice.
    pub bad: usize,
    pub bad_twice: usize,
    pub polled: usize,
    pub slow: usize,
    /// Versions that were missed and then read back.
    pub read_back: usize,
}

impl Summary {
    pub fn add(&mut self, other: &Summary) {
        self.expired += other.expired;
        self.bad += other.bad;
        self.bad_twice += other.bad_twice;
        self.polled += other.polled;
        self.slow += other.slow;
        self.read_back += other.read_back;
    }

    fn count(&mut self, event: &Event) {
        match event {
            Event::Gap(gap) => match gap.cause {
                GapCause::Expired | GapCause::Unanswered => self.expired += 1,
                GapCause::Undecodable => self.bad_twice += 1,
                GapCause::Polled => self.polled += 1,
                // The histories are short enough to be read back in full.
                GapCause::Unseen
                | GapCause::Restored
                | GapCause::Refused
                | GapCause::NotOffered => panic!("{gap:?}"),
                GapCause::SlowSubscriber { .. } => self.slow += 1,
            },
            Event::Undecodable { .. } => self.bad += 1,
            Event::Object { past, .. } => self.read_back += usize::from(*past),
            Event::Synced { .. } | Event::State(_) => {}
        }
    }
}

pub fn number(version: &ResourceVersion) -> u64 {
    version.as_str().parse().unwrap()
}

/// The existing objects after a revision.
fn state(log: &[Record], upto: u64) -> Mirror {
    let mut there = Mirror::new();
    for record in log.iter().take_while(|record| record.revision <= upto) {
        match record.change {
            Change::Added | Change::Modified => there.insert(record.uid.clone(), record.revision),
            Change::Deleted => there.remove(&record.uid),
        };
    }
    there
}

/// The comparison of one reader's events with the log.
struct Check<'a> {
    label: &'a str,
    log: &'a [Record],
    mirror: Mirror,
    /// The revision up to which all versions are accounted for.
    at: u64,
    summary: Summary,
}

/// Checks that a reader got every version once, in order and byte for byte, except for the versions in its
/// gaps. After a gap the reader must get exactly the objects that changed in it.
pub fn all(label: &str, log: &[Record], events: &[Event]) -> Summary {
    let mut check = Check::new(label, log);
    let mut rest = check.start(events);
    while let Some((event, after)) = rest.split_first() {
        check.summary.count(event);
        rest = match event {
            Event::Object { why, now, .. } => {
                check.next(*why, now);
                check.follow(event);
                after
            }
            Event::Gap(gap) => check.gap(gap, after),
            Event::Synced { count, .. } => {
                assert_eq!(*count, check.mirror.len(), "{label}: {event:?}");
                after
            }
            Event::State(_) | Event::Undecodable { .. } => after,
        };
    }
    let lost = log.iter().find(|record| record.revision > check.at);
    assert!(lost.is_none(), "{label}: never summary of {lost:?}");
    assert_eq!(check.mirror, state(log, u64::MAX), "{label}: the end");
    check.summary
}

/// Checks the weaker law for a server that omits versions. Each version that the reader got was written, the
/// versions were in order, and the last ones are right.
pub fn order(label: &str, log: &[Record], events: &[Event]) -> Summary {
    let mut check = Check::new(label, log);
    for event in events {
        check.summary.count(event);
        if let Event::Object { why, now, .. } = event {
            let has = check.mirror.get(&key(now)).copied();
            let newer = has.is_none_or(|has| has < number(&now.version));
            assert!(newer || *why == Why::Vanished, "{label}: {event:?}");
            check.written(now);
            check.follow(event);
        }
    }
    assert_eq!(check.mirror, state(log, u64::MAX), "{label}: the end");
    check.summary
}

impl<'a> Check<'a> {
    fn new(label: &'a str, log: &'a [Record]) -> Check<'a> {
        Check {
            label,
            log,
            mirror: Mirror::new(),
            at: 0,
            summary: Summary::default(),
        }
    }

    /// Reads the snapshot that a subscription starts with. Its revision follows from the next event.
    fn start<'e>(&mut self, events: &'e [Event]) -> &'e [Event] {
        let synced = |event: &Event| matches!(event, Event::Synced { .. });
        let end = events.iter().position(synced).expect("a full listing") + 1;
        let (start, rest) = events.split_at(end);
        for event in start {
            match event {
                Event::Object { why, now, .. } => {
                    assert_eq!(*why, Why::Listed, "{}", self.label);
                    self.written(now);
                    self.follow(event);
                }
                Event::Synced { count, .. } => {
                    assert_eq!(*count, self.mirror.len(), "{}", self.label);
                }
                Event::State(_) => {}
                Event::Gap(_) | Event::Undecodable { .. } => {
                    panic!("{}: {event:?} before it is synced", self.label)
                }
            }
        }
        self.at = rest
            .iter()
            .find_map(|event| match event {
                Event::Object { now, .. } => Some(number(&now.version) - 1),
                Event::Gap(gap) => Some(number(&gap.after)),
                Event::Synced { .. } | Event::State(_) | Event::Undecodable { .. } => None,
            })
            .unwrap_or(u64::MAX);
        let there = state(self.log, self.at);
        assert_eq!(self.mirror, there, "{}: the snapshot", self.label);
        rest
    }

    /// Finds a version in the log, with the same bytes.
    fn written(&self, now: &Version) -> &'a Record {
        let (uid, revision) = (key(now), number(&now.version));
        let record = self
            .log
            .iter()
            .find(|record| record.revision == revision && record.uid == uid);
        let record = record.unwrap_or_else(|| panic!("{}: {uid}@{revision} never was", self.label));
        assert_eq!(now.body.text().as_bytes(), &*record.after, "{}", self.label);
        record
    }

    /// Checks that a version outside of gaps is the next one in the log.
    fn next(&mut self, why: Why, now: &Version) {
        let next = self.log.iter().find(|record| record.revision > self.at);
        let next = next.unwrap_or_else(|| panic!("{}: {now:?} after the end", self.label));
        assert_eq!(number(&now.version), next.revision, "{}", self.label);
        self.written(now);
        let expected = match next.change {
            Change::Added => Why::Added,
            Change::Modified => Why::Modified,
            Change::Deleted => Why::Deleted,
        };
        assert_eq!(why, expected, "{}: {now:?}", self.label);
        self.at = next.revision;
    }

    /// Applies an event. Its `prev` must be the version that the reader has.
    fn follow(&mut self, event: &Event) {
        let Event::Object { why, now, prev, .. } = event else {
            return;
        };
        let has = match why {
            Why::Deleted | Why::LeftSelector | Why::Vanished => self.mirror.remove(&key(now)),
            Why::Listed | Why::Added | Why::Modified | Why::Skipped => {
                self.mirror.insert(key(now), number(&now.version))
            }
        };
        let prev = prev.as_ref().map(|prev| number(&prev.version));
        assert_eq!(prev, has, "{}: {event:?}", self.label);
    }

    /// Checks that a gap begins at the reader's revision, and that exactly the difference follows.
    fn gap<'e>(&mut self, gap: &Gap, events: &'e [Event]) -> &'e [Event] {
        let label = self.label;
        let (after, upto) = (number(&gap.after), number(&gap.upto));
        assert!(self.at <= after && after <= upto, "{label}: {gap:?}");
        let mut between = self.log.iter();
        let lost = between.find(|record| record.revision > self.at && record.revision <= after);
        assert!(lost.is_none(), "{label}: {lost:?} is before {gap:?}");
        let target = state(self.log, upto);
        let mut expected = BTreeSet::new();
        for (uid, has) in &self.mirror {
            match target.get(uid) {
                None => expected.insert(format!("Vanished {uid}@{has}")),
                Some(now) if now != has => expected.insert(format!("Skipped {uid}@{now}")),
                Some(_) => false,
            };
        }
        for (uid, now) in &target {
            if !self.mirror.contains_key(uid) {
                expected.insert(format!("Listed {uid}@{now}"));
            }
        }
        let (summary, rest) = events.split_at(expected.len().min(events.len()));
        let mut seen = BTreeSet::new();
        for event in summary {
            if let Event::Object { why, now, .. } = event {
                seen.insert(format!("{why:?} {}@{}", key(now), now.version));
                self.written(now);
                self.follow(event);
            }
        }
        assert_eq!(seen, expected, "{label}: after {gap:?}");
        self.at = upto;
        rest
    }
}
