//! A control plane with an audit log of all writes, whose revisions are dated by Leases.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::api::Api;
use super::audit::Audited;
use super::history::History;
use super::live::{Live, Watched};
use super::objects::{KINDS, definition};
use super::record::Recorder;
use super::write::{Compacted, Storage, Write};
use super::writer::Writer;
use crate::controlplane::ControlPlane;
use crate::faults::etcd::post;
use crate::support::Spy;

/// The limit of any wait. No working operation takes this long.
const PATIENCE: Duration = Duration::from_secs(60);
/// The pause between two renewals, as that of a leader election.
const RENEWAL: Duration = Duration::from_secs(2);
/// The prefix of the histories' namespaces.
const PREFIX: &str = "truth-";

/// A running control plane.
pub struct Plane {
    pub control: ControlPlane,
    /// The length of the audit log before the current batch.
    read: usize,
    _leader: Option<Leader>,
}

/// Whether a leader renews a Lease every two seconds. Otherwise the API server renews its own every ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leases {
    Frequent,
    Few,
}

impl Plane {
    /// Starts a control plane. `apart` names the resources with an etcd of their own.
    pub fn start(label: &str, leases: Leases, apart: &str) -> Plane {
        let policy = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/e2e/truth/audit-policy.yaml"
        );
        let variables = [
            ("SPY_CP_SERVERS", "api"),
            ("SPY_CP_AUDIT_POLICY", policy),
            ("SPY_CP_ETCD_COMPACTION", "0"),
            ("SPY_CP_APART", apart),
        ];
        let control = ControlPlane::with(label, &variables);
        let admin = control.admin().to_owned();
        block_on(async {
            let api = Api::new(&admin).await;
            let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
            api.create(definitions, &definition()).await.unwrap();
            let begun = Instant::now();
            while api.get("/apis/law.example.com/v1/gadgets").await.is_err() {
                assert!(begun.elapsed() < PATIENCE, "the kind is not served");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            let rights = "/apis/rbac.authorization.k8s.io/v1";
            for (plural, object) in rights_of_dev() {
                api.create(&format!("{rights}/{plural}"), &object)
                    .await
                    .unwrap();
            }
        });
        Plane {
            _leader: (leases == Leases::Frequent).then(|| Leader::start(admin)),
            control,
            read: 0,
        }
    }

    /// Writes histories at the same time, each to its own namespace. Returns what was written.
    pub fn write(&mut self, histories: &[History]) -> (Vec<Vec<Write>>, Watched) {
        let admin = self.control.admin().to_owned();
        let mark = format!("mark-{}", histories[0].seed);
        let live = Live::start(&self.spy());
        let recorder = block_on(async {
            let api = Api::new(&admin).await;
            let recorder = Recorder::start(&api, self.events()).await;
            let names = histories.iter().map(namespace).chain([mark.clone()]);
            for name in names {
                let namespace = json!({ "metadata": { "name": name } });
                api.create("/api/v1/namespaces", &namespace).await.unwrap();
            }
            let writers = histories.iter().map(|history| {
                let writer = Writer::new(api.clone(), namespace(history));
                writer.write(history)
            });
            futures::future::join_all(writers).await;
            mark_end(&api, &mark, &recorder).await;
            recorder
        });
        let watched = live.end(&mark);
        (self.histories(histories, &recorder), watched)
    }

    /// The program as the administrator.
    pub fn spy(&self) -> Spy {
        spy(self.control.admin())
    }

    /// The program as a user who may not read the Leases: nothing but what an object records dates its versions.
    pub fn spy_without_leases(&self) -> Spy {
        spy(&self.control.dev())
    }

    /// The audit log can have an answer a moment after the client.
    fn histories(&mut self, histories: &[History], recorder: &Recorder) -> Vec<Vec<Write>> {
        let begun = Instant::now();
        loop {
            let log = self.control.audit_log();
            let audited: Vec<Audited> =
                log[self.read..].lines().filter_map(Audited::read).collect();
            let all = histories
                .iter()
                .map(|history| recorder.history(&namespace(history), &audited));
            match all.collect::<Result<_, String>>() {
                Ok(written) => {
                    self.read = log.len();
                    return written;
                }
                Err(error) => assert!(begun.elapsed() < PATIENCE / 4, "{error}"),
            }
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Empties the watch cache.
    pub fn restart(&self) {
        self.control.kill_api_server();
        self.control.start_api_server();
    }

    /// The storage of Events.
    fn events(&self) -> Storage {
        match self.control.events_etcd() {
            Some(_) => Storage::Events,
            None => Storage::Main,
        }
    }

    /// Compacts each storage to a revision.
    pub fn compact(&self, compacted: &Compacted) {
        for (storage, revision) in compacted {
            let address = match storage {
                Storage::Main => self.control.etcd(),
                Storage::Events => self.control.events_etcd().unwrap(),
            };
            let asked = json!({ "revision": revision.to_string() });
            post(address, "/v3/kv/compaction", &asked).unwrap();
        }
    }
}

fn spy(kubeconfig: &str) -> Spy {
    Spy::with_kubeconfig(kubeconfig).var("HOME", env!("CARGO_TARGET_TMPDIR"))
}

/// The rights of a user who may read everything but the Leases, with the plural of each.
fn rights_of_dev() -> [(&'static str, Value); 2] {
    let groups = [
        "",
        "apiextensions.k8s.io",
        "apps",
        "autoscaling",
        "batch",
        "discovery.k8s.io",
        "events.k8s.io",
        "law.example.com",
        "networking.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "storage.k8s.io",
    ];
    let reads =
        json!({ "apiGroups": groups, "resources": ["*"], "verbs": ["get", "list", "watch"] });
    let metadata = json!({ "name": "reads-all-but-leases" });
    let group = "rbac.authorization.k8s.io";
    let role = json!({ "apiGroup": group, "kind": "ClusterRole", "name": "reads-all-but-leases" });
    let dev = json!({ "apiGroup": group, "kind": "User", "name": "dev" });
    [
        (
            "clusterroles",
            json!({ "metadata": metadata, "rules": [reads] }),
        ),
        (
            "clusterrolebindings",
            json!({ "metadata": metadata, "roleRef": role, "subjects": [dev] }),
        ),
    ]
}

/// The namespace of a history.
pub fn namespace(history: &History) -> String {
    format!("{PREFIX}{}", history.seed)
}

/// Writes one more object of each kind, and waits until it is recorded. Then everything before is, too.
async fn mark_end(api: &Api, mark: &str, recorder: &Recorder) {
    for kind in KINDS {
        let object = kind.bare(mark, mark);
        api.create(&kind.path(mark), &object).await.unwrap();
    }
    let begun = Instant::now();
    while !recorder.has_seen(mark) {
        assert!(begun.elapsed() < PATIENCE, "the watch does not see {mark}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap().block_on(future)
}

/// Renews a Lease until it is dropped.
struct Leader {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Leader {
    fn start(admin: String) -> Leader {
        let ends = Arc::new(AtomicBool::new(false));
        let has_ended = ends.clone();
        let thread = thread::spawn(move || {
            block_on(async {
                let api = Api::new(&admin).await;
                while !has_ended.load(Ordering::Relaxed) {
                    renew(&api).await;
                    tokio::time::sleep(RENEWAL).await;
                }
            });
        });
        Leader {
            ends,
            thread: Some(thread),
        }
    }
}

/// While the API server restarts, nothing is renewed.
async fn renew(api: &Api) {
    let leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
    let spec = json!({ "spec": { "renewTime": format!("{:.6}", Timestamp::now()) } });
    if api.patch(&format!("{leases}/leader"), &spec).await.is_err() {
        let mut lease = spec;
        lease["metadata"] = json!({ "name": "leader" });
        let _away = api.create(leases, &lease).await;
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}
