//! Which noise is shown, and what is said of versions that are nothing but.

use std::collections::{BTreeMap, BTreeSet};

use clap::ValueEnum;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::diff::Noise;
use crate::object::ObjectRef;
use crate::render::age;
use crate::render::diff::{Counts, Quiet, quiet_line};
use crate::render::style::Look;

/// The flags about noise.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct NoiseArgs {
    /// Show changes that say nothing about the object as well: all of them, or those of these classes
    #[arg(
        long,
        value_enum,
        value_name = "CLASS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "all",
        value_delimiter = ','
    )]
    show_noise: Vec<Class>,
    /// Show changes of metadata.managedFields as well
    #[arg(long)]
    show_managed_fields: bool,
}

/// The values of `--show-noise`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Class {
    /// Everything
    All,
    /// What the server counts: resourceVersion, generation, observedGeneration
    Version,
    /// Who wrote what
    #[value(name = "managedFields")]
    ManagedFields,
    /// Probe and heartbeat times, renewed leases
    Heartbeat,
    /// Items of a list whose order means nothing, in another order
    Order,
    /// Other spellings of the same quantity, time or number
    Equivalent,
}

impl NoiseArgs {
    /// The classes that are shown.
    pub(super) fn shown(&self) -> BTreeSet<Noise> {
        let classes = self.show_noise.iter().flat_map(|class| class.noise());
        let managed = self.show_managed_fields.then_some(Noise::ManagedFields);
        classes.copied().chain(managed).collect()
    }
}

impl Class {
    fn noise(self) -> &'static [Noise] {
        match self {
            Class::All => &Noise::ALL,
            Class::Version => &[Noise::Version],
            Class::ManagedFields => &[Noise::ManagedFields],
            Class::Heartbeat => &[Noise::Heartbeat],
            Class::Order => &[Noise::Order],
            Class::Equivalent => &[Noise::Equivalent],
        }
    }
}

/// So many lines about quiet objects stand above the footer.
const LINES: usize = 3;

/// Versions that nothing but noise tells apart, counted by object since its last change.
#[derive(Debug, Default)]
pub(super) struct QuietRuns {
    /// The one that was counted last stands last.
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
    pub(super) fn count(&mut self, object: &ObjectRef, seen: Timestamp, counts: &Counts) {
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

    /// The line about an object that has changed again: it is counted anew from here.
    pub(super) fn end(
        &mut self,
        object: &ObjectRef,
        zone: &TimeZone,
        look: Look,
    ) -> Option<String> {
        Some(self.take(object)?.line(zone, look))
    }

    /// The lines about the objects that were counted last.
    pub(super) fn lines(&self, zone: &TimeZone, look: Look) -> Vec<String> {
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
