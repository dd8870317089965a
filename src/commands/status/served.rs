//! `ServedStatus`: the rows of `status` as snapshots, for readers that are not on a terminal.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::blocks::blocks;
use super::options::{HealthFilter, RowOptions};
use super::rows::StatusRow;
use super::state::StatusState;
use super::transitions::Transitions;
use super::view::lines_below;
use crate::commands::{LastChange, LastLines};
use crate::object::Uid;
use crate::render::age::rfc3339_millis;
use crate::render::json::status::StatusRecord;
use crate::render::style::{Look, Styles, Symbols};
use crate::serve::{OwnState, ServedCluster, ServedRow, Snapshot, UnhealthyRow};
use crate::source::{ClusterId, Scope, SourceKey};
use crate::status::Assessment;

/// How lines look that are no terminal's.
pub(in crate::commands) const PLAIN: Look = Look {
    width: None,
    styles: Styles::PLAIN,
    symbols: &Symbols::UNICODE,
};

/// The state, and the rows that readers have of it.
#[derive(Debug)]
pub(in crate::commands) struct ServedStatus {
    pub(in crate::commands) state: StatusState,
    pub(in crate::commands) cluster: ServedCluster,
    /// Whether rows have the short name of the cluster.
    is_of_several: bool,
    transitions: Transitions,
    rows: BTreeMap<Uid, HeldRow>,
}

/// A row that readers have, and the assessment of its object alone.
#[derive(Clone, Debug)]
struct HeldRow {
    row: Arc<ServedRow>,
    own: Arc<Assessment>,
}

/// The changes since the last publication, and everything after them.
pub(in crate::commands) struct Publication {
    pub(in crate::commands) changes: Vec<RowChange>,
    pub(in crate::commands) snapshot: Snapshot,
}

/// An object that is new or has changed.
#[derive(Debug)]
pub(in crate::commands) struct RowChange {
    pub(in crate::commands) row: Arc<ServedRow>,
    /// Its row before; `None` for a new object.
    pub(in crate::commands) was: Option<Arc<ServedRow>>,
}

impl ServedStatus {
    /// The rows of this state of the only cluster, none of which was served yet.
    pub(in crate::commands) fn only(state: StatusState, cluster: &ClusterId) -> ServedStatus {
        let cluster = ServedCluster::alone(cluster.0.clone());
        ServedStatus {
            is_of_several: false,
            ..ServedStatus::one_of_several(state, cluster)
        }
    }

    /// The same of one of several clusters.
    pub(in crate::commands) fn one_of_several(
        state: StatusState,
        cluster: ServedCluster,
    ) -> ServedStatus {
        ServedStatus {
            state,
            cluster,
            is_of_several: true,
            transitions: Transitions::new(RowOptions::default()),
            rows: BTreeMap::new(),
        }
    }

    /// A snapshot without rows: nothing is read yet.
    pub(in crate::commands) fn empty_snapshot(&self) -> Snapshot {
        Snapshot {
            cluster: self.cluster.name.clone(),
            clusters: vec![self.cluster.clone()],
            place: place(&self.state).into(),
            ..Snapshot::default()
        }
    }

    /// The rows that are new or have changed since the last call, and all rows. The tree of the objects is walked once.
    pub(in crate::commands) fn publish(&mut self, now: Timestamp) -> Publication {
        let rows = self.state.rows();
        let mut due: BTreeSet<Uid> = BTreeSet::new();
        self.transitions.take_rows(&self.state, &rows, |row, _| {
            due.insert(row.object.identity());
            None::<String>
        });
        let label = Some(&self.cluster.label).filter(|_| self.is_of_several);
        let (mut changes, mut shown, mut held) = (Vec::new(), Vec::new(), BTreeMap::new());
        for row in &rows {
            let uid = row.object.identity();
            let was = self.rows.get(&uid);
            let own = own_assessment(row);
            let is_due = due.contains(&uid) || was.is_some_and(|was| was.own != *own);
            let kept = match was {
                Some(was) if !is_due => was.clone(),
                None if !is_due => continue,
                was => {
                    let place = ServedPlace {
                        cluster: &self.cluster.name,
                        label,
                        was,
                        now,
                    };
                    let new = HeldRow {
                        row: Arc::new(served(row, &place)),
                        own: own.clone(),
                    };
                    changes.push(RowChange {
                        row: new.row.clone(),
                        was: was.map(|was| was.row.clone()),
                    });
                    new
                }
            };
            shown.push(kept.row.clone());
            held.insert(uid, kept);
        }
        let unhealthy = unhealthy(rows, &held, &self.state);
        self.rows = held;
        let snapshot = Snapshot {
            rows: shown,
            unhealthy,
            shortfalls: self.shortfalls(),
            ..self.empty_snapshot()
        };
        Publication { changes, snapshot }
    }

    /// What the rows lack, one line each.
    fn shortfalls(&self) -> Vec<String> {
        let state = &self.state;
        let lines = lines_below(state, RowOptions::default()).into_iter();
        lines.map(|line| line.to_string()).collect()
    }
}

/// The flags for the place of the requested objects.
fn place(state: &StatusState) -> String {
    let mut namespaces = state.requested().iter().filter_map(SourceKey::namespace);
    let is_everywhere = |key: &SourceKey| key.scope == Scope::Cluster && key.resource.namespaced;
    match namespaces.next() {
        _ if state.requested().iter().any(is_everywhere) => "-A".to_owned(),
        Some(namespace) => format!("-n {namespace}"),
        None => String::new(),
    }
}

/// The rows of `status --unhealthy`.
fn unhealthy(
    rows: Vec<StatusRow<'_>>,
    held: &BTreeMap<Uid, HeldRow>,
    state: &StatusState,
) -> Vec<UnhealthyRow> {
    let health = HealthFilter::Unhealthy;
    let rows = health.without_departed(rows.into());
    let rows = blocks(health.select(rows), &state.model, health);
    let unhealthy = rows.shown.iter().filter_map(|row| {
        let served = held.get(&row.object.identity())?;
        let alike = row.repetition.alike;
        let alike = (alike > 0).then(|| format!("{alike} more like this"));
        let others = row.repetition.text(row.object.namespace.as_deref());
        Some(UnhealthyRow {
            row: served.row.clone(),
            depth: row.depth,
            beside: alike.into_iter().chain(others).collect(),
        })
    });
    unhealthy.collect()
}

/// The assessment of the object of a row alone. One that was never there has no other.
fn own_assessment<'a>(row: &StatusRow<'a>) -> &'a Arc<Assessment> {
    row.known.map_or(row.assessment, |known| &known.own)
}

/// What a row is made for.
struct ServedPlace<'a> {
    cluster: &'a Arc<str>,
    /// The short name of the cluster, if there are several.
    label: Option<&'a Arc<str>>,
    was: Option<&'a HeldRow>,
    now: Timestamp,
}

fn served(row: &StatusRow<'_>, place: &ServedPlace<'_>) -> ServedRow {
    let (cluster, now) = (place.cluster, place.now);
    let own = own_assessment(row);
    let own_time = match place.was.filter(|was| was.own == *own) {
        Some(was) => was.row.own_time.clone(),
        None => rfc3339_millis(now).into(),
    };
    let changes = row.last_changes.iter();
    ServedRow {
        record: row.record(cluster, now).explained(row.assessment),
        label: place.label.cloned(),
        status: row.assessment.status(),
        lines: row.assessment.lines().map(str::to_owned).collect(),
        changes: changes.map(LastChange::dated_text).collect(),
        last_lines: row.last_lines.iter().flat_map(LastLines::texts).collect(),
        created: row.created(),
        is_requested: row.is_requested,
        is_unhealthy: HealthFilter::Unhealthy.shows(row),
        own: (own != row.assessment).then(|| Box::new(own_state(row, own, place))),
        own_time,
    }
}

/// The state of an object that nothing around it decides.
fn own_state(row: &StatusRow<'_>, own: &Arc<Assessment>, place: &ServedPlace<'_>) -> OwnState {
    let record = StatusRecord::new(place.cluster.clone(), &row.object, own, place.now);
    OwnState {
        record: record.explained(own),
        status: own.status(),
        lines: own.lines().map(str::to_owned).collect(),
        is_unhealthy: !own.is_well() && !row.is_over(),
    }
}
