//! `GoalProgress`: which goals the objects of one source have met.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::commands::sources::named;
use crate::object::{ObjectRef, Uid, Value};
use crate::source::{SourceKey, SourceState, Version};
use crate::status::{Goal, Rules, Status, compute};

/// The progress of one selected source.
pub(super) struct GoalProgress {
    pub(super) key: SourceKey,
    /// Whether a full listing has arrived.
    is_read: bool,
    /// Why the source cannot be read, if it cannot.
    pub(super) refusal: Option<Arc<str>>,
    /// Whether an object has met the last goal.
    has_met: bool,
    /// The objects of a wide source by their identity. A named source has one place, under `None`, for any object of that
    /// name.
    places: BTreeMap<Option<Uid>, ObjectProgress>,
}

/// The progress of one object.
#[derive(Default)]
struct ObjectProgress {
    name: Arc<str>,
    is_there: bool,
    /// The number of goals it has met.
    met: usize,
    /// Why it cannot meet the next goal.
    failure: Option<GoalFailure>,
}

/// Why an object cannot meet its goal.
enum GoalFailure {
    /// It was deleted first.
    Deleted,
    /// Its state is Failed, with this message of kstatus.
    Failed(String),
}

impl GoalProgress {
    pub(super) fn new(key: &SourceKey) -> GoalProgress {
        let place = named(key).map(|name| {
            let standing = ObjectProgress {
                name: name.into(),
                ..ObjectProgress::default()
            };
            (None, standing)
        });
        GoalProgress {
            key: key.clone(),
            is_read: false,
            refusal: None,
            has_met: false,
            places: place.into_iter().collect(),
        }
    }

    fn is_wide(&self) -> bool {
        named(&self.key).is_none()
    }

    fn place(&self, object: &ObjectRef) -> Option<Uid> {
        self.is_wide().then(|| object.identity())
    }

    pub(super) fn enter(&mut self, state: &SourceState) {
        self.refusal = match state {
            SourceState::Forbidden { cause } | SourceState::Failed { cause } if !self.is_read => {
                Some(cause.clone())
            }
            _ => None,
        };
    }

    /// Takes a version of an object. Returns the object's name if it has now met the last goal.
    pub(super) fn there(
        &mut self,
        version: &Version,
        goals: &[Goal],
        now: Timestamp,
    ) -> Option<String> {
        let standing = self.places.entry(self.place(&version.object)).or_default();
        standing.is_there = true;
        standing.name = version.object.name.clone();
        if standing.met == goals.len() || matches!(standing.failure, Some(GoalFailure::Deleted)) {
            return None;
        }
        let doc = version.doc().ok()?;
        let is_last = standing.advance(goals, Some(doc.root()));
        if is_last {
            self.has_met = true;
            return Some(self.called(version));
        }
        standing.check_failure(goals, doc.root(), now);
        None
    }

    /// Takes a deletion. Returns the object's name if it has now met the last goal.
    pub(super) fn gone(&mut self, version: &Version, goals: &[Goal]) -> Option<String> {
        let place = self.place(&version.object);
        let mut standing = self.places.remove(&place).unwrap_or_default();
        standing.is_there = false;
        let was_met = standing.met == goals.len();
        let is_met = !was_met && standing.advance(goals, None);
        if !self.is_wide() {
            if !was_met && !is_met && goals.get(standing.met).is_some_and(needs_the_object) {
                standing.failure = Some(GoalFailure::Deleted);
            }
            self.places.insert(place, standing);
        }
        is_met.then(|| self.called(version))
    }

    /// Drops an object that no longer matches the selector.
    pub(super) fn forget(&mut self, version: &Version) {
        if self.is_wide() {
            self.places.remove(&self.place(&version.object));
        }
    }

    /// Takes the end of a full listing. Objects that were not in it do not exist.
    pub(super) fn read(&mut self, goals: &[Goal]) {
        self.is_read = true;
        self.refusal = None;
        let places = self.places.values_mut();
        for standing in places.filter(|standing| !standing.is_there) {
            standing.advance(goals, None);
        }
    }

    pub(super) fn is_met(&self, goals: &[Goal]) -> bool {
        let mut places = self.places.values();
        match goals.last() {
            _ if !self.is_wide() => places.all(|standing| standing.met == goals.len()),
            Some(Goal::Deleted) => self.is_read && self.places.is_empty(),
            _ => {
                let all = places.all(|standing| standing.met == goals.len());
                self.is_read && (self.has_met || !self.places.is_empty()) && all
            }
        }
    }

    /// The objects that have not met the last goal, named as by `kubectl wait`: `deployments/web`.
    pub(super) fn unmet(&self, goals: &[Goal]) -> Vec<String> {
        let plural = &self.key.resource.plural;
        let unmet = self.places.values();
        let unmet = unmet.filter(|standing| standing.met < goals.len());
        let names: Vec<String> = unmet
            .map(|standing| format!("{plural}/{}", standing.name))
            .collect();
        if names.is_empty() {
            return vec![format!("{plural}: no matching resources found")];
        }
        names
    }

    pub(super) fn failures(&self) -> impl Iterator<Item = String> {
        self.places.values().filter_map(|standing| {
            let resource = self.key.resource.group_resource();
            let name = format!("{resource}/{}", standing.name);
            Some(match standing.failure.as_ref()? {
                GoalFailure::Deleted => {
                    format!("error: {name} was deleted before the condition was met")
                }
                GoalFailure::Failed(message) => format!("error: {name} has failed: {message}"),
            })
        })
    }

    /// kubectl's name of an object: `deployment.apps/web`.
    fn called(&self, version: &Version) -> String {
        let resource = &self.key.resource;
        let kind = resource.kind.to_lowercase();
        let dot = if resource.group.is_empty() { "" } else { "." };
        format!("{kind}{dot}{}/{}", resource.group, version.object.name)
    }
}

impl ObjectProgress {
    /// Advances to the first unmet goal. Returns whether all goals are met.
    fn advance(&mut self, goals: &[Goal], object: Option<Value<'_>>) -> bool {
        let mut left = goals[self.met.min(goals.len())..].iter();
        self.met += left.by_ref().take_while(|goal| goal.is_met(object)).count();
        self.failure = self.failure.take().filter(|_| self.met < goals.len());
        self.met == goals.len()
    }

    /// Sets the failure if the object's state is Failed.
    fn check_failure(&mut self, goals: &[Goal], object: Value<'_>, now: Timestamp) {
        let can_fail = goals.get(self.met).is_some_and(needs_the_object);
        let verdict = can_fail.then(|| compute(object, now, Rules::Spy));
        let failed = verdict.filter(|verdict| verdict.status == Status::Failed);
        self.failure = failed.map(|verdict| GoalFailure::Failed(verdict.message));
    }
}

/// Whether a goal needs an existing object that has not failed.
fn needs_the_object(goal: &Goal) -> bool {
    match goal {
        Goal::Condition { .. } | Goal::JsonPath { .. } => true,
        Goal::Created | Goal::Deleted => false,
    }
}
