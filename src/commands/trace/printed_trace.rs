//! `PrintedTrace`: one trace, and what was printed of it, in the formats of `--output`.

use jiff::Timestamp;

use super::chain::Chain;
use super::record;
use super::traced::Presence;
use crate::commands::{Ending, LastChange};
use crate::render::age;
use crate::render::canvas::Canvas;
use crate::render::graph::{dot, mermaid};
use crate::render::json::trace::GraphRecord;
use crate::render::text::Text;
use crate::source::{ClusterId, SourceKey};
use crate::status::Status;

/// The values of `--output`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum TraceFormat {
    /// A live view; without a terminal, one line for each change
    #[default]
    Text,
    /// The whole graph as one JSON record per line, for each change
    Json,
    /// The graph for Graphviz, once
    Dot,
    /// The graph as a Mermaid flowchart, once
    Mermaid,
}

/// One trace, and what was printed of it.
pub(super) struct PrintedTrace {
    pub(super) chain: Box<dyn Chain>,
    transitions: TraceTransitions,
    /// The cluster, of several.
    cluster: Option<ClusterId>,
    /// The last record, so that none is printed twice.
    record: Option<GraphRecord>,
    /// Whether the absence of the object was reported.
    reported_absent: bool,
}

impl PrintedTrace {
    pub(super) fn new(chain: Box<dyn Chain>) -> PrintedTrace {
        PrintedTrace {
            chain,
            transitions: TraceTransitions::default(),
            cluster: None,
            record: None,
            reported_absent: false,
        }
    }

    /// The same, in one cluster of several.
    pub(super) fn of_cluster(self, cluster: &ClusterId) -> PrintedTrace {
        PrintedTrace {
            transitions: TraceTransitions::of_cluster(cluster),
            cluster: Some(cluster.clone()),
            ..self
        }
    }

    /// The source of an object that does not exist, once.
    pub(super) fn take_absence(&mut self) -> Option<SourceKey> {
        let traced = self.chain.traced();
        let is_absent = traced.presence == Presence::Absent;
        let was_reported = std::mem::replace(&mut self.reported_absent, is_absent);
        (is_absent && !was_reported).then(|| traced.source.clone())
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = &SourceKey> {
        self.chain.traced().model.sources()
    }

    /// What is new since the last print, in a format.
    pub(super) fn new_lines(
        &mut self,
        format: TraceFormat,
        ending: Ending,
        canvas: Canvas,
    ) -> Vec<Text> {
        let lines: Vec<String> = match (format, ending) {
            (TraceFormat::Json, _) => {
                let time = age::rfc3339_millis(canvas.now);
                let graph = self.new_record();
                graph.iter().map(|graph| graph.line(&time)).collect()
            }
            (TraceFormat::Dot, _) => {
                let graph = self.new_record();
                let lines = graph.iter().flat_map(dot);
                self.comment("//").into_iter().chain(lines).collect()
            }
            (TraceFormat::Mermaid, _) => {
                let graph = self.new_record();
                let lines = graph.iter().flat_map(mermaid);
                self.comment("%%").into_iter().chain(lines).collect()
            }
            (TraceFormat::Text, Ending::Never) => {
                return self.transitions.lines(&mut *self.chain, canvas.now);
            }
            (TraceFormat::Text, Ending::Once) => return self.chain.frame(canvas),
        };
        lines.into_iter().map(Text::from).collect()
    }

    /// The comment that names one cluster of several, after these characters.
    fn comment(&self, begin: &str) -> Option<String> {
        let cluster = self.cluster.as_ref()?;
        Some(format!("{begin} cluster: {}", cluster.0))
    }

    /// The graph, if it is another one than last time.
    fn new_record(&mut self) -> Option<GraphRecord> {
        let graph = record::graph(&*self.chain);
        if self.record.as_ref() == Some(&graph) {
            return None;
        }
        self.record = Some(graph.clone());
        Some(graph)
    }
}

/// The state that was printed last, to print only changes.
#[derive(Default)]
pub(super) struct TraceTransitions {
    /// The cluster, of several.
    cluster: Option<ClusterId>,
    /// The state and the stage of the headline.
    headline: Option<(Status, String)>,
    last_changes: Vec<LastChange>,
}

impl TraceTransitions {
    /// Nothing was printed yet of an object in one cluster of several.
    pub(super) fn of_cluster(cluster: &ClusterId) -> TraceTransitions {
        TraceTransitions {
            cluster: Some(cluster.clone()),
            ..TraceTransitions::default()
        }
    }

    /// A line for each change since the last call, with the time and, of several, the cluster: the parts of the chain, then the headline, then what
    /// changed before the object failed.
    pub(super) fn lines(&mut self, chain: &mut dyn Chain, now: Timestamp) -> Vec<Text> {
        let mut changes = chain.changes();
        let headline = chain.headline();
        let text = headline.text();
        // The lines before it show the counts, so only a new stage is worth a line.
        let reached = Some((headline.status, headline.stage));
        if reached != self.headline {
            let object = chain.traced().object();
            changes.push(format!("{object} {}: {text}", headline.status));
            self.headline = reached;
        }
        let traced = chain.traced();
        let new = traced.last_changes.iter();
        let new = new.filter(|change| !self.last_changes.contains(change));
        let object = traced.object();
        let assessment = traced.uid().and_then(|uid| traced.assessment(uid));
        let texts = new.filter_map(|change| Some(change.log_text(assessment?)));
        changes.extend(texts.map(|text| format!("{object} {text}")));
        self.last_changes.clone_from(&traced.last_changes);
        let time = age::rfc3339(now);
        let cluster = self
            .cluster
            .as_ref()
            .map(|cluster| format!("{} ", cluster.0));
        let cluster = cluster.unwrap_or_default();
        changes
            .iter()
            .map(|change| Text::from(format!("{time} {cluster}{change}")))
            .collect()
    }
}
