//! Whole frames of workloads during their rollouts and runs.

mod cron_job;
mod daemon_set;
mod deployment;
mod job;
mod stateful_set;

use crate::commands::trace::testing::Feed;

/// The status of a ready pod.
const READY: &str = "{phase: Running, conditions: [
    {type: PodScheduled, status: 'True', lastTransitionTime: '2026-05-04T12:00:02Z'},
    {type: Ready, status: 'True', lastTransitionTime: '2026-05-04T12:00:04Z'}],
  containerStatuses: [{name: web, ready: true, imageID: x, state: {running: {startedAt: '2026-05-04T12:00:03Z'}}}]}";

/// The status of a pod whose only container is in this state.
fn waiting(state: &str) -> String {
    format!(
        "{{phase: Pending, conditions: [{{type: PodScheduled, status: 'True'}}],
  containerStatuses: [{{name: web, ready: false, restartCount: 5, {state}}}]}}"
    )
}

/// The lines of a frame that hold `text`.
fn lines(feed: &Feed, text: &str) -> String {
    let frame = feed.frame(100);
    let lines: Vec<&str> = frame.lines().filter(|line| line.contains(text)).collect();
    lines.join("\n")
}

/// The revision of a `StatefulSet` or `DaemonSet`, with the image of its template.
fn controller_revision(owner: &str, number: i64, image: &str) -> String {
    format!(
        "apiVersion: apps/v1
kind: ControllerRevision
metadata:
  name: web-{image}
  creationTimestamp: '2026-05-04T11:0{number}:00Z'
  labels: {{app: web, controller-revision-hash: '{image}'}}
  ownerReferences: [{{apiVersion: apps/v1, kind: {owner}, name: web, uid: s1, controller: true}}]
revision: {number}
data: {{spec: {{template: {{$patch: replace, spec: {{containers: [{{name: web, image: 'web:{image}'}}]}}}}}}}}"
    )
}

/// A pod that a `StatefulSet`, `DaemonSet` or Job owns. `labels` are in YAML.
fn owned_pod(owner: &str, name: &str, labels: &str, status: &str) -> String {
    format!(
        "apiVersion: v1
kind: Pod
metadata:
  name: web-{name}
  creationTimestamp: '2026-05-04T11:59:00Z'
  labels: {{app: web, {labels}}}
  ownerReferences: [{{apiVersion: apps/v1, kind: {owner}, name: web, uid: s1, controller: true}}]
spec: {{nodeName: node-1, containers: [{{name: web}}]}}
status: {status}"
    )
}
