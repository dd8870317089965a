//! The options of a sandbox, and its kubeconfig.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

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
    /// Name of the context in [`Sandbox::kubeconfig`](super::Sandbox::kubeconfig).
    pub context: String,
    /// The context's namespace.
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
    /// Seed of uids and generated names.
    pub seed: u64,
    /// Whether answers have a `Date` header, with the time of the clock.
    pub sends_date: bool,
}

impl Options {
    /// The default options with this clock.
    pub fn new(clock: Clock) -> Self {
        Self {
            clock,
            context: "demo".to_owned(),
            namespace: "default".to_owned(),
            users: Vec::new(),
            faults: Vec::new(),
            bookmark_interval: Duration::from_secs(60),
            kinds: Vec::new(),
            revision: 1,
            seed: 1,
            sends_date: false,
        }
    }
}

/// A kubeconfig with a context per user, the first one current.
pub(super) fn kubeconfig(
    url: &str,
    context: &str,
    namespace: &str,
    users: &[(&str, &str)],
) -> String {
    let users: &[(&str, &str)] = if users.is_empty() {
        &[("demo", "")]
    } else {
        users
    };
    let name_of = |index: usize, user: &str| {
        if index == 0 {
            context.to_owned()
        } else {
            format!("{context}-{user}")
        }
    };
    let contexts: Vec<Value> = users
        .iter()
        .enumerate()
        .map(|(index, (user, _))| {
            let context = json!({"cluster": context, "user": user, "namespace": namespace});
            json!({"name": name_of(index, user), "context": context})
        })
        .collect();
    let users: Vec<Value> = users
        .iter()
        .map(|(user, token)| {
            let secret = if token.is_empty() {
                json!({})
            } else {
                json!({"token": token})
            };
            json!({"name": user, "user": secret})
        })
        .collect();
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": context,
        "clusters": [{"name": context, "cluster": {"server": url}}],
        "contexts": contexts, "users": users,
    });
    format!("{config:#}\n")
}
