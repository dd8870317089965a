//! `SharedFeeds`: what the tasks of all logs share: their limits, and which of them has events.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, Semaphore, SemaphorePermit};
use tokio::time::Instant;

use crate::logs::Admission;

/// How many logs that are not followed are read at the same time.
const TURNS: usize = 4;

/// What the tasks share.
pub(super) struct SharedFeeds {
    /// The logs with new events.
    ready: Mutex<BTreeSet<usize>>,
    pub(super) signal: Notify,
    admission: Mutex<Admission>,
    pub(super) turns: Semaphore,
    /// The requests that may be open for logs that are read once.
    requests: Semaphore,
    /// How many logs wait for one of them.
    waiting: AtomicUsize,
    /// Wakes a log that has a request and no room.
    wanted: Notify,
    /// When the last streams that ended together began to end, and how many they are.
    ends: Mutex<(Instant, u32)>,
    /// How many bytes wait for the view.
    pub(super) bytes: AtomicUsize,
    /// How many tasks run.
    pub(super) tasks: AtomicUsize,
    /// How many logs have a place: those that are followed, and those that are read in turn.
    pub(super) open: AtomicUsize,
    pub(super) in_turn: AtomicUsize,
}

/// The streams that end within this time have ended together: a node restarts, or its connection breaks.
const TOGETHER: Duration = Duration::from_millis(200);
/// They are opened again within this time, and one more takes this long.
const SPREAD: Duration = Duration::from_secs(1);
const EACH: Duration = Duration::from_millis(5);

/// The most bytes that wait for the view, beside one part of a line of each log.
pub(super) const MOST_WAITING: usize = 32 << 20;
/// The most bytes of one log that wait, and how many may wait while there is plenty of room for those of all. Each request
/// costs the node a look through the file, so an answer is given up later rather than sooner.
const MOST_OF_A_LOG: usize = 256 << 10;
const PLENTY_OF_A_LOG: usize = 32 << 10;

impl SharedFeeds {
    pub(super) fn new(most: usize) -> SharedFeeds {
        SharedFeeds {
            ready: Mutex::default(),
            signal: Notify::new(),
            admission: Mutex::new(Admission::new(most)),
            turns: Semaphore::new(TURNS),
            requests: Semaphore::new(most.min(Semaphore::MAX_PERMITS)),
            waiting: AtomicUsize::new(0),
            wanted: Notify::new(),
            ends: Mutex::new((Instant::now(), 0)),
            bytes: AtomicUsize::new(0),
            tasks: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            in_turn: AtomicUsize::new(0),
        }
    }

    pub(super) fn ready(&self) -> MutexGuard<'_, BTreeSet<usize>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn admission(&self) -> MutexGuard<'_, Admission> {
        self.admission
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a log has events.
    pub(super) fn announce(&self, log: usize) {
        if self.ready().insert(log) {
            self.signal.notify_one();
        }
    }

    /// Waits until a log that is read once may be requested. Another one gives its request up for that, if it has no room.
    pub(super) async fn request(&self) -> Option<SemaphorePermit<'_>> {
        if let Ok(request) = self.requests.try_acquire() {
            return Some(request);
        }
        let _counted = Counted::new(&self.waiting);
        self.wanted.notify_one();
        self.requests.acquire().await.ok()
    }

    /// Waits until a log waits for a request. It is cancel safe.
    pub(super) async fn wanted(&self) {
        loop {
            let wanted = self.wanted.notified();
            if self.waiting.load(Ordering::Relaxed) > 0 {
                return;
            }
            wanted.await;
        }
    }

    /// How many bytes of one log may wait. The shares of all logs are half of the room. The other half is for those that take
    /// more. A log of which nothing waits may pass on a part of a line, whatever its share.
    pub(super) fn allowance(&self) -> usize {
        const HALF: usize = MOST_WAITING / 2;
        let share = HALF / self.tasks.load(Ordering::Relaxed).max(1);
        let has_plenty = self.bytes.load(Ordering::Relaxed) < HALF;
        let least = if has_plenty { PLENTY_OF_A_LOG } else { 0 };
        share.clamp(least, MOST_OF_A_LOG)
    }

    /// A stream has ended. Returns how much longer to wait before it is opened again, so that many are not opened at once.
    pub(super) fn spread(&self) -> Duration {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if now.duration_since(ends.0) > TOGETHER {
            *ends = (now, 0);
        }
        let limit = (EACH * ends.1).min(SPREAD);
        ends.1 += 1;
        limit.mul_f64(fastrand::f64())
    }
}

/// One of those that a number counts, until it is dropped.
struct Counted<'c>(&'c AtomicUsize);

impl<'c> Counted<'c> {
    fn new(count: &'c AtomicUsize) -> Counted<'c> {
        count.fetch_add(1, Ordering::Relaxed);
        Counted(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
