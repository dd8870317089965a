//! Tests of `changes -o json`: each record follows its schema, and the output ends after a whole record.

use std::io::{BufRead, BufReader, Read};
use std::process::Child;
use std::sync::LazyLock;

use insta::assert_snapshot;
use kubectl_spy::sandbox::{BadLine, Effect, Expiry, Fault, Place, Rule, User, Verb, Writer};
use serde_json::{Value, json};

use super::super::schema::Schema;
use super::super::support::Ran;
use super::super::support::cluster::{Cluster, config_map, pod};
use super::{interrupted, signal};

/// Asserts that a line is a record of the schema, and returns it.
pub(super) fn record(line: &str) -> Value {
    static SCHEMA: LazyLock<Schema> = LazyLock::new(|| Schema::of("changes"));
    let record = SCHEMA.check(line);
    if let Some(object) = record.get("ref") {
        // Objects from a server have a uid and a resourceVersion.
        assert!(
            object["uid"].is_string() && record["to"].is_string(),
            "{line}"
        );
    }
    record
}

/// The printed records, each checked against the schema.
pub(super) fn records(ran: &Ran) -> Vec<Value> {
    ran.stdout.lines().map(record).collect()
}

/// A short form of the records: type, object, and resourceVersions.
fn in_short(records: &[Value]) -> String {
    let short = |record: &Value| {
        let part = |name: &str| record[name].as_str().unwrap_or("-").to_owned();
        let about = match (&record["ref"]["name"], &record["count"]) {
            (Value::String(name), _) => format!("{name} {}→{}", part("from"), part("to")),
            (_, Value::Number(count)) => format!("{} {count}", part("source")),
            _ => part("source"),
        };
        format!("{} {about}\n", part("type"))
    };
    records.iter().map(short).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_life_of_an_object() {
    let cluster = Cluster::start().await;
    cluster.put(config_map(
        "flags",
        &json!({"dark-mode": "off", "legacy": "on"}),
    ));
    let mut run = cluster
        .spy()
        .start(&["changes", "--since=0", "cm/flags", "-o", "json"]);
    run.until("baseline");
    let patch = json!({"data": {"dark-mode": "on", "legacy": null, "new": "1"}});
    cluster.edit("configmaps", "flags", &patch);
    let same = config_map("flags", &json!({"new": "1"}));
    cluster.sandbox.apply(same, &Writer::new("argocd")).unwrap();
    cluster.delete("configmaps", "flags");
    cluster.put(config_map("flags", &json!({})));
    run.until("recreated");
    let ran = interrupted(run);
    assert_eq!(ran.stderr, "");
    let records = records(&ran);
    let changes = records[1]["changes"].as_array().unwrap().iter();
    let paths: Vec<&str> = changes
        .map(|change| change["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, [".data.dark-mode", ".data.legacy", ".data.new"]);
    assert_eq!(
        (&records[2]["changes"], &records[2]["hidden"]),
        (&json!([]), &json!({"managedFields": 1, "version": 1}))
    );
    assert_snapshot!(ran.stdout, @r#"
    {"v":1,"type":"baseline","past":false,"seen":"2026-03-02T12:05:00.000Z","ref":{"cluster":"demo","apiVersion":"v1","kind":"ConfigMap","namespace":"shop","name":"flags","uid":"a833bdcd-b6d1-4eb1-88dc-97e5aab5fe3d"},"from":null,"to":"2","actors":[],"changes":[],"hidden":{}}
    {"v":1,"type":"modified","past":false,"time":"2026-03-02T12:00:02.000Z","seen":"2026-03-02T12:05:00.000Z","ref":{"cluster":"demo","apiVersion":"v1","kind":"ConfigMap","namespace":"shop","name":"flags","uid":"a833bdcd-b6d1-4eb1-88dc-97e5aab5fe3d"},"from":"2","to":"3","actors":[{"manager":"kubectl-edit","operation":"Update","time":"2026-03-02T12:00:02.000Z"}],"changes":[{"op":"replace","path":".data.dark-mode","pointer":"/data/dark-mode","old":"off","new":"on","by":"kubectl-edit"},{"op":"remove","path":".data.legacy","pointer":"/data/legacy","old":"on","by":"kubectl-edit"},{"op":"add","path":".data.new","pointer":"/data/new","new":"1","by":"kubectl-edit"}],"hidden":{"version":1,"managedFields":1}}
    {"v":1,"type":"modified","past":false,"seen":"2026-03-02T12:05:00.000Z","ref":{"cluster":"demo","apiVersion":"v1","kind":"ConfigMap","namespace":"shop","name":"flags","uid":"a833bdcd-b6d1-4eb1-88dc-97e5aab5fe3d"},"from":"3","to":"4","actors":[],"changes":[],"hidden":{"version":1,"managedFields":1}}
    {"v":1,"type":"deleted","past":false,"seen":"2026-03-02T12:05:00.000Z","ref":{"cluster":"demo","apiVersion":"v1","kind":"ConfigMap","namespace":"shop","name":"flags","uid":"a833bdcd-b6d1-4eb1-88dc-97e5aab5fe3d"},"from":"4","to":"5","actors":[],"changes":[],"hidden":{"version":1},"object":{"kind":"ConfigMap","apiVersion":"v1","data":{"dark-mode":"on","new":"1"},"metadata":{"creationTimestamp":"2026-03-02T12:00:01Z","managedFields":[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:new":{}}},"manager":"argocd","operation":"Apply","time":"2026-03-02T12:00:02Z"},{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{}},"manager":"kubectl-create","operation":"Update","time":"2026-03-02T12:00:01Z"},{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:dark-mode":{},"f:new":{}}},"manager":"kubectl-edit","operation":"Update","time":"2026-03-02T12:00:02Z"}],"name":"flags","namespace":"shop","resourceVersion":"5","uid":"a833bdcd-b6d1-4eb1-88dc-97e5aab5fe3d"}}}
    {"v":1,"type":"recreated","past":false,"time":"2026-03-02T12:00:04.000Z","seen":"2026-03-02T12:05:00.000Z","ref":{"cluster":"demo","apiVersion":"v1","kind":"ConfigMap","namespace":"shop","name":"flags","uid":"3d58bb03-f31a-4686-8763-de764d6fe1b0"},"from":null,"to":"6","actors":[{"manager":"kubectl-create","operation":"Update","time":"2026-03-02T12:00:04.000Z"}],"changes":[],"hidden":{},"former":{"version":"5","changes":[{"op":"remove","path":".data.dark-mode","pointer":"/data/dark-mode","old":"on"},{"op":"remove","path":".data.new","pointer":"/data/new","old":"1"}]},"object":{"kind":"ConfigMap","apiVersion":"v1","data":{},"metadata":{"creationTimestamp":"2026-03-02T12:00:04Z","managedFields":[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{}},"manager":"kubectl-create","operation":"Update","time":"2026-03-02T12:00:04Z"}],"name":"flags","namespace":"shop","resourceVersion":"6","uid":"3d58bb03-f31a-4686-8763-de764d6fe1b0"}}}
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_and_moves_keep_their_form() {
    let cluster = Cluster::start().await;
    let mut object = pod("web", &json!({}));
    object["spec"]["containers"] = json!([{"name": "app", "args": ["-a"]}, {"name": "log"}]);
    object["status"] = json!({"int": 1, "float": 1.0});
    cluster.put(object.clone());
    let mut run = cluster
        .spy()
        .start(&["changes", "--since=0", "pod/web", "-o", "json"]);
    run.until("baseline");
    object["spec"]["containers"] = json!([{"name": "log"}, {"name": "app", "args": ["-a", "-b"]}]);
    object["status"] =
        json!({"int": 18_446_744_073_709_551_615_u64, "float": 1.5, "null": null, "map": {}});
    object["metadata"]["labels"] = json!({"a/b": "~"});
    cluster
        .sandbox
        .update(object, &Writer::new("kubectl-replace"))
        .unwrap();
    let line = run.until("modified");
    drop(run);
    let changes: Vec<String> = record(&line)["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(Value::to_string)
        .collect();
    assert_snapshot!(changes.join("\n"), @r#"
    {"by":"kubectl-replace","new":"~","op":"add","path":".metadata.labels[\"a/b\"]","pointer":"/metadata/labels/a~1b"}
    {"fromPointer":"/spec/containers/1","op":"move","path":".spec.containers[name=log]","pointer":"/spec/containers/0"}
    {"by":"kubectl-replace","new":"-b","op":"add","path":".spec.containers[name=app].args[1]","pointer":"/spec/containers/1/args/1"}
    {"by":"kubectl-replace","new":1.5,"old":1.0,"op":"replace","path":".status.float","pointer":"/status/float"}
    {"by":"kubectl-replace","new":18446744073709551615,"old":1,"op":"replace","path":".status.int","pointer":"/status/int"}
    {"by":"kubectl-replace","new":{},"op":"add","path":".status.map","pointer":"/status/map"}
    {"by":"kubectl-replace","new":null,"op":"add","path":".status.null","pointer":"/status/null"}
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wide_scope_is_a_count_and_then_its_changes() {
    let cluster = Cluster::start().await;
    for name in ["web-1", "web-2"] {
        cluster.put(pod(name, &json!({"app": "web"})));
    }
    let mut run = cluster.spy().start(&[
        "changes",
        "--since=0",
        "pods",
        "-l",
        "app=web",
        "-o",
        "json",
    ]);
    run.until("synced");
    cluster.tick(290);
    cluster.put(pod("web-3", &json!({"app": "web"})));
    cluster.edit(
        "pods",
        "web-2",
        &json!({"metadata": {"labels": {"app": "old"}}}),
    );
    cluster.delete("pods", "web-1");
    run.until("deleted");
    let ran = interrupted(run);
    assert_snapshot!(in_short(&records(&ran)), @r#"
    synced pods in namespace "shop" with labels app=web 2
    created web-3 -→4
    left web-2 -→5
    deleted web-1 2→6
    "#);
    assert_snapshot!(ran.stdout.lines().next().unwrap(), @r#"{"v":1,"type":"synced","seen":"2026-03-02T12:05:00.000Z","cluster":"demo","source":"pods in namespace \"shop\" with labels app=web","count":2}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_and_ignore_hide_changes_but_no_versions() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"a": "1", "b": "1"})));
    let args = [
        "changes",
        "--since=0",
        "cm/flags",
        "-o",
        "json",
        "--only",
        "data",
        "--ignore",
        "data.b",
    ];
    let mut run = cluster.spy().start(&args);
    run.until("baseline");
    cluster.edit("configmaps", "flags", &json!({"data": {"b": "2"}}));
    cluster.edit(
        "configmaps",
        "flags",
        &json!({"data": {"a": "2", "b": "3"}}),
    );
    run.until(".data.a");
    let records = records(&interrupted(run));
    let changes: Vec<&Value> = records.iter().map(|record| &record["changes"]).collect();
    assert_eq!(changes.len(), 3);
    assert_eq!(changes[1], &json!([]));
    assert_eq!(changes[2].as_array().map(Vec::len), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_object_is_a_count_of_zero() {
    let cluster = Cluster::start().await;
    let mut run = cluster
        .spy()
        .start(&["changes", "--since=0", "cm/flags", "-o", "json"]);
    run.until("synced");
    cluster.put(config_map("flags", &json!({})));
    run.until("created");
    let ran = interrupted(run);
    assert_eq!(ran.stderr, "");
    assert_snapshot!(in_short(&records(&ran)), @r#"
    synced configmaps/flags in namespace "shop" 0
    created flags -→2
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn states_and_gaps_are_records_in_order() {
    let mut cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"dark-mode": "off"})));
    let mut run = cluster
        .spy()
        .start(&["changes", "--since=0", "cm/flags", "-o", "json"]);
    run.until("baseline");
    cluster.watched("configmaps").await;
    cluster.sandbox.stop().await;
    run.until("refused");
    cluster.edit("configmaps", "flags", &json!({"data": {"dark-mode": "?"}}));
    cluster.edit("configmaps", "flags", &json!({"data": {"dark-mode": "on"}}));
    cluster.sandbox.compact(cluster.sandbox.revision());
    let expire = Effect::Expire(Expiry::InStream(0));
    cluster
        .sandbox
        .inject(Fault::on(Verb::Watch, "configmaps", expire));
    cluster.sandbox.restart().await.unwrap();
    run.until("modified");
    run.until("live");
    let ran = interrupted(run);
    assert_eq!(ran.stderr, "");
    let records = records(&ran);
    let gap = records
        .iter()
        .position(|record| record["type"] == "gap")
        .unwrap();
    assert_snapshot!(records[gap], @r#"{"after":"2","cause":"expired","cluster":"demo","seen":"2026-03-02T12:05:00.000Z","source":"configmaps/flags in namespace \"shop\"","type":"gap","upto":"4","v":1}"#);
    assert_snapshot!(in_short(&records[gap..]), @r#"
    gap configmaps/flags in namespace "shop"
    modified flags 2→4
    state configmaps/flags in namespace "shop"
    "#);
    let states = records[1..gap].iter().map(|record| &record["state"]);
    let states: Vec<&Value> = states.collect();
    assert_eq!(
        (states[0], states[states.len() - 1]),
        (&json!("retrying"), &json!("retrying"))
    );
}

/// While a server is down, the record about retrying comes before all others.
#[tokio::test(flavor = "multi_thread")]
async fn a_retry_before_the_first_read_is_a_record() {
    let mut cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({})));
    cluster.sandbox.stop().await;
    let args = ["changes", "--since=0", "cm/flags", "-o", "json"];
    let mut run = cluster.spy().start(&args);
    let first = record(&run.until("retrying"));
    assert_eq!(
        (&first["type"], &first["state"]),
        (&json!("state"), &json!("retrying"))
    );
    cluster.sandbox.restart().await.unwrap();
    run.until("baseline");
    run.until("live");
    let ran = interrupted(run);
    assert_eq!(ran.stderr, "");
    assert_snapshot!(in_short(&records(&ran)), @r#"
    state configmaps/flags in namespace "shop"
    baseline flags -→2
    state configmaps/flags in namespace "shop"
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forbidden_kind_is_a_record() {
    let user = User {
        name: "jane".to_owned(),
        token: String::new(),
        rules: vec![Rule::allow("*", "configmaps")],
    };
    let cluster = Cluster::start_with(|options| options.users = vec![user]).await;
    let mut run = cluster
        .spy()
        .start(&["changes", "--since=0", "cm,secrets", "-o", "json"]);
    let line = run.until("forbidden");
    assert_snapshot!(record(&line), @r#"{"cause":"Error from server (Forbidden): secrets is forbidden: User \"jane\" cannot list resource \"secrets\" in API group \"\" in the namespace \"shop\"","cluster":"demo","seen":"2026-03-02T12:05:00.000Z","source":"secrets in namespace \"shop\"","state":"forbidden","type":"state","v":1}"#);
    assert_eq!(interrupted(run).stderr, "");
}

/// A value with more levels than the program accepts.
fn deep() -> Value {
    (0..600).fold(json!("core"), |inner, _| json!([inner]))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_version_is_a_record() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"n": "1"})));
    let mut json = cluster
        .spy()
        .start(&["changes", "--since=0", "cm/flags", "-o", "json"]);
    let mut text = cluster.spy().start(&["changes", "--since=0", "cm/flags"]);
    json.until("baseline");
    text.until("EXISTING");
    cluster.edit("configmaps", "flags", &json!({"data": {"n": deep()}}));
    cluster.edit("configmaps", "flags", &json!({"data": {"n": "3"}}));
    cluster.edit("configmaps", "flags", &json!({"data": {"n": "4"}}));
    json.until("\"4\"");
    text.until("\"4\"");
    let records = records(&interrupted(json));
    assert_eq!(records.len(), 4);
    assert_snapshot!(records[1], @r#"{"cause":"JSON nested too deeply, at byte 560","cluster":"demo","event":"modified","from":"2","ref":{"apiVersion":"v1","cluster":"demo","kind":"ConfigMap","name":"flags","namespace":"shop","uid":"a833bdcd-b6d1-4eb1-88dc-97e5aab5fe3d"},"seen":"2026-03-02T12:05:00.000Z","source":"configmaps/flags in namespace \"shop\"","to":"3","type":"undecodable","v":1}"#);
    let [_, _, anew, next] = &records[..] else {
        unreachable!("the length is four")
    };
    assert_eq!(
        (&anew["type"], &anew["from"], &anew["changes"]),
        (&json!("modified"), &Value::Null, &json!([]))
    );
    assert_eq!(anew["object"]["data"], json!({"n": "3"}));
    assert_eq!(
        (&next["from"], &next["object"]),
        (&json!("4"), &Value::Null)
    );
    assert_snapshot!(interrupted(text).transcript(), @r#"
    2026-03-02T12:05:00Z EXISTING configmap/flags  2
    configmap/flags 3 could not be read
    2026-03-02T12:05:00Z MODIFIED configmap/flags  3→4  +0s  the previous version could not be read
    2026-03-02T12:05:00Z MODIFIED configmap/flags  4→5  +0s  by kubectl-edit  1 change, 2 hidden
    ~ .data.n: "3" → "4"
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_line_is_a_record() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"dark-mode": "off"})));
    let bad = Effect::BadLine {
        after: 0,
        line: BadLine::Garbage,
    };
    cluster
        .sandbox
        .inject(Fault::on(Verb::Watch, "configmaps", bad));
    let mut run = cluster
        .spy()
        .start(&["changes", "--since=0", "cm/flags", "-o", "json"]);
    run.until("baseline");
    cluster.watched("configmaps").await;
    cluster.edit("configmaps", "flags", &json!({"data": {"dark-mode": "on"}}));
    run.until("modified");
    let types: Vec<Value> = records(&interrupted(run))
        .into_iter()
        .map(|mut record| record["type"].take())
        .collect();
    assert_eq!(
        types,
        ["baseline", "undecodable", "state", "state", "modified"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn once_prints_the_same_lines_and_exits() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"dark-mode": "off"})));
    for args in [&["cm/flags"][..], &["cm"]] {
        let ran = cluster
            .spy()
            .run(&[&["changes", "--since=0", "-o", "json", "--once"], args].concat());
        assert_eq!((ran.status.code(), ran.stderr.as_str()), (Some(0), ""));
        assert_eq!(records(&ran).len(), 1, "{}", ran.stdout);
    }
    let ran = cluster
        .spy()
        .run(&["changes", "--since=0", "-o", "json", "--once", "cm/none"]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(
        ran.stderr
            .starts_with("Error from server (NotFound): configmaps \"none\" not found")
    );
}

/// The size of each value of a big object, in bytes. Its record is larger than the buffer of a pipe.
const BIG: usize = 100_000;

/// A run that has printed an object and is writing its versions to a pipe without a reader.
async fn writing() -> (Cluster, Child, BufReader<std::process::ChildStdout>) {
    let cluster = Cluster::start().await;
    cluster.put(config_map("big", &json!({"text": "x".repeat(BIG)})));
    let mut child = cluster
        .spy()
        .spawn(&["changes", "--since=0", "cm/big", "-o", "json"]);
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(record(line.trim_end())["type"], "baseline");
    for letter in ["a", "b", "c", "d", "e", "f"] {
        cluster.edit(
            "configmaps",
            "big",
            &json!({"data": {"text": letter.repeat(BIG)}}),
        );
    }
    (cluster, child, output)
}

/// Reads this many bytes, then sends the run a signal. Returns the rest of its output.
async fn cut(after: usize, name: &str) -> (String, std::process::ExitStatus) {
    let (_cluster, mut child, mut output) = writing().await;
    let mut text = vec![0; after];
    output.read_exact(&mut text).unwrap();
    let kill = std::process::Command::new("kill")
        .args([format!("-{name}"), child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    output.read_to_end(&mut text).unwrap();
    (String::from_utf8(text).unwrap(), child.wait().unwrap())
}

/// The cuts, anywhere in the first four versions, but always at the same places.
fn cuts() -> impl Iterator<Item = usize> {
    let mut random = fastrand::Rng::with_seed(15);
    std::iter::repeat_with(move || random.usize(1..8 * BIG)).take(8)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_leaves_whole_records_and_the_start_of_one() {
    for after in cuts() {
        let (text, _) = cut(after, "KILL").await;
        let mut version = 2;
        for line in text.split_inclusive('\n') {
            if let Some(line) = line.strip_suffix('\n') {
                version += 1;
                assert_eq!(record(line)["to"], version.to_string());
            } else {
                let error = serde_json::from_str::<Value>(line).unwrap_err();
                assert!(error.is_eof(), "{after}: {error}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_ends_it_after_a_whole_record() {
    for name in ["INT", "TERM"] {
        for after in cuts().take(3) {
            let (text, status) = cut(after, name).await;
            assert!(
                text.ends_with('\n'),
                "{after}: …{}",
                &text[text.len() - 80..]
            );
            for line in text.lines() {
                record(line);
            }
            let signal = std::os::unix::process::ExitStatusExt::signal(&status);
            assert_eq!(signal, Some(if name == "INT" { 2 } else { 15 }));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_before_the_first_record_leaves_no_output() {
    let cluster = Cluster::start().await;
    let stall = Effect::Stall {
        at: Place::BeforeHeaders,
    };
    cluster
        .sandbox
        .inject(Fault::on(Verb::List, "configmaps", stall).always());
    for args in [
        &["changes", "--since=0", "cm/flags", "-o", "json"][..],
        &["changes", "--since=0", "cm/flags"],
    ] {
        let before = cluster.sandbox.requests().len();
        let run = cluster.spy().start(args);
        cluster
            .sandbox
            .requests_until(|requests| requests.len() > before)
            .await;
        let ran = run.interrupt();
        assert_eq!((ran.transcript().as_str(), signal(&ran)), ("", Some(2)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_that_changes_the_status_of_its_object_names_both() {
    let cluster = Cluster::start().await;
    cluster.put(pod("web", &json!({})));
    let report = |ready: &str, state: &Value| {
        let containers = json!([{"name": "app", "restartCount": 0, "state": state}]);
        let condition = json!({"type": "Ready", "status": ready});
        let status =
            json!({"phase": "Running", "conditions": [condition], "containerStatuses": containers});
        cluster.report("pods", "web", &status);
    };
    report(
        "True",
        &json!({"running": {"startedAt": "2026-03-02T12:00:02Z"}}),
    );
    cluster.edit("pods", "web", &json!({"metadata": {"labels": {"a": "b"}}}));
    report(
        "False",
        &json!({"waiting": {"reason": "ImagePullBackOff", "message": "no"}}),
    );
    let args = [
        "changes", "pod/web", "--since", "all", "--once", "-o", "json",
    ];
    let ran = cluster.spy().run(&args);
    let records = records(&ran);
    let states: Vec<&Value> = records
        .iter()
        .filter_map(|record| record.get("status"))
        .collect();
    assert_eq!(
        states,
        [
            &json!({"from": "InProgress", "to": "Current"}),
            &json!({"from": "Current", "to": "Failed"}),
        ]
    );
}
