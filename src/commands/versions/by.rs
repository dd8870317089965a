//! `--by` and `--people`: select the versions and changes of certain field managers.

use std::convert::Infallible;
use std::str::FromStr;

use super::author::{Author, ControlledObject, authors, is_event, is_report};
use super::read_versions::ReadVersions;
use crate::diff::{Change, Diff, Noise};
use crate::object::ObjectRef;
use crate::object::managed_fields::{By, Writers, entries};

/// A value of `--by`: the name of a field manager, in which `*` stands for any characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ManagerPattern(String);

impl FromStr for ManagerPattern {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<ManagerPattern, Infallible> {
        Ok(ManagerPattern(text.to_owned()))
    }
}

impl ManagerPattern {
    fn matches(&self, manager: &str) -> bool {
        let mut parts = self.0.split('*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = manager.strip_prefix(first) else {
            return false;
        };
        let Some(last) = parts.next_back() else {
            return rest.is_empty();
        };
        for part in parts {
            match rest.split_once(part) {
                Some((_, after)) => rest = after,
                None => return false,
            }
        }
        rest.ends_with(last)
    }
}

/// The managers whose versions are shown.
#[derive(Clone, Debug, Default)]
pub(crate) enum ManagerFilter {
    /// Every manager.
    #[default]
    Everyone,
    /// The managers of `--by`.
    Named(Vec<ManagerPattern>),
    /// People, and the programs that write for them what objects contain.
    People,
}

impl ManagerFilter {
    /// Whether changes of a version are selected by manager.
    pub(crate) fn is_by_name(&self) -> bool {
        matches!(self, ManagerFilter::Named(_))
    }

    /// Whether versions of controllers are left out.
    pub(crate) fn is_of_people(&self) -> bool {
        matches!(self, ManagerFilter::People)
    }

    /// Whether every manager matches.
    pub(crate) fn is_everyone(&self) -> bool {
        matches!(self, ManagerFilter::Everyone)
    }

    /// Whether a matching manager wrote a version.
    pub(crate) fn is_among<'a>(
        &self,
        read: &ReadVersions<'a>,
        writers: &Writers<'a>,
        diff: Option<&Diff<'a>>,
    ) -> bool {
        match self {
            ManagerFilter::Everyone => true,
            ManagerFilter::Named(_) => {
                let authors = authors(writers, diff);
                authors.iter().any(|author| self.names(&author.manager))
            }
            ManagerFilter::People => is_by_people(read, writers, diff),
        }
    }

    /// Whether the deletion of an object matches. The server records nobody, so a manager that wrote the object before
    /// matches.
    pub(crate) fn has_written(&self, read: &ReadVersions<'_>) -> bool {
        match self {
            ManagerFilter::Everyone => true,
            ManagerFilter::Named(_) => {
                let mut entries = entries(read.doc.root()).into_iter();
                entries.any(|entry| self.names(&entry.manager))
            }
            ManagerFilter::People => !is_left_to_controllers(read),
        }
    }

    /// Drops the changes of other managers and returns their number. Changes of the server's counters stay.
    pub(crate) fn narrow<'a>(&self, diff: &mut Diff<'a>, writers: &Writers<'a>) -> usize {
        if !self.is_by_name() {
            return 0;
        }
        let all = diff.changes().len();
        diff.retain(|diff, change| {
            let counted = matches!(change.noise, Some(Noise::Version | Noise::ManagedFields));
            counted || self.made(diff, writers, change)
        });
        all - diff.changes().len()
    }

    fn made<'a>(&self, diff: &Diff<'a>, writers: &Writers<'a>, change: &Change) -> bool {
        let is_recorded = writers.actors().next().is_some();
        match diff.by(writers, change) {
            Some(By::Actor(actor) | By::Took { actor, .. }) => self.names(&actor.manager),
            Some(By::Owner(owner)) => !is_recorded && self.names(&owner.manager),
            Some(By::Was(_)) | None => false,
        }
    }

    fn names(&self, manager: &str) -> bool {
        match self {
            ManagerFilter::Named(patterns) => {
                patterns.iter().any(|pattern| pattern.matches(manager))
            }
            ManagerFilter::Everyone | ManagerFilter::People => true,
        }
    }
}

/// Whether people wrote a version, or a program that writes for them. People write no Events, whatever the name of the
/// component is that does.
fn is_by_people<'a>(
    read: &ReadVersions<'a>,
    writers: &Writers<'a>,
    diff: Option<&Diff<'a>>,
) -> bool {
    let object = &read.event.now.object;
    if is_event(object) {
        return false;
    }
    let controlled = ControlledObject::of(read);
    let is_report = diff.is_some_and(|diff| is_report(read.event.change, diff, writers));
    let authors = authors(writers, diff);
    if authors.is_empty() {
        // Nobody is recorded for the request to delete an object. People may have sent it.
        return !is_report && !is_left_to_controllers(read);
    }
    let mut authors = authors.iter();
    authors.any(|author| match Author::of(author, controlled.as_ref()) {
        Author::Person => true,
        Author::Tool => !is_report && !is_lease(object),
        Author::Controller => false,
    })
}

/// Whether people leave such objects to controllers: owned objects, Events, Leases, and two objects of each namespace. The server
/// records no manager for the account, which has no fields
/// (<https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#serviceaccount-controller>).
fn is_left_to_controllers(read: &ReadVersions<'_>) -> bool {
    let object = &read.event.now.object;
    let is_of_namespace = object.group().is_empty()
        && matches!(
            (&*object.kind, &*object.name),
            ("ServiceAccount", "default") | ("ConfigMap", "kube-root-ca.crt")
        );
    let is_of_program = is_event(object) || is_lease(object);
    is_of_namespace || is_of_program || ControlledObject::of(read).is_some()
}

/// Whether the object is a Lease, which programs write to choose a leader or to show that they are alive.
fn is_lease(object: &ObjectRef) -> bool {
    &*object.kind == "Lease" && object.group() == "coordination.k8s.io"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, manager, expect) in [
            ("kubectl-edit", "kubectl-edit", true),
            ("kubectl-edit", "kubectl-edi", false),
            ("kubectl-edit", "kubectl-editor", false),
            ("kubectl*", "kubectl-set", true),
            ("kubectl*", "kubectl", true),
            ("*controller*", "kube-controller-manager", true),
            ("kube*manager", "kube-controller-manager", true),
            ("kube*-manager-manager", "kube-manager", false),
            ("*", "", true),
            ("", "x", false),
        ] {
            let parsed: ManagerPattern = pattern.parse().unwrap_or_else(|never| match never {});
            assert_eq!(parsed.matches(manager), expect, "{pattern} {manager}");
        }
    }
}
