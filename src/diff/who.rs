//! Attributes changes to field managers.

use std::borrow::Cow;
use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::object::Value;
use crate::object::managed_fields::{By, ManagedFieldsEntry, OwnerStep, Writers};
use crate::object::path::Side;

use super::{Change, Diff, NodeId, NodeStep, Noise, Op};

/// Whether an entry owns a field only through an empty map around it that others own parts of. It is what was left of the
/// map when they took its fields over. The field may have no owner, such as the replicas that a custom resource's `scale`
/// subresource has set.
fn is_left_over(
    writers: &Writers<'_>,
    owner: &ManagedFieldsEntry<'_>,
    path: &[OwnerStep<'_>],
) -> bool {
    let mut around = (1..path.len()).map(|length| &path[..length]);
    around.any(|map| owner.owns_whole(map) && writers.own_parts(map))
}

impl<'a> Diff<'a> {
    /// The author of a change, as far as the field managers of both versions show it. The server's counters
    /// have no owner.
    pub fn by<'w>(&self, writers: &'w Writers<'a>, change: &Change) -> Option<By<'w, 'a>> {
        if matches!(change.noise, Some(Noise::Version | Noise::ManagedFields)) {
            return None;
        }
        self.author(writers, change)
    }

    /// Like [`Diff::by`], also of counters that have an owner.
    fn author<'w>(&self, writers: &'w Writers<'a>, change: &Change) -> Option<By<'w, 'a>> {
        let side = match change.op {
            Op::Remove => Side::Old,
            Op::Add | Op::Replace | Op::Move { .. } => Side::New,
        };
        let path = self.owner_path(change.at, side);
        let by = writers.by(side, &path);
        // Whoever owns an empty map need not have added a field to it: not every write is recorded.
        by.filter(|by| match (change.op, by) {
            // The server records no manager for the order of items that managers own one by one.
            (Op::Move { .. }, _) => {
                let list = self.owner_path(self.parent(change.at), side);
                !writers.own_parts(&list)
            }
            (Op::Add, By::Owner(owner)) => owner.owns_exactly(&path),
            (_, By::Owner(owner) | By::Was(owner)) => !is_left_over(writers, owner, &path),
            (_, By::Actor(_) | By::Took { .. }) => true,
        })
    }

    /// The managers that made these changes, which lead from the old object to the new. Of the entries that are new or
    /// changed it keeps those that own a changed value, as the server records it. The others are what a client sent.
    ///
    /// If an entry owns no changed value, it still counts in two cases. An apply that only removes fields moves its
    /// time, too. And the server stores some values under another name than the one that was written, such as
    /// `stringData` of a Secret, so that they have no owner. In both cases its time must not be older than what the
    /// old version records: that of a dump is.
    pub fn writers(&self, old: Option<Value<'a>>, new: Option<Value<'a>>) -> Writers<'a> {
        let mut writers = Writers::of(old, new);
        if old.is_none() || writers.actors().next().is_none() {
            return writers;
        }
        let evidence = self.evidence(&writers);
        let latest = writers.newest_before();
        let is_later =
            |actor: &ManagedFieldsEntry<'_>| actor.time().is_some_and(|time| Some(time) >= latest);
        let is_one = writers.actors().count() == 1;
        let lost = writers.shrunk();
        writers.retain(|at, actor| match &evidence {
            AuthorEvidence::Owners(owners) => owners.contains(&at),
            AuthorEvidence::Unowned => is_later(actor),
            AuthorEvidence::None { removed } => {
                let is_whole = || removed.iter().any(|place| actor.owns_whole(place));
                let has_let_go = || is_one && actor.is_apply() && lost.contains(&at);
                is_later(actor) && (is_whole() || has_let_go())
            }
            AuthorEvidence::Again => false,
        });
        writers
    }

    /// What the changes show about the actors.
    fn evidence(&self, writers: &Writers<'a>) -> AuthorEvidence<'_> {
        let latest = writers.newest_before();
        let (mut owners, mut removed) = (BTreeSet::new(), Vec::new());
        let (mut has_set, mut has_unowned) = (false, false);
        for change in &self.changes {
            if change.op == Op::Remove {
                let place = self.parent(change.at);
                if removed.last() != Some(&place) {
                    removed.push(place);
                }
            } else if is_written(self, change) {
                let has_set_before = std::mem::replace(&mut has_set, true);
                match self.author(writers, change) {
                    Some(By::Actor(owner)) => {
                        let mut actors = writers.actors();
                        owners.extend(actors.position(|actor| std::ptr::eq(actor, owner)));
                    }
                    None if matches!(change.op, Op::Move { .. }) => has_set = has_set_before,
                    // It had already written in that second.
                    Some(By::Owner(owner)) if owner.time() == latest => {}
                    Some(By::Owner(_) | By::Took { .. } | By::Was(_)) | None => has_unowned = true,
                }
            }
            if owners.len() == writers.actors().count() {
                break;
            }
        }
        match (has_set, has_unowned) {
            _ if !owners.is_empty() => AuthorEvidence::Owners(owners),
            (_, true) => AuthorEvidence::Unowned,
            (true, false) => AuthorEvidence::Again,
            (false, false) => {
                let places = removed.into_iter().map(|at| self.owner_path(at, Side::New));
                AuthorEvidence::None {
                    removed: places.filter(|place| !writers.own_parts(place)).collect(),
                }
            }
        }
    }

    /// Whether the only authors are managers that had already written the same fields at `time`. A write in
    /// any later second would have moved their time. Fields that the same write removes have no author; a write
    /// that only removes fields moves no time at all.
    pub fn is_again_by(&self, writers: &Writers<'a>, time: Timestamp) -> bool {
        let is_set = |change: &&Change| match change.op {
            Op::Remove => false,
            // Nobody is recorded for the order of a list.
            Op::Move { .. } => self.author(writers, change).is_some(),
            Op::Add | Op::Replace => is_written(self, change),
        };
        let mut set = self.changes.iter().filter(is_set).peekable();
        let is_theirs = |change: &Change| {
            let (By::Actor(own) | By::Owner(own)) = self.author(writers, change)? else {
                return None;
            };
            Some(own.time()? == time)
        };
        set.peek().is_some() && set.all(|change| is_theirs(change) == Some(true))
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

/// What the changes of a version show about its actors.
enum AuthorEvidence<'d> {
    /// These actors own the values that were set. They have these places among the actors.
    Owners(BTreeSet<usize>),
    /// A value was set that no possible writer owns.
    Unowned,
    /// All values that were set are owned by a manager that had already written in that second.
    Again,
    /// No value was set. Something was removed.
    None {
        /// The paths of values that lost a part, if managers can own them only as a whole.
        removed: Vec<Vec<OwnerStep<'d>>>,
    },
}

/// Whether a change is one that a client makes, and the server records. The server itself counts versions.
fn is_written(diff: &Diff<'_>, change: &Change) -> bool {
    match change.noise {
        Some(Noise::ManagedFields) => false,
        Some(Noise::Version) => diff.field(change.at) == Some("observedGeneration"),
        _ => true,
    }
}
