//! `ServedStatus`: the rows of `status` as snapshots, for readers that are not on a terminal.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::blocks::blocks;
use super::options::{HealthFilter, RowOptions};
use super::rows::{StatusRow, StatusRows};
use super::state::StatusState;
use super::transitions::Transitions;
use super::view::lines_below;
use crate::commands::{LastChange, LastLines};
use crate::object::Uid;
use crate::render::json::status::{StatusRecord, TreePlace};
use crate::render::style::{Look, Styles, Symbols};
use crate::serve::{ServedRow, Snapshot, UnhealthyRow};
use crate::source::{Scope, SourceKey};

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
    transitions: Transitions,
    rows: BTreeMap<Uid, Arc<ServedRow>>,
}

/// An object that is new or has changed.
#[derive(Debug)]
pub(in crate::commands) struct RowChange {
    /// Its row now.
    pub(in crate::commands) row: Arc<ServedRow>,
    /// Its row before; `None` for a new object.
    pub(in crate::commands) was: Option<Arc<ServedRow>>,
}

impl ServedStatus {
    /// The rows of this state, none of which was served yet.
    pub(in crate::commands) fn new(state: StatusState) -> ServedStatus {
        ServedStatus {
            state,
            transitions: Transitions::new(RowOptions::default()),
            rows: BTreeMap::new(),
        }
    }

    /// A snapshot without rows: nothing is read yet.
    pub(in crate::commands) fn empty_snapshot(&self) -> Snapshot {
        Snapshot {
            cluster: cluster(&self.state),
            place: place(&self.state).into(),
            ..Snapshot::default()
        }
    }

    /// The rows that are new or have changed since the last call.
    pub(in crate::commands) fn changes(&mut self, now: Timestamp) -> Vec<RowChange> {
        let cluster = cluster(&self.state);
        let mut changed: Vec<RowChange> = Vec::new();
        let rows = &self.rows;
        self.transitions.take(&self.state, |row, _| {
            let served = Arc::new(served(row, &cluster, now));
            let was = rows.get(&row.object.identity()).cloned();
            changed.push(RowChange { row: served, was });
            None::<String>
        });
        changed
    }

    /// Everything after these changes.
    pub(in crate::commands) fn snapshot(&mut self, changes: &[RowChange]) -> Snapshot {
        for change in changes {
            let uid = Uid::new(change.row.id());
            self.rows.insert(uid, change.row.clone());
        }
        let rows = StatusRows::from(self.state.rows());
        let in_order = rows.shown.iter().map(|row| row.object.identity());
        let in_order: Vec<Uid> = in_order.collect();
        let mut kept = BTreeMap::new();
        let mut shown = Vec::new();
        for uid in in_order {
            if let Some(row) = self.rows.remove(&uid) {
                shown.push(row.clone());
                kept.insert(uid, row);
            }
        }
        self.rows = kept;
        let unhealthy = self.unhealthy();
        Snapshot {
            rows: shown,
            unhealthy,
            shortfalls: self.shortfalls(),
            ..self.empty_snapshot()
        }
    }

    /// The rows of `status --unhealthy`.
    fn unhealthy(&self) -> Vec<UnhealthyRow> {
        let health = HealthFilter::Unhealthy;
        let rows = health.without_departed(self.state.rows().into());
        let rows = blocks(health.select(rows), &self.state.model, health);
        let unhealthy = rows.shown.iter().filter_map(|row| {
            let served = self.rows.get(&row.object.identity())?;
            let alike = row.repetition.alike;
            let alike = (alike > 0).then(|| format!("{alike} more like this"));
            let others = row.repetition.text(row.object.namespace.as_deref());
            Some(UnhealthyRow {
                row: served.clone(),
                depth: row.depth,
                beside: alike.into_iter().chain(others).collect(),
            })
        });
        unhealthy.collect()
    }

    /// What the rows lack, one line each.
    fn shortfalls(&self) -> Vec<String> {
        let state = &self.state;
        let lines = lines_below(state, RowOptions::default()).into_iter();
        lines.map(|line| line.to_string()).collect()
    }
}

/// The name of the cluster.
fn cluster(state: &StatusState) -> Arc<str> {
    let first = state.requested().first();
    first.map_or_else(Arc::default, |key| key.cluster.0.clone())
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

fn served(row: &StatusRow<'_>, cluster: &str, now: Timestamp) -> ServedRow {
    let place = TreePlace {
        owner: row.owner.as_ref(),
        depth: row.depth,
    };
    let record = StatusRecord::new(cluster, &row.object, row.assessment, now);
    let changes = row.last_changes.iter();
    ServedRow {
        record: StatusRecord {
            last_changes: changes
                .clone()
                .map(|change| change.record(cluster))
                .collect(),
            last_lines: row.last_lines.iter().map(LastLines::record).collect(),
            ..record.at(place, row.worst()).explained(row.assessment)
        },
        status: row.assessment.status(),
        lines: row.assessment.lines().map(str::to_owned).collect(),
        changes: changes.map(LastChange::dated_text).collect(),
        last_lines: row.last_lines.iter().flat_map(LastLines::texts).collect(),
        created: row.created(),
        is_requested: row.is_requested,
        is_unhealthy: HealthFilter::Unhealthy.shows(row),
    }
}
