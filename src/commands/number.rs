//! The numbers of flags, and why a text is none, in kubectl's words.

use std::num::{IntErrorKind, ParseIntError};
use std::str::FromStr;

/// What the words of Go begin with.
pub(crate) const GO: &str = "strconv.ParseInt: ";

/// Parses a number above zero.
pub(crate) fn above_zero<T>(text: &str) -> Result<T, String>
where
    T: FromStr<Err = ParseIntError> + Default + PartialEq,
{
    match text.parse() {
        Ok(number) if number != T::default() => Ok(number),
        Err(error) if !is_negative(text) => Err(refusal(text, &error)),
        Ok(_) | Err(_) => Err("must be greater than 0".to_owned()),
    }
}

/// Why a text is no number of a flag. Most words are those of Go, which kubectl passes on.
pub(crate) fn refusal(text: &str, error: &ParseIntError) -> String {
    match error.kind() {
        IntErrorKind::Zero => "must be greater than 0".to_owned(),
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => {
            format!("{GO}parsing {text:?}: value out of range")
        }
        _ if is_negative(text) => "must not be negative".to_owned(),
        _ => format!("{GO}parsing {text:?}: invalid syntax"),
    }
}

fn is_negative(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
