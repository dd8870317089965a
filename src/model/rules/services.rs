//! Rules about Services: their endpoints, and the sources that show them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::graph::{
    EndpointCounts, Facts, Nearest, Node, PodCoverage, Port, Reference, Service, ServicePort,
    address_groups, count_backends, nearest, well_known,
};
use crate::object::selector::LabelSelector;
use crate::object::{ObjectRef, Uid};
use crate::source::{ClusterId, Form, Scope, SourceKey};
use crate::status::{CauseRule, Finding, Rules, Status};

use super::dependents::problems_of_selected;
use crate::model::around::Around;
use crate::model::coverage::Reading;
use crate::model::evidence::PodTemplate;

/// The problem of a Service that its endpoints show.
pub(in crate::model) fn endpoint_problems(around: Around<'_>, node: &Node) -> Vec<Finding> {
    let found = endpoints_finding(around, node);
    let problem = found.filter(|found| found.status != Status::Current);
    Vec::from_iter(problem)
}

/// What the endpoints of a Service say about it, in the words of `trace`; `None` if the model follows no source
/// that shows them. A Service that is well gets a finding too.
pub fn endpoints_finding(around: Around<'_>, node: &Node) -> Option<Finding> {
    let service = node.service()?;
    let cluster = around.object(&node.uid)?.cluster()?;
    let reading = slices_reading(around, node, cluster)?;
    if let Some(name) = &service.external_name {
        return Some(match &**name {
            "" => finding(Status::Failed, ".spec.externalName is empty"),
            name => finding(Status::Current, format!("alias for {name}")),
        });
    }
    let pods = pod_coverage(around, node);
    let groups = address_groups(around.graph(), around.graph().slices(&node.uid));
    let counts = count_backends(&groups, pods);
    Some(match reading {
        _ if counts != EndpointCounts::default() => {
            let unserved = unserved_port(around, node, service, counts);
            unserved.unwrap_or_else(|| with_pod_problems(around, node, serving(counts)))
        }
        Reading::All if !around.knows_absence() => without_slices(around, node),
        Reading::All => {
            with_pod_problems(around, node, without_endpoints(around, node, service, pods))
        }
        _ => finding(Status::Unknown, "endpoints not read"),
    })
}

/// The state of a Service in a file that has none of its slices. A ready Pod that matches is an endpoint; without one, nothing
/// shows whether there is any.
fn without_slices(around: Around<'_>, node: &Node) -> Finding {
    let matched = around.graph().selected_pods(&node.uid);
    let status = if matched.iter().any(|pod| pod.is_ready_pod()) {
        Status::Current
    } else {
        Status::Unknown
    };
    finding(status, "its endpoints are not in the file")
}

/// Whether the slices of a Service are read, or at least one is.
pub fn knows_endpoints(around: Around<'_>, node: &Node) -> bool {
    let cluster = around.cluster_of(&node.uid);
    let reading = cluster.and_then(|cluster| slices_reading(around, node, cluster));
    let is_any_read = !around.graph().slices(&node.uid).is_empty();
    is_any_read || (reading == Some(&Reading::All) && around.knows_absence())
}

/// Whether a Service only repeats the problems of the Pods that it selects: there are some, not all are ready, and none
/// lacks a port of the Service.
pub fn repeats_its_pods(around: Around<'_>, uid: &Uid) -> bool {
    let node = around.graph().node(uid);
    let Some((node, service)) = node.and_then(|node| Some((node, node.service()?))) else {
        return false;
    };
    let groups = address_groups(around.graph(), around.graph().slices(uid));
    let counts = count_backends(&groups, pod_coverage(around, node));
    if unserved_port(around, node, service, counts).is_some() {
        return false;
    }
    let pods = around.graph().selected_pods(uid);
    let mut facts = pods.iter().filter_map(|pod| pod.pod());
    facts.any(|pod| !pod.ready && !pod.has_ended)
}

/// Whether all Pods that a Service selects are known. Without a selector they are not read.
pub fn pod_coverage(around: Around<'_>, service: &Node) -> PodCoverage {
    let cluster = around.cluster_of(&service.uid);
    let pods = cluster.and_then(|cluster| service.selected_pods_source(cluster));
    let is_read = |pods: SourceKey| around.coverage().reading_of_all(&pods) == Some(&Reading::All);
    pods.is_some_and(is_read).into()
}

/// The same, with the problems of the Pods that keep the Service from working.
fn with_pod_problems(around: Around<'_>, node: &Node, found: Finding) -> Finding {
    let is_broken = matches!(found.status, Status::InProgress | Status::Failed);
    let problems = if is_broken {
        problems_of_selected(around, node, found.status)
    } else {
        String::new()
    };
    if problems.is_empty() {
        return found;
    }
    let text = format!("{}: {problems}", found.cause.text);
    finding(found.status, text)
}

/// Whether a Service is read and has no endpoint. That may be meant so, but not by an object that sends it requests.
pub(in crate::model) fn has_no_endpoints(around: Around<'_>, node: &Node) -> bool {
    let reading = around
        .cluster_of(&node.uid)
        .and_then(|cluster| slices_reading(around, node, cluster));
    let is_alias = node
        .service()
        .is_some_and(|service| service.external_name.is_some());
    let groups = address_groups(around.graph(), around.graph().slices(&node.uid));
    let counts = count_backends(&groups, pod_coverage(around, node));
    let is_read = reading == Some(&Reading::All) && around.knows_absence();
    is_read && !is_alias && counts == EndpointCounts::default()
}

/// A Service without endpoints. One without a selector, or without a cluster IP, may be meant so.
fn without_endpoints(
    around: Around<'_>,
    node: &Node,
    service: &Service,
    pods: PodCoverage,
) -> Finding {
    let matched = around.graph().selected_pods(&node.uid);
    // The slices may follow a little later.
    let is_any_ready = matched.iter().any(|pod| pod.is_ready_pod());
    let words = match (&service.selector, pods, matched.len()) {
        (Some(_), ..) if is_any_ready => "no endpoints".to_owned(),
        (None, ..) => "no endpoints, and no selector to find any".to_owned(),
        (Some(selector), PodCoverage::Known, 0) => {
            let cause = selected_workload(around, node, selector);
            let cause = cause.map(|cause| format!(": {cause}"));
            let nearest = |source| nearest_in(around, &source, selector);
            let cause = cause.or_else(|| nearby_pods_source(around, node).map(nearest));
            let cause = cause.unwrap_or_default();
            format!("no pod matches {selector}{cause}")
        }
        (Some(_), PodCoverage::Known, _) if matched.iter().all(|pod| has_ended(pod)) => {
            "all pods that match have ended".to_owned()
        }
        (Some(_), PodCoverage::Known, 1) => "1 pod matches, and it is not ready".to_owned(),
        (Some(_), PodCoverage::Known, pods) => format!("{pods} pods match, none is ready"),
        (Some(_), PodCoverage::Unknown, _) => "no endpoints".to_owned(),
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

/// The same for the Pods of a source of labels.
pub(in crate::model) fn nearest_in(
    around: Around<'_>,
    source: &SourceKey,
    selector: &LabelSelector,
) -> String {
    match nearest(selector, around.evidence().labels(source)) {
        None => String::new(),
        Some(Nearest { labels, pods: 1 }) => format!("; 1 pod has {labels}"),
        Some(Nearest { labels, pods }) => format!("; {pods} pods have {labels}"),
    }
}

/// The problem of a Service with a port that not all of its endpoints have: see [`needed_port`]. The slices have Pods without
/// a target port without the port.
fn unserved_port(
    around: Around<'_>,
    node: &Node,
    service: &Service,
    counts: EndpointCounts,
) -> Option<Finding> {
    let staying = counts.staying();
    let slices = around.graph().slices(&node.uid);
    let ports = service.ports.iter();
    let needed = ports.filter_map(|port| Some((port, needed_port(service, port)?)));
    let mut needed = needed.map(|(port, words)| {
        let with = slices.iter().filter(|slice| has_port(slice, port)).copied();
        let groups = address_groups(around.graph(), with);
        (port, words, count_backends(&groups, PodCoverage::Unknown))
    });
    let (port, words, with) = needed.find(|(_, _, with)| with.staying() < staying)?;
    let answers = with.ready + with.draining;
    Some(if with.staying() == 0 {
        let kind = match &*port.protocol {
            "TCP" => String::new(),
            other => format!("{other} "),
        };
        let (who, others) = match service.selector {
            Some(_) => ("pod", ports_there_are(around, node, &port.protocol)),
            None => ("endpoint", ports_in(&slices)),
        };
        let text = format!("no {who} has a {kind}{words}{others}");
        let is_only_port = service.ports.len() == 1;
        let status = if is_only_port {
            Status::Failed
        } else {
            Status::InProgress
        };
        finding(status, text)
    } else {
        let text = format!(
            "{}/{staying} ready: {} without a {words}",
            with.ready,
            staying - with.staying()
        );
        let status = if answers == 0 {
            Status::Failed
        } else {
            Status::InProgress
        };
        finding(status, text)
    })
}

/// The words for a port that the endpoints of a Service need and may lack: `port "http"`. Pods may lack a target port that has
/// a name. Slices that somebody wrote by hand may lack the name of the Service's port: traffic goes to no other port of theirs.
fn needed_port(service: &Service, port: &ServicePort) -> Option<String> {
    let name = match (&service.selector, &port.target) {
        (Some(_), Port::Name(target)) => Some(target),
        (Some(_), Port::Number(_)) => return None,
        (None, _) if service.is_headless => return None,
        (None, _) => port.name.as_ref(),
    };
    Some(name.map_or("port without a name".to_owned(), |name| {
        format!("port \"{name}\"")
    }))
}

/// The ports of slices: `; they have http (8080), 9000`.
fn ports_in(slices: &[&Node]) -> String {
    let facts = slices.iter().filter_map(|slice| match &slice.facts {
        Facts::Slice(slice) => Some(slice),
        _ => None,
    });
    let ports = facts.flat_map(|slice| &slice.ports);
    let ports = ports.filter_map(|port| {
        let number = port.port?;
        Some((port.name.as_ref(), number.to_string()))
    });
    they_have(ports)
}

/// The ports that the Pods of a Service declare: `; they have http (8080), 9000`. Those of another protocol have it:
/// `dns (53 UDP)`.
pub(in crate::model) fn ports_there_are(around: Around<'_>, node: &Node, protocol: &str) -> String {
    let pods = around.graph().selected_pods(&node.uid);
    let ports = pods.iter().filter_map(|pod| pod.pod());
    let ports = ports.flat_map(|pod| pod.ports.iter()).map(|port| {
        let number = match &*port.protocol {
            own if own == protocol => port.number.to_string(),
            own => format!("{} {own}", port.number),
        };
        (port.name.as_ref(), number)
    });
    they_have(ports)
}

/// Ports with their names and numbers: `; they have http (8080), 9000`.
fn they_have<'p>(ports: impl Iterator<Item = (Option<&'p Arc<str>>, String)>) -> String {
    let ports = ports.map(|(name, number)| match name {
        Some(name) => format!("{name} ({number})"),
        None => number,
    });
    // Those with a name come first.
    let is_bare = |port: &String| port.starts_with(|first: char| first.is_ascii_digit());
    let ports: BTreeSet<(bool, String)> = ports.map(|port| (is_bare(&port), port)).collect();
    if ports.is_empty() {
        return String::new();
    }
    let ports: Vec<String> = ports.into_iter().map(|(_, port)| port).collect();
    format!("; they have {}", ports.join(", "))
}

fn has_ended(pod: &Node) -> bool {
    pod.pod().is_some_and(|pod| pod.has_ended)
}

/// Whether the endpoints of a slice have a port of the Service.
fn has_port(slice: &Node, port: &ServicePort) -> bool {
    match &slice.facts {
        Facts::Slice(slice) => slice
            .ports
            .iter()
            .any(|own| own.name == port.name && own.port.is_some()),
        _ => false,
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

/// The port that an object names and the Service does not have.
pub(super) fn absent_port<'a>(reference: &'a Reference, service: &Service) -> Option<&'a Port> {
    let port = reference.port.as_ref();
    port.filter(|port| !service.has_port(port))
}

/// `; it has http (80)`.
pub(super) fn ports_of(service: &Service) -> String {
    let ports = service.ports.iter().map(|port| match &port.name {
        Some(name) => format!("{name} ({})", port.number),
        None => port.number.to_string(),
    });
    let ports: Vec<String> = ports.collect();
    if ports.is_empty() {
        return String::new();
    }
    format!("; it has {}", ports.join(", "))
}

/// With more Services than this, one source shows the slices of all of them. Of as many broken ones, the Pods are read.
const MAX_SERVICES: usize = 8;

/// How much of a Service's slices has been read, by the source that shows only them or by a wider one.
pub(in crate::model) fn slices_reading<'m>(
    around: Around<'m>,
    service: &Node,
    cluster: &ClusterId,
) -> Option<&'m Reading> {
    around
        .coverage()
        .reading_of_all(&service.slices_source(cluster)?)
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
    // The state of a Service has the finding, so a well one needs no look at its endpoints.
    let is_well = |node: &Node| {
        let object = around.object(&node.uid);
        object.is_some_and(|object| object.assessment.is_well())
    };
    let unwell = services.into_iter().filter(|node| !is_well(node));
    let broken = unwell.filter(|node| {
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

/// The kinds of workloads that may have no Pods: a user scales them to 0, or no node suits them.
const WITHOUT_PODS: [&str; 3] = ["Deployment", "StatefulSet", "DaemonSet"];

/// What keeps the workload whose Pods a Service would select from having some: `deployment/web is scaled to 0`. `None`
/// if no such workload is known.
pub(in crate::model) fn selected_workload(
    around: Around<'_>,
    service: &Node,
    selector: &LabelSelector,
) -> Option<String> {
    let (workload, replicas) = workload_behind(around, service, selector)?;
    Some(match replicas {
        0 if &*workload.kind == "DaemonSet" => format!("{workload} runs on no node"),
        0 => format!("{workload} is scaled to 0"),
        _ => format!("{workload} has created none"),
    })
}

/// The workload whose Pods a Service would select, if it wants none.
pub fn idle_workload(around: Around<'_>, service: &Node) -> Option<Arc<ObjectRef>> {
    let found = workload_behind(around, service, service.selector()?);
    found.and_then(|(workload, replicas)| (replicas == 0).then_some(workload))
}

/// The workload whose Pods a Service would select, and how many Pods it wants.
fn workload_behind(
    around: Around<'_>,
    service: &Node,
    selector: &LabelSelector,
) -> Option<(Arc<ObjectRef>, i64)> {
    let sources = template_sources(around, service);
    let read = sources
        .iter()
        .flat_map(|source| around.evidence().templates(source));
    let is_selected = |template: &PodTemplate| selector.matches(|key| template.labels.get(key));
    if let Some(template) = read.into_iter().find(|template| is_selected(template)) {
        return Some((template.workload.clone(), template.replicas));
    }
    let namespace = service.object.namespace.as_ref();
    let kinds = WITHOUT_PODS.into_iter();
    let beside = kinds.flat_map(|kind| around.graph().of_kind_in(kind, namespace));
    let mut own = beside.filter_map(|node| PodTemplate::of(around.object(&node.uid)?.version()?));
    let template = own.find(is_selected)?;
    Some((template.workload, template.replicas))
}

/// The sources of the labels of all Pods beside a Service that is not well and selects none, and of the workloads there.
pub(in crate::model) fn workloads_beside(around: Around<'_>, service: &Node) -> Vec<SourceKey> {
    if !around.unwell().contains(&service.uid) {
        return Vec::new();
    }
    let pods = nearby_pods_source(around, service).into_iter();
    pods.chain(template_sources(around, service)).collect()
}

/// The sources of the workloads beside a Service that selects no Pod.
fn template_sources(around: Around<'_>, service: &Node) -> Vec<SourceKey> {
    let Some(pods) = nearby_pods_source(around, service) else {
        return Vec::new();
    };
    let workloads = WITHOUT_PODS.map(|kind| SourceKey {
        resource: well_known("apps", kind),
        form: Form::Full,
        ..pods.clone()
    });
    workloads.into()
}

/// The source of the labels of all Pods beside a Service that selects none.
pub(in crate::model) fn nearby_pods_source(around: Around<'_>, node: &Node) -> Option<SourceKey> {
    let cluster = around.cluster_of(&node.uid)?;
    let selected = node.selected_pods_source(cluster)?;
    let selects_nothing = pod_coverage(around, node) == PodCoverage::Known
        && around.graph().selected_pods(&node.uid).is_empty()
        && matches!(selected.scope, Scope::Namespace(_));
    selects_nothing.then(|| SourceKey {
        form: Form::Metadata,
        ..selected.of_all()
    })
}

#[cfg(test)]
mod tests {
    use crate::model::rules::tests::Read;

    use super::*;

    #[test]
    fn slices_written_by_hand_need_the_names_of_the_ports() {
        let check = |spec: &str, slice: &str, expect: &str| {
            let read = Read::for_status(&format!(
                "{{apiVersion: v1, kind: Service, metadata: {{name: db, namespace: shop}}, spec: {{{spec}}}}}
---
{{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {{name: db-1, namespace: shop, labels: {{kubernetes.io/service-name: db}}}}, addressType: IPv4, ports: [{slice}], endpoints: [{{addresses: [10.0.0.9]}}]}}"
            ));
            assert_eq!(read.state("db"), expect, "{spec} {slice}");
        };
        let named = "clusterIP: 10.0.0.1, ports: [{name: sql, port: 80}]";
        let both = "clusterIP: 10.0.0.1, ports: [{name: sql, port: 80}, {name: http, port: 81}]";
        check(named, "{name: sql, port: 5432}", "Current");
        check(
            named,
            "{port: 5432}",
            "Failed\nEndpoints: no endpoint has a port \"sql\"; they have 5432",
        );
        check(
            "clusterIP: 10.0.0.1, ports: [{port: 80}]",
            "{name: sql, port: 5432}",
            "Failed\nEndpoints: no endpoint has a port without a name; they have sql (5432)",
        );
        check(
            both,
            "{name: sql, port: 5432}",
            "InProgress\nEndpoints: no endpoint has a port \"http\"; they have sql (5432)",
        );
        check(
            "clusterIP: None, ports: [{name: sql, port: 80}]",
            "{port: 5432}",
            "Current",
        );
    }

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
