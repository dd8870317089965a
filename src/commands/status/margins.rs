//! What stands around the table: what is looked at, how current it is, and what could not be read.

use super::cells::qualified;
use super::outline::Item;
use super::state::{State, TREES};
use super::view::Canvas;
use crate::render::age::{age, stopwatch};
use crate::render::style::Look;
use crate::render::text::{escape_line, width};
use crate::watch::Scope;

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

/// How many sources that cannot be read are named in a frame.
const NAMED: usize = 3;

/// The sources that cannot be read, a line each.
pub(super) fn refusals(connection: &Connection, look: Look) -> Vec<String> {
    let lines = connection.refused.iter();
    lines.map(|line| look.styles.dim(line)).collect()
}

/// The first of them.
pub(super) fn first_refusals(connection: &Connection, look: Look) -> Vec<String> {
    let mut lines = refusals(connection, look);
    if lines.len() > NAMED {
        let more = lines.split_off(NAMED - 1).len();
        lines.push(
            look.styles
                .dim(&format!("+ {more} more that cannot be read")),
        );
    }
    lines
}

/// That what the objects own is not shown, where it is not.
pub(super) fn flatness(state: &State, look: Look) -> Option<String> {
    let text = format!("what they own is shown of no more than {TREES} objects: name some");
    state.is_flat.then(|| look.styles.dim(&text))
}

/// What is looked at, where, how far its rollout is, and for how long it has been looked at.
pub(super) fn header(state: &State, items: &[Item<'_>], canvas: Canvas) -> String {
    let styles = canvas.look.styles;
    let roots: Vec<&Item<'_>> = items.iter().filter(|item| item.depth == 0).collect();
    let title = match &roots[..] {
        [root] => qualified(&root.object),
        _ => asked(state),
    };
    let [namespace, context] = places(state);
    let name = styles.name(&escape_line(&title));
    let left = |places: &[&String]| {
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

/// The namespace and the context, as flags name them.
fn places(state: &State) -> [String; 2] {
    let Some(key) = state.asked().next() else {
        return [String::new(), String::new()];
    };
    let namespace = match &key.scope {
        Scope::Namespace(namespace) => format!("-n {namespace}"),
        Scope::Cluster if key.resource.namespaced => "-A".to_owned(),
        Scope::Cluster => String::new(),
    };
    [namespace, format!("ctx {}", key.cluster.0)]
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
pub(super) fn footer(
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

/// `1 object`, `2 objects`.
pub(super) fn counted(count: usize, [one, many]: [&str; 2]) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The column at which what stands on the right ends, unless both need more room. A line that fills a
/// wide terminal would be wrapped when the terminal gets narrower.
const EDGE: usize = 79;

/// Text at both ends of a line, if there is room for both.
fn apart(left: &str, right: &str, look: Look) -> Option<String> {
    let needed = width(left) + 2 + width(right);
    let columns = look.width.unwrap_or(usize::MAX);
    let spare = columns.min(EDGE).saturating_sub(needed);
    (needed <= columns).then(|| format!("{left}  {}{right}", " ".repeat(spare)))
}
