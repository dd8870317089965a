//! Compares `changes` with `kubectl get -w -o json` in one run on a real cluster. It measures the time to the
//! first output, the time from a patch to its line, peak memory, and CPU time for each patch, for one
//! Deployment and for 10,000 Pods.
//!
//! ```console
//! $ export KUBECONFIG=$(tests/e2e/controlplane/run up)
//! $ cargo bench --bench peers -- target/controlplane/bin/kubectl
//! $ cargo bench --bench peers -- target/controlplane/bin/kubectl target/dist/kubectl-spy
//! $ cargo bench --bench peers -- target/controlplane/bin/kubectl target/dist/kubectl-spy pods
//! $ cargo bench --bench peers -- target/controlplane/bin/kubectl target/dist/kubectl-spy views
//! $ cargo bench --bench peers -- target/controlplane/bin/kubectl target/dist/kubectl-spy serve
//! ```
//!
//! `views` compares `status` and `trace` with `kubectl get`, and `serve` compares a list from its memory with the API
//! server's. This compares `logs` with `kubectl logs` and stern, and needs the control plane of the tests, with `sysctl fs.inotify.max_user_instances` of at least 256:
//!
//! ```console
//! $ cargo bench --bench peers -- target/controlplane/bin/kubectl target/dist/kubectl-spy logs PATH_OF_STERN
//! ```
//!
//! It writes: it creates a namespace `spy-bench`, patches an annotation of its own objects, and deletes the
//! namespace. Absolute figures depend on the machine; only the ratios count.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark fails by panicking"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "it measures wall time and reads its own environment"
)]

mod load;
mod logs;
mod process;
mod serve;
mod shop;
mod views;

use std::io::{BufRead, BufReader};
use std::time::{Duration, Instant};

use kube::Client;

use load::{DEPLOYMENT, Load, NAMESPACE, PODS, create, delete, patch};
use process::{Used, beside, settled, spawn};
use views::Programs;

/// The resources that one tool used.
struct Cost {
    first_output: Duration,
    /// CPU time until the initial objects have been read.
    start: Duration,
    /// The times from each patch to the line that shows it, sorted.
    delays: Vec<Duration>,
    /// The peak memory, and the CPU time after the start.
    used: Used,
}

/// A tool: its command, and the way to recognise its last initial line.
struct Tool {
    name: &'static str,
    program: String,
    args: Vec<&'static str>,
}

impl Tool {
    /// The median time to the first byte of output.
    fn first_output(&self, starts: usize) -> Duration {
        let mut times: Vec<Duration> = (0..starts)
            .map(|_| {
                let (mut child, started) = spawn(&self.program, &self.args);
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
        times[starts / 2]
    }
}

/// The time at which each patch first appears in a tool's output, in order. A tool that prints changes prints
/// each once; a tool that prints objects repeats the newest one.
fn patch_times(lines: &mut Lines, name: &str, patches: usize) -> Vec<Instant> {
    let mut seen = Vec::with_capacity(patches);
    let prints_changes = name == "spy";
    let mark = format!("{name}-");
    for line in lines {
        let line = line.unwrap();
        // The last number on a line counts, because the old value may precede the new one.
        let number = line.rsplit_once(&mark).map(|(_, rest)| {
            let digits = rest.split(|c: char| !c.is_ascii_digit()).next();
            digits.unwrap().parse::<usize>().unwrap_or_default()
        });
        match number {
            Some(number) if number == seen.len() + 1 => seen.push(Instant::now()),
            Some(number) => assert!(!prints_changes, "{number} after {}", seen.len()),
            None => {}
        }
        if seen.len() == patches {
            break;
        }
    }
    assert_eq!(seen.len(), patches, "{name} has not printed every patch");
    seen
}

type Lines = std::io::Lines<BufReader<std::process::ChildStdout>>;

/// Runs a tool while the objects are patched, and reads its output to the last patch.
async fn under_load(tool: &Tool, client: &Client, load: &Load) -> Cost {
    let first_output = tool.first_output(load.starts);
    let (mut child, _) = spawn(&tool.program, &tool.args);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    let (name, patches) = (tool.name, load.patches);
    // The thread keeps the pipe open until the process has been measured.
    let reader = std::thread::spawn(move || (patch_times(&mut lines, name, patches), lines));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let cpu_before = settled(child.id()).await;
    let mut sent = Vec::with_capacity(patches);
    for count in 1..=patches {
        let next = Instant::now() + load.every;
        sent.push(Instant::now());
        patch(client, load, (count, format!("{name}-{count}"))).await;
        tokio::time::sleep_until(next.into()).await;
    }
    let (seen, _open) = reader.join().unwrap();
    let used = Used::by(child.id()).unwrap();
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
        start: cpu_before,
        delays,
        used: Used {
            cpu: used.cpu.saturating_sub(cpu_before),
            ..used
        },
    }
}

fn report(tool: &Tool, cost: &Cost, base: &Cost) {
    let time = |of: fn(&Cost) -> Duration| {
        let millis = |cost| of(cost).as_secs_f64() * 1e3;
        beside(millis(cost), millis(base), "ms")
    };
    println!(
        "{:8} first output {}  p50 {}  p99 {}  peak RSS {}  CPU to start {}  CPU a patch {}",
        tool.name,
        time(|cost| cost.first_output),
        time(|cost| cost.delays[cost.delays.len() / 2]),
        time(|cost| cost.delays[cost.delays.len() * 99 / 100]),
        beside(cost.used.peak_mib(), base.used.peak_mib(), "MiB"),
        time(|cost| cost.start),
        time(|cost| cost.used.cpu / u32::try_from(cost.delays.len()).unwrap()),
    );
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments = std::env::args().skip(1).filter(|arg| !arg.starts_with('-'));
    let arguments: Vec<String> = arguments.collect();
    let Some(kubectl) = arguments.first() else {
        println!(
            "usage: cargo bench --bench peers -- PATH_OF_KUBECTL [PATH_OF_SPY [pods|views|serve|logs [PATH_OF_STERN]]] (with KUBECONFIG set)"
        );
        return;
    };
    let built = || env!("CARGO_BIN_EXE_kubectl-spy").to_owned();
    let spy = arguments.get(1).cloned().unwrap_or_else(built);
    let client = Client::try_default().await.unwrap();
    match arguments.get(2).map(String::as_str) {
        Some("views") => views::measure(&client, &Programs { kubectl, spy: &spy }).await,
        Some("serve") => serve::measure(&client, &spy).await,
        Some("logs") => {
            let stern = arguments.get(3).map(String::as_str);
            logs::measure(&client, kubectl, &spy, stern).await;
        }
        Some(_) => changes(&client, [kubectl, &spy], &PODS).await,
        None => changes(&client, [kubectl, &spy], &DEPLOYMENT).await,
    }
}

/// Compares `changes` with `kubectl get -w -o json`.
async fn changes(client: &Client, [kubectl, spy]: [&str; 2], load: &Load) {
    let tools = [
        Tool {
            name: "kubectl",
            program: kubectl.to_owned(),
            args: vec!["get", load.subject, "-n", NAMESPACE, "-w", "-o", "json"],
        },
        Tool {
            name: "spy",
            program: spy.to_owned(),
            args: vec!["changes", "--since=0", load.subject, "-n", NAMESPACE],
        },
    ];
    create(client, load).await;
    let mut costs = Vec::new();
    for tool in &tools {
        costs.push(under_load(tool, client, load).await);
    }
    for (tool, cost) in tools.iter().zip(&costs) {
        report(tool, cost, &costs[0]);
    }
    delete(client).await;
}
