//! The frame of a Deployment's trace: title, state, the phases, the conditions, then the revisions with
//! their pods as a tree.

use jiff::Timestamp;

use crate::commands::trace::page::Page;
use crate::object::Value;
use crate::render::age;
use crate::render::style::Role;
use crate::render::text::escape_line;
use crate::status::Status;

use super::phase::{Name, Phase, Progress};
use super::reading::{Condition, Reading};
use super::state::State;
use super::{phases, revisions, verdict};

/// Draws the whole frame but its footer.
pub(super) fn frame(state: &State, page: &Page) -> Vec<String> {
    let reading = state.reading(page.now);
    let mut lines = vec![title(state, reading.as_ref(), page)];
    lines.push(summary(state, reading.as_ref(), page));
    if let Some(reading) = &reading {
        lines.extend(phase_lines(state, reading, page));
        lines.extend(condition_lines(reading, page));
    }
    let room = page.rows.map(|rows| rows.saturating_sub(lines.len()));
    lines.extend(revisions::outline(state, reading.as_ref(), page).lines(page, room));
    lines
}

fn title(state: &State, reading: Option<&Reading<'_>>, page: &Page) -> String {
    let mut facts = vec![format!("-n {}", state.target.namespace)];
    if let Some(reading) = reading {
        facts.push(phases::replicas(reading.wanted()));
        facts.push(strategy(reading.deployment));
    }
    page.title(&state.target.object().to_string(), &facts)
}

/// How pods are replaced: `RollingUpdate, surge 1, unavailable 25%`.
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

fn summary(state: &State, reading: Option<&Reading<'_>>, page: &Page) -> String {
    let (status, words) = verdict::of(state, reading);
    let deadline = reading.and_then(Reading::deadline).map(|deadline| {
        let left = deadline.duration_since(page.now);
        if left.is_positive() {
            format!("{} to the deadline", age::human(left))
        } else {
            "the deadline is over".to_owned()
        }
    });
    page.spread(&page.state(status, &words), &deadline.unwrap_or_default())
}

fn phase_lines(state: &State, reading: &Reading<'_>, page: &Page) -> Vec<String> {
    let change = Phase {
        name: Name::Change,
        progress: Progress::Done,
        text: state.change.text(),
        failure: None,
        time: None,
    };
    let is_shown = |phase: &&Phase| {
        // That the controller has seen a change is worth a line only while it has not.
        phase.name != Name::Observed || phase.progress != Progress::Done
    };
    let phases = std::iter::once(&change).chain(&state.phases);
    phases
        .filter(is_shown)
        .map(|phase| phase_line(state, reading, phase, page))
        .collect()
}

fn phase_line(state: &State, reading: &Reading<'_>, phase: &Phase, page: &Page) -> String {
    let symbols = page.look.symbols;
    let (symbol, role) = match phase.progress {
        Progress::Done => (symbols.done, Role::Good),
        Progress::Underway => (symbols.in_progress, Role::Moving),
        Progress::Failed => (symbols.failed, Role::Bad),
        Progress::Waiting => (symbols.dot, Role::Dim),
        Progress::Unknown => (symbols.unknown, Role::Dim),
    };
    let start = state.change.at;
    let moment = match phase.name {
        Name::Change => start,
        name => state.log.moment(name),
    };
    let time = match phase.progress {
        Progress::Done | Progress::Failed => moment.after(start).unwrap_or_default(),
        Progress::Underway | Progress::Waiting => "...".to_owned(),
        Progress::Unknown => String::new(),
    };
    let time = page.look.styles.dim(&format!("{time:<6}"));
    let mut text = escape_line(&phase.words()).into_owned();
    if phase.name == Name::Complete && phase.progress == Progress::Done {
        let ago = moment.time().map(|time| age::age(time, reading.now));
        text += &ago.map_or(String::new(), |ago| format!(", {ago} ago"));
    }
    let line = format!(
        "{} {time}  {:<12}  {text}",
        page.look.styles.paint(role, symbol),
        phase.name.as_str(),
    );
    line.trim_end().to_owned()
}

fn condition_lines(reading: &Reading<'_>, page: &Page) -> Vec<String> {
    let mut lines = Vec::new();
    for condition in reading.conditions() {
        let status = judge(&condition);
        lines.push(format!(
            "{} {}={} {}  {}",
            page.symbol(status),
            escape_line(&condition.kind),
            escape_line(&condition.status),
            escape_line(&condition.reason),
            page.look.styles.dim(&page.age(since(&condition))),
        ));
        if status == Status::Failed {
            let message = escape_line(&condition.message);
            lines.push(format!("  {}{message}", page.look.symbols.note));
        }
    }
    lines
}

/// Since when a condition says what it says: a rollout goes on without a transition.
fn since(condition: &Condition) -> Option<Timestamp> {
    match &*condition.kind {
        "Progressing" => condition.updated,
        _ => condition.since,
    }
}

/// Whether a condition is as it should be.
fn judge(condition: &Condition) -> Status {
    match (&*condition.kind, &*condition.status) {
        ("Available", "True") | ("ReplicaFailure", "False") => Status::Current,
        ("Progressing", "True") if condition.reason == "NewReplicaSetAvailable" => Status::Current,
        ("Progressing", "True") | ("Available", _) => Status::InProgress,
        ("Progressing", "Unknown") => Status::Unknown,
        ("Progressing" | "ReplicaFailure", _) => Status::Failed,
        _ => Status::Unknown,
    }
}
