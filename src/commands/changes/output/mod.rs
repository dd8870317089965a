//! `Renderer`: renders timeline entries, and counts versions and changes.

mod fights;
mod options;
mod rendered;
mod summary;
mod unmatched;

use std::sync::Arc;

use jiff::Timestamp;
use tokio::time::Instant;

use super::fold::{FoldMode, FoldedInto, RunsEnd, TimelineFold};
use super::formats::{Audience, ChangesFormat, VersionView, notice_record, unreadable_record};
use super::line_style::message_lines;
use crate::commands::live::sources::named;
use crate::commands::versions::{
    Compared, DocCache, Occurrence, TimelineEntry, VersionEvent, When, notice, unreadable,
};
use crate::commands::{CommandError, Sources, Terminal};
pub(super) use crate::env::shifted;
use crate::render::count::plural;
use crate::render::diff::ChangeType;
use crate::render::style::{Look, Role};
use crate::render::text::Text;
use crate::source::SourceKey;
use fights::Fights;
pub(super) use options::{Creation, DisplayOptions, ago, both_versions};
pub(super) use rendered::Rendered;
use summary::QuietRuns;
pub(super) use summary::{LeftOut, RunSummary};
use unmatched::Unmatched;

/// What "probably" means in a line about a version.
const PROBABLY: &str = "  probably by X: no writer is recorded, and X owned these values before";

/// Which counted lines a live page ends. On a terminal, the footer has those that may go on.
fn runs_end(terminal: &Terminal<'_>) -> RunsEnd {
    if terminal.is_live() {
        RunsEnd::SettledChanges
    } else {
        RunsEnd::Settled
    }
}

/// Renders timeline entries, and counts versions and changes.
pub(crate) struct Renderer {
    pub(crate) options: DisplayOptions,
    /// The format of `-o`.
    pub(crate) format: ChangesFormat,
    pub(crate) summary: RunSummary,
    /// The versions with only noise.
    pub(crate) quiet: QuietRuns,
    /// The versions of the timeline that counted lines stand for.
    pub(crate) fold: TimelineFold,
    /// The managers whose versions `--people` has left out, without those that a divider names.
    pub(crate) left_out: LeftOut,
    /// The values of `--by` and `--only` that match no version.
    pub(crate) unmatched: Unmatched,
    /// The fields that managers write back and forth.
    fights: Fights,
    initial_sync: InitialSync,
    docs: DocCache,
    /// Whether it has printed a document.
    has_document: bool,
    /// Whether it has printed what "probably" means.
    has_explained: bool,
    /// Whether it has printed the warning about hidden Secret values.
    has_warned: bool,
}

impl Renderer {
    pub(crate) fn new(
        options: DisplayOptions,
        format: ChangesFormat,
        keys: &[SourceKey],
        started: Timestamp,
    ) -> Renderer {
        Renderer {
            initial_sync: InitialSync::of(keys, format.audience()),
            fold: TimelineFold::new(options.timeline),
            left_out: LeftOut::default(),
            unmatched: Unmatched::of(&options.shown),
            options,
            format,
            summary: RunSummary::since(started),
            quiet: QuietRuns::default(),
            fights: Fights::default(),
            docs: DocCache::default(),
            has_document: false,
            has_explained: false,
            has_warned: false,
        }
    }

    /// Renders entries, up to `--count` of them.
    pub(crate) fn page(&mut self, entries: &[TimelineEntry], terminal: &Terminal<'_>) -> Printout {
        let (mut page, mut has_guess) = (Printout::default(), false);
        for entry in entries {
            if self.summary.is_full() {
                break;
            }
            let above = page.lines.len();
            self.fold.above = above;
            let rendered = self.rendered(entry, terminal);
            page.hidden += usize::from(rendered.quiet.is_some());
            page.folded += usize::from(rendered.taken == FoldedInto::CountedLine);
            if !rendered.lines.is_empty() || rendered.taken == FoldedInto::EventLine {
                page.shown += 1;
                page.first = page.first.or(Some([entry.time(), entry.latest()]));
            }
            page.lines.extend(rendered.lines);
            if let Some(event) = entry.version().filter(|_| page.lines.len() > above) {
                let lines = above..page.lines.len();
                self.fold.printed(&event.now.object, lines);
            } else if page.lines.len() > above {
                self.fold.last_printed = None;
            }
            has_guess |= rendered.has_guess;
            page.asides.extend(rendered.asides);
            if rendered.redacted && !std::mem::replace(&mut self.has_warned, true) {
                page.asides.push(REDACTED.to_owned());
            }
        }
        let is_past = entries.last().is_some_and(|entry| entry.when != When::Live);
        let ends = if is_past {
            RunsEnd::All
        } else {
            runs_end(terminal)
        };
        let style = self.options.line_style(terminal.look(), terminal.env());
        page.insert(self.fold.end_page(ends, &style));
        page.lines.extend(self.fights.take_lines(&style));
        if has_guess && !std::mem::replace(&mut self.has_explained, true) {
            page.lines.push(Text::dim(PROBABLY).fit_to(terminal.look()));
        }
        page
    }

    /// When the next counted line is due, if nothing comes until then.
    pub(crate) fn counts_at(&self, terminal: &Terminal<'_>) -> Option<Instant> {
        self.fold.settles_at(runs_end(terminal))
    }

    /// The counted lines that a pipe does not have yet, at the end of the run.
    pub(crate) fn last_counts(&mut self, terminal: &Terminal<'_>) -> Vec<Text> {
        if terminal.is_live() {
            return Vec::new(); // the last frame has them
        }
        let style = self.options.line_style(terminal.look(), terminal.env());
        let lines = self.fold.end_page(RunsEnd::All, &style).into_iter();
        lines.map(|(_, line)| line).collect()
    }

    /// The lines about the folded versions that may go on, the newest ones.
    pub(crate) fn open_folds(&self, most: usize, terminal: &Terminal<'_>) -> Vec<Text> {
        let style = self.options.line_style(terminal.look(), terminal.env());
        let others = self.fold.open_count().saturating_sub(most);
        let others = (others > 0).then(|| {
            let (dot, objects) = (style.look.symbols.dot, plural(others, "more object"));
            Text::dim(format!(
                "{dot}  {objects} with counted versions (show: --owned)"
            ))
        });
        let lines = self.fold.open_lines(most, &style);
        others.into_iter().chain(lines).collect()
    }

    /// Adds the line about many kinds, when each of them is listed or refused.
    pub(crate) fn add_initial_sync(&mut self, page: &mut Printout, sources: &Sources, look: Look) {
        if !sources.are_settled() {
            return;
        }
        let sync = &mut self.initial_sync;
        if sync.listed.is_empty() {
            return;
        }
        sync.is_open = false;
        let listed = std::mem::take(&mut sync.listed);
        let line = self.options.about(&watching(&listed, sync.objects));
        match self.format.audience() {
            Audience::Person => page.lines.extend(message_lines(Role::Dim, &line, look)),
            Audience::Documents | Audience::Records if self.options.is_once => {}
            Audience::Documents | Audience::Records => page.asides.push(line),
        }
    }

    /// Renders one entry.
    fn rendered(&mut self, entry: &TimelineEntry, terminal: &Terminal<'_>) -> Rendered {
        if self.initial_sync.gather(entry) {
            return Rendered::default();
        }
        let Some(event) = entry.version() else {
            return match self.format.audience() {
                Audience::Person => {
                    Rendered::lines(self.options.notice_lines(entry, terminal.look()))
                }
                Audience::Records => {
                    let record = notice_record(&self.options, entry);
                    Rendered::lines(record.map(Text::from).into_iter().collect())
                }
                // Programs want to know neither which objects there are, nor that it watches them, once it exits.
                Audience::Documents if self.options.is_once && entry.is_listing() => {
                    Rendered::default()
                }
                Audience::Documents => Rendered::aside(notice(entry)),
            };
        };
        let rendered = self.version(entry, event, terminal);
        self.summary.count_changes(&rendered);
        self.framed(rendered, entry, terminal)
    }

    /// Parses and compares a version, once, and renders it.
    fn version(
        &mut self,
        entry: &TimelineEntry,
        event: &VersionEvent,
        terminal: &Terminal<'_>,
    ) -> Rendered {
        let (options, format) = (&self.options, self.format.format());
        let read = event.read(&mut self.docs, |kind| options.shown.keys.of(kind));
        let compared = read
            .as_ref()
            .map(|read| options.shown.compare(&entry.key, read));
        if let Ok(compared) = &compared {
            self.unmatched.see(&options.shown, compared);
            if options.shown.by.is_of_people() && compared.is_left_out() {
                self.left_out.see(compared);
            }
        }
        let taken = match &compared {
            Ok(compared) if format.prints(compared) => self.fold.take(entry, compared),
            Ok(_) | Err(_) => FoldedInto::Nothing,
        };
        let rendered = match &compared {
            Ok(compared) if !format.prints(compared) => Rendered::quiet(compared.counts.clone()),
            Ok(_) if taken != FoldedInto::Nothing => Rendered::taken(taken),
            Ok(compared) => format.version(&VersionView::new(options, entry, compared, terminal)),
            Err(error) => match format.audience() {
                Audience::Person => {
                    let text = unreadable(&event.now);
                    Rendered::lines(message_lines(Role::Warning, &text, terminal.look()))
                }
                Audience::Records => {
                    Rendered::lines(vec![unreadable_record(options, entry, event, error).into()])
                }
                Audience::Documents => {
                    let text = format!("{} could not be read", both_versions(event));
                    Rendered::aside(Some(text))
                }
            },
        };
        let is_printed = !rendered.lines.is_empty();
        if is_printed {
            self.summary.printed += u64::from(event.change != ChangeType::Baseline);
        }
        if let Ok(compared) = &compared
            && is_printed
            && format.audience() == Audience::Person
        {
            let view = VersionView::new(options, entry, compared, terminal);
            self.fights.see(entry, compared, &view.diff_view());
        }
        if is_printed || taken != FoldedInto::Nothing {
            // A version that could not be read is a change.
            let is_shown = compared.as_ref().map_or(true, Compared::is_shown);
            self.summary.is_changed |= event.change != ChangeType::Baseline && is_shown;
        }
        rendered
    }

    /// Separates documents. On a terminal it also counts quiet versions, and prints the count when the object changes.
    fn framed(
        &mut self,
        mut rendered: Rendered,
        entry: &TimelineEntry,
        terminal: &Terminal<'_>,
    ) -> Rendered {
        if rendered.starts_document {
            // Another cluster may have printed one.
            if self.has_document || self.options.label.is_some() {
                rendered.lines.insert(0, "---".into());
            }
            self.has_document = true;
        }
        let Some(event) = entry.version() else {
            return rendered;
        };
        let object = &event.now.object;
        if let Some(counts) = &rendered.quiet
            && terminal.is_live()
            && counts.hidden() > 0
            && counts.filtered == 0
            && self.fold.mode != FoldMode::Controllers
        {
            self.quiet.count(object, entry.seen, counts);
        }
        if !rendered.lines.is_empty() && self.format.audience() == Audience::Person {
            let zone = &terminal.env().zone;
            let ended = self.quiet.end(object, zone, terminal.look());
            rendered.lines.splice(0..0, ended);
        }
        rendered
    }
}

/// Lines for standard output, and messages for standard error.
#[derive(Default)]
pub(crate) struct Printout {
    pub(crate) lines: Vec<Text>,
    /// The messages for standard error.
    pub(crate) asides: Vec<String>,
    /// The number of shown entries.
    pub(crate) shown: usize,
    /// The earliest and the latest possible time of the first shown entry.
    pub(crate) first: Option<[Timestamp; 2]>,
    /// The number of hidden versions.
    pub(crate) hidden: usize,
    /// The number of versions that a counted line stands for.
    pub(crate) folded: usize,
}

impl Printout {
    /// Inserts lines, each below a number of the present lines. They are in this order.
    pub(super) fn insert(&mut self, lines: Vec<(usize, Text)>) {
        let mut later = lines.into_iter().peekable();
        let mut all = Vec::with_capacity(self.lines.len() + later.len());
        for (at, line) in std::mem::take(&mut self.lines).into_iter().enumerate() {
            while let Some((_, line)) = later.next_if(|(above, _)| *above <= at) {
                all.push(line);
            }
            all.push(line);
        }
        all.extend(later.map(|(_, line)| line));
        self.lines = all;
    }

    pub(crate) fn print(self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        if !self.lines.is_empty() {
            terminal.print(self.lines)?;
        }
        for aside in self.asides {
            terminal.notify(&aside)?;
        }
        Ok(())
    }
}

/// The warning about a document or patch with placeholders for Secret values. It is printed once.
pub(crate) const REDACTED: &str =
    "Secret values are hidden, so this output cannot be applied; pass --show-secrets to print them";

/// Up to this many kinds have a line each.
const FEW: usize = 3;

/// The kinds whose first listing is complete, until the line about them is printed.
#[derive(Debug)]
pub(crate) struct InitialSync {
    /// Whether it still collects kinds. A kind that is listed after the line was printed has its own line.
    is_open: bool,
    listed: Vec<Arc<SourceKey>>,
    /// The number of their objects.
    objects: usize,
}

impl InitialSync {
    pub(crate) fn of(keys: &[SourceKey], audience: Audience) -> InitialSync {
        let wide = keys.iter().filter(|key| named(key).is_none());
        InitialSync {
            is_open: audience != Audience::Records && wide.count() > FEW,
            listed: Vec::new(),
            objects: 0,
        }
    }

    /// Takes the entry if it is the listing of one of many kinds. Returns whether it did.
    pub(super) fn gather(&mut self, entry: &TimelineEntry) -> bool {
        let Occurrence::Synced { count } = entry.what else {
            return false;
        };
        let is_one = self.is_open && named(&entry.key).is_none();
        if is_one {
            self.listed.push(entry.key.clone());
            self.objects += count;
        }
        is_one
    }
}

/// `watching 312 objects of 27 kinds in namespace "shop"`.
fn watching(listed: &[Arc<SourceKey>], objects: usize) -> String {
    let mut places = listed.iter().map(|key| key.place());
    let first = places.next().unwrap_or_default();
    let common = Some(first).filter(|first| places.all(|place| place == *first));
    format!(
        "watching {} of {}{}",
        plural(objects, "object"),
        plural(listed.len(), "kind"),
        common.unwrap_or_default()
    )
}
