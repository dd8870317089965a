//! `trace` of recorded objects.

use insta::assert_snapshot;

use super::shown;

#[test]
fn trace_of_a_rollout_at_80_columns() {
    assert_snapshot!(shown(80, "trace deploy/web"), @r#"
    deployment/web  -n shop  6 replicas  RollingUpdate, surge 2, unavailable 1
    ✗ FailedCreate: 1/6 updated, 3 available, 3 failing        9m36s to the deadline
    ✓ +0s     spec change   by kubectl-set, 28s ago
        ~ …template.spec.containers[name=web].image: shop/web:2.4.1 → shop/web:bad
    ✗         replicaset    web-5cfd779546 #2, 1/6 pods
    ~ ...     scheduled     1/6 pods (node-2)
    ✗         images        0/6 pulled; web-5cfd779546-xppqj ImagePullBackOff
    · ...     available     0/6 new, 3 old kept
    · ...     old pods      0/3 terminated
    · ...     complete
    ✗ exceeded quota small: pods needs 1, 0 free (8 of 8 used)
    ~ Available=False MinimumReplicasUnavailable  25s
    ✗ ReplicaFailure=True FailedCreate  25s
      └ pods "web-5cfd779546-mt6ls" is forbidden: exceeded quota: small, requested:
        pods=1, used: pods=8, limited: pods=8
    ~ Progressing=True ReplicaSetUpdated  24s
    REVISION                           READY   IMAGE / STATUS     AGE   NODE
    ├─✗ replicaset/web-5cfd779546 #2   0/3     web:bad            28s
    │ └─✗ pod/web-5cfd779546-xppqj     0/1     ImagePullBackOff   28s   node-2
    │     └ web: Back-off pulling image "shop/web:bad": ErrImagePull: rpc error:
    │       code = NotFound desc = failed to pull and unpack image "shop/web:bad":
    │       failed to resolve reference "shop/web:bad": shop/web:bad: not found
    └─✗ replicaset/web-74cdd4dbbd #1   3/5     web:2.4.1          36s
      ├─● pod/web-74cdd4dbbd-p5hdn     1/1     Running            36s   node-1
      ├─● pod/web-74cdd4dbbd-tkpjd     1/1     Running            36s   node-2
      └─● pod/web-74cdd4dbbd-zqqfz     1/1     Running            25s   node-1
    CONNECTED           RELATION   STATE        AGE
    └─ in front
      └─~ service/web   selects    InProgress   36s
          └ degraded 3/4 ready: 1 ImagePullBackOff
    looked through 1 service
    "#);
}

#[test]
fn trace_of_a_rollout_at_100_columns() {
    assert_snapshot!(shown(100, "trace deploy/web"), @r#"
    deployment/web  -n shop  6 replicas  RollingUpdate, surge 2, unavailable 1
    ✗ FailedCreate: 1/6 updated, 3 available, 3 failing                            9m36s to the deadline
    ✓ +0s     spec change   by kubectl-set, 28s ago
        ~ .spec.template.spec.containers[name=web].image: shop/web:2.4.1 → shop/web:bad
    ✗         replicaset    web-5cfd779546 #2, 1/6 pods
    ~ ...     scheduled     1/6 pods (node-2)
    ✗         images        0/6 pulled; web-5cfd779546-xppqj ImagePullBackOff
    · ...     available     0/6 new, 3 old kept
    · ...     old pods      0/3 terminated
    · ...     complete
    ✗ exceeded quota small: pods needs 1, 0 free (8 of 8 used)
    ~ Available=False MinimumReplicasUnavailable  25s
    ✗ ReplicaFailure=True FailedCreate  25s
      └ pods "web-5cfd779546-mt6ls" is forbidden: exceeded quota: small, requested: pods=1, used:
        pods=8, limited: pods=8
    ~ Progressing=True ReplicaSetUpdated  24s
    REVISION                           READY   IMAGE / STATUS     AGE   NODE
    ├─✗ replicaset/web-5cfd779546 #2   0/3     web:bad            28s
    │ └─✗ pod/web-5cfd779546-xppqj     0/1     ImagePullBackOff   28s   node-2
    │     └ web: Back-off pulling image "shop/web:bad": ErrImagePull: rpc error: code = NotFound desc =
    │       failed to pull and unpack image "shop/web:bad": failed to resolve reference "shop/web:bad":
    │       shop/web:bad: not found
    └─✗ replicaset/web-74cdd4dbbd #1   3/5     web:2.4.1          36s
      ├─● pod/web-74cdd4dbbd-p5hdn     1/1     Running            36s   node-1
      ├─● pod/web-74cdd4dbbd-tkpjd     1/1     Running            36s   node-2
      └─● pod/web-74cdd4dbbd-zqqfz     1/1     Running            25s   node-1
    CONNECTED           RELATION   STATE        AGE
    └─ in front
      └─~ service/web   selects    InProgress   36s
          └ degraded 3/4 ready: 1 ImagePullBackOff
    looked through 1 service
    "#);
}

#[test]
fn trace_of_a_rollout_at_120_columns() {
    assert_snapshot!(shown(120, "trace deploy/web"), @r#"
    deployment/web  -n shop  6 replicas  RollingUpdate, surge 2, unavailable 1
    ✗ FailedCreate: 1/6 updated, 3 available, 3 failing                                                9m36s to the deadline
    ✓ +0s     spec change   by kubectl-set, 28s ago
        ~ .spec.template.spec.containers[name=web].image: shop/web:2.4.1 → shop/web:bad
    ✗         replicaset    web-5cfd779546 #2, 1/6 pods
    ~ ...     scheduled     1/6 pods (node-2)
    ✗         images        0/6 pulled; web-5cfd779546-xppqj ImagePullBackOff
    · ...     available     0/6 new, 3 old kept
    · ...     old pods      0/3 terminated
    · ...     complete
    ✗ exceeded quota small: pods needs 1, 0 free (8 of 8 used)
    ~ Available=False MinimumReplicasUnavailable  25s
    ✗ ReplicaFailure=True FailedCreate  25s
      └ pods "web-5cfd779546-mt6ls" is forbidden: exceeded quota: small, requested: pods=1, used: pods=8, limited: pods=8
    ~ Progressing=True ReplicaSetUpdated  24s
    REVISION                           READY   IMAGE / STATUS     AGE   NODE
    ├─✗ replicaset/web-5cfd779546 #2   0/3     web:bad            28s
    │ └─✗ pod/web-5cfd779546-xppqj     0/1     ImagePullBackOff   28s   node-2
    │     └ web: Back-off pulling image "shop/web:bad": ErrImagePull: rpc error: code = NotFound desc = failed to pull and
    │       unpack image "shop/web:bad": failed to resolve reference "shop/web:bad": shop/web:bad: not found
    └─✗ replicaset/web-74cdd4dbbd #1   3/5     web:2.4.1          36s
      ├─● pod/web-74cdd4dbbd-p5hdn     1/1     Running            36s   node-1
      ├─● pod/web-74cdd4dbbd-tkpjd     1/1     Running            36s   node-2
      └─● pod/web-74cdd4dbbd-zqqfz     1/1     Running            25s   node-1
    CONNECTED           RELATION   STATE        AGE
    └─ in front
      └─~ service/web   selects    InProgress   36s
          └ degraded 3/4 ready: 1 ImagePullBackOff
    looked through 1 service
    "#);
}

#[test]
fn trace_of_a_service_at_80_columns() {
    assert_snapshot!(shown(80, "trace svc/web"), @r#"
    service/web  -n shop  ClusterIP 10.96.227.147  http 80->8080/TCP
    ~ degraded 3/4 ready: 1 ImagePullBackOff  selector app=web
    ENDPOINT                TARGET                     STATE      NODE     AGE
    ├─ endpointslice/web-xdbtf  IPv4  3 ready, 1 not ready, 0 terminating
    │ ├─● 10.128.0.1:8080   pod/web-74cdd4dbbd-p5hdn   Ready      node-1   36s
    │ ├─● 10.128.0.2:8080   pod/web-74cdd4dbbd-tkpjd   Ready      node-2   36s
    │ ├─● 10.128.0.8:8080   pod/web-74cdd4dbbd-zqqfz   Ready      node-1   25s
    │ └─✗ 10.128.0.7:8080   pod/web-5cfd779546-xppqj   NotReady   node-2   28s
    │     └ ImagePullBackOff: web: Back-off pulling image "shop/web:bad":
    │       ErrImagePull: rpc error: code = NotFound desc = failed to pull and
    │       unpack image "shop/web:bad": failed to resolve reference "shop/web:bad"…
    ├─ owners: deployment/web > replicaset/web-5cfd779546 #2   1/3 pods, 0 available
    └─ owners: deployment/web > replicaset/web-74cdd4dbbd #1   3/5 pods, 3 available
    looked through 1 statefulset
    "#);
}

#[test]
fn trace_of_a_service_at_100_columns() {
    assert_snapshot!(shown(100, "trace svc/web"), @r#"
    service/web  -n shop  ClusterIP 10.96.227.147  http 80->8080/TCP
    ~ degraded 3/4 ready: 1 ImagePullBackOff  selector app=web                     4 pods match, 3 ready
    ENDPOINT                TARGET                     READY   STATE      SERVING   NODE     AGE
    ├─ endpointslice/web-xdbtf  IPv4  3 ready, 1 not ready, 0 terminating
    │ ├─● 10.128.0.1:8080   pod/web-74cdd4dbbd-p5hdn   1/1     Ready      yes       node-1   36s
    │ ├─● 10.128.0.2:8080   pod/web-74cdd4dbbd-tkpjd   1/1     Ready      yes       node-2   36s
    │ ├─● 10.128.0.8:8080   pod/web-74cdd4dbbd-zqqfz   1/1     Ready      yes       node-1   25s
    │ └─✗ 10.128.0.7:8080   pod/web-5cfd779546-xppqj   0/1     NotReady   no        node-2   28s
    │     └ ImagePullBackOff: web: Back-off pulling image "shop/web:bad": ErrImagePull: rpc error: code
    │       = NotFound desc = failed to pull and unpack image "shop/web:bad": failed to resolve
    │       reference "shop/web:bad": shop/web:bad: not found
    ├─ owners: deployment/web > replicaset/web-5cfd779546 #2   1/3 pods, 0 available
    └─ owners: deployment/web > replicaset/web-74cdd4dbbd #1   3/5 pods, 3 available
    looked through 1 statefulset
    "#);
}

#[test]
fn trace_of_a_service_at_120_columns() {
    assert_snapshot!(shown(120, "trace svc/web"), @r#"
    service/web  -n shop  ClusterIP 10.96.227.147  http 80->8080/TCP
    ~ degraded 3/4 ready: 1 ImagePullBackOff  selector app=web                                         4 pods match, 3 ready
    ENDPOINT                TARGET                     READY   STATE      SERVING   NODE     ZONE     AGE
    ├─ endpointslice/web-xdbtf  IPv4  3 ready, 1 not ready, 0 terminating
    │ ├─● 10.128.0.1:8080   pod/web-74cdd4dbbd-p5hdn   1/1     Ready      yes       node-1   zone-1   36s
    │ ├─● 10.128.0.2:8080   pod/web-74cdd4dbbd-tkpjd   1/1     Ready      yes       node-2   zone-2   36s
    │ ├─● 10.128.0.8:8080   pod/web-74cdd4dbbd-zqqfz   1/1     Ready      yes       node-1   zone-1   25s
    │ └─✗ 10.128.0.7:8080   pod/web-5cfd779546-xppqj   0/1     NotReady   no        node-2   zone-2   28s
    │     └ ImagePullBackOff: web: Back-off pulling image "shop/web:bad": ErrImagePull: rpc error: code = NotFound desc =
    │       failed to pull and unpack image "shop/web:bad": failed to resolve reference "shop/web:bad": shop/web:bad: not
    │       found
    ├─ owners: deployment/web > replicaset/web-5cfd779546 #2   1/3 pods, 0 available
    └─ owners: deployment/web > replicaset/web-74cdd4dbbd #1   3/5 pods, 3 available
    looked through 1 statefulset
    "#);
}

#[test]
fn trace_of_a_stateful_set_at_80_columns() {
    assert_snapshot!(shown(80, "trace sts/db"), @r#"
    statefulset/db  -n shop  3 replicas  RollingUpdate
    ✗ rolling out: 1/3 updated, 2 available, 1 failing
    ✓ +0s     spec change   gen 2 probably by kubectl-set, 31s ago
    ✓         revision      revision db-58bb5cd54f, 1/3 pods
    ~ ...     scheduled     1/3 pods (node-1)
    ✗         images        0/3 pulled; db-2 ImagePullBackOff
    · ...     available     0/3 new, 2 old kept
    · ...     old pods      0/2 terminated
    · ...     complete
    ✗ waits for pod/db-2, which is not ready
    REVISION                     READY   IMAGE / STATUS     AGE   NODE
    ├─✗ revision db-58bb5cd54f   0/1
    │ └─✗ pod/db-2               0/1     ImagePullBackOff   30s   node-1
    │     └ db: Back-off pulling image "shop/db:bad": ErrImagePull: rpc error: code
    │       = NotFound desc = failed to pull and unpack image "shop/db:bad": failed
    │       to resolve reference "shop/db:bad": shop/db:bad: not found
    └─● revision db-6c6b4d4b4f   2/2
      ├─● pod/db-0               1/1     Running            36s   node-1
      └─● pod/db-1               1/1     Running            35s   node-2
    CONNECTED          RELATION            STATE
    └─ uses
      └─? service/db   governing service   not in the file
    looked through 1 service
    "#);
}

#[test]
fn trace_of_a_stateful_set_at_100_columns() {
    assert_snapshot!(shown(100, "trace sts/db"), @r#"
    statefulset/db  -n shop  3 replicas  RollingUpdate
    ✗ rolling out: 1/3 updated, 2 available, 1 failing
    ✓ +0s     spec change   gen 2 probably by kubectl-set, 31s ago
    ✓         revision      revision db-58bb5cd54f, 1/3 pods
    ~ ...     scheduled     1/3 pods (node-1)
    ✗         images        0/3 pulled; db-2 ImagePullBackOff
    · ...     available     0/3 new, 2 old kept
    · ...     old pods      0/2 terminated
    · ...     complete
    ✗ waits for pod/db-2, which is not ready
    REVISION                     READY   IMAGE / STATUS     AGE   NODE
    ├─✗ revision db-58bb5cd54f   0/1
    │ └─✗ pod/db-2               0/1     ImagePullBackOff   30s   node-1
    │     └ db: Back-off pulling image "shop/db:bad": ErrImagePull: rpc error: code = NotFound desc =
    │       failed to pull and unpack image "shop/db:bad": failed to resolve reference "shop/db:bad":
    │       shop/db:bad: not found
    └─● revision db-6c6b4d4b4f   2/2
      ├─● pod/db-0               1/1     Running            36s   node-1
      └─● pod/db-1               1/1     Running            35s   node-2
    CONNECTED          RELATION            STATE
    └─ uses
      └─? service/db   governing service   not in the file
    looked through 1 service
    "#);
}

#[test]
fn trace_of_a_stateful_set_at_120_columns() {
    assert_snapshot!(shown(120, "trace sts/db"), @r#"
    statefulset/db  -n shop  3 replicas  RollingUpdate
    ✗ rolling out: 1/3 updated, 2 available, 1 failing
    ✓ +0s     spec change   gen 2 probably by kubectl-set, 31s ago
    ✓         revision      revision db-58bb5cd54f, 1/3 pods
    ~ ...     scheduled     1/3 pods (node-1)
    ✗         images        0/3 pulled; db-2 ImagePullBackOff
    · ...     available     0/3 new, 2 old kept
    · ...     old pods      0/2 terminated
    · ...     complete
    ✗ waits for pod/db-2, which is not ready
    REVISION                     READY   IMAGE / STATUS     AGE   NODE
    ├─✗ revision db-58bb5cd54f   0/1
    │ └─✗ pod/db-2               0/1     ImagePullBackOff   30s   node-1
    │     └ db: Back-off pulling image "shop/db:bad": ErrImagePull: rpc error: code = NotFound desc = failed to pull and
    │       unpack image "shop/db:bad": failed to resolve reference "shop/db:bad": shop/db:bad: not found
    └─● revision db-6c6b4d4b4f   2/2
      ├─● pod/db-0               1/1     Running            36s   node-1
      └─● pod/db-1               1/1     Running            35s   node-2
    CONNECTED          RELATION            STATE
    └─ uses
      └─? service/db   governing service   not in the file
    looked through 1 service
    "#);
}
