//! Rules about selectors and ports: what selects no Pod, and ports that no Pod declares.

use crate::graph::{Node, Pod, PodCoverage, Port, ServicePort, Tier, well_known};
use crate::model::around::Around;
use crate::model::rules::services::{has_no_endpoints, nearest_in, pod_coverage, ports_there_are};
use crate::object::label_selector;
use crate::object::selector::LabelSelector;
use crate::source::{Form, Select, SourceKey};
use crate::status::{CauseRule, Finding, Status};

/// The source of the labels of all Pods beside an object that selects none although its selector names labels.
pub(in crate::model) fn labels_beside(around: Around<'_>, node: &Node) -> Vec<SourceKey> {
    let is_read = selector_of_none(around, node).is_some();
    Vec::from_iter(beside_source(around, node).filter(|_| is_read))
}

/// The source of the labels of all Pods beside an object.
fn beside_source(around: Around<'_>, node: &Node) -> Option<SourceKey> {
    let (cluster, namespace) = (
        around.cluster_of(&node.uid)?,
        node.object.namespace.clone()?,
    );
    let pods = SourceKey::of(cluster, well_known("", "Pod"), Some(namespace), Select::All);
    let form = Form::Metadata;
    Some(SourceKey { form, ..pods })
}

/// The note of an object that selects no Pod. A budget says itself that it covers none.
pub(in crate::model) fn selects_none(around: Around<'_>, node: &Node) -> Option<Finding> {
    let selector = selector_of_none(around, node)?;
    let source = beside_source(around, node)?;
    let is_read = around.coverage().is_read(&source) && around.knows_absence();
    is_read.then_some(())?;
    let mut labels = around.evidence().labels(&source);
    if labels.any(|labels| selector.matches(|key| labels.get(key))) {
        return None;
    }
    let nearest = nearest_in(around, &source, &selector);
    let is_told = *node.object.kind == *"PodDisruptionBudget" && nearest.is_empty();
    (!is_told).then(|| {
        let text = format!("no pod matches {selector}{nearest}");
        Finding::new(CauseRule::NoPodSelected, Status::Current, text)
    })
}

/// The selector of an object that selects no Pod as far as the object or its endpoints show it. Only a trace of a policy
/// reads its Pods.
fn selector_of_none(around: Around<'_>, node: &Node) -> Option<LabelSelector> {
    let read = |field| {
        let doc = around.doc(&node.uid)?;
        label_selector(doc.root().at(&["spec", field])?)
    };
    let selector = match (node.object.group(), &*node.object.kind) {
        ("", "Service") => {
            let service = node.service().filter(|service| service.is_headless);
            let selector = service?.selector.clone();
            selector.filter(|_| has_no_endpoints(around, node))
        }
        ("policy", "PodDisruptionBudget") => {
            let own = &around.object(&node.uid)?.own;
            let covers_none = own.has_cause(CauseRule::NoPodSelected);
            covers_none.then(|| read("selector")).flatten()
        }
        ("networking.k8s.io", "NetworkPolicy") => {
            let is_traced = around.links_upto() == Tier::Trace;
            let selector = is_traced.then(|| read("podSelector")).flatten();
            selector.filter(|selector| restricts_none(around, node, selector))
        }
        _ => None,
    };
    selector.filter(|selector| !selector.is_empty())
}

/// Whether the Pods that a policy selects are read, and there are none.
fn restricts_none(around: Around<'_>, policy: &Node, selector: &LabelSelector) -> bool {
    let source = beside_source(around, policy).map(|source| SourceKey {
        select: Select::labelled(&selector.to_string()),
        form: Form::Full,
        ..source
    });
    let is_read = source.is_some_and(|source| around.coverage().is_read(&source));
    let selected = around.graph().selected_by_relations(&policy.uid);
    is_read
        && !selected
            .iter()
            .any(|pod| selector.matches(|key| pod.label(key)))
}

/// The target ports of a Service that its Pods do not declare.
pub(in crate::model) fn undeclared_ports(around: Around<'_>, node: &Node) -> Vec<Finding> {
    let service = node.service().filter(|service| service.selector.is_some());
    let Some(service) = service.filter(|_| pod_coverage(around, node) == PodCoverage::Known) else {
        return Vec::new();
    };
    let pods = around.graph().selected_pods(&node.uid);
    let pods = pods.iter().filter_map(|pod| pod.pod());
    let pods: Vec<&Pod> = pods.filter(|pod| !pod.has_ended).collect();
    let undeclared = service.ports.iter().filter_map(|port| match port.target {
        Port::Number(number) => is_undeclared(&pods, port, number).then_some((port, number)),
        Port::Name(_) => None,
    });
    let findings = undeclared.map(|(port, number)| {
        let others = ports_there_are(around, node, &port.protocol);
        let protocol = match &*port.protocol {
            "TCP" => String::new(),
            other => format!(" for {other}"),
        };
        let text = format!("no pod declares port {number}{protocol}{others}");
        Finding::new(CauseRule::UndeclaredPort, Status::Current, text)
    });
    findings.collect()
}

/// Whether each Pod declares ports of the protocol, or this number for another protocol, and none has both.
fn is_undeclared(pods: &[&Pod], port: &ServicePort, number: i64) -> bool {
    let declares_others = |pod: &&Pod| {
        let alike = pod.ports.iter().map(|own| {
            let has_protocol = own.protocol == port.protocol;
            (has_protocol, own.number == number)
        });
        let mut alike = alike.filter(|alike| *alike != (false, false)).peekable();
        alike.peek().is_some() && alike.all(|alike| alike != (true, true))
    };
    !pods.is_empty() && pods.iter().all(declares_others)
}

#[cfg(test)]
mod tests {
    use crate::source::{Scope, Select, SourceKey};

    use super::super::tests::Read;

    const PODS: [&str; 3] = ["a", "b", "c"];

    /// The Pods `a`, `b` and `c` with these labels.
    fn pods(labels: &str) -> Vec<String> {
        let pod = |name| {
            format!(
                "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: shop, labels: {labels}}}, status: {{phase: Pending}}}}"
            )
        };
        PODS.into_iter().map(pod).collect()
    }

    /// The lines about the selector of an object beside Pods with these labels.
    fn notes(read: &mut Read, labels: &str) -> String {
        read.explain(&pods(labels));
        let state = read.state("it");
        assert!(state.starts_with("Current"), "{state}");
        let lines = state.lines();
        let lines = lines.filter_map(|line| line.strip_prefix("NoPodSelected: "));
        lines.collect::<Vec<_>>().join("\n")
    }

    const NEAREST: &str = "no pod matches app=wbe; 3 pods have app=web";

    #[test]
    fn a_budget_names_the_labels_that_it_may_have_meant() {
        let budget = |pods: u8| {
            format!(
                "{{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {{name: it, namespace: shop}}, spec: {{selector: {{matchLabels: {{app: wbe}}}}}}, status: {{expectedPods: {pods}, disruptionsAllowed: 1}}}}"
            )
        };
        let own = "it covers no pod: none matches its selector, or they have no controller";
        for (labels, expected) in [
            ("{app: web}", format!("{NEAREST}\n{own}")),
            ("{app: other}", own.to_owned()),
            ("{app: wbe}", own.to_owned()),
        ] {
            let mut read = Read::for_status(&budget(0));
            assert_eq!(notes(&mut read, labels), expected, "{labels}");
        }
        let read = Read::for_status(&budget(1));
        assert!(crate::model::evidence_sources::evidence_sources(read.model.around()).is_empty());
    }

    #[test]
    fn a_headless_service_names_the_labels_that_it_may_have_meant() {
        let service = "{apiVersion: v1, kind: Service, metadata: {name: it, namespace: shop}, spec: {clusterIP: None, selector: {app: wbe}}}";
        let slices = SourceKey {
            scope: Scope::Namespace("shop".into()),
            ..SourceKey::all("discovery.k8s.io", "EndpointSlice")
        };
        for (labels, expected) in [
            ("{app: web}", NEAREST),
            ("{app: other}", "no pod matches app=wbe"),
            ("{app: wbe}", ""),
        ] {
            let mut read = Read::for_status(service);
            assert!(
                crate::model::evidence_sources::evidence_sources(read.model.around()).is_empty()
            );
            read.look(slices.clone());
            assert_eq!(notes(&mut read, labels), expected, "{labels}");
        }
    }

    #[test]
    fn a_network_policy_names_the_labels_that_it_may_have_meant() {
        let policy = |selector: &str| {
            format!(
                "{{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {{name: it, namespace: shop}}, spec: {{podSelector: {selector}}}}}"
            )
        };
        let selected = SourceKey {
            scope: Scope::Namespace("shop".into()),
            select: Select::labelled("app=wbe"),
            ..SourceKey::all("", "Pod")
        };
        let mut read = Read::of(&policy("{matchLabels: {app: wbe}}"));
        assert!(crate::model::evidence_sources::evidence_sources(read.model.around()).is_empty());
        read.look(selected);
        assert_eq!(notes(&mut read, "{app: web}"), NEAREST);
        assert!(read.state("it").contains("Restricts: allows no ingress"));
        // It selects all Pods.
        let mut all = Read::of(&policy("{}"));
        assert_eq!(notes(&mut all, "{app: web}"), "");
    }

    #[test]
    fn a_service_names_the_port_that_no_pod_declares() {
        let http = "ports: [{name: http, containerPort: 8080}, {containerPort: 9000}]";
        let words =
            "Current\nUndeclaredPort: no pod declares port 9090; they have http (8080), 9000";
        for (target, ports, expected) in [
            ("9090", http, words),
            ("8080", http, "Current"),
            ("9090", "name: c", "Current"),
            (
                "9090",
                "ports: [{containerPort: 53, protocol: UDP}]",
                "Current",
            ),
            (
                "53",
                "ports: [{name: dns, containerPort: 53, protocol: UDP}]",
                "Current\nUndeclaredPort: no pod declares port 53; they have dns (53 UDP)",
            ),
            (
                "53",
                "ports: [{containerPort: 53, protocol: UDP}, {containerPort: 53}]",
                "Current",
            ),
        ] {
            let service = format!(
                "{{apiVersion: v1, kind: Service, metadata: {{name: web, namespace: shop}}, spec: {{clusterIP: 10.0.0.1, selector: {{app: web}}, ports: [{{port: 80, targetPort: {target}}}]}}}}"
            );
            let pod = format!(
                "{{apiVersion: v1, kind: Pod, metadata: {{name: a, namespace: shop, labels: {{app: web}}}}, spec: {{containers: [{{{ports}}}]}}, status: {{phase: Running, podIPs: [{{ip: 10.1.0.1}}], conditions: [{{type: Ready, status: 'True'}}]}}}}"
            );
            let mut read = Read::of(&[service, pod].join("\n---\n"));
            read.look(SourceKey {
                scope: Scope::Namespace("shop".into()),
                select: Select::labelled("app=web"),
                ..SourceKey::all("", "Pod")
            });
            assert_eq!(read.state("web"), expected, "{target} {ports}");
        }
    }
}
