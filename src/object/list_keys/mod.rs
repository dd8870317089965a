//! What tells the items of a list apart, for viewing.
//!
//! The API's own list types say how lists merge, and call most of them atomic
//! (<https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy>); a reader
//! still wants to see *which* container has changed. So well-known lists have a key here, by the
//! field they stand in and by what their items look like, and others get one by a rule of thumb.

mod chosen;
mod key;
mod kinds;
mod schema;
mod table;

use rustc_hash::FxHashSet;

use super::path::Path;
use super::value::Value;

pub use chosen::{Chosen, ChosenError};
pub use key::ListKey;
use key::is_scalar;
pub use kinds::{KindKeys, is_built_in};
pub use schema::{ListType, Schema};

use schema::KindSchema;

/// How the items of a list are told apart.
#[derive(Clone, Copy, Debug)]
pub enum Identity<'k> {
    /// By these fields.
    Key(&'k ListKey),
    /// By their values, which are scalars: a set.
    Value,
    /// By their order alone.
    Order,
}

/// Whether the order of a list's items means anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// It does, or nobody knows.
    Matters,
    /// It does not: the server or a controller may write it in any.
    Free,
}

/// How a list is to be read.
#[derive(Clone, Copy, Debug)]
pub struct ListRule<'k> {
    /// How its items are told apart.
    pub identity: Identity<'k>,
    /// Whether their order means anything.
    pub order: Order,
}

/// Where a list stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListPlace<'a> {
    /// The field that holds it; empty for a list in a list.
    pub field: &'a str,
    /// The next field above it; empty at the root of the object.
    pub parent: &'a str,
    /// The whole way to it, where somebody asks ([`ListKeys::reads_paths`]).
    pub path: Option<&'a Path<'a>>,
}

/// The keys of the lists of one kind. What somebody says on the command line goes before what the
/// server says (`x-kubernetes-list-map-keys`), that before what is built in, that before the key that
/// lists merge by (`x-kubernetes-patch-merge-key`), and that before a guess. A key that does not fit all
/// items of a list is passed over; without one, a list is a sequence.
#[derive(Clone, Debug, Default)]
pub struct ListKeys {
    chosen: Vec<Chosen>,
    known: Option<KindSchema>,
}

static BUILTIN: ListKeys = ListKeys {
    chosen: Vec::new(),
    known: None,
};

impl ListKeys {
    /// The built-in keys alone.
    pub fn builtin() -> &'static ListKeys {
        &BUILTIN
    }

    /// Whether the path of a list has a say, and not only its name.
    pub fn reads_paths(&self) -> bool {
        self.known.is_some() || !self.chosen.is_empty()
    }

    /// How to read the list at `place`, by all the items of both of its versions: what an edit
    /// leaves alone must not change the names of the others.
    pub fn rule(&self, place: ListPlace<'_>, old: &[Value<'_>], new: &[Value<'_>]) -> ListRule<'_> {
        let list = Items::of(old, new);
        self.asked(place, &list)
            .or_else(|| list.built_in(place))
            .or_else(|| self.merged(place, &list))
            .unwrap_or_else(|| list.guessed())
    }

    /// What was chosen, or what the server says.
    fn asked(&self, place: ListPlace<'_>, list: &Items<'_, '_>) -> Option<ListRule<'_>> {
        let path = place.path?;
        let mut chosen = self.chosen.iter();
        let chosen = chosen.find(|chosen| chosen.names(path) && list.fit(&chosen.key));
        if let Some(chosen) = chosen {
            return Some(Identity::Key(&chosen.key).in_order(place.order()));
        }
        match self.known.as_ref()?.list(path)? {
            ListType::Map(key) if list.fit(key) => Some(Identity::Key(key).in_order(place.order())),
            ListType::Set if list.are_scalars() => Some(Identity::Value.in_order(Order::Free)),
            ListType::Map(_) | ListType::Set | ListType::Merged(_) => None,
        }
    }

    fn merged(&self, place: ListPlace<'_>, list: &Items<'_, '_>) -> Option<ListRule<'_>> {
        match self.known.as_ref()?.list(place.path?)? {
            ListType::Merged(key) if list.fit(key) => {
                Some(Identity::Key(key).in_order(Order::Matters))
            }
            ListType::Map(_) | ListType::Set | ListType::Merged(_) => None,
        }
    }
}

impl<'k> Identity<'k> {
    fn in_order(self, order: Order) -> ListRule<'k> {
        ListRule {
            identity: self,
            order,
        }
    }
}

impl ListPlace<'_> {
    /// Whether the order of a list of this name means anything, where another than the built-in key
    /// tells its items apart.
    fn order(self) -> Order {
        table::entries(self)
            .next()
            .map_or(Order::Matters, |entry| entry.order)
    }
}

/// Both versions of a list.
struct Items<'l, 'a> {
    old: &'l [Value<'a>],
    new: &'l [Value<'a>],
}

impl<'l, 'a> Items<'l, 'a> {
    fn of(old: &'l [Value<'a>], new: &'l [Value<'a>]) -> Items<'l, 'a> {
        Items { old, new }
    }

    /// The items of both. One that stands unchanged where it stood says nothing new.
    fn each(&self) -> impl Iterator<Item = Value<'a>> {
        let changed = self.new.iter().enumerate().filter(|(at, item)| {
            let old = self.old.get(*at);
            old.is_none_or(|old| old.raw() != item.raw())
        });
        self.old
            .iter()
            .copied()
            .chain(changed.map(|(_, item)| *item))
    }

    fn fit(&self, key: &ListKey) -> bool {
        self.each().all(|item| key.fits(item))
    }

    fn are_scalars(&self) -> bool {
        self.each().all(is_scalar)
    }

    fn built_in(&self, place: ListPlace<'_>) -> Option<ListRule<'static>> {
        table::entries(place).find_map(|entry| {
            let identity = match &entry.identity {
                table::BuiltInKey::Value => self.are_scalars().then_some(Identity::Value),
                table::BuiltInKey::Key(key) => self.fit(key).then_some(Identity::Key(key)),
            };
            Some(identity?.in_order(entry.order))
        })
    }

    fn guessed(&self) -> ListRule<'static> {
        let tells_apart = |key: &ListKey| {
            [self.old, self.new].iter().all(|items| {
                let mut seen = FxHashSet::default();
                items.iter().all(|&item| seen.insert(key.of(item)))
            })
        };
        table::GUESSES
            .iter()
            .find(|key| self.fit(key) && tells_apart(key))
            .map_or(Identity::Order, Identity::Key)
            .in_order(Order::Matters)
    }
}

#[cfg(test)]
mod tests;
