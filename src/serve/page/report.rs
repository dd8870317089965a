//! `Report`: a page about what a verb has answered: the changes of an object, its graph, or a timeline.

use jiff::SignedDuration;
use maud::{Markup, html};

use super::Shown;
use super::changes::changes;
use super::frame::{Frame, Section, copied};
use super::graph::graph;
use super::object_address::ObjectAddress;
use super::timeline::timeline;
use crate::serve::params::Params;
use crate::serve::snapshot::Snapshot;

/// A page about what a verb has answered. It does not follow the cluster.
pub(in crate::serve) enum Report<'r> {
    /// The versions of an object.
    Changes(&'r ObjectAddress),
    /// What an object is connected to.
    Graph(&'r ObjectAddress),
    /// The versions of all objects that changed, so long ago at most.
    Timeline(SignedDuration),
}

/// The times that a timeline and the versions of an object offer.
const TIMES: [&str; 5] = ["10m", "1h", "6h", "1d", "3d"];

impl Report<'_> {
    /// The page for these records. `query` has the parameters of its address.
    pub(in crate::serve) fn page(
        &self,
        records: &str,
        query: &Params,
        snapshot: &Snapshot,
    ) -> Markup {
        let (title, main) = match self {
            Report::Changes(address) => (
                format!("Changes of {}", address.display()),
                html! { (path(address)) (times(query)) (changes(records)) (copied(&address.command("changes"))) },
            ),
            Report::Graph(address) => {
                let graph = graph(records, address);
                let graph =
                    graph.unwrap_or_else(|| html! { p.empty { "The graph could not be read." } });
                let title = format!("Graph of {}", address.display());
                (
                    title,
                    html! { (path(address)) (graph) (copied(&address.command("trace"))) },
                )
            }
            Report::Timeline(length) => (
                "Timeline".to_owned(),
                html! { (times(query)) (timeline(records, *length)) },
            ),
        };
        let frame = Frame {
            title: &title,
            section: match self {
                Report::Timeline(_) => Section::Timeline,
                Report::Changes(_) | Report::Graph(_) => Section::Other,
            },
            snapshot: Some(snapshot),
            live: None,
            search: "",
        };
        frame.around(&html! { h1 { (Shown(&title)) } (main) })
    }
}

fn path(address: &ObjectAddress) -> Markup {
    html! {
        nav.path aria-label="Object" {
            a href="/" { "Now" } " › " a href=(address.path("o")) { (Shown(&address.display())) }
        }
        nav.chips aria-label="Views" {
            a href=(address.path("c")) { "Changes" }
            a href=(address.path("g")) { "Graph" }
        }
    }
}

/// Links to the same page over other times.
fn times(query: &Params) -> Markup {
    let chosen = query.first("since");
    html! {
        nav.chips aria-label="Times" {
            @for time in TIMES {
                a href=(format!("?{}", query.with("since", time))) aria-current=[(chosen == Some(time)).then_some("true")] { (time) }
            }
        }
    }
}
