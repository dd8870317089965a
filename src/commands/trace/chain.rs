//! `Chain`: the trace of one object, as a function of the events of its sources.

use std::sync::Arc;

use jiff::Timestamp;

use super::headline::Headline;
use super::traced::Traced;
use crate::render::canvas::Canvas;
use crate::render::json::trace::PhaseRecord;
use crate::source::{Event, SourceKey};

/// The trace of one object.
pub(super) trait Chain {
    /// The traced object, and everything known around it.
    fn traced(&self) -> &Traced;

    /// Mutable access to the same.
    fn traced_mut(&mut self) -> &mut Traced;

    /// The sources that show the chain, as far as it is known.
    fn plan(&mut self) -> Vec<SourceKey>;

    /// Applies one event.
    fn apply(&mut self, source: &Arc<SourceKey>, event: &Event, now: Timestamp) {
        self.traced_mut().apply(source, event, now);
    }

    /// Applies the effects of events and of time, and updates the followed sources.
    fn refresh(&mut self, now: Timestamp) {
        self.traced_mut().model.refresh(now);
        let sources = self.plan();
        self.traced_mut().model.follow(sources);
        self.traced_mut().model.refresh(now);
    }

    /// The state of the object, which frames, lines and records show.
    fn headline(&self, now: Timestamp) -> Headline;

    /// A line for each change since the last call, with the time.
    fn transitions(&mut self, now: Timestamp) -> Vec<String>;

    /// Records the progress after a batch of events, and as time passes.
    fn settle(&mut self, _now: Timestamp) {}

    /// The whole view without its footer.
    fn frame(&self, canvas: Canvas) -> Vec<String>;

    /// The phases for records; empty for objects without phases.
    fn phases(&self) -> Vec<PhaseRecord> {
        Vec::new()
    }
}
