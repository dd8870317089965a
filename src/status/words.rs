//! The words of states and names: what a phase such as `PartiallyFailed` reports, whatever kind has it.
//!
//! The makers of custom resources choose these words freely. Most follow the phases of Pods and the conditions of the API
//! conventions
//! (<https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md#typical-status-properties>).

/// What the word of a state reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The object is as it should be.
    Settled,
    /// Someone has paused it on purpose.
    Paused,
    /// Work is not done.
    Unfinished,
    /// It has failed.
    Failed,
}

/// The longest text that is a word or a short phrase, in bytes. A longer one is a message.
const LONGEST: usize = 80;

/// The words of a state that is as it should be. Words that only describe it, such as `Unknown`, are in no list.
const SETTLED: &[&str] = &[
    "accepted",
    "active",
    "applied",
    "atlatestknown",
    "available",
    "bound",
    "complete",
    "completed",
    "compliant",
    "connected",
    "created",
    "deployed",
    "done",
    "enabled",
    "established",
    "failedover",
    "finished",
    "green",
    "healthok",
    "healthy",
    "installed",
    "normal",
    "ok",
    "online",
    "operational",
    "provisioned",
    "published",
    "ready",
    "running",
    "stable",
    "succeeded",
    "success",
    "successful",
    "synced",
    "up",
    "uptodate",
    "valid",
];

/// How a word ends that reports that the object is as it should be, if nothing else in it says otherwise: `ClusterRunning`.
const SETTLED_ENDS: &[&str] = &["healthy", "ready", "running", "succeeded"];

/// The words of a state that someone has chosen, and in which the controller does nothing.
const PAUSED: &[&str] = &[
    "disabled",
    "halted",
    "hibernated",
    "paused",
    "stopped",
    "suspended",
];

/// First words that report a failure: `FailedNotVisible`, `InvalidSpec`.
const FAILED_STARTS: &[&str] = &[
    "different",
    "duplicate",
    "error",
    "failed",
    "failing",
    "fatal",
    "invalid",
    "unexpected",
];

/// How a word ends that reports a failure.
const FAILED_ENDS: &[&str] = &[
    "abnormal",
    "aborted",
    "broken",
    "conflict",
    "corrupted",
    "crashed",
    "crashloopbackoff",
    "critical",
    "dead",
    "degraded",
    "denied",
    "disconnected",
    "error",
    "errored",
    "errors",
    "exceeded",
    "expired",
    "failed",
    "failure",
    "failures",
    "faulted",
    "forbidden",
    "healtherr",
    "imagepullbackoff",
    "invalid",
    "limitreached",
    "lost",
    "misconfigured",
    "mismatch",
    "mismatched",
    "missing",
    "noncompliant",
    "notfound",
    "offline",
    "orphaned",
    "rejected",
    "stalled",
    "timedout",
    "timeout",
    "unauthorized",
    "unavailable",
    "unhealthy",
    "unreachable",
    "unrecoverable",
    "unschedulable",
    "unsupported",
];

/// Whole words that report a failure, and end like others that do not.
const FAILED_WORDS: &[&str] = &["down", "fail", "red"];

/// How a word ends that reports unfinished work.
const UNFINISHED_ENDS: &[&str] = &[
    "applyingchanges",
    "healthwarn",
    "incomplete",
    "inprogress",
    "inqueue",
    "notready",
    "outofsync",
    "pending",
    "queued",
    "unready",
    "yellow",
];

/// First words that report unfinished work.
const UNFINISHED_STARTS: &[&str] = &[
    "partial",
    "partially",
    "pending",
    "unfinished",
    "wait",
    "waiting",
    "waits",
];

/// Whole words that report unfinished work.
const UNFINISHED_WORDS: &[&str] = &[
    "inexecution",
    "init",
    "installready",
    "new",
    "submitted",
    "warn",
    "warning",
];

/// Words in `ing` that do not mean that work is not done: the object works as it should.
const STEADY: &[&str] = &[
    "advertising",
    "auditing",
    "during",
    "enforcing",
    "following",
    "forwarding",
    "hibernating",
    "leading",
    "listening",
    "mirroring",
    "monitoring",
    "nothing",
    "operating",
    "peering",
    "polling",
    "protecting",
    "recording",
    "replicating",
    "reporting",
    "routing",
    "running",
    "scraping",
    "serving",
    "string",
    "streaming",
    "tracking",
    "watching",
    "working",
];

/// What is left after a `not` that reports no problem: `NotApplicable`.
const NOT_NEEDED: &[&str] = &[
    "applicable",
    "configured",
    "enabled",
    "needed",
    "paused",
    "required",
    "requested",
    "set",
    "specified",
    "used",
];

/// What a paused object does not have: that is no failure of its own.
const ABSENT: &[&str] = &["disconnected", "down", "missing", "offline", "unavailable"];

/// The words of a name, in lower case: `ACK.ResourceSynced`, `PENDING_RERUN` and `out-of-sync` have two or three.
pub(super) fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut last: Option<char> = None;
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        if !letter.is_alphanumeric() {
            last = None;
            continue;
        }
        let is_upper = letter.is_uppercase();
        // `HTTPRoute`: the last capital of a row belongs to the next word.
        let ends_row = letters.peek().is_some_and(|next| next.is_lowercase());
        let starts = match last {
            None => true,
            Some(last) => is_upper && (!last.is_uppercase() || ends_row),
        };
        if starts {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
        last = Some(letter);
    }
    words
}

/// What the word of a state reports; `None` if it is a message, or says nothing about the object's health.
pub(super) fn meaning(text: &str) -> Option<Meaning> {
    if text.len() > LONGEST {
        return None;
    }
    let words = words_of(text);
    let (first, last) = (words.first()?, words.last()?);
    let whole = words.concat();
    if SETTLED.contains(&&*whole) {
        return Some(Meaning::Settled);
    }
    if PAUSED.contains(&&*whole) {
        return Some(Meaning::Paused);
    }
    if matches!(&**first, "no" | "none" | "without") {
        return None;
    }
    if starts_with_failure(&words, &whole) {
        return Some(Meaning::Failed);
    }
    if let Some(at) = words.iter().position(|word| word == "not") {
        let rest = words.get(at + 1).map_or("", String::as_str);
        return match rest {
            "found" => Some(Meaning::Failed),
            rest => (!NOT_NEEDED.contains(&rest)).then_some(Meaning::Unfinished),
        };
    }
    if is_failure(&words, &whole) {
        return Some(Meaning::Failed);
    }
    let is_work =
        |word: &str| word.ends_with("ing") && word.len() > "being".len() && !STEADY.contains(&word);
    let is_unfinished = UNFINISHED_WORDS.contains(&&*whole)
        || UNFINISHED_STARTS.contains(&&**first)
        || UNFINISHED_ENDS.iter().any(|end| whole.ends_with(end))
        || is_work(first)
        || is_work(last);
    let is_settled = SETTLED_ENDS.contains(&&**last);
    if is_unfinished {
        Some(Meaning::Unfinished)
    } else {
        is_settled.then_some(Meaning::Settled)
    }
}

/// Whether a state only says that something is not there, as that of a paused object.
pub(super) fn is_absence(text: &str) -> bool {
    ABSENT.contains(&&*words_of(text).concat())
}

/// Whether a reason, in one word, says that all is well: `MinimumReplicasAvailable`.
pub(super) fn is_good_reason(reason: &str) -> bool {
    let words = words_of(reason);
    let is_negated = words
        .iter()
        .any(|word| matches!(&**word, "no" | "not" | "non"));
    let last = words.last().map(String::as_str);
    !is_negated
        && matches!(
            last,
            Some("available" | "healthy" | "succeeded" | "successful")
        )
}

/// Whether a reason, in one word, reports a failure: `ProgressDeadlineExceeded`, `ApplyFailed`, `VaultClientError`.
pub(super) fn is_failure_reason(reason: &str) -> bool {
    let words = words_of(reason);
    reason.len() <= LONGEST && is_failure(&words, &words.concat())
}

/// Whether a reason says that there is nothing to do, or that someone wants it so: `ReconcilePaused`, `AsExpected`.
pub(super) fn is_on_purpose(reason: &str) -> bool {
    let words = words_of(reason);
    let whole = words.concat();
    let is_unneeded = NOT_NEEDED
        .iter()
        .any(|rest| whole == format!("not{rest}") || whole.ends_with(&format!("not{rest}")));
    let is_paused = words.last().is_some_and(|last| {
        matches!(
            &**last,
            "paused" | "disabled" | "suspended" | "skipped" | "hibernated"
        )
    });
    // Hive creates its conditions with the reason Initialized.
    is_unneeded || is_paused || matches!(&*whole, "asexpected" | "initialized")
}

fn is_failure(words: &[String], whole: &str) -> bool {
    starts_with_failure(words, whole)
        || FAILED_WORDS.contains(&whole)
        || FAILED_ENDS.iter().any(|end| whole.ends_with(end))
        || whole.contains("alreadyexists")
}

fn starts_with_failure(words: &[String], whole: &str) -> bool {
    let is_over = whole == "failedover" || whole == "failingover";
    // A lower-case word has no joint.
    let is_start =
        |first: &String| FAILED_STARTS.contains(&&**first) || first.starts_with("failed");
    !is_over && words.first().is_some_and(is_start)
}
