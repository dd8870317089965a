//! The parts without IO: lines, the store, and the lock of a source.

use super::*;
use crate::object::ResourceVersion;
use crate::source::{Form, Packer, Version};
use crate::watch::envelope::{Reader, WatchLine, WatchVerb};
use crate::watch::queue::Queue;
use crate::watch::source::SharedSource;
use crate::watch::store::{Continuity, FullListing, ObjectStore};
use crate::watch::transport::{ListPage, Upstream};

fn read(line: &str) -> Result<(WatchVerb, Version, bool), String> {
    match Reader::new(&pods()).line(line.as_bytes()) {
        Ok(WatchLine::Object { verb, item }) => Ok((verb, item.version, item.deleting)),
        Ok(other) => Err(format!("{other:?}")),
        Err(detail) => Err(detail.to_string()),
    }
}

#[test]
fn a_line_is_read_in_every_spelling() {
    let body = r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7"},"x":[{"object":1},"}"]}"#;
    for line in [
        format!(r#"{{"type":"ADDED","object":{body}}}"#),
        format!(r#"{{"object":{body},"type":"ADDED"}}"#),
        format!("{{ \"type\" : \"ADDED\" , \"object\" : {body} }}\r"),
        format!(r#"{{"type":"ADDED","object":{body},"more":{{}}}}"#),
        format!(r#"{{"type":"ADDED","object": {body} }}"#),
        format!(r#"{{"type":"\u0041DDED","object":{body}}}"#),
    ] {
        let (verb, version, deleting) = read(&line).expect(&line);
        assert_eq!(verb, WatchVerb::Added);
        assert!(!deleting);
        assert_eq!(*version.body.text(), *body, "{line}");
        assert_eq!(version.version.as_str(), "7");
        assert_eq!(
            version.object,
            crate::object::ObjectRef::of(version.doc().expect("valid").root()).into()
        );
    }
}

#[test]
fn a_watched_object_is_parsed_once_and_kept_as_text() {
    let line = |n: u32| {
        format!(
            r#"{{"type":"MODIFIED","object":{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"a","uid":"u","resourceVersion":"{n}"}}}}}}"#
        )
    };
    let (mut store, mut reader) = (ObjectStore::default(), Reader::new(&pods()));
    for n in [7, 8] {
        let Ok(WatchLine::Object { verb, item }) = reader.line(line(n).as_bytes()) else {
            panic!("an object");
        };
        let text = item.version.body.text();
        let changes = store.put(verb, Arc::new(item.version), Timestamp::UNIX_EPOCH);
        let [change] = &changes[..] else {
            panic!("one change");
        };
        assert!(
            change
                .now
                .body
                .read()
                .is_some_and(|doc| *doc.text() == *text)
        );
        let kept = store.iter().next().expect("kept");
        assert!(kept.version.body.read().is_none() && *kept.version.body.text() == *text);
    }
}

#[test]
fn a_change_after_a_long_listing_shares_the_packed_text_of_the_store() {
    let mut store = ObjectStore::default();
    let long = FullListing {
        version: ResourceVersion::new("1"),
        continuity: Continuity::Continued,
        objects: Vec::new(),
        packer: Some(Packer::new()),
    };
    store.swap(long, Timestamp::UNIX_EPOCH);
    let line = format!(
        r#"{{"type":"ADDED","object":{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"a","uid":"u","resourceVersion":"7"}},"x":"{}"}}}}"#,
        "x".repeat(1000)
    );
    let (verb, version, _) = read(&line).expect("valid");
    let changes = store.put(verb, Arc::new(version), Timestamp::UNIX_EPOCH);
    let now = &changes[0].now;
    assert!(now.body.read().is_some(), "subscribers need not parse it");
    assert!(now.without_tape().body.is_packed(), "nobody packs it again");
    assert!(store.iter().all(|held| held.version.body.is_packed()));
}

#[test]
fn escapes_in_names_are_read() {
    let line = r#"{"type":"DELETED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"\u0061\"b","uid":"u","namespace":null,"deletionTimestamp":"2026-01-01T00:00:00Z"}}}"#;
    let (verb, version, deleting) = read(line).expect("valid");
    assert_eq!(
        (verb, &*version.object.name, deleting),
        (WatchVerb::Deleted, "a\"b", true)
    );
    assert_eq!(version.object.namespace, None);
    assert_eq!(version.version.as_str(), "");
}

#[test]
fn an_invalid_line_is_explained() {
    for (line, error) in [
        ("", "it ends too early (line 1, column 0)"),
        (
            "{}",
            "a field is missing or of the wrong type (line 1, column 2)",
        ),
        (
            r#"{"type":"ADDED"}"#,
            "a field is missing or of the wrong type (line 1, column 16)",
        ),
        (
            r#"{"type":"ADDED","object":{}}"#,
            "an object without metadata.name",
        ),
        (
            r#"{"type":"ADDED","object":{"metadata":{"name":"a"}}"#,
            "it ends too early (line 1, column 50)",
        ),
        (
            r#"{"type":"ADDED","object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"metadata":{"name":"b"}}}"#,
            "a field is missing or of the wrong type (line 1, column 66)",
        ),
        (
            r#"{"type":"ADDED","object":{"metadata":{"name":"a"}}} x"#,
            "not JSON (line 1, column 53)",
        ),
        (
            r#"{"type":"WOT","object":{"metadata":{"name":"a"}}}"#,
            "a watch event of an unknown type",
        ),
        (
            r#"{"type":"BOOKMARK","object":{"metadata":{}}}"#,
            "a bookmark without a resourceVersion",
        ),
        (
            r#"{"type":"ADDED","object":{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a"}}}"#,
            "an object of another type than v1 Pod",
        ),
        (
            r#"{"type":"ADDED","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a"}}}"#,
            "an object of another type than v1 Pod",
        ),
        (
            r#"{"type":"ADDED","object":5}"#,
            "a field is missing or of the wrong type (line 1, column 1)",
        ),
    ] {
        assert_eq!(read(line).expect_err(line), error, "{line}");
    }
    let broken = Reader::new(&pods())
        .line(b"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"\xff\"}}}");
    assert!(broken.expect_err("not UTF-8").contains("utf-8"));
}

#[test]
fn types_that_a_listing_omits_are_added() {
    let mut reader = Reader::new(&pods());
    for (item, body) in [
        (
            r#" {"metadata":{"name":"a"}}"#,
            r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}"#,
        ),
        (
            r#"{ "apiVersion":"v1","metadata":{"name":"a"}}"#,
            r#"{"kind":"Pod", "apiVersion":"v1","metadata":{"name":"a"}}"#,
        ),
        (
            r#"{"metadata":{"name":"a"},"apiVersion":"v1","kind":"Pod"}"#,
            r#"{"metadata":{"name":"a"},"apiVersion":"v1","kind":"Pod"}"#,
        ),
    ] {
        let version = reader.item(item).expect("valid");
        assert_eq!(*version.body.text(), *body);
        assert_eq!(
            (&*version.object.kind, &*version.object.api_version),
            ("Pod", "v1")
        );
    }
}

/// Secret values are hidden by the type in the body, and of two types the last one counts.
#[test]
fn an_object_with_an_empty_type_is_refused() {
    for part in [
        r#""kind":null"#,
        r#""kind":"""#,
        r#""apiVersion":null"#,
        r#""apiVersion":"""#,
        r#""kind":"Pod","kind":null"#,
    ] {
        let item = format!(r#"{{{part},"metadata":{{"name":"a"}}}}"#);
        assert!(Reader::new(&pods()).item(&item).is_err(), "{part}");
        let line = format!(r#"{{"type":"ADDED","object":{item}}}"#);
        assert!(read(&line).is_err(), "{part}");
    }
}

/// The head of an object ends with its metadata, but the type may be repeated after it.
#[test]
fn an_object_with_two_types_is_never_read() {
    for part in [
        r#""kind":{}"#,
        r#""kind":"ConfigMap""#,
        r#""kind":null"#,
        r#""apiVersion":"v2""#,
    ] {
        let item = format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"a","uid":"u","resourceVersion":"1"}},{part}}}"#
        );
        let version = Reader::new(&pods()).item(&item);
        let read = version.map(|version| version.doc().is_ok());
        assert!(read != Ok(true), "{part}");
        let line = format!(r#"{{"type":"ADDED","object":{item}}}"#);
        assert!(self::read(&line).is_err(), "{part}");
    }
}

/// A server that is asked for metadata only names `PartialObjectMetadata` in every object, except perhaps in a
/// listing.
#[test]
fn a_metadata_only_object_gets_its_kind() {
    let form = Form::Metadata;
    let mut reader = Reader::new(&SourceKey { form, ..pods() });
    let metadata = r#"{"name":"a", "annotations":{"x":"\"kind\":\"PartialObjectMetadata\""}}"#;
    let whole = format!(r#"{{"kind":"Pod","apiVersion":"v1","metadata":{metadata}}}"#);
    let partial = r#""kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1""#;
    for item in [
        format!(r#"{{"metadata":{metadata}}}"#),
        format!(r#"{{{partial},"metadata":{metadata}}}"#),
        format!(r#"{{"metadata":{metadata} , {partial} }}"#),
        // A server that does not support metadata-only requests.
        whole.clone(),
    ] {
        let line = format!(r#"{{"type":"MODIFIED","object":{item}}}"#);
        let Ok(WatchLine::Object { item: watched, .. }) = reader.line(line.as_bytes()) else {
            panic!("{line}");
        };
        for version in [reader.item(&item).expect("valid"), watched.version] {
            assert_eq!(*version.body.text(), *whole, "{item}");
            let object = &version.object;
            assert_eq!((&*object.kind, &*object.api_version), ("Pod", "v1"));
        }
    }
}

/// Debug output ends up in logs and bug reports.
#[test]
fn debug_output_has_no_secret_values() {
    let text = r#"{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a","uid":"u","resourceVersion":"7"},"data":{"key":"aHVudGVyMg=="}}"#;
    let mut secrets = pods();
    secrets.resource.kind = "Secret".into();
    let now = Arc::new(Reader::new(&secrets).item(text).expect("valid"));
    let doc = now.doc().expect("valid");
    let data = doc.root().get("data").expect("there");
    let page = ListPage {
        version: ResourceVersion::new("7"),
        items: vec![text.into()],
        next: None,
    };
    let event = Event::Object {
        why: Why::Skipped,
        past: false,
        seen: Timestamp::UNIX_EPOCH,
        now: now.clone(),
        prev: Some(now.clone()),
    };
    assert_eq!(format!("{data:?}"), "Object of 22 bytes");
    assert_eq!(
        format!("{doc:?}"),
        format!("Doc(Object of {} bytes)", text.len())
    );
    let version = format!("{now:?}");
    assert!(
        version.contains("Secret") && version.contains("bytes: 121"),
        "{version}"
    );
    let all = format!("{event:?} {page:?} {version}");
    assert!(!all.contains("aHVudGVyMg"), "{all}");
    let line = format!(r#"{{"type":"ADDED","object":{text}}}"#);
    let line = Reader::new(&secrets).line(line.as_bytes()).expect("valid");
    assert!(!format!("{line:?}").contains("aHVudGVyMg"), "{line:?}");
}

fn version(name: &str, uid: &str, rv: &str) -> Arc<Version> {
    let text = format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"ns","uid":"{uid}","resourceVersion":"{rv}"}}}}"#
    );
    Arc::new(Reader::new(&pods()).item(&text).expect("valid"))
}

fn words(changes: &[crate::watch::store::StoreChange]) -> Vec<String> {
    changes
        .iter()
        .map(|change| brief(&change.clone().event(Timestamp::UNIX_EPOCH)))
        .collect()
}

#[test]
fn a_new_uid_for_a_name_ends_the_old_object() {
    let mut store = ObjectStore::default();
    let seen = Timestamp::UNIX_EPOCH;
    store.put(WatchVerb::Added, version("a", "1", "5"), seen);
    let changes = store.put(WatchVerb::Added, version("a", "2", "8"), seen);
    assert_eq!(words(&changes), ["vanished a 5>5", "added a 8"]);
    assert_eq!(store.len(), 1);
    // The deletion of the first object comes late. Its subscribers have had it already.
    assert!(store.was_seen(WatchVerb::Deleted, &version("a", "1", "7")));
    let changes = store.put(WatchVerb::Modified, version("a", "2", "9"), seen);
    assert_eq!(words(&changes), ["modified a 8>9"]);
}

#[test]
fn versions_of_one_object_share_its_name() {
    let mut store = ObjectStore::default();
    let seen = Timestamp::UNIX_EPOCH;
    let first = version("a", "1", "5");
    store.put(WatchVerb::Added, first.clone(), seen);
    let changes = store.put(WatchVerb::Modified, version("a", "1", "6"), seen);
    assert!(Arc::ptr_eq(&changes[0].now.object, &first.object));
    let listing = FullListing {
        version: ResourceVersion::new("9"),
        continuity: Continuity::Continued,
        objects: vec![version("a", "1", "8")],
        packer: None,
    };
    let changes = store.swap(listing, seen);
    assert!(Arc::ptr_eq(&changes[0].now.object, &first.object));
}

#[test]
fn an_object_that_was_deleted_unseen_is_marked() {
    let mut store = ObjectStore::default();
    let seen = Timestamp::UNIX_EPOCH;
    store.put(WatchVerb::Added, version("a", "1", "5"), seen);
    let changes = store.put(WatchVerb::Added, version("a", "1", "9"), seen);
    assert_eq!(words(&changes), ["skipped a 5>9"]);
    let change = store.remove(Why::LeftSelector, version("a", "1", "10"));
    assert_eq!(words(&[change]), ["left a 9>10"]);
    assert!(store.was_seen(WatchVerb::Added, &version("a", "1", "5")));
    assert!(!store.was_seen(WatchVerb::Added, &version("a", "1", "12")));
}

#[test]
fn versions_that_are_not_numbers_are_only_compared_for_equality() {
    let mut store = ObjectStore::default();
    let seen = Timestamp::UNIX_EPOCH;
    store.put(WatchVerb::Added, version("a", "1", "z"), seen);
    assert!(store.was_seen(WatchVerb::Modified, &version("a", "1", "z")));
    assert!(!store.was_seen(WatchVerb::Modified, &version("a", "1", "b")));
    assert!(!store.was_seen(WatchVerb::Deleted, &version("a", "1", "z")));
    store.put(WatchVerb::Modified, version("a", "1", ""), seen);
    assert!(!store.was_seen(WatchVerb::Modified, &version("a", "1", "")));
}

#[test]
fn of_two_listed_objects_with_one_name_the_later_counts() {
    let mut store = ObjectStore::default();
    let listing = FullListing {
        continuity: Continuity::Continued,
        version: ResourceVersion::new("20"),
        objects: vec![
            version("a", "1", "5"),
            version("b", "2", "6"),
            version("b", "2", "7"),
            version("a", "3", "8"),
        ],
        packer: None,
    };
    let changes = store.swap(listing, Timestamp::UNIX_EPOCH);
    assert_eq!(words(&changes), ["listed b 7", "listed a 8"]);
    // An event that is older than the listing cannot be new, whoever sends it.
    assert!(store.was_seen(WatchVerb::Added, &version("c", "9", "19")));
    assert!(!store.was_seen(WatchVerb::Added, &version("c", "9", "21")));
}

#[test]
fn the_number_of_remembered_deletions_is_limited() {
    let mut store = ObjectStore::default();
    for uid in 0..10_000 {
        store.remove(Why::Deleted, version("a", &uid.to_string(), "5"));
    }
    assert!(!store.was_seen(WatchVerb::Added, &version("a", "1", "5")));
    assert!(store.was_seen(WatchVerb::Added, &version("a", "9999", "5")));
}

/// The store and the queue are read under one lock. A subscriber that joins during many writes sees each version
/// exactly once.
#[test]
fn joining_is_atomic() {
    const VERSIONS: u64 = 40_000;
    let clock: Clock = Arc::new(|| Timestamp::UNIX_EPOCH);
    let shared = SharedSource::new(Arc::new(pods()), clock, Upstream::Live, Arc::default());
    let number = |event: &Event| match event {
        Event::Object { now, .. } => now.version.as_str().parse::<u64>().ok(),
        _ => None,
    };
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut reader = Reader::new(&pods());
            for rv in 1..=VERSIONS {
                let text =
                    format!(r#"{{"metadata":{{"name":"a","uid":"u","resourceVersion":"{rv}"}}}}"#);
                shared.put(WatchVerb::Modified, reader.item(&text).expect("valid"));
            }
        });
        let mut joined = Vec::new();
        let mut checked = 0;
        while !writer.is_finished() {
            let queue = Queue::new(usize::MAX, Patience::Screen.into(), Arc::default());
            let (id, start) = shared.join(queue);
            std::thread::yield_now();
            joined.push((start.iter().find_map(number).unwrap_or(0), id));
            if joined.len() < 50 {
                continue;
            }
            for (start, id) in joined.drain(..) {
                let mut last = start;
                let mut inner = shared.lock();
                while let Some(event) = inner.queues.get_mut(&id).and_then(|queue| queue.pop()) {
                    let next = number(&event).expect("an object");
                    assert_eq!(next, last + 1);
                    last = next;
                }
                let newest = inner.store.iter().last();
                let newest = newest.map_or("0", |held| held.version.version.as_str());
                assert_eq!(newest, last.to_string());
                drop(inner);
                shared.leave(id);
                checked += 1;
            }
        }
        assert!(checked > 0, "the writer was done too soon");
    });
}
