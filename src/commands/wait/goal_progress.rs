//! `GoalProgress`: which goals the objects of one source have met.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::object_progress::{FailureLimit, ObjectProgress};
use crate::commands::live::sources::named;
use crate::model::{EndedInstances, Model, Outlook};
use crate::object::{ObjectRef, Uid};
use crate::source::{ClusterId, SourceKey, SourceState, Version};
use crate::status::{Assessment, Goal, Rules, Status};

/// Who decides whether an object has failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Judge {
    /// The model of the verb, which also knows the dependents.
    #[default]
    Model,
    /// Each version of the object alone.
    Versions,
}

/// Why something was not read, if no request has failed.
pub(super) const NO_ANSWER: &str = "the server has not answered";

/// The progress of one selected source.
pub(super) struct GoalProgress {
    pub(super) key: SourceKey,
    judge: Judge,
    /// The cluster, of several: ` in prod-us`.
    place: String,
    /// Whether a full listing has arrived.
    is_read: bool,
    /// Whether an object that was not seen does not exist.
    knows_absence: bool,
    /// Why the source cannot be read, if it cannot.
    pub(super) refusal: Option<Arc<str>>,
    /// Why it is not read at present, in the server's words.
    trouble: Option<Arc<str>>,
    /// Whether an object has met the last goal.
    has_met: bool,
    /// The objects of a wide source by their identity. A named source has one place, under `None`, for any object of that
    /// name.
    places: BTreeMap<Option<Uid>, ObjectProgress>,
}

impl GoalProgress {
    pub(super) fn new(key: &SourceKey, judge: Judge) -> GoalProgress {
        let place = named(key).map(|name| (None, ObjectProgress::named(name)));
        GoalProgress {
            key: key.clone(),
            judge,
            place: String::new(),
            is_read: false,
            knows_absence: false,
            refusal: None,
            trouble: None,
            has_met: false,
            places: place.into_iter().collect(),
        }
    }

    /// The same progress in a cluster of several.
    pub(super) fn in_cluster(self, cluster: &ClusterId) -> GoalProgress {
        GoalProgress {
            place: format!(" in {}", cluster.0),
            ..self
        }
    }

    fn is_wide(&self) -> bool {
        named(&self.key).is_none()
    }

    fn place(&self, object: &ObjectRef) -> Option<Uid> {
        self.is_wide().then(|| object.identity())
    }

    pub(super) fn apply_state(&mut self, state: &SourceState) {
        self.trouble = match state {
            SourceState::Retrying { cause, .. }
            | SourceState::Forbidden { cause }
            | SourceState::Unserved { cause }
            | SourceState::Failed { cause } => Some(cause.clone()),
            SourceState::Connecting
            | SourceState::Live
            | SourceState::Polling { .. }
            | SourceState::Ended => None,
        };
        self.refusal = match state {
            SourceState::Forbidden { cause } | SourceState::Failed { cause } if !self.is_read => {
                Some(cause.clone())
            }
            _ => None,
        };
    }

    /// Takes a version of an object. Returns the object's name if it has now met the last goal.
    pub(super) fn apply_version(
        &mut self,
        version: &Version,
        goals: &[Goal],
        now: Timestamp,
    ) -> Option<String> {
        let standing = self.places.entry(self.place(&version.object)).or_default();
        standing.there = Some(version.object.identity());
        standing.name = version.object.name.clone();
        if standing.is_met(goals) || standing.was_deleted() {
            return None;
        }
        let doc = version.doc().ok()?;
        if standing.advance(goals, Some(doc.root())) {
            self.has_met = true;
            return Some(self.called(&version.object.name));
        }
        if self.judge == Judge::Versions {
            standing.outlook = outlook(&Assessment::of(doc.root(), now, Rules::Spy));
            standing.deaths.take(EndedInstances::of_pod(doc.root()));
        }
        None
    }

    /// Counts the deaths of containers below the objects that the model knows.
    pub(super) fn count_deaths(&mut self, model: &Model) {
        for standing in self.places.values_mut() {
            if let Some(uid) = &standing.there {
                let ended = EndedInstances::below(model.around(), uid);
                standing.deaths.take(ended);
            }
        }
    }

    /// Takes the model's judgement of the objects. Returns the names of those that have now met the last goal.
    pub(super) fn judge(&mut self, model: &Model, goals: &[Goal]) -> Vec<String> {
        let mut met = Vec::new();
        for standing in self.places.values_mut() {
            let Some(uid) = standing.there.clone().filter(|_| !standing.was_deleted()) else {
                continue;
            };
            if !standing.is_open(goals) {
                continue;
            }
            let outlook = Outlook::of(model.around(), &uid);
            if outlook != Some(Outlook::Current) {
                let ended = EndedInstances::below(model.around(), &uid);
                standing.deaths.take(ended);
            }
            standing.outlook = if standing.minds_ending(goals) {
                outlook.map(|outlook| outlook.with_ending(model.around(), &uid))
            } else {
                outlook
            };
            if standing.take_outlook(goals, || model.doc(&uid)) {
                met.push(standing.name.clone());
            }
        }
        self.has_met |= !met.is_empty();
        met.iter().map(|name| self.called(name)).collect()
    }

    /// Finds the objects that have failed for good, or for too long.
    pub(super) fn check_failures(&mut self, goals: &[Goal], limit: FailureLimit) {
        for standing in self.places.values_mut() {
            standing.check_failure(goals, limit);
        }
    }

    /// Takes a deletion. Returns the object's name if it has now met the last goal.
    pub(super) fn apply_deletion(&mut self, version: &Version, goals: &[Goal]) -> Option<String> {
        let place = self.place(&version.object);
        let mut standing = self.places.remove(&place).unwrap_or_default();
        standing.there = None;
        let was_met = standing.is_met(goals);
        let is_met = !was_met && standing.advance(goals, None);
        if !self.is_wide() {
            if !is_met {
                standing.delete(goals);
            }
            self.places.insert(place, standing);
        }
        self.has_met |= is_met;
        is_met.then(|| self.called(&version.object.name))
    }

    /// Drops an object that no longer matches the selector.
    pub(super) fn forget(&mut self, version: &Version) {
        if self.is_wide() {
            self.places.remove(&self.place(&version.object));
        }
    }

    /// Takes the end of the first listing of a file. Objects that were not in it may come later.
    pub(super) fn apply_listed(&mut self) {
        self.is_read = true;
        self.refusal = None;
    }

    /// Takes the end of a full listing. Objects that were not in it do not exist.
    pub(super) fn apply_synced(&mut self, goals: &[Goal]) {
        self.apply_listed();
        self.knows_absence = true;
        let places = self.places.values_mut();
        for standing in places.filter(|standing| standing.there.is_none()) {
            standing.advance(goals, None);
        }
    }

    pub(super) fn is_met(&self, goals: &[Goal]) -> bool {
        let mut places = self.places.values();
        match goals.last() {
            _ if !self.is_wide() => places.all(|standing| standing.is_met(goals)),
            Some(Goal::Deleted) => (self.knows_absence || self.has_met) && self.places.is_empty(),
            _ => {
                let all = places.all(|standing| standing.is_met(goals));
                self.is_read && (self.has_met || !self.places.is_empty()) && all
            }
        }
    }

    /// The objects that have not met the last goal, named as by `kubectl wait`: `deployments/web`.
    pub(super) fn unmet(&self, goals: &[Goal]) -> Vec<String> {
        let plural = &self.key.resource.plural;
        let unmet = self.places.values();
        let unmet = unmet.filter(|standing| !standing.is_met(goals));
        let names = unmet.map(|standing| {
            let reason = match standing.there {
                None if !self.is_read => self.unread(),
                None | Some(_) => standing.missing(goals).to_owned(),
            };
            let colon = if reason.is_empty() { "" } else { ": " };
            format!("{plural}/{}{}{colon}{reason}", standing.name, self.place)
        });
        let names: Vec<String> = names.collect();
        if names.is_empty() {
            Vec::from_iter(self.awaited_list(goals))
        } else {
            names
        }
    }

    /// The objects that have not met the last goal, and what each waits for: `deployment/web: Updated: 1/3`.
    pub(super) fn waiting<'a>(&'a self, goals: &'a [Goal]) -> impl Iterator<Item = String> + 'a {
        let kind = self.key.resource.kind.to_lowercase();
        let unmet = self.places.values();
        let unmet = unmet.filter(|standing| !standing.is_met(goals));
        let unmet = unmet.map(move |standing| {
            let what = match standing.there {
                None if !self.is_read => self.unread(),
                None | Some(_) => standing.waits_for(goals),
            };
            format!("{kind}/{}{}: {what}", standing.name, self.place)
        });
        unmet.chain(self.awaited_list(goals))
    }

    /// That no object was found, or why their list was not read; `None` if it waits for objects that it knows.
    fn awaited_list(&self, goals: &[Goal]) -> Option<String> {
        let plural = &self.key.resource.plural;
        let mut places = self.places.values();
        let is_of_list = places.all(|standing| standing.is_met(goals)) && !self.is_met(goals);
        is_of_list.then(|| {
            if self.is_read {
                format!("{plural}{}: no matching resources found", self.place)
            } else {
                format!("{plural}{}: {}", self.place, self.unread())
            }
        })
    }

    /// Whether nothing that it waits for was ever read: whether the goal is met is unknown.
    pub(super) fn is_unread(&self, goals: &[Goal]) -> bool {
        let mut places = self.places.values();
        !self.is_read && places.all(|it| it.there.is_none() || it.is_met(goals))
    }

    /// That a list was never read, and why.
    fn unread(&self) -> String {
        match &self.trouble {
            Some(cause) => format!("not read: {cause}"),
            None if self.objects().next().is_some() => "not read to the end".to_owned(),
            None => format!("not read: {NO_ANSWER}"),
        }
    }

    /// The objects that exist.
    pub(super) fn objects(&self) -> impl Iterator<Item = Uid> {
        let places = self.places.values();
        places.filter_map(|standing| standing.there.clone())
    }

    /// The objects that cannot meet the goal, as far as they exist.
    pub(super) fn failed_objects(&self) -> impl Iterator<Item = Uid> {
        let failed = self.places.values().filter(|it| it.failure.is_some());
        failed.filter_map(|standing| standing.there.clone())
    }

    /// The objects that have not met the last goal, as far as they exist.
    pub(super) fn unmet_objects(&self, goals: &[Goal]) -> impl Iterator<Item = Uid> {
        let unmet = self.places.values();
        let unmet = unmet.filter(|standing| !standing.is_met(goals));
        unmet.filter_map(|standing| standing.there.clone())
    }

    pub(super) fn failures(&self) -> impl Iterator<Item = String> {
        self.places.values().filter_map(|standing| {
            let failure = standing.failure.as_ref()?;
            Some(format!("error: {} {failure}", self.called(&standing.name)))
        })
    }

    /// kubectl's name of an object: `deployment.apps/web`.
    fn called(&self, name: &str) -> String {
        let resource = &self.key.resource;
        let kind = resource.kind.to_lowercase();
        let dot = if resource.group.is_empty() { "" } else { "." };
        format!("{kind}{dot}{}/{name}{}", resource.group, self.place)
    }
}

/// What an object alone says about the wait for it; `None` if it says nothing.
fn outlook(own: &Assessment) -> Option<Outlook> {
    (own.status() == Status::Failed).then(|| Outlook::Failed {
        recovery: own.recovery(),
        reason: own.reason().to_owned(),
    })
}
