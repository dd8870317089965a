//! Tests of the webhooks of `serve` against the sandbox and a receiver that fails in every way.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use serde_json::{Value, json};

use super::schema::Schema;
use super::serve::{Reply, Served};
use super::support::Spy;
use super::support::cluster::{Cluster, pod};

/// How long a message may take. No working program takes this long.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the receiver does with a request.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reaction {
    /// It answers with this code and these headers.
    Answer(u16, &'static str),
    /// It answers only when the sender has gone.
    Hang,
    /// It closes the connection within the first line of its answer.
    Drop,
}

/// A request as the receiver gets it.
#[derive(Clone, Debug)]
pub(super) struct Message {
    head: String,
    body: String,
    reaction: Reaction,
}

impl Message {
    fn header(&self, name: &str) -> &str {
        let mut lines = self.head.lines();
        lines
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
            .unwrap_or_else(|| panic!("no {name} in {}", self.head))
    }

    pub(super) fn record(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// `NAME FROM>TO`.
    fn change(&self) -> String {
        let record = self.record();
        let name = record["object"]["ref"]["name"].as_str().unwrap();
        let from = record["from"].as_str().unwrap_or("new");
        format!("{name} {from}>{}", record["to"].as_str().unwrap())
    }

    fn is_taken(&self) -> bool {
        matches!(self.reaction, Reaction::Answer(200..=299, _))
    }
}

/// A receiver on this machine. It reacts as the script says, and then answers 200.
pub(super) struct Hook {
    pub(super) port: u16,
    script: Arc<Mutex<VecDeque<Reaction>>>,
    messages: Receiver<Message>,
}

impl Hook {
    pub(super) fn listen(script: &[Reaction]) -> Hook {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = Arc::new(Mutex::new(script.iter().copied().collect()));
        let (send, messages) = channel();
        let reactions = script.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (send, reactions) = (send.clone(), reactions.clone());
                std::thread::spawn(move || receive(stream.unwrap(), &reactions, &send));
            }
        });
        Hook {
            port,
            script,
            messages,
        }
    }

    pub(super) fn next(&self) -> Message {
        self.messages.recv_timeout(PATIENCE).unwrap()
    }

    /// The next messages, each with the changes that it is about.
    fn changes(&self, count: usize) -> Vec<String> {
        (0..count).map(|_| self.next().change()).collect()
    }

    /// The next message that the receiver takes.
    fn next_taken(&self) -> Message {
        loop {
            let message = self.next();
            if message.is_taken() {
                return message;
            }
        }
    }
}

fn receive(
    stream: TcpStream,
    reactions: &Mutex<VecDeque<Reaction>>,
    messages: &Sender<Message>,
) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut stream = stream;
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let length = head.to_lowercase();
        let length = length
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))?;
        let mut body = vec![0; length.parse().ok()?];
        reader.read_exact(&mut body).ok()?;
        let scripted = reactions.lock().unwrap().pop_front();
        let reaction = scripted.unwrap_or(Reaction::Answer(200, ""));
        let body = String::from_utf8(body).ok()?;
        let message = Message {
            head,
            body,
            reaction,
        };
        messages.send(message).ok()?;
        match reaction {
            Reaction::Answer(code, headers) => {
                let answer = format!("HTTP/1.1 {code} X\r\n{headers}Content-Length: 0\r\n\r\n");
                stream.write_all(answer.as_bytes()).ok()?;
            }
            Reaction::Drop => {
                stream.write_all(b"HTTP/1.1 2").ok()?;
                return None;
            }
            Reaction::Hang => {
                let _gone = reader.read(&mut [0; 1]);
                return None;
            }
        }
    }
}

/// A cluster with Pods, and a configuration with one sink.
struct Setup {
    cluster: Cluster,
    folder: PathBuf,
}

impl Setup {
    async fn start() -> Setup {
        let cluster = Cluster::start().await;
        let port = cluster.sandbox.address().port();
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("hooks-{port}"));
        let _none = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("key"), "secret\n").unwrap();
        Setup { cluster, folder }
    }

    fn path(&self) -> String {
        self.folder.join("serve.yaml").to_str().unwrap().to_owned()
    }

    /// Writes the configuration: a sink at this port, with more lines.
    fn configure(&self, port: u16, lines: &[&str]) {
        let mut text = format!(
            "outbox: outbox\nsinks:\n- name: ops\n  webhook: http://127.0.0.1:{port}/hook\n  hmacFile: key\n"
        );
        for line in lines {
            text.extend(["  ", line, "\n"]);
        }
        fs::write(self.path(), text).unwrap();
    }

    fn spy(&self) -> Spy {
        self.cluster.spy()
    }

    fn serve(&self) -> Served {
        Served::start(&self.spy(), &["pods", "-f", &self.path()])
    }

    fn put(&self, name: &str) {
        self.cluster.put(pod(name, &json!({})));
        self.set(name, "False");
    }

    /// Lets a Pod be ready (`True`), and so Current, or not (`False`), and so `InProgress`.
    fn set(&self, name: &str, ready: &str) {
        let condition = json!({"type": "Ready", "status": ready});
        let status = json!({"phase": "Running", "conditions": [condition]});
        self.cluster.report("pods", name, &status);
    }
}

impl Drop for Setup {
    fn drop(&mut self) {
        let _gone = fs::remove_dir_all(&self.folder);
    }
}

const BOTH: &str = "when: {to: [Current, InProgress, NotFound]}";

fn lag(served: &Served, count: u64) {
    let sample = format!("spy_sink_lag{{sink=\"ops\"}} {count}\n");
    served.until("/metrics", |reply: &Reply| reply.body.contains(&sample));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_state_is_sent_with_a_signature() {
    let setup = Setup::start().await;
    let hook = Hook::listen(&[]);
    setup.configure(hook.port, &[BOTH]);
    setup.put("web");
    let served = setup.serve();
    setup.set("web", "True");
    let message = hook.next();
    assert_eq!(message.change(), "web InProgress>Current");
    assert!(
        message.head.starts_with("POST /hook HTTP/1.1\r\n"),
        "{}",
        message.head
    );
    assert_eq!(message.header("content-type"), "application/json");
    let record = Schema::of("transition").check(&message.body);
    let id = message.header("webhook-id");
    assert_eq!(record["id"], id);
    let signed = format!(
        "{id}.{}.{}",
        message.header("webhook-timestamp"),
        message.body
    );
    let signature = message
        .header("webhook-signature")
        .strip_prefix("v1,")
        .unwrap();
    let key = hmac::Key::new(hmac::HMAC_SHA256, b"secret");
    let signature = STANDARD.decode(signature).unwrap();
    hmac::verify(&key, signed.as_bytes(), &signature).unwrap();
    // The record is the one that readers of events get.
    lag(&served, 0);
    let status: Value = serde_json::from_str(served.get("/spy/v1/status").body.trim()).unwrap();
    assert_eq!(record["object"]["ref"], status["ref"]);
    // The cluster still gets only reads.
    let requests = setup.cluster.sandbox.requests();
    assert!(requests.iter().all(|request| request.method == "GET"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_fails_in_every_way_gets_every_message_in_order() {
    let setup = Setup::start().await;
    let hook = Hook::listen(&[
        Reaction::Answer(500, ""),
        Reaction::Drop,
        Reaction::Hang,
        Reaction::Answer(302, "Location: http://127.0.0.1:1/\r\n"),
        Reaction::Answer(429, "Retry-After: 1\r\n"),
        Reaction::Answer(200, ""),
        Reaction::Answer(503, ""),
    ]);
    // At first, nobody listens there.
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = nobody.local_addr().unwrap().port();
    drop(nobody);
    setup.configure(closed, &[BOTH, "timeout: 500ms"]);
    setup.put("web");
    let mut served = setup.serve();
    setup.set("web", "True");
    served.running.until("refused");
    lag(&served, 1);
    setup.set("web", "False");
    lag(&served, 2);
    setup.cluster.delete("pods", "web");
    lag(&served, 3);
    setup.configure(hook.port, &[BOTH, "timeout: 500ms"]);
    served.running.hang_up();
    let mut ids = BTreeMap::new();
    let mut taken = Vec::new();
    while taken.len() < 3 {
        let message = hook.next();
        // Each attempt has the id of its change.
        let id = message.header("webhook-id").to_owned();
        assert_eq!(ids.entry(message.change()).or_insert(id.clone()), &id);
        if message.is_taken() {
            taken.push(message.change());
        }
    }
    assert_eq!(
        taken,
        [
            "web InProgress>Current",
            "web Current>InProgress",
            "web InProgress>NotFound"
        ]
    );
    lag(&served, 0);
    let metrics = served.get("/metrics").body;
    assert!(
        metrics.contains("spy_sink_delivered_total{sink=\"ops\"} 3\n"),
        "{metrics}"
    );
    // A cause that comes after another one is told, too.
    served.running.until("429");
    served.running.until("messages are delivered again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_the_receiver_refuses_is_skipped_and_said() {
    let setup = Setup::start().await;
    let hook = Hook::listen(&[Reaction::Answer(422, "")]);
    setup.configure(hook.port, &[BOTH, "text: \"{{ref}} {{from}} → {{to}}\""]);
    setup.put("web");
    let mut served = setup.serve();
    setup.set("web", "True");
    served.running.until("the receiver refuses message");
    setup.set("web", "False");
    let bodies = [hook.next().body, hook.next().body];
    assert_eq!(
        bodies,
        [
            r#"{"text":"pod/web -n shop InProgress → Current"}"#,
            r#"{"text":"pod/web -n shop Current → InProgress"}"#
        ]
    );
    let metrics = served.until("/metrics", |reply| {
        reply
            .body
            .contains("spy_sink_delivered_total{sink=\"ops\"} 1\n")
    });
    assert!(
        metrics
            .body
            .contains("spy_sink_refused_total{sink=\"ops\"} 1\n")
    );
}

/// The law: of each object, the receiver gets a chain of changes to its last state, whenever the program is killed.
/// Brings states up to date with the messages that were taken. Each goes on from the one before, and may come twice.
fn replay(taken: &[Message], states: &mut BTreeMap<&str, String>) {
    let mut last: BTreeMap<String, String> = BTreeMap::new();
    for message in taken.iter().filter(|message| message.is_taken()) {
        let record = message.record();
        let name = record["object"]["ref"]["name"].as_str().unwrap();
        let id = record["id"].as_str().unwrap().to_owned();
        if last.get(name) == Some(&id) {
            continue;
        }
        last.insert(name.to_owned(), id);
        let state = states.get_mut(name).unwrap();
        assert_eq!(record["from"], *state, "{}", message.body);
        record["to"].as_str().unwrap().clone_into(state);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_change_is_lost_when_serve_is_killed() {
    let setup = Setup::start().await;
    let hook = Hook::listen(&[]);
    setup.configure(hook.port, &[BOTH]);
    for name in ["a", "b", "c"] {
        setup.put(name);
    }
    let mut served = setup.serve();
    // Now the first states are in the outbox: a change is one from them.
    setup.set("c", "True");
    assert_eq!(hook.next().change(), "c InProgress>Current");
    let mut rng = fastrand::Rng::with_seed(7);
    let mut ready = BTreeMap::from([("a", false), ("b", false)]);
    let mut taken: Vec<Message> = Vec::new();
    for round in 0..8 {
        let mut script = hook.script.lock().unwrap();
        let failure = [
            Reaction::Answer(500, ""),
            Reaction::Drop,
            Reaction::Answer(200, ""),
        ];
        script.push_back(failure[round % 3]);
        drop(script);
        for _ in 0..rng.usize(1..5) {
            let name = if rng.bool() { "a" } else { "b" };
            let is_ready = !ready[name];
            ready.insert(name, is_ready);
            setup.set(name, if is_ready { "True" } else { "False" });
        }
        // It is killed before, within and after deliveries. Changes that lead back are none.
        let patience = Duration::from_millis(rng.u64(0..400));
        taken.extend(hook.messages.recv_timeout(patience));
        let ran = served.running.signal("KILL");
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        served = setup.serve();
    }
    // The states of the others are compared before this one, or with it.
    setup.set("c", "False");
    while !taken
        .iter()
        .any(|message| message.change() == "c Current>InProgress")
    {
        taken.push(hook.next());
    }
    lag(&served, 0);
    taken.extend(hook.messages.try_iter());
    let mut states = BTreeMap::from([
        ("a", "InProgress".to_owned()),
        ("b", "InProgress".to_owned()),
        ("c", "Current".to_owned()),
    ]);
    replay(&taken, &mut states);
    for (name, is_ready) in ready {
        let state = if is_ready { "Current" } else { "InProgress" };
        assert_eq!(states[name], state, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_does_not_last_is_not_sent_and_the_time_goes_on_while_serve_is_down() {
    let setup = Setup::start().await;
    let hook = Hook::listen(&[]);
    setup.configure(hook.port, &["when: {to: [Current, InProgress], for: 1h}"]);
    setup.put("a");
    setup.put("b");
    let served = setup.serve();
    setup.set("a", "True");
    lag(&served, 1);
    // Back within the hour: nothing has changed.
    setup.set("a", "False");
    lag(&served, 0);
    setup.set("b", "True");
    lag(&served, 1);
    drop(served.running.signal("KILL"));
    let later = setup.spy().var("KUBECTL_SPY_NOW", "2026-03-02T14:05:00Z");
    let served = Served::start(&later, &["pods", "-f", &setup.path()]);
    assert_eq!(hook.changes(1), ["b InProgress>Current"]);
    lag(&served, 0);
}

/// What happened while nobody looked is one change: an object that changed, one that is gone, and one that is new.
#[tokio::test(flavor = "multi_thread")]
async fn changes_while_serve_is_down_are_sent_at_its_next_start() {
    let setup = Setup::start().await;
    let hook = Hook::listen(&[]);
    setup.configure(hook.port, &[BOTH]);
    for name in ["changes", "goes", "stays"] {
        setup.put(name);
    }
    let served = setup.serve();
    drop(served.running.signal("KILL"));
    setup.set("changes", "True");
    setup.cluster.delete("pods", "goes");
    setup.cluster.tick(600);
    setup.put("comes");
    let served = setup.serve();
    let mut changes = hook.changes(3);
    changes.sort();
    assert_eq!(
        changes,
        [
            "changes InProgress>Current",
            "comes new>InProgress",
            "goes InProgress>NotFound"
        ]
    );
    lag(&served, 0);
    drop(served.running.signal("KILL"));
    let served = setup.serve();
    lag(&served, 0);
    setup.set("stays", "True");
    assert_eq!(hook.next_taken().change(), "stays InProgress>Current");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_configuration_changes_nothing_and_two_servers_need_two_outboxes() {
    let setup = Setup::start().await;
    let hook = Hook::listen(&[]);
    setup.configure(hook.port, &["wen: {}"]);
    let ran = setup.spy().run(&[
        "serve",
        "pods",
        "-f",
        &setup.path(),
        "--listen",
        "127.0.0.1:0",
    ]);
    assert_eq!(ran.status.code(), Some(1));
    let path = setup.path();
    assert_eq!(
        ran.stderr,
        format!("error: {path}:6: unknown key \"wen\"\nhint: did you mean \"when\"?\n")
    );
    setup.configure(hook.port, &[BOTH]);
    setup.put("web");
    let mut served = setup.serve();
    setup.configure(hook.port, &["wen: {}"]);
    served.running.hang_up();
    served
        .running
        .until("did you mean \"when\"?; the old one stays");
    setup.set("web", "True");
    assert_eq!(hook.next().change(), "web InProgress>Current");
    setup.configure(hook.port, &[BOTH]);
    let ran = setup
        .spy()
        .run(&["serve", "pods", "-f", &path, "--listen", "127.0.0.1:0"]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(
        ran.stderr
            .contains("in use by another kubectl spy serve\nhint: name another file"),
        "{}",
        ran.stderr
    );
}

/// The kinds that are followed are those of the configuration. Its line is named at the start, and when it is read again.
#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_kind_is_an_error_of_its_line() {
    let setup = Setup::start().await;
    let path = setup.path();
    let wrong = "kinds:\n- po\n- depoly\n";
    std::fs::write(&path, wrong).unwrap();
    let error = format!(
        "error: {path}:3: the server doesn't have a resource type \"depoly\"\nhint: did you mean deploy, deployment, deployments?\n"
    );
    for print in [&[][..], &["--print-manifest", "--tls-secret=tls"]] {
        let ran = setup.spy().run(&[&["serve", "-f", &path], print].concat());
        assert_eq!((ran.status.code(), &*ran.stderr), (Some(1), &*error));
    }
    std::fs::write(&path, "kinds: [po]\noutbox: outbox\n").unwrap();
    let mut served = Served::start(&setup.spy(), &["-f", &path]);
    std::fs::write(&path, wrong).unwrap();
    served.running.hang_up();
    served
        .running
        .until(":3: the server doesn't have a resource type \"depoly\"; hint: did you mean deploy");
}

/// A type that the cluster does not serve is an error at the start, and when the configuration is read again.
#[tokio::test(flavor = "multi_thread")]
async fn a_sink_names_types_that_the_cluster_serves() {
    let setup = Setup::start().await;
    let hook = Hook::listen(&[]);
    setup.configure(hook.port, &["when:", "  kind: [po, depoly]"]);
    let path = setup.path();
    let ran = setup.spy().run(&["serve", "pods", "-f", &path]);
    let error = format!(
        "error: {path}:7: the server doesn't have a resource type \"depoly\"\nhint: did you mean deploy, deployment, deployments?\n"
    );
    assert_eq!((ran.status.code(), &*ran.stderr), (Some(1), &*error));
    setup.configure(
        hook.port,
        &["when: {to: [Current], kind: [po, deployments.apps]}"],
    );
    setup.put("web");
    let mut served = setup.serve();
    setup.configure(hook.port, &["when: {kind: [depoly]}"]);
    served.running.hang_up();
    served
        .running
        .until("did you mean deploy, deployment, deployments?; the old one stays");
    setup.set("web", "True");
    assert_eq!(hook.next().change(), "web InProgress>Current");
}
