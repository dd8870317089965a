//! Rules about claims and volumes: what a claim waits for, and whether a volume fits it, by the checks of the controller that
//! binds them (<https://kubernetes.io/docs/concepts/storage/persistent-volumes/#reserving-a-persistentvolume>).

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::graph::{KnownRelation, Labels, Node, Tier, well_known};
use crate::model::around::Around;
use crate::model::evidence::EvidenceObject;
use crate::object::{Doc, ObjectRef, Quantity, Value, label_selector, listed};
use crate::source::{Select, SourceKey};
use crate::status::{Cause, CauseRule, Finding, Status};

/// The problem of an unbound claim that names a volume of another claim, or one that does not fit. A volume that is
/// reserved for the claim is not compared with it.
pub(in crate::model) fn unusable_volume(around: Around<'_>, claim: &Node) -> Option<Finding> {
    let object = around.object(&claim.uid)?;
    let is_waiting = object.needs >= Tier::Unwell && object.own.status() == Status::InProgress;
    let mut references = around.graph().references_of(&claim.uid).iter();
    let named = references.find(|found| found.relation.is(KnownRelation::Volume) && is_waiting)?;
    let volume = around.graph().referenced(&named.target)?;
    // The problem of a volume explains the claim already.
    let is_well = around.object(&volume.uid)?.own.is_well();
    let doc = around
        .doc(&volume.uid)
        .filter(|_| is_well && around.is_there(&volume.uid))?;
    let own = around.doc(&claim.uid)?;
    let (doc, own) = (doc.root(), own.root());
    let name = &volume.object;
    if let Some(other) = other_claim(doc, own) {
        let text = format!("{name} is reserved for {other}");
        return Some(Finding::new(
            CauseRule::VolumeReserved,
            Status::Failed,
            text,
        ));
    }
    let misfits = misfits(doc, own);
    let is_reserved = doc.at(&["spec", "claimRef"]).is_some();
    (!misfits.is_empty() && !is_reserved).then(|| {
        let text = format!("{name} {}", words(&misfits));
        Finding::new(CauseRule::VolumeMismatch, Status::Failed, text)
    })
}

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

/// The source of all volumes, for a claim that only an existing one can serve.
pub(in crate::model) fn volumes_for(around: Around<'_>, claim: &Node) -> Vec<SourceKey> {
    let is_read = static_claim(around, claim).is_some();
    Vec::from_iter(all_volumes(around, claim).filter(|_| is_read))
}

/// The problem of a claim that no volume fits.
pub(in crate::model) fn no_volume_fits(around: Around<'_>, node: &Node) -> Option<Finding> {
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
        let miss = NearMiss::of(name.clone(), volume.root(), claim.root());
        (miss.cost() > 0).then_some(())?;
        if nearest.as_ref().is_none_or(|best| miss.is_nearer(best)) {
            nearest = Some(miss);
        }
    }
    let of_class = match class_of(claim.root()) {
        Some(class) => format!("of storage class {class}"),
        None => "without a storage class".to_owned(),
    };
    let text = match nearest.filter(NearMiss::is_near) {
        Some(near) => format!("no volume fits; the nearest is {}", near.words()),
        None if is_class_used_up => format!("each volume {of_class} is bound to another claim"),
        None => format!("no volume {of_class} exists"),
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
    let has_class = class_of(claim.root()).is_some();
    let is_static = !has_class || has_no_provisioner(around, node);
    (is_static && !names_volume).then_some(claim)
}

fn has_no_provisioner(around: Around<'_>, claim: &Node) -> bool {
    let mut references = around.graph().references_of(&claim.uid).iter();
    let class = references.find(|found| found.relation.is(KnownRelation::StorageClass));
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
fn volumes<'m>(around: Around<'m>, source: &SourceKey) -> Vec<&'m EvidenceObject> {
    if around.evidence().is_of(source) {
        return around.evidence().objects(source).collect();
    }
    let shown = around.shown_volumes().iter();
    let is_of_cluster = |(volume, _): &&EvidenceObject| {
        around.cluster_of(&volume.identity()) == Some(&source.cluster)
    };
    shown.filter(is_of_cluster).collect()
}

/// Whether a volume is bound to another claim, or about to go.
fn is_taken(volume: Value<'_>, claim: Value<'_>) -> bool {
    let is_bound = volume.str_at(&["status", "phase"]).as_deref() == Some("Bound");
    let is_going = volume.text_at(&["metadata", "deletionTimestamp"]).is_some();
    is_going || is_bound && other_claim(volume, claim).is_some()
}

fn has_class(volume: Value<'_>, claim: Value<'_>) -> bool {
    class_of(volume) == class_of(claim)
}

impl NearMiss {
    fn of(name: Arc<ObjectRef>, volume: Value<'_>, claim: Value<'_>) -> NearMiss {
        let mut misfits = misfits(volume, claim);
        misfits.extend(labels(volume, claim));
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
        let misfits = (!self.misfits.is_empty()).then(|| words(&self.misfits));
        let words: Vec<String> = self.obstacle.iter().cloned().chain(misfits).collect();
        format!("{}, which {}", self.volume, words.join(", and "))
    }
}

/// Why a volume is not free, if it is not.
fn obstacle(volume: Value<'_>, claim: Value<'_>) -> Option<String> {
    let other = other_claim(volume, claim);
    match volume.text_at(&["status", "phase"]).as_deref() {
        Some("Released") => Some("is Released: its claim is gone".to_owned()),
        Some("Failed") => Some("could not be reclaimed".to_owned()),
        _ => other.map(|other| format!("is reserved for {other}")),
    }
}

/// The note of a bound volume whose claim does not exist, or of one whose claim has another uid than the volume
/// names. A volume without such a uid is reserved for a claim that may still be created.
pub(in crate::model) fn lost_claim(around: Around<'_>, volume: &Node) -> Option<Finding> {
    let references = around.graph().references_of(&volume.uid).iter();
    let claim = references
        .into_iter()
        .find(|found| found.relation.is(KnownRelation::Claim))?;
    let doc = around.doc(&volume.uid)?;
    let uid = doc.root().text_at(&["spec", "claimRef", "uid"])?;
    let is_bound = doc.root().str_at(&["status", "phase"]).as_deref() == Some("Bound");
    let found = around.graph().referenced(&claim.target);
    let found = found.filter(|found| around.is_there(&found.uid));
    let name = [claim.target.namespace.as_deref(), Some(&*claim.target.name)];
    let name = name.into_iter().flatten().collect::<Vec<_>>().join("/");
    match found {
        Some(found) if found.uid.as_str() != &*uid => {
            let text = format!("its claim {name} was replaced by a new one of the same name");
            let rule = CauseRule::ReplacedClaim;
            Some(Finding::new(rule, Status::Current, text))
        }
        None if is_bound && around.is_absent(volume, claim) => {
            let text = format!("dangling: its claim {name} does not exist");
            let rule = CauseRule::DanglingVolume;
            Some(Finding::new(rule, Status::Current, text))
        }
        Some(_) | None => None,
    }
}

/// The note of a volume that is attached to two nodes although only one may use it.
pub(in crate::model) fn attached_twice(around: Around<'_>, volume: &Node) -> Vec<Finding> {
    let Some(doc) = around.doc(&volume.uid) else {
        return Vec::new();
    };
    let modes = doc.root().items_at(&["spec", "accessModes"]);
    let modes: Vec<_> = modes.filter_map(Value::as_str).collect();
    let is_for_one = |mode: &str| matches!(mode, "ReadWriteOnce" | "ReadWriteOncePod");
    if modes.is_empty() || !modes.iter().all(|mode| is_for_one(mode)) {
        return Vec::new();
    }
    let attachments = around.graph().referrers(&volume.object);
    let attachments = attachments.filter_map(|uid| around.graph().node(uid));
    let nodes: BTreeSet<Arc<str>> = attachments
        .filter_map(|attachment| attached_to(around, attachment))
        .collect();
    if nodes.len() < 2 {
        return Vec::new();
    }
    let nodes: Vec<&str> = nodes.iter().map(|node| &**node).collect();
    let text = format!(
        "attached to the nodes {}, but only one may use it ({})",
        nodes.join(" and "),
        modes.join(", ")
    );
    let rule = CauseRule::AttachedTwice;
    vec![Finding::new(rule, Status::Current, text)]
}

/// The node to which an attachment attaches its volume; `None` while it does not, or is about to end.
fn attached_to(around: Around<'_>, attachment: &Node) -> Option<Arc<str>> {
    let is_one = &*attachment.object.kind == "VolumeAttachment" && !attachment.deleting;
    let doc = around.doc(&attachment.uid).filter(|_| is_one)?;
    let is_attached = doc.root().bool_at(&["status", "attached"]) == Some(true);
    let node = doc.root().text_at(&["spec", "nodeName"]);
    node.filter(|_| is_attached)
}

/// What a volume has, and what the claim asks for instead.
#[derive(Debug)]
pub(super) struct Misfit {
    has: String,
    wanted: String,
}

/// The older way to name a storage class. It comes first.
const CLASS: [&str; 3] = [
    "metadata",
    "annotations",
    "volume.beta.kubernetes.io/storage-class",
];

/// The provisioner of a class whose volumes an administrator creates
/// (<https://kubernetes.io/docs/concepts/storage/storage-classes/#local>).
pub(super) const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// The storage class of a volume or of a claim; `None` for none.
pub(super) fn class_of(object: Value<'_>) -> Option<Arc<str>> {
    let class = object.text_at(&CLASS);
    class.or_else(|| object.text_at(&["spec", "storageClassName"]))
}

/// The claim that a volume is reserved for, if it is another one: `claim prod/other`.
pub(super) fn other_claim(volume: Value<'_>, claim: Value<'_>) -> Option<String> {
    let reserved = volume.at(&["spec", "claimRef"])?;
    let text = |key| reserved.text_at(&[key]);
    let own = |key| claim.text_at(&["metadata", key]);
    let name = [text("namespace"), text("name")];
    if name != [own("namespace"), own("name")] {
        let name = name.map(Option::unwrap_or_default);
        return Some(format!("claim {}", name.join("/")));
    }
    let uid = text("uid");
    let is_other = uid.is_some() && uid != own("uid");
    is_other.then(|| "an earlier claim of the same name".to_owned())
}

/// What keeps a volume from a claim, besides a reservation.
pub(super) fn misfits(volume: Value<'_>, claim: Value<'_>) -> Vec<Misfit> {
    let found = [
        size(volume, claim),
        named(
            "attributes class",
            volume.text_at(&["spec", "volumeAttributesClassName"]),
            claim.text_at(&["spec", "volumeAttributesClassName"]),
        ),
        class(volume, claim),
        mode(volume, claim),
        access(volume, claim),
    ];
    found.into_iter().flatten().collect()
}

/// `has 1Gi and volume mode Block; the claim asks for 5Gi and volume mode Filesystem`.
pub(super) fn words(misfits: &[Misfit]) -> String {
    let join = |part: fn(&Misfit) -> &str| {
        let parts: Vec<&str> = misfits.iter().map(part).collect();
        parts.join(" and ")
    };
    let (has, wanted) = (join(|it| &it.has), join(|it| &it.wanted));
    format!("has {has}; the claim asks for {wanted}")
}

fn size(volume: Value<'_>, claim: Value<'_>) -> Option<Misfit> {
    let has = volume.text_at(&["spec", "capacity", "storage"])?;
    let wanted = claim.text_at(&["spec", "resources", "requests", "storage"])?;
    let order = Quantity::parse(&has)?.compare(&Quantity::parse(&wanted)?)?;
    order.is_lt().then(|| Misfit {
        has: has.to_string(),
        wanted: wanted.to_string(),
    })
}

fn class(volume: Value<'_>, claim: Value<'_>) -> Option<Misfit> {
    named("storage class", class_of(volume), class_of(claim))
}

fn mode(volume: Value<'_>, claim: Value<'_>) -> Option<Misfit> {
    let of = |object: Value<'_>| {
        let mode = object.text_at(&["spec", "volumeMode"]);
        Some(mode.unwrap_or_else(|| "Filesystem".into()))
    };
    named("volume mode", of(volume), of(claim))
}

/// A volume may have more access modes than the claim asks for.
fn access(volume: Value<'_>, claim: Value<'_>) -> Option<Misfit> {
    let of = |object: Value<'_>| {
        let modes = object.items_at(&["spec", "accessModes"]);
        let modes = modes.filter_map(|mode| Some(mode.as_str()?.into_owned()));
        modes.collect::<Vec<String>>()
    };
    let (has, wanted) = (of(volume), of(claim));
    if wanted.iter().all(|mode| has.contains(mode)) {
        return None;
    }
    let words = |modes: &[String]| match modes {
        [] => "no access mode".to_owned(),
        [mode] => format!("access mode {mode}"),
        modes => format!("access modes {}", modes.join(", ")),
    };
    Some(Misfit {
        has: words(&has),
        wanted: words(&wanted),
    })
}

/// The labels that a claim demands. They do not matter to a volume that the claim names.
pub(super) fn labels(volume: Value<'_>, claim: Value<'_>) -> Option<Misfit> {
    let selector = label_selector(claim.at(&["spec", "selector"])?)?;
    let labels = Labels::of(volume);
    let is_match = selector.matches(|key| labels.get(key));
    let pairs = labels.iter().map(|(key, value)| format!("{key}={value}"));
    let pairs: Vec<String> = pairs.collect();
    (!is_match).then(|| Misfit {
        has: match &*pairs.join(",") {
            "" => "no labels".to_owned(),
            labels => format!("labels {labels}"),
        },
        wanted: format!("labels {selector}"),
    })
}

/// Two names that must be the same.
fn named(word: &str, has: Option<Arc<str>>, wanted: Option<Arc<str>>) -> Option<Misfit> {
    let words = |name: Option<Arc<str>>| match name {
        Some(name) => format!("{word} {name}"),
        None => format!("no {word}"),
    };
    (has != wanted).then(|| Misfit {
        has: words(has),
        wanted: words(wanted),
    })
}

/// The binding mode of a class whose volumes are created once a Pod needs them.
const LATE: &str = "WaitForFirstConsumer";

/// Where the scheduler writes the node for which a volume is created.
const SELECTED_NODE: [&str; 3] = [
    "metadata",
    "annotations",
    "volume.kubernetes.io/selected-node",
];

/// What a claim with these findings that is not bound waits for. One that names its volume waits for that one, whatever its
/// class. One that no volume fits waits for more than a Pod.
pub(in crate::model) fn claim_fact(
    around: Around<'_>,
    node: &Node,
    findings: &[Finding],
) -> Option<Cause> {
    let object = around.object(&node.uid)?;
    (object.own.status() == Status::InProgress).then_some(())?;
    let references = around.graph().references_of(&node.uid).iter();
    let mut targets = references.map(|reference| &reference.target);
    let class = targets.find(|target| &*target.kind.kind == "StorageClass")?;
    let doc = around.doc(&around.graph().referenced(class)?.uid)?;
    let claim = around.doc(&node.uid)?;
    let names_volume = claim.root().text_at(&["spec", "volumeName"]).is_some();
    (!names_volume).then_some(())?;
    let is_late = doc.root().str_at(&["volumeBindingMode"]).as_deref() == Some(LATE);
    let has_node = claim.root().at(&SELECTED_NODE).is_some();
    let name = &class.name;
    let mut rules = findings.iter().map(|found| found.cause.rule);
    let fits_none = rules.any(|rule| rule == CauseRule::NoVolumeFits);
    if is_late && !has_node && !fits_none {
        let (waiting, bypassing) = users(around, node);
        let awaited = match &*waiting {
            "" => "a pod that uses the claim",
            pods => pods,
        };
        let zones = topologies(doc.root());
        let mut text =
            format!("storage class {name} waits for {awaited} to be scheduled ({LATE}){zones}");
        if !bypassing.is_empty() {
            text = format!(
                "{text}; the claim is not bound for {bypassing}: spec.nodeName bypasses the scheduler"
            );
        }
        return Some(Cause::new(CauseRule::WaitsForPod, text));
    }
    let provisioner = doc.root().text_at(&["provisioner"])?;
    let text = if &*provisioner == NO_PROVISIONER {
        format!("storage class {name} has no provisioner: an administrator creates its volumes")
    } else {
        format!(
            "waiting for provisioner {provisioner} of storage class {name} to create the volume"
        )
    };
    Some(Cause::new(CauseRule::Fact, text))
}

/// The Pods that are known to use an unbound claim: those without a node, and those that bypass the scheduler.
fn users(around: Around<'_>, claim: &Node) -> (String, String) {
    let users = around.graph().referrers(&claim.object);
    let users = users.filter_map(|uid| around.graph().node(uid));
    let is_active = |pod: &&Node| {
        let has_ended = pod.pod().is_none_or(|pod| pod.has_ended);
        !has_ended && around.is_there(&pod.uid)
    };
    let (placed, waiting): (Vec<&Node>, Vec<&Node>) =
        users.filter(is_active).partition(|pod| pod.is_placed());
    let bypassing = placed.into_iter();
    let bypassing = bypassing.filter(|pod| bypasses_scheduler(claim, pod));
    (named_pods(waiting), named_pods(bypassing))
}

/// Whether a Pod has a node that the scheduler did not choose, if this claim of the Pod is not bound. The scheduler binds the
/// claims of a Pod before the node and `PodScheduled` are set. The kubelet sets that condition, too, but for a Pod that is
/// younger than the claim.
pub(super) fn bypasses_scheduler(claim: &Node, user: &Node) -> bool {
    let is_scheduled = user.pod().is_some_and(|pod| pod.scheduled.is_some());
    let times = claim.created.zip(user.created);
    let is_younger = times.is_some_and(|(claim, pod)| claim <= pod);
    user.is_placed() && (!is_scheduled || is_younger)
}

/// The most Pods that are named.
const MAX_PODS: usize = 3;

/// `pods a, b, c and 2 more`; empty without Pods.
fn named_pods<'n>(pods: impl IntoIterator<Item = &'n Node>) -> String {
    let names: BTreeSet<&str> = pods.into_iter().map(|pod| &*pod.object.name).collect();
    let shown = listed(&names, MAX_PODS);
    match names.len() {
        0 => shown,
        1 => format!("pod {shown}"),
        _ => format!("pods {shown}"),
    }
}

/// `, and has volumes only where zone is a or b`: the places of a storage class; empty if it has volumes everywhere.
fn topologies(class: Value<'_>) -> String {
    let terms = class.items_at(&["allowedTopologies"]);
    let rows = terms.flat_map(|term| term.items_at(&["matchLabelExpressions"]));
    let places = rows.map(|row| {
        let values = row.items_at(&["values"]).filter_map(Value::as_str);
        let values: Vec<_> = values.collect();
        let key = row.text_at(&["key"]).unwrap_or_default();
        format!("{key} is {}", values.join(" or "))
    });
    let places: Vec<String> = places.collect();
    let places = places.join(", ");
    if places.is_empty() {
        return places;
    }
    format!(", and has volumes only where {places}")
}

#[cfg(test)]
mod tests {
    use super::super::tests::Read;

    /// A claim that waits for the volume `pv-1`, and that volume.
    fn objects(claim: &str, volume: &str) -> String {
        format!(
            "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: data, namespace: shop}}, spec: {{volumeName: pv-1, storageClassName: fast, accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 5Gi}}}}{claim}}}, status: {{phase: Pending}}}}
---
{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: pv-1}}, spec: {{{volume}}}, status: {{phase: Available}}}}"
        )
    }

    const FITS: &str =
        "storageClassName: fast, accessModes: [ReadWriteOnce], capacity: {storage: 5Gi}";

    /// Checks the reason of a claim with these fields for not having this volume: none, or one that makes it fail.
    fn check(claim: &str, volume: &str, expected: &str) {
        let objects = objects(claim, volume);
        for read in [Read::of(&objects), Read::for_status(&objects)] {
            let state = read.state("data");
            let found = state.lines().find(|line| line.starts_with("Volume"));
            assert_eq!(found.unwrap_or_default(), expected, "{volume}\n{state}");
            let is_failed = state.starts_with("Failed");
            assert_eq!(is_failed, !expected.is_empty(), "{state}");
        }
    }

    #[test]
    fn a_claim_names_the_claim_that_has_its_volume() {
        let own = "claimRef: {namespace: shop, name: data";
        let reserved = "VolumeReserved: persistentvolume/pv-1 is reserved for";
        for (volume, expected) in [
            (FITS.to_owned(), String::new()),
            (format!("{FITS}, {own}}}"), String::new()),
            (format!("{own}, uid: data}}"), String::new()),
            (
                format!("{own}, uid: before}}"),
                format!("{reserved} an earlier claim of the same name"),
            ),
            (
                format!("{FITS}, claimRef: {{namespace: prod, name: other}}"),
                format!("{reserved} claim prod/other"),
            ),
        ] {
            check("", &volume, &expected);
        }
    }

    #[test]
    fn a_claim_names_what_its_volume_has_and_what_it_asks_for() {
        let volume = |from: &str, to: &str| FITS.replace(from, to);
        for (claim, volume, expected) in [
            ("", volume("5Gi", "1Gi"), "1Gi; the claim asks for 5Gi"),
            ("", volume("5Gi", "10Gi"), ""),
            (
                "",
                volume("fast", "slow"),
                "storage class slow; the claim asks for storage class fast",
            ),
            (
                "",
                volume("storageClassName: fast, ", ""),
                "no storage class; the claim asks for storage class fast",
            ),
            (
                "",
                volume("Once", "Many"),
                "access mode ReadWriteMany; the claim asks for access mode ReadWriteOnce",
            ),
            ("", volume("Once", "Many, ReadWriteOnce"), ""),
            (
                ", volumeMode: Block",
                FITS.to_owned(),
                "volume mode Filesystem; the claim asks for volume mode Block",
            ),
            (
                "",
                volume("5Gi}", "1Gi}, volumeMode: Block"),
                "1Gi and volume mode Block; the claim asks for 5Gi and volume mode Filesystem",
            ),
            (
                ", volumeAttributesClassName: gold",
                FITS.to_owned(),
                "no attributes class; the claim asks for attributes class gold",
            ),
        ] {
            let has = "VolumeMismatch: persistentvolume/pv-1 has";
            let expected = if expected.is_empty() {
                String::new()
            } else {
                format!("{has} {expected}")
            };
            check(claim, &volume, &expected);
        }
    }

    #[test]
    fn a_bound_claim_is_well_whatever_its_volume_is_like() {
        let bound = objects("", "").replace("Pending", "Bound");
        assert_eq!(Read::of(&bound).state("data"), "Current");
    }

    #[test]
    fn a_claim_with_a_volume_waits_for_no_provisioner() {
        let class = "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, provisioner: example.com/disks}";
        let objects = objects("", "storageClassName: slow");
        let with_class = format!("{objects}\n---\n{class}");
        assert_eq!(
            Read::of(&with_class).state("data"),
            Read::of(&objects).state("data")
        );
    }

    /// The volume says what its problem is.
    #[test]
    fn a_released_volume_has_a_reason_of_its_own() {
        let volume = "claimRef: {namespace: shop, name: data, uid: before}";
        let released = objects("", volume).replace("Available", "Released");
        let expected = "FailedReference: volume persistentvolume/pv-1: its claim shop/data was replaced by a new one of the same name";
        let state = Read::for_status(&released).state("data");
        assert!(state.contains(expected), "{state}");
        assert!(!state.contains("VolumeReserved"), "{state}");
    }

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
        let none = "no volume of storage class local exists";
        assert_eq!(reason(LOCAL, &[classless]), none);
        assert_eq!(reason(LOCAL, &[]), none);
        let bare = "storageClassName: ''";
        let none = "no volume without a storage class exists";
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
        let expected = "FailedReference: volume persistentvolumeclaim/data: no volume of storage class local exists";
        let state = read.explain(&[]).state("web");
        assert!(state.contains(expected), "{state}");
    }

    #[test]
    fn a_claim_that_no_volume_fits_waits_for_more_than_a_pod() {
        let claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: shop}, spec: {storageClassName: local, resources: {requests: {storage: 5Gi}}}, status: {phase: Pending}}";
        let class = CLASS.replace("MODE", "WaitForFirstConsumer");
        for (size, fits) in [("1Gi", false), ("9Gi", true)] {
            let volume = format!(
                "{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: a}}, spec: {{storageClassName: local, capacity: {{storage: {size}}}}}, status: {{phase: Available}}}}"
            );
            let read = Read::for_status(&[claim, &class, &volume].join("\n---\n"));
            let state = read.state("data");
            assert_eq!(state.contains("WaitsForPod"), fits, "{state}");
            assert_eq!(state.contains("NoVolumeFits"), !fits, "{state}");
        }
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
