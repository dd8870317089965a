//! Tests of the graph on small clusters, and of its two laws.

use std::collections::BTreeSet;

use crate::object::{Doc, Uid};
use crate::source::{ClusterId, Scope, Select, SourceKey};

use super::*;

fn apply(graph: &mut Graph, object: &str) -> Uid {
    let doc = Doc::parse(object).expect("a case is JSON");
    graph.apply(doc.root())
}

/// A graph of objects in shorthand: uid, `VERSION/KIND`, metadata and other fields without braces.
fn graph(objects: &[(&str, &str, &str, &str)]) -> Graph {
    let mut graph = Graph::default();
    for (uid, kind, metadata, fields) in objects {
        apply(&mut graph, &object(uid, kind, metadata, fields));
    }
    graph
}

fn object(uid: &str, kind: &str, metadata: &str, fields: &str) -> String {
    let (version, kind) = kind.rsplit_once('/').expect("VERSION/KIND");
    format!(
        r#"{{"apiVersion":"{version}","kind":"{kind}","metadata":{{"uid":"{uid}","namespace":"shop",{metadata}}},{fields}}}"#
    )
}

fn named(name: &str) -> String {
    format!(r#""name":"{name}""#)
}

fn owned(name: &str, owner: &str) -> String {
    format!(r#""name":"{name}","ownerReferences":[{{"uid":"{owner}","controller":true}}]"#)
}

fn uid(text: &str) -> Uid {
    Uid::new(text)
}

/// The tree of an object, one line for each row.
fn outline(graph: &Graph, root: &str) -> String {
    let lines: Vec<_> = graph
        .tree(&uid(root))
        .into_iter()
        .map(|(depth, uid)| {
            let node = graph.node(&uid).expect("in the graph");
            let standing = match graph.standings().of(&uid) {
                Standing::Current => "",
                Standing::Old => " old",
                Standing::Idle => " idle",
            };
            format!("{:width$}{}{standing}", "", node.object, width = 2 * depth)
        })
        .collect();
    lines.join("\n")
}

const NONE: &str = r#""spec":{}"#;

fn replica_set(name: &str, revision: u32, image: &str, replicas: u32) -> (String, String) {
    (
        format!(
            r#"{},"creationTimestamp":"2026-11-2{revision}T10:00:00Z","annotations":{{"deployment.kubernetes.io/revision":"{revision}"}}"#,
            owned(name, "d")
        ),
        format!(
            r#""spec":{{"replicas":{replicas},"template":{{"metadata":{{"labels":{{"pod-template-hash":"{name}"}}}},"image":"{image}"}}}},"status":{{"replicas":{replicas}}}"#
        ),
    )
}

/// A Deployment of image v3 at revision 3, and four `ReplicaSets`. The last one belongs to another object of its name.
fn rollout() -> Graph {
    let mut graph = graph(&[
        (
            "d",
            "apps/v1/Deployment",
            r#""name":"web","annotations":{"deployment.kubernetes.io/revision":"3"}"#,
            r#""spec":{"template":{"image":"v3","metadata":{"labels":{}}}}"#,
        ),
        ("p3", "v1/Pod", &owned("web-c-x", "r3"), NONE),
        ("p2", "v1/Pod", &owned("web-b-x", "r2"), NONE),
        ("p3b", "v1/Pod", &owned("web-c-a", "r3"), NONE),
        (
            "other",
            "apps/v1/ReplicaSet",
            &owned("web-d", "a-namesake"),
            NONE,
        ),
    ]);
    for (uid, name, revision, image, replicas) in [
        ("r1", "web-a", 1, "v1", 0),
        ("r3", "web-c", 3, "v3", 2),
        ("r2", "web-b", 2, "v2", 1),
    ] {
        let (metadata, fields) = replica_set(name, revision, image, replicas);
        apply(
            &mut graph,
            &object(uid, "apps/v1/ReplicaSet", &metadata, &fields),
        );
    }
    graph
}

#[test]
fn a_deployment_with_its_newest_revision_first() {
    insta::assert_snapshot!(outline(&rollout(), "d"), @"
    deployment/web
      replicaset/web-c
        pod/web-c-a
        pod/web-c-x
      replicaset/web-b old
        pod/web-b-x old
      replicaset/web-a idle
    ");
}

#[test]
fn the_template_decides_which_replica_set_is_current() {
    let mut graph = rollout();
    let current = |graph: &Graph| {
        graph
            .current_replica_set(&uid("d"))
            .map(|set| set.uid.as_str().to_owned())
    };
    assert_eq!(current(&graph).as_deref(), Some("r3"));
    assert_eq!(
        graph.current_dependents(&uid("d")),
        [uid("r3"), uid("p3b"), uid("p3")]
    );
    // The template has changed; neither the revision number nor a ReplicaSet has followed yet.
    let deployment = |image: &str| {
        object(
            "d",
            "apps/v1/Deployment",
            r#""name":"web","annotations":{"deployment.kubernetes.io/revision":"3"}"#,
            &format!(r#""spec":{{"template":{{"metadata":{{"labels":{{}}}},"image":"{image}"}}}}"#),
        )
    };
    apply(&mut graph, &deployment("v4"));
    assert_eq!(current(&graph), None);
    assert_eq!(graph.standings().of(&uid("r3")), Standing::Old);
    assert!(graph.current_dependents(&uid("d")).is_empty());
    // After a rollback, the oldest ReplicaSet with the same template is current again.
    apply(&mut graph, &deployment("v1"));
    assert_eq!(current(&graph).as_deref(), Some("r1"));
}

#[test]
fn without_templates_the_revision_number_decides() {
    let annotated = |name: &str, revision: u32| {
        format!(
            r#"{},"annotations":{{"deployment.kubernetes.io/revision":"{revision}"}}"#,
            owned(name, "d")
        )
    };
    let graph = graph(&[
        ("d", "apps/v1/Deployment", &annotated("web", 12), NONE),
        ("r9", "apps/v1/ReplicaSet", &annotated("web-a", 9), NONE),
        ("r12", "apps/v1/ReplicaSet", &annotated("web-b", 12), NONE),
    ]);
    let current = graph.current_replica_set(&uid("d")).map(|set| &set.uid);
    assert_eq!(current, Some(&uid("r12")));
}

#[test]
fn pods_of_a_stateful_set_by_ordinal_and_revision() {
    let pod = |name: &str, hash: &str| {
        format!(
            r#"{},"labels":{{"controller-revision-hash":"{hash}"}}"#,
            owned(name, "s")
        )
    };
    let graph = graph(&[
        (
            "s",
            "apps/v1/StatefulSet",
            &named("db"),
            r#""status":{"updateRevision":"db-2"}"#,
        ),
        ("a", "v1/Pod", &pod("db-10", "db-2"), NONE),
        ("b", "v1/Pod", &pod("db-2", "db-1"), NONE),
        (
            "c",
            "apps/v1/ControllerRevision",
            &owned("db-1", "s"),
            r#""x":1"#,
        ),
    ]);
    insta::assert_snapshot!(outline(&graph, "s"), @"
    statefulset/db
      pod/db-2 old
      pod/db-10
      controllerrevision/db-1
    ");
}

#[test]
fn owners_upwards_and_orphans() {
    let mut graph = rollout();
    let names = |nodes: Vec<&Node>| {
        let names: Vec<_> = nodes.iter().map(|node| node.object.to_string()).collect();
        names.join(" ")
    };
    assert_eq!(
        names(graph.ancestors(&uid("p3"))),
        "replicaset/web-c deployment/web"
    );
    graph.delete(&uid("r3"));
    assert_eq!(names(graph.ancestors(&uid("p3"))), "");
    assert_eq!(outline(&graph, "r3"), "pod/web-c-a\npod/web-c-x");
}

#[test]
fn several_owners_and_cycles() {
    let owners = |name: &str, owners: &[(&str, bool)]| {
        let owners: Vec<_> = owners
            .iter()
            .map(|(uid, controller)| format!(r#"{{"uid":"{uid}","controller":{controller}}}"#))
            .collect();
        format!(
            r#""name":"{name}","ownerReferences":[{}]"#,
            owners.join(",")
        )
    };
    let foo = "example.com/v1/Foo";
    let shared = graph(&[
        ("root", foo, &named("root"), NONE),
        ("set", foo, &owners("set", &[("root", true)]), NONE),
        (
            "machine",
            foo,
            &owners("machine", &[("root", false), ("set", true)]),
            NONE,
        ),
    ]);
    assert_eq!(
        outline(&shared, "root"),
        "foo/root\n  foo/set\n    foo/machine"
    );
    let ring = graph(&[
        ("root", foo, &owners("root", &[("b", false)]), NONE),
        (
            "a",
            foo,
            &owners("a", &[("root", false), ("b", true)]),
            NONE,
        ),
        ("b", foo, &owners("b", &[("a", true)]), NONE),
        ("self", foo, &owners("self", &[("self", true)]), NONE),
    ]);
    assert_eq!(outline(&ring, "root"), "foo/root\n  foo/a\n    foo/b");
    assert_eq!(outline(&ring, "self"), "foo/self");
    assert_eq!(ring.ancestors(&uid("a")).len(), 1);
}

fn pod(uid: &str, labels: &str, ready: &str) -> String {
    object(
        uid,
        "v1/Pod",
        &format!(r#""name":"{uid}","labels":{{{labels}}}"#),
        &format!(
            r#""spec":{{"nodeName":"n1"}},"status":{{"podIPs":[{{"ip":"10.0.0.1"}}],"conditions":[{{"type":"Ready","status":"{ready}"}}]}}"#
        ),
    )
}

#[test]
fn a_service_and_the_pods_it_selects() {
    let mut graph = graph(&[
        (
            "s",
            "v1/Service",
            &named("api"),
            r#""spec":{"selector":{"app":"api"}}"#,
        ),
        (
            "empty",
            "v1/Service",
            &named("external"),
            r#""spec":{"selector":{}}"#,
        ),
    ]);
    for (uid, labels, ready) in [
        ("a", r#""app":"api","tier":"x""#, "True"),
        ("b", r#""app":"api""#, "False"),
        ("c", r#""app":"other""#, "True"),
    ] {
        apply(&mut graph, &pod(uid, labels, ready));
    }
    let elsewhere = pod("e", r#""app":"api""#, "True").replace("shop", "bar");
    apply(&mut graph, &elsewhere);
    let selected = graph.selected_pods(&uid("s"));
    let ready = selected.iter().filter(|pod| pod.is_ready_pod()).count();
    assert_eq!((selected.len(), ready), (2, 1));
    assert!(graph.selected_pods(&uid("empty")).is_empty());
}

/// A slice of the Service `service` with the given endpoints.
fn slice(uid: &str, service: &str, endpoints: &[&str]) -> String {
    object(
        uid,
        "discovery.k8s.io/v1/EndpointSlice",
        &format!(r#""name":"{uid}","labels":{{"kubernetes.io/service-name":"{service}"}}"#),
        &format!(
            r#""addressType":"IPv4","ports":[{{"name":"http","port":8080}}],"endpoints":[{}]"#,
            endpoints.join(",")
        ),
    )
}

#[test]
fn the_endpoints_of_a_service() {
    let endpoints = [
        r#"{"addresses":["10.0.0.4"],"conditions":{"ready":false,"serving":true,"terminating":true},"targetRef":{"kind":"Pod","name":"d","uid":"d"}}"#,
        r#"{"addresses":["10.0.0.2"],"conditions":{"ready":false},"targetRef":{"kind":"Pod","name":"b","uid":"b"}}"#,
        r#"{"addresses":["10.0.0.1"],"targetRef":{"kind":"Pod","name":"a","uid":"a"}}"#,
        r#"{"addresses":["10.0.0.5"],"conditions":{"ready":false,"terminating":true},"targetRef":{"kind":"Pod","name":"a","uid":"gone"}}"#,
        r#"{"addresses":["192.0.2.1"],"conditions":{"ready":null}}"#,
        r#"{"addresses":["10.0.0.6"],"targetRef":{"kind":"Pod","name":"a"}}"#,
    ];
    let mut graph = graph(&[("s", "v1/Service", &named("api"), NONE)]);
    apply(&mut graph, &slice("e1", "api", &endpoints));
    apply(&mut graph, &slice("e2", "api", &endpoints[2..3]));
    apply(&mut graph, &slice("e3", "web", &endpoints));
    for uid in ["a", "b", "d"] {
        apply(&mut graph, &pod(uid, "", "True"));
    }
    let slices: Vec<_> = graph
        .slices(&uid("s"))
        .iter()
        .map(|slice| slice.uid.clone())
        .collect();
    assert_eq!(slices, [uid("e1"), uid("e2")]);
    let lines: Vec<_> = backends(&graph, &uid("e1"))
        .iter()
        .map(|backend| {
            let pod = backend.pod.map(|pod| pod.object.to_string());
            format!(
                "{} {:?} {}",
                backend.endpoint.addresses[0],
                backend.endpoint.state(),
                pod.as_deref().unwrap_or("-")
            )
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    10.0.0.4 TerminatingServing pod/d
    10.0.0.2 NotReady pod/b
    10.0.0.1 Ready pod/a
    10.0.0.5 Terminating -
    192.0.2.1 Ready -
    10.0.0.6 Ready pod/a
    ");
}

/// The resource of a source, with its labels or its name.
fn requested(source: &SourceKey) -> String {
    let fields = source.select.field_selector();
    let labels = source.select.label_selector().map(Into::into);
    let selector = labels.or(fields).unwrap_or("all".into());
    format!("{} {selector}", source.resource.group_resource())
}

fn all_requested(sources: &[SourceKey]) -> String {
    sources.iter().map(requested).collect::<Vec<_>>().join(", ")
}

const CLUSTER: &str = "test";

#[test]
fn dependents_are_read_by_selector_where_there_is_one() {
    let selector = r#""spec":{"selector":{"matchLabels":{"app":"web"}}}"#;
    let map = r#""spec":{"selector":{"app":"web"}}"#;
    for (kind, spec, expect) in [
        (
            "apps/v1/Deployment",
            selector,
            "replicasets.apps app=web, pods app=web",
        ),
        ("apps/v1/ReplicaSet", selector, "pods app=web"),
        ("apps/v1/StatefulSet", selector, "pods app=web"),
        ("apps/v1/DaemonSet", r#""spec":{"selector":{}}"#, "pods all"),
        ("batch/v1/Job", NONE, ""),
        (
            "batch/v1/CronJob",
            NONE,
            "jobs.batch all, pods batch.kubernetes.io/job-name",
        ),
        ("v1/ReplicationController", map, "pods app=web"),
        ("v1/Service", map, ""),
        ("v1/Pod", NONE, ""),
        ("example.com/v1/Foo", selector, ""),
    ] {
        let graph = graph(&[("u", kind, &named("web"), spec)]);
        let node = graph.node(&uid("u")).expect("it is there");
        let sources = node.dependent_sources(&ClusterId(CLUSTER.into()));
        assert_eq!(all_requested(&sources), expect, "{kind}");
    }
}

#[test]
fn the_pods_of_a_service_are_read_by_its_selector() {
    for (spec, expect) in [
        (r#""spec":{"selector":{"app":"web"}}"#, Some("pods app=web")),
        (r#""spec":{"selector":{}}"#, None),
        (NONE, None),
    ] {
        let graph = graph(&[("u", "v1/Service", &named("web"), spec)]);
        let node = graph.node(&uid("u")).expect("it is there");
        let source = node.selected_pods_source(&ClusterId(CLUSTER.into()));
        assert_eq!(source.as_ref().map(requested).as_deref(), expect, "{spec}");
    }
    let service = SourceKey {
        scope: Scope::Namespace("shop".into()),
        select: Select::Name("web".into()),
        ..SourceKey::all("", "Service")
    };
    let slices = slices_source(&service);
    let expect = "endpointslices.discovery.k8s.io kubernetes.io/service-name=web";
    assert_eq!(requested(&slices), expect);
}

#[test]
fn owners_are_read_by_name_as_far_up_as_the_graph_knows_them() {
    let owner = |api_version: &str, kind: &str, name: &str| {
        format!(
            r#""name":"x","ownerReferences":[{{"apiVersion":"{api_version}","kind":"{kind}","name":"{name}","uid":"{name}"}}]"#
        )
    };
    let set = owner("apps/v1", "Deployment", "web");
    let objects = [
        ("p1", "v1/Pod", owner("apps/v1", "ReplicaSet", "web-a")),
        ("p2", "v1/Pod", owner("apps/v1", "ReplicaSet", "web-a")),
        ("p3", "v1/Pod", owner("v1", "Node", "worker-1")),
        ("p4", "v1/Pod", owner("example.com/v1", "Game", "go")),
        ("web-a", "apps/v1/ReplicaSet", set),
    ];
    let objects: Vec<_> = objects
        .iter()
        .map(|(uid, kind, metadata)| (*uid, *kind, metadata.as_str(), NONE))
        .collect();
    let sources = |graph: &Graph, limit| {
        let pods = graph.of_kind("Pod").collect();
        all_requested(&pod_owner_sources(
            graph,
            pods,
            &ClusterId(CLUSTER.into()),
            limit,
        ))
    };
    let set = "replicasets.apps metadata.name=web-a";
    assert_eq!(sources(&graph(&objects[..4]), 9), set);
    let both = format!("deployments.apps metadata.name=web, {set}");
    assert_eq!(sources(&graph(&objects), 9), both);
    assert_eq!(sources(&graph(&objects), 1), set);
}

/// The work grows with the length of the chain, not with its square.
#[test]
fn a_long_chain_of_owners_has_a_tree() {
    let mut graph = Graph::default();
    for link in 1..5_000 {
        let owned = owned("n", &format!("{}", link - 1));
        apply(
            &mut graph,
            &object(&link.to_string(), "v1/Pod", &owned, NONE),
        );
    }
    let tree = graph.tree(&uid("1"));
    assert_eq!(
        (tree.len(), tree.last()),
        (4_999, Some(&(4_998, uid("4999"))))
    );
}

#[test]
fn an_object_without_a_uid_has_a_key_of_its_own() {
    let mut graph = Graph::default();
    let key = apply(
        &mut graph,
        r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop"}}"#,
    );
    assert_eq!(key, uid("apps/Deployment/shop/web"));
    for malformed in ["7", "{}", r#"{"kind":"Pod","metadata":[],"status":7}"#] {
        apply(&mut graph, malformed);
    }
    assert_eq!(graph.nodes().count(), 3);
}

#[test]
fn an_object_is_found_by_its_kind_and_its_name() {
    let name = named("a");
    let graph = graph(&[
        ("own", "v1/Service", &name, NONE),
        ("other", "serving.knative.dev/v1/Service", &name, NONE),
        ("volume", "v1/PersistentVolume", &name, NONE),
        ("claim", "v1/PersistentVolumeClaim", &name, NONE),
    ]);
    for (kind, namespace, name, expected) in [
        ("Service", "shop", "a", &["own"][..]),
        ("Service", "prod", "a", &[]),
        ("Service", "shop", "b", &[]),
        ("PersistentVolume", "shop", "a", &["volume"]),
        ("PersistentVolumeClaim", "shop", "a", &[]),
    ] {
        let found = graph.of_name(kind, Some(&namespace.into()), name);
        let found: Vec<&str> = found.map(|node| node.uid.as_str()).collect();
        assert_eq!(found, expected, "{kind} {namespace} {name}");
    }
}

#[test]
fn an_ingress_without_a_class_and_an_address_needs_a_default_class() {
    let class = r#""annotations":{"kubernetes.io/ingress.class":"nginx"},"name":"a""#;
    let (plain, group) = (named("a"), "networking.k8s.io/v1");
    for (group, metadata, fields, expected) in [
        (group, &*plain, NONE, true),
        (
            group,
            &*plain,
            r#""spec":{"ingressClassName":"nginx"}"#,
            false,
        ),
        (group, class, NONE, false),
        (
            group,
            &*plain,
            r#""status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}"#,
            false,
        ),
        ("extensions/v1beta1", &*plain, NONE, false),
    ] {
        let graph = graph(&[("a", &format!("{group}/Ingress"), metadata, fields)]);
        let node = graph.node(&uid("a")).expect("it is there");
        let needed = Facts::Ingress {
            needs_default_class: true,
        };
        assert_eq!(
            node.facts == needed,
            expected,
            "{group} {metadata} {fields}"
        );
    }
}

mod laws {
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    use super::*;

    const UIDS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

    #[derive(Clone, Debug)]
    enum Event {
        Apply(usize, String),
        Delete(usize),
    }

    fn version() -> impl Strategy<Value = (usize, String)> {
        let kinds = vec![
            "v1/Pod",
            "v1/Service",
            "apps/v1/ReplicaSet",
            "apps/v1/Deployment",
            "discovery.k8s.io/v1/EndpointSlice",
        ];
        let owners = proptest::collection::vec((0..UIDS.len(), any::<bool>()), 0..3);
        (
            0..UIDS.len(),
            proptest::sample::select(kinds),
            owners,
            0..3u8,
        )
            .prop_map(|(index, kind, owners, label)| {
                let owners: Vec<_> = owners
                    .iter()
                    .map(|(owner, controller)| {
                        format!(r#"{{"uid":"{}","controller":{controller}}}"#, UIDS[*owner])
                    })
                    .collect();
                let metadata = format!(
                    r#""name":"n{index}","labels":{{"l":"{label}","kubernetes.io/service-name":"n{label}"}},"ownerReferences":[{}]"#,
                    owners.join(",")
                );
                let fields =
                    format!(r#""spec":{{"selector":{{"l":"{label}"}},"replicas":{label}}}"#);
                (index, object(UIDS[index], kind, &metadata, &fields))
            })
    }

    fn events() -> impl Strategy<Value = Vec<Event>> {
        let event = prop_oneof![
            12 => version().prop_map(|(index, text)| Event::Apply(index, text)),
            4 => (0..UIDS.len()).prop_map(Event::Delete),
        ];
        proptest::collection::vec(event, 0..40)
    }

    /// Plays events; returns the graph and the remaining versions.
    fn play(events: Vec<Event>) -> (Graph, BTreeMap<usize, String>) {
        let mut graph = Graph::default();
        let mut left = BTreeMap::new();
        for event in events {
            match event {
                Event::Apply(index, text) => {
                    apply(&mut graph, &text);
                    left.insert(index, text);
                }
                Event::Delete(index) => {
                    graph.delete(&uid(UIDS[index]));
                    left.remove(&index);
                }
            }
        }
        (graph, left)
    }

    proptest! {
        #[test]
        fn any_order_of_events_gives_the_same_graph(events in events()) {
            let (graph, left) = play(events);
            let mut afresh = Graph::default();
            for text in left.values().rev() {
                apply(&mut afresh, text);
            }
            prop_assert_eq!(&graph, &afresh);
        }

        #[test]
        fn a_look_up_finds_what_the_whole_graph_has(events in events()) {
            let (graph, _) = play(events);
            let nodes: Vec<&Node> = graph.nodes().collect();
            for kind in ["Pod", "Service", "EndpointSlice", "Node"] {
                let found: BTreeSet<&Uid> = graph.of_kind(kind).map(|node| &node.uid).collect();
                let all = nodes.iter().filter(|node| &*node.object.kind == kind);
                prop_assert_eq!(found, all.map(|node| &node.uid).collect());
            }
            for slice in nodes.iter().filter(|node| matches!(node.facts, Facts::Slice(_))) {
                for service in graph.services() {
                    let is_of = slice.label("kubernetes.io/service-name") == Some(&service.object.name);
                    let has = |found: Vec<&Node>, uid| found.iter().any(|node| node.uid == uid);
                    prop_assert_eq!(has(graph.slices(&service.uid), slice.uid.clone()), is_of);
                    prop_assert_eq!(has(graph.services_of(&slice.uid), service.uid.clone()), is_of);
                }
            }
        }

        #[test]
        fn a_tree_contains_every_dependent_once(events in events(), root in 0..UIDS.len()) {
            let (graph, _) = play(events);
            let root = uid(UIDS[root]);
            let outline = graph.tree(&root);
            let mut expected = BTreeSet::from([root.clone()]);
            let mut todo = vec![root.clone()];
            while let Some(at) = todo.pop() {
                for child in graph.children(&at) {
                    if expected.insert(child.uid.clone()) {
                        todo.push(child.uid.clone());
                    }
                }
            }
            if graph.node(&root).is_none() {
                expected.remove(&root);
            }
            let listed: BTreeSet<_> = outline.iter().map(|(_, uid)| uid.clone()).collect();
            prop_assert_eq!(&listed, &expected);
            prop_assert_eq!(listed.len(), outline.len());
            // Each object is below one of its owners.
            let mut above: Vec<Uid> = Vec::new();
            for (depth, uid) in &outline {
                prop_assert!(*depth <= above.len());
                above.truncate(*depth);
                if let Some(parent) = above.last() {
                    let owners = &graph.node(uid).expect("listed").owners;
                    prop_assert!(owners.iter().any(|owner| &owner.uid == parent));
                }
                above.push(uid.clone());
                graph.standings().of(uid);
                graph.ancestors(uid);
            }
            graph.current_dependents(&root);
        }
    }
}
