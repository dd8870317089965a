//! Field sets: the fields of an object, and their form in `metadata.managedFields`.
//!
//! The rules are those of `sigs.k8s.io/structured-merge-diff`. Maps are granular, items of keyed lists are
//! addressed by their keys, and all other lists are leaves. The step `.` means that the container itself
//! belongs to the set.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FieldStep {
    /// `f:NAME`.
    Field(String),
    /// `k:{…}`, the keys as JSON.
    Key(String),
    /// `v:VALUE`, an element of a list that is a set.
    Item(String),
}

impl FieldStep {
    /// The name of a field; empty for an item of a list.
    fn name(&self) -> &str {
        match self {
            FieldStep::Field(name) => name,
            FieldStep::Key(_) | FieldStep::Item(_) => "",
        }
    }
}

/// A path from the root of an object.
pub(super) type Path = Vec<FieldStep>;
/// The fields that a manager owns.
pub(super) type FieldSet = BTreeSet<Path>;

/// How a list is merged.
pub(super) enum ListKind {
    Atomic,
    Set,
    Keyed(&'static [&'static str]),
}

/// The list kinds of the built-in types used here (`x-kubernetes-list-type` in the API's `OpenAPI` document).
pub(super) fn list_kind(path: &[FieldStep], items: &[Value]) -> ListKind {
    let fields = path.iter().map(FieldStep::name);
    let names: Vec<&str> = fields.filter(|name| !name.is_empty()).collect();
    let first_has = |key: &str| items.first().is_some_and(|item| item.get(key).is_some());
    let keys: &'static [&'static str] = match names.last().copied().unwrap_or_default() {
        "containers"
        | "initContainers"
        | "ephemeralContainers"
        | "env"
        | "volumes"
        | "imagePullSecrets" => &["name"],
        "volumeMounts" => &["mountPath"],
        "conditions" if first_has("type") => &["type"],
        "addresses" if first_has("type") && names.len() == 2 => &["type"],
        "ownerReferences" => &["uid"],
        "podIPs" => &["ip"],
        "ports" if first_has("containerPort") => &["containerPort", "protocol"],
        "ports" if first_has("port") && names.first() == Some(&"spec") => &["port", "protocol"],
        "finalizers" => return ListKind::Set,
        _ => return ListKind::Atomic,
    };
    let complete = items
        .iter()
        .all(|item| keys.iter().all(|key| item.get(*key).is_some()));
    if complete {
        ListKind::Keyed(keys)
    } else {
        ListKind::Atomic
    }
}

/// The maps that the API declares as atomic: selectors.
fn is_atomic_map(path: &[FieldStep]) -> bool {
    matches!(
        path.last().map_or("", FieldStep::name),
        "selector"
            | "labelSelector"
            | "nodeSelector"
            | "fieldRef"
            | "secretKeyRef"
            | "configMapKeyRef"
    )
}

/// Struct fields that Go never omits. No manager owns such a field itself, only the fields in it.
fn is_always_there(path: &[FieldStep]) -> bool {
    matches!(
        path.last().map_or("", FieldStep::name),
        "metadata"
            | "spec"
            | "status"
            | "template"
            | "strategy"
            | "updateStrategy"
            | "containers"
            | "jobTemplate"
    )
}

/// The leaves of an object, and its containers as `None`, without the fields that have no owner.
pub(super) fn leaves(object: &Value) -> BTreeMap<Path, Option<&Value>> {
    let mut found = BTreeMap::new();
    let mut path = Vec::new();
    collect(object, &mut path, &mut found);
    found.retain(|path, _| !is_system_field(path));
    found
}

fn is_system_field(path: &[FieldStep]) -> bool {
    let names: Vec<&str> = path.iter().take(2).map(FieldStep::name).collect();
    matches!(names.as_slice(), ["apiVersion" | "kind", ..])
        || matches!(
            names.as_slice(),
            [
                "metadata",
                "name"
                    | "namespace"
                    | "creationTimestamp"
                    | "selfLink"
                    | "uid"
                    | "generation"
                    | "managedFields"
                    | "resourceVersion"
                    | "deletionTimestamp"
                    | "deletionGracePeriodSeconds"
            ]
        )
}

fn collect<'v>(value: &'v Value, path: &mut Path, found: &mut BTreeMap<Path, Option<&'v Value>>) {
    // `managedFields` describes the object and is not one of the fields it describes.
    if path.last() == Some(&FieldStep::Field("managedFields".to_owned())) {
        return;
    }
    match value {
        Value::Object(map) if !map.is_empty() && !is_atomic_map(path) => {
            let is_item = matches!(path.last(), Some(FieldStep::Key(_)));
            if is_item || !(path.is_empty() || is_always_there(path)) {
                found.insert(path.clone(), None);
            }
            for (name, child) in map {
                path.push(FieldStep::Field(name.clone()));
                collect(child, path, found);
                path.pop();
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let kind = list_kind(path, items);
            if matches!(kind, ListKind::Atomic) {
                found.insert(path.clone(), Some(value));
                return;
            }
            if !is_always_there(path) {
                found.insert(path.clone(), None);
            }
            for item in items {
                path.push(item_step(&kind, item));
                collect(item, path, found);
                path.pop();
            }
        }
        leaf => {
            found.insert(path.clone(), Some(leaf));
        }
    }
}

pub(super) fn item_step(kind: &ListKind, item: &Value) -> FieldStep {
    match kind {
        ListKind::Keyed(keys) => FieldStep::Key(key_of(keys, item)),
        ListKind::Set | ListKind::Atomic => FieldStep::Item(item.to_string()),
    }
}

fn key_of(keys: &[&str], item: &Value) -> String {
    let map: Map<String, Value> = keys
        .iter()
        .map(|key| ((*key).to_owned(), item[*key].clone()))
        .collect();
    Value::Object(map).to_string()
}

pub(super) fn step_text(step: &FieldStep) -> String {
    match step {
        FieldStep::Field(name) => format!("f:{name}"),
        FieldStep::Key(keys) => format!("k:{keys}"),
        FieldStep::Item(value) => format!("v:{value}"),
    }
}

/// The `fieldsV1` form of a set.
pub(super) fn encode(set: &FieldSet) -> Value {
    let mut root = json!({});
    for path in set {
        let mut node = &mut root;
        for step in path {
            node = &mut node[step_text(step)];
            if node.is_null() {
                *node = json!({});
            }
        }
        // A leaf stays `{}`. A container with owned children gets `.` for itself.
        let has_children = set
            .range(path.clone()..)
            .nth(1)
            .is_some_and(|next| next.starts_with(path));
        if has_children {
            node["."] = json!({});
        }
    }
    root
}

/// Reads a `fieldsV1` back into a set.
pub(super) fn decode(fields: &Value) -> FieldSet {
    let mut set = FieldSet::new();
    decode_into(fields, &mut Vec::new(), &mut set);
    set
}

fn decode_into(node: &Value, path: &mut Path, set: &mut FieldSet) {
    let Some(map) = node.as_object() else { return };
    if map.is_empty() || map.contains_key(".") {
        set.insert(path.clone());
    }
    for (name, child) in map.iter().filter(|(name, _)| *name != ".") {
        let step = match name.split_once(':') {
            Some(("k", keys)) => FieldStep::Key(keys.to_owned()),
            Some(("v", value)) => FieldStep::Item(value.to_owned()),
            Some((_, field)) => FieldStep::Field(field.to_owned()),
            None => FieldStep::Field(name.clone()),
        };
        path.push(step);
        decode_into(child, path, set);
        path.pop();
    }
}
