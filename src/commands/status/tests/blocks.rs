//! One block for each cause: what only repeats it is counted, or comes last on a short screen.

use insta::assert_snapshot;

use super::*;

const SERVICES: &str = "v1 services Service";
const CLAIMS: &str = "v1 persistentvolumeclaims PersistentVolumeClaim";
const SETS: &str = "apps/v1 statefulsets StatefulSet";
const INGRESSES: &str = "networking.k8s.io/v1 ingresses Ingress";

/// Everything of the namespace that is not well, as `--once` prints it.
fn unhealthy(kinds: &[&str], objects: Vec<Value>) -> String {
    let mut cluster = Cluster::of(state(kinds.iter().map(|kind| all(kind))), objects);
    cluster.settle(at(600));
    let options = RowOptions {
        health: HealthFilter::Unhealthy,
        ..PLAIN
    };
    let canvas = Canvas::unbounded(look(None), at(600));
    plain(table(
        &(&cluster.state).into(),
        &connection(&cluster),
        options,
        canvas,
    ))
}

/// A Service that selects the Pods of an app.
fn service(name: &str, app: &str) -> Value {
    let spec = json!({"clusterIP": "10.96.0.1", "selector": {"app": app}, "ports": [{"port": 80}]});
    let mut service = object("v1", "Service", name, json!({"spec": spec}));
    service["metadata"]["uid"] = format!("service-{name}").into();
    service
}

/// An Ingress that sends everything to a Service.
fn ingress(name: &str, service: &str) -> Value {
    let backend = json!({"service": {"name": service, "port": {"number": 80}}});
    let spec = json!({"ingressClassName": "nginx", "defaultBackend": backend});
    let status = json!({"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}});
    let mut ingress = object(
        "networking.k8s.io/v1",
        "Ingress",
        name,
        json!({"spec": spec, "status": status}),
    );
    ingress["metadata"]["uid"] = format!("ingress-{name}").into();
    ingress
}

fn ingress_class(name: &str) -> Value {
    json!({"apiVersion": "networking.k8s.io/v1", "kind": "IngressClass", "metadata": {"name": name, "uid": "class"}})
}

const EVERYTHING: [&str; 7] = [
    CLAIMS,
    INGRESSES,
    PODS,
    SERVICES,
    DEPLOYMENTS,
    REPLICA_SETS,
    SETS,
];

#[test]
fn what_only_repeats_a_cause_is_counted_in_its_row() {
    let mut objects = deployment_of((3, 0), |_| waiting("CrashLoopBackOff", "back-off 10s"));
    objects.extend([
        service("web", "web"),
        service("web-2", "web"),
        ingress("front", "web"),
        ingress_class("nginx"),
    ]);
    assert_snapshot!(unhealthy(&EVERYTHING, objects), @"
    8 Failed
    NAME                READY   STATUS             RESTARTS   AGE   NODE       IP
    ✗ deployment/web    0/3     Failed             -          10m   -          -
    │ └ 0 of 3 pods ready: 3 CrashLoopBackOff (also not well: ingress/front, 2 services, 1 replicaset)
    └─✗ pod/web-a-000   0/1     CrashLoopBackOff   0          10m   worker-1   10.0.0.1
        └ 3 × app: CrashLoopBackOff: back-off 10s
    ");
}

/// The Pods of a Deployment fail for two reasons: each has its row.
#[test]
fn each_cause_below_an_owner_keeps_a_row() {
    let objects = deployment_of((4, 0), |number| match number {
        0 | 2 => waiting("ImagePullBackOff", "no image"),
        1 => waiting("CreateContainerConfigError", "no secret"),
        _ => json!({"ready": false, "state": {"running": {}}}),
    });
    assert_snapshot!(unhealthy(&EVERYTHING, objects), @"
    1 InProgress, 5 Failed
    NAME                READY   STATUS                       RESTARTS   AGE   NODE       IP
    ✗ deployment/web    0/4     Failed                       -          10m   -          -
    │ └ 0 of 4 pods ready: 1 CreateContainerConfigError, 2 ImagePullBackOff (also not well: 1 replicaset)
    ├─✗ pod/web-a-000   0/1     ImagePullBackOff             0          10m   worker-1   10.0.0.1
    │   └ 2 × app: no image
    ├─✗ pod/web-a-001   0/1     CreateContainerConfigError   0          10m   worker-1   10.0.0.1
    │   └ app: CreateContainerConfigError: no secret
    └─~ pod/web-a-003   0/1     Running                      0          10m   worker-1   10.0.0.1
        └ node/worker-1 does not exist
        └ app: running, not ready
    ");
}

/// A claim has lost its volume. The `StatefulSet`, its Pod and the Service only repeat that.
#[test]
fn a_lost_claim_is_one_block() {
    let mut set = workload("StatefulSet", "db", (1, 0));
    set["spec"]["selector"] = json!({"matchLabels": {"app": "db"}});
    let mut pod = object(
        "v1",
        "Pod",
        "db-0",
        json!({
            "metadata": {"labels": {"app": "db"}},
            "spec": {"containers": [{"name": "db"}], "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}]},
            "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                "message": "0/2 nodes are available: persistentvolumeclaim \"data-db-0\" bound to non-existent persistentvolume \"pv-1\"."}]},
        }),
    );
    own(&mut pod, ("StatefulSet", "db"));
    let claim = object(
        "v1",
        "PersistentVolumeClaim",
        "data-db-0",
        json!({
            "spec": {"volumeName": "pv-1", "storageClassName": "manual"},
            "status": {"phase": "Lost"},
        }),
    );
    let objects = vec![set, pod, claim, service("db", "db")];
    assert_snapshot!(unhealthy(&EVERYTHING, objects), @"
    4 Failed
    NAME                                READY   STATUS   RESTARTS   AGE   NODE   IP
    ✗ persistentvolumeclaim/data-db-0   -       Lost     -          10m   -      -
      └ volume persistentvolume/pv-1 does not exist (also not well: statefulset/db, pod/db-0, service/db)
    ");
}

/// A budget that its Pods could meet repeats their problem. One that demands more Pods than there are has its own.
#[test]
fn a_budget_repeats_the_problem_of_its_pods() {
    let budget = |desired: u32| {
        let mut budget = object(
            "policy/v1",
            "PodDisruptionBudget",
            "web",
            json!({
                "metadata": {"generation": 1},
                "spec": {"minAvailable": desired, "selector": {"matchLabels": {"app": "web"}}},
                "status": {"observedGeneration": 1, "expectedPods": 2, "currentHealthy": 0, "desiredHealthy": desired},
            }),
        );
        budget["metadata"]["uid"] = "budget".into();
        budget
    };
    let budgets = "policy/v1 poddisruptionbudgets PodDisruptionBudget";
    for (desired, row) in [
        (1, "poddisruptionbudget/web, 1 replicaset"),
        (4, "~ poddisruptionbudget/web"),
    ] {
        let mut objects = deployment_of((2, 0), |_| waiting("CrashLoopBackOff", "back-off 10s"));
        objects.push(budget(desired));
        let shown = unhealthy(&[DEPLOYMENTS, REPLICA_SETS, PODS, budgets], objects);
        assert!(shown.contains(row), "{shown}");
    }
}

/// A Service whose Pods no row shows says itself why it fails.
#[test]
fn a_cause_without_a_row_is_not_hidden() {
    let mut objects = deployment_of((1, 0), |_| waiting("CrashLoopBackOff", "back-off 10s"));
    objects.push(service("web", "web"));
    assert_snapshot!(unhealthy(&[SERVICES], objects), @"
    1 Failed
    NAME            READY   STATUS   RESTARTS   AGE   NODE   IP
    ✗ service/web   -       Failed   -          10m   -      -
      └ 1 pod matches, and it is not ready: 1 CrashLoopBackOff
    ");
}

#[test]
fn nothing_unhealthy_is_said_in_words() {
    let objects = deployment_of((2, 2), |_| running());
    assert_snapshot!(unhealthy(&[DEPLOYMENTS, PODS], objects.clone()), @"
    3 Current
    Nothing is unhealthy in namespace shop.
    ");
    let cluster = Cluster::of(state([all(DEPLOYMENTS), all(PODS)]), objects.clone());
    let options = RowOptions {
        health: HealthFilter::Unhealthy,
        ..PLAIN
    };
    let mut live = LiveTable::new(options);
    assert_snapshot!(next_frame(&mut live, &cluster, at(30), (80, 24)), @"
    deployment.apps/web  -n shop  ctx demo                rollout 2/2 updated  0:30
    Nothing is unhealthy in namespace shop.
    ● live  4 objects  3 watches                                     Ctrl-C to exit
    ");
    let refused = Cluster::forbidding("pods", state([all(DEPLOYMENTS), all(PODS)]), objects);
    assert_snapshot!(next_frame(&mut live, &refused, at(30), (80, 24)), @r#"
    deployment.apps/web  -n shop  ctx demo                rollout 2/2 updated  0:30
    Nothing unhealthy among the objects in namespace shop that could be read.
    forbidden: pods: pods is forbidden: User "ana" cannot list it
    ● live  2 objects  3 watches                                     Ctrl-C to exit
    "#);
}

/// The old Pods of a rollout are gone: that is not unhealthy.
#[test]
fn a_deleted_object_is_not_unhealthy() {
    let objects = deployment_of((2, 2), |_| running());
    let mut cluster = Cluster::of(state([all(DEPLOYMENTS), all(PODS)]), objects);
    cluster.delete("web-a-001", at(30));
    cluster.settle(at(30));
    let options = RowOptions {
        health: HealthFilter::Unhealthy,
        ..PLAIN
    };
    let frame = next_frame(&mut LiveTable::new(options), &cluster, at(31), (80, 24));
    assert!(!frame.contains("NotFound"), "{frame}");
}

/// An owner that has left Pods is the row above them, and is not counted without them.
#[test]
fn a_deleted_owner_is_shown_only_above_what_it_left() {
    let objects = deployment_of((2, 1), |number| match number {
        0 => waiting("CrashLoopBackOff", "back-off 10s"),
        _ => running(),
    });
    let mut cluster = Cluster::of(state([all(DEPLOYMENTS), all(PODS)]), objects);
    let options = RowOptions {
        health: HealthFilter::Unhealthy,
        ..PLAIN
    };
    let mut live = LiveTable::new(options);
    for name in ["web", "web-a"] {
        cluster.delete(name, at(30));
    }
    cluster.settle(at(30));
    assert_snapshot!(next_frame(&mut live, &cluster, at(31), (80, 24)), @"
    deployment.apps/web  -n shop  ctx demo                          1 failing  0:31
    NAME                READY   STATUS             RESTARTS   AGE
    ∅ deployment/web    -       NotFound           -          31s
    │ └ also not well: 1 replicaset
    └─✗ pod/web-a-000   0/1     CrashLoopBackOff   0          31s
        └ app: CrashLoopBackOff: back-off 10s
    kubectl spy trace deployment/web shows its rollout
    ● live  4 objects  4 watches  last change 1s ago                 Ctrl-C to exit
    ");
    for name in ["web-a-000", "web-a-001"] {
        cluster.delete(name, at(32));
    }
    cluster.settle(at(32));
    assert_snapshot!(next_frame(&mut live, &cluster, at(33), (80, 24)), @"
    deployments.apps,pods  -n shop  ctx demo                                   0:33
    Nothing is unhealthy in namespace shop.
    ● live  0 objects  3 watches  last change 1s ago                 Ctrl-C to exit
    ");
}

/// On a short screen, the causes of two Deployments come before the Services, `ReplicaSets` and Pods that repeat them.
#[test]
fn rows_that_repeat_a_cause_come_last_on_a_short_screen() {
    let mut objects = deployment_of((3, 0), |_| waiting("CrashLoopBackOff", "back-off 10s"));
    objects.extend((0..6).map(|number| service(&format!("web-{number}"), "web")));
    let mut other = workload("StatefulSet", "zoo", (1, 0));
    other["status"]["conditions"] = json!([{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "quota"}]);
    objects.push(other);
    let kinds = [SERVICES, DEPLOYMENTS, SETS];
    let cluster = Cluster::of(state(kinds.map(all)), objects);
    assert_snapshot!(frame(&cluster, at(600), (80, 14)), @"
    services,deployments.apps,statefulsets.apps  -n shop  ctx demo  8 Failed  10:00
    NAME                   READY   STATUS             RESTARTS   AGE
    ✗ deployment/web       0/3     Failed             -          10m
    │ └ 0 of 3 pods ready: 3 CrashLoopBackOff
    └─✗ replicaset/web-a   0/3     Failed             -          10m
      └─✗ pod/web-a-000    0/1     CrashLoopBackOff   0          10m
          └ 3 × app: CrashLoopBackOff: back-off 10s
    ✗ statefulset/zoo      0/1     Failed             -          10m
      └ FailedCreate: quota
    ✗ service/web-0        -       Failed             -          10m
    + 7 failing (use --once | less)
    ● live  12 objects  12 watches                                   Ctrl-C to exit
    ");
}
