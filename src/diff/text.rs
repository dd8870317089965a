//! Finds the changed lines of a text, and the changed words of a line.

use std::borrow::Cow;
use std::iter;
use std::ops::Range;

use similar::{DiffOp, group_diff_ops};

use super::line_ops::{line_ops, numbered, short_script};
use super::redact::{Content, Reveals, Shown};
use super::secret::Guard;
use crate::object::raw_str::{RawStr, common_prefix, common_suffix, escapes};

/// Longer texts are not compared word by word.
const MAX_BYTES: usize = 16 * 1024;

/// The limit of old words times new words; beyond it texts are not compared word by word.
const MAX_PAIRS: usize = 1 << 22;

/// The parts of one text, each marked as changed or not.
pub type Parts<'t> = Vec<(WordPart, &'t str)>;

/// Whether both versions contain a part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordPart {
    /// Both versions contain it.
    Same,
    /// Only this version contains it.
    Changed,
}

/// The differences between two texts of several lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextDiff {
    /// Only the line ends differ: `LF`, `CRLF`.
    Endings {
        /// The old line end.
        old: &'static str,
        /// The new line end.
        new: &'static str,
    },
    /// Some lines differ.
    Hunks(Vec<Hunk>),
}

/// Adjacent changed lines, with one line of context on either side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The number of its first line in the new text, from 1.
    pub start: usize,
    /// Its lines, without their line ends.
    pub lines: Vec<HunkLine>,
}

/// A line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkLine {
    /// The versions that contain the line.
    pub tag: Tag,
    /// The line.
    pub text: String,
    /// Whether it is the last line of its text and has no line end.
    pub unended: bool,
}

/// Which versions contain a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// Both versions.
    Context,
    /// The old version only.
    Removed,
    /// The new version only.
    Added,
}

/// Compares two texts word by word. A word is a run of letters and digits; any other character is a word of
/// its own. `None` if the texts are too long or have no word in common.
pub fn words<'t>(old: &'t str, new: &'t str) -> Option<(Parts<'t>, Parts<'t>)> {
    if old.len().max(new.len()) > MAX_BYTES {
        return None;
    }
    let (a, b) = (tokens(old), tokens(new));
    if a.len().saturating_mul(b.len()) > MAX_PAIRS {
        return None;
    }
    let words = |text: &'t str, tokens: &[Range<usize>]| -> Vec<&'t str> {
        tokens.iter().map(|token| &text[token.clone()]).collect()
    };
    let (old_words, new_words) = numbered(&words(old, &a), &words(new, &b));
    let ops = short_script(&old_words, &new_words);
    let shared = ops.iter().any(|op| match op {
        DiffOp::Equal { old_index, len, .. } => a[*old_index..old_index + len]
            .iter()
            .any(|token| old[token.clone()].contains(char::is_alphanumeric)),
        _ => false,
    });
    shared.then(|| {
        (
            parts(old, &a, ops.iter().map(|op| (is_same(op), op.old_range()))),
            parts(new, &b, ops.iter().map(|op| (is_same(op), op.new_range()))),
        )
    })
}

fn is_same(op: &DiffOp) -> bool {
    matches!(op, DiffOp::Equal { .. })
}

fn tokens(text: &str) -> Vec<Range<usize>> {
    let mut tokens: Vec<Range<usize>> = Vec::new();
    let mut continues = false;
    for (at, char) in text.char_indices() {
        let end = at + char.len_utf8();
        let is_word = char.is_alphanumeric();
        match tokens.last_mut() {
            Some(last) if is_word && continues => last.end = end,
            _ => tokens.push(at..end),
        }
        continues = is_word;
    }
    tokens
}

/// Joins tokens to parts. A single equal character between two changes counts as changed, so that
/// `1.4.2 → 1.5.0` reads as one change.
fn parts<'t>(
    text: &'t str,
    tokens: &[Range<usize>],
    ops: impl Iterator<Item = (bool, Range<usize>)>,
) -> Parts<'t> {
    let mut spans: Vec<(WordPart, Range<usize>)> = Vec::new();
    for (same, range) in ops.filter(|(_, range)| !range.is_empty()) {
        let span = tokens[range.start].start..tokens[range.end - 1].end;
        let part = if same {
            WordPart::Same
        } else {
            WordPart::Changed
        };
        match spans.as_mut_slice() {
            [.., (WordPart::Changed, last)] if part == WordPart::Changed => last.end = span.end,
            [.., (WordPart::Changed, _), (between, gap)]
                if part == WordPart::Changed && text[gap.clone()].chars().nth(1).is_none() =>
            {
                *between = WordPart::Changed;
                gap.end = span.end;
                let joined = gap.end;
                spans.pop();
                if let Some((_, last)) = spans.last_mut() {
                    last.end = joined;
                }
            }
            _ => spans.push((part, span)),
        }
    }
    spans
        .into_iter()
        .map(|(part, span)| (part, &text[span]))
        .collect()
}

/// Compares two texts line by line.
pub fn lines(old: &str, new: &str) -> TextDiff {
    if let Some(endings) = endings(old, new) {
        return endings;
    }
    let (old, new) = (split(old), split(new));
    let ops = line_ops(&old, &new);
    TextDiff::Hunks(hunks(ops, &old, &new, Into::into))
}

/// The lines of a text, each with its end.
fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// The changed lines and their context. `read` decodes a line.
pub(super) fn hunks<'t>(
    ops: Vec<DiffOp>,
    old: &[&'t str],
    new: &[&'t str],
    read: impl Fn(&'t str) -> Cow<'t, str>,
) -> Vec<Hunk> {
    let all = |tag, lines: &[&'t str]| -> Vec<HunkLine> {
        lines.iter().map(|text| line(tag, &read(text))).collect()
    };
    let hunk_lines = |op: &DiffOp| match op {
        DiffOp::Equal { .. } => all(Tag::Context, &new[op.new_range()]),
        // Removed lines come before added ones.
        DiffOp::Delete { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
            let mut lines = all(Tag::Removed, &old[op.old_range()]);
            lines.extend(all(Tag::Added, &new[op.new_range()]));
            lines
        }
    };
    group_diff_ops(ops, 1)
        .iter()
        .map(|group| Hunk {
            start: group.first().map_or(0, |op| op.new_range().start) + 1,
            lines: group.iter().flat_map(hunk_lines).collect(),
        })
        .collect()
}

fn line(tag: Tag, text: &str) -> HunkLine {
    let body = text.strip_suffix('\n');
    HunkLine {
        tag,
        text: body.unwrap_or(text).to_owned(),
        unended: body.is_none(),
    }
}

fn endings(old: &str, new: &str) -> Option<TextDiff> {
    if !old.contains('\r') && !new.contains('\r') {
        return None;
    }
    let plain = |text: &'_ str| -> Cow<'_, str> { text.replace("\r\n", "\n").into() };
    let name = |text: &str| {
        let all = text.matches('\n').count();
        match text.matches("\r\n").count() {
            0 => "LF",
            crlf if crlf == all => "CRLF",
            _ => "mixed",
        }
    };
    let (a, b) = (name(old), name(new));
    (a != b && plain(old) == plain(new)).then_some(TextDiff::Endings { old: a, new: b })
}

impl<'a> Shown<'a> {
    /// The line diff from this text to `new`. `None` if one of the two is not a string or is hidden.
    pub fn changed_lines(self, new: Shown<'a>) -> Option<TextDiff> {
        let written = self.raw_str().zip(new.raw_str());
        if let Some(hunks) = written.and_then(|(old, new)| raw_hunks(old, new)) {
            return Some(TextDiff::Hunks(hunks));
        }
        match (self.content(), new.content()) {
            (Content::Text(old), Content::Text(new)) => Some(lines(&old, &new)),
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

/// The changed lines of two raw texts, escapes included: of a text of a megabyte only the changed lines are decoded. `None` if a line break or a changed line may be spelled in two ways.
fn raw_hunks(old: RawStr<'_>, new: RawStr<'_>) -> Option<Vec<Hunk>> {
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
    let ops = line_ops(&old, &new);
    let is_respelt = |op: &DiffOp| {
        let lines = old[op.old_range()].iter().chain(&new[op.new_range()]);
        // Another spelling of such a line may mean the same text.
        let may_be = |line: &&str| line.contains("\\u") || line.contains("\\/");
        !matches!(op, DiffOp::Equal { .. }) && lines.copied().any(|line| may_be(&line))
    };
    if ops.iter().any(is_respelt) {
        return None;
    }
    let mut hunks = hunks(ops, &old, &new, |line| RawStr::part(line).decoded());
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::{Index, select};

    use super::*;
    use crate::diff::Redactor;
    use crate::object::Doc;

    fn marked(parts: &Parts<'_>) -> String {
        parts
            .iter()
            .map(|(part, text)| match part {
                WordPart::Same => (*text).to_owned(),
                WordPart::Changed => format!("⟦{text}⟧"),
            })
            .collect()
    }

    #[test]
    fn changed_words_are_marked() {
        let cases = [
            ("web:v1.4.2", "web:v1.5.0", "web:v1.⟦4.2⟧ | web:v1.⟦5.0⟧"),
            ("--v=2", "--v=4", "--v=⟦2⟧ | --v=⟦4⟧"),
            ("a b", "a b c", "a b | a b⟦ c⟧"),
            ("é x", "é y", "é ⟦x⟧ | é ⟦y⟧"),
            ("on", "off", "-"),
            ("a-b", "c-d", "-"),
            ("", "x", "-"),
        ];
        for (old, new, expected) in cases {
            let found = words(old, new).map_or("-".to_owned(), |(old, new)| {
                format!("{} | {}", marked(&old), marked(&new))
            });
            assert_eq!(found, expected);
        }
        let long = "a ".repeat(MAX_BYTES);
        assert_eq!(words(&long, "a"), None);
    }

    fn shown(old: &str, new: &str) -> String {
        match lines(old, new) {
            TextDiff::Endings { old, new } => format!("{old} → {new}"),
            TextDiff::Hunks(hunks) => hunks
                .iter()
                .map(|hunk| {
                    let lines = hunk.lines.iter().map(|line| {
                        let mark = match line.tag {
                            Tag::Context => ' ',
                            Tag::Removed => '-',
                            Tag::Added => '+',
                        };
                        let end = if line.unended { "\\" } else { "" };
                        format!("{mark}{}{end}", line.text)
                    });
                    format!("@{} {}", hunk.start, lines.collect::<Vec<_>>().join("|"))
                })
                .collect::<Vec<_>>()
                .join(" "),
        }
    }

    #[test]
    fn lines_come_in_hunks() {
        assert_eq!(
            shown("a\nb\nc\nd\ne\nf\n", "a\nB\nc\nd\ne\nf\ng\n"),
            "@1  a|-b|+B| c @6  f|+g"
        );
        assert_eq!(shown("a\nb", "a\nb\n"), "@1  a|-b\\|+b");
        assert_eq!(shown("a\nb\n", "a\r\nb\r\n"), "LF → CRLF");
        assert_eq!(shown("a\r\nb\n", "a\nb\n"), "mixed → LF");
        assert_eq!(shown("", "a\n"), "@1 +a");
    }

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
        let expected = lines(&decoded(&old), &decoded(&new));
        assert_eq!(
            shown(&old).changed_lines(shown(&new)),
            Some(expected.clone())
        );
        (raw_hunks(written(&old), written(&new)), expected)
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
