//! Attributes changes to field managers.

use std::borrow::Cow;

use jiff::Timestamp;

use crate::object::managed_fields::{By, OwnerStep, Writers};
use crate::object::path::Side;

use super::{Change, Diff, NodeId, NodeStep, Noise, Op};

impl<'a> Diff<'a> {
    /// The author of a change, as far as the field managers of both versions show it. The server's counters
    /// have no owner.
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

    /// Whether the only authors are managers that had already written the same fields at `time`. A write in
    /// any later second would have moved their time. Fields that the same write removes have no author; a write
    /// that only removes fields moves no time at all.
    pub fn is_again_by(&self, writers: &Writers<'a>, time: Timestamp) -> bool {
        let is_written = |change: &&Change| match change.noise {
            _ if change.op == Op::Remove => false,
            Some(Noise::ManagedFields) => false,
            Some(Noise::Version) => self.field(change.at) == Some("observedGeneration"),
            _ => true,
        };
        let mut written = self.changes.iter().filter(is_written).peekable();
        let is_theirs = |change: &Change| {
            let by = writers.by(Side::New, &self.owner_path(change.at, Side::New));
            let (By::Actor(own) | By::Took { actor: own, .. } | By::Owner(own)) = by?;
            Some(own.time()? == time)
        };
        written.peek().is_some() && written.all(|change| is_theirs(change) == Some(true))
    }

    fn owner_path(&self, at: NodeId, side: Side) -> Vec<OwnerStep<'_>> {
        // Most paths have no more steps than this.
        let mut steps = Vec::with_capacity(8);
        steps.extend(self.chain(at).filter_map(|at| {
            let node = self.node(at);
            match &node.step {
                NodeStep::Root => None,
                NodeStep::Field(name) => Some(OwnerStep::Field(Cow::Borrowed(name))),
                NodeStep::Item { place, .. } => Some(OwnerStep::Item {
                    value: node.on(side)?,
                    index: place.on(side)?,
                }),
            }
        }));
        steps.reverse();
        steps
    }
}
