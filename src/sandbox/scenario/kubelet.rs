//! The scheduler and the kubelets: the life of a Pod from its binding to its removal.

use serde_json::{Value, json};

use super::controllers::pod_changed;
use super::stories::NODES;
use super::world::{Task, World, name_of};
use crate::sandbox::store::text;
use crate::sandbox::{Deletion, WriteError};

const KUBELET: &str = "kubelet";
/// The duration of a successful image pull and of a failed one, in milliseconds.
const PULL: i64 = 1500;
const FAILED_PULL: i64 = 900;
/// How long a program runs that panics, in milliseconds.
pub(super) const CRASH: i64 = 600;
/// The number of failed pulls after which the scenario leaves the Pod alone.
const MAX_PULLS: u32 = 6;

pub(super) fn bind(world: &mut World<'_>, name: &str) -> Result<(), WriteError> {
    let Some(mut pod) = living(world, name) else {
        return Ok(());
    };
    let (node, _) = NODES[world.bound % NODES.len()];
    world.bound += 1;
    pod["spec"]["nodeName"] = json!(node);
    set_conditions(&mut pod, &[("PodScheduled", "True")], &world.time());
    let pod = world.update(pod, "kube-scheduler", "binding")?;
    pod_changed(world, &pod);
    world.plan(180, Task::Start(name.to_owned()));
    Ok(())
}

pub(super) fn start_pod(world: &mut World<'_>, name: &str) -> Result<(), WriteError> {
    let Some(mut pod) = living(world, name) else {
        return Ok(());
    };
    let node = NODES
        .iter()
        .find(|(node, _)| pod["spec"]["nodeName"] == *node)
        .unwrap_or(&NODES[0]);
    let status = &mut pod["status"];
    status["hostIP"] = json!(node.1);
    status["hostIPs"] = json!([{"ip": node.1}]);
    status["startTime"] = world.time();
    let conditions = [
        ("PodReadyToStartContainers", "False"),
        ("Initialized", "True"),
        ("Ready", "False"),
        ("ContainersReady", "False"),
    ];
    set_conditions(&mut pod, &conditions, &world.time());
    wait(&mut pod, "ContainerCreating", None);
    let delay = if world.is_missing(&image(&pod)) {
        FAILED_PULL
    } else {
        PULL
    };
    world.plan(delay, Task::Pulled(name.to_owned()));
    report_pod(world, pod)
}

pub(super) fn pulled(world: &mut World<'_>, name: &str) -> Result<(), WriteError> {
    let Some(mut pod) = living(world, name) else {
        return Ok(());
    };
    if pod["status"]["podIP"].is_null() {
        let ip = new_address(world, &pod);
        pod["status"]["podIP"] = json!(ip);
        pod["status"]["podIPs"] = json!([{"ip": ip}]);
    }
    set_conditions(
        &mut pod,
        &[("PodReadyToStartContainers", "True")],
        &world.time(),
    );
    let image = image(&pod);
    if world.is_missing(&image) {
        *world.pulls.entry(name.to_owned()).or_default() += 1;
        wait(&mut pod, "ErrImagePull", Some(&not_found(&image)));
        world.plan(1300, Task::BackOff(name.to_owned()));
    } else {
        pod["status"]["phase"] = json!("Running");
        let state = json!({"running": {"startedAt": world.time()}});
        set_container(&mut pod, &state);
        let container = &mut pod["status"]["containerStatuses"][0];
        container["started"] = json!(true);
        let (repository, version) = image.rsplit_once(':').unwrap_or((&image, ""));
        container["imageID"] = json!(format!("{repository}@sha256:{}", digest(&image)));
        container["containerID"] = json!(instance(name, 0));
        world.print(&instance(name, 0), &format!("starting {version}"));
        if world.crashing_images.contains(&&*image) {
            world.plan(CRASH, Task::Crash(name.to_owned()));
        } else {
            world.plan(2200, Task::Ready(name.to_owned()));
        }
    }
    report_pod(world, pod)
}

/// Reports `ImagePullBackOff` and plans the next pull. The delay doubles from ten seconds, as in the kubelet.
pub(super) fn back_off(world: &mut World<'_>, name: &str) -> Result<(), WriteError> {
    let Some(mut pod) = living(world, name) else {
        return Ok(());
    };
    let image = image(&pod);
    let message = format!(
        "Back-off pulling image \"{image}\": ErrImagePull: {}",
        not_found(&image)
    );
    wait(&mut pod, "ImagePullBackOff", Some(&message));
    let pulls = world.pulls.get(name).copied().unwrap_or(1);
    if pulls < MAX_PULLS {
        world.plan(5000 << pulls, Task::Pulled(name.to_owned()));
    }
    report_pod(world, pod)
}

pub(super) fn ready(world: &mut World<'_>, name: &str) -> Result<(), WriteError> {
    let Some(mut pod) = living(world, name) else {
        return Ok(());
    };
    pod["status"]["containerStatuses"][0]["ready"] = json!(true);
    world.print(&instance(name, 0), "listening on :8080");
    set_conditions(
        &mut pod,
        &[("Ready", "True"), ("ContainersReady", "True")],
        &world.time(),
    );
    report_pod(world, pod)
}

pub(super) fn stop_pod(world: &mut World<'_>, name: &str) -> Result<(), WriteError> {
    let Some(mut pod) = world.get("pods", name) else {
        return Ok(());
    };
    let container = &pod["status"]["containerStatuses"][0];
    let last = container["lastState"].clone();
    if last["terminated"].is_object() {
        // It waits for its next start, which does not come.
        set_container(&mut pod, &last);
    } else {
        let state = json!({"terminated": {
            "exitCode": 0, "reason": "Completed", "startedAt": container["state"]["running"]["startedAt"],
            "finishedAt": world.time(), "containerID": container["containerID"],
        }});
        set_container(&mut pod, &state);
        world.print(&instance(name, 0), "SIGTERM received, shutting down");
    }
    pod["status"]["phase"] = json!("Succeeded");
    set_conditions(
        &mut pod,
        &[("Ready", "False"), ("ContainersReady", "False")],
        &world.time(),
    );
    let conditions = pod["status"]["conditions"].as_array_mut();
    for condition in conditions.into_iter().flatten() {
        if condition["status"] == "False" {
            condition["reason"] = json!("PodCompleted");
        }
    }
    world.plan(250, Task::Remove(name.to_owned()));
    report_pod(world, pod)
}

pub(super) fn remove_pod(world: &mut World<'_>, name: &str) -> Result<(), WriteError> {
    let Some(pod) = world.get("pods", name) else {
        return Ok(());
    };
    world.delete_pod(&name_of(&pod), Deletion::Immediate, KUBELET)?;
    pod_changed(world, &pod);
    Ok(())
}

/// A Pod that is not terminating.
pub(super) fn living(world: &World<'_>, name: &str) -> Option<Value> {
    world
        .get("pods", name)
        .filter(|pod| pod["metadata"]["deletionTimestamp"].is_null())
}

pub(super) fn report_pod(world: &mut World<'_>, mut pod: Value) -> Result<(), WriteError> {
    pod["status"]["observedGeneration"] = pod["metadata"]["generation"].clone();
    let pod = world.update(pod, KUBELET, "status")?;
    pod_changed(world, &pod);
    Ok(())
}

fn new_address(world: &World<'_>, pod: &Value) -> String {
    let node = NODES
        .iter()
        .position(|(node, _)| pod["spec"]["nodeName"] == *node)
        .unwrap_or(0);
    let taken = world.sandbox.list("pods", world.namespace);
    let has = |pod: &Value, address: &String| pod["status"]["podIP"] == address.as_str();
    let is_free = |address: &String| !taken.iter().any(|pod| has(pod, address));
    // Addresses are assigned in turn, so that a new Pod does not get the address that was just freed.
    let candidates = (world.bound..).map(|host| format!("10.244.{node}.{}", 10 + host % 240));
    candidates.take(240).find(is_free).unwrap_or_default()
}

pub(super) fn image(pod: &Value) -> String {
    text(&pod["spec"]["containers"][0]["image"]).to_owned()
}

fn not_found(image: &str) -> String {
    format!(
        "rpc error: code = NotFound desc = failed to pull and unpack image \"{image}\": failed to resolve reference \
         \"{image}\": {image}: not found"
    )
}

/// Sets the only container to waiting, with this reason.
pub(super) fn wait(pod: &mut Value, reason: &str, message: Option<&str>) {
    let mut waiting = json!({"reason": reason});
    if let Some(message) = message {
        waiting["message"] = json!(message);
    }
    set_container(pod, &json!({"waiting": waiting}));
}

/// Sets the state of the only container, which is not started and not ready.
pub(super) fn set_container(pod: &mut Value, state: &Value) {
    let container = &pod["spec"]["containers"][0];
    let mut status = json!({
        "name": container["name"], "image": container["image"], "imageID": "", "lastState": {}, "restartCount": 0,
    });
    let present = &pod["status"]["containerStatuses"][0];
    for key in ["imageID", "containerID", "lastState", "restartCount"] {
        if !present[key].is_null() {
            status[key] = present[key].clone();
        }
    }
    status["state"] = state.clone();
    status["ready"] = json!(false);
    status["started"] = json!(false);
    pod["status"]["containerStatuses"] = json!([status]);
}

/// Sets conditions by type and status. The transition time changes only with the status.
fn set_conditions(pod: &mut Value, changes: &[(&str, &str)], now: &Value) {
    let container = text(&pod["spec"]["containers"][0]["name"]);
    let unready = format!("containers with unready status: [{container}]");
    let generation = pod["metadata"]["generation"].clone();
    let present = pod["status"]["conditions"].as_array();
    let mut list = present.cloned().unwrap_or_default();
    for (kind, status) in changes {
        let present = list.iter().position(|condition| condition["type"] == *kind);
        if present.is_some_and(|at| list[at]["status"] == *status) {
            continue;
        }
        let mut condition = json!({
            "type": kind, "status": status, "lastProbeTime": null, "lastTransitionTime": now,
            "observedGeneration": generation,
        });
        if *status == "False" && kind.ends_with("Ready") {
            condition["reason"] = json!("ContainersNotReady");
            condition["message"] = json!(unready);
        }
        match present {
            Some(at) => list[at] = condition,
            None => list.push(condition),
        }
    }
    pod["status"]["conditions"] = Value::Array(list);
}

/// The ID of an instance of a Pod's container. Each restart has another one.
pub(super) fn instance(pod: &str, restarts: u64) -> String {
    let seed = match restarts {
        0 => pod.to_owned(),
        restarts => format!("{pod}/{restarts}"),
    };
    format!("containerd://{}", digest(&seed))
}

/// 64 hexadecimal digits that look like a digest.
fn digest(text: &str) -> String {
    let seed = text.bytes().fold(7_u64, |seed, byte| {
        seed.wrapping_mul(31).wrapping_add(u64::from(byte))
    });
    let mut random = fastrand::Rng::with_seed(seed);
    (0..4)
        .map(|_| format!("{:016x}", random.u64(..)))
        .collect::<Vec<_>>()
        .concat()
}
