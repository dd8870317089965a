//! A claim that only an existing volume can serve: which one is nearest, and why it does not fit.

use std::sync::Arc;

use crate::graph::{Node, Tier, well_known};
use crate::object::{Doc, ObjectRef, Value};
use crate::source::{Select, SourceKey};
use crate::status::{CauseRule, Finding, Status};

use crate::model::around::Around;
use crate::model::evidence::EvidenceObject;
use crate::model::volume_fit::{self, Misfit, NO_PROVISIONER};

/// How much a volume of another class, and one that is not free, differ from what a claim asks for.
const OTHER_CLASS: usize = 4;
const NOT_FREE: usize = 2;

/// A volume that a claim cannot have, and why.
struct NearMiss {
    volume: Arc<ObjectRef>,
    /// Why it is not free; `None` if it is.
    obstacle: Option<String>,
    misfits: Vec<Misfit>,
    has_class: bool,
}

/// The sources of all volumes, for the claims that only an existing one can serve.
pub(in crate::model) fn volume_sources(around: Around<'_>) -> Vec<SourceKey> {
    let claims = around
        .unwell()
        .iter()
        .filter_map(|uid| around.graph().node(uid));
    let mut sources = Vec::new();
    for claim in claims.filter(|claim| static_claim(around, claim).is_some()) {
        let source = all_volumes(around, claim);
        sources.extend(source.filter(|source| !sources.contains(source)));
    }
    sources
}

/// The problem of a claim that no volume fits.
pub(in crate::model) fn no_volume_fits(around: Around<'_>, claim: &Node) -> Vec<Finding> {
    Vec::from_iter(no_volume_fits_of(around, claim))
}

fn no_volume_fits_of(around: Around<'_>, node: &Node) -> Option<Finding> {
    let claim = static_claim(around, node)?;
    let source = all_volumes(around, node)?;
    let is_read = around.coverage().is_read(&source) && around.knows_absence();
    let volumes = is_read.then(|| volumes(around, &source))?;
    let mut nearest: Option<NearMiss> = None;
    let mut is_class_used_up = false;
    for (name, volume) in volumes {
        if is_taken(volume.root(), claim.root()) {
            is_class_used_up |= has_class(volume.root(), claim.root());
            continue;
        }
        let miss = NearMiss::of(name, volume.root(), claim.root());
        (miss.cost() > 0).then_some(())?;
        if nearest.as_ref().is_none_or(|best| miss.is_nearer(best)) {
            nearest = Some(miss);
        }
    }
    let of_class = match volume_fit::class_of(claim.root()) {
        Some(class) => format!("of storage class {class}"),
        None => "without a storage class".to_owned(),
    };
    let text = match nearest.filter(NearMiss::is_near) {
        Some(near) => format!("no volume fits; the nearest is {}", near.words()),
        None if is_class_used_up => format!("each volume {of_class} is bound to another claim"),
        None => format!("there is no volume {of_class}"),
    };
    let rule = CauseRule::NoVolumeFits;
    Some(Finding::new(rule, Status::InProgress, text))
}

/// The document of a waiting claim that names no volume, and whose class creates none.
fn static_claim(around: Around<'_>, node: &Node) -> Option<Doc> {
    let object = around.object(&node.uid)?;
    let is_claim = node.object.group().is_empty() && *node.object.kind == *"PersistentVolumeClaim";
    let is_waiting = object.needs >= Tier::Unwell && object.own.status() == Status::InProgress;
    let claim = (is_claim && is_waiting).then(|| around.doc(&node.uid))??;
    let names_volume = claim.root().text_at(&["spec", "volumeName"]).is_some();
    let has_class = volume_fit::class_of(claim.root()).is_some();
    let is_static = !has_class || has_no_provisioner(around, node);
    (is_static && !names_volume).then_some(claim)
}

fn has_no_provisioner(around: Around<'_>, claim: &Node) -> bool {
    let mut references = around.graph().references_of(&claim.uid).iter();
    let class = references.find(|found| found.relation.name == "storage class");
    let class = class.and_then(|class| around.graph().referenced(&class.target));
    let class = class.and_then(|class| around.doc(&class.uid));
    class.is_some_and(|class| {
        class.root().str_at(&["provisioner"]).as_deref() == Some(NO_PROVISIONER)
    })
}

fn all_volumes(around: Around<'_>, claim: &Node) -> Option<SourceKey> {
    let cluster = around.cluster_of(&claim.uid)?;
    let volumes = well_known("", "PersistentVolume");
    Some(SourceKey::of(cluster, volumes, None, Select::All))
}

/// The volumes of a source. The model has them as evidence, or because a view shows them.
fn volumes(around: Around<'_>, source: &SourceKey) -> Vec<EvidenceObject> {
    if around.evidence().is_of(source) {
        let volumes = around.evidence().objects(source);
        return volumes.cloned().collect();
    }
    let shown = around.graph().of_kind("PersistentVolume");
    let shown = shown.filter(|node| around.cluster_of(&node.uid) == Some(&source.cluster));
    let shown = shown.filter_map(|node| Some((node.object.clone(), around.doc(&node.uid)?)));
    shown.collect()
}

/// Whether a volume is bound to another claim, or about to go.
fn is_taken(volume: Value<'_>, claim: Value<'_>) -> bool {
    let is_bound = volume.str_at(&["status", "phase"]).as_deref() == Some("Bound");
    let is_going = volume.text_at(&["metadata", "deletionTimestamp"]).is_some();
    is_going || is_bound && volume_fit::other_claim(volume, claim).is_some()
}

fn has_class(volume: Value<'_>, claim: Value<'_>) -> bool {
    volume_fit::class_of(volume) == volume_fit::class_of(claim)
}

impl NearMiss {
    fn of(name: Arc<ObjectRef>, volume: Value<'_>, claim: Value<'_>) -> NearMiss {
        let mut misfits = volume_fit::misfits(volume, claim);
        misfits.extend(volume_fit::labels(volume, claim));
        NearMiss {
            volume: name,
            obstacle: obstacle(volume, claim),
            misfits,
            has_class: has_class(volume, claim),
        }
    }

    /// How much it differs from what the claim asks for; 0 if the claim can have it.
    fn cost(&self) -> usize {
        let class = if self.has_class { 0 } else { OTHER_CLASS };
        let obstacle = if self.obstacle.is_some() { NOT_FREE } else { 0 };
        self.misfits.len() + class + obstacle
    }

    fn is_nearer(&self, other: &NearMiss) -> bool {
        let rank = |miss: &NearMiss| (miss.cost(), miss.volume.name.clone());
        rank(self) < rank(other)
    }

    /// Whether the claim may have meant it: it has the class, or differs in nothing else.
    fn is_near(&self) -> bool {
        self.has_class || self.cost() == OTHER_CLASS + 1
    }

    /// `persistentvolume/pv-1, which has 1Gi; the claim asks for 5Gi`.
    fn words(&self) -> String {
        let misfits = (!self.misfits.is_empty()).then(|| volume_fit::words(&self.misfits));
        let words: Vec<String> = self.obstacle.iter().cloned().chain(misfits).collect();
        format!("{}, which {}", self.volume, words.join(", and "))
    }
}

/// Why a volume is not free, if it is not.
fn obstacle(volume: Value<'_>, claim: Value<'_>) -> Option<String> {
    let other = volume_fit::other_claim(volume, claim);
    match volume.text_at(&["status", "phase"]).as_deref() {
        Some("Released") => Some("is Released: its claim is gone".to_owned()),
        Some("Failed") => Some("could not be reclaimed".to_owned()),
        _ => other.map(|other| format!("is reserved for {other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Read;

    const CLASS: &str = "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: local}, provisioner: kubernetes.io/no-provisioner, volumeBindingMode: MODE}";

    /// The reason of a claim of 5Gi beside these volumes: the name, the spec and the phase of each.
    fn reason(class: &str, volumes: &[[&str; 3]]) -> String {
        let claim = format!(
            "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: data, namespace: shop}}, spec: {{{class}, accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 5Gi}}}}}}, status: {{phase: Pending}}}}"
        );
        let volume = |[name, spec, phase]: &[&str; 3]| {
            format!(
                "{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: {name}, labels: {{disk: hdd}}}}, spec: {{accessModes: [ReadWriteOnce], {spec}}}, status: {{phase: {phase}}}}}"
            )
        };
        let mut read = Read::for_status(&[claim, CLASS.to_owned()].join("\n---\n"));
        let volumes: Vec<String> = volumes.iter().map(volume).collect();
        read.explain(&volumes);
        let state = read.state("data");
        assert!(!state.starts_with("Current"), "{state}");
        let mut lines = state.lines();
        let found = lines.find_map(|line| line.strip_prefix("NoVolumeFits: "));
        found.unwrap_or_default().to_owned()
    }

    const LOCAL: &str = "storageClassName: local";
    const SMALL: &str = "storageClassName: local, capacity: {storage: 1Gi}";
    const LARGE: &str = "storageClassName: local, capacity: {storage: 9Gi}";
    const SLOW: &str = "storageClassName: slow, capacity: {storage: 9Gi}";

    fn nearest(text: &str) -> String {
        format!("no volume fits; the nearest is persistentvolume/{text}")
    }

    #[test]
    fn a_claim_names_the_nearest_of_the_volumes_that_exist() {
        let gone = format!("{LARGE}, claimRef: {{namespace: shop, name: data, uid: before}}");
        let held = format!("{LARGE}, claimRef: {{namespace: prod, name: other}}");
        let small = ["a", SMALL, "Available"];
        let gone = ["c", &gone, "Released"];
        let less = "a, which has 1Gi; the claim asks for 5Gi";
        for (volumes, expected) in [
            (&[small, ["e", SLOW, "Available"]][..], less),
            (&[gone, small], less),
            (&[gone], "c, which is Released: its claim is gone"),
            (
                &[["d", &held, "Available"]],
                "d, which is reserved for claim prod/other",
            ),
            (
                &[["e", SLOW, "Available"]],
                "e, which has storage class slow; the claim asks for storage class local",
            ),
        ] {
            assert_eq!(reason(LOCAL, volumes), nearest(expected), "{volumes:?}");
        }
        assert_eq!(reason(LOCAL, &[small, ["b", LARGE, "Available"]]), "");
        let taken = "each volume of storage class local is bound to another claim";
        assert_eq!(reason(LOCAL, &[["d", &held, "Bound"]]), taken);
    }

    #[test]
    fn a_claim_without_a_near_volume_names_its_class() {
        let classless = ["f", "capacity: {storage: 1Gi}", "Available"];
        let small = ["a", SMALL, "Available"];
        let none = "there is no volume of storage class local";
        assert_eq!(reason(LOCAL, &[classless]), none);
        assert_eq!(reason(LOCAL, &[]), none);
        let bare = "storageClassName: ''";
        let none = "there is no volume without a storage class";
        assert_eq!(reason(bare, &[small]), none);
        let less = "f, which has 1Gi; the claim asks for 5Gi";
        assert_eq!(reason(bare, &[classless]), nearest(less));
        let labelled = format!("{LOCAL}, selector: {{matchLabels: {{disk: ssd}}}}");
        let labels = "b, which has labels disk=hdd; the claim asks for labels disk=ssd";
        assert_eq!(
            reason(&labelled, &[["b", LARGE, "Available"]]),
            nearest(labels)
        );
        assert_eq!(reason("storageClassName: absent", &[small]), "");
    }

    #[test]
    fn a_pod_names_the_claim_that_no_volume_fits() {
        let claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: shop}, spec: {storageClassName: local}, status: {phase: Pending}}";
        let class = CLASS.replace("MODE", "WaitForFirstConsumer");
        let pod = "{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop}, spec: {volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}, status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: no node}]}}";
        let mut read = Read::for_status(&[claim, &class, pod].join("\n---\n"));
        let waits = "Failed\nUnschedulable: no node";
        assert_eq!(read.state("web"), waits);
        let expected = "FailedReference: volume persistentvolumeclaim/data: there is no volume of storage class local";
        let state = read.explain(&[]).state("web");
        assert!(state.contains(expected), "{state}");
    }

    #[test]
    fn the_volumes_that_a_view_shows_count_and_are_not_read_twice() {
        let claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: shop}, spec: {storageClassName: local, resources: {requests: {storage: 5Gi}}}, status: {phase: Pending}}";
        let volume = |size: &str| {
            format!(
                "{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: a}}, spec: {{storageClassName: local, capacity: {{storage: {size}}}}}, status: {{phase: Available}}}}"
            )
        };
        let mut read = Read::for_status(&[claim, CLASS, &volume("1Gi")].join("\n---\n"));
        let expected = nearest("a, which has 1Gi; the claim asks for 5Gi");
        assert!(read.state("data").contains(&expected));
        read.explain(&[]);
        assert!(read.state("data").contains(&expected));
        read.put(&volume("9Gi"));
        assert!(!read.state("data").contains("NoVolumeFits"));
    }
}
