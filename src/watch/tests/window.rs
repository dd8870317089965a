//! How many requests the look-back of a whole source makes: no more than it has versions.

use super::*;
use crate::watch::envelope::Reader;
use crate::watch::history::{Comparison, History, ObjectsAt, in_order};
use crate::watch::revision::Revision;
use crate::watch::tests::fake::{Plan, WatchFault, api_error};

fn revision(number: u64) -> Revision {
    Revision::read(&number.to_string()).expect("a revision")
}

/// The findings of a comparison after a revision, and how many old revisions it read.
struct Compared {
    told: Vec<(Why, u64)>,
    reads: usize,
    /// The objects with missing versions.
    missing: Vec<String>,
}

async fn compare(fake: &Fake, floor: u64) -> Compared {
    let mux = mux(fake);
    let history: History = mux.history(&pods()).expect("live");
    let at = fake.model().rv;
    let now = fake.model().at(at);
    let mut reader = Reader::new(&pods());
    let objects = now.values().map(|pod| {
        let version = reader.item(pod.body()).expect("an object");
        Arc::new(version)
    });
    let objects = objects.collect();
    let now = ObjectsAt {
        at: revision(at),
        objects,
    };
    let compared = history.compare(now, revision(floor)).await;
    let Comparison {
        changed, missing, ..
    } = compared.expect("offered");
    let mut told = Vec::new();
    for changed in changed {
        if let Some((newest, mut walk)) = changed.earlier {
            let mut found = Vec::new();
            while let Some(past) = walk.next().await {
                found.push(past);
            }
            told.extend(in_order(newest, found));
        }
        told.extend(changed.later);
    }
    let number = |at: Revision| at.to_string().parse().expect("a number");
    let mut told: Vec<_> = told
        .iter()
        .filter_map(|told| Some((told.why, number(told.at?))))
        .collect();
    told.retain(|(why, at)| *why != Why::Listed && *at > floor);
    told.sort_by_key(|(_, at)| *at);
    Compared {
        told,
        reads: fake.model().reads.len(),
        missing: missing
            .iter()
            .map(|missing| missing.object.name.to_string())
            .collect(),
    }
}

/// The events after a revision, from the server's own log.
fn log(fake: &Fake, floor: u64) -> Vec<(Why, u64)> {
    let model = fake.model();
    let log = model.log.iter().filter(|op| op.pod.rv > floor);
    log.map(|op| {
        let why = match op.did {
            Did::Added => Why::Added,
            Did::Modified => Why::Modified,
            Did::Deleted => Why::Deleted,
        };
        (why, op.pod.rv)
    })
    .collect()
}

/// Creates this many Pods, or changes each of them.
fn apply(fake: &Fake, name: &str, count: usize) {
    for at in 0..count {
        fake.apply(&format!("{name}-{at}"));
    }
}

/// Five Pods that do not change, then `count` new ones with three versions each.
fn created(count: usize) -> (Fake, u64) {
    let fake = Fake::new();
    apply(&fake, "old", 5);
    let floor = fake.model().rv;
    for _ in 0..3 {
        apply(&fake, "new", count);
    }
    (fake, floor)
}

#[tokio::test(start_paused = true)]
async fn objects_created_in_the_watch_cache_need_no_read() {
    let (fake, floor) = created(100);
    let compared = compare(&fake, floor).await;
    assert_eq!(compared.told, log(&fake, floor));
    assert_eq!(compared.reads, 0);
}

#[tokio::test(start_paused = true)]
async fn versions_before_the_watch_cache_need_one_read_each() {
    let (fake, floor) = created(100);
    // It has the last of the three rounds, and half of the one before.
    let newest = fake.model().rv;
    for forgotten in [newest - 150, newest] {
        fake.model().forgotten = forgotten;
        fake.model().reads.clear();
        let compared = compare(&fake, floor).await;
        assert_eq!(compared.told, log(&fake, floor), "{forgotten}");
        // The versions before the cache, the version of each object before its first event there, and the listing
        // at `floor`.
        let versions = usize::try_from(forgotten - floor).expect("few");
        let most = versions + 100 + 10;
        assert!(compared.reads <= most, "{} {most}", compared.reads);
    }
}

#[tokio::test(start_paused = true)]
async fn the_versions_before_many_first_events_are_one_list() {
    for (count, reads) in [(10, 10), (100, 2)] {
        let (fake, _) = created(count);
        let floor = fake.model().rv;
        apply(&fake, "new", count);
        fake.delete("old-1");
        let compared = compare(&fake, floor).await;
        assert_eq!(compared.told, log(&fake, floor), "{count}");
        assert!(compared.reads <= reads + 1, "{count}: {}", compared.reads);
    }
}

#[tokio::test(start_paused = true)]
async fn failed_reads_are_named_and_the_rest_is_found() {
    let (fake, _) = created(3);
    let floor = fake.model().rv;
    apply(&fake, "new", 3);
    apply(&fake, "new", 3);
    apply(&fake, "newest", 2);
    fake.model().no_history = Some(api_error(503));
    let compared = compare(&fake, floor).await;
    assert_eq!(compared.missing, ["new-0", "new-1", "new-2"]);
    // The first version of each object is lost, so there is nothing to compare it with.
    assert_eq!(compared.told, log(&fake, floor + 3));
}

#[tokio::test(start_paused = true)]
async fn events_that_the_watch_cache_omits_are_read() {
    let (fake, floor) = created(3);
    // The watch ends after two of them.
    let plans = || Plan::after(2, WatchFault::Close);
    (0..3).for_each(|_| fake.plan(plans()));
    let compared = compare(&fake, floor).await;
    assert_eq!(compared.told, log(&fake, floor));
}
