//! The objects of the test: each verb looks at them while they are written.

use serde_json::Value;

use super::known::{Known, Words};
use super::{NAMESPACE, Server};

const WEB: &str = r#"
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {color: blue}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: 8080}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: "web:1"
        envFrom: [{configMapRef: {name: settings}}]
"#;

/// An object of server-side apply.
fn applied(data: &str) -> String {
    format!(
        r#"{{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {{"name": "applied"}}, "data": {data}}}"#
    )
}

const fn words(object: &'static str, what: &'static str, by: &'static str) -> Words {
    Words {
        object,
        what,
        by,
        change: String::new(),
    }
}

/// The words of a modification.
fn modified(object: &'static str, by: &'static str, change: &str) -> Words {
    Words {
        change: change.to_owned(),
        ..words(object, "modified", by)
    }
}

/// Makes all writes, and checks what the verbs say of them on the way.
pub fn write(server: &Server) -> Known {
    let mut known = Known::default();
    let applied = words(APPLIED, "created", "dave");
    apply_as(server, &mut known, applied, r#"{"a": "1", "b": "1"}"#);
    serve_web(server, &mut known);
    count(server, &mut known);
    known.event(server, "early");
    delete_and_create(server, &mut known);
    break_web(server, &mut known);
    apply(server, &mut known);
    known
}

/// A Deployment behind a Service: `status` and `trace` when all is well.
fn serve_web(server: &Server, known: &mut Known) {
    let by = "kubectl-client-side-apply";
    let created = ["ConfigMap/settings", "Service/web", "Deployment/web"];
    let created = created.map(|object| words(object, "created", by));
    known.record(created, || {
        server.kubectl_reading(WEB, &["apply", "-f", "-"])
    });
    server.kubectl(&["rollout", "status", "deploy/web", "--timeout=60s"]);
    let status = server.once(&["status", "deploy/web", "--exit-code"]);
    for part in [
        "deployment/web",
        "replicaset/web-",
        "pod/web-",
        "2/2",
        "Current",
    ] {
        assert!(status.contains(part), "no {part} in\n{status}");
    }
    for (object, parts) in [
        (
            "svc/web",
            [
                "service/web",
                "endpointslice/web-",
                "pod/web-",
                "deployment/web",
            ],
        ),
        (
            "deploy/web",
            ["deployment/web", "replicaset/web-", "pod/web-", "2/2"],
        ),
        (
            "cm/settings",
            ["configmap/settings", "deployment/web", "environment", "web"],
        ),
    ] {
        let trace = server.once(&["trace", object]);
        for part in parts {
            assert!(trace.contains(part), "{object}: no {part} in\n{trace}");
        }
    }
}

/// The number of versions that `count` writes.
const COUNT: u32 = 20;

/// Many versions within a few seconds, by two writers in turn: the look-back of a named object.
fn count(server: &Server, known: &mut Known) {
    let object = "ConfigMap/flags";
    let create = ["create", "cm", "flags", "--from-literal=n=0"];
    known.write(server, words(object, "created", "kubectl-create"), &create);
    for number in 1..=COUNT {
        let by = ["alice", "bob"][number as usize % 2];
        let patch = format!(r#"{{"data":{{"n":"{number}"}}}}"#);
        let change = format!(".data.n: {} → {number}", number - 1);
        let args = ["patch", "cm", "flags", "--field-manager", by, "-p", &patch];
        known.write(server, modified(object, by, &change), &args);
    }
    look_back(server);
}

/// All versions that `count` wrote are found, with their writers.
pub fn look_back(server: &Server) {
    let all = server.once(&["changes", "cm/flags", "--since", "all", "-o", "json"]);
    let records: Vec<Value> = all
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told: Vec<(u32, &str)> = records.iter().filter_map(counted).collect();
    let written = (1..=COUNT).map(|number| (number, ["alice", "bob"][number as usize % 2]));
    assert_eq!(told, written.collect::<Vec<_>>());
    let text = server.once(&["changes", "cm/flags", "--since", "all"]);
    assert!(text.contains("21 earlier versions"), "{text}");
    assert!(text.contains("~ .data.n: \"19\" → \"20\""), "{text}");
}

/// A revision means one moment in every storage: what was created after it is shown, wherever it is stored.
pub fn since_revision(server: &Server) {
    let path = "-o=jsonpath={.metadata.resourceVersion}";
    let revision = server.kubectl(&["get", "cm", "flags", path]);
    let text = server.once(&["changes", "cm,events", "--since-rv", &revision]);
    assert!(text.contains("CREATED event/late"), "{text}");
}

/// The number that a version of a counter has, and its writer.
fn counted(record: &Value) -> Option<(u32, &str)> {
    let number = record.pointer("/changes/0/new")?.as_str()?.parse().ok()?;
    Some((number, record.pointer("/actors/0/manager")?.as_str()?))
}

/// A deleted object is shown and can be restored; a re-created one is another object.
fn delete_and_create(server: &Server, known: &mut Known) {
    let object = "ConfigMap/gone";
    let create = ["create", "cm", "gone", "--from-literal=x=1"];
    known.write(server, words(object, "created", "kubectl-create"), &create);
    let patch = [
        "patch",
        "cm",
        "gone",
        "--field-manager=carol",
        "-p",
        r#"{"data":{"x":"2"}}"#,
    ];
    known.write(server, modified(object, "carol", ".data.x: 1 → 2"), &patch);
    known.write(
        server,
        words(object, "deleted", ""),
        &["delete", "cm", "gone"],
    );

    let text = server.once(&["changes", "cm/gone", "--since", "5m"]);
    for part in [
        "CREATED",
        "by carol",
        "~ .data.x: \"1\" → \"2\"",
        "DELETED configmap/gone",
    ] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
    let yaml = server.once(&["changes", "cm/gone", "-o", "yaml"]);
    let recreated = words(object, "recreated", "kubectl-create");
    known.record([recreated], || server.create(&yaml));
    let restored = server.kubectl(&["get", "cm", "gone", "-o", "jsonpath={.data}"]);
    assert_eq!(restored, r#"{"x":"2"}"#);
    let text = server.once(&["changes", "cm/gone", "--since", "5m"]);
    assert!(text.contains("RECREATED configmap/gone"), "{text}");

    let object = "Secret/db";
    let create = ["create", "secret", "generic", "db", "--from-literal=a=b"];
    known.write(server, words(object, "created", "kubectl-create"), &create);
    known.write(
        server,
        words(object, "deleted", ""),
        &["delete", "secret", "db"],
    );
}

/// An image that cannot be pulled: `status` names the cause and who changed what.
fn break_web(server: &Server, known: &mut Known) {
    let object = "Deployment/web";
    let image = ".spec.template.spec.containers[name=web].image";
    let set = ["set", "image", "deploy/web", "web=bad:1"];
    let change = format!("{image}: web:1 → bad:1");
    known.write(server, modified(object, "kubectl-set", &change), &set);
    let mut live = server.spy.start(&["status", "deploy/web", "-n", NAMESPACE]);
    live.until_where("the cause", |line| {
        line.contains("pod/web-") && line.contains("ErrImagePull")
    });
    live.interrupt();
    let args = [
        "status",
        "deploy/web",
        "--once",
        "--exit-code",
        "-n",
        NAMESPACE,
    ];
    let bad = server.spy.run(&args);
    assert_eq!(bad.status.code(), Some(1), "{}", bad.transcript());
    for part in ["bad:1", "changed", "by kubectl-set", "web:1 → bad:1"] {
        assert!(bad.stdout.contains(part), "no {part} in\n{}", bad.stdout);
    }
    let scale = ["scale", "deploy/web", "--replicas=3"];
    let scaled = modified(object, "kubectl", ".spec.replicas: 2 → 3");
    known.write(server, scaled, &scale);
    let set = ["set", "image", "deploy/web", "web=web:2"];
    let change = format!("{image}: bad:1 → web:2");
    known.write(server, modified(object, "kubectl-set", &change), &set);
    server.kubectl(&["rollout", "status", "deploy/web", "--timeout=60s"]);
    server.once(&["status", "deploy/web", "--exit-code"]);
}

/// The object of server-side apply.
const APPLIED: &str = "ConfigMap/applied";

/// One manager takes a key from the other, which then gives up its own.
fn apply(server: &Server, known: &mut Known) {
    let taken = modified(APPLIED, "erin", ".data.a: 1 → 2");
    apply_as(server, known, taken, r#"{"a": "2"}"#);
    let given_up = modified(APPLIED, "dave", ".data.b: 1 → nothing");
    apply_as(server, known, given_up, "{}");
}

fn apply_as(server: &Server, known: &mut Known, words: Words, data: &str) {
    let manager = format!("--field-manager={}", words.by);
    let args = [
        "apply",
        "--server-side",
        "--force-conflicts",
        &manager,
        "-f",
        "-",
    ];
    known.record([words], || server.kubectl_reading(&applied(data), &args));
}
