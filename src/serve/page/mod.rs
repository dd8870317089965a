//! The page: HTML that works without script, and the parts of it that a script replaces while it lives.
//!
//! Cluster text is untrusted. maud escapes every text and attribute, [`Shown`] also makes hidden characters visible, and the
//! policy of the page forbids every script and style but our own. No cluster text is ever part of a script or a style.

mod assets;
mod changed_version;
mod changes;
mod events;
mod frame;
mod graph;
mod lane_states;
mod logs;
mod now;
mod object;
mod object_address;
mod past_tree;
mod report;
mod row;
mod timeline;

use maud::{Markup, Render, html};

use super::snapshot::Snapshot;
use crate::render::text::escape_line;
pub(super) use assets::{POLICY, SCRIPT};
pub(super) use changed_version::TimeSpan;
pub(super) use frame::{nothing, page};
pub(super) use now::NowPage;
pub(super) use object::{ObjectPage, event_names};
pub(super) use object_address::{ObjectAddress, ObjectPath};
pub(super) use report::{Report, ReportedRecords, TIMELINE};
pub(super) use timeline::TimelineTime;

/// The most rows of a view. A longer table is slow in every browser; the rest is counted.
const MAX_ROWS: usize = 200;

/// Cluster text in HTML: as it is, but for characters that a browser obeys or hides. They become visible.
struct Shown<'t>(&'t str);

impl Render for Shown<'_> {
    fn render_to(&self, buffer: &mut String) {
        escape_line(self.0).as_ref().render_to(buffer);
    }
}

/// What a view shows at one moment, in the parts that the script replaces.
pub(super) struct PageView {
    /// The title of the window.
    pub(super) title: String,
    /// What stands above the table.
    pub(super) summary: Markup,
    /// Whether the rows name their clusters.
    pub(super) has_clusters: bool,
    /// The rows, in order.
    pub(super) rows: Vec<PageRow>,
    /// What stands below the table: what is not shown.
    pub(super) foot: Markup,
    /// How current it is.
    pub(super) link: Markup,
}

/// One row of a view: a table body of its own.
pub(super) struct PageRow {
    /// The identity of the object.
    pub(super) id: String,
    /// The row.
    pub(super) html: String,
}

/// A page of the first row of links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    /// What is not well now.
    Now,
    /// What changed, over time.
    Timeline,
    /// Another page.
    Other,
}

/// A view that can be shown and followed.
pub(super) trait View {
    /// What it shows of a snapshot; `None` if the snapshot does not have its object.
    fn of(&self, snapshot: &Snapshot) -> Option<PageView>;

    /// Where its changes come from.
    fn live_address(&self) -> String;

    /// Which link of the header leads to it.
    fn section(&self) -> Section {
        Section::Other
    }

    /// What stands below the rows. It does not change with the snapshot.
    fn panels(&self) -> Markup {
        html! {}
    }

    /// The text in the search field.
    fn search(&self) -> Option<&str> {
        None
    }
}

/// The lines below a table: the rows that it leaves out, and what the server could not read.
fn foot(beyond: usize, snapshot: &Snapshot) -> Markup {
    html! {
        @if beyond > 0 {
            p { "and " (beyond) " more: search, or choose a state or a namespace" }
        }
        @for line in snapshot.link.refused.iter().chain(&snapshot.shortfalls) {
            p.dim { (Shown(line)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use jiff::SignedDuration;
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::served_cluster::ServedCluster;
    use super::super::served_row::ServedRow;
    use super::super::snapshot::testing::{change, failed_pod, last_lines, snapshot};
    use super::*;
    use crate::serve::params::Params;

    /// A row in which every text is this one.
    fn hostile(text: &str) -> ServedRow {
        let mut row = failed_pod(text, text);
        let object = &mut row.object_ref;
        object.kind = text.into();
        object.api_version = text.into();
        object.cluster = text.into();
        object.namespace = Some(text.into());
        object.uid = Some(text.into());
        let cells = &mut Arc::make_mut(&mut row.assessment).row;
        text.clone_into(&mut cells.word);
        cells.ready = Some(text.to_owned());
        row.label = Some(text.into());
        row.last_changes = vec![change(text)];
        row.last_lines = vec![last_lines(text)];
        row
    }

    /// Both views of a snapshot in which every text is this one.
    fn pages(text: &str) -> String {
        let row = hostile(text);
        let mut snapshot = snapshot(vec![row.clone()]);
        snapshot.cluster = text.into();
        snapshot.clusters = vec![
            ServedCluster {
                trouble: Some(text.to_owned()),
                ..ServedCluster::alone(text.into())
            };
            2
        ];
        snapshot.place = text.into();
        snapshot.shortfalls = vec![text.to_owned()];
        text.clone_into(&mut snapshot.link.words);
        for row in &mut snapshot.unhealthy {
            row.beside = vec![text.to_owned()];
        }
        let now = NowPage::of(&Params::default()).expect("valid parameters");
        let object = ObjectPage::about(&row);
        let whole = |view: &dyn View| {
            let shown = view.of(&snapshot).expect("it is there");
            page(&shown, view, &snapshot).into_string()
        };
        whole(&now) + &whole(&object) + &reports(text)
    }

    /// The pages of records in which every text is this one.
    fn reports(text: &str) -> String {
        // Nothing has an empty name.
        let text = &*format!("{text}.");
        let object = json!({
            "cluster": text, "apiVersion": text, "kind": text, "namespace": text, "name": text,
        });
        let version = json!({
            "v": 1, "type": "modified", "time": "2026-03-02T12:00:00Z", "ref": object,
            "actors": [{"manager": text, "operation": text, "subresource": text}],
            "changes": [{"op": text, "path": text, "old": text, "new": {text: [text]}}],
            "status": {"from": text, "to": text},
        });
        let past = json!({
            "v": 1, "type": "lookback", "seen": "2026-03-02T12:05:00Z", "cause": text,
        });
        let nodes = ["a", "b"].map(|id| {
            json!({
                "id": id, "ref": object, "status": text, "word": text, "ready": text,
                "causes": [{"text": text}],
            })
        });
        let line = json!({"from": "a", "to": "b", "relation": text, "state": text});
        let traced = json!({"v": 1, "nodes": nodes, "edges": [line]}).to_string();
        let changed = format!("{version}\n{past}\n");
        let address = ObjectAddress::of_segments([text; 4]);
        let query: Params = [("since", text)].into_iter().collect();
        let mut snapshot = snapshot(Vec::new());
        snapshot.cluster = text.into();
        let page = |report: Report<'_>, records: &str| {
            let answer = ReportedRecords {
                records,
                error: Some(text),
            };
            report.page(&answer, &query, &snapshot).into_string()
        };
        let event = json!({
            "involvedObject": {"kind": text, "name": text}, "type": text, "reason": text, "message": text,
        });
        let event = json!({
            "v": 1, "type": "created", "time": "2026-03-02T12:00:00Z", "ref": object, "object": event,
        });
        let logged = json!({"v": 1, "type": "log", "pod": text, "container": text, "line": text});
        let message = json!({"v": 1, "type": "source", "message": text});
        let names = BTreeSet::from([format!("{text}/{text}")]);
        page(Report::Changes(&address), &changed)
            + &page(Report::Events(&address, &names), &event.to_string())
            + &page(Report::Logs(&address), &format!("{logged}\n{message}"))
            + &page(Report::Past(&address, text), &traced)
            + &page(Report::Graph(&address), &traced)
            + &page(
                Report::Timeline(TimelineTime::Last(SignedDuration::from_hours(1))),
                &changed,
            )
    }

    /// The tags of a page with their attributes, as a browser reads them: a `<` and a letter begin one.
    fn tags(html: &str) -> Vec<String> {
        let mut tags = Vec::new();
        let mut rest = html;
        while let Some(at) = rest.find('<') {
            rest = &rest[at + 1..];
            let (mut quoted, mut end) = (false, rest.len());
            for (at, c) in rest.char_indices() {
                quoted ^= c == '"';
                if c == '>' && !quoted {
                    end = at;
                    break;
                }
            }
            // The values of attributes are texts; only the names matter.
            let names = rest[..end].split('"').step_by(2).collect::<String>();
            tags.push(names);
            rest = &rest[end..];
        }
        tags
    }

    #[test]
    fn cluster_text_stays_text() {
        for text in [
            "<script>alert(1)</script>",
            "\" onload=\"alert(1)",
            "' onload='alert(1)",
            "javascript:alert(1)",
            "</title><svg/onload=alert(1)>",
            "a&lt;b&#x3c;",
            "../../x?y#z",
            "\u{202e}evil\u{0}\n",
        ] {
            let html = pages(text);
            assert_eq!(tags(&html), tags(&pages("plain")), "{text}");
            assert!(!html.contains("href=\"javascript:"), "{text}");
            assert!(!html.contains('\u{202e}') && !html.contains('\0'), "{text}");
        }
    }

    #[test]
    fn the_page_needs_nothing_from_elsewhere() {
        let html = pages("plain");
        assert!(!html.contains("://"), "{html}");
        assert!(!html.contains("style="), "the policy forbids it");
        let script = SCRIPT.text;
        assert!(script.lines().count() <= 400 && !script.contains("://"));
        assert!(POLICY.starts_with("default-src 'none'; script-src 'self'; style-src 'sha256-"));
    }

    proptest! {
        /// Whatever the cluster sends, the page has the tags and attributes of a harmless one.
        #[test]
        fn no_text_becomes_markup(text in "\\PC{0,24}|[<>\"'&/=a-z \n\u{202e}]{0,24}") {
            prop_assert_eq!(tags(&pages(&text)), tags(&pages("plain")));
        }

        /// An address of the page stays on this server.
        #[test]
        fn no_text_becomes_another_address(text in "\\PC{0,24}|[:/.?#%a-z]{0,24}") {
            let html = pages(&text);
            for part in html.split("href=\"").skip(1) {
                let own = ["/o/", "/c/", "/e/", "/l/", "/g/", "?\"", "?previous=", "?container=", "/t\"", "/\"", "/?", "?since=", "?from=", "data:,\"", "#main\""];
                prop_assert!(own.iter().any(|own| part.starts_with(own)), "{part}");
            }
        }
    }
}
