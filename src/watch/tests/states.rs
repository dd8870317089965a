//! Tests of the states of a source: it is live only when it is connected, and a routine end is not reported.

use super::*;
use crate::watch::tests::fake::{Plan, WatchFault, api_error};

async fn seconds(seconds: f64) {
    tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
}

fn state(source: &Source) -> String {
    brief(&Event::State(super::state(source)))
}

/// The server runs again, and refuses every request.
fn refuse(fake: &Fake, code: u16) {
    fake.model().no_list = Some(api_error(code));
    fake.model().no_watch = Some(api_error(code));
}

#[tokio::test(start_paused = true)]
async fn the_first_refusal_of_a_starting_server_is_doubted() {
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
async fn a_source_opened_after_an_outage_doubts_refusals_too() {
    let fake = Fake::new();
    let mux = mux(&fake);
    let old = mux.open(pods());
    seconds(60.0).await;
    fake.kill();
    seconds(20.0).await;
    refuse(&fake, 403);
    // The old source waits up to 16 s, so a new source reaches the server first.
    let new = mux.open(labelled("app=web"));
    seconds(2.0).await;
    assert!(state(&new).starts_with("retrying"), "{}", state(&new));
    fake.revive();
    seconds(1.0).await;
    assert_eq!(state(&new), "live");
    // A further source opens just after that.
    refuse(&fake, 403);
    let newer = mux.open(labelled("app=db"));
    seconds(1.0).await;
    assert!(state(&newer).starts_with("retrying"), "{}", state(&newer));
    drop(old);
}

/// Behind a load balancer, another server takes over, and no source notices an outage.
#[tokio::test(start_paused = true)]
async fn all_sources_doubt_a_server_that_refuses_after_success() {
    let fake = Fake::new();
    fake.plan(Plan::after(1, WatchFault::Close));
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
async fn a_running_server_is_believed_at_once() {
    let fake = Fake::new();
    let mux = mux(&fake);
    let old = mux.open(pods());
    seconds(60.0).await;
    assert_eq!(state(&old), "live");
    fake.model().no_list = Some(api_error(403));
    let new = mux.open(labelled("app=web"));
    seconds(0.1).await;
    assert_eq!(state(&new), "forbidden");
    // An outage of another cluster does not matter here.
    let other = Fake::new();
    other.kill();
    let _away = super::mux(&other).open(pods());
    let newer = mux.open(labelled("app=db"));
    seconds(0.1).await;
    assert_eq!(state(&newer), "forbidden");
}

#[tokio::test(start_paused = true)]
async fn a_lasting_refusal_after_an_outage_is_reported_once() {
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
async fn a_source_is_not_live_while_its_resume_expires() {
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
async fn a_resumed_idle_watch_is_live_after_its_trial() {
    let fake = Fake::new();
    let (source, mut every) = live(&fake, &["a"]).await;
    fake.plan(Plan::after(0, WatchFault::None));
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
async fn the_first_line_ends_the_trial_of_a_resumed_watch() {
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
async fn the_first_watch_is_live_when_it_opens() {
    let fake = Fake::new();
    let source = open(&fake);
    seconds(0.01).await;
    assert_eq!(state(&source), "live");
}

#[tokio::test(start_paused = true)]
async fn one_early_end_of_a_watch_is_not_reported() {
    let fake = Fake::new();
    let (_source, mut every) = live(&fake, &["a"]).await;
    // The watch after the routine end is closed at once, and the one after that continues.
    fake.plan(Plan::after(0, WatchFault::Close));
    seconds(30.0).await;
    fake.cut();
    fake.apply("a");
    assert_eq!(drain(&mut every).await, ["modified a 101>102"]);
    assert_eq!(fake.asked(), (1, 3));
}

#[tokio::test(start_paused = true)]
async fn a_second_early_end_of_a_watch_is_reported() {
    let fake = Fake::new();
    for _ in 0..3 {
        fake.plan(Plan::after(0, WatchFault::Close));
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

/// Load balancers cut connections after a while.
#[tokio::test(start_paused = true)]
async fn the_cut_of_a_long_watch_is_not_reported() {
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
async fn the_cut_of_a_long_watch_by_an_outage_is_reported_at_once() {
    let fake = Fake::new();
    let (source, _every) = live(&fake, &["a"]).await;
    seconds(30.0).await;
    fake.kill();
    seconds(0.01).await;
    assert_eq!(state(&source), "retrying 1: connection refused");
}

#[tokio::test(start_paused = true)]
async fn the_cause_of_a_cut_is_shown_while_the_next_watch_opens_slowly() {
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
