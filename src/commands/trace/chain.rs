//! `Chain`: the trace of one object, as a function of the events of its sources.

use std::sync::Arc;

use jiff::Timestamp;

use super::headline::Headline;
use super::objects::Objects;
use super::target::{Presence, TracedObject};
use crate::render::canvas::Canvas;
use crate::render::json::trace::PhaseRecord;
use crate::watch::{Event, SourceKey};

/// The trace of one object.
pub(super) trait Chain {
    /// The sources that show the chain, as far as it is known.
    fn wanted(&self) -> Vec<SourceKey>;

    /// Takes one event.
    fn apply(&mut self, key: &Arc<SourceKey>, event: &Event);

    /// Which object it is the trace of.
    fn target(&self) -> &TracedObject;

    /// Whether that object is there.
    fn presence(&self) -> &Presence;

    /// Everything that is known.
    fn objects(&self) -> &Objects;

    /// The state of the object, which frames, lines and records show.
    fn headline(&self, now: Timestamp) -> Headline;

    /// A line for each thing that has changed since the last call, with the time.
    fn transitions(&mut self, now: Timestamp) -> Vec<String>;

    /// Takes stock after a batch of events, and now and then as time goes on.
    fn settle(&mut self, _now: Timestamp) {}

    /// The whole view but its footer.
    fn frame(&self, canvas: Canvas) -> Vec<String>;

    /// The phases that records show; none for what has no phases.
    fn phases(&self) -> Vec<PhaseRecord> {
        Vec::new()
    }
}
