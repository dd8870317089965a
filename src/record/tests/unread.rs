//! The law of files that cannot be read: the others are used, and of what a bad file has, nobody says that it did not happen.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::played_faults::{Run, Server, Start, Step, WallClock, place, step, words};
use super::times::{check_times, play_timely, revision};
use super::{Folder, files};
use crate::object::ResourceVersion;
use crate::record::Store;
use crate::record::recorded_history::RecordedHistory;
use crate::source::{Event, Gap, GapCause, SourceKey};
use crate::watch::{At, Hole, Page, Reader, Revision};

const DAY: i64 = 86_400;

fn key() -> SourceKey {
    SourceKey::all("", "ConfigMap")
}

fn history(path: &Path) -> Option<RecordedHistory> {
    let store = Store::open(path).expect("a store");
    RecordedHistory::open(&store.cluster("c1")).ok()?
}

/// What happens to a file.
#[derive(Clone, Debug)]
enum Damage {
    /// It is no database.
    Foreign,
    /// A later version has written it.
    Newer,
    /// From a place on, so many bytes are others.
    Bytes(f64, usize),
    /// It ends at a place.
    Cut(f64),
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = || 0.0..1.0_f64;
    prop_oneof![
        1 => Just(Damage::Foreign),
        1 => Just(Damage::Newer),
        3 => (place(), 1_usize..9000).prop_map(|(place, count)| Damage::Bytes(place, count)),
        1 => place().prop_map(Damage::Cut),
        1 => Just(Damage::Cut(0.0)),
    ]
}

fn damage_file(path: &Path, damage: &Damage) {
    let mut bytes = fs::read(path).expect("a file");
    match damage {
        Damage::Foreign => bytes = b"no database".to_vec(),
        Damage::Newer => {
            let db = rusqlite::Connection::open(path).expect("a database");
            return db.pragma_update(None, "user_version", 99).expect("set");
        }
        Damage::Bytes(part, count) => {
            let at = place(bytes.len(), *part);
            let part = bytes.iter_mut().skip(at).take(*count);
            part.for_each(|byte| *byte ^= 0x5a);
        }
        Damage::Cut(part) => bytes.truncate(place(bytes.len(), *part)),
    }
    fs::write(path, bytes).expect("written");
}

/// The revisions of all versions and deletions that a record tells of; `None` if it ends with an error.
fn told(record: &RecordedHistory, from: Revision) -> Option<BTreeSet<Revision>> {
    let mut events = record.events(&key(), &from.into()).ok()?;
    let mut told = BTreeSet::new();
    while let Some(lines) = events.next_lines(record) {
        for line in lines {
            let line = String::from_utf8_lossy(&line.ok()?).into_owned();
            let (_, rest) = line.split_once(r#""resourceVersion":""#)?;
            let (version, _) = rest.split_once('"')?;
            told.extend(Revision::parse(&ResourceVersion::new(version)));
        }
    }
    Some(told)
}

fn objects(record: &RecordedHistory, at: Revision) -> Option<BTreeSet<String>> {
    let page = record.complete_page(&key(), at, &Page::default())?.ok()?;
    let mut reader = Reader::new(&key());
    let items = page.items.iter();
    let items = items.map(|item| words(&reader.item(item).expect("an object")));
    Some(items.collect())
}

/// Compares a record, of which one file is bad, with what was written. `known` has the revisions that all files together have.
fn check(
    record: &RecordedHistory,
    server: &Server,
    known: &BTreeSet<Revision>,
) -> Result<(), TestCaseError> {
    let Some(begin) = record.begin_of(&key()) else {
        return Ok(());
    };
    let oldest = record.oldest(&key()).expect("a beginning");
    let told = told(record, oldest);
    // What is damaged inside is found only while it is read.
    let told = told.or_else(|| self::told(record, oldest));
    let all = 2..=server.revision();
    let states: Vec<_> = all.map(|at| (at, objects(record, revision(at)))).collect();
    let holes: Vec<Hole> = record.holes(&key());
    let (newest, _) = record.newest(&key()).expect("an end");
    for (at, state) in states {
        let is_shown = state.is_some();
        if let Some(state) = state {
            prop_assert_eq!(state, server.state(at), "at {}", at);
        }
        let at = revision(at);
        let hole = holes.iter().find(|hole| hole.after < at && at < hole.upto);
        let is_outside = at < oldest || at > newest;
        let is_known = known.contains(&at);
        if at < oldest && is_known {
            prop_assert!(begin.unread.is_some(), "{at} was recorded: {begin:?}");
        }
        if let Some(hole) = hole {
            prop_assert!(!is_shown);
            prop_assert!(
                !is_known
                    || hole
                        .cause
                        .as_deref()
                        .is_some_and(|it| it.contains("cannot be read")),
                "{at} was recorded: {hole:?}"
            );
        } else if let (Some(told), false) = (&told, is_outside || at == oldest) {
            let is_written = server.writes.iter().any(|it| revision(it.revision) == at);
            let is_end = holes.iter().any(|hole| hole.upto == at);
            prop_assert!(
                !is_written || is_end || told.contains(&at),
                "{at} is missing"
            );
        }
    }
    Ok(())
}

/// The revisions at which everything is recorded.
fn known(record: &RecordedHistory, server: &Server) -> BTreeSet<Revision> {
    let all = (2..=server.revision()).map(revision);
    all.filter(|at| objects(record, *at).is_some()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_bad_file_takes_away_nothing_else_and_nothing_in_silence(
        steps in prop::collection::vec(step(1..40_000), 1..60),
        chosen in any::<prop::sample::Index>(),
        damage in damage(),
    ) {
        let folder = Folder::new();
        let dated = play_timely(folder.path(), &steps);
        let whole = history(folder.path()).expect("a record");
        let known = known(&whole, &dated.server);
        drop(whole);
        let files = files(folder.path());
        damage_file(&files[chosen.index(files.len())].path, &damage);
        if let Some(record) = history(folder.path()) {
            check(&record, &dated.server, &known)?;
            check_times(&record, &dated)?;
        }
    }

    #[test]
    fn nobody_says_that_nobody_recorded_after_a_clock_was_set(
        steps in prop::collection::vec(step(-90_000..90_000), 1..60),
        chosen in any::<prop::sample::Index>(),
    ) {
        let folder = Folder::new();
        // One recorder at a time.
        let steps: Vec<Step> = steps.into_iter().filter(|step| !matches!(step, Step::Other)).collect();
        let dated = play_timely(folder.path(), &steps);
        let whole = history(folder.path()).expect("a record");
        let known = known(&whole, &dated.server);
        drop(whole);
        let files = files(folder.path());
        damage_file(&files[chosen.index(files.len())].path, &Damage::Foreign);
        if let Some(record) = history(folder.path()) {
            check(&record, &dated.server, &known)?;
        }
    }
}

/// A record of three days, each in a file. On the second one, a deletion and an object that existed only briefly.
fn three_days(folder: &Folder) -> Server {
    let clock = WallClock::new();
    let mut server = Server::default();
    for name in 0..3 {
        server.write(name, "a");
    }
    let mut run = Run::start(folder.path(), &server, &clock, Start::Fresh);
    for day in 0..3 {
        if day == 1 {
            server.delete(1);
            server.write(7, "short");
            server.delete(7);
        }
        server.write(2, &format!("day {day}"));
        run.deliver(&server);
        run.reach();
        run.commit();
        clock.step(DAY);
        run.reach();
        run.commit();
    }
    run.recording.finish().expect("written");
    server
}

#[test]
fn the_files_beside_a_bad_one_are_used() {
    for damage in [
        Damage::Foreign,
        Damage::Newer,
        Damage::Bytes(0.0, usize::MAX),
    ] {
        let folder = Folder::new();
        let server = three_days(&folder);
        let paths = files(folder.path());
        assert!(paths.len() > 3, "{}", paths.len());
        damage_file(&paths[1].path, &damage);
        let record = history(folder.path()).expect("a record");
        let holes = record.holes(&key());
        let [hole] = &holes[..] else {
            panic!("{damage:?}: {holes:?}");
        };
        let name = paths[1].path.file_name().expect("a name").to_string_lossy();
        let cause = hole.cause.as_deref().expect("a cause");
        assert!(
            cause.starts_with(&format!("{name} cannot be read: ")),
            "{cause}"
        );
        assert_eq!(record.begin_of(&key()).and_then(|begin| begin.unread), None);
        // The deletion lies between the two files, and the object that existed only briefly may be missing.
        let deleted = server
            .writes
            .iter()
            .find(|it| it.name == 1 && it.revision > 4);
        let deleted = revision(deleted.expect("a deletion").revision);
        assert!(hole.after < deleted && deleted <= hole.upto, "{hole:?}");
        let told = told(&record, record.oldest(&key()).expect("a beginning"));
        assert!(told.is_some_and(|told| told.contains(&revision(server.revision()))));
        assert_eq!(objects(&record, deleted), None);
        let middle = record.moment(&key(), files(folder.path())[1].begun().expect("a time"));
        let middle = middle.expect("readable").expect("a state");
        assert_eq!(middle.revision, hole.after);
    }
}

#[test]
fn what_is_before_and_after_the_other_files_is_not_said_to_be_unrecorded() {
    let folder = Folder::new();
    three_days(&folder);
    let paths = files(folder.path());
    for bad in [&paths[0], &paths[paths.len() - 1]] {
        damage_file(&bad.path, &Damage::Foreign);
    }
    let record = history(folder.path()).expect("a record");
    assert_eq!(record.holes(&key()), []);
    let begin = record.begin_of(&key()).expect("a beginning");
    assert!(begin.unread.is_some(), "{begin:?}");
    let (_, until) = record.newest(&key()).expect("an end");
    assert!(record.unread_since(until).is_some());
    assert_eq!(record.unread.len(), 2);
    let services = SourceKey::all("", "Service");
    let error = record.page(&services, &At::Latest, &Page::default());
    let error = error.expect_err("an error").to_string();
    assert!(error.contains("cannot be read"), "{error}");
}

#[test]
fn a_file_that_continues_a_bad_one_can_be_of_another_history() {
    let folder = Folder::new();
    let clock = WallClock::new();
    let mut server = Server::default();
    for data in ["a", "b", "c", "d", "e", "f"] {
        server.write(0, data);
    }
    let mut run = Run::start(folder.path(), &server, &clock, Start::Fresh);
    clock.step(DAY);
    run.commit();
    let mut restored = Server::default();
    restored.write(1, "other");
    run.take(&Event::Gap(Gap {
        after: ResourceVersion::new("7"),
        upto: ResourceVersion::new("2"),
        cause: GapCause::Restored,
    }));
    run.list(&restored);
    restored.write(1, "again");
    run.deliver(&restored);
    run.reach();
    run.commit();
    clock.step(DAY);
    run.reach();
    run.commit();
    restored.write(1, "later");
    run.deliver(&restored);
    run.reach();
    run.recording.finish().expect("written");
    let paths = files(folder.path());
    let [_, bad, _] = &paths[..] else {
        panic!("{paths:?}");
    };
    damage_file(&bad.path, &Damage::Foreign);
    let record = history(folder.path()).expect("a record");
    assert_eq!(objects(&record, revision(4)), Some(restored.state(4)));
    assert_eq!(record.oldest(&key()), Some(revision(3)));
}
