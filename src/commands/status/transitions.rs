//! The changes since the last print: lines for logs, and records for programs.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::rows::StatusRow;
use super::state::StatusState;
use super::table::Idle;
use super::view::has_namespaces;
use crate::graph::Standing;
use crate::object::{ObjectRef, Uid};
use crate::render::age::rfc3339;
use crate::render::json::line::line;
use crate::render::json::status::{StatusRecord, TreePlace};
use crate::render::text::escape_line;
use crate::status::{Assessment, Row, Status};

/// What was printed last of each object.
#[derive(Debug, Default)]
pub(super) struct Transitions {
    printed: BTreeMap<Uid, Printed>,
    /// The requested objects that were there at least once, without their uids.
    met: BTreeSet<ObjectRef>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Printed {
    assessment: Assessment,
    worst: Option<Status>,
    depth: usize,
    owner: Option<Uid>,
}

impl Printed {
    fn of(row: &StatusRow<'_>) -> Printed {
        Printed {
            assessment: row.assessment.clone(),
            worst: row.worst(),
            depth: row.depth,
            owner: row.owner.clone(),
        }
    }

    /// Whether nothing has changed since the object was printed.
    fn is_of(&self, row: &StatusRow<'_>) -> bool {
        self.assessment == *row.assessment
            && self.worst == row.worst()
            && self.depth == row.depth
            && self.owner == row.owner
    }
}

impl Transitions {
    /// A line for each object that is new or has a new state, with the time in RFC 3339. An idle `ReplicaSet`
    /// gets no line when it first appears.
    pub(super) fn lines(&mut self, state: &StatusState, now: Timestamp, idle: Idle) -> Vec<String> {
        let has_namespaces = has_namespaces(state, &[]);
        let place = |row: &StatusRow<'_>| match &row.object.namespace {
            Some(namespace) if has_namespaces => format!(" -n {namespace}"),
            _ => String::new(),
        };
        self.take(state, |row, was| match was {
            None if row.standing == Standing::Idle && idle == Idle::Counted => None,
            None if row.known.is_none() => None, // the line `waiting for …` announces it
            Some(was) if is_same_line(&was.assessment, row.assessment) => None,
            was => {
                let what = format!("{}{}", row.object, place(row));
                let change = transition(was.map(|was| &was.assessment), row.assessment);
                let text = format!("{what} {change}");
                Some(format!("{} {}", rfc3339(now), escape_line(&text)))
            }
        })
    }

    /// A record for each object that is new or has changed in any way.
    pub(super) fn records(&mut self, state: &StatusState, now: Timestamp) -> Vec<String> {
        let cluster = state.requested().first().map(|key| key.cluster.0.clone());
        let cluster = cluster.unwrap_or_default();
        self.take(state, |row, _| {
            let place = TreePlace {
                owner: row.owner.as_ref(),
                depth: row.depth,
            };
            let record = StatusRecord::new(&cluster, &row.object, row.assessment, now);
            Some(line(&record.at(place, row.worst())))
        })
    }

    /// Compares all rows with those of the last call, in tree order. `render` turns a changed row into a
    /// line.
    fn take(
        &mut self,
        state: &StatusState,
        render: impl Fn(&StatusRow<'_>, Option<&Printed>) -> Option<String>,
    ) -> Vec<String> {
        let mut before = std::mem::take(&mut self.printed);
        let mut lines = Vec::new();
        for row in state.rows() {
            let uid = row.object.identity();
            let was = match before.remove(&uid) {
                Some(same) if same.is_of(&row) => {
                    self.printed.insert(uid, same);
                    continue;
                }
                was => was,
            };
            if row.known.is_none() && !self.is_worth_printing(&row) {
                continue;
            }
            if row.depth == 0 && row.known.is_some() {
                self.met.insert(row.object.without_uid());
            }
            self.printed.insert(uid, Printed::of(&row));
            lines.extend(render(&row, was.as_ref()));
        }
        lines
    }

    /// Whether to print an object that does not exist. It must be known to be absent, and it must never have
    /// existed: its deletion has its own line.
    fn is_worth_printing(&self, row: &StatusRow<'_>) -> bool {
        row.assessment.verdict.status == Status::NotFound && !self.met.contains(&row.object)
    }
}

/// Whether both give the same line.
fn is_same_line(was: &Assessment, is: &Assessment) -> bool {
    let cause = |assessment: &Assessment| assessment.causes.first().map(|cause| cause.text.clone());
    let has_new_cause = !is.causes.is_empty() && cause(was) != cause(is);
    summary(was) == summary(is) && !has_new_cause
}

/// `InProgress 2/3 (was Current 3/3): cause`.
fn transition(was: Option<&Assessment>, assessment: &Assessment) -> String {
    let is = summary(assessment);
    let was = was.map(summary).filter(|was| *was != is);
    let was = was.map_or(String::new(), |was| format!(" (was {was})"));
    let cause = assessment.causes.first();
    let cause = cause.map_or(String::new(), |cause| format!(": {}", cause.text));
    format!("{is}{was}{cause}")
}

/// `ImagePullBackOff 0/1 restarts 3`.
fn summary(assessment: &Assessment) -> String {
    let Row {
        ready,
        word,
        restarts,
    } = &assessment.row;
    let restarts = restarts.filter(|restarts| restarts.count > 0);
    let restarts = restarts.map(|restarts| format!("restarts {}", restarts.count));
    let parts = [Some(word.clone()), ready.clone(), restarts];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(" ")
}
