//! What connections share, and who may come in.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::options::Clock;
use super::rbac::User;
use super::status::Failure;
use super::store::Store;
use super::{fault, requests};

/// What connections share.
pub(super) struct Shared {
    pub(super) store: Store,
    pub(super) clock: Clock,
    pub(super) faults: fault::Faults,
    pub(super) users: Mutex<Vec<User>>,
    pub(super) journal: requests::Journal,
    pub(super) bookmark_interval: Duration,
}

impl Shared {
    /// The user of an `Authorization` header; `None` where everybody may do everything.
    pub(super) fn authenticate(&self, header: Option<&str>) -> Result<Option<User>, Failure> {
        let users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        if users.is_empty() {
            return Ok(None);
        }
        let token = header.and_then(|header| header.strip_prefix("Bearer "));
        let token = token.unwrap_or_default();
        let found = users.iter().find(|user| user.token == token);
        found.cloned().map(Some).ok_or_else(Failure::unauthorized)
    }
}
