//! Tests of the program with a hostile server.

mod answers;
mod logs;
mod streams;

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::Ran;
use crate::support::hostile::{Answer, Hostile};

#[test]
fn an_answer_that_is_not_json_is_an_error() {
    let hostile = Hostile::start(|_| Answer::json(200, "<html>"));
    let ran = hostile
        .spy()
        .run(&["changes", "pod/web", "--once", "--since", "0"]);
    assert!(!ran.status.success());
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("not a list"), "{}", ran.stderr);
    assert!(!hostile.targets().is_empty());
}

#[test]
fn an_invalid_watch_keeps_the_listed_objects() {
    let hostile = Hostile::start(|target| {
        if target.contains("watch=true") {
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

/// Runs the program against a server whose lists never end. `page` makes a page from the number of its
/// request.
fn endless(args: &[&str], page: impl Fn(usize) -> String + Send + Sync + 'static) -> (Ran, usize) {
    let asked = AtomicUsize::new(0);
    let hostile = Hostile::start(move |_| {
        let nth = asked.fetch_add(1, Ordering::Relaxed);
        Answer::json(200, &page(nth))
    });
    let ran = hostile.spy().run(args);
    (ran, hostile.targets().len())
}

fn page(token: &str, items: &str) -> String {
    let meta = format!(r#"{{"resourceVersion":"7","continue":"{token}"}}"#);
    format!(r#"{{"kind":"PodList","apiVersion":"v1","metadata":{meta},"items":[{items}]}}"#)
}

fn pod_of(nth: usize) -> String {
    format!(
        r#"{{"metadata":{{"name":"p{nth}","namespace":"shop","uid":"u{nth}","resourceVersion":"5"}}}}"#
    )
}

#[test]
fn a_repeated_continue_token_ends_the_list() {
    for args in [
        &["changes", "pods", "--since", "0"][..],
        &["changes", "pods", "--since", "0", "--once"],
        &["status", "pods"],
    ] {
        let (ran, requests) = endless(args, |nth| page("same", &pod_of(nth)));
        assert_eq!(ran.status.code(), Some(1), "{args:?}");
        assert_eq!(ran.stdout, "", "{args:?}");
        assert_eq!(
            ran.stderr, "error: pods: the server's list has no end: a continue token came twice\n",
            "{args:?}"
        );
        assert!(requests < 10, "{requests}");
    }
}

#[test]
fn empty_pages_do_not_continue_forever() {
    let args = ["changes", "pods", "--since", "0", "--exit-code"];
    let (ran, requests) = endless(&args, |nth| page(&nth.to_string(), ""));
    assert_eq!(ran.status.code(), Some(4));
    assert_eq!(
        ran.stderr,
        "error: pods: the server's list has no end: 1000 pages in a row held no objects\n"
    );
    assert!(requests < 1010, "{requests}");
}
