//! The formats with a heading for each version: [`TextFormat`] and the lines around what it adds.

use jiff::SignedDuration;

use super::{Audience, Format, VersionView};
use crate::commands::changes::output::{Rendered, ago, shifted};
use crate::commands::versions::{TwoLives, VersionDoc, known};
use crate::diff::{Diff, Filter, Noise, Projection, Shown};
use crate::object::list_keys::ListKeys;
use crate::render::age;
use crate::render::diff::{ChangeType, DiffView, Header, ShownChanges, header, lifetime, writer};
use crate::render::text::escape_line;
use crate::render::yaml::yaml;

/// A format that shows lines below the heading of each version.
pub(super) trait TextFormat {
    /// The changes between two versions.
    fn changes(
        &self,
        view: &VersionView<'_>,
        shown: &ShownChanges<'_>,
        diff: &Diff<'_>,
    ) -> Vec<String>;

    /// The object itself, if it is new or exists at the start.
    fn object(&self, view: &VersionView<'_>) -> Vec<String>;

    /// What it shows of a deleted object: its last changes.
    fn deleted(&self, view: &VersionView<'_>) -> Vec<String> {
        match &view.compared.diff {
            Some(diff) if view.compared.counts.shown > 0 => {
                let options = view.diff_view();
                let shown = ShownChanges::of(diff, &view.compared.writers, &options);
                self.changes(view, &shown, diff)
            }
            Some(_) | None => Vec::new(),
        }
    }

    /// How a re-created object differs from the deleted one.
    fn two_lives(&self, _shown: &ShownChanges<'_>) -> Vec<String> {
        Vec::new()
    }
}

impl<T: TextFormat> Format for T {
    fn audience(&self) -> Audience {
        Audience::Person
    }

    fn version(&self, view: &VersionView<'_>) -> Rendered {
        let compared = view.compared;
        let lines = match (compared.change(), &compared.diff) {
            (ChangeType::Modified, Some(diff)) => return modified(self, view, diff),
            (ChangeType::Modified, None) => {
                let mut notes = view.missing("versions may be missing");
                notes.push("the previous version could not be read".to_owned());
                vec![view.heading(Heading {
                    since: view.since(),
                    notes,
                    ..Heading::default()
                })]
            }
            (ChangeType::Deleted, _) => {
                let lived = view.lived(view.options.redactor.shown(compared.read.doc.root()));
                let missing = view.missing("while disconnected");
                let heading = view.heading(Heading {
                    notes: lived.into_iter().chain(missing).collect(),
                    ..Heading::default()
                });
                [vec![heading], self.deleted(view)].concat()
            }
            (
                ChangeType::Baseline
                | ChangeType::Created
                | ChangeType::Recreated
                | ChangeType::Joined
                | ChangeType::Left,
                _,
            ) => {
                let is_new = compared.change().is_creation();
                let who = is_new.then(|| writer(&compared.writers)).flatten();
                let heading = view.heading(Heading {
                    who: who.map(|who| who.to_string()),
                    ..Heading::default()
                });
                [vec![heading], self.object(view), two_lives(self, view)].concat()
            }
        };
        let options = view.diff_view();
        let shown = (compared.diff.as_ref())
            .map(|diff| ShownChanges::of(diff, &compared.writers, &options));
        Rendered {
            has_guess: shown.is_some_and(|shown| shown.has_guess()),
            ..Rendered::lines(lines)
        }
    }
}

/// A new version: a heading and its changes.
fn modified(format: &impl TextFormat, view: &VersionView<'_>, diff: &Diff<'_>) -> Rendered {
    let (compared, options) = (view.compared, view.diff_view());
    let shown = ShownChanges::of(diff, &compared.writers, &options);
    let heading = view.heading(Heading {
        who: shown.who().map(|who| who.to_string()),
        since: view.since(),
        notes: view.missing("versions may be missing"),
    });
    Rendered {
        shown: compared.counts.shown,
        hidden: compared.counts.hidden(),
        has_guess: shown.has_guess(),
        ..Rendered::lines([vec![heading], format.changes(view, &shown, diff)].concat())
    }
}

/// How a re-created object differs from the deleted one, below a line that names that one.
fn two_lives(format: &impl TextFormat, view: &VersionView<'_>) -> Vec<String> {
    let Some(lives) = TwoLives::of(view.compared.read) else {
        return Vec::new();
    };
    let options = view.diff_view();
    let changes = format.two_lives(&ShownChanges::unattributed(&lives.diff, &options));
    if changes.is_empty() {
        return changes;
    }
    let version = known(&lives.former.version).map(|version| format!(" {version}"));
    let version = escape_line(&version.unwrap_or_default()).into_owned();
    let label = format!("  compared with the deleted object{version}, another life:");
    [vec![view.look.styles.dim(&label)], changes].concat()
}

/// The parts of a heading besides the time, the object and its versions.
#[derive(Default)]
pub(super) struct Heading {
    pub(super) who: Option<String>,
    pub(super) since: Option<SignedDuration>,
    pub(super) notes: Vec<String>,
}

impl VersionView<'_> {
    pub(super) fn heading(&self, heading: Heading) -> String {
        let event = self.compared.read.event;
        let past = self.compared.past(self.entry);
        let time = self.interval();
        let today = shifted(self.env.now(), self.options.skew);
        let ago = past.map(|past| ago(past, today));
        let style = self.options.line_style(self.look, self.env);
        let mut notes = heading.notes;
        notes.splice(0..0, style.place(&event.now.object));
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

    /// The time of the version, or the interval in which it was written.
    pub(super) fn interval(&self) -> String {
        let (from, until) = self.compared.moment(self.entry);
        let style = self.options.line_style(self.look, self.env);
        style.interval(from, until)
    }

    fn since(&self) -> Option<SignedDuration> {
        let since = self.compared.read.event.since?;
        let (time, _) = self.compared.moment(self.entry);
        Some(time.duration_since(since))
    }

    fn missing(&self, note: &str) -> Vec<String> {
        let was_unseen = self.compared.read.event.was_unseen;
        was_unseen.then(|| note.to_owned()).into_iter().collect()
    }

    /// The options of the views of its changes.
    pub(crate) fn diff_view(&self) -> DiffView<'_> {
        DiffView {
            look: self.look,
            redactor: &self.options.redactor,
            filter: &self.options.shown.filter,
            noise: &self.compared.noise,
            zone: &self.env.zone,
            fold: self.options.fold,
        }
    }

    /// The selected parts of a version as YAML, without hidden metadata. Empty if no part is selected.
    pub(super) fn yaml(&self, side: VersionDoc<'_>) -> Vec<String> {
        let noise = &self.compared.noise;
        let mut without = Vec::new();
        if !noise.contains(&Noise::ManagedFields) {
            without.push("managedFields");
        }
        if !noise.contains(&Noise::Version) {
            without.extend(["resourceVersion", "generation"]);
        }
        let object = self.options.redactor.shown(side.doc.root());
        let projection = projection(&self.options.shown.filter, object);
        if projection.excludes(object) {
            return Vec::new();
        }
        yaml(object, &projection.and_metadata(object, &without))
    }
}

/// The parts of an object that a filter leaves out. It uses the built-in list keys, because printing an object must not
/// fix the list keys of its kind.
pub(super) fn projection<'a>(filter: &Filter, object: Shown<'a>) -> Projection<'a> {
    filter.projection([object], ListKeys::builtin())
}
