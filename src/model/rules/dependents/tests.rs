//! Tests of how Pods decide the state of what creates them.

use std::sync::Arc;

use crate::model::rules::tests::Read;
use crate::model::tests::{RETENTION, at, event, model, version};
use crate::object::Uid;
use crate::source::{Scope, SourceKey, Version, Why};
use crate::status::Status;

/// The reason of a workload with these fields. Each of its Pods has a revision, and the reason why its container waits;
/// without a reason it is ready.
fn reason(kind: &str, fields: &str, pods: &[[&str; 2]]) -> String {
    let source = Arc::new(SourceKey {
        scope: Scope::Namespace("shop".into()),
        ..SourceKey::all("", "Pod")
    });
    let mut model = model(RETENTION, &[&source]);
    let set = version(&format!(
        r#"{{"apiVersion":"apps/v1","kind":"{kind}","metadata":{{"uid":"s","name":"db","namespace":"shop"}},{fields}}}"#
    ));
    model.apply(&source, &event(Why::Listed, set), at(0));
    for (index, [revision, why]) in pods.iter().enumerate() {
        let status = match *why {
            "" => r#""phase":"Running","conditions":[{"type":"Ready","status":"True"}]"#.to_owned(),
            why => format!(
                r#""phase":"Pending","containerStatuses":[{{"name":"db","state":{{"waiting":{{"reason":"{why}"}}}}}}]"#
            ),
        };
        let pod = version(&format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"uid":"p{index}","name":"db-{index}","namespace":"shop",
                    "labels":{{"controller-revision-hash":"{revision}","pod-template-generation":"{revision}"}},
                    "ownerReferences":[{{"uid":"s","controller":true}}]}},
                "status":{{{status}}}}}"#
        ));
        model.apply(&source, &event(Why::Listed, pod), at(0));
    }
    model.refresh(at(0));
    let object = model.object(&Uid::new("s")).expect("it is there");
    object.assessment.reason().to_owned()
}

const PULL: &str = "ImagePullBackOff";

#[test]
fn the_count_is_of_the_pods_that_the_newest_revision_is_to_have() {
    let stateful_set = |replicas: u32, partition: u32| {
        format!(
            r#""spec":{{"replicas":{replicas},"updateStrategy":{{"type":"RollingUpdate","rollingUpdate":{{"partition":{partition}}}}}}},
                "status":{{"replicas":{replicas},"readyReplicas":1,"updatedReplicas":0,"updateRevision":"2"}}"#
        )
    };
    let daemon_set = r#""metadata":{"uid":"s","name":"db","namespace":"shop",
            "annotations":{"deprecated.daemonset.template.generation":"2"}},
        "status":{"desiredNumberScheduled":4,"currentNumberScheduled":4,"numberReady":3,"updatedNumberScheduled":1}"#;
    for (kind, fields, pods, expect) in [
        (
            "StatefulSet",
            &*stateful_set(3, 2),
            &[["1", ""], ["1", ""], ["2", PULL]][..],
            "0 of 1 new pods ready: 1 ImagePullBackOff",
        ),
        (
            "StatefulSet",
            &*stateful_set(3, 0),
            &[["1", ""], ["1", ""], ["2", PULL]],
            "0 of 3 new pods ready: 1 ImagePullBackOff",
        ),
        (
            "DaemonSet",
            daemon_set,
            &[["1", ""], ["1", ""], ["1", ""], ["2", PULL]],
            "0 of 4 new pods ready: 1 ImagePullBackOff",
        ),
    ] {
        assert_eq!(reason(kind, fields, pods), expect, "{kind} {fields}");
    }
}

/// The verdict on a `CronJob` whose newest Job has this status and this warning.
fn cron_job_with_warning(status: &str, warning: &str) -> String {
    let controller = |kind: &str, uid: &str| {
        format!(
            "ownerReferences: [{{apiVersion: batch/v1, kind: {kind}, name: x, uid: {uid}, controller: true}}]"
        )
    };
    let cron = "{apiVersion: batch/v1, kind: CronJob, metadata: {name: web, namespace: shop}, spec: {schedule: '@yearly'}, status: {lastScheduleTime: '2026-05-04T10:00:00Z', lastSuccessfulTime: '2026-05-04T10:00:00Z', active: [{name: job}]}}";
    let job = format!(
        "{{apiVersion: batch/v1, kind: Job, metadata: {{name: job, namespace: shop, {}}}, status: {{startTime: '2026-05-04T10:00:00Z'{status}}}}}",
        controller("CronJob", "web")
    );
    let event = format!(
        "{{apiVersion: v1, kind: Event, metadata: {{name: e, namespace: shop}}, involvedObject: {{kind: Job, name: job, namespace: shop, uid: job}}, type: Warning, reason: FailedCreate, message: '{warning}'}}"
    );
    let mut read = Read::for_status(&[cron, &job].join("\n---\n"));
    read.explain(&[event]).state("web")
}

#[test]
fn a_run_that_cannot_create_its_pods_is_a_problem_of_the_cron_job() {
    let warning = "Error creating: pods \"job-x7k2p\" is forbidden: exceeded quota";
    let expected =
        format!("InProgress\nFailedDependents: its run job/job waits: FailedCreate: {warning}");
    assert_eq!(cron_job_with_warning("", warning), expected);
    // That is over: a Pod runs.
    assert_eq!(cron_job_with_warning(", active: 1", warning), "Current");
}

/// The verdict on a `CronJob` whose only Job has this status and whose Pod has that one.
fn cron_job(job: &str, pod: &str) -> String {
    let source = Arc::new(SourceKey {
        scope: Scope::Namespace("shop".into()),
        ..SourceKey::all("", "Pod")
    });
    let mut model = model(RETENTION, &[&source]);
    let object = |kind: &str, owner: &str, rest: &str| {
        version(&format!(
            r#"{{"apiVersion":"batch/v1","kind":"{kind}","metadata":{{"uid":"{kind}","name":"{}","namespace":"shop",
                    "creationTimestamp":"2026-05-04T11:59:50Z","ownerReferences":[{{"uid":"{owner}","controller":true}}]}}{rest}}}"#,
            kind.to_lowercase()
        ))
    };
    let pod = object("Pod", "Job", pod);
    for object in [
        object("CronJob", "", r#","spec":{"schedule":"@yearly"}"#),
        object("Job", "CronJob", job),
        version(&pod.body.text().replace("batch/v1", "v1")),
    ] {
        model.apply(&source, &event(Why::Listed, object), at(0));
    }
    model.refresh(at(0));
    let assessment = &model
        .object(&Uid::new("CronJob"))
        .expect("it is there")
        .assessment;
    format!("{}: {}", assessment.status(), assessment.reason())
}

#[test]
fn the_newest_run_decides_the_state_of_a_cron_job() {
    let failed = r#","status":{"conditions":[{"type":"Failed","status":"True","reason":"BackoffLimitExceeded","message":"too many"}]}"#;
    let pending = r#","status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"no node"}]}"#;
    for (job, pod, expect) in [
        (
            failed,
            "",
            "Failed: its last run job/job failed: BackoffLimitExceeded: too many",
        ),
        // It is starting.
        (
            "",
            pending,
            "Current: has not started a Job yet (schedule @yearly)",
        ),
    ] {
        assert_eq!(cron_job(job, pod), expect);
    }
}

#[test]
fn a_workload_of_a_custom_resource_says_what_its_pods_do() {
    let tenant =
        "{apiVersion: acme.io/v1, kind: Tenant, metadata: {name: acme, namespace: shop, uid: t}}";
    let set = "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: shop, uid: s, ownerReferences: [{apiVersion: acme.io/v1, kind: Tenant, name: acme, uid: t, controller: true}]}, spec: {replicas: 1}}";
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: db-0, namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, uid: s, controller: true}]}, status: {phase: Running, containerStatuses: [{name: db, restartCount: 3, state: {waiting: {reason: CrashLoopBackOff}}}]}}";
    let read = Read::of(&[tenant, set, pod].join("\n---\n"));
    let state = read.state("s");
    assert!(
        state.contains("0 of 1 pods ready: 1 CrashLoopBackOff"),
        "{state}"
    );
}

/// A ready custom resource with these owners, or one that has failed.
fn custom(number: usize, owners: &[usize], is_failed: bool) -> Arc<Version> {
    let owners: Vec<String> = owners
        .iter()
        .map(|of| format!(r#"{{"uid":"f{of}"}}"#))
        .collect();
    let (owners, failed) = (owners.join(","), if is_failed { "True" } else { "False" });
    version(&format!(
        r#"{{"apiVersion":"example.com/v1","kind":"Foo","metadata":{{"uid":"f{number}","name":"f{number}","namespace":"shop","ownerReferences":[{owners}]}},
            "status":{{"conditions":[{{"type":"Stalled","status":"{failed}","reason":"Broken","message":"it broke"}}]}}}}"#
    ))
}

/// A model of these custom resources, of which the last one has failed.
fn customs(owners: impl Iterator<Item = Vec<usize>>) -> crate::model::Model {
    let source = Arc::new(SourceKey::all("", "Pod"));
    let mut model = model(RETENTION, &[&source]);
    let owners: Vec<Vec<usize>> = owners.collect();
    for (number, of) in owners.iter().enumerate() {
        let object = custom(number, of, number + 1 == owners.len());
        model.apply(&source, &event(Why::Listed, object), at(0));
    }
    model.refresh(at(0));
    model
}

/// The work and the memory grow with the number of objects and owners, and not with its square.
#[test]
fn the_end_of_a_long_chain_decides_the_state_of_its_start() {
    let model = customs((0..3_000).map(|of| if of == 0 { vec![] } else { vec![of - 1] }));
    let state = |of: &str| model.object(&Uid::new(of)).expect("it is there");
    let above_the_end = state("f2998").assessment.reason();
    assert_eq!(above_the_end, "foo/f2999: Broken: it broke");
    let start = state("f0");
    assert_eq!(start.worst, Some(Status::Failed));
    let reason = start.assessment.reason();
    assert!(reason.starts_with("foo/f1: foo/f2: "), "{reason}");
    assert!(reason.ends_with("foo/f2999: Broken: it broke"), "{reason}");
    let texts = model
        .objects()
        .map(|(_, object)| object.assessment.reason().len());
    assert!(texts.max() < Some(1_100));
    let parts = format!(
        "{:?}",
        crate::model::Outlook::of(model.around(), &Uid::new("f0"))
    );
    assert!(parts.contains("it broke"), "{parts}");
}

#[test]
fn objects_that_own_each_other_have_one_state_below() {
    let ring = customs((0..3_000).map(|of| vec![(of + 2_999) % 3_000]));
    let clique = customs((0..60).map(|of| (0..60).filter(|other| *other != of).collect()));
    for model in [ring, clique] {
        let mut objects = model.objects();
        assert!(objects.all(|(_, object)| object.worst == Some(Status::Failed)));
    }
}
