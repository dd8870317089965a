//! Tests that no terminal obeys text from a cluster. The hostile server puts control sequences into every
//! string that it sends, and none of them may reach the output.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::support::hostile::{Answer, Hostile};
use super::support::{Ran, Spy};

/// The planted text: clipboard (OSC 52), cleared screen, a C1 colour, a bidirectional and an invisible
/// character, a bell, an overwritten line and a forged line.
const STEERING: &str =
    "\u{1b}]52;c;aGk=\u{7}\u{1b}[2J\u{9b}31m\u{9d}0;t\u{9c}\u{202e}\u{200b}\u{7f}\r\nforged: yes";

/// The colour sequences that views write.
const COLOURS: [&str; 8] = [
    "\u{1b}[0m",
    "\u{1b}[1m",
    "\u{1b}[2m",
    "\u{1b}[1;4m",
    "\u{1b}[31m",
    "\u{1b}[32m",
    "\u{1b}[33m",
    "\u{1b}[36m",
];

/// The strings of an object that get the planted text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Planted {
    /// All strings except the type, because the program rejects another type.
    Everywhere,
    /// Strings that decide nothing. Names, times, kinds and selectors stay unchanged.
    Contents,
    /// As [`Planted::Contents`], but the `resourceVersion` is a number.
    BelowNumbers,
}

impl Planted {
    fn spares(self, field: &str) -> bool {
        const DECIDING: [&str; 17] = [
            "apiVersion",
            "kind",
            "name",
            "uid",
            "namespace",
            "type",
            "status",
            "phase",
            "app",
            "pod-template-hash",
            "kubernetes.io/service-name",
            "ip",
            "podIP",
            "addresses",
            "addressType",
            "operation",
            "fieldsType",
        ];
        match self {
            Planted::Everywhere => matches!(field, "apiVersion" | "kind" | "namespace"),
            Planted::BelowNumbers if field == "resourceVersion" => true,
            Planted::Contents | Planted::BelowNumbers => {
                DECIDING.contains(&field) || field.to_lowercase().ends_with("time")
            }
        }
    }

    /// The value with the text planted in it.
    fn plant(self, field: &str, value: &Value) -> Value {
        match value {
            Value::String(text) if self.spares(field) => json!(text),
            Value::String(text) => json!(format!("{text}{STEERING}")),
            Value::Array(items) => items.iter().map(|item| self.plant(field, item)).collect(),
            Value::Object(fields) => {
                let is_map = matches!(field, "labels" | "annotations" | "data" | "selector");
                let planted = fields.iter().map(|(name, value)| {
                    let value = self.plant(name, value);
                    if is_map && !self.spares(name) {
                        (format!("{name}{STEERING}"), value)
                    } else {
                        (name.clone(), value)
                    }
                });
                Value::Object(planted.collect())
            }
            other => other.clone(),
        }
    }
}

/// An object of this kind before planting. `n` distinguishes its versions.
fn object((api_version, kind): (&str, &str), name: &str, n: u32) -> Value {
    let labels = json!({"app": "web", "pod-template-hash": "1", "kubernetes.io/service-name": "web", "n": n.to_string()});
    let mut object = json!({
        "apiVersion": api_version, "kind": kind,
        "metadata": {
            "name": name, "namespace": "shop", "uid": format!("{kind}-{name}"), "resourceVersion": n.to_string(),
            "generation": n, "creationTimestamp": "2026-03-02T12:00:00Z", "labels": labels,
            "annotations": {
                "deployment.kubernetes.io/revision": "1", "note": format!("{n}"),
                "json": format!("{{\"a\":\"{n}\"}}"),
            },
            "finalizers": [format!("finalizer-{n}")],
            "managedFields": [{
                "manager": format!("manager-{n}"), "operation": "Update", "apiVersion": "v1", "subresource": "status",
                "time": format!("2026-03-02T12:00:{n:02}Z"), "fieldsType": "FieldsV1",
                "fieldsV1": {"f:data": {}, "f:status": {}, "f:metadata": {"f:labels": {}}},
            }],
        },
        "data": {"x": format!("{name} {n}"), "text": format!("one\n{n}\nthree")},
        "spec": {
            "replicas": n, "selector": {"matchLabels": {"app": "web"}}, "nodeName": format!("node-{n}"),
            "containers": [{"name": "c", "image": format!("image:{n}")}], "progressDeadlineSeconds": 600,
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": format!("image:{n}")}]}},
        },
        "status": {
            "phase": "Pending", "reason": format!("Reason{n}"), "message": format!("message {n}"), "observedGeneration": n,
            "conditions": [
                {"type": "Ready", "status": "False", "reason": format!("Reason{n}"), "message": format!("message {n}")},
                {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "slow"},
            ],
            "containerStatuses": [{
                "name": "c", "ready": false, "restartCount": n, "image": "i", "imageID": "i",
                "state": {"waiting": {"reason": "CrashLoopBackOff", "message": format!("message {n}")}},
                "lastState": {"terminated": {"exitCode": 1, "reason": "Error", "message": "oom"}},
            }],
            "podIP": "10.0.0.1",
        },
    });
    let owner = match kind {
        "Pod" => Some(("apps/v1", "ReplicaSet")),
        "ReplicaSet" => Some(("apps/v1", "Deployment")),
        _ => None,
    };
    if let Some((api_version, kind)) = owner {
        let owner = json!({"apiVersion": api_version, "kind": kind, "name": "web", "uid": format!("{kind}-web"), "controller": true});
        object["metadata"]["ownerReferences"] = json!([owner]);
    }
    if kind == "Service" {
        object["spec"] = json!({"clusterIP": "10.1.0.1", "type": "ClusterIP", "selector": {"app": "web"}, "ports": [{"name": "http", "port": 80, "targetPort": "http"}]});
    }
    if kind == "EndpointSlice" {
        object["addressType"] = json!("IPv4");
        object["ports"] = json!([{"name": "http", "port": 8080}]);
        let target = json!({"kind": "Pod", "name": "web", "uid": "Pod-web", "namespace": "shop"});
        object["endpoints"] = json!([{"addresses": ["10.0.0.1"], "conditions": {"ready": false}, "targetRef": target, "nodeName": "node", "zone": "zone"}]);
    }
    object
}

/// The kinds that the server serves, by the name in their paths.
const KINDS: [(&str, (&str, &str)); 6] = [
    ("configmaps", ("v1", "ConfigMap")),
    ("pods", ("v1", "Pod")),
    ("services", ("v1", "Service")),
    ("deployments", ("apps/v1", "Deployment")),
    ("replicasets", ("apps/v1", "ReplicaSet")),
    ("endpointslices", ("discovery.k8s.io/v1", "EndpointSlice")),
];

/// A server that plants the text in every answer.
fn server(planted: Planted) -> Hostile {
    Hostile::start(move |target| answer(target, planted))
}

fn answer(target: &str, planted: Planted) -> Answer {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let plural = path.rsplit('/').next().unwrap_or_default();
    let found = KINDS.iter().find(|(known, _)| *known == plural);
    let Some(&(_, kind)) = found else {
        return refusal(path, planted);
    };
    if query.contains("watch=") {
        return events(kind, planted);
    }
    let exact = query
        .split('&')
        .find_map(|part| part.strip_prefix("resourceVersion="));
    let exact = exact.filter(|_| query.contains("resourceVersionMatch=Exact"));
    let revision = exact.and_then(|text| text.parse().ok()).unwrap_or(30);
    if query.contains("includeObject=") {
        return table(kind, planted);
    }
    // The object has a new version every ten revisions.
    let version = revision / 10 * 10;
    let items: Vec<Value> = (version > 0)
        .then(|| planted.plant("", &object(kind, "web", version)))
        .into_iter()
        .collect();
    let metadata = planted.plant("", &json!({"resourceVersion": revision.to_string()}));
    let (api_version, kind) = kind;
    Answer::json(
        200,
        &json!({"apiVersion": api_version, "kind": format!("{kind}List"), "metadata": metadata, "items": items})
            .to_string(),
    )
}

/// Answers `/version` and discovery, and refuses other paths.
fn refusal(path: &str, planted: Planted) -> Answer {
    if path == "/version" {
        return Answer::json(
            200,
            &planted
                .plant("", &json!({"gitVersion": "v1.36.0", "major": "1"}))
                .to_string(),
        );
    }
    let printed = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403, "reason": "Forbidden",
        "message": format!("{path} is forbidden: no{STEERING}"),
        "details": {"name": format!("x{STEERING}"), "causes": [{"message": STEERING, "field": STEERING}]},
    });
    Answer::json(403, &printed.to_string())
}

fn table(kind: (&str, &str), planted: Planted) -> Answer {
    let row = object(kind, "web", 30);
    let table = json!({
        "metadata": {"resourceVersion": "30"},
        "columnDefinitions": [
            {"name": "Name", "type": "string", "format": "name"}, {"name": "Extra", "type": "string", "format": ""},
        ],
        "rows": [{"cells": ["web", "cell"], "object": {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": row["metadata"]}}],
    });
    let mut table = planted.plant("", &table);
    table["kind"] = json!("Table");
    table["apiVersion"] = json!("meta.k8s.io/v1");
    Answer::json(200, &table.to_string())
}

/// A watch with a change, a deletion, an addition, and an error.
fn events(kind: (&str, &str), planted: Planted) -> Answer {
    let of = |name, n| planted.plant("", &object(kind, name, n));
    let error = json!({"kind": "Status", "apiVersion": "v1", "code": 500, "reason": format!("R{STEERING}"), "message": format!("no{STEERING}")});
    let events = [
        ("MODIFIED", of("web", 40)),
        ("DELETED", of("web", 41)),
        ("ADDED", of("web", 50)),
        ("ADDED", of("the-last", 55)),
        ("MODIFIED", of("the-last", 56)),
        ("ERROR", error),
    ];
    let lines: Vec<Vec<u8>> = events
        .iter()
        .map(|(what, object)| Answer::piece(&json!({"type": what, "object": object}).to_string()))
        .collect();
    Answer::Pieces(Box::new(
        std::iter::once(Answer::stream_head()).chain(lines),
    ))
}

/// Fails if a terminal would obey or hide a character of the output.
fn assert_steers_nothing(ran: &Ran, what: &str) {
    let is_painted = what.contains("--color=always");
    for text in [&ran.stdout, &ran.stderr] {
        let ours = COLOURS.iter().filter(|_| is_painted);
        let text = ours.fold(text.clone(), |text, colour| text.replace(colour, ""));
        let harmful = text.chars().find(|&c| {
            (c.is_control() && !matches!(c, '\n' | '\t')) || matches!(c, '\u{200b}' | '\u{202e}')
        });
        assert_eq!(harmful, None, "{what}:\n{text:?}");
    }
    let forged = ran
        .stdout
        .lines()
        .find(|line| line.starts_with("forged: yes"));
    assert_eq!(forged, None, "{what}:\n{}", ran.stdout);
}

/// The formats of `changes`.
const FORMATS: [&[&str]; 10] = [
    &[],
    &["-o", "tree"],
    &["-o", "full", "--show-noise"],
    &["-o", "diff"],
    &["-o", "diff", "--show-noise", "--full"],
    &["-o", "json"],
    &["-o", "yaml"],
    &["-o", "name"],
    &["-o", "json-patch"],
    &["-o", "merge-patch"],
];

const PLANTED: [Planted; 3] = [
    Planted::Everywhere,
    Planted::Contents,
    Planted::BelowNumbers,
];

#[test]
fn live_changes_do_not_steer_a_terminal() {
    for planted in PLANTED {
        let server = server(planted);
        for colour in ["--color=never", "--color=always"] {
            let start = |format: &&[&str]| {
                let args = [&["changes", "cm", "--since=0", colour], *format].concat();
                (server.spy().start(&args), format!("{planted:?} {args:?}"))
            };
            // All runs start together, because each waits for the second attempt of its watch.
            let runs: Vec<_> = FORMATS.iter().map(start).collect();
            for (mut run, what) in runs {
                run.until("the-last");
                run.until("retrying");
                assert_steers_nothing(&run.interrupt(), &what);
            }
        }
    }
}

#[test]
fn past_changes_do_not_steer_a_terminal() {
    for planted in PLANTED {
        let server = server(planted);
        for colour in ["--color=never", "--color=always"] {
            for format in FORMATS {
                let args = [
                    &["changes", "cm/web", "--since=all", "--once", colour],
                    format,
                ]
                .concat();
                let ran = server.spy().run(&args);
                let what = format!("{planted:?} {args:?}");
                assert_steers_nothing(&ran, &what);
                if planted == Planted::BelowNumbers {
                    let lines = ran.stdout.lines().count();
                    assert!(
                        lines >= 2,
                        "{what}: it has not looked back:\n{}",
                        ran.transcript()
                    );
                }
            }
        }
    }
}

#[test]
fn status_and_trace_do_not_steer_a_terminal() {
    for planted in PLANTED {
        let server = server(planted);
        for args in [
            &["status", "deploy/web", "--once"][..],
            &["status", "pods", "--once"],
            &["status", "pods,cm", "--once", "-o", "json"],
            &["trace", "svc/web", "--once"],
            &["trace", "svc/web", "--once", "-o", "json"],
            &["trace", "deploy/web", "--once"],
            &["trace", "deploy/web", "--once", "-o", "json"],
            &["version"],
        ] {
            for colour in ["--color=never", "--color=always"] {
                let args = [args, &[colour]].concat();
                let ran = server.spy().run(&args);
                let what = format!("{planted:?} {args:?}");
                assert_steers_nothing(&ran, &what);
                if planted != Planted::Everywhere {
                    assert!(!ran.stdout.is_empty(), "{what}:\n{}", ran.stderr);
                }
            }
        }
    }
}

#[test]
fn errors_of_a_server_do_not_steer_a_terminal() {
    let server = server(Planted::Everywhere);
    for args in [
        &["changes", "widgets", "--since=0"][..],
        &["changes", "secrets", "--since=0", "--once"],
        &["changes", "secrets", "--since=0", "--once", "-o", "json"],
        &["changes", "secrets,cm", "--since=all", "--once"],
        &["changes", "secret/web", "--once"],
        &["status", "secrets", "--once"],
        &["trace", "widgets/web"],
    ] {
        for colour in ["--color=never", "--color=always"] {
            let args = [args, &[colour]].concat();
            let ran = server.spy().run(&args);
            let printed = ran.transcript();
            assert!(printed.contains("forbidden"), "{args:?}:\n{printed}");
            assert_steers_nothing(&ran, &format!("{args:?}"));
        }
    }
}

/// A credential plugin belongs to the user, but its output may come from anywhere.
#[test]
fn errors_of_a_credential_plugin_do_not_steer_a_terminal() {
    let script = format!("printf '%s' '{STEERING}' >&2; exit 1");
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {"exec": {
            "apiVersion": "client.authentication.k8s.io/v1", "command": "/bin/sh", "args": ["-c", script],
            "interactiveMode": "Never",
        }}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    });
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("steering-plugin.json");
    fs::write(&path, config.to_string()).unwrap();
    let spy = Spy::with_kubeconfig(path.to_str().unwrap());
    let ran = spy.run(&["changes", "pods", "--once", "--since=0"]);
    assert!(!ran.status.success());
    assert_steers_nothing(&ran, "exec");
}

/// The parts of the planted text that no frame may contain.
const HARMFUL: [&str; 7] = [
    "\u{1b}]",
    "\u{7}",
    "\u{9b}",
    "\u{9d}",
    "\u{202e}",
    "\u{200b}",
    "\u{1b}[2J",
];

/// On a terminal, only frames may move the cursor. No bell rings, no setting changes, and no text is hidden.
#[test]
fn live_frames_contain_no_planted_sequences() {
    for planted in PLANTED {
        let server = server(planted);
        let all = [
            &["changes", "cm", "--since=0"][..],
            &["changes", "cm/web"],
            &["changes", "cm", "--since=0", "-o", "diff"],
            &["status", "pods"],
            &["trace", "svc/web"],
            &["trace", "deploy/web"],
        ];
        // All runs start together, because each waits for the second attempt of its watch.
        let runs = all.map(|args| server.spy().on_terminal((100, 30), args));
        for (mut run, args) in runs.into_iter().zip(all) {
            run.until_shown("a lost connection", |screen| {
                screen.contains("reconnecting")
            });
            run.signal("INT");
            run.finish();
            let text = String::from_utf8_lossy(run.bytes()).into_owned();
            let found = HARMFUL.iter().find(|sequence| text.contains(**sequence));
            assert_eq!(found, None, "{planted:?} {args:?}:\n{text:?}");
        }
    }
}
