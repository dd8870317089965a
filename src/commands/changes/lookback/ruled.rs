//! `ruled`: lays out the parts of a divider.

use crate::render::text::width;

/// Puts the parts on lines of at most `columns`. A part that is longer continues on the next line.
pub(super) fn ruled(parts: &[String], columns: Option<usize>) -> Vec<String> {
    let rule = |parts: &[String]| format!("── {} ──", parts.join(" · "));
    let fits = |parts: &[String]| columns.is_none_or(|columns| width(&rule(parts)) <= columns);
    let whole = |part: &str| fits(&[part.to_owned()]);
    let parts = parts.iter().flat_map(|part| {
        let (first, rest) = split_to_fit(part, whole);
        [Some(first), rest].into_iter().flatten()
    });
    let parts: Vec<String> = parts.collect();
    let mut lines = Vec::new();
    let mut start = 0;
    for end in 1..=parts.len() {
        if end == parts.len() || !fits(&parts[start..=end]) {
            lines.push(rule(&parts[start..end]));
            start = end;
        }
    }
    lines
}

/// Splits a part that does not fit after its last phrase that does.
fn split_to_fit(part: &str, fits: impl Fn(&str) -> bool) -> (String, Option<String>) {
    let ends = [", ", ": "].into_iter().filter_map(|end| {
        let ends = part.match_indices(end).filter(|(at, _)| fits(&part[..*at]));
        let (at, end) = ends.last()?;
        Some((at, at + end.len()))
    });
    match ends.max().filter(|_| !fits(part)) {
        Some((at, next)) => (part[..at].to_owned(), Some(part[next..].to_owned())),
        None => (part.to_owned(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_divider_wraps_between_its_parts() {
        let parts = ["live since now", "2 versions", "all"].map(str::to_owned);
        let check = |columns, expected: &[&str]| assert_eq!(ruled(&parts, columns), expected);
        let whole = "── live since now · 2 versions · all ──";
        check(None, &[whole]);
        check(Some(39), &[whole]);
        check(
            Some(38),
            &["── live since now · 2 versions ──", "── all ──"],
        );
        check(
            Some(30),
            &["── live since now ──", "── 2 versions · all ──"],
        );
        check(
            Some(1),
            &["── live since now ──", "── 2 versions ──", "── all ──"],
        );
    }
}
