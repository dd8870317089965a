//! The soak: many objects, many changes and a fault every 20 seconds. The program's memory and file
//! descriptors must not grow, and no version may be lost.
//!
//! `SPY_SOAK_SECONDS=3600 cargo test --release --test e2e soak -- --nocapture` runs the full soak. The
//! default is short and only shows that the soak works.

use std::fs;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::credentials::{Access, kept, tidy};
use super::ledger::Truth;
use super::objects::{KINDS, PREFIX};
use super::plane::Plane;
use super::run::report;
use super::schedule::{Credential, weather};
use super::subject::Subject;
use super::usage::{Usage, table, uneven};
use super::verdict::judge;
use super::writer::Writer;
use crate::support::fault_proxy::{End, FaultProxy, Protocol, Weather};

/// The default duration in seconds, and the default number of objects.
const SHORT: (u64, usize) = (20, 200);
/// The number of objects if `SPY_SOAK_SECONDS` is set.
const OBJECTS: usize = 2000;
/// The pause between two changes.
const CHANGE: Duration = Duration::from_millis(10);
const SAMPLE: Duration = Duration::from_secs(10);
/// The time between two faults.
const FAIR: Duration = Duration::from_secs(15);
/// The duration of a fault.
const FOUL: Duration = Duration::from_secs(5);
/// Every ninth fault is a kill, and after every fifteenth etcd is compacted.
const KILL: u64 = 9;
const COMPACTION: u64 = 15;
/// The time that the program may need to catch up after the last fault.
const CATCHES_UP: Duration = Duration::from_secs(180);

/// One run of the program behind a proxy of its own.
struct Way {
    protocol: Protocol,
    label: String,
    proxy: FaultProxy,
    subject: Subject,
}

#[test]
fn soak() {
    let asked = std::env::var("SPY_SOAK_SECONDS").ok();
    let asked = asked.map(|text| (text.parse().expect("the variable is a number"), OBJECTS));
    let (seconds, objects) = asked.unwrap_or(SHORT);
    // The file names contain the duration, so that a long soak and a short one can run side by side.
    let namespace = format!("{PREFIX}soak-{seconds}");
    let plane = Plane::to_break(&namespace);
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build().unwrap();
    let mut writer = runtime.block_on(async {
        let api = plane.api().await;
        api.prepare(&namespace).await;
        plane.grant(&api, &namespace).await;
        Writer::new(api, &namespace, objects / KINDS.len(), 0)
    });
    let ways = [Protocol::Bytes, Protocol::Http];
    let ways = ways.map(|protocol| Way::new(&plane, &namespace, protocol));
    runtime.block_on(writer.write_each());
    let started = Instant::now();
    let usage = thread::scope(|scope| {
        let (stop_harm, harmed) = channel::<()>();
        let (stop_samples, sampled) = channel::<()>();
        let (plane, ways) = (&plane, &ways);
        scope.spawn(move || harm(plane, ways, &harmed));
        let usages = scope.spawn(move || sample(ways, &sampled));
        let length = Duration::from_secs(seconds);
        let written = runtime.block_on(write(&mut writer, started + length));
        println!("{written} changes in {:?}", started.elapsed());
        drop(stop_harm);
        drop(stop_samples);
        usages.join().unwrap()
    });
    runtime.block_on(writer.write_each());
    plane.etcd.catch_up();
    let truth = plane.etcd.ledger().of(&namespace);
    let wrong: Vec<String> = ways
        .into_iter()
        .zip(usage)
        .flat_map(|(way, usage)| way.end(&truth, usage))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Writes a change at each tick; returns the number of changes.
async fn write(writer: &mut Writer, until: Instant) -> u64 {
    let mut ticks = tokio::time::interval(CHANGE);
    let mut written = 0;
    while Instant::now() < until {
        ticks.tick().await;
        writer.write(1).await;
        written += 1;
    }
    written
}

/// Waits for this time; returns false if the stop comes first.
fn passes(stop: &Receiver<()>, time: Duration) -> bool {
    stop.recv_timeout(time) == Err(RecvTimeoutError::Timeout)
}

/// Causes a fault every 20 seconds until the stop.
fn harm(plane: &Plane, ways: &[Way], stop: &Receiver<()>) {
    let mut rng = fastrand::Rng::with_seed(0);
    let mut last = plane.etcd.catch_up();
    for nth in 1.. {
        if !passes(stop, FAIR) {
            break;
        }
        if nth % COMPACTION == 0 {
            plane.etcd.compact(last);
            last = plane.etcd.catch_up();
        }
        if nth % KILL == 0 {
            plane.control.kill_api_server();
            plane.control.start_api_server();
            continue;
        }
        let end = [End::Closed, End::Reset][rng.usize(..2)];
        for way in ways {
            way.proxy.set(weather(way.protocol, &mut rng));
            way.proxy.end_all(end);
        }
        passes(stop, FOUL);
        for way in ways {
            way.proxy.set(Weather::Fair);
        }
    }
}

/// Samples each run every ten seconds until the stop.
fn sample(ways: &[Way], stop: &Receiver<()>) -> Vec<Vec<Usage>> {
    let mut usage = vec![Vec::new(); ways.len()];
    let started = Instant::now();
    loop {
        for (way, usage) in ways.iter().zip(&mut usage) {
            usage.extend(Usage::of(way.subject.pid(), started.elapsed()));
        }
        if !passes(stop, SAMPLE) {
            return usage;
        }
    }
}

impl Way {
    fn new(plane: &Plane, namespace: &str, protocol: Protocol) -> Way {
        let label = format!("{namespace}-{protocol:?}").to_lowercase();
        let proxy = plane.proxy(protocol, 0);
        let access = Access {
            plane,
            proxy: proxy.address(),
            label: &label,
            credential: Credential::Kubeconfig,
        };
        let subject = Subject::start(&access.write(), namespace, &label);
        assert!(subject.is_synced(CATCHES_UP), "it does not start");
        Way {
            protocol,
            label,
            proxy,
            subject,
        }
    }

    /// Waits until the program has caught up; returns everything that is wrong.
    fn end(self, truth: &Truth, mut usage: Vec<Usage>) -> Vec<String> {
        let label = &self.label;
        let mut wrong = Vec::new();
        if !self.subject.catches_up(truth, CATCHES_UP) {
            wrong.push(format!("{label}: it does not catch up"));
        }
        let last = usage.last().map_or(Duration::ZERO, |last| last.at);
        usage.extend(Usage::of(self.subject.pid(), last));
        println!("{label}: {:?}\n{}", self.proxy.struck(), table(&usage));
        wrong.extend(uneven(&usage).map(|uneven| format!("{label}: {uneven}")));
        let (records, errors) = self.subject.interrupt();
        match judge(truth, &records) {
            Ok(account) => println!("{label}: {account:?}"),
            Err(losses) => {
                fs::write(kept(label, "report"), report(truth, &records)).unwrap();
                wrong.extend(losses);
            }
        }
        if !errors.is_empty() {
            wrong.push(format!("{label}: it prints an error: {errors}"));
        }
        if wrong.is_empty() {
            tidy(label);
        }
        wrong
    }
}
