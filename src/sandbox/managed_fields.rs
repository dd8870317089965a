//! Maintains `metadata.managedFields`: after each write, every field belongs to the manager that set it last.
//!
//! The rules are those of `k8s.io/apimachinery/pkg/util/managedfields`, including one quirk: an update that only
//! removes fields leaves no trace of its manager.

use serde_json::{Value, json};

use super::fields::{self, FieldSet};

/// The writer, as named in a `managedFields` entry.
pub(super) struct Actor<'a> {
    pub(super) manager: &'a str,
    pub(super) subresource: Option<&'a str>,
    pub(super) api_version: &'a str,
    /// RFC 3339, in whole seconds.
    pub(super) time: &'a str,
}

/// The fields that a write changed, added and removed.
pub(super) struct FieldComparison {
    pub(super) changed: FieldSet,
    pub(super) added: FieldSet,
    pub(super) removed: FieldSet,
}

pub(super) struct ManagerEntry {
    manager: String,
    operation: String,
    subresource: Option<String>,
    api_version: String,
    pub(super) time: String,
    pub(super) fields: FieldSet,
}

impl ManagerEntry {
    pub(super) fn is_by(&self, actor: &Actor<'_>, operation: &str) -> bool {
        self.manager == actor.manager
            && self.operation == operation
            && self.subresource.as_deref() == actor.subresource
            && self.api_version == actor.api_version
    }
}

/// Sets the `managedFields` of `new` after an update of `old`, or after a creation if `old` is `None`.
pub(super) fn after_update(old: Option<&Value>, new: &mut Value, actor: &Actor<'_>) {
    let change = compare(old, new);
    let mut entries = old.map(read).unwrap_or_default();
    let mut mine: FieldSet = change.added.union(&change.changed).cloned().collect();
    let wrote = !mine.is_empty();
    let position = entries
        .iter()
        .position(|entry| entry.is_by(actor, "Update"));
    let before = position.map(|at| entries.remove(at));
    release(&mut entries, &change);
    let mut time = actor.time.to_owned();
    if let Some(before) = before {
        mine.extend(
            before
                .fields
                .into_iter()
                .filter(|path| !change.removed.contains(path)),
        );
        if !wrote {
            time = before.time;
        }
    }
    entries.push(entry(actor, "Update", time, mine));
    write(new, entries);
}

pub(super) fn compare(old: Option<&Value>, new: &Value) -> FieldComparison {
    let old = old.map(fields::leaves).unwrap_or_default();
    let new = fields::leaves(new);
    let mut change = FieldComparison {
        changed: FieldSet::new(),
        added: FieldSet::new(),
        removed: FieldSet::new(),
    };
    for (path, value) in &new {
        match old.get(path) {
            None => change.added.insert(path.clone()),
            Some(before) if before != value => change.changed.insert(path.clone()),
            Some(_) => false,
        };
    }
    change.removed = old
        .into_keys()
        .filter(|path| !new.contains_key(path))
        .collect();
    change
}

/// Removes changed and removed fields from the entries of other managers.
pub(super) fn release(entries: &mut [ManagerEntry], change: &FieldComparison) {
    for entry in entries {
        entry
            .fields
            .retain(|path| !change.changed.contains(path) && !change.removed.contains(path));
    }
}

pub(super) fn entry(
    actor: &Actor<'_>,
    operation: &str,
    time: String,
    fields: FieldSet,
) -> ManagerEntry {
    ManagerEntry {
        manager: actor.manager.to_owned(),
        operation: operation.to_owned(),
        subresource: actor.subresource.map(str::to_owned),
        api_version: actor.api_version.to_owned(),
        time,
        fields,
    }
}

pub(super) fn read(object: &Value) -> Vec<ManagerEntry> {
    let text = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    let entries = object["metadata"]["managedFields"].as_array();
    entries
        .into_iter()
        .flatten()
        .map(|entry| ManagerEntry {
            manager: text(entry, "manager"),
            operation: text(entry, "operation"),
            subresource: entry["subresource"].as_str().map(str::to_owned),
            api_version: text(entry, "apiVersion"),
            time: text(entry, "time"),
            fields: fields::decode(&entry["fieldsV1"]),
        })
        .collect()
}

/// Writes the entries in kube-apiserver's order: applied entries first, then by time and name.
pub(super) fn write(object: &mut Value, mut entries: Vec<ManagerEntry>) {
    entries.retain(|entry| !entry.fields.is_empty());
    entries.sort_by(|a, b| {
        (&a.operation, &a.time, &a.manager).cmp(&(&b.operation, &b.time, &b.manager))
    });
    let values = entries.iter().map(|entry| {
        let mut value = json!({
            "manager": entry.manager,
            "operation": entry.operation,
            "apiVersion": entry.api_version,
            "fieldsType": "FieldsV1",
            "fieldsV1": fields::encode(&entry.fields),
        });
        // kube-apiserver stores no time for the scale subresource.
        if entry.subresource.as_deref() != Some("scale") {
            value["time"] = json!(entry.time);
        }
        if let Some(subresource) = &entry.subresource {
            value["subresource"] = json!(subresource);
        }
        value
    });
    object["metadata"]["managedFields"] = Value::Array(values.collect());
}
