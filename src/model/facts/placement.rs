//! Why a Pod has no node: the labels that it demands, and whether any node has them.

use crate::graph::{Node, well_known};
use crate::object::selector::LabelSelector;
use crate::source::{Form, Scope, Select, SourceKey};
use crate::status::{Cause, CauseRule};

use super::super::Model;

impl Model {
    /// The demands of a Pod that has no node.
    pub(super) fn placement_facts(&self, node: &Node) -> Vec<Cause> {
        let selectors = self.demands(node).iter();
        let demands = selectors.map(|selector| self.demand(node, selector));
        demands.chain(self.constraints(node)).collect()
    }

    /// The sources of the labels of the nodes that a Pod without a node may use.
    pub(super) fn node_sources(&self, node: &Node) -> Vec<SourceKey> {
        let selectors = self.demands(node).iter();
        selectors
            .filter_map(|selector| self.nodes_source(node, selector))
            .collect()
    }

    /// The selectors of which a node must match one, for a Pod that cannot be scheduled.
    fn demands<'a>(&self, node: &'a Node) -> &'a [LabelSelector] {
        match node.pod() {
            Some(pod) if self.is_unschedulable(node) => &pod.placement,
            Some(_) | None => &[],
        }
    }

    /// Whether the scheduler finds no node for a Pod.
    pub(super) fn is_unschedulable(&self, pod: &Node) -> bool {
        let object = self.objects.get(&pod.uid);
        object.is_some_and(|object| object.own.has_cause(CauseRule::Unschedulable))
    }

    /// What a Pod demands of its node. It explains why the Pod has no node only if no node has the labels.
    fn demand(&self, pod: &Node, selector: &LabelSelector) -> Cause {
        let source = self.nodes_source(pod, selector);
        let source = source.filter(|source| self.coverage.is_read(source));
        let nodes = source.map(|source| self.evidence.labels(&source).count());
        let (rule, found) = match nodes {
            None => (CauseRule::Fact, String::new()),
            Some(0) => (CauseRule::Fact, ", and no node has it".to_owned()),
            Some(1) => (CauseRule::Constraint, ", which 1 node has".to_owned()),
            Some(nodes) => (CauseRule::Constraint, format!(", which {nodes} nodes have")),
        };
        Cause::new(rule, format!("needs a node with {selector}{found}"))
    }

    fn nodes_source(&self, pod: &Node, selector: &LabelSelector) -> Option<SourceKey> {
        Some(SourceKey {
            cluster: self.cluster_of(&pod.uid)?.clone(),
            resource: well_known("", "Node"),
            scope: Scope::Cluster,
            select: Select::labelled(&selector.to_string()),
            form: Form::Metadata,
        })
    }
}
