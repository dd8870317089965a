//! Damage at every place of a file: what is shown was there, or it is an error.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use super::played_faults::{Run, Server, Start, WallClock, all_files};
use super::{FOREVER, Folder, config_map, files, object, recorder};
use crate::object::ResourceVersion;
use crate::record::recorded_history::RecordedHistory;
use crate::record::schema::{checksum, number};
use crate::record::{Store, StoreFileReader, block, last_states};
use crate::source::{Packing, Select, SourceKey, Why};
use crate::watch::{At, Page};

/// The size of a page of SQLite, in bytes.
const PAGE: usize = 4096;

/// How many objects the server has.
const OBJECTS: u8 = 6;

/// A record of one file, which is closed.
fn recorded() -> (Folder, Server) {
    let folder = Folder::new();
    let clock = WallClock::new();
    let mut server = Server::default();
    let mut run = Run::start(folder.path(), &server, &clock, Start::Fresh);
    for number in 0..90 {
        server.write(number % OBJECTS, &format!("{number}"));
        if number % 31 == 30 {
            server.delete(number % OBJECTS);
        }
        clock.step(1);
        run.deliver(&server);
        run.commit();
    }
    run.reach();
    run.recording.finish().expect("written");
    (folder, server)
}

/// What a store says of the objects of a kind, or of one of them. `None` is an error.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    /// The newest objects, in order.
    objects: Option<Vec<String>>,
    /// The lines of a watch from the beginning.
    history: Option<Vec<String>>,
}

fn told(folder: &Path, name: Option<u8>) -> Option<Told> {
    let store = Store::open(folder).expect("a store");
    let record = RecordedHistory::open(&store.cluster("c1")).ok()??;
    let all = SourceKey::all("", "ConfigMap");
    let key = match name {
        Some(name) => SourceKey {
            select: Select::Name(format!("flags-{name}").as_str().into()),
            ..all
        },
        None => all,
    };
    let objects = record.page(&key, &At::Latest, &Page::default());
    let objects = objects.ok().map(|page| {
        let mut texts: Vec<String> = page.items.iter().map(text).collect();
        texts.sort();
        texts
    });
    let begin = record.oldest(&key).map(ResourceVersion::from);
    let events = begin.and_then(|begin| record.events(&key, &begin).ok());
    let history = events.and_then(|mut events| {
        let mut history = Vec::new();
        while let Some(lines) = events.next_lines(&record) {
            for line in lines {
                history.push(text(&line.ok()?));
            }
        }
        Some(history)
    });
    Some(Told { objects, history })
}

fn text(bytes: &Bytes) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Damages a copy of the only file of a store at every so many bytes, and compares what it says with what the file says.
fn check(stride: usize, damage: impl Fn(&mut Vec<u8>, usize)) {
    let (folder, server) = recorded();
    let names = || (0..OBJECTS).map(Some).chain([None]);
    let expected: Vec<Told> = names()
        .filter_map(|name| told(folder.path(), name))
        .collect();
    for (name, told) in names().zip(&expected) {
        let there = server.objects.values();
        let there = there.filter(|write| name.is_none_or(|name| name == write.name));
        let mut there: Vec<String> = there
            .map(|write| write.version.body.text().to_string())
            .collect();
        there.sort();
        assert_eq!(told.objects, Some(there));
        assert!(told.history.as_ref().is_some_and(|lines| lines.len() > 10));
    }
    let [file] = &files(folder.path())[..] else {
        panic!("one file");
    };
    let bytes = fs::read(&file.path).expect("a file");
    let (mut silent, mut errors) = (Vec::new(), 0);
    for at in (0..bytes.len()).step_by(stride) {
        let mut damaged = bytes.clone();
        damage(&mut damaged, at);
        fs::write(&file.path, damaged).expect("written");
        for (name, expected) in names().zip(&expected) {
            let told = told(folder.path(), name);
            let (objects, history) = told.map_or((None, None), |told| (told.objects, told.history));
            for (told, expected) in [(objects, &expected.objects), (history, &expected.history)] {
                match told {
                    None => errors += 1,
                    told if told == *expected => {}
                    Some(told) => silent.push((at, name, told.len())),
                }
            }
        }
        for log in all_files(folder.path()) {
            if log != file.path {
                fs::remove_file(log).expect("removed");
            }
        }
    }
    assert!(errors > 0);
    assert_eq!(silent, [], "of {} bytes, {errors} errors", bytes.len());
}

/// Changes each byte of the page with a place.
fn damage_page(bytes: &mut [u8], at: usize, change: impl Fn(u8) -> u8) {
    let start = at / PAGE * PAGE;
    let end = bytes.len().min(start + PAGE);
    for byte in &mut bytes[start..end] {
        *byte = change(*byte);
    }
}

#[test]
fn a_page_of_zeros_is_an_error_or_nothing() {
    check(PAGE, |bytes, at| damage_page(bytes, at, |_| 0));
}

#[test]
fn a_page_whose_bits_are_flipped_is_an_error_or_nothing() {
    check(PAGE, |bytes, at| damage_page(bytes, at, |byte| !byte));
}

#[test]
fn a_file_that_is_cut_is_an_error() {
    check(61, Vec::truncate);
}

#[test]
fn a_byte_that_changed_is_an_error_or_nothing() {
    check(151, |bytes, at| bytes[at] ^= 0x15);
}

#[test]
fn a_bit_that_changed_is_an_error_or_nothing() {
    check(163, |bytes, at| bytes[at] ^= 1 << (at % 8));
}

#[test]
fn a_file_of_the_first_format_says_the_same() {
    let (folder, _) = recorded();
    let names = || (0..OBJECTS).map(Some).chain([None]);
    let before: Vec<Option<Told>> = names().map(|name| told(folder.path(), name)).collect();
    assert!(before.iter().all(Option::is_some));
    let path = &files(folder.path())[0].path;
    let db = rusqlite::Connection::open(path).expect("a database");
    db.execute_batch(
        "DROP INDEX object_hash;
        ALTER TABLE object DROP COLUMN hash;
        ALTER TABLE object DROP COLUMN last;
        ALTER TABLE object DROP COLUMN checksum;
        ALTER TABLE version DROP COLUMN place;
        ALTER TABLE version DROP COLUMN checksum;
        DROP TABLE row_count;
        DROP TABLE live;
        DELETE FROM setting WHERE name = 'checksum';
        PRAGMA user_version = 1;",
    )
    .expect("the first format");
    drop(db);
    let after: Vec<Option<Told>> = names().map(|name| told(folder.path(), name)).collect();
    assert_eq!(after, before);
    let mut file = StoreFileReader::open(path).expect("a file");
    assert_eq!(file.check(), [""; 0]);
    let key = SourceKey::all("", "ConfigMap");
    let states = last_states(
        &Store::open(folder.path()).expect("a store").cluster("c1"),
        &[key],
    );
    let states = states.expect("states");
    assert!(states.values().all(|state| !state.objects.is_empty()) && states.len() == 1);
}

/// Packs all texts of a file as the second format does.
fn pack_as_second_format(db: &rusqlite::Connection) -> rusqlite::Result<()> {
    let repack = |bytes: &[u8], length: usize, base: &str| {
        let text = Packing::of(length, base).unpack(bytes, length, base);
        let text = text.expect("a text");
        (Packing::Lz4.pack(&text, base), text)
    };
    let read = |sql: &str| -> rusqlite::Result<Vec<([i64; 3], Vec<u8>)>> {
        let mut rows = db.prepare(sql)?;
        let rows = rows.query_map([], |row| {
            Ok(([row.get(0)?, row.get(1)?, row.get(2)?], row.get(3)?))
        })?;
        rows.collect()
    };
    let mut texts: HashMap<i64, Arc<str>> = HashMap::from([(0, "".into())]);
    let bases = "SELECT id, coalesce(parent, 0), length, data FROM base ORDER BY id";
    for (numbers, data) in read(bases)? {
        let [id, parent, length] = numbers;
        let (data, text) = repack(
            &data,
            usize::try_from(length).expect("a length"),
            &texts[&parent],
        );
        let sum = checksum(&numbers, &data);
        let sql = "UPDATE base SET data = ?, checksum = ? WHERE id = ?";
        db.execute(sql, (data, sum, id))?;
        texts.insert(id, text);
    }
    for ([first, count, length], data) in read("SELECT first, versions, length, data FROM block")? {
        let length = usize::try_from(length).expect("a length");
        let mut entries = block::unpack(&data, length).expect("a block");
        for entry in &mut entries {
            entry.delta = repack(&entry.delta, entry.length, &texts[&entry.base])
                .0
                .into();
        }
        let packed = block::pack(&entries);
        let length = number(packed.length);
        let sum = checksum(&[first, count, length], &packed.data);
        let sql = "UPDATE block SET length = ?, data = ?, checksum = ? WHERE first = ?";
        db.execute(sql, (length, packed.data, sum, first))?;
    }
    unlist(db)?;
    db.pragma_update(None, "user_version", 2)
}

/// Takes away the list of the objects that exist, which the third format does not have.
fn unlist(db: &rusqlite::Connection) -> rusqlite::Result<()> {
    let counts = db.query_row(
        "SELECT sources, objects, versions, marks FROM row_count",
        [],
        |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]),
    )?;
    db.execute_batch(
        "DROP TABLE live; ALTER TABLE row_count DROP COLUMN live; PRAGMA user_version = 3",
    )?;
    let sum = checksum(&counts, &[]);
    db.execute("UPDATE row_count SET checksum = ?", [sum])
        .map(drop)
}

/// The last states of the source of a record.
fn last_objects(folder: &Path) -> Vec<String> {
    let key = SourceKey::all("", "ConfigMap");
    let files = Store::open(folder).expect("a store").cluster("c1");
    let states = last_states(&files, std::slice::from_ref(&key)).expect("states");
    let objects = states[&key].objects.iter();
    objects
        .map(|(version, seen)| format!("{seen} {}", version.body.text()))
        .collect()
}

#[test]
fn a_file_of_the_third_format_has_the_same_last_state() {
    let (folder, server) = recorded();
    let before = last_objects(folder.path());
    assert_eq!(before.len(), server.objects.len());
    let path = &files(folder.path())[0].path;
    let db = rusqlite::Connection::open(path).expect("a database");
    unlist(&db).expect("the third format");
    drop(db);
    assert_eq!(last_objects(folder.path()), before);
    let mut file = StoreFileReader::open(path).expect("a file");
    assert_eq!(file.check(), [""; 0]);
}

#[test]
fn a_wrong_list_of_objects_is_an_error() {
    for change in [
        "DELETE FROM live WHERE id = (SELECT min(id) FROM live)",
        "INSERT INTO live SELECT min(id) FROM object WHERE id NOT IN (SELECT id FROM live)",
        "UPDATE live SET id = (SELECT min(id) FROM object WHERE id NOT IN (SELECT id FROM live))
            WHERE id = (SELECT min(id) FROM live)",
        "UPDATE live SET id = 1000000 WHERE id = (SELECT min(id) FROM live)",
    ] {
        let (folder, _) = recorded();
        let path = &files(folder.path())[0].path;
        let db = rusqlite::Connection::open(path).expect("a database");
        assert_eq!(db.execute(change, []).expect("a change"), 1, "{change}");
        drop(db);
        let mut file = StoreFileReader::open(path).expect("a file");
        let source = file.sources()[0].clone();
        let error = file.last_state(&source).expect_err("an error").to_string();
        assert!(error.contains("the list of its objects"), "{error}");
        assert_eq!(file.check().len(), 1, "{change}");
    }
}

#[test]
fn a_file_of_the_second_format_says_the_same() {
    let folder = Folder::new();
    let key = Arc::new(SourceKey::all("", "ConfigMap"));
    let recorder = recorder(folder.path(), FOREVER);
    let long: String = (0..20_000)
        .flat_map(|line| ["line ".to_owned(), line.to_string()])
        .collect();
    for (version, data) in [&*long, "short", &long[9..], &*long]
        .into_iter()
        .enumerate()
    {
        let version = config_map(1, version as u64 + 3, data);
        recorder.record(&key, object(Why::Modified, version));
    }
    recorder.finish().expect("written");
    let path = &files(folder.path())[0].path;
    let everything = || {
        let mut file = StoreFileReader::open(path).expect("a file");
        assert_eq!(file.check(), [""; 0]);
        let all = file.everything().expect("all versions").into_iter();
        let texts = all.filter_map(|(_, event)| Some(event.ok()?.version.body.text()));
        texts.collect::<Vec<_>>()
    };
    let before = everything();
    assert_eq!(before.len(), 4);
    let db = rusqlite::Connection::open(path).expect("a database");
    pack_as_second_format(&db).expect("the second format");
    drop(db);
    assert_eq!(everything(), before);
}
