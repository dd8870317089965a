//! Tests of `logs` against the sandbox: which lines it prints, and what it says about the others.

use std::io::Read;
use std::process::Stdio;

use insta::assert_snapshot;
use jiff::{SignedDuration, Timestamp};
use kubectl_spy::sandbox::{
    Effect, End, ErrorBody, Fault, Permission, Place, Request, Rule, User, Verb,
};
use serde_json::{Value, json};

use super::schema::Schema;
use super::support::Ran;
use super::support::cluster::{Cluster, config_map, deployment, owned_by, pod};

/// A Pod in `shop` that runs on a node; the container IDs are `NAME/CONTAINER#0`.
fn running(name: &str, containers: &[&str]) -> Value {
    let mut pod = pod(name, &json!({"app": "web"}));
    let specs = containers
        .iter()
        .map(|container| json!({"name": container, "image": "app:1"}));
    pod["spec"] = json!({"nodeName": "worker-1", "containers": specs.collect::<Vec<_>>()});
    pod["status"] = status(name, containers, 0);
    pod
}

/// The status while the instances of this number run.
fn status(name: &str, containers: &[&str], number: u32) -> Value {
    let statuses = containers.iter().map(|container| {
        let id = |number: u32| format!("{name}/{container}#{number}");
        let mut status = json!({
            "name": container, "restartCount": number, "containerID": id(number),
            "state": {"running": {"startedAt": "2026-03-02T12:00:00Z"}}, "lastState": {},
        });
        if number > 0 {
            status["lastState"] = json!({"terminated": {
                "exitCode": 1, "reason": "Error", "containerID": id(number - 1),
            }});
        }
        status
    });
    json!({"phase": "Running", "containerStatuses": statuses.collect::<Vec<_>>()})
}

/// The status after the only container has ended with this code.
fn ended(name: &str, code: u32) -> Value {
    let terminated = json!({"terminated": {
        "exitCode": code, "reason": if code == 0 { "Completed" } else { "Error" },
        "containerID": format!("{name}/app#0"),
    }});
    json!({
        "phase": if code == 0 { "Succeeded" } else { "Failed" },
        "containerStatuses": [{"name": "app", "state": terminated, "lastState": {}, "restartCount": 0}],
    })
}

fn at(millisecond: i64) -> Timestamp {
    let noon: Timestamp = "2026-03-02T12:00:00Z".parse().unwrap();
    noon + SignedDuration::from_millis(millisecond)
}

/// A program prints these lines, one each 10 ms.
fn print(cluster: &Cluster, id: &str, from: i64, lines: &[&str]) {
    for (number, line) in lines.iter().enumerate() {
        let number = i64::try_from(number).unwrap();
        cluster
            .sandbox
            .print(id, at(from + 10 * number), line.as_bytes());
    }
}

fn once(cluster: &Cluster, args: &[&str]) -> Ran {
    let spy = cluster.spy();
    tokio::task::block_in_place(|| spy.run(&[&["logs"], args].concat()))
}

/// The bytes on standard output.
fn bytes(cluster: &Cluster, args: &[&str]) -> Vec<u8> {
    let spy = cluster.spy();
    tokio::task::block_in_place(|| {
        let mut child = spy.spawn_to(Stdio::piped(), &[&["logs"], args].concat());
        let mut bytes = Vec::new();
        child
            .stdout
            .take()
            .unwrap()
            .read_to_end(&mut bytes)
            .unwrap();
        child.wait().unwrap();
        bytes
    })
}

async fn web() -> Cluster {
    let cluster = Cluster::start().await;
    let workload = cluster.put(deployment("web", 2));
    let mut set = deployment("web-7d9", 2);
    set["kind"] = "ReplicaSet".into();
    set["metadata"]["labels"] = json!({"app": "web"});
    set["spec"]["selector"] = workload["spec"]["selector"].clone();
    let set = cluster.put(owned_by(set, &workload));
    for name in ["web-7d9-aaaa", "web-7d9-bbbb"] {
        cluster.put(owned_by(running(name, &["app"]), &set));
    }
    print(&cluster, "web-7d9-aaaa/app#0", 0, &["a1", "a2", "a3"]);
    print(&cluster, "web-7d9-bbbb/app#0", 5, &["b1", "b2", "b3"]);
    cluster
}

#[tokio::test(flavor = "multi_thread")]
async fn one_pod_prints_its_lines_and_ends() {
    let cluster = web().await;
    let ran = once(&cluster, &["web-7d9-aaaa"]);
    assert_eq!(
        (ran.transcript().as_str(), ran.status.code()),
        ("a1\na2\na3", Some(0))
    );
    for (args, expect) in [
        (&["pod/web-7d9-aaaa", "--tail", "2"][..], "a2\na3"),
        (&["web-7d9-aaaa", "--tail", "0"], ""),
        (&["web-7d9-aaaa", "--limit-bytes", "4"], "a1\na"),
        (&["web-7d9-aaaa", "--grep", "[13]", "--not", "3"], "a1"),
        (
            &["web-7d9-aaaa", "--prefix", "--tail", "1"],
            "[pod/web-7d9-aaaa/app] a3",
        ),
        (
            &["web-7d9-aaaa", "--timestamps", "--tail", "1"],
            "2026-03-02T12:00:00.020000000Z a3",
        ),
        (
            &["web-7d9-aaaa", "--since-time", "2026-03-02T12:00:00.01Z"],
            "a2\na3",
        ),
        (
            &["web-7d9-aaaa", "-c", "nope*"],
            "! no container is chosen by -c",
        ),
    ] {
        assert_eq!(once(&cluster, args).transcript(), expect, "{args:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lines_of_all_pods_of_a_workload_come_in_the_order_of_their_times() {
    let cluster = web().await;
    let whole = "aaaa a1\nbbbb b1\naaaa a2\nbbbb b2\naaaa a3\nbbbb b3";
    for words in [
        &["deploy/web"][..],
        &["deploy", "web"],
        &["rs/web-7d9"],
        &["-l", "app=web"],
        &["pods"],
    ] {
        assert_eq!(once(&cluster, words).transcript(), whole, "{words:?}");
    }
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"selector": {"app": "web"}},
    });
    cluster.put(service);
    assert_eq!(once(&cluster, &["svc/web"]).transcript(), whole);
    let ran = once(&cluster, &["-l", "app=web", "--tail", "1", "-A"]);
    assert_eq!(ran.transcript(), "shop/aaaa a3\nshop/bbbb b3");
}

#[tokio::test(flavor = "multi_thread")]
async fn raw_output_in_a_pipe_is_the_bytes() {
    let cluster = Cluster::start().await;
    cluster.put(running("web", &["app"]));
    let long = vec![b'x'; 2 << 20];
    let lines: [&[u8]; 6] = [b"a\x1b[2Jb", b"", b"\xff\0\r", &long, b"\x1b[31mred", b" "];
    for (line, time) in lines.iter().zip(0..) {
        cluster.sandbox.print("web/app#0", at(time), line);
    }
    let mut expect = lines.join(&b'\n');
    expect.push(b'\n');
    assert!(bytes(&cluster, &["web", "-o", "raw"]) == expect);
    let shown = once(&cluster, &["web", "--not", "xxx"]);
    assert_eq!(shown.stdout, "a^[[2Jb\n\n\u{fffd}^@\\r\nred\n \n");
}

#[tokio::test(flavor = "multi_thread")]
async fn following_loses_nothing_over_cuts_restarts_and_new_pods() {
    let cluster = Cluster::start().await;
    let set = cluster.put(deployment("web", 1));
    cluster.put(owned_by(running("web-a", &["app"]), &set));
    print(&cluster, "web-a/app#0", 0, &["L0", "L1"]);
    let mut run = cluster.spy().start(&["logs", "deploy/web", "-f"]);
    run.until("L1");
    cluster.sandbox.cut_logs();
    print(&cluster, "web-a/app#0", 100, &["L2", "L3"]);
    run.until("L3");
    cluster.sandbox.cut_logs();
    print(&cluster, "web-a/app#0", 200, &["L4"]);
    cluster.report("pods", "web-a", &status("web-a", &["app"], 1));
    print(&cluster, "web-a/app#1", 300, &["L5"]);
    run.until("L5");
    cluster.put(owned_by(running("web-b", &["app"]), &set));
    print(&cluster, "web-b/app#0", 400, &["L6"]);
    run.until("L6");
    cluster.delete("pods", "web-a");
    run.until("pod/web-a app: the Pod is gone");
    print(&cluster, "web-b/app#0", 500, &["L7"]);
    run.until("L7");
    let ran = run.interrupt();
    assert_eq!(
        ran.transcript(),
        "L0\nL1\nL2\nL3\nL4\nL5\nb L6\nb L7\n\
         ! + pod/web-a app\n! - pod/web-a app: exit 1\n! + pod/web-a app: restart 1\n\
         ! + pod/web-b app\n! - pod/web-a app: the Pod is gone"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_followed_pod_that_has_ended_ends_the_program() {
    let cluster = Cluster::start().await;
    let mut pending = running("job-x", &["app"]);
    pending["spec"]["nodeName"] = Value::Null;
    pending["status"] = json!({"phase": "Pending"});
    cluster.put(pending);
    let run = cluster.spy().start(&["logs", "job-x", "-f"]);
    cluster.watched("pods").await;
    cluster.edit("pods", "job-x", &json!({"spec": {"nodeName": "worker-1"}}));
    cluster.report("pods", "job-x", &status("job-x", &["app"], 0));
    print(&cluster, "job-x/app#0", 0, &["L0", "L1"]);
    cluster.report("pods", "job-x", &ended("job-x", 0));
    let ran = run.finish();
    assert_eq!(ran.status.code(), Some(0));
    assert_eq!(
        ran.transcript(),
        "L0\nL1\n! + pod/job-x app\n! - pod/job-x app: Completed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_within_an_answer_is_read_on() {
    let cluster = web().await;
    for (after, end) in [(1, End::Clean), (2, End::Reset), (1, End::Dropped)] {
        let cut = Effect::Cut {
            at: Place::AfterEvents(after),
            end,
        };
        cluster
            .sandbox
            .inject(Fault::on(Verb::Get, "pods/log", cut));
        let mut run = cluster.spy().start(&["logs", "web-7d9-aaaa", "-f"]);
        run.until("a3");
        let ran = run.interrupt();
        assert_eq!(ran.stdout, "a1\na2\na3\n", "{end:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_follow_a_cut_within_an_answer_is_read_on() {
    let cluster = web().await;
    let cut = |end| Effect::Cut {
        at: Place::AfterEvents(1),
        end,
    };
    for end in [End::Clean, End::Reset, End::Dropped] {
        cluster
            .sandbox
            .inject(Fault::on(Verb::Get, "pods/log", cut(end)));
        let ran = once(&cluster, &["web-7d9-aaaa"]);
        assert_eq!(ran.transcript(), "a1\na2\na3", "{end:?}");
        assert_eq!(ran.status.code(), Some(0), "{end:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_follow_a_log_that_is_always_cut_is_an_error() {
    let cluster = web().await;
    let cut = Effect::Cut {
        at: Place::AfterEvents(1),
        end: End::Clean,
    };
    cluster
        .sandbox
        .inject(Fault::on(Verb::Get, "pods/log", cut).always());
    let ran = once(&cluster, &["web-7d9-aaaa"]);
    assert_snapshot!(ran.transcript(), @r"
    a1
    ! ! pod/web-7d9-aaaa app: lines after 12:00:00Z may be missing (the answers ended early)
    ! error: the log is not complete
    ");
    assert_eq!(ran.status.code(), Some(1));
    let ran = once(&cluster, &["deploy/web"]);
    assert!(
        ran.stderr
            .ends_with("error: 2 of 2 logs could not be read to the end\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.status.code(), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rotation_that_was_missed_is_named() {
    let cluster = web().await;
    let mut run = cluster.spy().start(&["logs", "web-7d9-aaaa", "-f", "-q"]);
    run.until("a3");
    let status = Effect::Status {
        code: 500,
        retry_after: None,
        body: ErrorBody::Status,
    };
    cluster
        .sandbox
        .inject(Fault::on(Verb::Get, "pods/log", status).range(1..=2));
    cluster.sandbox.cut_logs();
    print(&cluster, "web-7d9-aaaa/app#0", 100, &["lost"]);
    cluster.sandbox.rotate_log("shop", "web-7d9-aaaa");
    print(&cluster, "web-7d9-aaaa/app#0", 4000, &["a4"]);
    run.until("a4");
    let ran = run.interrupt();
    assert_eq!(ran.stdout, "a1\na2\na3\na4\n");
    let gap = "! pod/web-7d9-aaaa app: gap from 12:00:00Z to 12:00:04Z (log rotated)\n";
    assert!(ran.stderr.contains(gap), "{}", ran.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_are_those_of_kubectl() {
    let cluster = web().await;
    let mut waiting = running("slow", &["app", "side"]);
    waiting["status"] = json!({"containerStatuses": [
        {"name": "app", "state": {"waiting": {"reason": "ImagePullBackOff"}}, "lastState": {}, "restartCount": 0},
    ]});
    cluster.put(waiting);
    for (args, expect) in [
        (
            &["slow", "-c", "app"][..],
            "! Error from server (BadRequest): container \"app\" in pod \"slow\" is waiting to start: trying and failing to pull image",
        ),
        (
            &["web-7d9-aaaa", "-p"],
            "! Error from server (BadRequest): previous terminated container \"app\" in pod \"web-7d9-aaaa\" not found",
        ),
        (
            &["slow", "-c", "nope"],
            "! error: container nope is not valid for pod slow\n! hint: its containers are: app, side",
        ),
        (
            &["slow", "app"],
            "! error: the server doesn't have a resource type \"slow\"\n! hint: to read the container app of the Pod slow: kubectl spy logs slow -c app",
        ),
        (
            &["slow", "--grep", "("],
            "! error: invalid regular expression for --grep: regex parse error:\n!     (\n!     ^\n! error: unclosed group\n! See 'kubectl spy logs -h' for help and examples",
        ),
    ] {
        let ran = once(&cluster, args);
        assert_eq!(
            (ran.transcript().as_str(), ran.status.code()),
            (expect, Some(1)),
            "{args:?}"
        );
    }
    let ran = once(&cluster, &["slow"]);
    let mut said: Vec<&str> = ran.stderr.lines().collect();
    // Which one is refused first is not certain.
    said.sort_unstable();
    assert_eq!(
        said,
        [
            "! pod/slow app: Error from server (BadRequest): container \"app\" in pod \"slow\" is waiting to start: trying and failing to pull image",
            "! pod/slow side: Error from server (BadRequest): container \"side\" in pod \"slow\" is not available",
            "error: 2 of 2 logs could not be read",
        ]
    );
    assert_eq!(ran.status.code(), Some(1));
    assert_eq!(
        once(&cluster, &["slow", "--ignore-errors"]).status.code(),
        Some(0)
    );
    let ran = once(&cluster, &["nopod"]);
    assert!(
        ran.stderr
            .starts_with("Error from server (NotFound): pods \"nopod\" not found"),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.status.code(), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_of_a_pod_without_a_node_is_an_error() {
    let cluster = Cluster::start().await;
    let gpu = json!({"app": "gpu"});
    for name in ["gpu-a", "gpu-b"] {
        let mut pending = pod(name, &gpu);
        pending["spec"] = json!({"containers": [{"name": "app", "image": "app:1"}]});
        pending["status"] = json!({"phase": "Pending"});
        cluster.put(pending);
    }
    let unscheduled =
        "error: container \"app\" in pod \"gpu-a\" has not started: the pod has no node\n";
    for args in [&["gpu-a"][..], &["gpu-a", "-p"]] {
        let ran = once(&cluster, args);
        let found = (&*ran.stderr, ran.status.code());
        assert_eq!(found, (unscheduled, Some(1)), "{args:?}");
    }
    let ran = once(&cluster, &["pods", "-l", "app=gpu"]);
    let count = "error: 2 of 2 logs could not be read\n";
    assert!(ran.stderr.ends_with(count), "{}", ran.stderr);
    assert_eq!(ran.status.code(), Some(1));
}

/// Its words are those of kubectl. A custom resource may own Pods.
#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_has_no_pods_is_an_error() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("app", &json!({})));
    cluster.put(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker-1"}}));
    for (object, of) in [("cm/app", "*v1.ConfigMap"), ("nodes/worker-1", "*v1.Node")] {
        for args in [&[object][..], &[object, "-f"]] {
            let ran = cluster.spy().run(&[&["logs"], args].concat());
            let error = format!(
                "error: cannot get the logs from {of}: selector for {of} not implemented\n\
                 hint: name a Pod, a workload, a Service or a custom resource\n"
            );
            assert_eq!(
                (&*ran.stderr, ran.status.code()),
                (&*error, Some(1)),
                "{args:?}"
            );
        }
    }
    cluster.put(deployment("idle", 0));
    let ran = once(&cluster, &["deploy/idle"]);
    assert_eq!(ran.status.code(), Some(0), "{}", ran.stderr);
    // One that was named is wrong beside others, too.
    let ran = once(&cluster, &["cm/app", "deploy/idle"]);
    let error = "error: cannot get the logs from *v1.ConfigMap: ";
    assert!(ran.stderr.starts_with(error), "{}", ran.stderr);
    assert_eq!(ran.status.code(), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_right_one_line_says_so() {
    let rule = |verb: &str, resource: &str| Rule {
        permission: Permission::Allow,
        verbs: vec![verb.to_owned()],
        group: String::new(),
        resource: resource.to_owned(),
        namespace: None,
        names: Vec::new(),
    };
    let user = |rules: Vec<Rule>| User {
        name: "viewer".to_owned(),
        token: String::new(),
        rules,
    };
    let reads = vec![rule("list", "pods"), rule("watch", "pods")];
    let cluster = Cluster::start_with(|options| options.users = vec![user(reads.clone())]).await;
    cluster.put(running("web", &["app"]));
    print(&cluster, "web/app#0", 0, &["L0"]);
    assert_snapshot!(once(&cluster, &["web"]).transcript(), @r#"
    ! Error from server (Forbidden): pods "web" is forbidden: User "viewer" cannot get resource "pods/log" in API group "" in the namespace "shop"
    ! hint: try `kubectl auth can-i get pods/log -n shop`
    "#);
    // Of several Pods, one line says it. There is nothing to follow.
    for name in ["other", "third"] {
        cluster.put(running(name, &["app"]));
    }
    for follow in [&[][..], &["-f"]] {
        let ran = cluster.spy().run(&[&["logs", "pods"], follow].concat());
        // Which one is refused first is not certain.
        let forbidden = ran.stderr.matches("(Forbidden)").count();
        let end = "error: 3 of 3 logs could not be read\nhint: try `kubectl auth can-i get pods/log -n shop`\n";
        assert!(
            forbidden == 1 && ran.stderr.ends_with(end),
            "{}",
            ran.stderr
        );
        assert_eq!(ran.status.code(), Some(1), "{follow:?}");
    }
    // Pods that may not be read may be there.
    let rules = ["deployments", "replicasets"].map(|resource| Rule {
        group: "apps".to_owned(),
        verbs: vec!["list".to_owned(), "watch".to_owned()],
        ..rule("list", resource)
    });
    let blind = Cluster::start_with(|options| options.users = vec![user(rules.to_vec())]).await;
    blind.put(deployment("web", 1));
    let ran = once(&blind, &["deploy/web"]);
    assert!(
        ran.stderr.contains("(Forbidden)") && !ran.stderr.contains("no pods"),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.status.code(), Some(1));
    // An object that may not be read may have Pods.
    assert_snapshot!(once(&cluster, &["deploy/web"]).transcript(), @r#"
    ! Error from server (Forbidden): deployments.apps "web" is forbidden: User "viewer" cannot list resource "deployments" in API group "apps" in the namespace "shop"
    ! hint: try `kubectl auth can-i list deployments.apps/web -n shop`
    "#);
    let with_logs = [reads, vec![rule("get", "pods/log")]].concat();
    cluster.sandbox.set_users(vec![user(with_logs)]);
    assert_eq!(once(&cluster, &["web"]).transcript(), "L0");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_right_that_is_lost_while_following_is_one_line_and_comes_back() {
    let rule = |verb: &str, resource: &str| Rule {
        permission: Permission::Allow,
        verbs: vec![verb.to_owned()],
        group: String::new(),
        resource: resource.to_owned(),
        namespace: None,
        names: Vec::new(),
    };
    let reads = vec![rule("list", "pods"), rule("watch", "pods")];
    let with_logs = [reads.clone(), vec![rule("get", "pods/log")]].concat();
    let user = |rules: &Vec<Rule>| User {
        name: "viewer".to_owned(),
        token: String::new(),
        rules: rules.clone(),
    };
    let cluster = Cluster::start_with(|options| options.users = vec![user(&with_logs)]).await;
    cluster.put(running("web", &["app"]));
    print(&cluster, "web/app#0", 0, &["L0"]);
    let mut run = cluster.spy().start(&["logs", "pods", "-f", "-o", "raw"]);
    run.until("L0");
    cluster.sandbox.set_users(vec![user(&reads)]);
    cluster.sandbox.cut_logs();
    print(&cluster, "web/app#0", 100, &["L1"]);
    run.until("(Forbidden)");
    // A Pod that is new meanwhile waits, too.
    cluster.put(running("other", &["app"]));
    print(&cluster, "other/app#0", 150, &["M0"]);
    let is_asked = |request: &Request| request.path.contains("/pods/other/log?");
    let asks = |requests: &[Request]| requests.iter().any(is_asked);
    cluster.sandbox.requests_until(asks).await;
    cluster.sandbox.set_users(vec![user(&with_logs)]);
    run.until_each(&["L1", "M0"]);
    print(&cluster, "web/app#0", 200, &["L2"]);
    run.until("L2");
    let ran = run.interrupt();
    assert_eq!(ran.stdout.matches('L').count(), 3, "{}", ran.stdout);
    assert_eq!(
        ran.stderr.matches("(Forbidden)").count(),
        1,
        "{}",
        ran.stderr
    );
    assert_eq!(
        ran.stderr.matches("+ pod/web app").count(),
        2,
        "{}",
        ran.stderr
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn more_logs_than_are_followed_are_read_in_turn() {
    let cluster = Cluster::start().await;
    let names: Vec<String> = (0..8).map(|number| format!("web-{number}x")).collect();
    for name in &names {
        cluster.put(running(name, &["app"]));
        print(
            &cluster,
            &format!("{name}/app#0"),
            0,
            &[&format!("{name} first")],
        );
    }
    let most = ["--max-log-requests", "3", "-l", "app=web"];
    let mut run = cluster
        .spy()
        .start(&[&["logs", "-f", "-o", "raw", "-q"], &most[..]].concat());
    let first: Vec<String> = names.iter().map(|name| format!("{name} first")).collect();
    run.until_each(&first.iter().map(String::as_str).collect::<Vec<_>>());
    for name in &names {
        print(
            &cluster,
            &format!("{name}/app#0"),
            2000,
            &[&format!("{name} second")],
        );
    }
    let second: Vec<String> = names.iter().map(|name| format!("{name} second")).collect();
    run.until_each(&second.iter().map(String::as_str).collect::<Vec<_>>());
    run.until("3 of 8 logs followed, 5 read in turn");
    let mut lines: Vec<String> = run.interrupt().stdout.lines().map(str::to_owned).collect();
    lines.sort();
    let mut expect = [first, second].concat();
    expect.sort();
    assert_eq!(lines, expect);
}

#[tokio::test(flavor = "multi_thread")]
async fn more_logs_than_requests_are_in_one_order() {
    let cluster = Cluster::start().await;
    for number in 0..8 {
        let name = format!("web-{number}x");
        cluster.put(running(&name, &["app"]));
        for (place, time) in [(0, number), (1, 20 - number)] {
            let text = format!("L{place}{number}");
            print(&cluster, &format!("{name}/app#0"), time * 100, &[&text]);
        }
    }
    let most = ["--max-log-requests", "3", "-l", "app=web", "-o", "raw"];
    let ran = once(&cluster, &most);
    let first = (0..8).map(|number| format!("L0{number}\n"));
    let second = (0..8).rev().map(|number| format!("L1{number}\n"));
    assert_eq!(ran.stdout, first.chain(second).collect::<String>());
    assert_eq!(ran.stderr, "");
    // As they arrive, a few at a time.
    let ran = once(&cluster, &[&["--order", "0"], &most[..]].concat());
    assert_eq!(ran.stdout.lines().count(), 16, "{}", ran.stdout);
    assert_eq!(ran.stderr, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_previous_instance_is_shown_once() {
    let cluster = Cluster::start().await;
    let mut pod = running("web", &["app"]);
    pod["status"] = status("web", &["app"], 1);
    cluster.put(pod);
    print(&cluster, "web/app#0", 0, &["panic: no"]);
    print(&cluster, "web/app#1", 100, &["again"]);
    assert_eq!(once(&cluster, &["web", "-p"]).transcript(), "panic: no");
    assert_eq!(once(&cluster, &["web"]).transcript(), "again");
}

#[tokio::test(flavor = "multi_thread")]
async fn containers_without_a_previous_instance_are_counted() {
    let cluster = Cluster::start().await;
    for (name, restarts) in [("web-a", 0), ("web-b", 1), ("web-c", 0)] {
        let mut pod = running(name, &["app"]);
        pod["status"] = status(name, &["app"], restarts);
        cluster.put(pod);
    }
    print(&cluster, "web-b/app#0", 0, &["panic: no"]);
    let ran = once(&cluster, &["pods", "-p"]);
    assert_eq!(
        ran.transcript(),
        "b panic: no\n! 2 of 3 containers have no previous instance"
    );
    assert_eq!(ran.status.code(), Some(0));
    cluster.delete("pods", "web-b");
    let ran = once(&cluster, &["pods", "-p"]);
    let words = "previous terminated container \"app\" in pod \"web-a\" not found";
    assert_eq!(
        ran.stderr,
        format!(
            "Error from server (BadRequest): {words}\nhint: none of the 2 containers has a previous instance\n"
        )
    );
    assert_eq!(ran.status.code(), Some(1));
    let ran = once(&cluster, &["pods", "-p", "--ignore-errors"]);
    assert_eq!((&*ran.stderr, ran.status.code()), ("", Some(0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_refusal_of_many_logs_is_shown_once() {
    let cluster = Cluster::start().await;
    for name in ["web-a", "web-b", "web-c"] {
        let mut pod = running(name, &["app"]);
        let waiting = json!({"waiting": {"reason": "ContainerCreating"}});
        pod["status"] = json!({"containerStatuses": [
            {"name": "app", "state": waiting, "lastState": {}, "restartCount": 0},
        ]});
        cluster.put(pod);
    }
    let ran = once(&cluster, &["pods"]);
    assert_eq!(
        ran.stderr.matches("is waiting to start").count(),
        1,
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr
            .ends_with("error: 3 of 3 logs could not be read\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.status.code(), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn several_containers_are_named_and_chosen() {
    let cluster = Cluster::start().await;
    cluster.put(running("web", &["app", "proxy"]));
    print(&cluster, "web/app#0", 0, &["one"]);
    print(&cluster, "web/proxy#0", 5, &["two"]);
    for (args, expect) in [
        (&["web"][..], "app one\nproxy two"),
        (&["web", "-c", "proxy"], "two"),
        (&["web", "-c", "!proxy"], "one"),
        (&["pod/web", "app"], "one"),
    ] {
        assert_eq!(once(&cluster, args).transcript(), expect, "{args:?}");
    }
    for (args, expect) in [
        (
            &["web", "-c", "nope*"][..],
            "no container is chosen by -c\n",
        ),
        (
            &["web", "--state", "failing"],
            "no container is chosen by -c and --state\n",
        ),
    ] {
        let ran = once(&cluster, args);
        assert_eq!((&*ran.stdout, &*ran.stderr), ("", expect), "{args:?}");
        assert_eq!(ran.status.code(), Some(0), "{args:?}");
    }
    let default =
        json!({"metadata": {"annotations": {"kubectl.kubernetes.io/default-container": "app"}}});
    cluster.edit("pods", "web", &default);
    assert_eq!(once(&cluster, &["web"]).transcript(), "one");
    assert_eq!(
        once(&cluster, &["web", "--all-containers"]).transcript(),
        "app one\nproxy two"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn records_keep_to_their_schema() {
    let cluster = Cluster::start().await;
    cluster.put(running("web", &["app"]));
    print(
        &cluster,
        "web/app#0",
        0,
        &["one\u{1b}[0m", r#"{"level":"warn","n":1.50}"#],
    );
    let mut run = cluster.spy().start(&["logs", "web", "-f", "-o", "json"]);
    run.until("1.50");
    cluster.report("pods", "web", &ended("web", 1));
    let ran = run.finish();
    let schema = Schema::of("logs");
    ran.stdout.lines().for_each(|line| drop(schema.check(line)));
    assert_snapshot!(ran.transcript(), @r#"
    {"v":1,"type":"source","cluster":"demo","namespace":"shop","pod":"web","container":"app","instance":"web/app#0","event":"opened","message":"+ pod/web app"}
    {"v":1,"type":"log","time":"2026-03-02T12:00:00.000000000Z","cluster":"demo","namespace":"shop","pod":"web","container":"app","instance":"web/app#0","line":"one\u001b[0m"}
    {"v":1,"type":"log","time":"2026-03-02T12:00:00.010000000Z","cluster":"demo","namespace":"shop","pod":"web","container":"app","instance":"web/app#0","fields":{"level":"warn","n":1.50}}
    {"v":1,"type":"source","cluster":"demo","namespace":"shop","pod":"web","container":"app","instance":"web/app#0","event":"ended","message":"- pod/web app: exit 1"}
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_gets_no_command_of_a_program() {
    let cluster = Cluster::start().await;
    cluster.put(running("web", &["app"]));
    print(
        &cluster,
        "web/app#0",
        0,
        &[
            "\u{1b}]0;owned\u{7}x",
            "\u{1b}[2J",
            "\u{1b}[35mown colour",
            "done",
        ],
    );
    for format in ["short", "raw"] {
        let mut terminal = cluster
            .spy()
            .on_terminal((80, 24), &["logs", "web", "-o", format]);
        tokio::task::block_in_place(|| terminal.finish());
        let bytes = String::from_utf8_lossy(terminal.bytes()).into_owned();
        assert!(bytes.contains("^[]0;owned^Gx"), "{bytes:?}");
        assert!(bytes.contains("\u{1b}[35mown colour\u{1b}[0m"), "{bytes:?}");
        assert!(
            !bytes.contains("\u{1b}]") && !bytes.contains("\u{1b}[2J"),
            "{bytes:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_request_is_a_get_with_times_and_without_a_limit() {
    let cluster = web().await;
    once(
        &cluster,
        &["deploy/web", "--limit-bytes", "100", "--tail", "3"],
    );
    let requests = cluster.sandbox.requests();
    let is_log = |request: &&Request| request.path.contains("/log?");
    let logs = requests.iter().filter(is_log);
    let mut logs: Vec<_> = logs.map(|request| request.path.as_str()).collect();
    // Each log is requested by its own task.
    logs.sort_unstable();
    assert_eq!(
        logs,
        [
            "/api/v1/namespaces/shop/pods/web-7d9-aaaa/log?container=app&timestamps=true&tailLines=1",
            "/api/v1/namespaces/shop/pods/web-7d9-aaaa/log?container=app&timestamps=true&tailLines=7",
            "/api/v1/namespaces/shop/pods/web-7d9-bbbb/log?container=app&timestamps=true&tailLines=1",
            "/api/v1/namespaces/shop/pods/web-7d9-bbbb/log?container=app&timestamps=true&tailLines=7",
        ]
    );
    assert!(requests.iter().all(|request| request.method == "GET"));
    let of = |request: &Request| request.connection;
    let log_connections: Vec<usize> = requests.iter().filter(is_log).map(of).collect();
    let others = requests.iter().filter(|request| !is_log(request)).map(of);
    assert!(
        others
            .into_iter()
            .all(|other| !log_connections.contains(&other))
    );
}
