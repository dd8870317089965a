//! `Summary`: the counts of a run, for `--count`, `--exit-code` and the last line of `changes`.

use jiff::Timestamp;

use super::rendered::Rendered;
use crate::commands::changes::compared::Compared;
use crate::render::age;
use crate::render::count::plural;
use crate::render::diff::{ChangeType, Counts};

/// The counts of a run.
#[derive(Debug)]
pub(crate) struct Summary {
    pub(crate) started: Timestamp,
    /// The value of `--count`; `None` for no limit.
    pub(crate) limit: Option<u64>,
    /// The number of printed versions, without those that existed at the start.
    printed: u64,
    /// Whether a printed or folded version had a change that is neither noise nor filtered out.
    pub(crate) is_changed: bool,
    shown: usize,
    hidden: usize,
}

impl Summary {
    pub(crate) fn since(started: Timestamp) -> Summary {
        Summary {
            started,
            limit: None,
            printed: 0,
            is_changed: false,
            shown: 0,
            hidden: 0,
        }
    }

    /// Whether the printed versions have reached the limit.
    pub(crate) fn is_full(&self) -> bool {
        self.limit.is_some_and(|limit| self.printed >= limit)
    }

    /// Counts a printed version.
    pub(super) fn count_version(&mut self, change: ChangeType) {
        self.printed += u64::from(change != ChangeType::Baseline);
    }

    /// Notes whether a printed or folded version is a change. `compared` is `None` if the version could not be read.
    pub(super) fn see_change(&mut self, change: ChangeType, compared: Option<&Compared<'_>>) {
        let is_change = change != ChangeType::Baseline && compared.is_none_or(Compared::is_shown);
        self.is_changed = self.is_changed || is_change;
    }

    /// Counts the changes of a version.
    pub(super) fn count_changes(&mut self, rendered: &Rendered) {
        self.shown += rendered.shown;
        self.hidden += rendered.hidden + rendered.quiet.as_ref().map_or(0, Counts::hidden);
    }

    /// `3 versions: 1 live · 4 changes shown, 8 hidden · 5m12s`. `parts` are the numbers of versions by their origin; zeros
    /// are left out.
    pub(crate) fn line(&self, parts: &[(usize, &str)], dot: &str, now: Timestamp) -> String {
        let versions: usize = parts.iter().map(|part| part.0).sum();
        let took = age::human(now.duration_since(self.started));
        if versions == 0 {
            return format!("no versions {dot} {took}");
        }
        let sources: Vec<String> = parts
            .iter()
            .filter(|part| part.0 > 0)
            .map(|(count, source)| format!("{count} {source}"))
            .collect();
        let shown = plural(self.shown, "change");
        let hidden = match self.hidden {
            0 => String::new(),
            hidden => format!(", {hidden} hidden"),
        };
        format!(
            "{}: {} {dot} {shown} shown{hidden} {dot} {took}",
            plural(versions, "version"),
            sources.join(", "),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_counted_by_where_they_came_from() {
        let at = |second| Timestamp::from_second(second).expect("in range");
        let mut summary = Summary::since(at(0));
        assert_eq!(summary.line(&[(0, "live")], "·", at(7)), "no versions · 7s");
        summary.count_changes(&Rendered {
            shown: 4,
            hidden: 5,
            ..Rendered::default()
        });
        summary.count_changes(&Rendered {
            quiet: Some(Counts {
                noise: [(crate::diff::Noise::Version, 3)].into(),
                ..Counts::default()
            }),
            ..Rendered::default()
        });
        let parts = [(2, "earlier"), (1, "live")];
        insta::assert_snapshot!(summary.line(&parts, "·", at(312)), @"3 versions: 2 earlier, 1 live · 4 changes shown, 8 hidden · 5m12s");
    }
}
