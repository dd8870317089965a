//! Formats counts with their nouns.

/// `1 change`, `25 changes`, `4,864 watches`, `2 ingresses`, `3 networkpolicies`.
pub fn plural(count: usize, unit: &str) -> String {
    let count_text = thousands(count);
    let stem = unit.strip_suffix('y');
    let stem = stem.filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    match (count, stem) {
        (1, _) => format!("{count_text} {unit}"),
        (_, Some(stem)) => format!("{count_text} {stem}ies"),
        _ if unit.ends_with("ch") || unit.ends_with('s') => format!("{count_text} {unit}es"),
        _ => format!("{count_text} {unit}s"),
    }
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

/// A size: `812 B`, `38.1 MiB`.
pub fn bytes(count: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    let mut unit = "B";
    let mut tenths = u128::from(count) * 10;
    for larger in units {
        if tenths < 10240 {
            break;
        }
        (tenths, unit) = (tenths / 1024, larger);
    }
    match unit {
        "B" => format!("{count} B"),
        unit => format!("{}.{} {unit}", tenths / 10, tenths % 10),
    }
}

/// The most parts that are named.
const MAX_NAMED: usize = 3;

/// `deployments.apps,pods`, `5 types`: these names, or their number.
pub fn named_or_counted<'n>(
    names: impl ExactSizeIterator<Item = &'n str>,
    noun_of_many: &str,
) -> String {
    match names.len() {
        ..=MAX_NAMED => names.collect::<Vec<_>>().join(","),
        count => format!("{count} {noun_of_many}"),
    }
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
    fn a_size_has_the_largest_unit() {
        for (count, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (40_000_000, "38.1 MiB"),
            (u64::MAX, "16777215.9 TiB"),
        ] {
            assert_eq!(bytes(count), text);
        }
    }

    #[test]
    fn a_unit_agrees_with_its_count() {
        for (count, unit, text) in [
            (1, "watch", "1 watch"),
            (2, "watch", "2 watches"),
            (1000, "line", "1,000 lines"),
            (3, "networkpolicy", "3 networkpolicies"),
            (2, "ingress", "2 ingresses"),
            (2, "key", "2 keys"),
        ] {
            assert_eq!(plural(count, unit), text);
        }
    }
}
