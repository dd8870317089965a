//! `TimelineFold`: makes the timeline of every kind readable. What people and tools did is printed version by version.
//! An Event is one line. What controllers did about it becomes one counted line below the object they did it for.

mod event_line;
mod part;
mod run;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use tokio::time::Instant;

use super::line_style::LineStyle;
use crate::commands::versions::{Compared, ControlledObject, KnownOwners, TimelineEntry, When};
use crate::object::ObjectRef;
use crate::render::text::Text;
use crate::source::Version;
pub(crate) use event_line::EventLine;
use event_line::WarningKey;
use part::TimelinePart;
use run::FoldedRun;
pub(crate) use run::RunsEnd;

/// What a timeline folds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FoldMode {
    /// Nothing. Each version is printed as such.
    #[default]
    Nothing,
    /// Each Event becomes one line.
    Events,
    /// Besides, the versions that controllers wrote become counted lines.
    Controllers,
}

/// What stands for a version in a timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FoldedInto {
    /// Nothing: it is printed as such.
    #[default]
    Nothing,
    /// A line about an Event.
    EventLine,
    /// A counted line.
    CountedLine,
}

/// The folded versions of a timeline that are not printed yet.
#[derive(Default)]
pub(crate) struct TimelineFold {
    pub(crate) mode: FoldMode,
    /// The number of lines of the page so far.
    pub(crate) above: usize,
    owners: KnownOwners,
    /// The open runs, by their first version.
    runs: Vec<FoldedRun>,
    /// The complete runs of the current page.
    done: Vec<FoldedRun>,
    /// The lines about Events of the current page.
    events: Vec<EventLine>,
    /// Where the lines of each object on the current page end.
    ends: HashMap<ObjectRef, usize>,
    /// The object whose version has the last printed lines.
    pub(crate) last_printed: Option<ObjectRef>,
    /// The objects with a printed version, until a counted line follows it.
    changed: HashSet<ObjectRef>,
    /// The Warnings that have a line, until a version of their owner is printed.
    warned: HashSet<WarningKey>,
}

/// How many objects and Warnings it remembers.
const REMEMBERED: usize = 4096;

impl TimelineFold {
    pub(crate) fn new(mode: FoldMode) -> TimelineFold {
        TimelineFold {
            mode,
            ..TimelineFold::default()
        }
    }

    /// Remembers an object, which may be the owner of others.
    pub(crate) fn learn(&mut self, version: &Arc<Version>) {
        if self.mode != FoldMode::Nothing {
            self.owners.learn(version);
        }
    }

    /// Takes a version, unless it is printed as such.
    pub(crate) fn take(&mut self, entry: &TimelineEntry, compared: &Compared<'_>) -> FoldedInto {
        if self.mode == FoldMode::Nothing {
            return FoldedInto::Nothing; // most commands
        }
        let part = TimelinePart::of(compared);
        match (self.mode, part) {
            (FoldMode::Nothing, _)
            | (_, TimelinePart::Version)
            | (FoldMode::Events, TimelinePart::Owned | TimelinePart::Report) => FoldedInto::Nothing,
            (FoldMode::Events | FoldMode::Controllers, TimelinePart::Event) => {
                self.take_event(entry, compared)
            }
            (FoldMode::Controllers, TimelinePart::Owned | TimelinePart::Report) => {
                let owner = match ControlledObject::of(compared.read) {
                    Some(controlled) => self.owners.top(&controlled.owner),
                    None => compared.read.event.now.object.as_ref().clone(),
                };
                self.run(&owner, entry).add(part, entry, compared);
                FoldedInto::CountedLine
            }
        }
    }

    /// An Event about the normal course of things is counted; a Warning has a line.
    fn take_event(&mut self, entry: &TimelineEntry, compared: &Compared<'_>) -> FoldedInto {
        let Some(mut line) = EventLine::of(compared, entry) else {
            return FoldedInto::Nothing;
        };
        let owner = self.owners.top(&line.event.about);
        // The server deletes Events after an hour, which says nothing about their objects.
        let is_normal = !line.event.is_warning() || compared.read.event.is_end();
        if self.mode == FoldMode::Controllers && is_normal {
            let run = self.run(&owner, entry);
            run.last = run.last.max(entry.latest());
            run.events += 1;
            return FoldedInto::CountedLine;
        }
        line.owner = owner;
        line.at = self.above;
        if self.repeats_line(&line, entry) {
            let owner = line.owner;
            let run = self.run(&owner, entry);
            run.last = run.last.max(entry.latest());
            run.warnings += 1;
            return FoldedInto::CountedLine;
        }
        match self.events.iter_mut().find(|other| other.repeats(&line)) {
            Some(other) => other.join(line),
            None => self.events.push(line),
        }
        FoldedInto::EventLine
    }

    /// Whether a live Warning repeats one whose line is printed. Its owner's counted line has it.
    fn repeats_line(&mut self, line: &EventLine, entry: &TimelineEntry) -> bool {
        if self.mode != FoldMode::Controllers {
            return false;
        }
        if self.warned.len() >= REMEMBERED {
            self.warned.clear();
        }
        let key = line.key();
        let is_open = self.events.iter().any(|other| other.key() == key);
        // A Warning can come before its object, whose owner is not known then.
        let mut came_early = key.clone();
        came_early.owner = line.event.about.without_uid();
        let came_early = came_early != key && self.warned.remove(&came_early);
        let is_known = !self.warned.insert(key) || came_early;
        is_known && !is_open && entry.when == When::Live
    }

    /// Notes that a version of this object takes these lines of the page. It ends the run of the object.
    pub(crate) fn printed(&mut self, object: &ObjectRef, lines: Range<usize>) {
        if self.mode == FoldMode::Nothing {
            return;
        }
        let object = object.without_uid();
        if let Some(at) = self.runs.iter().position(|run| run.owner == object) {
            let mut run = self.runs.remove(at);
            let is_first = run.at.is_none() && lines.start == 0;
            run.is_below_owner |= is_first && self.last_printed.as_ref() == Some(&object);
            run.at = run.at.or(Some(lines.start));
            self.done.push(run);
        }
        if self.changed.len() >= REMEMBERED {
            self.changed.clear();
        }
        self.changed.insert(object.clone());
        self.warned.retain(|warning| warning.owner != object);
        self.last_printed = Some(object.clone());
        self.ends.insert(object, lines.end);
    }

    /// When the next open run is complete, if nothing comes until then.
    pub(crate) fn settles_at(&self, ends: RunsEnd) -> Option<Instant> {
        let runs = self.runs.iter().filter(|run| run.can_settle(ends));
        runs.map(FoldedRun::settles_at).min()
    }

    /// The lines of the page, each with the number of lines of the page above it.
    pub(crate) fn end_page(&mut self, ends: RunsEnd, style: &LineStyle<'_>) -> Vec<(usize, Text)> {
        if !self.events.is_empty() {
            self.last_printed = None; // it may be the last line
        }
        self.end_runs(ends);
        let end = usize::MAX;
        let done = std::mem::take(&mut self.done).into_iter();
        let runs = done.map(|run| (run.at.unwrap_or(end), run.line(style)));
        let events = std::mem::take(&mut self.events).into_iter();
        let mut lines: Vec<(usize, Text)> = runs
            .chain(events.map(|event| (event.at, event.line(style))))
            .collect();
        lines.sort_by_key(|(at, _)| *at);
        self.ends.clear();
        for run in &mut self.runs {
            run.at = None;
            run.is_below_owner = false;
        }
        lines
    }

    /// Moves the open runs that end with the page to the complete ones. One that follows the last printed version is below it.
    fn end_runs(&mut self, ends: RunsEnd) {
        let now = Instant::now();
        let is_over = |run: &mut FoldedRun| match ends {
            RunsEnd::All => true,
            RunsEnd::Settled | RunsEnd::SettledChanges => {
                run.can_settle(ends) && run.settles_at() <= now
            }
        };
        for mut run in self.runs.extract_if(.., is_over) {
            self.changed.remove(&run.owner);
            if ends != RunsEnd::All {
                run.is_below_owner = self.last_printed.take().as_ref() == Some(&run.owner);
                run.at = None;
            }
            self.done.push(run);
        }
    }

    /// The lines about the newest open runs, at most `most`, for a frame.
    pub(crate) fn open_lines(&self, most: usize, style: &LineStyle<'_>) -> Vec<Text> {
        let others = self.open_count().saturating_sub(most);
        let runs = self.runs.iter().skip(others);
        runs.map(|run| run.line(style)).collect()
    }

    /// The number of open runs.
    pub(crate) fn open_count(&self) -> usize {
        self.runs.len()
    }

    /// The open run of an owner.
    fn run(&mut self, owner: &ObjectRef, entry: &TimelineEntry) -> &mut FoldedRun {
        let owner = owner.without_uid();
        let known = self.runs.iter().position(|run| run.owner == owner);
        let index = known.unwrap_or_else(|| {
            let above = self.ends.get(&owner).copied();
            let mut run = FoldedRun::new(owner, entry.time());
            run.at = Some(above.unwrap_or(self.above));
            run.is_below_owner = above.is_some();
            run.follows_change = self.changed.contains(&run.owner);
            self.runs.push(run);
            self.runs.len() - 1
        });
        let run = &mut self.runs[index];
        run.touched = Instant::now();
        run
    }
}
