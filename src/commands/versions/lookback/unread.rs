//! The parts of the past that a look-back could not read: sources that it skips, walks that were refused or interrupted,
//! objects with missing versions, and writes whose versions are compacted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::SourcePast;
use crate::commands::UnreadPart;
use crate::commands::live::sources::{named, not_read, reason};
use crate::object::Resource;
use crate::render::count::plural;
use crate::source::SourceKey;

/// How many objects or sources a line names.
const NAMED: usize = 3;

/// A source, or a kind, that cannot be read.
#[derive(Clone, Debug)]
pub(crate) struct SkippedSource {
    key: Option<Arc<SourceKey>>,
    /// Whether it has no old versions that could be missing.
    pub(crate) has_no_past: bool,
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
            source: key.to_string(),
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

    /// Whether the server refuses it.
    pub(crate) fn is_refused(&self) -> bool {
        self.key.is_some()
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

/// A line for each part that could not be read.
pub(crate) fn unread_lines<'s>(
    found: &[SourcePast],
    skipped: impl IntoIterator<Item = &'s SkippedSource>,
) -> Vec<String> {
    let skipped = skipped.into_iter().map(|it| (it.kind.as_str(), &*it.cause));
    let skipped = not_read(skipped).into_iter();
    let refused = refusal_lines(found).into_iter();
    let lines = skipped.chain(refused).chain(interruption(found));
    let lines = lines.chain(missing_lines(found));
    lines.chain(compacted_lines(found)).collect()
}

/// The line that names the sources whose look-back was interrupted.
fn interruption(found: &[SourcePast]) -> Option<String> {
    let cut = found.iter().filter(|found| found.is_cut);
    let names: Vec<String> = cut.map(|found| found.key.to_string()).collect();
    (!names.is_empty()).then(|| {
        let names = first_names(names);
        format!("look-back interrupted: earlier versions of {names} may be missing")
    })
}

/// The parts that could not be read, for the exit code.
pub(crate) fn unread_parts(found: &[SourcePast], skipped: &[SkippedSource]) -> Vec<UnreadPart> {
    let cut = found.iter().filter(|found| found.is_cut);
    let cut = cut.map(|found| UnreadPart::Late(format!("earlier versions of {}", found.key)));
    let skipped = skipped.iter().filter(|skipped| !skipped.has_no_past);
    let skipped = skipped.map(|skipped| UnreadPart::Refused(skipped.error()));
    let lines = refusal_lines(found).into_iter().chain(missing_lines(found));
    let lines = lines.map(|line| UnreadPart::Refused(format!("error: {line}")));
    cut.chain(skipped).chain(lines).collect()
}

/// The phrases about versions that were not read because the time or the number of requests was used up.
pub(crate) fn unfinished(found: &[SourcePast]) -> Vec<String> {
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in found {
        let Some(shortfall) = source.shortfall() else {
            continue;
        };
        let sources = reasons.entry(shortfall.hint()).or_default();
        sources.push(source.key.to_string());
    }
    let phrases = reasons.into_iter().map(|(reason, sources)| {
        let of = match sources.len() {
            count if count == found.len() => String::new(),
            _ => format!(" of {}", first_names(sources)),
        };
        format!("versions{of} {reason}")
    });
    phrases.collect()
}

/// A line for each sort of refusal, with its sources and the message for the first of them.
fn refusal_lines(found: &[SourcePast]) -> Vec<String> {
    let refused = found.iter().filter(|found| !found.is_cut);
    let refused = refused.filter_map(|found| Some((found, found.refusal()?)));
    let mut groups: Vec<(bool, String, Vec<&SourcePast>)> = Vec::new();
    for (source, cause) in refused {
        let is_of = |(is_read, first, _): &&mut (bool, String, _)| {
            *is_read == source.is_read() && reason(first) == reason(&cause)
        };
        match groups.iter_mut().find(is_of) {
            Some((.., sources)) => sources.push(source),
            None => groups.push((source.is_read(), cause, vec![source])),
        }
    }
    let lines = groups.into_iter().map(|(is_read, cause, sources)| {
        let sources = many(&sources);
        if is_read {
            format!("older versions of {sources} are missing: {cause}")
        } else {
            format!("no look-back for {sources}: {cause}")
        }
    });
    lines.collect()
}

/// A few sources by name. More than a few whole kinds are counted.
fn many(sources: &[&SourcePast]) -> String {
    let is_wide = |found: &&SourcePast| named(&found.key).is_none();
    let kinds: BTreeSet<&Resource> = sources.iter().map(|found| &found.key.resource).collect();
    if kinds.len() > NAMED && sources.iter().all(is_wide) {
        return plural(kinds.len(), "kind");
    }
    first_names(sources.iter().map(|found| found.key.to_string()).collect())
}

/// A line for each cause of missing versions, with its objects.
fn missing_lines(found: &[SourcePast]) -> Vec<String> {
    let mut causes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for missing in found.iter().flat_map(|found| &found.missing) {
        let objects = causes.entry(missing.cause.to_string()).or_default();
        objects.push(missing.object.to_string());
    }
    let lines = causes.into_iter().map(|(cause, objects)| {
        format!("versions of {} are missing: {cause}", first_names(objects))
    });
    lines.collect()
}

/// The lines about writes in the window that are not shown, because versions are compacted.
fn compacted_lines(found: &[SourcePast]) -> Vec<String> {
    let writes = || found.iter().flat_map(|found| &found.compacted);
    let line = |is_creation: bool, words: &str| {
        let objects = writes().filter(|write| write.is_creation == is_creation);
        let names: Vec<String> = objects.map(|write| write.object.to_string()).collect();
        (!names.is_empty()).then(|| format!("{words}: {}", first_names(names)))
    };
    let mut recorded = found.iter().filter_map(|found| found.recorded.as_ref());
    let is_recorded = recorded.clone().next().is_some();
    let [created, changed] = if recorded.any(|span| span.begin.unread.is_some()) {
        [
            "created in the window, before what can be read of the record",
            "changed in the window, before what can be read of the record",
        ]
    } else if is_recorded {
        [
            "created in the window, before the record begins",
            "changed in the window, before the record begins",
        ]
    } else {
        [
            "created in the window, but the server has compacted that version",
            "changed in the window, but the server has compacted the version before",
        ]
    };
    let (created, changed) = (line(true, created), line(false, changed));
    created.into_iter().chain(changed).collect()
}

/// The first names, and the number of the others.
fn first_names(mut names: Vec<String>) -> String {
    names.sort();
    if names.len() <= NAMED {
        return names.join(", ");
    }
    let others = names.split_off(NAMED - 1).len();
    format!("{} and {others} others", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::ObjectRef;
    use crate::render::style::testing::plain;
    use crate::render::text::Text;
    use crate::watch::{End, Missing, SourceError};

    fn found(missing: &[(&str, &str)]) -> SourcePast {
        let key = SourceKey::all("", "Pod");
        let missing = missing.iter().map(|(name, cause)| Missing {
            object: ObjectRef {
                api_version: "v1".into(),
                kind: "Pod".into(),
                namespace: None,
                name: (*name).into(),
                uid: None,
            },
            cause: SourceError::Cut {
                detail: (*cause).into(),
            },
        });
        SourcePast {
            missing: missing.collect(),
            ..SourcePast::new(Arc::new(key))
        }
    }

    #[test]
    fn each_cause_has_one_line_with_its_objects() {
        assert!(missing_lines(&[found(&[])]).is_empty());
        let all = [
            found(&[("e", "reset"), ("a", "reset"), ("x", "\u{1b}[2J")]),
            found(&[("b", "reset"), ("c", "reset")]),
        ];
        let lines = missing_lines(&all).into_iter().map(Text::from);
        insta::assert_snapshot!(plain(lines), @r"
        versions of pod/x are missing: connection lost: ^[[2J
        versions of pod/a, pod/b and 2 others are missing: connection lost: reset
        ");
    }

    fn ended(end: &End, kinds: &[&str]) -> Vec<SourcePast> {
        let source = |kind: &&str| SourcePast {
            end: Some(end.clone()),
            ..SourcePast::new(Arc::new(SourceKey::all("", kind)))
        };
        kinds.iter().map(source).collect()
    }

    #[test]
    fn one_reason_has_one_line_for_all_kinds() {
        let numbers = End::NotOffered("its resourceVersions are not numbers".into());
        let mut all = ended(&numbers, &["Pod", "Secret"]);
        all.extend(ended(&End::Failed(SourceError::Ended), &["Node"]));
        let lines = refusal_lines(&all);
        let text = "its resourceVersions are not numbers";
        assert_eq!(
            lines,
            [
                &format!("no look-back for pods, secrets: {text}")[..],
                "no look-back for nodes: end of file"
            ]
        );
        let all = ended(&numbers, &["Pod", "Secret", "Node", "Service", "ConfigMap"]);
        assert_eq!(
            refusal_lines(&all),
            [format!("no look-back for 5 kinds: {text}")]
        );
    }

    #[test]
    fn versions_that_were_not_read_are_named_with_the_flag_that_reads_them() {
        let late = End::OutOfTime(std::time::Duration::from_secs(1));
        let mut all = ended(&late, &["Pod", "Secret"]);
        assert_eq!(unfinished(&all), ["versions not read in 1 s: --since 5m"]);
        all.extend(ended(&End::Spent, &["Node"]));
        all.extend(ended(&End::Limit, &["Service"]));
        assert_eq!(
            unfinished(&all),
            [
                "versions of pods, secrets not read in 1 s: --since 5m",
                "versions of nodes not read within 100 requests: --since all"
            ]
        );
    }
}
