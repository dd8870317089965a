//! `Fields`: the five fields of a schedule.

/// Sets of minutes, hours, days of the month, months and days of the week. Bit `n` of a set stands for the number `n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) minutes: u64,
    pub(super) hours: u64,
    pub(super) days: u64,
    pub(super) months: u64,
    pub(super) weekdays: u64,
    /// Whether a day must be in both sets of days, because one of them has a star. Otherwise one of the sets is enough.
    pub(super) needs_both_days: bool,
}

impl Fields {
    /// Parses the fields, which white space separates.
    pub(super) fn parse(text: &str) -> Option<Fields> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minutes, hours, days, months, weekdays] = fields[..] else {
            return None;
        };
        let (days, weekdays) = (DAYS.set(days)?, WEEKDAYS.set(weekdays)?);
        Some(Fields {
            minutes: MINUTES.set(minutes)?.numbers,
            hours: HOURS.set(hours)?.numbers,
            days: days.numbers,
            months: MONTHS.set(months)?.numbers,
            weekdays: weekdays.numbers,
            needs_both_days: days.has_star || weekdays.has_star,
        })
    }
}

/// The numbers of a field.
#[derive(Clone, Copy, Default)]
struct NumberSet {
    numbers: u64,
    /// Whether a part of the field is a star or a question mark, with no step other than 1.
    has_star: bool,
}

/// The range of a field, and the names of its numbers, from the lowest one.
struct FieldRange {
    lowest: u64,
    highest: u64,
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

impl FieldRange {
    /// The numbers of a field: parts, joined by commas. An empty part adds nothing.
    fn set(&self, field: &str) -> Option<NumberSet> {
        let mut set = NumberSet::default();
        for part in field.split(',').filter(|part| !part.is_empty()) {
            let part = self.part(part)?;
            set.numbers |= part.numbers;
            set.has_star |= part.has_star;
        }
        Some(set)
    }

    /// The numbers of a part: a number or a range, and perhaps a step.
    fn part(&self, part: &str) -> Option<NumberSet> {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(number(step)?)),
            None => (part, None),
        };
        let (first, last) = match range.split_once('-') {
            Some((first, last)) => (first, Some(last)),
            None => (range, None),
        };
        let is_star = matches!(first, "*" | "?");
        let (low, high) = match (is_star, last) {
            // The library ignores what follows: `*-5` is `*`.
            (true, _) => (self.lowest, self.highest),
            (false, Some(last)) => (self.number(first)?, self.number(last)?),
            // `5/10` is every tenth number from 5 on.
            (false, None) => {
                let low = self.number(first)?;
                (low, step.map_or(low, |_| self.highest))
            }
        };
        let step = step.unwrap_or(1);
        if low < self.lowest || high > self.highest || low > high || step == 0 {
            return None;
        }
        let numbers = (low..=high).filter(|number| (number - low) % step == 0);
        Some(NumberSet {
            numbers: numbers.fold(0, |set, number| set | 1 << number),
            has_star: is_star && step == 1,
        })
    }

    fn number(&self, text: &str) -> Option<u64> {
        let name = text.to_ascii_lowercase();
        let mut named = (self.lowest..).zip(self.names);
        let named = named.find(|(_, known)| **known == name);
        named.map_or_else(|| number(text), |(number, _)| Some(number))
    }
}

/// A number that Go's `int` has room for.
fn number(text: &str) -> Option<u64> {
    text.parse::<i64>().ok()?.try_into().ok()
}
