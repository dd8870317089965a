//! The walk down both versions: equal parts are passed over, fields are matched by name, lists are
//! handed to [`lists`].

use std::borrow::Cow;

use crate::object::list_keys::{ListKeys, ListPlace, ListRule, Order};
use crate::object::{Kind, Value};

use super::noise::{self, Noise};
use super::secret::Guard;
use super::values::{self, Fmt};
use super::{Change, Diff, DiffNode, NodeLabel, NodeStep, Op, Place, SegId, lists};

/// The changes from `old` to `new`, whose Secrets `guard` protects.
pub(super) fn run<'a>(
    old: Option<Value<'a>>,
    new: Option<Value<'a>>,
    keys: &'a ListKeys,
    guard: Guard,
) -> Diff<'a> {
    // Room for what one version of a Pod changes, so that the vectors do not grow step by step.
    let mut out = Diff {
        segs: Vec::with_capacity(32),
        changes: Vec::with_capacity(16),
        keys: Some(keys),
    };
    let root = DiffNode {
        parent: SegId::ROOT,
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

/// One side each: what is compared.
pub(super) type Pair<'a> = (Option<Value<'a>>, Option<Value<'a>>);

/// An item of a list: its place and its name.
#[derive(Clone, Copy)]
pub(super) struct ListItem<'a> {
    pub(super) place: Place,
    pub(super) label: NodeLabel<'a>,
    /// Whether it has another place among those that stayed, and whether that means anything.
    pub(super) moved: Option<Order>,
}

/// The walk, writing as it goes.
pub(super) struct DiffWalk<'o, 'a> {
    pub(super) keys: &'a ListKeys,
    pub(super) out: &'o mut Diff<'a>,
}

impl<'a> DiffWalk<'_, 'a> {
    /// Compares an item of the list `parent`.
    pub(super) fn item(&mut self, parent: SegId, item: ListItem<'a>, pair: Pair<'a>) {
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
        let guard = self.out.seg(parent).guard.item();
        let seg = DiffNode {
            parent,
            step: NodeStep::Item { place, label },
            old: pair.0,
            new: pair.1,
            guard: guard.enter(pair.0, pair.1),
        };
        self.inside(seg, |walk, at| {
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

    /// Notes a value for the time in which its changes are found, and for good if there are any.
    fn inside(&mut self, seg: DiffNode<'a>, visit: impl FnOnce(&mut Self, SegId)) {
        let (segs, changes) = (self.out.segs.len(), self.out.changes.len());
        // A tape has less than 2^32 nodes, and a value is noted at most once.
        let at = SegId(u32::try_from(segs).expect("fewer values than bytes"));
        self.out.segs.push(seg);
        visit(self, at);
        if self.out.changes.len() == changes && at != SegId::ROOT {
            self.out.segs.truncate(segs);
        }
    }

    /// Compares the two versions of a value that is noted already.
    fn compare(&mut self, at: SegId) {
        let seg = self.out.seg(at);
        let (old, new) = match (seg.old, seg.new) {
            (Some(old), Some(new)) if old.raw() != new.raw() => (old, new),
            (Some(_), Some(_)) | (None, None) => return,
            (Some(_), None) => return self.change(at, Op::Remove, self.fmt_alone(at)),
            (None, Some(_)) => return self.change(at, Op::Add, self.fmt_alone(at)),
        };
        let hidden = seg.guard.hides(old) || seg.guard.hides(new);
        match (old.kind(), new.kind()) {
            _ if hidden => self.leaf(at, old, new),
            _ if noise::is_one_piece(self.out, at) => self.change(at, Op::Replace, Fmt::Plain),
            (Kind::Object, Kind::Object) => self.object(at, old, new),
            (Kind::Array, Kind::Array) => lists::compare(self, at, old, new),
            _ => self.leaf(at, old, new),
        }
    }

    fn object(&mut self, at: SegId, old: Value<'a>, new: Value<'a>) {
        for (name, (old, new)) in differing(old, new) {
            let guard = self.out.seg(at).guard.field(&name);
            let seg = DiffNode {
                parent: at,
                step: NodeStep::Field(name),
                old,
                new,
                guard: guard.enter(old, new),
            };
            self.inside(seg, DiffWalk::compare);
        }
    }

    fn leaf(&mut self, at: SegId, old: Value<'a>, new: Value<'a>) {
        let guard = self.out.seg(at).guard;
        let secret = guard.is_secret();
        match values::compare(old, new, || values::is_quantity(self.out, at)) {
            values::Equality::Same => {}
            // How a Secret spells its bytes is no one's concern, but a change all the same.
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

    /// How a value that is only in one version is read.
    fn fmt_alone(&self, at: SegId) -> Fmt {
        let seg = self.out.seg(at);
        match seg.new.or(seg.old) {
            Some(value) if seg.guard.hides(value) => Fmt::Secret,
            Some(value) => values::fmt(value),
            None => Fmt::Plain,
        }
    }

    fn change(&mut self, at: SegId, op: Op, fmt: Fmt) {
        let noise = noise::of(self.out, at);
        self.push(Change { at, op, noise, fmt });
    }

    fn push(&mut self, change: Change) {
        self.out.changes.push(change);
    }

    /// How the list at `at` is to be read.
    pub(super) fn rule(&self, at: SegId, old: &[Value<'a>], new: &[Value<'a>]) -> ListRule<'a> {
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

/// Up to this many fields, looking a name up is cheaper than sorting.
const FEW: usize = 32;

/// The fields that are not written alike in both objects, in the order of their names: the order in the
/// text is nobody's promise.
fn differing<'a>(old: Value<'a>, new: Value<'a>) -> Vec<(Cow<'a, str>, Pair<'a>)> {
    let has_many = || old.counting_fields().count() > FEW;
    let mut found = Vec::new();
    let mut before = old.counting_fields().peekable();
    let mut met = 0;
    for value in new.counting_fields() {
        // Mostly the fields of both stand in the same order.
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
