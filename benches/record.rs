//! The size of a version in the record, and how many a second are written. The versions are those of a Pod of a real control plane
//! (`benches/fixtures`), for many Pods of many controllers. For comparison, it writes the same versions to a plain table of SQLite.
//!
//! ```console
//! $ cargo bench --bench record
//! ```
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark fails by panicking, prints its results, and measures time"
)]

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use kubectl_spy::record::{RecordOptions, RecordedCluster, Recorder, RetentionPolicy, Store};
use kubectl_spy::source::{Event, SourceKey, Version, Why};
use kubectl_spy::watch::{Reader, WatchLine, WatchVerb};

/// The lines of a recorded watch of one Pod.
fn recorded() -> Vec<String> {
    let gzip: &[u8] = include_bytes!("fixtures/pod.ndjson.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(gzip)
        .read_to_string(&mut text)
        .unwrap();
    text.lines().map(str::to_owned).collect()
}

/// The text between two others.
fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    text.split_once(before)
        .unwrap()
        .1
        .split_once(after)
        .unwrap()
        .0
}

/// The versions of many Pods, in the order of a rolling update: the Pods of a controller at once.
fn versions(pods: usize) -> Vec<(WatchVerb, Version)> {
    let lines = recorded();
    let (name, uid) = (
        between(&lines[0], r#""name":""#, "\"").to_owned(),
        between(&lines[0], r#""uid":""#, "\"").to_owned(),
    );
    let mut random = fastrand::Rng::with_seed(7);
    let mut reader = Reader::new(&SourceKey::all("", "Pod"));
    let (mut all, mut revision) = (Vec::new(), 1000);
    for controller in 0..pods.div_ceil(20) {
        let pods: Vec<(String, String)> = (0..20)
            .map(|_| {
                let suffix: String = std::iter::repeat_with(|| random.lowercase())
                    .take(5)
                    .collect();
                let name = format!("app-{controller}-7d9f6c5b8-{suffix}");
                let uid = format!("{:08x}{}", random.u32(..), &uid[8..]);
                (name, uid)
            })
            .collect();
        for line in &lines {
            for (own, own_uid) in &pods {
                revision += random.u64(1..4);
                let version = between(line, r#""resourceVersion":""#, "\"");
                let seconds = format!(":{:02}Z", random.u8(..60));
                let text = line
                    .replace(&name, own)
                    .replace(&uid, own_uid)
                    .replace(
                        &format!(r#""resourceVersion":"{version}""#),
                        &format!(r#""resourceVersion":"{revision}""#),
                    )
                    .replacen(":00Z", &seconds, 1);
                if let Ok(WatchLine::Object { verb, item }) = reader.line(text.as_bytes()) {
                    all.push((verb, item.version));
                }
            }
        }
    }
    all
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
    let bytes = f64::from(u32::try_from(bytes).unwrap()) / count;
    let rate = count / took.as_secs_f64();
    println!("{name:20} {bytes:8.0} B a version {rate:10.0} versions/s");
}

fn record(versions: &[(WatchVerb, Version)]) {
    let path = folder("record");
    let recorder = Recorder::start(RecordOptions {
        store: Store::create(&path).unwrap(),
        cluster: RecordedCluster {
            id: "bench".to_owned(),
            name: "bench".to_owned(),
            server: "localhost".to_owned(),
        },
        retention: RetentionPolicy {
            keep: Duration::from_secs(1 << 30),
            max_bytes: 1 << 40,
        },
        resumed: std::collections::HashMap::new(),
        redactions: Vec::new(),
        clock: Arc::new(Timestamp::now),
    })
    .unwrap();
    let key = Arc::new(SourceKey::all("", "Pod"));
    let begun = Instant::now();
    for (verb, version) in versions {
        let why = match verb {
            WatchVerb::Added => Why::Added,
            WatchVerb::Modified => Why::Modified,
            WatchVerb::Deleted => Why::Deleted,
        };
        let event = Event::Object {
            why,
            past: false,
            seen: Timestamp::now(),
            now: Arc::new(version.clone()),
            prev: None,
        };
        recorder.record(&key, event);
    }
    recorder.finish().unwrap();
    report("record", versions.len(), size(&path), begun.elapsed());
    fs::remove_dir_all(&path).unwrap();
}

/// A row for each version, with the whole JSON.
fn plain(versions: &[(WatchVerb, Version)]) {
    let path = folder("plain");
    let begun = Instant::now();
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch("CREATE TABLE version (name TEXT, json TEXT); BEGIN")
        .unwrap();
    for (_, version) in versions {
        let values = (&*version.object.name, &*version.body.text());
        db.execute("INSERT INTO version VALUES (?, ?)", values)
            .unwrap();
    }
    db.execute_batch("COMMIT").unwrap();
    drop(db);
    report(
        "a row a version",
        versions.len(),
        size(&path),
        begun.elapsed(),
    );
    fs::remove_file(&path).unwrap();
}

fn main() {
    let is_bench = std::env::args().any(|arg| arg == "--bench");
    let versions = versions(if is_bench { 4000 } else { 40 });
    record(&versions);
    plain(&versions);
}
