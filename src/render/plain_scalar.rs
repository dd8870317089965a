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
fn has_plain_bytes(text: &str, place: ScalarPlace) -> bool {
    let ends_one =
        |byte: u8| (place == ScalarPlace::Flow) & matches!(byte, b',' | b'[' | b']' | b'{' | b'}');
    // A text without spaces contains neither a comment nor a mapping, and most texts have none.
    let is_of_word = |byte: u8| (0x21..0x7f).contains(&byte) & !ends_one(byte);
    if text.bytes().fold(true, |all, byte| all & is_of_word(byte)) {
        return true;
    }
    let mut before = 0;
    text.bytes().all(|byte| {
        let is_plain = match byte {
            b' ' => before != b':',
            b'#' => before != b' ',
            _ if ends_one(byte) => false,
            0..0x20 | 0x7f => false,
            _ => true,
        };
        before = byte;
        is_plain
    })
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
