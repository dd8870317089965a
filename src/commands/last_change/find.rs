//! Finds the last change of some objects, by walking back through their versions.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::join_all;

use jiff::Timestamp;

use crate::diff::Redactor;
use crate::source::Version;
use crate::status::{Rules, Status, compute};
use crate::watch::{Past, Presence, Walk, WalkLimits};

use super::candidate::{Candidate, CandidateStart};
use super::change::{LastChange, Matters};
use super::failure_reason::FailureReason;

/// The most requests for one object. Controllers may have written many versions since the change.
const REQUESTS: u32 = 24;

/// The change of these objects that was made last. The deletion of an object that is needed comes before all others, then
/// a change of the object that the API server blames.
pub(super) async fn last(
    candidates: Vec<Candidate>,
    redactor: Arc<Redactor>,
) -> Option<LastChange> {
    let changes = candidates.into_iter().map(|candidate| {
        let is_blamed = candidate.is_blamed;
        let change = of(candidate, &redactor);
        change.map(move |change| Some((is_blamed, change?)))
    });
    let changes = join_all(changes).await.into_iter().flatten();
    let last = changes
        .max_by_key(|(is_blamed, change)| (change.is_deletion(), *is_blamed, change.place()));
    last.map(|(_, change)| change)
}

/// The last change of one object that may be the cause.
async fn of(candidate: Candidate, redactor: &Redactor) -> Option<LastChange> {
    let (mut newer, mut walk) = start(&candidate).await?;
    let own = candidate.own.as_ref();
    let skew = candidate.history.skew();
    // The newest change waits for a Pod that an earlier one broke.
    let is_blocked = own == Some(&FailureReason::BlockedRollout);
    let mut waits = is_blocked;
    let mut minor = None;
    while let Some(past) = walk.next().await {
        let older = match past {
            Past::Version(older) => older,
            Past::Deleted(_) if newer.is_none() => {
                return Some(LastChange::deletion(walk.object()));
            }
            Past::Created | Past::Deleted(_) => break,
        };
        let Some(version) = newer.replace(older.clone()) else {
            continue;
        };
        match LastChange::between(&older, &version, Matters { own, skew }, redactor) {
            Some(_) if waits => waits = false,
            Some(change) if change.is_minor() => {
                minor = minor.or(Some(change));
                // If the object was not well before, an earlier change is the cause.
                if was_well(&older) {
                    break;
                }
            }
            Some(change) if is_blocked => return Some(change.earlier()),
            Some(change) => return Some(change),
            None if own.is_some_and(FailureReason::ends_with_success) && was_well(&version) => {
                break;
            }
            None => {}
        }
    }
    minor
}

/// Whether a rollout was complete at a version. The time only decides between other states. Of other kinds, kstatus does not
/// look at the Pods.
fn was_well(version: &Version) -> bool {
    let Ok(doc) = version.doc() else { return false };
    let strategy = doc.root().str_at(&["spec", "updateStrategy", "type"]);
    let is_rollout = version.object.group() == "apps" && strategy.as_deref() != Some("OnDelete");
    let verdict = compute(doc.root(), Timestamp::UNIX_EPOCH, Rules::Kstatus);
    is_rollout && verdict.status == Status::Current
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
        CandidateStart::Other(object, at) => history.at(object, *at, limits).await.ok()?,
    })
}
