//! The parts of a frame about a workload: its state, the phases of its rollout, its conditions, and its revisions as a tree.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::commands::trace::chain::FrameParts;
use crate::commands::trace::story_line::{Extra, StoryLine};
use crate::commands::trace::traced::Traced;
use crate::diff::Redactor;
use crate::graph::Node;
use crate::model::Model;
use crate::object::{StatusCondition, Value, conditions, counted};
use crate::render::age;
use crate::render::canvas::Canvas;
use crate::render::diff::{DiffView, Fold, ShownChanges};
use crate::render::outline::{Outline, OutlineItem, Weight};
use crate::render::style::{Look, Role, Styles, Symbols, role};
use crate::render::table::{Cell, Column, Fit};
use crate::render::text::Text;
use crate::rollout::{
    Moment, PhaseName, PhaseProgress, PodGroup, RolloutDue, RolloutPhase, RolloutSnapshot,
    RolloutState, blockers, condition_since, condition_status,
};
use crate::status::{Cause, CauseRule, MAX_MISSED, Status};

/// The parts of the frame.
pub(super) fn frame_parts(traced: &Traced, state: &RolloutState, canvas: Canvas) -> FrameParts {
    let rollout = state.snapshot(&traced.model, traced.uid());
    let (mut facts, mut right, mut lines) = (Vec::new(), String::new(), Vec::new());
    if let Some(rollout) = &rollout {
        facts = rollout.kind.facts(rollout.object());
        right = countdown(rollout, canvas.now);
        lines = phase_lines(state, canvas);
        // What keeps the rollout from its next step.
        let lead = Text::new(Role::Moving, canvas.look.symbols.in_progress) + " ";
        let blockers = blockers(rollout).into_iter();
        let causes = blockers.map(|text| lead.clone() + text);
        let causes = causes.chain(cause_lines(rollout, canvas));
        lines.extend(causes.map(StoryLine::from));
        lines.extend(condition_lines(rollout, canvas));
    }
    FrameParts {
        facts,
        beside: Text::default(),
        right: right.into(),
        lines,
        has_change: state.phases.first().is_some_and(RolloutPhase::has_fields),
        outline: outline(traced, state, rollout.as_ref(), canvas),
    }
}

/// The time until the controller acts or gives up, for the end of the headline's line.
fn countdown(rollout: &RolloutSnapshot<'_>, now: Timestamp) -> String {
    match rollout.kind.due(rollout, now) {
        None => String::new(),
        Some(RolloutDue::Deadline(end)) if end > now => {
            format!("{} to the deadline", age::human(end.duration_since(now)))
        }
        Some(RolloutDue::Deadline(_)) => "the deadline has passed".to_owned(),
        Some(RolloutDue::HeldStart(since)) => {
            let span = age::age(since, now);
            format!("starts wait for the active job (Forbid), for {span}")
        }
        Some(RolloutDue::Start(next, _)) if next > now => {
            format!("next start in {}", age::human(next.duration_since(now)))
        }
        Some(RolloutDue::Start(next, missed)) => {
            let more = if missed == MAX_MISSED {
                "at least "
            } else {
                ""
            };
            let starts = counted(missed, "start is", "starts are");
            format!("{more}{starts} due, for {}", age::age(next, now))
        }
    }
}

/// The rules whose causes the headline, the phases and the Pods show.
const SHOWN_ELSEWHERE: [CauseRule; 9] = [
    CauseRule::FailedPods,
    CauseRule::LastRunFailed,
    CauseRule::ManagedBy,
    CauseRule::NeverScheduled,
    CauseRule::NotObserved,
    CauseRule::Paused,
    CauseRule::Retrying,
    CauseRule::ScaledToZero,
    CauseRule::Suspended,
];

/// The causes of the state of the workload that nothing else in the frame shows.
fn cause_lines(rollout: &RolloutSnapshot<'_>, canvas: Canvas) -> Vec<Text> {
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
    let lead = Text::symbol(assessment.status(), canvas.look.symbols) + " ";
    let causes = assessment.causes.iter().filter(is_new);
    causes
        .flat_map(|cause| canvas.wrapped(lead.clone(), &cause.text))
        .collect()
}

fn phase_lines(state: &RolloutState, canvas: Canvas) -> Vec<StoryLine> {
    let phases = &state.phases;
    let start = phases.first().map_or(Moment::default(), |change| change.at);
    // This phase needs a line only until the controller has observed the change.
    let is_shown = |phase: &&RolloutPhase| {
        phase.progress != PhaseProgress::Done || phase.name != PhaseName::Observed
    };
    let width = canvas.look.width;
    let inside = Look {
        width: width.map(|columns| columns.saturating_sub(INDENT.len())),
        ..canvas.look
    };
    let mut lines = Vec::new();
    for phase in phases.iter().filter(is_shown) {
        let line = StoryLine::from(phase_line(phase, start, canvas));
        let has_begun =
            phase.progress != PhaseProgress::Waiting || phase.name == PhaseName::NextRun;
        lines.push(if has_begun {
            line
        } else {
            line.extra(Extra::Phase)
        });
        let changes = change_lines(phase, inside).into_iter();
        lines.extend(changes.map(|line| StoryLine::from(Text::from(INDENT) + line)));
    }
    lines
}

/// The indent of the lines about a phase.
const INDENT: &str = "    ";

/// How many lines of changes are shown.
const LINES_SHOWN: usize = 5;

/// The changes, in the notation of `changes`: `~ .spec.replicas: 3 → 5`.
fn change_lines(phase: &RolloutPhase, look: Look) -> Vec<Text> {
    let change = phase.change.as_ref();
    let Some(fields) = change.and_then(|change| change.fields.as_ref()) else {
        return Vec::new();
    };
    let (diff, filter) = (fields.diff(), fields.filter());
    let view = DiffView {
        look,
        redactor: &Redactor::new(),
        filter: &filter,
        noise: &BTreeSet::new(),
        zone: &TimeZone::UTC,
        fold: Fold::Many,
    };
    let mut lines = ShownChanges::unattributed(&diff, &view).lines();
    let more = lines.len().saturating_sub(LINES_SHOWN);
    lines.truncate(LINES_SHOWN);
    lines.extend((more > 0).then(|| Text::from(format!("  {more} more"))));
    lines
}

/// The changes without styles and without a limit of width.
pub(super) fn plain_lines(phase: &RolloutPhase) -> Vec<String> {
    let look = Look {
        width: None,
        styles: Styles::PLAIN,
        symbols: &Symbols::ASCII,
    };
    let lines = change_lines(phase, look).into_iter();
    lines.map(|line| line.to_string()).collect()
}

/// The time since `start`: in tenths of a second if both were seen live, because one clock then shows both; otherwise in
/// seconds. `None` if a time is unknown, or `start` was later.
fn after(at: Moment, start: Moment) -> Option<String> {
    if let (Some(seen), Some(start)) = (at.seen, start.seen) {
        return Some(age::since_start(seen.duration_since(start)));
    }
    let span = at.time()?.duration_since(start.time()?);
    (!span.is_negative()).then(|| age::delta(span))
}

fn phase_line(phase: &RolloutPhase, start: Moment, canvas: Canvas) -> Text {
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
        PhaseProgress::Done | PhaseProgress::Failed => {
            let after = after(phase.at, start).unwrap_or_default();
            match after.strip_prefix('+') {
                Some(span) if phase.is_at_most => format!("{}{span}", symbols.at_most),
                _ => after,
            }
        }
        PhaseProgress::Underway | PhaseProgress::Waiting => "...".to_owned(),
        PhaseProgress::Unknown => String::new(),
    };
    let is_dated = matches!(
        phase.name,
        PhaseName::Change | PhaseName::LaterChange | PhaseName::Complete | PhaseName::LastRun
    );
    let is_over = is_dated && phase.progress == PhaseProgress::Done;
    let time_of = phase.at.time().filter(|_| is_over);
    // The server's clock may be ahead.
    let ago = time_of.map(|time| format!("{} ago", age::age(time.min(canvas.now), canvas.now)));
    let start = Text::new(role, symbol) + " " + Text::dim(format!("{time:<6}"));
    let start = start + format!("  {:<12}  ", phase.name.as_str());
    let summary = Some(phase.summary()).filter(|summary| !summary.is_empty());
    let text: Vec<String> = summary.into_iter().chain(ago).collect();
    start
        .with_names(Role::Plain, text.join(", "), canvas.look)
        .trim_end()
}

fn condition_lines(rollout: &RolloutSnapshot<'_>, canvas: Canvas) -> Vec<StoryLine> {
    let mut lines = Vec::new();
    for condition in conditions(rollout.object()) {
        let status = condition_status(&condition);
        let words = format!(
            " {}={} {}  ",
            condition.kind, condition.status, condition.reason
        );
        let age = Text::dim(canvas.age(condition_since(&condition)));
        let line = Text::symbol(status, canvas.look.symbols) + words + age;
        let line = StoryLine::from(line.trim_end());
        if matches!(status, Status::Current | Status::InProgress) {
            lines.push(line.extra(Extra::Condition));
            continue;
        }
        lines.push(line);
        if status == Status::Failed {
            let note = format!("  {}", canvas.look.symbols.note);
            let message = canvas.wrapped(note, &condition.message).into_iter();
            lines.extend(message.map(StoryLine::from));
        }
    }
    lines
}

/// The tree of a workload's dependents, also after its deletion.
fn outline(
    traced: &Traced,
    state: &RolloutState,
    rollout: Option<&RolloutSnapshot<'_>>,
    canvas: Canvas,
) -> Outline {
    let kind = state.kind;
    let gone = traced.presence.last_uid().filter(|_| rollout.is_none());
    let gone = gone.map(|uid| kind.groups(&traced.model, uid));
    let groups = rollout.map_or(gone.as_deref().unwrap_or_default(), |rollout| {
        &rollout.groups
    });
    let is_shown = |group: &&PodGroup<'_>| group.is_current() || !group.is_idle();
    let mut items = Vec::new();
    for group in groups.iter().filter(is_shown) {
        let depth = 1 + usize::from(group.name.is_some());
        items.extend(group_item(&traced.model, group, canvas));
        let pods = group.pods.iter();
        items.extend(pods.filter_map(|pod| pod_item(&traced.model, pod, depth, canvas)));
    }
    let idle: Vec<_> = groups.iter().filter(|group| !is_shown(group)).collect();
    let line = |text: &String| OutlineItem::line(1, text, Role::Dim);
    items.extend(idle_text(&idle).iter().map(line));
    items.extend(remarks(&state.left, rollout).iter().map(line));
    let column = match kind.group_kind() {
        "" => "Pod",
        "Job" => "Job",
        _ => "Revision",
    };
    Outline {
        columns: vec![
            Column::new(column, Fit::CutMiddle),
            Column::new("Ready", Fit::Keep),
            Column::new("Image / Status", Fit::Shrink),
            Column::new("Age", Fit::Drop(1)),
            Column::new("Node", Fit::Drop(2)),
        ],
        tree: 0,
        items,
        healthy_beyond: 0,
        footnote: None,
    }
}

/// The kinds that were not read, and the pods that do not belong to the workload.
fn remarks(left: &[String], rollout: Option<&RolloutSnapshot<'_>>) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(rollout) = rollout {
        remarks.extend(rollout.loaded.unread.iter().cloned());
        let orphan = |pod: &&Node| {
            format!(
                "orphaned: {} matches the selector but has no owner",
                pod.object
            )
        };
        remarks.extend(rollout.orphans.iter().map(orphan));
    }
    let line = |pod: &String| format!("left: {pod} no longer matches the selector");
    remarks.extend(left.iter().map(line));
    remarks
}

/// The text for revisions without pods.
fn idle_text(idle: &[&PodGroup<'_>]) -> Option<String> {
    let mut revisions: Vec<i64> = idle.iter().filter_map(|group| group.number).collect();
    revisions.sort_unstable();
    let range = match revisions[..] {
        [] => String::new(),
        [one] => format!(" (#{one})"),
        [first, .., last] => format!(" (#{first} to #{last})"),
    };
    let counted = counted(idle.len(), "idle revision", "idle revisions");
    (!idle.is_empty()).then(|| format!("{counted}{range}"))
}

/// The row of a group; `None` if its Pods belong to the workload itself.
fn group_item(model: &Model, group: &PodGroup<'_>, canvas: Canvas) -> Option<OutlineItem> {
    let name = group.name.as_ref()?;
    let template = group.template(model);
    let images = template.map_or(String::new(), |template| images(template.root()));
    let cells = vec![
        Cell::new(&format!("{name}{}", group.suffix()), Role::Name),
        Cell::new(&group.ready, Role::Plain),
        Cell::new(&images, Role::Plain),
        Cell::new(&canvas.age(group.created()), Role::Plain),
    ];
    Some(OutlineItem::row(1, group.status, cells).weighing(Weight::Line))
}

fn pod_item(model: &Model, pod: &Node, depth: usize, canvas: Canvas) -> Option<OutlineItem> {
    let node = pod.pod()?.node.as_deref();
    let assessment = model.assessment(&pod.uid)?;
    let (status, row) = (assessment.status(), &assessment.row);
    let cells = vec![
        Cell::new(&pod.object.to_string(), Role::Plain),
        Cell::new(row.ready.as_deref().unwrap_or_default(), Role::Plain),
        Cell::new(&row.word, role(status)),
        Cell::new(&canvas.age(pod.created), Role::Plain),
        Cell::new(node.unwrap_or_default(), Role::Plain),
    ];
    let causes = assessment.causes.iter().map(|cause| &cause.text);
    let item = OutlineItem::row(depth, status, cells).because(causes);
    Some(item.showing(Some(pod)))
}

/// The images of a pod template, without their registries: `web:v2.4.1`.
fn images(set: Value<'_>) -> String {
    let images: Vec<String> = set
        .items_at(&["spec", "template", "spec", "containers"])
        .filter_map(|container| container.str_at(&["image"]))
        .map(|image| short_image(&image))
        .collect();
    images.join(", ")
}

/// How many digits of a digest are shown, as in container tools.
const DIGEST: usize = 12;

fn short_image(image: &str) -> String {
    let name = image.rsplit('/').next().unwrap_or(image);
    match name.split_once("@sha256:") {
        Some((name, digest)) => {
            let digest: String = digest.chars().take(DIGEST).collect();
            format!("{name}@{digest}")
        }
        None => name.to_owned(),
    }
}
