//! The frame of a Deployment's trace: title, state, phases, conditions, then the revisions with their pods as
//! a tree.

use jiff::Timestamp;

use crate::object::{StatusCondition, Value, conditions};
use crate::render::age;
use crate::render::canvas::Canvas;
use crate::render::header_footer::ViewHeader;
use crate::render::status::symbol;
use crate::render::style::Role;
use crate::render::text::escape_line;
use crate::status::Status;

use super::phase::{PhaseName, PhaseProgress, RolloutPhase};
use super::rollout::RolloutSnapshot;
use super::state::DeploymentState;
use super::{phases, revisions, verdict};

/// Draws the frame without its footer.
pub(super) fn frame(state: &DeploymentState, canvas: Canvas) -> Vec<String> {
    let rollout = state.rollout(canvas.now);
    let mut lines = vec![
        header(state, rollout.as_ref()).line(canvas),
        summary(state, rollout.as_ref(), canvas),
    ];
    if let Some(rollout) = &rollout {
        lines.extend(phase_lines(state, rollout, canvas));
        lines.extend(condition_lines(rollout, canvas));
    }
    let room = canvas.without_rows(lines.len()).rows;
    let outline = revisions::outline(state, rollout.as_ref(), canvas);
    lines.extend(outline.lines(canvas.look, room));
    lines
}

fn header(state: &DeploymentState, rollout: Option<&RolloutSnapshot<'_>>) -> ViewHeader {
    let mut facts = vec![format!("-n {}", state.traced.target.namespace)];
    if let Some(rollout) = rollout {
        facts.push(phases::replicas(rollout.wanted()));
        facts.push(strategy(rollout.deployment()));
    }
    ViewHeader {
        name: state.traced.target.object().to_string(),
        facts,
        ..ViewHeader::default()
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

fn summary(
    state: &DeploymentState,
    rollout: Option<&RolloutSnapshot<'_>>,
    canvas: Canvas,
) -> String {
    let headline = verdict::of(state, rollout);
    let deadline = rollout.and_then(RolloutSnapshot::deadline).map(|deadline| {
        let left = deadline.duration_since(canvas.now);
        if left.is_positive() {
            format!("{} to the deadline", age::human(left))
        } else {
            "the progress deadline has passed".to_owned()
        }
    });
    let left = canvas.state(headline.status, &headline.text());
    canvas.line(&left, &deadline.unwrap_or_default())
}

fn phase_lines(
    state: &DeploymentState,
    rollout: &RolloutSnapshot<'_>,
    canvas: Canvas,
) -> Vec<String> {
    let change = RolloutPhase {
        name: PhaseName::Change,
        progress: PhaseProgress::Done,
        text: state.change.text(),
        failure: None,
        time: None,
    };
    let is_shown = |phase: &&RolloutPhase| {
        // This phase needs a line only until the controller has observed the change.
        phase.name != PhaseName::Observed || phase.progress != PhaseProgress::Done
    };
    let phases = std::iter::once(&change).chain(&state.phases);
    phases
        .filter(is_shown)
        .map(|phase| phase_line(state, rollout, phase, canvas))
        .collect()
}

fn phase_line(
    state: &DeploymentState,
    rollout: &RolloutSnapshot<'_>,
    phase: &RolloutPhase,
    canvas: Canvas,
) -> String {
    let symbols = canvas.look.symbols;
    let (symbol, role) = match phase.progress {
        PhaseProgress::Done => (symbols.done, Role::Good),
        PhaseProgress::Underway => (symbols.in_progress, Role::Moving),
        PhaseProgress::Failed => (symbols.failed, Role::Bad),
        PhaseProgress::Waiting => (symbols.dot, Role::Dim),
        PhaseProgress::Unknown => (symbols.unknown, Role::Dim),
    };
    let start = state.change.at;
    let moment = match phase.name {
        PhaseName::Change => start,
        name => state.phase_times.moment(name),
    };
    let time = match phase.progress {
        PhaseProgress::Done | PhaseProgress::Failed => moment.after(start).unwrap_or_default(),
        PhaseProgress::Underway | PhaseProgress::Waiting => "...".to_owned(),
        PhaseProgress::Unknown => String::new(),
    };
    let time = canvas.look.styles.dim(&format!("{time:<6}"));
    let mut text = escape_line(&phase.words()).into_owned();
    if phase.name == PhaseName::Complete && phase.progress == PhaseProgress::Done {
        let ago = moment.time().map(|time| age::age(time, rollout.now));
        text += &ago.map_or(String::new(), |ago| format!(", {ago} ago"));
    }
    let line = format!(
        "{} {time}  {:<12}  {text}",
        canvas.look.styles.paint(role, symbol),
        phase.name.as_str(),
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
