//! Versions with nothing but noise, counted by object. On a terminal they have a line each above the footer.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::diff::Noise;
use crate::object::ObjectRef;
use crate::render::age;
use crate::render::diff::{Counts, Quiet, quiet_line};
use crate::render::style::Look;

/// How many lines about quiet objects stand above the footer.
const LINES: usize = 3;

/// Versions that nothing but noise tells apart, counted by object since its last change.
#[derive(Debug, Default)]
pub(in crate::commands::changes) struct QuietRuns {
    /// The one that was counted last is the last.
    runs: Vec<Run>,
}

/// Such versions of one object.
#[derive(Debug)]
struct Run {
    object: ObjectRef,
    first: Timestamp,
    last: Timestamp,
    versions: usize,
    noise: BTreeMap<Noise, usize>,
}

impl QuietRuns {
    /// Counts a version.
    pub(in crate::commands::changes) fn count(
        &mut self,
        object: &ObjectRef,
        seen: Timestamp,
        counts: &Counts,
    ) {
        let mut run = self.take(object).unwrap_or_else(|| Run {
            object: object.clone(),
            first: seen,
            last: seen,
            versions: 0,
            noise: BTreeMap::new(),
        });
        run.last = seen;
        run.versions += 1;
        for (noise, count) in &counts.noise {
            *run.noise.entry(*noise).or_default() += count;
        }
        self.runs.push(run);
    }

    /// Ends the run of an object that has changed again; returns its line.
    pub(in crate::commands::changes) fn end(
        &mut self,
        object: &ObjectRef,
        zone: &TimeZone,
        look: Look,
    ) -> Option<String> {
        Some(self.take(object)?.line(zone, look))
    }

    /// The lines about the objects that were counted last.
    pub(in crate::commands::changes) fn lines(&self, zone: &TimeZone, look: Look) -> Vec<String> {
        let first = self.runs.len().saturating_sub(LINES);
        let lines = self.runs[first..].iter().map(|run| run.line(zone, look));
        let others = (first > 0).then(|| {
            let s = if first == 1 { "" } else { "s" };
            let dot = look.symbols.dot;
            let line = format!("{dot}  {first} more object{s} with nothing but hidden changes");
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
    fn line(&self, zone: &TimeZone, look: Look) -> String {
        let quiet = Quiet {
            first: &age::clock(self.first, zone),
            last: &age::clock(self.last, zone),
            object: &self.object,
            versions: self.versions,
            noise: &self.noise,
        };
        quiet_line(&quiet, look)
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
        ·  1 more object with nothing but hidden changes
        ·  14:00:10 node/c: 1 quiet version (1 hidden)
        ·  14:00:10 node/d: 1 quiet version (1 hidden)
        ·  14:00:00-14:05:00 node/a: 2 heartbeats (12 hidden)
        ");
        let ended = runs.end(&object("b"), &TimeZone::UTC, look);
        insta::assert_snapshot!(ended.unwrap_or_default(), @"·  14:00:10 node/b: 1 quiet version (1 hidden)");
        assert_eq!(runs.end(&object("b"), &TimeZone::UTC, look), None);
        assert_eq!(runs.lines(&TimeZone::UTC, look).len(), 3);
    }
}
