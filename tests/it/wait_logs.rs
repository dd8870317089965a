//! Tests of the lines that a wait shows (`--logs=new` and `--logs=all`), against the sandbox.

use std::io::Read;

use serde_json::{Value, json};

use super::last_lines::viewer;
use super::log_wait::{finish, print, rollout, status};
use super::support::Running;
use super::support::cluster::{Cluster, pod};

fn start(cluster: &Cluster, args: &[&str]) -> Running {
    let wait = ["status", "deploy/web", "--for=current", "-o", "name"];
    cluster.spy().start(&[&wait[..], args].concat())
}

/// The status of `web-new-b` after its first instance has exited with 2.
fn crashed() -> Value {
    let waiting = json!({"waiting": {"reason": "CrashLoopBackOff"}});
    let mut crashed = status("web-new-b", &waiting, false);
    let container = &mut crashed["containerStatuses"][0];
    container["restartCount"] = 1.into();
    container["lastState"] =
        json!({"terminated": {"exitCode": 2, "reason": "Error", "containerID": "web-new-b/app#0"}});
    crashed
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lines_of_the_new_pods_are_notes_of_the_wait() {
    let cluster = rollout().await;
    let mut run = start(&cluster, &["--logs=new"]);
    run.until("new 1");
    print(&cluster, "web-old-a", 1, "old 2");
    finish(&cluster);
    let ran = run.finish();
    assert_eq!(ran.status.code(), Some(0));
    assert_eq!(
        ran.stderr,
        "+ pod/web-new-b app\nnew 1\nlistening\ndeployment.apps/web condition met\n"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lines_of_all_pods_begin_with_the_wait() {
    let cluster = rollout().await;
    let mut run = start(&cluster, &["--logs=all"]);
    run.until_each(&["b new 1", "+ pod/web-old-a app"]);
    print(&cluster, "web-old-a", 1, "old 2");
    run.until("a old 2");
    finish(&cluster);
    let ran = run.finish();
    assert_eq!(ran.status.code(), Some(0), "{}", ran.transcript());
    assert!(!ran.stderr.contains("old 1"), "{}", ran.stderr);
    for line in ["b new 1\n", "a old 2\n", "b listening\n"] {
        assert_eq!(ran.stderr.matches(line).count(), 1, "{line}{}", ran.stderr);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lines_of_a_failure_are_shown_once() {
    for which in ["--logs=new", "--logs=all"] {
        let cluster = rollout().await;
        let mut run = start(&cluster, &[which, "--allow-restarts=1"]);
        run.until("new 1");
        print(&cluster, "web-new-b", 2, "panic: no such host");
        cluster.report("pods", "web-new-b", &crashed());
        let ran = run.finish();
        assert_eq!(ran.status.code(), Some(2));
        let shown = ran.stderr.matches("panic: no such host").count();
        assert_eq!(shown, 1, "{}", ran.stderr);
        assert!(!ran.stderr.contains("last lines of"), "{}", ran.stderr);
        let end = "- pod/web-new-b app: exit 2\nerror: deployment.apps/web has failed: ";
        assert!(ran.stderr.contains(end), "{}", ran.stderr);
    }
}

/// The Pod is ready at the start, so its lines are none of a rollout.
#[tokio::test(flavor = "multi_thread")]
async fn a_failure_of_a_pod_that_was_ready_has_its_last_lines() {
    let cluster = rollout().await;
    let ready = status("web-new-b", &json!({"running": {}}), true);
    cluster.report("pods", "web-new-b", &ready);
    let mut run = start(&cluster, &["--logs=new", "--allow-restarts=1"]);
    run.until("deployment.apps/web");
    print(&cluster, "web-new-b", 2, "panic: no such host");
    cluster.report("pods", "web-new-b", &crashed());
    let ran = run.finish();
    assert_eq!(ran.status.code(), Some(2));
    assert!(
        ran.stderr.starts_with("last lines of pod/web-new-b app"),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.stderr.matches("panic: no such host").count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_wait_does_not_wait_for_a_silent_container() {
    let cluster = rollout().await;
    let runs = ["--logs=new", "--logs=all"].map(|which| start(&cluster, &[which, "--timeout=3s"]));
    for run in runs {
        let ran = run.finish();
        assert_eq!(ran.status.code(), Some(3), "{}", ran.transcript());
        let shown = ran.stderr.matches("new 1\n").count();
        assert_eq!(shown, 1, "{}", ran.stderr);
        let error = "error: timed out waiting for the condition on deployments/web";
        assert!(ran.stderr.contains(error), "{}", ran.stderr);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_line_says_that_the_right_to_logs_is_missing() {
    let cluster = rollout().await;
    cluster
        .sandbox
        .set_users(viewer(&[("list", "*"), ("watch", "*")]));
    let mut run = start(&cluster, &["--logs=all", "--allow-restarts=1"]);
    run.until("(Forbidden)");
    cluster.report("pods", "web-new-b", &crashed());
    let ran = run.finish();
    assert_eq!(ran.status.code(), Some(2), "{}", ran.transcript());
    let said = ran.stderr.matches("pods/log").count();
    assert_eq!(said, 1, "{}", ran.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_stand_above_the_frame_of_a_terminal() {
    let cluster = rollout().await;
    let args = ["status", "deploy/web", "--for=current", "--logs=new"];
    let mut terminal = cluster.spy().on_terminal((100, 12), &args);
    terminal.until_shown("the first line", |shown| shown.contains("new 1"));
    finish(&cluster);
    assert!(terminal.finish().success());
    let shown = terminal.transcript();
    let place = |text: &str| {
        shown
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {shown}"))
    };
    assert!(place("new 1") < place("listening"), "{shown}");
    assert_eq!(shown.matches("listening").count(), 1, "{shown}");
    assert!(shown.contains("● deployment/web"), "{shown}");
}

/// Its Pods are new to the wait, even if they are ready when it first sees them.
#[tokio::test(flavor = "multi_thread")]
async fn the_lines_of_an_object_that_is_created_later_are_shown() {
    let cluster = Cluster::start().await;
    let wait = ["status", "pod/late", "--for=condition=Ready", "--logs=new"];
    let mut run = cluster.spy().start(&wait);
    run.until("waiting for");
    print(&cluster, "late", 1, "first");
    let mut late = pod("late", &json!({"app": "late"}));
    late["spec"]["nodeName"] = "worker-1".into();
    late["status"] = status("late", &json!({"running": {}}), true);
    cluster.put(late);
    let ran = run.finish();
    assert_eq!(ran.status.code(), Some(0), "{}", ran.transcript());
    assert_eq!(ran.stderr.matches("first\n").count(), 1, "{}", ran.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_flags_need_a_wait_that_reads_pods() {
    let cluster = Cluster::start().await;
    for (args, expect) in [
        (
            &["status", "pods", "--logs=new"][..],
            "error: --logs=new and --logs=all need --for\n",
        ),
        (
            &["trace", "svc/web", "--logs=all"],
            "error: --logs and --log-lines need --for\n",
        ),
        (
            &["changes", "deploy/web", "--for=create", "--logs=new"],
            "error: --logs=new and --logs=all of changes need --for=current or --for=settled\n",
        ),
    ] {
        let ran = cluster.spy().run(args);
        assert!(ran.stderr.starts_with(expect), "{}", ran.stderr);
        assert_eq!(ran.status.code(), Some(1));
    }
}

/// A rollout whose new Pod has printed more than a pipe takes, in numbered lines.
async fn talkative() -> Cluster {
    let cluster = rollout().await;
    for number in 0..LINES {
        let line = format!("{number:04} {}", "x".repeat(1000));
        print(&cluster, "web-new-b", 1, &line);
    }
    cluster
}

const LINES: usize = 2_000;

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_of_stderr_that_stops_does_not_hold_the_verdict() {
    let cluster = talkative().await;
    let args = ["status", "deploy/web", "--for=current", "--logs=new"];
    let (mut run, mut stderr) = cluster.spy().start_unread(&args);
    run.until("InProgress");
    finish(&cluster);
    run.until("Current");
    let reads = std::thread::spawn(move || {
        let mut text = String::new();
        stderr.read_to_string(&mut text).unwrap();
        text
    });
    let ran = run.finish();
    let stderr = reads.join().unwrap();
    assert_eq!(ran.status.code(), Some(0));
    assert!(stderr.ends_with("deployment.apps/web condition met\n"));
    // What is printed is the beginning, and whole. If that is not all, the end says so.
    let numbers: Vec<usize> = stderr
        .lines()
        .filter(|line| line.len() == 1005)
        .map(|line| line[..4].parse().unwrap())
        .collect();
    assert_eq!(numbers, (0..numbers.len()).collect::<Vec<_>>());
    assert!(numbers.len() > 60, "{}", numbers.len());
    let is_said = stderr.contains("lines of containers may be missing\n");
    assert!(is_said || numbers.len() == LINES, "{}", numbers.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_of_stderr_that_stops_does_not_hold_the_time_limit() {
    let cluster = talkative().await;
    for which in ["--logs=new", "--logs=none"] {
        let args = ["status", "deploy/web", "--for=current", which, "-v=8"];
        let args = [&args[..], &["--timeout=3s"]].concat();
        let (run, _unread) = cluster.spy().start_unread(&args);
        assert_eq!(run.finish().status.code(), Some(3), "{which}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_reader_of_stderr_gets_every_line() {
    let cluster = talkative().await;
    let args = ["status", "deploy/web", "--for=current", "--logs=new"];
    let (mut run, mut stderr) = cluster.spy().start_unread(&args);
    run.until("InProgress");
    let last = format!("{:04} ", LINES - 1);
    let mut text = String::new();
    let mut piece = [0; 1 << 10];
    while !text.contains(&last) {
        let read = stderr.read(&mut piece).unwrap();
        assert_ne!(read, 0, "{text}");
        text += std::str::from_utf8(&piece[..read]).unwrap();
    }
    finish(&cluster);
    run.until("Current");
    stderr.read_to_string(&mut text).unwrap();
    assert_eq!(run.finish().status.code(), Some(0));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), LINES + 4, "{:?}", &lines[LINES..]);
    assert_eq!(lines[0], "+ pod/web-new-b app");
    assert_eq!(
        lines[LINES + 2..],
        ["listening", "deployment.apps/web condition met"]
    );
}
