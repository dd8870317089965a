//! Tests of the walk over a plain application.

use crate::graph::{Links, Tier};
use crate::object::{Doc, ServedTypes};

use super::*;

/// `GROUP/VERSION/KIND`, the rest of the metadata, and the other fields.
const APPLICATION: &[(&str, &str, &str)] = &[
    (
        "networking.k8s.io/v1/Ingress",
        r#""name":"front""#,
        r#""spec":{"tls":[{"secretName":"cert"}],"defaultBackend":{"service":{"name":"web"}}}"#,
    ),
    (
        "v1/Service",
        r#""name":"web""#,
        r#""spec":{"selector":{"app":"web"}}"#,
    ),
    (
        "autoscaling/v2/HorizontalPodAutoscaler",
        r#""name":"web""#,
        r#""spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"}}"#,
    ),
    (
        "policy/v1/PodDisruptionBudget",
        r#""name":"web""#,
        r#""spec":{"selector":{"matchLabels":{"app":"web"}}}"#,
    ),
    (
        "apps/v1/Deployment",
        r#""name":"web","uid":"d""#,
        r#""spec":{"template":{"metadata":{"labels":{"app":"web"}},"spec":{"serviceAccountName":"robot",
            "containers":[{"envFrom":[{"configMapRef":{"name":"settings"}},{"secretRef":{"name":"gone","optional":true}}]}]}}}"#,
    ),
    (
        "apps/v1/ReplicaSet",
        r#""name":"web-1","uid":"r","ownerReferences":[{"uid":"d","kind":"Deployment","name":"web","controller":true}]"#,
        r#""spec":{}"#,
    ),
    (
        "v1/Pod",
        r#""name":"web-1-a","labels":{"app":"web"},"ownerReferences":[{"uid":"r","controller":true}]"#,
        r#""spec":{"nodeName":"n1","serviceAccountName":"robot","containers":[{"envFrom":[{"configMapRef":{"name":"settings"}}]}],
            "volumes":[{"persistentVolumeClaim":{"claimName":"data"}}]}"#,
    ),
    ("v1/ConfigMap", r#""name":"settings""#, r#""data":{}"#),
    (
        "v1/PersistentVolumeClaim",
        r#""name":"data""#,
        r#""spec":{"storageClassName":"fast"}"#,
    ),
    (
        "v1/ServiceAccount",
        r#""name":"robot""#,
        r#""imagePullSecrets":[{"name":"registry"}]"#,
    ),
];

fn application() -> Graph {
    let mut graph = Graph::default();
    for (kind, metadata, fields) in APPLICATION {
        let (version, kind) = kind.rsplit_once('/').expect("VERSION/KIND");
        let object = format!(
            r#"{{"apiVersion":"{version}","kind":"{kind}","metadata":{{"namespace":"shop",{metadata}}},{fields}}}"#
        );
        let doc = Doc::parse(object).expect("a case is JSON");
        let uid = graph.apply(doc.root());
        let links = Links::of(doc.root(), Tier::Trace, &ServedTypes::default());
        graph.link([(uid, links)]);
    }
    graph
}

/// The walk from an object, one line for each step.
fn check(root: &str, reach: &TraceReach) -> String {
    let graph = application();
    let mut nodes = graph.nodes();
    let node = nodes.find(|node| node.object.to_string() == root);
    let uid = node.expect("it is in the application").uid.clone();
    let steps = walk(&graph, &uid, reach);
    let line = |step: &TraceStep<'_>| {
        let target = step.end.target();
        let kind = target.kind.kind.to_lowercase();
        let relations: Vec<&str> = step
            .relations
            .iter()
            .map(|relation| relation.name)
            .collect();
        let mut marks = String::new();
        if matches!(step.end, RelationEnd::Ghost(_)) {
            marks.push_str(" ghost");
        }
        if step.is_optional {
            marks.push_str(" optional");
        }
        if step.is_repeat {
            marks.push_str(" (see above)");
        }
        let indent = "  ".repeat(step.depth);
        format!(
            "{:?}{indent}{kind}/{} {}{marks}",
            step.side,
            target.name,
            relations.join("+")
        )
    };
    steps.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn everything() -> TraceReach {
    TraceReach::default()
}

#[test]
fn a_pod_up_to_the_ingress_and_down_to_the_storage_class() {
    insta::assert_snapshot!(check("pod/web-1-a", &everything()), @r"
    InFront  replicaset/web-1 owner
    InFront    deployment/web owner
    InFront      horizontalpodautoscaler/web scale target
    InFront  service/web selects
    InFront    ingress/front backend
    InFront  poddisruptionbudget/web budget
    Uses  configmap/settings environment
    Uses  persistentvolumeclaim/data volume
    Uses    storageclass/fast storage class ghost
    Uses  serviceaccount/robot service account
    Uses    secret/registry pull secret ghost
    Uses  node/n1 node ghost
    ");
}

#[test]
fn a_deployment_with_what_selects_its_pods_and_what_its_template_needs() {
    insta::assert_snapshot!(check("deployment/web", &everything()), @r"
    InFront  service/web selects
    InFront    ingress/front backend
    InFront  horizontalpodautoscaler/web scale target
    InFront  poddisruptionbudget/web budget
    Behind  replicaset/web-1 owner
    Behind    pod/web-1-a owner
    Uses  configmap/settings environment
    Uses  serviceaccount/robot service account
    Uses    secret/registry pull secret ghost
    Uses  secret/gone environment ghost optional
    Uses  persistentvolumeclaim/data volume
    Uses    storageclass/fast storage class ghost
    ");
}

#[test]
fn a_config_map_with_its_users_below_their_owners() {
    insta::assert_snapshot!(check("configmap/settings", &everything()), @r"
    UsedBy  deployment/web environment
    UsedBy    replicaset/web-1 
    UsedBy      pod/web-1-a environment
    ");
}

#[test]
fn an_ingress_down_to_its_pods() {
    insta::assert_snapshot!(check("ingress/front", &everything()), @r"
    Behind  service/web backend
    Behind    pod/web-1-a selects
    Uses  secret/cert certificate ghost
    Uses  configmap/settings environment
    Uses  persistentvolumeclaim/data volume
    Uses    storageclass/fast storage class ghost
    Uses  serviceaccount/robot service account
    Uses    secret/registry pull secret ghost
    ");
}

#[test]
fn a_walk_goes_as_far_as_it_may() {
    let up = TraceReach {
        way: Way::Up,
        ..everything()
    };
    insta::assert_snapshot!(check("service/web", &up), @"InFront  ingress/front backend");
    let near = TraceReach {
        depth: 1,
        ..everything()
    };
    insta::assert_snapshot!(check("service/web", &near), @r"
    InFront  ingress/front backend
    Behind  pod/web-1-a selects
    Uses  configmap/settings environment
    Uses  persistentvolumeclaim/data volume
    Uses  serviceaccount/robot service account
    ");
    let named = TraceReach {
        relations: vec!["environment".to_owned(), "owner".to_owned()],
        ..everything()
    };
    insta::assert_snapshot!(check("deployment/web", &named), @r"
    Behind  replicaset/web-1 owner
    Behind    pod/web-1-a owner
    Uses  configmap/settings environment
    Uses  secret/gone environment ghost optional
    ");
}

/// A circle of references, and an object that names itself.
#[test]
fn a_circle_is_walked_once() {
    let mut graph = Graph::default();
    for (name, to) in [("a", "b"), ("b", "a"), ("c", "c")] {
        let object = format!(
            r#"{{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{{"name":"{name}"}},"spec":{{"dataSource":{{"kind":"PersistentVolumeClaim","name":"{to}"}}}}}}"#
        );
        let doc = Doc::parse(object).expect("a case is JSON");
        let uid = graph.apply(doc.root());
        let links = Links::of(doc.root(), Tier::Trace, &ServedTypes::default());
        graph.link([(uid, links)]);
    }
    for (root, expect) in [("a", 3), ("c", 2)] {
        let uid = Uid::new(format!("/PersistentVolumeClaim//{root}"));
        let steps = walk(&graph, &uid, &everything());
        assert_eq!(steps.len(), expect, "{root}: {steps:?}");
        assert!(steps.iter().any(|step| step.is_repeat));
    }
}
