//! Compares the output with the history in etcd. Each version must be printed once and in order, or be
//! covered by a gap with a reason.

use std::collections::HashMap;

use super::ledger::{Entry, Truth, What};
use super::objects::Kind;
use super::subject::{Gap, Printed, Record};

/// The counts of a verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Versions and deletions in etcd.
    pub written: usize,
    pub printed: usize,
    /// Versions that the program printed after it had missed them.
    pub read_back: usize,
    pub gaps: usize,
    pub undecodable: usize,
    /// The number of lost connections.
    pub lost: usize,
    /// Versions that are missing for a reason: compacted, undone by a restore, or created and deleted unseen.
    pub missing: usize,
}

impl Account {
    pub fn add(&mut self, other: &Account) {
        self.written += other.written;
        self.printed += other.printed;
        self.read_back += other.read_back;
        self.gaps += other.gaps;
        self.undecodable += other.undecodable;
        self.lost += other.lost;
        self.missing += other.missing;
    }
}

/// Checks all records of a run against the history. The error lists everything that is wrong.
pub fn judge(truth: &Truth, records: &[Record]) -> Result<Account, Vec<String>> {
    let mut judge = Judge::new(truth, records);
    judge.announced();
    let mut printed: HashMap<&str, Vec<(usize, &Printed)>> = HashMap::new();
    for (at, record) in records.iter().enumerate() {
        if let Record::Printed(now) = record {
            printed.entry(&now.uid).or_default().push((at, now));
        }
    }
    for (uid, entries) in &judge.objects.clone() {
        let printed = printed.remove(uid).unwrap_or_default();
        judge.object(entries, &printed);
    }
    for (_, printed) in printed.into_values().flatten() {
        judge.wrong.push(format!("never was: {printed:?}"));
    }
    judge.wrong.sort();
    if judge.wrong.is_empty() {
        Ok(judge.account)
    } else {
        Err(judge.wrong)
    }
}

struct Judge<'a> {
    truth: &'a Truth,
    records: &'a [Record],
    gaps: Vec<(usize, &'a Gap)>,
    /// The entries of each uid.
    objects: HashMap<&'a str, Vec<&'a Entry>>,
    /// For each existing uid, the last version.
    last: HashMap<String, What>,
    account: Account,
    wrong: Vec<String>,
}

impl<'a> Judge<'a> {
    fn new(truth: &'a Truth, records: &'a [Record]) -> Judge<'a> {
        let gaps = records.iter().enumerate().filter_map(|(at, record)| {
            let Record::Gap(gap) = record else {
                return None;
            };
            Some((at, gap))
        });
        let gaps: Vec<_> = gaps.collect();
        let mut objects: HashMap<&str, Vec<&Entry>> = HashMap::new();
        for entry in &truth.entries {
            objects.entry(&entry.uid).or_default().push(entry);
        }
        let count = |is: &dyn Fn(&Record) -> bool| records.iter().filter(|at| is(at)).count();
        let account = Account {
            written: truth.entries.len(),
            printed: count(&|record| matches!(record, Record::Printed(_))),
            read_back: count(&|record| matches!(record, Record::Printed(printed) if printed.past)),
            gaps: gaps.len(),
            undecodable: count(&|record| matches!(record, Record::Undecodable)),
            lost: count(&|record| matches!(record, Record::State(state) if state == "retrying")),
            missing: 0,
        };
        let last = truth.last().into_iter();
        Judge {
            truth,
            records,
            gaps,
            objects,
            last: last.map(|entry| (entry.uid, entry.what)).collect(),
            account,
            wrong: Vec::new(),
        }
    }

    /// The test reads all output at once, so a gap must not be caused by a slow reader. If the program has
    /// printed a version that a restore undid, it must print a gap.
    fn announced(&mut self) {
        for (_, gap) in &self.gaps {
            if gap.cause == "slowSubscriber" {
                self.wrong.push(format!("nobody was slow: {gap:?}"));
            }
        }
        let undone = self.truth.undone();
        for kind in self.truth.kinds() {
            let is_undone = |record: &Record| match record {
                Record::Printed(printed) => undone.iter().any(|entry| {
                    entry.place.kind == kind
                        && entry.uid == printed.uid
                        && entry.what == printed.what
                }),
                _ => false,
            };
            let last = self.records.iter().rposition(is_undone);
            let is_announced = |last: usize| {
                self.gaps
                    .iter()
                    .any(|(at, gap)| gap.kind == kind && *at > last)
            };
            if last.is_some_and(|last| !is_announced(last)) {
                self.wrong
                    .push(format!("{kind:?}: no gap after what a restore has undone"));
            }
        }
    }

    /// Follows one object through its printed versions.
    fn object(&mut self, entries: &[&Entry], printed: &[(usize, &Printed)]) {
        let (mut next, mut era) = (0, 0);
        for (at, now) in printed {
            let after = entries[next..]
                .iter()
                .position(|entry| entry.what == now.what);
            match after.map(|after| next + after) {
                Some(found) => {
                    self.missed(&entries[next..found], entries);
                    next = found + 1;
                }
                // A restore can bring a version back, once for each restore.
                None => match self.returned(entries, now.what).filter(|back| *back > era) {
                    Some(back) => {
                        era = back;
                        let begin = entries.partition_point(|entry| entry.era < era).max(next);
                        self.missed(&entries[next..begin], entries);
                        next = begin;
                    }
                    None => self
                        .wrong
                        .push(format!("{at}: twice, or out of order: {now:?}")),
                },
            }
        }
        self.missed(&entries[next..], entries);
        let uid = &entries[0].uid;
        let last = self.last.get(uid).copied().unwrap_or(What::Gone);
        let printed = printed
            .last()
            .map_or(What::Gone, |(_, printed)| printed.what);
        if printed != last {
            let place = &entries[0].place;
            self.wrong.push(format!(
                "{place:?} {uid} ends as {last:?}, printed is {printed:?}"
            ));
        }
    }

    /// The era that began with this version of the object, because a restore brought it back.
    fn returned(&self, entries: &[&Entry], what: What) -> Option<usize> {
        let uid = &entries[0].uid;
        let is_back = |(era, revision): (usize, &u64)| {
            let there = self.truth.state(era + 1, *revision);
            let then = there.iter().find(|entry| entry.uid == *uid);
            (then.map_or(What::Gone, |entry| entry.what) == what).then_some(era + 1)
        };
        self.truth
            .restored
            .iter()
            .enumerate()
            .rev()
            .find_map(is_back)
    }

    fn missed(&mut self, missed: &[&Entry], entries: &[&Entry]) {
        for entry in missed {
            if self.is_excused(entry, entries) {
                self.account.missing += 1;
            } else {
                self.wrong.push(format!("never printed: {entry:?}"));
            }
        }
    }

    /// Whether a version is missing for a reason, and a gap announces it.
    fn is_excused(&self, entry: &Entry, life: &[&Entry]) -> bool {
        if self.truth.is_undone(entry) {
            return true;
        }
        let gaps = self.gaps.iter().map(|(_, gap)| *gap);
        let mut gaps = gaps.filter(|gap| gap.kind == entry.place.kind);
        gaps.any(|gap| {
            let holds = |entry: &Entry| gap.after < entry.revision && entry.revision <= gap.upto;
            if is_restart(gap) {
                return entry.era > 0 && entry.revision <= gap.upto;
            }
            let came_and_went = gap.cause == "unseen" && life.iter().all(|entry| holds(entry));
            let is_over = life.last().is_some_and(|last| last.what == What::Gone);
            (holds(entry) && self.truth.is_forgotten(entry)) || (came_and_went && is_over)
        })
    }
}

/// Whether a gap announces a restore of the server.
fn is_restart(gap: &Gap) -> bool {
    gap.upto < gap.after || gap.cause == "restored"
}

/// The printed versions of this kind, one on each line, for the report of a failure.
pub fn transcript(records: &[Record], kind: Kind) -> String {
    let lines = records
        .iter()
        .enumerate()
        .filter_map(|(at, record)| match record {
            Record::Printed(printed) if printed.kind == kind => Some(format!("{at} {printed:?}\n")),
            Record::Gap(gap) if gap.kind == kind => Some(format!("{at} {gap:?}\n")),
            Record::State(state) => Some(format!("{at} {state}\n")),
            _ => None,
        });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::super::objects::Place;
    use super::*;

    /// Parses a history: `1:7` is a version at revision 1 with the number 7, `2:-` a deletion, `|3` a restore
    /// to 3.
    fn truth(text: &str) -> Truth {
        let mut truth = Truth::default();
        for word in text.split(' ') {
            if let Some(restored) = word.strip_prefix('|') {
                truth.restored.push(restored.parse().unwrap());
                continue;
            }
            let (revision, what) = word.split_once(':').unwrap();
            truth.entries.push(Entry {
                era: truth.restored.len(),
                revision: revision.parse().unwrap(),
                place: Place {
                    kind: Kind::ConfigMap,
                    namespace: "faults-0".to_owned(),
                    name: "o-0".to_owned(),
                },
                uid: "u".to_owned(),
                what: what.parse().map_or(What::Gone, What::Version),
            });
        }
        truth
    }

    /// Parses records: `7` is a version, `-` a deletion, `expired(2,5]` a gap.
    fn records(text: &str) -> Vec<Record> {
        let record = |word: &str| {
            if let Some((cause, span)) = word.split_once('(') {
                let (after, upto) = span.trim_end_matches(']').split_once(',').unwrap();
                return Record::Gap(Gap {
                    kind: Kind::ConfigMap,
                    after: after.parse().unwrap(),
                    upto: upto.parse().unwrap(),
                    cause: cause.to_owned(),
                });
            }
            Record::Printed(Printed {
                kind: Kind::ConfigMap,
                uid: "u".to_owned(),
                what: word.parse().map_or(What::Gone, What::Version),
                past: false,
            })
        };
        text.split(' ').map(record).collect()
    }

    /// The number of versions that may be missing, or the number of errors.
    fn check(truth: &str, compacted: u64, printed: &str) -> Result<usize, usize> {
        let mut truth = self::truth(truth);
        truth.compacted.insert(0, compacted);
        let judged = judge(&truth, &records(printed));
        judged
            .map(|account| account.missing)
            .map_err(|wrong| wrong.len())
    }

    #[test]
    fn each_version_is_printed_once_and_in_order() {
        let all = "1:1 2:2 3:3 4:-";
        assert_eq!(check(all, 0, "1 2 3 -"), Ok(0));
        assert_eq!(check(all, 0, "1 3 -"), Err(1));
        assert_eq!(check(all, 0, "1 2 2 3 -"), Err(1));
        assert_eq!(check(all, 0, "1 3 2 -"), Err(2));
        assert_eq!(check(all, 0, "1 2 3 9 -"), Err(1));
        assert_eq!(check(all, 0, "1 2 3"), Err(2));
    }

    #[test]
    fn a_gap_needs_a_reason() {
        assert_eq!(check("1:1 2:2 3:3", 2, "1 expired(1,2] 3"), Ok(1));
        assert_eq!(check("1:1 2:2 3:3", 0, "1 expired(1,2] 3"), Err(1));
        assert_eq!(check("1:1 2:2 3:3", 2, "1 3"), Err(1));
        assert_eq!(check("1:1 2:2 3:3", 1, "1 expired(1,3] 3"), Err(1));
        assert_eq!(check("2:1 3:-", 0, "unseen(1,3]"), Ok(2));
        assert_eq!(check("2:1 3:-", 0, "unseen(2,3]"), Err(2));
        assert_eq!(check("1:1 2:2", 0, "1 slowSubscriber(1,1] 2"), Err(1));
    }

    #[test]
    fn a_restore_is_announced() {
        let restored = "1:1 2:2 3:3 |1 2:4";
        assert_eq!(check(restored, 0, "1 2 3 restored(3,1] 1 4"), Ok(0));
        assert_eq!(check(restored, 0, "1 2 3 restored(3,2] 4"), Ok(0));
        assert_eq!(check(restored, 0, "1 4"), Ok(2));
        assert_eq!(check(restored, 0, "1 2 3 1 4"), Err(1));
        assert_eq!(check(restored, 0, "1 2 3 restored(3,1] 1"), Err(2));
        let gone = "2:2 3:3 |1";
        assert_eq!(check(gone, 0, "2 3 restored(3,1] -"), Ok(0));
        assert_eq!(check(gone, 0, "2 3 restored(3,1]"), Err(1));
        assert_eq!(check(restored, 0, "1 2 3 restored(3,1] 1 1 4"), Err(1));
        let back = "1:1 2:- |1 3:2";
        assert_eq!(check(back, 0, "1 - restored(2,1] 1 2"), Ok(0));
        let again = "1:1 2:- |1 2:-";
        assert_eq!(check(again, 0, "1 - restored(2,1] 1 -"), Ok(0));
    }
}
