//! The relations of the custom kinds of well-known projects.
//!
//! A row costs nothing in a cluster without the kind. The default kind of a reference is the one in the project's API.

use super::Empty::{All, Nothing};
use super::Read::{Annotation, Certificate, Computed, Inventory, Name, Selector};
use super::To::{Any, Kind, Reference};
use super::{computed, inventory, relations};

const SCALED: &[&str] = &["apps/Deployment", "apps/StatefulSet", "argoproj.io/Rollout"];
const SERVICE: &[&str] = &["Service"];
const GATEWAY: &[&str] = &["gateway.networking.k8s.io/Gateway", "Service"];
const SECRET: &[&str] = &["Secret"];
const ANYTHING: &[&str] = &[""];
const ISSUER: &[&str] = &["cert-manager.io/Issuer", "cert-manager.io/ClusterIssuer"];
const STORE: &[&str] = &[
    "external-secrets.io/SecretStore",
    "external-secrets.io/ClusterSecretStore",
];
const SOURCE: &[&str] = &[
    "source.toolkit.fluxcd.io/GitRepository",
    "source.toolkit.fluxcd.io/OCIRepository",
    "source.toolkit.fluxcd.io/Bucket",
    "source.toolkit.fluxcd.io/HelmRepository",
];
const CHART_SOURCE: &[&str] = &[
    "source.toolkit.fluxcd.io/HelmRepository",
    "source.toolkit.fluxcd.io/GitRepository",
    "source.toolkit.fluxcd.io/Bucket",
];
const VALUES: &[&str] = &["ConfigMap", "Secret"];

relations! { TABLE:
    "scale target": "autoscaling.k8s.io/VerticalPodAutoscaler" Fronts Name("spec.targetRef", "name") => Reference(SCALED), Always Fails Both;
    "scale target": "keda.sh/ScaledObject" Fronts Name("spec.scaleTargetRef", "name") => Reference(SCALED), Always Fails Both;
    "trigger authentication": "keda.sh/ScaledObject" Uses Name("spec.triggers[].authenticationRef", "name") => Reference(&["keda.sh/TriggerAuthentication", "keda.sh/ClusterTriggerAuthentication"]), Trace Fails Both;
    "workload": "argoproj.io/Rollout" Fronts Name("spec.workloadRef", "name") => Reference(SCALED), Trace Fails Both;
    "canary service": "argoproj.io/Rollout" Uses Name("spec.strategy.canary", "canaryService") => Kind("Service"), Trace Fails Both;
    "stable service": "argoproj.io/Rollout" Uses Name("spec.strategy.canary", "stableService") => Kind("Service"), Trace Fails Both;
    "active service": "argoproj.io/Rollout" Uses Name("spec.strategy.blueGreen", "activeService") => Kind("Service"), Trace Fails Both;
    "preview service": "argoproj.io/Rollout" Uses Name("spec.strategy.blueGreen", "previewService") => Kind("Service"), Trace Fails Both;

    "backend": "gateway.networking.k8s.io/HTTPRoute" Fronts Name("spec.rules[].backendRefs[]", "name") => Reference(SERVICE), Always Fails Both;
    "backend": "gateway.networking.k8s.io/GRPCRoute" Fronts Name("spec.rules[].backendRefs[]", "name") => Reference(SERVICE), Always Fails Both;
    "backend": "gateway.networking.k8s.io/TLSRoute" Fronts Name("spec.rules[].backendRefs[]", "name") => Reference(SERVICE), Always Fails Both;
    "backend": "gateway.networking.k8s.io/TCPRoute" Fronts Name("spec.rules[].backendRefs[]", "name") => Reference(SERVICE), Always Fails Both;
    "backend": "gateway.networking.k8s.io/UDPRoute" Fronts Name("spec.rules[].backendRefs[]", "name") => Reference(SERVICE), Always Fails Both;
    "mirror": "gateway.networking.k8s.io/HTTPRoute" Fronts Name("spec.rules[].filters[].requestMirror.backendRef", "name") => Reference(SERVICE), Always Delays Both;
    "filter": "gateway.networking.k8s.io/HTTPRoute" Uses Name("spec.rules[].filters[].extensionRef", "name") => Reference(ANYTHING), Trace Fails Forth;
    "parent": "gateway.networking.k8s.io/HTTPRoute" Backs Name("spec.parentRefs[]", "name") => Reference(GATEWAY), Always Fails Both;
    "parent": "gateway.networking.k8s.io/GRPCRoute" Backs Name("spec.parentRefs[]", "name") => Reference(GATEWAY), Always Fails Both;
    "parent": "gateway.networking.k8s.io/TLSRoute" Backs Name("spec.parentRefs[]", "name") => Reference(GATEWAY), Always Fails Both;
    "parent": "gateway.networking.k8s.io/TCPRoute" Backs Name("spec.parentRefs[]", "name") => Reference(GATEWAY), Always Fails Both;
    "parent": "gateway.networking.k8s.io/UDPRoute" Backs Name("spec.parentRefs[]", "name") => Reference(GATEWAY), Always Fails Both;
    "class": "gateway.networking.k8s.io/Gateway" Uses Name("spec", "gatewayClassName") => Kind("gateway.networking.k8s.io/GatewayClass"), Unwell Fails Both;
    "certificate": "gateway.networking.k8s.io/Gateway" Uses Certificate("spec.listeners[].tls.certificateRefs[]", "name") => Reference(SECRET), Always Delays Both;
    "parameters": "gateway.networking.k8s.io/Gateway" Uses Name("spec.infrastructure.parametersRef", "name") => Reference(ANYTHING), Trace Fails Forth;
    "parameters": "gateway.networking.k8s.io/GatewayClass" Uses Name("spec.parametersRef", "name") => Reference(ANYTHING), Trace Fails Forth;
    "parent": "gateway.networking.k8s.io/ListenerSet" Backs Name("spec.parentRef", "name") => Reference(GATEWAY), Always Fails Both;
    "policy of": "gateway.networking.k8s.io/BackendTLSPolicy" Fronts Name("spec.targetRefs[]", "name") => Reference(SERVICE), Trace Fails Both;
    "certificate": "gateway.networking.k8s.io/BackendTLSPolicy" Uses Name("spec.validation.caCertificateRefs[]", "name") => Reference(&["ConfigMap", "Secret"]), Trace Delays Both;

    "restricts": "cilium.io/CiliumNetworkPolicy" Fronts Selector("spec.endpointSelector", All) => Kind("Pod"), Trace Works Both;
    "restricts": "cilium.io/CiliumNetworkPolicy" Fronts Selector("specs[].endpointSelector", All) => Kind("Pod"), Trace Works Both;

    "source": "snapshot.storage.k8s.io/VolumeSnapshot" Uses Name("spec.source", "persistentVolumeClaimName") => Kind("PersistentVolumeClaim"), Unwell Fails Both;
    "content": "snapshot.storage.k8s.io/VolumeSnapshot" Uses Name("spec.source", "volumeSnapshotContentName") => Kind("snapshot.storage.k8s.io/VolumeSnapshotContent"), Trace Delays Both;
    "content": "snapshot.storage.k8s.io/VolumeSnapshot" Uses Name("status", "boundVolumeSnapshotContentName") => Kind("snapshot.storage.k8s.io/VolumeSnapshotContent"), Trace Delays Both;
    "class": "snapshot.storage.k8s.io/VolumeSnapshot" Uses Name("spec", "volumeSnapshotClassName") => Kind("snapshot.storage.k8s.io/VolumeSnapshotClass"), Trace Fails Both;
    "snapshot": "snapshot.storage.k8s.io/VolumeSnapshotContent" Serves Name("spec.volumeSnapshotRef", "name") => Kind("snapshot.storage.k8s.io/VolumeSnapshot"), Trace Fails Forth;
    "volume driver": "snapshot.storage.k8s.io/VolumeSnapshotContent" Uses Name("spec", "driver") => Kind("storage.k8s.io/CSIDriver"), Trace Works Forth;

    "issuer": "cert-manager.io/Certificate" Uses Name("spec.issuerRef", "name") => Reference(ISSUER), Unwell Fails Both;
    "stores in": "cert-manager.io/Certificate" Fronts Name("spec", "secretName") => Kind("Secret"), Trace Delays Both;
    "issuer": "cert-manager.io/CertificateRequest" Uses Name("spec.issuerRef", "name") => Reference(ISSUER), Unwell Fails Forth;
    "certificate": "cert-manager.io/CertificateRequest" Backs Annotation("cert-manager.io/certificate-name") => Kind("cert-manager.io/Certificate"), Trace Delays Both;
    "certificate authority": "cert-manager.io/Issuer" Uses Name("spec.ca", "secretName") => Kind("Secret"), Trace Fails Both;
    "account key": "cert-manager.io/Issuer" Uses Name("spec.acme.privateKeySecretRef", "name") => Kind("Secret"), Trace Fails Both;
    "certificate": "Secret" Backs Annotation("cert-manager.io/certificate-name") => Kind("cert-manager.io/Certificate"), Trace Delays Forth;

    "store": "external-secrets.io/ExternalSecret" Uses Name("spec.secretStoreRef", "name") => Reference(STORE), Unwell Fails Both;
    "syncs": "external-secrets.io/ExternalSecret" Fronts Computed(computed::synced_secret) => Kind("Secret"), Trace Delays Both;

    "scrapes": "monitoring.coreos.com/ServiceMonitor" Fronts Selector("spec.selector", Nothing) => Kind("Service"), Trace Works Both;
    "scrapes": "monitoring.coreos.com/PodMonitor" Fronts Selector("spec.selector", Nothing) => Kind("Pod"), Trace Works Both;
    "bound to": "monitoring.coreos.com/PrometheusRule" Uses Name("status.bindings[]", "name") => Reference(&["monitoring.coreos.com/Prometheus"]), Trace Delays Forth;

    "gateway": "networking.istio.io/VirtualService" Backs Computed(computed::istio_gateways) => Kind("networking.istio.io/Gateway"), Always Fails Both;
    "destination": "networking.istio.io/VirtualService" Fronts Computed(computed::istio_services) => Kind("Service"), Always Fails Both;
    "destination": "networking.istio.io/DestinationRule" Fronts Computed(computed::istio_host) => Kind("Service"), Trace Fails Both;

    "source": "kustomize.toolkit.fluxcd.io/Kustomization" Uses Name("spec.sourceRef", "name") => Reference(SOURCE), Unwell Fails Both;
    "depends on": "kustomize.toolkit.fluxcd.io/Kustomization" Uses Name("spec.dependsOn[]", "name") => Kind("kustomize.toolkit.fluxcd.io/Kustomization"), Trace Fails Both;
    "health check": "kustomize.toolkit.fluxcd.io/Kustomization" Fronts Name("spec.healthChecks[]", "name") => Reference(ANYTHING), Trace Delays Forth;
    "kubeconfig": "kustomize.toolkit.fluxcd.io/Kustomization" Uses Name("spec.kubeConfig.secretRef", "name") => Kind("Secret"), Trace Delays Both;
    "service account": "kustomize.toolkit.fluxcd.io/Kustomization" Uses Name("spec", "serviceAccountName") => Kind("ServiceAccount"), Trace Fails Both;
    "applies": "kustomize.toolkit.fluxcd.io/Kustomization" Fronts Inventory(&inventory::KUSTOMIZATION) => Any, Always Fails Forth;
    "applied by": "*" Backs Computed(computed::flux_kustomization) => Kind("kustomize.toolkit.fluxcd.io/Kustomization"), Trace Works Forth;
    "source": "helm.toolkit.fluxcd.io/HelmRelease" Uses Name("spec.chart.spec.sourceRef", "name") => Reference(CHART_SOURCE), Unwell Fails Both;
    "chart": "helm.toolkit.fluxcd.io/HelmRelease" Uses Name("spec.chartRef", "name") => Reference(&["source.toolkit.fluxcd.io/HelmChart", "source.toolkit.fluxcd.io/OCIRepository"]), Trace Fails Both;
    "values": "helm.toolkit.fluxcd.io/HelmRelease" Uses Name("spec.valuesFrom[]", "name") => Reference(VALUES), Trace Fails Both;
    "depends on": "helm.toolkit.fluxcd.io/HelmRelease" Uses Name("spec.dependsOn[]", "name") => Kind("helm.toolkit.fluxcd.io/HelmRelease"), Trace Fails Both;

    "manages": "argoproj.io/Application" Fronts Inventory(&inventory::APPLICATION) => Any, Always Fails Forth;
    "project": "argoproj.io/Application" Uses Name("spec", "project") => Kind("argoproj.io/AppProject"), Trace Fails Both;

    "applies": "kpt.dev/ResourceGroup" Fronts Inventory(&inventory::RESOURCE_GROUP) => Any, Always Fails Forth;
    "applies": "ConfigMap" Fronts Inventory(&inventory::CONFIG_MAP) => Any, Always Fails Forth;

    "composition": "*" Uses Name("spec.crossplane.compositionRef", "name") => Kind("apiextensions.crossplane.io/Composition"), Trace Fails Forth;
    "composition": "*" Uses Name("spec.compositionRef", "name") => Kind("apiextensions.crossplane.io/Composition"), Trace Fails Forth;
    "composes": "*" Fronts Name("spec.crossplane.resourceRefs[]", "name") => Reference(ANYTHING), Trace Delays Forth;
    "composes": "*" Fronts Name("spec.resourceRefs[]", "name") => Reference(ANYTHING), Trace Delays Forth;

    "install plan": "operators.coreos.com/Subscription" Fronts Name("status.installPlanRef", "name") => Kind("operators.coreos.com/InstallPlan"), Trace Delays Forth;
    "installs": "operators.coreos.com/Subscription" Fronts Name("status", "currentCSV") => Kind("operators.coreos.com/ClusterServiceVersion"), Trace Delays Both;
    "reports on": "wgpolicyk8s.io/PolicyReport" Fronts Name("scope", "name") => Reference(ANYTHING), Trace Delays Forth;
    "node class": "karpenter.sh/NodePool" Uses Name("spec.template.spec.nodeClassRef", "name") => Reference(ANYTHING), Trace Fails Forth;
    "node class": "karpenter.sh/NodeClaim" Uses Name("spec.nodeClassRef", "name") => Reference(ANYTHING), Trace Fails Forth;
    "node": "karpenter.sh/NodeClaim" Fronts Name("status", "nodeName") => Kind("Node"), Trace Fails Both;
}
