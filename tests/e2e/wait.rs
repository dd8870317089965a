//! Compares `--for` with `kubectl wait` on the same objects at the same time: both end with the same text.

use std::process::{Command, Output};

use super::controlplane::{ControlPlane, kubectl};
use super::support::Spy;

const WEB: &str = r#"
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: "web:1"}]
"#;

const JOB: &str = r#"
apiVersion: batch/v1
kind: Job
metadata: {name: load}
spec:
  activeDeadlineSeconds: 1
  template:
    spec:
      restartPolicy: Never
      nodeSelector: {no: node}
      containers: [{name: load, image: "load:1"}]
"#;

fn kubectl_wait(plane: &ControlPlane, args: &[&str]) -> Output {
    let mut command = Command::new(kubectl());
    command.arg("wait").args(args);
    let home = env!("CARGO_TARGET_TMPDIR");
    let command = command.env_clear().env("KUBECONFIG", plane.admin());
    command.env("HOME", home).output().unwrap()
}

/// Both streams of kubectl: the objects that met the condition, and errors.
fn both_streams(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr].concat();
    sorted(&String::from_utf8(text).unwrap())
}

fn sorted(text: &str) -> String {
    let mut lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("hint:"))
        .collect();
    lines.sort_unstable();
    lines.join("\n")
}

#[test]
fn it_prints_what_kubectl_wait_prints() {
    let plane = ControlPlane::start("ends");
    let spy = Spy::with_kubeconfig(plane.admin());
    let both = [
        "deploy/web",
        "--for=create",
        "--for=condition=Available",
        "--timeout=60s",
    ];
    let mut waiting = spy.start(&[&["changes"], &both[..]].concat());
    waiting.until("waiting for");
    plane.apply(WEB);
    assert_eq!(waiting.finish().status.code(), Some(0));
    assert!(kubectl_wait(&plane, &both).status.success());

    for (args, code) in [
        (&["deploy/web", "--for=condition=available"][..], 0),
        (
            &["deploy/web", "--for=jsonpath={.status.readyReplicas}=2"],
            0,
        ),
        (&["pods", "-l", "app=web", "--for=condition=Ready"], 0),
        (&["deploy/web", "--for=condition=Nope", "--timeout=2s"], 3),
        (
            &[
                "deploy/web",
                "--for=jsonpath={.spec.replicas}=7",
                "--timeout=0",
            ],
            3,
        ),
        (&["deploy/none", "--for=delete"], 0),
        (
            &["deploy/none", "--for=condition=Available", "--timeout=0"],
            1,
        ),
    ] {
        let theirs = kubectl_wait(&plane, args);
        assert_eq!(theirs.status.success(), code == 0, "{args:?}");
        for verb in ["changes", "status"] {
            let ours = spy.run(&[&[verb], args].concat());
            assert_eq!(
                ours.status.code(),
                Some(code),
                "{verb} {args:?}: {}",
                ours.stderr
            );
            assert_eq!(
                sorted(&ours.stderr),
                both_streams(&theirs),
                "{verb} {args:?}"
            );
        }
    }
}

#[test]
fn a_failure_and_a_deletion_end_it() {
    let plane = ControlPlane::start("fails");
    let spy = Spy::with_kubeconfig(plane.admin());
    plane.apply(JOB);
    let ran = spy.run(&[
        "changes",
        "job/load",
        "--for=condition=Complete",
        "--timeout=60s",
    ]);
    assert_eq!(ran.status.code(), Some(2), "{}", ran.transcript());
    assert!(
        ran.stderr.contains("error: job.batch/load has failed: "),
        "{}",
        ran.stderr
    );
    plane.apply(WEB);
    let mut deleted = spy.start(&["changes", "deploy/web", "--for=delete"]);
    let mut missed = spy.start(&["status", "deploy/web", "--for=condition=Nope"]);
    deleted.until("EXISTING");
    missed.until("deployment/web");
    plane.kubectl(&["delete", "deploy/web"]);
    let (deleted, missed) = (deleted.finish(), missed.finish());
    assert_eq!(deleted.status.code(), Some(0), "{}", deleted.transcript());
    assert_eq!(missed.status.code(), Some(2), "{}", missed.transcript());
}
