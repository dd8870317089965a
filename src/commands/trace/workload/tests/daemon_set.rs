//! Whole frames of `DaemonSets`.

use super::{READY, controller_revision, lines, owned_pod};
use crate::commands::trace::testing::Feed;

/// A `DaemonSet` `web` of this generation and image. `counts` are `updated/wanted/available`.
fn set(generation: i64, image: &str, strategy: &str, counts: &str) -> String {
    let counts: Vec<&str> = counts.split('/').collect();
    format!(
        "apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: web, uid: s1, generation: {generation}, creationTimestamp: '2026-05-04T11:00:00Z',
  annotations: {{deprecated.daemonset.template.generation: '{generation}'}}}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template: {{spec: {{containers: [{{name: web, image: 'web:{image}'}}]}}}}
  updateStrategy: {strategy}
status: {{observedGeneration: {generation}, updatedNumberScheduled: {}, desiredNumberScheduled: {},
  currentNumberScheduled: {}, numberReady: {}, numberAvailable: {}, numberMisscheduled: 0}}",
        counts[0], counts[1], counts[1], counts[2], counts[2]
    )
}

fn pod(name: &str, generation: i64, status: &str) -> String {
    let labels =
        format!("controller-revision-hash: v{generation}, pod-template-generation: '{generation}'");
    owned_pod("DaemonSet", name, &labels, status)
}

const ROLLING: &str = "{type: RollingUpdate, rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}";

fn web(generation: i64, strategy: &str, counts: &str) -> Feed {
    let mut feed = Feed::of("DaemonSet", "web");
    feed.put(&set(
        generation,
        &format!("v{generation}"),
        strategy,
        counts,
    ))
    .put(&controller_revision("DaemonSet", 1, "v1"))
    .put(&controller_revision("DaemonSet", 2, "v2"));
    feed
}

#[test]
fn a_rollout_node_by_node() {
    let mut feed = web(2, ROLLING, "1/2/1");
    feed.put(&pod("a", 1, READY))
        .put(&pod("b", 2, "{phase: Pending}"));
    insta::assert_snapshot!(feed.frame(80), @"
    daemonset/web  -n shop  2 nodes  RollingUpdate, surge 0, unavailable 1      0:00
    ~ rolling out: 1/2 updated, 1 available
    ✓ +0s     spec change   gen 2, 58m ago
        ~ .spec.template.spec.containers[name=web].image: web:v1 → web:v2
    ✓         revision      web-v2 #2, 1/2 pods
    ~ ...     scheduled     1/2 pods (node-1)
    · ...     images        0/2 pulled
    · ...     available     0/2 new, 1 old kept
    · ...     old pods      0/1 terminated
    · ...     complete
    ~ no budget: 2 pods of at most 2, 1 available of at least 1
    REVISION                           READY   IMAGE / STATUS   AGE   NODE
    ├─~ controllerrevision/web-v2 #2   0/1     web:v2           58m
    │ └─~ pod/web-b                    0/1     Pending          60s   node-1
    └─● controllerrevision/web-v1 #1   1/1     web:v1           59m
      └─● pod/web-a                    1/1     Running          60s   node-1
    └─ in front
      └─ no Service selects its pods
    ");
}

#[test]
fn a_rollout_that_is_done() {
    let mut feed = web(2, ROLLING, "2/2/2");
    feed.put(&pod("a", 2, READY)).put(&pod("b", 2, READY));
    insta::assert_snapshot!(feed.frame(80), @"
    daemonset/web  -n shop  2 nodes  RollingUpdate, surge 0, unavailable 1      0:00
    ● complete: 2/2 available
    ✓ +0s     spec change   gen 2, 58m ago
        ~ .spec.template.spec.containers[name=web].image: web:v1 → web:v2
    ✓         revision      web-v2 #2, 2/2 pods
    ✓         scheduled     2/2 pods (node-1)
    ✓         images        2/2 pulled
    ✓         available     2/2 new
    ✓         complete      2 nodes
    REVISION                           READY   IMAGE / STATUS   AGE   NODE
    ├─● controllerrevision/web-v2 #2   2/2     web:v2           58m
    │ ├─● pod/web-a                    1/1     Running          60s   node-1
    │ └─● pod/web-b                    1/1     Running          60s   node-1
    └─ 1 idle revision (#1)
    └─ in front
      └─ no Service selects its pods
    ");
}

#[test]
fn a_set_that_suits_no_node_is_not_scaled() {
    let feed = web(2, ROLLING, "0/0/0");
    let frame = feed.frame(80);
    assert!(frame.contains("● runs on no node"), "{frame}");
}

#[test]
fn on_delete_waits_for_someone() {
    let mut feed = web(2, "{type: OnDelete}", "0/1/1");
    feed.put(&pod("a", 1, READY));
    insta::assert_snapshot!(feed.frame(80), @"
    daemonset/web  -n shop  1 node  OnDelete                                    0:00
    ● waiting for someone to delete the old pods: 0/1 updated, 1 available
    ✓ +0s     spec change   gen 2, 58m ago
        ~ .spec.template.spec.containers[name=web].image: web:v1 → web:v2
    ✓         revision      web-v2 #2, 0/1 pods
    · ...     scheduled     0/1 pods
    · ...     images        0/1 pulled
    · ...     available     0/1 new, 1 old kept
    · ...     old pods      0/1 terminated
    · ...     complete
    ● 0/1 updated; delete the old pods to update them (OnDelete)
    REVISION                           READY   IMAGE / STATUS   AGE   NODE
    ├─● controllerrevision/web-v2 #2   0/0     web:v2           58m
    └─● controllerrevision/web-v1 #1   1/1     web:v1           59m
      └─● pod/web-a                    1/1     Running          60s   node-1
    └─ in front
      └─ no Service selects its pods
    ");
}

#[test]
fn pods_on_nodes_that_must_not_have_one_are_counted() {
    let mut feed = web(2, ROLLING, "1/1/1");
    feed.put(
        &set(2, "v2", ROLLING, "1/1/1").replace("numberMisscheduled: 0", "numberMisscheduled: 2"),
    );
    insta::assert_snapshot!(lines(&feed, "numberMisscheduled"), @"~ 2 nodes run a pod but must not (numberMisscheduled)");
}
