//! The polarity of conditions: which status of a condition is a problem, and how bad it is.
//!
//! A table has it for the built-in kinds. For kinds without a rule in kstatus, which are mostly custom resources, the name
//! of the condition shows it (`polarity`).

use jiff::{SignedDuration, Timestamp};

use crate::object::{StatusCondition, Value, is_kubernetes_own};

use super::cause::sentence;
use super::cause_rule::CauseRule;
use super::polarity::{Severity, Summary, WHOLE, by_name, is_problem};
use super::state::Status;
use super::{custom, parts, read, rules};

/// How long a controller may need before a problem counts as permanent ([`Severity::FailsInTime`]). Autoscalers and API services report
/// problems while the pods behind them start.
const SETTLING: SignedDuration = SignedDuration::from_mins(2);

/// The reason of a budget that its controller could not compute. It then allows no eviction.
pub(super) const SYNC_FAILED: &str = "SyncFailed";

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
    "apiextensions.k8s.io/CustomResourceDefinition" "NonStructuralSchema" TRUE Condition InProgress;
    "gateway.networking.k8s.io/Gateway" "Accepted" NOT_TRUE NotAccepted FailsInTime;
    "gateway.networking.k8s.io/Gateway" "Programmed" NOT_TRUE NotProgrammed FailsInTime;
};

/// A condition that reports a problem.
pub(super) struct Problem<'a> {
    pub(super) condition: StatusCondition<'a>,
    pub(super) rule: CauseRule,
    severity: Severity,
    /// The part of the object that the condition is about, for people: `listener https`.
    part: Option<String>,
}

/// The problems that the conditions of an object report: first those that explain the others.
pub(super) fn problems<'a>(object: Value<'a>, kind: &str) -> Vec<Problem<'a>> {
    let conditions = read::conditions(object).unwrap_or_default();
    let has_names = has_telling_names(kind);
    let summary = Summary {
        has_arrived: has_names && custom::has_arrived(object),
        ..Summary::of(&conditions)
    };
    let own = conditions.into_iter().map(|condition| (None, condition));
    let of_parts = if has_names && !custom::is_settled(object) {
        parts::conditions(object)
    } else {
        Vec::new()
    };
    let found = own.chain(of_parts).filter_map(|(part, condition)| {
        let (rule, severity) = if part.is_some() {
            by_name(&condition, Summary::default())?
        } else {
            polarity(kind, &condition, summary)?
        };
        let is_listener = part
            .as_ref()
            .is_some_and(|part| part.starts_with("listener "));
        Some(Problem {
            condition,
            rule: if is_listener {
                CauseRule::Listener
            } else {
                rule
            },
            severity,
            part,
        })
    });
    let mut problems: Vec<_> = found.collect();
    problems.sort_by_key(Problem::rank);
    problems
}

/// What the status of a condition means; `None` if it is normal.
fn polarity(
    kind: &str,
    condition: &StatusCondition<'_>,
    summary: Summary,
) -> Option<(CauseRule, Severity)> {
    let mut rows = WATCHED.iter().filter(|row| row.kind == kind);
    if let Some(row) = rows.find(|row| row.condition == condition.kind) {
        let is_abnormal = match &*condition.reason {
            // Someone scaled the workload to 0 on purpose.
            "ScalingDisabled" => false,
            SYNC_FAILED => condition.status != "True",
            _ => row.abnormal.contains(&&*condition.status),
        };
        return is_abnormal.then_some((row.rule, row.severity));
    }
    if has_telling_names(kind) {
        return by_name(condition, summary);
    }
    // Other programs add conditions to a Node, in the style of those of the kubelet.
    let is_abnormal = kind == "Node" && is_problem(&condition.kind) && condition.status == "True";
    is_abnormal.then_some((CauseRule::Condition, Severity::InProgress))
}

/// Whether only the names of the conditions of a kind show what they mean: that of most kinds that Kubernetes does not define.
pub(super) fn has_telling_names(kind: &str) -> bool {
    let is_built_in = rules::of(kind).is_some() || kind == "ReplicationController";
    let has_its_own_rows = || {
        let group = kind.rsplit_once('/').map_or("", |(group, _)| group);
        is_kubernetes_own(group) && WATCHED.iter().any(|row| row.kind == kind)
    };
    !is_built_in && !has_its_own_rows()
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

    /// Its place among the problems of the object. What waits for something else comes after it, and so does what sums up.
    fn rank(&self) -> u8 {
        let condition = &self.condition;
        let is_sum = WHOLE.contains(&&*condition.kind);
        let is_waiting =
            condition.reason.starts_with("Wait") || condition.reason.starts_with("Await");
        match (&*condition.status, self.severity) {
            (_, Severity::Note) => 4,
            ("Unknown", _) => 3,
            (_, Severity::Failed) => 0,
            _ if is_sum || is_waiting => 2,
            _ => 1,
        }
    }

    /// Whether it only says that something is not known yet.
    pub(super) fn is_unknown(&self) -> bool {
        self.condition.status == "Unknown"
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
        let text = match self.rule {
            CauseRule::Condition | CauseRule::Failed | CauseRule::Listener => {
                format!("{}={}: {text}", condition.kind, condition.status)
            }
            _ => text,
        };
        match &self.part {
            Some(part) if !part.is_empty() => format!("{part}: {text}"),
            _ => text,
        }
    }
}
