//! Finds the last change of some objects, by walking back through their versions.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::join_all;

use crate::diff::Redactor;
use crate::watch::{History, Past, Presence, Walk, WalkLimits};

use super::candidate::{Candidate, CandidateStart};
use super::change::{LastChange, Matters};

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

/// The last change of one object.
async fn of(candidate: Candidate, redactor: &Redactor) -> Option<LastChange> {
    let history = &candidate.history;
    let (mut newer, mut walk, is_own) = start(history, candidate.start).await?;
    let matters = Matters {
        is_own,
        replicas: candidate.is_about_replicas,
        skew: history.skew(),
    };
    loop {
        match walk.next().await? {
            Past::Version(older) => {
                if let Some(newer) = &newer
                    && let Some(change) = LastChange::between(&older, newer, matters, redactor)
                {
                    return Some(change);
                }
                newer = Some(older);
            }
            Past::Deleted(_) if newer.is_none() => {
                return Some(LastChange::deletion(walk.object()));
            }
            Past::Created | Past::Deleted(_) => return None,
        }
    }
}

async fn start(history: &History, start: CandidateStart) -> Option<(Presence, Walk, bool)> {
    let limits = WalkLimits {
        requests: REQUESTS,
        ..WalkLimits::default()
    };
    Some(match start {
        CandidateStart::Own(version) => {
            let walk = history.before(&version, limits)?;
            (Some(version), walk, true)
        }
        CandidateStart::Other(object, at) => {
            let (there, walk) = history.at(&object, at, limits).await.ok()?;
            (there, walk, false)
        }
    })
}
