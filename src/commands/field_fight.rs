//! `FieldFight`: writes of one field by two managers, of which each undoes the one before.

use jiff::Timestamp;

use crate::render::age;
use crate::render::text::escape_line;

/// From how many writes on it is a fight: one manager writes, the other takes it back, the first insists.
const LEAST: usize = 3;

/// A write of a field.
#[derive(Clone, Debug)]
pub(crate) struct FieldWrite {
    /// `None` if the server does not show who wrote.
    pub(crate) manager: Option<String>,
    /// The new value, as display text.
    pub(crate) value: String,
    /// The earliest and the latest possible time.
    pub(crate) at: [Timestamp; 2],
}

/// What a write is in a fight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FightTurn {
    /// It begins a series.
    First,
    /// It answers the write before it.
    Next,
}

/// The writes of a field, of which each undoes the one before: two managers take turns, and one of them always writes the
/// same value.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldFight {
    /// The last write of the manager that began, and the last one of the other.
    sides: Vec<Rival>,
    pub(crate) writes: usize,
    begun: [Timestamp; 2],
    ended: [Timestamp; 2],
}

/// One of the two managers.
#[derive(Clone, Debug)]
struct Rival {
    manager: String,
    value: String,
    /// Whether it has always written this value.
    is_steady: bool,
}

impl FieldFight {
    /// Goes on with a write of the manager whose turn it is. Any other write begins a new one, with the write before it if
    /// that is by somebody else.
    pub(crate) fn take(&mut self, write: FieldWrite) -> FightTurn {
        let Some(manager) = write.manager else {
            (self.sides, self.writes) = (Vec::new(), 0);
            return FightTurn::First;
        };
        let turn = self.writes % 2;
        let new = Rival {
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
            let last = last.map(|last| Rival {
                is_steady: true,
                ..last
            });
            self.begun = if last.is_some() { self.ended } else { write.at };
            self.writes = usize::from(last.is_some());
            self.sides = last.into_iter().collect();
        }
        let turn = self.writes % 2;
        match self.sides.get_mut(turn) {
            Some(side) => {
                let is_steady = side.is_steady && side.value == new.value;
                *side = Rival { is_steady, ..new };
            }
            None => self.sides.push(new),
        }
        self.writes += 1;
        self.ended = write.at;
        if is_turn {
            FightTurn::Next
        } else {
            FightTurn::First
        }
    }

    /// The earliest and the latest time at which it may have begun.
    pub(crate) fn begun(&self) -> [Timestamp; 2] {
        self.begun
    }

    /// Whether it is a fight: a manager wrote its value again.
    pub(crate) fn is_fight(&self) -> bool {
        let is_steady = |side: usize| self.sides.get(side).is_some_and(|side| side.is_steady);
        let has_insisted = is_steady(0) || (self.writes > LEAST && is_steady(1));
        has_insisted && self.sides.len() == 2 && self.writes >= LEAST
    }

    /// `flipped 9 times in 25s between argocd-controller (3) and kubectl-edit (4)`
    pub(crate) fn text(&self) -> Option<String> {
        let [first, second] = &self.sides[..] else {
            return None;
        };
        let most = age::human(self.ended[1].duration_since(self.begun[0]));
        let is_vague = self.begun[0] != self.begun[1] || self.ended[0] != self.ended[1];
        let within = if is_vague { "up to " } else { "" };
        let side = |side: &Rival| format!("{} ({})", escape_line(&side.manager), side.value);
        Some(format!(
            "flipped {} times in {within}{most} between {} and {}",
            self.writes,
            side(first),
            side(second)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said about writes of one field, one in each second. `?` is an unknown writer.
    fn said(writes: &[(&str, &str)]) -> Option<String> {
        let mut fight = FieldFight::default();
        for (second, (manager, value)) in (0..).zip(writes) {
            fight.take(FieldWrite {
                manager: (*manager != "?").then(|| (*manager).to_owned()),
                value: (*value).to_owned(),
                at: [Timestamp::from_second(second).expect("in range"); 2],
            });
        }
        fight.is_fight().then(|| fight.text()).flatten()
    }

    #[test]
    fn two_managers_that_take_turns_fight() {
        for (writes, expect) in [
            (&[][..], None),
            (&[("argo", "3"), ("kubectl", "4")], None),
            (
                &[("argo", "3"), ("kubectl", "4"), ("argo", "3")],
                Some("flipped 3 times in 2s between argo (3) and kubectl (4)"),
            ),
            (
                &[
                    ("kubectl", "4"),
                    ("argo", "3"),
                    ("kubectl", "4"),
                    ("argo", "3"),
                ],
                Some("flipped 4 times in 3s between kubectl (4) and argo (3)"),
            ),
            // The autoscaler undoes each scale.
            (
                &[
                    ("kubectl", "8"),
                    ("kcm", "4"),
                    ("kubectl", "6"),
                    ("kcm", "4"),
                ],
                Some("flipped 4 times in 3s between kubectl (6) and kcm (4)"),
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
                Some("flipped 4 times in 3s between ci (2) and argo (3)"),
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
