//! `trace` of rollouts and runs that real controllers perform, and that a quota, a broken Pod or a limit stops.

use super::controlplane::ControlPlane;
use super::support::{Running, Spy};

const DB: &str = r#"
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: db, image: "db:1"}]
"#;

fn trace(plane: &ControlPlane, object: &str) -> Running {
    Spy::with_kubeconfig(plane.admin()).start(&["trace", object])
}

fn once(plane: &ControlPlane, verb: &str, object: &str) -> String {
    let ran = Spy::with_kubeconfig(plane.admin()).run(&[verb, object, "--once"]);
    assert!(ran.status.success(), "{}", ran.stderr);
    ran.stdout
}

fn set_image(plane: &ControlPlane, object: &str, image: &str) {
    plane.kubectl(&["set", "image", object, image]);
}

/// Checks that a frame holds all texts.
fn holds(frame: &str, texts: &[&str]) {
    for text in texts {
        assert!(frame.contains(text), "no {text} in\n{frame}");
    }
}

#[test]
fn a_stateful_set_stops_at_its_partition_and_at_a_broken_pod() {
    let plane = ControlPlane::start("stateful");
    plane.apply(DB);
    plane.kubectl(&["rollout", "status", "sts/db", "--timeout=60s"]);
    let mut spy = trace(&plane, "sts/db");
    spy.until("statefulset/db Current: complete: 2/2 available");
    let partition = r#"{"spec":{"updateStrategy":{"rollingUpdate":{"partition":1}}}}"#;
    plane.kubectl(&["patch", "sts", "db", "--type=merge", "-p", partition]);
    set_image(&plane, "sts/db", "db=db:2");
    spy.until(
        "gen 3 by kubectl-set: ~ .spec.template.spec.containers[name=db].image: db:1 -> db:2",
    );
    spy.until("statefulset/db Current: complete up to the partition: 1/1 updated, 2 available");
    let frame = once(&plane, "trace", "sts/db");
    holds(
        &frame,
        &["partition 1", "1 of 2 replicas updated", "#2", "#1"],
    );

    let whole = r#"{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}"#;
    set_image(&plane, "sts/db", "db=db:crash");
    spy.until("available failed");
    plane.kubectl(&["patch", "sts", "db", "--type=merge", "-p", whole]);
    set_image(&plane, "sts/db", "db=db:3");
    let command = "to unblock it: kubectl delete pod db-1 -n default";
    spy.until("statefulset/db Failed: rolling out");
    for verb in ["trace", "status"] {
        holds(
            &once(&plane, verb, "sts/db"),
            &["rollout blocked by pod/db-1", command],
        );
    }
    plane.kubectl(&["delete", "pod", "db-1", "-n", "default"]);
    spy.until("statefulset/db Current: complete: 2/2 available");
    spy.interrupt();
}

#[test]
fn a_deployment_is_scaled_paused_blocked_and_rolled_back() {
    let plane = ControlPlane::start("blocked");
    plane.kubectl(&[
        "create",
        "deployment",
        "web",
        "--image=web:1",
        "--replicas=2",
    ]);
    plane.kubectl(&["rollout", "status", "deploy/web", "--timeout=60s"]);
    let mut spy = trace(&plane, "deploy/web");
    spy.until("deployment/web Current: complete: 2/2 available");
    set_image(&plane, "deploy/web", "web=web:bad");
    spy.until("spec change: gen 2 by kubectl-set: ~ .spec.template.spec.containers[name=web].image: web:1 -> web:bad");
    spy.until("deployment/web Failed: rolling out");
    plane.kubectl(&["scale", "deploy/web", "--replicas=3"]);
    spy.until("then changed: gen 3 by kubectl (scale): ~ .spec.replicas: 2 -> 3");
    holds(
        &once(&plane, "trace", "deploy/web"),
        &["web:bad", "images", "✗ rolling out"],
    );
    plane.kubectl(&["rollout", "pause", "deploy/web"]);
    spy.until("then changed: gen 4");
    plane.kubectl(&["rollout", "resume", "deploy/web"]);
    plane.kubectl(&["rollout", "undo", "deploy/web"]);
    spy.until("deployment/web Current: complete: 3/3 available");
    holds(&once(&plane, "trace", "deploy/web"), &["revision 1 again"]);

    plane.kubectl(&["create", "quota", "few", "--hard=pods=3"]);
    // The quota also counts the broken Pod until the API server has deleted it.
    plane.kubectl(&[
        "wait",
        "quota/few",
        "--for=jsonpath={.status.used.pods}=3",
        "--timeout=60s",
    ]);
    set_image(&plane, "deploy/web", "web=web:2");
    spy.until("deployment/web Failed: FailedCreate");
    holds(
        &once(&plane, "trace", "deploy/web"),
        &["exceeded quota few: pods needs 1, 0 free (3 of 3 used)"],
    );
    plane.kubectl(&["delete", "quota", "few"]);
    plane.kubectl(&["scale", "deploy/web", "--replicas=0"]);
    spy.until("deployment/web Current: scaled to 0");
    spy.interrupt();
}

#[test]
fn a_deployment_without_nodes_names_who_cordoned_them() {
    let plane = ControlPlane::start("cordoned");
    plane.kubectl(&["create", "deployment", "web", "--image=web:1"]);
    plane.kubectl(&["rollout", "status", "deploy/web", "--timeout=60s"]);
    let cordon = r#"{"spec":{"unschedulable":true}}"#;
    for node in ["node-1", "node-2"] {
        plane.kubectl(&["patch", "node", node, "-p", cordon, "--field-manager=alice"]);
    }
    plane.kubectl(&["delete", "pods", "-l", "app=web"]);
    // A later change that has nothing to do with nodes.
    plane.kubectl(&["set", "env", "deploy/web", "MODE=b", "--field-manager=bob"]);
    let mut spy = Spy::with_kubeconfig(plane.admin()).start(&["status", "deploy/web"]);
    spy.until_each(&[
        "no node takes it: node-1 (cordoned), node-2 (cordoned)",
        "by alice: unschedulable: (none) → true",
    ]);
    spy.interrupt();
}

#[test]
fn daemon_sets_and_jobs_have_phases() {
    let plane = ControlPlane::start("daemon");
    let daemon = DB
        .replace("StatefulSet", "DaemonSet")
        .replace("  replicas: 2\n  serviceName: db\n", "");
    plane.apply(&daemon);
    plane.kubectl(&["rollout", "status", "ds/db", "--timeout=60s"]);
    let mut spy = trace(&plane, "ds/db");
    spy.until("daemonset/db Current: complete: 2/2 available");
    set_image(&plane, "ds/db", "db=db:2");
    spy.until("db:1 -> db:2");
    spy.until("old pods done");
    spy.until("daemonset/db Current: complete: 2/2 available");
    spy.interrupt();

    plane.apply(
        r#"
apiVersion: batch/v1
kind: CronJob
metadata: {name: tick}
spec:
  schedule: "0 0 1 1 *"
  jobTemplate:
    spec:
      backoffLimit: 0
      template:
        spec:
          restartPolicy: Never
          containers: [{name: tick, image: "tick:crash"}]
"#,
    );
    holds(
        &once(&plane, "trace", "cj/tick"),
        &["● not started by its schedule yet", "next start in"],
    );
    plane.kubectl(&["create", "job", "tick-1", "--from=cronjob/tick"]);
    let mut spy = trace(&plane, "job/tick-1");
    spy.until("job/tick-1 Failed: failed: 0/1 succeeded, 1 failed, backoffLimit 0");
    spy.interrupt();
    let frame = once(&plane, "trace", "job/tick-1");
    holds(&frame, &["✗         complete      BackoffLimitExceeded"]);
    let frame = once(&plane, "trace", "cj/tick");
    holds(
        &frame,
        &["last run      tick-1 Failed", "job/tick-1", "pod/tick-1-"],
    );
}
