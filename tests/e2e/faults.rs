//! Random faults on the real control plane. The program runs behind a proxy, a writer bypasses the proxy, and
//! the verdict compares the output with the history in etcd.
//!
//! A failure prints its seed and its schedule. `SPY_FAULT_SEED=17` runs only that seed, `SPY_FAULT_SEEDS=200`
//! runs the first 200. The soak is in [`soak`].

mod credentials;
pub mod etcd;
mod ledger;
mod objects;
mod plane;
mod run;
mod schedule;
mod soak;
mod subject;
mod tls;
mod usage;
mod verdict;
mod writer;

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use plane::Plane;
use schedule::Schedule;
use verdict::Account;

use crate::support::fault_proxy::Struck;

/// The default number of schedules.
const SEEDS: usize = 20;
/// The number of schedules at once: on the shared control plane, and on control planes of their own.
const AT_ONCE: (usize, usize) = (4, 3);

/// The results of all schedules.
#[derive(Default)]
struct Report {
    done: Vec<(Account, Struck)>,
    failed: Vec<String>,
}

#[test]
fn random_schedules() {
    let schedules: Vec<Schedule> = seeds().into_iter().map(Schedule::of).collect();
    let is_shared = |schedule: &Schedule| schedule.plane == schedule::Plane::Shared;
    let (shared, own) = schedules.into_iter().partition::<VecDeque<_>, _>(is_shared);
    let (own, report) = (Mutex::new(own), Mutex::new(Report::default()));
    thread::scope(|scope| {
        scope.spawn(|| on_one_plane(shared, &report));
        for _ in 0..AT_ONCE.1 {
            scope.spawn(|| {
                while let Some(schedule) = take(&own) {
                    let label = format!("faults-{}", schedule.seed);
                    attempt(&schedule, &report, || Plane::to_break(&label));
                }
            });
        }
    });
    let report = report.into_inner().unwrap();
    assert!(report.failed.is_empty(), "{}", report.failed.join("\n\n"));
    check_bite(&report);
}

/// The seeds to run.
fn seeds() -> Vec<u64> {
    let number = |name: &str| {
        Some(
            std::env::var(name)
                .ok()?
                .parse()
                .expect("the variable is a number"),
        )
    };
    match number("SPY_FAULT_SEED") {
        Some(seed) => vec![seed],
        None => (0..number("SPY_FAULT_SEEDS").unwrap_or(SEEDS as u64)).collect(),
    }
}

fn take(queue: &Mutex<VecDeque<Schedule>>) -> Option<Schedule> {
    queue.lock().unwrap().pop_front()
}

fn on_one_plane(schedules: VecDeque<Schedule>, report: &Mutex<Report>) {
    if schedules.is_empty() {
        return;
    }
    let plane = Plane::to_share("faults");
    let schedules = Mutex::new(schedules);
    thread::scope(|scope| {
        for _ in 0..AT_ONCE.0 {
            scope.spawn(|| {
                while let Some(schedule) = take(&schedules) {
                    attempt(&schedule, report, || &plane);
                }
            });
        }
    });
}

/// Runs one schedule and records its result.
fn attempt<P: AsRef<Plane>>(
    schedule: &Schedule,
    report: &Mutex<Report>,
    plane: impl FnOnce() -> P,
) {
    let begun = Instant::now();
    let ran = catch_unwind(AssertUnwindSafe(|| {
        let plane = plane();
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_all().build().unwrap();
        runtime.block_on(run::run(schedule, plane.as_ref()))
    }));
    let result = ran.unwrap_or_else(|panic| Err(words(&*panic)));
    let mut report = report.lock().unwrap();
    let took = begun.elapsed().as_secs();
    match result {
        Ok((account, struck)) => {
            println!("seed {}: {took} s, {account:?}, {struck:?}", schedule.seed);
            report.done.push((account, struck));
        }
        Err(wrong) => {
            let report_line = format!(
                "seed {} after {took} s: {wrong}\n{schedule:#?}",
                schedule.seed
            );
            println!("{report_line}");
            report.failed.push(report_line);
        }
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| Some((*panic.downcast_ref::<&str>()?).to_owned()))
        .unwrap_or_default()
}

/// Fails if a kind of fault never struck, because such a run proves nothing.
fn check_bite(report: &Report) {
    let mut all = Account::default();
    for (account, _) in &report.done {
        all.add(account);
    }
    let struck = |of: fn(&Struck) -> u64| report.done.iter().map(|(_, struck)| of(struck)).sum();
    let struck: [u64; 5] = [
        struck(|struck| struck.refused),
        struck(|struck| struck.leaked),
        struck(|struck| struck.failed),
        struck(|struck| struck.repeated),
        struck(|struck| struck.garbled),
    ];
    println!(
        "{} schedules: {all:?}, struck {struck:?}",
        report.done.len()
    );
    if report.done.len() >= SEEDS {
        let printed = [all.read_back, all.gaps, all.undecodable, all.lost];
        assert!(!printed.contains(&0), "{all:?}");
        assert!(!struck.contains(&0), "{struck:?}");
    }
}
