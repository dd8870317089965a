//! `ContainerFeeds`: the logs of the containers of the selected Pods.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::pending;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};

use crate::commands::Session;
use crate::logs::{ContainerFilter, ContainerLogs, PodLogs, ReadOptions};
use crate::object::ObjectRef;
use crate::source::ClusterId;
use crate::source::log::{LogContainer, LogEvent};
use crate::watch::logs::{FeedCounts, FeedStatus, LastLineAnswer, LogFeeds};

/// The logs that are read, and those that wait until others have ended.
pub(in crate::commands) struct ContainerFeeds {
    feeds: LogFeeds,
    /// How many logs are in one order without `--follow`. The others wait until all of these have ended.
    group: usize,
    known: BTreeMap<Arc<LogContainer>, KnownFeed>,
    waiting: VecDeque<Arc<LogContainer>>,
    open: BTreeSet<usize>,
    total: usize,
}

/// A container whose log is read, or was.
#[derive(Debug)]
struct KnownFeed {
    log: Option<usize>,
    status: FeedStatus,
    read: ReadOptions,
}

/// The values of `--order`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::commands) enum OrderChoice {
    /// By the times of the lines. With --follow, they wait up to a second for that
    #[default]
    Auto,
    /// As they arrive
    #[value(name = "0")]
    Arrival,
}

/// The values of `--state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::commands) enum StateChoice {
    /// It runs
    Running,
    /// Its last instance failed, or it cannot start
    Failing,
    /// It does not run
    Ended,
}

/// A Pod, and what to read of those of its containers that are new.
#[derive(Clone, Copy, Debug)]
pub(in crate::commands) struct PodToRead<'p> {
    pub(in crate::commands) cluster: &'p ClusterId,
    pub(in crate::commands) pod: &'p PodLogs,
    pub(in crate::commands) read: ReadOptions,
}

/// Which containers of a Pod are read.
#[derive(Clone, Copy, Debug)]
pub(in crate::commands) struct ContainerChoice<'c> {
    pub(in crate::commands) filter: &'c ContainerFilter,
    pub(in crate::commands) state: Option<StateChoice>,
}

/// How many logs are in one order, whatever the number of requests. Up to 32 KiB of each wait in memory.
const MOST_IN_ORDER: usize = 2000;

impl ContainerFeeds {
    /// The logs of no cluster yet. Of those that are read once, at most `most` are requested at the same time.
    pub(in crate::commands) fn new(most: usize, order: OrderChoice) -> ContainerFeeds {
        ContainerFeeds {
            feeds: LogFeeds::new(most),
            group: match order {
                OrderChoice::Auto => most.max(MOST_IN_ORDER),
                OrderChoice::Arrival => most,
            },
            known: BTreeMap::new(),
            waiting: VecDeque::new(),
            open: BTreeSet::new(),
            total: 0,
        }
    }

    /// Adds the logs of a cluster.
    pub(in crate::commands) fn add_cluster(&mut self, session: &Session) {
        session.add_logs(&mut self.feeds);
    }

    /// Takes the present Pods of all clusters. Returns the logs that are opened.
    pub(in crate::commands) fn sync(
        &mut self,
        pods: &[PodToRead<'_>],
        choice: ContainerChoice<'_>,
    ) -> Vec<(usize, Arc<LogContainer>)> {
        let mut opened = Vec::new();
        let mut present: BTreeSet<Arc<LogContainer>> = BTreeSet::new();
        for PodToRead { cluster, pod, read } in pods {
            for container in choice.filter.select(pod) {
                let key = LogContainer {
                    cluster: (*cluster).clone(),
                    pod: pod.pod.clone(),
                    name: container.name.clone(),
                };
                let status = FeedStatus {
                    container: container.clone(),
                    node: pod.node.clone(),
                    has_ended: pod.has_ended,
                    is_gone: false,
                };
                let key = Arc::new(key);
                if self.known.contains_key(&key) {
                    self.update(&key, status);
                } else if choice.state.is_none_or(|state| state.includes(container)) {
                    let new = KnownFeed {
                        log: None,
                        status,
                        read: *read,
                    };
                    opened.extend(self.add(&key, new));
                }
                present.insert(key);
            }
        }
        self.lose_others(&present);
        opened
    }

    /// Takes the next state of a container.
    fn update(&mut self, key: &LogContainer, status: FeedStatus) {
        if let Some(known) = self.known.get_mut(key)
            && known.status != status
        {
            if let Some(log) = known.log {
                self.feeds.update(log, status.clone());
            }
            known.status = status;
        }
    }

    /// Takes a new container. Its log is opened, or waits until others have ended.
    fn add(
        &mut self,
        key: &Arc<LogContainer>,
        new: KnownFeed,
    ) -> Option<(usize, Arc<LogContainer>)> {
        self.total += 1;
        let is_followed = new.read.follow;
        self.known.insert(key.clone(), new);
        if !is_followed && self.open.len() >= self.group {
            self.waiting.push_back(key.clone());
            return None;
        }
        self.open(key)
    }

    fn open(&mut self, key: &Arc<LogContainer>) -> Option<(usize, Arc<LogContainer>)> {
        let known = self.known.get_mut(key)?;
        let status = known.status.clone();
        let log = self.feeds.open(key.clone(), status, known.read)?;
        known.log = Some(log);
        self.open.insert(log);
        Some((log, key.clone()))
    }

    /// Opens the next logs that wait, once all before them have ended.
    pub(in crate::commands) fn open_waiting(&mut self) -> Vec<(usize, Arc<LogContainer>)> {
        if !self.open.is_empty() {
            return Vec::new();
        }
        let next: Vec<_> = self
            .waiting
            .drain(..self.waiting.len().min(self.group))
            .collect();
        next.iter().filter_map(|key| self.open(key)).collect()
    }

    /// The Pods of all other containers are gone.
    fn lose_others(&mut self, present: &BTreeSet<Arc<LogContainer>>) {
        for (key, known) in &mut self.known {
            if !present.contains(key) && !known.status.is_gone {
                known.status.is_gone = true;
                if let Some(log) = known.log {
                    self.feeds.update(log, known.status.clone());
                }
            }
        }
    }

    /// The logs with new events.
    pub(in crate::commands) fn take_ready(&self) -> BTreeSet<usize> {
        self.feeds.take_ready()
    }

    /// The next event of a log.
    pub(in crate::commands) fn take_event(&self, log: usize) -> Option<LogEvent> {
        self.feeds.take(log)
    }

    /// Whether nothing more comes of a log.
    pub(in crate::commands) fn is_over(&self, log: usize) -> bool {
        self.feeds.is_over(log)
    }

    /// Forgets the logs that have ended and that nobody needs; returns them.
    pub(in crate::commands) fn drop_ended(
        &mut self,
        is_needed: impl Fn(usize) -> bool,
    ) -> Vec<usize> {
        let is_ended = |log: &usize| self.feeds.is_over(*log) && !is_needed(*log);
        let ended: Vec<usize> = self.open.iter().copied().filter(is_ended).collect();
        for log in &ended {
            self.open.remove(log);
            self.feeds.close(*log);
        }
        if !ended.is_empty() {
            self.known.retain(|_, known| {
                let is_open = known.log.is_none_or(|log| self.open.contains(&log));
                is_open || !known.status.is_gone
            });
        }
        ended
    }

    /// Ends the logs of a Pod. They are not opened again. Returns their numbers.
    pub(in crate::commands) fn close_pod(
        &mut self,
        cluster: &ClusterId,
        pod: &ObjectRef,
    ) -> Vec<usize> {
        let of_pod = self.known.iter();
        let of_pod = of_pod.filter(|(key, _)| key.cluster == *cluster && *key.pod == *pod);
        let logs: Vec<usize> = of_pod.filter_map(|(_, known)| known.log).collect();
        for log in &logs {
            self.open.remove(log);
            self.feeds.close(*log);
        }
        logs
    }

    /// The open logs, and what the statuses say about their containers.
    pub(in crate::commands) fn open_logs(&self) -> impl Iterator<Item = (usize, &ContainerLogs)> {
        self.known.values().filter_map(|known| {
            let log = known.log.filter(|log| self.open.contains(log))?;
            Some((log, &known.status.container))
        })
    }

    /// Waits until a log has events.
    pub(in crate::commands) async fn ready(&self) {
        self.feeds.ready().await;
    }

    /// Whether every log has ended.
    pub(in crate::commands) fn are_over(&self) -> bool {
        self.open.is_empty() && self.waiting.is_empty()
    }

    /// How many logs wait until others have ended.
    pub(in crate::commands) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// How many logs there were so far.
    pub(in crate::commands) fn total(&self) -> usize {
        self.total
    }

    /// How many are followed, and how many are read in turn.
    pub(in crate::commands) fn counts(&self) -> FeedCounts {
        self.feeds.counts()
    }
}

impl StateChoice {
    /// Whether a container is in this state.
    fn includes(self, container: &ContainerLogs) -> bool {
        let last = container.present.iter().chain(&container.last);
        let has_failed = last
            .filter_map(|instance| instance.exit.as_ref())
            .any(|exit| exit.code != 0);
        let is_starting = matches!(
            container.waiting.as_deref(),
            Some("ContainerCreating" | "PodInitializing")
        );
        match self {
            StateChoice::Running => container.is_running,
            StateChoice::Ended => !container.is_running,
            StateChoice::Failing => has_failed || (container.waiting.is_some() && !is_starting),
        }
    }
}

/// Up to which line the logs are read at the end of a wait: the lines that are then the last ones, of the logs of which more may come.
pub(super) struct LogEnds {
    requests: FuturesUnordered<BoxFuture<'static, (usize, LastLineAnswer)>>,
    lines: BTreeMap<usize, LastLineAnswer>,
}

impl LogEnds {
    /// Requests these lines.
    pub(super) fn request(feeds: &ContainerFeeds) -> LogEnds {
        LogEnds {
            requests: feeds.feeds.last_lines().into_iter().collect(),
            lines: BTreeMap::new(),
        }
    }

    /// Waits until one more is known. It is cancel safe.
    pub(super) async fn answered(&mut self) {
        match self.requests.next().await {
            Some((log, line)) => {
                self.lines.insert(log, line);
            }
            None => pending().await,
        }
    }

    /// Whether a log was not read up to its last line. If that line is not known, the log is read until it is silent.
    pub(super) fn are_open(&self, feeds: &ContainerFeeds) -> bool {
        let is_open = |log| {
            let last = self.lines.get(&log).unwrap_or(&LastLineAnswer::Unknown);
            !feeds.feeds.is_read_up_to(log, last)
        };
        let mut logs = feeds.feeds.expecting().chain(self.lines.keys().copied());
        !self.requests.is_empty() || logs.any(is_open)
    }
}
