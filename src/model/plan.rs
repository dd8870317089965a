//! `JudgementPlan`: the sources that decide and explain the states of objects, beside the sources of the objects
//! themselves. Every verb that judges objects follows the same plan, so that all come to the same judgement.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::graph::{
    Facts, Graph, Lookup, MemberPlan, Node, ReferenceTarget, Tier, may_list_members, member_plan,
    one_per_source, owned_lookups,
};
use crate::object::Uid;
use crate::source::{ClusterId, SourceKey};

use super::around::Around;
use super::evidence_sources::evidence_sources;
use super::lookups::is_custom;
use super::rules::gateways::class_sources;
use super::rules::references::reference_sources;
use super::search::SearchPlan;
use super::search_plan::search_plan;
use crate::model::rules::services::service_sources;

/// How many of the objects that other objects name a view reads by their names. Each costs a list and a watch. More are found
/// in lists.
const MAX_REFERENCES: usize = 24;

/// How many of the inventories that are not named have their members read.
const MAX_INVENTORIES: usize = 4;

/// Of how many objects in a namespace the dependents are read by their selectors.
const MAX_SELECTORS: usize = 8;

/// How many workloads a trace reads the Pods of one by one, besides those that it shows with their Pods.
const MAX_WORKLOADS: usize = 8;

/// The sources around objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JudgementPlan {
    /// The endpoints of Services, and the objects that others name.
    neighbours: Vec<SourceKey>,
    /// What explains an object that is not well.
    pub(super) evidence: Vec<SourceKey>,
    /// The sources that may have dependents of custom resources.
    lookups: Vec<Lookup>,
    /// The members of inventories.
    pub(super) members: MemberPlan,
    /// The dependents that the search has found.
    found: MemberPlan,
    /// The search for dependents in kinds that nothing else reads.
    pub(super) search: SearchPlan,
    /// How many inventories there are whose members are not read.
    pub unread_inventories: usize,
}

impl JudgementPlan {
    /// Whether the judgement of a requested source depends on the types that the cluster serves. It has custom resources,
    /// whose kinds may have a status. Or it selects one object by its name that may list or name objects of custom kinds:
    /// a `ConfigMap`, which may be an inventory, a `PersistentVolumeClaim`, which may be restored from a snapshot, or a
    /// Namespace, which such objects may keep.
    pub fn needs_types(requested: &SourceKey) -> bool {
        let kind = &*requested.resource.kind;
        let may_name = ["ConfigMap", "PersistentVolumeClaim", "Namespace"].contains(&kind);
        is_custom(requested) || (may_name && requested.select.name().is_some())
    }

    /// Whether a source may have custom resources that list members.
    pub fn may_have_inventories(requested: &SourceKey) -> bool {
        is_custom(requested) && may_list_members(&requested.resource.group_kind())
    }

    /// The sources to follow, without those to look through.
    pub(super) fn sources(&self) -> impl Iterator<Item = &SourceKey> {
        let decisive = self.members.sources.iter().chain(&self.found.sources);
        decisive.chain(&self.neighbours)
    }

    /// The sources to look through.
    pub(super) fn lookups(&self) -> impl Iterator<Item = &Lookup> {
        let lookups = self.lookups.iter().chain(&self.members.lookups);
        lookups.chain(&self.found.lookups)
    }

    /// Whether a source has members of inventories or dependents that were found, which decide the states of others.
    pub fn decides(&self, source: &SourceKey) -> bool {
        self.members.sources.contains(source) || self.found.sources.contains(source)
    }

    /// Whether a source is in the plan.
    pub fn contains(&self, source: &SourceKey) -> bool {
        let mut looked_through = self.lookups().map(|lookup| &lookup.source);
        looked_through.any(|other| other == source)
            || self.sources().any(|own| own == source)
            || self.evidence.contains(source)
    }
}

/// The plan for the objects as of the last refresh, which has [`below_plan`] of the `named` ones.
pub(super) fn judgement_plan<'u>(
    around: Around<'_>,
    named: impl Iterator<Item = (&'u Uid, &'u ClusterId)>,
) -> JudgementPlan {
    let mut neighbours = service_sources(around);
    let named_sources = reference_sources(around);
    let mut lookups = Vec::new();
    if named_sources.len() <= MAX_REFERENCES {
        neighbours.extend(named_sources);
    } else {
        lookups = lists_with(&named_sources);
    }
    neighbours.extend(unwell_workload_sources(around));
    neighbours.extend(class_sources(around));
    let below = below_plan(around, named);
    lookups.extend(below.lookups);
    JudgementPlan {
        neighbours,
        lookups,
        evidence: evidence_sources(around),
        ..below
    }
}

/// The part of a plan that leads to the dependents of custom resources and the members of inventories. The named objects of
/// the clusters may be gone already.
pub(super) fn below_plan<'u>(
    around: Around<'_>,
    named: impl Iterator<Item = (&'u Uid, &'u ClusterId)>,
) -> JudgementPlan {
    let named: Vec<(&Uid, &ClusterId)> = named.collect();
    let (graph, types) = (around.graph(), around.types());
    let mut plan = JudgementPlan {
        lookups: owned_lookups(graph, named.iter().copied(), types),
        ..JudgementPlan::default()
    };
    let mut inventories = named;
    inventories.retain(|(uid, _)| graph.is_inventory(uid));
    // The plan for one has the inventories below it, too.
    let tops = graph.tops(inventories.iter().map(|(uid, _)| *uid));
    let tops: BTreeSet<&Uid> = tops.into_iter().collect();
    inventories.retain(|(uid, _)| tops.contains(uid));
    for (uid, cluster) in inventories {
        plan.members.add(member_plan(graph, uid, cluster, types));
    }
    plan
}

/// The plan that also reads the members of the first few of these objects that are inventories.
#[must_use]
pub(super) fn plan_members<'u>(
    around: Around<'_>,
    plan: JudgementPlan,
    listed: impl Iterator<Item = (&'u Uid, &'u ClusterId)>,
) -> JudgementPlan {
    let mut plan = plan;
    let mut inventories = listed.filter(|(uid, _)| around.graph().is_inventory(uid));
    for (uid, cluster) in inventories.by_ref().take(MAX_INVENTORIES) {
        let members = member_plan(around.graph(), uid, cluster, around.types());
        plan.members.add(members);
    }
    plan.unread_inventories = inventories.count();
    plan
}

/// The custom resources among these objects whose dependents may be in kinds that nobody requested.
pub(super) fn searched_owners<'u>(
    around: Around<'_>,
    uids: &[&'u Uid],
    is_requested: impl Fn(&SourceKey) -> bool,
) -> BTreeSet<&'u Uid> {
    let graph = around.graph();
    let mut places: BTreeMap<_, BTreeSet<&Uid>> = BTreeMap::new();
    for uid in uids {
        let node = graph.node(uid);
        if let Some(node) = node.filter(|node| owns_others(graph, node)) {
            let of_place = places.entry(&node.object.namespace).or_default();
            of_place.insert(uid);
        }
    }
    let is_read = |source: &SourceKey, _: &BTreeSet<&Uid>| is_requested(source);
    places.retain(|_, owners| {
        let first = owners.first().map(|uid| Uid::clone(uid));
        let first: BTreeSet<Uid> = first.into_iter().collect();
        !search_plan(around, &first, is_read).is_empty()
    });
    places.into_values().flatten().collect()
}

/// The plan that also looks for the dependents of these objects, and of the custom members of inventories, in the kinds that
/// nothing else reads, and reads those that were found.
#[must_use]
pub(super) fn plan_search<'u>(
    around: Around<'_>,
    plan: JudgementPlan,
    roots: impl Iterator<Item = &'u Uid>,
    is_requested: impl Fn(&SourceKey) -> bool,
) -> JudgementPlan {
    let mut plan = plan;
    let is_owner = |uid: &&Uid| {
        let node = around.graph().node(uid);
        node.is_some_and(|node| owns_others(around.graph(), node))
    };
    let mut owners = plan.members.owners.clone();
    owners.extend(roots.filter(is_owner).cloned());
    let is_read = |source: &SourceKey, owners: &BTreeSet<&Uid>| {
        let is_looked_through =
            |lookup: &Lookup| lookup.source == *source && lookup.looks_below(owners);
        is_requested(source) || plan.lookups().any(is_looked_through)
    };
    let search = search_plan(around, &owners, is_read);
    for (cluster, named) in around.search().found(&search.owners) {
        plan.found
            .add(MemberPlan::of_named(named, cluster, around.types()));
    }
    plan.search = search;
    plan
}

/// The sources of the dependents of workloads that are not well, in a trace: one of a namespace shows its workloads
/// without their Pods. Those of many workloads are read whole. Only its Jobs say whether a `CronJob` is well.
fn unwell_workload_sources(around: Around<'_>) -> Vec<SourceKey> {
    if around.links_upto() != Tier::Trace {
        return Vec::new();
    }
    let nodes = around
        .objects()
        .map(|(uid, _)| uid)
        .filter_map(|uid| around.graph().node(uid));
    let workloads = nodes.filter(|node| match node.facts {
        Facts::Workload(_) => node.owners.is_empty() && around.unwell().contains(&node.uid),
        _ => &*node.object.kind == "CronJob",
    });
    let workloads: Vec<&Node> = workloads.collect();
    let sources = workloads.iter().filter_map(|node| {
        let cluster = around.cluster_of(&node.uid)?;
        Some(node.dependent_sources(cluster))
    });
    let mut sources: Vec<SourceKey> = sources.flatten().collect();
    if workloads.len() > MAX_WORKLOADS {
        sources = sources.iter().map(SourceKey::of_all).collect();
        let mut seen = HashSet::new();
        sources.retain(|source| seen.insert(source.clone()));
    }
    sources
}

/// The sources that show the dependents of objects; of custom resources, those of the dependents found so far.
pub(super) fn dependent_sources<'u>(
    around: Around<'_>,
    roots: impl IntoIterator<Item = (&'u Uid, &'u ClusterId)>,
) -> Vec<SourceKey> {
    let graph = around.graph();
    let mut sources = Vec::new();
    let mut seen: BTreeSet<Uid> = BTreeSet::new();
    for (uid, cluster) in roots {
        let Some(node) = graph.node(uid) else {
            continue;
        };
        sources.extend(node.dependent_sources(cluster));
        if !owns_others(graph, node) || seen.contains(uid) {
            continue;
        }
        for (_, below) in graph.tree_beyond(uid, |uid| seen.contains(uid)) {
            let node = graph.node(&below).into_iter();
            sources.extend(node.flat_map(|node| node.dependent_sources(cluster)));
            seen.insert(below);
        }
    }
    sources
}

/// The sources that show the Pods below objects, and those that their Services select.
pub(super) fn pod_sources(around: Around<'_>, roots: &[(&Uid, &ClusterId)]) -> Vec<SourceKey> {
    let mut sources = dependent_sources(around, roots.iter().copied());
    for (root, cluster) in roots {
        let below = around.graph().with_below([*root]);
        let below = below.iter().filter_map(|uid| around.graph().node(uid));
        sources.extend(below.filter_map(|node| node.selected_pods_source(cluster)));
    }
    sources
}

/// These sources, of which many of one namespace give way to the list of all their objects. Those that are followed already stay
/// until the list is read, and the list stays as long as one of them is wanted.
pub(super) fn in_lists(
    sources: Vec<SourceKey>,
    followed: &[SourceKey],
    is_read: impl Fn(&SourceKey) -> bool,
) -> Vec<SourceKey> {
    let lists = SourceKey::by_list(sources).into_iter();
    let lists = lists.flat_map(|(list, mut selected)| {
        if selected.len() <= MAX_SELECTORS && !followed.contains(&list) {
            return selected;
        }
        let is_read = is_read(&list);
        selected.retain(|source| *source != list && !is_read && followed.contains(source));
        selected.push(list);
        selected
    });
    lists.collect()
}

/// Those of these objects whose dependents some source shows, beside the sources that are left out.
pub(super) fn with_dependent_sources<'u>(
    around: Around<'_>,
    roots: &BTreeSet<&'u Uid>,
    cluster: &ClusterId,
    is_left_out: impl Fn(&SourceKey) -> bool,
) -> BTreeSet<&'u Uid> {
    let graph = around.graph();
    let has_sources = |uid: &Uid| {
        let sources = graph.node(uid).map(|node| node.dependent_sources(cluster));
        let mut sources = sources.into_iter().flatten();
        sources.any(|source| !is_left_out(&source))
    };
    let (deep, flat): (Vec<&Uid>, Vec<&Uid>) = roots.iter().partition(|uid| {
        let node = graph.node(uid);
        node.is_some_and(|node| owns_others(graph, node))
    });
    let below = graph.with_below(deep.iter().copied());
    let above = graph.with_above(below.iter().filter(|uid| has_sources(uid)));
    let deep = deep.into_iter().filter(|uid| above.contains(*uid));
    let flat = flat.into_iter().filter(|uid| has_sources(uid));
    deep.chain(flat).collect()
}

/// Whether an object may own others of any kind: a custom resource may. What is below an inventory is not its own.
fn owns_others(graph: &Graph, node: &Node) -> bool {
    node.is_custom() && !graph.is_inventory(&node.uid)
}

/// The lists that have these named objects, at most [`MAX_REFERENCES`]: one for each kind and namespace or, if that is too
/// many, one for each kind. The first named objects come first.
fn lists_with(named: &[SourceKey]) -> Vec<Lookup> {
    let of_namespaces = listed_by(named, |[namespace, _]| namespace);
    if of_namespaces.len() <= MAX_REFERENCES {
        return of_namespaces;
    }
    let mut of_kinds = listed_by(named, |[_, cluster]| cluster);
    of_kinds.truncate(MAX_REFERENCES);
    of_kinds
}

fn listed_by(named: &[SourceKey], choose: impl Fn([SourceKey; 2]) -> SourceKey) -> Vec<Lookup> {
    let lookups = named.iter().filter_map(|source| {
        let target = ReferenceTarget::of(&source.named_object()?);
        let list = choose(source.wider());
        Some(Lookup::for_named(list, BTreeSet::from([target])))
    });
    one_per_source(lookups.collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::model::rules::tests::Read;
    use crate::model::tests::at;
    use crate::object::Uid;
    use crate::source::{Event, SourceKey};

    /// Role bindings in as many namespaces as this.
    fn bindings(namespaces: usize, count: usize) -> String {
        let binding = |n: usize| {
            let namespace = n % namespaces;
            format!(
                "{{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {{name: b{n}, namespace: shop-{namespace}}}, roleRef: {{kind: Role, name: r{n}}}}}"
            )
        };
        let bindings: Vec<String> = (0..count).map(binding).collect();
        bindings.join("\n---\n")
    }

    #[test]
    fn many_named_objects_are_found_in_lists() {
        for (namespaces, count, named, lists) in [
            (30, 24, 24, vec![]),
            (1, 25, 0, vec!["shop-0"]),
            (30, 30, 0, vec!["all"]),
        ] {
            let read = Read::for_status(&bindings(namespaces, count));
            let plan = crate::model::plan::judgement_plan(
                read.model.around(),
                std::iter::empty::<(&Uid, _)>(),
            );
            let of_roles = |source: &&SourceKey| &*source.resource.plural == "roles";
            assert_eq!(plan.neighbours.iter().filter(of_roles).count(), named);
            let found = plan.lookups.iter().map(|lookup| &lookup.source);
            let found = found
                .filter(of_roles)
                .map(|source| source.namespace().unwrap_or("all"));
            assert_eq!(found.collect::<Vec<_>>(), lists, "{count}");
        }
    }

    #[test]
    fn what_a_plan_makes_the_model_read_does_not_change_the_plan() {
        let pod = |n: usize| {
            format!(
                "{{apiVersion: v1, kind: Pod, metadata: {{name: p{n}, namespace: shop-{n}}}, spec: {{containers: [{{name: a, envFrom: [{{secretRef: {{name: s}}}}]}}]}}, status: {{phase: Pending, containerStatuses: [{{name: a, state: {{waiting: {{reason: CreateContainerConfigError}}}}}}]}}}}"
            )
        };
        let pods: Vec<String> = (0..30).map(pod).collect();
        let mut read = Read::for_status(&pods.join("\n---\n"));
        let own: Vec<SourceKey> = read.model.coverage().sources().cloned().collect();
        let plan = |read: &Read| {
            crate::model::plan::judgement_plan(read.model.around(), std::iter::empty::<(&Uid, _)>())
        };
        let first = plan(&read);
        read.model.follow_plan(&own, &[], &first);
        for lookup in &first.lookups {
            let source = Arc::new(lookup.source.clone());
            read.model.apply(&source, &Event::synced(0), at(1));
        }
        read.model.refresh(at(1));
        let with_names = plan(&read);
        let is_of_secrets = |source: &SourceKey| &*source.resource.plural == "secrets";
        assert!(with_names.evidence.iter().any(is_of_secrets));
        read.model.follow_plan(&own, &[], &with_names);
        read.model.refresh(at(2));
        assert_eq!(plan(&read), with_names);
    }

    #[test]
    fn a_trace_reads_the_pods_of_workloads_that_are_not_well() {
        let deployment = |name: &str, available: u32| {
            format!(
                "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {name}, namespace: shop}}, spec: {{replicas: 1, selector: {{matchLabels: {{app: {name}}}}}}}, status: {{replicas: 1, updatedReplicas: 1, readyReplicas: {available}, availableReplicas: {available}, conditions: [{{type: Available, status: 'True'}}]}}}}"
            )
        };
        let both = [deployment("good", 1), deployment("bad", 0)].join("\n---\n");
        let many: Vec<String> = (0..9).map(|n| deployment(&format!("bad-{n}"), 0)).collect();
        let cron =
            "{apiVersion: batch/v1, kind: CronJob, metadata: {name: nightly, namespace: shop}}";
        for (read, expected) in [
            (Read::of(&both), "replicasets app=bad, pods app=bad"),
            (Read::of(&many.join("\n---\n")), "replicasets all, pods all"),
            (
                Read::of(cron),
                "jobs all, pods batch.kubernetes.io/job-name",
            ),
            (Read::for_status(&both), ""),
        ] {
            let plan = crate::model::plan::judgement_plan(
                read.model.around(),
                std::iter::empty::<(&Uid, _)>(),
            );
            let sources = plan.neighbours.iter();
            let sources = sources.map(|source| {
                let labels = source.select.label_selector().unwrap_or("all");
                format!("{} {labels}", source.resource.plural)
            });
            assert_eq!(sources.collect::<Vec<_>>().join(", "), expected);
        }
    }
}
