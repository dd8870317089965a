//! What is told of a rollout where frames are not shown: a line for each change of a phase, or records.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::object::Uid;
use crate::render::age;
use crate::render::json::trace as json;
use crate::render::text::escape_line;
use crate::status::Status;

use super::phase::{Name, Phase, Progress};
use super::state::State;
use super::verdict;

/// What was said last, to say only what is new.
#[derive(Default)]
pub(super) struct Told {
    /// Of which object and generation.
    change: (Option<Uid>, i64),
    /// What it was.
    made: String,
    phases: BTreeMap<Name, Phase>,
    left: Vec<String>,
    verdict: (Option<Status>, Option<String>),
}

impl Told {
    /// A line for each thing that is other than what was said: phases in their order, then what it all
    /// amounts to.
    pub(super) fn news(&mut self, state: &State, now: Timestamp) -> Vec<String> {
        let name = state.target.object();
        let mut news = Vec::new();
        let change = (state.uid().cloned(), state.change.generation);
        if change != self.change {
            self.change = change;
            self.phases.clear();
            self.made.clear();
        }
        let made = state.change.text();
        if !state.phases.is_empty() && made != self.made {
            news.push(format!("{name} spec change: {made}"));
            self.made = made;
        }
        for phase in &state.phases {
            let was = self.phases.insert(phase.name, phase.clone());
            if is_news(phase, was.as_ref()) {
                news.push(format!("{name} {}", text(phase)));
            }
        }
        for pod in state.left.iter().filter(|pod| !self.left.contains(pod)) {
            news.push(format!("{pod} no longer matches the selector of {name}"));
        }
        self.left.clone_from(&state.left);
        let (status, words) = verdict::of(state, state.reading(now).as_ref());
        // How far it is, the phases tell; here it is enough to say what it is at.
        let verdict = (Some(status), words.split(':').next().map(str::to_owned));
        if verdict != self.verdict {
            news.push(format!("{name} {status}: {words}"));
            self.verdict = verdict;
        }
        let time = age::rfc3339(now);
        news.iter()
            .map(|line| format!("{time} {}", escape_line(line)))
            .collect()
    }
}

/// Whether a phase is worth a line. One that has not begun is only if it had; that a pod goes back and
/// forth between two words for the same trouble is not.
fn is_news(phase: &Phase, was: Option<&Phase>) -> bool {
    let trouble = |phase: &Phase| {
        let failure = phase.failure.as_ref()?;
        Some((failure.rule, failure.pod.clone()))
    };
    match (was, phase.name) {
        (None, Name::Observed) => phase.progress != Progress::Done,
        (None, _) => phase.progress != Progress::Waiting,
        (Some(was), _) => {
            was.progress != phase.progress
                || was.text != phase.text
                || trouble(was) != trouble(phase)
        }
    }
}

/// The phase in one line: `images failed: 0/3 pulled; web-x ErrImagePull: not found`.
fn text(phase: &Phase) -> String {
    let cause = phase.failure.as_ref().map(|failure| failure.cause.clone());
    let what = format!("{} {}", phase.name.as_str(), phase.progress.as_str());
    let parts = [Some(what), Some(phase.words()), cause];
    let parts: Vec<String> = parts
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect();
    parts.join(": ")
}

/// The phases as records have them.
pub(super) fn records(state: &State) -> Vec<json::Phase> {
    let of = |phase: &Phase| {
        let time = match phase.progress {
            Progress::Done => state.log.moment(phase.name).time(),
            Progress::Underway | Progress::Failed | Progress::Waiting | Progress::Unknown => None,
        };
        json::Phase {
            phase: phase.name.as_str(),
            state: phase.progress.as_str(),
            time: time.map(age::rfc3339_millis),
            text: phase.words(),
        }
    };
    let change = json::Phase {
        phase: Name::Change.as_str(),
        state: Progress::Done.as_str(),
        time: state.change.at.time().map(age::rfc3339_millis),
        text: state.change.text(),
    };
    if state.phases.is_empty() {
        return Vec::new();
    }
    let phases = state.phases.iter().map(of);
    std::iter::once(change).chain(phases).collect()
}
