//! `Author`: what kind of program a field manager is, by its name and by what it did to the object.

use super::ControlledObject;
use crate::object::managed_fields::ManagedFieldsEntry;

/// What kind of program a field manager is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Author {
    /// A client that people type into or click in.
    Person,
    /// A program that acts for people, such as helm.
    Tool,
    /// A program that reconciles objects.
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

/// Words in the names of controllers, in lower case.
const CONTROLLERS: [&str; 12] = [
    "controller",
    "operator",
    "kubelet",
    "kube-scheduler",
    "kube-apiserver",
    "kube-proxy",
    "autoscaler",
    "provisioner",
    "cert-manager",
    "manager",
    "kwok",
    "api-priority-and-fairness",
];

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
        if CLIENTS.into_iter().any(is_named) {
            return Author::Person;
        }
        let is_controller = CONTROLLERS.iter().any(|word| name.contains(word))
            || DISTRIBUTIONS.into_iter().any(is_named);
        if is_controller || &*entry.subresource == "status" {
            Author::Controller
        } else {
            Author::Tool
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_shows_what_a_manager_is() {
        for (manager, subresource, expect) in [
            ("kubectl-edit", "", Author::Person),
            ("kubectl", "status", Author::Person),
            ("oc", "", Author::Person),
            ("octopus", "", Author::Tool),
            ("helm", "", Author::Tool),
            ("argocd", "", Author::Tool),
            ("Terraform", "", Author::Tool),
            ("widget", "status", Author::Controller),
            ("argocd-application-controller", "", Author::Controller),
            ("kube-controller-manager", "scale", Author::Controller),
            ("PrometheusOperator", "", Author::Controller),
            ("kubelet", "status", Author::Controller),
            ("k3s", "", Author::Controller),
            ("k3s-supervisor@node-1", "", Author::Controller),
            ("kubelite", "scale", Author::Controller),
            ("rke2-supervisor@node-1", "", Author::Controller),
            ("k3sup", "", Author::Tool),
            (
                "api-priority-and-fairness-config-producer-v1",
                "",
                Author::Controller,
            ),
        ] {
            let mut entry = ManagedFieldsEntry::default();
            entry.manager = manager.into();
            entry.subresource = subresource.into();
            assert_eq!(Author::of(&entry, None), expect, "{manager}");
        }
    }
}
