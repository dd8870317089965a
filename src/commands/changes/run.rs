//! `Changes`: the changes of one cluster or file. It takes events and prints them.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use tokio::time::{Instant, sleep_until};

use super::args::{ChangesArgs, IfMissing};
use super::divider::{ChangedObjects, Divider};
use super::formats::Audience;
use super::line_style::{clock, message_lines};
use super::output::{LeftOut, Printout, Renderer, shifted};
use super::schemas::Schemas;
use crate::commands::live::sources::{named, waiting};
use crate::commands::versions::{
    ChangesState, LookBack, LookBackStart, Occurrence, Reach, SkippedSource, TimelineEntry, When,
    timeline, unread_parts,
};
use crate::commands::{
    Answer, CommandError, Ended, EveryKind, Need, Note, Session, Sources, Stop, Terminal,
    UnreadPart,
};
use crate::env::Clock;
use crate::model::Model;
use crate::render::diff::ChangeType;
use crate::render::style::{Role, Symbols};
use crate::render::text::Text;
use crate::source::{Event, SourceKey, SourceState, Why};

/// How many lines about folded versions the footer has.
const FEW_RUNS: usize = 3;

/// How long the verb runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Span {
    /// Until something stops it.
    On,
    /// Until it has printed the current state.
    Once,
    /// To the end of the file.
    File,
}

/// The changes of one cluster or file.
pub(super) struct Changes {
    pub(super) keys: Vec<SourceKey>,
    pub(super) state: ChangesState,
    pub(super) renderer: Renderer,
    pub(super) span: Span,
    absence: IfMissing,
    /// The entries that are not printed yet.
    pub(super) pending: Vec<TimelineEntry>,
    /// The sources of named objects that do not exist, until a message about them is printed.
    pub(super) absent: Vec<Arc<SourceKey>>,
    /// With `--once`: the sources of named objects that do not exist.
    pub(super) missing: Vec<SourceKey>,
    /// The parts of the past that could not be read.
    pub(super) unread: Vec<UnreadPart>,
    /// The look-back, until its timeline is printed. Live entries wait for it.
    pub(super) past: Option<LookBack>,
    /// The number of earlier versions that were printed.
    pub(super) earlier: usize,
    /// The sources of named objects that have earlier versions.
    with_past: Vec<SourceKey>,
    /// The server's schemas of custom kinds.
    pub(super) schemas: Schemas,
    /// The model that judges the objects for `--for=current`. Nothing of it is printed.
    judged: Option<Judged>,
    /// When the next counted line is due.
    counts_at: Option<Instant>,
    /// How far the time of `--at` is ahead of the view's clock; zero without it.
    past_ahead: SignedDuration,
    /// Whether it has checked the first versions for flags that match nothing.
    pub(super) is_settled: bool,
    /// Whether the error at the end names the sources that the server refuses.
    pub(super) has_refusal_error: bool,
}

/// The model of the objects, and the server's clock, by which it judges them.
struct Judged {
    model: Model,
    clock: Clock,
}

impl Changes {
    pub(super) fn new(
        keys: Vec<SourceKey>,
        renderer: Renderer,
        absence: IfMissing,
        span: Span,
    ) -> Changes {
        Changes {
            keys,
            state: ChangesState::default(),
            renderer,
            span,
            absence,
            pending: Vec::new(),
            absent: Vec::new(),
            missing: Vec::new(),
            unread: Vec::new(),
            past: None,
            earlier: 0,
            with_past: Vec::new(),
            schemas: Schemas::default(),
            judged: None,
            counts_at: None,
            past_ahead: SignedDuration::ZERO,
            is_settled: false,
            has_refusal_error: false,
        }
    }

    /// Also judges the objects, with their dependents, by a model without objects.
    pub(super) fn judge(&mut self, mut model: Model, clock: Clock) {
        model.request(self.keys.clone());
        self.judged = Some(Judged { model, clock });
    }

    /// Prints what follows the last version: the last counted lines, and messages about flags that match nothing. Without a
    /// frame also the managers that `--people` leaves out.
    pub(super) async fn close(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let counts = self.renderer.last_counts(terminal);
        if !counts.is_empty() {
            terminal.print(counts)?;
            terminal.wait_while_read().await?;
        }
        let left_out = self.renderer.left_out.line();
        let mut messages = self.renderer.unmatched.take_messages();
        messages.extend(left_out.filter(|_| !terminal.is_live()));
        for message in messages {
            terminal.notify(&message)?;
        }
        Ok(())
    }

    /// The line of a frame about the managers that `--people` leaves out.
    pub(super) fn left_out_line(&self, symbols: &Symbols) -> Option<Text> {
        let line = self.renderer.left_out.line()?;
        Some(Text::dim(format!("{}  {line}", symbols.dot)))
    }

    /// The lines of a frame about versions that may go on, and about the look-back.
    pub(super) fn open_lines(&self, terminal: &Terminal<'_>) -> Vec<Text> {
        let quiet = &self.renderer.quiet;
        let look = terminal.canvas().narrowed().look;
        let mut lines = quiet.lines(&terminal.env().zone, look);
        lines.extend(self.renderer.open_folds(FEW_RUNS, terminal));
        let past = self.past.as_ref();
        let past = past.filter(|past| past.is_asked() && !past.is_over());
        let progress = past.map(LookBack::progress);
        let options = &self.renderer.options;
        lines.extend(progress.map(|progress| options.about(&progress).into()));
        lines
    }

    /// The lines of the last frame about versions that nothing follows.
    pub(super) fn last_lines(&self, terminal: &Terminal<'_>) -> Vec<Text> {
        let (zone, symbols) = (&terminal.env().zone, terminal.look().symbols);
        let look = terminal.canvas().narrowed().look;
        let mut lines = self.renderer.quiet.lines(zone, look);
        lines.extend(self.renderer.open_folds(usize::MAX, terminal));
        lines.extend(self.left_out_line(symbols));
        lines
    }

    fn audience(&self) -> Audience {
        self.renderer.format.audience()
    }

    pub(super) fn look_back(&mut self, session: &Session, reach: Option<Reach>, every: &EveryKind) {
        let shown = self.renderer.options.shown.clone();
        let past = reach.map(|reach| LookBack::new(session.mux.clone(), reach, &self.keys, shown));
        if session.is_past() {
            self.past_ahead = session.ahead()();
        }
        let past = past.map(|past| {
            let past = past.by_clock(session.server_clock());
            past.ahead_by(self.past_ahead)
        });
        self.past = past.filter(LookBack::is_wanted);
        if let Some(past) = &mut self.past {
            let unwatched = every.unwatched.iter().map(SkippedSource::unwatched);
            let silent = every
                .silent
                .iter()
                .map(|group| SkippedSource::silent(group));
            past.skipped = unwatched.chain(silent).collect();
            past.is_of_namespace = every.is_of_namespace;
            if self.renderer.format.audience() == Audience::Person {
                past.count_cluster_scoped(&session.keys(&every.cluster_scoped));
            }
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

    /// Prints the timeline when all of it is read. Returns whether live entries may follow.
    fn print_past(&mut self, terminal: &mut Terminal<'_>) -> Result<bool, CommandError> {
        if self.holds_past() {
            return Ok(false);
        }
        let Some(mut past) = self.past.take_if(|past| past.is_over()) else {
            return Ok(self.past.is_none());
        };
        past.found.sort_by_cached_key(|found| found.key.to_string());
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
        let left_out = match self.audience() {
            Audience::Person | Audience::Records => std::mem::take(&mut self.renderer.left_out),
            // Documents have no divider, so the last message names them.
            Audience::Documents => LeftOut::default(),
        };
        // Only the end of the program cuts a look-back.
        let is_cut = past.found.iter().any(|found| found.is_cut);
        let is_live_after = self.span == Span::On && !is_cut;
        let divider = Divider {
            found: &past.found,
            skipped: &past.skipped,
            cluster_scoped: past.cluster_scoped(now),
            shown: page.shown,
            first: page.first,
            hidden: page.hidden,
            folded: page.folded,
            changed: ChangedObjects::by(&entries),
            left_out: &left_out,
            is_asked: past.is_asked(),
            since: past.since(),
            live: is_live_after.then_some(now),
            has_refusal_error: self.has_refusal_error && !is_cut,
        };
        if past.is_asked() {
            // What it could not show leaves the question of `--exit-code` open, or answers it.
            self.unread.extend(unread_parts(&past.found, &past.skipped));
            self.renderer.summary.is_changed |= past.found.iter().any(|found| {
                let mut compacted = found.compacted.iter();
                compacted.any(|write| write.is_shown(&self.renderer.options.shown))
            });
        }
        if self.audience() == Audience::Person {
            self.pending.retain(|entry| {
                let is_repeated = entry.is_baseline() && has_past(&entry.key);
                !is_repeated && !matches!(entry.what, Occurrence::Synced { .. })
            });
        }
        self.add_divider(&mut page, &divider, terminal);
        page.asides.extend(self.renderer.unmatched.take_messages());
        let note = past.clock_note();
        let options = &self.renderer.options;
        page.asides.extend(note.map(|note| options.about(&note)));
        page.print(terminal)?;
        Ok(true)
    }

    /// Adds the divider below the earlier versions, in the form of the format.
    fn add_divider(&self, page: &mut Printout, divider: &Divider<'_>, terminal: &Terminal<'_>) {
        let options = &self.renderer.options;
        let look = terminal.look();
        let time = |time| clock(time, look, terminal.env());
        match self.audience() {
            Audience::Person => {
                let lines = divider.lines(look.width, time);
                let lines = lines.iter().map(|line| options.about(line));
                let lines = lines.flat_map(|line| message_lines(Role::Dim, &line, look));
                page.lines.extend(lines);
            }
            Audience::Records => {
                let now = shifted(terminal.env().now(), options.skew);
                let records = divider.records(options, now, page.lines.len());
                page.lines.extend(records.into_iter().map(Text::from));
            }
            Audience::Documents => {
                let messages = divider.messages(time).into_iter();
                page.asides
                    .extend(messages.map(|message| options.about(&message)));
            }
        }
    }

    /// The sources of named objects without which there is no answer: a check of an object that never existed would always
    /// pass.
    pub(super) fn missing(
        &self,
        args: &ChangesArgs,
        stop: &Stop,
        ended: &Result<Ended, CommandError>,
    ) -> Vec<SourceKey> {
        let is_over = matches!(ended, Ok(Ended::Answered | Ended::OutOfTime));
        let may_be_absent = is_over && args.wait.asks_for_answer();
        if !(self.missing.is_empty() && may_be_absent) {
            return self.missing.clone();
        }
        let absent = stop.shown.absent.iter();
        let absent = absent.filter(|key| !self.with_past.contains(key) && stop.unread.is_empty());
        absent.cloned().collect()
    }

    /// Whether something changed, if there was anything that could.
    pub(super) fn answer(&self, stop: &Stop) -> Answer {
        match self.renderer.summary.is_changed {
            false if !stop.shown.has_object && self.earlier == 0 => Answer::NoObject,
            is_changed => Answer::from(is_changed),
        }
    }
}

/// What the loop asks of each cluster.
impl Changes {
    pub(super) fn wanted(&self) -> Vec<SourceKey> {
        match &self.judged {
            Some(judged) => judged.model.sources().cloned().collect(),
            None => self.keys.clone(),
        }
    }

    pub(super) fn take_rereads(&mut self) -> Vec<SourceKey> {
        let judged = self.judged.as_mut();
        judged.map_or_else(Vec::new, |judged| judged.model.take_rereads())
    }

    pub(super) fn needs(&self) -> Box<dyn Fn(&SourceKey) -> Need + '_> {
        Box::new(|key| {
            let judged = self.judged.as_ref();
            match () {
                () if self.keys.contains(key) => Need::Vital,
                () if judged.is_some_and(|judged| judged.model.searches(key)) => Need::Spare,
                () => Need::Useful,
            }
        })
    }

    pub(super) fn model(&self) -> Option<&Model> {
        self.judged.as_ref().map(|judged| &judged.model)
    }

    pub(super) fn reports_waiting(&self) -> bool {
        self.absence == IfMissing::Waits && self.audience() != Audience::Records
    }

    pub(super) fn apply(&mut self, key: &Arc<SourceKey>, mut event: Event, now: Timestamp) {
        let now = shifted(now, self.past_ahead);
        if let Event::Object { seen, .. } = &mut event {
            *seen = shifted(*seen, self.past_ahead);
        }
        if let Some(judged) = &mut self.judged {
            judged.model.apply(key, &event, (judged.clock)());
            if !self.keys.contains(key) {
                return;
            }
        }
        if let Event::Object { now, .. } = &event {
            self.renderer.fold.learn(now);
            if self.span == Span::File {
                // A recorded watch begins with an empty listing.
                self.absent.retain(|absent| absent != key);
                self.missing.retain(|missing| *missing != **key);
            }
        }
        let is_named = named(key).is_some();
        if let Event::Synced {
            epoch: 1, count: 0, ..
        } = event
            && is_named
        {
            self.absent.push(key.clone());
        }
        self.begin(key, &event);
        let mut entry = self.state.apply(key, event, now);
        let options = &self.renderer.options;
        let clock = options.shown.clock.as_ref().map(|clock| clock());
        match &mut entry {
            Some(entry) if key.select.can_leave() => entry.tell_joined(clock),
            Some(entry) if options.is_of_file => {
                entry.tell_older(clock.filter(|_| options.is_stream));
            }
            Some(_) | None => {}
        }
        self.pending.extend(entry);
    }

    pub(super) fn has_begun(&self) -> bool {
        self.past.is_none() && self.pending.is_empty()
    }

    pub(super) fn holds(&self, key: &SourceKey) -> bool {
        self.past.as_ref().is_some_and(|past| past.holds(key))
    }

    pub(super) fn reports_states_at_once(&self) -> bool {
        self.audience() == Audience::Records
    }

    pub(super) async fn wait_for_other(&mut self) {
        let past = async {
            match &mut self.past {
                Some(past) => past.next().await,
                None => std::future::pending().await,
            }
        };
        let count = async {
            match self.counts_at {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = past => {}
            () = count => {}
            () = self.schemas.next(&self.renderer.options.shown.keys) => {}
        }
    }

    pub(super) async fn wind_up(&mut self) {
        if let Some(past) = &mut self.past {
            past.wind_up().await;
        }
    }

    pub(super) fn stop_waiting(&mut self) -> bool {
        let has_cut = self.past.as_mut().is_some_and(LookBack::give_up);
        self.schemas.give_up() || has_cut
    }

    /// Takes a change of a source's state. Returns it if a line should report it.
    pub(super) fn note(
        &mut self,
        key: &Arc<SourceKey>,
        note: Note,
        now: Timestamp,
    ) -> Option<Note> {
        let is_refusal = matches!(note.state, "forbidden" | "unserved" | "failed");
        let past = self.past.as_ref().filter(|_| is_refusal);
        match self.audience() {
            // One line of the look-back names all of them.
            Audience::Person if past.is_some_and(|past| past.reports(key)) => None,
            Audience::Person | Audience::Documents => Some(note),
            Audience::Records => {
                self.pending.push(TimelineEntry {
                    seen: now,
                    key: key.clone(),
                    what: Occurrence::State(note),
                    when: When::Live,
                });
                None
            }
        }
    }

    pub(super) fn print(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        if let Some(judged) = &mut self.judged {
            judged.model.step((judged.clock)(), &[]);
        }
        self.schemas.report(terminal)?;
        if !self.print_past(terminal)? {
            return Ok(());
        }
        for key in std::mem::take(&mut self.absent) {
            let is_printed = self.audience() != Audience::Records;
            match self.absence {
                IfMissing::Missing => self.missing.push((*key).clone()),
                IfMissing::Waits if is_printed => {
                    let line = self.renderer.options.about(&waiting(&key));
                    terminal.notify(&line)?;
                }
                IfMissing::Waits | IfMissing::Fine => {}
            }
        }
        if self.span == Span::Once {
            // The output ends with the state at the start.
            self.pending.retain(|entry| !entry.is_live_version());
        }
        let keys = &self.renderer.options.shown.keys;
        let due = self.schemas.due(&mut self.pending, keys);
        let mut page = self.renderer.page(&due, terminal);
        self.state.hidden += page.hidden + page.folded;
        self.renderer
            .add_initial_sync(&mut page, sources, terminal.look());
        // A file may have more versions later.
        if self.span != Span::File && !self.is_settled && sources.are_settled() {
            self.is_settled = true;
            page.asides.extend(self.renderer.unmatched.take_messages());
        }
        self.counts_at = self.renderer.counts_at(terminal);
        page.print(terminal)
    }

    pub(super) fn is_answered(&self, sources: &Sources) -> bool {
        let is_over = self.span == Span::Once && self.has_begun();
        let is_judged = self
            .judged
            .as_ref()
            .is_none_or(|judged| judged.model.is_up_to_date());
        self.renderer.summary.is_full() || (is_over && is_judged && sources.are_settled())
    }
}
