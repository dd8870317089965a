//! What a look-back found of one source.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::commands::changes::compared::WriteTime;
use crate::commands::changes::doc_cache::DocCache;
use crate::commands::changes::state::VersionEvent;
use crate::render::diff::ChangeType;
use crate::source::{SourceKey, Why};
use crate::watch::{Between, End, Missing, PastEvent, Revision};

/// A version of the past, and when it was written.
#[derive(Clone, Debug)]
pub(crate) struct PastVersion {
    pub(crate) event: PastEvent,
    /// When it was written, as the versions themselves say. A deletion does not say.
    pub(crate) written: Option<WriteTime>,
    /// When its revision was written, by the renewals of Leases, where the versions do not say.
    pub(crate) dated: Option<Between>,
}

/// When versions were written that were compared already.
pub(crate) type WriteTimes = HashMap<Revision, Option<WriteTime>>;

impl PastVersion {
    /// Finds out when a version was written, from itself and the version before it.
    pub(crate) fn new(event: PastEvent, known: &WriteTimes, docs: &mut DocCache) -> PastVersion {
        let known = event.at.and_then(|at| known.get(&at)).copied();
        let written = match known {
            _ if event.is_end() => None,
            Some(written) => written,
            None => read(&event, docs),
        };
        PastVersion {
            event,
            written,
            dated: None,
        }
    }

    /// When it was written, where the versions themselves say.
    pub(crate) fn time(&self) -> Option<Timestamp> {
        self.written?.exact()
    }

    /// Whether it is a change, and not the state in which the past begins.
    pub(crate) fn is_change(&self) -> bool {
        self.event.why != Why::Listed
    }
}

fn read(event: &PastEvent, docs: &mut DocCache) -> Option<WriteTime> {
    let pair = VersionEvent::new(ChangeType::Modified, event.prev.clone(), event.now.clone());
    let read = pair.read(docs, |_| Arc::default()).ok()?;
    WriteTime::read(&read)
}

/// A revision, and when it was written, where that is known.
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

/// What was found of one source.
#[derive(Debug)]
pub(crate) struct SourcePast {
    pub(crate) key: Arc<SourceKey>,
    /// The versions of each object, the oldest first.
    pub(crate) versions: Vec<PastVersion>,
    /// Why there is no more.
    pub(crate) end: Option<End>,
    /// Whether it was interrupted, so that there may be more.
    pub(crate) is_cut: bool,
    /// The objects of which versions are missing, because the server did not answer.
    pub(crate) missing: Vec<Missing>,
    /// Of a wide source: how many objects it has.
    pub(crate) objects: Option<usize>,
    /// From this revision on all versions are known of the objects that existed then, or exist now.
    pub(crate) from: Option<DatedRevision>,
    /// From this revision on all versions are known of all objects.
    pub(crate) complete: Option<DatedRevision>,
}

impl SourcePast {
    /// Nothing yet.
    pub(crate) fn new(key: Arc<SourceKey>) -> SourcePast {
        SourcePast {
            key,
            versions: Vec::new(),
            end: None,
            is_cut: false,
            missing: Vec::new(),
            objects: None,
            from: None,
            complete: None,
        }
    }

    /// Whether objects may be missing that were created and deleted.
    pub(crate) fn is_short(&self) -> bool {
        let revision = |bound: Option<DatedRevision>| bound.map(|bound| bound.at);
        self.complete.is_none() || revision(self.complete) > revision(self.from)
    }

    /// The same of a look-back that was interrupted: it came to no end, and nothing older is known.
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
