//! A Service that sends requests to a port number that none of its Pods declares.
//!
//! A container may listen on a port that it does not declare
//! (<https://kubernetes.io/docs/concepts/services-networking/service/#field-spec-ports>). So each line is a note, and there is
//! none if a Pod declares neither a port of the protocol nor this number for another protocol.

use crate::graph::{Node, Pod, PodCoverage, Port, ServicePort};
use crate::status::{CauseRule, Finding, Status};

use crate::model::around::Around;
use crate::model::service::{pod_coverage, ports_there_are};

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
    use super::super::tests::Read;
    use crate::source::{Scope, Select, SourceKey};

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
