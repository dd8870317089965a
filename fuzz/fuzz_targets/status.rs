//! Any objects: each is assessed without a panic and with the same result every time. The graph of the
//! objects is consistent in whatever order they are added and removed. The input is JSON values, one after
//! the other.

#![no_main]

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use kubectl_spy::graph::{Graph, Links, Tier, TraceReach, backends, pod_owner_sources, walk};
use kubectl_spy::object::{Doc, ObjectRef, ServedTypes, Uid};
use kubectl_spy::render::outline::{Outline, OutlineItem, OutlineSpace};
use kubectl_spy::render::style::{Look, Role, Styles, Symbols};
use kubectl_spy::render::table::{Cell, Column, Fit};
use kubectl_spy::source::ClusterId;
use kubectl_spy::status::{Row, Rules, Status, causes, compute, review_at};
use kubectl_spy::watch;
use kubectl_spy_fuzz::mutate;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let (objects, _) = watch::documents_by_line(text);
    let objects: Vec<Doc> = objects.into_iter().map(|(_, object)| object).collect();
    let now = Timestamp::constant(1_767_323_045, 0);
    for object in &objects {
        assess(object, now);
    }
    relate(&objects);
});

fn assess(object: &Doc, now: Timestamp) {
    let root = object.root();
    for rules in [Rules::Spy, Rules::Kstatus] {
        let verdict = compute(root, now, rules);
        assert_eq!(verdict, compute(root, now, rules));
        assert_eq!(
            verdict.error.is_some(),
            verdict.status == Status::Unknown,
            "{verdict:?}"
        );
        let found = causes(root, &verdict, now);
        assert_eq!(found, causes(root, &verdict, now));
        let row = Row::of(root, verdict.status);
        assert!(!row.word.is_empty(), "{row:?}");
        if let Some(then) = review_at(root, now) {
            assert!(then > now, "{then}");
            // No assessment changes before that time.
            let before = then
                .checked_sub(SignedDuration::from_nanos(1))
                .expect("after now");
            assert_eq!(verdict, compute(root, before, rules), "{then}");
            assert_eq!(found, causes(root, &verdict, before), "{then}");
        }
    }
}

fn relate(objects: &[Doc]) {
    let mut graph = Graph::default();
    let keys: Vec<Uid> = objects
        .iter()
        .map(|object| put(&mut graph, object))
        .collect();
    let distinct: BTreeSet<&Uid> = keys.iter().collect();
    assert_eq!(graph.nodes().count(), distinct.len());
    for (object, key) in objects.iter().zip(&keys) {
        assert_eq!(*key, ObjectRef::of(object.root()).identity());
        query(&graph, key);
    }
    if distinct.len() == keys.len() {
        let mut reversed = Graph::default();
        objects
            .iter()
            .rev()
            .for_each(|object| drop(put(&mut reversed, object)));
        assert_eq!(graph, reversed);
    }
    let before = graph.clone();
    for (object, key) in objects.iter().zip(&keys).rev().take(1) {
        assert_eq!(put(&mut graph, object), *key);
        assert_eq!(graph, before);
    }
    for key in &keys {
        graph.delete(key);
    }
    assert_eq!(graph, Graph::default());
}

/// Stores an object and the objects that it names.
fn put(graph: &mut Graph, object: &Doc) -> Uid {
    let key = graph.apply(object.root());
    let links = Links::of(object.root(), Tier::Trace, &ServedTypes::default());
    graph.link([(key.clone(), links)]);
    walk(graph, &key, &TraceReach::default());
    key
}

/// Calls every query that views use for one object.
fn query(graph: &Graph, key: &Uid) {
    let tree = graph.tree(key);
    let distinct: BTreeSet<&Uid> = tree.iter().map(|(_, uid)| uid).collect();
    assert_eq!(distinct.len(), tree.len(), "each object stands once");
    assert_eq!(
        tree.first().map(|(depth, uid)| (*depth, uid)),
        Some((0, key))
    );
    let steps = tree
        .windows(2)
        .all(|pair| pair[1].0 >= 1 && pair[1].0 <= pair[0].0 + 1);
    assert!(steps, "{tree:?}");
    let row = |(depth, uid): &(usize, Uid)| {
        let name = Cell::new(uid.as_str(), Role::Plain);
        OutlineItem::row(*depth, Status::Current, vec![name])
    };
    let outline = Outline {
        columns: vec![Column::new("Name", Fit::CutMiddle)],
        tree: 0,
        items: tree.iter().map(row).collect(),
        healthy_beyond: 0,
        footnote: None,
    };
    let look = Look {
        width: Some(80),
        styles: Styles::PLAIN,
        symbols: &Symbols::UNICODE,
    };
    let space = |room| OutlineSpace {
        look,
        room,
        reads_on: "next page",
    };
    let all = outline.clone().lines(space(None));
    assert_eq!(all.len(), 1 + tree.len());
    assert!(outline.lines(space(Some(10))).len() <= 10);
    for uid in graph.current_dependents(key) {
        assert!(distinct.contains(&uid), "{uid:?}");
    }
    let above = graph.ancestors(key);
    assert!(above.len() <= graph.nodes().count());
    let _ = (
        graph.services_of(key),
        graph.selected_pods(key),
        graph.standings().of(key),
        graph.owners(key),
        graph.children(key),
    );
    let _ = (graph.current_replica_set(key), graph.slices(key));
    let _ = backends(graph, key);
    let cluster = ClusterId("fuzz".into());
    let sources = graph.node(key).map(|node| node.dependent_sources(&cluster));
    let pods = graph.selected_pods(key);
    let _ = (sources, pod_owner_sources(graph, pods, &cluster, 9));
}

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    if seed % 3 > 0 {
        if let Some(text) = mutate::mutate(&data[..size], most, seed) {
            data[..text.len()].copy_from_slice(&text);
            return text.len();
        }
    }
    libfuzzer_sys::fuzzer_mutate(data, size, most)
});
