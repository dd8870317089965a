//! `demo incident`: a night that nobody watched, and the record of it. The story is played at once, eight hours ago, and recorded in
//! a directory that is removed at the end.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::sleep;

use crate::commands::{ClusterOrigin, CommandError, Context, Session};
use crate::env::{Clock, shifted};
use crate::object::{ResourceVersion, well_known};
use crate::record::{RecordOptions, RecordedCluster, Recorder, RetentionPolicy, Store, StoreError};
use crate::render::display::Stream;
use crate::sandbox::scenario::{Scenario, Stage};
use crate::sandbox::{Change, Options, Record, Sandbox};
use crate::source::{ClusterId, Event, Select, SourceKey, Why};
use crate::watch::Reader;

/// How long ago the story begins.
const AGO: SignedDuration = SignedDuration::from_hours(8);

/// How long to wait before another look at what the recorder has written.
const LOOK: Duration = Duration::from_millis(5);

/// A cluster after its night. The server has forgotten the night, and a record has it.
pub(super) struct RecordedNight {
    pub(super) sandbox: Sandbox,
    /// When the night began.
    begin: Timestamp,
    /// The directory of the record.
    pub(super) store: DemoFolder,
}

/// A directory that is removed with everything in it.
pub(super) struct DemoFolder(pub(super) PathBuf);

impl Drop for DemoFolder {
    fn drop(&mut self) {
        let _gone = std::fs::remove_dir_all(&self.0);
    }
}

impl RecordedNight {
    /// Plays a scenario in the past, and records it.
    pub(super) async fn pass(
        scenario: &Scenario,
        context: &mut Context<'_>,
    ) -> Result<RecordedNight, CommandError> {
        let begin = shifted((context.env.now)(), -AGO);
        let clock = StoryClock::new(context.env.now.clone());
        clock.set(Some(begin));
        let sandbox = Sandbox::start(Options::new(clock.now())).await?;
        context.origin = ClusterOrigin::Plain {
            server: sandbox.url(),
            name: "demo",
            namespace: scenario.namespace,
        };
        let stage = Stage::set(&sandbox, scenario).map_err(CommandError::failed)?;
        let session = Session::connect(context).await?;
        let cluster = session.recorded_cluster().await?;
        let folder = DemoFolder(folder(context));
        let recording = NightRecording::start(&folder.0, cluster, &clock)?;
        recording.record(stage, &sandbox, &clock).await?;
        let newest = sandbox.log_after(0).last().map(|write| write.revision);
        // No server keeps this for hours.
        sandbox.compact(newest.unwrap_or_default());
        sandbox.expire_watch_window();
        Ok(RecordedNight {
            sandbox,
            begin,
            store: folder,
        })
    }

    /// The commands that tell the story.
    pub(super) fn commands(&self) -> Vec<DemoCommand> {
        let before = shifted(self.begin, SignedDuration::from_mins(5));
        let command = |about, words: &str| DemoCommand {
            about,
            words: words.split(' ').map(str::to_owned).collect(),
        };
        vec![
            command(
                "# Eight hours later, something is broken:",
                "status deploy/web --once",
            ),
            command(
                "# The server has forgotten the night. The record has what people and their tools changed:",
                "changes --since 12h --people --once",
            ),
            command(
                "# Everything as it was before:",
                &format!("status deploy/web --at {before:.0}"),
            ),
        ]
    }
}

/// A command of a demo.
pub(super) struct DemoCommand {
    /// A line about it.
    pub(super) about: &'static str,
    /// Its words, after `kubectl spy`.
    pub(super) words: Vec<String>,
}

/// Standard output, which several commands write to, one after the other.
#[derive(Clone)]
pub(super) struct SharedStdout(Arc<Mutex<Box<dyn Write + Send>>>);

impl SharedStdout {
    /// Takes a stream.
    pub(super) fn of(stream: &mut Stream) -> SharedStdout {
        let shared = SharedStdout(Arc::new(Mutex::new(Box::new(io::sink()))));
        let own = shared.clone();
        *stream = std::mem::take(stream).behind(|writer| {
            *own.writer() = writer;
            own.clone()
        });
        shared
    }

    fn writer(&self) -> MutexGuard<'_, Box<dyn Write + Send>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for SharedStdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer().flush()
    }
}

/// A directory that nothing else has.
fn folder(context: &Context<'_>) -> PathBuf {
    let given = ["TMPDIR", "TEMP"]
        .iter()
        .find_map(|&name| context.env.path(name));
    let parent = given.map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
    parent.join(format!("kubectl-spy-demo-{:016x}", fastrand::u64(..)))
}

/// The clock of the server and of the recorder: it stands still during the story, and then shows the time.
#[derive(Clone)]
struct StoryClock {
    at: Arc<Mutex<Option<Timestamp>>>,
    real: Clock,
}

impl StoryClock {
    fn new(real: Clock) -> StoryClock {
        StoryClock {
            at: Arc::default(),
            real,
        }
    }

    fn set(&self, at: Option<Timestamp>) {
        *self.at.lock().unwrap_or_else(PoisonError::into_inner) = at;
    }

    fn now(&self) -> Clock {
        let Self { at, real } = self.clone();
        Arc::new(move || {
            let story = *at.lock().unwrap_or_else(PoisonError::into_inner);
            story.unwrap_or_else(|| real())
        })
    }
}

/// The recorder of a night, and what it records.
struct NightRecording {
    recorder: Recorder,
    /// The source of each resource, by a name such as `deployments.apps`.
    sources: HashMap<String, (Arc<SourceKey>, Reader)>,
}

impl NightRecording {
    fn start(
        store: &Path,
        cluster: RecordedCluster,
        clock: &StoryClock,
    ) -> Result<NightRecording, StoreError> {
        let name = ClusterId((*cluster.name).into());
        let recorder = Recorder::start(RecordOptions {
            store: Store::create(store)?,
            cluster,
            retention: RetentionPolicy {
                keep: Duration::from_secs(7 * 24 * 3600),
                max_bytes: 1 << 30,
            },
            resumed: HashMap::new(),
            redactions: Vec::new(),
            clock: clock.now(),
            local_clock: clock.now(),
        })?;
        let sources = well_known().iter().map(|found| {
            let resource = found.resource.clone();
            let key = SourceKey::of(&name, resource.clone(), None, Select::All);
            let reader = Reader::new(&key);
            (resource.group_resource(), (Arc::new(key), reader))
        });
        Ok(NightRecording {
            recorder,
            sources: sources.collect(),
        })
    }

    /// Records what is there, and then the story.
    async fn record(
        mut self,
        mut stage: Stage<'_>,
        sandbox: &Sandbox,
        clock: &StoryClock,
    ) -> Result<(), CommandError> {
        let begin = sandbox.now();
        let first = sandbox.log_after(0);
        let mut newest = first.last().map_or(0, |write| write.revision);
        let listed = existing(first);
        let mut written = listed
            .iter()
            .map(|write| self.take(write, Why::Listed, begin))
            .sum();
        let version = ResourceVersion::new(newest.to_string());
        for (key, _) in self.sources.values() {
            let (epoch, count, version) = (1, 0, version.clone());
            let synced = Event::Synced {
                epoch,
                count,
                version,
            };
            self.recorder.record(key, synced);
        }
        let end = u64::try_from(AGO.as_millis()).unwrap_or_default();
        let played = stage.play_through(end, |time| {
            let new = sandbox.log_after(newest);
            newest = new.last().map_or(newest, |write| write.revision);
            for write in &new {
                let why = match write.change {
                    Change::Added => Why::Added,
                    Change::Modified => Why::Modified,
                    Change::Deleted => Why::Deleted,
                };
                written += self.take(write, why, time);
            }
        });
        played.map_err(CommandError::failed)?;
        // The marks have the time of the clock at which the recorder takes them.
        while self.recorder.progress().versions < written {
            sleep(LOOK).await;
        }
        clock.set(None);
        for (key, _) in self.sources.values() {
            let newest = ResourceVersion::new(newest.to_string());
            self.recorder.reach(key, newest);
        }
        self.recorder.finish()?;
        Ok(())
    }

    /// Records a write of this time. Returns how many versions these are: one, unless the kind is not recorded.
    fn take(&mut self, write: &Record, why: Why, seen: Timestamp) -> u64 {
        let Some((key, reader)) = self.sources.get_mut(&write.resource) else {
            return 0;
        };
        // The sandbox writes what it serves.
        let Ok(now) = reader.item(&write.after) else {
            return 0;
        };
        let event = Event::Object {
            why,
            past: false,
            seen,
            now: Arc::new(now),
            prev: None,
        };
        self.recorder.record(key, event);
        1
    }
}

/// The last write of each object that exists.
fn existing(writes: Vec<Record>) -> Vec<Record> {
    let mut last: BTreeMap<String, Record> = BTreeMap::new();
    for write in writes {
        match write.change {
            Change::Added | Change::Modified => last.insert(write.uid.clone(), write),
            Change::Deleted => last.remove(&write.uid),
        };
    }
    last.into_values().collect()
}
