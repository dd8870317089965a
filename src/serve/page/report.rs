//! `Report`: a page about what a verb has answered: the changes of an object, its graph, or a timeline.

use jiff::SignedDuration;
use maud::{Markup, html};

use super::changes::changes;
use super::graph::graph;
use super::object_address::ObjectAddress;
use super::timeline::timeline;
use super::{Shown, simple};
use crate::serve::params::Params;

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
    pub(in crate::serve) fn page(&self, records: &str, query: &Params) -> Markup {
        let (title, main) = match self {
            Report::Changes(address) => (
                format!("Changes of {}", address.display()),
                html! { (path(address)) (times(query)) (changes(records)) (copied(address, "changes")) },
            ),
            Report::Graph(address) => {
                let graph = graph(records, address);
                let graph =
                    graph.unwrap_or_else(|| html! { p.empty { "The graph could not be read." } });
                let title = format!("Graph of {}", address.display());
                (
                    title,
                    html! { (path(address)) (graph) (copied(address, "trace")) },
                )
            }
            Report::Timeline(length) => (
                "Timeline".to_owned(),
                html! { (times(query)) (timeline(records, *length)) },
            ),
        };
        simple(&title, &html! { h1 { (Shown(&title)) } (main) })
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

/// The command that shows the same.
fn copied(address: &ObjectAddress, verb: &str) -> Markup {
    let command = address.command(verb);
    html! { p.command { code { (command) } " " button type="button" data-copy=(command) hidden { "Copy" } } }
}
