//! `ModelObject`: one object of the model, with its assessment.

use std::sync::Arc;

use jiff::Timestamp;

use crate::object::ObjectRef;
use crate::source::{ClusterId, SourceKey, Version, Why};
use crate::status::{Assessment, Departure, Finding, Status};

/// One object of the model.
#[derive(Debug)]
pub struct ModelObject {
    /// Its type, namespace and name.
    pub object: ObjectRef,
    /// Its state, cells and causes, as of the last refresh.
    pub assessment: Assessment,
    /// The same from the object alone.
    pub(super) own: Assessment,
    /// The worst state among the dependents of its current revision; `None` without dependents.
    pub worst: Option<Status>,
    /// When its state last changed; `None` if it has not since the first listing.
    pub changed: Option<Timestamp>,
    /// Why and when it departed; `None` while it is there.
    pub departure: Option<(Departure, Timestamp)>,
    /// Its newest version in each source that has it. The model uses the first entry.
    held: Vec<(Arc<SourceKey>, Arc<Version>)>,
    /// The problem of its Pods, for a workload.
    pub(super) failed_pods: Option<Finding>,
    /// When to assess it again if no event arrives.
    pub(super) review: Option<Timestamp>,
}

impl ModelObject {
    pub(super) fn new(object: ObjectRef) -> ModelObject {
        ModelObject {
            object,
            assessment: Assessment::unread(),
            own: Assessment::unread(),
            worst: None,
            changed: None,
            departure: None,
            held: Vec::new(),
            failed_pods: None,
            review: None,
        }
    }

    /// The newest version; `None` if no source has the object.
    pub(super) fn version(&self) -> Option<&Arc<Version>> {
        self.held.first().map(|(_, version)| version)
    }

    /// Stores a version from a source. Returns whether the object is there: another source may have reported
    /// its deletion already.
    pub(super) fn put(&mut self, source: &Arc<SourceKey>, version: &Arc<Version>) -> bool {
        if let Some(held) = self.held.iter_mut().find(|(held, _)| held == source) {
            held.1 = version.clone();
        } else {
            self.held.push((source.clone(), version.clone()));
            self.departure = None;
        }
        self.departure.is_none()
    }

    pub(super) fn retain_sources(&mut self, stays: impl Fn(&SourceKey) -> bool) {
        self.held.retain(|(source, _)| stays(source));
    }

    /// A source no longer has the object. A deleted object is gone, even if other sources still show it.
    pub(super) fn lose(&mut self, source: &SourceKey, why: Why, now: Timestamp) {
        self.retain_sources(|held| held != source);
        let how = match why {
            Why::LeftSelector => Departure::LeftSelector,
            Why::Deleted
            | Why::Vanished
            | Why::Listed
            | Why::Added
            | Why::Modified
            | Why::Skipped => Departure::Deleted,
        };
        if why == Why::Deleted || self.held.is_empty() {
            self.departure.get_or_insert((how, now));
        }
    }

    /// Keeps only the text of its newest version. The parsed form takes more memory than the text, and the
    /// assessment needs it once.
    pub(super) fn drop_tape(&mut self) {
        if let Some((_, version)) = self.held.first_mut()
            && version.body.read().is_some()
        {
            *version = Arc::new(version.unread());
        }
    }

    /// Assesses the object with what is wrong around it. Returns whether the assessment is another one. A
    /// workload that has all it wants is well, whatever its Pods do.
    pub(super) fn take_findings(
        &mut self,
        mut findings: Vec<Finding>,
        news: Option<Timestamp>,
    ) -> bool {
        if !self.own.is_well() {
            findings.extend(self.failed_pods.clone());
        }
        let assessment = self.own.clone().with(findings);
        let is_other = self.assessment != assessment;
        if is_other {
            self.changed = news.or(self.changed);
            self.assessment = assessment;
        }
        is_other
    }

    /// The cluster that it is in; `None` if no source has it.
    pub(super) fn cluster(&self) -> Option<&ClusterId> {
        self.held.first().map(|(source, _)| &source.cluster)
    }

    pub(super) fn take_worst(&mut self, worst: Option<Status>, news: Option<Timestamp>) {
        if self.worst != worst {
            if self.worst.is_some() {
                self.changed = news.or(self.changed);
            }
            self.worst = worst;
        }
    }
}
