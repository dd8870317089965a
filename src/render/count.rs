//! Formats counts with their nouns.

use std::fmt::Display;

/// `1 watch`, `2 watches`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(
    count: N,
    one: &str,
    many: &str,
) -> String {
    let word = if count == N::from(1) { one } else { many };
    format!("{count} {word}")
}

/// `1 change`, `25 changes`, `4,864 watches`.
pub fn plural(count: usize, unit: &str) -> String {
    let ending = match unit {
        _ if count == 1 => "",
        _ if unit.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{} {unit}{ending}", thousands(count))
}

/// A count with thousands separators: `4,864`.
pub fn thousands(count: usize) -> String {
    let mut digits = count.to_string();
    let mut at = digits.len();
    while at > 3 {
        at -= 3;
        digits.insert(at, ',');
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(thousands(number), text);
        }
    }

    #[test]
    fn a_unit_agrees_with_its_count() {
        let texts = [plural(1, "watch"), plural(2, "watch"), plural(1000, "line")];
        assert_eq!(texts, ["1 watch", "2 watches", "1,000 lines"]);
    }
}
