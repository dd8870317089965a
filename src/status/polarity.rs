//! The polarity of the conditions of custom resources, by their names: which status is a problem, and how bad it is.
//!
//! The API does not say whether True is good (`Available`) or bad (`MemoryPressure`). The last word of the name shows it,
//! sometimes the first one, by the API conventions
//! (<https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md#typical-status-properties>).

use crate::object::StatusCondition;

use super::cause_rule::CauseRule;
use super::words::{is_failure_reason, is_good_reason, is_on_purpose, words_of};

/// What a problem says about the state of the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Severity {
    /// Nothing: it is only a cause line.
    Note,
    /// The object is not in its desired state.
    InProgress,
    /// The object is not in its desired state, and has failed once the problem has lasted for some minutes.
    FailsInTime,
    /// The object has failed.
    Failed,
}

/// What the other conditions of an object say about it as a whole.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Summary {
    /// Ready, Available or another condition about the whole object is True.
    pub(super) is_well: bool,
    /// Its state says that it has reached what the spec demands.
    pub(super) has_arrived: bool,
}

/// Conditions that are good when True, and say so about the whole object.
pub(super) const WHOLE: &[&str] = &[
    "Available",
    "Complete",
    "Completed",
    "Healthy",
    "Operational",
    "Ready",
    "Succeeded",
];

/// Last words of conditions that are good when True. A controller may still be working while they are not.
const POSITIVE: &[&str] = &[
    "accepted",
    "admitted",
    "attached",
    "available",
    "configured",
    "connected",
    "created",
    "done",
    "enforced",
    "established",
    "formed",
    "healthy",
    "imported",
    "initialized",
    "installed",
    "issued",
    "joined",
    "launched",
    "met",
    "online",
    "passed",
    "operational",
    "programmed",
    "propagated",
    "provided",
    "provisioned",
    "published",
    "reachable",
    "ready",
    "registered",
    "resolved",
    "satisfied",
    "schedulable",
    "scheduled",
    "serving",
    "uptodate",
    "verified",
];

/// Last words of conditions that report the result of an attempt: Tekton's `Succeeded`, Crossplane's `Synced`,
/// `SecretSynced`, `ReconcileSuccess`. A reason that names a failure says that the attempt is over.
const RESULTS: &[&str] = &[
    "adopted",
    "applied",
    "compliant",
    "deployed",
    "parsed",
    "reconciled",
    "succeeded",
    "success",
    "successful",
    "synced",
    "synchronized",
    "valid",
    "validated",
];

/// Whole names of conditions of these two kinds that have failed when False, whatever the reason.
const WHOLE_RESULTS: &[&str] = &["Succeeded", "Synced"];

/// Whole names that are good when True, and whose last words are not.
const POSITIVE_NAMES: &[&str] = &["ContinuousArchiving", "Released", "ResolvedRefs"];

/// First words of conditions with a good last word that report news, not health: `UpdateAvailable`.
const NEWS: &[&str] = &["new", "update", "updates", "upgrade", "upgrades", "version"];

/// First words that turn the meaning of the others around.
const NEGATIONS: &[&str] = &["no", "non", "not"];

/// Last words of conditions that report a failure when True.
const FAILURES: &[&str] = &[
    "aborted", "degraded", "denied", "error", "errors", "failed", "failing", "failure", "invalid",
    "rejected", "terminal",
];

/// First words of conditions that report a failure when True: `FailedToPull`, `InvalidSpec`, `ErrorOccurred`.
const FAILURE_STARTS: &[&str] = &["error", "failed", "failing", "invalid"];

/// Last words of conditions that report a passing problem when True.
const PROBLEMS: &[&str] = &[
    "blocked",
    "conflicted",
    "detected",
    "disconnected",
    "exceeded",
    "expired",
    "flapping",
    "hung",
    "missing",
    "pressure",
    "problem",
    "stuck",
    "unavailable",
    "unhealthy",
    "unreachable",
    "unschedulable",
    "unsupported",
    "violated",
];

/// Last words of conditions that report unfinished work when True, after a word that says of what: `ControlPlaneUpdating`.
/// Alone they may be an entry of a history, as Creating=True beside Created=True, or what someone wants.
const WORK: &[&str] = &[
    "configuring",
    "creating",
    "deploying",
    "halted",
    "initializing",
    "installing",
    "migrating",
    "pending",
    "progressing",
    "provisioning",
    "restoring",
    "scaling",
    "stopped",
    "updating",
    "upgrading",
];

/// Reasons of Progressing=True while a rollout runs: those of Deployments and of what is made after them
/// (<https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#progressing-deployment>).
const ROLLOUT_REASONS: &[&str] = &[
    "FoundNewReplicaSet",
    "NewReplicaSetCreated",
    "NewReplicationControllerCreated",
    "ReplicaSetUpdated",
    "ReplicationControllerUpdated",
];

/// Other names of conditions that report a passing problem when True. KEDA sets `Fallback`
/// (<https://keda.sh/docs/latest/reference/scaledobject-spec/#fallback>), node problem detectors the others
/// (<https://github.com/kubernetes/node-problem-detector>).
const PROBLEM_NAMES: &[&str] = &[
    "Fallback",
    "FilesystemIsReadOnly",
    "FreezeScheduled",
    "KernelDeadlock",
    "OOMKilling",
    "OutOfDisk",
    "PreemptScheduled",
    "ReadonlyFilesystem",
    "RebootScheduled",
    "RedeployScheduled",
    "TerminateScheduled",
    "VMEventScheduled",
];

impl Summary {
    /// What these conditions say about the whole object.
    pub(super) fn of(conditions: &[StatusCondition<'_>]) -> Summary {
        let is_true = |name: &str| conditions.iter().any(|one| one.is(name, "True"));
        Summary {
            is_well: WHOLE.iter().any(|name| is_true(name)),
            has_arrived: false,
        }
    }
}

/// What the status of a condition means, by the name of the condition; `None` if it is normal.
pub(super) fn by_name(
    condition: &StatusCondition<'_>,
    summary: Summary,
) -> Option<(CauseRule, Severity)> {
    let name = &*condition.kind;
    let severity = match &*condition.status {
        "True" => when_true(condition, summary)?,
        "" => return None,
        // The Prometheus operator has a third value between True and False.
        _ => when_not_true(condition, summary)?,
    };
    let rule = match name {
        "Ready" => CauseRule::NotReady,
        _ if severity == Severity::Failed => CauseRule::Failed,
        _ => CauseRule::Condition,
    };
    Some((rule, severity))
}

/// Whether a condition of this name is good when True: `Ready`, `AllReplicasReady`.
pub(super) fn is_positive(name: &str) -> bool {
    let words = words_of(name);
    let is_good = ends(&words, POSITIVE) || ends(&words, RESULTS) || POSITIVE_NAMES.contains(&name);
    let is_turned = starts(&words, NEGATIONS) || starts(&words, NEWS) || is_negated(&words);
    is_good && !is_turned && is_named_well(name) && !is_problem(name)
}

/// Whether a condition of this name reports a passing problem when True.
pub(super) fn is_problem(name: &str) -> bool {
    let words = words_of(name);
    let follows = words.len() > 1;
    let is_restart = starts(&words, &["frequent"]) && ends(&words, &["restart"]);
    let is_bad_word = follows && starts(&words, &["non", "corrupt"]);
    let is_not = is_negated(&words) && (ends(&words, POSITIVE) || ends(&words, &["found"]));
    let is_unmatched =
        starts(&words, &["no"]) && words.iter().any(|word| word.starts_with("match"));
    let is_bad = is_bad_word || is_not || is_unmatched || is_restart || ends(&words, PROBLEMS);
    (is_bad && is_named_well(name)) || PROBLEM_NAMES.contains(&name)
}

/// What True means.
fn when_true(condition: &StatusCondition<'_>, summary: Summary) -> Option<Severity> {
    let name = &*condition.kind;
    let words = words_of(name);
    if is_problem(name) {
        return (!summary.has_arrived).then_some(Severity::InProgress);
    }
    if is_positive(name) || !is_named_well(name) || starts(&words, NEGATIONS) {
        return None;
    }
    let is_over = words.get(1).is_some_and(|word| word == "over");
    if ends(&words, FAILURES) || (starts(&words, FAILURE_STARTS) && !is_over) {
        return (!is_good_reason(&condition.reason)).then_some(Severity::Failed);
    }
    let is_part = words.len() > 1 && ends(&words, WORK);
    // The operators that are made with Ansible: Successful is the reason between two runs
    // (<https://sdk.operatorframework.io/docs/building-operators/ansible/reference/>).
    let is_run = condition.is("Running", "True")
        && condition.reason == "Running"
        && !summary.is_well
        && (condition.has("ansibleResult") || condition.message == "Running reconciliation");
    let is_rollout = name == "Progressing" && ROLLOUT_REASONS.contains(&&*condition.reason);
    (is_part || is_run || is_rollout).then_some(Severity::InProgress)
}

/// What False and Unknown mean.
fn when_not_true(condition: &StatusCondition<'_>, summary: Summary) -> Option<Severity> {
    let name = &*condition.kind;
    let words = words_of(name);
    if name == "Progressing" {
        return match &*condition.status {
            "False" if is_failure_reason(&condition.reason) => Some(Severity::Failed),
            "Unknown" if !is_on_purpose(&condition.reason) => Some(Severity::InProgress),
            _ => None,
        };
    }
    if is_on_purpose(&condition.reason) {
        return None;
    }
    if !is_positive(name) {
        // The reason shows what the name does not, as in LastAsyncOperation=False.
        let is_bad_name =
            is_problem(name) || ends(&words, FAILURES) || starts(&words, FAILURE_STARTS);
        let has_failed = condition.status == "False" && is_failure_reason(&condition.reason);
        let counts = has_failed && !is_bad_name && is_named_well(name) && !summary.is_well;
        return counts.then_some(Severity::InProgress);
    }
    let is_whole = words.len() == 1 || POSITIVE_NAMES.contains(&name);
    // Cluster API and Knative give each condition a severity. Info is no problem
    // (<https://github.com/knative/specs/blob/main/specs/serving/overview.md#error-signalling>).
    match &*condition.severity() {
        "Info" if !is_whole => return None,
        "Error" if condition.status == "False" => return Some(Severity::Failed),
        _ => {}
    }
    let is_unknown = condition.status == "Unknown";
    // What is well as a whole outweighs a part that is not known yet, or that it can do without.
    let is_minor = is_unknown || ends(&words, &["available"]);
    if !is_whole && is_minor && summary.is_well {
        return None;
    }
    let is_old_part = ends(&words, &["ready", "healthy"]);
    if is_unknown && !is_whole && !is_old_part {
        return None;
    }
    let is_last = starts(&words, &["last"]);
    let has_failed = WHOLE_RESULTS.contains(&name)
        || (ends(&words, RESULTS) && is_failure_reason(&condition.reason) && !is_last);
    Some(if has_failed && !is_unknown {
        Severity::Failed
    } else {
        Severity::InProgress
    })
}

/// Whether the name is in `CamelCase`, as the conventions demand, or has a domain. Others may be steps of a history, which
/// stay True.
fn is_named_well(name: &str) -> bool {
    let own = name.rsplit(['/', '.']).next().unwrap_or(name);
    own.starts_with(char::is_uppercase) || name.contains('/')
}

/// Whether a `not` stands before the last word: `ImageSetNotFound`.
fn is_negated(words: &[String]) -> bool {
    matches!(words, [.., not, _] if not == "not")
}

fn ends(words: &[String], endings: &[&str]) -> bool {
    // `ResourcesUpToDate` ends with three words that are one.
    let tail: String = match words {
        [.., up, to, date] if up == "up" && to == "to" && date == "date" => "uptodate".to_owned(),
        [.., last] => last.clone(),
        [] => return false,
    };
    endings.contains(&&*tail)
}

fn starts(words: &[String], list: &[&str]) -> bool {
    words.first().is_some_and(|first| list.contains(&&**first))
}
