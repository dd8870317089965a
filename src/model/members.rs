//! The members of inventories: which of them have no object, and what that means for the inventory.

use crate::graph::{MAX_MEMBER_LISTS, MemberPlan, Node, ReferenceTarget};
use crate::object::Uid;
use crate::source::{ClusterId, SourceKey};
use crate::status::{CauseRule, Finding, Status};

use super::absent_member::{AbsentMember, MemberGap};
use super::{Absence, Model, Reading};

impl Model {
    /// Why the model does not have an object of a source. An object without a source is of a type that is not served.
    pub fn absence(&self, source: Option<&SourceKey>) -> Absence {
        let Some(source) = source else {
            return Absence::Unserved;
        };
        match self.reading_of_named(source) {
            Some(Reading::All) if self.knows_absence => Absence::Missing,
            Some(Reading::All) => Absence::NotInFile,
            Some(Reading::Refused) => Absence::Refused,
            Some(Reading::Partial | Reading::Silent) | None => Absence::Unread,
        }
    }

    /// How much has been read of the source of a named object, or of a wider source that shows the object, too. What is only
    /// evidence has no objects.
    fn reading_of_named(&self, source: &SourceKey) -> Option<&Reading> {
        let has_objects = |source: &SourceKey| !self.evidence.is_of(source);
        let own = self.coverage.reading(source);
        own.filter(|_| has_objects(source)).or_else(|| {
            let target = ReferenceTarget::of(&source.named_object()?);
            let mut wider = source.wider().into_iter();
            let wide = wider.find(|wide| {
                let shows = has_objects(wide) && self.lookups.looks_for(wide, &target);
                shows && self.coverage.follows(wide)
            });
            self.coverage.reading(&wide?)
        })
    }

    /// Takes the plan for the members of the inventories that a view shows.
    pub fn expect_members(&mut self, plan: MemberPlan) {
        let planned = &mut self.members;
        if planned.inventories != plan.inventories || planned.beyond != plan.beyond {
            self.changed.extend(plan.inventories.iter().cloned());
            planned.inventories = plan.inventories;
            planned.beyond = plan.beyond;
        }
    }

    /// The members of an inventory that have no object, in its order. A member that is not read yet is not among them.
    pub fn absent_members(&self, uid: &Uid) -> Vec<AbsentMember> {
        let Some(cluster) = self.cluster_of(uid) else {
            return Vec::new();
        };
        let members = self.graph.member_references(uid);
        let absent = members.filter_map(|member| {
            let target = &member.target;
            if self.graph.referenced(target).is_some() {
                return None;
            }
            Some(AbsentMember {
                why: self.member_gap(cluster, uid, target)?,
                target: target.clone(),
            })
        });
        absent.collect()
    }

    fn member_gap(
        &self,
        cluster: &ClusterId,
        inventory: &Uid,
        member: &ReferenceTarget,
    ) -> Option<MemberGap> {
        let is_planned = self.members.inventories.contains(inventory);
        let own = member.source(cluster, &self.types);
        let list = member.list_source(cluster, &self.types);
        let list = list.filter(|list| self.lookups.looks_for(list, member));
        let mut sources = own.iter().chain(&list);
        let is_followed = |source: &&SourceKey| self.coverage.follows(source);
        let absence = self.absence(sources.find(is_followed).or(own.as_ref()));
        let gap = MemberGap::Absent(absence);
        match absence {
            Absence::Missing | Absence::Refused => Some(gap),
            Absence::Unserved => (is_planned && self.knows_absence).then_some(gap),
            Absence::Unread => self
                .members
                .beyond
                .contains(member)
                .then_some(MemberGap::Beyond),
            Absence::NotInFile => None,
        }
    }

    /// What is wrong with the members of an inventory, apart from their states.
    pub(super) fn member_findings(&self, uid: &Uid) -> Vec<Finding> {
        let absent = self.absent_members(uid);
        let of = |why: MemberGap| {
            let members = absent.iter().filter(move |member| member.why == why);
            members.map(|member| member.target.object(&self.types).to_string())
        };
        let departed = self
            .graph
            .members(uid)
            .filter(|node| !self.is_there(&node.uid));
        let missing = of(MemberGap::Absent(Absence::Missing))
            .chain(departed.map(|node| node.object.to_string()));
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
        let missing =
            missing.map(|text| Finding::new(CauseRule::MissingMember, Status::Failed, text));
        let remote = self.graph.remote_members(uid).map(|remote| {
            let (count, cluster) = (remote.count, &remote.cluster);
            let text = format!("not judged here: {count} objects in {cluster}");
            Finding::new(CauseRule::RemoteMembers, Status::Current, text)
        });
        missing.into_iter().chain(unread).chain(remote).collect()
    }

    /// The problem of an inventory whose members fail.
    pub(super) fn failed_members(&self, node: &Node) -> Option<Finding> {
        let failed = self.graph.members(&node.uid).filter(|member| {
            let object = self.objects.get(&member.uid);
            member.uid != node.uid
                && object.is_some_and(|object| object.assessment.status() == Status::Failed)
        });
        let names = failed.map(|member| member.object.to_string());
        let text = phrase(names, "has failed", "have failed")?;
        Some(Finding::new(CauseRule::FailedMembers, Status::Failed, text))
    }
}

/// `deployment/web does not exist`, or `deployment/web and 2 more do not exist`; `None` without names.
fn phrase(names: impl IntoIterator<Item = String>, one: &str, many: &str) -> Option<String> {
    let mut names = names.into_iter();
    let first = names.next()?;
    Some(match names.count() {
        0 => format!("{first} {one}"),
        more => format!("{first} and {more} more {many}"),
    })
}

#[cfg(test)]
mod tests;
