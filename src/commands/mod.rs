//! The verbs: their arguments and wiring. A verb never imports another verb. Shared code is in the modules here.

mod args;
pub(crate) mod changes;
pub(crate) mod complete;
pub(crate) mod completion;
mod container_lines;
pub(crate) mod demo;
mod error;
mod failure_logs;
mod field_fight;
pub(crate) mod flag_values;
pub(crate) mod help;
mod in_cluster;
mod input;
mod kafka_entry;
mod last_change;
mod live;
pub(crate) mod logs;
mod manifests;
pub(crate) mod record;
pub(crate) mod serve;
pub(crate) mod status;
pub(crate) mod store;
mod store_dir;
pub(crate) mod trace;
pub(crate) mod version;
mod versions;
mod wait;
mod yaml_file;

use std::time::Duration;

use crate::env::Env;
use crate::render::style::Look;
pub(crate) use args::{
    ClusterArgs, Ending, FileArgs, LookArgs, ManifestArgs, ObjectArgs, Subject, WatchArgs,
};
pub(crate) use error::{CommandError, ErrorKind, FailedAnswer};
pub(crate) use failure_logs::{FailureLogs, LastLines, LogLineArgs};
pub(crate) use flag_values::{TimeOrAge, duration_with_days};
pub(crate) use in_cluster::{IMAGE, InClusterProgram, MountedVolume, ProgramParts, parse_image};
pub(crate) use input::UnreadFiles;
#[cfg(feature = "kafka")]
pub(crate) use kafka_entry::refused_address;
pub(crate) use kafka_entry::{KafkaEntry, require_kafka};
pub(crate) use last_change::{LastChange, LastChanges};
pub(crate) use live::ViewOpening;
pub(crate) use live::follow::{Live, follow};
pub(crate) use live::session::{
    ClusterOrigin, ConnectionSetup, EveryKind, LastRecord, ReaderLogin, RecordUse, RequestedTime,
    ServerClock, Session, hint_at_record, recorded_types,
};
pub(crate) use live::shutdown::{ReloadRequests, Shutdown, Signal, survive_file_size_limit};
pub(crate) use live::sources::{Need, Note, SeenObjects, Sources, UnreadPart};
pub(crate) use live::terminal::{Output, Terminal};
pub(crate) use store_dir::{MemoryArgs, MemoryStore, STORE, StoreArgs};
pub(crate) use wait::{Answer, Awaited, GoalArgs, Judge, Stop, WaitArgs};
pub(crate) use yaml_file::YamlFile;

/// The surroundings of a verb.
pub(crate) struct Context<'a> {
    /// Where objects come from.
    pub(crate) origin: ClusterOrigin,
    /// The flags about colour and symbols.
    pub(crate) look: LookArgs,
    /// The clock, the streams, the terminal.
    pub(crate) env: &'a mut Env,
    /// What of the user's files could not be read.
    pub(crate) unread: UnreadFiles,
}

/// How a verb ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It printed its answer.
    Answered,
    /// It printed its answer, and `--exit-code` reports a change or a problem.
    Found,
    /// It reached its time limit.
    OutOfTime,
    /// A signal stopped it.
    By(Signal),
}

/// How long tasks may run after their verb has ended.
const GRACE: Duration = Duration::from_millis(200);

impl Context<'_> {
    /// Runs the asynchronous part of a verb, its sources and its view, on this thread.
    ///
    /// One thread, because waking another for each event costs more than most events. So nothing here may block;
    /// [`QueuedStream`](crate::env::QueuedStream) keeps standard output and standard error from blocking.
    pub(crate) fn block_on<T>(
        &mut self,
        verb: impl AsyncFnOnce(&mut Self) -> Result<T, CommandError>,
    ) -> Result<T, CommandError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let result = runtime.block_on(verb(self));
        runtime.shutdown_timeout(GRACE);
        result
    }

    /// How to draw standard output at its present width.
    pub(crate) fn look(&self) -> Look {
        self.look.stdout(self.env)
    }
}
