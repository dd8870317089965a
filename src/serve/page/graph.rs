//! `GraphPage`: the picture of `trace`: each object a box, each relation a line from left to right. A table below it says the same.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use serde::Deserialize;

use super::object_address::{ObjectAddress, RecordedRef};
use super::row::{class_of_word, sign_of_word};
use super::{MAX_ROWS, Shown};
use crate::status::Status;

/// The most lines of a picture.
const MAX_LINES: usize = 800;

/// The sizes of boxes and of the space between them, in pixels.
const BOX_WIDTH: usize = 220;
const BOX_HEIGHT: usize = 40;
const COLUMN: usize = 300;
const ROW: usize = 54;
const MARGIN: usize = 10;

/// How many characters a box has room for.
const BOX_TEXT: usize = 30;

/// A record of `trace -o json`, as far as a picture has it.
#[derive(Debug, Deserialize)]
pub(super) struct TracedGraph {
    pub(super) nodes: Vec<GraphBox>,
    pub(super) edges: Vec<GraphLine>,
}

/// An object or an address.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct GraphBox {
    pub(super) id: String,
    #[serde(rename = "ref", default)]
    pub(super) object: RecordedRef,
    #[serde(default)]
    pub(super) status: String,
    /// Whether it does not exist, or is gone.
    #[serde(default)]
    ghost: bool,
    #[serde(default)]
    pub(super) word: String,
    pub(super) ready: Option<String>,
    #[serde(default)]
    pub(super) causes: Vec<GraphCause>,
}

/// Why an object is not well.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct GraphCause {
    pub(super) text: String,
}

/// A relation.
#[derive(Debug, Deserialize)]
pub(super) struct GraphLine {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) relation: String,
    state: Option<String>,
}

/// Where a box stands, in pixels.
#[derive(Clone, Copy)]
struct BoxCorner {
    x: usize,
    y: usize,
}

/// A picture: where each box stands. Equal graphs have equal pictures, so that one does not jump when nothing has moved.
struct Layout<'g> {
    graph: &'g TracedGraph,
    /// The boxes, with their columns and rows.
    places: Vec<(&'g GraphBox, usize, usize)>,
    /// All relations between two boxes.
    lines: BTreeMap<(usize, usize), BTreeSet<String>>,
}

impl<'g> Layout<'g> {
    fn of(graph: &'g TracedGraph) -> Layout<'g> {
        let mut boxes: Vec<&GraphBox> = graph.nodes.iter().collect();
        boxes.sort_by_key(|it| (it.object.order(), &it.id));
        boxes.truncate(MAX_ROWS);
        let numbers: BTreeMap<&str, usize> = boxes.iter().map(|it| &*it.id).zip(0..).collect();
        let mut lines: BTreeMap<(usize, usize), BTreeSet<String>> = BTreeMap::new();
        for line in &graph.edges {
            let ends = numbers.get(&*line.from).zip(numbers.get(&*line.to));
            if let Some((from, to)) = ends.filter(|(from, to)| from != to) {
                let state = line.state.as_ref().map(|state| format!(" ({state})"));
                let words = format!("{}{}", line.relation, state.unwrap_or_default());
                lines.entry((*from, *to)).or_default().insert(words);
            }
        }
        let columns = columns(boxes.len(), &lines.keys().copied().collect::<Vec<_>>());
        let mut rows = vec![0; columns.iter().max().map_or(0, |last| last + 1)];
        let places = boxes.into_iter().zip(columns).map(|(it, column)| {
            rows[column] += 1;
            (it, column, rows[column] - 1)
        });
        Layout {
            graph,
            places: places.collect(),
            lines,
        }
    }

    fn size(&self) -> (usize, usize) {
        let columns = self.places.iter().map(|(_, column, _)| column + 1).max();
        let rows = self.places.iter().map(|(.., row)| row + 1).max();
        (
            columns.unwrap_or(1) * COLUMN - (COLUMN - BOX_WIDTH) + 2 * MARGIN,
            rows.unwrap_or(1) * ROW - (ROW - BOX_HEIGHT) + 2 * MARGIN,
        )
    }

    /// The left upper corner of a box.
    fn corner(&self, number: usize) -> BoxCorner {
        let (_, column, row) = self.places[number];
        BoxCorner {
            x: MARGIN + column * COLUMN,
            y: MARGIN + row * ROW,
        }
    }

    /// The curve from the right side of a box to the left side of another one.
    fn curve(&self, from: usize, to: usize) -> String {
        let (from, to) = (self.corner(from), self.corner(to));
        let (x, y) = (from.x + BOX_WIDTH, from.y + BOX_HEIGHT / 2);
        let (to_x, to_y) = (to.x, to.y + BOX_HEIGHT / 2);
        let bend = COLUMN - BOX_WIDTH;
        format!(
            "M{x},{y} C{},{y} {},{to_y} {to_x},{to_y}",
            x + bend / 2,
            to_x.saturating_sub(bend / 2)
        )
    }

    /// How many boxes and lines are left out.
    fn left_out(&self) -> usize {
        let boxes = self.graph.nodes.len() - self.places.len();
        boxes + self.lines.len().saturating_sub(MAX_LINES)
    }
}

/// The column of each of so many boxes: behind all that lead to it. Of boxes in a circle, the first one comes first.
fn columns(count: usize, lines: &[(usize, usize)]) -> Vec<usize> {
    let mut columns = vec![0; count];
    let mut left: BTreeSet<usize> = (0..count).collect();
    while let Some(first) = left.first().copied() {
        let led = lines.iter().filter(|(from, _)| left.contains(from));
        let led_to: BTreeSet<usize> = led.map(|(_, to)| *to).collect();
        let free: Vec<usize> = left.difference(&led_to).copied().collect();
        let placed = if free.is_empty() { vec![first] } else { free };
        for number in placed {
            left.remove(&number);
            for (_, to) in lines.iter().filter(|(from, _)| *from == number) {
                if left.contains(to) {
                    columns[*to] = columns[*to].max(columns[number] + 1);
                }
            }
        }
    }
    columns
}

/// The picture of the last record of these; `None` if there is none.
pub(super) fn graph(records: &str, subject: &ObjectAddress) -> Option<Markup> {
    let graph: TracedGraph = serde_json::from_str(records.lines().last()?).ok()?;
    let layout = Layout::of(&graph);
    let (width, height) = layout.size();
    let left_out = layout.left_out();
    Some(html! {
        div.picture {
            svg viewBox=(format!("0 0 {width} {height}")) width=(width) height=(height) aria-hidden="true" {
                @for ((from, to), words) in layout.lines.iter().take(MAX_LINES) {
                    path.line.bad[words.iter().any(|words| words.contains("(notReady)"))] d=(layout.curve(*from, *to)) {
                        title { (Shown(&words.iter().cloned().collect::<Vec<_>>().join(", "))) }
                    }
                }
                @for (number, (it, ..)) in layout.places.iter().enumerate() { (picture_box(it, layout.corner(number), subject)) }
            }
        }
        @if left_out > 0 { p { "and " (left_out) " more boxes and lines: show a part of it" } }
        (table(&layout))
    })
}

fn picture_box(it: &GraphBox, corner: BoxCorner, subject: &ObjectAddress) -> Markup {
    let BoxCorner { x, y } = corner;
    let address = ObjectAddress::of_record(&it.object);
    let ready = it.ready.as_ref().map(|ready| format!(" {ready}"));
    let state = format!("{}{}", it.word, ready.unwrap_or_default());
    let name = address.display();
    let is_link = !it.object.kind().is_empty();
    let content = html! {
        rect.ghost[it.ghost].subject[address == *subject] x=(x) y=(y) width=(BOX_WIDTH) height=(BOX_HEIGHT) rx="5" {}
        text x=(x + 8) y=(y + 16) { (Shown(&shortened(&name))) }
        text.state x=(x + 8) y=(y + 32) { (sign_of_word(&it.status)) " " (Shown(&shortened(&state))) }
        title { (Shown(&name)) }
    };
    html! {
        g.(class_of_word(&it.status)) {
            @if is_link { a href=(address.path("o")) tabindex="-1" { (content) } } @else { (content) }
        }
    }
}

/// A text that fits into a box.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(BOX_TEXT) {
        Some(_) => text.chars().take(BOX_TEXT - 1).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

/// The same as words, the worst first.
fn table(layout: &Layout<'_>) -> Markup {
    let mut numbers: Vec<usize> = (0..layout.places.len()).collect();
    let status = |number: usize| Status::named(&layout.places[number].0.status);
    numbers.sort_by_key(|number| std::cmp::Reverse(status(*number)));
    html! {
        table.rows {
            thead { tr { th scope="col" { "Object" } th scope="col" { "Status" } th scope="col" { "Leads to" } } }
            @for number in numbers { (table_row(layout, number)) }
        }
    }
}

fn table_row(layout: &Layout<'_>, number: usize) -> Markup {
    let (it, ..) = layout.places[number];
    let address = ObjectAddress::of_record(&it.object);
    let lines = layout.lines.range((number, 0)..(number + 1, 0));
    html! {
        tbody.row.(class_of_word(&it.status)) {
            tr {
                td.name { a href=(address.path("o")) { (Shown(&address.display())) } }
                td.state {
                    (sign_of_word(&it.status)) " " (Shown(&it.word))
                    @for cause in &it.causes { br; span.dim { (Shown(&cause.text)) } }
                }
                td.wide {
                    @for ((_, to), words) in lines {
                        @let (to, ..) = layout.places[*to];
                        div {
                            span.dim { (Shown(&words.iter().cloned().collect::<Vec<_>>().join(", "))) } " → "
                            (Shown(&ObjectAddress::of_record(&to.object).display()))
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(lines: &[(&str, &str)]) -> String {
        let names: BTreeSet<&str> = lines.iter().flat_map(|(from, to)| [*from, *to]).collect();
        let boxes = names.iter().map(|name| {
            format!(
                r#"{{"id":"{name}","ref":{{"cluster":"c","apiVersion":"v1","kind":"Pod","namespace":"n","name":"{name}"}},"status":"Failed","ghost":false,"word":"Failed"}}"#
            )
        });
        let lines = lines
            .iter()
            .map(|(from, to)| format!(r#"{{"from":"{from}","to":"{to}","relation":"owns"}}"#));
        format!(
            r#"{{"v":1,"nodes":[{}],"edges":[{}]}}"#,
            boxes.collect::<Vec<_>>().join(","),
            lines.collect::<Vec<_>>().join(",")
        )
    }

    /// The column of each box.
    fn placed(lines: &[(&str, &str)]) -> Vec<(String, usize, usize)> {
        let graph: TracedGraph = serde_json::from_str(&record(lines)).expect("a record");
        let layout = Layout::of(&graph);
        let places = layout.places.iter();
        places
            .map(|(it, column, row)| (it.id.clone(), *column, *row))
            .collect()
    }

    #[test]
    fn a_box_stands_behind_all_that_lead_to_it() {
        let place = |name: &str, column, row| (name.to_owned(), column, row);
        assert_eq!(
            placed(&[("d", "r"), ("r", "p"), ("s", "p"), ("p", "m"), ("d", "m")]),
            [
                place("d", 0, 0),
                place("m", 3, 0),
                place("p", 2, 0),
                place("r", 1, 0),
                place("s", 0, 1)
            ]
        );
        // A circle has a first box.
        assert_eq!(
            placed(&[("a", "b"), ("b", "c"), ("c", "a")]),
            [place("a", 0, 0), place("b", 1, 0), place("c", 2, 0)]
        );
    }

    #[test]
    fn a_large_graph_is_cut_and_counted() {
        let names: Vec<(String, String)> = (0..250)
            .map(|n| ("s".to_owned(), format!("p{n}")))
            .collect();
        let lines: Vec<(&str, &str)> = names.iter().map(|(a, b)| (&**a, &**b)).collect();
        let subject = ObjectAddress::of_segments(["c", "Pod", "n", "s"]);
        let html = graph(&record(&lines), &subject)
            .expect("a picture")
            .into_string();
        assert_eq!(html.matches("<rect").count(), MAX_ROWS);
        assert!(
            html.contains("and 51 more"),
            "{}",
            &html[html.len() - 300..]
        );
        assert!(graph("", &subject).is_none() && graph("{}", &subject).is_none());
    }
}
