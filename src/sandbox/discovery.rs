//! What the server says about its kinds: the discovery documents, and the schemas of `OpenAPI` v3.

use std::collections::BTreeMap;
use std::hash::Hasher;

use rustc_hash::FxHasher;
use serde_json::{Map, Value, json};

use super::kinds::Kind;

const VERBS: [&str; 3] = ["get", "list", "watch"];

pub(super) fn core_versions() -> Value {
    json!({
        "kind": "APIVersions", "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1"}],
    })
}

/// `/apis`: the named groups.
pub(super) fn groups(kinds: &[Kind]) -> Value {
    let names = group_names(kinds)
        .into_iter()
        .filter(|name| !name.is_empty());
    let groups: Vec<Value> = names.map(|name| group_entry(name, kinds)).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

pub(super) fn group(name: &str, kinds: &[Kind]) -> Value {
    let mut group = group_entry(name, kinds);
    group["kind"] = json!("APIGroup");
    group["apiVersion"] = json!("v1");
    group
}

fn group_entry(name: &str, kinds: &[Kind]) -> Value {
    let versions: Vec<Value> = versions_of(name, kinds)
        .into_iter()
        .map(|version| json!({"groupVersion": format!("{name}/{version}"), "version": version}))
        .collect();
    json!({"name": name, "versions": versions, "preferredVersion": versions.first()})
}

/// `/api/v1` and `/apis/GROUP/VERSION`: the resources of one version.
pub(super) fn resources(group: &str, version: &str, kinds: &[Kind]) -> Value {
    let mut resources = Vec::new();
    for kind in kinds.iter().filter(|kind| kind.is_of(group, version)) {
        let is_namespaced = kind.resource.namespaced;
        let mut resource = json!({
            "name": *kind.resource.plural, "singularName": kind.singular(), "namespaced": is_namespaced,
            "kind": *kind.resource.kind, "verbs": VERBS,
        });
        if !kind.short_names.is_empty() {
            resource["shortNames"] = json!(kind.short_names);
        }
        if !kind.categories.is_empty() {
            resource["categories"] = json!(kind.categories);
        }
        resources.push(resource);
        if kind.has_status {
            resources.push(json!({
                "name": format!("{}/status", kind.resource.plural), "singularName": "", "namespaced": is_namespaced,
                "kind": *kind.resource.kind, "verbs": ["get"],
            }));
        }
    }
    let group_version = if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    };
    json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": resources})
}

/// The core group, or all the others, as an aggregated discovery document.
pub(super) fn aggregated(is_core: bool, kinds: &[Kind]) -> Value {
    let names = group_names(kinds)
        .into_iter()
        .filter(|name| name.is_empty() == is_core);
    let items: Vec<Value> = names.map(|name| aggregated_group(name, kinds)).collect();
    json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items,
    })
}

fn aggregated_group(name: &str, kinds: &[Kind]) -> Value {
    let versions: Vec<Value> = versions_of(name, kinds)
        .into_iter()
        .map(|version| {
            let of_version = kinds.iter().filter(|kind| kind.is_of(name, version));
            let resources: Vec<Value> = of_version.map(aggregated_resource).collect();
            json!({"version": version, "freshness": "Current", "resources": resources})
        })
        .collect();
    let metadata = if name.is_empty() {
        json!({})
    } else {
        json!({"name": name})
    };
    json!({"metadata": metadata, "versions": versions})
}

fn aggregated_resource(kind: &Kind) -> Value {
    let resource = &kind.resource;
    let response =
        json!({"group": *resource.group, "version": *resource.version, "kind": *resource.kind});
    let scope = if resource.namespaced {
        "Namespaced"
    } else {
        "Cluster"
    };
    let mut resource = json!({
        "resource": *resource.plural, "responseKind": response, "scope": scope,
        "singularResource": kind.singular(), "verbs": VERBS,
    });
    if !kind.short_names.is_empty() {
        resource["shortNames"] = json!(kind.short_names);
    }
    if !kind.categories.is_empty() {
        resource["categories"] = json!(kind.categories);
    }
    if kind.has_status {
        resource["subresources"] =
            json!([{"subresource": "status", "responseKind": response, "verbs": ["get"]}]);
    }
    resource
}

pub(super) fn version() -> Value {
    json!({
        "major": "1", "minor": "36", "gitVersion": "v1.36.0+sandbox", "gitCommit": "", "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "none", "compiler": "rustc", "platform": "linux/amd64",
    })
}

fn group_names(kinds: &[Kind]) -> Vec<&str> {
    in_order(kinds.iter().map(|kind| &*kind.resource.group))
}

fn versions_of<'k>(group: &str, kinds: &'k [Kind]) -> Vec<&'k str> {
    in_order(
        kinds
            .iter()
            .filter(|kind| *kind.resource.group == *group)
            .map(|kind| &*kind.resource.version),
    )
}

/// The distinct names, in the order of their first occurrence.
fn in_order<'k>(names: impl Iterator<Item = &'k str>) -> Vec<&'k str> {
    let mut known = Vec::new();
    for name in names {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    known
}

/// `/openapi/v3`: the path of each document and the hash of its content.
pub(super) fn openapi_index(kinds: &[Kind]) -> Value {
    let published = kinds.iter().filter(|kind| kind.schema.is_some());
    let paths: BTreeMap<String, Value> = published
        .map(|kind| {
            let name = format!("apis/{}/{}", kind.resource.group, kind.resource.version);
            let document = openapi_document(&kind.resource.group, &kind.resource.version, kinds);
            let url = format!("/openapi/v3/{name}?hash={}", hash(&document));
            (name, json!({ "serverRelativeURL": url }))
        })
        .collect();
    json!({ "paths": paths })
}

/// `/openapi/v3/apis/GROUP/VERSION`: the schemas of one group version.
pub(super) fn openapi_document(group: &str, version: &str, kinds: &[Kind]) -> Value {
    let of_version = kinds.iter().filter(|kind| kind.is_of(group, version));
    let schemas: Map<String, Value> = of_version
        .filter_map(|kind| Some((name(kind), schema(kind)?)))
        .collect();
    json!({
        "openapi": "3.0.0", "info": {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"},
        "paths": {}, "components": {"schemas": schemas},
    })
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
