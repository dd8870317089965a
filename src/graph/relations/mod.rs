//! The relations of the API, as data: which field of which kind names or selects which other objects.
//!
//! A relation is one row. The field paths are those of the API reference
//! (<https://kubernetes.io/docs/reference/kubernetes-api/>) and of the projects that define the custom kinds.

mod computed;
mod custom;
mod inventory;
mod kubernetes;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use crate::object::{GroupKind, ObjectRef, Value};
use crate::source::Select;

use inventory::InventoryShape;

pub(super) use computed::Found;
pub use computed::{istio_destinations, service_of_host};
pub(super) use inventory::InventoryMembers;
pub use inventory::RemoteMembers;
pub(super) use kubernetes::relations_beside;

/// A relation of one kind to another.
#[derive(Debug)]
pub struct Relation {
    /// What the other object is for this one: `backend`, `volume`.
    pub name: &'static str,
    /// The `GROUP/KIND` that has the field; only `KIND` in the core group; [`ANY`] for every kind.
    pub(super) from: &'static str,
    /// How the object stands to the other.
    pub direction: Direction,
    /// How the other object is found.
    pub(super) read: Read,
    /// The type of the other object.
    pub(super) to: To,
    /// When the other object matters.
    pub tier: Tier,
    /// What it means for this object if the other one does not exist.
    pub if_absent: IfAbsent,
    /// From which end a trace follows it.
    pub(super) follow: Follow,
}

/// A relation that a rule asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownRelation {
    /// A Gateway or an Ingress to the Secret of its certificate.
    Certificate,
    /// A volume to its claim.
    Claim,
    /// A Pod to its node.
    Node,
    /// A Pod or a service account to the Secret for its registry.
    PullSecret,
    /// A claim or a volume to its class.
    StorageClass,
    /// A claim to its volume.
    Volume,
    /// A webhook configuration to the Services behind it.
    Webhook,
}

impl KnownRelation {
    fn name(self) -> &'static str {
        match self {
            KnownRelation::Certificate => "certificate",
            KnownRelation::Claim => "claim",
            KnownRelation::Node => "node",
            KnownRelation::PullSecret => "pull secret",
            KnownRelation::StorageClass => "storage class",
            KnownRelation::Volume => "volume",
            KnownRelation::Webhook => "webhook",
        }
    }
}

impl Relation {
    /// Whether it is this one.
    pub fn is(&self, known: KnownRelation) -> bool {
        self.name == known.name()
    }
}

/// Stands for every kind.
pub(super) const ANY: &str = "*";

/// How the object with the field stands to the other object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It passes traffic or orders on to the other: an Ingress to its Service, an autoscaler to its target. Or it
    /// selects the other.
    Fronts,
    /// It belongs to the other: a dependent to its owner, a slice to its Service.
    Backs,
    /// It needs the other: a Pod its `ConfigMap`.
    Uses,
    /// The other needs it: a volume its claim.
    Serves,
}

/// How the other objects of a relation are found.
#[derive(Clone, Copy, Debug)]
pub(super) enum Read {
    /// By the uids in the owner references.
    OwnerUid,
    /// By the name in a field: the path of its parent, and the field. `[]` follows a list; `containers*` stands for
    /// containers of every type. The namespace beside the name counts, else it is the object's own.
    Name(&'static str, &'static str),
    /// By the name of a TLS Secret: the path of its parent, and the field. The Secret must have a certificate and its key.
    Certificate(&'static str, &'static str),
    /// By the names of the Services that webhooks with this `failurePolicy` call.
    Webhooks(&'static str),
    /// By a meta/v1 `LabelSelector` at a path. An absent one selects nothing.
    Selector(&'static str, Empty),
    /// By a plain map of labels at a path. An empty one selects nothing.
    Labels(&'static str),
    /// By the name in a label of the object.
    Label(&'static str),
    /// By the name in an annotation of the object.
    Annotation(&'static str),
    /// By a function, for fields that need more than a path.
    Computed(fn(Value<'_>, &ObjectRef) -> Vec<Found>),
    /// By the entries of an inventory. The objects are its members.
    Inventory(&'static InventoryShape),
}

/// What an empty selector means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Empty {
    /// It selects every object of the kind.
    All,
    /// It selects nothing.
    Nothing,
}

/// The type of the other object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    /// Always this `GROUP/KIND`.
    Kind(&'static str),
    /// The `kind` and `apiVersion`, `apiGroup` or `group` beside the name. The first of these is the default, and a trace
    /// looks for references to all of them.
    Reference(&'static [&'static str]),
    /// Whatever type the object names.
    Any,
}

/// When a view needs the other object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Always: the object's own status says nothing about it.
    Always,
    /// While the object is not Current. A Current object has found everything it needs.
    Unwell,
    /// Only to show what an object is connected to. It never matters to the object's state.
    Trace,
}

/// What it means for an object if the other one does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfAbsent {
    /// It cannot work.
    Fails,
    /// It works in part, or a controller creates the other object later.
    Delays,
    /// Nothing.
    Works,
}

/// From which end a trace follows a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follow {
    /// A trace follows it from both ends.
    Both,
    /// A trace follows it from the other end, and from the object with the field only if it traces that object. Many
    /// objects share the other one.
    Root,
    /// A trace follows it from the object with the field alone, if it traces that object. The other end has a shorter way.
    Own,
    /// A trace follows it from the other end alone, and no further. Each object has this relation.
    Back,
    /// A trace follows it from the object with the field. From the other end, it does so only if the user names the
    /// relation, because it must read the kinds in the whole cluster.
    Forth,
}

/// Defines a table of relations.
macro_rules! relations {
    ($table:ident: $($name:literal: $from:literal $direction:ident $read:expr => $to:expr, $tier:ident $if_absent:ident $follow:ident;)*) => {
        pub(super) static $table: &[$crate::graph::relations::Relation] = &[$($crate::graph::relations::Relation {
            name: $name,
            from: $from,
            direction: $crate::graph::relations::Direction::$direction,
            read: $read,
            to: $to,
            tier: $crate::graph::relations::Tier::$tier,
            if_absent: $crate::graph::relations::IfAbsent::$if_absent,
            follow: $crate::graph::relations::Follow::$follow,
        },)*];
    };
}
use relations;

/// All relations, in the order of the tables.
pub(super) fn all() -> impl Iterator<Item = &'static Relation> {
    let tables = kubernetes::TABLES.iter().copied();
    let tables = tables.chain([kubernetes::TABLE, custom::TABLE]);
    tables.flatten()
}

/// The names of all relations, sorted.
pub fn relation_names() -> Vec<&'static str> {
    let names: BTreeSet<&str> = all().map(|relation| relation.name).collect();
    names.into_iter().collect()
}

/// The relations of objects of a kind.
pub(super) fn relations_of(kind: &GroupKind) -> impl Iterator<Item = &'static Relation> {
    static BY_KIND: LazyLock<BTreeMap<(&str, &str), Vec<&Relation>>> = LazyLock::new(|| {
        let mut by_kind: BTreeMap<_, Vec<&Relation>> = BTreeMap::new();
        for relation in all() {
            by_kind
                .entry(split(relation.from))
                .or_default()
                .push(relation);
        }
        by_kind
    });
    let of = |kind| BY_KIND.get(&kind).into_iter().flatten().copied();
    of((&*kind.group, &*kind.kind)).chain(of(("", ANY)))
}

/// Whether objects of this kind may be inventories.
pub fn may_list_members(kind: &GroupKind) -> bool {
    relations_of(kind).any(Relation::lists_members)
}

pub(super) fn owner() -> &'static Relation {
    let owner = |relation: &&Relation| matches!(relation.read, Read::OwnerUid);
    all().find(owner).expect("the table has it")
}

impl Relation {
    /// The field that states the relation: `spec.volumes[].configMap.name`.
    pub fn via(&self) -> String {
        match self.read {
            Read::OwnerUid => "metadata.ownerReferences".to_owned(),
            Read::Name("", key) => key.to_owned(),
            Read::Name(path, key) | Read::Certificate(path, key) => format!("{path}.{key}"),
            Read::Webhooks(_) => "webhooks[].clientConfig.service.name".to_owned(),
            Read::Selector(path, _) | Read::Labels(path) => path.to_owned(),
            Read::Label(key) => format!("metadata.labels[{key}]"),
            Read::Annotation(key) => format!("metadata.annotations[{key}]"),
            Read::Computed(_) => "spec".to_owned(),
            Read::Inventory(shape) => shape.path(),
        }
    }

    /// Whether it may lead to an object of this kind.
    pub(super) fn may_lead_to(&self, kind: &GroupKind) -> bool {
        let is_it = |to| split(to) == (&*kind.group, &*kind.kind);
        match self.to {
            To::Kind(to) => is_it(to),
            To::Reference(kinds) => kinds.iter().any(|to| is_it(to)),
            To::Any => false,
        }
    }
}

/// A row equals only itself: two rows for one field may differ in what an absent object means.
impl PartialEq for Relation {
    fn eq(&self, other: &Relation) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Relation {}

/// The type in `apps/Deployment`, or in `Pod` of the core group.
pub(super) fn group_kind(text: &str) -> GroupKind {
    let (group, kind) = split(text);
    GroupKind::new(group, kind)
}

/// The group and the kind of `GROUP/KIND`. `KIND` alone is of the core group.
pub(super) fn split(text: &str) -> (&str, &str) {
    text.rsplit_once('/').unwrap_or(("", text))
}

impl Relation {
    /// Whether another row states the same relation by the same field.
    pub(super) fn is_same_field(&self, other: &Relation) -> bool {
        let is_alike = self.name == other.name && self.from == other.from;
        self == other || is_alike && self.via() == other.via()
    }

    /// Whether the other objects are the members of an inventory.
    pub fn lists_members(&self) -> bool {
        matches!(self.read, Read::Inventory(_))
    }

    /// Whether it finds other objects by their labels.
    pub(super) fn selects(&self) -> bool {
        match self.read {
            Read::Selector(..) | Read::Labels(_) => true,
            Read::OwnerUid
            | Read::Name(..)
            | Read::Certificate(..)
            | Read::Webhooks(_)
            | Read::Label(_)
            | Read::Annotation(_)
            | Read::Computed(_)
            | Read::Inventory(_) => false,
        }
    }

    /// The selection of the objects that name another in this field. The API selects Pods by two of their fields
    /// (<https://kubernetes.io/docs/concepts/overview/working-with-objects/field-selectors/>).
    pub(super) fn field(&self, name: &Arc<str>) -> Select {
        match (self.from, self.read) {
            ("Pod", Read::Name("spec", key @ ("nodeName" | "serviceAccountName"))) => {
                Select::matching(None, Some(&format!("spec.{key}={name}")))
            }
            _ => Select::All,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_relation_that_a_rule_asks_for_is_in_the_table() {
        use KnownRelation::{Certificate, Claim, Node, PullSecret, StorageClass, Volume, Webhook};
        for known in [
            Certificate,
            Claim,
            Node,
            PullSecret,
            StorageClass,
            Volume,
            Webhook,
        ] {
            assert!(all().any(|relation| relation.is(known)), "{known:?}");
        }
    }
}
