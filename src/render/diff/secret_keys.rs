//! The changed keys of a Secret in one line. Their values are hidden, so the names of the keys say more than one change.

use crate::diff::{Change, Op, Shown};
use crate::object::path::Side;
use crate::render::text;

use super::in_line::COLUMNS;
use super::shown_changes::ShownChanges;

/// The changed keys of a Secret.
pub(super) struct SecretKeys {
    /// `+password, -token, ~user`, as display text.
    pub(super) names: String,
    /// The number of the other changes.
    pub(super) others: usize,
}

impl ShownChanges<'_> {
    /// The changed keys of a Secret, if several have changed, and one of them came or went.
    pub(super) fn secret_keys(&self) -> Option<SecretKeys> {
        let diff = self.painter.diff;
        let is_hidden = |change: &&&Change| {
            let shown = |side| diff.shown(change.at, side, self.painter.view.redactor);
            [Side::Old, Side::New]
                .into_iter()
                .filter_map(shown)
                .any(Shown::is_hidden)
        };
        let keys: Vec<&Change> = self.changes.iter().filter(is_hidden).copied().collect();
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
            let name = text::escape_line(diff.field(change.at)?).into_owned();
            Some(format!("{mark}{name}"))
        });
        Some(SecretKeys {
            names: names.collect::<Vec<_>>().join(", "),
            others: self.changes.len() - keys.len(),
        })
    }
}

/// The keys of a new Secret, for the line of its creation: `password, user`. `None` if it has none, or its values are shown.
pub fn secret_keys_in_line(object: Shown<'_>) -> Option<String> {
    let fields = object.get("data")?.fields();
    let hidden = fields.filter(|(_, value)| value.is_hidden());
    let names: Vec<String> = hidden
        .map(|(name, _)| text::escape_line(&name).into_owned())
        .collect();
    let line = names.join(", ");
    (!names.is_empty()).then(|| text::cut_line(&line, COLUMNS, "…").into_owned())
}
