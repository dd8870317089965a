//! Finds the changed lines of a text, and the changed words of a line.

use std::borrow::Cow;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use super::line_ops;

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
    let ops = capture_diff_slices(Algorithm::Myers, &words(old, &a), &words(new, &b));
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
    let ops = line_ops::ops(&old, &new);
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
