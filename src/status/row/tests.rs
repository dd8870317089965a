//! kubectl's words for the states of a Pod.

use crate::object::Doc;

use super::*;

/// The cells of an object, as `READY WORD RESTARTS[@LAST]`.
fn cells(object: &str) -> String {
    let doc = Doc::parse(object).expect("a case is JSON");
    let row = Row::of(doc.root(), Status::InProgress);
    let mut line = format!("{} {}", row.ready.as_deref().unwrap_or("-"), row.word);
    if let Some(restarts) = row.restarts {
        line = format!("{line} {}", restarts.count);
        if let Some(last) = restarts.last {
            line = format!("{line}@{last}");
        }
    }
    line
}

/// A Pod with containers `a` and `b`, an init container `init` and a sidecar `side`.
fn check_pod(metadata: &str, status: &str, expect: &str) {
    let object = format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{{metadata}}},"spec":{{
            "initContainers":[{{"name":"init"}},{{"name":"side","restartPolicy":"Always"}}],
            "containers":[{{"name":"a"}},{{"name":"b"}}]}},"status":{{{status}}}}}"#
    );
    assert_eq!(cells(&object), expect, "{object}");
}

const STARTED: &str = r#""initContainerStatuses":[
    {"name":"init","restartCount":3,"state":{"terminated":{"exitCode":0,"reason":"Completed"}},
     "lastState":{"terminated":{"finishedAt":"2026-11-21T15:00:00Z"}}},
    {"name":"side","restartCount":1,"started":true,"ready":true,"state":{"running":{}},
     "lastState":{"terminated":{"finishedAt":"2026-11-21T12:00:00Z"}}}]"#;

#[test]
fn a_pod_by_its_phase() {
    for (metadata, status, expect) in [
        ("", "", "0/3 InProgress 0"),
        ("", r#""phase":"Pending""#, "0/3 Pending 0"),
        (
            "",
            r#""phase":"Failed","reason":"Evicted""#,
            "0/3 Evicted 0",
        ),
        (
            "",
            r#""phase":"Pending","reason":"Odd","conditions":[{"type":"PodScheduled","reason":"SchedulingGated"}]"#,
            "0/3 SchedulingGated 0",
        ),
        (
            r#""deletionTimestamp":"2026-11-21T12:00:00Z""#,
            r#""phase":"Running""#,
            "0/3 Terminating 0",
        ),
        (
            r#""deletionTimestamp":"2026-11-21T12:00:00Z""#,
            r#""phase":"Succeeded""#,
            "0/3 Succeeded 0",
        ),
        (
            r#""deletionTimestamp":"2026-11-21T12:00:00Z""#,
            r#""phase":"Running","reason":"NodeLost""#,
            "0/3 Unknown 0",
        ),
    ] {
        check_pod(metadata, status, expect);
    }
}

#[test]
fn a_pod_while_it_initializes() {
    let init = |state: &str| {
        format!(
            r#""phase":"Pending","initContainerStatuses":[{{"name":"init","restartCount":2,"state":{{{state}}},"lastState":{{"terminated":{{"finishedAt":"2026-11-21T12:00:00Z"}}}}}},
            {{"name":"side","restartCount":9,"state":{{"waiting":{{"reason":"PodInitializing"}}}}}}],
            "containerStatuses":[{{"name":"a","restartCount":7,"state":{{"waiting":{{"reason":"PodInitializing"}}}}}}]"#
        )
    };
    for (state, expect) in [
        (r#""running":{}"#, "0/3 Init:0/2 2@2026-11-21T12:00:00Z"),
        (
            r#""waiting":{"reason":"PodInitializing"}"#,
            "0/3 Init:0/2 2@2026-11-21T12:00:00Z",
        ),
        (
            r#""waiting":{"reason":"CrashLoopBackOff"}"#,
            "0/3 Init:CrashLoopBackOff 2@2026-11-21T12:00:00Z",
        ),
        (
            r#""terminated":{"exitCode":1,"reason":"Error"}"#,
            "0/3 Init:Error 2@2026-11-21T12:00:00Z",
        ),
        (
            r#""terminated":{"exitCode":3}"#,
            "0/3 Init:ExitCode:3 2@2026-11-21T12:00:00Z",
        ),
        (
            r#""terminated":{"exitCode":137,"signal":9}"#,
            "0/3 Init:Signal:9 2@2026-11-21T12:00:00Z",
        ),
        (
            r#""terminated":{"exitCode":0}"#,
            "0/3 Init:1/2 11@2026-11-21T12:00:00Z",
        ),
    ] {
        check_pod("", &init(state), expect);
    }
    let initialized = format!(
        r#"{},"conditions":[{{"type":"Initialized","status":"True"}}]"#,
        init(r#""running":{}"#)
    );
    check_pod("", &initialized, "0/3 PodInitializing 7");
}

/// The status of a Pod whose containers are in these states and whose init containers are done.
fn running(a: &str, b: &str, ready: &str) -> String {
    format!(
        r#""phase":"Running",{STARTED},"conditions":[{{"type":"Ready","status":"{ready}"}}],
            "containerStatuses":[{{"name":"a","restartCount":5,"ready":true,"state":{{{a}}},"lastState":{{"terminated":{{"finishedAt":"2026-11-21T13:00:00Z"}}}}}},
            {{"name":"b","ready":true,"state":{{{b}}}}}]"#
    )
}

#[test]
fn a_pod_while_it_runs() {
    let run = r#""running":{}"#;
    for (a, b, ready, expect) in [
        (run, run, "True", "3/3 Running 6@2026-11-21T13:00:00Z"),
        (
            r#""waiting":{"reason":"ImagePullBackOff"}"#,
            run,
            "False",
            "2/3 ImagePullBackOff 6@2026-11-21T13:00:00Z",
        ),
        (
            r#""waiting":{"reason":"ErrImagePull"}"#,
            r#""terminated":{"exitCode":137,"reason":"OOMKilled"}"#,
            "False",
            "1/3 ErrImagePull 6@2026-11-21T13:00:00Z",
        ),
        (
            run,
            r#""terminated":{"exitCode":137,"reason":"OOMKilled"}"#,
            "False",
            "2/3 OOMKilled 6@2026-11-21T13:00:00Z",
        ),
        (
            run,
            r#""terminated":{"exitCode":2}"#,
            "False",
            "2/3 ExitCode:2 6@2026-11-21T13:00:00Z",
        ),
        (
            r#""terminated":{"exitCode":0,"reason":"Completed"}"#,
            run,
            "True",
            "2/3 Running 6@2026-11-21T13:00:00Z",
        ),
        (
            r#""terminated":{"exitCode":0,"reason":"Completed"}"#,
            run,
            "False",
            "2/3 NotReady 6@2026-11-21T13:00:00Z",
        ),
        (
            r#""terminated":{"exitCode":0,"reason":"Completed"}"#,
            r#""waiting":{}"#,
            "False",
            "1/3 Completed 6@2026-11-21T13:00:00Z",
        ),
        (
            r#""terminated":{"exitCode":0,"reason":"Completed"}"#,
            r#""terminated":{"exitCode":3}"#,
            "False",
            "1/3 ExitCode:3 6@2026-11-21T13:00:00Z",
        ),
    ] {
        check_pod("", &running(a, b, ready), expect);
    }
}

#[test]
fn other_kinds() {
    let check = |kind: &str, fields: &str, expect: &str| {
        let (version, kind) = kind.rsplit_once('/').expect("VERSION/KIND");
        let object = format!(r#"{{"apiVersion":"{version}","kind":"{kind}",{fields}}}"#);
        assert_eq!(cells(&object), expect, "{object}");
    };
    let condition =
        |kind: &str| format!(r#""status":{{"conditions":[{{"type":"{kind}","status":"True"}}]}}"#);
    let leaving = r#""metadata":{"deletionTimestamp":"2026-11-21T12:00:00Z"}"#;
    for (kind, fields, expect) in [
        (
            "apps/v1/Deployment",
            r#""spec":{"replicas":3},"status":{"readyReplicas":2}"#,
            "2/3 InProgress",
        ),
        ("apps/v1/StatefulSet", r#""status":{}"#, "0/1 InProgress"),
        (
            "apps/v1/DaemonSet",
            r#""status":{"numberReady":1,"desiredNumberScheduled":4}"#,
            "1/4 InProgress",
        ),
        (
            "batch/v1/Job",
            r#""spec":{"completions":3},"status":{"succeeded":1}"#,
            "1/3 Running",
        ),
        (
            "batch/v1/Job",
            r#""spec":{"parallelism":4}"#,
            "0/1 of 4 Running",
        ),
        ("batch/v1/Job", &condition("Complete"), "0/1 Complete"),
        ("batch/v1/Job", &condition("Failed"), "0/1 Failed"),
        (
            "batch/v1/Job",
            &condition("SuccessCriteriaMet"),
            "0/1 SuccessCriteriaMet",
        ),
        ("batch/v1/Job", &condition("Suspended"), "0/1 Suspended"),
        ("batch/v1/Job", leaving, "0/1 Terminating"),
        (
            "v1/PersistentVolumeClaim",
            r#""status":{"phase":"Bound"}"#,
            "- Bound",
        ),
        ("v1/PersistentVolume", leaving, "- Terminating"),
        ("v1/Namespace", r#""status":{"phase":"Active"}"#, "- Active"),
        (
            "v1/Node",
            r#""spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}"#,
            "- NotReady,SchedulingDisabled",
        ),
        ("v1/Node", &condition("Ready"), "- Ready"),
        ("v1/Node", r#""status":{}"#, "- Unknown"),
        ("example.com/v1/Pod", r#""status":{}"#, "- InProgress"),
    ] {
        check(kind, fields, expect);
    }
}
