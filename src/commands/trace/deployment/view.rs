//! The frame of a Deployment's trace: title, state, the phases, the conditions, then the revisions with
//! their pods as a tree.

use crate::commands::trace::outline::{Body, Item, Outline, Weight};
use crate::commands::trace::page::{Page, role};
use crate::graph::{Facts, Node};
use crate::object::Value;
use crate::render::age;
use crate::render::style::Role;
use crate::render::table::{Cell, Column, Fit};
use crate::render::text::escape_line;
use crate::status::Status;

use super::phases::{Name, Phase, Progress};
use super::reading::{Condition, Reading, is_idle, revision, sets, workload};
use super::state::State;
use super::verdict;

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
    lines.extend(outline(state, reading.as_ref(), page).lines(page, room));
    lines
}

fn title(state: &State, reading: Option<&Reading<'_>>, page: &Page) -> String {
    let mut facts = vec![format!("-n {}", state.target.namespace)];
    if let Some(reading) = reading {
        facts.push(format!("{} replicas", reading.wanted()));
        facts.push(strategy(reading.deployment));
    }
    page.title(&state.target.object().to_string(), &facts)
}

/// How pods are replaced: `RollingUpdate, surge 1, unavailable 25%`.
fn strategy(deployment: Value<'_>) -> String {
    let strategy = deployment.at(&["spec", "strategy"]);
    let kind = strategy.and_then(|strategy| strategy.str_at(&["type"]));
    let mut text = kind.as_deref().unwrap_or("RollingUpdate").to_owned();
    for (key, word) in [("maxSurge", "surge"), ("maxUnavailable", "unavailable")] {
        let amount = strategy.and_then(|strategy| strategy.at(&["rollingUpdate", key]));
        if let Some(amount) = amount {
            let amount = amount.as_str().unwrap_or_else(|| amount.raw().into());
            text += &format!(", {word} {amount}");
        }
    }
    text
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
        cause: None,
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
    };
    let start = state.change.at;
    let moment = match phase.name {
        Name::Change => start,
        name => state.log.moment(name),
    };
    let time = match phase.progress {
        Progress::Done | Progress::Failed => moment.after(start).unwrap_or_default(),
        Progress::Underway | Progress::Waiting => "...".to_owned(),
    };
    let time = page.look.styles.dim(&format!("{time:<6}"));
    let mut text = escape_line(&phase.text).into_owned();
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
            page.look.styles.dim(&page.age(condition.since)),
        ));
        if status == Status::Failed {
            let message = escape_line(&condition.message);
            lines.push(format!("  {}{message}", page.look.symbols.note));
        }
    }
    lines
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

fn outline(state: &State, reading: Option<&Reading<'_>>, page: &Page) -> Outline {
    let current = reading.and_then(|reading| reading.current);
    let sets = state
        .uid()
        .map_or(Vec::new(), |uid| sets(&state.objects, uid, current));
    let is_shown = |set: &&&Node| {
        current.is_some_and(|current| current.uid == set.uid)
            || !is_idle(set)
            || !state.objects.graph().children(&set.uid).is_empty()
    };
    let mut items = Vec::new();
    for set in sets.iter().filter(is_shown) {
        items.push(set_item(state, set, page));
        let pods = state.objects.graph().children(&set.uid);
        items.extend(
            pods.into_iter()
                .filter_map(|pod| pod_item(state, pod, page)),
        );
    }
    let idle: Vec<&Node> = sets.iter().filter(|set| !is_shown(set)).copied().collect();
    let mut more: Vec<String> = idle_text(&idle).into_iter().collect();
    if let Some(reading) = reading {
        let orphan = |pod: &&Node| {
            format!(
                "orphaned: {} matches the selector, nobody owns it",
                pod.object
            )
        };
        more.extend(reading.orphans.iter().map(orphan));
    }
    let left = |pod: &String| format!("left: {pod} no longer matches the selector");
    more.extend(state.left.iter().map(left));
    items.extend(more.iter().map(|text| Item {
        depth: 1,
        body: Body::Line(page.look.styles.dim(&escape_line(text))),
        notes: Vec::new(),
        weight: Weight::Heavy,
    }));
    Outline {
        titles: vec!["REVISION", "READY", "IMAGE / STATUS", "AGE", "NODE"],
        columns: vec![
            Column::new("", Fit::CutMiddle),
            Column::new("", Fit::Keep),
            Column::new("", Fit::Shrink),
            Column::new("", Fit::Drop(1)),
            Column::new("", Fit::Drop(2)),
        ],
        items,
    }
}

/// The revisions that have no pods, in a few words.
fn idle_text(idle: &[&Node]) -> Option<String> {
    let mut revisions: Vec<i64> = idle
        .iter()
        .filter_map(|set| workload(set)?.revision)
        .collect();
    revisions.sort_unstable();
    let range = match revisions[..] {
        [] => String::new(),
        [one] => format!(" (#{one})"),
        [first, .., last] => format!(" (#{first} to #{last})"),
    };
    let revisions = if idle.len() == 1 {
        "revision"
    } else {
        "revisions"
    };
    (!idle.is_empty()).then(|| format!("{} idle {revisions}{range}", idle.len()))
}

fn set_item(state: &State, set: &Node, page: &Page) -> Item {
    let judged = state.objects.judge(&set.uid, page.now);
    let status = judged
        .as_ref()
        .map_or(Status::Unknown, |judged| judged.status);
    let images = state.objects.get(&set.uid).map_or(String::new(), images);
    let name = format!("{}{}", set.object, revision(set));
    Item {
        depth: 1,
        body: Body::Row {
            symbol: page.symbol(status),
            cells: vec![
                Cell::new(&name, Role::Name),
                Cell::new(
                    &judged.map_or(String::new(), |judged| judged.ready),
                    Role::Plain,
                ),
                Cell::new(&images, Role::Plain),
                Cell::new(&page.age(set.created), Role::Plain),
            ],
        },
        notes: Vec::new(),
        weight: Weight::Heavy,
    }
}

fn pod_item(state: &State, pod: &Node, page: &Page) -> Option<Item> {
    let Facts::Pod(facts) = &pod.facts else {
        return None;
    };
    let judged = state.objects.judge(&pod.uid, page.now)?;
    Some(Item {
        depth: 2,
        body: Body::Row {
            symbol: page.symbol(judged.status),
            cells: vec![
                Cell::new(&pod.object.to_string(), Role::Plain),
                Cell::new(&judged.ready, Role::Plain),
                Cell::new(&judged.word, role(judged.status)),
                Cell::new(&page.age(pod.created), Role::Plain),
                Cell::new(facts.node.as_deref().unwrap_or_default(), Role::Plain),
            ],
        },
        notes: judged.causes.into_iter().map(|cause| cause.text).collect(),
        weight: match judged.status {
            Status::Current => Weight::Light,
            _ => Weight::Heavy,
        },
    })
}

/// The images of a pod template, without where they come from: `web:v2.4.1`.
fn images(set: Value<'_>) -> String {
    let images: Vec<String> = set
        .items_at(&["spec", "template", "spec", "containers"])
        .filter_map(|container| container.str_at(&["image"]))
        .map(|image| short_image(&image))
        .collect();
    images.join(", ")
}

/// How many digits of a digest are shown: as many as container tools show.
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
