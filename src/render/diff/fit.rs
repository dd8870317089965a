//! Cuts long values so that their changed parts stay visible.

use std::borrow::Cow;
use std::ops::Range;

use crate::diff::text::{Parts, WordPart, words};
use crate::render::style::{Look, Role};
use crate::render::text;

/// A piece of a line and its role.
pub(super) type Span = (Role, String);

/// The minimum room of a value, however narrow the terminal is.
const LEAST: usize = 20;

/// Runs of at least this many hexadecimal digits are digests, which are cut to their start.
const DIGEST: usize = 40;
const DIGEST_SHOWN: usize = 12;

/// The room for a pair of values.
#[derive(Clone, Copy)]
pub(super) struct Room {
    /// Columns for both values; `None` leaves them uncut.
    pub(super) columns: Option<usize>,
    /// The symbol for a cut.
    pub(super) ellipsis: &'static str,
}

impl Room {
    /// The room that is left on a line.
    pub(super) fn of(look: Look, taken: usize) -> Room {
        Room {
            columns: look.width.map(|width| width.saturating_sub(taken)),
            ellipsis: look.symbols.ellipsis,
        }
    }

    /// Fits one value of display text.
    pub(super) fn one(self, value: &str) -> Cow<'_, str> {
        match self.columns {
            None => Cow::Borrowed(value),
            Some(columns) => self.middle(self.digests(value), columns.max(LEAST)),
        }
    }

    /// Both values with their digests cut, if they fit.
    pub(super) fn both<'v>(
        self,
        old: &'v str,
        new: &'v str,
    ) -> Option<(Cow<'v, str>, Cow<'v, str>)> {
        let Some(columns) = self.columns else {
            return Some((old.into(), new.into()));
        };
        let (old, new) = (self.digests(old), self.digests(new));
        let fit =
            old.len() + new.len() <= columns || text::width(&old) + text::width(&new) <= columns;
        fit.then_some((old, new))
    }

    /// The old and the new value, with the differing words emphasised.
    pub(super) fn pair(self, old: &str, new: &str) -> (Vec<Span>, Vec<Span>) {
        let (old, new) = match self.columns {
            None => (Cow::Borrowed(old), Cow::Borrowed(new)),
            Some(_) => (self.digests(old), self.digests(new)),
        };
        let plain = |text: Cow<'_, str>| vec![(Role::Plain, text.into_owned())];
        let rooms = self.split(&old, &new);
        let Some((old_parts, new_parts)) = words(&old, &new) else {
            let cut = |text, room| match room {
                None => text,
                Some(room) => self.middle(text, room),
            };
            return (plain(cut(old, rooms.0)), plain(cut(new, rooms.1)));
        };
        (
            self.around(&old_parts, rooms.0),
            self.around(&new_parts, rooms.1),
        )
    }

    /// The parts of a text, and whether each differs from the other text.
    pub(super) fn whole_pair(own: &str, other: &str) -> Vec<(String, bool)> {
        match words(own, other) {
            None => vec![(own.to_owned(), false)],
            Some((parts, _)) => parts
                .into_iter()
                .map(|(part, text)| (text.to_owned(), part == WordPart::Changed))
                .collect(),
        }
    }

    /// Divides the room: a short value leaves the rest to the other one.
    fn split(self, old: &str, new: &str) -> (Option<usize>, Option<usize>) {
        let Some(columns) = self.columns else {
            return (None, None);
        };
        let (old, new) = (text::width(old), text::width(new));
        let half = (columns / 2).max(LEAST);
        if old + new <= columns {
            (None, None)
        } else if old <= half {
            (None, Some(columns.saturating_sub(old).max(LEAST)))
        } else if new <= half {
            (Some(columns.saturating_sub(new).max(LEAST)), None)
        } else {
            (Some(half), Some(half))
        }
    }

    /// The changed parts, with as much text around them as fits.
    fn around(self, parts: &Parts<'_>, room: Option<usize>) -> Vec<Span> {
        let whole = |parts: &Parts<'_>| {
            parts
                .iter()
                .map(|(part, text)| (role(*part), (*text).to_owned()))
                .collect()
        };
        let total: usize = parts.iter().map(|(_, text)| text::width(text)).sum();
        let Some(room) = room.filter(|room| total > *room) else {
            return whole(parts);
        };
        let first = parts
            .iter()
            .position(|(part, _)| *part == WordPart::Changed);
        let last = parts
            .iter()
            .rposition(|(part, _)| *part == WordPart::Changed);
        let (Some(first), Some(last)) = (first, last) else {
            // This side has no changed part; the other side continues after its end.
            let text: String = parts.iter().map(|(_, text)| *text).collect();
            return vec![(Role::Plain, self.middle(text.into(), room).into_owned())];
        };
        let inside = &parts[first..=last];
        let core: usize = inside.iter().map(|(_, text)| text::width(text)).sum();
        if core + 2 > room {
            let text: String = inside.iter().map(|(_, text)| *text).collect();
            return vec![(Role::Emphasis, self.middle(text.into(), room).into_owned())];
        }
        let join =
            |parts: &[(WordPart, &str)]| parts.iter().map(|(_, text)| *text).collect::<String>();
        let (before, after) = (join(&parts[..first]), join(&parts[last + 1..]));
        let spare = room - core;
        let after_room = spare - (spare / 2).min(text::width(&before));
        let after = text::cut_end(&after, after_room, self.ellipsis).into_owned();
        let before = self.end_of(&before, spare.saturating_sub(text::width(&after)));
        let mut spans = vec![(Role::Plain, before)];
        spans.extend(whole(&inside.to_vec()));
        spans.push((Role::Plain, after));
        spans
    }

    /// The start and the end of a text, and the number of bytes omitted between them.
    fn middle(self, value: Cow<'_, str>, columns: usize) -> Cow<'_, str> {
        if text::fits(&value, columns) {
            return value;
        }
        // The number of omitted bytes needs room itself.
        let longest = text::width(self.ellipsis) + "(+ B)".len() + value.len().to_string().len();
        let room = columns.saturating_sub(longest);
        let start = text::head(&value, room.div_ceil(2));
        let end = text::tail(&value[start.len()..], room / 2);
        let cut = value.len() - start.len() - end.len();
        let parts = [start, self.ellipsis, "(+", &cut.to_string(), " B)", end];
        Cow::Owned(parts.concat())
    }

    fn end_of(self, value: &str, columns: usize) -> String {
        if text::fits(value, columns) {
            return value.to_owned();
        }
        let room = columns.saturating_sub(text::width(self.ellipsis));
        [self.ellipsis, text::tail(value, room)].concat()
    }

    /// Replaces digests by their first twelve digits.
    fn digests(self, value: &str) -> Cow<'_, str> {
        let mut out = String::new();
        let mut copied = 0;
        while let Some(digest) = digest(value.as_bytes(), copied) {
            out.reserve(value.len() - copied);
            out.push_str(&value[copied..digest.start + DIGEST_SHOWN]);
            out.push_str(self.ellipsis);
            copied = digest.end;
        }
        if copied == 0 {
            return Cow::Borrowed(value);
        }
        out.push_str(&value[copied..]);
        Cow::Owned(out)
    }
}

/// The range of the first digest at or after `from`, which must not be inside one.
fn digest(text: &[u8], from: usize) -> Option<Range<usize>> {
    let is_other = |byte: &u8| !byte.is_ascii_hexdigit();
    let mut start = from;
    loop {
        // A digest that starts after `start` and is long enough contains this position.
        let at = start + DIGEST - 1;
        if is_other(text.get(at)?) {
            start = at + 1;
            continue;
        }
        let before = text[start..at].iter().rposition(is_other);
        let first = before.map_or(start, |before| start + before + 1);
        let end = text[at..].iter().position(is_other);
        let end = end.map_or(text.len(), |length| at + length);
        if end - first >= DIGEST {
            return Some(first..end);
        }
        start = end;
    }
}

fn role(part: WordPart) -> Role {
    match part {
        WordPart::Same => Role::Plain,
        WordPart::Changed => Role::Emphasis,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn room(columns: usize) -> Room {
        Room {
            columns: Some(columns),
            ellipsis: "…",
        }
    }

    fn marked(spans: &[Span]) -> String {
        spans
            .iter()
            .map(|(role, text)| match role {
                Role::Emphasis => format!("⟦{text}⟧"),
                _ => text.clone(),
            })
            .collect()
    }

    #[test]
    fn the_changed_part_stays_visible() {
        let old = format!("registry.example.com/{}/web:v1.4.2", "shop/".repeat(20));
        let new = old.replace("4.2", "5.0");
        let (a, b) = room(60).pair(&old, &new);
        insta::assert_snapshot!(format!("{} → {}", marked(&a), marked(&b)), @"…op/shop/shop/shop//web:v1.⟦4.2⟧ → …op/shop/shop/shop//web:v1.⟦5.0⟧");
        let old = "x ".repeat(40_000);
        let mut new = old.clone();
        new.replace_range(40_000..40_001, "y");
        let (a, b) = room(100).pair(&old, &new);
        insta::assert_snapshot!(format!("{} → {}", marked(&a), marked(&b)), @"x x x x x x x x x x …(+79961 B) x x x x x x x x x  → x x x x x x x x x x …(+79961 B) x x x x x x x x x");
    }

    #[test]
    fn digests_are_cut_to_their_start() {
        let digest = "0123456789abcdef".repeat(4);
        let value = format!("a/b@sha256:{digest}");
        assert_eq!(room(80).one(&value), "a/b@sha256:0123456789ab…");
        let whole = Room {
            columns: None,
            ellipsis: "…",
        };
        assert_eq!(whole.one(&value), value);
    }

    proptest! {
        #[test]
        fn every_digest_is_found(text in "([0-9a-f]{0,50}[xé:]{0,2}){0,5}") {
            let is_hex = |char: char| char.is_ascii_hexdigit();
            let runs: Vec<&str> = text.split_inclusive(|char| !is_hex(char)).collect();
            let expected: String = runs
                .into_iter()
                .map(|run| match run.chars().filter(|&char| is_hex(char)).count() {
                    DIGEST.. => format!("{}…{}", &run[..DIGEST_SHOWN], run.trim_start_matches(is_hex)),
                    _ => run.to_owned(),
                })
                .collect();
            prop_assert_eq!(room(80).digests(&text), expected);
        }
    }

    #[test]
    fn any_width_is_accepted() {
        for columns in 1..120 {
            let (old, new) = ("日本語 ".repeat(30), "日本誤 e\u{301}".repeat(40));
            let (a, b) = room(columns).pair(&old, &new);
            let width: usize = a.iter().chain(&b).map(|(_, text)| text::width(text)).sum();
            assert!(width <= columns.max(2 * LEAST) + 2, "{columns}: {width}");
            assert!(text::width(&room(columns).one(&old)) <= columns.max(LEAST));
        }
    }
}
