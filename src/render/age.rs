//! Formats times and time spans as kubectl does. The current time is a parameter.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// A time span with two or three significant digits: `38s`, `4m12s`, `2d3h`, `41d`, `2y35d`.
///
/// The text equals kubectl's ages (`HumanDuration` in k8s.io/apimachinery/pkg/util/duration). Clocks may
/// differ by up to two seconds; a span further below zero is `<invalid>`.
pub fn human(span: SignedDuration) -> String {
    let seconds = span.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1..0 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        _ if minutes < 10 => two((minutes, "m"), (seconds % 60, "s")),
        _ if minutes < 3 * 60 => format!("{minutes}m"),
        _ if hours < 8 => two((hours, "h"), (minutes % 60, "m")),
        _ if hours < 48 => format!("{hours}h"),
        _ if days < 8 => two((days, "d"), (hours % 24, "h")),
        _ if days < 2 * 365 => format!("{days}d"),
        _ if days < 8 * 365 => two((days / 365, "y"), (days % 365, "d")),
        _ => format!("{}y", days / 365),
    }
}

/// A bound of a time span, in the form of [`human`], and rounded up: the span is never longer than the text says.
pub fn at_most(span: SignedDuration) -> String {
    // The smallest unit that is shown, in seconds.
    let unit = match span.as_secs() {
        ..600 => 1,
        600..28_800 => 60,
        28_800..691_200 => 3600,
        _ => 86_400,
    };
    let whole = SignedDuration::from_secs(span.as_secs() / unit * unit);
    let more = if whole < span { unit } else { 0 };
    human(whole.saturating_add(SignedDuration::from_secs(more)))
}

/// The larger unit and, unless it is zero, the smaller one.
fn two(larger: (i64, &str), smaller: (i64, &str)) -> String {
    match smaller.0 {
        0 => format!("{}{}", larger.0, larger.1),
        _ => format!("{}{}{}{}", larger.0, larger.1, smaller.0, smaller.1),
    }
}

/// The age of something that happened at `then`, in the form of [`human`].
pub fn age(then: Timestamp, now: Timestamp) -> String {
    human(now.duration_since(then))
}

/// The age of something that happened between two times: `27–37s`, `4m10s–5m2s`; one age if both are the same.
pub fn interval(from: Timestamp, until: Timestamp, now: Timestamp) -> String {
    let age = |time| human(now.duration_since(time).max(SignedDuration::ZERO));
    let (most, least) = (age(from), age(until));
    if least == most {
        most
    } else {
        format!("{}–{most}", without_same_unit(&least, &most))
    }
}

/// `27` of `27s`, if the other age is in the same unit alone.
fn without_same_unit<'l>(least: &'l str, most: &str) -> &'l str {
    let unit = |age: &str| {
        let digits = age.trim_end_matches(char::is_alphabetic);
        let is_one = digits.bytes().all(|byte| byte.is_ascii_digit());
        is_one.then(|| age[digits.len()..].to_owned())
    };
    match unit(least).filter(|own| unit(most).as_ref() == Some(own)) {
        Some(unit) => least.strip_suffix(&*unit).unwrap_or(least),
        None => least,
    }
}

/// The span from one version to the next: `+6s`, or `-3s` if the clock went back.
pub fn delta(span: SignedDuration) -> String {
    let sign = if span.as_secs() < 0 { '-' } else { '+' };
    let length = SignedDuration::try_from(span.unsigned_abs()).unwrap_or(SignedDuration::MAX);
    format!("{sign}{}", human(length))
}

/// The span since a start, with tenths below ten seconds: `+0.9s`, `+14s`, `+4m12s`.
pub fn since_start(span: SignedDuration) -> String {
    let tenths = span.as_millis() / 100;
    match tenths {
        0..100 => format!("+{}.{}s", tenths / 10, tenths % 10),
        _ => delta(span),
    }
}

/// The span since a start, as a running clock: `0:41`, `12:07`, `1:02:03`.
pub fn stopwatch(span: SignedDuration) -> String {
    let seconds = span.as_secs().max(0);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// The time of day, for live output: `14:02:07`.
pub fn clock(time: Timestamp, zone: &TimeZone) -> String {
    let local = zone.to_datetime(time);
    let mut clock = String::with_capacity(8);
    for number in [local.hour(), local.minute(), local.second()] {
        clock.push_str(if clock.is_empty() { "" } else { ":" });
        let number = number.unsigned_abs();
        clock.extend([b'0' + number / 10, b'0' + number % 10].map(char::from));
    }
    clock
}

/// The time of day, with the date unless that is the date of `now`: `14:02:07`, `11-21 14:02:07`. A time of the last twelve
/// hours has no date.
pub fn clock_since(time: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let clock = clock(time, zone);
    let local = zone.to_datetime(time);
    let is_near = now.duration_since(time).abs() < SignedDuration::from_hours(12);
    if is_near || zone.to_datetime(now).date() == local.date() {
        return clock;
    }
    format!("{:02}-{:02} {clock}", local.month(), local.day())
}

/// A time for logs and pipes, in RFC 3339 and UTC: `2026-11-21T14:02:14Z`.
pub fn rfc3339(time: Timestamp) -> String {
    format!("{:.0}", whole(time, 1_000_000_000))
}

/// A time for machines, in RFC 3339 and UTC with milliseconds: `2026-11-21T14:02:14.083Z`.
pub fn rfc3339_millis(time: Timestamp) -> String {
    format!("{:.3}", whole(time, 1_000_000))
}

/// A time for a line in a pipe, in RFC 3339 and UTC: `2026-11-21T14:02:14Z`. It has milliseconds if there are any.
pub fn rfc3339_brief(time: Timestamp) -> String {
    let millis = rfc3339_millis(time);
    match millis.strip_suffix(".000Z") {
        Some(seconds) => format!("{seconds}Z"),
        None => millis,
    }
}

/// Rounds a time down to a multiple of `unit` nanoseconds, so that no shown time is in the future.
fn whole(time: Timestamp, unit: i128) -> Timestamp {
    let nanoseconds = time.as_nanosecond();
    Timestamp::from_nanosecond(nanoseconds - nanoseconds.rem_euclid(unit)).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000;
    const MINUTE: i64 = 60 * SECOND;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    const YEAR: i64 = 365 * DAY;

    #[test]
    fn a_bound_is_rounded_up() {
        for (milliseconds, expect) in [
            (-1, "0s"),
            (0, "0s"),
            (1, "1s"),
            (3_698, "4s"),
            (4_000, "4s"),
            (2 * MINUTE - 1, "2m"),
            (10 * MINUTE - 1, "10m"),
            (10 * MINUTE + 1, "11m"),
            (3 * HOUR - 1, "3h"),
            (3 * HOUR + MINUTE, "3h1m"),
            (8 * HOUR + 1, "9h"),
            (2 * DAY + 1, "2d1h"),
            (8 * DAY + 1, "9d"),
        ] {
            let span = SignedDuration::from_millis(milliseconds);
            assert_eq!(at_most(span), expect, "{milliseconds} ms");
        }
    }

    #[test]
    fn ages_equal_those_of_kubectl() {
        let check = |milliseconds: i64, expect: &str| {
            let span = SignedDuration::from_millis(milliseconds);
            assert_eq!(human(span), expect, "{milliseconds} ms");
        };
        check(-2 * SECOND, "<invalid>");
        check(-2 * SECOND + 1, "0s");
        check(-1, "0s");
        check(0, "0s");
        check(SECOND - 1, "0s");
        check(70 * SECOND, "70s");
        check(2 * MINUTE - 1, "119s");
        check(2 * MINUTE, "2m");
        check(2 * MINUTE + SECOND, "2m1s");
        check(4 * MINUTE + 12 * SECOND, "4m12s");
        check(10 * MINUTE - 1, "9m59s");
        check(10 * MINUTE + SECOND, "10m");
        check(3 * HOUR - 1, "179m");
        check(3 * HOUR, "3h");
        check(3 * HOUR + MINUTE, "3h1m");
        check(8 * HOUR - 1, "7h59m");
        check(8 * HOUR + 59 * MINUTE, "8h");
        check(2 * DAY - 1, "47h");
        check(2 * DAY, "2d");
        check(2 * DAY + 3 * HOUR, "2d3h");
        check(8 * DAY - 1, "7d23h");
        check(8 * DAY + 23 * HOUR, "8d");
        check(41 * DAY, "41d");
        check(2 * YEAR - 1, "729d");
        check(2 * YEAR + 23 * HOUR, "2y");
        check(2 * YEAR + 35 * DAY, "2y35d");
        check(8 * YEAR - 1, "7y364d");
        check(8 * YEAR + 364 * DAY, "8y");
    }

    #[test]
    fn differences_have_a_sign() {
        let ms = SignedDuration::from_millis;
        assert_eq!(delta(ms(6_200)), "+6s");
        assert_eq!(delta(ms(0)), "+0s");
        assert_eq!(delta(ms(-3_000)), "-3s");
        assert_eq!(delta(ms(203_000)), "+3m23s");
        assert_eq!(delta(SignedDuration::MIN), "-292471208677y");
        assert_eq!(since_start(ms(0)), "+0.0s");
        assert_eq!(since_start(ms(949)), "+0.9s");
        assert_eq!(since_start(ms(9_999)), "+9.9s");
        assert_eq!(since_start(ms(14_900)), "+14s");
        assert_eq!(since_start(ms(-3_000)), "-3s");
        assert_eq!(stopwatch(ms(41_900)), "0:41");
        assert_eq!(stopwatch(ms(12 * MINUTE + 7 * SECOND)), "12:07");
        assert_eq!(stopwatch(ms(HOUR + 2 * MINUTE + 3 * SECOND)), "1:02:03");
        assert_eq!(stopwatch(ms(-5_000)), "0:00");
    }

    #[test]
    fn times_have_a_form_for_people_and_one_for_machines() {
        let time: Timestamp = "2026-11-21T14:02:14.9996Z"
            .parse()
            .expect("the text is valid");
        assert_eq!(rfc3339(time), "2026-11-21T14:02:14Z");
        assert_eq!(rfc3339_millis(time), "2026-11-21T14:02:14.999Z");
        assert_eq!(
            rfc3339_millis("2026-11-21T14:02:14Z".parse().expect("the text is valid")),
            "2026-11-21T14:02:14.000Z"
        );
        assert_eq!(clock(time, &TimeZone::UTC), "14:02:14");
        let east = TimeZone::fixed(jiff::tz::offset(9));
        assert_eq!(clock(time, &east), "23:02:14");
        assert_eq!(
            age(
                "2026-11-21T13:00:00Z".parse().expect("the text is valid"),
                time
            ),
            "62m"
        );
        assert_eq!(rfc3339(Timestamp::MIN), "-009999-01-02T01:59:59Z");
    }
}
