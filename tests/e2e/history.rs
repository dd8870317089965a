//! Looking back on a real API server: what happened before the program was started, and what it missed
//! while the server was away.

use super::controlplane::{ControlPlane, kubectl};
use super::support::Spy;

/// The lines that head a version of an object.
fn versions<'o>(stdout: &'o str, object: &str) -> Vec<&'o str> {
    let heads = stdout.lines().filter(|line| line.contains(object));
    heads
        .filter_map(|line| line.split_whitespace().nth(1))
        .collect()
}

/// The values that a counter took, in the order they are told.
fn counted(stdout: &str) -> Vec<u32> {
    let values = stdout
        .lines()
        .filter_map(|line| line.strip_prefix("~ .data.n: "));
    values
        .map(|line| {
            let (_, new) = line.split_once(" → ").unwrap();
            new.split('"').nth(1).unwrap().parse().unwrap()
        })
        .collect()
}

fn count(plane: &ControlPlane, number: u32) {
    let patch = format!(r#"{{"data":{{"n":"{number}"}}}}"#);
    plane.kubectl(&["patch", "cm", "counter", "-p", &patch]);
}

#[test]
fn all_versions_before_the_start_are_told() {
    let plane = ControlPlane::start("history");
    plane.kubectl(&["create", "cm", "counter", "--from-literal=n=0"]);
    (1..=100).for_each(|number| count(&plane, number));
    let spy = Spy::with_kubeconfig(plane.admin());
    let ran = spy.run(&["changes", "cm/counter", "--since", "all", "--once"]);
    assert_eq!(counted(&ran.stdout), (1..=100).collect::<Vec<_>>());
    assert!(
        ran.stdout.contains("101 earlier versions"),
        "{}",
        ran.stdout
    );
    let ran = spy.run(&["changes", "cm/counter", "--once"]);
    assert_eq!(counted(&ran.stdout), (81..=100).collect::<Vec<_>>());

    plane.kubectl(&["delete", "cm", "counter"]);
    for number in [200, 300] {
        plane.kubectl(&["create", "cm", "counter", "--from-literal=n=-"]);
        count(&plane, number);
        plane.kubectl(&["delete", "cm", "counter"]);
    }
    let ran = spy.run(&["changes", "cm/counter", "--since", "all", "--once"]);
    let lives = versions(&ran.stdout, "configmap/counter");
    let lives: Vec<&str> = lives
        .into_iter()
        .filter(|verb| *verb != "MODIFIED")
        .collect();
    let again = ["RECREATED", "DELETED"];
    assert_eq!(
        lives,
        [&["CREATED", "DELETED"][..], &again, &again].concat()
    );
    let expected: Vec<u32> = (1..=100).chain([200, 300]).collect();
    assert_eq!(counted(&ran.stdout), expected);

    let ran = spy.run(&["changes", "cm,secret", "--since", "5m", "--once"]);
    assert!(
        ran.stdout.contains("objects that lived only in between"),
        "{}",
        ran.stdout
    );
}

#[test]
fn where_the_servers_memory_ends_is_said() {
    let plane = ControlPlane::with_compaction("compaction", "5s");
    plane.kubectl(&["create", "cm", "counter", "--from-literal=n=0"]);
    count(&plane, 1);
    let spy = Spy::with_kubeconfig(plane.admin());
    // A compaction forgets what was there at the one before.
    let forgotten = (2..).find(|number| {
        count(&plane, *number);
        let ran = spy.run(&["changes", "cm/counter", "--since", "all", "--once"]);
        let told = counted(&ran.stdout);
        let first = told.first().copied().unwrap_or(*number);
        assert_eq!(told, (first..=*number).collect::<Vec<_>>());
        let ended = ran
            .stdout
            .contains("the server has forgotten what was before");
        assert_eq!(ended, first > 1, "{}", ran.stdout);
        ended
    });
    assert!(forgotten.is_some());
}

/// A writer goes on through another API server while ours is killed: every version comes once, in
/// order, and no gap is told.
#[test]
fn an_outage_hides_nothing() {
    let plane = ControlPlane::to_break("missed");
    let second = plane.second_api_server();
    plane.kubectl(&["create", "cm", "counter", "--from-literal=n=0"]);
    let spy = Spy::with_kubeconfig(plane.admin());
    let mut run = spy.start(&["changes", "cm/counter", "--since", "0"]);
    run.until("EXISTING");
    count(&plane, 1);
    run.until("MODIFIED");
    plane.kill_api_server();
    run.until("retrying");
    for number in 2..=200 {
        let patch = format!(r#"{{"data":{{"n":"{number}"}}}}"#);
        let patched = std::process::Command::new(kubectl())
            .args([
                "patch",
                "cm",
                "counter",
                "-p",
                &patch,
                "--kubeconfig",
                &second,
            ])
            .stdout(std::process::Stdio::null())
            .status();
        assert!(patched.unwrap().success());
    }
    plane.start_api_server();
    run.until("\"200\"");
    count(&plane, 201);
    run.until("\"201\"");
    let ran = run.interrupt();
    assert_eq!(counted(&ran.stdout), (1..=201).collect::<Vec<_>>());
    assert!(!ran.stdout.contains("may be missing"), "{}", ran.stdout);
}
