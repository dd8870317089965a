//! Finds the last change of some objects, by walking back through their versions.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::join_all;

use crate::diff::Redactor;
use crate::source::Version;
use crate::watch::{Dates, Past, Presence, Walk, WalkLimits};

use super::candidate::{Candidate, CandidateStart};
use super::change::LastChange;
use super::fields::Matters;
use super::suspects::SuspectChanges;

/// The most requests for one object. Controllers may have written many versions since the change.
const REQUESTS: u32 = 24;

/// The change of these objects that was made last. The deletion of an object that is needed comes before all others, then
/// a change of the object that is blamed.
pub(super) async fn last(
    candidates: Vec<Candidate>,
    redactor: Arc<Redactor>,
    dates: Option<Dates>,
) -> Option<LastChange> {
    let changes = candidates.into_iter().map(|candidate| {
        let (is_blamed, history) = (candidate.is_blamed, candidate.history.clone());
        let change = of(candidate, &redactor);
        change.map(move |change| Some((is_blamed, change?, history)))
    });
    let changes = join_all(changes).await.into_iter().flatten();
    let rank = |is_blamed: bool, change: &LastChange| (change.is_deletion(), is_blamed);
    let last = changes.max_by(|(a_is_blamed, a, _), (b_is_blamed, b, _)| {
        let by_rank = rank(*a_is_blamed, a).cmp(&rank(*b_is_blamed, b));
        by_rank.then_with(|| a.cmp_age(b))
    });
    let (_, change, history) = last?;
    let undated = change.undated().zip(dates);
    let Some((revision, dates)) = undated else {
        return Some(change);
    };
    // Leases in another storage say nothing about this revision.
    if !dates.covers(&history).await {
        return Some(change);
    }
    Some(match dates.of(revision).await {
        Some(between) => change.made_about(between.from),
        None => change,
    })
}

/// The last change of one object that may be the cause.
async fn of(candidate: Candidate, redactor: &Redactor) -> Option<LastChange> {
    let (mut newer, mut walk) = start(&candidate).await?;
    let matters = Matters {
        reason: &candidate.reason,
        is_own: candidate.is_own,
        now: candidate.now,
    };
    let problem = |version: &Version| {
        let problem = candidate.problem.as_ref();
        problem.map_or_else(BTreeSet::new, |problem| problem.parts_in(version))
    };
    let is_telling = newer
        .as_deref()
        .is_some_and(|version| !problem(version).is_empty());
    let mut found = SuspectChanges::new(candidate.is_own.then_some(&candidate.reason));
    while let Some(past) = walk.next().await {
        let older = match past {
            Past::Version(older) => older,
            Past::Deleted(at) if newer.is_none() => {
                return Some(LastChange::deletion(walk.object(), at));
            }
            Past::Created => {
                let counts = candidate.is_own || candidate.is_blamed;
                let first = newer.filter(|_| counts);
                found.reach_creation(first.and_then(|first| LastChange::creation(&first, matters)));
                break;
            }
            Past::Deleted(_) => break,
        };
        let Some(version) = newer.replace(older.clone()) else {
            continue;
        };
        if found.rules_out_before(&version) {
            break;
        }
        let is_cause = !is_telling || !problem(&version).is_subset(&problem(&older));
        let change = is_cause.then(|| LastChange::between(&older, &version, matters, redactor));
        let change = change.flatten();
        let change =
            change.filter(|change| candidate.failed_at.is_none_or(|at| !change.is_after(at)));
        if change.is_some_and(|change| found.add(change).is_enough()) {
            break;
        }
    }
    found.cause()
}

/// The version at which a walk starts, and the walk.
async fn start(candidate: &Candidate) -> Option<(Presence, Walk)> {
    let history = &candidate.history;
    let limits = WalkLimits {
        requests: REQUESTS,
        ..WalkLimits::default()
    };
    Some(match &candidate.start {
        CandidateStart::Own(version) => (Some(version.clone()), history.before(version, limits)?),
        CandidateStart::Other(object) => history.now(object, limits).await.ok()?,
    })
}
