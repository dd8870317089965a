//! The state of the server in memory, behind a lock.

use std::sync::{Arc, Mutex, MutexGuard};

use super::model::Model;

/// The state that the server and its connections share.
#[derive(Clone, Debug)]
pub(super) struct SharedModel(Arc<Mutex<Model>>);

impl SharedModel {
    pub(super) fn new(model: Model) -> SharedModel {
        SharedModel(Arc::new(Mutex::new(model)))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Model> {
        self.0.lock().expect("no thread panicked with the lock")
    }
}
