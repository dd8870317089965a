//! Judges a Service by its endpoints.

use std::collections::BTreeSet;
use std::iter;

use crate::graph::{EndpointCounts, Node, PodCoverage, Service, address_groups, count_backends};
use crate::source::{ClusterId, Scope, Select, SourceKey};
use crate::status::{CauseRule, Finding, Rules, Status};

use super::{Model, Reading};

/// With more Services than this, one source shows the slices of all of them.
const MOST_SERVICES: usize = 8;

impl Model {
    /// What the endpoints of a Service say about it, in the words of `trace`; `None` if the model follows no source
    /// that shows them. A Service that is well gets a finding too.
    pub fn endpoints_finding(&self, node: &Node) -> Option<Finding> {
        let service = node.service()?;
        let cluster = self.objects.get(&node.uid)?.cluster()?;
        let reading = self.slices_reading(node, cluster)?;
        if let Some(name) = &service.external_name {
            return Some(match &**name {
                "" => finding(Status::Failed, ".spec.externalName is empty"),
                name => finding(Status::Current, format!("alias for {name}")),
            });
        }
        let pods = node.selected_pods_source(cluster);
        let is_read = |pods: &SourceKey| self.coverage.is_read(pods);
        let pods = PodCoverage::from(pods.as_ref().is_some_and(is_read));
        let groups = address_groups(&self.graph, self.graph.slices(&node.uid));
        let counts = count_backends(&groups, pods);
        Some(match reading {
            _ if counts != EndpointCounts::default() => serving(counts),
            Reading::All if !self.knows_absence => return None,
            Reading::All => self.without_endpoints(node, service, pods),
            _ => finding(Status::Unknown, "endpoints not read"),
        })
    }

    /// How much of a Service's slices has been read, by the source that shows only them or by a wider one.
    fn slices_reading(&self, service: &Node, cluster: &ClusterId) -> Option<&Reading> {
        let own = service.slices_source(cluster)?;
        let wide = [own.scope.clone(), Scope::Cluster].map(|scope| SourceKey {
            scope,
            select: Select::All,
            ..own.clone()
        });
        let mut sources = iter::once(&own).chain(&wide);
        sources.find_map(|source| self.coverage.reading(source))
    }

    /// The sources that show the endpoints of the Services. Many Services share one source. The Pods are needed only
    /// to say why a Service does not work.
    pub fn service_sources(&self) -> Vec<SourceKey> {
        let mut sources: Vec<SourceKey> = Vec::new();
        if self.rules == Rules::Kstatus {
            return sources;
        }
        let is_many = self.graph.services().nth(MOST_SERVICES).is_some();
        for node in self.graph.services() {
            let Some(cluster) = self.cluster_of(&node.uid) else {
                continue;
            };
            let own = node.slices_source(cluster);
            let slices = if is_many {
                own.map(|own| self.wide_source(own))
            } else {
                own
            };
            let finding = self.endpoints_finding(node);
            let is_well = finding.is_none_or(|finding| finding.status == Status::Current);
            let pods = node.selected_pods_source(cluster);
            let pods = pods.filter(|_| !is_well && !is_many);
            for source in slices.into_iter().chain(pods) {
                if !sources.contains(&source) {
                    sources.push(source);
                }
            }
        }
        sources
    }

    /// The source of all slices in the namespace, or in all namespaces if the Services are in several.
    fn wide_source(&self, own: SourceKey) -> SourceKey {
        let namespaces: BTreeSet<_> = self
            .graph
            .services()
            .map(|service| &service.object.namespace)
            .collect();
        let scope = match namespaces.len() {
            1 => own.scope.clone(),
            _ => Scope::Cluster,
        };
        SourceKey {
            scope,
            select: Select::All,
            ..own
        }
    }

    /// A Service without endpoints. One without a selector, or without a cluster IP, may be meant so.
    fn without_endpoints(&self, node: &Node, service: &Service, pods: PodCoverage) -> Finding {
        let matched = self.graph.selected_pods(&node.uid).len();
        let words = match (&service.selector, pods, matched) {
            (None, ..) => "no endpoints, and no selector to find any",
            (Some(_), PodCoverage::Known, 0) => "no pod matches the selector",
            (Some(_), ..) => "no endpoints",
        };
        let is_meant = service.is_headless || service.selector.is_none();
        finding(
            if is_meant {
                Status::Current
            } else {
                Status::Failed
            },
            words,
        )
    }
}

fn serving(counts: EndpointCounts) -> Finding {
    let staying = counts.staying();
    let mut words = vec![format!("{}/{staying} ready", counts.ready)];
    match (counts.terminating, counts.draining) {
        (0, _) => {}
        (going, draining) if counts.ready == 0 && draining > 0 => {
            words.push(format!(
                "{going} terminating of which {draining} still serve"
            ));
        }
        (going, _) => words.push(format!("{going} terminating")),
    }
    if counts.ghosts > 0 {
        words.push(format!("{} without a live pod", counts.ghosts));
    }
    let words = words.join(", ");
    let answers = counts.ready + counts.draining;
    let is_whole = counts.ready == staying && counts.ghosts == 0;
    match (answers, is_whole) {
        (0, _) => finding(Status::Failed, words),
        (_, true) if staying > 0 => finding(Status::Current, words),
        _ => finding(Status::InProgress, format!("degraded {words}")),
    }
}

fn finding(status: Status, text: impl Into<String>) -> Finding {
    Finding::new(CauseRule::Endpoints, status, text)
}
