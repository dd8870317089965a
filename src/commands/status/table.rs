//! The table as an outline: its rows, the weight of each, and the rows that are only counted.

use jiff::Timestamp;

use super::columns::StatusColumns;
use super::options::{Idle, Titles};
use super::rows::{StatusRow, StatusRows};
use super::state::RECENT;
use crate::commands::LastLines;
use crate::graph::Standing;
use crate::object::counted;
use crate::render::canvas::Canvas;
use crate::render::outline::{ColumnMemory, Outline, OutlineItem, OutlineSpace, Weight};
use crate::render::text::Text;
use crate::status::Status;

/// The lines of the rows under these columns, at most as many as the canvas has.
pub(super) fn lines(
    rows: &StatusRows<'_>,
    columns: &StatusColumns,
    memory: &mut ColumnMemory,
    canvas: Canvas,
) -> Vec<Text> {
    let (now, look, options) = (canvas.now, canvas.look, columns.options);
    let StatusRows {
        shown: rows,
        beyond,
    } = rows;
    let (idle, shown): (Vec<_>, Vec<_>) = rows
        .iter()
        .enumerate()
        .partition(|(place, _)| options.idle == Idle::Counted && is_idle(rows, *place));
    let item = |(_, row): &(usize, &StatusRow<'_>)| {
        let causes = row.assessment.lines();
        let last_changes = row.last_changes.iter();
        let last_changes = last_changes.map(|change| change.text(row.now(now), look.symbols.arrow));
        let status = row.assessment.verdict.status;
        let rules = if options.explains {
            row.assessment.explained()
        } else {
            Vec::new()
        };
        let repetition = &row.repetition;
        let item = OutlineItem::row(row.depth, status, Vec::new())
            .because(causes)
            .quoting(row.last_lines.iter().flat_map(LastLines::texts))
            .after(last_changes)
            .by(rules)
            .standing_for(repetition.alike + 1)
            .with_others(repetition.text(row.object.namespace.as_deref()))
            .weighing(weight(row, canvas.now))
            .showing(row.node);
        if row.is_named { item.named() } else { item }
    };
    let outline = Outline {
        columns: columns.titles(),
        tree: columns.name(),
        items: shown.iter().map(item).collect(),
        healthy_beyond: *beyond,
        footnote: (!idle.is_empty()).then(|| {
            let counted = counted(idle.len(), "idle replicaset", "idle replicasets");
            format!("+ {counted} (--show-idle)")
        }),
    };
    let titles = match options.titles {
        Titles::Shown => 0,
        Titles::Hidden => usize::from(outline.has_titles()),
    };
    let room = canvas.rows.map(|room| room + titles);
    let cells = |place: usize| columns.cells(shown[place].1, canvas.now);
    let space = OutlineSpace {
        room,
        ..canvas.space()
    };
    let mut lines = outline.lines_filled(space, memory, cells);
    lines.drain(..titles);
    lines
}

/// Whether a row is a `ReplicaSet` that is kept for rollback and has no dependents any more.
pub(super) fn is_idle(rows: &[StatusRow<'_>], place: usize) -> bool {
    let row = &rows[place];
    let next = rows.get(place + 1);
    let owns = next.is_some_and(|next| next.depth > row.depth);
    row.depth > 0
        && row.standing == Standing::Idle
        && row.assessment.verdict.status == Status::Current
        && !owns
}

fn weight(row: &StatusRow<'_>, now: Timestamp) -> Weight {
    let now = row.now(now);
    let is_recent = |changed: Timestamp| now.duration_since(changed) < RECENT;
    match row.assessment.verdict.status {
        _ if row.repetition.is_repeating => Weight::Repeating,
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
