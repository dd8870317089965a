//! Excerpts of texts that are too long for a line: the change and the text around it.

use crate::diff::{Content, Shown};
use crate::render::count::thousands;
use crate::render::style::Role;
use crate::render::text;

use super::fit::{Room, Span};
use super::line::DiffLine;
use super::painter::{Painter, ShownPair};
use super::view::Fold;

/// The length in bytes above which a text is shown as an excerpt.
pub(super) const LONG: usize = 16 * 1024;

/// The columns of an excerpt if no width limits it.
pub(super) const ENOUGH: usize = 400;

/// The number of characters shown before and after a change.
const AROUND: usize = 40;

/// The length up to which a change is shown in full. Of a longer one, only its start and its end are shown.
const CORE: usize = 80;

/// The differing parts of two long texts.
pub(super) struct Excerpt<'t> {
    /// The length in bytes of their common start.
    pub(super) offset: usize,
    old: &'t str,
    new: &'t str,
    /// The length in bytes of their common end.
    end: usize,
}

impl<'t> Excerpt<'t> {
    /// Compares two texts; `None` if neither is long.
    pub(super) fn of(old: &'t str, new: &'t str) -> Option<Excerpt<'t>> {
        if old.len().max(new.len()) <= LONG {
            return None;
        }
        let offset = common(old.bytes(), new.bytes());
        let offset = (0..=offset).rev().find(|&at| old.is_char_boundary(at))?;
        let end = common(old[offset..].bytes().rev(), new[offset..].bytes().rev());
        let is_whole = |end: &usize| old.is_char_boundary(old.len() - end);
        let end = (0..=end).rev().find(is_whole)?;
        Some(Excerpt {
            offset,
            old,
            new,
            end,
        })
    }

    /// The changed part of the old text and of the new one, with the text around it, each in at most
    /// `columns`.
    pub(super) fn sides(&self, columns: Option<usize>, ellipsis: &str) -> [Vec<Span>; 2] {
        [self.old, self.new].map(|text| self.side(text, columns, ellipsis))
    }

    fn side(&self, text: &str, columns: Option<usize>, ellipsis: &str) -> Vec<Span> {
        let (from, to) = (self.offset, text.len() - self.end);
        let columns = columns.unwrap_or(CORE + 2 * AROUND).max(CORE / 2);
        let core = text::escape_line(&text[from..to]);
        let core = text::cut_middle(&core, columns.min(CORE), ellipsis);
        let around = (columns.saturating_sub(text::width(&core)) / 2).min(AROUND);
        let start = text[..from].char_indices().rev().take(around).last();
        let start = start.map_or(from, |(at, _)| at);
        let end = text[to..].char_indices().nth(around);
        let end = end.map_or(text.len(), |(at, _)| to + at);
        let cut = |is: bool| if is { ellipsis } else { "" };
        let before = text::escape_line(&text[start..from]);
        let after = text::escape_line(&text[to..end]);
        vec![
            (Role::Plain, format!("{}{before}", cut(start > 0))),
            (Role::Emphasis, core.into_owned()),
            (Role::Plain, format!("{after}{}", cut(end < text.len()))),
        ]
    }
}

impl Painter<'_> {
    /// Appends an excerpt of two texts, with the position of the change, if one of them is very long.
    pub(super) fn excerpt(&self, line: &mut DiffLine, pair: ShownPair<'_>) -> Option<()> {
        let (Content::Text(old), Content::Text(new)) = (pair.old.content(), pair.new.content())
        else {
            return None;
        };
        let excerpt = Excerpt::of(&old, &new).filter(|_| self.view.fold == Fold::Many)?;
        let (offset, whole) = (thousands(excerpt.offset), thousands(old.len()));
        line.push(Role::Plain, &format!(": at byte {offset} of {whole}  "));
        let look = self.view.look;
        let room = self.room(line, 2 + text::width(look.symbols.arrow));
        let half = room.columns.map(|columns| columns / 2);
        let [old, new] = excerpt.sides(half, look.symbols.ellipsis);
        line.extend(&old);
        line.push(Role::Dim, &format!(" {} ", look.symbols.arrow));
        line.extend(&new);
        Some(())
    }

    /// The room for values on a line of which so much is taken. A very long value gets a limit even if lines have none.
    pub(super) fn room_for(&self, taken: usize, shown: &[Shown<'_>]) -> Room {
        let room = Room::of(self.view.look, taken);
        let long = shown.iter().any(|shown| shown.size() > LONG);
        let bound = long && self.view.fold == Fold::Many;
        Room {
            columns: room.columns.or_else(|| bound.then_some(ENOUGH)),
            ..room
        }
    }
}

/// The length in bytes of the common start.
fn common(old: impl Iterator<Item = u8>, new: impl Iterator<Item = u8>) -> usize {
    old.zip(new).take_while(|(a, b)| a == b).count()
}
