//! `Fights`: fields that two managers write back and forth.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::commands::changes::compared::Compared;
use crate::commands::changes::line_style::LineStyle;
use crate::commands::changes::state::TimelineEntry;
use crate::diff::{Diff, Op, Redactor};
use crate::object::managed_fields::By;
use crate::object::{ObjectRef, Uid};
use crate::render::age;
use crate::render::diff::{ChangeType, DiffView, change_in_line, selected};
use crate::render::style::Role;
use crate::render::text::escape_line;

/// From how many writes on it is a fight: one manager writes, the other takes it back, the first insists.
const LEAST: usize = 3;

/// How many fields it remembers.
const REMEMBERED: usize = 4096;

/// The fields that were written, and who wrote them last.
#[derive(Debug, Default)]
pub(crate) struct Fights {
    rallies: HashMap<(Uid, String), Rally>,
}

/// A write of a field.
#[derive(Clone, Debug)]
struct FieldWrite {
    /// `None` if the server does not show who wrote.
    manager: Option<String>,
    /// The new value, as display text.
    value: String,
    /// The earliest and the latest possible time.
    at: [Timestamp; 2],
}

/// The writes of a field, of which each undoes the one before: two managers take turns, and one of them always writes the
/// same value.
#[derive(Clone, Debug)]
struct Rally {
    object: ObjectRef,
    path: String,
    /// The last write of the manager that began, and the last one of the other.
    sides: Vec<Side>,
    writes: usize,
    begun: [Timestamp; 2],
    ended: [Timestamp; 2],
    /// The number of writes in the last line about it.
    told: usize,
}

/// One of the two managers.
#[derive(Clone, Debug)]
struct Side {
    manager: String,
    value: String,
    /// Whether it has always written this value.
    is_steady: bool,
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
            if self.rallies.len() >= REMEMBERED {
                self.rallies.retain(|_, rally| rally.writes >= LEAST);
            }
            let key = (object.identity(), path.clone());
            let rally = self.rallies.entry(key);
            rally.or_insert_with(|| Rally::of(object, path)).take(write);
        }
    }

    /// The lines about fights that are new, or have doubled since their last line.
    pub(super) fn take_lines(&mut self, style: &LineStyle<'_>) -> Vec<String> {
        let rallies = self.rallies.values_mut();
        let mut news: Vec<&mut Rally> = rallies.filter(|rally| rally.is_news()).collect();
        news.sort_by(|a, b| (a.begun, &a.object, &a.path).cmp(&(b.begun, &b.object, &b.path)));
        let lines = news.into_iter().filter_map(|rally| {
            rally.told = rally.writes;
            let text = format!("{}  {}", style.name(&rally.object), rally.text()?);
            Some(style.look.styles.paint(Role::Warning, &text))
        });
        lines.collect()
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
    let redactor: &Redactor = view.redactor;
    changes.map(move |change| {
        let shown = change_in_line(diff, change, redactor);
        let manager = match diff.by(&compared.writers, change) {
            Some(By::Actor(actor) | By::Took { actor, .. }) => Some(actor.manager.to_string()),
            Some(By::Owner(_) | By::Was(_)) | None => None,
        };
        let write = FieldWrite {
            manager,
            value: shown.new,
            at,
        };
        (shown.path, write)
    })
}

impl Rally {
    fn of(object: &ObjectRef, path: String) -> Rally {
        Rally {
            object: object.clone(),
            path,
            sides: Vec::new(),
            writes: 0,
            begun: [Timestamp::UNIX_EPOCH; 2],
            ended: [Timestamp::UNIX_EPOCH; 2],
            told: 0,
        }
    }

    /// Goes on with a write of the manager whose turn it is. Any other write begins a new rally, with the write before it if
    /// that is by somebody else.
    fn take(&mut self, write: FieldWrite) {
        let Some(manager) = write.manager else {
            (self.sides, self.writes) = (Vec::new(), 0);
            return;
        };
        let turn = self.writes % 2;
        let new = Side {
            manager,
            value: write.value,
            is_steady: true,
        };
        let is_turn = match (self.sides.len(), self.sides.get(turn)) {
            (1, None) => self.sides[0].manager != new.manager,
            (2, Some(side)) => {
                let other = &self.sides[1 - turn];
                side.manager == new.manager && (side.value == new.value || other.is_steady)
            }
            _ => false,
        };
        if !is_turn {
            let last = self.sides.get((self.writes + 1) % 2).cloned();
            let last = last.filter(|last| last.manager != new.manager);
            let last = last.map(|last| Side {
                is_steady: true,
                ..last
            });
            self.begun = if last.is_some() { self.ended } else { write.at };
            self.writes = usize::from(last.is_some());
            self.sides = last.into_iter().collect();
            self.told = 0;
        }
        let turn = self.writes % 2;
        match self.sides.get_mut(turn) {
            Some(side) => {
                let is_steady = side.is_steady && side.value == new.value;
                *side = Side { is_steady, ..new };
            }
            None => self.sides.push(new),
        }
        self.writes += 1;
        self.ended = write.at;
    }

    /// Whether it is a fight that has doubled since its last line: a manager wrote its value again.
    fn is_news(&self) -> bool {
        let is_steady = |side: usize| self.sides.get(side).is_some_and(|side| side.is_steady);
        let has_insisted = is_steady(0) || (self.writes > LEAST && is_steady(1));
        has_insisted && self.sides.len() == 2 && self.writes >= LEAST.max(2 * self.told)
    }

    /// `replicas flipped 9 times in 25s between argocd-controller (3) and kubectl-edit (4)`
    fn text(&self) -> Option<String> {
        let [first, second] = &self.sides[..] else {
            return None;
        };
        let most = age::human(self.ended[1].duration_since(self.begun[0]));
        let is_vague = self.begun[0] != self.begun[1] || self.ended[0] != self.ended[1];
        let within = if is_vague { "up to " } else { "" };
        let side = |side: &Side| format!("{} ({})", escape_line(&side.manager), side.value);
        Some(format!(
            "{} flipped {} times in {within}{most} between {} and {}",
            self.path,
            self.writes,
            side(first),
            side(second)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Doc;

    /// What is said about writes of one field, one in each second. `?` is an unknown writer.
    fn said(writes: &[(&str, &str)]) -> Option<String> {
        let doc = Doc::parse(r#"{"kind":"X","metadata":{"name":"a"}}"#).expect("JSON");
        let mut rally = Rally::of(&ObjectRef::of(doc.root()), "replicas".to_owned());
        for (second, (manager, value)) in (0..).zip(writes) {
            rally.take(FieldWrite {
                manager: (*manager != "?").then(|| (*manager).to_owned()),
                value: (*value).to_owned(),
                at: [Timestamp::from_second(second).expect("in range"); 2],
            });
        }
        rally.is_news().then(|| rally.text()).flatten()
    }

    #[test]
    fn two_managers_that_take_turns_fight() {
        for (writes, expect) in [
            (&[][..], None),
            (&[("argo", "3"), ("kubectl", "4")], None),
            (
                &[("argo", "3"), ("kubectl", "4"), ("argo", "3")],
                Some("replicas flipped 3 times in 2s between argo (3) and kubectl (4)"),
            ),
            (
                &[
                    ("kubectl", "4"),
                    ("argo", "3"),
                    ("kubectl", "4"),
                    ("argo", "3"),
                ],
                Some("replicas flipped 4 times in 3s between kubectl (4) and argo (3)"),
            ),
            // The autoscaler undoes each scale.
            (
                &[
                    ("kubectl", "8"),
                    ("kcm", "4"),
                    ("kubectl", "6"),
                    ("kcm", "4"),
                ],
                Some("replicas flipped 4 times in 3s between kubectl (6) and kcm (4)"),
            ),
            // A rollout by two tools in turn never goes back.
            (
                &[
                    ("ci", "1"),
                    ("cd", "2"),
                    ("ci", "3"),
                    ("cd", "4"),
                    ("ci", "5"),
                ],
                None,
            ),
            // One manager alone does not fight.
            (&[("ci", "1"), ("ci", "2"), ("ci", "1"), ("ci", "2")], None),
            // The fight begins with the write that is undone.
            (
                &[
                    ("ci", "1"),
                    ("ci", "2"),
                    ("argo", "3"),
                    ("ci", "2"),
                    ("argo", "3"),
                ],
                Some("replicas flipped 4 times in 3s between ci (2) and argo (3)"),
            ),
            // An unknown writer can be either.
            (
                &[("argo", "3"), ("?", "4"), ("argo", "3"), ("kubectl", "4")],
                None,
            ),
        ] {
            assert_eq!(said(writes).as_deref(), expect, "{writes:?}");
        }
    }
}
