//! Who is behind a change.

use std::borrow::Cow;

use crate::object::managed_fields::{By, OwnerStep, Writers};
use crate::object::path::Side;

use super::{Change, Diff, Noise, Op, SegId, Step};

impl<'a> Diff<'a> {
    /// Who is behind a change, as far as the field managers of both versions tell. Nobody owns what
    /// the server counts.
    pub fn by<'w>(&self, writers: &'w Writers<'a>, change: &Change) -> Option<By<'w, 'a>> {
        if matches!(change.noise, Some(Noise::Version | Noise::ManagedFields)) {
            return None;
        }
        let side = match change.op {
            Op::Remove => Side::Old,
            Op::Add | Op::Replace | Op::Move { .. } => Side::New,
        };
        writers.by(side, &self.owner_path(change.at, side))
    }

    fn owner_path(&self, at: SegId, side: Side) -> Vec<OwnerStep<'_>> {
        // Most fields are no deeper.
        let mut steps = Vec::with_capacity(8);
        steps.extend(self.chain(at).filter_map(|at| {
            let seg = self.seg(at);
            match &seg.step {
                Step::Root => None,
                Step::Field(name) => Some(OwnerStep::Field(Cow::Borrowed(name))),
                Step::Item { place, .. } => Some(OwnerStep::Item {
                    value: seg.on(side)?,
                    index: place.on(side)?,
                }),
            }
        }));
        steps.reverse();
        steps
    }
}
