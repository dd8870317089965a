//! `logs -f` while the right to read logs is taken away and given back. One line names it, and no line is lost.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::controlplane::ControlPlane;
use super::hand_node::{HandNode, Protocol};
use super::support::Spy;

#[test]
fn a_right_that_is_lost_while_following_comes_back() {
    let plane = ControlPlane::to_break("logs-revoked");
    let node = HandNode::new(&plane, "node-hand", Protocol::Http2);
    let role = |name: &str, verbs: &str, resource: &str| {
        let (verbs, resource) = (format!("--verb={verbs}"), format!("--resource={resource}"));
        plane.kubectl(&["create", "role", name, &verbs, &resource]);
    };
    let bind = |name: &str| {
        let role = format!("--role={name}");
        plane.kubectl(&["create", "rolebinding", name, &role, "--user=dev"]);
    };
    role("pods", "list,watch", "pods");
    role("logs", "get", "pods/log");
    bind("pods");
    bind("logs");
    let dev = node.client(&plane.dev());
    let mut pods = ["r1", "r2"].map(|name| node.pod(name, &["app"]));
    for pod in &mut pods {
        pod.start("app");
        pod.print("app", &[&format!("{} L0", pod.name)]);
    }
    let answers = |code: u16| {
        let deadline = Instant::now() + Duration::from_secs(20);
        while node.log_as(&dev, "r1/log").status != code {
            assert!(Instant::now() < deadline, "no {code} within 20 s");
            sleep(Duration::from_millis(50));
        }
    };
    answers(200);
    let args = ["logs", "pods", "-n", "default", "-f", "-o", "raw"];
    let mut spy = Spy::with_kubeconfig(&plane.dev()).start(&args);
    spy.until_each(&["r1 L0", "r2 L0"]);
    plane.kubectl(&["delete", "rolebinding", "logs"]);
    answers(403);
    node.ask("/cut?match=default/r");
    for pod in &mut pods {
        pod.print("app", &[&format!("{} L1", pod.name)]);
    }
    spy.until("(Forbidden)");
    // Meanwhile, one of them restarts.
    pods[0].exit("app", 1);
    pods[0].start("app");
    pods[0].print("app", &["r1 L2"]);
    bind("logs");
    answers(200);
    spy.until_each(&["r1 L2", "r2 L1"]);
    for pod in &pods {
        pod.print("app", &[&format!("{} L3", pod.name)]);
    }
    spy.until_each(&["r1 L3", "r2 L3"]);
    let ran = spy.interrupt();
    let mut lines: Vec<&str> = ran.stdout.lines().collect();
    lines.sort_unstable();
    let expect = [
        "r1 L0", "r1 L1", "r1 L2", "r1 L3", "r2 L0", "r2 L1", "r2 L3",
    ];
    assert_eq!(lines, expect, "{}", ran.transcript());
    assert_eq!(
        ran.stderr.matches("(Forbidden)").count(),
        1,
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("may be missing"), "{}", ran.stderr);
}
