//! The changes since the last print: lines for logs, and records for programs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::options::{HealthFilter, Idle, RowOptions};
use super::rows::StatusRow;
use super::state::StatusState;
use super::view::has_namespaces;
use crate::commands::{LastChange, LastLines};
use crate::graph::{Graph, Standing};
use crate::object::{ObjectRef, Uid};
use crate::render::age::rfc3339;
use crate::render::json::line;
use crate::render::text::Text;
use crate::source::SourceKey;
use crate::status::{Assessment, Status};

/// What was printed last of each object.
#[derive(Debug)]
pub(super) struct Transitions {
    options: RowOptions,
    printed: BTreeMap<Uid, Printed>,
    /// The number of comparisons so far.
    round: u64,
    met: MetObjects,
}

/// The objects requested by name and the members of inventories that were there at least once, without their uids.
#[derive(Debug, Default)]
pub(super) struct MetObjects(BTreeSet<ObjectRef>);

impl MetObjects {
    /// Whether there is anything to say about the object of a row. An absent one is announced if it never existed: a deletion
    /// has its own row.
    pub(super) fn has_news(&mut self, row: &StatusRow<'_>, graph: &Graph) -> bool {
        if row.known.is_none() {
            return row.assessment.status() == Status::NotFound && !self.0.contains(&row.object);
        }
        let is_member = row
            .owner
            .as_ref()
            .is_some_and(|owner| graph.is_inventory(owner));
        if row.is_named || is_member {
            self.0.insert(row.object.without_uid());
        }
        true
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Printed {
    assessment: Arc<Assessment>,
    worst: Option<Status>,
    depth: usize,
    owner: Option<Uid>,
    last_changes: Vec<LastChange>,
    last_lines: Vec<LastLines>,
    /// The last lines of its containers that were printed. They are not printed again after a restart.
    quoted: BTreeSet<String>,
    /// The last comparison in which the object had a row.
    round: u64,
}

impl Printed {
    fn of(row: &StatusRow<'_>, round: u64) -> Printed {
        Printed {
            assessment: row.assessment.clone(),
            worst: row.worst(),
            depth: row.depth,
            owner: row.owner.clone(),
            last_changes: row.last_changes.to_vec(),
            last_lines: row.last_lines.to_vec(),
            quoted: row.last_lines.iter().flat_map(LastLines::texts).collect(),
            round,
        }
    }

    /// Whether nothing has changed since the object was printed.
    fn is_of(&self, row: &StatusRow<'_>) -> bool {
        self.assessment == *row.assessment
            && self.worst == row.worst()
            && self.depth == row.depth
            && self.owner == row.owner
            && self.last_changes == row.last_changes
            && self.last_lines == row.last_lines
    }
}

impl Transitions {
    /// Nothing was printed yet.
    pub(super) fn new(options: RowOptions) -> Transitions {
        Transitions {
            options,
            printed: BTreeMap::new(),
            round: 0,
            met: MetObjects::default(),
        }
    }

    /// A line for each object that is new or has a new state, and one for what changed before it failed, with the time
    /// in RFC 3339. `cluster` is its name, of several. An idle `ReplicaSet` gets no line when it first appears.
    pub(super) fn lines(
        &mut self,
        state: &StatusState,
        cluster: Option<&str>,
        now: Timestamp,
    ) -> Vec<Text> {
        let options = self.options;
        let has_namespaces = has_namespaces(&state.into(), &[]);
        let cluster = cluster.map(|cluster| format!("{cluster} "));
        let cluster = cluster.unwrap_or_default();
        let requested = state.requested().first().and_then(SourceKey::namespace);
        // The members of an inventory may be in other namespaces.
        let is_elsewhere = |row: &StatusRow<'_>| {
            row.owner.is_some() && row.object.namespace.as_deref() != requested
        };
        let place = |row: &StatusRow<'_>| match &row.object.namespace {
            Some(namespace) if has_namespaces || is_elsewhere(row) => format!(" -n {namespace}"),
            _ => String::new(),
        };
        let time = rfc3339(now);
        self.take(state, |row, was| {
            let transition = match was {
                None if row.standing == Standing::Idle && options.idle == Idle::Counted => None,
                None if row.known.is_none() => None, // the line `waiting for …` announces it
                was if !is_included(options.health, row, was) => None,
                was => row
                    .assessment
                    .transition_from(was.map(|was| &*was.assessment)),
            };
            let is_old =
                |change: &&LastChange| was.is_some_and(|was| was.last_changes.contains(change));
            let changes = row.last_changes.iter().filter(|change| !is_old(change));
            let changes = changes.map(|change| change.log_text(row.assessment));
            let is_new = |text: &String| was.is_none_or(|was| !was.quoted.contains(text));
            let quotes = row.last_lines.iter().flat_map(LastLines::texts);
            let texts = transition
                .into_iter()
                .chain(quotes.filter(is_new))
                .chain(changes);
            let line = |text| format!("{time} {cluster}{}{} {text}", row.object, place(row));
            texts.map(line).collect::<Vec<_>>()
        })
    }

    /// A record for each object that is new or has changed in any way.
    pub(super) fn records(&mut self, state: &StatusState, now: Timestamp) -> Vec<Text> {
        let cluster = state.requested().first().map(|key| key.cluster.0.clone());
        let cluster = cluster.unwrap_or_default();
        let options = self.options;
        self.take(state, |row, was| {
            if !is_included(options.health, row, was) {
                return None;
            }
            let record = row.record(&cluster, now);
            Some(line(&if options.explains {
                record.explained(row.assessment)
            } else {
                record
            }))
        })
    }

    /// Compares all rows with those of the last call, in tree order. `render` turns a changed row into lines.
    pub(super) fn take<L: IntoIterator<Item: Into<Text>>>(
        &mut self,
        state: &StatusState,
        mut render: impl FnMut(&StatusRow<'_>, Option<&Printed>) -> L,
    ) -> Vec<Text> {
        self.round += 1;
        let round = self.round;
        let mut lines = Vec::new();
        for row in state.rows() {
            let uid = row.object.identity();
            let entry = self.printed.get_mut(&uid);
            if let Some(same) = entry.filter(|printed| printed.is_of(&row)) {
                same.round = round;
                continue;
            }
            if !self.met.has_news(&row, state.model.graph()) {
                continue;
            }
            let was = self.printed.remove(&uid);
            lines.extend(render(&row, was.as_ref()).into_iter().map(Into::into));
            let mut printed = Printed::of(&row, round);
            if let Some(was) = was.filter(|_| printed.quoted.is_empty()) {
                printed.quoted = was.quoted;
            }
            self.printed.insert(uid, printed);
        }
        self.printed.retain(|_, printed| printed.round == round);
        lines
    }
}

/// Whether to print the state of an object. One that gets well or is gone is printed if its last state was.
fn is_included(health: HealthFilter, row: &StatusRow<'_>, was: Option<&Printed>) -> bool {
    health.shows(row) || was.is_some_and(|was| !was.assessment.is_well())
}
