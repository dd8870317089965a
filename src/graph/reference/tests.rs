//! One case for each relation, and the law of the index.

use proptest::prelude::*;

use crate::graph::Graph;
use crate::object::{Doc, Uid};

use super::*;

/// The references of an object of `GROUP/VERSION/KIND` in the namespace `shop`, one on each line.
fn references_of(kind: &str, fields: &str) -> Vec<Reference> {
    let (version, kind) = kind.rsplit_once('/').expect("VERSION/KIND");
    let object = format!(
        r#"{{"apiVersion":"{version}","kind":"{kind}","metadata":{{"name":"x","namespace":"shop"}},{fields}}}"#
    );
    let doc = Doc::parse(object).expect("a case is JSON");
    references(doc.root(), Tier::Unwell)
}

fn lines(references: &[Reference]) -> String {
    let line = |reference: &Reference| {
        let target = &reference.target;
        let namespace = target.namespace.as_deref().unwrap_or("-");
        let port = reference.port.as_ref().map(|port| format!(" port {port}"));
        let port = port.unwrap_or_default();
        format!(
            "{} {} {namespace}/{}{port}",
            reference.relation.name, target.kind, target.name
        )
    };
    references.iter().map(line).collect::<Vec<_>>().join("\n")
}

const POD: &str = r#""spec":{
    "volumes":[
        {"name":"a","configMap":{"name":"cm-volume"}},
        {"name":"b","secret":{"secretName":"secret-volume"}},
        {"name":"c","secret":{"secretName":"not-needed","optional":true}},
        {"name":"d","projected":{"sources":[{"configMap":{"name":"cm-projected"}},{"secret":{"name":"secret-projected"}}]}},
        {"name":"e","persistentVolumeClaim":{"claimName":"data"}},
        {"name":"f","csi":{"driver":"d","nodePublishSecretRef":{"name":"secret-csi"}}}],
    "initContainers":[{"envFrom":[{"configMapRef":{"name":"cm-init"}}]}],
    "containers":[
        {"envFrom":[{"secretRef":{"name":"secret-from"}},{"configMapRef":{"name":"also-optional","optional":true}}],
         "env":[{"name":"A","value":"1"},
            {"name":"B","valueFrom":{"configMapKeyRef":{"name":"cm-key","key":"k"}}},
            {"name":"C","valueFrom":{"secretKeyRef":{"name":"secret-key","key":"k"}}},
            {"name":"D","valueFrom":{"secretKeyRef":{"name":"secret-key","key":"l"}}}]}],
    "ephemeralContainers":[{"env":[{"name":"E","valueFrom":{"configMapKeyRef":{"name":"cm-debug","key":"k"}}}]}],
    "imagePullSecrets":[{"name":"registry"}],
    "resourceClaims":[{"name":"gpu","resourceClaimName":"gpu-1"},{"name":"other","resourceClaimTemplateName":"t"}]}"#;

const POD_REFERENCES: &str = "\
environment ConfigMap shop/cm-init
environment Secret shop/secret-from
environment ConfigMap shop/cm-key
environment ConfigMap shop/cm-debug
environment Secret shop/secret-key
volume ConfigMap shop/cm-volume
volume Secret shop/secret-volume
volume ConfigMap shop/cm-projected
volume Secret shop/secret-projected
volume PersistentVolumeClaim shop/data
volume Secret shop/secret-csi
pull secret Secret shop/registry
device claim ResourceClaim.resource.k8s.io shop/gpu-1";

/// `GROUP/VERSION/KIND`, the fields, and the expected references.
const CASES: [(&str, &str, &str); 23] = [
    ("v1/Pod", POD, POD_REFERENCES),
    (
        "autoscaling/v2/HorizontalPodAutoscaler",
        r#""spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"StatefulSet","name":"db"},
            "metrics":[{"type":"Resource"},{"object":{"describedObject":{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","name":"web"}}}]}"#,
        "scale target StatefulSet.apps shop/db\nmetric object Ingress.networking.k8s.io shop/web",
    ),
    (
        "autoscaling/v2/HorizontalPodAutoscaler",
        r#""spec":{"scaleTargetRef":{"apiVersion":"argoproj.io/v1alpha1","kind":"Rollout","name":"web"}}"#,
        "",
    ),
    (
        "autoscaling.k8s.io/v1/VerticalPodAutoscaler",
        r#""spec":{"targetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"}}"#,
        "scale target Deployment.apps shop/web",
    ),
    (
        "keda.sh/v1alpha1/ScaledObject",
        r#""spec":{"scaleTargetRef":{"name":"web"}}"#,
        "scale target Deployment.apps shop/web",
    ),
    (
        "networking.k8s.io/v1/Ingress",
        r#""spec":{"ingressClassName":"nginx","tls":[{"hosts":["a"]},{"secretName":"cert"}],
            "defaultBackend":{"service":{"name":"fallback","port":{"name":"http"}}},
            "rules":[{"host":"a"},{"http":{"paths":[
                {"backend":{"service":{"name":"web","port":{"number":80}}}},
                {"backend":{"service":{"name":"web","port":{"number":81}}}},
                {"backend":{"service":{"name":"web","port":{"number":80}}}},
                {"backend":{"resource":{"kind":"Bucket","name":"b"}}}]}}]}"#,
        "backend Service shop/web port 80\nbackend Service shop/web port 81\n\
            backend Service shop/fallback port \"http\"\ncertificate Secret shop/cert\n\
            class IngressClass.networking.k8s.io -/nginx",
    ),
    (
        "gateway.networking.k8s.io/v1/HTTPRoute",
        r#""spec":{"rules":[{"backendRefs":[{"name":"web","port":80},{"name":"api","namespace":"other"}]}]}"#,
        "backend Service shop/web port 80\nbackend Service other/api",
    ),
    (
        "gateway.networking.k8s.io/v1/GRPCRoute",
        r#""spec":{"rules":[{"backendRefs":[{"name":"web"}]}]}"#,
        "backend Service shop/web",
    ),
    (
        "gateway.networking.k8s.io/v1alpha2/TLSRoute",
        r#""spec":{"rules":[{"backendRefs":[{"name":"web"}]}]}"#,
        "backend Service shop/web",
    ),
    (
        "gateway.networking.k8s.io/v1alpha2/TCPRoute",
        r#""spec":{"rules":[{"backendRefs":[{"group":"multicluster.x-k8s.io","kind":"ServiceImport","name":"far"},{"name":"web"}]}]}"#,
        "backend Service shop/web",
    ),
    (
        "admissionregistration.k8s.io/v1/MutatingWebhookConfiguration",
        r#""webhooks":[{"clientConfig":{"url":"https://a"}},{"clientConfig":{"service":{"namespace":"hooks","name":"h","port":9443}}}]"#,
        "webhook Service hooks/h port 9443",
    ),
    (
        "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration",
        r#""webhooks":[{"clientConfig":{"service":{"namespace":"hooks","name":"h"}}}]"#,
        "webhook Service hooks/h",
    ),
    (
        "apiextensions.k8s.io/v1/CustomResourceDefinition",
        r#""spec":{"conversion":{"webhook":{"clientConfig":{"service":{"namespace":"hooks","name":"h"}}}}}"#,
        "conversion webhook Service hooks/h",
    ),
    (
        "apiregistration.k8s.io/v1/APIService",
        r#""spec":{"service":{"namespace":"kube-system","name":"metrics-server","port":443}}"#,
        "backend Service kube-system/metrics-server port 443",
    ),
    (
        "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding",
        r#""spec":{"policyName":"p"}"#,
        "policy ValidatingAdmissionPolicy.admissionregistration.k8s.io -/p",
    ),
    (
        "flowcontrol.apiserver.k8s.io/v1/FlowSchema",
        r#""spec":{"priorityLevelConfiguration":{"name":"low"}}"#,
        "priority level PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io -/low",
    ),
    (
        "rbac.authorization.k8s.io/v1/RoleBinding",
        r#""roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"}"#,
        "role ClusterRole.rbac.authorization.k8s.io -/view",
    ),
    (
        "rbac.authorization.k8s.io/v1/RoleBinding",
        r#""roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"}"#,
        "role Role.rbac.authorization.k8s.io shop/r",
    ),
    (
        "rbac.authorization.k8s.io/v1/ClusterRoleBinding",
        r#""roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"}"#,
        "role ClusterRole.rbac.authorization.k8s.io -/view",
    ),
    (
        "v1/ServiceAccount",
        r#""imagePullSecrets":[{"name":"registry"}]"#,
        "pull secret Secret shop/registry",
    ),
    (
        "v1/PersistentVolumeClaim",
        r#""spec":{"storageClassName":"fast","volumeName":"pv-1","dataSource":{"kind":"PersistentVolumeClaim","name":"old"}}"#,
        "storage class StorageClass.storage.k8s.io -/fast\nvolume PersistentVolume -/pv-1\n\
            data source PersistentVolumeClaim shop/old",
    ),
    (
        "snapshot.storage.k8s.io/v1/VolumeSnapshot",
        r#""spec":{"source":{"persistentVolumeClaimName":"data"}}"#,
        "source PersistentVolumeClaim shop/data",
    ),
    (
        "v1/Pod",
        r#""spec":{"volumes":7,"containers":[null,{"envFrom":{}}],"imagePullSecrets":[{"name":""}]}"#,
        "",
    ),
];

#[test]
fn each_relation_is_read() {
    let mut seen = Vec::new();
    for (kind, fields, expect) in CASES {
        let found = references_of(kind, fields);
        assert_eq!(lines(&found), expect, "{kind}");
        seen.extend(found.into_iter().map(|reference| reference.relation));
    }
    for relation in RELATIONS {
        assert!(seen.contains(&relation), "no case for {relation:?}");
    }
}

#[test]
fn an_object_that_is_well_needs_less() {
    let doc = Doc::parse(format!(r#"{{"apiVersion":"v1","kind":"Pod",{POD}}}"#));
    let doc = doc.expect("a case is JSON");
    assert_eq!(references(doc.root(), Tier::Always), []);
}

/// A small world: Ingresses and Services that come, go and come again under the same names.
#[derive(Clone, Debug)]
enum Step {
    Ingress(u8, u8),
    Service(u8, u8),
    Delete(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..3u8, 0..4u8).prop_map(|(uid, target)| Step::Ingress(uid, target)),
        (0..4u8, 0..3u8).prop_map(|(name, uid)| Step::Service(name, uid)),
        (0..20u8).prop_map(Step::Delete),
    ]
}

fn take(graph: &mut Graph, step: &Step) {
    let object = match step {
        Step::Ingress(uid, target) => format!(
            r#"{{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{{"name":"i{uid}","namespace":"shop","uid":"{uid}"}},
            "spec":{{"defaultBackend":{{"service":{{"name":"s{target}"}}}}}}}}"#
        ),
        Step::Service(name, uid) => format!(
            r#"{{"apiVersion":"v1","kind":"Service","metadata":{{"name":"s{name}","namespace":"shop","uid":"{}"}}}}"#,
            4 + name * 4 + uid
        ),
        Step::Delete(uid) => return graph.delete(&Uid::new(uid.to_string())),
    };
    let doc = Doc::parse(object).expect("a case is JSON");
    let uid = graph.apply(doc.root());
    graph.refer(&uid, references(doc.root(), Tier::Always));
}

proptest! {
    /// The graph depends on the newest versions alone, not on the way to them.
    #[test]
    fn the_way_to_a_graph_does_not_matter(steps in proptest::collection::vec(step(), 0..40)) {
        let mut graph = Graph::default();
        let mut newest: Vec<(u8, &Step)> = Vec::new();
        for step in &steps {
            take(&mut graph, step);
            let uid = match step {
                Step::Ingress(uid, _) | Step::Delete(uid) => *uid,
                Step::Service(name, uid) => 4 + name * 4 + uid,
            };
            newest.retain(|(known, _)| *known != uid);
            if !matches!(step, Step::Delete(_)) {
                newest.push((uid, step));
            }
        }
        let mut afresh = Graph::default();
        for (_, step) in newest.iter().rev() {
            take(&mut afresh, step);
        }
        prop_assert_eq!(graph, afresh);
    }
}
