//! The parts of a frame about a Deployment: the phases of its rollout, its conditions, and its revisions.

use jiff::Timestamp;

use crate::commands::trace::chain::FrameParts;
use crate::object::{StatusCondition, Value, conditions};
use crate::render::age;
use crate::render::canvas::Canvas;
use crate::render::status::symbol;
use crate::render::style::Role;
use crate::render::text::escape_line;
use crate::status::Status;

use super::moment::Moment;
use super::phase::{PhaseName, PhaseProgress, RolloutPhase};
use super::rollout::RolloutSnapshot;
use super::state::DeploymentState;
use super::{phases, revisions};

/// The parts of the frame.
pub(super) fn frame_parts(state: &DeploymentState, canvas: Canvas) -> FrameParts {
    let rollout = state.rollout();
    let (mut facts, mut right, mut lines) = Default::default();
    if let Some(rollout) = &rollout {
        facts = vec![
            phases::replicas(rollout.wanted()),
            strategy(rollout.deployment()),
        ];
        right = deadline(rollout, canvas.now);
        lines = phase_lines(&state.phases, canvas);
        lines.extend(condition_lines(rollout, canvas));
    }
    FrameParts {
        facts,
        beside: String::new(),
        right,
        lines,
        outline: revisions::outline(state, rollout.as_ref(), canvas),
    }
}

/// The update strategy: `RollingUpdate, surge 1, unavailable 25%`.
fn strategy(deployment: Value<'_>) -> String {
    let strategy = deployment.at(&["spec", "strategy"]);
    let kind = strategy.and_then(|strategy| strategy.str_at(&["type"]));
    let mut facts = vec![kind.as_deref().unwrap_or("RollingUpdate").to_owned()];
    for (key, word) in [("maxSurge", "surge"), ("maxUnavailable", "unavailable")] {
        let amount = strategy.and_then(|strategy| strategy.at(&["rollingUpdate", key]));
        if let Some(amount) = amount {
            let amount = amount.as_str().unwrap_or_else(|| amount.raw().into());
            facts.push(format!("{word} {amount}"));
        }
    }
    facts.join(", ")
}

/// How far the progress deadline is; empty without one.
fn deadline(rollout: &RolloutSnapshot<'_>, now: Timestamp) -> String {
    match rollout
        .deadline()
        .map(|deadline| deadline.duration_since(now))
    {
        None => String::new(),
        Some(left) if left.is_positive() => format!("{} to the deadline", age::human(left)),
        Some(_) => "the progress deadline has passed".to_owned(),
    }
}

fn phase_lines(phases: &[RolloutPhase], canvas: Canvas) -> Vec<String> {
    let start = phases.first().map_or(Moment::default(), |change| change.at);
    let is_shown = |phase: &&RolloutPhase| {
        // This phase needs a line only until the controller has observed the change.
        phase.name != PhaseName::Observed || phase.progress != PhaseProgress::Done
    };
    let shown = phases.iter().filter(is_shown);
    shown
        .map(|phase| phase_line(phase, start, canvas))
        .collect()
}

fn phase_line(phase: &RolloutPhase, start: Moment, canvas: Canvas) -> String {
    let symbols = canvas.look.symbols;
    let (symbol, role) = match phase.progress {
        PhaseProgress::Done => (symbols.done, Role::Good),
        PhaseProgress::Underway => (symbols.in_progress, Role::Moving),
        PhaseProgress::Failed => (symbols.failed, Role::Bad),
        PhaseProgress::Waiting => (symbols.dot, Role::Dim),
        PhaseProgress::Unknown => (symbols.unknown, Role::Dim),
    };
    let time = match phase.progress {
        PhaseProgress::Done | PhaseProgress::Failed => phase.at.after(start).unwrap_or_default(),
        PhaseProgress::Underway | PhaseProgress::Waiting => "...".to_owned(),
        PhaseProgress::Unknown => String::new(),
    };
    let time = canvas.look.styles.dim(&format!("{time:<6}"));
    let is_complete = phase.name == PhaseName::Complete && phase.progress == PhaseProgress::Done;
    let completed = phase.at.time().filter(|_| is_complete);
    let ago = completed.map(|time| format!(", {} ago", age::age(time, canvas.now)));
    let line = format!(
        "{} {time}  {:<12}  {}{}",
        canvas.look.styles.paint(role, symbol),
        phase.name.as_str(),
        escape_line(&phase.message()),
        ago.unwrap_or_default(),
    );
    line.trim_end().to_owned()
}

fn condition_lines(rollout: &RolloutSnapshot<'_>, canvas: Canvas) -> Vec<String> {
    let mut lines = Vec::new();
    for condition in conditions(rollout.deployment()) {
        let status = judge(&condition);
        lines.push(format!(
            "{} {}={} {}  {}",
            symbol(status, canvas.look),
            escape_line(&condition.kind),
            escape_line(&condition.status),
            escape_line(&condition.reason),
            canvas.look.styles.dim(&canvas.age(since(&condition))),
        ));
        if status == Status::Failed {
            let message = escape_line(&condition.message);
            lines.push(format!("  {}{message}", canvas.look.symbols.note));
        }
    }
    lines
}

/// Since when a condition has its state. `Progressing` is updated without a transition.
fn since(condition: &StatusCondition<'_>) -> Option<Timestamp> {
    match &*condition.kind {
        "Progressing" => condition.updated(),
        _ => condition.since(),
    }
}

/// The status that a condition stands for.
fn judge(condition: &StatusCondition<'_>) -> Status {
    match (&*condition.kind, &*condition.status) {
        ("Available", "True") | ("ReplicaFailure", "False") => Status::Current,
        ("Progressing", "True") if condition.reason == "NewReplicaSetAvailable" => Status::Current,
        ("Progressing", "True") | ("Available", _) => Status::InProgress,
        ("Progressing", "Unknown") => Status::Unknown,
        ("Progressing" | "ReplicaFailure", _) => Status::Failed,
        _ => Status::Unknown,
    }
}
