//! `Chain`: the trace of one object, as a function of the events of its sources.

use std::sync::Arc;

use jiff::Timestamp;

use super::connections;
use super::story_line::StoryLine;
use super::traced::{Presence, Traced};
use crate::graph::TraceSide;
use crate::object::Uid;
use crate::render::canvas::Canvas;
use crate::render::header_footer::ViewHeader;
use crate::render::json::trace::PhaseRecord;
use crate::render::outline::{Outline, OutlineSpace};
use crate::render::text::Text;
use crate::source::{Event, SourceKey};
use crate::status::Status;

/// The trace of one object. The required methods are all that depends on its kind.
pub(super) trait Chain {
    /// The traced object, and everything known around it.
    fn traced(&self) -> &Traced;

    /// Mutable access to the same.
    fn traced_mut(&mut self) -> &mut Traced;

    /// The sources that its story needs, as far as they are known.
    fn plan(&mut self) -> Vec<SourceKey>;

    /// Records the effect of an event, before the model applies it.
    fn note(&mut self, _source: &SourceKey, _event: &Event) {}

    /// Records the progress after a batch of events, and as time passes.
    fn settle(&mut self) {}

    /// The state of the object while it exists; `None` if it cannot be read.
    fn state(&self) -> Option<Headline>;

    /// What is left of the deleted object, after the word `deleted`; may be empty.
    fn remains(&self, uid: &Uid) -> String;

    /// The parts of the frame that depend on the kind.
    fn frame_parts(&self, canvas: Canvas) -> FrameParts;

    /// The sides of the object that its story does not show.
    fn sides(&self) -> &'static [TraceSide] {
        &[TraceSide::InFront, TraceSide::UsedBy, TraceSide::Uses]
    }

    /// The changes since the last call, one line each.
    fn changes(&mut self) -> Vec<String>;

    /// The phases for records; empty for objects without phases.
    fn phases(&self) -> Vec<PhaseRecord> {
        Vec::new()
    }

    /// Applies one event.
    fn apply(&mut self, source: &Arc<SourceKey>, event: &Event, now: Timestamp) {
        self.note(source, event);
        self.traced_mut().apply(source, event, now);
    }

    /// Applies the effects of events and of time, and updates the followed sources.
    fn refresh(&mut self, now: Timestamp) {
        self.traced_mut().model.refresh(now);
        let story = self.plan();
        self.traced_mut().model.step(now, &story);
    }

    /// The state of the object, which frames, lines and records show.
    fn headline(&self) -> Headline {
        match &self.traced().presence {
            Presence::Unread => Headline::new(Status::Unknown, "not read yet"),
            Presence::Absent => {
                let object = self.traced().object();
                let stage = format!("waiting for {object} to be created");
                Headline::new(Status::NotFound, stage)
            }
            Presence::Deleted(uid) => {
                Headline::new(Status::NotFound, format!("deleted{}", self.remains(uid)))
            }
            Presence::There(_) => {
                let unreadable = || Headline::new(Status::Unknown, "not readable");
                self.state().unwrap_or_else(unreadable)
            }
        }
    }

    /// The whole view without its footer.
    fn frame(&self, canvas: Canvas) -> Vec<Text> {
        let traced = self.traced();
        let parts = self.frame_parts(canvas);
        let namespace = traced.source.namespace();
        let namespace = namespace.map(|namespace| format!("-n {namespace}"));
        let header = ViewHeader {
            name: traced.object().to_string(),
            facts: namespace.into_iter().chain(parts.facts).collect(),
            ..ViewHeader::default()
        };
        let headline = self.headline();
        let state = canvas.state(headline.status, &headline.text()) + parts.beside;
        let mut lines = vec![header.line(canvas), canvas.line(state, &parts.right)];
        let changes = traced.last_changes.iter();
        let changes =
            changes.filter(|change| !(parts.has_change && change.is_of_newest_template()));
        let changes = changes.map(|change| change.text(canvas.now, canvas.look.symbols.arrow));
        let note = canvas.look.symbols.note;
        lines.extend(changes.flat_map(|text| canvas.wrapped(note, text)));
        lines.extend(traced.explained().into_iter().map(Text::dim));
        let mut connections = connections::outline(traced, self.sides(), canvas);
        let mut story = parts.outline;
        story.merge();
        connections.merge();
        let others = lines.len() + story.height() + connections.height();
        lines.extend(StoryLine::fit(parts.lines, others, canvas));
        lines.extend(share(story, connections, canvas.without_rows(lines.len())));
        lines
    }
}

/// The lines of the story and, below it, of the connections, both merged. If there is not enough room for both, the connections get
/// at least a third. Only the lines that are left hold the ends of long causes.
fn share(story: Outline, connections: Outline, canvas: Canvas) -> Vec<Text> {
    let space = |room| OutlineSpace {
        room,
        ..canvas.space()
    };
    let room = canvas.rows;
    let left = room.map(|room| room.saturating_sub(story.height()).max(room / 3));
    let left = left.map(|left| left.min(connections.height()));
    let below = connections.clone().lines(space(left)).len();
    let mut lines = story.lines(space(room.map(|room| room.saturating_sub(below))));
    lines.extend(connections.lines(space(room.map(|room| room.saturating_sub(lines.len())))));
    lines
}

/// The parts of a frame that depend on the kind of the object.
pub(super) struct FrameParts {
    /// Facts about the object, after its name.
    pub(super) facts: Vec<String>,
    /// The text after the headline.
    pub(super) beside: Text,
    /// The text at the end of the headline's line.
    pub(super) right: Text,
    /// The lines between the headline and the outline.
    pub(super) lines: Vec<StoryLine>,
    /// Whether they show the last change of the object.
    pub(super) has_change: bool,
    /// The objects of the chain.
    pub(super) outline: Outline,
}

/// The state of the traced object and its current stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Headline {
    pub(super) status: Status,
    /// The current stage: `rolling out`.
    pub(super) stage: String,
    /// The progress: `1/3 updated`.
    pub(super) progress: Option<String>,
}

impl Headline {
    /// A headline without progress.
    pub(super) fn new(status: Status, stage: impl Into<String>) -> Headline {
        Headline {
            status,
            stage: stage.into(),
            progress: None,
        }
    }

    /// The text: `rolling out: 1/3 updated, 3 available`.
    pub(super) fn text(&self) -> String {
        match &self.progress {
            Some(progress) => format!("{}: {progress}", self.stage),
            None => self.stage.clone(),
        }
    }
}
