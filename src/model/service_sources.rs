//! Which sources show the endpoints of Services.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::sync::Arc;

use crate::graph::Node;
use crate::source::{ClusterId, Scope, SourceKey};
use crate::status::{Rules, Status};

use super::{Model, Reading};

/// With more Services than this, one source shows the slices of all of them.
const MAX_SERVICES: usize = 8;

impl Model {
    /// How much of a Service's slices has been read, by the source that shows only them or by a wider one.
    pub(super) fn slices_reading(&self, service: &Node, cluster: &ClusterId) -> Option<&Reading> {
        let own = service.slices_source(cluster)?;
        let wide = [own.scope.clone(), Scope::Cluster].map(|scope| SourceKey {
            scope,
            ..own.of_all()
        });
        let mut sources = iter::once(&own).chain(&wide);
        sources.find_map(|source| self.coverage.reading(source))
    }

    /// The sources that show the endpoints of the Services. Many Services share one source. The Pods are needed only
    /// to say why a Service does not work.
    pub(super) fn service_sources(&self) -> Vec<SourceKey> {
        if self.rules == Rules::Kstatus {
            return Vec::new();
        }
        let services: Vec<&Node> = self.graph.services().collect();
        if services.len() > MAX_SERVICES {
            return self.wide_slices_sources(&services);
        }
        let mut sources: Vec<SourceKey> = Vec::new();
        for node in services {
            let Some(cluster) = self.cluster_of(&node.uid) else {
                continue;
            };
            let finding = self.endpoints_finding(node);
            let is_broken = finding.is_some_and(|finding| {
                matches!(finding.status, Status::InProgress | Status::Failed)
            });
            let slices = node.slices_source(cluster);
            let pods = node.selected_pods_source(cluster).filter(|_| is_broken);
            for source in slices.into_iter().chain(pods) {
                if !sources.contains(&source) {
                    sources.push(source);
                }
            }
        }
        sources
    }

    /// The source of all slices in the namespace of these Services, or in all namespaces if they are in several.
    fn wide_slices_sources(&self, services: &[&Node]) -> Vec<SourceKey> {
        let namespaces = services.iter().map(|service| &service.object.namespace);
        let namespaces: BTreeSet<&Option<Arc<str>>> = namespaces.collect();
        let mut first: BTreeMap<&ClusterId, &Node> = BTreeMap::new();
        for service in services {
            if let Some(cluster) = self.cluster_of(&service.uid) {
                first.entry(cluster).or_insert(service);
            }
        }
        let sources = first.into_iter().filter_map(|(cluster, service)| {
            let own = service.slices_source(cluster)?;
            Some(SourceKey {
                scope: match namespaces.len() {
                    1 => own.scope.clone(),
                    _ => Scope::Cluster,
                },
                ..own.of_all()
            })
        });
        sources.collect()
    }
}
