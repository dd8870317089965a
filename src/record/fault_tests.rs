//! The law of faults: a record shows nothing that was not there, and loses nothing but what it names as a hole.
//!
//! A small server writes a random history. Recorders record it, and are killed, cut, restarted and doubled. The server forgets
//! its history, and clocks are set. Then everything that the record says is compared with what the server wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use proptest::prelude::*;

use super::past::ClusterPast;
use super::recording::{Pace, RecordOptions, Recording, SharedProgress};
use super::tests::{FOREVER, Folder, files};
use super::*;
use crate::object::{ObjectRef, ResourceVersion, Uid};
use crate::source::{Event, Gap, GapCause, SourceKey, SourceState, Version, Why};
use crate::watch::{Clock, Hole, Revision};

/// A write of the server.
#[derive(Clone, Debug)]
struct Write {
    revision: u64,
    name: u8,
    why: Why,
    version: Arc<Version>,
}

/// A server with `ConfigMap`s, and what it still remembers.
#[derive(Default)]
struct Server {
    writes: Vec<Write>,
    /// The last write of each object that exists.
    objects: BTreeMap<u8, Write>,
    /// The oldest revision from which a watch can start.
    oldest: u64,
}

impl Server {
    fn revision(&self) -> u64 {
        self.writes.last().map_or(1, |write| write.revision)
    }

    fn write(&mut self, name: u8, data: &str) {
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
    fn delete(&mut self, name: u8) {
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
    fn state(&self, at: u64) -> BTreeSet<String> {
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

fn version(name: u8, life: Uid, revision: u64, data: &str) -> Arc<Version> {
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
fn words(version: &Version) -> String {
    format!("{} {}", version.version, version.body.text())
}

/// The wall clock of the recorders, in seconds.
#[derive(Clone, Default)]
struct WallClock(Arc<AtomicI64>);

impl WallClock {
    fn new() -> WallClock {
        WallClock(Arc::new(AtomicI64::new(1_772_452_800)))
    }

    fn step(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::Relaxed);
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.load(Ordering::Relaxed)).expect("a time")
    }

    fn clock(&self) -> Clock {
        let own = self.clone();
        Arc::new(move || own.now())
    }
}

/// A recorder, and how far it has seen the server.
struct Run {
    recording: Recording,
    key: Arc<SourceKey>,
    clock: WallClock,
    seen: u64,
    progress: SharedProgress,
}

/// How a recorder starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    Resumed,
    Fresh,
}

impl Run {
    fn start(path: &Path, server: &Server, clock: &WallClock, start: Start) -> Run {
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
            store,
            cluster: RecordedCluster {
                id: "c1".to_owned(),
                name: "test".to_owned(),
                server: "localhost:6443".to_owned(),
            },
            retention: FOREVER,
            resumed: resumed.collect(),
            redactions: Vec::new(),
            clock: clock.clock(),
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

    fn take(&mut self, event: &Event) {
        self.recording.take(&self.key, event);
    }

    fn object(&mut self, why: Why, version: &Arc<Version>) {
        self.take(&Event::Object {
            why,
            past: false,
            seen: self.clock.now(),
            now: version.clone(),
            prev: None,
        });
    }

    fn synced(&mut self, count: usize, version: u64) {
        self.seen = version;
        self.take(&Event::Synced {
            epoch: 1,
            count,
            version: ResourceVersion::new(version.to_string()),
        });
    }

    fn list(&mut self, server: &Server) {
        for write in server.objects.values() {
            self.object(Why::Listed, &write.version);
        }
        self.synced(server.objects.len(), server.revision());
    }

    /// Names the gap after the last revision, and sends the difference.
    fn skip(&mut self, server: &Server, known: &[Arc<Version>]) {
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
    fn deliver(&mut self, server: &Server) {
        for write in &server.writes {
            if write.revision > self.seen {
                self.object(write.why, &write.version);
            }
        }
        self.seen = server.revision();
    }

    /// A bookmark: nothing else has happened.
    fn reach(&mut self) {
        let version = ResourceVersion::new(self.seen.to_string());
        self.recording.reach(&self.key, &version);
    }

    fn commit(&mut self) {
        self.recording.tend(Pace::Quiet);
    }

    /// Ends like a killed process. The last log keeps this part of its bytes.
    fn kill(self, part: f64) {
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
fn place(length: usize, part: f64) -> usize {
    (part * length as f64) as usize
}

fn all_files(path: &Path) -> Vec<PathBuf> {
    let folder = path.join("c1");
    let inside = fs::read_dir(folder).into_iter().flatten();
    inside
        .map(|entry| entry.expect("an entry").path())
        .collect()
}

/// What happens next.
#[derive(Clone, Debug)]
enum Step {
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

fn step(clock: std::ops::Range<i64>) -> impl Strategy<Value = Step> {
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
fn play(path: &Path, steps: &[Step]) -> Server {
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

fn number(revision: Revision) -> u64 {
    revision.to_string().parse().expect("a number")
}

/// What an export says: its versions, and its holes.
fn exported(path: &Path) -> (Vec<RecordedVersion>, Vec<Hole>) {
    let store = Store::open(path).expect("a store");
    let (mut versions, mut holes) = (Vec::new(), Vec::new());
    for event in RecordExport::open(&store.cluster("c1")).expect("files") {
        match event {
            ExportedEvent::Version(version) => versions.push(version),
            ExportedEvent::Hole(_, hole) => holes.push(hole),
            ExportedEvent::Damage(error) => panic!("{error}"),
        }
    }
    (versions, holes)
}

/// How often an export has a write. A recorder lists what another one, which began before it and resumes later, has as a change:
/// that counts once.
fn times(versions: &[RecordedVersion], write: &Write) -> usize {
    let found = versions.iter().filter(|it| {
        let is_gone = it.why.why == Why::Deleted;
        words(&it.version) == words(&write.version)
            && is_gone == (write.why == Why::Deleted)
            && it.why.why != Why::Vanished
    });
    let (listed, changes): (Vec<&RecordedVersion>, Vec<&RecordedVersion>) =
        found.partition(|it| it.why.why == Why::Listed);
    if changes.is_empty() {
        listed.len()
    } else {
        changes.len()
    }
}

/// Compares a record with what the server wrote.
fn check(path: &Path, server: &Server) -> Result<(), TestCaseError> {
    let (versions, holes) = exported(path);
    // Nothing that was not there.
    for recorded in &versions {
        let shown = words(&recorded.version);
        let mut writes = server.writes.iter();
        let is_there = writes.any(|write| words(&write.version) == shown);
        prop_assert!(is_there, "{:?} {shown}", recorded.why);
    }
    let store = Store::open(path).expect("a store");
    let mut past = ClusterPast::open(&store.cluster("c1")).expect("files");
    let key = SourceKey::all("", "ConfigMap");
    let covered = past.covered(&key).expect("coverage");
    let spans = covered.coverage.spans().to_vec();
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else {
        return Err(TestCaseError::fail("nothing is covered"));
    };
    prop_assert_eq!(number(last.upto), server.revision());
    let mut named: Vec<Hole> = holes.clone();
    named.sort_by_key(|hole| hole.after);
    prop_assert_eq!(
        covered.coverage.holes().collect::<Vec<_>>(),
        named,
        "{:?}",
        covered.coverage
    );
    for write in &server.writes {
        let at = write.revision;
        let count = times(&versions, write);
        let is_inside = spans
            .iter()
            .any(|it| number(it.from) < at && at <= number(it.upto));
        let is_in_hole = holes
            .iter()
            .any(|it| number(it.after) < at && at <= number(it.upto));
        let is_before = at <= number(first.from);
        // Nothing is lost but what is in a hole.
        prop_assert!(is_inside || is_in_hole || is_before, "{at}");
        if is_inside {
            prop_assert_eq!(count, 1, "{} times: {:?} in {:?}", count, write, spans);
        }
    }
    // The state at each end of a part, and inside it.
    for span in &spans {
        for at in number(span.from)..=number(span.upto) {
            let revision = Revision::parse(&ResourceVersion::new(at.to_string()));
            let rows = past
                .state(&covered, revision.expect("a number"))
                .expect("rows");
            let shown: BTreeSet<String> = rows
                .iter()
                .map(|row| words(&past.read(row).expect("a version").version))
                .collect();
            prop_assert_eq!(shown, server.state(at), "at {}", at);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn nothing_is_invented_and_nothing_is_lost_in_silence(
        steps in prop::collection::vec(step(1..4000), 1..60),
    ) {
        let folder = Folder::new();
        let server = play(folder.path(), &steps);
        check(folder.path(), &server)?;
    }

    #[test]
    fn a_clock_that_is_set_loses_nothing(
        steps in prop::collection::vec(step(-90_000..90_000), 1..60),
    ) {
        let folder = Folder::new();
        // One recorder at a time.
        let steps: Vec<Step> = steps.into_iter().filter(|step| !matches!(step, Step::Other)).collect();
        let server = play(folder.path(), &steps);
        check(folder.path(), &server)?;
    }

    #[test]
    fn damage_anywhere_shows_nothing_that_was_not_there(
        steps in prop::collection::vec(step(1..4000), 1..40),
        part in 0.0..1.0_f64,
        chosen in any::<prop::sample::Index>(),
        flip in 0_u8..=255,
    ) {
        let folder = Folder::new();
        let server = play(folder.path(), &steps);
        let paths = all_files(folder.path());
        let path = &paths[chosen.index(paths.len())];
        let mut bytes = fs::read(path).expect("a file");
        let at = place(bytes.len(), part);
        match flip {
            0 => bytes.truncate(at),
            flip => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= flip),
        }
        fs::write(path, bytes).expect("written");
        let store = Store::open(folder.path()).expect("a store");
        for event in RecordExport::open(&store.cluster("c1")).expect("files") {
            if let ExportedEvent::Version(recorded) = event {
                let shown = words(&recorded.version);
                let is_there = server.writes.iter().any(|it| words(&it.version) == shown);
                prop_assert!(is_there, "{shown}");
            }
        }
    }
}

/// A copy of the files, while the recorder goes on.
#[test]
fn a_copy_of_a_running_record_is_whole() {
    let (folder, copy) = (Folder::new(), Folder::new());
    let clock = WallClock::new();
    let mut server = Server::default();
    server.write(0, "a");
    let mut run = Run::start(folder.path(), &server, &clock, Start::Fresh);
    for number in 0..50 {
        server.write(number % 3, &format!("{number}"));
        run.deliver(&server);
        run.commit();
    }
    // This is not written yet, so it is not in the copy.
    server.write(1, "late");
    run.deliver(&server);
    Store::create(copy.path()).expect("a store");
    fs::create_dir(copy.path().join("c1")).expect("a directory");
    for file in all_files(folder.path()) {
        let name = file.file_name().expect("a name");
        // The index of the log is not part of a copy.
        if !name.to_string_lossy().ends_with("-shm") {
            fs::copy(&file, copy.path().join("c1").join(name)).expect("copied");
        }
    }
    let (versions, holes) = exported(copy.path());
    assert_eq!((versions.len(), holes.len()), (51, 0));
    for file in files(copy.path()) {
        let mut file = StoreFileReader::open(&file.path).expect("a file");
        assert_eq!(file.check(), [""; 0]);
    }
    run.recording.finish().expect("written");
    assert_eq!(exported(folder.path()).0.len(), 52);
}

/// The holes of an interruption of this length, and the time at which a version in it was written at the earliest and latest.
fn interrupted(seconds: i64) -> (usize, Vec<(i64, i64)>) {
    let folder = Folder::new();
    let clock = WallClock::new();
    let begun = clock.now().as_second();
    let mut server = Server::default();
    server.write(0, "a");
    let mut run = Run::start(folder.path(), &server, &clock, Start::Fresh);
    clock.step(10);
    run.commit();
    run.take(&Event::State(SourceState::Retrying {
        attempt: 1,
        cause: "connection refused".into(),
        until: clock.now(),
        is_throttled: false,
    }));
    clock.step(seconds);
    server.write(0, "b");
    server.write(0, "c");
    // The server remembers five minutes.
    if seconds > 300 {
        let known = [server.writes[0].version.clone()];
        run.skip(&server, &known);
    } else {
        run.deliver(&server);
    }
    run.take(&Event::State(SourceState::Live));
    clock.step(10);
    run.reach();
    run.recording.finish().expect("written");
    let (_, holes) = exported(folder.path());
    let store = Store::open(folder.path()).expect("a store");
    let past = StoreTransport::open(&store.cluster("c1")).expect("files");
    let past = past.expect("a record");
    let key = SourceKey::all("", "ConfigMap");
    let time = |revision: u64| {
        let at = Revision::parse(&ResourceVersion::new(revision.to_string()))?;
        let between = crate::watch::RecordedPast::time_of(&past, &key, at)?;
        let seconds = |time: Timestamp| time.as_second() - begun;
        Some((seconds(between.from), seconds(between.until?)))
    };
    (holes.len(), [3, 4].into_iter().filter_map(time).collect())
}

#[test]
fn a_short_outage_leaves_no_hole_and_a_long_one_is_named() {
    // What was written meanwhile has the time of the outage, not that of its arrival.
    assert_eq!(interrupted(60), (0, vec![(10, 70), (10, 70)]));
    assert_eq!(interrupted(1200), (1, vec![(10, 1210), (10, 1210)]));
}

#[test]
fn a_restored_server_begins_another_history() {
    let folder = Folder::new();
    let clock = WallClock::new();
    let mut server = Server::default();
    for data in ["a", "b", "c"] {
        server.write(0, data);
    }
    let mut run = Run::start(folder.path(), &server, &clock, Start::Fresh);
    clock.step(10);
    run.commit();
    let mut restored = Server::default();
    restored.write(0, "a");
    restored.write(1, "other");
    run.take(&Event::Gap(Gap {
        after: ResourceVersion::new("4"),
        upto: ResourceVersion::new("3"),
        cause: GapCause::Restored,
    }));
    clock.step(10);
    run.list(&restored);
    restored.write(1, "again");
    run.deliver(&restored);
    run.recording.finish().expect("written");
    // Both histories are there, with the end of the first one between them.
    let (versions, holes) = exported(folder.path());
    let revisions: Vec<&str> = versions
        .iter()
        .map(|it| it.version.version.as_str())
        .collect();
    assert_eq!(revisions, ["4", "2", "3", "4"]);
    let ends: Vec<_> = holes
        .iter()
        .map(|it| (number(it.after), number(it.upto)))
        .collect();
    assert_eq!(ends, [(4, 3)]);
    // Questions are about the newest history alone.
    let store = Store::open(folder.path()).expect("a store");
    let mut past = ClusterPast::open(&store.cluster("c1")).expect("files");
    let covered = past
        .covered(&SourceKey::all("", "ConfigMap"))
        .expect("coverage");
    for at in [3, 4] {
        let revision = Revision::parse(&ResourceVersion::new(at.to_string()));
        let rows = past
            .state(&covered, revision.expect("a number"))
            .expect("rows");
        let shown: BTreeSet<String> = rows
            .iter()
            .map(|row| words(&past.read(row).expect("a version").version))
            .collect();
        assert_eq!(shown, restored.state(at), "at {at}");
    }
}

#[test]
fn a_full_disk_is_a_hole_until_there_is_room() {
    let folder = Folder::new();
    let clock = WallClock::new();
    let mut server = Server::default();
    server.write(0, "a");
    let mut run = Run::start(folder.path(), &server, &clock, Start::Fresh);
    clock.step(10);
    run.commit();
    run.recording.limit_pages(24);
    let mut random = fastrand::Rng::with_seed(7);
    let trouble = |run: &Run| super::recording::lock(&run.progress).trouble.clone();
    while trouble(&run).is_none() {
        let noise = std::iter::repeat_with(|| random.alphanumeric()).take(5000);
        server.write(1, &noise.collect::<String>());
        run.deliver(&server);
        // Another try follows only after a while.
        run.commit();
        assert!(server.revision() < 500);
    }
    assert!(
        trouble(&run).is_some_and(|it| it.contains("full")),
        "{:?}",
        trouble(&run)
    );
    server.write(2, "meanwhile");
    run.deliver(&server);
    // There is room again.
    clock.step(10);
    run.commit();
    assert_eq!(trouble(&run), None);
    server.write(2, "after");
    run.deliver(&server);
    run.reach();
    run.recording.finish().expect("written");
    check(folder.path(), &server).expect("the law");
    assert_eq!(exported(folder.path()).1.len(), 1);
}
