//! The look-back: reads versions from before the start, as far as the server still has them.

mod cluster_scoped;
mod progress;
mod reach;
mod source_past;
mod stop_rule;
mod timeline;
mod unread;
mod walk;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::{OnceCell, Semaphore, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep_until, timeout};

use super::compared::ShownVersions;
use crate::commands::ServerClock;
use crate::commands::live::sources::named;
use crate::object::ResourceVersion;
use crate::source::{SourceKey, Version};
use crate::watch::{Dates, End, History, Mux, Refusals, RequestLimit};
pub(crate) use cluster_scoped::ClusterScoped;
use cluster_scoped::ClusterScopedWrites;
use progress::LookBackProgress;
use reach::{PATIENCE, Whose};
pub(crate) use reach::{Reach, Since, parse_revision, parse_since};
pub(crate) use source_past::{DatedRevision, PastVersion, SourcePast};
use stop_rule::Interrupt;
pub(crate) use timeline::timeline;
pub(crate) use unread::{SkippedSource, unfinished, unread_lines, unread_parts};
pub(crate) use walk::LookBackStart;
use walk::Walker;

/// The most requests for wide sources at once. A cluster can have about 200 kinds, and a list takes up to ten of the
/// seats that the server has for all its clients
/// (<https://kubernetes.io/docs/concepts/cluster-administration/flow-control/#seats-occupied-by-a-request>).
const REQUESTS_AT_ONCE: usize = 8;

/// The most sources that are walked at once. A user can name hundreds of objects, and each walk sends several requests.
const WALKS_AT_ONCE: usize = 32;

/// How long stopped walks may take to return their versions.
const HANDOVER: Duration = Duration::from_millis(200);

/// The look-back of one run.
pub(crate) struct LookBack {
    mux: Mux,
    reach: Reach,
    shown: Arc<ShownVersions>,
    /// The sources whose walk has not started.
    waiting: Vec<SourceKey>,
    /// The objects of their incomplete listings.
    listed: HashMap<SourceKey, Vec<Arc<Version>>>,
    /// The sources whose first listing is complete.
    synced: HashSet<SourceKey>,
    progress: Arc<LookBackProgress>,
    walks: JoinSet<SourcePast>,
    /// The turns of the walks.
    turns: Arc<Semaphore>,
    /// The sources of these walks.
    walking: Vec<Arc<SourceKey>>,
    /// Stops the walks, if true.
    stop: watch::Sender<bool>,
    request_limit: RequestLimit,
    deadline: Option<Instant>,
    /// The server's clock; `None` for that of this machine.
    clock: Option<Arc<ServerClock>>,
    /// How far its time is ahead of this machine's clock, without a server's clock: it may be a time in the past.
    ahead: SignedDuration,
    /// A source of each resource that it reads. They may have different storages.
    run: Arc<[History]>,
    /// Dates the revisions of the cluster.
    dates: Option<Arc<Dates>>,
    pub(crate) found: Vec<SourcePast>,
    /// The sources that could not be read.
    pub(crate) skipped: Vec<SkippedSource>,
    /// Whether it reads every kind of one namespace.
    pub(crate) is_of_namespace: bool,
    /// What is known of the cluster-scoped kinds beside that namespace.
    cluster_scoped: Option<ClusterScopedWrites>,
}

impl LookBack {
    /// The look-back of these sources.
    pub(crate) fn new(
        mux: Mux,
        reach: Reach,
        keys: &[SourceKey],
        shown: Arc<ShownVersions>,
    ) -> LookBack {
        let has_past = |key: &&SourceKey| {
            let wanted = reach.whose == Whose::All || named(key).is_some();
            wanted && mux.history(key).is_some()
        };
        let waiting: Vec<SourceKey> = keys.iter().filter(has_past).cloned().collect();
        let dates = waiting.first().and_then(|key| mux.dates(&key.cluster));
        let request_limit = RequestLimit::new(REQUESTS_AT_ONCE);
        let mut resources = HashSet::new();
        let new = |key: &&SourceKey| resources.insert(key.resource.clone());
        let run = waiting.iter().filter(new);
        LookBack {
            run: run.filter_map(|key| mux.history(key)).collect(),
            dates: dates.map(|dates| {
                let dates = dates.limited(&request_limit);
                // Each kind compares its storage with that of the Leases.
                Arc::new(dates.remembering(&Refusals::default()))
            }),
            skipped: Vec::new(),
            is_of_namespace: false,
            cluster_scoped: None,
            listed: HashMap::new(),
            synced: HashSet::new(),
            progress: Arc::default(),
            reach,
            shown,
            waiting,
            walks: JoinSet::new(),
            turns: Arc::new(Semaphore::new(WALKS_AT_ONCE)),
            walking: Vec::new(),
            stop: watch::Sender::new(false),
            request_limit,
            deadline: None,
            clock: None,
            ahead: SignedDuration::ZERO,
            found: Vec::new(),
            mux,
        }
    }

    /// The same look-back by this clock.
    pub(crate) fn by_clock(self, clock: Option<Arc<ServerClock>>) -> LookBack {
        LookBack { clock, ..self }
    }

    /// The same look-back of a view whose time is so far ahead of this machine's clock.
    pub(crate) fn ahead_by(self, ahead: SignedDuration) -> LookBack {
        LookBack { ahead, ..self }
    }

    /// Also counts the changes of these cluster-scoped kinds, if every change in a window of time is wanted.
    pub(crate) fn count_cluster_scoped(&mut self, keys: &[SourceKey]) {
        let is_every_change = self.shown.by.is_everyone() && self.shown.filter.is_everything();
        if self.reach.time.is_some() && is_every_change {
            let writes = ClusterScopedWrites::of(keys, &self.mux, &self.request_limit);
            self.cluster_scoped = Some(writes);
        }
    }

    /// What is known of cluster-scoped kinds at the server's time `now`.
    pub(crate) fn cluster_scoped(&self, now: Timestamp) -> ClusterScoped {
        match (&self.cluster_scoped, self.since()) {
            _ if !self.is_of_namespace => ClusterScoped::Included,
            (Some(writes), Some(since)) => writes.since(since, now),
            (Some(_) | None, _) => ClusterScoped::NotRead,
        }
    }

    /// The note about clocks that differ.
    pub(crate) fn clock_note(&self) -> Option<String> {
        let difference = self.clock.as_ref()?.difference()?;
        Some(format!(
            "{difference}; earlier versions show the server's time"
        ))
    }

    /// Whether a flag (`--since` or `--since-rv`) requests the past.
    pub(crate) fn is_asked(&self) -> bool {
        !self.reach.brief
    }

    /// Versions from before this time were not requested.
    pub(crate) fn since(&self) -> Option<Timestamp> {
        self.reach.by_server(self.skew()).time
    }

    /// How far the server's clock, or the time of `--at`, is ahead of this machine's; negative if it is behind.
    pub(crate) fn skew(&self) -> SignedDuration {
        let clock = self.clock.as_ref();
        clock.map_or(self.ahead, |clock| clock.ahead())
    }

    /// Whether there is anything to read back or to report.
    pub(crate) fn is_wanted(&self) -> bool {
        !self.waiting.is_empty() || self.is_asked()
    }

    /// Whether all walks have ended.
    pub(crate) fn is_over(&self) -> bool {
        let counted = self.cluster_scoped.as_ref();
        let is_counted = counted.is_none_or(ClusterScopedWrites::is_over);
        self.waiting.is_empty() && self.walks.is_empty() && is_counted
    }

    /// Takes an object of a source's first listing.
    pub(crate) fn list(&mut self, key: &SourceKey, there: &Arc<Version>) {
        if self.is_waiting_for(key) {
            let listed = self.listed.entry(key.clone()).or_default();
            listed.push(there.clone());
        }
    }

    /// Starts the walk of a source whose first listing is complete.
    pub(crate) fn start_listed(&mut self, key: &SourceKey, version: &ResourceVersion) {
        self.synced.insert(key.clone());
        let objects = self.listed.remove(key).unwrap_or_default();
        self.start(key, LookBackStart::Listing(version.clone(), objects));
    }

    /// The line in the footer while the look-back runs.
    pub(crate) fn progress(&self) -> String {
        let sources = self.waiting.len() + self.walks.len();
        self.progress.line(sources)
    }

    /// Starts the walk of a source. Versions after `from` arrive as live events.
    pub(crate) fn start(&mut self, key: &SourceKey, from: LookBackStart) {
        let Some(at) = self.waiting.iter().position(|waiting| waiting == key) else {
            return;
        };
        let key = self.waiting.swap_remove(at);
        if self.reach.whose == Whose::Gone && matches!(from, LookBackStart::Version(_)) {
            return;
        }
        let Some(history) = self.mux.history(&key) else {
            return;
        };
        let history = match named(&key) {
            Some(_) => history,
            None => history.limited(&self.request_limit),
        };
        let deadline = self.reach.brief.then(|| Instant::now() + PATIENCE);
        self.deadline = self.deadline.or(deadline);
        self.walking.push(history.key().clone());
        let walker = Walker {
            history,
            dates: self.dates.clone(),
            reach: self.reach.by_server(self.skew()),
            shown: self.shown.clone(),
            interrupt: Interrupt::new(deadline, self.stop.subscribe()),
            progress: self.progress.clone(),
            is_dated: OnceCell::new(),
            run: self.run.clone(),
        };
        let turns = self.turns.clone();
        self.walks.spawn(async move {
            let turn = turns.acquire().await;
            let _turn = turn.expect("the semaphore is never closed");
            // In a box, so that a walk that waits takes little memory.
            Box::pin(walker.run(from)).await
        });
    }

    /// Skips a source that cannot be read.
    pub(crate) fn skip(&mut self, key: &SourceKey, cause: &Arc<str>) {
        if self.is_waiting_for(key) {
            self.waiting.retain(|waiting| waiting != key);
            self.skipped.push(SkippedSource::refused(key, cause));
        }
    }

    /// Whether the events of a source must wait until the timeline is printed.
    pub(crate) fn holds(&self, key: &SourceKey) -> bool {
        self.synced.contains(key)
    }

    /// Whether the walk of a source has not started.
    fn is_waiting_for(&self, key: &SourceKey) -> bool {
        self.waiting.contains(key)
    }

    /// Whether the look-back itself reports that a source cannot be read.
    pub(crate) fn reports(&self, key: &SourceKey) -> bool {
        let is_skipped = |skipped: &SkippedSource| skipped.is_of(key);
        self.is_asked() && (self.is_waiting_for(key) || self.skipped.iter().any(is_skipped))
    }

    /// Waits until another walk ends, or until the deadline.
    pub(crate) async fn next(&mut self) {
        let late = async {
            match self.deadline {
                // Before that, the walks end themselves and return their versions.
                Some(deadline) => sleep_until(deadline + PATIENCE / 4).await,
                None => std::future::pending().await,
            }
        };
        if self.is_over() {
            return std::future::pending().await;
        }
        let counted = async {
            match &mut self.cluster_scoped {
                Some(writes) => writes.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            Some(walked) = self.walks.join_next() => self.take(walked),
            () = counted => {}
            () = late => self.abort().await,
        }
    }

    /// Aborts the remaining walks. Their sources appear as not read in time.
    async fn abort(&mut self) {
        self.walks.abort_all();
        while let Some(walked) = self.walks.join_next().await {
            self.take(walked);
        }
        let waiting = self.waiting.drain(..).map(Arc::new);
        let late = waiting.chain(self.walking.drain(..)).map(|key| SourcePast {
            end: Some(End::OutOfTime(PATIENCE)),
            ..SourcePast::new(key)
        });
        self.found.extend(late);
    }

    fn take(&mut self, walked: Result<SourcePast, JoinError>) {
        if let Ok(found) = walked {
            self.walking.retain(|key| *key != found.key);
            self.found.push(found);
        }
    }

    /// Stops the walks, and takes the versions they have found.
    pub(crate) async fn wind_up(&mut self) {
        self.stop.send_replace(true);
        let gathered = async {
            while let Some(walked) = self.walks.join_next().await {
                self.take(walked);
            }
        };
        let _given_up = timeout(HANDOVER, gathered).await;
    }

    /// Ends the look-back. Returns whether it was incomplete.
    pub(crate) fn give_up(&mut self) -> bool {
        let was_open = !(self.waiting.is_empty() && self.walks.is_empty());
        if let Some(writes) = &mut self.cluster_scoped {
            writes.give_up();
        }
        self.walks = JoinSet::new();
        let waiting = self.waiting.drain(..).map(Arc::new);
        let cut = waiting.chain(self.walking.drain(..));
        self.found.extend(cut.map(|key| SourcePast::new(key).cut()));
        was_open
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use futures::future::BoxFuture;

    use super::reach::Since;
    use super::*;
    use crate::object::Resource;
    use crate::source::{ClusterId, Form, Scope, Select};
    use crate::watch::{At, LineStream, ListPage, Page, SourceError, Transport};

    /// A slow server with empty listings and no Leases. It counts its open requests.
    #[derive(Default)]
    struct Slow(Mutex<Load>);

    #[derive(Default)]
    struct Load {
        now: usize,
        most: usize,
        all: usize,
    }

    impl Slow {
        fn load(&self) -> std::sync::MutexGuard<'_, Load> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }

        async fn work(&self) {
            self.begin();
            tokio::time::sleep(Duration::from_millis(50)).await;
            self.load().now -= 1;
        }

        fn begin(&self) {
            let mut load = self.load();
            load.now += 1;
            load.all += 1;
            load.most = load.most.max(load.now);
        }
    }

    impl Transport for Slow {
        fn list<'a>(
            &'a self,
            key: &'a SourceKey,
            at: At,
            _: Page,
        ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
            Box::pin(async move {
                self.work().await;
                if &*key.resource.plural == "leases" {
                    return Err(SourceError::Ended);
                }
                let version = match at {
                    At::Exact(at) => at.into(),
                    At::Latest => ResourceVersion::new("9"),
                };
                let items = Vec::new();
                let next = None;
                Ok(ListPage {
                    version,
                    items,
                    next,
                })
            })
        }

        fn watch<'a>(
            &'a self,
            _: &'a SourceKey,
            _: &'a ResourceVersion,
        ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
            Box::pin(async move {
                self.work().await;
                let quiet: LineStream = Box::pin(futures::stream::pending());
                Ok(quiet)
            })
        }
    }

    fn kind(number: usize) -> SourceKey {
        SourceKey {
            cluster: ClusterId("test".into()),
            resource: Resource {
                group: "example.com".into(),
                version: "v1".into(),
                plural: format!("kind{number:02}s").into(),
                kind: "Kind".into(),
                namespaced: true,
            },
            scope: Scope::Namespace("shop".into()),
            select: Select::All,
            form: Form::Full,
        }
    }

    fn mux(transport: &Arc<Slow>) -> Mux {
        let transport: Arc<dyn Transport> = transport.clone();
        Mux::new(
            [(ClusterId("test".into()), transport)],
            Arc::new(|| Timestamp::UNIX_EPOCH),
        )
    }

    #[tokio::test(start_paused = true)]
    async fn an_aborted_walk_appears_as_timed_out() {
        let keys = [1, 2].map(|number| SourceKey {
            select: Select::Name("x".into()),
            ..kind(number)
        });
        let brief = Reach::new(None, None, Timestamp::UNIX_EPOCH).expect("a reach");
        let mut past = LookBack::new(mux(&Arc::default()), brief, &keys, Arc::default());
        let [begun, waiting] = keys.map(Arc::new);
        past.waiting.retain(|key| *key == *waiting);
        past.walking.push(begun.clone());
        past.walks.spawn(std::future::pending());
        past.deadline = Some(Instant::now());
        past.next().await;
        assert!(past.is_over());
        let mut late: Vec<Arc<SourceKey>> = Vec::new();
        for found in past.found {
            assert_eq!(found.end, Some(End::OutOfTime(PATIENCE)));
            late.push(found.key);
        }
        assert_eq!(late, [waiting, begun]);
    }

    #[tokio::test(start_paused = true)]
    async fn many_kinds_are_read_with_few_requests_at_a_time() {
        let slow = Arc::new(Slow::default());
        let keys: Vec<SourceKey> = (0..60).map(kind).collect();
        let all = Reach::new(Some(Since::All), None, Timestamp::UNIX_EPOCH);
        let mut past = LookBack::new(mux(&slow), all.expect("a reach"), &keys, Arc::default());
        for key in &keys {
            past.start_listed(key, &ResourceVersion::new("9"));
        }
        let begun = Instant::now();
        while !past.is_over() {
            past.next().await;
        }
        assert_eq!(past.found.len(), keys.len());
        assert!(
            past.found
                .iter()
                .all(|found| matches!(found.end, Some(End::Limit)))
        );
        let load = slow.load();
        assert_eq!((load.now, load.most), (0, REQUESTS_AT_ONCE));
        // No request counts against the limit while it waits for the server's watches.
        let least = Duration::from_millis(50)
            * u32::try_from(load.all.div_ceil(REQUESTS_AT_ONCE)).expect("few");
        assert!(
            begun.elapsed() < least + Duration::from_millis(1500),
            "{:?} {}",
            begun.elapsed(),
            load.all
        );
    }

    #[test]
    fn the_line_counts_the_objects_that_are_read() {
        let progress = LookBackProgress::default();
        assert_eq!(progress.line(2), "reading back: 2 sources to go");
        progress.expect(1);
        assert_eq!(progress.line(1), "reading back: 0 of 1 object");
        progress.expect(2999);
        (0..1204).for_each(|_| progress.done());
        assert_eq!(progress.line(1), "reading back: 1,204 of 3,000 objects");
    }
}
