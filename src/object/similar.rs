//! Finds the names that resemble a misspelled one.

use std::collections::BTreeMap;

/// How many names are suggested.
const OFFERED: usize = 5;

/// The `candidates` that resemble `wanted`: at most five, the nearest first.
///
/// Two names resemble each other if at most a third of the letters of `wanted` must change. Generated names
/// continue after a part that resembles `wanted`; they come last. One letter is too short for that, and nothing resembles an
/// empty text.
pub fn near<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let letters: Vec<char> = wanted.chars().collect();
    if letters.is_empty() {
        return Vec::new();
    }
    let allowed = (letters.len() + 1) / 3;
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for candidate in candidates {
        let other: Vec<char> = candidate.chars().collect();
        let start = &other[..letters.len().min(other.len())];
        let whole = distance(&letters, &other);
        let started = 1 + distance(&letters, start);
        if whole <= allowed {
            found.insert(candidate, whole);
        } else if letters.len() > 1 && started <= 1 + allowed && other.len() > letters.len() {
            found.insert(candidate, allowed + started);
        }
    }
    let mut ranked: Vec<(usize, &str)> =
        found.into_iter().map(|(name, rank)| (rank, name)).collect();
    ranked.sort_unstable();
    let names = ranked.into_iter().take(OFFERED);
    names.map(|(_, name)| name.to_owned()).collect()
}

/// How many letters must be added, removed, changed or swapped with their neighbour (the optimal string alignment
/// distance).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(last.len());
        row.push(i + 1);
        for (j, &y) in b.iter().enumerate() {
            let changed = last[j] + usize::from(x != y);
            let mut best = changed.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && x == b[j - 1] && a[i - 1] == y {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn near_names_come_nearest_first() {
        let names = [
            "web",
            "web-canary",
            "wb",
            "api",
            "job",
            "web-5d4f8c7b9d-mzt4c",
        ];
        assert_eq!(
            near("wbe", names),
            ["wb", "web", "web-5d4f8c7b9d-mzt4c", "web-canary"]
        );
        assert_eq!(
            near("deployemnts", ["deployments", "daemonsets"]),
            ["deployments"]
        );
        assert_eq!(near("zzz", names), Vec::<String>::new());
        assert_eq!(near("x", ["a", "b"]), Vec::<String>::new());
        assert_eq!(near("", ["a", "svc"]), Vec::<String>::new());
        assert_eq!(near("a", ["apiservice"]), Vec::<String>::new());
        assert_eq!(near("aa", ["ab", "ac", "ad", "ae", "af", "ag"]).len(), 5);
    }

    fn letters(text: &str) -> Vec<char> {
        text.chars().collect()
    }

    #[test]
    fn swapped_neighbours_count_once() {
        let check = |a: &str, b: &str| distance(&letters(a), &letters(b));
        assert_eq!(check("", ""), 0);
        assert_eq!(check("", "abc"), 3);
        assert_eq!(check("wbe", "web"), 1);
        assert_eq!(check("kitten", "sitting"), 3);
        assert_eq!(check("svc", "svcs"), 1);
    }

    proptest! {
        #[test]
        fn distance_is_symmetric_and_bounded(a in "[abc]{0,8}", b in "[abc]{0,8}") {
            let (a, b) = (letters(&a), letters(&b));
            let there = distance(&a, &b);
            prop_assert_eq!(there, distance(&b, &a));
            prop_assert!(there <= a.len().max(b.len()));
            prop_assert!(there >= a.len().abs_diff(b.len()));
            prop_assert_eq!(there == 0, a == b);
        }
    }
}
