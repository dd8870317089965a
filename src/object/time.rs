//! Times and durations as the API writes them.

use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

/// Parses a time; `None` for any other text.
pub fn time(text: &str) -> Option<Timestamp> {
    whole_seconds(text).or_else(|| text.parse().ok())
}

/// Parses `2026-11-21T14:13:38Z`, the API's form for all times without a fraction. Every byte has a fixed
/// position.
fn whole_seconds(text: &str) -> Option<Timestamp> {
    let text: &[u8; 20] = text.as_bytes().try_into().ok()?;
    let marks = [text[4], text[7], text[10], text[13], text[16], text[19]];
    if marks != *b"--T::Z" {
        return None;
    }
    let two = |at: usize| {
        let (tens, ones) = (text[at].wrapping_sub(b'0'), text[at + 1].wrapping_sub(b'0'));
        (tens < 10 && ones < 10).then(|| 10 * tens + ones)
    };
    let small = |at| i8::try_from(two(at)?).ok();
    let year = 100 * i16::from(two(0)?) + i16::from(two(2)?);
    let (month, day) = (small(5)?, small(8)?);
    let time = DateTime::new(year, month, day, small(11)?, small(14)?, small(17)?, 0);
    Offset::UTC.to_timestamp(time.ok()?).ok()
}

/// Parses a duration in Go's syntax (`1m30s`, `1.5h`, `0`), without a sign.
pub fn parse_duration(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let mut rest = text;
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let amount: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let letters = rest
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(rest.len());
        let unit = match &rest[..letters] {
            "ns" => 1e-9,
            // The micro sign, and the Greek letter.
            "us" | "\u{b5}s" | "\u{3bc}s" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        rest = &rest[letters..];
        total = total.checked_add(Duration::try_from_secs_f64(amount * unit).ok()?)?;
    }
    Some(total).filter(|_| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_with_whole_seconds_take_the_fast_path() {
        let time = whole_seconds("2026-11-21T14:13:38Z").expect("a time");
        assert_eq!(time.to_string(), "2026-11-21T14:13:38Z");
        for text in [
            "2026-11-21T14:13:38.5Z",
            "2026-02-29T00:00:00Z",
            "2026-11-21T24:00:00Z",
        ] {
            assert_eq!(whole_seconds(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn both_paths_parse_the_same_times(
            text in "(0000|[0-9]{4}|999[89])-[01][0-9]-[0-3][0-9][T ][0-2][0-9]:[0-6][0-9]:[0-6][0-9][Zz+]",
            other in "[0-9TZ:+/-]{20}",
        ) {
            for text in [text, other] {
                prop_assert_eq!(time(&text), text.parse().ok());
            }
        }
    }
}
