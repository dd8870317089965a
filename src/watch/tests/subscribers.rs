//! Tests of subscriptions: order, back-pressure, joining and leaving.

use super::*;
use crate::watch::Subscriptions;
use crate::watch::tests::fake::FakeRequest;

async fn seconds(seconds: f64) {
    tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
}

/// About the bytes of one body of the test server: of an older version its text, of the newest one its tape too.
const BODY: usize = 1000;

/// Room for this many events with bodies of the test server.
fn small(events: usize) -> MuxOptions {
    MuxOptions {
        seed: 7,
        queue_bytes: events * BODY,
        ..MuxOptions::default()
    }
}

#[tokio::test(start_paused = true)]
async fn equal_keys_share_one_upstream() {
    let fake = Fake::new();
    fake.apply("a");
    let mux = mux(&fake);
    let sources = [
        mux.open(labelled("app=web,x!=1")),
        mux.open(labelled(" x != 1, app == web")),
        mux.open(labelled("x notin (1), app in (web)")),
    ];
    let other = mux.open(pods());
    let mut every: Vec<Reading> = sources
        .iter()
        .map(|source| source.every(Patience::Screen))
        .collect();
    seconds(1.0).await;
    fake.apply("a");
    for every in &mut every {
        let events = drain(every).await;
        assert_eq!(
            events.last().map(String::as_str),
            Some("modified a 101>102")
        );
    }
    assert_eq!(fake.asked(), (2, 2));
    assert_eq!(held(&other).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_source_outlives_its_last_handle_by_two_seconds() {
    let fake = Fake::new();
    let mux = mux(&fake);
    let source = mux.open(pods());
    let every = source.every(Patience::Screen);
    seconds(1.0).await;
    drop(source);
    seconds(10.0).await;
    drop(every);
    seconds(1.9).await;
    let source = mux.open(pods());
    seconds(10.0).await;
    assert_eq!(fake.asked(), (1, 1));
    let every = source.every(Patience::Screen);
    drop(source);
    seconds(10.0).await;
    drop(every);
    seconds(2.1).await;
    let _source = mux.open(pods());
    seconds(1.0).await;
    assert_eq!(fake.asked(), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn no_task_outlives_its_handles() {
    let fake = Fake::new();
    fake.kill();
    let mux = mux(&fake);
    let source = mux.open(pods());
    drop(mux);
    seconds(0.1).await;
    assert_eq!(fake.asked().0, 1, "a source keeps its multiplexer");
    // The next attempt would be half a second later.
    drop(source);
    let asked = fake.asked();
    seconds(300.0).await;
    assert_eq!(fake.asked(), asked);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_cluster_is_a_failed_source() {
    let fake = Fake::new();
    let key = SourceKey {
        cluster: ClusterId("other".into()),
        ..pods()
    };
    let source = mux(&fake).open(key);
    let mut every = source.every(Patience::Screen);
    assert_eq!(drain(&mut every).await, ["failed: no such cluster: other"]);
}

#[tokio::test(start_paused = true)]
async fn a_late_subscriber_starts_from_the_snapshot() {
    let fake = Fake::new();
    let (source, _first) = live(&fake, &["b", "a"]).await;
    fake.apply("a");
    seconds(1.0).await;
    let mut late = source.every(Patience::Screen);
    fake.apply("b");
    assert_eq!(
        drain(&mut late).await,
        [
            "live",
            "listed a 103",
            "listed b 101",
            "synced 1 (2)",
            "modified b 101>104"
        ]
    );
    assert_eq!(fake.asked(), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_slow_subscriber_gets_one_gap_and_then_the_newest_versions() {
    let fake = Fake::new();
    for name in ["same", "changed", "gone", "again"] {
        fake.apply(name);
    }
    let source = mux_with(&fake, small(4)).open(pods());
    let mut slow = source.every(Patience::Screen);
    let mut fast = source.every(Patience::Screen);
    drain(&mut slow).await;
    drain(&mut fast).await;
    for _ in 0..5 {
        fake.apply("changed");
    }
    let mut read = drain(&mut fast).await;
    for _ in 0..3 {
        fake.apply("changed");
    }
    fake.delete("gone");
    fake.delete("again");
    fake.apply("again");
    fake.apply("brief");
    fake.delete("brief");
    fake.apply("new");
    read.extend(drain(&mut fast).await);
    assert_eq!(read.len(), 14);
    assert!(!read.iter().any(|event| event.starts_with("gap")));
    // Nothing of that can be read back.
    fake.forget();
    let mut events = drain(&mut slow).await;
    let kept: Vec<String> = events.drain(..6).collect();
    assert_eq!(
        kept,
        [
            "modified changed 102>105",
            "modified changed 105>106",
            "modified changed 106>107",
            "modified changed 107>108",
            "modified changed 108>109",
            "gap 109-118 slow 9"
        ]
    );
    assert_eq!(
        events,
        [
            "vanished again 104>104",
            "vanished gone 103>103",
            "listed again 115",
            "skipped changed 109>112",
            "listed new 118"
        ]
    );
    // After that, events arrive without a gap.
    fake.apply("changed");
    fake.apply("new");
    assert_eq!(
        drain(&mut slow).await,
        ["modified changed 112>119", "modified new 118>120"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_that_catches_up_in_time_misses_nothing() {
    let fake = Fake::new();
    fake.apply("a");
    let source = mux_with(&fake, small(3)).open(pods());
    let mut every = source.every(Patience::Screen);
    drain(&mut every).await;
    for _ in 0..50 {
        fake.apply("a");
    }
    let mut seen = Vec::new();
    for _ in 0..50 {
        seen.push(brief(&every.next().await.expect("open")));
        seconds(0.004).await;
    }
    assert!(
        seen.iter().all(|event| event.starts_with("modified")),
        "{seen:?}"
    );
}

/// Otherwise a reader that always makes just enough room would slow everyone down.
#[tokio::test(start_paused = true)]
async fn a_slow_reader_cannot_set_the_pace() {
    let fake = Fake::new();
    fake.apply("a");
    let source = mux_with(&fake, small(10)).open(pods());
    let mut slow = source.every(Patience::Screen);
    drain(&mut slow).await;
    for _ in 0..1000 {
        fake.apply("a");
    }
    let start = Instant::now();
    let reader = async {
        loop {
            slow.next().await.expect("open");
            seconds(0.2).await;
        }
    };
    let stored = async {
        while held(&source)[0].version.as_str() != "1101" {
            seconds(0.01).await;
        }
    };
    tokio::select! {
        () = reader => {}
        () = stored => {}
    }
    assert!(
        start.elapsed() < Duration::from_secs(1),
        "{:?}",
        start.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn the_source_waits_for_a_lone_pipe() {
    let fake = Fake::new();
    fake.apply("a");
    let source = mux_with(&fake, small(3)).open(pods());
    let mut pipe = source.every(Patience::Pipe);
    drain(&mut pipe).await;
    for _ in 0..20 {
        fake.apply("a");
    }
    seconds(25.0).await;
    let events = drain(&mut pipe).await;
    assert_eq!(events.len(), 20);
    assert!(
        events.iter().all(|event| event.starts_with("modified")),
        "{events:?}"
    );
    // After a longer wait it gets the events later.
    for _ in 0..20 {
        fake.apply("a");
    }
    seconds(31.0).await;
    let events = drain(&mut pipe).await;
    assert_eq!(events[3], "modified a 124>125");
    assert_eq!(events[4], "modified a 125>126 read back");
    assert_eq!(
        events.last().map(String::as_str),
        Some("modified a 140>141 read back")
    );
}

#[tokio::test(start_paused = true)]
async fn a_stuck_pipe_does_not_stop_a_view_that_joins() {
    let fake = Fake::new();
    fake.apply("a");
    let source = mux_with(&fake, small(3)).open(pods());
    let _pipe = source.every(Patience::Pipe);
    seconds(1.0).await;
    for _ in 0..20 {
        fake.apply("a");
    }
    seconds(1.0).await;
    let _view = source.every(Patience::Screen);
    seconds(0.3).await;
    assert_eq!(held(&source)[0].version.as_str(), "121");
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_cannot_grow_the_memory() {
    let fake = Fake::new();
    fake.apply("a");
    let source = mux_with(&fake, small(10)).open(pods());
    let _stuck = source.every(Patience::Screen);
    seconds(1.0).await;
    for round in 0..300 {
        let name = format!("n{round}");
        fake.apply(&name);
        fake.apply("a");
        fake.delete(&name);
        if round % 50 == 0 {
            seconds(0.1).await;
        }
    }
    seconds(5.0).await;
    let lease = source.shared().lock();
    let queue = lease.queues.values().next().expect("subscribed");
    assert!(queue.bytes <= 12 * BODY, "{}", queue.bytes);
    // `a`, and at most one object that the reader saw created but not deleted.
    let remembered = queue
        .missed
        .as_ref()
        .map_or(0, |missed| missed.objects.len());
    assert!(remembered <= 2, "{remembered}");
}

#[tokio::test(start_paused = true)]
async fn a_gap_of_the_source_joins_the_gap_of_a_slow_subscriber() {
    let fake = Fake::new();
    fake.apply("a");
    fake.apply("b");
    let source = mux_with(&fake, small(2)).open(pods());
    let mut slow = source.every(Patience::Screen);
    drain(&mut slow).await;
    for _ in 0..4 {
        fake.apply("a");
    }
    seconds(1.0).await;
    fake.kill();
    fake.apply("a");
    fake.delete("b");
    fake.forget();
    seconds(1.0).await;
    fake.revive();
    seconds(5.0).await;
    let events = drain(&mut slow).await;
    let (kept, told) = events.split_at(3);
    assert!(kept.iter().all(|event| event.starts_with("modified a")));
    assert_eq!(
        told,
        [
            "gap 105-108 slow 3",
            "vanished b 102>102",
            "skipped a 105>107",
            "synced 2 (1)",
            "live"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn several_sources_read_as_one() {
    let fake = Fake::new();
    fake.apply("a");
    fake.apply("b");
    fake.label("b", "db");
    let mux = mux(&fake);
    let mut both = Subscriptions::new();
    assert!(both.next().await.is_none());
    let web = mux.open(labelled("app=web"));
    let db = mux.open(labelled("app=db"));
    both.add(&web, Patience::Screen);
    both.add(&web, Patience::Screen);
    both.add(&db, Patience::Screen);
    let mut events = Vec::new();
    while let Ok(Some((key, event))) = timeout(Duration::from_secs(1), both.next()).await {
        events.push((
            key.select.label_selector().expect("labelled").to_owned(),
            brief(&event),
        ));
    }
    events.sort();
    let events: Vec<String> = events
        .into_iter()
        .map(|(key, event)| format!("{key} {event}"))
        .collect();
    assert_eq!(
        events,
        [
            "app=db connecting",
            "app=db listed b 103",
            "app=db live",
            "app=db synced 1 (1)",
            "app=web connecting",
            "app=web listed a 101",
            "app=web live",
            "app=web synced 1 (1)"
        ]
    );
    assert!(both.remove(web.key()));
    assert!(!both.remove(web.key()));
    fake.apply("a");
    fake.apply("b");
    let (key, event) = both.next().await.expect("open");
    assert_eq!((&key, &*brief(&event)), (db.key(), "modified b 103>105"));
}

#[tokio::test(start_paused = true)]
async fn a_busy_source_does_not_hide_a_quiet_one() {
    let fake = Fake::new();
    let mux = mux(&fake);
    let mut both = Subscriptions::new();
    for labels in ["app=web", "app=db"] {
        both.add(&mux.open(labelled(labels)), Patience::Screen);
    }
    seconds(1.0).await;
    fake.apply("b");
    fake.label("b", "db");
    for _ in 0..1000 {
        fake.apply("a");
    }
    seconds(1.0).await;
    let mut before = 0;
    while let Some((_, event)) = both.next().await {
        if brief(&event).starts_with("added b 102") {
            break;
        }
        before += 1;
    }
    assert!(before < 150, "{before}");
}

/// A subscriber joins during a burst of writes. It gets each version exactly once, from wherever it starts.
#[tokio::test(start_paused = true)]
async fn joining_in_a_burst_neither_repeats_nor_misses() {
    let fake = Fake::new();
    let (source, _first) = live(&fake, &["a", "b"]).await;
    let mut joined = Vec::new();
    for round in 0..200_u32 {
        fake.apply(if round % 3 == 0 { "a" } else { "b" });
        if round % 7 == 0 {
            tokio::task::yield_now().await;
        }
        joined.push(source.every(Patience::Screen));
    }
    for mut every in joined {
        let mut last: std::collections::BTreeMap<String, String> =
            std::collections::BTreeMap::new();
        while let Ok(Some(event)) = timeout(Duration::from_millis(100), every.next()).await {
            if let Event::Object { now, prev, .. } = event {
                let has = last.insert(now.object.name.to_string(), now.version.to_string());
                assert_eq!(has, prev.map(|prev| prev.version.to_string()));
            }
        }
        for name in ["a", "b"] {
            let newest = fake.get(name).expect("there").rv.to_string();
            assert_eq!(last.get(name), Some(&newest));
        }
    }
    let watches = fake
        .model()
        .requests
        .iter()
        .filter(|request| matches!(request, FakeRequest::Watch { .. }))
        .count();
    assert_eq!(watches, 1);
}
