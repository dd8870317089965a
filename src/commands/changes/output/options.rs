//! `DisplayOptions`: how `changes` prints versions, and its messages about sources and gaps.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::commands::changes::fold::FoldMode;
use crate::commands::changes::formats::ChangesFormat;
use crate::commands::changes::line_style::LineStyle;
use crate::commands::live::sources::{describe, describe_counted, named};
use crate::commands::versions::{Occurrence, PastTime, ShownVersions, TimelineEntry, VersionEvent};
use crate::diff::Redactor;
use crate::env::Env;
use crate::object::ResourceVersion;
use crate::render::age;
use crate::render::diff::Fold;
use crate::render::style::Look;
use crate::render::text::escape_line;
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
    RunSummary,
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
