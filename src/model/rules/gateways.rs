//! Rules about what lets requests in: certificates, routes, controllers and default classes.

use std::collections::HashSet;
use std::sync::Arc;

use crate::graph::{
    Facts, KnownRelation, Node, Reference, ReferenceTarget, istio_destinations, service_of_host,
    well_known,
};
use crate::model::around::Around;
use crate::model::coverage::Reading;
use crate::object::{Doc, Uid, Value};
use crate::source::{Select, SourceKey};
use crate::status::{Cause, CauseRule, CertificateNames, Finding, Rules, Status};

/// The hosts of an Ingress that the certificate of their Secret does not name.
pub(in crate::model) fn unnamed_hosts_of_ingress(
    around: Around<'_>,
    ingress: &Node,
) -> Vec<Finding> {
    let Some(doc) = around.doc(&ingress.uid) else {
        return Vec::new();
    };
    let entries = doc.root().items_at(&["spec", "tls"]);
    let findings = entries.flat_map(|entry| {
        let certificates = certificates(around, ingress, entry, "secretName");
        let hosts = entry.items_at(&["hosts"]).filter_map(Value::as_str);
        let hosts: Vec<_> = hosts
            .filter_map(|host| unnamed(&host, &certificates))
            .collect();
        hosts
    });
    findings.collect()
}

/// The hosts of the listeners of a Gateway that none of their certificates names.
pub(in crate::model) fn unnamed_hosts_of_gateway(
    around: Around<'_>,
    gateway: &Node,
) -> Vec<Finding> {
    let Some(doc) = around.doc(&gateway.uid) else {
        return Vec::new();
    };
    let listeners = doc.root().items_at(&["spec", "listeners"]);
    let findings = listeners.filter_map(|listener| {
        let host = listener.str_at(&["hostname"])?;
        let references = listener.items_at(&["tls", "certificateRefs"]);
        let mut all = Vec::new();
        for reference in references {
            let known = certificates(around, gateway, reference, "name");
            // Another certificate may name the host.
            if known.is_empty() {
                return None;
            }
            all.extend(known);
        }
        unnamed(&host, &all)
    });
    findings.collect()
}

/// The certificate of the Secret that a field names, with the words for the Secret. Empty if it is not known.
fn certificates(
    around: Around<'_>,
    node: &Node,
    holder: Value<'_>,
    key: &str,
) -> Vec<NamedCertificate> {
    let name = holder.text_at(&[key]);
    let namespace = holder.text_at(&["namespace"]);
    let namespace = namespace.or_else(|| node.object.namespace.clone());
    let mut references = around.graph().references_of(&node.uid).iter();
    let reference = references.find(|reference| {
        let target = &reference.target;
        reference.relation.is(KnownRelation::Certificate)
            && Some(&target.name) == name.as_ref()
            && target.namespace == namespace
    });
    Vec::from_iter(reference.and_then(|reference| certificate(around, reference)))
}

fn certificate(around: Around<'_>, reference: &Reference) -> Option<NamedCertificate> {
    let secret = around.graph().referenced(&reference.target)?;
    let secret = around
        .doc(&secret.uid)
        .filter(|_| around.is_there(&secret.uid))?;
    Some(NamedCertificate {
        secret: reference.to_string().into(),
        names: CertificateNames::of(secret.root())?,
    })
}

/// The names in the certificate of a Secret.
struct NamedCertificate {
    /// The words for the Secret: `certificate secret/web`.
    secret: Arc<str>,
    names: CertificateNames,
}

/// The problem of a host that no certificate names; `None` without certificates.
fn unnamed(host: &str, certificates: &[NamedCertificate]) -> Option<Finding> {
    let first = certificates.first()?;
    if certificates.iter().any(|known| known.names.include(host)) {
        return None;
    }
    let words: Vec<String> = certificates
        .iter()
        .map(|known| known.names.to_string())
        .collect();
    let text = format!(
        "{} does not name the host {host}; it names {}",
        first.secret,
        words.join("; ")
    );
    Some(Finding::new(
        CauseRule::UnnamedHost,
        Status::InProgress,
        text,
    ))
}

/// The subsets that a `VirtualService` routes to and that no `DestinationRule` for the Service defines. Without such a
/// rule, the model may not have read it.
pub(in crate::model) fn missing_subsets(around: Around<'_>, service: &Node) -> Vec<Finding> {
    let Some(doc) = around.doc(&service.uid) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for destination in istio_destinations(doc.root()) {
        let found = missing_subset(around, service, destination);
        findings.extend(found.filter(|found| !findings.contains(found)));
    }
    findings
}

fn missing_subset(around: Around<'_>, service: &Node, destination: Value<'_>) -> Option<Finding> {
    let subset = destination.text_at(&["subset"])?;
    let host = destination.text_at(&["host"])?;
    let target = service_of_host(&host, &service.object)?;
    let rules = destination_rules(around, &target);
    let has_subset = |rule: &Doc| {
        let mut subsets = rule.root().items_at(&["spec", "subsets"]);
        subsets.any(|own| own.text_at(&["name"]).as_ref() == Some(&subset))
    };
    let is_missing = !rules.is_empty() && !rules.iter().any(has_subset);
    is_missing.then(|| {
        let text = format!("no DestinationRule of {host} has the subset {subset}");
        Finding::new(CauseRule::MissingSubset, Status::Current, text)
    })
}

/// The `DestinationRules` of a Service.
fn destination_rules(around: Around<'_>, service: &ReferenceTarget) -> Vec<Doc> {
    let service = service.object(around.types());
    let rules = around.graph().referrers(&service);
    let is_rule = |uid: &&_| {
        let node = around.graph().node(uid);
        node.is_some_and(|node| &*node.object.kind == "DestinationRule") && around.is_there(uid)
    };
    rules
        .filter(is_rule)
        .filter_map(|uid| around.doc(uid))
        .collect()
}

/// The kinds of workloads that often serve requests. A Job is never behind a Service.
const SERVERS: [&str; 3] = ["Deployment", "StatefulSet", "DaemonSet"];

/// The note about what is missing in front of an object.
pub fn missing_in_front(around: Around<'_>, uid: &Uid) -> Option<Cause> {
    without_service(around, uid).or_else(|| without_controller(around, uid))
}

/// The note of a Pod that no controller replaces. The kubelet owns the Pods of its own manifests.
fn without_controller(around: Around<'_>, pod: &Uid) -> Option<Cause> {
    let node = around.graph().node(pod)?;
    let is_alone = node.pod().is_some() && node.owners.is_empty();
    is_alone.then(|| {
        Cause::new(
            CauseRule::Standalone,
            "Standalone: no controller replaces it",
        )
    })
}

/// The note of a workload whose Pods no Service selects. It never matters to the state of the workload: many workers
/// have no Service. Only a trace reads all Services of the namespace.
fn without_service(around: Around<'_>, workload: &Uid) -> Option<Cause> {
    let node = around.graph().node(workload)?;
    let object = &node.object;
    let may_serve = object.group() == "apps" && SERVERS.contains(&&*object.kind);
    let (cluster, namespace) = (around.cluster_of(workload)?, object.namespace.clone()?);
    let kind = well_known("", "Service");
    let services = SourceKey::of(cluster, kind, Some(namespace), Select::All);
    let is_read = matches!(around.coverage().reading(&services), Some(Reading::All));
    let is_known = may_serve && is_read && around.knows_absence();
    let is_served = around.graph().is_served(workload)?;
    (is_known && !is_served)
        .then(|| Cause::new(CauseRule::NoService, "no Service selects its pods"))
}

/// The annotations that make a class the default one.
const DEFAULTS: [&str; 3] = [
    "ingressclass.kubernetes.io/is-default-class",
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
];

/// The problem of an Ingress without a class in a cluster without a default one. A controller that serves it
/// nevertheless gives it an address.
pub(in crate::model) fn without_class(around: Around<'_>, ingress: &Node) -> Vec<Finding> {
    let classes = ingress_classes(around, ingress);
    let is_read = classes.is_some_and(|classes| {
        matches!(around.coverage().reading(&classes), Some(Reading::All)) && around.knows_absence()
    });
    let mut known = around.graph().of_kind("IngressClass");
    if !is_read || known.any(|class| is_default_class(around, &class.uid)) {
        return Vec::new();
    }
    let text = "names no ingress class, and the cluster has no default one";
    let finding = Finding::new(CauseRule::DefaultClass, Status::InProgress, text);
    vec![finding]
}

/// The sources of all ingress classes, for the Ingresses without one.
pub(in crate::model) fn class_sources(around: Around<'_>) -> Vec<SourceKey> {
    if around.rules() == Rules::Kstatus {
        return Vec::new();
    }
    let ingresses = around.graph().of_kind("Ingress");
    let sources = ingresses.filter_map(|ingress| ingress_classes(around, ingress));
    let mut known = HashSet::new();
    sources
        .filter(|source| known.insert(source.clone()))
        .collect()
}

/// The source of the classes that decide whether an Ingress is served; `None` if it names one, or has an address.
fn ingress_classes(around: Around<'_>, ingress: &Node) -> Option<SourceKey> {
    let is_decisive = matches!(
        ingress.facts,
        Facts::Ingress {
            needs_default_class: true
        }
    );
    (is_decisive && around.is_there(&ingress.uid)).then_some(())?;
    let kind = well_known("networking.k8s.io", "IngressClass");
    let cluster = around.cluster_of(&ingress.uid)?;
    Some(SourceKey::of(cluster, kind, None, Select::All))
}

/// The note of a default class beside others. Of several, the newest one counts
/// (<https://kubernetes.io/docs/concepts/storage/storage-classes/#default-storageclass>). Of ingress classes, too, since
/// Kubernetes 1.25 (`DefaultIngressClass` in `k8s.io/kubernetes/plugin/pkg/admission/network/defaultingressclass`).
pub(in crate::model) fn other_default_classes(around: Around<'_>, class: &Node) -> Vec<Finding> {
    if !is_default_class(around, &class.uid) {
        return Vec::new();
    }
    let others = around.graph().of_kind(&class.object.kind).filter(|other| {
        other.uid != class.uid
            && other.object.group() == class.object.group()
            && around.cluster_of(&other.uid) == around.cluster_of(&class.uid)
            && is_default_class(around, &other.uid)
    });
    let mut others: Vec<&str> = others.map(|other| &*other.object.name).collect();
    others.sort_unstable();
    let Some(first) = others.first() else {
        return Vec::new();
    };
    let names = match others.len() {
        1 => format!("{first} is a default class, too"),
        _ => format!("{} are default classes, too", others.join(", ")),
    };
    let text = format!("{names}: an object without a class gets the newest one");
    let note = Finding::new(CauseRule::DefaultClass, Status::Current, text);
    vec![note]
}

fn is_default_class(around: Around<'_>, class: &Uid) -> bool {
    let doc = around.doc(class).filter(|_| around.is_there(class));
    doc.is_some_and(|doc| {
        let value = |name| doc.root().str_at(&["metadata", "annotations", name]);
        DEFAULTS
            .into_iter()
            .any(|name| value(name).as_deref() == Some("true"))
    })
}

#[cfg(test)]
mod tests {
    use crate::source::SourceKey;

    use super::super::tests::Read;

    const INGRESS: &str =
        "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web, namespace: shop}";

    fn class(kind: &str, name: &str, is_default: bool) -> String {
        let (group, domain) = match kind {
            "IngressClass" => ("networking", "ingressclass"),
            _ => ("storage", "storageclass"),
        };
        format!(
            "{{apiVersion: {group}.k8s.io/v1, kind: {kind}, metadata: {{name: {name}, annotations: {{{domain}.kubernetes.io/is-default-class: '{is_default}'}}}}}}"
        )
    }

    #[test]
    fn an_ingress_without_a_class_needs_a_default_one() {
        let problem = "InProgress
DefaultClass: names no ingress class, and the cluster has no default one";
        let (plain, default) = (
            class("IngressClass", "a", false),
            class("IngressClass", "b", true),
        );
        for (fields, classes, expected) in [
            ("", vec![&plain], problem),
            ("", vec![&plain, &default], "Current"),
            (", spec: {ingressClassName: a}", vec![&plain], "Current"),
            (
                ", status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}",
                vec![&plain],
                "Current",
            ),
        ] {
            let ingress = format!("{INGRESS}{fields}}}");
            let mut objects = vec![ingress];
            objects.extend(classes.into_iter().cloned());
            let read = Read::for_status(&objects.join("\n---\n"));
            assert_eq!(read.state("web"), expected, "{objects:?}");
        }
    }

    #[test]
    fn the_classes_of_an_ingress_without_one_are_read() {
        let ingress = format!("{INGRESS}}}");
        let mut read = Read::for_status(&ingress);
        assert_eq!(read.state("web"), "Current");
        let sources = super::class_sources(read.model.around());
        let kinds: Vec<&str> = sources
            .iter()
            .map(|source| &*source.resource.plural)
            .collect();
        assert_eq!(kinds, ["ingressclasses"]);
        let classes: SourceKey = sources[0].clone();
        read.look(classes);
        assert!(read.state("web").starts_with("InProgress"));
    }

    #[test]
    fn a_default_class_names_the_others() {
        for kind in ["StorageClass", "IngressClass"] {
            let objects = [
                class(kind, "a", true),
                class(kind, "b", true),
                class(kind, "c", false),
            ];
            let read = Read::for_status(&objects.join("\n---\n"));
            let note = "Current\nDefaultClass: b is a default class, too: an object without a class gets the newest one";
            assert_eq!(read.state("a"), note);
            assert_eq!(read.state("c"), "Current");
        }
    }
}
