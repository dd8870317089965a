//! `RunSummary`: the counts of a run, for `--count`, `--exit-code` and the last line of `changes`.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::rendered::Rendered;
use crate::commands::versions::{Compared, authors};
use crate::diff::Noise;
use crate::object::{ObjectRef, listed};
use crate::render::age;
use crate::render::count::{plural, thousands};
use crate::render::diff::ChangeCounts;
use crate::render::json::changes::LeftOutRecord;
use crate::render::style::{Look, Role};
use crate::render::text::Text;

/// The counts of a run.
#[derive(Debug)]
pub(crate) struct RunSummary {
    pub(crate) started: Timestamp,
    /// The value of `--count`; `None` for no limit.
    pub(crate) limit: Option<u64>,
    /// The number of printed versions, without those that existed at the start.
    pub(crate) printed: u64,
    /// Whether a printed or folded version had a change that is neither noise nor filtered out.
    pub(crate) is_changed: bool,
    shown: usize,
    hidden: usize,
}

impl RunSummary {
    pub(crate) fn since(started: Timestamp) -> RunSummary {
        RunSummary {
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

    /// The counts of several clusters.
    pub(crate) fn of_all<'s>(
        started: Timestamp,
        all: impl Iterator<Item = &'s RunSummary>,
    ) -> RunSummary {
        all.fold(RunSummary::since(started), |sum, one| RunSummary {
            shown: sum.shown + one.shown,
            hidden: sum.hidden + one.hidden,
            ..sum
        })
    }

    /// Counts the changes of a version.
    pub(super) fn count_changes(&mut self, rendered: &Rendered) {
        self.shown += rendered.shown;
        self.hidden += rendered.hidden + rendered.quiet.as_ref().map_or(0, ChangeCounts::hidden);
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

/// The most lines about quiet objects above the footer.
const LINES: usize = 3;

/// The quiet versions of each object since its last change. A quiet version has only noise.
#[derive(Debug, Default)]
pub(crate) struct QuietRuns {
    /// Ordered by their last version, the newest last.
    runs: Vec<Run>,
}

/// The quiet versions of one object.
#[derive(Debug)]
struct Run {
    object: ObjectRef,
    first: Timestamp,
    last: Timestamp,
    versions: usize,
    /// The number of hidden changes in these versions.
    hidden: usize,
    is_heartbeat: bool,
}

impl QuietRuns {
    /// Counts a quiet version.
    pub(crate) fn count(&mut self, object: &ObjectRef, seen: Timestamp, counts: &ChangeCounts) {
        let mut run = self.take(object).unwrap_or_else(|| Run {
            object: object.clone(),
            first: seen,
            last: seen,
            versions: 0,
            hidden: 0,
            is_heartbeat: false,
        });
        run.last = seen;
        run.versions += 1;
        run.hidden += counts.hidden();
        run.is_heartbeat |= counts.noise.contains_key(&Noise::Heartbeat);
        self.runs.push(run);
    }

    /// Ends the run of an object that has changed. Returns its line, if there is one.
    pub(crate) fn end(&mut self, object: &ObjectRef, zone: &TimeZone, look: Look) -> Option<Text> {
        Some(self.take(object)?.line(zone, look))
    }

    /// The lines about the objects with the newest quiet versions, and a count of the others.
    pub(crate) fn lines(&self, zone: &TimeZone, look: Look) -> Vec<Text> {
        let first = self.runs.len().saturating_sub(LINES);
        let lines = self.runs[first..].iter();
        let lines = lines.map(|run| run.line(zone, look));
        let others = (first > 0).then(|| {
            let (dot, objects) = (look.symbols.dot, plural(first, "more object"));
            Text::dim(format!("{dot}  {objects} with only hidden changes")).fit_to(look)
        });
        others.into_iter().chain(lines).collect()
    }

    fn take(&mut self, object: &ObjectRef) -> Option<Run> {
        let at = self.runs.iter().rposition(|run| run.object == *object)?;
        Some(self.runs.remove(at))
    }
}

impl Run {
    /// `·  14:06:00-14:11:00 node/node-2: 2 heartbeats (12 hidden)`. On a narrow terminal, the middle of the name goes first.
    fn line(&self, zone: &TimeZone, look: Look) -> Text {
        let mut times = vec![age::clock(self.first, zone), age::clock(self.last, zone)];
        times.dedup();
        let hidden = thousands(self.hidden);
        let counts = if self.is_heartbeat {
            format!("{} ({hidden} hidden)", plural(self.versions, "heartbeat"))
        } else {
            let versions = plural(self.versions, "version");
            format!("{versions} with only hidden changes ({hidden})")
        };
        let start = Text::from(format!("{}  {} ", look.symbols.dot, times.join("-")));
        let end = Text::from(format!(": {counts}"));
        let name = Text::from(self.object.to_string());
        let line = start.clone() + name.fit_name(start.width() + end.width(), look) + end;
        line.in_role(Role::Dim).fit_to(look)
    }
}

/// The most managers that a line names.
const MOST: usize = 4;

/// The managers whose versions `--people` leaves out, and the number of their versions. `None` stands for nobody: the server
/// records no manager for a deletion.
#[derive(Debug, Default)]
pub(crate) struct LeftOut(BTreeMap<Option<String>, usize>);

impl LeftOut {
    /// Counts a version that is left out: it belongs to the last of its managers.
    pub(super) fn see(&mut self, compared: &Compared<'_>) {
        let authors = authors(&compared.writers, compared.diff.as_ref());
        let manager = authors
            .first()
            .map(|author| author.manager.clone().into_owned());
        *self.0.entry(manager).or_default() += 1;
    }

    /// `left out: kube-controller-manager 210, kubelet 12 and 2 more, not recorded 3`. `None` if there are none.
    pub(crate) fn line(&self) -> Option<String> {
        let mut managers = self.most_first();
        let nobody = managers.pop_if(|(manager, _)| manager.is_none());
        let named = managers
            .iter()
            .filter_map(|(manager, versions)| Some(format!("{} {versions}", (*manager)?)));
        let named = Some(listed(named, MOST)).filter(|named| !named.is_empty());
        let nobody = nobody.map(|(_, versions)| format!("not recorded {versions}"));
        let parts: Vec<String> = named.into_iter().chain(nobody).collect();
        (!parts.is_empty()).then(|| format!("left out: {}", parts.join(", ")))
    }

    /// The same for records.
    pub(crate) fn records(&self) -> Vec<LeftOutRecord> {
        let managers = self.most_first().into_iter();
        let record = |(manager, versions): (Option<&str>, usize)| LeftOutRecord {
            manager: manager.map(str::to_owned),
            versions,
        };
        managers.map(record).collect()
    }

    /// The managers with the most versions come first, nobody last.
    fn most_first(&self) -> Vec<(Option<&str>, usize)> {
        let managers = self.0.iter();
        let managers = managers.map(|(manager, versions)| (manager.as_deref(), *versions));
        let mut managers: Vec<_> = managers.collect();
        managers
            .sort_by_key(|(manager, versions)| (manager.is_none(), Reverse(*versions), *manager));
        managers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Doc;
    use crate::render::style::testing::plain;
    use crate::render::style::{Styles, Symbols};

    fn look(width: Option<usize>) -> Look {
        Look {
            width,
            styles: Styles::PLAIN,
            symbols: &Symbols::UNICODE,
        }
    }

    #[test]
    fn versions_are_counted_by_where_they_came_from() {
        let at = |second| Timestamp::from_second(second).expect("in range");
        let mut summary = RunSummary::since(at(0));
        assert_eq!(summary.line(&[(0, "live")], "·", at(7)), "no versions · 7s");
        summary.count_changes(&Rendered {
            shown: 4,
            hidden: 5,
            ..Rendered::default()
        });
        summary.count_changes(&Rendered {
            quiet: Some(ChangeCounts {
                noise: [(crate::diff::Noise::Version, 3)].into(),
                ..ChangeCounts::default()
            }),
            ..Rendered::default()
        });
        let parts = [(2, "earlier"), (1, "live")];
        insta::assert_snapshot!(summary.line(&parts, "·", at(312)), @"3 versions: 2 earlier, 1 live · 4 changes shown, 8 hidden · 5m12s");
    }

    #[test]
    fn quiet_versions_are_counted_until_the_object_changes() {
        let object = |name: &str| {
            let text = format!(r#"{{"kind":"Node","metadata":{{"name":"{name}"}}}}"#);
            ObjectRef::of(Doc::parse(text).expect("valid").root())
        };
        let at = |second: i64| Timestamp::from_second(1_714_572_000 + second).expect("in range");
        let counts = |noise: &[(Noise, usize)]| ChangeCounts {
            noise: noise.iter().copied().collect(),
            ..ChangeCounts::default()
        };
        let mut runs = QuietRuns::default();
        let beat = counts(&[(Noise::Heartbeat, 4), (Noise::Version, 2)]);
        runs.count(&object("a"), at(0), &beat);
        for name in ["b", "c", "d"] {
            runs.count(&object(name), at(10), &counts(&[(Noise::Version, 1)]));
        }
        runs.count(&object("a"), at(300), &beat);
        insta::assert_snapshot!(plain(runs.lines(&TimeZone::UTC, look(None))), @"
        ·  1 more object with only hidden changes
        ·  14:00:10 node/c: 1 version with only hidden changes (1)
        ·  14:00:10 node/d: 1 version with only hidden changes (1)
        ·  14:00:00-14:05:00 node/a: 2 heartbeats (12 hidden)
        ");
        let ended = runs.end(&object("b"), &TimeZone::UTC, look(None));
        insta::assert_snapshot!(ended.unwrap_or_default(), @"·  14:00:10 node/b: 1 version with only hidden changes (1)");
        assert_eq!(runs.end(&object("b"), &TimeZone::UTC, look(None)), None);
        assert_eq!(runs.lines(&TimeZone::UTC, look(None)).len(), 3);
    }

    #[test]
    fn a_line_about_quiet_versions_fits_a_narrow_terminal() {
        let name = "very-long-release-name-frontend-web-canary-blue-7f9d8c6b5d-x2k4q";
        let text = format!(r#"{{"kind":"Node","metadata":{{"name":"{name}"}}}}"#);
        let object = ObjectRef::of(Doc::parse(text).expect("valid").root());
        let counts = ChangeCounts {
            noise: [(Noise::Version, 1)].into(),
            ..ChangeCounts::default()
        };
        let mut runs = QuietRuns::default();
        runs.count(&object, Timestamp::UNIX_EPOCH, &counts);
        let at = |columns| runs.lines(&TimeZone::UTC, look(Some(columns)));
        insta::assert_snapshot!(plain([100, 80, 60].into_iter().flat_map(at)), @"
        ·  00:00:00 node/very-long-release-…ry-blue-7f9d8c6b5d-x2k4q: 1 version with only hidden changes (1)
        ·  00:00:00 node/very-lon…9d8c6b5d-x2k4q: 1 version with only hidden changes (1)
        ·  00:00:00 node/very…6b5d-x2k4q: 1 version with only hidde…
        ");
    }

    fn left_out(managers: &[(&str, usize)]) -> LeftOut {
        let managers = managers.iter().map(|(manager, versions)| {
            let manager = (!manager.is_empty()).then(|| (*manager).to_owned());
            (manager, *versions)
        });
        LeftOut(managers.collect())
    }

    #[test]
    fn the_managers_with_the_most_versions_are_named() {
        for (managers, expect) in [
            (&[][..], None),
            (&[("kubelet", 12)], Some("left out: kubelet 12")),
            (
                &[("kubelet", 12), ("", 3), ("kube-controller-manager", 210)],
                Some("left out: kube-controller-manager 210, kubelet 12, not recorded 3"),
            ),
            (
                &[
                    ("a", 1),
                    ("b", 2),
                    ("c", 3),
                    ("d\u{1b}[2J", 2),
                    ("e", 1),
                    ("f", 9),
                    ("", 7),
                ],
                Some("left out: f 9, c 3, b 2, d^[[2J 2 and 2 more, not recorded 7"),
            ),
        ] {
            let line = left_out(managers).line().map(Text::from);
            assert_eq!(line.as_ref().map(Text::as_str), expect);
        }
    }
}
