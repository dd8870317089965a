//! `status` of recorded objects.

use insta::assert_snapshot;

use super::shown;

#[test]
fn rows_at_80_columns() {
    assert_snapshot!(shown(80, "status deploy,sts,quota"), @r#"
    1 Current, 3 Failed
    NAME                                  READY   STATUS             RESTARTS   AGE
    ✗ deployment/web                      3/6     Failed             -          36s
    │ └ 0 of 6 new pods ready: 1 ImagePullBackOff
    │ └ exceeded quota small: pods needs 1, 0 free (8 of 8 used)
    ├─✗ replicaset/web-5cfd779546 #2      0/3     Failed             -          28s
    │ └─✗ pod/web-5cfd779546-xppqj        0/1     ImagePullBackOff   0          28s
    │     └ web: Back-off pulling image "shop/web:bad": ErrImagePull: rpc error:
    │       code = NotFound desc = failed to pull and unpack image "shop/web:bad":
    │       failed to resolve reference "shop/web:bad": shop/web:bad: not found
    └─✗ replicaset/web-74cdd4dbbd #1      3/5     Failed             -          36s
      │ └ old revision, 3 replicas are still to be removed
      ├─● pod/web-74cdd4dbbd-p5hdn        1/1     Running            0          36s
      ├─● pod/web-74cdd4dbbd-tkpjd        1/1     Running            0          36s
      └─● pod/web-74cdd4dbbd-zqqfz        1/1     Running            0          25s
    ✗ deployment/worker                   0/1     Failed             -          36s
    │ └ 0 of 1 pods ready: 1 CrashLoopBackOff
    └─✗ replicaset/worker-6d9bf5695c #1   0/1     Failed             -          36s
      └─✗ pod/worker-6d9bf5695c-ghxz8     0/1     CrashLoopBackOff   3          36s
          └ worker: CrashLoopBackOff, exit 1, 3 restarts
    ✗ statefulset/db                      2/3     Failed             -          36s
    │ └ 0 of 3 new pods ready: 1 ImagePullBackOff
    │ └ waits for pod/db-2, which is not ready
    ├─● pod/db-0                          1/1     Running            0          36s
    ├─● pod/db-1                          1/1     Running            0          35s
    └─✗ pod/db-2                          0/1     ImagePullBackOff   0          30s
        └ db: Back-off pulling image "shop/db:bad": ErrImagePull: rpc error: code =
          NotFound desc = failed to pull and unpack image "shop/db:bad": failed to
          resolve reference "shop/db:bad": shop/db:bad: not found
    ● resourcequota/small                 -       Current            -          36s
    "#);
}

#[test]
fn rows_at_100_columns() {
    assert_snapshot!(shown(100, "status deploy,sts,quota"), @r#"
    1 Current, 3 Failed
    NAME                                  READY   STATUS             RESTARTS     AGE
    ✗ deployment/web                      3/6     Failed             -            36s
    │ └ 0 of 6 new pods ready: 1 ImagePullBackOff
    │ └ exceeded quota small: pods needs 1, 0 free (8 of 8 used)
    ├─✗ replicaset/web-5cfd779546 #2      0/3     Failed             -            28s
    │ └─✗ pod/web-5cfd779546-xppqj        0/1     ImagePullBackOff   0            28s
    │     └ web: Back-off pulling image "shop/web:bad": ErrImagePull: rpc error: code = NotFound desc =
    │       failed to pull and unpack image "shop/web:bad": failed to resolve reference "shop/web:bad":
    │       shop/web:bad: not found
    └─✗ replicaset/web-74cdd4dbbd #1      3/5     Failed             -            36s
      │ └ old revision, 3 replicas are still to be removed
      ├─● pod/web-74cdd4dbbd-p5hdn        1/1     Running            0            36s
      ├─● pod/web-74cdd4dbbd-tkpjd        1/1     Running            0            36s
      └─● pod/web-74cdd4dbbd-zqqfz        1/1     Running            0            25s
    ✗ deployment/worker                   0/1     Failed             -            36s
    │ └ 0 of 1 pods ready: 1 CrashLoopBackOff
    └─✗ replicaset/worker-6d9bf5695c #1   0/1     Failed             -            36s
      └─✗ pod/worker-6d9bf5695c-ghxz8     0/1     CrashLoopBackOff   3 (3s ago)   36s
          └ worker: CrashLoopBackOff, exit 1, 3 restarts
    ✗ statefulset/db                      2/3     Failed             -            36s
    │ └ 0 of 3 new pods ready: 1 ImagePullBackOff
    │ └ waits for pod/db-2, which is not ready
    ├─● pod/db-0                          1/1     Running            0            36s
    ├─● pod/db-1                          1/1     Running            0            35s
    └─✗ pod/db-2                          0/1     ImagePullBackOff   0            30s
        └ db: Back-off pulling image "shop/db:bad": ErrImagePull: rpc error: code = NotFound desc =
          failed to pull and unpack image "shop/db:bad": failed to resolve reference "shop/db:bad":
          shop/db:bad: not found
    ● resourcequota/small                 -       Current            -            36s
    "#);
}

#[test]
fn rows_at_120_columns() {
    assert_snapshot!(shown(120, "status deploy,sts,quota"), @r#"
    1 Current, 3 Failed
    NAME                                  READY   STATUS             RESTARTS     AGE   NODE     IP
    ✗ deployment/web                      3/6     Failed             -            36s   -        -
    │ └ 0 of 6 new pods ready: 1 ImagePullBackOff
    │ └ exceeded quota small: pods needs 1, 0 free (8 of 8 used)
    ├─✗ replicaset/web-5cfd779546 #2      0/3     Failed             -            28s   -        -
    │ └─✗ pod/web-5cfd779546-xppqj        0/1     ImagePullBackOff   0            28s   node-2   10.128.0.7
    │     └ web: Back-off pulling image "shop/web:bad": ErrImagePull: rpc error: code = NotFound desc = failed to pull and
    │       unpack image "shop/web:bad": failed to resolve reference "shop/web:bad": shop/web:bad: not found
    └─✗ replicaset/web-74cdd4dbbd #1      3/5     Failed             -            36s   -        -
      │ └ old revision, 3 replicas are still to be removed
      ├─● pod/web-74cdd4dbbd-p5hdn        1/1     Running            0            36s   node-1   10.128.0.1
      ├─● pod/web-74cdd4dbbd-tkpjd        1/1     Running            0            36s   node-2   10.128.0.2
      └─● pod/web-74cdd4dbbd-zqqfz        1/1     Running            0            25s   node-1   10.128.0.8
    ✗ deployment/worker                   0/1     Failed             -            36s   -        -
    │ └ 0 of 1 pods ready: 1 CrashLoopBackOff
    └─✗ replicaset/worker-6d9bf5695c #1   0/1     Failed             -            36s   -        -
      └─✗ pod/worker-6d9bf5695c-ghxz8     0/1     CrashLoopBackOff   3 (3s ago)   36s   node-1   10.128.0.3
          └ worker: CrashLoopBackOff, exit 1, 3 restarts
    ✗ statefulset/db                      2/3     Failed             -            36s   -        -
    │ └ 0 of 3 new pods ready: 1 ImagePullBackOff
    │ └ waits for pod/db-2, which is not ready
    ├─● pod/db-0                          1/1     Running            0            36s   node-1   10.128.0.4
    ├─● pod/db-1                          1/1     Running            0            35s   node-2   10.128.0.5
    └─✗ pod/db-2                          0/1     ImagePullBackOff   0            30s   node-1   10.128.0.6
        └ db: Back-off pulling image "shop/db:bad": ErrImagePull: rpc error: code = NotFound desc = failed to pull and
          unpack image "shop/db:bad": failed to resolve reference "shop/db:bad": shop/db:bad: not found
    ● resourcequota/small                 -       Current            -            36s   -        -
    "#);
}
