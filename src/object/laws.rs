//! The properties of [`Doc`] for every text, as checks that panic. The property tests and the fuzz targets
//! (`fuzz/`) call them. The fuzz targets include this file, so it imports nothing but what its parent imports.

use serde_json::value::RawValue;

use super::{Doc, Kind, ParseError, Value};

/// `Doc` accepts the same texts as `serde_json` does for a `RawValue`, which allows every number and every
/// surrogate. Only the depth limit differs. Both decode the same values.
pub(crate) fn reads_as_serde_json_does(text: &str) {
    let ours = Doc::parse(text);
    let theirs: Result<&RawValue, _> = serde_json::from_str(text);
    let (doc, raw) = match (ours, theirs) {
        (Ok(doc), Ok(raw)) => (doc, raw.get()),
        (Err(ParseError::TooDeep { .. }), Ok(raw)) => {
            assert!(depth(raw.get()) > Doc::MAX_DEPTH, "depth in {text:?}");
            return;
        }
        (Err(_), Err(_)) => return,
        (ours, theirs) => panic!("{text:?}\nours:   {ours:?}\ntheirs: {theirs:?}"),
    };
    assert!(depth(raw) <= Doc::MAX_DEPTH, "depth in {text:?}");
    assert_eq!(doc.root().raw(), raw);
    // `serde_json::Value` accepts less: its depth and its numbers are limited, and lone surrogates are errors.
    if let Ok(value) = serde_json::from_str(text) {
        check_same(doc.root(), &value);
    }
    check_total(doc.root());
}

/// The result is the same, node for node and error for error, with every previous version as a hint.
pub(crate) fn hints_change_nothing(old: &str, new: &str) {
    let Ok(old) = Doc::parse(old) else { return };
    match (Doc::parse(new), Doc::parse_after(new, &old)) {
        (Ok(plain), Ok(hinted)) => {
            assert!(plain.is_same_tape(&hinted), "{new:?}\nafter {old:?}");
        }
        (Err(plain), Err(hinted)) => assert_eq!(plain, hinted, "{new:?}\nafter {old:?}"),
        (plain, hinted) => panic!("plain: {plain:?}\nhinted: {hinted:?}\nafter {old:?}"),
    }
}

/// [`hints_change_nothing`] for two texts with a form feed between them, which JSON never contains.
pub(crate) fn hints_change_nothing_in(pair: &str) {
    if let Some((old, new)) = pair.split_once('\u{c}') {
        hints_change_nothing(old, new);
        hints_change_nothing(new, old);
    }
}

fn check_same(ours: Value<'_>, theirs: &serde_json::Value) {
    use serde_json::Value as Json;
    match theirs {
        Json::Null => assert!(ours.is_null(), "{ours:?}"),
        Json::Bool(truth) => assert_eq!(ours.as_bool(), Some(*truth)),
        Json::Number(number) => {
            assert_eq!(ours.kind(), Kind::Number);
            assert_eq!(serde_json::from_str(ours.raw()).ok().as_ref(), Some(number));
            if number.is_i64() {
                assert_eq!(ours.as_i64(), number.as_i64());
            }
        }
        Json::String(text) => assert_eq!(ours.as_str().as_deref(), Some(&**text)),
        Json::Array(items) => {
            assert_eq!(ours.kind(), Kind::Array);
            assert_eq!(ours.items().count(), items.len());
            for (ours, theirs) in ours.items().zip(items) {
                check_same(ours, theirs);
            }
        }
        Json::Object(fields) => {
            assert_eq!(ours.kind(), Kind::Object);
            assert_eq!(ours.fields().count(), fields.len());
            for (key, ours) in ours.fields() {
                check_same(ours, &fields[&*key]);
            }
        }
    }
}

/// Every look-up on every value returns, and every listed child can be looked up.
fn check_total(value: Value<'_>) {
    let scalars = [
        value.as_str().is_some(),
        value.as_f64().is_some(),
        value.as_bool().is_some(),
        value.is_null(),
    ];
    assert!(scalars.iter().filter(|&&is| is).count() <= 1, "{value:?}");
    for (key, field) in value.fields() {
        let found = value.get(&key).map(Value::raw);
        assert_eq!(
            found.map(str::as_ptr),
            Some(field.raw().as_ptr()),
            "{key:?}"
        );
        check_total(field);
    }
    for item in value.items() {
        check_total(item);
    }
}

/// The nesting depth of an accepted text.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut bytes = text.bytes();
    let mut is_string = false;
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => is_string = !is_string,
            b'\\' if is_string => drop(bytes.next()),
            b'{' | b'[' if !is_string => depth += 1,
            b'}' | b']' if !is_string => depth -= 1,
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}
