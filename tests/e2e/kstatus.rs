//! Compares `status --rules kstatus` with the reference implementation, object by object.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::support::Spy;

const OBJECTS: &str = "12000";
const SEED: &str = "20";

/// Builds the reference. Go's build cache makes later calls fast.
fn reference() -> PathBuf {
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/kstatus");
    let binary = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kstatus");
    let mut go = Command::new("go");
    go.current_dir(module)
        .env("CGO_ENABLED", "0")
        .args(["build", "-o"])
        .arg(&binary)
        .arg(".");
    let built = go
        .status()
        .expect("the Go toolchain is needed: install Go 1.26 or newer");
    assert!(built.success(), "go build failed; its output is above");
    binary
}

fn run(command: &mut Command, stdin: &str) -> String {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut input, text) = (child.stdin.take().unwrap(), stdin.to_owned());
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

/// The part of a verdict on which both must agree. An error or a panic of the reference counts as `Unknown`
/// with an error.
fn comparable(verdict: &Value) -> Value {
    if verdict.get("error").is_some() {
        return json!({ "status": "Unknown", "error": true });
    }
    json!({
        "status": verdict["status"],
        "message": verdict["message"],
        "conditions": verdict["conditions"],
    })
}

/// The one known difference: a suspended Job is Current, as in the reference after v0.37.2.
fn is_suspended_job(verdict: &Value) -> bool {
    verdict["message"] == "Job is suspended"
}

#[test]
fn every_generated_object_gets_the_status_of_the_reference() {
    let reference = reference();
    let objects = run(
        Command::new(&reference).args(["generate", OBJECTS, SEED]),
        "",
    );
    let theirs = run(Command::new(&reference).arg("compute"), &objects);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kstatus-objects.json");
    std::fs::write(&file, &objects).unwrap();
    let args = [
        "status",
        "--once",
        "--rules",
        "kstatus",
        "-o",
        "json",
        // Long after all times in the objects.
        "--now",
        "2099-01-01T00:00:00Z",
        "--from",
        file.to_str().unwrap(),
    ];
    let ours = Spy::alone().run(&args);
    // Some objects have no readable status. The program reports them as errors, after all lines.
    assert_eq!(ours.status.code(), Some(1), "{}", ours.stderr);
    assert!(ours.stderr.starts_with("error: "), "{}", ours.stderr);

    let parse = |line: &str| -> Value { serde_json::from_str(line).unwrap() };
    let ours: Vec<Value> = ours.stdout.lines().map(parse).collect();
    let by_uid: HashMap<&str, &Value> = ours
        .iter()
        .filter_map(|line| Some((line["ref"]["uid"].as_str()?, line)))
        .collect();
    let (mut compared, mut suspended, mut refused) = (0, 0, 0);
    for (object, theirs) in objects.lines().map(parse).zip(theirs.lines().map(parse)) {
        let Some(uid) = object["metadata"]["uid"].as_str() else {
            continue;
        };
        match by_uid.get(uid) {
            Some(ours) if is_suspended_job(ours) => suspended += 1,
            Some(ours) => {
                compared += 1;
                assert_eq!(comparable(ours), comparable(&theirs), "{object}");
            }
            // The error names it. A document without a type is no object, for kubectl and for the program.
            None => {
                let is_text = |field: &str| object[field].as_str().is_some_and(|it| !it.is_empty());
                let has_type = is_text("apiVersion") && is_text("kind");
                assert!(!has_type || theirs.get("error").is_some(), "{object}");
                refused += 1;
            }
        }
    }
    let all: usize = OBJECTS.parse().unwrap();
    assert!(
        compared > all * 9 / 10,
        "{compared} of {all}, {refused} refused"
    );
    assert!(
        suspended < compared / 50,
        "{suspended} suspended jobs of {compared}"
    );
}
