//! The members of inventories: which of them have no object, and what that means for the inventory.

use crate::graph::{MAX_MEMBER_LISTS, Node, ReferenceTarget};
use crate::model::around::Around;
use crate::model::objects::Absence;
use crate::object::{Uid, listed};
use crate::source::{ClusterId, SourceKey};
use crate::status::{CauseRule, Finding, Status};

/// A member of an inventory that has no object in the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbsentMember {
    /// Its name.
    pub target: ReferenceTarget,
    /// Why it has no object.
    pub why: MemberGap,
}

/// Why a member of an inventory has no object in the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberGap {
    /// As for any named object.
    Absent(Absence),
    /// There are too many members to read all of them.
    Beyond,
}

/// The members of an inventory that have no object, in its order. A member that is not read yet is not among them.
pub fn absent_members(around: Around<'_>, uid: &Uid) -> Vec<AbsentMember> {
    let Some(cluster) = around.cluster_of(uid) else {
        return Vec::new();
    };
    let members = around.graph().member_references(uid);
    let absent = members.filter_map(|member| {
        let target = &member.target;
        if around.graph().referenced(target).is_some() {
            return None;
        }
        Some(AbsentMember {
            why: member_gap(around, cluster, uid, target)?,
            target: target.clone(),
        })
    });
    absent.collect()
}

fn member_gap(
    around: Around<'_>,
    cluster: &ClusterId,
    inventory: &Uid,
    member: &ReferenceTarget,
) -> Option<MemberGap> {
    let is_planned = around.members().inventories.contains(inventory);
    let own = member.source(cluster, around.types());
    let list = member.list_source(cluster, around.types());
    let list = list.filter(|list| around.lookups().looks_for(list, member));
    let mut sources = own.iter().chain(&list);
    let is_followed = |source: &&SourceKey| around.coverage().follows(source);
    let absence = around.absence(sources.find(is_followed).or(own.as_ref()));
    let gap = MemberGap::Absent(absence);
    match absence {
        Absence::Missing | Absence::Refused => Some(gap),
        Absence::Unserved => is_planned.then_some(gap),
        Absence::Unread => around
            .members()
            .beyond
            .contains(member)
            .then_some(MemberGap::Beyond),
        Absence::NotInFile => None,
    }
}

/// What is wrong with the members of an inventory, apart from their states.
pub(in crate::model) fn member_findings(around: Around<'_>, node: &Node) -> Vec<Finding> {
    let uid = &node.uid;
    let absent = absent_members(around, uid);
    let of = |why: MemberGap| {
        let members = absent.iter().filter(move |member| member.why == why);
        members.map(|member| member.target.object(around.types()).to_string())
    };
    let departed = around
        .graph()
        .members(uid)
        .filter(|node| !around.is_there(&node.uid));
    let missing =
        of(MemberGap::Absent(Absence::Missing)).chain(departed.map(|node| node.object.to_string()));
    let missing = phrase(missing, "does not exist", "do not exist");
    let too_many = format!("not read: more than {MAX_MEMBER_LISTS} lists are needed");
    let unread = [
        (MemberGap::Absent(Absence::Refused), "cannot be read"),
        (
            MemberGap::Absent(Absence::Unserved),
            "cannot be read: type not served",
        ),
        (MemberGap::Beyond, &too_many),
    ];
    let unread = unread.into_iter().filter_map(|(why, end)| {
        let text = phrase(of(why), end, end)?;
        Some(Finding::new(CauseRule::UnreadMember, Status::Unknown, text))
    });
    let missing = missing.map(|text| Finding::new(CauseRule::MissingMember, Status::Failed, text));
    let remote = around.graph().remote_members(uid).map(|remote| {
        let (count, cluster) = (remote.count, &remote.cluster);
        let text = format!("not judged here: {count} objects in {cluster}");
        Finding::new(CauseRule::RemoteMembers, Status::Current, text)
    });
    missing.into_iter().chain(unread).chain(remote).collect()
}

/// The problem of an inventory whose members fail.
pub(in crate::model) fn failed_members(around: Around<'_>, node: &Node) -> Option<Finding> {
    let failed = around.graph().members(&node.uid).filter(|member| {
        let object = around.object(&member.uid);
        member.uid != node.uid
            && object.is_some_and(|object| object.assessment.status() == Status::Failed)
    });
    let names = failed.map(|member| member.object.to_string());
    let text = phrase(names, "has failed", "have failed")?;
    Some(Finding::new(CauseRule::FailedMembers, Status::Failed, text))
}

/// `deployment/web does not exist`, or `deployment/web and 2 more do not exist`; `None` without names.
fn phrase(names: impl IntoIterator<Item = String>, one: &str, many: &str) -> Option<String> {
    let names: Vec<String> = names.into_iter().collect();
    let listed = listed(&names, 1);
    match names.len() {
        0 => None,
        1 => Some(format!("{listed} {one}")),
        _ => Some(format!("{listed} {many}")),
    }
}

#[cfg(test)]
mod tests;
