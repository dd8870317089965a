//! Any two versions are compared without a panic. The patch turns the old version into the new, and the diff
//! is empty only if they are equal. The input is both versions, with a form feed between them.

#![no_main]

use kubectl_spy::diff::json_patch::json_patch;
use kubectl_spy::diff::{Diff, Redactor, merge_patch};
use kubectl_spy::object::Doc;
use serde_json::Value;

libfuzzer_sys::fuzz_target!(|pair: &str| {
    let Some((old, new)) = pair.split_once('\u{c}') else {
        return;
    };
    let (Ok(a), Ok(b)) = (Doc::parse(old), Doc::parse(new)) else {
        return;
    };
    let diff = Diff::of(Some(a.root()), Some(b.root()));
    let redactor = Redactor::revealing();
    let patch = serde_json::to_string(&json_patch(&diff, &redactor)).expect("a patch serializes");
    let merge = merge_patch(redactor.shown(a.root()), redactor.shown(b.root()));
    // `serde_json` limits the depth and the numbers of a `Value`, so it cannot read all versions.
    let values = (serde_json::from_str(old), serde_json::from_str(new));
    let (Ok::<Value, _>(old), Ok::<Value, _>(new)) = values else {
        return;
    };
    let mut patched = old.clone();
    let patch: json_patch::Patch = serde_json::from_str(&patch).expect("a patch parses");
    json_patch::patch(&mut patched, &patch).expect("the patch applies");
    assert_eq!(patched, new, "{patch:?}");
    if let (Ok(merge), false) = (merge, diff.is_empty()) {
        let mut merged = old;
        json_patch::merge(
            &mut merged,
            &serde_json::from_str(&merge.json).expect("a merge patch is JSON"),
        );
        assert_eq!(merged, new, "{}", merge.json);
    }
});
