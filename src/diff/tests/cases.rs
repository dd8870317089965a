//! Pairs of versions and their expected changes.

use super::*;

/// A Pod with these containers.
fn containers(list: &str) -> String {
    format!(r#"{{"kind":"Pod","spec":{{"containers":{list}}}}}"#)
}

#[test]
fn equal_versions_have_no_changes() {
    for (old, new) in [
        (r#"{"a":1}"#, r#"{"a":1}"#),
        (r#"{"a":1,"b":[2]}"#, r#"{ "b":[ 2 ], "a":1 }"#),
        (r#"{"a":"\u003c"}"#, r#"{"a":"<"}"#),
        (r#"{"\u0061":[{"b":1,"c":2}]}"#, r#"{"a":[{"c":2,"b":1}]}"#),
        (r#"{"a":0,"a":1}"#, r#"{"a":1}"#),
    ] {
        assert_eq!(check(old, new), "", "{old} {new}");
    }
}

#[test]
fn counters_of_the_server_are_noise() {
    insta::assert_snapshot!(check(
        r#"{"metadata":{"resourceVersion":"1","generation":1,"managedFields":[{"manager":"a"}]},
            "status":{"observedGeneration":1,"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"2024-05-01T14:02:01Z"}]}}"#,
        r#"{"metadata":{"resourceVersion":"2","generation":2,"managedFields":[{"manager":"b"},{"manager":"c"}]},
            "status":{"observedGeneration":2,"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":"2024-05-01T14:07:01Z"}]}}"#,
    ), @r#"
    ~ .metadata.generation: 1 → 2 (version)
    ~ .metadata.managedFields: [{"manager":"a"}] → [{"manager":"b"},{"manager":"c"}] (managedFields)
    ~ .metadata.resourceVersion: "1" → "2" (version)
    ~ .status.conditions[type=Ready].lastHeartbeatTime: "2024-05-01T14:02:01Z" → "2024-05-01T14:07:01Z" Time (heartbeat)
    ~ .status.observedGeneration: 1 → 2 (version)
    "#);
    insta::assert_snapshot!(check(
        r#"{"kind":"Lease","spec":{"renewTime":"2024-05-01T14:02:01.000001Z","holderIdentity":"a"}}"#,
        r#"{"kind":"Lease","spec":{"renewTime":"2024-05-01T14:02:03.000001Z","holderIdentity":"b"}}"#,
    ), @r#"
    ~ .spec.holderIdentity: "a" → "b"
    ~ .spec.renewTime: "2024-05-01T14:02:01.000001Z" → "2024-05-01T14:02:03.000001Z" Time (heartbeat)
    "#);
    // The same names at other paths are fields of the object.
    insta::assert_snapshot!(check(
        r#"{"spec":{"generation":1,"resourceVersion":"1","renewTime":"x","conditions":{"lastProbeTime":1}}}"#,
        r#"{"spec":{"generation":2,"resourceVersion":"2","renewTime":"y","conditions":{"lastProbeTime":2}}}"#,
    ), @r#"
    ~ .spec.conditions.lastProbeTime: 1 → 2
    ~ .spec.generation: 1 → 2
    ~ .spec.renewTime: "x" → "y"
    ~ .spec.resourceVersion: "1" → "2"
    "#);
}

#[test]
fn scalars_are_compared_by_value() {
    insta::assert_snapshot!(check(
        r#"{"a":{"creationTimestamp":null},"c":{},"d":[1],"e":"8080","f":1,"g":9007199254740993,"h":18446744073709551617,"i":"2024-05-01T14:02:01Z","j":"x"}"#,
        r#"{"a":{},"b":{},"c":[],"d":null,"e":8080,"f":1.0,"g":9007199254740992,"h":18446744073709551616,"i":"2024-05-01T14:02:01.000000Z","j":"y\nz"}"#,
    ), @r#"
    - .a.creationTimestamp: null
    + .b: {}
    ~ .c: {} → []
    ~ .d: [1] → null
    ~ .e: "8080" → 8080
    ~ .f: 1 → 1.0 (equivalent)
    ~ .g: 9007199254740993 → 9007199254740992
    ~ .h: 18446744073709551617 → 18446744073709551616
    ~ .i: "2024-05-01T14:02:01Z" → "2024-05-01T14:02:01.000000Z" Time (equivalent)
    ~ .j: "x" → "y\nz" Text
    "#);
}

#[test]
fn quantities_are_compared_where_the_api_has_them() {
    insta::assert_snapshot!(check(
        r#"{"metadata":{"annotations":{"a":"1000m"}},"spec":{"containers":[{"name":"a","resources":{"limits":{"memory":"1Gi"},"requests":{"cpu":"1000m","memory":"1G"}}}]}}"#,
        r#"{"metadata":{"annotations":{"a":"1"}},"spec":{"containers":[{"name":"a","resources":{"limits":{"memory":"1024Mi"},"requests":{"cpu":"1","memory":"1Gi"}}}]}}"#,
    ), @r#"
    ~ .metadata.annotations.a: "1000m" → "1"
    ~ .spec.containers[name=a].resources.limits.memory: "1Gi" → "1024Mi" Quantity (equivalent)
    ~ .spec.containers[name=a].resources.requests.cpu: "1000m" → "1" Quantity (equivalent)
    ~ .spec.containers[name=a].resources.requests.memory: "1G" → "1Gi" Quantity
    "#);
}

#[test]
fn items_are_matched_by_key() {
    // With repeated names, the k-th item is compared with the k-th.
    insta::assert_snapshot!(check(
        &containers(r#"[{"name":"w","env":[{"name":"A","value":"1"},{"name":"A","value":"2"}]}]"#),
        &containers(r#"[{"name":"w","env":[{"name":"A","value":"1"},{"name":"A","value":"3"}]}]"#),
    ), @r#"~ .spec.containers[name=w].env[name=A#2].value: "2" → "3""#);
    // One item is added in front, another is edited.
    insta::assert_snapshot!(check(
        &containers(r#"[{"name":"a","image":"1"},{"name":"b","image":"1"}]"#),
        &containers(r#"[{"name":"z","image":"1"},{"name":"a","image":"1"},{"name":"b","image":"2"}]"#),
    ), @r#"
    + .spec.containers[name=z]: {"name":"z","image":"1"}
    ~ .spec.containers[name=b].image: "1" → "2"
    "#);
    // An item is renamed.
    insta::assert_snapshot!(check(
        &containers(r#"[{"name":"a","image":"1"}]"#),
        &containers(r#"[{"name":"b","image":"1"}]"#),
    ), @r#"
    - .spec.containers[name=a]: {"name":"a","image":"1"}
    + .spec.containers[name=b]: {"name":"b","image":"1"}
    "#);
    // The list is reversed, and one item is edited.
    insta::assert_snapshot!(check(
        &containers(r#"[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d","image":"1"}]"#),
        &containers(r#"[{"name":"d","image":"2"},{"name":"c"},{"name":"b"},{"name":"a"}]"#),
    ), @r#"
    ↕ .spec.containers[name=d]: 3 → 0
    ~ .spec.containers[name=d].image: "1" → "2"
    ↕ .spec.containers[name=c]: 2 → 1
    ↕ .spec.containers[name=b]: 1 → 2
    "#);
    // A list with a scalar in it is compared as a sequence, without a panic.
    insta::assert_snapshot!(check(
        &containers(r#"[{"name":"a"},"x"]"#),
        &containers(r#"[{"name":"a"},"y"]"#),
    ), @r#"~ .spec.containers[1]: "x" → "y""#);
}

#[test]
fn ports_are_matched_by_port_and_protocol() {
    // A missing protocol means TCP.
    insta::assert_snapshot!(check(
        &containers(r#"[{"name":"a","ports":[{"containerPort":80}]}]"#),
        &containers(r#"[{"name":"a","ports":[{"containerPort":80,"protocol":"TCP"}]}]"#),
    ), @r#"+ .spec.containers[name=a].ports[containerPort=80,protocol=TCP].protocol: "TCP""#);
    // One port is moved, one removed, one added, one edited. TCP 53 and UDP 53 are two ports.
    insta::assert_snapshot!(check(
        r#"{"spec":{"ports":[{"name":"http","port":80,"protocol":"TCP","targetPort":8080},{"name":"dns","port":53,"protocol":"UDP","targetPort":5353},
            {"name":"dns-tcp","port":53,"protocol":"TCP","targetPort":5353},{"name":"https","port":443,"protocol":"TCP","targetPort":8443}]}}"#,
        r#"{"spec":{"ports":[{"name":"https","port":443,"protocol":"TCP","targetPort":8443},{"name":"http","port":80,"protocol":"TCP","targetPort":8080},
            {"name":"dns-tcp","port":53,"protocol":"TCP","targetPort":5354},{"name":"metrics","port":9090,"protocol":"TCP","targetPort":9090}]}}"#,
    ), @r#"
    ↕ .spec.ports[port=443,protocol=TCP]: 3 → 0 (order)
    - .spec.ports[port=53,protocol=UDP]: {"name":"dns","port":53,"protocol":"UDP","targetPort":5353}
    ~ .spec.ports[port=53,protocol=TCP].targetPort: 5353 → 5354
    + .spec.ports[port=9090,protocol=TCP]: {"name":"metrics","port":9090,"protocol":"TCP","targetPort":9090}
    "#);
}

#[test]
fn sets_are_compared_by_value() {
    let finalizers = |list: &str| format!(r#"{{"metadata":{{"finalizers":{list}}}}}"#);
    insta::assert_snapshot!(check(&finalizers(r#"["a","b"]"#), &finalizers(r#"["b","c"]"#)), @r#"
    - .metadata.finalizers: "a"
    + .metadata.finalizers: "c"
    "#);
    insta::assert_snapshot!(check(&finalizers(r#"["a","b"]"#), &finalizers(r#"["b","a"]"#)), @"↕ .metadata.finalizers: 1 → 0 (order)");
    insta::assert_snapshot!(check(&finalizers(r#"["a","a"]"#), &finalizers(r#"["a"]"#)), @r#"- .metadata.finalizers: "a""#);
}

#[test]
fn sequences_are_aligned() {
    let args = |list: &str| containers(&format!(r#"[{{"name":"w","args":{list}}}]"#));
    insta::assert_snapshot!(check(
        &args(r#"["--v=2","--x"]"#),
        &args(r#"["--debug","--v=4","--x"]"#),
    ), @r#"
    + .spec.containers[name=w].args[0]: "--debug"
    ~ .spec.containers[name=w].args[0→1]: "--v=2" → "--v=4"
    "#);
    insta::assert_snapshot!(check(&args(r#"["a","b","c"]"#), &args(r#"["b","c","a"]"#)), @"↕ .spec.containers[name=w].args[0→2]: 0 → 2");
    insta::assert_snapshot!(check(&args(r#"["a","b","c"]"#), &args(r#"["x","y","c"]"#)), @r#"
    ~ .spec.containers[name=w].args[0]: "a" → "x"
    ~ .spec.containers[name=w].args[1]: "b" → "y"
    "#);
    insta::assert_snapshot!(check(&args(r#"["a","b"]"#), &args(r#"["x"]"#)), @r#"
    - .spec.containers[name=w].args[0]: "a"
    - .spec.containers[name=w].args[1]: "b"
    + .spec.containers[name=w].args[0]: "x"
    "#);
    insta::assert_snapshot!(check(r#"{"m":[[1,2],[3]]}"#, r#"{"m":[[1,2],[3,4]]}"#), @"+ .m[1][1]: 4");
}

#[test]
fn rules_without_names_are_compared_as_sequences() {
    let pods = r#"{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}"#;
    let more = r#"{"apiGroups":[""],"resources":["pods"],"verbs":["get","list"]}"#;
    let jobs = r#"{"apiGroups":["batch"],"resources":["jobs"],"verbs":["create"]}"#;
    let role = |rules: &[&str]| format!(r#"{{"kind":"Role","rules":[{}]}}"#, rules.join(","));
    insta::assert_snapshot!(check(&role(&[pods]), &role(&[more])), @r#"+ .rules[0].verbs: "list""#);
    insta::assert_snapshot!(check(&role(&[pods]), &role(&[jobs, more])), @r#"
    + .rules[0]: {"apiGroups":["batch"],"resources":["jobs"],"verbs":["create"]}
    + .rules[0→1].verbs: "list"
    "#);
    insta::assert_snapshot!(check(&role(&[pods]), &role(&[jobs])), @r#"
    - .rules[0].apiGroups: ""
    + .rules[0].apiGroups: "batch"
    - .rules[0].resources: "pods"
    + .rules[0].resources: "jobs"
    - .rules[0].verbs: "get"
    + .rules[0].verbs: "create"
    "#);
}

#[test]
fn an_item_can_move_and_be_edited() {
    let paths = |list: &str| {
        format!(r#"{{"spec":{{"rules":[{{"host":"a.example","http":{{"paths":{list}}}}}]}}}}"#)
    };
    insta::assert_snapshot!(check(
        &paths(r#"[{"path":"/a","backend":"x"},{"path":"/b","backend":"x"}]"#),
        &paths(r#"[{"path":"/b","backend":"y"},{"path":"/a","backend":"x"}]"#),
    ), @r#"
    ↕ .spec.rules[host=a.example].http.paths[path=/b]: 1 → 0
    ~ .spec.rules[host=a.example].http.paths[path=/b].backend: "x" → "y"
    "#);
    insta::assert_snapshot!(check(
        r#"{"spec":{"tolerations":[{"key":"a","operator":"Exists","tolerationSeconds":300},{"key":"b","operator":"Exists"}]}}"#,
        r#"{"spec":{"tolerations":[{"key":"b","operator":"Exists"},{"key":"a","operator":"Exists","tolerationSeconds":30}]}}"#,
    ), @"
    ↕ .spec.tolerations[key=b,operator=Exists]: 1 → 0 (order)
    ~ .spec.tolerations[key=a,operator=Exists].tolerationSeconds: 300 → 30
    ");
}

#[test]
fn a_new_order_of_conditions_is_noise() {
    insta::assert_snapshot!(check(
        r#"{"status":{"conditions":[{"type":"A","status":"True"},{"type":"B","status":"True"}]}}"#,
        r#"{"status":{"conditions":[{"type":"B","status":"True"},{"type":"A","status":"True"}]}}"#,
    ), @"↕ .status.conditions[type=B]: 1 → 0 (order)");
    insta::assert_snapshot!(check(
        r#"{"status":{"conditions":[{"type":"B","status":"False","message":"no"},{"type":"A","status":"True"}]}}"#,
        r#"{"status":{"conditions":[{"type":"B","status":"True"},{"type":"C","status":"True"},{"type":"A","status":"True"}]}}"#,
    ), @r#"
    - .status.conditions[type=B].message: "no"
    ~ .status.conditions[type=B].status: "False" → "True"
    + .status.conditions[type=C]: {"type":"C","status":"True"}
    "#);
}

#[test]
fn odd_keys_are_quoted() {
    let diff = check("{}", r#"{"":1,"a/b":2,"~":3,"x.y":4,"\"":5,"\u001b":6}"#);
    insta::assert_snapshot!(diff, @r#"
    + .[""]: 1
    + .["\u001b"]: 6
    + .["\""]: 5
    + .["a/b"]: 2
    + .["x.y"]: 4
    + .["~"]: 3
    "#);
    let new = doc(r#"{"a/b":{"~":[{"x":1}]}}"#);
    let old = doc(r#"{"a/b":{"~":[{"x":2}]}}"#);
    let diff = Diff::of(Some(old.root()), Some(new.root()));
    let path = diff.path(diff.changes()[0].at);
    assert_eq!(path.pointer(Side::New), "/a~1b/~0/0/x");
}

#[test]
fn deep_nesting_is_compared_without_overflow() {
    let nested = |inner: &str| {
        let depth = Doc::MAX_DEPTH - 1;
        format!("{}{inner}{}", "[".repeat(depth), "]".repeat(depth))
    };
    assert_eq!(lines(&nested("1"), &nested("2")).len(), 1);
    let nested = |inner: &str| {
        let depth = Doc::MAX_DEPTH - 1;
        format!("{}{inner}{}", r#"{"a":"#.repeat(depth), "}".repeat(depth))
    };
    assert_eq!(lines(&nested("1"), &nested("2")).len(), 1);
}

#[test]
fn a_shuffled_list_has_only_moves() {
    let list = |order: &mut dyn Iterator<Item = u32>| {
        let items: Vec<String> = order
            .map(|n| format!(r#"{{"addresses":["10.0.{}.{}"]}}"#, n / 250, n % 250))
            .collect();
        format!(r#"{{"endpoints":[{}]}}"#, items.join(","))
    };
    let old = list(&mut (0..5000));
    let new = list(&mut (0..5000).map(|n| n * 1201 % 5000));
    let lines = lines(&old, &new);
    assert!(lines.len() < 5000 && lines.iter().all(|line| line.ends_with("(order)")));
}

/// The old version with the changes that a filter keeps, and the patch that leads to it.
fn partly(old: &str, new: &str, (only, ignore): (&[&str], &[&str])) -> String {
    let filter = filter(only, ignore);
    let (a, b) = (doc(old), doc(new));
    let diff = Diff::of(Some(a.root()), Some(b.root()));
    let partly = crate::diff::partly(&diff, |change| filter.keeps(&diff, change));
    let diff = Diff::of(Some(a.root()), Some(partly.root()));
    let patch = crate::diff::json_patch::step_by_step(&diff, &Redactor::new());
    let patch = serde_json::to_string(&patch).expect("a patch serializes");
    format!("{}\n{patch}", partly.text())
}

#[test]
fn selected_changes_are_applied_alone() {
    let (old, new) = (
        containers(r#"[{"name":"a","image":"1"},{"name":"b","image":"1"},{"name":"c"}]"#),
        containers(
            r#"[{"name":"side"},{"name":"c"},{"name":"a","image":"2"},{"name":"new"},{"name":"b","image":"2"}]"#,
        ),
    );
    // The item before it was not added, so this item keeps its place.
    insta::assert_snapshot!(partly(&old, &new, (&["**[name=b]"], &[])), @r#"
    {"kind":"Pod","spec":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"2"},{"name":"c"}]}}
    [{"op":"replace","path":"/spec/containers/1/image","value":"2"}]
    "#);
    insta::assert_snapshot!(partly(&old, &new, (&[], &["**[name=side]"])), @r#"
    {"kind":"Pod","spec":{"containers":[{"name":"c"},{"name":"a","image":"2"},{"name":"new"},{"name":"b","image":"2"}]}}
    [{"op":"move","from":"/spec/containers/2","path":"/spec/containers/0"},{"op":"add","path":"/spec/containers/2","value":{"name":"new"}},{"op":"replace","path":"/spec/containers/1/image","value":"2"},{"op":"replace","path":"/spec/containers/3/image","value":"2"}]
    "#);
    // An added item follows the item that precedes it in the new list, as far as that item is present.
    insta::assert_snapshot!(partly(&old, &new, (&["**[name=new]", "**[name=side]"], &[])), @r#"
    {"kind":"Pod","spec":{"containers":[{"name":"side"},{"name":"a","image":"1"},{"name":"new"},{"name":"b","image":"1"},{"name":"c"}]}}
    [{"op":"add","path":"/spec/containers/0","value":{"name":"side"}},{"op":"add","path":"/spec/containers/2","value":{"name":"new"}}]
    "#);
    let (old, new) = (
        r#"{"a":{"x":1},"b":[1,2],"c":1}"#,
        r#"{"a":{"y":2},"b":[2],"d\"":{"z":1},"e":1}"#,
    );
    insta::assert_snapshot!(partly(old, new, (&["a.y", "**.z"], &[])), @r#"
    {"a":{"x":1,"y":2},"b":[1,2],"c":1,"d\"":{"z":1}}
    [{"op":"add","path":"/a/y","value":2},{"op":"add","path":"/d\"","value":{"z":1}}]
    "#);
    insta::assert_snapshot!(partly(old, new, (&[], &["a.y", "**.z", "b"])), @r#"
    {"a":{},"b":[1,2],"d\"":{"z":1},"e":1}
    [{"op":"remove","path":"/a/x"},{"op":"remove","path":"/c"},{"op":"add","path":"/d\"","value":{"z":1}},{"op":"add","path":"/e","value":1}]
    "#);
}

/// An object or list that was added is selected for the values in it that are not ignored.
#[test]
fn ignored_values_are_not_selected() {
    let (old, new) = (
        doc(r#"{"spec":{}}"#),
        doc(
            r#"{"spec":{"pod":{"node":"n","containers":[{"name":"app","image":"1"},{"name":"log","image":"2"}]}}}"#,
        ),
    );
    let cases: [(&[&str], &[&str], bool); 8] = [
        (&["**.image"], &[], true),
        (&["**.image"], &["**.containers"], false),
        (&["**.image"], &["**[name=app]"], true),
        (&["**.image"], &["**[name=app]", "**[1]"], false),
        (&["**[1].image"], &["**[name=log].image"], false),
        (&["**.image", "spec.pod.node"], &["**.containers"], true),
        (&["**[name=app]"], &["**.image"], true),
        (&["spec.pod"], &["spec.pod.*"], true),
    ];
    for (only, ignore, asked) in cases {
        let filter = filter(only, ignore);
        for (old, new) in [(&old, &new), (&new, &old)] {
            let diff = Diff::of(Some(old.root()), Some(new.root()));
            let [change] = diff.changes() else {
                panic!("one change: {diff:?}");
            };
            assert_eq!(filter.keeps(&diff, change), asked, "{only:?} {ignore:?}");
            // If the filter selects the change, it selects a part of the object.
            let redactor = Redactor::new();
            let there = redactor.shown(if change.op == Op::Add { new } else { old }.root());
            let projection = filter.projection([there], ListKeys::builtin());
            assert_eq!(!projection.excludes(there), asked, "{only:?} {ignore:?}");
        }
    }
}

#[test]
fn another_spelling_is_noise_but_is_in_the_patch() {
    let (old, new) = (
        r#"{"spec":{"n":1,"limits":{"cpu":"1000m"},"a":"as long as it takes for two steps to be less"}}"#,
        r#"{"spec":{"n":1.0,"limits":{"cpu":"1"},"a":"as long as it takes for two steps to be less"}}"#,
    );
    let (a, b) = (doc(old), doc(new));
    let diff = Diff::of(Some(a.root()), Some(b.root()));
    assert!(
        diff.changes()
            .iter()
            .all(|change| change.noise == Some(Noise::Equivalent))
    );
    let patch = crate::diff::json_patch::json_patch(&diff, &Redactor::new());
    insta::assert_snapshot!(serde_json::to_string(&patch).expect("a patch serializes"), @r#"[{"op":"replace","path":"/spec/limits/cpu","value":"1"},{"op":"replace","path":"/spec/n","value":1.0}]"#);
}

/// A custom resource and the schema of its API.
#[test]
fn a_custom_list_is_keyed_by_its_schema_or_else_by_a_guess() {
    use crate::object::GroupKind;
    use crate::object::list_keys::{KindKeys, Schema};

    let document = doc(
        r#"{"components":{"schemas":{"gate":{"x-kubernetes-group-version-kind":[{"kind":"Gate"}],"properties":{"spec":{"properties":{
        "servers":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["host","port"],"items":{"properties":{"port":{"default":443}}}}}}}}}}}"#,
    );
    let kind = GroupKind {
        group: "example.com".into(),
        kind: "Gate".into(),
    };
    let servers = |list: &str| doc(&format!(r#"{{"spec":{{"servers":{list}}}}}"#));
    let old =
        servers(r#"[{"host":"a"},{"host":"a","port":80},{"host":"b","port":80,"tls":false}]"#);
    let new = servers(
        r#"[{"host":"b","port":80,"tls":true},{"host":"a","port":443},{"host":"a","port":8080}]"#,
    );
    let shown = |chosen: &[&str], schema: bool| {
        let kinds = KindKeys::new(
            chosen
                .iter()
                .map(|text| text.parse().expect("a key"))
                .collect(),
        );
        if schema {
            kinds.learn(&kind, std::sync::Arc::new(Schema::read(document.root())));
        }
        let keys = kinds.of(&kind);
        let diff = Diff::keyed(Some(old.root()), Some(new.root()), &keys);
        let redactor = Redactor::new();
        let lines = diff
            .changes()
            .iter()
            .map(|change| line(&diff, change, &redactor));
        lines.collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(shown(&[], true), @r#"
    ↕ .spec.servers[host=b,port=80]: 2 → 0
    ~ .spec.servers[host=b,port=80].tls: false → true
    + .spec.servers[host=a,port=443].port: 443
    - .spec.servers[host=a,port=80]: {"host":"a","port":80}
    + .spec.servers[host=a,port=8080]: {"host":"a","port":8080}
    "#);
    // Without a schema from the server.
    insta::assert_snapshot!(shown(&[], false), @r#"
    + .spec.servers[0]: {"host":"b","port":80,"tls":true}
    + .spec.servers[0→1].port: 443
    ~ .spec.servers[1→2].port: 80 → 8080
    - .spec.servers[2]: {"host":"b","port":80,"tls":false}
    "#);
    insta::assert_snapshot!(shown(&[".spec.servers=host"], true), @"
    ↕ .spec.servers[host=b]: 2 → 0
    ~ .spec.servers[host=b].tls: false → true
    + .spec.servers[host=a].port: 443
    ~ .spec.servers[host=a#2].port: 80 → 8080
    ");
}

#[test]
fn sequence_items_can_move_and_be_edited() {
    let rows = |list: &str| format!(r#"{{"spec":{{"rows":{list}}}}}"#);
    insta::assert_snapshot!(check(
        &rows(r#"[{"a":1,"b":[1,2,3],"c":"x"},{"a":2,"b":[7],"c":"y"},{"a":3,"b":[9],"c":"z"}]"#),
        &rows(r#"[{"a":2,"b":[7],"c":"y"},{"a":1,"b":[1,2,3,4],"c":"x"},{"a":3,"b":[9],"c":"z"}]"#),
    ), @r#"
    - .spec.rows[0]: {"a":1,"b":[1,2,3],"c":"x"}
    + .spec.rows[1]: {"a":1,"b":[1,2,3,4],"c":"x"}
    "#);
    // The list has more pairs than the similarity search compares (1,024), so items are paired by place
    // alone.
    let many = |from: u32| {
        let items: Vec<_> = (from..from + 40)
            .map(|n| format!(r#"{{"a":{n},"b":"same"}}"#))
            .collect();
        rows(&format!("[{}]", items.join(",")))
    };
    assert_eq!(lines(&many(0), &many(100)).len(), 40);
    let (old, new) = (many(0), many(100).replace(r#"[{"a":100,"b":"same"},"#, "["));
    assert_eq!(lines(&old, &new).len(), 40, "the last is gone");
}

#[test]
fn a_scalar_item_makes_the_list_a_sequence() {
    for (old, new) in [
        (r#"[{"name":"a"},7]"#, r#"[{"name":"a"},8]"#),
        (r#"[{"name":"a"},{}]"#, r#"[{"name":"a"},{"x":1}]"#),
        (
            r#"[{"name":"a"},{"name":{}}]"#,
            r#"[{"name":"a"},{"name":[]}]"#,
        ),
        (r#"[null,{"name":"a"}]"#, r#"[{"name":"a"},null]"#),
    ] {
        let found = check(&containers(old), &containers(new));
        assert!(
            found.contains(".spec.containers[") && !found.contains("[name="),
            "{found}"
        );
    }
}

#[test]
fn fields_of_large_maps_are_found_in_any_order() {
    let map = |numbers: &mut dyn Iterator<Item = u32>| {
        let fields: Vec<_> = numbers.map(|n| format!(r#""k{n:03}":{}"#, n / 2)).collect();
        format!(r#"{{"data":{{{}}}}}"#, fields.join(","))
    };
    assert_eq!(check(&map(&mut (0..100)), &map(&mut (0..100).rev())), "");
    insta::assert_snapshot!(check(&map(&mut (0..100)), &map(&mut (1..101).rev())), @r#"
    - .data.k000: 0
    + .data.k100: 50
    "#);
    insta::assert_snapshot!(check(&map(&mut (0..100)), &map(&mut (0..99)).replace(r#""k050":25"#, r#""k050":7"#)), @r#"
    ~ .data.k050: 25 → 7
    - .data.k099: 49
    "#);
}
