//! The laws of a record: what goes in comes out, and damage shows nothing that was not there.

mod damage;
mod faults;
pub(in crate::record) mod played_faults;
mod replayed;
mod secrets;
mod times;
mod unread;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use super::*;
use crate::object::{ObjectRef, ResourceVersion, Uid};
use crate::source::{Event, Gap, GapCause, SourceKey, SourceState, Version, Why};

/// A directory that is removed after the test.
pub(in crate::record) struct Folder(PathBuf);

impl Folder {
    pub(in crate::record) fn new() -> Folder {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("spy-record-{}-{number}", std::process::id());
        Folder(std::env::temp_dir().join(name))
    }

    pub(in crate::record) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _gone = fs::remove_dir_all(&self.0);
    }
}

pub(in crate::record) fn start() -> Timestamp {
    "2026-03-02T12:00:00Z".parse().expect("a time")
}

/// Starts a recorder whose clock is a second further at each look.
pub(in crate::record) fn recorder(path: &Path, retention: RetentionPolicy) -> Recorder {
    redacting_recorder(path, retention, &[])
}

/// The same, of which values at these paths are hidden.
pub(in crate::record) fn redacting_recorder(
    path: &Path,
    retention: RetentionPolicy,
    redactions: &[&str],
) -> Recorder {
    let seconds = AtomicU64::new(0);
    let clock = move || {
        let second = seconds.fetch_add(1, Ordering::Relaxed);
        let later = SignedDuration::from_secs(i64::try_from(second).expect("a small number"));
        start().checked_add(later).expect("a time")
    };
    let options = RecordOptions {
        store: Store::create(path).expect("a store"),
        cluster: RecordedCluster {
            id: "c1".to_owned(),
            name: "test".to_owned(),
            server: "localhost:6443".to_owned(),
        },
        retention,
        resumed: HashMap::new(),
        redactions: redactions
            .iter()
            .map(|text| text.parse().expect("a redaction"))
            .collect(),
        clock: Arc::new(clock),
        local_clock: Arc::new(start),
    };
    Recorder::start(options).expect("a recorder")
}

pub(in crate::record) const FOREVER: RetentionPolicy = RetentionPolicy {
    keep: Duration::from_secs(1 << 40),
    max_bytes: 1 << 40,
};

/// Waits for a future that reads files.
pub(in crate::record) fn block_on<T>(reading: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime").block_on(reading)
}

pub(in crate::record) fn files(path: &Path) -> Vec<StoreFile> {
    let store = Store::open(path).expect("a store");
    store.cluster("c1").list().expect("files")
}

pub(in crate::record) fn config_map(name: usize, version: u64, data: &str) -> Arc<Version> {
    let name = format!("flags-{name}");
    let uid = format!("f3b1c2d4-0000-4000-8000-0000000000{:02}", name.len());
    let text = format!(
        r#"{{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"name":"{name}","namespace":"shop","uid":"{uid}","resourceVersion":"{version}"}},"data":{{"a":{}}}}}"#,
        serde_json::Value::from(data)
    );
    Arc::new(Version {
        object: Arc::new(ObjectRef {
            api_version: "v1".into(),
            kind: "ConfigMap".into(),
            namespace: Some("shop".into()),
            name: name.into(),
            uid: Some(Uid::new(uid)),
        }),
        version: ResourceVersion::new(version.to_string()),
        body: text.into(),
    })
}

pub(in crate::record) fn object(why: Why, now: Arc<Version>) -> Event {
    Event::Object {
        why,
        past: false,
        seen: start(),
        now,
        prev: None,
    }
}

fn event() -> impl Strategy<Value = Event> {
    let whys = prop::sample::select(vec![
        Why::Listed,
        Why::Added,
        Why::Modified,
        Why::Deleted,
        Why::LeftSelector,
        Why::Vanished,
        Why::Skipped,
    ]);
    let data = "[ab]{0,600}|\\PC{0,60}";
    let version = (
        whys,
        any::<bool>(),
        0_i64..1 << 50,
        0_usize..4,
        1_u64..99,
        data,
    );
    let version = version.prop_map(|(why, past, seen, name, version, data)| Event::Object {
        why,
        past,
        seen: Timestamp::from_microsecond(seen).expect("a time"),
        now: config_map(name, version, &data),
        prev: None,
    });
    let mark = (0_u8..4, "[0-9]{1,3}", "[0-9]{1,3}").prop_map(|(kind, after, upto)| {
        let version = ResourceVersion::new;
        match kind {
            0 => Event::Synced {
                epoch: 1,
                count: 3,
                version: version(upto),
            },
            1 => Event::Gap(Gap {
                after: version(after),
                upto: version(upto),
                cause: GapCause::SlowSubscriber { dropped: 3 },
            }),
            2 => Event::State(SourceState::Forbidden {
                cause: after.into(),
            }),
            _ => Event::Undecodable {
                detail: after.into(),
            },
        }
    });
    prop_oneof![6 => version, 1 => mark]
}

/// An event in words: what a reader can see of it.
fn words(source: i64, recorded: &Result<RecordedVersion, Mark>) -> String {
    match recorded {
        Ok(it) => {
            let (RecordedWhy { why, past }, seen) = (it.why, it.seen);
            let version = &it.version;
            let (object, text) = (&version.object, version.body.text());
            format!(
                "{source} {why:?} {past} {seen} {object:?} {} {text}",
                version.version
            )
        }
        Err(mark) => format!("{source} {mark:?}"),
    }
}

fn expected(source: i64, event: &Event) -> String {
    let recorded = match event {
        Event::Object {
            why,
            past,
            seen,
            now,
            ..
        } => Ok(RecordedVersion {
            why: RecordedWhy {
                why: *why,
                past: *past,
            },
            seen: *seen,
            version: now.clone(),
        }),
        other => Err(Mark::of(other).expect("a mark")),
    };
    words(source, &recorded)
}

/// Records the events of two sources, and returns them as a reader must see them.
pub(in crate::record) fn record(path: &Path, history: &[(bool, Event)]) -> Vec<String> {
    let sources = ["ConfigMap", "ConfigMap"].map(|kind| SourceKey::all("", kind));
    let [all, mut one] = sources;
    one.select = crate::source::Select::labelled("app=web");
    let [all, one] = [all, one].map(Arc::new);
    let recorder = recorder(path, FOREVER);
    let mut rows: Vec<bool> = Vec::new();
    let (mut words, mut states) = (Vec::new(), HashMap::new());
    for (is_first, event) in history {
        let row = rows.iter().position(|known| known == is_first);
        let row = row.unwrap_or_else(|| {
            rows.push(*is_first);
            rows.len() - 1
        });
        let text = expected(i64::try_from(row).expect("a number") + 1, event);
        let is_state = matches!(event, Event::State(_));
        let is_known = is_state && states.insert(row, text.clone()).as_ref() == Some(&text);
        words.extend((!is_known).then_some(text));
        recorder.record(if *is_first { &all } else { &one }, event.clone());
    }
    recorder.finish().expect("written");
    words
}

#[test]
fn an_outage_is_recorded_once_for_each_cause() {
    let failed = |cause: &str| {
        let cause = cause.into();
        (true, Event::State(SourceState::Forbidden { cause }))
    };
    let folder = Folder::new();
    let attempts = ["no", "no", "no", "another", "another", "no"].map(failed);
    let recorded = record(folder.path(), &attempts);
    assert_eq!(recorded.len(), 3);
    assert_eq!(read(folder.path()), recorded);
}

/// The versions of an export.
fn exported(path: &Path) -> Vec<String> {
    let store = Store::open(path).expect("a store");
    let events = RecordExport::open(&store.cluster("c1")).expect("files");
    let versions = events.filter_map(|event| match event {
        ExportedEvent::Version(recorded) => Some(words(0, &Ok(recorded))),
        ExportedEvent::Hole(..) => None,
        ExportedEvent::Damage(error) => panic!("{error}"),
    });
    versions.collect()
}

fn read(path: &Path) -> Vec<String> {
    let [file] = &files(path)[..] else {
        panic!("one file");
    };
    let mut file = StoreFileReader::open(&file.path).expect("a file");
    assert_eq!(file.check(), [""; 0]);
    let all = file.everything().expect("events");
    all.iter().map(|(source, it)| words(*source, it)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_history_is_read_as_it_was_recorded(history in prop::collection::vec((any::<bool>(), event()), 0..40)) {
        let folder = Folder::new();
        let recorded = record(&folder.0, &history);
        prop_assert_eq!(read(&folder.0), recorded);
    }

    #[test]
    fn any_history_is_exported_as_it_was_recorded(history in prop::collection::vec((any::<bool>(), event()), 0..40)) {
        let folder = Folder::new();
        record(&folder.0, &history);
        let versions = history.iter().filter(|(_, event)| matches!(event, Event::Object { .. }));
        let recorded: Vec<String> = versions.map(|(_, event)| expected(0, event)).collect();
        prop_assert_eq!(exported(&folder.0), recorded);
    }

    #[test]
    fn damage_shows_nothing_that_was_not_there(
        history in prop::collection::vec((any::<bool>(), event()), 1..20),
        place in 0.0..1.0_f64,
        flip in 0_u8..=255,
    ) {
        let folder = Folder::new();
        let recorded = record(&folder.0, &history);
        let file = files(&folder.0)[0].path.clone();
        let mut bytes = fs::read(&file).expect("a file");
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in a small file")]
        let place = (place * bytes.len() as f64) as usize;
        match flip {
            0 => bytes.truncate(place),
            flip => bytes[place] ^= flip,
        }
        fs::write(&file, bytes).expect("written");
        let Ok(mut file) = StoreFileReader::open(&file) else {
            return Ok(());
        };
        let Ok(rows) = file.everything() else {
            return Ok(());
        };
        // Nothing else, and in the same order.
        let mut left = recorded.iter();
        for (source, it) in &rows {
            let shown = words(*source, it);
            prop_assert!(left.any(|it| *it == shown), "{}", shown);
        }
    }
}

#[test]
fn a_recorder_resumes_from_the_last_state() {
    let folder = Folder::new();
    let key = Arc::new(SourceKey::all("", "ConfigMap"));
    let recorder = recorder(&folder.0, FOREVER);
    recorder.record(&key, object(Why::Listed, config_map(1, 3, "a")));
    recorder.record(&key, object(Why::Listed, config_map(22, 4, "a")));
    recorder.record(
        &key,
        Event::Synced {
            epoch: 1,
            count: 2,
            version: ResourceVersion::new("7"),
        },
    );
    recorder.record(&key, object(Why::Modified, config_map(1, 8, "b")));
    recorder.record(&key, object(Why::Deleted, config_map(22, 9, "a")));
    recorder.reach(&key, ResourceVersion::new("12"));
    let progress = recorder.finish().expect("written");
    assert_eq!((progress.objects, progress.versions), (1, 4));
    let store = Store::open(&folder.0).expect("a store");
    let keys = [(*key).clone(), SourceKey::all("", "Pod")];
    let mut known = last_states(&store.cluster("c1"), &keys).expect("states");
    let known = known.remove(&keys[0]).filter(|_| known.is_empty());
    let known = known.expect("one state");
    assert_eq!(known.version.as_str(), "12");
    let [(only, _)] = &known.objects[..] else {
        panic!("one object");
    };
    assert_eq!(
        (&*only.object.name, only.version.as_str()),
        ("flags-1", "8")
    );
}

#[test]
fn each_file_begins_with_all_objects() {
    let folder = Folder::new();
    let key = Arc::new(SourceKey::all("", "ConfigMap"));
    let small = RetentionPolicy {
        max_bytes: 3 << 20,
        ..FOREVER
    };
    let recorder = recorder(&folder.0, small);
    recorder.record(&key, object(Why::Listed, config_map(1, 3, "steady")));
    recorder.record(
        &key,
        Event::Synced {
            epoch: 1,
            count: 1,
            version: ResourceVersion::new("3"),
        },
    );
    let mut random = fastrand::Rng::with_seed(7);
    for version in 4..3000 {
        let noise: String = std::iter::repeat_with(|| random.alphanumeric())
            .take(3000)
            .collect();
        recorder.record(&key, object(Why::Modified, config_map(22, version, &noise)));
    }
    recorder.finish().expect("written");
    let files = files(&folder.0);
    assert!(files.len() > 2, "{}", files.len());
    let mut coverage = CoveredRevisions::default();
    for file in &files {
        let mut file = StoreFileReader::open(&file.path).expect("a file");
        assert_eq!(file.check(), [""; 0]);
        let source = file.sources()[0].clone();
        coverage.join(&file.coverage(&source).expect("coverage"));
        let events = file.everything().expect("events");
        let names = events.iter().filter_map(|(_, it)| it.as_ref().ok());
        assert!(
            names
                .take(2)
                .any(|it| &*it.version.object.name == "flags-1")
        );
    }
    let [span] = coverage.spans() else {
        panic!("{coverage:?}");
    };
    assert_eq!(
        (span.from.to_string(), span.upto.to_string()),
        ("3".into(), "2999".into())
    );
    // Each version once, although each file begins with them.
    assert_eq!(exported(&folder.0).len(), 2997);
}

#[test]
fn a_version_of_a_large_object_takes_as_much_as_its_change() {
    let folder = Folder::new();
    let mut random = fastrand::Rng::with_seed(7);
    let lines = std::iter::repeat_with(|| random.u128(..).to_string());
    let mut lines: Vec<String> = lines.take(20_000).collect();
    let changes = (0..30).map(|version: u64| {
        lines[usize::try_from(version).expect("a place") * 600] = format!("changed in {version}");
        let version = config_map(1, version + 3, &lines.join("\n"));
        (true, object(Why::Modified, version))
    });
    record(&folder.0, &changes.collect::<Vec<_>>());
    let (file, whole) = (&files(&folder.0)[0], lines.join("\n").len() as u64);
    assert!(file.bytes < whole, "{} for 30 times {whole}", file.bytes);
    let mut file = StoreFileReader::open(&file.path).expect("a file");
    assert_eq!(file.check(), [""; 0]);
}

#[test]
fn the_index_is_plain_columns() {
    let folder = Folder::new();
    record(
        &folder.0,
        &[(true, object(Why::Deleted, config_map(1, 3, "a")))],
    );
    let db = rusqlite::Connection::open(&files(&folder.0)[0].path).expect("a database");
    let sql = "SELECT time, cluster, kind, namespace, name, managers, revision, why FROM versions";
    let row = db.query_row(sql, [], |row| {
        let text = |at| row.get::<_, Option<String>>(at);
        Ok((
            text(0)?,
            text(1)?,
            text(4)?,
            row.get::<_, i64>(6)?,
            text(7)?,
        ))
    });
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        row.expect("a row"),
        (
            text("2026-03-02T12:00:00.000Z"),
            text("test"),
            text("flags-1"),
            3,
            text("Deleted")
        )
    );
}

#[test]
fn a_newer_file_names_the_version_that_reads_it() {
    let folder = Folder::new();
    record(&folder.0, &[]);
    let path = files(&folder.0)[0].path.clone();
    let db = rusqlite::Connection::open(&path).expect("a database");
    db.pragma_update(None, "user_version", 99).expect("set");
    db.execute(
        "UPDATE setting SET value = '7.1.0' WHERE name = 'needs'",
        [],
    )
    .expect("set");
    drop(db);
    let error = StoreFileReader::open(&path).err().expect("an error");
    assert!(matches!(&error, StoreError::Newer { needs, found: 99, .. } if needs == "7.1.0"));
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_a_store() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    record(&folder.0, &[]);
    let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    assert_eq!(mode(&folder.0), 0o700);
    assert_eq!(mode(&folder.0.join("key")), 0o600);
    assert_eq!(mode(&files(&folder.0)[0].path), 0o600);
}
