//! The state that connections share, its users and their rights.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;

use super::fault::Fault;
use super::kinds::Kind;
use super::status::ApiFailure;
use super::store::{StoredVersion, VersionStore, VersionText};
use super::{fault, logs, requests};

/// The state that connections share.
pub(super) struct ServerState {
    pub(super) store: VersionStore,
    pub(super) clock: Clock,
    pub(super) date: Option<Clock>,
    pub(super) version_text: VersionText,
    pub(super) faults: fault::ActiveFaults,
    pub(super) users: Mutex<Vec<User>>,
    pub(super) journal: requests::Journal,
    pub(super) bookmark_interval: Duration,
    /// A namespace that exists without having been created.
    pub(super) namespace: String,
    pub(super) logs: logs::LogStore,
}

impl ServerState {
    /// A namespace object that no writer created. The namespace of the context exists, because users look
    /// into it, and so does every namespace with objects.
    pub(super) fn namespace(&self, name: &str) -> Option<Arc<StoredVersion>> {
        let store = self.store.lock();
        (name == self.namespace || store.live.keys().any(|key| key.namespace == name)).then(|| {
            let value = json!({"metadata": {"name": name}, "status": {"phase": "Active"}});
            Arc::new(StoredVersion::new(value, store.revision))
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

/// Whether a rule grants or denies access. A denial overrides every grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// Grants access.
    Allow,
    /// Denies access.
    Deny,
}

/// A right or a denial. `*` stands for all values of `verbs`, `group` and `resource`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Grant or denial.
    pub permission: Permission,
    /// `get`, `list`, `watch`.
    pub verbs: Vec<String>,
    /// API group; empty for the core group.
    pub group: String,
    /// Plural.
    pub resource: String,
    /// Only in this namespace; `None`: in all namespaces, and cluster-wide.
    pub namespace: Option<String>,
    /// Only objects with these names; empty: all. A list or watch then needs a matching
    /// `fieldSelector=metadata.name=`.
    pub names: Vec<String>,
}

impl Rule {
    fn covers(&self, access: &Access<'_>) -> bool {
        let is = |pattern: &str, value: &str| pattern == "*" || pattern == value;
        self.verbs.iter().any(|verb| is(verb, access.verb))
            && is(&self.group, &access.kind.resource.group)
            && is(&self.resource, &access.resource())
            && self
                .namespace
                .as_deref()
                .is_none_or(|namespace| access.namespace == Some(namespace))
            && (self.names.is_empty() || self.names.iter().any(|name| name == access.name))
    }
}

impl Access<'_> {
    /// `pods`, or `pods/log`.
    fn resource(&self) -> Cow<'_, str> {
        let plural = &*self.kind.resource.plural;
        match self.subresource {
            "" => Cow::Borrowed(plural),
            subresource => Cow::Owned(format!("{plural}/{subresource}")),
        }
    }
}

/// A user with a bearer token, or the anonymous user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The name in error messages.
    pub name: String,
    /// The bearer token; empty for clients that send none (kubectl does so over plain HTTP).
    pub token: String,
    /// The user's rights. Discovery is open to every user.
    pub rules: Vec<Rule>,
}

/// The access that a request needs.
#[derive(Debug)]
pub(super) struct Access<'a> {
    pub(super) verb: &'static str,
    pub(super) kind: &'a Kind,
    /// The subresource; empty for the object itself.
    pub(super) subresource: &'static str,
    pub(super) namespace: Option<&'a str>,
    /// The one name that the request is limited to, by its path or by `fieldSelector=metadata.name=`; empty
    /// for all.
    pub(super) name: &'a str,
}

impl User {
    /// Returns an error unless the rules allow the access.
    pub(super) fn check(&self, access: &Access<'_>) -> Result<(), ApiFailure> {
        let has = |permission| {
            let mut rules = self.rules.iter();
            rules.any(|rule| rule.permission == permission && rule.covers(access))
        };
        if has(Permission::Allow) && !has(Permission::Deny) {
            return Ok(());
        }
        let Access {
            verb,
            kind,
            namespace,
            name,
            subresource: _,
        } = access;
        let place = match namespace {
            Some(namespace) => format!("in the namespace \"{namespace}\""),
            None => "at the cluster scope".to_owned(),
        };
        let what = format!(
            "User \"{}\" cannot {verb} resource \"{}\" in API group \"{}\" {place}",
            self.name,
            access.resource(),
            kind.resource.group
        );
        Err(ApiFailure::forbidden(kind, name, &what))
    }
}

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
