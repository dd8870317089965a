//! The walk against a server in memory that keeps every version. There are tables of cases, then random
//! histories.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::read::PROBES;
use super::*;
use crate::object::ObjectRef;
use crate::source::Why;
use crate::watch::envelope::Reader;
use crate::watch::error::SourceError;
use crate::watch::tests::fake::{Did, Fake, Plan, WatchFault, api_error, pods};

fn archive(fake: &Fake) -> Archive {
    Archive {
        transport: Arc::new(fake.clone()),
        compacted: Arc::default(),
        key: Arc::new(pods()),
        page_items: 0,
    }
}

fn revision(number: u64) -> Revision {
    Revision::read(&number.to_string()).expect("a revision")
}

fn number(revision: Revision) -> u64 {
    revision.to_string().parse().expect("a number")
}

/// The current object and the newest revision.
fn now(fake: &Fake, name: &str) -> (ObjectRef, Revision, Presence) {
    let there = fake.get(name).map(|pod| {
        let version = Reader::new(&pods()).item(pod.body());
        Arc::new(version.expect("an object"))
    });
    let object = there.as_ref().map(|there| ObjectRef::clone(&there.object));
    let object = object.unwrap_or_else(|| ObjectRef {
        api_version: "v1".into(),
        kind: "Pod".into(),
        namespace: Some("ns".into()),
        name: name.into(),
        uid: None,
    });
    (object, revision(fake.model().rv), there)
}

struct Walked {
    start: Presence,
    found: Vec<Past>,
    end: End,
    requests: u32,
}

async fn walk(fake: &Fake, name: &str, limits: WalkLimits) -> Walked {
    let (object, at, start) = now(fake, name);
    let there = start.clone();
    let walk = Walk::new(&archive(fake), &object, ObjectAt { at, there }, limits);
    finish(start, walk).await
}

async fn finish(start: Presence, mut walk: Walk) -> Walked {
    let mut found = Vec::new();
    while let Some(past) = walk.next().await {
        found.push(past);
    }
    let end = walk.end().expect("at its end").clone();
    let requests = walk.requests;
    Walked {
        start,
        found,
        end,
        requests,
    }
}

/// `103 created 102 gone@102 …`: the findings of a walk, newest first, and its end.
async fn brief(fake: &Fake, limits: WalkLimits) -> String {
    let walked = walk(fake, "a", limits).await;
    let mut words: Vec<String> = walked
        .found
        .iter()
        .map(|past| match past {
            Past::Version(version) => version.version.to_string(),
            Past::Created => "created".to_owned(),
            Past::Deleted(at) => format!("gone@{at}"),
        })
        .collect();
    words.push(match walked.end {
        End::Limit => "limit".to_owned(),
        End::Spent => "spent".to_owned(),
        End::OutOfTime(after) => format!("out of time: {after:?}"),
        End::Forgotten(at) => format!("forgotten@{at}"),
        End::NotOffered(cause) => format!("not offered: {cause}"),
        End::Failed(error) => format!("failed: {error}"),
    });
    words.join(" ")
}

fn down_to(floor: u64) -> WalkLimits {
    WalkLimits {
        floor: revision(floor),
        ..WalkLimits::default()
    }
}

/// Two lifetimes among writes to other objects; the second has a single version.
/// The watch cache is empty.
fn two_lives() -> Fake {
    let fake = Fake::new();
    fake.model().forgotten = u64::MAX;
    fake.apply("a"); // 101
    fake.elsewhere();
    fake.apply("a"); // 103
    fake.delete("a"); // 104
    fake.apply("b");
    fake.apply("a"); // 106
    fake.delete("a"); // 107
    (0..50).for_each(|_| fake.elsewhere());
    fake
}

#[tokio::test(start_paused = true)]
async fn a_walk_finds_each_version_and_each_lifetime() {
    let fake = two_lives();
    let lives = "gone@107 106 created gone@104 103 101 created forgotten@100";
    assert_eq!(brief(&fake, WalkLimits::default()).await, lives);
    fake.apply("a"); // 158
    fake.apply("a");
    let all = format!("158 created {lives}");
    assert_eq!(brief(&fake, WalkLimits::default()).await, all);
}

#[tokio::test(start_paused = true)]
async fn a_walk_ends_at_its_floor() {
    let fake = two_lives();
    for (floor, told) in [
        (107, "limit"),
        (106, "gone@107 106 limit"),
        // The second lifetime fell between two probes.
        (105, "limit"),
        // A probe found the second one on the way to the end of the first.
        (103, "gone@107 106 created gone@104 103 limit"),
    ] {
        assert_eq!(brief(&fake, down_to(floor)).await, told, "{floor}");
    }
    let limits = WalkLimits {
        requests: 9,
        ..WalkLimits::default()
    };
    let walked = walk(&fake, "a", limits).await;
    assert_eq!((walked.requests, walked.end), (9, End::Spent));
}

#[tokio::test(start_paused = true)]
async fn the_watch_cache_has_lifetimes_that_probing_misses() {
    for (forgotten, told) in [
        (100, "gone@107 106 created limit"),
        (107, "gone@107 106 created limit"),
        (108, "limit"),
    ] {
        let fake = two_lives();
        fake.model().forgotten = forgotten;
        assert_eq!(brief(&fake, down_to(105)).await, told, "{forgotten}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_end_names_the_oldest_readable_revision() {
    for (compacted, told) in [
        (101, "gone@107 106 created gone@104 103 101 forgotten@101"),
        (102, "gone@107 106 created gone@104 103 101 forgotten@101"),
        (103, "gone@107 106 created gone@104 103 forgotten@103"),
        (104, "gone@107 106 created forgotten@104"),
        (106, "gone@107 106 forgotten@106"),
        (107, "forgotten@107"),
        (157, "forgotten@157"),
    ] {
        let fake = two_lives();
        fake.model().compacted = compacted;
        assert_eq!(
            brief(&fake, WalkLimits::default()).await,
            told,
            "{compacted}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_without_history_differs_from_one_that_fails() {
    for (error, told) in [
        (api_error(405), "not offered: "),
        (api_error(400), "not offered: "),
        (api_error(403), "not offered: "),
        (api_error(500), "failed: "),
        (api_error(503), "failed: "),
        (
            SourceError::Connect {
                detail: "refused".into(),
            },
            "failed: refused",
        ),
    ] {
        let fake = two_lives();
        fake.model().no_history = Some(error.clone());
        let brief = brief(&fake, WalkLimits::default()).await;
        assert!(brief.starts_with(told), "{error:?}: {brief}");
        assert!(fake.model().reads.len() as u64 <= u64::from(PROBES));
    }
    let fake = two_lives();
    fake.model().unversioned = true;
    let told = "not offered: the server keeps no old versions";
    assert_eq!(brief(&fake, WalkLimits::default()).await, told);
}

#[tokio::test(start_paused = true)]
async fn compacted_revisions_are_not_requested_again() {
    let fake = two_lives();
    fake.model().compacted = 140;
    let archive = archive(&fake);
    let (object, at, there) = now(&fake, "a");
    let mut asked = Vec::new();
    for _ in 0..2 {
        fake.model().reads.clear();
        let there = there.clone();
        let start = ObjectAt { at, there };
        let mut walk = Walk::new(&archive, &object, start, WalkLimits::default());
        assert!(walk.next().await.is_none());
        let forgotten = fake.model().reads.iter().filter(|at| **at < 140).count();
        asked.push(forgotten);
    }
    assert!(asked[0] > 0 && asked[1] == 0, "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn the_oldest_revision_is_found() {
    for compacted in [100, 101, 137, 156, 157] {
        let fake = two_lives();
        fake.model().compacted = compacted;
        let oldest = archive(&fake).oldest(revision(1), revision(157)).await;
        assert_eq!(oldest.map(number), Ok(compacted));
        assert!(fake.model().reads.len() <= 17);
    }
}

#[tokio::test(start_paused = true)]
async fn a_reversed_walk_equals_a_watch() {
    let fake = two_lives();
    fake.apply("a");
    let walked = walk(&fake, "a", WalkLimits::default()).await;
    let told = in_order(walked.start, walked.found);
    let model = fake.model();
    let log = model.log.iter().filter(|op| op.pod.name == "a");
    let expected: Vec<_> = log
        .map(|op| {
            let why = match op.did {
                Did::Added => Why::Added,
                Did::Modified => Why::Modified,
                Did::Deleted => Why::Deleted,
            };
            (why, op.pod.body())
        })
        .collect();
    let told: Vec<_> = told
        .into_iter()
        .map(|told| (told.why, told.now.body.text().to_string()))
        .collect();
    assert_eq!(told, expected);
}

/// Every revision before this one is compacted, but the watch cache has the events after the other one.
fn only_cached(fake: &Fake, (compacted, forgotten): (u64, u64)) {
    let mut model = fake.model();
    (model.compacted, model.forgotten) = (compacted, forgotten);
}

#[tokio::test(start_paused = true)]
async fn compacted_versions_are_in_the_watch_cache() {
    for (forgotten, told) in [
        (
            100,
            "gone@107 106 created gone@104 103 101 created forgotten@100",
        ),
        // The version before the first event is compacted.
        (101, "gone@107 106 created gone@104 103 forgotten@103"),
        (102, "gone@107 106 created gone@104 103 forgotten@103"),
        // The event of the deletion has the last state, with its own version.
        (103, "gone@107 106 created gone@104 104 forgotten@104"),
        (104, "gone@107 106 created forgotten@104"),
        (106, "gone@107 107 forgotten@107"),
        // The watch cache shows no event since.
        (107, "forgotten@107"),
    ] {
        let fake = two_lives();
        only_cached(&fake, (157, forgotten));
        assert_eq!(
            brief(&fake, WalkLimits::default()).await,
            told,
            "{forgotten}"
        );
    }
    for (forgotten, told) in [
        (
            100,
            "158 created gone@107 106 created gone@104 103 101 created forgotten@100",
        ),
        (157, "158 created forgotten@157"),
        (158, "forgotten@158"),
    ] {
        let fake = two_lives();
        fake.apply("a"); // 158
        fake.apply("a"); // 159
        fake.elsewhere();
        only_cached(&fake, (160, forgotten));
        let brief = brief(&fake, WalkLimits::default()).await;
        assert_eq!(
            brief,
            told.replace("forgotten@158", "forgotten@159"),
            "{forgotten}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_watch_cache_serves_a_server_without_history() {
    for error in [api_error(501), api_error(405), api_error(500)] {
        let fake = two_lives();
        fake.model().forgotten = 102;
        fake.model().no_history = Some(error);
        let brief = brief(&fake, WalkLimits::default()).await;
        assert!(
            brief.starts_with("gone@107 106 created gone@104 103 "),
            "{brief}"
        );
    }
}

/// A deletion whose version before is unknown is compared with nothing.
#[tokio::test(start_paused = true)]
async fn the_last_state_of_a_deletion_is_its_own() {
    let fake = two_lives();
    only_cached(&fake, (157, 106));
    let walked = walk(&fake, "a", WalkLimits::default()).await;
    let [deleted] = &in_order(walked.start, walked.found)[..] else {
        panic!("not one event");
    };
    assert_eq!(
        (deleted.why, deleted.at),
        (Why::Deleted, Some(revision(107)))
    );
    assert!(deleted.prev.is_none() && deleted.now.version.as_str() == "107");
}

#[tokio::test(start_paused = true)]
async fn events_that_do_not_lead_to_the_object_are_not_used() {
    let fake = two_lives();
    fake.apply("a"); // 158
    only_cached(&fake, (158, 100));
    // The watch ends before the event of the current version.
    (0..3).for_each(|_| fake.plan(Plan::after(2, WatchFault::Close)));
    assert_eq!(brief(&fake, WalkLimits::default()).await, "forgotten@158");
}

/// With 200 ms for each answer, searches take the time of a few answers.
#[tokio::test(start_paused = true)]
async fn a_distant_server_is_searched_side_by_side() {
    let fake = two_lives();
    (0..5000).for_each(|_| fake.elsewhere());
    {
        let mut model = fake.model();
        (model.compacted, model.forgotten) = (105, u64::MAX);
        model.read_takes = Duration::from_millis(200);
    }
    let begun = Instant::now();
    let told = brief(&fake, WalkLimits::default()).await;
    assert_eq!(told, "gone@107 106 created forgotten@105");
    let took = begun.elapsed();
    assert!(took < Duration::from_millis(200 * 12), "{took:?}");
    assert!(fake.model().most_reads <= 4);
}

/// A random history of two objects, with writes to other objects in between.
fn history(rng: &mut fastrand::Rng) -> Fake {
    let fake = Fake::new();
    for _ in 0..rng.usize(..60) {
        let name = ["a", "b"][rng.usize(..2)];
        match rng.u32(..10) {
            0..5 => drop(fake.apply(name)),
            5..7 if fake.get(name).is_some() => drop(fake.delete(name)),
            7..9 => fake.elsewhere(),
            _ => (0..rng.u32(..40)).for_each(|_| fake.elsewhere()),
        }
    }
    fake
}

/// The past of an object in the log, newest first: from the oldest readable revision on, or after the start of the
/// watch cache if that has older events. The uid identifies each lifetime.
fn log(fake: &Fake, name: &str, (bottom, cached): (u64, u64)) -> Vec<(Why, String, u64)> {
    let model = fake.model();
    let of_name = || model.log.iter().rev().filter(|op| op.pod.name == name);
    let is_older = of_name().any(|op| op.pod.rv > cached && op.pod.rv <= bottom);
    if is_older {
        let oldest = of_name().rfind(|op| op.pod.rv > cached).map(|op| op.pod.rv);
        let events = of_name().filter(|op| op.pod.rv > cached);
        let event = events.map(|op| {
            let why = match op.did {
                // The version before it is unknown.
                Did::Modified if Some(op.pod.rv) == oldest => Why::Listed,
                Did::Added => Why::Added,
                Did::Modified => Why::Modified,
                Did::Deleted => Why::Deleted,
            };
            (why, op.pod.uid.clone(), op.pod.rv)
        });
        return event.collect();
    }
    let alive = model.at(bottom).remove(name).map_or(bottom, |pod| pod.rv);
    let log = model.log.iter().rev();
    log.filter(|op| op.pod.name == name && op.pod.rv >= alive)
        .map(|op| {
            let why = match op.did {
                // The state before the oldest readable version is unknown, unless a read shows that the object
                // did not exist.
                Did::Added | Did::Modified if op.pod.rv <= bottom => Why::Listed,
                Did::Added => Why::Added,
                Did::Modified => Why::Modified,
                Did::Deleted => Why::Deleted,
            };
            (why, op.pod.uid.clone(), op.pod.rv)
        })
        .filter(|(why, _, rv)| *why != Why::Deleted || *rv > bottom)
        .collect()
}

#[expect(
    clippy::too_many_lines,
    reason = "one history and what must hold of it"
)]
async fn check(seed: u64) -> usize {
    let mut rng = fastrand::Rng::with_seed(seed);
    let fake = history(&mut rng);
    let newest = fake.model().rv;
    let compacted = rng.u64(100..=newest);
    let floor = rng.u64(100..=newest);
    let forgotten = rng.u64(100..=newest);
    {
        let mut model = fake.model();
        model.compacted = compacted;
        model.forgotten = forgotten;
    }
    let (object, at, start) = now(&fake, "a");
    let there = start.clone();
    let state = ObjectAt { at, there };
    let mut walk = Walk::new(&archive(&fake), &object, state, down_to(floor));
    if rng.bool() {
        walk = walk.beside_watch_cache();
    }
    let walked = finish(start, walk).await;
    let bottom = compacted.max(floor);
    let expected = log(&fake, "a", (bottom, forgotten.max(floor)));
    let mut told: Vec<_> = in_order(walked.start.clone(), walked.found)
        .into_iter()
        .map(|told| {
            let uid = told.now.object.uid.clone().expect("has one");
            let at = told.at.map(number).expect("a revision");
            (told.why, uid.as_str().to_owned(), at)
        })
        .collect();
    told.reverse();
    // A lifetime is missed as a whole or not at all, and the current one is never missed.
    let uids: Vec<&String> = told.iter().map(|(_, uid, _)| uid).collect();
    let present = walked.start.and_then(|start| start.object.uid.clone());
    let (met, missed): (Vec<_>, Vec<_>) = expected
        .into_iter()
        .partition(|(_, uid, _)| uids.contains(&uid));
    assert_eq!(told, met, "seed {seed}: {compacted} {floor}");
    let is_present = |uid: &str| present.as_ref().is_some_and(|own| own.as_str() == uid);
    assert!(!missed.iter().any(|(_, uid, _)| is_present(uid)), "{seed}");
    // No lifetime in the watch cache is missed.
    let in_ring = |at: &u64, why: &Why| *why == Why::Deleted && *at > forgotten;
    assert!(
        !missed.iter().any(|(why, _, at)| in_ring(at, why)),
        "{seed}"
    );
    let oldest = told.last().map(|(_, _, at)| *at);
    let told_down_to = |floor| oldest.is_some_and(|at| at <= floor);
    match walked.end {
        End::Limit => assert!(
            floor >= compacted.min(forgotten) || told_down_to(floor),
            "seed {seed}"
        ),
        End::Forgotten(at) => assert!(number(at) <= bottom, "seed {seed}"),
        other => panic!("seed {seed}: {other:?}"),
    }
    // At most one request per version, and two for each doubling of the span of an absence.
    let lives = told.iter().filter(|(why, ..)| *why == Why::Deleted).count() + 2;
    assert!(
        walked.requests as usize <= told.len() + lives * 40,
        "seed {seed}: {} requests",
        walked.requests
    );
    missed.len()
}

#[test]
fn walks_match_random_histories() {
    let mut missed = 0;
    for seed in 0..3000 {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        missed += runtime.block_on(check(seed));
    }
    // A walk can miss short lifetimes, but it finds most of them.
    assert!(missed < 3000, "{missed}");
}
