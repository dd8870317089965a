//! The time that a server writes before each line of a log with `timestamps=true`.

use jiff::Timestamp;
use jiff::civil::Date;

/// The time at the start of a line, and the number of bytes up to the text after it. `None` if the line does not begin
/// with an RFC 3339 time and a space: then it is not of the log, but a message of the node.
pub fn timed_line(line: &[u8]) -> Option<(Timestamp, usize)> {
    let head = line.first_chunk::<19>()?;
    let is_shaped = [head[4], head[7], head[10], head[13], head[16]] == *b"--T::";
    if !is_shaped {
        return None;
    }
    let number = |range: std::ops::Range<usize>| digits(&head[range]);
    let date = Date::new(
        i16::try_from(number(0..4)?).ok()?,
        i8::try_from(number(5..7)?).ok()?,
        i8::try_from(number(8..10)?).ok()?,
    );
    let day = date.ok()?.duration_since(EPOCH).as_secs();
    let clock = number(11..13)? * 3600 + number(14..16)? * 60 + number(17..19)?;
    let (nanosecond, length) = fraction(&line[19..])?;
    let (offset, end) = zone(&line[19 + length..])?;
    let second = day + clock - offset;
    let time = Timestamp::new(second, nanosecond).ok()?;
    let text = 19 + length + end;
    (line.get(text) == Some(&b' ')).then_some((time, text + 1))
}

const EPOCH: Date = Date::constant(1970, 1, 1);

fn digits(text: &[u8]) -> Option<i64> {
    text.iter().try_fold(0, |number, digit| {
        digit
            .is_ascii_digit()
            .then(|| number * 10 + i64::from(digit - b'0'))
    })
}

/// The nanoseconds of `.123`, and its length; 0 of both if there is none.
fn fraction(text: &[u8]) -> Option<(i32, usize)> {
    let Some(digits) = text.strip_prefix(b".") else {
        return Some((0, 0));
    };
    let count = digits
        .iter()
        .take_while(|digit| digit.is_ascii_digit())
        .count();
    if !(1..=9).contains(&count) {
        return None;
    }
    let number = digits[..count]
        .iter()
        .fold(0, |number, digit| number * 10 + i32::from(digit - b'0'));
    let scale = 10_i32.pow(u32::try_from(9 - count).ok()?);
    Some((number * scale, count + 1))
}

/// The offset of `Z` or `+02:00` in seconds, and its length.
fn zone(text: &[u8]) -> Option<(i64, usize)> {
    match text {
        [b'Z', ..] => Some((0, 1)),
        [sign @ (b'+' | b'-'), a, b, b':', c, d, ..] => {
            let offset = digits(&[*a, *b])? * 3600 + digits(&[*c, *d])? * 60;
            Some((if *sign == b'+' { offset } else { -offset }, 6))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_a_time_and_a_space_begin_a_line_of_a_log() {
        for (line, expect) in [
            (
                "2026-11-25T22:41:52.123456789Z hello",
                Some(("2026-11-25T22:41:52.123456789Z", "hello")),
            ),
            ("2026-11-25T22:41:52Z ", Some(("2026-11-25T22:41:52Z", ""))),
            (
                "2026-11-25T22:41:52.5+02:00  two",
                Some(("2026-11-25T20:41:52.5Z", " two")),
            ),
            (
                "2026-11-25T22:41:52.5-00:30 x",
                Some(("2026-11-25T23:11:52.5Z", "x")),
            ),
            (
                "1969-12-31T23:59:59.25Z x",
                Some(("1969-12-31T23:59:59.25Z", "x")),
            ),
            (
                "unable to retrieve container logs for containerd://abc",
                None,
            ),
            ("2026-11-25T22:41:52Z", None),
            ("2026-11-25T22:41:52Zx", None),
            ("2026-11-25T22:41:52. x", None),
            ("2026-11-25T22:41:52.1234567891Z x", None),
            ("2026-11-25 22:41:52Z x", None),
            ("2026-13-25T22:41:52Z x", None),
            ("2026-1-25T22:41:52Z x...", None),
            ("", None),
        ] {
            let found = timed_line(line.as_bytes());
            let found = found.map(|(time, text)| (time, &line[text..]));
            let expect = expect.map(|(time, text)| (time.parse().expect("a time"), text));
            assert_eq!(found, expect, "{line}");
        }
    }

    proptest! {
        #[test]
        fn a_printed_time_is_read_back(second in -60_000_000_000_i64..250_000_000_000, nanosecond in 0..1_000_000_000) {
            let time = Timestamp::new(second, nanosecond).expect("a time");
            let line = format!("{time} text");
            prop_assert_eq!(timed_line(line.as_bytes()), Some((time, line.len() - 4)));
        }

        #[test]
        fn no_bytes_cause_a_panic(line in prop::collection::vec(any::<u8>(), 0..60)) {
            timed_line(&line);
        }
    }
}
