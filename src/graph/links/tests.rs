//! One case for each relation, and the law of the index.

use proptest::prelude::*;

use crate::graph::Graph;
use crate::graph::relations::all;
use crate::object::{Doc, Resource, Uid};

use super::*;

/// The links of an object of `GROUP/VERSION/KIND` in the namespace `shop`.
fn links_of(kind: &str, fields: &str) -> Links {
    let (version, kind) = kind.rsplit_once('/').expect("VERSION/KIND");
    let fields = match fields.strip_prefix('+') {
        Some(metadata_and_fields) => metadata_and_fields.to_owned(),
        None => format!("}},{fields}"),
    };
    let object = format!(
        r#"{{"apiVersion":"{version}","kind":"{kind}","metadata":{{"name":"x","namespace":"shop"{fields}}}"#
    );
    let doc = Doc::parse(object).expect("a case is JSON");
    Links::of(doc.root(), Tier::Trace, &ServedTypes::default())
}

fn lines(links: &Links) -> String {
    let named = |namespace: &Option<Arc<str>>| namespace.clone().unwrap_or("-".into());
    let reference = |reference: &Reference| {
        let target = &reference.target;
        let namespace = named(&target.namespace);
        let port = reference.port.as_ref().map(|port| format!(" port {port}"));
        let optional = if reference.is_optional {
            " optional"
        } else {
            ""
        };
        format!(
            "{} {} {namespace}/{}{}{optional}",
            reference.relation.name,
            target.kind,
            target.name,
            port.unwrap_or_default()
        )
    };
    let selection = |selection: &Selection| {
        let (relation, kind) = (selection.relation.name, &selection.kind);
        let namespace = named(&selection.namespace);
        format!("{relation} {kind} {namespace} with [{}]", selection.labels)
    };
    let references = links.references.iter().map(reference);
    let all: Vec<String> = references
        .chain(links.selections.iter().map(selection))
        .collect();
    all.join("\n")
}

const POD: &str = r#""spec":{
    "volumes":[
        {"name":"a","configMap":{"name":"cm-volume"}},
        {"name":"b","secret":{"secretName":"secret-volume"}},
        {"name":"c","secret":{"secretName":"not-needed","optional":true}},
        {"name":"d","projected":{"sources":[{"configMap":{"name":"cm-projected"}},{"secret":{"name":"secret-projected"}}]}},
        {"name":"e","persistentVolumeClaim":{"claimName":"data"}},
        {"name":"f","csi":{"driver":"d","nodePublishSecretRef":{"name":"secret-csi"}}},
        {"name":"g","ephemeral":{}},{"name":"h","azureFile":{"secretName":"azure"}},{"name":"i","cephfs":{"secretRef":{"name":"ceph"}}},
        {"name":"j","rbd":{"secretRef":{"name":"rbd"}}},{"name":"k","iscsi":{"secretRef":{"name":"iscsi"}}},{"name":"l","flexVolume":{"secretRef":{"name":"flex"}}}],
    "nodeName":"n1","serviceAccountName":"robot","priorityClassName":"high","runtimeClassName":"gvisor",
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

/// What the template of a workload names.
const TEMPLATE_REFERENCES: &str = "\
environment ConfigMap shop/cm-init
environment ConfigMap shop/also-optional optional
environment Secret shop/secret-from
environment ConfigMap shop/cm-key
environment ConfigMap shop/cm-debug
environment Secret shop/secret-key
volume ConfigMap shop/cm-volume
volume Secret shop/secret-volume
volume Secret shop/not-needed optional
volume ConfigMap shop/cm-projected
volume Secret shop/secret-projected
volume PersistentVolumeClaim shop/data
volume Secret shop/secret-csi
pull secret Secret shop/registry
device claim ResourceClaim.resource.k8s.io shop/gpu-1
device claim template ResourceClaimTemplate.resource.k8s.io shop/t
service account ServiceAccount shop/robot
volume secret Secret shop/azure
volume secret Secret shop/ceph
volume secret Secret shop/rbd
volume secret Secret shop/iscsi
volume secret Secret shop/flex
volume driver CSIDriver.storage.k8s.io -/d
priority class PriorityClass.scheduling.k8s.io -/high
runtime class RuntimeClass.node.k8s.io -/gvisor";

/// `GROUP/VERSION/KIND`, the fields, and the expected links. Fields that begin with `+` continue the metadata.
const CASES: &[(&str, &str, &str)] = &[
    (
        "v1/Pod",
        r#"+,"labels":{"batch.kubernetes.io/job-name":"j"}},"status":{"resourceClaimStatuses":[{"name":"other","resourceClaimName":"x-other"}]},
        "spec":{"nodeName":"n1","volumes":[{"name":"scratch","ephemeral":{}}]}"#,
        "node Node -/n1\nvolume PersistentVolumeClaim shop/x-scratch\ndevice claim ResourceClaim.resource.k8s.io shop/x-other\njob Job.batch shop/j",
    ),
    ("v1/Pod", r#""spec":{"serviceAccountName":"default"}"#, ""),
    (
        "v1/Pod",
        r#""spec":{"volumes":7,"containers":[null,{"envFrom":{}}],"imagePullSecrets":[{"name":""}]}"#,
        "",
    ),
    (
        "autoscaling/v2/HorizontalPodAutoscaler",
        r#""spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"StatefulSet","name":"db"},
            "metrics":[{"type":"Resource"},{"object":{"describedObject":{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","name":"web"}}}]}"#,
        "scale target StatefulSet.apps shop/db\nmetric object Ingress.networking.k8s.io shop/web\nnamespace Namespace -/shop",
    ),
    (
        "autoscaling/v2/HorizontalPodAutoscaler",
        r#""spec":{"scaleTargetRef":{"apiVersion":"argoproj.io/v1alpha1","kind":"Rollout","name":"web"}}"#,
        "scale target Rollout.argoproj.io shop/web\nnamespace Namespace -/shop",
    ),
    (
        "autoscaling.k8s.io/v1/VerticalPodAutoscaler",
        r#""spec":{"targetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"}}"#,
        "scale target Deployment.apps shop/web",
    ),
    (
        "keda.sh/v1alpha1/ScaledObject",
        r#""spec":{"scaleTargetRef":{"name":"web"},"triggers":[{"authenticationRef":{"name":"queue"}}]}"#,
        "scale target Deployment.apps shop/web\ntrigger authentication TriggerAuthentication.keda.sh shop/queue",
    ),
    (
        "argoproj.io/v1alpha1/Rollout",
        r#""spec":{"workloadRef":{"kind":"Deployment","apiVersion":"apps/v1","name":"web"},"strategy":{
            "canary":{"canaryService":"new","stableService":"old"},"blueGreen":{"activeService":"a","previewService":"p"}}}"#,
        "workload Deployment.apps shop/web\ncanary service Service shop/new\nstable service Service shop/old\n\
            active service Service shop/a\npreview service Service shop/p",
    ),
    (
        "apps/v1/StatefulSet",
        r#""spec":{"serviceName":"db","replicas":2,"volumeClaimTemplates":[{"metadata":{"name":"data"}}]}"#,
        "governing service Service shop/db\nclaim PersistentVolumeClaim shop/data-x-0\nclaim PersistentVolumeClaim shop/data-x-1\nnamespace Namespace -/shop",
    ),
    (
        "v1/Service",
        r#""spec":{"selector":{"app":"web"}}"#,
        "namespace Namespace -/shop\nselects Pod shop with [app=web]",
    ),
    (
        "v1/Service",
        r#""spec":{"selector":{}}"#,
        "namespace Namespace -/shop",
    ),
    (
        "v1/Service",
        r#""spec":{"type":"ExternalName","selector":{"app":"web"}}"#,
        "namespace Namespace -/shop",
    ),
    (
        "policy/v1/PodDisruptionBudget",
        r#""spec":{"selector":{"matchLabels":{"app":"web"}}}"#,
        "namespace Namespace -/shop\nbudget Pod shop with [app=web]",
    ),
    (
        "policy/v1/PodDisruptionBudget",
        r#""spec":{"selector":{}}"#,
        "namespace Namespace -/shop\nbudget Pod shop with []",
    ),
    (
        "policy/v1/PodDisruptionBudget",
        r#""spec":{}"#,
        "namespace Namespace -/shop",
    ),
    (
        "networking.k8s.io/v1/NetworkPolicy",
        r#""spec":{"podSelector":{},"ingress":[{"from":[{"podSelector":{"matchLabels":{"app":"web"}}},{"podSelector":{},"namespaceSelector":{}}]}],
            "egress":[{"to":[{"podSelector":{"matchLabels":{"app":"db"}}},{"ipBlock":{"cidr":"10.0.0.0/8"}}]}]}"#,
        "restricts Pod shop with []\nallows Pod shop with [app=web]\nallows Pod shop with [app=db]",
    ),
    (
        "discovery.k8s.io/v1/EndpointSlice",
        r#"+,"labels":{"kubernetes.io/service-name":"web"}},"endpoints":[{"targetRef":{"kind":"Pod","name":"a","namespace":"shop"}},{}]"#,
        "slice Service shop/web\nendpoint Pod shop/a",
    ),
    (
        "v1/Endpoints",
        r#""subsets":[{"addresses":[{"targetRef":{"kind":"Pod","name":"a"}}],"notReadyAddresses":[{"targetRef":{"kind":"Pod","name":"b"}}]}]"#,
        "endpoints Service shop/x\nendpoint Pod shop/a\nendpoint Pod shop/b",
    ),
    (
        "networking.k8s.io/v1/Ingress",
        r#"+,"annotations":{"kubernetes.io/ingress.class":"old"}},"spec":{"ingressClassName":"nginx","tls":[{"hosts":["a"]},{"secretName":"cert"}],
            "defaultBackend":{"service":{"name":"fallback","port":{"name":"http"}}},
            "rules":[{"host":"a"},{"http":{"paths":[
                {"backend":{"service":{"name":"web","port":{"number":80}}}},
                {"backend":{"service":{"name":"web","port":{"number":81}}}},
                {"backend":{"service":{"name":"web","port":{"number":80}}}},
                {"backend":{"resource":{"apiGroup":"example.com","kind":"Bucket","name":"b"}}}]}}]}"#,
        "backend Service shop/web port 80\nbackend Service shop/web port 81\n\
            backend Service shop/fallback port \"http\"\nbackend Bucket.example.com shop/b\ncertificate Secret shop/cert\n\
            class IngressClass.networking.k8s.io -/nginx\nclass IngressClass.networking.k8s.io -/old\nnamespace Namespace -/shop",
    ),
    (
        "networking.k8s.io/v1/IngressClass",
        r#""spec":{"parameters":{"apiGroup":"example.com","kind":"Settings","name":"s"}}"#,
        "parameters Settings.example.com shop/s",
    ),
    (
        "networking.k8s.io/v1/Ingress",
        r#""spec":{"defaultBackend":{"resource":{"apiGroup":"example.com","kind":"Bucket","name":"b"}}}"#,
        "backend Bucket.example.com shop/b\nnamespace Namespace -/shop",
    ),
    (
        "cert-manager.io/v1/Certificate",
        r#""spec":{"issuerRef":{"kind":"ClusterIssuer","name":"le"}}"#,
        "issuer ClusterIssuer.cert-manager.io shop/le",
    ),
    (
        "gateway.networking.k8s.io/v1/HTTPRoute",
        r#""spec":{"parentRefs":[{"name":"edge","namespace":"infra"}],"rules":[{"backendRefs":[{"name":"web","port":80},{"name":"api","namespace":"other"}],
            "filters":[{"requestMirror":{"backendRef":{"name":"shadow"}}},{"extensionRef":{"group":"example.com","kind":"Auth","name":"a"}}]}]}"#,
        "backend Service shop/web port 80\nbackend Service other/api\nmirror Service shop/shadow\nfilter Auth.example.com shop/a\n\
            parent Gateway.gateway.networking.k8s.io infra/edge",
    ),
    ("gateway.networking.k8s.io/v1/GRPCRoute", ROUTE, ROUTED),
    ("gateway.networking.k8s.io/v1alpha2/TLSRoute", ROUTE, ROUTED),
    ("gateway.networking.k8s.io/v1alpha2/UDPRoute", ROUTE, ROUTED),
    (
        "gateway.networking.k8s.io/v1alpha2/TCPRoute",
        r#""spec":{"parentRefs":[{"kind":"Service","group":"","name":"mesh"}],"rules":[{"backendRefs":[{"group":"multicluster.x-k8s.io","kind":"ServiceImport","name":"far"},{"name":"web"}]}]}"#,
        "backend ServiceImport.multicluster.x-k8s.io shop/far\nbackend Service shop/web\nparent Service shop/mesh",
    ),
    (
        "gateway.networking.k8s.io/v1/Gateway",
        r#""spec":{"gatewayClassName":"g","listeners":[{"tls":{"certificateRefs":[{"name":"cert"}]}}],
            "infrastructure":{"parametersRef":{"group":"","kind":"ConfigMap","name":"p"}}}"#,
        "class GatewayClass.gateway.networking.k8s.io shop/g\ncertificate Secret shop/cert\nparameters ConfigMap shop/p",
    ),
    (
        "gateway.networking.k8s.io/v1/GatewayClass",
        r#""spec":{"parametersRef":{"group":"example.com","kind":"Settings","name":"p"}}"#,
        "parameters Settings.example.com shop/p",
    ),
    (
        "gateway.networking.k8s.io/v1/ListenerSet",
        r#""spec":{"parentRef":{"name":"edge"}}"#,
        "parent Gateway.gateway.networking.k8s.io shop/edge",
    ),
    (
        "gateway.networking.k8s.io/v1/BackendTLSPolicy",
        r#""spec":{"targetRefs":[{"group":"","kind":"Service","name":"web"}],"validation":{"caCertificateRefs":[{"group":"","kind":"ConfigMap","name":"ca"}]}}"#,
        "policy of Service shop/web\ncertificate ConfigMap shop/ca",
    ),
    (
        "admissionregistration.k8s.io/v1/MutatingWebhookConfiguration",
        r#""webhooks":[{"clientConfig":{"url":"https://a"}},{"clientConfig":{"service":{"namespace":"hooks","name":"h","port":9443}}}]"#,
        "webhook Service hooks/h port 9443",
    ),
    (
        "admissionregistration.k8s.io/v1/MutatingWebhookConfiguration",
        r#""webhooks":[{"failurePolicy":"Ignore","clientConfig":{"service":{"namespace":"hooks","name":"h"}}},{"failurePolicy":"Fail","clientConfig":{"service":{"namespace":"hooks","name":"i"}}}]"#,
        "webhook Service hooks/i\nwebhook Service hooks/h",
    ),
    (
        "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration",
        r#""webhooks":[{"failurePolicy":"Ignore","clientConfig":{"service":{"namespace":"hooks","name":"h"}}},{"clientConfig":{"service":{"namespace":"hooks","name":"i"}}}]"#,
        "webhook Service hooks/i\nwebhook Service hooks/h",
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
        r#""roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},"subjects":[{"kind":"ServiceAccount","name":"a"},
            {"kind":"ServiceAccount","name":"b","namespace":"lab"},{"kind":"User","name":"system:serviceaccount:lab:c"},{"kind":"User","name":"jane"},
            {"kind":"Group","name":"system:serviceaccounts:lab"},{"kind":"Group","name":"system:authenticated"},{"kind":"Group","name":"devs"}]"#,
        "role ClusterRole.rbac.authorization.k8s.io -/view\nsubject ServiceAccount shop/a\nsubject ServiceAccount lab/b\nsubject ServiceAccount lab/c\n\
            subject ServiceAccount lab with []\nsubject ServiceAccount - with []",
    ),
    (
        "rbac.authorization.k8s.io/v1/RoleBinding",
        r#""roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"}"#,
        "role Role.rbac.authorization.k8s.io shop/r",
    ),
    (
        "rbac.authorization.k8s.io/v1/ClusterRoleBinding",
        r#""roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},"subjects":[{"kind":"ServiceAccount","name":"a","namespace":"lab"}]"#,
        "role ClusterRole.rbac.authorization.k8s.io -/view\nsubject ServiceAccount lab/a",
    ),
    (
        "rbac.authorization.k8s.io/v1/ClusterRole",
        r#""aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"to":"admin"}},{}]}"#,
        "aggregates ClusterRole.rbac.authorization.k8s.io shop with [to=admin]",
    ),
    (
        "v1/ServiceAccount",
        r#""imagePullSecrets":[{"name":"registry"}],"secrets":[{"name":"token"}]"#,
        "pull secret Secret shop/registry\ntoken Secret shop/token",
    ),
    (
        "v1/Secret",
        r#"+,"annotations":{"kubernetes.io/service-account.name":"robot","cert-manager.io/certificate-name":"web"}},"type":"x""#,
        "token of ServiceAccount shop/robot\ncertificate Certificate.cert-manager.io shop/web",
    ),
    (
        "v1/PersistentVolumeClaim",
        r#"+,"annotations":{"volume.kubernetes.io/selected-node":"n1"}},"spec":{"storageClassName":"fast","volumeName":"pv-1","volumeAttributesClassName":"gold",
            "dataSource":{"kind":"PersistentVolumeClaim","name":"old"},"dataSourceRef":{"apiGroup":"snapshot.storage.k8s.io","kind":"VolumeSnapshot","name":"s","namespace":"lab"}}"#,
        "storage class StorageClass.storage.k8s.io -/fast optional\nvolume PersistentVolume -/pv-1\nvolume attributes class VolumeAttributesClass.storage.k8s.io -/gold\n\
            data source PersistentVolumeClaim shop/old\ndata source VolumeSnapshot.snapshot.storage.k8s.io lab/s\nselected node Node -/n1\nnamespace Namespace -/shop",
    ),
    (
        "v1/PersistentVolume",
        r#""spec":{"claimRef":{"name":"data","namespace":"shop"},"storageClassName":"fast","csi":{"driver":"d","controllerPublishSecretRef":{"name":"a","namespace":"s"},
            "controllerExpandSecretRef":{"name":"b","namespace":"s"},"nodeStageSecretRef":{"name":"c","namespace":"s"},"nodePublishSecretRef":{"name":"d","namespace":"s"},"nodeExpandSecretRef":{"name":"e","namespace":"s"}}}"#,
        "claim PersistentVolumeClaim shop/data\nstorage class StorageClass.storage.k8s.io -/fast\nvolume driver CSIDriver.storage.k8s.io -/d\n\
            volume secret Secret s/a\nvolume secret Secret s/b\nvolume secret Secret s/c\nvolume secret Secret s/d\nvolume secret Secret s/e",
    ),
    (
        "storage.k8s.io/v1/StorageClass",
        r#""provisioner":"ebs.csi.aws.com""#,
        "provisioner CSIDriver.storage.k8s.io -/ebs.csi.aws.com",
    ),
    (
        "storage.k8s.io/v1/VolumeAttachment",
        r#""spec":{"attacher":"d","nodeName":"n1","source":{"persistentVolumeName":"pv-1"}}"#,
        "attaches PersistentVolume -/pv-1\nattached to Node -/n1\nattacher CSIDriver.storage.k8s.io -/d",
    ),
    (
        "storage.k8s.io/v1/CSINode",
        r#""spec":{"drivers":[{"name":"d"}]}"#,
        "volume driver CSIDriver.storage.k8s.io -/d\nnode Node -/x",
    ),
    (
        "storage.k8s.io/v1/CSIStorageCapacity",
        r#""storageClassName":"fast""#,
        "capacity of StorageClass.storage.k8s.io -/fast",
    ),
    (
        "resource.k8s.io/v1/ResourceClaim",
        r#""spec":{"devices":{"requests":[{"exactly":{"deviceClassName":"gpu"}},{"firstAvailable":[{"deviceClassName":"big"}]}]}},
            "status":{"reservedFor":[{"resource":"pods","name":"a"},{"resource":"jobs","name":"j"}]}"#,
        "device class DeviceClass.resource.k8s.io -/gpu\ndevice class DeviceClass.resource.k8s.io -/big\nreserved for Pod shop/a",
    ),
    (
        "resource.k8s.io/v1/ResourceSlice",
        r#""spec":{"nodeName":"n1"}"#,
        "node Node -/n1",
    ),
    ("v1/ResourceQuota", r#""spec":{}"#, "quota Namespace -/shop"),
    ("v1/LimitRange", r#""spec":{}"#, "limits Namespace -/shop"),
    (
        "batch/v1/Job",
        r#"+,"ownerReferences":[{"uid":"c"}]},"spec":{}"#,
        "",
    ),
    (
        "cilium.io/v2/CiliumNetworkPolicy",
        r#""spec":{"endpointSelector":{}},"specs":[{"endpointSelector":{"matchLabels":{"app":"web"}}}]"#,
        "restricts Pod shop with []\nrestricts Pod shop with [app=web]",
    ),
    (
        "snapshot.storage.k8s.io/v1/VolumeSnapshot",
        r#""spec":{"source":{"persistentVolumeClaimName":"data","volumeSnapshotContentName":"c"},"volumeSnapshotClassName":"s"},"status":{"boundVolumeSnapshotContentName":"c2"}"#,
        "source PersistentVolumeClaim shop/data\ncontent VolumeSnapshotContent.snapshot.storage.k8s.io shop/c\ncontent VolumeSnapshotContent.snapshot.storage.k8s.io shop/c2\n\
            class VolumeSnapshotClass.snapshot.storage.k8s.io shop/s",
    ),
    (
        "snapshot.storage.k8s.io/v1/VolumeSnapshotContent",
        r#""spec":{"driver":"d","volumeSnapshotRef":{"name":"s","namespace":"lab"}}"#,
        "snapshot VolumeSnapshot.snapshot.storage.k8s.io lab/s\nvolume driver CSIDriver.storage.k8s.io -/d",
    ),
    (
        "cert-manager.io/v1/Certificate",
        r#""spec":{"secretName":"cert","issuerRef":{"name":"ca"}}"#,
        "issuer Issuer.cert-manager.io shop/ca\nstores in Secret shop/cert",
    ),
    (
        "cert-manager.io/v1/CertificateRequest",
        r#"+,"annotations":{"cert-manager.io/certificate-name":"web"}},"spec":{"issuerRef":{"group":"cert-manager.io","kind":"ClusterIssuer","name":"ca"}}"#,
        "issuer ClusterIssuer.cert-manager.io shop/ca\ncertificate Certificate.cert-manager.io shop/web",
    ),
    (
        "cert-manager.io/v1/Issuer",
        r#""spec":{"ca":{"secretName":"key"},"acme":{"privateKeySecretRef":{"name":"account"}}}"#,
        "certificate authority Secret shop/key\naccount key Secret shop/account",
    ),
    (
        "external-secrets.io/v1/ExternalSecret",
        r#""spec":{"secretStoreRef":{"name":"vault","kind":"ClusterSecretStore"},"target":{"name":"db"}}"#,
        "store ClusterSecretStore.external-secrets.io shop/vault\nsyncs Secret shop/db",
    ),
    (
        "external-secrets.io/v1/ExternalSecret",
        r#""spec":{"secretStoreRef":{"name":"vault"}}"#,
        "store SecretStore.external-secrets.io shop/vault\nsyncs Secret shop/x",
    ),
    (
        "monitoring.coreos.com/v1/ServiceMonitor",
        r#""spec":{"selector":{"matchLabels":{"app":"web"}}}"#,
        "scrapes Service shop with [app=web]",
    ),
    (
        "monitoring.coreos.com/v1/PodMonitor",
        r#""spec":{"selector":{}}"#,
        "",
    ),
    (
        "monitoring.coreos.com/v1/PodMonitor",
        r#""spec":{"selector":{"matchLabels":{"app":"web"}}}"#,
        "scrapes Pod shop with [app=web]",
    ),
    (
        "monitoring.coreos.com/v1/PrometheusRule",
        r#""status":{"bindings":[{"group":"monitoring.coreos.com","name":"p","namespace":"m"}]}"#,
        "bound to Prometheus.monitoring.coreos.com m/p",
    ),
    (
        "networking.istio.io/v1/VirtualService",
        r#""spec":{"gateways":["mesh","edge","infra/public"],"http":[{"route":[{"destination":{"host":"web"}}],"mirror":{"host":"shadow.lab.svc.cluster.local"}}],
            "tcp":[{"route":[{"destination":{"host":"example.com"}}]}]}"#,
        "gateway Gateway.networking.istio.io shop/edge\ngateway Gateway.networking.istio.io infra/public\ndestination Service shop/web\ndestination Service lab/shadow",
    ),
    (
        "networking.istio.io/v1/DestinationRule",
        r#""spec":{"host":"web"}"#,
        "destination Service shop/web",
    ),
    (
        "kustomize.toolkit.fluxcd.io/v1/Kustomization",
        r#""spec":{"sourceRef":{"kind":"GitRepository","name":"repo","apiVersion":"source.toolkit.fluxcd.io/v1"},"dependsOn":[{"name":"crds"}],
            "healthChecks":[{"apiVersion":"apps/v1","kind":"Deployment","name":"web","namespace":"shop"}],"serviceAccountName":"robot"},
            "status":{"inventory":{"entries":[{"id":"shop_web_apps_Deployment"},{"id":"_shop__Namespace"},{"id":"odd"}]}}"#,
        "source GitRepository.source.toolkit.fluxcd.io shop/repo\ndepends on Kustomization.kustomize.toolkit.fluxcd.io shop/crds\nhealth check Deployment.apps shop/web\n\
            service account ServiceAccount shop/robot\napplies Deployment.apps shop/web\napplies Namespace -/shop",
    ),
    (
        "kustomize.toolkit.fluxcd.io/v1/Kustomization",
        r#""spec":{"kubeConfig":{"secretRef":{"name":"far"}}},"status":{"inventory":{"entries":[{"id":"shop_web_apps_Deployment"}]}}"#,
        "kubeconfig Secret shop/far",
    ),
    (
        "kpt.dev/v1alpha1/ResourceGroup",
        r#""spec":{"resources":[{"group":"apps","kind":"Deployment","namespace":"shop","name":"web"}]}"#,
        "applies Deployment.apps shop/web",
    ),
    (
        "v1/ConfigMap",
        r#"+,"labels":{"cli-utils.sigs.k8s.io/inventory-id":"x"}},"data":{"shop_web_apps_Deployment":""}"#,
        "applies Deployment.apps shop/web",
    ),
    (
        "helm.toolkit.fluxcd.io/v2/HelmRelease",
        r#""spec":{"chart":{"spec":{"sourceRef":{"name":"charts"}}},"chartRef":{"kind":"OCIRepository","apiVersion":"source.toolkit.fluxcd.io/v1","name":"oci"},
            "valuesFrom":[{"kind":"Secret","name":"values"},{"kind":"ConfigMap","name":"more","optional":true}],"dependsOn":[{"name":"db"}]}"#,
        "source HelmRepository.source.toolkit.fluxcd.io shop/charts\nchart OCIRepository.source.toolkit.fluxcd.io shop/oci\nvalues Secret shop/values\n\
            values ConfigMap shop/more optional\ndepends on HelmRelease.helm.toolkit.fluxcd.io shop/db",
    ),
    (
        "argoproj.io/v1alpha1/Application",
        r#""spec":{"project":"default"},"status":{"resources":[{"group":"apps","kind":"Deployment","name":"web","namespace":"prod"},{"kind":"Namespace","name":"prod"}]}"#,
        "manages Deployment.apps prod/web\nmanages Namespace -/prod\nproject AppProject.argoproj.io shop/default",
    ),
    (
        "operators.coreos.com/v1alpha1/Subscription",
        r#""status":{"installPlanRef":{"name":"p"},"currentCSV":"c"}"#,
        "install plan InstallPlan.operators.coreos.com shop/p\ninstalls ClusterServiceVersion.operators.coreos.com shop/c",
    ),
    (
        "wgpolicyk8s.io/v1alpha2/PolicyReport",
        r#""scope":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"}"#,
        "reports on Deployment.apps shop/web",
    ),
    (
        "karpenter.sh/v1/NodePool",
        r#""spec":{"template":{"spec":{"nodeClassRef":{"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"c"}}}}"#,
        "node class EC2NodeClass.karpenter.k8s.aws shop/c",
    ),
    (
        "karpenter.sh/v1/NodeClaim",
        r#""spec":{"nodeClassRef":{"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"c"}},"status":{"nodeName":"n1"}"#,
        "node class EC2NodeClass.karpenter.k8s.aws shop/c\nnode Node -/n1",
    ),
    (
        "example.org/v1/App",
        r#"+,"labels":{"kustomize.toolkit.fluxcd.io/name":"apps","kustomize.toolkit.fluxcd.io/namespace":"flux-system"}},"spec":{"compositionRef":{"name":"c1"},"resourceRefs":[{"apiVersion":"v1","kind":"Secret","name":"a"}],
            "crossplane":{"compositionRef":{"name":"c2"},"resourceRefs":[{"apiVersion":"example.org/v1","kind":"Db","name":"b"}]}}"#,
        "applied by Kustomization.kustomize.toolkit.fluxcd.io flux-system/apps\ncomposition Composition.apiextensions.crossplane.io shop/c2\ncomposition Composition.apiextensions.crossplane.io shop/c1\n\
            composes Db.example.org shop/b\ncomposes Secret shop/a",
    ),
];

const ROUTE: &str =
    r#""spec":{"parentRefs":[{"name":"edge"}],"rules":[{"backendRefs":[{"name":"web"}]}]}"#;
const ROUTED: &str = "backend Service shop/web\nparent Gateway.gateway.networking.k8s.io shop/edge";

/// The kinds with a pod template, and what they link to besides.
const TEMPLATES: [(&str, &str); 7] = [
    ("apps/v1/Deployment", "\nnamespace Namespace -/shop"),
    ("apps/v1/ReplicaSet", ""),
    ("apps/v1/StatefulSet", "\nnamespace Namespace -/shop"),
    ("apps/v1/DaemonSet", "\nnamespace Namespace -/shop"),
    ("batch/v1/Job", "\nnamespace Namespace -/shop"),
    ("batch/v1/CronJob", "\nnamespace Namespace -/shop"),
    ("v1/ReplicationController", ""),
];

#[test]
fn each_relation_is_read() {
    let pod =
        format!("{TEMPLATE_REFERENCES}\nnode Node -/n1\nvolume PersistentVolumeClaim shop/x-g");
    let mut cases = vec![("v1/Pod", POD.to_owned(), pod)];
    for (kind, more) in TEMPLATES {
        let template = format!(r#""spec":{{"template":{{{POD}}}}}"#);
        let fields = match kind {
            "batch/v1/CronJob" => format!(r#""spec":{{"jobTemplate":{{{template}}}}}"#),
            _ => template,
        };
        cases.push((kind, fields, format!("{TEMPLATE_REFERENCES}{more}")));
    }
    let table = CASES.iter();
    cases.extend(
        table.map(|(kind, fields, expect)| (*kind, (*fields).to_owned(), (*expect).to_owned())),
    );
    let mut seen = Vec::new();
    for (kind, fields, expect) in cases {
        let found = links_of(kind, &fields);
        assert_eq!(lines(&found), expect, "{kind}");
        seen.extend(
            found
                .references
                .into_iter()
                .map(|reference| reference.relation),
        );
        seen.extend(
            found
                .selections
                .into_iter()
                .map(|selection| selection.relation),
        );
    }
    let read_by_the_graph = |relation: &&Relation| matches!(relation.read, Read::OwnerUid);
    for relation in all().filter(|relation| !read_by_the_graph(relation)) {
        assert!(seen.contains(&relation), "no case for {relation:?}");
    }
}

#[test]
fn the_labels_of_a_template_are_those_of_its_pods() {
    let labels = |kind, fields| {
        links_of(kind, fields)
            .template
            .map(|labels| labels.iter().count())
    };
    let template = r#""spec":{"template":{"metadata":{"labels":{"app":"web"}}}}"#;
    let job =
        r#""spec":{"jobTemplate":{"spec":{"template":{"metadata":{"labels":{"app":"web"}}}}}}"#;
    assert_eq!(labels("apps/v1/Deployment", template), Some(1));
    assert_eq!(labels("batch/v1/CronJob", job), Some(1));
    assert_eq!(labels("karpenter.sh/v1/NodePool", template), None);
    assert_eq!(labels("v1/Pod", r#""spec":{}"#), None);
}

#[test]
fn an_object_that_is_well_needs_less() {
    let doc = Doc::parse(format!(r#"{{"apiVersion":"v1","kind":"Pod",{POD}}}"#));
    let doc = doc.expect("a case is JSON");
    let links = |upto| Links::of(doc.root(), upto, &ServedTypes::default());
    assert_eq!(links(Tier::Always), Links::default());
    let unwell = links(Tier::Unwell);
    assert!(
        unwell
            .references
            .iter()
            .all(|reference| !reference.is_optional)
    );
    assert_eq!((unwell.references.len(), unwell.selections.len()), (15, 0));
}

#[test]
fn the_scope_of_a_custom_kind_is_known_if_it_is_served() {
    let issuer = Resource {
        group: "cert-manager.io".into(),
        version: "v1".into(),
        plural: "clusterissuers".into(),
        kind: "ClusterIssuer".into(),
        namespaced: false,
    };
    let certificate = r#"{"apiVersion":"cert-manager.io/v1","kind":"Certificate","metadata":{"name":"x","namespace":"shop"},
        "spec":{"issuerRef":{"group":"cert-manager.io","kind":"ClusterIssuer","name":"ca"}}}"#;
    let doc = Doc::parse(certificate).expect("a case is JSON");
    let links = Links::of(doc.root(), Tier::Trace, &ServedTypes::of([issuer]));
    assert_eq!(lines(&links), "issuer ClusterIssuer.cert-manager.io -/ca");
}

/// A small world: Ingresses, Services, Pods and budgets that come, change, go and come again under the same names.
#[derive(Clone, Debug)]
enum Step {
    Put(World),
    Delete(u8),
}

/// An object of the world: its uid, its name, and what it names or selects.
#[derive(Clone, Debug)]
enum World {
    Ingress { uid: u8, to: u8 },
    Service { name: u8, again: u8, label: u8 },
    Pod { uid: u8, label: u8 },
    Budget { uid: u8, label: u8 },
}

fn step() -> impl Strategy<Value = Step> {
    let object = prop_oneof![
        (0..3u8, 0..4u8).prop_map(|(uid, to)| World::Ingress { uid, to }),
        (0..4u8, 0..3u8, 0..3u8).prop_map(|(name, again, label)| World::Service {
            name,
            again,
            label
        }),
        (20..24u8, 0..3u8).prop_map(|(uid, label)| World::Pod { uid, label }),
        (24..26u8, 0..3u8).prop_map(|(uid, label)| World::Budget { uid, label }),
    ];
    prop_oneof![3 => object.prop_map(Step::Put), 1 => (0..26u8).prop_map(Step::Delete)]
}

impl World {
    fn uid(&self) -> u8 {
        match self {
            World::Ingress { uid, .. } | World::Pod { uid, .. } | World::Budget { uid, .. } => *uid,
            World::Service { name, again, .. } => 4 + name * 4 + again,
        }
    }

    fn text(&self) -> String {
        let uid = self.uid();
        let (kind, name, fields) = match self {
            World::Ingress { to, .. } => (
                "networking.k8s.io/v1\",\"kind\":\"Ingress",
                format!("i{uid}"),
                format!(r#""spec":{{"defaultBackend":{{"service":{{"name":"s{to}"}}}}}}"#),
            ),
            World::Service { name, label, .. } => (
                "v1\",\"kind\":\"Service",
                format!("s{name}"),
                format!(r#""spec":{{"selector":{{"l":"{label}"}}}}"#),
            ),
            World::Pod { .. } => (
                "v1\",\"kind\":\"Pod",
                format!("p{uid}"),
                r#""spec":{}"#.to_owned(),
            ),
            World::Budget { label, .. } => (
                "policy/v1\",\"kind\":\"PodDisruptionBudget",
                format!("b{uid}"),
                format!(r#""spec":{{"selector":{{"matchLabels":{{"l":"{label}"}}}}}}"#),
            ),
        };
        let label = match self {
            World::Pod { label, .. } => *label,
            World::Ingress { .. } | World::Service { .. } | World::Budget { .. } => 9,
        };
        format!(
            r#"{{"apiVersion":"{kind}","metadata":{{"name":"{name}","namespace":"shop","uid":"{uid}","labels":{{"l":"{label}"}}}},{fields}}}"#
        )
    }
}

fn take(graph: &mut Graph, step: &Step) {
    let object = match step {
        Step::Put(object) => object.text(),
        Step::Delete(uid) => return graph.delete(&Uid::new(uid.to_string())),
    };
    let doc = Doc::parse(object).expect("a case is JSON");
    let uid = graph.apply(doc.root());
    let links = Links::of(doc.root(), Tier::Trace, &ServedTypes::default());
    graph.link([(uid, links)]);
}

/// Every neighbour of every object, from both ends.
fn neighbours(graph: &Graph) -> Vec<String> {
    let mut lines = Vec::new();
    for node in graph.nodes() {
        for neighbour in crate::graph::neighbours(graph, &node.uid) {
            let end = neighbour.end.target();
            lines.push(format!(
                "{:?} {:?} {end:?} {:?}",
                node.uid, neighbour.side, neighbour.relations
            ));
        }
    }
    lines
}

proptest! {
    /// The graph depends on the newest versions alone, not on the way to them.
    #[test]
    fn the_way_to_a_graph_does_not_matter(steps in proptest::collection::vec(step(), 0..40), turn in 0..40usize) {
        let mut graph = Graph::default();
        let mut newest: Vec<(u8, &Step)> = Vec::new();
        for step in &steps {
            take(&mut graph, step);
            let uid = match step {
                Step::Put(object) => object.uid(),
                Step::Delete(uid) => *uid,
            };
            newest.retain(|(known, _)| *known != uid);
            if matches!(step, Step::Put(_)) {
                newest.push((uid, step));
            }
        }
        let turn = turn % newest.len().max(1);
        newest.rotate_left(turn);
        let mut afresh = Graph::default();
        for (_, step) in newest.iter().rev() {
            take(&mut afresh, step);
        }
        prop_assert_eq!(neighbours(&graph), neighbours(&afresh));
        prop_assert_eq!(graph, afresh);
    }
}
