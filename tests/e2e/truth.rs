//! A law: every word about the past is true, or the program says that it does not know. Random histories are written to a
//! real control plane, and the program is asked about them. The API server's audit log has the truth.
//!
//! A failure prints its seed, the history and the false lines. `SPY_TRUTH_SEED=17` runs only that seed, `SPY_TRUTH_SEEDS=500`
//! runs the first 500.

pub mod api;
mod audit;
mod blame;
mod claim;
mod counts;
mod history;
mod live;
mod objects;
mod plane;
mod question;
mod reach;
mod record;
mod report;
mod tests;
mod text;
mod verdict;
mod write;
mod writer;

use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::sync::Mutex;
use std::thread;

use history::History;
use plane::{Leases, Plane, namespace};
use question::{Answer, Question};
use report::{Report, Truth};
use write::{Compacted, Storage, Write};

/// The default number of histories.
const SEEDS: u64 = 32;
/// The number of histories that are written at once.
const BATCH: usize = 16;
/// The number of runs at once on a control plane.
const AT_ONCE: usize = 2;

/// Of this many histories, a user without a right to the Leases asks about one.
const WITHOUT_LEASES: u64 = 3;

/// What the API server remembers of a history when it is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    /// Its watch cache has everything.
    Cached,
    /// It was restarted, so it reads the past from etcd. Events have an etcd of their own.
    Restarted,
}

#[test]
fn every_word_about_the_past_is_true() {
    let report = Mutex::new(Report::default());
    let is_even = |seed: &u64| seed.is_multiple_of(2);
    let (even, odd) = seeds().into_iter().partition::<Vec<u64>, _>(is_even);
    thread::scope(|scope| {
        scope.spawn(|| on_one_plane(&even, Memory::Cached, &report));
        scope.spawn(|| on_one_plane(&odd, Memory::Restarted, &report));
    });
    report.into_inner().unwrap().check();
}

/// The seeds to run.
fn seeds() -> Vec<u64> {
    let number = |name: &str| {
        let text = std::env::var(name).ok()?;
        Some(text.parse().expect("the variable is a number"))
    };
    match number("SPY_TRUTH_SEED") {
        Some(seed) => vec![seed],
        None => (0..number("SPY_TRUTH_SEEDS").unwrap_or(SEEDS)).collect(),
    }
}

fn on_one_plane(seeds: &[u64], memory: Memory, report: &Mutex<Report>) {
    if seeds.is_empty() {
        return;
    }
    let (leases, apart) = match memory {
        Memory::Cached => (Leases::Frequent, ""),
        Memory::Restarted => (Leases::Few, "events"),
    };
    let label = format!("truth-{memory:?}").to_lowercase();
    let mut plane = Plane::start(&label, leases, apart);
    for batch in seeds.chunks(BATCH) {
        let histories: Vec<History> = batch.iter().map(|seed| History::of(*seed)).collect();
        let (written, watched) = plane.write(&histories);
        let told = histories.iter().zip(&written);
        let mut told: Vec<_> = told
            .map(|(history, writes)| Truth::of(history, writes))
            .collect();
        for truth in &told {
            let answer = watched.answer(&namespace(truth.history));
            report.lock().unwrap().judge(truth, vec![Ok(answer)]);
        }
        if memory == Memory::Restarted {
            plane.restart();
        }
        // Of the others, only a part is left.
        let mut compacted = told.split_off(told.len() / 2);
        ask_all(&plane, &told, report);
        let middle = middle(&written);
        plane.compact(&middle);
        for truth in &mut compacted {
            truth.compacted.clone_from(&middle);
        }
        ask_all(&plane, &compacted, report);
        // The Pods that fail are no part of the histories, so they come last.
        for truth in told.iter().chain(&compacted) {
            let blame = blame::check(&plane, truth);
            report.lock().unwrap().blame(truth, blame);
        }
    }
}

/// The revision in the middle of the writes to each storage.
fn middle(written: &[Vec<Write>]) -> Compacted {
    let mut revisions: BTreeMap<Storage, Vec<u64>> = BTreeMap::new();
    for write in written.iter().flatten() {
        let revisions = revisions.entry(write.storage).or_default();
        revisions.push(write.revision);
    }
    let middle = revisions.into_iter().map(|(storage, mut revisions)| {
        revisions.sort_unstable();
        (storage, revisions[revisions.len() / 2])
    });
    middle.collect()
}

fn ask_all(plane: &Plane, told: &[Truth<'_>], report: &Mutex<Report>) {
    let told = Mutex::new(told.iter());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                let next = || told.lock().unwrap().next();
                while let Some(truth) = next() {
                    let answers = ask(plane, truth);
                    report.lock().unwrap().judge(truth, answers);
                }
            });
        }
    });
}

/// Asks all questions about one history. The error names a question without an answer.
fn ask(plane: &Plane, truth: &Truth<'_>) -> Vec<Result<Answer, String>> {
    let namespace = namespace(truth.history);
    let seed = truth.history.seed;
    let spy = if seed % WITHOUT_LEASES == 2 {
        plane.spy_without_leases()
    } else {
        plane.spy()
    };
    let questions = Question::some(seed).into_iter();
    let answers = questions.map(|question| {
        let asked = catch_unwind(|| question.ask(&spy, &namespace));
        asked.map_err(|_| format!("{} does not end", question.line(&namespace)))
    });
    answers.collect()
}
