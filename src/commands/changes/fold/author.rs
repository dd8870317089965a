//! `Author`: what kind of program a field manager is for an object, by what it did to the object and by its name.
//!
//! Programs of any name write what people decided: GitOps tools are called `…-controller`, too. So a writer of the content
//! of an object counts as a tool, unless it made the object for an owner. The content is all but `metadata` and `status`.

use super::ControlledObject;
use super::controlled_object::OWNERS;
use crate::object::managed_fields::{ManagedFieldsEntry, OwnerStep};

/// What kind of program a field manager is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Author {
    /// A client that people type into or click in.
    Person,
    /// A program that acts for people, such as helm or a GitOps tool.
    Tool,
    /// A part of Kubernetes, or a program that reports about objects or makes them for their owner.
    Controller,
}

/// The starts of the names of clients for people, in lower case. Without `--field-manager`, the name is that of the
/// program.
const CLIENTS: [&str; 9] = [
    "kubectl",
    "oc",
    "k9s",
    "lens",
    "openlens",
    "freelens",
    "headlamp",
    "dashboard",
    "mozilla",
];

/// Words in the names of the parts of Kubernetes, in lower case. What these write is never what a person decided about this
/// object.
const COMPONENTS: [&str; 8] = [
    "kube-controller-manager",
    "cloud-controller-manager",
    "kube-scheduler",
    "kube-apiserver",
    "kube-proxy",
    "kubelet",
    "cluster-autoscaler",
    "api-priority-and-fairness",
];

/// Words in the names of controllers, in lower case. A controller that owns only metadata of an object keeps its books
/// there: finalizers, annotations.
const CONTROLLERS: [&str; 5] = [
    "controller",
    "operator",
    "manager",
    "autoscaler",
    "provisioner",
];

/// The parts of an object that are not its content.
const NO_CONTENT: [&str; 2] = ["metadata", "status"];

/// The starts of the names of distributions that run all controllers in one process. Each of these writes under the name
/// of the process: `k3s` (<https://docs.k3s.io/architecture>), `kubelite` (<https://microk8s.io/docs/configuring-services>),
/// `rke2-supervisor@node` (<https://docs.rke2.io/architecture>).
const DISTRIBUTIONS: [&str; 3] = ["k3s", "kubelite", "rke2"];

impl Author {
    /// What the manager of an entry is for the object, which may have a controller of any name.
    pub(crate) fn of(
        entry: &ManagedFieldsEntry<'_>,
        controlled: Option<&ControlledObject<'_>>,
    ) -> Author {
        match (Author::by_name(entry), controlled) {
            (Author::Tool, Some(object)) if object.is_controlled_by(&entry.manager) => {
                Author::Controller
            }
            (author, _) => author,
        }
    }

    fn by_name(entry: &ManagedFieldsEntry<'_>) -> Author {
        let name = entry.manager.to_lowercase();
        let is_named = |start: &str| match name.strip_prefix(start) {
            Some(rest) => !rest.starts_with(|next: char| next.is_ascii_alphanumeric()),
            None => false,
        };
        let has_word = |words: &[&str]| words.iter().any(|word| name.contains(word));
        match () {
            () if CLIENTS.into_iter().any(is_named) => Author::Person,
            () if &*entry.subresource == "status" => Author::Controller,
            () if has_word(&COMPONENTS) || DISTRIBUTIONS.into_iter().any(is_named) => {
                Author::Controller
            }
            () if entry.owns(&OWNERS.map(|name| OwnerStep::Field(name.into()))) => {
                Author::Controller
            }
            () if has_word(&CONTROLLERS) && !entry.owns_beyond(&NO_CONTENT) => Author::Controller,
            () => Author::Tool,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Doc;
    use crate::object::managed_fields::entries;

    const SPEC: &str = r#"{"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:replicas":{}}}"#;
    const DATA: &str = r#"{"f:data":{".":{},"f:mode":{}}}"#;
    const RULES: &str = r#"{"f:rules":{}}"#;
    const BOOKS: &str = r#"{"f:metadata":{"f:finalizers":{}},"f:status":{"f:phase":{}}}"#;
    const OWNED: &str = r#"{"f:metadata":{"f:ownerReferences":{}},"f:data":{"f:mode":{}}}"#;

    fn author(manager: &str, subresource: &str, fields: &str) -> Author {
        let entry = format!(
            r#"{{"manager":"{manager}","operation":"Update","subresource":"{subresource}","fieldsV1":{fields}}}"#
        );
        let text = format!(r#"{{"kind":"X","metadata":{{"managedFields":[{entry}]}}}}"#);
        let doc = Doc::parse(text).expect("JSON");
        Author::of(&entries(doc.root())[0], None)
    }

    #[test]
    fn the_content_of_an_object_is_what_people_decided_whoever_writes_it() {
        for (manager, subresource, fields, expect) in [
            ("kubectl-edit", "", SPEC, Author::Person),
            ("kubectl", "status", BOOKS, Author::Person),
            ("oc", "", BOOKS, Author::Person),
            ("octopus", "", SPEC, Author::Tool),
            ("helm", "", SPEC, Author::Tool),
            ("Terraform", "", BOOKS, Author::Tool),
            ("widget", "status", BOOKS, Author::Controller),
            ("widget", "", OWNED, Author::Controller),
            ("kubectl-create", "", OWNED, Author::Person),
            // GitOps tools, by whatever name.
            ("argocd-controller", "", SPEC, Author::Tool),
            ("argocd-application-controller", "", DATA, Author::Tool),
            ("kustomize-controller", "", RULES, Author::Tool),
            ("helm-controller", "", SPEC, Author::Tool),
            ("fleet-manager", "", SPEC, Author::Tool),
            ("some-operator", "scale", SPEC, Author::Tool),
            (
                "argocd-application-controller",
                "",
                BOOKS,
                Author::Controller,
            ),
            ("PrometheusOperator", "", BOOKS, Author::Controller),
            ("PrometheusOperator", "", "{}", Author::Controller),
            // The parts of Kubernetes.
            ("kube-controller-manager", "scale", SPEC, Author::Controller),
            ("aws-cloud-controller-manager", "", SPEC, Author::Controller),
            ("kube-scheduler", "", SPEC, Author::Controller),
            ("kubelet", "status", BOOKS, Author::Controller),
            ("k3s", "", SPEC, Author::Controller),
            ("k3s-supervisor@node-1", "", SPEC, Author::Controller),
            ("kubelite", "scale", SPEC, Author::Controller),
            ("rke2-supervisor@node-1", "", SPEC, Author::Controller),
            ("k3sup", "", SPEC, Author::Tool),
            (
                "api-priority-and-fairness-config-producer-v1",
                "",
                SPEC,
                Author::Controller,
            ),
        ] {
            assert_eq!(
                author(manager, subresource, fields),
                expect,
                "{manager} {subresource} {fields}"
            );
        }
    }
}
