//! Which sources show the endpoints of Services.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::sync::Arc;

use crate::graph::Node;
use crate::source::{ClusterId, Scope, SourceKey};
use crate::status::{Rules, Status};

use super::Reading;
use super::around::Around;
use super::service::endpoints_finding;

/// With more Services than this, one source shows the slices of all of them. Of as many broken ones, the Pods are read.
const MAX_SERVICES: usize = 8;

/// How much of a Service's slices has been read, by the source that shows only them or by a wider one.
pub(in crate::model) fn slices_reading<'m>(
    around: Around<'m>,
    service: &Node,
    cluster: &ClusterId,
) -> Option<&'m Reading> {
    reading_of_all(around, &service.slices_source(cluster)?)
}

/// How much has been read of a source, or of one with all objects of its namespace or of its cluster.
pub(in crate::model) fn reading_of_all<'m>(
    around: Around<'m>,
    own: &SourceKey,
) -> Option<&'m Reading> {
    let wider = own.wider();
    let mut sources = iter::once(own).chain(&wider);
    sources.find_map(|source| around.coverage().reading(source))
}

/// The sources that show the endpoints of the Services. Many Services share one source. The Pods are needed only
/// to say why a Service does not work.
pub(in crate::model) fn service_sources(around: Around<'_>) -> Vec<SourceKey> {
    if around.rules() == Rules::Kstatus {
        return Vec::new();
    }
    let services: Vec<&Node> = around.graph().services().collect();
    let own_slices = |node: &&Node| node.slices_source(around.cluster_of(&node.uid)?);
    let mut sources = if services.len() > MAX_SERVICES {
        wide_slices_sources(around, &services)
    } else {
        services.iter().filter_map(own_slices).collect()
    };
    let broken = services.into_iter().filter(|node| {
        let finding = endpoints_finding(around, node);
        finding.is_some_and(|found| matches!(found.status, Status::InProgress | Status::Failed))
    });
    let pods = broken.filter_map(|node| {
        let own = node.selected_pods_source(around.cluster_of(&node.uid)?)?;
        let is_alone = own
            .wider()
            .iter()
            .all(|wide| !around.coverage().follows(wide));
        is_alone.then_some(own)
    });
    for source in pods.take(MAX_SERVICES) {
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    sources
}

/// The source of all slices in the namespace of these Services, or in all namespaces if they are in several.
fn wide_slices_sources(around: Around<'_>, services: &[&Node]) -> Vec<SourceKey> {
    let namespaces = services.iter().map(|service| &service.object.namespace);
    let namespaces: BTreeSet<&Option<Arc<str>>> = namespaces.collect();
    let mut first: BTreeMap<&ClusterId, &Node> = BTreeMap::new();
    for service in services {
        if let Some(cluster) = around.cluster_of(&service.uid) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::neighbour_rules::tests::Read;

    #[test]
    fn the_pods_of_a_few_broken_services_are_read_beside_the_slices_of_all() {
        let service = |n: usize| {
            format!(
                "{{apiVersion: v1, kind: Service, metadata: {{name: s{n}, namespace: shop}}, spec: {{clusterIP: 10.0.0.1, selector: {{app: s{n}}}, ports: [{{port: 80}}]}}}}"
            )
        };
        let services: Vec<String> = (0..10).map(service).collect();
        let mut read = Read::for_status(&services.join("\n---\n"));
        let in_shop = |group: &str, kind: &str| SourceKey {
            scope: Scope::Namespace("shop".into()),
            ..SourceKey::all(group, kind)
        };
        let slices = in_shop("discovery.k8s.io", "EndpointSlice");
        read.look(slices.clone());
        let sources = super::service_sources(read.model.around());
        assert_eq!(sources.first(), Some(&slices));
        assert_eq!(sources.len(), 1 + MAX_SERVICES);
        // All Pods of the namespace are read already.
        read.look(in_shop("", "Pod"));
        assert_eq!(super::service_sources(read.model.around()), [slices]);
        assert!(
            read.state("s0").contains("no pod matches app=s0"),
            "{}",
            read.state("s0")
        );
    }
}
