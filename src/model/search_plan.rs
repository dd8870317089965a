//! Where to look for what custom resources own: in which kinds, in the order of their likelihood, and in which namespaces.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::graph::Node;
use crate::object::{GroupKind, Resource, Uid, Value, is_kubernetes_own};
use crate::source::{ClusterId, Form, Select, SourceKey};

use super::around::Around;
use super::search::SearchPlan;

/// The most lists of a search. Each costs a watch, too.
pub(super) const MAX_LISTS: usize = 100;

/// The plan to look for the dependents of custom resources, in all kinds of their namespaces that are not `read` anyway.
/// Objects in no namespace may have dependents in all.
pub(super) fn search_plan(
    around: Around<'_>,
    roots: &BTreeSet<Uid>,
    is_read: impl Fn(&SourceKey, &BTreeSet<&Uid>) -> bool,
) -> SearchPlan {
    let places = OwnerPlaces::of(around, roots);
    if places.owners.is_empty() {
        return SearchPlan::default();
    }
    let mut kinds: Vec<&Resource> = around.types().all().collect();
    kinds.retain(|kind| may_have_owners(kind));
    kinds.sort_by_key(|kind| places.rank(kind));
    let mut plan = SearchPlan::default();
    for kind in kinds {
        for ((cluster, namespace), owners) in &places.owners {
            if namespace.is_some() && !kind.namespaced {
                continue;
            }
            let all = SourceKey::of(cluster, kind.clone(), namespace.cloned(), Select::All);
            match () {
                () if is_read(&all, owners) => {}
                () if plan.sources.len() < MAX_LISTS => plan.sources.push(SourceKey {
                    form: Form::Metadata,
                    ..all
                }),
                () => drop(plan.beyond.insert(kind.group_kind())),
            }
        }
    }
    let owners = around.graph().with_below(roots);
    let is_custom = |uid: &Uid| around.graph().node(uid).is_some_and(Node::is_custom);
    plan.owners = owners.into_iter().filter(|uid| is_custom(uid)).collect();
    plan
}

/// The places of owners, and what tells where their dependents are.
struct OwnerPlaces<'m> {
    /// The owners in each namespace of a cluster, or anywhere in it.
    owners: BTreeMap<(&'m ClusterId, Option<&'m Arc<str>>), BTreeSet<&'m Uid>>,
    /// The kinds that they name.
    named: BTreeSet<GroupKind>,
    /// Their API groups.
    groups: BTreeSet<&'m str>,
}

impl<'m> OwnerPlaces<'m> {
    /// The places of these owners. A place that is everywhere includes the namespaces.
    fn of(around: Around<'m>, owners: &'m BTreeSet<Uid>) -> OwnerPlaces<'m> {
        let mut places = OwnerPlaces {
            owners: BTreeMap::new(),
            named: BTreeSet::new(),
            groups: BTreeSet::new(),
        };
        for uid in owners {
            let (Some(node), Some(cluster)) = (around.graph().node(uid), around.cluster_of(uid))
            else {
                continue;
            };
            let place = (cluster, node.object.namespace.as_ref());
            places.owners.entry(place).or_default().insert(uid);
            places.groups.insert(node.object.group());
            if let Some(doc) = around.doc(uid) {
                add_named_kinds(doc.root(), &mut places.named);
            }
        }
        let everywhere = places.owners.keys();
        let everywhere = everywhere.filter(|(_, namespace)| namespace.is_none());
        let everywhere: BTreeSet<&ClusterId> = everywhere.map(|(cluster, _)| *cluster).collect();
        places
            .owners
            .retain(|(cluster, namespace), _| namespace.is_none() || !everywhere.contains(cluster));
        places
    }

    /// The rank of a kind: those that are most likely to have dependents come first.
    fn rank(&self, kind: &Resource) -> (bool, bool, bool) {
        let is_named = self.named.contains(&kind.group_kind());
        let is_of_group = self.groups.contains(&*kind.group);
        (!is_named, !is_of_group, !is_kubernetes_own(&kind.group))
    }
}

/// Whether objects of a kind may have owners that matter. Events and Leases are about others and have no state. Metrics are
/// computed for each request.
fn may_have_owners(kind: &Resource) -> bool {
    let is_metric = kind.group.ends_with("metrics.k8s.io");
    !is_metric
        && !matches!(
            (&*kind.group, &*kind.kind),
            ("" | "events.k8s.io", "Event") | ("coordination.k8s.io", "Lease")
        )
}

/// Adds the kinds that an object names anywhere in its fields, as an `apiVersion` beside a `kind`.
fn add_named_kinds(object: Value<'_>, kinds: &mut BTreeSet<GroupKind>) {
    let mut open: Vec<Value<'_>> = object.fields().map(|(_, field)| field).collect();
    while let Some(value) = open.pop() {
        if let (Some(version), Some(kind)) =
            (value.str_at(&["apiVersion"]), value.text_at(&["kind"]))
        {
            let group = version.rsplit_once('/').map_or("", |(group, _)| group);
            let group = group.into();
            kinds.insert(GroupKind { group, kind });
        }
        open.extend(value.fields().map(|(_, field)| field));
        open.extend(value.items());
    }
}
