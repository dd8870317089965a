//! Frames of the scenarios of `demo` at several widths. Reasons, states and new values stay; names, tails of messages and
//! times give way.

#![expect(clippy::too_many_lines, reason = "each snapshot has whole screens")]

use insta::assert_snapshot;

use super::Feed;
use crate::render::style::testing::plain;
use crate::render::text::Text;
use crate::sandbox::scenario::{config, rollout};

/// The frames at 80, 100 and 120 columns, cut as on a terminal.
fn widths(feed: &Feed) -> String {
    let at = |columns: usize| {
        let frame = feed.frame(columns - 1);
        let frame = Text::lines(&frame).map(|line| line.fit(columns - 1, "…"));
        let frame = plain(frame);
        format!("{columns}\n{frame}")
    };
    [80, 100, 120].map(at).join("\n")
}

/// The trace of an object of the scenario `rollout`.
fn rolling(kind: &str, end: u64) -> String {
    widths(&Feed::of_scenario(&rollout(), (kind, "web"), end))
}

#[test]
fn a_service_with_a_pod_whose_image_cannot_be_pulled() {
    assert_snapshot!(rolling("Service", 4000), @r#"
    80
    service/web  -n shop  ClusterIP 10.96.41.7  http 80->8080/TCP              0:04
    ~ degraded 3/4 ready: 1 ImagePullBackOff  selector app=web
    ENDPOINT                 TARGET                     STATE      NODE       AGE
    ├─ endpointslice/web-cgb6d  IPv4  3 ready, 1 not ready, 0 terminating
    │ ├─● 10.244.0.13:8080   pod/web-7f45f79f9d-268rp   Ready      worker-1   41d
    │ ├─● 10.244.1.13:8080   pod/web-7f45f79f9d-dxq6g   Ready      worker-2   41d
    │ ├─● 10.244.2.13:8080   pod/web-7f45f79f9d-pkjqf   Ready      worker-3   41d
    │ └─✗ 10.244.0.14:8080   pod/web-5cc54d4d56-dcqxn   NotReady   worker-1   2s
    │     └ ErrImagePull: web: rpc error: code = NotFound desc = failed to pull and
    │       unpack image "registry.example.com/shop/web:v2.4.1-rc1": failed to
    │       resolve reference "registry.example.com/shop/web:v2.4.1-rc1": registry…
    ├─ owners: deployment/web > replicaset/…b-5cc54d4d56 #2   1/1 pods, 0 available
    └─ owners: deployment/web > replicaset/…b-7f45f79f9d #1   3/3 pods, 3 available
    100
    service/web  -n shop  ClusterIP 10.96.41.7  http 80->8080/TCP                                  0:04
    ~ degraded 3/4 ready: 1 ImagePullBackOff  selector app=web                    4 pods match, 3 ready
    ENDPOINT                 TARGET                     READY   STATE      SERVING   NODE       AGE
    ├─ endpointslice/web-cgb6d  IPv4  3 ready, 1 not ready, 0 terminating
    │ ├─● 10.244.0.13:8080   pod/web-7f45f79f9d-268rp   1/1     Ready      yes       worker-1   41d
    │ ├─● 10.244.1.13:8080   pod/web-7f45f79f9d-dxq6g   1/1     Ready      yes       worker-2   41d
    │ ├─● 10.244.2.13:8080   pod/web-7f45f79f9d-pkjqf   1/1     Ready      yes       worker-3   41d
    │ └─✗ 10.244.0.14:8080   pod/web-5cc54d4d56-dcqxn   0/1     NotReady   no        worker-1   2s
    │     └ ErrImagePull: web: rpc error: code = NotFound desc = failed to pull and unpack image
    │       "registry.example.com/shop/web:v2.4.1-rc1": failed to resolve reference
    │       "registry.example.com/shop/web:v2.4.1-rc1": registry.example.com/shop/web:v2.4.1-rc1: not …
    ├─ owners: deployment/web > replicaset/web-5cc54d4d56 #2   1/1 pods, 0 available
    └─ owners: deployment/web > replicaset/web-7f45f79f9d #1   3/3 pods, 3 available
    120
    service/web  -n shop  ClusterIP 10.96.41.7  http 80->8080/TCP                                                      0:04
    ~ degraded 3/4 ready: 1 ImagePullBackOff  selector app=web                                        4 pods match, 3 ready
    ENDPOINT                 TARGET                     READY   STATE      SERVING   NODE       AGE   OWNER
    ├─ endpointslice/web-cgb6d  IPv4  3 ready, 1 not ready, 0 terminating
    │ ├─● 10.244.0.13:8080   pod/web-7f45f79f9d-268rp   1/1     Ready      yes       worker-1   41d   deployment/web #1
    │ ├─● 10.244.1.13:8080   pod/web-7f45f79f9d-dxq6g   1/1     Ready      yes       worker-2   41d   deployment/web #1
    │ ├─● 10.244.2.13:8080   pod/web-7f45f79f9d-pkjqf   1/1     Ready      yes       worker-3   41d   deployment/web #1
    │ └─✗ 10.244.0.14:8080   pod/web-5cc54d4d56-dcqxn   0/1     NotReady   no        worker-1   2s    deployment/web #2
    │     └ ErrImagePull: web: rpc error: code = NotFound desc = failed to pull and unpack image
    │       "registry.example.com/shop/web:v2.4.1-rc1": failed to resolve reference
    │       "registry.example.com/shop/web:v2.4.1-rc1": registry.example.com/shop/web:v2.4.1-rc1: not found
    ├─ owners: deployment/web > replicaset/web-5cc54d4d56 #2   1/1 pods, 0 available
    └─ owners: deployment/web > replicaset/web-7f45f79f9d #1   3/3 pods, 3 available
    "#);
    assert_snapshot!(rolling("Service", 12_000), @r#"
    80
    service/web  -n shop  ClusterIP 10.96.41.7  http 80->8080/TCP              0:12
    ~ degraded 3/4 ready: 1 ImagePullBackOff  selector app=web
    ENDPOINT                 TARGET                     STATE      NODE       AGE
    ├─ endpointslice/web-cgb6d  IPv4  3 ready, 1 not ready, 0 terminating
    │ ├─● 10.244.0.13:8080   pod/web-7f45f79f9d-268rp   Ready      worker-1   41d
    │ ├─● 10.244.1.13:8080   pod/web-7f45f79f9d-dxq6g   Ready      worker-2   41d
    │ ├─● 10.244.2.13:8080   pod/web-7f45f79f9d-pkjqf   Ready      worker-3   41d
    │ └─✗ 10.244.0.14:8080   pod/web-5cc54d4d56-dcqxn   NotReady   worker-1   10s
    │     └ ImagePullBackOff: web: Back-off pulling image
    │       "registry.example.com/shop/web:v2.4.1-rc1": ErrImagePull: rpc error:
    │       code = NotFound desc = failed to pull and unpack image "registry.examp…
    ├─ owners: deployment/web > replicaset/…b-5cc54d4d56 #2   1/1 pods, 0 available
    └─ owners: deployment/web > replicaset/…b-7f45f79f9d #1   3/3 pods, 3 available
    100
    service/web  -n shop  ClusterIP 10.96.41.7  http 80->8080/TCP                                  0:12
    ~ degraded 3/4 ready: 1 ImagePullBackOff  selector app=web                    4 pods match, 3 ready
    ENDPOINT                 TARGET                     READY   STATE      SERVING   NODE       AGE
    ├─ endpointslice/web-cgb6d  IPv4  3 ready, 1 not ready, 0 terminating
    │ ├─● 10.244.0.13:8080   pod/web-7f45f79f9d-268rp   1/1     Ready      yes       worker-1   41d
    │ ├─● 10.244.1.13:8080   pod/web-7f45f79f9d-dxq6g   1/1     Ready      yes       worker-2   41d
    │ ├─● 10.244.2.13:8080   pod/web-7f45f79f9d-pkjqf   1/1     Ready      yes       worker-3   41d
    │ └─✗ 10.244.0.14:8080   pod/web-5cc54d4d56-dcqxn   0/1     NotReady   no        worker-1   10s
    │     └ ImagePullBackOff: web: Back-off pulling image "registry.example.com/shop/web:v2.4.1-rc1":
    │       ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image
    │       "registry.example.com/shop/web:v2.4.1-rc1": failed to resolve reference "registry.example.…
    ├─ owners: deployment/web > replicaset/web-5cc54d4d56 #2   1/1 pods, 0 available
    └─ owners: deployment/web > replicaset/web-7f45f79f9d #1   3/3 pods, 3 available
    120
    service/web  -n shop  ClusterIP 10.96.41.7  http 80->8080/TCP                                                      0:12
    ~ degraded 3/4 ready: 1 ImagePullBackOff  selector app=web                                        4 pods match, 3 ready
    ENDPOINT                 TARGET                     READY   STATE      SERVING   NODE       AGE   OWNER
    ├─ endpointslice/web-cgb6d  IPv4  3 ready, 1 not ready, 0 terminating
    │ ├─● 10.244.0.13:8080   pod/web-7f45f79f9d-268rp   1/1     Ready      yes       worker-1   41d   deployment/web #1
    │ ├─● 10.244.1.13:8080   pod/web-7f45f79f9d-dxq6g   1/1     Ready      yes       worker-2   41d   deployment/web #1
    │ ├─● 10.244.2.13:8080   pod/web-7f45f79f9d-pkjqf   1/1     Ready      yes       worker-3   41d   deployment/web #1
    │ └─✗ 10.244.0.14:8080   pod/web-5cc54d4d56-dcqxn   0/1     NotReady   no        worker-1   10s   deployment/web #2
    │     └ ImagePullBackOff: web: Back-off pulling image "registry.example.com/shop/web:v2.4.1-rc1": ErrImagePull: rpc
    │       error: code = NotFound desc = failed to pull and unpack image "registry.example.com/shop/web:v2.4.1-rc1":
    │       failed to resolve reference "registry.example.com/shop/web:v2.4.1-rc1": registry.example.com/shop/web:v2.4.1-r…
    ├─ owners: deployment/web > replicaset/web-5cc54d4d56 #2   1/1 pods, 0 available
    └─ owners: deployment/web > replicaset/web-7f45f79f9d #1   3/3 pods, 3 available
    "#);
}

#[test]
fn a_rollout_whose_image_cannot_be_pulled() {
    assert_snapshot!(rolling("Deployment", 4000), @r#"
    80
    deployment/web  -n shop  3 replicas  RollingUpdate, surge 1, unavailable 0
    ✗ rolling out: 1/3 updated, 3 available, 1 failing        9m58s to the deadline
    ✓ +0.0s   spec change   gen 2 by kubectl-set, 2s ago
        ~ …ntainers[name=web].image: ….com/shop/web:v2.3.9 → …/shop/web:v2.4.1-rc1
    ✓ +0.1s   replicaset    web-5cc54d4d56 #2, 1/3 pods
    ~ ...     scheduled     1/3 pods (worker-1)
    ✗ +1.2s   images        0/3 pulled; web-5cc54d4d56-dcqxn ErrImagePull
    · ...     available     0/3 new, 3 old kept
    · ...     old pods      0/3 terminated
    · ...     complete
    ~ no budget: 4 pods of at most 4, 3 available of at least 3
    ● Available=True MinimumReplicasAvailable  41d
    ~ Progressing=True NewReplicaSetCreated  2s
    REVISION                           READY   IMAGE / STATUS   AGE   NODE
    ├─✗ replicaset/web-5cc54d4d56 #2   0/1     web:v2.4.1-rc1   2s
    │ └─✗ pod/web-5cc54d4d56-dcqxn     0/1     ErrImagePull     2s    worker-1
    │     └ web: rpc error: code = NotFound desc = failed to pull and unpack image
    │       "registry.example.com/shop/web:v2.4.1-rc1": failed to resolve reference
    │       "registry.example.com/shop/web:v2.4.1-rc1": registry.example.com/shop/…
    └─● replicaset/web-7f45f79f9d #1   3/3     web:v2.3.9       41d
      ├─● pod/web-7f45f79f9d-268rp     1/1     Running          41d   worker-1
      ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running          41d   worker-2
      └─● pod/web-7f45f79f9d-pkjqf     1/1     Running          41d   worker-3
    CONNECTED           RELATION   STATE        AGE
    └─ in front
      └─~ service/web   selects    InProgress   41d
          └ degraded 3/4 ready: 1 ImagePullBackOff
    looked through 1 service
    100
    deployment/web  -n shop  3 replicas  RollingUpdate, surge 1, unavailable 0                     0:04
    ✗ rolling out: 1/3 updated, 3 available, 1 failing                            9m58s to the deadline
    ✓ +0.0s   spec change   gen 2 by kubectl-set, 2s ago
        ~ …containers[name=web].image: …y.example.com/shop/web:v2.3.9 → …ample.com/shop/web:v2.4.1-rc1
    ✓ +0.1s   replicaset    web-5cc54d4d56 #2, 1/3 pods
    ~ ...     scheduled     1/3 pods (worker-1)
    ✗ +1.2s   images        0/3 pulled; web-5cc54d4d56-dcqxn ErrImagePull
    · ...     available     0/3 new, 3 old kept
    · ...     old pods      0/3 terminated
    · ...     complete
    ~ no budget: 4 pods of at most 4, 3 available of at least 3
    ● Available=True MinimumReplicasAvailable  41d
    ~ Progressing=True NewReplicaSetCreated  2s
    REVISION                           READY   IMAGE / STATUS   AGE   NODE
    ├─✗ replicaset/web-5cc54d4d56 #2   0/1     web:v2.4.1-rc1   2s
    │ └─✗ pod/web-5cc54d4d56-dcqxn     0/1     ErrImagePull     2s    worker-1
    │     └ web: rpc error: code = NotFound desc = failed to pull and unpack image
    │       "registry.example.com/shop/web:v2.4.1-rc1": failed to resolve reference
    │       "registry.example.com/shop/web:v2.4.1-rc1": registry.example.com/shop/web:v2.4.1-rc1: not …
    └─● replicaset/web-7f45f79f9d #1   3/3     web:v2.3.9       41d
      ├─● pod/web-7f45f79f9d-268rp     1/1     Running          41d   worker-1
      ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running          41d   worker-2
      └─● pod/web-7f45f79f9d-pkjqf     1/1     Running          41d   worker-3
    CONNECTED           RELATION   STATE        AGE
    └─ in front
      └─~ service/web   selects    InProgress   41d
          └ degraded 3/4 ready: 1 ImagePullBackOff
    looked through 1 service
    120
    deployment/web  -n shop  3 replicas  RollingUpdate, surge 1, unavailable 0                                         0:04
    ✗ rolling out: 1/3 updated, 3 available, 1 failing                                                9m58s to the deadline
    ✓ +0.0s   spec change   gen 2 by kubectl-set, 2s ago
        ~ …spec.containers[name=web].image: registry.example.com/shop/web:v2.3.9 → registry.example.com/shop/web:v2.4.1-rc1
    ✓ +0.1s   replicaset    web-5cc54d4d56 #2, 1/3 pods
    ~ ...     scheduled     1/3 pods (worker-1)
    ✗ +1.2s   images        0/3 pulled; web-5cc54d4d56-dcqxn ErrImagePull
    · ...     available     0/3 new, 3 old kept
    · ...     old pods      0/3 terminated
    · ...     complete
    ~ no budget: 4 pods of at most 4, 3 available of at least 3
    ● Available=True MinimumReplicasAvailable  41d
    ~ Progressing=True NewReplicaSetCreated  2s
    REVISION                           READY   IMAGE / STATUS   AGE   NODE
    ├─✗ replicaset/web-5cc54d4d56 #2   0/1     web:v2.4.1-rc1   2s
    │ └─✗ pod/web-5cc54d4d56-dcqxn     0/1     ErrImagePull     2s    worker-1
    │     └ web: rpc error: code = NotFound desc = failed to pull and unpack image
    │       "registry.example.com/shop/web:v2.4.1-rc1": failed to resolve reference
    │       "registry.example.com/shop/web:v2.4.1-rc1": registry.example.com/shop/web:v2.4.1-rc1: not found
    └─● replicaset/web-7f45f79f9d #1   3/3     web:v2.3.9       41d
      ├─● pod/web-7f45f79f9d-268rp     1/1     Running          41d   worker-1
      ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running          41d   worker-2
      └─● pod/web-7f45f79f9d-pkjqf     1/1     Running          41d   worker-3
    CONNECTED           RELATION   STATE        AGE
    └─ in front
      └─~ service/web   selects    InProgress   41d
          └ degraded 3/4 ready: 1 ImagePullBackOff
    looked through 1 service
    "#);
    assert_snapshot!(rolling("Deployment", 12_000), @r#"
    80
    deployment/web  -n shop  3 replicas  RollingUpdate, surge 1, unavailable 0
    ✗ rolling out: 1/3 updated, 3 available, 1 failing        9m50s to the deadline
    ✓ +0.0s   spec change   gen 2 by kubectl-set, 10s ago
        ~ …ntainers[name=web].image: ….com/shop/web:v2.3.9 → …/shop/web:v2.4.1-rc1
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
    │       unpack image "registry.example.com/shop/web:v2.4.1-rc1": failed to res…
    └─● replicaset/web-7f45f79f9d #1   3/3     web:v2.3.9         41d
      ├─● pod/web-7f45f79f9d-268rp     1/1     Running            41d   worker-1
      ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running            41d   worker-2
      └─● pod/web-7f45f79f9d-pkjqf     1/1     Running            41d   worker-3
    CONNECTED           RELATION   STATE        AGE
    └─ in front
      └─~ service/web   selects    InProgress   41d
          └ degraded 3/4 ready: 1 ImagePullBackOff
    looked through 1 service
    100
    deployment/web  -n shop  3 replicas  RollingUpdate, surge 1, unavailable 0                     0:12
    ✗ rolling out: 1/3 updated, 3 available, 1 failing                            9m50s to the deadline
    ✓ +0.0s   spec change   gen 2 by kubectl-set, 10s ago
        ~ …containers[name=web].image: …y.example.com/shop/web:v2.3.9 → …ample.com/shop/web:v2.4.1-rc1
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
    │     └ web: Back-off pulling image "registry.example.com/shop/web:v2.4.1-rc1": ErrImagePull: rpc
    │       error: code = NotFound desc = failed to pull and unpack image
    │       "registry.example.com/shop/web:v2.4.1-rc1": failed to resolve reference "registry.example.…
    └─● replicaset/web-7f45f79f9d #1   3/3     web:v2.3.9         41d
      ├─● pod/web-7f45f79f9d-268rp     1/1     Running            41d   worker-1
      ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running            41d   worker-2
      └─● pod/web-7f45f79f9d-pkjqf     1/1     Running            41d   worker-3
    CONNECTED           RELATION   STATE        AGE
    └─ in front
      └─~ service/web   selects    InProgress   41d
          └ degraded 3/4 ready: 1 ImagePullBackOff
    looked through 1 service
    120
    deployment/web  -n shop  3 replicas  RollingUpdate, surge 1, unavailable 0                                         0:12
    ✗ rolling out: 1/3 updated, 3 available, 1 failing                                                9m50s to the deadline
    ✓ +0.0s   spec change   gen 2 by kubectl-set, 10s ago
        ~ …spec.containers[name=web].image: registry.example.com/shop/web:v2.3.9 → registry.example.com/shop/web:v2.4.1-rc1
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
    │     └ web: Back-off pulling image "registry.example.com/shop/web:v2.4.1-rc1": ErrImagePull: rpc error: code =
    │       NotFound desc = failed to pull and unpack image "registry.example.com/shop/web:v2.4.1-rc1": failed to resolve
    │       reference "registry.example.com/shop/web:v2.4.1-rc1": registry.example.com/shop/web:v2.4.1-rc1: not found
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

#[test]
fn a_rollout_that_is_fixed() {
    assert_snapshot!(rolling("Deployment", 22_000), @"
    80
    deployment/web  -n shop  3 replicas  RollingUpdate, surge 1, unavailable 0
    ~ rolling out: 1/3 updated, 3 available                   9m56s to the deadline
    ✓ +0.0s   spec change   gen 3 by kubectl-client-side-apply, 4s ago
        ~ …ntainers[name=web].image: …/shop/web:v2.4.1-rc1 → registr…(+23 B)v2.4.1
    ✓ +0.1s   replicaset    web-589f5c6bfc #3, 1/3 pods
    ~ ...     scheduled     1/3 pods (worker-2)
    ~ ...     images        1/3 pulled
    ~ ...     available     0/3 new, 3 old kept
    ~ ...     old pods      1/4 terminated
    · ...     complete
    ~ no budget: 4 pods of at most 4, 3 available of at least 3
    ● Available=True MinimumReplicasAvailable  41d
    ~ Progressing=True ReplicaSetUpdated  4s
    REVISION                           READY   IMAGE / STATUS   AGE   NODE
    ├─~ replicaset/web-589f5c6bfc #3   0/1     web:v2.4.1       4s
    │ └─~ pod/web-589f5c6bfc-tvgkq     0/1     Running          4s    worker-2
    │     └ web: running, its readiness probe does not succeed (GET :http/readyz
    │       every 2s)
    ├─● replicaset/web-7f45f79f9d #1   3/3     web:v2.3.9       41d
    │ ├─● pod/web-7f45f79f9d-268rp     1/1     Running          41d   worker-1
    │ ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running          41d   worker-2
    │ └─● pod/web-7f45f79f9d-pkjqf     1/1     Running          41d   worker-3
    └─ 1 idle revision (#2)
    CONNECTED           RELATION   STATE        AGE
    └─ in front
      └─~ service/web   selects    InProgress   41d
          └ degraded 3/4 ready
    looked through 1 service
    100
    deployment/web  -n shop  3 replicas  RollingUpdate, surge 1, unavailable 0                     0:22
    ~ rolling out: 1/3 updated, 3 available                                       9m56s to the deadline
    ✓ +0.0s   spec change   gen 3 by kubectl-client-side-apply, 4s ago
        ~ …containers[name=web].image: …ample.com/shop/web:v2.4.1-rc1 → registry.ex…(+14 B)/web:v2.4.1
    ✓ +0.1s   replicaset    web-589f5c6bfc #3, 1/3 pods
    ~ ...     scheduled     1/3 pods (worker-2)
    ~ ...     images        1/3 pulled
    ~ ...     available     0/3 new, 3 old kept
    ~ ...     old pods      1/4 terminated
    · ...     complete
    ~ no budget: 4 pods of at most 4, 3 available of at least 3
    ● Available=True MinimumReplicasAvailable  41d
    ~ Progressing=True ReplicaSetUpdated  4s
    REVISION                           READY   IMAGE / STATUS   AGE   NODE
    ├─~ replicaset/web-589f5c6bfc #3   0/1     web:v2.4.1       4s
    │ └─~ pod/web-589f5c6bfc-tvgkq     0/1     Running          4s    worker-2
    │     └ web: running, its readiness probe does not succeed (GET :http/readyz every 2s)
    ├─● replicaset/web-7f45f79f9d #1   3/3     web:v2.3.9       41d
    │ ├─● pod/web-7f45f79f9d-268rp     1/1     Running          41d   worker-1
    │ ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running          41d   worker-2
    │ └─● pod/web-7f45f79f9d-pkjqf     1/1     Running          41d   worker-3
    └─ 1 idle revision (#2)
    CONNECTED           RELATION   STATE        AGE
    └─ in front
      └─~ service/web   selects    InProgress   41d
          └ degraded 3/4 ready
    looked through 1 service
    120
    deployment/web  -n shop  3 replicas  RollingUpdate, surge 1, unavailable 0                                         0:22
    ~ rolling out: 1/3 updated, 3 available                                                           9m56s to the deadline
    ✓ +0.0s   spec change   gen 3 by kubectl-client-side-apply, 4s ago
        ~ …spec.containers[name=web].image: registry.example.com/shop/web:v2.4.1-rc1 → registry.example.com/shop/web:v2.4.1
    ✓ +0.1s   replicaset    web-589f5c6bfc #3, 1/3 pods
    ~ ...     scheduled     1/3 pods (worker-2)
    ~ ...     images        1/3 pulled
    ~ ...     available     0/3 new, 3 old kept
    ~ ...     old pods      1/4 terminated
    · ...     complete
    ~ no budget: 4 pods of at most 4, 3 available of at least 3
    ● Available=True MinimumReplicasAvailable  41d
    ~ Progressing=True ReplicaSetUpdated  4s
    REVISION                           READY   IMAGE / STATUS   AGE   NODE
    ├─~ replicaset/web-589f5c6bfc #3   0/1     web:v2.4.1       4s
    │ └─~ pod/web-589f5c6bfc-tvgkq     0/1     Running          4s    worker-2
    │     └ web: running, its readiness probe does not succeed (GET :http/readyz every 2s)
    ├─● replicaset/web-7f45f79f9d #1   3/3     web:v2.3.9       41d
    │ ├─● pod/web-7f45f79f9d-268rp     1/1     Running          41d   worker-1
    │ ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running          41d   worker-2
    │ └─● pod/web-7f45f79f9d-pkjqf     1/1     Running          41d   worker-3
    └─ 1 idle revision (#2)
    CONNECTED           RELATION   STATE        AGE
    └─ in front
      └─~ service/web   selects    InProgress   41d
          └ degraded 3/4 ready
    looked through 1 service
    ");
    assert_snapshot!(rolling("Service", 22_000), @"
    80
    service/web  -n shop  ClusterIP 10.96.41.7  http 80->8080/TCP              0:22
    ~ degraded 3/4 ready  selector app=web                    4 pods match, 3 ready
    ENDPOINT                 TARGET                     STATE      NODE       AGE
    ├─ endpointslice/web-cgb6d  IPv4  3 ready, 1 not ready, 0 terminating
    │ ├─● 10.244.0.13:8080   pod/web-7f45f79f9d-268rp   Ready      worker-1   41d
    │ ├─● 10.244.1.13:8080   pod/web-7f45f79f9d-dxq6g   Ready      worker-2   41d
    │ ├─● 10.244.2.13:8080   pod/web-7f45f79f9d-pkjqf   Ready      worker-3   41d
    │ └─~ 10.244.1.15:8080   pod/web-589f5c6bfc-tvgkq   NotReady   worker-2   4s
    │     └ web: running, its readiness probe does not succeed (GET :http/readyz
    │       every 2s)
    ├─ owners: deployment/web > replicaset/…b-589f5c6bfc #3   1/1 pods, 0 available
    └─ owners: deployment/web > replicaset/…b-7f45f79f9d #1   3/3 pods, 3 available
    100
    service/web  -n shop  ClusterIP 10.96.41.7  http 80->8080/TCP                                  0:22
    ~ degraded 3/4 ready  selector app=web                                        4 pods match, 3 ready
    ENDPOINT                 TARGET                     READY   STATE      SERVING   NODE       AGE
    ├─ endpointslice/web-cgb6d  IPv4  3 ready, 1 not ready, 0 terminating
    │ ├─● 10.244.0.13:8080   pod/web-7f45f79f9d-268rp   1/1     Ready      yes       worker-1   41d
    │ ├─● 10.244.1.13:8080   pod/web-7f45f79f9d-dxq6g   1/1     Ready      yes       worker-2   41d
    │ ├─● 10.244.2.13:8080   pod/web-7f45f79f9d-pkjqf   1/1     Ready      yes       worker-3   41d
    │ └─~ 10.244.1.15:8080   pod/web-589f5c6bfc-tvgkq   0/1     NotReady   no        worker-2   4s
    │     └ web: running, its readiness probe does not succeed (GET :http/readyz every 2s)
    ├─ owners: deployment/web > replicaset/web-589f5c6bfc #3   1/1 pods, 0 available
    └─ owners: deployment/web > replicaset/web-7f45f79f9d #1   3/3 pods, 3 available
    120
    service/web  -n shop  ClusterIP 10.96.41.7  http 80->8080/TCP                                                      0:22
    ~ degraded 3/4 ready  selector app=web                                                            4 pods match, 3 ready
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
}

#[test]
fn an_autoscaler_that_scales() {
    let scaled = |kind| widths(&Feed::of_scenario(&config(), (kind, "api"), 13_000));
    assert_snapshot!(scaled("Service"), @"
    80
    service/api  -n shop  ClusterIP 10.96.41.7  http 80->8080/TCP              0:13
    ● 3/3 ready  selector app=api                             5 pods match, 3 ready
    ENDPOINT                 TARGET                     STATE               AGE
    ├─ endpointslice/api-tstxv  IPv4  3 ready, 0 not ready, 0 terminating
    │ ├─● 10.244.1.13:8080   pod/api-7d84b8bbd6-bpkjq   Ready               11d
    │ ├─● 10.244.2.13:8080   pod/api-7d84b8bbd6-d9ddc   Ready               11d
    │ └─● 10.244.0.13:8080   pod/api-7d84b8bbd6-fdxq6   Ready               11d
    ├─ no endpoints  2 pods match but are in no slice
    │ ├─~ -                  pod/api-7d84b8bbd6-m2ctv   ContainerCreating   1s
    │ │   └ 2 × no endpoint: the pod has no address yet
    │ └─~ -                  pod/api-7d84b8bbd6-qlbr2   ContainerCreating   1s
    └─ owners: deployment/api > replicaset/…i-7d84b8bbd6 #1   5/5 pods, 3 available
    100
    service/api  -n shop  ClusterIP 10.96.41.7  http 80->8080/TCP                                  0:13
    ● 3/3 ready  selector app=api                                                 5 pods match, 3 ready
    ENDPOINT                 TARGET                     READY   STATE               NODE       AGE
    ├─ endpointslice/api-tstxv  IPv4  3 ready, 0 not ready, 0 terminating
    │ ├─● 10.244.1.13:8080   pod/api-7d84b8bbd6-bpkjq   1/1     Ready               worker-2   11d
    │ ├─● 10.244.2.13:8080   pod/api-7d84b8bbd6-d9ddc   1/1     Ready               worker-3   11d
    │ └─● 10.244.0.13:8080   pod/api-7d84b8bbd6-fdxq6   1/1     Ready               worker-1   11d
    ├─ no endpoints  2 pods match but are in no slice
    │ ├─~ -                  pod/api-7d84b8bbd6-m2ctv   0/1     ContainerCreating   worker-1   1s
    │ │   └ 2 × no endpoint: the pod has no address yet
    │ └─~ -                  pod/api-7d84b8bbd6-qlbr2   0/1     ContainerCreating   worker-2   1s
    └─ owners: deployment/api > replicaset/api-7d84b8bbd6 #1   5/5 pods, 3 available
    120
    service/api  -n shop  ClusterIP 10.96.41.7  http 80->8080/TCP                                                      0:13
    ● 3/3 ready  selector app=api                                                                     5 pods match, 3 ready
    ENDPOINT                 TARGET                     READY   STATE               SERVING   NODE       AGE
    ├─ endpointslice/api-tstxv  IPv4  3 ready, 0 not ready, 0 terminating
    │ ├─● 10.244.1.13:8080   pod/api-7d84b8bbd6-bpkjq   1/1     Ready               yes       worker-2   11d
    │ ├─● 10.244.2.13:8080   pod/api-7d84b8bbd6-d9ddc   1/1     Ready               yes       worker-3   11d
    │ └─● 10.244.0.13:8080   pod/api-7d84b8bbd6-fdxq6   1/1     Ready               yes       worker-1   11d
    ├─ no endpoints  2 pods match but are in no slice
    │ ├─~ -                  pod/api-7d84b8bbd6-m2ctv   0/1     ContainerCreating   no        worker-1   1s
    │ │   └ 2 × no endpoint: the pod has no address yet
    │ └─~ -                  pod/api-7d84b8bbd6-qlbr2   0/1     ContainerCreating   no        worker-2   1s
    └─ owners: deployment/api > replicaset/api-7d84b8bbd6 #1   5/5 pods, 3 available
    ");
    assert_snapshot!(scaled("Deployment"), @"
    80
    deployment/api  -n shop  5 replicas  RollingUpdate, surge 1, unavailable 1
    ~ rolling out: 5/5 updated, 3 available                   9m59s to the deadline
    ✓ +0.0s   spec change   gen 2 by kube-controller-manager (scale), 0s ago
        ~ .spec.replicas: 3 → 5
    ✓ +0.0s   replicaset    api-7d84b8bbd6 #1, 5/5 pods
    ✓ +0.1s   scheduled     5/5 pods (worker-1, worker-2, worker-3)
    ~ ...     images        3/5 pulled
    ~ ...     available     3/5 new
    · ...     complete
    ~ Available=False MinimumReplicasUnavailable  1s
    ~ Progressing=True ReplicaSetUpdated  1s
    REVISION                           READY   IMAGE / STATUS      AGE   NODE
    └─~ replicaset/api-7d84b8bbd6 #1   3/5     api:v1.18.0         11d
      ├─● pod/api-7d84b8bbd6-bpkjq     1/1     Running             11d   worker-2
      ├─● pod/api-7d84b8bbd6-d9ddc     1/1     Running             11d   worker-3
      ├─● pod/api-7d84b8bbd6-fdxq6     1/1     Running             11d   worker-1
      ├─~ pod/api-7d84b8bbd6-m2ctv     0/1     ContainerCreating   1s    worker-1
      └─~ pod/api-7d84b8bbd6-qlbr2     0/1     ContainerCreating   1s    worker-2
    CONNECTED                           RELATION       STATE     AGE
    └─ in front
      ├─● service/api                   selects        Current   12d
      └─● horizontalpodautoscaler/api   scale target   Current   11d
          └ scales from 3 to 5 replicas
          └ cpu is at 92%, its target is 70%
    looked through 1 horizontalpodautoscaler and 1 service
    100
    deployment/api  -n shop  5 replicas  RollingUpdate, surge 1, unavailable 1                     0:13
    ~ rolling out: 5/5 updated, 3 available                                       9m59s to the deadline
    ✓ +0.0s   spec change   gen 2 by kube-controller-manager (scale), 0s ago
        ~ .spec.replicas: 3 → 5
    ✓ +0.0s   replicaset    api-7d84b8bbd6 #1, 5/5 pods
    ✓ +0.1s   scheduled     5/5 pods (worker-1, worker-2, worker-3)
    ~ ...     images        3/5 pulled
    ~ ...     available     3/5 new
    · ...     complete
    ~ Available=False MinimumReplicasUnavailable  1s
    ~ Progressing=True ReplicaSetUpdated  1s
    REVISION                           READY   IMAGE / STATUS      AGE   NODE
    └─~ replicaset/api-7d84b8bbd6 #1   3/5     api:v1.18.0         11d
      ├─● pod/api-7d84b8bbd6-bpkjq     1/1     Running             11d   worker-2
      ├─● pod/api-7d84b8bbd6-d9ddc     1/1     Running             11d   worker-3
      ├─● pod/api-7d84b8bbd6-fdxq6     1/1     Running             11d   worker-1
      ├─~ pod/api-7d84b8bbd6-m2ctv     0/1     ContainerCreating   1s    worker-1
      └─~ pod/api-7d84b8bbd6-qlbr2     0/1     ContainerCreating   1s    worker-2
    CONNECTED                           RELATION       STATE     AGE
    └─ in front
      ├─● service/api                   selects        Current   12d
      └─● horizontalpodautoscaler/api   scale target   Current   11d
          └ scales from 3 to 5 replicas
          └ cpu is at 92%, its target is 70%
    looked through 1 horizontalpodautoscaler and 1 service
    120
    deployment/api  -n shop  5 replicas  RollingUpdate, surge 1, unavailable 1                                         0:13
    ~ rolling out: 5/5 updated, 3 available                                                           9m59s to the deadline
    ✓ +0.0s   spec change   gen 2 by kube-controller-manager (scale), 0s ago
        ~ .spec.replicas: 3 → 5
    ✓ +0.0s   replicaset    api-7d84b8bbd6 #1, 5/5 pods
    ✓ +0.1s   scheduled     5/5 pods (worker-1, worker-2, worker-3)
    ~ ...     images        3/5 pulled
    ~ ...     available     3/5 new
    · ...     complete
    ~ Available=False MinimumReplicasUnavailable  1s
    ~ Progressing=True ReplicaSetUpdated  1s
    REVISION                           READY   IMAGE / STATUS      AGE   NODE
    └─~ replicaset/api-7d84b8bbd6 #1   3/5     api:v1.18.0         11d
      ├─● pod/api-7d84b8bbd6-bpkjq     1/1     Running             11d   worker-2
      ├─● pod/api-7d84b8bbd6-d9ddc     1/1     Running             11d   worker-3
      ├─● pod/api-7d84b8bbd6-fdxq6     1/1     Running             11d   worker-1
      ├─~ pod/api-7d84b8bbd6-m2ctv     0/1     ContainerCreating   1s    worker-1
      └─~ pod/api-7d84b8bbd6-qlbr2     0/1     ContainerCreating   1s    worker-2
    CONNECTED                           RELATION       STATE     AGE
    └─ in front
      ├─● service/api                   selects        Current   12d
      └─● horizontalpodautoscaler/api   scale target   Current   11d
          └ scales from 3 to 5 replicas
          └ cpu is at 92%, its target is 70%
    looked through 1 horizontalpodautoscaler and 1 service
    ");
    assert_snapshot!(scaled("HorizontalPodAutoscaler"), @"
    80
    horizontalpodautoscaler/api  -n shop                                       0:13
    ● Resource is current                                                       11d
    └ scales from 3 to 5 replicas
    └ cpu is at 92%, its target is 70%
    CONNECTED                            RELATION       STATE               AGE
    └─ behind
      └─~ deployment/api                 scale target   InProgress          11d
        └─~ replicaset/api-7d84b8bbd6    owned          InProgress          11d
          ├─● pod/api-7d84b8bbd6-bpkjq   owned          Running             11d
          ├─● pod/api-7d84b8bbd6-d9ddc   owned          Running             11d
          ├─● pod/api-7d84b8bbd6-fdxq6   owned          Running             11d
          ├─~ pod/api-7d84b8bbd6-m2ctv   owned          ContainerCreating   1s
          └─~ pod/api-7d84b8bbd6-qlbr2   owned          ContainerCreating   1s
    100
    horizontalpodautoscaler/api  -n shop                                                           0:13
    ● Resource is current                                                                           11d
    └ scales from 3 to 5 replicas
    └ cpu is at 92%, its target is 70%
    CONNECTED                            RELATION       READY   STATE               AGE
    └─ behind
      └─~ deployment/api                 scale target   3/5     InProgress          11d
        └─~ replicaset/api-7d84b8bbd6    owned          3/5     InProgress          11d
          ├─● pod/api-7d84b8bbd6-bpkjq   owned          1/1     Running             11d
          ├─● pod/api-7d84b8bbd6-d9ddc   owned          1/1     Running             11d
          ├─● pod/api-7d84b8bbd6-fdxq6   owned          1/1     Running             11d
          ├─~ pod/api-7d84b8bbd6-m2ctv   owned          0/1     ContainerCreating   1s
          └─~ pod/api-7d84b8bbd6-qlbr2   owned          0/1     ContainerCreating   1s
    120
    horizontalpodautoscaler/api  -n shop                                                                               0:13
    ● Resource is current                                                                                               11d
    └ scales from 3 to 5 replicas
    └ cpu is at 92%, its target is 70%
    CONNECTED                            RELATION       READY   STATE               AGE
    └─ behind
      └─~ deployment/api                 scale target   3/5     InProgress          11d
        └─~ replicaset/api-7d84b8bbd6    owned          3/5     InProgress          11d
          ├─● pod/api-7d84b8bbd6-bpkjq   owned          1/1     Running             11d
          ├─● pod/api-7d84b8bbd6-d9ddc   owned          1/1     Running             11d
          ├─● pod/api-7d84b8bbd6-fdxq6   owned          1/1     Running             11d
          ├─~ pod/api-7d84b8bbd6-m2ctv   owned          0/1     ContainerCreating   1s
          └─~ pod/api-7d84b8bbd6-qlbr2   owned          0/1     ContainerCreating   1s
    ");
}

const NAME: &str = "recommendation-engine-canary-frontend";

/// The names are as long as those of charts, and the messages as long as those of a kubelet.
fn crashing(kind: &str) -> String {
    let hash = format!("{NAME}-7c5ddbdf54");
    let mut feed = Feed::of(kind, NAME);
    feed.put(&format!(
        r#"{{apiVersion: v1, kind: Service, metadata: {{name: {NAME}, uid: service}}, spec: {{clusterIP: 10.96.0.1, selector: {{app: web}}, ports: [{{name: http, port: 80, targetPort: 8080}}]}}}}
---
{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {NAME}, uid: deployment, generation: 2}}, spec: {{replicas: 3, selector: {{matchLabels: {{app: web}}}}, template: {{metadata: {{labels: {{app: web}}}}}}}}, status: {{observedGeneration: 2, replicas: 3, updatedReplicas: 3, unavailableReplicas: 3}}}}
---
{{apiVersion: apps/v1, kind: ReplicaSet, metadata: {{name: {hash}, uid: set, labels: {{app: web}}, annotations: {{deployment.kubernetes.io/revision: "2"}}, ownerReferences: [{{apiVersion: apps/v1, kind: Deployment, name: {NAME}, uid: deployment, controller: true}}]}}, spec: {{replicas: 3, selector: {{matchLabels: {{app: web}}}}, template: {{metadata: {{labels: {{app: web}}}}}}}}, status: {{replicas: 3}}}}"#
    ));
    for (suffix, reason, message) in [
        (
            "x2k9p",
            "CrashLoopBackOff",
            "back-off 5m0s restarting failed container=app pod=x2k9p",
        ),
        (
            "9qkzv",
            "CreateContainerConfigError",
            "secret recommendation-engine-canary-frontend-credentials not found",
        ),
        (
            "bbl4w",
            "ErrImagePull",
            "code = NotFound desc = failed to pull and unpack image registry.example.com/shop/web",
        ),
    ] {
        feed.put(&format!(
            r#"{{apiVersion: v1, kind: Pod, metadata: {{name: {hash}-{suffix}, labels: {{app: web}}, ownerReferences: [{{apiVersion: apps/v1, kind: ReplicaSet, name: {hash}, uid: set, controller: true}}]}}, spec: {{nodeName: ip-10-180-24-117.eu-central-1.compute.internal, containers: [{{name: app, image: web}}]}}, status: {{phase: Pending, podIPs: [{{ip: 10.0.0.1}}], conditions: [{{type: Ready, status: "False", reason: ContainersNotReady}}], containerStatuses: [{{name: app, image: web, ready: false, restartCount: 7, state: {{waiting: {{reason: {reason}, message: "{message}"}}}}}}]}}}}"#
        ));
    }
    widths(&feed)
}

#[test]
fn long_names_leave_room_for_reasons() {
    assert_snapshot!(crashing("Service"), @"
    80
    service/recommendation-engine-canary-frontend  -n shop  ClusterIP 10.96.0.1
    ✗ 3 pods match, none is ready: 1 CrashLoopBackOff, 1 CreateContainerConfigErro…
    ENDPOINT   TARGET                                    STATE
    ├─ no endpoints  3 pods match but are in no slice
    │ ├─✗ -    pod/recommendation-…nd-7c5ddbdf54-9qkzv   CreateContainerConfigError
    │ │   └ no endpoint: no slice lists the pod yet
    │ │   └ app: CreateContainerConfigError: secret
    │ │     recommendation-engine-canary-frontend-credentials not found
    │ ├─✗ -    pod/recommendation-…nd-7c5ddbdf54-bbl4w   ErrImagePull
    │ │   └ no endpoint: no slice lists the pod yet
    │ │   └ app: code = NotFound desc = failed to pull and unpack image
    │ │     registry.example.com/shop/web
    │ └─✗ -    pod/recommendation-…nd-7c5ddbdf54-x2k9p   CrashLoopBackOff
    │     └ no endpoint: no slice lists the pod yet
    │     └ app: CrashLoopBackOff: back-off 5m0s restarting failed container=app
    │       pod=x2k9p
    └─ owners: deployment…ry-frontend > replica…5ddbdf54 #2   3/3 pods, 0 available
    100
    service/recommendation-engine-canary-frontend  -n shop  ClusterIP 10.96.0.1  http 80->8080/TCP
    ✗ 3 pods match, none is ready: 1 CrashLoopBackOff, 1 CreateContainerConfigError, 1 ImagePullBackOf…
    ENDPOINT   TARGET                                                       STATE
    ├─ no endpoints  3 pods match but are in no slice
    │ ├─✗ -    pod/recommendation-engine-canary-frontend-7c5ddbdf54-9qkzv   CreateContainerConfigError
    │ │   └ no endpoint: no slice lists the pod yet
    │ │   └ app: CreateContainerConfigError: secret recommendation-engine-canary-frontend-credentials
    │ │     not found
    │ ├─✗ -    pod/recommendation-engine-canary-frontend-7c5ddbdf54-bbl4w   ErrImagePull
    │ │   └ no endpoint: no slice lists the pod yet
    │ │   └ app: code = NotFound desc = failed to pull and unpack image registry.example.com/shop/web
    │ └─✗ -    pod/recommendation-engine-canary-frontend-7c5ddbdf54-x2k9p   CrashLoopBackOff
    │     └ no endpoint: no slice lists the pod yet
    │     └ app: CrashLoopBackOff: back-off 5m0s restarting failed container=app pod=x2k9p
    └─ owners: deployment/recommend…ngine-canary-frontend > replica…5ddbdf54 #2   3/3 pods, 0 available
    120
    service/recommendation-engine-canary-frontend  -n shop  ClusterIP 10.96.0.1  http 80->8080/TCP                     0:00
    ✗ 3 pods match, none is ready: 1 CrashLoopBackOff, 1 CreateContainerConfigError, 1 ImagePullBackOff  selector app=web
    ENDPOINT   TARGET                                                       STATE
    ├─ no endpoints  3 pods match but are in no slice
    │ ├─✗ -    pod/recommendation-engine-canary-frontend-7c5ddbdf54-9qkzv   CreateContainerConfigError
    │ │   └ no endpoint: no slice lists the pod yet
    │ │   └ app: CreateContainerConfigError: secret recommendation-engine-canary-frontend-credentials not found
    │ ├─✗ -    pod/recommendation-engine-canary-frontend-7c5ddbdf54-bbl4w   ErrImagePull
    │ │   └ no endpoint: no slice lists the pod yet
    │ │   └ app: code = NotFound desc = failed to pull and unpack image registry.example.com/shop/web
    │ └─✗ -    pod/recommendation-engine-canary-frontend-7c5ddbdf54-x2k9p   CrashLoopBackOff
    │     └ no endpoint: no slice lists the pod yet
    │     └ app: CrashLoopBackOff: back-off 5m0s restarting failed container=app pod=x2k9p
    └─ owners: deployment/recommendation-engine-canary-frontend > replicaset/rec…tend-7c5ddbdf54 #2   3/3 pods, 0 available
    ");
    assert_snapshot!(crashing("Deployment"), @"
    80
    deployment/recommendation-engine-canary-frontend  -n shop  3 replicas
    ✗ rolling out: 3/3 updated, 0 available, 3 failing
    ✓         spec change   gen 2
    ✓         replicaset    recommendation-engin…y-frontend-7c5ddbdf54 #2, 3/3 pods
    ✓         scheduled     3/3 pods (ip-10-180-24-117.eu-c…ral-1.compute.internal)
    ✗         images        0/3 pulled; recommendation…c5ddbdf54-bbl4w ErrImagePull
    ✗         available     0/3 new; recomme…54-9qkzv CreateContainerConfigError a…
    · ...     complete
    REVISION                                     READY   IMAGE / STATUS
    └─✗ replicaset/recomme…ntend-7c5ddbdf54 #2   0/3
      ├─✗ pod/recommendatio…d-7c5ddbdf54-9qkzv   0/1     CreateContainerConfigError
      │   └ app: CreateContainerConfigError: secret
      │     recommendation-engine-canary-frontend-credentials not found
      ├─✗ pod/recommendatio…d-7c5ddbdf54-bbl4w   0/1     ErrImagePull
      │   └ app: code = NotFound desc = failed to pull and unpack image
      │     registry.example.com/shop/web
      └─✗ pod/recommendatio…d-7c5ddbdf54-x2k9p   0/1     CrashLoopBackOff
          └ app: CrashLoopBackOff: back-off 5m0s restarting failed container=app
            pod=x2k9p
    CONNECTED                                             RELATION   STATE
    └─ in front
      └─✗ service/recommendation-engine-canary-frontend   selects    Failed
          └ 3 pods match, none is ready: 1 CrashLoopBackOff, 1
            CreateContainerConfigError, 1 ImagePullBackOff
    looked through 1 service
    100
    deployment/recommendation-engine-canary-frontend  -n shop  3 replicas  RollingUpdate           0:00
    ✗ rolling out: 3/3 updated, 0 available, 3 failing
    ✓         spec change   gen 2
    ✓         replicaset    recommendation-engine-canary-frontend-7c5ddbdf54 #2, 3/3 pods
    ✓         scheduled     3/3 pods (ip-10-180-24-117.eu-central-1.compute.internal)
    ✗         images        0/3 pulled; recommendation-engine-ca…frontend-7c5ddbdf54-bbl4w ErrImagePull
    ✗         available     0/3 new; recommendatio…5ddbdf54-9qkzv CreateContainerConfigError and 1 more
    · ...     complete
    REVISION                                                         READY   IMAGE / STATUS
    └─✗ replicaset/recommendation-en…canary-frontend-7c5ddbdf54 #2   0/3
      ├─✗ pod/recommendation-engine-c…ry-frontend-7c5ddbdf54-9qkzv   0/1     CreateContainerConfigError
      │   └ app: CreateContainerConfigError: secret recommendation-engine-canary-frontend-credentials
      │     not found
      ├─✗ pod/recommendation-engine-c…ry-frontend-7c5ddbdf54-bbl4w   0/1     ErrImagePull
      │   └ app: code = NotFound desc = failed to pull and unpack image registry.example.com/shop/web
      └─✗ pod/recommendation-engine-c…ry-frontend-7c5ddbdf54-x2k9p   0/1     CrashLoopBackOff
          └ app: CrashLoopBackOff: back-off 5m0s restarting failed container=app pod=x2k9p
    CONNECTED                                             RELATION   STATE
    └─ in front
      └─✗ service/recommendation-engine-canary-frontend   selects    Failed
          └ 3 pods match, none is ready: 1 CrashLoopBackOff, 1 CreateContainerConfigError, 1
            ImagePullBackOff
    looked through 1 service
    120
    deployment/recommendation-engine-canary-frontend  -n shop  3 replicas  RollingUpdate                               0:00
    ✗ rolling out: 3/3 updated, 0 available, 3 failing
    ✓         spec change   gen 2
    ✓         replicaset    recommendation-engine-canary-frontend-7c5ddbdf54 #2, 3/3 pods
    ✓         scheduled     3/3 pods (ip-10-180-24-117.eu-central-1.compute.internal)
    ✗         images        0/3 pulled; recommendation-engine-canary-frontend-7c5ddbdf54-bbl4w ErrImagePull
    ✗         available     0/3 new; recommendation-engine-c…rontend-7c5ddbdf54-9qkzv CreateContainerConfigError and 1 more
    · ...     complete
    REVISION                                                             READY   IMAGE / STATUS
    └─✗ replicaset/recommendation-engine-canary-frontend-7c5ddbdf54 #2   0/3
      ├─✗ pod/recommendation-engine-canary-frontend-7c5ddbdf54-9qkzv     0/1     CreateContainerConfigError
      │   └ app: CreateContainerConfigError: secret recommendation-engine-canary-frontend-credentials not found
      ├─✗ pod/recommendation-engine-canary-frontend-7c5ddbdf54-bbl4w     0/1     ErrImagePull
      │   └ app: code = NotFound desc = failed to pull and unpack image registry.example.com/shop/web
      └─✗ pod/recommendation-engine-canary-frontend-7c5ddbdf54-x2k9p     0/1     CrashLoopBackOff
          └ app: CrashLoopBackOff: back-off 5m0s restarting failed container=app pod=x2k9p
    CONNECTED                                             RELATION   STATE
    └─ in front
      └─✗ service/recommendation-engine-canary-frontend   selects    Failed
          └ 3 pods match, none is ready: 1 CrashLoopBackOff, 1 CreateContainerConfigError, 1 ImagePullBackOff
    looked through 1 service
    ");
}
