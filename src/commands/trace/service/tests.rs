//! Whole frames of Services in all their states.

use proptest::prelude::*;

use crate::commands::trace::testing::Feed;

const SERVICE: &str = "
apiVersion: v1
kind: Service
metadata: {name: api}
spec:
  clusterIP: 10.96.14.7
  clusterIPs: [10.96.14.7]
  selector: {app: api}
  ports: [{name: http, port: 80, targetPort: 8080}]
";

/// A pod on node-1: `state` is Ready, `NotReady` (a failing probe) or Pending.
fn pod(name: &str, address: &str, state: &str) -> String {
    let status = if state == "Pending" {
        "{phase: Pending, conditions: [{type: PodScheduled, status: 'True'}]}".to_owned()
    } else {
        let ready = if state == "Ready" { "True" } else { "False" };
        format!(
                "{{phase: Running, podIPs: [{{ip: {address}}}], conditions: [{{type: Ready, status: '{ready}',
                reason: ContainersNotReady, message: 'containers with unready status: [api]'}}],
                containerStatuses: [{{name: api, ready: {}, restartCount: 0, state: {{running: {{}}}}}}]}}",
                state == "Ready"
            )
    };
    format!(
        "apiVersion: v1
kind: Pod
metadata: {{name: {name}, labels: {{app: api}}, creationTimestamp: '2026-05-02T12:00:00Z'}}
spec: {{nodeName: node-1, containers: [{{name: api, ports: [{{name: web, containerPort: 8080}}]}}]}}
status: {status}"
    )
}

/// A slice of these endpoints, each `POD ADDRESS CONDITIONS`, the conditions in YAML; `-` stands for no
/// pod.
fn slice(name: &str, address_type: &str, endpoints: &[&str]) -> String {
    let mut slice = format!(
        "apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {{name: {name}, labels: {{kubernetes.io/service-name: api}}}}
addressType: {address_type}
ports: [{{name: http, port: 8080, protocol: TCP}}]
endpoints:"
    );
    if endpoints.is_empty() {
        slice.push_str(" []");
    }
    for endpoint in endpoints {
        let mut parts = endpoint.splitn(3, ' ');
        let (pod, address, conditions) = (
            parts.next().unwrap(),
            parts.next().unwrap(),
            parts.next().unwrap_or("ready: true"),
        );
        let address = format!("\n- addresses: ['{address}']");
        slice.push_str(&address);
        let facts = format!("\n  nodeName: node-1\n  conditions: {{{conditions}}}");
        slice.push_str(&facts);
        if pod != "-" {
            let target = format!("\n  targetRef: {{kind: Pod, name: {pod}, uid: uid-{pod}}}");
            slice.push_str(&target);
        }
    }
    slice
}

fn api() -> Feed {
    Feed::of("Service", "api")
}

#[test]
fn an_absent_service_is_waited_for() {
    let mut feed = api();
    feed.settle();
    insta::assert_snapshot!(feed.frame(80), @"
    service/api  -n shop                                                        0:00
    ∅ waiting for service/api to be created
    ");
    feed.put(&slice("api-1", "IPv4", &["api-a 10.0.0.1"]));
    insta::assert_snapshot!(feed.frame(80), @"
    service/api  -n shop                                                        0:00
    ∅ waiting for service/api to be created
    ENDPOINT              TARGET      STATE   SERVING   NODE
    └─ endpointslice/api-1  IPv4  1 ready, 0 not ready, 0 terminating
      └─● 10.0.0.1:8080   pod/api-a   Ready   yes       node-1
    ");
}

#[test]
fn a_service_without_endpoints_shows_why() {
    let mut feed = api();
    feed.put(SERVICE);
    insta::assert_snapshot!(feed.frame(80), @"
    service/api  -n shop  ClusterIP 10.96.14.7  http 80->8080/TCP               0:00
    ✗ no pod matches app=api  selector app=api                 0 pods match, 0 ready
    ");
    feed.put(&slice("api-1", "IPv4", &[]));
    feed.put(&pod("api-a", "", "Pending"));
    insta::assert_snapshot!(feed.frame(80), @"
    service/api  -n shop  ClusterIP 10.96.14.7  http 80->8080/TCP               0:00
    ✗ 1 pod matches, and it is not ready  selector app=api    1 pod matches, 0 ready
    ENDPOINT   TARGET      READY   STATE     SERVING   NODE     AGE
    ├─ endpointslice/api-1  IPv4  0 ready, 0 not ready, 0 terminating
    ├─ no endpoints  1 pod matches but is in no slice
    │ └─~ -    pod/api-a   0/1     Pending   no        node-1   2d
    │     └ no endpoint: the pod has no address yet
    └─ owners: 1 pod has none
    ");
    feed.put(&SERVICE.replace("selector: {app: api}", "selector: {}"));
    insta::assert_snapshot!(feed.frame(80), @"
    service/api  -n shop  ClusterIP 10.96.14.7  http 80->8080/TCP               0:00
    ● no endpoints, and no selector to find any  no selector
    └─ endpointslice/api-1  IPv4  0 ready, 0 not ready, 0 terminating
    ");
}

#[test]
fn a_service_shows_its_addresses_and_ports() {
    let check = |spec: &str| {
        let mut feed = api();
        feed.put(&format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{name: api}}\n{spec}"
        ));
        feed.frame(120).lines().next().unwrap().to_owned()
    };
    let lines = [
        check(
            "spec: {clusterIP: 10.96.0.10, clusterIPs: [10.96.0.10, 'fd00::a'], ports: [{port: 80}]}",
        ),
        check(
            "spec: {clusterIP: None, clusterIPs: [None], ports: [{port: 80, targetPort: 8080, protocol: UDP}]}",
        ),
        check("spec: {ports: [{port: 80}]}"),
        check(
            "spec: {type: NodePort, clusterIP: 10.96.0.10, ports: [{port: 80, nodePort: 30080}]}",
        ),
        check("spec: {type: LoadBalancer, clusterIP: 10.96.0.10}\nstatus: {loadBalancer: {}}"),
        check(
            "spec: {type: LoadBalancer, clusterIP: 10.96.0.10}
status: {loadBalancer: {ingress: [{hostname: b.example}, {ip: 35.1.1.1, hostname: a.example}]}}",
        ),
        check(
            "spec: {type: LoadBalancer, clusterIP: 10.96.0.10}\nstatus: {loadBalancer: {ingress: []}}",
        ),
        check("spec: {type: ExternalName, externalName: db.example.com}"),
        check("spec: {type: ExternalName}"),
        check("spec: {clusterIP: 10.96.0.10, externalIPs: [192.0.2.1]}"),
    ];
    insta::assert_snapshot!(lines.join("\n"), @"
    service/api  -n shop  ClusterIP 10.96.0.10, fd00::a  80->80/TCP                                                     0:00
    service/api  -n shop  headless  80->8080/UDP                                                                        0:00
    service/api  -n shop  ClusterIP without an address yet  80->80/TCP                                                  0:00
    service/api  -n shop  NodePort 10.96.0.10  80->80/TCP (node port 30080)                                             0:00
    service/api  -n shop  LoadBalancer 10.96.0.10  waiting for an external address                                      0:00
    service/api  -n shop  LoadBalancer 10.96.0.10  external 35.1.1.1/a.example, b.example                               0:00
    service/api  -n shop  LoadBalancer 10.96.0.10  waiting for an external address                                      0:00
    service/api  -n shop  ExternalName to db.example.com                                                                0:00
    service/api  -n shop  ExternalName without a name                                                                   0:00
    service/api  -n shop  ClusterIP 10.96.0.10  externalIPs 192.0.2.1                                                   0:00
    ");
}

#[test]
fn an_external_name_needs_no_endpoints() {
    let mut feed = api();
    feed.put("{apiVersion: v1, kind: Service, metadata: {name: api}, spec: {type: ExternalName, externalName: db.example.com}}");
    insta::assert_snapshot!(feed.frame(80), @"
    service/api  -n shop  ExternalName to db.example.com                        0:00
    ● alias for db.example.com
    ");
    feed.put("{apiVersion: v1, kind: Service, metadata: {name: api}, spec: {type: ExternalName, externalName: ''}}");
    insta::assert_snapshot!(feed.frame(80), @"
    service/api  -n shop  ExternalName without a name                           0:00
    ✗ .spec.externalName is empty
    ");
}

#[test]
fn ready_endpoints_come_first() {
    let mut feed = api();
    feed.put(SERVICE)
        .put(&pod("api-a", "10.0.0.1", "Ready"))
        .put(&pod("api-b", "10.0.0.2", "NotReady"))
        .put(&pod("api-c", "10.0.0.3", "Ready"));
    feed.put(&slice(
        "api-1",
        "IPv4",
        &[
            "api-c 10.0.0.3",
            "api-b 10.0.0.2 ready: false",
            "api-a 10.0.0.1",
        ],
    ));
    insta::assert_snapshot!(feed.frame(80), @"
    service/api  -n shop  ClusterIP 10.96.14.7  http 80->8080/TCP               0:00
    ~ degraded 2/3 ready  selector app=api                     3 pods match, 2 ready
    ENDPOINT              TARGET      READY   STATE      SERVING   NODE     AGE
    ├─ endpointslice/api-1  IPv4  2 ready, 1 not ready, 0 terminating
    │ ├─● 10.0.0.1:8080   pod/api-a   1/1     Ready      yes       node-1   2d
    │ ├─● 10.0.0.3:8080   pod/api-c   1/1     Ready      yes       node-1   2d
    │ └─~ 10.0.0.2:8080   pod/api-b   0/1     NotReady   no        node-1   2d
    │     └ api: running, not ready
    └─ owners: 3 pods have none
    ");
    insta::assert_snapshot!(feed.frame(120), @"
    service/api  -n shop  ClusterIP 10.96.14.7  http 80->8080/TCP                                                       0:00
    ~ degraded 2/3 ready  selector app=api                                                             3 pods match, 2 ready
    ENDPOINT              TARGET      READY   STATE      SERVING   NODE     AGE
    ├─ endpointslice/api-1  IPv4  2 ready, 1 not ready, 0 terminating
    │ ├─● 10.0.0.1:8080   pod/api-a   1/1     Ready      yes       node-1   2d
    │ ├─● 10.0.0.3:8080   pod/api-c   1/1     Ready      yes       node-1   2d
    │ └─~ 10.0.0.2:8080   pod/api-b   0/1     NotReady   no        node-1   2d
    │     └ api: running, not ready
    └─ owners: 3 pods have none
    ");
    feed.put(&slice("api-1", "IPv4", &["api-b 10.0.0.2 ready: false"]));
    insta::assert_snapshot!(feed.frame(80), @"
    service/api  -n shop  ClusterIP 10.96.14.7  http 80->8080/TCP               0:00
    ✗ 0/1 ready: 1 Running (api: running, not ready)  selector app=api
    ENDPOINT              TARGET      READY   STATE      SERVING   NODE     AGE
    ├─ endpointslice/api-1  IPv4  0 ready, 1 not ready, 0 terminating
    │ └─~ 10.0.0.2:8080   pod/api-b   0/1     NotReady   no        node-1   2d
    │     └ api: running, not ready
    ├─ no endpoints  2 pods match but are in no slice
    │ ├─● -               pod/api-a   1/1     Running    no        node-1   2d
    │ │   └ no endpoint: no slice lists the pod yet
    │ └─● -               pod/api-c   1/1     Running    no        node-1   2d
    │     └ no endpoint: no slice lists the pod yet
    └─ owners: 3 pods have none
    ");
}

#[test]
fn slices_are_merged_by_address_type() {
    let mut feed = api();
    feed.put(SERVICE)
        .put(&pod("api-a", "10.0.0.1", "Ready"))
        .put(&pod("api-b", "10.0.0.2", "Ready"))
        .put(&slice("api-1", "IPv4", &["api-a 10.0.0.1"]))
        .put(
            &slice(
                "api-2",
                "IPv4",
                &[
                    "api-a 10.0.0.1",
                    "api-b 10.0.0.2 ready: false, serving: true, terminating: true",
                ],
            )
            .replace("port: 8080", "port: 9090"),
        )
        .put(&slice("api-6", "IPv6", &["api-a fd00::1"]));
    insta::assert_snapshot!(feed.frame(80), @"
    service/api  -n shop  ClusterIP 10.96.14.7  http 80->8080/TCP               0:00
    ● 1/1 ready, 1 terminating  selector app=api               2 pods match, 2 ready
    ENDPOINT                   TARGET      STATE                  NODE     AGE
    ├─ endpointslices api-1, api-2  IPv4  1 ready, 0 not ready, 1 terminating
    │ ├─● 10.0.0.1:8080,9090   pod/api-a   Ready                  node-1   2d
    │ └─− 10.0.0.2:9090        pod/api-b   Terminating(serving)   node-1   2d
    ├─ endpointslice/api-6  IPv6  1 ready, 0 not ready, 0 terminating
    │ └─● [fd00::1]:8080       pod/api-a   Ready                  node-1   2d
    └─ owners: 2 pods have none
    ");
}

#[test]
fn an_address_without_a_target_is_external() {
    let mut feed = api();
    feed.put(&SERVICE.replace("selector: {app: api}", "sessionAffinity: None"))
        .put(&slice("api-1", "IPv4", &["- 192.0.2.7"]));
    insta::assert_snapshot!(feed.frame(80), @"
    service/api  -n shop  ClusterIP 10.96.14.7  http 80->8080/TCP               0:00
    ● 1/1 ready  no selector
    ENDPOINT               TARGET     STATE   SERVING   NODE
    └─ endpointslice/api-1  IPv4  1 ready, 0 not ready, 0 terminating
      └─● 192.0.2.7:8080   external   Ready   yes       node-1
    ");
}

#[test]
fn an_endpoint_without_a_pod_is_named() {
    let mut feed = api();
    feed.put(SERVICE)
        .put(&slice(
            "api-1",
            "IPv4",
            &["api-a 10.0.0.1", "api-b 10.0.0.2"],
        ))
        .put(
            &pod("api-b", "10.0.0.2", "Ready").replace("name: api-b", "name: api-b, uid: another"),
        );
    insta::assert_snapshot!(feed.frame(80), @"
    service/api  -n shop  ClusterIP 10.96.14.7  http 80->8080/TCP               0:00
    ~ degraded 2/2 ready, 2 without a live pod  selector app=api
    ENDPOINT              TARGET      READY   STATE     SERVING   NODE     AGE
    ├─ endpointslice/api-1  IPv4  2 ready, 0 not ready, 0 terminating
    │ ├─∅ 10.0.0.1:8080   pod/api-a           Ready     yes       node-1
    │ │   └ an endpoint without a live pod: pod/api-a is gone
    │ └─∅ 10.0.0.2:8080   pod/api-b           Ready     yes       node-1
    │     └ an endpoint without a live pod: pod/api-b is replaced by another
    ├─ no endpoints  1 pod matches but is in no slice
    │ └─● -               pod/api-b   1/1     Running   no        node-1   2d
    │     └ no endpoint: no slice lists the pod yet
    └─ owners: 1 pod has none
    ");
}

#[test]
fn a_target_port_is_looked_up_in_the_pods() {
    let mut feed = api();
    feed.put(&SERVICE.replace("targetPort: 8080", "targetPort: web"))
        .put(&pod("api-a", "10.0.0.1", "Ready"));
    insta::assert_snapshot!(feed.frame(80).lines().take(3).collect::<Vec<_>>().join("\n"), @"
    service/api  -n shop  ClusterIP 10.96.14.7  http 80->8080/TCP               0:00
    ✗ no endpoints  selector app=api                          1 pod matches, 1 ready
    ENDPOINT   TARGET      READY   STATE     SERVING   NODE     AGE
    ");
    feed.put(&pod("api-b", "10.0.0.2", "Ready").replace("name: web", "name: http"));
    insta::assert_snapshot!(feed.frame(80).lines().take(3).collect::<Vec<_>>().join("\n"), @"
    service/api  -n shop  ClusterIP 10.96.14.7  http 80->8080/TCP               0:00
    ✗ no endpoints  selector app=api                           2 pods match, 2 ready
    ENDPOINT   TARGET      READY   STATE     SERVING   NODE     AGE
    ");
    feed.delete("Pod", "api-a").put(
        &slice("api-1", "IPv4", &["api-b 10.0.0.2"])
            .replace("{name: http, port: 8080, protocol: TCP}", ""),
    );
    insta::assert_snapshot!(feed.frame(80).lines().take(3).collect::<Vec<_>>().join("\n"), @r#"
    service/api  -n shop  ClusterIP 10.96.14.7  http 80->web/TCP                0:00
    ✗ no pod has a port "web"; they have http (8080)  selector app=api
    ENDPOINT         TARGET      READY   STATE    SERVING   NODE     AGE
    "#);
}

/// An endpoint that is ready and has none of the ports, and one that has one of two.
#[test]
fn an_endpoint_without_a_port_says_so() {
    let service =
        |ports: &str| SERVICE.replace("ports: [{name: http, port: 80, targetPort: 8080}]", ports);
    let mut feed = api();
    feed.put(&service(
        "ports: [{name: http, port: 80, targetPort: https}]",
    ))
    .put(&pod("api-a", "10.0.0.1", "Ready"))
    .put(
        &slice("api-1", "IPv4", &["api-a 10.0.0.1"])
            .replace("{name: http, port: 8080, protocol: TCP}", ""),
    );
    let rows = |feed: &mut Feed| {
        let frame = feed.frame(100);
        frame.lines().skip(3).take(3).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(rows(&mut feed), @r#"
    ├─ endpointslice/api-1  IPv4  1 ready, 0 not ready, 0 terminating
    │ └─✗ 10.0.0.1   pod/api-a   1/1     NoPort   no        node-1   2d
    │     └ the pod has no port "https"
    "#);
    feed.put(&service(
        "ports: [{name: web, port: 80, targetPort: web}, {name: tls, port: 443, targetPort: https}]",
    ))
    .put(&slice("api-1", "IPv4", &["api-a 10.0.0.1"]).replace("name: http", "name: web"));
    insta::assert_snapshot!(rows(&mut feed), @r#"
    ├─ endpointslice/api-1  IPv4  1 ready, 0 not ready, 0 terminating
    │ └─~ 10.0.0.1:8080   pod/api-a   1/1     Ready   yes       node-1   2d
    │     └ the pod has no port "https"
    "#);
}

#[test]
fn a_deleted_service_shows_its_endpoints_and_a_new_one_starts_afresh() {
    let mut feed = api();
    feed.put(SERVICE)
        .put(&pod("api-a", "10.0.0.1", "Ready"))
        .put(&slice("api-1", "IPv4", &["api-a 10.0.0.1"]))
        .delete("Service", "api");
    insta::assert_snapshot!(feed.frame(80), @"
    service/api  -n shop                                                        0:00
    ∅ deleted; its endpoints still exist
    ENDPOINT              TARGET      READY   STATE   SERVING   NODE     AGE
    ├─ endpointslice/api-1  IPv4  1 ready, 0 not ready, 0 terminating
    │ └─● 10.0.0.1:8080   pod/api-a   1/1     Ready   yes       node-1   2d
    └─ owners: 1 pod has none
    ");
    feed.delete("EndpointSlice", "api-1")
        .put(&SERVICE.replace("name: api}", "name: api, uid: second}"));
    insta::assert_snapshot!(feed.frame(80), @"
    service/api  -n shop  ClusterIP 10.96.14.7  http 80->8080/TCP               0:00
    ✗ no endpoints  selector app=api                          1 pod matches, 1 ready
    ENDPOINT   TARGET      READY   STATE     SERVING   NODE     AGE
    ├─ no endpoints  1 pod matches but is in no slice
    │ └─● -    pod/api-a   1/1     Running   no        node-1   2d
    │     └ no endpoint: no slice lists the pod yet
    └─ owners: 1 pod has none
    ");
}

/// The trace of the Service `api`, which has an Ingress in front that also leads to the Service `other`.
fn api_beside_other(other_state: &str) -> Feed {
    let other = SERVICE.replace("name: api", "name: other");
    let owned = "labels: {app: other}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: other-7f, uid: uid-other-7f}]";
    let other_pod = pod("other-a", "10.0.0.2", other_state);
    let is_ready = format!("other-a 10.0.0.2 ready: {}", other_state == "Ready");
    let other_slice = slice("other-1", "IPv4", &[&is_ready]);
    let mut feed = api();
    feed.put(SERVICE)
        .put(&pod("api-a", "10.0.0.1", "Ready"))
        .put(&slice("api-1", "IPv4", &["api-a 10.0.0.1"]))
        .put(&other.replace("app: api", "app: other"))
        .put(&other_pod.replace("labels: {app: api}", owned))
        .put(&other_slice.replace("service-name: api", "service-name: other"))
        .put("{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: front}, spec: {rules: [{http: {paths: [{path: /, backend: {service: {name: api, port: {number: 80}}}}, {path: /other, backend: {service: {name: other, port: {number: 80}}}}]}}]}}");
    feed
}

#[test]
fn the_other_backends_of_an_ingress_in_front_are_no_endpoints_of_the_service() {
    let feed = api_beside_other("NotReady");
    let sources = feed.sources();
    let has = |source: &str| sources.iter().any(|known| known == source);
    let other_slices = "endpointslices kubernetes.io/service-name=other";
    assert!(has(other_slices), "{sources:?}");
    assert!(has("pods app=other"), "{sources:?}");
    assert!(!has("replicasets metadata.name=other-7f"), "{sources:?}");
    let frame = feed.frame(80);
    let is_own = |line: &&str| line.contains("endpointslice/") || line.contains("owners:");
    let own: Vec<&str> = frame.lines().filter(is_own).collect();
    let expected = [
        "├─ endpointslice/api-1  IPv4  1 ready, 0 not ready, 0 terminating",
        "└─ owners: 1 pod has none",
    ];
    assert_eq!(own, expected, "{frame}");
}

#[test]
fn the_other_backends_of_an_ingress_in_front_are_not_in_the_graph() {
    let graph = api_beside_other("Ready").graph();
    let names = graph.nodes.iter().filter_map(|node| node.object.as_ref());
    let names: Vec<&str> = names.map(|object| &*object.name).collect();
    assert_eq!(names, ["api", "api-1", "api-a", "front"]);
    let has = |id: &String| graph.nodes.iter().any(|node| node.id == *id);
    let edges = graph.edges.iter();
    assert_eq!(
        edges
            .filter(|edge| !(has(&edge.from) && has(&edge.to)))
            .count(),
        0
    );
}

#[test]
fn only_the_pods_of_the_service_are_requested() {
    let mut feed = api();
    feed.put(SERVICE);
    assert_eq!(
        feed.sources(),
        [
            "services metadata.name=api",
            "endpointslices kubernetes.io/service-name=api",
            "pods app=api",
            "networkpolicies all",
            "statefulsets all",
            "ingresses all",
            "events type=Warning",
            "pods all",
            "deployments all",
            "daemonsets all"
        ]
    );
    feed.put(&SERVICE.replace("app: api", "app: web"));
    assert!(feed.sources().contains(&"pods app=web".to_owned()));
    assert!(!feed.sources().contains(&"pods app=api".to_owned()));
}

#[test]
fn a_new_selector_drops_the_pods_of_the_old_one() {
    let mut feed = api();
    feed.put(SERVICE).put(&pod("api-a", "10.0.0.1", "Ready"));
    assert_eq!(feed.chain.traced().model.objects().count(), 2);
    feed.put(&SERVICE.replace("app: api", "app: web"));
    assert_eq!(feed.chain.traced().model.objects().count(), 1);
    insta::assert_snapshot!(feed.frame(80), @"
    service/api  -n shop  ClusterIP 10.96.14.7  http 80->8080/TCP               0:00
    ✗ no pod matches app=web  selector app=web                 0 pods match, 0 ready
    ");
}

#[test]
fn owners_are_read_by_name_and_matched_by_uid() {
    let owned = |kind: &str, name: &str, uid: &str| {
        format!(
            "ownerReferences: [{{apiVersion: apps/v1, kind: {kind}, name: {name}, uid: {uid}, controller: true}}]"
        )
    };
    let pod = |owner: &str| {
        pod("api-a", "10.0.0.1", "Ready").replace("name: api-a,", &format!("name: api-a, {owner},"))
    };
    let set = |uid: &str| {
        format!(
            "apiVersion: apps/v1
kind: ReplicaSet
metadata: {{name: api-7f, uid: {uid}, annotations: {{deployment.kubernetes.io/revision: '7'}}, {}}}
spec: {{replicas: 4}}
status: {{replicas: 4, availableReplicas: 3}}",
            owned("Deployment", "api", "d1")
        )
    };
    let mut feed = api();
    feed.put(SERVICE)
        .put("{apiVersion: apps/v1, kind: Deployment, metadata: {name: api, uid: d1}}")
        .put(&set("r1"))
        .put(&slice("api-1", "IPv4", &["api-a 10.0.0.1"]))
        .put(&pod(&owned("ReplicaSet", "api-7f", "r1")));
    insta::assert_snapshot!(feed.frame(120), @"
    service/api  -n shop  ClusterIP 10.96.14.7  http 80->8080/TCP                                                       0:00
    ● 1/1 ready  selector app=api                                                                     1 pod matches, 1 ready
    ENDPOINT              TARGET      READY   STATE   SERVING   NODE     AGE   OWNER
    ├─ endpointslice/api-1  IPv4  1 ready, 0 not ready, 0 terminating
    │ └─● 10.0.0.1:8080   pod/api-a   1/1     Ready   yes       node-1   2d    deployment/api #7
    └─ owners: deployment/api > replicaset/api-7f #7   4/4 pods, 3 available
    ");
    assert!(
        feed.sources()
            .contains(&"deployments metadata.name=api".to_owned())
    );
    feed.put(&set("r2"));
    insta::assert_snapshot!(feed.frame(80).lines().last().unwrap(), @"└─ owners: replicaset/api-7f (not read)");
    feed.put(&pod(&owned("Rollout", "api", "x")));
    insta::assert_snapshot!(feed.frame(80).lines().last().unwrap(), @"└─ owners: rollout/api (not read)");
    assert_eq!(feed.sources().len(), 7);
}

#[test]
fn rows_that_do_not_fit_are_counted_and_healthy_ones_go_first() {
    let mut feed = api();
    feed.put(SERVICE);
    let names = ["a", "b", "c", "d", "e", "f"];
    let mut endpoints = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let state = if *name == "e" { "NotReady" } else { "Ready" };
        feed.put(&pod(
            &format!("api-{name}"),
            &format!("10.0.0.{index}"),
            state,
        ));
        endpoints.push(format!(
            "api-{name} 10.0.0.{index} ready: {}",
            state == "Ready"
        ));
    }
    let endpoints: Vec<&str> = endpoints.iter().map(String::as_str).collect();
    feed.put(&slice("api-1", "IPv4", &endpoints));
    insta::assert_snapshot!(feed.frame_of(60, Some(9)), @"
    service/api  -n shop  ClusterIP 10.96.14.7
    ~ degraded 5/6 ready  selector app=api
    ENDPOINT              TARGET      STATE      NODE     AGE
    ├─ endpoin…ce/api-1  IPv4  5 ready, 1 not ready, 0 terminat…
    │ ├─● 10.0.0.0:8080   pod/api-a   Ready      node-1   2d
    │ └─~ 10.0.0.4:8080   pod/api-e   NotReady   node-1   2d
    │     └ api: running, not ready
    └─ owners: 6 pods have none
    + 4 healthy (use --once | less)
    ");
    for rows in 2..20 {
        let lines = feed.frame_of(60, Some(rows)).lines().count();
        assert!(lines <= rows.max(3), "{lines} lines in {rows}");
    }
}

#[test]
fn a_line_for_each_change_of_an_endpoint() {
    let mut feed = api();
    feed.put(SERVICE)
        .put(&pod("api-a", "10.0.0.1", "Ready"))
        .put(&slice("api-1", "IPv4", &["api-a 10.0.0.1"]));
    insta::assert_snapshot!(feed.transitions(), @"
    2026-05-04T12:00:00Z endpoint 10.0.0.1:8080 pod/api-a Ready
    2026-05-04T12:00:00Z service/api Current: 1/1 ready
    ");
    assert_eq!(feed.transitions(), "");
    feed.after(1000)
        .put(&pod("api-a", "10.0.0.1", "NotReady"))
        .put(&slice("api-1", "IPv4", &["api-a 10.0.0.1 ready: false"]));
    insta::assert_snapshot!(feed.transitions(), @"
    2026-05-04T12:00:01Z endpoint 10.0.0.1:8080 pod/api-a NotReady: api: running, not ready (was Ready)
    2026-05-04T12:00:01Z service/api Failed: 0/1 ready: 1 Running (api: running, not ready)
    ");
    feed.after(1000)
        .delete("EndpointSlice", "api-1")
        .delete("Service", "api");
    insta::assert_snapshot!(feed.transitions(), @"
    2026-05-04T12:00:02Z endpoint 10.0.0.1:8080 pod/api-a gone (was NotReady)
    2026-05-04T12:00:02Z service/api NotFound: deleted
    ");
    assert_eq!(
        feed.after(60_000).transitions(),
        "",
        "time alone is no news"
    );
}

#[test]
fn cluster_text_cannot_move_the_cursor() {
    let mut feed = api();
    feed.put(&SERVICE.replace("name: http", "name: \"h\\e[2J\""))
        .put(
            &pod("api-a", "10.0.0.1", "NotReady")
                .replace("unready status", "unready\\e[2J")
                .replace("'containers", "\"containers")
                .replace("[api]'", "[api]\""),
        )
        .put(&slice(
            "\"api\\e[31m\"",
            "IPv4",
            &["api-a 10.0.0.1 ready: false"],
        ));
    let frame = feed.frame(120);
    assert!(!frame.contains('\u{1b}'), "{frame}");
    assert!(frame.contains("h^[[2J"), "{frame}");
    assert!(!feed.transitions().contains('\u{1b}'));
}

#[test]
fn a_rollout_behind_a_service() {
    insta::assert_snapshot!(Feed::story("Service", 12_000).frame(80), @r#"
    service/web  -n shop  ClusterIP 10.96.41.7  http 80->8080/TCP               0:12
    ~ degraded 3/4 ready: 1 ImagePullBackOff  selector app=web
    ENDPOINT                 TARGET                     STATE      NODE       AGE
    ├─ endpointslice/web-cgb6d  IPv4  3 ready, 1 not ready, 0 terminating
    │ ├─● 10.244.0.13:8080   pod/web-7f45f79f9d-268rp   Ready      worker-1   41d
    │ ├─● 10.244.1.13:8080   pod/web-7f45f79f9d-dxq6g   Ready      worker-2   41d
    │ ├─● 10.244.2.13:8080   pod/web-7f45f79f9d-pkjqf   Ready      worker-3   41d
    │ └─✗ 10.244.0.14:8080   pod/web-5cc54d4d56-dcqxn   NotReady   worker-1   10s
    │     └ ImagePullBackOff: web: Back-off pulling image
    │       "registry.example.com/shop/web:v2.4.1-rc1": ErrImagePull: rpc error:
    │       code = NotFound desc = failed to pull and unpack image "registry.exampl…
    ├─ owners: deployment/web > replicaset/web-5cc54d4d56 #2   1/1 pods, 0 available
    └─ owners: deployment/web > replicaset/web-7f45f79f9d #1   3/3 pods, 3 available
    "#);
    insta::assert_snapshot!(Feed::story("Service", 22_000).frame(120), @"
    service/web  -n shop  ClusterIP 10.96.41.7  http 80->8080/TCP                                                       0:22
    ~ degraded 3/4 ready  selector app=web                                                             4 pods match, 3 ready
    ENDPOINT                 TARGET                     READY   STATE      SERVING   NODE       AGE   OWNER
    ├─ endpointslice/web-cgb6d  IPv4  3 ready, 1 not ready, 0 terminating
    │ ├─● 10.244.0.13:8080   pod/web-7f45f79f9d-268rp   1/1     Ready      yes       worker-1   41d   deployment/web #1
    │ ├─● 10.244.1.13:8080   pod/web-7f45f79f9d-dxq6g   1/1     Ready      yes       worker-2   41d   deployment/web #1
    │ ├─● 10.244.2.13:8080   pod/web-7f45f79f9d-pkjqf   1/1     Ready      yes       worker-3   41d   deployment/web #1
    │ └─~ 10.244.1.15:8080   pod/web-589f5c6bfc-tvgkq   0/1     NotReady   no        worker-2   4s    deployment/web #3
    │     └ web: running, its readiness probe does not succeed (GET :http/readyz every 2s)
    ├─ owners: deployment/web > replicaset/web-589f5c6bfc #3   1/1 pods, 0 available
    └─ owners: deployment/web > replicaset/web-7f45f79f9d #1   3/3 pods, 3 available
    ");
    insta::assert_snapshot!(Feed::story("Service", 40_000).frame(80), @"
    service/web  -n shop  ClusterIP 10.96.41.7  http 80->8080/TCP               0:40
    ● 3/3 ready  selector app=web                              3 pods match, 3 ready
    ENDPOINT                 TARGET                     STATE   NODE       AGE
    ├─ endpointslice/web-cgb6d  IPv4  3 ready, 0 not ready, 0 terminating
    │ ├─● 10.244.2.16:8080   pod/web-589f5c6bfc-r2f9t   Ready   worker-3   18s
    │ ├─● 10.244.1.15:8080   pod/web-589f5c6bfc-tvgkq   Ready   worker-2   22s
    │ └─● 10.244.0.17:8080   pod/web-589f5c6bfc-tw9qz   Ready   worker-1   14s
    └─ owners: deployment/web > replicaset/web-589f5c6bfc #3   3/3 pods, 3 available
    ");
}

#[test]
fn the_graph_as_a_record() {
    let mut feed = api();
    feed.put(SERVICE)
        .put(&pod("api-a", "10.0.0.1", "NotReady"))
        .put(&slice(
            "api-1",
            "IPv4",
            &[
                "api-a 10.0.0.1 ready: false",
                "api-b 10.0.0.2",
                "- 192.0.2.7",
            ],
        ));
    let record: serde_json::Value = serde_json::from_str(&feed.graph().line("TIME")).unwrap();
    let lines = |key: &str| -> Vec<String> {
        let items = record[key].as_array().unwrap().iter();
        items.map(ToString::to_string).collect()
    };
    assert_eq!((&record["v"], &record["time"]), (&1.into(), &"TIME".into()));
    insta::assert_snapshot!(lines("nodes").join("\n"), @r#"
    {"ghost":true,"id":"/Pod/shop/api-b","ref":{"apiVersion":"v1","cluster":"test","kind":"Pod","name":"api-b","namespace":"shop","uid":"uid-api-b"},"status":"NotFound"}
    {"ghost":false,"id":"ip:192.0.2.7","status":"Unknown"}
    {"causes":[{"rule":"Endpoints","text":"degraded 2/3 ready, 1 without a live pod"}],"ghost":false,"id":"uid-api","ref":{"apiVersion":"v1","cluster":"test","kind":"Service","name":"api","namespace":"shop","uid":"uid-api"},"status":"InProgress","word":"InProgress"}
    {"ghost":false,"id":"uid-api-1","ref":{"apiVersion":"discovery.k8s.io/v1","cluster":"test","kind":"EndpointSlice","name":"api-1","namespace":"shop","uid":"uid-api-1"},"status":"Current","word":"Current"}
    {"causes":[{"rule":"NotReady","text":"api: running, not ready"}],"ghost":false,"id":"uid-api-a","ready":"0/1","ref":{"apiVersion":"v1","cluster":"test","kind":"Pod","name":"api-a","namespace":"shop","uid":"uid-api-a"},"status":"InProgress","word":"Running"}
    {"ghost":false,"id":"uid-node-1","ref":{"apiVersion":"v1","cluster":"test","kind":"Node","name":"node-1","uid":"uid-node-1"},"status":"Current","word":"Ready"}
    "#);
    insta::assert_snapshot!(lines("edges").join("\n"), @r#"
    {"from":"uid-api","relation":"slices","to":"uid-api-1","via":"metadata.labels[kubernetes.io/service-name]"}
    {"from":"uid-api","relation":"selects","to":"uid-api-a","via":"spec.selector"}
    {"addresses":["10.0.0.2"],"from":"uid-api-1","relation":"endpoint","state":"ready","to":"/Pod/shop/api-b","via":"endpoints"}
    {"addresses":["192.0.2.7"],"from":"uid-api-1","relation":"endpoint","state":"ready","to":"ip:192.0.2.7","via":"endpoints"}
    {"addresses":["10.0.0.1"],"from":"uid-api-1","relation":"endpoint","state":"notReady","to":"uid-api-a","via":"endpoints"}
    {"from":"uid-api-a","relation":"node","to":"uid-node-1","via":"spec.nodeName"}
    "#);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Events of different sources arrive in any order.
    #[test]
    fn the_order_of_objects_does_not_matter(
        order in Just((0..6).collect::<Vec<usize>>()).prop_shuffle()
    ) {
        let objects = [
            SERVICE.to_owned(),
            pod("api-a", "10.0.0.1", "Ready"),
            pod("api-b", "10.0.0.2", "NotReady"),
            pod("api-c", "", "Pending"),
            slice("api-1", "IPv4", &["api-a 10.0.0.1", "api-b 10.0.0.2 ready: false"]),
            slice("api-2", "IPv4", &["api-gone 10.0.0.9", "- 192.0.2.7"]),
        ];
        let frame = |order: &[usize]| {
            let mut feed = api();
            for at in order {
                feed.put(&objects[*at]);
            }
            (feed.frame(120), feed.graph())
        };
        prop_assert_eq!(frame(&order), frame(&[0, 1, 2, 3, 4, 5]));
    }
}
