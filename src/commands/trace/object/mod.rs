//! The trace of an object of any kind: its state, and its connections on all sides.

use std::collections::BTreeMap;

use super::chain::{Chain, FrameParts, Headline};
use super::connections;
use super::story_line::StoryLine;
use super::traced::Traced;
use crate::graph::{ReferenceTarget, TraceSide};
use crate::object::Uid;
use crate::render::canvas::Canvas;
use crate::render::outline::Outline;
use crate::render::text::Text;
use crate::source::SourceKey;
use crate::status::Status;

pub(super) struct ObjectTrace {
    traced: Traced,
    /// The connections that were printed last, with their states.
    printed: BTreeMap<(TraceSide, ReferenceTarget), (Status, String)>,
}

impl ObjectTrace {
    /// The trace of an object before any event.
    pub(super) fn new(traced: Traced) -> ObjectTrace {
        ObjectTrace {
            traced,
            printed: BTreeMap::new(),
        }
    }
}

impl Chain for ObjectTrace {
    fn traced(&self) -> &Traced {
        &self.traced
    }

    fn traced_mut(&mut self) -> &mut Traced {
        &mut self.traced
    }

    fn plan(&mut self) -> Vec<SourceKey> {
        vec![self.traced.source.clone()]
    }

    fn sides(&self) -> &'static [TraceSide] {
        &[
            TraceSide::InFront,
            TraceSide::UsedBy,
            TraceSide::Behind,
            TraceSide::Uses,
        ]
    }

    fn state(&self) -> Option<Headline> {
        let verdict = &self.traced.assessment(self.traced.uid()?)?.verdict;
        let words = verdict.error.as_ref().unwrap_or(&verdict.message);
        Some(Headline::new(verdict.status, words))
    }

    fn remains(&self, _uid: &Uid) -> String {
        String::new()
    }

    fn frame_parts(&self, canvas: Canvas) -> FrameParts {
        let assessment = self
            .traced
            .uid()
            .and_then(|uid| self.traced.assessment(uid));
        let headline = self.headline().text();
        let causes = assessment
            .map(|found| &found.causes[..])
            .unwrap_or_default();
        let causes = causes.iter().flat_map(|cause| cause.text.lines());
        // The headline may be one of the causes.
        let causes = causes.filter(|cause| *cause != headline);
        let note = Text::dim(canvas.look.symbols.note);
        let ready = assessment.and_then(|found| found.row.ready.clone());
        FrameParts {
            facts: ready
                .map(|ready| format!("{ready} ready"))
                .into_iter()
                .collect(),
            beside: Text::default(),
            right: canvas
                .age(self.traced.node().and_then(|node| node.created))
                .into(),
            lines: causes
                .flat_map(|cause| canvas.wrapped(note.clone(), cause))
                .map(StoryLine::from)
                .collect(),
            has_change: false,
            outline: Outline {
                columns: Vec::new(),
                tree: 0,
                items: Vec::new(),
                healthy_beyond: 0,
                footnote: None,
            },
        }
    }

    fn changes(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut present = BTreeMap::new();
        for step in connections::steps(&self.traced) {
            if step.is_repeat {
                continue;
            }
            let shown = connections::state(&self.traced, &step);
            let (status, word) = (shown.status, shown.word);
            let key = (step.side, step.end.target());
            let was = self.printed.get(&key);
            if was.is_none_or(|(before, _)| *before != status) {
                let (side, name) = (
                    connections::title(step.side),
                    connections::name(&self.traced, &step),
                );
                let relation = connections::relation(&step);
                let before = was.map(|(before, _)| format!(" (was {before})"));
                let before = before.unwrap_or_default();
                lines.push(format!(
                    "{side}: {name} ({relation}) {status}: {word}{before}"
                ));
            }
            present.insert(key, (status, word));
        }
        for (side, target) in self.printed.keys() {
            if !present.contains_key(&(*side, target.clone())) {
                let (side, kind) = (connections::title(*side), target.kind.kind.to_lowercase());
                lines.push(format!("{side}: {kind}/{} gone", target.name));
            }
        }
        self.printed = present;
        lines
    }
}

#[cfg(test)]
mod tests;
