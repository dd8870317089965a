//! The program against a server that means it harm.

mod answers;
mod streams;

use crate::support::hostile::{Answer, Hostile};

#[test]
fn a_server_that_answers_no_json_is_an_error() {
    let hostile = Hostile::start(|_| Answer::json(200, "<html>"));
    let ran = hostile
        .spy()
        .run(&["changes", "pod/web", "--once", "--since", "0"]);
    assert!(!ran.status.success());
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("no list"), "{}", ran.stderr);
    assert!(!hostile.targets().is_empty());
}

#[test]
fn a_watch_that_is_no_watch_leaves_what_was_listed() {
    let hostile = Hostile::start(|target| {
        if target.contains("watch=1") {
            let lines = ["null", "[]", "{}"].map(Answer::piece);
            let head = std::iter::once(Answer::stream_head());
            Answer::Pieces(Box::new(head.chain(lines)))
        } else {
            Answer::json(
                200,
                r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},
                    "items":[{"metadata":{"name":"web","namespace":"shop","uid":"u","resourceVersion":"5"}}]}"#,
            )
        }
    });
    let mut running = hostile.spy().start(&["changes", "pod/web", "--since", "0"]);
    running.until("pod/web");
    running.interrupt();
}
