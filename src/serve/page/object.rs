//! `ObjectPage`: one object, its owners and all its dependents, as `status` shows them.

use std::collections::BTreeSet;
use std::sync::Arc;

use maud::{Markup, html};

use super::frame::{as_of, copied, link_to, parts, path_begin};
use super::object_address::ObjectAddress;
use super::row::{RowPlace, class, row, sign};
use super::{MAX_ROWS, PageView, Shown, View, foot};
use crate::serve::served_row::ServedRow;
use crate::serve::snapshot::Snapshot;
use crate::status::Assessment;

/// The page about one object.
pub(in crate::serve) struct ObjectPage(ObjectAddress);

impl ObjectPage {
    /// The view of the object with this address; `None` if the server does not follow it.
    pub(in crate::serve) fn at(address: ObjectAddress, snapshot: &Snapshot) -> Option<ObjectPage> {
        let page = ObjectPage(address);
        let mut rows = snapshot.rows.iter();
        let is_there = rows.any(|row| page.is_of(row));
        is_there.then_some(page)
    }

    /// The view of the object of a row.
    #[cfg(test)]
    pub(super) fn about(row: &ServedRow) -> ObjectPage {
        ObjectPage(ObjectAddress::of_row(row))
    }

    fn is_of(&self, row: &ServedRow) -> bool {
        self.0.is_of(row)
    }
}

impl View for ObjectPage {
    fn of(&self, snapshot: &Snapshot) -> Option<PageView> {
        let at = snapshot.rows.iter().position(|row| self.is_of(row))?;
        let top = &snapshot.rows[at];
        let own = top.depth;
        let below: Vec<_> = dependents(snapshot, at).collect();
        let beyond = (below.len() + 1).saturating_sub(MAX_ROWS);
        let rows = std::iter::once(top).chain(below).take(MAX_ROWS);
        let place = |row: &ServedRow| RowPlace {
            depth: row.depth - own,
            beside: &[],
            namespace: top.object_ref.namespace.as_deref(),
            label: None,
        };
        Some(PageView {
            title: format!(
                "{} {} · {}",
                top.name(),
                top.assessment.row.word,
                self.0.cluster
            ),
            summary: html! {
                nav.path aria-label="Owners" {
                    (path_begin(&self.0.cluster, snapshot))
                    @for owner in owners(&snapshot.rows[..at], own) {
                        " › " a href=(ObjectAddress::of_row(owner).path("o")) { (Shown(&owner.name())) }
                    }
                    " › " span aria-current="page" { (Shown(&top.name())) }
                }
                (summary(top))
            },
            has_clusters: false,
            rows: rows.map(|shown| row(shown, &place(shown))).collect(),
            foot: html! { (foot(beyond, snapshot)) (copied(&self.0.command("status"))) },
            link: link_to(&self.0.cluster, snapshot),
        })
    }

    fn live_address(&self) -> String {
        format!("/live{}", self.0.path("o"))
    }

    fn panels(&self) -> Markup {
        html! {
            (as_of(&self.0, None))
            @for (letter, name) in [("c", "Changes"), ("e", "Events"), ("l", "Logs")] {
                @let path = self.0.path(letter);
                details.panel open[letter == "c"] data-from=(path) {
                    summary { h2 { (name) } }
                    div { p { a.way href=(path) { "Open as a page" } } }
                }
            }
        }
    }
}

/// The rows below this one.
fn dependents(snapshot: &Snapshot, at: usize) -> impl Iterator<Item = &Arc<ServedRow>> {
    let own = snapshot.rows[at].depth;
    let below = snapshot.rows[at + 1..].iter();
    below.take_while(move |row| row.depth > own)
}

/// An object and its dependents, as Events name them: `Deployment/web`, `Pod/web-1`.
pub(in crate::serve) fn event_names(
    address: &ObjectAddress,
    snapshot: &Snapshot,
) -> BTreeSet<String> {
    let place = snapshot.rows.iter().position(|row| address.is_of(row));
    let below = place.into_iter().flat_map(|at| dependents(snapshot, at));
    let names = below.map(|row| ObjectAddress::of_row(row).event_name());
    names.chain([address.event_name()]).collect()
}

/// The rows above one of this depth that it is shown under, the outermost first.
fn owners(above: &[Arc<ServedRow>], mut depth: usize) -> Vec<&ServedRow> {
    let mut owners = Vec::new();
    for row in above.iter().rev() {
        if row.depth < depth {
            depth = row.depth;
            owners.push(&**row);
        }
    }
    owners.reverse();
    owners
}

/// The state and its rule, and the other pages about the object.
fn summary(row: &ServedRow) -> Markup {
    let Assessment {
        verdict,
        row: cells,
        causes,
    } = &*row.assessment;
    let address = ObjectAddress::of_row(row);
    html! {
        h1.(class(row.status())) { (sign(row.status())) " " (Shown(&row.name())) " " (Shown(&cells.word)) }
        @if !verdict.message.is_empty() { p { (Shown(&verdict.message)) } }
        @if !causes.is_empty() {
            p.dim {
                "found by"
                @for rule in rules(row) { " " (rule) }
            }
        }
        (parts(&address, "o"))
    }
}

/// The rules that found the causes, each once. docs/rules.md describes them.
fn rules(row: &ServedRow) -> BTreeSet<&'static str> {
    row.assessment
        .causes
        .iter()
        .map(|cause| cause.rule.as_str())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::snapshot::testing::{failed_pod, snapshot};

    #[test]
    fn an_object_is_shown_with_its_dependents_and_owners() {
        let row = |name: &str, depth| {
            let mut row = failed_pod(name, "it fails");
            row.depth = depth;
            row
        };
        let rows = [("a", 0), ("b", 1), ("c", 2), ("d", 2), ("e", 1), ("f", 0)];
        let snapshot = snapshot(rows.map(|(name, depth)| row(name, depth)).into());
        let view = ObjectAddress::of_segments(["test", "Pod", "shop", "b"]);
        let view = ObjectPage::at(view, &snapshot).expect("it is there");
        let shown = view.of(&snapshot).expect("it is there");
        let ids: Vec<&str> = shown.rows.iter().map(|row| &*row.id).collect();
        assert_eq!(ids, ["uid-b", "uid-c", "uid-d"]);
        let above = owners(&snapshot.rows[..3], 2);
        let above: Vec<String> = above.iter().map(|row| row.name()).collect();
        assert_eq!(above, ["pod/a", "pod/b"]);
        for absent in [
            ["test", "Pod", "shop", "x"],
            ["other", "Pod", "shop", "b"],
            ["test", "Pod", "-", "b"],
            ["test", "Pod.apps", "shop", "b"],
        ] {
            let address = ObjectAddress::of_segments(absent);
            assert!(ObjectPage::at(address, &snapshot).is_none(), "{absent:?}");
        }
    }
}
