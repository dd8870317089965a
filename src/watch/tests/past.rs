//! What a view is told that looks back and goes on watching: each version once, wherever the seam falls.

use std::time::Duration;

use tokio::time::sleep;

use super::*;
use crate::object::{ObjectRef, ResourceVersion};
use crate::watch::history::{History, Limits, Revision, in_order};

/// One thing that was told: why, of which uid, at which version.
type Line = (Why, String, String);

fn line(why: Why, now: &crate::watch::Version) -> Line {
    let uid = now.object.uid.as_ref().expect("has one").as_str();
    (why, uid.to_owned(), now.version.to_string())
}

/// Writes at random while somebody reads.
async fn write(fake: &Fake, mut rng: fastrand::Rng) {
    for _ in 0..rng.usize(1..30) {
        let name = ["a", "b"][rng.usize(..2)];
        match rng.u32(..10) {
            0..4 if fake.get(name).is_some() => drop(fake.delete(name)),
            0..8 => drop(fake.apply(name)),
            _ => fake.elsewhere(),
        }
        if rng.bool() {
            sleep(Duration::from_micros(rng.u64(..3000))).await;
        }
    }
}

/// What happened before the first listing, which is of this version.
async fn before(
    history: &History,
    listed: &ResourceVersion,
    object: Option<&ObjectRef>,
) -> Vec<Line> {
    let now = Revision::parse(listed).expect("a revision");
    let objects = if let Some(object) = object {
        vec![object.clone()]
    } else {
        let floor = Limits::default().floor;
        let compared = history.compare(now, floor, None).await.expect("offered");
        assert_eq!(compared.complete, Some(compared.then));
        compared.changed
    };
    let mut told = Vec::new();
    for object in objects {
        let at = history.at(&object, now, Limits::default()).await;
        let (newest, mut walk) = at.expect("offered");
        let mut found = Vec::new();
        while let Some(past) = walk.next().await {
            found.push(past);
        }
        told.extend(in_order(newest, found));
    }
    told.sort_by_key(|told| told.at);
    told.iter().map(|told| line(told.why, &told.now)).collect()
}

/// All that is told of a source: what was before its first listing, and what came after it.
async fn told(fake: &Fake, key: SourceKey, object: Option<&ObjectRef>) -> Vec<Line> {
    let mux = mux(fake);
    let source = mux.open_idle(key.clone());
    let mut every = source.every(Patience::Screen);
    source.start();
    let listed = loop {
        if let Some(Event::Synced { version, .. }) = every.next().await {
            break version;
        }
    };
    let history = mux.history(&key).expect("live");
    let mut told = before(&history, &listed, object).await;
    while let Ok(Some(event)) = timeout(Duration::from_secs(2), every.next()).await {
        if let Event::Object { why, now, .. } = event {
            told.push(line(why, &now));
        }
    }
    told
}

async fn check(seed: u64) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let fake = Fake::new();
    if rng.bool() {
        fake.apply("a");
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
        let fields = Some("metadata.name=a".into());
        (SourceKey { fields, ..pods() }, Some(&object))
    };
    let (told, ()) = tokio::join!(told(&fake, key, object), write(&fake, rng.fork()));
    let model = fake.model();
    let log = model.log.iter();
    let log = log.filter(|op| object.is_none() || op.pod.name == "a");
    let log: Vec<Line> = log
        .map(|op| {
            let why = match op.did {
                Did::Added => Why::Added,
                Did::Modified => Why::Modified,
                Did::Deleted => Why::Deleted,
            };
            (why, op.pod.uid.clone(), op.pod.rv.to_string())
        })
        .collect();
    assert_eq!(told, log, "seed {seed}");
}

#[test]
fn each_version_is_told_once_on_either_side_of_the_seam() {
    for seed in 0..1500 {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(check(seed));
    }
}
