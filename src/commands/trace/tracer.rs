//! `Tracer`: a trace on its way to the terminal, as frames, lines or records.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::page::Page;
use super::target::Presence;
use super::{Args, Chain, Format, record};
use crate::commands::sources::describe;
use crate::commands::{CommandError, Live, Need, Sources, Terminal};
use crate::render::age;
use crate::render::json::trace::Graph;
use crate::render::style::Look;
use crate::watch::{Event, SourceKey};

/// How long a source that is new is waited for before the rest is told.
const PATIENCE: SignedDuration = SignedDuration::from_secs(2);

/// A trace on its way to the terminal.
pub(super) struct Tracer {
    chain: Box<dyn Chain>,
    format: Format,
    once: bool,
    started: Timestamp,
    /// Everything has been read once: from now on, changes are told.
    settled: bool,
    /// Since when a source has been waited for.
    torn: Option<Timestamp>,
    /// What is to be printed.
    lines: Vec<String>,
    /// The last record, to print none twice.
    record: Option<Graph>,
    /// When an object last changed.
    changed: Option<Timestamp>,
    /// Whether it was said that the object is not there.
    said_absent: bool,
    /// With `--once`: the source of the object, if that is not there.
    pub(super) missing: Option<SourceKey>,
}

impl Tracer {
    /// A trace that begins now.
    pub(super) fn new(chain: Box<dyn Chain>, args: &Args, started: Timestamp) -> Tracer {
        Tracer {
            chain,
            format: args.output,
            once: args.watch.ends(),
            started,
            settled: false,
            torn: None,
            lines: Vec::new(),
            record: None,
            changed: None,
            said_absent: false,
            missing: None,
        }
    }

    /// Whether everything that is wanted has been read, or cannot be.
    fn is_settled(&self, sources: &Sources) -> bool {
        sources.are_settled() && sources.count() == self.chain.wanted().len()
    }

    /// Whether what is known is all of a piece. A source that is new and has nothing to say yet is
    /// waited for, as long as anyone would wait for a page.
    fn is_whole(&mut self, sources: &Sources, now: Timestamp) -> bool {
        if self.is_settled(sources) {
            self.torn = None;
            return true;
        }
        let since = *self.torn.get_or_insert(now);
        now.duration_since(since) >= PATIENCE
    }

    /// Collects what is new for a reader of lines.
    fn collect(&mut self, look: Look, now: Timestamp) {
        match (self.format, self.once) {
            (Format::Json, _) => self.collect_record(now),
            (Format::Text, false) => self.lines.extend(self.chain.news(now)),
            (Format::Text, true) => {
                let page = Page {
                    look,
                    now,
                    started: None,
                    rows: None,
                };
                self.lines = self.chain.frame(&page);
            }
        }
    }

    fn collect_record(&mut self, now: Timestamp) {
        let graph = Graph {
            phases: self.chain.phases(),
            ..record::graph(self.chain.target(), self.chain.objects(), now)
        };
        if self.record.as_ref() != Some(&graph) {
            self.lines.push(graph.line(&age::rfc3339_millis(now)));
            self.record = Some(graph);
        }
    }

    /// Says that the object is not there, once; who does not want to wait gets an error.
    fn say_absent(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let is_absent = *self.chain.presence() == Presence::Absent;
        if !is_absent || self.said_absent {
            self.said_absent &= is_absent;
            return Ok(());
        }
        let source = self.chain.target().source();
        if self.once {
            self.missing = Some(source);
            return Ok(());
        }
        self.said_absent = true;
        // The frame says so itself.
        if !terminal.is_live() {
            terminal.say(&format!("waiting for {}", describe(&source)))?;
        }
        Ok(())
    }

    fn footer(&self, sources: &Sources, page: &Page) -> String {
        let changed = self
            .changed
            .map(|changed| format!("  last change {} ago", age::age(changed, page.now)));
        let counts = format!(
            "  {}  {}{}",
            counted(self.chain.objects().len(), ("object", "objects")),
            counted(sources.count(), ("watch", "watches")),
            changed.unwrap_or_default()
        );
        let styles = page.look.styles;
        let left = format!(
            "{}{}",
            sources.summary(page.now, page.look),
            styles.dim(&counts)
        );
        page.spread(&left, &styles.dim("Ctrl-C to end"))
    }
}

impl Live for Tracer {
    const REST: u32 = 4;

    fn wanted(&self) -> Vec<SourceKey> {
        self.chain.wanted()
    }

    fn need(&self, key: &SourceKey) -> Need {
        if self.chain.target().is_source(key) {
            Need::Vital
        } else {
            Need::Useful
        }
    }

    fn tells_waiting(&self) -> bool {
        !self.once && self.format == Format::Text
    }

    fn apply(&mut self, key: &Arc<SourceKey>, event: Event, now: Timestamp) {
        self.chain.apply(key, &event);
        if self.settled && matches!(event, Event::Object { .. }) {
            self.changed = Some(now);
        }
    }

    fn print(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        self.settled |= self.is_settled(sources);
        // Who may read nothing at all gets an error, not a view of nothing.
        if !self.settled || sources.refusal().is_some() {
            return Ok(());
        }
        let now = terminal.env().now();
        self.chain.settle(now);
        self.say_absent(terminal)?;
        if terminal.is_live() || self.missing.is_some() || !self.is_whole(sources, now) {
            return Ok(());
        }
        self.collect(terminal.look(), now);
        let lines = std::mem::take(&mut self.lines);
        if !lines.is_empty() {
            terminal.print(&lines)?;
        }
        Ok(())
    }

    fn draw(&mut self, sources: &Sources, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let look = terminal.look();
        let size = terminal.env().size();
        let refused: Vec<String> = sources
            .refused()
            .map(|line| look.styles.dim(&line))
            .collect();
        let footer_rows = 1 + refused.len();
        let page = Page {
            // A line that fills the last column would wrap.
            look: Look {
                width: look.width.map(|width| width.saturating_sub(1)),
                ..look
            },
            now: terminal.env().now(),
            started: Some(self.started),
            // A row for the cursor, and one for the user's own last line.
            rows: size.map(|(_, rows)| usize::from(rows).saturating_sub(2 + footer_rows)),
        };
        let mut frame = self.chain.frame(&page);
        frame.extend(refused);
        frame.push(self.footer(sources, &page));
        terminal.draw(page.cut(frame))?;
        Ok(())
    }

    fn is_answered(&self, sources: &Sources) -> bool {
        let is_read = self.settled && self.is_settled(sources);
        self.once && is_read && sources.refusal().is_none()
    }
}

fn counted(count: usize, (one, many): (&str, &str)) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
