//! Walks down both versions. Equal parts are skipped, fields are matched by name, and lists are passed to
//! [`lists`].

use std::borrow::Cow;

use crate::object::list_keys::{ListKeys, ListPlace, ListRule, Order};
use crate::object::{Kind, Value};

use super::noise::{self, Noise};
use super::secret::Guard;
use super::values::{self, Fmt};
use super::{Change, Diff, DiffNode, NodeId, NodeLabel, NodeStep, Op, Place, lists};

/// The changes from `old` to `new`. `guard` protects the Secret values in them.
pub(super) fn run<'a>(
    old: Option<Value<'a>>,
    new: Option<Value<'a>>,
    keys: &'a ListKeys,
    guard: Guard,
) -> Diff<'a> {
    // Room for the changes of one version of a Pod, so that the vectors need not grow step by step.
    let mut out = Diff {
        nodes: Vec::with_capacity(32),
        changes: Vec::with_capacity(16),
        keys: Some(keys),
    };
    let root = DiffNode {
        parent: NodeId::ROOT,
        step: NodeStep::Root,
        old,
        new,
        guard: guard.enter(old, new),
    };
    let mut walk = DiffWalk {
        keys,
        out: &mut out,
    };
    walk.inside(root, DiffWalk::compare);
    out
}

/// The old and the new value, of which one may be missing.
pub(super) type Pair<'a> = (Option<Value<'a>>, Option<Value<'a>>);

/// A list item: its indices and its label.
#[derive(Clone, Copy)]
pub(super) struct ListItem<'a> {
    pub(super) place: Place,
    pub(super) label: NodeLabel<'a>,
    /// The list's order rule, if the item has another place among the items that stayed.
    pub(super) moved: Option<Order>,
}

/// The walk, which writes its findings to a [`Diff`].
pub(super) struct DiffWalk<'o, 'a> {
    pub(super) keys: &'a ListKeys,
    pub(super) out: &'o mut Diff<'a>,
}

impl<'a> DiffWalk<'_, 'a> {
    /// Compares an item of the list `parent`.
    pub(super) fn item(&mut self, parent: NodeId, item: ListItem<'a>, pair: Pair<'a>) {
        let ListItem {
            place,
            label,
            moved,
        } = item;
        if let (Some(old), Some(new), None) = (pair.0, pair.1, moved)
            && old.raw() == new.raw()
        {
            return;
        }
        let guard = self.out.node(parent).guard.item();
        let node = DiffNode {
            parent,
            step: NodeStep::Item { place, label },
            old: pair.0,
            new: pair.1,
            guard: guard.enter(pair.0, pair.1),
        };
        self.inside(node, |walk, at| {
            if let (Some(order), (Some(from), Some(to))) = (moved, (place.old, place.new)) {
                walk.push(Change {
                    at,
                    op: Op::Move { from, to },
                    noise: (order == Order::Free).then_some(Noise::Order),
                    fmt: Fmt::Plain,
                });
            }
            walk.compare(at);
        });
    }

    /// Adds a node while `visit` looks for its changes, and drops it again if there are none.
    fn inside(&mut self, node: DiffNode<'a>, visit: impl FnOnce(&mut Self, NodeId)) {
        let (nodes, changes) = (self.out.nodes.len(), self.out.changes.len());
        let at = NodeId(
            u32::try_from(nodes)
                .expect("a tape has fewer than 2^32 nodes, and a value is added once"),
        );
        self.out.nodes.push(node);
        visit(self, at);
        if self.out.changes.len() == changes && at != NodeId::ROOT {
            self.out.nodes.truncate(nodes);
        }
    }

    /// Compares the two versions of a value that has a node.
    fn compare(&mut self, at: NodeId) {
        let node = self.out.node(at);
        let (old, new) = match (node.old, node.new) {
            (Some(old), Some(new)) if old.raw() != new.raw() => (old, new),
            (Some(_), Some(_)) | (None, None) => return,
            (Some(_), None) => return self.change(at, Op::Remove, self.fmt_alone(at)),
            (None, Some(_)) => return self.change(at, Op::Add, self.fmt_alone(at)),
        };
        let hidden = node.guard.hides(old) || node.guard.hides(new);
        match (old.kind(), new.kind()) {
            _ if hidden => self.leaf(at, old, new),
            _ if noise::is_one_piece(self.out, at) => self.change(at, Op::Replace, Fmt::Plain),
            (Kind::Object, Kind::Object) => self.object(at, old, new),
            (Kind::Array, Kind::Array) => lists::compare(self, at, old, new),
            _ => self.leaf(at, old, new),
        }
    }

    fn object(&mut self, at: NodeId, old: Value<'a>, new: Value<'a>) {
        for (name, (old, new)) in differing(old, new) {
            let guard = self.out.node(at).guard.field(&name);
            let node = DiffNode {
                parent: at,
                step: NodeStep::Field(name),
                old,
                new,
                guard: guard.enter(old, new),
            };
            self.inside(node, DiffWalk::compare);
        }
    }

    fn leaf(&mut self, at: NodeId, old: Value<'a>, new: Value<'a>) {
        let guard = self.out.node(at).guard;
        let secret = guard.is_secret();
        match values::compare(old, new, || values::is_quantity(self.out, at)) {
            values::Equality::Same => {}
            // Another encoding of the same bytes is not shown as a spelling, but it is a change of the
            // Secret.
            _ if secret => self.change(at, Op::Replace, Fmt::Secret),
            values::Equality::Equivalent(_) if guard.hides(old) || guard.hides(new) => {
                self.change(at, Op::Replace, Fmt::Secret);
            }
            values::Equality::Equivalent(fmt) => self.push(Change {
                at,
                op: Op::Replace,
                noise: Some(Noise::Equivalent),
                fmt,
            }),
            values::Equality::Different(fmt) => self.change(at, Op::Replace, fmt),
        }
    }

    /// The format of a value that is only in one version.
    fn fmt_alone(&self, at: NodeId) -> Fmt {
        let node = self.out.node(at);
        match node.new.or(node.old) {
            Some(value) if node.guard.hides(value) => Fmt::Secret,
            Some(value) => values::fmt(value),
            None => Fmt::Plain,
        }
    }

    fn change(&mut self, at: NodeId, op: Op, fmt: Fmt) {
        let noise = noise::of(self.out, at);
        self.push(Change { at, op, noise, fmt });
    }

    fn push(&mut self, change: Change) {
        self.out.changes.push(change);
    }

    /// The list rule for the list at `at`.
    pub(super) fn rule(&self, at: NodeId, old: &[Value<'a>], new: &[Value<'a>]) -> ListRule<'a> {
        let parent = self.out.parent(at);
        let above = self.out.chain(parent).find_map(|at| self.out.field(at));
        let path = self.keys.reads_paths().then(|| self.out.path(at));
        let place = ListPlace {
            field: self.out.field(at).unwrap_or_default(),
            parent: above.unwrap_or_default(),
            path: path.as_ref(),
        };
        self.keys.rule(place, old, new)
    }
}

/// Up to this number of fields, looking a name up is cheaper than sorting.
const FEW: usize = 32;

/// The fields whose raw texts differ between the objects, sorted by name, because their order in the text
/// means nothing.
fn differing<'a>(old: Value<'a>, new: Value<'a>) -> Vec<(Cow<'a, str>, Pair<'a>)> {
    let has_many = || old.counting_fields().count() > FEW;
    let mut found = Vec::new();
    let mut before = old.counting_fields().peekable();
    let mut met = 0;
    for value in new.counting_fields() {
        // Usually the fields of both objects are in the same order.
        let counterpart = match before.next_if(|other| other.is_named_alike(value)) {
            Some(beside) => Some(beside),
            None if has_many() => return differing_of_many(old, new),
            None => old.get(&value.name()),
        };
        met += usize::from(counterpart.is_some());
        if counterpart.is_none_or(|old| old.raw() != value.raw()) {
            found.push((value.name(), (counterpart, Some(value))));
        }
    }
    if met < old.counting_fields().count() {
        if has_many() {
            return differing_of_many(old, new);
        }
        let gone = old.fields().filter(|(name, _)| new.get(name).is_none());
        found.extend(gone.map(|(name, value)| (name, (Some(value), None))));
    }
    found.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    found
}

fn differing_of_many<'a>(old: Value<'a>, new: Value<'a>) -> Vec<(Cow<'a, str>, Pair<'a>)> {
    let sides = old
        .fields()
        .map(|(name, value)| (name, (Some(value), None)));
    let sides = sides.chain(
        new.fields()
            .map(|(name, value)| (name, (None, Some(value)))),
    );
    let mut all: Vec<(Cow<'a, str>, Pair<'a>)> = sides.collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all.dedup_by(|new, old| {
        let same = new.0 == old.0;
        if same {
            old.1.1 = new.1.1;
        }
        same
    });
    let raw = |value: Option<Value<'a>>| value.map(Value::raw);
    all.retain(|(_, (old, new))| raw(*old) != raw(*new));
    all
}
