//! The resource types of Kubernetes itself, in their stable versions.

use std::sync::LazyLock;

use super::{Resource, ResourceType};

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

/// The well-known type of a group and kind.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_the_table_is_a_type() {
        assert_eq!(types().len(), TABLE.lines().count());
        for found in types() {
            assert!(found.resource.plural.ends_with('s'), "{found:?}");
        }
    }
}
