//! The verbs: arguments and wiring. A verb never imports another; what they share is here.

mod args;
pub(crate) mod changes;
pub(crate) mod completion;
pub(crate) mod demo;
mod ends;
mod error;
mod follow;
mod input;
mod manifests;
pub(crate) mod options;
mod outlet;
mod session;
mod shutdown;
mod sources;
pub(crate) mod status;
mod terminal;
pub(crate) mod trace;
pub(crate) mod version;

use std::time::Duration;

use crate::env::Env;
use crate::render::style::Look;

pub(crate) use args::{ClusterArgs, FileArgs, LookArgs, ObjectArgs, Subject, WatchArgs};
pub(crate) use ends::{Answer, EndArgs, Until};
pub(crate) use error::{CommandError, ErrorKind};
pub(crate) use follow::{Live, follow};
pub(crate) use input::documents;
pub(crate) use manifests::ManifestArgs;
pub(crate) use session::{EveryKind, Origin, Session};
pub(crate) use shutdown::{Shutdown, Signal};
pub(crate) use sources::{Need, Note, Sources, Unknown};
pub(crate) use terminal::{Output, Terminal};

/// What a verb is handed.
pub(crate) struct Context<'a> {
    /// Where objects come from.
    pub(crate) origin: Origin,
    /// How output is to look.
    pub(crate) look: LookArgs,
    /// The clock, the streams, the terminal.
    pub(crate) env: &'a mut Env,
}

/// How a verb ended, if not with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// What was asked is answered.
    Answered,
    /// It is answered, and there is what `--exit-code` reports.
    Found,
    /// The time it was given is over.
    OutOfTime,
    /// The user, or the system, stopped it.
    By(Signal),
}

/// How long tasks have to end once a verb has.
const GRACE: Duration = Duration::from_millis(200);

impl Context<'_> {
    /// Runs a verb's asynchronous part, its sources and its view on this one thread: to wake another for
    /// each event costs more than what is done with most. Nothing here may block; [`outlet`] sees to it that
    /// standard output does not.
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

    /// How standard output is drawn, at its present width.
    pub(crate) fn look(&self) -> Look {
        self.look.stdout(self.env)
    }
}
