//! Pairs of versions and what is said of them.

use super::*;

/// A pod with these containers.
fn containers(list: &str) -> String {
    format!(r#"{{"kind":"Pod","spec":{{"containers":{list}}}}}"#)
}

#[test]
fn equal_versions_say_nothing() {
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
fn what_the_server_counts_is_noise() {
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
    // The same names elsewhere are the object's own business.
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
fn scalars() {
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
fn quantities_only_where_the_api_has_them() {
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
fn items_go_by_their_key() {
    // Two of one name: the k-th is compared with the k-th.
    insta::assert_snapshot!(check(
        &containers(r#"[{"name":"w","env":[{"name":"A","value":"1"},{"name":"A","value":"2"}]}]"#),
        &containers(r#"[{"name":"w","env":[{"name":"A","value":"1"},{"name":"A","value":"3"}]}]"#),
    ), @r#"~ .spec.containers[name=w].env[name=A#2].value: "2" → "3""#);
    // One in front, another edited.
    insta::assert_snapshot!(check(
        &containers(r#"[{"name":"a","image":"1"},{"name":"b","image":"1"}]"#),
        &containers(r#"[{"name":"z","image":"1"},{"name":"a","image":"1"},{"name":"b","image":"2"}]"#),
    ), @r#"
    + .spec.containers[name=z]: {"name":"z","image":"1"}
    ~ .spec.containers[name=b].image: "1" → "2"
    "#);
    // Renamed.
    insta::assert_snapshot!(check(
        &containers(r#"[{"name":"a","image":"1"}]"#),
        &containers(r#"[{"name":"b","image":"1"}]"#),
    ), @r#"
    - .spec.containers[name=a]: {"name":"a","image":"1"}
    + .spec.containers[name=b]: {"name":"b","image":"1"}
    "#);
    // Reversed, and one edited on the way.
    insta::assert_snapshot!(check(
        &containers(r#"[{"name":"a"},{"name":"b"},{"name":"c"},{"name":"d","image":"1"}]"#),
        &containers(r#"[{"name":"d","image":"2"},{"name":"c"},{"name":"b"},{"name":"a"}]"#),
    ), @r#"
    ↕ .spec.containers[name=d]: 3 → 0
    ~ .spec.containers[name=d].image: "1" → "2"
    ↕ .spec.containers[name=c]: 2 → 1
    ↕ .spec.containers[name=b]: 1 → 2
    "#);
    // A scalar among them: a sequence, and no panic.
    insta::assert_snapshot!(check(
        &containers(r#"[{"name":"a"},"x"]"#),
        &containers(r#"[{"name":"a"},"y"]"#),
    ), @r#"~ .spec.containers[1]: "x" → "y""#);
}

#[test]
fn ports() {
    // A protocol that is left out is TCP.
    insta::assert_snapshot!(check(
        &containers(r#"[{"name":"a","ports":[{"containerPort":80}]}]"#),
        &containers(r#"[{"name":"a","ports":[{"containerPort":80,"protocol":"TCP"}]}]"#),
    ), @r#"+ .spec.containers[name=a].ports[containerPort=80,protocol=TCP].protocol: "TCP""#);
    // One moved, one removed, one added, one edited; TCP 53 and UDP 53 are two.
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
fn sets() {
    let finalizers = |list: &str| format!(r#"{{"metadata":{{"finalizers":{list}}}}}"#);
    insta::assert_snapshot!(check(&finalizers(r#"["a","b"]"#), &finalizers(r#"["b","c"]"#)), @r#"
    - .metadata.finalizers: "a"
    + .metadata.finalizers: "c"
    "#);
    insta::assert_snapshot!(check(&finalizers(r#"["a","b"]"#), &finalizers(r#"["b","a"]"#)), @"↕ .metadata.finalizers: 1 → 0 (order)");
    insta::assert_snapshot!(check(&finalizers(r#"["a","a"]"#), &finalizers(r#"["a"]"#)), @r#"- .metadata.finalizers: "a""#);
}

#[test]
fn sequences() {
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
fn rules_without_names() {
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
fn moved_and_edited() {
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
fn conditions_in_another_order_are_the_same_conditions() {
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
fn depth_is_no_danger() {
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
fn a_shuffled_list_is_all_moves() {
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

#[test]
fn a_diff_can_be_recycled() {
    let buffer = {
        let (old, new) = (doc(r#"{"a":1}"#), doc(r#"{"a":2}"#));
        Diff::of(Some(old.root()), Some(new.root())).recycle()
    };
    let (old, new) = (doc(r#"{"b":1}"#), doc(r#"{"b":1}"#));
    let mut diff = buffer;
    diff_into(&old, &new, &mut diff);
    assert!(diff.is_empty());
}

fn diff_into<'a>(old: &'a Doc, new: &'a Doc, out: &mut Diff<'a>) {
    super::super::diff(Some(old.root()), Some(new.root()), ListKeys::builtin(), out);
}
