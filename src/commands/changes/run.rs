//! The verb while it runs: what comes, and what is printed of it.

use std::sync::Arc;

use jiff::Timestamp;

use super::absence::Absence;
use super::count_limit::CountLimit;
use super::doc_cache::DocCache;
use super::documents::both_versions;
use super::formats::Reader;
use super::initial_sync::InitialSync;
use super::lookback::LookBack;
use super::noise::QuietRuns;
use super::rendered::Rendered;
use super::schemas::Schemas;
use super::state::{Occurrence, State, TimelineEntry, VersionEvent, When};
use super::summary::Summary;
use super::text::unreadable;
use super::view::{View, notice, warning};
use super::{Args, footer};
use crate::commands::sources::{describe, named};
use crate::commands::{CommandError, Live, Note, Sources, Terminal, Unknown};
use crate::watch::{Event, Recall, SourceKey};

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
    pub(super) initial_sync: InitialSync,
    pub(super) count_limit: CountLimit,
    docs: DocCache,
    /// What has come since the last time that lines were printed.
    pub(super) pending: Vec<TimelineEntry>,
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
            initial_sync: InitialSync::default(),
            count_limit: CountLimit::up_to(args.count),
            docs: DocCache::default(),
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
    /// Renders one entry.
    pub(super) fn rendered(&mut self, entry: &TimelineEntry, terminal: &Terminal<'_>) -> Rendered {
        if self.gather(entry) {
            return Rendered::default();
        }
        let Some(event) = entry.version() else {
            return match self.view.format.reader() {
                Reader::Person => Rendered::lines(self.view.notice_lines(entry, terminal.look())),
                Reader::Records => {
                    Rendered::lines(self.view.notice_record(entry).into_iter().collect())
                }
                Reader::Documents => Rendered::aside(notice(entry)),
            };
        };
        let rendered = self.version(entry, event, terminal);
        self.summary.count(&rendered);
        self.framed(rendered, entry, terminal)
    }

    /// Reads and compares a version, once, and renders it.
    fn version(
        &mut self,
        entry: &TimelineEntry,
        event: &VersionEvent,
        terminal: &Terminal<'_>,
    ) -> Rendered {
        let view = &self.view;
        let read = event.read(&mut self.docs, |kind| view.shown.keys.of(kind));
        let compared = read
            .as_ref()
            .map(|read| view.shown.compare(&entry.key, read));
        let rendered = match &compared {
            Ok(compared) if !view.shown.prints(compared, view.format) => {
                Rendered::quiet(compared.counts.clone())
            }
            Ok(compared) => match view.format.reader() {
                Reader::Person => view.text(entry, compared, terminal),
                Reader::Records => Rendered::lines(vec![view.record(entry, compared)]),
                Reader::Documents => view.document(entry, compared, terminal),
            },
            Err(error) => match view.format.reader() {
                Reader::Person => {
                    Rendered::lines(vec![warning(&unreadable(&event.now), terminal.look())])
                }
                Reader::Records => {
                    Rendered::lines(vec![view.unreadable_record(entry, event, error)])
                }
                Reader::Documents => {
                    Rendered::aside(Some(format!("{} could not be read", both_versions(event))))
                }
            },
        };
        if !rendered.lines.is_empty() {
            self.count_limit.note(event.change, compared.as_ref().ok());
        }
        rendered
    }

    /// Separates documents. Counts a version with nothing but noise: on a terminal one line has the count until
    /// the object changes.
    fn framed(
        &mut self,
        mut rendered: Rendered,
        entry: &TimelineEntry,
        terminal: &Terminal<'_>,
    ) -> Rendered {
        if rendered.starts_document {
            if self.has_document {
                rendered.lines.insert(0, "---".to_owned());
            }
            self.has_document = true;
        }
        let Some(event) = entry.version() else {
            return rendered;
        };
        let object = &event.now.object;
        if let Some(counts) = &rendered.quiet {
            self.state.hidden += 1;
            if terminal.is_live() && counts.hidden() > 0 && counts.filtered == 0 {
                self.quiet.count(object, entry.seen, counts);
            }
        }
        if !rendered.lines.is_empty() && self.view.format.reader() == Reader::Person {
            let (zone, look) = (&terminal.env().zone, terminal.look());
            let ended = self.quiet.end(object, zone, look);
            rendered.lines.splice(0..0, ended);
        }
        rendered
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
        self.pending.extend(self.state.apply(key, event, now));
    }

    fn has_begun(&self) -> bool {
        self.past.is_none() && self.pending.is_empty()
    }

    fn recall(&self) -> Recall {
        Recall::Every
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
            Reader::Records => self.pending.push(TimelineEntry {
                seen: terminal.env().now(),
                key: key.clone(),
                what: Occurrence::State(note),
                when: When::Live,
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
        let due = self.due();
        let mut page = self.page(&due, terminal);
        self.add_initial_sync(&mut page, sources, terminal);
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
        self.count_limit.is_reached() || (is_over && sources.are_settled())
    }
}

/// What is said of a single object that is not there.
fn waiting(key: &SourceKey) -> String {
    format!("waiting for {}", describe(key))
}
