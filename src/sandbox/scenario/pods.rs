//! The `ReplicaSet` controller: creates and deletes Pods up to the desired number, and counts them.

use serde_json::{Value, json};

use super::build::owned_by;
use super::world::{CONTROLLER, Task, World, name_of};
use crate::sandbox::{Deletion, WriteError};

impl World<'_> {
    pub(super) fn sync_replica_set(&mut self, name: &str) -> Result<(), WriteError> {
        let Some(set) = self.get("replicasets", name) else {
            return Ok(());
        };
        let mut pods = self.owned("pods", &set);
        pods.retain(is_active);
        let desired = usize::try_from(number(&set, "/spec/replicas")).unwrap_or(0);
        for _ in pods.len()..desired {
            self.add_pod(&set)?;
        }
        // Pods that are not ready or not running are deleted first; among equals, the youngest.
        pods.sort_by_key(|pod| {
            (
                is_ready(pod),
                is_running(pod),
                std::cmp::Reverse(creation(pod)),
            )
        });
        for pod in &pods[..pods.len().saturating_sub(desired)] {
            self.dismiss(pod)?;
        }
        self.report_replica_set(name)
    }

    fn add_pod(&mut self, set: &Value) -> Result<(), WriteError> {
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
                "generateName": format!("{}-", name_of(set)), "namespace": self.namespace,
                "labels": template["metadata"]["labels"], "ownerReferences": owned_by(set),
            },
            "spec": spec,
            "status": {"phase": "Pending", "qosClass": "Burstable"},
        });
        let pod = self.create(pod, CONTROLLER)?;
        self.plan(40, Task::Bind(name_of(&pod)));
        self.pod_changed(&pod);
        Ok(())
    }

    /// Deletes a Pod, which stays until its containers have stopped.
    fn dismiss(&mut self, pod: &Value) -> Result<(), WriteError> {
        let name = name_of(pod);
        self.delete_pod(&name, Deletion::Graceful(30), CONTROLLER)?;
        if is_running(pod) {
            self.plan(1400, Task::Stop(name));
        } else {
            self.plan(300, Task::Remove(name));
        }
        self.pod_changed(pod);
        Ok(())
    }

    fn report_replica_set(&mut self, name: &str) -> Result<(), WriteError> {
        let Some(mut set) = self.get("replicasets", name) else {
            return Ok(());
        };
        let mut pods = self.owned("pods", &set);
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
            self.update(set.clone(), CONTROLLER, "status")?;
            let owner = set["metadata"]["ownerReferences"][0]["name"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            self.plan(20, Task::Deployment(owner));
        }
        Ok(())
    }

    /// Queues the controllers that depend on this Pod.
    pub(super) fn pod_changed(&mut self, pod: &Value) {
        let owner = pod["metadata"]["ownerReferences"][0]["name"]
            .as_str()
            .unwrap_or_default();
        self.plan(20, Task::ReplicaSet(owner.to_owned()));
        self.plan(35, Task::Endpoints);
    }
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
    let revision = metadata["resourceVersion"]
        .as_str()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    (
        metadata["creationTimestamp"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        revision,
    )
}

/// The number at a pointer; 0 if there is none.
pub(super) fn number(object: &Value, pointer: &str) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or(0)
}
