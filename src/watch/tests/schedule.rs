//! Random histories, random faults, several readers: what each reader saw is the server's history,
//! less exactly what its gaps say.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use tokio::task::JoinHandle;

use super::*;
use crate::object::Uid;
use crate::watch::event::Version;
use crate::watch::fake::{Did, Fault, Model, Plan, api_error, throttled};
use crate::watch::subscribe::Latest;

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
const SEEDS: u64 = 1000;

/// What went wrong in one schedule, so that no more than that is excused.
#[derive(Debug, Default)]
struct Excuses {
    expired: usize,
    damaged: usize,
    polled: usize,
}

/// One reader's events, checked one by one against the server's history.
struct Reader {
    label: String,
    /// The source's version when it joined, if there had been a listing.
    from: Option<u64>,
    events: Arc<Mutex<Vec<Event>>>,
    pace: Pace,
}

enum Pace {
    /// Reads all the time.
    Fast(JoinHandle<()>),
    /// Reads now and then, and may miss events.
    Slow(Every),
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let Pace::Fast(task) = &self.pace {
            task.abort();
        }
    }
}

fn number(version: &crate::object::ResourceVersion) -> u64 {
    version.as_str().parse().expect("a number")
}

/// What a reader has: of each uid the version.
type Mirror = BTreeMap<String, u64>;

fn state(model: &Model, rv: u64) -> Mirror {
    let there = model.at(rv).into_values();
    there.map(|pod| (pod.uid, pod.rv)).collect()
}

struct Check<'a> {
    label: &'a str,
    model: &'a Model,
    mirror: Mirror,
    /// Up to where all is accounted for.
    at: u64,
    epoch: u32,
    told: Excuses,
    slow_gaps: usize,
    seq: u64,
    /// Whether it has been told of all that went wrong.
    from_the_start: bool,
}

impl<'a> Check<'a> {
    fn body(&self, now: &Version) {
        let uid = now.object.uid.as_ref().expect("has one").as_str();
        let rv = number(&now.version);
        let op = self
            .model
            .log
            .iter()
            .find(|op| op.pod.rv == rv && op.pod.uid == uid);
        let op = op.unwrap_or_else(|| panic!("{}: {uid}@{rv} never was", self.label));
        assert_eq!(*now.body, op.pod.body(), "{}", self.label);
    }

    /// The snapshot that a subscription starts with, up to its `Synced`.
    fn start(&mut self, events: &'a [Event], from: u64) -> &'a [Event] {
        let mut left = events;
        while let Some((event, rest)) = left.split_first() {
            left = rest;
            match event {
                Event::Object { why, now, prev, .. } => {
                    assert_eq!(*why, Why::Listed, "{}", self.label);
                    assert!(prev.is_none(), "{}", self.label);
                    self.body(now);
                    let uid = now
                        .object
                        .uid
                        .as_ref()
                        .expect("has one")
                        .as_str()
                        .to_owned();
                    let again = self.mirror.insert(uid, number(&now.version));
                    assert!(again.is_none(), "{}: listed twice", self.label);
                }
                Event::Synced { epoch, count } => {
                    self.epoch = *epoch;
                    assert_eq!(*count, self.mirror.len(), "{}", self.label);
                    assert_eq!(
                        self.mirror,
                        state(self.model, from),
                        "{}: snapshot",
                        self.label
                    );
                    self.at = from;
                    return left;
                }
                Event::State(_) => {}
                Event::Gap(_) | Event::Undecodable { .. } => {
                    panic!("{}: {} before it is synced", self.label, brief(event))
                }
            }
        }
        left
    }

    fn run(&mut self, mut events: &'a [Event]) {
        while let Some((event, rest)) = events.split_first() {
            events = match event {
                Event::Object { .. } => {
                    self.live(event);
                    rest
                }
                Event::Gap(gap) => self.gap(gap, rest),
                Event::Synced { epoch, count } => {
                    assert!(*epoch > self.epoch, "{}", self.label);
                    self.epoch = *epoch;
                    assert_eq!(*count, state(self.model, self.at).len(), "{}", self.label);
                    rest
                }
                Event::Undecodable { .. } => {
                    self.told.damaged += 1;
                    rest
                }
                Event::State(_) => rest,
            };
        }
    }

    /// An event that is not in a gap must be the next entry of the history.
    fn live(&mut self, event: &Event) {
        let Event::Object {
            seq,
            why,
            now,
            prev,
            ..
        } = event
        else {
            return;
        };
        let label = self.label;
        assert!(*seq > self.seq, "{label}: {seq} after {}", self.seq);
        self.seq = *seq;
        let next = self.model.log.iter().find(|op| op.pod.rv > self.at);
        let next = next.unwrap_or_else(|| panic!("{label}: {} after the end", brief(event)));
        assert_eq!(
            number(&now.version),
            next.pod.rv,
            "{label}: {}",
            brief(event)
        );
        let expected = match next.did {
            Did::Added => Why::Added,
            Did::Modified => Why::Modified,
            Did::Deleted => Why::Deleted,
        };
        assert_eq!(*why, expected, "{label}: {}", brief(event));
        self.body(now);
        self.follow(event);
        let has = prev.as_ref().map(|prev| number(&prev.version));
        assert_eq!(has.is_none(), next.did == Did::Added, "{label}");
        self.at = next.pod.rv;
    }

    /// Applies an event; its `prev` must be what this reader has.
    fn follow(&mut self, event: &Event) {
        let Event::Object { why, now, prev, .. } = event else {
            return;
        };
        let uid = now
            .object
            .uid
            .as_ref()
            .expect("has one")
            .as_str()
            .to_owned();
        let has = match why {
            Why::Deleted | Why::LeftSelector | Why::Vanished => self.mirror.remove(&uid),
            Why::Listed | Why::Added | Why::Modified | Why::Skipped => {
                self.mirror.insert(uid, number(&now.version))
            }
        };
        let prev = prev.as_ref().map(|prev| number(&prev.version));
        assert_eq!(prev, has, "{}: {}", self.label, brief(event));
    }

    /// A gap must begin where the reader was, and be followed by exactly the difference.
    fn gap(&mut self, gap: &Gap, events: &'a [Event]) -> &'a [Event] {
        let label = self.label;
        let (after, upto) = (number(&gap.after), number(&gap.upto));
        let unseen = |op: &&crate::watch::fake::Op| op.pod.rv > self.at && op.pod.rv <= after;
        let lost = self.model.log.iter().find(unseen);
        assert!(lost.is_none(), "{label}: {lost:?} before {gap:?}");
        assert!(
            after >= self.at && upto >= after,
            "{label}: {gap:?} at {}",
            self.at
        );
        match gap.cause {
            GapCause::Expired => self.told.expired += 1,
            GapCause::Undecodable => {
                let bad = self.told.damaged;
                assert!(bad >= 2 || !self.from_the_start, "{label}: not bad twice");
                self.told.damaged = bad.saturating_sub(2);
            }
            GapCause::Polled => self.told.polled += 1,
            GapCause::SlowSubscriber { dropped } => {
                self.slow_gaps += 1;
                let missed = self.model.log.iter();
                let missed = missed
                    .filter(|op| op.pod.rv > after && op.pod.rv <= upto)
                    .count();
                assert!(dropped <= missed as u64, "{label}: {gap:?} of {missed}");
            }
        }
        let target = state(self.model, upto);
        let mut expected: BTreeSet<String> = BTreeSet::new();
        for (uid, rv) in &self.mirror {
            match target.get(uid) {
                None => expected.insert(format!("Vanished {uid}@{rv}")),
                Some(now) if now != rv => expected.insert(format!("Skipped {uid}@{now}")),
                Some(_) => false,
            };
        }
        for (uid, now) in &target {
            if !self.mirror.contains_key(uid) {
                expected.insert(format!("Listed {uid}@{now}"));
            }
        }
        let (told, rest) = events.split_at(expected.len().min(events.len()));
        let mut seen = BTreeSet::new();
        for event in told {
            if let Event::Object { why, now, .. } = event {
                let uid = now.object.uid.as_ref().expect("has one").as_str();
                seen.insert(format!("{why:?} {uid}@{}", now.version));
                self.body(now);
                self.follow(event);
            }
        }
        assert_eq!(seen, expected, "{label}: after {gap:?}");
        assert_eq!(self.mirror, target, "{label}");
        self.at = upto;
        rest
    }
}

/// A step of the server: something is written, or goes wrong.
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
        84..88 => fake.forget(),
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
            let fault = [
                Fault::Close,
                Fault::Reset,
                Fault::Half,
                Fault::Stall,
                Fault::Garbage,
                Fault::UnknownType,
                Fault::TooLong,
                Fault::Error(410),
                Fault::Error(500),
                Fault::Error(0),
            ][rng.usize(..10)];
            if fault == Fault::Error(410) {
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

async fn wait(rng: &mut fastrand::Rng) {
    let millis = match rng.u32(..40) {
        0..24 => return,
        24..34 => rng.u64(..20),
        34..39 => rng.u64(..2000),
        _ => rng.u64(..40_000),
    };
    tokio::time::sleep(Duration::from_millis(millis)).await;
}

impl Reader {
    fn join(source: &Source, label: String, slow: bool) -> Reader {
        let mut every = source.every(Patience::Screen);
        // No await in between: the snapshot is of this version.
        let from = source.shared().version().as_ref().map(number);
        let events: Arc<Mutex<Vec<Event>>> = Arc::default();
        let pace = if slow {
            Pace::Slow(every)
        } else {
            let events = events.clone();
            Pace::Fast(tokio::spawn(async move {
                while let Some(event) = every.next().await {
                    events.lock().expect("no panic").push(event);
                }
            }))
        };
        Reader {
            label,
            from,
            events,
            pace,
        }
    }

    /// Reads at most so many events.
    async fn read(&mut self, most: usize) {
        if let Pace::Slow(every) = &mut self.pace {
            for _ in 0..most {
                match timeout(Duration::ZERO, every.next()).await {
                    Ok(Some(event)) => self.events.lock().expect("no panic").push(event),
                    _ => break,
                }
            }
        }
    }
}

/// A table as a view keeps it: told which, it looks at what is.
#[derive(Default)]
struct TableMirror(Mirror);

impl TableMirror {
    fn look(&mut self, latest: &Latest, changed: BTreeSet<Uid>) {
        for uid in changed {
            match latest.get(&uid) {
                Some(now) => self.0.insert(uid.as_str().to_owned(), number(&now.version)),
                None => self.0.remove(uid.as_str()),
            };
        }
    }
}

async fn schedule(seed: u64) -> Excuses {
    let mut rng = fastrand::Rng::with_seed(seed);
    let faults = seed % 4 != 0;
    let fake = Fake::new();
    {
        let mut model = fake.model();
        model.bookmarks = rng.bool();
        model.gone_as_status = rng.bool();
        model.page_items = rng.usize(..4);
    }
    for _ in 0..rng.usize(..4) {
        fake.apply(NAMES[rng.usize(..NAMES.len())]);
    }
    let options = Options {
        seed,
        queue_bytes: 400 * rng.usize(2..20),
        ..Options::default()
    };
    let source = mux_with(&fake, options).open(pods());
    let mut readers = vec![
        Reader::join(&source, format!("seed {seed} fast"), false),
        Reader::join(&source, format!("seed {seed} slow"), true),
    ];
    let mut latest = source.latest();
    let mut table = TableMirror::default();
    let mut polls = 0;
    for step in 0..60 {
        act(&fake, &mut rng, faults, &mut polls);
        wait(&mut rng).await;
        if rng.u32(..25) == 0 {
            let slow = rng.bool();
            readers.push(Reader::join(
                &source,
                format!("seed {seed} late {step}"),
                slow,
            ));
        }
        for reader in &mut readers {
            if rng.u32(..5) == 0 {
                reader.read(rng.usize(..8)).await;
            }
        }
        if rng.u32(..5) == 0
            && let Ok(Some(changed)) = timeout(Duration::ZERO, latest.changed()).await
        {
            table.look(&latest, changed);
        }
    }
    settle(&fake, &source).await;
    for reader in &mut readers {
        reader.read(usize::MAX).await;
    }
    while let Ok(Some(changed)) = timeout(Duration::ZERO, latest.changed()).await {
        table.look(&latest, changed);
    }
    let model = fake.model();
    let last = state(&model, model.rv);
    assert_eq!(table.0, last, "seed {seed}: table");
    let held: Mirror = source
        .snapshot()
        .objects
        .iter()
        .map(|now| {
            (
                now.object
                    .uid
                    .as_ref()
                    .expect("has one")
                    .as_str()
                    .to_owned(),
                number(&now.version),
            )
        })
        .collect();
    assert_eq!(held, last, "seed {seed}: store");
    let mut slow_gaps = 0;
    for reader in &readers {
        let told = verify(&model, reader, polls, &mut slow_gaps);
        assert!(told.expired <= model.expired, "{}: {told:?}", reader.label);
        assert!(told.damaged <= model.damaged, "{}: {told:?}", reader.label);
    }
    Excuses {
        expired: model.expired,
        damaged: model.damaged,
        polled: slow_gaps,
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
    // Long enough for the longest wait of all, that after refusals.
    tokio::time::sleep(Duration::from_secs(700)).await;
    fake.apply("last");
    tokio::time::sleep(Duration::from_secs(400)).await;
    assert_eq!(*source.state().borrow(), SourceState::Live);
}

fn verify(model: &Model, reader: &Reader, polls: usize, slow_gaps: &mut usize) -> Excuses {
    let mut check = Check {
        label: &reader.label,
        model,
        mirror: Mirror::new(),
        at: 0,
        epoch: 0,
        told: Excuses::default(),
        slow_gaps: 0,
        seq: 0,
        from_the_start: reader.from.is_none() && matches!(reader.pace, Pace::Fast(_)),
    };
    let from = reader
        .from
        .unwrap_or_else(|| model.listed_at.expect("listed"));
    let events = reader.events.lock().expect("no panic");
    let rest = check.start(&events, from);
    check.run(rest);
    let label = &reader.label;
    assert_eq!(check.mirror, state(model, model.rv), "{label}: the end");
    let unseen = model.log.iter().find(|op| op.pod.rv > check.at);
    assert!(unseen.is_none(), "{label}: never told of {unseen:?}");
    if polls == 0 {
        assert_eq!(check.told.polled, 0, "{label}");
    }
    if matches!(reader.pace, Pace::Fast(_)) {
        assert_eq!(
            check.slow_gaps, 0,
            "{label}: a fast reader has no gaps of its own"
        );
    }
    *slow_gaps += check.slow_gaps;
    check.told
}

#[test]
fn a_thousand_random_schedules() {
    let mut all = Excuses::default();
    for seed in 0..SEEDS {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        let one = runtime.block_on(schedule(seed));
        all.expired += one.expired;
        all.damaged += one.damaged;
        all.polled += one.polled;
    }
    // The script does bite.
    assert!(
        all.expired > 200 && all.damaged > 200 && all.polled > 200,
        "{all:?}"
    );
}
