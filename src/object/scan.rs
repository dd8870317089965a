//! The lexical part of JSON (RFC 8259). It checks strings, numbers and literals, but does not decode them.

use memchr::memchr;

pub(super) struct StringToken {
    /// One past the closing quote.
    pub(super) end: usize,
    pub(super) escapes: Escapes,
}

/// Which escape sequences a string contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escapes {
    None,
    /// Only for characters that cannot be spelled otherwise. Two such strings are equal only if their spellings
    /// are equal. The same holds if one of them has no escape sequences.
    Needed,
    /// There is a `\u` or a `\/`.
    Chosen,
}

/// The error for an invalid byte at `at`, or for the end of the text there.
#[cold]
#[inline(never)]
pub(super) fn unexpected(text: &[u8], at: usize) -> ParseError {
    match text.get(at) {
        Some(_) => ParseError::UnexpectedByte { at },
        None => ParseError::UnexpectedEnd { at },
    }
}

/// Scans the string whose opening quote is at `start`.
#[expect(
    clippy::inline_always,
    reason = "half of all values are strings, and most take less time than a call"
)]
#[inline(always)]
pub(super) fn string(text: &[u8], start: usize) -> Result<StringToken, ParseError> {
    let at = plain_end(text, start + 1);
    if text.get(at) != Some(&b'"') {
        return with_escapes(text, at);
    }
    Ok(StringToken {
        end: at + 1,
        escapes: Escapes::None,
    })
}

/// Scans the rest of a string, from the first special character on.
#[cold]
#[inline(never)]
fn with_escapes(text: &[u8], mut at: usize) -> Result<StringToken, ParseError> {
    let mut escapes = Escapes::Needed;
    loop {
        match text.get(at) {
            Some(b'"') => {
                let end = at + 1;
                return Ok(StringToken { end, escapes });
            }
            Some(b'\\') => {
                if let Some(b'u' | b'/') = text.get(at + 1) {
                    escapes = Escapes::Chosen;
                }
                at = plain_end(text, escape(text, at + 1)?);
            }
            _ => return Err(unexpected(text, at)),
        }
    }
}

/// Where the plain characters from `at` on end: at a quote, a backslash, a control character, or the end of the
/// text.
#[inline]
fn plain_end(text: &[u8], mut at: usize) -> usize {
    while let Some(eight) = text.get(at..).and_then(|rest| rest.first_chunk()) {
        let special = special(u64::from_le_bytes(*eight));
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = text.get(at..).unwrap_or_default();
    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f);
    at + rest.iter().position(is_special).unwrap_or(rest.len())
}

/// Checks eight bytes at once. The lowest bit of the result is the high bit of the first byte that is a quote, a
/// backslash or a control character. Subtracting a limit sets the high bit of an ASCII byte below that limit. A
/// borrow goes only to higher bytes, so it cannot change the first hit.
#[inline]
fn special(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH_BITS: u64 = ONES << 7;
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit);
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    // XOR of two ASCII bytes is ASCII, and the bytes to find are all ASCII.
    (is(b'"') | is(b'\\') | below(word, 0x20)) & !word & HIGH_BITS
}

/// Checks an escape sequence after its backslash. Returns its end.
fn escape(text: &[u8], at: usize) -> Result<usize, ParseError> {
    match text.get(at) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 1),
        Some(b'u') => {
            for at in at + 1..at + 5 {
                if !text.get(at).is_some_and(u8::is_ascii_hexdigit) {
                    return Err(unexpected(text, at));
                }
            }
            Ok(at + 5)
        }
        _ => Err(unexpected(text, at)),
    }
}

/// Scans the number at `at`. Returns its end.
pub(super) fn number(text: &[u8], mut at: usize) -> Result<usize, ParseError> {
    let is = |at: usize, bytes: &[u8]| text.get(at).is_some_and(|byte| bytes.contains(byte));
    at += usize::from(is(at, b"-"));
    at = if is(at, b"0") {
        at + 1
    } else {
        digits(text, at)?
    };
    if is(at, b".") {
        at = digits(text, at + 1)?;
    }
    if is(at, b"eE") {
        at += 1;
        at += usize::from(is(at, b"+-"));
        at = digits(text, at)?;
    }
    Ok(at)
}

fn digits(text: &[u8], first: usize) -> Result<usize, ParseError> {
    let count = text[first.min(text.len())..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if count == 0 {
        Err(unexpected(text, first))
    } else {
        Ok(first + count)
    }
}

/// Scans `true`, `false` or `null`, as the first letter at `start` requires. Returns its end.
pub(super) fn literal(text: &[u8], start: usize) -> Result<usize, ParseError> {
    let word: &[u8] = match text[start] {
        b't' => b"true",
        b'f' => b"false",
        _ => b"null",
    };
    for (offset, byte) in word.iter().enumerate() {
        if text.get(start + offset) != Some(byte) {
            return Err(unexpected(text, start + offset));
        }
    }
    Ok(start + word.len())
}

/// Decodes the inside of a string that [`string`] has accepted. A lone surrogate becomes U+FFFD, as in Go's
/// encoding/json, which wrote the text.
pub(super) fn unescape(raw: &str) -> String {
    // An escape sequence is never shorter than its character.
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = memchr(b'\\', rest.as_bytes()) {
        text.push_str(&rest[..at]);
        let (decoded, length) = unescape_first(&rest[at..]);
        text.push(decoded);
        rest = &rest[at + length..];
    }
    text.push_str(rest);
    text
}

/// Decodes the escape sequence at the start of `text`. Returns the character and the number of bytes.
pub(super) fn unescape_first(text: &str) -> (char, usize) {
    let decoded = match text.as_bytes().get(1) {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => {
            let (decoded, length) = unescape_unicode(&text[1..]);
            return (decoded, length + 1);
        }
        Some(&other) => char::from(other),
        None => return ('\u{fffd}', 1),
    };
    (decoded, 2)
}

/// Decodes `uXXXX`, or a surrogate pair `uXXXX\uXXXX`. Returns the character and the number of bytes.
fn unescape_unicode(tail: &str) -> (char, usize) {
    let unit = |at: usize| {
        tail.get(at..at + 4)
            .and_then(|hex| u32::from_str_radix(hex, 16).ok())
    };
    let high = unit(1).unwrap_or(0xfffd);
    if (0xd800..0xdc00).contains(&high)
        && tail.get(5..7) == Some("\\u")
        && let Some(low @ 0xdc00..0xe000) = unit(7)
    {
        let joined = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        return (char::from_u32(joined).unwrap_or('\u{fffd}'), 11);
    }
    (char::from_u32(high).unwrap_or('\u{fffd}'), 5)
}

/// Why a text is not one JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The text ends inside a value.
    #[error("the JSON text ends too early, at byte {at}")]
    UnexpectedEnd {
        /// The offset in bytes.
        at: usize,
    },
    /// A byte that is not allowed at its position.
    #[error("invalid JSON at byte {at}")]
    UnexpectedByte {
        /// The offset in bytes.
        at: usize,
    },
    /// More than [`Doc::MAX_DEPTH`](super::Doc::MAX_DEPTH) levels of arrays and objects.
    #[error("JSON nested too deeply, at byte {at}")]
    TooDeep {
        /// The offset in bytes.
        at: usize,
    },
    /// The text is 4 GiB or longer.
    #[error("the JSON text is too long")]
    TooLong,
    /// The object repeats `kind` or `apiVersion`, and the last ones differ from those that it was received with.
    #[error("the object names two types")]
    TwoTypes,
}
