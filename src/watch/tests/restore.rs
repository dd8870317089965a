//! Tests of a server that is restored from a backup: lower versions mean another history, not a replay.

use super::*;
use crate::watch::tests::fake::{FakeRequest, Plan, WatchFault, api_error};

async fn seconds(seconds: f64) {
    tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
}

/// The events and the states after the server was restored to version `to`.
async fn after_restore(
    (fake, every): (&Fake, &mut Reading),
    to: u64,
) -> (Vec<String>, Vec<String>) {
    fake.restore(to);
    let events = drain(every).await;
    let is_state = |event: &String| event.starts_with("retrying") || event == "live";
    events.into_iter().partition(|event| !is_state(event))
}

/// kube-apiserver accepts a watch from a future version, and is silent until it reaches that version.
#[tokio::test(start_paused = true)]
async fn a_restored_server_is_listed_and_compared() {
    let fake = Fake::new();
    let (source, mut every) = live(&fake, &["same", "changed", "gone"]).await;
    fake.delete("gone");
    fake.apply("changed");
    fake.apply("new"); // 106
    for _ in 0..137 {
        fake.elsewhere();
    }
    fake.apply("changed"); // 244
    drain(&mut every).await;
    let (events, states) = after_restore((&fake, &mut every), 104).await;
    assert_eq!(
        events,
        [
            "gap 244-104 Restored",
            "vanished new 106>106",
            "skipped changed 244>102",
            "synced 2 (2)"
        ]
    );
    let cause = "retrying 2: the server's storage was restored or replaced";
    assert_eq!(
        states.iter().filter(|state| *state == cause).count(),
        1,
        "{states:?}"
    );
    assert_eq!(states.last().map(String::as_str), Some("live"));
    assert_eq!(source.shared().lock().epoch, 2);
    // Later writes arrive too, although their versions are low.
    fake.apply("changed");
    fake.apply("new");
    let versions = ["modified changed 102>105", "added new 106"];
    assert_eq!(drain(&mut every).await, versions);
}

/// One resourceVersion stands for two states of an object, and a deleted uid exists again.
#[tokio::test(start_paused = true)]
async fn equal_versions_of_two_histories_are_compared_by_text() {
    let fake = Fake::new();
    let (_source, mut every) = live(&fake, &["a", "b", "c"]).await;
    fake.label("a", "lost"); // 104
    fake.delete("b"); // 105
    fake.apply("c"); // 106
    fake.apply("c");
    drain(&mut every).await;
    fake.kill();
    seconds(1.0).await;
    fake.restore(103);
    fake.label("a", "kept"); // 104 again
    fake.revive();
    let events = drain_for(&mut every, Duration::from_secs(10)).await;
    let objects = ["a ", "b ", "c "];
    let objects = |event: &&String| objects.iter().any(|name| event.contains(name));
    let events: Vec<&String> = events.iter().filter(objects).collect();
    assert_eq!(
        events,
        ["skipped a 104>104", "listed b 102", "skipped c 107>103"]
    );
    // The tombstone of `b` had a version of the lost history.
    fake.apply("b");
    fake.delete("b");
    assert_eq!(
        drain(&mut every).await,
        ["modified b 102>105", "deleted b 105>106"]
    );
}

/// The restored server has passed the revision of the watch before the watch is opened again.
#[tokio::test(start_paused = true)]
async fn a_restored_server_that_passed_the_watch_is_noticed() {
    let fake = Fake::new();
    let (_source, mut every) = live(&fake, &["a", "b"]).await;
    fake.apply("a"); // 103
    fake.apply("new"); // 104
    drain(&mut every).await;
    fake.kill();
    seconds(1.0).await;
    fake.restore(102);
    for _ in 0..4 {
        fake.apply("b"); // 106 in the end
    }
    fake.revive();
    let events = drain_for(&mut every, Duration::from_secs(10)).await;
    let is_state = |event: &&String| !event.starts_with("retrying") && *event != "live";
    let events: Vec<&String> = events.iter().filter(is_state).collect();
    assert_eq!(
        events,
        [
            "gap 104-106 Restored",
            "vanished new 104>104",
            "skipped a 103>101",
            "skipped b 102>106",
            "synced 2 (2)"
        ]
    );
}

fn newest_asked(fake: &Fake) -> usize {
    let model = fake.model();
    let requests = model.requests.iter();
    requests
        .filter(|request| **request == FakeRequest::Newest)
        .count()
}

/// An API server that is not restarted with its etcd keeps the watch, and bookmarks etcd's revision.
#[tokio::test(start_paused = true)]
async fn a_lower_bookmark_is_checked() {
    let fake = Fake::new();
    let (_source, mut every) = live(&fake, &["a"]).await;
    fake.apply("a"); // 102
    fake.apply("b");
    drain(&mut every).await;
    {
        let mut model = fake.model();
        model.bookmark_at = Some(101);
        model.rv = 101;
        model.log.retain(|op| op.pod.rv <= 101);
    }
    let events = drain_for(&mut every, Duration::from_secs(70)).await;
    assert_eq!(events[1], "gap 103-101 Restored", "{events:?}");
    assert_eq!(
        events[2..],
        [
            "vanished b 103>103",
            "skipped a 102>101",
            "synced 2 (1)",
            "live"
        ]
    );
    assert_eq!(newest_asked(&fake), 1);
}

/// An API server that lags behind the others bookmarks its own progress. A read of the newest version shows
/// etcd's.
#[tokio::test(start_paused = true)]
async fn a_lagging_server_is_not_a_restore() {
    let fake = Fake::new();
    let (_source, mut every) = live(&fake, &["a"]).await;
    fake.apply("a");
    drain(&mut every).await;
    fake.model().bookmark_at = Some(101);
    let events = drain_for(&mut every, Duration::from_secs(200)).await;
    assert_eq!(events, Vec::<String>::new());
    assert_eq!(newest_asked(&fake), 3, "with each bookmark");
    fake.apply("a");
    assert_eq!(drain(&mut every).await, ["modified a 102>103"]);
}

/// Servers may send events again. The first one causes one check, and all are dropped.
#[tokio::test(start_paused = true)]
async fn a_replay_is_not_a_restore() {
    let fake = Fake::new();
    let (_source, mut every) = live(&fake, &["a"]).await;
    for _ in 0..20 {
        fake.apply("a");
    }
    drain(&mut every).await;
    fake.plan(Plan::replay(15));
    fake.cut();
    fake.apply("a");
    let mut events = drain(&mut every).await;
    events.retain(|event| !event.starts_with("retrying") && event != "live");
    assert_eq!(events, ["modified a 121>122"]);
    assert_eq!(
        newest_asked(&fake),
        2,
        "with the watch that was opened, and with the first lower version"
    );
}

#[tokio::test(start_paused = true)]
async fn a_polled_source_notices_a_restore() {
    let fake = Fake::new();
    fake.model().no_watch = Some(api_error(405));
    fake.apply("a");
    fake.apply("b");
    let source = open(&fake);
    let mut every = source.every(Patience::Screen);
    drain(&mut every).await;
    fake.restore(101);
    let events = drain_for(&mut every, Duration::from_secs(40)).await;
    assert_eq!(
        events[1..],
        [
            "gap 102-101 Restored",
            "vanished b 102>102",
            "synced 2 (1)",
            "polling"
        ]
    );
}

/// A backfill reads a history that is then lost.
#[tokio::test(start_paused = true)]
async fn a_restore_ends_a_backfill() {
    let fake = Fake::new();
    let (_source, mut every) = live(&fake, &["a"]).await;
    fake.model().no_history = Some(api_error(503));
    fake.apply("a");
    fake.apply("a");
    fake.expire();
    fake.cut();
    drain(&mut every).await;
    fake.restore(101);
    fake.model().no_history = None;
    let mut events = drain_for(&mut every, Duration::from_secs(70)).await;
    events.retain(|event| !event.starts_with("retrying") && event != "live");
    assert_eq!(
        events,
        [
            "gap 101-103 Expired",
            "skipped a 101>103",
            "synced 2 (1)",
            "gap 103-101 Restored",
            "skipped a 103>101",
            "synced 3 (1)"
        ]
    );
}

/// The restore comes after a backfill has read one of two events and sent none.
#[tokio::test(start_paused = true)]
async fn events_read_back_but_not_sent_are_in_the_difference() {
    let fake = Fake::new();
    let (_source, mut every) = live(&fake, &["a", "b"]).await;
    fake.plan(Plan::after(0, WatchFault::Error(410)));
    // The driver's next watch, and the watch of the backfill.
    fake.plan(Plan::after(0, WatchFault::None));
    fake.plan(Plan::after(1, WatchFault::Stall));
    fake.cut();
    fake.apply("a"); // 103
    fake.apply("b");
    while !fake.model().plans.is_empty() {
        seconds(0.01).await;
    }
    seconds(0.1).await;
    fake.restore(102);
    let mut events = drain_for(&mut every, Duration::from_secs(70)).await;
    events.retain(|event| !event.starts_with("retrying") && event != "live");
    assert_eq!(
        events,
        [
            "gap 102-104 Expired",
            "skipped a 101>103",
            "skipped b 102>104",
            "synced 2 (2)",
            "gap 104-102 Restored",
            "skipped a 103>101",
            "skipped b 104>102",
            "synced 3 (2)"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_slow_subscriber_learns_of_the_restore() {
    let fake = Fake::new();
    fake.apply("a");
    let options = MuxOptions {
        queue_bytes: 2000,
        ..MuxOptions::default()
    };
    let source = mux_with(&fake, options).open(pods());
    let mut every = source.every(Patience::Screen);
    drain(&mut every).await;
    for _ in 0..10 {
        fake.apply("a");
    }
    seconds(1.0).await;
    fake.restore(105);
    seconds(5.0).await;
    let events = drain(&mut every).await;
    let gap = events.iter().find(|event| event.starts_with("gap"));
    assert!(
        gap.is_some_and(|gap| gap.ends_with("-105 Restored")),
        "{events:?}"
    );
    assert!(
        events.iter().any(|event| event.ends_with(">105")),
        "{events:?}"
    );
}

/// The server rejects the watch. The source continues when it no longer does, after a listing if necessary.
#[tokio::test(start_paused = true)]
async fn a_rejected_watch_is_listed_again() {
    let fake = Fake::new();
    let (source, mut every) = live(&fake, &["a"]).await;
    for _ in 0..2 {
        fake.plan(Plan::after(0, WatchFault::Error(400)));
    }
    fake.cut();
    fake.apply("a");
    let events = drain_for(&mut every, Duration::from_secs(40)).await;
    assert!(
        !events.iter().any(|event| event.starts_with("failed")),
        "{events:?}"
    );
    assert_eq!(
        events.iter().filter(|event| event.contains(" a ")).count(),
        1,
        "{events:?}"
    );
    assert_eq!(state(&source), SourceState::Live);
    // The connection was lost before, so each rejection is a second failure.
    assert_eq!(fake.asked().0, 3);
}

#[tokio::test(start_paused = true)]
async fn a_rejected_first_listing_is_final() {
    let fake = Fake::new();
    fake.model().lists.push_back(api_error(400));
    let source = open(&fake);
    let mut every = source.every(Patience::Screen);
    let events = drain(&mut every).await;
    assert!(events[1].starts_with("failed"), "{events:?}");
}
