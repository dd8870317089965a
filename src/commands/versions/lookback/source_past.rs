//! `SourcePast`: the result of a look-back for one source.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::reach::REQUESTS;
use crate::commands::versions::compared::{ShownVersions, WriteTime};
use crate::commands::versions::read_versions::DocCache;
use crate::commands::versions::state::VersionEvent;
use crate::object::ObjectRef;
use crate::render::diff::ChangeType;
use crate::source::{SourceKey, Why};
use crate::watch::{Between, End, Hole, Missing, PastEvent, RecordBegin, Revision, Storage};

/// An earlier version and its write time.
#[derive(Clone, Debug)]
pub(crate) struct PastVersion {
    pub(crate) event: PastEvent,
    /// The write time from the versions themselves. A deletion has none, unless no version before it is known: then
    /// the deleted object has the earliest possible time.
    pub(crate) written: Option<WriteTime>,
    /// The interval of its revision from Lease renewals, if the versions have no time.
    pub(crate) dated: Option<Between>,
}

/// The write times of versions that were already compared.
pub(crate) type WriteTimes = HashMap<Revision, Option<WriteTime>>;

impl PastVersion {
    /// Dates a version by comparing it with the previous one, unless `known` has its time.
    pub(crate) fn new(event: PastEvent, known: &WriteTimes, docs: &mut DocCache) -> PastVersion {
        let known = event.at.and_then(|at| known.get(&at)).copied();
        let written = match known {
            _ if event.is_end() => created(&event),
            Some(written) => written,
            None => read(&event, docs),
        };
        PastVersion {
            event,
            written,
            dated: None,
        }
    }

    /// The exact write time, if the versions have it.
    pub(crate) fn time(&self) -> Option<Timestamp> {
        self.written?.exact()
    }

    /// Whether it is a change, not the first known state.
    pub(crate) fn is_change(&self) -> bool {
        self.event.why != Why::Listed
    }
}

/// An object ends after its creation. What else its last version records can be a client's.
fn created(event: &PastEvent) -> Option<WriteTime> {
    let doc = event.now.doc().ok()?;
    let created = doc.root().time_at(&["metadata", "creationTimestamp"]);
    created.map(WriteTime::After)
}

fn read(event: &PastEvent, docs: &mut DocCache) -> Option<WriteTime> {
    let change = match event.why {
        Why::Added => ChangeType::Created,
        _ => ChangeType::Modified,
    };
    let pair = VersionEvent::new(change, event.prev.clone(), event.now.clone());
    let read = pair.read(docs, |_| Arc::default()).ok()?;
    WriteTime::read(&read)
}

/// A revision and its time, if known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DatedRevision {
    pub(crate) at: Revision,
    pub(crate) dated: Option<Between>,
}

impl DatedRevision {
    pub(crate) fn undated(at: Revision) -> DatedRevision {
        DatedRevision { at, dated: None }
    }
}

/// What a look-back had too little of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shortfall {
    /// This time was over.
    Time(Duration),
    /// It has made [`REQUESTS`].
    Requests,
}

impl Shortfall {
    /// `not read in 1 s`
    pub(crate) fn cause(self) -> String {
        match self {
            Shortfall::Time(time) => format!("not read in {} s", time.as_secs()),
            Shortfall::Requests => format!("not read within {REQUESTS} requests"),
        }
    }

    /// The cause, and the flag that reads more.
    pub(crate) fn hint(self) -> String {
        let flag = match self {
            Shortfall::Time(_) => "--since 5m",
            Shortfall::Requests => "--since all",
        };
        format!("{}: {flag}", self.cause())
    }
}

/// The result of a look-back for one source.
#[derive(Debug)]
pub(crate) struct SourcePast {
    pub(crate) key: Arc<SourceKey>,
    /// Its revisions can be compared with those of sources in the same storage.
    pub(crate) storage: Storage,
    /// The versions of each object, the oldest first.
    pub(crate) versions: Vec<PastVersion>,
    /// Why it goes no further back.
    pub(crate) end: Option<End>,
    /// Whether it was interrupted, so the server may have more.
    pub(crate) is_cut: bool,
    /// The objects with missing versions, because the server did not answer.
    pub(crate) missing: Vec<Missing>,
    /// The writes in the window that only the first known versions still show.
    pub(crate) compacted: Vec<CompactedWrite>,
    /// The number of objects; `None` for a named object.
    pub(crate) objects: Option<usize>,
    /// After this revision, all versions are known of objects that existed then or exist now.
    pub(crate) from: Option<DatedRevision>,
    /// After this revision, all versions are known of all objects.
    pub(crate) complete: Option<DatedRevision>,
    /// What of it is recorded; `None` if it was read from a server.
    pub(crate) recorded: Option<RecordedSpan>,
}

/// The record of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordedSpan {
    /// When it begins, and why what was recorded before cannot be read.
    pub(crate) begin: RecordBegin,
    /// The holes, the oldest first.
    pub(crate) holes: Vec<Hole>,
}

impl SourcePast {
    /// An empty result.
    pub(crate) fn new(key: Arc<SourceKey>) -> SourcePast {
        SourcePast {
            key,
            storage: Storage::default(),
            versions: Vec::new(),
            end: None,
            is_cut: false,
            missing: Vec::new(),
            compacted: Vec::new(),
            objects: None,
            from: None,
            complete: None,
            recorded: None,
        }
    }

    /// The result of a look-back that was refused midway. It keeps no version: those of some objects look like all.
    pub(crate) fn refused(self, end: End) -> SourcePast {
        SourcePast {
            end: Some(end),
            ..SourcePast::new(self.key)
        }
    }

    /// Whether objects that were created and deleted may be missing.
    pub(crate) fn is_short(&self) -> bool {
        let revision = |bound: Option<DatedRevision>| bound.map(|bound| bound.at);
        self.complete.is_none() || revision(self.complete) > revision(self.from)
    }

    /// The reason why the source has no look-back.
    pub(crate) fn refusal(&self) -> Option<String> {
        match self.end.as_ref()? {
            End::NotOffered(cause) => Some(cause.to_string()),
            End::Failed(error) => Some(error.to_string()),
            End::Limit | End::Forgotten(_) | End::Spent | End::OutOfTime(_) => None,
        }
    }

    /// Whether anything was read: the source has a look-back, or at least some changes were found.
    pub(crate) fn is_read(&self) -> bool {
        let is_read = self.refusal().is_none() && !(self.is_cut && self.versions.is_empty());
        is_read || self.versions.iter().any(PastVersion::is_change)
    }

    /// Whether every version that was requested was read.
    pub(crate) fn is_whole(&self) -> bool {
        self.refusal().is_none() && !self.is_unfinished()
    }

    /// Whether it ended before it was complete, so the server may have more.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.is_cut || self.shortfall().is_some()
    }

    /// Why the look-back ended before it was complete, if nobody stopped it.
    pub(crate) fn shortfall(&self) -> Option<Shortfall> {
        match self.end.as_ref()? {
            End::Spent => Some(Shortfall::Requests),
            End::OutOfTime(after) => Some(Shortfall::Time(*after)),
            End::Limit | End::Forgotten(_) | End::NotOffered(_) | End::Failed(_) => None,
        }
    }

    /// Marks the result as interrupted, so it has no end and no known start.
    pub(crate) fn cut(self) -> SourcePast {
        SourcePast {
            end: None,
            is_cut: true,
            from: None,
            complete: None,
            ..self
        }
    }
}

/// A write that is known only by its result.
#[derive(Clone, Debug)]
pub(crate) struct CompactedWrite {
    /// The object.
    pub(crate) object: Arc<ObjectRef>,
    /// Whether the object was created in the window. Otherwise its first known version is a change.
    pub(crate) is_creation: bool,
}

impl CompactedWrite {
    /// Whether it is a change for `--exit-code`. Nobody knows who made it, and what a change was about.
    pub(crate) fn is_shown(&self, shown: &ShownVersions) -> bool {
        let is_every_path = self.is_creation || shown.filter.is_everything();
        shown.by.is_everyone() && is_every_path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{ObjectRef, ResourceVersion};
    use crate::source::{SourceKey, Version};
    use crate::watch::SourceError;

    #[test]
    fn a_refused_look_back_keeps_no_version() {
        let object = ObjectRef {
            api_version: "v1".into(),
            kind: "Pod".into(),
            namespace: Some("shop".into()),
            name: "a".into(),
            uid: None,
        };
        let version = Version {
            object: Arc::new(object.clone()),
            version: ResourceVersion::new("7"),
            body: "{}".into(),
        };
        let event = PastEvent {
            why: Why::Modified,
            at: None,
            now: Arc::new(version),
            prev: None,
        };
        let mut docs = DocCache::default();
        let mut found = SourcePast::new(Arc::new(SourceKey::all("", "Pod")));
        found.versions = vec![PastVersion::new(event, &WriteTimes::default(), &mut docs)];
        let cause = SourceError::Ended;
        found.missing = vec![Missing { object, cause }];
        let found = found.refused(End::NotOffered("code 403".into()));
        assert_eq!(found.versions.len() + found.missing.len(), 0);
        assert_eq!(found.refusal().as_deref(), Some("code 403"));
    }
}
