//! `VersionView`: a version and how to draw it, and what several formats draw of it.

use jiff::SignedDuration;

use crate::commands::Terminal;
use crate::commands::changes::output::{DisplayOptions, ago, shifted};
use crate::commands::versions::{Compared, TimelineEntry, VersionDoc, known};
use crate::diff::{Filter, Noise, Projection, Shown};
use crate::env::Env;
use crate::object::list_keys::ListKeys;
use crate::render::age;
use crate::render::diff::{ChangeType, DiffView, Header, header, lifetime};
use crate::render::style::Look;
use crate::render::text::Text;
use crate::render::yaml::yaml;

/// A version and how to draw it.
#[derive(Clone, Copy)]
pub(in crate::commands::changes) struct VersionView<'d> {
    pub(super) options: &'d DisplayOptions,
    pub(super) look: Look,
    pub(super) env: &'d Env,
    pub(super) entry: &'d TimelineEntry,
    pub(super) compared: &'d Compared<'d>,
}

impl<'d> VersionView<'d> {
    pub(in crate::commands::changes) fn new(
        options: &'d DisplayOptions,
        entry: &'d TimelineEntry,
        compared: &'d Compared<'d>,
        terminal: &'d Terminal<'_>,
    ) -> VersionView<'d> {
        VersionView {
            options,
            look: terminal.look(),
            env: terminal.env(),
            entry,
            compared,
        }
    }
}

impl VersionView<'_> {
    pub(super) fn heading(&self, heading: Heading) -> Text {
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
        let Some(past) = self.compared.past(self.entry) else {
            let seen = lifetime(object, shifted(self.entry.seen, self.options.skew))?;
            // It may have been deleted at any time while the source was disconnected.
            return Some(if self.compared.read.event.was_unseen {
                format!("existed up to {}", age::at_most(seen))
            } else {
                format!("existed {}", age::human(seen))
            });
        };
        let least = age::human(lifetime(object, past.time)?);
        let most = past.until.and_then(|until| lifetime(object, until));
        match most.filter(|most| age::human(*most) != least) {
            Some(most) => Some(format!("existed up to {}", age::at_most(most))),
            None => Some(format!("existed {least}")),
        }
    }

    /// The time of the version, or the interval in which it was written.
    pub(super) fn interval(&self) -> String {
        let (from, until) = self.compared.moment(self.entry);
        let style = self.options.line_style(self.look, self.env);
        style.interval(from, until)
    }

    pub(super) fn since(&self) -> Option<SignedDuration> {
        let since = self.compared.read.event.since?;
        let (time, _) = self.compared.moment(self.entry);
        Some(time.duration_since(since))
    }

    pub(super) fn missing(&self, note: &str) -> Vec<String> {
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
    pub(super) fn yaml(&self, side: VersionDoc<'_>) -> Vec<Text> {
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

/// The parts of a heading besides the time, the object and its versions.
#[derive(Default)]
pub(super) struct Heading {
    pub(super) who: Option<String>,
    pub(super) since: Option<SignedDuration>,
    pub(super) notes: Vec<String>,
}
