//! The metrics, in the text format of Prometheus
//! (<https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format>).

use std::collections::BTreeMap;

use super::board::Board;
use super::gate::Denial;
use super::metrics_text::MetricsText;
use super::package_metrics::package_metrics;
use super::snapshot::Snapshot;

/// What the server itself counts, beside the board.
#[derive(Clone, Debug, Default)]
pub struct ServerCounts {
    /// The open streams.
    pub readers: usize,
    /// The refused requests, in the order of [`Denial::ALL`].
    pub denied: [u64; Denial::ALL.len()],
    /// The sinks by their names.
    pub sinks: BTreeMap<String, SinkCounts>,
}

/// What is waiting for a sink and what was sent to it since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SinkCounts {
    /// The messages that wait, held ones included.
    pub waiting: u64,
    /// The messages that the receiver has taken.
    pub delivered: u64,
    /// The attempts that failed. Their messages are sent again.
    pub failed: u64,
    /// The messages that the receiver refused. They are skipped.
    pub refused: u64,
    /// The messages that made room, because they were too old or too many.
    pub dropped: u64,
}

/// All metrics of a board as one text.
pub fn metrics(board: &Board, counts: &ServerCounts) -> String {
    let mut text = MetricsText(String::new());
    object_metrics(&mut text, &board.snapshot);
    let name = "spy_status_transitions_total";
    text.family(name, "counter", "Changes of state since the start.");
    for (transition, count) in &board.totals.transitions {
        let labels = [
            ("cluster", &*transition.cluster),
            ("kind", &*transition.kind),
            ("from", transition.from),
            ("to", transition.to),
        ];
        text.sample(name, &labels, *count);
    }
    source_metrics(&mut text, board);
    text.family("spy_readers", "gauge", "The open streams of readers.");
    text.sample("spy_readers", &[], counts.readers as u64);
    let help = "Refused requests, by reason.";
    text.family("spy_denied_total", "counter", help);
    for (denial, count) in Denial::ALL.iter().zip(counts.denied) {
        text.sample("spy_denied_total", &[("reason", denial.name())], count);
    }
    package_metrics(&mut text, &board.snapshot.packages);
    sink_metrics(&mut text, &counts.sinks);
    text.0
}

/// The objects by state, and the clusters.
fn object_metrics(text: &mut MetricsText, snapshot: &Snapshot) {
    text.family("spy_objects", "gauge", "The followed objects by state.");
    let mut objects: BTreeMap<[&str; 4], u64> = BTreeMap::new();
    for row in &snapshot.rows {
        let object = &row.object_ref;
        let (group, status) = (row.group(), row.status().as_str());
        let key = [&*object.cluster, group, &*object.kind, status];
        *objects.entry(key).or_default() += 1;
    }
    for (values, count) in objects {
        let names = ["cluster", "group", "kind", "status"];
        let labels: Vec<(&str, &str)> = names.into_iter().zip(values).collect();
        text.sample("spy_objects", &labels, count);
    }
    let help = "Whether all objects of a cluster are read and up to date.";
    text.family("spy_cluster_up", "gauge", help);
    for cluster in &snapshot.clusters {
        let is_up = cluster.is_read && cluster.trouble.is_none();
        let labels = [("cluster", &*cluster.name)];
        text.sample("spy_cluster_up", &labels, u64::from(is_up));
    }
}

/// The followed sources, and how often they were interrupted.
fn source_metrics(text: &mut MetricsText, board: &Board) {
    let help = "Whether the objects of a source are up to date.";
    text.family("spy_watch_up", "gauge", help);
    for source in &board.snapshot.sources {
        let labels = [
            ("cluster", &*source.cluster),
            ("resource", &*source.resource),
            ("namespace", &*source.namespace),
        ];
        text.sample("spy_watch_up", &labels, u64::from(source.is_up));
    }
    let name = "spy_watch_restarts_total";
    text.family(name, "counter", "Watches that were interrupted, by reason.");
    for ((cluster, reason), count) in &board.totals.restarts {
        text.sample(name, &[("cluster", cluster), ("reason", reason)], *count);
    }
    let help = "Times in which versions may have been missed, by cause.";
    text.family("spy_gaps_total", "counter", help);
    for ((cluster, cause), count) in &board.totals.gaps {
        let labels = [("cluster", &**cluster), ("cause", *cause)];
        text.sample("spy_gaps_total", &labels, *count);
    }
}

/// A metric of sinks: its name, its type, its help and its value.
type SinkMetric = (
    &'static str,
    &'static str,
    &'static str,
    fn(&SinkCounts) -> u64,
);

const SINK_METRICS: [SinkMetric; 5] = [
    (
        "spy_sink_lag",
        "gauge",
        "The messages that wait for a sink.",
        |it| it.waiting,
    ),
    (
        "spy_sink_delivered_total",
        "counter",
        "The messages that a sink has taken.",
        |it| it.delivered,
    ),
    (
        "spy_sink_failed_total",
        "counter",
        "Failed attempts, which are repeated.",
        |it| it.failed,
    ),
    (
        "spy_sink_refused_total",
        "counter",
        "Messages that a sink refused; they are skipped.",
        |it| it.refused,
    ),
    (
        "spy_sink_dropped_total",
        "counter",
        "Messages that were too old or too many.",
        |it| it.dropped,
    ),
];

fn sink_metrics(text: &mut MetricsText, sinks: &BTreeMap<String, SinkCounts>) {
    for (name, kind, help, value) in SINK_METRICS.iter().filter(|_| !sinks.is_empty()) {
        text.family(name, kind, help);
        for (sink, counts) in sinks {
            text.sample(name, &[("sink", sink)], value(counts));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use insta::assert_snapshot;

    use super::super::snapshot::SourceHealth;
    use super::super::snapshot::testing::{failed_pod, snapshot};
    use super::*;
    use crate::status::Status;

    #[test]
    fn every_metric_has_a_type_and_labels() {
        let mut well = failed_pod("api", "");
        Arc::make_mut(&mut well.assessment).verdict.status = Status::Current;
        let mut snapshot = snapshot(vec![
            failed_pod("web", "it fails"),
            failed_pod("db", "it fails"),
        ]);
        snapshot.sources = vec![SourceHealth {
            cluster: "test".into(),
            resource: "pods".to_owned(),
            namespace: "shop".to_owned(),
            is_up: true,
        }];
        let board = Board::new(1, snapshot);
        board.send_modify(|board| {
            board.announce(
                &Arc::new(failed_pod("api", "it fails")),
                Some(&Arc::new(well)),
            );
            let expired = ("test".into(), "expired");
            board.totals.restarts.insert(expired.clone(), 2);
            board.totals.gaps.insert(expired, 1);
        });
        let counts = ServerCounts {
            readers: 3,
            denied: [0, 0, 0, 0, 5],
            sinks: BTreeMap::new(),
        };
        assert_snapshot!(metrics(&board.borrow(), &counts), @r#"
        # HELP spy_objects The followed objects by state.
        # TYPE spy_objects gauge
        spy_objects{cluster="test",group="",kind="Pod",status="Failed"} 2
        # HELP spy_cluster_up Whether all objects of a cluster are read and up to date.
        # TYPE spy_cluster_up gauge
        spy_cluster_up{cluster="test"} 0
        # HELP spy_status_transitions_total Changes of state since the start.
        # TYPE spy_status_transitions_total counter
        spy_status_transitions_total{cluster="test",kind="Pod",from="Current",to="Failed"} 1
        # HELP spy_watch_up Whether the objects of a source are up to date.
        # TYPE spy_watch_up gauge
        spy_watch_up{cluster="test",resource="pods",namespace="shop"} 1
        # HELP spy_watch_restarts_total Watches that were interrupted, by reason.
        # TYPE spy_watch_restarts_total counter
        spy_watch_restarts_total{cluster="test",reason="expired"} 2
        # HELP spy_gaps_total Times in which versions may have been missed, by cause.
        # TYPE spy_gaps_total counter
        spy_gaps_total{cluster="test",cause="expired"} 1
        # HELP spy_readers The open streams of readers.
        # TYPE spy_readers gauge
        spy_readers 3
        # HELP spy_denied_total Refused requests, by reason.
        # TYPE spy_denied_total counter
        spy_denied_total{reason="method"} 0
        spy_denied_total{reason="host"} 0
        spy_denied_total{reason="origin"} 0
        spy_denied_total{reason="impersonation"} 0
        spy_denied_total{reason="token"} 5
        "#);
    }

    #[test]
    fn each_sink_has_its_counts() {
        let counts = SinkCounts {
            waiting: 2,
            delivered: 7,
            failed: 3,
            ..SinkCounts::default()
        };
        let mut text = MetricsText(String::new());
        sink_metrics(&mut text, &BTreeMap::from([("ops".to_owned(), counts)]));
        assert_snapshot!(text.0, @r#"
        # HELP spy_sink_lag The messages that wait for a sink.
        # TYPE spy_sink_lag gauge
        spy_sink_lag{sink="ops"} 2
        # HELP spy_sink_delivered_total The messages that a sink has taken.
        # TYPE spy_sink_delivered_total counter
        spy_sink_delivered_total{sink="ops"} 7
        # HELP spy_sink_failed_total Failed attempts, which are repeated.
        # TYPE spy_sink_failed_total counter
        spy_sink_failed_total{sink="ops"} 3
        # HELP spy_sink_refused_total Messages that a sink refused; they are skipped.
        # TYPE spy_sink_refused_total counter
        spy_sink_refused_total{sink="ops"} 0
        # HELP spy_sink_dropped_total Messages that were too old or too many.
        # TYPE spy_sink_dropped_total counter
        spy_sink_dropped_total{sink="ops"} 0
        "#);
    }
}
