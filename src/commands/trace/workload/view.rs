//! The parts of a frame about a workload: the phases of its rollout, its conditions, and its revisions.

use jiff::Timestamp;

use crate::commands::trace::chain::FrameParts;
use crate::object::{StatusCondition, conditions};
use crate::render::age;
use crate::render::canvas::Canvas;
use crate::render::names::fit_names;
use crate::render::status::symbol;
use crate::render::style::{Look, Role};
use crate::render::text::escape_line;
use crate::status::{Cause, CauseRule, Status};

use super::change::SpecChange;
use super::moment::Moment;
use super::phase::{PhaseName, PhaseProgress, RolloutPhase};
use super::rollout::RolloutSnapshot;
use super::state::WorkloadState;
use super::{blockers, revisions};

/// The parts of the frame.
pub(super) fn frame_parts(state: &WorkloadState, canvas: Canvas) -> FrameParts {
    let rollout = state.rollout();
    let (mut facts, mut right, mut lines) = Default::default();
    if let Some(rollout) = &rollout {
        facts = rollout.kind.facts(rollout.object());
        right = rollout.kind.countdown(rollout, canvas.now);
        lines = phase_lines(state, canvas);
        lines.extend(blocker_lines(rollout, canvas));
        lines.extend(cause_lines(rollout, canvas));
        lines.extend(condition_lines(rollout, canvas));
    }
    FrameParts {
        facts,
        beside: String::new(),
        right,
        lines,
        has_change: state.has_fields(),
        outline: revisions::outline(state, rollout.as_ref(), canvas),
    }
}

/// Fewer rows than this have no room for what has not begun, and for conditions that only repeat the headline.
const SHORT: usize = 30;

fn is_short(canvas: Canvas) -> bool {
    canvas.rows.is_some_and(|rows| rows < SHORT)
}

/// What keeps the rollout from its next step.
fn blocker_lines(rollout: &RolloutSnapshot<'_>, canvas: Canvas) -> Vec<String> {
    let look = canvas.look;
    let line = |text: &String| {
        let symbol = look.styles.paint(Role::Moving, look.symbols.in_progress);
        format!("{symbol} {}", escape_line(text))
    };
    blockers::of(rollout).iter().map(line).collect()
}

/// The rules whose causes the headline, the phases and the Pods show.
const SHOWN_ELSEWHERE: [CauseRule; 8] = [
    CauseRule::FailedPods,
    CauseRule::LastRunFailed,
    CauseRule::NeverScheduled,
    CauseRule::NotObserved,
    CauseRule::Paused,
    CauseRule::Retrying,
    CauseRule::ScaledToZero,
    CauseRule::Suspended,
];

/// The causes of the state of the workload that nothing else in the frame shows.
fn cause_lines(rollout: &RolloutSnapshot<'_>, canvas: Canvas) -> Vec<String> {
    let Some(assessment) = rollout.assessment() else {
        return Vec::new();
    };
    let is_repeated = |cause: &Cause, condition: &StatusCondition<'_>| {
        !condition.message.is_empty() && cause.text.contains(&*condition.message)
    };
    let is_new = |cause: &&Cause| {
        let mut conditions = conditions(rollout.object());
        !SHOWN_ELSEWHERE.contains(&cause.rule)
            && !conditions.any(|condition| is_repeated(cause, &condition))
    };
    let lead = format!("{} ", symbol(assessment.status(), canvas.look));
    let causes = assessment.causes.iter().filter(is_new);
    causes
        .flat_map(|cause| canvas.wrapped(&lead, &escape_line(&cause.text)))
        .collect()
}

fn phase_lines(state: &WorkloadState, canvas: Canvas) -> Vec<String> {
    let phases = &state.phases;
    let start = phases.first().map_or(Moment::default(), |change| change.at);
    let is_short = is_short(canvas);
    let is_shown = |phase: &&RolloutPhase| match phase.progress {
        // This phase needs a line only until the controller has observed the change.
        PhaseProgress::Done => phase.name != PhaseName::Observed,
        PhaseProgress::Waiting => !is_short || phase.name == PhaseName::NextRun,
        PhaseProgress::Underway | PhaseProgress::Failed | PhaseProgress::Unknown => true,
    };
    let mut lines = Vec::new();
    for phase in phases.iter().filter(is_shown) {
        lines.push(phase_line(phase, start, canvas));
        lines.extend(field_lines(state.change_of(phase.name), canvas));
    }
    lines
}

/// The indent of the lines about a phase.
const INDENT: &str = "    ";

/// What a change changed, with old and new values.
fn field_lines(change: Option<&SpecChange>, canvas: Canvas) -> Vec<String> {
    let fields = change.and_then(|change| change.fields.as_ref());
    let width = canvas.look.width;
    let look = Look {
        width: width.map(|columns| columns.saturating_sub(INDENT.len())),
        ..canvas.look
    };
    let lines = fields.map_or(Vec::new(), |fields| fields.lines(look));
    lines.iter().map(|line| format!("{INDENT}{line}")).collect()
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
    let is_of_schedule = matches!(phase.name, PhaseName::LastRun | PhaseName::NextRun);
    let time = match phase.progress {
        _ if is_of_schedule => String::new(),
        PhaseProgress::Done | PhaseProgress::Failed => phase.at.after(start).unwrap_or_default(),
        PhaseProgress::Underway | PhaseProgress::Waiting => "...".to_owned(),
        PhaseProgress::Unknown => String::new(),
    };
    let time = canvas.look.styles.dim(&format!("{time:<6}"));
    let is_dated = matches!(
        phase.name,
        PhaseName::Change | PhaseName::LaterChange | PhaseName::Complete | PhaseName::LastRun
    );
    let is_over = is_dated && phase.progress == PhaseProgress::Done;
    let time_of = phase.at.time().filter(|_| is_over);
    // The server's clock may be ahead.
    let ago = time_of.map(|time| format!("{} ago", age::age(time.min(canvas.now), canvas.now)));
    let start = format!(
        "{} {time}  {:<12}  ",
        canvas.look.styles.paint(role, symbol),
        phase.name.as_str(),
    );
    let summary = phase.summary();
    let summary = (!summary.is_empty()).then(|| escape_line(&summary).into_owned());
    let text = summary
        .into_iter()
        .chain(ago)
        .collect::<Vec<_>>()
        .join(", ");
    let text = fit_names(&start, &text, canvas.look);
    format!("{start}{text}").trim_end().to_owned()
}

fn condition_lines(rollout: &RolloutSnapshot<'_>, canvas: Canvas) -> Vec<String> {
    let mut lines = Vec::new();
    let is_short = is_short(canvas);
    for condition in conditions(rollout.object()) {
        let status = judge(&condition);
        if is_short && matches!(status, Status::Current | Status::InProgress) {
            continue;
        }
        let line = format!(
            "{} {}={} {}  {}",
            symbol(status, canvas.look),
            escape_line(&condition.kind),
            escape_line(&condition.status),
            escape_line(&condition.reason),
            canvas.look.styles.dim(&canvas.age(since(&condition))),
        );
        lines.push(line.trim_end().to_owned());
        if status == Status::Failed {
            let note = format!("  {}", canvas.look.symbols.note);
            lines.extend(canvas.wrapped(&note, &escape_line(&condition.message)));
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
        ("Available" | "Complete" | "SuccessCriteriaMet" | "Suspended", "True")
        | ("ReplicaFailure", "False") => Status::Current,
        ("Progressing", "True") if condition.reason == "NewReplicaSetAvailable" => Status::Current,
        ("Progressing", "True") | ("Available", _) => Status::InProgress,
        ("Progressing", "Unknown") => Status::Unknown,
        ("Failed" | "FailureTarget", "True") | ("Progressing" | "ReplicaFailure", _) => {
            Status::Failed
        }
        _ => Status::Unknown,
    }
}
