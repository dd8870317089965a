//! Tests of backfills after an interruption.

use super::*;
use crate::watch::tests::fake::api_error;

/// The events after an outage: `happen` runs while the server is away, and the server has lost its watch cache
/// when it is back.
async fn after_outage(
    (source, every): (&Source, &mut Reading),
    fake: &Fake,
    happen: impl FnOnce(&Fake),
) -> Vec<String> {
    fake.kill();
    happen(fake);
    fake.expire();
    fake.revive();
    let mut events = drain(every).await;
    for _ in 0..40 {
        if state(source) == SourceState::Live {
            break;
        }
        events.extend(drain(every).await);
    }
    events.retain(|event| !event.starts_with("retrying") && event != "live");
    events
}

async fn outage(happen: impl FnOnce(&Fake)) -> Vec<String> {
    let fake = Fake::new();
    let (source, mut every) = live(&fake, &["a", "b"]).await;
    after_outage((&source, &mut every), &fake, happen).await
}

#[tokio::test(start_paused = true)]
async fn an_outage_without_writes_has_no_events() {
    assert_eq!(outage(Fake::elsewhere).await, ["synced 2 (2)"]);
}

#[tokio::test(start_paused = true)]
async fn lifetimes_within_an_outage_are_read_back() {
    let happen = |fake: &Fake| {
        fake.apply("a"); // 103
        fake.delete("a");
        fake.elsewhere();
        fake.apply("a"); // 106
        fake.delete("a");
        fake.apply("c"); // 108
        fake.delete("c");
        fake.apply("a"); // 110
        fake.apply("b");
    };
    assert_eq!(
        outage(happen).await,
        [
            "modified a 101>103 read back",
            "deleted a 103>104 read back",
            "added a 106 read back",
            "deleted a 106>107 read back",
            "added c 108 read back",
            "deleted c 108>109 read back",
            "added a 110 read back",
            "modified b 102>111 read back",
            "synced 2 (2)"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn only_compacted_versions_become_a_gap() {
    let happen = |fake: &Fake| {
        fake.apply("a");
        fake.delete("b");
        fake.apply("c");
        fake.delete("c"); // 106
        fake.apply("a");
        fake.apply("d"); // 108
        fake.model().compacted = 108;
        fake.apply("a");
        fake.delete("d");
    };
    assert_eq!(
        outage(happen).await,
        [
            "gap 102-108 Expired",
            "vanished b 102>102",
            "skipped a 101>107",
            "listed d 108",
            "modified a 107>109 read back",
            "deleted d 108>110 read back",
            "synced 2 (1)"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_without_history_leaves_a_gap_after_one_request() {
    let fake = Fake::new();
    let (source, mut every) = live(&fake, &["a"]).await;
    fake.model().no_history = Some(api_error(400));
    for (gap, skipped) in [
        ("gap 101-103 NotOffered", "skipped a 101>103"),
        ("gap 103-105 NotOffered", "skipped a 103>105"),
    ] {
        let happen = |fake: &Fake| {
            fake.apply("a");
            fake.apply("a");
        };
        let events = after_outage((&source, &mut every), &fake, happen).await;
        assert_eq!(events[..2], [gap, skipped]);
    }
    // Each of the two watches that were opened again also read the newest version once.
    assert_eq!(fake.model().reads.len(), 2 + 2);
}

/// A kube-apiserver that has just started refuses every request until it has read the RBAC objects.
#[tokio::test(start_paused = true)]
async fn a_starting_server_that_refuses_is_retried() {
    let fake = Fake::new();
    let (_source, mut every) = live(&fake, &["a"]).await;
    fake.model().no_history = Some(api_error(403));
    fake.apply("a");
    fake.apply("a");
    fake.expire();
    fake.cut();
    tokio::time::sleep(Duration::from_secs(5)).await;
    fake.model().no_history = None;
    let mut events = drain_for(&mut every, Duration::from_secs(40)).await;
    events.retain(|event| !event.starts_with("retrying") && event != "live");
    assert_eq!(
        events,
        [
            "modified a 101>102 read back",
            "modified a 102>103 read back",
            "synced 2 (1)"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn under_a_selector_leaving_differs_from_deletion() {
    let fake = Fake::new();
    for name in ["a", "b"] {
        fake.apply(name);
    }
    let source = mux(&fake).open(labelled("app=web"));
    let mut every = source.every(Patience::Screen);
    drain(&mut every).await;
    let happen = |fake: &Fake| {
        fake.label("a", "db"); // 103
        fake.apply("a");
        fake.label("a", "web"); // 105
        fake.label("a", "db");
        fake.delete("a");
        fake.delete("b");
    };
    let events = after_outage((&source, &mut every), &fake, happen).await;
    assert_eq!(
        events,
        [
            "left a 101>103 read back",
            "added a 105 read back",
            "left a 105>106 read back",
            "deleted b 102>108 read back",
            "synced 2 (0)"
        ]
    );
}

/// The server lists, but answers no read of an old version. The store and the connection states stay current.
/// Events wait, and after a minute the gap is reported.
#[tokio::test(start_paused = true)]
async fn the_store_does_not_wait_for_a_backfill() {
    let fake = Fake::new();
    let (source, mut every) = live(&fake, &["a"]).await;
    fake.model().no_history = Some(api_error(503));
    fake.apply("a");
    fake.apply("a");
    fake.expire();
    fake.cut();
    let retrying = |events: &[String]| {
        let last = events
            .last()
            .is_some_and(|last| last.starts_with("retrying"));
        last && !events.iter().any(|event| event.contains(" a "))
    };
    let events = drain(&mut every).await;
    assert!(retrying(&events), "{events:?}");
    let version = |source: &Source| held(source)[0].version.to_string();
    assert_eq!(version(&source), "103");
    assert_eq!(state(&source), SourceState::Live);
    fake.apply("a");
    assert_eq!(drain(&mut every).await.len(), 0);
    assert_eq!(version(&source), "104");
    fake.cut();
    let events = drain(&mut every).await;
    assert!(retrying(&events), "{events:?}");
    let events = drain_for(&mut every, Duration::from_secs(75)).await;
    assert_eq!(
        events,
        [
            "gap 101-103 Unanswered",
            "skipped a 101>103",
            "synced 2 (1)",
            "modified a 103>104",
            "live"
        ]
    );
}

/// A subscriber that wants the newest versions gets them at once, beside one that waits for the versions in
/// between.
#[tokio::test(start_paused = true)]
async fn a_subscriber_to_the_newest_versions_does_not_wait() {
    let fake = Fake::new();
    let (source, mut every) = live(&fake, &["a"]).await;
    let mut newest = crate::watch::Subscriptions::new();
    let options = crate::watch::SubscribeOptions {
        patience: Patience::Screen,
        catch_up: crate::watch::CatchUp::Newest,
    };
    newest.add(&source, options);
    fake.model().no_history = Some(api_error(503));
    fake.apply("a");
    fake.apply("a");
    fake.expire();
    fake.cut();
    let events = drain(&mut every).await;
    assert!(
        !events.iter().any(|event| event.contains(" a ")),
        "{events:?}"
    );
    let mut events = Vec::new();
    while let Ok(Some((_, event))) = timeout(Duration::from_secs(1), newest.next()).await {
        events.push(brief(&event));
    }
    let told = [
        "gap 101-103 Expired",
        "skipped a 101>103",
        "synced 2 (1)",
        "live",
    ];
    assert!(events.ends_with(&told.map(str::to_owned)), "{events:?}");
}

/// The versions that were read back come first. All newer events that fit into the queue follow.
#[tokio::test(start_paused = true)]
async fn newer_events_wait_within_the_queue_limit() {
    let fake = Fake::new();
    fake.apply("a");
    let options = MuxOptions {
        queue_bytes: 2000,
        ..MuxOptions::default()
    };
    let source = mux_with(&fake, options).open(pods());
    let mut every = source.every(Patience::Pipe);
    drain(&mut every).await;
    fake.model().no_history = Some(api_error(503));
    fake.apply("a");
    fake.apply("a");
    fake.expire();
    fake.cut();
    drain(&mut every).await;
    for _ in 0..20 {
        fake.apply("a");
    }
    assert_eq!(drain(&mut every).await.len(), 0);
    assert_eq!(held(&source)[0].version.as_str(), "123");
    fake.model().no_history = None;
    let events = drain_for(&mut every, Duration::from_secs(20)).await;
    assert_eq!(
        events[..4],
        [
            "modified a 101>102 read back",
            "modified a 102>103 read back",
            "synced 2 (1)",
            "live"
        ]
    );
    assert_eq!(events[4], "modified a 103>104");
    assert_eq!(versions(&events), (102..=123).collect::<Vec<_>>());
    // The versions that did not fit into the queue are read back too.
    assert_eq!(events[23], "modified a 122>123 read back");
    assert_eq!(events.len(), 24);
}

/// There are too many revisions to search. So a gap reports that objects may have been created and deleted.
#[tokio::test(start_paused = true)]
async fn an_incomplete_search_is_reported() {
    let happen = |fake: &Fake| {
        fake.apply("a");
        (0..300).for_each(|_| fake.elsewhere());
        fake.apply("a");
    };
    assert_eq!(
        outage(happen).await,
        [
            "gap 102-404 Unseen",
            "modified a 101>103 read back",
            "modified a 103>404 read back",
            "synced 2 (2)"
        ]
    );
    // Two objects cannot have one name at the same time. Where this one exists, no other did.
    let fake = Fake::new();
    fake.apply("a");
    let key = SourceKey {
        select: Select::Name("a".into()),
        ..pods()
    };
    let source = mux(&fake).open(key);
    let mut every = source.every(Patience::Screen);
    drain(&mut every).await;
    let happen = |fake: &Fake| {
        (0..9000).for_each(|_| fake.elsewhere());
        fake.apply("a");
    };
    let events = after_outage((&source, &mut every), &fake, happen).await;
    assert_eq!(events, ["modified a 101>9102 read back", "synced 2 (1)"]);
    // One read checks that the history is still the same, one reads the version before, and three divide the
    // walk.
    assert_eq!(fake.model().reads.len(), 5);
}

/// The object exists in the first thousands of revisions, so only the revisions after its deletion are searched.
#[tokio::test(start_paused = true)]
async fn a_lifetime_long_after_a_deletion_is_found() {
    let fake = Fake::new();
    fake.apply("a");
    let key = SourceKey {
        select: Select::Name("a".into()),
        ..pods()
    };
    let source = mux(&fake).open(key);
    let mut every = source.every(Patience::Screen);
    drain(&mut every).await;
    let happen = |fake: &Fake| {
        (0..4200).for_each(|_| fake.elsewhere());
        fake.delete("a"); // 4302
        (0..500).for_each(|_| fake.elsewhere());
        fake.apply("a"); // 4803
        fake.delete("a");
        (0..1000).for_each(|_| fake.elsewhere());
    };
    let events = after_outage((&source, &mut every), &fake, happen).await;
    assert_eq!(
        events,
        [
            "deleted a 101>4302 read back",
            "added a 4803 read back",
            "deleted a 4803>4804 read back",
            "synced 2 (0)"
        ]
    );
}

/// The versions of these events.
fn versions(events: &[String]) -> Vec<u64> {
    let last = |event: &String| {
        event
            .trim_end_matches(" read back")
            .rsplit(['>', ' '])
            .next()?
            .parse()
            .ok()
    };
    let objects = events.iter().filter(|event| event.starts_with("modified"));
    objects.filter_map(last).collect()
}

/// The backfill takes minutes, and some requests fail. Tables stay current meanwhile.
#[tokio::test(start_paused = true)]
async fn a_long_backfill_continues_while_the_server_answers() {
    let fake = Fake::new();
    let (source, mut every) = live(&fake, &["a"]).await;
    fake.model().read_takes = Duration::from_secs(1);
    fake.model().flaky = 50;
    fake.kill();
    write(&fake, 800);
    fake.expire();
    fake.revive();
    seconds(20.0).await;
    assert_eq!(state(&source), SourceState::Live);
    fake.apply("a");
    seconds(1.0).await;
    assert_eq!(held(&source)[0].version.as_str(), "902");
    let begun = Instant::now();
    let events = drain_for(&mut every, Duration::from_secs(400)).await;
    assert_eq!(versions(&events), (102..=902).collect::<Vec<_>>());
    assert!(
        !events.iter().any(|event| event.starts_with("gap")),
        "{events:?}"
    );
    assert!(
        begun.elapsed() < Duration::from_secs(800),
        "{:?}",
        begun.elapsed()
    );
}

fn write(fake: &Fake, times: usize) {
    for _ in 0..times {
        fake.apply("a");
    }
}

async fn seconds(seconds: f64) {
    tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
}

/// One watch reads the events in the server's watch cache. Only older ones need a walk.
#[tokio::test(start_paused = true)]
async fn the_watch_cache_is_read_in_one_request() {
    let fake = Fake::new();
    let (source, mut every) = live(&fake, &["a"]).await;
    let happen = |fake: &Fake| {
        for _ in 0..10 {
            fake.apply("a");
        }
    };
    fake.kill();
    happen(&fake);
    fake.expire(); // up to 111
    for _ in 0..100 {
        fake.apply("a");
    }
    fake.delete("a");
    fake.apply("b");
    fake.revive();
    let mut events = drain_for(&mut every, Duration::from_secs(20)).await;
    events.retain(|event| !event.starts_with("retrying") && event != "live");
    assert_eq!(versions(&events), (102..=211).collect::<Vec<_>>());
    let tail = [
        "deleted a 211>212 read back",
        "added b 213 read back",
        "synced 2 (1)",
    ];
    assert!(events.ends_with(&tail.map(str::to_owned)), "{events:?}");
    assert!(fake.model().reads.len() < 20, "{:?}", fake.model().reads);
    assert_eq!(state(&source), SourceState::Live);
}

/// An interval that does not fit in memory is read back in parts, as the subscriber reads.
#[tokio::test(start_paused = true)]
async fn a_backfill_uses_no_more_memory_than_the_queue() {
    let fake = Fake::new();
    fake.apply("a");
    let options = MuxOptions {
        seed: 7,
        queue_bytes: 20_000,
        ..MuxOptions::default()
    };
    let source = mux_with(&fake, options).open(pods());
    let mut every = source.every(Patience::Pipe);
    drain(&mut every).await;
    fake.kill();
    write(&fake, 300);
    fake.expire();
    fake.revive();
    let mut told = Vec::new();
    let mut most = 0;
    while let Ok(Some(event)) = timeout(Duration::from_secs(100), every.next()).await {
        told.push(brief(&event));
        let bytes = source
            .shared()
            .lock()
            .queues
            .values()
            .map(|queue| queue.bytes)
            .max();
        most = most.max(bytes.unwrap_or(0));
        seconds(0.01).await;
    }
    assert_eq!(versions(&told), (102..=401).collect::<Vec<_>>());
    assert!(most <= 40_000, "{most}");
}

/// A subscriber that does not read for a minute, as during a look-back, gets every version in the end. The
/// versions that did not fit into its queue are read back.
#[tokio::test(start_paused = true)]
async fn a_late_reader_misses_nothing() {
    for has_ring in [true, false] {
        let fake = Fake::new();
        fake.apply("a");
        fake.apply("b");
        let options = MuxOptions {
            seed: 7,
            queue_bytes: 20_000,
            ..MuxOptions::default()
        };
        let source = mux_with(&fake, options).open(pods());
        let mut every = source.every(Patience::Screen);
        drain(&mut every).await;
        for _ in 0..60 {
            write(&fake, 5);
            fake.apply("b");
            seconds(1.0).await;
            let bytes = source
                .shared()
                .lock()
                .queues
                .values()
                .map(|queue| queue.bytes)
                .max();
            assert!(bytes < Some(30_000), "{bytes:?}");
        }
        fake.delete("b");
        if !has_ring {
            fake.expire();
        }
        let events = drain_for(&mut every, Duration::from_secs(100)).await;
        assert_eq!(
            versions(&events),
            (103..=462).collect::<Vec<_>>(),
            "{has_ring}"
        );
        assert_eq!(events.len(), 361, "and b was deleted");
        assert!(
            !events.iter().any(|event| event.starts_with("gap")),
            "{events:?}"
        );
        // After that, events arrive as usual.
        fake.apply("a");
        assert_eq!(drain(&mut every).await, ["modified a 461>464"]);
    }
}

/// A view that looks back first lets a source wait. Its queue limits the memory for that.
#[tokio::test(start_paused = true)]
async fn a_held_source_waits_and_the_others_continue() {
    let fake = Fake::new();
    fake.apply("a");
    let mux = mux(&fake);
    let (web, db) = (
        mux.open(labelled("app=web")),
        mux.open(labelled("app!=web")),
    );
    let mut both = crate::watch::Subscriptions::new();
    both.add(&web, Patience::Screen);
    both.add(&db, Patience::Screen);
    while timeout(Duration::from_secs(1), both.next()).await.is_ok() {}
    let held = web.key().clone();
    both.hold(|key| *key == *held);
    fake.apply("a");
    fake.label("a", "db");
    let mut told = Vec::new();
    while let Ok(Some((_, event))) = timeout(Duration::from_secs(1), both.next()).await {
        told.push(brief(&event));
    }
    assert_eq!(told, ["added a 103"]);
    both.hold(|_| false);
    told.clear();
    while let Ok(Some((_, event))) = timeout(Duration::from_secs(1), both.next()).await {
        told.push(brief(&event));
    }
    assert_eq!(told, ["modified a 101>102", "left a 102>103"]);
}
