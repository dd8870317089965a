//! Starts the look-back of a run, and prints its timeline.

use super::formats::Audience;
use super::line_style::clock;
use super::lookback::{
    ChangedObjects, Divider, LookBack, LookBackStart, Reach, SkippedSource, timeline, unread_parts,
};
use super::output::{LeftOut, Printout, shifted};
use super::run::{Changes, Span};
use super::schemas::Schemas;
use super::state::{Occurrence, TimelineEntry};
use crate::commands::sources::{describe, named};
use crate::commands::{CommandError, EveryKind, Session, Sources, Terminal};
use crate::render::diff::ChangeType;
use crate::source::{Event, SourceKey, SourceState, Why};

impl Changes {
    pub(super) fn look_back(&mut self, session: &Session, reach: Option<Reach>, every: &EveryKind) {
        let shown = self.renderer.options.shown.clone();
        let past = reach.map(|reach| LookBack::new(session.mux.clone(), reach, &self.keys, shown));
        let past = past.map(|past| past.by_clock(session.server_clock()));
        self.past = past.filter(LookBack::is_wanted);
        if let Some(past) = &mut self.past {
            let unwatched = every.unwatched.iter().map(SkippedSource::unwatched);
            let silent = every
                .silent
                .iter()
                .map(|group| SkippedSource::silent(group));
            past.skipped = unwatched.chain(silent).collect();
            past.is_of_namespace = every.is_of_namespace;
        }
    }

    /// Requests the schemas of the watched kinds, if the run will compare versions.
    pub(super) fn ask_for_schemas(&mut self, session: &Session) {
        if self.span == Span::On || self.past.is_some() {
            self.schemas = Schemas::of(session, &self.keys);
        }
    }

    /// Whether the timeline must wait for a schema.
    fn holds_past(&mut self) -> bool {
        let past = self.past.as_ref().filter(|past| past.is_over());
        let mut found = past.into_iter().flat_map(|past| &past.found);
        found.any(|found| {
            let kind = found.key.resource.group_kind();
            let keys = &self.renderer.options.shown.keys;
            !found.versions.is_empty() && self.schemas.holds(&kind, keys)
        })
    }

    /// Passes the first listing to the look-back: its objects and its revision, or why it cannot be read.
    pub(super) fn begin(&mut self, key: &SourceKey, event: &Event) {
        let Some(past) = &mut self.past else { return };
        let is_named = named(key).is_some();
        match event {
            Event::Object { now, .. } if is_named => past.start(key, LookBackStart::Version(now.clone())),
            Event::Object {
                why: Why::Listed,
                now,
                ..
            } => past.list(key, now),
            Event::Synced { version, .. } => past.start_listed(key, version),
            Event::State(
                SourceState::Forbidden { cause }
                | SourceState::Unserved { cause }
                | SourceState::Failed { cause }
                // Other sources must not wait for a server that does not answer.
                | SourceState::Retrying {
                    attempt: 3..,
                    cause,
                    ..
                },
            ) => past.skip(key, cause),
            Event::Object { .. } | Event::State(_) | Event::Gap(_) | Event::Undecodable { .. } => {}
        }
    }

    /// Remembers the length of a timeline, and the deleted names and the owners in it.
    fn remember(&mut self, timeline: &[TimelineEntry]) {
        self.earlier = timeline.len();
        for event in timeline.iter().filter_map(TimelineEntry::version) {
            self.renderer.fold.learn(&event.now);
            if event.change == ChangeType::Deleted {
                self.state.remember_deleted(&event.now);
            }
        }
    }

    /// The messages about flags that none of the first versions matches. A file may have more versions later.
    pub(super) fn first_unmatched(&mut self, sources: &Sources) -> Vec<String> {
        if self.span == Span::File || self.is_settled || !sources.are_settled() {
            return Vec::new();
        }
        self.is_settled = true;
        self.renderer.unmatched.take_messages()
    }

    /// Whether live versions may follow. Only the end of the program cuts a look-back.
    fn is_live_after(&self, past: &LookBack) -> bool {
        self.span == Span::On && !past.found.iter().any(|found| found.is_cut)
    }

    /// Takes what a requested look-back could not show: it leaves the question of `--exit-code` open, or answers it.
    fn take_unshown(&mut self, past: &LookBack) {
        if past.is_asked() {
            self.unread.extend(unread_parts(&past.found, &past.skipped));
            self.renderer.summary.is_changed |= past.has_compacted_change();
        }
    }

    /// Prints the timeline when all of it is read. Returns whether live entries may follow.
    pub(super) fn print_past(&mut self, terminal: &mut Terminal<'_>) -> Result<bool, CommandError> {
        if self.holds_past() {
            return Ok(false);
        }
        let Some(mut past) = self.past.take_if(|past| past.is_over()) else {
            return Ok(self.past.is_none());
        };
        past.found.sort_by_cached_key(|found| describe(&found.key));
        past.skipped.sort_by(|a, b| a.source.cmp(&b.source));
        self.renderer.options.skew = past.skew();
        let now = shifted(terminal.env().now(), past.skew());
        let entries = timeline(&past.found, past.since(), now);
        self.remember(&entries);
        let has_past = |key: &SourceKey| entries.iter().any(|entry| *entry.key == *key);
        let keys = self.keys.iter().filter(|key| has_past(key)).cloned();
        self.with_past = keys.filter(|key| named(key).is_some()).collect();
        if self.span != Span::On {
            self.absent.retain(|key| !has_past(key));
        }
        let mut page = self.renderer.page(&entries, terminal);
        let left_out = self.take_left_out();
        let divider = Divider {
            found: &past.found,
            skipped: &past.skipped,
            is_of_namespace: past.is_of_namespace,
            shown: page.shown,
            first: page.first,
            hidden: page.hidden,
            folded: page.folded,
            changed: ChangedObjects::by(&entries),
            left_out: &left_out,
            is_asked: past.is_asked(),
            since: past.since(),
            live: self.is_live_after(&past).then_some(now),
        };
        self.take_unshown(&past);
        if self.renderer.options.format.audience() == Audience::Person {
            self.pending.retain(|entry| {
                let is_repeated = entry.is_baseline() && has_past(&entry.key);
                !is_repeated && !matches!(entry.what, Occurrence::Synced { .. })
            });
        }
        self.add_divider(&mut page, &divider, terminal);
        page.asides.extend(self.renderer.unmatched.take_messages());
        page.asides.extend(past.clock_note());
        page.print(terminal)?;
        Ok(true)
    }

    /// The managers that the divider names. Documents have none, so the last message names them.
    fn take_left_out(&mut self) -> LeftOut {
        match self.renderer.options.format.audience() {
            Audience::Person | Audience::Records => std::mem::take(&mut self.renderer.left_out),
            Audience::Documents => LeftOut::default(),
        }
    }

    /// Adds the divider below the earlier versions, in the form of the format.
    fn add_divider(&self, page: &mut Printout, divider: &Divider<'_>, terminal: &Terminal<'_>) {
        let options = &self.renderer.options;
        let look = terminal.look();
        let time = |time| clock(time, look, terminal.env());
        match options.format.audience() {
            Audience::Person => {
                let lines = divider.lines(look.width, time);
                page.lines
                    .extend(lines.iter().map(|line| look.styles.dim(line)));
            }
            Audience::Records => {
                let now = shifted(terminal.env().now(), options.skew);
                let records = divider.records(options, now, page.lines.len());
                page.lines.extend(records);
            }
            Audience::Documents => page.asides.extend(divider.messages(time)),
        }
    }
}
