//! The verb while it runs: what comes, and what is printed of it.

use std::sync::Arc;

use jiff::Timestamp;

use super::absence::Absence;
use super::arrivals::Arrivals;
use super::formats::Reader;
use super::lookback::LookBack;
use super::noise::QuietRuns;
use super::schemas::Schemas;
use super::state::{Happened, State, Step};
use super::summary::Summary;
use super::tally::Tally;
use super::told::Told;
use super::view::View;
use super::{Args, footer};
use crate::commands::sources::{describe, named};
use crate::commands::{CommandError, Live, Note, Sources, Terminal, Unknown};
use crate::render::diff::Counts;
use crate::watch::{CatchUp, Event, SourceKey};

/// How long it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Span {
    /// Until it is stopped.
    On,
    /// Until what is there has been read.
    Once,
    /// To the end of the file.
    File,
}

/// The verb while it runs.
pub(super) struct Changes {
    pub(super) keys: Vec<SourceKey>,
    pub(super) state: State,
    pub(super) view: View,
    summary: Summary,
    /// Whether a document has been printed.
    has_document: bool,
    /// Whether it has been said that what is printed lacks what Secrets hold.
    pub(super) has_warned: bool,
    pub(super) span: Span,
    absence: Absence,
    pub(super) arrivals: Arrivals,
    pub(super) tally: Tally,
    /// What has come since the last time that lines were printed.
    pub(super) pending: Vec<Happened>,
    /// What only noise has happened to since.
    quiet: QuietRuns,
    /// The sources of single objects that are not there, until it has been said.
    pub(super) absent: Vec<Arc<SourceKey>>,
    /// With `--once`: the sources of objects that were asked for and are not there.
    pub(super) missing: Vec<SourceKey>,
    /// What was asked of the past and could not be read.
    pub(super) unread: Vec<Unknown>,
    /// What happened before, until it is told. What comes meanwhile waits.
    pub(super) past: Option<LookBack>,
    /// How many earlier versions were told.
    pub(super) earlier: u64,
    /// What the server says of the lists of kinds that are not built in.
    pub(super) schemas: Schemas,
}

impl Changes {
    pub(super) fn new(
        (args, view): (&Args, View),
        keys: Vec<SourceKey>,
        (started, span): (Timestamp, Span),
    ) -> Changes {
        Changes {
            keys,
            state: State::default(),
            view,
            summary: Summary::since(started),
            has_document: false,
            has_warned: false,
            span,
            absence: Absence::of(args),
            arrivals: Arrivals::default(),
            tally: Tally::up_to(args.count),
            pending: Vec::new(),
            quiet: QuietRuns::default(),
            absent: Vec::new(),
            missing: Vec::new(),
            unread: Vec::new(),
            past: None,
            earlier: 0,
            schemas: Schemas::default(),
        }
    }
}

impl Changes {
    /// What is told of what has happened.
    pub(super) fn told(&mut self, happened: &Happened, terminal: &Terminal<'_>) -> Told {
        if self.gather(happened) {
            return Told::default();
        }
        let told = match self.view.format.reader() {
            _ if !self.view.shown.by.wrote(happened) => Told::quiet(Counts {
                filtered: 1,
                ..Counts::default()
            }),
            Reader::Person => self.view.told(happened, terminal),
            Reader::Records => Told::lines(vec![self.view.record(happened)]),
            Reader::Documents => self.view.document(happened, terminal),
        };
        self.summary.count(&told);
        self.framed(told, happened, terminal)
    }

    /// A version of nothing but noise is counted, on a terminal in one line that stands until the object
    /// changes. Documents are kept apart.
    fn framed(&mut self, mut told: Told, happened: &Happened, terminal: &Terminal<'_>) -> Told {
        if told.starts_document {
            if self.has_document {
                told.lines.insert(0, "---".to_owned());
            }
            self.has_document = true;
        }
        let Some(object) = happened.object() else {
            return told;
        };
        if let Some(counts) = &told.quiet {
            self.state.hidden += 1;
            if terminal.is_live() && counts.hidden() > 0 && counts.filtered == 0 {
                self.quiet.count(object, happened.seen, counts);
            }
        }
        if !told.lines.is_empty() && self.view.format.reader() == Reader::Person {
            let (zone, look) = (&terminal.env().zone, terminal.look());
            let ended = self.quiet.end(object, zone, look);
            told.lines.splice(0..0, ended);
        }
        told
    }
}

impl Live for Changes {
    fn wanted(&self) -> Vec<SourceKey> {
        self.keys.clone()
    }

    fn tells_waiting(&self) -> bool {
        self.absence == Absence::Waits && self.view.format.reader() != Reader::Records
    }

    fn apply(&mut self, key: &Arc<SourceKey>, event: Event, now: Timestamp) {
        let is_named = named(key).is_some();
        if let Event::Synced {
            epoch: 1, count: 0, ..
        } = event
            && is_named
        {
            self.absent.push(key.clone());
        }
        self.begin(key, &event);
        self.pending
            .extend(self.state.apply(key, event, (now, is_named)));
    }

    fn has_begun(&self) -> bool {
        self.past.is_none() && self.pending.is_empty()
    }

    fn catch_up(&self) -> CatchUp {
        CatchUp::Every
    }

    fn holds(&self, key: &SourceKey) -> bool {
        self.past.as_ref().is_some_and(|past| past.holds(key))
    }

    fn tells_states_at_once(&self) -> bool {
        self.view.format.reader() == Reader::Records
    }

    async fn more(&mut self) {
        let past = async {
            match &mut self.past {
                Some(past) => past.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = past => {}
            () = self.schemas.next(&self.view.shown.keys) => {}
        }
    }

    async fn wind_up(&mut self) {
        if let Some(past) = &mut self.past {
            past.wind_up().await;
        }
    }

    fn stop_waiting(&mut self) -> bool {
        let has_cut = self.past.as_mut().is_some_and(LookBack::give_up);
        self.schemas.give_up() || has_cut
    }

    fn note(
        &mut self,
        key: &Arc<SourceKey>,
        note: Note,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let is_refusal = matches!(note.state, "forbidden" | "unserved" | "failed");
        let past = self.past.as_ref().filter(|_| is_refusal);
        match self.view.format.reader() {
            // A line of the look-back says so, of all of them.
            Reader::Person if past.is_some_and(|past| past.tells_of(key)) => {}
            Reader::Person | Reader::Documents => terminal.note(&note)?,
            Reader::Records => self.pending.push(Happened {
                seen: terminal.env().now(),
                key: key.clone(),
                step: Step::State(note),
                past: None,
            }),
        }
        Ok(())
    }

    fn print(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        if !self.tell_past(terminal)? {
            return Ok(());
        }
        for key in std::mem::take(&mut self.absent) {
            let tells = self.view.format.reader() != Reader::Records;
            match self.absence {
                Absence::Missing => self.missing.push((*key).clone()),
                Absence::Waits if tells => terminal.say(&waiting(&key))?,
                Absence::Waits | Absence::Fine => {}
            }
        }
        let happened = self.due();
        let mut page = self.page(&happened, terminal);
        self.tell_arrivals(&mut page, sources, terminal);
        page.print(terminal)
    }

    fn draw(&mut self, sources: &Sources, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let mut frame = self.quiet.lines(&terminal.env().zone, terminal.look());
        frame.extend(
            self.past
                .as_ref()
                .filter(|past| past.is_asked() && !past.is_over())
                .map(LookBack::progress),
        );
        frame.extend(footer::footer(&self.state, sources, terminal));
        terminal.draw(frame)?;
        Ok(())
    }

    fn finish(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let (look, now) = (terminal.look(), terminal.env().now());
        let mut frame = self.quiet.lines(&terminal.env().zone, look);
        frame.extend(footer::refused(sources, terminal));
        let versions = [(self.earlier, "earlier"), (self.state.versions, "live")];
        frame.push(self.summary.line(&versions, look.symbols.dot, now));
        terminal.draw(frame)?;
        Ok(())
    }

    fn is_answered(&self, sources: &Sources) -> bool {
        let is_over = self.span == Span::Once && self.has_begun();
        self.tally.is_enough() || (is_over && sources.are_settled())
    }
}

/// What is said of a single object that is not there.
fn waiting(key: &SourceKey) -> String {
    format!("waiting for {}", describe(key))
}
