//! Tests of the paths of requests and the types of answers. No name may lead to another object, and no answer
//! of another type may be shown.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::support::Ran;
use super::support::cluster::Cluster;
use super::support::hostile::{Answer, Hostile};

/// The value of the Secret as it is stored.
const STORED: &str = "aHVudGVyMi1jb3JyZWN0LWhvcnNl";
/// The decoded value.
const CLEAR: &str = "hunter2-correct-horse";

/// A server with a Secret `s1`. It answers every list with the Secret, and every watch with `line`.
fn secretive(line: &'static str) -> Hostile {
    Hostile::start(move |target| {
        if target.contains("watch=true") {
            let head = std::iter::once(Answer::stream_head());
            return Answer::Pieces(Box::new(head.chain(std::iter::once(Answer::piece(line)))));
        }
        let body = json!({
            "kind": "SecretList", "apiVersion": "v1", "metadata": {"resourceVersion": "7"},
            "items": [{
                "metadata": {"name": "s1", "namespace": "sec", "uid": "u", "resourceVersion": "5"},
                "data": {"password": STORED},
            }],
        });
        Answer::json(200, &body.to_string())
    })
}

fn assert_hidden(ran: &Ran) {
    for secret in [STORED, CLEAR] {
        let shown = ran.transcript();
        assert!(!shown.contains(secret), "{secret} in\n{shown}");
    }
}

fn manifest(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("requests-{name}.yaml"));
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_manifest_cannot_choose_the_path_of_a_request() {
    let hostile = secretive("{}");
    let text =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s1, namespace: \"sec/secrets?x=\"}\n";
    let path = manifest("namespace", text);
    let path = path.to_str().unwrap();
    for verb in ["changes", "status"] {
        let ran = hostile.spy().run(&[verb, "-f", path, "--once"]);
        assert_hidden(&ran);
        assert_eq!(
            ran.stderr,
            format!(
                "error: {path}: line 1: invalid namespace \"sec/secrets?x=\": [may not contain '/']\n\
                 hint: correct metadata.name or metadata.namespace in the manifest\n"
            )
        );
        assert_eq!(ran.status.code(), Some(1));
    }
    assert_eq!(hostile.targets(), [""; 0], "nothing is asked");
}

#[test]
fn names_that_cannot_be_a_path_segment_get_kubectls_error() {
    let hostile = secretive("{}");
    let invalid = |what: &str, text: &str, problem: &str| {
        format!("error: invalid {what} \"{text}\": [may not {problem}]")
    };
    for (args, expect) in [
        (
            &["cm/s1", "-n", "sec/secrets?x="][..],
            invalid("namespace", "sec/secrets?x=", "contain '/'"),
        ),
        (
            &["cm/s1", "-n", ".."],
            invalid("namespace", "..", "be '..'"),
        ),
        (
            &["cm", "-n", "a%2fb"],
            invalid("namespace", "a%2fb", "contain '%'"),
        ),
        (
            &["cm", "x%y"],
            invalid("resource name", "x%y", "contain '%'"),
        ),
        (&["cm/.."], invalid("resource name", "..", "be '..'")),
        (
            &["v1", "ConfigMap", "../web"],
            invalid("namespace", "..", "be '..'"),
        ),
    ] {
        let ran = hostile.spy().run(&[&["changes", "--once"], args].concat());
        let line = ran.stderr.lines().next().unwrap_or_default();
        assert_eq!(line, expect);
        assert_eq!(ran.status.code(), Some(1));
    }
    assert_eq!(hostile.targets(), [""; 0], "nothing is asked");
}

#[test]
fn the_namespace_of_a_kubeconfig_is_refused_with_its_context() {
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "mine",
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
        "contexts": [{"name": "mine", "context": {"cluster": "c", "namespace": "a/b"}}],
    });
    let path = manifest("kubeconfig", &config.to_string());
    let spy = super::support::Spy::with_kubeconfig(path.to_str().unwrap());
    let ran = spy.run(&["changes", "cm/s1", "--once"]);
    assert_eq!(
        ran.stderr,
        "error: invalid namespace \"a/b\": [may not contain '/']\n\
         hint: correct the namespace of context \"mine\"; list the namespaces: `kubectl get namespaces`\n"
    );
}

/// All other characters of a name reach the server unchanged.
#[tokio::test(flavor = "multi_thread")]
async fn names_with_unusual_characters_stay_names() {
    let cluster = Cluster::start().await;
    let not_found = |args: &[&str]| {
        let ran = cluster.spy().run(&[&["changes", "--once"], args].concat());
        ran.stderr.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(
        not_found(&["cm/a b?c#é"]),
        "Error from server (NotFound): configmaps \"a b?c#é\" not found"
    );
    assert_eq!(
        not_found(&["cm/web", "-n", "n s?&"]),
        "Error from server (NotFound): namespaces \"n s?&\" not found"
    );
}

#[test]
fn a_list_of_another_type_is_an_error_and_not_shown() {
    let hostile = secretive("{}");
    for format in ["json", "yaml", "full", "diff"] {
        let ran = hostile.spy().run(&[
            "changes",
            "configmap/s1",
            "--since",
            "0",
            "-o",
            format,
            "--timeout",
            "1s",
        ]);
        assert_hidden(&ran);
    }
    let ran = hostile
        .spy()
        .run(&["changes", "configmap/s1", "--since", "0", "--once"]);
    let expect = "the server's answer is not a list of configmaps: it is of another type";
    assert!(ran.stderr.contains(expect), "{}", ran.stderr);
}

#[test]
fn a_watch_event_of_another_type_is_undecodable_and_not_shown() {
    const LINE: &str = r#"{"type":"ADDED","object":{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s1","namespace":"shop","uid":"u2","resourceVersion":"9"},"data":{"password":"aHVudGVyMi1jb3JyZWN0LWhvcnNl"}}}"#;
    let hostile = Hostile::start(|target| {
        if target.contains("watch=true") {
            let head = std::iter::once(Answer::stream_head());
            return Answer::Pieces(Box::new(head.chain(std::iter::once(Answer::piece(LINE)))));
        }
        Answer::json(
            200,
            r#"{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]}"#,
        )
    });
    let mut run = hostile
        .spy()
        .start(&["changes", "configmaps", "--since", "0", "-o", "json"]);
    run.until("an object of another type than v1 ConfigMap");
    assert_hidden(&run.interrupt());
}

/// A server that answers lists of Secrets with `list`, and watches with `line`.
fn of_secrets(list: &str, line: &'static str) -> Hostile {
    let list = list.to_owned();
    Hostile::start(move |target| {
        if target.contains("watch=true") {
            let head = std::iter::once(Answer::stream_head());
            return Answer::Pieces(Box::new(head.chain(std::iter::once(Answer::piece(line)))));
        }
        Answer::json(200, &list)
    })
}

fn secret_list(items: &str) -> String {
    format!(
        r#"{{"kind":"SecretList","apiVersion":"v1","metadata":{{"resourceVersion":"7"}},"items":[{items}]}}"#
    )
}

#[test]
fn an_unreadable_list_is_located_but_not_quoted() {
    let wrong = "a field is missing or of the wrong type";
    let good = r#"{"metadata":{"name":"a","namespace":"shop","uid":"u","resourceVersion":"5"}}"#;
    for (list, expect) in [
        (
            secret_list(&format!("{good},\"{CLEAR}\"")),
            format!("item 2 of the list of secrets: {wrong} (line 1, column 23)"),
        ),
        (
            secret_list(&format!(
                r#"{{"metadata":"{CLEAR}","data":{{"a":"{STORED}"}}}}"#
            )),
            format!("item 1 of the list of secrets: {wrong} (line 1, column 35)"),
        ),
        (
            format!("\"{CLEAR}\""),
            format!("the server's answer is not a list of secrets: {wrong} (line 1, column 23)"),
        ),
    ] {
        let hostile = of_secrets(&list, "{}");
        let ran = hostile
            .spy()
            .run(&["changes", "secrets", "--since", "0", "--once"]);
        assert_hidden(&ran);
        assert!(
            ran.stderr.contains(&expect),
            "{expect} in {}",
            ran.transcript()
        );
    }
}

#[test]
fn an_unreadable_watch_line_is_not_quoted() {
    const LINE: &str = r#"{"type":"ADDED","object":{"kind":"Secret","apiVersion":"v1","metadata":"hunter2-correct-horse"}}"#;
    let hostile = of_secrets(&secret_list(""), LINE);
    let mut run = hostile
        .spy()
        .start(&["changes", "secrets", "--since", "0", "-o", "json"]);
    run.until("a field is missing or of the wrong type (line 1, column ");
    assert_hidden(&run.interrupt());
}

#[test]
fn the_error_message_of_a_server_is_one_short_line() {
    let page = format!("<html>\n\u{1b}]52;c;eA==\u{7}{}", "x".repeat(500_000));
    let status = json!({
        "kind": "Status", "reason": "Forbidden", "message": format!("no\nError from server: yes{page}"),
    });
    for (code, body, start) in [
        (
            403,
            page.clone(),
            "Error from server (Forbidden): <html>\\n^[]52;c;eA==^Gxxx",
        ),
        (
            500,
            page.clone(),
            "Error from server (InternalError): an error on the server (\"<html>\\n^[]52;c;eA==^Gxxx",
        ),
        (
            403,
            status.to_string(),
            "Error from server (Forbidden): no\\nError from server: yes<html>\\n^[]52;c;eA==^Gxxx",
        ),
    ] {
        let hostile = Hostile::start(move |_| Answer::json(code, &body));
        // An unknown type is first looked up in discovery, whose error ends the run.
        let ran = hostile.spy().run(&["changes", "widgets", "--once"]);
        let line = ran.stderr.lines().next().unwrap_or_default();
        assert!(line.starts_with(start), "{line}");
        assert!(ran.stderr.len() < 3000, "{}", ran.stderr.len());
    }
}
