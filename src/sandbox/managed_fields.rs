//! Maintains `metadata.managedFields`: after each write, every field belongs to the manager that set it last.
//!
//! The rules are those of `k8s.io/apimachinery/pkg/util/managedfields`, including one quirk: an update that only
//! removes fields leaves no trace of its manager.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::fields::{self, FieldSet, FieldStep, Path};

/// The writer, as named in a `managedFields` entry.
pub(super) struct Actor<'a> {
    pub(super) manager: &'a str,
    pub(super) subresource: Option<&'a str>,
    pub(super) api_version: &'a str,
    /// RFC 3339, in whole seconds.
    pub(super) time: &'a str,
}

/// The fields that a write changed, added and removed.
struct FieldComparison {
    changed: FieldSet,
    added: FieldSet,
    removed: FieldSet,
}

struct ManagerEntry {
    manager: String,
    operation: String,
    subresource: Option<String>,
    api_version: String,
    time: String,
    fields: FieldSet,
}

impl ManagerEntry {
    fn is_by(&self, actor: &Actor<'_>, operation: &str) -> bool {
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

/// Merges `applied` into `old` as a forced server-side apply does, `managedFields` included.
pub(super) fn apply(old: &Value, applied: &Value, actor: &Actor<'_>) -> Value {
    let mut entries = read(old);
    let position = entries.iter().position(|entry| entry.is_by(actor, "Apply"));
    let before = position.map(|at| entries.remove(at));
    let mine = applied_set(applied);
    let mut new = old.clone();
    merge(&mut new, applied, &mut Vec::new());
    if let Some(before) = &before {
        let is_others = |path: &Path| entries.iter().any(|entry| entry.fields.contains(path));
        let given_up = before
            .fields
            .difference(&mine)
            .filter(|path| !is_others(path));
        // In path order an item of a keyed list precedes its fields, including its keys. So the item is
        // removed first.
        for path in given_up {
            remove(&mut new, path);
        }
    }
    let change = compare(Some(old), &new);
    release(&mut entries, &change);
    let time = match before {
        Some(before) if before.fields == mine && change.is_empty() => before.time,
        _ => actor.time.to_owned(),
    };
    entries.push(entry(actor, "Apply", time, mine));
    write(&mut new, entries);
    new
}

/// Sets the entry of the manager that created `new` by a server-side apply.
pub(super) fn after_first_apply(new: &mut Value, actor: &Actor<'_>) {
    let mine = applied_set(new);
    write(
        new,
        vec![entry(actor, "Apply", actor.time.to_owned(), mine)],
    );
}

/// The fields that an apply owns: its leaves and named list items, but not the containers around them.
fn applied_set(applied: &Value) -> FieldSet {
    let is_owned = |(path, leaf): (Path, Option<&Value>)| {
        let is_item = matches!(path.last(), Some(FieldStep::Key(_) | FieldStep::Item(_)));
        (leaf.is_some() || is_item).then_some(path)
    };
    fields::leaves(applied)
        .into_iter()
        .filter_map(is_owned)
        .collect()
}

impl FieldComparison {
    fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.added.is_empty() && self.removed.is_empty()
    }
}

fn compare(old: Option<&Value>, new: &Value) -> FieldComparison {
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
fn release(entries: &mut [ManagerEntry], change: &FieldComparison) {
    for entry in entries {
        entry
            .fields
            .retain(|path| !change.changed.contains(path) && !change.removed.contains(path));
    }
}

fn entry(actor: &Actor<'_>, operation: &str, time: String, fields: FieldSet) -> ManagerEntry {
    ManagerEntry {
        manager: actor.manager.to_owned(),
        operation: operation.to_owned(),
        subresource: actor.subresource.map(str::to_owned),
        api_version: actor.api_version.to_owned(),
        time,
        fields,
    }
}

fn read(object: &Value) -> Vec<ManagerEntry> {
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
fn write(object: &mut Value, mut entries: Vec<ManagerEntry>) {
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

/// Merges `applied` into `live`: maps by key, keyed lists by item, other values as a whole.
fn merge(live: &mut Value, applied: &Value, path: &mut Path) {
    match (live, applied) {
        (Value::Object(live), Value::Object(applied)) => {
            for (name, value) in applied {
                path.push(FieldStep::Field(name.clone()));
                match live.get_mut(name) {
                    Some(present) => merge(present, value, path),
                    None => drop(live.insert(name.clone(), value.clone())),
                }
                path.pop();
            }
        }
        (Value::Array(live), Value::Array(applied)) => {
            match fields::merge_keys(path, live, applied) {
                Some((old_keys, new_keys)) => {
                    merge_items(live, applied, (&old_keys, &new_keys), path);
                }
                None => live.clone_from(applied),
            }
        }
        (live, applied) => *live = applied.clone(),
    }
}

fn merge_items(
    live: &mut Vec<Value>,
    applied: &[Value],
    keys: (&[String], &[String]),
    path: &mut Path,
) {
    let places: BTreeMap<&String, usize> = keys
        .0
        .iter()
        .enumerate()
        .map(|(at, key)| (key, at))
        .collect();
    for (item, key) in applied.iter().zip(keys.1) {
        match places.get(key) {
            Some(at) => merge(&mut live[*at], item, path),
            None => live.push(item.clone()),
        }
    }
}

/// Removes the field at `path`, and containers that become empty.
fn remove(value: &mut Value, path: &[FieldStep]) {
    let Some((step, rest)) = path.split_first() else {
        return;
    };
    let is_empty = |value: &Value| {
        value.as_object().is_some_and(serde_json::Map::is_empty)
            || value.as_array().is_some_and(Vec::is_empty)
    };
    match (step, value) {
        (FieldStep::Field(name), Value::Object(map)) => {
            let Some(child) = map.get_mut(name) else {
                return;
            };
            remove(child, rest);
            if rest.is_empty() || is_empty(child) {
                map.remove(name);
            }
        }
        (FieldStep::Key(keys), Value::Array(items)) => {
            let keys: Value = serde_json::from_str(keys).unwrap_or_default();
            let is_it = |item: &Value| {
                let keys = keys.as_object();
                keys.is_some_and(|keys| {
                    keys.iter().all(|(key, value)| item.get(key) == Some(value))
                })
            };
            if rest.is_empty() {
                items.retain(|item| !is_it(item));
            } else if let Some(item) = items.iter_mut().find(|item| is_it(item)) {
                remove(item, rest);
            }
        }
        (FieldStep::Item(text), Value::Array(items)) => {
            let value: Value = serde_json::from_str(text).unwrap_or_default();
            items.retain(|item| *item != value);
        }
        _ => {}
    }
}
