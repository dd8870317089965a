//! Random histories with random faults and several readers. What each reader gets is the server's history, except
//! for exactly what its gaps report.

use std::sync::Mutex;

use tokio::task::JoinHandle;

use super::check::{Check, Mirror, ReportedFaults, number, state, uid};
use super::*;
use crate::watch::tests::fake::{Model, Plan, WatchFault, api_error, throttled};

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
const FAULTS: [WatchFault; 10] = [
    WatchFault::Close,
    WatchFault::Reset,
    WatchFault::Half,
    WatchFault::Stall,
    WatchFault::Garbage,
    WatchFault::UnknownType,
    WatchFault::TooLong,
    WatchFault::Error(410),
    WatchFault::Error(500),
    WatchFault::Error(0),
];
const SEEDS: u64 = 1000;

/// A lossless reader, and the events that it has read.
struct Reader {
    label: String,
    /// The source's version when the reader joined, if there had been a listing.
    from: Option<u64>,
    /// How many restores the source had noticed.
    restores: usize,
    events: Arc<Mutex<Vec<Event>>>,
    pace: Speed,
}

enum Speed {
    /// Reads all the time.
    Fast(JoinHandle<()>),
    /// Reads now and then, and may miss events.
    Slow(Reading),
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let Speed::Fast(task) = &self.pace {
            task.abort();
        }
    }
}

impl Reader {
    fn join(source: &Source, label: String, slow: bool) -> Reader {
        let mut every = source.every(Patience::Screen);
        // There is no await in between, so the snapshot has this version.
        let from = source.shared().version().as_ref().map(number);
        let restores = source.shared().lock().restores as usize;
        let events: Arc<Mutex<Vec<Event>>> = Arc::default();
        let pace = if slow {
            Speed::Slow(every)
        } else {
            let events = events.clone();
            Speed::Fast(tokio::spawn(async move {
                while let Some(event) = every.next().await {
                    events.lock().expect("no panic").push(event);
                }
            }))
        };
        Reader {
            label,
            from,
            restores,
            events,
            pace,
        }
    }

    /// Checks the events against the history. No more faults may be reported than happened.
    fn check(&self, model: &Model) -> ReportedFaults {
        let label = &*self.label;
        let fast = matches!(self.pace, Speed::Fast(_));
        let from = self
            .from
            .unwrap_or_else(|| model.listed_at.expect("listed"));
        let events = self.events.lock().expect("no panic");
        let joined = (label, from, self.restores);
        let told = Check::all(joined, model, &events, self.from.is_none() && fast);
        assert!(told.expired <= model.expired, "{label}: {told:?}");
        assert!(told.damaged <= model.damaged, "{label}: {told:?}");
        assert!(told.slow == 0 || !fast, "{label}: {told:?}");
        let restored = model.lost.len() - self.restores;
        assert_eq!(told.restored, restored, "{label}: {told:?}");
        told
    }

    /// Reads at most this many events.
    async fn read(&mut self, most: usize) {
        if let Speed::Slow(every) = &mut self.pace {
            for _ in 0..most {
                match timeout(Duration::ZERO, every.next()).await {
                    Ok(Some(event)) => self.events.lock().expect("no panic").push(event),
                    _ => break,
                }
            }
        }
    }
}

/// One action of the server: a write or a fault.
fn act(fake: &Fake, rng: &mut fastrand::Rng, faults: bool, polls: &mut usize) {
    let name = NAMES[rng.usize(..NAMES.len())];
    let exists = fake.get(name).is_some();
    match rng.u32(..100) {
        0..55 => drop(fake.apply(name)),
        55..70 if exists => drop(fake.delete(name)),
        70..74 if exists => {
            fake.delete(name);
            fake.apply(name);
        }
        74..78 => fake.elsewhere(),
        _ if !faults => drop(fake.apply(name)),
        78..81 => fake.cut(),
        81..84 => fake.kill(),
        84..86 => fake.forget(),
        86..88 => fake.expire(),
        88..90 => {
            let next = fake.model().rv + 1 + rng.u64(..3);
            fake.model().poison.insert(next);
        }
        90..91 => {
            *polls += 1;
            let code = if rng.bool() { 403 } else { 405 };
            fake.model().no_watch = Some(api_error(code));
            fake.cut();
        }
        91..93 => {
            let code = [403, 404, 429, 500, 503][rng.usize(..5)];
            fake.model().no_list = Some(api_error(code));
        }
        93..97 => {
            let fault = FAULTS[rng.usize(..FAULTS.len())];
            if fault == WatchFault::Error(410) {
                fake.model().expired += 1;
            }
            fake.plan(Plan::after(rng.usize(..4), fault));
            fake.cut();
        }
        97..99 => {
            fake.plan(Plan::replay(rng.u64(..20)));
            fake.cut();
        }
        _ => {
            let mut model = fake.model();
            model.lists.push_back(throttled(rng.u64(..5)));
            model.pages.push_back(api_error(410));
        }
    }
    if rng.u32(..8) == 0 {
        fake.revive();
    }
}

/// Stops the server and starts it from an old backup. The writers that continue do not reach the version from
/// before.
async fn restore(fake: &Fake, source: &Source, rng: &mut fastrand::Rng) {
    let known = source.shared().version();
    let known = known.as_ref().map_or(0, number);
    if known > 240 {
        fake.kill();
        tokio::time::sleep(Duration::from_secs(2)).await;
        let newest = fake.model().rv;
        fake.restore(rng.u64(100..=(known - 100).min(newest)));
        if rng.bool() {
            fake.revive();
        }
    }
}

/// Lets time pass, most often none.
async fn wait(rng: &mut fastrand::Rng) {
    let millis = match rng.u32(..40) {
        0..24 => return,
        24..34 => rng.u64(..20),
        34..39 => rng.u64(..2000),
        _ => rng.u64(..40_000),
    };
    tokio::time::sleep(Duration::from_millis(millis)).await;
}

fn server(rng: &mut fastrand::Rng) -> Fake {
    let fake = Fake::new();
    {
        let mut model = fake.model();
        model.bookmarks = rng.bool();
        model.gone_as_status = rng.bool();
        model.page_items = rng.usize(..4);
        if rng.bool() {
            model.no_history = Some(api_error(400));
        }
    }
    for _ in 0..rng.usize(..4) {
        fake.apply(NAMES[rng.usize(..NAMES.len())]);
    }
    fake
}

async fn schedule(seed: u64) -> ReportedFaults {
    let mut rng = fastrand::Rng::with_seed(seed);
    let faults = !seed.is_multiple_of(4);
    let fake = server(&mut rng);
    let options = MuxOptions {
        seed,
        queue_bytes: 400 * rng.usize(2..20),
        ..MuxOptions::default()
    };
    let source = mux_with(&fake, options).open(pods());
    let mut readers = vec![
        Reader::join(&source, format!("seed {seed} fast"), false),
        Reader::join(&source, format!("seed {seed} slow"), true),
    ];
    let mut polls = 0;
    let restores = faults && seed.is_multiple_of(3);
    for step in 0..60 {
        if restores && step == 10 {
            // Other resources were written.
            fake.model().rv += 150;
        }
        if restores && step == 40 {
            restore(&fake, &source, &mut rng).await;
        }
        act(&fake, &mut rng, faults, &mut polls);
        wait(&mut rng).await;
        if rng.u32(..25) == 0 {
            let label = format!("seed {seed} late {step}");
            readers.push(Reader::join(&source, label, rng.bool()));
        }
        for reader in &mut readers {
            if rng.u32(..5) == 0 {
                reader.read(rng.usize(..8)).await;
            }
        }
    }
    settle(&fake, &source).await;
    read_all(&mut readers).await;
    let model = fake.model();
    let last = state(&model, model.rv);
    let held: Mirror = held(&source)
        .iter()
        .map(|now| (uid(&now.object), number(&now.version)))
        .collect();
    assert_eq!(held, last, "seed {seed}: store");
    let mut all = ReportedFaults::default();
    for reader in &readers {
        let told = reader.check(&model);
        assert!(told.polled == 0 || polls > 0, "{}", reader.label);
        all.add(&told);
    }
    all
}

/// Reads everything. Events that did not fit into a queue are read back once the queue is empty.
async fn read_all(readers: &mut [Reader]) {
    for _ in 0..30 {
        for reader in &mut *readers {
            reader.read(usize::MAX).await;
        }
        tokio::time::sleep(Duration::from_secs(10)).await;
    }
}

/// Ends the faults, and waits until the source has caught up.
async fn settle(fake: &Fake, source: &Source) {
    fake.revive();
    {
        let mut model = fake.model();
        model.plans.clear();
        model.lists.clear();
        model.pages.clear();
        model.poison.clear();
    }
    // This is longer than the longest wait, the one after refusals.
    tokio::time::sleep(Duration::from_secs(700)).await;
    fake.apply("last");
    tokio::time::sleep(Duration::from_secs(400)).await;
    assert_eq!(super::state(source), SourceState::Live);
}

/// A server that keeps its history, with restarts and every fault except a refused watch.
async fn outages(seed: u64) -> usize {
    let mut rng = fastrand::Rng::with_seed(seed);
    let fake = server(&mut rng);
    fake.model().no_history = None;
    let options = MuxOptions {
        seed,
        ..MuxOptions::default()
    };
    let source = mux_with(&fake, options).open(pods());
    let reader = Reader::join(&source, format!("outage {seed}"), false);
    for _ in 0..60 {
        let name = NAMES[rng.usize(..NAMES.len())];
        let exists = fake.get(name).is_some();
        match rng.u32(..100) {
            0..50 => drop(fake.apply(name)),
            50..75 if exists => drop(fake.delete(name)),
            75..80 => fake.elsewhere(),
            80..90 => {
                fake.kill();
                fake.expire();
            }
            90..95 => fake.expire(),
            95..98 => fake.cut(),
            _ => {
                let next = fake.model().rv + 1 + rng.u64(..3);
                fake.model().poison.insert(next);
            }
        }
        if rng.u32(..6) == 0 {
            fake.revive();
        }
        wait(&mut rng).await;
    }
    settle(&fake, &source).await;
    let model = fake.model();
    let told = reader.check(&model);
    let events = reader.events.lock().expect("no panic");
    let gap = events.iter().find(|event| matches!(event, Event::Gap(_)));
    assert!(gap.is_none(), "outage {seed}: {gap:?}");
    assert_eq!(told.expired, 0);
    let past = |event: &&Event| matches!(event, Event::Object { past: true, .. });
    events.iter().filter(past).count()
}

/// Every version arrives exactly once, and no gap is reported. [`Check`] compares each event with the log.
#[test]
fn no_outage_loses_versions_that_the_server_keeps() {
    let mut read_back = 0;
    for seed in 0..SEEDS {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        read_back += runtime.block_on(outages(seed));
    }
    assert!(read_back > 2000, "{read_back}");
}

#[test]
fn a_thousand_random_schedules() {
    let mut all = ReportedFaults::default();
    for seed in 0..SEEDS {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        all.add(&runtime.block_on(schedule(seed)));
    }
    // The faults do have effects.
    let least = [all.expired, all.damaged, all.polled].into_iter().min();
    assert!(
        least > Some(200) && all.restored > 200 && all.slow > 0,
        "{all:?}"
    );
}
