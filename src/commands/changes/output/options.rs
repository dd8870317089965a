//! How `changes` prints, and its sentences about sources and gaps.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::commands::changes::formats::ChangesFormat;
use crate::commands::changes::shown::ShownVersions;
use crate::commands::changes::state::{Occurrence, PastTime, TimelineEntry};
use crate::commands::sources::{describe, describe_counted, named};
use crate::diff::Redactor;
use crate::env::Env;
use crate::object::ResourceVersion;
use crate::render::age;
use crate::render::diff::Fold;
use crate::render::style::Look;
use crate::render::text::escape_line;
use crate::watch::{Gap, GapCause};

/// How changes are shown; the redactor in it numbers the values of Secrets for as long as the program
/// runs.
pub(in crate::commands::changes) struct DisplayOptions {
    /// What records call the cluster.
    pub(in crate::commands::changes) cluster: String,
    /// Whether that is a file.
    pub(in crate::commands::changes) is_of_file: bool,
    /// What values are read through.
    pub(in crate::commands::changes) redactor: Redactor,
    /// Which versions are shown, and which of their changes.
    pub(in crate::commands::changes) shown: Arc<ShownVersions>,
    /// How they are written.
    pub(in crate::commands::changes) format: ChangesFormat,
    /// What is told of new objects.
    pub(in crate::commands::changes) creation: Creation,
    /// Whether much is counted.
    pub(in crate::commands::changes) fold: Fold,
    /// How far the server's clock is ahead, once there is an earlier version.
    pub(in crate::commands::changes) skew: SignedDuration,
    /// The namespace that need not be named; `None` if all are looked at.
    pub(in crate::commands::changes) namespace: Option<Arc<str>>,
}

/// What is told of an object that is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands::changes) enum Creation {
    /// Its parts, folded to the width.
    Summary,
    /// All of it.
    Whole,
}

impl DisplayOptions {
    /// The lines for people of an entry that is about no object.
    pub(in crate::commands::changes) fn notice_lines(
        &self,
        entry: &TimelineEntry,
        look: Look,
    ) -> Vec<String> {
        let text = notice(entry).into_iter();
        match &entry.what {
            Occurrence::Synced { .. } => text
                .map(|text| look.styles.dim(&escape_line(&text)))
                .collect(),
            // The error at the end of a file names the lines that could not be read.
            Occurrence::Undecodable { .. } if self.is_of_file => Vec::new(),
            Occurrence::Gap(_)
            | Occurrence::Undecodable { .. }
            | Occurrence::State(_)
            | Occurrence::Version(_) => text.map(|text| warning(&text, look)).collect(),
        }
    }
}

/// The sentence for people about an entry that is about no object.
pub(in crate::commands::changes) fn notice(entry: &TimelineEntry) -> Option<String> {
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

pub(in crate::commands::changes) fn warning(text: &str, look: Look) -> String {
    look.styles.warning(&escape_line(text))
}

/// A gap in a sentence.
pub(in crate::commands::changes) fn gap_text(gap: &Gap) -> String {
    let cause = match gap.cause {
        GapCause::Expired => "the server has forgotten them".to_owned(),
        GapCause::Undecodable => "a line could not be read".to_owned(),
        GapCause::Polled => "the server does not let us watch".to_owned(),
        GapCause::Restored => {
            let (after, upto) = (&gap.after, &gap.upto);
            return format!(
                "-- the server's history was set back from {after} to {upto}: versions of before and after may be missing --"
            );
        }
        GapCause::Refused => "the server refused to continue the watch".to_owned(),
        GapCause::Unanswered => "the server did not answer when asked for them".to_owned(),
        GapCause::Unseen => "objects that came and went in between".to_owned(),
        GapCause::SlowSubscriber { dropped } => format!("{dropped} were not read in time"),
    };
    let interval = match (gap.after.as_str(), gap.upto.as_str()) {
        ("", "") => "versions".to_owned(),
        ("", upto) => format!("versions up to {upto}"),
        (after, "") => format!("versions after {after}"),
        (after, upto) => format!("versions after {after} up to {upto}"),
    };
    format!("-- {interval} may be missing: {cause} --")
}

/// A version, where there is one: manifests have none.
pub(in crate::commands::changes) fn known(version: &ResourceVersion) -> Option<&ResourceVersion> {
    Some(version).filter(|version| !version.as_str().is_empty())
}

/// How long ago something happened: `5m ago`.
pub(in crate::commands::changes) fn ago(past: PastTime, now: Timestamp) -> String {
    let span = now.duration_since(past.time);
    format!("{} ago", age::human(span.max(SignedDuration::ZERO)))
}

/// A time as it is shown.
pub(in crate::commands::changes) fn clock(time: Timestamp, look: Look, env: &Env) -> String {
    match look.width {
        Some(_) => age::clock(time, &env.zone),
        None => age::rfc3339_millis(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_names_the_versions_that_there_are() {
        let check = |after: &str, upto: &str, expect: &str| {
            let gap = Gap {
                after: ResourceVersion::new(after),
                upto: ResourceVersion::new(upto),
                cause: GapCause::Polled,
            };
            let rest = " may be missing: the server does not let us watch --";
            assert_eq!(gap_text(&gap), format!("-- {expect}{rest}"));
        };
        check("4", "7", "versions after 4 up to 7");
        check("", "7", "versions up to 7");
        check("4", "", "versions after 4");
        check("", "", "versions");
    }

    #[test]
    fn a_restored_server_is_named_with_both_versions() {
        let gap = Gap {
            after: ResourceVersion::new("243"),
            upto: ResourceVersion::new("208"),
            cause: GapCause::Restored,
        };
        assert_eq!(
            gap_text(&gap),
            "-- the server's history was set back from 243 to 208: versions of before and after may be missing --"
        );
    }
}
