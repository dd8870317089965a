//! Inventories: how an object lists the objects that a tool has applied for it.
//!
//! A shape is data: where the entries are, how an entry names an object, and how the inventory says that its members
//! are in another cluster.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::graph::reference_target::ReferenceTarget;
use crate::object::{GroupKind, Value};

/// How the objects of one kind list their members.
#[derive(Debug)]
pub(in crate::graph) struct InventoryShape {
    /// Where the entries are, and how each names a member.
    entries: InventoryEntries,
    /// The label that marks an inventory; empty if each object of the kind is one.
    label: &'static str,
    /// The other cluster that has the members, as a phrase; `None` if they are in this one.
    elsewhere: fn(Value<'_>) -> Option<String>,
}

/// Where the entries of an inventory are, and how each names a member.
#[derive(Debug)]
enum InventoryEntries {
    /// A list at this path; the field `id` of each item is an [id](parse_id).
    Ids(&'static [&'static str]),
    /// A map at this path; its keys are [ids](parse_id).
    Keys(&'static [&'static str]),
    /// A list at this path; each item has the fields `group`, `kind`, `namespace` and `name`.
    Fields(&'static [&'static str]),
}

/// The members of an inventory, as it lists them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::graph) enum InventoryMembers {
    /// The members in the cluster of the inventory, each once.
    Here(Vec<ReferenceTarget>),
    /// The members are in another cluster.
    Elsewhere(RemoteMembers),
}

/// The members of an inventory that are in another cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteMembers {
    /// How many they are.
    pub count: usize,
    /// The other cluster, as a phrase.
    pub cluster: Arc<str>,
}

/// A Kustomization of Flux
/// (<https://fluxcd.io/flux/components/kustomize/kustomizations/#inventory>).
pub(super) static KUSTOMIZATION: InventoryShape = InventoryShape {
    entries: InventoryEntries::Ids(&["status", "inventory", "entries"]),
    label: "",
    elsewhere: by_kubeconfig,
};

/// A `ResourceGroup` of kpt (<https://kpt.dev/reference/cli/live/>).
pub(super) static RESOURCE_GROUP: InventoryShape = InventoryShape {
    entries: InventoryEntries::Fields(&["spec", "resources"]),
    label: "",
    elsewhere: never,
};

/// A `ConfigMap` of cli-utils
/// (<https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/inventory/inventorycm.go>).
pub(super) static CONFIG_MAP: InventoryShape = InventoryShape {
    entries: InventoryEntries::Keys(&["data"]),
    label: "cli-utils.sigs.k8s.io/inventory-id",
    elsewhere: never,
};

/// An Application of Argo CD
/// (<https://argo-cd.readthedocs.io/en/stable/operator-manual/declarative-setup/#applications>).
pub(super) static APPLICATION: InventoryShape = InventoryShape {
    entries: InventoryEntries::Fields(&["status", "resources"]),
    label: "",
    elsewhere: by_destination,
};

impl InventoryShape {
    /// The members that an object lists. An entry that names no object is left out.
    pub(in crate::graph) fn members(&self, object: Value<'_>) -> InventoryMembers {
        let is_marked = || {
            let label = object.at(&["metadata", "labels", self.label]);
            label.is_some()
        };
        let mut members = Vec::new();
        if self.label.is_empty() || is_marked() {
            members = self.entries.read(object);
        }
        let mut seen = BTreeSet::new();
        members.retain(|member| seen.insert(member.clone()));
        match (self.elsewhere)(object) {
            Some(cluster) if !members.is_empty() => InventoryMembers::Elsewhere(RemoteMembers {
                count: members.len(),
                cluster: cluster.into(),
            }),
            Some(_) | None => InventoryMembers::Here(members),
        }
    }

    /// The path of the entries: `status.inventory.entries`.
    pub(super) fn path(&self) -> String {
        let (InventoryEntries::Ids(path)
        | InventoryEntries::Keys(path)
        | InventoryEntries::Fields(path)) = self.entries;
        path.join(".")
    }
}

impl InventoryEntries {
    fn read(&self, object: Value<'_>) -> Vec<ReferenceTarget> {
        match self {
            InventoryEntries::Ids(path) => {
                let ids = object.items_at(path);
                let ids = ids.filter_map(|entry| parse_id(&entry.str_at(&["id"])?));
                ids.collect()
            }
            InventoryEntries::Keys(path) => {
                let entries = object.at(path).into_iter().flat_map(Value::fields);
                entries.filter_map(|(id, _)| parse_id(&id)).collect()
            }
            InventoryEntries::Fields(path) => object.items_at(path).filter_map(named).collect(),
        }
    }
}

/// Parses an id of cli-utils, `NAMESPACE_NAME_GROUP_KIND`; `None` for any other text. The namespace of a cluster-scoped
/// object and the group of a core kind are empty. In a name, two underscores stand for a colon, as in the names of roles
/// (<https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/object/objmetadata.go>).
fn parse_id(id: &str) -> Option<ReferenceTarget> {
    let (namespace, rest) = id.split_once('_')?;
    let (rest, kind) = rest.rsplit_once('_')?;
    let (name, group) = rest.rsplit_once('_')?;
    let name = name.replace("__", ":");
    let is_whole = !name.is_empty() && !kind.is_empty() && !name.contains('_');
    is_whole.then(|| ReferenceTarget {
        kind: GroupKind::new(group, kind),
        namespace: Some(namespace)
            .filter(|namespace| !namespace.is_empty())
            .map(Arc::from),
        name: name.into(),
    })
}

/// The object that the fields of an entry name. Argo CD deletes the objects of hooks when they have run, so they are no
/// members.
fn named(entry: Value<'_>) -> Option<ReferenceTarget> {
    if entry.bool_at(&["hook"]) == Some(true) {
        return None;
    }
    let text = |key| {
        let text = entry.text_at(&[key]);
        text.filter(|text| !text.is_empty())
    };
    Some(ReferenceTarget {
        kind: GroupKind {
            group: text("group").unwrap_or_default(),
            kind: text("kind")?,
        },
        namespace: text("namespace"),
        name: text("name")?,
    })
}

fn never(_object: Value<'_>) -> Option<String> {
    None
}

/// Flux applies to another cluster if the Kustomization has a kubeconfig.
fn by_kubeconfig(object: Value<'_>) -> Option<String> {
    let config = object.at(&["spec", "kubeConfig"])?;
    let secret = config.text_at(&["secretRef", "name"]);
    Some(match secret {
        Some(name) => format!("the cluster of secret/{name}"),
        None => "another cluster".to_owned(),
    })
}

/// Argo CD names its own cluster by one URL and by one name.
fn by_destination(object: Value<'_>) -> Option<String> {
    let destination = |key, own: &str| {
        let text = object.text_at(&["spec", "destination", key])?;
        (!text.is_empty() && text.trim_end_matches('/') != own).then_some(text)
    };
    let server = destination("server", "https://kubernetes.default.svc");
    let name = server.or_else(|| destination("name", "in-cluster"));
    name.map(|name| format!("the cluster {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Doc;

    fn line(target: &ReferenceTarget) -> String {
        let namespace = target.namespace.as_deref().unwrap_or("-");
        format!("{} {namespace}/{}", target.kind, target.name)
    }

    #[test]
    fn an_id_names_an_object() {
        let cases = [
            ("shop_web_apps_Deployment", "Deployment.apps shop/web"),
            ("shop_flags__ConfigMap", "ConfigMap shop/flags"),
            ("_shop__Namespace", "Namespace -/shop"),
            (
                "_system__node__reader_rbac.authorization.k8s.io_ClusterRole",
                "ClusterRole.rbac.authorization.k8s.io -/system:node:reader",
            ),
            ("shop_a__b__Secret", "Secret shop/a:b"),
            (
                "shop_a.b-c_example.com_Widget",
                "Widget.example.com shop/a.b-c",
            ),
            ("", "none"),
            ("odd", "none"),
            ("shop_web", "none"),
            ("shop_web_apps", "none"),
            ("shop_web_apps_", "none"),
            ("shop__apps_Deployment", "none"),
            ("shop_we_b_apps_Deployment", "none"),
            ("___", "none"),
        ];
        for (id, expected) in cases {
            let found = parse_id(id).map_or("none".to_owned(), |target| line(&target));
            assert_eq!(found, expected, "{id:?}");
        }
    }

    fn members(shape: &InventoryShape, object: &str) -> String {
        let doc = Doc::parse(object).expect("a case is JSON");
        match shape.members(doc.root()) {
            InventoryMembers::Here(members) => {
                members.iter().map(line).collect::<Vec<_>>().join(", ")
            }
            InventoryMembers::Elsewhere(RemoteMembers { count, cluster }) => {
                format!("{count} in {cluster}")
            }
        }
    }

    #[test]
    fn a_kustomization_lists_ids() {
        let entries = r#""status":{"inventory":{"entries":[{"id":"shop_web_apps_Deployment","v":"v1"},{"id":"odd"},{},
            {"id":"_shop__Namespace","v":"v1"},{"id":"shop_web_apps_Deployment","v":"v1beta1"}]}}"#;
        let check = |spec: &str| members(&KUSTOMIZATION, &format!("{{{spec}{entries}}}"));
        assert_eq!(check(""), "Deployment.apps shop/web, Namespace -/shop");
        assert_eq!(
            check(r#""spec":{"kubeConfig":{"secretRef":{"name":"far"}}},"#),
            "2 in the cluster of secret/far"
        );
        assert_eq!(
            check(r#""spec":{"kubeConfig":{"configMapRef":{"name":"far"}}},"#),
            "2 in another cluster"
        );
        assert_eq!(members(&KUSTOMIZATION, "{}"), "");
    }

    #[test]
    fn a_resource_group_lists_objects() {
        let group = r#"{"spec":{"resources":[{"group":"apps","kind":"Deployment","namespace":"shop","name":"web"},
            {"group":"","kind":"Namespace","namespace":"","name":"shop"},{"kind":"Secret"},{"name":"x"},7]}}"#;
        assert_eq!(
            members(&RESOURCE_GROUP, group),
            "Deployment.apps shop/web, Namespace -/shop"
        );
    }

    #[test]
    fn only_a_marked_config_map_lists_ids() {
        let check = |labels: &str| {
            let data = r#""data":{"shop_web_apps_Deployment":"","shop_flags__ConfigMap":"{}"}"#;
            let map = format!(r#"{{"metadata":{{"labels":{{{labels}}}}},{data}}}"#);
            members(&CONFIG_MAP, &map)
        };
        let marked = r#""cli-utils.sigs.k8s.io/inventory-id":"shop-1""#;
        assert_eq!(
            check(marked),
            "Deployment.apps shop/web, ConfigMap shop/flags"
        );
        assert_eq!(check(""), "");
        assert_eq!(check(r#""app":"web""#), "");
    }

    #[test]
    fn an_application_lists_objects_of_its_destination() {
        let check = |destination: &str| {
            let resources = r#"[{"group":"apps","version":"v1","kind":"Deployment","namespace":"shop","name":"web"},
                {"group":"batch","version":"v1","kind":"Job","namespace":"shop","name":"migrate","hook":true},
                {"version":"v1","kind":"Namespace","name":"shop"}]"#;
            let app = format!(
                r#"{{"spec":{{"destination":{destination}}},"status":{{"resources":{resources}}}}}"#
            );
            members(&APPLICATION, &app)
        };
        let here = "Deployment.apps shop/web, Namespace -/shop";
        assert_eq!(check("{}"), here);
        assert_eq!(
            check(r#"{"server":"https://kubernetes.default.svc"}"#),
            here
        );
        assert_eq!(check(r#"{"server":"","name":"in-cluster"}"#), here);
        assert_eq!(
            check(r#"{"server":"https://10.0.0.1:6443"}"#),
            "2 in the cluster https://10.0.0.1:6443"
        );
        assert_eq!(check(r#"{"name":"prod"}"#), "2 in the cluster prod");
    }
}
