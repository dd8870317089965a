//! `ServedTypes`: the resource types that a cluster serves, by their kinds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::well_known::well_known_type;
use super::{GroupKind, ObjectRef, Resource, ResourceType, Value, is_kubernetes_own};

/// The known types: Kubernetes' own, and those that a cluster was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServedTypes {
    custom: Arc<BTreeMap<GroupKind, Resource>>,
    /// The custom kinds with the subresource `status`.
    with_status: Arc<BTreeSet<GroupKind>>,
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
            ..ServedTypes::default()
        }
    }

    /// The types that a cluster serves, with what discovery says about their subresources.
    pub fn discovered(found: impl IntoIterator<Item = ResourceType>) -> ServedTypes {
        let found: Vec<ResourceType> = found.into_iter().collect();
        let is_own = |found: &ResourceType| is_kubernetes_own(&found.resource.group);
        let with_status = found.iter();
        let with_status = with_status.filter(|found| found.has_status && !is_own(found));
        let with_status = with_status.map(|found| found.resource.group_kind());
        ServedTypes {
            with_status: Arc::new(with_status.collect()),
            ..ServedTypes::of(found.into_iter().map(|found| found.resource))
        }
    }

    /// The custom kinds in documents whose controllers write a status: their `CustomResourceDefinition` has the subresource,
    /// or one of their objects has conditions.
    pub fn in_documents<'a>(documents: impl Iterator<Item = Value<'a>>) -> ServedTypes {
        let kinds = documents.filter_map(|document| {
            defined_with_status(document).or_else(|| {
                let mut conditions = document.items_at(&["status", "conditions"]);
                conditions.next()?;
                Some(ObjectRef::of(document).group_kind())
            })
        });
        let kinds = kinds.filter(|kind| !is_kubernetes_own(&kind.group));
        ServedTypes {
            with_status: Arc::new(kinds.collect()),
            ..ServedTypes::default()
        }
    }

    /// Whether the kind of an object has the subresource `status`, so that its controller writes a status. Only known of
    /// custom kinds.
    pub fn has_status(&self, object: &ObjectRef) -> bool {
        !self.with_status.is_empty() && self.with_status.contains(&object.group_kind())
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

/// The kind that a document defines, if it is a `CustomResourceDefinition` with the subresource `status` in a version.
fn defined_with_status(document: Value<'_>) -> Option<GroupKind> {
    if document.str_at(&["kind"])? != "CustomResourceDefinition" {
        return None;
    }
    let versions = document.items_at(&["spec", "versions"]);
    let mut places = versions.chain(document.get("spec"));
    places.find(|place| place.at(&["subresources", "status"]).is_some())?;
    Some(GroupKind {
        group: document.text_at(&["spec", "group"])?,
        kind: document.text_at(&["spec", "names", "kind"])?,
    })
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
        let found = |resource: Resource| ResourceType {
            singular: String::new(),
            short_names: Vec::new(),
            categories: Vec::new(),
            verbs: Vec::new(),
            has_status: true,
            resource,
        };
        let own_kinds = ["", "apps", "resource.k8s.io"].map(|group| {
            found(Resource {
                group: group.into(),
                ..issuer("v1")
            })
        });
        let served = ServedTypes::discovered(own_kinds.into_iter().chain([found(issuer("v1"))]));
        let object = |api_version: &str| ObjectRef {
            api_version: api_version.into(),
            kind: "Issuer".into(),
            namespace: None,
            name: "a".into(),
            uid: None,
        };
        for (api_version, expect) in [
            ("cert-manager.io/v1", true),
            ("v1", false),
            ("apps/v1", false),
            ("resource.k8s.io/v1", false),
        ] {
            assert_eq!(
                served.has_status(&object(api_version)),
                expect,
                "{api_version}"
            );
        }
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

    #[test]
    fn the_documents_of_a_file_show_which_kinds_have_a_status() {
        let definition = |kind: &str, subresources: &str| {
            format!(
                r#"{{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","spec":{{"group":"example.com","names":{{"kind":"{kind}"}},"versions":[{{"name":"v1","subresources":{subresources}}}]}}}}"#
            )
        };
        let texts = [
            definition("Defined", r#"{"status":{}}"#),
            definition("Plain", "{}"),
            r#"{"apiVersion":"example.com/v1","kind":"Reported","status":{"conditions":[{"type":"Ready"}]}}"#.to_owned(),
            r#"{"apiVersion":"example.com/v1","kind":"Empty","status":{}}"#.to_owned(),
            r#"{"apiVersion":"v1","kind":"Node","status":{"conditions":[{"type":"Ready"}]}}"#.to_owned(),
        ];
        let docs = texts.map(|text| crate::object::Doc::parse(text).expect("a document"));
        let types = ServedTypes::in_documents(docs.iter().map(crate::object::Doc::root));
        let has = |api_version: &str, kind: &str| {
            types.has_status(&ObjectRef {
                api_version: api_version.into(),
                kind: kind.into(),
                namespace: None,
                name: "a".into(),
                uid: None,
            })
        };
        let found =
            ["Defined", "Plain", "Reported", "Empty"].map(|kind| has("example.com/v1", kind));
        assert_eq!(found, [true, false, true, false]);
        assert!(!has("v1", "Node"));
    }
}
