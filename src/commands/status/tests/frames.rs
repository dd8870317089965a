//! Whole frames.

use insta::assert_snapshot;

use super::super::transitions::Transitions;
use super::cluster::Played;
use super::*;
use crate::sandbox::scenario::rollout;

#[tokio::test]
async fn a_rollout_to_a_missing_image_shows_its_cause() {
    let story = Played::new(rollout()).await;
    let mut frames = Vec::new();
    story.at(
        state([one(DEPLOYMENTS, "web")]),
        &[1000, 8000],
        |cluster, time| {
            frames.push(frame(
                cluster,
                at(i64::try_from(time / 1000).expect("short")),
                (80, 24),
            ));
        },
    );
    assert_snapshot!(frames.join("\n\n"), @r#"
    deployment.apps/web  -n shop  ctx demo                rollout 3/3 updated  0:01
    NAME                               READY   STATUS    RESTARTS   AGE
    ● deployment/web                   3/3     Current   -          41d
    └─● replicaset/web-7f45f79f9d #1   3/3     Current   -          41d
      ├─● pod/web-7f45f79f9d-268rp     1/1     Running   0          41d
      ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running   0          41d
      └─● pod/web-7f45f79f9d-pkjqf     1/1     Running   0          41d
    ● live  5 objects  3 watches                                     Ctrl-C to exit

    deployment.apps/web  -n shop  ctx demo     rollout 1/3 updated, 1 failing  0:08
    NAME                               READY   STATUS             RESTARTS   AGE
    ✗ deployment/web                   3/3     Failed             -          41d
    │ └ 0 of 3 new pods ready: 1 ImagePullBackOff
    ├─✗ replicaset/web-5cc54d4d56 #2   0/1     Failed             -          6s
    │ └─✗ pod/web-5cc54d4d56-dcqxn     0/1     ImagePullBackOff   0          6s
    │     └ web: Back-off pulling image "registry.example.com/shop/web:v2.4.1-rc1":
    │       ErrImagePull: rpc error: code = NotFound desc = failed to pull and
    │       unpack image "registry.example.com/shop/web:v2.4.1-rc1": failed to res…
    └─● replicaset/web-7f45f79f9d #1   3/3     Current            -          41d
      │ └ old revision, 3 replicas are still to be removed
      ├─● pod/web-7f45f79f9d-268rp     1/1     Running            0          41d
      ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running            0          41d
      └─● pod/web-7f45f79f9d-pkjqf     1/1     Running            0          41d
    kubectl spy trace deployment/web shows its rollout
    ● live  7 objects  4 watches  last change 0s ago                 Ctrl-C to exit
    "#);
}

#[tokio::test]
async fn a_wider_terminal_shows_more_and_a_narrow_one_less() {
    let story = Played::new(rollout()).await;
    let mut frames = Vec::new();
    story.at(state([one(DEPLOYMENTS, "web")]), &[8000], |cluster, _| {
        frames.push(frame(cluster, at(9), (140, 24)));
        frames.push(frame(cluster, at(9), (120, 24)));
        frames.push(frame(cluster, at(9), (40, 24)));
    });
    assert_snapshot!(frames.join("\n\n"), @r#"
    deployment.apps/web  -n shop  ctx demo                                                                 rollout 1/3 updated, 1 failing  0:09
    NAME                               READY   STATUS             RESTARTS   AGE   NODE       IP            CHANGED
    ✗ deployment/web                   3/3     Failed             -          41d   -          -             1s ago
    │ └ 0 of 3 new pods ready: 1 ImagePullBackOff
    ├─✗ replicaset/web-5cc54d4d56 #2   0/1     Failed             -          7s    -          -             1s ago
    │ └─✗ pod/web-5cc54d4d56-dcqxn     0/1     ImagePullBackOff   0          7s    worker-1   10.244.0.14   1s ago
    │     └ web: Back-off pulling image "registry.example.com/shop/web:v2.4.1-rc1": ErrImagePull: rpc error: code = NotFound desc = failed to
    │       pull and unpack image "registry.example.com/shop/web:v2.4.1-rc1": failed to resolve reference
    │       "registry.example.com/shop/web:v2.4.1-rc1": registry.example.com/shop/web:v2.4.1-rc1: not found
    └─● replicaset/web-7f45f79f9d #1   3/3     Current            -          41d   -          -             1s ago
      │ └ old revision, 3 replicas are still to be removed
      ├─● pod/web-7f45f79f9d-268rp     1/1     Running            0          41d   worker-1   10.244.0.13   -
      ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running            0          41d   worker-2   10.244.1.13   -
      └─● pod/web-7f45f79f9d-pkjqf     1/1     Running            0          41d   worker-3   10.244.2.13   -
    kubectl spy trace deployment/web shows its rollout
    ● live  7 objects  4 watches  last change 1s ago                                                                             Ctrl-C to exit

    deployment.apps/web  -n shop  ctx demo                                             rollout 1/3 updated, 1 failing  0:09
    NAME                               READY   STATUS             RESTARTS   AGE   NODE       IP            CHANGED
    ✗ deployment/web                   3/3     Failed             -          41d   -          -             1s ago
    │ └ 0 of 3 new pods ready: 1 ImagePullBackOff
    ├─✗ replicaset/web-5cc54d4d56 #2   0/1     Failed             -          7s    -          -             1s ago
    │ └─✗ pod/web-5cc54d4d56-dcqxn     0/1     ImagePullBackOff   0          7s    worker-1   10.244.0.14   1s ago
    │     └ web: Back-off pulling image "registry.example.com/shop/web:v2.4.1-rc1": ErrImagePull: rpc error: code =
    │       NotFound desc = failed to pull and unpack image "registry.example.com/shop/web:v2.4.1-rc1": failed to resolve
    │       reference "registry.example.com/shop/web:v2.4.1-rc1": registry.example.com/shop/web:v2.4.1-rc1: not found
    └─● replicaset/web-7f45f79f9d #1   3/3     Current            -          41d   -          -             1s ago
      │ └ old revision, 3 replicas are still to be removed
      ├─● pod/web-7f45f79f9d-268rp     1/1     Running            0          41d   worker-1   10.244.0.13   -
      ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running            0          41d   worker-2   10.244.1.13   -
      └─● pod/web-7f45f79f9d-pkjqf     1/1     Running            0          41d   worker-3   10.244.2.13   -
    kubectl spy trace deployment/web shows its rollout
    ● live  7 objects  4 watches  last change 1s ago                                                         Ctrl-C to exit

    deploy…  rollout 1/3 updated, 1 failing
    NAME               READY   STATUS
    ✗ deployment/web   3/3     Failed
    │ └ 0 of 3 new pods ready: 1
    │   ImagePullBackOff
    ├─✗ repli…d56 #2   0/1     Failed
    │ └─✗ pod/…dcqxn   0/1     ImagePullBa…
    │     └ web: Back-off pulling image
    │       "registry.example.com/shop/web…
    │       ErrImagePull: rpc error: code …
    └─● repli…f9d #1   3/3     Current
      │ └ old revision, 3 replicas are
      │   still to be removed
      ├─● pod/…268rp   1/1     Running
      ├─● pod/…dxq6g   1/1     Running
      └─● pod/…pkjqf   1/1     Running
    kubectl spy trace deployment/web shows…
    ● live  7 objects  4 watches  last cha…
    "#);
}

#[tokio::test]
async fn off_a_terminal_no_cause_is_cut() {
    let story = Played::new(rollout()).await;
    let mut frames = Vec::new();
    story.at(state([one(DEPLOYMENTS, "web")]), &[8000], |cluster, _| {
        frames.push(whole(cluster, at(9)));
    });
    assert_snapshot!(frames.join("\n\n"), @r#"
    NAME                               READY   STATUS             RESTARTS   AGE   NODE       IP
    ✗ deployment/web                   3/3     Failed             -          41d   -          -
    │ └ 0 of 3 new pods ready: 1 ImagePullBackOff
    ├─✗ replicaset/web-5cc54d4d56 #2   0/1     Failed             -          7s    -          -
    │ └─✗ pod/web-5cc54d4d56-dcqxn     0/1     ImagePullBackOff   0          7s    worker-1   10.244.0.14
    │     └ web: Back-off pulling image "registry.example.com/shop/web:v2.4.1-rc1": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "registry.example.com/shop/web:v2.4.1-rc1": failed to resolve reference "registry.example.com/shop/web:v2.4.1-rc1": registry.example.com/shop/web:v2.4.1-rc1: not found
    └─● replicaset/web-7f45f79f9d #1   3/3     Current            -          41d   -          -
      │ └ old revision, 3 replicas are still to be removed
      ├─● pod/web-7f45f79f9d-268rp     1/1     Running            0          41d   worker-1   10.244.0.13
      ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running            0          41d   worker-2   10.244.1.13
      └─● pod/web-7f45f79f9d-pkjqf     1/1     Running            0          41d   worker-3   10.244.2.13
    "#);
}

#[tokio::test]
async fn deleted_objects_stay_for_a_moment_and_idle_sets_are_counted() {
    let story = Played::new(rollout()).await;
    let mut frames = Vec::new();
    story.at(
        state([one(DEPLOYMENTS, "web")]),
        &[19_000, 22_000, 60_000],
        |cluster, time| {
            frames.push(frame(
                cluster,
                at(i64::try_from(time / 1000).expect("short")),
                (80, 24),
            ));
        },
    );
    assert_snapshot!(frames.join("\n\n"), @"
    deployment.apps/web  -n shop  ctx demo                rollout 1/3 updated  0:19
    NAME                               READY   STATUS              RESTARTS   AGE
    ~ deployment/web                   3/3     InProgress          -          41d
    │ └ Updated: 1/3
    ├─~ replicaset/web-589f5c6bfc #3   0/1     InProgress          -          1s
    │ └─~ pod/web-589f5c6bfc-tvgkq     0/1     ContainerCreating   0          1s
    └─● replicaset/web-7f45f79f9d #1   3/3     Current             -          41d
      │ └ old revision, 3 replicas are still to be removed
      ├─● pod/web-7f45f79f9d-268rp     1/1     Running             0          41d
      ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running             0          41d
      └─● pod/web-7f45f79f9d-pkjqf     1/1     Running             0          41d
    + 1 idle replicaset (--show-idle)
    kubectl spy trace deployment/web shows its rollout
    ● live  8 objects  4 watches  last change 0s ago                 Ctrl-C to exit

    deployment.apps/web  -n shop  ctx demo                rollout 1/3 updated  0:22
    NAME                               READY   STATUS       RESTARTS   AGE
    ~ deployment/web                   3/3     InProgress   -          41d
    │ └ Updated: 1/3
    ├─~ replicaset/web-589f5c6bfc #3   0/1     InProgress   -          4s
    │ └─~ pod/web-589f5c6bfc-tvgkq     0/1     Running      0          4s
    │     └ web: running, its readiness probe does not succeed (GET :http/readyz
    │       every 2s)
    └─● replicaset/web-7f45f79f9d #1   3/3     Current      -          41d
      │ └ old revision, 3 replicas are still to be removed
      ├─● pod/web-7f45f79f9d-268rp     1/1     Running      0          41d
      ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running      0          41d
      └─● pod/web-7f45f79f9d-pkjqf     1/1     Running      0          41d
    + 1 idle replicaset (--show-idle)
    kubectl spy trace deployment/web shows its rollout
    ● live  8 objects  4 watches  last change 0s ago                 Ctrl-C to exit

    deployment.apps/web  -n shop  ctx demo                rollout 3/3 updated  1:00
    NAME                               READY   STATUS     RESTARTS   AGE
    ● deployment/web                   3/3     Current    -          41d
    ├─● replicaset/web-589f5c6bfc #3   3/3     Current    -          42s
    │ ├─● pod/web-589f5c6bfc-r2f9t     1/1     Running    0          38s
    │ ├─● pod/web-589f5c6bfc-tvgkq     1/1     Running    0          42s
    │ └─● pod/web-589f5c6bfc-tw9qz     1/1     Running    0          34s
    └─● replicaset/web-7f45f79f9d #1   0/0     Current    -          41d
      ├─∅ pod/web-7f45f79f9d-268rp     -       NotFound   -          41d
      ├─∅ pod/web-7f45f79f9d-dxq6g     -       NotFound   -          41d
      └─∅ pod/web-7f45f79f9d-pkjqf     -       NotFound   -          41d
    + 1 idle replicaset (--show-idle)
    ● live  10 objects  3 watches  last change 0s ago                Ctrl-C to exit
    ");
}

#[test]
fn healthy_pods_beyond_the_screen_are_counted_and_failing_ones_shown() {
    let objects = deployment_of((100, 98), |number| match number {
        57 | 91 => waiting("ImagePullBackOff", "Back-off pulling image \"web:v1\""),
        _ => running(),
    });
    let cluster = Cluster::of(state([one(DEPLOYMENTS, "web")]), objects);
    assert_snapshot!(frame(&cluster, at(30), (80, 24)), @r#"
    deployment.apps/web  -n shop           rollout 100/100 updated, 2 failing  0:30
    NAME                   READY    STATUS             RESTARTS   AGE
    ✗ deployment/web       98/100   Failed             -          30s
    │ └ 98 of 100 pods ready: 2 ImagePullBackOff
    └─✗ replicaset/web-a   98/100   Failed             -          30s
      ├─● pod/web-a-000    1/1      Running            0          30s
      ├─● pod/web-a-001    1/1      Running            0          30s
      ├─● pod/web-a-002    1/1      Running            0          30s
      ├─● pod/web-a-003    1/1      Running            0          30s
      ├─● pod/web-a-004    1/1      Running            0          30s
      ├─● pod/web-a-005    1/1      Running            0          30s
      ├─● pod/web-a-006    1/1      Running            0          30s
      ├─● pod/web-a-007    1/1      Running            0          30s
      ├─● pod/web-a-008    1/1      Running            0          30s
      ├─● pod/web-a-009    1/1      Running            0          30s
      ├─● pod/web-a-010    1/1      Running            0          30s
      ├─✗ pod/web-a-057    0/1      ImagePullBackOff   0          30s
      │   └ 2 × app: Back-off pulling image "web:v1"
      └─✗ pod/web-a-091    0/1      ImagePullBackOff   0          30s
    + 87 healthy (use --once | less)
    kubectl spy trace deployment/web shows its rollout
    ● live  102 objects  4 watches                                   Ctrl-C to exit
    "#);
}

#[test]
fn many_failing_pods_share_one_cause_line() {
    let objects = deployment_of((100, 0), |_| waiting("ErrImagePull", "not found"));
    let cluster = Cluster::of(state([one(DEPLOYMENTS, "web")]), objects);
    assert_snapshot!(frame(&cluster, at(30), (80, 12)), @"
    deployment.apps/web  -n shop         rollout 100/100 updated, 100 failing  0:30
    NAME                   READY   STATUS         RESTARTS   AGE
    ✗ deployment/web       0/100   Failed         -          30s
    │ └ 0 of 100 pods ready: 100 ImagePullBackOff
    └─✗ replicaset/web-a   0/100   Failed         -          30s
      ├─✗ pod/web-a-000    0/1     ErrImagePull   0          30s
      │   └ 100 × app: not found
      └─✗ pod/web-a-001    0/1     ErrImagePull   0          30s
    + 98 failing (use --once | less)
    ● live  102 objects  4 watches                                   Ctrl-C to exit
    ");
    assert_snapshot!(frame(&cluster, at(30), (30, 5)), @"
    NAME               READY   S…
    ✗ deployment/web   0/100   F…
    ● live  102 objects  4 watch…
    ");
}

#[test]
fn a_crash_loop_shows_how_the_container_ended() {
    let objects = deployment_of((1, 0), |_| {
        merged(
            waiting(
                "CrashLoopBackOff",
                "back-off 5m0s restarting failed container=app",
            ),
            json!({
                "restartCount": 7,
                "lastState": {"terminated": {
                    "exitCode": 1, "reason": "Error", "finishedAt": start().to_string(),
                    "message": "panic: no such table: orders\n",
                }},
            }),
        )
    });
    let cluster = Cluster::of(state([one(DEPLOYMENTS, "web")]), objects);
    assert_snapshot!(frame(&cluster, at(30), (110, 24)), @"
    deployment.apps/web  -n shop  ctx demo                                   rollout 1/1 updated, 1 failing  0:30
    NAME                   READY   STATUS             RESTARTS      AGE
    ✗ deployment/web       0/1     Failed             -             30s
    │ └ 0 of 1 pods ready: 1 CrashLoopBackOff
    └─✗ replicaset/web-a   0/1     Failed             -             30s
      └─✗ pod/web-a-000    0/1     CrashLoopBackOff   7 (30s ago)   30s
          └ app: CrashLoopBackOff, exit 1, 7 restarts: panic: no such table: orders
    kubectl spy trace deployment/web shows its rollout
    ● live  3 objects  4 watches                                                                   Ctrl-C to exit
    ");
}

#[test]
fn a_forbidden_kind_is_one_line() {
    let objects = deployment_of((2, 2), |_| running());
    let cluster = Cluster::forbidding("pods", state([one(DEPLOYMENTS, "web")]), objects);
    assert_snapshot!(frame(&cluster, at(30), (80, 24)), @r#"
    deployment.apps/web  -n shop  ctx demo                rollout 2/2 updated  0:30
    NAME                   READY   STATUS    AGE
    ● deployment/web       2/2     Current   30s
    └─● replicaset/web-a   2/2     Current   30s
    judged without pods, which you may not read: deployment/web
    forbidden: pods: pods is forbidden: User "ana" cannot list it
    ● live  2 objects  3 watches                                     Ctrl-C to exit
    "#);
}

#[test]
fn a_cron_job_shows_its_jobs_and_their_pods() {
    let cron = object(
        "batch/v1",
        "CronJob",
        "nightly",
        json!({"spec": {"schedule": "0 3 * * *"}}),
    );
    let mut objects = vec![cron];
    for (name, status) in [
        (
            "nightly-1",
            json!({"succeeded": 1, "startTime": "2026-03-01T03:00:00Z",
            "conditions": [{"type": "Complete", "status": "True"}]}),
        ),
        (
            "nightly-2",
            json!({"failed": 2, "startTime": "2026-03-02T03:00:00Z",
            "conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded",
                "message": "Job has reached the specified backoff limit"}]}),
        ),
        (
            "other-1",
            json!({"startTime": "2026-03-02T03:00:00Z", "active": 1}),
        ),
    ] {
        let rest = json!({"spec": {"completions": 1}, "status": status});
        let mut job = object("batch/v1", "Job", name, rest);
        if name != "other-1" {
            own(&mut job, ("CronJob", "nightly"));
        }
        let ended = json!({"state": {"terminated": {"exitCode": 3, "reason": "Error"}}});
        let mut pod = pod(&format!("{name}-x"), ("Job", name), ended);
        pod["status"]["phase"] = if name == "nightly-1" {
            "Succeeded"
        } else {
            "Failed"
        }
        .into();
        pod["metadata"]["labels"] = json!({"batch.kubernetes.io/job-name": name});
        objects.extend([job, pod]);
    }
    let cluster = Cluster::of(state([one(CRON_JOBS, "nightly")]), objects);
    assert_snapshot!(frame(&cluster, at(30), (80, 24)), @"
    cronjob.batch/nightly  -n shop  ctx demo                        3 failing  0:30
    NAME                    READY   STATUS     RESTARTS   AGE
    ✗ cronjob/nightly       -       Failed     -          30s
    │ └ its last run job/nightly-2 failed: BackoffLimitExceeded: Job has reached
    │   the specified backoff limit
    │ └ has not started a Job yet (schedule 0 3 * * *)
    ├─● job/nightly-1       1/1     Complete   -          30s
    │ └─● pod/nightly-1-x   0/1     Error      0          30s
    └─✗ job/nightly-2       0/1     Failed     -          30s
      └─✗ pod/nightly-2-x   0/1     Error      0          30s
          └ app: exit 3
    ● live  5 objects  4 watches                                     Ctrl-C to exit
    ");
}

#[test]
fn a_requested_object_that_does_not_exist_has_a_row() {
    let cluster = Cluster::of(state([one(DEPLOYMENTS, "wbe")]), []);
    assert_snapshot!(frame(&cluster, at(30), (80, 24)), @"
    deployment.apps/wbe  -n shop  ctx demo                                     0:30
    NAME               STATUS
    ∅ deployment/wbe   NotFound
    ● live  0 objects  1 watch                                       Ctrl-C to exit
    ");
}

/// A Deployment with one Pod whose container is in this state.
fn one_pod_deployment(name: &str, container: Value) -> [Value; 3] {
    let labels = json!({"metadata": {"labels": {"app": name}}});
    let selector = json!({"spec": {"selector": {"matchLabels": {"app": name}}}});
    let ready = i64::from(container["ready"] == true);
    let deployment = merged(workload("Deployment", name, (1, ready)), selector.clone());
    let set = format!("{name}-a");
    let mut replica_set = merged(workload("ReplicaSet", &set, (1, ready)), selector);
    replica_set = merged(replica_set, labels.clone());
    own(&mut replica_set, ("Deployment", name));
    let pod = pod(&format!("{set}-000"), ("ReplicaSet", &set), container);
    [deployment, replica_set, merged(pod, labels)]
}

#[test]
fn of_ten_deployments_the_causes_of_the_three_stuck_ones_are_on_the_screen() {
    let deployment = |number: i64| {
        let container = match number {
            3 | 5 => waiting("ErrImagePull", &format!("no image v{number}")),
            8 => waiting("CreateContainerConfigError", "secret \"db\" not found"),
            _ => running(),
        };
        one_pod_deployment(&format!("web-{number}"), container)
    };
    let objects = (0..10).flat_map(deployment);
    let cluster = Cluster::of(state([all(DEPLOYMENTS)]), objects);
    let sizes = [(80, 24), (44, 12)];
    let frames = sizes.map(|size| frame(&cluster, at(30), size));
    assert_snapshot!(frames.join("\n\n"), @r#"
    deployments.apps  -n shop  ctx demo                   7 Current, 3 Failed  0:30
    NAME                     READY   STATUS                       RESTARTS   AGE
    ✗ deployment/web-3       0/1     Failed                       -          30s
    │ └ 0 of 1 pods ready: 1 ImagePullBackOff
    └─✗ replicaset/web-3-a   0/1     Failed                       -          30s
      └─✗ pod/web-3-a-000    0/1     ErrImagePull                 0          30s
          └ app: no image v3
    ✗ deployment/web-5       0/1     Failed                       -          30s
    │ └ 0 of 1 pods ready: 1 ImagePullBackOff
    └─✗ replicaset/web-5-a   0/1     Failed                       -          30s
      └─✗ pod/web-5-a-000    0/1     ErrImagePull                 0          30s
          └ app: no image v5
    ✗ deployment/web-8       0/1     Failed                       -          30s
    │ └ 0 of 1 pods ready: 1 CreateContainerConfigError
    └─✗ replicaset/web-8-a   0/1     Failed                       -          30s
      └─✗ pod/web-8-a-000    0/1     CreateContainerConfigError   0          30s
          └ app: CreateContainerConfigError: secret "db" not found
    ● deployment/web-0       1/1     Current                      -          30s
    ● deployment/web-1       1/1     Current                      -          30s
    + 5 healthy (use --once | less)
    dependents of 7 objects not read; name an object to show them
    ● live  16 objects  8 watches                                    Ctrl-C to exit

    deployments.apps        7 Current, 3 Failed
    NAME                 READY   STATUS   AGE
    ✗ deployment/web-3   0/1     Failed   30s
      └ 0 of 1 pods ready: 1 ImagePullBackOff
    ✗ deployment/web-5   0/1     Failed   30s
      └ 0 of 1 pods ready: 1 ImagePullBackOff
    ✗ deployment/web-8   0/1     Failed   30s
    + 6 failing, 7 healthy (use --once | less)
    dependents of 7 objects not read; name an …
    ● live  16 objects  8 watches
    "#);
}

#[test]
fn objects_of_several_namespaces_show_their_namespace() {
    let everywhere = SourceKey {
        scope: Scope::Cluster,
        ..all(DEPLOYMENTS)
    };
    let mut other = workload("Deployment", "api", (1, 0));
    other["metadata"]["namespace"] = "pay".into();
    let objects = [workload("Deployment", "web", (2, 2)), other];
    let cluster = Cluster::of(state([everywhere]), objects);
    assert_snapshot!(frame(&cluster, at(30), (80, 24)), @"
    deployments.apps  -A  ctx demo                    1 Current, 1 InProgress  0:30
    NAMESPACE   NAME               READY   STATUS       AGE
    pay         ~ deployment/api   0/1     InProgress   30s
    shop        ● deployment/web   2/2     Current      30s
    ● live  2 objects  5 watches                                     Ctrl-C to exit
    ");
}

#[test]
fn cluster_text_cannot_move_the_cursor() {
    let mut objects = deployment_of((1, 0), |_| {
        waiting("ErrImagePull\u{1b}[2J", "\u{9b}31m\nbad")
    });
    objects[2]["spec"]["nodeName"] = "node\r\u{202e}1".into();
    let cluster = Cluster::of(state([one(DEPLOYMENTS, "web")]), objects);
    let shown = frame(&cluster, at(30), (140, 24)) + &whole(&cluster, at(30));
    let is_harmless = |c: char| c == '\n' || !c.is_control() && c != '\u{202e}';
    assert!(shown.chars().all(is_harmless), "{shown:?}");
}

#[test]
fn ascii_and_colour_do_not_change_the_text() {
    let objects = deployment_of((1, 0), |_| waiting("ErrImagePull", "not found"));
    let cluster = Cluster::of(state([one(DEPLOYMENTS, "web")]), objects);
    let canvas = Canvas {
        now: at(30),
        look: Look {
            width: Some(80),
            styles: testing::ansi(),
            symbols: &Symbols::ASCII,
        },
        started: Some(start()),
        rows: Some(22),
        exit_key: ExitKey::Q,
    };
    let lines = view(
        &(&cluster.state).into(),
        connection(&cluster),
        &mut LiveTable::new(PLAIN),
        canvas,
    );
    let painted = testing::explain(&testing::painted(lines, testing::ansi()));
    assert_snapshot!(painted, @"
    (bold)deployment.apps/web(normal)  (dim)-n shop(normal)  (dim)ctx demo(normal)     rollout 1/1 updated, 1 failing  0:30
    (bold)NAME(normal)                   (bold)READY(normal)   (bold)STATUS(normal)         (bold)RESTARTS(normal)   (bold)AGE(normal)
    (red)x(normal) deployment/web       0/1     (red)Failed(normal)         -          30s
    (dim)| ` (normal)0 of 1 pods ready: 1 ImagePullBackOff
    (dim)`-(normal)(red)x(normal) replicaset/web-a   0/1     (red)Failed(normal)         -          30s
    (dim)  `-(normal)(red)x(normal) pod/web-a-000    0/1     (red)ErrImagePull(normal)   0          30s
    (dim)      ` (normal)app: not found
    (dim)kubectl spy trace deployment/web shows its rollout(normal)
    ● live  (dim)3 objects  4 watches(normal)                                          (dim)q to exit(normal)
    ");
}

#[test]
fn the_rules_behind_each_state_have_lines_and_records() {
    let objects = deployment_of((1, 0), |_| waiting("ErrImagePull", "not found"));
    let cluster = Cluster::of(state([one(DEPLOYMENTS, "web")]), objects);
    let explained = RowOptions {
        explains: true,
        ..PLAIN
    };
    let canvas = Canvas::unbounded(look(None), at(1));
    let lines = table(
        &(&cluster.state).into(),
        &connection(&cluster),
        explained,
        canvas,
    );
    assert_snapshot!(plain(lines), @"
    NAME                   READY   STATUS         RESTARTS   AGE   NODE       IP
    ✗ deployment/web       0/1     Failed         -          1s    -          -
    │ └ 0 of 1 pods ready: 1 ImagePullBackOff
    │ └ rule FailedPods: Pods of the newest revision have failed, and the workload does not have all Pods that it wants. https://github.com/kubectl-spy/kubectl-spy/blob/main/docs/status.md#rules
    └─✗ replicaset/web-a   0/1     Failed         -          1s    -          -
      │ └ rule FailedPods: Pods of the newest revision have failed, and the workload does not have all Pods that it wants. https://github.com/kubectl-spy/kubectl-spy/blob/main/docs/status.md#rules
      └─✗ pod/web-a-000    0/1     ErrImagePull   0          1s    worker-1   10.0.0.1
          └ app: not found
          └ rule BrokenContainers: A container of the Pod waits because of an error, or has crashed again and waits for its next start. https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#container-states
          └ rule ImagePull: The kubelet cannot pull the image of a container. https://kubernetes.io/docs/concepts/containers/images/#imagepullbackoff
    ");
    let records = Transitions::new(explained).records(&cluster.state, at(1));
    let source = r#""causes":[{"rule":"ImagePull","text":"app: not found","source":"https://"#;
    assert!(records[2].as_str().contains(source), "{}", records[2]);
}

#[test]
fn the_rule_behind_a_good_state_has_its_message() {
    let objects = deployment_of((1, 1), |_| running());
    let cluster = Cluster::of(state([one(DEPLOYMENTS, "web")]), objects);
    let explained = RowOptions {
        explains: true,
        ..PLAIN
    };
    let canvas = Canvas::unbounded(look(None), at(1));
    let lines = table(
        &(&cluster.state).into(),
        &connection(&cluster),
        explained,
        canvas,
    );
    assert_snapshot!(plain(lines), @r#"
    NAME                   READY   STATUS    RESTARTS   AGE   NODE       IP
    ● deployment/web       1/1     Current   -          1s    -          -
    │ └ rule kstatus Deployment: "Deployment is available. Replicas: 1": All replicas are updated, ready and available, and no old one is left. https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/status/core.go
    └─● replicaset/web-a   1/1     Current   -          1s    -          -
      │ └ rule kstatus ReplicaSet: "ReplicaSet is available. Replicas: 1": All replicas are labelled, available and ready. https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/status/core.go
      └─● pod/web-a-000    1/1     Running   0          1s    worker-1   10.0.0.1
          └ rule kstatus Pod: "Pod is Ready": The Pod is ready or has ended. https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/status/core.go
    "#);
}

/// The columns of a live table stay while its rows change. Another width may have room for other columns.
#[test]
fn columns_do_not_come_and_go_with_the_rows() {
    let long = pod(
        "billing-reconciliation-worker-5cc54d4d56-dcqxn",
        ("ReplicaSet", "a"),
        waiting("CrashLoopBackOff", ""),
    );
    let short = pod("web-1", ("ReplicaSet", "a"), running());
    let mut cluster = Cluster::of(state([all(PODS)]), [short, long]);
    let mut table = LiveTable::new(PLAIN);
    let mut titles = |cluster: &Cluster, columns| {
        let frame = next_frame(&mut table, cluster, at(91), (columns, 24));
        frame.lines().nth(1).unwrap_or_default().to_owned()
    };
    let wide = titles(&cluster, 100);
    assert!(
        wide.ends_with("STATUS             RESTARTS   AGE"),
        "{wide}"
    );
    let narrow = titles(&cluster, 80);
    assert!(narrow.ends_with("READY   STATUS"), "{narrow}");
    cluster.delete("billing-reconciliation-worker-5cc54d4d56-dcqxn", at(5));
    cluster.settle(at(90));
    assert_eq!(titles(&cluster, 80), "NAME          READY   STATUS");
    let all = "NAME          READY   STATUS    RESTARTS   AGE";
    assert_eq!([titles(&cluster, 79), titles(&cluster, 80)], [all, all]);
}

/// A column without a value in any row is left out. Once shown, it stays.
#[test]
fn a_column_without_a_value_is_left_out() {
    let map = |name: &str| object("v1", "ConfigMap", name, json!({"data": {"a": "b"}}));
    let (maps, pods) = (all("v1 configmaps ConfigMap"), all(PODS));
    let mut cluster = Cluster::of(state([maps, pods]), [map("flags")]);
    let mut table = LiveTable::new(PLAIN);
    let web = pod("web-1", ("ReplicaSet", "a"), running());
    let mut frames = vec![next_frame(&mut table, &cluster, at(9), (80, 24))];
    cluster.write(&web, at(9));
    cluster.settle(at(9));
    frames.push(next_frame(&mut table, &cluster, at(9), (80, 24)));
    cluster.delete("web-1", at(9));
    cluster.settle(at(9));
    frames.push(next_frame(&mut table, &cluster, at(9), (80, 24)));
    assert_snapshot!(frames.join("\n\n"), @"
    configmap/flags  -n shop  ctx demo                                         0:09
    NAME                STATUS    AGE
    ● configmap/flags   Current   9s
    ● live  1 object  2 watches                                      Ctrl-C to exit

    configmaps,pods  -n shop  ctx demo                              2 Current  0:09
    NAME                READY   STATUS    RESTARTS   AGE
    ● configmap/flags   -       Current   -          9s
    ● pod/web-1         1/1     Running   0          9s
    ● live  2 objects  2 watches  last change 0s ago                 Ctrl-C to exit

    configmaps,pods  -n shop  ctx demo                  1 Current, 1 NotFound  0:09
    NAME                READY   STATUS     RESTARTS   AGE
    ∅ pod/web-1         -       NotFound   -          9s
    ● configmap/flags   -       Current    -          9s
    ● live  2 objects  2 watches  last change 0s ago                 Ctrl-C to exit
    ");
}
