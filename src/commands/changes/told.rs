//! What is told of a version: lines, or how much of it is hidden.

use super::state::{Happened, Step};
use super::view::{Draw, Headed, View, missing};
use crate::commands::Terminal;
use crate::commands::sources::named;
use crate::diff::Noise;
use crate::render::diff::{Counts, Verb};

/// What is told of one thing that has happened.
#[derive(Default)]
pub(super) struct Told {
    /// The lines; none for what is hidden.
    pub(super) lines: Vec<String>,
    /// How much is hidden, of a version of which nothing is shown.
    pub(super) quiet: Option<Counts>,
}

impl View {
    /// What is told of what has happened.
    pub(super) fn told(&self, happened: &Happened, terminal: &Terminal<'_>) -> Told {
        let Step::Modified {
            old,
            now,
            skipped,
            since,
        } = &happened.step
        else {
            return Told {
                lines: self.lines(happened, terminal),
                quiet: None,
            };
        };
        // A Lease is nothing but heartbeats: who asks for one wants to see them.
        let asked = named(&happened.key).is_some() && &*now.object.kind == "Lease";
        let draw = Draw {
            view: self,
            look: terminal.look(),
            env: terminal.env(),
            heartbeats: asked.then_some(Noise::Heartbeat),
        };
        let notes = missing(*skipped, "versions may be missing");
        let since = since.map(|since| happened.seen.duration_since(since));
        let headed = Headed::new(Verb::Modified, happened.seen).noting(since, &notes);
        draw.change(old, now, headed)
    }
}
