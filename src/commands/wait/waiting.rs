//! `Waiting`: how far the objects that were asked for have come towards the goals of `--for`.

use jiff::Timestamp;

use super::goal_progress::GoalProgress;
use crate::status::Goal;
use crate::watch::{Event, SourceKey, Why};

/// How many objects that have not come to their goal are named.
const NAMED: usize = 10;

/// The goals, and the objects that are to come to them, each to one goal after the other. As `kubectl
/// wait` has it, an object that has come to a goal has come to it, whatever becomes of it later.
pub(super) struct Waiting {
    goals: Vec<Goal>,
    asked: Vec<GoalProgress>,
    /// What has come to its last goal and was not told yet.
    met: Vec<String>,
}

/// How it stands.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Every object has come to every goal.
    Met,
    /// Objects that cannot come to it without help, a line each.
    Failed(Vec<String>),
    /// All that is left cannot be read: the server's words.
    Refused(Vec<String>),
    /// There are objects to be waited for: these.
    Open(Vec<String>),
}

impl Waiting {
    /// Nothing is known yet of the sources that were asked for.
    pub(super) fn new(goals: &[Goal], asked: &[SourceKey]) -> Waiting {
        let asked = asked.iter().filter(|_| !goals.is_empty());
        Waiting {
            goals: goals.to_vec(),
            asked: asked.map(GoalProgress::new).collect(),
            met: Vec::new(),
        }
    }

    /// Whether there is a goal, and nothing to wait for any more.
    pub(super) fn is_decided(&self) -> bool {
        let is_done = |asked: &GoalProgress| asked.refusal.is_some() || asked.is_met(&self.goals);
        let mut failures = self.asked.iter().flat_map(GoalProgress::failures);
        !self.goals.is_empty() && (failures.next().is_some() || self.asked.iter().all(is_done))
    }

    /// What has come to its last goal since this was last asked: `deployment.apps/web`.
    pub(super) fn take_met(&mut self) -> Vec<String> {
        std::mem::take(&mut self.met)
    }

    /// Takes one event.
    pub(super) fn apply(&mut self, key: &SourceKey, event: &Event, now: Timestamp) {
        let mut of_key = self.asked.iter_mut();
        let Some(asked) = of_key.find(|asked| asked.key == *key) else {
            return;
        };
        let met = match event {
            Event::Synced { .. } => {
                asked.read(&self.goals);
                None
            }
            Event::Object {
                why, now: version, ..
            } => match why {
                Why::Deleted | Why::Vanished => asked.gone(version, &self.goals),
                Why::LeftSelector => {
                    asked.forget(version);
                    None
                }
                Why::Listed | Why::Added | Why::Modified | Why::Skipped => {
                    asked.there(version, &self.goals, now)
                }
            },
            Event::State(state) => {
                asked.enter(state);
                None
            }
            Event::Gap(_) | Event::Undecodable { .. } => None,
        };
        self.met.extend(met);
    }

    /// How it stands.
    pub(super) fn outcome(&self) -> Outcome {
        let failures: Vec<String> = self.asked.iter().flat_map(GoalProgress::failures).collect();
        if !failures.is_empty() {
            return Outcome::Failed(failures);
        }
        let open = self.asked.iter().filter(|asked| !asked.is_met(&self.goals));
        let (refused, open): (Vec<&GoalProgress>, Vec<&GoalProgress>) =
            open.partition(|asked| asked.refusal.is_some());
        match (&refused[..], &open[..]) {
            ([], []) => Outcome::Met,
            (refused, []) => {
                let causes = refused.iter().filter_map(|asked| asked.refusal.as_deref());
                Outcome::Refused(causes.map(str::to_owned).collect())
            }
            (_, open) => {
                let names = open.iter().flat_map(|asked| asked.unmet(&self.goals));
                Outcome::Open(cut(names.collect()))
            }
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
