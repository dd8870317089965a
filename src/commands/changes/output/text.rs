//! A version for people: its heading, and the lines of the format below it.

use jiff::{SignedDuration, Timestamp};

use super::options::{DisplayOptions, ago, known};
use super::rendered::Rendered;
use super::shifted;
use crate::commands::Terminal;
use crate::commands::changes::compared::Compared;
use crate::commands::changes::formats::ChangesFormat;
use crate::commands::changes::state::TimelineEntry;
use crate::commands::changes::two_lives::TwoLives;
use crate::diff::{Diff, Shown};
use crate::env::Env;
use crate::object::ObjectRef;
use crate::render::age;
use crate::render::diff::{
    ChangeType, DiffView, Extent, Header, ShownChanges, VersionWriter, header, lifetime, writer,
};
use crate::render::style::Look;
use crate::render::text::escape_line;
use crate::source::Version;

/// A version and how to draw it.
pub(super) struct TextView<'d> {
    pub(super) options: &'d DisplayOptions,
    pub(super) look: Look,
    pub(super) env: &'d Env,
    pub(super) entry: &'d TimelineEntry,
    pub(super) compared: &'d Compared<'d>,
}

/// The parts of a heading besides the time, the object and its versions.
#[derive(Default)]
pub(super) struct Heading {
    pub(super) who: Option<String>,
    pub(super) since: Option<SignedDuration>,
    pub(super) notes: Vec<String>,
}

impl DisplayOptions {
    /// The lines of a version.
    pub(super) fn text(
        &self,
        entry: &TimelineEntry,
        compared: &Compared<'_>,
        terminal: &Terminal<'_>,
    ) -> Rendered {
        let text = self.text_view(entry, compared, terminal);
        let lines = match (compared.change(), &compared.diff) {
            _ if self.format == ChangesFormat::Short => vec![text.short()],
            (ChangeType::Modified, Some(diff)) => text.modified(diff),
            (ChangeType::Modified, None) => vec![text.uncompared()],
            (ChangeType::Deleted, _) => text.deleted(),
            (
                ChangeType::Baseline
                | ChangeType::Created
                | ChangeType::Recreated
                | ChangeType::Joined
                | ChangeType::Left,
                _,
            ) => text.object(),
        };
        let is_counted = self.format == ChangesFormat::Short
            || (compared.change() == ChangeType::Modified && compared.diff.is_some());
        let (shown, hidden) = (compared.counts.shown, compared.counts.hidden());
        Rendered {
            shown: if is_counted { shown } else { 0 },
            hidden: if is_counted { hidden } else { 0 },
            has_guess: text.has_guess(),
            ..Rendered::lines(lines)
        }
    }

    pub(super) fn text_view<'d>(
        &'d self,
        entry: &'d TimelineEntry,
        compared: &'d Compared<'d>,
        terminal: &'d Terminal<'_>,
    ) -> TextView<'d> {
        TextView {
            options: self,
            look: terminal.look(),
            env: terminal.env(),
            entry,
            compared,
        }
    }
}

impl TextView<'_> {
    /// Whether the lines name a manager that only probably wrote. `-o short` names it in front of the change.
    fn has_guess(&self) -> bool {
        if self.options.format == ChangesFormat::Short {
            return matches!(self.short_who(), Some(VersionWriter::Probable(_)));
        }
        let Some(diff) = &self.compared.diff else {
            return false;
        };
        let view = self.diff_view();
        ShownChanges::of(diff, &self.compared.writers, &view).has_guess()
    }

    /// An object that exists, is new or left the selector: a heading and the object.
    fn object(&self) -> Vec<String> {
        let is_new = self.compared.change().is_creation();
        let who = is_new.then(|| writer(&self.compared.writers));
        let heading = self.heading(Heading {
            who: who.flatten().map(|who| who.to_string()),
            ..Heading::default()
        });
        let mut lines = vec![heading];
        lines.extend(self.whole());
        lines.extend(self.two_lives());
        lines
    }

    /// How a re-created object differs from the deleted one, below a line that names that one.
    fn two_lives(&self) -> Vec<String> {
        let lives = match self.options.format {
            ChangesFormat::Paths | ChangesFormat::Tree => TwoLives::of(self.compared.read),
            _ => None,
        };
        let Some(lives) = lives else {
            return Vec::new();
        };
        let view = self.diff_view();
        let changes = ShownChanges::unattributed(&lives.diff, &view);
        let changes = match self.options.format {
            ChangesFormat::Tree => changes.tree(Extent::Changed),
            _ => changes.lines(),
        };
        if changes.is_empty() {
            return changes;
        }
        let version = known(&lives.former.version).map(|version| format!(" {version}"));
        let version = escape_line(&version.unwrap_or_default()).into_owned();
        let label = format!("  compared with the deleted object{version}, another life:");
        [vec![self.look.styles.dim(&label)], changes].concat()
    }

    /// A new version: a heading and its changes.
    fn modified(&self, diff: &Diff<'_>) -> Vec<String> {
        let view = self.diff_view();
        let shown = ShownChanges::of(diff, &self.compared.writers, &view);
        let heading = self.heading(Heading {
            who: shown.who().map(|who| who.to_string()),
            since: self.since(),
            notes: self.missing("versions may be missing"),
        });
        let mut lines = vec![heading];
        lines.extend(self.changes(&shown, diff));
        lines
    }

    /// A version whose previous version cannot be read.
    fn uncompared(&self) -> String {
        let mut notes = self.missing("versions may be missing");
        notes.push("the previous version could not be read".to_owned());
        self.heading(Heading {
            who: None,
            since: self.since(),
            notes,
        })
    }

    /// A deletion: how long the object existed, and its last changes.
    fn deleted(&self) -> Vec<String> {
        let now = self.compared.read.now();
        let object = self.options.redactor.shown(now.doc.root());
        let lived = self.lived(object);
        let missing = self.missing("while disconnected");
        let heading = self.heading(Heading {
            notes: lived.into_iter().chain(missing).collect(),
            ..Heading::default()
        });
        let mut lines = vec![heading];
        if self.options.format == ChangesFormat::Diff {
            lines.extend(self.unified(Some(now), None));
        } else if let Some(diff) = &self.compared.diff
            && self.compared.counts.shown > 0
        {
            let view = self.diff_view();
            let shown = ShownChanges::of(diff, &self.compared.writers, &view);
            lines.extend(self.changes(&shown, diff));
        }
        lines
    }

    /// How long a deleted object existed: `existed 39s`. Of a deletion at an unknown time, the most it can be: `existed up
    /// to 39s`.
    pub(super) fn lived(&self, object: Shown<'_>) -> Option<String> {
        let lived = |until| Some(age::human(lifetime(object, until)?));
        let Some(past) = self.compared.past(self.entry) else {
            let seen = lived(shifted(self.entry.seen, self.options.skew))?;
            // It may have been deleted at any time while the source was disconnected.
            let was_unseen = self.compared.read.event.was_unseen;
            let up_to = if was_unseen { "up to " } else { "" };
            return Some(format!("existed {up_to}{seen}"));
        };
        let least = lived(past.time)?;
        match past.until.and_then(lived).filter(|most| *most != least) {
            Some(most) => Some(format!("existed up to {most}")),
            None => Some(format!("existed {least}")),
        }
    }

    pub(super) fn heading(&self, heading: Heading) -> String {
        let event = self.compared.read.event;
        let past = self.compared.past(self.entry);
        let time = self.interval();
        let today = shifted(self.env.now(), self.options.skew);
        let ago = past.map(|past| ago(past, today));
        let mut notes = heading.notes;
        notes.splice(0..0, self.place(&event.now.object));
        let is_modified = event.change == ChangeType::Modified;
        let old = event.old.as_deref().filter(|_| is_modified);
        let has_counts = is_modified && self.compared.diff.is_some();
        let parts = Header {
            time: &time,
            change: event.change,
            object: &event.now.object,
            from: old.and_then(|old| known(&old.version)),
            to: known(&event.now.version),
            since: heading.since,
            ago: ago.as_deref(),
            notes: &notes,
            who: heading.who.as_deref(),
            counts: has_counts.then_some(&self.compared.counts),
        };
        header(&parts, self.look)
    }

    pub(super) fn time_of_entry(&self) -> Timestamp {
        self.compared.moment(self.entry).0
    }

    /// The time of the version, or the interval in which it was written.
    pub(super) fn interval(&self) -> String {
        let (from, until) = self.compared.moment(self.entry);
        let style = self.options.line_style(self.look, self.env);
        style.interval(from, until)
    }

    fn since(&self) -> Option<SignedDuration> {
        let since = self.compared.read.event.since?;
        Some(self.time_of_entry().duration_since(since))
    }

    pub(super) fn missing(&self, note: &str) -> Vec<String> {
        let was_unseen = self.compared.read.event.was_unseen;
        was_unseen.then(|| note.to_owned()).into_iter().collect()
    }

    /// The flag for the object's namespace, if headings must name it.
    fn place(&self, object: &ObjectRef) -> Option<String> {
        self.options.line_style(self.look, self.env).place(object)
    }

    pub(super) fn diff_view(&self) -> DiffView<'_> {
        DiffView {
            look: self.look,
            redactor: &self.options.redactor,
            filter: &self.options.shown.filter,
            noise: &self.compared.noise,
            zone: &self.env.zone,
            fold: self.options.fold,
        }
    }
}

/// The message about an unreadable version.
pub(super) fn unreadable(version: &Version) -> String {
    let object = &version.object;
    match known(&version.version) {
        Some(version) => format!("{object} {version} could not be read"),
        None => format!("{object} could not be read"),
    }
}
