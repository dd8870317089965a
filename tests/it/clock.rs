//! Tests of the clock by which states are judged: the server's, or that of a file.

use std::io::Write;
use std::sync::Arc;

use insta::assert_snapshot;
use jiff::SignedDuration;
use kubectl_spy::sandbox::{Effect, ErrorBody, Fault, Place, Verb};
use serde_json::json;

use super::support::cluster::{Cluster, dated};
use super::support::{Ran, Spy};

/// A server with an hourly `CronJob`, so long after its creation at noon.
async fn hourly(passed: SignedDuration) -> Cluster {
    tick_hourly(Cluster::start_with(dated).await, passed)
}

fn tick_hourly(cluster: Cluster, passed: SignedDuration) -> Cluster {
    cluster.put(json!({
        "apiVersion": "batch/v1", "kind": "CronJob",
        "metadata": {"name": "tick", "namespace": "shop"},
        "spec": {"schedule": "0 * * * *"},
    }));
    cluster.tick(passed.as_secs());
    cluster
}

/// The same server behind a proxy, whose `Date` is so far ahead.
async fn behind_a_proxy(passed: SignedDuration, ahead: SignedDuration) -> Cluster {
    let cluster = Cluster::start_with(|options| {
        let clock = options.clock.clone();
        options.date = Some(Arc::new(move || clock() + ahead));
    });
    tick_hourly(cluster.await, passed)
}

fn lists_of_leases(cluster: &Cluster) -> usize {
    let requests = cluster.sandbox.requests();
    let of_leases = requests
        .iter()
        .filter(|request| request.path.contains("/leases"));
    of_leases.count()
}

/// Runs the program on a machine whose clock is `ahead` of the server's.
fn run(cluster: &Cluster, ahead: SignedDuration, args: &[&str]) -> Ran {
    let now = (cluster.now() + ahead).to_string();
    cluster.spy().var("KUBECTL_SPY_NOW", &now).run(args)
}

fn hours(hours: i64) -> SignedDuration {
    SignedDuration::from_hours(hours)
}

fn minutes(minutes: i64) -> SignedDuration {
    SignedDuration::from_mins(minutes)
}

#[tokio::test(flavor = "multi_thread")]
async fn states_and_ages_are_by_the_servers_clock() {
    let cluster = hourly(minutes(30)).await;
    cluster.renew();
    let status = ["status", "cj/tick", "--once", "--exit-code"];
    let ran = run(&cluster, hours(7), &status);
    assert_eq!(ran.status.code(), Some(0));
    assert_snapshot!(ran.transcript(), @"
    NAME             READY   STATUS    RESTARTS   AGE   NODE   IP
    ● cronjob/tick   -       Current   -          30m   -      -
      └ has not started a Job yet (schedule 0 * * * *)
    ! this machine's clock is 7h ahead of the server's; states and ages are by the server's
    ");
    let trace = run(&cluster, hours(7), &["trace", "cj/tick", "--once"]);
    assert!(
        trace.stdout.contains("next start in 29m"),
        "{}",
        trace.transcript()
    );
    assert!(
        trace.stderr.contains("7h ahead of the server's"),
        "{}",
        trace.transcript()
    );
    for verb in ["status", "trace", "changes"] {
        let args = [verb, "cj/tick", "--for=current", "--timeout=0"];
        let ran = run(&cluster, hours(7), &args);
        assert_eq!(ran.status.code(), Some(0), "{}", ran.transcript());
    }
    // Clocks that agree are not mentioned, and need no proof.
    let before = lists_of_leases(&cluster);
    let ran = run(&cluster, hours(0), &status);
    assert_eq!(ran.stderr, "");
    assert_eq!(lists_of_leases(&cluster), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_date_of_a_proxy_is_not_the_servers_clock() {
    for ahead in [
        hours(1),
        hours(-7),
        minutes(40),
        SignedDuration::from_secs(30),
    ] {
        // The next start of the hourly Job is in half an hour, the last one was just now.
        let cluster = behind_a_proxy(minutes(30), ahead).await;
        cluster.renew();
        for verb in ["status", "trace"] {
            let before = lists_of_leases(&cluster);
            let args = [verb, "cj/tick", "--once", "--exit-code"];
            let ran = run(&cluster, hours(0), &args);
            assert_eq!(ran.status.code(), Some(0), "{ahead} {}", ran.transcript());
            assert_eq!(ran.stderr, "", "{ahead}");
            assert_eq!(lists_of_leases(&cluster) - before, 1, "{ahead} {verb}");
        }
        for verb in ["status", "trace", "changes"] {
            let args = [verb, "cj/tick", "--for=current", "--timeout=0"];
            let ran = run(&cluster, hours(0), &args);
            assert_eq!(ran.status.code(), Some(0), "{ahead} {}", ran.transcript());
        }
        let late = behind_a_proxy(minutes(130), ahead).await;
        late.renew();
        for verb in ["status", "trace"] {
            let ran = run(&late, hours(0), &[verb, "cj/tick", "--once", "--exit-code"]);
            assert_eq!(ran.status.code(), Some(1), "{ahead} {}", ran.transcript());
        }
        for verb in ["status", "trace", "changes"] {
            let args = [verb, "cj/tick", "--for=current", "--timeout=0"];
            let ran = run(&late, hours(0), &args);
            assert_eq!(ran.status.code(), Some(3), "{ahead} {}", ran.transcript());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_leases_the_date_is_only_the_date() {
    let words = "this machine's clock is 7h ahead of the Date of the server's responses; \
                 states and ages are by that Date\n";
    let cluster = hourly(minutes(30)).await;
    let status = ["status", "cj/tick", "--once", "--exit-code"];
    let none = run(&cluster, hours(7), &status);
    assert_eq!((none.status.code(), &*none.stderr), (Some(0), words));
    cluster.renew();
    let refusal = Effect::Status {
        code: 403,
        retry_after: None,
        body: ErrorBody::Status,
    };
    for effect in [
        refusal,
        Effect::Stall {
            at: Place::BeforeHeaders,
        },
    ] {
        cluster.sandbox.clear_faults();
        cluster
            .sandbox
            .inject(Fault::on(Verb::List, "leases", effect).always());
        let unread = run(&cluster, hours(7), &status);
        assert_eq!((unread.status.code(), &*unread.stderr), (Some(0), words));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_problem_counts_although_it_is_in_the_future_of_this_machine() {
    let cluster = hourly(minutes(130)).await;
    cluster.renew();
    let ran = run(
        &cluster,
        hours(-7),
        &["status", "cj/tick", "--once", "--exit-code"],
    );
    assert_eq!(ran.status.code(), Some(1));
    assert_snapshot!(ran.transcript(), @"
    NAME             READY   STATUS       RESTARTS   AGE    NODE   IP
    ~ cronjob/tick   -       InProgress   -          130m   -      -
      └ no job was started at 2026-03-02T13:00:00Z
      └ has not started a Job yet (schedule 0 * * * *)
    ! this machine's clock is 7h behind the server's; states and ages are by the server's
    ");
    for verb in ["status", "trace", "changes"] {
        let args = [verb, "cj/tick", "--for=current", "--timeout=0"];
        let ran = run(&cluster, hours(-7), &args);
        assert_eq!(ran.status.code(), Some(3), "{}", ran.transcript());
    }
}

/// A dump of a year ago. Only some of its objects were written shortly before it was made.
const DUMP: &str = r#"
{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "tick", "namespace": "shop", "creationTimestamp": "2024-03-01T09:00:00Z"},
 "spec": {"schedule": "0 * * * *"}, "status": {"lastScheduleTime": "2024-03-02T11:00:00Z", "lastSuccessfulTime": "2024-03-02T11:00:09Z"}}
{"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": {"name": "web", "namespace": "shop", "creationTimestamp": "2024-03-01T09:00:00Z"},
 "status": {"notAfter": "2024-05-30T09:00:00Z", "renewalTime": "2024-04-30T09:00:00Z", "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2024-03-01T09:00:20Z"}]}}
{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "n1", "namespace": "shop", "creationTimestamp": "2024-03-01T09:00:00Z"},
 "spec": {"renewTime": "2024-03-02T11:30:00.123456Z"}}
"#;

fn file(name: &str, text: &str) -> String {
    let file = format!("{}/{name}", env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(&file, text).unwrap();
    file
}

#[test]
fn the_newest_time_of_a_file_is_its_now() {
    let file = file("clock-dump.json", DUMP);
    let run = |args: &[&str]| Spy::alone().run(&[args, &["--from", &file]].concat());
    let ran = run(&["status", "--once", "--exit-code"]);
    assert_eq!(ran.status.code(), Some(0));
    assert_snapshot!(ran.transcript(), @"
    3 Current
    NAME                READY   STATUS    RESTARTS   AGE   NODE   IP
    ● cronjob/tick      -       Current   -          26h   -      -
    ● certificate/web   -       Current   -          26h   -      -
    ● lease/n1          -       Current   -          26h   -      -
    ");
    // The file as a cluster.
    let ran = run(&["status", "cj/tick", "--once", "--exit-code"]);
    assert_eq!(ran.status.code(), Some(0));
    assert_snapshot!(ran.transcript(), @"
    NAME             READY   STATUS    RESTARTS   AGE   NODE   IP
    ● cronjob/tick   -       Current   -          26h   -      -
    ");
    let ran = run(&["trace", "cj/tick", "--once"]);
    assert_snapshot!(ran.transcript(), @"
    cronjob/tick  -n shop  0 * * * *
    ● waits for its next start   next start in 29m
    ✓         spec change   gen 0
    ✓         last run      its job is gone, 30m ago
    ·         next run      2024-03-02T12:00:00Z
    ");
    for verb in ["status", "trace", "changes"] {
        let ran = run(&[verb, "cj/tick", "--for=current"]);
        assert_eq!(ran.status.code(), Some(0), "{}", ran.transcript());
    }
    let args = ["changes", "cj/tick", "--from", "-", "--for=current"];
    let (piped, mut input) = Spy::alone().start_reading(&args);
    input.write_all(DUMP.as_bytes()).unwrap();
    drop(input);
    let piped = piped.finish();
    assert_eq!(piped.status.code(), Some(0), "{}", piped.transcript());
    let later = ["--now", "2024-03-02T12:30:00Z"];
    let ran = run(&[&["status", "--once", "--exit-code"], &later[..]].concat());
    assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
}

#[test]
fn a_time_that_cannot_be_is_not_the_now_of_a_file() {
    let forged = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "shop", "managedFields": [{"manager": "m", "operation": "Update", "time": "2999-01-01T00:00:00Z"}]}}"#;
    let file = file("clock-forged.json", &format!("{DUMP}{forged}"));
    let args = ["status", "--once", "--exit-code", "--from", &file];
    let ran = Spy::alone().run(&args);
    assert_eq!(ran.status.code(), Some(0), "{}", ran.transcript());
}

#[test]
fn a_file_without_times_is_judged_by_this_machines_clock() {
    let text = r#"{"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": {"name": "web", "namespace": "shop"}, "status": {"notAfter": "2026-01-01T00:00:00Z"}}"#;
    let file = file("clock-timeless.json", text);
    let args = ["status", "--once", "--exit-code", "--from", &file];
    for (now, code) in [("2025-12-31T00:00:00Z", 0), ("2026-01-02T00:00:00Z", 1)] {
        let ran = Spy::alone().var("KUBECTL_SPY_NOW", now).run(&args);
        assert_eq!(ran.status.code(), Some(code), "{}", ran.transcript());
    }
}
