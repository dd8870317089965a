//! A law of `serve --auth=kube`: a reader sees no object that `kubectl --token` could not list for him, whatever the roles are.
//!
//! Random roles and objects are written to a control plane. Every name is unique, so a name that a reader may not list is searched
//! for in everything that he gets. A failure prints the seed: `SPY_READERS_SEED=17 cargo test --test e2e a_reader` repeats it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use fastrand::Rng;

use super::controlplane::{ControlPlane, kubectl};
use super::support::{Running, Spy};

const NAMESPACES: [&str; 3] = ["ns-a", "ns-b", "ns-c"];

/// The followed kinds, as kubectl and roles name them.
const KINDS: [&str; 4] = ["configmaps", "secrets", "pods", "deployments"];

const READERS: usize = 5;

/// How long a stream may go on with a right that is gone: half a minute, and time for a busy machine.
const NARROWED: Duration = Duration::from_secs(60);

/// An object with a name of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Named {
    kind: &'static str,
    namespace: &'static str,
    name: String,
}

impl Named {
    fn manifest(&self, config: &str) -> String {
        let (namespace, name) = (self.namespace, &self.name);
        let metadata = format!("metadata: {{name: {name}, namespace: {namespace}}}");
        let containers = format!(
            "containers: [{{name: app, image: app, envFrom: [{{configMapRef: {{name: {config}}}}}]}}]"
        );
        match self.kind {
            "configmaps" => format!("apiVersion: v1\nkind: ConfigMap\n{metadata}\n"),
            "secrets" => format!("apiVersion: v1\nkind: Secret\n{metadata}\n"),
            "pods" => format!("apiVersion: v1\nkind: Pod\n{metadata}\nspec: {{{containers}}}\n"),
            _ => format!(
                "apiVersion: apps/v1\nkind: Deployment\n{metadata}\nspec: {{replicas: 0, selector: {{matchLabels: {{a: {name}}}}}, \
                 template: {{metadata: {{labels: {{a: {name}}}}}, spec: {{{containers}}}}}}}\n"
            ),
        }
    }
}

/// What the readers may list, as a role each.
fn roles(random: &mut Rng) -> String {
    let mut text = String::new();
    for reader in 0..READERS {
        for kind in KINDS {
            let subject =
                format!("subjects: [{{kind: ServiceAccount, name: r{reader}, namespace: ns-a}}]");
            let group = if kind == "deployments" { "apps" } else { "''" };
            let rules = format!(
                "rules: [{{apiGroups: [{group}], resources: [{kind}], verbs: [list, watch, get]}}]"
            );
            let api = "apiVersion: rbac.authorization.k8s.io/v1";
            let name = format!("r{reader}-{kind}");
            let role = |of: &str| {
                format!(
                    "roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: {of}, name: {name}}}"
                )
            };
            let mut add = |kind: &str, place: &str, rest: &str| {
                let metadata = format!("metadata: {{name: {name}{place}}}");
                let _infallible = write!(text, "---\n{api}\nkind: {kind}\n{metadata}\n{rest}\n");
            };
            match random.u8(0..4) {
                0 => {
                    add("ClusterRole", "", &rules);
                    add(
                        "ClusterRoleBinding",
                        "",
                        &format!("{}\n{subject}", role("ClusterRole")),
                    );
                }
                1 => {
                    // A right to get by name alone is none to list.
                    let named = rules.replace("verbs: [list, watch, get]", "verbs: [get]");
                    add("ClusterRole", "", &named);
                    add(
                        "ClusterRoleBinding",
                        "",
                        &format!("{}\n{subject}", role("ClusterRole")),
                    );
                }
                2 => {
                    let place = format!(", namespace: {}", NAMESPACES[random.usize(0..3)]);
                    add("Role", &place, &rules);
                    add(
                        "RoleBinding",
                        &place,
                        &format!("{}\n{subject}", role("Role")),
                    );
                }
                _ => {}
            }
        }
    }
    text
}

/// The server, as readers reach it.
struct Served {
    _running: Running,
    address: String,
}

impl Served {
    fn start(plane: &ControlPlane) -> Served {
        let kinds = KINDS.join(",");
        let args = ["serve", "-A", "--auth=kube", "--listen=127.0.0.1:0", &kinds];
        let mut running = Spy::with_kubeconfig(plane.admin()).start(&args);
        let line = running.until_where("the address", |line| line.starts_with("http://"));
        let address = line.trim_start_matches("http://").trim_end_matches('/');
        let served = Served {
            address: address.to_owned(),
            _running: running,
        };
        let deadline = Instant::now() + NARROWED;
        while !served.get("/readyz", "none").starts_with("HTTP/1.1 200") {
            assert!(Instant::now() < deadline, "it does not become ready");
        }
        served
    }

    fn send(&self, path: &str, token: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(NARROWED)).unwrap();
        let host = &self.address;
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream
    }

    fn get(&self, path: &str, token: &str) -> String {
        let mut text = String::new();
        self.send(path, token).read_to_string(&mut text).unwrap();
        text
    }
}

/// kubectl as a reader: without the credentials of the admin.
struct Reader {
    kubeconfig: PathBuf,
    token: String,
}

impl Reader {
    fn new(plane: &ControlPlane, name: &str) -> Reader {
        let token = plane.kubectl(&["create", "token", name, "-n", "ns-a"]);
        let token = token.trim().to_owned();
        let server = plane.api_server();
        // Two tests at a time have readers of the same names.
        let file = format!("reader-{}-{name}.yaml", server.port());
        let kubeconfig = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(file);
        let text = format!(
            "{{apiVersion: v1, kind: Config, current-context: x, \
             clusters: [{{name: x, cluster: {{server: 'https://{server}', insecure-skip-tls-verify: true}}}}], \
             users: [{{name: x, user: {{token: {token}}}}}], contexts: [{{name: x, context: {{cluster: x, user: x}}}}]}}"
        );
        std::fs::write(&kubeconfig, text).unwrap();
        Reader { kubeconfig, token }
    }

    /// The names that kubectl lists for the reader.
    fn listed(&self, kind: &str, namespace: &str) -> BTreeSet<String> {
        let ran = Command::new(kubectl())
            .env("KUBECONFIG", &self.kubeconfig)
            .args(["get", kind, "-n", namespace, "-o", "name"])
            .output()
            .unwrap();
        let error = String::from_utf8(ran.stderr).unwrap();
        // Any other failure would look like a right that is missing.
        let is_answer = ran.status.success() || error.contains("(Forbidden)");
        assert!(is_answer, "kubectl get {kind} -n {namespace}: {error}");
        let text = String::from_utf8(ran.stdout).unwrap();
        let names = text.lines().filter_map(|line| line.split_once('/'));
        names.map(|(_, name)| name.to_owned()).collect()
    }
}

/// Makes Namespaces, 40 random objects, the service accounts of the readers and random roles for them; returns the objects.
fn populate(plane: &ControlPlane, random: &mut Rng) -> Vec<Named> {
    for namespace in NAMESPACES {
        plane.kubectl(&["create", "namespace", namespace]);
    }
    let mut objects = Vec::new();
    let mut manifests = String::new();
    for number in 0..40 {
        let object = Named {
            kind: KINDS[random.usize(0..KINDS.len())],
            namespace: NAMESPACES[random.usize(0..3)],
            name: format!("q{number}z{:06x}", random.u32(0..1 << 24)),
        };
        // What a Pod needs is of any sort: visible or not, there or not.
        let config = format!("q{}znone", random.u8(0..40));
        let _infallible = write!(manifests, "---\n{}", object.manifest(&config));
        objects.push(object);
    }
    for reader in 0..READERS {
        let name = format!("r{reader}");
        plane.kubectl(&["create", "serviceaccount", &name, "-n", "ns-a"]);
    }
    plane.apply(&manifests);
    plane.apply(&roles(random));
    objects
}

/// Which objects kubectl lists for a reader, and which it does not.
fn shown_and_hidden<'o>(objects: &'o [Named], reader: &Reader) -> (Vec<&'o Named>, Vec<&'o Named>) {
    let mut listed = BTreeSet::new();
    for kind in KINDS {
        for namespace in NAMESPACES {
            let names = reader.listed(kind, namespace);
            listed.extend(names.into_iter().map(|name| (kind, namespace, name)));
        }
    }
    objects
        .iter()
        .partition(|it| listed.contains(&(it.kind, it.namespace, it.name.clone())))
}

#[test]
fn a_reader_sees_no_object_that_kubectl_could_not_list() {
    let seed = std::env::var("SPY_READERS_SEED").ok();
    let seed = seed.map_or(1, |text| text.parse().unwrap());
    let plane = ControlPlane::start("serve-readers");
    let objects = populate(&plane, &mut Rng::with_seed(seed));
    let served = Served::start(&plane);
    let mut seen_by_some = 0;
    for number in 0..READERS {
        let reader = Reader::new(&plane, &format!("r{number}"));
        let (shown, hidden) = shown_and_hidden(&objects, &reader);
        for object in &shown {
            let path = format!("/spy/v1/status?namespace={}", object.namespace);
            let status = served.get(&path, &reader.token);
            let is_there = status.contains(&format!("\"name\":\"{}\"", object.name));
            assert!(is_there, "seed {seed}: r{number} misses {object:?}");
        }
        seen_by_some += shown.len();
        for path in [
            "/spy/v1/status",
            "/spy/v1/status?explain",
            "/",
            "/?state=Current",
            "/?state=InProgress",
            "/?q=q",
            "/metrics",
        ] {
            let text = served.get(path, &reader.token);
            let is_answer = text.starts_with("HTTP/1.1 200");
            assert!(is_answer, "seed {seed}: {path}: {text}");
            for object in &hidden {
                let is_there = text.contains(&object.name);
                assert!(
                    !is_there,
                    "seed {seed}: r{number} sees {object:?} at {path}: {text}"
                );
            }
        }
        // Without any right to list, the timeline is an error.
        let timeline = served.get("/t?since=1h", &reader.token);
        for object in &hidden {
            let is_there = timeline.contains(&object.name);
            assert!(
                !is_there,
                "seed {seed}: r{number} sees {object:?}: {timeline}"
            );
            let kind = object.kind.trim_end_matches('s');
            let (name, namespace) = (&object.name, object.namespace);
            for verb in ["trace", "changes"] {
                let path = format!("/spy/v1/{verb}?object={kind}/{name}&namespace={namespace}");
                let text = served.get(&path, &reader.token);
                // A right to `get` alone shows nothing, because these verbs list.
                let is_answer = text.starts_with("HTTP/1.1 200");
                assert!(!is_answer, "seed {seed}: r{number} {path}: {text}");
            }
        }
    }
    assert!(seen_by_some > 0, "seed {seed}: nobody may list anything");
}

/// The events of a stream, until one for which `holds` is true.
fn until(lines: &mut impl BufRead, what: &str, holds: impl Fn(&str) -> bool) -> String {
    let deadline = Instant::now() + NARROWED;
    let mut event = String::new();
    loop {
        let mut line = String::new();
        assert!(
            lines.read_line(&mut line).unwrap() > 0,
            "the stream ended before {what}"
        );
        assert!(Instant::now() < deadline, "no {what}");
        if let Some(name) = line.trim_end().strip_prefix("event: ") {
            name.clone_into(&mut event);
        }
        if let Some(data) = line.trim_end().strip_prefix("data: ") {
            let found = format!("{event} {data}");
            if holds(&found) {
                return found;
            }
        }
    }
}

#[test]
fn a_stream_narrows_and_ends_with_the_rights_of_its_reader() {
    let plane = ControlPlane::to_break("serve-narrowed");
    plane.kubectl(&["create", "namespace", "ns-a"]);
    for name in ["r0", "r1"] {
        plane.kubectl(&["create", "serviceaccount", name, "-n", "ns-a"]);
        let role = format!("--serviceaccount=ns-a:{name}");
        plane.kubectl(&[
            "create",
            "clusterrolebinding",
            name,
            "--clusterrole=view",
            &role,
        ]);
    }
    plane.kubectl(&["create", "configmap", "first", "-n", "ns-a"]);
    let served = Served::start(&plane);
    let [narrowed, gone] = ["r0", "r1"].map(|name| Reader::new(&plane, name));
    let open = |reader: &Reader| {
        let mut lines = BufReader::new(served.send("/spy/v1/events?object=cm", &reader.token));
        let found = until(&mut lines, "the object", |it| it.contains("\"first\""));
        assert!(found.starts_with("status "), "{found}");
        until(&mut lines, "the end of the state", |it| {
            it.starts_with("synced ")
        });
        lines
    };
    let (mut of_narrowed, mut of_gone) = (open(&narrowed), open(&gone));
    plane.kubectl(&["delete", "clusterrolebinding", "r0"]);
    plane.kubectl(&["delete", "serviceaccount", "r1", "-n", "ns-a"]);
    let found = until(&mut of_narrowed, "an empty state", |it| {
        it.starts_with("synced ")
    });
    assert!(found.contains("\"count\":0"), "{found}");
    let mut rest = String::new();
    of_gone.read_to_string(&mut rest).unwrap();
    assert!(served.get("/", &gone.token).starts_with("HTTP/1.1 401"));
    // What happens from now on is not for them.
    plane.kubectl(&["create", "configmap", "second", "-n", "ns-a"]);
    plane.kubectl(&[
        "create",
        "clusterrolebinding",
        "r0",
        "--clusterrole=view",
        "--serviceaccount=ns-a:r0",
    ]);
    let found = until(&mut of_narrowed, "the state again", |it| {
        it.contains("\"second\"") || it.starts_with("synced ")
    });
    assert!(found.starts_with("status "), "{found}");
}
