//! What keeps a namespace that is being deleted: the objects in it that are not gone. Its controller reports their kinds and
//! finalizers, and counts them (<https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/>).

use crate::graph::Node;
use crate::model::around::Around;
use crate::object::{Doc, condition, counted};
use crate::source::{Form, Select, SourceKey};
use crate::status::{Cause, CauseRule};

/// The most objects of a kind that are read to name those which remain.
const MAX_READ: usize = 100;

/// The most of these objects that are named.
const MAX_NAMED: usize = 3;

/// The most namespaces that are explained without their names. Many may be stuck, and other rules read sources, too.
const MAX_NAMESPACES: usize = 2;

/// The sources of the objects that remain in a namespace, of the kinds whose objects no view shows. Only the metadata is read,
/// except of Pods: they may have no finalizers and wait for their node.
pub(in crate::model) fn remaining_sources(around: Around<'_>, namespace: &Node) -> Vec<SourceKey> {
    let cluster = around.cluster_of(&namespace.uid);
    let Some((cluster, doc)) = cluster.zip(around.doc(&namespace.uid)) else {
        return Vec::new();
    };
    if !is_explained(around, namespace) {
        return Vec::new();
    }
    let reported = remaining(&doc);
    let few = reported.iter().filter(|kind| kind.count <= MAX_READ);
    let mut read: Vec<_> = few.map(|kind| (&*kind.plural, &*kind.group)).collect();
    // The controller does not report Pods in their grace period.
    let has_pods = reported.iter().any(RemainingKind::is_pods);
    if around.is_of_few() && is_ending(&doc) && !has_pods {
        read.push(("pods", ""));
    }
    let resources = read.into_iter().filter_map(|(plural, group)| {
        let resource = around.types().of_plural(group, plural)?;
        (&*resource.kind != "Event").then(|| resource.clone())
    });
    let sources = resources.filter_map(|resource| {
        let name = Some(namespace.object.name.clone());
        let whole = SourceKey::of(cluster, resource, name, Select::All);
        let mut shown = whole.wider().into_iter().chain([whole.clone()]);
        let is_shown = shown
            .any(|source| around.coverage().follows(&source) && !around.evidence().is_of(&source));
        let form = if &*whole.resource.kind == "Pod" {
            Form::Full
        } else {
            Form::Metadata
        };
        (!is_shown).then_some(SourceKey { form, ..whole })
    });
    sources.collect()
}

/// The objects that keep a namespace. Those that wait for finalizers come first.
pub(in crate::model) fn remaining_facts(around: Around<'_>, namespace: &Node) -> Vec<Cause> {
    let sources = remaining_sources(around, namespace);
    let left = sources
        .iter()
        .flat_map(|source| around.evidence().being_deleted(source));
    let mut left: Vec<(bool, String)> = left
        .map(|(object, finalizers)| match &*finalizers {
            "" => (true, format!("{object} is being deleted")),
            finalizers => (
                false,
                format!("{object} waits for finalizers: {finalizers}"),
            ),
        })
        .collect();
    left.sort();
    let more = left.len().saturating_sub(MAX_NAMED);
    let named = left.into_iter().take(MAX_NAMED);
    let mut facts: Vec<Cause> = named
        .map(|(_, text)| Cause::new(CauseRule::NamespaceDeletion, text))
        .collect();
    if more > 0 {
        let text = format!(
            "{} being deleted",
            counted(more, "more object is", "more objects are")
        );
        facts.push(Cause::new(CauseRule::NamespaceDeletion, text));
    }
    facts
}

/// Whether what keeps a namespace is read: it is among a few, or one of the first that are not well.
fn is_explained(around: Around<'_>, namespace: &Node) -> bool {
    let is_namespace = |node: &&Node| {
        node.object.kind == namespace.object.kind && node.object.group() == namespace.object.group()
    };
    let unwell = around.unwell().iter();
    let unwell = unwell.filter_map(|uid| around.graph().node(uid));
    let mut first = unwell.filter(is_namespace).take(MAX_NAMESPACES);
    around.is_of_few() || first.any(|node| node.uid == namespace.uid)
}

fn is_ending(object: &Doc) -> bool {
    let path = ["metadata", "deletionTimestamp"];
    object.root().at(&path).is_some()
}

/// A kind whose objects remain in a namespace.
struct RemainingKind {
    plural: String,
    group: String,
    /// How many of them there are.
    count: usize,
}

impl RemainingKind {
    fn is_pods(&self) -> bool {
        self.plural == "pods" && self.group.is_empty()
    }
}

/// The kinds of which objects remain, as the controller reports them: `Some resources are remaining: configmaps. has 1
/// resource instances, widgets.example.com has 2 resource instances`.
fn remaining(namespace: &Doc) -> Vec<RemainingKind> {
    let condition = condition(namespace.root(), "NamespaceContentRemaining");
    let condition = condition.filter(|condition| condition.status == "True");
    let message = condition.map(|condition| condition.message.into_owned());
    let message = message.unwrap_or_default();
    let parts = message.split_once(": ").map_or("", |(_, parts)| parts);
    let kinds = parts.split(", ").filter_map(|part| {
        let (name, count) = part.split_once(" has ")?;
        let count: usize = count.split(' ').next()?.parse().ok()?;
        let (plural, group) = name.split_once('.')?;
        Some(RemainingKind {
            plural: plural.to_owned(),
            group: group.to_owned(),
            count,
        })
    });
    kinds.collect()
}

#[cfg(test)]
mod tests {
    use crate::model::evidence_sources::evidence_sources;
    use crate::model::rules::tests::Read;

    const STUCK: &str = "{apiVersion: v1, kind: Namespace, metadata: {name: shop, deletionTimestamp: '2020-01-01T00:00:00Z'}, spec: {finalizers: [kubernetes]}, status: {phase: Terminating, conditions: [{type: NamespaceContentRemaining, status: 'True', reason: SomeResourcesRemain, message: 'Some resources are remaining: configmaps. has 5 resource instances, pods. has 1 resource instances, secrets. has 900 resource instances'}]}}";

    fn object(kind: &str, name: &str, metadata: &str) -> String {
        format!(
            "{{apiVersion: v1, kind: {kind}, metadata: {{name: {name}, namespace: shop{metadata}}}}}"
        )
    }

    #[test]
    fn a_namespace_names_the_objects_that_keep_it() {
        let mut read = Read::for_status(STUCK);
        let reported = "Terminating\nNamespaceDeletion: SomeResourcesRemain: Some resources are remaining: configmaps. has 5 resource instances, pods. has 1 resource instances, secrets. has 900 resource instances";
        assert_eq!(read.state("shop"), reported);
        let held = ", deletionTimestamp: '2020-01-01T00:00:00Z', finalizers: [example.com/hold]";
        let gone = ", deletionTimestamp: '2020-01-01T00:00:00Z'";
        let mut objects = vec![
            object("Pod", "web", gone),
            object("ConfigMap", "a", held),
            object("ConfigMap", "kept", ", finalizers: [example.com/hold]"),
            object("Secret", "unread", held),
        ];
        let named = "\nNamespaceDeletion: configmap/a waits for finalizers: example.com/hold";
        let web = "\nNamespaceDeletion: pod/web is being deleted";
        read.explain(&objects);
        assert_eq!(read.state("shop"), format!("{reported}{named}{web}"));
        objects.extend(["b", "c", "d"].map(|name| object("ConfigMap", name, held)));
        let mut read = Read::for_status(STUCK);
        let state = read.explain(&objects).state("shop");
        let more = "\nNamespaceDeletion: 2 more objects are being deleted";
        assert!(state.contains(named) && state.ends_with(more), "{state}");
    }

    #[test]
    fn a_named_namespace_names_its_pods_although_none_are_reported() {
        let stuck = STUCK.replace("status: 'True'", "status: 'False'");
        let web = object("Pod", "web", ", deletionTimestamp: '2020-01-01T00:00:00Z'");
        let named = "NamespaceDeletion: pod/web is being deleted";
        let mut read = Read::of(&stuck);
        let state = read.explain(std::slice::from_ref(&web)).state("shop");
        assert!(state.contains(named), "{state}");
        let mut read = Read::for_status(&stuck);
        let state = read.explain(std::slice::from_ref(&web)).state("shop");
        assert!(!state.contains(named), "{state}");
        let many = STUCK.replace("pods. has 1 ", "pods. has 900 ");
        let mut read = Read::of(&many);
        let state = read.explain(&[web]).state("shop");
        assert!(!state.contains(named), "{state}");
    }

    #[test]
    fn many_stuck_namespaces_leave_sources_for_other_rules() {
        let stuck =
            ["a", "b", "c"].map(|name| STUCK.replace("name: shop", &format!("name: {name}")));
        let explained = |read: &Read| {
            let sources = evidence_sources(read.model.around());
            let config_maps = sources
                .iter()
                .filter(|it| &*it.resource.kind == "ConfigMap");
            let namespaces = config_maps.filter_map(|it| it.namespace().map(str::to_owned));
            namespaces.collect::<Vec<_>>().concat()
        };
        let stuck = stuck.join("\n---\n");
        assert_eq!(explained(&Read::for_status(&stuck)), "ab");
        assert_eq!(explained(&Read::of(&stuck)), "abc");
    }
}
