//! Which keys hold for which kind: settled with the first diff of a kind, and never changed after.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::object::{GroupKind, is_kubernetes_own};

use super::{Chosen, ListKeys, Schema};

/// Whether the lists of a group's kinds are known without asking a server for their schema: a test holds
/// the built-in keys against the schema of a real one.
pub fn is_built_in(group: &str) -> bool {
    is_kubernetes_own(group)
}

/// The keys of every kind that is looked at. A kind's schema counts if it is there before the first
/// diff of that kind: items must not change their names while somebody looks on.
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
    /// Keys that go before all others, for every kind.
    pub fn new(chosen: Vec<Chosen>) -> KindKeys {
        KindKeys {
            chosen,
            kinds: Mutex::default(),
        }
    }

    /// Takes the schema of the API that a kind belongs to. Returns whether it came in time.
    pub fn learn(&self, kind: &GroupKind, schema: Arc<Schema>) -> bool {
        // The map is whole even if a thread has panicked between two uses of it.
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        let settled = matches!(kinds.get(kind), Some(KeysOfKind::Settled(_)));
        if !settled {
            kinds.insert(kind.clone(), KeysOfKind::Learnt(schema));
        }
        !settled
    }

    /// The keys of a kind, settled from now on.
    pub fn of(&self, kind: &GroupKind) -> Arc<ListKeys> {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(KeysOfKind::Settled(keys)) = kinds.get(kind) {
            return keys.clone();
        }
        let keys = self.known(kinds.get(kind), kind);
        kinds.insert(kind.clone(), KeysOfKind::Settled(keys.clone()));
        keys
    }

    /// The keys of a kind as they are known by now. A schema that comes later still counts.
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
