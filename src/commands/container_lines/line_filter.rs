//! `LineFilter`: which lines are shown, by `--grep`, `--not` and `--level`.

use regex::bytes::{Regex, RegexSet};

use crate::commands::CommandError;
use crate::logs::{LogLevel, level_of};

/// The conditions for a line. One of the wanted patterns must match, and none of the unwanted.
#[derive(Clone, Debug, Default)]
pub(in crate::commands) struct LineFilter {
    wanted: Option<RegexSet>,
    unwanted: Option<RegexSet>,
    level: Option<LogLevel>,
    /// What to emphasise: the matches of `--grep` and `--highlight`.
    pub(in crate::commands) emphasised: Vec<Regex>,
}

/// The level of the last line of one log. Lines without a level belong to the one before.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::commands) struct LastLevel(Option<LogLevel>);

impl LineFilter {
    /// Reads the patterns of the flags.
    pub(in crate::commands) fn parse(
        grep: &[String],
        not: &[String],
        highlight: &[String],
        level: Option<LogLevel>,
    ) -> Result<LineFilter, CommandError> {
        let set = |flag: &str, patterns: &[String]| {
            let set = (!patterns.is_empty())
                .then(|| RegexSet::new(patterns))
                .transpose();
            set.map_err(|error| invalid(flag, &error))
        };
        let emphasised = grep.iter().map(|pattern| ("--grep", pattern));
        let emphasised = emphasised.chain(highlight.iter().map(|pattern| ("--highlight", pattern)));
        let emphasised = emphasised
            .map(|(flag, pattern)| Regex::new(pattern).map_err(|error| invalid(flag, &error)));
        Ok(LineFilter {
            wanted: set("--grep", grep)?,
            unwanted: set("--not", not)?,
            level,
            emphasised: emphasised.collect::<Result<_, _>>()?,
        })
    }

    /// Whether to show a line.
    pub(in crate::commands) fn shows(&self, line: &[u8], last: &mut LastLevel) -> bool {
        let is_important = self.level.is_none_or(|least| {
            last.0 = level_of(line).or(last.0);
            last.0.is_none_or(|level| level >= least)
        });
        is_important
            && self
                .wanted
                .as_ref()
                .is_none_or(|wanted| wanted.is_match(line))
            && !self
                .unwanted
                .as_ref()
                .is_some_and(|unwanted| unwanted.is_match(line))
    }

    /// The ranges of a line to emphasise, in their order. Of those that overlap, the first and longest counts.
    pub(in crate::commands) fn matches(&self, line: &str) -> Vec<(usize, usize)> {
        let found = self
            .emphasised
            .iter()
            .flat_map(|pattern| pattern.find_iter(line.as_bytes()));
        let mut found: Vec<(usize, usize)> = found
            .map(|found| (found.start(), found.end()))
            .filter(|(start, end)| line.is_char_boundary(*start) && line.is_char_boundary(*end))
            .collect();
        found.sort_by_key(|(start, end)| (*start, std::cmp::Reverse(*end)));
        found
    }
}

fn invalid(flag: &str, error: &regex::Error) -> CommandError {
    CommandError::usage(format!("invalid regular expression for {flag}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(grep: &[&str], not: &[&str], level: Option<LogLevel>) -> LineFilter {
        let owned = |texts: &[&str]| {
            texts
                .iter()
                .map(|text| (*text).to_owned())
                .collect::<Vec<_>>()
        };
        let filter = LineFilter::parse(&owned(grep), &owned(not), &owned(&["two"]), level);
        filter.expect("the patterns are valid")
    }

    fn shown(filter: &LineFilter, lines: &[&str]) -> String {
        let mut last = LastLevel::default();
        let shown = lines
            .iter()
            .filter(|line| filter.shows(line.as_bytes(), &mut last));
        shown.copied().collect::<Vec<_>>().join(",")
    }

    #[test]
    fn patterns_choose_lines() {
        let lines = ["one", "two", "one two", ""];
        for (grep, not, expect) in [
            (&[][..], &[][..], "one,two,one two,"),
            (&["one"], &[], "one,one two"),
            (&["^one$", "^$"], &[], "one,"),
            (&[], &["two"], "one,"),
            (&["o"], &["one"], "two"),
        ] {
            assert_eq!(
                shown(&filter(grep, not, None), &lines),
                expect,
                "{grep:?} {not:?}"
            );
        }
        assert!(filter(&[r"(?-u)\xff"], &[], None).shows(b"a\xff", &mut LastLevel::default()));
    }

    #[test]
    fn a_line_without_a_level_has_that_of_the_line_before() {
        let lines = [
            "first", "INFO ok", "  detail", "ERROR no", "  at x", "  at y", "INFO ok",
        ];
        let filter = filter(&[], &[], Some(LogLevel::Warn));
        assert_eq!(shown(&filter, &lines), "first,ERROR no,  at x,  at y");
    }

    #[test]
    fn matches_are_in_order() {
        let filter = filter(&["a+", "ab"], &[], None);
        assert_eq!(filter.matches("xaab two"), [(1, 3), (2, 4), (5, 8)]);
    }

    #[test]
    fn an_invalid_pattern_names_its_flag() {
        let error = LineFilter::parse(&["(".to_owned()], &[], &[], None);
        let error = error.expect_err("invalid").to_string();
        assert!(
            error.starts_with("error: invalid regular expression for --grep: "),
            "{error}"
        );
    }
}
