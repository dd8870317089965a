//! `DisplayOptions`: how `changes` prints versions, and its messages about sources and gaps.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::commands::changes::fold::FoldMode;
use crate::commands::changes::line_style::{LineStyle, message_lines};
use crate::commands::versions::{
    Occurrence, PastTime, ShownVersions, TimelineEntry, VersionEvent, known, notice,
};
use crate::diff::Redactor;
use crate::env::Env;
use crate::render::age;
use crate::render::diff::Fold;
use crate::render::style::{Look, Role};
use crate::render::text::Text;

/// How `changes` prints. The redactor keeps the numbers of Secret values for the whole run.
pub(crate) struct DisplayOptions {
    /// The name of the cluster in records.
    pub(crate) cluster: String,
    /// Its short name in lines, of several clusters.
    pub(crate) label: Option<Arc<str>>,
    /// Whether the input is a file.
    pub(crate) is_of_file: bool,
    /// Whether the input is a stream that goes on, whose versions arrive when they are written.
    pub(crate) is_stream: bool,
    /// Whether it exits after the current state.
    pub(crate) is_once: bool,
    /// Hides Secret values.
    pub(crate) redactor: Redactor,
    /// The versions and changes to show.
    pub(crate) shown: Arc<ShownVersions>,
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
            cluster: self.label.as_ref(),
        }
    }

    /// A text about the cluster. Of several, it begins with the name.
    pub(crate) fn about(&self, text: &str) -> String {
        match self.label {
            Some(_) => format!("{}: {text}", self.cluster),
            None => text.to_owned(),
        }
    }

    /// The text lines of an entry without a version.
    pub(crate) fn notice_lines(&self, entry: &TimelineEntry, look: Look) -> Vec<Text> {
        // A recorded watch begins with an empty listing, and the error at the end of a file names the lines that could not be
        // read.
        let is_needless = matches!(
            entry.what,
            Occurrence::Synced { count: 0 } | Occurrence::Undecodable { .. }
        );
        if self.is_of_file && is_needless {
            return Vec::new();
        }
        let role = match &entry.what {
            Occurrence::Synced { .. } => Role::Dim,
            Occurrence::Gap(_)
            | Occurrence::Undecodable { .. }
            | Occurrence::State(_)
            | Occurrence::Version(_) => Role::Warning,
        };
        let text = notice(entry).map(|text| self.about(&text));
        text.map_or_else(Vec::new, |text| message_lines(role, &text, look))
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
}
