//! Tests of `serve --auth=kube` against the sandbox: what each reader sees, and what the API server is asked for it.

use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::path::PathBuf;

use insta::assert_snapshot;
use kubectl_spy::sandbox::{Effect, Fault, Place, Rule, User, Verb};
use serde_json::{Value, json};

use super::serve::Served;
use super::support::Spy;
use super::support::cluster::{Cluster, config_map, deployment, pod};

fn user(name: &str, rules: Vec<Rule>) -> User {
    User {
        name: name.to_owned(),
        token: name.to_owned(),
        rules,
    }
}

/// The server's own user, which sends no token over plain HTTP, and these readers.
async fn cluster(readers: Vec<User>) -> Cluster {
    let owner = User {
        token: String::new(),
        ..user("owner", vec![Rule::everything()])
    };
    let users = [vec![owner], readers].concat();
    Cluster::start_with(|options| options.users = users).await
}

fn serve(cluster: &Cluster, args: &[&str]) -> Served {
    let args = [&["--auth=kube"], args].concat();
    let mut served = Served::begin(&cluster.spy(), &args);
    served.read_by("alice");
    served.until("/readyz", |reply| reply.code == 200);
    served
}

/// A Pod in `shop` that names a `ConfigMap` which does not exist.
fn pod_with_config(name: &str) -> Value {
    let mut pod = pod(name, &json!({}));
    pod["spec"]["containers"][0]["envFrom"] = json!([{"configMapRef": {"name": "gone"}}]);
    pod
}

/// The names of the objects that a reader sees.
fn names(served: &Served, path: &str) -> String {
    let reply = served.get(path);
    assert_eq!(reply.code, 200, "{path}: {}", reply.body);
    let records = reply.body.lines().map(|line| {
        let record: Value = serde_json::from_str(line).unwrap();
        let object = &record["ref"];
        format!(
            "{}/{} {}",
            object["kind"].as_str().unwrap().to_lowercase(),
            object["name"].as_str().unwrap(),
            record["status"].as_str().unwrap_or_default(),
        )
    });
    let names: BTreeSet<String> = records.collect();
    names.into_iter().collect::<Vec<_>>().join("\n")
}

fn list(resource: &str) -> Rule {
    Rule::allow("get,list,watch", resource)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_reader_sees_what_he_may_list() {
    let pods = user("pods", vec![list("pods").within("shop")]);
    let nothing = user("nothing", vec![]);
    let other = user("other", vec![list("*").within("prod")]);
    let all = user("all", vec![Rule::everything()]);
    let cluster = cluster(vec![user("alice", vec![]), pods, nothing, other, all]).await;
    cluster.put(pod_with_config("web"));
    cluster.put(config_map("flags", &json!({})));
    let mut served = serve(&cluster, &["po,cm"]);
    let seen = |served: &mut Served, reader: &str| {
        served.read_by(reader);
        names(served, "/spy/v1/status")
    };
    assert_snapshot!(seen(&mut served, "all"), @"
    configmap/flags Current
    pod/web Failed
    ");
    assert_snapshot!(seen(&mut served, "pods"), @"pod/web InProgress");
    for reader in ["nothing", "other"] {
        served.read_by(reader);
        for path in [
            "/spy/v1/status",
            "/spy/v1/status?unhealthy",
            "/spy/v1/events",
        ] {
            let reply = served.get(path);
            assert_eq!(reply.code, 403, "{reader} {path}: {}", reply.body);
            assert!(reply.body.contains("you may not list the followed objects"));
        }
    }
    // The words about the missing ConfigMap are for those who may list ConfigMaps.
    served.read_by("all");
    assert!(served.get("/").body.contains("gone"));
    served.read_by("pods");
    let page = served.get("/?q=web").body;
    assert!(
        page.contains("web") && !page.contains("gone") && !page.contains("flags"),
        "{page}"
    );
    let counts = |served: &Served| {
        let text = served.get("/metrics").body;
        let lines = text.lines().filter(|line| line.starts_with("spy_objects"));
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(counts(&served), @r#"spy_objects{cluster="demo",group="",kind="Pod",status="InProgress"} 1"#);
    served.read_by("nothing");
    assert_snapshot!(counts(&served), @"");
    let object = served.get("/o/demo/Pod/shop/web");
    assert_eq!(object.code, 404);
    served.read_by("pods");
    assert_eq!(served.get("/o/demo/Pod/shop/web").code, 200);
    assert_eq!(served.get("/o/demo/ConfigMap/shop/flags").code, 404);
    // The API server has got only reads.
    let requests = cluster.sandbox.requests();
    assert!(requests.iter().all(|request| request.method == "GET"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_verb_runs_with_the_readers_own_token() {
    let pods = user("pods", vec![list("pods").within("shop")]);
    let cluster = cluster(vec![user("alice", vec![]), pods]).await;
    cluster.put(pod("web", &json!({})));
    cluster.put(config_map("flags", &json!({"a": "1"})));
    cluster.edit("configmaps", "flags", &json!({"data": {"a": "2"}}));
    let mut served = serve(&cluster, &["po,cm"]);
    served.read_by("pods");
    let answers = [
        "changes?object=cm/flags&since=all",
        "trace?object=cm/flags",
        "logs?object=pod/web",
        "changes?object=pod/web&since=all&only=.metadata",
    ]
    .map(|path| {
        let reply = served.get(&format!("/spy/v1/{path}"));
        let first = reply.body.lines().next().unwrap_or_default().to_owned();
        let first = if reply.code == 200 {
            String::new()
        } else {
            first
        };
        format!("{path}: {} {first}", reply.code)
    });
    assert_snapshot!(answers.map(|it| it.trim_end().to_owned()).join("\n"), @r#"
    changes?object=cm/flags&since=all: 403 Error from server (Forbidden): configmaps "flags" is forbidden: User "pods" cannot list resource "configmaps" in API group "" in the namespace "shop"
    trace?object=cm/flags: 403 Error from server (Forbidden): configmaps "flags" is forbidden: User "pods" cannot list resource "configmaps" in API group "" in the namespace "shop"
    logs?object=pod/web: 403 Error from server (Forbidden): pods "web" is forbidden: User "pods" cannot get resource "pods/log" in API group "" in the namespace "shop"
    changes?object=pod/web&since=all&only=.metadata: 200
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_tokens_that_the_api_server_knows_come_in() {
    let cluster = cluster(vec![user("alice", vec![])]).await;
    let served = serve(&cluster, &["cm"]);
    let basic = "Authorization: Basic YW55OmFsaWNl"; // any:alice
    let own = "Authorization: Bearer alice";
    let of = |headers: &[&str]| {
        let reply = served.ask("GET", "/", headers);
        format!(
            "{} {}",
            reply.code,
            reply.body.lines().next().unwrap_or_default()
        )
    };
    let origin = format!("Origin: http://{}", served.address);
    assert!(of(&[basic]).starts_with("200 "));
    assert!(of(&[own, &origin]).starts_with("200 "));
    let refused = [
        of(&[]),
        of(&["Authorization: Bearer mallory"]),
        of(&[own, own]),
        of(&[own, "Origin: http://evil.example"]),
        of(&[own, "Sec-Fetch-Site: cross-site"]),
    ];
    assert_snapshot!(refused.join("\n"), @"
    401 error: You must be logged in to the server (Unauthorized)
    401 error: You must be logged in to the server (Unauthorized)
    401 error: You must be logged in to the server (Unauthorized)
    403 error: another web page sent this request
    403 error: another web page sent this request
    ");
    let reply = served.ask("GET", "/", &[]);
    assert!(
        reply
            .head
            .contains("www-authenticate: Bearer\r\nwww-authenticate: Basic realm=")
    );
    assert_eq!(served.ask("POST", "/", &[own]).code, 405);
    assert_eq!(served.ask("GET", "/livez", &[]).code, 200);
}

/// A server that takes any token would give every reader the rights of somebody else.
#[tokio::test(flavor = "multi_thread")]
async fn an_api_server_that_accepts_any_token_is_refused() {
    let cluster = Cluster::start().await;
    let ran = cluster
        .spy()
        .run(&["serve", "--listen=127.0.0.1:0", "--auth=kube", "cm"]);
    assert_eq!(ran.status.code(), Some(1));
    assert_snapshot!(ran.transcript(), @"
    ! error: the API server accepts any token, so it cannot tell readers apart
    ! hint: use the address of the API server itself, not that of a proxy with a login of its own
    ");
}

/// The token is in no output, even with every request logged.
#[tokio::test(flavor = "multi_thread")]
async fn no_log_has_a_readers_token() {
    let cluster = cluster(vec![user("alice", vec![list("*")])]).await;
    cluster.put(deployment("web", 1));
    let spy: Spy = cluster.spy();
    let mut served = Served::begin(&spy, &["--auth=kube", "-v=9", "deploy"]);
    served.read_by("alice");
    served.until("/readyz", |reply| reply.code == 200);
    assert_eq!(
        served
            .get("/spy/v1/changes?object=deploy/web&since=all")
            .code,
        200
    );
    assert_eq!(served.get("/spy/v1/status").code, 200);
    let output = served.stop();
    assert!(output.contains("GET http://"), "{output}");
    assert!(!output.contains("alice"), "{output}");
}

/// The state of a package rests on several objects, and a watch names a place.
#[tokio::test(flavor = "multi_thread")]
async fn packages_and_watches_are_for_those_who_may_list_what_they_rest_on() {
    let configs = user("configs", vec![list("configmaps").within("shop")]);
    let elsewhere = user("elsewhere", vec![list("*").within("prod")]);
    let all = user("all", vec![Rule::everything()]);
    let readers = vec![user("alice", vec![]), configs, elsewhere, all];
    let cluster = cluster(readers).await;
    for (object, name) in [
        (config_map("flags", &json!({})), "hidden-store"),
        (pod("web", &json!({})), "hidden-web"),
    ] {
        let mut object = object;
        object["metadata"]["labels"] = json!({"app.kubernetes.io/part-of": name});
        cluster.put(object);
    }
    let port = cluster.sandbox.address().port();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("readers-{port}"));
    fs::create_dir_all(&folder).unwrap();
    let config = folder.join("serve.yaml");
    let packages = "packages: {from: [{label: app.kubernetes.io/part-of}]}";
    fs::write(&config, format!("outbox: outbox\n{packages}\n")).unwrap();
    let mut served = serve(&cluster, &["po,cm", "-f", config.to_str().unwrap()]);
    let mut seen = |reader: &str| {
        served.read_by(reader);
        let field = |path: &str, field: &str| {
            let reply = served.get(path);
            assert_eq!(reply.code, 200, "{path}: {}", reply.body);
            let records = reply.body.lines().map(|line| {
                let record: Value = serde_json::from_str(line).unwrap();
                record[field].as_str().unwrap_or_default().to_owned()
            });
            records
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect::<Vec<_>>()
                .join(",")
        };
        let packages = field("/spy/v1/packages", "package");
        let one = field("/spy/v1/packages?package=hidden-store", "status");
        let watches = field("/spy/v1/watches", "resource");
        let metrics = served.get("/metrics").body;
        let in_metrics = metrics
            .lines()
            .filter(|line| line.contains("hidden-"))
            .count();
        format!(
            "packages [{packages}] [{one}] watches [{watches}] metrics {}",
            in_metrics > 0
        )
    };
    assert_snapshot!(seen("all"), @"packages [hidden-store,hidden-web] [Current] watches [configmaps,events,pods] metrics true");
    assert_snapshot!(seen("configs"), @"packages [] [] watches [configmaps] metrics false");
    assert_snapshot!(seen("elsewhere"), @"packages [] [] watches [] metrics false");
    assert_snapshot!(seen("alice"), @"packages [] [] watches [] metrics false");
}

/// Many streams of one reader leave places to the others.
#[tokio::test(flavor = "multi_thread")]
async fn a_reader_cannot_have_all_streams() {
    let may = || vec![list("configmaps")];
    let cluster = cluster(vec![user("alice", may()), user("bob", may())]).await;
    let mut served = serve(&cluster, &["cm"]);
    let open: Vec<_> = (0..100)
        .map(|_| served.events("/spy/v1/events", None))
        .collect();
    let refused = served.get("/spy/v1/events");
    assert_eq!(refused.code, 429, "{}", refused.head);
    assert!(refused.head.contains("retry-after: "), "{}", refused.head);
    assert_snapshot!(refused.body, @"
    error: you have 100 streams open, which is the most for one reader
    hint: close one, or try again in a moment
    ");
    served.read_by("bob");
    served
        .events("/spy/v1/events", None)
        .until(|sent| sent.name == "synced");
    drop(open);
    served.read_by("alice");
    served.until("/metrics", |reply| reply.body.contains("spy_readers 0\n"));
    served
        .events("/spy/v1/events", None)
        .until(|sent| sent.name == "synced");
}

/// Whether bytes of an answer are there, or it has ended.
fn is_answered(answer: &TcpStream) -> bool {
    answer.set_nonblocking(true).unwrap();
    let peeked = answer.peek(&mut [0]);
    answer.set_nonblocking(false).unwrap();
    !peeked.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}

/// Questions of one reader that take long leave places to the others, and do not delay them. They end when he goes away.
#[tokio::test(flavor = "multi_thread")]
async fn a_reader_cannot_ask_all_questions() {
    let may = || vec![list("configmaps"), list("secrets")];
    let cluster = cluster(vec![user("alice", may()), user("bob", may())]).await;
    cluster.put(config_map("flags", &json!({})));
    let mut served = serve(&cluster, &["cm"]);
    let silence = Effect::Stall {
        at: Place::BeforeHeaders,
    };
    cluster
        .sandbox
        .inject(Fault::on(Verb::Any, "secrets", silence).always());
    let bearer = served.bearer();
    let ask = || served.send("GET", "/spy/v1/changes?object=secrets&since=1m", &[&bearer]);
    let mut open: Vec<TcpStream> = (0..6).map(|_| ask()).collect();
    let refused = loop {
        if let Some(at) = open.iter().position(is_answered) {
            break open.remove(at);
        }
        std::thread::yield_now();
    };
    let mut text = String::new();
    (&refused).read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 429 "), "{text}");
    assert!(text.contains("retry-after: 5\r\n"), "{text}");
    let (_, words) = text.split_once("\r\n\r\n").unwrap();
    assert_snapshot!(words, @"
    error: you have 5 questions open, which is the most for one reader
    hint: try again in a moment
    ");
    let path = "/spy/v1/changes?object=cm/flags&since=1m";
    served.read_by("bob");
    assert_eq!(served.get(path).code, 200);
    assert!(!open.iter().any(is_answered), "two of alice's still run");
    drop(open);
    served.read_by("alice");
    served.until(path, |reply| reply.code == 200);
}
