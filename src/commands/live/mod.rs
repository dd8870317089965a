//! The frame of every live verb: its session and sources, the loop, the terminal and the end.

pub(super) mod cluster_group;
mod cluster_labels;
pub(super) mod clusters;
pub(super) mod follow;
pub(super) mod session;
pub(super) mod shutdown;
pub(super) mod sources;
pub(super) mod terminal;

use super::{
    Awaited, CommandError, Context, Ending, FileArgs, Stop, TimeOrAge, WaitArgs, WatchArgs,
};
use session::{RecordUse, Session};

/// What a verb that shows the state of objects opens: the present, or a time in the past.
pub(crate) struct ViewOpening<'a> {
    pub(crate) verb: &'static str,
    pub(crate) source: &'a FileArgs,
    pub(crate) watch: &'a WatchArgs,
    pub(crate) wait: &'a WaitArgs,
    pub(crate) ending: Ending,
}

impl ViewOpening<'_> {
    /// Opens the cluster, the file or the record. The clock is that of what is read.
    pub(crate) async fn open(
        &self,
        stop: &Stop,
        context: &mut Context<'_>,
    ) -> Result<Session, CommandError> {
        let awaited = || Awaited::session(self.source);
        let opened = Box::pin(Session::open(context, self.source));
        let mut session = stop.in_time(awaited(), opened).await?;
        self.wait.refuse_nothing(&session, self.verb)?;
        session.use_server_clock(context.env);
        let mut memory = None;
        if session.has_server() {
            memory = self.watch.memory.open(context)?;
        }
        // A record shows nothing that happens now: it is as of its end.
        let end = session
            .is_of_record()
            .then(|| TimeOrAge::At(context.env.now()));
        if let Some(at) = self.watch.at.or(end) {
            let looking = Box::pin(session.look_at(at, memory.as_ref(), context));
            stop.in_time(awaited(), looking).await?;
            return Ok(session);
        }
        if self.ending == Ending::Once {
            session.list_only(context.env);
        }
        if let Some(memory) = memory {
            let now = session.clock(context.env);
            let remembered = session.remember(&memory, now, RecordUse::LookBacks);
            let remembered = stop.in_time(awaited(), Box::pin(remembered));
            for note in remembered.await? {
                context.note(&note);
            }
        }
        Ok(session)
    }
}
