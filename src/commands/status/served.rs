//! `ServedStatus`: the rows of `status` as snapshots, for readers that are not on a terminal.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::blocks::blocks;
use super::options::{HealthFilter, RowOptions};
use super::rows::StatusRow;
use super::state::StatusState;
use super::transitions::MetObjects;
use super::view::lines_below;
use crate::commands::LastLines;
use crate::object::Uid;
use crate::render::json::LastLinesRecord;
use crate::render::style::{Look, Styles, Symbols};
use crate::serve::{OwnState, ServedChange, ServedCluster, ServedRow, Snapshot, UnhealthyRow};
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
    met: MetObjects,
    rows: BTreeMap<Uid, Arc<ServedRow>>,
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
            met: MetObjects::default(),
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
        let label = Some(&self.cluster.label).filter(|_| self.is_of_several);
        let (mut changes, mut shown, mut held) = (Vec::new(), Vec::new(), BTreeMap::new());
        for row in &rows {
            let uid = row.object.identity();
            let was = self.rows.get(&uid);
            let place = ServedPlace {
                cluster: &self.cluster.name,
                label,
                was,
                now,
            };
            let kept = match was {
                Some(was) if is_same(was, row, place.cluster) => was.clone(),
                was if self.met.has_news(row, self.state.model.graph()) => {
                    let new = Arc::new(served(row, &place));
                    changes.push(RowChange {
                        row: new.clone(),
                        was: was.cloned(),
                    });
                    new
                }
                Some(was) => was.clone(),
                None => continue,
            };
            shown.push(kept.clone());
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
    held: &BTreeMap<Uid, Arc<ServedRow>>,
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
            row: served.clone(),
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
    was: Option<&'a Arc<ServedRow>>,
    now: Timestamp,
}

fn served(row: &StatusRow<'_>, place: &ServedPlace<'_>) -> ServedRow {
    let own = own_assessment(row);
    let was = place.was.filter(|was| was.own_assessment() == own);
    ServedRow {
        object_ref: row.object_ref(place.cluster),
        label: place.label.cloned(),
        assessment: row.assessment.clone(),
        time: place.now,
        owner: row.owner.as_ref().map(Uid::text),
        depth: row.depth,
        worst: row.worst(),
        last_changes: last_changes(row, place.cluster),
        last_lines: last_lines(row),
        created: row.created(),
        is_requested: row.is_requested,
        is_unhealthy: HealthFilter::Unhealthy.shows(row),
        own: (own != row.assessment).then(|| OwnState {
            assessment: own.clone(),
            is_unhealthy: !own.is_well() && !row.is_over(),
        }),
        own_time: was.map_or(place.now, |was| was.own_time),
    }
}

/// Whether the row that readers have says the same.
fn is_same(was: &ServedRow, row: &StatusRow<'_>, cluster: &Arc<str>) -> bool {
    was.assessment == *row.assessment
        && was.own_assessment() == own_assessment(row)
        && was.worst == row.worst()
        && was.depth == row.depth
        && was.owner.as_deref() == row.owner.as_ref().map(Uid::as_str)
        && was.last_changes == last_changes(row, cluster)
        && was.last_lines == last_lines(row)
}

fn last_changes(row: &StatusRow<'_>, cluster: &Arc<str>) -> Vec<ServedChange> {
    let changes = row.last_changes.iter().map(|change| ServedChange {
        record: change.record(cluster),
        text: change.dated_text(),
    });
    changes.collect()
}

fn last_lines(row: &StatusRow<'_>) -> Vec<LastLinesRecord> {
    row.last_lines.iter().map(LastLines::record).collect()
}
