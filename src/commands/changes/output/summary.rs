//! `Summary`: the last line of `changes`, with the numbers of versions and changes.

use jiff::Timestamp;

use super::footer::plural;
use super::rendered::Rendered;
use crate::render::age;
use crate::render::diff::Counts;

/// The counts of a run.
#[derive(Debug)]
pub(crate) struct Summary {
    started: Timestamp,
    shown: u64,
    hidden: u64,
}

impl Summary {
    pub(crate) fn since(started: Timestamp) -> Summary {
        Summary {
            started,
            shown: 0,
            hidden: 0,
        }
    }

    /// Counts the changes of a version.
    pub(super) fn count(&mut self, rendered: &Rendered) {
        let quiet = rendered.quiet.as_ref().map_or(0, Counts::hidden);
        self.shown += rendered.shown as u64;
        self.hidden += (rendered.hidden + quiet) as u64;
    }

    /// `3 versions: 1 live · 4 changes shown, 8 hidden · 5m12s`. `parts` are the numbers of versions by their origin; zeros
    /// are left out.
    pub(crate) fn line(&self, parts: &[(u64, &str)], dot: &str, now: Timestamp) -> String {
        let versions: u64 = parts.iter().map(|part| part.0).sum();
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
        summary.count(&Rendered {
            shown: 4,
            hidden: 5,
            ..Rendered::default()
        });
        summary.count(&Rendered {
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
