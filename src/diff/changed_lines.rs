//! Finds the changed lines of a text. It compares the raw JSON strings, escapes included, so that of a text
//! of a megabyte only the changed lines are decoded.

use std::iter;

use similar::DiffOp;

use super::line_ops;
use super::redact::{Content, Reveals, Shown};
use super::secret::Guard;
use super::text::{self, Hunk, TextDiff};
use crate::object::raw_str::{RawStr, common_prefix, common_suffix, escapes};

impl<'a> Shown<'a> {
    /// The line diff from this text to `new`. `None` if one of the two is not a string or is hidden.
    pub fn changed_lines(self, new: Shown<'a>) -> Option<TextDiff> {
        let written = self.raw_str().zip(new.raw_str());
        if let Some(hunks) = written.and_then(|(old, new)| hunks(old, new)) {
            return Some(TextDiff::Hunks(hunks));
        }
        match (self.content(), new.content()) {
            (Content::Text(old), Content::Text(new)) => Some(text::lines(&old, &new)),
            _ => None,
        }
    }

    /// The raw text, if [`Shown::content`] is that text unchanged.
    fn raw_str(self) -> Option<RawStr<'a>> {
        let is_shown_as_it_is = match self.guard {
            Guard::Annotation(_) => self.redactor.reveals(),
            Guard::Map(_) | Guard::Value(_) => self.redactor.reveals == Reveals::Stored,
            Guard::Open
            | Guard::Metadata(_)
            | Guard::Annotations(_)
            | Guard::SecretList
            | Guard::SecretItems
            | Guard::Secret => true,
        };
        self.value.raw_str().filter(|_| is_shown_as_it_is)
    }
}

/// The changed lines of two raw texts. `None` if a line break or a changed line may be spelled in two ways.
fn hunks(old: RawStr<'_>, new: RawStr<'_>) -> Option<Vec<Hunk>> {
    let (old, new) = (old.raw(), new.raw());
    let start = alike(old, new)?;
    // The last common line becomes the context of the first hunk.
    let (lines_above, rest) = (start.lines.saturating_sub(1), start.last..);
    let tail = common_suffix(&old.as_bytes()[start.end..], &new.as_bytes()[start.end..]);
    let (old, new) = (&old[rest.clone()], &new[rest]);
    let (old, new) = match (cut(old, tail)?, cut(new, tail)?) {
        (a, b) if a.ends_as(&b) => (a.lines, b.lines),
        // The same bytes can be whole lines in one text and part of a line in the other.
        _ => (cut(old, 0)?.lines, cut(new, 0)?.lines),
    };
    let ops = line_ops::ops(&old, &new);
    let is_respelt = |op: &DiffOp| {
        let lines = old[op.old_range()].iter().chain(&new[op.new_range()]);
        !matches!(op, DiffOp::Equal { .. }) && lines.copied().any(may_be_respelt)
    };
    if ops.iter().any(is_respelt) {
        return None;
    }
    let mut hunks = text::hunks(ops, &old, &new, |line| RawStr::part(line).decoded());
    for hunk in &mut hunks {
        hunk.start += lines_above;
    }
    Some(hunks)
}

/// The lines that two texts have in common at their start.
#[derive(Default)]
struct Start {
    /// The number of lines.
    lines: usize,
    /// Where the last of these lines begins.
    last: usize,
    /// Where these lines end.
    end: usize,
}

/// Finds the lines that both texts begin with.
fn alike(old: &str, new: &str) -> Option<Start> {
    let common = common_prefix(old.as_bytes(), new.as_bytes());
    let mut start = Start::default();
    for end in line_ends(old) {
        let end = end?;
        if end > common {
            break;
        }
        start = Start {
            lines: start.lines + 1,
            last: start.end,
            end,
        };
    }
    Some(start)
}

/// A text cut into lines.
struct Cut<'t> {
    lines: Vec<&'t str>,
    /// The number of bytes after these lines, which are not cut.
    rest: usize,
}

impl Cut<'_> {
    /// Whether both cuts end at the same point: at the end of the texts, or with an equal line before equal
    /// bytes.
    fn ends_as(&self, other: &Cut<'_>) -> bool {
        let is_whole = self.rest == 0;
        self.rest == other.rest && (is_whole || self.lines.last() == other.lines.last())
    }
}

/// Cuts a text into lines, up to and including the first line that begins within the last `tail` bytes.
fn cut(raw: &str, tail: usize) -> Option<Cut<'_>> {
    let mut lines = Vec::new();
    let mut start = 0;
    let last = iter::once(Some(raw.len()));
    for end in line_ends(raw).chain(last) {
        let end = end?;
        if end > start {
            lines.push(&raw[start..end]);
        }
        if start + tail >= raw.len() {
            return Some(Cut {
                lines,
                rest: raw.len() - end,
            });
        }
        start = end;
    }
    Some(Cut { lines, rest: 0 })
}

/// The end of each line that ends with a line feed. Yields `None` at an escape that may end a line in another
/// way.
fn line_ends(raw: &str) -> impl Iterator<Item = Option<usize>> {
    escapes(raw).filter_map(|at| match &raw.as_bytes()[at + 1..] {
        [b'n', ..] => Some(Some(at + 2)),
        [b'r', ..] | [b'u', b'0', b'0', b'0', ..] => Some(None),
        _ => None,
    })
}

/// Whether another spelling of this line may mean the same text.
fn may_be_respelt(line: &str) -> bool {
    line.contains("\\u") || line.contains("\\/")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::{Index, select};

    use super::*;
    use crate::diff::Redactor;
    use crate::object::Doc;

    /// Pieces of raw text. Line feeds come three times, so that the texts have many lines.
    const PIECES: [&str; 12] = [
        r"\n", r"\n", r"\n", "a", "b", "n", r"\\", r"\t", "é", r"\u003c", r"\r", r"\u000a",
    ];

    fn changed(old: &str, new: &str) -> (Option<Vec<Hunk>>, TextDiff) {
        let doc = |text: &str| {
            Doc::parse(format!("\"{text}\"")).expect("the pieces make a valid JSON string")
        };
        let (old, new) = (doc(old), doc(new));
        let redactor = Redactor::new();
        let shown = |doc| redactor.shown(Doc::root(doc));
        let written = |doc| Doc::root(doc).raw_str().expect("the document is a string");
        let decoded = |doc| written(doc).decoded();
        let expected = text::lines(&decoded(&old), &decoded(&new));
        assert_eq!(
            shown(&old).changed_lines(shown(&new)),
            Some(expected.clone())
        );
        (hunks(written(&old), written(&new)), expected)
    }

    proptest! {
        #[test]
        fn raw_texts_give_the_same_hunks_as_decoded_texts(
            pieces in prop::collection::vec(select(&PIECES[..]), 0..60),
            edits in prop::collection::vec((any::<Index>(), any::<bool>(), select(&PIECES[..])), 0..4),
            plain in any::<bool>(),
        ) {
            let is_excluded = |piece: &&str| plain && [r"\u003c", r"\r", r"\u000a"].contains(piece);
            let pieces: Vec<&str> = pieces.into_iter().filter(|piece| !is_excluded(piece)).collect();
            let mut new = pieces.clone();
            for (at, is_new, piece) in edits {
                if !new.is_empty() && !is_excluded(&piece) {
                    let at = at.index(new.len());
                    new.splice(at..at + usize::from(!is_new), [piece]);
                }
            }
            let (fast, expected) = changed(&pieces.concat(), &new.concat());
            prop_assert!(fast.is_some() || !plain);
            if let Some(fast) = fast {
                prop_assert_eq!(TextDiff::Hunks(fast), expected);
            }
        }
    }

    #[test]
    fn three_edits_in_many_lines_are_found() {
        let line = |at: usize| format!(r"line {} \\n\n", at % 100);
        let old: Vec<String> = (0..3000).map(line).collect();
        let mut new = old.clone();
        for at in [10, 1500, 2990] {
            new[at] = format!(r"edit {at}\n");
        }
        let (fast, expected) = changed(&old.concat(), &new.concat());
        let starts: Vec<usize> = fast.iter().flatten().map(|hunk| hunk.start).collect();
        assert_eq!(starts, [10, 1500, 2990]);
        assert_eq!(fast.map(TextDiff::Hunks), Some(expected));
    }

    #[test]
    fn equal_bytes_can_be_different_lines() {
        let (fast, expected) = changed(r"\n\n\n", r"n\n\n");
        assert_eq!(fast.map(TextDiff::Hunks), Some(expected));
    }

    #[test]
    fn another_spelling_is_not_a_change() {
        let (fast, expected) = changed(r"a\n\u003c\nb\n", r"a\n<\nc\n");
        assert_eq!(fast, None);
        let TextDiff::Hunks(hunks) = expected else {
            panic!("{expected:?}")
        };
        assert_eq!((hunks[0].start, hunks[0].lines.len()), (2, 3));
    }
}
