//! `--for=current` and the last change before a failure, on real controllers: rollouts that succeed, fail, are undone,
//! paused or partitioned.

use std::fs;
use std::time::{Duration, Instant};

use super::controlplane::ControlPlane;
use super::hand_node::{HandNode, Protocol};
use super::support::{Ran, Spy};

const WEB: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  progressDeadlineSeconds: 2147483647
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

const SETS: &str = r#"
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  serviceName: db
  updateStrategy: {rollingUpdate: {partition: 1}}
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: db, image: "db:1"}]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  updateStrategy: {type: OnDelete}
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers: [{name: agent, image: "agent:1"}]
"#;

fn code(ran: &Ran) -> Option<i32> {
    ran.status.code()
}

/// Runs the program until it exits, and fails if that takes longer than a bad image may take.
fn soon(plane: &ControlPlane, args: &[&str]) -> Ran {
    let begun = Instant::now();
    let ran = Spy::with_kubeconfig(plane.admin()).run(args);
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(30), "{args:?} took {took:?}");
    ran
}

#[test]
fn the_command_for_ci_ends_with_the_rollout() {
    let plane = ControlPlane::start("wait-current");
    let directory = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("wait-current");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("web.yaml"), WEB).unwrap();
    let directory = directory.to_str().unwrap();
    let wait = ["status", "-f", directory, "--for=current", "--timeout=60s"];

    // It waits for objects that are applied later.
    let mut run = Spy::with_kubeconfig(plane.admin()).start(&wait);
    run.until("waiting for");
    plane.apply(WEB);
    let ran = run.finish();
    assert_eq!(code(&ran), Some(0), "{}", ran.transcript());
    assert!(ran.stderr.contains("deployment.apps/web condition met\n"));
    assert!(ran.stderr.contains("service/web condition met\n"));

    // Right after a change, the last generation does not count.
    for _ in 0..3 {
        plane.kubectl(&["set", "image", "deploy/web", "web=bad:1"]);
        let ran = soon(&plane, &wait);
        assert_eq!(code(&ran), Some(2), "{}", ran.transcript());
        let last = ran.stderr.lines().last().unwrap_or_default();
        assert!(
            last.starts_with("error: deployment.apps/web has failed: 0 of 2 new pods ready: 1 ImagePullBackOff: pod/web-"),
            "{last}"
        );
        plane.kubectl(&["rollout", "undo", "deploy/web"]);
        let ran = soon(&plane, &wait);
        assert_eq!(code(&ran), Some(0), "{}", ran.transcript());
    }
    for verb in ["changes", "trace"] {
        let ran = soon(&plane, &[verb, "deploy/web", "--for=ready"]);
        assert_eq!(code(&ran), Some(0), "{}", ran.transcript());
    }
}

#[test]
fn rollouts_that_stop_on_purpose_end_or_are_named() {
    let plane = ControlPlane::start("wait-purpose");
    plane.apply(WEB);
    plane.apply(SETS);
    let wait = |args: &[&str]| {
        soon(
            &plane,
            &[&["status"], args, &["--for=current", "--timeout=20s"]].concat(),
        )
    };
    let ran = wait(&["deploy/web", "sts/db", "ds/agent"]);
    assert_eq!(code(&ran), Some(0), "{}", ran.transcript());
    // Only one Pod of the StatefulSet changes, and none of the DaemonSet.
    plane.kubectl(&["set", "image", "sts/db", "db=db:2"]);
    plane.kubectl(&["set", "image", "ds/agent", "agent=agent:2"]);
    let ran = wait(&["sts/db"]);
    assert_eq!(code(&ran), Some(0), "{}", ran.transcript());
    plane.kubectl(&["scale", "deploy/web", "--replicas=0"]);
    let ran = wait(&["deploy/web"]);
    assert_eq!(code(&ran), Some(0), "{}", ran.transcript());
    plane.kubectl(&["scale", "deploy/web", "--replicas=1"]);
    plane.kubectl(&["rollout", "pause", "deploy/web"]);
    let ran = wait(&["deploy/web"]);
    assert_eq!(code(&ran), Some(0), "{}", ran.transcript());
    plane.kubectl(&["set", "image", "deploy/web", "web=web:2"]);
    let args = ["status", "deploy/web", "--for=current", "--timeout=2s"];
    let ran = soon(&plane, &args);
    assert_eq!(code(&ran), Some(3), "{}", ran.transcript());
    assert!(
        ran.stderr
            .contains("on deployments/web: the rollout is paused"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_service_is_ready_once_it_has_ready_endpoints() {
    let plane = ControlPlane::start("wait-service");
    let (deployment, service) = WEB.split_once("---").unwrap();
    plane.apply(service);
    let once = ["trace", "svc/web", "--for=ready", "--timeout=0"];
    assert_eq!(code(&soon(&plane, &once)), Some(3));
    let mut run = Spy::with_kubeconfig(plane.admin()).start(&["trace", "svc/web", "--for=ready"]);
    run.until("service/web Failed");
    plane.apply(deployment);
    assert_eq!(code(&run.finish()), Some(0));
}

#[test]
fn a_failure_shows_what_changed_just_before() {
    let plane = ControlPlane::start("last-change");
    plane.apply(WEB);
    plane.kubectl(&["rollout", "status", "deploy/web", "--timeout=60s"]);
    plane.kubectl(&["set", "image", "deploy/web", "web=bad:1"]);
    let ran = soon(&plane, &["status", "deploy/web", "--for=current"]);
    assert_eq!(code(&ran), Some(2), "{}", ran.transcript());
    let shown = |verb: &str, text: &str| {
        let ran = soon(&plane, &[verb, "deploy/web", "--once"]);
        let line = ran.stdout.lines().find(|line| line.contains(text));
        line.unwrap_or_else(|| panic!("{}", ran.transcript()))
            .to_owned()
    };
    let changed = shown("status", "changed ");
    let change = "ago by kubectl-set: containers[web].image: web:1 → bad:1";
    assert!(changed.ends_with(change), "{changed}");
    let changed = shown("trace", "spec change");
    assert!(changed.contains("gen 2 by kubectl-set, "), "{changed}");
    shown("trace", "containers[name=web].image: web:1 → bad:1");
}

#[test]
fn a_time_out_names_the_late_pod() {
    let plane = ControlPlane::start("wait-late");
    plane.apply(&WEB.replace("web:1", "web:unready"));
    plane.apply(&SETS.replace(":1\"", ":unready\""));
    let kinds = ["deploy/web", "sts/db", "ds/agent"];
    let args = [&["status"], &kinds[..], &["--for=current", "--timeout=8s"]].concat();
    let ran = soon(&plane, &args);
    assert_eq!(code(&ran), Some(3), "{}", ran.transcript());
    let probe =
        "running, not ready: Readiness probe failed: HTTP probe failed with statuscode: 503";
    for (object, pod) in [
        ("deployments/web: ", ": pod/web-"),
        ("statefulsets/db: ", ": pod/db-0: db: "),
        ("daemonsets/agent: ", ": pod/agent-"),
    ] {
        let mut lines = ran.stderr.lines();
        let is_said =
            lines.any(|line| line.contains(object) && line.contains(pod) && line.ends_with(probe));
        assert!(is_said, "{object}{}", ran.transcript());
    }
}

#[test]
fn a_crash_loop_ends_at_the_third_dead_instance() {
    let plane = ControlPlane::to_break("wait-deaths");
    let node = HandNode::new(&plane, "node-hand", Protocol::Http2);
    for (name, deaths, expected) in [("comes-up", 2, 0), ("crashes", 3, 2)] {
        let mut pod = node.pod(name, &["app"]);
        let object = format!("pod/{name}");
        let args = ["status", &object, "--for=condition=Ready", "--timeout=60s"];
        let mut run = Spy::with_kubeconfig(plane.admin()).start(&args);
        run.until(&object);
        for death in 1..=deaths {
            pod.start_and_exit("app", 1, &[]);
            if death == 3 {
                break;
            }
            run.until("Error");
            pod.wait("app", "CrashLoopBackOff");
            run.until("CrashLoopBackOff");
        }
        if expected == 0 {
            pod.start("app");
        }
        let ran = run.finish();
        assert_eq!(code(&ran), Some(expected), "{}", ran.transcript());
    }
}

#[test]
fn a_rollout_is_settled_when_its_old_pods_are_gone() {
    let plane = ControlPlane::start("wait-settled");
    // The old ReplicaSet is gone before its Pods are.
    plane.apply(&WEB.replace("replicas: 2", "replicas: 1\n  revisionHistoryLimit: 0"));
    plane.kubectl(&["rollout", "status", "deploy/web", "--timeout=60s"]);
    let old = plane.kubectl(&["get", "pods", "-l", "app=web", "-o", "name"]);
    let hold = |finalizers: &str| {
        let patch = format!(r#"{{"metadata":{{"finalizers":{finalizers}}}}}"#);
        plane.kubectl(&["patch", old.trim(), "--type=merge", "-p", &patch]);
    };
    hold(r#"["spy.test/hold"]"#);
    plane.kubectl(&["set", "image", "deploy/web", "web=web:2"]);
    let current = soon(&plane, &["status", "deploy/web", "--for=current"]);
    assert_eq!(code(&current), Some(0), "{}", current.transcript());
    let args = ["status", "deploy/web", "--for=settled"];
    let late = soon(&plane, &[&args[..], &["--timeout=2s"]].concat());
    assert_eq!(code(&late), Some(3), "{}", late.transcript());
    let words = format!("deployments/web: {} is still being deleted", old.trim());
    assert!(late.stderr.contains(&words), "{}", late.transcript());
    let mut run = Spy::with_kubeconfig(plane.admin()).start(&args);
    run.until("deployment/web Current");
    hold("null");
    assert_eq!(code(&run.finish()), Some(0));
}
