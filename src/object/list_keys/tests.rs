//! Tests of list keys.

use std::sync::Arc;

use super::*;
use crate::object::path::{Label, Place, Step};
use crate::object::{Doc, GroupKind, is_kubernetes_own};

fn label(place: (&str, &str), list: &str) -> String {
    let doc = Doc::parse(list).expect("valid");
    let items: Vec<_> = doc.root().items().collect();
    let place = ListPlace {
        field: place.0,
        parent: place.1,
        path: None,
    };
    let rule = ListKeys::builtin().rule(place, &items, &items);
    let identity = match rule.identity {
        Identity::Key(key) => key
            .parts(items[0])
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>()
            .join(","),
        Identity::Value => "set".to_owned(),
        Identity::Order => "sequence".to_owned(),
    };
    format!("{identity} {:?}", rule.order)
}

/// The field of a list, the field above it, and the items.
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
fn lists_are_recognised_by_field_and_items() {
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
        status.addresses [{"type":"InternalIP","address":"10.0.0.1"}]: type=InternalIP Free
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

/// The keyed lists of a real API server, one line for each combination of name, parent and keys.
const KUBERNETES: &str = include_str!("kubernetes.txt");

#[test]
fn the_built_in_keys_are_those_of_the_servers_schema() {
    let mut lists = 0;
    for line in KUBERNETES.lines().filter(|line| !line.starts_with('#')) {
        let [kind, path, keys] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("no kind, path and keys: {line}");
        };
        let mut names = path.rsplit(['.']).map(|name| name.trim_end_matches("[*]"));
        let (field, parent) = (names.next().unwrap_or_default(), names.next());
        // Both items have the same key, so no guess would use it.
        let keys = keys.trim_start_matches("merge:");
        let item = match keys {
            "set" => r#""x""#.to_owned(),
            keys => {
                let fields = keys.split(',').map(|key| format!(r#""{key}":"x""#));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
            }
        };
        let list = Doc::parse(format!("[{item},{item}]")).expect("valid");
        let items: Vec<_> = list.root().items().collect();
        let place = ListPlace {
            field,
            parent: parent.unwrap_or_default(),
            path: None,
        };
        let found = match ListKeys::builtin().rule(place, &items, &items).identity {
            Identity::Key(key) => key.fields().collect::<Vec<_>>().join(","),
            Identity::Value => "set".to_owned(),
            Identity::Order => "sequence".to_owned(),
        };
        assert_eq!(sorted(&found), sorted(keys), "{kind} {path}");
        lists += 1;
    }
    assert!(lists > 50, "{lists}");
}

fn sorted(keys: &str) -> Vec<&str> {
    let mut keys: Vec<_> = keys.split(',').collect();
    keys.sort_unstable();
    keys
}

/// A document with everything that real ones have: references, `allOf`, cycles, defaults, inline schemas.
const DOCUMENT: &str = r##"{"components":{"schemas":{
    "com.example.v1.Gate":{
        "x-kubernetes-group-version-kind":[{"group":"example.com","kind":"Gate","version":"v1"}],
        "type":"object","properties":{
            "kind":{"type":"string"},
            "spec":{"allOf":[{"$ref":"#/components/schemas/com.example.v1.Spec"}],"default":{}},
            "status":{"$ref":"#/components/schemas/gone"}}},
    "com.example.v1.Spec":{"type":"object","properties":{
        "servers":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["host","port"],"items":{"type":"object","properties":{
            "host":{"type":"string"},"port":{"type":"integer","default":443},
            "tags":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}}}}},
        "pools":{"type":"object","additionalProperties":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["id"],"items":{"$ref":"#/components/schemas/pool"}}},
        "rows":{"type":"array","items":{"type":"array","x-kubernetes-patch-merge-key":"n","items":{"type":"object"}}},
        "loose":{"type":"array","x-kubernetes-list-type":"atomic","items":{"type":"object"}},
        "inner":{"allOf":[{"$ref":"#/components/schemas/com.example.v1.Spec"}]}}},
    "pool":{"allOf":[{"$ref":"#/components/schemas/pool"},{"$ref":"#/components/schemas/pool"},{"properties":{"id":{"type":"string"}}}]},
    "odd":{"properties":7,"x-kubernetes-group-version-kind":[{"kind":"Odd"}],"items":[],"allOf":{}}
}}}"##;

fn document() -> Arc<Schema> {
    Arc::new(Schema::read(Doc::parse(DOCUMENT).expect("valid").root()))
}

fn text_of(list: &ListType) -> String {
    match list {
        ListType::Map(key) => key.fields().collect::<Vec<_>>().join(","),
        ListType::Set => "set".to_owned(),
        ListType::Merged(key) => format!("merge:{}", key.fields().collect::<Vec<_>>().join(",")),
    }
}

#[test]
fn lists_are_read_from_a_document() {
    let schema = document();
    assert_eq!(schema.kinds().collect::<Vec<_>>(), ["Gate", "Odd"]);
    let lists = schema.lists("Gate").into_iter();
    let lists: Vec<_> = lists
        .map(|(path, list)| format!("{path} {}", text_of(list)))
        .collect();
    insta::assert_snapshot!(lists.join("\n"), @"
    .spec.pools.* id
    .spec.rows[*] merge:n
    .spec.servers host,port
    .spec.servers[*].tags set
    ");
    assert_eq!(schema.lists("Odd").len(), 0);
    assert_eq!(schema.lists("Pod").len(), 0);
    // Every text can be read.
    for text in [
        "7",
        "{}",
        r#"{"components":{"schemas":[]}}"#,
        r#"{"components":{"schemas":{"a":null}}}"#,
    ] {
        let document = Doc::parse(text).expect("valid");
        assert_eq!(Schema::read(document.root()).kinds().count(), 0);
    }
}

#[test]
fn an_endless_document_is_read_in_part() {
    let schemas: Vec<String> = (0..40)
        .map(|at| {
            let two = format!(r##"{{"properties":{{"x":{{"allOf":[{{"$ref":"#/components/schemas/s{0}"}},{{"$ref":"#/components/schemas/s{0}"}},{{"properties":{{}}}}]}},"y":{{"properties":{{"z":{{"allOf":[{{"$ref":"#/components/schemas/s{0}"}},{{"$ref":"#/components/schemas/s{0}"}}]}}}}}}}}}}"##, at + 1);
            format!(r#""s{at}":{two}"#)
        })
        .collect();
    let root = r##""root":{"x-kubernetes-group-version-kind":[{"kind":"K"}],"allOf":[{"$ref":"#/components/schemas/s0"}]}"##;
    let text = format!(
        r#"{{"components":{{"schemas":{{{},{root}}}}}}}"#,
        schemas.join(",")
    );
    let document = Doc::parse(text).expect("valid");
    assert_eq!(Schema::read(document.root()).kinds().count(), 1);
}

/// The names of the items of a list at `.spec.FIELD`, or of the first items.
fn named(keys: &ListKeys, field: &str, list: &str) -> String {
    let doc = Doc::parse(list).expect("valid");
    let items: Vec<_> = doc.root().items().collect();
    let path = Path {
        steps: vec![Step::Field("spec".into()), Step::Field(field.into())],
    };
    let place = ListPlace {
        field,
        parent: "spec",
        path: Some(&path),
    };
    match keys.rule(place, &items, &items).identity {
        Identity::Key(key) => {
            let parts = key.parts(items[0]);
            let parts = parts.map(|(name, value)| format!("{name}={value}"));
            parts.collect::<Vec<_>>().join(",")
        }
        Identity::Value => "set".to_owned(),
        Identity::Order => "sequence".to_owned(),
    }
}

/// The list keys of the kind `Gate`.
fn keys(chosen: &[&str], schema: Option<Arc<Schema>>) -> Arc<ListKeys> {
    let chosen = chosen.iter().map(|text| text.parse().expect("a key"));
    let kinds = KindKeys::new(chosen.collect());
    if let Some(schema) = schema {
        assert!(kinds.learn(&gate(), schema));
    }
    kinds.of(&gate())
}

fn gate() -> GroupKind {
    GroupKind {
        group: "example.com".into(),
        kind: "Gate".into(),
    }
}

#[test]
fn explicit_keys_take_precedence_over_built_in_and_guessed_ones() {
    let servers = r#"[{"host":"a","name":"x"},{"host":"a","port":80,"name":"y"}]"#;
    let cases = [
        (keys(&[], None), "servers", servers, "name=x"),
        (
            keys(&[], Some(document())),
            "servers",
            servers,
            "host=a,port=443",
        ),
        (
            keys(&["spec.servers=name,host"], Some(document())),
            "servers",
            servers,
            "name=x,host=a",
        ),
        (keys(&[".spec.*=name"], None), "servers", servers, "name=x"),
        // The key does not fit all items, or it is for another list.
        (
            keys(&["spec.servers=port"], Some(document())),
            "servers",
            servers,
            "host=a,port=443",
        ),
        (
            keys(&["spec.servers[*]=name"], Some(document())),
            "servers",
            servers,
            "host=a,port=443",
        ),
        (
            keys(&[], Some(document())),
            "servers",
            r#"["a"]"#,
            "sequence",
        ),
        // The schema does not mention the list: a built-in key applies, or a guess.
        (
            keys(&[], Some(document())),
            "containers",
            r#"[{"name":"a"},{"name":"a"}]"#,
            "name=a",
        ),
        (
            keys(&[], Some(document())),
            "loose",
            r#"[{"id":"a"}]"#,
            "id=a",
        ),
        (
            keys(&[], Some(document())),
            "loose",
            r#"[{"id":"a"},{"id":"a"}]"#,
            "sequence",
        ),
    ];
    for (keys, field, list, expected) in cases {
        assert_eq!(named(&keys, field, list), expected, "{field} {list}");
    }
}

#[test]
fn a_merge_key_takes_precedence_only_over_a_guess() {
    let rows = Path {
        steps: vec![
            Step::Field("spec".into()),
            Step::Field("rows".into()),
            Step::Item {
                place: Place {
                    old: Some(0),
                    new: Some(0),
                },
                label: Label::Index,
            },
        ],
    };
    let doc = Doc::parse(r#"[{"name":"a","n":1},{"name":"b","n":1}]"#).expect("valid");
    let items: Vec<_> = doc.root().items().collect();
    let place = ListPlace {
        field: "",
        parent: "rows",
        path: Some(&rows),
    };
    let keys = keys(&[], Some(document()));
    let Identity::Key(key) = keys.rule(place, &items, &items).identity else {
        panic!("no key");
    };
    assert_eq!(key.fields().collect::<Vec<_>>(), ["n"]);
}

#[test]
fn a_late_schema_changes_nothing() {
    let gate = gate();
    let kinds = KindKeys::default();
    let before = kinds.of(&gate);
    assert!(!kinds.learn(&gate, document()));
    assert!(Arc::ptr_eq(&before, &kinds.of(&gate)));
    assert!(is_kubernetes_own("apps") && !is_kubernetes_own("gateway.networking.k8s.io"));
}

#[test]
fn a_chosen_key_is_a_path_and_fields() {
    for (text, problem) in [
        ("spec.servers", "expected PATH=KEY[,KEY]"),
        ("spec.servers=", "expected PATH=KEY[,KEY]"),
        ("spec.servers=a,,b", "expected PATH=KEY[,KEY]"),
        ("spec.servers[name=web]", "expected PATH=KEY[,KEY]"),
        ("=a", "the path is empty"),
        ("/spec/servers=a", "is a JSON Pointer"),
    ] {
        let error = text.parse::<Chosen>().expect_err(text).to_string();
        assert!(error.contains(problem), "{text}: {error}");
    }
    for text in [
        "spec.servers=host",
        ".spec.a[name=web].b=x,y",
        "**.things=metadata.name",
    ] {
        assert!(text.parse::<Chosen>().is_ok(), "{text}");
    }
}
