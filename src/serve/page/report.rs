//! `Report`: a page about what a verb has answered: the changes of an object, its Events, logs and graph, its state at an earlier
//! time, or a timeline.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::changes::changes;
use super::events::events;
use super::frame::{PageFrame, as_of, copied, parts, path_begin};
use super::graph::graph;
use super::logs::logs;
use super::object_address::ObjectAddress;
use super::past_tree::past_tree;
use super::timeline::{TimelineTime, timeline};
use super::{Section, Shown};
use crate::render::text::{escape_line, shell_word};
use crate::serve::params::{CLUSTER, Params};
use crate::serve::snapshot::Snapshot;

/// A page about what a verb has answered. It does not follow the cluster.
pub(in crate::serve) enum Report<'r> {
    /// The versions of an object.
    Changes(&'r ObjectAddress),
    /// The Events about an object and its dependents, which have these names.
    Events(&'r ObjectAddress, &'r BTreeSet<String>),
    /// What the containers of an object printed last.
    Logs(&'r ObjectAddress),
    /// What an object is connected to.
    Graph(&'r ObjectAddress),
    /// An object and what it owned at a time, as the reader wrote it.
    Past(&'r ObjectAddress, &'r str),
    /// The versions of all objects that changed in this time.
    Timeline(TimelineTime),
}

/// What a verb has answered.
#[derive(Clone, Copy)]
pub(in crate::serve) struct ReportedRecords<'r> {
    /// The records, one on each line.
    pub(in crate::serve) records: &'r str,
    /// Why they are not all.
    pub(in crate::serve) error: Option<&'r str>,
}

/// How far back a timeline begins, if the reader chooses nothing.
pub(in crate::serve) const TIMELINE: &str = "1h";

/// The times that a timeline and the versions of an object offer.
const TIMES: [&str; 5] = ["10m", "1h", "6h", "1d", "3d"];

impl Report<'_> {
    /// The page for these records. `query` has the parameters of its address.
    pub(in crate::serve) fn page(
        &self,
        answer: &ReportedRecords<'_>,
        query: &Params,
        snapshot: &Snapshot,
    ) -> Markup {
        let heading = self.heading();
        let cluster = self.address().map(|address| address.cluster.clone());
        let cluster = cluster.unwrap_or_else(|| snapshot.cluster_words());
        let frame = PageFrame {
            title: &format!("{heading} · {cluster}"),
            section: match self.address() {
                Some(_) => Section::Other,
                None => Section::Timeline,
            },
            snapshot: Some(snapshot),
            live: None,
            search: "",
        };
        frame.around(&html! {
            h1 { (Shown(&heading)) }
            @if let Some(address) = self.address() { (path(address, snapshot)) (parts(address, self.letter())) }
            div.report {
                @if let Some(error) = answer.error { p.problem { (Shown(error)) } }
                (self.content(answer.records, query, snapshot))
            }
        })
    }

    /// The object that it is about; `None` for several.
    fn address(&self) -> Option<&ObjectAddress> {
        match self {
            Report::Changes(address)
            | Report::Events(address, _)
            | Report::Logs(address)
            | Report::Graph(address)
            | Report::Past(address, _) => Some(address),
            Report::Timeline(_) => None,
        }
    }

    /// The first letter of its address.
    fn letter(&self) -> &'static str {
        match self {
            Report::Changes(_) => "c",
            Report::Events(..) => "e",
            Report::Logs(_) => "l",
            Report::Graph(_) => "g",
            // The page of an object shows it now.
            Report::Past(..) => "",
            Report::Timeline(_) => "t",
        }
    }

    fn heading(&self) -> String {
        let words = match self {
            Report::Changes(_) => "Changes of",
            Report::Events(..) => "Events about",
            Report::Logs(_) => "Logs of",
            Report::Graph(_) => "Graph of",
            Report::Past(..) => "Earlier state of",
            Report::Timeline(_) => "Timeline",
        };
        match self.address() {
            Some(address) => format!("{words} {}", address.display()),
            None => words.to_owned(),
        }
    }

    /// What the records say, and the command that shows the same.
    fn content(&self, records: &str, query: &Params, snapshot: &Snapshot) -> Markup {
        match self {
            Report::Changes(address) => html! {
                (times(query)) (changes(records))
                (copied(&with_flags(address.command("changes"), query, &["since"])))
            },
            Report::Events(address, names) => html! {
                (times(query)) (events(records, names))
                p { "All Events of the namespace:" } (copied(&events_command(address, query)))
            },
            Report::Logs(address) => html! {
                (logs(records, query))
                (copied(&with_flags(address.command("logs"), query, &["container", "previous", "tail"])))
            },
            Report::Graph(address) => html! {
                @match graph(records, address) {
                    Some(graph) => (graph),
                    None => p.empty { "The graph could not be read." },
                }
                (copied(&address.command("trace")))
            },
            Report::Past(address, at) => html! {
                p { "as of " (Shown(at)) }
                (as_of(address, Some(at)))
                @match past_tree(records, address) {
                    Some(tree) => (tree),
                    None => p.empty { "The object did not exist then." },
                }
                (copied(&format!("{} --at {}", address.command("status"), shell_word(at))))
            },
            Report::Timeline(time) => html! {
                (clusters(query, snapshot)) (times(query)) (timeline(records, *time, query, snapshot))
                (copied(&timeline_command(snapshot, query)))
            },
        }
    }
}

fn path(address: &ObjectAddress, snapshot: &Snapshot) -> Markup {
    html! {
        nav.path aria-label="Object" {
            (path_begin(&address.cluster, snapshot)) " › " a href=(address.path("o")) { (Shown(&address.display())) }
        }
    }
}

/// The command that shows the Events of the namespace of an object.
fn events_command(address: &ObjectAddress, query: &Params) -> String {
    let since = shell_word(query.first("since").unwrap_or(TIMELINE));
    let namespace = shell_word(address.event_namespace());
    let context = shell_word(&address.cluster);
    format!("kubectl spy changes events --since {since} -n {namespace} --context {context}")
}

/// A command with those of these flags that the reader has chosen as parameters of the page.
fn with_flags(command: String, query: &Params, names: &[&str]) -> String {
    let chosen = names
        .iter()
        .filter_map(|name| Some((name, query.first(name).filter(|it| !it.is_empty())?)));
    chosen.fold(command, |command, (name, value)| {
        format!("{command} --{name}={}", shell_word(value))
    })
}

/// The command that shows the changes of a timeline.
fn timeline_command(snapshot: &Snapshot, query: &Params) -> String {
    let since = query.first("from").or(query.first("since"));
    let since = shell_word(since.unwrap_or(TIMELINE));
    let place = match query.namespace() {
        Some(namespace) => format!("-n {}", shell_word(namespace)),
        None => escape_line(&snapshot.place).into_owned(),
    };
    let context = query.first(CLUSTER).filter(|name| !name.is_empty());
    let context = shell_word(context.unwrap_or(&snapshot.cluster));
    format!("kubectl spy changes --since {since} {place} --context {context}")
}

/// Links to the same page of one cluster, if there are several.
fn clusters(query: &Params, snapshot: &Snapshot) -> Markup {
    let chosen = query.first(CLUSTER).filter(|name| !name.is_empty());
    let is_chosen = |name: &str| chosen == Some(name);
    html! {
        @if snapshot.is_of_several() {
            nav.chips aria-label="Clusters" {
                a href=(query.with(CLUSTER, "")) aria-current=[chosen.is_none().then_some("true")] { "every cluster" }
                @for cluster in &snapshot.clusters {
                    a href=(query.with(CLUSTER, &cluster.name)) aria-current=[is_chosen(&cluster.name).then_some("true")] {
                        (Shown(&cluster.name))
                    }
                }
            }
        }
    }
}

/// Links to the same page over other times.
fn times(query: &Params) -> Markup {
    let chosen = query.first("since");
    html! {
        nav.chips aria-label="Times" {
            @for time in TIMES {
                a href=(query.since(time)) aria-current=[(chosen == Some(time)).then_some("true")] { (time) }
            }
        }
    }
}
