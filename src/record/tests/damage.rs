//! Damage at every place of a file: what is shown was there, or it is an error.

use std::fs;
use std::path::Path;

use bytes::Bytes;

use super::played_faults::{Run, Server, Start, WallClock, all_files};
use super::{Folder, files};
use crate::object::ResourceVersion;
use crate::record::recorded_history::RecordedHistory;
use crate::record::{Store, StoreFileReader, last_states};
use crate::source::{Select, SourceKey};
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
        while let Some(lines) = events.lines(&record, 100) {
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
