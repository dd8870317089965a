//! Random histories and random faults over HTTP: the multiplexer, its transport and the client against the
//! embedded API server, with a real clock. Each lossless reader must get exactly the server's log, except for
//! the versions in its gaps.
//!
//! The multiplexer's own tests check the same law for a thousand schedules on a server in memory. Here the
//! bytes pass through sockets. A failure names its seed; set `SEEDS` to repeat only that seed.

mod check;
mod script;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use jiff::Timestamp;
use kubectl_spy::cluster::{Client, ClusterConfig, Limits};
use kubectl_spy::object::Resource;
use kubectl_spy::sandbox::{self, Change, Deletion, Sandbox, Target, Writer};
use kubectl_spy::source::{ClusterId, Event, Form, Scope, Select, SourceKey, Version};
use kubectl_spy::watch::{
    HttpTransport, Mux, MuxOptions, Patience, Source, Subscriptions, Transport,
};
use serde_json::json;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use check::{Summary, number};
use script::Script;

/// The seeds of the schedules, which all run at once.
const SEEDS: std::ops::Range<u64> = 0..28;
/// Schedules from this seed on have a server that omits versions, which no server should do.
const HONEST: u64 = 24;
const STEPS: usize = 40;
const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
/// The limit of any wait. No working operation takes this long.
const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_schedules_over_http() {
    let mut running = JoinSet::new();
    for seed in SEEDS {
        running.spawn(schedule(seed));
    }
    let mut all = Summary::default();
    while let Some(summary) = running.join_next().await {
        all.add(&summary.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic())));
    }
    // The faults must have had an effect. Most versions that polling omits are read back.
    let least = [all.expired, all.read_back, all.bad, all.slow]
        .into_iter()
        .min();
    assert!(least > Some(0), "{all:?}");
}

/// Runs one schedule, from an empty server to the last write.
async fn schedule(seed: u64) -> Summary {
    let mut rng = fastrand::Rng::with_seed(seed);
    let honest = seed < HONEST;
    let mut script = Script::random(&mut rng, honest);
    let mut server = Server::start(&script).await;
    for _ in 0..rng.usize(..5) {
        server.write(&mut rng);
    }
    let queue_bytes = 400 * rng.usize(2..20);
    let source = open(&server.sandbox, seed, queue_bytes).await;
    let mut readers = vec![
        Reader::fast(&source, format!("seed {seed}, fast")),
        Reader::slow(&source, format!("seed {seed}, slow")),
    ];
    for step in 0..STEPS {
        server.act(&mut rng, &mut script).await;
        if honest && server.written > 0 && rng.u32(..3) == 0 {
            readers[0].until(|events| has(events, server.written)).await;
        }
        if rng.u32(..25) == 0 {
            let label = format!("seed {seed}, late at {step}");
            readers.push(if rng.bool() {
                Reader::fast(&source, label)
            } else {
                Reader::slow(&source, label)
            });
        }
        for reader in &mut readers {
            if rng.u32(..5) == 0 {
                reader.read(rng.usize(..8));
            }
        }
    }
    server.settle();
    for reader in &mut readers {
        reader.until(|events| has(events, server.written)).await;
        reader.read(usize::MAX);
    }
    verdict(&server, &script, &readers)
}

/// Compares all readers with the server's log.
fn verdict(server: &Server, script: &Script, readers: &[Reader]) -> Summary {
    let log = server.log();
    let mut all = Summary::default();
    for (at, reader) in readers.iter().enumerate() {
        let label = &*reader.label;
        let summary = if script.honest {
            check::all(label, &log, &reader.events)
        } else {
            check::order(label, &log, &reader.events)
        };
        script.check(label, &summary);
        // Only the first two readers existed from the start.
        let had_two_for_each = summary.bad >= 2 * summary.bad_twice;
        assert!(at > 0 || had_two_for_each, "{label}: {summary:?}");
        let fast = matches!(reader.pace, Pace::Fast(..));
        // During a read-back, the events that wait for it can exceed a small queue.
        let may_lag = !fast || summary.read_back > 0;
        assert!(summary.slow == 0 || may_lag, "{label}: {summary:?}");
        all.add(&summary);
    }
    all
}

async fn open(sandbox: &Sandbox, seed: u64, queue_bytes: usize) -> Source {
    let limits = Limits {
        headers: Duration::from_millis(300),
        quiet: Duration::from_millis(300),
        ..Limits::default()
    };
    let config = ClusterConfig::plain(&sandbox.url(), "shop").unwrap();
    let client = Client::with_limits(config, limits).await.unwrap();
    let cluster = ClusterId("sandbox".into());
    let transport: Arc<dyn Transport> = Arc::new(HttpTransport::new(client));
    let options = MuxOptions {
        seed,
        queue_bytes,
        page_items: 2,
        // A watch without bookmarks counts as dead after a second; one with bookmarks after a third of that.
        speed: NonZeroU32::new(300).unwrap(),
        ..MuxOptions::default()
    };
    let clock = Arc::new(|| Timestamp::UNIX_EPOCH);
    let mux = Mux::with_options([(cluster.clone(), transport)], clock, options);
    let source = mux.open_idle(SourceKey {
        cluster,
        resource: Resource {
            group: "".into(),
            version: "v1".into(),
            plural: "configmaps".into(),
            kind: "ConfigMap".into(),
            namespaced: true,
        },
        scope: Scope::Namespace("shop".into()),
        select: Select::All,
        form: Form::Full,
    });
    source.start();
    source
}

/// A subscription to one source.
fn subscribed(source: &Source) -> Subscriptions {
    let mut only = Subscriptions::new();
    only.add(source, Patience::Screen);
    only
}

/// The server and its writer.
struct Server {
    sandbox: Sandbox,
    writer: Writer,
    /// The revision of the last write, if its object still exists. A reader with that version is up to date.
    written: u64,
    writes: u64,
}

impl Server {
    async fn start(script: &Script) -> Server {
        let options = sandbox::Options {
            bookmark_interval: Duration::from_millis(50),
            faults: script.faults.clone(),
            ..sandbox::Options::new(Arc::new(|| Timestamp::UNIX_EPOCH))
        };
        Server {
            sandbox: Sandbox::start(options).await.unwrap(),
            writer: Writer::new("schedule"),
            written: 0,
            writes: 0,
        }
    }

    /// Writes an object, or causes an additional fault.
    async fn act(&mut self, rng: &mut fastrand::Rng, script: &mut Script) {
        match rng.u32(..41) {
            0..32 => self.write(rng),
            32..36 => self.put("shop-2", "elsewhere"),
            36..38 => {
                script.expiries += 1;
                self.sandbox.expire_watch_window();
            }
            38 => self.sandbox.compact(self.sandbox.revision()),
            39 => {
                script.expiries += 1;
                self.sandbox.restart().await.unwrap();
            }
            _ => {
                script.expiries += 1;
                self.outage(rng).await;
            }
        }
    }

    /// Writes while nobody is connected, and compacts the versions. So they are lost however fast a reader is.
    async fn outage(&mut self, rng: &mut fastrand::Rng) {
        self.sandbox.stop().await;
        for _ in 0..4 {
            self.write(rng);
        }
        self.sandbox.compact(self.sandbox.revision());
        self.sandbox.restart().await.unwrap();
    }

    /// Creates, changes, deletes or re-creates an object.
    fn write(&mut self, rng: &mut fastrand::Rng) {
        let name = NAMES[rng.usize(..NAMES.len())];
        let target = Target::new("configmaps", "shop", name);
        let exists = self.sandbox.get(&target).is_some();
        let kind = rng.u32(..10);
        if exists && kind < 3 {
            let deletion = Deletion::Immediate;
            self.sandbox
                .delete(&target, deletion, &self.writer)
                .unwrap();
        }
        if !exists || kind > 0 {
            self.put("shop", name);
        }
        let last = self
            .log()
            .pop()
            .filter(|last| last.change != Change::Deleted);
        self.written = last.map_or(0, |last| last.revision);
    }

    fn put(&mut self, namespace: &str, name: &str) {
        self.writes += 1;
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"namespace": namespace, "name": name},
            "data": {"write": self.writes.to_string()},
        });
        self.sandbox.apply(object, &self.writer).unwrap();
    }

    /// Ends all faults and writes each object once more. That reveals all versions that a dishonest server
    /// has hidden.
    fn settle(&mut self) {
        self.sandbox.clear_faults();
        for name in NAMES {
            self.put("shop", name);
        }
        self.written = self.sandbox.revision();
    }

    /// The log entries that belong to the source.
    fn log(&self) -> Vec<sandbox::Record> {
        let mut log = self.sandbox.log();
        log.retain(|record| record.resource == "configmaps" && record.namespace == "shop");
        log
    }
}

/// A lossless reader and the events it read.
struct Reader {
    label: String,
    events: Vec<Event>,
    pace: Pace,
}

enum Pace {
    /// Reads all the time, and publishes the events read so far.
    Fast(JoinHandle<()>, watch::Receiver<Vec<Event>>),
    /// Reads from time to time, and may miss events.
    Slow(Subscriptions),
}

impl Reader {
    fn fast(source: &Source, label: String) -> Reader {
        let mut only = subscribed(source);
        let (seen, events) = watch::channel(Vec::new());
        let task = tokio::spawn(async move {
            while let Some((_, event)) = only.next().await {
                seen.send_modify(|seen| seen.push(event));
            }
        });
        let pace = Pace::Fast(task, events);
        let events = Vec::new();
        Reader {
            label,
            events,
            pace,
        }
    }

    fn slow(source: &Source, label: String) -> Reader {
        let pace = Pace::Slow(subscribed(source));
        let events = Vec::new();
        Reader {
            label,
            events,
            pace,
        }
    }

    /// Reads at most this many of the available events.
    fn read(&mut self, most: usize) {
        if let Pace::Slow(only) = &mut self.pace {
            for _ in 0..most {
                match only.next().now_or_never().flatten() {
                    Some((_, event)) => self.events.push(event),
                    None => return,
                }
            }
        }
    }

    /// Reads until `is_enough` is true.
    async fn until(&mut self, is_enough: impl Fn(&[Event]) -> bool) {
        let reading = async {
            match &mut self.pace {
                Pace::Fast(_, events) => {
                    let enough = events.wait_for(|events| is_enough(events)).await;
                    self.events.clone_from(&enough.unwrap());
                }
                Pace::Slow(only) => {
                    while !is_enough(&self.events) {
                        self.events.push(only.next().await.unwrap().1);
                    }
                }
            }
        };
        if timeout(PATIENCE, reading).await.is_err() {
            if let Pace::Fast(_, events) = &self.pace {
                self.events.clone_from(&events.borrow());
            }
            let last = self.events.len().saturating_sub(12);
            panic!(
                "{}: what is waited for does not come: {:#?}",
                self.label,
                &self.events[last..]
            );
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let Pace::Fast(task, _) = &self.pace {
            task.abort();
        }
    }
}

/// Whether these events contain a version.
fn has(events: &[Event], revision: u64) -> bool {
    events
        .iter()
        .any(|event| matches!(event, Event::Object { now, .. } if number(&now.version) == revision))
}

/// The identity of an object.
fn key(version: &Version) -> String {
    version.object.identity().as_str().to_owned()
}
