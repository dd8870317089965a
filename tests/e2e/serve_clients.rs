//! `serve` for programs: real clients on `--api=kubernetes`, which are kubectl and client-go's informers through a restart, and the
//! objects of `--print-manifest`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::controlplane::{ControlPlane, kubectl};
use super::support::{Running, Spy};

/// No working run takes this long.
const PATIENCE: Duration = Duration::from_secs(90);

/// The server, at an address that stays when it is started again, and a reader with rights of his own.
struct Served<'p> {
    plane: &'p ControlPlane,
    port: u16,
    kubeconfig: PathBuf,
    running: Option<Running>,
}

impl<'p> Served<'p> {
    fn start(plane: &'p ControlPlane, name: &str) -> Served<'p> {
        plane.kubectl(&["create", "namespace", name]);
        plane.kubectl(&["create", "serviceaccount", "reader", "-n", name]);
        let (binding, subject) = (
            format!("{name}-reads"),
            format!("--serviceaccount={name}:reader"),
        );
        let role = "--clusterrole=view";
        plane.kubectl(&["create", "clusterrolebinding", &binding, role, &subject]);
        let token = plane.kubectl(&["create", "token", "reader", "-n", name, "--duration=2h"]);
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let address = format!("127.0.0.1:{port}");
        let kubeconfig = kubeconfig(&address, token.trim(), name);
        let mut served = Served {
            plane,
            port,
            kubeconfig,
            running: None,
        };
        served.start_again();
        served
    }

    /// Starts the server, and waits until it answers from memory.
    fn start_again(&mut self) {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/serve/testdata");
        let file = |name: &str| data.join(name).to_str().unwrap().to_owned();
        let args = [
            "serve".to_owned(),
            "cm,deploy,po".to_owned(),
            "-A".to_owned(),
            "--api=kubernetes".to_owned(),
            "--auth=kube".to_owned(),
            "--no-store".to_owned(),
            format!("--listen=127.0.0.1:{}", self.port),
            format!("--tls-cert={}", file("one.crt")),
            format!("--tls-key={}", file("one.key")),
        ];
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut running = Spy::with_kubeconfig(self.plane.admin()).start(&args);
        running.until("https://");
        self.running = Some(running);
        let deadline = Instant::now() + PATIENCE;
        while !self.kubectl(&["get", "--raw", "/readyz"]).status.success() {
            assert!(Instant::now() < deadline, "it does not become ready");
        }
    }

    fn kill(&mut self) {
        self.running.take().unwrap().signal("KILL");
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(kubectl());
        command
            .args(args)
            .env_clear()
            .env("KUBECONFIG", &self.kubeconfig)
            .env("HOME", env!("CARGO_TARGET_TMPDIR"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs kubectl as the reader, against the server.
    fn kubectl(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// The output of kubectl, which must succeed.
    fn shown(&self, args: &[&str]) -> String {
        let output = self.kubectl(args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "kubectl {args:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }
}

/// A kubeconfig for the owner of a token, in this namespace.
fn kubeconfig(server: &str, token: &str, namespace: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{namespace}-client.yaml"));
    let text = format!(
        "{{apiVersion: v1, kind: Config, current-context: x, \
         clusters: [{{name: x, cluster: {{server: 'https://{server}', insecure-skip-tls-verify: true}}}}], \
         users: [{{name: x, user: {{token: {token}}}}}], \
         contexts: [{{name: x, context: {{cluster: x, user: x, namespace: {namespace}}}}}]}}"
    );
    std::fs::write(&path, text).unwrap();
    path
}

/// A program whose lines are read while it runs. Dropping it ends the process.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Client {
    fn start(mut command: Command) -> Client {
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines() {
                if send.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        Client {
            input: child.stdin.take(),
            child,
            lines,
        }
    }

    /// All lines up to one for which `holds` is true, with that one.
    fn until(&self, what: &str, holds: impl Fn(&str) -> bool) -> Vec<String> {
        let deadline = Instant::now() + PATIENCE;
        let mut lines: Vec<String> = Vec::new();
        while !lines.last().is_some_and(|line| holds(line)) {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            lines.push(line.unwrap_or_else(|_| panic!("no line with {what}: {lines:#?}")));
        }
        lines
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _has_ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// Names, uids and resource versions of the objects of a type, as the API server has them.
fn truth(plane: &ControlPlane, namespace: &str, resource: &str) -> BTreeSet<String> {
    let list = plane.kubectl(&["get", resource, "-n", namespace, "-o", "json"]);
    let list: Value = serde_json::from_str(&list).unwrap();
    let items = list["items"].as_array().unwrap().iter();
    items
        .map(|item| {
            let text = |field: &str| item["metadata"][field].as_str().unwrap();
            format!(
                "{resource} {} {} {}",
                text("name"),
                text("uid"),
                text("resourceVersion")
            )
        })
        .collect()
}

/// client-go's informers.
struct Informer {
    client: Client,
    /// The lines of its event handlers.
    events: Vec<String>,
}

impl Informer {
    fn start(served: &Served<'_>, namespace: &str) -> Informer {
        let program = kubectl().with_file_name("informer");
        let mut command = Command::new(program);
        command
            .arg(namespace)
            .env_clear()
            .env("KUBECONFIG", &served.kubeconfig)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let client = Client::start(command);
        let events = client.until("the end of the first list", |line| line == "synced");
        Informer { client, events }
    }

    /// What is in the caches now.
    fn cached(&mut self) -> BTreeSet<String> {
        let input = self.client.input.as_mut().unwrap();
        input.write_all(b"?\n").unwrap();
        let lines = self
            .client
            .until("the end of the cache", |line| line == "end");
        let (cached, events): (Vec<_>, Vec<_>) =
            lines.into_iter().partition(|line| line.starts_with("HAS "));
        self.events.extend(events);
        let cached = cached.iter().filter_map(|line| line.strip_prefix("HAS "));
        cached.map(str::to_owned).collect()
    }

    /// Waits until the caches are exactly what the API server has.
    fn until_equal(&mut self, plane: &ControlPlane, namespace: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let mut expect = truth(plane, namespace, "configmaps");
            expect.extend(truth(plane, namespace, "deployments"));
            let cached = self.cached();
            if cached == expect {
                return;
            }
            assert!(Instant::now() < deadline, "{cached:#?} is not {expect:#?}");
        }
    }

    /// The versions of an object that the handlers got, in their order.
    fn versions(&self, named: &str) -> Vec<&str> {
        let words = self.events.iter().map(|line| line.split(' ').collect());
        let of_object = words.filter(|words: &Vec<&str>| words.get(2) == Some(&named));
        of_object.map(|words| words[4]).collect()
    }
}

fn config_maps(names: impl IntoIterator<Item = u32>) -> String {
    let mut text = String::new();
    for name in names {
        let _infallible = write!(
            text,
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m{name}, labels: {{tier: web}}}}\ndata: {{n: '0'}}\n"
        );
    }
    text
}

/// The resource version after a write.
fn patched(plane: &ControlPlane, namespace: &str, name: &str, value: u32) -> String {
    let patch = format!("{{\"data\":{{\"n\":\"{value}\"}}}}");
    let version = "-o=jsonpath={.metadata.resourceVersion}";
    plane.kubectl(&["patch", "cm", name, "-n", namespace, "-p", &patch, version])
}

#[test]
fn an_informer_has_what_the_api_server_has_through_a_restart() {
    let namespace = "informed";
    let plane = ControlPlane::start("serve-informer");
    let mut served = Served::start(&plane, namespace);
    plane.kubectl_with(&config_maps(0..20), &["apply", "-n", namespace, "-f", "-"]);
    let mut informer = Informer::start(&served, namespace);
    informer.until_equal(&plane, namespace);
    // Each version of a quiet time arrives once, in order.
    let written: Vec<String> = (1..=10)
        .map(|value| patched(&plane, namespace, "m3", value))
        .collect();
    plane.kubectl(&[
        "create",
        "deployment",
        "web",
        "--image=web:1",
        "-n",
        namespace,
    ]);
    plane.kubectl(&["delete", "cm", "m4", "-n", namespace]);
    informer.until_equal(&plane, namespace);
    assert_eq!(informer.versions("m3")[1..], written);
    assert_eq!(informer.versions("m4").len(), 2);
    // The server is away while objects come, change, go and come again.
    served.kill();
    patched(&plane, namespace, "m5", 1);
    plane.kubectl(&["delete", "cm", "m6", "m7", "-n", namespace]);
    plane.kubectl_with(
        &config_maps([7, 30]),
        &["apply", "-n", namespace, "-f", "-"],
    );
    served.start_again();
    informer.until_equal(&plane, namespace);
    // It follows again.
    let written = patched(&plane, namespace, "m30", 2);
    plane.kubectl(&["delete", "deployment", "web", "-n", namespace]);
    informer.until_equal(&plane, namespace);
    assert_eq!(informer.versions("m30").last(), Some(&&*written));
    let mut of_m7: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in informer.events.iter().filter(|line| line.contains(" m7 ")) {
        let words: Vec<&str> = line.split(' ').collect();
        of_m7.entry(words[3]).or_default().push(words[0]);
    }
    assert_eq!(of_m7.len(), 2, "both objects of this name: {of_m7:?}");
}

/// Waits until kubectl prints the same from the server and from the API server.
fn until_equal(served: &Served<'_>, namespace: &str, args: &[&str]) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        // An age may change between the two.
        let direct = served.plane.kubectl(&[args, &["-n", namespace]].concat());
        let shown = served.shown(args);
        if shown == direct {
            return;
        }
        assert!(
            Instant::now() < deadline,
            "{args:?}: {shown} is not {direct}"
        );
    }
}

/// Several watches of kubectl, of which each must see each change.
fn watch_changes(served: &Served<'_>, namespace: &str) {
    let plane = served.plane;
    let events = ["-w", "--output-watch-events"];
    let is_event = |line: &str, kind: &str| {
        line.contains(kind) && (line.contains("m1") || line.contains("\"type\""))
    };
    let watches: Vec<Client> = [
        &["get", "cm"][..],
        &["get", "cm"],
        &["get", "cm", "-o", "wide"],
        // From memory; kubectl wants tables of the others.
        &["get", "cm", "m1", "-o", "json"],
        &["get", "cm", "-l", "tier=web"],
    ]
    .into_iter()
    .map(|args| {
        let watch = Client::start(served.command(&[args, &events].concat()));
        watch.until("the list", |line| is_event(line, "ADDED"));
        watch
    })
    .collect();
    for value in 1..=5 {
        patched(plane, namespace, "m1", value);
        for watch in &watches {
            watch.until("the change", |line| is_event(line, "MODIFIED"));
        }
    }
    plane.kubectl(&["label", "cm", "m1", "tier-", "-n", namespace]);
    watches[4].until("that it no longer matches", |line| {
        is_event(line, "DELETED")
    });
    plane.kubectl(&["delete", "cm", "m1", "-n", namespace]);
    for watch in &watches[..4] {
        watch.until("the deletion", |line| is_event(line, "DELETED"));
    }
}

#[test]
fn kubectl_works_on_the_server() {
    let namespace = "looked-at";
    let plane = ControlPlane::start("serve-kubectl");
    let served = Served::start(&plane, namespace);
    let create = [
        "create",
        "deployment",
        "web",
        "--image=web:1",
        "--replicas=2",
    ];
    plane.kubectl(&[&create[..], &["-n", namespace]].concat());
    plane.kubectl_with(&config_maps(0..3), &["apply", "-n", namespace, "-f", "-"]);
    let available = [
        "wait",
        "--for=condition=Available",
        "deploy/web",
        "--timeout=60s",
    ];
    assert!(served.shown(&available).contains("condition met"));
    for args in [
        &["get", "cm", "-o", "name"][..],
        &["get", "cm", "-l", "tier=web", "-o", "name"],
        &["get", "cm", "m1", "-o", "jsonpath={.data.n}"],
        &["get", "cm"],
        &["get", "deploy", "web", "-o", "yaml"],
        &["get", "deploy,po", "-o", "name"],
        &["describe", "cm", "m1"],
    ] {
        until_equal(&served, namespace, args);
    }
    let described = served.shown(&["describe", "deploy", "web"]);
    assert!(described.contains("web:1"), "{described}");
    let refused = served.kubectl(&["delete", "cm", "m0"]);
    assert!(!refused.status.success() && refused.stdout.is_empty());
    watch_changes(&served, namespace);
    let rollout = ["rollout", "status", "deploy/web", "--timeout=60s"];
    assert!(served.shown(&rollout).contains("successfully rolled out"));
    plane.kubectl(&["set", "image", "deploy/web", "web=web:2", "-n", namespace]);
    assert!(served.shown(&rollout).contains("successfully rolled out"));
    let wait = ["wait", "--for=delete", "deploy/web", "--timeout=60s"];
    let waiting = served.command(&wait).spawn().unwrap();
    plane.kubectl(&["delete", "deploy", "web", "-n", namespace]);
    let waited = waiting.wait_with_output().unwrap();
    assert!(waited.status.success(), "{waited:?}");
}

/// What a server with its token in the address answers.
fn get(address: &str, path: &str) -> String {
    let (host, token) = address.split_once("/?t=").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Waits until the server reads what decides and explains the state of a Deployment. No source may be refused.
fn until_read(address: &str) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let answer = get(address, "/spy/v1/watches");
        let lines = answer.lines().filter(|line| line.starts_with('{'));
        let watches: Vec<Value> = lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert!(
            watches.iter().all(|it| it["state"] != "forbidden"),
            "{watches:#?}"
        );
        let is_live = |resource: &str| {
            let mut of_resource = watches.iter().filter(|it| it["resource"] == resource);
            of_resource.any(|it| it["state"] == "live")
        };
        let needed = [
            "configmaps",
            "deployments.apps",
            "replicasets.apps",
            "pods",
            "events",
        ];
        if needed.into_iter().all(is_live) {
            return;
        }
        assert!(Instant::now() < deadline, "{watches:#?}");
    }
}

#[test]
fn the_manifest_is_accepted_and_its_account_has_the_rights_of_the_server() {
    let namespace = "in-cluster";
    let plane = ControlPlane::start("serve-manifest");
    plane.kubectl(&["create", "namespace", namespace]);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let config = folder.join("serve-manifest.yaml");
    std::fs::write(&config, "kinds: [deploy, cm, svc]\n").unwrap();
    let config = config.to_str().unwrap();
    let print = [
        "serve",
        "-A",
        "-n",
        namespace,
        "-f",
        config,
        "--print-manifest",
    ];
    let secret = "--tls-secret=spy-tls";
    let ran = Spy::with_kubeconfig(plane.admin()).run(&[&print[..], &[secret]].concat());
    assert!(ran.status.success(), "{}", ran.transcript());
    plane.apply(&ran.stdout);
    let account = "kubectl-spy-serve";
    plane.kubectl(&["get", "deploy,svc,cm,pvc,sa", account, "-n", namespace]);
    let token = plane.kubectl(&["create", "token", account, "-n", namespace]);
    let server = plane.api_server().to_string();
    let kubeconfig = kubeconfig(&server, token.trim(), namespace);
    let of_account = Spy::with_kubeconfig(kubeconfig.to_str().unwrap());
    let args = [
        "serve",
        "deploy,cm,svc",
        "-A",
        "--no-store",
        "--listen=127.0.0.1:0",
    ];
    let mut running = of_account.start(&args);
    let line = running.until_where("the address", |line| line.starts_with("http://"));
    let address = line.trim_start_matches("http://");
    // The Pods and ReplicaSets of a Deployment decide its state, and their Events explain it.
    let create = ["create", "deployment", "web", "--image=web:1"];
    plane.kubectl(&[&create[..], &["-n", namespace]].concat());
    until_read(address);
}
