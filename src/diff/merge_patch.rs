//! Writes a diff as a JSON Merge Patch (RFC 7396): objects are merged by field, other values are replaced as
//! a whole, and `null` removes a field.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::object::path::{Path, Step};

use super::redact::push_field;
use super::{Content, Diff, Shown};

/// A value that a merge patch cannot express: `null`, which removes the field instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the null at {path} cannot be expressed in a merge patch")]
pub struct Inexpressible {
    /// The path of the null.
    pub path: String,
}

/// A JSON Merge Patch.
#[derive(Debug, Default)]
pub struct MergePatch {
    /// Its JSON text.
    pub json: String,
    /// Whether Secret values are replaced by placeholders. Such a patch must not be applied.
    pub is_redacted: bool,
}

/// The patch that turns `old` into `new`; `{}` if nothing has changed. Numbers keep their digits. Secret
/// values are replaced by placeholders.
///
/// # Errors
///
/// [`Inexpressible`] if a changed value is a `null` or contains one outside a list.
pub fn merge_patch(old: Shown<'_>, new: Shown<'_>) -> Result<MergePatch, Inexpressible> {
    let mut writer = PatchWriter::default();
    if is_object(old) && is_object(new) {
        writer.changes(old, new)?;
    } else {
        writer.whole(new)?;
    }
    Ok(writer.patch)
}

#[derive(Default)]
struct PatchWriter<'a> {
    patch: MergePatch,
    /// The fields from the root to the current value.
    path: Vec<Cow<'a, str>>,
}

impl<'a> PatchWriter<'a> {
    /// Writes the changed fields of an object.
    fn changes(&mut self, old: Shown<'a>, new: Shown<'a>) -> Result<(), Inexpressible> {
        let before: FxHashMap<_, _> = old.fields().collect();
        let names: FxHashSet<_> = new.fields().map(|(name, _)| name).collect();
        self.patch.json.push('{');
        let open = self.patch.json.len();
        for (name, _) in old.fields().filter(|(name, _)| !names.contains(name)) {
            push_field(&mut self.patch.json, &name, open);
            self.patch.json.push_str("null");
        }
        for (name, value) in new.fields() {
            let old = before.get(&name).copied();
            if old.is_some_and(|old| is_same(old, value)) {
                continue;
            }
            push_field(&mut self.patch.json, &name, open);
            self.path.push(name);
            match old.filter(|old| is_object(*old) && is_object(value)) {
                Some(old) => self.changes(old, value)?,
                None => self.whole(value)?,
            }
            self.path.pop();
        }
        self.patch.json.push('}');
        Ok(())
    }

    /// Writes a value that has no old object to merge with.
    fn whole(&mut self, value: Shown<'a>) -> Result<(), Inexpressible> {
        match value.content() {
            Content::Null => {
                let steps = self.path.iter().cloned().map(Step::Field).collect();
                let path = Path { steps }.to_string();
                Err(Inexpressible { path })
            }
            Content::Object => {
                self.patch.json.push('{');
                let open = self.patch.json.len();
                for (name, value) in value.fields() {
                    push_field(&mut self.patch.json, &name, open);
                    self.path.push(name);
                    self.whole(value)?;
                    self.path.pop();
                }
                self.patch.json.push('}');
                Ok(())
            }
            _ => {
                self.patch.json.push_str(&value.json());
                self.patch.is_redacted |= value.holds_secret();
                Ok(())
            }
        }
    }
}

fn is_object(value: Shown<'_>) -> bool {
    value.content() == Content::Object
}

fn is_same(old: Shown<'_>, new: Shown<'_>) -> bool {
    Diff::of(Some(old.value), Some(new.value)).is_empty()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value as Json;

    use super::*;
    use crate::diff::Redactor;
    use crate::object::Doc;

    fn patch(old: &str, new: &str) -> Result<String, String> {
        let (old, new) = (Doc::parse(old).unwrap(), Doc::parse(new).unwrap());
        let redactor = Redactor::new();
        let patch = merge_patch(redactor.shown(old.root()), redactor.shown(new.root()));
        patch
            .map(|patch| patch.json)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_patch_holds_the_changed_fields_only() {
        let table = [
            (r#"{"a":1}"#, r#"{"a":1}"#, "{}"),
            (r#"{"a":1,"b":2}"#, r#"{"b":3}"#, r#"{"a":null,"b":3}"#),
            (
                r#"{"a":{"b":[1,2],"c":1}}"#,
                r#"{"a":{"c":1,"b":[2]}}"#,
                r#"{"a":{"b":[2]}}"#,
            ),
            (r#"{"a":"<"}"#, r#"{"a":"\u003c"}"#, "{}"),
            (r#"{"a":1}"#, r#"{"a":{}}"#, r#"{"a":{}}"#),
            (r#"{"a":1}"#, r#"{"a":[null]}"#, r#"{"a":[null]}"#),
            (
                "{}",
                r#"{"n":18446744073709551617}"#,
                r#"{"n":18446744073709551617}"#,
            ),
            // A null that stays does not enter the patch.
            (r#"{"a":null}"#, r#"{"a":null,"b":1}"#, r#"{"b":1}"#),
        ];
        for (old, new, expected) in table {
            assert_eq!(patch(old, new).as_deref(), Ok(expected), "{old} {new}");
        }
    }

    #[test]
    fn a_new_null_is_an_error_that_names_its_path() {
        let cannot = |path: &str| {
            Err(format!(
                "the null at {path} cannot be expressed in a merge patch"
            ))
        };
        assert_eq!(patch(r#"{"a":1}"#, r#"{"a":null}"#), cannot(".a"));
        assert_eq!(
            patch("{}", r#"{"a":{"b/c":{"d":null}}}"#),
            cannot(r#".a["b/c"].d"#)
        );
    }

    #[test]
    fn secret_values_are_replaced_by_placeholders() {
        let secret = |value: &str| {
            format!(r#"{{"kind":"Secret","apiVersion":"v1","data":{{"p":"{value}"}}}}"#)
        };
        assert_eq!(
            patch(&secret("aHVudGVyMg=="), &secret("aHVudGVyMw==")).unwrap(),
            r#"{"data":{"p":{"redacted":true,"bytes":7,"id":2}}}"#
        );
    }

    fn json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(Json::from),
            (0..3).prop_map(Json::from),
            "[ab]{0,2}".prop_map(Json::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Json::from),
                prop::collection::hash_map("[a-d]", inner, 0..4)
                    .prop_map(|map| Json::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_patch_merged_into_the_old_version_gives_the_new((old, new) in (json(), json())) {
            let patch = patch(&old.to_string(), &new.to_string()).unwrap();
            let patch: Json = serde_json::from_str(&patch).unwrap();
            let mut merged = old;
            json_patch::merge(&mut merged, &patch);
            prop_assert_eq!(merged, new);
        }
    }
}
