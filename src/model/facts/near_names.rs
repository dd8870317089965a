//! The names that resemble one that does not exist: `storage class fsat does not exist; there is fast`.

use crate::graph::{Node, Reference};
use crate::object::near;
use crate::source::{ClusterId, Form, SourceKey};

use crate::model::Absence;
use crate::model::around::Around;
use crate::model::judge::needed_by;

/// The kinds of which a cluster may have too many objects to list them for a name.
const TOO_MANY: [&str; 3] = ["Node", "PersistentVolume", "Pod"];

/// How many names a cause suggests.
const MAX_NAMES: usize = 2;

/// The sources of the names beside those that an object names and that do not exist.
pub(in crate::model) fn near_names_sources(around: Around<'_>, node: &Node) -> Vec<SourceKey> {
    let Some(cluster) = around.cluster_of(&node.uid) else {
        return Vec::new();
    };
    let missing = needed_by(around, &node.uid).filter(|reference| {
        let source = reference.source(cluster, around.types());
        around.graph().referenced(&reference.target).is_none()
            && around.absence(source.as_ref()) == Absence::Missing
    });
    let sources = missing.filter_map(|reference| names_source(around, cluster, reference));
    sources.collect()
}

/// The few names that resemble most the one that an object names.
pub(in crate::model) fn near_names(
    around: Around<'_>,
    cluster: &ClusterId,
    reference: &Reference,
) -> Vec<String> {
    let source = names_source(around, cluster, reference);
    let names = source
        .iter()
        .flat_map(|source| around.evidence().names(source));
    let wanted = &reference.target.name;
    let near = near(wanted, names.filter(|name| *name != &**wanted));
    near.into_iter().take(MAX_NAMES).collect()
}

/// The source of the names of all objects beside a named one.
fn names_source(
    around: Around<'_>,
    cluster: &ClusterId,
    reference: &Reference,
) -> Option<SourceKey> {
    let source = reference.source(cluster, around.types())?;
    let is_few = !TOO_MANY.contains(&&*source.resource.kind);
    is_few.then(|| SourceKey {
        form: Form::Metadata,
        ..source.of_all()
    })
}

#[cfg(test)]
mod tests {
    use crate::model::neighbour_rules::tests::Read;
    use crate::source::{Scope, Select, SourceKey};

    #[test]
    fn a_missing_name_names_those_that_resemble_it() {
        let claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: shop}, spec: {storageClassName: fsat}, status: {phase: Pending}}";
        let class = |name: &str| {
            format!(
                "{{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {{name: {name}}}}}"
            )
        };
        for (classes, expected) in [
            (vec![], ""),
            (vec![class("slow")], ""),
            (vec![class("slow"), class("fast")], "; there is fast"),
        ] {
            let mut read = Read::for_status(claim);
            assert!(
                !crate::model::evidence_sources::evidence_sources(read.model.around())
                    .iter()
                    .any(is_of_classes)
            );
            read.look(SourceKey {
                scope: Scope::Cluster,
                select: Select::Name("fsat".into()),
                ..SourceKey::all("storage.k8s.io", "StorageClass")
            });
            let state = read.explain(&classes).state("data");
            let line = format!("MissingReference: storage class fsat does not exist{expected}");
            assert!(state.lines().any(|own| own == line), "{state}");
        }
    }

    fn is_of_classes(source: &SourceKey) -> bool {
        &*source.resource.kind == "StorageClass"
    }
}
