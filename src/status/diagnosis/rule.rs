//! `CauseRule`: the names of the rules that find causes. They appear in records, so they never change.

/// Defines the rules. Each name in records is the variant's name.
macro_rules! rules {
    ($($rule:ident,)*) => {
        /// The rule that found a cause.
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
    Finalizers,
    ImagePull,
    JobFailed,
    MemoryPressure,
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
    SchedulingGated,
    Unavailable,
    Unbound,
    Unreadable,
    Unschedulable,
    VolumeLost,
    VolumeModify,
    VolumeResize,
    Waiting,
}
