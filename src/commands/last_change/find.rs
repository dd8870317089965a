//! Finds the last changes of some objects, by walking back through their versions.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::join_all;
use tokio::time::timeout;

use crate::commands::field_fight::FieldFight;
use crate::diff::Redactor;
use crate::source::Version;
use crate::watch::{Dates, End, History, Past, Presence, RequestAllowance, Walk, WalkLimits};

use super::autoscaler::Autoscalers;
use super::candidate::{Candidate, CandidateStart};
use super::change::LastChange;
use super::failure::FailureReason;
use super::fields::Sign;
use super::recreated::RecreatedServices;
use super::revoked_right::RevokedRights;
use super::suspects::{SuspectChanges, Unread};
use super::what::{OldValues, What};

/// The most requests for one object. Controllers may have written many versions since the change.
const REQUESTS: u32 = 24;

/// The same if many objects are looked up.
const FEW_REQUESTS: u32 = 6;

/// The same for an object that does not exist: the watch cache tells of its deletion, as a rule. Without that, no number of
/// requests shows that there was none.
const REQUESTS_FOR_ABSENT: u32 = 3;

/// What the times of the changes of a failure may cost that have no recorded time. The watch cache tells of the last minute,
/// in two requests. Beyond that, more requests make an interval shorter.
const REQUESTS_FOR_TIMES: u32 = 6;

/// How long the walk of one object may take. The view of `--once` waits for it.
const PATIENCE: Duration = Duration::from_secs(1);

/// The most changes that are shown of a failure.
const MOST: usize = 3;

/// What a look-up found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FoundChanges {
    /// The changes that may be the cause, the most suspect first.
    pub(super) changes: Vec<LastChange>,
    /// Why not all candidates were read; `None` if they were.
    pub(super) unread: Option<Unread>,
}

/// A candidate's last change, and what decides its place among those of the others.
struct Suspect {
    change: LastChange,
    is_blamed: bool,
    history: History,
}

/// How to look up one failure.
pub(super) struct LookUp {
    pub(super) candidates: Vec<Candidate>,
    pub(super) autoscalers: Option<Autoscalers>,
    pub(super) recreated: Option<RecreatedServices>,
    pub(super) revoked: Option<RevokedRights>,
    pub(super) redactor: Arc<Redactor>,
    pub(super) dates: Option<Dates>,
    pub(super) reads: Reads,
}

/// What the look-ups that start together may read.
#[derive(Clone)]
pub(super) struct Reads {
    pub(super) allowance: RequestAllowance,
    /// Whether they listen to the watch caches for versions that are compacted. Each takes two requests and half a second.
    pub(super) watch_cache: bool,
}

impl LookUp {
    /// The changes of the candidates that may be the cause. If something ties one to the failure, only such changes count:
    /// the deletion of what is needed comes first, then a change of what is blamed, then the newest.
    pub(super) async fn run(self) -> FoundChanges {
        let LookUp {
            candidates,
            autoscalers,
            recreated,
            revoked,
            redactor,
            dates,
            reads,
        } = self;
        let walks = candidates.into_iter().map(|candidate| {
            let (is_blamed, history) = (candidate.is_blamed, candidate.history.clone());
            let change = of(candidate, &redactor, &reads);
            change.map(move |(change, unread)| {
                let suspect = change.map(|change| Suspect {
                    change,
                    is_blamed,
                    history,
                });
                (suspect, unread)
            })
        });
        let (suspects, unread): (Vec<_>, Vec<_>) = join_all(walks).await.into_iter().unzip();
        let mut suspects: Vec<Suspect> = suspects.into_iter().flatten().collect();
        let mut unread = unread.into_iter().max().flatten();
        if matches!(unread, Some(Unread::Absent | Unread::CutOff)) {
            // What it names may have existed since.
            suspects.retain(|suspect| suspect.change.what != What::Created);
        }
        if suspects.iter().all(|it| it.change.sign != Sign::Tied) {
            if let Some(recreated) = &recreated
                && let Some(change) = recreated.find(&reads.allowance).await
            {
                suspects.push(Suspect {
                    change,
                    is_blamed: false,
                    history: recreated.history.clone(),
                });
            }
            if let Some(revoked) = &revoked {
                let (found, of_rights) = revoked.find(&redactor, &reads.allowance).await;
                unread = unread.max(of_rights);
                suspects.extend(found.map(|(change, history)| Suspect {
                    change,
                    is_blamed: false,
                    history,
                }));
            }
        }
        keep_most_suspect(&mut suspects);
        let dates = dates.map(|dates| dates.within(&RequestAllowance::new(REQUESTS_FOR_TIMES)));
        let has_undated = suspects.iter().any(|it| it.change.undated().is_some());
        let may_date = has_undated && reads.allowance.take(REQUESTS_FOR_TIMES);
        let dates = dates.as_ref().filter(|_| may_date);
        let changes = suspects.into_iter().map(|suspect| dated(suspect, dates));
        let mut changes = join_all(changes).await;
        if let (Some(rescaled), Some(autoscalers)) = (changes.first_mut(), autoscalers) {
            rescaled.add_bounds(autoscalers.bounds(&reads.allowance).await);
        }
        FoundChanges { changes, unread }
    }
}

/// Sorts the suspects, and keeps the first few that may be the cause.
fn keep_most_suspect(suspects: &mut Vec<Suspect>) {
    let has = |wanted: &dyn Fn(&LastChange) -> bool| suspects.iter().any(|it| wanted(&it.change));
    let is_tied = |change: &LastChange| change.sign == Sign::Tied;
    if has(&is_tied) {
        suspects.retain(|suspect| is_tied(&suspect.change));
    } else if has(&|change| !change.is_minor) {
        suspects.retain(|suspect| !suspect.change.is_minor);
    }
    let rank = |suspect: &Suspect| (suspect.change.what == What::Deleted, suspect.is_blamed);
    suspects.sort_by(|a, b| {
        let by_rank = Reverse(rank(a)).cmp(&Reverse(rank(b)));
        by_rank.then_with(|| b.change.cmp_age(&a.change))
    });
    suspects.truncate(MOST);
}

/// The change with its time, as far as the renewals of Leases tell it.
async fn dated(suspect: Suspect, dates: Option<&Dates>) -> LastChange {
    let Suspect {
        change, history, ..
    } = suspect;
    let Some((revision, dates)) = change.undated().zip(dates) else {
        return change;
    };
    // Leases in another storage say nothing about this revision.
    if !dates.covers(&history).await {
        return change;
    }
    match dates.of(revision).await {
        Some(between) => change.made_between(between),
        None => change,
    }
}

/// A look-up of one candidate: what was found so far, while the walk goes back.
struct WalkBack<'c> {
    candidate: &'c Candidate,
    redactor: &'c Redactor,
    found: SuspectChanges<'c>,
    /// The oldest version so far; `None` if the object does not exist.
    oldest: Presence,
    /// Whether the newest version has the problem, so that only the change that brought it is the cause.
    is_telling: bool,
    /// Whether the walk has found the start, or all that may be the cause.
    is_done: bool,
    /// Older writes of the field of the cause, the newest first, while two managers take turns.
    exchange: Option<Vec<LastChange>>,
    /// Whether the exchange certainly began with the oldest of these.
    has_begun: bool,
}

/// The last change of one object that may be the cause, and whether the search for it was cut off.
async fn of(
    candidate: Candidate,
    redactor: &Redactor,
    reads: &Reads,
) -> (Option<LastChange>, Option<Unread>) {
    let mut back = WalkBack {
        candidate: &candidate,
        redactor,
        found: SuspectChanges::new(candidate.is_own.then_some(&candidate.reason)),
        oldest: match &candidate.start {
            CandidateStart::Known(version) => Some(version.clone()),
            CandidateStart::Now(_) | CandidateStart::Absent(..) => None,
        },
        is_telling: false,
        is_done: false,
        exchange: None,
        has_begun: false,
    };
    let end = timeout(PATIENCE, back.run(reads)).await;
    let end = end.unwrap_or(Some(End::OutOfTime(PATIENCE)));
    let end = end.filter(|_| !back.is_done);
    let is_cut_off = matches!(end, Some(End::Spent | End::OutOfTime(_)));
    let is_absent = matches!(candidate.start, CandidateStart::Absent(..)) && back.oldest.is_none();
    let unread = is_cut_off.then_some(if is_absent {
        Unread::Absent
    } else {
        Unread::CutOff
    });
    (back.cause(end.as_ref()), unread)
}

impl WalkBack<'_> {
    /// Walks back until the cause is found. Returns why the walk ended before; `None` if it did not.
    async fn run(&mut self, reads: &Reads) -> Option<End> {
        let candidate = self.candidate;
        let (newest, mut walk) = match start(candidate, reads).await {
            Ok(start) => start,
            Err(end) => return Some(end),
        };
        let problem = |version: &Version| {
            let problem = candidate.problem.as_ref();
            problem.map_or_else(BTreeSet::new, |problem| problem.parts_in(version))
        };
        self.is_telling = newest
            .as_deref()
            .is_some_and(|version| !problem(version).is_empty());
        self.oldest = newest;
        while let Some(past) = walk.next().await {
            let older = match past {
                Past::Version(older) => older,
                Past::Deleted(at) if self.oldest.is_none() => {
                    self.found.add(LastChange::deletion(&walk.object, at));
                    self.is_done = true;
                    return None;
                }
                Past::Created if !self.is_done => {
                    self.reach_creation();
                    return None;
                }
                Past::Created | Past::Deleted(_) => {
                    self.has_begun = true;
                    self.is_done = true;
                    return None;
                }
            };
            let Some(version) = self.oldest.replace(older.clone()) else {
                continue;
            };
            if self.exchange.is_some() {
                if !self.goes_on(&older, &version) {
                    return None;
                }
                continue;
            }
            if self.found.rules_out_before(&version) {
                self.is_done = true;
                return None;
            }
            let is_cause = !self.is_telling || !problem(&version).is_subset(&problem(&older));
            if is_cause && self.take_change(&older, &version) {
                self.is_done = true;
                let newest = self.found.found.last();
                let may_be_fight = newest.is_some_and(|change| change.is_contested(&older));
                if candidate.reason != FailureReason::Rescaled && !may_be_fight {
                    return None;
                }
                self.exchange = Some(Vec::new());
            }
        }
        walk.end().cloned()
    }

    /// Adds the change between two versions. Returns whether no older change is needed.
    fn take_change(&mut self, older: &Version, newer: &Version) -> bool {
        let candidate = self.candidate;
        let change = LastChange::between(older, newer, candidate.matters(), self.redactor);
        let is_in_time = |change: &LastChange| {
            let failed_at = candidate.failed_at;
            failed_at.is_none_or(|failed_at| !change.is_after(failed_at))
        };
        let change = change.filter(is_in_time).map(|change| self.tie(change));
        change.is_some_and(|change| self.found.add(change).is_enough())
    }

    /// Goes on with older versions in an exchange of writes. Returns whether the exchange may be longer.
    fn goes_on(&mut self, older: &Version, newer: &Version) -> bool {
        let matters = self.candidate.matters();
        let change = LastChange::between(older, newer, matters, self.redactor);
        let first = self.found.found.last();
        let is_of_field = |change: &LastChange| first.is_some_and(|it| it.repeats(change));
        let Some(change) = change.filter(is_of_field) else {
            return true;
        };
        let is_contested = change.is_contested(older);
        self.exchange.get_or_insert_default().push(change);
        self.has_begun = !is_contested;
        is_contested
    }

    fn reach_creation(&mut self) {
        let candidate = self.candidate;
        let counts = candidate.is_own || candidate.is_blamed || self.is_telling;
        let counts = counts && candidate.reason.may_be_from_start();
        let first = self.oldest.take().filter(|_| counts);
        let creation = first.and_then(|first| {
            if self.is_telling {
                LastChange::creation(&first, candidate.is_own)
            } else {
                LastChange::creation_of_workload(&first, candidate.matters())
            }
        });
        let creation = creation.map(|creation| self.tie(creation));
        self.found.reach_creation(creation);
        self.is_done = true;
    }

    /// The change, tied to the failure if the object has the problem, or is blamed.
    fn tie(&self, change: LastChange) -> LastChange {
        if self.is_telling || self.candidate.is_blamed {
            change.tied()
        } else {
            change
        }
    }

    /// The change that is most likely the cause. If older versions cannot be read, the managers of the oldest one tell who
    /// wrote last.
    fn cause(mut self, end: Option<&End>) -> Option<LastChange> {
        if self.candidate.reason == FailureReason::Rescaled {
            // The newest change of a scale is the cause if it undoes the one before.
            let newest = self.found.found.first()?.clone();
            let undone = newest.undoes(self.exchange?.first()?)?;
            return Some(newest.with_fight(Some(undone)));
        }
        if let (false, Some(oldest)) = (self.is_done, &self.oldest) {
            let old = match end {
                Some(End::Forgotten(_)) => OldValues::Compacted,
                _ => OldValues::Unread,
            };
            let written = self.candidate.last_written(oldest, old, self.is_telling);
            let written = written.map(|written| self.tie(written));
            self.found.reach_unread(written);
        }
        let older = self.exchange.take().unwrap_or_default();
        let found = self.found.found.clone().into_iter().chain(older);
        let cause = self.found.cause()?;
        let fight = fight(&cause, found.collect(), self.has_begun);
        Some(cause.with_fight(fight))
    }
}

/// What two managers do with the field of a change, by all changes that were found, the newest first.
fn fight(cause: &LastChange, found: Vec<LastChange>, has_begun: bool) -> Option<String> {
    let mut fight = FieldFight::default();
    for change in found.into_iter().rev() {
        if change.paths.first() == cause.paths.first() {
            fight.take(change.first_write()?);
        }
    }
    let text = fight.is_fight().then(|| fight.text()).flatten()?;
    Some(if has_begun {
        text
    } else {
        text.replacen("flipped ", "flipped at least ", 1)
    })
}

/// The version at which a walk starts, and the walk.
async fn start(candidate: &Candidate, reads: &Reads) -> Result<(Presence, Walk), End> {
    let history = &candidate.history;
    let limits = WalkLimits {
        requests: if reads.watch_cache {
            REQUESTS
        } else {
            FEW_REQUESTS
        },
        shared: Some(reads.allowance.clone()),
        ..WalkLimits::default()
    };
    let (presence, walk) = match &candidate.start {
        CandidateStart::Known(version) => {
            let walk = history.before(version, limits);
            let walk = walk.ok_or_else(|| End::NotOffered("its versions have no order".into()))?;
            (Some(version.clone()), walk)
        }
        CandidateStart::Now(_) if !reads.allowance.take(1) => return Err(End::Spent),
        CandidateStart::Now(object) => history.now(object, limits).await?,
        CandidateStart::Absent(object, at) => (None, history.absent(object, *at, limits)),
    };
    let walk = match presence {
        Some(_) => walk,
        None => walk.at_most(REQUESTS_FOR_ABSENT),
    };
    let walk = if reads.watch_cache && candidate.reason != FailureReason::Rescaled {
        walk.after_watch_cache().await
    } else {
        walk.without_watch_cache()
    };
    Ok((presence, walk))
}
