//! Tests of the trace of any object, on a plain application.

use insta::assert_snapshot;

use crate::commands::trace::testing::Feed;

/// An application of a Deployment with one Pod, and everything around it.
const APPLICATION: &str = r#"
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, generation: 1}, spec: {replicas: 1, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {serviceAccountName: robot, containers: [{name: app, image: web, envFrom: [{configMapRef: {name: settings}}, {secretRef: {name: db}}]}], volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]}}}, status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, conditions: [{type: Available, status: "True"}]}}
---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web-1, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: uid-web, controller: true}]}, spec: {replicas: 1, selector: {matchLabels: {app: web}}}, status: {replicas: 1, readyReplicas: 1, availableReplicas: 1, fullyLabeledReplicas: 1}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web-1-a, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-1, uid: uid-web-1, controller: true}]}, spec: {nodeName: n1, serviceAccountName: robot, containers: [{name: app, image: web, envFrom: [{configMapRef: {name: settings}}, {secretRef: {name: db}}]}], volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]}, status: {phase: Running, podIPs: [{ip: 10.0.0.1}], conditions: [{type: Ready, status: "True"}], containerStatuses: [{name: app, ready: true, state: {running: {}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: stranger, labels: {app: other}}, spec: {nodeName: n2, containers: []}, status: {phase: Running}}
---
{apiVersion: v1, kind: Service, metadata: {name: web, uid: service}, spec: {clusterIP: 10.96.0.1, selector: {app: web}, ports: [{port: 80}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: other}, spec: {clusterIP: 10.96.0.2, selector: {app: other}, ports: [{port: 80}]}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: web-x, labels: {kubernetes.io/service-name: web}}, addressType: IPv4, ports: [{port: 80}], endpoints: [{addresses: [10.0.0.1], conditions: {ready: true}, targetRef: {kind: Pod, name: web-1-a, uid: uid-web-1-a}}]}
---
{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: front}, spec: {tls: [{secretName: cert}], defaultBackend: {service: {name: web, port: {number: 80}}}}, status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}}
---
{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: all}, spec: {podSelector: {}}}
---
{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web, uid: scaler}, spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}, status: {currentReplicas: 1, desiredReplicas: 1}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web, uid: budget, generation: 1}, spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}, status: {observedGeneration: 1, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}
---
{apiVersion: v1, kind: Secret, metadata: {name: db}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot}, imagePullSecrets: [{name: registry}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: robot, uid: binding}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}, subjects: [{kind: ServiceAccount, name: robot}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: reader}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {storageClassName: fast, volumeName: pv-1}, status: {phase: Bound}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv-1}, spec: {storageClassName: fast, claimRef: {namespace: shop, name: data}}, status: {phase: Bound}}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, provisioner: disks.example.com}
---
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {conditions: [{type: Ready, status: "True"}]}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop}, status: {phase: Active}}"#;

fn trace(kind: &str, name: &str) -> Feed {
    let mut feed = Feed::of(kind, name);
    feed.put(APPLICATION);
    feed
}

fn frame(kind: &str, name: &str) -> String {
    trace(kind, name).frame(100)
}

#[test]
fn a_config_map() {
    assert_snapshot!(frame("ConfigMap", "settings"), @"
    configmap/settings  -n shop                                                                     0:00
    ● Resource is always ready
    CONNECTED                  RELATION      READY   STATE
    └─ used by
      └─● deployment/web       environment   1/1     Current
        └─● replicaset/web-1   owner         1/1     Current
          └─● pod/web-1-a      environment   1/1     Running
    looked through 2 pods and 1 deployment
    ");
}

#[test]
fn a_secret() {
    assert_snapshot!(frame("Secret", "db"), @"
    secret/db  -n shop                                                                              0:00
    ● Resource is always ready
    CONNECTED                  RELATION      READY   STATE
    └─ used by
      └─● deployment/web       environment   1/1     Current
        └─● replicaset/web-1   owner         1/1     Current
          └─● pod/web-1-a      environment   1/1     Running
    looked through 2 pods, 1 ingress, 1 deployment and 1 more
    ");
}

#[test]
fn a_claim() {
    assert_snapshot!(frame("PersistentVolumeClaim", "data"), @"
    persistentvolumeclaim/data  -n shop                                                             0:00
    ● PVC is Bound
    CONNECTED                               RELATION        READY   STATE
    ├─ used by
    │ └─● deployment/web                    volume          1/1     Current
    │   └─● replicaset/web-1                owner           1/1     Current
    │     └─● pod/web-1-a                   volume          1/1     Running
    └─ uses
      ├─● persistentvolume/pv-1             volume, claim           Bound
      │ └─● storageclass/fast               storage class           Current
      │   └─? csidriver/disks.example.com   provisioner             absent, optional
      └─● storageclass/fast (see above)     storage class           Current
    looked through 2 pods, 1 deployment and 1 persistentvolumeclaim
    ");
}

#[test]
fn a_service_account() {
    assert_snapshot!(frame("ServiceAccount", "robot"), @"
    serviceaccount/robot  -n shop                                                                   0:00
    ~ pull secret secret/registry does not exist
    CONNECTED                  RELATION          READY   STATE
    ├─ in front
    │ └─● rolebinding/robot    subject                   Current
    │   └─● role/reader        role                      Current
    ├─ used by
    │ └─● deployment/web       service account   1/1     Current
    │   └─● replicaset/web-1   owner             1/1     Current
    │     └─● pod/web-1-a      service account   1/1     Running
    └─ uses
      └─∅ secret/registry      pull secret               does not exist
    looked through 1 rolebinding, 1 deployment and 1 pod
    ");
}

#[test]
fn a_pod() {
    assert_snapshot!(frame("Pod", "web-1-a"), @"
    pod/web-1-a  -n shop  1/1 ready                                                                 0:00
    ● Pod is Ready
    └ networkpolicy/all allows no ingress
    CONNECTED                                 RELATION          READY   STATE
    ├─ in front
    │ ├─● replicaset/web-1                    owner             1/1     Current
    │ │ └─● deployment/web                    owner             1/1     Current
    │ │   └─● horizontalpodautoscaler/web     scale target              Current
    │ ├─● service/web                         selects                   Current
    │ │ └─~ ingress/front                     backend                   InProgress
    │ │     └ certificate secret/cert does not exist
    │ ├─● networkpolicy/all                   restricts                 Current
    │ │   └ allows no ingress
    │ └─● poddisruptionbudget/web             budget                    Current
    │     └ no eviction is allowed: 1 of 1 pods are healthy, 1 must be
    └─ uses
      ├─● configmap/settings                  environment               Current
      ├─● node/n1                             node                      Ready
      ├─● persistentvolumeclaim/data          volume                    Bound
      │ ├─● persistentvolume/pv-1             volume, claim             Bound
      │ │ └─● storageclass/fast               storage class             Current
      │ │   └─? csidriver/disks.example.com   provisioner               absent, optional
      │ └─● storageclass/fast (see above)     storage class             Current
      ├─● secret/db                           environment               Current
      └─~ serviceaccount/robot                service account           InProgress
        │ └ pull secret secret/registry does not exist
        └─∅ secret/registry                   pull secret               does not exist
    looked through 2 services, 1 poddisruptionbudget, 1 ingress and 1 more
    ");
}

#[test]
fn an_ingress() {
    assert_snapshot!(frame("Ingress", "front"), @"
    ingress/front  -n shop                                                                          0:00
    ~ certificate secret/cert does not exist
    CONNECTED                                 RELATION          READY   STATE
    ├─ behind
    │ └─● service/web                         backend                   Current
    │   ├─● pod/web-1-a                       selects           1/1     Running
    │   └─● endpointslice/web-x               slice                     Current
    └─ uses
      ├─∅ secret/cert                         certificate               does not exist
      ├─● configmap/settings                  environment               Current
      ├─● persistentvolumeclaim/data          volume                    Bound
      │ ├─● persistentvolume/pv-1             volume, claim             Bound
      │ │ └─● storageclass/fast               storage class             Current
      │ │   └─? csidriver/disks.example.com   provisioner               absent, optional
      │ └─● storageclass/fast (see above)     storage class             Current
      ├─● secret/db                           environment               Current
      └─~ serviceaccount/robot                service account           InProgress
        │ └ pull secret secret/registry does not exist
        └─∅ secret/registry                   pull secret               does not exist
    ");
}

#[test]
fn an_autoscaler() {
    assert_snapshot!(frame("HorizontalPodAutoscaler", "web"), @"
    horizontalpodautoscaler/web  -n shop                                                            0:00
    ● Resource is current
    CONNECTED                                 RELATION          READY   STATE
    ├─ behind
    │ └─● deployment/web                      scale target      1/1     Current
    │   └─● replicaset/web-1                  owned             1/1     Current
    │     └─● pod/web-1-a                     owned             1/1     Running
    └─ uses
      ├─● configmap/settings                  environment               Current
      ├─● persistentvolumeclaim/data          volume                    Bound
      │ ├─● persistentvolume/pv-1             volume, claim             Bound
      │ │ └─● storageclass/fast               storage class             Current
      │ │   └─? csidriver/disks.example.com   provisioner               absent, optional
      │ └─● storageclass/fast (see above)     storage class             Current
      ├─● secret/db                           environment               Current
      └─~ serviceaccount/robot                service account           InProgress
        │ └ pull secret secret/registry does not exist
        └─∅ secret/registry                   pull secret               does not exist
    ");
}

#[test]
fn a_node() {
    assert_snapshot!(frame("Node", "n1"), @"
    node/n1                                                                                         0:00
    ● Resource is Ready
    CONNECTED                          RELATION   READY   STATE
    └─ used by
      └─● deployment/web -n shop       owner      1/1     Current
        └─● replicaset/web-1 -n shop   owner      1/1     Current
          └─● pod/web-1-a -n shop      node       1/1     Running
    looked through 1 poddisruptionbudget, 1 pod and 1 persistentvolumeclaim
    ");
}

#[test]
fn a_namespace() {
    assert_snapshot!(frame("Namespace", "shop"), @"
    namespace/shop                                                                                  0:00
    ● Resource is current
    CONNECTED                           RELATION    READY   STATE
    └─ behind
      ├─● deployment/web                namespace   1/1     Current
      ├─✗ service/other                 namespace           Failed
      │   └ 1 pod matches, and it is not ready
      ├─● service/web                   namespace           Current
      ├─● horizontalpodautoscaler/web   namespace           Current
      ├─~ ingress/front                 namespace           InProgress
      │   └ certificate secret/cert does not exist
      ├─● persistentvolumeclaim/data    namespace           Bound
      └─● poddisruptionbudget/web       namespace           Current
          └ no eviction is allowed: 1 of 1 pods are healthy, 1 must be
    looked through 2 services, 1 poddisruptionbudget, 1 ingress and 3 more
    ");
}

/// Equal words of unrelated workloads: each keeps its own.
#[test]
fn each_workload_of_a_namespace_has_its_cause() {
    let mut feed = trace("Namespace", "shop");
    for name in ["x1", "x2"] {
        feed.put(&format!(
            "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {name}, generation: 1}}, spec: {{replicas: 1, selector: {{matchLabels: {{app: {name}}}}}}}, \
            status: {{observedGeneration: 1, replicas: 1, updatedReplicas: 1, unavailableReplicas: 1, conditions: [{{type: ReplicaFailure, status: \"True\", reason: FailedCreate, message: quota}}]}}}}"
        ));
    }
    let frame = feed.frame(100);
    assert_eq!(frame.matches("└ quota").count(), 2, "{frame}");
    assert!(!frame.contains('×'), "{frame}");
}

#[test]
fn a_storage_class() {
    assert_snapshot!(frame("StorageClass", "fast"), @"
    storageclass/fast                                                                               0:00
    ● Resource is current
    CONNECTED                                              RELATION        STATE
    ├─ used by
    │ ├─● persistentvolume/pv-1                            storage class   Bound
    │ │ └─● persistentvolumeclaim/data -n shop             claim, volume   Bound
    │ └─● persistentvolumeclaim/data -n shop (see above)   storage class   Bound
    └─ uses
      └─? csidriver/disks.example.com                      provisioner     absent, optional
    looked through 1 persistentvolume and 1 persistentvolumeclaim
    ");
}

#[test]
fn a_service_has_the_sections_below_its_story() {
    assert_snapshot!(frame("Service", "web"), @"
    service/web  -n shop  ClusterIP 10.96.0.1  80->80/TCP                                           0:00
    ● 1/1 ready  selector app=web                                                 1 pod matches, 1 ready
    ENDPOINT            TARGET        READY   STATE   SERVING   OWNER
    ├─ endpointslice/web-x  IPv4  1 ready, 0 not ready, 0 terminating
    │ └─● 10.0.0.1:80   pod/web-1-a   1/1     Ready   yes       deployment/web
    │     └ networkpolicy/all allows no ingress
    └─ owners: deployment/web > replicaset/web-1   1/1 pods, 1 available
    CONNECTED                                 RELATION          STATE
    ├─ in front
    │ └─~ ingress/front                       backend           InProgress
    │     └ certificate secret/cert does not exist
    └─ uses
      ├─● configmap/settings                  environment       Current
      ├─● persistentvolumeclaim/data          volume            Bound
      │ ├─● persistentvolume/pv-1             volume, claim     Bound
      │ │ └─● storageclass/fast               storage class     Current
      │ │   └─? csidriver/disks.example.com   provisioner       absent, optional
      │ └─● storageclass/fast (see above)     storage class     Current
      ├─● secret/db                           environment       Current
      └─~ serviceaccount/robot                service account   InProgress
        │ └ pull secret secret/registry does not exist
        └─∅ secret/registry                   pull secret       does not exist
    looked through 1 ingress
    ");
}

#[test]
fn a_deployment_has_the_same_sections_below_its_story() {
    assert_snapshot!(frame("Deployment", "web"), @"
    deployment/web  -n shop  1 replica  RollingUpdate                                               0:00
    ● rolling out: 1/1 updated, 1 available
    ✓         spec change   gen 1: created
    · ...     replicaset    to be created by the controller
    · ...     scheduled     0/1 pods
    · ...     images        0/1 pulled
    · ...     available     0/1 new, 1 old kept
    · ...     old pods      0/1 terminated
    · ...     complete
    ● Available=True
    REVISION               READY   IMAGE / STATUS   NODE
    └─● replicaset/web-1   1/1
      └─● pod/web-1-a      1/1     Running          n1
    CONNECTED                                 RELATION          STATE
    ├─ in front
    │ ├─● service/web                         selects           Current
    │ │ └─~ ingress/front                     backend           InProgress
    │ │     └ certificate secret/cert does not exist
    │ ├─● horizontalpodautoscaler/web         scale target      Current
    │ ├─● networkpolicy/all                   restricts         Current
    │ │   └ allows no ingress
    │ └─● poddisruptionbudget/web             budget            Current
    │     └ no eviction is allowed: 1 of 1 pods are healthy, 1 must be
    └─ uses
      ├─● configmap/settings                  environment       Current
      ├─● persistentvolumeclaim/data          volume            Bound
      │ ├─● persistentvolume/pv-1             volume, claim     Bound
      │ │ └─● storageclass/fast               storage class     Current
      │ │   └─? csidriver/disks.example.com   provisioner       absent, optional
      │ └─● storageclass/fast (see above)     storage class     Current
      ├─● secret/db                           environment       Current
      └─~ serviceaccount/robot                service account   InProgress
        │ └ pull secret secret/registry does not exist
        └─∅ secret/registry                   pull secret       does not exist
    looked through 2 services, 1 poddisruptionbudget, 1 networkpolicy and 2 more
    ");
}

#[test]
fn two_attachments_of_a_volume_for_one_node_are_noted() {
    let attachment = |node: &str| {
        format!(
            "{{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {{name: to-{node}}}, spec: {{attacher: disks, nodeName: {node}, source: {{persistentVolumeName: pv-1}}}}, status: {{attached: true}}}}"
        )
    };
    let mut feed = trace("PersistentVolume", "pv-1");
    feed.put("{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv-1}, spec: {accessModes: [ReadWriteOnce], claimRef: {namespace: shop, name: data, uid: old}}, status: {phase: Bound}}");
    feed.put(&attachment("n1"));
    assert_snapshot!(feed.frame(100), @"
    persistentvolume/pv-1                                                                           0:00
    ● Resource is current
    └ its claim shop/data was replaced by a new one of the same name
    CONNECTED                                  RELATION        STATE
    └─ used by
      ├─● persistentvolumeclaim/data -n shop   claim, volume   Bound
      └─● volumeattachment/to-n1               attaches        Current
    looked through 1 volumeattachment and 1 persistentvolumeclaim
    ");
    feed.put(&attachment("n2"));
    assert_snapshot!(feed.frame(100), @"
    persistentvolume/pv-1                                                                           0:00
    ● Resource is current
    └ attached to the nodes n1 and n2, but only one may use it (ReadWriteOnce)
    └ its claim shop/data was replaced by a new one of the same name
    CONNECTED                                  RELATION        STATE
    └─ used by
      ├─● persistentvolumeclaim/data -n shop   claim, volume   Bound
      ├─● volumeattachment/to-n1               attaches        Current
      └─● volumeattachment/to-n2               attaches        Current
    looked through 2 volumeattachments and 1 persistentvolumeclaim
    ");
}

#[test]
fn a_pod_under_two_budgets_cannot_be_evicted() {
    let mut feed = trace("Pod", "web-1-a");
    feed.put("{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: every}, spec: {selector: {}}, status: {expectedPods: 1, disruptionsAllowed: 1}}");
    assert_snapshot!(feed.frame(100), @"
    pod/web-1-a  -n shop  1/1 ready                                                                 0:00
    ● Pod is Ready
    └ networkpolicy/all allows no ingress
    CONNECTED                                 RELATION          READY   STATE
    ├─ in front
    │ ├─● replicaset/web-1                    owner             1/1     Current
    │ │ └─● deployment/web                    owner             1/1     Current
    │ │   └─● horizontalpodautoscaler/web     scale target              Current
    │ ├─● service/web                         selects                   Current
    │ │ └─~ ingress/front                     backend                   InProgress
    │ │     └ certificate secret/cert does not exist
    │ ├─● networkpolicy/all                   restricts                 Current
    │ │   └ allows no ingress
    │ ├─● poddisruptionbudget/every           budget                    Current
    │ │   └ pod/web-1-a is also under poddisruptionbudget/web: evictions will fail
    │ └─● poddisruptionbudget/web             budget                    Current
    │     └ pod/web-1-a is also under poddisruptionbudget/every: evictions will fail
    │     └ no eviction is allowed: 1 of 1 pods are healthy, 1 must be
    └─ uses
      ├─● configmap/settings                  environment               Current
      ├─● node/n1                             node                      Ready
      ├─● persistentvolumeclaim/data          volume                    Bound
      │ ├─● persistentvolume/pv-1             volume, claim             Bound
      │ │ └─● storageclass/fast               storage class             Current
      │ │   └─? csidriver/disks.example.com   provisioner               absent, optional
      │ └─● storageclass/fast (see above)     storage class             Current
      ├─● secret/db                           environment               Current
      └─~ serviceaccount/robot                service account           InProgress
        │ └ pull secret secret/registry does not exist
        └─∅ secret/registry                   pull secret               does not exist
    looked through 2 poddisruptionbudgets, 2 services, 1 ingress and 1 more
    ");
    feed.delete("PodDisruptionBudget", "every");
    assert!(!feed.frame(100).contains("evictions will fail"));
}

/// Of a node with 30 Pods that are well and one that is not, the first are counted.
#[test]
fn the_users_of_a_node_that_are_well_are_counted() {
    let mut feed = trace("Node", "n1");
    let status = |ready: &str| {
        format!("{{phase: Running, conditions: [{{type: Ready, status: \"{ready}\"}}]}}")
    };
    let mut put = |name: &str, status: &str| {
        feed.put(&format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, ownerReferences: [{{apiVersion: apps/v1, kind: ReplicaSet, name: set, uid: uid-set, controller: true}}]}}, spec: {{nodeName: n1, containers: [{{name: app}}]}}, status: {status}}}"
        ));
    };
    for number in 0..30 {
        put(&format!("well-{number}"), &status("True"));
    }
    let broken = "{phase: Pending, containerStatuses: [{name: app, state: {waiting: {reason: ImagePullBackOff}}}]}";
    put("broken", broken);
    assert_snapshot!(feed.frame(100), @r#"
    node/n1                                                                                         0:00
    ● Resource is Ready
    CONNECTED                  RELATION   READY   STATE
    └─ used by
      ├─✗ pod/broken -n shop   node       0/1     ImagePullBackOff
      │   └ app: ImagePullBackOff ""
      └─ + 33 that are well: 1 deployment, 31 pods, 1 replicaset (-o json shows them)
    looked through 32 pods, 1 poddisruptionbudget and 1 persistentvolumeclaim
    "#);
}

#[test]
fn a_full_node_says_so() {
    let mut feed = trace("Node", "n1");
    feed.put("{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: '4', memory: 8Gi, pods: '1'}, conditions: [{type: Ready, status: 'True'}]}}");
    assert_snapshot!(feed.frame(100), @"
    node/n1                                                                                         0:00
    ● Resource is Ready
    └ reached max Pods: 1 of 1
    CONNECTED                          RELATION   READY   STATE
    └─ used by
      └─● deployment/web -n shop       owner      1/1     Current
        └─● replicaset/web-1 -n shop   owner      1/1     Current
          └─● pod/web-1-a -n shop      node       1/1     Running
    looked through 1 poddisruptionbudget, 1 pod and 1 persistentvolumeclaim
    ");
}

#[test]
fn a_cordoned_node_says_what_holds_up_its_drain() {
    let mut feed = trace("Node", "n1");
    let node = |spec: &str| {
        format!(
            "{{apiVersion: v1, kind: Node, metadata: {{name: n1}}, spec: {{{spec}}}, status: {{conditions: [{{type: Ready, status: 'True'}}]}}}}"
        )
    };
    feed.put(&node("unschedulable: true"));
    assert_snapshot!(feed.frame(100), @"
    node/n1                                                                                         0:00
    ● Resource is Ready
    └ a drain would wait: poddisruptionbudget/web -n shop allows no eviction of pod/web-1-a
    └ cordoned: no pod is scheduled here
    CONNECTED                          RELATION   READY   STATE
    └─ used by
      └─● deployment/web -n shop       owner      1/1     Current
        └─● replicaset/web-1 -n shop   owner      1/1     Current
          └─● pod/web-1-a -n shop      node       1/1     Running
    looked through 1 poddisruptionbudget, 1 pod and 1 persistentvolumeclaim
    ");
    feed.put(&node(""));
    assert!(!feed.frame(100).contains("drain"));
}

#[test]
fn a_workload_that_no_service_selects_any_more_says_so() {
    let mut feed = trace("Deployment", "web");
    assert!(!feed.frame(100).contains("Not matched"));
    feed.delete("Service", "web");
    assert_snapshot!(feed.frame(100), @"
    deployment/web  -n shop  1 replica  RollingUpdate                                               0:00
    ● rolling out: 1/1 updated, 1 available
    ✓         spec change   gen 1: created
    · ...     replicaset    to be created by the controller
    · ...     scheduled     0/1 pods
    · ...     images        0/1 pulled
    · ...     available     0/1 new, 1 old kept
    · ...     old pods      0/1 terminated
    · ...     complete
    ● Available=True
    REVISION               READY   IMAGE / STATUS   NODE
    └─● replicaset/web-1   1/1
      └─● pod/web-1-a      1/1     Running          n1
    CONNECTED                                 RELATION          STATE
    ├─ in front
    │ ├─● horizontalpodautoscaler/web         scale target      Current
    │ ├─● networkpolicy/all                   restricts         Current
    │ │   └ allows no ingress
    │ ├─● poddisruptionbudget/web             budget            Current
    │ │   └ no eviction is allowed: 1 of 1 pods are healthy, 1 must be
    │ └─ no Service selects its pods
    └─ uses
      ├─● configmap/settings                  environment       Current
      ├─● persistentvolumeclaim/data          volume            Bound
      │ ├─● persistentvolume/pv-1             volume, claim     Bound
      │ │ └─● storageclass/fast               storage class     Current
      │ │   └─? csidriver/disks.example.com   provisioner       absent, optional
      │ └─● storageclass/fast (see above)     storage class     Current
      ├─● secret/db                           environment       Current
      └─~ serviceaccount/robot                service account   InProgress
        │ └ pull secret secret/registry does not exist
        └─∅ secret/registry                   pull secret       does not exist
    looked through 1 poddisruptionbudget, 1 networkpolicy, 1 horizontalpodautoscaler and 1 more
    ");
    let record = feed.graph();
    let causes = record.nodes.iter().flat_map(|node| &node.causes);
    assert!(causes.into_iter().any(|cause| cause.rule == "NoService"));
}

#[test]
fn only_what_is_connected_is_kept() {
    let feed = trace("ConfigMap", "settings");
    let kept = feed
        .chain
        .traced()
        .model
        .objects()
        .map(|(_, object)| object.object.to_string());
    let mut kept: Vec<String> = kept.collect();
    kept.sort();
    assert_snapshot!(kept.join("\n"), @r"
    configmap/settings
    deployment/web
    pod/web-1-a
    replicaset/web-1
    ");
    assert_snapshot!(feed.sources().join("\n"), @r"
    configmaps metadata.name=settings
    pods all
    deployments all
    statefulsets all
    daemonsets all
    jobs all
    cronjobs all
    replicasets metadata.name=web-1
    deployments metadata.name=web
    ");
}

#[test]
fn changes_of_the_connections_on_a_pipe() {
    let mut feed = trace("ConfigMap", "settings");
    assert_snapshot!(feed.transitions(), @r"
    2026-05-04T12:00:00Z used by: deployment/web (environment) Current: Current
    2026-05-04T12:00:00Z used by: replicaset/web-1 (owner) Current: Current
    2026-05-04T12:00:00Z used by: pod/web-1-a (environment) Current: Running
    2026-05-04T12:00:00Z configmap/settings Current: Resource is always ready
    ");
    feed.delete("Pod", "web-1-a");
    assert_snapshot!(feed.transitions(), @r"
    2026-05-04T12:00:00Z used by: pod/web-1-a gone
    2026-05-04T12:00:00Z used by: replicaset/web-1 gone
    ");
}

/// A Service that starts to select the Pod brings its Ingress with it, although the Ingresses were looked through
/// before.
#[test]
fn a_new_link_leads_to_objects_that_were_passed_over() {
    let mut feed = trace("Pod", "stranger");
    assert_snapshot!(feed.frame(100), @"
    pod/stranger  -n shop  0/0 ready                                                                0:00
    ~ Pod is running but is not Ready
    CONNECTED                 RELATION    STATE
    ├─ in front
    │ ├─✗ service/other       selects     Failed
    │ │   └ 1 pod matches, and it is not ready
    │ ├─● networkpolicy/all   restricts   Current
    │ │   └ allows no ingress
    │ └─ Standalone: no controller replaces it
    └─ uses
      └─● node/n2             node        Ready
    looked through 2 services, 1 poddisruptionbudget and 1 ingress
    ");
    feed.put("{apiVersion: v1, kind: Service, metadata: {name: web, uid: service}, spec: {clusterIP: 10.96.0.1, selector: {app: other}, ports: [{port: 80}]}}");
    assert_snapshot!(feed.frame(100), @"
    pod/stranger  -n shop  0/0 ready                                                                0:00
    ~ Pod is running but is not Ready
    CONNECTED                 RELATION    STATE
    ├─ in front
    │ ├─✗ service/other       selects     Failed
    │ │   └ 1 pod matches, and it is not ready
    │ ├─~ service/web         selects     InProgress
    │ │ │ └ degraded 1/1 ready, 1 without a live pod
    │ │ └─~ ingress/front     backend     InProgress
    │ │     └ certificate secret/cert does not exist
    │ ├─● networkpolicy/all   restricts   Current
    │ │   └ allows no ingress
    │ └─ Standalone: no controller replaces it
    └─ uses
      └─● node/n2             node        Ready
    looked through 2 services, 1 poddisruptionbudget and 1 ingress
    ");
}

#[test]
fn an_inventory_fails_with_a_member_as_in_status() {
    let mut feed = Feed::of("ConfigMap", "members");
    feed.put("{apiVersion: v1, kind: ConfigMap, metadata: {name: members, labels: {cli-utils.sigs.k8s.io/inventory-id: apps}}, data: {shop_web_apps_Deployment: ''}}");
    assert_snapshot!(feed.frame(100), @"
    configmap/members  -n shop                                                                      0:00
    ✗ deployment/web does not exist
    CONNECTED              RELATION   STATE
    └─ behind
      └─∅ deployment/web   applies    does not exist
    ");
}

/// An administrator chose the name of the class for a volume of his own: no object has to exist for it.
#[test]
fn a_bound_claim_needs_no_storage_class() {
    let mut feed = Feed::of("PersistentVolumeClaim", "data");
    feed.put("{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {storageClassName: man, volumeName: pv-1}, status: {phase: Bound}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv-1}, spec: {storageClassName: man, claimRef: {namespace: shop, name: data}}, status: {phase: Bound}}");
    assert_snapshot!(feed.frame(100), @"
    persistentvolumeclaim/data  -n shop                                                             0:00
    ● PVC is Bound
    CONNECTED                            RELATION        STATE
    └─ uses
      ├─● persistentvolume/pv-1          volume, claim   Bound
      │ └─? storageclass/man             storage class   absent, optional
      └─? storageclass/man (see above)   storage class   absent, optional
    looked through 1 persistentvolumeclaim
    ");
}
