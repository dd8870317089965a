//! Tests of `__complete`, by which shells complete command lines.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use kubectl_spy::sandbox::{Effect, Fault, Kind, Place, User, Verb};
use serde_json::json;

use super::support::Spy;
use super::support::cluster::{Cluster, config_map, deployment, pod};

/// The answer to a line: its values, without descriptions, and the directive.
fn values(spy: &Spy, line: &str) -> String {
    let lines = answer(spy, line);
    let values = lines.iter().map(|line| line.split('\t').next().unwrap());
    values.collect::<Vec<_>>().join(" ")
}

/// The lines of the answer to a line. A line that ends with a space has an empty word at the cursor.
fn answer(spy: &Spy, line: &str) -> Vec<String> {
    let mut args = vec!["__complete"];
    args.extend(line.split(' '));
    let ran = spy.run(&args);
    assert_eq!(
        (ran.status.code(), &*ran.stderr),
        (Some(0), ""),
        "{line:?}: {}",
        ran.stdout
    );
    ran.stdout.lines().map(str::to_owned).collect()
}

/// An empty directory for the cache of a test.
fn cache(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("complete-{name}"));
    let _not_there = fs::remove_dir_all(&path);
    path.to_str().unwrap().to_owned()
}

async fn shop() -> Cluster {
    let gadget = Kind {
        short_names: vec!["gg".to_owned()],
        ..Kind::custom("example.com", "v1", "Gadget", "gadgets")
    };
    let cluster = Cluster::start_with(|options| options.kinds = vec![gadget]).await;
    for namespace in ["shop", "shipping"] {
        cluster
            .put(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}));
    }
    cluster.put(deployment("web", 2));
    cluster.put(deployment("worker", 1));
    cluster.put(pod("web-1", &json!({"app": "web", "tier": "front"})));
    cluster.put(pod("db-1", &json!({"app": "db"})));
    cluster.put(json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "elsewhere", "namespace": "shipping"},
    }));
    cluster.put(json!({
        "apiVersion": "example.com/v1", "kind": "Gadget",
        "metadata": {"name": "lamp", "namespace": "shop"},
    }));
    cluster.put(json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db", "namespace": "shop"},
        "data": {"password": "aHVudGVyMg=="},
    }));
    cluster
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_those_of_the_cluster() {
    let cluster = shop().await;
    let spy = cluster.spy();
    for (line, expect) in [
        ("status deploy/", "deploy/web deploy/worker :4"),
        ("status deploy/we", "deploy/web :4"),
        ("status deploy ", "web worker :4"),
        ("status deploy web ", "worker :4"),
        ("status deploy/web deploy/", "deploy/worker :4"),
        ("status deploy/web depl", "deploy/ deployments/ :6"),
        ("trace Pod/", "Pod/db-1 Pod/web-1 :4"),
        ("changes deploy,po w", "web web-1 worker :4"),
        ("changes -n shipping cm/", "cm/elsewhere :4"),
        ("changes --namespace=shipping cm ", "elsewhere :4"),
        ("changes -n sh", "shipping shop :4"),
        ("changes --namespace=", "shipping shop :4"),
        ("changes -nship", "-nshipping :4"),
        ("status nonsense/", ":4"),
        ("status deploy/web/", ":4"),
        ("demo changes deploy/", ":4"),
        ("changes --from x.yaml deploy/", ":4"),
    ] {
        assert_eq!(values(&spy, line), expect, "{line:?}");
    }
    let pods = answer(&spy, "status pods web");
    assert_eq!(pods, ["web-1\t0/1 4s", ":4"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_containers_of_logs_are_offered_however_the_pod_is_named() {
    let cluster = shop().await;
    let mut pod = pod("mypod", &json!({"app": "mine"}));
    pod["spec"]["containers"] = json!([{"name": "app"}, {"name": "proxy"}]);
    cluster.put(pod);
    let spy = cluster.spy();
    for (line, expect) in [
        ("logs mypod -c ", "app proxy :4"),
        ("logs mypod -f -c p", "proxy :4"),
        ("logs mypod -c app,", "app,proxy :4"),
        ("logs pod/mypod -c ", "app proxy :4"),
        ("logs pods mypod --container=", "app proxy :4"),
        ("logs -l app=mine -c ", "app proxy :4"),
        ("logs deploy/web -c ", "app :4"),
        ("logs nopod -c ", ":4"),
        // Only `logs` takes a bare name.
        ("status mypod --only ", ":4"),
    ] {
        assert_eq!(values(&spy, line), expect, "{line:?}");
    }
}

/// Without a typed text, 500 names are enough.
#[tokio::test(flavor = "multi_thread")]
async fn a_typed_name_is_found_behind_the_first_page() {
    let cluster = Cluster::start().await;
    for number in 0..1100 {
        cluster.put(config_map(&format!("a-{number:04}"), &json!({})));
    }
    for name in ["web", "worker"] {
        cluster.put(config_map(name, &json!({})));
    }
    let spy = cluster.spy();
    assert_eq!(values(&spy, "status cm w"), "web worker :4");
    assert_eq!(values(&spy, "status cm/we"), "cm/web :4");
    assert_eq!(answer(&spy, "status cm ").len(), 501);
    assert_eq!(values(&spy, "status cm x"), ":4");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_earlier_discovery_answers_without_a_request() {
    let cluster = shop().await;
    let spy = cluster.spy().var("KUBECACHEDIR", &cache("types"));
    // An ordinary run with a custom kind discovers, and keeps the types.
    let ran = spy.run(&["status", "gadgets", "--once"]);
    assert!(ran.status.success(), "{}", ran.stderr);
    let before = cluster.sandbox.requests().len();
    assert_eq!(values(&spy, "status gad"), "gadgets :4");
    assert_eq!(values(&spy, "status gg"), "gg :4");
    assert_eq!(values(&spy, "changes deploy,gad"), "deploy,gadgets :4");
    assert_eq!(cluster.sandbox.requests().len(), before);
    assert_eq!(values(&spy, "changes gg/"), "gg/lamp :4");
    assert_eq!(cluster.sandbox.requests().len(), before + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn completion_itself_keeps_the_types() {
    let cluster = shop().await;
    let spy = cluster.spy().var("KUBECACHEDIR", &cache("first"));
    assert_eq!(values(&spy, "status gad"), "gadgets :4");
    let before = cluster.sandbox.requests().len();
    assert_eq!(before, 2, "{:?}", cluster.sandbox.requests());
    assert_eq!(values(&spy, "status gad"), "gadgets :4");
    assert_eq!(cluster.sandbox.requests().len(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_give_labels_managers_paths_and_conditions() {
    let cluster = shop().await;
    cluster.edit("deployments", "web", &json!({"spec": {"replicas": 3}}));
    let ready = json!({"conditions": [{"type": "Ready", "status": "True"}]});
    cluster.report("pods", "web-1", &ready);
    let spy = cluster.spy();
    for (line, expect) in [
        ("status pods -l ", "app= tier= :6"),
        ("status pods -l app=", "app=db app=web :4"),
        ("status pods --selector=app=web,t", "app=web,tier= :6"),
        ("changes deploy/web --by ", "kubectl-create kubectl-edit :4"),
        ("changes deploy --by kubectl-e", "kubectl-edit :4"),
        ("changes deploy/web --only .spec.r", ".spec.replicas :6"),
        ("changes deploy/web --ignore sp", "spec :6"),
        (
            "status po/web-1 --for=",
            "condition= create current delete jsonpath= ready settled :4",
        ),
        ("status po/web-1 --for=con", "condition= :6"),
        ("status po/web-1 --for=condition=", "condition=Ready :4"),
    ] {
        assert_eq!(values(&spy, line), expect, "{line:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_give_fields_to_sort_by() {
    let cluster = shop().await;
    let spy = cluster.spy();
    for (line, expect) in [
        (
            "status pods --sort-by .metadata.n",
            ".metadata.name .metadata.namespace :6",
        ),
        (
            "status nonsense --sort-by .metadata.c",
            ".metadata.creationTimestamp :6",
        ),
        ("status pods --sort-by=.metadata.u", ".metadata.uid :6"),
    ] {
        assert_eq!(values(&spy, line), expect, "{line:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_data_of_secrets_is_never_read() {
    let cluster = shop().await;
    let spy = cluster.spy();
    assert_eq!(values(&spy, "changes secret/"), "secret/db :4");
    assert_eq!(values(&spy, "changes secret/db --only .d"), ":6");
    let metadata = values(&spy, "changes secret/db --only .metadata.n");
    assert_eq!(metadata, ".metadata.name .metadata.namespace :6");
    values(&spy, "changes secret/db --for=condition=");
    values(&spy, "changes secret -l ");
    let requests = cluster.sandbox.requests();
    let secrets = requests.iter().filter(|one| one.path.contains("/secrets"));
    let forms: Vec<&str> = secrets.map(|one| one.accept.as_str()).collect();
    assert_eq!(forms.len(), 5);
    for form in forms {
        let first = form.split(',').next().unwrap();
        assert!(first.contains("as=Table") || first.contains("as=PartialObjectMetadataList"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_kubeconfig_gives_contexts_clusters_and_users() {
    let cluster = Cluster::start_with(|options| {
        let user = |name: &str| User {
            name: name.to_owned(),
            token: format!("{name}-token"),
            rules: Vec::new(),
        };
        options.users = vec![user("jane"), user("joe")];
    })
    .await;
    let spy = cluster.spy();
    assert_eq!(
        answer(&spy, "--context "),
        [
            "demo\tcluster demo, namespace shop",
            "demo-joe\tcluster demo, namespace shop",
            ":4"
        ]
    );
    assert_eq!(values(&spy, "--context demo,"), "demo,demo-joe :4");
    assert_eq!(values(&spy, "status --contexts=demo-"), "demo-joe :4");
    assert_eq!(values(&spy, "status --cluster="), "demo :4");
    assert_eq!(values(&spy, "status --user j"), "jane joe :4");
    assert!(cluster.sandbox.requests().is_empty());
}

/// Times and log levels have a usual choice. It needs no cluster, and each offer is a value that the flag takes.
#[test]
fn times_and_log_levels_have_a_usual_choice() {
    let spy = Spy::alone();
    for (line, expect) in [
        ("changes --since ", "0 10m 1d 1h 30m 5m all :4"),
        ("changes --since=1", "10m 1d 1h :4"),
        ("changes deploy/web --since a", "all :4"),
        ("status pods --timeout ", "10m 1m 30s 5m :4"),
        ("trace --request-timeout 1", "10m 1m :4"),
        ("status -v=", "6 8 :4"),
    ] {
        assert_eq!(values(&spy, line), expect, "{line:?}");
    }
    for flag in ["changes --since ", "changes --timeout ", "status -v="] {
        for offer in values(&spy, flag).split(' ').filter(|offer| *offer != ":4") {
            let line = format!("{flag}{offer} --from no-file");
            let ran = spy.run(&line.split(' ').collect::<Vec<_>>());
            assert!(ran.stderr.contains("no-file"), "{line}: {}", ran.stderr);
        }
    }
}

/// A server that does not answer costs at most the time limit, and Kubernetes' own types need no answer.
#[tokio::test(flavor = "multi_thread")]
async fn a_silent_server_gives_no_offer_and_no_error() {
    let cluster = shop().await;
    let stall = Effect::Stall {
        at: Place::BeforeHeaders,
    };
    cluster
        .sandbox
        .inject(Fault::on(Verb::Any, "deployments", stall));
    assert_eq!(values(&cluster.spy(), "status deploy/"), ":4");
    let alone = Spy::alone();
    assert_eq!(values(&alone, "status deploy/"), ":4");
    assert_eq!(values(&alone, "status depl"), "deploy deployments :4");
    assert_eq!(values(&alone, "status -n "), ":4");
    let wrong = Spy::with_kubeconfig("/no/such/file");
    assert_eq!(values(&wrong, "status --context "), ":4");
    assert_eq!(values(&wrong, "status statef"), "statefulsets :4");
}

/// A login needs a person, who has only pressed the Tab key.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn completion_starts_no_interactive_login() {
    let mark = cache("login");
    let _not_there = fs::remove_file(&mark);
    let plugin = |mode: &str| {
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "x",
            "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
            "users": [{"name": "u", "user": {"exec": {
                "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": mode,
                "command": "/bin/sh", "args": ["-c", format!("touch {mark}; read -r typed || exit 1")],
            }}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        });
        let path = format!("{}/complete-{mode}.json", env!("CARGO_TARGET_TMPDIR"));
        fs::write(&path, config.to_string()).unwrap();
        Spy::with_kubeconfig(&path).var("PATH", "/usr/bin:/bin")
    };
    assert_eq!(values(&plugin("Always"), "status deploy/"), ":4");
    assert!(!PathBuf::from(&mark).exists(), "the plugin ran");
    // This one may run, without a terminal.
    assert_eq!(values(&plugin("IfAvailable"), "status deploy/"), ":4");
    assert!(PathBuf::from(&mark).exists(), "the plugin did not run");
}

/// A name is inserted into a command line. Names of roles may contain almost anything.
#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_name_is_not_offered() {
    let cluster = shop().await;
    for name in ["system:node", "$(reboot)", "a;b", "\u{1b}[2J"] {
        cluster.put(config_map(name, &json!({})));
    }
    assert_eq!(values(&cluster.spy(), "changes cm/"), "cm/system:node :4");
}

/// kubectl finds the program of a plugin's completion by its name.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn the_program_completes_under_kubectls_name() {
    let cluster = shop().await;
    let link = PathBuf::from(cache("link"));
    fs::create_dir_all(&link).unwrap();
    let link = link.join("kubectl_complete-spy");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_kubectl-spy"), &link).unwrap();
    let output = Command::new(link)
        .args(["status", "deploy/wo"])
        .env_clear()
        .envs(cluster.spy().environment())
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.starts_with("deploy/worker\t"), "{printed}");
}
