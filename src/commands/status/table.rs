//! The table as an outline: its rows, the weight of each, and the rows that are only counted.

use jiff::{SignedDuration, Timestamp};

use super::columns::StatusColumns;
use super::rows::StatusRow;
use crate::graph::Standing;
use crate::render::count::counted;
use crate::render::outline::{Outline, OutlineItem, Weight};
use crate::status::Status;

/// How to show `ReplicaSet`s that are kept for rollback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Idle {
    /// Only their number is shown.
    Counted,
    /// Each has a row.
    Shown,
}

/// How long a changed row counts as recent.
const RECENT: SignedDuration = SignedDuration::from_secs(10);

/// The rows under these columns.
pub(super) fn outline(
    rows: &[StatusRow<'_>],
    columns: StatusColumns,
    idle: Idle,
    now: Timestamp,
) -> Outline {
    let (idle, shown): (Vec<_>, Vec<_>) = rows
        .iter()
        .enumerate()
        .partition(|(place, _)| idle == Idle::Counted && is_idle(rows, *place));
    let item = |(_, row): (usize, &StatusRow<'_>)| {
        let causes = row.assessment.causes.iter().map(|cause| &cause.text);
        let status = row.assessment.verdict.status;
        OutlineItem::row(row.depth, status, columns.cells(row, now))
            .because(causes)
            .weighing(weight(row, now))
    };
    Outline {
        columns: columns.titles(),
        tree: columns.name(),
        items: shown.into_iter().map(item).collect(),
        footnote: (!idle.is_empty()).then(|| {
            let counted = counted(idle.len(), "idle replicaset", "idle replicasets");
            format!("+ {counted} (--show-idle)")
        }),
    }
}

/// Whether a row is a `ReplicaSet` that is kept for rollback and has no dependents any more.
fn is_idle(rows: &[StatusRow<'_>], place: usize) -> bool {
    let row = &rows[place];
    let next = rows.get(place + 1);
    let owns = next.is_some_and(|next| next.depth > row.depth);
    row.depth > 0
        && row.standing == Standing::Idle
        && row.assessment.verdict.status == Status::Current
        && !owns
}

fn weight(row: &StatusRow<'_>, now: Timestamp) -> Weight {
    let is_recent = |changed: Timestamp| now.duration_since(changed) < RECENT;
    match row.assessment.verdict.status {
        _ if row.is_named => Weight::Asked,
        _ if row.assessment.is_failing() => Weight::Failing,
        Status::Current if row.changed().is_some_and(is_recent) => Weight::Recent,
        Status::Current => Weight::Healthy,
        Status::Failed
        | Status::InProgress
        | Status::Terminating
        | Status::NotFound
        | Status::Unknown => Weight::Moving,
    }
}
