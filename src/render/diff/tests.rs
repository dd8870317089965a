//! Tests of the paths view, with whole outputs.

use std::collections::BTreeSet;

use jiff::tz::TimeZone;

use super::*;
use crate::diff::{Diff, Filter, Noise, Redactor};
use crate::object::managed_fields::Writers;
use crate::object::{Doc, ObjectRef, ResourceVersion};
use crate::render::style::testing::{ansi, explain, painted, plain};
use crate::render::style::{Look, Styles, Symbols};
use crate::render::text::{self, Text};

/// The options of a view that a test may set.
pub(super) struct Setting {
    pub(super) width: Option<usize>,
    pub(super) styles: Styles,
    pub(super) symbols: &'static Symbols,
    pub(super) filter: Filter,
    pub(super) noise: BTreeSet<Noise>,
    pub(super) fold: Fold,
}

impl Default for Setting {
    fn default() -> Setting {
        Setting {
            width: None,
            styles: Styles::PLAIN,
            symbols: &Symbols::UNICODE,
            filter: Filter::default(),
            noise: BTreeSet::new(),
            fold: Fold::Many,
        }
    }
}

impl Setting {
    pub(super) fn with<T>(&self, use_it: impl FnOnce(&DiffView<'_>) -> T) -> T {
        use_it(&DiffView {
            look: Look {
                width: self.width,
                styles: self.styles,
                symbols: self.symbols,
            },
            redactor: &Redactor::new(),
            filter: &self.filter,
            noise: &self.noise,
            zone: &TimeZone::UTC,
            fold: self.fold,
        })
    }

    pub(super) fn lines(&self, old: &str, new: &str) -> String {
        let (old, new) = (doc(old), doc(new));
        self.with(|view| {
            let diff = Diff::of(Some(old.root()), Some(new.root()));
            let writers = Writers::of(Some(old.root()), Some(new.root()));
            painted(ShownChanges::of(&diff, &writers, view).lines(), self.styles)
        })
    }
}

pub(super) fn doc(text: &str) -> Doc {
    Doc::parse(text).expect("valid JSON")
}

fn check(old: &str, new: &str) -> String {
    Setting::default().lines(old, new)
}

#[test]
fn the_start_of_a_pod() {
    let condition = |name: &str, status: &str, second: u32, rest: &str| {
        format!(
            r#"{{"type":"{name}","status":"{status}","lastProbeTime":null,"lastTransitionTime":"2024-05-01T14:02:{second:02}Z"{rest}}}"#
        )
    };
    let unready =
        r#","reason":"ContainersNotReady","message":"containers with unready status: [web]""#;
    let status = |phase: &str, conditions: [String; 3], container: &str, rest: &str| {
        format!(
            r#"{{"kind":"Pod","metadata":{{"resourceVersion":"{phase}"}},"status":{{"phase":"{phase}","conditions":[{}],"containerStatuses":[{container}]{rest}}}}}"#,
            conditions.join(",")
        )
    };
    let old = status(
        "Pending",
        [
            condition("PodReadyToStartContainers", "False", 1, ""),
            condition("Ready", "False", 1, unready),
            condition("PodScheduled", "True", 1, ""),
        ],
        r#"{"name":"web","image":"web:1","imageID":"","ready":false,"started":false,"restartCount":0,"lastState":{},"state":{"waiting":{"reason":"ContainerCreating"}}}"#,
        "",
    );
    let new = status(
        "Running",
        [
            condition("PodReadyToStartContainers", "True", 6, ""),
            condition("Ready", "True", 7, ""),
            condition("PodScheduled", "True", 1, ""),
        ],
        r#"{"name":"web","image":"web:1","imageID":"registry.example.com/shop/web@sha256:1d0c2f0a4e6b1d0c2f0a4e6b1d0c2f0a4e6b1d0c2f0a4e6b1d0c2f0a4e6b1d0c","ready":true,"started":true,"restartCount":0,"lastState":{},"state":{"running":{"startedAt":"2024-05-01T14:02:06Z"}}}"#,
        r#","podIP":"10.244.1.17","podIPs":[{"ip":"10.244.1.17"}]"#,
    );
    let setting = Setting {
        width: Some(140),
        ..Setting::default()
    };
    insta::assert_snapshot!(setting.lines(&old, &new), @r#"
    ~ .status.phase: Pending → Running
    + .status.podIP: 10.244.1.17
    + .status.podIPs: [{ip: 10.244.1.17}]
    ~ .status.conditions[type=PodReadyToStartContainers]: False → True  14:02:06 (after 5s)
    ~ .status.conditions[type=Ready]: False → True  14:02:07 (after 6s)  was ContainersNotReady: containers with unready status: [web]
    ~ .status.containerStatuses[name=web]
        ~ imageID: "" → registry.example.com/shop/web@sha256:1d0c2f0a4e6b…
        ~ ready: false → true
        ~ started: false → true
        ~ state: waiting ContainerCreating → running since 14:02:06
    "#);
}

#[test]
fn a_condition_takes_one_line() {
    let status = |conditions: &str| format!(r#"{{"status":{{"conditions":[{conditions}]}}}}"#);
    // The reason changes, the status does not.
    insta::assert_snapshot!(check(
        &status(r#"{"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable","message":"ReplicaSet \"web-1\" has successfully progressed."}"#),
        &status(r#"{"type":"Progressing","status":"True","reason":"ReplicaSetUpdated","message":"ReplicaSet \"web-2\" is progressing."}"#),
    ), @r#"~ .status.conditions[type=Progressing]: True  NewReplicaSetAvailable → ReplicaSetUpdated: ReplicaSet "web-2" is progressing."#);
    // Only the message changes.
    insta::assert_snapshot!(check(
        &status(r#"{"type":"Ready","status":"False","reason":"A","message":"1 of 3 ready"}"#),
        &status(r#"{"type":"Ready","status":"False","reason":"A","message":"2 of 3 ready"}"#),
    ), @"~ .status.conditions[type=Ready].message: 1 of 3 ready → 2 of 3 ready");
    // One condition becomes false, one is added, one is removed, and one has a field of its own.
    insta::assert_snapshot!(check(
        &status(r#"{"type":"Ready","status":"True","lastTransitionTime":"2024-05-01T14:02:07Z"},{"type":"Old","status":"True","reason":"R"},{"type":"X","status":"False","severity":"low"}"#),
        &status(r#"{"type":"Ready","status":"False","lastTransitionTime":"2024-05-01T14:05:30Z","reason":"ContainersNotReady","message":"containers with unready status: [web]"},{"type":"New","status":"True","lastTransitionTime":"2024-05-01T14:05:30Z","message":"m"},{"type":"X","status":"True","severity":"high"}"#),
    ), @"
    ~ .status.conditions[type=Ready]: True → False  14:05:30 (after 3m23s)  ContainersNotReady: containers with unready status: [web]
    - .status.conditions[type=Old]: True  R
    + .status.conditions[type=New]: True  14:05:30  m
    ~ .status.conditions[type=X]: False → True
    ~ .status.conditions[type=X].severity: low → high
    ");
}

#[test]
fn the_crash_of_a_container() {
    insta::assert_snapshot!(check(
        r#"{"status":{"containerStatuses":[{"name":"web","ready":true,"restartCount":0,"lastState":{},"state":{"running":{"startedAt":"2024-05-01T14:02:06Z"}}}]}}"#,
        r#"{"status":{"containerStatuses":[{"name":"web","ready":false,"restartCount":1,"lastState":{"terminated":{"reason":"OOMKilled","exitCode":137}},"state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off 10s"}}}]}}"#,
    ), @"
    ~ .status.containerStatuses[name=web]
        + lastState: terminated OOMKilled exit 137
        ~ ready: true → false
        ~ restartCount: 0 → 1
        ~ state: running since 14:02:06 → waiting CrashLoopBackOff: back-off 10s
    ");
}

const APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

fn deployment(image: &str, replicas: u32, applied: &str) -> String {
    let spec = |image: &str| {
        format!(
            r#"{{"replicas":{replicas},"template":{{"metadata":{{"labels":{{"version":"{image}"}}}},"spec":{{"containers":[{{"name":"web","image":"registry.example.com/shop/web:{image}"}}]}}}}}}"#
        )
    };
    let applied = serde_json::to_string(&format!(r#"{{"spec":{}}}"#, spec(applied)))
        .expect("a string serializes");
    format!(
        r#"{{"kind":"Deployment","metadata":{{"annotations":{{"{APPLIED}":{applied}}},"generation":{replicas},"resourceVersion":"{image}"}},"spec":{}}}"#,
        spec(image)
    )
}

#[test]
fn changes_that_last_applied_repeats_are_shown_once() {
    insta::assert_snapshot!(check(
        &deployment("v1.4.2", 3, "v1.4.2"),
        &deployment("v1.5.0", 3, "v1.5.0"),
    ), @"
    ~ .spec.template.metadata.labels.version: v1.4.2 → v1.5.0
    ~ .spec.template.spec.containers[name=web].image: registry.example.com/shop/web:v1.4.2 → registry.example.com/shop/web:v1.5.0
      last-applied-configuration: same 2 changes
    ");
    // The applied manifest and the object differ.
    insta::assert_snapshot!(check(
        &deployment("v1.4.2", 3, "v1.4.2"),
        &deployment("v1.4.2", 3, "v1.5.0"),
    ), @"
    last-applied-configuration: 2 changes inside
      ~ .spec.template.metadata.labels.version: v1.4.2 → v1.5.0
      ~ .spec.template.spec.containers[name=web].image: registry.example.com/shop/web:v1.4.2 → registry.example.com/shop/web:v1.5.0
    ");
}

#[test]
fn changed_words_are_emphasised() {
    let setting = Setting {
        styles: ansi(),
        ..Setting::default()
    };
    let painted = setting.lines(
        r#"{"spec":{"image":"web:1.4","a":1,"c":[1]}}"#,
        r#"{"spec":{"image":"web:1.5","b":2,"c":[1]}}"#,
    );
    insta::assert_snapshot!(explain(&painted), @"
    (red)- (normal)(red).spec.a(normal)(red): (normal)(red)1(normal)
    (green)+ (normal)(green).spec.b(normal)(green): (normal)(green)2(normal)
    (yellow)~ (normal).spec.image: web:1.(bold underline)4(normal)(dim) → (normal)web:1.(bold underline)5(normal)
    ");
}

#[test]
fn types_are_named_if_they_change() {
    insta::assert_snapshot!(check(
        r#"{"a":"8080","b":{},"c":[1],"d":"on","e":"2024-05-01T14:02:01Z","f":"x","g":""}"#,
        r#"{"a":8080,"b":[],"c":null,"d":"off","e":"2024-05-01T14:02:07Z","f":"say \"hi\"\nthere","g":"\u001b[2J"}"#,
    ), @r#"
    ~ .a: "8080" → 8080  (string → number)
    ~ .b: {} → []  (object → list)
    ~ .c: [1] → null
    ~ .d: "on" → "off"
    ~ .e: 2024-05-01T14:02:01Z → 2024-05-01T14:02:07Z  (+6s)
    ~ .f  +2 -1 lines
        @@ 1 @@
        - x \ no newline
        + say "hi"
        + there \ no newline
    ~ .g: "" → "\u001b[2J"
    "#);
}

#[test]
fn renames_are_shown() {
    insta::assert_snapshot!(check(
        r#"{"data":{"a.yaml":"some: value\n"}}"#,
        r#"{"data":{"b.yaml":"some: value\n"}}"#,
    ), @r#"
    - .data["a.yaml"]: "some: value\n"
    + .data["b.yaml"]: "some: value\n"  (renamed from .data["a.yaml"])
    "#);
    insta::assert_snapshot!(check(
        r#"{"spec":{"containers":[{"name":"a","image":"web:1"}]}}"#,
        r#"{"spec":{"containers":[{"name":"b","image":"web:1"}]}}"#,
    ), @"
    - .spec.containers[name=a]: {image: web:1}
    + .spec.containers[name=b]: {image: web:1}  (same except name)
    ");
}

#[test]
fn text_is_compared_line_by_line() {
    let map = |text: &str| {
        let text = serde_json::to_string(text).expect("a string serializes");
        format!(r#"{{"kind":"ConfigMap","data":{{"app.yaml":{text}}}}}"#)
    };
    insta::assert_snapshot!(check(
        &map("server:\n  timeout: 30s\n  port: 80\na: 1\nb: 2\nc: 3\nqueues:\n  - cart\n"),
        &map("server:\n  timeout: 60s\n  port: 80\na: 1\nb: 2\nc: 3\nqueues:\n  - cart\n  - wishlist"),
    ), @r#"
    ~ .data["app.yaml"]  +2 -1 lines
        @@ 1 @@
          server:
        -   timeout: 30s
        +   timeout: 60s
            port: 80
        @@ 8 @@
            - cart
        +   - wishlist \ no newline
    "#);
    insta::assert_snapshot!(check(&map("a\nb\n"), &map("a\r\nb\r\n")), @r#"~ .data["app.yaml"]: line endings LF → CRLF"#);
    // If both sides are JSON, they are compared as JSON; else as text.
    insta::assert_snapshot!(check(&map(r#"{"a":1,"b":[1,2]}"#), &map(r#"{"b":[1,3],"a":1}"#)), @r#"
    ~ .data["app.yaml"]: 1 change inside
        ~ .b[1]: 2 → 3
    "#);
    insta::assert_snapshot!(check(&map(r#"{"a":1}"#), &map(r#"{ "a": 1 }"#)), @r#"~ .data["app.yaml"]: same JSON, written differently"#);
    insta::assert_snapshot!(check(&map("{\"a\":1}\n"), &map("{\"a\":1\n")), @r#"
    ~ .data["app.yaml"]  +1 -1 lines
        @@ 1 @@
        - {"a":1}
        + {"a":1
    "#);
}

#[test]
fn secret_values_are_hidden() {
    let secret = |password: &str, string: &str| {
        let applied = format!(
            r#"{{"apiVersion":"v1","kind":"Secret","stringData":{{"password":"{string}"}}}}"#
        );
        let applied = serde_json::to_string(&applied).expect("a string serializes");
        format!(
            r#"{{"apiVersion":"v1","kind":"Secret","metadata":{{"annotations":{{"{APPLIED}":{applied}}}}},"data":{{"password":"{password}"}}}}"#
        )
    };
    insta::assert_snapshot!(check(&secret("aHVudGVyMg==", "hunter2"), &secret("aHVudGVyMw==", "hunter3")), @"
    ~ .data.password: <secret 7 B #1> → <secret 7 B #2>
      last-applied-configuration: ~ .stringData.password: <secret 7 B #1> → <secret 7 B #2>
    ");
}

#[test]
fn list_changes_are_shown_by_item() {
    let service = |ports: &str| format!(r#"{{"kind":"Service","spec":{{"ports":{ports}}}}}"#);
    let old = service(
        r#"[{"name":"http","port":80,"protocol":"TCP","targetPort":8080},{"name":"dns","port":53,"protocol":"UDP","targetPort":5353},
            {"name":"dns-tcp","port":53,"protocol":"TCP","targetPort":5353},{"name":"https","port":443,"protocol":"TCP","targetPort":8443}]"#,
    );
    let new = service(
        r#"[{"name":"https","port":443,"protocol":"TCP","targetPort":8443},{"name":"http","port":80,"protocol":"TCP","targetPort":8080},
            {"name":"dns-tcp","port":53,"protocol":"TCP","targetPort":5354},{"name":"metrics","port":9090,"protocol":"TCP","targetPort":9090}]"#,
    );
    insta::assert_snapshot!(check(&old, &new), @"
    - .spec.ports[port=53,protocol=UDP]: {name: dns, targetPort: 5353}
    ~ .spec.ports[port=53,protocol=TCP].targetPort: 5353 → 5354
    + .spec.ports[port=9090,protocol=TCP]: {name: metrics, targetPort: 9090}
    ");
    let setting = Setting {
        noise: [Noise::Order].into(),
        symbols: &Symbols::ASCII,
        ..Setting::default()
    };
    insta::assert_snapshot!(setting.lines(&old, &new), @"
    ^ .spec.ports[port=443,protocol=TCP]: 3 -> 0
    - .spec.ports[port=53,protocol=UDP]: {name: dns, targetPort: 5353}
    ~ .spec.ports[port=53,protocol=TCP].targetPort: 5353 -> 5354
    + .spec.ports[port=9090,protocol=TCP]: {name: metrics, targetPort: 9090}
    ");
    insta::assert_snapshot!(check(
        r#"{"args":["--a","--b","--c"],"rules":[{"verbs":["get"]}],"metadata":{"finalizers":["a","b"]}}"#,
        r#"{"args":["--c","--a","--b"],"rules":[{"verbs":["get","list"]}],"metadata":{"finalizers":["b","c"]}}"#,
    ), @"
    - .metadata.finalizers: a
    + .metadata.finalizers: c
    ↕ .args: 2 → 0  --c
    + .rules[0].verbs: list
    ");
}

#[test]
fn a_shuffled_list_is_one_line() {
    let list = |order: &mut dyn Iterator<Item = u32>| {
        let items: Vec<String> = order
            .map(|n| format!(r#"{{"addresses":["10.0.{}.{}"]}}"#, n / 250, n % 250))
            .collect();
        format!(r#"{{"endpoints":[{}]}}"#, items.join(","))
    };
    let setting = Setting {
        noise: [Noise::Order].into(),
        ..Setting::default()
    };
    let text = setting.lines(
        &list(&mut (0..5000)),
        &list(&mut (0..5000).map(|n| n * 1201 % 5000)),
    );
    insta::assert_snapshot!(text, @"↕ .endpoints: 4,800 of 5,000 items moved, none changed");
    // A list of values without keys, whose order means something.
    let list = |order: &mut dyn Iterator<Item = u32>| {
        let items: Vec<String> = order.map(|n| format!(r#""n{n}""#)).collect();
        format!(r#"{{"args":[{}]}}"#, items.join(","))
    };
    insta::assert_snapshot!(check(
        &list(&mut (0..5000)),
        &list(&mut (0..5000).map(|n| n * 1201 % 5000)),
    ), @"↕ .args: 4,800 of 5,000 items moved, none changed");
}

#[test]
fn equivalent_spellings_are_hidden_only_in_quantities() {
    let pod = |cpu: &str| {
        format!(
            r#"{{"metadata":{{"annotations":{{"a":"{cpu}"}}}},"spec":{{"containers":[{{"name":"web","resources":{{"requests":{{"cpu":"{cpu}"}}}}}}]}}}}"#
        )
    };
    insta::assert_snapshot!(check(&pod("1000m"), &pod("1")), @r#"~ .metadata.annotations.a: 1000m → "1""#);
}

#[test]
fn terminal_commands_are_escaped_in_keys_and_values() {
    insta::assert_snapshot!(check(
        r#"{"data":{"\u001b[2J":"x"},"spec":{"a":"x","list":[{"name":"\u0007"}]}}"#,
        r#"{"data":{"\u001b[2J":"\u202ey","\u202e":"\u0007"},"spec":{"a":"\u0007\u001b\u202e","list":[{"name":"\u0007","b":"\u009b"}]}}"#,
    ), @r#"
    ~ .spec.a: x → "\u0007\u001b\u{202e}"
    + .spec.list[name="\u0007"].b: "\u{9b}"
    ~ .data["\u001b[2J"]: x → \u{202e}y
    + .data["\u{202e}"]: "\u0007"
    "#);
}

#[test]
fn noise_is_shown_on_request() {
    let setting = Setting {
        noise: Noise::ALL.into(),
        ..Setting::default()
    };
    insta::assert_snapshot!(setting.lines(
        r#"{"metadata":{"resourceVersion":"1"},"spec":{"limits":{"cpu":"1000m"},"n":1}}"#,
        r#"{"metadata":{"resourceVersion":"2"},"spec":{"limits":{"cpu":"1"},"n":1.0}}"#,
    ), @r#"
    ~ .metadata.resourceVersion: "1" → "2"
    ≈ .spec.n: 1 → 1.0
    ≈ .spec.limits.cpu: 1000m → "1"
    "#);
}

#[test]
fn only_and_ignore_select_paths() {
    let setting = |only: &[&str], ignore: &[&str]| {
        let read = |texts: &[&str]| {
            texts
                .iter()
                .map(|text| text.parse().expect("a pattern"))
                .collect()
        };
        Setting {
            filter: Filter {
                only: read(only),
                ignore: read(ignore),
            },
            ..Setting::default()
        }
    };
    let old = r#"{"metadata":{"labels":{"a":"1"}},"spec":{"containers":[{"name":"web","image":"1"}]},"kind":"X"}"#;
    let new = r#"{"metadata":{"labels":{"a":"2"}},"spec":{"containers":[{"name":"web","image":"2"},{"name":"log","image":"3"}]},"status":{"phase":"Up","x":1},"kind":"X"}"#;
    insta::assert_snapshot!(setting(&["status"], &[]).lines(old, new), @"+ .status: {phase: Up, x: 1}");
    insta::assert_snapshot!(setting(&["status.phase"], &[]).lines(old, new), @"+ .status: {phase: Up, x: 1}");
    insta::assert_snapshot!(setting(&["status.nothing"], &[]).lines(old, new), @"");
    insta::assert_snapshot!(setting(&["**.image"], &["**[name=web]"]).lines(old, new), @r#"+ .spec.containers[name=log]: {image: "3"}"#);
    insta::assert_snapshot!(setting(&["spec.containers[name=log].image"], &[]).lines(old, new), @r#"+ .spec.containers[name=log]: {image: "3"}"#);
    insta::assert_snapshot!(setting(&[], &["metadata", "spec"]).lines(old, new), @"+ .status: {phase: Up, x: 1}");
    // The filter applies to new objects too.
    let new = doc(new);
    let created = |setting: &Setting| {
        setting.with(|view| plain(created_lines(view.redactor.shown(new.root()), view)))
    };
    insta::assert_snapshot!(created(&setting(&["status", "metadata"], &[])), @r#"+ .metadata.labels: {a: "2"}"#);
    insta::assert_snapshot!(created(&setting(&["spec"], &["metadata"])), @r#"+ .spec.containers: [{name: web, image: "2"}, {name: log, image: "3"}]"#);
}

#[test]
fn too_many_changes_are_counted() {
    let data = |value: u32| {
        let fields: Vec<String> = (0..300).map(|n| format!(r#""k{n}":"{value}""#)).collect();
        format!(r#"{{"data":{{{}}},"x":{value}}}"#, fields.join(","))
    };
    let setting = Setting {
        width: Some(80),
        ..Setting::default()
    };
    assert_eq!(check(&data(1), &data(2)).lines().count(), 301);
    insta::assert_snapshot!(setting.lines(&data(1), &data(2)), @"
    ~ .data: 300 changes
    ~ .x: 1 → 2
      301 lines in all; --no-fold shows them
    ");
    let new = doc(&data(2));
    let created = |setting: &Setting| {
        setting.with(|view| plain(created_lines(view.redactor.shown(new.root()), view)))
    };
    insta::assert_snapshot!(created(&setting), @"
    + .data: {300 fields}
    + .x: 2
      301 lines in all; --no-fold shows them
    ");
    let unfolded = Setting {
        fold: Fold::Never,
        ..setting
    };
    assert_eq!(created(&unfolded).lines().count(), 301);
    assert_eq!(unfolded.lines(&data(1), &data(2)).lines().count(), 301);
}

#[test]
fn managers_are_named() {
    let entry = |manager: &str, subresource: &str, time: &str, fields: &str| {
        format!(
            r#"{{"manager":"{manager}","operation":"Update","subresource":"{subresource}","apiVersion":"v1","time":"2024-05-01T14:02:{time}Z","fieldsV1":{fields}}}"#
        )
    };
    let object = |entries: &[String], spec: &str| {
        format!(
            r#"{{"metadata":{{"managedFields":[{}]}},{spec}}}"#,
            entries.join(",")
        )
    };
    let replicas = r#"{"f:spec":{"f:replicas":{}}}"#;
    let status =
        r#"{"f:status":{"f:phase":{},"f:conditions":{"k:{\"type\":\"Ready\"}":{"f:status":{}}}}}"#;
    // Two managers wrote one version, so each line names one.
    insta::assert_snapshot!(check(
        &object(&[entry("kubectl", "", "01", replicas), entry("kubelet", "status", "01", status)], r#""spec":{"replicas":1},"status":{"phase":"A","other":1}"#),
        &object(&[entry("kubectl", "", "02", replicas), entry("kubelet", "status", "02", status)], r#""spec":{"replicas":2},"status":{"phase":"B","other":2}"#),
    ), @"
    ~ .spec.replicas: 1 → 2  by kubectl
    ~ .status.other: 1 → 2
    ~ .status.phase: A → B  by kubelet (status)
    ");
    // One manager removes a field of another.
    insta::assert_snapshot!(check(
        &object(&[entry("hpa", "", "01", replicas)], r#""spec":{"replicas":1}"#),
        &object(&[entry("kubectl-edit", "", "02", "{}")], r#""spec":{}"#),
    ), @"- .spec.replicas: 1  (was hpa's)");
}

#[test]
fn a_single_manager_is_named_in_the_heading_only() {
    let entry = |manager: &str, subresource: &str, fields: &str| {
        format!(
            r#"{{"manager":"{manager}","operation":"Update","subresource":"{subresource}","apiVersion":"v1","time":"2024-05-01T14:02:01Z","fieldsV1":{{"f:spec":{{{fields}}}}}}}"#
        )
    };
    let check = |entries: &[String], filter: &str| {
        let object = |spec: &str| {
            let entries = entries.join(",");
            doc(&format!(
                r#"{{"metadata":{{"managedFields":[{entries}]}},"spec":{spec}}}"#
            ))
        };
        let (old, new) = (
            object(r#"{"a":1,"b":1,"c":1}"#),
            object(r#"{"a":2,"b":2,"c":1}"#),
        );
        let setting = Setting {
            filter: Filter {
                only: vec![filter.parse().expect("a path")],
                ..Filter::default()
            },
            ..Setting::default()
        };
        setting.with(|view| {
            let diff = Diff::of(Some(old.root()), Some(new.root()));
            let writers = Writers::of(Some(old.root()), Some(new.root()));
            let shown = ShownChanges::of(&diff, &writers, view);
            let who = shown.who().map_or(String::new(), |who| who.to_string());
            format!("{who}\n{}", plain(shown.lines()))
        })
    };
    // The entries have the same second and the same fields, so no writer is known.
    let both = r#""f:a":{},"f:b":{}"#;
    insta::assert_snapshot!(check(&[entry("hpa", "scale", both)], "**"), @"
    probably by hpa (scale)
    ~ .spec.a: 1 → 2
    ~ .spec.b: 1 → 2
    ");
    // kube-apiserver gives this name to clients that do not name themselves.
    insta::assert_snapshot!(check(&[entry("unknown", "", both)], "**"), @r#"
    probably by "unknown"
    ~ .spec.a: 1 → 2
    ~ .spec.b: 1 → 2
    "#);
    // Several managers own the shown fields, so each line names one.
    let two = [
        entry("hpa", "", r#""f:a":{}"#),
        entry("kubectl", "", r#""f:b":{}"#),
    ];
    insta::assert_snapshot!(check(&two, "**"), @"
    ~ .spec.a: 1 → 2  probably by hpa
    ~ .spec.b: 1 → 2  probably by kubectl
    ");
    insta::assert_snapshot!(check(&two, "spec.a"), @"
    probably by hpa
    ~ .spec.a: 1 → 2
    ");
    insta::assert_snapshot!(check(&two[..1], "**"), @"
    ~ .spec.a: 1 → 2  probably by hpa
    ~ .spec.b: 1 → 2
    ");
}

#[test]
fn conditions_fit_the_width() {
    let entry = |manager: &str, second: u32, field: &str| {
        format!(
            r#"{{"manager":"{manager}","operation":"Update","subresource":"status","apiVersion":"v1","time":"2024-05-01T14:02:0{second}Z","fieldsV1":{{"f:status":{{"f:{field}":{{}}}}}}}}"#
        )
    };
    let object = |count: u32, kind: &str, condition: &str| {
        let own = entry("kube-controller-manager", 1, "conditions");
        let other = entry("kube-scheduler", count, "n");
        format!(
            r#"{{"metadata":{{"managedFields":[{own},{other}]}},"status":{{"n":{count},"conditions":[{{"type":"{kind}",{condition}}}]}}}}"#
        )
    };
    let lines = |width: usize, kind: &str, (old, new): (&str, &str)| {
        let setting = Setting {
            width: Some(width),
            ..Setting::default()
        };
        let lines = setting.lines(&object(1, kind, old), &object(2, kind, new));
        lines
            .lines()
            .find(|line| line.contains("conditions"))
            .unwrap_or_default()
            .to_owned()
    };
    let progressing = (
        r#""status":"True","lastTransitionTime":"2024-05-01T14:02:01Z","reason":"NewReplicaSetAvailable","message":"ReplicaSet \"web-6b9f6c5d77\" has successfully progressed.""#,
        r#""status":"False","lastTransitionTime":"2024-05-01T14:12:01Z","reason":"ProgressDeadlineExceeded","message":"ReplicaSet \"web-6b9f6c5d78\" has timed out progressing.""#,
    );
    let all = [200, 160, 120, 110, 80, 70].map(|width| lines(width, "Progressing", progressing));
    insta::assert_snapshot!(all.join("\n"), @r#"
    ~ .status.conditions[type=Progressing]: True → False  14:12:01 (after 10m)  ProgressDeadlineExceeded: ReplicaSet "web-6b9f6c…(+10 B)timed out progressing.  probably by kube-controller-manager (status)
    ~ .status.conditions[type=Progressing]: True → False  ProgressDeadlineExceeded: ReplicaSet "w…(+28 B) progressing.  probably by kube-controller-manager (status)
    ~ .status.conditions[type=Progressing]: True → False  ProgressDeadlineExceeded: ReplicaSet "web-…(+22 B)out progressing.
    ~ .status.conditions[type=Progressing]: True → False  ProgressDeadlineExceeded: ReplicaSet …(+32 B)rogressing.
    ~ .status.conditions[type=Progressing]: True → False  ProgressDeadlineExceeded
    ~ .status.conditions[type=Progressing]: True → False  ProgressDeadlin…
    "#);
    let updated = (
        progressing.0,
        &*progressing
            .0
            .replace("NewReplicaSetAvailable", "ReplicaSetUpdated"),
    );
    let all = [200, 120, 80].map(|width| lines(width, "Progressing", updated));
    insta::assert_snapshot!(all.join("\n"), @r#"
    ~ .status.conditions[type=Progressing]: True  NewReplicaSetAvailable → ReplicaSetUpdated: ReplicaSet "web-6b9f6c5d77" has successfully progressed.  probably by kube-controller-manager (status)
    ~ .status.conditions[type=Progressing]: True  NewReplicaSetAvailable → ReplicaSetUpdated: ReplicaSet …(+34 B)progressed.
    ~ .status.conditions[type=Progressing]: True  NewReplicaSet… → ReplicaSetUpdated
    "#);
    for width in (80..200).step_by(7) {
        for kind in ["Ready", "Progressing", "PodReadyToStartContainers"] {
            for pair in [progressing, updated] {
                let line = lines(width, kind, pair);
                assert!(text::width(&line) <= width, "{width}: {line}");
            }
        }
    }
}

#[test]
fn created_objects_are_summarized() {
    let object = doc(
        r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","labels":{"app":"web"},"uid":"u","creationTimestamp":"2024-05-01T14:02:01Z"},
            "spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"}},"strategy":{},
            "template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"web","image":"web:1.4","ports":[{"containerPort":8080}]}],"restartPolicy":"Always"}}},"status":{}}"#,
    );
    let setting = Setting {
        width: Some(100),
        ..Setting::default()
    };
    let lines = setting.with(|view| plain(created_lines(view.redactor.shown(object.root()), view)));
    insta::assert_snapshot!(lines, @"
    + .metadata.labels: {app: web}
    + .spec.replicas: 3
    + .spec.selector: {matchLabels: {app: web}}
    + .spec.template: {metadata: {1 field}, spec: {2 fields}}
    + .spec.template.spec.containers[name=web].image: web:1.4
    ");
    for path in ["0", "*", "name=web"] {
        let path = format!(".spec.template.spec.containers[{path}].image");
        let setting = Setting {
            width: setting.width,
            filter: crate::diff::tests::filter(&[&path], &[]),
            ..Setting::default()
        };
        let lines = setting.with(|view| created_lines(view.redactor.shown(object.root()), view));
        let image = "+ .spec.template.spec.containers[name=web].image: web:1.4";
        assert_eq!(lines.last().map(Text::as_str), Some(image), "{path}");
    }
    let secret =
        doc(r#"{"apiVersion":"v1","kind":"Secret","type":"Opaque","data":{"a":"aHVudGVyMg=="}}"#);
    let lines = setting.with(|view| plain(created_lines(view.redactor.shown(secret.root()), view)));
    insta::assert_snapshot!(lines, @"
    + .type: Opaque
    + .data.a: <secret 7 B #1>
    ");
}

#[test]
fn a_heading_that_is_too_long_drops_parts_in_order() {
    let object = ObjectRef::of(
        doc(r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"}}"#).root(),
    );
    let (from, to) = (ResourceVersion::new("90001"), ResourceVersion::new("90120"));
    let counts = ChangeCounts {
        shown: 3,
        noise: [(Noise::Version, 2)].into(),
        filtered: 0,
    };
    let past = Header {
        time: "15:10:00",
        change: ChangeType::Modified,
        object: &object,
        from: Some(&from),
        to: Some(&to),
        since: Some(jiff::SignedDuration::from_secs(6)),
        ago: Some("5m ago"),
        notes: &[],
        who: Some("by kubectl-set"),
        counts: Some(&counts),
    };
    let fitted = [100, 90, 85, 80, 60, 50, 40].map(|columns| {
        let width = Some(columns);
        header(
            &past,
            Look {
                width,
                ..look(Styles::PLAIN)
            },
        )
    });
    insta::assert_snapshot!(plain(fitted), @"
    15:10:00 MODIFIED deployment/web  90001→90120  +6s  5m ago  by kubectl-set  3 changes, 2 hidden
    15:10:00 MODIFIED deployment/web  90001→90120  5m ago  by kubectl-set  3 changes, 2 hidden
    15:10:00 MODIFIED deployment/web  90001→90120  by kubectl-set  3 changes, 2 hidden
    15:10:00 MODIFIED deployment/web  by kubectl-set  3 changes, 2 hidden
    15:10:00 MODIFIED deployment/web  by kubectl-set  3 changes
    15:10:00 MODIFIED deployment/web  by kubectl-set
    15:10:00 MODIFIED deployment/web  by ku…
    ");
}

#[test]
fn headings_have_all_their_parts() {
    let object = ObjectRef::of(
        doc(r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop"}}"#).root(),
    );
    let (from, to) = (ResourceVersion::new("90001"), ResourceVersion::new("90120"));
    let counts = ChangeCounts {
        shown: 3,
        noise: [(Noise::Version, 2), (Noise::ManagedFields, 1)].into(),
        filtered: 0,
    };
    let full = Header {
        time: "15:10:00",
        change: ChangeType::Modified,
        object: &object,
        from: Some(&from),
        to: Some(&to),
        since: Some(jiff::SignedDuration::from_secs(6)),
        ago: None,
        notes: &[],
        who: Some("by kubectl-client-side-apply"),
        counts: Some(&counts),
    };
    let bare = Header {
        change: ChangeType::Recreated,
        from: None,
        since: None,
        notes: &["new uid".to_owned(), "versions may be missing".to_owned()],
        who: None,
        counts: None,
        ..full
    };
    let ascii = Look {
        symbols: &Symbols::ASCII,
        ..look(Styles::PLAIN)
    };
    let lines = [
        header(&full, look(Styles::PLAIN)),
        header(&full, ascii),
        header(&bare, look(Styles::PLAIN)),
    ];
    let coloured = explain(&header(&full, look(ansi())).paint(ansi()));
    insta::assert_snapshot!(format!("{}\n{coloured}", plain(lines)), @"
    15:10:00 MODIFIED deployment/web  90001→90120  +6s  by kubectl-client-side-apply  3 changes, 3 hidden
    15:10:00 MODIFIED deployment/web  90001->90120  +6s  by kubectl-client-side-apply  3 changes, 3 hidden
    15:10:00 RECREATED deployment/web  90120  new uid  versions may be missing
    (dim)15:10:00(normal) (yellow)MODIFIED(normal) (bold)deployment/web(normal)  (dim)90001→90120(normal)  (dim)+6s(normal)  by kubectl-client-side-apply  (dim)3 changes, 3 hidden(normal)
    ");
}

fn look(styles: Styles) -> Look {
    Look {
        width: None,
        styles,
        symbols: &Symbols::UNICODE,
    }
}

/// The status of a Pod at five times of its life.
#[rustfmt::skip]
const LIFE: [&str; 5] = [
    r#"{"phase":"Pending"}"#,
    r#"{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"True"}]}"#,
    r#"{"phase":"Pending","conditions":[{"type":"Initialized","status":"True"},{"type":"Ready","status":"False","reason":"ContainersNotReady","message":"unready: [nginx]"},{"type":"PodScheduled","status":"True"}],
        "containerStatuses":[{"name":"nginx","ready":false,"state":{"waiting":{"reason":"ContainerCreating"}}}],"hostIP":"10.0.0.9","startTime":"2024-05-01T14:02:01Z"}"#,
    r#"{"phase":"Pending","conditions":[{"type":"Initialized","status":"True"},{"type":"Ready","status":"False","reason":"ContainersNotReady","message":"unready: [nginx]"},{"type":"PodScheduled","status":"True"}],
        "containerStatuses":[{"name":"nginx","ready":false,"state":{"waiting":{"reason":"ErrImagePull","message":"not found"}}}],"hostIP":"10.0.0.9","startTime":"2024-05-01T14:02:01Z","podIP":"172.17.0.4"}"#,
    r#"{"phase":"Pending","conditions":[{"type":"Initialized","status":"True"},{"type":"Ready","status":"False","reason":"ContainersNotReady","message":"unready: [nginx]"},{"type":"PodScheduled","status":"True"}],
        "containerStatuses":[{"name":"nginx","ready":false,"state":{"waiting":{"reason":"ImagePullBackOff","message":"Back-off pulling"}}}],"hostIP":"10.0.0.9","startTime":"2024-05-01T14:02:01Z","podIP":"172.17.0.4"}"#,
];

#[test]
fn a_pod_with_a_missing_image() {
    let pods = LIFE.map(|status| format!(r#"{{"kind":"Pod","status":{status}}}"#));
    let steps: Vec<String> = pods
        .windows(2)
        .map(|pair| check(&pair[0], &pair[1]))
        .collect();
    insta::assert_snapshot!(steps.join("\n--\n"), @r#"
    + .status.conditions: [{type: PodScheduled, status: "True"}]
    --
    + .status.containerStatuses: [{name: nginx, ready: false, state: {waiting: {reason: ContainerCreating}}}]
    + .status.hostIP: 10.0.0.9
    + .status.startTime: 2024-05-01T14:02:01Z
    + .status.conditions[type=Initialized]: True
    + .status.conditions[type=Ready]: False  ContainersNotReady: unready: [nginx]
    --
    + .status.podIP: 172.17.0.4
    ~ .status.containerStatuses[name=nginx].state: waiting ContainerCreating → waiting ErrImagePull: not found
    --
    ~ .status.containerStatuses[name=nginx].state: waiting ErrImagePull → waiting ImagePullBackOff: Back-off pulling
    "#);
}

#[test]
fn scalars_and_nested_values_take_one_line() {
    insta::assert_snapshot!(check(
        "{}",
        r#"{"a":3,"b":1.5,"c":true,"d":null,"e":{},"f":[],"g":"true","h":"","i":{"x":[1,{"y":"a, b"}]}}"#,
    ), @r#"
    + .a: 3
    + .b: 1.5
    + .c: true
    + .d: null
    + .e: {}
    + .f: []
    + .g: "true"
    + .h: ""
    + .i: {x: [1, {"y": "a, b"}]}
    "#);
    insta::assert_snapshot!(check(r#"{"kind":"X"}"#, r#"{"kind":"X","status":{"phase":"Pending"}}"#), @"+ .status: {phase: Pending}");
}

/// A `ConfigMap` with one text.
fn map(text: &str) -> String {
    let text = serde_json::to_string(text).expect("a string serializes");
    format!(r#"{{"kind":"ConfigMap","data":{{"app.yaml":{text}}}}}"#)
}

#[test]
fn one_changed_byte_in_a_line_of_a_megabyte() {
    let words: Vec<_> = (0..100_000).map(|n| format!("key{n}=value ")).collect();
    let old = words.concat();
    let mut new = old.clone();
    new.replace_range(500_000..500_001, "\u{1b}");
    let at = |width| Setting {
        width,
        ..Setting::default()
    };
    insta::assert_snapshot!(at(None).lines(&map(&old), &map(&new)), @r#"~ .data["app.yaml"]: at byte 500,000 of 1,488,890  …071=value key34072=value key34073=value key34074=value key34075=value key34076=va… → …071=value key34072=value key34073=value ^[ey34074=value key34075=value key34076=va…"#);
    insta::assert_snapshot!(at(Some(100)).lines(&map(&old), &map(&new)), @r#"~ .data["app.yaml"]: at byte 500,000 of 1,488,890  …lue key34073=value key34074=value key34… → …lue key34073=value ^[ey34074=value key34…"#);
    let whole = Setting {
        fold: Fold::Never,
        ..at(None)
    };
    assert!(whole.lines(&map(&old), &map(&new)).len() > 2 * old.len());
    // The change is at an end, or in a character of several bytes.
    let long = "日本語".repeat(9000);
    insta::assert_snapshot!(at(None).lines(&map(&long), &map(&format!("{long}本"))), @r#"~ .data["app.yaml"]: at byte 81,000 of 81,000  …語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語 → …語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語本"#);
    insta::assert_snapshot!(at(None).lines(&map(&long), &map(&long.replacen('日', "月", 1))), @r#"~ .data["app.yaml"]: at byte 0 of 81,000  日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本… → 月本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本語日本…"#);
    // The whole value differs.
    let lines = at(None).lines(&map(&long), &map(&"x".repeat(80_000)));
    assert!(lines.chars().count() < 400, "{lines}");
    // The value is a text of several lines, or an added value.
    let lines = at(None).lines(&map(&format!("a\n{old}\n")), &map(&format!("a\n{new}\n")));
    assert!(
        lines.lines().all(|line| line.chars().count() < 300) && lines.lines().count() == 5,
        "{lines}"
    );
    let lines = at(None).lines(r#"{"kind":"ConfigMap","data":{}}"#, &map(&old));
    assert!(lines.chars().count() < 500, "{lines}");
}

#[test]
fn three_edits_in_a_megabyte_of_text_are_three_hunks() {
    let line = |n: u32| {
        format!(
            "  key-{n}: a value that is {} characters long or so\n",
            n % 60
        )
    };
    let old = (0..20_000).map(line).collect::<Vec<_>>().concat();
    let new = [100, 10_000, 19_990].iter().fold(old.clone(), |text, n| {
        text.replace(&line(*n), &line(*n).replace("value", "VALUE"))
    });
    assert!(old.len() > 1_000_000);
    insta::assert_snapshot!(check(&map(&old), &map(&new)), @r#"
    ~ .data["app.yaml"]  +3 -3 lines
        @@ 100 @@
            key-99: a value that is 39 characters long or so
        -   key-100: a value that is 40 characters long or so
        +   key-100: a VALUE that is 40 characters long or so
            key-101: a value that is 41 characters long or so
        @@ 10000 @@
            key-9999: a value that is 39 characters long or so
        -   key-10000: a value that is 40 characters long or so
        +   key-10000: a VALUE that is 40 characters long or so
            key-10001: a value that is 41 characters long or so
        @@ 19990 @@
            key-19989: a value that is 9 characters long or so
        -   key-19990: a value that is 10 characters long or so
        +   key-19990: a VALUE that is 10 characters long or so
            key-19991: a value that is 11 characters long or so
    "#);
}

#[test]
fn an_annotation_that_is_json_on_one_side_only_is_text() {
    let note = |text: &str| {
        let text = serde_json::to_string(text).expect("a string serializes");
        format!(r#"{{"kind":"X","metadata":{{"annotations":{{"note":{text}}}}}}}"#)
    };
    insta::assert_snapshot!(check(&note(r#"{"a":1,"b":2}"#), &note(r#"{"a":1,"b":"#)), @r#"~ .metadata.annotations.note: "{\"a\":1,\"b\":2}" → "{\"a\":1,\"b\":""#);
    insta::assert_snapshot!(check(&note("{\n  \"a\": 1\n}"), &note("{\n  \"a\": 2\n")), @r#"
    ~ .metadata.annotations.note  +1 -2 lines
        @@ 1 @@
          {
        -   "a": 1
        - } \ no newline
        +   "a": 2
    "#);
    insta::assert_snapshot!(check(&note(r#"{"a":1,"b":2}"#), &note(r#"{"a":1,"b":3}"#)), @"
    ~ .metadata.annotations.note: 1 change inside
        ~ .b: 2 → 3
    ");
}

#[test]
fn three_moves_are_shown_singly_and_more_in_one_line() {
    let containers = |names: &str| {
        let items = names
            .chars()
            .map(|name| format!(r#"{{"name":"{name}","image":"i"}}"#));
        let items = items.collect::<Vec<_>>().join(",");
        format!(r#"{{"kind":"Pod","spec":{{"initContainers":[{items}]}}}}"#)
    };
    insta::assert_snapshot!(check(&containers("abcd"), &containers("dcba")), @"
    ↕ .spec.initContainers[name=d]: 3 → 0
    ↕ .spec.initContainers[name=c]: 2 → 1
    ↕ .spec.initContainers[name=b]: 1 → 2
    ");
    insta::assert_snapshot!(check(&containers("abcdef"), &containers("fedcba").replacen("\"i\"", "\"j\"", 1)), @"
    ↕ .spec.initContainers: 5 of 6 items moved, 1 other change
    ~ .spec.initContainers[name=f].image: i → j
    ");
}

#[test]
fn a_deletion_shows_its_time_and_its_grace_period() {
    insta::assert_snapshot!(check(
        r#"{"kind":"Pod","metadata":{"name":"a"}}"#,
        r#"{"kind":"Pod","metadata":{"name":"a","deletionTimestamp":"2024-05-01T14:02:31Z","deletionGracePeriodSeconds":30}}"#,
    ), @"
    + .metadata.deletionGracePeriodSeconds: 30
    + .metadata.deletionTimestamp: 2024-05-01T14:02:31Z
    ");
}

#[test]
fn numbers_of_any_size_keep_their_digits() {
    insta::assert_snapshot!(check(
        r#"{"a":9007199254740993,"b":18446744073709551617,"c":1,"d":-0.10,"e":1e400}"#,
        r#"{"a":9007199254740992,"b":18446744073709551616,"c":1.0,"d":-0.1,"e":2e400}"#,
    ), @"
    ~ .a: 9007199254740993 → 9007199254740992
    ~ .b: 18446744073709551617 → 18446744073709551616
    ~ .e: 1e400 → 2e400
    ");
}

#[test]
fn cuts_keep_wide_and_joined_characters_whole() {
    let value = |text: &str| format!(r#"{{"kind":"X","spec":{{"title":"{text}"}}}}"#);
    let family = "👩\u{200d}👩\u{200d}👧".repeat(20);
    let setting = Setting {
        width: Some(60),
        ..Setting::default()
    };
    for (old, new) in [
        ("日本語テキスト".repeat(12), "日本誤テキスト".repeat(12)),
        (family.clone(), format!("{family}e\u{301}")),
    ] {
        for line in setting.lines(&value(&old), &value(&new)).lines() {
            assert!(
                text::width(line) <= 60 && !line.contains('\u{fffd}'),
                "{line}"
            );
            // A cut must not split a family emoji, or a letter from its accent.
            let joined = |c: char| matches!(c, '\u{200d}' | '\u{301}');
            let mut pieces = line.split(['…', ' ', '→']);
            assert!(
                pieces.all(|piece| !piece.starts_with(joined) && !piece.ends_with('\u{200d}')),
                "{line}"
            );
        }
    }
}

#[test]
fn a_change_among_very_many_items_takes_one_line() {
    let object = |changed: u32| {
        let items = (0..3600).map(|n| {
            let state = if n == changed { "on" } else { "off" };
            format!(
                r#"{{"name":"item-{n}","state":"{state}","note":"{}"}}"#,
                "x".repeat(360)
            )
        });
        let items = items.collect::<Vec<_>>().join(",");
        format!(r#"{{"kind":"Bundle","spec":{{"things":[{items}]}}}}"#)
    };
    insta::assert_snapshot!(check(&object(9999), &object(1800)), @r#"~ .spec.things[name=item-1800].state: "off" → "on""#);
}
