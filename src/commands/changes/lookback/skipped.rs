//! The sources and kinds that a look-back skips, because they cannot be read. One line names all of them.

use std::sync::Arc;

use crate::commands::sources::describe;
use crate::object::Resource;
use crate::render::text::escape_line;
use crate::source::SourceKey;

/// A source, or a kind, that cannot be read.
#[derive(Clone, Debug)]
pub(crate) struct SkippedSource {
    key: Option<Arc<SourceKey>>,
    has_no_past: bool,
    /// The source for people: `secrets in namespace "shop"`.
    pub(crate) source: String,
    /// Only its kind.
    kind: String,
    /// The reason, if possible the server's message.
    pub(crate) cause: Arc<str>,
}

impl SkippedSource {
    /// A source that the server refuses or does not serve.
    pub(crate) fn refused(key: &SourceKey, cause: &Arc<str>) -> SkippedSource {
        SkippedSource {
            source: describe(key),
            kind: key.resource.group_resource(),
            cause: cause.clone(),
            key: Some(Arc::new(key.clone())),
            has_no_past: false,
        }
    }

    /// A kind that can be listed but not watched. Usually the server computes such objects for each request and stores none.
    pub(crate) fn unwatched(resource: &Resource) -> SkippedSource {
        let kind = resource.group_resource();
        SkippedSource {
            key: None,
            source: kind.clone(),
            kind,
            cause: "this kind cannot be watched".into(),
            has_no_past: true,
        }
    }

    /// An API group whose server does not answer.
    pub(crate) fn silent(group: &str) -> SkippedSource {
        SkippedSource {
            key: None,
            source: group.to_owned(),
            kind: group.to_owned(),
            cause: "its API server does not answer".into(),
            has_no_past: false,
        }
    }

    /// Whether it has no old versions that could be missing.
    pub(crate) fn has_no_past(&self) -> bool {
        self.has_no_past
    }

    /// The error that it cannot be read.
    pub(crate) fn error(&self) -> String {
        match self.key {
            // The cause is the server's message, which is a whole error line.
            Some(_) => self.cause.to_string(),
            None => format!("error: {}: {}", self.source, self.cause),
        }
    }

    /// Whether it is this source.
    pub(crate) fn is_of(&self, key: &SourceKey) -> bool {
        self.key.as_deref() == Some(key)
    }
}

/// The line: for each reason, the full message for the first kind, then the names of the other kinds.
pub(crate) fn line(skipped: &[SkippedSource]) -> Option<String> {
    let mut groups: Vec<(&SkippedSource, Vec<&str>)> = Vec::new();
    for skipped in skipped {
        let of_sort = groups.iter_mut();
        match of_sort
            .into_iter()
            .find(|(first, _)| sort(first) == sort(skipped))
        {
            Some((_, others)) => others.push(&skipped.kind),
            None => groups.push((skipped, Vec::new())),
        }
    }
    let parts: Vec<String> = groups
        .iter()
        .map(|(first, others)| part(first, others))
        .collect();
    let line = (!parts.is_empty()).then(|| format!("not read: {}", parts.join(" · ")))?;
    Some(escape_line(&line).into_owned())
}

/// The sort of a cause: the text before its first colon. `Error from server (Forbidden)` is one sort for all kinds.
fn sort(skipped: &SkippedSource) -> &str {
    let cause: &str = &skipped.cause;
    cause.split_once(": ").map_or(cause, |(sort, _)| sort)
}

fn part(first: &SkippedSource, others: &[&str]) -> String {
    // The server's message may already name the kind.
    let first = match &first.key {
        Some(_) if first.cause.contains(first.kind.as_str()) => first.cause.to_string(),
        Some(_) | None => format!("{}: {}", first.kind, first.cause),
    };
    match others {
        [] => first,
        others => format!("{first}; also {}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(group: &str, plural: &str) -> Resource {
        Resource {
            group: group.into(),
            version: "v1".into(),
            plural: plural.into(),
            kind: "X".into(),
            namespaced: true,
        }
    }

    fn refused(plural: &str, cause: &str) -> SkippedSource {
        SkippedSource {
            key: Some(Arc::new(crate::source::SourceKey {
                cluster: crate::source::ClusterId("test".into()),
                resource: kind("", plural),
                scope: crate::source::Scope::Cluster,
                select: crate::source::Select::All,
                form: crate::source::Form::Full,
            })),
            has_no_past: false,
            source: plural.to_owned(),
            kind: plural.to_owned(),
            cause: cause.into(),
        }
    }

    #[test]
    fn each_reason_appears_once_and_each_kind_by_name() {
        assert_eq!(line(&[]), None);
        let forbidden = |kind: &str| {
            let cause = format!("Error from server (Forbidden): {kind} is forbidden: no");
            refused(kind, &cause)
        };
        let metrics = SkippedSource::unwatched(&kind("metrics.k8s.io", "pods"));
        let all = [
            forbidden("secrets"),
            metrics,
            forbidden("leases"),
            refused("webs", "connection refused"),
            forbidden("events"),
        ];
        insta::assert_snapshot!(line(&all).unwrap_or_default(), @"not read: Error from server (Forbidden): secrets is forbidden: no; also leases, events · pods.metrics.k8s.io: this kind cannot be watched · webs: connection refused");
    }
}
