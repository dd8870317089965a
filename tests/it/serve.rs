//! Tests of `serve` against the sandbox, over real connections.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use kubectl_spy::sandbox::{Rule, User};
use serde_json::{Value, json};

use super::schema::Schema;
use super::support::cluster::{Cluster, config_map, deployment, owned_by, pod};
use super::support::{Running, Spy};

/// How long an answer may take. No working server takes this long.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running server.
pub(super) struct Served {
    pub(super) running: Running,
    pub(super) address: String,
    token: String,
}

/// An answer.
pub(super) struct Reply {
    pub(super) code: u16,
    pub(super) head: String,
    pub(super) body: String,
}

impl Served {
    /// Starts the server, and waits until it has read the cluster.
    pub(super) fn start(spy: &Spy, args: &[&str]) -> Served {
        let served = Served::begin(spy, args);
        served.until("/readyz", |reply| reply.code == 200);
        served
    }

    pub(super) fn begin(spy: &Spy, args: &[&str]) -> Served {
        let args = [&["serve", "--listen", "127.0.0.1:0"], args].concat();
        let mut running = spy.start(&args);
        let line = running.until_where("the address", |line| line.starts_with("http://"));
        let rest = line.strip_prefix("http://").unwrap();
        let (address, token) = rest.split_once("/?t=").unwrap_or_default();
        let address = if address.is_empty() {
            rest.trim_end_matches('/')
        } else {
            address
        };
        Served {
            running,
            address: address.to_owned(),
            token: token.to_owned(),
        }
    }

    /// Sends a request with the right Host and these headers, and returns the open answer.
    pub(super) fn send(&self, method: &str, path: &str, headers: &[&str]) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut lines = vec![format!("{method} {path} HTTP/1.1")];
        if !headers.iter().any(|header| header.starts_with("Host:")) {
            lines.push(format!("Host: {}", self.address));
        }
        lines.extend(headers.iter().map(|&header| header.to_owned()));
        lines.push("Connection: close\r\n\r\n".to_owned());
        stream.write_all(lines.join("\r\n").as_bytes()).unwrap();
        stream
    }

    pub(super) fn ask(&self, method: &str, path: &str, headers: &[&str]) -> Reply {
        let mut text = String::new();
        self.send(method, path, headers)
            .read_to_string(&mut text)
            .unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        Reply {
            code: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    /// Ends the server, and returns all that it has printed.
    pub(super) fn stop(self) -> String {
        self.running.interrupt().transcript()
    }

    /// The same server as another reader asks it, with `--auth=kube`.
    pub(super) fn read_by(&mut self, token: &str) -> &Served {
        token.clone_into(&mut self.token);
        self
    }

    pub(super) fn bearer(&self) -> String {
        format!("Authorization: Bearer {}", self.token)
    }

    /// What the user gets.
    pub(super) fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, &[&self.bearer()])
    }

    /// Asks again until the answer is the expected one.
    pub(super) fn until(&self, path: &str, holds: impl Fn(&Reply) -> bool) -> Reply {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let reply = self.get(path);
            if holds(&reply) {
                return reply;
            }
            assert!(Instant::now() < deadline, "{path}: {}", reply.body);
            std::thread::yield_now();
        }
    }

    /// Opens a stream. `last` is the id of the last event that the reader had.
    pub(super) fn events(&self, path: &str, last: Option<&str>) -> Events {
        let last = last.map(|last| format!("Last-Event-ID: {last}"));
        let bearer = self.bearer();
        let headers: Vec<&str> = [Some(&*bearer), last.as_deref()]
            .into_iter()
            .flatten()
            .collect();
        Events::of(self.send("GET", path, &headers))
    }
}

/// A stream of events.
pub(super) struct Events {
    lines: BufReader<TcpStream>,
    /// Idle streams send comments, so a read always ends.
    deadline: Instant,
}

/// One event of a stream.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) data: Value,
    /// The data as it was sent.
    text: String,
}

impl Events {
    /// The stream of an answer, which must be a success.
    pub(super) fn of(answer: TcpStream) -> Events {
        let mut lines = BufReader::new(answer);
        let mut status = String::new();
        lines.read_line(&mut status).unwrap();
        assert!(status.contains(" 200 "), "{status}");
        Events {
            lines,
            deadline: Instant::now() + PATIENCE,
        }
    }

    /// The next line for which `holds` is true, of a stream of another form.
    pub(super) fn line(&mut self, holds: impl Fn(&str) -> bool) -> String {
        loop {
            let mut line = String::new();
            assert!(
                self.lines.read_line(&mut line).unwrap() > 0,
                "the stream ended"
            );
            assert!(Instant::now() < self.deadline, "the line does not come");
            if holds(&line) {
                return line;
            }
        }
    }

    /// The lines with JSON up to the end of the stream.
    pub(super) fn rest(mut self) -> String {
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).unwrap();
        let lines = rest.lines().filter(|line| line.starts_with('{'));
        lines.collect()
    }

    /// The next event. Heads, chunk sizes and comments are skipped.
    pub(super) fn next(&mut self) -> Sent {
        let (mut id, mut name) = (None, String::new());
        let mut text = None;
        loop {
            let mut line = String::new();
            assert!(
                self.lines.read_line(&mut line).unwrap() > 0,
                "the stream ended"
            );
            let line = line.trim_end();
            assert!(Instant::now() < self.deadline, "the event does not come");
            match line.split_once(": ") {
                Some(("id", value)) => id = Some(value.to_owned()),
                Some(("event", value)) => value.clone_into(&mut name),
                Some(("data", value)) => text = Some(value.to_owned()),
                _ if line.is_empty() => {
                    if let Some(text) = text.take() {
                        let data = serde_json::from_str(&text).unwrap();
                        return Sent {
                            id,
                            name,
                            data,
                            text,
                        };
                    }
                }
                _ => {}
            }
        }
    }

    pub(super) fn until(&mut self, holds: impl Fn(&Sent) -> bool) -> Sent {
        loop {
            let sent = self.next();
            if holds(&sent) {
                return sent;
            }
        }
    }
}

/// The records of a text, without the times at which they were made.
fn records(text: &str) -> Vec<Value> {
    let record = |line: &str| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        record["time"] = Value::Null;
        record
    };
    text.lines().map(record).collect()
}

/// A Deployment whose Pod cannot start.
fn broken(cluster: &Cluster) {
    let web = cluster.put(deployment("web", 1));
    let mut set = deployment("web-1", 1);
    set["kind"] = json!("ReplicaSet");
    set["metadata"]["labels"] = json!({"app": "web"});
    let set = cluster.put(owned_by(set, &web));
    cluster.put(owned_by(pod("web-1-a", &json!({"app": "web"})), &set));
    let waiting = json!({"reason": "ImagePullBackOff", "message": "no such image"});
    cluster.report(
        "pods",
        "web-1-a",
        &json!({"phase": "Pending", "containerStatuses": [
            {"name": "app", "ready": false, "restartCount": 0, "image": "app:1", "state": {"waiting": waiting}},
        ]}),
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_user_of_this_machine_may_read() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({})));
    let served = Served::start(&cluster.spy(), &["cm"]);
    let bearer = served.bearer();
    let of = |method: &str, path: &str, headers: &[&str]| {
        let reply = served.ask(method, path, headers);
        let first = reply.body.lines().next().unwrap_or_default().to_owned();
        format!("{} {first}", reply.code)
    };
    let own = format!("/?t={}", served.token);
    let answers = [
        of("GET", "/spy/v1/status", &[]),
        of("GET", "/spy/v1/status", &["Authorization: Bearer x"]),
        of("GET", "/", &[&bearer, "Host: evil.example"]),
        of("GET", "/", &[&bearer, "Origin: http://evil.example"]),
        of("GET", "/", &[&bearer, "Sec-Fetch-Site: cross-site"]),
        of("POST", "/spy/v1/status", &[&bearer]),
        of("DELETE", "/", &[&bearer]),
        of("GET", &own, &["Host: evil.example"]),
        of("GET", "/livez", &[]),
        of("GET", "/nowhere", &[&bearer]),
    ];
    assert_snapshot!(answers.join("\n"), @"
    401 error: the token is missing or wrong
    401 error: the token is missing or wrong
    403 error: the Host header names another server
    403 error: another web page sent this request
    403 error: another web page sent this request
    405 error: this server only reads: use GET or HEAD
    405 error: this server only reads: use GET or HEAD
    403 error: the Host header names another server
    200 ok
    404 error: the server does not have this path
    ");
    // The only requests to the cluster are reads.
    let requests = cluster.sandbox.requests();
    assert!(requests.iter().all(|request| request.method == "GET"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_leaves_the_address_and_becomes_a_cookie() {
    let cluster = Cluster::start().await;
    let served = Served::start(&cluster.spy(), &["cm"]);
    let (own, bearer) = (format!("/?t={}", served.token), served.bearer());
    let reply = served.ask("GET", &format!("{own}&q=web"), &[]);
    let cookie = reply
        .head
        .lines()
        .find_map(|line| line.strip_prefix("set-cookie: "));
    let cookie = cookie.unwrap();
    let port = served.address.rsplit_once(':').unwrap().1;
    assert_eq!(reply.code, 303);
    assert!(
        reply.head.contains("location: /?q=web\r\n"),
        "{}",
        reply.head
    );
    assert!(cookie.starts_with(&format!("spy-{port}={}; ", served.token)));
    assert!(
        cookie.ends_with("Path=/; HttpOnly; SameSite=Strict"),
        "{cookie}"
    );
    let cookie = format!("Cookie: {}", cookie.split_once(';').unwrap().0);
    let page = served.ask("GET", "/", &[&cookie]);
    assert_eq!(page.code, 200);
    for header in [
        "content-security-policy: default-src 'none'; script-src 'self'; style-src 'sha256-",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cache-control: no-store",
    ] {
        assert!(page.head.contains(header), "{}", page.head);
    }
    let head = served.ask("HEAD", "/", &[&bearer]);
    assert_eq!((head.code, &*head.body), (200, ""));
}

#[test]
fn only_loopback_addresses_are_served() {
    let ran = Spy::alone().run(&["serve", "--listen", "0.0.0.0:7780"]);
    assert_eq!(ran.status.code(), Some(1));
    assert_snapshot!(ran.transcript(), @"
    ! error: cannot listen on 0.0.0.0:7780: other machines could read what you may read
    ! hint: pass --auth=kube with --tls-cert and --tls-key: each reader then sees what he may list
    ! hint: or use --listen 127.0.0.1:7780, and reach it from another machine with `ssh -L 7780:127.0.0.1:7780`
    ");
    let ran = Spy::alone().run(&["serve", "--listen", "somewhere"]);
    assert_snapshot!(ran.stderr.lines().next().unwrap(), @r#"error: invalid argument "somewhere" for "--listen" flag: expected an address and a port, for example 127.0.0.1:7780"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_in_use_is_an_error_at_once() {
    let cluster = Cluster::start().await;
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap().to_string();
    let ran = cluster.spy().run(&["serve", "--listen", &address]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(
        ran.stderr
            .starts_with(&format!("error: cannot listen on {address}: "))
    );
    assert!(
        ran.stderr.contains("hint: choose another port"),
        "{}",
        ran.stderr
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_records_are_those_of_status_and_trace() {
    let cluster = Cluster::start().await;
    broken(&cluster);
    cluster.put(config_map("flags", &json!({})));
    let served = Served::start(&cluster.spy(), &["deploy,cm"]);
    let schema = Schema::of("status");
    for (args, query) in [
        (&["deploy,cm"][..], ""),
        (&["deploy,cm", "--unhealthy"], "?unhealthy"),
        (&["deploy,cm", "--explain"], "?explain=true"),
        (&["deploy"], "?object=deploy"),
        (&["cm/flags"], "?object=configmap/flags&namespace=shop"),
    ] {
        let args = [&["status"], args, &["--once", "-o", "json"]].concat();
        let ran = cluster.spy().run(&args);
        let expect = records(&ran.stdout);
        assert!(!expect.is_empty(), "{args:?}: {}", ran.stderr);
        let path = format!("/spy/v1/status{query}");
        // What changed before a failure is looked up in the background.
        let reply = served.until(&path, |reply| records(&reply.body) == expect);
        assert_eq!(reply.code, 200);
        for line in reply.body.lines() {
            schema.check(line);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_are_answered_by_the_verbs() {
    let cluster = Cluster::start().await;
    broken(&cluster);
    cluster.put(config_map("flags", &json!({"beta": "off"})));
    cluster.edit("configmaps", "flags", &json!({"data": {"beta": "on"}}));
    let mut running = pod("job", &json!({}));
    let state = json!({"running": {"startedAt": "2026-03-02T12:00:00Z"}});
    running["spec"]["nodeName"] = json!("node-1");
    running["status"] = json!({"phase": "Running", "containerStatuses": [
        {"name": "app", "restartCount": 0, "containerID": "job/app#0", "state": state, "lastState": {}},
    ]});
    cluster.put(running);
    cluster.sandbox.print("job/app#0", cluster.now(), b"hello");
    let served = Served::start(&cluster.spy(), &["deploy"]);
    for (args, path) in [
        (
            &["trace", "deploy/web", "--once"][..],
            "trace?object=deploy/web",
        ),
        (
            &["changes", "cm/flags", "--since", "all", "--once"],
            "changes?object=cm/flags&since=all",
        ),
        (
            &["logs", "pod/job", "--tail", "5"],
            "logs?object=pod/job&tail=5",
        ),
    ] {
        let ran = cluster.spy().run(&[args, &["-o", "json"]].concat());
        let reply = served.get(&format!("/spy/v1/{path}"));
        assert_eq!(reply.code, 200, "{path}: {}", reply.body);
        assert_eq!(records(&reply.body), records(&ran.stdout), "{path}");
        assert!(reply.body.contains("\"v\":1"), "{path}: {}", reply.body);
        assert!(reply.head.contains("content-type: application/x-ndjson"));
    }
    let errors = [
        "status?object=deploy/wbe",
        "status?labels=x",
        "status?explain=maybe",
        "trace?object=deploy/wbe",
        "trace?from=x",
        "changes?object=cm/nope&show-secrets",
        "logs?object=pod/nope",
    ]
    .map(|path| {
        let reply = served.get(&format!("/spy/v1/{path}"));
        format!("{path}: {} {}", reply.code, reply.body)
    });
    assert_snapshot!(errors.join("\n"), @r#"
    status?object=deploy/wbe: 404 error: "deploy/wbe" not found among the followed objects
    hint: name it when you start kubectl spy serve, or see /spy/v1/status

    status?labels=x: 400 error: unknown parameter "labels"; this path takes cluster, namespace, object, unhealthy, explain

    status?explain=maybe: 400 error: invalid value "maybe" of "explain": expected true or false

    trace?object=deploy/wbe: 404 Error from server (NotFound): deployments.apps "wbe" not found
    hint: did you mean web in namespace "shop"?

    trace?from=x: 400 error: unknown parameter "from"; this path takes cluster, object, namespace, selector, at, depth, relations, all-namespaces, up, down, explain

    changes?object=cm/nope&show-secrets: 400 error: unknown parameter "show-secrets"; this path takes cluster, object, namespace, selector, since, since-rv, count, only, ignore, by, list-key, all-namespaces, people, owned

    logs?object=pod/nope: 404 Error from server (NotFound): pods "nope" not found
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_gets_the_state_then_each_change_and_resumes() {
    let cluster = Cluster::start().await;
    let ready = |status: &str| {
        let condition = json!({"type": "Ready", "status": status});
        cluster.report(
            "pods",
            "web",
            &json!({"phase": "Running", "conditions": [condition]}),
        );
    };
    cluster.put(pod("web", &json!({})));
    ready("False");
    let served = Served::start(&cluster.spy(), &["pod/web"]);
    let mut events = served.events("/spy/v1/events", None);
    let first = events.next();
    assert_eq!((&*first.name, first.id), ("status", None));
    assert_eq!(first.data["status"], "InProgress");
    let synced = events.until(|sent| sent.name == "synced");
    assert_eq!(synced.data, json!({"v": 1, "count": 1}));
    ready("True");
    let change = events.until(|sent| sent.data["status"] == "Current");
    assert_eq!(change.name, "status");
    Schema::of("status").check(&change.text);
    drop(events);
    // The reader is away, and misses a change.
    ready("False");
    let is_back = |reply: &Reply| reply.body.contains(r#""status":"InProgress""#);
    served.until("/spy/v1/status", is_back);
    let mut events = served.events("/spy/v1/events", change.id.as_deref());
    let missed = events.next();
    let status = &missed.data["status"];
    assert_eq!((&*missed.name, status), ("status", &json!("InProgress")));
    // Another server had this id.
    let mut events = served.events("/spy/v1/events", Some("1.1"));
    let gap = events.next();
    assert_eq!((&*gap.name, &gap.data["after"]), ("gap", &json!("1.1")));
    assert_eq!(gap.data["cause"], "restarted");
    assert_eq!(events.next().name, "status");
    assert_eq!(events.next().name, "synced");
    let metrics = served.get("/metrics").body;
    let transition = "spy_status_transitions_total{cluster=\"demo\",kind=\"Pod\",from=\"InProgress\",to=\"Current\"} 1";
    assert!(metrics.contains(transition), "{metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_api_server_may_go_and_come_back() {
    let mut cluster = Cluster::start().await;
    cluster.put(deployment("web", 1));
    let served = Served::start(&cluster.spy(), &["deploy"]);
    let mut events = served.events("/spy/v1/events", None);
    events.until(|sent| sent.name == "synced");
    cluster.sandbox.stop().await;
    let source = json!("deployments.apps in namespace \"shop\"");
    let lost = events.until(|sent| sent.data["source"] == source);
    assert_eq!(
        (&*lost.name, &lost.data["state"]),
        ("cluster", &json!("retrying"))
    );
    served.until("/", |reply| {
        reply.body.contains("class=\"lost\"") && reply.body.contains("the view may be out of date")
    });
    assert_eq!(served.get("/spy/v1/status").body.lines().count(), 1);
    let metrics = served.get("/metrics").body;
    assert!(metrics.contains("namespace=\"shop\"} 0\n"), "{metrics}");
    cluster.sandbox.restart().await.unwrap();
    events.until(|sent| sent.data["source"] == source && sent.data["state"] == "live");
    cluster.put(deployment("api", 1));
    events.until(|sent| sent.data["ref"]["name"] == "api");
    served.until("/", |reply| reply.body.contains("● live"));
    let metrics = served.get("/metrics").body;
    assert!(
        metrics.contains("spy_watch_restarts_total{cluster=\"demo\",reason=\"disconnected\"}"),
        "{metrics}"
    );
}

/// A relist is no news. What was deleted meanwhile is.
#[tokio::test(flavor = "multi_thread")]
async fn after_an_outage_only_the_difference_is_sent() {
    let mut cluster = Cluster::start().await;
    for name in ["stays", "goes", "changes"] {
        cluster.put(deployment(name, 1));
    }
    let served = Served::start(&cluster.spy(), &["deploy"]);
    let mut events = served.events("/spy/v1/events", None);
    events.until(|sent| sent.name == "synced");
    cluster.sandbox.stop().await;
    events.until(|sent| sent.data["state"] == "retrying");
    cluster.delete("deployments", "goes");
    cluster.report("deployments", "changes", &json!({"observedGeneration": 0}));
    cluster.put(deployment("comes", 1));
    // The server has forgotten what the watches would resume from.
    cluster.sandbox.compact(cluster.sandbox.revision());
    cluster.sandbox.expire_watch_window();
    cluster.sandbox.restart().await.unwrap();
    let mut found = std::collections::BTreeMap::new();
    while found.len() < 3 {
        let sent = events.until(|sent| sent.name == "status");
        let name = sent.data["ref"]["name"].as_str().unwrap().to_owned();
        found.insert(name, sent.data["status"].as_str().unwrap().to_owned());
    }
    let found: Vec<String> = found
        .iter()
        .map(|(name, status)| format!("{name} {status}"))
        .collect();
    assert_eq!(
        found,
        ["changes InProgress", "comes InProgress", "goes NotFound"]
    );
    let metrics = served.get("/metrics").body;
    assert!(
        metrics.contains("spy_gaps_total{cluster=\"demo\",cause="),
        "{metrics}"
    );
}

/// The id of another run is a gap. What is no id at all is refused: nobody knows what the reader has.
#[tokio::test(flavor = "multi_thread")]
async fn any_last_event_id_is_answered() {
    let cluster = Cluster::start().await;
    cluster.put(deployment("web", 1));
    let served = Served::start(&cluster.spy(), &["deploy"]);
    let huge = "9".repeat(3_000);
    let most = format!("{0}.{0}", u64::MAX);
    let bearer = served.bearer();
    for id in ["é", "0", "-1.-1", "1.1.1", &huge, "x"] {
        let last = format!("Last-Event-ID: {id}");
        let reply = served.ask("GET", "/spy/v1/events", &[&bearer, &last]);
        let words = "error: invalid value of \"Last-Event-ID\": expected the id of an event";
        assert_eq!(reply.code, 400, "{id}");
        assert!(reply.body.contains(words), "{id}: {}", reply.body);
    }
    for id in [&most, "0.0"] {
        let mut events = served.events("/spy/v1/events", Some(id));
        assert_eq!(events.next().name, "gap", "{id}");
        assert_eq!(events.until(|sent| sent.name == "synced").data["count"], 1);
    }
    for (query, code) in [
        ("status?namespace=", 200),
        ("status?namespace=shop&namespace=prod", 400),
        ("changes?object=deploy/web&namespace=&since=1h", 200),
        ("trace?object=deploy/web&cluster=demo&cluster=demo", 400),
        ("events?cluster=demo&cluster=x", 400),
        ("status?%", 400),
        ("status?cluster=%00", 404),
    ] {
        let reply = served.get(&format!("/spy/v1/{query}"));
        assert_eq!(reply.code, code, "{query}: {}", reply.body);
    }
    assert_eq!(
        served.get("/spy/v1/status?namespace=").body.lines().count(),
        1
    );
}

/// All readers share what the follower reads.
#[tokio::test(flavor = "multi_thread")]
async fn a_reader_costs_no_request_to_the_cluster() {
    let cluster = Cluster::start().await;
    cluster.put(deployment("web", 1));
    let served = Served::start(&cluster.spy(), &["deploy"]);
    cluster.watched("deployments").await;
    let before = cluster.sandbox.requests().len();
    let mut streams = Vec::new();
    for _ in 0..10 {
        for path in [
            "/",
            "/spy/v1/status",
            "/spy/v1/status?object=deploy/web",
            "/metrics",
            "/readyz",
        ] {
            assert_eq!(served.get(path).code, 200);
        }
        let mut events = served.events("/spy/v1/events", None);
        events.until(|sent| sent.name == "synced");
        streams.push(events);
        streams.push(served.events("/live", None));
    }
    assert!(served.get("/metrics").body.contains("spy_readers 20\n"));
    let watches = |path: &str| path.contains("/deployments?") && path.contains("watch=");
    let requests = cluster.sandbox.requests();
    assert_eq!(
        requests
            .iter()
            .filter(|request| watches(&request.path))
            .count(),
        1
    );
    let later = requests[before..].iter().map(|request| &request.path);
    let later: Vec<&String> = later.filter(|path| path.contains("/deployments")).collect();
    assert!(later.is_empty(), "{later:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kind_that_may_not_be_read_is_one_line() {
    let cluster = Cluster::start_with(|options| {
        options.users = vec![User {
            name: "jane".to_owned(),
            token: String::new(),
            rules: vec![Rule::everything(), Rule::deny("*", "configmaps")],
        }];
    })
    .await;
    cluster.put(deployment("web", 1));
    let served = Served::start(&cluster.spy(), &["deploy,cm"]);
    let page = served.get("/").body;
    assert!(page.contains("deployment/web"), "{page}");
    assert!(
        page.contains("forbidden: configmaps in namespace &quot;shop&quot;"),
        "{page}"
    );
    assert_eq!(served.get("/spy/v1/status").body.lines().count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn text_of_the_cluster_stays_text() {
    let cluster = Cluster::start().await;
    let evil = "<script>alert(1)</script>\" onload=\"alert(2) javascript:alert(3)";
    cluster.put(deployment("web", 1));
    cluster.report(
        "deployments",
        "web",
        &json!({"conditions": [{"type": "Progressing", "status": "False",
            "reason": "ProgressDeadlineExceeded", "message": evil}]}),
    );
    let served = Served::start(&cluster.spy(), &["deploy"]);
    for path in ["/", "/?q=web", "/o/demo/Deployment.apps/shop/web"] {
        let page = served.get(path);
        assert_eq!(page.code, 200, "{path}: {}", page.body);
        assert!(
            page.body
                .contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot; onload="),
            "{}",
            page.body
        );
        assert_eq!(page.body.matches("<script").count(), 1, "our own");
        assert!(!page.body.contains("\" onload="));
        let live = match path.strip_prefix("/o/") {
            Some(_) => format!("/live{path}"),
            None => format!("/live{}", &path[1..]),
        };
        let view = served.events(&live, None).next();
        assert_eq!(view.name, "view");
        let rows = view.data["rows"].to_string();
        assert!(
            rows.contains("&lt;script&gt;") && !rows.contains("<script"),
            "{rows}"
        );
    }
    assert_eq!(served.get("/o/demo/Deployment.apps/shop/wbe").code, 404);
    let script = served.get("/page.js");
    assert!(script.head.contains("content-type: text/javascript"));
    let page = served.get("/o/demo/Deployment.apps/shop/web").body;
    assert!(page.contains("kubectl spy status deployment/web -n shop --context demo"));
}

/// No answer has a value of a Secret, in clear or in base64.
#[tokio::test(flavor = "multi_thread")]
async fn secret_values_stay_hidden() {
    let cluster = Cluster::start().await;
    let secret = |coded: &str| {
        let metadata = json!({"name": "db", "namespace": "shop"});
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"password": coded}})
    };
    cluster.put(secret("czNjcmV0LW9uZQ=="));
    cluster.edit(
        "secrets",
        "db",
        &json!({"data": {"password": "czNjcmV0LXR3bw=="}}),
    );
    let served = Served::start(&cluster.spy(), &["secret"]);
    for path in [
        "/?q=db",
        "/o/demo/Secret/shop/db",
        "/spy/v1/status?explain",
        "/spy/v1/trace?object=secret/db",
        "/spy/v1/changes?object=secret/db&since=all",
    ] {
        let reply = served.get(path);
        assert_eq!(reply.code, 200, "{path}: {}", reply.body);
        assert!(reply.body.contains("db"), "{path}: {}", reply.body);
        for value in ["s3cret", "czNjcmV0"] {
            assert!(!reply.body.contains(value), "{path}: {}", reply.body);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_follows_its_object() {
    let cluster = Cluster::start().await;
    broken(&cluster);
    let served = Served::start(&cluster.spy(), &["deploy/web"]);
    let mut views = served.events("/live/o/demo/Deployment.apps/shop/web", None);
    let first = views.next();
    assert_eq!(first.data["order"].as_array().unwrap().len(), 3);
    cluster.report("pods", "web-1-a", &json!({"phase": "Running", "containerStatuses": [
        {"name": "app", "ready": true, "restartCount": 0, "image": "app:1", "state": {"running": {}}},
    ]}));
    let next = views.until(|view| view.data["rows"].to_string().contains("1/1"));
    assert!(
        next.data["title"]
            .as_str()
            .unwrap()
            .starts_with("deployment/web ")
    );
}

/// Each line is a comment, or a name with labels and a number.
#[tokio::test(flavor = "multi_thread")]
async fn the_metrics_can_be_parsed() {
    let cluster = Cluster::start().await;
    broken(&cluster);
    let served = Served::start(&cluster.spy(), &["deploy/web"]);
    served.ask("GET", "/", &[]);
    let _reader = served.events("/spy/v1/events", None);
    let metrics = served.until("/metrics", |reply| reply.body.contains("spy_readers 1\n"));
    assert!(
        metrics
            .head
            .contains("content-type: text/plain; version=0.0.4")
    );
    let mut families = Vec::new();
    for line in metrics.body.lines() {
        if let Some(kind) = line.strip_prefix("# TYPE ") {
            families.push(kind.split(' ').next().unwrap().to_owned());
            continue;
        }
        if line.starts_with("# HELP ") {
            continue;
        }
        let (series, value) = line.rsplit_once(' ').unwrap();
        value.parse::<f64>().unwrap();
        let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
        assert_eq!(Some(name), families.last().map(String::as_str), "{line}");
        assert!(labels.ends_with('}'), "{line}");
    }
    assert_eq!(
        families,
        [
            "spy_objects",
            "spy_cluster_up",
            "spy_status_transitions_total",
            "spy_watch_up",
            "spy_watch_restarts_total",
            "spy_gaps_total",
            "spy_readers",
            "spy_denied_total"
        ]
    );
    for sample in [
        r#"spy_objects{cluster="demo",group="apps",kind="Deployment",status="#,
        r#"spy_watch_up{cluster="demo",resource="deployments.apps",namespace="shop"} 1"#,
        r#"spy_denied_total{reason="token"} 1"#,
    ] {
        assert!(metrics.body.contains(sample), "{}", metrics.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_ends_at_a_signal_with_readers() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({})));
    let served = Served::start(&cluster.spy(), &["cm"]);
    let mut events = served.events("/spy/v1/events", None);
    events.until(|sent| sent.name == "synced");
    let ran = served.running.interrupt();
    assert_eq!(ran.stderr, "");
}
