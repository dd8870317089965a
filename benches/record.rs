//! Figures of the record, in release: the size of a version and how many a second are written, beside a plain table of SQLite with
//! the same versions; how soon `changes` answers from many files; how soon a recorder resumes; and what it takes at rest. Times
//! depend on the load of the machine, so each has its ratio to a plain table of SQLite in the same run.
//!
//! The versions are those of a cluster of 10,000 Pods under rolling updates: 12 kinds, made from the watches of a real control plane
//! in `benches/fixtures` and from templates.
//!
//! ```console
//! $ cargo bench --bench record
//! $ cargo bench --bench record -- 20     a twentieth of the cluster
//! $ cargo bench --bench record -- keep   only makes the files, and prints where they are
//! $ cargo bench --bench record -- large  only makes 10 GiB, in some minutes, and prints where they are
//! $ cargo bench --bench record -- restart DIR
//! ```
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark fails by panicking, prints its results, and measures time"
)]

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use kubectl_spy::record::{
    RecordOptions, RecordedCluster, Recorder, ResumedSource, RetentionPolicy, Store,
    StoreTransport, last_states,
};
use kubectl_spy::sandbox::{Options, Sandbox, Writer};
use kubectl_spy::source::{Event, SourceKey, Version, Why};
use kubectl_spy::watch::{Reader, WatchLine, WatchVerb};
use serde_json::json;

/// A day in milliseconds.
const DAY: i64 = 24 * 3600 * 1000;
/// How many files the store of `changes` has.
const FILES: i64 = 60;
/// How many files of 512 MiB the large record has: 10 GiB.
const LARGE_FILES: u32 = 20;
/// When the record ends, in milliseconds since the epoch: 2026-11-21T17:31:10Z, after the last write of the fixtures.
const END: i64 = 1_795_282_270_000;

/// A time in milliseconds since the epoch.
fn at(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap()
}

/// The lines of a recorded watch.
fn lines(gzip: &[u8]) -> Vec<String> {
    let mut text = String::new();
    let mut reader = flate2::read::GzDecoder::new(gzip);
    reader.read_to_string(&mut text).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// The text between two others.
fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    let (_, rest) = text.split_once(before).unwrap();
    rest.split_once(after).unwrap().0
}

/// A watch of one object, of which others are made by new names.
struct Template {
    key: Arc<SourceKey>,
    reader: Reader,
    lines: Vec<String>,
    name: String,
    uid: String,
}

impl Template {
    fn new(group: &str, kind: &str, lines: Vec<String>) -> Template {
        let key = SourceKey::all(group, kind);
        Template {
            name: between(&lines[0], r#""name":""#, "\"").to_owned(),
            uid: between(&lines[0], r#""uid":""#, "\"").to_owned(),
            reader: Reader::new(&key),
            key: Arc::new(key),
            lines,
        }
    }

    /// A small object of a kind, and a change of it.
    fn small(kind: &str, bytes: usize) -> Template {
        let line = |verb: &str, value: &str| {
            let object = json!({"kind": kind, "apiVersion": "v1",
                "metadata": {"name": "object-of-a-template", "namespace": "default", "uid": "00000000-0000-4000-8000-000000000000",
                    "resourceVersion": "1", "creationTimestamp": "2026-11-21T17:30:00Z",
                    "managedFields": [{"manager": "kubectl", "operation": "Update", "apiVersion": "v1",
                        "time": "2026-11-21T17:30:00Z", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {}}}]},
                "data": {"mode": value, "text": "lorem ipsum dolor sit amet ".repeat(bytes / 27)}});
            json!({"type": verb, "object": object}).to_string()
        };
        let lines = ["a", "b", "c"].map(|value| line("MODIFIED", value));
        Template::new("", kind, lines.to_vec())
    }

    fn event() -> Template {
        let object = json!({"kind": "Event", "apiVersion": "v1",
            "metadata": {"name": "object-of-a-template", "namespace": "default", "uid": "00000000-0000-4000-8000-000000000000",
                "resourceVersion": "1", "creationTimestamp": "2026-11-21T17:30:00Z",
                "managedFields": [{"manager": "kubelet", "operation": "Update", "apiVersion": "v1",
                    "time": "2026-11-21T17:30:00Z", "fieldsType": "FieldsV1", "fieldsV1": {"f:count": {}, "f:firstTimestamp": {},
                        "f:involvedObject": {}, "f:lastTimestamp": {}, "f:message": {}, "f:reason": {}, "f:source": {"f:component": {},
                        "f:host": {}}, "f:type": {}}}]},
            "involvedObject": {"kind": "Pod", "namespace": "default", "name": "object-of-a-template",
                "uid": "00000000-0000-4000-8000-000000000000", "apiVersion": "v1", "fieldPath": "spec.containers{app}"},
            "reason": "Pulled", "message": "Container image \"registry.example.com/app:1.2.3\" already present on machine",
            "source": {"component": "kubelet", "host": "node-17"}, "firstTimestamp": "2026-11-21T17:30:00Z",
            "lastTimestamp": "2026-11-21T17:30:00Z", "count": 1, "type": "Normal",
            "reportingComponent": "kubelet", "reportingInstance": "node-17"});
        let line = json!({"type": "ADDED", "object": object}).to_string();
        Template::new("", "Event", vec![line])
    }

    /// One line of another object.
    fn version(&mut self, line: usize, own: &Named, next: &mut Numbers) -> NewVersion {
        let line = &self.lines[line % self.lines.len()];
        let number = between(line, r#""resourceVersion":""#, "\"");
        let text = line
            .replace(&self.name, &own.name)
            .replace(&self.uid, &own.uid)
            .replace(
                &format!(r#""resourceVersion":"{number}""#),
                &format!(r#""resourceVersion":"{}""#, next.revision()),
            )
            .replacen(":00Z", &format!(":{:02}Z", own.uid.as_bytes()[0] % 60), 1)
            .replace(
                r#""time":"2026-11-21T"#,
                &format!(r#""time":"{}T"#, next.date),
            );
        let Ok(WatchLine::Object { verb, item }) = self.reader.line(text.as_bytes()) else {
            panic!("{text}");
        };
        (self.key.clone(), verb, item.version)
    }
}

type NewVersion = (Arc<SourceKey>, WatchVerb, Version);

/// An object.
#[derive(Clone)]
struct Named {
    name: String,
    uid: String,
}

/// The numbers of the cluster.
struct Numbers {
    random: fastrand::Rng,
    revision: u64,
    /// The day on which the next versions are written.
    date: jiff::civil::Date,
}

impl Numbers {
    fn new() -> Numbers {
        let random = fastrand::Rng::with_seed(7);
        Numbers {
            random,
            revision: 1000,
            date: at(END).to_zoned(TimeZone::UTC).date(),
        }
    }

    fn revision(&mut self) -> u64 {
        self.revision += self.random.u64(1..4);
        self.revision
    }

    fn named(&mut self, name: String) -> Named {
        let (a, b) = (self.random.u32(..), self.random.u64(..1 << 48));
        let uid = format!("{a:08x}-6133-4972-bfbd-{b:012x}");
        Named { name, uid }
    }
}

/// A cluster whose Deployments are rolled out, one after the other.
struct RollingCluster {
    numbers: Numbers,
    templates: HashMap<&'static str, Template>,
    deployments: Vec<RolledDeployment>,
    pods: usize,
}

/// What a Deployment keeps from one rollout to the next.
struct RolledDeployment {
    name: String,
    /// The objects that every rollout writes, by their kinds.
    lasting: HashMap<&'static str, Named>,
    /// The Pods and Events of the last rollout, which end with the next one.
    passing: Vec<(&'static str, Named)>,
}

/// The kinds beside Pods, and how many versions of each a Deployment makes for 100 Pods.
const OTHERS: [(&str, usize); 11] = [
    ("Event", 330),
    ("EndpointSlice", 100),
    ("Deployment", 90),
    ("ReplicaSet", 110),
    ("Node", 40),
    ("ConfigMap", 6),
    ("Secret", 4),
    ("Service", 2),
    ("ServiceAccount", 1),
    ("StatefulSet", 8),
    ("PersistentVolumeClaim", 3),
];

impl RollingCluster {
    fn new(deployments: usize) -> RollingCluster {
        let fixture = |name: &str| match name {
            "Pod" => lines(include_bytes!("fixtures/pod.ndjson.gz")),
            "EndpointSlice" => lines(include_bytes!("fixtures/endpointslice.ndjson.gz")),
            _ => lines(include_bytes!("fixtures/deployment.ndjson.gz")),
        };
        let mut templates = HashMap::new();
        templates.insert("Pod", Template::new("", "Pod", fixture("Pod")));
        for (kind, _) in OTHERS {
            let template = match kind {
                "EndpointSlice" => Template::new("discovery.k8s.io", kind, fixture(kind)),
                "Deployment" => Template::new("apps", kind, fixture(kind)),
                "ReplicaSet" | "StatefulSet" => {
                    let renamed = r#""kind":"Deployment""#;
                    let own = format!(r#""kind":"{kind}""#);
                    let lines = fixture(kind)
                        .iter()
                        .map(|line| line.replace(renamed, &own))
                        .collect();
                    Template::new("apps", kind, lines)
                }
                "Event" => Template::event(),
                "Node" => Template::small(kind, 5000),
                _ => Template::small(kind, 700),
            };
            templates.insert(kind, template);
        }
        RollingCluster {
            numbers: Numbers::new(),
            templates,
            deployments: (0..deployments).map(RolledDeployment::new).collect(),
            pods: 100,
        }
    }

    /// The versions of the rolling update of a Deployment: new Pods, a new `ReplicaSet`, new Events, the ends of the Pods and Events
    /// before, and new versions of the objects that stay.
    fn rollout(&mut self, deployment: usize) -> Vec<NewVersion> {
        let own = &mut self.deployments[deployment];
        let numbers = &mut self.numbers;
        let known = own.lasting.keys().copied();
        let known: Vec<&str> = known.filter(|kind| *kind != "ReplicaSet").collect();
        let set = format!("{}-{:09x}", own.name, numbers.random.u64(..1 << 36));
        let pods: Vec<Named> = (0..self.pods)
            .map(|_| {
                let letters = std::iter::repeat_with(|| numbers.random.lowercase());
                let suffix: String = letters.take(5).collect();
                numbers.named(format!("{set}-{suffix}"))
            })
            .collect();
        let replica_set = numbers.named(set);
        own.lasting.insert("ReplicaSet", replica_set);
        let ended = std::mem::take(&mut own.passing);
        let mut all = Vec::new();
        let steps = self.templates["Pod"].lines.len() + 3;
        let mut made = [0_usize; OTHERS.len()];
        for step in 0..steps {
            for (nth, pod) in pods.iter().enumerate() {
                let template = self.templates.get_mut("Pod").unwrap();
                let line = step.min(template.lines.len() - 1);
                all.push(template.version(line, pod, &mut self.numbers));
                // The other kinds in proportion.
                let done = step * self.pods + nth + 1;
                for (made, (kind, count)) in made.iter_mut().zip(OTHERS) {
                    while *made < count * done / (steps * self.pods) {
                        *made += 1;
                        let named = if kind == "Event" {
                            let event = format!("{}.{:016x}", pod.name, self.numbers.revision);
                            let event = self.numbers.named(event);
                            own.passing.push((kind, event.clone()));
                            event
                        } else {
                            let name = own.name.clone();
                            let made = own.lasting.entry(kind);
                            made.or_insert_with(|| self.numbers.named(name)).clone()
                        };
                        let template = self.templates.get_mut(kind).unwrap();
                        let (key, verb, version) =
                            template.version(*made, &named, &mut self.numbers);
                        // The watch of a template begins with a creation, and comes again in each rollout.
                        let verb = if known.contains(&kind) {
                            WatchVerb::Modified
                        } else {
                            verb
                        };
                        all.push((key, verb, version));
                    }
                }
            }
        }
        own.passing.extend(pods.into_iter().map(|pod| ("Pod", pod)));
        for (kind, named) in ended {
            let template = self.templates.get_mut(kind).unwrap();
            let last = template.lines.len() - 1;
            let (key, _, version) = template.version(last, &named, &mut self.numbers);
            all.push((key, WatchVerb::Deleted, version));
        }
        all
    }
}

impl RolledDeployment {
    fn new(number: usize) -> RolledDeployment {
        let name = match number {
            0 => "web".to_owned(),
            number => format!("app-{number}"),
        };
        RolledDeployment {
            name,
            lasting: HashMap::new(),
            passing: Vec::new(),
        }
    }
}

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("spy-bench-{name}-{}", std::process::id()));
    let _gone = fs::remove_dir_all(&path);
    path
}

fn size(path: &Path) -> u64 {
    let about = fs::metadata(path).unwrap();
    if about.is_file() {
        return about.len();
    }
    let inside = fs::read_dir(path).unwrap();
    inside.map(|entry| size(&entry.unwrap().path())).sum()
}

fn report(name: &str, count: usize, bytes: u64, took: Duration) {
    let count = f64::from(u32::try_from(count).unwrap());
    let bytes = f64::from(u32::try_from(bytes >> 4).unwrap()) * 16.0 / count;
    let rate = count / took.as_secs_f64();
    println!("{name:28} {bytes:8.0} B a version {rate:10.0} versions/s");
}

/// The processor time of this process.
fn processor_time() -> Duration {
    ticks([11, 12])
}

/// The processor time of the processes that this one has waited for.
fn processor_time_of_children() -> Duration {
    ticks([13, 14])
}

/// The sum of two fields of `/proc/self/stat`, counted from the state of the process.
fn ticks(fields_of_time: [usize; 2]) -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit(") ")
        .next()
        .unwrap_or_default()
        .split(' ')
        .collect();
    let ticks = fields_of_time.map(|at| {
        let field = fields.get(at);
        field.and_then(|it| it.parse::<u64>().ok()).unwrap_or(0)
    });
    Duration::from_millis(ticks.iter().sum::<u64>() * 10)
}

/// The processor time to read so many Pods from a plain table of SQLite and to parse them, in rounds that take long enough
/// to be measured.
fn plain_read(pods: usize) -> Duration {
    let mut template = {
        let lines = lines(include_bytes!("fixtures/pod.ndjson.gz"));
        Template::new("", "Pod", lines)
    };
    let mut numbers = Numbers::new();
    let path = folder("plain-read");
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch("CREATE TABLE object (name TEXT, json TEXT); BEGIN")
        .unwrap();
    for number in 0..pods {
        let named = numbers.named(format!("app-{number}"));
        let (_, _, version) = template.version(4, &named, &mut numbers);
        let values = (&*named.name, &*version.body.text());
        db.execute("INSERT INTO object VALUES (?, ?)", values)
            .unwrap();
    }
    db.execute_batch("COMMIT").unwrap();
    let (rounds, begun) = (5, processor_time());
    for _ in 0..rounds {
        let mut rows = db.prepare("SELECT json FROM object").unwrap();
        let texts = rows.query_map([], |row| row.get::<_, String>(0)).unwrap();
        for text in texts {
            let version = template.reader.item(text.unwrap().as_bytes()).unwrap();
            assert!(version.doc().is_ok());
        }
    }
    let took = processor_time().saturating_sub(begun) / rounds;
    fs::remove_file(&path).unwrap();
    println!("a plain read of {pods} Pods      {took:.0?} of a core");
    took
}

fn ratio(took: Duration, plain: Duration) -> String {
    format!(
        "{:.1} plain reads",
        took.as_secs_f64() / plain.as_secs_f64()
    )
}

fn recorder(
    path: &Path,
    clock: &Arc<AtomicI64>,
    states: HashMap<SourceKey, ResumedSource>,
) -> Recorder {
    let clock = clock.clone();
    let clock = Arc::new(move || at(clock.load(Ordering::Relaxed)));
    Recorder::start(RecordOptions {
        store: Store::create(path).unwrap(),
        cluster: RecordedCluster {
            id: "bench".to_owned(),
            name: "bench".to_owned(),
            server: "localhost".to_owned(),
        },
        retention: RetentionPolicy {
            keep: Duration::from_secs(1 << 30),
            max_bytes: 1 << 40,
        },
        resumed: states,
        redactions: Vec::new(),
        clock: clock.clone(),
        local_clock: clock,
    })
    .unwrap()
}

fn feed(recorder: &Recorder, versions: &[NewVersion], seen: Timestamp) {
    for (key, verb, version) in versions {
        let why = match verb {
            WatchVerb::Added => Why::Added,
            WatchVerb::Modified => Why::Modified,
            WatchVerb::Deleted => Why::Deleted,
        };
        let now = Arc::new(version.clone());
        recorder.record(
            key,
            Event::Object {
                why,
                past: false,
                seen,
                now,
                prev: None,
            },
        );
    }
}

/// Waits until everything is in the file, or on its way there.
fn drain(recorder: &Recorder, versions: u64) {
    while recorder.progress().versions < versions {
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Writes the same versions with the recorder, and to a table with a row of whole JSON for each.
fn write(deployments: usize) {
    let (path, plain) = (folder("record"), folder("plain"));
    let clock = Arc::new(AtomicI64::new(END));
    let recorder = recorder(&path, &clock, HashMap::new());
    let db = rusqlite::Connection::open(&plain).unwrap();
    db.execute_batch("CREATE TABLE version (name TEXT, json TEXT)")
        .unwrap();
    let mut cluster = RollingCluster::new(deployments);
    let (mut count, mut raw, mut took, mut worked, mut plain_took) =
        (0, 0, Duration::ZERO, Duration::ZERO, Duration::ZERO);
    // Each Deployment is created, and then updated.
    for deployment in (0..deployments).chain(0..deployments) {
        let versions = cluster.rollout(deployment);
        raw += versions
            .iter()
            .map(|(_, _, version)| version.body.text().len() as u64)
            .sum::<u64>();
        count += versions.len();
        clock.fetch_add(60_000, Ordering::Relaxed);
        let (begun, worked_before) = (Instant::now(), processor_time());
        feed(&recorder, &versions, at(clock.load(Ordering::Relaxed)));
        drain(&recorder, count as u64);
        took += begun.elapsed();
        worked += processor_time().saturating_sub(worked_before);
        let begun = Instant::now();
        db.execute_batch("BEGIN").unwrap();
        for (_, _, version) in &versions {
            let values = (&*version.object.name, &*version.body.text());
            db.execute("INSERT INTO version VALUES (?, ?)", values)
                .unwrap();
        }
        db.execute_batch("COMMIT").unwrap();
        plain_took += begun.elapsed();
    }
    let begun = Instant::now();
    let progress = recorder.finish().unwrap();
    took += begun.elapsed();
    drop(db);
    println!(
        "{count} versions of {} kinds, {} objects left, {} B a version as JSON",
        OTHERS.len() + 1,
        progress.objects,
        raw / count as u64
    );
    report("record, wall", count, size(&path), took);
    report("record, a core", count, size(&path), worked);
    report("a row a version", count, size(&plain), plain_took);
    fs::remove_dir_all(&path).unwrap();
    fs::remove_file(&plain).unwrap();
}

/// Records a file a day, each with a snapshot of all objects. Returns the directory.
fn many_files(deployments: usize) -> PathBuf {
    let path = folder("days");
    let clock = Arc::new(AtomicI64::new(END - FILES * DAY));
    let recorder = recorder(&path, &clock, HashMap::new());
    let mut cluster = RollingCluster::new(deployments);
    let (mut versions, mut keys) = (0, Vec::new());
    for day in 0..FILES {
        let seen = at(END - (FILES - day) * DAY + 1000);
        clock.store(seen.as_millisecond(), Ordering::Relaxed);
        cluster.numbers.date = seen.to_zoned(TimeZone::UTC).date();
        // The Deployment `web` is rolled out every day, another one beside it.
        let rolled = if day == 0 {
            (0..deployments).collect()
        } else {
            vec![0, 1 + usize::try_from(day).unwrap() % (deployments - 1)]
        };
        for deployment in rolled {
            let new = cluster.rollout(deployment);
            versions += new.len() as u64;
            feed(&recorder, &new, seen);
            drain(&recorder, versions);
        }
        if day == 0 {
            let templates = cluster.templates.values();
            keys = templates.map(|template| template.key.clone()).collect();
        }
        for key in &keys {
            let version =
                kubectl_spy::object::ResourceVersion::new(cluster.numbers.revision.to_string());
            if day == 0 {
                recorder.record(
                    key,
                    Event::Synced {
                        epoch: 1,
                        count: 0,
                        version: version.clone(),
                    },
                );
            }
            recorder.reach(key, version);
        }
        drain(&recorder, versions);
        // The thread looks every second whether another file is due.
        let files = usize::try_from(day).unwrap() + 1;
        if day + 1 < FILES {
            clock.fetch_add(DAY - 2000, Ordering::Relaxed);
        }
        while day + 1 < FILES && recorder.progress().files <= files {
            // Something must wait to be written.
            let version = cluster.numbers.revision.to_string();
            recorder.reach(&keys[0], kubectl_spy::object::ResourceVersion::new(version));
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    recorder.finish().unwrap();
    path
}

/// Records updates of the cluster until a file is full, and gives it the copies that as many recorders would have written.
fn large_record(deployments: usize) -> PathBuf {
    let path = folder("large");
    let clock = Arc::new(AtomicI64::new(END));
    let recorder = recorder(&path, &clock, HashMap::new());
    let mut cluster = RollingCluster::new(deployments);
    let mut versions = 0;
    for deployment in (0..deployments).cycle() {
        let new = cluster.rollout(deployment);
        versions += new.len() as u64;
        feed(&recorder, &new, at(clock.fetch_add(100, Ordering::Relaxed)));
        drain(&recorder, versions);
        if recorder.progress().bytes >= 510 << 20 {
            break;
        }
    }
    for key in cluster.templates.values().map(|template| &template.key) {
        let version = cluster.numbers.revision.to_string();
        let version = kubectl_spy::object::ResourceVersion::new(version);
        let (epoch, count) = (1, 0);
        recorder.record(
            key,
            Event::Synced {
                epoch,
                count,
                version: version.clone(),
            },
        );
        recorder.reach(key, version);
    }
    recorder.finish().unwrap();
    let written = Store::open(&path).unwrap().cluster("bench").list().unwrap();
    let [file] = &written[..] else {
        panic!("{} files", written.len());
    };
    let name = file.path.file_name().unwrap().to_string_lossy();
    let (begun, _) = name.split_once('-').unwrap();
    for copy in 1..LARGE_FILES {
        let name = format!("{begun}-{copy:08x}.spy");
        fs::copy(&file.path, file.path.with_file_name(name)).unwrap();
    }
    println!("{versions} versions in each of {LARGE_FILES} files");
    path
}

/// The time to the first line of a command that reads the record, and to its end.
fn read(path: &Path, command: &[&str], plain: Duration) {
    let (begun, worked_before) = (Instant::now(), processor_time_of_children());
    let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-spy"))
        .args(command)
        .args(["-n", "default", "--once", "--from"])
        .arg(path)
        .env_clear()
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next().map(Result::unwrap);
    let to_first = begun.elapsed();
    let peak = peak_memory(&child);
    let rest = lines.count();
    let ended = child.wait().unwrap();
    let worked = processor_time_of_children().saturating_sub(worked_before);
    println!(
        "{}   first line {to_first:.0?}, all {} lines {:.0?}, {worked:.0?} of a core = {}, {peak} kB at the first line, {ended}: {}",
        command.join(" "),
        rest + 1,
        begun.elapsed(),
        ratio(worked, plain),
        first.unwrap_or_default(),
    );
}

/// The most memory that a process has had, in kB.
fn peak_memory(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or(0)
}

/// The time until a recorder has its last state, and a file of its own.
fn restart(path: &Path, plain: Duration) {
    let files = Store::open(path).unwrap().cluster("bench");
    let record = StoreTransport::open(&files).unwrap().unwrap();
    let keys = record.sources().to_vec();
    drop(record);
    let (begun, worked_before) = (Instant::now(), processor_time());
    let states = last_states(&files, &keys).unwrap();
    let objects: usize = states.values().map(|state| state.objects.len()).sum();
    let known = begun.elapsed();
    let worked = processor_time().saturating_sub(worked_before);
    let files = files.list().unwrap().len();
    let megabytes = size(path) >> 20;
    let clock = Arc::new(AtomicI64::new(END));
    let resumed = states
        .iter()
        .map(|(key, state)| (key.clone(), ResumedSource::of(state)));
    let recorder = recorder(path, &clock, resumed.collect());
    let mut count = 0;
    for (key, state) in &states {
        let key = Arc::new(key.clone());
        for (version, seen) in &state.objects {
            count += 1;
            let now = version.clone();
            recorder.record(
                &key,
                Event::Object {
                    why: Why::Listed,
                    past: false,
                    seen: *seen,
                    now,
                    prev: None,
                },
            );
        }
    }
    drain(&recorder, count);
    let took = begun.elapsed();
    recorder.finish().unwrap();
    println!(
        "restart over {files} files, {megabytes} MB   last state {known:.0?}, {worked:.0?} of a core = {}, snapshot {took:.0?}, {objects} objects",
        ratio(worked, plain),
    );
}

/// The memory of the program while it records this many Pods that do not change.
fn at_rest(pods: usize) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let _entered = runtime.enter();
    let sandbox = runtime
        .block_on(Sandbox::start(Options::new(Arc::new(Timestamp::now))))
        .unwrap();
    let line = &lines(include_bytes!("fixtures/pod.ndjson.gz"))[4];
    let object: serde_json::Value = serde_json::from_str(line).unwrap();
    let mut pod = object["object"].clone();
    for number in 0..pods {
        pod["metadata"] = json!({"name": format!("app-{}-{number}", number / 100), "namespace": "default",
            "labels": {"app": format!("app-{}", number / 100)}});
        sandbox.create(pod.clone(), &Writer::new("bench")).unwrap();
    }
    let (store, config) = (folder("rest"), folder("rest-kubeconfig"));
    fs::write(&config, sandbox.kubeconfig()).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-spy"))
        .args(["record", "pods", "-A", "--cache-dir=", "--store"])
        .arg(&store)
        .env_clear()
        .env("KUBECONFIG", &config)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(500));
    }
    println!(
        "record of {pods} Pods at rest    peak {} kB, {} B in files",
        peak_memory(&child),
        size(&store)
    );
    child.kill().unwrap();
    child.wait().unwrap();
    fs::remove_dir_all(&store).unwrap();
    fs::remove_file(&config).unwrap();
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let is_bench = arguments.iter().any(|arg| arg == "--bench");
    let part: usize = arguments
        .iter()
        .find_map(|arg| arg.parse().ok())
        .unwrap_or(1);
    if !is_bench {
        // `cargo test` runs it, too.
        return write(1);
    }
    if arguments.iter().any(|arg| arg == "keep") {
        let path = many_files((100 / part).max(2));
        return println!("{}", path.display());
    }
    if arguments.iter().any(|arg| arg == "large") {
        return println!("{}", large_record((100 / part).max(2)).display());
    }
    if let Some(at) = arguments.iter().position(|arg| arg == "restart") {
        return restart(Path::new(&arguments[at + 1]), plain_read(10_000));
    }
    write((100 / part).max(1));
    at_rest(10_000);
    let path = many_files((100 / part).max(2));
    println!("{FILES} files, {} MB", size(&path) >> 20);
    let plain = plain_read((10_000 / part).max(200));
    let month_ago = at(END - 30 * DAY).to_string();
    for command in [
        &["changes", "deploy/web", "--since", "3d"][..],
        &["changes", "deploy/web", "--since", "3d"],
        &["status", "pods", "--at", &month_ago],
    ] {
        read(&path, command, plain);
    }
    restart(&path, plain);
    fs::remove_dir_all(&path).unwrap();
}
