//! Summarizes a new object in a few lines, and computes how long a deleted object existed.

use jiff::{SignedDuration, Timestamp};

use super::lines::whole;
use super::shown_changes::ShownChanges;
use super::value;
use super::value::Room;
use super::view::DiffView;
use crate::diff::{Change, Content, Filter, Op, Shown};
use crate::object::path::{Label, Path, Place, Side, Step};
use crate::render::style::Role;
use crate::render::text::{self, Text};

/// Fields that every object has, or that the server fills in.
const KNOWN: [&str; 4] = ["apiVersion", "kind", "metadata", "status"];

/// Summarizes a new object: its labels, then each of its fields, folded to the width.
pub fn created_lines(object: Shown<'_>, view: &DiffView<'_>) -> Vec<Text> {
    let mut lines = Vec::new();
    let mut folded = 0;
    if let Some(metadata) = object.get("metadata") {
        for name in ["labels", "ownerReferences"] {
            if let Some(value) = metadata.get(name) {
                lines.extend(line(&["metadata", name], value, view));
            }
        }
    }
    for (name, value) in object.fields() {
        if KNOWN.contains(&&*name) {
            continue;
        }
        let mut parts: Vec<_> = match value.content() {
            Content::Object => value.fields().collect(),
            _ => Vec::new(),
        };
        if view.folds(parts.len()) {
            folded += parts.len() - 1;
            parts.clear();
        }
        if parts.is_empty() {
            lines.extend(line(&[&name], value, view));
        }
        for (part, value) in parts {
            lines.extend(line(&[&name, &part], value, view));
        }
    }
    // A Pod's own containers are whole in a pipe.
    let pod = view.look.width.map(|_| POD);
    for path in PODS.into_iter().chain(pod) {
        let images = images_below(object, path);
        lines.extend(images.filter_map(|(path, image)| write(&path, image, view)));
    }
    if folded > 0 && !lines.is_empty() {
        lines.push(whole(lines.len() + folded));
    }
    lines
}

/// The most columns of a value in a line.
pub(super) const COLUMNS: usize = 48;

/// The paths of the Pod template in workloads.
const PODS: [&[&str]; 2] = [
    &["spec", "template", "spec"],
    &["spec", "jobTemplate", "spec", "template", "spec"],
];

/// The path of a Pod's own fields.
const POD: &[&str] = &["spec"];

/// The images of the containers of a workload or of a Pod, with their paths.
pub(super) fn images(object: Shown<'_>) -> impl Iterator<Item = (Path<'_>, Shown<'_>)> {
    let pods = PODS.into_iter().chain([POD]);
    pods.flat_map(move |path| images_below(object, path))
}

/// The images of the containers in a Pod's spec at this path. The folded lines of its fields do not show them.
fn images_below<'o>(
    object: Shown<'o>,
    path: &'static [&'static str],
) -> impl Iterator<Item = (Path<'o>, Shown<'o>)> {
    let pod = path.iter().try_fold(object, |value, name| value.get(name));
    let containers = pod.and_then(|pod| pod.get("containers"));
    let items = containers.into_iter().flat_map(Shown::items);
    items.zip(0u32..).filter_map(|(container, index)| {
        let mut steps: Vec<Step<'_>> = fields(path);
        steps.push(Step::Field("containers".into()));
        steps.push(Step::Item {
            place: Place {
                old: None,
                new: Some(index),
            },
            label: Label::Key {
                parts: vec![("name".into(), container.str("name")?)],
                nth: 1,
            },
        });
        steps.push(Step::Field("image".into()));
        Some((Path { steps }, container.get("image")?))
    })
}

/// How long an object existed, if it has a creation time.
pub fn lifetime(object: Shown<'_>, until: Timestamp) -> Option<SignedDuration> {
    let created: Timestamp = object
        .get("metadata")?
        .str("creationTimestamp")?
        .parse()
        .ok()?;
    Some(until.duration_since(created))
}

fn line(path: &[&str], value: Shown<'_>, view: &DiffView<'_>) -> Option<Text> {
    let empty = match value.content() {
        Content::Null => true,
        Content::Object => value.fields().next().is_none(),
        Content::Array => value.items().next().is_none(),
        _ => false,
    };
    if empty {
        return None;
    }
    write(
        &Path {
            steps: fields(path),
        },
        value,
        view,
    )
}

fn fields<'p>(path: &[&'p str]) -> Vec<Step<'p>> {
    path.iter().map(|&name| Step::Field(name.into())).collect()
}

fn write(path: &Path<'_>, value: Shown<'_>, view: &DiffView<'_>) -> Option<Text> {
    if !view.filter.keeps_value(path, value) {
        return None;
    }
    let start = Text::from(format!("+ {path}: "));
    let room = Room::of(view.look, start.width());
    let value = value::fitting(value, room.columns, &[])?;
    let line = format!("{}{}", start.as_str(), room.one(&value));
    Some(Text::new(Role::Added, line))
}

/// The changed keys of a Secret.
pub(super) struct SecretKeys {
    /// `+password, -token, ~user`, as display text.
    pub(super) names: String,
    /// The number of the other changes.
    pub(super) others: usize,
}

/// The changed keys of a Secret, if several have changed, and one of them came or went.
pub(super) fn secret_keys(shown_changes: &ShownChanges<'_>) -> Option<SecretKeys> {
    let painter = &shown_changes.painter;
    let is_hidden = |change: &&&Change| {
        let sides = [Side::Old, Side::New].into_iter();
        let mut shown = sides.filter_map(|side| painter.shown(change.at, side));
        shown.any(Shown::is_hidden)
    };
    let keys: Vec<&Change> = shown_changes
        .changes
        .iter()
        .filter(is_hidden)
        .copied()
        .collect();
    let is_move = |change: &&Change| matches!(change.op, Op::Replace | Op::Move { .. });
    if keys.len() < 2 || keys.iter().all(is_move) {
        return None;
    }
    let names = keys.iter().filter_map(|change| {
        let mark = match change.op {
            Op::Add => '+',
            Op::Remove => '-',
            Op::Replace | Op::Move { .. } => '~',
        };
        let name = text::escape_line(painter.diff.field(change.at)?).into_owned();
        Some(format!("{mark}{name}"))
    });
    Some(SecretKeys {
        names: names.collect::<Vec<_>>().join(", "),
        others: shown_changes.changes.len() - keys.len(),
    })
}

/// The selected keys of a new Secret, for the line of its creation: `password, user`. `None` if it has none, or its values are
/// shown.
pub fn secret_keys_in_line(object: Shown<'_>, filter: &Filter) -> Option<Text> {
    let keys = object.get("data")?.fields();
    let hidden = keys.filter(|(name, value)| {
        let steps = fields(&["data", name]);
        value.is_hidden() && filter.keeps_value(&Path { steps }, *value)
    });
    let names: Vec<String> = hidden.map(|(name, _)| name.into_owned()).collect();
    (!names.is_empty()).then(|| Text::from(names.join(", ")).fit(COLUMNS, "…"))
}
