//! `Cause`: one reason for the state of an object, and the names of the rules that find causes.

use super::state::Status;

/// One reason for the state of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The rule that found it.
    pub rule: CauseRule,
    /// The text, on one or more lines: `web: Back-off pulling image "nginx:nope"`. Much of it is cluster
    /// text, which is not escaped.
    pub text: String,
}

impl Cause {
    pub(super) fn new(rule: CauseRule, text: impl Into<String>) -> Cause {
        Cause {
            rule,
            text: text.into(),
        }
    }
}

/// A problem of an object that its own text does not show, and the state of the object because of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The state of an object with this problem.
    pub status: Status,
    /// The problem.
    pub cause: Cause,
    /// Whether the problem has a line of its own. It has none if the line of another object shows it.
    pub has_line: bool,
}

impl Finding {
    /// A problem that a rule has found.
    pub fn new(rule: CauseRule, status: Status, text: impl Into<String>) -> Finding {
        Finding {
            status,
            cause: Cause::new(rule, text),
            has_line: true,
        }
    }

    /// The same problem without a line of its own.
    #[must_use]
    pub fn silent(self) -> Finding {
        Finding {
            has_line: false,
            ..self
        }
    }
}

/// `REASON: MESSAGE`, or only one of them if the other is empty.
pub(super) fn sentence(reason: &str, message: &str) -> String {
    match (reason.trim(), message.trim()) {
        ("", "") => "no reason given".to_owned(),
        (reason, "") => reason.to_owned(),
        ("", message) => message.to_owned(),
        (reason, message) => format!("{reason}: {message}"),
    }
}

/// Defines the rules. Each name in records is the variant's name.
macro_rules! rules {
    ($($rule:ident,)*) => {
        /// The rule that found a cause. The names appear in records, so they never change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum CauseRule {
            $(
                #[doc = concat!("`", stringify!($rule), "`: see the code that creates the cause.")]
                $rule,
            )*
        }

        impl CauseRule {
            /// The name in records: `ImagePull`, `Unschedulable`.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(CauseRule::$rule => stringify!($rule),)*
                }
            }
        }
    };
}

rules! {
    BackoffLimitExceeded,
    BudgetViolated,
    CannotScale,
    Condition,
    ContainerFailed,
    ContainerStart,
    CrashLoop,
    DeadlineExceeded,
    DiskPressure,
    Disruption,
    DisruptionUnknown,
    Endpoints,
    Evicted,
    Failed,
    FailedCreate,
    FailedDelete,
    FailedIndexes,
    FailedPods,
    FailedReference,
    Finalizers,
    ImagePull,
    JobFailed,
    MemoryPressure,
    MissingPort,
    MissingReference,
    NamespaceDeletion,
    NetworkUnavailable,
    NodeLost,
    NodeNotReady,
    NodeShutdown,
    NotAccepted,
    NotObserved,
    NotProgrammed,
    NotReady,
    OOMKilled,
    OnDelete,
    Overdue,
    PIDPressure,
    Paused,
    PendingLoadBalancer,
    PodFailed,
    PodFailurePolicy,
    Preempted,
    ProgressDeadline,
    ReadinessGate,
    ReplicaFailure,
    ResizePending,
    Restarted,
    Retrying,
    ScalingInactive,
    ScalingLimited,
    SchedulingGated,
    Unavailable,
    Unbound,
    Unreadable,
    UnreadReference,
    Unschedulable,
    VolumeLost,
    VolumeModify,
    VolumeResize,
    Waiting,
}
