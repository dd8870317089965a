//! A string in its JSON spelling, for questions that do not need it decoded. It may be megabytes long.

use std::borrow::Cow;

use memchr::{memchr, memrchr};

use super::scan;

/// The text between the quotes of a string.
#[derive(Clone, Copy)]
pub(crate) struct RawStr<'a> {
    /// The text with its escape sequences.
    pub(super) inner: &'a str,
    /// Whether it has escape sequences.
    pub(super) is_escaped: bool,
}

/// The most bytes of an escape sequence, surrogate pairs included.
const LONGEST_ESCAPE: usize = 12;

impl<'a> RawStr<'a> {
    /// A part of a string. Both of its ends must be outside of escape sequences.
    pub(crate) fn part(inner: &'a str) -> RawStr<'a> {
        RawStr {
            inner,
            is_escaped: memchr(b'\\', inner.as_bytes()).is_some(),
        }
    }

    /// The text with its escape sequences.
    pub(crate) fn raw(self) -> &'a str {
        self.inner
    }

    pub(crate) fn decoded(self) -> Cow<'a, str> {
        if self.is_escaped {
            Cow::Owned(scan::unescape(self.inner))
        } else {
            Cow::Borrowed(self.inner)
        }
    }

    /// The characters of the decoded text.
    pub(crate) fn chars(self) -> impl Iterator<Item = char> + use<'a> {
        let mut rest = self.inner;
        std::iter::from_fn(move || {
            let (char, length) = match rest.chars().next()? {
                '\\' => scan::unescape_first(rest),
                char => (char, char.len_utf8()),
            };
            rest = &rest[length..];
            Some(char)
        })
    }

    pub(crate) fn is_same_text(self, other: RawStr<'_>) -> bool {
        if !self.is_escaped && !other.is_escaped {
            return self.inner == other.inner;
        }
        let start = common_start(self.inner, other.inner);
        self.skip(start).chars().eq(other.skip(start).chars())
    }

    /// Whether the decoded text contains a line feed.
    pub(crate) fn has_line_feed(self) -> bool {
        let is_one = |at: usize| scan::unescape_first(&self.inner[at..]).0 == '\n';
        self.is_escaped && escapes(self.inner).any(is_one)
    }

    fn skip(self, bytes: usize) -> RawStr<'a> {
        RawStr {
            inner: &self.inner[bytes..],
            ..self
        }
    }
}

pub(crate) fn escapes(raw: &str) -> impl Iterator<Item = usize> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let found = at + memchr(b'\\', raw.as_bytes().get(at..)?)?;
        // An escape sequence has no further backslash after its first two bytes.
        at = found + 2;
        Some(found)
    })
}

/// The number of leading bytes that two strings share. It is reduced until neither string is cut inside a
/// character or an escape sequence.
fn common_start(a: &str, b: &str) -> usize {
    let mut start = common_prefix(a.as_bytes(), b.as_bytes());
    loop {
        let near = start.saturating_sub(LONGEST_ESCAPE);
        match memrchr(b'\\', &a.as_bytes()[near..start]) {
            // This position may be inside an escape sequence that began earlier.
            Some(found) => start = near + found,
            None if a.is_char_boundary(start) => return start,
            None => start -= 1,
        }
    }
}

/// The number of leading bytes that both share.
pub(crate) fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    const BLOCK: usize = 64;
    let blocks = a.chunks_exact(BLOCK).zip(b.chunks_exact(BLOCK));
    let start = BLOCK * blocks.take_while(|(a, b)| a == b).count();
    let rest = a[start..].iter().zip(&b[start..]);
    start + rest.take_while(|(a, b)| a == b).count()
}

/// The number of trailing bytes that both share.
pub(crate) fn common_suffix(a: &[u8], b: &[u8]) -> usize {
    const BLOCK: usize = 64;
    let blocks = a.rchunks_exact(BLOCK).zip(b.rchunks_exact(BLOCK));
    let end = BLOCK * blocks.take_while(|(a, b)| a == b).count();
    let rest = a[..a.len() - end].iter().rev();
    let rest = rest.zip(b[..b.len() - end].iter().rev());
    end + rest.take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::object::Doc;

    /// Spellings of a few characters. Some have several.
    const PIECES: [&str; 16] = [
        "a",
        "n",
        "u",
        "0",
        "é",
        r"\n",
        r"\u000a",
        r"\u000A",
        r"\\",
        r"\u005c",
        r"\/",
        "/",
        r"\u0061",
        r"\ud83d\ude00",
        "😀",
        r"\ud83d",
    ];

    fn string() -> impl Strategy<Value = Doc> {
        let pieces = prop::collection::vec(select(&PIECES[..]), 0..24);
        pieces.prop_map(|pieces| {
            let text = format!("\"{}\"", pieces.concat());
            Doc::parse(text).expect("a string")
        })
    }

    fn raw_str(doc: &Doc) -> RawStr<'_> {
        doc.root().raw_str().expect("a string")
    }

    proptest! {
        #[test]
        fn it_behaves_as_its_decoded_text(a in string(), b in string()) {
            let (a, b) = (raw_str(&a), raw_str(&b));
            let text = a.decoded();
            prop_assert_eq!(a.chars().collect::<String>(), &*text);
            prop_assert_eq!(a.has_line_feed(), text.contains('\n'));
            prop_assert_eq!(a.is_same_text(b), text == b.decoded());
            prop_assert!(a.is_same_text(a));
        }

        #[test]
        fn common_prefixes_and_suffixes_match_the_decoded_texts(
            a in "[ab]{0,150}", b in "[ab]{0,150}", both in "[ab]{0,150}",
        ) {
            let (a, b) = ([&*both, "-", &a].concat(), [&*both, "+", &b].concat());
            prop_assert_eq!(common_prefix(a.as_bytes(), b.as_bytes()), both.len());
            let back = |text: &str| text.bytes().rev().collect::<Vec<_>>();
            prop_assert_eq!(common_suffix(&back(&a), &back(&b)), both.len());
        }
    }

    #[test]
    fn a_common_prefix_does_not_end_inside_an_escape_sequence() {
        let check = |a: &str, b: &str, expect: usize| assert_eq!(common_start(a, b), expect);
        check(r"ab\n", r"ab\t", 2);
        check(r"ab\u000a", r"ab\u000b", 2);
        check(r"\\\\\\\n", r"\\\\\\\t", 0);
        check("é", "è", 0);
        check("plain", "plain", 5);
    }
}
