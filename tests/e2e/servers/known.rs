//! The writes that a test has made, and what the timeline must say about them.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::Server;

/// The longest time between two renewals of a Lease, with room for a slow machine: the API server and each
/// node renew theirs every ten seconds.
const RENEWALS: SignedDuration = SignedDuration::from_secs(20);
/// The limit of any wait. No working operation takes this long.
const PATIENCE: Duration = Duration::from_secs(60);
/// Times in objects are whole seconds.
const SECOND: SignedDuration = SignedDuration::from_secs(1);
/// How far apart two writes to different storages must be for the timeline to know their order.
const APART: SignedDuration = SignedDuration::from_secs(3);

/// What the timeline must say about a write.
#[derive(Clone, Debug)]
pub struct Words {
    /// `Kind/name`.
    pub object: &'static str,
    /// The record's type.
    pub what: &'static str,
    /// The writer; empty for a deletion, whose writer nobody records.
    pub by: &'static str,
    /// `.data.mode: a → b`; empty unless the object was modified.
    pub change: String,
}

impl Words {
    fn text(&self) -> String {
        text(self.object, self.what, self.by, &self.change)
    }
}

/// One write.
#[derive(Debug)]
struct Write {
    words: Words,
    begun: Timestamp,
    ended: Timestamp,
}

/// All writes, in their order.
#[derive(Debug, Default)]
pub struct Known(Vec<Write>);

impl Known {
    /// Makes a write with kubectl and records it.
    pub fn write(&mut self, server: &Server, words: Words, kubectl: &[&str]) {
        self.record([words], || server.kubectl(kubectl));
    }

    /// Records the writes that one command makes, in their order.
    pub fn record<R>(
        &mut self,
        writes: impl IntoIterator<Item = Words>,
        write: impl FnOnce() -> R,
    ) {
        let begun = Timestamp::now();
        write();
        let ended = Timestamp::now();
        self.0.extend(writes.into_iter().map(|words| Write {
            words,
            begun,
            ended,
        }));
    }

    /// Creates an Event when all Leases have been renewed since the last write: it is younger than every
    /// span in which another write can be.
    pub fn event_after_renewals(&mut self, server: &Server) {
        let last = self.0.last().expect("something was written").ended;
        let begun = Instant::now();
        while renewals(server).into_iter().any(|renewal| renewal < last) {
            assert!(begun.elapsed() < PATIENCE, "a Lease is not renewed");
        }
        self.event(server, "late");
    }

    /// Creates an Event with the current time.
    pub fn event(&mut self, server: &Server, name: &'static str) {
        let object = match name {
            "late" => "Event/late",
            _ => "Event/early",
        };
        let words = Words {
            object,
            what: "created",
            by: "kubectl-create",
            change: String::new(),
        };
        let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let event = serde_json::json!({
            "apiVersion": "v1", "kind": "Event",
            "metadata": { "name": name, "namespace": super::NAMESPACE },
            "involvedObject": { "apiVersion": "v1", "kind": "ConfigMap", "name": "flags", "namespace": super::NAMESPACE },
            "type": "Normal", "reason": "Tested", "message": name,
            "firstTimestamp": now, "lastTimestamp": now, "count": 1,
        });
        self.record([words], || server.create(&event.to_string()));
    }

    /// Compares the timeline of the namespace with the writes.
    pub fn check(&self, server: &Server) {
        let stdout = server.once(&["changes", "--since", "15m", "-o", "json"]);
        let lines = stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        let records: Vec<Value> = lines.collect();
        let lookbacks = records.iter().filter(|record| record["type"] == "lookback");
        let ended_early = |record: &&Value| record["end"] != "limit";
        let incomplete: Vec<&Value> = lookbacks.filter(ended_early).collect();
        assert!(incomplete.is_empty(), "{incomplete:#?}");
        let versions: Vec<Version<'_>> =
            records.iter().enumerate().filter_map(Version::of).collect();
        self.check_words(&versions);
        self.check_times(&versions);
        self.check_order(&versions);
        check_sorted(&versions);
    }

    /// Each object has the versions that were written, in their order, by their writers, and no other.
    fn check_words(&self, versions: &[Version<'_>]) {
        let mut objects: Vec<&str> = self.0.iter().map(|write| write.words.object).collect();
        objects.sort_unstable();
        objects.dedup();
        for object in objects {
            let is_it =
                |version: &&Version<'_>| version.object == object && !version.is_by_controller();
            let told: Vec<String> = versions.iter().filter(is_it).map(Version::text).collect();
            let of_it = self.0.iter().filter(|write| write.words.object == object);
            let written: Vec<String> = of_it.map(|write| write.words.text()).collect();
            assert_eq!(told, written, "{object}");
        }
    }

    /// The time of each version is that of its write, or a span that holds it and that a renewal bounds.
    fn check_times(&self, versions: &[Version<'_>]) {
        for (write, version) in self.0.iter().zip(self.found(versions)) {
            let context = || format!("{write:?}\n{}", version.record);
            assert!(version.time <= write.ended, "too late: {}", context());
            assert!(
                write.begun < version.until + SECOND,
                "too early: {}",
                context()
            );
            let span = version.until.duration_since(version.time);
            assert!(span <= RENEWALS, "too vague: {}", context());
        }
    }

    /// The versions of the writes, in the order of the writes.
    fn found<'v, 'r>(&self, versions: &'v [Version<'r>]) -> Vec<&'v Version<'r>> {
        let mut taken = vec![false; versions.len()];
        let find = |write: &Write| {
            let text = write.words.text();
            let mut places = versions.iter().enumerate();
            let place = places.find(|(at, version)| !taken[*at] && version.text() == text);
            let (at, version) = place.unwrap_or_else(|| panic!("missing: {text}"));
            taken[at] = true;
            version
        };
        self.0.iter().map(find).collect()
    }

    /// Writes to one storage stand in their order, and writes to two if a few seconds are between them.
    fn check_order(&self, versions: &[Version<'_>]) {
        let places: Vec<usize> = self
            .found(versions)
            .iter()
            .map(|version| version.at)
            .collect();
        for (first, earlier) in self.0.iter().enumerate() {
            for (second, later) in self.0.iter().enumerate().skip(first + 1) {
                let is_known = earlier.is_event() == later.is_event()
                    || later.begun.duration_since(earlier.ended) > APART;
                let is_so = places[first] < places[second];
                assert!(is_so || !is_known, "{earlier:?}\nstands after\n{later:?}");
            }
        }
    }
}

/// No version stands below one that is certainly younger.
fn check_sorted(versions: &[Version<'_>]) {
    let mut youngest: Option<&Version<'_>> = None;
    for version in versions {
        if let Some(above) = youngest {
            let is_older = version.until + APART < above.time;
            assert!(
                !is_older,
                "{}\nstands below\n{}",
                version.record, above.record
            );
        }
        if youngest.is_none_or(|above| above.time < version.time) {
            youngest = Some(version);
        }
    }
}

/// The times of the last renewals.
fn renewals(server: &Server) -> Vec<Timestamp> {
    let path = "{range .items[*]}{.spec.renewTime} {end}";
    let output = format!("jsonpath={path}");
    let times = server
        .plane
        .kubectl(&["get", "leases", "-A", "-o", &output]);
    times
        .split_whitespace()
        .map(|time| time.parse().unwrap())
        .collect()
}

impl Write {
    fn is_event(&self) -> bool {
        self.words.object.starts_with("Event/")
    }
}

/// A version in the timeline.
struct Version<'r> {
    record: &'r Value,
    /// Its number in the timeline.
    at: usize,
    object: String,
    time: Timestamp,
    until: Timestamp,
}

impl<'r> Version<'r> {
    fn of((at, record): (usize, &'r Value)) -> Option<Version<'r>> {
        let reference = record.get("ref")?;
        let time = |name| record[name].as_str().map(|time| time.parse().unwrap());
        let begin: Timestamp = time("time").unwrap_or_else(|| panic!("no time: {record}"));
        let name = |field| reference[field].as_str().unwrap_or_default();
        Some(Version {
            record,
            at,
            object: format!("{}/{}", name("kind"), name("name")),
            time: begin,
            until: time("timeUntil").unwrap_or(begin),
        })
    }

    /// Whether only what a Deployment's controller writes has changed.
    fn is_by_controller(&self) -> bool {
        let changes = self.record["changes"].as_array().into_iter().flatten();
        let paths = changes.filter_map(|change| change["path"].as_str());
        let mut kinds = paths.map(|path| CONTROLLERS.iter().any(|own| path.starts_with(own)));
        self.record["type"] == "modified" && kinds.all(|is_own| is_own)
    }

    fn text(&self) -> String {
        let changes = self.record["changes"].as_array().into_iter().flatten();
        let changes: Vec<String> = changes.map(change_text).collect();
        let what = self.record["type"].as_str().unwrap_or_default();
        // What is created has all its fields, and they are not compared.
        let changes = if what == "modified" {
            changes.join(", ")
        } else {
            String::new()
        };
        text(
            &self.object,
            what,
            &managers(self.record).join(", "),
            &changes,
        )
    }
}

/// The fields that a Deployment's controller writes.
const CONTROLLERS: [&str; 2] = [
    ".status",
    ".metadata.annotations[\"deployment.kubernetes.io/",
];

fn managers(record: &Value) -> Vec<&str> {
    let actors = record["actors"].as_array().into_iter().flatten();
    actors
        .filter_map(|actor| actor["manager"].as_str())
        .collect()
}

fn change_text(change: &Value) -> String {
    let value = |name: &str| match &change[name] {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let path = change["path"].as_str().unwrap_or_default();
    format!("{path}: {} → {}", value("old"), value("new"))
}

fn text(object: &str, what: &str, by: &str, change: &str) -> String {
    format!("{object} {what} by {by:?} {change}")
}
