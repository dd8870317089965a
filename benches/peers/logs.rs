//! Compares `logs -f` with `kubectl logs -f` and, if its path is given, with stern: CPU time and memory under a load of
//! lines, the time until every Pod has a line, and output that nobody reads.

use std::io::Read;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use kube::Client;
use serde_json::json;
use tokio::time::sleep;

use crate::load::{NAMESPACE, create_namespace, delete, request};
use crate::process::{Used, beside, settled, spawn};

/// The sets of Pods, by the value of their label `set`.
const SETS: [(&str, usize); 4] = [("one", 1), ("fifty", 50), ("hundred", 100), ("two", 200)];

/// The load of lines of a set of Pods.
struct LineLoad {
    set: &'static str,
    pods: usize,
    /// The lines of each Pod, a second.
    rate: usize,
    seconds: usize,
}

impl LineLoad {
    fn lines(&self) -> usize {
        self.pods * self.rate * self.seconds
    }
}

const STEADY: LineLoad = LineLoad {
    set: "fifty",
    pods: 50,
    rate: 200,
    seconds: 20,
};

const FAST: LineLoad = LineLoad {
    set: "one",
    pods: 1,
    rate: 100_000,
    seconds: 5,
};

/// What nobody reads for a minute.
const UNREAD: LineLoad = LineLoad {
    set: "fifty",
    pods: 50,
    rate: 1_000,
    seconds: 60,
};

/// A program that follows the logs of a set of Pods.
struct Follower {
    name: &'static str,
    program: String,
    /// The arguments before the label selector.
    args: &'static [&'static str],
}

impl Follower {
    fn all(kubectl: &str, spy: &str, stern: Option<&str>) -> Vec<Follower> {
        let kubectl = Follower {
            name: "kubectl",
            program: kubectl.to_owned(),
            args: &["logs", "-f", "--prefix", "--max-log-requests=200"],
        };
        let spy = Follower {
            name: "spy",
            program: spy.to_owned(),
            args: &["logs", "-f", "-q"],
        };
        let stern = stern.map(|program| Follower {
            name: "stern",
            program: program.to_owned(),
            args: &["--color=never", "--max-log-requests=200"],
        });
        [kubectl, spy].into_iter().chain(stern).collect()
    }

    /// Starts it with this many of the newest lines of each Pod.
    fn follow(&self, set: &str, tail: usize) -> (Child, Instant) {
        let (selector, tail) = (format!("set={set}"), format!("--tail={tail}"));
        let about = ["-n", NAMESPACE, "-l", &selector, &tail];
        spawn(&self.program, &[self.args, &about].concat())
    }
}

/// The resources that a program used for lines, and how many it has printed.
struct Cost {
    used: Used,
    printed: usize,
}

/// Measures everything and prints it.
pub(crate) async fn measure(client: &Client, kubectl: &str, spy: &str, stern: Option<&str>) {
    let plane = Plane::here();
    create_namespace(client).await;
    for (set, pods) in SETS {
        create(client, set, pods).await;
        plane.write(set, &["-lines", "1"]);
    }
    let followers = Follower::all(kubectl, spy, stern);
    for load in [STEADY, FAST] {
        let mut costs = Vec::new();
        for follower in &followers {
            costs.push(under_load(&plane, follower, &load).await);
        }
        for (follower, cost) in followers.iter().zip(&costs) {
            report(follower, cost, (&costs[0], &load));
        }
    }
    for (set, pods) in &SETS[2..] {
        for follower in &followers {
            first_lines(follower, set, *pods).await;
        }
    }
    unread(&plane, &followers[1]).await;
    delete(client).await;
}

fn report(follower: &Follower, cost: &Cost, (base, load): (&Cost, &LineLoad)) {
    println!(
        "{:8} {} Pods, {} lines a second each, {} s: CPU {}  peak RSS {}  lines {} of {}",
        follower.name,
        load.pods,
        load.rate,
        load.seconds,
        beside(
            cost.used.cpu.as_secs_f64(),
            base.used.cpu.as_secs_f64(),
            "s"
        ),
        beside(cost.used.peak_mib(), base.used.peak_mib(), "MiB"),
        cost.printed,
        load.lines(),
    );
}

/// Follows a set of Pods while they print.
async fn under_load(plane: &Plane, follower: &Follower, load: &LineLoad) -> Cost {
    let (mut child, _) = follower.follow(load.set, 0);
    plane.until_open(load.pods).await;
    let printed = count_lines(child.stdout.take().unwrap());
    let before = settled(child.id()).await;
    let already = printed.load(Ordering::Relaxed);
    plane.write_for(load);
    let expected = already + load.lines();
    let end = Instant::now() + Duration::from_secs(20);
    while printed.load(Ordering::Relaxed) < expected && Instant::now() < end {
        sleep(Duration::from_millis(50)).await;
    }
    let used = Used::by(child.id()).unwrap();
    stop(child);
    plane.until_open(0).await;
    Cost {
        used: Used {
            cpu: used.cpu.saturating_sub(before),
            ..used
        },
        printed: printed.load(Ordering::Relaxed) - already,
    }
}

/// The time until every Pod of a set has a line.
async fn first_lines(follower: &Follower, set: &str, pods: usize) {
    let (mut child, started) = follower.follow(set, 1);
    let printed = count_lines(child.stdout.take().unwrap());
    let end = started + Duration::from_secs(120);
    while printed.load(Ordering::Relaxed) < pods && Instant::now() < end {
        sleep(Duration::from_millis(5)).await;
    }
    let time = started.elapsed();
    let used = Used::by(child.id()).unwrap();
    stop(child);
    println!(
        "{:8} {pods} Pods: {} have a line after {:.2} s  peak RSS {:.1} MiB",
        follower.name,
        printed.load(Ordering::Relaxed),
        time.as_secs_f64(),
        used.peak_mib(),
    );
}

/// Follows a load that nobody reads, and then reads all of it.
async fn unread(plane: &Plane, follower: &Follower) {
    let (mut child, _) = follower.follow(UNREAD.set, 0);
    plane.until_open(UNREAD.pods).await;
    plane.write_for(&UNREAD);
    let before = Used::by(child.id()).unwrap();
    let printed = count_lines(child.stdout.take().unwrap());
    let end = Instant::now() + Duration::from_secs(120);
    while printed.load(Ordering::Relaxed) < UNREAD.lines() && Instant::now() < end {
        sleep(Duration::from_millis(50)).await;
    }
    let after = Used::by(child.id()).unwrap();
    stop(child);
    println!(
        "{:8} {} lines a second, unread for {} s: lines {} of {}  peak RSS {:.1} MiB, then {:.1} MiB",
        follower.name,
        UNREAD.pods * UNREAD.rate,
        UNREAD.seconds,
        printed.load(Ordering::Relaxed),
        UNREAD.lines(),
        before.peak_mib(),
        after.peak_mib(),
    );
}

fn stop(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Counts the lines of an output as they come.
fn count_lines(mut output: ChildStdout) -> Arc<AtomicUsize> {
    let lines = Arc::new(AtomicUsize::new(0));
    let counted = lines.clone();
    std::thread::spawn(move || {
        let mut bytes = vec![0; 1 << 20];
        while let Ok(length @ 1..) = output.read(&mut bytes) {
            let ends = bytes[..length].iter().filter(|byte| **byte == b'\n');
            counted.fetch_add(ends.count(), Ordering::Relaxed);
        }
    });
    lines
}

/// Creates Pods that run on a node.
async fn create(client: &Client, set: &str, pods: usize) {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/pods");
    for number in 0..pods {
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": format!("{set}-{number}"), "labels": {"set": set}},
            "spec": {"containers": [{"name": "app", "image": "app:1"}]},
        });
        request(client, "POST", &path, pod).await;
    }
    let running = format!("{path}?labelSelector=set%3D{set}&fieldSelector=status.phase%3DRunning");
    loop {
        let list = http::Request::get(&running).body(Vec::new()).unwrap();
        let list: serde_json::Value = client.request(list).await.unwrap();
        if list["items"].as_array().unwrap().len() == pods {
            return;
        }
        sleep(Duration::from_millis(200)).await;
    }
}

/// The control plane that the kubeconfig belongs to.
struct Plane {
    directory: PathBuf,
}

impl Plane {
    fn here() -> Plane {
        let config = std::env::var("KUBECONFIG").unwrap();
        let directory = Path::new(&config).parent().unwrap().to_owned();
        Plane { directory }
    }

    fn write_for(&self, load: &LineLoad) {
        let (rate, time) = (load.rate.to_string(), format!("{}s", load.seconds));
        self.write(load.set, &["-rate", &rate, "-for", &time]);
    }

    /// Lets the Pods of a set print, and waits for the end.
    fn write(&self, set: &str, how: &[&str]) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/controlplane/run");
        let selector = format!("set={set}");
        let written = Command::new(script)
            .arg("load")
            .arg(&self.directory)
            .args(["-n", NAMESPACE, "-l", &selector])
            .args(how)
            .stderr(Stdio::null())
            .status();
        assert!(written.unwrap().success(), "no lines were written");
    }

    /// Waits until so many logs are followed.
    async fn until_open(&self, count: usize) {
        let end = Instant::now() + Duration::from_secs(60);
        while self.open() != count {
            assert!(Instant::now() < end, "{} logs are followed", self.open());
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// How many logs are followed, as their node says.
    fn open(&self) -> usize {
        let ports = std::fs::read_to_string(self.directory.join("ports")).unwrap();
        let control = ports.lines().nth(10).unwrap();
        let mut connection = TcpStream::connect(format!("127.0.0.1:{control}")).unwrap();
        let request = "GET /streams?match= HTTP/1.0\r\n\r\n";
        std::io::Write::write_all(&mut connection, request.as_bytes()).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        let open = answer.lines().find_map(|line| line.strip_prefix("open "));
        open.unwrap().trim().parse().unwrap()
    }
}
