//! Tests of list keys.

use super::*;
use crate::object::Doc;

fn label(place: (&str, &str), list: &str) -> String {
    let doc = Doc::parse(list).expect("valid");
    let items: Vec<_> = doc.root().items().collect();
    let place = ListPlace {
        field: place.0,
        parent: place.1,
    };
    let rule = ListKeys::builtin().rule(place, &items, &items);
    let identity = match rule.identity {
        Identity::Key(key) => key
            .parts(items[0])
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>()
            .join(","),
        Identity::Value => "set".to_owned(),
        Identity::Order => "sequence".to_owned(),
    };
    format!("{identity} {:?}", rule.order)
}

/// A list's field, the field above it, and its items.
#[rustfmt::skip]
const CASES: &[(&str, &str, &str)] = &[
        ("containers", "spec", r#"[{"name":"web","image":"a"}]"#),
        ("ports", "containers", r#"[{"containerPort":80}]"#),
        ("ports", "spec", r#"[{"name":"dns","port":53,"protocol":"UDP"}]"#),
        ("ports", "", r#"[{"name":"","port":53,"protocol":"UDP"}]"#),
        ("ports", "subsets", r#"[{"port":53,"protocol":"UDP"}]"#),
        ("ports", "ingress", r#"[{"port":"http"}]"#),
        ("addresses", "status", r#"[{"type":"InternalIP","address":"10.0.0.1"}]"#),
        ("addresses", "subsets", r#"[{"ip":"10.0.0.1"}]"#),
        ("addresses", "endpoints", r#"["10.0.0.1"]"#),
        ("endpoints", "", r#"[{"addresses":["10.0.0.1"]}]"#),
        ("tolerations", "spec", r#"[{"operator":"Exists"}]"#),
        ("tolerations", "spec", r"[{}]"),
        ("taints", "spec", r#"[{"key":"a","effect":"NoExecute"}]"#),
        ("metrics", "spec", r#"[{"type":"Resource","resource":{"name":"cpu"}}]"#),
        ("rules", "spec", r#"[{"host":"a.example","http":{}}]"#),
        ("rules", "spec", r#"[{"http":{}}]"#),
        ("rules", "", r#"[{"verbs":["get"]}]"#),
        ("verbs", "rules", r#"["get"]"#),
        ("args", "containers", r#"["--v=2"]"#),
        ("finalizers", "metadata", r#"["a"]"#),
        ("images", "status", r#"[{"names":["a@sha256:1","a:1"],"sizeBytes":1}]"#),
        ("images", "", r#"[{"name":"web","newTag":"1"}]"#),
        ("volumeClaimTemplates", "spec", r#"[{"metadata":{"name":"data"}}]"#),
        ("items", "", r#"[{"kind":"Pod","metadata":{"namespace":"a","name":"b"}}]"#),
        ("items", "configMap", r#"[{"key":"a","path":"b"}]"#),
        ("sources", "projected", r#"[{"configMap":{"name":"a"}}]"#),
        ("envFrom", "containers", r#"[{"secretRef":{"name":"a"}}]"#),
        ("things", "spec", r#"[{"id":7}]"#),
        ("things", "spec", r#"[{"id":7},{"id":7}]"#),
        ("things", "spec", r#"[{"id":{}}]"#),
        ("containers", "spec", r#"[{"name":"a"},"b"]"#),
    ];

#[test]
fn lists_are_known_by_their_field_and_their_items() {
    insta::assert_snapshot!(
        CASES
            .iter()
            .map(|(field, parent, list)| {
                let label = label((field, parent), list);
                format!("{parent}.{field} {list}: {label}")
            })
            .collect::<Vec<_>>()
            .join("\n"),
        @r#"
        spec.containers [{"name":"web","image":"a"}]: name=web Matters
        containers.ports [{"containerPort":80}]: containerPort=80,protocol=TCP Free
        spec.ports [{"name":"dns","port":53,"protocol":"UDP"}]: port=53,protocol=UDP Free
        .ports [{"name":"","port":53,"protocol":"UDP"}]: name= Free
        subsets.ports [{"port":53,"protocol":"UDP"}]: port=53,protocol=UDP Free
        ingress.ports [{"port":"http"}]: port=http,protocol=TCP Free
        status.addresses [{"type":"InternalIP","address":"10.0.0.1"}]: type=InternalIP,address=10.0.0.1 Free
        subsets.addresses [{"ip":"10.0.0.1"}]: ip=10.0.0.1 Free
        endpoints.addresses ["10.0.0.1"]: set Free
        .endpoints [{"addresses":["10.0.0.1"]}]: addresses=10.0.0.1 Free
        spec.tolerations [{"operator":"Exists"}]: operator=Exists Free
        spec.tolerations [{}]: sequence Matters
        spec.taints [{"key":"a","effect":"NoExecute"}]: key=a,effect=NoExecute Free
        spec.metrics [{"type":"Resource","resource":{"name":"cpu"}}]: type=Resource,resource.name=cpu Matters
        spec.rules [{"host":"a.example","http":{}}]: host=a.example Matters
        spec.rules [{"http":{}}]: host=* Matters
        .rules [{"verbs":["get"]}]: sequence Matters
        rules.verbs ["get"]: set Free
        containers.args ["--v=2"]: sequence Matters
        metadata.finalizers ["a"]: set Free
        status.images [{"names":["a@sha256:1","a:1"],"sizeBytes":1}]: names=a@sha256:1 Free
        .images [{"name":"web","newTag":"1"}]: name=web Matters
        spec.volumeClaimTemplates [{"metadata":{"name":"data"}}]: metadata.name=data Matters
        .items [{"kind":"Pod","metadata":{"namespace":"a","name":"b"}}]: kind=Pod,metadata.namespace=a,metadata.name=b Free
        configMap.items [{"key":"a","path":"b"}]: key=a,path=b Matters
        projected.sources [{"configMap":{"name":"a"}}]: configMap.name=a Matters
        containers.envFrom [{"secretRef":{"name":"a"}}]: secretRef.name=a Matters
        spec.things [{"id":7}]: id=7 Matters
        spec.things [{"id":7},{"id":7}]: sequence Matters
        spec.things [{"id":{}}]: sequence Matters
        spec.containers [{"name":"a"},"b"]: sequence Matters
        "#
    );
}
