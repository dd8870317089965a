//! The sets of fields that managers own (`fieldsV1`): who owns a field, and which fields an entry owns.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::object::doc::{Doc, Value};
use crate::object::path::PathWriter;
use crate::object::scan;

/// One step of the path to a field.
#[derive(Clone)]
pub enum OwnerStep<'a> {
    /// A field of an object.
    Field(Cow<'a, str>),
    /// An item of a list. Ownership names it by its key fields, its value or its index.
    Item {
        /// The item.
        value: Value<'a>,
        /// Its index in the list.
        index: u32,
    },
}

/// Follows a path through `fieldsV1`: `f:NAME` for fields, `k:{…}` for items by key, `v:…` by value, `i:N` by
/// index. An empty set owns everything below it, even if the path continues.
pub(super) fn names(set: Value<'_>, path: &[OwnerStep<'_>]) -> Option<usize> {
    let Some((step, rest)) = path.split_first() else {
        return Some(0);
    };
    if set.is_empty_object() {
        return Some(0);
    }
    let mut fields = set.written_fields();
    let below = match step {
        OwnerStep::Field(name) => {
            let (_, child) = fields.find(|(key, _)| is_field(key, name))?;
            names(child, rest)
        }
        OwnerStep::Item { value, index } => fields.find_map(|(key, child)| {
            let is_named = is_item(key, *value, *index);
            is_named.then(|| names(child, rest)).flatten()
        }),
    };
    Some(below? + 1)
}

pub(super) fn names_part(set: Value<'_>, path: &[OwnerStep<'_>]) -> bool {
    let Some((step, rest)) = path.split_first() else {
        return set.written_fields().any(|(key, _)| key != WHOLE);
    };
    let mut below = set.written_fields().filter(|(key, _)| is_step(key, step));
    below.any(|(_, child)| names_part(child, rest))
}

fn is_step(key: &str, step: &OwnerStep<'_>) -> bool {
    match step {
        OwnerStep::Field(name) => is_field(key, name),
        OwnerStep::Item { value, index } => is_item(key, *value, *index),
    }
}

/// Whether a set of fields names the value at the end of a path as a whole, without the fields inside it.
pub(super) fn names_whole(set: Value<'_>, path: &[OwnerStep<'_>]) -> bool {
    if set.is_empty_object() {
        return true;
    }
    let Some((step, rest)) = path.split_first() else {
        return false;
    };
    let mut below = set.written_fields().filter(|(key, _)| is_step(key, step));
    below.any(|(_, child)| names_whole(child, rest))
}

/// A field that an entry owns.
#[derive(Clone)]
pub struct OwnedField<'a> {
    /// Its path: `.spec.replicas`, `.spec.template.spec.containers[name=web].image`, `.data["app.yaml"]`.
    pub path: String,
    /// Its value; `None` if the object does not have it.
    pub value: Option<Value<'a>>,
}

/// Adds the fields of a set below `path`, where the object has `value`.
pub(super) fn collect<'a>(
    set: Value<'_>,
    value: Option<Value<'a>>,
    path: &mut String,
    owned: &mut Vec<OwnedField<'a>>,
) {
    let mut is_leaf = true;
    for (key, below) in set.written_fields().filter(|(key, _)| *key != ".") {
        is_leaf = false;
        let length = path.len();
        let value = value.and_then(|value| value_in(value, key));
        push_step(path, &scan::unescape(key));
        collect(below, value, path, owned);
        path.truncate(length);
    }
    if is_leaf && !path.is_empty() {
        let path = path.clone();
        owned.push(OwnedField { path, value });
    }
}

/// Appends the step that a key of a set of fields stands for.
fn push_step(path: &mut String, key: &str) {
    let mut writer = PathWriter::below(path);
    match key.split_once(':') {
        Some(("f", name)) => writer.field(name),
        Some(("k", keys)) => {
            if let Ok(keys) = Doc::parse(keys) {
                let text = |value: Value<'_>| value.as_str().map(Cow::into_owned);
                let part = |(name, value): (Cow<'_, str>, Value<'_>)| {
                    let value = text(value).unwrap_or_else(|| value.raw().to_owned());
                    (name.into_owned(), value)
                };
                let parts: Vec<(String, String)> = keys.root().fields().map(part).collect();
                let parts = parts
                    .iter()
                    .map(|(name, value)| (&**name, Cow::Borrowed(&**value)));
                writer.key(parts, 1);
            }
        }
        Some((_, value)) => {
            path.push('[');
            path.push_str(value);
            path.push(']');
        }
        None => {}
    }
}

/// The key for a list or a map itself, beside the keys for its parts.
pub(super) const WHOLE: &str = ".";

pub(super) fn is_field(key: &str, name: &str) -> bool {
    match key.len().cmp(&(2 + name.len())) {
        Ordering::Less => false,
        Ordering::Equal => key.strip_prefix("f:") == Some(name) && !key.contains('\\'),
        // Escape sequences are longer than their characters.
        Ordering::Greater => {
            key.contains('\\') && scan::unescape(key).strip_prefix("f:") == Some(name)
        }
    }
}

/// Whether a key names the item: `k:{…}` by key fields, `v:…` by its value, `i:N` by its index.
pub(super) fn is_item(key: &str, item: Value<'_>, index: u32) -> bool {
    as_usual(key, item).unwrap_or_else(|| in_any_spelling(&scan::unescape(key), item, index))
}

/// The value that a key names in the value around it; `None` if there is none.
fn value_in<'a>(around: Value<'a>, key: &str) -> Option<Value<'a>> {
    if let Some((_, value)) = around.fields().find(|(name, _)| is_field(key, name)) {
        return Some(value);
    }
    let mut items = (0..).zip(around.items());
    let item = items.find(|(index, item)| is_item(key, *item, *index));
    item.map(|(_, item)| item)
}

/// Compares a key in the API server's spelling, `k:{\"name\":\"web\",\"port\":80}` or `v:\"web\"`: without
/// spaces, and with escapes only for the quotes. Such a key needs no decoding. `None` for any other spelling.
fn as_usual(key: &str, item: Value<'_>) -> Option<bool> {
    if key == WHOLE {
        return Some(false);
    }
    if let Some(value) = key.strip_prefix("v:") {
        let (is_same, rest) = is_written(value, Some(item))?;
        return rest.is_empty().then_some(is_same);
    }
    let mut rest = key.strip_prefix("k:{")?;
    loop {
        let (name, value) = quoted(rest)?;
        let (is_same, after) = is_written(value.strip_prefix(':')?, item.get(name))?;
        if !is_same || after == "}" {
            return Some(is_same);
        }
        rest = after.strip_prefix(',')?;
    }
}

/// Whether the scalar at the start of a text is `own`, and the text after it.
fn is_written<'k>(text: &'k str, own: Option<Value<'_>>) -> Option<(bool, &'k str)> {
    if let Some((string, rest)) = quoted(text) {
        let own = own.and_then(Value::as_str);
        return Some((own.is_some_and(|own| own == string), rest));
    }
    let is_other = |byte: u8| !byte.is_ascii_alphanumeric() && !b"+-.".contains(&byte);
    let end = text.bytes().position(is_other).unwrap_or(text.len());
    let (scalar, rest) = text.split_at(end);
    let is_same = own.is_some_and(|own| own.raw() == scalar);
    (!scalar.is_empty()).then_some((is_same, rest))
}

/// The string at the start of a text, with escaped quotes and no other escapes, and the text after it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix("\\\"")?;
    let end = text.bytes().position(|byte| byte == b'\\')?;
    Some((&text[..end], text[end..].strip_prefix("\\\"")?))
}

fn in_any_spelling(key: &str, item: Value<'_>, index: u32) -> bool {
    match key.split_once(':') {
        Some(("k", keys)) => Doc::parse(keys).is_ok_and(|keys| {
            let mut fields = keys.root().fields();
            keys.root().fields().next().is_some()
                && fields.all(|(name, value)| item.get(&name).is_some_and(|own| same(own, value)))
        }),
        Some(("v", value)) => Doc::parse(value).is_ok_and(|value| same(item, value.root())),
        Some(("i", at)) => at.parse() == Ok(index),
        _ => false,
    }
}

/// Whether two scalars are equal.
fn same(a: Value<'_>, b: Value<'_>) -> bool {
    match (a.as_str(), b.as_str()) {
        (Some(a), Some(b)) => a == b,
        _ => a.raw() == b.raw(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value as Json, json};

    use super::super::entries;
    use super::*;

    #[test]
    fn fields_have_the_paths_of_changes_and_their_values() {
        let owned = r#"{
            "f:data": {".": {}, "f:app.yaml": {}, "f:level": {}},
            "f:metadata": {"f:finalizers": {".": {}, "v:\"a/b\"": {}}},
            "f:spec": {"f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}, "f:name": {}}}, "f:all": {}}
        }"#;
        let object = format!(
            r#"{{"metadata": {{"managedFields": [{{"manager": "a", "fieldsV1": {owned}}}, {{"manager": "b"}}], "finalizers": ["a/b"]}},
                "data": {{"app.yaml": "a: 1", "level": "3"}}, "spec": {{"ports": [{{"port": 80, "protocol": "TCP", "name": "http"}}]}}}}"#
        );
        let doc = Doc::parse(object).expect("an object");
        let entries = entries(doc.root());
        let owned = entries[0].owned_fields(doc.root()).into_iter();
        let owned: Vec<_> = owned
            .map(|field| (field.path, field.value.map_or("", Value::raw)))
            .collect();
        let owned: Vec<_> = owned.iter().map(|(path, raw)| (&**path, *raw)).collect();
        assert_eq!(
            owned,
            [
                (r#".data["app.yaml"]"#, r#""a: 1""#),
                (".data.level", r#""3""#),
                (r#".metadata.finalizers["a/b"]"#, r#""a/b""#),
                (".spec.ports[port=80,protocol=TCP].port", "80"),
                (".spec.ports[port=80,protocol=TCP].name", r#""http""#),
                (".spec.all", ""),
            ]
        );
        assert!(entries[1].owned_fields(doc.root()).is_empty());
    }

    fn scalar() -> impl Strategy<Value = Json> {
        prop_oneof![
            Just(json!(null)),
            any::<bool>().prop_map(Json::from),
            (0..3i64).prop_map(Json::from),
            Just(json!(-1.5e30)),
            "[ab]{0,2}".prop_map(Json::from),
            r#"[a",:}\\{é\n]{0,3}"#.prop_map(Json::from),
        ]
    }

    fn object() -> impl Strategy<Value = Json> {
        prop::collection::btree_map(r#"[ab]|a"|\\\\"#, scalar(), 0..3)
            .prop_map(|fields| Json::Object(fields.into_iter().collect::<Map<_, _>>()))
    }

    /// A key that often names the item, in the API server's spelling or another one.
    fn key() -> impl Strategy<Value = String> {
        let spelled = |json: &Json, spelling: u32| match spelling {
            0..4 => json.to_string(),
            4 => serde_json::to_string_pretty(json).expect("serialisable"),
            5 => json.to_string().replace('a', "\\u0061"),
            6 => json.to_string().replace('}', ""),
            _ => format!("{json} "),
        };
        prop_oneof![
            (object(), 0..8u32).prop_map(move |(keys, how)| format!("k:{}", spelled(&keys, how))),
            (scalar(), 0..8u32).prop_map(move |(value, how)| format!("v:{}", spelled(&value, how))),
            (0..3u32).prop_map(|at| format!("i:{at}")),
            r#"[kvif.]:?\{?"?[a1]?"?\}?"#,
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Comparing a key without decoding it gives the same result as decoding it.
        #[test]
        fn the_usual_spelling_gives_the_same_result(
            item in prop_oneof![object(), scalar()],
            key in key(),
            index in 0..3u32,
        ) {
            let written = json!(key).to_string();
            let written = &written[1..written.len() - 1];
            let doc = Doc::parse(item.to_string()).expect("valid");
            prop_assert_eq!(
                is_item(written, doc.root(), index),
                in_any_spelling(&key, doc.root(), index)
            );
        }
    }

    proptest! {
        #[test]
        fn fields_are_found_in_every_spelling(
            prefix in "f:|k:|f|",
            name in r#"[a"\\\nu]{0,3}"#,
            other in r#"[a"\\\nu]{0,3}"#,
            is_spelled_otherwise in any::<bool>(),
        ) {
            let key = format!("{prefix}{name}");
            let mut written = json!(key).to_string();
            if is_spelled_otherwise {
                written = written.replace('a', "\\u0061").replace('f', "\\u0066");
            }
            let written = &written[1..written.len() - 1];
            for name in [&name, &other] {
                prop_assert_eq!(is_field(written, name), key == format!("f:{name}"));
            }
        }
    }

    #[test]
    fn the_servers_spelling_needs_no_decoding() {
        let doc = Doc::parse(r#"{"name":"web","port":80,"protocol":"TCP"}"#).expect("valid");
        let cases = [
            (r#"k:{\"name\":\"web\"}"#, Some(true)),
            (r#"k:{\"port\":80,\"protocol\":\"TCP\"}"#, Some(true)),
            (r#"k:{\"port\":80,\"protocol\":\"UDP\"}"#, Some(false)),
            (r#"k:{\"port\":8}"#, Some(false)),
            (r#"k:{\"uid\":\"1\"}"#, Some(false)),
            (r#"k:{ \"port\":80}"#, None),
            (r#"k:{\"name\":\"we\\u0062\"}"#, None),
            ("k:{}", None),
            ("i:0", None),
            (".", Some(false)),
        ];
        for (key, expected) in cases {
            assert_eq!(as_usual(key, doc.root()), expected, "{key}");
        }
    }
}
