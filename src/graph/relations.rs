//! The relations of the API, as data: which field of which kind names which other object.
//!
//! A relation is one row. The field paths are those of the API reference
//! (<https://kubernetes.io/docs/reference/kubernetes-api/>) and of the projects that define the custom kinds.

/// A field that names another object.
#[derive(Debug, PartialEq, Eq)]
pub struct Relation {
    /// What the other object is for this one: `backend`, `volume`.
    pub name: &'static str,
    /// The `GROUP/KIND` that has the field; only `KIND` in the core group.
    pub(super) from: &'static str,
    /// The path of the field's parent. `[]` follows a list; `containers*` stands for containers of every type.
    pub(super) path: &'static str,
    /// The field with the name.
    pub(super) key: &'static str,
    /// The type of the named object.
    pub(super) to: To,
    /// When the named object matters.
    pub tier: Tier,
    /// What it means for this object if the named one does not exist.
    pub if_absent: IfAbsent,
}

/// The type of a named object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    /// Always this `GROUP/KIND`.
    Kind(&'static str),
    /// The `kind` and `apiVersion`, `apiGroup` or `group` beside the name; this `GROUP/KIND` by default.
    Reference(&'static str),
}

/// When a view needs the named object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Always: the object's own status says nothing about it.
    Always,
    /// While the object is not Current. A Current object has found everything it needs.
    Unwell,
}

/// What it means for an object if the named one does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfAbsent {
    /// It cannot work.
    Fails,
    /// It works in part, or a controller creates the named object later.
    Delays,
}

macro_rules! relations {
    ($($name:literal: $from:literal $path:literal . $key:literal => $to:ident ($target:literal), $tier:ident $if_absent:ident;)*) => {
        /// All relations.
        pub(super) const RELATIONS: &[Relation] = &[$(Relation {
            name: $name,
            from: $from,
            path: $path,
            key: $key,
            to: To::$to($target),
            tier: Tier::$tier,
            if_absent: IfAbsent::$if_absent,
        },)*];
    };
}

relations! {
    "environment": "Pod" "spec.containers*.envFrom[].configMapRef" . "name" => Kind("ConfigMap"), Unwell Fails;
    "environment": "Pod" "spec.containers*.envFrom[].secretRef" . "name" => Kind("Secret"), Unwell Fails;
    "environment": "Pod" "spec.containers*.env[].valueFrom.configMapKeyRef" . "name" => Kind("ConfigMap"), Unwell Fails;
    "environment": "Pod" "spec.containers*.env[].valueFrom.secretKeyRef" . "name" => Kind("Secret"), Unwell Fails;
    "volume": "Pod" "spec.volumes[].configMap" . "name" => Kind("ConfigMap"), Unwell Fails;
    "volume": "Pod" "spec.volumes[].secret" . "secretName" => Kind("Secret"), Unwell Fails;
    "volume": "Pod" "spec.volumes[].projected.sources[].configMap" . "name" => Kind("ConfigMap"), Unwell Fails;
    "volume": "Pod" "spec.volumes[].projected.sources[].secret" . "name" => Kind("Secret"), Unwell Fails;
    "volume": "Pod" "spec.volumes[].persistentVolumeClaim" . "claimName" => Kind("PersistentVolumeClaim"), Unwell Fails;
    "volume": "Pod" "spec.volumes[].csi.nodePublishSecretRef" . "name" => Kind("Secret"), Unwell Fails;
    "pull secret": "Pod" "spec.imagePullSecrets[]" . "name" => Kind("Secret"), Unwell Delays;
    "device claim": "Pod" "spec.resourceClaims[]" . "resourceClaimName" => Kind("resource.k8s.io/ResourceClaim"), Unwell Fails;

    "scale target": "autoscaling/HorizontalPodAutoscaler" "spec.scaleTargetRef" . "name" => Reference("apps/Deployment"), Always Fails;
    "metric object": "autoscaling/HorizontalPodAutoscaler" "spec.metrics[].object.describedObject" . "name" => Reference("Service"), Always Delays;
    "scale target": "autoscaling.k8s.io/VerticalPodAutoscaler" "spec.targetRef" . "name" => Reference("apps/Deployment"), Always Fails;
    "scale target": "keda.sh/ScaledObject" "spec.scaleTargetRef" . "name" => Reference("apps/Deployment"), Always Fails;

    "backend": "networking.k8s.io/Ingress" "spec.rules[].http.paths[].backend.service" . "name" => Kind("Service"), Always Fails;
    "backend": "networking.k8s.io/Ingress" "spec.defaultBackend.service" . "name" => Kind("Service"), Always Fails;
    "certificate": "networking.k8s.io/Ingress" "spec.tls[]" . "secretName" => Kind("Secret"), Always Delays;
    "class": "networking.k8s.io/Ingress" "spec" . "ingressClassName" => Kind("networking.k8s.io/IngressClass"), Always Delays;
    "backend": "gateway.networking.k8s.io/HTTPRoute" "spec.rules[].backendRefs[]" . "name" => Reference("Service"), Always Fails;
    "backend": "gateway.networking.k8s.io/GRPCRoute" "spec.rules[].backendRefs[]" . "name" => Reference("Service"), Always Fails;
    "backend": "gateway.networking.k8s.io/TLSRoute" "spec.rules[].backendRefs[]" . "name" => Reference("Service"), Always Fails;
    "backend": "gateway.networking.k8s.io/TCPRoute" "spec.rules[].backendRefs[]" . "name" => Reference("Service"), Always Fails;

    "webhook": "admissionregistration.k8s.io/MutatingWebhookConfiguration" "webhooks[].clientConfig.service" . "name" => Kind("Service"), Always Fails;
    "webhook": "admissionregistration.k8s.io/ValidatingWebhookConfiguration" "webhooks[].clientConfig.service" . "name" => Kind("Service"), Always Fails;
    "conversion webhook": "apiextensions.k8s.io/CustomResourceDefinition" "spec.conversion.webhook.clientConfig.service" . "name" => Kind("Service"), Always Fails;
    "backend": "apiregistration.k8s.io/APIService" "spec.service" . "name" => Kind("Service"), Always Fails;
    "policy": "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding" "spec" . "policyName" => Kind("admissionregistration.k8s.io/ValidatingAdmissionPolicy"), Always Fails;
    "priority level": "flowcontrol.apiserver.k8s.io/FlowSchema" "spec.priorityLevelConfiguration" . "name" => Kind("flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration"), Always Fails;

    "role": "rbac.authorization.k8s.io/RoleBinding" "roleRef" . "name" => Reference("rbac.authorization.k8s.io/Role"), Always Fails;
    "role": "rbac.authorization.k8s.io/ClusterRoleBinding" "roleRef" . "name" => Reference("rbac.authorization.k8s.io/ClusterRole"), Always Fails;
    "pull secret": "ServiceAccount" "imagePullSecrets[]" . "name" => Kind("Secret"), Always Delays;

    "storage class": "PersistentVolumeClaim" "spec" . "storageClassName" => Kind("storage.k8s.io/StorageClass"), Unwell Fails;
    "volume": "PersistentVolumeClaim" "spec" . "volumeName" => Kind("PersistentVolume"), Unwell Fails;
    "data source": "PersistentVolumeClaim" "spec.dataSource" . "name" => Reference("PersistentVolumeClaim"), Unwell Fails;
    "source": "snapshot.storage.k8s.io/VolumeSnapshot" "spec.source" . "persistentVolumeClaimName" => Kind("PersistentVolumeClaim"), Unwell Fails;
}
