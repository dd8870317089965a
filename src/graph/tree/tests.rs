//! Tests of what is above and below others, against plain definitions, and on large graphs.

use proptest::prelude::*;

use super::*;
use crate::object::Doc;

/// A graph of these objects: the number of each and those of its owners.
fn graph(objects: impl IntoIterator<Item = (usize, Vec<usize>)>) -> Graph {
    let mut graph = Graph::default();
    for (number, owners) in objects {
        let owners: Vec<String> = owners
            .iter()
            .map(|of| format!(r#"{{"uid":"{of}"}}"#))
            .collect();
        let owners = owners.join(",");
        let text = format!(
            r#"{{"apiVersion":"example.com/v1","kind":"Foo","metadata":{{"uid":"{number}","name":"{number}","ownerReferences":[{owners}]}}}}"#
        );
        graph.apply(Doc::parse(&*text).expect("it is JSON").root());
    }
    graph
}

fn uid(number: usize) -> Uid {
    Uid::new(number.to_string())
}

/// Which objects are above which, by the definition.
fn is_above(edges: &[(usize, usize)], above: usize, below: usize) -> bool {
    let mut found = BTreeSet::from([below]);
    loop {
        let owners = edges.iter().filter(|(of, _)| found.contains(of));
        let owners: BTreeSet<usize> = owners.map(|(_, owner)| *owner).collect();
        if owners.contains(&above) {
            return true;
        }
        let known = found.len();
        found.extend(owners);
        if found.len() == known {
            return false;
        }
    }
}

proptest! {
    #[test]
    fn groups_and_tops_are_those_of_the_definition(
        edges in prop::collection::vec((0_usize..7, 0_usize..7), 0..14),
        asked in prop::collection::btree_set(0_usize..7, 0..7),
    ) {
        let owners = |of: usize| {
            let own = edges.iter().filter(move |(it, _)| *it == of);
            own.map(|(_, owner)| *owner).collect()
        };
        let graph = graph((0..7).map(|of| (of, owners(of))));
        let all: BTreeSet<Uid> = (0..7).map(uid).collect();
        let groups = graph.bottom_up(&all);
        prop_assert_eq!(groups.iter().map(BTreeSet::len).sum::<usize>(), 7);
        let place = |of: usize| groups.iter().position(|group| group.contains(&uid(of)));
        for one in 0..7 {
            for other in (0..7).filter(|other| *other != one) {
                let [over, under] = [(one, other), (other, one)]
                    .map(|(above, below)| is_above(&edges, above, below));
                prop_assert_eq!(place(one) == place(other), over && under);
                prop_assert!(!over || under || place(one) > place(other));
                let above = graph.with_above([&uid(other)]);
                prop_assert_eq!(above.contains(&uid(one)), over);
                let below = graph.with_below([&uid(one)]);
                prop_assert_eq!(below.contains(&uid(other)), over);
            }
        }
        let asked_uids: Vec<Uid> = asked.iter().map(|of| uid(*of)).collect();
        let tops: BTreeSet<Uid> = graph.tops(&asked_uids).into_iter().cloned().collect();
        for of in &asked {
            let mut others = asked.iter().filter(|other| *other != of);
            let covered = others.any(|other| tops.contains(&uid(*other)) && is_above(&edges, *other, *of));
            prop_assert!(tops.contains(&uid(*of)) || covered, "{} is not reached", of);
            let mut others = asked.iter().filter(|other| *other != of);
            let is_below = others.any(|other| is_above(&edges, *other, *of) && !is_above(&edges, *of, *other));
            prop_assert!(!is_below || !tops.contains(&uid(*of)), "{} is below another one", of);
        }
    }
}

/// The work grows with the number of objects and references, not with its square or cube.
#[test]
fn long_chains_cycles_and_cliques_are_ordered() {
    for count in [20_000, 20_001] {
        // Either a chain or a cycle.
        let last = if count % 2 == 0 {
            vec![]
        } else {
            vec![count - 1]
        };
        let owners = |of: usize| if of == 0 { last.clone() } else { vec![of - 1] };
        let graph = graph((0..count).map(|of| (of, owners(of))));
        let all = graph.with_below([&uid(0)]);
        assert_eq!(all.len(), count);
        let groups = graph.bottom_up(&all);
        assert_eq!(groups.len(), if count % 2 == 0 { count } else { 1 });
        assert_eq!(graph.tops(&all).len(), 1);
        assert_eq!(graph.ancestors(&uid(count - 1)).len(), count - 1);
    }
    let clique = graph((0..200).map(|of| (of, (0..200).collect())));
    assert_eq!(clique.bottom_up(&clique.with_above([&uid(7)])).len(), 1);
}
