//! The default classes of a cluster: an Ingress that needs one, and classes that are default beside others.

use std::collections::HashSet;

use crate::graph::{Node, well_known};
use crate::object::Uid;
use crate::source::{Select, SourceKey};
use crate::status::{CauseRule, Finding, Rules, Status};

use crate::model::Reading;
use crate::model::around::Around;

/// The annotations that make a class the default one.
const DEFAULTS: [&str; 3] = [
    "ingressclass.kubernetes.io/is-default-class",
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
];

/// The problem of an Ingress without a class in a cluster without a default one. A controller that serves it
/// nevertheless gives it an address.
pub(in crate::model) fn without_class(around: Around<'_>, ingress: &Node) -> Vec<Finding> {
    let classes = ingress_classes(around, &ingress.uid);
    let is_read = classes.is_some_and(|classes| {
        matches!(around.coverage().reading(&classes), Some(Reading::All)) && around.knows_absence()
    });
    let mut known = around.graph().of_kind("IngressClass");
    if !is_read || known.any(|class| is_default_class(around, &class.uid)) {
        return Vec::new();
    }
    let text = "names no ingress class, and the cluster has no default one";
    let finding = Finding::new(CauseRule::DefaultClass, Status::InProgress, text);
    vec![finding]
}

/// The sources of all ingress classes, for the Ingresses without one.
pub(in crate::model) fn class_sources(around: Around<'_>) -> Vec<SourceKey> {
    if around.rules() == Rules::Kstatus {
        return Vec::new();
    }
    let ingresses = around.graph().of_kind("Ingress");
    let sources = ingresses.filter_map(|ingress| ingress_classes(around, &ingress.uid));
    let mut known = HashSet::new();
    sources
        .filter(|source| known.insert(source.clone()))
        .collect()
}

/// The source of the classes that decide whether an Ingress is served; `None` if it names one, or has an address.
fn ingress_classes(around: Around<'_>, ingress: &Uid) -> Option<SourceKey> {
    let doc = around.doc(ingress).filter(|_| around.is_there(ingress))?;
    let root = doc.root();
    let annotation = ["metadata", "annotations", "kubernetes.io/ingress.class"];
    let class = root.text_at(&["spec", "ingressClassName"]);
    let class = class.or_else(|| root.text_at(&annotation));
    let mut addresses = root.items_at(&["status", "loadBalancer", "ingress"]);
    let is_own = root
        .str_at(&["apiVersion"])?
        .starts_with("networking.k8s.io/");
    if !is_own || class.is_some() || addresses.next().is_some() {
        return None;
    }
    let kind = well_known("networking.k8s.io", "IngressClass");
    let cluster = around.cluster_of(ingress)?;
    Some(SourceKey::of(cluster, kind, None, Select::All))
}

/// The note of a default class beside others. Of several storage classes, the newest one counts
/// (<https://kubernetes.io/docs/concepts/storage/storage-classes/#default-storageclass>). With several ingress classes, the
/// API server refuses Ingresses that name none.
pub(in crate::model) fn other_default_classes(around: Around<'_>, class: &Node) -> Vec<Finding> {
    if !is_default_class(around, &class.uid) {
        return Vec::new();
    }
    let kind = match &*class.object.kind {
        "StorageClass" => "StorageClass",
        _ => "IngressClass",
    };
    let others = around.graph().of_kind(kind).filter(|other| {
        other.uid != class.uid
            && other.object.group() == class.object.group()
            && around.cluster_of(&other.uid) == around.cluster_of(&class.uid)
            && is_default_class(around, &other.uid)
    });
    let mut others: Vec<&str> = others.map(|other| &*other.object.name).collect();
    others.sort_unstable();
    let Some(first) = others.first() else {
        return Vec::new();
    };
    let names = match others.len() {
        1 => format!("{first} is a default class, too"),
        _ => format!("{} are default classes, too", others.join(", ")),
    };
    let text = match kind {
        "StorageClass" => format!("{names}: claims without a class get the newest one"),
        _ => format!("{names}: an Ingress without a class is refused"),
    };
    let note = Finding::new(CauseRule::DefaultClass, Status::Current, text);
    vec![note]
}

fn is_default_class(around: Around<'_>, class: &Uid) -> bool {
    let doc = around.doc(class).filter(|_| around.is_there(class));
    doc.is_some_and(|doc| {
        let value = |name| doc.root().str_at(&["metadata", "annotations", name]);
        DEFAULTS
            .into_iter()
            .any(|name| value(name).as_deref() == Some("true"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::Read;
    use crate::source::SourceKey;

    const INGRESS: &str =
        "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web, namespace: shop}";

    fn class(kind: &str, name: &str, is_default: bool) -> String {
        let (group, domain) = match kind {
            "IngressClass" => ("networking", "ingressclass"),
            _ => ("storage", "storageclass"),
        };
        format!(
            "{{apiVersion: {group}.k8s.io/v1, kind: {kind}, metadata: {{name: {name}, annotations: {{{domain}.kubernetes.io/is-default-class: '{is_default}'}}}}}}"
        )
    }

    #[test]
    fn an_ingress_without_a_class_needs_a_default_one() {
        let problem = "InProgress
DefaultClass: names no ingress class, and the cluster has no default one";
        let (plain, default) = (
            class("IngressClass", "a", false),
            class("IngressClass", "b", true),
        );
        for (fields, classes, expected) in [
            ("", vec![&plain], problem),
            ("", vec![&plain, &default], "Current"),
            (", spec: {ingressClassName: a}", vec![&plain], "Current"),
            (
                ", status: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}",
                vec![&plain],
                "Current",
            ),
        ] {
            let ingress = format!("{INGRESS}{fields}}}");
            let mut objects = vec![ingress];
            objects.extend(classes.into_iter().cloned());
            let read = Read::for_status(&objects.join("\n---\n"));
            assert_eq!(read.state("web"), expected, "{objects:?}");
        }
    }

    #[test]
    fn the_classes_of_an_ingress_without_one_are_read() {
        let ingress = format!("{INGRESS}}}");
        let mut read = Read::for_status(&ingress);
        assert_eq!(read.state("web"), "Current");
        let sources = super::class_sources(read.model.around());
        let kinds: Vec<&str> = sources
            .iter()
            .map(|source| &*source.resource.plural)
            .collect();
        assert_eq!(kinds, ["ingressclasses"]);
        let classes: SourceKey = sources[0].clone();
        read.look(classes);
        assert!(read.state("web").starts_with("InProgress"));
    }

    #[test]
    fn a_default_class_names_the_others() {
        for (kind, what) in [
            ("StorageClass", "claims without a class get the newest one"),
            ("IngressClass", "an Ingress without a class is refused"),
        ] {
            let objects = [
                class(kind, "a", true),
                class(kind, "b", true),
                class(kind, "c", false),
            ];
            let read = Read::for_status(&objects.join("\n---\n"));
            let note = format!("Current\nDefaultClass: b is a default class, too: {what}");
            assert_eq!(read.state("a"), note);
            assert_eq!(read.state("c"), "Current");
        }
    }
}
