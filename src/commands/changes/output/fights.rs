//! `Fights`: fields that two managers write back and forth.

use std::collections::HashMap;

use crate::commands::changes::line_style::{LineStyle, message_lines};
use crate::commands::field_fight::{FieldFight, FieldWrite, FightTurn};
use crate::commands::versions::{Compared, TimelineEntry};
use crate::diff::{Diff, Op};
use crate::object::managed_fields::By;
use crate::object::{ObjectRef, Uid};
use crate::render::diff::{ChangeType, DiffView, change_in_line, selected};
use crate::render::style::Role;
use crate::render::text::Text;

/// How many fields it remembers.
const REMEMBERED: usize = 4096;

/// The fields that were written, and who wrote them last.
#[derive(Debug, Default)]
pub(crate) struct Fights {
    fields: HashMap<(Uid, String), ContestedField>,
}

/// A field of an object that two managers may fight about.
#[derive(Debug)]
struct ContestedField {
    object: ObjectRef,
    path: String,
    fight: FieldFight,
    /// The number of writes in the last line about it.
    told: usize,
}

impl Fights {
    /// Takes in the shown changes of a version.
    pub(super) fn see(
        &mut self,
        entry: &TimelineEntry,
        compared: &Compared<'_>,
        view: &DiffView<'_>,
    ) {
        let (ChangeType::Modified, Some(diff)) = (compared.change(), &compared.diff) else {
            return;
        };
        let object = &compared.read.event.now.object;
        for (path, write) in writes(diff, compared, entry, view) {
            if self.fields.len() >= REMEMBERED {
                self.fields.retain(|_, known| known.fight.is_fight());
            }
            let key = (object.identity(), path.clone());
            let known = self.fields.entry(key);
            known
                .or_insert_with(|| ContestedField::of(object, path))
                .take(write);
        }
    }

    /// The lines about fights that are new, or have doubled since their last line.
    pub(super) fn take_lines(&mut self, style: &LineStyle<'_>) -> Vec<Text> {
        let fields = self.fields.values_mut();
        let mut news: Vec<&mut ContestedField> = fields.filter(|known| known.is_news()).collect();
        let key = |known: &ContestedField| {
            (
                known.fight.begun(),
                known.object.clone(),
                known.path.clone(),
            )
        };
        news.sort_by_cached_key(|known| key(known));
        let lines = news.into_iter().filter_map(|known| {
            known.told = known.fight.writes;
            let (path, flips) = (&known.path, known.fight.text()?);
            let object = style.name(&known.object);
            let text = match style.cluster {
                Some(cluster) => format!("{cluster} {object}  {path} {flips}"),
                None => format!("{object}  {path} {flips}"),
            };
            Some(message_lines(Role::Warning, &text, style.look))
        });
        lines.flatten().collect()
    }
}

/// The writes of fields in a version. What controllers report is no fight.
fn writes<'d>(
    diff: &'d Diff<'_>,
    compared: &'d Compared<'_>,
    entry: &TimelineEntry,
    view: &'d DiffView<'_>,
) -> impl Iterator<Item = (String, FieldWrite)> + 'd {
    let (from, until) = compared.moment(entry);
    let at = [from, until.unwrap_or(from)];
    let is_set = |change: &&crate::diff::Change| {
        let top = diff.chain(change.at).last();
        let is_status = top.and_then(|top| diff.field(top)) == Some("status");
        !is_status && !matches!(change.op, Op::Move { .. })
    };
    let changes = selected(diff, view.filter, view.noise).filter(is_set);
    let redactor = view.redactor;
    changes.map(move |change| {
        let shown = change_in_line(diff, change, redactor);
        let manager = diff.by(&compared.writers, change).and_then(By::writer);
        let write = FieldWrite {
            manager,
            value: shown.new,
            at,
        };
        (shown.path, write)
    })
}

impl ContestedField {
    fn of(object: &ObjectRef, path: String) -> ContestedField {
        ContestedField {
            object: object.clone(),
            path,
            fight: FieldFight::default(),
            told: 0,
        }
    }

    fn take(&mut self, write: FieldWrite) {
        if self.fight.take(write) == FightTurn::First {
            self.told = 0;
        }
    }

    /// Whether it is a fight that has doubled since its last line.
    fn is_news(&self) -> bool {
        self.fight.is_fight() && self.fight.writes >= 2 * self.told
    }
}
