//! `ScheduleSearch`: the search for the next start of a schedule. Where clocks change, its result is that of robfig/cron, step by
//! step: a start in the skipped hour is left out, and one in the repeated hour happens twice.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};

use super::field::Fields;

/// How many years are searched.
const MAX_YEARS: i16 = 5;

const HOUR: SignedDuration = SignedDuration::from_hours(1);
const MINUTE: SignedDuration = SignedDuration::from_mins(1);

/// A moment that moves forward, field by field, until all fields match.
pub(super) struct ScheduleSearch {
    time: Timestamp,
    zone: TimeZone,
    /// Whether it has moved. The first move goes to the beginning of a month, day, hour or minute.
    has_moved: bool,
}

/// Whether a field matches now.
enum FieldMatch {
    Yes,
    /// The field has started from its lowest number again, so that larger fields are to be checked again.
    Wrapped,
}

impl ScheduleSearch {
    /// Starts in the second after a time.
    pub(super) fn after(time: Timestamp, zone: TimeZone) -> Option<ScheduleSearch> {
        let second = time.as_millisecond().div_euclid(1000) + 1;
        Some(ScheduleSearch {
            time: Timestamp::from_second(second).ok()?,
            zone,
            has_moved: false,
        })
    }

    /// The first time at which all fields match; `None` if there is none in the next years.
    pub(super) fn run(mut self, fields: &Fields) -> Option<Timestamp> {
        if [fields.minutes, fields.hours, fields.months].contains(&0) {
            return None; // an empty field (`,`) never matches
        }
        let last_year = self.local().year().checked_add(MAX_YEARS)?;
        while self.local().year() <= last_year {
            let is_found = matches!(self.month(fields)?, FieldMatch::Yes)
                && matches!(self.day(fields)?, FieldMatch::Yes)
                && matches!(self.hour(fields)?, FieldMatch::Yes)
                && matches!(self.minute(fields)?, FieldMatch::Yes);
            if is_found && self.local().second() == 0 {
                return Some(self.time);
            }
            if is_found {
                self.has_moved = true;
                let rest = 60 - i64::from(self.local().second());
                self.add(SignedDuration::from_secs(rest))?;
            }
        }
        None
    }

    fn month(&mut self, fields: &Fields) -> Option<FieldMatch> {
        while !has(fields.months, self.local().month()) {
            let local = self.local();
            if !self.has_moved {
                self.move_to(local.date().first_of_month().to_datetime(MIDNIGHT))?;
            }
            let local = self.local();
            let next = local.date().first_of_month().checked_add(1.month()).ok()?;
            let date = next.checked_add((i64::from(local.day()) - 1).days()).ok()?;
            self.move_to(date.to_datetime(local.time()))?;
            if self.local().month() == 1 {
                return Some(FieldMatch::Wrapped);
            }
        }
        Some(FieldMatch::Yes)
    }

    fn day(&mut self, fields: &Fields) -> Option<FieldMatch> {
        while !fields.has_day(self.local().date()) {
            if !self.has_moved {
                self.move_to(self.local().date().to_datetime(MIDNIGHT))?;
            }
            self.move_to(self.local().checked_add(1.day()).ok()?)?;
            self.correct_midnight()?;
            if self.local().day() == 1 {
                return Some(FieldMatch::Wrapped);
            }
        }
        Some(FieldMatch::Yes)
    }

    /// Goes to midnight, if clocks change there.
    fn correct_midnight(&mut self) -> Option<()> {
        let hour = i64::from(self.local().hour());
        let hours = if hour > 12 { 24 - hour } else { -hour };
        self.add(SignedDuration::from_hours(hours))
    }

    fn hour(&mut self, fields: &Fields) -> Option<FieldMatch> {
        while !has(fields.hours, self.local().hour()) {
            if !self.has_moved {
                let local = self.local();
                self.move_to(local.date().at(local.hour(), 0, 0, 0))?;
            }
            self.add(HOUR)?;
            if self.local().hour() == 0 {
                return Some(FieldMatch::Wrapped);
            }
        }
        Some(FieldMatch::Yes)
    }

    fn minute(&mut self, fields: &Fields) -> Option<FieldMatch> {
        while !has(fields.minutes, self.local().minute()) {
            if !self.has_moved {
                self.has_moved = true;
                let seconds = self.time.as_second().rem_euclid(60);
                self.add(SignedDuration::from_secs(-seconds))?;
            }
            self.add(MINUTE)?;
            if self.local().minute() == 0 {
                return Some(FieldMatch::Wrapped);
            }
        }
        Some(FieldMatch::Yes)
    }

    fn local(&self) -> DateTime {
        self.zone.to_datetime(self.time)
    }

    fn add(&mut self, duration: SignedDuration) -> Option<()> {
        self.time = self.time.checked_add(duration).ok()?;
        Some(())
    }

    /// Goes to the moment that Go takes for a local time: if there is none, to one before or after the skipped hour.
    fn move_to(&mut self, local: DateTime) -> Option<()> {
        self.has_moved = true;
        let as_utc = TimeZone::UTC.to_timestamp(local).ok()?;
        let guess = self.zone.to_offset(as_utc).to_timestamp(local).ok()?;
        self.time = self.zone.to_offset(guess).to_timestamp(local).ok()?;
        Some(())
    }
}

const MIDNIGHT: jiff::civil::Time = jiff::civil::Time::midnight();

impl Fields {
    fn has_day(&self, date: Date) -> bool {
        let day = has(self.days, date.day());
        let weekday = has(self.weekdays, date.weekday().to_sunday_zero_offset());
        if self.needs_both_days {
            day && weekday
        } else {
            day || weekday
        }
    }
}

fn has(set: u64, number: i8) -> bool {
    u32::try_from(number).is_ok_and(|number| set & (1 << number) != 0)
}
