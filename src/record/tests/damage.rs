//! Damage at every place of a file: what is shown was there, or it is an error.

use std::fs;
use std::path::Path;

use super::played_faults::{Run, Server, Start, WallClock, all_files};
use super::{Folder, files};
use crate::record::Store;
use crate::record::recorded_history::RecordedHistory;
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

/// The newest objects of a source in a store, in order; `None` if that is an error.
fn listed(folder: &Path, name: Option<u8>) -> Option<Vec<String>> {
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
    let page = record.page(&key, &At::Latest, &Page::default()).ok()?;
    let texts = page.items.iter();
    let mut texts: Vec<String> = texts
        .map(|item| String::from_utf8_lossy(item).into_owned())
        .collect();
    texts.sort();
    Some(texts)
}

/// What the server has, as [`listed`] returns it.
fn expected(server: &Server, name: Option<u8>) -> Vec<String> {
    let there = server.objects.values();
    let there = there.filter(|write| name.is_none_or(|name| name == write.name));
    let mut texts: Vec<String> = there
        .map(|write| write.version.body.text().to_string())
        .collect();
    texts.sort();
    texts
}

/// Damages a copy of the only file of a store at every so many bytes, and compares what the copy lists with what the server had.
fn check(stride: usize, damage: impl Fn(&mut Vec<u8>, usize)) {
    let (folder, server) = recorded();
    let [file] = &files(folder.path())[..] else {
        panic!("one file");
    };
    let bytes = fs::read(&file.path).expect("a file");
    let (mut silent, mut errors) = (Vec::new(), 0);
    for at in (0..bytes.len()).step_by(stride) {
        let mut damaged = bytes.clone();
        damage(&mut damaged, at);
        fs::write(&file.path, damaged).expect("written");
        for name in (0..OBJECTS).map(Some).chain([None]) {
            match listed(folder.path(), name) {
                None => errors += 1,
                Some(texts) if texts == expected(&server, name) => {}
                Some(texts) => silent.push((at, name, texts.len())),
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
