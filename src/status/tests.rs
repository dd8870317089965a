//! One object for each of kstatus's rules, and for each case where spy's rules differ.

use crate::object::Doc;

use super::*;

const NOW: &str = "2026-11-21T14:00:00Z";

fn judge_as(rules: Rules, object: &str) -> String {
    let doc = Doc::parse(object).expect("a case is JSON");
    let verdict = compute(doc.root(), NOW.parse().expect("a time"), rules);
    if let Some(error) = verdict.error {
        assert_eq!(verdict.status, Status::Unknown);
        assert!(verdict.conditions.is_empty());
        return format!("error: {error}");
    }
    let implied = match verdict.status {
        Status::InProgress => Some(ConditionKind::Reconciling),
        Status::Failed => Some(ConditionKind::Stalled),
        _ => None,
    };
    let kinds: Vec<_> = verdict.conditions.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, Vec::from_iter(implied));
    let mut line = format!("{}: {}", verdict.status, verdict.message);
    for condition in verdict.conditions {
        let kind = condition.kind.as_str();
        let message = match condition.message {
            message if message == verdict.message => String::new(),
            message => format!(": {message}"),
        };
        line = format!("{line} [{kind} {}{message}]", condition.reason);
    }
    line
}

/// Checks kstatus's verdict on a `GROUP/VERSION/KIND` with the given fields.
fn check(kind: &str, fields: &str, expect: &str) {
    let object = object(kind, fields);
    assert_eq!(judge_as(Rules::Kstatus, &object), expect, "{object}");
}

fn object(kind: &str, fields: &str) -> String {
    let (version, kind) = kind.rsplit_once('/').expect("VERSION/KIND");
    format!(r#"{{"apiVersion":"{version}","kind":"{kind}",{fields}}}"#)
}

#[test]
fn rules_for_every_kind() {
    let foo = "example.com/v1/Foo";
    for (fields, expect) in [
        (r#""status":{}"#, "Current: Resource is current"),
        (
            r#""metadata":{"deletionTimestamp":"2026-11-21T13:00:00Z","generation":2},"status":{"observedGeneration":1}"#,
            "Terminating: Resource scheduled for deletion",
        ),
        (
            r#""metadata":{"deletionTimestamp":""}"#,
            "Current: Resource is current",
        ),
        (
            r#""metadata":{"generation":2},"status":{"observedGeneration":3,"conditions":7}"#,
            "InProgress: Foo generation is 2, but latest observed generation is 3 [Reconciling LatestGenerationNotObserved]",
        ),
        (
            r#""metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"True"}]}"#,
            "Current: Resource is Ready",
        ),
        (
            r#""status":{"conditions":[{"type":"Ready","status":"True"},{"type":"Reconciling","status":"True","reason":"R","message":"m"},{"type":"Stalled","status":"True"}]}"#,
            "InProgress: m [Reconciling R]",
        ),
        (
            r#""status":{"conditions":[{"type":"Stalled","status":"True","reason":"R","message":"m"},{"type":"Reconciling","status":"True"}]}"#,
            "Failed: m [Stalled R]",
        ),
        (
            r#""status":{"conditions":[{"type":"Ready","status":"Maybe"},{"type":"Ready","status":"Unknown","reason":"R","message":"m"}]}"#,
            "InProgress: m [Reconciling R]",
        ),
        (
            r#""status":{"conditions":[null,{"type":"Ready","status":"False"}]}"#,
            "InProgress:  [Reconciling ]",
        ),
    ] {
        check(foo, fields, expect);
    }
}

#[test]
fn unreadable_objects_are_errors() {
    let foo = "example.com/v1/Foo";
    for (fields, expect) in [
        (
            r#""metadata":7"#,
            ".metadata is a number, expected an object",
        ),
        (
            r#""metadata":{"deletionTimestamp":null}"#,
            ".metadata.deletionTimestamp is null, expected a string",
        ),
        (
            r#""metadata":{"generation":1.0}"#,
            ".metadata.generation is a number, expected an integer",
        ),
        (
            r#""metadata":{"generation":9223372036854775808}"#,
            ".metadata.generation is a number, expected an integer",
        ),
        (
            r#""metadata":{"generation":1},"status":{"observedGeneration":"1"}"#,
            ".status.observedGeneration is a string, expected an integer",
        ),
        (r#""status":[]"#, ".status is a list, expected an object"),
        (
            r#""status":{"conditions":{}}"#,
            ".status.conditions is an object, expected a list",
        ),
        (
            r#""status":{"conditions":["Ready"]}"#,
            ".status.conditions[] is a string, expected an object",
        ),
        (
            r#""status":{"conditions":[{"type":"Ready","message":{}}]}"#,
            ".status.conditions[].message is an object, expected a string",
        ),
        (r#""data":{"n":[1e999]}"#, "number 1e999 is out of range"),
    ] {
        check(foo, fields, &format!("error: {expect}"));
    }
    check("a/b/v1/Foo", r#""x":1"#, "error: the object has no kind");
    check("v1/", r#""x":1"#, "error: the object has no kind");
    assert_eq!(
        judge_as(Rules::Kstatus, "[]"),
        "error: the object is a list, expected an object"
    );
    assert_eq!(
        judge_as(Rules::Spy, r#"{"kind":"Foo","data":1e999}"#),
        "Current: Resource is current"
    );
}

#[test]
fn fields_that_are_absent_or_null_are_not_errors() {
    let foo = "example.com/v1/Foo";
    for fields in [
        r#""metadata":null,"status":null"#,
        r#""metadata":{"generation":3},"status":null"#,
        r#""status":{"conditions":null}"#,
        r#""status":{"observedGeneration":"not read without a generation"}"#,
    ] {
        check(foo, fields, "Current: Resource is current");
    }
}

#[test]
fn deployments() {
    let status = |fields: &str| {
        format!(r#""spec":{{"replicas":3,"progressDeadlineSeconds":600}},"status":{{{fields}}}"#)
    };
    let done = r#""replicas":3,"updatedReplicas":3,"availableReplicas":3,"readyReplicas":3"#;
    let with = |conditions: &str| status(&format!(r#"{done},"conditions":[{conditions}]"#));
    let progressing = r#"{"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable"}"#;
    for (fields, expect) in [
        (
            with(r#"{"type":"Progressing","status":"False","reason":"ProgressDeadlineExceeded","message":"m"}"#),
            "Failed: Progress deadline exceeded [Stalled ProgressDeadlineExceeded: m]",
        ),
        (
            status(r#""replicas":1"#),
            "InProgress: Replicas: 1/3 [Reconciling LessReplicas]",
        ),
        (
            status(r#""replicas":4,"updatedReplicas":2"#),
            "InProgress: Updated: 2/3 [Reconciling LessUpdated]",
        ),
        (
            status(r#""replicas":5,"updatedReplicas":3"#),
            "InProgress: Pending termination: 2 [Reconciling ExtraPods]",
        ),
        (
            status(r#""replicas":3,"updatedReplicas":3,"availableReplicas":1"#),
            "InProgress: Available: 1/3 [Reconciling LessAvailable]",
        ),
        (
            status(r#""replicas":3,"updatedReplicas":3,"availableReplicas":3,"readyReplicas":2"#),
            "InProgress: Ready: 2/3 [Reconciling LessReady]",
        ),
        (
            with(""),
            "InProgress: ReplicaSet not Available [Reconciling ReplicaSetNotAvailable]",
        ),
        (
            with(progressing),
            "InProgress: Deployment not Available [Reconciling DeploymentNotAvailable]",
        ),
        (
            with(&format!(r#"{progressing},{{"type":"Available","status":"True"}}"#)),
            "Current: Deployment is available. Replicas: 3",
        ),
        (
            r#""status":{"replicas":1,"updatedReplicas":1,"availableReplicas":1,"readyReplicas":1,"conditions":[{"type":"Available","status":"True"}]}"#.to_owned(),
            "Current: Deployment is available. Replicas: 1",
        ),
    ] {
        check("apps/v1/Deployment", &fields, expect);
        check("extensions/v1beta1/Deployment", &fields, expect);
    }
}

#[test]
fn replica_sets() {
    let status = |fields: &str| format!(r#""spec":{{"replicas":2}},"status":{{{fields}}}"#);
    for (fields, expect) in [
        (
            status(r#""conditions":[{"type":"ReplicaFailure","status":"True"}]"#),
            "InProgress: Replica Failure condition. Check Pods [Reconciling ReplicaFailure]",
        ),
        (
            status(r#""fullyLabeledReplicas":1"#),
            "InProgress: Labelled: 1/2 [Reconciling LessLabelled]",
        ),
        (
            status(r#""fullyLabeledReplicas":2"#),
            "InProgress: Available: 0/2 [Reconciling LessAvailable]",
        ),
        (
            status(r#""fullyLabeledReplicas":2,"availableReplicas":2,"readyReplicas":1"#),
            "InProgress: Ready: 1/2 [Reconciling LessReady]",
        ),
        (
            status(
                r#""fullyLabeledReplicas":2,"availableReplicas":2,"readyReplicas":2,"replicas":3"#,
            ),
            "InProgress: Pending termination: 1 [Reconciling ExtraPods]",
        ),
        (
            status(
                r#""fullyLabeledReplicas":2,"availableReplicas":2,"readyReplicas":2,"replicas":2"#,
            ),
            "Current: ReplicaSet is available. Replicas: 2",
        ),
    ] {
        check("apps/v1/ReplicaSet", &fields, expect);
    }
}

#[test]
fn stateful_sets() {
    let object = |spec: &str, status: &str| {
        format!(r#""spec":{{"replicas":3{spec}}},"status":{{"readyReplicas":3{status}}}"#)
    };
    let full = r#","replicas":3,"currentReplicas":3"#;
    let partition = r#","updateStrategy":{"rollingUpdate":{"partition":1}}"#;
    for (fields, expect) in [
        (
            object(r#","updateStrategy":{"type":"OnDelete"}"#, ""),
            "Current: StatefulSet is using the ondelete update strategy",
        ),
        (
            object("", r#","replicas":2"#),
            "InProgress: Replicas: 2/3 [Reconciling LessReplicas]",
        ),
        (
            object("", r#","replicas":3,"readyReplicas":1"#),
            "InProgress: Ready: 1/3 [Reconciling LessReady]",
        ),
        (
            object("", r#","replicas":4"#),
            "InProgress: Pending termination: 1 [Reconciling ExtraPods]",
        ),
        (
            object(partition, full),
            "InProgress: updated: 0/2 [Reconciling PartitionRollout]",
        ),
        (
            object(partition, r#","replicas":3,"updatedReplicas":2"#),
            "Current: Partition rollout complete. updated: 2",
        ),
        (
            object("", r#","replicas":3"#),
            "InProgress: current: 0/3 [Reconciling LessCurrent]",
        ),
        (
            object("", &format!(r#"{full},"currentRevision":"a""#)),
            "InProgress: Waiting for updated revision to match current [Reconciling RevisionMismatch]",
        ),
        (
            object("", full),
            "Current: All replicas scheduled as expected. Replicas: 3",
        ),
    ] {
        check("apps/v1/StatefulSet", &fields, expect);
    }
}

#[test]
fn daemon_sets() {
    let status = |fields: &str| {
        format!(r#""metadata":{{"generation":1}},"status":{{"observedGeneration":1{fields}}}"#)
    };
    for (fields, expect) in [
        (
            r#""status":{}"#.to_owned(),
            "InProgress: DaemonSet metadata.generation not found [Reconciling NoGeneration]",
        ),
        (
            r#""metadata":{"generation":1}"#.to_owned(),
            "InProgress: DaemonSet status.observedGeneration not found [Reconciling NoObservedGeneration]",
        ),
        (
            status(""),
            "InProgress: Missing .status.desiredNumberScheduled [Reconciling NoDesiredNumber]",
        ),
        (
            status(r#","desiredNumberScheduled":2"#),
            "InProgress: Current: 0/2 [Reconciling LessCurrent]",
        ),
        (
            status(r#","desiredNumberScheduled":2,"currentNumberScheduled":2"#),
            "InProgress: Updated: 0/2 [Reconciling LessUpdated]",
        ),
        (
            status(
                r#","desiredNumberScheduled":2,"currentNumberScheduled":2,"updatedNumberScheduled":2"#,
            ),
            "InProgress: Available: 0/2 [Reconciling LessAvailable]",
        ),
        (
            status(
                r#","desiredNumberScheduled":2,"currentNumberScheduled":2,"updatedNumberScheduled":2,"numberAvailable":2"#,
            ),
            "InProgress: Ready: 0/2 [Reconciling LessReady]",
        ),
        (
            status(r#","desiredNumberScheduled":0"#),
            "Current: All replicas scheduled as expected. Replicas: 0",
        ),
    ] {
        check("apps/v1/DaemonSet", &fields, expect);
    }
}

#[test]
fn pods() {
    let pending = |created: &str| {
        format!(
            r#""metadata":{{"creationTimestamp":"{created}"}},"status":{{"phase":"Pending","conditions":[{{"type":"PodScheduled","status":"False","reason":"Unschedulable"}}]}}"#
        )
    };
    let waiting = |reason: &str| {
        format!(
            r#""status":{{"phase":"Running","containerStatuses":[{{"name":"a","state":{{"waiting":{{"reason":"{reason}"}}}}}},{{"state":7}},{{"name":"b","state":{{"waiting":{{"reason":"{reason}"}}}}}}]}}"#
        )
    };
    let not_ready = "InProgress: Pod is running but is not Ready [Reconciling PodRunningNotReady]";
    let unschedulable = "Failed: Pod could not be scheduled [Stalled PodUnschedulable]";
    let not_scheduled = "InProgress: Pod has not been scheduled [Reconciling PodNotScheduled]";
    for (fields, expect) in [
        (
            r#""status":{"phase":"Succeeded"}"#,
            "Current: Pod has completed successfully",
        ),
        (
            r#""status":{"phase":"Failed"}"#,
            "Current: Pod has completed, but not successfully",
        ),
        (
            r#""status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}"#,
            "Current: Pod is Ready",
        ),
        (
            &*waiting("CrashLoopBackOff"),
            "Failed: Containers in CrashLoop state: a,b [Stalled ContainerCrashLooping]",
        ),
        (&*waiting("ImagePullBackOff"), not_ready),
        (
            r#""status":{"phase":"Pending"}"#,
            "InProgress: Pod is in the Pending phase [Reconciling PodPending]",
        ),
        (&*pending("2026-11-21T13:59:46Z"), not_scheduled),
        (&*pending("2026-11-21T13:59:45Z"), unschedulable),
        (&*pending("2999-01-01T00:00:00+01:00"), not_scheduled),
        (&*pending("2999-01-01 00:00:00Z"), unschedulable),
        (&*pending("2999-01-01T00:00:60Z"), unschedulable),
        (&*pending(""), unschedulable),
        (
            r#""spec":{}"#,
            "InProgress: Pod phase not available [Reconciling PodNotObserved]",
        ),
    ] {
        check("v1/Pod", fields, expect);
    }
}

#[test]
fn pods_that_cannot_be_read() {
    for (fields, expect) in [
        (
            r#""status":{"phase":"Sleeping"}"#,
            "error: unknown phase Sleeping",
        ),
        (
            r#""status":{"phase":"Running","containerStatuses":null}"#,
            "error: .status.containerStatuses is null, expected a list",
        ),
        (
            r#""status":{"phase":"Running","containerStatuses":[7]}"#,
            "error: .status.containerStatuses[] is a number, expected an object",
        ),
        (
            r#""status":{"phase":"Running","containerStatuses":[{"name":null}]}"#,
            "error: .status.containerStatuses[] is null, expected a string",
        ),
    ] {
        check("v1/Pod", fields, expect);
    }
}

#[test]
fn jobs() {
    let condition = |kind: &str, spec: &str| {
        format!(
            r#""spec":{{{spec}}},"status":{{"succeeded":1,"failed":2,"conditions":[{{"type":"{kind}","status":"True"}}]}}"#
        )
    };
    for (fields, expect) in [
        (
            condition("Complete", r#""completions":3,"parallelism":2"#),
            "Current: Job Completed. succeeded: 1/3",
        ),
        (
            condition("Complete", r#""parallelism":2"#),
            "Current: Job Completed. succeeded: 1/2",
        ),
        (
            condition("Failed", ""),
            "Failed: Job Failed. failed: 2/1 [Stalled JobFailed]",
        ),
        (
            condition("Suspended", r#""suspend":true"#),
            "Current: Job is suspended",
        ),
        (
            condition("Suspended", r#""suspend":false"#),
            "InProgress: Job not started [Reconciling JobNotStarted]",
        ),
        (
            r#""status":{"startTime":"2026-11-21T13:00:00Z","active":1}"#.to_owned(),
            "Current: Job in progress. success:0, active: 1, failed: 0",
        ),
    ] {
        check("batch/v1/Job", &fields, expect);
    }
}

#[test]
fn other_kinds() {
    for (kind, fields, expect) in [
        (
            "v1/Secret",
            r#""data":{}"#,
            "Current: Resource is always ready",
        ),
        (
            "v1/ConfigMap",
            r#""data":{}"#,
            "Current: Resource is always ready",
        ),
        (
            "batch/v1/CronJob",
            r#""spec":{}"#,
            "Current: Resource is always ready",
        ),
        (
            "v1/Service",
            r#""spec":{"type":"LoadBalancer"}"#,
            "InProgress: ClusterIP not set. Service type: LoadBalancer [Reconciling NoIPAssigned]",
        ),
        (
            "v1/Service",
            r#""spec":{"type":"LoadBalancer","clusterIP":"10.0.0.1"}"#,
            "Current: Service is ready",
        ),
        ("v1/Service", r#""spec":{}"#, "Current: Service is ready"),
        (
            "v1/PersistentVolumeClaim",
            r#""status":{"phase":"Bound"}"#,
            "Current: PVC is Bound",
        ),
        (
            "v1/PersistentVolumeClaim",
            r#""status":{}"#,
            "InProgress: PVC is not Bound. phase: unknown [Reconciling NotBound]",
        ),
        (
            "policy/v1/PodDisruptionBudget",
            r#""status":{}"#,
            "Current: AllowedDisruptions has been computed.",
        ),
        (
            "example.com/v1/Pod",
            r#""status":{}"#,
            "Current: Resource is current",
        ),
    ] {
        check(kind, fields, expect);
    }
}

#[test]
fn custom_resource_definitions() {
    let crd = |conditions: &str| format!(r#""status":{{"conditions":[{conditions}]}}"#);
    for (conditions, expect) in [
        (
            "",
            "InProgress: Install in progress [Reconciling Installing]",
        ),
        (
            r#"{"type":"NamesAccepted","status":"False","reason":"R","message":"m"}"#,
            "Failed: m [Stalled R]",
        ),
        (
            r#"{"type":"Established","status":"False","reason":"R","message":"m"}"#,
            "Failed: m [Stalled R]",
        ),
        (
            r#"{"type":"Established","status":"False","reason":"Installing"},{"type":"Established","status":"True"}"#,
            "Current: CRD is established",
        ),
    ] {
        check(
            "apiextensions.k8s.io/v1/CustomResourceDefinition",
            &crd(conditions),
            expect,
        );
    }
}

#[test]
fn huge_counts_wrap_as_in_kstatus() {
    check(
        "apps/v1/ReplicaSet",
        r#""spec":{"replicas":-2},"status":{"replicas":9223372036854775807}"#,
        "InProgress: Pending termination: -9223372036854775807 [Reconciling ExtraPods]",
    );
}

#[test]
fn spy_reports_failed_where_waiting_does_not_help() {
    let waiting = |list: &str, reason: &str| {
        format!(
            r#""status":{{"phase":"Pending","{list}":[{{"name":"a","state":{{"waiting":{{"reason":"{reason}"}}}}}}]}}"#
        )
    };
    let failure = r#""status":{"conditions":[{"type":"ReplicaFailure","status":"True","reason":"FailedCreate","message":"exceeded quota"}]}"#;
    let pending = "InProgress: Pod is in the Pending phase [Reconciling PodPending]";
    for (kind, fields, expect) in [
        (
            "v1/Pod",
            r#""status":{"phase":"Failed"}"#.to_owned(),
            "Failed: Pod has completed, but not successfully [Stalled PodFailed]",
        ),
        (
            "v1/Pod",
            r#""status":{"phase":"Failed","reason":"Evicted"}"#.to_owned(),
            "Failed: Pod has completed, but not successfully [Stalled Evicted]",
        ),
        (
            "v1/Pod",
            waiting("containerStatuses", "ImagePullBackOff"),
            "Failed: Containers waiting: a (ImagePullBackOff) [Stalled ImagePullBackOff]",
        ),
        (
            "v1/Pod",
            waiting("initContainerStatuses", "CrashLoopBackOff"),
            "Failed: Containers waiting: a (CrashLoopBackOff) [Stalled CrashLoopBackOff]",
        ),
        (
            "v1/Pod",
            waiting("containerStatuses", "ContainerCreating"),
            pending,
        ),
        (
            "apps/v1/Deployment",
            failure.to_owned(),
            "Failed: exceeded quota [Stalled FailedCreate]",
        ),
        (
            "apps/v1/ReplicaSet",
            failure.to_owned(),
            "Failed: exceeded quota [Stalled FailedCreate]",
        ),
        (
            "v1/ReplicationController",
            failure.to_owned(),
            "Failed: exceeded quota [Stalled FailedCreate]",
        ),
        (
            "example.com/v1/Foo",
            failure.to_owned(),
            "Failed: exceeded quota [Stalled FailedCreate]",
        ),
    ] {
        assert_eq!(judge_as(Rules::Spy, &object(kind, &fields)), expect);
    }
}

#[test]
fn a_container_that_has_crashed_again_has_failed() {
    let ended = |code: u8, restarts: u8| {
        let state = format!(r#"{{"terminated":{{"exitCode":{code},"reason":"Error"}}}}"#);
        format!(
            r#""status":{{"phase":"Pending","containerStatuses":[{{"name":"a","restartCount":{restarts},"state":{state}}}]}}"#
        )
    };
    let pending = "InProgress: Pod is in the Pending phase [Reconciling PodPending]";
    for (fields, expect) in [
        (ended(1, 0), pending),
        (ended(0, 3), pending),
        (
            ended(1, 1),
            "Failed: Containers waiting: a (Error) [Stalled Error]",
        ),
    ] {
        assert_eq!(judge_as(Rules::Spy, &object("v1/Pod", &fields)), expect);
    }
}

/// A condition, last changed one minute before `NOW`.
fn condition(kind: &str, status: &str, reason: &str) -> String {
    format!(
        r#""status":{{"conditions":[{{"type":"{kind}","status":"{status}","reason":"{reason}","message":"m","lastTransitionTime":"2026-11-21T13:59:00Z"}}]}}"#
    )
}

#[test]
fn spy_reports_conditions_of_custom_resources() {
    for (kind, status, expect) in [
        ("Available", "True", "Current: Resource is current"),
        ("Available", "False", "InProgress: m [Reconciling R]"),
        ("Available", "Unknown", "InProgress: m [Reconciling R]"),
        ("Synced", "False", "Failed: m [Stalled R]"),
        ("Synced", "Unknown", "InProgress: m [Reconciling R]"),
        ("Succeeded", "False", "Failed: m [Stalled R]"),
        ("Degraded", "True", "Failed: m [Stalled R]"),
        ("Degraded", "False", "Current: Resource is current"),
        ("DiskPressure", "True", "InProgress: m [Reconciling R]"),
        ("Progressing", "False", "Current: Resource is current"),
        ("Paused", "True", "Current: Resource is current"),
        ("NotReady", "True", "InProgress: m [Reconciling R]"),
        ("NotReady", "False", "Current: Resource is current"),
        ("AllReplicasReady", "False", "InProgress: m [Reconciling R]"),
        ("UpdateAvailable", "False", "Current: Resource is current"),
    ] {
        let fields = condition(kind, status, "R");
        let object = object("example.com/v1/Foo", &fields);
        assert_eq!(judge_as(Rules::Spy, &object), expect, "{kind}={status}");
        let before = judge_as(Rules::Kstatus, &object);
        assert_eq!(before, "Current: Resource is current", "{kind}={status}");
    }
}

/// The fields of a node whose kubelet has reported that it is ready.
fn reporting(fields: &str) -> String {
    fields.replace("[{", r#"[{"type":"Ready","status":"True"},{"#)
}

#[test]
fn spy_knows_the_conditions_of_node_problem_detectors() {
    for (kind, is_bad) in [
        ("KernelDeadlock", true),
        ("FrequentKubeletRestart", true),
        ("CorruptDockerOverlay2", true),
        ("NonReadyRuntime", true),
        ("NICFlapping", true),
        ("ConflictDetected", true),
        ("DiskHung", true),
        ("VMEventScheduled", true),
        ("GPUMissing", true),
        ("EtcIsFull", false),
        ("Nonce", false),
        ("FrequentUser", false),
        ("PodPlacement", false),
    ] {
        for object_kind in ["v1/Node", "example.com/v1/Foo"] {
            let is_node = object_kind == "v1/Node";
            let state = |status: &str| {
                let fields = condition(kind, status, "R");
                let fields = if is_node { reporting(&fields) } else { fields };
                judge_as(Rules::Spy, &object(object_kind, &fields))
            };
            let bad = "InProgress: m [Reconciling R]";
            let well = if is_node {
                "Current: Resource is Ready"
            } else {
                "Current: Resource is current"
            };
            let expect = if is_bad { bad } else { well };
            assert_eq!(state("True"), expect, "{object_kind} {kind}");
            assert_eq!(state("False"), well, "{object_kind} {kind}");
        }
    }
}

#[test]
fn spy_reports_conditions_of_built_in_kinds() {
    let scaler = "autoscaling/v2/HorizontalPodAutoscaler";
    for (kind, fields, expect) in [
        (
            scaler,
            condition("ScalingActive", "False", "FailedGetResourceMetric"),
            "InProgress: m [Reconciling FailedGetResourceMetric]",
        ),
        (
            scaler,
            condition("AbleToScale", "False", "FailedGetScale").replace("13:59", "13:58"),
            "Failed: m [Stalled FailedGetScale]",
        ),
        (
            scaler,
            condition("ScalingActive", "False", "ScalingDisabled"),
            "Current: Resource is current",
        ),
        (
            scaler,
            condition("ScalingLimited", "True", "TooManyReplicas"),
            "Current: Resource is current",
        ),
        (
            "apiregistration.k8s.io/v1/APIService",
            condition("Available", "False", "ServiceNotFound").replace("13:59", "13:00"),
            "Failed: m [Stalled ServiceNotFound]",
        ),
        (
            "apiregistration.k8s.io/v1/APIService",
            condition("Available", "True", "Passed"),
            "Current: Resource is current",
        ),
        (
            "v1/Node",
            reporting(&condition("DiskPressure", "True", "KubeletHasDiskPressure")),
            "InProgress: m [Reconciling KubeletHasDiskPressure]",
        ),
    ] {
        let object = object(kind, &fields);
        assert_eq!(judge_as(Rules::Spy, &object), expect, "{object}");
    }
}

/// The kind, the fields, and the verdict by the default rules.
const WITHOUT_CONDITIONS: &[(&str, &str, &str)] = &[
    (
        "example.com/v1/Foo",
        r#""status":{"phase":"Failed","message":"no zone"}"#,
        "Failed: no zone [Stalled Failed]",
    ),
    (
        "example.com/v1/Foo",
        r#""status":{"state":"error","reason":"NoZone"}"#,
        "Failed: NoZone [Stalled error]",
    ),
    (
        "example.com/v1/Foo",
        r#""status":{"phase":"Running"}"#,
        "Current: Resource is current",
    ),
    (
        "velero.io/v1/Backup",
        r#""status":{"phase":"PartiallyFailed"}"#,
        "Failed: its phase is PartiallyFailed [Stalled PartiallyFailed]",
    ),
    (
        "acme.cert-manager.io/v1/Order",
        r#""status":{"state":"errored","reason":"rate limit"}"#,
        "Failed: rate limit [Stalled errored]",
    ),
    (
        "acme.cert-manager.io/v1/Order",
        r#""status":{"state":"invalid"}"#,
        "Failed: its state is invalid [Stalled invalid]",
    ),
    (
        "acid.zalan.do/v1/postgresql",
        r#""status":{"PostgresClusterStatus":"SyncFailed"}"#,
        "Failed: its PostgresClusterStatus is SyncFailed [Stalled SyncFailed]",
    ),
    (
        "longhorn.io/v1beta2/Volume",
        r#""status":{"state":"attached","robustness":"faulted"}"#,
        "Failed: its robustness is faulted [Stalled faulted]",
    ),
    (
        "longhorn.io/v1beta2/Volume",
        r#""status":{"state":"detached","robustness":"unknown"}"#,
        "Current: Resource is current",
    ),
    (
        "cert-manager.io/v1/Certificate",
        r#""status":{"notAfter":"2026-11-17T14:00:00Z","conditions":[{"type":"Ready","status":"True"}]}"#,
        "Failed: the certificate expired at 2026-11-17T14:00:00Z [Stalled Expired]",
    ),
    (
        "cert-manager.io/v1/Certificate",
        r#""status":{"notAfter":"2026-12-17T14:00:00Z","conditions":[{"type":"Ready","status":"True"}]}"#,
        "Current: Resource is Ready",
    ),
    (
        "monitoring.coreos.com/v1/Prometheus",
        r#""status":{"conditions":[{"type":"Available","status":"Degraded","reason":"SomePodsNotReady","message":"1 of 2 pods"}]}"#,
        "InProgress: 1 of 2 pods [Reconciling SomePodsNotReady]",
    ),
    (
        "postgresql.cnpg.io/v1/Cluster",
        r#""status":{"conditions":[{"type":"Ready","status":"True"},{"type":"ContinuousArchiving","status":"False","reason":"Failing","message":"no bucket"}]}"#,
        "InProgress: no bucket [Reconciling Failing]",
    ),
    (
        "keda.sh/v1alpha1/ScaledObject",
        r#""status":{"conditions":[{"type":"Ready","status":"True"},{"type":"Fallback","status":"True","reason":"FallbackExists","message":"no metric"}]}"#,
        "InProgress: no metric [Reconciling FallbackExists]",
    ),
    (
        "kafka.strimzi.io/v1beta2/Kafka",
        r#""status":{"conditions":[{"type":"Ready","status":"True"},{"type":"Warning","status":"True","reason":"Deprecated","message":"an old field"}]}"#,
        "Current: Resource is Ready",
    ),
    (
        "argoproj.io/v1alpha1/Rollout",
        r#""metadata":{"generation":3},"status":{"observedGeneration":"3","phase":"Degraded","message":"RolloutAborted"}"#,
        "Failed: RolloutAborted [Stalled Degraded]",
    ),
    (
        "argoproj.io/v1alpha1/Rollout",
        r#""metadata":{"generation":3},"status":{"observedGeneration":"2","phase":"Healthy"}"#,
        "InProgress: Rollout generation is 3, but latest observed generation is 2 [Reconciling LatestGenerationNotObserved]",
    ),
    (
        "example.com/v1/Foo",
        r#""status":{"phase":"Pending"}"#,
        "InProgress: its phase is Pending [Reconciling Pending]",
    ),
    (
        "example.com/v1/Foo",
        r#""metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"True","observedGeneration":1}]}"#,
        "InProgress: generation 2 is newer than the condition Ready [Reconciling LatestGenerationNotObserved]",
    ),
    (
        "example.com/v1/Foo",
        r#""metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"True","observedGeneration":2}]}"#,
        "Current: Resource is Ready",
    ),
    (
        "argoproj.io/v1alpha1/Application",
        r#""status":{"health":{"status":"Degraded","message":"web is down"},"sync":{"status":"Synced"}}"#,
        "Failed: web is down [Stalled Degraded]",
    ),
    (
        "argoproj.io/v1alpha1/Application",
        r#""status":{"health":{"status":"Healthy"},"conditions":[{"type":"ComparisonError","message":"no such path"}]}"#,
        "Failed: no such path [Stalled ComparisonError]",
    ),
    (
        "argoproj.io/v1alpha1/Application",
        r#""status":{"health":{"status":"Healthy"},"operationState":{"phase":"Failed","message":"namespace x not found"}}"#,
        "Failed: namespace x not found [Stalled OperationFailed]",
    ),
    (
        "argoproj.io/v1alpha1/Application",
        r#""status":{"health":{"status":"Healthy"},"sync":{"status":"OutOfSync"}}"#,
        "InProgress: the objects differ from their source [Reconciling OutOfSync]",
    ),
    (
        "argoproj.io/v1alpha1/Application",
        r#""status":{"health":{"status":"Healthy"},"sync":{"status":"Synced"},"operationState":{"phase":"Succeeded"}}"#,
        "Current: Resource is current",
    ),
    (
        "snapshot.storage.k8s.io/v1/VolumeSnapshot",
        r#""status":{"readyToUse":false,"error":{"message":"pvc not found"}}"#,
        "Failed: pvc not found [Stalled SnapshotError]",
    ),
    (
        "v1/ReplicationController",
        r#""spec":{"replicas":2},"status":{"replicas":2}"#,
        "InProgress: 0 of 2 replicas are ready [Reconciling LessReady]",
    ),
    (
        "v1/ReplicationController",
        r#""spec":{"replicas":2},"status":{"replicas":2,"readyReplicas":2}"#,
        "Current: Resource is current",
    ),
    (
        "v1/Pod",
        r#""spec":{"restartPolicy":"Never"},"status":{"phase":"Running","containerStatuses":[{"name":"a"},{"name":"b","state":{"terminated":{"exitCode":1}}}]}"#,
        "Failed: b ended with exit code 1 and is never restarted [Stalled ContainerFailed]",
    ),
    (
        "batch/v1/CronJob",
        r#""metadata":{"creationTimestamp":"2026-11-21T13:55:30Z"},"spec":{"schedule":"* * * * *"}"#,
        "InProgress: no job was started at 2026-11-21T13:56:00Z [Reconciling MissedRun]",
    ),
    (
        "elasticsearch.k8s.elastic.co/v1/Elasticsearch",
        r#""status":{"health":"red","phase":"Ready"}"#,
        "Failed: its health is red [Stalled red]",
    ),
    (
        "ceph.rook.io/v1/CephCluster",
        r#""status":{"phase":"Ready","ceph":{"health":"HEALTH_WARN"}}"#,
        "InProgress: its ceph.health is HEALTH_WARN [Reconciling HEALTH_WARN]",
    ),
    (
        "apps/v1/StatefulSet",
        r#""spec":{"replicas":2,"updateStrategy":{"type":"OnDelete"}},"status":{"replicas":2,"readyReplicas":1}"#,
        "InProgress: 1 of 2 replicas are ready [Reconciling LessReady]",
    ),
    (
        "batch/v1/CronJob",
        r#""metadata":{"creationTimestamp":"2026-11-21T13:55:30Z"},"spec":{"schedule":"* * * * *","concurrencyPolicy":"Forbid"},"status":{"active":[{"name":"a"}]}"#,
        "InProgress: no job was started since 2026-11-21T13:56:00Z: the last run is still active (concurrencyPolicy Forbid) [Reconciling MissedRun]",
    ),
    (
        // A start that is too old for the deadline is never made.
        "batch/v1/CronJob",
        r#""spec":{"schedule":"0 0 * * *","startingDeadlineSeconds":200},"status":{"lastScheduleTime":"2026-11-10T00:00:00Z","lastSuccessfulTime":"2026-11-10T00:01:00Z"}"#,
        "Current: Resource is always ready",
    ),
    (
        "batch/v1/CronJob",
        r#""spec":{"schedule":"0 0 * * *","startingDeadlineSeconds":86400},"status":{"lastScheduleTime":"2026-11-10T00:00:00Z","lastSuccessfulTime":"2026-11-10T00:01:00Z"}"#,
        "InProgress: no job was started at 2026-11-21T00:00:00Z [Reconciling MissedRun]",
    ),
    (
        // The controller makes no start at all.
        "batch/v1/CronJob",
        r#""metadata":{"creationTimestamp":"2026-11-21T13:00:30Z"},"spec":{"schedule":"* * * * *","startingDeadlineSeconds":200}"#,
        "InProgress: no job was started at 2026-11-21T13:57:00Z [Reconciling MissedRun]",
    ),
    (
        "batch/v1/CronJob",
        r#""metadata":{"creationTimestamp":"2026-11-21T13:00:30Z"},"spec":{"schedule":"* * * * *","startingDeadlineSeconds":9223372036854775807}"#,
        "InProgress: no job was started at 2026-11-21T13:01:00Z [Reconciling MissedRun]",
    ),
    (
        // A run that does not end still prevents starts.
        "batch/v1/CronJob",
        r#""spec":{"schedule":"0 0 * * *","concurrencyPolicy":"Forbid","startingDeadlineSeconds":200},"status":{"lastScheduleTime":"2026-11-18T00:00:00Z","active":[{"name":"a"}]}"#,
        "InProgress: no job was started since 2026-11-19T00:00:00Z: the last run is still active (concurrencyPolicy Forbid) [Reconciling MissedRun]",
    ),
    (
        "batch/v1/CronJob",
        r#""metadata":{"creationTimestamp":"2026-11-21T13:55:30Z"},"spec":{"schedule":"* * * * *","concurrencyPolicy":"Allow"},"status":{"active":[{"name":"a"}]}"#,
        "Current: Resource is always ready",
    ),
    (
        "batch/v1/CronJob",
        r#""metadata":{"creationTimestamp":"2026-11-21T13:55:30Z"},"spec":{"schedule":"59 * * * *"}"#,
        "Current: Resource is always ready",
    ),
    (
        "policy/v1/PodDisruptionBudget",
        r#""status":{"currentHealthy":1,"desiredHealthy":2,"expectedPods":3}"#,
        "InProgress: only 1 of 3 pods are healthy, 2 must be [Reconciling BudgetViolated]",
    ),
    (
        "policy/v1/PodDisruptionBudget",
        r#""status":{"currentHealthy":3,"desiredHealthy":2,"expectedPods":3,"conditions":[{"type":"DisruptionAllowed","status":"False","reason":"SyncFailed","message":"no scale","lastTransitionTime":"2026-11-21T13:59:00Z"}]}"#,
        "InProgress: no scale [Reconciling SyncFailed]",
    ),
    (
        "v1/ComponentStatus",
        r#""conditions":[{"type":"Healthy","status":"False","message":"connection refused"}]"#,
        "InProgress: connection refused [Reconciling Unhealthy]",
    ),
    (
        "v1/ComponentStatus",
        r#""conditions":[{"type":"Healthy","status":"True","message":"ok"}]"#,
        "Current: Resource is current",
    ),
    (
        "v1/PersistentVolumeClaim",
        r#""spec":{"volumeName":"pv-1"},"status":{"phase":"Lost"}"#,
        "Failed: its volume pv-1 is gone [Stalled VolumeLost]",
    ),
    (
        "policy/v1/PodDisruptionBudget",
        r#""status":{"currentHealthy":2,"desiredHealthy":2,"expectedPods":3}"#,
        "Current: AllowedDisruptions has been computed.",
    ),
    (
        "v1/Service",
        r#""spec":{"type":"LoadBalancer","clusterIP":"10.0.0.1"}"#,
        "InProgress: the load balancer has no external address yet [Reconciling PendingLoadBalancer]",
    ),
    (
        "v1/Service",
        r#""spec":{"type":"LoadBalancer","clusterIP":"10.0.0.1"},"status":{"loadBalancer":{"ingress":[{"ip":"35.1.1.1"}]}}"#,
        "Current: Service is ready",
    ),
    (
        "batch/v1/Job",
        r#""status":{"startTime":"2026-11-21T13:00:00Z","active":2,"succeeded":1}"#,
        "InProgress: Job is running. active: 2, succeeded: 1 [Reconciling JobRunning]",
    ),
    (
        "batch/v1/Job",
        r#""status":{"conditions":[{"type":"Complete","status":"True"}],"succeeded":1}"#,
        "Current: Job Completed. succeeded: 1/1",
    ),
    (
        "batch/v1/CronJob",
        r#""status":{"lastScheduleTime":"2026-11-21T03:00:00Z","lastSuccessfulTime":"2026-11-20T03:01:00Z"}"#,
        "Failed: the last run did not succeed (last success: 2026-11-20T03:01:00Z) [Stalled LastRunFailed]",
    ),
    (
        "batch/v1/CronJob",
        r#""metadata":{"creationTimestamp":"2026-11-21T13:55:30Z"},"spec":{"schedule":"0 0 */1 * 0","timeZone":"Asia/Tokyo"}"#,
        "Current: Resource is always ready",
    ),
    (
        "batch/v1/CronJob",
        r#""metadata":{"creationTimestamp":"2026-11-21T13:55:30Z"},"spec":{"schedule":"0 0 31 2 *"},"status":{"lastScheduleTime":"2026-11-21T03:00:00Z"}"#,
        "Failed: no job is started: the schedule \"0 0 31 2 *\" names no day that exists [Stalled InvalidSchedule]",
    ),
    (
        "batch/v1/CronJob",
        r#""spec":{"schedule":"61 * * * *"}"#,
        "Failed: no job is started: the schedule \"61 * * * *\" does not parse [Stalled InvalidSchedule]",
    ),
    (
        "batch/v1/CronJob",
        r#""spec":{"schedule":"TZ=Mars/Base * * * * *"}"#,
        "Failed: no job is started: the schedule \"TZ=Mars/Base * * * * *\" does not parse [Stalled InvalidSchedule]",
    ),
    (
        "batch/v1/CronJob",
        r#""spec":{"schedule":"* * * * *","timeZone":"Mars/Base"}"#,
        "Failed: no job is started: there is no time zone \"Mars/Base\" [Stalled InvalidSchedule]",
    ),
    (
        "batch/v1/CronJob",
        r#""spec":{"schedule":"0 0 31 2 *","suspend":true}"#,
        "Current: Resource is always ready",
    ),
    (
        "batch/v1/CronJob",
        r#""status":{"lastScheduleTime":"2026-11-21T03:00:00Z","active":[{"name":"nightly-1"}]}"#,
        "Current: Resource is always ready",
    ),
];

#[test]
fn spy_reports_statuses_without_conditions() {
    for (kind, fields, expect) in WITHOUT_CONDITIONS {
        let object = object(kind, fields);
        assert_eq!(judge_as(Rules::Spy, &object), *expect, "{object}");
    }
}

#[test]
fn a_late_start_is_late_until_its_deadline() {
    let fields = r#""spec":{"schedule":"0 14 * * *","startingDeadlineSeconds":200},"status":{"lastScheduleTime":"2026-11-20T14:00:00Z","lastSuccessfulTime":"2026-11-20T14:01:00Z"}"#;
    let job = object("batch/v1/CronJob", fields);
    let doc = Doc::parse(job).expect("a case is JSON");
    let mut now: Timestamp = NOW.parse().expect("a time");
    let mut seen = Vec::new();
    for _ in 0..3 {
        let status = compute(doc.root(), now, Rules::Spy).status;
        seen.push(format!("{} {status:?}", now.strftime("%H:%M:%S")));
        now = review_at(doc.root(), now).expect("a review is due");
    }
    let expect = [
        "14:00:00 Current",
        "14:01:30 InProgress",
        "14:03:20 Current",
    ];
    assert_eq!(seen, expect);
}

#[test]
fn a_problem_that_lasts_becomes_a_failure() {
    let fields = condition("AbleToScale", "False", "FailedGetScale");
    let scaler = object("autoscaling/v2/HorizontalPodAutoscaler", &fields);
    let doc = Doc::parse(scaler).expect("a case is JSON");
    let now: Timestamp = NOW.parse().expect("a time");
    let review = review_at(doc.root(), now).expect("a review is due");
    let status = |now| compute(doc.root(), now, Rules::Spy).status;
    assert_eq!(status(now), Status::InProgress);
    assert_eq!(status(review), Status::Failed);
    assert_eq!(review_at(doc.root(), review), None);
}

#[test]
fn spy_keeps_the_failures_of_kstatus() {
    let looping = object(
        "v1/Pod",
        r#""status":{"phase":"Running","containerStatuses":[{"name":"a","state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}"#,
    );
    let late = object(
        "apps/v1/Deployment",
        r#""status":{"conditions":[{"type":"ReplicaFailure","status":"True"},{"type":"Progressing","reason":"ProgressDeadlineExceeded"}]}"#,
    );
    for object in [looping, late] {
        let verdict = judge_as(Rules::Spy, &object);
        assert!(verdict.starts_with("Failed"), "{verdict}");
        assert_eq!(verdict, judge_as(Rules::Kstatus, &object));
    }
}

/// Each wait reason with a cause of its own also makes the Pod Failed.
#[test]
fn every_broken_wait_reason_is_a_failure() {
    for reason in [
        "ErrImageNeverPull",
        "ImageInspectError",
        "RegistryUnavailable",
        "SignatureValidationFailed",
        "PreStartHookError",
        "PostStartHookError",
    ] {
        let pod = object(
            "v1/Pod",
            &format!(
                r#""status":{{"phase":"Pending","containerStatuses":[{{"name":"a","state":{{"waiting":{{"reason":"{reason}"}}}}}}]}}"#
            ),
        );
        let verdict = judge_as(Rules::Spy, &pod);
        assert!(verdict.starts_with("Failed"), "{reason}: {verdict}");
    }
}

#[test]
fn a_failed_pod_that_is_being_deleted_is_terminating() {
    let leaving =
        r#""metadata":{"deletionTimestamp":"2026-11-21T13:00:00Z"},"status":{"phase":"Failed"}"#;
    assert_eq!(
        judge_as(Rules::Spy, &object("v1/Pod", leaving)),
        "Terminating: Resource scheduled for deletion"
    );
}

#[test]
fn the_worst_status_is_the_greatest() {
    use Status::{Current, Failed, InProgress, NotFound, Terminating, Unknown};
    let worst = [InProgress, Failed, Unknown, Current].into_iter().max();
    assert_eq!(worst, Some(Failed));
    let order = [Current, Terminating, InProgress, NotFound, Unknown, Failed];
    assert!(order.is_sorted());
}

#[test]
fn time_alone_can_change_a_verdict() {
    let next = |fields: &str| {
        let object = object("v1/Pod", fields);
        let doc = Doc::parse(&*object).expect("a case is JSON");
        let mut now: Timestamp = "2026-11-21T14:00:00Z".parse().expect("a time");
        let mut moments = Vec::new();
        while let Some(moment) = review_at(doc.root(), now) {
            moments.push(moment.strftime("%H:%M:%S").to_string());
            now = moment;
        }
        moments.join(" ")
    };
    assert_eq!(
        next(
            r#""metadata":{"creationTimestamp":"2026-11-21T13:59:58Z","deletionTimestamp":"2026-11-21T14:00:30Z"},
            "status":{"containerStatuses":[{"lastState":{"terminated":{"finishedAt":"2026-11-21T13:55:00Z"}}}]}"#
        ),
        "14:00:13 14:00:45 14:05:00"
    );
    assert_eq!(
        next(r#""metadata":{"creationTimestamp":"2026-11-21T13:59:45Z"}"#),
        ""
    );
}

mod totality {
    use proptest::prelude::*;

    use super::*;

    /// Values of every type, for the fields that the rules read.
    fn value() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            Just("true".to_owned()),
            Just(r#""True""#.to_owned()),
            Just(r#""CrashLoopBackOff""#.to_owned()),
            Just(r#""2026-11-21T14:00:00Z""#.to_owned()),
            Just(r#""1é""#.to_owned()),
            any::<i64>().prop_map(|n| n.to_string()),
            Just("1e400".to_owned()),
        ];
        let key = proptest::sample::select(vec![
            "type",
            "status",
            "reason",
            "name",
            "state",
            "waiting",
            "terminated",
            "phase",
            "conditions",
            "containerStatuses",
            "replicas",
            "metadata",
            "spec",
            "generation",
            "observedGeneration",
            "creationTimestamp",
            "deletionTimestamp",
            "finalizers",
            "initContainerStatuses",
            "initContainers",
            "containers",
            "lastState",
            "exitCode",
            "restartCount",
            "message",
            "running",
            "ready",
            "readinessGates",
            "conditionType",
        ]);
        leaf.prop_recursive(5, 48, 6, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4)
                    .prop_map(|items| format!("[{}]", items.join(","))),
                proptest::collection::vec((key.clone(), inner), 0..7).prop_map(|fields| {
                    let fields: Vec<_> = fields
                        .into_iter()
                        .map(|(key, value)| format!(r#""{key}":{value}"#))
                        .collect();
                    format!("{{{}}}", fields.join(","))
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_object_gets_a_verdict(
            kind in proptest::sample::select(vec![
                "v1/Pod", "apps/v1/Deployment", "apps/v1/StatefulSet", "apps/v1/DaemonSet",
                "batch/v1/Job", "v1/PersistentVolumeClaim", "example.com/v1/Foo",
            ]),
            metadata in value(),
            spec in value(),
            status in value(),
        ) {
            let fields = format!(r#""metadata":{metadata},"spec":{spec},"status":{status}"#);
            let object = object(kind, &fields);
            for rules in [Rules::Kstatus, Rules::Spy] {
                judge_as(rules, &object);
                let doc = Doc::parse(&*object).expect("a case is JSON");
                let now = NOW.parse().expect("a time");
                let verdict = compute(doc.root(), now, rules);
                let row = Row::of(doc.root(), verdict.status);
                prop_assert!(!row.word.is_empty());
                for cause in causes(doc.root(), &verdict, now) {
                    prop_assert!(!cause.text.is_empty(), "{}", cause.rule.as_str());
                }
            }
        }
    }
}
