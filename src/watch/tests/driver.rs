//! Tests of the driver: each way in which a list or a watch can end.

use super::*;
use crate::watch::tests::fake::{FakeRequest, Plan, WatchFault, api_error, throttled};

async fn seconds(seconds: f64) {
    tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn lists_then_watches_every_version_in_order() {
    let fake = Fake::new();
    fake.apply("b");
    fake.apply("a");
    let source = open(&fake);
    let mut every = source.every(Patience::Screen);
    assert_eq!(
        drain(&mut every).await,
        [
            "connecting",
            "listed a 102",
            "listed b 101",
            "synced 1 (2)",
            "live"
        ]
    );
    for _ in 0..3 {
        fake.apply("a");
    }
    fake.delete("b");
    fake.apply("c");
    assert_eq!(
        drain(&mut every).await,
        [
            "modified a 102>103",
            "modified a 103>104",
            "modified a 104>105",
            "deleted b 101>106",
            "added c 107"
        ]
    );
    assert_eq!(fake.asked(), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn without_watches_a_source_is_listed_once() {
    let fake = Fake::new();
    fake.apply("a");
    let options = MuxOptions {
        watches: false,
        ..MuxOptions::default()
    };
    let source = mux_with(&fake, options).open(pods());
    let mut every = source.every(Patience::Screen);
    let listed = ["connecting", "listed a 101", "synced 1 (1)", "live"];
    assert_eq!(drain(&mut every).await, listed);
    fake.apply("a");
    seconds(600.0).await;
    assert_eq!(drain(&mut every).await, [""; 0]);
    assert_eq!(fake.asked(), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_listed_body_equals_a_watched_one() {
    let fake = Fake::new();
    fake.apply("a");
    let source = open(&fake);
    let mut every = source.every(Patience::Screen);
    drain(&mut every).await;
    assert_eq!(
        *held(&source)[0].body.text(),
        fake.get("a").expect("there").body()
    );
    fake.apply("a");
    drain(&mut every).await;
    assert_eq!(
        *held(&source)[0].body.text(),
        fake.get("a").expect("there").body()
    );
}

/// However a watch ends, no event is lost, none comes twice, and no gap is reported.
#[tokio::test(start_paused = true)]
async fn a_watch_resumes_where_it_ended() {
    for (fault, words) in [
        (WatchFault::Close, vec![]),
        (
            WatchFault::Reset,
            vec!["retrying 1: connection lost: connection reset", "live"],
        ),
        (WatchFault::Half, vec!["undecodable", "retrying 1", "live"]),
        (
            WatchFault::Garbage,
            vec!["undecodable", "retrying 1", "live"],
        ),
        (
            WatchFault::UnknownType,
            vec!["undecodable", "retrying 1", "live"],
        ),
        (
            WatchFault::TooLong,
            vec!["undecodable", "retrying 1", "live"],
        ),
        (WatchFault::Error(0), vec!["retrying 1", "live"]),
        (WatchFault::Error(400), vec!["retrying 1", "live"]),
        (WatchFault::Error(418), vec!["retrying 1", "live"]),
        (WatchFault::Error(422), vec!["retrying 1", "live"]),
        (WatchFault::Error(500), vec!["retrying 1", "live"]),
        (WatchFault::Error(429), vec!["retrying 1", "live"]),
        // A server that has not sent a bookmark yet may be silent. Another watch shows whether it is alive.
        (WatchFault::Stall, vec![]),
    ] {
        let fake = Fake::new();
        fake.plan(Plan::after(1, fault));
        let (_source, mut every) = live(&fake, &["a"]).await;
        for _ in 0..4 {
            fake.apply("a");
        }
        let events = drain_for(&mut every, Duration::from_secs(400)).await;
        let (objects, others): (Vec<&String>, Vec<&String>) = events
            .iter()
            .partition(|event| event.starts_with("modified"));
        assert_eq!(
            objects,
            [
                "modified a 101>102",
                "modified a 102>103",
                "modified a 103>104",
                "modified a 104>105"
            ],
            "{fault:?}"
        );
        assert_eq!(others.len(), words.len(), "{fault:?} {others:?}");
        for (event, word) in others.iter().zip(words) {
            assert!(event.starts_with(word), "{fault:?} {others:?}");
        }
        let (lists, _) = fake.asked();
        assert_eq!(lists, 1, "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_watch_ends_sooner_after_bookmarks() {
    let fake = Fake::new();
    let (source, mut every) = live(&fake, &["a"]).await;
    seconds(70.0).await;
    fake.cut();
    fake.plan(Plan::after(0, WatchFault::Stall));
    drain(&mut every).await;
    let before = Instant::now();
    let mut state = source.shared().state();
    state
        .wait_for(|state| matches!(state, SourceState::Retrying { .. }))
        .await
        .expect("open");
    let waited = before.elapsed().as_secs_f64();
    assert!((85.0..=91.0).contains(&waited), "{waited}");
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_stalls_before_its_first_bookmark_is_replaced() {
    let fake = Fake::new();
    fake.plan(Plan::after(0, WatchFault::Stall));
    let (_source, mut every) = live(&fake, &["a"]).await;
    fake.apply("a");
    let before = Instant::now();
    let event = every.next().await.expect("open");
    assert_eq!(brief(&event), "modified a 101>102");
    let waited = before.elapsed().as_secs_f64();
    assert!((60.0..=76.0).contains(&waited), "{waited}");
}

#[tokio::test(start_paused = true)]
async fn a_server_without_bookmarks_may_be_silent() {
    let fake = Fake::new();
    fake.model().bookmarks = false;
    let (_source, mut every) = live(&fake, &["a"]).await;
    let events = drain_for(&mut every, Duration::from_secs(3600)).await;
    assert_eq!(events, Vec::<String>::new());
    let (lists, watches) = fake.asked();
    assert_eq!(lists, 1);
    assert!((40..=60).contains(&watches), "{watches}");
}

#[tokio::test(start_paused = true)]
async fn a_bookmark_advances_the_version_to_resume_from() {
    let fake = Fake::new();
    let (_source, mut every) = live(&fake, &["a"]).await;
    for _ in 0..5 {
        fake.elsewhere();
    }
    seconds(61.0).await;
    fake.cut();
    fake.forget();
    drain(&mut every).await;
    let requests = fake.model().requests.clone();
    let watch = FakeRequest::Watch {
        from: "106".to_owned(),
    };
    assert_eq!(requests[requests.len() - 2..], [watch, FakeRequest::Newest]);
    assert_eq!(fake.asked().0, 1);
}

#[tokio::test(start_paused = true)]
async fn after_a_410_the_difference_is_sent() {
    for as_status in [false, true] {
        let fake = Fake::new();
        fake.model().gone_as_status = as_status;
        fake.apply("same");
        let (_source, mut every) = live(&fake, &["changed", "gone", "again"]).await;
        fake.kill();
        fake.apply("changed");
        fake.apply("changed");
        fake.delete("gone");
        fake.delete("again");
        fake.apply("again");
        fake.apply("new");
        fake.apply("brief");
        fake.delete("brief");
        fake.forget();
        fake.revive();
        let events = drain(&mut every).await;
        assert_eq!(
            &events[events.len() - 8..],
            [
                "gap 104-112 Expired",
                "vanished again 104>104",
                "vanished gone 103>103",
                "listed again 109",
                "skipped changed 102>106",
                "listed new 110",
                "synced 2 (4)",
                "live"
            ],
            "{as_status} {events:?}"
        );
        fake.apply("new");
        assert_eq!(drain(&mut every).await, ["modified new 110>113"]);
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_410_lists_at_once_and_the_second_waits() {
    let fake = Fake::new();
    let (_source, mut every) = live(&fake, &["a"]).await;
    for _ in 0..4 {
        fake.plan(Plan::refuse(api_error(410)));
    }
    let start = Instant::now();
    fake.model().times.clear();
    fake.cut();
    drain_for(&mut every, Duration::from_secs(60)).await;
    let model = fake.model();
    let at: Vec<f64> = model
        .times
        .iter()
        .map(|at| (*at - start).as_secs_f64())
        .collect();
    // The cut and its wait; 410 and a list at once; 410, a wait and a list; and so on.
    let waits: Vec<f64> = at.windows(2).map(|at| at[1] - at[0]).collect();
    assert!(waits[0] < 0.01, "{waits:?}");
    assert!(waits[1] < 0.01, "{waits:?}");
    assert!(waits[2] >= 0.5, "{waits:?}");
    assert!(waits[4] >= 1.0, "{waits:?}");
    assert!(waits[6] >= 2.0, "{waits:?}");
}

#[tokio::test(start_paused = true)]
async fn an_event_before_each_410_does_not_cause_endless_lists() {
    let fake = Fake::new();
    let (_source, mut every) = live(&fake, &["a"]).await;
    for _ in 0..8 {
        fake.plan(Plan::after(1, WatchFault::Error(410)));
    }
    fake.cut();
    drain_for(&mut every, Duration::from_secs(1)).await;
    let (before, _) = fake.asked();
    for _ in 0..8 {
        fake.apply("a");
        drain_for(&mut every, Duration::from_millis(50)).await;
    }
    let (after, _) = fake.asked();
    assert!(after - before <= 3, "{} listings in 0.4 s", after - before);
}

#[tokio::test(start_paused = true)]
async fn a_listing_gets_past_a_line_that_is_bad_twice() {
    let fake = Fake::new();
    let (_source, mut every) = live(&fake, &["a", "b"]).await;
    fake.model().poison.insert(104);
    fake.apply("a");
    fake.apply("a");
    fake.apply("b");
    let events = drain(&mut every).await;
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    assert_eq!(events[0], "modified a 101>103");
    assert_eq!(events[1], "undecodable");
    assert!(events[2].starts_with("retrying 1"));
    assert_eq!(events[3], "undecodable");
    assert!(events[4].starts_with("retrying"));
    assert_eq!(
        events[5..],
        [
            "modified a 103>104 read back",
            "modified b 102>105 read back",
            "synced 2 (2)",
            "live"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn repeated_events_are_dropped() {
    let fake = Fake::new();
    fake.apply("x");
    fake.delete("x");
    let (_source, mut every) = live(&fake, &["a", "b"]).await;
    fake.apply("a");
    fake.apply("c");
    fake.apply("a");
    fake.delete("c");
    fake.delete("b");
    drain(&mut every).await;
    fake.plan(Plan::replay(100));
    fake.cut();
    fake.apply("a");
    let events = drain(&mut every).await;
    assert_eq!(events[1..], ["live", "modified a 107>110"]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_ends_at_once_is_delayed() {
    let fake = Fake::new();
    let (_source, _every) = live(&fake, &["a"]).await;
    for _ in 0..1000 {
        fake.plan(Plan::after(0, WatchFault::Close));
    }
    fake.cut();
    seconds(60.0).await;
    let (_, watches) = fake.asked();
    assert!(watches < 12, "{watches}");
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_ends_after_a_bookmark_is_delayed() {
    let fake = Fake::new();
    let (_source, _every) = live(&fake, &["a"]).await;
    for _ in 0..1000 {
        fake.plan(Plan::after(1, WatchFault::Close));
    }
    fake.cut();
    for _ in 0..600 {
        fake.apply("a");
        seconds(0.1).await;
    }
    let (_, watches) = fake.asked();
    assert!((60..=260).contains(&watches), "{watches}");
}

#[tokio::test(start_paused = true)]
async fn a_clean_end_after_a_while_reconnects_at_once_and_stays_live() {
    let fake = Fake::new();
    fake.plan(Plan::after(1, WatchFault::Close));
    let (_source, mut every) = live(&fake, &["a"]).await;
    seconds(30.0).await;
    fake.apply("a");
    fake.apply("a");
    assert_eq!(
        drain(&mut every).await,
        ["modified a 101>102", "modified a 102>103"]
    );
    assert_eq!(fake.asked(), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn a_source_is_not_live_while_a_watch_opens_slowly() {
    let fake = Fake::new();
    fake.plan(Plan::after(1, WatchFault::Close));
    let (source, mut every) = live(&fake, &["a"]).await;
    seconds(30.0).await;
    fake.model().opening = Duration::from_secs(20);
    fake.apply("a");
    seconds(0.9).await;
    assert_eq!(state(&source), SourceState::Live);
    seconds(0.2).await;
    assert!(matches!(&state(&source), SourceState::Retrying { .. }));
    seconds(20.0).await;
    assert_eq!(
        drain(&mut every).await,
        [
            "modified a 101>102",
            "retrying 1: the server ended the watch",
            "live"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_killed_server_is_retried_until_it_is_back() {
    let fake = Fake::new();
    let (source, mut every) = live(&fake, &["a"]).await;
    fake.kill();
    seconds(120.0).await;
    assert!(matches!(
        &state(&source),
        SourceState::Retrying { attempt, cause, .. } if *attempt > 4 && **cause == *"connection refused"
    ));
    let (_, watches) = fake.asked();
    assert!(watches < 16, "{watches}");
    fake.apply("a");
    fake.revive();
    let events = drain_for(&mut every, Duration::from_secs(40)).await;
    let (all, tail) = events.split_at(events.len() - 2);
    assert_eq!(tail, ["live", "modified a 101>102"]);
    assert!(
        all.iter().all(|event| event.starts_with("retrying")),
        "{all:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn retrying_names_the_time_of_the_next_attempt() {
    let fake = Fake::new();
    fake.model().lists.push_back(throttled(7));
    let source = open(&fake);
    seconds(1.0).await;
    let retrying = state(&source);
    let SourceState::Retrying { attempt, until, .. } = retrying else {
        panic!("{retrying:?}");
    };
    assert_eq!(attempt, 1);
    let until = until.as_millisecond();
    assert!((7000..7010).contains(&until), "{until}");
    seconds(7.0).await;
    assert_eq!(state(&source), SourceState::Live);
}

#[tokio::test(start_paused = true)]
async fn failing_lists_back_off() {
    let fake = Fake::new();
    fake.model().no_list = Some(api_error(500));
    let _source = open(&fake);
    seconds(60.0).await;
    let (lists, _) = fake.asked();
    assert!((6..=10).contains(&lists), "{lists}");
}

#[tokio::test(start_paused = true)]
async fn a_first_forbidden_is_reported_at_once_and_retried_rarely() {
    let fake = Fake::new();
    fake.model().no_list = Some(api_error(403));
    let source = open(&fake);
    let mut every = source.every(Patience::Screen);
    assert_eq!(drain(&mut every).await, ["connecting", "forbidden"]);
    seconds(600.0).await;
    assert!((3..=8).contains(&fake.asked().0), "{:?}", fake.asked());
    fake.revive();
    seconds(300.0).await;
    let events = drain(&mut every).await;
    assert_eq!(events, ["synced 1 (0)", "live"]);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_after_success_is_doubted_for_ten_seconds() {
    for code in [401, 403, 404] {
        let fake = Fake::new();
        let (source, mut every) = live(&fake, &["a"]).await;
        fake.kill();
        seconds(1.0).await;
        fake.model().no_list = Some(api_error(code));
        fake.model().no_watch = Some(api_error(code));
        seconds(9.0).await;
        let state = state(&source);
        assert!(matches!(state, SourceState::Retrying { .. }), "{state:?}");
        fake.revive();
        fake.apply("a");
        let events = drain(&mut every).await;
        let tail = &events[events.len() - 2..];
        assert_eq!(tail, ["live", "modified a 101>102"], "{code}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lasting_refusal_is_believed() {
    for (code, word) in [(401, "failed"), (403, "forbidden"), (404, "unserved")] {
        let fake = Fake::new();
        let (_source, mut every) = live(&fake, &["a"]).await;
        fake.model().no_list = Some(api_error(code));
        fake.model().no_watch = Some(api_error(code));
        fake.cut();
        seconds(15.0).await;
        let early = drain_for(&mut every, Duration::from_millis(1)).await;
        // The source might still be listed, and a refusal of that is doubted too.
        seconds(15.0).await;
        let events = drain_for(&mut every, Duration::from_millis(1)).await;
        let last = early.iter().chain(&events).next_back().expect("some");
        assert!(last.starts_with(word), "{code} {events:?}");
    }
}

/// A listing has succeeded before, so the request itself is right.
#[tokio::test(start_paused = true)]
async fn a_rejection_after_a_long_refusal_is_retried() {
    let fake = Fake::new();
    let (_source, mut every) = live(&fake, &["a"]).await;
    fake.model().no_list = Some(api_error(403));
    fake.model().no_watch = Some(api_error(403));
    fake.cut();
    seconds(60.0).await;
    let events = drain_for(&mut every, Duration::from_millis(1)).await;
    assert!(events.ends_with(&["forbidden".to_owned()]), "{events:?}");
    fake.model().lists.push_back(api_error(400));
    fake.revive();
    seconds(400.0).await;
    let events = drain(&mut every).await;
    assert!(events.ends_with(&["live".to_owned()]), "{events:?}");
}

#[tokio::test(start_paused = true)]
async fn an_unserved_kind_is_requested_until_it_is_served() {
    let fake = Fake::new();
    fake.model().no_list = Some(api_error(404));
    let source = open(&fake);
    let mut every = source.every(Patience::Screen);
    seconds(299.0).await;
    assert_eq!(drain(&mut every).await, ["connecting", "unserved"]);
    assert!((10..=21).contains(&fake.asked().0), "{:?}", fake.asked());
    fake.revive();
    seconds(31.0).await;
    assert_eq!(drain(&mut every).await, ["synced 1 (0)", "live"]);
}

#[tokio::test(start_paused = true)]
async fn a_resource_without_watch_is_polled() {
    for code in [403, 405] {
        let fake = Fake::new();
        fake.model().no_watch = Some(api_error(code));
        fake.apply("a");
        fake.apply("b");
        let source = open(&fake);
        let mut every = source.every(Patience::Screen);
        assert_eq!(
            drain(&mut every).await,
            [
                "connecting",
                "listed a 101",
                "listed b 102",
                "synced 1 (2)",
                "polling"
            ],
            "{code}"
        );
        seconds(100.0).await;
        assert_eq!(drain(&mut every).await.len(), 0);
        assert!((8..=24).contains(&fake.asked().0), "{:?}", fake.asked());
        fake.apply("a");
        fake.apply("a");
        fake.delete("b");
        seconds(16.0).await;
        assert_eq!(
            drain(&mut every).await,
            [
                "modified a 101>103 read back",
                "modified a 103>104 read back",
                "deleted b 102>105 read back",
                "synced 2 (1)"
            ]
        );
        fake.revive();
        seconds(320.0).await;
        assert_eq!(drain(&mut every).await, ["live"]);
    }
}

#[tokio::test(start_paused = true)]
async fn final_errors_fail_the_source() {
    for code in [400, 401, 405, 422] {
        let fake = Fake::new();
        fake.model().no_list = Some(api_error(code));
        let source = open(&fake);
        seconds(300.0).await;
        assert!(
            matches!(&state(&source), SourceState::Failed { .. }),
            "{code}"
        );
        assert_eq!(fake.asked(), (1, 0), "{code}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_expired_page_restarts_the_listing() {
    for (expired, limits) in [
        (0, vec![500, 500, 500]),
        (1, vec![500, 500, 500, 500, 500]),
        (2, vec![500, 500, 500, 500, 0]),
    ] {
        let fake = Fake::new();
        fake.model().page_items = 2;
        for _ in 0..expired {
            fake.model().pages.push_back(api_error(410));
        }
        let (source, _every) = live(&fake, &["a", "b", "c", "d", "e"]).await;
        assert_eq!(held(&source).len(), 5);
        let model = fake.model();
        let asked: Vec<u32> = model
            .requests
            .iter()
            .filter_map(|request| match request {
                FakeRequest::List { limit, .. } => Some(*limit),
                FakeRequest::Watch { .. } | FakeRequest::Newest => None,
            })
            .collect();
        assert_eq!(asked, limits);
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_on_two_pages_is_one_object() {
    let fake = Fake::new();
    fake.model().page_items = 2;
    fake.apply("a");
    fake.apply("b");
    fake.apply("c");
    let doubled = fake.get("a").expect("there");
    fake.model().doubled = Some(doubled);
    let source = open(&fake);
    let mut every = source.every(Patience::Screen);
    assert_eq!(
        drain(&mut every).await,
        [
            "connecting",
            "listed c 103",
            "listed a 101",
            "synced 1 (3)",
            "live"
        ]
        .into_iter()
        .flat_map(|event| match event {
            "listed c 103" => vec!["listed b 102", "listed c 103"],
            event => vec![event],
        })
        .collect::<Vec<_>>()
    );
}

#[tokio::test(start_paused = true)]
async fn leaving_a_selector_is_not_a_deletion() {
    let fake = Fake::new();
    for name in ["gone", "left", "term", "swap"] {
        fake.apply(name);
    }
    let source = mux(&fake).open(labelled("app == web"));
    let mut every = source.every(Patience::Screen);
    drain(&mut every).await;
    fake.label("left", "db");
    fake.delete("gone");
    fake.terminate("term");
    fake.delete("term");
    assert_eq!(
        drain(&mut every).await,
        [
            "left left 102>105",
            "deleted gone 101>106",
            "modified term 103>107",
            "deleted term 107>108"
        ]
    );
    // The object is replaced before the driver asks for it: the name has another uid.
    fake.delete("swap");
    fake.apply("swap");
    fake.label("left", "web");
    assert_eq!(
        drain(&mut every).await,
        ["deleted swap 104>109", "added swap 110", "added left 111"]
    );
    let asked = fake.model().requests.iter().any(
        |request| matches!(request, FakeRequest::List { fields: Some(fields), .. } if fields == "metadata.name=term"),
    );
    assert!(!asked, "a deletionTimestamp says enough");
}

#[tokio::test(start_paused = true)]
async fn without_an_answer_a_deletion_is_not_claimed() {
    let fake = Fake::new();
    fake.apply("a");
    fake.apply("b");
    let source = mux(&fake).open(labelled("app=web"));
    let mut every = source.every(Patience::Screen);
    drain(&mut every).await;
    fake.model().lists.push_back(api_error(403));
    fake.label("a", "db");
    assert_eq!(drain(&mut every).await, ["vanished a 101>103"]);
    // The server is unreachable when the driver asks, so the watch resumes before the event.
    fake.model().lists.push_back(api_error(500));
    fake.label("b", "db");
    let events = drain(&mut every).await;
    assert_eq!(events[1..], ["live", "left b 102>104"]);
}

#[tokio::test(start_paused = true)]
async fn a_source_by_name_believes_deleted() {
    let fake = Fake::new();
    fake.apply("a");
    let key = SourceKey {
        select: Select::Name("a".into()),
        ..pods()
    };
    let source = mux(&fake).open(key);
    let mut every = source.every(Patience::Screen);
    drain(&mut every).await;
    fake.delete("a");
    fake.apply("a");
    assert_eq!(
        drain(&mut every).await,
        ["deleted a 101>102", "added a 103"]
    );
    assert_eq!(fake.asked(), (1, 1));
}

/// An object that is created and deleted between two polls is in neither. The gap at the end shows that this is
/// possible.
#[tokio::test(start_paused = true)]
async fn polls_without_changes_end_with_a_gap() {
    let fake = Fake::new();
    fake.model().no_watch = Some(api_error(405));
    fake.apply("a");
    let source = open(&fake);
    let mut every = source.every(Patience::Screen);
    let start = ["connecting", "listed a 101", "synced 1 (1)", "polling"];
    assert_eq!(drain(&mut every).await, start);
    fake.apply("b");
    fake.delete("b");
    let poll = Duration::from_secs(40);
    assert_eq!(drain_for(&mut every, poll).await, Vec::<String>::new());

    // A subscriber that joins now has all current objects, so the gap is before its snapshot.
    let mut late = source.every(Patience::Screen);
    assert_eq!(drain(&mut every).await, ["gap 101-103 Polled"]);
    let start = ["polling", "listed a 101", "synced 1 (1)"];
    assert_eq!(drain(&mut late).await, start);

    fake.apply("c");
    fake.delete("c");
    drain_for(&mut every, poll).await;
    fake.revive();
    seconds(300.0).await;
    for every in [&mut every, &mut late] {
        assert_eq!(drain(every).await, ["gap 103-105 Polled", "live"]);
    }
}

/// Some aggregated servers list without a resourceVersion. A watch without one could begin anywhere.
#[tokio::test(start_paused = true)]
async fn a_list_without_a_version_is_polled() {
    let fake = Fake::new();
    fake.model().unversioned = true;
    fake.apply("a");
    let source = open(&fake);
    let mut every = source.every(Patience::Screen);
    let start = ["connecting", "listed a 101", "synced 1 (1)", "polling"];
    assert_eq!(drain(&mut every).await, start);
    let SourceState::Polling { cause } = state(&source) else {
        panic!("polling");
    };
    assert_eq!(
        &*cause,
        "the server's list has no resourceVersion to watch from"
    );
    fake.apply("a");
    fake.apply("b");
    seconds(16.0).await;
    let told = [
        "gap - Polled",
        "skipped a 101>102",
        "listed b 103",
        "synced 2 (2)",
    ];
    assert_eq!(drain(&mut every).await, told);
    // The source stays polled long after the time of the next watch, and after a refusal too.
    fake.model().lists.push_back(api_error(403));
    seconds(2000.0).await;
    assert_eq!(fake.asked().1, 0, "no watch from anywhere");

    fake.model().unversioned = false;
    seconds(400.0).await;
    assert_eq!(state(&source), SourceState::Live);
}
