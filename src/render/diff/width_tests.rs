//! Tests of the paths view on narrow terminals: reasons, states and new values stay.

use super::tests::Setting;

/// The lines at several widths, each under its width.
fn at_widths(old: &str, new: &str) -> String {
    let at = |width: usize| {
        let setting = Setting {
            width: Some(width),
            ..Setting::default()
        };
        format!("{width}\n{}", setting.lines(old, new))
    };
    [120, 100, 80, 60].map(at).join("\n")
}

/// A Pod with one container in this state.
fn pod(state: &str, rest: &str) -> String {
    format!(
        r#"{{"kind":"Pod","status":{{"containerStatuses":[{{"name":"web","state":{state}{rest}}}]}}}}"#
    )
}

const RUNNING: &str = r#"{"running":{"startedAt":"2024-05-01T00:05:02Z"}}"#;

#[test]
fn the_new_state_of_a_container_stays() {
    let message = "back-off 5m0s restarting failed container=web pod=web-7c5ddbdf54-x2k9p_shop";
    let crashed = format!(r#"{{"waiting":{{"reason":"CrashLoopBackOff","message":"{message}"}}}}"#);
    let old = pod(RUNNING, r#","ready":true,"restartCount":1"#);
    let new = pod(&crashed, r#","ready":false,"restartCount":2"#);
    insta::assert_snapshot!(at_widths(&old, &new), @"
    120
    ~ .status.containerStatuses[name=web]
        ~ ready: true → false
        ~ restartCount: 1 → 2
        ~ state: running since 00:05:02 → waiting CrashLoopBackOff: back-off 5m0s restarting failed container=web pod=web-7…
    100
    ~ .status.containerStatuses[name=web]
        ~ ready: true → false
        ~ restartCount: 1 → 2
        ~ state: running since 00:05:02 → waiting CrashLoopBackOff: back-off 5m0s restarting failed con…
    80
    ~ .status.containerStatuses[name=web]
        ~ ready: true → false
        ~ restartCount: 1 → 2
        ~ state: running since 00:05:02 → waiting CrashLoopBackOff: back-off 5m0s r…
    60
    ~ .status.containerStatuses[name=web]
        ~ ready: true → false
        ~ restartCount: 1 → 2
        ~ state: running → waiting CrashLoopBackOff
    ");
    // Without other changes of the container, the line has its whole path.
    insta::assert_snapshot!(at_widths(&pod(RUNNING, ""), &pod(&crashed, "")), @"
    120
    ~ .status.containerStatuses[name=web].state: running since 00:05:02 → waiting CrashLoopBackOff: back-off 5m0s restartin…
    100
    ~ .status.containerStatuses[name=web].state: running since 00:05:02 → waiting CrashLoopBackOff
    80
    ~ .status.containerStatuses[name=web].state: running → waiting CrashLoopBackOff
    60
    ~ …ainerStatuses[name=web].state: → waiting CrashLoopBackOff
    ");
}

#[test]
fn the_reason_in_an_added_value_stays() {
    let waiting = r#"{"waiting":{"reason":"ErrImagePull","message":"rpc error: code = NotFound desc = failed to pull and unpack image"}}"#;
    let rest = r#","ready":false,"restartCount":0,"image":"shop/web:bad","imageID":"","started":false,"lastState":{}"#;
    insta::assert_snapshot!(at_widths(r#"{"kind":"Pod","status":{"phase":"Pending"}}"#, &pod(waiting, rest)), @"
    120
    + .status.containerStatuses: [{name: web, 7 more fields}] (waiting ErrImagePull)
    - .status.phase: Pending
    100
    + .status.containerStatuses: [{name: web, 7 more fields}] (waiting ErrImagePull)
    - .status.phase: Pending
    80
    + .status.containerStatuses: [{name: web, 7 more fields}] (waiting ErrImagePull)
    - .status.phase: Pending
    60
    + …containerStatuses: [{8 fields}] (waiting ErrImagePull)
    - .status.phase: Pending
    ");
    let unready = r#"{"kind":"Pod","status":{"phase":"Pending","conditions":[
        {"type":"PodScheduled","status":"True","lastTransitionTime":"2024-05-01T00:05:02Z"},
        {"type":"Ready","status":"False","reason":"ContainersNotReady","message":"containers with unready status: [web]"}]}}"#;
    insta::assert_snapshot!(at_widths(r#"{"kind":"Pod"}"#, unready), @"
    120
    + .status: {phase: Pending, conditions: [2 items]} (Ready False ContainersNotReady)
    100
    + .status: {phase: Pending, conditions: [2 items]} (Ready False ContainersNotReady)
    80
    + .status: {2 fields} (Ready False ContainersNotReady)
    60
    + .status: {2 fields} (Ready False ContainersNotReady)
    ");
}

#[test]
fn a_path_gives_way_to_the_values() {
    let deployment = |image: &str| {
        format!(
            r#"{{"kind":"Deployment","spec":{{"template":{{"spec":{{"containers":[{{"name":"web","image":"{image}"}}]}}}}}}}}"#
        )
    };
    let (old, new) = (
        deployment("registry.example.com/shop/web:2.4.1"),
        deployment("registry.example.com/shop/web:2.4.2"),
    );
    insta::assert_snapshot!(at_widths(&old, &new), @"
    120
    ~ …template.spec.containers[name=web].image: registry.example.com/shop/web:2.4.1 → registry.example.com/shop/web:2.4.2
    100
    ~ …spec.containers[name=web].image: …ry.example.com/shop/web:2.4.1 → …ry.example.com/shop/web:2.4.2
    80
    ~ …ontainers[name=web].image: …ple.com/shop/web:2.4.1 → …ple.com/shop/web:2.4.2
    60
    ~ …ers[name=web].image: ….com/shop/web:2.4.1 → ….com/shop/web:2.4.2
    ");
}

#[test]
fn the_only_field_of_an_added_object_is_cut_and_not_counted() {
    let object = |spec: &str| {
        format!(r#"{{"kind":"Deployment","spec":{{"template":{{"metadata":{{{spec}}}}}}}}}"#)
    };
    let new = r#""annotations":{"kubectl.kubernetes.io/restartedAt":"2026-11-23T10:43:23Z"}"#;
    insta::assert_snapshot!(at_widths(&object(r#""name":"x""#), &object(&format!(r#""name":"x",{new}"#))), @"
    120
    + .spec.template.metadata.annotations: {kubectl.kubernetes.io/restartedAt: 2026-11-23T10:43:23Z}
    100
    + .spec.template.metadata.annotations: {kubectl.kubernetes.io/restartedAt: 2026-11-23T10:43:23Z}
    80
    + …metadata.annotations: {kubectl.kubernetes.io/r…(+10 B): 2026-11-23T10:43:23Z}
    60
    + …annotations: {kubectl.kubernete…(+21 B)6-11-23T10:43:23Z}
    ");
}
