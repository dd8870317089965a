//! Tests of watches that are cut, repeated or out of order. Each version is printed once, and no change goes
//! backwards.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::support::hostile::{Answer, Hostile};

/// The newest version on the server.
const LAST: usize = 12;

/// The `ConfigMap` `flags` in this version.
fn flags(version: usize) -> String {
    format!(
        r#"{{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"name":"flags","namespace":"shop","uid":"u","resourceVersion":"{version}"}},"data":{{"version":"{version}"}}}}"#
    )
}

fn modified(version: usize) -> String {
    format!(r#"{{"type":"MODIFIED","object":{}}}"#, flags(version))
}

/// The listing at version 1. A list with `limit=1` asks for the server's newest resourceVersion.
fn listed(target: &str) -> Answer {
    let (version, item) = if target.split('&').any(|part| part == "limit=1") {
        (LAST, String::new())
    } else {
        (1, flags(1))
    };
    Answer::json(
        200,
        &format!(
            r#"{{"kind":"ConfigMapList","apiVersion":"v1","metadata":{{"resourceVersion":"{version}"}},"items":[{item}]}}"#
        ),
    )
}

/// The version that a watch starts after; `None` for a list.
fn watched_after(target: &str) -> Option<usize> {
    if !target.contains("watch=") {
        return None;
    }
    let (_, version) = target.split_once("resourceVersion=")?;
    version.split('&').next()?.parse().ok()
}

/// The changes up to version `last`, as `FROM→TO`.
fn changes(hostile: &Hostile, last: usize) -> String {
    let mut run = hostile
        .spy()
        .start(&["changes", "cm/flags", "--since=0", "-ojson"]);
    run.until(&format!(r#""to":"{last}""#));
    let ran = run.interrupt();
    let records = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let steps = records.filter_map(|record: Value| {
        let (from, to) = (record["from"].as_str()?, record["to"].as_str()?);
        Some(format!("{from}→{to}"))
    });
    steps.collect::<Vec<String>>().join(" ")
}

/// A watch of these lines that breaks after this many bytes.
fn cut(lines: &[String], bytes: usize) -> Answer {
    let text: Vec<u8> = lines
        .iter()
        .flat_map(|line| [line, "\n"])
        .flat_map(str::bytes)
        .collect();
    let pieces = text.into_iter().take(bytes);
    let pieces = pieces.map(|byte| [b"1\r\n", &[byte][..], b"\r\n"].concat());
    Answer::Pieces(Box::new(
        std::iter::once(Answer::stream_head()).chain(pieces),
    ))
}

#[test]
fn a_cut_stream_resumes_after_the_last_whole_line() {
    let watches = AtomicUsize::new(0);
    let hostile = Hostile::start(move |target| {
        let Some(after) = watched_after(target) else {
            return listed(target);
        };
        let lines: Vec<String> = (after + 1..=LAST).map(modified).collect();
        // Two lines, and a varying part of the third.
        let length = modified(9).len() + 1;
        let more =
            [0, 1, length / 2, length - 2, length - 1][watches.fetch_add(1, Ordering::SeqCst) % 5];
        cut(&lines, 2 * length + more)
    });
    assert_eq!(
        changes(&hostile, LAST),
        "1→2 2→3 3→4 4→5 5→6 6→7 7→8 8→9 9→10 10→11 11→12"
    );
}

#[test]
fn repeated_lines_are_printed_once() {
    let watches = AtomicUsize::new(1);
    let hostile = Hostile::start(move |target| {
        if watched_after(target).is_none() {
            return listed(target);
        }
        // All versions from the start, each line twice, whatever the request asks for.
        let last = 1 + 3 * watches.fetch_add(1, Ordering::SeqCst);
        let lines: Vec<String> = (1..=last)
            .flat_map(|version| [modified(version), modified(version)])
            .collect();
        cut(&lines, usize::MAX)
    });
    assert_eq!(
        changes(&hostile, 10),
        "1→2 2→3 3→4 4→5 5→6 6→7 7→8 8→9 9→10"
    );
}

#[test]
fn lines_out_of_order_never_print_a_step_back() {
    let hostile = Hostile::start(move |target| match watched_after(target) {
        None => listed(target),
        Some(_) => cut(&[2, 4, 3, 6, 5, 2, 7].map(modified), usize::MAX),
    });
    assert_eq!(changes(&hostile, 7), "1→2 2→4 4→6 6→7");
}
