//! `changes deploy/NAME` beside `kubectl get deploy/NAME -w -o json`, in one run on a real cluster:
//! time to the first output, peak memory, and CPU a version.
//!
//! ```console
//! $ export KUBECONFIG=$(tests/e2e/controlplane/run up)
//! $ cargo bench --bench peers -- target/controlplane/bin/kubectl
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

const PATCHES: u32 = 100;
const EVERY: Duration = Duration::from_millis(50);
/// How often time to first output is taken; the median counts.
const STARTS: usize = 11;

/// What one tool needed.
struct Cost {
    first_output: Duration,
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
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let after_name: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap()
        .split_whitespace()
        .collect();
    let ticks: u64 =
        after_name[11].parse::<u64>().unwrap() + after_name[12].parse::<u64>().unwrap();
    (peak, Duration::from_millis(ticks * 10))
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

/// Runs a tool while the Deployment is patched; reads its output to the last patch.
async fn under_load(tool: &Tool, client: &Client, path: &str) -> Cost {
    let first_output = tool.first_output();
    let (mut child, _) = tool.spawn();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (_, cpu_before) = memory_and_cpu(child.id());
    let mark = format!("{}-{PATCHES}", tool.name);
    let last = mark.clone();
    // The pipe stays open until the process has been looked at.
    let reader =
        std::thread::spawn(move || (lines.any(|line| line.unwrap().contains(&last)), lines));
    for count in 1..=PATCHES {
        let value = format!("{}-{count}", tool.name);
        request(
            client,
            "PATCH",
            path,
            json!({ "metadata": { "annotations": { "bench": value } } }),
        )
        .await;
        tokio::time::sleep(EVERY).await;
    }
    let (found, _open) = reader.join().unwrap();
    assert!(found, "{} never printed {mark}", tool.name);
    let (peak_rss_kib, cpu) = memory_and_cpu(child.id());
    child.kill().unwrap();
    child.wait().unwrap();
    Cost {
        first_output,
        peak_rss_kib,
        cpu: cpu.saturating_sub(cpu_before),
    }
}

fn report(tool: &Tool, cost: &Cost, base: &Cost) {
    let ratio = |ours: f64, theirs: f64| ours / theirs;
    println!(
        "{:8}  first output {:6.1} ms ({:.2}x)   peak RSS {:5.1} MiB ({:.2}x)   CPU {:4} ms for {PATCHES} patches ({:.2}x)",
        tool.name,
        cost.first_output.as_secs_f64() * 1e3,
        ratio(
            cost.first_output.as_secs_f64(),
            base.first_output.as_secs_f64()
        ),
        f64::from(u32::try_from(cost.peak_rss_kib).unwrap()) / 1024.0,
        ratio(
            f64::from(u32::try_from(cost.peak_rss_kib).unwrap()),
            f64::from(u32::try_from(base.peak_rss_kib).unwrap())
        ),
        cost.cpu.as_millis(),
        ratio(cost.cpu.as_secs_f64(), base.cpu.as_secs_f64()),
    );
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let Some(kubectl) = std::env::args().nth(1).filter(|arg| !arg.starts_with('-')) else {
        println!("usage: cargo bench --bench peers -- PATH_OF_KUBECTL (with KUBECONFIG set)");
        return;
    };
    let spy = env!("CARGO_BIN_EXE_kubectl-spy").to_owned();
    let tools = [
        Tool {
            name: "kubectl",
            program: kubectl,
            args: vec!["get", "deploy/spy-bench", "-w", "-o", "json"],
        },
        Tool {
            name: "spy",
            program: spy,
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
