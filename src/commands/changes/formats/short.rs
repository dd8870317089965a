//! `-o short`: a version as one line.

use super::{Audience, Format, VersionView};
use crate::commands::changes::fold::EventLine;
use crate::commands::changes::output::Rendered;
use crate::commands::versions::TwoLives;
use crate::diff::{VersionWriter, writer};
use crate::render::diff::{
    ChangeType, ShownChanges, images_in_line, secret_keys_in_line, shorter_forms,
};
use crate::render::style::Role;
use crate::render::text::Text;

/// The columns between the parts of a line.
const GAP: &str = "  ";

/// `-o short`.
pub(super) struct Short;

impl Format for Short {
    fn audience(&self) -> Audience {
        Audience::Person
    }

    fn version(&self, view: &VersionView<'_>) -> Rendered {
        let counts = &view.compared.counts;
        Rendered {
            shown: counts.shown,
            hidden: counts.hidden(),
            has_guess: matches!(view.short_who(), Some(VersionWriter::Probable(_))),
            ..Rendered::lines(vec![view.short()])
        }
    }
}

impl VersionView<'_> {
    /// `21:39:42 deployment/web  kubectl-set  image: shop/web:2.4.1 → 2.4.2 (+2)`
    fn short(&self) -> Text {
        let style = self.options.line_style(self.look, self.env);
        let event = EventLine::of(self.compared, self.entry);
        if let Some(event) = event {
            return event.line(&style);
        }
        let time = Text::dim(self.interval()) + " ";
        let name = style.name(&self.compared.read.event.now.object);
        let name = Text::new(Role::Name, name);
        let ellipsis = self.look.symbols.ellipsis;
        let who = self.short_who().map(|who| shorter_forms(&who, ellipsis));
        let who = who.into_iter().flatten();
        let mut ends: Vec<Text> = who.map(|who| format!("{GAP}{who}{GAP}").into()).collect();
        if ends.is_empty() {
            ends.push(GAP.into());
        }
        let Some(columns) = self.look.width else {
            return time + name + ends.swap_remove(0) + self.short_what(None);
        };
        // The new value stays. The writer gives way to it, then the middle of the name.
        let least = time.width() + self.least_what();
        let fits = |end: &Text| name.width() + end.width() + least <= columns;
        let at = ends.iter().position(fits).unwrap_or(ends.len() - 1);
        let end = ends.swap_remove(at);
        let name = name.fit_name(least + end.width(), self.look);
        let head = time + name + end;
        let room = columns.saturating_sub(head.width());
        (head + self.short_what(Some(room))).fit(columns, ellipsis)
    }

    /// The least columns of what happened.
    fn least_what(&self) -> usize {
        let view = self.diff_view();
        match (&self.compared.diff, TwoLives::of(self.compared.read)) {
            (Some(diff), _) if self.compared.change() == ChangeType::Modified => {
                ShownChanges::of(diff, &self.compared.writers, &view).least_in_line()
            }
            (_, Some(lives)) => {
                let word = self.compared.change().word().len() + GAP.len();
                word + ShownChanges::unattributed(&lives.diff, &view).least_in_line()
            }
            (_, None) => self.short_what(None).width(),
        }
    }

    /// The managers behind the version.
    fn short_who(&self) -> Option<VersionWriter> {
        match &self.compared.diff {
            Some(diff) if self.compared.change() == ChangeType::Modified => {
                let view = self.diff_view();
                let shown = ShownChanges::of(diff, &self.compared.writers, &view);
                shown.who().or_else(|| shown.former_owner())
            }
            Some(_) | None if self.compared.change().is_creation() => {
                writer(&self.compared.writers)
            }
            Some(_) | None => None,
        }
    }

    /// What happened, in at most this many columns if possible.
    fn short_what(&self, room: Option<usize>) -> Text {
        let change = self.compared.change();
        let filter = &self.options.shown.filter;
        let object = self.options.redactor.shown(self.compared.read.doc.root());
        let word = Text::new(change.role(), change.word().to_lowercase());
        let more = match change {
            ChangeType::Modified => {
                let Some(diff) = &self.compared.diff else {
                    return word;
                };
                let view = self.diff_view();
                return ShownChanges::of(diff, &self.compared.writers, &view).in_line(room);
            }
            ChangeType::Created | ChangeType::Recreated => self
                .two_lives_in_line(room)
                .or_else(|| images_in_line(object, filter))
                .or_else(|| secret_keys_in_line(object, filter)),
            ChangeType::Deleted => self.lived(object).map(Text::from),
            ChangeType::Baseline | ChangeType::Joined | ChangeType::Left => None,
        };
        match more {
            Some(more) => word + GAP + more,
            None => word,
        }
    }

    /// The main difference of a re-created object from the deleted one: `clusterIP: 10.96.165.178 → 10.96.11.75 (+2)`.
    fn two_lives_in_line(&self, room: Option<usize>) -> Option<Text> {
        let lives = TwoLives::of(self.compared.read)?;
        let view = self.diff_view();
        let word = self.compared.change().word().len() + GAP.len();
        let room = room.map(|columns| columns.saturating_sub(word));
        let line = ShownChanges::unattributed(&lives.diff, &view).in_line(room);
        (!line.is_empty()).then_some(line)
    }
}
