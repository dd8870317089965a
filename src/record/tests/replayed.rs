//! The laws of a record that is passed on: what is read as entries and written elsewhere is the same record.

use std::sync::Arc;

use super::*;
use crate::record::recorded_history::RecordedHistory;

/// The entries of the only file after a position, each with its number.
fn entries(path: &Path, position: TailPosition) -> Vec<TailEntry> {
    let mut tail = RecordTail::open(&files(path)[0].path, position).expect("a file");
    let next = || tail.next_entry().expect("an entry");
    std::iter::from_fn(next).collect()
}

/// The entry as it arrives at another place.
fn passed_on(entry: &RecordEntry) -> RecordEntry {
    let fields = entry.fields();
    let field = |name: &str| {
        let mut fields = fields.iter();
        let found = fields.find(|(own, _)| *own == name);
        found.map(|(_, value)| value.clone())
    };
    let text = entry.text();
    let text = text.as_deref().map(str::as_bytes);
    RecordEntry::parse(&field, text, &entry.source.cluster).expect("an entry")
}

/// Writes entries into a store, of which the first part arrives in another run than the rest.
fn replay(
    path: &Path,
    heading: RecordHeading,
    entries: &[TailEntry],
    first: usize,
) -> Vec<RecordReplay> {
    let store = Store::create(path).expect("a store");
    let mut replay = RecordReplay::begin(&store, heading, "other").expect("begun");
    for (at, entry) in entries.iter().enumerate() {
        if at == first {
            replay.finish().expect("written");
            let resumed = RecordReplay::resume(&store, "c1", "other").expect("read");
            replay = resumed.expect("a file");
        }
        replay.take(&passed_on(&entry.entry)).expect("taken");
    }
    vec![replay]
}

fn heading(path: &Path) -> RecordHeading {
    let tail = RecordTail::open(&files(path)[0].path, TailPosition::default());
    tail.expect("a file").heading()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_record_that_is_passed_on_is_the_same(history in prop::collection::vec((any::<bool>(), event()), 0..40)) {
        let (folder, copy) = (Folder::new(), Folder::new());
        let recorded = record(&folder.0, &history);
        let entries = entries(&folder.0, TailPosition::default());
        for replay in replay(&copy.0, heading(&folder.0), &entries, usize::MAX) {
            replay.finish().expect("written");
        }
        prop_assert_eq!(read(&copy.0), recorded);
        let reached = |path: &Path| {
            let file = StoreFileReader::open(&files(path)[0].path).expect("a file");
            file.sources().iter().map(|source| source.reached.clone()).collect::<Vec<_>>()
        };
        prop_assert_eq!(reached(&copy.0), reached(&folder.0));
    }

    #[test]
    fn a_reader_continues_after_any_entry(
        history in prop::collection::vec((any::<bool>(), event()), 1..20),
        place in any::<prop::sample::Index>(),
    ) {
        let folder = Folder::new();
        record(&folder.0, &history);
        let all = entries(&folder.0, TailPosition::default());
        let numbers: Vec<i64> = all.iter().map(|it| it.position.number()).collect();
        let counted = all.iter().filter(|it| !matches!(it.entry.content, EntryContent::Reached { .. })).count();
        prop_assert_eq!(&numbers[..counted], &(1..=i64::try_from(counted).expect("few")).collect::<Vec<_>>()[..]);
        let place = place.index(counted);
        let rest = entries(&folder.0, all[place].position);
        let shown = |entries: &[TailEntry]| -> Vec<String> {
            entries.iter().map(|it| format!("{:?} {:?}", it.entry.fields(), it.entry.text())).collect()
        };
        prop_assert_eq!(shown(&rest), shown(&all[place + 1..]));
    }
}

/// A copy that is written in two runs has the same last state, and no hole between them.
#[test]
fn a_copy_continues_where_it_stopped() {
    let key = Arc::new(SourceKey::all("", "ConfigMap"));
    let synced = Event::Synced {
        epoch: 1,
        count: 1,
        version: ResourceVersion::new("7"),
    };
    let history = [
        object(Why::Listed, config_map(1, 3, "a")),
        synced,
        object(Why::Added, config_map(22, 8, "a")),
        object(Why::Modified, config_map(1, 9, "b")),
        object(Why::Deleted, config_map(22, 10, "a")),
        object(Why::Modified, config_map(1, 11, "c")),
    ];
    for first in 2..history.len() {
        let (folder, copy) = (Folder::new(), Folder::new());
        let recorder = recorder(&folder.0, FOREVER);
        for event in &history {
            recorder.record(&key, event.clone());
        }
        recorder.finish().expect("written");
        let entries = entries(&folder.0, TailPosition::default());
        for replay in replay(&copy.0, heading(&folder.0), &entries, first) {
            replay.finish().expect("written");
        }
        assert_eq!(exported(&copy.0), exported(&folder.0), "{first}");
        let store = Store::open(&copy.0).expect("a store");
        let export = RecordExport::open(&store.cluster("c1")).expect("files");
        assert!(
            !export
                .into_iter()
                .any(|event| matches!(event, ExportedEvent::Hole(..)))
        );
        let known = last_states(&store.cluster("c1"), &[(*key).clone()]).expect("states");
        let known = &known[&*key];
        assert_eq!(
            (known.version.as_str(), known.objects.len()),
            ("11", 1),
            "{first}"
        );
    }
}

/// A version that does not arrive is a hole, and never a version that nobody has written.
#[test]
fn a_missing_version_is_a_hole() {
    let (folder, copy) = (Folder::new(), Folder::new());
    let key = Arc::new(SourceKey::all("", "ConfigMap"));
    let writer = recorder(&folder.0, FOREVER);
    let synced = Event::Synced {
        epoch: 1,
        count: 0,
        version: ResourceVersion::new("7"),
    };
    writer.record(&key, synced);
    for version in 8..11 {
        writer.record(&key, object(Why::Modified, config_map(1, version, "a")));
    }
    writer.finish().expect("written");
    let mut entries = entries(&folder.0, TailPosition::default());
    let lost = entries[2].entry.clone();
    let EntryContent::Version(missing) = lost.content else {
        panic!("a version");
    };
    entries[2].entry = RecordEntry {
        source: lost.source,
        content: EntryContent::Missing {
            version: missing.version.version.clone(),
            seen: missing.seen,
            cause: "too large".to_owned(),
        },
    };
    for replay in replay(&copy.0, heading(&folder.0), &entries, usize::MAX) {
        replay.finish().expect("written");
    }
    let store = Store::open(&copy.0).expect("a store");
    let export = RecordExport::open(&store.cluster("c1")).expect("files");
    let found: Vec<String> = export
        .map(|event| match event {
            ExportedEvent::Version(exported) => exported.version.version.to_string(),
            ExportedEvent::Hole(_, hole) => format!("hole {}-{}", hole.after, hole.upto),
            ExportedEvent::Damage(error) => error.to_string(),
        })
        .collect();
    assert_eq!(found, ["8", "10", "hole 8-9"]);

    // From then on the object may be older here than it was, also in the next file of the copy. No recorder continues from there.
    let lost_since = |time| {
        let history = RecordedHistory::open(&store.cluster("c1")).expect("a record");
        let history = history.expect("versions");
        history.lost_at(&key, time).expect("read")
    };
    assert_eq!(
        lost_since(missing.seen - SignedDuration::from_secs(1)),
        None
    );
    assert_eq!(lost_since(Timestamp::MAX), Some(missing.seen));
    let resumed = RecordReplay::resume(&store, "c1", "other").expect("read");
    resumed.expect("a file").finish().expect("written");
    assert_eq!(files(&copy.0).len(), 2);
    assert_eq!(lost_since(Timestamp::MAX), Some(missing.seen));
    let keys = [SourceKey::clone(&key)];
    let states = last_states(&store.cluster("c1"), &keys).expect("read");
    assert!(states.is_empty());
}

/// The end of a reader of a topic while the disk is full: the next one finds what was written before.
#[test]
fn a_copy_that_cannot_be_written_is_continued() {
    let (folder, copy) = (Folder::new(), Folder::new());
    let mut random = fastrand::Rng::with_seed(7);
    let history: Vec<_> = (3..403)
        .map(|version| {
            let noise = std::iter::repeat_with(|| random.alphanumeric()).take(30);
            let version = config_map(1, version, &noise.collect::<String>());
            (true, object(Why::Modified, version))
        })
        .collect();
    record(&folder.0, &history);
    let entries = entries(&folder.0, TailPosition::default());
    let store = Store::create(&copy.0).expect("a store");
    let mut replay = RecordReplay::begin(&store, heading(&folder.0), "other").expect("begun");
    let (first, rest) = entries.split_at(1);
    replay.take(&passed_on(&first[0].entry)).expect("taken");
    replay.save().expect("written");
    for entry in rest {
        replay.take(&passed_on(&entry.entry)).expect("taken");
    }
    replay.limit_pages(1);
    assert!(replay.save().is_err());
    // Nothing of what has failed is said to be there later.
    assert!(replay.save().is_err());
    assert!(replay.finish().is_err());
    assert_eq!(read(&copy.0).len(), 1);
    let resumed = RecordReplay::resume(&store, "c1", "other").expect("read");
    resumed.expect("a file").finish().expect("written");
}

/// A reader of a topic was killed while it began files: the state is in the one before them.
#[test]
fn a_copy_continues_after_files_that_were_only_begun() {
    let (folder, copy) = (Folder::new(), Folder::new());
    let synced = Event::Synced {
        epoch: 1,
        count: 1,
        version: ResourceVersion::new("7"),
    };
    let listed = object(Why::Listed, config_map(1, 3, "a"));
    record(&folder.0, &[(true, listed), (true, synced)]);
    let entries = entries(&folder.0, TailPosition::default());
    for replay in replay(&copy.0, heading(&folder.0), &entries, usize::MAX) {
        replay.finish().expect("written");
    }
    let store = Store::open(&copy.0).expect("a store");
    drop(RecordReplay::begin(&store, heading(&folder.0), "other").expect("begun"));
    let unnamed = store.cluster("c1").new_file(start(), "other");
    let unnamed = unnamed.expect("a path").with_extension("0.new");
    fs::write(unnamed, "").expect("written");
    let resumed = RecordReplay::resume(&store, "c1", "other").expect("read");
    resumed.expect("a file").finish().expect("written");
    let newest = files(&copy.0).pop().expect("a file").path;
    let mut newest = StoreFileReader::open(&newest).expect("a file");
    let versions = newest.everything().expect("events").into_iter();
    assert_eq!(versions.filter(|(_, it)| it.is_ok()).count(), 1);
}
