//! Why a Deployment with the strategy Recreate has no new Pods: the controller waits until the old ones have ended
//! (<https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#recreate-deployment>).

use crate::graph::{Node, Standing};
use crate::status::{Assessment, Cause, CauseRule, Status};

use crate::model::around::Around;

/// The old Pod that a Deployment waits for.
pub(in crate::model) fn ending_pod(around: Around<'_>, deployment: &Node) -> Option<Cause> {
    let doc = around.doc(&deployment.uid)?;
    let strategy = doc.root().str_at(&["spec", "strategy", "type"]);
    let updated = doc.root().i64_at(&["status", "updatedReplicas"]);
    if strategy.as_deref() != Some("Recreate") || updated.unwrap_or(0) > 0 {
        return None;
    }
    let sets = around.graph().children(&deployment.uid).into_iter();
    let mut pods = sets.flat_map(|set| around.graph().children(&set.uid));
    let mut standings = around.graph().standings();
    let (pod, assessment) = pods.find_map(|pod| {
        let assessment: &Assessment = &around.object(&pod.uid)?.assessment;
        let is_ending = assessment.status() == Status::Terminating;
        (is_ending && standings.of(&pod.uid) == Standing::Old).then_some((pod, assessment))
    })?;
    let why = assessment.causes.first();
    let why = why.map_or(String::new(), |cause| format!(", which is {}", cause.text));
    let text = format!("Recreate: new pods wait for {} to end{why}", pod.object);
    Some(Cause::new(CauseRule::Fact, text))
}

#[cfg(test)]
mod tests {
    use crate::model::neighbour_rules::tests::Read;

    #[test]
    fn the_new_pods_of_a_recreated_deployment_wait_for_an_old_one() {
        let state = |strategy: &str, updated: u32| {
            let owned = |kind: &str, owner: &str| {
                format!(
                    "ownerReferences: [{{apiVersion: apps/v1, kind: {kind}, name: {owner}, uid: {owner}, controller: true}}]"
                )
            };
            let objects = [
                format!(
                    "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web, namespace: shop, generation: 2}},
  spec: {{replicas: 1, strategy: {{type: {strategy}}}}}, status: {{observedGeneration: 2, replicas: 0, updatedReplicas: {updated}}}}}"
                ),
                format!(
                    "{{apiVersion: apps/v1, kind: ReplicaSet, metadata: {{name: web-1, namespace: shop, {}}}, spec: {{replicas: 0}}}}",
                    owned("Deployment", "web")
                ),
                format!(
                    "{{apiVersion: v1, kind: Pod, metadata: {{name: web-1-a, namespace: shop, deletionTimestamp: '2020-01-01T00:00:00Z', finalizers: [example.com/backup], {}}}}}",
                    owned("ReplicaSet", "web-1")
                ),
            ];
            Read::for_status(&objects.join("\n---\n")).state("web")
        };
        let waits = "Fact: Recreate: new pods wait for pod/web-1-a to end, which is waiting for finalizers: example.com/backup";
        assert!(
            state("Recreate", 0).ends_with(waits),
            "{}",
            state("Recreate", 0)
        );
        assert!(!state("Recreate", 1).contains("Fact"));
        assert!(!state("RollingUpdate", 0).contains("Fact"));
    }
}
