//! A view that looks back and then continues to watch gets each version once, on whichever side of the first
//! listing it is.

use std::time::Duration;

use tokio::time::sleep;

use super::*;
use crate::object::ObjectRef;
use crate::watch::history::{End, History, ObjectsAt, WalkLimits, in_order};
use crate::watch::revision::Revision;

/// One event: why, the uid, and the version.
type Line = (Why, String, String);

fn line(why: Why, now: &crate::source::Version) -> Line {
    let uid = now.object.uid.as_ref().expect("has one").as_str();
    (why, uid.to_owned(), now.version.to_string())
}

fn write_one(fake: &Fake, rng: &mut fastrand::Rng) {
    let name = ["a", "b"][rng.usize(..2)];
    match rng.u32(..10) {
        0..4 if fake.get(name).is_some() => drop(fake.delete(name)),
        0..8 => drop(fake.apply(name)),
        _ => fake.elsewhere(),
    }
}

/// Writes at random while somebody reads.
async fn write(fake: &Fake, mut rng: fastrand::Rng) {
    for _ in 0..rng.usize(1..30) {
        write_one(fake, &mut rng);
        if rng.bool() {
            sleep(Duration::from_micros(rng.u64(..3000))).await;
        }
    }
}

/// The events of a look-back, and the revision from which it claims to be complete.
#[derive(Default)]
struct Looked {
    told: Vec<Line>,
    complete: Option<Revision>,
}

/// The events before the first listing.
async fn before(history: &History, listed: ObjectsAt, object: Option<&ObjectRef>) -> Looked {
    let floor = WalkLimits::default().floor;
    let (mut walks, mut told, mut complete) = (Vec::new(), Vec::new(), Some(floor));
    if let Some(object) = object {
        let limits = WalkLimits::default();
        let mut objects = listed.objects.into_iter();
        let there = objects.find(|version| version.object.name == object.name);
        let walk = match &there {
            Some(version) => history.before(version, limits).expect("a revision"),
            None => history.absent(object, listed.at, limits),
        };
        walks.push((there, walk));
    } else {
        let compared = history.compare(listed, floor).await.expect("offered");
        complete = compared.complete.map(|at| at.max(compared.then));
        for changed in compared.changed {
            walks.extend(changed.earlier);
            told.extend(changed.later);
        }
    }
    for (newest, mut walk) in walks {
        let mut found = Vec::new();
        while let Some(past) = walk.next().await {
            found.push(past);
        }
        if let Some(End::Forgotten(at)) = walk.end() {
            complete = complete.map(|complete| complete.max(*at));
        }
        if object.is_some() {
            complete = complete
                .zip(walk.sure())
                .map(|(known, sure)| known.max(sure));
        }
        told.extend(in_order(newest, found));
    }
    told.retain(|told| told.why != Why::Listed);
    told.sort_by_key(|told| told.at);
    let told = told.iter().map(|told| line(told.why, &told.now)).collect();
    Looked { told, complete }
}

/// All events of a source: those before its first listing, and those after it. After the listing the server may
/// `forget`.
async fn all_events(
    fake: &Fake,
    (key, object): (SourceKey, Option<&ObjectRef>),
    forget: impl FnOnce(&Fake),
) -> Looked {
    let mux = mux(fake);
    let source = mux.open_idle(key.clone());
    let mut every = source.every(Patience::Screen);
    source.start();
    let mut objects = Vec::new();
    let at = loop {
        match every.next().await {
            Some(Event::Object { now, .. }) => objects.push(now),
            Some(Event::Synced { version, .. }) => {
                break Revision::parse(&version).expect("a revision");
            }
            _ => {}
        }
    };
    forget(fake);
    let history = mux.history(&key).expect("live");
    let mut looked = before(&history, ObjectsAt { at, objects }, object).await;
    while let Ok(Some(event)) = timeout(Duration::from_secs(2), every.next()).await {
        if let Event::Object { why, now, .. } = event {
            looked.told.push(line(why, &now));
        }
    }
    looked
}

/// The history of the server, for one name or for all.
fn log(fake: &Fake, name: Option<&str>) -> Vec<Line> {
    let model = fake.model();
    let log = model.log.iter();
    let log = log.filter(|op| name.is_none_or(|name| op.pod.name == name));
    log.map(|op| {
        let why = match op.did {
            Did::Added => Why::Added,
            Did::Modified => Why::Modified,
            Did::Deleted => Why::Deleted,
        };
        (why, op.pod.uid.clone(), op.pod.rv.to_string())
    })
    .collect()
}

/// Runs against a server that is written to all the time. The server may `forget` at random. Returns the events,
/// and the server's history.
async fn run(seed: u64, forget: impl FnOnce(&Fake, &mut fastrand::Rng)) -> (Looked, Vec<Line>) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let fake = Fake::new();
    for _ in 0..rng.usize(..20) {
        write_one(&fake, &mut rng);
    }
    let object = ObjectRef {
        api_version: "v1".into(),
        kind: "Pod".into(),
        namespace: Some("ns".into()),
        name: "a".into(),
        uid: None,
    };
    let (key, object) = if rng.bool() {
        (pods(), None)
    } else {
        let select = Select::Name("a".into());
        (SourceKey { select, ..pods() }, Some(&object))
    };
    let (writer, mut rng) = (rng.fork(), rng);
    let told = all_events(&fake, (key, object), |fake| forget(fake, &mut rng));
    let (looked, ()) = tokio::join!(told, write(&fake, writer));
    (looked, log(&fake, object.map(|_| "a")))
}

fn each_seed<F: Future<Output = ()>>(check: impl Fn(u64) -> F) {
    for seed in 0..1500 {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(check(seed));
    }
}

#[test]
fn each_version_comes_once_before_or_after_the_first_listing() {
    each_seed(|seed| async move {
        let (looked, log) = run(seed, |_, _| {}).await;
        assert_eq!(looked.told, log, "seed {seed}");
    });
}

/// The server compacts events and old versions, some of them while they are read.
fn forget(fake: &Fake, rng: &mut fastrand::Rng) {
    let mut model = fake.model();
    let newest = model.rv;
    model.forgotten = rng.u64(100..=newest);
    model.compacted = rng.u64(100..=newest);
    model.compacts_after = rng.bool().then(|| (rng.usize(..40), rng.u64(100..=newest)));
}

#[test]
fn nothing_is_missing_after_the_named_revision() {
    let named = std::sync::atomic::AtomicUsize::new(0);
    each_seed(|seed| {
        let named = &named;
        async move {
            let (looked, log) = run(seed, forget).await;
            let mut told = looked.told.iter().peekable();
            for line in &log {
                let at = Revision::read(&line.2).expect("a revision");
                if told.next_if(|told| *told == line).is_none() {
                    let is_covered = looked.complete.is_some_and(|complete| at > complete);
                    assert!(!is_covered, "seed {seed}: {line:?} {:?}", looked.complete);
                }
            }
            // The events are an excerpt of the history, in order.
            assert_eq!(told.next(), None, "seed {seed}");
            named.fetch_add(
                usize::from(looked.complete.is_some()),
                std::sync::atomic::Ordering::Relaxed,
            );
        }
    });
    assert!(named.into_inner() > 1000);
}
