//! Judges the answers, and reports those that are false.

use super::blame::Blame;
use super::claim::{Claim, Word};
use super::history::History;
use super::question::Answer;
use super::verdict::Judge;
use super::write::{Compacted, Write};

/// What is true of a history.
pub struct Truth<'t> {
    pub history: &'t History,
    pub writes: &'t [Write],
    /// The revisions to which the storages are compacted.
    pub compacted: Compacted,
}

/// The results of all histories.
#[derive(Default)]
pub struct Report {
    failed: Vec<String>,
    answers: usize,
    bite: Bite,
    blame: Blame,
}

/// How many claims of each sort were judged.
#[derive(Clone, Copy, Debug, Default)]
struct Bite {
    versions: usize,
    live: usize,
    written_by: usize,
    intervals: usize,
    deletions: usize,
    recreations: usize,
    lengths: usize,
    compacted: usize,
    complete: usize,
}

impl<'t> Truth<'t> {
    pub fn of(history: &'t History, writes: &'t [Write]) -> Truth<'t> {
        Truth {
            history,
            writes,
            compacted: Compacted::new(),
        }
    }
}

impl Report {
    /// Judges the answers about a history.
    pub fn judge(&mut self, truth: &Truth<'_>, answers: Vec<Result<Answer, String>>) {
        let judged = answers.into_iter().map(|answer| {
            let answer = answer?;
            self.answers += 1;
            self.bite.count(&answer);
            judge(&answer, truth)
        });
        let failed: Vec<String> = judged.filter_map(Result::err).collect();
        self.fail(truth, &failed);
    }

    /// Adds what was said of the causes of failures after a history, and what of it is false.
    pub fn blame(&mut self, truth: &Truth<'_>, mut blame: Blame) {
        self.fail(truth, &std::mem::take(&mut blame.wrong));
        self.blame.add(blame);
    }

    fn fail(&mut self, truth: &Truth<'_>, failed: &[String]) {
        if !failed.is_empty() {
            let text = told(truth, failed);
            println!("{text}\n");
            self.failed.push(text);
        }
    }

    /// Fails if an answer is false. It also fails if a sort of claim was never judged, because such a run proves nothing.
    pub fn check(self) {
        let Report {
            failed,
            answers,
            bite,
            blame,
        } = self;
        println!("{answers} answers: {bite:?}; {blame:?}");
        let seeds = failed.len();
        assert!(
            failed.is_empty(),
            "{seeds} histories are told falsely, see above"
        );
        let judged = [
            bite.versions,
            bite.live,
            bite.written_by,
            bite.intervals,
            bite.deletions,
            bite.recreations,
            bite.lengths,
            bite.compacted,
            bite.complete,
            blame.named,
            blame.deletions,
        ];
        // One history need not have every sort.
        assert!(
            answers < ENOUGH || !judged.contains(&0),
            "{bite:?} {blame:?}"
        );
    }
}

/// This many answers have every sort of claim.
const ENOUGH: usize = 100;

impl Bite {
    fn count(&mut self, answer: &Answer) {
        let claims = &answer.printed.claims;
        let count = |is: fn(&&Claim) -> bool| claims.iter().filter(is).count();
        let has = |words: &str| {
            let mut divider = answer.printed.divider.iter().flatten();
            usize::from(divider.any(|part| part.contains(words)))
        };
        self.versions += claims.len();
        self.live += if answer.is_live() { claims.len() } else { 0 };
        self.written_by += count(|claim| !claim.writers.is_empty());
        self.intervals += count(|claim| claim.until.is_some());
        self.deletions += count(|claim| claim.word == Word::Deleted);
        self.recreations += count(|claim| claim.word == Word::Recreated);
        self.lengths += count(|claim| claim.since.is_some() && claim.existed.is_none());
        self.compacted += has("compacted");
        self.complete += has("complete");
    }
}

/// The error has the false claims of an answer.
pub fn judge(answer: &Answer, truth: &Truth<'_>) -> Result<(), String> {
    let mut judge = Judge {
        truth: truth.writes,
        compacted: &truth.compacted,
        answer,
        wrong: Vec::new(),
    };
    let known = judge.claims();
    judge.whole(&known);
    match &judge.wrong[..] {
        [] => Ok(()),
        wrong => Err(complaint(answer, wrong)),
    }
}

/// A failure: the false claims, and the history.
fn told(truth: &Truth<'_>, failed: &[String]) -> String {
    let lines = truth.writes.iter().map(|write| format!("  {write}"));
    let lines: Vec<String> = lines.collect();
    let seed = truth.history.seed;
    let compacted = truth.compacted.iter();
    let memory: String = compacted
        .map(|(storage, revision)| format!(", {storage:?} compacted to {revision}"))
        .collect::<Vec<_>>()
        .concat();
    format!(
        "seed {seed} (SPY_TRUTH_SEED={seed}{memory}):\n{}\nits history:\n{}",
        failed.join("\n"),
        lines.join("\n")
    )
}

fn complaint(answer: &Answer, wrong: &[String]) -> String {
    let divider = answer.printed.divider.iter().flatten();
    let divider: Vec<&str> = divider.map(String::as_str).collect();
    let claims = answer.printed.claims.iter();
    let claims: Vec<String> = claims.map(|claim| format!("  {}", claim.line)).collect();
    format!(
        "$ kubectl spy {} # exit code {}, {}\n{}\n{}\nit printed:\n{}",
        answer.command,
        answer.code,
        divider.join(" · "),
        wrong.join("\n"),
        answer.stderr,
        claims.join("\n")
    )
}
