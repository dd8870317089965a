//! Tests of what `status` and `trace` show of two managers that undo each other's writes, and of used objects that changed.

use kubectl_spy::sandbox::{Target, Writer};
use serde_json::json;

use super::schema::Schema;
use super::support::cluster::{Cluster, config_map, deployment, owned_by, pod};

/// A Deployment with a Pod that cannot pull its image, after these managers have set these images.
async fn failing_after(writes: &[(&str, &str)]) -> Cluster {
    let cluster = Cluster::start().await;
    let mut web = deployment("web", 2);
    web["metadata"]["generation"] = json!(1);
    web["status"] = json!({"observedGeneration": 99, "replicas": 1, "updatedReplicas": 1});
    let mut web = cluster.put(web);
    for (manager, image) in writes {
        cluster.tick(1);
        let container = json!({"name": "app", "image": image});
        let patch = json!({"spec": {"template": {"spec": {"containers": [container]}}}});
        let target = Target::new("deployments.apps", "shop", "web");
        let by = Writer::new(manager);
        web = cluster.sandbox.patch(&target, &patch, &by).unwrap();
    }
    let mut set = web.clone();
    set["kind"] = json!("ReplicaSet");
    set["metadata"] = json!({"name": "web-2", "namespace": "shop", "labels": {"app": "web"}});
    let set = cluster.put(owned_by(set, &web));
    let mut unpulled = pod("web-2-a", &json!({"app": "web"}));
    let waiting = json!({"waiting": {"reason": "ImagePullBackOff", "message": "no"}});
    unpulled["status"] = json!({
        "phase": "Pending",
        "containerStatuses": [{"name": "app", "ready": false, "state": waiting}],
    });
    cluster.put(owned_by(unpulled, &set));
    cluster
}

fn changed(cluster: &Cluster, verb: &str) -> String {
    let ran = cluster.spy().run(&[verb, "deploy/web", "--once"]);
    let mut lines = ran.stdout.lines();
    let line = lines.find(|line| line.contains("changed "));
    line.unwrap_or("none")
        .trim_start_matches(['│', ' ', '└'])
        .to_owned()
}

const ARGO: (&str, &str) = ("argocd-controller", "bad:1");
const EDIT: (&str, &str) = ("kubectl-edit", "app:2");

#[tokio::test(flavor = "multi_thread")]
async fn two_managers_that_undo_each_other_are_shown_as_that() {
    let cluster = failing_after(&[EDIT, ARGO, EDIT, ARGO, EDIT, ARGO, EDIT, ARGO]).await;
    let fight = "by argocd-controller: containers[app].image: app:2 → bad:1; flipped 8 times in 7s between kubectl-edit (app:2) and argocd-controller (bad:1)";
    let line = changed(&cluster, "status");
    assert!(line.ends_with(fight), "{line}");
    // A trace shows the change of the rollout in another place, but not the fight.
    let ran = cluster
        .spy()
        .run(&["trace", "deploy/web", "--once", "-o", "json"]);
    let record = Schema::of("trace").check(ran.stdout.lines().next().unwrap());
    let fight = "flipped 8 times in 7s between kubectl-edit (app:2) and argocd-controller (bad:1)";
    assert_eq!(record["lastChanges"][0]["fight"], fight);
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_in_turn_that_undo_nothing_are_no_fight() {
    for (writes, end) in [
        (
            &[EDIT][..],
            "by kubectl-edit: containers[app].image: app:1 → app:2",
        ),
        (
            &[
                ("ci", "app:2"),
                ("cd", "app:3"),
                ("ci", "app:4"),
                ("cd", "app:5"),
            ],
            "by cd: containers[app].image: app:4 → app:5",
        ),
        (
            &[EDIT, ARGO],
            "by argocd-controller: containers[app].image: app:2 → bad:1",
        ),
    ] {
        let line = changed(&failing_after(writes).await, "status");
        assert!(line.ends_with(end), "{line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_used_object_that_changed_is_marked_in_its_row() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"limit": "10"})));
    cluster.put(config_map("other", &json!({"limit": "10"})));
    let mut web = pod("web", &json!({}));
    let environment = ["flags", "other"].map(|name| json!({"configMapRef": {"name": name}}));
    web["spec"]["containers"][0]["envFrom"] = json!(environment);
    let waiting = json!({"waiting": {"reason": "CreateContainerConfigError", "message": "no"}});
    web["status"] = json!({
        "phase": "Pending",
        "containerStatuses": [{"name": "app", "ready": false, "state": waiting}],
    });
    cluster.put(web);
    cluster.edit("configmaps", "flags", &json!({"data": {"limit": "25"}}));
    let ran = cluster.spy().run(&["trace", "pod/web", "--once"]);
    let mut lines = ran
        .stdout
        .lines()
        .skip_while(|line| !line.contains("configmap/flags  "));
    assert!(lines.next().is_some(), "{}", ran.stdout);
    let mark = lines.next().unwrap_or_default();
    assert!(
        mark.trim().ends_with("└ changed 4m56s ago by kubectl-edit"),
        "{}",
        ran.stdout
    );
    let other = lines.next().unwrap_or_default();
    assert!(other.contains("configmap/other"), "{}", ran.stdout);
}

/// A Deployment that is well, and whose scale these managers have set in turn.
async fn scaled(writes: &[(&str, u32)]) -> Cluster {
    let cluster = Cluster::start().await;
    let mut web = deployment("web", 4);
    let replicas = writes.last().map_or(4, |(_, replicas)| *replicas);
    web["status"] = json!({
        "observedGeneration": 1 + writes.len(), "replicas": replicas, "updatedReplicas": replicas,
        "readyReplicas": replicas, "availableReplicas": replicas,
        "conditions": [
            {"type": "Available", "status": "True"},
            {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"},
        ],
    });
    cluster.put(web);
    let target = Target::new("deployments.apps", "shop", "web");
    for (manager, replicas) in writes {
        cluster.tick(1);
        let by = Writer::new(manager).on("scale");
        let patch = json!({"spec": {"replicas": replicas}});
        cluster.sandbox.patch(&target, &patch, &by).unwrap();
    }
    cluster
}

#[tokio::test(flavor = "multi_thread")]
async fn an_autoscaler_that_undoes_a_scale_is_named_with_what_it_undid() {
    let kcm = "kube-controller-manager";
    let undone = "changed by kube-controller-manager: replicas: 8 → 4; kubectl had written 8";
    for (writes, expect) in [
        (&[("kubectl", 8), (kcm, 4)][..], undone),
        (
            &[("kubectl", 6), (kcm, 4), ("kubectl", 8), (kcm, 4)],
            undone,
        ),
        (
            &[("kubectl", 8), (kcm, 5)],
            "changed by kube-controller-manager: replicas: 8 → 5; kubectl had written 8",
        ),
        (
            &[("kubectl", 2), (kcm, 3)],
            "changed by kube-controller-manager: replicas: 2 → 3; kubectl had written 2",
        ),
        (&[("kubectl", 5), (kcm, 8)], "none"),
        (&[(kcm, 8), (kcm, 4)], "none"),
        (&[("kubectl", 8), (kcm, 6), (kcm, 4)], "none"),
        (&[(kcm, 3), (kcm, 4)], "none"),
        (&[], "none"),
    ] {
        let cluster = scaled(writes).await;
        for verb in ["status", "trace"] {
            assert_eq!(changed(&cluster, verb), expect, "{verb} {writes:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_bounds_of_an_autoscaler_that_names_the_workload_are_shown() {
    let undone = "changed by kube-controller-manager: replicas: 8 → 4; kubectl had written 8";
    let bounded = format!("{undone} (horizontalpodautoscaler/of-web: min 2, max 4)");
    let by_default = format!("{undone} (horizontalpodautoscaler/of-web: min 1, max 4)");
    let target = |api: &str, kind: &str, name: &str| {
        let target = json!({"apiVersion": api, "kind": kind, "name": name});
        json!({"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 4})
    };
    let mut without_minimum = target("apps/v1", "Deployment", "web");
    without_minimum["minReplicas"] = json!(null);
    for (spec, expect) in [
        (target("apps/v1", "Deployment", "web"), &*bounded),
        // The version of an API may be any that the server knows.
        (target("apps/v1beta2", "Deployment", "web"), &*bounded),
        (without_minimum, &*by_default),
        (target("apps/v1", "Deployment", "api"), undone),
        (target("apps/v1", "StatefulSet", "web"), undone),
        (target("example.com/v1", "Deployment", "web"), undone),
        (json!({"maxReplicas": "no number"}), undone),
    ] {
        let cluster = scaled(&[("kubectl", 8), ("kube-controller-manager", 4)]).await;
        cluster.put(json!({
            "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "of-web", "namespace": "shop"}, "spec": spec.clone(),
        }));
        for verb in ["status", "trace"] {
            assert_eq!(changed(&cluster, verb), expect, "{verb} {spec}");
        }
    }
}
