//! Authorization: bearer tokens, users and their rules.

use super::kinds::Kind;
use super::status::ApiFailure;

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
            && is(&self.resource, &access.kind.resource.plural)
            && self
                .namespace
                .as_deref()
                .is_none_or(|namespace| access.namespace == Some(namespace))
            && (self.names.is_empty() || self.names.iter().any(|name| name == access.name))
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
        } = access;
        let place = match namespace {
            Some(namespace) => format!("in the namespace \"{namespace}\""),
            None => "at the cluster scope".to_owned(),
        };
        let what = format!(
            "User \"{}\" cannot {verb} resource \"{}\" in API group \"{}\" {place}",
            self.name, kind.resource.plural, kind.resource.group
        );
        Err(ApiFailure::forbidden(kind, name, &what))
    }
}
