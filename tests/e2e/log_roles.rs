//! `logs` of init containers, sidecars and ephemeral containers, and of lines that a rotation divides: each line is printed
//! once.

use std::thread::sleep;
use std::time::Duration;

use jiff::Timestamp;

use super::controlplane::ControlPlane;
use super::hand_node::{HandNode, Protocol, Role, cri};
use super::support::Spy;

/// The lines of an output in the order of the alphabet.
fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn each_line_of_every_kind_of_container_is_printed_once() {
    let plane = ControlPlane::start("log-roles");
    let node = HandNode::new(&plane, "roles", Protocol::Http2);
    let roles = [
        ("setup", Role::Init),
        ("proxy", Role::Sidecar),
        ("app", Role::Main),
    ];
    let mut pod = node.pod_of("roles", &roles);
    let spy = Spy::with_kubeconfig(plane.admin());
    let mut run = spy.start(&["logs", "pod/roles", "-f", "-q"]);
    let mut expect: Vec<String> = Vec::new();
    let mut step = |container: &str, text: &str| {
        expect.push(format!("{container} {text}"));
        text.to_owned()
    };
    for attempt in 0..3 {
        pod.start("setup");
        pod.print("setup", &[&step("setup", &format!("fails {attempt}"))]);
        pod.exit("setup", 1);
        pod.wait("setup", "CrashLoopBackOff");
        // A node keeps one dead instance.
        run.until(&format!("fails {attempt}"));
    }
    pod.start("setup");
    pod.print("setup", &[&step("setup", "done")]);
    pod.exit("setup", 0);
    pod.start("proxy");
    pod.start("app");
    for attempt in 0..3 {
        pod.print("proxy", &[&step("proxy", &format!("dies {attempt}"))]);
        pod.exit("proxy", 2);
        pod.print("app", &[&step("app", &format!("works {attempt}"))]);
        run.until(&format!("dies {attempt}"));
        node.ask("/cut?match=roles/app");
        pod.start("proxy");
    }
    pod.debug("shell");
    pod.start("shell");
    pod.print("shell", &[&step("shell", "one"), &step("shell", "two")]);
    pod.exit("shell", 0);
    // The line has no line feed, and the container ends.
    pod.append("app", &cri(Timestamp::now(), 'P', "no line feed"));
    expect.push("app no line feed".to_owned());
    pod.exit("app", 1);
    run.until_each(&["shell two", "no line feed"]);
    let ran = run.interrupt();
    expect.sort();
    assert_eq!(sorted(&ran.stdout), expect, "{}", ran.transcript());
    let ran = spy.run(&["logs", "pod/roles", "-c", "app", "--tail=1"]);
    assert_eq!(ran.stdout, "no line feed\n");
}

#[test]
fn a_file_that_begins_within_a_line_shows_no_line_twice() {
    let plane = ControlPlane::start("log-divided");
    let node = HandNode::new(&plane, "divided", Protocol::Http2);
    let mut pod = node.pod("divided", &["app"]);
    pod.start("app");
    let spy = Spy::with_kubeconfig(plane.admin());
    let mut run = spy.start(&["logs", "pod/divided", "-f"]);
    pod.print("app", &["before"]);
    run.until("before");
    let parts = ["a".repeat(16 << 10), "b".repeat(16 << 10), "c".repeat(99)];
    let part = |number: usize, tag| cri(Timestamp::now(), tag, &parts[number]);
    pod.append("app", &part(0, 'P'));
    // A reader that has not read it when the log is rotated cannot read it any more.
    sleep(Duration::from_millis(300));
    pod.rotate("app");
    pod.append("app", &part(1, 'P'));
    pod.append("app", &part(2, 'F'));
    pod.print("app", &["after"]);
    run.until("after");
    node.ask("/cut?match=divided");
    pod.print("app", &["later"]);
    run.until("later");
    let ran = run.interrupt();
    let long = parts.concat();
    assert_eq!(ran.stdout, format!("before\n{long}\nafter\nlater\n"));
    assert!(!ran.stderr.contains("gap"), "{}", ran.stderr);
}
