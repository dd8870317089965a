//! The rows of the table: which there are, what each is worth, and what is left out.

use jiff::{SignedDuration, Timestamp};

use super::cells::{Columns, symbol};
use super::fold::{Candidate, Kept, Weight, fold};
use super::margins::counted;
use super::outline::Item;
use super::view::{Canvas, Idle};
use crate::graph::Standing;
use crate::render::style::Look;
use crate::render::table::{Row, Table};
use crate::render::text::escape_line;
use crate::render::tree::prefixes;
use crate::status::Status;

/// How long a row that has changed counts as one that has.
const RECENT: SignedDuration = SignedDuration::from_secs(10);

/// The titles, the rows below them in no more than `room` lines, and what they leave out.
pub(super) fn rows(
    items: &[Item<'_>],
    columns: Columns,
    (room, canvas): (Option<usize>, Canvas),
) -> Vec<String> {
    let (items, idle) = without_idle(items, canvas.idle);
    let look = canvas.look;
    let candidates: Vec<Candidate> = candidates(&items, canvas.now);
    // The counts of what is left out have no line of their own where there is hardly one for a row.
    let spare = room.map_or(usize::MAX, |room| room.saturating_sub(1));
    let idle = (idle > 0 && spare > 0).then_some(idle);
    let room = room.map_or(usize::MAX, |room| room - usize::from(idle.is_some()));
    let mut kept = fold(&candidates, room);
    let is_cut = kept.contains(&Kept::No) && room > 1;
    if is_cut {
        kept = fold(&candidates, room - 1);
    }
    let shown: Vec<_> = items.iter().zip(&candidates).zip(&kept).collect();
    let mut lines = table(&shown, columns, canvas).lines(look);
    lines.extend(idle.map(|count| look.styles.dim(&idle_line(count))));
    if is_cut {
        let folded = candidates.iter().zip(&kept);
        let folded = folded.filter(|(_, kept)| **kept == Kept::No);
        lines.push(fold_line(folded.map(|(row, _)| row.weight), look));
    }
    lines
}

/// What there is of each row.
type Shown<'s, 'a> = ((&'s &'s Item<'a>, &'s Candidate), &'s Kept);

fn table(rows: &[Shown<'_, '_>], columns: Columns, canvas: Canvas) -> Table {
    let look = canvas.look;
    let shown = rows.iter().filter_map(|((item, row), kept)| match kept {
        Kept::Row { causes } => Some((*item, &row.causes[..*causes])),
        Kept::No => None,
    });
    let shown: Vec<(&&Item<'_>, &[String])> = shown.collect();
    let depths: Vec<usize> = shown.iter().map(|(item, _)| item.depth).collect();
    let indent = columns.before_name(shown.iter().map(|(item, _)| **item));
    let rows = shown.iter().zip(prefixes(&depths, look.symbols));
    let rows = rows.map(|((item, causes), prefix)| {
        let symbol = symbol(item.judged.verdict.status, look);
        let lead = format!("{}{symbol} ", look.styles.dim(&prefix.row));
        let note = format!("{indent}{}{}", prefix.below, look.symbols.note);
        let note = look.styles.dim(&note);
        Row {
            cells: columns.cells(item, lead, canvas.now),
            below: causes
                .iter()
                .map(|cause| format!("{note}{cause}"))
                .collect(),
        }
    });
    Table {
        columns: columns.titles(),
        rows: rows.collect(),
    }
}

fn idle_line(count: usize) -> String {
    let counted = counted(count, ["idle replicaset", "idle replicasets"]);
    format!("+ {counted} (--show-idle)")
}

/// How many rows are left out, by what they are.
fn fold_line(folded: impl Iterator<Item = Weight>, look: Look) -> String {
    let (mut failing, mut moving, mut healthy) = (0, 0, 0);
    for weight in folded {
        match weight {
            Weight::Failing => failing += 1,
            Weight::Moving => moving += 1,
            Weight::Asked | Weight::Recent | Weight::Healthy => healthy += 1,
        }
    }
    let counts = [
        (failing, "failing"),
        (moving, "in progress"),
        (healthy, "healthy"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let text = format!("+ {} (use --once | less)", counts.join(", "));
    look.styles.dim(&text)
}

/// Leaves out idle `ReplicaSet`s that own nothing any more, and counts them.
fn without_idle<'i, 'a>(items: &'i [Item<'a>], idle: Idle) -> (Vec<&'i Item<'a>>, usize) {
    let is_idle = |(place, item): &(usize, &'i Item<'a>)| {
        let next = items.get(place + 1);
        let owns = next.is_some_and(|next| next.depth > item.depth);
        idle == Idle::Counted
            && item.depth > 0
            && item.standing == Standing::Idle
            && item.judged.verdict.status == Status::Current
            && !owns
    };
    let (idle, shown): (Vec<_>, Vec<_>) = items.iter().enumerate().partition(is_idle);
    let shown = shown.into_iter().map(|(_, item)| item);
    (shown.collect(), idle.len())
}

fn candidates(items: &[&Item<'_>], now: Timestamp) -> Vec<Candidate> {
    let mut above: Vec<usize> = Vec::new();
    let rows = items.iter().enumerate().map(|(place, item)| {
        above.truncate(item.depth);
        let parent = above.last().copied();
        above.push(place);
        Candidate {
            parent,
            weight: weight(item, now),
            causes: causes(item),
        }
    });
    rows.collect()
}

fn weight(item: &Item<'_>, now: Timestamp) -> Weight {
    let is_recent = |changed: Timestamp| now.duration_since(changed) < RECENT;
    match item.judged.verdict.status {
        _ if item.is_named => Weight::Asked,
        _ if item.judged.is_failing() => Weight::Failing,
        Status::Current if item.changed().is_some_and(is_recent) => Weight::Recent,
        Status::Current => Weight::Healthy,
        Status::Failed
        | Status::InProgress
        | Status::Terminating
        | Status::NotFound
        | Status::Unknown => Weight::Moving,
    }
}

/// The causes of an object, a line each.
fn causes(item: &Item<'_>) -> Vec<String> {
    let causes = item.judged.causes.iter();
    let lines = causes.flat_map(|cause| cause.text.lines());
    lines.map(|line| escape_line(line).into_owned()).collect()
}
