//! An object and what it owned at an earlier time, from a record of `trace --at`.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use super::graph::{GraphBox, TracedGraph};
use super::object_address::ObjectAddress;
use super::row::{class_of_word, sign_of_word};
use super::{MAX_ROWS, Shown};

/// The deepest row that is indented further than the one above it.
const MAX_DEPTH: usize = 12;

/// The tree of the last record of these; `None` if there is none, or if it does not have the object.
pub(super) fn past_tree(records: &str, subject: &ObjectAddress) -> Option<Markup> {
    let graph: TracedGraph = serde_json::from_str(records.lines().last()?).ok()?;
    let mut nodes = graph.nodes.iter();
    let top = nodes.find(|it| ObjectAddress::of_record(&it.object) == *subject)?;
    let rows = below(&graph, top);
    let beyond = rows.len().saturating_sub(MAX_ROWS);
    Some(html! {
        table.rows {
            thead { tr { th scope="col" { "Name" } th scope="col" { "Ready" } th scope="col" { "Status" } } }
            @for row in rows.iter().take(MAX_ROWS) { (shown(row)) }
        }
        @if beyond > 0 { p { "and " (beyond) " more" } }
    })
}

/// An object of the tree.
struct PastRow<'g> {
    object: &'g GraphBox,
    depth: usize,
}

/// An object, followed by what it owns. Each object stands once.
fn below<'g>(graph: &'g TracedGraph, top: &'g GraphBox) -> Vec<PastRow<'g>> {
    let by_id: BTreeMap<&str, &GraphBox> = graph.nodes.iter().map(|it| (&*it.id, it)).collect();
    let (mut rows, mut seen) = (Vec::new(), BTreeSet::new());
    let mut next = vec![PastRow {
        object: top,
        depth: 0,
    }];
    while let Some(row) = next.pop() {
        if !seen.insert(&row.object.id) {
            continue;
        }
        let lines = graph.edges.iter();
        let owned = lines.filter(|line| line.relation == "owns" && line.from == row.object.id);
        let mut owned: Vec<&GraphBox> = owned
            .filter_map(|line| by_id.get(&*line.to).copied())
            .collect();
        owned.sort_by_key(|it| std::cmp::Reverse(it.object.order()));
        next.extend(owned.into_iter().map(|object| PastRow {
            object,
            depth: row.depth + 1,
        }));
        rows.push(row);
    }
    rows
}

fn shown(row: &PastRow<'_>) -> Markup {
    let it = row.object;
    let address = ObjectAddress::of_record(&it.object);
    let depth = row.depth.min(MAX_DEPTH);
    html! {
        tbody.row.(class_of_word(&it.status)) {
            tr {
                td.name.{ "d" (depth) } { a href=(address.path("o")) { (Shown(&address.display())) } }
                td data-label="ready" { (Shown(it.ready.as_deref().unwrap_or("-"))) }
                td.state { (sign_of_word(&it.status)) " " (Shown(&it.word)) }
            }
            @if !it.causes.is_empty() {
                tr.why {
                    td.{ "d" (depth) } colspan="3" { ul { @for cause in &it.causes { li { (Shown(&cause.text)) } } } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_shown_with_what_it_owned() {
        let node = |id: &str, kind: &str, status: &str| {
            format!(
                r#"{{"id":"{id}","ref":{{"cluster":"c","apiVersion":"v1","kind":"{kind}","namespace":"n","name":"{id}"}},"status":"{status}","ghost":false,"word":"{status}","causes":[{{"text":"why {id}"}}]}}"#
            )
        };
        let nodes = [
            node("s", "Service", "Failed"),
            node("d", "Deployment", "Failed"),
            node("p", "Pod", "Failed"),
            node("r", "ReplicaSet", "Current"),
        ];
        let line = |from: &str, to: &str, relation: &str| {
            format!(r#"{{"from":"{from}","to":"{to}","relation":"{relation}"}}"#)
        };
        // A circle of owners ends.
        let lines = [
            line("d", "r", "owns"),
            line("r", "p", "owns"),
            line("p", "d", "owns"),
            line("s", "p", "selects"),
        ];
        let record = format!(
            r#"{{"v":1,"nodes":[{}],"edges":[{}]}}"#,
            nodes.join(","),
            lines.join(",")
        );
        let subject = ObjectAddress::of_segments(["c", "Deployment", "n", "d"]);
        let html = past_tree(&record, &subject).expect("a tree").into_string();
        let places: Vec<usize> = ["deployment/d", "replicaset/r", "pod/p"]
            .map(|name| html.find(name).expect(name))
            .into();
        assert!(places.is_sorted(), "{html}");
        assert!(html.contains("name d2") && html.contains("why p"), "{html}");
        assert!(!html.contains("service/s"), "it owns nothing of it");
        let other = ObjectAddress::of_segments(["c", "Deployment", "n", "x"]);
        assert!(past_tree(&record, &other).is_none() && past_tree("", &subject).is_none());
    }
}
