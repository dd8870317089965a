//! Short names of clusters: without what the names of all contexts have in common.

/// The characters at which a name can be cut.
const JOINTS: [char; 6] = ['-', '_', '/', '.', ':', '@'];

/// The names without their common beginning and end: `eu` and `us` of `prod-eu` and `prod-us`. Names are cut only at a joint,
/// and a letter is left of each: `1` says nothing about `edge-1`. The labels are in the order of the names, and differ if the names do.
pub(super) fn cluster_labels(names: &[&str]) -> Vec<String> {
    if names.len() < 2 {
        return names.iter().map(|&name| name.to_owned()).collect();
    }
    let beginning = common_beginning(names);
    let rests: Vec<&str> = names.iter().map(|name| &name[beginning..]).collect();
    let end = common_end(&rests);
    let labels = rests.iter().map(|rest| rest[..rest.len() - end].to_owned());
    labels.collect()
}

/// How many bytes all names begin with, up to a joint.
fn common_beginning(names: &[&str]) -> usize {
    let first = names.first().copied().unwrap_or_default();
    let joints = first
        .match_indices(JOINTS)
        .map(|(at, joint)| at + joint.len());
    let is_common = |at: &usize| {
        let beginning = &first[..*at];
        let mut names = names.iter();
        names.all(|name| name.strip_prefix(beginning).is_some_and(has_letter))
    };
    joints.take_while(is_common).last().unwrap_or_default()
}

/// How many bytes all names end with, from a joint on.
fn common_end(names: &[&str]) -> usize {
    let first = names.first().copied().unwrap_or_default();
    let joints = first.rmatch_indices(JOINTS).map(|(at, _)| &first[at..]);
    let is_common = |end: &&str| {
        let mut names = names.iter();
        names.all(|name| name.strip_suffix(end).is_some_and(has_letter))
    };
    let longest = joints.take_while(is_common).last();
    longest.map_or(0, str::len)
}

fn has_letter(label: &str) -> bool {
    label.contains(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(names: &str, expect: &str) {
        let names: Vec<&str> = names.split(' ').collect();
        assert_eq!(cluster_labels(&names).join(" "), expect, "{names:?}");
    }

    #[test]
    fn what_all_names_have_in_common_is_cut_at_a_joint() {
        for (names, expect) in [
            ("prod-eu prod-us", "eu us"),
            ("prod-eu-1 prod-us-1 prod-asia-1", "eu us asia"),
            ("edge-1 edge-2", "edge-1 edge-2"),
            ("prod-edge-1 prod-edge-2", "edge-1 edge-2"),
            ("1-edge 2-edge", "1-edge 2-edge"),
            ("eu.prod.example us.prod.example", "eu us"),
            ("admin@a admin@b", "a b"),
            ("team/x:8443 team/y:8443", "x y"),
            (
                "arn:aws:eks:eu-west-1:12:cluster/main arn:aws:eks:us-east-2:12:cluster/main",
                "eu-west-1 us-east-2",
            ),
            ("gke_acme_zone_a gke_acme_zone_b", "a b"),
            // Two different names begin with the same letters.
            ("production processing", "production processing"),
            ("prod-east prod-eu", "east eu"),
            ("kind minikube", "kind minikube"),
        ] {
            check(names, expect);
        }
    }

    #[test]
    fn something_is_left_of_each_name() {
        for (names, expect) in [
            ("prod", "prod"),
            ("prod prod-eu", "prod prod-eu"),
            ("prod-eu eu", "prod-eu eu"),
            ("prod- prod-eu", "prod- prod-eu"),
            ("a-b a-b-c", "b b-c"),
            ("a-x-b a-b", "x-b b"),
            ("p--a p-b-a", "-a b-a"),
            ("ä-ö-ü ä-é-ü", "ö é"),
        ] {
            check(names, expect);
        }
    }
}
