//! `LogTask`: reads the log of one container. It sends the requests that its [`LogReader`] wants.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::StreamExt;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

use super::queue::{EVENT, LogQueue};
use super::shared::SharedFeeds;
use crate::logs::{
    ContainerLogs, Flow, LogNode, LogReader, LogSplitter, ReadOptions, ReadStep, StreamEnd,
};
use crate::source::log::{LogRequest, LogSince};
use crate::watch::transport::{LogAnswer, Transport};

/// After how much silence of an answer the reader is asked whether it waits for something.
const QUIET: Duration = Duration::from_millis(100);
/// After this much more silence, the log counts as read up to now.
const SILENT: Duration = Duration::from_secs(1);
/// The least time between two reads of a log that is read in turn.
const TURN: Duration = Duration::from_secs(1);
/// How long a node is left alone that could follow no more logs.
const FULL_NODE: Duration = Duration::from_secs(60);

pub(super) struct LogTask {
    pub(super) reader: LogReader,
    pub(super) options: ReadOptions,
    pub(super) queue: Arc<LogQueue>,
    pub(super) status: watch::Receiver<FeedStatus>,
    pub(super) transport: Arc<dyn Transport>,
    pub(super) shared: Arc<SharedFeeds>,
    pub(super) started: Instant,
    pub(super) place: FeedPlace,
}

/// The state of a container, for the task that reads its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedStatus {
    /// What the status says about its instances.
    pub container: ContainerLogs,
    /// The node of its Pod.
    pub node: Option<Arc<str>>,
    /// Whether no container of its Pod runs again.
    pub has_ended: bool,
    /// Whether its Pod is gone.
    pub is_gone: bool,
}

/// Whether the log has a place among those that are followed.
#[derive(Clone, Debug)]
pub(super) enum FeedPlace {
    /// It was not decided.
    Undecided,
    /// It is followed, and counts for this node.
    Followed(LogNode),
    /// It is read in turn, until a place is free after this time.
    InTurn(Instant),
}

/// Why nothing more is read of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadEnd {
    /// It has ended, or it is of no more use.
    Over,
    /// Its lines found no room, and another log waited for its request.
    GivenUp,
}

impl Drop for LogTask {
    fn drop(&mut self) {
        self.leave();
        self.shared.tasks.fetch_sub(1, Ordering::Relaxed);
        self.queue.close();
    }
}

impl LogTask {
    pub(super) async fn run(mut self) {
        loop {
            self.find_place();
            let step = self.reader.step();
            self.flush().await;
            match step {
                ReadStep::Done => return,
                ReadStep::Wait(longest) => {
                    if !self.reader.is_in_doubt() {
                        self.queue.expect_no_more();
                    }
                    if longest.is_none() {
                        // Nothing runs, so another log may have the place.
                        self.leave();
                    }
                    self.wait(longest).await;
                }
                ReadStep::Pause(pause) => sleep(pause + self.shared.spread()).await,
                ReadStep::WaitTurn => self.wait(Some(TURN)).await,
                ReadStep::Open(request) => {
                    if self.read(request).await == ReadEnd::GivenUp {
                        self.queue.room_for_part().await;
                    }
                }
            }
        }
    }

    fn pass_on(&mut self) {
        let newest = self.reader.newest();
        self.queue.push(self.reader.take_events(), newest);
    }

    /// Passes on the events of the reader, and waits for room.
    async fn flush(&mut self) {
        self.pass_on();
        self.queue.room().await;
    }

    /// As `flush`, while an answer is open. A log that is read once gives it up if there is no room and another log waits.
    /// Then the reader reads on as after a cut, so a few requests read many logs in the order of their lines.
    async fn flush_answer(&mut self) -> ReadEnd {
        self.pass_on();
        let is_wanted = async {
            if self.options.follow {
                std::future::pending::<()>().await;
            } else {
                self.shared.wanted().await;
            }
        };
        tokio::select! {
            biased;
            () = self.queue.room() => ReadEnd::Over,
            () = is_wanted => ReadEnd::GivenUp,
        }
    }

    /// Takes a place among the followed logs, if there is one, and gives it up if the node can follow no more.
    fn find_place(&mut self) {
        if !self.options.follow {
            return;
        }
        let now = Instant::now();
        match &self.place {
            FeedPlace::Followed(_) if self.reader.is_polled() => self.turn_down(now + FULL_NODE),
            FeedPlace::Followed(_) => {}
            FeedPlace::InTurn(until) if now < *until => {}
            FeedPlace::Undecided | FeedPlace::InTurn(_) => {
                let node = LogNode {
                    cluster: self.reader.container().cluster.clone(),
                    name: self.status.borrow().node.clone().unwrap_or_default(),
                };
                if self.shared.admission().admit(&node) {
                    self.leave();
                    self.shared.open.fetch_add(1, Ordering::Relaxed);
                    self.place = FeedPlace::Followed(node);
                    self.reader.set_polled(false);
                } else {
                    self.turn_down(now);
                }
            }
        }
    }

    fn turn_down(&mut self, until: Instant) {
        self.leave();
        self.shared.open.fetch_add(1, Ordering::Relaxed);
        self.shared.in_turn.fetch_add(1, Ordering::Relaxed);
        self.place = FeedPlace::InTurn(until);
        self.reader.set_polled(true);
    }

    /// Gives up its place.
    fn leave(&mut self) {
        match std::mem::replace(&mut self.place, FeedPlace::Undecided) {
            FeedPlace::Undecided => {}
            FeedPlace::Followed(node) => {
                self.shared.admission().release(&node);
                self.shared.open.fetch_sub(1, Ordering::Relaxed);
            }
            FeedPlace::InTurn(_) => {
                self.shared.open.fetch_sub(1, Ordering::Relaxed);
                self.shared.in_turn.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    /// Waits for another status.
    async fn wait(&mut self, longest: Option<Duration>) {
        let end = longest.map(|longest| Instant::now() + longest);
        loop {
            let is_over = async {
                match end {
                    Some(end) => sleep_until(end).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = changed(&mut self.status) => {
                    self.take_status();
                    if !self.reader.is_in_doubt() {
                        return;
                    }
                }
                () = is_over => return self.reader.waited(),
            }
        }
    }

    fn take_status(&mut self) -> Flow {
        let status = self.status.borrow_and_update().clone();
        if status.has_ended {
            self.reader.pod_finished();
        }
        if status.is_gone {
            self.reader.pod_gone()
        } else {
            self.reader.status(&status.container)
        }
    }

    async fn read(&mut self, request: LogRequest) -> ReadEnd {
        let shared = self.shared.clone();
        let _turn = match (self.options.follow, self.reader.is_polled()) {
            (false, _) => shared.request().await,
            (true, true) => shared.turns.acquire().await.ok(),
            (true, false) => None,
        };
        let request = self.aged(request);
        let transport = self.transport.clone();
        let mut opening = transport.log(&request);
        let answer = loop {
            tokio::select! {
                answer = &mut opening => break answer,
                () = changed(&mut self.status) => {
                    if self.take_status() == Flow::Stop {
                        return ReadEnd::Over;
                    }
                }
            }
        };
        match answer {
            Ok(LogAnswer::Bytes(bytes)) => return self.lines(bytes).await,
            Ok(LogAnswer::Unscheduled) => self.reader.ended(StreamEnd::Unscheduled),
            Err(refusal) => self.reader.ended(StreamEnd::Refused(refusal)),
        }
        ReadEnd::Over
    }

    /// The request with `--since` as of the start: until a line is known, no request may begin later.
    fn aged(&self, mut request: LogRequest) -> LogRequest {
        if let Some(LogSince::Ago(ago)) = &mut request.start.since {
            *ago += self.started.elapsed();
        }
        request
    }

    async fn lines(&mut self, mut bytes: ByteStream) -> ReadEnd {
        self.reader.opened();
        self.queue.expect_more();
        let mut splitter = LogSplitter::default();
        let mut is_asked = false;
        loop {
            if let Some(end) = self.take_parts(&mut splitter).await {
                return end;
            }
            // The next lines of a log that is read in turn are in the next answer.
            let may_be_read = self.queue.expects_more() && !self.reader.is_polled();
            let flow = tokio::select! {
                biased;
                () = changed(&mut self.status) => {
                    is_asked = false;
                    self.take_status()
                }
                chunk = bytes.next() => {
                    is_asked = false;
                    match chunk {
                        Some(Ok(chunk)) => {
                            self.queue.expect_more();
                            splitter.feed(chunk);
                            Flow::Continue
                        }
                        Some(Err(text)) => {
                            self.reader.ended(StreamEnd::Broken(text));
                            Flow::Stop
                        }
                        None => {
                            self.reader.ended(StreamEnd::Clean(splitter.rest()));
                            return ReadEnd::Over;
                        }
                    }
                }
                () = sleep(QUIET), if !is_asked => {
                    is_asked = true;
                    self.reader.quiet()
                }
                () = sleep(SILENT), if is_asked && may_be_read => {
                    self.queue.expect_no_more();
                    Flow::Continue
                }
            };
            if flow == Flow::Stop {
                return ReadEnd::Over;
            }
        }
    }

    /// Passes on all lines that have arrived, as soon as there is room for them. Returns why nothing more is read, if so.
    async fn take_parts(&mut self, splitter: &mut LogSplitter) -> Option<ReadEnd> {
        loop {
            if self.flush_answer().await == ReadEnd::GivenUp {
                return Some(ReadEnd::GivenUp);
            }
            let (room, mut taken) = (self.queue.left(), 0);
            while taken <= room {
                let Some(part) = splitter.part() else {
                    break;
                };
                taken += EVENT + part.bytes.len();
                if self.reader.line(part) == Flow::Stop {
                    return Some(ReadEnd::Over);
                }
            }
            if taken == 0 {
                return None;
            }
        }
    }
}

type ByteStream = futures::stream::BoxStream<'static, Result<bytes::Bytes, Arc<str>>>;

/// Waits for a status that was not taken. Without a view, there is none.
async fn changed(status: &mut watch::Receiver<FeedStatus>) {
    if status.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}
