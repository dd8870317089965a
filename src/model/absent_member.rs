//! `AbsentMember`: a member of an inventory without an object, and what is planned for members.

use std::collections::BTreeSet;

use crate::graph::ReferenceTarget;
use crate::object::Uid;

use super::absence::Absence;

/// What a model knows about the plan for members.
#[derive(Debug, Default)]
pub(super) struct PlannedMembers {
    /// The inventories whose members are read.
    pub(super) inventories: BTreeSet<Uid>,
    /// The members that are not read, because there are too many.
    pub(super) beyond: BTreeSet<ReferenceTarget>,
}

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
