//! Tests of the scenarios.

use std::collections::BTreeMap;
use std::sync::Arc;

use insta::assert_snapshot;
use jiff::Timestamp;
use serde_json::Value;

use super::*;
use crate::sandbox::state::Options;
use crate::sandbox::table::cells;
use crate::sandbox::{Change, Record, Target, kinds};

fn start() -> Timestamp {
    "2026-03-02T12:00:00Z".parse().expect("a time")
}

async fn sandbox() -> Sandbox {
    Sandbox::start(Options::new(Arc::new(start)))
        .await
        .expect("a free port")
}

/// Every write of a scenario with its time in seconds.
fn performed(sandbox: &Sandbox, scenario: &Scenario) -> Vec<(String, Record)> {
    let mut stage = Stage::set(sandbox, scenario).expect("the setup succeeds");
    let mut records = Vec::new();
    while let Some(due) = stage.world.next_due() {
        let before = sandbox.revision();
        stage.play_until(due).expect("the scenario plays");
        let time = format!("{:>2}.{:03}", due / 1000, due % 1000);
        records.extend(
            sandbox
                .log_after(before)
                .into_iter()
                .map(|record| (time.clone(), record)),
        );
    }
    records
}

fn object(record: &Record) -> Value {
    serde_json::from_slice(&record.after).expect("JSON")
}

/// The writes of a scenario as rows of kubectl.
fn transcript(records: &[(String, Record)]) -> String {
    let built_in = kinds::built_in();
    let line = |(time, record): &(String, Record)| {
        let kind = built_in
            .iter()
            .find(|kind| kind.resource.group_resource() == record.resource)
            .expect("built in");
        let cells = cells(kind, &object(record), start());
        let shown: Vec<String> = cells[1..]
            .iter()
            .take(4)
            .map(|cell| {
                cell.as_str()
                    .map_or_else(|| cell.to_string(), str::to_owned)
            })
            .collect();
        let short = kind.short_names.first().map(String::as_str);
        let short = short.unwrap_or(&kind.resource.plural);
        format!(
            "{time} {:8} {short}/{}  {}",
            record.change.as_str(),
            record.name,
            shown.join(" ")
        )
    };
    records.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The newest version of every object after each write of a scenario, including its props.
fn states(sandbox: &Sandbox) -> Vec<BTreeMap<(String, String), Arc<Value>>> {
    let mut state = BTreeMap::new();
    let mut states = Vec::new();
    for record in sandbox.log() {
        let place = (record.resource.clone(), record.name.clone());
        match record.change {
            Change::Deleted => state.remove(&place),
            Change::Added | Change::Modified => state.insert(place, Arc::new(object(&record))),
        };
        states.push(state.clone());
    }
    states
}

fn of<'v>(state: &'v BTreeMap<(String, String), Arc<Value>>, resource: &str) -> Vec<&'v Value> {
    state
        .iter()
        .filter(|((known, _), _)| known == resource)
        .map(|(_, object)| object.as_ref())
        .collect()
}

fn count(object: &Value, pointer: &str) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or(0)
}

#[tokio::test]
async fn every_state_of_the_scenarios_is_consistent() {
    for scenario in all() {
        let sandbox = sandbox().await;
        let mut stage = Stage::set(&sandbox, &scenario).expect("the setup succeeds");
        let props = sandbox.log().len();
        stage.play_until(u64::MAX).expect("the scenario plays");
        for state in &states(&sandbox)[props - 1..] {
            let pods = of(state, "pods");
            let ready = pods.iter().filter(|pod| controllers::is_ready(pod)).count();
            assert!(
                ready >= 3,
                "{}: never fewer than three serve",
                scenario.name
            );
            for object in state
                .values()
                .filter(|object| object["status"]["observedGeneration"].is_i64())
            {
                let seen = count(object, "/status/observedGeneration");
                assert!(seen <= count(object, "/metadata/generation"), "{object}");
            }
            let sets: i64 = of(state, "replicasets.apps")
                .iter()
                .map(|set| count(set, "/spec/replicas"))
                .sum();
            let deployment = of(state, "deployments.apps")[0];
            assert!(
                sets <= count(deployment, "/spec/replicas").max(4) + 1,
                "no more than the surge"
            );
            for pod in pods {
                let owner = &pod["metadata"]["ownerReferences"][0];
                let set = &state[&(
                    "replicasets.apps".to_owned(),
                    owner["name"].as_str().expect("a name").to_owned(),
                )];
                assert_eq!(owner["uid"], set["metadata"]["uid"]);
                assert_eq!(
                    pod["spec"]["containers"][0]["image"],
                    set["spec"]["template"]["spec"]["containers"][0]["image"]
                );
            }
        }
    }
}

#[tokio::test]
async fn conditions_keep_their_time_until_their_status_changes() {
    for scenario in all() {
        let sandbox = sandbox().await;
        play_at_once(&sandbox, &scenario).expect("the scenario plays");
        let mut known: BTreeMap<String, (Value, Value)> = BTreeMap::new();
        for record in sandbox.log() {
            let object = object(&record);
            for condition in object["status"]["conditions"]
                .as_array()
                .into_iter()
                .flatten()
            {
                let now = (
                    condition["status"].clone(),
                    condition["lastTransitionTime"].clone(),
                );
                let before =
                    known.insert(format!("{} {}", record.uid, condition["type"]), now.clone());
                if let Some((status, time)) = before {
                    assert!(
                        status != now.0 || time == now.1,
                        "{} {condition}",
                        record.name
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn the_rollout_ends_successfully() {
    let sandbox = sandbox().await;
    play_at_once(&sandbox, &rollout()).expect("the scenario plays");
    let deployment = sandbox.list("deployments", "shop").remove(0);
    assert_eq!(
        deployment["metadata"]["annotations"]["deployment.kubernetes.io/revision"],
        "3"
    );
    assert_eq!(
        deployment["metadata"]["creationTimestamp"],
        "2026-01-20T12:00:00Z"
    );
    let status = &deployment["status"];
    for key in [
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "observedGeneration",
    ] {
        assert_eq!(status[key], 3, "{key}");
    }
    assert_eq!(status["unavailableReplicas"], Value::Null);
    let reasons: Vec<&Value> = status["conditions"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|condition| &condition["reason"])
        .collect();
    assert_eq!(
        reasons,
        ["MinimumReplicasAvailable", "NewReplicaSetAvailable"]
    );
    let sizes: Vec<i64> = sandbox
        .list("replicasets", "shop")
        .iter()
        .map(|set| count(set, "/spec/replicas"))
        .collect();
    assert_eq!(sizes.iter().sum::<i64>(), 3);
    assert_eq!(sizes.len(), 3);
    let slice = sandbox.list("endpointslices", "shop").remove(0);
    let endpoints = slice["endpoints"].as_array().expect("endpoints");
    assert_eq!(endpoints.len(), 3);
    for (endpoint, pod) in endpoints.iter().zip(sandbox.list("pods", "shop")) {
        assert_eq!(
            endpoint["conditions"],
            serde_json::json!({"ready": true, "serving": true, "terminating": false})
        );
        assert_eq!(endpoint["targetRef"]["uid"], pod["metadata"]["uid"]);
        assert_eq!(
            pod["spec"]["containers"][0]["image"],
            "registry.example.com/shop/web:v2.4.1"
        );
    }
}

#[tokio::test]
async fn managers_are_those_of_a_real_cluster() {
    let sandbox = sandbox().await;
    let managers = |resource: &str| {
        let object = sandbox.list(resource, "shop").remove(0);
        let entries = object["metadata"]["managedFields"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let name = |entry: &Value| {
            let subresource = entry["subresource"]
                .as_str()
                .map(|name| format!("/{name}"))
                .unwrap_or_default();
            format!(
                "{}{subresource}",
                entry["manager"].as_str().unwrap_or_default()
            )
        };
        entries.iter().map(name).collect::<Vec<_>>().join(" ")
    };
    let mut stage = Stage::set(&sandbox, &rollout()).expect("the setup succeeds");
    stage.play_until(5000).expect("the scenario plays");
    assert_eq!(
        managers("deployments"),
        "kubectl-client-side-apply kube-controller-manager/status kubectl-set"
    );
    assert_eq!(
        managers("pods"),
        "kube-controller-manager kube-scheduler/binding kubelet/status"
    );
    assert_eq!(
        managers("replicasets"),
        "kube-controller-manager kube-controller-manager/status"
    );
    stage.play_until(u64::MAX).expect("the scenario plays");
    assert_eq!(
        managers("deployments"),
        "kubectl-client-side-apply kube-controller-manager/status"
    );
}

#[tokio::test]
async fn the_flags_are_deleted_and_recreated() {
    let sandbox = sandbox().await;
    play_at_once(&sandbox, &config()).expect("the scenario plays");
    let lives: Vec<Record> = sandbox
        .log()
        .into_iter()
        .filter(|record| record.name == "flags")
        .collect();
    let changes: Vec<Change> = lives.iter().map(|record| record.change).collect();
    assert_eq!(
        changes,
        [
            Change::Added,
            Change::Modified,
            Change::Modified,
            Change::Deleted,
            Change::Added
        ]
    );
    assert_ne!(lives[0].uid, lives[4].uid);
    assert_eq!(sandbox.list("pods", "shop").len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_scenario_in_real_time_takes_its_time_and_can_be_stopped() {
    let sandbox = sandbox().await;
    let begin = tokio::time::Instant::now();
    let stage = Stage::set(&sandbox, &rollout()).expect("the scenario is set");
    stage
        .play(std::future::pending())
        .await
        .expect("the scenario plays");
    let took = begin.elapsed().as_secs();
    assert!((20..45).contains(&took), "{took} s");
    let hurried = self::sandbox().await;
    let begin = tokio::time::Instant::now();
    let stage = Stage::set(&hurried, &rollout()).expect("the setup succeeds");
    let ten = std::num::NonZeroU32::new(10).expect("ten is not zero");
    stage
        .faster(ten)
        .play(std::future::pending())
        .await
        .expect("the scenario plays");
    assert_eq!(begin.elapsed().as_secs(), took / 10);
    assert_eq!(hurried.log().len(), sandbox.log().len());
    let status = hurried.list("deployments", "shop").remove(0)["status"].clone();
    assert_eq!(
        status["conditions"][1]["lastUpdateTime"],
        "2026-03-02T12:00:03Z"
    );
    let again = self::sandbox().await;
    let shutdown = tokio::time::sleep(Duration::from_secs(10));
    let stage = Stage::set(&again, &rollout()).expect("the scenario is set");
    stage.play(shutdown).await.expect("the scenario stops");
    assert!(again.log().len() < sandbox.log().len());
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "the snapshot shows every write")]
async fn the_writes_of_the_rollout() {
    let records = performed(&sandbox().await, &rollout());
    assert_snapshot!(transcript(&records), @"
     2.000 MODIFIED deploy/web  3/3 3 3 41d
     2.030 ADDED    rs/web-5cc54d4d56  1 0 0 <invalid>
     2.030 MODIFIED deploy/web  3/3 3 3 41d
     2.050 ADDED    po/web-5cc54d4d56-dcqxn  0/1 Pending 0 <invalid>
     2.050 MODIFIED rs/web-5cc54d4d56  1 1 0 <invalid>
     2.070 MODIFIED deploy/web  3/3 1 3 41d
     2.090 MODIFIED po/web-5cc54d4d56-dcqxn  0/1 Pending 0 <invalid>
     2.270 MODIFIED po/web-5cc54d4d56-dcqxn  0/1 ContainerCreating 0 <invalid>
     3.170 MODIFIED po/web-5cc54d4d56-dcqxn  0/1 ErrImagePull 0 <invalid>
     3.205 MODIFIED endpointslices/web-cgb6d  IPv4 8080 10.244.0.14,10.244.0.13,10.244.1.13 + 1 more... 41d
     4.470 MODIFIED po/web-5cc54d4d56-dcqxn  0/1 ImagePullBackOff 0 <invalid>
    14.470 MODIFIED po/web-5cc54d4d56-dcqxn  0/1 ErrImagePull 0 <invalid>
    15.770 MODIFIED po/web-5cc54d4d56-dcqxn  0/1 ImagePullBackOff 0 <invalid>
    18.000 MODIFIED deploy/web  3/3 1 3 41d
    18.030 ADDED    rs/web-589f5c6bfc  0 0 0 <invalid>
    18.030 MODIFIED deploy/web  3/3 1 3 41d
    18.050 MODIFIED rs/web-589f5c6bfc  0 0 0 <invalid>
    18.070 MODIFIED rs/web-5cc54d4d56  0 1 0 <invalid>
    18.070 MODIFIED deploy/web  3/3 0 3 41d
    18.090 MODIFIED po/web-5cc54d4d56-dcqxn  0/1 Terminating 0 <invalid>
    18.090 MODIFIED rs/web-5cc54d4d56  0 0 0 <invalid>
    18.125 MODIFIED endpointslices/web-cgb6d  IPv4 8080 10.244.0.14,10.244.0.13,10.244.1.13 + 1 more... 41d
    18.130 MODIFIED rs/web-589f5c6bfc  1 0 0 <invalid>
    18.130 MODIFIED deploy/web  3/3 0 3 41d
    18.150 ADDED    po/web-589f5c6bfc-tvgkq  0/1 Pending 0 <invalid>
    18.150 MODIFIED rs/web-589f5c6bfc  1 1 0 <invalid>
    18.190 MODIFIED deploy/web  3/3 1 3 41d
    18.190 MODIFIED po/web-589f5c6bfc-tvgkq  0/1 Pending 0 <invalid>
    18.370 MODIFIED po/web-589f5c6bfc-tvgkq  0/1 ContainerCreating 0 <invalid>
    18.390 DELETED  po/web-5cc54d4d56-dcqxn  0/1 Terminating 0 <invalid>
    18.405 MODIFIED endpointslices/web-cgb6d  IPv4 8080 10.244.0.13,10.244.1.13,10.244.2.13 41d
    19.870 MODIFIED po/web-589f5c6bfc-tvgkq  0/1 Running 0 <invalid>
    19.905 MODIFIED endpointslices/web-cgb6d  IPv4 8080 10.244.1.15,10.244.0.13,10.244.1.13 + 1 more... 41d
    22.070 MODIFIED po/web-589f5c6bfc-tvgkq  1/1 Running 0 <invalid>
    22.090 MODIFIED rs/web-589f5c6bfc  1 1 1 <invalid>
    22.105 MODIFIED endpointslices/web-cgb6d  IPv4 8080 10.244.1.15,10.244.0.13,10.244.1.13 + 1 more... 41d
    22.110 MODIFIED rs/web-7f45f79f9d  2 3 3 41d
    22.110 MODIFIED deploy/web  4/3 1 4 41d
    22.130 MODIFIED po/web-7f45f79f9d-pkjqf  1/1 Terminating 0 41d
    22.130 MODIFIED rs/web-7f45f79f9d  2 2 2 41d
    22.165 MODIFIED endpointslices/web-cgb6d  IPv4 8080 10.244.1.15,10.244.0.13,10.244.1.13 + 1 more... 41d
    22.170 MODIFIED rs/web-589f5c6bfc  2 1 1 <invalid>
    22.170 MODIFIED deploy/web  3/3 1 3 41d
    22.190 ADDED    po/web-589f5c6bfc-r2f9t  0/1 Pending 0 <invalid>
    22.190 MODIFIED rs/web-589f5c6bfc  2 2 1 <invalid>
    22.230 MODIFIED deploy/web  3/3 2 3 41d
    22.230 MODIFIED po/web-589f5c6bfc-r2f9t  0/1 Pending 0 <invalid>
    22.410 MODIFIED po/web-589f5c6bfc-r2f9t  0/1 ContainerCreating 0 <invalid>
    23.530 MODIFIED po/web-7f45f79f9d-pkjqf  0/1 Completed 0 41d
    23.565 MODIFIED endpointslices/web-cgb6d  IPv4 8080 10.244.1.15,10.244.0.13,10.244.1.13 41d
    23.780 DELETED  po/web-7f45f79f9d-pkjqf  0/1 Completed 0 41d
    23.910 MODIFIED po/web-589f5c6bfc-r2f9t  0/1 Running 0 <invalid>
    23.945 MODIFIED endpointslices/web-cgb6d  IPv4 8080 10.244.2.16,10.244.1.15,10.244.0.13 + 1 more... 41d
    26.110 MODIFIED po/web-589f5c6bfc-r2f9t  1/1 Running 0 <invalid>
    26.130 MODIFIED rs/web-589f5c6bfc  2 2 2 <invalid>
    26.145 MODIFIED endpointslices/web-cgb6d  IPv4 8080 10.244.2.16,10.244.1.15,10.244.0.13 + 1 more... 41d
    26.150 MODIFIED rs/web-7f45f79f9d  1 2 2 41d
    26.150 MODIFIED deploy/web  4/3 2 4 41d
    26.170 MODIFIED po/web-7f45f79f9d-dxq6g  1/1 Terminating 0 41d
    26.170 MODIFIED rs/web-7f45f79f9d  1 1 1 41d
    26.205 MODIFIED endpointslices/web-cgb6d  IPv4 8080 10.244.2.16,10.244.1.15,10.244.0.13 + 1 more... 41d
    26.210 MODIFIED rs/web-589f5c6bfc  3 2 2 <invalid>
    26.210 MODIFIED deploy/web  3/3 2 3 41d
    26.230 ADDED    po/web-589f5c6bfc-tw9qz  0/1 Pending 0 <invalid>
    26.230 MODIFIED rs/web-589f5c6bfc  3 3 2 <invalid>
    26.270 MODIFIED deploy/web  3/3 3 3 41d
    26.270 MODIFIED po/web-589f5c6bfc-tw9qz  0/1 Pending 0 <invalid>
    26.450 MODIFIED po/web-589f5c6bfc-tw9qz  0/1 ContainerCreating 0 <invalid>
    27.570 MODIFIED po/web-7f45f79f9d-dxq6g  0/1 Completed 0 41d
    27.605 MODIFIED endpointslices/web-cgb6d  IPv4 8080 10.244.2.16,10.244.1.15,10.244.0.13 41d
    27.820 DELETED  po/web-7f45f79f9d-dxq6g  0/1 Completed 0 41d
    27.950 MODIFIED po/web-589f5c6bfc-tw9qz  0/1 Running 0 <invalid>
    27.985 MODIFIED endpointslices/web-cgb6d  IPv4 8080 10.244.2.16,10.244.1.15,10.244.0.17 + 1 more... 41d
    30.150 MODIFIED po/web-589f5c6bfc-tw9qz  1/1 Running 0 <invalid>
    30.170 MODIFIED rs/web-589f5c6bfc  3 3 3 <invalid>
    30.185 MODIFIED endpointslices/web-cgb6d  IPv4 8080 10.244.2.16,10.244.1.15,10.244.0.17 + 1 more... 41d
    30.190 MODIFIED rs/web-7f45f79f9d  0 1 1 41d
    30.190 MODIFIED deploy/web  4/3 3 4 41d
    30.210 MODIFIED po/web-7f45f79f9d-268rp  1/1 Terminating 0 41d
    30.210 MODIFIED rs/web-7f45f79f9d  0 0 0 41d
    30.245 MODIFIED endpointslices/web-cgb6d  IPv4 8080 10.244.2.16,10.244.1.15,10.244.0.17 + 1 more... 41d
    30.250 MODIFIED deploy/web  3/3 3 3 41d
    31.610 MODIFIED po/web-7f45f79f9d-268rp  0/1 Completed 0 41d
    31.645 MODIFIED endpointslices/web-cgb6d  IPv4 8080 10.244.2.16,10.244.1.15,10.244.0.17 41d
    31.860 DELETED  po/web-7f45f79f9d-268rp  0/1 Completed 0 41d
    ");
}

#[tokio::test]
async fn the_writes_of_the_configuration() {
    let records = performed(&sandbox().await, &config());
    assert_snapshot!(transcript(&records), @"
     2.000 MODIFIED cm/api-config  1 12d
     5.000 MODIFIED cm/flags  3 12d
     7.000 MODIFIED cm/flags  2 12d
     9.000 MODIFIED secrets/db  Opaque 2 12d
    12.000 MODIFIED hpa/api  Deployment/api cpu: 92%/70% 3 8
    12.050 MODIFIED deploy/api  3/5 3 3 11d
    12.080 MODIFIED rs/api-7d84b8bbd6  5 3 3 11d
    12.080 MODIFIED deploy/api  3/5 3 3 11d
    12.100 ADDED    po/api-7d84b8bbd6-m2ctv  0/1 Pending 0 <invalid>
    12.100 ADDED    po/api-7d84b8bbd6-qlbr2  0/1 Pending 0 <invalid>
    12.100 MODIFIED rs/api-7d84b8bbd6  5 5 3 11d
    12.140 MODIFIED deploy/api  3/5 5 3 11d
    12.140 MODIFIED po/api-7d84b8bbd6-m2ctv  0/1 Pending 0 <invalid>
    12.140 MODIFIED po/api-7d84b8bbd6-qlbr2  0/1 Pending 0 <invalid>
    12.320 MODIFIED po/api-7d84b8bbd6-m2ctv  0/1 ContainerCreating 0 <invalid>
    12.320 MODIFIED po/api-7d84b8bbd6-qlbr2  0/1 ContainerCreating 0 <invalid>
    13.820 MODIFIED po/api-7d84b8bbd6-m2ctv  0/1 Running 0 <invalid>
    13.820 MODIFIED po/api-7d84b8bbd6-qlbr2  0/1 Running 0 <invalid>
    13.855 MODIFIED endpointslices/api-tstxv  IPv4 8080 10.244.1.13,10.244.2.13,10.244.0.13 + 2 more... 12d
    16.020 MODIFIED po/api-7d84b8bbd6-m2ctv  1/1 Running 0 <invalid>
    16.020 MODIFIED po/api-7d84b8bbd6-qlbr2  1/1 Running 0 <invalid>
    16.040 MODIFIED rs/api-7d84b8bbd6  5 5 5 11d
    16.055 MODIFIED endpointslices/api-tstxv  IPv4 8080 10.244.1.13,10.244.2.13,10.244.0.13 + 2 more... 12d
    16.060 MODIFIED deploy/api  5/5 5 5 11d
    18.000 MODIFIED hpa/api  Deployment/api cpu: 61%/70% 3 8
    20.000 MODIFIED hpa/api  Deployment/api cpu: 61%/70% 4 8
    23.000 MODIFIED hpa/api  Deployment/api cpu: 24%/70% 4 8
    23.050 MODIFIED deploy/api  5/4 5 5 11d
    23.080 MODIFIED rs/api-7d84b8bbd6  4 5 5 11d
    23.080 MODIFIED deploy/api  5/4 5 5 11d
    23.100 MODIFIED po/api-7d84b8bbd6-qlbr2  1/1 Terminating 0 <invalid>
    23.100 MODIFIED rs/api-7d84b8bbd6  4 4 4 11d
    23.135 MODIFIED endpointslices/api-tstxv  IPv4 8080 10.244.1.13,10.244.2.13,10.244.0.13 + 2 more... 12d
    23.140 MODIFIED deploy/api  4/4 4 4 11d
    24.500 MODIFIED po/api-7d84b8bbd6-qlbr2  0/1 Completed 0 <invalid>
    24.535 MODIFIED endpointslices/api-tstxv  IPv4 8080 10.244.1.13,10.244.2.13,10.244.0.13 + 1 more... 12d
    24.750 DELETED  po/api-7d84b8bbd6-qlbr2  0/1 Completed 0 <invalid>
    27.000 MODIFIED hpa/api  Deployment/api cpu: 30%/70% 4 8
    29.000 DELETED  cm/flags  2 12d
    31.000 ADDED    cm/flags  3 <invalid>
    ");
}

#[tokio::test]
async fn the_story_has_the_times_of_its_night() {
    let begin: jiff::Timestamp = "2026-03-02T02:00:00Z".parse().expect("a time");
    let sandbox = Sandbox::start(Options::new(Arc::new(move || begin))).await;
    let sandbox = sandbox.expect("a free port");
    let mut stage = Stage::set(&sandbox, &incident()).expect("a stage");
    let mut times = Vec::new();
    let eight_hours = 8 * 3_600_000;
    let played = stage.play_through(eight_hours, |time| times.push(time));
    played.expect("a story");
    assert!(times.is_sorted());
    let flags = sandbox.get(&Target::new("configmaps", "shop", "flags"));
    let flags = flags.expect("an object").to_string();
    assert!(flags.contains("2026-03-02T02:10:00Z"), "{flags}");
    let web = sandbox.get(&Target::new("deployments", "shop", "web"));
    let web = web.expect("an object").to_string();
    assert!(web.contains("web:v2.5.0-nightly"), "{web}");
    // The new Pod has no image, and the old ones still serve.
    let pods = sandbox.list("pods", "shop");
    let waits = pods
        .iter()
        .filter(|pod| pod.to_string().contains("ImagePullBackOff"));
    let ready = pods.iter().filter(|pod| controllers::is_ready(pod));
    assert_eq!((waits.count(), ready.count()), (1, 3));
}
