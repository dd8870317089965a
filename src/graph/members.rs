//! The members of inventories: which of them the graph has, and which sources show all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::object::{GroupKind, ServedTypes, Uid};
use crate::source::{ClusterId, SourceKey};

use super::index::Graph;
use super::lookup::Lookup;
use super::node::Node;
use super::plan::{has_dependents, owned_lookups};
use super::reference_target::ReferenceTarget;

/// The most members of one type and namespace that are read by their names. More are found in one list.
const MAX_BY_NAME: usize = 24;
/// The most lists for the members of all inventories below one object. Each costs a watch, too.
pub const MAX_MEMBER_LISTS: usize = 100;
/// The most workloads of one namespace whose dependents are read by their selectors.
const MAX_SELECTORS: usize = 8;
/// The most custom members whose dependents are looked for. Each may need a list for every kind that it can own.
const MAX_CUSTOM: usize = 8;

/// The sources that show the members of inventories and what these own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemberPlan {
    /// The sources that are read whole.
    pub sources: Vec<SourceKey>,
    /// The sources that are looked through.
    pub lookups: Vec<Lookup>,
    /// The inventories whose members are read.
    pub inventories: BTreeSet<Uid>,
    /// The members that are not read, because there are too many.
    pub beyond: BTreeSet<ReferenceTarget>,
    /// The custom members whose dependents are looked for.
    pub owners: BTreeSet<Uid>,
}

impl MemberPlan {
    /// The sources that show these named objects.
    pub fn of_named(
        named: BTreeSet<ReferenceTarget>,
        cluster: &ClusterId,
        types: &ServedTypes,
    ) -> MemberPlan {
        let mut plan = MemberPlan::default();
        plan.read(named, cluster, types);
        plan
    }

    /// Adds the plan for another object.
    pub fn add(&mut self, other: MemberPlan) {
        for source in other.sources {
            if !self.sources.contains(&source) {
                self.sources.push(source);
            }
        }
        self.lookups.extend(other.lookups);
        self.inventories.extend(other.inventories);
        self.beyond.extend(other.beyond);
        self.owners.extend(other.owners);
    }

    /// Reads named objects: a few of one type and namespace by their names, and more in the list of all.
    fn read(
        &mut self,
        targets: BTreeSet<ReferenceTarget>,
        cluster: &ClusterId,
        types: &ServedTypes,
    ) {
        let is_many = targets.len() > MAX_MEMBER_LISTS;
        let mut groups: BTreeMap<(GroupKind, Option<Arc<str>>), BTreeSet<ReferenceTarget>> =
            BTreeMap::new();
        for target in targets {
            let group = (target.kind.clone(), target.namespace.clone());
            groups.entry(group).or_default().insert(target);
        }
        for members in groups.into_values() {
            let by_name = members.len() == 1 || (!is_many && members.len() <= MAX_BY_NAME);
            if by_name {
                for member in members {
                    match member.source(cluster, types) {
                        None => {} // its type is not served
                        Some(source) if self.has_room() => self.sources.push(source),
                        Some(_) => drop(self.beyond.insert(member)),
                    }
                }
                continue;
            }
            let first = members.first();
            let source = first.and_then(|member| member.list_source(cluster, types));
            match source {
                None => {}
                Some(source) if self.has_room() => {
                    self.lookups.push(Lookup::for_named(source, members));
                }
                Some(_) => self.beyond.extend(members),
            }
        }
    }

    fn has_room(&self) -> bool {
        self.sources.len() + self.lookups.len() < MAX_MEMBER_LISTS
    }
}

/// The sources that show the members of an inventory, those of the inventories among them, and what all of them own.
/// More follow when these are read. The plan is empty for other objects. The dependents of many workloads are looked
/// for in the whole namespace.
pub fn member_plan(
    graph: &Graph,
    root: &Uid,
    cluster: &ClusterId,
    types: &ServedTypes,
) -> MemberPlan {
    if !graph.is_inventory(root) {
        return MemberPlan::default();
    }
    let tree = graph.tree(root).into_iter();
    let tree: Vec<&Node> = tree.filter_map(|(_, uid)| graph.node(&uid)).collect();
    let members = || {
        tree.iter()
            .flat_map(|node| graph.member_references(&node.uid))
    };
    let inventories = tree.iter().filter(|node| graph.is_inventory(&node.uid));
    let mut plan = MemberPlan {
        inventories: inventories.map(|node| node.uid.clone()).collect(),
        ..MemberPlan::default()
    };
    let targets = members().map(|member| member.target.clone());
    plan.read(targets.collect(), cluster, types);
    let is_top = |node: &&&Node| graph.owners(&node.uid).all(Node::is_custom);
    let tops = tree.iter().filter(is_top);
    let sources = tops.flat_map(|node| node.dependent_sources(cluster));
    for (list, selected) in SourceKey::by_list(sources) {
        let is_here = |namespace: Option<&str>| namespace == list.namespace();
        // Workloads that are not read yet count, too: the plan does not change when they are.
        let listed = members().filter(|member| {
            is_here(member.target.namespace.as_deref()) && has_dependents(&member.target.kind)
        });
        if selected.len().max(listed.count()) <= MAX_SELECTORS {
            plan.sources.extend(selected);
            continue;
        }
        let workloads = tree
            .iter()
            .filter(|node| node.workload().is_some() && is_here(node.object.namespace.as_deref()));
        let owners = workloads.map(|node| node.uid.clone()).collect();
        let lookup = Lookup::of(list);
        plan.lookups.push(Lookup { owners, ..lookup });
    }
    let is_custom_member = |node: &&&Node| {
        let is_listed = graph.inventories_of(node).next().is_some();
        is_listed && node.is_custom() && !graph.is_inventory(&node.uid)
    };
    let custom = tree.iter().filter(is_custom_member).take(MAX_CUSTOM);
    let owners: Vec<&Uid> = custom.map(|node| &node.uid).collect();
    let roots = owners.iter().map(|uid| (*uid, cluster));
    plan.lookups.extend(owned_lookups(graph, roots, types));
    plan.owners.extend(owners.into_iter().cloned());
    plan
}
