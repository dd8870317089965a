//! `logs -f` whose output nobody reads. An API server sends each short line in a frame of its own, and a client closes an
//! HTTP/2 connection with many small frames that are not read. The watch must go on, and no line may be lost.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::Value;

use super::controlplane::ControlPlane;
use super::hand_node::{HandNode, Protocol, cri};
use super::support::Spy;

/// How many containers print.
const LOGS: usize = 90;
/// How many lines each has at the start: what has room in the program.
const BEFORE: usize = 4_000;
/// How many it prints then, one after the other.
const LATER: usize = 800;

#[test]
fn unread_logs_of_short_lines_leave_the_watch_alone() {
    let plane = ControlPlane::to_break("logs-unread");
    let node = HandNode::new(&plane, "node-hand", Protocol::Http1);
    let names: Vec<String> = (0..LOGS).map(|number| format!("c{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut pod = node.pod("unread", &names);
    let line = |number: usize| cri(Timestamp::now(), 'F', &(number % 10).to_string());
    for name in &names {
        pod.start(name);
        pod.append(name, &(0..BEFORE).map(line).collect::<String>());
    }
    let args = [
        "logs",
        "pods",
        "-n",
        "default",
        "-f",
        "--tail=-1",
        "-o",
        "json",
    ];
    let mut child = allowed(&plane, &node).spawn_to(Stdio::piped(), &args);
    until("the streams", || node.streams(UNREAD).open >= LOGS);
    for number in 0..LATER {
        for name in &names {
            pod.append(name, &line(number));
        }
    }
    // They are on their way to the program. With small windows, the connection is closed within this time.
    sleep(Duration::from_secs(3));
    let mut late = node.pod("late", &["app"]);
    late.start("app");
    late.print("app", &["late"]);

    let mut counts = counted(&mut child);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(counts.remove("app"), Some(1));
    assert_eq!(counts.len(), LOGS);
    assert!(
        counts.values().all(|count| *count == BEFORE + LATER),
        "{counts:?}"
    );
    // No connection was lost: nothing was requested twice.
    assert_eq!(node.streams(UNREAD).requests, LOGS);
    let log = plane.audit_log();
    let is_watch = |line: &&str| line.contains("/pods?") && line.contains("watch=true");
    let is_start = |line: &&str| line.contains("\"ResponseStarted\"");
    let watches: Vec<&str> = log.lines().filter(is_watch).filter(is_start).collect();
    assert_eq!(watches.len(), 1, "{watches:?}");
}

/// The logs of the Pod, as the log endpoint names them.
const UNREAD: &str = "default/unread/";

/// The program as `dev`, whose requests are in the audit log, with the right to read Pods and their logs.
fn allowed(plane: &ControlPlane, node: &HandNode<'_>) -> Spy {
    let (verbs, resources) = ("--verb=get,list,watch", "--resource=pods,pods/log");
    plane.kubectl(&["create", "role", "reader", verbs, resources]);
    plane.kubectl(&[
        "create",
        "rolebinding",
        "reader",
        "--role=reader",
        "--user=dev",
    ]);
    let dev = node.client(&plane.dev());
    until("the right", || node.log_as(&dev, "none/log").status == 404);
    Spy::with_kubeconfig(&plane.dev())
}

/// Reads the records of all lines; returns how many each container has.
fn counted(child: &mut Child) -> BTreeMap<String, usize> {
    let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut counts = BTreeMap::new();
    let mut left = LOGS * (BEFORE + LATER) + 1;
    while left > 0 {
        let record: Value = serde_json::from_str(&out.next().unwrap().unwrap()).unwrap();
        if record["type"] == "log" {
            let container = record["container"].as_str().unwrap().to_owned();
            *counts.entry(container).or_default() += 1;
            left -= 1;
        }
    }
    counts
}

fn until(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < deadline, "not within 60 s: {what}");
        sleep(Duration::from_millis(20));
    }
}
