//! The law can fail: each false word in an answer is found. No control plane is needed.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::audit::{Author, Span};
use super::blame::Failing;
use super::history::History;
use super::objects::{Kind, Name};
use super::question::{Answer, Filter, Fold, Format, Question, Scope, Since};
use super::report::{Truth, judge};
use super::text::Printed;
use super::write::{Storage, What, Write};

fn at(second: f64) -> Timestamp {
    let start: Timestamp = "2026-03-02T12:00:00Z".parse().unwrap();
    start + jiff::SignedDuration::from_secs_f64(second)
}

/// `configmap/app` with this value, last written by a manager in a second.
fn object(revision: u64, value: &str, (manager, second): (&str, f64)) -> Value {
    let written = Timestamp::from_second(at(second).as_second()).unwrap();
    json!({
        "metadata": {
            "name": "app", "uid": "u", "resourceVersion": revision.to_string(),
            "creationTimestamp": "2026-03-02T12:00:00Z",
            "managedFields": [{ "manager": manager, "operation": "Update", "time": written.to_string() }],
        },
        "data": { "a": value },
    })
}

fn write(revision: u64, what: What, (manager, second): (&str, f64), versions: [Value; 2]) -> Write {
    let [before, object] = versions;
    Write {
        kind: Kind::ConfigMap,
        name: "app".to_owned(),
        uid: "u".to_owned(),
        storage: Storage::Main,
        revision,
        what,
        object,
        before: (!before.is_null()).then_some(before),
        by: Author {
            manager: manager.to_owned(),
            subresource: String::new(),
        },
        verb: "patch".to_owned(),
        span: Span {
            received: at(second),
            done: at(second + 0.01),
        },
    }
}

/// alice creates an object, bob changes it five seconds later, and alice deletes it.
fn writes() -> Vec<Write> {
    let first = object(5, "n001", ("alice", 0.2));
    let second = object(7, "n002", ("bob", 5.1));
    let created = [Value::Null, first.clone()];
    vec![
        write(5, What::Created, ("alice", 0.2), created),
        write(7, What::Modified, ("bob", 5.1), [first, second.clone()]),
        write(9, What::Deleted, ("alice", 9.0), [second.clone(), second]),
    ]
}

const TEXT: &str = r#"
2026-03-02T12:00:00.000Z CREATED configmap/app  5  20s ago  by alice
2026-03-02T12:00:05.000Z MODIFIED configmap/app  5→7  +5s  15s ago  by bob  1 change, 2 hidden
~ .data.a: "n001" → "n002"
2026-03-02T12:00:08.000Z–2026-03-02T12:00:10.000Z DELETED configmap/app  9  10–12s ago  existed 8s
── 3 earlier versions, back to 2026-03-02T12:00:00.000Z ──"#;

const SHORT: &str = r#"
2026-03-02T12:00:00.000Z configmap/app  alice  created
2026-03-02T12:00:05.000Z configmap/app  bob  a: "n001" → "n002"
2026-03-02T12:00:08.000Z–2026-03-02T12:00:10.000Z configmap/app  deleted  existed 8s
── 3 earlier versions, back to 2026-03-02T12:00:00.000Z ──"#;

const RECORDS: &str = r#"
{"type":"created","time":"2026-03-02T12:00:00.000Z","from":null,"to":"5","ref":{"kind":"ConfigMap","name":"app","uid":"u"},"actors":[{"manager":"alice"}]}
{"type":"modified","time":"2026-03-02T12:00:05.000Z","from":"5","to":"7","ref":{"kind":"ConfigMap","name":"app","uid":"u"},"actors":[{"manager":"bob"}],"changes":[{"op":"replace","pointer":"/data/a","old":"n001","new":"n002","by":"bob"}]}
{"type":"deleted","time":"2026-03-02T12:00:08.000Z","timeUntil":"2026-03-02T12:00:10.000Z","from":"7","to":"9","ref":{"kind":"ConfigMap","name":"app","uid":"u"},"actors":[]}
{"type":"lookback","source":"configmaps/app in namespace \"x\"","end":"limit","from":"4","time":"2026-03-02T12:00:00.000Z","complete":"4","completeTime":"2026-03-02T12:00:00.000Z"}
{"type":"seam","versions":3,"live":false}"#;

/// What is wrong with an answer that was printed at 12:00:20.
fn wrong(format: Format, code: i32, printed: &str) -> String {
    let scope = Scope::Object(Name::of(Kind::ConfigMap, "app"));
    let answer = Answer {
        question: Question {
            scope,
            since: Since::All,
            filter: Filter::Everyone,
            format,
            fold: Fold::Nothing,
        },
        command: String::new(),
        begun: at(20.0),
        ended: at(20.2),
        printed: match format {
            Format::Json => Printed::of_records(printed.trim()),
            Format::Paths | Format::Short | Format::Yaml => Printed::of_text(printed.trim()),
        },
        code,
        stderr: String::new(),
    };
    let history = History {
        seed: 0,
        steps: Vec::new(),
    };
    let writes = writes();
    let judged = judge(&answer, &Truth::of(&history, &writes));
    judged.err().unwrap_or_default()
}

/// Checks that an answer is true, and that with another word it is not.
fn check(format: Format, printed: &str, cases: &[(&str, &str, &str)]) {
    assert_eq!(wrong(format, 1, printed), "", "{printed}");
    for (word, other, expect) in cases {
        let changed = printed.replacen(word, other, 1);
        assert_ne!(changed, printed, "{word}");
        let wrong = wrong(format, 1, &changed);
        assert!(wrong.contains(expect), "{word} as {other}: {wrong}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of false words")]
fn a_false_word_in_text_is_found() {
    let second = "\n2026-03-02T12:00:05.000Z MODIFIED";
    let again = "by bob  1 change, 2 hidden\n2026-03-02T12:00:05.000Z MODIFIED configmap/app  5→7";
    check(
        Format::Paths,
        TEXT,
        &[
            ("by bob", "by alice", "bob wrote it, not alice"),
            ("by bob", "probably by alice", "bob wrote it, not alice"),
            ("by bob", "by bob, alice", "bob wrote it, not alice"),
            (
                r#""n002""#,
                r#""n002"  by alice"#,
                "bob made the change, not alice",
            ),
            (
                r#""n002""#,
                r#""n002"  (was helm's)"#,
                "helm owned nothing before",
            ),
            (
                second,
                "\n2026-03-02T12:00:02.000Z MODIFIED",
                "not its time",
            ),
            (
                second,
                "\n2026-03-02T12:00:09.000Z MODIFIED",
                "not its time",
            ),
            (
                second,
                "\n2001-01-01T00:00:00.000Z MODIFIED",
                "not its time",
            ),
            (
                "12:00:10.000Z DELETED",
                "12:00:07.000Z DELETED",
                "not its time",
            ),
            ("+5s", "+8s", "the length is false"),
            ("existed 8s", "existed 60s", "the length is false"),
            ("existed 8s", "existed up to 6s", "it existed longer"),
            ("15s ago", "25y ago", "the age"),
            ("5→7", "4→7", "it follows"),
            ("5→7", "5→8", "nobody wrote this version"),
            (
                "DELETED configmap/app  9",
                "MODIFIED configmap/app  9",
                "nobody wrote",
            ),
            ("CREATED", "RECREATED", "it is not Recreated"),
            (
                "MODIFIED configmap",
                "MODIFIED secret",
                "nobody wrote this version",
            ),
            ("by bob  1 change, 2 hidden", again, "it is printed twice"),
            ("3 earlier", "2 earlier", "3 versions are printed"),
        ],
    );
    let deleted = TEXT.lines().nth(4).unwrap();
    let without = TEXT.replace(deleted, "").replace("3 earlier", "2 earlier");
    assert!(wrong(Format::Paths, 1, &without).contains("a version is missing"));
    let hedged = "── compacted older versions · 2 earlier";
    let told = without.replace("── 2 earlier", hedged);
    assert_eq!(wrong(Format::Paths, 1, &told), "");
    let nothing = "── no earlier version ──";
    assert!(wrong(Format::Paths, 0, nothing).contains("a version is missing"));
    assert!(wrong(Format::Paths, 0, TEXT).contains("exit code 0"));
    assert!(wrong(Format::Paths, 1, nothing).contains("exit code 1"));
}

#[test]
fn versions_in_a_false_order_are_found() {
    let mut lines: Vec<&str> = TEXT.trim().lines().collect();
    lines.swap(0, 3);
    assert!(wrong(Format::Paths, 1, &lines.join("\n")).contains("after a later version"));
}

#[test]
fn a_false_word_in_a_short_line_is_found() {
    check(
        Format::Short,
        SHORT,
        &[
            ("bob", "alice", "bob wrote it"),
            ("bob", "probably alice", "bob wrote it"),
            ("existed 8s", "existed 60s", "the length is false"),
            ("00:05.000Z", "00:02.000Z", "not its time"),
            ("3 earlier", "no earlier", "3 versions are printed"),
        ],
    );
}

#[test]
fn a_false_record_is_found() {
    check(
        Format::Json,
        RECORDS,
        &[
            (r#""manager":"bob""#, r#""manager":"alice""#, "bob wrote it"),
            (r#""by":"bob""#, r#""by":"alice""#, "bob made the change"),
            (r#""new":"n002""#, r#""new":"n003""#, "/data/a is"),
            (r#""uid":"u""#, r#""uid":"v""#, "another uid"),
            (r#"12:00:05.000Z""#, r#"12:00:02.000Z""#, "not its time"),
            (
                r#""versions":3"#,
                r#""versions":2"#,
                "3 versions are printed",
            ),
            (r#""from":"4","time""#, r#""from":"7","time""#, "7 is later"),
            (r#""complete":"4""#, r#""complete":"7""#, "7 is later"),
            (
                r#"{"type":"deleted""#,
                r#"{"type":"state""#,
                "a version is missing",
            ),
        ],
    );
}

#[test]
fn a_false_cause_is_found() {
    let first = object(5, "n001", ("alice", 0.2));
    let mut second = object(7, "n002", ("bob", 5.1));
    second["data"] = json!({});
    let created = [Value::Null, first.clone()];
    let writes = [
        write(5, What::Created, ("alice", 0.2), created),
        write(7, What::Modified, ("bob", 5.1), [first, second.clone()]),
        write(8, What::Modified, ("carl", 7.1), [second.clone(), second]),
    ];
    let failing = Failing {
        object: Name::of(Kind::ConfigMap, "app"),
        key: "a",
    };
    let right = json!({
        "ref": {"kind": "ConfigMap", "name": "app"}, "by": "bob", "time": "2026-03-02T12:00:05Z", "about": false,
        "created": false, "deleted": false, "changes": ["data.a: n001 → (none)"], "sign": "tied",
    });
    for (field, value, expect) in [
        ("by", json!("bob"), ""),
        ("by", Value::Null, ""),
        ("changes", json!(["data: {a: n001} → (none)"]), ""),
        ("by", json!("carl"), "carl did not do it"),
        ("by", json!("alice"), "alice did not do it"),
        ("changes", json!(["data.b: 1 → 2"]), "bob did not do it"),
        ("deleted", json!(true), "bob did not do it"),
        (
            "time",
            json!("2026-03-02T12:00:01Z"),
            "it was done at another time",
        ),
        (
            "ref",
            json!({"kind": "Secret", "name": "app"}),
            "nothing of this object is needed",
        ),
    ] {
        let mut change = right.clone();
        change[field] = value;
        let pod = json!({"ref": {"name": "needs-configmap-app-a"}, "lastChanges": [change]});
        let wrong = failing.judge(&pod.to_string(), &writes).wrong;
        let wrong: Vec<&str> = wrong
            .iter()
            .map(|it| it.split(":\n").next().unwrap())
            .collect();
        assert_eq!(wrong.join(" "), expect, "{field}");
    }
    // Who created it is named, and is not the cause.
    let mut created = right;
    created["created"] = json!(true);
    created["by"] = json!("alice");
    created["time"] = json!("2026-03-02T12:00:00Z");
    let trace = json!({"nodes": [], "lastChanges": [created]});
    let wrong = failing.judge(&trace.to_string(), &writes).wrong;
    assert!(wrong[0].starts_with("it is not the cause"), "{wrong:?}");
}
