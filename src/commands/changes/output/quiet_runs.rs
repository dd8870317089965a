//! `QuietRuns`: counts versions with only noise, by object. On a terminal, lines above the footer have the counts.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::diff::Noise;
use crate::object::ObjectRef;
use crate::render::age;
use crate::render::count::{plural, thousands};
use crate::render::diff::Counts;
use crate::render::style::Look;
use crate::render::text::escape_line;

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
    pub(crate) fn count(&mut self, object: &ObjectRef, seen: Timestamp, counts: &Counts) {
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
    pub(crate) fn end(
        &mut self,
        object: &ObjectRef,
        zone: &TimeZone,
        look: Look,
    ) -> Option<String> {
        Some(self.take(object)?.line(zone, look))
    }

    /// The lines about the objects with the newest quiet versions, and a count of the others.
    pub(crate) fn lines(&self, zone: &TimeZone, look: Look) -> Vec<String> {
        let first = self.runs.len().saturating_sub(LINES);
        let lines = self.runs[first..].iter().map(|run| run.line(zone, look));
        let others = (first > 0).then(|| {
            let (dot, objects) = (look.symbols.dot, plural(first, "more object"));
            let line = format!("{dot}  {objects} with only hidden changes");
            look.styles.dim(&line)
        });
        others.into_iter().chain(lines).collect()
    }

    fn take(&mut self, object: &ObjectRef) -> Option<Run> {
        let at = self.runs.iter().rposition(|run| run.object == *object)?;
        Some(self.runs.remove(at))
    }
}

impl Run {
    /// `·  14:06:00-14:11:00 node/node-2: 2 heartbeats (12 hidden)`
    fn line(&self, zone: &TimeZone, look: Look) -> String {
        let mut times = vec![age::clock(self.first, zone), age::clock(self.last, zone)];
        times.dedup();
        let hidden = thousands(self.hidden);
        let counts = if self.is_heartbeat {
            format!("{} ({hidden} hidden)", plural(self.versions, "heartbeat"))
        } else {
            let versions = plural(self.versions, "version");
            format!("{versions} with only hidden changes ({hidden})")
        };
        let line = format!(
            "{}  {} {}: {counts}",
            look.symbols.dot,
            times.join("-"),
            self.object,
        );
        look.styles.dim(&escape_line(&line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Doc;
    use crate::render::style::{Styles, Symbols};

    #[test]
    fn quiet_versions_are_counted_until_the_object_changes() {
        let object = |name: &str| {
            let text = format!(r#"{{"kind":"Node","metadata":{{"name":"{name}"}}}}"#);
            ObjectRef::of(Doc::parse(text).expect("valid").root())
        };
        let at = |second: i64| Timestamp::from_second(1_714_572_000 + second).expect("in range");
        let counts = |noise: &[(Noise, usize)]| Counts {
            noise: noise.iter().copied().collect(),
            ..Counts::default()
        };
        let look = Look {
            width: Some(80),
            styles: Styles::PLAIN,
            symbols: &Symbols::UNICODE,
        };
        let mut runs = QuietRuns::default();
        let beat = counts(&[(Noise::Heartbeat, 4), (Noise::Version, 2)]);
        runs.count(&object("a"), at(0), &beat);
        for name in ["b", "c", "d"] {
            runs.count(&object(name), at(10), &counts(&[(Noise::Version, 1)]));
        }
        runs.count(&object("a"), at(300), &beat);
        insta::assert_snapshot!(runs.lines(&TimeZone::UTC, look).join("\n"), @"
        ·  1 more object with only hidden changes
        ·  14:00:10 node/c: 1 version with only hidden changes (1)
        ·  14:00:10 node/d: 1 version with only hidden changes (1)
        ·  14:00:00-14:05:00 node/a: 2 heartbeats (12 hidden)
        ");
        let ended = runs.end(&object("b"), &TimeZone::UTC, look);
        insta::assert_snapshot!(ended.unwrap_or_default(), @"·  14:00:10 node/b: 1 version with only hidden changes (1)");
        assert_eq!(runs.end(&object("b"), &TimeZone::UTC, look), None);
        assert_eq!(runs.lines(&TimeZone::UTC, look).len(), 3);
    }
}
