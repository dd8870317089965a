//! `Schedule`: a cron schedule, as the `CronJob` controller reads it
//! (<https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#schedule-syntax>).

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

/// The starts of a schedule: sets of minutes, hours, days of the month, months and days of the week. Bit `n` of a
/// set stands for the number `n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    minutes: u64,
    hours: u64,
    days: DaySet,
    months: u64,
    weekdays: DaySet,
}

/// A set of days. An unrestricted one (`*`) leaves the choice to the other set of days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DaySet {
    days: u64,
    is_any: bool,
}

/// The range of a field, and the names of its numbers, from the lowest one.
struct FieldRange {
    lowest: u32,
    highest: u32,
    names: &'static [&'static str],
}

const MINUTES: FieldRange = FieldRange {
    lowest: 0,
    highest: 59,
    names: &[],
};
const HOURS: FieldRange = FieldRange {
    lowest: 0,
    highest: 23,
    names: &[],
};
const DAYS: FieldRange = FieldRange {
    lowest: 1,
    highest: 31,
    names: &[],
};
const MONTHS: FieldRange = FieldRange {
    lowest: 1,
    highest: 12,
    names: &[
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ],
};
const WEEKDAYS: FieldRange = FieldRange {
    lowest: 0,
    highest: 6,
    names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
};

/// How many days are searched for the next start: leap years may be eight years apart.
const MAX_DAYS: usize = 8 * 366 + 1;

impl Schedule {
    /// Parses five fields, or a name such as `@daily`; `None` for anything else.
    pub(super) fn parse(text: &str) -> Option<Schedule> {
        let text = match text.trim() {
            "@yearly" | "@annually" => "0 0 1 1 *",
            "@monthly" => "0 0 1 * *",
            "@weekly" => "0 0 * * 0",
            "@daily" | "@midnight" => "0 0 * * *",
            "@hourly" => "0 * * * *",
            text => text,
        };
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minutes, hours, days, months, weekdays] = fields[..] else {
            return None;
        };
        Some(Schedule {
            minutes: MINUTES.set(minutes)?,
            hours: HOURS.set(hours)?,
            days: DAYS.days(days)?,
            months: MONTHS.set(months)?,
            weekdays: WEEKDAYS.days(weekdays)?,
        })
    }

    /// The first start after a time.
    pub(super) fn next(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let local = zone.to_datetime(after);
        let mut date = local.date();
        for _ in 0..MAX_DAYS {
            if self.has_day(date) {
                let starts = self.times(date);
                let starts = starts.filter_map(|start| zone.to_timestamp(start).ok());
                let found = starts.into_iter().find(|start| *start > after);
                if found.is_some() {
                    return found;
                }
            }
            date = date.checked_add(1.day()).ok()?;
        }
        None
    }

    /// If both sets of days are restricted, a day of either matches.
    fn has_day(&self, date: Date) -> bool {
        let day = has(self.days.days, date.day());
        let weekday = has(self.weekdays.days, date.weekday().to_sunday_zero_offset());
        let is_in_month = has(self.months, date.month());
        is_in_month
            && if self.days.is_any || self.weekdays.is_any {
                day && weekday
            } else {
                day || weekday
            }
    }

    /// The starts of a day by the local clock.
    fn times(&self, date: Date) -> impl Iterator<Item = DateTime> + use<> {
        let (hours, minutes) = (self.hours, self.minutes);
        let hours = (0..24_i8).filter(move |hour| has(hours, *hour));
        hours.flat_map(move |hour| {
            let minutes = (0..60_i8).filter(move |minute| has(minutes, *minute));
            minutes.map(move |minute| date.at(hour, minute, 0, 0))
        })
    }
}

fn has(set: u64, number: i8) -> bool {
    u32::try_from(number).is_ok_and(|number| set & (1 << number) != 0)
}

impl FieldRange {
    fn days(&self, field: &str) -> Option<DaySet> {
        Some(DaySet {
            days: self.set(field)?,
            is_any: matches!(field, "*" | "?"),
        })
    }

    /// The numbers of a field: ranges with steps, joined by commas.
    fn set(&self, field: &str) -> Option<u64> {
        let mut set = 0;
        for part in field.split(',') {
            let (range, step) = match part.split_once('/') {
                Some((range, step)) => (range, Some(step.parse::<u32>().ok()?)),
                None => (part, None),
            };
            let (low, high) = match (range, range.split_once('-')) {
                ("*" | "?", _) => (self.lowest, self.highest),
                (_, Some((low, high))) => (self.number(low)?, self.number(high)?),
                (single, None) => {
                    let low = self.number(single)?;
                    // `5/10` is every tenth number from 5 on.
                    (low, step.map_or(low, |_| self.highest))
                }
            };
            if low > high || step == Some(0) {
                return None;
            }
            let numbers = (low..=high).step_by(step.unwrap_or(1) as usize);
            set |= numbers.fold(0, |set, number| set | 1 << number);
        }
        Some(set)
    }

    fn number(&self, text: &str) -> Option<u32> {
        let name = text.to_ascii_lowercase();
        let named = self.names.iter().position(|known| *known == name);
        let number = match named {
            Some(at) => self.lowest + u32::try_from(at).ok()?,
            None => text.parse().ok()?,
        };
        (self.lowest..=self.highest)
            .contains(&number)
            .then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_start_follows_the_schedule() {
        let check = |schedule: &str, after: &str| {
            let schedule = Schedule::parse(schedule).expect("a schedule");
            let after = after.parse().expect("a time");
            let next = schedule.next(after, &TimeZone::UTC);
            next.map_or("never".to_owned(), |next| next.to_string())
        };
        // 2026-05-04 is a Monday.
        let cases = [
            (
                "*/5 * * * *",
                "2026-05-04T12:03:20Z",
                "2026-05-04T12:05:00Z",
            ),
            (
                "*/5 * * * *",
                "2026-05-04T12:05:00Z",
                "2026-05-04T12:10:00Z",
            ),
            ("30 6 * * *", "2026-05-04T12:00:00Z", "2026-05-05T06:30:00Z"),
            (
                "0 0 * * MON-FRI",
                "2026-05-08T12:00:00Z",
                "2026-05-11T00:00:00Z",
            ),
            ("0 0 13 * 5", "2026-05-04T12:00:00Z", "2026-05-08T00:00:00Z"),
            ("0 0 29 2 *", "2026-05-04T12:00:00Z", "2028-02-29T00:00:00Z"),
            (
                "5/20 8-10 1,15 * ?",
                "2026-05-04T12:00:00Z",
                "2026-05-15T08:05:00Z",
            ),
            ("@weekly", "2026-05-04T12:00:00Z", "2026-05-10T00:00:00Z"),
            ("0 0 30 feb *", "2026-05-04T12:00:00Z", "never"),
        ];
        for (schedule, after, next) in cases {
            assert_eq!(check(schedule, after), next, "{schedule}");
        }
    }

    #[test]
    fn other_texts_are_no_schedules() {
        for text in [
            "",
            "* * * *",
            "60 * * * *",
            "*/0 * * * *",
            "5-1 * * * *",
            "@every 1h",
            "TZ=UTC * * * * *",
        ] {
            assert_eq!(Schedule::parse(text), None, "{text}");
        }
    }
}
