//! Frames of the scenarios of `demo` at several widths. Reasons, states and counts stay; names, tails of messages and
//! times give way.

#![expect(clippy::too_many_lines, reason = "each snapshot has whole screens")]

use insta::assert_snapshot;

use super::cluster::Played;
use super::*;
use crate::sandbox::scenario::{Scenario, config, rollout};

const AUTOSCALERS: &str = "autoscaling/v2 horizontalpodautoscalers HorizontalPodAutoscaler";

/// The frames at 80, 100 and 120 columns, at a time in milliseconds.
fn widths(cluster: &Cluster, time: u64) -> String {
    let now = start() + SignedDuration::from_millis(time.try_into().expect("short"));
    let at = |columns| format!("{columns}\n{}", frame(cluster, now, (columns, 40)));
    [80, 100, 120].map(at).join("\n")
}

/// A scenario at a time, at all widths.
async fn played(scenario: Scenario, requested: Vec<SourceKey>, time: u64) -> String {
    let mut frames = String::new();
    let story = Played::new(scenario).await;
    story.at(state(requested), &[time], |cluster, time| {
        frames = widths(cluster, time);
    });
    frames
}

#[tokio::test]
async fn a_rollout_whose_image_cannot_be_pulled() {
    let requested = || vec![one(DEPLOYMENTS, "web")];
    assert_snapshot!(played(rollout(), requested(), 4000).await, @r#"
    80
    deployment.apps/web  -n shop  ctx demo     rollout 1/3 updated, 1 failing  0:04
    NAME                               READY   STATUS         RESTARTS   AGE
    ✗ deployment/web                   3/3     Failed         -          41d
    │ └ 0 of 3 new pods ready: 1 ImagePullBackOff
    ├─✗ replicaset/web-5cc54d4d56 #2   0/1     Failed         -          2s
    │ └─✗ pod/web-5cc54d4d56-dcqxn     0/1     ErrImagePull   0          2s
    │     └ web: rpc error: code = NotFound desc = failed to pull and unpack image
    │       "registry.example.com/shop/web:v2.4.1-rc1": failed to resolve reference
    │       "registry.example.com/shop/web:v2.4.1-rc1": registry.example.com/shop/…
    └─● replicaset/web-7f45f79f9d #1   3/3     Current        -          41d
      │ └ old revision, 3 replicas are still to be removed
      ├─● pod/web-7f45f79f9d-268rp     1/1     Running        0          41d
      ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running        0          41d
      └─● pod/web-7f45f79f9d-pkjqf     1/1     Running        0          41d
    kubectl spy trace deployment/web shows its rollout
    ● live  7 objects  4 watches  last change 0s ago                 Ctrl-C to exit
    100
    deployment.apps/web  -n shop  ctx demo                         rollout 1/3 updated, 1 failing  0:04
    NAME                               READY   STATUS         RESTARTS   AGE
    ✗ deployment/web                   3/3     Failed         -          41d
    │ └ 0 of 3 new pods ready: 1 ImagePullBackOff
    ├─✗ replicaset/web-5cc54d4d56 #2   0/1     Failed         -          2s
    │ └─✗ pod/web-5cc54d4d56-dcqxn     0/1     ErrImagePull   0          2s
    │     └ web: rpc error: code = NotFound desc = failed to pull and unpack image
    │       "registry.example.com/shop/web:v2.4.1-rc1": failed to resolve reference
    │       "registry.example.com/shop/web:v2.4.1-rc1": registry.example.com/shop/web:v2.4.1-rc1: not …
    └─● replicaset/web-7f45f79f9d #1   3/3     Current        -          41d
      │ └ old revision, 3 replicas are still to be removed
      ├─● pod/web-7f45f79f9d-268rp     1/1     Running        0          41d
      ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running        0          41d
      └─● pod/web-7f45f79f9d-pkjqf     1/1     Running        0          41d
    kubectl spy trace deployment/web shows its rollout
    ● live  7 objects  4 watches  last change 0s ago                                     Ctrl-C to exit
    120
    deployment.apps/web  -n shop  ctx demo                                             rollout 1/3 updated, 1 failing  0:04
    NAME                               READY   STATUS         RESTARTS   AGE   NODE       IP            CHANGED
    ✗ deployment/web                   3/3     Failed         -          41d   -          -             0s ago
    │ └ 0 of 3 new pods ready: 1 ImagePullBackOff
    ├─✗ replicaset/web-5cc54d4d56 #2   0/1     Failed         -          2s    -          -             0s ago
    │ └─✗ pod/web-5cc54d4d56-dcqxn     0/1     ErrImagePull   0          2s    worker-1   10.244.0.14   0s ago
    │     └ web: rpc error: code = NotFound desc = failed to pull and unpack image
    │       "registry.example.com/shop/web:v2.4.1-rc1": failed to resolve reference
    │       "registry.example.com/shop/web:v2.4.1-rc1": registry.example.com/shop/web:v2.4.1-rc1: not found
    └─● replicaset/web-7f45f79f9d #1   3/3     Current        -          41d   -          -             0s ago
      │ └ old revision, 3 replicas are still to be removed
      ├─● pod/web-7f45f79f9d-268rp     1/1     Running        0          41d   worker-1   10.244.0.13   -
      ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running        0          41d   worker-2   10.244.1.13   -
      └─● pod/web-7f45f79f9d-pkjqf     1/1     Running        0          41d   worker-3   10.244.2.13   -
    kubectl spy trace deployment/web shows its rollout
    ● live  7 objects  4 watches  last change 0s ago                                                         Ctrl-C to exit
    "#);
    assert_snapshot!(played(rollout(), requested(), 12_000).await, @r#"
    80
    deployment.apps/web  -n shop  ctx demo     rollout 1/3 updated, 1 failing  0:12
    NAME                               READY   STATUS             RESTARTS   AGE
    ✗ deployment/web                   3/3     Failed             -          41d
    │ └ 0 of 3 new pods ready: 1 ImagePullBackOff
    ├─✗ replicaset/web-5cc54d4d56 #2   0/1     Failed             -          10s
    │ └─✗ pod/web-5cc54d4d56-dcqxn     0/1     ImagePullBackOff   0          10s
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
    100
    deployment.apps/web  -n shop  ctx demo                         rollout 1/3 updated, 1 failing  0:12
    NAME                               READY   STATUS             RESTARTS   AGE
    ✗ deployment/web                   3/3     Failed             -          41d
    │ └ 0 of 3 new pods ready: 1 ImagePullBackOff
    ├─✗ replicaset/web-5cc54d4d56 #2   0/1     Failed             -          10s
    │ └─✗ pod/web-5cc54d4d56-dcqxn     0/1     ImagePullBackOff   0          10s
    │     └ web: Back-off pulling image "registry.example.com/shop/web:v2.4.1-rc1": ErrImagePull: rpc
    │       error: code = NotFound desc = failed to pull and unpack image
    │       "registry.example.com/shop/web:v2.4.1-rc1": failed to resolve reference "registry.example.…
    └─● replicaset/web-7f45f79f9d #1   3/3     Current            -          41d
      │ └ old revision, 3 replicas are still to be removed
      ├─● pod/web-7f45f79f9d-268rp     1/1     Running            0          41d
      ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running            0          41d
      └─● pod/web-7f45f79f9d-pkjqf     1/1     Running            0          41d
    kubectl spy trace deployment/web shows its rollout
    ● live  7 objects  4 watches  last change 0s ago                                     Ctrl-C to exit
    120
    deployment.apps/web  -n shop  ctx demo                                             rollout 1/3 updated, 1 failing  0:12
    NAME                               READY   STATUS             RESTARTS   AGE   NODE       IP            CHANGED
    ✗ deployment/web                   3/3     Failed             -          41d   -          -             0s ago
    │ └ 0 of 3 new pods ready: 1 ImagePullBackOff
    ├─✗ replicaset/web-5cc54d4d56 #2   0/1     Failed             -          10s   -          -             0s ago
    │ └─✗ pod/web-5cc54d4d56-dcqxn     0/1     ImagePullBackOff   0          10s   worker-1   10.244.0.14   0s ago
    │     └ web: Back-off pulling image "registry.example.com/shop/web:v2.4.1-rc1": ErrImagePull: rpc error: code =
    │       NotFound desc = failed to pull and unpack image "registry.example.com/shop/web:v2.4.1-rc1": failed to resolve
    │       reference "registry.example.com/shop/web:v2.4.1-rc1": registry.example.com/shop/web:v2.4.1-rc1: not found
    └─● replicaset/web-7f45f79f9d #1   3/3     Current            -          41d   -          -             0s ago
      │ └ old revision, 3 replicas are still to be removed
      ├─● pod/web-7f45f79f9d-268rp     1/1     Running            0          41d   worker-1   10.244.0.13   -
      ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running            0          41d   worker-2   10.244.1.13   -
      └─● pod/web-7f45f79f9d-pkjqf     1/1     Running            0          41d   worker-3   10.244.2.13   -
    kubectl spy trace deployment/web shows its rollout
    ● live  7 objects  4 watches  last change 0s ago                                                         Ctrl-C to exit
    "#);
}

#[tokio::test]
async fn a_rollout_that_is_fixed() {
    let requested = || vec![one(DEPLOYMENTS, "web")];
    assert_snapshot!(played(rollout(), requested(), 22_000).await, @"
    80
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
    100
    deployment.apps/web  -n shop  ctx demo                                    rollout 1/3 updated  0:22
    NAME                               READY   STATUS       RESTARTS   AGE
    ~ deployment/web                   3/3     InProgress   -          41d
    │ └ Updated: 1/3
    ├─~ replicaset/web-589f5c6bfc #3   0/1     InProgress   -          4s
    │ └─~ pod/web-589f5c6bfc-tvgkq     0/1     Running      0          4s
    │     └ web: running, its readiness probe does not succeed (GET :http/readyz every 2s)
    └─● replicaset/web-7f45f79f9d #1   3/3     Current      -          41d
      │ └ old revision, 3 replicas are still to be removed
      ├─● pod/web-7f45f79f9d-268rp     1/1     Running      0          41d
      ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running      0          41d
      └─● pod/web-7f45f79f9d-pkjqf     1/1     Running      0          41d
    + 1 idle replicaset (--show-idle)
    kubectl spy trace deployment/web shows its rollout
    ● live  8 objects  4 watches  last change 0s ago                                     Ctrl-C to exit
    120
    deployment.apps/web  -n shop  ctx demo                                                        rollout 1/3 updated  0:22
    NAME                               READY   STATUS       RESTARTS   AGE   NODE       IP            CHANGED
    ~ deployment/web                   3/3     InProgress   -          41d   -          -             0s ago
    │ └ Updated: 1/3
    ├─~ replicaset/web-589f5c6bfc #3   0/1     InProgress   -          4s    -          -             0s ago
    │ └─~ pod/web-589f5c6bfc-tvgkq     0/1     Running      0          4s    worker-2   10.244.1.15   0s ago
    │     └ web: running, its readiness probe does not succeed (GET :http/readyz every 2s)
    └─● replicaset/web-7f45f79f9d #1   3/3     Current      -          41d   -          -             0s ago
      │ └ old revision, 3 replicas are still to be removed
      ├─● pod/web-7f45f79f9d-268rp     1/1     Running      0          41d   worker-1   10.244.0.13   -
      ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running      0          41d   worker-2   10.244.1.13   -
      └─● pod/web-7f45f79f9d-pkjqf     1/1     Running      0          41d   worker-3   10.244.2.13   -
    + 1 idle replicaset (--show-idle)
    kubectl spy trace deployment/web shows its rollout
    ● live  8 objects  4 watches  last change 0s ago                                                         Ctrl-C to exit
    ");
}

#[tokio::test]
async fn an_autoscaler_that_scales() {
    let requested = vec![one(DEPLOYMENTS, "api"), one(AUTOSCALERS, "api")];
    assert_snapshot!(played(config(), requested, 13_000).await, @"
    80
    deployments.apps,horizontalpodautoscalers.autoscaling   1 Current, 1 InProgress
    NAME                               READY   STATUS              RESTARTS   AGE
    ~ deployment/api                   3/5     InProgress          -          11d
    └─~ replicaset/api-7d84b8bbd6 #1   3/5     InProgress          -          11d
      ├─● pod/api-7d84b8bbd6-bpkjq     1/1     Running             0          11d
      ├─● pod/api-7d84b8bbd6-d9ddc     1/1     Running             0          11d
      ├─● pod/api-7d84b8bbd6-fdxq6     1/1     Running             0          11d
      ├─~ pod/api-7d84b8bbd6-m2ctv     0/1     ContainerCreating   0          1s
      └─~ pod/api-7d84b8bbd6-qlbr2     0/1     ContainerCreating   0          1s
    ● horizontalpodautoscaler/api      -       Current             -          11d
      └ scales from 3 to 5 replicas
      └ cpu is at 92%, its target is 70%
    ● live  8 objects  5 watches  last change 0s ago                 Ctrl-C to exit
    100
    deployments.apps,horizontalpodautoscalers.autoscaling  -n shop        1 Current, 1 InProgress  0:13
    NAME                               READY   STATUS              RESTARTS   AGE
    ~ deployment/api                   3/5     InProgress          -          11d
    └─~ replicaset/api-7d84b8bbd6 #1   3/5     InProgress          -          11d
      ├─● pod/api-7d84b8bbd6-bpkjq     1/1     Running             0          11d
      ├─● pod/api-7d84b8bbd6-d9ddc     1/1     Running             0          11d
      ├─● pod/api-7d84b8bbd6-fdxq6     1/1     Running             0          11d
      ├─~ pod/api-7d84b8bbd6-m2ctv     0/1     ContainerCreating   0          1s
      └─~ pod/api-7d84b8bbd6-qlbr2     0/1     ContainerCreating   0          1s
    ● horizontalpodautoscaler/api      -       Current             -          11d
      └ scales from 3 to 5 replicas
      └ cpu is at 92%, its target is 70%
    ● live  8 objects  5 watches  last change 0s ago                                     Ctrl-C to exit
    120
    deployments.apps,horizontalpodautoscalers.autoscaling  -n shop  ctx demo                  1 Current, 1 InProgress  0:13
    NAME                               READY   STATUS              RESTARTS   AGE   NODE       IP            CHANGED
    ~ deployment/api                   3/5     InProgress          -          11d   -          -             0s ago
    └─~ replicaset/api-7d84b8bbd6 #1   3/5     InProgress          -          11d   -          -             0s ago
      ├─● pod/api-7d84b8bbd6-bpkjq     1/1     Running             0          11d   worker-2   10.244.1.13   -
      ├─● pod/api-7d84b8bbd6-d9ddc     1/1     Running             0          11d   worker-3   10.244.2.13   -
      ├─● pod/api-7d84b8bbd6-fdxq6     1/1     Running             0          11d   worker-1   10.244.0.13   -
      ├─~ pod/api-7d84b8bbd6-m2ctv     0/1     ContainerCreating   0          1s    worker-1   -             0s ago
      └─~ pod/api-7d84b8bbd6-qlbr2     0/1     ContainerCreating   0          1s    worker-2   -             0s ago
    ● horizontalpodautoscaler/api      -       Current             -          11d   -          -             0s ago
      └ scales from 3 to 5 replicas
      └ cpu is at 92%, its target is 70%
    ● live  8 objects  5 watches  last change 0s ago                                                         Ctrl-C to exit
    ");
}

/// The names are as long as those of charts, and the messages as long as those of a kubelet.
#[test]
fn long_names_leave_room_for_reasons() {
    let name = "recommendation-engine-canary-frontend";
    let hash = format!("{name}-7c5ddbdf54");
    let mut replica_set = workload("ReplicaSet", &hash, (3, 0));
    own(&mut replica_set, ("Deployment", name));
    let mut objects = vec![workload("Deployment", name, (3, 0)), replica_set];
    for (suffix, reason, message) in [
        (
            "x2k9p",
            "CrashLoopBackOff",
            "back-off 5m0s restarting failed container=app pod=recommendation-engine-canary-frontend-7c5ddbdf54-x2k9p",
        ),
        (
            "9qkzv",
            "CreateContainerConfigError",
            "secret \"recommendation-engine-canary-frontend-credentials\" not found",
        ),
        (
            "bbl4w",
            "ErrImagePull",
            "rpc error: code = NotFound desc = failed to pull and unpack image \"registry.example.com/shop/web:v2\"",
        ),
    ] {
        let name = format!("{hash}-{suffix}");
        objects.push(pod(&name, ("ReplicaSet", &hash), waiting(reason, message)));
    }
    let cluster = Cluster::of(state([one(DEPLOYMENTS, name)]), objects);
    assert_snapshot!(widths(&cluster, 60_000), @r#"
    80
    deployment.apps/recommendation-engine-canary-f…  rollout 3/3 updated, 3 failing
    NAME                                         READY   STATUS
    ✗ deployment/recommen…gine-canary-frontend   0/3     Failed
    │ └ 0 of 3 pods ready: 1 CrashLoopBackOff, 1 CreateContainerConfigError, 1
    │   ImagePullBackOff
    └─✗ replicaset/recomme…frontend-7c5ddbdf54   0/3     Failed
      ├─✗ pod/recommendatio…d-7c5ddbdf54-9qkzv   0/1     CreateContainerConfigError
      │   └ app: CreateContainerConfigError: secret
      │     "recommendation-engine-canary-frontend-credentials" not found
      ├─✗ pod/recommendatio…d-7c5ddbdf54-bbl4w   0/1     ErrImagePull
      │   └ app: rpc error: code = NotFound desc = failed to pull and unpack image
      │     "registry.example.com/shop/web:v2"
      └─✗ pod/recommendatio…d-7c5ddbdf54-x2k9p   0/1     CrashLoopBackOff
          └ app: CrashLoopBackOff: back-off 5m0s restarting failed container=app
            pod=recommendation-engine-canary-frontend-7c5ddbdf54-x2k9p
    kubectl spy trace deployment/recommendation-engine-canary-frontend shows its r…
    ● live  5 objects  4 watches                                     Ctrl-C to exit
    100
    deployment.apps/recommendation-engine-canary-frontend  -n shop       rollout 3/3 updated, 3 failing
    NAME                                                             READY   STATUS
    ✗ deployment/recommendation-engine-canary-frontend               0/3     Failed
    │ └ 0 of 3 pods ready: 1 CrashLoopBackOff, 1 CreateContainerConfigError, 1 ImagePullBackOff
    └─✗ replicaset/recommendation-en…ne-canary-frontend-7c5ddbdf54   0/3     Failed
      ├─✗ pod/recommendation-engine-c…ry-frontend-7c5ddbdf54-9qkzv   0/1     CreateContainerConfigError
      │   └ app: CreateContainerConfigError: secret "recommendation-engine-canary-frontend-credentials"
      │     not found
      ├─✗ pod/recommendation-engine-c…ry-frontend-7c5ddbdf54-bbl4w   0/1     ErrImagePull
      │   └ app: rpc error: code = NotFound desc = failed to pull and unpack image
      │     "registry.example.com/shop/web:v2"
      └─✗ pod/recommendation-engine-c…ry-frontend-7c5ddbdf54-x2k9p   0/1     CrashLoopBackOff
          └ app: CrashLoopBackOff: back-off 5m0s restarting failed container=app
            pod=recommendation-engine-canary-frontend-7c5ddbdf54-x2k9p
    kubectl spy trace deployment/recommendation-engine-canary-frontend shows its rollout
    ● live  5 objects  4 watches                                                         Ctrl-C to exit
    120
    deployment.apps/recommendation-engine-canary-frontend  -n shop  ctx demo           rollout 3/3 updated, 3 failing  1:00
    NAME                                                               READY   STATUS                       RESTARTS   AGE
    ✗ deployment/recommendation-engine-canary-frontend                 0/3     Failed                       -          60s
    │ └ 0 of 3 pods ready: 1 CrashLoopBackOff, 1 CreateContainerConfigError, 1 ImagePullBackOff
    └─✗ replicaset/recommendation-engine-canary-frontend-7c5ddbdf54    0/3     Failed                       -          60s
      ├─✗ pod/recommendation-engine-canary-frontend-7c5ddbdf54-9qkzv   0/1     CreateContainerConfigError   0          60s
      │   └ app: CreateContainerConfigError: secret "recommendation-engine-canary-frontend-credentials" not found
      ├─✗ pod/recommendation-engine-canary-frontend-7c5ddbdf54-bbl4w   0/1     ErrImagePull                 0          60s
      │   └ app: rpc error: code = NotFound desc = failed to pull and unpack image "registry.example.com/shop/web:v2"
      └─✗ pod/recommendation-engine-canary-frontend-7c5ddbdf54-x2k9p   0/1     CrashLoopBackOff             0          60s
          └ app: CrashLoopBackOff: back-off 5m0s restarting failed container=app
            pod=recommendation-engine-canary-frontend-7c5ddbdf54-x2k9p
    kubectl spy trace deployment/recommendation-engine-canary-frontend shows its rollout
    ● live  5 objects  4 watches                                                                             Ctrl-C to exit
    "#);
}
