//! Tests of list answers that are endless, invalid or too deep. The result is a clear error, in bounded time
//! and memory.

use std::iter::{once, repeat};

use insta::assert_snapshot;

use flate2::{Compress, Compression, FlushCompress, Status};

use crate::support::Ran;
use crate::support::hostile::{Answer, Hostile};

/// Runs once. The run must fail, with one error line and perhaps hints.
fn refused(hostile: &Hostile, args: &[&str]) -> Ran {
    let ran = hostile.spy().run(args);
    assert!(!ran.status.success(), "{}", ran.transcript());
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.len() < 2000, "{}", ran.stderr);
    assert!(!ran.stderr.contains('\u{1b}'), "{}", ran.stderr);
    ran
}

const ONCE: [&str; 4] = ["changes", "cm/flags", "--once", "--since=0"];

#[test]
fn endless_headers_are_an_error() {
    let hostile = Hostile::start(|_| {
        let line = b"X-Filler: and so on, and so on, and so on\r\n".to_vec();
        let lines = once(b"HTTP/1.1 200 OK\r\n".to_vec()).chain(repeat(line));
        Answer::Pieces(Box::new(lines))
    });
    let ran = refused(&hostile, &ONCE);
    assert!(ran.stderr.contains("head"), "{}", ran.stderr);
}

#[test]
fn a_gigabyte_that_is_announced_but_not_sent_is_an_error() {
    let hostile = Hostile::start(|_| {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1073741824\r\n\r\n{";
        Answer::Whole(head.into())
    });
    let ran = refused(&hostile, &ONCE);
    assert!(ran.stderr.contains("connection lost"), "{}", ran.stderr);
}

#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = Hostile::start(|_| Answer::json(200, "{}"));
    let location = elsewhere.url().to_owned();
    let hostile = Hostile::start(move |target| {
        let head = format!(
            "HTTP/1.1 302 Found\r\nLocation: {location}{target}\r\nContent-Length: 0\r\n\r\n"
        );
        Answer::Whole(head.into_bytes())
    });
    let ran = refused(&hostile, &ONCE);
    assert!(ran.stderr.contains("302"), "{}", ran.stderr);
    assert_eq!(elsewhere.targets(), Vec::<String>::new());
    assert!(
        hostile
            .targets()
            .iter()
            .all(|target| target.starts_with("/api/v1/"))
    );
}

#[test]
fn a_login_page_is_an_error_and_is_not_printed() {
    let page = "<!DOCTYPE html><html><title>Sign in</title><form>s3cret</form></html>";
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n";
    let length = page.len();
    let answer = format!("{head}Content-Length: {length}\r\n\r\n{page}");
    let hostile = Hostile::start(move |_| Answer::Whole(answer.clone().into_bytes()));
    for args in [
        &ONCE[..],
        &["status", "cm/flags", "--once"],
        &["trace", "svc/web", "--once"],
        &["changes", "widgets", "--once", "--since=0"],
    ] {
        let ran = refused(&hostile, args);
        assert!(ran.stderr.contains("is not a list"), "{}", ran.stderr);
        assert!(!ran.stderr.contains("s3cret"), "{}", ran.stderr);
    }
}

/// An endless gzip stream: the same block of spaces, repeated.
fn bomb() -> impl Iterator<Item = Vec<u8>> {
    let spaces = vec![b' '; 16 << 20];
    let mut block = Vec::with_capacity(1 << 20);
    let mut packer = Compress::new(Compression::best(), false);
    let done = packer.compress_vec(&spaces, &mut block, FlushCompress::Full);
    assert_eq!((done.unwrap(), packer.total_in()), (Status::Ok, 16 << 20));
    let head = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255].to_vec();
    once(head).chain(repeat(block))
}

#[test]
fn an_error_that_unpacks_to_gigabytes_is_cut() {
    let bomb: Vec<Vec<u8>> = bomb().take(256).collect();
    let hostile = Hostile::start(move |_| {
        let head =
            "HTTP/1.1 500 X\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\r\n";
        Answer::Pieces(Box::new(once(head.into()).chain(bomb.clone())))
    });
    let ran = refused(&hostile, &ONCE);
    assert!(
        ran.stderr.contains("an error on the server"),
        "{}",
        ran.stderr
    );
}

#[test]
fn an_item_that_is_nested_too_deep_does_not_affect_others() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let item = |name: &str, data: &str| {
        format!(
            r#"{{"metadata":{{"name":"{name}","namespace":"shop","uid":"{name}","resourceVersion":"5"}},"data":{data}}}"#
        )
    };
    let items = [item("deep", &deep), item("plain", "{}")].join(",");
    let list = format!(
        r#"{{"kind":"ConfigMapList","apiVersion":"v1","metadata":{{"resourceVersion":"7"}},"items":[{items}]}}"#
    );
    let hostile = Hostile::start(move |_| Answer::json(200, &list));
    let ran = hostile.spy().run(&["status", "cm", "--once"]);
    assert!(ran.status.success(), "{}", ran.transcript());
    assert_snapshot!(ran.transcript(), @"
    1 Current, 1 Unknown
    NAME                READY   STATUS    RESTARTS   AGE   NODE   IP
    ? configmap/deep    -       Unknown   -          -     -      -
    ● configmap/plain   -       Current   -          -     -      -
    ");
}

#[test]
fn a_secret_that_hides_its_type_is_not_shown() {
    // Of two fields with one name, the last one counts.
    for (kind, again) in [
        ("null", ""),
        (r#""""#, ""),
        (r#""Secret""#, r#","kind":null"#),
        (r#""Secret""#, r#","kind":"ConfigMap""#),
        (r#""Secret""#, r#","apiVersion":"v2""#),
    ] {
        let secret = |version: u8| {
            format!(
                r#"{{"kind":{kind},"apiVersion":"v1","metadata":{{"name":"db","namespace":"shop","uid":"u","resourceVersion":"{version}"}}{again},"data":{{"password":"aHVudGVyMg=="}}}}"#
            )
        };
        let list = format!(
            r#"{{"kind":"SecretList","apiVersion":"v1","metadata":{{"resourceVersion":"7"}},"items":[{}]}}"#,
            secret(5)
        );
        let line = format!(r#"{{"type":"MODIFIED","object":{}}}"#, secret(8));
        let hostile = Hostile::start(move |target| {
            if target.contains("watch=") {
                let pieces = [Answer::stream_head(), Answer::piece(&line)];
                Answer::Pieces(Box::new(pieces.into_iter()))
            } else {
                Answer::json(200, &list)
            }
        });
        for (format, end) in [
            ("-oyaml", "--once"),
            ("-ojson", "--once"),
            ("-odiff", "--once"),
            ("-ofull", "--timeout=1s"),
        ] {
            let command = ["changes", "secret/db", "--since=0", "--full", format, end];
            let printed = hostile.spy().run(&command).transcript();
            let holds = ["aHVudGVyMg", "hunter2"].map(|text| printed.contains(text));
            assert_eq!(holds, [false, false], "{kind}{again} {format}: {printed}");
        }
    }
}

#[test]
fn absurd_names_in_discovery_lead_to_no_request() {
    let resource = |plural: &str, kind: &str, short: &str| {
        serde_json::json!({"resource": plural, "scope": "Namespaced", "singularResource": "", "verbs": ["list", "watch"],
            "responseKind": {"group": "", "version": "v1", "kind": kind}, "shortNames": [short]})
    };
    let resources = serde_json::json!([
        resource("secrets?x=", "Secret", "wd"),
        resource("../secrets", "Secret", "up"),
        resource("esc\u{1b}]52;c;x\u{7}apes", "E\u{202e}sc", "esc\u{1b}[2J"),
    ]);
    let group = |name: &str| serde_json::json!({"metadata": {"name": name}, "versions": [{"version": "v1", "resources": resources}]});
    let groups = serde_json::json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": [
        group("example.com"),
        group("example.com/../../../api/v1/namespaces/sec"),
    ]})
    .to_string();
    let hostile = Hostile::start(move |target| match target {
        "/apis" => Answer::json(200, &groups),
        "/api" => Answer::json(200, r#"{"kind":"APIVersions","versions":["v1"]}"#),
        _ => Answer::json(404, "{}"),
    });
    for word in ["wd", "up", "esc", "escape", "secrets?x="] {
        refused(&hostile, &["changes", word, "--once", "--since=0"]);
    }
    // Each segment of a request must be in its place.
    let known = |target: &String| matches!(&**target, "/api" | "/apis" | "/api/v1");
    let strays: Vec<String> = hostile
        .targets()
        .into_iter()
        .filter(|target| !known(target))
        .collect();
    assert!(strays.is_empty(), "{strays:?}");
}

/// A Deployment that is Current, in this namespace and with this name.
fn current(namespace: &str, name: &str) -> String {
    format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"{namespace}","uid":"u","resourceVersion":"5","generation":1}},"spec":{{"replicas":0}},"status":{{"observedGeneration":1,"conditions":[{{"type":"Available","status":"True"}},{{"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable"}}]}}}}"#
    )
}

#[test]
fn an_answer_about_another_object_is_not_taken_for_the_requested_one() {
    for (namespace, name) in [("shop", "other"), ("elsewhere", "web")] {
        let hostile = Hostile::start(move |target| {
            let (items, kind) = if target.contains("/deployments?") {
                (current(namespace, name), "Deployment")
            } else {
                (String::new(), "ReplicaSet")
            };
            let list = format!(
                r#"{{"kind":"{kind}List","apiVersion":"apps/v1","metadata":{{"resourceVersion":"7"}},"items":[{items}]}}"#
            );
            Answer::json(200, &list)
        });
        for verb in ["status", "changes", "trace"] {
            for check in ["--for=current", "--exit-code", "--for=delete", "--once"] {
                let ran = hostile
                    .spy()
                    .run(&[verb, "deploy/web", check, "--timeout=3s"]);
                assert!(!ran.status.success(), "{verb} {check} {}", ran.transcript());
                let words = format!("deployment \"{namespace}/{name}\", which was not requested");
                assert!(ran.stderr.contains(&words), "{verb} {check} {}", ran.stderr);
            }
        }
    }
}
