//! `ModelObject`: one object of the model, with its assessment.

use std::sync::{Arc, LazyLock};

use jiff::Timestamp;

use crate::graph::Tier;
use crate::object::{EventFacts, ObjectRef, Uid, well_known_type};
use crate::source::{ClusterId, Form, PrintedCell, SourceKey, Version, Why};
use crate::status::{Assessment, Cause, CauseRule, Departure, Finding, Status};

/// The causes that report a problem of an object which has not failed.
const PROBLEM_REPORTS: [CauseRule; 7] = [
    CauseRule::BudgetViolated,
    CauseRule::Event,
    CauseRule::FailedCreate,
    CauseRule::MissingKey,
    CauseRule::MissingPort,
    CauseRule::MissingReference,
    CauseRule::ReplicaFailure,
];

/// The same of a custom resource. A Pod that has just started has such a condition, too.
const PROBLEM_CONDITIONS: [CauseRule; 2] = [CauseRule::Condition, CauseRule::NotReady];

/// The assessment of an object until the first refresh. All objects of a long listing share it.
static UNREAD: LazyLock<Arc<Assessment>> = LazyLock::new(|| Arc::new(Assessment::unread()));

/// What is known around an object.
#[derive(Debug, Default)]
pub(super) struct Surroundings {
    /// The problems of other objects that matter to its state.
    pub(super) findings: Vec<Finding>,
    /// What explains its state.
    pub(super) facts: Vec<Cause>,
    /// The warnings about it.
    pub(super) warnings: Vec<Arc<EventFacts>>,
}

/// The dependents of an object, direct and indirect, that decide whether the object works.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Parts {
    /// The failed one that most needs help.
    pub(super) failed: Option<Uid>,
    /// The first that is not well.
    pub(super) late: Option<Uid>,
}

/// One object of the model.
#[derive(Debug)]
pub struct ModelObject {
    /// Its type, namespace and name.
    pub object: Arc<ObjectRef>,
    /// Its state, cells and causes, as of the last refresh.
    pub assessment: Arc<Assessment>,
    /// The same from the object alone. Most objects share both.
    pub own: Arc<Assessment>,
    /// The cells of the server's table, if its source has them.
    pub printed: Box<[PrintedCell]>,
    /// The worst state among the dependents of its current revision; `None` without dependents.
    pub worst: Option<Status>,
    /// Those of its dependents that decide whether it works.
    pub(super) parts: Option<Box<Parts>>,
    /// When its state last changed; `None` if it has not since the first listing.
    pub changed: Option<Timestamp>,
    /// Why and when it departed; `None` while it is there.
    pub departure: Option<(Departure, Timestamp)>,
    /// Its newest version in each source that has it. The model uses the first entry.
    held: Vec<(Arc<SourceKey>, Arc<Version>)>,
    /// The problems of its Pods, for a workload, or of its dependents, for a custom resource.
    pub(super) pod_problems: Vec<Finding>,
    /// Up to which tier other objects matter to its state.
    pub(super) needs: Tier,
    /// Whether it is so new that its controllers need not have looked at it yet.
    pub(super) is_starting: bool,
    /// When to assess it again if no event arrives.
    pub(super) review: Option<Timestamp>,
}

impl ModelObject {
    pub(super) fn new(object: Arc<ObjectRef>) -> ModelObject {
        let unread = UNREAD.clone();
        ModelObject {
            object,
            assessment: unread.clone(),
            own: unread,
            printed: Box::default(),
            worst: None,
            parts: None,
            changed: None,
            departure: None,
            held: Vec::new(),
            pod_problems: Vec::new(),
            needs: Tier::Always,
            is_starting: false,
            review: None,
        }
    }

    /// The newest version; `None` if no source has the object. A source of whole objects is preferred to one of
    /// their metadata.
    pub(super) fn version(&self) -> Option<&Arc<Version>> {
        self.newest().map(|(_, version)| version)
    }

    /// The form of the newest version.
    pub(super) fn form(&self) -> Form {
        let newest = self.newest();
        newest.map_or(Form::Full, |(source, _)| source.form)
    }

    /// The dependent that an error about the object names: the failed one that most needs help, or else a late one.
    pub fn decisive_part(&self) -> Option<&Uid> {
        let parts = self.parts.as_ref()?;
        parts.failed.as_ref().or(parts.late.as_ref())
    }

    /// Whether it has failed, or is not new and has a cause that reports a problem.
    pub fn is_broken(&self) -> bool {
        let has_any =
            |rules: &[CauseRule]| rules.iter().any(|rule| self.assessment.has_cause(*rule));
        let is_custom = well_known_type(self.object.group(), &self.object.kind).is_none();
        match self.assessment.status() {
            Status::Failed => true,
            Status::InProgress if self.is_starting => false,
            Status::InProgress => {
                has_any(&PROBLEM_REPORTS) || (is_custom && has_any(&PROBLEM_CONDITIONS))
            }
            Status::Current | Status::Terminating | Status::NotFound | Status::Unknown => false,
        }
    }

    fn newest(&self) -> Option<&(Arc<SourceKey>, Arc<Version>)> {
        let mut held = self.held.iter();
        let whole = held.find(|(source, _)| source.form == Form::Full);
        whole.or(self.held.first())
    }

    /// Stores a version from a source. Returns whether the object is to be assessed again. It is not if it is gone, because
    /// another source may have reported that already, or if another source has shown the same version.
    pub(super) fn put(&mut self, source: &Arc<SourceKey>, version: &Arc<Version>) -> bool {
        if let Some(held) = self.held.iter_mut().find(|(held, _)| held == source) {
            held.1 = version.clone();
            return self.departure.is_none();
        }
        let is_same = |(held, known): &(Arc<SourceKey>, Arc<Version>)| {
            held.form == source.form && known.version == version.version
        };
        let has_version = !version.version.as_str().is_empty();
        let is_known = self.departure.is_none() && has_version && self.held.iter().any(is_same);
        self.held.reserve_exact(1);
        self.held.push((source.clone(), version.clone()));
        self.departure = None;
        !is_known
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

    /// Keeps only the texts of its versions, which it shares with the stores. The parsed form takes more memory than the
    /// text, and the assessment needs it once.
    pub(super) fn drop_tape(&mut self) {
        for (_, version) in &mut self.held {
            if version.body.read().is_some() {
                *version = Arc::new(version.without_tape());
            }
        }
    }

    /// Assesses the object with what is known around it. Returns whether the assessment is another one. A
    /// workload that has all it wants is well, whatever its Pods do.
    pub(super) fn take_surroundings(
        &mut self,
        around: Surroundings,
        news: Option<Timestamp>,
    ) -> bool {
        let mut findings = around.findings;
        let is_well = self.own.is_well();
        let is_of_dependents = |rule| {
            use CauseRule::{FailedDependents, FailedMembers, LastRunFailed};
            matches!(rule, FailedDependents | FailedMembers | LastRunFailed)
        };
        let matters = |problem: &&Finding| !is_well || is_of_dependents(problem.cause.rule);
        findings.extend(self.pod_problems.iter().filter(matters).cloned());
        let is_alone = findings.is_empty() && around.facts.is_empty() && around.warnings.is_empty();
        let assessment = if is_alone {
            self.own.clone()
        } else {
            let assessment = Assessment::clone(&self.own).with(findings);
            let assessment = assessment.with_facts(around.facts);
            Arc::new(assessment.warned(&around.warnings))
        };
        let is_other = self.assessment != assessment;
        if is_other {
            if !is_same_problem(&self.assessment, &assessment) {
                self.changed = news.or(self.changed);
            }
            self.assessment = assessment;
        }
        is_other
    }

    /// A source that has it, and its newest version there; `None` if no source has it.
    pub fn source_version(&self) -> Option<(&Arc<SourceKey>, &Arc<Version>)> {
        let (source, version) = self.held.first()?;
        Some((source, version))
    }

    /// The cluster that it is in; `None` if no source has it.
    pub fn cluster(&self) -> Option<&ClusterId> {
        self.held.first().map(|(source, _)| &source.cluster)
    }

    /// Returns whether the worst state is another one.
    pub(super) fn take_worst(&mut self, worst: Option<Status>, news: Option<Timestamp>) -> bool {
        let is_other = self.worst != worst;
        if is_other {
            if self.worst.is_some() {
                self.changed = news.or(self.changed);
            }
            self.worst = worst;
        }
        is_other
    }
}

/// Whether both assessments differ only in their events, which repeat and expire while nothing changes.
fn is_same_problem(one: &Assessment, other: &Assessment) -> bool {
    let causes = |assessment: &Assessment| {
        let causes = assessment.causes.iter();
        let lasting = causes.filter(|cause| cause.rule != CauseRule::Event);
        lasting.cloned().collect::<Vec<_>>()
    };
    one.verdict == other.verdict && one.row == other.row && causes(one) == causes(other)
}
