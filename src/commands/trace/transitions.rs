//! The lines of a trace without a terminal: one for each change.

use jiff::Timestamp;

use super::chain::Chain;
use crate::commands::LastChange;
use crate::render::age;
use crate::render::text::Text;
use crate::source::ClusterId;
use crate::status::Status;

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
