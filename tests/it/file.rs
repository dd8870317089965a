//! `--from`: files in place of a cluster.

use std::fmt::Write;

use serde_json::Value;

use super::support::Spy;

/// As `kubectl get -w --output-watch-events -o json` prints it: one object, this many versions.
fn recorded(versions: u32) -> String {
    (1..=versions).fold(String::new(), |mut text, version| {
        let kind = if version == 1 { "ADDED" } else { "MODIFIED" };
        writeln!(
            text,
            r#"{{"type":"{kind}","object":{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"a","namespace":"shop","uid":"u1","resourceVersion":"{version}"}},"data":{{"n":"{version}"}}}}}}"#
        )
        .unwrap();
        text
    })
}

fn file(name: &str, text: &str) -> String {
    let path = format!("{}/{name}", env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn each_version_of_a_recorded_watch_is_shown_once_and_in_order() {
    let path = file("recorded.json", &recorded(3000));
    for _ in 0..3 {
        let ran = Spy::alone().run(&["changes", "-o", "json", "--from", &path]);
        let versions = ran.stdout.lines().filter_map(|line| {
            let record: Value = serde_json::from_str(line).unwrap();
            record["to"].as_str()?.parse::<u32>().ok()
        });
        assert_eq!(versions.collect::<Vec<_>>(), (1..=3000).collect::<Vec<_>>());
    }
}

#[test]
fn what_is_no_object_is_named_with_its_line() {
    let path = file(
        "broken.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\nnonsense\n",
    );
    let ran = Spy::alone().run(&["changes", "--from", &path]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(ran.stderr.contains("broken.yaml: line 5"), "{}", ran.stderr);
    let ran = Spy::alone().run(&["status", "--once", "--from", "/does/not/exist"]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(
        ran.stderr
            .contains("the path \"/does/not/exist\" does not exist"),
        "{}",
        ran.stderr
    );
}
