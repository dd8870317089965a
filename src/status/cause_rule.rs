//! `CauseRule`: the rules that find causes, as data: one line for each, and below them the documents that they come from.

/// A rule, for people: what it finds, and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The stable name, as in records: `ImagePull`.
    pub name: &'static str,
    /// One or two plain sentences.
    pub finds: &'static str,
    /// The document that the rule comes from: a URL.
    pub source: &'static str,
}

/// Whether an object that has failed can get well without help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recovery {
    /// As soon as other objects get well, which may take any time.
    Elsewhere,
    /// Perhaps: a controller or the kubelet tries again.
    Retried,
    /// No: nothing tries again, or another attempt meets the same problem.
    Never,
}

/// Defines the rules, one line for each: the name in records, the recovery, the source, and what the rule finds.
macro_rules! rules {
    ($($rule:ident $recovery:ident $source:ident $finds:literal;)*) => {
        /// The rule that found a cause. The names appear in records, so they never change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum CauseRule {
            $(
                #[doc = concat!("`", stringify!($rule), "`: see its explanation.")]
                $rule,
            )*
        }

        impl CauseRule {
            /// The explanations of all rules, in alphabetical order.
            pub const ALL: &'static [Explanation] = &[
                $(Explanation {
                    name: stringify!($rule),
                    finds: $finds,
                    source: $source,
                },)*
            ];

            /// Whether an object with this problem can get well without help.
            pub fn recovery(self) -> Recovery {
                match self {
                    $(CauseRule::$rule => Recovery::$recovery,)*
                }
            }
        }
    };
}

impl CauseRule {
    /// What the rule finds, and where it comes from.
    pub fn explanation(self) -> &'static Explanation {
        &CauseRule::ALL[self as usize]
    }

    /// The name in records: `ImagePull`, `Unschedulable`.
    pub fn as_str(self) -> &'static str {
        self.explanation().name
    }
}

rules! {
    AttachFailed Retried ATTACHMENTS "A volume cannot be attached to a node.";
    AttachedTwice Retried ATTACHMENTS "A volume that only one node may use is attached to several.";
    Attaching Retried ATTACHMENTS "A volume is not attached to its node yet.";
    BackoffLimitExceeded Never JOB_FAILURES "The Pods of a Job failed more often than its backoffLimit allows.";
    BadCertificate Never TLS_SECRETS "The certificate of a TLS Secret cannot be read, has expired, or is not valid yet.";
    BlockedByPod Retried UPDATES "A StatefulSet waits for a Pod that is not ready.";
    BlockedRollout Never FORCED_ROLLBACK "A StatefulSet waits for a broken Pod of an older revision, which only its deletion replaces.";
    BudgetViolated Retried BUDGETS "Fewer Pods are healthy than the budget demands.";
    BudgetsOverlap Retried BUDGETS "A Pod is under more than one budget, so the API server refuses to evict it.";
    CannotScale Retried AUTOSCALERS "An autoscaler cannot read or change the scale of its target.";
    Condition Retried CONVENTIONS "A condition has a status that its name calls abnormal.";
    Constraint Retried SCHEDULING "A required constraint on where the Pod may run. It may not be the reason why the Pod has no node.";
    ContainerFailed Retried CONTAINER_STATES "A container ended with an exit code other than 0.";
    ContainerStart Retried CONTAINER_STATES "The kubelet cannot create or start a container.";
    Cordoned Retried CORDONS "A node is cordoned: the scheduler places no new Pods on it.";
    CrashLoop Retried RESTARTS "A container crashes again and again. The kubelet waits longer before each restart.";
    Dangling Retried FLOW_CONTROL "A FlowSchema names a priority level that does not exist.";
    DanglingVolume Retried VOLUMES "A bound volume names a claim that does not exist.";
    DeadlineExceeded Never DEADLINES "A Job or a Pod ran longer than its activeDeadlineSeconds.";
    DefaultCertificate Retried INGRESS_TLS "An Ingress names no TLS Secret for a host, so its controller serves its default certificate.";
    DefaultClass Retried DEFAULT_CLASSES "An object names no class and the cluster has no default one, or the cluster has several default ones.";
    DiskPressure Retried NODES "A node has too little disk space.";
    Disruption Retried POD_CONDITIONS "A disruption, such as an eviction or a preemption, is about to end the Pod.";
    DisruptionUnknown Retried BUDGETS "The controller cannot compute how many disruptions the budget allows.";
    Endpoints Elsewhere SLICES "No endpoint of a Service is ready, or not all are.";
    Event Retried EVENTS "A component has reported a warning about the object in an event.";
    Evicted Never EVICTION "The kubelet evicted the Pod, because its node ran out of a resource.";
    EvictionRisk Retried EVICTION "The node has too little memory, and evicts BestEffort Pods first.";
    EvictionsBlocked Retried BUDGETS "The budget allows no disruption, so a drain of a node would wait.";
    ExpiredToken Never BOOTSTRAP_TOKENS "A bootstrap token has expired, so no node can join the cluster with it.";
    Fact Retried REFERENCES "Other objects explain the state of this one.";
    Failed Retried CONVENTIONS "The phase or a condition of the object reports a failure.";
    FailedCreate Retried REPLICA_FAILURE "The API server refuses new Pods, for example because of a quota or an admission rule.";
    FailedDelete Retried REPLICA_FAILURE "The API server refuses to delete Pods.";
    FailedDependents Elsewhere ROLL_UP "An object that a custom resource owns has failed, or the newest run of a CronJob has a Pod that cannot run or be created.";
    FailedIndexes Never JOB_FAILURES "Too many indexes of an indexed Job have failed.";
    FailedIssuance Retried CERTIFICATES "A certificate could not be issued.";
    FailedMembers Elsewhere INVENTORIES "An object that an inventory lists has failed.";
    FailedPods Retried ROLL_UP "Pods of the newest revision have failed, and the workload does not have all Pods that it wants.";
    FailedReference Elsewhere REFERENCES "An object that this one needs has failed.";
    Finalizers Retried FINALIZERS "An object that is being deleted waits until its finalizers are removed.";
    ImagePull Never IMAGES "The kubelet cannot pull the image of a container.";
    InvalidSchedule Never CRON_JOBS "The schedule of a CronJob does not parse, names no day that exists, or is in an unknown time zone.";
    Isolated Retried NETWORK_POLICIES "Network policies select a Pod, and none of them allows any traffic in a direction.";
    JobFailed Never JOB_FAILURES "The Job has failed, and starts no more Pods.";
    KeptOut Retried DAEMON_SETS "Nodes have taints that a DaemonSet does not tolerate, so it runs no Pod there. They keep away new Pods; an old one may still run.";
    KeyMismatch Retried TLS_SECRETS "The private key of a TLS Secret does not belong to its certificate.";
    LastRunFailed Retried CRON_JOBS "The last Job of a CronJob failed.";
    Listener Retried GATEWAYS "A listener of a Gateway does not work, or has no routes.";
    ManagedBy Elsewhere JOB_MANAGERS "Another controller than that of Kubernetes manages a Job, and has not started it.";
    MaxPods Retried NODE_CAPACITY "A node has as many Pods as it may have.";
    MemoryPressure Retried NODES "A node has too little memory.";
    Misscheduled Retried DAEMON_SETS "A node runs a Pod of a DaemonSet although it should not.";
    MissedRun Retried CRON_JOBS "A CronJob has not started a Job that its schedule demands.";
    MissingKey Retried REFERENCES "A ConfigMap does not have a key that this object needs.";
    MissingMember Retried INVENTORIES "An object that an inventory lists does not exist.";
    MissingPort Retried REFERENCES "A Service that this object needs has no such port.";
    MissingReference Retried REFERENCES "An object that this one needs does not exist.";
    MissingSubset Retried MESH_ROUTES "A route of a service mesh names a subset that no DestinationRule defines.";
    NamespaceDeletion Retried NAMESPACES "The deletion of a namespace does not finish: objects are left, or cannot be deleted.";
    NetworkUnavailable Retried NODES "The network of a node is not set up.";
    NeverScheduled Retried CRON_JOBS "A CronJob has never started a Job.";
    NoGoverningService Retried STABLE_NAMES "The governing Service of a StatefulSet does not exist, so its Pods have no stable DNS names.";
    NoParallelism Retried JOB_PARALLELISM "The parallelism of a Job is 0, so it starts no Pod.";
    NoNodeSelected Retried DAEMON_SETS "No node matches the node selector of a DaemonSet.";
    NoPodSelected Retried SELECTORS "The selector of a budget, a network policy or a headless Service matches no Pod.";
    NoService Retried SERVICES "No Service selects the Pods of a workload. Many workloads need none.";
    NoVolumeFits Retried BINDING "No volume that exists fits a claim, and none is created for it.";
    NodeLost Never POD_CONDITIONS "The node of the Pod stopped responding.";
    NodeNotReady Retried NODES "A node is not ready, or the control plane does not hear from it.";
    NodeShutdown Never NODE_SHUTDOWN "The node of the Pod was shut down.";
    NotAccepted Retried GATEWAYS "The controller does not accept a Gateway.";
    NotObserved Retried CONVENTIONS "The controller has not yet observed the newest generation of the spec.";
    NotProgrammed Retried GATEWAYS "A Gateway is not configured in the data plane.";
    NotPruned Retried FLUX_PRUNE "Flux does not delete objects that its source no longer has.";
    NotReady Retried PROBES "A container runs but is not ready, or the Ready condition is not True.";
    OOMKilled Retried MEMORY "A container used more memory than its limit, or than its node has.";
    OldReplicas Retried ROLLOUTS "A ReplicaSet of an old revision still has replicas, which the rollout removes.";
    OldRevision Retried CONVENTIONS "The newest revision of a source is not applied yet.";
    OnDelete Retried UPDATES "Pods of an older revision stay until you delete them.";
    Overcommitted Retried NODE_CAPACITY "The Pods of a node may use more of a resource than the node has.";
    Overdue Retried TERMINATION "A Pod still exists after its grace period. The kubelet on its node does not respond.";
    PIDPressure Retried NODES "A node has too few process ids left.";
    Paused Retried PAUSES "The rollout of a Deployment is paused, or a custom resource is paused on purpose.";
    PendingLoadBalancer Retried LOAD_BALANCERS "A Service of the type LoadBalancer has no external address yet.";
    PodFailed Never PHASES "The phase of the Pod is Failed.";
    PodFailurePolicy Never JOB_POLICIES "A Pod failed in a way for which the Job's podFailurePolicy fails the Job.";
    Preempted Never PREEMPTION "A Pod with a higher priority took the place of this one.";
    ProgressDeadline Never ROLLOUT_DEADLINE "A rollout made no progress within progressDeadlineSeconds.";
    ReadinessGate Retried GATES "A readiness gate of the Pod is not True.";
    RemoteMembers Elsewhere OTHER_CLUSTERS "The objects that an inventory lists are in another cluster, so they are not judged.";
    ReplacedClaim Retried VOLUMES "The claim of a volume was deleted, and another one has its name.";
    ReplicaFailure Retried REPLICA_FAILURE "The controller cannot create or delete Pods.";
    ResizePending Retried RESIZE "The node cannot give the Pod its new resources yet.";
    Restarted Retried RESTARTS "A container was restarted in the last ten minutes.";
    Restricts Retried NETWORK_POLICIES "A network policy allows only the traffic of its rules.";
    Retrying Retried JOB_FAILURES "Pods of a Job failed, and the Job tries again.";
    ScaledToZero Retried REPLICAS "A workload is scaled to 0.";
    Scaling Retried AUTOSCALERS "An autoscaler changes the scale of its target.";
    ScalingDisabled Retried DEACTIVATION "The target of an autoscaler is scaled to 0, which turns the autoscaler off.";
    ScalingInactive Retried AUTOSCALERS "An autoscaler cannot compute a scale, for example because it has no metrics.";
    ScalingLimited Retried AUTOSCALERS "An autoscaler wants a scale beyond its minimum or maximum.";
    SchedulingGated Retried SCHEDULING_GATES "The scheduler leaves the Pod alone until its scheduling gates are removed.";
    SelfSigned Retried TLS_SECRETS "A certificate is its own issuer, so clients trust it only if they know it.";
    Standalone Retried STANDALONE "No controller replaces the Pod if it is lost.";
    StoredVersions Retried CRD_VERSIONS "Objects of a custom resource may be stored in an old version.";
    Suspended Retried SUSPENSIONS "The object is suspended on purpose.";
    Tainted Retried TAINTS "Somebody has set taints on a node. They keep away Pods that do not tolerate them.";
    TargetReached Retried AUTOSCALERS "A metric of an autoscaler has reached its target.";
    TypeError Retried TYPE_CHECKS "The API server found a wrong expression in an admission policy.";
    Unallocated Retried DEVICES "A claim has no devices yet.";
    Unavailable Retried API_SERVICES "The API server does not reach the backend of an APIService.";
    Unbound Retried VOLUMES "A claim has no volume yet.";
    UncalledWebhook Retried FAILURE_POLICY "The API server cannot call a webhook, so it refuses matching requests or lets them pass.";
    UnreadMember Elsewhere INVENTORIES "An object that an inventory lists was not read.";
    UnreadReference Elsewhere REFERENCES "You may not read an object that this one needs.";
    UndeclaredPort Retried SERVICES "No Pod of a Service declares the port number that the Service sends requests to. A container may listen on it nevertheless.";
    Unfinished Retried CONVENTIONS "The phase, the health or another field of a custom resource reports work that is not done.";
    UnnamedHost Retried INGRESS_TLS "The certificate for a host does not name the host.";
    Unreadable Never KSTATUS "A field that the rules read has the wrong type.";
    Unschedulable Elsewhere SCHEDULING "The scheduler finds no node for the Pod.";
    Unsigned Retried SIGNING_REQUESTS "A certificate signing request is not approved, or its signer has not issued the certificate.";
    Untolerated Retried TAINTS "The node of a Pod has a taint that the Pod does not tolerate.";
    VolumeFailed Retried VOLUMES "A volume could not be reclaimed.";
    VolumeLost Never VOLUMES "The volume of a claim no longer exists.";
    VolumeMismatch Retried RESERVED_VOLUMES "A claim names a volume that is too small for it, or that has another storage class, volume mode or access mode.";
    VolumeModify Retried VOLUME_CHANGES "The storage driver cannot change the attributes of a volume.";
    VolumeReleased Retried VOLUMES "The claim of a volume is gone, and nobody can use the volume until an administrator acts.";
    VolumeReserved Retried RESERVED_VOLUMES "A claim names a volume that is reserved for another claim.";
    VolumeResize Retried VOLUME_SIZES "A volume or its file system does not have its new size yet.";
    Waiting Retried CONTAINER_STATES "A container waits for a reason that no other rule covers.";
    WaitsForPod Elsewhere VOLUME_BINDING "A claim waits for a Pod that uses it.";
}

// The documents. `--explain` prints their addresses.

const API_SERVICES: &str =
    "https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/api-service-v1/";
const ATTACHMENTS: &str = "https://kubernetes.io/docs/reference/kubernetes-api/config-and-storage-resources/volume-attachment-v1/";
const AUTOSCALERS: &str = "https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale-walkthrough/#appendix-horizontal-pod-autoscaler-status-conditions";
const BINDING: &str = "https://kubernetes.io/docs/concepts/storage/persistent-volumes/#binding";
const BOOTSTRAP_TOKENS: &str =
    "https://kubernetes.io/docs/reference/access-authn-authz/bootstrap-tokens/";
const BUDGETS: &str = "https://kubernetes.io/docs/tasks/run-application/configure-pdb/";
const CERTIFICATES: &str = "https://cert-manager.io/docs/reference/api-docs/";
pub(super) const CONTAINER_STATES: &str =
    "https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#container-states";
const CONVENTIONS: &str = "https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md#typical-status-properties";
const CORDONS: &str =
    "https://kubernetes.io/docs/concepts/architecture/nodes/#manual-node-administration";
const CRD_VERSIONS: &str = "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/";
const CRON_JOBS: &str = "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/";
const DAEMON_SETS: &str = "https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/";
const DEACTIVATION: &str = "https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#implicit-maintenance-mode-deactivation";
pub(super) const DEADLINES: &str =
    "https://kubernetes.io/docs/concepts/workloads/controllers/job/#job-termination-and-cleanup";
const DEFAULT_CLASSES: &str =
    "https://kubernetes.io/docs/concepts/services-networking/ingress/#default-ingress-class";
const DEVICES: &str =
    "https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/";
const EVENTS: &str =
    "https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/";
const EVICTION: &str =
    "https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/";
const TYPE_CHECKS: &str = "https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#type-checking";
const FAILURE_POLICY: &str = "https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#failure-policy";
const FINALIZERS: &str =
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/";
const FLOW_CONTROL: &str =
    "https://kubernetes.io/docs/concepts/cluster-administration/flow-control/";
const FLUX_PRUNE: &str = "https://fluxcd.io/flux/components/kustomize/kustomizations/#prune";
const FORCED_ROLLBACK: &str =
    "https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#forced-rollback";
const GATES: &str =
    "https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-readiness-gate";
const GATEWAYS: &str = "https://gateway-api.sigs.k8s.io/geps/gep-1364/";
const IMAGES: &str = "https://kubernetes.io/docs/concepts/containers/images/#imagepullbackoff";
const INGRESS_TLS: &str = "https://kubernetes.io/docs/concepts/services-networking/ingress/#tls";
const INVENTORIES: &str = "https://fluxcd.io/flux/components/kustomize/kustomizations/#inventory";
const JOB_FAILURES: &str =
    "https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-backoff-failure-policy";
const JOB_MANAGERS: &str = "https://kubernetes.io/docs/concepts/workloads/controllers/job/#delegation-of-managing-a-job-object-to-external-controller";
const JOB_PARALLELISM: &str =
    "https://kubernetes.io/docs/concepts/workloads/controllers/job/#controlling-parallelism";
const JOB_POLICIES: &str =
    "https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-failure-policy";
const KSTATUS: &str =
    "https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md";
pub(super) const KSTATUS_GENERIC: &str =
    "https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/status/generic.go";
pub(super) const KSTATUS_KINDS: &str =
    "https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/status/core.go";
const LOAD_BALANCERS: &str =
    "https://kubernetes.io/docs/concepts/services-networking/service/#loadbalancer";
const MEMORY: &str = "https://kubernetes.io/docs/tasks/configure-pod-container/assign-memory-resource/#exceed-a-container-s-memory-limit";
const MESH_ROUTES: &str =
    "https://istio.io/latest/docs/reference/config/networking/virtual-service/#Destination";
const NAMESPACES: &str =
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/";
const NETWORK_POLICIES: &str =
    "https://kubernetes.io/docs/concepts/services-networking/network-policies/";
const NODES: &str = "https://kubernetes.io/docs/reference/node/node-status/#condition";
const NODE_CAPACITY: &str = "https://kubernetes.io/docs/concepts/architecture/nodes/#node-capacity";
const NODE_SHUTDOWN: &str =
    "https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown/";
const OTHER_CLUSTERS: &str =
    "https://argo-cd.readthedocs.io/en/stable/operator-manual/declarative-setup/#clusters";
const PAUSES: &str = "https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#pausing-and-resuming-a-deployment";
const PHASES: &str = "https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-phase";
const POD_CONDITIONS: &str =
    "https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions";
const PREEMPTION: &str =
    "https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/";
const PROBES: &str =
    "https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/";
const REFERENCES: &str =
    "https://github.com/kubectl-spy/kubectl-spy/blob/main/docs/status.md#rules";
pub(super) const REPLICAS: &str =
    "https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#scaling-a-deployment";
pub(super) const REPLICA_FAILURE: &str =
    "https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#failed-deployment";
const RESERVED_VOLUMES: &str =
    "https://kubernetes.io/docs/concepts/storage/persistent-volumes/#reserving-a-persistentvolume";
const RESIZE: &str =
    "https://kubernetes.io/docs/tasks/configure-pod-container/resize-container-resources/";
const RESTARTS: &str =
    "https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy";
const ROLLOUTS: &str = "https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#rolling-update-deployment";
const ROLLOUT_DEADLINE: &str = "https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#progress-deadline-seconds";
const ROLL_UP: &str = "https://github.com/kubectl-spy/kubectl-spy/blob/main/docs/status.md#rules";
const SCHEDULING: &str = "https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/";
const SCHEDULING_GATES: &str =
    "https://kubernetes.io/docs/concepts/scheduling-eviction/pod-scheduling-readiness/";
const SELECTORS: &str =
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors";
const SERVICES: &str =
    "https://kubernetes.io/docs/concepts/services-networking/service/#defining-a-service";
const SIGNING_REQUESTS: &str =
    "https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/";
const SLICES: &str =
    "https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/#conditions";
const STABLE_NAMES: &str =
    "https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#stable-network-id";
const STANDALONE: &str = "https://kubernetes.io/docs/concepts/configuration/overview/#naked-pods-vs-replicasets-deployments-and-jobs";
const SUSPENSIONS: &str =
    "https://kubernetes.io/docs/concepts/workloads/controllers/job/#suspending-a-job";
const TAINTS: &str =
    "https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/";
const TERMINATION: &str =
    "https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination";
const TLS_SECRETS: &str = "https://kubernetes.io/docs/concepts/configuration/secret/#tls-secrets";
const UPDATES: &str =
    "https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#update-strategies";
const VOLUMES: &str = "https://kubernetes.io/docs/concepts/storage/persistent-volumes/#phase";
const VOLUME_BINDING: &str =
    "https://kubernetes.io/docs/concepts/storage/storage-classes/#volume-binding-mode";
const VOLUME_CHANGES: &str =
    "https://kubernetes.io/docs/concepts/storage/volume-attributes-classes/";
const VOLUME_SIZES: &str = "https://kubernetes.io/docs/concepts/storage/persistent-volumes/#expanding-persistent-volumes-claims";
