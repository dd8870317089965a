//! Whole frames of Deployments during their rollouts.

use proptest::prelude::*;

use super::{READY, lines, waiting};
use crate::commands::trace::testing::Feed;

/// A Deployment `web` of this generation and image; `rest` is the rest of its spec, `status` its status,
/// both in YAML.
fn deployment(generation: i64, image: &str, rest: &str, status: &str) -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  uid: d1
  generation: {generation}
  creationTimestamp: '2026-05-01T12:00:00Z'
  annotations: {{deployment.kubernetes.io/revision: '{generation}'}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  progressDeadlineSeconds: 600
  template: {{spec: {{containers: [{{name: web, image: 'r.example/web:{image}'}}]}}}}
  {rest}
status: {status}"
    )
}

/// The `ReplicaSet` of a revision, with `counts` as `wanted/there/available`.
fn set(revision: i64, image: &str, counts: &str) -> String {
    let counts: Vec<&str> = counts.split('/').collect();
    format!(
        "apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: web-{revision}
  uid: r{revision}
  creationTimestamp: '2026-05-04T12:00:0{revision}Z'
  labels: {{app: web}}
  annotations: {{deployment.kubernetes.io/revision: '{revision}'}}
  ownerReferences: [{{apiVersion: apps/v1, kind: Deployment, name: web, uid: d1, controller: true}}]
spec:
  replicas: {}
  template: {{spec: {{containers: [{{name: web, image: 'r.example/web:{image}'}}]}}}}
status: {{replicas: {}, readyReplicas: {}, availableReplicas: {}}}",
        counts[0], counts[1], counts[2], counts[2]
    )
}

/// A pod of a revision, with this status in YAML.
fn pod(revision: i64, name: &str, status: &str) -> String {
    format!(
        "apiVersion: v1
kind: Pod
metadata:
  name: web-{revision}-{name}
  creationTimestamp: '2026-05-04T11:59:58Z'
  labels: {{app: web}}
  ownerReferences: [{{apiVersion: apps/v1, kind: ReplicaSet, name: web-{revision}, uid: r{revision}, controller: true}}]
spec: {{nodeName: node-1, containers: [{{name: web}}]}}
status: {status}"
    )
}

/// The status of a Deployment: `updated/there/available`, and its conditions.
fn status(observed: i64, counts: &str, conditions: &[&str]) -> String {
    let counts: Vec<&str> = counts.split('/').collect();
    let conditions: Vec<String> = conditions
        .iter()
        .map(|condition| {
            let mut parts = condition.splitn(4, ' ');
            let mut part = || parts.next().unwrap_or_default();
            format!(
                "{{type: {}, status: '{}', reason: {}, message: '{}',
    lastUpdateTime: '2026-05-04T12:00:00Z', lastTransitionTime: '2026-05-04T11:00:00Z'}}",
                part(),
                part(),
                part(),
                part()
            )
        })
        .collect();
    format!(
        "{{observedGeneration: {observed}, updatedReplicas: {}, replicas: {}, readyReplicas: {}, availableReplicas: {},
  conditions: [{}]}}",
        counts[0],
        counts[1],
        counts[2],
        counts[2],
        conditions.join(", ")
    )
}

const AVAILABLE: &str = "Available True MinimumReplicasAvailable";
const UNAVAILABLE: &str = "Available False MinimumReplicasUnavailable not enough";
const UPDATED: &str = "Progressing True ReplicaSetUpdated";
const DONE: &str = "Progressing True NewReplicaSetAvailable";

fn web() -> Feed {
    Feed::of("Deployment", "web")
}

#[test]
fn the_largest_counts_do_not_overflow() {
    let most = i64::MAX;
    let spec = format!(
        "replicas: {most}\n  strategy: {{rollingUpdate: {{maxSurge: {most}, maxUnavailable: -{most}}}}}"
    );
    let mut feed = Feed::of("Deployment", "web");
    let counts = format!("1/{most}/{most}");
    feed.put(&deployment(3, "3", &spec, &status(3, &counts, &[])));
    for revision in [1, 2, 3] {
        feed.put(&set(revision, "1", &format!("{most}/{most}/{most}")));
    }
    let phase = lines(&feed, "old pods");
    assert!(phase.contains(&format!("0/{most} terminated")), "{phase}");
}

#[test]
fn an_absent_deployment_is_waited_for() {
    let mut feed = web();
    feed.settle();
    insta::assert_snapshot!(feed.frame(80), @"
    deployment/web  -n shop                                                     0:00
    ∅ waiting for deployment/web to be created
    ");
    assert_eq!(feed.sources(), ["deployments metadata.name=web"]);
}

#[test]
fn a_change_that_the_controller_has_not_observed() {
    let mut feed = web();
    feed.put(&deployment(1, "v1", "replicas: 3", "{}"));
    insta::assert_snapshot!(feed.frame(80), @"
    deployment/web  -n shop  3 replicas  RollingUpdate                          0:00
    ~ not yet observed by the controller (generation 1, observed 0)
    ✓         spec change   gen 1: created
    ~ ...     observed      not yet by the controller (generation 1, observed 0)
    · ...     replicaset    to be created by the controller
    · ...     scheduled     0/3 pods
    · ...     images        0/3 pulled
    · ...     available     0/3 new
    · ...     complete
    └─ in front
      └─ no Service selects its pods
    ");
    assert_eq!(
        feed.sources(),
        [
            "deployments metadata.name=web",
            "replicasets app=web",
            "pods app=web",
            "horizontalpodautoscalers all",
            "services all",
            "poddisruptionbudgets all",
            "networkpolicies all",
            "events type=Warning"
        ]
    );
}

#[test]
fn a_rollout_that_has_just_started_shows_real_counts() {
    let mut feed = web();
    feed.put(&deployment(
        1,
        "v1",
        "replicas: 3",
        &status(1, "1/1/0", &[UNAVAILABLE, UPDATED]),
    ))
    .put(&set(1, "v1", "3/1/0"))
    .put(&pod(1, "a", "{}").replace("nodeName: node-1, ", ""));
    insta::assert_snapshot!(feed.frame(80), @"
    deployment/web  -n shop  3 replicas  RollingUpdate                          0:00
    ~ rolling out: 1/3 updated, 0 available                      10m to the deadline
    ✓ +0s     spec change   gen 1: created, 0s ago
    ✓ +0s     replicaset    web-1 #1, 1/3 pods
    · ...     scheduled     0/3 pods
    · ...     images        0/3 pulled
    · ...     available     0/3 new
    · ...     complete
    ~ Available=False MinimumReplicasUnavailable  60m
    ~ Progressing=True ReplicaSetUpdated  0s
    REVISION                  READY   IMAGE / STATUS   AGE
    └─~ replicaset/web-1 #1   0/3     web:v1           0s
      └─~ pod/web-1-a         0/1     InProgress       2s
    └─ in front
      └─ no Service selects its pods
    ");
}

#[test]
fn one_of_ten_is_not_done() {
    let mut feed = web();
    feed.put(&deployment(
        2,
        "v2",
        "replicas: 10",
        &status(2, "1/10/10", &[AVAILABLE, UPDATED]),
    ))
    .put(&set(1, "v1", "9/9/9"))
    .put(&set(2, "v2", "1/1/1"))
    .put(&pod(2, "a", READY));
    insta::assert_snapshot!(feed.frame(80), @"
    deployment/web  -n shop  10 replicas  RollingUpdate                         0:00
    ~ rolling out: 1/10 updated, 10 available                    10m to the deadline
    ✓ +0s     spec change   gen 2, 0s ago
        ~ …spec.containers[name=web].image: r.example/web:v1 → r.example/web:v2
    ✓ +0s     replicaset    web-2 #2, 1/10 pods
    ~ ...     scheduled     1/10 pods (node-1)
    ~ ...     images        1/10 pulled
    ~ ...     available     1/10 new, 9 old kept
    · ...     old pods      0/9 terminated
    · ...     complete
    ● Available=True MinimumReplicasAvailable  60m
    ~ Progressing=True ReplicaSetUpdated  0s
    REVISION                  READY   IMAGE / STATUS   AGE         NODE
    ├─~ replicaset/web-2 #2   1/1     web:v2           <invalid>
    │ └─● pod/web-2-a         1/1     Running          2s          node-1
    └─~ replicaset/web-1 #1   9/9     web:v1           0s
    └─ in front
      └─ no Service selects its pods
    ");
}

/// A Pod took the place of another one long after the rollout. When that one was ready is unknown.
#[test]
fn the_times_of_a_later_pod_are_not_those_of_the_rollout() {
    let status = status(1, "1/1/1", &[AVAILABLE, DONE]);
    let status = status.replace("12:00:00Z", "12:00:05Z");
    let shown = |ready: &str| {
        let mut feed = web();
        feed.put(&pod(1, "a", ready))
            .put(&set(1, "v1", "1/1/1"))
            .put(&deployment(1, "v1", "replicas: 1", &status));
        let phases = ["scheduled  ", "images  ", "available  ", "complete  "];
        phases.map(|phase| lines(&feed, phase)).join("\n")
    };
    insta::assert_snapshot!(shown(READY), @"
    ✓ +1s     scheduled     1/1 pods (node-1)
    ✓ +2s     images        1/1 pulled
    ✓ +3s     available     1/1 new
    ✓ +4s     complete      1 replica, 0s ago
    ");
    insta::assert_snapshot!(shown(&READY.replace("12:00:0", "12:03:4")), @"
    ✓         scheduled     1/1 pods (node-1)
    ✓         images        1/1 pulled
    ✓         available     1/1 new
    ✓ +4s     complete      1 replica, 0s ago
    ");
}

#[test]
fn a_rollout_that_is_done() {
    let mut feed = web();
    feed.put(&deployment(
        1,
        "v1",
        "replicas: 1",
        &status(1, "1/1/1", &[AVAILABLE, DONE]),
    ))
    .put(&set(1, "v1", "1/1/1"))
    .put(&pod(1, "a", READY));
    insta::assert_snapshot!(feed.frame(80), @"
    deployment/web  -n shop  1 replica  RollingUpdate                           0:00
    ● complete: 1/1 available
    ✓ +0s     spec change   gen 1: created, 0s ago
    ✓ +0s     replicaset    web-1 #1, 1/1 pods
    ✓ +1s     scheduled     1/1 pods (node-1)
    ✓ +2s     images        1/1 pulled
    ✓         available     1/1 new
    ✓         complete      1 replica, 0s ago
    ● Available=True MinimumReplicasAvailable  60m
    ● Progressing=True NewReplicaSetAvailable  0s
    REVISION                  READY   IMAGE / STATUS   AGE   NODE
    └─~ replicaset/web-1 #1   1/1     web:v1           0s
      └─● pod/web-1-a         1/1     Running          2s    node-1
    └─ in front
      └─ no Service selects its pods
    ");
}

#[test]
fn no_progress_within_the_deadline_while_the_old_pods_stay() {
    let mut feed = web();
    let failed = "Progressing False ProgressDeadlineExceeded ReplicaSet \"web-2\" has timed out progressing.";
    feed.put(&deployment(
        2,
        "v2",
        "replicas: 1",
        &status(2, "1/2/1", &[AVAILABLE, failed]),
    ))
    .put(&set(1, "v1", "1/1/1"))
    .put(&set(2, "v2", "1/1/0"))
    .put(&pod(1, "a", READY))
    .put(&pod(
        2,
        "b",
        &waiting("state: {waiting: {reason: ErrImagePull, message: not found}}"),
    ));
    insta::assert_snapshot!(feed.frame(80), @r#"
    deployment/web  -n shop  1 replica  RollingUpdate                           0:00
    ✗ the rollout has failed: 1/1 updated, 1 available, 1 failing
    ✓ +0s     spec change   gen 2, 0s ago
        ~ …spec.containers[name=web].image: r.example/web:v1 → r.example/web:v2
    ✓ +0s     replicaset    web-2 #2, 1/1 pods
    ✓         scheduled     1/1 pods (node-1)
    ✗         images        0/1 pulled; web-2-b ErrImagePull
    · ...     available     0/1 new, 1 old kept
    · ...     old pods      0/1 terminated
    ✗         complete      ProgressDeadlineExceeded
    ● Available=True MinimumReplicasAvailable  60m
    ✗ Progressing=False ProgressDeadlineExceeded  0s
      └ ReplicaSet "web-2" has timed out progressing.
    REVISION                  READY   IMAGE / STATUS   AGE         NODE
    ├─✗ replicaset/web-2 #2   0/1     web:v2           <invalid>
    │ └─✗ pod/web-2-b         0/1     ErrImagePull     2s          node-1
    │     └ web: not found
    └─~ replicaset/web-1 #1   1/1     web:v1           0s
      └─● pod/web-1-a         1/1     Running          2s          node-1
    └─ in front
      └─ no Service selects its pods
    "#);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of Pods")]
fn the_cause_of_a_delay_is_shown_at_its_phase() {
    let check = |status_of_pod: &str| {
        let mut feed = web();
        let mut pod = pod(1, "a", status_of_pod);
        if status_of_pod.contains("Unschedulable") {
            pod = pod.replace("nodeName: node-1, ", "");
        }
        feed.put(&deployment(
            1,
            "v1",
            "replicas: 1",
            &status(1, "1/1/0", &[UNAVAILABLE, UPDATED]),
        ))
        .put(&set(1, "v1", "1/1/0"))
        .put(&pod);
        feed.after(60_000);
        let frame = feed.frame(100);
        let is_shown = |line: &&str| line.starts_with('✗') || line.contains("└ ");
        frame
            .lines()
            .filter(is_shown)
            .collect::<Vec<_>>()
            .join("\n")
    };
    let crash = "lastState: {terminated: {exitCode: 137, reason: OOMKilled}},
        state: {waiting: {reason: CrashLoopBackOff, message: back-off 5m0s restarting failed container}}";
    let unschedulable = "{phase: Pending, conditions: [{type: PodScheduled, status: 'False',
        reason: Unschedulable, message: '0/3 nodes are available: 3 Insufficient cpu.'}]}";
    let init = "{phase: Pending, conditions: [{type: PodScheduled, status: 'True'}],
        initContainerStatuses: [{name: init, restartCount: 3, state: {waiting: {reason: CrashLoopBackOff}},
        lastState: {terminated: {exitCode: 1, reason: Error}}}],
        containerStatuses: [{name: web, ready: false, state: {waiting: {reason: PodInitializing}}}]}";
    let running_after_oom = "{phase: Running, conditions: [{type: Ready, status: 'False'}],
        containerStatuses: [{name: web, ready: false, restartCount: 5, imageID: x, state: {running: {}},
        lastState: {terminated: {exitCode: 137, reason: OOMKilled, finishedAt: '2026-05-04T12:00:50Z'}}}]}";
    let evicted = "{phase: Failed, reason: Evicted}";
    let cases = [
        check(&waiting(
            "state: {waiting: {reason: ErrImagePull, message: 'pull access denied for xxx'}}",
        )),
        check(&waiting(crash)),
        check(unschedulable),
        check(init),
        check(running_after_oom),
        check(evicted),
    ];
    insta::assert_snapshot!(cases.join("\n\n"), @"
    ✗ rolling out: 1/1 updated, 0 available, 1 failing                                9m to the deadline
    ✗         images        0/1 pulled; web-1-a ErrImagePull
          └ web: pull access denied for xxx (the pod has no imagePullSecrets)

    ✗ rolling out: 1/1 updated, 0 available, 1 failing                                9m to the deadline
    ✗         available     0/1 new; web-1-a CrashLoopBackOff
          └ web: OOMKilled, no memory limit, exit 137, 5 restarts

    ✗ rolling out: 1/1 updated, 0 available, 1 failing                                9m to the deadline
    ✗         scheduled     0/1 pods; web-1-a unschedulable
          └ 0/3 nodes are available: 3 Insufficient cpu.

    ✗ rolling out: 1/1 updated, 0 available, 1 failing                                9m to the deadline
    ✗         available     0/1 new; web-1-a Init:CrashLoopBackOff
          └ init (init): CrashLoopBackOff, exit 1, 3 restarts

    ✗         available     0/1 new; web-1-a Running
          └ web: OOMKilled, no memory limit, exit 137, 5 restarts; running, not ready

    ✗         available     0/1 new; web-1-a Evicted
          └ Evicted
    ");
}

#[test]
fn a_pod_that_has_ended_and_was_replaced_does_not_count() {
    let mut feed = web();
    feed.put(&deployment(
        1,
        "v1",
        "replicas: 1",
        &status(1, "1/1/1", &[AVAILABLE, DONE]),
    ))
    .put(&set(1, "v1", "1/1/1"))
    .put(&pod(1, "a", "{phase: Failed, reason: Evicted}"))
    .put(&pod(1, "b", READY));
    let phases = [lines(&feed, "scheduled"), lines(&feed, "pulled")];
    insta::assert_snapshot!(phases.join("\n"), @"
    ✓         scheduled     1/1 pods (node-1)
    ✓ +2s     images        1/1 pulled
    ");
}

#[test]
fn a_terminating_pod_does_not_count_as_ready() {
    let mut feed = web();
    feed.put(&deployment(1, "v1", "replicas: 1", &status(1, "1/1/1", &[AVAILABLE, DONE])))
        .put(&set(1, "v1", "1/1/1"))
        .put(&pod(1, "a", READY).replace(
            "uid: r1, controller: true}]",
            "uid: r1, controller: true}]\n  deletionTimestamp: '2026-05-04T12:00:30Z'\n  finalizers: [example.com/wait]",
        ))
        .put(&pod(1, "b", READY));
    insta::assert_snapshot!(lines(&feed, "─")+"\n"+&lines(&feed, "└ "), @"
    └─~ replicaset/web-1 #1   1/1     web:v1           0s
      ├─− pod/web-1-a         1/1     Terminating      2s    node-1
      └─● pod/web-1-b         1/1     Running          2s    node-1
    └─ in front
      └─ no Service selects its pods
      │   └ waiting for finalizers: example.com/wait
    ");
}

#[test]
fn every_revision_with_pods_is_shown_in_order() {
    let mut feed = web();
    feed.put(&deployment(
        4,
        "v4",
        "replicas: 3",
        &status(4, "0/3/3", &[AVAILABLE, UPDATED]),
    ))
    .put(&set(2, "v2", "2/2/2"))
    .put(&set(1, "v1", "1/1/1"))
    .put(&set(3, "v3", "0/0/0"))
    .put(&set(4, "v4", "1/0/0"))
    .put(&pod(2, "b", READY))
    .put(&pod(2, "a", READY))
    .put(&pod(1, "c", READY));
    insta::assert_snapshot!(feed.frame(80), @"
    deployment/web  -n shop  3 replicas  RollingUpdate                          0:00
    ~ rolling out: 0/3 updated, 3 available                      10m to the deadline
    ✓ +0s     spec change   gen 4, 0s ago
        ~ …spec.containers[name=web].image: r.example/web:v3 → r.example/web:v4
    ✓ +0s     replicaset    web-4 #4, 0/3 pods
    · ...     scheduled     0/3 pods
    · ...     images        0/3 pulled
    · ...     available     0/3 new, 3 old kept
    · ...     old pods      0/3 terminated
    · ...     complete
    ● Available=True MinimumReplicasAvailable  60m
    ~ Progressing=True ReplicaSetUpdated  0s
    REVISION                  READY   IMAGE / STATUS   AGE         NODE
    ├─~ replicaset/web-4 #4   0/1     web:v4           <invalid>
    ├─~ replicaset/web-2 #2   2/2     web:v2           <invalid>
    │ ├─● pod/web-2-a         1/1     Running          2s          node-1
    │ └─● pod/web-2-b         1/1     Running          2s          node-1
    ├─~ replicaset/web-1 #1   1/1     web:v1           0s
    │ └─● pod/web-1-c         1/1     Running          2s          node-1
    └─ 1 idle revision (#3)
    └─ in front
      └─ no Service selects its pods
    ");
}

#[test]
fn paused_is_not_failed() {
    let mut feed = web();
    let paused = "Progressing Unknown DeploymentPaused Deployment is paused";
    feed.put(&deployment(
        2,
        "v2",
        "replicas: 1\n  paused: true",
        &status(2, "0/1/1", &[AVAILABLE, paused]),
    ))
    .put(&set(1, "v1", "1/1/1"))
    .put(&pod(1, "a", READY));
    insta::assert_snapshot!(feed.frame(80), @"
    deployment/web  -n shop  1 replica  RollingUpdate                           0:00
    ~ paused: 0/1 updated, 1 available
    ✓         spec change   gen 2
        ~ …spec.containers[name=web].image: r.example/web:v1 → r.example/web:v2
    · ...     replicaset    to be created by the controller
    · ...     scheduled     0/1 pods
    · ...     images        0/1 pulled
    · ...     available     0/1 new, 1 old kept
    · ...     old pods      0/1 terminated
    · ...     complete      paused
    ● Available=True MinimumReplicasAvailable  60m
    ? Progressing=Unknown DeploymentPaused  0s
    REVISION                  READY   IMAGE / STATUS   AGE   NODE
    └─~ replicaset/web-1 #1   1/1     web:v1           0s
      └─● pod/web-1-a         1/1     Running          2s    node-1
    └─ in front
      └─ no Service selects its pods
    ");
    // It fits a screen of this size.
    let whole = feed.frame(80);
    let rows = whole.lines().count();
    assert_eq!(feed.frame_of(80, Some(rows)), whole);
    insta::assert_snapshot!(feed.frame_of(80, Some(rows - 2)), @"
    deployment/web  -n shop  1 replica  RollingUpdate                           0:00
    ~ paused: 0/1 updated, 1 available
    ✓         spec change   gen 2
        ~ …spec.containers[name=web].image: r.example/web:v1 → r.example/web:v2
    · ...     replicaset    to be created by the controller
    · ...     scheduled     0/1 pods
    · ...     images        0/1 pulled
    · ...     available     0/1 new, 1 old kept
    ? Progressing=Unknown DeploymentPaused  0s
    + 2 phases, 1 condition (use --once | less)
    REVISION                  READY   IMAGE / STATUS   AGE   NODE
    └─~ replicaset/web-1 #1   1/1     web:v1           0s
      └─● pod/web-1-a         1/1     Running          2s    node-1
    └─ in front
      └─ no Service selects its pods
    ");
}

#[test]
fn pods_that_may_not_be_created() {
    let mut feed = web();
    let quota = "ReplicaFailure True FailedCreate pods \"web-1-x\" is forbidden: exceeded quota: pods, used: pods=10";
    feed.put(&deployment(
        1,
        "v1",
        "replicas: 3",
        &status(1, "0/0/0", &[UNAVAILABLE, UPDATED, quota]),
    ))
    .put(&set(1, "v1", "3/0/0"));
    insta::assert_snapshot!(feed.frame(100), @r#"
    deployment/web  -n shop  3 replicas  RollingUpdate                                              0:00
    ✗ FailedCreate: 0/3 updated, 0 available                                         10m to the deadline
    ✓ +0s     spec change   gen 1: created, 0s ago
    ✗         replicaset    web-1 #1, 0/3 pods
    · ...     scheduled     0/3 pods
    · ...     images        0/3 pulled
    · ...     available     0/3 new
    · ...     complete
    ~ Available=False MinimumReplicasUnavailable  60m
    ~ Progressing=True ReplicaSetUpdated  0s
    ✗ ReplicaFailure=True FailedCreate  60m
      └ pods "web-1-x" is forbidden: exceeded quota: pods, used: pods=10
    REVISION                  READY   IMAGE / STATUS   AGE
    └─~ replicaset/web-1 #1   0/3     web:v1           0s
    └─ in front
      └─ no Service selects its pods
    "#);
}

#[test]
fn scaled_to_0_is_shown() {
    let mut feed = web();
    feed.put(&deployment(
        1,
        "v1",
        "replicas: 0",
        &status(1, "0/0/0", &[AVAILABLE, DONE]),
    ))
    .put(&set(1, "v1", "0/0/0"));
    insta::assert_snapshot!(feed.frame(80), @"
    deployment/web  -n shop  0 replicas  RollingUpdate                          0:00
    ● scaled to 0
    ✓ +0s     spec change   gen 1: created, 0s ago
    ✓ +0s     replicaset    web-1 #1, 0/0 pods
    ✓         complete      0 replicas, 0s ago
    ● Available=True MinimumReplicasAvailable  60m
    ● Progressing=True NewReplicaSetAvailable  0s
    REVISION                  READY   IMAGE / STATUS   AGE
    └─● replicaset/web-1 #1   0/0     web:v1           0s
    └─ in front
      └─ no Service selects its pods
    ");
}

#[test]
fn a_replica_set_with_another_owner_uid_does_not_count() {
    let mut feed = web();
    feed.put(&deployment(
        1,
        "v1",
        "replicas: 1",
        &status(1, "0/0/0", &[UNAVAILABLE]),
    ))
    .put(&set(1, "v1", "1/1/1").replace("uid: d1", "uid: other"));
    insta::assert_snapshot!(lines(&feed, "replicaset"), @"· ...     replicaset    to be created by the controller");
}

#[test]
fn a_rollback_names_the_revision_it_goes_back_to() {
    let mut feed = web();
    feed.put(&deployment(
        3,
        "v1",
        "replicas: 1",
        &status(3, "1/1/1", &[AVAILABLE, UPDATED]),
    ))
    .put(&set(2, "v2", "1/1/1"))
    .put(&set(3, "v1", "1/1/0").replace(
        "annotations: {",
        "annotations: {deployment.kubernetes.io/revision-history: '1', ",
    ));
    insta::assert_snapshot!(lines(&feed, "web-3"), @"
    ✓         replicaset    web-3 #3, revision 1 again, 1/1 pods
    ├─~ replicaset/web-3 #3   0/1     web:v1           <invalid>
    ");
}

#[test]
fn a_deleted_deployment_and_its_dependents() {
    let mut feed = web();
    feed.put(&deployment(
        1,
        "v1",
        "replicas: 1",
        &status(1, "1/1/1", &[AVAILABLE, DONE]),
    ))
    .put(&set(1, "v1", "1/1/1"))
    .put(&pod(1, "a", READY))
    .delete("Deployment", "web");
    insta::assert_snapshot!(feed.frame(80), @"
    deployment/web  -n shop                                                     0:00
    ∅ deleted; 2 dependents still exist
    REVISION                  READY   IMAGE / STATUS   AGE   NODE
    └─~ replicaset/web-1 #1   1/1     web:v1           0s
      └─● pod/web-1-a         1/1     Running          2s    node-1
    ");
    feed.put(&deployment(1, "v2", "replicas: 1", "{}").replace("uid: d1", "uid: d2"));
    insta::assert_snapshot!(feed.frame(80), @"
    deployment/web  -n shop  1 replica  RollingUpdate                           0:00
    ~ not yet observed by the controller (generation 1, observed 0)
    ✓         spec change   gen 1: created
    ~ ...     observed      not yet by the controller (generation 1, observed 0)
    · ...     replicaset    to be created by the controller
    · ...     scheduled     0/1 pods
    · ...     images        0/1 pulled
    · ...     available     0/1 new
    · ...     complete
    └─ in front
      └─ no Service selects its pods
    ");
}

#[test]
fn a_relabelled_pod_is_named() {
    let mut feed = web();
    feed.put(&deployment(
        1,
        "v1",
        "replicas: 1",
        &status(1, "1/1/1", &[AVAILABLE, DONE]),
    ))
    .put(&set(1, "v1", "1/1/1"))
    .put(&pod(1, "a", READY));
    let printed = feed.transitions();
    assert!(printed.contains("complete: 1/1 available"), "{printed}");
    feed.put(&pod(1, "a", READY).replace("app: web", "app: debug"));
    insta::assert_snapshot!(feed.transitions(), @"
    2026-05-04T12:00:00Z deployment/web scheduled waiting: 0/1 pods
    2026-05-04T12:00:00Z deployment/web images waiting: 0/1 pulled
    2026-05-04T12:00:00Z pod/web-1-a no longer matches the selector of deployment/web
    ");
    insta::assert_snapshot!(lines(&feed, "web-1"), @"
    ✓ +0s     replicaset    web-1 #1, 1/1 pods
    ├─~ replicaset/web-1 #1   1/1     web:v1           0s
    └─ left: pod/web-1-a no longer matches the selector
    ");
    assert_eq!(feed.transitions(), "", "it is printed once");
    let orphan = pod(1, "b", READY).replace("ownerReferences", "finalizers: []\n  x");
    feed.put(&orphan);
    insta::assert_snapshot!(lines(&feed, "orphaned"), @"├─ orphaned: pod/web-1-b matches the selector but has no owner");
}

#[test]
fn a_change_lists_the_changed_fields() {
    let mut feed = web();
    let before = deployment(
        1,
        "v1",
        "replicas: 3",
        &status(1, "3/3/3", &[AVAILABLE, DONE]),
    );
    feed.put(&before).put(&set(1, "v1", "3/3/3"));
    let mut check = |generation: i64, from: &str, to: &str| {
        let generation = format!("generation: {generation}");
        feed.put(&before);
        feed.put(
            &before
                .replace("generation: 1", &generation)
                .replace(from, to),
        );
        let frame = feed.frame(100);
        let is_of_change = |line: &&str| line.contains("spec change") || line.starts_with("    ");
        let lines: Vec<&str> = frame.lines().filter(is_of_change).collect();
        lines.join("\n")
    };
    let changes = [
        check(2, "web:v1", "web:v2"),
        check(3, "replicas: 3\nstatus", "replicas: 5\nstatus"),
        check(
            4,
            "replicas: 3\nstatus",
            "replicas: 3\n  paused: true\nstatus",
        ),
        check(
            5,
            "template: {",
            "template: {metadata: {annotations: {kubectl.kubernetes.io/restartedAt: now}}, ",
        ),
        check(
            6,
            "name: web, image",
            "name: web, tty: true, stdin: true, workingDir: /x, command: [a], image",
        ),
    ];
    insta::assert_snapshot!(changes.join("\n"), @"
    ✓ +0.0s   spec change   gen 2, 0s ago
        ~ .spec.template.spec.containers[name=web].image: r.example/web:v1 → r.example/web:v2
    ✓ +0.0s   spec change   gen 3, 0s ago
        ~ .spec.replicas: 3 → 5
    ✓ +0.0s   spec change   gen 4, 0s ago
        + .spec.paused: true
    ✓ +0.0s   spec change   gen 5: restart, 0s ago
        + .spec.template.metadata: {annotations: {kubectl.kubernetes.io/restartedAt: now}}
    ✓ +0.0s   spec change   gen 6, 0s ago
        ~ .spec.template.spec.containers[name=web]
            + command: [a]
            + stdin: true
            + tty: true
            + workingDir: /x
    ");
}

#[test]
fn a_frame_fits_its_room_and_counts_the_rest() {
    let mut feed = web();
    feed.put(&deployment(
        1,
        "v1",
        "replicas: 8",
        &status(1, "8/8/7", &[AVAILABLE, UPDATED]),
    ))
    .put(&set(1, "v1", "8/8/7"));
    for name in ["a", "b", "c", "d", "e", "f", "g"] {
        feed.put(&pod(1, name, READY));
    }
    let message = "a very long message ".repeat(20);
    feed.put(&pod(
        1,
        "h",
        &waiting(&format!(
            "state: {{waiting: {{reason: ErrImagePull, message: '{message}'}}}}"
        )),
    ));
    insta::assert_snapshot!(feed.frame_of(70, Some(17)), @"
    deployment/web  -n shop  8 replicas  RollingUpdate                0:00
    ✗ rolling out: 8/8 updated, 7 available, 1 failing
    ✓ +0s     spec change   gen 1: created, 0s ago
    ✓ +0s     replicaset    web-1 #1, 8/8 pods
    ✓ +1s     scheduled     8/8 pods (node-1)
    ✗         images        7/8 pulled; web-1-h ErrImagePull
    ~ ...     available     7/8 new
    + 1 phase, 2 conditions (use --once | less)
    REVISION                  READY   IMAGE / STATUS   AGE   NODE
    └─✗ replicaset/web-1 #1   7/8     web:v1           0s
      └─✗ pod/web-1-h         0/1     ErrImagePull     2s    node-1
          └ web: a very long message a very long message a very long
            message a very long message a very long message a very long
            message a very long message a very long message a very long m…
    + 7 healthy (use --once | less)
    └─ in front
      └─ no Service selects its pods
    ");
    for rows in 12..30 {
        assert!(feed.frame_of(70, Some(rows)).lines().count() <= rows);
    }
}

#[test]
fn cluster_text_cannot_move_the_cursor() {
    let mut feed = web();
    let evil = "ReplicaFailure True FailedCreate evil".to_owned();
    let deployment = deployment(
        1,
        "v1",
        "replicas: 1",
        &status(1, "1/1/0", &[UNAVAILABLE, &evil]),
    );
    feed.put(&deployment.replace("'evil'", "\"a\\e[2Jb\""))
        .put(&set(1, "v1", "1/1/0").replace("'r.example/web:v1'", "\"web:\\e[2J\""))
        .put(&pod(
            1,
            "a",
            &waiting("state: {waiting: {reason: ErrImagePull, message: \"x\\e[2Jy\"}}"),
        ));
    let text = format!("{}{}", feed.frame(120), feed.transitions());
    assert!(!text.contains('\u{1b}'), "{text}");
    assert!(
        text.contains("a^[[2Jb") && text.contains("x^[[2Jy") && text.contains("web:^[[2J"),
        "{text}"
    );
}

/// The API server records neither a manager nor a time for a write that only removes fields.
#[test]
fn a_removal_has_the_time_of_its_revision_and_the_former_owner() {
    let limits = "image: 'r.example/web:v1', resources: {limits: {memory: 1Gi}}";
    let first = set(1, "v1", "0/0/0").replace("image: 'r.example/web:v1'", limits);
    let web = deployment(2, "v1", "replicas: 1", &status(2, "1/1/1", &[DONE]));
    let written = |operation: &str, time: &str| {
        let fields = "{'f:spec': {'f:template': {'f:spec': {}}}}";
        format!(
            "metadata:
  managedFields: [{{manager: argocd, operation: {operation}, time: '{time}', fieldsV1: {fields}}}]"
        )
    };
    for (operation, time, change) in [
        (
            "Update",
            "2026-05-04T11:00:00Z",
            "gen 2 (was argocd's), 0s ago",
        ),
        (
            "Apply",
            "2026-05-04T11:00:00Z",
            "gen 2 (was argocd's), 0s ago",
        ),
        ("Apply", "2026-05-04T12:00:01Z", "gen 2 by argocd, 0s ago"),
    ] {
        let mut feed = self::web();
        feed.put(&web.replacen("metadata:", &written(operation, time), 1))
            .put(&first)
            .put(&set(2, "v1", "1/1/1"))
            .put(&pod(2, "a", READY));
        let found = lines(&feed, "spec change");
        assert_eq!(
            found,
            format!("✓ +0s     spec change   {change}"),
            "{operation} {time}"
        );
        let set = lines(&feed, "replicaset  ");
        assert!(
            set.starts_with("✓ +0s ") || set.starts_with("✓ +1s "),
            "{set}"
        );
    }
}

#[test]
fn the_story_of_a_rollout_that_fails() {
    insta::assert_snapshot!(Feed::story("Deployment", 1000).frame(80), @"
    deployment/web  -n shop  3 replicas  RollingUpdate, surge 1, unavailable 0  0:01
    ● complete: 3/3 available
    ✓ +0s     spec change   gen 1 by kubectl-client-side-apply: created, 41d ago
    ✓ +0s     replicaset    web-7f45f79f9d #1, 3/3 pods
    ✓ +0s     scheduled     3/3 pods (worker-1, worker-2, worker-3)
    ✓ +1s     images        3/3 pulled
    ✓ +3s     available     3/3 new
    ✓ +4s     complete      3 replicas, 40d ago
    ● Available=True MinimumReplicasAvailable  40d
    ● Progressing=True NewReplicaSetAvailable  40d
    REVISION                           READY   IMAGE / STATUS   AGE   NODE
    └─● replicaset/web-7f45f79f9d #1   3/3     web:v2.3.9       41d
      ├─● pod/web-7f45f79f9d-268rp     1/1     Running          41d   worker-1
      ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running          41d   worker-2
      └─● pod/web-7f45f79f9d-pkjqf     1/1     Running          41d   worker-3
    CONNECTED           RELATION   STATE     AGE
    └─ in front
      └─● service/web   selects    Current   41d
    looked through 1 service
    ");
    insta::assert_snapshot!(Feed::story("Deployment", 12_000).frame(80), @r#"
    deployment/web  -n shop  3 replicas  RollingUpdate, surge 1, unavailable 0  0:12
    ✗ rolling out: 1/3 updated, 3 available, 1 failing         9m50s to the deadline
    ✓ +0.0s   spec change   gen 2 by kubectl-set, 10s ago
        ~ …ntainers[name=web].image: …e.com/shop/web:v2.3.9 → …m/shop/web:v2.4.1-rc1
    ✓ +0.1s   replicaset    web-5cc54d4d56 #2, 1/3 pods
    ~ ...     scheduled     1/3 pods (worker-1)
    ✗ +1.2s   images        0/3 pulled; web-5cc54d4d56-dcqxn ImagePullBackOff
    · ...     available     0/3 new, 3 old kept
    · ...     old pods      0/3 terminated
    · ...     complete
    ~ no budget: 4 pods of at most 4, 3 available of at least 3
    ● Available=True MinimumReplicasAvailable  41d
    ~ Progressing=True NewReplicaSetCreated  10s
    REVISION                           READY   IMAGE / STATUS     AGE   NODE
    ├─✗ replicaset/web-5cc54d4d56 #2   0/1     web:v2.4.1-rc1     10s
    │ └─✗ pod/web-5cc54d4d56-dcqxn     0/1     ImagePullBackOff   10s   worker-1
    │     └ web: Back-off pulling image "registry.example.com/shop/web:v2.4.1-rc1":
    │       ErrImagePull: rpc error: code = NotFound desc = failed to pull and
    │       unpack image "registry.example.com/shop/web:v2.4.1-rc1": failed to reso…
    └─● replicaset/web-7f45f79f9d #1   3/3     web:v2.3.9         41d
      ├─● pod/web-7f45f79f9d-268rp     1/1     Running            41d   worker-1
      ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running            41d   worker-2
      └─● pod/web-7f45f79f9d-pkjqf     1/1     Running            41d   worker-3
    CONNECTED           RELATION   STATE        AGE
    └─ in front
      └─~ service/web   selects    InProgress   41d
          └ degraded 3/4 ready: 1 ImagePullBackOff
    looked through 1 service
    "#);
}

/// Frames, lines and records show one state, and it is the one that `status` shows.
#[test]
fn the_state_in_the_headline_is_that_of_the_object() {
    let mut feed = Feed::story("Deployment", 12_000);
    assert_eq!(
        feed.frame(80)
            .lines()
            .nth(1)
            .and_then(|line| line.chars().next()),
        Some('✗')
    );
    assert!(
        feed.transitions()
            .contains("deployment/web Failed: rolling out")
    );
    let graph = feed.graph();
    let is_deployment = |node: &&crate::render::json::trace::NodeRecord| {
        node.object
            .as_ref()
            .is_some_and(|object| &*object.kind == "Deployment")
    };
    let node = graph.nodes.iter().find(is_deployment).expect("its node");
    assert_eq!(node.status, "Failed");
}

#[test]
fn the_story_of_a_rollout_that_is_fixed() {
    insta::assert_snapshot!(Feed::story("Deployment", 24_000).frame(120), @"
    deployment/web  -n shop  3 replicas  RollingUpdate, surge 1, unavailable 0                                          0:24
    ~ rolling out: 2/3 updated, 3 available                                                            9m58s to the deadline
    ✓ +0.0s   spec change   gen 3 by kubectl-client-side-apply, 6s ago
        ~ …spec.containers[name=web].image: registry.example.com/shop/web:v2.4.1-rc1 → registry.example.com/shop/web:v2.4.1
    ✓ +0.1s   replicaset    web-589f5c6bfc #3, 2/3 pods
    ~ ...     scheduled     2/3 pods (worker-2, worker-3)
    ~ ...     images        2/3 pulled
    ~ ...     available     1/3 new, 2 old kept
    ~ ...     old pods      2/4 terminated
    · ...     complete
    ~ no budget: 4 pods of at most 4, 3 available of at least 3
    ● Available=True MinimumReplicasAvailable  41d
    ~ Progressing=True ReplicaSetUpdated  2s
    REVISION                           READY   IMAGE / STATUS   AGE   NODE
    ├─~ replicaset/web-589f5c6bfc #3   1/2     web:v2.4.1       6s
    │ ├─~ pod/web-589f5c6bfc-r2f9t     0/1     Running          2s    worker-3
    │ │   └ web: running, its readiness probe does not succeed (GET :http/readyz every 2s)
    │ └─● pod/web-589f5c6bfc-tvgkq     1/1     Running          6s    worker-2
    ├─● replicaset/web-7f45f79f9d #1   2/2     web:v2.3.9       41d
    │ ├─● pod/web-7f45f79f9d-268rp     1/1     Running          41d   worker-1
    │ └─● pod/web-7f45f79f9d-dxq6g     1/1     Running          41d   worker-2
    └─ 1 idle revision (#2)
    CONNECTED           RELATION   STATE        AGE
    └─ in front
      └─~ service/web   selects    InProgress   41d
          └ degraded 3/4 ready
    looked through 1 service
    ");
    insta::assert_snapshot!(Feed::story("Deployment", 60_000).frame(80), @"
    deployment/web  -n shop  3 replicas  RollingUpdate, surge 1, unavailable 0  1:00
    ● complete: 3/3 available
    ✓ +0.0s   spec change   gen 3 by kubectl-client-side-apply, 42s ago
        ~ …ntainers[name=web].image: …m/shop/web:v2.4.1-rc1 → registr…(+22 B):v2.4.1
    ✓ +0.1s   replicaset    web-589f5c6bfc #3, 3/3 pods
    ✓ +8.3s   scheduled     3/3 pods (worker-1, worker-2, worker-3)
    ✓ +10s    images        3/3 pulled
    ✓ +12s    available     3/3 new
    ✓ +13s    old pods      4/4 terminated
    ✓ +12s    complete      3 replicas, 30s ago
    ● Available=True MinimumReplicasAvailable  41d
    ● Progressing=True NewReplicaSetAvailable  30s
    REVISION                           READY   IMAGE / STATUS   AGE   NODE
    ├─● replicaset/web-589f5c6bfc #3   3/3     web:v2.4.1       42s
    │ ├─● pod/web-589f5c6bfc-r2f9t     1/1     Running          38s   worker-3
    │ ├─● pod/web-589f5c6bfc-tvgkq     1/1     Running          42s   worker-2
    │ └─● pod/web-589f5c6bfc-tw9qz     1/1     Running          34s   worker-1
    └─ 2 idle revisions (#1 to #2)
    CONNECTED           RELATION   STATE     AGE
    └─ in front
      └─● service/web   selects    Current   41d
    looked through 1 service
    ");
}

#[test]
fn the_story_in_lines() {
    let mut feed = Feed::story("Deployment", 1000);
    insta::assert_snapshot!(feed.transitions(), @"
    2026-05-04T12:00:01Z deployment/web spec change: gen 1 by kubectl-client-side-apply: created
    2026-05-04T12:00:01Z deployment/web replicaset done: web-7f45f79f9d #1, 3/3 pods
    2026-05-04T12:00:01Z deployment/web scheduled done: 3/3 pods (worker-1, worker-2, worker-3)
    2026-05-04T12:00:01Z deployment/web images done: 3/3 pulled
    2026-05-04T12:00:01Z deployment/web available done: 3/3 new
    2026-05-04T12:00:01Z deployment/web complete done: 3 replicas
    2026-05-04T12:00:01Z deployment/web Current: complete: 3/3 available
    ");
    let mut feed = Feed::story("Deployment", 12_000);
    insta::assert_snapshot!(feed.transitions(), @r#"
    2026-05-04T12:00:12Z deployment/web spec change: gen 2 by kubectl-set: ~ .spec.template.spec.containers[name=web].image: registry.example.com/shop/web:v2.3.9 -> registry.example.com/shop/web:v2.4.1-rc1
    2026-05-04T12:00:12Z deployment/web replicaset done: web-5cc54d4d56 #2, 1/3 pods
    2026-05-04T12:00:12Z deployment/web scheduled underway: 1/3 pods (worker-1)
    2026-05-04T12:00:12Z deployment/web images failed: 0/3 pulled; web-5cc54d4d56-dcqxn ImagePullBackOff: web: Back-off pulling image "registry.example.com/shop/web:v2.4.1-rc1": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "registry.example.com/shop/web:v2.4.1-rc1": failed to resolve reference "registry.example.com/shop/web:v2.4.1-rc1": registry.example.com/shop/web:v2.4.1-rc1: not found
    2026-05-04T12:00:12Z deployment/web Failed: rolling out: 1/3 updated, 3 available, 1 failing
    "#);
}

/// D11 of the first comparison: a killed pod and its replacement.
#[test]
fn a_killed_pod_leaves_after_its_replacement_is_there() {
    let mut feed = web();
    let done = status(1, "1/1/1", &[AVAILABLE, DONE]);
    feed.put(&deployment(1, "v1", "replicas: 1", &done))
        .put(&set(1, "v1", "1/1/1"))
        .put(&pod(1, "a", READY));
    let killed = "{phase: Running, conditions: [{type: Ready, status: 'False', reason: ContainersNotReady}],
  containerStatuses: [{name: web, ready: false, imageID: x, state: {terminated: {exitCode: 0, reason: Completed}}}]}";
    let killed = pod(1, "a", killed).replace(
        "uid: r1, controller: true}]",
        "uid: r1, controller: true}]\n  deletionTimestamp: '2026-05-04T12:00:30Z'",
    );
    let unavailable = status(1, "1/1/0", &[UNAVAILABLE, DONE]);
    feed.put(&killed)
        .put(&deployment(1, "v1", "replicas: 1", &unavailable))
        .put(&set(1, "v1", "1/1/0"))
        .put(&pod(
            1,
            "b",
            &waiting("state: {waiting: {reason: ContainerCreating}}"),
        ));
    let both = feed.frame(80);
    feed.put(&pod(1, "b", READY))
        .put(&set(1, "v1", "1/1/1"))
        .put(&deployment(1, "v1", "replicas: 1", &done))
        .delete("Pod", "web-1-a");
    let after = lines(&feed, "web-1");
    insta::assert_snapshot!(format!("{both}\n\n{after}"), @"
    deployment/web  -n shop  1 replica  RollingUpdate                           0:00
    ~ rolled out, but 0/1 available
    ✓ +0s     spec change   gen 1: created, 0s ago
    ✓ +0s     replicaset    web-1 #1, 1/1 pods
    ✓         scheduled     1/1 pods (node-1)
    · ...     images        0/1 pulled
    · ...     available     0/1 new
    · ...     complete
    ~ Available=False MinimumReplicasUnavailable  60m
    ● Progressing=True NewReplicaSetAvailable  0s
    REVISION                  READY   IMAGE / STATUS      AGE   NODE
    └─~ replicaset/web-1 #1   0/1     web:v1              0s
      ├─− pod/web-1-a         0/1     Terminating         2s    node-1
      └─~ pod/web-1-b         0/1     ContainerCreating   2s    node-1
    └─ in front
      └─ no Service selects its pods

    ✓ +0s     replicaset    web-1 #1, 1/1 pods
    └─~ replicaset/web-1 #1   1/1     web:v1           0s
      └─● pod/web-1-b         1/1     Running          2s    node-1
    ");
}

#[test]
fn a_scale_in_the_middle_does_not_take_the_cause_away() {
    let mut feed = web();
    let done = status(1, "3/3/3", &[AVAILABLE, DONE]);
    feed.put(&deployment(1, "v1", "replicas: 3", &done))
        .put(&set(1, "v1", "3/3/3"));
    let underway = |generation| status(generation, "1/4/3", &[AVAILABLE, UPDATED]);
    feed.put(&deployment(2, "v2", "replicas: 3", &underway(2)))
        .put(&set(2, "v2", "1/1/0"))
        .put(&pod(
            2,
            "c",
            &waiting("state: {waiting: {reason: ErrImagePull, message: no}}"),
        ));
    feed.transitions();
    feed.after(12_000);
    feed.put(&deployment(3, "v2", "replicas: 5", &underway(3)));
    insta::assert_snapshot!(feed.frame(80), @r#"
    deployment/web  -n shop  5 replicas  RollingUpdate                          0:12
    ✗ rolling out: 1/5 updated, 3 available, 1 failing         9m48s to the deadline
    ✓ +0.0s   spec change   gen 2, 12s ago
        ~ …spec.containers[name=web].image: r.example/web:v1 → r.example/web:v2
    ✓ +12s    then changed  gen 3, 0s ago
        ~ .spec.replicas: 3 → 5
    ✓ +0.0s   replicaset    web-2 #2, 1/5 pods
    ~ ...     scheduled     1/5 pods (node-1)
    ✗ +0.0s   images        0/5 pulled; web-2-c ErrImagePull
    · ...     available     0/5 new, 3 old kept
    · ...     old pods      0/3 terminated
    · ...     complete
    ● Available=True MinimumReplicasAvailable  60m
    ~ Progressing=True ReplicaSetUpdated  12s
    REVISION                  READY   IMAGE / STATUS   AGE   NODE
    ├─✗ replicaset/web-2 #2   0/1     web:v2           10s
    │ └─✗ pod/web-2-c         0/1     ErrImagePull     14s   node-1
    │     └ web: ErrImagePull ""
    └─~ replicaset/web-1 #1   3/3     web:v1           11s
    └─ in front
      └─ no Service selects its pods
    "#);
    insta::assert_snapshot!(feed.transitions(), @r#"
    2026-05-04T12:00:12Z deployment/web then changed: gen 3: ~ .spec.replicas: 3 -> 5
    2026-05-04T12:00:12Z deployment/web observed done: generation 3
    2026-05-04T12:00:12Z deployment/web replicaset done: web-2 #2, 1/5 pods
    2026-05-04T12:00:12Z deployment/web scheduled underway: 1/5 pods (node-1)
    2026-05-04T12:00:12Z deployment/web images failed: 0/5 pulled; web-2-c ErrImagePull: web: ErrImagePull ""
    2026-05-04T12:00:12Z deployment/web available waiting: 0/5 new, 3 old kept
    "#);
    let phases = feed.graph().phases;
    assert_eq!(phases[1].text, "gen 3: ~ .spec.replicas: 3 -> 5");
    feed.put(&deployment(4, "v3", "replicas: 5", &underway(4)));
    insta::assert_snapshot!(lines(&feed, "gen "), @"✓ +0.0s   spec change   gen 4, 0s ago");
}

/// A scale of a Deployment whose rollout is done is the change that everything follows.
#[test]
fn a_scale_alone_is_a_change_of_its_own() {
    let mut feed = web();
    let done = |generation, count: &str| status(generation, count, &[AVAILABLE, DONE]);
    feed.put(&deployment(1, "v1", "replicas: 1", &done(1, "1/1/1")))
        .put(&set(1, "v1", "1/1/1"))
        .put(&pod(1, "a", READY))
        .put(&deployment(2, "v1", "replicas: 0", &done(2, "1/1/1")))
        .put(&set(1, "v1", "0/1/1"));
    let scaling = feed.frame(80);
    feed.put(&deployment(2, "v1", "replicas: 0", &done(2, "0/0/0")))
        .put(&set(1, "v1", "0/0/0"))
        .delete("Pod", "web-1-a");
    insta::assert_snapshot!(format!("{scaling}\n\n{}", feed.frame(80)), @"
    deployment/web  -n shop  0 replicas  RollingUpdate                          0:00
    ~ scaling to 0: 1 pod left
    ✓ +0.0s   spec change   gen 2, 0s ago
        ~ .spec.replicas: 1 → 0
    ✓ +0.0s   replicaset    web-1 #1, 1/0 pods
    · ...     complete
    ● Available=True MinimumReplicasAvailable  60m
    ● Progressing=True NewReplicaSetAvailable  0s
    REVISION                  READY   IMAGE / STATUS   AGE   NODE
    └─~ replicaset/web-1 #1   1/0     web:v1           0s
      └─● pod/web-1-a         1/1     Running          2s    node-1
    └─ in front
      └─ no Service selects its pods

    deployment/web  -n shop  0 replicas  RollingUpdate                          0:00
    ● scaled to 0
    ✓ +0.0s   spec change   gen 2, 0s ago
        ~ .spec.replicas: 1 → 0
    ✓ +0.0s   replicaset    web-1 #1, 0/0 pods
    ✓ +0.0s   complete      0 replicas, 0s ago
    ● Available=True MinimumReplicasAvailable  60m
    ● Progressing=True NewReplicaSetAvailable  0s
    REVISION                  READY   IMAGE / STATUS   AGE
    └─● replicaset/web-1 #1   0/0     web:v1           0s
    └─ in front
      └─ no Service selects its pods
    ");
}

/// The largest number means no deadline. Then the controller reports no progress either.
#[test]
fn without_a_deadline_the_counts_alone_decide() {
    let mut feed = web();
    let unlimited = |counts: &str, conditions: &[&str]| {
        let deployment = deployment(1, "v1", "replicas: 1", &status(1, counts, conditions));
        deployment.replace(
            "progressDeadlineSeconds: 600",
            "progressDeadlineSeconds: 2147483647",
        )
    };
    feed.put(&unlimited("1/1/0", &[UNAVAILABLE]))
        .put(&set(1, "v1", "1/1/0"));
    let underway = feed.frame(80);
    feed.put(&unlimited("1/1/1", &[AVAILABLE]))
        .put(&set(1, "v1", "1/1/1"))
        .put(&pod(1, "a", READY));
    let head = |frame: &str| frame.lines().nth(1).unwrap_or_default().to_owned();
    insta::assert_snapshot!(format!("{}\n{}", head(&underway), head(&feed.frame(80))), @"
    ~ rolling out: 1/1 updated, 0 available
    ● complete: 1/1 available
    ");
}

#[test]
fn blockers_have_their_numbers() {
    let mut feed = web();
    let quota = "ReplicaFailure True FailedCreate pods \"x\" is forbidden: exceeded quota: compute, \
                 requested: pods=1, used: pods=4, limited: pods=4";
    let strategy = "replicas: 4\n  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 0}}";
    feed.put(&deployment(
        2,
        "v2",
        strategy,
        &status(2, "1/5/4", &[AVAILABLE, UPDATED, quota]),
    ))
    .put(&set(1, "v1", "4/4/4"))
    .put(&set(2, "v2", "1/1/0"))
    .put(&pod(1, "a", READY))
    .put(
        "apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 4, selector: {matchLabels: {app: web}}}
status: {disruptionsAllowed: 0, currentHealthy: 4, desiredHealthy: 4, expectedPods: 5}",
    );
    insta::assert_snapshot!(feed.frame(120), @r#"
    deployment/web  -n shop  4 replicas  RollingUpdate, surge 1, unavailable 0                                          0:00
    ✗ FailedCreate: 1/4 updated, 4 available                                                             10m to the deadline
    ✓ +0s     spec change   gen 2, 0s ago
        ~ .spec.template.spec.containers[name=web].image: r.example/web:v1 → r.example/web:v2
    ✗         replicaset    web-2 #2, 1/4 pods
    · ...     scheduled     0/4 pods
    · ...     images        0/4 pulled
    · ...     available     0/4 new, 4 old kept
    · ...     old pods      0/4 terminated
    · ...     complete
    ~ no budget: 5 pods of at most 5, 4 available of at least 4
    ✗ exceeded quota compute: pods needs 1, 0 free (4 of 4 used)
    ● Available=True MinimumReplicasAvailable  60m
    ~ Progressing=True ReplicaSetUpdated  0s
    ✗ ReplicaFailure=True FailedCreate  60m
      └ pods "x" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=4, limited: pods=4
    REVISION                  READY   IMAGE / STATUS   AGE         NODE
    ├─~ replicaset/web-2 #2   0/1     web:v2           <invalid>
    └─~ replicaset/web-1 #1   4/4     web:v1           0s
      └─● pod/web-1-a         1/1     Running          2s          node-1
    └─ in front
      └─ no Service selects its pods
    looked through 1 poddisruptionbudget
    "#);
}

/// What a Pod names and what is not there fails the Deployment in `trace` as in `status`.
#[test]
fn an_object_that_a_pod_needs_is_read_when_the_pod_does_not_start() {
    let mut feed = web();
    let mounts = pod(
        1,
        "a",
        &waiting("state: {waiting: {reason: ContainerCreating}}"),
    )
    .replace(
        "spec: {nodeName: node-1,",
        "spec: {nodeName: node-1, volumes: [{name: v, secret: {secretName: absent}}],",
    );
    feed.put(&deployment(
        1,
        "v1",
        "replicas: 1",
        &status(1, "1/1/0", &[UNAVAILABLE, UPDATED]),
    ))
    .put(&set(1, "v1", "1/1/0"))
    .put(&mounts)
    .after(60_000)
    .settle();
    insta::assert_snapshot!(format!("{}\n{}", lines(&feed, "rolling out"), lines(&feed, "absent")), @"
    ✗ rolling out: 1/1 updated, 0 available, 1 failing                                9m to the deadline
          └ volume secret/absent does not exist
      └─∅ secret/absent   volume     does not exist
    ");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Events of different sources arrive in any order.
    #[test]
    fn the_order_of_objects_does_not_matter(
        order in Just((0..6).collect::<Vec<usize>>()).prop_shuffle()
    ) {
        let objects = [
            deployment(2, "v2", "replicas: 2", &status(2, "1/3/2", &[AVAILABLE, UPDATED])),
            set(1, "v1", "2/2/2"),
            set(2, "v2", "1/1/0"),
            pod(1, "a", READY),
            pod(1, "b", READY),
            pod(2, "c", &waiting("state: {waiting: {reason: ErrImagePull, message: no}}")),
        ];
        let frame = |order: &[usize]| {
            let mut feed = web();
            for at in order {
                feed.put(&objects[*at]);
            }
            // Only a live watch knows when a failure was first seen.
            let frame = feed.frame(120).replace("✗ +0s     images", "✗         images");
            (frame, feed.graph())
        };
        prop_assert_eq!(frame(&order), frame(&[0, 1, 2, 3, 4, 5]));
    }
}
