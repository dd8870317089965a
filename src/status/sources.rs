//! The documents that the rules come from. `--explain` prints their addresses.

pub(super) const API_SERVICES: &str =
    "https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/api-service-v1/";
pub(super) const ATTACHMENTS: &str = "https://kubernetes.io/docs/reference/kubernetes-api/config-and-storage-resources/volume-attachment-v1/";
pub(super) const AUTOSCALERS: &str = "https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale-walkthrough/#appendix-horizontal-pod-autoscaler-status-conditions";
pub(super) const BINDING: &str =
    "https://kubernetes.io/docs/concepts/storage/persistent-volumes/#binding";
pub(super) const BOOTSTRAP_TOKENS: &str =
    "https://kubernetes.io/docs/reference/access-authn-authz/bootstrap-tokens/";
pub(super) const BUDGETS: &str = "https://kubernetes.io/docs/tasks/run-application/configure-pdb/";
pub(super) const CERTIFICATES: &str = "https://cert-manager.io/docs/reference/api-docs/";
pub(super) const CONTAINER_STATES: &str =
    "https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#container-states";
pub(super) const CONVENTIONS: &str = "https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md#typical-status-properties";
pub(super) const CORDONS: &str =
    "https://kubernetes.io/docs/concepts/architecture/nodes/#manual-node-administration";
pub(super) const CRD_VERSIONS: &str = "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/";
pub(super) const CRON_JOBS: &str =
    "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/";
pub(super) const DAEMON_SETS: &str =
    "https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/";
pub(super) const DEACTIVATION: &str = "https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#implicit-maintenance-mode-deactivation";
pub(super) const DEADLINES: &str =
    "https://kubernetes.io/docs/concepts/workloads/controllers/job/#job-termination-and-cleanup";
pub(super) const DEFAULT_CLASSES: &str =
    "https://kubernetes.io/docs/concepts/services-networking/ingress/#default-ingress-class";
pub(super) const DEVICES: &str =
    "https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/";
pub(super) const EVENTS: &str =
    "https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/";
pub(super) const EVICTION: &str =
    "https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/";
pub(super) const TYPE_CHECKS: &str = "https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/#type-checking";
pub(super) const FAILURE_POLICY: &str = "https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#failure-policy";
pub(super) const FINALIZERS: &str =
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/finalizers/";
pub(super) const FLOW_CONTROL: &str =
    "https://kubernetes.io/docs/concepts/cluster-administration/flow-control/";
pub(super) const FLUX_PRUNE: &str =
    "https://fluxcd.io/flux/components/kustomize/kustomizations/#prune";
pub(super) const FORCED_ROLLBACK: &str =
    "https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#forced-rollback";
pub(super) const GATES: &str =
    "https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-readiness-gate";
pub(super) const GATEWAYS: &str = "https://gateway-api.sigs.k8s.io/geps/gep-1364/";
pub(super) const IMAGES: &str =
    "https://kubernetes.io/docs/concepts/containers/images/#imagepullbackoff";
pub(super) const INGRESS_TLS: &str =
    "https://kubernetes.io/docs/concepts/services-networking/ingress/#tls";
pub(super) const INVENTORIES: &str =
    "https://fluxcd.io/flux/components/kustomize/kustomizations/#inventory";
pub(super) const JOB_FAILURES: &str =
    "https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-backoff-failure-policy";
pub(super) const JOB_PARALLELISM: &str =
    "https://kubernetes.io/docs/concepts/workloads/controllers/job/#controlling-parallelism";
pub(super) const JOB_POLICIES: &str =
    "https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-failure-policy";
pub(super) const KSTATUS: &str =
    "https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md";
pub(super) const KSTATUS_GENERIC: &str =
    "https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/status/generic.go";
pub(super) const KSTATUS_KINDS: &str =
    "https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/status/core.go";
pub(super) const LOAD_BALANCERS: &str =
    "https://kubernetes.io/docs/concepts/services-networking/service/#loadbalancer";
pub(super) const MEMORY: &str = "https://kubernetes.io/docs/tasks/configure-pod-container/assign-memory-resource/#exceed-a-container-s-memory-limit";
pub(super) const MESH_ROUTES: &str =
    "https://istio.io/latest/docs/reference/config/networking/virtual-service/#Destination";
pub(super) const NAMESPACES: &str =
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/";
pub(super) const NETWORK_POLICIES: &str =
    "https://kubernetes.io/docs/concepts/services-networking/network-policies/";
pub(super) const NODES: &str = "https://kubernetes.io/docs/reference/node/node-status/#condition";
pub(super) const NODE_CAPACITY: &str =
    "https://kubernetes.io/docs/concepts/architecture/nodes/#node-capacity";
pub(super) const NODE_SHUTDOWN: &str =
    "https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown/";
pub(super) const OTHER_CLUSTERS: &str =
    "https://argo-cd.readthedocs.io/en/stable/operator-manual/declarative-setup/#clusters";
pub(super) const PAUSES: &str = "https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#pausing-and-resuming-a-deployment";
pub(super) const PHASES: &str =
    "https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-phase";
pub(super) const POD_CONDITIONS: &str =
    "https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions";
pub(super) const PREEMPTION: &str =
    "https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/";
pub(super) const PROBES: &str =
    "https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/";
pub(super) const REFERENCES: &str =
    "https://github.com/kubectl-spy/kubectl-spy/blob/main/docs/status.md#rules";
pub(super) const REPLICAS: &str =
    "https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#scaling-a-deployment";
pub(super) const REPLICA_FAILURE: &str =
    "https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#failed-deployment";
pub(super) const RESERVED_VOLUMES: &str =
    "https://kubernetes.io/docs/concepts/storage/persistent-volumes/#reserving-a-persistentvolume";
pub(super) const RESIZE: &str =
    "https://kubernetes.io/docs/tasks/configure-pod-container/resize-container-resources/";
pub(super) const RESTARTS: &str =
    "https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy";
pub(super) const ROLLOUTS: &str = "https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#rolling-update-deployment";
pub(super) const ROLLOUT_DEADLINE: &str = "https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#progress-deadline-seconds";
pub(super) const ROLL_UP: &str =
    "https://github.com/kubectl-spy/kubectl-spy/blob/main/docs/status.md#rules";
pub(super) const SCHEDULING: &str =
    "https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/";
pub(super) const SCHEDULING_GATES: &str =
    "https://kubernetes.io/docs/concepts/scheduling-eviction/pod-scheduling-readiness/";
pub(super) const SELECTORS: &str =
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors";
pub(super) const SERVICES: &str =
    "https://kubernetes.io/docs/concepts/services-networking/service/#defining-a-service";
pub(super) const SIGNING_REQUESTS: &str =
    "https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/";
pub(super) const SLICES: &str =
    "https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/#conditions";
pub(super) const STANDALONE: &str = "https://kubernetes.io/docs/concepts/configuration/overview/#naked-pods-vs-replicasets-deployments-and-jobs";
pub(super) const SUSPENSIONS: &str =
    "https://kubernetes.io/docs/concepts/workloads/controllers/job/#suspending-a-job";
pub(super) const TAINTS: &str =
    "https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/";
pub(super) const TERMINATION: &str =
    "https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination";
pub(super) const TLS_SECRETS: &str =
    "https://kubernetes.io/docs/concepts/configuration/secret/#tls-secrets";
pub(super) const UPDATES: &str =
    "https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#update-strategies";
pub(super) const VOLUMES: &str =
    "https://kubernetes.io/docs/concepts/storage/persistent-volumes/#phase";
pub(super) const VOLUME_BINDING: &str =
    "https://kubernetes.io/docs/concepts/storage/storage-classes/#volume-binding-mode";
pub(super) const VOLUME_CHANGES: &str =
    "https://kubernetes.io/docs/concepts/storage/volume-attributes-classes/";
pub(super) const VOLUME_SIZES: &str = "https://kubernetes.io/docs/concepts/storage/persistent-volumes/#expanding-persistent-volumes-claims";
