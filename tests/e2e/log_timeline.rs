//! `logs --with all` on a real API server: the lines, the changes, the states and the warnings of a crash in one timeline.

use super::controlplane::ControlPlane;
use super::hand_node::{HandNode, Protocol};
use super::support::Spy;

const FLAGS: &str = r"
apiVersion: v1
kind: ConfigMap
metadata: {name: flags}
data: {mode: fast}
";

const WEB: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: "web:1", envFrom: [{configMapRef: {name: flags}}]}]
"#;

/// Checks that a timeline has these texts, in this order.
fn has_in_order(shown: &str, texts: &[&str]) {
    let mut rest = shown;
    for text in texts {
        let Some((_, after)) = rest.split_once(text) else {
            panic!("no {text:?} in this place:\n{shown}");
        };
        rest = after;
    }
}

#[test]
fn the_timeline_of_a_crash_is_shown_live_and_after_the_fact() {
    let plane = ControlPlane::start("timeline");
    plane.apply(FLAGS);
    plane.apply(WEB);
    plane.kubectl(&["rollout", "status", "deploy/web", "--timeout=60s"]);
    let spy = Spy::with_kubeconfig(plane.admin());
    let mut live = spy.start(&["logs", "deploy/web", "-f", "--with", "all"]);
    live.until("starting web:1");
    let patch = r#"{"data":{"mode":"wrong"}}"#;
    let manager = "--field-manager=config-bot";
    plane.kubectl(&[
        "patch",
        "configmap",
        "flags",
        "--type=merge",
        manager,
        "-p",
        patch,
    ]);
    live.until("config-bot  mode: fast → wrong");
    plane.kubectl(&["set", "image", "deploy/web", "web=crash:2"]);
    live.until("kubectl-set  containers[web].image: web:1 → crash:2");
    live.until("panic: ");
    live.until("CrashLoopBackOff 0/1");
    live.until("BackOff: Back-off restarting failed container");
    drop(live.interrupt());
    let ran = spy.run(&["logs", "deploy/web", "--since", "10m", "--with", "all"]);
    has_in_order(
        &ran.stdout,
        &[
            "change  configmap/flags  kubectl-client-side-apply  created",
            "change  deployment/web  kubectl-client-side-apply  created: web:1",
            "Running 1/1 (was ContainerCreating 0/1)",
            "change  configmap/flags  config-bot  mode: fast → wrong",
            "change  deployment/web  kubectl-set  containers[web].image: web:1 → crash:2",
            "Error 0/1",
        ],
    );
}

#[test]
fn the_timeline_has_the_lines_of_the_last_instance() {
    let plane = ControlPlane::to_break("timeline-last");
    let node = HandNode::new(&plane, "node-hand", Protocol::Http2);
    let mut pod = node.pod("api", &["app"]);
    pod.start_and_exit("app", 1, &["first: no such host db"]);
    pod.wait("app", "CrashLoopBackOff");
    pod.start_and_exit("app", 2, &["second: no such host db"]);
    let spy = Spy::with_kubeconfig(plane.admin());
    let ran = spy.run(&["logs", "pod/api", "--since", "10m", "--with", "status"]);
    has_in_order(&ran.stdout, &["first: ", "second: "]);
    for text in [
        "Error 0/1 (was Pending 0/1): app: exit 1",
        "CrashLoopBackOff 0/1",
        "app: exit 2",
    ] {
        assert!(ran.stdout.contains(text), "{text}\n{}", ran.transcript());
    }
}

#[test]
fn the_lines_of_a_rollout_end_with_its_verdict() {
    let plane = ControlPlane::start("rollout-lines");
    plane.apply(FLAGS);
    plane.apply(WEB);
    let spy = Spy::with_kubeconfig(plane.admin());
    let wait = [
        "logs",
        "deploy/web",
        "--for=current",
        "--current-revision",
        "--timeout=60s",
    ];
    for (image, code, text) in [
        ("web:1", 0, "starting web:1"),
        ("web:2", 0, "starting web:2"),
        ("crash:3", 2, "panic: "),
    ] {
        plane.kubectl(&["set", "image", "deploy/web", &format!("web={image}")]);
        let ran = spy.run(&[&wait[..], &["--allow-restarts=1"]].concat());
        assert_eq!(ran.status.code(), Some(code), "{}", ran.transcript());
        assert!(ran.stdout.contains(text), "{}", ran.transcript());
        let other = ran
            .stdout
            .lines()
            .find(|line| line.contains("starting") && !line.contains(image));
        assert_eq!(other, None, "{}", ran.transcript());
    }
}
