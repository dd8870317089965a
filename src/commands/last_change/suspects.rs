//! `SuspectChanges`: the changes of one object that may be the cause, from the newest to the oldest.

use jiff::Timestamp;

use crate::source::Version;
use crate::status::{Rules, Status, compute};

use super::change::LastChange;
use super::failure::FailureReason;

/// Why something was not read that may be the cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unread {
    /// The server refuses it, or has no answer.
    Refused,
    /// It does not exist, and requests or time ran out before it was found. No number of them shows that it never existed.
    Absent,
    /// Requests or time ran out.
    CutOff,
}

/// The changes that were found on the way back through the versions of an object.
pub(super) struct SuspectChanges<'r> {
    /// Why the failed object has failed; `None` for another object.
    reason: Option<&'r FailureReason>,
    /// All changes so far, the newest first.
    pub(super) found: Vec<LastChange>,
    /// Whether the versions say if the object was well.
    has_health: bool,
    was_well: bool,
}

impl<'r> SuspectChanges<'r> {
    pub(super) fn new(reason: Option<&'r FailureReason>) -> SuspectChanges<'r> {
        SuspectChanges {
            reason,
            found: Vec::new(),
            has_health: false,
            was_well: false,
        }
    }

    /// Whether no change before this version is the cause, because the object was well. A failure of Pods may come late, so
    /// that needs a change after the version.
    pub(super) fn rules_out_before(&mut self, version: &Version) -> bool {
        let is_well = is_well(version);
        self.has_health |= is_well.is_some();
        self.was_well |= is_well == Some(true);
        let ends = self.reason.is_some_and(FailureReason::ends_with_success);
        is_well == Some(true) && (ends || !self.found.is_empty())
    }

    /// There are no older versions. An object that was never well has its failure from the start.
    pub(super) fn reach_creation(&mut self, creation: Option<LastChange>) {
        if self.was_well {
            return;
        }
        if self.is_about_pods() {
            self.found.clear();
        }
        if self.found.is_empty() {
            self.found.extend(creation);
        }
    }

    /// The older versions cannot be read. `written` is what the oldest one says about the write that mattered.
    pub(super) fn reach_unread(&mut self, written: Option<LastChange>) {
        let was_well = self.was_well && self.reason.is_some();
        let is_open = !was_well && self.found.iter().all(|change| change.is_minor);
        self.found.extend(written.filter(|_| is_open));
    }

    pub(super) fn add(&mut self, change: LastChange) -> &SuspectChanges<'r> {
        self.found.push(change);
        self
    }

    /// Whether no older change is needed to find the cause.
    pub(super) fn is_enough(&self) -> bool {
        let mut counted = self.found.iter().skip(self.waiting());
        !self.is_about_pods() && counted.any(|change| !change.is_minor)
    }

    /// The change that is most likely the cause.
    pub(super) fn cause(self) -> Option<LastChange> {
        let waiting = self.waiting();
        let is_about_pods = self.is_about_pods();
        let counted = self.found.into_iter().skip(waiting);
        let (minor, major): (Vec<_>, Vec<_>) = counted.partition(|change| change.is_minor);
        let cause = match major.last() {
            // The first change broke the Pods. A newer one may have changed the same fields again. A creation names none.
            Some(first) if is_about_pods => {
                let mut newest = major.iter();
                newest.find(|change| change.repeats(first)).or(Some(first))
            }
            Some(_) => major.first(),
            None => minor.first(),
        };
        let cause = cause.cloned();
        cause.map(|cause| if waiting > 0 { cause.earlier() } else { cause })
    }

    /// How many of the newest changes wait for a Pod that an earlier one broke.
    fn waiting(&self) -> usize {
        usize::from(self.reason == Some(&FailureReason::BlockedRollout))
    }

    /// Whether Pods fail, and the versions say when they did not.
    fn is_about_pods(&self) -> bool {
        self.has_health && self.reason == Some(&FailureReason::Pods)
    }
}

/// Whether a rollout was complete at a version; `None` if the version does not say it. The time only decides between other
/// states. Of other kinds, kstatus does not look at the Pods.
fn is_well(version: &Version) -> Option<bool> {
    let doc = version.doc().ok()?;
    let strategy = doc.root().str_at(&["spec", "updateStrategy", "type"]);
    let is_rollout = version.object.group() == "apps" && strategy.as_deref() != Some("OnDelete");
    let verdict = compute(doc.root(), Timestamp::UNIX_EPOCH, Rules::Kstatus);
    is_rollout.then_some(verdict.status == Status::Current)
}
