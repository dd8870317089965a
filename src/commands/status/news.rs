//! What has changed since it was last told: lines for logs, and records for programs.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::judged::Judged;
use super::outline::Item;
use super::state::State;
use super::view::{Idle, has_namespaces};
use crate::graph::{self, Standing};
use crate::object::{ObjectRef, Uid};
use crate::render::age::rfc3339;
use crate::render::json::line::line;
use crate::render::json::status::{Place, StatusRecord};
use crate::render::text::escape_line;
use crate::status::{Row, Status};

/// What was told of each object.
#[derive(Debug, Default)]
pub(super) struct News {
    told: BTreeMap<Uid, Told>,
    /// How often everything was gone over.
    round: u64,
    /// What was asked for and was there at least once, without its uid.
    met: BTreeSet<ObjectRef>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Told {
    judged: Judged,
    worst: Option<Status>,
    depth: usize,
    owner: Option<Uid>,
    /// When it was last gone over.
    round: u64,
}

impl Told {
    fn of(item: &Item<'_>, round: u64) -> Told {
        Told {
            judged: item.judged.clone(),
            worst: item.worst(),
            depth: item.depth,
            owner: item.owner.clone(),
            round,
        }
    }

    /// Whether what was told of an object is what is.
    fn is_of(&self, item: &Item<'_>) -> bool {
        self.judged == *item.judged
            && self.worst == item.worst()
            && self.depth == item.depth
            && self.owner == item.owner
    }
}

impl News {
    /// A line for each object that has come or changed its verdict, in RFC 3339 time. An idle
    /// `ReplicaSet` that has been there from the start is no news.
    pub(super) fn lines(&mut self, state: &State, now: Timestamp, idle: Idle) -> Vec<String> {
        let has_namespaces = has_namespaces(state, &[]);
        let place = |item: &Item<'_>| match &item.object.namespace {
            Some(namespace) if has_namespaces => format!(" -n {namespace}"),
            _ => String::new(),
        };
        self.take(state, |item, was| match was {
            None if item.standing == Standing::Idle && idle == Idle::Counted => None,
            None if item.known.is_none() => None, // it is waited for, which is said elsewhere
            Some(was) if is_said_alike(&was.judged, item.judged) => None,
            was => {
                let what = format!("{}{}", item.object, place(item));
                let change = transition(was.map(|was| &was.judged), item.judged);
                let text = format!("{what} {change}");
                Some(format!("{} {}", rfc3339(now), escape_line(&text)))
            }
        })
    }

    /// A record for each object that has come, or of which anything has changed.
    pub(super) fn records(&mut self, state: &State, now: Timestamp) -> Vec<String> {
        let cluster = state.asked().next().map(|key| key.cluster.0.clone());
        let cluster = cluster.unwrap_or_default();
        self.take(state, |item, _| {
            let Judged {
                verdict,
                row,
                causes,
            } = item.judged;
            let place = Place {
                owner: item.owner.as_ref(),
                depth: item.depth,
            };
            let record = StatusRecord::new((&cluster, &item.object), now, verdict, (row, causes));
            Some(line(&record.at(place, item.worst())))
        })
    }

    /// Goes over what has changed since the last time, in the order of the tree.
    fn take(
        &mut self,
        state: &State,
        tell: impl Fn(&Item<'_>, Option<&Told>) -> Option<String>,
    ) -> Vec<String> {
        self.round += 1;
        let mut lines = Vec::new();
        for item in state.outline() {
            let uid = graph::key(&item.object);
            let told = self.told.get_mut(&uid);
            if let Some(same) = told.filter(|told| told.is_of(&item)) {
                same.round = self.round;
                continue;
            }
            if item.known.is_none() && !self.is_worth_telling(&item) {
                continue;
            }
            if item.depth == 0 && item.known.is_some() {
                self.met.insert(without_uid(&item.object));
            }
            let was = self.told.insert(uid, Told::of(&item, self.round));
            lines.extend(tell(&item, was.as_ref()));
        }
        self.told.retain(|_, told| told.round == self.round);
        lines
    }

    /// Whether to tell of an object that is not there: not before that is known, and not of one that
    /// was there, as its end has been told.
    fn is_worth_telling(&self, item: &Item<'_>) -> bool {
        item.judged.verdict.status == Status::NotFound && !self.met.contains(&item.object)
    }
}

fn without_uid(object: &ObjectRef) -> ObjectRef {
    ObjectRef {
        uid: None,
        ..object.clone()
    }
}

/// Whether both give the same line.
fn is_said_alike(was: &Judged, is: &Judged) -> bool {
    let cause = |judged: &Judged| judged.causes.first().map(|cause| cause.text.clone());
    let is_explained_anew = !is.causes.is_empty() && cause(was) != cause(is);
    summary(was) == summary(is) && !is_explained_anew
}

/// `InProgress 2/3 (was Current 3/3): cause`.
fn transition(was: Option<&Judged>, judged: &Judged) -> String {
    let is = summary(judged);
    let was = was.map(summary).filter(|was| *was != is);
    let was = was.map_or(String::new(), |was| format!(" (was {was})"));
    let cause = judged.causes.first();
    let cause = cause.map_or(String::new(), |cause| format!(": {}", cause.text));
    format!("{is}{was}{cause}")
}

/// `ImagePullBackOff 0/1 restarts 3`.
fn summary(judged: &Judged) -> String {
    let Row {
        ready,
        word,
        restarts,
    } = &judged.row;
    let restarts = restarts.filter(|restarts| restarts.count > 0);
    let restarts = restarts.map(|restarts| format!("restarts {}", restarts.count));
    let parts = [Some(word.clone()), ready.clone(), restarts];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(" ")
}
