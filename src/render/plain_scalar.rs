//! YAML's plain scalars: which strings need no quotes.

/// The context of a scalar, which decides when it needs quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ScalarPlace {
    /// On a line of its own.
    Line,
    /// Inside a list or an object in flow form.
    Flow,
}

/// Whether YAML reads the bare text as this string (YAML 1.2 §7.3.3, and the words that YAML 1.1 reads as
/// booleans).
pub(super) fn is_plain(text: &str, place: ScalarPlace) -> bool {
    let Some(first) = text.chars().next() else {
        return false;
    };
    let starts_well = match first {
        '-' | '?' | ':' => !text[1..].starts_with([' ', '\t']) && text.len() > 1,
        ',' | '[' | ']' | '{' | '}' | '#' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%'
        | '@' | '`' | '<' | ' ' => false,
        _ => true,
    };
    starts_well
        && !text.ends_with([' ', ':'])
        && has_plain_bytes(text, place)
        && (text.is_ascii() || !text.chars().any(char::is_control))
        && !is_other_scalar(text)
}

/// Whether the text contains no comment, mapping or control character, and inside a flow no character that
/// ends a value.
#[expect(
    clippy::needless_bitwise_bool,
    reason = "a lazy operator is a branch, and branches keep the loops from checking many bytes at once"
)]
fn has_plain_bytes(text: &str, place: ScalarPlace) -> bool {
    let ends_one =
        |byte: u8| place == ScalarPlace::Flow && matches!(byte, b',' | b'[' | b']' | b'{' | b'}');
    let is_plain = |byte: u8| (byte >= b' ') & (byte != 0x7f) & !ends_one(byte);
    let is_syntax = |a: u8, b: u8| (a == b':') & (b == b' ') | (a == b' ') & (b == b'#');
    let bytes = text.as_bytes();
    let Some((_, rest)) = bytes.split_first() else {
        return true;
    };
    // Nothing ends these loops early, so that many bytes are checked at once.
    let has_plain = bytes.iter().fold(true, |all, byte| all & is_plain(*byte));
    let pairs = bytes.iter().zip(rest);
    has_plain && !pairs.fold(false, |any, (a, b)| any | is_syntax(*a, *b))
}

/// Words that YAML 1.1 or 1.2 does not read as strings, in any case.
const OTHER_WORDS: [&str; 16] = [
    "null", "~", "true", "false", "yes", "no", "on", "off", "y", "n", ".nan", ".inf", "-.inf",
    "+.inf", "---", "...",
];

/// Whether a number may contain this byte after its start.
fn is_of_numbers(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-' | b'_')
}

/// Whether YAML reads the text as something other than a string.
fn is_other_scalar(text: &str) -> bool {
    let number = text.strip_prefix(['-', '+']).unwrap_or(text);
    let starts_like_one = number
        .strip_prefix('.')
        .unwrap_or(number)
        .starts_with(|char: char| char.is_ascii_digit());
    let is_decimal =
        || number.bytes().all(is_of_numbers) && number.replace('_', "").parse::<f64>().is_ok();
    let is_number =
        starts_like_one && (is_decimal() || number.starts_with("0x") || number.starts_with("0o"));
    let is_word = || {
        let mut words = OTHER_WORDS.iter();
        text.len() <= 5 && words.any(|word| text.eq_ignore_ascii_case(word))
    };
    is_number || is_word()
}
