//! The connections of the traced object: what is in front of it, what uses it, what is behind it, and what it uses.

use std::collections::BTreeMap;

use super::traced::Traced;
use crate::graph::{IfAbsent, ReferenceTarget, RelationEnd, TraceSide, TraceStep, walk};
use crate::model::{Absence, missing_in_front};
use crate::object::Resource;
use crate::render::canvas::Canvas;
use crate::render::count::{plural, thousands};
use crate::render::outline::{Outline, OutlineItem};
use crate::render::style::{Role, role};
use crate::render::table::{Cell, Column, Fit};
use crate::status::{Assessment, Status};

/// The sections on these sides of the object.
pub(super) fn outline(traced: &Traced, sides: &[TraceSide], canvas: Canvas) -> Outline {
    let steps = steps(traced);
    let mut items = Vec::new();
    for side in sides {
        let of_side = steps.iter().filter(|step| step.side == *side);
        let Users { shown, well } = Users::of(traced, *side, of_side.collect());
        let shown = shown.into_iter().map(|step| row(traced, step, canvas));
        let more = well_users(&well).map(|text| OutlineItem::line(2, &text, Role::Dim));
        let rows: Vec<OutlineItem> = shown.chain(more).chain(notes(traced, *side)).collect();
        if !rows.is_empty() {
            items.push(OutlineItem::line(1, title(*side), Role::Heading));
            items.extend(rows);
        }
    }
    Outline {
        columns: vec![
            Column::new("Connected", Fit::CutMiddle),
            Column::new("Relation", Fit::Shrink),
            Column::new("Ready", Fit::Drop(2)),
            Column::new("State", Fit::Keep),
            Column::new("Age", Fit::Drop(1)),
        ],
        tree: 0,
        items,
        healthy_beyond: 0,
        footnote: footnote(traced),
    }
}

/// The most users of an object that are well and have rows. If there are more, they are counted.
const MAX_WELL_USERS: usize = 8;

/// The objects on a side of the traced one. A node has users in any number: only those that are not well say something.
struct Users<'s, 'g> {
    shown: Vec<&'s TraceStep<'g>>,
    /// Those that are only counted.
    well: Vec<&'s TraceStep<'g>>,
}

impl<'s, 'g> Users<'s, 'g> {
    fn of(traced: &Traced, side: TraceSide, steps: Vec<&'s TraceStep<'g>>) -> Users<'s, 'g> {
        let groups: Vec<&[&TraceStep<'_>]> = steps.chunk_by(|_, next| next.depth > 1).collect();
        let is_well =
            |group: &&&[&TraceStep<'_>]| group.iter().all(|step| says_nothing(traced, step));
        let well = groups.iter().filter(is_well).count();
        if side != TraceSide::UsedBy || well <= MAX_WELL_USERS {
            return Users {
                shown: steps,
                well: Vec::new(),
            };
        }
        let (well, shown): (Vec<&[&TraceStep<'_>]>, Vec<_>) =
            groups.into_iter().partition(|group| is_well(&group));
        Users {
            shown: shown.concat(),
            well: well.concat(),
        }
    }
}

/// Whether an object is well and has no line.
fn says_nothing(traced: &Traced, step: &TraceStep<'_>) -> bool {
    let assessment = match &step.end {
        RelationEnd::Node(node) => traced.assessment(&node.uid),
        RelationEnd::Ghost(_) => None,
    };
    assessment.is_some_and(|found| found.is_well() && found.causes.is_empty())
}

/// `+ 48 that are well: 30 pods, 18 replicasets (-o json shows them)`: the users without rows.
fn well_users(well: &[&TraceStep<'_>]) -> Option<String> {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for step in well.iter().filter(|step| !step.is_repeat) {
        let kind = step.end.target().kind.kind.to_lowercase();
        *kinds.entry(kind).or_default() += 1;
    }
    let counts = kinds.iter().map(|(kind, count)| plural(*count, kind));
    let counts: Vec<String> = counts.collect();
    let all = thousands(kinds.values().sum());
    (!well.is_empty()).then(|| {
        let counts = counts.join(", ");
        format!("+ {all} that are well: {counts} (-o json shows them)")
    })
}

/// What is missing on a side of the object.
fn notes(traced: &Traced, side: TraceSide) -> Option<OutlineItem> {
    let uid = traced.uid().filter(|_| side == TraceSide::InFront)?;
    let note = missing_in_front(traced.model.around(), uid)?;
    Some(OutlineItem::line(2, &note.text, Role::Dim))
}

/// Everything that the object is connected to.
pub(super) fn steps(traced: &Traced) -> Vec<TraceStep<'_>> {
    let uid = traced.uid().into_iter();
    uid.flat_map(|uid| walk(traced.graph(), uid, &traced.reach))
        .collect()
}

/// The words for a side of the object.
pub(super) fn title(side: TraceSide) -> &'static str {
    match side {
        TraceSide::InFront => "in front",
        TraceSide::UsedBy => "used by",
        TraceSide::Behind => "behind",
        TraceSide::Uses => "uses",
    }
}

/// The relations to the object above, as a word or two.
pub(super) fn relation(step: &TraceStep<'_>) -> String {
    let names = step
        .relations
        .iter()
        .map(|relation| match (relation.name, step.side) {
            ("owner", TraceSide::Behind) => "owned",
            (name, _) => name,
        });
    let names: Vec<&str> = names.collect();
    let mut names = if names.is_empty() {
        vec!["owner"]
    } else {
        names
    };
    names.dedup();
    names.join(", ")
}

/// The state of an object of the walk, and a word for it.
pub(super) struct ShownState {
    pub(super) status: Status,
    pub(super) word: String,
}

/// The state of an object of the walk. One that is only named may be absent, unreadable, or of an unknown type.
pub(super) fn state(traced: &Traced, step: &TraceStep<'_>) -> ShownState {
    let shown = |status, word: &str| ShownState {
        status,
        word: word.to_owned(),
    };
    let target = match &step.end {
        RelationEnd::Node(node) => {
            return match traced.assessment(&node.uid) {
                Some(assessment) => shown(assessment.status(), &assessment.row.word),
                None => shown(Status::Unknown, "not read"),
            };
        }
        RelationEnd::Ghost(target) => target,
    };
    let mut relations = step.relations.iter();
    let is_optional =
        step.is_optional || relations.all(|relation| relation.if_absent == IfAbsent::Works);
    match absence(traced, target) {
        Absence::Missing if is_optional => shown(Status::Unknown, "absent, optional"),
        absence @ Absence::Missing => shown(Status::NotFound, absence.words()),
        absence @ (Absence::NotInFile | Absence::Refused | Absence::Unserved | Absence::Unread) => {
            shown(Status::Unknown, absence.words())
        }
    }
}

/// Why an object that is named is not in the graph.
pub(super) fn absence(traced: &Traced, target: &ReferenceTarget) -> Absence {
    let model = &traced.model;
    let source = target.source(&traced.source.cluster, model.types());
    model.absence(source.as_ref())
}

fn row(traced: &Traced, step: &TraceStep<'_>, canvas: Canvas) -> OutlineItem {
    let node = match &step.end {
        RelationEnd::Node(node) => Some(*node),
        RelationEnd::Ghost(_) => None,
    };
    let assessment = node.and_then(|node| traced.assessment(&node.uid));
    let ready = assessment.and_then(|assessment| assessment.row.ready.as_deref());
    let ShownState { status, word } = state(traced, step);
    let plain = |text: &str| Cell::new(text, Role::Plain);
    let cells = vec![
        plain(&name(traced, step)),
        plain(&relation(step)),
        plain(ready.unwrap_or_default()),
        Cell::new(&word, role(status)),
        plain(&canvas.age(node.and_then(|node| node.created))),
    ];
    let is_shown = |_: &&Assessment| !step.is_repeat;
    let causes = assessment.filter(is_shown).map(|found| &found.causes[..]);
    let causes = causes.unwrap_or_default().iter();
    let causes = causes.map(|cause| cause.text.clone());
    let marks = marks(traced, step, canvas);
    OutlineItem::row(step.depth + 1, status, cells)
        .because(causes.chain(marks))
        .showing(node)
}

/// That the object changed before the traced one failed, and who did it. A line at the top has the values.
fn marks(traced: &Traced, step: &TraceStep<'_>, canvas: Canvas) -> Vec<String> {
    let target = step.end.target();
    let changes = traced.last_changes.iter().filter(|_| !step.is_repeat);
    let marks = changes.filter_map(|change| change.mark(&target, canvas.now));
    marks.collect()
}

/// The object, with its namespace if it is another one.
pub(super) fn name(traced: &Traced, step: &TraceStep<'_>) -> String {
    let target = step.end.target();
    let mut name = format!("{}/{}", target.kind.kind.to_lowercase(), target.name);
    if let Some(namespace) = target.namespace.as_deref()
        && home(traced) != Some(namespace)
    {
        name = format!("{name} -n {namespace}");
    }
    if step.is_repeat {
        name.push_str(" (see above)");
    }
    name
}

/// The namespace of the traced object, or the object itself if it is one.
fn home(traced: &Traced) -> Option<&str> {
    let source = &traced.source;
    match &*source.resource.kind {
        "Namespace" => source.select.name(),
        _ => source.namespace(),
    }
}

/// How many kinds the line about lookups names.
const MAX_KINDS: usize = 3;

/// What was looked through, and which dependents that may have missed.
fn footnote(traced: &Traced) -> Option<String> {
    let shortfall = traced.model.search_shortfall();
    let parts = looked_through(traced).into_iter().chain(shortfall);
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// `looked through 10,000 pods and 12 deployments`; `None` if nothing was looked through.
fn looked_through(traced: &Traced) -> Option<String> {
    let mut counts: Vec<(usize, &Resource)> = traced
        .model
        .looked_through()
        .filter(|(_, count)| *count > 0)
        .map(|(source, count)| (count, &source.resource))
        .collect();
    counts.sort_by(|a, b| b.cmp(a));
    let more: usize = counts.iter().skip(MAX_KINDS).map(|(count, _)| count).sum();
    let named = counts
        .iter()
        .take(MAX_KINDS)
        .map(|(count, resource)| match count {
            1 => format!("1 {}", resource.kind.to_lowercase()),
            count => format!("{} {}", thousands(*count), resource.plural),
        });
    let mut parts: Vec<String> = named.collect();
    if more > 0 {
        parts.push(format!("{} more", thousands(more)));
    }
    let last = parts.pop()?;
    let first = parts.join(", ");
    Some(match &*first {
        "" => format!("looked through {last}"),
        first => format!("looked through {first} and {last}"),
    })
}
