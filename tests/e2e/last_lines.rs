//! The log lines of failed containers on a real control plane: below the causes of `status`, and before the error of a wait.
//! The log endpoint obeys the rules of the kubelet, so these tests show that each line is of the instance that failed.

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::controlplane::ControlPlane;
use super::hand_node::{HandNode, HandPod, Protocol};
use super::support::{Ran, Spy};

const APP: &str = "app";

fn run(plane: &ControlPlane, args: &[&str]) -> Ran {
    Spy::with_kubeconfig(plane.admin()).run(args)
}

/// The lines of `status` about the container, without the branches of the tree.
fn lines(plane: &ControlPlane, pod: &HandPod<'_>, flags: &[&str]) -> Vec<String> {
    let object = format!("pod/{}", pod.name);
    let ran = run(plane, &[&["status", &object, "--once"], flags].concat());
    assert_eq!(ran.status.code(), Some(0), "{}", ran.transcript());
    let lines = ran.stdout.lines().map(|line| line.trim_matches([' ', '└']));
    let lines = lines.filter(|line| line.starts_with(APP));
    lines.map(str::to_owned).collect()
}

/// The last instance prints lines, runs for a moment, and ends.
fn fail(pod: &mut HandPod<'_>, lines: &[&str], (code, reason): (i64, &str)) {
    pod.start(APP);
    pod.print(APP, lines);
    sleep(Duration::from_millis(1100));
    pod.exit_as(APP, code, reason);
}

#[test]
fn a_failed_container_has_the_line_that_says_why() {
    let plane = ControlPlane::to_break("last-lines");
    let node = HandNode::new(&plane, "node-hand", Protocol::Http2);
    let mut pod = node.pod("crash", &[APP]);
    let panic = ["starting", "panic: no db", "goroutine 1 [running]:", "bye"];
    fail(&mut pod, &panic, (2, "Error"));
    pod.wait(APP, "CrashLoopBackOff");
    let expected = ["app: CrashLoopBackOff, exit 2", "app log: panic: no db"];
    assert_eq!(lines(&plane, &pod, &[]), expected);
    assert_eq!(lines(&plane, &pod, &["--logs=none"]), expected[..1]);
    for flag in ["--logs=none", "--logs=failed"] {
        let begun = Instant::now();
        for _ in 0..10 {
            lines(&plane, &pod, &[flag]);
        }
        println!("{flag}: --once takes {:?}", begun.elapsed() / 10);
    }
    let last = lines(&plane, &pod, &["--log-lines=2"]);
    assert_eq!(
        last[1..],
        ["app log: goroutine 1 [running]:", "app log: bye"]
    );
    // The next instance runs: the log is that of the one before.
    pod.start(APP);
    pod.print(APP, &["error: of the next instance"]);
    let again = lines(&plane, &pod, &[]);
    assert_eq!(
        again,
        [
            "app: restarted after exit 2, 1 restart",
            "app log: panic: no db"
        ]
    );
    // It ends, too, and the kubelet has not said that it waits.
    sleep(Duration::from_millis(1100));
    pod.exit_as(APP, 137, "OOMKilled");
    assert_eq!(
        lines(&plane, &pod, &[]),
        [
            "app: OOMKilled, no memory limit, exit 137, 1 restart",
            "app log: error: of the next instance"
        ]
    );
}

#[test]
fn a_wait_that_fails_ends_with_the_last_lines() {
    let plane = ControlPlane::to_break("last-lines-wait");
    let node = HandNode::new(&plane, "node-hand", Protocol::Http2);
    let mut pod = node.pod("crash", &[APP]);
    pod.set_ready(APP, false);
    let wait = ["status", "pod/crash", "--for=current", "--timeout=60s"];
    let spy = Spy::with_kubeconfig(plane.admin()).start(&wait);
    let begun = Instant::now();
    for number in 0..3 {
        let line = format!("panic: instance {number}");
        fail(&mut pod, &["starting", &line], (1, "Error"));
        pod.wait(APP, "CrashLoopBackOff");
    }
    let ended = Instant::now();
    let ran = spy.finish();
    println!("failed {:?} after its last death", ended.elapsed());
    assert!(begun.elapsed() < Duration::from_secs(30));
    // The verdict can come between the death and the status that names the back-off.
    assert_eq!(
        ran.stderr.replace("CrashLoopBackOff, ", ""),
        "last lines of pod/crash app (instance 3, exit 1):\n  starting\n  panic: instance 2\n\
         error: pod/crash has failed: app: exit 1, 2 restarts\n"
    );
    assert_eq!(ran.status.code(), Some(2));

    // A container that runs and is late has last lines, too.
    let mut late = node.pod("late", &[APP]);
    late.set_ready(APP, false);
    late.start(APP);
    late.print(APP, &["waiting for db"]);
    for verb in ["status", "trace", "changes"] {
        let begun = Instant::now();
        let ran = run(&plane, &[verb, "pod/late", "--for=current", "--timeout=3s"]);
        let took = begun.elapsed();
        println!(
            "{verb}: ended {:?} after the limit",
            took.saturating_sub(Duration::from_secs(3))
        );
        assert_eq!(
            ran.stderr,
            "last lines of pod/late app (running, not ready):\n  waiting for db\n\
             error: timed out waiting for the condition on pods/late: app: running, not ready\n"
        );
        assert_eq!(ran.status.code(), Some(3));
    }
}

#[test]
fn without_the_right_to_logs_all_else_works() {
    let plane = ControlPlane::to_break("last-lines-right");
    let node = HandNode::new(&plane, "node-hand", Protocol::Http2);
    let mut pod = node.pod("crash", &[APP]);
    fail(&mut pod, &["panic: no db"], (1, "Error"));
    pod.wait(APP, "CrashLoopBackOff");
    let role = [
        "create",
        "role",
        "pods",
        "--verb=list,watch",
        "--resource=pods,events",
    ];
    plane.kubectl(&role);
    plane.kubectl(&["create", "rolebinding", "pods", "--role=pods", "--user=dev"]);
    let spy = Spy::with_kubeconfig(&plane.dev());
    let deadline = Instant::now() + Duration::from_secs(20);
    let ran = loop {
        let ran = spy.run(&["status", "pod/crash", "--once"]);
        if ran.status.code() == Some(0) {
            break ran;
        }
        assert!(Instant::now() < deadline, "{}", ran.transcript());
    };
    let words = "logs of failed containers are not shown: Error from server (Forbidden): pods \"crash\" is forbidden: User \"dev\" cannot get resource \"pods/log\" in API group \"\" in the namespace \"default\"";
    assert!(
        ran.stdout.contains("app: CrashLoopBackOff, exit 1\n"),
        "{}",
        ran.transcript()
    );
    assert!(ran.stdout.contains(words), "{}", ran.transcript());
    // The dependents of a Pod are none, and its node explains nothing here.
    let ran = spy.run(&[
        "status",
        "pod/crash",
        "--for=condition=Ready",
        "--timeout=3s",
    ]);
    let words = "no last lines of pod/crash app: Error from server (Forbidden): pods \"crash\" is forbidden";
    assert!(ran.stderr.starts_with(words), "{}", ran.transcript());
    assert_eq!(ran.status.code(), Some(3));
}

/// Instances die as quickly as a kubelet restarts them: at once, and after a wait of a second at least. No line stands at another
/// instance.
#[test]
fn no_line_is_of_another_instance() {
    let plane = ControlPlane::to_break("last-lines-race");
    let node = HandNode::new(&plane, "node-hand", Protocol::Http2);
    let mut pod = node.pod("crash", &[APP]);
    let mut spy = Spy::with_kubeconfig(plane.admin()).start(&["status", "pod/crash", "-o", "json"]);
    spy.until("InProgress");
    for number in 0..40_u64 {
        let line = format!("panic: instance {number}");
        if number % 2 == 0 {
            pod.start_and_exit(APP, 1, &[&line]);
        } else {
            pod.start(APP);
            pod.print(APP, &[&line]);
            sleep(Duration::from_millis(7 * number));
            pod.exit_as(APP, 1, "Error");
        }
        if number % 5 == 0 {
            pod.wait(APP, "CrashLoopBackOff");
            sleep(Duration::from_millis(1100));
        }
    }
    pod.wait(APP, "CrashLoopBackOff");
    spy.until("panic: instance 39");
    let ran = spy.interrupt();
    let mut seen = 0;
    for record in ran.stdout.lines() {
        let record: Value = serde_json::from_str(record).unwrap();
        for lines in record["lastLines"].as_array().into_iter().flatten() {
            let id = lines["instance"].as_str().unwrap();
            let number = u64::from_str_radix(&id[id.len() - 16..], 16).unwrap();
            assert_eq!(
                lines["lines"],
                json!([format!("panic: instance {number}")]),
                "{record}"
            );
            seen += 1;
        }
    }
    println!(
        "{seen} records with lines, {} requests",
        node.streams("/crash").requests
    );
    assert!(seen >= 8, "{}", ran.stdout);
}
