//! The fields that an entry owns, with their paths as [`Path`](crate::object::path::Path) spells them.

use std::borrow::Cow;

use super::{ManagedFieldsEntry, key};
use crate::object::doc::Doc;
use crate::object::path::PathWriter;
use crate::object::scan;
use crate::object::value::Value;

/// A field that an entry owns.
#[derive(Clone)]
pub struct OwnedField<'a> {
    /// Its path: `.spec.replicas`, `.spec.template.spec.containers[name=web].image`, `.data["app.yaml"]`.
    pub path: String,
    /// Its value; `None` if the object does not have it.
    pub value: Option<Value<'a>>,
}

impl ManagedFieldsEntry<'_> {
    /// The fields of its object that the entry owns, without the maps and lists around them.
    pub fn owned_fields<'a>(&self, object: Value<'a>) -> Vec<OwnedField<'a>> {
        let mut owned = Vec::new();
        if let Some(fields) = self.fields {
            collect(fields, Some(object), &mut String::new(), &mut owned);
        }
        owned
    }
}

/// Adds the fields of a set below `path`, where the object has `value`.
fn collect<'a>(
    set: Value<'_>,
    value: Option<Value<'a>>,
    path: &mut String,
    owned: &mut Vec<OwnedField<'a>>,
) {
    let mut is_leaf = true;
    for (key, below) in set.written_fields().filter(|(key, _)| *key != ".") {
        is_leaf = false;
        let length = path.len();
        let value = value.and_then(|value| key::value_in(value, key));
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

#[cfg(test)]
mod tests {
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
}
