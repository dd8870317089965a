//! Tests of `retrying_transport`.

use std::sync::Mutex;

use jiff::Timestamp;
use tokio::time::{Instant, timeout};

use super::*;
use crate::watch::revision::Revision;
use crate::watch::tests::fake::{api_error, pods, throttled};

const LIMIT: Duration = Duration::from_secs(12);

/// A server that answers with these errors, the last one first, and then with an empty list.
struct Scripted(Mutex<(Vec<SourceError>, usize)>);

impl Transport for Scripted {
    fn list<'a>(
        &'a self,
        _: &'a SourceKey,
        _: At,
        _: Page,
    ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
        Box::pin(async {
            let mut script = self.0.lock().expect("no thread panicked with the lock");
            script.1 += 1;
            script.0.pop().map_or_else(
                || {
                    Ok(ListPage {
                        version: ResourceVersion::new("1"),
                        items: Vec::new(),
                        next: None,
                    })
                },
                Err,
            )
        })
    }

    fn watch<'a>(
        &'a self,
        _: &'a SourceKey,
        _: &'a ResourceVersion,
    ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
        Box::pin(async { Err(api_error(405)) })
    }
}

struct Tried {
    is_answered: bool,
    tries: usize,
    took: Duration,
}

async fn read(retrying: &RetryingTransport, scripted: &Scripted) -> Tried {
    let (begun, before) = (Instant::now(), scripted.0.lock().expect("unlocked").1);
    let answer = retrying.list(&pods(), At::Latest, Page::default()).await;
    let tries = scripted.0.lock().expect("unlocked").1 - before;
    Tried {
        is_answered: answer.is_ok(),
        tries,
        took: begun.elapsed(),
    }
}

fn retrying(errors: Vec<SourceError>) -> (RetryingTransport, Arc<Scripted>) {
    let scripted = Arc::new(Scripted(Mutex::new((errors, 0))));
    (RetryingTransport::new(scripted.clone(), LIMIT), scripted)
}

#[tokio::test(start_paused = true)]
async fn transient_errors_are_retried() {
    let refused = SourceError::Connect {
        detail: "refused".into(),
    };
    for error in [429, 500, 502, 503, 504]
        .map(api_error)
        .into_iter()
        .chain([refused])
    {
        let (retrying, scripted) = retrying(vec![error.clone(), error.clone()]);
        let tried = read(&retrying, &scripted).await;
        assert!(tried.is_answered && tried.tries == 3, "{error:?}");
    }
    for code in [400, 401, 403, 404, 405, 410, 422] {
        let (retrying, scripted) = retrying(vec![api_error(code)]);
        let tried = read(&retrying, &scripted).await;
        assert!(!tried.is_answered && tried.tries == 1, "{code}");
    }
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_respected() {
    for (asked, waited) in [(7, 7), (3600, LONGEST_ASKED.as_secs())] {
        let (retrying, scripted) = retrying(vec![throttled(asked)]);
        let tried = read(&retrying, &scripted).await;
        assert!(tried.is_answered);
        assert_eq!(tried.took.as_secs(), waited);
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_timeout_each_request_is_tried_once() {
    let (retrying, scripted) = retrying(vec![api_error(503); 99]);
    let tried = read(&retrying, &scripted).await;
    assert!(!tried.is_answered && (6..=8).contains(&tried.tries));
    assert_eq!(tried.took, LIMIT);
    for _ in 0..2 {
        let tried = read(&retrying, &scripted).await;
        assert_eq!((tried.is_answered, tried.tries), (false, 1));
    }
    scripted.0.lock().expect("unlocked").0.clear();
    // The server is back, so a later failure is retried again.
    assert!(read(&retrying, &scripted).await.is_answered);
    scripted.0.lock().expect("unlocked").0 = vec![api_error(503)];
    assert_eq!(read(&retrying, &scripted).await.tries, 2);
}

/// The driver of the source asks the server again meanwhile, and the backfill waits for that.
#[tokio::test(start_paused = true)]
async fn the_time_limit_pauses_while_the_driver_waits_for_the_server() {
    let cause = || Arc::from("code 503");
    for (state, pauses) in [
        (SourceState::Connecting, true),
        (
            SourceState::Retrying {
                attempt: 1,
                cause: cause(),
                until: Timestamp::UNIX_EPOCH,
                is_throttled: false,
            },
            true,
        ),
        (SourceState::Forbidden { cause: cause() }, true),
        (SourceState::Unserved { cause: cause() }, true),
        (SourceState::Live, false),
        (SourceState::Polling { cause: cause() }, false),
        (SourceState::Failed { cause: cause() }, false),
        (SourceState::Ended, false),
    ] {
        let (retrying, scripted) = retrying(vec![api_error(503); 99]);
        let (sender, states) = watch::channel(state.clone());
        let retrying = retrying.while_live(states);
        let read_for = timeout(LIMIT * 20, read(&retrying, &scripted));
        assert_eq!(read_for.await.is_err(), pauses, "{state:?}");
        sender.send_replace(SourceState::Live);
        scripted.0.lock().expect("unlocked").0 = vec![api_error(503); 99];
        let tried = read(&retrying, &scripted).await;
        let limit = if pauses { LIMIT } else { Duration::ZERO };
        assert!(!tried.is_answered && tried.took == limit, "{state:?}");
    }
}

async fn read_past(retrying: &RetryingTransport, scripted: &Scripted) -> Tried {
    let (begun, before) = (Instant::now(), scripted.0.lock().expect("unlocked").1);
    let at = At::Exact(Revision::read("5").expect("a revision"));
    let answer = retrying.list(&pods(), at, Page::default()).await;
    let tries = scripted.0.lock().expect("unlocked").1 - before;
    Tried {
        is_answered: answer.is_ok(),
        tries,
        took: begun.elapsed(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_returns_its_past_is_asked_for_a_few_seconds() {
    for (error, limit) in [
        (api_error(500), REFUSAL),
        (api_error(504), REFUSAL),
        // These may pass: the server is too busy, or starts.
        (api_error(429), LIMIT),
        (throttled(1), LIMIT),
    ] {
        let past = Arc::<ServerPast>::default();
        let source = || {
            let (retrying, scripted) = retrying(vec![error.clone(); 99]);
            (retrying.of_past(past.clone()), scripted)
        };
        let (one, scripted) = source();
        let tried = read_past(&one, &scripted).await;
        assert!(!tried.is_answered && tried.took >= limit, "{error:?}");
        assert!(tried.took < limit + Duration::from_secs(2), "{error:?}");
        assert!(one.trouble().is_some());
        // Other requests are answered, and no source asks for the past again.
        scripted.0.lock().expect("unlocked").0.clear();
        assert!(read(&one, &scripted).await.is_answered);
        let (other, scripted) = source();
        let tried = read_past(&other, &scripted).await;
        assert_eq!((tried.is_answered, tried.tries), (false, 0), "{error:?}");
        // Later the server may offer it.
        sleep(Duration::from_secs(30)).await;
        scripted.0.lock().expect("unlocked").0.clear();
        assert!(read_past(&other, &scripted).await.is_answered);
        assert!(other.trouble().is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_returned_its_past_may_fail_for_longer() {
    let (one, scripted) = retrying(Vec::new());
    let one = one.of_past(Arc::default());
    assert!(read_past(&one, &scripted).await.is_answered);
    scripted.0.lock().expect("unlocked").0 = vec![api_error(500); 99];
    let tried = read_past(&one, &scripted).await;
    assert_eq!((tried.is_answered, tried.took), (false, LIMIT));
}
