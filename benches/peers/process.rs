//! What a running process has used, read from `/proc`.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tokio::time::sleep;

/// The resources that a process has used so far.
#[derive(Clone, Copy, Default)]
pub(crate) struct Used {
    /// The memory now.
    pub(crate) rss_kib: u64,
    pub(crate) peak_rss_kib: u64,
    pub(crate) cpu: Duration,
}

impl Used {
    /// `None` after the process has ended.
    pub(crate) fn by(pid: u32) -> Option<Used> {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let kib = |name| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().trim_end_matches(" kB").parse().ok()
        };
        // The first number is the run time of the thread, in nanoseconds.
        let threads = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?;
        let run = threads.map(|thread| {
            let stat = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
            stat.split(' ').next()?.parse::<u64>().ok()
        });
        Some(Used {
            rss_kib: kib("VmRSS:")?,
            peak_rss_kib: kib("VmHWM:")?,
            cpu: Duration::from_nanos(run.sum::<Option<u64>>()?),
        })
    }

    pub(crate) fn rss_mib(self) -> f64 {
        mib(self.rss_kib)
    }

    pub(crate) fn peak_mib(self) -> f64 {
        mib(self.peak_rss_kib)
    }
}

fn mib(kib: u64) -> f64 {
    f64::from(u32::try_from(kib).unwrap()) / 1024.0
}

/// The CPU time of a process after it has finished its start.
pub(crate) async fn settled(pid: u32) -> Duration {
    let mut used = Duration::ZERO;
    loop {
        let now = Used::by(pid).unwrap().cpu;
        if now.saturating_sub(used) < Duration::from_millis(5) {
            return now;
        }
        used = now;
        sleep(Duration::from_millis(500)).await;
    }
}

/// Starts a program whose output this process reads.
pub(crate) fn spawn(program: &str, args: &[&str]) -> (Child, Instant) {
    let mut command = Command::new(program);
    command
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let started = Instant::now();
    (command.spawn().unwrap(), started)
}

/// A figure, with its ratio to the first tool's figure.
pub(crate) fn beside(ours: f64, theirs: f64, unit: &str) -> String {
    format!("{ours:7.2} {unit} ({:.2}x)", ours / theirs)
}
