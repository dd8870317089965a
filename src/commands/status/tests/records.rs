//! Lines and records.

use insta::assert_snapshot;

use super::super::transitions::Transitions;
use super::cluster::Played;
use super::*;
use crate::sandbox::scenario::rollout;

#[tokio::test]
async fn on_a_pipe_each_transition_is_a_line() {
    let story = Played::new(rollout()).await;
    let mut transitions = Transitions::new(PLAIN);
    let mut lines = Vec::new();
    let times: Vec<u64> = (0..=50).map(|step| step * 500).collect();
    story.at(state([one(DEPLOYMENTS, "web")]), &times, |cluster, time| {
        let now = start() + SignedDuration::from_millis(time.try_into().expect("short"));
        lines.extend(transitions.lines(&cluster.state, None, now));
    });
    assert_snapshot!(plain(lines), @r#"
    2026-03-02T12:00:00Z deployment/web Current 3/3
    2026-03-02T12:00:00Z replicaset/web-7f45f79f9d Current 3/3
    2026-03-02T12:00:00Z pod/web-7f45f79f9d-268rp Running 1/1
    2026-03-02T12:00:00Z pod/web-7f45f79f9d-dxq6g Running 1/1
    2026-03-02T12:00:00Z pod/web-7f45f79f9d-pkjqf Running 1/1
    2026-03-02T12:00:02Z deployment/web InProgress 3/3 (was Current 3/3): Deployment generation is 2, but latest observed generation is 1
    2026-03-02T12:00:02Z replicaset/web-5cc54d4d56 InProgress 0/1
    2026-03-02T12:00:02Z pod/web-5cc54d4d56-dcqxn ContainerCreating 0/1
    2026-03-02T12:00:02Z replicaset/web-7f45f79f9d Current 3/3: old revision, 3 replicas are still to be removed
    2026-03-02T12:00:03Z deployment/web Failed 3/3 (was InProgress 3/3): 0 of 3 new pods ready: 1 ImagePullBackOff
    2026-03-02T12:00:03Z replicaset/web-5cc54d4d56 Failed 0/1 (was InProgress 0/1)
    2026-03-02T12:00:03Z pod/web-5cc54d4d56-dcqxn ErrImagePull 0/1 (was ContainerCreating 0/1): web: rpc error: code = NotFound desc = failed to pull and unpack image "registry.example.com/shop/web:v2.4.1-rc1": failed to resolve reference "registry.example.com/shop/web:v2.4.1-rc1": registry.example.com/shop/web:v2.4.1-rc1: not found
    2026-03-02T12:00:04Z pod/web-5cc54d4d56-dcqxn ImagePullBackOff 0/1 (was ErrImagePull 0/1): web: Back-off pulling image "registry.example.com/shop/web:v2.4.1-rc1": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "registry.example.com/shop/web:v2.4.1-rc1": failed to resolve reference "registry.example.com/shop/web:v2.4.1-rc1": registry.example.com/shop/web:v2.4.1-rc1: not found
    2026-03-02T12:00:14Z pod/web-5cc54d4d56-dcqxn ErrImagePull 0/1 (was ImagePullBackOff 0/1): web: rpc error: code = NotFound desc = failed to pull and unpack image "registry.example.com/shop/web:v2.4.1-rc1": failed to resolve reference "registry.example.com/shop/web:v2.4.1-rc1": registry.example.com/shop/web:v2.4.1-rc1: not found
    2026-03-02T12:00:16Z pod/web-5cc54d4d56-dcqxn ImagePullBackOff 0/1 (was ErrImagePull 0/1): web: Back-off pulling image "registry.example.com/shop/web:v2.4.1-rc1": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "registry.example.com/shop/web:v2.4.1-rc1": failed to resolve reference "registry.example.com/shop/web:v2.4.1-rc1": registry.example.com/shop/web:v2.4.1-rc1: not found
    2026-03-02T12:00:18Z deployment/web InProgress 3/3 (was Failed 3/3): Deployment generation is 3, but latest observed generation is 2
    2026-03-02T12:00:18Z replicaset/web-589f5c6bfc InProgress 0/1
    2026-03-02T12:00:18Z pod/web-589f5c6bfc-tvgkq ContainerCreating 0/1
    2026-03-02T12:00:18Z replicaset/web-5cc54d4d56 Current 0/0 (was Failed 0/1)
    2026-03-02T12:00:18Z pod/web-5cc54d4d56-dcqxn NotFound (was ImagePullBackOff 0/1)
    2026-03-02T12:00:18Z replicaset/web-7f45f79f9d Current 3/3: old revision, 3 replicas are still to be removed
    2026-03-02T12:00:20Z pod/web-589f5c6bfc-tvgkq Running 0/1 (was ContainerCreating 0/1): web: running, its readiness probe does not succeed (GET :http/readyz every 2s)
    2026-03-02T12:00:22Z replicaset/web-589f5c6bfc InProgress 1/2 (was InProgress 0/1)
    2026-03-02T12:00:22Z pod/web-589f5c6bfc-r2f9t ContainerCreating 0/1
    2026-03-02T12:00:22Z pod/web-589f5c6bfc-tvgkq Running 1/1 (was Running 0/1)
    2026-03-02T12:00:22Z replicaset/web-7f45f79f9d Current 2/2 (was Current 3/3): old revision, 2 replicas are still to be removed
    2026-03-02T12:00:22Z pod/web-7f45f79f9d-pkjqf Terminating 1/1 (was Running 1/1)
    2026-03-02T12:00:24Z pod/web-589f5c6bfc-r2f9t Running 0/1 (was ContainerCreating 0/1): web: running, its readiness probe does not succeed (GET :http/readyz every 2s)
    2026-03-02T12:00:24Z pod/web-7f45f79f9d-pkjqf NotFound (was Terminating 1/1)
    "#);
}

#[test]
fn a_record_contains_everything_once() {
    let objects = deployment_of((1, 0), |_| waiting("ErrImagePull", "not found"));
    let mut cluster = Cluster::of(state([one(DEPLOYMENTS, "web")]), objects);
    let mut transitions = Transitions::new(PLAIN);
    let mut records = transitions.records(&cluster.state, at(1));
    assert_eq!(
        transitions.records(&cluster.state, at(2)).len(),
        0,
        "nothing has changed"
    );
    cluster.write(&pod("web-a-000", ("ReplicaSet", "web-a"), running()), at(3));
    cluster.settle(at(3));
    records.extend(transitions.records(&cluster.state, at(3)));
    cluster.delete("web-a-000", at(4));
    cluster.settle(at(4));
    records.extend(transitions.records(&cluster.state, at(4)));
    assert_snapshot!(plain(records), @r#"
    {"v":1,"time":"2026-03-02T12:00:01.000Z","ref":{"cluster":"demo","apiVersion":"apps/v1","kind":"Deployment","namespace":"shop","name":"web","uid":"uid-web"},"owner":null,"depth":0,"status":"Failed","worst":"Failed","message":"0 of 1 pods ready: 1 ImagePullBackOff","conditions":[{"type":"Stalled","status":"True","reason":"FailedPods","message":"0 of 1 pods ready: 1 ImagePullBackOff"}],"word":"Failed","ready":"0/1","causes":[{"rule":"FailedPods","text":"0 of 1 pods ready: 1 ImagePullBackOff"}]}
    {"v":1,"time":"2026-03-02T12:00:01.000Z","ref":{"cluster":"demo","apiVersion":"apps/v1","kind":"ReplicaSet","namespace":"shop","name":"web-a","uid":"uid-web-a"},"owner":"uid-web","depth":1,"status":"Failed","worst":"Failed","message":"0 of 1 pods ready: 1 ImagePullBackOff","conditions":[{"type":"Stalled","status":"True","reason":"FailedPods","message":"0 of 1 pods ready: 1 ImagePullBackOff"}],"word":"Failed","ready":"0/1","causes":[]}
    {"v":1,"time":"2026-03-02T12:00:01.000Z","ref":{"cluster":"demo","apiVersion":"v1","kind":"Pod","namespace":"shop","name":"web-a-000","uid":"uid-web-a-000"},"owner":"uid-web-a","depth":2,"status":"Failed","message":"Containers waiting: app (ErrImagePull)","conditions":[{"type":"Stalled","status":"True","reason":"ErrImagePull","message":"Containers waiting: app (ErrImagePull)"}],"word":"ErrImagePull","ready":"0/1","restarts":0,"causes":[{"rule":"ImagePull","text":"app: not found"}]}
    {"v":1,"time":"2026-03-02T12:00:03.000Z","ref":{"cluster":"demo","apiVersion":"apps/v1","kind":"Deployment","namespace":"shop","name":"web","uid":"uid-web"},"owner":null,"depth":0,"status":"InProgress","worst":"InProgress","message":"Available: 0/1","conditions":[{"type":"Reconciling","status":"True","reason":"LessAvailable","message":"Available: 0/1"}],"word":"InProgress","ready":"0/1","causes":[]}
    {"v":1,"time":"2026-03-02T12:00:03.000Z","ref":{"cluster":"demo","apiVersion":"apps/v1","kind":"ReplicaSet","namespace":"shop","name":"web-a","uid":"uid-web-a"},"owner":"uid-web","depth":1,"status":"InProgress","worst":"Current","message":"Available: 0/1","conditions":[{"type":"Reconciling","status":"True","reason":"LessAvailable","message":"Available: 0/1"}],"word":"InProgress","ready":"0/1","causes":[]}
    {"v":1,"time":"2026-03-02T12:00:03.000Z","ref":{"cluster":"demo","apiVersion":"v1","kind":"Pod","namespace":"shop","name":"web-a-000","uid":"uid-web-a-000"},"owner":"uid-web-a","depth":2,"status":"Current","message":"Pod is Ready","conditions":[],"word":"Running","ready":"1/1","restarts":0,"causes":[]}
    {"v":1,"time":"2026-03-02T12:00:04.000Z","ref":{"cluster":"demo","apiVersion":"apps/v1","kind":"ReplicaSet","namespace":"shop","name":"web-a","uid":"uid-web-a"},"owner":"uid-web","depth":1,"status":"InProgress","message":"Available: 0/1","conditions":[{"type":"Reconciling","status":"True","reason":"LessAvailable","message":"Available: 0/1"}],"word":"InProgress","ready":"0/1","causes":[]}
    {"v":1,"time":"2026-03-02T12:00:04.000Z","ref":{"cluster":"demo","apiVersion":"v1","kind":"Pod","namespace":"shop","name":"web-a-000","uid":"uid-web-a-000"},"owner":"uid-web-a","depth":2,"status":"NotFound","message":"Resource not found","conditions":[],"word":"NotFound","causes":[]}
    "#);
}
