//! The state that connections share, and authentication.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;

use super::log::StoredVersion;
use super::options::Clock;
use super::rbac::User;
use super::status::ApiFailure;
use super::store::ObjectStore;
use super::version_text::VersionText;
use super::{fault, requests};

/// The state that connections share.
pub(super) struct ServerState {
    pub(super) store: ObjectStore,
    pub(super) clock: Clock,
    pub(super) date: Option<Clock>,
    pub(super) version_text: VersionText,
    pub(super) faults: fault::Faults,
    pub(super) users: Mutex<Vec<User>>,
    pub(super) journal: requests::Journal,
    pub(super) bookmark_interval: Duration,
    /// A namespace that exists without having been created.
    pub(super) namespace: String,
}

impl ServerState {
    /// A namespace object that no writer created. The namespace of the context exists, because users look
    /// into it, and so does every namespace with objects.
    pub(super) fn namespace(&self, name: &str) -> Option<Arc<StoredVersion>> {
        let store = self.store.lock();
        (name == self.namespace || store.holds_namespace(name)).then(|| {
            let value = json!({"metadata": {"name": name}, "status": {"phase": "Active"}});
            Arc::new(StoredVersion::new(value, store.revision()))
        })
    }

    /// The user of an `Authorization` header; `None` if the server has no users, so every request is allowed.
    pub(super) fn authenticate(&self, header: Option<&str>) -> Result<Option<User>, ApiFailure> {
        let users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        if users.is_empty() {
            return Ok(None);
        }
        let token = header.and_then(|header| header.strip_prefix("Bearer "));
        let token = token.unwrap_or_default();
        let found = users.iter().find(|user| user.token == token);
        found
            .cloned()
            .map(Some)
            .ok_or_else(ApiFailure::unauthorized)
    }
}
