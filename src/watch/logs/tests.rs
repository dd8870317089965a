//! Tests of the tasks that read logs, under tokio's paused clock.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use tokio::time::{Instant, sleep};

use super::{FeedStatus, LogFeeds};
use crate::logs::{ContainerLogs, LogContainerRole, ReadInstances, ReadOptions, SeenInstance};
use crate::object::{ObjectRef, ResourceVersion, Uid};
use crate::source::log::{LogContainer, LogEvent, LogRefusal, LogRequest};
use crate::source::{ClusterId, SourceKey};
use crate::watch::{At, LineStream, ListPage, LogAnswer, Page, SourceError, Transport};

/// A server whose logs are the answers of a function. It notes when each request came.
struct LogServer<F> {
    answer: F,
    requests: Mutex<Vec<(Duration, LogRequest)>>,
    started: Instant,
}

impl<F: Fn(&LogRequest) -> LogAnswer + Send + Sync + 'static> LogServer<F> {
    fn new(answer: F) -> Arc<LogServer<F>> {
        let (requests, started) = (Mutex::default(), Instant::now());
        Arc::new(LogServer {
            answer,
            requests,
            started,
        })
    }

    fn asked(&self) -> Vec<(Duration, LogRequest)> {
        self.requests.lock().expect("whole").clone()
    }
}

impl<F: Fn(&LogRequest) -> LogAnswer + Send + Sync + 'static> Transport for LogServer<F> {
    fn list<'a>(
        &'a self,
        _: &'a SourceKey,
        _: At,
        _: Page,
    ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
        Box::pin(async { Err(SourceError::Ended) })
    }

    fn watch<'a>(
        &'a self,
        _: &'a SourceKey,
        _: &'a ResourceVersion,
    ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
        Box::pin(async { Err(SourceError::Ended) })
    }

    fn log<'a>(&'a self, request: &'a LogRequest) -> BoxFuture<'a, Result<LogAnswer, LogRefusal>> {
        let came = self.started.elapsed();
        self.requests
            .lock()
            .expect("whole")
            .push((came, request.clone()));
        Box::pin(async move { Ok((self.answer)(request)) })
    }
}

const FOLLOW: ReadOptions = ReadOptions {
    follow: true,
    instances: ReadInstances::Present,
    start: crate::source::log::LogStart {
        tail: None,
        since: None,
    },
    since_time: None,
    unchecked: false,
    limit: None,
    is_new: false,
};

fn feeds_of(server: Arc<dyn Transport>, most: usize) -> LogFeeds {
    let mut feeds = LogFeeds::new(most);
    feeds.add_cluster(ClusterId("test".into()), server);
    feeds
}

fn container(name: &str) -> Arc<LogContainer> {
    let pod = ObjectRef {
        api_version: "v1".into(),
        kind: "Pod".into(),
        namespace: Some("shop".into()),
        name: name.into(),
        uid: Some(Uid::new(name)),
    };
    Arc::new(LogContainer {
        cluster: ClusterId("test".into()),
        pod: Arc::new(pod),
        name: "app".into(),
    })
}

/// A container that runs.
fn running() -> FeedStatus {
    let present = SeenInstance {
        id: "c0".into(),
        ..SeenInstance::default()
    };
    FeedStatus {
        container: ContainerLogs {
            name: "app".into(),
            role: LogContainerRole::Main,
            present: Some(present),
            is_running: true,
            is_ready: true,
            last: None,
            waiting: None,
        },
        node: Some("worker-1".into()),
        has_ended: false,
        is_gone: false,
    }
}

fn open(feeds: &mut LogFeeds, count: usize) -> Vec<usize> {
    (0..count)
        .map(|number| feeds.open(container(&format!("web-{number}")), running(), FOLLOW))
        .map(|log| log.expect("the cluster is known"))
        .collect()
}

fn line(number: usize) -> String {
    format!("2026-03-02T12:00:00.{number:09}Z L{number}\n")
}

/// Chunks, and then nothing for ever.
fn chunks(texts: Vec<String>) -> LogAnswer {
    let texts = stream::iter(texts).map(|text| Ok(Bytes::from(text)));
    LogAnswer::Bytes(Box::pin(texts.chain(stream::pending())))
}

#[tokio::test(start_paused = true)]
async fn what_is_not_taken_is_not_read() {
    const ALL: usize = 40_000;
    let read = Arc::new(AtomicUsize::new(0));
    let count = read.clone();
    let server = LogServer::new(move |_| {
        let count = count.clone();
        let texts = stream::iter(0..ALL).map(move |number| {
            count.fetch_add(1, Ordering::SeqCst);
            Ok(Bytes::from(line(number)))
        });
        LogAnswer::Bytes(Box::pin(texts.chain(stream::pending())))
    });
    let mut feeds = feeds_of(server, 10);
    let log = open(&mut feeds, 1)[0];
    sleep(Duration::from_secs(60)).await;
    let unread = read.load(Ordering::SeqCst);
    assert!(unread < 4_000, "{unread} lines are in memory");
    let mut next = 0;
    while next < ALL {
        feeds.ready().await;
        feeds.take_ready();
        while let Some(event) = feeds.take(log) {
            if let LogEvent::Line(found) = event {
                assert_eq!(found.text, format!("L{next}"));
                next += 1;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn streams_that_end_together_are_opened_again_over_a_second() {
    let server = LogServer::new(|request| match request.start.since {
        // The first answer of each ends at once, as when a node restarts.
        None => LogAnswer::Bytes(Box::pin(stream::iter([Ok(Bytes::from(line(0)))]))),
        Some(_) => chunks(vec![line(0), line(1)]),
    });
    let mut feeds = feeds_of(server.clone(), 500);
    let logs = open(&mut feeds, 100);
    sleep(Duration::from_secs(3)).await;
    let again = server
        .asked()
        .into_iter()
        .filter(|(_, request)| request.start.since.is_some());
    let times: Vec<Duration> = again.map(|(time, _)| time).collect();
    assert_eq!(times.len(), 100);
    let late = times
        .iter()
        .filter(|time| **time > Duration::from_millis(100))
        .count();
    assert!(
        late > 30 && times.iter().all(|time| *time < Duration::from_millis(1200)),
        "{times:?}"
    );
    for log in logs {
        let lines = std::iter::from_fn(|| feeds.take(log))
            .filter(|event| matches!(event, LogEvent::Line(_)));
        assert_eq!(lines.count(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn logs_beyond_the_limit_are_read_in_turn() {
    let server = LogServer::new(|request| {
        if request.follow {
            chunks(vec![line(0)])
        } else {
            LogAnswer::Bytes(Box::pin(stream::iter([Ok(Bytes::from(line(0)))])))
        }
    });
    let mut feeds = feeds_of(server.clone(), 3);
    let logs = open(&mut feeds, 5);
    sleep(Duration::from_secs(10)).await;
    let counts = feeds.counts();
    assert_eq!((counts.followed, counts.in_turn), (3, 2));
    let follows = server
        .asked()
        .into_iter()
        .filter(|(_, request)| request.follow);
    assert_eq!(follows.count(), 3);
    for log in &logs {
        let lines = std::iter::from_fn(|| feeds.take(*log))
            .filter(|event| matches!(event, LogEvent::Line(_)));
        assert_eq!(lines.count(), 1, "a line is shown once");
    }
    // A place that becomes free is taken.
    feeds.close(logs[0]);
    sleep(Duration::from_secs(3)).await;
    let counts = feeds.counts();
    assert_eq!((counts.followed, counts.in_turn), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_is_gone_ends_its_log() {
    let server = LogServer::new(|_| chunks(vec![line(0)]));
    let mut feeds = feeds_of(server, 10);
    let log = open(&mut feeds, 1)[0];
    sleep(Duration::from_secs(1)).await;
    feeds.update(
        log,
        FeedStatus {
            is_gone: true,
            ..running()
        },
    );
    sleep(Duration::from_secs(1)).await;
    while feeds.take(log).is_some() {}
    assert!(feeds.is_over(log));
}
