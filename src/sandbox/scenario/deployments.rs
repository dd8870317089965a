//! The Deployment controller: one `ReplicaSet` for each template, scaled step by step.

use serde_json::{Value, json};

use super::build::owned_by;
use super::pods::number;
use super::rolling::{REVISION, Rollout, revision, set_condition, template_hash};
use super::world::{CONTROLLER, Task, World, name_of};
use crate::sandbox::WriteError;

impl World<'_> {
    pub(super) fn sync_deployment(&mut self, name: &str) -> Result<(), WriteError> {
        let Some(deployment) = self.get("deployments", name) else {
            return Ok(());
        };
        let sets = self.owned("replicasets", &deployment);
        let rollout = Rollout::of(deployment, sets);
        let Some(new) = &rollout.new else {
            return self.add_replica_set(&rollout);
        };
        let size = rollout.new_size();
        if size == number(new, "/spec/replicas") {
            for (set, size) in rollout.shrinking() {
                self.scale(&set, size, &rollout)?;
            }
        } else {
            let new = name_of(new);
            self.scale(&new, size, &rollout)?;
        }
        self.report_deployment(name)
    }

    fn add_replica_set(&mut self, rollout: &Rollout) -> Result<(), WriteError> {
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
                "name": name, "namespace": self.namespace, "labels": labels,
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
        self.create(object, CONTROLLER)?;
        let mut noted = deployment.clone();
        noted["metadata"]["annotations"][REVISION] = json!(number.to_string());
        noted["status"]["observedGeneration"] = deployment["metadata"]["generation"].clone();
        let message = format!("Created new replica set \"{name}\"");
        let created = ["Progressing", "True", "NewReplicaSetCreated", &message];
        set_condition(&mut noted["status"]["conditions"], created, &self.time());
        self.update(noted, CONTROLLER, "status")?;
        self.plan(20, Task::ReplicaSet(name));
        self.plan(40, Task::Deployment(name_of(deployment)));
        Ok(())
    }

    fn scale(&mut self, set: &str, size: i64, rollout: &Rollout) -> Result<(), WriteError> {
        let patch = json!({
            "metadata": {"annotations": {
                "deployment.kubernetes.io/desired-replicas": rollout.desired.to_string(),
                "deployment.kubernetes.io/max-replicas": (rollout.desired + rollout.surge).to_string(),
            }},
            "spec": {"replicas": size},
        });
        let target = self.target("replicasets", set);
        self.sandbox
            .patch(&target, &patch, &self.writer(CONTROLLER, ""))?;
        self.plan(20, Task::ReplicaSet(set.to_owned()));
        self.plan(60, Task::Deployment(name_of(&rollout.deployment)));
        Ok(())
    }

    /// Writes the Deployment's status, the sum of its `ReplicaSet`s.
    fn report_deployment(&mut self, name: &str) -> Result<(), WriteError> {
        let Some(deployment) = self.get("deployments", name) else {
            return Ok(());
        };
        let sets = self.owned("replicasets", &deployment);
        let rollout = Rollout::of(deployment, sets);
        if let Some(status) = rollout.status(&self.time()) {
            let mut deployment = rollout.deployment;
            deployment["status"] = status;
            self.update(deployment, CONTROLLER, "status")?;
        }
        Ok(())
    }

    /// The objects of a resource that this object controls.
    pub(super) fn owned(&self, resource: &str, owner: &Value) -> Vec<Value> {
        let uid = &owner["metadata"]["uid"];
        let is_owned = |object: &Value| object["metadata"]["ownerReferences"][0]["uid"] == *uid;
        self.select(resource, is_owned)
    }
}
