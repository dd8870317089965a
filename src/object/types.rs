//! Resource types: their names, which of them a cluster serves, and which Kubernetes itself defines.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};

use super::{GroupKind, ObjectRef, Resource, Value};

/// A resource type and its names. It is kept on disk for completion, with these names of the fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceType {
    /// The resource.
    #[serde(flatten)]
    pub resource: Resource,
    /// `deployment`.
    pub singular: String,
    /// `deploy`.
    pub short_names: Vec<String>,
    /// The categories that include it: `all`.
    pub categories: Vec<String>,
    /// The supported verbs: `list`, `watch`.
    pub verbs: Vec<String>,
    /// Whether it has the subresource `status`, which controllers write.
    #[serde(default)]
    pub has_status: bool,
}

impl ResourceType {
    /// A type of which only the resource is known, as in a file or a record. Its objects can be listed and watched.
    pub fn of(resource: Resource) -> ResourceType {
        ResourceType {
            singular: resource.kind.to_lowercase(),
            short_names: Vec::new(),
            categories: Vec::new(),
            verbs: vec!["list".to_owned(), "watch".to_owned()],
            has_status: false,
            resource,
        }
    }

    /// Whether its objects can be listed. Without that nothing of them can be shown.
    pub fn listable(&self) -> bool {
        self.verbs.iter().any(|verb| verb == "list")
    }

    /// Whether its objects can be watched.
    pub fn watchable(&self) -> bool {
        self.verbs.iter().any(|verb| verb == "watch")
    }
}

/// The known types: Kubernetes' own, and those that a cluster was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServedTypes {
    served: Arc<BTreeMap<GroupKind, Resource>>,
    /// The custom kinds with the subresource `status`.
    with_status: Arc<BTreeSet<GroupKind>>,
}

impl ServedTypes {
    /// The types that a cluster serves. Of several versions of a kind the first one counts.
    pub fn of(served: impl IntoIterator<Item = Resource>) -> ServedTypes {
        let mut kinds = BTreeMap::new();
        for resource in served {
            kinds.entry(resource.group_kind()).or_insert(resource);
        }
        ServedTypes {
            served: Arc::new(kinds),
            ..ServedTypes::default()
        }
    }

    /// The types that a cluster serves, with what discovery says about their subresources.
    pub fn discovered(found: impl IntoIterator<Item = ResourceType>) -> ServedTypes {
        let found: Vec<ResourceType> = found.into_iter().collect();
        let is_own = |found: &ResourceType| is_kubernetes_own(&found.resource.group);
        let with_status = found.iter();
        let with_status = with_status.filter(|found| found.has_status && !is_own(found));
        let with_status = with_status.map(|found| found.resource.group_kind());
        ServedTypes {
            with_status: Arc::new(with_status.collect()),
            ..ServedTypes::of(found.into_iter().map(|found| found.resource))
        }
    }

    /// The custom kinds in documents whose controllers write a status: their `CustomResourceDefinition` has the subresource,
    /// or one of their objects has conditions.
    pub fn in_documents<'a>(documents: impl Iterator<Item = Value<'a>>) -> ServedTypes {
        let kinds = documents.filter_map(|document| {
            defined_with_status(document).or_else(|| {
                let mut conditions = document.items_at(&["status", "conditions"]);
                conditions.next()?;
                Some(ObjectRef::of(document).group_kind())
            })
        });
        let kinds = kinds.filter(|kind| !is_kubernetes_own(&kind.group));
        ServedTypes {
            with_status: Arc::new(kinds.collect()),
            ..ServedTypes::default()
        }
    }

    /// Whether the kind of an object has the subresource `status`, so that its controller writes a status. Only known of
    /// custom kinds.
    pub fn has_status(&self, object: &ObjectRef) -> bool {
        !self.with_status.is_empty() && self.with_status.contains(&object.group_kind())
    }

    /// The resource of a kind; `None` if it is not known.
    pub fn resource(&self, kind: &GroupKind) -> Option<&Resource> {
        let well_known = well_known_type(&kind.group, &kind.kind);
        let well_known = well_known.map(|found| &found.resource);
        well_known.or_else(|| self.served.get(kind))
    }

    /// The resource with this plural name in a group; `None` if it is not known.
    pub fn of_plural(&self, group: &str, plural: &str) -> Option<&Resource> {
        let well_known = well_known().iter().map(|found| &found.resource);
        let mut all = well_known.chain(self.all());
        all.find(|resource| &*resource.group == group && &*resource.plural == plural)
    }

    /// All types that the cluster was found to serve, one of each kind.
    pub fn all(&self) -> impl Iterator<Item = &Resource> {
        self.served.values()
    }

    /// The namespaced types of an API group that Kubernetes itself does not define.
    pub fn of_group(&self, group: &str) -> impl Iterator<Item = &Resource> {
        let all = self.served.values();
        all.filter(move |resource| *resource.group == *group && resource.namespaced)
    }
}

/// The kind that a document defines, if it is a `CustomResourceDefinition` with the subresource `status` in a version.
fn defined_with_status(document: Value<'_>) -> Option<GroupKind> {
    if document.str_at(&["kind"])? != "CustomResourceDefinition" {
        return None;
    }
    let versions = document.items_at(&["spec", "versions"]);
    let mut places = versions.chain(document.get("spec"));
    places.find(|place| place.at(&["subresources", "status"]).is_some())?;
    Some(GroupKind {
        group: document.text_at(&["spec", "group"])?,
        kind: document.text_at(&["spec", "names", "kind"])?,
    })
}

/// Every type that can be listed: group and version, `ns` if it is namespaced, kind, plural, short names,
/// category. The singular is the kind in lower case. The order is that in which an API server ranks the groups
/// (<https://kubernetes.io/docs/reference/kubernetes-api/>).
const TABLE: &str = "\
v1                              ns ConfigMap                        configmaps                        cm
v1                              ns Endpoints                        endpoints                         ep
v1                              ns Event                            events                            ev
v1                              ns LimitRange                       limitranges                       limits
v1                              ns PersistentVolumeClaim            persistentvolumeclaims            pvc
v1                              ns Pod                              pods                              po       all
v1                              ns PodTemplate                      podtemplates                      -
v1                              ns ReplicationController            replicationcontrollers            rc       all
v1                              ns ResourceQuota                    resourcequotas                    quota
v1                              ns Secret                           secrets                           -
v1                              ns Service                          services                          svc      all
v1                              ns ServiceAccount                   serviceaccounts                   sa
v1                              -  ComponentStatus                  componentstatuses                 cs
v1                              -  Namespace                        namespaces                        ns
v1                              -  Node                             nodes                             no
v1                              -  PersistentVolume                 persistentvolumes                 pv
apiregistration.k8s.io/v1       -  APIService                       apiservices                       -        api-extensions
apps/v1                         ns ControllerRevision               controllerrevisions               -
apps/v1                         ns DaemonSet                        daemonsets                        ds       all
apps/v1                         ns Deployment                       deployments                       deploy   all
apps/v1                         ns ReplicaSet                       replicasets                       rs       all
apps/v1                         ns StatefulSet                      statefulsets                      sts      all
events.k8s.io/v1                ns Event                            events                            ev
autoscaling/v2                  ns HorizontalPodAutoscaler          horizontalpodautoscalers          hpa      all
batch/v1                        ns CronJob                          cronjobs                          cj       all
batch/v1                        ns Job                              jobs                              -        all
certificates.k8s.io/v1          -  CertificateSigningRequest        certificatesigningrequests        csr
networking.k8s.io/v1            ns Ingress                          ingresses                         ing
networking.k8s.io/v1            ns NetworkPolicy                    networkpolicies                   netpol
networking.k8s.io/v1            -  IngressClass                     ingressclasses                    -
networking.k8s.io/v1            -  IPAddress                        ipaddresses                       ip
networking.k8s.io/v1            -  ServiceCIDR                      servicecidrs                      -
policy/v1                       ns PodDisruptionBudget              poddisruptionbudgets              pdb
rbac.authorization.k8s.io/v1    ns RoleBinding                      rolebindings                      -
rbac.authorization.k8s.io/v1    ns Role                             roles                             -
rbac.authorization.k8s.io/v1    -  ClusterRoleBinding               clusterrolebindings               -
rbac.authorization.k8s.io/v1    -  ClusterRole                      clusterroles                      -
storage.k8s.io/v1               ns CSIStorageCapacity               csistoragecapacities              -
storage.k8s.io/v1               -  CSIDriver                        csidrivers                        -
storage.k8s.io/v1               -  CSINode                          csinodes                          -
storage.k8s.io/v1               -  StorageClass                     storageclasses                    sc
storage.k8s.io/v1               -  VolumeAttachment                 volumeattachments                 -
storage.k8s.io/v1               -  VolumeAttributesClass            volumeattributesclasses           vac
admissionregistration.k8s.io/v1 -  MutatingAdmissionPolicy          mutatingadmissionpolicies         -        api-extensions
admissionregistration.k8s.io/v1 -  MutatingAdmissionPolicyBinding   mutatingadmissionpolicybindings   -        api-extensions
admissionregistration.k8s.io/v1 -  MutatingWebhookConfiguration     mutatingwebhookconfigurations     -        api-extensions
admissionregistration.k8s.io/v1 -  ValidatingAdmissionPolicy        validatingadmissionpolicies       -        api-extensions
admissionregistration.k8s.io/v1 -  ValidatingAdmissionPolicyBinding validatingadmissionpolicybindings -        api-extensions
admissionregistration.k8s.io/v1 -  ValidatingWebhookConfiguration   validatingwebhookconfigurations   -        api-extensions
apiextensions.k8s.io/v1         -  CustomResourceDefinition         customresourcedefinitions         crd,crds api-extensions
scheduling.k8s.io/v1            -  PriorityClass                    priorityclasses                   pc
coordination.k8s.io/v1          ns Lease                            leases                            -
node.k8s.io/v1                  -  RuntimeClass                     runtimeclasses                    -
discovery.k8s.io/v1             ns EndpointSlice                    endpointslices                    -
resource.k8s.io/v1              ns ResourceClaim                    resourceclaims                    -
resource.k8s.io/v1              ns ResourceClaimTemplate            resourceclaimtemplates            -
resource.k8s.io/v1              -  DeviceClass                      deviceclasses                     -
resource.k8s.io/v1              -  ResourceSlice                    resourceslices                    -
flowcontrol.apiserver.k8s.io/v1 -  FlowSchema                       flowschemas                       -
flowcontrol.apiserver.k8s.io/v1 -  PriorityLevelConfiguration       prioritylevelconfigurations       -
";

/// The types that every cluster serves in these versions, so no request is needed for them. An old cluster may
/// lack some: it answers 404, and discovery shows what it has.
pub fn well_known() -> &'static [ResourceType] {
    static TYPES: LazyLock<Vec<ResourceType>> = LazyLock::new(types);
    &TYPES
}

pub(crate) fn well_known_type(group: &str, kind: &str) -> Option<&'static ResourceType> {
    well_known().iter().find(|found| {
        let resource = &found.resource;
        &*resource.group == group && &*resource.kind == kind
    })
}

fn types() -> Vec<ResourceType> {
    TABLE.lines().filter_map(resource_type).collect()
}

fn resource_type(line: &str) -> Option<ResourceType> {
    let mut columns = line.split_whitespace();
    let api_version = columns.next()?;
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
    let namespaced = columns.next()? == "ns";
    let (kind, plural, short) = (columns.next()?, columns.next()?, columns.next()?);
    let verbs: &[&str] = match kind {
        "ComponentStatus" => &["get", "list"],
        _ => &["get", "list", "watch"],
    };
    Some(ResourceType {
        resource: Resource {
            group: group.into(),
            version: version.into(),
            plural: plural.into(),
            kind: kind.into(),
            namespaced,
        },
        singular: kind.to_lowercase(),
        short_names: short
            .split(',')
            .filter(|name| *name != "-")
            .map(str::to_owned)
            .collect(),
        categories: columns.map(str::to_owned).collect(),
        verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
        // The rules for Kubernetes' own kinds know what their controllers write.
        has_status: false,
    })
}

/// All of them. Other groups under `.k8s.io` belong to extensions, which choose their kinds freely.
const GROUPS: &[&str] = &[
    "",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "extensions",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
];

/// Whether this is a group that kube-apiserver itself serves, or served in the past.
pub fn is_kubernetes_own(group: &str) -> bool {
    GROUPS.contains(&group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kubernetes_own_kinds_are_always_known_and_others_if_they_are_served() {
        let kind = |group: &str, kind: &str| GroupKind::new(group, kind);
        let issuer = |version: &str| Resource {
            group: "cert-manager.io".into(),
            version: version.into(),
            plural: "issuers".into(),
            kind: "Issuer".into(),
            namespaced: true,
        };
        let found = |resource: Resource| ResourceType {
            singular: String::new(),
            short_names: Vec::new(),
            categories: Vec::new(),
            verbs: Vec::new(),
            has_status: true,
            resource,
        };
        let own_kinds = ["", "apps", "resource.k8s.io"].map(|group| {
            found(Resource {
                group: group.into(),
                ..issuer("v1")
            })
        });
        let served = ServedTypes::discovered(own_kinds.into_iter().chain([found(issuer("v1"))]));
        let object = |api_version: &str| ObjectRef {
            api_version: api_version.into(),
            kind: "Issuer".into(),
            namespace: None,
            name: "a".into(),
            uid: None,
        };
        for (api_version, expect) in [
            ("cert-manager.io/v1", true),
            ("v1", false),
            ("apps/v1", false),
            ("resource.k8s.io/v1", false),
        ] {
            assert_eq!(
                served.has_status(&object(api_version)),
                expect,
                "{api_version}"
            );
        }
        let types = ServedTypes::of([issuer("v1"), issuer("v1beta1")]);
        let plural = |types: &ServedTypes, kind: &GroupKind| {
            types.resource(kind).map(Resource::group_resource)
        };
        let none = ServedTypes::default();
        let pod = kind("", "Pod");
        assert_eq!(plural(&none, &pod).as_deref(), Some("pods"));
        let own = kind("cert-manager.io", "Issuer");
        assert_eq!(plural(&none, &own), None);
        assert_eq!(types.resource(&own), Some(&issuer("v1")));
    }

    #[test]
    fn the_documents_of_a_file_show_which_kinds_have_a_status() {
        let definition = |kind: &str, subresources: &str| {
            format!(
                r#"{{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","spec":{{"group":"example.com","names":{{"kind":"{kind}"}},"versions":[{{"name":"v1","subresources":{subresources}}}]}}}}"#
            )
        };
        let texts = [
            definition("Defined", r#"{"status":{}}"#),
            definition("Plain", "{}"),
            r#"{"apiVersion":"example.com/v1","kind":"Reported","status":{"conditions":[{"type":"Ready"}]}}"#.to_owned(),
            r#"{"apiVersion":"example.com/v1","kind":"Empty","status":{}}"#.to_owned(),
            r#"{"apiVersion":"v1","kind":"Node","status":{"conditions":[{"type":"Ready"}]}}"#.to_owned(),
        ];
        let docs = texts.map(|text| crate::object::Doc::parse(text).expect("a document"));
        let types = ServedTypes::in_documents(docs.iter().map(crate::object::Doc::root));
        let has = |api_version: &str, kind: &str| {
            types.has_status(&ObjectRef {
                api_version: api_version.into(),
                kind: kind.into(),
                namespace: None,
                name: "a".into(),
                uid: None,
            })
        };
        let found =
            ["Defined", "Plain", "Reported", "Empty"].map(|kind| has("example.com/v1", kind));
        assert_eq!(found, [true, false, true, false]);
        assert!(!has("v1", "Node"));
    }

    #[test]
    fn each_line_of_the_table_is_a_type() {
        assert_eq!(types().len(), TABLE.lines().count());
        for found in types() {
            assert!(found.resource.plural.ends_with('s'), "{found:?}");
        }
    }
}
