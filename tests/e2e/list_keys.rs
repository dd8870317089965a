//! Compares the built-in list keys with the schema of a real API server.

use std::collections::BTreeMap;
use std::path::Path;

use kubectl_spy::object::is_kubernetes_own;
use kubectl_spy::object::list_keys::{ListType, Schema};
use kubectl_spy::object::{Doc, list_keys::ListKey};

use super::controlplane::ControlPlane;

/// The file that the unit tests compare the built-in keys with.
const FIXTURE: &str = "src/object/list_keys/kubernetes.txt";

const HEAD: &str = "\
# The keyed lists of the API, from /openapi/v3 of a kube-apiserver: of those with the same name under the
# same field and with the same keys, the first. `UPDATE=1 cargo test --test e2e list_keys` writes it.
";

fn keys_text(list: &ListType) -> String {
    let fields = |key: &ListKey| key.fields().collect::<Vec<_>>().join(",");
    match list {
        ListType::Map(key) => fields(key),
        ListType::Set => "set".to_owned(),
        ListType::Merged(key) => format!("merge:{}", fields(key)),
    }
}

/// The last two names of a path. The built-in keys use only these.
fn place(path: &str) -> String {
    let names: Vec<_> = path.rsplit('.').take(2).collect();
    names.join(" ")
}

#[test]
fn list_keys_are_those_of_the_server() {
    let cluster = ControlPlane::start("list-keys");
    let read = |path: &str| Doc::parse(cluster.kubectl(&["get", "--raw", path])).unwrap();
    let index = read("/openapi/v3");
    let mut found = BTreeMap::new();
    let mut groups = 0;
    for (path, _) in index.root().get("paths").unwrap().fields() {
        let steps: Vec<_> = path.split('/').collect();
        let group = match steps[..] {
            ["api", "v1"] => "",
            ["apis", group, _] => group,
            _ => continue,
        };
        if !is_kubernetes_own(group) {
            continue;
        }
        groups += 1;
        let schema = Schema::read(read(&format!("/openapi/v3/{path}")).root());
        let kinds: Vec<_> = schema
            .kinds()
            .filter(|kind| !kind.ends_with("List"))
            .collect();
        for kind in kinds {
            for (path, list) in schema.lists(kind) {
                let keys = keys_text(list);
                found
                    .entry((place(&path), keys.clone()))
                    .or_insert(format!("{kind} {path} {keys}"));
            }
        }
    }
    assert!(groups > 15, "{groups}");
    let mut lines: Vec<_> = found.into_values().collect();
    lines.sort();
    let text = format!("{HEAD}{}\n", lines.join("\n"));
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join(FIXTURE);
    if std::env::var("UPDATE").is_ok() {
        std::fs::write(&fixture, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&fixture).unwrap(), text);
}
