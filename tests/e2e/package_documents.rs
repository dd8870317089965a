//! The documents of packages on a real control plane: kubectl applies them to a `ResourceGroup` with the schema of kpt.

use super::controlplane::ControlPlane;
use super::support::Spy;

const CRD: &str = include_str!("packages/resourcegroup-crd.yaml");

const OBJECTS: &str = "
apiVersion: v1
kind: ConfigMap
metadata: {name: flags, namespace: default}
---
apiVersion: kpt.dev/v1alpha1
kind: ResourceGroup
metadata: {name: group, namespace: default}
spec:
  resources:
  - {group: '', kind: ConfigMap, namespace: default, name: flags}
  - {group: '', kind: ConfigMap, namespace: default, name: gone}
";

#[test]
fn kubectl_applies_the_document_of_a_package() {
    let plane = ControlPlane::start("package-documents");
    plane.apply(CRD);
    let established = [
        "wait",
        "--for=condition=Established",
        "crd/resourcegroups.kpt.dev",
    ];
    plane.kubectl(&established);
    plane.apply(OBJECTS);
    let spy = Spy::with_kubeconfig(plane.admin());
    let report = || {
        let args = [
            "status",
            "resourcegroup/group",
            "--once",
            "-o",
            "resourcegroup",
            "--members",
        ];
        let ran = spy.run(&args);
        assert_eq!(ran.stderr, "");
        let apply = ["apply", "--server-side", "--subresource=status", "-f", "-"];
        plane.kubectl_with(&ran.stdout, &apply);
        let condition = "jsonpath={.status.conditions[?(@.type==\"Stalled\")].status} {.status.resourceStatuses[*].status}";
        plane.kubectl(&["get", "resourcegroup/group", "-o", condition])
    };
    assert_eq!(report(), "True Current NotFound");
    plane.kubectl(&["create", "configmap", "gone"]);
    assert_eq!(report(), "False Current Current");
    let args = ["status", "resourcegroup/group", "--once", "-o", "configmap"];
    let ran = spy.run(&args);
    plane.kubectl_with(&ran.stdout, &["apply", "--server-side", "-f", "-"]);
    let status = [
        "get",
        "configmap/group-status",
        "-o",
        "jsonpath={.data.status}",
    ];
    assert_eq!(plane.kubectl(&status), "Current");
}
