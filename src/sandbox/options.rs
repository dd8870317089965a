//! The options of a sandbox.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::fault::Fault;
use super::kinds::Kind;
use super::rbac::User;

/// Returns the current time. The sandbox never reads the real clock.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The options of a sandbox.
#[derive(Clone)]
pub struct Options {
    /// The source of creation times, write times and the ages in tables.
    pub clock: Clock,
    /// A namespace that exists without having been created: that of the contexts of the kubeconfig.
    pub namespace: String,
    /// The users and their rights. Empty: no authentication, and every request is allowed.
    pub users: Vec<User>,
    /// Faults that are active from the start.
    pub faults: Vec<Fault>,
    /// Time between the bookmarks of a watch.
    pub bookmark_interval: Duration,
    /// Kinds besides the built-in ones.
    pub kinds: Vec<Kind>,
    /// The revision of the empty cluster. The first write gets the next one.
    pub revision: u64,
    /// A text before the number in each resourceVersion. With one, they are not numbers, as on servers that do
    /// not store into etcd.
    pub version_prefix: &'static str,
    /// Seed of uids and generated names.
    pub seed: u64,
    /// The clock of the `Date` header of answers. A proxy may write it. `None`: there is no such header.
    pub date: Option<Clock>,
}

impl Options {
    /// The default options with this clock.
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            namespace: "default".to_owned(),
            users: Vec::new(),
            faults: Vec::new(),
            bookmark_interval: Duration::from_secs(60),
            kinds: Vec::new(),
            revision: 1,
            version_prefix: "",
            seed: 1,
            date: None,
        }
    }
}
