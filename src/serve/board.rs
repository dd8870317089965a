//! `Board`: what one follower of a cluster publishes for all readers: the newest snapshot, the last events and the counts.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use tokio::sync::watch;

use super::event_ring::{EventRing, RingEvent};
use super::rights::{ReaderRights, SourcePlace};
use super::served_row::ServedRow;
use super::snapshot::Snapshot;
use crate::render::json::{VERSION, line};

/// The newest state, and how it came about. Readers look at it for a moment and never hold it while they wait.
#[derive(Debug)]
pub struct Board {
    /// The newest snapshot.
    pub snapshot: Arc<Snapshot>,
    /// The last events.
    pub ring: EventRing,
    /// The counts since the start.
    pub totals: Totals,
}

/// What has been counted since the start.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Changes of state.
    pub transitions: BTreeMap<Transition, u64>,
    /// Watches that were interrupted, by the cluster and the reason.
    pub restarts: BTreeMap<ClusterReason, u64>,
    /// Gaps, by their cause.
    pub gaps: BTreeMap<ClusterReason, u64>,
}

/// The name of a cluster, and a reason in one word.
pub type ClusterReason = (Arc<str>, &'static str);

/// A change of the state of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Transition {
    /// The cluster of the object.
    pub cluster: Arc<str>,
    /// The kind of the object.
    pub kind: Arc<str>,
    /// The state before.
    pub from: &'static str,
    /// The state after.
    pub to: &'static str,
}

/// A source whose state has changed, or that has missed versions.
#[derive(Clone, Debug, Serialize)]
pub struct SourceRecord<'a> {
    /// [`VERSION`].
    pub v: u32,
    /// When it happened, in RFC 3339.
    pub time: &'a str,
    /// The cluster.
    pub cluster: &'a str,
    /// The source: `deployments.apps in namespace "shop"`.
    pub source: &'a str,
    /// The name of its state, or `gap`.
    pub state: &'a str,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<&'a str>,
}

impl SourceRecord<'_> {
    /// The version of all records.
    pub const V: u32 = VERSION;
}

impl Board {
    /// A board without objects, for a run of the server with this epoch.
    pub fn new(epoch: u64, snapshot: Snapshot) -> watch::Sender<Board> {
        watch::Sender::new(Board {
            snapshot: Arc::new(snapshot),
            ring: EventRing::new(epoch),
            totals: Totals::default(),
        })
    }

    /// What a reader with these rights sees, without events. Counts since the start are of all objects, so he sees them only
    /// with the server's own rights.
    #[must_use]
    pub fn for_reader(&self, rights: &ReaderRights) -> Board {
        Board {
            snapshot: self.snapshot.for_reader(rights),
            ring: EventRing::new(self.ring.newest().epoch),
            totals: match rights {
                ReaderRights::Everything => self.totals.clone(),
                ReaderRights::Only(_) => Totals::default(),
            },
        }
    }

    /// Announces an object that is new or has changed. `was` is its row before.
    pub fn announce(&mut self, row: &Arc<ServedRow>, was: Option<&Arc<ServedRow>>) {
        if let Some(was) = was.filter(|was| was.status() != row.status()) {
            let transition = Transition {
                cluster: row.object_ref.cluster.clone(),
                kind: row.object_ref.kind.clone(),
                from: was.status().as_str(),
                to: row.status().as_str(),
            };
            *self.totals.transitions.entry(transition).or_default() += 1;
        }
        self.ring.push(RingEvent::of_object(row, was));
    }

    /// Announces that the source of this place has another state, or has missed versions.
    pub fn announce_source(&mut self, record: &SourceRecord<'_>, place: SourcePlace) {
        self.ring.push(RingEvent::of_source(place, line(record)));
    }
}
