//! Tests of [`Schedule`]. The reference is what robfig/cron says of random schedules: `tests/e2e/cron` makes it.

use jiff::Timestamp;

use super::{Schedule, ScheduleError};

const REFERENCE: &str = include_str!("reference.tsv");

/// The next starts, in the form of the reference: the first in seconds since 1970, each other one in seconds since the one before.
fn starts(schedule: &str, zone: &str, from: &str) -> String {
    let schedule = match Schedule::parse(schedule, Some(zone).filter(|zone| !zone.is_empty())) {
        Ok(schedule) => schedule,
        Err(ScheduleError::UnknownTimeZone) => return "zone".to_owned(),
        Err(ScheduleError::Unparseable) => return "error".to_owned(),
        Err(ScheduleError::NoTimeZones) => panic!("this machine has no database of time zones"),
    };
    let from = from.parse().expect("seconds");
    let mut last = Timestamp::from_second(from).expect("a time");
    let mut before = 0;
    let mut starts = Vec::new();
    for _ in 0..4 {
        let Some(start) = schedule.next(last) else {
            starts.push("never".to_owned());
            break;
        };
        starts.push((start.as_second() - before).to_string());
        (before, last) = (start.as_second(), start);
    }
    starts.join(" ")
}

#[test]
fn random_schedules_start_when_the_controller_starts_them() {
    let mut wrong = Vec::new();
    for line in REFERENCE.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [schedule, zone, from, expect] = fields[..] else {
            panic!("{line}");
        };
        let schedule: String = serde_json::from_str(schedule).expect("a JSON string");
        let starts = starts(&schedule, zone, from);
        if starts != expect {
            wrong.push(format!("{line}\n  not {starts}"));
        }
    }
    assert_eq!(REFERENCE.lines().count(), 3000);
    let examples = &wrong[..wrong.len().min(20)];
    assert!(
        wrong.is_empty(),
        "{}:\n{}",
        wrong.len(),
        examples.join("\n")
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of schedules")]
fn the_next_start_follows_the_schedule() {
    let check = |schedule: &str, after: &str| {
        let schedule = Schedule::parse(schedule, None).expect("a schedule");
        let next = schedule.next(after.parse().expect("a time"));
        next.map_or("never".to_owned(), |next| next.to_string())
    };
    // 2026-05-04 is a Monday.
    let cases = [
        (
            "*/5 * * * *",
            "2026-05-04T12:03:20.5Z",
            "2026-05-04T12:05:00Z",
        ),
        (
            "*/5 * * * *",
            "2026-05-04T12:05:00Z",
            "2026-05-04T12:10:00Z",
        ),
        (
            "0 0 * * MON-FRI",
            "2026-05-08T12:00:00Z",
            "2026-05-11T00:00:00Z",
        ),
        // Both days are restricted: one is enough.
        ("0 0 13 * 5", "2026-05-04T12:00:00Z", "2026-05-08T00:00:00Z"),
        // A star, alone or in a list, with no step or the step 1: any day.
        (
            "0 0 */1 * 1",
            "2026-05-04T12:00:00Z",
            "2026-05-11T00:00:00Z",
        ),
        (
            "0 0 ?/1 * 1",
            "2026-05-04T12:00:00Z",
            "2026-05-11T00:00:00Z",
        ),
        (
            "0 0 7,* * 1",
            "2026-05-04T12:00:00Z",
            "2026-05-11T00:00:00Z",
        ),
        (
            "0 0 7 * */1",
            "2026-05-04T12:00:00Z",
            "2026-05-07T00:00:00Z",
        ),
        (
            "0 0 */2 * 1",
            "2026-05-04T12:00:00Z",
            "2026-05-05T00:00:00Z",
        ),
        ("0 0 29 2 *", "2026-05-04T12:00:00Z", "2028-02-29T00:00:00Z"),
        ("0 0 30 feb *", "2026-05-04T12:00:00Z", "never"),
        ("0 0 29 2 *", "2096-02-29T12:00:00Z", "never"),
        (
            "@every 90m",
            "2026-05-04T12:00:00.7Z",
            "2026-05-04T13:30:00Z",
        ),
        (
            "TZ=Asia/Tokyo 0 3 * * *",
            "2026-05-04T12:00:00Z",
            "2026-05-04T18:00:00Z",
        ),
    ];
    for (schedule, after, next) in cases {
        assert_eq!(check(schedule, after), next, "{schedule}");
    }
}
