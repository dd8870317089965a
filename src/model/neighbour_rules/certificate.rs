//! Hosts that the certificate for them does not name.

use std::sync::Arc;

use crate::graph::{Node, Reference};
use crate::object::Value;
use crate::status::{CauseRule, CertificateNames, Finding, Status};

use crate::model::around::Around;

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
        reference.relation.name == "certificate"
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
