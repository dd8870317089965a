//! Tests of what a source says of itself: live only when it is, and no word of what is routine.

use super::*;
use crate::watch::fake::{Fault, Plan, api_error};

async fn seconds(seconds: f64) {
    tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
}

fn state(source: &Source) -> String {
    brief(&Event::State(super::state(source)))
}

/// The server runs again, and refuses everybody.
fn refuse(fake: &Fake, code: u16) {
    fake.model().no_list = Some(api_error(code));
    fake.model().no_watch = Some(api_error(code));
}

#[tokio::test(start_paused = true)]
async fn the_first_refusal_of_a_server_that_starts_is_doubted() {
    for code in [401, 403, 404] {
        let fake = Fake::new();
        fake.kill();
        let source = open(&fake);
        seconds(3.0).await;
        refuse(&fake, code);
        seconds(8.0).await;
        assert!(
            state(&source).starts_with("retrying"),
            "{code} {}",
            state(&source)
        );
        fake.revive();
        seconds(1.0).await;
        assert_eq!(state(&source), "live", "{code}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_source_that_comes_after_an_outage_doubts_as_the_others_do() {
    let fake = Fake::new();
    let mux = mux(&fake);
    let old = mux.open(pods());
    seconds(60.0).await;
    fake.kill();
    seconds(20.0).await;
    refuse(&fake, 403);
    // Until the old source, which waits up to 16 s, has met the server again, a new one meets it first.
    let new = mux.open(labelled("app=web"));
    seconds(2.0).await;
    assert!(state(&new).starts_with("retrying"), "{}", state(&new));
    fake.revive();
    seconds(1.0).await;
    assert_eq!(state(&new), "live");
    // And one that comes just after.
    refuse(&fake, 403);
    let newer = mux.open(labelled("app=db"));
    seconds(1.0).await;
    assert!(state(&newer).starts_with("retrying"), "{}", state(&newer));
    drop(old);
}

/// Behind a load balancer a server goes and another comes that is not to be seen away.
#[tokio::test(start_paused = true)]
async fn a_server_that_refuses_what_worked_is_doubted_by_all() {
    let fake = Fake::new();
    fake.plan(Plan::after(1, Fault::Close));
    let mux = mux(&fake);
    let old = mux.open(pods());
    seconds(60.0).await;
    refuse(&fake, 403);
    fake.apply("a");
    seconds(0.1).await;
    assert!(state(&old).starts_with("retrying"), "{}", state(&old));
    let new = mux.open(labelled("app=web"));
    seconds(0.1).await;
    assert!(state(&new).starts_with("retrying"), "{}", state(&new));
    fake.revive();
    seconds(1.0).await;
    assert_eq!((state(&old), state(&new)), ("live".into(), "live".into()));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_runs_is_believed_at_once() {
    let fake = Fake::new();
    let mux = mux(&fake);
    let old = mux.open(pods());
    seconds(60.0).await;
    assert_eq!(state(&old), "live");
    fake.model().no_list = Some(api_error(403));
    let new = mux.open(labelled("app=web"));
    seconds(0.1).await;
    assert_eq!(state(&new), "forbidden");
    // Another cluster's outage is none of this one's.
    let other = Fake::new();
    other.kill();
    let _away = super::mux(&other).open(pods());
    let newer = mux.open(labelled("app=db"));
    seconds(0.1).await;
    assert_eq!(state(&newer), "forbidden");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_after_an_outage_that_stays_is_believed_once() {
    let fake = Fake::new();
    fake.kill();
    let source = open(&fake);
    let mut every = source.every(Patience::Screen);
    seconds(3.0).await;
    refuse(&fake, 403);
    seconds(600.0).await;
    let events = drain(&mut every).await;
    let believed = events.iter().position(|event| event == "forbidden");
    assert_eq!(believed, Some(events.len() - 1), "{events:?}");
}

#[tokio::test(start_paused = true)]
async fn a_resume_that_is_forgotten_is_never_called_live() {
    let fake = Fake::new();
    let (_source, mut every) = live(&fake, &["a"]).await;
    fake.kill();
    seconds(2.0).await;
    fake.apply("a");
    fake.forget();
    fake.revive();
    let events = drain(&mut every).await;
    let tail = ["modified a 101>102 read back", "synced 2 (1)", "live"];
    let (before, after) = events.split_at(events.len() - tail.len());
    assert_eq!(after, tail);
    assert!(
        before.iter().all(|event| event.starts_with("retrying")),
        "{events:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_idle_watch_that_is_resumed_is_live_after_a_moment() {
    let fake = Fake::new();
    let (source, mut every) = live(&fake, &["a"]).await;
    fake.plan(Plan::after(0, Fault::None));
    fake.cut();
    seconds(0.6).await;
    let (_, watches) = fake.asked();
    assert_eq!(watches, 2);
    seconds(0.25).await;
    assert_eq!(state(&source), "live");
    let events = drain(&mut every).await;
    assert_eq!(events.len(), 2, "{events:?}");
}

#[tokio::test(start_paused = true)]
async fn a_line_shows_that_a_resumed_watch_is_live() {
    let fake = Fake::new();
    let (_source, mut every) = live(&fake, &["a"]).await;
    fake.cut();
    fake.apply("a");
    let mut retried = None;
    loop {
        let event = brief(&every.next().await.expect("open"));
        match &*event {
            "live" => break,
            _ => retried = Some(Instant::now()),
        }
    }
    let waited = retried.expect("it was cut").elapsed();
    assert!(waited <= Duration::from_millis(502), "{waited:?}");
    assert_eq!(drain(&mut every).await, ["modified a 101>102"]);
}

#[tokio::test(start_paused = true)]
async fn the_first_watch_is_live_as_it_opens() {
    let fake = Fake::new();
    let source = open(&fake);
    seconds(0.01).await;
    assert_eq!(state(&source), "live");
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_is_closed_early_once_is_no_news() {
    let fake = Fake::new();
    let (_source, mut every) = live(&fake, &["a"]).await;
    // The one after the routine end is closed at once, and the one after that goes on.
    fake.plan(Plan::after(0, Fault::Close));
    seconds(30.0).await;
    fake.cut();
    fake.apply("a");
    assert_eq!(drain(&mut every).await, ["modified a 101>102"]);
    assert_eq!(fake.asked(), (1, 3));
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_is_closed_early_again_is_retried() {
    let fake = Fake::new();
    for _ in 0..3 {
        fake.plan(Plan::after(0, Fault::Close));
    }
    let source = open(&fake);
    let mut every = source.every(Patience::Screen);
    assert_eq!(
        drain_for(&mut every, Duration::from_secs(10)).await,
        [
            "connecting",
            "synced 1 (0)",
            "live",
            "retrying 2: the server ended the watch",
            "retrying 3: the server ended the watch",
            "live"
        ]
    );
}

/// Load balancers cut what they have carried for a while.
#[tokio::test(start_paused = true)]
async fn a_long_watch_that_is_cut_is_no_news() {
    let fake = Fake::new();
    let (_source, mut every) = live(&fake, &["a"]).await;
    for _ in 0..5 {
        seconds(30.0).await;
        fake.cut();
    }
    fake.apply("a");
    assert_eq!(drain(&mut every).await, ["modified a 101>102"]);
    assert_eq!(fake.asked(), (1, 6));
}

#[tokio::test(start_paused = true)]
async fn a_long_watch_that_is_cut_by_an_outage_is_news_at_once() {
    let fake = Fake::new();
    let (source, _every) = live(&fake, &["a"]).await;
    seconds(30.0).await;
    fake.kill();
    seconds(0.01).await;
    assert_eq!(state(&source), "retrying 1: connection refused");
}

#[tokio::test(start_paused = true)]
async fn what_cut_a_watch_is_named_when_the_next_takes_long_to_open() {
    let fake = Fake::new();
    let (source, _every) = live(&fake, &["a"]).await;
    seconds(30.0).await;
    fake.model().opening = Duration::from_secs(20);
    fake.cut();
    seconds(1.1).await;
    assert_eq!(
        state(&source),
        "retrying 1: connection lost: connection reset"
    );
}

#[tokio::test(start_paused = true)]
async fn an_idle_source_is_not_read_before_it_is_started() {
    let fake = Fake::new();
    fake.apply("a");
    let source = mux(&fake).open_idle(pods());
    seconds(5.0).await;
    assert_eq!(fake.asked(), (0, 0));
    let mut every = source.every(Patience::Screen);
    source.start();
    source.start();
    let events = drain(&mut every).await;
    assert_eq!(
        events.last().map(String::as_str),
        Some("live"),
        "{events:?}"
    );
    assert_eq!(fake.asked(), (1, 1));
}
