//! `Links`: the objects that an object names and selects, as its own text states them.

use std::sync::Arc;

use crate::object::selector::LabelSelector;
use crate::object::{GroupKind, ObjectRef, ServedTypes, Value, label_selector, map_selector};

use super::labels::Labels;
use super::reference::{Port, Reference};
use super::reference_target::ReferenceTarget;
use super::relations::{
    Empty, Found, InventoryMembers, KnownRelation, Read, Relation, RemoteMembers, Tier, To,
    group_kind, relations_of,
};
use super::selector::Selection;

/// The links of one object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// The named objects, in the order of the relations.
    pub references: Vec<Reference>,
    /// The selected objects, in the order of the relations.
    pub selections: Vec<Selection>,
    /// The members of an inventory that are in another cluster. Nothing is known about them here.
    pub remote: Option<RemoteMembers>,
    /// The labels of the Pods that it creates; `None` for kinds without a template.
    pub(super) template: Option<Labels>,
}

impl Links {
    /// Reads the links that matter up to a tier. Selectors matter to traces alone. A reference that is marked as
    /// optional matters to nothing else, either. Without the type of an object, its scope is a guess.
    pub fn of(object: Value<'_>, upto: Tier, types: &ServedTypes) -> Links {
        let own = ObjectRef::of(object);
        let mut reader = LinkReader {
            object,
            own: &own,
            types,
            links: Links::default(),
        };
        for relation in relations_of(&own.group_kind()) {
            if relation.tier <= upto {
                reader.read(relation);
            }
        }
        let mut links = reader.links;
        links
            .references
            .retain(|reference| reference.tier() <= upto);
        if upto == Tier::Trace {
            links.template = template_labels(object);
        }
        links
    }
}

/// Reads the links of one object.
struct LinkReader<'a> {
    object: Value<'a>,
    own: &'a ObjectRef,
    types: &'a ServedTypes,
    links: Links,
}

impl LinkReader<'_> {
    fn read(&mut self, relation: &'static Relation) {
        match relation.read {
            Read::OwnerUid => {} // the graph keeps owners by their uids
            Read::Name(path, key) => {
                for holder in values_at(self.object, path) {
                    let found = self.reference(relation, holder, key);
                    self.refer(found);
                }
            }
            Read::Certificate(path, key) => {
                for holder in values_at(self.object, path) {
                    let found = self.reference(relation, holder, key);
                    self.refer(found.map(|found| Reference {
                        keys: ["tls.crt", "tls.key"].map(Arc::from).to_vec(),
                        ..found
                    }));
                }
            }
            Read::Webhooks(policy) => self.refer_to_webhooks(relation, policy),
            Read::Label(key) => self.refer_by(relation, &["metadata", "labels", key]),
            Read::Annotation(key) => self.refer_by(relation, &["metadata", "annotations", key]),
            Read::Selector(path, empty) => {
                for selector in values_at(self.object, path) {
                    let labels = label_selector(selector);
                    let labels = labels.filter(|labels| empty == Empty::All || !labels.is_empty());
                    self.select_beside(relation, labels);
                }
            }
            Read::Labels(path) => {
                // The selector of such a Service has no effect.
                let is_external =
                    self.object.str_at(&["spec", "type"]).as_deref() == Some("ExternalName");
                let selectors = values_at(self.object, path).into_iter();
                for selector in selectors.filter(|_| !is_external) {
                    self.select_beside(relation, map_selector(selector));
                }
            }
            Read::Computed(find) => {
                for found in find(self.object, self.own) {
                    match found {
                        Found::Named(target) => self.refer(Some(plain(relation, target))),
                        Found::Selected(namespace, labels) => {
                            self.select(relation, namespace, labels);
                        }
                    }
                }
            }
            Read::Inventory(shape) => match shape.members(self.object) {
                InventoryMembers::Elsewhere(remote) => self.links.remote = Some(remote),
                InventoryMembers::Here(members) => {
                    for it in members {
                        let target = self.target(it.kind, it.namespace, it.name);
                        self.links.references.push(plain(relation, target));
                    }
                }
            },
        }
    }

    /// The Services that webhooks with a `failurePolicy` call. Without one, it is Fail
    /// (<https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#failure-policy>).
    fn refer_to_webhooks(&mut self, relation: &'static Relation, policy: &str) {
        for webhook in self.object.items_at(&["webhooks"]) {
            let own = webhook.text_at(&["failurePolicy"]);
            if own.as_deref().unwrap_or("Fail") == policy {
                let service = webhook.at(&["clientConfig", "service"]);
                let found = service.and_then(|holder| self.reference(relation, holder, "name"));
                self.refer(found);
            }
        }
    }

    /// Adds a reference, once. One that differs only in its keys is merged with the one that is there.
    fn refer(&mut self, found: Option<Reference>) {
        let Some(mut found) = found else {
            return;
        };
        found.is_elsewhere =
            found.target.namespace.is_some() && found.target.namespace != self.own.namespace;
        let references = &mut self.links.references;
        match references.iter_mut().find(|known| known.is_like(&found)) {
            Some(known) => {
                let keys = found.keys.into_iter();
                let new: Vec<_> = keys.filter(|key| !known.keys.contains(key)).collect();
                known.keys.extend(new);
            }
            None => references.push(found),
        }
    }

    /// Adds a reference by a name in the metadata.
    fn refer_by(&mut self, relation: &'static Relation, path: &[&str]) {
        let name = self.object.text_at(path).filter(|name| !name.is_empty());
        let target = name.and_then(|name| {
            let kind = match relation.to {
                To::Kind(kind) => group_kind(kind),
                To::Reference(_) | To::Any => return None,
            };
            Some(self.target(kind, self.own.namespace.clone(), name))
        });
        self.refer(target.map(|target| plain(relation, target)));
    }

    fn select_beside(&mut self, relation: &'static Relation, labels: Option<LabelSelector>) {
        if let Some(labels) = labels {
            self.select(relation, self.own.namespace.clone(), labels);
        }
    }

    fn select(
        &mut self,
        relation: &'static Relation,
        namespace: Option<Arc<str>>,
        labels: LabelSelector,
    ) {
        if let To::Kind(kind) = relation.to {
            self.links.selections.push(Selection {
                relation,
                kind: group_kind(kind),
                namespace,
                labels,
            });
        }
    }

    fn reference(
        &self,
        relation: &'static Relation,
        holder: Value<'_>,
        key: &str,
    ) -> Option<Reference> {
        let name = holder.text_at(&[key]).filter(|name| !name.is_empty())?;
        // Every Pod has this account, unless it names another.
        if key == "serviceAccountName" && &*name == "default" {
            return None;
        }
        let kind = match relation.to {
            To::Kind(kind) => group_kind(kind),
            To::Reference(kinds) => {
                let default = kinds.first().filter(|kind| !kind.is_empty());
                let named = referenced_kind(holder, kinds);
                named.or_else(|| default.map(|kind| group_kind(kind)))?
            }
            To::Any => referenced_kind(holder, &[])?,
        };
        let namespace = holder.text_at(&["namespace"]);
        let namespace = namespace.filter(|namespace| !namespace.is_empty());
        let namespace = namespace.or_else(|| self.own.namespace.clone());
        let is_optional = holder.get("optional").and_then(Value::as_bool);
        // A claim that names its volume has or gets that one, whatever its class.
        let has_volume = relation.is(KnownRelation::StorageClass)
            && holder
                .text_at(&["volumeName"])
                .is_some_and(|name| !name.is_empty());
        Some(Reference {
            port: holder.get("port").and_then(Port::of),
            is_optional: is_optional == Some(true) || has_volume,
            keys: match &*kind.kind {
                "ConfigMap" => keys(holder),
                _ => Vec::new(),
            },
            ..plain(relation, self.target(kind, namespace, name))
        })
    }

    /// The object with a name. Cluster-scoped objects have no namespace.
    fn target(
        &self,
        kind: GroupKind,
        namespace: Option<Arc<str>>,
        name: Arc<str>,
    ) -> ReferenceTarget {
        let resource = self.types.resource(&kind);
        let is_namespaced = resource.is_none_or(|resource| resource.namespaced);
        ReferenceTarget {
            kind,
            namespace: namespace.filter(|_| is_namespaced),
            name,
        }
    }
}

fn plain(relation: &'static Relation, target: ReferenceTarget) -> Reference {
    Reference {
        relation,
        target,
        port: None,
        is_optional: false,
        is_elsewhere: false,
        keys: Vec::new(),
    }
}

/// The keys that a field needs: `key` beside the name, or those of `items`.
fn keys(holder: Value<'_>) -> Vec<Arc<str>> {
    let own = holder.text_at(&["key"]);
    let items = holder.items_at(&["items"]);
    let items = items.filter_map(|item| item.text_at(&["key"]));
    own.into_iter().chain(items).collect()
}

/// The type beside a name. Without a group it is that of the first of these kinds with the same name, else the core
/// group.
fn referenced_kind(holder: Value<'_>, kinds: &[&str]) -> Option<GroupKind> {
    let text = |key| holder.text_at(&[key]);
    let kind = text("kind")?;
    let mut usual = kinds.iter().map(|usual| group_kind(usual));
    let group = match text("apiVersion") {
        Some(version) => version
            .rsplit_once('/')
            .map_or("", |(group, _)| group)
            .into(),
        None => text("apiGroup")
            .or_else(|| text("group"))
            .or_else(|| Some(usual.find(|usual| usual.kind == kind)?.group))
            .unwrap_or_default(),
    };
    Some(GroupKind { group, kind })
}

/// The labels in the pod template of a workload.
fn template_labels(object: Value<'_>) -> Option<Labels> {
    let own = ObjectRef::of(object);
    let has_template = matches!(own.group(), "" | "apps" | "batch" | "argoproj.io");
    let spec = object.get("spec").filter(|_| has_template)?;
    let spec = spec.at(&["jobTemplate", "spec"]).unwrap_or(spec);
    Some(Labels::of(spec.get("template")?))
}

/// The values at the end of a path of the table of relations, such as `spec.rules[].http.paths[].backend.service`. `[]` follows a list; `containers*` stands for containers of every type.
fn values_at<'a>(value: Value<'a>, path: &str) -> Vec<Value<'a>> {
    let mut found = Vec::new();
    collect(value, path, &mut found);
    found
}

fn collect<'a>(value: Value<'a>, path: &str, found: &mut Vec<Value<'a>>) {
    if path.is_empty() {
        found.push(value);
        return;
    }
    let (step, rest) = path.split_once('.').unwrap_or((path, ""));
    let lists: &[&str] = match step.strip_suffix("[]") {
        Some(list) => &[list],
        None if step == "containers*" => &["initContainers", "containers", "ephemeralContainers"],
        None => {
            if let Some(inner) = value.get(step) {
                collect(inner, rest, found);
            }
            return;
        }
    };
    for item in lists.iter().flat_map(|list| value.items_at(&[list])) {
        collect(item, rest, found);
    }
}

#[cfg(test)]
mod tests;
