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

/// After this many beats without a task, what waits is written.
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
        let thread = RecorderThread {
            recording,
            queue: queue.clone(),
            quiet: 0,
        };
        let thread = std::thread::spawn(move || thread.run(&received));
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

/// What the thread works with.
struct RecorderThread {
    recording: Recording,
    queue: Arc<TaskQueue>,
    /// The number of beats without a task.
    quiet: u32,
}

impl RecorderThread {
    /// Performs the tasks until there can be no more.
    fn run(mut self, tasks: &Receiver<RecordTask>) -> Result<(), StoreError> {
        loop {
            match tasks.recv_timeout(BEAT) {
                Ok(task) => self.step(Some(task)),
                Err(RecvTimeoutError::Timeout) => self.step(None),
                Err(RecvTimeoutError::Disconnected) => return self.recording.finish(),
            }
        }
    }

    /// Performs a task, of which a beat may have none, and writes what is due.
    fn step(&mut self, task: Option<RecordTask>) {
        // What idle sources have reached arrives at once, and is one commit.
        self.quiet = match &task {
            Some(_) => 0,
            None => self.quiet.saturating_add(1),
        };
        match task {
            Some(RecordTask::Event(key, event, bytes)) => {
                self.recording.take(&key, &event);
                self.queue.bytes.fetch_sub(bytes, Ordering::Relaxed);
                self.queue.room.notify_one();
            }
            Some(RecordTask::Reached(key, version)) => self.recording.reach(&key, &version),
            None => {}
        }
        let pace = if self.quiet >= QUIET_BEATS {
            Pace::Quiet
        } else {
            Pace::Busy
        };
        self.recording.tend(pace);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::played_faults::{Run, Server, Start, WallClock, options};
    use super::super::tests::{Folder, config_map, object};
    use super::*;
    use crate::source::Why;

    #[test]
    fn an_object_counts_with_its_first_version() {
        let folder = Folder::new();
        let progress = SharedProgress::default();
        let options = options(folder.path(), &WallClock::new());
        let mut recording = Recording::begin(options, progress.clone()).expect("a file");
        let key = Arc::new(SourceKey::all("", "ConfigMap"));
        let mut counted = |why, version| {
            recording.take(&key, &object(why, config_map(1, version, "a")));
            let progress = lock(&progress);
            (progress.objects, progress.versions)
        };
        assert_eq!(counted(Why::Added, 3), (1, 1));
        assert_eq!(counted(Why::Modified, 4), (1, 2));
        assert_eq!(counted(Why::Deleted, 5), (0, 3));
    }

    /// The number of commits while these tasks arrive, and then none for some beats.
    fn commits(thread: &mut RecorderThread, tasks: impl IntoIterator<Item = RecordTask>) -> usize {
        let quiet = std::iter::repeat_with(|| None).take(10);
        let mut commits = 0;
        for task in tasks.into_iter().map(Some).chain(quiet) {
            let had_some = task.is_some() || !thread.recording.is_saved();
            thread.step(task);
            commits += usize::from(had_some && thread.recording.is_saved());
        }
        commits
    }

    #[test]
    fn what_idle_sources_reach_is_one_commit() {
        let folder = Folder::new();
        let mut server = Server::default();
        server.write(0, "a");
        let run = Run::start(folder.path(), &server, &WallClock::new(), Start::Fresh);
        let keys = ["Pod", "Node", "Service"].map(|kind| Arc::new(SourceKey::all("", kind)));
        let mut thread = RecorderThread {
            recording: run.recording,
            queue: Arc::default(),
            quiet: 0,
        };
        let synced = || Event::Synced {
            epoch: 1,
            count: 0,
            version: ResourceVersion::new("2"),
        };
        let begin = keys.iter();
        let begin = begin.map(|key| RecordTask::Event(key.clone(), synced(), 0));
        assert_eq!(commits(&mut thread, begin), 1);
        for version in ["3", "4"] {
            let version = ResourceVersion::new(version);
            let reached = keys.iter();
            let reached = reached.map(|key| RecordTask::Reached(key.clone(), version.clone()));
            assert_eq!(commits(&mut thread, reached), 1, "{version}");
        }
    }
}
