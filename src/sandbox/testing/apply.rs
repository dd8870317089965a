//! Server-side apply, which no scenario uses.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::sandbox::fields::{
    self, FieldSet, FieldStep, ListKind, Path, item_step, list_kind, step_text,
};
use crate::sandbox::managed_fields::{
    Actor, FieldComparison, compare, entry, read, release, write,
};
use crate::sandbox::store::{Change, VersionStore};
use crate::sandbox::write::{Stamp, Written, bare};

impl VersionStore {
    pub(in crate::sandbox) fn apply(&self, object: Value, by: &Stamp<'_>) -> Written {
        let mut write = self.write(self.key_of(&object)?, by);
        let applied = bare(object);
        let Ok(old) = write.present() else {
            let mut value = write.newborn(applied);
            write.acting(|actor| own_all(&mut value, actor));
            return Ok(write.commit(Change::Added, value));
        };
        let merged = write.acting(|actor| merged(&old, &applied, actor));
        let fields = merged["metadata"]["managedFields"].clone();
        let mut new = write.successor(&old, merged);
        new["metadata"]["managedFields"] = fields;
        Ok(write.settle(old, new))
    }
}

/// Merges `applied` into `old` as a forced server-side apply does, `managedFields` included.
fn merged(old: &Value, applied: &Value, actor: &Actor<'_>) -> Value {
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
fn own_all(new: &mut Value, actor: &Actor<'_>) {
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

/// The keys of the items of both lists, if they are merged by key; `None` if the list is replaced as a whole.
fn merge_keys(
    path: &[FieldStep],
    old: &[Value],
    new: &[Value],
) -> Option<(Vec<String>, Vec<String>)> {
    let of = |items: &[Value]| match list_kind(path, items) {
        ListKind::Atomic => None,
        kind => Some(
            items
                .iter()
                .map(|item| step_text(&item_step(&kind, item)))
                .collect::<Vec<_>>(),
        ),
    };
    Some((of(old)?, of(new)?))
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
        (Value::Array(live), Value::Array(applied)) => match merge_keys(path, live, applied) {
            Some((old_keys, new_keys)) => {
                merge_items(live, applied, (&old_keys, &new_keys), path);
            }
            None => live.clone_from(applied),
        },
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
