//! No output contains Secret values.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::diff::json_patch::{json_patch, step_by_step};
use crate::diff::{LAST_APPLIED, may_name_secret};

fn secret(data: &str, metadata: &str) -> String {
    format!(
        r#"{{"apiVersion":"v1","kind":"Secret","metadata":{{{metadata}}},"data":{{"password":"{data}"}}}}"#
    )
}

#[test]
fn equal_values_have_equal_numbers() {
    let redactor = Redactor::new();
    let show = |text: &str| redactor.shown(doc(text).root()).json();
    // The values are hunter2, hunter3, and hunter2 again as plain text.
    insta::assert_snapshot!(show(&secret("aHVudGVyMg==", "")), @r#"{"apiVersion":"v1","kind":"Secret","metadata":{},"data":{"password":{"redacted":true,"bytes":7,"id":1}}}"#);
    insta::assert_snapshot!(show(&secret("aHVudGVyMw==", "")), @r#"{"apiVersion":"v1","kind":"Secret","metadata":{},"data":{"password":{"redacted":true,"bytes":7,"id":2}}}"#);
    insta::assert_snapshot!(show(
        r#"{"kind":"Secret","apiVersion":"v1","stringData":{"a":"hunter2","b":null,"c":7,"d":{"e":"hunter2"}},"type":"Opaque"}"#
    ), @r#"{"kind":"Secret","apiVersion":"v1","stringData":{"a":{"redacted":true,"bytes":7,"id":1},"b":null,"c":{"redacted":true,"bytes":1,"id":3},"d":{"redacted":true,"bytes":15,"id":4}},"type":"Opaque"}"#);
    // A value that is not base64 is counted as its text. Data that is not a map is hidden as a whole.
    insta::assert_snapshot!(show(&secret("=a=b", "")), @r#"{"apiVersion":"v1","kind":"Secret","metadata":{},"data":{"password":{"redacted":true,"bytes":4,"id":5}}}"#);
    insta::assert_snapshot!(show(r#"{"apiVersion":"v1","kind":"Secret","data":["hunter2",{"name":"x"}],"stringData":"hunter2"}"#), @r#"{"apiVersion":"v1","kind":"Secret","data":{"redacted":true,"bytes":24,"id":6},"stringData":{"redacted":true,"bytes":7,"id":1}}"#);
    insta::assert_debug_snapshot!(redactor, @"
    Redactor(
        6,
    )
    ");
}

#[test]
fn lists_and_copies_of_secrets_are_redacted() {
    let show = |text: &str| Redactor::new().shown(doc(text).root()).json();
    let items = format!(
        r#"[{},{{"apiVersion":"v1","kind":"ConfigMap","data":{{"a":"shown"}}}}]"#,
        secret("aHVudGVyMg==", "")
    );
    insta::assert_snapshot!(show(&format!(r#"{{"apiVersion":"v1","kind":"List","items":{items}}}"#)), @r#"{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Secret","metadata":{},"data":{"password":{"redacted":true,"bytes":7,"id":1}}},{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"shown"}}]}"#);
    insta::assert_snapshot!(show(r#"{"apiVersion":"v1","kind":"SecretList","items":[{"metadata":{"name":"x"},"data":{"a":"aHVudGVyMg=="}}]}"#), @r#"{"apiVersion":"v1","kind":"SecretList","items":[{"metadata":{"name":"x"},"data":{"a":{"redacted":true,"bytes":7,"id":1}}}]}"#);
    insta::assert_snapshot!(show(r#"{"apiVersion":"example.com/v1","kind":"Secret","data":{"a":"not ours"}}"#), @r#"{"apiVersion":"example.com/v1","kind":"Secret","data":{"a":"not ours"}}"#);
    insta::assert_snapshot!(show(&format!(r#"{{"kind":"Bundle","spec":{{"resources":[{}]}}}}"#, secret("aHVudGVyMg==", ""))), @r#"{"kind":"Bundle","spec":{"resources":[{"apiVersion":"v1","kind":"Secret","metadata":{},"data":{"password":{"redacted":true,"bytes":7,"id":1}}}]}}"#);
}

/// An API server refuses these, but their values are secrets all the same.
#[test]
fn what_resembles_a_secret_is_redacted() {
    let hidden = |text: &str| {
        let shown = Redactor::new().shown(doc(text).root()).json();
        !shown.contains("aHVudGVyMg")
    };
    let value = r#"{"password":"aHVudGVyMg=="}"#;
    for kind in [
        r#""kind":"secret","apiVersion":"v1""#,
        r#""kind":"SECRET""#,
        r#""Kind":"Secret","apiVersion":"v1""#,
        r#""kind":"Secret","apiVersion":"v2""#,
        r#""kind":"Secret","apiVersion":"V1""#,
        r#""kind":"Secret","apiversion":"/v1""#,
        r#""kind":"Secret","apiVersion":1"#,
    ] {
        for key in ["data", "Data", "stringdata", "STRINGDATA"] {
            let object = format!(r#"{{{kind},"{key}":{value}}}"#);
            assert!(hidden(&object), "{object}");
            assert!(hidden(&format!(r#"{{"spec":[{object}]}}"#)), "{object}");
            let copy = note("note", &object);
            assert!(hidden(&format!(r#"{{"metadata":{{{copy}}}}}"#)), "{copy}");
        }
        let metadata = note("example.com/x", "aHVudGVyMg==").replace("annotations", "Annotations");
        let object = format!(r#"{{{kind},"Metadata":{{{metadata}}}}}"#);
        assert!(hidden(&object), "{object}");
    }
    let list = format!(r#"{{"kind":"secretlist","apiVersion":"v2","Items":[{{"data":{value}}}]}}"#);
    assert!(hidden(&list));
    for kind in [
        r#""kind":"secret","apiVersion":"example.com/v1""#,
        r#""kind":"SecretStore","apiVersion":"v1""#,
    ] {
        assert!(!hidden(&format!(r#"{{{kind},"data":{value}}}"#)), "{kind}");
    }
}

#[test]
fn a_text_that_names_no_secret_is_not_searched() {
    for (text, is_named) in [
        (r#"{"kind":"Secret"}"#, true),
        (r#"{\"kind\":\"secret\"}"#, true),
        (r#"{"kind":"SECRETLIST"}"#, true),
        ("{kind: Secret, data: x}", true),
        (r#"{"kind":"Secret"#, true),
        (r#"{"kind":"\u0053ecret"}"#, true),
        (r#"{"imagePullSecrets":[{"secretName":"x"}]}"#, false),
        ("{{ .Values.secretName }}", false),
        (r#"{"secret":{"optional":true}}"#, false),
        (r#"{\"secret\":{\"optional\":true}}"#, false),
        (r#"{"kind":"ConfigMap"}"#, false),
    ] {
        assert_eq!(may_name_secret(text), is_named, "{text}");
    }
}

fn note(key: &str, value: &str) -> String {
    let value = serde_json::to_string(value).expect("a string serializes");
    format!(r#""annotations":{{"{key}":{value}}}"#)
}

/// The shown text of a Secret's annotation.
fn shown_note(key: &str, value: &str) -> String {
    let object = doc(&secret("", &note(key, value)));
    let redactor = Redactor::new();
    let annotations = redactor.shown(object.root()).get("metadata");
    let annotations = annotations.and_then(|metadata| metadata.get("annotations"));
    annotations
        .and_then(|all| all.get(key))
        .expect("the annotation exists")
        .json()
}

#[test]
fn a_nested_secret_is_redacted_even_without_an_api_version() {
    for version in ["", r#""apiVersion":"","#] {
        let inner = format!(r#"{{{version}"kind":"Secret","data":{{"a":"aHVudGVyMg=="}}}}"#);
        let outer =
            format!(r#"{{"apiVersion":"v1","kind":"Template","spec":{{"object":{inner}}}}}"#);
        let shown = Redactor::new().shown(doc(&outer).root()).json();
        assert!(!shown.contains("aHVudGVyMg"), "{shown}");
    }
}

#[test]
fn harmless_annotations_of_a_secret_are_shown() {
    let long = "a".repeat(254);
    let cases = [
        ("kubernetes.io/service-account.name", "default", true),
        ("meta.helm.sh/release-name", "", true),
        (
            "argocd.argoproj.io/tracking-id",
            "app:/Secret:shop/db",
            true,
        ),
        (
            "cert-manager.io/alt-names",
            "*.shop.example,shop.example",
            true,
        ),
        ("example.com/note", "hunter2", false),
        ("example.com/note", "", false),
        ("openshift.io/token-secret.value", "hunter2", false),
        ("reconcile.external-secrets.io/data-hash", "8d1c", false),
        // The key is harmless, the text is not.
        (
            "meta.helm.sh/release-name",
            r#"{"data":{"a":"hunter2"}}"#,
            false,
        ),
        ("meta.helm.sh/release-name", "password: hunter2\n", false),
        ("meta.helm.sh/release-name", "hunter2\u{202e}", false),
        ("meta.helm.sh/release-name", &long, false),
    ];
    for (key, value, is_shown) in cases {
        let expected = if is_shown {
            format!("{value:?}")
        } else {
            format!(r#"{{"redacted":true,"bytes":{},"id":1}}"#, value.len())
        };
        assert_eq!(shown_note(key, value), expected, "{key}: {value}");
    }
}

#[test]
fn last_applied_is_shown_redacted_if_it_is_a_plain_secret() {
    let show = |value: &str| shown_note(LAST_APPLIED, value);
    insta::assert_snapshot!(show(&format!("{}\n", secret("aHVudGVyMg==", r#""name":"db""#))), @r#""{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"db\"},\"data\":{\"password\":{\"redacted\":true,\"bytes\":7,\"id\":1}}}""#);
    // The copy's annotations are those of a Secret too.
    insta::assert_snapshot!(show(&secret("", &note("a", "hunter2"))), @r#""{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"annotations\":{\"a\":{\"redacted\":true,\"bytes\":7,\"id\":1}}},\"data\":{\"password\":{\"redacted\":true,\"bytes\":0,\"id\":2}}}""#);
    insta::assert_snapshot!(show(r#"{"kind":"Secret","stringData":{"a":"hunter2"}}"#), @r#""{\"kind\":\"Secret\",\"stringData\":{\"a\":{\"redacted\":true,\"bytes\":7,\"id\":1}}}""#);
    let json = secret("aHVudGVyMg==", "");
    let twice = serde_json::to_string(&json).expect("a string serializes");
    let hidden = [
        twice.as_str(),
        &format!("[{json}]"),
        &format!("{json} x"),
        &format!("\u{feff}{json}"),
        r#"{"data":{"a":"hunter2"}"#,
        r#"[{"op":"add","path":"/data/a","value":"hunter2"}]"#,
        r#"{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"hunter2"}}"#,
        r#"{"apiVersion":"v1","kind":"Secret","stringdata":{"a":"hunter2"}}"#,
        r#"{"apiVersion":"v1","kind":"Secret","metadata":"hunter2"}"#,
        r#"{"apiVersion":"v1","kind":"Secret","metadata":{"stringData":{"a":"hunter2"}}}"#,
        r#"{"apiVersion":"v1","kind":"Secret","type":{"a":"hunter2"}}"#,
        "apiVersion: v1\nkind: Secret\nstringData: {a: hunter2}\n",
        "hunter2",
    ];
    for value in hidden {
        let expected = format!(r#"{{"redacted":true,"bytes":{},"id":1}}"#, value.len());
        assert_eq!(show(value), expected, "{value}");
    }
}

#[test]
fn annotations_that_are_not_strings_are_hidden() {
    let show = |annotations: &str| {
        let metadata = format!(r#""annotations":{annotations}"#);
        Redactor::new()
            .shown(doc(&secret("", &metadata)).root())
            .json()
    };
    for annotations in [
        r#""hunter2""#,
        r#"["hunter2"]"#,
        r#"{"a":["hunter2"]}"#,
        r#"{"a":{"b":"hunter2"}}"#,
        r#"{"helm.sh/hook":{"b":"hunter2"}}"#,
    ] {
        let shown = show(annotations);
        assert!(
            shown.contains("redacted") && !shown.contains("hunter2"),
            "{shown}"
        );
    }
    insta::assert_snapshot!(show(r#"{"a":null}"#), @r#"{"apiVersion":"v1","kind":"Secret","metadata":{"annotations":{"a":null}},"data":{"password":{"redacted":true,"bytes":0,"id":1}}}"#);
}

#[test]
fn a_change_of_a_hidden_annotation_is_listed_without_its_values() {
    let with = |value: &str| secret("", &note("example.com/rotated", value));
    insta::assert_snapshot!(check(&with("one"), &with("two")), @r#"~ .metadata.annotations["example.com/rotated"]: {"redacted":true,"bytes":3,"id":1} → {"redacted":true,"bytes":3,"id":2}"#);
    // To call it another spelling would reveal that the value is a time.
    insta::assert_snapshot!(check(&with("2024-05-01T14:02:01Z"), &with("2024-05-01T14:02:01.0Z")), @r#"~ .metadata.annotations["example.com/rotated"]: {"redacted":true,"bytes":20,"id":1} → {"redacted":true,"bytes":22,"id":2} Secret"#);
}

#[test]
fn copies_of_secrets_in_other_annotations_are_redacted() {
    // JSON that names the kind Secret counts as one.
    let other = |value: &str| {
        format!(
            r#"{{"kind":"ConfigMap","metadata":{{{}}}}}"#,
            note("note", value)
        )
    };
    let show = |value: &str| Redactor::new().shown(doc(&other(value)).root()).json();
    insta::assert_snapshot!(show(&secret("aHVudGVyMg==", "")), @r#"{"kind":"ConfigMap","metadata":{"annotations":{"note":"{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{},\"data\":{\"password\":{\"redacted\":true,\"bytes\":7,\"id\":1}}}"}}}"#);
    insta::assert_snapshot!(show(r#"{"kind":"ConfigMap","data":{"a":"shown"}}"#), @r#"{"kind":"ConfigMap","metadata":{"annotations":{"note":"{\"kind\":\"ConfigMap\",\"data\":{\"a\":\"shown\"}}"}}}"#);
    // Nothing is hidden, so the text is unchanged.
    let plain = r#"{ "kind": "Deployment", "x": "Secret" }"#;
    assert!(show(plain).contains(&serde_json::to_string(plain).expect("a string serializes")));
    assert!(!show(&format!("{} x", secret("aHVudGVyMg==", ""))).contains("aHVudGVyMg"));
}

#[test]
fn a_change_of_a_secret_is_listed_without_its_values() {
    insta::assert_snapshot!(check(&secret("aHVudGVyMg==", ""), &secret("aHVudGVyMw==", "")), @r#"~ .data.password: {"redacted":true,"bytes":7,"id":1} → {"redacted":true,"bytes":7,"id":2} Secret"#);
    insta::assert_snapshot!(check(
        r#"{"apiVersion":"v1","kind":"Secret","data":{"a":"aHVudGVyMg=="}}"#,
        r#"{"apiVersion":"v1","kind":"Secret","data":{"b":"aHVudGVyMg=="},"stringData":{"c":"x"}}"#,
    ), @r#"
    - .data.a: {"redacted":true,"bytes":7,"id":1} Secret
    + .data.b: {"redacted":true,"bytes":7,"id":1} Secret
    + .stringData: {"c":{"redacted":true,"bytes":1,"id":2}}
    "#);
    insta::assert_snapshot!(check(
        r#"{"apiVersion":"v1","kind":"Secret","data":[{"name":"hunter2"}]}"#,
        r#"{"apiVersion":"v1","kind":"Secret","data":[{"name":"hunter3"}]}"#,
    ), @r#"~ .data: {"redacted":true,"bytes":20,"id":1} → {"redacted":true,"bytes":20,"id":2} Secret"#);
    // Only the old version is a Secret.
    insta::assert_snapshot!(check(
        r#"{"apiVersion":"v1","kind":"Secret","data":{"a":"aHVudGVyMg=="}}"#,
        r#"{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"aHVudGVyMw=="}}"#,
    ), @r#"
    ~ .data.a: {"redacted":true,"bytes":7,"id":1} → {"redacted":true,"bytes":7,"id":2} Secret
    ~ .kind: "Secret" → "ConfigMap"
    "#);
}

#[test]
fn a_value_that_returns_keeps_its_number() {
    let redactor = Redactor::new();
    let numbers: Vec<String> = [
        "aHVudGVyMg==",
        "aHVudGVyMw==",
        "aHVudGVyMg==",
        "aHVu\\ndGVyMg==",
    ]
    .windows(2)
    .map(|pair| {
        let (a, b) = (doc(&secret(pair[0], "")), doc(&secret(pair[1], "")));
        let diff = Diff::of(Some(a.root()), Some(b.root()));
        let lines = diff
            .changes()
            .iter()
            .map(|change| line(&diff, change, &redactor));
        lines.collect::<Vec<_>>().join("\n")
    })
    .collect();
    insta::assert_snapshot!(numbers.join("\n"), @r#"
    ~ .data.password: {"redacted":true,"bytes":7,"id":1} → {"redacted":true,"bytes":7,"id":2} Secret
    ~ .data.password: {"redacted":true,"bytes":7,"id":2} → {"redacted":true,"bytes":7,"id":1} Secret
    ~ .data.password: {"redacted":true,"bytes":7,"id":1} → {"redacted":true,"bytes":7,"id":1} Secret
    "#);
}

#[test]
fn a_redacted_patch_is_marked_as_redacted() {
    let (a, b) = (
        doc(&secret("aHVudGVyMg==", "")),
        doc(&secret("aHVudGVyMw==", r#""labels":{"a":"b"}"#)),
    );
    let diff = Diff::of(Some(a.root()), Some(b.root()));
    let patch_json = |redactor: &Redactor| {
        let patch = json_patch(&diff, redactor);
        let text = serde_json::to_string(&patch).expect("a patch serializes");
        format!("{text} {}", patch.is_redacted())
    };
    insta::assert_snapshot!(patch_json(&Redactor::new()), @r#"[{"op":"replace","path":"/data/password","value":{"redacted":true,"bytes":7,"id":1}},{"op":"add","path":"/metadata/labels","value":{"a":"b"}}] true"#);
    insta::assert_snapshot!(patch_json(&Redactor::revealing()), @r#"[{"op":"replace","path":"/data/password","value":"aHVudGVyMw=="},{"op":"add","path":"/metadata/labels","value":{"a":"b"}}] false"#);
    let labels = doc(&secret("aHVudGVyMg==", r#""labels":{"a":"b"}"#));
    let diff = Diff::of(Some(a.root()), Some(labels.root()));
    assert!(!json_patch(&diff, &Redactor::new()).is_redacted());
}

#[test]
fn a_patch_that_writes_an_unchanged_secret_value_is_redacted() {
    let list = |rest: &[u32]| {
        let held = secret("aHVudGVyMg==", "");
        let rest: Vec<String> = rest.iter().map(|n| format!(",{n}")).collect();
        let rest = rest.concat();
        format!(r#"{{"kind":"Template","objects":[{held}{rest}]}}"#)
    };
    let all = secret("aHVudGVyMg==", r#""labels":{"a":"1","b":"1","c":"1"}"#);
    let others = secret("aHVudGVyMg==", r#""labels":{"x":"2","y":"2","z":"2"}"#);
    let without = r#"{"apiVersion":"v1","kind":"Secret","metadata":{}}"#;
    let cases = [
        // The list as a whole is shorter than twelve removals.
        (
            list(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
            list(&[]),
            (true, true),
        ),
        // A merge patch can only replace the whole list.
        (list(&[]), list(&[1]), (false, true)),
        // The object as a whole is shorter than six edits.
        (all, others, (true, false)),
        // A removed value is not in the patch.
        (
            secret("aHVudGVyMg==", ""),
            without.to_owned(),
            (false, false),
        ),
    ];
    for (old, new, redacted) in cases {
        let (a, b) = (doc(&old), doc(&new));
        let redactor = Redactor::new();
        let diff = Diff::of(Some(a.root()), Some(b.root()));
        let merge = merge_patch(redactor.shown(a.root()), redactor.shown(b.root()));
        let merge = merge.expect("there are no nulls");
        let patch = json_patch(&diff, &redactor);
        assert_eq!(
            (patch.is_redacted(), merge.is_redacted),
            redacted,
            "{patch:?} {merge:?}"
        );
    }
}

/// The kind of a nested Secret and its data change together or not at all.
#[test]
fn a_value_becomes_a_secret_as_a_whole() {
    let template = |kind: &str, value: &str| {
        doc(&format!(
            r#"{{"kind":"Template","spec":{{"n":"{kind}","object":{{"apiVersion":"v1","kind":"{kind}","data":{{"a":"{value}","b":"same"}}}}}}}}"#
        ))
    };
    let open = template("ConfigMap", "public");
    let held = template("Secret", "aHVudGVyMg==");
    let partly = |old: &Doc, new: &Doc, field: &str| {
        let diff = Diff::of(Some(old.root()), Some(new.root()));
        let partly = crate::diff::partly(&diff, |change| diff.field(change.at) == Some(field));
        Redactor::new().shown(partly.root()).json()
    };
    insta::assert_snapshot!(partly(&open, &held, "a"), @r#"{"kind":"Template","spec":{"n":"ConfigMap","object":{"apiVersion":"v1","kind":"Secret","data":{"a":{"redacted":true,"bytes":7,"id":1},"b":{"redacted":true,"bytes":3,"id":2}}}}}"#);
    insta::assert_snapshot!(partly(&held, &open, "kind"), @r#"{"kind":"Template","spec":{"n":"Secret","object":{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"public","b":"same"}}}}"#);
}

#[test]
fn a_revealing_redactor_shows_secret_values() {
    let redactor = Redactor::revealing();
    let text = secret("aHVudGVyMg==", "");
    let object = doc(&text);
    let data = redactor.shown(object.root()).get("data").expect("a map");
    assert_eq!(data.str("password").as_deref(), Some("hunter2"));
    assert_eq!(redactor.shown(object.root()).json(), text);
    // Bytes that are not text are shown as base64.
    let binary = doc(&secret("/wD/", ""));
    let data = redactor.shown(binary.root()).get("data").expect("a map");
    assert_eq!(data.str("password").as_deref(), Some("/wD/"));
}

/// A text that does not occur by chance.
pub(crate) const PLANTED: &str = "hunter2hunter2";

pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |bits: u32| char::from(DIGITS[(bits & 63) as usize]);
    bytes
        .chunks(3)
        .flat_map(|chunk| {
            let bits = chunk
                .iter()
                .fold(0u32, |bits, &byte| bits << 8 | u32::from(byte))
                << (8 * (3 - chunk.len()));
            let mut group = [
                digit(bits >> 18),
                digit(bits >> 12),
                digit(bits >> 6),
                digit(bits),
            ];
            group[chunk.len() + 1..].fill('=');
            group
        })
        .collect()
}

/// Secrets with the planted text in every place that may contain a Secret's value.
pub(crate) fn planted() -> impl Strategy<Value = serde_json::Value> {
    let value = ("[a-z]{0,3}", "[a-z]{0,3}").prop_map(|(a, b)| format!("{a}{PLANTED}{b}"));
    let shape = prop_oneof![Just(0), Just(1), Just(2), Just(3)];
    let list = any::<bool>();
    (value, shape, list, any::<bool>()).prop_map(|(value, shape, list, copied)| {
        let data = match shape {
            0 => json!({"data": {"a": base64(value.as_bytes())}}),
            1 => json!({"stringData": {"a": value}}),
            2 => json!({"data": {"a": {"b": [value]}}, "stringData": [value]}),
            _ => json!({"data": value, "stringData": {"x": null, "y": {"z": value}}}),
        };
        let mut secret = data;
        secret["apiVersion"] = json!("v1");
        secret["kind"] = json!("Secret");
        if copied {
            let copy = secret.to_string();
            let applied = if list {
                json!(copy).to_string()
            } else {
                copy.clone()
            };
            secret["metadata"]["annotations"] = json!({
                LAST_APPLIED: applied,
                "last": copy,
                "yaml": format!("stringData:\n  a: {PLANTED}\n"),
                "base64": base64(copy.as_bytes()),
                "helm.sh/hook": format!("{{{PLANTED}}}"),
            });
        }
        if list {
            json!({"apiVersion": "v1", "kind": "List", "items": [{"kind": "X"}, secret]})
        } else {
            secret
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_patch_with_a_placeholder_is_marked_as_redacted(old in planted(), other in planted(), is_other in any::<bool>(), n in 0..3) {
        let mut new = if is_other { other } else { old.clone() };
        new["metadata"]["labels"] = json!({"n": n});
        if let Some(items) = new["items"].as_array_mut() {
            items.push(json!(n));
        }
        let (a, b) = (doc(&old.to_string()), doc(&new.to_string()));
        for redactor in [Redactor::new(), Redactor::unchanged()] {
            let diff = Diff::of(Some(a.root()), Some(b.root()));
            for patch in [json_patch(&diff, &redactor), step_by_step(&diff, &redactor)] {
                let text = serde_json::to_string(&patch).expect("a patch serializes");
                prop_assert_eq!(patch.is_redacted(), text.contains("redacted"), "{}", text);
            }
            if let Ok(patch) = merge_patch(redactor.shown(a.root()), redactor.shown(b.root())) {
                prop_assert_eq!(patch.is_redacted, patch.json.contains("redacted"), "{}", patch.json);
            }
        }
    }

    #[test]
    fn no_output_contains_the_planted_text(old in planted(), new in planted(), mask in any::<u64>()) {
        let (a, b) = (doc(&old.to_string()), doc(&new.to_string()));
        let redactor = Redactor::new();
        let mut output = String::new();
        for sides in [(Some(&a), Some(&b)), (None, Some(&b)), (Some(&a), None)] {
            let diff = Diff::of(sides.0.map(Doc::root), sides.1.map(Doc::root));
            let _ = write!(output, "{diff:?} {:?}", diff.changes());
            for change in diff.changes() {
                output.push_str(&line(&diff, change, &redactor));
                for side in [Side::Old, Side::New] {
                    let shown = diff.shown(change.at, side, &redactor);
                    let _ = write!(output, "{shown:?} {:?}", shown.map(Shown::content));
                }
            }
            output.push_str(&serde_json::to_string(&json_patch(&diff, &redactor)).expect("a patch serializes"));
        }
        output.push_str(&redactor.shown(a.root()).json());
        let diff = Diff::of(Some(a.root()), Some(b.root()));
        let partly = crate::diff::partly(&diff, |change| mask >> (change.at.0 % 64) & 1 == 1);
        output.push_str(&redactor.shown(partly.root()).json());
        let diff = Diff::of(Some(a.root()), Some(partly.root()));
        output.push_str(&serde_json::to_string(&step_by_step(&diff, &redactor)).expect("a patch serializes"));
        for secret in [PLANTED.to_owned(), base64(PLANTED.as_bytes()), base64(&PLANTED.as_bytes()[1..12]), base64(&PLANTED.as_bytes()[2..11])] {
            let secret = secret.trim_end_matches('=');
            let found = output.find(secret).map(|at| output[..at].chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect::<String>());
            prop_assert_eq!(found, None, "{}", secret);
        }
    }
}

/// Copies of Secrets in an annotation of another object: as JSON in a string of JSON, at any depth, and after white space or
/// a byte order mark.
#[test]
fn copies_of_secrets_in_annotations_of_other_objects_are_hidden() {
    let copy = r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"db"},"data":{"password":"aHVudGVyMg=="}}"#;
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let once = quoted(copy);
    let twice = quoted(&quoted(&once));
    let escaped = copy.replace("Secret", "\\u0053ecret");
    let bare = copy.replace(r#""apiVersion":"v1","#, "");
    let list = format!(r#"{{"kind":"SecretList","items":[{copy}]}}"#);
    let is_hidden = |text: &str| {
        let annotation = format!(
            r#"{{"metadata":{{"annotations":{{"x":{}}}}}}}"#,
            quoted(text)
        );
        let (object, redactor) = (doc(&annotation), Redactor::new());
        let shown = redactor.shown(object.root()).get("metadata");
        let shown = shown.and_then(|metadata| metadata.get("annotations"));
        let shown = shown.and_then(|all| all.get("x")).expect("it is there");
        shown.json().starts_with(r#"{"redacted""#)
    };
    for text in [
        once.clone(),
        twice,
        quoted(&escaped),
        quoted(&bare),
        quoted(&list),
        format!("{{\"inner\":{once}}}"),
        format!("[[{once}]]"),
        format!("{{{once}:1}}"),
        format!("{{\"inner\":{}}}", quoted(&format!("\u{feff} {copy}"))),
        format!("\u{feff}{copy}"),
        format!(" \u{feff}\n{copy}"),
        format!("\u{feff}{once}"),
        format!("\u{a0}{copy}"),
        format!("{{\"inner\":{}}}", quoted(&copy[..copy.len() - 1])),
    ] {
        assert!(is_hidden(&text), "{text}");
    }
    for text in [
        r#"{"valuesFrom":"[{\"kind\":\"Secret\",\"name\":\"db\"}]"}"#,
        r#""Secret" is a word"#,
        r#"{"kind":"ExternalSecret","spec":"{\"kind\":\"ExternalSecret\",\"data\":{}}"}"#,
    ] {
        assert!(!is_hidden(text), "{text}");
    }
}
