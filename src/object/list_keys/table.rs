//! The built-in list keys, by field name. If several types use a name, the first entry with a matching parent and
//! matching items counts.

use super::key::{KeyNeed, KeyPart, ListKey};
use super::{ListPlace, Order};

/// A rule for the lists in fields with these names.
pub(super) struct BuiltInList {
    fields: Names,
    /// The parent must be one of these fields; any parent if there are none.
    parents: Names,
    pub(super) identity: BuiltInKey,
    pub(super) order: Order,
}

/// How the items are identified.
pub(super) enum BuiltInKey {
    Key(ListKey),
    Value,
}

/// The entries that may apply to a list, in order.
pub(super) fn entries(place: ListPlace<'_>) -> impl Iterator<Item = &'static BuiltInList> {
    TABLE.iter().filter(move |entry| {
        entry.fields.contains(&place.field)
            && (entry.parents.is_empty() || entry.parents.contains(&place.parent))
    })
}

const fn required(field: &'static str) -> KeyPart<&'static str> {
    part(field, KeyNeed::Required)
}

const fn optional(field: &'static str) -> KeyPart<&'static str> {
    part(field, KeyNeed::Optional)
}

/// The item must have the field, with any value. The value is not part of its name.
const fn present(field: &'static str) -> KeyPart<&'static str> {
    part(field, KeyNeed::Present)
}

const fn default(field: &'static str, value: &'static str) -> KeyPart<&'static str> {
    part(field, KeyNeed::Default(value))
}

const fn part(field: &'static str, need: KeyNeed<&'static str>) -> KeyPart<&'static str> {
    KeyPart { field, need }
}

const fn key(parts: &'static [KeyPart<&'static str>]) -> ListKey {
    ListKey::builtin(parts)
}

type Names = &'static [&'static str];

/// A list whose order has a meaning, such as which container starts first, or which rule is tried first.
const fn ordered(
    fields: Names,
    parents: Names,
    parts: &'static [KeyPart<&'static str>],
) -> BuiltInList {
    BuiltInList {
        fields,
        parents,
        identity: BuiltInKey::Key(key(parts)),
        order: Order::Matters,
    }
}

/// A list that the server or a controller may write in any order.
const fn unordered(
    fields: Names,
    parents: Names,
    parts: &'static [KeyPart<&'static str>],
) -> BuiltInList {
    BuiltInList {
        fields,
        parents,
        identity: BuiltInKey::Key(key(parts)),
        order: Order::Free,
    }
}

const fn set(fields: Names) -> BuiltInList {
    set_under(ANY, fields)
}

/// A list of scalars that is a set only below these parents.
const fn set_under(parents: Names, fields: Names) -> BuiltInList {
    BuiltInList {
        fields,
        parents,
        identity: BuiltInKey::Value,
        order: Order::Free,
    }
}

const ANY: Names = &[];

#[rustfmt::skip] // one line, one fact
static TABLE: &[BuiltInList] = &[
    // Pods and their templates.
    ordered(&["containers", "initContainers", "ephemeralContainers", "env", "volumes", "imagePullSecrets"], ANY, &[required("name")]),
    unordered(&["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"], ANY, &[required("name")]),
    ordered(&["resourceClaims", "schedulingGates"], ANY, &[required("name")]),
    unordered(&["resourceClaimStatuses", "claims", "allocatedResourcesStatus"], ANY, &[required("name")]),
    unordered(&["resources"], &["allocatedResourcesStatus"], &[required("resourceID")]),
    ordered(&["volumeMounts"], ANY, &[required("mountPath")]),
    ordered(&["volumeDevices"], ANY, &[required("devicePath")]),
    ordered(&["envFrom"], ANY, &[optional("prefix"), optional("configMapRef.name"), optional("secretRef.name")]),
    ordered(&["sources"], &["projected"], &[
        optional("configMap.name"), optional("secret.name"), optional("serviceAccountToken.path"), optional("clusterTrustBundle.path"),
    ]),
    ordered(&["items"], &["configMap", "secret"], &[required("key"), required("path")]),
    ordered(&["items"], &["downwardAPI"], &[required("path")]),
    ordered(&["topologySpreadConstraints"], ANY, &[required("topologyKey"), optional("whenUnsatisfiable")]),
    unordered(&["tolerations"], ANY, &[optional("key"), optional("operator"), optional("value"), optional("effect")]),
    ordered(&["podIPs", "hostIPs", "hostAliases"], ANY, &[required("ip")]),
    ordered(&["volumeClaimTemplates"], ANY, &[required("metadata.name")]),
    // All kinds.
    unordered(&["conditions"], ANY, &[required("type")]),
    unordered(&["ownerReferences"], ANY, &[required("uid")]),
    unordered(&["managedFields"], ANY, &[required("manager"), optional("operation"), optional("subresource"), optional("apiVersion")]),
    unordered(&["matchExpressions", "matchFields"], ANY, &[required("key"), required("operator")]),
    unordered(&["items"], &[""], &[optional("kind"), optional("metadata.namespace"), required("metadata.name")]),
    // Ports: of containers; of slices and Endpoints; of Services and NetworkPolicies.
    unordered(&["ports"], ANY, &[required("containerPort"), default("protocol", "TCP")]),
    unordered(&["ports"], &["", "subsets"], &[required("name")]),
    unordered(&["ports"], ANY, &[required("port"), default("protocol", "TCP")]),
    // Services, slices, Endpoints, Ingresses.
    unordered(&["endpoints"], ANY, &[required("addresses")]),
    unordered(&["addresses", "notReadyAddresses"], ANY, &[required("ip")]),
    unordered(&["addresses"], ANY, &[required("type"), required("value")]),
    unordered(&["addresses"], &["status"], &[required("type")]),
    unordered(&["addresses"], ANY, &[optional("type"), required("address")]),
    unordered(&["ingress"], &["loadBalancer"], &[optional("ip"), optional("hostname")]),
    ordered(&["rules"], &["spec"], &[present("http"), default("host", "*")]),
    ordered(&["paths"], ANY, &[required("path")]),
    ordered(&["parentRefs"], ANY, &[optional("kind"), optional("namespace"), required("name"), optional("sectionName"), optional("port")]),
    // Nodes.
    unordered(&["taints"], ANY, &[required("key"), required("effect")]),
    unordered(&["images"], &["status"], &[required("names")]),
    unordered(&["volumesAttached", "drivers"], ANY, &[required("name")]),
    // Autoscaling.
    ordered(&["metrics", "currentMetrics"], ANY, &[
        required("type"), optional("resource.name"), optional("containerResource.container"), optional("containerResource.name"),
        optional("pods.metric.name"), optional("object.metric.name"), optional("external.metric.name"),
    ]),
    // RBAC, webhooks, CRDs.
    unordered(&["subjects"], ANY, &[required("kind"), optional("namespace"), required("name")]),
    ordered(&["webhooks", "versions", "matchConditions", "variables"], ANY, &[required("name")]),
    ordered(&["x-kubernetes-validations"], ANY, &[required("rule")]),
    unordered(&["secrets"], &[""], &[required("name")]),
    // Dynamic resource allocation.
    unordered(&["reservedFor"], ANY, &[required("uid")]),
    unordered(&["devices"], &["status"], &[required("driver"), required("device"), required("pool"), optional("shareID")]),
    // Sets.
    set(&[
        "finalizers", "accessModes", "verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs", "addresses", "externalIPs",
        "loadBalancerSourceRanges", "policyTypes", "podCIDRs", "volumesInUse", "shortNames", "categories", "storedVersions",
        "validationActions", "volumeLifecycleModes",
    ]),
    set_under(&["matchExpressions", "matchFields", "exitCodes", "onExitCodes"], &["values"]),
    set_under(&["nodeAllocatableResourceClaimStatuses"], &["containers"]),
    set_under(&["resourceRules"], &["namespaces"]),
    set_under(&["uncountedTerminatedPods"], &["failed", "succeeded"]),
];

/// The keys to guess for unknown lists. The first is used that every item has, and that differs for all items of
/// a version.
pub(super) static GUESSES: [ListKey; 8] = [
    key(&[required("name")]),
    key(&[required("type")]),
    key(&[required("key")]),
    key(&[required("id")]),
    key(&[required("uid")]),
    key(&[required("path")]),
    key(&[required("host")]),
    key(&[required("ip")]),
];
