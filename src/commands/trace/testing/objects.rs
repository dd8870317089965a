//! Which objects the sources of a test have.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::object::{Doc, ObjectRef, ResourceVersion, Uid};
use crate::source::{Matcher, SourceKey, Version};

/// A version of an object.
pub(super) fn version(object: &Value, version: u64) -> Arc<Version> {
    let text = |path: &str| object.pointer(path).and_then(Value::as_str);
    Arc::new(Version {
        object: ObjectRef {
            api_version: text("/apiVersion").unwrap_or_default().into(),
            kind: text("/kind").unwrap_or_default().into(),
            namespace: text("/metadata/namespace").map(Arc::from),
            name: text("/metadata/name").unwrap_or_default().into(),
            uid: text("/metadata/uid").map(Uid::new),
        }
        .into(),
        version: ResourceVersion::new(version.to_string()),
        body: object.to_string().into(),
    })
}

/// Whether a source has an object.
pub(super) fn selects(key: &SourceKey, object: &Value) -> bool {
    let doc = Doc::parse(object.to_string()).expect("JSON");
    let namespace = object["metadata"]["namespace"].as_str();
    object["kind"] == *key.resource.kind
        && object["apiVersion"] == key.resource.api_version()
        && key.namespace().is_none_or(|own| namespace == Some(own))
        && Matcher::new(&key.select).matches(doc.root())
}

/// The Node that a source names. Each Node that an object names exists and is ready.
pub(super) fn ready_node(source: &SourceKey) -> Option<Value> {
    let name = source
        .select
        .name()
        .filter(|_| &*source.resource.kind == "Node")?;
    Some(json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "uid": format!("uid-{name}")},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }))
}
