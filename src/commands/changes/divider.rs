//! `Divider`: the line between earlier and live versions. It shows how far back the earlier versions go and what is missing.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use crate::commands::changes::output::{DisplayOptions, LeftOut};
use crate::commands::live::sources::named;
use crate::commands::versions::{
    ClusterScoped, DatedRevision, PastVersion, SkippedSource, SourcePast, TimelineEntry,
    unfinished, unread_lines,
};
use crate::render::age::rfc3339_millis;
use crate::render::count::plural;
use crate::render::json::changes::{CompactedRecord, HoleRecord, MissingRecord, NoticeBody};
use crate::render::json::{RefRecord, line};
use crate::render::text::Text;
use crate::watch::{End, Revision};

/// The text if the time is unknown.
const FORGOTTEN: &str = "the server has compacted older versions";

/// The most holes of a record that are named.
const HOLES: usize = 3;

/// The text before the time from which nothing is missing.
const COMPLETE_SINCE: &str = "complete since";

/// The text if there may have been another object of the same name.
const BRIEF: &str = "an earlier object that existed only briefly may be missing";

/// The line between earlier and live versions.
pub(crate) struct Divider<'s> {
    pub(crate) found: &'s [SourcePast],
    pub(crate) skipped: &'s [SkippedSource],
    /// What is known of the kinds that one namespace does not contain.
    pub(crate) cluster_scoped: ClusterScoped,
    /// Whether a flag (`--since` or `--since-rv`) requests the past.
    pub(crate) is_asked: bool,
    /// Versions from before this time were not requested.
    pub(crate) since: Option<Timestamp>,
    /// The number of versions shown above it.
    pub(crate) shown: usize,
    /// The earliest and the latest possible write time of the first of them.
    pub(crate) first: Option<[Timestamp; 2]>,
    /// The number of hidden versions.
    pub(crate) hidden: usize,
    /// The number of versions that counted lines stand for.
    pub(crate) folded: usize,
    pub(crate) changed: ChangedObjects,
    /// The managers whose versions are left out.
    pub(crate) left_out: &'s LeftOut,
    /// The start of the live versions; `None` if there are none.
    pub(crate) live: Option<Timestamp>,
    /// Whether the error at the end names the sources that the server refuses. Then no line does.
    pub(crate) has_refusal_error: bool,
}

/// The numbers of changed objects in wide sources.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChangedObjects {
    count: usize,
    /// The number of them that no longer exist.
    gone: usize,
    /// The number of their kinds.
    kinds: usize,
}

impl ChangedObjects {
    /// Counts the objects in a timeline.
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
    /// A line for each part that could not be read, then the divider, wrapped to `columns`. Empty if no source was read.
    pub(crate) fn lines(
        &self,
        columns: Option<usize>,
        time: impl Fn(Timestamp) -> String,
    ) -> Vec<String> {
        if self.found.is_empty() {
            return Vec::new(); // the error names the sources
        }
        let mut lines = self.unread_lines();
        let is_refused = self.found.iter().any(|found| !found.is_read());
        let mut read = self.found.iter().filter(|found| found.is_read()).peekable();
        let is_empty = |found: &SourcePast| found.objects == Some(0) && found.versions.is_empty();
        // Without objects in what could be read, only what could not be read says something.
        if read.peek().is_none() || (is_refused && read.all(is_empty)) {
            return lines;
        }
        let live = |live| format!("live since {}", time(live));
        let back = |[from, until]: [Timestamp; 2]| {
            let end = (until > from).then(|| format!("–{}", time(until)));
            format!(", back to {}{}", time(from), end.unwrap_or_default())
        };
        let back = self.first.map(back).unwrap_or_default();
        let forgotten = self.forgotten();
        let complete = self.complete(forgotten.is_some());
        let unfinished = unfinished(self.found);
        let is_nothing_read = self.shown + self.hidden + self.folded == 0
            && !unfinished.is_empty()
            && self.found.iter().all(SourcePast::is_unfinished);
        let count = (!is_nothing_read).then(|| format!("{}{back}", self.count()));
        let which = if is_nothing_read { "earlier" } else { "older" };
        let parts: Vec<String> = (self.live.map(live).into_iter())
            .chain(count)
            .chain(self.left_out.line())
            .chain(self.recorded(&time))
            .chain(forgotten.map(|words| words.text(&time)))
            .chain(complete.map(|words| words.text(&time)))
            .chain(self.missing())
            .chain(unfinished.iter().map(|why| format!("{which} {why}")))
            .chain(self.cluster_scoped.text())
            .collect();
        lines.extend(ruled(&parts, columns));
        lines
    }

    /// A line for each part that could not be read.
    fn unread_lines(&self) -> Vec<String> {
        let skipped = self.skipped.iter();
        let skipped = skipped.filter(|skipped| !(self.has_refusal_error && skipped.is_refused()));
        unread_lines(self.found, skipped)
    }

    /// The messages for formats whose output has no divider: the parts that could not be read, where the history starts, and
    /// why no version of a named object was found.
    pub(crate) fn messages(&self, time: impl Fn(Timestamp) -> String) -> Vec<String> {
        let mut lines = self.unread_lines();
        lines.extend(self.recorded(&time));
        if self.found.iter().any(|found| found.objects.is_some()) {
            let words = self.forgotten().into_iter().chain(self.short());
            lines.extend(words.map(|words| words.text(&time)));
        }
        for found in self.found.iter().filter(|found| found.is_read()) {
            if named(&found.key).is_none() {
                continue;
            }
            let source = found.key.to_string();
            let is_shown = found.versions.iter().any(PastVersion::is_change);
            let found = std::slice::from_ref(found);
            let divider = Divider { found, ..*self };
            let forgotten = divider.forgotten();
            let complete = if is_shown {
                divider.lives()
            } else {
                divider.complete(forgotten.is_some())
            };
            let words = forgotten.into_iter().chain(complete);
            let words = words.map(|words| words.text(&time));
            let unfinished = unfinished(found).into_iter();
            let reasons: Vec<String> = words
                .chain(unfinished.map(|why| format!("older {why}")))
                .collect();
            if reasons.is_empty() {
                continue;
            }
            let what = if is_shown {
                ""
            } else {
                "no earlier version of "
            };
            lines.push(format!("{what}{source}: {}", reasons.join(", ")));
        }
        lines
    }

    fn count(&self) -> String {
        let hidden = match (self.hidden, self.folded) {
            (0, 0) => String::new(),
            (hidden, 0) => format!(" ({hidden} hidden)"),
            (0, folded) => format!(" ({folded} counted, show: --owned)"),
            (hidden, folded) => format!(" ({folded} counted, show: --owned; {hidden} hidden)"),
        };
        if self.found.iter().any(SourcePast::is_unfinished) {
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

    /// The number of objects with missing versions, because the server did not answer.
    fn missing(&self) -> Option<String> {
        let refused =
            |found: &SourcePast| usize::from(found.is_read() && found.refusal().is_some());
        let count = |found: &SourcePast| found.missing.len() + refused(found);
        let count: usize = self.found.iter().map(count).sum();
        (count > 0).then(|| format!("versions of {} are missing", plural(count, "object")))
    }

    /// From when on the sources are recorded, and what is not known: `recorded since 09:12, except 14:02–14:40: nobody recorded`.
    fn recorded(&self, time: &impl Fn(Timestamp) -> String) -> Option<String> {
        let spans = self
            .found
            .iter()
            .filter_map(|found| found.recorded.as_ref());
        let since = spans.clone().map(|span| span.begin.since).max()?;
        let before = spans.clone().find_map(|span| span.begin.unread.as_ref());
        let before = before.filter(|_| self.since.is_none_or(|asked| asked < since));
        let before = before.map(|cause| format!(" (before: {cause})"));
        let holes = spans.flat_map(|span| &span.holes);
        let mut holes: Vec<_> = holes
            .map(|hole| (hole.since, hole.until, hole.cause.as_deref()))
            .collect();
        holes.sort_unstable();
        holes.dedup();
        let before = before.unwrap_or_default();
        let except = except(&holes, time);
        Some(format!("recorded since {}{before}{except}", time(since)))
    }

    /// The start of the server's history. After it, all versions of every source are known.
    fn forgotten(&self) -> Option<Words> {
        let ends = || {
            // A record says when it begins.
            let unrecorded = self.found.iter().filter(|found| found.recorded.is_none());
            unrecorded.filter_map(|found| match found.end {
                Some(End::Forgotten(at)) => {
                    let end = found.from.unwrap_or(DatedRevision::undated(at));
                    Some((found, end))
                }
                _ => None,
            })
        };
        // Older versions were not requested.
        let counts =
            |end: &Option<Timestamp>| end.is_none_or(|end| self.since.is_none_or(|it| it < end));
        let known = ends()
            .map(|(found, end)| self.known(found, end))
            .filter(counts);
        let known = Words::since(
            known,
            ["the server has compacted versions before", "", FORGOTTEN],
        )?;
        if known.since.is_some() {
            return Some(known);
        }
        let times = ends().map(|(found, end)| self.time(found, end));
        Words::since(times, ["the server's history starts before", "", FORGOTTEN])
    }

    /// Whether anything else may be missing.
    fn complete(&self, is_forgotten: bool) -> Option<Words> {
        let is_whole = |found: &&SourcePast| found.is_whole();
        let has_hole = |found: &SourcePast| {
            let recorded = found.recorded.as_ref();
            recorded.is_some_and(|recorded| !recorded.holes.is_empty())
        };
        if self.missing().is_some() {
            return None;
        }
        if self.found.iter().any(has_hole) {
            return self.short(); // the holes are named
        }
        let short = self.short().or_else(|| self.lives());
        let is_all = self.skipped.iter().all(|skipped| skipped.has_no_past)
            && self.found.iter().all(|found| is_whole(&found));
        if short.is_some() || is_forgotten || !is_all {
            return short;
        }
        let since = self.wide().map(|found| self.time(found, found.from?));
        Words::since(since, [COMPLETE_SINCE, "", "complete"])
    }

    /// What may be missing of whole kinds: objects that existed only in between.
    fn short(&self) -> Option<Words> {
        let short = self.wide().filter(|found| found.is_short());
        let since = short.map(|found| self.time(found, found.complete?));
        let after = ": objects created and deleted before then may be missing";
        let alone = "objects created and deleted in between may be missing";
        Words::since(since, [COMPLETE_SINCE, after, alone])
    }

    /// The whole kinds that were read to the end.
    fn wide(&self) -> impl Iterator<Item = &SourcePast> {
        let found = self.found.iter();
        found.filter(|found| found.is_whole() && found.objects.is_some())
    }

    /// Whether an earlier object of an absent name may be missing. If no flag asks for the past, only those after a shown
    /// deletion count.
    fn lives(&self) -> Option<Words> {
        let mut read = self.found.iter().filter(|found| found.is_whole());
        let is_short = |found: &SourcePast| {
            found.is_short() && (self.is_asked || found.versions.iter().any(|it| it.event.is_end()))
        };
        read.any(is_short).then_some(Words {
            since: None,
            words: ["", "", BRIEF],
        })
    }

    /// The latest possible time of a revision of a source: its own, or that of the nearest write after it.
    pub(crate) fn time(&self, found: &SourcePast, bound: DatedRevision) -> Option<Timestamp> {
        self.known(found, bound)
            .or_else(|| self.nearest(found, bound.at))
    }

    /// The time of a revision, if known. It is not later than the nearest write after it.
    fn known(&self, found: &SourcePast, bound: DatedRevision) -> Option<Timestamp> {
        let dated = bound.dated?;
        let until = dated
            .until
            .into_iter()
            .chain(self.nearest(found, bound.at))
            .min()?;
        Some(until.max(dated.from))
    }

    /// The time of the first write after a revision, in the same storage.
    fn nearest(&self, found: &SourcePast, at: Revision) -> Option<Timestamp> {
        let stored = self
            .found
            .iter()
            .filter(|other| other.storage == found.storage);
        let versions = stored.flat_map(|found| &found.versions);
        let after = versions.filter(|version| version.event.at > Some(at) && version.is_change());
        let dated = after.filter_map(|version| Some((version.event.at, version.time()?)));
        let nearest = dated.min_by_key(|(at, _)| *at);
        nearest.map(|(_, time)| time)
    }

    /// A record for each source, then the `seam`. `versions` is the number of version records before them.
    pub(crate) fn records(
        &self,
        options: &DisplayOptions,
        now: Timestamp,
        versions: usize,
    ) -> Vec<String> {
        let seen = rfc3339_millis(now);
        let record = |body: NoticeBody<'_>, source: Option<&str>| {
            line(&body.record(&seen, &options.cluster, source))
        };
        let read = self.found.iter().map(|found| {
            record(
                self.lookback_record(found, &options.cluster),
                Some(&found.key.to_string()),
            )
        });
        let skipped = self
            .skipped
            .iter()
            .map(|skipped| record(skipped_record(skipped), Some(&skipped.source)));
        let end = NoticeBody::Divider {
            versions,
            live: self.live.is_some(),
            left_out: self.left_out.records(),
        };
        read.chain(skipped).chain([record(end, None)]).collect()
    }

    fn lookback_record(&self, found: &SourcePast, cluster: &str) -> NoticeBody<'static> {
        let end = match &found.end {
            _ if found.is_cut => "interrupted",
            Some(End::Forgotten(_)) => "forgotten",
            Some(End::NotOffered(_)) => "notOffered",
            Some(End::Failed(_)) => "failed",
            Some(End::Spent | End::OutOfTime(_)) => "interrupted",
            Some(End::Limit) | None => "limit",
        };
        let number = |bound: Option<DatedRevision>| bound.map(|bound| bound.at.to_string());
        let time = |bound: Option<DatedRevision>| Some(rfc3339_millis(self.time(found, bound?)?));
        NoticeBody::Lookback {
            end,
            from: number(found.from),
            time: time(found.from),
            complete: number(found.complete),
            complete_time: time(found.complete),
            cause: (found.refusal()).or_else(|| Some(found.shortfall()?.cause())),
            missing: (found.missing.iter())
                .map(|missing| MissingRecord {
                    object_ref: RefRecord::new(cluster, &missing.object),
                    cause: missing.cause.to_string(),
                })
                .collect(),
            holes: (found.recorded.iter().flat_map(|recorded| &recorded.holes))
                .map(|hole| HoleRecord {
                    since: rfc3339_millis(hole.since),
                    until: rfc3339_millis(hole.until),
                    cause: hole.cause.as_deref().map(str::to_owned),
                })
                .collect(),
            compacted: (found.compacted.iter())
                .map(|write| CompactedRecord {
                    object_ref: RefRecord::new(cluster, &write.object),
                    is_creation: write.is_creation,
                })
                .collect(),
        }
    }
}

/// The last holes of a record, each with its cause: `, except 14:02–14:40, 15:00–15:20: nobody recorded`.
fn except(
    holes: &[(Timestamp, Timestamp, Option<&str>)],
    time: &impl Fn(Timestamp) -> String,
) -> String {
    let (hidden, shown) = holes.split_at(holes.len().saturating_sub(HOLES));
    let causes = shown.chunk_by(|(.., one), (.., next)| one == next);
    let mut words: Vec<String> = Vec::new();
    for same in causes {
        let times = same.iter().map(|(since, until, _)| {
            let (since, until) = (time(*since), time(*until));
            if since == until {
                since
            } else {
                format!("{since}–{until}")
            }
        });
        let times: Vec<String> = times.collect();
        let cause = same.first().and_then(|(.., cause)| *cause);
        let cause = cause.unwrap_or("nobody recorded");
        words.push(format!("{}: {cause}", times.join(", ")));
    }
    if !hidden.is_empty() {
        words.insert(0, plural(hidden.len(), "earlier time"));
    }
    let except = words.join("; ");
    if except.is_empty() {
        except
    } else {
        format!(", except {except}")
    }
}

/// A phrase about a time, which may be unknown.
struct Words {
    since: Option<Timestamp>,
    /// The text before the time, the text after it, and the text without a time.
    words: [&'static str; 3],
}

impl Words {
    /// A phrase about the latest of several times, if all are known. `None` if there are no times.
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

    fn text(&self, time: &impl Fn(Timestamp) -> String) -> String {
        let [before, after, alone] = self.words;
        match self.since {
            Some(since) => format!("{before} {}{after}", time(since)),
            None => alone.to_owned(),
        }
    }
}

/// The most columns of a line without a terminal.
const USUAL: usize = 120;

/// Puts the parts on lines of at most `columns`. A part that is longer continues on the next line, if there is a terminal.
pub(super) fn ruled(parts: &[String], columns: Option<usize>) -> Vec<String> {
    let rule = |parts: &[String]| format!("── {} ──", parts.join(" · "));
    let room = columns.unwrap_or(USUAL);
    let fits = |parts: &[String]| Text::from(rule(parts)).width() <= room;
    let whole = |part: &str| fits(&[part.to_owned()]);
    let parts = parts.iter().flat_map(|part| {
        let (first, rest) = match columns {
            Some(_) => split_to_fit(part, whole),
            None => (part.clone(), None),
        };
        [Some(first), rest].into_iter().flatten()
    });
    let parts: Vec<String> = parts.collect();
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

/// Splits a part that does not fit after its last phrase that does.
fn split_to_fit(part: &str, fits: impl Fn(&str) -> bool) -> (String, Option<String>) {
    let ends = [", ", ": "].into_iter().filter_map(|end| {
        let ends = part.match_indices(end).filter(|(at, _)| fits(&part[..*at]));
        let (at, end) = ends.last()?;
        Some((at, at + end.len()))
    });
    match ends.max().filter(|_| !fits(part)) {
        Some((at, next)) => (part[..at].to_owned(), Some(part[next..].to_owned())),
        None => (part.to_owned(), None),
    }
}

fn skipped_record(skipped: &SkippedSource) -> NoticeBody<'static> {
    NoticeBody::Lookback {
        end: "notRead",
        from: None,
        time: None,
        complete: None,
        complete_time: None,
        cause: Some(skipped.cause.to_string()),
        missing: Vec::new(),
        holes: Vec::new(),
        compacted: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::commands::versions::PastVersion;
    use crate::commands::versions::WriteTime;
    use crate::object::{ObjectRef, ResourceVersion};
    use crate::source::{SourceKey, Version, Why};
    use crate::watch::{Between, PastEvent};

    /// An unreadable version with this write time.
    fn written_at(revision: &str, time: Timestamp) -> PastVersion {
        let object = ObjectRef {
            api_version: "v1".into(),
            kind: "Pod".into(),
            namespace: None,
            name: "a".into(),
            uid: None,
        };
        let version = Version {
            object: object.into(),
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
    fn holes_before_the_last_ones_are_counted() {
        let at = |second| Timestamp::from_second(second).expect("in range");
        let hole = |second| (at(second), at(second), None);
        let words = |count| {
            let holes: Vec<_> = (0..count).map(hole).collect();
            except(&holes, &|time| time.as_second().to_string())
        };
        let expect = ", except 1 earlier time; 1, 2, 3: nobody recorded";
        assert_eq!(words(4), expect);
        let expect = ", except 2 earlier times; 2, 3, 4: nobody recorded";
        assert_eq!(words(5), expect);
    }

    #[test]
    fn dating_a_revision_reads_no_later_version() {
        let key = SourceKey::all("", "Pod");
        let at = |second| Timestamp::from_second(second).expect("in range");
        let found = [SourcePast {
            versions: vec![written_at("9", at(90)), written_at("7", at(70))],
            ..SourcePast::new(Arc::new(key))
        }];
        let divider = Divider {
            found: &found,
            skipped: &[],
            cluster_scoped: ClusterScoped::Included,
            is_asked: true,
            since: None,
            shown: 0,
            first: None,
            hidden: 0,
            folded: 0,
            changed: ChangedObjects::by(&[]),
            left_out: &LeftOut::default(),
            live: None,
            has_refusal_error: false,
        };
        let dated = |from, until: Option<i64>| {
            let dated = Between {
                from: at(from),
                until: until.map(at),
            };
            let bound = DatedRevision {
                at: Revision::read("5").expect("a revision"),
                dated: Some(dated),
            };
            divider.time(&found[0], bound)
        };
        assert_eq!(dated(10, None), Some(at(70)));
        assert_eq!(dated(10, Some(20)), Some(at(20)));
        assert_eq!(dated(80, None), Some(at(80)));
    }

    #[test]
    fn a_divider_wraps_between_its_parts() {
        let parts = ["live since now", "2 versions", "all"].map(str::to_owned);
        let check = |columns, expected: &[&str]| assert_eq!(ruled(&parts, columns), expected);
        let whole = "── live since now · 2 versions · all ──";
        check(None, &[whole]);
        let long = ["a".repeat(100), "b, c".repeat(40), "d".to_owned()];
        let lines = long.clone().map(|part| format!("── {part} ──"));
        assert_eq!(ruled(&long, None), lines);
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
