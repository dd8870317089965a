//! `changes deploy/NAME` beside `kubectl get deploy/NAME -w -o json`, in one run on a real cluster:
//! time to the first output, time from a patch to its line, peak memory, and CPU a version.
//!
//! ```console
//! $ export KUBECONFIG=$(tests/e2e/controlplane/run up)
//! $ cargo bench --bench peers -- target/controlplane/bin/kubectl
//! $ cargo bench --bench peers -- target/controlplane/bin/kubectl target/dist/kubectl-spy
//! ```
//!
//! It writes: it creates a Deployment `spy-bench` in the namespace of the kubeconfig, patches an annotation
//! of it, and deletes it. Absolute figures depend on the machine; the ratios are what is looked at.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench that cannot go on stops"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "it measures wall time and reads its own environment"
)]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use kube::Client;
use serde_json::{Value, json};

const PATCHES: usize = 400;
const EVERY: Duration = Duration::from_millis(50);
/// How often time to first output is taken; the median counts.
const STARTS: usize = 11;

/// What one tool needed.
struct Cost {
    first_output: Duration,
    /// From the sending of a patch to the line that shows it, sorted.
    delays: Vec<Duration>,
    peak_rss_kib: u64,
    cpu: Duration,
}

/// A command whose last line so far is known, and what it has used.
struct Tool {
    name: &'static str,
    program: String,
    args: Vec<&'static str>,
}

impl Tool {
    fn spawn(&self) -> (Child, Instant) {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let started = Instant::now();
        (command.spawn().unwrap(), started)
    }

    /// The median time to the first byte of output.
    fn first_output(&self) -> Duration {
        let mut times: Vec<Duration> = (0..STARTS)
            .map(|_| {
                let (mut child, started) = self.spawn();
                let mut line = String::new();
                BufReader::new(child.stdout.take().unwrap())
                    .read_line(&mut line)
                    .unwrap();
                let time = started.elapsed();
                assert!(!line.is_empty(), "{} printed nothing", self.name);
                child.kill().unwrap();
                child.wait().unwrap();
                time
            })
            .collect();
        times.sort();
        times[STARTS / 2]
    }
}

fn memory_and_cpu(pid: u32) -> (u64, Duration) {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let peak = peak.trim().trim_end_matches(" kB").parse().unwrap();
    // The first number is how long the thread has run, in nanoseconds.
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let run = threads.map(|thread| {
        let stat = std::fs::read_to_string(thread.unwrap().path().join("schedstat")).unwrap();
        stat.split(' ').next().unwrap().parse::<u64>().unwrap()
    });
    (peak, Duration::from_nanos(run.sum()))
}

async fn request(client: &Client, method: &str, path: &str, body: Value) {
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header(
            "content-type",
            if method == "PATCH" {
                "application/merge-patch+json"
            } else {
                "application/json"
            },
        )
        .body(body.to_string().into_bytes())
        .unwrap();
    client.request_text(request).await.unwrap();
}

fn deployment() -> Value {
    let labels = json!({ "app": "spy-bench" });
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "spy-bench" },
        "spec": {
            "replicas": 1, "selector": { "matchLabels": labels },
            "template": {
                "metadata": { "labels": labels },
                "spec": { "containers": [{ "name": "web", "image": "web:1" }] },
            },
        },
    })
}

/// When each patch was first seen in what a tool prints.
fn arrivals(lines: &mut Lines, name: &str) -> Vec<Instant> {
    let mut seen = Vec::with_capacity(PATCHES);
    let mark = format!("{name}-");
    for line in lines {
        let line = line.unwrap();
        // The last one on a line: before it may stand what it replaced.
        let number = line.rsplit_once(&mark).map(|(_, rest)| {
            let digits = rest.split(|c: char| !c.is_ascii_digit()).next();
            digits.unwrap().parse::<usize>().unwrap_or_default()
        });
        if number == Some(seen.len() + 1) {
            seen.push(Instant::now());
        }
        if seen.len() == PATCHES {
            break;
        }
    }
    assert_eq!(seen.len(), PATCHES, "{name} has not printed every patch");
    seen
}

type Lines = std::io::Lines<BufReader<std::process::ChildStdout>>;

/// Runs a tool while the Deployment is patched; reads its output to the last patch.
async fn under_load(tool: &Tool, client: &Client, path: &str) -> Cost {
    let first_output = tool.first_output();
    let (mut child, _) = tool.spawn();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (_, cpu_before) = memory_and_cpu(child.id());
    let name = tool.name;
    // The pipe stays open until the process has been looked at.
    let reader = std::thread::spawn(move || (arrivals(&mut lines, name), lines));
    let mut sent = Vec::with_capacity(PATCHES);
    for count in 1..=PATCHES {
        let annotations = json!({ "bench": format!("{name}-{count}") });
        let body = json!({ "metadata": { "annotations": annotations } });
        sent.push(Instant::now());
        request(client, "PATCH", path, body).await;
        tokio::time::sleep(EVERY).await;
    }
    let (seen, _open) = reader.join().unwrap();
    let (peak_rss_kib, cpu) = memory_and_cpu(child.id());
    child.kill().unwrap();
    child.wait().unwrap();
    let mut delays: Vec<Duration> = seen
        .iter()
        .zip(&sent)
        .map(|(at, from)| *at - *from)
        .collect();
    delays.sort();
    Cost {
        first_output,
        delays,
        peak_rss_kib,
        cpu: cpu.saturating_sub(cpu_before),
    }
}

/// A figure beside the same of the first tool.
fn beside(ours: f64, theirs: f64, unit: &str) -> String {
    format!("{ours:6.2} {unit} ({:.2}x)", ours / theirs)
}

fn report(tool: &Tool, cost: &Cost, base: &Cost) {
    let time = |of: fn(&Cost) -> Duration| {
        let millis = |cost| of(cost).as_secs_f64() * 1e3;
        beside(millis(cost), millis(base), "ms")
    };
    let mebibytes = |cost: &Cost| f64::from(u32::try_from(cost.peak_rss_kib).unwrap()) / 1024.0;
    println!(
        "{:8} first output {}  p50 {}  p99 {}  peak RSS {}  CPU a patch {}",
        tool.name,
        time(|cost| cost.first_output),
        time(|cost| cost.delays[PATCHES / 2]),
        time(|cost| cost.delays[PATCHES * 99 / 100]),
        beside(mebibytes(cost), mebibytes(base), "MiB"),
        time(|cost| cost.cpu / u32::try_from(PATCHES).unwrap()),
    );
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let Some(kubectl) = std::env::args().nth(1).filter(|arg| !arg.starts_with('-')) else {
        println!("usage: cargo bench --bench peers -- PATH_OF_KUBECTL (with KUBECONFIG set)");
        return;
    };
    let built = || env!("CARGO_BIN_EXE_kubectl-spy").to_owned();
    let spy = std::env::args().nth(2).filter(|arg| !arg.starts_with('-'));
    let tools = [
        Tool {
            name: "kubectl",
            program: kubectl,
            args: vec!["get", "deploy/spy-bench", "-w", "-o", "json"],
        },
        Tool {
            name: "spy",
            program: spy.unwrap_or_else(built),
            args: vec!["changes", "--since=0", "deploy/spy-bench"],
        },
    ];
    let client = Client::try_default().await.unwrap();
    let all = format!(
        "/apis/apps/v1/namespaces/{}/deployments",
        client.default_namespace()
    );
    request(&client, "POST", &all, deployment()).await;
    let path = format!("{all}/spy-bench");
    let mut costs = Vec::new();
    for tool in &tools {
        costs.push(under_load(tool, &client, &path).await);
    }
    request(&client, "DELETE", &path, json!({})).await;
    for (tool, cost) in tools.iter().zip(&costs) {
        report(tool, cost, &costs[0]);
    }
}
