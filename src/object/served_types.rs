//! `ServedTypes`: the resource types that a cluster serves, by their kinds.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::well_known::well_known_type;
use super::{GroupKind, Resource};

/// The known types: Kubernetes' own, and those that a cluster was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServedTypes {
    custom: Arc<BTreeMap<GroupKind, Resource>>,
}

impl ServedTypes {
    /// The types that a cluster serves. Of several versions of a kind the first one counts.
    pub fn of(served: impl IntoIterator<Item = Resource>) -> ServedTypes {
        let mut custom = BTreeMap::new();
        for resource in served {
            custom.entry(resource.group_kind()).or_insert(resource);
        }
        ServedTypes {
            custom: Arc::new(custom),
        }
    }

    /// The resource of a kind; `None` if it is not known.
    pub fn resource(&self, kind: &GroupKind) -> Option<&Resource> {
        let well_known = well_known_type(&kind.group, &kind.kind);
        let well_known = well_known.map(|found| &found.resource);
        well_known.or_else(|| self.custom.get(kind))
    }

    /// The namespaced types of an API group that Kubernetes itself does not define.
    pub fn of_group(&self, group: &str) -> impl Iterator<Item = &Resource> {
        let all = self.custom.values();
        all.filter(move |resource| *resource.group == *group && resource.namespaced)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kubernetes_own_kinds_are_always_known_and_others_if_they_are_served() {
        let kind = |group: &str, kind: &str| GroupKind {
            group: group.into(),
            kind: kind.into(),
        };
        let issuer = |version: &str| Resource {
            group: "cert-manager.io".into(),
            version: version.into(),
            plural: "issuers".into(),
            kind: "Issuer".into(),
            namespaced: true,
        };
        let types = ServedTypes::of([issuer("v1"), issuer("v1beta1")]);
        let plural = |types: &ServedTypes, kind: &GroupKind| {
            types.resource(kind).map(Resource::group_resource)
        };
        let none = ServedTypes::default();
        let pod = kind("", "Pod");
        assert_eq!(plural(&none, &pod).as_deref(), Some("pods"));
        let own = kind("cert-manager.io", "Issuer");
        assert_eq!(plural(&none, &own), None);
        assert_eq!(types.resource(&own), Some(&issuer("v1")));
    }
}
