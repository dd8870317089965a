//! `DisplayOptions`: how `changes` prints versions, and its messages about sources and gaps.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::commands::changes::compared::ShownVersions;
use crate::commands::changes::fold::FoldMode;
use crate::commands::changes::formats::ChangesFormat;
use crate::commands::changes::state::{Occurrence, PastTime, TimelineEntry, VersionEvent};
use crate::commands::live::sources::{describe, describe_counted, named};
use crate::diff::Redactor;
use crate::env::Env;
use crate::object::{ObjectRef, ResourceVersion};
use crate::render::age;
use crate::render::diff::Fold;
use crate::render::style::Look;
use crate::render::text::{escape_line, fits};
use crate::source::{Gap, GapCause, Version};

/// How `changes` prints. The redactor keeps the numbers of Secret values for the whole run.
pub(crate) struct DisplayOptions {
    /// The name of the cluster in records.
    pub(crate) cluster: String,
    /// Whether the input is a file.
    pub(crate) is_of_file: bool,
    /// Whether it exits after the current state.
    pub(crate) is_once: bool,
    /// Hides Secret values.
    pub(crate) redactor: Redactor,
    /// The versions and changes to show.
    pub(crate) shown: Arc<ShownVersions>,
    /// The output format.
    pub(crate) format: ChangesFormat,
    /// How much of a new object to print.
    pub(crate) creation: Creation,
    /// What the timeline folds.
    pub(crate) timeline: FoldMode,
    /// Whether to collapse long output.
    pub(crate) fold: Fold,
    /// How far the server's clock is ahead of this machine's; zero until the look-back has measured it.
    pub(crate) skew: SignedDuration,
    /// The namespace that headings need not name; `None` if all namespaces are watched.
    pub(crate) namespace: Option<Arc<str>>,
}

/// How much of a new object to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Creation {
    /// Its main fields, shortened to the width.
    Summary,
    /// The whole object.
    Whole,
}

impl DisplayOptions {
    /// How to draw lines that are not versions.
    pub(crate) fn line_style<'s>(&'s self, look: Look, env: &'s Env) -> LineStyle<'s> {
        LineStyle {
            look,
            env,
            namespace: self.namespace.as_ref(),
        }
    }

    /// The text lines of an entry without a version.
    pub(crate) fn notice_lines(&self, entry: &TimelineEntry, look: Look) -> Vec<String> {
        let text = notice(entry).into_iter();
        if self.is_of_file && is_needless(entry) {
            return Vec::new();
        }
        match &entry.what {
            Occurrence::Synced { .. } => text
                .map(|text| look.styles.dim(&escape_line(&text)))
                .collect(),
            Occurrence::Gap(_)
            | Occurrence::Undecodable { .. }
            | Occurrence::State(_)
            | Occurrence::Version(_) => text.map(|text| warning(&text, look)).collect(),
        }
    }
}

/// Whether a message about a file is needless. A recorded watch begins with an empty listing, and the error at the end names
/// the lines that could not be read.
fn is_needless(entry: &TimelineEntry) -> bool {
    matches!(
        entry.what,
        Occurrence::Synced { count: 0 } | Occurrence::Undecodable { .. }
    )
}

/// The message for an entry without a version; `None` if there is nothing to print.
pub(crate) fn notice(entry: &TimelineEntry) -> Option<String> {
    match &entry.what {
        Occurrence::Synced { count } if named(&entry.key).is_none() => {
            let what = describe_counted(&entry.key, *count);
            Some(format!("watching {what}"))
        }
        Occurrence::Gap(gap) => Some(gap_text(gap)),
        Occurrence::Undecodable { detail } => {
            let source = describe(&entry.key);
            Some(format!("a line of {source} could not be read: {detail}"))
        }
        Occurrence::Synced { .. } | Occurrence::State(_) | Occurrence::Version(_) => None,
    }
}

pub(crate) fn warning(text: &str, look: Look) -> String {
    look.styles.warning(&escape_line(text))
}

/// The message about a gap.
fn gap_text(gap: &Gap) -> String {
    let cause = match gap.cause {
        GapCause::Expired => "the server has compacted them".to_owned(),
        GapCause::Undecodable => "a line could not be read".to_owned(),
        GapCause::Polled => "the server does not allow watching".to_owned(),
        GapCause::Restored => {
            let after = &gap.after;
            return format!(
                "-- the server's storage was restored or replaced after {after}: versions before and after may be missing --"
            );
        }
        GapCause::Refused => "the server refused to continue the watch".to_owned(),
        GapCause::NotOffered => "the server does not offer old versions".to_owned(),
        GapCause::Unanswered => "the server did not answer".to_owned(),
        GapCause::Unseen => {
            "listings do not show objects created and deleted in between".to_owned()
        }
        GapCause::SlowSubscriber { dropped } => {
            format!("{dropped} were dropped, because the reader was too slow")
        }
    };
    let interval = match (gap.after.as_str(), gap.upto.as_str()) {
        ("", "") => "versions".to_owned(),
        ("", upto) => format!("versions up to {upto}"),
        (after, "") => format!("versions after {after}"),
        (after, upto) => format!("versions after {after} up to {upto}"),
    };
    format!("-- {interval} may be missing: {cause} --")
}

/// A resourceVersion, if there is one. Manifests have none.
pub(crate) fn known(version: &ResourceVersion) -> Option<&ResourceVersion> {
    Some(version).filter(|version| !version.as_str().is_empty())
}

/// The message about an unreadable version.
pub(super) fn unreadable(version: &Version) -> String {
    let object = &version.object;
    match known(&version.version) {
        Some(version) => format!("{object} {version} could not be read"),
        None => format!("{object} could not be read"),
    }
}

/// `deployment/web 5→6`
pub(crate) fn both_versions(event: &VersionEvent) -> String {
    let versions = event.old.iter().chain([&event.now]);
    let versions: Vec<String> = versions
        .filter_map(|version| Some(known(&version.version)?.to_string()))
        .collect();
    format!("{} {}", event.now.object, versions.join("→"))
        .trim_end()
        .to_owned()
}

/// The age of a version: `5m ago`. If only an interval is known, it has both ends: `27–37s ago`, `4m10s–5m2s ago`.
pub(crate) fn ago(past: PastTime, now: Timestamp) -> String {
    format!(
        "{} ago",
        age::interval(past.time, past.until.unwrap_or(past.time), now)
    )
}

/// The columns that both ends of an interval may have in common, `15:10:` or `15:`, and the length from which on they can have
/// them by chance.
const SHARED: [(usize, SignedDuration); 2] = [
    (6, SignedDuration::from_mins(1)),
    (3, SignedDuration::from_hours(1)),
];

/// How times and names are written in lines.
#[derive(Clone, Copy)]
pub(crate) struct LineStyle<'s> {
    pub(crate) look: Look,
    pub(crate) env: &'s Env,
    /// The namespace that lines need not name.
    pub(crate) namespace: Option<&'s Arc<str>>,
}

impl LineStyle<'_> {
    /// A time for a line.
    pub(crate) fn clock(&self, time: Timestamp) -> String {
        clock(time, self.look, self.env)
    }

    /// A time for a line, or the interval in which something happened: `15:10:00–15:10:09`. On a terminal, the end is without
    /// the hours and minutes that both times have: `15:10:00–09`.
    pub(crate) fn interval(&self, from: Timestamp, until: Option<Timestamp>) -> String {
        let start = self.clock(from);
        let Some(until) = until else {
            return start;
        };
        let (end, length) = (self.clock(until), until.duration_since(from));
        let same = match self.look.width {
            Some(_) => SHARED.into_iter().find(|(columns, longest)| {
                length < *longest && start.get(..*columns) == end.get(..*columns)
            }),
            None => None,
        };
        let columns = same.map_or(0, |(columns, _)| columns);
        format!("{start}–{}", end.get(columns..).unwrap_or_default())
    }

    /// The name of an object, with the flag for its namespace if lines must name it.
    pub(crate) fn name(&self, object: &ObjectRef) -> String {
        let name = escape_line(&object.to_string()).into_owned();
        match self.place(object) {
            Some(place) => format!("{name}  {place}"),
            None => name,
        }
    }

    /// The flag for the object's namespace, such as `-n shop`. `None` if lines need not name it.
    pub(crate) fn place(&self, object: &ObjectRef) -> Option<String> {
        let namespace = object.namespace.as_ref()?;
        (Some(namespace) != self.namespace).then(|| format!("-n {}", escape_line(namespace)))
    }

    /// Whether display text has room on a line.
    pub(crate) fn fits(&self, text: &str) -> bool {
        self.look.width.is_none_or(|columns| fits(text, columns))
    }
}

/// A time for the output: with the date, unless there is a terminal.
pub(crate) fn clock(time: Timestamp, look: Look, env: &Env) -> String {
    match look.width {
        Some(_) => age::clock(time, &env.zone),
        None => age::rfc3339_brief(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_names_the_versions_it_knows() {
        let check = |after: &str, upto: &str, expect: &str| {
            let gap = Gap {
                after: ResourceVersion::new(after),
                upto: ResourceVersion::new(upto),
                cause: GapCause::Polled,
            };
            let rest = " may be missing: the server does not allow watching --";
            assert_eq!(gap_text(&gap), format!("-- {expect}{rest}"));
        };
        check("4", "7", "versions after 4 up to 7");
        check("", "7", "versions up to 7");
        check("4", "", "versions after 4");
        check("", "", "versions");
    }

    #[test]
    fn the_age_of_an_interval_has_both_ends() {
        let at = |second| Timestamp::from_second(second).expect("in range");
        for (from, until, expect) in [
            (963, None, "37s ago"),
            (963, Some(973), "27–37s ago"),
            (963, Some(963), "37s ago"),
            (963, Some(1003), "0–37s ago"),
            (740, Some(750), "4m10s–4m20s ago"),
            (700, Some(990), "10s–5m ago"),
            (100, Some(160), "14–15m ago"),
        ] {
            let past = PastTime {
                time: at(from),
                until: until.map(at),
            };
            assert_eq!(ago(past, at(1000)), expect, "{from} {until:?}");
        }
    }

    #[test]
    fn a_restored_server_is_named_with_the_last_version() {
        // Its revisions may have overtaken those before.
        for upto in ["208", "251"] {
            let gap = Gap {
                after: ResourceVersion::new("243"),
                upto: ResourceVersion::new(upto),
                cause: GapCause::Restored,
            };
            assert_eq!(
                gap_text(&gap),
                "-- the server's storage was restored or replaced after 243: versions before and after may be missing --"
            );
        }
    }
}
