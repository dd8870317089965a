//! A small server with a random history, and the recorders that it has, with what goes wrong: kills, restarts, set clocks.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use proptest::prelude::*;

use super::FOREVER;
use crate::object::{ObjectRef, ResourceVersion, Uid};
use crate::record::progress::SharedProgress;
use crate::record::recording::{Pace, Recording};
use crate::record::{RecordOptions, RecordedCluster, ResumedSource, Store, last_states};
use crate::source::{Event, Gap, GapCause, SourceKey, SourceState, Version, Why};
use crate::watch::Clock;

/// A write of the server.
#[derive(Clone, Debug)]
pub(in crate::record) struct Write {
    pub(in crate::record) revision: u64,
    pub(in crate::record) name: u8,
    pub(in crate::record) why: Why,
    pub(in crate::record) version: Arc<Version>,
}

/// A server with `ConfigMap`s, and what it still remembers.
#[derive(Default)]
pub(in crate::record) struct Server {
    pub(in crate::record) writes: Vec<Write>,
    /// The last write of each object that exists.
    pub(in crate::record) objects: BTreeMap<u8, Write>,
    /// The oldest revision from which a watch can start.
    pub(in crate::record) oldest: u64,
}

impl Server {
    pub(in crate::record) fn revision(&self) -> u64 {
        self.writes.last().map_or(1, |write| write.revision)
    }

    pub(in crate::record) fn write(&mut self, name: u8, data: &str) {
        let revision = self.revision() + 1;
        let before = self.objects.get(&name);
        let (why, life) = match before {
            Some(before) => (Why::Modified, before.version.object.identity()),
            None => (
                Why::Added,
                Uid::new(format!("f3b1c2d4-0000-4000-8000-{name:04}{revision:08}")),
            ),
        };
        let version = version(name, life, revision, data);
        let write = Write {
            revision,
            name,
            why,
            version,
        };
        self.objects.insert(name, write.clone());
        self.writes.push(write);
    }

    /// Deletes an object. As in Kubernetes, the event has its last state with the revision of the deletion.
    pub(in crate::record) fn delete(&mut self, name: u8) {
        let revision = self.revision() + 1;
        if let Some(last) = self.objects.remove(&name) {
            let life = last.version.object.identity();
            self.writes.push(Write {
                revision,
                name,
                why: Why::Deleted,
                version: version(name, life, revision, "gone"),
            });
        }
    }

    /// The objects at a revision.
    pub(in crate::record) fn state(&self, at: u64) -> BTreeSet<String> {
        let mut objects = BTreeMap::new();
        for write in self.writes.iter().filter(|write| write.revision <= at) {
            match write.why {
                Why::Deleted => objects.remove(&write.name),
                _ => objects.insert(write.name, words(&write.version)),
            };
        }
        objects.into_values().collect()
    }
}

pub(in crate::record) fn version(name: u8, life: Uid, revision: u64, data: &str) -> Arc<Version> {
    let name = format!("flags-{name}");
    let text = format!(
        r#"{{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"name":"{name}","namespace":"shop","uid":"{}","resourceVersion":"{revision}"}},"data":{{"a":{}}}}}"#,
        life.as_str(),
        serde_json::Value::from(data)
    );
    Arc::new(Version {
        object: Arc::new(ObjectRef {
            api_version: "v1".into(),
            kind: "ConfigMap".into(),
            namespace: Some("shop".into()),
            name: name.into(),
            uid: Some(life),
        }),
        version: ResourceVersion::new(revision.to_string()),
        body: text.into(),
    })
}

/// All of a version in words.
pub(in crate::record) fn words(version: &Version) -> String {
    format!("{} {}", version.version, version.body.text())
}

/// The wall clock of the recorders, in seconds.
#[derive(Clone, Default)]
pub(in crate::record) struct WallClock(Arc<AtomicI64>);

impl WallClock {
    pub(in crate::record) fn new() -> WallClock {
        WallClock(Arc::new(AtomicI64::new(1_772_452_800)))
    }

    pub(in crate::record) fn step(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::Relaxed);
    }

    pub(in crate::record) fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.load(Ordering::Relaxed)).expect("a time")
    }

    pub(in crate::record) fn clock(&self) -> Clock {
        let own = self.clone();
        Arc::new(move || own.now())
    }
}

/// A recorder, and how far it has seen the server.
pub(in crate::record) struct Run {
    pub(in crate::record) recording: Recording,
    pub(in crate::record) key: Arc<SourceKey>,
    pub(in crate::record) clock: WallClock,
    pub(in crate::record) seen: u64,
    pub(in crate::record) progress: SharedProgress,
}

/// How a recorder starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::record) enum Start {
    Resumed,
    Fresh,
}

/// A recorder of the server, which keeps everything.
pub(in crate::record) fn options(path: &Path, clock: &WallClock) -> RecordOptions {
    RecordOptions {
        store: Store::create(path).expect("a store"),
        cluster: RecordedCluster {
            id: "c1".to_owned(),
            name: "test".to_owned(),
            server: "localhost:6443".to_owned(),
        },
        retention: FOREVER,
        resumed: HashMap::new(),
        redactions: Vec::new(),
        clock: clock.clock(),
        local_clock: clock.clock(),
    }
}

impl Run {
    pub(in crate::record) fn start(
        path: &Path,
        server: &Server,
        clock: &WallClock,
        start: Start,
    ) -> Run {
        let key = Arc::new(SourceKey::all("", "ConfigMap"));
        let store = Store::create(path).expect("a store");
        let states = last_states(&store.cluster("c1"), &[(*key).clone()]);
        let known = states.expect("states").remove(&*key);
        let known = known.filter(|_| start == Start::Resumed);
        let resumed = known
            .iter()
            .map(|known| ((*key).clone(), ResumedSource::of(known)));
        let progress = SharedProgress::default();
        let options = RecordOptions {
            resumed: resumed.collect(),
            ..options(path, clock)
        };
        let recording = Recording::begin(options, progress.clone()).expect("a file");
        let mut run = Run {
            recording,
            key,
            clock: clock.clone(),
            seen: 0,
            progress,
        };
        run.take(&Event::State(SourceState::Connecting));
        match known {
            Some(known) => {
                let version = known.version.as_str().parse().expect("a number");
                for (object, _) in &known.objects {
                    run.object(Why::Listed, object);
                }
                run.synced(known.objects.len(), version);
                if version < server.oldest {
                    let known = known.objects.into_iter().map(|(object, _)| object);
                    run.skip(server, &known.collect::<Vec<_>>());
                }
            }
            None => run.list(server),
        }
        run.take(&Event::State(SourceState::Live));
        run
    }

    pub(in crate::record) fn take(&mut self, event: &Event) {
        self.recording.take(&self.key, event);
    }

    pub(in crate::record) fn object(&mut self, why: Why, version: &Arc<Version>) {
        self.take(&Event::Object {
            why,
            past: false,
            seen: self.clock.now(),
            now: version.clone(),
            prev: None,
        });
    }

    pub(in crate::record) fn synced(&mut self, count: usize, version: u64) {
        self.seen = version;
        self.take(&Event::Synced {
            epoch: 1,
            count,
            version: ResourceVersion::new(version.to_string()),
        });
    }

    pub(in crate::record) fn list(&mut self, server: &Server) {
        for write in server.objects.values() {
            self.object(Why::Listed, &write.version);
        }
        self.synced(server.objects.len(), server.revision());
    }

    /// Names the gap after the last revision, and sends the difference.
    pub(in crate::record) fn skip(&mut self, server: &Server, known: &[Arc<Version>]) {
        self.take(&Event::Gap(Gap {
            after: ResourceVersion::new(self.seen.to_string()),
            upto: ResourceVersion::new(server.revision().to_string()),
            cause: GapCause::Expired,
        }));
        let now = |version: &Arc<Version>| {
            let mut all = server.objects.values();
            all.find(|write| write.version.object == version.object)
        };
        for version in known {
            match now(version) {
                None => self.object(Why::Vanished, version),
                Some(write) if write.version.version != version.version => {
                    self.object(Why::Skipped, &write.version);
                }
                Some(_) => {}
            }
        }
        let is_new = |write: &&Write| {
            let mut known = known.iter();
            !known.any(|known| known.object == write.version.object)
        };
        for write in server.objects.values().filter(is_new) {
            self.object(Why::Listed, &write.version);
        }
        self.synced(server.objects.len(), server.revision());
    }

    /// Sends what the server has written.
    pub(in crate::record) fn deliver(&mut self, server: &Server) {
        for write in &server.writes {
            if write.revision > self.seen {
                self.object(write.why, &write.version);
            }
        }
        self.seen = server.revision();
    }

    /// A bookmark: nothing else has happened.
    pub(in crate::record) fn reach(&mut self) {
        let version = ResourceVersion::new(self.seen.to_string());
        self.recording.reach(&self.key, &version);
    }

    pub(in crate::record) fn commit(&mut self) {
        self.recording.tend(Pace::Quiet);
    }

    /// Writes what has waited for long enough, as a recorder does all the time.
    pub(in crate::record) fn beat(&mut self) {
        self.recording.tend(Pace::Busy);
    }

    /// Ends like a killed process. The last log keeps this part of its bytes.
    pub(in crate::record) fn kill(self, part: f64) {
        let file = self.recording.file().expect("a file").to_owned();
        let mut log = file.clone().into_os_string();
        log.push("-wal");
        let bytes = fs::read(&file).expect("a file");
        let mut logged = fs::read(&log).unwrap_or_default();
        // This moves the log into the file, so both are put back.
        drop(self);
        logged.truncate(place(logged.len(), part));
        fs::remove_file(&file).expect("a file");
        fs::write(&file, bytes).expect("written");
        fs::write(&log, logged).expect("written");
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a place in a small file"
)]
pub(in crate::record) fn place(length: usize, part: f64) -> usize {
    (part * length as f64) as usize
}

pub(in crate::record) fn all_files(path: &Path) -> Vec<PathBuf> {
    let folder = path.join("c1");
    let inside = fs::read_dir(folder).into_iter().flatten();
    inside
        .map(|entry| entry.expect("an entry").path())
        .collect()
}

/// What happens next.
#[derive(Clone, Debug)]
pub(in crate::record) enum Step {
    Write(u8, String),
    Delete(u8),
    Deliver,
    Reach,
    Commit,
    /// The server forgets all but the newest state.
    Forget,
    /// The clock moves by so many seconds.
    Clock(i64),
    Stop,
    Kill(f64),
    Start(Start),
    /// Which of two recorders the next steps are about.
    Other,
}

pub(in crate::record) fn step(clock: std::ops::Range<i64>) -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0_u8..4, "[ab]{0,9}|[a-z]{300}").prop_map(|(name, data)| Step::Write(name, data)),
        2 => (0_u8..4).prop_map(Step::Delete),
        4 => Just(Step::Deliver),
        1 => Just(Step::Reach),
        2 => Just(Step::Commit),
        1 => Just(Step::Forget),
        2 => clock.prop_map(Step::Clock),
        1 => Just(Step::Stop),
        1 => (0.0..=1.0_f64).prop_map(Step::Kill),
        2 => Just(Step::Start(Start::Resumed)),
        1 => Just(Step::Start(Start::Fresh)),
        1 => Just(Step::Other),
    ]
}

/// Plays the steps. At the end a recorder has seen everything.
pub(in crate::record) fn play(path: &Path, steps: &[Step]) -> Server {
    let mut server = Server::default();
    let clock = WallClock::new();
    server.write(0, "first");
    let mut runs: [Option<Run>; 2] = [None, None];
    let mut at = 0;
    for step in steps {
        match step {
            Step::Write(name, data) => server.write(*name, data),
            Step::Delete(name) => server.delete(*name),
            Step::Forget => server.oldest = server.revision(),
            Step::Clock(seconds) => clock.step(*seconds),
            Step::Other => at = 1 - at,
            Step::Start(start) if runs[at].is_none() => {
                runs[at] = Some(Run::start(path, &server, &clock, *start));
            }
            Step::Stop => {
                if let Some(run) = runs[at].take() {
                    run.recording.finish().expect("written");
                }
            }
            Step::Kill(part) => {
                if let Some(run) = runs[at].take() {
                    run.kill(*part);
                }
            }
            Step::Deliver | Step::Reach | Step::Commit | Step::Start(_) => {
                if let Some(run) = &mut runs[at] {
                    match step {
                        Step::Deliver => run.deliver(&server),
                        Step::Reach => run.reach(),
                        Step::Commit => run.commit(),
                        _ => {}
                    }
                }
            }
        }
    }
    let last = runs[at].take();
    let mut last = last.unwrap_or_else(|| Run::start(path, &server, &clock, Start::Resumed));
    last.deliver(&server);
    last.reach();
    last.recording.finish().expect("written");
    for run in runs.into_iter().flatten() {
        run.recording.finish().expect("written");
    }
    server
}
