//! Tests of a standard output that is full, not writable, or has a reader that does not read.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::Stdio;

use serde_json::json;

use super::support::Spy;
use super::support::cluster::{Cluster, config_map};

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

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_does_not_read_cannot_delay_the_timeout() {
    let cluster = Cluster::start().await;
    // The records of these objects exceed the buffer of a pipe.
    for nth in 0..1000 {
        cluster.put(config_map(&format!("flags-{nth}"), &json!({})));
    }
    for (args, code) in [
        (
            &["changes", "cm", "-o", "json", "--since=0", "--timeout=1s"][..],
            0,
        ),
        (
            &[
                "changes",
                "cm",
                "-o",
                "json",
                "--since=0",
                "--timeout=1s",
                "--for=delete",
            ],
            3,
        ),
        (
            &["status", "cm", "-o", "json", "--timeout=1s", "--for=delete"],
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
