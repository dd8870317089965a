//! The causes of broken objects of custom kinds on a real control plane, as their controllers leave them.

use serde_json::json;

use super::controlplane::ControlPlane;
use super::evidence::{Case, until_named};
use super::support::Spy;

const OBJECTS: &str = include_str!("evidence/custom.yaml");

/// The plural, the group, the version and the kind of each custom kind.
const KINDS: &[(&str, &str, &str, &str)] = &[
    ("applications", "argoproj.io", "v1alpha1", "Application"),
    ("rollouts", "argoproj.io", "v1alpha1", "Rollout"),
    ("certificates", "cert-manager.io", "v1", "Certificate"),
    ("issuers", "cert-manager.io", "v1", "Issuer"),
    (
        "elasticsearches",
        "elasticsearch.k8s.elastic.co",
        "v1",
        "Elasticsearch",
    ),
    ("gateways", "gateway.networking.k8s.io", "v1", "Gateway"),
    ("httproutes", "gateway.networking.k8s.io", "v1", "HTTPRoute"),
    ("scaledobjects", "keda.sh", "v1alpha1", "ScaledObject"),
    (
        "kustomizations",
        "kustomize.toolkit.fluxcd.io",
        "v1",
        "Kustomization",
    ),
    ("volumes", "longhorn.io", "v1beta2", "Volume"),
    (
        "destinationrules",
        "networking.istio.io",
        "v1",
        "DestinationRule",
    ),
    (
        "virtualservices",
        "networking.istio.io",
        "v1",
        "VirtualService",
    ),
    ("clusters", "postgresql.cnpg.io", "v1", "Cluster"),
    (
        "volumesnapshots",
        "snapshot.storage.k8s.io",
        "v1",
        "VolumeSnapshot",
    ),
    (
        "gitrepositories",
        "source.toolkit.fluxcd.io",
        "v1",
        "GitRepository",
    ),
];

/// The causes in `status`.
const CASES: &[Case] = &[
    (
        "custom",
        "httproute/nobackend",
        "backend service/wbe does not exist; there is web",
    ),
    (
        "custom",
        "httproute/noport",
        "backend service/web has no port 81; it has 80",
    ),
    (
        "custom",
        "httproute/rejected",
        "Accepted=False: NoMatchingListenerHostname: no listener has the host",
    ),
    (
        "custom",
        "virtualservice/nohost",
        "destination service/wbe does not exist; there is web",
    ),
    ("custom", "application/shop", "service/gone does not exist"),
    ("custom", "application/shop", "a member is not well"),
    (
        "custom",
        "kustomization/shop",
        "source gitrepository/shop does not exist",
    ),
    (
        "custom",
        "kustomization/shop",
        "BuildFailed: kustomization.yaml: no such file",
    ),
    (
        "custom",
        "certificate/web",
        "issuer/letsencrpt does not exist; there is letsencrypt",
    ),
    (
        "custom",
        "certificate/ended",
        "the certificate expired at 2026-01-01T00:00:00Z",
    ),
    (
        "custom",
        "volumesnapshot/data",
        "source persistentvolumeclaim/data does not exist",
    ),
    ("custom", "volumesnapshot/data", "the driver has no space"),
    (
        "custom",
        "pvc/restored",
        "data source volumesnapshot/daat does not exist; there is data",
    ),
    (
        "custom",
        "rollout/web",
        "ProgressDeadlineExceeded: ReplicaSet has timed out progressing",
    ),
    (
        "custom",
        "scaledobject/web",
        "scale target deployment/wbe does not exist; there is web",
    ),
    (
        "custom",
        "clusters.postgresql.cnpg.io/pg",
        "ContinuousArchivingFailing: the archive command failed",
    ),
    (
        "custom",
        "volumes.longhorn.io/vol",
        "its robustness is faulted",
    ),
    ("custom", "elasticsearch/logs", "its health is red"),
];

/// The causes in `trace`, which reads more.
const TRACED: &[Case] = &[
    (
        "custom",
        "virtualservice/nosubset",
        "no DestinationRule of web has the subset v2",
    ),
    (
        "custom",
        "httproute/nobackend",
        "backend service/wbe does not exist; there is web",
    ),
    (
        "custom",
        "certificate/web",
        "issuer/letsencrpt does not exist; there is letsencrypt",
    ),
    (
        "custom",
        "pvc/restored",
        "data source volumesnapshot/daat does not exist; there is data",
    ),
];

/// The definition of a custom kind with any fields.
fn definition(plural: &str, group: &str, version: &str, kind: &str) -> String {
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {
            "name": format!("{plural}.{group}"),
            "annotations": {"api-approved.kubernetes.io": "unapproved, for tests"},
        },
        "spec": {
            "group": group, "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind},
            "versions": [{
                "name": version, "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    });
    definition.to_string()
}

#[test]
fn broken_custom_resources_have_their_real_cause() {
    let plane = ControlPlane::start("custom-evidence");
    let definitions = KINDS.iter();
    let definitions =
        definitions.map(|(plural, group, version, kind)| definition(plural, group, version, kind));
    plane.apply(&definitions.collect::<Vec<_>>().join("\n---\n"));
    let names = KINDS
        .iter()
        .map(|(plural, group, ..)| format!("crd/{plural}.{group}"));
    let names: Vec<String> = names.collect();
    let mut wait = vec!["wait", "--for=condition=Established", "--timeout=60s"];
    wait.extend(names.iter().map(String::as_str));
    plane.kubectl(&wait);
    plane.apply(OBJECTS);
    until_named(&Spy::with_kubeconfig(plane.admin()), CASES, TRACED);
}
