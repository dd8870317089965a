//! What a live verb has to say for itself.

use std::sync::Arc;

use jiff::Timestamp;

use crate::commands::{CommandError, Need, Note, Sources, Terminal};
use crate::source::{Event, SourceKey};
use crate::watch::CatchUp;

/// A verb that follows sources. Everything but the two that are handed the terminal is a function of
/// the events, so that it can be tested without any.
pub(crate) trait Live {
    /// How many times as long as a print took there is none after it. A view of which each print goes
    /// over all there is has to rest, or the cost of a burst of events would be its square; one that
    /// prints what has come, and no more, need not.
    const REST: u32 = 0;

    /// The sources to follow now. Asked again after each batch of events; an object that has come may
    /// lead to others.
    fn wanted(&self) -> Vec<SourceKey>;

    /// Whether the view is of what this source has, or would be of something without it.
    fn need(&self, _key: &SourceKey) -> Need {
        Need::Vital
    }

    /// Whether people are told which objects are waited for.
    fn tells_waiting(&self) -> bool;

    /// What is to be told after an interruption. Most verbs show how things are.
    fn catch_up(&self) -> CatchUp {
        CatchUp::Newest
    }

    /// Whether what was there at the start is shown, so that it can end.
    fn has_begun(&self) -> bool {
        true
    }

    /// Takes one event.
    fn apply(&mut self, key: &Arc<SourceKey>, event: Event, now: Timestamp);

    /// Whether the events of a source wait: the view has to show something else before them. They wait in
    /// the source's queue, which is bounded, and what does not fit is read back.
    fn holds(&self, _key: &SourceKey) -> bool {
        false
    }

    /// Whether states are told as they come. Else those from before anything was read wait until something is:
    /// they may be all there is to tell, and then the error tells it.
    fn tells_states_at_once(&self) -> bool {
        false
    }

    /// Tells that a source has come to another state: to people, unless the verb has records of it.
    fn note(
        &mut self,
        _key: &Arc<SourceKey>,
        note: Note,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        Ok(terminal.note(&note)?)
    }

    /// Waits for what comes from elsewhere than the sources; nothing does, unless the verb says so. It is
    /// dropped half way when something else comes.
    fn wait_for_other(&mut self) -> impl Future<Output = ()> {
        std::future::pending()
    }

    /// Ends what is under way elsewhere with what it has found by now. The user or the time limit has ended
    /// the verb: this may take a moment, and no longer.
    fn wind_up(&mut self) -> impl Future<Output = ()> {
        std::future::ready(())
    }

    /// Says that the end has come: what waits for something from elsewhere is printed without it. Returns
    /// whether anything may have waited.
    fn stop_waiting(&mut self) -> bool {
        false
    }

    /// Prints what is new for good. Called after each batch of events, or after several.
    fn print(&mut self, sources: &Sources, terminal: &mut Terminal<'_>)
    -> Result<(), CommandError>;

    /// Draws the frame. Called on a terminal alone, at most ten times a second.
    fn draw(&mut self, sources: &Sources, terminal: &mut Terminal<'_>) -> Result<(), CommandError>;

    /// Draws the last frame, which stays on the terminal.
    fn finish(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        self.draw(sources, terminal)
    }

    /// Notes what the sources have told when it ends, and what they have not.
    fn over(&mut self, _sources: &Sources) {}

    /// Whether what was asked is answered. Only sources that are settled can tell.
    fn is_answered(&self, sources: &Sources) -> bool;
}
