//! The look-back on a real API server: versions from before the program started, and versions it missed while
//! the server was down.

use std::time::{Duration, Instant};

use super::controlplane::{ControlPlane, kubectl};
use super::support::Spy;
use serde_json::Value;

/// The heading lines of an object's versions.
fn versions<'o>(stdout: &'o str, object: &str) -> Vec<&'o str> {
    let heads = stdout.lines().filter(|line| line.contains(object));
    heads
        .filter_map(|line| line.split_whitespace().nth(1))
        .collect()
}

/// The values of a counter, in the printed order. It has no number when it is created.
fn counted(stdout: &str) -> Vec<u32> {
    let values = stdout
        .lines()
        .filter_map(|line| line.strip_prefix("~ .data.n: "));
    values
        .filter_map(|line| {
            let (_, new) = line.split_once(" → ").unwrap();
            new.trim_matches('"').parse().ok()
        })
        .collect()
}

fn count(plane: &ControlPlane, number: u32) {
    let patch = format!(r#"{{"data":{{"n":"{number}"}}}}"#);
    plane.kubectl(&["patch", "cm", "counter", "-p", &patch]);
}

#[test]
fn all_versions_before_the_start_are_printed() {
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

    // The objects no longer exist, but the watch cache has all their versions.
    let ran = spy.run(&["changes", "cm,secret", "--since", "5m", "--once"]);
    assert_eq!(counted(&ran.stdout), expected);
    assert!(ran.stdout.contains("complete"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("missing"), "{}", ran.stdout);
}

/// Versions from before the start are printed with their times, deletions included. Those from before the
/// window are not printed.
#[test]
fn deletions_are_dated_by_the_renewals_of_leases() {
    let plane = ControlPlane::start("dated");
    for name in ["early", "late"] {
        plane.kubectl(&["create", "cm", name, "--from-literal=n=0"]);
    }
    plane.kubectl(&["delete", "cm", "early"]);
    let spy = Spy::with_kubeconfig(plane.admin());
    let early = |since: &str| {
        let ran = spy.run(&["changes", "cm", "--since", since, "--once"]);
        ran.stdout.contains("DELETED configmap/early")
    };
    assert!(early("5m"));
    // The API server renews its own Lease every ten seconds.
    let begun = Instant::now();
    while early("1s") {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "it still prints old versions"
        );
    }
    plane.kubectl(&["delete", "cm", "late"]);
    let ran = spy.run(&["changes", "cm", "--since", "1m", "--once", "-o", "json"]);
    let records = ran.stdout.lines().map(serde_json::from_str);
    let records: Vec<Value> = records.map(Result::unwrap).collect();
    let divider = records.iter().find(|record| record["type"] == "seam");
    assert_eq!(divider.unwrap()["live"], false);
    let deletion = |record: &&Value| record["type"] == "deleted" && record["ref"]["name"] == "late";
    let late = records.iter().find(deletion).unwrap();
    let time = |name: &str| {
        late[name]
            .as_str()
            .unwrap()
            .parse::<jiff::Timestamp>()
            .unwrap()
    };
    let span = time("timeUntil").duration_since(time("time"));
    assert!(span <= jiff::SignedDuration::from_secs(30), "{late}");
}

/// The rows of a table without its ages, which stand before the node and the address.
fn rows(stdout: &str) -> Vec<Vec<String>> {
    let rows = stdout.lines().map(|line| {
        let mut cells: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        if cells.len() > 3 {
            cells.remove(cells.len() - 3);
        }
        cells
    });
    rows.collect()
}

#[test]
fn a_view_of_the_past_is_what_was_printed_then() {
    let plane = ControlPlane::start("at");
    plane.kubectl(&["create", "deploy", "web", "--image=web:1", "--replicas=2"]);
    plane.kubectl(&["rollout", "status", "deploy/web"]);
    let spy = Spy::with_kubeconfig(plane.admin());
    let printed = rows(&spy.run(&["status", "deploy/web", "--once"]).stdout);
    let shown_at = |at: &str| rows(&spy.run(&["status", "deploy/web", "--at", at]).stdout);
    // The API server renews its own Lease every ten seconds.
    let begun = Instant::now();
    let then = loop {
        let then = jiff::Timestamp::now().to_string();
        if shown_at(&then) == printed {
            break then;
        }
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "no renewal after the rollout"
        );
    };
    plane.kubectl(&["set", "image", "deploy/web", "web=bad:1"]);
    plane.kubectl(&["annotate", "deploy", "web", "owner=none"]);
    let failed = ["status", "deploy/web", "--for=current", "--timeout=60s"];
    assert_eq!(spy.run(&failed).status.code(), Some(2));
    assert_eq!(shown_at(&then), printed);
    let trace = spy.run(&["trace", "deploy/web", "--at", &then]).stdout;
    assert!(trace.contains("complete: 2/2 available"), "{trace}");
    let yaml = ["changes", "deploy/web", "-o", "yaml", "--at", &then];
    let yaml = spy.run(&yaml).stdout;
    assert!(
        yaml.contains("image: web:1") && !yaml.contains("owner: none"),
        "{yaml}"
    );
}

#[test]
fn the_end_of_the_servers_history_is_shown() {
    let plane = ControlPlane::with_compaction("compaction", "5s");
    plane.kubectl(&["create", "cm", "counter", "--from-literal=n=0"]);
    let version = [
        "get",
        "cm",
        "counter",
        "-o",
        "jsonpath={.metadata.resourceVersion}",
    ];
    let first = plane.kubectl(&version);
    let namespace = "/api/v1/namespaces/default/configmaps";
    let at_first = format!(
        "{namespace}?resourceVersionMatch=Exact&resourceVersion={}",
        first.trim()
    );
    let spy = Spy::with_kubeconfig(plane.admin());
    let changes = ["changes", "cm/counter", "--since", "all", "--once"];
    let newest = (1..10_000).find(|number| {
        count(&plane, *number);
        // Until the storage is compacted, and with the watch cache also after that, nothing is missing.
        let printed = counted(&spy.run(&changes).stdout);
        assert_eq!(printed, (1..=*number).collect::<Vec<_>>());
        let read = std::process::Command::new(kubectl())
            .args(["get", "--raw", &at_first, "--kubeconfig", plane.admin()])
            .env("HOME", env!("CARGO_TARGET_TMPDIR"))
            .output();
        !read.unwrap().status.success()
    });
    // The watch cache begins anew with the API server.
    plane.kill_api_server();
    plane.start_api_server();
    let ran = spy.run(&changes);
    let printed = counted(&ran.stdout);
    let newest = newest.unwrap();
    let oldest = printed.first().copied().unwrap_or(newest + 1);
    assert!(oldest > 1, "{}", ran.stdout);
    assert_eq!(printed, (oldest..=newest).collect::<Vec<_>>());
    let ends = [
        "the server has compacted",
        "the server's history starts before",
    ];
    assert!(
        ends.iter().any(|end| ran.stdout.contains(end)),
        "{}",
        ran.stdout
    );
}

/// The minimum downtime of the API server.
const AWAY: Duration = Duration::from_secs(10);

/// Writes through the other API server, from `first` on, until `AWAY` has passed. Returns the last number
/// written.
fn write_on(kubeconfig: &str, first: u32) -> u32 {
    let begun = Instant::now();
    let mut number = first;
    loop {
        let patch = format!(r#"{{"data":{{"n":"{number}"}}}}"#);
        let patched = std::process::Command::new(kubectl())
            .args(["patch", "cm", "counter", "-p", &patch])
            .args(["--kubeconfig", kubeconfig])
            .env("HOME", env!("CARGO_TARGET_TMPDIR"))
            .stdout(std::process::Stdio::null())
            .status();
        assert!(patched.unwrap().success());
        if begun.elapsed() > AWAY {
            return number;
        }
        number += 1;
    }
}

/// A writer continues through another API server while the program's server is killed for ten seconds. Every
/// version is printed once, in order, without a gap.
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
    let last = write_on(&second, 2);
    plane.start_api_server();
    run.until(&format!("\"{last}\""));
    count(&plane, last + 1);
    run.until(&format!("\"{}\"", last + 1));
    let ran = run.interrupt();
    assert_eq!(counted(&ran.stdout), (1..=last + 1).collect::<Vec<_>>());
    assert!(!ran.stdout.contains("may be missing"), "{}", ran.stdout);
}
