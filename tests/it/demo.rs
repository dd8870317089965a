//! Tests of `demo`: each verb watches the scenarios from start to end.

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;

use super::support::Spy;

/// Plays a scenario as fast as possible. It must end by itself, with success.
fn played(args: &[&str]) -> String {
    let ran = Spy::alone().run(&[&["demo", "--speed", "20"], args].concat());
    assert_eq!(ran.status.code(), Some(0), "{}", ran.stderr);
    assert_eq!(ran.stderr, "");
    ran.stdout
}

#[test]
fn the_rollout_fails_is_diagnosed_and_fixed() {
    let status = played(&[]);
    let pull = |line: &&str| line.contains("ImagePullBackOff") && line.contains("web:v2.4.1-rc1");
    assert!(status.lines().any(|line| pull(&line)), "{status}");
    let last = status
        .lines()
        .rfind(|line| line.contains("deployment/web"))
        .unwrap();
    assert!(last.contains("Current 3/3"), "{status}");
}

#[test]
fn each_verb_can_watch_it() {
    let changes = played(&["rollout", "changes"]);
    assert!(changes.contains("by kubectl-set"), "{changes}");
    assert!(changes.contains("web:v2.4.1-rc1"), "{changes}");
    let service = played(&["rollout", "trace"]);
    assert!(service.contains("pod/web-"), "{service}");
    let rollout = played(&["rollout", "trace", "deploy/web"]);
    assert!(rollout.contains("complete"), "{rollout}");
}

#[test]
fn the_configuration_is_edited_and_the_secret_stays_hidden() {
    let changes = played(&["config"]);
    assert!(
        changes.contains("MODIFIED secret/db") && changes.contains("<secret 13 B #2>"),
        "{changes}"
    );
    assert!(changes.contains("RECREATED configmap/flags"), "{changes}");
    assert!(
        !changes.contains("c3dvcmRmaXNo") && !changes.contains("swordfish"),
        "{changes}"
    );
}

#[test]
fn the_logs_show_why_a_program_crashes() {
    let ran = Spy::alone().run(&["demo", "--speed", "4", "crash"]);
    assert_eq!(ran.status.code(), Some(0), "{}", ran.stderr);
    // Two instances end before the fix, and the lines of each are whole.
    let starts = ran.stdout.matches("starting v2.4.2").count();
    let panics = ran
        .stdout
        .matches("panic: open /etc/web/config.yaml")
        .count();
    let traces = ran.stdout.matches("/src/main.go:41 +0x1d").count();
    assert!(
        starts >= 2 && starts == panics && panics == traces,
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("starting v2.4.3"), "{}", ran.stdout);
    for words in [": exit 2", ": restart 1"] {
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
    assert!(!ran.stderr.contains('!'), "{}", ran.stderr);
    let status = played(&["crash", "status"]);
    assert!(status.contains("CrashLoopBackOff"), "{status}");
}

#[test]
fn the_record_shows_what_changed_in_the_night_and_is_removed() {
    let name = format!("demo-incident-{}", std::process::id());
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    let spy = || {
        let spy = Spy::alone().var("TMPDIR", folder.to_str().unwrap());
        spy.var("KUBECTL_SPY_NOW", "2026-03-02T10:00:00Z")
    };
    let told = spy().run(&["demo", "incident"]);
    assert_eq!(told.status.code(), Some(0), "{}", told.transcript());
    assert_snapshot!(told.transcript(), @r#"
    # Eight hours later, something is broken:
    $ kubectl spy status deploy/web --once
    NAME                               READY   STATUS             RESTARTS   AGE     NODE       IP
    ✗ deployment/web                   3/3     Failed             -          41d     -          -
    │ └ 0 of 3 new pods ready: 1 ImagePullBackOff
    │ └ changed 7h48m ago by nightly-deploy: containers[web].image: web:v2.3.9 → web:v2.5.0-nightly
    ├─✗ replicaset/web-7cb6799577 #2   0/1     Failed             -          7h48m   -          -
    │ └─✗ pod/web-7cb6799577-qxngm     0/1     ImagePullBackOff   0          7h48m   worker-1   10.244.0.14
    │     └ web: Back-off pulling image "registry.example.com/shop/web:v2.5.0-nightly": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "registry.example.com/shop/web:v2.5.0-nightly": failed to resolve reference "registry.example.com/shop/web:v2.5.0-nightly": registry.example.com/shop/web:v2.5.0-nightly: not found
    └─● replicaset/web-7f45f79f9d #1   3/3     Current            -          41d     -          -
      │ └ old revision, 3 replicas are still to be removed
      ├─● pod/web-7f45f79f9d-268rp     1/1     Running            0          41d     worker-1   10.244.0.13
      ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running            0          41d     worker-2   10.244.1.13
      └─● pod/web-7f45f79f9d-pkjqf     1/1     Running            0          41d     worker-3   10.244.2.13

    # The server has forgotten the night. The record has what people and their tools changed:
    $ kubectl spy changes --since 12h --people --once
    2026-03-02T02:10:00Z MODIFIED configmap/flags  32→33  7h50m ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.checkout-v2: "off" → "on"
    2026-03-02T02:12:00Z MODIFIED deployment/web  31→34  7h48m ago  by nightly-deploy  1 change, 3 hidden
    ~ .spec.template.spec.containers[name=web].image: registry.example.com/shop/web:v2.3.9 → registry.example.com/shop/web:v2.5.0-nightly
    ── 5 of 10 objects changed, in 5 kinds (20 hidden), back to 2026-03-02T02:10:00Z ──
    ── left out: kubelet 13, kube-controller-manager 6, kube-scheduler 1 · recorded since 2026-03-02T02:00:00Z ──
    ── complete since 2026-03-02T02:00:00Z · cluster-scoped kinds are not read: -A ──

    # Everything as it was before:
    $ kubectl spy status deploy/web --at 2026-03-02T02:05:00Z
    NAME                               READY   STATUS    RESTARTS   AGE   NODE       IP
    ● deployment/web                   3/3     Current   -          41d   -          -
    └─● replicaset/web-7f45f79f9d #1   3/3     Current   -          41d   -          -
      ├─● pod/web-7f45f79f9d-268rp     1/1     Running   0          41d   worker-1   10.244.0.13
      ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running   0          41d   worker-2   10.244.1.13
      └─● pod/web-7f45f79f9d-pkjqf     1/1     Running   0          41d   worker-3   10.244.2.13
    ! everything as it was recorded at 2026-03-02T02:05:00Z
    "#);
    let one = spy().run(&[
        "demo", "incident", "changes", "cm/flags", "--once", "-o", "short",
    ]);
    assert_snapshot!(one.transcript(), @r#"
    2026-03-02T02:10:00Z configmap/flags  kubectl-edit  checkout-v2: "off" → "on"
    ── 1 earlier version, back to 2026-03-02T02:10:00Z · recorded since 2026-03-02T02:00:00Z ──
    "#);
    let trace = spy().run(&["demo", "incident", "trace", "--at", "2026-03-02T02:05:00Z"]);
    assert!(trace.stdout.contains("complete"), "{}", trace.transcript());
    let left = fs::read_dir(&folder).unwrap().count();
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(left, 0);
}

#[test]
fn scenarios_are_listed_and_unknown_ones_refused() {
    let list = Spy::alone().run(&["demo", "--list"]).stdout;
    assert!(
        list.contains("rollout") && list.contains("config") && list.contains("crash"),
        "{list}"
    );
    let ran = Spy::alone().run(&["demo", "nonsense"]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(
        ran.stderr
            .contains("hint: use one of rollout, config, crash, incident"),
        "{}",
        ran.stderr
    );
}
