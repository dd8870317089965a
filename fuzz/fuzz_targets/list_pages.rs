//! Any bytes as the answer to a list, as lines of a watch, and as the body of an error. A parsed answer
//! agrees with the bytes, and an unreadable one is an error of one short line.

#![no_main]

use std::fmt::Write;

use kubectl_spy::object::{Doc, Kind};
use kubectl_spy::source::{Form, Scope, SourceKey, Version};
use kubectl_spy::watch::{Reader, WatchLine, parse_page, refusal};
use serde_json::Value;

libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    for form in [Form::Full, Form::Metadata] {
        let key = key(form);
        page(&key, body);
        lines(&key, body);
    }
    let code = u16::try_from(300 + body.len() % 300).expect("a status code");
    let error = refusal(&key(Form::Full), code, body).to_string();
    assert!(!error.trim().is_empty());
});

fn key(form: Form) -> SourceKey {
    SourceKey {
        scope: Scope::Namespace("shop".into()),
        form,
        ..SourceKey::all("", "Pod")
    }
}

fn page(key: &SourceKey, body: &[u8]) {
    let page = match parse_page(key, body) {
        Ok(page) => page,
        Err(error) => return assert_short(&error.to_string()),
    };
    assert!(
        page.next.as_deref() != Some(""),
        "an empty token goes on for ever"
    );
    if let Ok(value) = serde_json::from_slice::<Value>(body) {
        let items = value["items"].as_array().map_or(0, Vec::len);
        assert_eq!(page.items.len(), items);
        let version = value["metadata"]["resourceVersion"].as_str();
        assert_eq!(page.version.as_str(), version.unwrap_or_default());
    }
    let mut reader = Reader::new(key);
    for item in &page.items {
        match reader.item(item) {
            Ok(version) => assert_names_itself(&version),
            Err(detail) => assert_short(&detail),
        }
    }
}

fn lines(key: &SourceKey, body: &[u8]) {
    // The second reader has already read each line. That must not change the result.
    let (mut reader, mut again) = (Reader::new(key), Reader::new(key));
    for line in body.split(|byte| *byte == b'\n') {
        let first = summary(reader.line(line));
        assert_eq!(first, summary(again.line(line)));
        assert_eq!(first, summary(again.line(line)));
    }
}

/// A summary of a line, for comparison.
fn summary(line: Result<WatchLine, std::sync::Arc<str>>) -> String {
    match line {
        Ok(WatchLine::Object { verb, item }) => {
            assert_names_itself(&item.version);
            let mut summary = format!("{verb:?} {:?} {:?}", item.version.object, item.deleting);
            write!(summary, " {:?}", item.version.version).expect("memory");
            if let Ok(doc) = item.version.doc() {
                summary += doc.text();
            }
            summary
        }
        Ok(WatchLine::Bookmark(version)) => {
            assert!(!version.as_str().is_empty());
            format!("bookmark {version:?}")
        }
        Ok(WatchLine::Error(status)) => format!("{status:?}"),
        Err(detail) => {
            assert_short(&detail);
            detail.to_string()
        }
    }
}

/// Asserts that a parsed object has a name and a type, and that its body has the same.
fn assert_names_itself(version: &Version) {
    let object = &version.object;
    assert!(!object.name.is_empty() && !object.kind.is_empty() && !object.api_version.is_empty());
    let Ok(doc) = version.doc() else {
        return;
    };
    let root = doc.root();
    assert_eq!(root.kind(), Kind::Object);
    for (path, expect) in [
        (&["kind"][..], &object.kind),
        (&["apiVersion"], &object.api_version),
        (&["metadata", "name"], &object.name),
    ] {
        assert_eq!(
            root.str_at(path).as_deref(),
            Some(&**expect),
            "{path:?} {}",
            doc.text()
        );
    }
    let again = Doc::parse(doc.text()).expect("a parsed text parses again");
    assert!(again.is_same_tape(&doc));
}

/// Asserts that the message for an unreadable answer does not grow with the answer.
fn assert_short(detail: &str) {
    assert!(detail.len() < 400, "{detail}");
}
