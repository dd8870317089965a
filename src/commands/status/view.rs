//! What `status` shows: the whole table, or as much of it as a screen holds, between a header and a footer.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::cells::{Columns, qualified, symbol};
use super::fold::{Candidate, Kept, Weight, fold};
use super::outline::Item;
use super::state::State;
use crate::graph::Standing;
use crate::render::age::{age, stopwatch};
use crate::render::style::Look;
use crate::render::table::{Row, Table};
use crate::render::text::{cut_line, escape_line, width};
use crate::render::tree::prefixes;
use crate::status::Status;
use crate::watch::Scope;

/// How long a row that has changed counts as one that has.
const RECENT: SignedDuration = SignedDuration::from_secs(10);

/// What a view is drawn on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Canvas {
    /// The time.
    pub(super) now: Timestamp,
    /// How text looks, and the width of the terminal.
    pub(super) look: Look,
    /// How many lines there may be; `None` for no limit.
    pub(super) rows: Option<usize>,
    /// Whether `ReplicaSet`s that are kept for roll-backs alone are shown too.
    pub(super) idle: Idle,
}

/// What becomes of `ReplicaSet`s that are kept for roll-backs alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Idle {
    /// They are counted.
    Counted,
    /// Each has a row.
    Shown,
}

/// What a view says of the sources.
#[derive(Clone, Debug, Default)]
pub(super) struct Connection {
    /// Their state in a few words, painted.
    pub(super) summary: String,
    /// Those that cannot be read, a line each.
    pub(super) refused: Vec<String>,
    /// How many there are.
    pub(super) watches: usize,
}

/// A frame of the live view. It has no more lines than the canvas has rows, and none is wider than one
/// column less than the terminal.
pub(super) fn view(state: &State, connection: &Connection, canvas: Canvas) -> Vec<String> {
    let terminal = canvas.look.width;
    let canvas = Canvas {
        look: Look {
            width: terminal.map(|columns| columns.saturating_sub(1).max(1)),
            ..canvas.look
        },
        ..canvas
    };
    let items = state.outline();
    let notes = refusals(connection, canvas.look);
    let taken = 3 + notes.len(); // the header, the titles, the footer
    let columns = Columns {
        namespaces: has_namespaces(state, &items),
        live: true,
        width: terminal,
    };
    let room = canvas.rows.map(|rows| rows.saturating_sub(taken));
    let mut frame = vec![header(state, &items, canvas)];
    frame.extend(rows(&items, columns, (room, canvas)));
    frame.extend(notes);
    frame.push(footer(state, (&items, connection), canvas));
    frame
        .into_iter()
        .map(|line| fitted(line, canvas.look))
        .collect()
}

/// The table of everything, for those who look once.
pub(super) fn table(state: &State, connection: &Connection, canvas: Canvas) -> Vec<String> {
    let items = state.outline();
    let columns = Columns {
        namespaces: has_namespaces(state, &items),
        live: false,
        width: canvas.look.width,
    };
    let mut lines = rows(&items, columns, (None, canvas));
    lines.extend(refusals(connection, canvas.look));
    lines
}

/// The table of objects that are judged each on its own.
pub(super) fn listing(items: &[Item<'_>], canvas: Canvas) -> Vec<String> {
    let columns = Columns {
        namespaces: are_spread(items),
        live: false,
        width: canvas.look.width,
    };
    rows(items, columns, (None, canvas))
}

fn fitted(line: String, look: Look) -> String {
    match look.width {
        Some(columns) => cut_line(&line, columns, look.symbols.ellipsis).into_owned(),
        None => line,
    }
}

fn refusals(connection: &Connection, look: Look) -> Vec<String> {
    let lines = connection.refused.iter();
    lines.map(|line| look.styles.dim(line)).collect()
}

fn has_namespaces(state: &State, items: &[Item<'_>]) -> bool {
    let everywhere =
        |key: &crate::watch::SourceKey| key.resource.namespaced && key.scope == Scope::Cluster;
    state.asked().any(everywhere) || are_spread(items)
}

/// Whether the objects are of more than one namespace.
fn are_spread(items: &[Item<'_>]) -> bool {
    let namespaces: BTreeSet<_> = items.iter().map(|item| &item.object.namespace).collect();
    namespaces.len() > 1
}

/// The rows of the table, with its titles, and what they leave out.
fn rows(
    items: &[Item<'_>],
    columns: Columns,
    (room, canvas): (Option<usize>, Canvas),
) -> Vec<String> {
    let (items, idle) = without_idle(items, canvas.idle);
    let look = canvas.look;
    let room = room.map(|room| room.saturating_sub(usize::from(idle > 0)));
    let candidates = candidates(&items, canvas.now);
    let kept = match room {
        None => fold(&candidates, usize::MAX),
        Some(room) => Some(fold(&candidates, room))
            .filter(|kept| !kept.contains(&Kept::No))
            .unwrap_or_else(|| fold(&candidates, room.saturating_sub(1))),
    };
    let mut table = Table {
        columns: columns.titles(),
        rows: Vec::new(),
    };
    let shown: Vec<(&Item<'_>, &Candidate, usize)> = items
        .iter()
        .zip(&candidates)
        .zip(&kept)
        .filter_map(|((item, candidate), kept)| match kept {
            Kept::Row { causes } => Some((*item, candidate, *causes)),
            Kept::No => None,
        })
        .collect();
    let depths: Vec<usize> = shown.iter().map(|(item, ..)| item.depth).collect();
    for ((item, candidate, causes), prefix) in shown.iter().zip(prefixes(&depths, look.symbols)) {
        let symbol = symbol(item.judged.verdict.status, look);
        let lead = format!("{}{symbol} ", look.styles.dim(&prefix.row));
        let below = candidate.causes.iter().take(*causes).map(|cause| {
            let lead = format!("{}{}", prefix.below, look.symbols.note);
            format!("{}{cause}", look.styles.dim(&lead))
        });
        table.rows.push(Row {
            cells: columns.cells(item, lead, canvas.now),
            below: below.collect(),
        });
    }
    let mut lines = table.lines(look);
    if idle > 0 {
        lines.push(look.styles.dim(&idle_line(idle)));
    }
    let folded = candidates.iter().zip(&kept);
    let folded = folded.filter(|(_, kept)| **kept == Kept::No);
    lines.extend(fold_line(folded.map(|(row, _)| row.weight), look));
    lines
}

fn idle_line(count: usize) -> String {
    let counted = counted(count, ["idle replicaset", "idle replicasets"]);
    format!("+ {counted} (--show-idle)")
}

/// `1 object`, `2 objects`.
fn counted(count: usize, [one, many]: [&str; 2]) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// How many rows are left out, by what they are.
fn fold_line(folded: impl Iterator<Item = Weight>, look: Look) -> Option<String> {
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
    (!counts.is_empty()).then(|| look.styles.dim(&text))
}

/// Leaves out idle `ReplicaSet`s that own nothing any more, and counts them.
fn without_idle<'i, 'a>(items: &'i [Item<'a>], idle: Idle) -> (Vec<&'i Item<'a>>, usize) {
    let is_idle = |(place, item): &(usize, &'i Item<'a>)| {
        let owns = items
            .get(place + 1)
            .is_some_and(|next| next.depth > item.depth);
        idle == Idle::Counted
            && item.depth > 0
            && item.standing == Standing::Idle
            && item.judged.verdict.status == Status::Current
            && !owns
    };
    let (idle, shown): (Vec<_>, Vec<_>) = items.iter().enumerate().partition(is_idle);
    (
        shown.into_iter().map(|(_, item)| item).collect(),
        idle.len(),
    )
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
        _ if item.depth == 0 && item.judged.verdict.status != Status::Current => Weight::Asked,
        _ if item.judged.is_failing() => Weight::Failing,
        Status::Failed | Status::InProgress | Status::Terminating => Weight::Moving,
        Status::NotFound | Status::Unknown => Weight::Moving,
        Status::Current if item.changed().is_some_and(is_recent) => Weight::Recent,
        Status::Current => Weight::Healthy,
    }
}

/// The causes of an object, a line each.
fn causes(item: &Item<'_>) -> Vec<String> {
    let lines = item
        .judged
        .causes
        .iter()
        .flat_map(|cause| cause.text.lines());
    lines.map(|line| escape_line(line).into_owned()).collect()
}

/// What is looked at, where, how far its rollout is, and for how long it has been looked at.
fn header(state: &State, items: &[Item<'_>], canvas: Canvas) -> String {
    let styles = canvas.look.styles;
    let roots: Vec<&Item<'_>> = items.iter().filter(|item| item.depth == 0).collect();
    let title = match &roots[..] {
        [root] => qualified(&root.object),
        _ => asked(state),
    };
    let key = state.asked().next();
    let namespace = match key.map(|key| &key.scope) {
        Some(Scope::Namespace(namespace)) => format!("-n {namespace}"),
        Some(Scope::Cluster) if key.is_some_and(|key| key.resource.namespaced) => "-A".to_owned(),
        Some(Scope::Cluster) | None => String::new(),
    };
    let context = key.map_or(String::new(), |key| format!("ctx {}", key.cluster.0));
    let name = styles.name(&escape_line(&title));
    let left = |places: &[&str]| {
        let places = places.iter().filter(|place| !place.is_empty());
        places.fold(name.clone(), |line, place| {
            format!("{line}  {}", styles.dim(&escape_line(place)))
        })
    };
    let elapsed = stopwatch(canvas.now.duration_since(state.started));
    let summary = rollout(&roots, items);
    let right = match &*summary {
        "" => elapsed,
        summary => format!("{summary}  {elapsed}"),
    };
    // What gives way first where not all fits.
    let ways = [
        (left(&[&namespace, &context]), &right),
        (left(&[&namespace]), &right),
        (left(&[&namespace]), &summary),
        (name.clone(), &summary),
    ];
    let fitting = ways
        .iter()
        .find_map(|(left, right)| apart(left, right, canvas.look));
    fitting.unwrap_or(name)
}

/// What was asked for, in kubectl's words.
fn asked(state: &State) -> String {
    let mut resources: Vec<String> = Vec::new();
    for key in state.asked() {
        let resource = key.resource.group_resource();
        if !resources.contains(&resource) {
            resources.push(resource);
        }
    }
    resources.join(",")
}

/// `rollout 2/3 updated, 1 failing`.
fn rollout(roots: &[&Item<'_>], items: &[Item<'_>]) -> String {
    let failing = items.iter().filter(|item| item.judged.is_failing()).count();
    let progress = match roots {
        [root] => root.progress(),
        _ => None,
    };
    let updated = progress.map(|at| format!("rollout {}/{} updated", at.updated, at.wanted));
    let failing = (failing > 0).then(|| format!("{failing} failing"));
    let parts: Vec<String> = updated.into_iter().chain(failing).collect();
    parts.join(", ")
}

/// How current the view is, and how it is ended.
fn footer(
    state: &State,
    (items, connection): (&[Item<'_>], &Connection),
    canvas: Canvas,
) -> String {
    let objects = items.iter().filter(|item| item.known.is_some()).count();
    let mut parts = vec![
        counted(objects, ["object", "objects"]),
        counted(connection.watches, ["watch", "watches"]),
    ];
    if let Some(last) = state.last {
        parts.push(format!("last change {} ago", age(last, canvas.now)));
    }
    let styles = canvas.look.styles;
    let left = format!("{}  {}", connection.summary, styles.dim(&parts.join("  ")));
    apart(&left, &styles.dim("Ctrl-C to end"), canvas.look).unwrap_or(left)
}

/// Text at both ends of a line, if there is room for both.
fn apart(left: &str, right: &str, look: Look) -> Option<String> {
    let needed = width(left) + 2 + width(right);
    let spare = look
        .width
        .map_or(Some(0), |columns| columns.checked_sub(needed))?;
    Some(format!("{left}  {}{right}", " ".repeat(spare)))
}
