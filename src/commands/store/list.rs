//! `store ls`: the recorded clusters.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::commands::{CommandError, Context, Ended};
use crate::object::{counted, listed};
use crate::record::{
    CoveredRevisions, RecordedCluster, Store, StoreError, StoreFileReader, UnreadStoreFiles,
};
use crate::render::age::{human, rfc3339};
use crate::render::count::{bytes, thousands};
use crate::render::style::Role;
use crate::render::table::{Cell, Column, ColumnWidths, Fit, TableLayout, TableRow};
use crate::render::text::Text;
use crate::source::SourceKey;

/// The most kinds that a line about a hole names.
const NAMED_KINDS: usize = 3;

/// The most holes that are listed for each cluster.
const HOLES: usize = 8;

/// What is recorded of a cluster.
struct RecordedPart {
    cluster: RecordedCluster,
    since: Timestamp,
    until: Timestamp,
    files: usize,
    versions: u64,
    bytes: u64,
    holes: Vec<RecordedHole>,
    /// Why what was recorded before it cannot be read.
    before: Option<Arc<str>>,
    /// The same of what was recorded after it.
    after: Option<Arc<str>>,
}

/// A span of time in which versions may be missing.
struct RecordedHole {
    since: Timestamp,
    until: Timestamp,
    /// Why what was recorded in it cannot be read.
    unread: Option<Arc<str>>,
    /// The kinds, in words; `None` if they are all.
    kinds: Option<String>,
    /// How many holes of less than a second it stands for. A source whose watch expires has one each time.
    moments: Option<usize>,
}

/// A span of time in which versions of some kinds may be missing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct HoleSpan {
    since: Timestamp,
    until: Timestamp,
    /// Each as `deployments.apps`.
    kinds: BTreeSet<String>,
}

/// A hole that is shorter has no length that a reader could use.
const SHORT: SignedDuration = SignedDuration::from_secs(1);

pub(super) fn run(store: &Store, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    let (mut parts, mut unread) = (Vec::new(), Vec::new());
    for files in store.clusters()? {
        match UnreadStoreFiles::list(&files) {
            Ok(mut files) => {
                parts.extend(RecordedPart::read(&mut files));
                unread.extend(files.errors().map(StoreError::to_string));
            }
            Err(error) => unread.push(error.to_string()),
        }
    }
    if !parts.is_empty() {
        let lines = table(&parts, context);
        context.print(lines)?;
    }
    for error in &unread {
        context.note(error);
    }
    match unread.len() {
        0 if parts.is_empty() => context.note("nothing is recorded yet"),
        0 => {}
        count => {
            let files = counted(count, "file", "files");
            let error = CommandError::failed(format!("error: {files} cannot be read"));
            return Err(error.hint("see what is wrong with `kubectl spy store check`"));
        }
    }
    Ok(Ended::Answered)
}

/// What one file has.
struct FileHead {
    path: PathBuf,
    cluster: RecordedCluster,
    since: Timestamp,
    until: Timestamp,
    versions: u64,
    coverages: Vec<(SourceKey, CoveredRevisions)>,
}

impl FileHead {
    fn of(reader: &StoreFileReader) -> Result<FileHead, StoreError> {
        let coverages = reader.sources().iter().map(|source| {
            let coverage = reader.coverage(source)?;
            Ok((source.key.clone(), coverage))
        });
        let coverages = coverages.collect::<Result<Vec<_>, StoreError>>()?;
        // A recorder that was killed at once has begun a file, and recorded nothing.
        let since = coverages.iter().filter_map(|(_, it)| it.since()).min();
        let since = since.unwrap_or(Timestamp::MIN).max(reader.started());
        Ok(FileHead {
            path: reader.path().to_owned(),
            cluster: reader.cluster().clone(),
            since,
            until: reader.end().unwrap_or(since),
            versions: reader.versions()?,
            coverages,
        })
    }
}

impl RecordedPart {
    /// Reads the heads of the files; `None` if none of them can be read.
    fn read(files: &mut UnreadStoreFiles) -> Option<RecordedPart> {
        let mut part: Option<RecordedPart> = None;
        let mut heads: Vec<FileHead> = Vec::new();
        for file in files.listed() {
            let Some(reader) = files.open(&file) else {
                continue;
            };
            let head = match FileHead::of(&reader) {
                Ok(head) => head,
                Err(error) => {
                    files.add(error);
                    continue;
                }
            };
            let part = part.get_or_insert_with(|| RecordedPart::at(&head));
            part.files += 1;
            part.bytes += file.bytes;
            part.versions += head.versions;
            part.cluster = head.cluster.clone();
            part.since = part.since.min(head.since);
            part.until = part.until.max(head.until);
            heads.push(head);
        }
        let mut part = part?;
        let spans = merged(hole_spans(&heads, files, part.until));
        part.holes = holes_of(spans, kinds_of(&heads).len(), |since, until| {
            files.between(since, until)
        });
        part.before = files.before(part.since);
        part.after = files.at_end();
        Some(part)
    }

    /// The beginning of a record, with no file yet.
    fn at(head: &FileHead) -> RecordedPart {
        RecordedPart {
            cluster: head.cluster.clone(),
            since: head.since,
            until: head.since,
            files: 0,
            versions: 0,
            bytes: 0,
            holes: Vec::new(),
            before: None,
            after: None,
        }
    }

    fn row(&self) -> TableRow {
        let versions = usize::try_from(self.versions).unwrap_or(usize::MAX);
        let cells = [
            self.cluster.name.clone(),
            rfc3339(self.since),
            rfc3339(self.until),
            self.files.to_string(),
            thousands(versions),
            bytes(self.bytes),
            self.cluster.server.clone(),
        ];
        let [since, until] = [self.since, self.until].map(rfc3339);
        let outside = |place: &str, time: &str, cause: &Option<Arc<str>>| {
            let cause = cause.as_ref()?;
            let words = format!("  versions may be missing {place} {time}: {cause}");
            Some(Text::from(words))
        };
        let hidden = self.holes.len().saturating_sub(HOLES);
        let more = (hidden > 0).then(|| Text::from(format!("  {hidden} earlier holes")));
        let before = outside("before", &since, &self.before);
        let holes = self.holes.iter().skip(hidden).map(RecordedHole::line);
        let below = before.into_iter().chain(more).chain(holes);
        let below = below.chain(outside("after", &until, &self.after));
        TableRow {
            cells: cells.map(|cell| Cell::new(&cell, Role::Plain)).to_vec(),
            below: below.collect(),
        }
    }
}

impl RecordedHole {
    fn line(&self) -> Text {
        let lasted = human(self.until.duration_since(self.since));
        let [since, until] = [self.since, self.until].map(rfc3339);
        let cause = self.unread.as_deref().map(|cause| format!(": {cause}"));
        let cause = cause.unwrap_or_default();
        let kinds = self.kinds.as_deref().map(|kinds| format!(" of {kinds}"));
        let kinds = kinds.unwrap_or_default();
        Text::from(match self.moments {
            Some(count) => format!(
                "  {count} times from {since} to {until}, versions{kinds} may be missing for less than a second"
            ),
            None => format!(
                "  versions{kinds} may be missing from {since} to {until} ({lasted}){cause}"
            ),
        })
    }
}

/// The holes of each source, also that at its end if the record goes on until a later time.
fn hole_spans(heads: &[FileHead], files: &UnreadStoreFiles, until: Timestamp) -> Vec<HoleSpan> {
    let mut spans = Vec::new();
    let keys: HashSet<&SourceKey> = (heads.iter())
        .flat_map(|head| head.coverages.iter().map(|(key, _)| key))
        .collect();
    for key in keys {
        // A namespace is also recorded by those who record all.
        let mut all = CoveredRevisions::default();
        for head in heads {
            for (_, coverage) in head.coverages.iter().filter(|(own, _)| own.covers(key)) {
                files.join(&mut all, &head.path, coverage);
            }
        }
        let holes = all.holes().map(|hole| (hole.since, hole.until));
        let last = all.ends_before(until).map(|since| (since, until));
        spans.extend(holes.chain(last).map(|(since, until)| HoleSpan {
            since,
            until,
            kinds: BTreeSet::from([key.resource.group_resource().clone()]),
        }));
    }
    spans
}

/// The recorded kinds.
fn kinds_of(heads: &[FileHead]) -> BTreeSet<String> {
    let keys = heads.iter().flat_map(|head| &head.coverages);
    keys.map(|(key, _)| key.resource.group_resource().clone())
        .collect()
}

/// Spans of time as holes, the oldest first. The short ones of the same kinds are one hole, unless `unread` knows a cause. In all,
/// so many kinds are recorded.
fn holes_of(
    spans: Vec<HoleSpan>,
    all_kinds: usize,
    unread: impl Fn(Timestamp, Timestamp) -> Option<Arc<str>>,
) -> Vec<RecordedHole> {
    let words =
        |kinds: &BTreeSet<String>| (kinds.len() < all_kinds).then(|| listed(kinds, NAMED_KINDS));
    let mut holes = Vec::new();
    let mut short: BTreeMap<BTreeSet<String>, Vec<HoleSpan>> = BTreeMap::new();
    for span in spans {
        let unread = unread(span.since, span.until);
        if unread.is_none() && span.until.duration_since(span.since) < SHORT {
            short.entry(span.kinds.clone()).or_default().push(span);
        } else {
            holes.push(RecordedHole {
                since: span.since,
                until: span.until,
                unread,
                kinds: words(&span.kinds),
                moments: None,
            });
        }
    }
    for (kinds, spans) in short {
        let (since, until) = (
            spans.iter().map(|it| it.since),
            spans.iter().map(|it| it.until),
        );
        let Some((since, until)) = since.min().zip(until.max()) else {
            continue;
        };
        let count = spans.len();
        holes.push(RecordedHole {
            since,
            until,
            unread: None,
            kinds: words(&kinds),
            moments: (count > 1).then_some(count),
        });
    }
    holes.sort_by_key(|hole| (hole.since, hole.until));
    holes
}

fn table(parts: &[RecordedPart], context: &Context<'_>) -> Vec<Text> {
    let columns = [
        ("cluster", Fit::CutMiddle),
        ("from", Fit::Keep),
        ("to", Fit::Keep),
        ("files", Fit::Drop(1)),
        ("versions", Fit::Drop(2)),
        ("size", Fit::Drop(3)),
        ("server", Fit::Drop(4)),
    ];
    let columns = columns.map(|(title, fit)| Column::new(title, fit));
    let mut rows: Vec<TableRow> = parts.iter().map(RecordedPart::row).collect();
    let mut widths = ColumnWidths::of_titles(&columns);
    for row in &rows {
        widths.widen(&row.cells);
    }
    let layout = TableLayout::new(&columns, &widths, |_| true, context.look());
    rows.insert(0, layout.titles());
    layout.lines(&rows)
}

/// Spans of time, the oldest first. Those that lie less than a second apart are one.
fn merged(mut spans: Vec<HoleSpan>) -> Vec<HoleSpan> {
    spans.sort();
    let mut all: Vec<HoleSpan> = Vec::new();
    for span in spans {
        match all.last_mut() {
            Some(last) if span.since.duration_since(last.until) < SHORT => {
                last.until = span.until.max(last.until);
                last.kinds.extend(span.kinds);
            }
            Some(_) | None => all.push(span),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the lines about holes: the kind of each, its begin and its length in milliseconds.
    fn check(holes: &[(&str, i64, i64)], expected: &[&str]) {
        let time = |millis| Timestamp::from_millisecond(millis).expect("a time");
        let spans = holes.iter().map(|&(kind, since, lasted)| HoleSpan {
            since: time(since),
            until: time(since + lasted),
            kinds: BTreeSet::from([kind.to_owned()]),
        });
        let holes = holes_of(merged(spans.collect()), 3, |_, _| None);
        let lines = holes.iter().map(|hole| hole.line().to_string());
        let lines = lines.map(|line| line.replace("1970-01-01T00:", ""));
        assert_eq!(lines.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn short_holes_of_one_kind_are_one_line() {
        check(&[], &[]);
        check(
            &[("events", 0, 40)],
            &["  versions of events may be missing from 00:00Z to 00:00Z (0s)"],
        );
        check(
            &[
                ("events", 0, 40),
                ("events", 600_000, 300),
                ("events", 1_200_000, 0),
            ],
            &[
                "  3 times from 00:00Z to 20:00Z, versions of events may be missing for less than a second",
            ],
        );
        // One that is longer keeps its line, and has what is inside it.
        check(
            &[
                ("events", 0, 40),
                ("pods", 300_000, 90_000),
                ("events", 310_000, 40),
                ("events", 600_000, 300),
            ],
            &[
                "  2 times from 00:00Z to 10:00Z, versions of events may be missing for less than a second",
                "  versions of events, pods may be missing from 05:00Z to 06:30Z (90s)",
            ],
        );
        // Two recorders that start together leave one for each kind.
        check(
            &[
                ("events", 0, 900),
                ("pods", 1_200, 800),
                ("secrets", 2_100, 40),
            ],
            &["  versions may be missing from 00:00Z to 00:02Z (2s)"],
        );
        // An outage of the server is one of all kinds.
        check(
            &[
                ("events", 0, 40),
                ("pods", 20, 40),
                ("events", 600_000, 40),
                ("pods", 600_000, 40),
            ],
            &[
                "  2 times from 00:00Z to 10:00Z, versions of events, pods may be missing for less than a second",
            ],
        );
    }
}
