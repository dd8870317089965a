//! The controllers of Deployments, of `ReplicaSet`s and of `EndpointSlice`s.
//!
//! A Deployment has one `ReplicaSet` for each template, scaled step by step. A `ReplicaSet` creates and deletes Pods up to
//! the desired number. A Service has one slice, with one endpoint for each Pod with an address.

use serde_json::{Value, json};

use super::rolling::{REVISION, Rollout, revision, set_condition, template_hash};
use super::stories::owned_by;
use super::world::{CONTROLLER, Task, World, name_of};
use crate::sandbox::store::{number, text};
use crate::sandbox::{Deletion, WriteError};
use std::cmp::Reverse;

pub(super) fn sync_deployment(world: &mut World<'_>, name: &str) -> Result<(), WriteError> {
    let Some(deployment) = world.get("deployments", name) else {
        return Ok(());
    };
    let sets = owned(world, "replicasets", &deployment);
    let rollout = Rollout::of(deployment, sets);
    let Some(new) = &rollout.new else {
        return add_replica_set(world, &rollout);
    };
    let size = rollout.new_size();
    if size == number(new, "/spec/replicas") {
        for (set, size) in rollout.shrinking() {
            scale(world, &set, size, &rollout)?;
        }
    } else {
        let new = name_of(new);
        scale(world, &new, size, &rollout)?;
    }
    let Some(deployment) = world.get("deployments", name) else {
        return Ok(());
    };
    // Its status is the sum of its ReplicaSets.
    let sets = owned(world, "replicasets", &deployment);
    let rollout = Rollout::of(deployment, sets);
    if let Some(status) = rollout.status(&world.time()) {
        let mut deployment = rollout.deployment;
        deployment["status"] = status;
        world.update(deployment, CONTROLLER, "status")?;
    }
    Ok(())
}

fn add_replica_set(world: &mut World<'_>, rollout: &Rollout) -> Result<(), WriteError> {
    let deployment = &rollout.deployment;
    let hash = template_hash(&deployment["spec"]["template"]);
    let number = rollout.old.iter().map(revision).max().unwrap_or(0) + 1;
    let name = format!("{}-{hash}", name_of(deployment));
    let mut template = deployment["spec"]["template"].clone();
    template["metadata"]["labels"]["pod-template-hash"] = json!(hash);
    let labels = template["metadata"]["labels"].clone();
    let object = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {
            "name": name, "namespace": world.namespace, "labels": labels,
            "annotations": {
                "deployment.kubernetes.io/desired-replicas": rollout.desired.to_string(),
                "deployment.kubernetes.io/max-replicas": (rollout.desired + rollout.surge).to_string(),
                (REVISION): number.to_string(),
            },
            "ownerReferences": owned_by(deployment),
        },
        "spec": {"replicas": rollout.new_size(), "selector": {"matchLabels": labels}, "template": template},
        "status": {"replicas": 0},
    });
    world.create(object, CONTROLLER)?;
    let mut noted = deployment.clone();
    noted["metadata"]["annotations"][REVISION] = json!(number.to_string());
    noted["status"]["observedGeneration"] = deployment["metadata"]["generation"].clone();
    let message = format!("Created new replica set \"{name}\"");
    let created = ["Progressing", "True", "NewReplicaSetCreated", &message];
    set_condition(&mut noted["status"]["conditions"], created, &world.time());
    world.update(noted, CONTROLLER, "status")?;
    world.plan(20, Task::ReplicaSet(name));
    world.plan(40, Task::Deployment(name_of(deployment)));
    Ok(())
}

fn scale(world: &mut World<'_>, set: &str, size: i64, rollout: &Rollout) -> Result<(), WriteError> {
    let patch = json!({
        "metadata": {"annotations": {
            "deployment.kubernetes.io/desired-replicas": rollout.desired.to_string(),
            "deployment.kubernetes.io/max-replicas": (rollout.desired + rollout.surge).to_string(),
        }},
        "spec": {"replicas": size},
    });
    let (target, by) = (
        world.target("replicasets", set),
        world.writer(CONTROLLER, ""),
    );
    world.sandbox.patch(&target, &patch, &by)?;
    world.plan(20, Task::ReplicaSet(set.to_owned()));
    world.plan(60, Task::Deployment(name_of(&rollout.deployment)));
    Ok(())
}

pub(super) fn owned(world: &World<'_>, resource: &str, owner: &Value) -> Vec<Value> {
    let uid = &owner["metadata"]["uid"];
    let is_owned = |object: &Value| object["metadata"]["ownerReferences"][0]["uid"] == *uid;
    world.select(resource, is_owned)
}

pub(super) fn sync_replica_set(world: &mut World<'_>, name: &str) -> Result<(), WriteError> {
    let Some(set) = world.get("replicasets", name) else {
        return Ok(());
    };
    let mut pods = owned(world, "pods", &set);
    pods.retain(is_active);
    let desired = usize::try_from(number(&set, "/spec/replicas")).unwrap_or(0);
    for _ in pods.len()..desired {
        add_pod(world, &set)?;
    }
    // Pods that are not ready or not running are deleted first; among equals, the youngest.
    pods.sort_by_key(|pod| (is_ready(pod), is_running(pod), Reverse(creation(pod))));
    for pod in &pods[..pods.len().saturating_sub(desired)] {
        // It stays until its containers have stopped.
        let name = name_of(pod);
        world.delete_pod(&name, Deletion::Graceful(30), CONTROLLER)?;
        if is_running(pod) {
            world.plan(1400, Task::Stop(name));
        } else {
            world.plan(300, Task::Remove(name));
        }
        pod_changed(world, pod);
    }
    report_replica_set(world, name)
}

fn add_pod(world: &mut World<'_>, set: &Value) -> Result<(), WriteError> {
    let template = &set["spec"]["template"];
    let mut spec = template["spec"].clone();
    let token = json!({"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": "kube-api-access", "readOnly": true});
    spec["containers"][0]["volumeMounts"] = json!([token]);
    let defaults = json!({
        "serviceAccountName": "default", "serviceAccount": "default", "enableServiceLinks": true, "priority": 0,
        "preemptionPolicy": "PreemptLowerPriority",
        "tolerations": [toleration("not-ready"), toleration("unreachable")],
        "volumes": [{"name": "kube-api-access", "projected": {"defaultMode": 420, "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        ]}}],
    });
    json_patch::merge(&mut spec, &defaults);
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "generateName": format!("{}-", name_of(set)), "namespace": world.namespace,
            "labels": template["metadata"]["labels"], "ownerReferences": owned_by(set),
        },
        "spec": spec,
        "status": {"phase": "Pending", "qosClass": "Burstable"},
    });
    let pod = world.create(pod, CONTROLLER)?;
    world.plan(40, Task::Bind(name_of(&pod)));
    pod_changed(world, &pod);
    Ok(())
}

fn report_replica_set(world: &mut World<'_>, name: &str) -> Result<(), WriteError> {
    let Some(mut set) = world.get("replicasets", name) else {
        return Ok(());
    };
    let mut pods = owned(world, "pods", &set);
    pods.retain(is_active);
    let ready = pods.iter().filter(|pod| is_ready(pod)).count();
    let mut status =
        json!({"replicas": pods.len(), "observedGeneration": set["metadata"]["generation"]});
    let counts = [
        ("fullyLabeledReplicas", pods.len()),
        ("readyReplicas", ready),
        ("availableReplicas", ready),
    ];
    for (key, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
        status[key] = json!(count);
    }
    if set["status"] != status {
        set["status"] = status;
        world.update(set.clone(), CONTROLLER, "status")?;
        world.plan(20, Task::Deployment(owner_of(&set)));
    }
    Ok(())
}

pub(super) fn pod_changed(world: &mut World<'_>, pod: &Value) {
    world.plan(20, Task::ReplicaSet(owner_of(pod)));
    world.plan(35, Task::Endpoints);
}

/// The name of the controller of an object.
fn owner_of(object: &Value) -> String {
    text(&object["metadata"]["ownerReferences"][0]["name"]).to_owned()
}

fn toleration(trouble: &str) -> Value {
    json!({
        "key": format!("node.kubernetes.io/{trouble}"), "operator": "Exists", "effect": "NoExecute",
        "tolerationSeconds": 300,
    })
}

pub(super) fn is_active(pod: &Value) -> bool {
    let is_over = pod["status"]["phase"] == "Succeeded" || pod["status"]["phase"] == "Failed";
    !is_over && pod["metadata"]["deletionTimestamp"].is_null()
}

pub(super) fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
    conditions
        .into_iter()
        .any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

fn is_running(pod: &Value) -> bool {
    pod["status"]["phase"] == "Running"
}

fn creation(pod: &Value) -> (String, u64) {
    let metadata = &pod["metadata"];
    let revision = text(&metadata["resourceVersion"]).parse().unwrap_or(0);
    (text(&metadata["creationTimestamp"]).to_owned(), revision)
}

pub(super) fn sync_endpoints(world: &mut World<'_>) -> Result<(), WriteError> {
    for service in world.sandbox.list("services", world.namespace) {
        let endpoints = endpoints(world, &service);
        let is_of_service = |slice: &Value| {
            slice["metadata"]["labels"]["kubernetes.io/service-name"] == service["metadata"]["name"]
        };
        let slices = world.select("endpointslices", is_of_service);
        match slices.into_iter().next() {
            Some(slice) if slice["endpoints"] == endpoints => {}
            Some(mut slice) => {
                slice["endpoints"] = endpoints;
                slice["metadata"]["annotations"]["endpoints.kubernetes.io/last-change-trigger-time"] =
                    world.time();
                world.update(slice, CONTROLLER, "")?;
            }
            None => {
                let slice = slice(world, &service, &endpoints);
                world.create(slice, CONTROLLER)?;
            }
        }
    }
    Ok(())
}

fn slice(world: &World<'_>, service: &Value, endpoints: &Value) -> Value {
    let name = name_of(service);
    let mut labels = service["metadata"]["labels"].clone();
    labels["endpointslice.kubernetes.io/managed-by"] = json!("endpointslice-controller.k8s.io");
    labels["kubernetes.io/service-name"] = json!(name);
    json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
        "metadata": {
            "generateName": format!("{name}-"), "namespace": world.namespace, "labels": labels,
            "annotations": {"endpoints.kubernetes.io/last-change-trigger-time": world.time()},
            "ownerReferences": owned_by(service),
        },
        "addressType": "IPv4", "endpoints": endpoints,
        "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
    })
}

/// The endpoints for the Pods that a Service selects, by name.
fn endpoints(world: &World<'_>, service: &Value) -> Value {
    let selector = service["spec"]["selector"].as_object();
    let is_selected = |pod: &Value| {
        let labels = &pod["metadata"]["labels"];
        selector.is_some_and(|selector| selector.iter().all(|(key, value)| labels[key] == *value))
    };
    let is_there = |pod: &Value| {
        pod["status"]["podIP"].is_string()
            && pod["status"]["phase"] != "Succeeded"
            && pod["status"]["phase"] != "Failed"
    };
    let pods = world.select("pods", |pod| is_selected(pod) && is_there(pod));
    Value::Array(pods.iter().map(|pod| endpoint(world, pod)).collect())
}

fn endpoint(world: &World<'_>, pod: &Value) -> Value {
    let is_terminating = pod["metadata"]["deletionTimestamp"].is_string();
    let is_serving = is_ready(pod);
    json!({
        "addresses": [pod["status"]["podIP"]], "nodeName": pod["spec"]["nodeName"],
        "conditions": {
            "ready": is_serving && !is_terminating, "serving": is_serving, "terminating": is_terminating,
        },
        "targetRef": {
            "kind": "Pod", "namespace": world.namespace, "name": pod["metadata"]["name"],
            "uid": pod["metadata"]["uid"],
        },
    })
}
