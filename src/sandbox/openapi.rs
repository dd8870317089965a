//! `OpenAPI` v3: an index of the group versions with schemas, and one document for each.

use std::collections::BTreeMap;
use std::hash::Hasher;

use rustc_hash::FxHasher;
use serde_json::{Map, Value, json};

use super::kinds::Kind;

/// `/openapi/v3`: the path of each document and the hash of its content.
pub(super) fn index(kinds: &[Kind]) -> Value {
    let published = kinds.iter().filter(|kind| kind.schema.is_some());
    let paths: BTreeMap<String, Value> = published
        .map(|kind| {
            let name = format!("apis/{}/{}", kind.resource.group, kind.resource.version);
            let document = document(&kind.resource.group, &kind.resource.version, kinds);
            let url = format!("/openapi/v3/{name}?hash={}", hash(&document));
            (name, json!({ "serverRelativeURL": url }))
        })
        .collect();
    json!({ "paths": paths })
}

/// `/openapi/v3/apis/GROUP/VERSION`: the schemas of one group version.
pub(super) fn document(group: &str, version: &str, kinds: &[Kind]) -> Value {
    let of_version = kinds.iter().filter(|kind| kind.is_of(group, version));
    let schemas: Map<String, Value> = of_version
        .filter_map(|kind| Some((name(kind), schema(kind)?)))
        .collect();
    json!({
        "openapi": "3.0.0", "info": {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"},
        "paths": {}, "components": {"schemas": schemas},
    })
}

/// Whether a group version has a published schema.
pub(super) fn is_published(group: &str, version: &str, kinds: &[Kind]) -> bool {
    let is_it = |kind: &Kind| kind.is_of(group, version);
    kinds
        .iter()
        .any(|kind| is_it(kind) && kind.schema.is_some())
}

fn schema(kind: &Kind) -> Option<Value> {
    let mut schema = kind.schema.clone()?;
    let resource = &kind.resource;
    schema["x-kubernetes-group-version-kind"] =
        json!([{"group": *resource.group, "kind": *resource.kind, "version": *resource.version}]);
    Some(schema)
}

/// `com.example.v1.Route`, as kube-apiserver names the schema of a custom kind.
fn name(kind: &Kind) -> String {
    let mut labels: Vec<&str> = kind.resource.group.rsplit('.').collect();
    labels.extend([&*kind.resource.version, &*kind.resource.kind]);
    labels.join(".")
}

fn hash(document: &Value) -> String {
    let mut hasher = FxHasher::default();
    hasher.write(document.to_string().as_bytes());
    format!("{:016X}", hasher.finish())
}
