//! Runs one schedule, from an empty namespace to the verdict.

use std::fs;
use std::time::Duration;

use super::credentials::{Access, kept, tidy};
use super::ledger::{Entry, Truth};
use super::objects::{KINDS, PREFIX};
use super::plane::Plane;
use super::schedule::{Believed, Fault, Schedule, Step, Then};
use super::subject::{Record, Subject};
use super::verdict::{Account, judge, transcript};
use super::writer::Writer;
use crate::support::fault_proxy::{End, FaultProxy, Struck, Weather};

/// The time that the program may need to catch up after the last fault. The longest pause between two
/// attempts is 30 seconds, and between two bookmarks a minute.
const CATCHES_UP: Duration = Duration::from_secs(120);
/// The limit of the wait for a fault that may find no connection to strike.
const STRIKES: Duration = Duration::from_secs(3);
/// The number of objects of each kind.
const OBJECTS: usize = 3;

/// A running schedule.
struct Run<'a> {
    plane: &'a Plane,
    proxy: FaultProxy,
    writer: Writer,
    subject: Subject,
    access: Access<'a>,
}

/// Whether the program caught up in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    Kept,
    Lost,
}

/// Runs a schedule. The error lists everything that is wrong in the output.
pub async fn run(schedule: &Schedule, plane: &Plane) -> Result<(Account, Struck), String> {
    let seed = schedule.seed;
    let label = format!("{PREFIX}{seed}");
    let mut writer = Writer::new(plane.api().await, &label, OBJECTS, seed);
    writer.api.prepare(&label).await;
    plane.grant(&writer.api, &label).await;
    let proxy = plane.proxy(schedule.protocol, seed);
    let access = Access {
        plane,
        proxy: proxy.address(),
        label: &label,
        credential: schedule.credential,
    };
    let subject = Subject::start(&access.write(), &label, &label);
    assert!(subject.is_synced(CATCHES_UP), "it does not start");
    writer.write_each().await;
    let mut run = Run {
        plane,
        proxy,
        writer,
        subject,
        access,
    };
    for step in &schedule.steps {
        if run.step(step).await == Pace::Lost {
            return run.end().await;
        }
    }
    run.writer.write_each().await;
    run.catch_up();
    run.end().await
}

impl Run<'_> {
    async fn step(&mut self, step: &Step) -> Pace {
        match step.fault {
            Fault::Weather(weather) => {
                self.weather(weather, step.writes).await;
            }
            Fault::End(end) => {
                self.writer.write(step.writes / 2).await;
                self.proxy.end_all(end);
                self.writer.write(step.writes / 2).await;
            }
            Fault::Revoke(believed) => {
                // A source that is still forbidden prints no new records.
                if self.catch_up() == Pace::Lost {
                    return Pace::Lost;
                }
                self.revoke(believed, step.writes).await;
            }
            Fault::Undefine => self.undefine(step.writes).await,
            Fault::Kill | Fault::Forget | Fault::Rotate => self.kill(step).await,
            Fault::Freeze => {
                self.plane.control.freeze_api_server();
                self.writer.write(step.writes).await;
                self.plane.control.thaw_api_server();
            }
            Fault::Compact => {
                self.writer.write(step.writes).await;
                self.plane.compact();
            }
            Fault::Restore => return self.restore(step.writes).await,
        }
        let mut pace = Pace::Kept;
        match step.then {
            Then::GoOn => {}
            Then::End(end) => self.proxy.end_all(end),
            Then::CatchUp => pace = self.catch_up(),
        }
        self.proxy.set(Weather::Fair);
        pace
    }

    /// Some weather affects only new connections. It stays until it has struck, if it can.
    async fn weather(&mut self, weather: Weather, writes: u32) {
        let before = self.proxy.struck();
        self.proxy.set(weather);
        if let Some(times) = before.of(weather) {
            self.proxy.end_all(End::Reset);
            self.writer.write(writes).await;
            self.proxy
                .until(STRIKES, |struck| struck.of(weather) > Some(times));
        }
        self.writer.write(writes).await;
    }

    async fn revoke(&mut self, believed: Believed, writes: u32) {
        let label = self.writer.namespace.clone();
        self.plane.revoke(&self.writer.api, &label).await;
        let before = self.subject.count();
        // A running watch is not authorized again, so its connection must end.
        self.proxy.end_all(End::Reset);
        self.writer.write(writes).await;
        let waited = match believed {
            Believed::No => "retrying",
            Believed::Yes => "forbidden",
        };
        let refused = |records: &[Record]| {
            let states = records[before..].iter();
            let states = states.filter(|record| **record == Record::State(waited.to_owned()));
            states.count() >= KINDS.len()
        };
        assert!(self.subject.until(CATCHES_UP, refused), "it is not refused");
        self.plane.grant(&self.writer.api, &label).await;
    }

    async fn undefine(&mut self, writes: u32) {
        let label = self.writer.namespace.clone();
        self.writer.write(writes / 2).await;
        self.writer.api.undefine(&label).await;
        self.writer.write(writes / 2).await;
        self.writer.api.define(&label).await;
    }

    async fn kill(&mut self, step: &Step) {
        let control = &self.plane.control;
        self.writer.write(step.writes / 2).await;
        control.kill_api_server();
        self.writer.write(step.writes / 2).await;
        if step.fault == Fault::Forget {
            self.plane.compact();
            self.writer.write(step.writes / 2).await;
        }
        if step.fault == Fault::Rotate {
            control.new_token();
            self.access.write();
        }
        control.start_api_server();
    }

    /// The writes after the restore stay below the revisions that the program has already seen. Otherwise the
    /// restore could not be noticed, and the program would be right to print no gap.
    async fn restore(&mut self, writes: u32) -> Pace {
        self.plane.save();
        self.writer.write(writes + 60).await;
        self.catch_up();
        self.plane.restore();
        self.writer.write(10).await;
        self.catch_up()
    }

    /// Waits in fair weather until the program has caught up. If that takes too long, the verdict explains
    /// why.
    fn catch_up(&self) -> Pace {
        self.proxy.set(Weather::Fair);
        self.plane.etcd.catch_up();
        let truth = self.plane.etcd.ledger().of(&self.writer.namespace);
        if self.subject.catches_up(&truth, CATCHES_UP) {
            Pace::Kept
        } else {
            Pace::Lost
        }
    }

    async fn end(self) -> Result<(Account, Struck), String> {
        let label = self.writer.namespace.clone();
        let truth = self.plane.etcd.ledger().of(&label);
        let struck = self.proxy.struck();
        let (records, errors) = self.subject.interrupt();
        self.writer.api.undefine(&label).await;
        match judge(&truth, &records) {
            Ok(account) if errors.is_empty() => {
                tidy(&label);
                Ok((account, struck))
            }
            Ok(_) => Err(format!("it prints an error: {errors}")),
            Err(wrong) => {
                let report = report(&truth, &records);
                fs::write(kept(&label, "report"), report).unwrap();
                let kept = kept(&label, "*");
                Err(format!("{}\nsee {}", wrong.join("\n"), kept.display()))
            }
        }
    }
}

/// The report of a failure: all writes, and the output of the program.
pub fn report(truth: &Truth, records: &[Record]) -> String {
    let line = |entry: &Entry| format!("{entry:?}\n");
    let entries: String = truth.entries.iter().map(line).collect();
    let printed = KINDS.map(|kind| transcript(records, kind)).concat();
    let (restored, compacted) = (&truth.restored, &truth.compacted);
    format!("restored to {restored:?}, compacted {compacted:?}\n{entries}\n{printed}")
}
