//! The law of the outbox: whatever happens, each receiver gets what it would get from a program that never ends.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use super::*;
use crate::serve::ServedRow;
use crate::serve::testing::failed_pod;
use crate::status::Status;

/// A file that is removed after the test, with what SQLite keeps beside it.
struct ScratchFile(PathBuf);

impl ScratchFile {
    fn new() -> ScratchFile {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("spy-outbox-{}-{number}", std::process::id());
        ScratchFile(std::env::temp_dir().join(name))
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        for end in ["", "-wal", "-shm"] {
            let _gone = std::fs::remove_file(format!("{}{end}", self.0.display()));
        }
    }
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
}

fn row(name: &str, status: Status) -> Arc<ServedRow> {
    let mut row = failed_pod(name, "");
    Arc::make_mut(&mut row.assessment).verdict.status = status;
    Arc::new(row)
}

/// A sink that gets changes to these states, which last so many seconds.
fn sink(name: &str, to: &[Status], lasts: i64) -> Arc<Sink> {
    let webhook = Webhook::new("http://127.0.0.1:9/", None).expect("an address");
    let lasts = (lasts > 0).then(|| SignedDuration::from_secs(lasts));
    Arc::new(Sink {
        name: name.to_owned(),
        when: TransitionFilter {
            to: to.to_vec(),
            lasts,
            ..TransitionFilter::default()
        },
        webhook,
    })
}

/// Gives the present rows of a cluster to a queue.
fn take(queue: &SinkQueue, cluster: RowCluster<'_>, rows: &[Arc<ServedRow>], now: i64) {
    let of = ClusterRows {
        cluster,
        rows,
        is_current: true,
    };
    queue
        .take(&of, |_| RowAbsence::Unread, at(now))
        .expect("taken");
}

/// What happens to a server and its receivers.
#[derive(Clone, Debug)]
enum Step {
    /// The object with this number gets this state.
    Change(u8, Status),
    /// So many seconds pass.
    Pass(i64),
    /// The receiver takes a message.
    Deliver,
    /// The receiver takes a message, and the program ends before it knows.
    DeliverAndCrash,
    /// The program ends, and another one begins.
    Crash,
}

fn step() -> impl Strategy<Value = Step> {
    let states = prop::sample::select(vec![Status::Current, Status::InProgress, Status::Failed]);
    prop_oneof![
        4 => (0u8..3, states).prop_map(|(object, status)| Step::Change(object, status)),
        2 => (1i64..40).prop_map(Step::Pass),
        2 => Just(Step::Deliver),
        1 => Just(Step::DeliverAndCrash),
        1 => Just(Step::Crash),
    ]
}

/// A server that is watched by the law.
struct World {
    file: ScratchFile,
    queue: Option<SinkQueue>,
    sink: Arc<Sink>,
    now: i64,
    states: BTreeMap<String, Status>,
    /// What the receiver has got: the object, the id, and both states.
    got: Vec<(String, String, Status, Status)>,
}

impl World {
    fn new(sink: Arc<Sink>) -> World {
        let states = ["a", "b", "c"].map(|name| (name.to_owned(), Status::Current));
        let mut world = World {
            file: ScratchFile::new(),
            queue: None,
            sink,
            now: 1,
            states: states.into(),
            got: Vec::new(),
        };
        world.restart();
        world
    }

    fn queue(&self) -> &SinkQueue {
        self.queue.as_ref().expect("it runs")
    }

    fn restart(&mut self) {
        self.queue = None;
        let queue = SinkQueue::open(self.file.path(), at(self.now)).expect("it opens");
        queue
            .set_sinks(vec![self.sink.clone()], at(self.now))
            .expect("set");
        self.queue = Some(queue);
        self.publish();
    }

    fn publish(&self) {
        let rows = self.states.iter().map(|(name, status)| row(name, *status));
        let rows: Vec<Arc<ServedRow>> = rows.collect();
        take(self.queue(), RowCluster::Only("test"), &rows, self.now);
    }

    /// Sends the next message, if there is one. Returns whether there was.
    fn deliver(&mut self, is_known: bool) -> bool {
        let next = self
            .queue()
            .next(&self.sink.name, at(self.now))
            .expect("read");
        let Some(next) = next else {
            return false;
        };
        let record: serde_json::Value = serde_json::from_str(&next.record).expect("JSON");
        let name = record["ref"]["name"].as_str().expect("a name").to_owned();
        let from = next.from.expect("the objects are not new");
        self.got.push((name, next.id.clone(), from, next.to));
        if is_known {
            self.queue().remove(next.seq).expect("removed");
        }
        true
    }
}

/// The changes that a sink is to get: of each object, in order, by the definition of `for`.
#[derive(Default)]
struct Expected {
    /// The state that the sink knows of an object, and the present one since a time.
    states: BTreeMap<String, (Status, Status, i64)>,
    changes: BTreeMap<String, Vec<(Status, Status)>>,
}

impl Expected {
    fn change(&mut self, name: &str, to: Status, now: i64) {
        let (_, present, since) = self.states.get_mut(name).expect("known");
        if *present != to {
            (*present, *since) = (to, now);
        }
    }

    /// What has lasted until now.
    fn settle(&mut self, sink: &Sink, now: i64) {
        let lasts = sink.when.lasts.map_or(0, |lasts| lasts.as_secs());
        for (name, (known, present, since)) in &mut self.states {
            if known != present && now - *since >= lasts {
                if sink.when.to.contains(present) {
                    self.changes
                        .entry(name.clone())
                        .or_default()
                        .push((*known, *present));
                }
                *known = *present;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Of each object, a receiver gets all changes that last, in order. Repeated ones have the same id.
    #[test]
    fn no_change_is_lost_and_the_order_of_an_object_stays(
        steps in prop::collection::vec(step(), 1..40),
        lasts in prop::sample::select(vec![0i64, 10]),
        takes_all in any::<bool>(),
    ) {
        let to: &[Status] = if takes_all { &Status::ALL } else { &[Status::Failed] };
        let mut world = World::new(sink("ops", to, lasts));
        let mut expected = Expected::default();
        for name in world.states.keys() {
            expected.states.insert(name.clone(), (Status::Current, Status::Current, 1));
        }
        for step in steps {
            match step {
                Step::Change(object, status) => {
                    let name = ["a", "b", "c"][usize::from(object)];
                    world.states.insert(name.to_owned(), status);
                    world.publish();
                    expected.change(name, status, world.now);
                }
                Step::Pass(seconds) => {
                    world.now += seconds;
                    let _next = world.queue().next("ops", at(world.now)).expect("read");
                }
                Step::Deliver => drop(world.deliver(true)),
                Step::DeliverAndCrash => {
                    world.deliver(false);
                    world.restart();
                }
                Step::Crash => world.restart(),
            }
            expected.settle(&world.sink, world.now);
        }
        world.now += 100;
        expected.settle(&world.sink, world.now);
        while world.deliver(true) {}
        let mut got: BTreeMap<String, Vec<(Status, Status)>> = BTreeMap::new();
        let mut last: BTreeMap<String, String> = BTreeMap::new();
        for (name, id, from, to) in &world.got {
            if last.insert(name.clone(), id.clone()).as_ref() != Some(id) {
                got.entry(name.clone()).or_default().push((*from, *to));
            }
        }
        prop_assert_eq!(got, expected.changes);
        prop_assert_eq!(world.queue().counts()["ops"].waiting, 0);
    }
}

#[test]
fn one_program_alone_has_an_outbox() {
    let file = ScratchFile::new();
    let first = Outbox::open(file.path()).expect("it opens");
    let error = Outbox::open(file.path()).expect_err("it is in use");
    assert!(matches!(error, OutboxError::InUse { .. }), "{error}");
    drop(first);
    Outbox::open(file.path()).expect("it opens again");
}

#[test]
fn messages_to_a_sink_that_is_gone_and_old_ones_are_dropped_and_counted() {
    let mut world = World::new(sink("ops", &[Status::Failed], 0));
    world.states.insert("a".to_owned(), Status::Failed);
    world.publish();
    assert_eq!(world.queue().counts()["ops"].waiting, 1);
    let other = sink("other", &[Status::Failed], 0);
    let both = vec![world.sink.clone(), other.clone()];
    let dropped = world.queue().set_sinks(both, at(2)).expect("set");
    assert!(dropped.is_empty());
    let dropped = world.queue().set_sinks(vec![other], at(3)).expect("set");
    assert_eq!(dropped, BTreeMap::from([("ops".to_owned(), 1)]));
    world.states.insert("b".to_owned(), Status::Failed);
    world.publish();
    world.now += 8 * 24 * 3600;
    world.states.insert("c".to_owned(), Status::Failed);
    world.publish();
    let counts = world.queue().counts()["other"];
    assert_eq!((counts.waiting, counts.dropped), (1, 1));
}

#[test]
fn a_change_while_nobody_looked_is_sent_once() {
    let mut world = World::new(sink("ops", &[Status::Failed], 0));
    world.queue = None;
    world.states.insert("a".to_owned(), Status::Failed);
    world.restart();
    assert!(world.deliver(true) && !world.deliver(true));
    world.restart();
    assert!(!world.deliver(true));
    assert_eq!(world.got[0].2, Status::Current);
}

/// The row of the only Pod of a cluster, which was created at this time.
fn row_of(cluster: &str, status: Status, created: i64) -> [Arc<ServedRow>; 1] {
    let mut row = failed_pod("web", "");
    row.label = Some(cluster.into());
    row.object_ref.cluster = cluster.into();
    Arc::make_mut(&mut row.assessment).verdict.status = status;
    row.created = Some(at(created));
    [Arc::new(row)]
}

/// The changes that can be sent to a sink, `CLUSTER FROM>TO` each.
fn sent(queue: &SinkQueue, now: i64) -> Vec<String> {
    let mut all = Vec::new();
    while let Some(next) = queue.next("ops", at(now)).expect("read") {
        let record: serde_json::Value = serde_json::from_str(&next.record).expect("JSON");
        let cluster = record["ref"]["cluster"]
            .as_str()
            .expect("a cluster")
            .to_owned();
        let from = next.from.map_or("new", Status::as_str);
        all.push(format!("{cluster} {from}>{}", next.to));
        queue.remove(next.seq).expect("removed");
    }
    all
}

/// A new configuration that holds nothing, or that is not about the object any more, ends what the one before has held.
#[test]
fn a_held_message_about_a_state_that_is_over_is_not_sent() {
    let held = [Status::Failed];
    let all = [Status::Failed, Status::Current];
    let elsewhere = Sink {
        when: TransitionFilter {
            namespaces: vec!["elsewhere".to_owned()],
            to: held.to_vec(),
            ..TransitionFilter::default()
        },
        name: "ops".to_owned(),
        webhook: Webhook::new("http://127.0.0.1:9/", None).expect("an address"),
    };
    for then in [sink("ops", &all, 0), Arc::new(elsewhere)] {
        let file = ScratchFile::new();
        let queue = SinkQueue::open(file.path(), at(1000)).expect("it opens");
        let set = |sink: &Arc<Sink>, now: i64| {
            let dropped = queue.set_sinks(vec![sink.clone()], at(now));
            assert!(dropped.expect("set").is_empty());
        };
        set(&sink("ops", &held, 600), 1000);
        for (status, now) in [
            (Status::Current, 1000),
            (Status::Failed, 1010),
            (Status::Current, 1200),
        ] {
            if status == Status::Current && now > 1000 {
                set(&then, 1100);
            }
            take(&queue, RowCluster::Only("test"), &[row("web", status)], now);
        }
        assert_eq!(sent(&queue, 9000), Vec::<String>::new());
    }
}

/// Each cluster has its own past: how far one is known says nothing about another.
#[test]
fn a_cluster_that_joins_late_is_compared_with_its_own_past() {
    let file = ScratchFile::new();
    let start = |lasts: i64, now: i64| {
        let queue = SinkQueue::open(file.path(), at(now)).expect("it opens");
        let to = [Status::Failed];
        queue
            .set_sinks(vec![sink("ops", &to, lasts)], at(now))
            .expect("set");
        queue
    };
    let give = |queue: &SinkQueue, cluster: &str, status, created, now| {
        let rows = row_of(cluster, status, created);
        take(queue, RowCluster::OneOfSeveral(cluster), &rows, now);
    };
    let queue = start(0, 1000);
    give(&queue, "edge 1", Status::Current, 1, 1000);
    // The other one joins for the first time ever: what it has is not new, however young it is.
    give(&queue, "edge-2", Status::Failed, 5000, 5001);
    give(&queue, "edge 1", Status::Failed, 1, 5002);
    assert_eq!(sent(&queue, 5002), ["edge 1 Current>Failed"]);
    drop(queue);
    let queue = start(0, 6000);
    give(&queue, "edge 1", Status::Failed, 1, 9000);
    assert!(sent(&queue, 9000).is_empty());
    // It was created after the other one was last known, long before now.
    let mut rows = row_of("edge-2", Status::Failed, 6000).to_vec();
    let mut young = ServedRow::clone(&rows[0]);
    young.object_ref.uid = Some("young".into());
    rows.push(Arc::new(young));
    take(&queue, RowCluster::OneOfSeveral("edge-2"), &rows, 9001);
    assert_eq!(sent(&queue, 9001), ["edge-2 new>Failed"]);
}

/// A state may have passed while nobody looked at its cluster.
#[test]
fn a_held_message_waits_for_its_own_cluster() {
    let file = ScratchFile::new();
    let start = |now: i64| {
        let queue = SinkQueue::open(file.path(), at(now)).expect("it opens");
        let held = sink("ops", &[Status::Failed], 10);
        queue.set_sinks(vec![held], at(now)).expect("set");
        queue
    };
    let give = |queue: &SinkQueue, cluster: &str, status, now| {
        let rows = row_of(cluster, status, 1);
        take(queue, RowCluster::OneOfSeveral(cluster), &rows, now);
    };
    let queue = start(1);
    for (status, now) in [(Status::Current, 1), (Status::Failed, 2)] {
        give(&queue, "a", status, now);
        give(&queue, "b", status, now);
    }
    drop(queue);
    let queue = start(100);
    assert_eq!(queue.next_release().expect("read"), None);
    give(&queue, "a", Status::Failed, 101);
    assert_eq!(sent(&queue, 101), ["a Current>Failed"]);
    assert_eq!(queue.next_release().expect("read"), None);
    give(&queue, "b", Status::Current, 102);
    assert!(sent(&queue, 200).is_empty());
    assert_eq!(queue.counts()["ops"].waiting, 0);
}

/// An object that keeps its state is seen by each run, so it is not forgotten.
#[test]
fn an_object_that_never_changes_is_known_for_longer_than_a_week() {
    let day = 24 * 3600;
    let mut world = World::new(sink("ops", &[Status::Failed], 0));
    for _ in 0..5 {
        world.now += 3 * day;
        world.restart();
    }
    world.queue = None;
    world.now += day;
    world.states.insert("a".to_owned(), Status::Failed);
    world.restart();
    assert!(world.deliver(true), "it was Current");
}

/// While the connection is lost, the rows are an earlier state: an object that is created meanwhile is new afterwards.
#[test]
fn an_outage_does_not_make_new_objects_old() {
    let file = ScratchFile::new();
    let queue = SinkQueue::open(file.path(), at(1)).expect("it opens");
    let all = sink("ops", &[Status::Failed], 0);
    queue.set_sinks(vec![all], at(1)).expect("set");
    take(&queue, RowCluster::OneOfSeveral("a"), &[], 1000);
    let lost = ClusterRows {
        cluster: RowCluster::OneOfSeveral("a"),
        rows: &[],
        is_current: false,
    };
    queue
        .take(&lost, |_| RowAbsence::Unread, at(9000))
        .expect("taken");
    let rows = row_of("a", Status::Failed, 2000);
    take(&queue, RowCluster::OneOfSeveral("a"), &rows, 9001);
    assert_eq!(sent(&queue, 9001), ["a new>Failed"]);
}
