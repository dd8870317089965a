//! Judges a workload by its Pods.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::graph::Node;
use crate::object::Uid;
use crate::status::{CauseRule, Finding, Rules, Status};

use super::Model;
use super::object::ModelObject;

impl Model {
    /// Judges an object by the dependents of its current revision.
    pub(super) fn roll_up(&mut self, uid: &Uid, now: Timestamp) {
        let dependents = self.graph.current_dependents(uid);
        let there = |dependent| {
            let object: &ModelObject = self.objects.get(dependent)?;
            object.departure.is_none().then_some(object)
        };
        let dependents: Vec<&ModelObject> = dependents.iter().filter_map(there).collect();
        let worst = dependents.iter().map(|object| object.assessment.status());
        let worst = worst.max();
        let node = self.graph.node(uid).filter(|_| self.rules == Rules::Spy);
        let failed_pods = node.and_then(|node| self.failed_pods(node, &dependents));
        let has_owner = !self.graph.owners(uid).is_empty();
        let findings = self.findings(uid);
        let news = self.news(uid, now);
        if let Some(object) = self.objects.get_mut(uid) {
            object.take_worst(worst, news);
            object.failed_pods =
                failed_pods.map(|found| if has_owner { found.silent() } else { found });
            object.take_findings(findings, news);
        }
    }

    /// The problem of a workload whose Pods fail: `0 of 3 pods ready: 3 ImagePullBackOff`; `None` if none fails. The Pods of
    /// a Job may fail: the Job counts them itself. Pods that have ended do not count: the workload replaces them.
    fn failed_pods(&self, node: &Node, dependents: &[&ModelObject]) -> Option<Finding> {
        let workload = node.workload().filter(|_| &*node.object.kind != "Job")?;
        let pods = dependents
            .iter()
            .filter(|object| self.is_lasting_pod(object));
        let (mut all, mut ready) = (0, 0);
        let mut words: BTreeMap<&str, usize> = BTreeMap::new();
        for pod in pods {
            let assessment = &pod.assessment;
            all += 1;
            ready += usize::from(assessment.is_well());
            if assessment.status() == Status::Failed {
                *words.entry(problem(&assessment.row.word)).or_default() += 1;
            }
        }
        if words.is_empty() {
            return None;
        }
        let words: Vec<_> = words
            .iter()
            .map(|(word, count)| format!("{count} {word}"))
            .collect();
        let pods = if workload.replicas > all {
            "new pods"
        } else {
            "pods"
        };
        let wanted = workload.wanted.max(all);
        let text = format!("{ready} of {wanted} {pods} ready: {}", words.join(", "));
        Some(Finding::new(CauseRule::FailedPods, Status::Failed, text))
    }

    fn is_lasting_pod(&self, object: &ModelObject) -> bool {
        let node = self.graph.node(&object.object.identity());
        node.and_then(Node::pod).is_some_and(|pod| !pod.has_ended())
    }
}

/// One word for one problem: the kubelet alternates between the two words for an image that it cannot pull.
fn problem(word: &str) -> &str {
    match word {
        "ErrImagePull" => "ImagePullBackOff",
        word => word,
    }
}
