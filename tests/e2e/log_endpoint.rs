//! The log endpoint of the control plane: what a client reads through the API server, as from a kubelet. Status codes and
//! words are those of Kubernetes v1.36.

use std::fs;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::controlplane::ControlPlane;
use super::hand_node::{Answer, HandNode, Protocol, cri};

fn answer(status: u16, text: &str) -> Answer {
    Answer {
        status,
        text: text.to_owned(),
    }
}

/// Asks until the answer is this one: the log endpoint learns a state a moment after the API server.
fn check(node: &HandNode<'_>, request: &str, status: u16, text: &str) {
    let expected = answer(status, text);
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let found = node.log(request);
        if found == expected {
            return;
        }
        assert!(Instant::now() < deadline, "{request}: {found:?}");
    }
}

fn until(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "not within 20 s: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_log_is_that_of_an_instance_by_the_state_of_its_container() {
    let plane = ControlPlane::to_break("log-states");
    let node = HandNode::new(&plane, "node-hand", Protocol::Http2);
    let mut pod = node.pod("p1", &["app", "side"]);
    let unnamed = "a container name must be specified for pod p1, choose one of: [app side]";
    check(&node, "p1/log", 400, unnamed);
    let unknown = "container nope is not valid for pod p1";
    check(&node, "p1/log?container=nope", 400, unknown);
    check(&node, "nopod/log", 404, "pods \"nopod\" not found");
    let app = "p1/log?container=app";
    let missing = "container \"app\" in pod \"p1\" is not available";
    check(&node, app, 400, missing);
    for (reason, words) in [
        ("ContainerCreating", "ContainerCreating"),
        ("PodInitializing", "PodInitializing"),
        ("CreateContainerConfigError", "CreateContainerConfigError"),
        ("InvalidImageName", "InvalidImageName"),
        ("ErrImagePull", "image can't be pulled"),
        ("ImagePullBackOff", "trying and failing to pull image"),
    ] {
        pod.wait("app", reason);
        let words = format!("container \"app\" in pod \"p1\" is waiting to start: {words}");
        check(&node, app, 400, &words);
    }
    pod.start("app");
    pod.print("app", &["first", "second"]);
    check(&node, app, 200, "first\nsecond\n");
    let previous = "p1/log?container=app&previous=true";
    let absent = "previous terminated container \"app\" in pod \"p1\" not found";
    check(&node, previous, 400, absent);
    pod.exit("app", 1);
    check(&node, app, 200, "first\nsecond\n");
    check(
        &node,
        "p1/log?container=app&follow=true",
        200,
        "first\nsecond\n",
    );
    pod.wait("app", "CrashLoopBackOff");
    check(&node, previous, 200, "first\nsecond\n");
    check(&node, app, 200, "first\nsecond\n");
    pod.start("app");
    pod.print("app", &["third"]);
    check(&node, app, 200, "third\n");
    check(&node, previous, 200, "first\nsecond\n");
    // One that is born and dead before any status shows it.
    pod.start_and_exit("app", 0, &["fourth"]);
    check(&node, app, 200, "fourth\n");
    check(&node, previous, 200, "third\n");
    // One whose end no status shows.
    pod.start("app");
    pod.print("app", &["fifth"]);
    pod.start("app");
    check(&node, app, 200, "");
    check(&node, previous, 200, "fifth\n");
}

#[test]
fn options_choose_lines() {
    let plane = ControlPlane::to_break("log-options");
    let node = HandNode::new(&plane, "node-hand", Protocol::Http2);
    let mut pod = node.pod("p1", &["app"]);
    pod.start("app");
    let begun: Timestamp = "2026-03-02T12:00:00.7Z".parse().unwrap();
    for at in 0..4 {
        let line = format!("line {at}");
        pod.append(
            "app",
            &cri(begun + SignedDuration::from_secs(at), 'F', &line),
        );
    }
    let long = ["a".repeat(3), "b".repeat(3), "c".repeat(3)];
    for (part, tag) in long.iter().zip(['P', 'P', 'F']) {
        pod.append("app", &cri(begun + SignedDuration::from_secs(9), tag, part));
    }
    for (options, expected) in [
        ("", "line 0\nline 1\nline 2\nline 3\naaabbbccc\n"),
        // The last lines are the last parts.
        ("&tailLines=2", "bbbccc\n"),
        ("&tailLines=4", "line 3\naaabbbccc\n"),
        ("&limitBytes=9", "line 0\nli"),
        // Whole seconds.
        ("&sinceTime=2026-03-02T12:00:03.9Z", "line 3\naaabbbccc\n"),
        (
            "&timestamps=true&sinceTime=2026-03-02T12:00:09Z",
            "2026-03-02T12:00:09.700000000Z aaabbbccc\n",
        ),
        ("&sinceSeconds=60", ""),
    ] {
        check(
            &node,
            &format!("p1/log?container=app{options}"),
            200,
            expected,
        );
    }
    for (options, path) in [
        ("tailLines=-1", "tailLines"),
        ("sinceSeconds=0", "sinceSeconds"),
        ("limitBytes=0", "limitBytes"),
        ("stream=Stderr", "stream"),
    ] {
        let found = node.log(&format!("p1/log?container=app&{options}"));
        let words = format!("PodLogOptions \"p1\" is invalid: {path}: ");
        assert_eq!(found.status, 422, "{options}");
        assert!(found.text.starts_with(&words), "{options}: {}", found.text);
    }
    // After a rotation, only the newest file can be read. A line without its end is not sent.
    pod.rotate("app");
    pod.print("app", &["newest"]);
    pod.append("app", cri(begun, 'F', "unfinished").trim_end());
    let followed = node.log("p1/log?container=app&follow=true");
    assert_eq!(followed, answer(200, "newest\n"));
}

#[test]
fn a_pod_without_a_node_and_a_node_that_is_away() {
    let plane = ControlPlane::to_break("log-away");
    let node = HandNode::new(&plane, "node-hand", Protocol::Http2);
    node.pod_with("unscheduled", &["app"], json!({"schedulerName": "none"}));
    check(&node, "unscheduled/log", 204, "");
    check(&node, "unscheduled/log?follow=true", 204, "");
    let mut pod = node.pod("p1", &["app"]);
    pod.start("app");
    pod.print("app", &["here"]);
    check(&node, "p1/log", 200, "here\n");
    let denied = node.client(&plane.dev());
    let words = "pods \"p1\" is forbidden: User \"dev\" cannot get resource \"pods/log\" in API group \"\" in the namespace \"default\"";
    assert_eq!(node.log_as(&denied, "p1/log"), answer(403, words));
    // `get` on `pods/log` alone is enough.
    let role = [
        "create",
        "role",
        "logs",
        "--verb=get",
        "--resource=pods/log",
    ];
    plane.kubectl(&role);
    plane.kubectl(&["create", "rolebinding", "logs", "--role=logs", "--user=dev"]);
    until("the right", || node.log_as(&denied, "p1/log").status == 200);

    let address = plane.kubelet(Protocol::Http2);
    plane.kill_kubelet();
    let away = node.log("p1/log");
    let refused = format!(
        "Get \"https://{address}/containerLogs/default/p1/app\": dial tcp {address}: connect: connection refused"
    );
    assert_eq!(away, answer(500, &refused));
    plane.start_kubelet();
    check(&node, "p1/log", 200, "here\n");
}

#[test]
fn errors_inside_an_answer_and_faults_on_demand() {
    let plane = ControlPlane::to_break("log-faults");
    let node = HandNode::new(&plane, "node-hand", Protocol::Http2);
    let mut pod = node.pod("p1", &["app"]);
    pod.start("app");
    pod.print("app", &["here"]);
    check(&node, "p1/log", 200, "here\n");
    node.ask("/fault?match=/p1&status=500&text=no+disk&times=2");
    let broken = answer(500, "Internal error occurred: no disk");
    assert_eq!(node.log("p1/log"), broken);
    assert_eq!(node.log("p1/log"), broken);
    assert_eq!(node.log("p1/log"), answer(200, "here\n"));
    node.ask("/fault?match=/p1&text=rpc+error&times=1");
    assert_eq!(node.log("p1/log"), answer(200, "rpc error"));
    node.ask("/fault?match=/p1&delay=300ms&times=1");
    let begun = Instant::now();
    assert_eq!(node.log("p1/log"), answer(200, "here\n"));
    assert!(begun.elapsed() >= Duration::from_millis(300));
    node.ask("/fault?match=/p1&watches=none&times=1");
    let few = "here\nfailed to create fsnotify watcher: too many open files";
    assert_eq!(node.log("p1/log?follow=true"), answer(200, few));
    node.ask("/follows?limit=1");
    let mut following = node.follow("p1");
    until("a stream", || node.streams("/p1").open == 1);
    assert_eq!(node.log("p1/log?follow=true"), answer(200, few));
    assert_eq!(node.log("p1/log"), answer(200, "here\n"));
    node.ask("/clear");
    assert_eq!(following.until("here\n"), "here\n");
    node.ask("/end?match=/p1");
    assert_eq!(following.rest(), "");
    let file = pod.log_file("app");
    fs::remove_file(&file).unwrap();
    let path = file.display();
    let lost = format!(
        "failed to try resolving symlinks in path \"{path}\": lstat {path}: no such file or directory"
    );
    assert_eq!(node.log("p1/log"), answer(200, &lost));
    pod.forget("app");
    let gone = node.log("p1/log");
    let words = "unable to retrieve container logs for containerd://";
    assert!(
        gone.status == 200 && gone.text.starts_with(words),
        "{gone:?}"
    );
}

#[test]
fn every_end_of_a_stream_looks_the_same() {
    let plane = ControlPlane::to_break("log-ends");
    for (name, protocol) in [("h1", Protocol::Http1), ("h2", Protocol::Http2)] {
        let node = HandNode::new(&plane, name, protocol);
        let mut pod = node.pod(name, &["app"]);
        pod.start("app");
        pod.print("app", &["here"]);
        check(&node, &format!("{name}/log"), 200, "here\n");
        for cause in ["/cut?match=", "/end?match=", "/disconnect?match="] {
            let mut following = node.follow(name);
            assert_eq!(following.until("here\n"), "here\n");
            assert_eq!(node.streams(name).open, 1);
            node.ask(&format!("{cause}{name}"));
            assert_eq!(following.rest(), "", "{name}: {cause}");
            until("no stream", || node.streams(name).open == 0);
        }
        let mut following = node.follow(name);
        assert_eq!(following.until("here\n"), "here\n");
        pod.print("app", &["last"]);
        pod.exit("app", 1);
        assert_eq!(following.rest(), "last\n");
        pod.start("app");
        check(&node, &format!("{name}/log"), 200, "");
        let mut following = node.follow(name);
        until("a stream", || node.streams(name).open == 1);
        pod.delete();
        let end = following.rest();
        let words =
            "rpc error: code = NotFound desc = an error occurred when try to find container \"";
        assert!(end.starts_with(words), "{end}");
    }
}
