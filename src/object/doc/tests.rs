//! Tests of the document: known cases first, then properties of generated texts and edits.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value as Json, json};

use super::super::laws::{hints_change_nothing, hints_change_nothing_in, reads_as_serde_json_does};
use super::*;

#[test]
fn typed_lookups_are_total() {
    let doc = Doc::parse(r#" {"a":[1,"x\ny",null],"b":{"c":true},"n":12345678901234567890123} "#)
        .expect("valid");
    let root = doc.root();
    assert_eq!(root.at(&["b", "c"]).and_then(Value::as_bool), Some(true));
    let second = root.items_at(&["a"]).nth(1);
    assert_eq!(second.and_then(Value::as_str).as_deref(), Some("x\ny"));
    let number = root.get("n");
    assert_eq!(number.map(Value::raw), Some("12345678901234567890123"));
    assert_eq!(number.and_then(Value::as_i64), None);
    assert_eq!(root.items_at(&["b"]).count(), 0);
    assert!(root.get("missing").is_none());
    assert!(root.items_at(&["a"]).all(|item| item.get("a").is_none()));
}

#[test]
fn the_last_of_repeated_keys_counts() {
    let few = Doc::parse(r#"{"a":1,"b":2,"\u0061":3}"#).expect("valid");
    assert_eq!(few.root().i64_at(&["a"]), Some(3));
    assert_eq!(few.root().fields().count(), 2);

    let fields = (0..100).map(|n| format!(r#""k{}":{n}"#, n % 30));
    let many = format!(
        r#"{{{},"\u006b7":-7}}"#,
        fields.collect::<Vec<_>>().join(",")
    );
    let many = Doc::parse(many).expect("valid");
    assert_eq!(many.root().fields().count(), 30);
    assert_eq!(many.root().i64_at(&["k29"]), Some(89));
    assert_eq!(many.root().i64_at(&["k7"]), Some(-7));
}

#[test]
fn strings_decode_as_in_go() {
    let check = |raw: &str, expect: &str| {
        let doc = Doc::parse(format!("\"{raw}\"")).expect("valid");
        assert_eq!(doc.root().as_str().as_deref(), Some(expect), "{raw}");
    };
    check("", "");
    check(r#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{c}\n\r\t");
    check(r"\u003c\u00e9\u65e5", "<é日");
    check(r"\ud83d\ude00", "😀");
    check(r"\ud83d", "\u{fffd}");
    check(r"\ude00\ud83d", "\u{fffd}\u{fffd}");
    check(r"\ud83dx\ude00", "\u{fffd}x\u{fffd}");
    check(r"\ud83d\u0041", "\u{fffd}A");
    check("seven777\u{7f}日", "seven777\u{7f}日");
}

#[test]
fn each_special_character_is_found_at_each_position() {
    for character in '\0'..='\u{100}' {
        for place in 0..18 {
            let mut inner = "x".repeat(17);
            inner.insert(place, character);
            reads_as_serde_json_does(&format!("[\"{inner}\"]"));
        }
    }
}

#[test]
fn errors_name_the_position() {
    let check = |text: &str, expect: ParseError| {
        assert_eq!(Doc::parse(text).map(drop), Err(expect), "{text:?}");
    };
    let byte = |at| ParseError::UnexpectedByte { at };
    let end = |at| ParseError::UnexpectedEnd { at };
    check("", end(0));
    check("  ", end(2));
    check("{\"a\":1", end(6));
    check("{\"a\" 1}", byte(5));
    check("{a:1}", byte(1));
    check("[1,]", byte(3));
    check("[1 2]", byte(3));
    check("{\"a\":1,}", byte(7));
    check("01", byte(1));
    check("-", end(1));
    check("1.e3", byte(2));
    check("1e+", end(3));
    check("+1", byte(0));
    check("tru", end(3));
    check("nulL", byte(3));
    check("NaN", byte(0));
    check("\"\\x\"", byte(2));
    check("\"\\u12g4\"", byte(5));
    check("\"12345678\n\"", byte(9));
    check("\"unfinished", end(11));
    check("\"\\", end(2));
    check("{} {}", byte(3));
    check("\u{feff}{}", byte(0));
}

#[test]
fn depth_is_limited_without_using_the_stack() {
    let nest = |open: &str, close: &str, depth| open.repeat(depth) + "1" + &close.repeat(depth);
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
        let levels = if open.len() == 6 { 2 } else { 1 };
        let deepest = Doc::MAX_DEPTH / levels;
        for depth in [1, 127 / levels, deepest - 1, deepest] {
            let text = nest(open, close, depth);
            assert!(Doc::parse(&*text).is_ok(), "{open} {depth}");
            reads_as_serde_json_does(&text);
            hints_change_nothing(&text, &text);
            hints_change_nothing(&nest(open, close, depth - 1), &text);
        }
        for depth in [deepest + 1, 100_000] {
            let text = nest(open, close, depth);
            let error = Doc::parse(&*text).map(drop);
            assert!(
                matches!(error, Err(ParseError::TooDeep { .. })),
                "{open} {depth}"
            );
            reads_as_serde_json_does(&text);
            hints_change_nothing(&nest(open, close, deepest), &text);
            let unclosed = Doc::parse(open.repeat(depth)).map(drop);
            assert!(
                matches!(unclosed, Err(ParseError::TooDeep { .. })),
                "{open} {depth}"
            );
        }
    }
}

#[test]
fn huge_lists_are_parsed() {
    let items: Vec<String> = (0..50_000)
        .map(|n| format!(r#"{{"ip":"10.0.{n}","n":{n}}}"#))
        .collect();
    let old = format!("[{}]", items.join(","));
    assert_eq!(
        Doc::parse(&*old).expect("valid").root().items().count(),
        50_000
    );
    let inserted = format!("[0,{}]", items.join(","));
    let edited = old.replace(r#""n":25000"#, r#""n":250000"#);
    let cut = format!("[{}]", items[..49_999].join(","));
    for new in [inserted, edited, cut] {
        hints_change_nothing(&old, &new);
    }
    let fields: Vec<String> = (0..20_000)
        .map(|n| format!(r#""key{}":{n}"#, n / 2))
        .collect();
    let wide = Doc::parse(format!("{{{}}}", fields.join(","))).expect("valid");
    assert_eq!(wide.root().fields().count(), 10_000);
}

#[test]
fn a_longer_number_is_another_number() {
    for (old, new) in [
        ("12", "123"),
        ("12", "12.5"),
        ("12", "12e1"),
        ("[1,2]", "[1 ,2]"),
        ("[12,3]", "[123]"),
        ("{\"a\":1}", "{\"a\":1x}"),
        ("-", "-1"),
        ("\"a\"", "\"a\\\"\""),
        ("true", "trueish"),
        ("{\"a\":1,\"a\":2}", "{\"a\":2,\"a\":1}"),
        ("{\"a\":1,\"a\":2}", "{\"a\":1,\"b\":2}"),
        ("{\"a\":{\"b\":1}}", "{\"\\u0061\":{\"b\":1}}"),
    ] {
        hints_change_nothing(old, new);
        hints_change_nothing(new, old);
    }
}

/// A Pod as an API server writes it, at step `version` of its lifetime.
fn pod(name: &str, version: u32) -> Json {
    let is_ready = version % 3 == 2;
    let truth = if is_ready { "True" } else { "False" };
    let owned = json!({"f:status": {
        "f:conditions": {".": {}, "k:{\"type\":\"Ready\"}": {".": {}, "f:status": {}}},
        "f:podIPs": {".": {}, "k:{\"ip\":\"10.244.1.17\"}": {".": {}, "f:ip": {}}},
    }});
    let condition = |kind: &str| {
        json!({"type": kind, "status": truth, "lastProbeTime": null,
               "lastTransitionTime": format!("2026-11-21T14:02:{version:02}Z")})
    };
    let state = match version % 3 {
        0 => json!({"waiting": {"reason": "ContainerCreating"}}),
        1 => json!({"terminated": {"exitCode": 137, "reason": "OOMKilled"}}),
        _ => json!({"running": {"startedAt": "2026-11-21T14:02:06Z"}}),
    };
    json!({
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            "namespace": "shop",
            "uid": "f3c1d0c2-0a4e-4b8d-9f1d-0c2f0a4e6b8d",
            "resourceVersion": (18_236 + version).to_string(),
            "labels": {"app": "web", "pod-template-hash": "7c5ddbdf54"},
            "annotations": {"note": "two\nlines, \"quoted\" <b> \u{2028}", "a/b": "{\"inner\":[1,2]}"},
            "managedFields": [{"manager": "kubelet", "operation": "Update", "apiVersion": "v1",
                               "fieldsType": "FieldsV1", "fieldsV1": owned, "subresource": "status"}],
        },
        "spec": {
            "containers": [{"name": "web", "image": "registry.example.com/shop/web:v1.4.2",
                            "args": ["--v=2"], "resources": {"limits": {"cpu": "500m"}}}],
            "terminationGracePeriodSeconds": 30,
            "tolerations": [],
        },
        "status": {
            "phase": if is_ready { "Running" } else { "Pending" },
            "conditions": [condition("Initialized"), condition("Ready"), condition("PodScheduled")],
            "containerStatuses": [{"name": "web", "ready": is_ready, "restartCount": version,
                                   "state": state, "lastState": {}}],
        },
    })
}

#[test]
fn a_pods_versions_are_parsed_one_after_another() {
    let versions: Vec<String> = (0..12)
        .map(|version| pod("web-x2k9p", version).to_string())
        .collect();
    for text in &versions {
        reads_as_serde_json_does(text);
    }
    for pair in versions.windows(2) {
        hints_change_nothing(&pair[0], &pair[1]);
    }
    let mut doc = Doc::parse(&*versions[0]).expect("valid");
    for text in &versions[1..] {
        doc = Doc::parse_after(&**text, &doc).expect("valid");
        assert!(doc.is_same_tape(&Doc::parse(&**text).expect("valid")));
    }
    assert_eq!(
        doc.root().str_at(&["status", "phase"]).as_deref(),
        Some("Running")
    );
    assert_eq!(doc.root().items_at(&["status", "conditions"]).count(), 3);
}

#[test]
fn the_properties_hold_for_the_fuzz_corpus() {
    let run = |target: &str, check: fn(&str)| {
        let folder = format!("{}/fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
        let cases = std::fs::read_dir(folder).expect("the corpus is in the repository");
        let mut count = 0;
        for case in cases {
            let path = case.expect("it can be listed").path();
            let bytes = std::fs::read(path).expect("it can be read");
            check(&String::from_utf8_lossy(&bytes));
            count += 1;
        }
        assert!(count > 5, "{target} has {count} cases");
    };
    run("parse", reads_as_serde_json_does);
    run("parse_after", hints_change_nothing_in);
}

/// White space that JSON allows.
fn space() -> impl Strategy<Value = String> {
    prop_oneof![4 => Just(String::new()), 1 => "[ \n\t\r]{1,3}"]
}

/// A string with its quotes: plain characters and every sort of escape, valid or not.
fn string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z0-9./:=-]{1,12}",
        1 => "[^\"\\\\\\x00-\\x1f]",
        1 => select(vec![r#"\""#, r"\\", r"\/", r"\b", r"\f", r"\n", r"\r", r"\t"]).prop_map(str::to_owned),
        1 => "\\\\u[0-9a-fA-F]{4}",
        1 => "\\\\u[dD][89abAB][0-9a-f]{2}\\\\u[dD][c-fC-F][0-9a-f]{2}",
        1 => "\\\\u[dD][89a-f][0-9a-f]{2}",
    ];
    proptest::collection::vec(piece, 0..5).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

/// A key, often one of a few, so that keys repeat.
fn key() -> impl Strategy<Value = String> {
    let common = vec![r#""a""#, r#""\u0061""#, r#""b""#, r#""""#, r#""k:{\"a\"}""#];
    prop_oneof![2 => select(common).prop_map(str::to_owned), 1 => string()]
}

/// A valid JSON text that uses all of the grammar.
fn text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        select(vec!["null", "true", "false", "0", "-0", "1", "12", "123"]).prop_map(str::to_owned),
        "-?(0|[1-9][0-9]{0,22})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
        string(),
    ];
    let list = |items: Vec<(String, String)>, (open, close): (&str, &str)| {
        let items: Vec<String> = items
            .into_iter()
            .map(|(space, item)| space + &item)
            .collect();
        format!("{open}{}{close}", items.join(","))
    };
    leaf.prop_recursive(6, 80, 20, move |inner| {
        let item = (space(), inner.clone(), space())
            .prop_map(|(before, item, after)| (before, item + &after));
        let field = (key(), space(), inner, space()).prop_map(|(key, before, value, after)| {
            (before.clone(), format!("{key}{before}:{after}{value}"))
        });
        prop_oneof![
            proptest::collection::vec(item, 0..8).prop_map(move |items| list(items, ("[", "]"))),
            proptest::collection::vec(field, 0..20).prop_map(move |items| list(items, ("{", "}"))),
        ]
    })
}

/// A change to a text that may make it invalid.
#[derive(Clone, Debug)]
enum Damage {
    Flip(Index, u8),
    Insert(Index, &'static str),
    Cut(Index, usize),
    Repeat(Index, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let tokens = vec![
        "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "0", "-", ".", "e", "1", "true", "null",
        " ", "\n", "\u{1}", "\"a\":", "日", "\u{fffd}",
    ];
    let place = || any::<Index>();
    prop_oneof![
        (place(), 0..8_u8).prop_map(|(at, bit)| Damage::Flip(at, 1 << bit)),
        (place(), select(tokens)).prop_map(|(at, token)| Damage::Insert(at, token)),
        (place(), 1..20_usize).prop_map(|(at, length)| Damage::Cut(at, length)),
        (place(), 1..20_usize).prop_map(|(at, length)| Damage::Repeat(at, length)),
    ]
}

fn damaged(text: &str, damages: &[Damage]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for damage in damages {
        let total = bytes.len();
        let range = |at: &Index, length: usize| {
            let start = at.index(total + 1);
            start..(start + length).min(total)
        };
        match damage {
            Damage::Flip(at, bits) => {
                for byte in &mut bytes[range(at, 1)] {
                    *byte ^= bits;
                }
            }
            Damage::Insert(at, token) => drop(bytes.splice(range(at, 0), token.bytes())),
            Damage::Cut(at, length) => drop(bytes.drain(range(at, *length))),
            Damage::Repeat(at, length) => {
                let range = range(at, *length);
                let copy = bytes[range.clone()].to_vec();
                bytes.splice(range.end..range.end, copy);
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A change to one value inside another.
#[derive(Clone, Debug)]
enum Edit {
    Set(Json),
    Append(Json),
    Remove,
    Reverse,
}

fn edit() -> impl Strategy<Value = Edit> {
    let value = || {
        select(vec![
            json!(null),
            json!(1),
            json!(12),
            json!(123),
            json!("1"),
            json!("web\n"),
            json!({}),
            json!([]),
            json!([1, 12]),
            json!({"a": 1, "name": "web"}),
        ])
    };
    prop_oneof![
        3 => value().prop_map(Edit::Set),
        2 => value().prop_map(Edit::Append),
        2 => Just(Edit::Remove),
        1 => Just(Edit::Reverse),
    ]
}

/// Applies an edit to the value that `at` selects among all values.
fn edited(mut object: Json, at: Index, edit: &Edit) -> Json {
    let mut pointers = vec![String::new()];
    let mut next = 0;
    while let Some(pointer) = pointers.get(next).cloned() {
        next += 1;
        match object.pointer(&pointer) {
            Some(Json::Object(fields)) => pointers.extend(
                fields
                    .keys()
                    .map(|key| format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))),
            ),
            Some(Json::Array(items)) => {
                pointers.extend((0..items.len()).map(|index| format!("{pointer}/{index}")));
            }
            _ => {}
        }
    }
    let target = object
        .pointer_mut(&pointers[at.index(pointers.len())])
        .expect("just listed");
    match (edit, target) {
        (Edit::Append(value), Json::Array(items)) => items.push(value.clone()),
        (Edit::Append(value), Json::Object(fields)) => {
            fields.insert("added".into(), value.clone());
        }
        (Edit::Remove, Json::Array(items)) if !items.is_empty() => drop(items.remove(0)),
        (Edit::Remove, Json::Object(fields)) => {
            if let Some(first) = fields.keys().next().cloned() {
                fields.remove(&first);
            }
        }
        (Edit::Reverse, Json::Array(items)) => items.reverse(),
        (Edit::Set(value) | Edit::Append(value), target) => *target = value.clone(),
        (Edit::Remove | Edit::Reverse, target) => *target = Json::Null,
    }
    object
}

proptest! {
    #[test]
    fn valid_texts_are_parsed(text in text()) {
        prop_assert!(Doc::parse(&*text).is_ok());
        reads_as_serde_json_does(&text);
    }

    #[test]
    fn damaged_texts_are_judged_as_by_serde_json(
        text in text(),
        damages in proptest::collection::vec(damage(), 1..4),
    ) {
        let new = damaged(&text, &damages);
        reads_as_serde_json_does(&new);
        hints_change_nothing(&text, &new);
        hints_change_nothing(&new, &text);
    }

    #[test]
    fn any_characters_are_judged_as_by_serde_json(text in "[-\\[\\]{}\",:\\\\ue0-9a-f. \n\\PC]{0,40}") {
        reads_as_serde_json_does(&text);
    }

    #[test]
    fn unrelated_hints_change_nothing(old in text(), new in text()) {
        hints_change_nothing(&old, &new);
    }

    #[test]
    fn edited_objects_are_parsed_the_same_with_a_hint(
        version in 0..9_u32,
        edits in proptest::collection::vec((any::<Index>(), edit()), 1..5),
        damages in proptest::collection::vec(damage(), 0..2),
    ) {
        let old = pod("web-x2k9p", version);
        let new = edits.iter().fold(pod("web-x2k9p", version + 1), |object, (at, edit)| edited(object, *at, edit));
        reads_as_serde_json_does(&new.to_string());
        hints_change_nothing(&old.to_string(), &new.to_string());
        hints_change_nothing(&new.to_string(), &old.to_string());
        let list = |item: &Json| format!("{:#}", json!({"items": [pod("other", 1), item, item]}));
        hints_change_nothing(&list(&old), &list(&new));
        let damaged = damaged(&list(&new), &damages);
        reads_as_serde_json_does(&damaged);
        hints_change_nothing(&list(&old), &damaged);
    }
}
