//! The values on the way to the changes of a diff.

use std::borrow::Cow;

use crate::object::Value;
use crate::object::list_keys::ListKey;
use crate::object::path::{self, Pen, Place, Side};

use super::SegId;
use super::secret::Guard;

/// One value that both versions may have.
pub(super) struct Seg<'a> {
    pub(super) parent: SegId,
    pub(super) step: Step<'a>,
    pub(super) old: Option<Value<'a>>,
    pub(super) new: Option<Value<'a>>,
    pub(super) guard: Guard,
}

/// How a value is reached from its parent.
pub(super) enum Step<'a> {
    Root,
    Field(Cow<'a, str>),
    Item { place: Place, label: Label<'a> },
}

#[derive(Clone, Copy)]
pub(super) enum Label<'a> {
    Index,
    Member,
    Key { key: &'a ListKey, nth: u32 },
}

impl<'a> Seg<'a> {
    pub(super) fn on(&self, side: Side) -> Option<Value<'a>> {
        match side {
            Side::Old => self.old,
            Side::New => self.new,
        }
    }

    pub(super) fn path_step(&self) -> Option<path::Step<'_>> {
        match &self.step {
            Step::Root => None,
            Step::Field(name) => Some(path::Step::Field(Cow::Borrowed(name))),
            Step::Item { place, label } => Some(path::Step::Item {
                place: *place,
                label: match label {
                    Label::Index => path::Label::Index,
                    Label::Member => path::Label::Member,
                    Label::Key { key, nth } => path::Label::Key {
                        parts: self
                            .key_parts(key)
                            .map(|(name, value)| (Cow::Borrowed(name), value))
                            .collect(),
                        nth: *nth,
                    },
                },
            }),
        }
    }

    /// Writes the same step.
    pub(super) fn write_step(&self, pen: &mut Pen<'_>) {
        match &self.step {
            Step::Root => {}
            Step::Field(name) => pen.field(name),
            Step::Item { place, label } => match label {
                Label::Index => pen.index(*place),
                Label::Member => {}
                Label::Key { key, nth } => pen.key(self.key_parts(key), *nth),
            },
        }
    }

    fn key_parts<'k>(
        &self,
        key: &'k ListKey,
    ) -> impl Iterator<Item = (&'k str, Cow<'a, str>)> + use<'k, 'a> {
        let item = self.new.or(self.old);
        item.into_iter().flat_map(|item| key.parts(item))
    }
}
