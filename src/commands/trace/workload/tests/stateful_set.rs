//! Whole frames of `StatefulSets`.

use super::{READY, controller_revision, lines, owned_pod, waiting};
use crate::commands::trace::testing::Feed;

/// A `StatefulSet` `web` of this generation and image. `counts` are `updated/there/ready`.
fn set(generation: i64, image: &str, rest: &str, counts: &str) -> String {
    let counts: Vec<&str> = counts.split('/').collect();
    format!(
        "apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: web, uid: s1, generation: {generation}, creationTimestamp: '2026-05-04T11:00:00Z'}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template: {{spec: {{containers: [{{name: web, image: 'web:{image}'}}]}}}}
  {rest}
status: {{observedGeneration: {generation}, updatedReplicas: {}, replicas: {}, readyReplicas: {}, availableReplicas: {},
  currentReplicas: {}, currentRevision: web-v1, updateRevision: 'web-{image}'}}",
        counts[0], counts[1], counts[2], counts[2], counts[1]
    )
}

fn pod(ordinal: i64, image: &str, status: &str) -> String {
    let label = format!("controller-revision-hash: web-{image}");
    owned_pod("StatefulSet", &ordinal.to_string(), &label, status)
}

fn web() -> Feed {
    let mut feed = Feed::of("StatefulSet", "web");
    feed.put(&controller_revision("StatefulSet", 1, "v1"));
    feed
}

#[test]
fn a_rollout_in_the_order_of_the_pods() {
    let mut feed = web();
    feed.put(&set(2, "v2", "replicas: 3", "1/3/2"))
        .put(&controller_revision("StatefulSet", 2, "v2"))
        .put(&pod(0, "v1", READY))
        .put(&pod(1, "v1", READY))
        .put(&pod(
            2,
            "v2",
            &waiting("state: {waiting: {reason: ContainerCreating}}"),
        ));
    insta::assert_snapshot!(feed.frame(80), @"
    statefulset/web  -n shop  3 replicas  RollingUpdate                         0:00
    ~ rolling out: 1/3 updated, 2 available
    ✓ +0s     spec change   gen 2, 58m ago
        ~ .spec.template.spec.containers[name=web].image: web:v1 → web:v2
    ✓ +0s     revision      web-v2 #2, 1/3 pods
    ~ ...     scheduled     1/3 pods (node-1)
    · ...     images        0/3 pulled
    · ...     available     0/3 new, 2 old kept
    · ...     old pods      0/2 terminated
    · ...     complete
    ~ waits for pod/web-2, which is not ready
    REVISION                           READY   IMAGE / STATUS      AGE   NODE
    ├─~ controllerrevision/web-v2 #2   0/1     web:v2              58m
    │ └─~ pod/web-2                    0/1     ContainerCreating   60s   node-1
    └─● controllerrevision/web-v1 #1   2/2     web:v1              59m
      ├─● pod/web-0                    1/1     Running             60s   node-1
      └─● pod/web-1                    1/1     Running             60s   node-1
    └─ in front
      └─ no Service selects its pods
    ");
    assert_eq!(
        feed.sources(),
        [
            "statefulsets metadata.name=web",
            "pods app=web",
            "controllerrevisions app=web",
            "horizontalpodautoscalers all",
            "services all",
            "poddisruptionbudgets all",
            "networkpolicies all",
            "events type=Warning",
            "nodes metadata.name=node-1",
        ]
    );
}

/// Nobody saw when the rollout was complete the first time, or somebody did. Later another Pod is replaced.
#[test]
fn the_times_of_a_later_pod_are_not_those_of_the_rollout() {
    let phases = ["scheduled  ", "images  ", "available  ", "complete  "];
    let shown = |feed: &Feed| phases.map(|phase| lines(feed, phase)).join("\n");
    let done = |feed: &mut Feed| {
        feed.put(&pod(0, "v2", READY))
            .put(&set(2, "v2", "replicas: 1", "1/1/1"));
    };
    let mut unseen = web();
    unseen.put(&controller_revision("StatefulSet", 2, "v2"));
    done(&mut unseen);
    insta::assert_snapshot!(shown(&unseen), @"
    ✓ ≤58m    scheduled     1/1 pods (node-1)
    ✓ ≤58m    images        1/1 pulled
    ✓ ≤58m    available     1/1 new
    ✓         complete      1 replica
    ");
    let mut seen = web();
    seen.put(&controller_revision("StatefulSet", 2, "v2"))
        .put(&pod(0, "v1", READY))
        .put(&set(1, "v1", "replicas: 1", "1/1/1"));
    seen.after(2_000).put(&set(2, "v2", "replicas: 1", "0/1/1"));
    seen.after(1_000).delete("Pod", "web-0");
    done(seen.after(1_000));
    insta::assert_snapshot!(shown(&seen), @"
    ✓ +2.0s   scheduled     1/1 pods (node-1)
    ✓ +2.0s   images        1/1 pulled
    ✓ +2.0s   available     1/1 new
    ✓ +2.0s   complete      1 replica, 0s ago
    ");
    seen.after(60_000).delete("Pod", "web-0");
    seen.put(&set(2, "v2", "replicas: 1", "0/0/0"));
    // It is there, and not ready.
    seen.after(1_000)
        .put(&pod(0, "v2", &waiting("imageID: x, state: {running: {}}")));
    insta::assert_snapshot!(shown(&seen), @"
    ✓         scheduled     1/1 pods (node-1)
    ✓         images        1/1 pulled
    ~ ...     available     0/1 new
    ");
    done(seen.after(8_000));
    insta::assert_snapshot!(shown(&seen), @"
    ✓         scheduled     1/1 pods (node-1)
    ✓         images        1/1 pulled
    ✓         available     1/1 new
    ✓ +2.0s   complete      1 replica, 69s ago
    ");
}

#[test]
fn a_partition_keeps_the_other_pods() {
    let mut feed = web();
    let partition =
        "replicas: 3\n  updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 2}}";
    feed.put(&set(2, "v2", partition, "1/3/3"))
        .put(&controller_revision("StatefulSet", 2, "v2"))
        .put(&pod(0, "v1", READY))
        .put(&pod(1, "v1", READY))
        .put(&pod(2, "v2", READY));
    insta::assert_snapshot!(feed.frame(80), @"
    statefulset/web  -n shop  3 replicas  RollingUpdate, partition 2            0:00
    ● complete up to the partition: 1/1 updated, 3 available
    ✓ +0s     spec change   gen 2, 58m ago
        ~ .spec.template.spec.containers[name=web].image: web:v1 → web:v2
    ✓ +0s     revision      web-v2 #2, 1/1 pods
    ✓         scheduled     1/1 pods (node-1)
    ✓         images        1/1 pulled
    ✓         available     1/1 new, 2 old kept
    ✓         complete      1 of 3 replicas updated
    REVISION                           READY   IMAGE / STATUS   AGE   NODE
    ├─● controllerrevision/web-v2 #2   1/1     web:v2           58m
    │ └─● pod/web-2                    1/1     Running          60s   node-1
    └─● controllerrevision/web-v1 #1   2/2     web:v1           59m
      ├─● pod/web-0                    1/1     Running          60s   node-1
      └─● pod/web-1                    1/1     Running          60s   node-1
    └─ in front
      └─ no Service selects its pods
    ");
}

#[test]
fn a_partition_that_keeps_all_pods_leaves_nothing_to_update() {
    let partition = "replicas: 2\n  updateStrategy: {rollingUpdate: {partition: 4}}";
    let shown = |feed: &Feed| {
        ["complete", "revision  "]
            .map(|text| lines(feed, text))
            .join("\n")
    };
    let mut kept = web();
    kept.put(&set(2, "v2", partition, "0/2/2"))
        .put(&controller_revision("StatefulSet", 2, "v2"))
        .put(&pod(0, "v1", READY))
        .put(&pod(1, "v1", READY));
    insta::assert_snapshot!(shown(&kept), @"
    ● complete up to the partition: 0 updated, 2 available
    ✓         complete      0 of 2 replicas updated
    ✓ +0s     revision      web-v2 #2, 0 pods
    ");
    // The partition was lower before.
    kept.delete("Pod", "web-1").put(&pod(1, "v2", READY));
    kept.put(&set(2, "v2", partition, "1/2/2"));
    insta::assert_snapshot!(shown(&kept), @"
    ● complete up to the partition: 1 updated, 2 available
    ✓         complete      1 of 2 replicas updated
    ✓ +0s     revision      web-v2 #2, 1 pod
    ");
    let mut fresh = web();
    fresh
        .put(&set(1, "v1", partition, "2/2/2"))
        .put(&pod(0, "v1", READY))
        .put(&pod(1, "v1", READY));
    insta::assert_snapshot!(shown(&fresh), @"
    ● complete: 2/2 available
    ✓         complete      2 replicas
    ✓ +0s     revision      web-v1 #1, 2/2 pods
    ");
}

/// With the ordinals 5 to 7 and the partition 2, only the Pod 7 is replaced.
#[test]
fn a_partition_counts_from_the_first_ordinal() {
    let mut feed = web();
    let spec =
        "replicas: 3\n  ordinals: {start: 5}\n  updateStrategy: {rollingUpdate: {partition: 2}}";
    feed.put(&set(2, "v2", spec, "0/3/3"))
        .put(&controller_revision("StatefulSet", 2, "v2"));
    for ordinal in 5..8 {
        feed.put(&pod(ordinal, "v1", READY));
    }
    insta::assert_snapshot!(["updated", "terminated"].map(|text| lines(&feed, text)).join("\n"), @"
    ~ rolling out: 0/1 updated, 3 available
    · ...     old pods      0/1 terminated
    ");
}

#[test]
fn a_broken_pod_of_an_old_revision_blocks_the_rollout() {
    let mut feed = web();
    let crash = waiting("state: {waiting: {reason: CrashLoopBackOff}}");
    feed.put(&set(3, "v3", "replicas: 2", "0/2/1"))
        .put(&controller_revision("StatefulSet", 2, "v2"))
        .put(&controller_revision("StatefulSet", 3, "v3"))
        .put(&pod(0, "v1", READY))
        .put(&pod(1, "v2", &crash));
    insta::assert_snapshot!(feed.frame(120), @"
    statefulset/web  -n shop  2 replicas  RollingUpdate                                                                 0:00
    ✗ rolling out: 0/2 updated, 1 available, 1 failing
    ✓ +0s     spec change   gen 3, 57m ago
        ~ .spec.template.spec.containers[name=web].image: web:v2 → web:v3
    ✓ +0s     revision      web-v3 #3, 0/2 pods
    · ...     scheduled     0/2 pods
    · ...     images        0/2 pulled
    · ...     available     0/2 new, 1 old kept
    · ...     old pods      0/2 terminated
    · ...     complete
    ✗ rollout blocked by pod/web-1; to unblock it: kubectl delete pod web-1 -n shop
    REVISION                           READY   IMAGE / STATUS     AGE   NODE
    ├─● controllerrevision/web-v3 #3   0/0     web:v3             57m
    ├─✗ controllerrevision/web-v2 #2   0/1     web:v2             58m
    │ └─✗ pod/web-1                    0/1     CrashLoopBackOff   60s   node-1
    │     └ web: CrashLoopBackOff
    └─● controllerrevision/web-v1 #1   1/1     web:v1             59m
      └─● pod/web-0                    1/1     Running            60s   node-1
    └─ in front
      └─ no Service selects its pods
    ");
    let blocked = |feed: &Feed| lines(feed, "rollout blocked");
    assert_ne!(blocked(&feed), "");
    let parallel = "replicas: 2\n  podManagementPolicy: Parallel";
    feed.put(&set(4, "v3", parallel, "0/2/1"));
    assert_eq!(blocked(&feed), "", "other policies replace the pod");
    feed.put(&set(5, "v2", "replicas: 2", "1/2/1"));
    assert_eq!(blocked(&feed), "", "the pod has the newest revision");
}

#[test]
fn on_delete_waits_for_someone() {
    let mut feed = web();
    let on_delete = "replicas: 2\n  updateStrategy: {type: OnDelete}";
    feed.put(&set(2, "v2", on_delete, "0/2/2"))
        .put(&controller_revision("StatefulSet", 2, "v2"))
        .put(&pod(0, "v1", READY))
        .put(&pod(1, "v1", READY));
    insta::assert_snapshot!(feed.frame(80), @"
    statefulset/web  -n shop  2 replicas  OnDelete                              0:00
    ● waiting for someone to delete the old pods: 0/2 updated, 2 available
    ✓ +0s     spec change   gen 2, 58m ago
        ~ .spec.template.spec.containers[name=web].image: web:v1 → web:v2
    ✓ +0s     revision      web-v2 #2, 0/2 pods
    · ...     scheduled     0/2 pods
    · ...     images        0/2 pulled
    · ...     available     0/2 new, 2 old kept
    · ...     old pods      0/2 terminated
    · ...     complete
    ● 0/2 updated; delete the old pods to update them (OnDelete)
    REVISION                           READY   IMAGE / STATUS   AGE   NODE
    ├─● controllerrevision/web-v2 #2   0/0     web:v2           58m
    └─● controllerrevision/web-v1 #1   2/2     web:v1           59m
      ├─● pod/web-0                    1/1     Running          60s   node-1
      └─● pod/web-1                    1/1     Running          60s   node-1
    └─ in front
      └─ no Service selects its pods
    ");
}

/// There is only one revision, and the other Pods do not exist yet.
#[test]
fn on_delete_waits_for_nobody_while_the_first_pods_start() {
    let mut feed = web();
    let on_delete = "replicas: 3\n  updateStrategy: {type: OnDelete}";
    feed.put(&set(1, "v1", on_delete, "1/1/0")).put(&pod(
        0,
        "v1",
        &waiting("state: {waiting: {reason: ContainerCreating}}"),
    ));
    insta::assert_snapshot!(lines(&feed, "updated"), @"~ rolling out: 1/3 updated, 0 available");
    assert_eq!(lines(&feed, "OnDelete)"), "");
}

#[test]
fn a_rollback_is_named() {
    let mut feed = web();
    feed.put(&controller_revision("StatefulSet", 2, "v2"))
        .put(&controller_revision("StatefulSet", 1, "v1").replace("revision: 1", "revision: 3"))
        .put(&set(3, "v1", "replicas: 1", "1/1/1"))
        .put(&pod(0, "v1", READY));
    insta::assert_snapshot!(feed.frame(80), @"
    statefulset/web  -n shop  1 replica  RollingUpdate                          0:00
    ● complete: 1/1 available
    ✓         spec change   gen 3
        ~ .spec.template.spec.containers[name=web].image: web:v2 → web:v1
    ✓         revision      web-v1 #3, an earlier revision again, 1/1 pods
    ✓         scheduled     1/1 pods (node-1)
    ✓         images        1/1 pulled
    ✓         available     1/1 new
    ✓         complete      1 replica
    REVISION                           READY   IMAGE / STATUS   AGE   NODE
    ├─● controllerrevision/web-v1 #3   1/1     web:v1           59m
    │ └─● pod/web-0                    1/1     Running          60s   node-1
    └─ 1 idle revision (#2)
    └─ in front
      └─ no Service selects its pods
    ");
}
