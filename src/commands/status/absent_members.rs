//! `AbsentMembers`: the states of the members of an inventory that have no object.

use std::sync::Arc;

use crate::model::{Absence, MemberGap};
use crate::status::Assessment;

/// One assessment for each reason.
#[derive(Debug)]
pub(super) struct AbsentMembers {
    missing: Arc<Assessment>,
    refused: Arc<Assessment>,
    unserved: Arc<Assessment>,
    unread: Arc<Assessment>,
    beyond: Arc<Assessment>,
}

impl Default for AbsentMembers {
    fn default() -> AbsentMembers {
        let unread = |why| Arc::new(Assessment::unread_member(why));
        AbsentMembers {
            missing: Arc::new(Assessment::missing()),
            refused: unread(Absence::Refused.words()),
            unserved: unread(Absence::Unserved.words()),
            unread: unread(Absence::Unread.words()),
            beyond: unread("not read: too many members"),
        }
    }
}

impl AbsentMembers {
    /// The assessment of a member without an object, for this reason.
    pub(super) fn of(&self, why: MemberGap) -> &Arc<Assessment> {
        match why {
            MemberGap::Absent(Absence::Missing) => &self.missing,
            MemberGap::Absent(Absence::Refused) => &self.refused,
            MemberGap::Absent(Absence::Unserved) => &self.unserved,
            MemberGap::Absent(Absence::NotInFile | Absence::Unread) => &self.unread,
            MemberGap::Beyond => &self.beyond,
        }
    }
}
