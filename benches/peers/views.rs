//! Compares `status` and `trace` with `kubectl get` in a namespace of 10,000 Pods: wall time, requests and peak
//! memory of one answer, and CPU time under writes.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kube::Client;
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use serde_json::Value;

use crate::load::NAMESPACE;
use crate::process::{Used, beside, settled, spawn};
use crate::shop;

/// How many times each answer is measured. The median time counts, and the largest memory.
const RUNS: usize = 5;

/// The writes: 200 a second for 15 seconds.
const PATCHES: usize = 3_000;
const EVERY: Duration = Duration::from_millis(5);

/// The paths of the two programs.
pub(crate) struct Programs<'a> {
    pub(crate) kubectl: &'a str,
    pub(crate) spy: &'a str,
}

/// One answer of a program that ends by itself.
struct Answer {
    wall: Duration,
    used: Used,
    requests: usize,
}

/// Measures everything and prints it.
pub(crate) async fn measure(client: &Client, programs: &Programs<'_>) {
    shop::create(client).await;
    let pods = answer(programs.kubectl, &["get", "pods", "-n", NAMESPACE]);
    report("kubectl get pods", &pods, &pods);
    for words in [
        "status deploy/x-0",
        "status deploy/x-1",
        "trace deploy/x-0",
        "trace deploy/x-1",
        "trace svc/x-0",
        "trace cm/x-0",
        "status pods",
    ] {
        let mut args: Vec<&str> = words.split(' ').collect();
        args.extend(["-n", NAMESPACE, "--once"]);
        report(words, &answer(programs.spy, &args), &pods);
    }
    let foreign = shop::pod_names(client, "x-5").await;
    for words in ["status deploy/x-0", "trace svc/x-0"] {
        under_writes(client, [programs.spy, words], &foreign).await;
    }
    let all = shop::pod_names(client, "").await;
    under_writes(client, [programs.kubectl, "get pods -w"], &all).await;
    under_writes(client, [programs.spy, "status pods"], &all).await;
    crate::load::delete(client).await;
}

fn report(name: &str, answer: &Answer, base: &Answer) {
    println!(
        "{name:18} wall {}  CPU {}  peak RSS {}  requests {}",
        beside(
            answer.wall.as_secs_f64() * 1e3,
            base.wall.as_secs_f64() * 1e3,
            "ms"
        ),
        beside(
            answer.used.cpu.as_secs_f64() * 1e3,
            base.used.cpu.as_secs_f64() * 1e3,
            "ms"
        ),
        beside(answer.used.peak_mib(), base.used.peak_mib(), "MiB"),
        answer.requests,
    );
}

/// Runs a program to its end several times.
fn answer(program: &str, args: &[&str]) -> Answer {
    let mut walls = Vec::new();
    let mut used = Used::default();
    let mut requests = 0;
    for _ in 0..RUNS {
        let log = AuditLog::here();
        let (mut child, started) = spawn(program, args);
        let pid = child.id();
        let mut output = child.stdout.take().unwrap();
        let reader = std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        while child.try_wait().unwrap().is_none() {
            if let Some(now) = Used::by(pid) {
                used.peak_rss_kib = used.peak_rss_kib.max(now.peak_rss_kib);
                used.cpu = now.cpu;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        walls.push(started.elapsed());
        reader.join().unwrap().unwrap();
        requests = log.requests();
    }
    walls.sort();
    Answer {
        wall: walls[RUNS / 2],
        used,
        requests,
    }
}

/// Runs a program in a terminal of 120x40 while these Pods are patched in turn, and prints the CPU time for the patches.
async fn under_writes(client: &Client, [program, words]: [&str; 2], pods: &[String]) {
    let size = PtySize {
        rows: 40,
        cols: 120,
        ..PtySize::default()
    };
    let pty = native_pty_system().openpty(size).unwrap();
    let program = std::fs::canonicalize(program).unwrap();
    let mut command = CommandBuilder::new(program);
    command.args(words.split(' ').chain(["-n", NAMESPACE]));
    let mut child = pty.slave.spawn_command(command).unwrap();
    let mut output = pty.master.try_clone_reader().unwrap();
    let reader = std::thread::spawn(move || {
        let mut bytes = vec![0; 65_536];
        while output.read(&mut bytes).is_ok_and(|count| count > 0) {}
    });
    let pid = child.process_id().unwrap();
    tokio::time::sleep(Duration::from_secs(4)).await;
    let before = settled(pid).await;
    let started = Instant::now();
    for count in 1..=PATCHES {
        let next = Instant::now() + EVERY;
        // A value of its own for each program: a patch that changes nothing is no event.
        shop::annotate(
            client,
            &pods[count % pods.len()],
            &format!("{words} {count}"),
        )
        .await;
        tokio::time::sleep_until(next.into()).await;
    }
    let wall = started.elapsed();
    let used = Used::by(pid).unwrap();
    let cpu = used.cpu.saturating_sub(before);
    println!(
        "{words:18} {PATCHES} patches of {} Pods in {:.1} s: CPU {:.0} ms, {:.2} % of a core; to start {:.0} ms; peak RSS {:.1} MiB",
        pods.len(),
        wall.as_secs_f64(),
        cpu.as_secs_f64() * 1e3,
        cpu.as_secs_f64() / wall.as_secs_f64() * 100.0,
        before.as_secs_f64() * 1e3,
        used.peak_mib(),
    );
    child.kill().unwrap();
    child.wait().unwrap();
    drop(pty);
    reader.join().unwrap();
    std::io::stdout().flush().unwrap();
}

/// The audit log of the API server, which lies beside the kubeconfig, from a place on.
struct AuditLog {
    path: PathBuf,
    from: usize,
}

impl AuditLog {
    /// The log from now on.
    fn here() -> AuditLog {
        let config = std::env::var("KUBECONFIG").unwrap();
        let path = Path::new(&config).with_file_name("audit.log");
        let from = std::fs::read(&path).unwrap().len();
        AuditLog { path, from }
    }

    /// How many requests the log has got, without those of this program.
    fn requests(&self) -> usize {
        let log = std::fs::read(&self.path).unwrap();
        let entries = log[self.from..].split(|byte| *byte == b'\n');
        let entries = entries.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
        let ours = entries.filter(|entry| {
            let agent = entry["userAgent"].as_str().unwrap_or_default();
            agent.starts_with("kubectl")
        });
        let ids = ours.filter_map(|entry| Some(entry["auditID"].as_str()?.to_owned()));
        ids.collect::<std::collections::BTreeSet<_>>().len()
    }
}
