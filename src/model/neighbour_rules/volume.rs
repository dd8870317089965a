//! A volume whose claim is gone or was replaced, and a volume that two nodes use although only one may.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::graph::Node;
use crate::object::Value;
use crate::status::{CauseRule, Finding, Status};

use crate::model::around::Around;

/// The note of a bound volume whose claim does not exist, or of one whose claim has another uid than the volume
/// names. A volume without such a uid is reserved for a claim that may still be created.
pub(in crate::model) fn lost_claim(around: Around<'_>, volume: &Node) -> Vec<Finding> {
    Vec::from_iter(lost_claim_of(around, volume))
}

fn lost_claim_of(around: Around<'_>, volume: &Node) -> Option<Finding> {
    let references = around.graph().references_of(&volume.uid).iter();
    let claim = references
        .into_iter()
        .find(|found| found.relation.name == "claim")?;
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
