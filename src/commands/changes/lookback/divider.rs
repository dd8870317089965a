//! `Divider`: the line between past and live versions. It says how far back the past goes, and what is missing.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use super::SourcePast;
use super::missing;
use super::skipped::{self, SkippedSource};
use super::source_past::DatedRevision;
use crate::commands::changes::output::plural;
use crate::commands::changes::state::TimelineEntry;
use crate::commands::sources::{describe, named};
use crate::render::text::{escape_line, width};
use crate::watch::{End, Revision};

/// The words where the time is not known.
const FORGOTTEN: &str = "the server has compacted versions before";

/// The line between past and live versions.
pub(crate) struct Divider<'s> {
    pub(crate) found: &'s [SourcePast],
    pub(crate) skipped: &'s [SkippedSource],
    /// Whether `--since` or `--since-rv` asks for the past.
    pub(crate) is_asked: bool,
    /// Versions from before this time were not requested.
    pub(crate) since: Option<Timestamp>,
    /// How many versions are shown above it, and when the first was written.
    pub(crate) shown: usize,
    pub(crate) first: Option<Timestamp>,
    /// How many versions are hidden.
    pub(crate) hidden: usize,
    pub(crate) changed: ChangedObjects,
    /// Since when it is live; `None` if it ends here.
    pub(crate) live: Option<Timestamp>,
}

/// The objects of wide sources that have changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChangedObjects {
    count: usize,
    /// How many of them no longer exist.
    gone: usize,
    /// Of how many kinds they are.
    kinds: usize,
}

impl ChangedObjects {
    /// The objects in a timeline.
    pub(crate) fn by(timeline: &[TimelineEntry]) -> ChangedObjects {
        let (mut objects, mut kinds) = (HashMap::new(), HashSet::new());
        for entry in timeline.iter().filter(|entry| named(&entry.key).is_none()) {
            let Some(event) = entry.version() else {
                continue;
            };
            let (object, resource) = (&event.now.object, &entry.key.resource);
            objects.insert((resource, &object.namespace, &object.name), event.is_end());
            kinds.insert(resource);
        }
        ChangedObjects {
            count: objects.len(),
            gone: objects.values().filter(|is_gone| **is_gone).count(),
            kinds: kinds.len(),
        }
    }
}

impl Divider<'_> {
    /// A line for each part that could not be read, then the divider, on as many lines as fit these columns.
    pub(crate) fn lines(
        &self,
        columns: Option<usize>,
        time: impl Fn(Timestamp) -> String,
    ) -> Vec<String> {
        if self.found.is_empty() {
            return Vec::new(); // the error names the sources
        }
        let mut lines: Vec<String> = skipped::line(self.skipped).into_iter().collect();
        lines.extend(self.found.iter().filter_map(refusal));
        lines.extend(self.interruption());
        lines.extend(missing::lines(self.found));
        if !self.found.iter().any(is_read) {
            return lines;
        }
        let live = |live| format!("live since {}", time(live));
        let back = |first| format!(", back to {}", time(first));
        let back = self.first.map(back).unwrap_or_default();
        let forgotten = self.forgotten();
        let complete = self.complete(forgotten.is_some());
        let parts: Vec<String> = (self.live.map(live).into_iter())
            .chain([format!("{}{back}", self.count())])
            .chain(forgotten.map(|words| words.say(&time)))
            .chain(complete.map(|words| words.say(&time)))
            .chain(self.missing())
            .collect();
        lines.extend(ruled(&parts, columns));
        lines
    }

    fn count(&self) -> String {
        let hidden = match self.hidden {
            0 => String::new(),
            hidden => format!(" ({hidden} hidden)"),
        };
        if self.found.iter().any(|found| found.is_cut) {
            return match self.shown {
                0 => format!("no earlier version read{hidden}"),
                shown => format!("{} read{hidden}", plural(shown, "earlier version")),
            };
        }
        let wide = self.found.iter().filter_map(|found| found.objects);
        let ChangedObjects { count, gone, kinds } = self.changed;
        match (wide.reduce(|all, count| all + count), count) {
            (Some(there), 0) => format!("none of {} changed{hidden}", plural(there, "object")),
            (Some(there), count) => {
                let (objects, kinds) = (plural(there + gone, "object"), plural(kinds, "kind"));
                format!("{count} of {objects} changed, in {kinds}{hidden}")
            }
            (None, _) if self.shown == 0 => format!("no earlier version{hidden}"),
            (None, _) => format!("{}{hidden}", plural(self.shown, "earlier version")),
        }
    }

    /// How many objects lack versions, as the server did not answer.
    fn missing(&self) -> Option<String> {
        let count = missing::count(self.found);
        (count > 0).then(|| format!("versions of {} are missing", plural(count, "object")))
    }

    /// Where the server's memory ends: from then on all is known of every source.
    fn forgotten(&self) -> Option<Words> {
        let ends = || {
            self.found.iter().filter_map(|found| match found.end {
                Some(End::Forgotten(at)) => Some(found.from.unwrap_or(DatedRevision::undated(at))),
                _ => None,
            })
        };
        // Older versions were not requested.
        let counts =
            |end: &Option<Timestamp>| end.is_none_or(|end| self.since.is_none_or(|it| it < end));
        let known = ends().map(|end| self.known(end)).filter(counts);
        let known = Words::since(
            known,
            ["the server has compacted versions before", "", FORGOTTEN],
        )?;
        if known.since.is_some() {
            return Some(known);
        }
        let times = ends().map(|end| self.time(end));
        Words::since(times, ["the server's history starts before", "", FORGOTTEN])
    }

    /// Whether anything may be missing that the server has not forgotten.
    fn complete(&self, is_forgotten: bool) -> Option<Words> {
        let is_whole = |found: &&SourcePast| is_read(found) && !found.is_cut;
        let read = || self.found.iter().filter(is_whole);
        let wide = || read().filter(|found| found.objects.is_some());
        if missing::count(self.found) > 0 {
            return None;
        }
        let short = wide().filter(|found| found.is_short());
        let since = short.map(|found| self.time(found.complete?));
        let before = "complete since";
        let after = ": objects created and deleted before then may be missing";
        let alone = "objects created and deleted in between may be missing";
        let short = Words::since(since, [before, after, alone]);
        let short = short.or_else(|| self.lives());
        let is_all = self.skipped.iter().all(SkippedSource::has_no_past)
            && self.found.iter().all(|found| is_whole(&found));
        if short.is_some() || is_forgotten || !is_all {
            return short;
        }
        let since = wide().map(|found| self.time(found.from?));
        Words::since(since, [before, "", "complete"])
    }

    /// Of an object that was absent, an earlier life can be missed that was short.
    fn lives(&self) -> Option<Words> {
        let read = |found: &&SourcePast| is_read(found) && !found.is_cut;
        let mut read = self.found.iter().filter(read);
        let is_short = self.is_asked && read.any(SourcePast::is_short);
        let alone = "a short-lived earlier object may be missing";
        is_short.then_some(Words {
            since: None,
            words: ["", "", alone],
        })
    }

    /// When a revision was written, at the latest: as is known, or by the nearest write after it.
    pub(crate) fn time(&self, bound: DatedRevision) -> Option<Timestamp> {
        self.known(bound).or_else(|| self.nearest(bound.at))
    }

    /// When a revision was written, where that is known: no later than the nearest write after it.
    fn known(&self, bound: DatedRevision) -> Option<Timestamp> {
        let dated = bound.dated?;
        let until = dated
            .until
            .into_iter()
            .chain(self.nearest(bound.at))
            .min()?;
        Some(until.max(dated.from))
    }

    /// When the first write after a revision was.
    fn nearest(&self, at: Revision) -> Option<Timestamp> {
        let versions = self.found.iter().flat_map(|found| &found.versions);
        let after = versions.filter(|version| version.event.at > Some(at) && version.is_change());
        let dated = after.filter_map(|version| Some((version.event.at, version.time()?)));
        let nearest = dated.min_by_key(|(at, _)| *at);
        nearest.map(|(_, time)| time)
    }
}

/// Lines of some of the parts each, as many as there is room for.
fn ruled(parts: &[String], columns: Option<usize>) -> Vec<String> {
    let rule = |parts: &[String]| format!("── {} ──", parts.join(" · "));
    let fits = |parts: &[String]| columns.is_none_or(|columns| width(&rule(parts)) <= columns);
    let mut lines = Vec::new();
    let mut start = 0;
    for end in 1..=parts.len() {
        if end == parts.len() || !fits(&parts[start..=end]) {
            lines.push(rule(&parts[start..end]));
            start = end;
        }
    }
    lines
}

/// Something that holds since some time, which need not be known.
struct Words {
    since: Option<Timestamp>,
    /// The words before the time, those after it, and the words without a time.
    words: [&'static str; 3],
}

impl Words {
    /// Since the latest of several times, if all are known; `None` if there are none.
    fn since(
        times: impl Iterator<Item = Option<Timestamp>>,
        words: [&'static str; 3],
    ) -> Option<Words> {
        let mut times = times.peekable();
        times.peek()?;
        let known: Option<Vec<Timestamp>> = times.collect();
        let since = known.and_then(|known| known.into_iter().max());
        Some(Words { since, words })
    }

    fn say(&self, time: &impl Fn(Timestamp) -> String) -> String {
        let [before, after, alone] = self.words;
        match self.since {
            Some(since) => format!("{before} {}{after}", time(since)),
            None => alone.to_owned(),
        }
    }
}

/// Why a source could not be looked back at.
pub(crate) fn refused(found: &SourcePast) -> Option<String> {
    match found.end.as_ref()? {
        End::NotOffered(cause) => Some(cause.to_string()),
        End::Failed(error) => Some(error.to_string()),
        End::Limit | End::Forgotten(_) => None,
    }
}

pub(super) fn refusal(found: &SourcePast) -> Option<String> {
    let source = describe(&found.key);
    let line = format!("no look-back for {source}: {}", refused(found)?);
    Some(escape_line(&line).into_owned())
}

fn is_read(found: &SourcePast) -> bool {
    refused(found).is_none() && !(found.is_cut && found.versions.is_empty())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::commands::changes::compared::WriteTime;
    use crate::commands::changes::lookback::source_past::PastVersion;
    use crate::object::{ObjectRef, Resource, ResourceVersion};
    use crate::watch::{
        Between, ClusterId, Form, PastEvent, Scope, Select, SourceKey, Version, Why,
    };

    /// A version that cannot be read, and was written at this time.
    fn written_at(revision: &str, time: Timestamp) -> PastVersion {
        let object = ObjectRef {
            api_version: "v1".into(),
            kind: "Pod".into(),
            namespace: None,
            name: "a".into(),
            uid: None,
        };
        let version = Version {
            object,
            version: ResourceVersion::new(revision),
            body: "{".into(),
        };
        PastVersion {
            event: PastEvent {
                why: Why::Modified,
                at: Revision::read(revision),
                now: Arc::new(version),
                prev: None,
            },
            written: Some(WriteTime::At(time)),
            dated: None,
        }
    }

    #[test]
    fn a_revision_is_dated_without_reading_later_versions_again() {
        let key = SourceKey {
            cluster: ClusterId("test".into()),
            resource: Resource {
                group: "".into(),
                version: "v1".into(),
                plural: "pods".into(),
                kind: "Pod".into(),
                namespaced: true,
            },
            scope: Scope::Cluster,
            select: Select::All,
            form: Form::Full,
        };
        let at = |second| Timestamp::from_second(second).expect("in range");
        let found = [SourcePast {
            versions: vec![written_at("9", at(90)), written_at("7", at(70))],
            ..SourcePast::new(Arc::new(key))
        }];
        let divider = Divider {
            found: &found,
            skipped: &[],
            is_asked: true,
            since: None,
            shown: 0,
            first: None,
            hidden: 0,
            changed: ChangedObjects::by(&[]),
            live: None,
        };
        let dated = |from, until: Option<i64>| {
            let dated = Between {
                from: at(from),
                until: until.map(at),
            };
            divider.time(DatedRevision {
                at: Revision::read("5").expect("a revision"),
                dated: Some(dated),
            })
        };
        assert_eq!(dated(10, None), Some(at(70)));
        assert_eq!(dated(10, Some(20)), Some(at(20)));
        assert_eq!(dated(80, None), Some(at(80)));
    }

    #[test]
    fn a_rule_is_cut_between_its_parts() {
        let parts = ["live since now", "2 versions", "all"].map(str::to_owned);
        let check = |columns, expected: &[&str]| assert_eq!(ruled(&parts, columns), expected);
        let whole = "── live since now · 2 versions · all ──";
        check(None, &[whole]);
        check(Some(39), &[whole]);
        check(
            Some(38),
            &["── live since now · 2 versions ──", "── all ──"],
        );
        check(
            Some(30),
            &["── live since now ──", "── 2 versions · all ──"],
        );
        check(
            Some(1),
            &["── live since now ──", "── 2 versions ──", "── all ──"],
        );
    }
}
