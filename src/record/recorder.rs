//! `Recorder`: the handle of a recording, which runs on a thread of its own so that no write delays a watch.

use std::mem::take;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::Notify;

use super::error::StoreError;
use super::progress::{RecordProgress, SharedProgress, lock};
use super::recording::{Pace, RecordOptions, Recording};
use crate::object::ResourceVersion;
use crate::source::{Event, SourceKey};

/// How many bytes of versions may wait for the thread.
const WAITING: usize = 16 << 20;
/// The bytes of an event without its version.
const EVENT_BYTES: usize = 200;
/// How often the thread looks for what is due.
const BEAT: Duration = Duration::from_secs(1);

/// After this many beats without an event, what waits is written.
const QUIET_BEATS: u32 = 3;

/// What the thread gets.
enum RecordTask {
    Event(Arc<SourceKey>, Event, usize),
    Reached(Arc<SourceKey>, ResourceVersion),
}

/// A recording that runs. Dropping it ends it, but does not wait until everything is written.
pub struct Recorder {
    tasks: Option<Sender<RecordTask>>,
    thread: Option<JoinHandle<Result<(), StoreError>>>,
    progress: SharedProgress,
    queue: Arc<TaskQueue>,
}

/// How much waits for the thread.
#[derive(Default)]
struct TaskQueue {
    bytes: AtomicUsize,
    room: Notify,
}

impl Recorder {
    /// Begins a file, and the thread that writes it.
    pub fn start(options: RecordOptions) -> Result<Recorder, StoreError> {
        let progress = SharedProgress::default();
        let recording = Recording::begin(options, progress.clone())?;
        let (tasks, received) = channel();
        let queue = Arc::new(TaskQueue::default());
        let shared = queue.clone();
        let thread = std::thread::spawn(move || run(recording, &received, &shared));
        Ok(Recorder {
            tasks: Some(tasks),
            thread: Some(thread),
            progress,
            queue,
        })
    }

    /// Records an event. It never blocks: [`Recorder::is_full`] says when to stop.
    pub fn record(&self, key: &Arc<SourceKey>, event: Event) {
        let bytes = match &event {
            Event::Object { now, .. } => EVENT_BYTES + now.body.weight(),
            Event::Synced { .. } | Event::State(_) | Event::Gap(_) | Event::Undecodable { .. } => {
                EVENT_BYTES
            }
        };
        self.queue.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.send(RecordTask::Event(key.clone(), event, bytes));
    }

    /// Records that a source has sent everything up to a version, whether or not anything has changed.
    pub fn reach(&self, key: &Arc<SourceKey>, version: ResourceVersion) {
        self.send(RecordTask::Reached(key.clone(), version));
    }

    /// Whether the thread has fallen behind.
    pub fn is_full(&self) -> bool {
        self.queue.bytes.load(Ordering::Relaxed) > WAITING
    }

    /// Waits until the thread has caught up.
    pub async fn room(&self) {
        while self.is_full() {
            self.queue.room.notified().await;
        }
    }

    /// How far it has come.
    pub fn progress(&self) -> RecordProgress {
        lock(&self.progress).clone()
    }

    /// Writes everything, and ends. It blocks for as long as the disk takes.
    pub fn finish(mut self) -> Result<RecordProgress, StoreError> {
        drop(take(&mut self.tasks));
        match take(&mut self.thread).map(JoinHandle::join) {
            Some(Ok(done)) => done?,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => {}
        }
        Ok(self.progress())
    }

    fn send(&self, task: RecordTask) {
        // It fails only after the thread has panicked, which `finish` reports.
        let _panicked = self.tasks.as_ref().map(|tasks| tasks.send(task));
    }
}

fn run(
    mut recording: Recording,
    tasks: &Receiver<RecordTask>,
    queue: &TaskQueue,
) -> Result<(), StoreError> {
    let mut quiet = 0;
    loop {
        quiet += 1;
        match tasks.recv_timeout(BEAT) {
            Ok(RecordTask::Event(key, event, bytes)) => {
                quiet = 0;
                recording.take(&key, &event);
                queue.bytes.fetch_sub(bytes, Ordering::Relaxed);
                queue.room.notify_one();
            }
            Ok(RecordTask::Reached(key, version)) => recording.reach(&key, &version),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return recording.finish(),
        }
        let pace = if quiet >= QUIET_BEATS {
            Pace::Quiet
        } else {
            Pace::Busy
        };
        recording.tend(pace);
    }
}
