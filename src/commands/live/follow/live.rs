//! `Live`: what the loop asks of a verb that follows sources.

use std::sync::Arc;

use jiff::Timestamp;

use crate::commands::live::cluster_group::JoinedCluster;
use crate::commands::{CommandError, Need, Note, Sources, Terminal};
use crate::model::Model;
use crate::source::{Event, SourceKey};
use crate::watch::{CatchUp, Subscriptions};

/// A verb that follows sources. Most methods depend only on events, so tests need no terminal.
pub(crate) trait Live {
    /// The pause after a print, as a multiple of the time that the print took. A view that goes over all
    /// objects at each print needs a pause: without one, the cost of a burst of events grows with its square.
    /// A view that prints only new events needs none.
    const REST: u32 = 0;

    /// The sources to follow now. The loop asks again after each batch of events, because a new object may
    /// lead to other sources.
    fn wanted(&self) -> Vec<SourceKey>;

    /// The sources of which the view needs every object since the last call, also those that it follows already.
    fn take_rereads(&mut self) -> Vec<SourceKey> {
        Vec::new()
    }

    /// Tells how much the view depends on a source.
    fn needs(&self) -> Box<dyn Fn(&SourceKey) -> Need + '_> {
        Box::new(|_| Need::Vital)
    }

    /// Whether to report the objects that the verb waits for.
    fn reports_waiting(&self) -> bool;

    /// Which versions a subscription delivers after an interruption. Most verbs need only the newest.
    fn catch_up(&self) -> CatchUp {
        CatchUp::Newest
    }

    /// Whether the initial objects are shown, so that the verb may end.
    fn has_begun(&self) -> bool {
        true
    }

    /// The model that judges the objects of a source for `--for`, which may not be up to date; `None` if the verb has no model.
    fn model(&self, _source: &SourceKey) -> Option<&Model> {
        None
    }

    /// Begins to show a cluster of several. Returns its requested sources; `None` if another context has them already. After an
    /// error, the cluster is tried again.
    fn join(&mut self, joined: JoinedCluster<'_>) -> Result<Option<Vec<SourceKey>>, CommandError> {
        Ok(Some(joined.keys))
    }

    /// Whether it prints once, when everything is read. Until then, a print only finds out what to read next, so the pause
    /// after it ends as soon as no event waits.
    fn prints_once(&self) -> bool {
        false
    }

    /// Applies one event.
    fn apply(&mut self, key: &Arc<SourceKey>, event: Event, now: Timestamp);

    /// Learns up to which version each source is read. The loop calls it at each beat.
    fn reach(&mut self, _subscriptions: &Subscriptions) {}

    /// Whether to pause the events of a source, because the view has to show something else first. They wait
    /// in the source's bounded queue. Events that do not fit are read back later.
    fn holds(&self, _key: &SourceKey) -> bool {
        false
    }

    /// Whether to report states as they come. Otherwise they wait until a vital source is read. If none is
    /// ever read, the final error reports them instead.
    fn reports_states_at_once(&self) -> bool {
        false
    }

    /// Whether it shows objects of every kind that it can read. The user named none.
    fn is_about_every_kind(&self) -> bool {
        false
    }

    /// Whether the end reports the requested sources that the server refuses, instead of a note at once.
    fn reports_refusals_last(&self) -> bool {
        self.prints_once()
    }

    /// Takes a change of a source's state, for a verb with records. Returns it if a line should report it to the user, alone
    /// or with other changes.
    fn note(&mut self, _key: &Arc<SourceKey>, note: Note, _now: Timestamp) -> Option<Note> {
        Some(note)
    }

    /// Waits for results of other work than events, if the verb has such work. The loop may drop the future
    /// at any point.
    fn wait_for_other(&mut self) -> impl Future<Output = ()> {
        std::future::pending()
    }

    /// Ends such other work early and keeps its results so far. The user or the time limit has stopped the
    /// verb, so this may take only a moment.
    fn wind_up(&mut self) -> impl Future<Output = ()> {
        std::future::ready(())
    }

    /// Takes the output from before the end of `--for` that is still on its way. Returns whether there may be any. It takes
    /// a moment at most.
    fn take_last_output(&mut self) -> impl Future<Output = bool> {
        std::future::ready(false)
    }

    /// Announces the end: output that waits for other work is printed without it. Returns whether any output
    /// may have waited.
    fn stop_waiting(&mut self) -> bool {
        false
    }

    /// Prints new output, which stays. The loop calls it after one or more batches of events.
    fn print(&mut self, sources: &Sources, terminal: &mut Terminal<'_>)
    -> Result<(), CommandError>;

    /// Draws the frame. The loop calls it only on a terminal, at most ten times a second.
    fn draw(&mut self, sources: &Sources, terminal: &mut Terminal<'_>) -> Result<(), CommandError>;

    /// Draws the last frame, which stays on the terminal.
    fn finish(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        self.draw(sources, terminal)
    }

    /// Whether the output is complete. Only settled sources can show that.
    fn is_answered(&self, sources: &Sources) -> bool;
}
