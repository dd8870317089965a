//! The law of faults: a record shows nothing that was not there, and loses nothing but what it names as a hole.
//!
//! A small server writes a random history. Recorders record it, and are killed, cut, restarted and doubled. The server forgets
//! its history, and clocks are set. Then everything that the record says is compared with what the server wrote.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use jiff::Timestamp;
use proptest::prelude::*;

use super::played_faults::{
    Run, Server, Start, Step, WallClock, Write, all_files, options, place, play, step, words,
};
use super::{FOREVER, Folder, files};
use crate::object::ResourceVersion;
use crate::record::past::ClusterPast;
use crate::record::progress::{SharedProgress, lock};
use crate::record::recorded_history::RecordedHistory;
use crate::record::recording::Recording;
use crate::record::{
    ClusterFiles, ExportedEvent, RecordExport, RecordOptions, RecordedVersion, RetentionPolicy,
    Store, StoreFileReader,
};
use crate::source::{Event, Gap, GapCause, SourceKey, SourceState, Why};
use crate::watch::{Hole, Revision};

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
    let past = RecordedHistory::open(&store.cluster("c1")).expect("files");
    let past = past.expect("a record");
    let key = SourceKey::all("", "ConfigMap");
    let time = |revision: u64| {
        let at = Revision::parse(&ResourceVersion::new(revision.to_string()))?;
        let between = past.time_of(&key, at)?;
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
    let trouble = |run: &Run| lock(&run.progress).trouble.clone();
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

/// The end of a recorder while the disk is full: the last versions do not fit, but those of the last commit are there.
#[test]
fn a_commit_that_fails_leaves_a_whole_file() {
    let folder = Folder::new();
    let clock = WallClock::new();
    let mut server = Server::default();
    server.write(0, "a");
    let mut run = Run::start(folder.path(), &server, &clock, Start::Fresh);
    run.commit();
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..400 {
        let noise = std::iter::repeat_with(|| random.alphanumeric()).take(30);
        server.write(0, &noise.collect::<String>());
    }
    run.deliver(&server);
    run.recording.limit_pages(1);
    let error = run.recording.finish().expect_err("a full disk");
    assert!(error.to_string().contains("full"), "{error}");
    let mut file = StoreFileReader::open(&files(folder.path())[0].path).expect("a file");
    assert_eq!(file.check(), [""; 0]);
    assert_eq!(exported(folder.path()).0.len(), 1);
}

/// A file that cannot be deleted: the recorder records, and says what stays.
#[test]
fn an_old_file_that_stays_is_no_end_of_the_recording() {
    let folder = Folder::new();
    let clock = WallClock::new();
    let long_ago = clock.now().as_second() - 10_000;
    let store = Store::create(folder.path()).expect("a store");
    let files = store.cluster("c1");
    for recorder in ["a", "b", "c"] {
        write_old(&files, recorder, long_ago, |path| match recorder {
            // It is not deleted as a file.
            "b" => fs::create_dir(path),
            _ => fs::write(path, "old"),
        });
    }
    let progress = SharedProgress::default();
    let mut recording = Recording::begin(small(folder.path(), &clock), progress.clone());
    let recording = recording.as_mut().expect("a file");
    for _ in 0..2 {
        recording.save().expect("written");
        let progress = lock(&progress).clone();
        assert_eq!(progress.trouble, None);
        let undeleted = progress.undeleted.expect("a cause");
        assert!(undeleted.contains("-b.spy: "), "{undeleted}");
    }
    // The others are deleted, and what is left is the present one.
    assert_eq!(files.list().expect("files").len(), 2);
}

/// Writes a file of another recorder, which has it since this second.
fn write_old(
    files: &ClusterFiles,
    recorder: &str,
    second: i64,
    write: impl FnOnce(&Path) -> io::Result<()>,
) {
    let begun = Timestamp::from_second(second).expect("a time");
    let path = files.new_file(begun, recorder).expect("a path");
    write(&path).expect("written");
    let file = fs::File::open(&path).expect("a file");
    let written = UNIX_EPOCH + Duration::from_secs(second.unsigned_abs());
    file.set_modified(written).expect("a time");
}

/// A recorder of which only the present file is small enough.
fn small(path: &Path, clock: &WallClock) -> RecordOptions {
    RecordOptions {
        retention: RetentionPolicy {
            max_bytes: 1,
            ..FOREVER
        },
        ..options(path, clock)
    }
}

/// Another recorder has written to its file half a minute ago, by this machine's clock. The server's is far ahead.
#[test]
fn a_clock_of_a_server_that_is_ahead_deletes_no_file_in_use() {
    let folder = Folder::new();
    let clock = WallClock::new();
    let now = clock.now().as_second();
    let store = Store::create(folder.path()).expect("a store");
    let files = store.cluster("c1");
    for (recorder, age) in [("idle", 150), ("live", 30)] {
        write_old(&files, recorder, now - age, |path| fs::write(path, "old"));
    }
    let server = WallClock::new();
    server.step(600);
    let options = RecordOptions {
        clock: server.clock(),
        ..small(folder.path(), &clock)
    };
    let recording = Recording::begin(options, SharedProgress::default()).expect("a file");
    let left = files.list().expect("files").into_iter().map(|it| it.path);
    let mut others = left.filter(|path| path != recording.file().expect("a file"));
    let other = others.next().expect("the file in use");
    assert!(other.to_string_lossy().ends_with("-live.spy"), "{other:?}");
    assert_eq!(others.next(), None);
}
