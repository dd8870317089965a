//! Measures the memory and the file descriptors of a process, and checks that they do not grow.

use std::fmt::Write;
use std::fs;
use std::time::Duration;

/// The usage of a process at one time.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    pub at: Duration,
    pub rss_kib: u64,
    pub descriptors: usize,
}

/// The time after which memory should be stable.
const SETTLES: Duration = Duration::from_secs(600);
/// The time over which memory is averaged.
const WINDOW: Duration = Duration::from_secs(300);
/// The allowed distance of a mean from the first one, in percent.
const TOLERANCE: u64 = 5;
/// The allowed number of additional descriptors at the end: connections that are about to close.
const CLOSING: usize = 3;

impl Usage {
    /// The usage of a process; `None` on systems without `/proc`.
    pub fn of(pid: u32, at: Duration) -> Option<Usage> {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let resident = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        Some(Usage {
            at,
            rss_kib: resident.split_whitespace().nth(1)?.parse().ok()?,
            descriptors: fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count(),
        })
    }
}

/// The samples, one on each line.
pub fn table(usage: &[Usage]) -> String {
    let mut table = "seconds  RSS KiB  descriptors\n".to_owned();
    for now in usage {
        let seconds = now.at.as_secs();
        writeln!(
            table,
            "{seconds:7}  {:7}  {:11}",
            now.rss_kib, now.descriptors
        )
        .unwrap();
    }
    table
}

/// Reports memory or descriptors that did not stay stable.
pub fn uneven(usage: &[Usage]) -> Option<String> {
    let (first, last) = (usage.first()?.descriptors, usage.last()?.descriptors);
    if last > first + CLOSING {
        return Some(format!("{first} file descriptors have become {last}"));
    }
    let end = usage.last()?.at;
    let begins = (0..).map(|nth| SETTLES + WINDOW * nth);
    let windows = begins.take_while(|begin| *begin + WINDOW <= end);
    let means: Vec<u64> = windows.map(|begin| mean(usage, begin)).collect();
    let first = *means.first()?;
    let is_far = |mean: &&u64| first.abs_diff(**mean) * 100 > first * TOLERANCE;
    means.iter().find(is_far)?;
    Some(format!("the resident memory is not flat: {means:?} KiB"))
}

fn mean(usage: &[Usage], begin: Duration) -> u64 {
    let is_in = |now: &&Usage| (begin..begin + WINDOW).contains(&now.at);
    let sizes: Vec<u64> = usage.iter().filter(is_in).map(|now| now.rss_kib).collect();
    sizes.iter().sum::<u64>() / (sizes.len() as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sizes: &[u64], descriptors: &[usize]) -> bool {
        let minutes = (0_u64..).map(|minute| Duration::from_secs(minute * 300));
        let rows = minutes.zip(sizes.iter().zip(descriptors));
        let usage: Vec<Usage> = rows
            .map(|(at, (rss_kib, descriptors))| Usage {
                at,
                rss_kib: *rss_kib,
                descriptors: *descriptors,
            })
            .collect();
        uneven(&usage).is_none()
    }

    #[test]
    fn growth_is_found() {
        assert!(check(&[10, 90, 100, 104, 96, 100], &[9; 6]));
        assert!(!check(&[10, 90, 100, 104, 106, 100], &[9; 6]));
        assert!(!check(&[10, 90, 100, 100, 94, 100], &[9; 6]));
        assert!(check(&[100; 6], &[9, 12, 30, 10, 9, 10]));
        assert!(!check(&[100; 6], &[9, 9, 9, 10, 12, 13]));
    }
}
