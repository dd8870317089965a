//! Tests of the tasks that read logs, under tokio's paused clock.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt, stream};
use jiff::Timestamp;
use tokio::time::{Instant, sleep};

use super::shared::MOST_WAITING;
use super::{FeedStatus, LastLineAnswer, LogFeeds};
use crate::logs::{
    ContainerLogs, LogContainerRole, Merge, ReadInstances, ReadOptions, SeenInstance,
};
use crate::object::{ObjectRef, ResourceVersion, Uid};
use crate::source::log::{LogContainer, LogEvent, LogRefusal, LogRequest, LogSince};
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

/// Takes all events of a log that have come. Returns how many lines they have.
fn take_lines(feeds: &LogFeeds, log: usize) -> usize {
    feeds.take_ready();
    let events = std::iter::from_fn(|| feeds.take(log));
    events
        .filter(|event| matches!(event, LogEvent::Line(_)))
        .count()
}

/// The server sends the rest later than the view takes what it has.
#[tokio::test(start_paused = true)]
async fn a_log_that_was_held_up_expects_more_until_its_answer_is_silent() {
    const HALF: usize = 10_000;
    let pause = Duration::from_millis(80);
    let server = LogServer::new(move |_| {
        let half = |from| stream::iter(from..from + HALF).map(|number| Ok(line(number).into()));
        let rest = stream::once(sleep(pause)).flat_map(move |()| half(HALF));
        let texts = half(0).chain(rest).chain(stream::pending());
        LogAnswer::Bytes(Box::pin(texts))
    });
    let mut feeds = feeds_of(server, 10);
    let log = open(&mut feeds, 1)[0];
    sleep(Duration::from_secs(1)).await;
    assert!(feeds.expecting().eq([log]));
    let mut lines = 0;
    while lines < 2 * HALF {
        assert!(feeds.expecting().eq([log]), "{lines}");
        lines += take_lines(&feeds, log);
        sleep(Duration::from_millis(1)).await;
    }
    assert!(feeds.expecting().eq([log]));
    sleep(Duration::from_secs(2)).await;
    assert_eq!(feeds.expecting().count(), 0);
    assert_eq!(take_lines(&feeds, log), 0);
}

/// A container that prints without a pause has a last line at each moment.
#[tokio::test(start_paused = true)]
async fn a_log_is_read_up_to_the_line_that_was_the_last() {
    let printed = Arc::new(AtomicUsize::new(0));
    let count = printed.clone();
    let server = LogServer::new(move |request| {
        if !request.follow {
            let last = line(count.load(Ordering::SeqCst) + 50);
            return LogAnswer::Bytes(Box::pin(stream::iter([Ok(Bytes::from(last))])));
        }
        let count = count.clone();
        let texts = stream::iter(1..).then(move |number| {
            count.store(number, Ordering::SeqCst);
            sleep(Duration::from_millis(10)).map(move |()| Ok(Bytes::from(line(number))))
        });
        LogAnswer::Bytes(Box::pin(texts))
    });
    let mut feeds = feeds_of(server, 10);
    let log = open(&mut feeds, 1)[0];
    sleep(Duration::from_secs(1)).await;
    let last = last_line(&feeds, log).await;
    assert!(!feeds.is_read_up_to(log, &last));
    sleep(Duration::from_millis(600)).await;
    assert!(feeds.is_read_up_to(log, &last));
}

/// The last line of a log at this moment.
async fn last_line(feeds: &LogFeeds, log: usize) -> LastLineAnswer {
    let requests: FuturesUnordered<_> = feeds.last_lines().into_iter().collect();
    let answers: Vec<(usize, LastLineAnswer)> = requests.collect().await;
    let answer = answers.into_iter().find(|(of, _)| *of == log);
    answer.expect("it is requested").1
}

/// A server that follows a log with these lines, each this many milliseconds after the one before. The request for the last
/// line alone has this answer.
fn paced(follow: Vec<(u64, String)>, last: String) -> Arc<dyn Transport> {
    LogServer::new(move |request| {
        if !request.follow {
            let last = Some(last.clone()).filter(|last| !last.is_empty());
            let chunks = stream::iter(last.map(|last| Ok(Bytes::from(last))));
            return LogAnswer::Bytes(Box::pin(chunks));
        }
        let texts = stream::iter(follow.clone()).then(|(pause, text)| {
            sleep(Duration::from_millis(pause)).map(move |()| Ok(Bytes::from(text)))
        });
        LogAnswer::Bytes(Box::pin(texts.chain(stream::pending())))
    })
}

/// Its container was silent for long, or the log had no line at all, so nothing else shows that a line is on its way.
#[tokio::test(start_paused = true)]
async fn a_line_on_its_way_in_a_silent_log_is_awaited() {
    let next = (5_300, line(1));
    for follow in [vec![(0, line(0)), next.clone()], vec![next]] {
        let mut feeds = feeds_of(paced(follow, line(1)), 10);
        let log = open(&mut feeds, 1)[0];
        sleep(Duration::from_secs(5)).await;
        assert_eq!(feeds.expecting().count(), 0);
        let last = last_line(&feeds, log).await;
        assert!(!feeds.is_read_up_to(log, &last));
        sleep(Duration::from_millis(400)).await;
        assert!(feeds.is_read_up_to(log, &last));
    }
}

/// The line from before the opening is read, but not shown.
#[tokio::test(start_paused = true)]
async fn the_first_new_line_on_its_way_is_awaited() {
    for (last, is_read) in [(line(0), true), (line(1), false)] {
        let follow = vec![(0, line(0)), (5_300, line(1))];
        let mut feeds = feeds_of(paced(follow, last), 10);
        let mut new_lines = FOLLOW;
        new_lines.start.tail = Some(0);
        let log = feeds.open(container("web-0"), running(), new_lines);
        let log = log.expect("the cluster is known");
        sleep(Duration::from_secs(5)).await;
        let last = last_line(&feeds, log).await;
        assert_eq!(feeds.is_read_up_to(log, &last), is_read);
        sleep(Duration::from_millis(400)).await;
        assert!(feeds.is_read_up_to(log, &last));
        assert_eq!(take_lines(&feeds, log), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_log_without_a_last_line_is_read() {
    let of_line = |last: &str| paced(vec![(0, line(0))], last.to_owned());
    for server in [
        paced(Vec::new(), String::new()),
        of_line(""),
        of_line("no line"),
        of_line("no line\n"),
    ] {
        let mut feeds = feeds_of(server, 10);
        let log = open(&mut feeds, 1)[0];
        sleep(Duration::from_secs(5)).await;
        let last = last_line(&feeds, log).await;
        assert!(feeds.is_read_up_to(log, &last));
    }
}

/// A runtime stores a long line in parts, each with a time of its own. The last part is the last line of the log.
#[tokio::test(start_paused = true)]
async fn a_long_line_is_read_up_to_its_last_part() {
    for length in [40 << 10, 3 << 20] {
        let whole = line(0).replace('\n', &format!("{}end\n", "x".repeat(length)));
        for (last, is_read) in [
            (line(1).replace("L1", "xend"), true),
            (line(1).replace("L1", "other"), false),
            (whole.clone(), true),
            (whole.replace("L0", "L1"), false),
        ] {
            let mut feeds = feeds_of(paced(vec![(0, whole.clone())], last.clone()), 10);
            let log = open(&mut feeds, 1)[0];
            // Events are taken, so that the line has room.
            for _ in 0..50 {
                sleep(Duration::from_millis(100)).await;
                take_lines(&feeds, log);
            }
            let answer = last_line(&feeds, log).await;
            assert_eq!(feeds.is_read_up_to(log, &answer), is_read, "{length}");
        }
    }
}

/// Its container prints between two answers.
#[tokio::test(start_paused = true)]
async fn a_log_that_is_read_in_turn_is_read_up_to_its_last_line() {
    let printed = Arc::new(AtomicUsize::new(1));
    let count = printed.clone();
    let server = LogServer::new(move |request| {
        if request.follow {
            return chunks(vec![line(0)]);
        }
        let all = 0..count.load(Ordering::SeqCst);
        let first = request.start.tail.map_or(0, |_| all.end - 1);
        let lines: Vec<_> = (first..all.end)
            .map(|number| Ok(line(number).into()))
            .collect();
        LogAnswer::Bytes(Box::pin(stream::iter(lines)))
    });
    let mut feeds = feeds_of(server, 1);
    let log = open(&mut feeds, 2)[1];
    sleep(Duration::from_millis(10_500)).await;
    let last = last_line(&feeds, log).await;
    assert!(feeds.is_read_up_to(log, &last));
    printed.store(3, Ordering::SeqCst);
    let last = last_line(&feeds, log).await;
    assert!(!feeds.is_read_up_to(log, &last));
    assert!(feeds.expecting().eq([log]));
    sleep(Duration::from_secs(1)).await;
    assert!(feeds.is_read_up_to(log, &last));
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

/// Logs that are read once, with 1 kB for each line, and 3 MB for one of them. It counts the open requests.
#[derive(Clone, Default)]
struct BigLogs {
    open: Arc<AtomicUsize>,
    most_open: Arc<AtomicUsize>,
}

impl BigLogs {
    const LOGS: usize = 10;

    /// When the lines of a log were printed, and their texts. The logs have different numbers of lines.
    fn lines(log: usize) -> impl Iterator<Item = (i64, String)> {
        let numbers = 0..1500 - 100 * log;
        numbers.map(move |number| {
            let millisecond = i64::try_from(number * BigLogs::LOGS + log).expect("small");
            let length = if (log, number) == (3, 700) {
                3_000_000
            } else {
                1000
            };
            (
                millisecond,
                format!("{log} L{number} {}", "x".repeat(length)),
            )
        })
    }

    /// As a kubelet answers. A chunk may begin within a line.
    fn answer(&self, request: &LogRequest) -> LogAnswer {
        let name = &request.container.pod.name;
        let log: usize = name["web-".len()..].parse().expect("a number");
        let since = match request.start.since {
            Some(LogSince::Second(second)) => second * 1000,
            Some(LogSince::Ago(_)) | None => 0,
        };
        let lines = BigLogs::lines(log).filter(|(millisecond, _)| *millisecond >= since);
        let lines: Vec<String> = lines
            .map(|(ms, text)| {
                format!(
                    "{} {text}\n",
                    Timestamp::from_millisecond(ms).expect("a time")
                )
            })
            .collect();
        let first = request.start.tail.map_or(0, |_| lines.len() - 1);
        let text = lines[first..].concat().into_bytes();
        let chunks = text.chunks(10_000).map(Bytes::copy_from_slice);
        let chunks: Vec<Result<Bytes, Arc<str>>> = chunks.map(Ok).collect();
        let now_open = self.open.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_open.fetch_max(now_open, Ordering::SeqCst);
        let request = OpenRequest(self.open.clone());
        LogAnswer::Bytes(Box::pin(stream::iter(chunks).map(move |chunk| {
            let _is_open = &request;
            chunk
        })))
    }
}

/// A request that is open until it is dropped.
struct OpenRequest(Arc<AtomicUsize>);

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[tokio::test(start_paused = true)]
async fn a_few_requests_read_many_logs_in_one_order() {
    let logs = BigLogs::default();
    let server_logs = logs.clone();
    let server = LogServer::new(move |request| server_logs.answer(request));
    let mut feeds = feeds_of(server.clone(), 3);
    let mut merge = Merge::default();
    for number in 0..BigLogs::LOGS {
        let name = format!("web-{number}");
        let log = feeds.open(container(&name), running(), ReadOptions::default());
        merge.open(log.expect("the cluster is known"));
    }
    let mut shown: Vec<Vec<u8>> = Vec::new();
    let mut has_ended = true;
    let mut logs_to_fill: BTreeSet<usize> = (0..BigLogs::LOGS).collect();
    while !(0..BigLogs::LOGS).all(|log| feeds.is_over(log) && !merge.holds(log)) {
        for log in std::mem::take(&mut logs_to_fill) {
            match feeds.take(log) {
                Some(event) => {
                    let line = match &event {
                        LogEvent::Line(line) => Some(line.clone()),
                        _ => None,
                    };
                    merge.put(log, line.as_ref().map(|line| line.time), line);
                }
                None if feeds.is_over(log) => merge.end(log),
                None => {}
            }
        }
        if let Some((log, line)) = merge.pop() {
            if let Some(line) = line {
                if std::mem::replace(&mut has_ended, line.ends) {
                    shown.push(Vec::new());
                }
                shown.last_mut().expect("a line").extend(&line.text);
            }
            logs_to_fill.insert(log);
        } else {
            feeds.ready().await;
            let ready = feeds.take_ready().into_iter();
            logs_to_fill.extend(ready.filter(|log| merge.wants(*log)));
        }
    }
    let mut expect: Vec<(i64, String)> = (0..BigLogs::LOGS).flat_map(BigLogs::lines).collect();
    expect.sort();
    let texts = expect.into_iter().map(|(_, text)| text.into_bytes());
    assert!(shown.into_iter().eq(texts));
    assert_eq!(logs.most_open.load(Ordering::SeqCst), 3);
    // A log of 1.5 MB, in parts of some 200 kB.
    let requests = server.asked().len();
    assert!((40..150).contains(&requests), "{requests} requests");
}

#[tokio::test(start_paused = true)]
async fn the_lines_of_very_many_logs_that_wait_are_bounded() {
    const LOGS: usize = 1500;
    const LINES: usize = 50;
    let first: Timestamp = "2026-03-02T12:00:00Z".parse().expect("a time");
    let line = move |number: usize| {
        let time = first + Duration::from_secs(number as u64);
        format!("{time} L{number} {}\n", "x".repeat(1000))
    };
    let lines: Vec<String> = (0..LINES).map(line).collect();
    let server = LogServer::new(move |request| {
        let from = match request.start.since {
            Some(LogSince::Second(second)) => second - first.as_second(),
            Some(LogSince::Ago(_)) | None => 0,
        };
        let from = usize::try_from(from).unwrap_or_default();
        let answer = Bytes::from(lines[from..].concat());
        LogAnswer::Bytes(Box::pin(stream::iter([Ok(answer)])))
    });
    let mut feeds = feeds_of(server, 10);
    let options = ReadOptions {
        unchecked: true,
        ..ReadOptions::default()
    };
    let logs: Vec<usize> = (0..LOGS)
        .map(|number| feeds.open(container(&format!("web-{number}")), running(), options))
        .map(|log| log.expect("the cluster is known"))
        .collect();
    sleep(Duration::from_secs(60)).await;
    assert_eq!(feeds.take_ready().len(), LOGS, "each log has a line");
    let waiting = feeds.shared.bytes.load(Ordering::Relaxed);
    let most = MOST_WAITING + LOGS * 1200;
    assert!((most / 2..most).contains(&waiting), "{waiting} bytes wait");
    for log in logs {
        let mut lines = 0;
        loop {
            lines += take_lines(&feeds, log);
            if feeds.is_over(log) {
                break;
            }
            feeds.ready().await;
        }
        assert_eq!(lines, LINES, "log {log}");
    }
    assert_eq!(feeds.shared.bytes.load(Ordering::Relaxed), 0);
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
