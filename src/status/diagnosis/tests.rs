//! The cause lines of broken objects, as a user reads them.

use crate::object::Doc;
use crate::status::{Rules, compute};

use super::*;

/// `RULE  TEXT`, one line for each cause.
fn cause_lines(kind: &str, fields: &str) -> String {
    let (version, kind) = kind.rsplit_once('/').expect("VERSION/KIND");
    let object = format!(r#"{{"apiVersion":"{version}","kind":"{kind}",{fields}}}"#);
    let doc = Doc::parse(object).expect("a case is JSON");
    let now = "2026-11-21T14:00:00Z".parse().expect("a time");
    let verdict = compute(doc.root(), now, Rules::Spy);
    let lines: Vec<_> = causes(doc.root(), &verdict, now)
        .into_iter()
        .map(|cause| format!("{}  {}", cause.rule.as_str(), cause.text))
        .collect();
    lines.join("\n")
}

fn check(kind: &str, fields: &str, expect: &str) {
    assert_eq!(cause_lines(kind, fields), expect, "{fields}");
}

/// A Pod in a phase, with one init container, a sidecar and two containers, `web` with a probe.
fn pod(phase: &str, status: &str) -> String {
    format!(
        r#""spec":{{"initContainers":[{{"name":"migrate"}},{{"name":"proxy","restartPolicy":"Always"}}],
        "containers":[{{"name":"web","readinessProbe":{{}},"startupProbe":{{}}}},{{"name":"log"}}],
        "readinessGates":[{{"conditionType":"lb"}},{{"conditionType":"other"}}],
        "schedulingGates":[{{"name":"quota"}}]}},"status":{{"phase":"{phase}",{status}}}"#
    )
}

fn container(name: &str, fields: &str) -> String {
    format!(r#"{{"name":"{name}",{fields}}}"#)
}

fn web(fields: &str) -> String {
    pod(
        "Running",
        &format!(r#""containerStatuses":[{}]"#, container("web", fields)),
    )
}

#[test]
fn containers_that_wait() {
    let waiting = |reason: &str, message: &str| {
        web(&format!(
            r#""image":"web:v2","state":{{"waiting":{{"reason":"{reason}","message":"{message}"}}}}"#
        ))
    };
    for (fields, expect) in [
        (
            waiting(
                "ImagePullBackOff",
                r#"Back-off pulling image \"registry.example.com/web:v2.4.1-rc1\""#,
            ),
            r#"ImagePull  web: Back-off pulling image "registry.example.com/web:v2.4.1-rc1""#,
        ),
        (
            waiting("ErrImagePull", ""),
            r#"ImagePull  web: ErrImagePull "web:v2""#,
        ),
        (
            waiting("CreateContainerConfigError", r#"secret \"db\" not found"#),
            r#"ContainerStart  web: CreateContainerConfigError: secret "db" not found"#,
        ),
        (waiting("Odd", ""), "Waiting  web: Odd"),
        (waiting("ContainerCreating", ""), ""),
    ] {
        check(
            "v1/Pod",
            &fields.replace(r#""Running""#, r#""Pending""#),
            expect,
        );
    }
}

#[test]
fn containers_that_crash() {
    let looping = |last: &str, restarts: u32| {
        web(&format!(
            r#""restartCount":{restarts},"state":{{"waiting":{{"reason":"CrashLoopBackOff","message":"back-off 40s"}}}},"lastState":{{{last}}}"#
        ))
    };
    for (fields, expect) in [
        (
            looping(
                r#""terminated":{"exitCode":1,"reason":"Error","message":"starting\npanic: no config\n"}"#,
                5,
            ),
            "CrashLoop  web: CrashLoopBackOff, exit 1, 5 restarts: panic: no config",
        ),
        (
            looping(r#""terminated":{"exitCode":137,"reason":"OOMKilled"}"#, 5),
            "OOMKilled  web: OOMKilled, no memory limit, exit 137, 5 restarts",
        ),
        (
            looping(r#""terminated":{"exitCode":137,"reason":"Error"}"#, 1),
            "CrashLoop  web: CrashLoopBackOff, exit 137 (SIGKILL), 1 restart",
        ),
        (
            looping(
                r#""terminated":{"exitCode":128,"reason":"StartError","message":"exec: \"webb\": not found"}"#,
                0,
            ),
            r#"CrashLoop  web: CrashLoopBackOff, StartError, exit 128: exec: "webb": not found"#,
        ),
        (
            looping("", 2),
            "CrashLoop  web: CrashLoopBackOff: back-off 40s",
        ),
        (
            web(r#""state":{"terminated":{"exitCode":2,"reason":"Error"}}"#),
            "ContainerFailed  web: exit 2",
        ),
    ] {
        check("v1/Pod", &fields, expect);
    }
}

#[test]
fn containers_that_run() {
    let running = |fields: &str| web(&format!(r#""state":{{"running":{{}}}},{fields}"#));
    let oom = |finished: &str| {
        format!(
            r#""restartCount":5,"lastState":{{"terminated":{{"exitCode":137,"reason":"OOMKilled","finishedAt":"{finished}"}}}}"#
        )
    };
    let recent = oom("2026-11-21T13:50:01Z");
    let old = oom("2026-11-21T13:50:00Z");
    for (fields, expect) in [
        (
            running(r#""ready":false,"started":true"#),
            "NotReady  web: running, its readiness probe does not succeed",
        ),
        (
            running(r#""ready":false,"started":false"#),
            "NotReady  web: running, its startup probe has not succeeded",
        ),
        (
            running(&format!(r#""ready":false,"started":true,{recent}"#)),
            "OOMKilled  web: OOMKilled, no memory limit, exit 137, 5 restarts; running, its readiness probe does not succeed",
        ),
        (
            running(&format!(r#""ready":true,{recent}"#)),
            "OOMKilled  web: restarted after OOMKilled, no memory limit, exit 137, 5 restarts",
        ),
        (running(&format!(r#""ready":true,{old}"#)), ""),
    ] {
        check("v1/Pod", &fields, expect);
    }
}

#[test]
fn init_containers_come_first_and_each_failing_one_has_a_line() {
    let statuses = format!(
        r#""initContainerStatuses":[{},{}],"containerStatuses":[{},{}]"#,
        container(
            "migrate",
            r#""restartCount":4,"state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"exitCode":3}}"#
        ),
        container("proxy", r#""started":true,"state":{"running":{}}"#),
        container("web", r#""state":{"waiting":{"reason":"PodInitializing"}}"#),
        container(
            "log",
            r#""state":{"waiting":{"reason":"ErrImagePull","message":"denied"}}"#
        ),
    );
    insta::assert_snapshot!(cause_lines("v1/Pod", &pod("Pending", &statuses)), @r"
    CrashLoop  migrate (init): CrashLoopBackOff, exit 3, 4 restarts
    NotReady  proxy (sidecar): running, not ready
    ImagePull  log: denied (the pod has no imagePullSecrets)
    ");
}

#[test]
fn pods_as_a_whole() {
    let conditions = |conditions: &str| format!(r#""conditions":[{conditions}]"#);
    for (fields, expect) in [
        (
            pod(
                "Pending",
                &conditions(
                    r#"{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/3 nodes are available"}"#,
                ),
            ),
            "Unschedulable  0/3 nodes are available",
        ),
        (
            pod(
                "Pending",
                &conditions(
                    r#"{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod."}"#,
                ),
            ),
            "Unschedulable  0/2 nodes are available: 2 Insufficient cpu.",
        ),
        (
            pod(
                "Pending",
                &conditions(
                    r#"{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/2 nodes are available: 2 Too many pods. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod."}"#,
                ),
            ),
            "Unschedulable  0/2 nodes are available: 2 Too many pods.",
        ),
        (
            pod(
                "Pending",
                &conditions(
                    r#"{"type":"PodScheduled","status":"False","reason":"SchedulingGated"}"#,
                ),
            ),
            "SchedulingGated  waiting for scheduling gates: quota",
        ),
        (
            pod(
                "Failed",
                r#""reason":"Evicted","message":"The node was low on resource: memory.""#,
            ),
            "Evicted  Evicted: The node was low on resource: memory.",
        ),
    ] {
        check("v1/Pod", &fields, expect);
    }
}

#[test]
fn pods_that_run() {
    let conditions = |conditions: &str| format!(r#""conditions":[{conditions}]"#);
    for (fields, expect) in [
        (
            pod(
                "Running",
                &conditions(
                    r#"{"type":"ContainersReady","status":"True"},{"type":"lb","status":"False","reason":"NoTarget"}"#,
                ),
            ),
            "ReadinessGate  readiness gate lb: NoTarget\nReadinessGate  readiness gate other is not set",
        ),
        (
            pod(
                "Running",
                &conditions(
                    r#"{"type":"Ready","status":"False","reason":"ContainersNotReady","message":"containers with unready status: [web]"}"#,
                ),
            ),
            "NotReady  ContainersNotReady: containers with unready status: [web]",
        ),
        (
            pod(
                "Running",
                &conditions(
                    r#"{"type":"Ready","status":"True"},{"type":"DisruptionTarget","status":"True","reason":"EvictionByEvictionAPI","message":"bye"}"#,
                ),
            ),
            "Disruption  EvictionByEvictionAPI: bye",
        ),
        (
            pod(
                "Running",
                &conditions(r#"{"type":"Ready","status":"False"}"#),
            ),
            "NotReady  no reason given",
        ),
        (
            pod("Sleeping", r#""x":1"#),
            "Unreadable  unknown phase Sleeping",
        ),
        (pod("Succeeded", r#""x":1"#), ""),
    ] {
        check("v1/Pod", &fields, expect);
    }
    let ready = pod(
        "Running",
        r#""observedGeneration":2,"conditions":[{"type":"Ready","status":"True"},{"type":"lb","status":"True"},{"type":"other","status":"True"}]"#,
    );
    check(
        "v1/Pod",
        &format!(r#""metadata":{{"generation":3}},{ready}"#),
        "NotObserved  Pod generation is 3, but latest observed generation is 2",
    );
}

#[test]
fn objects_being_deleted() {
    let due = |time: &str| {
        format!(
            r#""metadata":{{"deletionTimestamp":"{time}","deletionGracePeriodSeconds":5}},"spec":{{"nodeName":"node-a"}}"#
        )
    };
    check(
        "example.com/v1/Foo",
        r#""metadata":{"deletionTimestamp":"2026-11-21T13:00:00Z","finalizers":["a.example.com/x","b"]}"#,
        "Finalizers  waiting for finalizers: a.example.com/x, b",
    );
    check(
        "v1/Namespace",
        r#""metadata":{"deletionTimestamp":"2026-11-21T13:00:00Z"},"spec":{"finalizers":["kubernetes"]},"status":{"conditions":[{"type":"NamespaceContentRemaining","status":"True","reason":"SomeResourcesRemain","message":"pods. has 2 resource instances"}]}"#,
        "NamespaceDeletion  SomeResourcesRemain: pods. has 2 resource instances",
    );
    check(
        "v1/Namespace",
        r#""metadata":{"deletionTimestamp":"2026-11-21T13:00:00Z"},"spec":{"finalizers":["kubernetes","openshift.io/origin"]},"status":{"conditions":[{"type":"NamespaceContentRemaining","status":"True","reason":"SomeResourcesRemain","message":"pods. has 2 resource instances"}]}"#,
        "NamespaceDeletion  SomeResourcesRemain: pods. has 2 resource instances\n\
         Finalizers  waiting for finalizers: openshift.io/origin",
    );
    check("v1/Pod", &due("2026-11-21T13:59:46Z"), "");
    check(
        "v1/Pod",
        &due("2026-11-21T13:59:45Z"),
        "Overdue  still on node node-a after its grace period of 5s",
    );
    check("v1/ConfigMap", &due("2026-11-21T13:00:00Z"), "");
}

#[test]
fn workloads() {
    let deployment = "apps/v1/Deployment";
    for (kind, fields, expect) in [
        (
            deployment,
            r#""spec":{"progressDeadlineSeconds":60},"status":{"conditions":[{"type":"Progressing","status":"False","reason":"ProgressDeadlineExceeded","message":"ReplicaSet \"web-5d4\" has timed out progressing."},{"type":"ReplicaFailure","status":"True","reason":"FailedCreate","message":"pods \"web-\" is forbidden: exceeded quota"}]}"#,
            "FailedCreate  pods \"web-\" is forbidden: exceeded quota\nProgressDeadline  no progress for 60s: ReplicaSet \"web-5d4\" has timed out progressing.",
        ),
        (
            deployment,
            r#""spec":{"paused":true}"#,
            "Paused  the rollout is paused",
        ),
        (deployment, r#""spec":{"paused":false}"#, ""),
        (
            deployment,
            r#""metadata":{"generation":5},"status":{"observedGeneration":4}"#,
            "NotObserved  Deployment generation is 5, but latest observed generation is 4",
        ),
        (
            "apps/v1/DaemonSet",
            r#""spec":{"updateStrategy":{"type":"OnDelete"}},"status":{"desiredNumberScheduled":3,"currentNumberScheduled":3,"updatedNumberScheduled":1}"#,
            "OnDelete  1/3 updated; delete the old pods to update them (OnDelete)",
        ),
        (
            "apps/v1/StatefulSet",
            r#""spec":{"updateStrategy":{"type":"OnDelete"}},"status":{"updatedReplicas":1}"#,
            "",
        ),
        (
            "apps/v1/StatefulSet",
            r#""spec":{"replicas":3,"updateStrategy":{"type":"OnDelete"}},"status":{"replicas":2,"updatedReplicas":1}"#,
            "OnDelete  1/3 updated; delete the old pods to update them (OnDelete)",
        ),
        // The others do not exist yet.
        (
            "apps/v1/StatefulSet",
            r#""spec":{"replicas":3,"updateStrategy":{"type":"OnDelete"}},"status":{"replicas":1,"updatedReplicas":1}"#,
            "",
        ),
        (
            "apps/v1/DaemonSet",
            r#""spec":{"updateStrategy":{"type":"OnDelete"}},"status":{"desiredNumberScheduled":3,"currentNumberScheduled":1,"updatedNumberScheduled":1}"#,
            "",
        ),
        // The controller itself deletes those that are too many.
        (
            "apps/v1/StatefulSet",
            r#""spec":{"replicas":1,"updateStrategy":{"type":"OnDelete"}},"status":{"replicas":3,"readyReplicas":3,"updatedReplicas":1}"#,
            "",
        ),
    ] {
        check(kind, fields, expect);
    }
}

#[test]
fn jobs_and_claims() {
    let job = |reason: &str| {
        format!(
            r#""status":{{"failed":7,"conditions":[{{"type":"Failed","status":"True","reason":"{reason}","message":"m"}}]}}"#
        )
    };
    for (kind, fields, expect) in [
        (
            "batch/v1/Job",
            &*job("BackoffLimitExceeded"),
            "BackoffLimitExceeded  BackoffLimitExceeded: m",
        ),
        (
            "batch/v1/Job",
            &*job("DeadlineExceeded"),
            "DeadlineExceeded  DeadlineExceeded: m",
        ),
        ("batch/v1/Job", &*job("Odd"), "JobFailed  Odd: m"),
        (
            "batch/v1/Job",
            r#""spec":{"backoffLimit":6},"status":{"failed":2}"#,
            "Retrying  2 pods failed, backoffLimit 6",
        ),
        (
            "batch/v1/Job",
            r#""status":{"failed":1,"conditions":[{"type":"Complete","status":"True"}]}"#,
            "",
        ),
        (
            "v1/PersistentVolumeClaim",
            r#""spec":{"storageClassName":"fast"}"#,
            "Unbound  not bound: waiting for a volume of storage class fast",
        ),
        (
            "v1/PersistentVolumeClaim",
            r#""spec":{"volumeName":"pv-1"},"status":{"phase":"Lost"}"#,
            "VolumeLost  its volume pv-1 is gone",
        ),
        (
            "v1/PersistentVolumeClaim",
            r#""status":{"phase":"Bound"}"#,
            "",
        ),
    ] {
        check(kind, fields, expect);
    }
}

#[test]
fn other_kinds() {
    for (kind, fields, expect) in [
        (
            "example.com/v1/Foo",
            r#""status":{"conditions":[{"type":"Ready","status":"False","reason":"NoDNS","message":"no zone"}]}"#,
            "NotReady  NoDNS: no zone",
        ),
        (
            "example.com/v1/Foo",
            r#""status":{"conditions":[{"type":"Stalled","status":"True","message":"no zone"}]}"#,
            "Failed  no zone",
        ),
        (
            "autoscaling/v2/HorizontalPodAutoscaler",
            r#""status":{"conditions":[{"type":"ScalingActive","status":"False","reason":"FailedGetResourceMetric"}]}"#,
            "ScalingInactive  FailedGetResourceMetric",
        ),
        (
            "autoscaling/v2/HorizontalPodAutoscaler",
            r#""spec":{"scaleTargetRef":{"kind":"Deployment","name":"web"}},"status":{"currentReplicas":0,"desiredReplicas":0,"conditions":[{"type":"ScalingActive","status":"False","reason":"ScalingDisabled"}]}"#,
            "ScalingDisabled  scaling is disabled: deployment/web has 0 replicas",
        ),
        (
            "example.com/v1/Foo",
            r#""status":{"conditions":[{"type":"Ready","status":"False","message":"no zone"},{"type":"Synced","status":"False","reason":"ReconcileError","message":"no zone"},{"type":"Available","status":"False","reason":"Down"}]}"#,
            "Failed  Synced=False: ReconcileError: no zone\nCondition  Available=False: Down",
        ),
        (
            "example.com/v1/Foo",
            r#""status":{"phase":"Failed"}"#,
            "Failed  its phase is Failed",
        ),
        (
            "policy/v1/PodDisruptionBudget",
            r#""status":{"currentHealthy":1,"desiredHealthy":2,"expectedPods":3}"#,
            "BudgetViolated  only 1 of 3 pods are healthy, 2 must be",
        ),
        (
            "policy/v1/PodDisruptionBudget",
            r#""status":{"currentHealthy":0,"desiredHealthy":0,"disruptionsAllowed":0,"expectedPods":0,"conditions":[{"type":"DisruptionAllowed","status":"False","reason":"SyncFailed","message":"no scale"}]}"#,
            "EvictionsBlocked  no eviction is allowed: the controller cannot compute the budget\nDisruptionUnknown  SyncFailed: no scale",
        ),
        (
            "policy/v1/PodDisruptionBudget",
            r#""status":{"currentHealthy":3,"desiredHealthy":3,"disruptionsAllowed":0,"expectedPods":3,"conditions":[{"type":"DisruptionAllowed","status":"False","reason":"InsufficientPods"}]}"#,
            "EvictionsBlocked  no eviction is allowed: 3 of 3 pods are healthy, 3 must be",
        ),
        (
            "v1/Service",
            r#""spec":{"type":"LoadBalancer","clusterIP":"10.0.0.1"}"#,
            "PendingLoadBalancer  the load balancer has no external address yet",
        ),
        (
            "v1/Node",
            r#""status":{"conditions":[{"type":"Ready","status":"Unknown","reason":"NodeStatusUnknown","message":"Kubelet stopped posting node status."}]}"#,
            "NodeNotReady  NodeStatusUnknown: Kubelet stopped posting node status.",
        ),
    ] {
        check(kind, fields, expect);
    }
}

/// The kind, the fields, and the notes.
const NOTES: &[(&str, &str, &str)] = &[
    (
        "v1/Node",
        r#""spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"True"}]}"#,
        "Cordoned  cordoned: no pod is scheduled here",
    ),
    (
        "v1/Node",
        r#""spec":{"taints":[{"key":"dedicated","value":"gpu","effect":"NoSchedule"},{"key":"spot","effect":"PreferNoSchedule"},{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"}]},"status":{"conditions":[{"type":"Ready","status":"True"}]}"#,
        "Tainted  taints dedicated=gpu:NoSchedule, spot:PreferNoSchedule",
    ),
    (
        "networking.k8s.io/v1/NetworkPolicy",
        r#""spec":{"podSelector":{},"policyTypes":["Ingress","Egress"]}"#,
        "Restricts  allows no ingress and no egress",
    ),
    (
        "apps/v1/Deployment",
        r#""spec":{"replicas":0}"#,
        "ScaledToZero  scaled to 0",
    ),
    (
        "batch/v1/Job",
        r#""spec":{"parallelism":0}"#,
        "NoParallelism  parallelism is 0: no pod starts",
    ),
    (
        "batch/v1/Job",
        r#""spec":{"managedBy":"example.com/kueue"}"#,
        "ManagedBy  waits for example.com/kueue, which manages it (managedBy)",
    ),
    (
        "batch/v1/Job",
        r#""spec":{"managedBy":"example.com/kueue"},"status":{"startTime":"2026-11-21T03:00:00Z"}"#,
        "",
    ),
    (
        "batch/v1/Job",
        r#""spec":{"managedBy":"kubernetes.io/job-controller"}"#,
        "",
    ),
    (
        "apps/v1/DaemonSet",
        r#""spec":{"template":{"spec":{"nodeSelector":{"gpu":"yes"}}}},"status":{"desiredNumberScheduled":0,"numberMisscheduled":2}"#,
        "Misscheduled  runs on 2 nodes where it should not\nNoNodeSelected  no node has gpu=yes",
    ),
    (
        "batch/v1/CronJob",
        r#""spec":{"suspend":true}"#,
        "Suspended  suspended",
    ),
    (
        "batch/v1/CronJob",
        r#""spec":{"schedule":"0 0 30 2 *"}"#,
        "InvalidSchedule  no job is started: the schedule \"0 0 30 2 *\" names no day that exists",
    ),
    (
        "batch/v1/CronJob",
        r#""spec":{"schedule":"0 3 * * *"}"#,
        "NeverScheduled  has not started a Job yet (schedule 0 3 * * *)",
    ),
    (
        "batch/v1/CronJob",
        r#""status":{"lastScheduleTime":"2026-11-21T03:00:00Z","lastSuccessfulTime":"2026-11-20T03:01:00Z"}"#,
        "LastRunFailed  the last run did not succeed (last success: 2026-11-20T03:01:00Z)",
    ),
    (
        "batch/v1/CronJob",
        r#""status":{"lastScheduleTime":"2026-11-21T03:00:00Z","active":[{}]}"#,
        "",
    ),
    (
        "policy/v1/PodDisruptionBudget",
        r#""status":{"expectedPods":0,"currentHealthy":0,"desiredHealthy":2}"#,
        "NoPodSelected  it covers no pod: none matches its selector, or they have no controller",
    ),
    (
        "policy/v1/PodDisruptionBudget",
        r#""status":{"expectedPods":3,"currentHealthy":3,"desiredHealthy":3,"disruptionsAllowed":0}"#,
        "EvictionsBlocked  no eviction is allowed: 3 of 3 pods are healthy, 3 must be",
    ),
    (
        "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy",
        r#""status":{"typeChecking":{"expressionWarnings":[{"fieldRef":"spec.validations[0].expression","warning":"apps/v1, Kind=Deployment: undefined field 'replica'\n | object.spec.replica <= 5\n | ...........^"}]}}"#,
        "TypeError  spec.validations[0].expression: apps/v1, Kind=Deployment: undefined field 'replica'",
    ),
    (
        "apiextensions.k8s.io/v1/CustomResourceDefinition",
        r#""spec":{"versions":[{"name":"v1","storage":true}]},"status":{"storedVersions":["v1beta1","v1"],"conditions":[{"type":"Established","status":"True"}]}"#,
        "StoredVersions  objects may still be stored as v1beta1, not as v1",
    ),
    (
        "gateway.networking.k8s.io/v1/Gateway",
        r#""status":{"listeners":[{"name":"http","attachedRoutes":0,"conditions":[{"type":"ResolvedRefs","status":"False","reason":"NotFound","message":"no secret"}]}]}"#,
        "Listener  listener http: ResolvedRefs=False: NotFound: no secret\nListener  listener http has no routes",
    ),
    (
        "kustomize.toolkit.fluxcd.io/v1/Kustomization",
        r#""spec":{"suspend":true},"status":{"lastAttemptedRevision":"main@2","lastAppliedRevision":"main@1"}"#,
        "Suspended  suspended\nOldRevision  attempted revision main@2, applied main@1",
    ),
    (
        "cert-manager.io/v1/Certificate",
        r#""status":{"failedIssuanceAttempts":3}"#,
        "FailedIssuance  3 attempts to issue the certificate failed",
    ),
    (
        "v1/PersistentVolume",
        r#""spec":{"claimRef":{"namespace":"shop","name":"data"},"persistentVolumeReclaimPolicy":"Retain"},"status":{"phase":"Released"}"#,
        "VolumeReleased  its claim shop/data is gone (reclaim policy Retain)",
    ),
    (
        "v1/PersistentVolume",
        r#""status":{"phase":"Failed","message":"no recycler"}"#,
        "VolumeFailed  no recycler",
    ),
    (
        "storage.k8s.io/v1/VolumeAttachment",
        r#""spec":{"nodeName":"n1"},"status":{"attached":false}"#,
        "Attaching  not attached to node n1 yet",
    ),
    (
        "networking.k8s.io/v1/Ingress",
        r#""spec":{"tls":[{"hosts":["a.example.com","c.example.com"]},{"hosts":["b.example.com"],"secretName":"b"}]}"#,
        "DefaultCertificate  no TLS Secret for a.example.com, c.example.com: the controller serves its default certificate",
    ),
    (
        "networking.k8s.io/v1/Ingress",
        r#""spec":{"tls":[{}]}"#,
        "DefaultCertificate  no TLS Secret: the controller serves its default certificate",
    ),
    (
        "kustomize.toolkit.fluxcd.io/v1/Kustomization",
        r#""spec":{"prune":false}"#,
        "NotPruned  prune is off: Flux does not delete what its source no longer has",
    ),
    (
        "kustomize.toolkit.fluxcd.io/v1/Kustomization",
        r#""spec":{"prune":true}"#,
        "",
    ),
    (
        "storage.k8s.io/v1/VolumeAttachment",
        r#""status":{"attached":false,"attachError":{"message":"disk is busy"}}"#,
        "AttachFailed  disk is busy",
    ),
];

#[test]
fn notes_on_objects_of_every_state() {
    for (kind, fields, expect) in NOTES {
        check(kind, fields, expect);
    }
}

#[test]
fn what_the_kubelet_does_is_described() {
    let pod = |spec: &str, status: &str| {
        format!(
            r#""spec":{{"containers":[{{"name":"web",{spec}}}]}},"status":{{"phase":"Running","containerStatuses":[{{"name":"web",{status}}}]}}"#
        )
    };
    let running = r#""state":{"running":{}},"started":true"#;
    let killed = r#""restartCount":2,"state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"exitCode":137}}"#;
    let oom = r#""restartCount":2,"state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"exitCode":137,"reason":"OOMKilled"}}"#;
    let hook = r#""state":{"waiting":{"reason":"PostStartHookError","message":"no"}}"#;
    for (spec, status, expect) in [
        (
            r#""readinessProbe":{"tcpSocket":{"port":5432},"periodSeconds":5,"timeoutSeconds":2,"initialDelaySeconds":3,"failureThreshold":1}"#,
            running,
            "NotReady  web: running, its readiness probe does not succeed (tcp :5432 every 5s, after 3s, timeout 2s, failure threshold 1)",
        ),
        (
            r#""readinessProbe":{"exec":{"command":["cat","/tmp/ready"]}}"#,
            running,
            "NotReady  web: running, its readiness probe does not succeed (exec cat /tmp/ready every 10s)",
        ),
        (
            r#""livenessProbe":{"httpGet":{"path":"/live","port":"http"}}"#,
            killed,
            "CrashLoop  web: CrashLoopBackOff, exit 137 (SIGKILL), 2 restarts, possibly killed by its liveness probe (GET :http/live every 10s)",
        ),
        (
            r#""resources":{"limits":{"memory":"256Mi"}},"livenessProbe":{"grpc":{"port":1}}"#,
            oom,
            "OOMKilled  web: OOMKilled, memory limit 256Mi, exit 137, 2 restarts",
        ),
        (
            r#""lifecycle":{"postStart":{"exec":{"command":["/bin/warm"]}}}"#,
            hook,
            "ContainerStart  web: PostStartHookError: no; its postStart hook: exec /bin/warm",
        ),
    ] {
        check("v1/Pod", &pod(spec, status), expect);
    }
}

#[test]
fn an_autoscaler_names_its_next_scale_and_the_metrics_that_have_reached_their_targets() {
    let kind = "autoscaling/v2/HorizontalPodAutoscaler";
    let cpu = |is: i64| {
        format!(
            r#""spec":{{"metrics":[{{"type":"Resource","resource":{{"name":"cpu","target":{{"type":"Utilization","averageUtilization":80}}}}}},
            {{"type":"Pods","pods":{{"metric":{{"name":"requests"}},"target":{{"averageValue":"1k"}}}}}}]}},
            "status":{{"currentReplicas":3,"desiredReplicas":3,"currentMetrics":[{{"type":"Pods","pods":{{"metric":{{"name":"requests"}},"current":{{"averageValue":"900"}}}}}},
            {{"type":"Resource","resource":{{"name":"cpu","current":{{"averageUtilization":{is},"averageValue":"95m"}}}}}}]}}"#
        )
    };
    check(kind, &cpu(79), "");
    let reached = "TargetReached  cpu is at 80%, its target is 80%";
    check(kind, &cpu(80), reached);
    let requests = "TargetReached  requests is at 1001, its target is 1k";
    check(kind, &cpu(1).replace("900", "1001"), requests);
    let scales = cpu(80).replace(r#""desiredReplicas":3"#, r#""desiredReplicas":5"#);
    let expected = format!("Scaling  scales from 3 to 5 replicas\n{reached}");
    check(kind, &scales, &expected);
    check(kind, r#""spec":{"metrics":[{}]},"status":{}"#, "");
}

#[test]
fn a_device_claim_without_devices_holds_up_its_pods() {
    let kind = "resource.k8s.io/v1/ResourceClaim";
    let note = "Unallocated  not allocated: dependent pods cannot be scheduled";
    check(kind, r#""spec":{}"#, note);
    check(kind, r#""status":{"allocation":{"devices":{}}}"#, "");
}

#[test]
fn a_refused_pull_says_if_the_pod_has_no_pull_secret() {
    let waiting = |message: &str| {
        let state =
            format!(r#""state":{{"waiting":{{"reason":"ErrImagePull","message":"{message}"}}}}"#);
        web(&state)
    };
    let expect = "ImagePull  web: 401 Unauthorized (the pod has no imagePullSecrets)";
    check("v1/Pod", &waiting("401 Unauthorized"), expect);
    let secrets = r#""spec":{"imagePullSecrets":[{"name":"registry"}],"#;
    let with = waiting("401 Unauthorized").replace(r#""spec":{"#, secrets);
    check("v1/Pod", &with, "ImagePull  web: 401 Unauthorized");
    check("v1/Pod", &waiting("not found"), "ImagePull  web: not found");
}

#[test]
fn a_readiness_gate_without_a_reason_is_not_true() {
    let gates = r#""conditions":[{"type":"ContainersReady","status":"True"},{"type":"lb","status":"False"},{"type":"other","status":"True"}]"#;
    let expect = "ReadinessGate  readiness gate lb is not True";
    check("v1/Pod", &pod("Running", gates), expect);
}

#[test]
fn a_condition_without_a_reason_gives_way_to_one_with_a_reason() {
    let ready = r#"{"type":"Ready","status":"False"}"#;
    for (other, expect) in [
        ("", "NotReady  no reason given"),
        (
            r#",{"type":"Stalled","status":"True","reason":"RetriesExhausted"}"#,
            "Failed  RetriesExhausted",
        ),
        (
            r#",{"type":"Stalled","status":"True","reason":"RetriesExhausted","message":"gave up"}"#,
            "Failed  RetriesExhausted: gave up",
        ),
        (
            r#",{"type":"Stalled","status":"True"}"#,
            "NotReady  no reason given",
        ),
        (
            r#",{"type":"Reconciling","status":"True","reason":"Progressing","message":"upgrading"}"#,
            "NotReady  Progressing: upgrading",
        ),
        (
            r#",{"type":"Synced","status":"False","reason":"ReconcileError"}"#,
            "Failed  Synced=False: ReconcileError",
        ),
        (
            r#",{"type":"Synced","status":"False"}"#,
            "Failed  Synced=False: no reason given\nNotReady  no reason given",
        ),
    ] {
        let fields = format!(r#""status":{{"conditions":[{ready}{other}]}}"#);
        check("example.com/v1/Foo", &fields, expect);
    }
}

#[test]
fn causes_that_a_controller_writes_beside_the_conditions() {
    check(
        "example.com/v1/Foo",
        r#""status":{"conditions":[{"type":"Ready","status":"False","reason":"R","message":"not ready"},
            {"type":"Stalled","status":"True","reason":"BadSpec","message":"spec.size must be even"}]}"#,
        "Failed  BadSpec: spec.size must be even\nNotReady  R: not ready",
    );
    check(
        "gateway.networking.k8s.io/v1/HTTPRoute",
        r#""status":{"parents":[{"conditions":[{"type":"Accepted","status":"False","reason":"NoMatchingParent","message":"no listener https"}]}]}"#,
        "Condition  Accepted=False: NoMatchingParent: no listener https",
    );
    check(
        "cluster.x-k8s.io/v1/Machine",
        r#""status":{"phase":"Failed","failureReason":"CreateError","failureMessage":"no capacity"}"#,
        "Failed  no capacity",
    );
    check(
        "v1/Pod",
        r#""status":{"phase":"Unknown","reason":"NodeLost","message":"node-1 is unresponsive"}"#,
        "NodeLost  NodeLost: node-1 is unresponsive",
    );
    check(
        "v1/Pod",
        r#""spec":{"schedulerName":"volcano"},"status":{"phase":"Pending"}"#,
        "Unschedulable  the scheduler volcano has not looked at the pod yet",
    );
    check(
        "autoscaling/v2/HorizontalPodAutoscaler",
        r#""status":{"currentReplicas":1,"desiredReplicas":0,"conditions":[{"type":"ScalingActive","status":"False","reason":"FailedGetResourceMetric","message":"no metrics"}]}"#,
        "ScalingInactive  FailedGetResourceMetric: no metrics",
    );
    check(
        "apps/v1/Deployment",
        r#""spec":{"replicas":2,"minReadySeconds":600},"status":{"replicas":2,"updatedReplicas":2,"readyReplicas":2}"#,
        "NotReady  pods count as available once they are ready for 600s",
    );
}

/// A container that `kubectl debug` has added explains itself, and changes nothing else.
#[test]
fn debug_containers_that_cannot_start() {
    let debugger = |state: &str| {
        let ready = container("web", r#""ready":true,"state":{"running":{}}"#);
        let debugger = container(
            "debugger",
            &format!(r#""image":"busybx","state":{{{state}}}"#),
        );
        pod(
            "Running",
            &format!(
                r#""conditions":[{{"type":"Ready","status":"True"}}],"containerStatuses":[{ready}],"ephemeralContainerStatuses":[{debugger}]"#
            ),
        )
    };
    for (state, expect) in [
        (
            r#""waiting":{"reason":"ImagePullBackOff","message":"Back-off pulling image \"busybx\""}"#,
            r#"ImagePull  debugger (debug): Back-off pulling image "busybx""#,
        ),
        (r#""running":{}"#, ""),
        (r#""terminated":{"exitCode":137}"#, ""),
    ] {
        check("v1/Pod", &debugger(state), expect);
    }
}
