//! Kafka, from the recorder of one cluster to the record of another machine, over a real broker. It needs Java and Maven, and
//! runs only with `cargo test --features kafka --test kafka`.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    unreachable_pub,
    reason = "tests fail by panicking, read the clock for deadlines, and are a crate of their own"
)]

mod access;
mod broker;

#[expect(dead_code, reason = "only tests/it uses some of these")]
#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use kubectl_spy::sandbox::{Options, Sandbox, Target, Writer};
use serde_json::{Value, json};

use broker::{Broker, LARGEST, TopicLog};
use support::{Running, Spy};

const TOPIC: &str = "spy.versions";
const PARTITIONS: i32 = 3;
const OBJECTS: usize = 12;
/// How long all versions may take to arrive. The machine may be busy.
const PATIENCE: Duration = Duration::from_secs(180);

/// A cluster with a recorder, and a server that sends its record to a topic.
struct Recorded {
    sandbox: Arc<Sandbox>,
    folder: PathBuf,
    spy: Spy,
}

impl Recorded {
    async fn start() -> Recorded {
        let mut options = Options::new(Arc::new(jiff::Timestamp::now));
        "shop".clone_into(&mut options.namespace);
        let sandbox = Sandbox::start(options).await.unwrap();
        let name = format!("kafka-cluster-{}", sandbox.address().port());
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _left_over = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let kubeconfig = folder.join("kubeconfig.json");
        fs::write(&kubeconfig, sandbox.kubeconfig()).unwrap();
        Recorded {
            sandbox: Arc::new(sandbox),
            spy: Spy::with_kubeconfig(kubeconfig.to_str().unwrap()),
            folder,
        }
    }

    /// Creates the objects that count, and a Secret.
    fn populate(&self) {
        let by = Writer::new("kubectl-create");
        for at in 0..OBJECTS {
            let object = config_map(&format!("counter-{at}"), &json!({"n": "0"}));
            self.sandbox.create(object, &by).unwrap();
        }
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login", "namespace": "shop"},
            "data": {"password": "b3BlbiBzZXNhbWU="},
        });
        self.sandbox.create(secret, &by).unwrap();
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).to_str().unwrap().to_owned()
    }

    /// Starts the server, which sends the record to the sinks of a configuration.
    fn serve(&self, sinks: &str) -> Running {
        let config = self.path("serve.yaml");
        fs::write(&config, format!("sinks:\n{sinks}")).unwrap();
        let (store, port) = (self.path("store"), "127.0.0.1:0");
        let args = [
            "serve", "cm", "-n", "shop", "--store", &store, "-f", &config, "--listen", port,
        ];
        self.spy.start(&args)
    }

    /// The records of `store export`, without what two machines may have of their own.
    fn exported(&self, store: &str) -> Vec<String> {
        let ran = Spy::alone().run(&["store", "export", "--store", &self.path(store)]);
        let mut lines: Vec<String> = ran.stdout.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    }

    /// The versions of [`exported`](Self::exported).
    fn versions(&self, store: &str) -> Vec<String> {
        let lines = self.exported(store).into_iter();
        lines.filter(|line| line.contains("\"object\"")).collect()
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        let _gone = fs::remove_dir_all(&self.folder);
    }
}

fn config_map(name: &str, data: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "shop"}, "data": data,
    })
}

/// Letters that no compression makes shorter.
fn noise(length: usize) -> String {
    let mut state = 7_u64;
    let letters = std::iter::repeat_with(|| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        char::from(b'!' + u8::try_from((state >> 33) % 90).unwrap())
    });
    letters
        .filter(|letter| !matches!(letter, '"' | '\\'))
        .take(length)
        .collect()
}

/// Counts in all objects, one after the other, until it is told to stop. Returns the last number of each object.
fn count(sandbox: &Sandbox, stop: &std::sync::mpsc::Receiver<()>) -> Vec<u64> {
    let mut numbers = vec![0; OBJECTS];
    for at in (0..OBJECTS).cycle() {
        numbers[at] += 1;
        let target = Target::new("configmaps", "shop", &format!("counter-{at}"));
        let patch = json!({"data": {"n": numbers[at].to_string()}});
        sandbox
            .patch(&target, &patch, &Writer::new("kubectl-edit"))
            .unwrap();
        match stop.recv_timeout(Duration::from_millis(10)) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    numbers
}

/// The numbers in the topic, of each uid in the order of the topic.
fn numbers(log: &TopicLog) -> BTreeMap<String, Vec<u64>> {
    let mut found: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for record in log.records() {
        let Some(value) = &record.value else {
            continue;
        };
        let object: Value = serde_json::from_slice(value).unwrap();
        let uid = object["metadata"]["uid"].as_str().unwrap();
        assert_eq!(record.key.as_deref(), Some(uid.as_bytes()));
        let number = object["data"]["n"]
            .as_str()
            .and_then(|text| text.parse().ok());
        if let Some(number) = number {
            found.entry(uid.to_owned()).or_default().push(number);
        }
    }
    found
}

/// How many numbers are in the topic, each once.
fn distinct(log: &TopicLog) -> u64 {
    let each = numbers(log).into_values().map(|mut numbers| {
        numbers.sort_unstable();
        numbers.dedup();
        numbers.len() as u64
    });
    each.sum()
}

async fn until_sent(log: &mut TopicLog, count: u64) {
    let deadline = Instant::now() + PATIENCE;
    while distinct(log) < count {
        assert!(Instant::now() < deadline, "{count}: {:?}", numbers(log));
        log.read_on().await;
    }
}

/// Numbers come in their order. Some can come a second time after an interruption, again in their order.
fn check_order(uid: &str, numbers: &[u64], last: u64) {
    let mut all = numbers.to_vec();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all, (0..=last).collect::<Vec<_>>(), "{uid}");
    let mut newest = 0;
    for pair in numbers.windows(2) {
        newest = newest.max(pair[0]);
        assert!(
            pair[1] <= newest + 1,
            "{uid}: {} before {}",
            pair[1],
            newest + 1
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_broker_loses_no_version_and_no_order() {
    let mut broker = Broker::start("killed");
    let mut log = broker.create(TOPIC, PARTITIONS).await;
    let cluster = Recorded::start().await;
    cluster.populate();
    let store = cluster.path("store");
    let mut recorder = cluster
        .spy
        .start(&["record", "cm,secret", "-n", "shop", "--store", &store]);
    recorder.until("recording");
    let address = broker.address();
    let mut serve = cluster.serve(&format!(
        "- name: bus\n  kafka: {{brokers: [\"{address}\"], topic: {TOPIC}}}\n"
    ));
    // What is written before the first listing is never a version of the record.
    until_sent(&mut log, OBJECTS as u64).await;
    let (stop, stopped) = channel();
    let sandbox = cluster.sandbox.clone();
    let writer = std::thread::spawn(move || count(&sandbox, &stopped));

    until_sent(&mut log, 10 * OBJECTS as u64).await;
    broker.kill();
    serve.until("the versions wait in the record");
    broker.start_again();
    serve.until("versions are sent again");
    stop.send(()).unwrap();
    let last = writer.join().unwrap();
    // No broker takes this one. The others go on.
    let large = config_map("large", &json!({"noise": noise(2 * LARGEST)}));
    cluster
        .sandbox
        .create(large, &Writer::new("kubectl-create"))
        .unwrap();
    let target = Target::new("configmaps", "shop", "counter-0");
    let after = json!({"data": {"n": (last[0] + 1).to_string()}});
    cluster
        .sandbox
        .patch(&target, &after, &Writer::new("kubectl-edit"))
        .unwrap();

    let total: u64 = last.iter().sum::<u64>() + 1 + OBJECTS as u64;
    until_sent(&mut log, total).await;
    serve.until("larger than the topic allows");
    let found = numbers(&log);
    assert_eq!((found.len(), distinct(&log)), (OBJECTS, total));
    for (uid, numbers) in &found {
        check_order(uid, numbers, *numbers.iter().max().unwrap());
    }
    for record in log.records() {
        let text = String::from_utf8_lossy(record.value.as_deref().unwrap_or_default());
        assert!(!text.contains("b3BlbiBzZXNhbWU"), "{text}");
    }
    recorder.interrupt();
    read_back(&cluster, &broker);
    serve.interrupt();
}

/// Reads the topic into another store, in two runs. It has what the recorder has, except the version that is too large.
fn read_back(cluster: &Recorded, broker: &Broker) {
    let url = format!("kafka://{}/{TOPIC}", broker.address());
    let copy = cluster.path("copy");
    for expect in ["recorded ", "recorded 0 versions"] {
        let ran = Spy::alone().run(&["record", "--from", &url, "--once", "--store", &copy]);
        assert!(
            ran.status.success() && ran.stderr.contains(expect),
            "{}",
            ran.transcript()
        );
    }
    let checked = Spy::alone().run(&["store", "check", "--store", &copy]);
    assert!(checked.status.success(), "{}", checked.transcript());
    let is_large = |line: &String| line.contains("\"large\"");
    let mut recorded = cluster.versions("store");
    recorded.retain(|line| !is_large(line));
    let copied = cluster.versions("copy");
    assert!(recorded == copied, "{copied:#?}");
    let has_hole = |store| {
        cluster
            .exported(store)
            .iter()
            .any(|line| line.contains("\"upto\""))
    };
    assert!(!has_hole("store") && has_hole("copy"));
    let args = [
        "changes",
        "cm/counter-0",
        "-n",
        "shop",
        "--since",
        "all",
        "--once",
        "--from",
        &copy,
    ];
    let shown = Spy::alone().run(&args);
    assert!(shown.stdout.contains("counter-0"), "{}", shown.transcript());
    assert!(Path::new(&copy).join("key").exists());
}
