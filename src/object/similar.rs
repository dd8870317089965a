//! Finds the names that resemble a misspelled one.

use std::collections::BTreeMap;

use strsim::osa_distance;

/// How many names are suggested.
const OFFERED: usize = 5;

/// The `candidates` that resemble `wanted`: at most five, the nearest first.
///
/// Two names resemble each other if at most a third of the letters of `wanted` must change. Generated names
/// continue after a part that resembles `wanted`; they come last. One letter is too short for that, and nothing resembles an
/// empty text.
pub fn near<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let letters = wanted.chars().count();
    if letters == 0 {
        return Vec::new();
    }
    let allowed = (letters + 1) / 3;
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for candidate in candidates {
        let whole = osa_distance(wanted, candidate);
        if whole <= allowed {
            found.insert(candidate, whole);
            continue;
        }
        let Some((end, _)) = candidate.char_indices().nth(letters) else {
            continue;
        };
        let started = 1 + osa_distance(wanted, &candidate[..end]);
        if letters > 1 && started <= 1 + allowed {
            found.insert(candidate, allowed + started);
        }
    }
    let mut ranked: Vec<(usize, &str)> =
        found.into_iter().map(|(name, rank)| (rank, name)).collect();
    ranked.sort_unstable();
    let names = ranked.into_iter().take(OFFERED);
    names.map(|(_, name)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(near("wéb", ["wéb-1", "wbé"]), ["wbé", "wéb-1"]);
        assert_eq!(near("zzz", names), Vec::<String>::new());
        assert_eq!(near("x", ["a", "b"]), Vec::<String>::new());
        assert_eq!(near("", ["a", "svc"]), Vec::<String>::new());
        assert_eq!(near("a", ["apiservice"]), Vec::<String>::new());
        assert_eq!(near("aa", ["ab", "ac", "ad", "ae", "af", "ag"]).len(), 5);
    }
}
