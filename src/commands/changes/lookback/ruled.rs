//! `ruled`: lays out the parts of a divider.

use crate::render::text::width;

/// The most columns of a line without a terminal.
const USUAL: usize = 120;

/// Puts the parts on lines of at most `columns`. A part that is longer continues on the next line, if there is a terminal.
pub(super) fn ruled(parts: &[String], columns: Option<usize>) -> Vec<String> {
    let rule = |parts: &[String]| format!("── {} ──", parts.join(" · "));
    let room = columns.unwrap_or(USUAL);
    let fits = |parts: &[String]| width(&rule(parts)) <= room;
    let whole = |part: &str| fits(&[part.to_owned()]);
    let parts = parts.iter().flat_map(|part| {
        let (first, rest) = match columns {
            Some(_) => split_to_fit(part, whole),
            None => (part.clone(), None),
        };
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
        let long = ["a".repeat(100), "b, c".repeat(40), "d".to_owned()];
        let lines = long.clone().map(|part| format!("── {part} ──"));
        assert_eq!(ruled(&long, None), lines);
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
