//! The list keys of each kind. They are fixed by the first diff of a kind, and never change after it.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::object::GroupKind;

use super::{Chosen, ListKeys, Schema};

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
