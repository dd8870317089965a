//! Tests of a standard output that is full, not writable, or has a reader that does not read.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::Stdio;

use serde_json::json;

use super::support::Spy;
use super::support::cluster::{Cluster, config_map, deployment};

/// The exit code and the stderr of a run with this standard output.
fn written_to(stdout: File, args: &[&str]) -> (Option<i32>, String) {
    let mut child = Spy::alone().spawn_to(Stdio::from(stdout), args);
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    (child.wait().unwrap().code(), stderr)
}

#[cfg(target_os = "linux")]
#[test]
fn a_failed_write_to_stdout_is_an_error() {
    let full = || OpenOptions::new().write(true).open("/dev/full").unwrap();
    let read_only = || File::open("/dev/null").unwrap();
    let file = concat!(env!("CARGO_TARGET_TMPDIR"), "/output.json");
    let object = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}"#;
    std::fs::write(file, object).unwrap();
    let changes = ["changes", "--from", file];
    let by_code = ["changes", "--from", file, "--exit-code"];
    for (args, code) in [
        (&changes[..], 1),
        (&by_code, 4),
        (&["status", "--from", file], 1),
        (&["options"], 1),
        (&["--help"], 1),
        (&["changes", "--help"], 1),
        (&["completion", "bash"], 1),
    ] {
        assert_eq!(
            written_to(full(), args),
            (
                Some(code),
                "error: write /dev/stdout: No space left on device\n".to_owned()
            ),
            "{args:?}"
        );
        assert_eq!(
            written_to(read_only(), args),
            (
                Some(code),
                "error: write /dev/stdout: Bad file descriptor\n".to_owned()
            ),
            "{args:?}"
        );
    }
}

/// The exit code and stderr of a run whose reader has closed the pipe before it starts.
fn unread(spy: &Spy, args: &[&str]) -> (Option<i32>, String) {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut child = spy.spawn_to(Stdio::from(writer), args);
    let mut stderr = String::new();
    let mut printed = child.stderr.take().unwrap();
    printed.read_to_string(&mut stderr).unwrap();
    (child.wait().unwrap().code(), stderr)
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::too_many_lines, reason = "a table of commands")]
async fn a_closed_pipe_does_not_change_the_answer() {
    let cluster = Cluster::start().await;
    let mut failed = deployment("web", 1);
    let stuck =
        json!({"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"});
    failed["status"] = json!({"observedGeneration": 1, "conditions": [stuck]});
    cluster.put(failed);
    cluster.put(config_map("flags", &json!({})));
    for (args, code) in [
        (&["status", "deploy/web", "--for=current"][..], 2),
        (&["status", "deploy/web", "--for=current", "--once"], 2),
        (&["status", "deploy/web", "--once", "--exit-code"], 1),
        (
            &["status", "deploy", "--once", "--exit-code", "-o", "json"],
            1,
        ),
        (
            &["status", "cm/flags", "--once", "--exit-code", "-o", "yaml"],
            0,
        ),
        (&["trace", "deploy/web", "--once", "--exit-code"], 1),
        (&["trace", "deploy/web", "--for=current", "-o", "json"], 2),
        (&["trace", "deploy/web", "--exit-code", "-o", "dot"], 1),
        (&["changes", "deploy/web", "--for=current"], 2),
        (
            &[
                "changes",
                "deploy/web",
                "--for=delete",
                "--timeout=2s",
                "-o",
                "json",
            ],
            3,
        ),
        (
            &[
                "changes",
                "deploy/web",
                "--since=all",
                "--once",
                "--exit-code",
            ],
            1,
        ),
        (
            &[
                "changes",
                "cm/flags",
                "--exit-code",
                "--timeout=2s",
                "-o",
                "yaml",
            ],
            0,
        ),
        // Without a check, nobody wants the answer.
        (&["status", "deploy/web"], 0),
        (&["changes", "deploy/web", "-o", "json"], 0),
        (&["trace", "deploy/web"], 0),
    ] {
        let (found, stderr) = unread(&cluster.spy(), args);
        assert_eq!(found, Some(code), "{args:?}: {stderr}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_standard_error_does_not_change_the_answer() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({})));
    for (args, code) in [
        (
            &["status", "cm/none", "--for=create", "--timeout=2s", "-v=6"][..],
            3,
        ),
        (&["changes", "cm/flags", "--for=create", "-v=6"], 0),
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let other = writer.try_clone().unwrap();
        let mut child = cluster
            .spy()
            .spawn_to_both(Stdio::from(writer), Stdio::from(other), args);
        assert_eq!(child.wait().unwrap().code(), Some(code), "{args:?}");
    }
}

#[test]
fn a_closed_pipe_does_not_change_the_answer_about_a_file() {
    let file = concat!(env!("CARGO_TARGET_TMPDIR"), "/unread.yaml");
    let deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, generation: 1}, spec: {replicas: 1}}";
    std::fs::write(file, format!("---\n{deployment}\n")).unwrap();
    let args = ["status", "--once", "--exit-code", "--from", file];
    assert_eq!(unread(&Spy::alone(), &args).0, Some(1));
    assert_eq!(unread(&Spy::alone(), &args[..2]).0, Some(1), "no cluster");
    let args = ["status", "--once", "--from", file];
    assert_eq!(unread(&Spy::alone(), &args).0, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_does_not_read_cannot_delay_the_timeout() {
    let cluster = Cluster::start().await;
    // The records of these objects exceed the buffer of a pipe.
    for nth in 0..1000 {
        cluster.put(config_map(&format!("flags-{nth}"), &json!({})));
    }
    for (args, code) in [
        (
            &["changes", "cm", "-o", "json", "--since=0", "--timeout=5s"][..],
            0,
        ),
        (
            &[
                "changes",
                "cm",
                "-o",
                "json",
                "--since=0",
                "--timeout=5s",
                "--for=delete",
            ],
            3,
        ),
        (
            &["status", "cm", "-o", "json", "--timeout=5s", "--for=delete"],
            3,
        ),
    ] {
        let mut child = cluster.spy().spawn(args);
        // The pipe is open, but has no reader.
        assert_eq!(child.wait().unwrap().code(), Some(code), "{args:?}");
        let mut piped = Vec::new();
        child
            .stdout
            .take()
            .unwrap()
            .read_to_end(&mut piped)
            .unwrap();
    }
}
