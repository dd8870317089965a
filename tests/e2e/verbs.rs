//! Each verb on real objects, which are created, rolled out, broken and deleted, also while their API server
//! is killed.

use serde_json::Value;

use super::controlplane::ControlPlane;
use super::support::{Ran, Running, Spy};

const WEB: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: "web:1"}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{name: http, port: 80, targetPort: 8080}]
"#;

/// A control plane on which `web` runs.
fn with_web(test: &str) -> ControlPlane {
    let plane = ControlPlane::start(test);
    serve_web(&plane);
    plane
}

fn serve_web(plane: &ControlPlane) {
    plane.apply(WEB);
    plane.kubectl(&["rollout", "status", "deploy/web", "--timeout=60s"]);
}

fn admin(plane: &ControlPlane) -> Spy {
    Spy::with_kubeconfig(plane.admin())
}

/// Ends a run with Ctrl-C, and checks properties that hold for every run.
fn end(running: Running) -> Ran {
    let ran = running.interrupt();
    let bytes = || ran.stdout.bytes().chain(ran.stderr.bytes());
    assert!(
        !bytes().any(|byte| byte == 0x1b),
        "an escape sequence in a pipe: {}",
        ran.stdout
    );
    ran
}

#[test]
fn changes_shows_changes_and_their_managers() {
    let plane = with_web("changes");
    let mut spy = admin(&plane).start(&["changes", "--since=0", "deploy/web", "svc/web"]);
    // There are two watches, whose order is random.
    spy.until_each(&["EXISTING deployment/web", "EXISTING service/web"]);
    plane.kubectl(&["set", "image", "deploy/web", "web=web:2"]);
    let header = spy.until("by kubectl-set");
    assert!(header.contains("MODIFIED deployment/web"), "{header}");
    assert!(header.contains("by kubectl-set  1 change"), "{header}");
    let image = spy.until(".image:");
    assert_eq!(
        image,
        "~ .spec.template.spec.containers[name=web].image: web:1 → web:2"
    );
    spy.until("by kube-controller-manager (status)");
    plane.kubectl(&["scale", "deploy/web", "--replicas=3"]);
    spy.until("~ .spec.replicas: 2 → 3");
    plane.kubectl(&["delete", "deploy/web"]);
    spy.until("DELETED deployment/web");
    plane.apply(WEB);
    spy.until("RECREATED deployment/web");
    end(spy);
}

#[test]
fn a_rotated_secret_is_listed_without_its_values() {
    let plane = ControlPlane::start("secret");
    plane.kubectl(&[
        "create",
        "secret",
        "generic",
        "db",
        "--from-literal=password=hunter2-old",
    ]);
    let text = admin(&plane);
    for output in ["paths", "json"] {
        let mut spy = text.start(&["changes", "--since=0", "secret/db", "-o", output]);
        spy.until_where("the object as it is", |line| {
            line.contains("EXISTING") || line.contains("baseline")
        });
        let patch = format!(r#"{{"stringData":{{"password":"hunter2-{output}"}}}}"#);
        plane.kubectl(&["patch", "secret", "db", "--type=merge", "-p", &patch]);
        spy.until(".data.password");
        let ran = end(spy);
        // `hunter2` as plain text, and in base64 at each of its three alignments.
        for leak in ["hunter2", "aHVudGVyM", "h1bnRlcj", "odW50ZXIy"] {
            assert!(
                !ran.stdout.contains(leak) && !ran.stderr.contains(leak),
                "{}",
                ran.stdout
            );
        }
    }
}

#[test]
fn status_names_the_image_that_cannot_be_pulled() {
    let plane = with_web("status");
    let mut spy = admin(&plane).start(&["status", "deploy/web"]);
    spy.until_where("the deployment, ready", |line| {
        line.contains("deployment/web") && line.contains("2/2")
    });
    plane.kubectl(&["set", "image", "deploy/web", "web=bad:1"]);
    spy.until_where("the cause", |line| {
        line.contains("pod/web-") && line.contains("ErrImagePull")
    });
    end(spy);
    let once = admin(&plane).run(&["status", "deploy/web", "--once"]);
    assert!(once.status.success(), "{}", once.stderr);
    for part in ["deployment/web", "replicaset/web-", "pod/web-", "bad:1"] {
        assert!(once.stdout.contains(part), "no {part} in\n{}", once.stdout);
    }
}

#[test]
fn status_makes_few_requests_for_its_own_objects_only() {
    let plane = with_web("frugal");
    plane.kubectl(&[
        "create",
        "deployment",
        "other",
        "--image=other:1",
        "--replicas=20",
    ]);
    plane.kubectl(&["rollout", "status", "deploy/other", "--timeout=60s"]);
    let ran = admin(&plane).run(&["status", "deploy/web", "--once", "-o", "json"]);
    let records: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(records.len() >= 4, "{}", ran.stdout);
    let foreign = records.iter().find(|record| {
        !record["ref"]["name"]
            .as_str()
            .is_some_and(|name| name.starts_with("web"))
    });
    assert_eq!(foreign, None);
    let log = plane.audit_log();
    let asked: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("kubectl-spy/"))
        .collect();
    let requests: std::collections::BTreeSet<String> = asked
        .iter()
        .map(|line| {
            let event: Value = serde_json::from_str(line).unwrap();
            event["auditID"].as_str().unwrap().to_owned()
        })
        .collect();
    assert!(
        requests.len() <= 12,
        "{} requests:\n{}",
        requests.len(),
        asked.join("\n")
    );
    assert!(
        asked
            .iter()
            .all(|line| !line.contains("/pods?") || line.contains("labelSelector")),
        "{asked:#?}"
    );
}

#[test]
fn trace_shows_the_service_and_its_pods() {
    let plane = with_web("trace");
    let once = admin(&plane).run(&["trace", "svc/web", "--once"]);
    assert!(once.status.success(), "{}", once.stderr);
    for part in [
        "service/web",
        "endpointslice/web-",
        "pod/web-",
        "deployment/web",
    ] {
        assert!(once.stdout.contains(part), "no {part} in\n{}", once.stdout);
    }
    plane.kubectl(&[
        "patch",
        "svc",
        "web",
        "-p",
        r#"{"spec":{"selector":{"app":"wbe"}}}"#,
    ]);
    let nothing = admin(&plane).run(&["trace", "svc/web", "--once"]);
    assert!(nothing.stdout.contains("app=wbe"), "{}", nothing.stdout);
    assert!(!nothing.stdout.contains("pod/web-"), "{}", nothing.stdout);
    let rollout = admin(&plane).run(&["trace", "deploy/web", "--once"]);
    assert!(rollout.stdout.contains("replicaset"), "{}", rollout.stdout);
}

#[test]
fn a_missing_object_is_an_error_or_is_waited_for() {
    let plane = with_web("absent");
    let spy = admin(&plane);
    for verb in ["changes", "status", "trace"] {
        let ran = spy.run(&[verb, "deploy/wbe", "--once"]);
        assert_eq!(ran.status.code(), Some(1), "{verb}: {}", ran.stdout);
        let mut lines = ran.stderr.lines();
        let first = lines.next().unwrap_or_default();
        assert_eq!(
            first, "Error from server (NotFound): deployments.apps \"wbe\" not found",
            "{verb}"
        );
        assert!(
            ran.stderr.contains("web"),
            "{verb} offers no name: {}",
            ran.stderr
        );
    }
    let mut waiting = spy.start(&["changes", "--since=0", "deploy/later"]);
    waiting.until("waiting for deployments.apps");
    plane.kubectl(&["create", "deployment", "later", "--image=later:1"]);
    waiting.until("CREATED deployment/later");
    end(waiting);
}
