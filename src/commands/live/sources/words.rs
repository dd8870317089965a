//! The names of sources and their states, and the hint for missing permissions.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::source::{ClusterId, SourceKey};

/// A namespace of a cluster.
pub(crate) type ClusterNamespace = (ClusterId, Arc<str>);

/// The message about a named object that does not exist: `waiting for deployments.apps/web in namespace "shop"`.
pub(crate) fn waiting(key: &SourceKey) -> String {
    format!("waiting for {key}")
}

/// A number of objects of a source: `1 deployment.apps in namespace "shop"`, `2 pods with labels app=web`.
pub(crate) fn describe_counted(key: &SourceKey, count: usize) -> String {
    let resource = &key.resource;
    let name = match (count, &*resource.group) {
        (1, "") => resource.kind.to_lowercase(),
        (1, group) => format!("{}.{group}", resource.kind.to_lowercase()),
        _ => resource.group_resource(),
    };
    format!("{count} {name}{}", key.place())
}

/// Those of these named objects that no cluster has, of the requested sources of all clusters.
pub(crate) fn nowhere<'k>(
    missing: Vec<SourceKey>,
    requested: impl Iterator<Item = &'k SourceKey>,
) -> Vec<SourceKey> {
    let name = |key: &SourceKey| (key.resource.group_kind(), named(key).map(str::to_owned));
    let there = requested.filter(|key| !missing.contains(key));
    let there: BTreeSet<_> = there.map(name).collect();
    let mut missing = missing;
    missing.retain(|key| !there.contains(&name(key)));
    missing
}

/// The name, if the source selects one.
pub(crate) fn named(key: &SourceKey) -> Option<&str> {
    key.select.name()
}

/// The hint for missing permissions. It names `list`: a source that may be listed but not watched is polled,
/// not refused.
pub(super) fn can_i(keys: &[&SourceKey]) -> Option<String> {
    let first = *keys.first()?;
    let namespace = first.namespace();
    let is_there = |key: &&SourceKey| key.namespace() == namespace;
    Some(match namespace {
        Some(namespace) if keys.len() > 1 && keys.iter().all(is_there) => {
            format!("try `kubectl auth can-i --list -n {namespace}`")
        }
        Some(namespace) => format!(
            "try `kubectl auth can-i list {} -n {namespace}`",
            first.type_and_name()
        ),
        None if first.resource.namespaced => format!(
            "try `kubectl auth can-i list {} -A`, or name a namespace with -n",
            first.type_and_name()
        ),
        None => format!("try `kubectl auth can-i list {}`", first.type_and_name()),
    })
}

/// `not read: Error from server (Forbidden): secrets is forbidden…; also roles.rbac.authorization.k8s.io`: for each reason, the whole
/// message about the first kind, then the names of the other kinds. It takes kinds with their causes.
pub(crate) fn not_read<'k>(unread: impl IntoIterator<Item = (&'k str, &'k str)>) -> Option<String> {
    let mut reasons: Vec<(&str, String, Vec<&str>)> = Vec::new();
    for (kind, cause) in unread {
        let reason = reason(cause);
        match reasons.iter_mut().find(|(known, ..)| *known == reason) {
            Some((_, _, others)) => others.push(kind),
            // The server's message may already name the kind.
            None if cause.contains(kind) => reasons.push((reason, cause.to_owned(), Vec::new())),
            None => reasons.push((reason, format!("{kind}: {cause}"), Vec::new())),
        }
    }
    let parts = reasons
        .into_iter()
        .map(|(_, first, others)| match &others[..] {
            [] => first,
            others => format!("{first}; also {}", others.join(", ")),
        });
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| format!("not read: {}", parts.join(" · ")))
}

/// The text before the first colon: `Error from server (Forbidden)` is one reason for all kinds.
pub(crate) fn reason(cause: &str) -> &str {
    cause.split_once(": ").map_or(cause, |(reason, _)| reason)
}

/// How much a verb depends on a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// The user requested it. The verb ends if it can read no vital source.
    Vital,
    /// It decides the state of what the user requested: without it, `--exit-code` has no answer.
    Decisive,
    /// It adds to the view.
    Useful,
    /// The model only looks for dependents in it. If it cannot be read, a line of the view counts it.
    Spare,
}

/// A change of a source's state, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// The source: `deployments.apps/web in namespace "shop"`.
    pub(crate) source: String,
    /// The state's name: `live`, `retrying`.
    pub(crate) state: &'static str,
    /// The reason, if there is one.
    pub(crate) cause: Option<Arc<str>>,
}

/// A part of the request that the verb could not read: a source, or its earlier versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UnreadPart {
    /// The server had not sent it when the time was over. The text names it: `pods in namespace "shop"`.
    Late(String),
    /// The server refused it or went away. The text is the whole message, in the server's words if it sent
    /// any.
    Refused(String),
    /// The server refused what decides the state of a requested object. The text is as for [`UnreadPart::Refused`].
    Undecided(String),
    /// The server refused an object or a type that the user named. The text is as for [`UnreadPart::Refused`].
    Requested(String),
}

impl UnreadPart {
    /// The same part, with its cause in other words.
    pub(super) fn in_words(self, words: impl FnOnce(&str) -> String) -> UnreadPart {
        match self {
            UnreadPart::Late(what) => UnreadPart::Late(what),
            UnreadPart::Refused(cause) => UnreadPart::Refused(words(&cause)),
            UnreadPart::Undecided(cause) => UnreadPart::Undecided(words(&cause)),
            UnreadPart::Requested(cause) => UnreadPart::Requested(words(&cause)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_appears_once_and_each_kind_by_name() {
        assert_eq!(not_read([]), None);
        let forbidden =
            |kind: &str| format!("Error from server (Forbidden): {kind} is forbidden: no");
        let line = not_read([
            ("secrets", &*forbidden("secrets")),
            ("pods.metrics.k8s.io", "this kind cannot be watched"),
            ("leases", &forbidden("leases")),
            ("webs", "connection refused"),
            ("events", &forbidden("events")),
        ]);
        insta::assert_snapshot!(line.unwrap_or_default(), @"not read: Error from server (Forbidden): secrets is forbidden: no; also leases, events · pods.metrics.k8s.io: this kind cannot be watched · webs: connection refused");
    }
}
