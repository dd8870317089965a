//! Decides how the items of a list are identified across two versions.
//!
//! The API's own list types define how lists merge, and make most lists atomic
//! (<https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy>). A reader still wants to
//! see *which* container has changed. So well-known lists have a key here, by their field name and by the form of
//! their items. Other lists get a guessed key.

mod key;
mod schema;
mod table;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use super::doc::Value;
use super::path::Path;
use crate::object::GroupKind;
use key::is_scalar;
use schema::KindSchema;

pub use key::{Chosen, ChosenError, ListKey};
pub use schema::{ListType, Schema};

/// How the items of a list are identified.
#[derive(Clone, Copy, Debug)]
pub enum Identity<'k> {
    /// By these fields.
    Key(&'k ListKey),
    /// By their values, which are scalars: the list is a set.
    Value,
    /// By their positions only.
    Order,
}

/// Whether the order of a list's items has a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The order has a meaning, or that is unknown.
    Matters,
    /// The order has no meaning: the server or a controller may write any.
    Free,
}

/// How to compare a list.
#[derive(Clone, Copy, Debug)]
pub struct ListRule<'k> {
    /// How its items are identified.
    pub identity: Identity<'k>,
    /// Whether the order of its items has a meaning.
    pub order: Order,
}

/// The position of a list in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListPlace<'a> {
    /// The field with the list; empty for a list in a list.
    pub field: &'a str,
    /// The next field above it; empty at the root of the object.
    pub parent: &'a str,
    /// The whole path, if [`ListKeys::reads_paths`] requires it.
    pub path: Option<&'a Path<'a>>,
}

/// The keys of the lists of one kind. The first of these that fits all items of a list is used: a key from the
/// command line, the server's key (`x-kubernetes-list-map-keys`), a built-in key, the merge key
/// (`x-kubernetes-patch-merge-key`), a guess. Without a key a list is a sequence.
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
    /// Only the built-in keys.
    pub fn builtin() -> &'static ListKeys {
        &BUILTIN
    }

    /// Whether the key of a list depends on its path, and not only on its name.
    pub fn reads_paths(&self) -> bool {
        self.known.is_some() || !self.chosen.is_empty()
    }

    /// How to compare the list at `place`, given all items of both versions. An edit must not change the names of
    /// the items that it does not touch.
    pub fn rule(&self, place: ListPlace<'_>, old: &[Value<'_>], new: &[Value<'_>]) -> ListRule<'_> {
        let list = Items::of(old, new);
        self.asked(place, &list)
            .or_else(|| list.built_in(place))
            .or_else(|| self.merged(place, &list))
            .unwrap_or_else(|| list.guessed())
    }

    /// The rule from the command line or from the server's schema.
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
    /// Whether the order of a list with this name has a meaning, for a list whose key is not the built-in one.
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

    /// The items of both versions. An item that is unchanged at its position is given only once.
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

/// The list keys of all kinds. A schema counts if it arrives before the first diff of its kind: items must not
/// change their names while a user watches.
#[derive(Default)]
pub struct KindKeys {
    chosen: Vec<Chosen>,
    kinds: Mutex<FxHashMap<GroupKind, KeysOfKind>>,
}

#[derive(Clone)]
enum KeysOfKind {
    Learnt(Arc<Schema>),
    Settled(Arc<ListKeys>),
}

impl KindKeys {
    /// Creates a set with keys that take precedence over all others, for every kind.
    pub fn new(chosen: Vec<Chosen>) -> KindKeys {
        KindKeys {
            chosen,
            kinds: Mutex::default(),
        }
    }

    /// Adds the schema of a kind's API. Returns whether it arrived in time.
    pub fn learn(&self, kind: &GroupKind, schema: Arc<Schema>) -> bool {
        // The map is consistent even if a thread panicked with the lock.
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        let settled = matches!(kinds.get(kind), Some(KeysOfKind::Settled(_)));
        if !settled {
            kinds.insert(kind.clone(), KeysOfKind::Learnt(schema));
        }
        !settled
    }

    /// The keys of a kind, which are fixed from now on.
    pub fn of(&self, kind: &GroupKind) -> Arc<ListKeys> {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(KeysOfKind::Settled(keys)) = kinds.get(kind) {
            return keys.clone();
        }
        let keys = self.known(kinds.get(kind), kind);
        kinds.insert(kind.clone(), KeysOfKind::Settled(keys.clone()));
        keys
    }

    /// The keys of a kind as far as they are known now. A later schema still counts.
    pub fn so_far(&self, kind: &GroupKind) -> Arc<ListKeys> {
        let kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        self.known(kinds.get(kind), kind)
    }

    fn known(&self, known: Option<&KeysOfKind>, kind: &GroupKind) -> Arc<ListKeys> {
        let schema = match known {
            Some(KeysOfKind::Settled(keys)) => return keys.clone(),
            Some(KeysOfKind::Learnt(schema)) => Some(schema.clone()),
            None => None,
        };
        Arc::new(ListKeys {
            chosen: self.chosen.clone(),
            known: schema.and_then(|schema| Schema::known(&schema, &kind.kind)),
        })
    }
}

impl fmt::Debug for KindKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KindKeys")
            .field("chosen", &self.chosen)
            .finish_non_exhaustive()
    }
}
