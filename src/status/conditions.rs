//! The polarity of conditions: which status of a condition is a problem, and how bad it is.
//!
//! The API does not say whether True is good (`Available`) or bad (`MemoryPressure`). A table has it for the
//! built-in kinds. For kinds without a rule in kstatus, which are mostly custom resources, the name of the
//! condition shows it, by the API conventions
//! (<https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md#typical-status-properties>).

use jiff::{SignedDuration, Timestamp};

use crate::object::{StatusCondition, Value};

use super::cause::{CauseRule, sentence};
use super::state::Status;
use super::{read, rules};

/// How long a controller may need before a problem counts as permanent. Autoscalers and API services report
/// problems while the pods behind them start.
const SETTLING: SignedDuration = SignedDuration::from_mins(2);

/// What a problem says about the state of the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Severity {
    /// Nothing: it is only a cause line.
    Note,
    /// The object is not in its desired state.
    InProgress,
    /// The object is not in its desired state, and has failed once the problem has lasted for [`SETTLING`].
    FailsInTime,
    /// The object has failed.
    Failed,
}

/// A condition of a kind, its abnormal statuses, and what they mean.
struct Watched {
    kind: &'static str,
    condition: &'static str,
    abnormal: &'static [&'static str],
    rule: CauseRule,
    severity: Severity,
}

const TRUE: &[&str] = &["True"];
const UNKNOWN: &[&str] = &["Unknown"];
const NOT_TRUE: &[&str] = &["False", "Unknown"];

/// Defines the table with one line for each condition.
macro_rules! watched {
    ($($kind:literal $condition:literal $abnormal:ident $rule:ident $severity:ident;)*) => {
        &[$(Watched {
            kind: $kind,
            condition: $condition,
            abnormal: $abnormal,
            rule: CauseRule::$rule,
            severity: Severity::$severity,
        },)*]
    };
}

/// The conditions of the built-in kinds. `kstatus` reads none of them, except `Ready` of a Node.
const WATCHED: &[Watched] = watched! {
    "Node" "Ready" NOT_TRUE NodeNotReady FailsInTime;
    "Node" "MemoryPressure" TRUE MemoryPressure InProgress;
    "Node" "DiskPressure" TRUE DiskPressure InProgress;
    "Node" "PIDPressure" TRUE PIDPressure InProgress;
    "Node" "NetworkUnavailable" TRUE NetworkUnavailable FailsInTime;
    "Pod" "DisruptionTarget" TRUE Disruption Note;
    "Pod" "PodResizePending" TRUE ResizePending Note;
    "Namespace" "NamespaceDeletionDiscoveryFailure" TRUE NamespaceDeletion Note;
    "Namespace" "NamespaceDeletionGroupVersionParsingFailure" TRUE NamespaceDeletion Note;
    "Namespace" "NamespaceDeletionContentFailure" TRUE NamespaceDeletion Note;
    "Namespace" "NamespaceContentRemaining" TRUE NamespaceDeletion Note;
    "Namespace" "NamespaceFinalizersRemaining" TRUE NamespaceDeletion Note;
    "PersistentVolumeClaim" "ControllerResizeError" TRUE VolumeResize Note;
    "PersistentVolumeClaim" "NodeResizeError" TRUE VolumeResize Note;
    "PersistentVolumeClaim" "ModifyVolumeError" TRUE VolumeModify Note;
    "PersistentVolumeClaim" "FileSystemResizePending" TRUE VolumeResize Note;
    "autoscaling/HorizontalPodAutoscaler" "AbleToScale" NOT_TRUE CannotScale FailsInTime;
    "autoscaling/HorizontalPodAutoscaler" "ScalingActive" NOT_TRUE ScalingInactive FailsInTime;
    "autoscaling/HorizontalPodAutoscaler" "ScalingLimited" TRUE ScalingLimited Note;
    "policy/PodDisruptionBudget" "DisruptionAllowed" UNKNOWN DisruptionUnknown FailsInTime;
    "apiregistration.k8s.io/APIService" "Available" NOT_TRUE Unavailable FailsInTime;
    "flowcontrol.apiserver.k8s.io/FlowSchema" "Dangling" TRUE Dangling InProgress;
    "gateway.networking.k8s.io/Gateway" "Accepted" NOT_TRUE NotAccepted FailsInTime;
    "gateway.networking.k8s.io/Gateway" "Programmed" NOT_TRUE NotProgrammed FailsInTime;
};

/// Conditions of custom resources that are good when True. A controller may still be working while they are
/// False.
const POSITIVE: [&str; 13] = [
    "Accepted",
    "Available",
    "ContinuousArchiving",
    "Established",
    "Healthy",
    "Initialized",
    "Installed",
    "Programmed",
    "Ready",
    "Reconciled",
    "Released",
    "ResolvedRefs",
    "Valid",
];

/// Conditions of custom resources that report the result of an attempt: Tekton's `Succeeded`, Crossplane's
/// `Synced`. Unknown means that the attempt is running.
const RESULTS: [&str; 2] = ["Succeeded", "Synced"];

/// Endings of the names of conditions that report a failure when True.
const FAILURES: [&str; 5] = ["Degraded", "Error", "Errors", "Failed", "Failure"];

/// Endings of the names of conditions that report a passing problem when True.
const PROBLEMS: [&str; 8] = [
    "Detected",
    "Flapping",
    "Hung",
    "Missing",
    "Pressure",
    "Problem",
    "Unavailable",
    "Unhealthy",
];

/// Other names of conditions that report a passing problem when True. KEDA sets `Fallback`
/// (<https://keda.sh/docs/latest/reference/scaledobject-spec/#fallback>), node problem detectors the others
/// (<https://github.com/kubernetes/node-problem-detector>).
const PROBLEM_NAMES: [&str; 13] = [
    "Fallback",
    "FilesystemIsReadOnly",
    "FreezeScheduled",
    "KernelDeadlock",
    "NotReady",
    "OOMKilling",
    "OutOfDisk",
    "PreemptScheduled",
    "ReadonlyFilesystem",
    "RebootScheduled",
    "RedeployScheduled",
    "TerminateScheduled",
    "VMEventScheduled",
];

/// A condition that reports a problem.
pub(super) struct Problem<'a> {
    pub(super) condition: StatusCondition<'a>,
    pub(super) rule: CauseRule,
    severity: Severity,
}

/// The problems that the conditions of an object report, in the object's order.
pub(super) fn problems<'a>(object: Value<'a>, kind: &str) -> Vec<Problem<'a>> {
    let conditions = read::conditions(object).unwrap_or_default().into_iter();
    let conditions = conditions.chain(of_parents(object, kind));
    let problem = |condition: StatusCondition<'a>| {
        let (rule, severity) = polarity(kind, &condition)?;
        Some(Problem {
            condition,
            rule,
            severity,
        })
    };
    conditions.filter_map(problem).collect()
}

/// The conditions of a route or a policy of the Gateway API. Each Gateway above it reports its own
/// (<https://gateway-api.sigs.k8s.io/reference/spec/#routeparentstatus>).
fn of_parents<'a>(object: Value<'a>, kind: &str) -> Vec<StatusCondition<'a>> {
    if !kind.starts_with("gateway.networking.k8s.io/") {
        return Vec::new();
    }
    let lists = ["parents", "ancestors"].into_iter();
    let parents = lists.flat_map(|list| object.items_at(&["status", list]));
    let conditions = parents.flat_map(|parent| parent.items_at(&["conditions"]));
    conditions.map(StatusCondition::of).collect()
}

/// What the status of a condition means; `None` if it is normal.
fn polarity(kind: &str, condition: &StatusCondition<'_>) -> Option<(CauseRule, Severity)> {
    let mut rows = WATCHED.iter().filter(|row| row.kind == kind).peekable();
    let is_built_in = rules::of(kind).is_some() || kind == "ReplicationController";
    if rows.peek().is_none() && !is_built_in {
        return polarity_by_name(&condition.kind, &condition.status);
    }
    let Some(row) = rows.find(|row| row.condition == condition.kind) else {
        // Other programs add conditions to a Node, in the style of those of the kubelet.
        let is_problem = kind == "Node" && is_problem(&condition.kind);
        let is_abnormal = is_problem && condition.status == "True";
        return is_abnormal.then_some((CauseRule::Condition, Severity::InProgress));
    };
    // `ScalingDisabled` means that someone scaled the workload to 0 on purpose.
    let is_abnormal =
        row.abnormal.contains(&&*condition.status) && condition.reason != "ScalingDisabled";
    is_abnormal.then_some((row.rule, row.severity))
}

/// What the status of a custom resource's condition means, by the name of the condition.
fn polarity_by_name(name: &str, status: &str) -> Option<(CauseRule, Severity)> {
    let ends_with = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    let severity = match status {
        "True" if ends_with(&FAILURES) => Severity::Failed,
        "True" if is_problem(name) => Severity::InProgress,
        "False" if RESULTS.contains(&name) => Severity::Failed,
        "Unknown" if RESULTS.contains(&name) => Severity::InProgress,
        // The Prometheus operator has a third value between True and False.
        "False" | "Unknown" | "Degraded" if is_positive(name) => Severity::InProgress,
        _ => return None,
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
    let has_good_end = name.ends_with("Ready") || name.ends_with("Healthy");
    (has_good_end && !is_problem(name)) || POSITIVE.contains(&name)
}

/// Whether a condition of this name reports a passing problem when True.
fn is_problem(name: &str) -> bool {
    let starts_with = |start: &str| {
        let rest = name.strip_prefix(start);
        rest.is_some_and(|rest| rest.starts_with(char::is_uppercase))
    };
    let is_restart = starts_with("Frequent") && name.ends_with("Restart");
    let is_bad_word = starts_with("Non") || starts_with("Corrupt") || is_restart;
    let has_bad_end = PROBLEMS.iter().any(|ending| name.ends_with(ending));
    is_bad_word || has_bad_end || PROBLEM_NAMES.contains(&name)
}

impl Problem<'_> {
    /// The state of an object with this problem; `None` if it says nothing about the state.
    pub(super) fn status(&self, now: Timestamp) -> Option<Status> {
        match self.severity {
            Severity::Note => None,
            Severity::InProgress => Some(Status::InProgress),
            Severity::Failed => Some(Status::Failed),
            Severity::FailsInTime => {
                let lasts = self.settles().is_some_and(|settles| settles <= now);
                Some(if lasts {
                    Status::Failed
                } else {
                    Status::InProgress
                })
            }
        }
    }

    /// When the problem becomes a failure; `None` if time does not change it.
    pub(super) fn settles(&self) -> Option<Timestamp> {
        let since = self.condition.since();
        let since = since.filter(|_| self.severity == Severity::FailsInTime)?;
        since.checked_add(SETTLING).ok()
    }

    /// The text of the cause. The name of a condition says nothing more than the rule if the rule has a name of
    /// its own.
    pub(super) fn text(&self) -> String {
        let condition = &self.condition;
        let text = sentence(&condition.reason, &condition.message);
        match self.rule {
            CauseRule::Condition | CauseRule::Failed => {
                format!("{}={}: {text}", condition.kind, condition.status)
            }
            _ => text,
        }
    }
}
