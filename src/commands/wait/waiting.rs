//! `Waiting`: the goals of `--for`, and the progress of the selected objects.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::goal_progress::{GoalProgress, Judge, NO_ANSWER};
use super::object_progress::FailureLimit;
use crate::commands::failure_logs::JudgedObject;
use crate::model::Model;
use crate::object::Uid;
use crate::source::{ClusterId, Event, SourceKey, SourceState, Why};
use crate::status::Goal;

/// How many instances of a container may die by default.
pub(super) const ALLOWED_RESTARTS: usize = 3;

/// How many objects with an unmet goal an error names.
const NAMED: usize = 10;

/// The goals and the progress of the selected objects. Each object must meet the goals in order.
///
/// As in `kubectl wait`, a met goal stays met, even if the object changes later. Only `current`, if it is the last
/// goal, is met when all objects are Current at the same time; so is `settled`.
#[derive(Default)]
pub(crate) struct Waiting {
    goals: Vec<Goal>,
    asked: Vec<GoalProgress>,
    /// The objects that have met the last goal and are not printed yet.
    met: Vec<String>,
    is_of_file: bool,
    /// How many instances of a container may die.
    pub(super) restarts: usize,
    judge: Judge,
    /// The clusters that have not joined, of several, and why.
    pub(super) unjoined: BTreeMap<ClusterId, Option<Arc<str>>>,
}

/// The state of the wait.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Every object has met every goal.
    Met,
    /// These objects failed, one error line each.
    Failed(Vec<String>),
    /// The remaining sources cannot be read; the server's messages.
    Refused(Vec<String>),
    /// These objects have not met a goal yet.
    Open(Vec<String>),
    /// A part of what is waited for was never read.
    Unread {
        /// The objects that have not met a goal yet.
        unmet: Vec<String>,
        /// What was not read, each with its cause.
        unread: Vec<String>,
    },
}

impl Waiting {
    /// The start of a wait for the objects of these sources.
    pub(super) fn new(goals: &[Goal], asked: &[SourceKey], judge: Judge) -> Waiting {
        let asked = asked.iter().filter(|_| !goals.is_empty());
        Waiting {
            goals: goals.to_vec(),
            asked: asked.map(|key| GoalProgress::new(key, judge)).collect(),
            met: Vec::new(),
            is_of_file: false,
            restarts: ALLOWED_RESTARTS,
            judge,
            unjoined: BTreeMap::new(),
        }
    }

    /// Also waits for the objects of these sources of a cluster that has joined.
    pub(crate) fn join(&mut self, cluster: &ClusterId, asked: &[SourceKey]) {
        self.unjoined.remove(cluster);
        let asked = asked.iter().filter(|_| !self.goals.is_empty());
        let asked = asked.map(|key| GoalProgress::new(key, self.judge).in_cluster(cluster));
        self.asked.extend(asked);
    }

    /// Notes why a cluster has not joined.
    pub(crate) fn fail_to_join(&mut self, cluster: &ClusterId, cause: &Arc<str>) {
        if let Some(known) = self.unjoined.get_mut(cluster) {
            *known = Some(cause.clone());
        }
    }

    /// The clusters that have not joined: `prod-us: not read: The connection to the server … was refused`.
    fn unjoined(&self) -> impl Iterator<Item = String> {
        self.unjoined.iter().map(|(cluster, cause)| {
            let cause = cause.as_deref().unwrap_or(NO_ANSWER);
            format!("cluster {}: not read: {cause}", cluster.0)
        })
    }

    /// The same wait for objects of a file. Objects that the file does not list at its start may come later, so only its
    /// end shows that they do not exist.
    pub(super) fn of_file(self) -> Waiting {
        Waiting {
            is_of_file: true,
            ..self
        }
    }

    /// The sources of the wait.
    pub(super) fn keys(&self) -> impl Iterator<Item = &SourceKey> {
        self.asked.iter().map(|asked| &asked.key)
    }

    /// Whether there is a goal.
    pub(crate) fn has_goal(&self) -> bool {
        !self.goals.is_empty()
    }

    /// Whether there is a goal and the result is known.
    pub(crate) fn is_decided(&self) -> bool {
        let is_done = |asked: &GoalProgress| asked.refusal.is_some() || asked.is_met(&self.goals);
        let mut failures = self.asked.iter().flat_map(GoalProgress::failures);
        let is_done = || self.unjoined.is_empty() && self.asked.iter().all(is_done);
        !self.goals.is_empty() && (failures.next().is_some() || is_done())
    }

    /// The objects that have met the last goal since the previous call: `deployment.apps/web`.
    pub(crate) fn take_met(&mut self) -> Vec<String> {
        std::mem::take(&mut self.met)
    }

    /// Takes one event.
    pub(crate) fn apply(&mut self, key: &SourceKey, event: &Event, now: Timestamp) {
        let mut of_key = self.asked.iter_mut();
        let Some(asked) = of_key.find(|asked| asked.key == *key) else {
            return;
        };
        let met = match event {
            Event::Synced { .. } if self.is_of_file => {
                asked.apply_listed();
                None
            }
            Event::State(SourceState::Ended) | Event::Synced { .. } => {
                asked.apply_synced(&self.goals);
                None
            }
            Event::Object {
                why, now: version, ..
            } => match why {
                Why::Deleted | Why::Vanished => asked.apply_deletion(version, &self.goals),
                Why::LeftSelector => {
                    asked.forget(version);
                    None
                }
                Why::Listed | Why::Added | Why::Modified | Why::Skipped => {
                    asked.apply_version(version, &self.goals, now)
                }
            },
            Event::State(state) => {
                asked.apply_state(state);
                None
            }
            Event::Gap(_) | Event::Undecodable { .. } => None,
        };
        self.met.extend(met);
    }

    /// Counts the containers that have died, by models that are not up to date yet: what dies meanwhile has died, too.
    pub(crate) fn count_deaths<'m>(&mut self, model: impl Fn(&SourceKey) -> Option<&'m Model>) {
        for asked in self.asked.iter_mut().filter(|_| !self.goals.is_empty()) {
            if let Some(model) = model(&asked.key) {
                asked.count_deaths(model);
            }
        }
    }

    /// Judges the objects as they are now, by the model of their source if the verb has one and it is up to date. `now` is the
    /// time of the cluster's server.
    pub(crate) fn judge<'m>(
        &mut self,
        model: impl Fn(&SourceKey) -> Option<&'m Model>,
        now: impl Fn(&ClusterId) -> Timestamp,
    ) {
        if self.goals.is_empty() {
            return;
        }
        for asked in &mut self.asked {
            let limit = FailureLimit {
                now: now(&asked.key.cluster),
                restarts: self.restarts,
            };
            match model(&asked.key) {
                Some(model) if model.is_up_to_date() => {
                    self.met.extend(asked.judge(model, &self.goals));
                }
                Some(model) => asked.count_deaths(model),
                None => {}
            }
            asked.check_failures(&self.goals, limit);
        }
    }

    /// The first object that it waits for, and the number of the others: `deployment/web: Updated: 1/3 (and 2 more)`; `None` if
    /// it waits for none.
    pub(super) fn waits_for(&self) -> Option<String> {
        let asked = self.asked.iter().filter(|asked| asked.refusal.is_none());
        let waiting = asked.flat_map(|asked| asked.waiting(&self.goals));
        let mut waiting = waiting.chain(self.unjoined());
        let first = waiting.next()?;
        Some(match waiting.count() {
            0 => first,
            more => format!("{first} (and {more} more)"),
        })
    }

    /// The objects of the wait that exist, with their models.
    pub(crate) fn objects<'m>(
        &self,
        model: impl Fn(&SourceKey) -> Option<&'m Model>,
    ) -> Vec<JudgedObject<'m>> {
        let asked = self.asked.iter();
        let asked = asked.filter_map(|asked| Some((asked, model(&asked.key)?)));
        let objects = asked.flat_map(|(asked, model)| {
            let objects = asked.objects();
            objects.map(move |uid| JudgedObject { model, uid })
        });
        objects.collect()
    }

    /// The objects of a cluster that have failed, or else those that have not met a goal, as far as they exist, with their models.
    pub(super) fn unmet_objects<'m>(
        &self,
        cluster: &ClusterId,
        model: impl Fn(&SourceKey) -> Option<&'m Model>,
    ) -> Vec<JudgedObject<'m>> {
        let of_cluster = self.asked.iter();
        let of_cluster = of_cluster.filter(|asked| asked.key.cluster == *cluster);
        let (mut failed, mut unmet) = (Vec::new(), Vec::new());
        for asked in of_cluster {
            let Some(model) = model(&asked.key) else {
                continue;
            };
            let judged = |uid: Uid| JudgedObject { model, uid };
            failed.extend(asked.failed_objects().map(judged));
            unmet.extend(asked.unmet_objects(&self.goals).map(judged));
        }
        if failed.is_empty() { unmet } else { failed }
    }

    /// The state of the wait.
    pub(super) fn outcome(&self) -> Outcome {
        let failures: Vec<String> = self.asked.iter().flat_map(GoalProgress::failures).collect();
        if !failures.is_empty() {
            return Outcome::Failed(failures);
        }
        let open = self.asked.iter().filter(|asked| !asked.is_met(&self.goals));
        let (refused, open): (Vec<&GoalProgress>, Vec<&GoalProgress>) =
            open.partition(|asked| asked.refusal.is_some());
        let (unread, open): (Vec<&GoalProgress>, Vec<&GoalProgress>) = open
            .into_iter()
            .partition(|asked| !self.is_of_file && asked.is_unread(&self.goals));
        let unmet = |asked: &&GoalProgress| asked.unmet(&self.goals);
        let unread: Vec<String> = unread
            .iter()
            .flat_map(unmet)
            .chain(self.unjoined())
            .collect();
        match (&refused[..], &open[..]) {
            (_, open) if !unread.is_empty() => Outcome::Unread {
                unmet: cut(open.iter().flat_map(unmet).collect()),
                unread: cut(unread),
            },
            ([], []) => Outcome::Met,
            (refused, []) => {
                let causes = refused.iter().filter_map(|asked| asked.refusal.as_deref());
                Outcome::Refused(causes.map(str::to_owned).collect())
            }
            (_, open) => Outcome::Open(cut(open.iter().flat_map(unmet).collect())),
        }
    }
}

/// The first few names, and how many more there are.
pub(super) fn cut(mut names: Vec<String>) -> Vec<String> {
    let more = names.len().saturating_sub(NAMED);
    if more > 0 {
        names.truncate(NAMED);
        names.push(format!("{more} more"));
    }
    names
}
