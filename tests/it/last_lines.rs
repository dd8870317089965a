//! Tests of the log lines of failed containers against the sandbox: below causes in `status`, and before the error of a wait.

use std::time::Duration;

use insta::{allow_duplicates, assert_snapshot};
use jiff::{SignedDuration, Timestamp};
use kubectl_spy::sandbox::{Effect, Fault, Permission, Rule, User, Verb};
use serde_json::{Value, json};

use super::schema::Schema;
use super::support::cluster::{Cluster, deployment, owned_by, pod};

/// The time of the server's clock after its start.
fn after(seconds: i64) -> Timestamp {
    let noon: Timestamp = "2026-03-02T12:00:00Z".parse().unwrap();
    noon + SignedDuration::from_secs(seconds)
}

/// The number of the instance `NAME#3`.
fn number(id: &str) -> i64 {
    id.split_once('#').unwrap().1.parse().unwrap()
}

/// An instance that has ended. Number 0 starts at noon, and each has twenty seconds: it runs for ten of them.
fn dead(id: &str, code: i64) -> Value {
    let start = 20 * number(id);
    let reason = if code == 137 { "OOMKilled" } else { "Error" };
    json!({"terminated": {
        "exitCode": code, "reason": reason, "containerID": id,
        "startedAt": after(start).to_string(), "finishedAt": after(start + 10).to_string(),
    }})
}

/// The status of a Pod whose only container is in this state.
fn status(state: &Value, last: &Value, restarts: u32, id: &str) -> Value {
    json!({
        "phase": "Running",
        "containerStatuses": [{
            "name": "app", "ready": false, "restartCount": restarts, "containerID": id,
            "state": state, "lastState": last,
        }],
    })
}

/// A container that waits for its restart after so many deaths. The IDs are `NAME#0`, `NAME#1`, ….
fn crash_loop(name: &str, restarts: u32) -> Value {
    let id = format!("{name}#{restarts}");
    let waiting = json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 20s"}});
    status(&waiting, &dead(&id, 1), restarts, &id)
}

fn crashed(name: &str, restarts: u32) -> Value {
    let mut pod = pod(name, &json!({"app": "web"}));
    pod["spec"]["nodeName"] = "worker-1".into();
    pod["status"] = crash_loop(name, restarts);
    pod
}

/// An instance prints these lines within a second of its start.
fn print(cluster: &Cluster, id: &str, lines: &[&str]) {
    let start = after(20 * number(id));
    for line in lines {
        cluster.sandbox.print(id, start, line.as_bytes());
    }
}

/// The requests for logs so far, without their paths.
fn log_requests(cluster: &Cluster) -> Vec<String> {
    let requests = cluster.sandbox.requests();
    let paths = requests.iter().map(|request| &request.path);
    let logs = paths.filter_map(|path| {
        let (pod, query) = path.split_once("/log?")?;
        let (_, pod) = pod.rsplit_once('/')?;
        Some(format!("{pod} {query}"))
    });
    logs.collect()
}

const PANIC: [&str; 4] = [
    "starting",
    "\x1b[31mpanic: dial tcp db:5432:\x1b[0m connection \x1b]0;x\x07refused",
    "goroutine 1 [running]:",
    "exit status 2",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_crashed_container_has_the_line_that_says_why() {
    let cluster = Cluster::start().await;
    cluster.put(crashed("web", 3));
    print(&cluster, "web#3", &PANIC);
    let ran = cluster.spy().run(&["status", "pod/web", "--once"]);
    assert_snapshot!(ran.transcript(), @"
    NAME        READY   STATUS             RESTARTS        AGE     NODE       IP
    ✗ pod/web   0/1     CrashLoopBackOff   3 (3m50s ago)   4m59s   worker-1   -
      └ app: CrashLoopBackOff, exit 1, 3 restarts
      └ app log: panic: dial tcp db:5432: connection ^[]0;x^Grefused
    ");
    assert_eq!(
        log_requests(&cluster),
        ["web container=app&timestamps=true&tailLines=41"]
    );
    let ran = cluster
        .spy()
        .run(&["status", "pod/web", "--once", "--log-lines", "2"]);
    assert!(
        ran.stdout
            .ends_with("  └ app log: goroutine 1 [running]:\n  └ app log: exit status 2\n"),
        "{}",
        ran.stdout
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn records_have_the_lines() {
    let cluster = Cluster::start().await;
    cluster.put(crashed("web", 3));
    print(&cluster, "web#3", &[r#"{"level":"fatal","msg":"no db"}"#]);
    let ran = cluster
        .spy()
        .run(&["status", "pod/web", "--once", "-o", "json"]);
    let record = Schema::of("status").check(ran.stdout.trim_end());
    assert_eq!(
        record["lastLines"],
        json!([{"container": "app", "instance": "web#3", "exitCode": 1, "lines": ["fatal: no db"]}])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_instance_before_the_present_one_is_read() {
    let cluster = Cluster::start().await;
    let mut pod = crashed("web", 0);
    let last = dead("web#0", 137);
    pod["status"] = status(&json!({"running": {}}), &last, 1, "web#1");
    cluster.put(pod);
    print(&cluster, "web#0", &["error: out of memory"]);
    print(&cluster, "web#1", &["error: of another instance"]);
    let ran = cluster.spy().run(&["status", "pod/web", "--once"]);
    let line = "  └ app log: error: out of memory\n";
    assert!(ran.stdout.ends_with(line), "{}", ran.stdout);
    assert_eq!(
        log_requests(&cluster),
        ["web container=app&timestamps=true&previous=true&tailLines=41"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_is_read_only_if_it_is_wanted_and_needed() {
    let cluster = Cluster::start().await;
    cluster.put(crashed("web", 1));
    let mut told = crashed("told", 1);
    let end = &mut told["status"]["containerStatuses"][0]["lastState"]["terminated"];
    end["message"] = "panic: no db".into();
    cluster.put(told);
    print(&cluster, "web#1", &["error: no db"]);
    // Its cause has the termination message.
    let ran = cluster.spy().run(&["status", "pod/told", "--once"]);
    let cause = "  └ app: CrashLoopBackOff, exit 1, 1 restart: panic: no db\n";
    assert!(ran.stdout.ends_with(cause), "{}", ran.stdout);
    for args in [&["--logs", "none"][..], &["-o", "yaml"], &["-o", "name"]] {
        let args = [&["status", "pod/web", "--once"], args].concat();
        let ran = cluster.spy().run(&args);
        assert!(!ran.stdout.contains("error: no db"), "{}", ran.stdout);
        assert_eq!(ran.status.code(), Some(0));
    }
    assert_eq!(log_requests(&cluster), [""; 0]);
    for (args, expect) in [
        (
            &["changes", "pod/web", "--once", "--logs", "none"][..],
            "error: --logs and --log-lines need --for",
        ),
        (
            &["trace", "pod/web", "--once", "--log-lines", "3"],
            "error: --logs and --log-lines need --for",
        ),
        (
            &["status", "pod/web", "--log-lines", "0"],
            "error: invalid argument \"0\" for \"--log-lines\" flag: must be greater than 0",
        ),
    ] {
        let ran = cluster.spy().run(args);
        assert!(ran.stderr.starts_with(expect), "{}", ran.stderr);
        assert_eq!(ran.status.code(), Some(1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_instance_is_read_once() {
    let cluster = Cluster::start().await;
    cluster.put(crashed("web", 0));
    print(&cluster, "web#0", &["error: no db"]);
    let mut run = cluster.spy().start(&["status", "pod/web"]);
    run.until("pod/web app log: error: no db");
    // The same instance.
    cluster.edit("pods", "web", &json!({"metadata": {"labels": {"a": "b"}}}));
    print(&cluster, "web#1", &["error: no db"]);
    cluster.report("pods", "web", &crash_loop("web", 1));
    run.until("restarts 1");
    cluster
        .sandbox
        .requests_until(|requests| {
            let logs = requests.iter().filter(|it| it.path.contains("/log?"));
            logs.count() == 2
        })
        .await;
    print(&cluster, "web#2", &["error: no route"]);
    cluster.report("pods", "web", &crash_loop("web", 2));
    run.until("pod/web app log: error: no route");
    let ran = run.interrupt();
    // A line is printed again only if it is another one.
    let lines = ran
        .stdout
        .lines()
        .map(|line| line.split_once(' ').unwrap().1);
    assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @"
    pod/web CrashLoopBackOff 0/1: app: CrashLoopBackOff, exit 1
    pod/web app log: error: no db
    pod/web CrashLoopBackOff 0/1 restarts 1 (was CrashLoopBackOff 0/1): app: CrashLoopBackOff, exit 1, 1 restart
    pod/web CrashLoopBackOff 0/1 restarts 2 (was CrashLoopBackOff 0/1 restarts 1): app: CrashLoopBackOff, exit 1, 2 restarts
    pod/web app log: error: no route
    ");
    assert_eq!(log_requests(&cluster).len(), 3);
}

/// A Deployment with its `ReplicaSet`, and Pods that have crashed.
fn crash_all(cluster: &Cluster, pods: u32) {
    crash_deployment(cluster, "web", pods);
}

/// All Pods of a Deployment crash in the same way.
fn crash_deployment(cluster: &Cluster, name: &str, pods: u32) {
    let mut web = deployment(name, pods);
    web["status"] = json!({
        "observedGeneration": 1, "replicas": pods, "updatedReplicas": pods,
        "unavailableReplicas": pods,
        "conditions": [
            {"type": "Available", "status": "False"},
            {"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated"},
        ],
    });
    let web = cluster.put(web);
    let mut set = web.clone();
    set["kind"] = json!("ReplicaSet");
    set["metadata"] =
        json!({"name": format!("{name}-1"), "namespace": "shop", "labels": {"app": name}});
    set["status"] = json!({"observedGeneration": 1, "replicas": pods});
    let set = cluster.put(owned_by(set, &web));
    for number in 0..pods {
        let pod_name = format!("{name}-1-{number:03}");
        let mut pod = crashed(&pod_name, 2);
        pod["metadata"]["labels"]["app"] = name.into();
        cluster.put(owned_by(pod, &set));
        let line = format!("panic: no db for {pod_name}");
        print(cluster, &format!("{pod_name}#2"), &[&line, "bye"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_alike_is_read() {
    let cluster = Cluster::start().await;
    crash_all(&cluster, 40);
    let args = ["status", "deploy/web", "--once"];
    let ran = cluster.spy().run(&args);
    let lines: Vec<&str> = ran.stdout.lines().filter(|it| it.contains("app")).collect();
    assert_snapshot!(lines.join("\n"), @"
    │   └ 40 × app: CrashLoopBackOff, exit 1, 2 restarts
    │   └ app log: panic: no db for web-1-000
    ");
    assert_eq!(log_requests(&cluster).len(), 1);
    let ran = cluster.spy().run(&[&args[..], &["--unhealthy"]].concat());
    assert!(
        ran.stdout
            .contains("└ app log: panic: no db for web-1-000\n"),
        "{}",
        ran.stdout
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn three_of_many_are_read() {
    let cluster = Cluster::start().await;
    for number in 0..30 {
        let name = format!("web-{number}");
        cluster.put(crashed(&name, 1));
        print(&cluster, &format!("{name}#1"), &["error: no db"]);
    }
    let ran = cluster.spy().run(&["status", "pods", "--once"]);
    assert_eq!(ran.stdout.matches("app log: error: no db").count(), 3);
    assert_eq!(log_requests(&cluster).len(), 3);
}

pub(super) fn viewer(permissions: &[(&str, &str)]) -> Vec<User> {
    let rule = |(verb, resource): &(&str, &str)| Rule {
        permission: Permission::Allow,
        verbs: vec![(*verb).to_owned()],
        group: "*".to_owned(),
        resource: (*resource).to_owned(),
        namespace: None,
        names: Vec::new(),
    };
    vec![User {
        name: "viewer".to_owned(),
        token: String::new(),
        rules: permissions.iter().map(rule).collect(),
    }]
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_right_all_else_works() {
    let all = [("list", "*"), ("watch", "*")];
    let cluster = Cluster::start_with(|options| options.users = viewer(&all)).await;
    for name in ["a", "b"] {
        cluster.put(crashed(name, 1));
    }
    let ran = cluster.spy().run(&["status", "pod/a", "pod/b", "--once"]);
    assert_snapshot!(ran.transcript(), @r#"
    2 Failed
    NAME      READY   STATUS             RESTARTS        AGE     NODE       IP
    ✗ pod/a   0/1     CrashLoopBackOff   1 (4m30s ago)   4m59s   worker-1   -
      └ app: CrashLoopBackOff, exit 1, 1 restart
    ✗ pod/b   0/1     CrashLoopBackOff   1 (4m30s ago)   4m58s   worker-1   -
      └ app: CrashLoopBackOff, exit 1, 1 restart
    logs of failed containers are not shown: Error from server (Forbidden): pods "a" is forbidden: User "viewer" cannot get resource "pods/log" in API group "" in the namespace "shop"
    "#);
    assert_eq!(ran.status.code(), Some(0));
    let ran = cluster.spy().run(&[
        "status",
        "pod/a",
        "pod/b",
        "--for=current",
        "--timeout=3s",
        "-o",
        "json",
    ]);
    assert_snapshot!(ran.stderr, @r#"
    no last lines of pod/a app: Error from server (Forbidden): pods "a" is forbidden: User "viewer" cannot get resource "pods/log" in API group "" in the namespace "shop"
    error: timed out waiting for the condition on pods/a: app: CrashLoopBackOff, exit 1, 1 restart
    error: timed out waiting for the condition on pods/b: app: CrashLoopBackOff, exit 1, 1 restart
    "#);
    assert_eq!(ran.status.code(), Some(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_without_the_right_does_not_hide_the_lines_of_another() {
    let mut users = viewer(&[("list", "*"), ("watch", "*"), ("get", "pods/log")]);
    users[0].rules[2].namespace = Some("shop".to_owned());
    users[0].rules[2].group = String::new();
    let cluster = Cluster::start_with(|options| options.users = users).await;
    for number in 0..4 {
        let mut other = crashed(&format!("a-{number}"), 1);
        other["metadata"]["namespace"] = "other".into();
        cluster.put(other);
    }
    cluster.put(crashed("web", 1));
    print(&cluster, "web#1", &["error: no db"]);
    let mut run = cluster.spy().start(&["status", "pods", "-A"]);
    run.until("pod/web -n shop app log: error: no db");
    let _ran = run.interrupt();
    let requests = log_requests(&cluster);
    assert!(requests.len() <= 4, "{requests:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_that_its_message_explains_takes_no_place() {
    let cluster = Cluster::start().await;
    for number in 0..4 {
        let mut told = crashed(&format!("a-{number}"), 1);
        let end = &mut told["status"]["containerStatuses"][0]["lastState"]["terminated"];
        end["message"] = "panic: no db".into();
        cluster.put(told);
    }
    cluster.put(crashed("web", 1));
    print(&cluster, "web#1", &["error: no db"]);
    let ran = cluster.spy().run(&["status", "pods", "--once"]);
    let line = "└ app log: error: no db\n";
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
    // Nor does an object that is well take the place of one that is not.
    for number in 0..30 {
        cluster.put(pod(&format!("b-{number}"), &json!({})));
    }
    let names: Vec<String> = (0..30).map(|number| format!("pod/b-{number}")).collect();
    let names = names
        .iter()
        .map(String::as_str)
        .chain(["pod/web", "--once"]);
    let args: Vec<&str> = ["status"].into_iter().chain(names).collect();
    let ran = cluster.spy().run(&args);
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_does_not_come_delays_nothing() {
    let cluster = Cluster::start().await;
    cluster.put(crashed("web", 1));
    print(&cluster, "web#1", &["error: no db"]);
    let late = Effect::Latency(Duration::from_secs(60));
    cluster
        .sandbox
        .inject(Fault::on(Verb::Get, "pods/log", late).always());
    let ran = cluster.spy().run(&["status", "pod/web", "--once"]);
    let end = "  └ app: CrashLoopBackOff, exit 1, 1 restart\n";
    assert!(ran.stdout.ends_with(end), "{}", ran.stdout);
    let mut run = cluster.spy().start(&["status", "pod/web"]);
    run.until("pod/web CrashLoopBackOff");
    let ran = run.interrupt();
    assert!(!ran.stdout.contains(" log: "), "{}", ran.stdout);
    let ran = cluster
        .spy()
        .run(&["status", "pod/web", "--for=current", "--once"]);
    assert_snapshot!(ran.stderr, @"
    no last lines of pod/web app: no answer in time
    error: condition not met for pods/web: app: CrashLoopBackOff, exit 1, 1 restart
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_lines_come_before_the_error_of_a_wait() {
    let cluster = Cluster::start().await;
    crash_all(&cluster, 3);
    let lines: Vec<String> = (0..12).map(|number| format!("L{number}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    for name in ["web-1-000", "web-1-001", "web-1-002"] {
        print(&cluster, &format!("{name}#2"), &lines);
    }
    let verbs = ["status", "trace", "changes"];
    let of_verb = |verb| {
        let wait = vec![verb, "deploy/web", "--for=current", "--timeout=3s"];
        let few = [&wait[..], &["--log-lines=1", "--logs=failed"]].concat();
        let none = [&wait[..], &["--logs=none"]].concat();
        [wait, few, none]
    };
    let runs: Vec<Vec<&str>> = verbs.into_iter().flat_map(of_verb).collect();
    for of_verb in cluster.spy().run_together(&runs).chunks(3) {
        let ran = &of_verb[0];
        // The lines are of the Pod that the error names.
        let named = ran.stderr.rsplit("pod/").next().unwrap();
        let named = named.split(':').next().unwrap();
        allow_duplicates!(assert_snapshot!(ran.stderr.replace(named, "NAMED"), @"
        last lines of pod/NAMED app (instance 3, exit 1):
          L2
          L3
          L4
          L5
          L6
          L7
          L8
          L9
          L10
          L11
        error: timed out waiting for the condition on deployments/web: 0 of 3 pods ready: 3 CrashLoopBackOff: pod/NAMED: app: CrashLoopBackOff, exit 1, 2 restarts
        "));
        assert_eq!(ran.status.code(), Some(3), "{}", ran.transcript());
        let [few, none] = [&of_verb[1].stderr, &of_verb[2].stderr];
        assert_eq!(few.lines().nth(1), Some("  L11"), "{few}");
        assert_eq!(none.lines().count(), 1, "{none}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_of_several_objects_has_its_last_lines_before_the_error() {
    let cluster = Cluster::start().await;
    crash_deployment(&cluster, "api", 2);
    crash_deployment(&cluster, "web", 2);
    let wait = ["deploy/web", "deploy/api", "--for=current", "--timeout=3s"];
    let of_verb = |verb| {
        let wait = [&[verb], &wait[..]].concat();
        let none = [&wait[..], &["--logs=none"]].concat();
        [wait, none]
    };
    let verbs = ["status", "trace", "changes"];
    let runs: Vec<Vec<&str>> = verbs.into_iter().flat_map(of_verb).collect();
    for of_verb in cluster.spy().run_together(&runs).chunks(2) {
        let [ran, none] = [&of_verb[0], &of_verb[1]];
        for name in ["api", "web"] {
            let heading = format!("last lines of pod/{name}-1-00");
            assert_eq!(ran.stderr.matches(&heading).count(), 1, "{}", ran.stderr);
            let line = format!("  panic: no db for {name}-1-00");
            assert!(ran.stderr.contains(&line), "{}", ran.stderr);
            let error = format!("condition on deployments/{name}: 0 of 2 pods ready");
            assert!(ran.stderr.contains(&error), "{}", ran.stderr);
        }
        assert_eq!(ran.status.code(), Some(3), "{}", ran.transcript());
        assert_eq!(none.stderr.lines().count(), 2, "{}", none.stderr);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_waits_for_several_objects() {
    let cluster = Cluster::start().await;
    crash_deployment(&cluster, "api", 1);
    let mut ready = pod("db", &json!({}));
    ready["spec"]["nodeName"] = "worker-1".into();
    cluster.put(ready);
    let goal = ["--for=jsonpath={.spec.nodeName}=worker-1", "--timeout=10s"];
    let ran = cluster
        .spy()
        .run(&[&["trace", "pod/db", "pod/api-1-000"], &goal[..]].concat());
    assert_eq!(ran.status.code(), Some(0), "{}", ran.stderr);
    // One of them fails: the wait ends, with the lines of that one.
    let wait = [
        "trace",
        "pod/api-1-000",
        "deploy/api",
        "--for=current",
        "--timeout=10m",
    ];
    let restarts = ["--allow-restarts=0"];
    let ran = cluster.spy().run(&[&wait[..], &restarts].concat());
    assert_eq!(ran.status.code(), Some(2), "{}", ran.stderr);
    assert_eq!(
        ran.stderr
            .matches("last lines of pod/api-1-000 app")
            .count(),
        1,
        "{}",
        ran.stderr
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_container_that_is_late_has_last_lines() {
    let cluster = Cluster::start().await;
    let mut pod = crashed("web", 0);
    pod["status"] = status(&json!({"running": {}}), &json!({}), 0, "web#0");
    cluster.put(pod);
    print(&cluster, "web#0", &["waiting for db"]);
    let args = ["status", "pod/web", "--for=current", "--timeout=3s"];
    let ran = cluster.spy().run(&args);
    assert_snapshot!(ran.stderr, @"
    last lines of pod/web app (running, not ready):
      waiting for db
    error: timed out waiting for the condition on pods/web: node/worker-1 does not exist
    ");
}
