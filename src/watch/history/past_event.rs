//! The events of an object: as a walk finds them, newest first, and as a watch sends them, oldest first.

use std::sync::Arc;

use crate::object::ResourceVersion;
use crate::source::{Body, Version, Why};
use crate::watch::revision::Revision;

/// An object at one revision: its version, or `None` if it does not exist.
pub type Presence = Option<Arc<Version>>;

/// One finding of a walk back.
#[derive(Clone, Debug)]
pub enum Past {
    /// A version.
    Version(Arc<Version>),
    /// The version before this in the walk was the first of its lifetime: the object did not exist before it.
    Created,
    /// At this revision the next version of the walk was deleted, or stopped matching the selector.
    Deleted(Revision),
}

/// One version of the past, as a watch event. [`Why::Listed`] marks the oldest version that could be read; what
/// came before it is unknown.
#[derive(Clone, Debug)]
pub struct PastEvent {
    /// `Listed`, `Added`, `Modified`, `Deleted` or `LeftSelector`; `Skipped` if versions before it may be missing.
    pub why: Why,
    /// The revision of the event.
    pub at: Option<Revision>,
    /// The version.
    pub now: Arc<Version>,
    /// The version before it, of the same lifetime.
    pub prev: Presence,
}

impl PastEvent {
    /// Whether the object was deleted, or stopped matching the selector.
    pub fn is_end(&self) -> bool {
        matches!(self.why, Why::Deleted | Why::LeftSelector)
    }
}

/// Reverses the findings of a walk that started at `newest`, so that `newest` is the last.
pub fn in_order(newest: Presence, found: Vec<Past>) -> Vec<PastEvent> {
    let newest = newest.map(Past::Version);
    let mut events = Vec::with_capacity(found.len() + 1);
    let mut there: Presence = None;
    let mut first = Why::Listed;
    for past in found.into_iter().rev().chain(newest) {
        match past {
            Past::Version(now) => {
                let prev = there.replace(now.clone());
                let why = prev.as_ref().map_or(first, |_| Why::Modified);
                let at = Revision::parse(&now.version);
                events.push(PastEvent { why, at, now, prev });
            }
            Past::Created => first = Why::Added,
            Past::Deleted(at) => {
                first = Why::Listed;
                let Some(last) = there.take() else { continue };
                let why = Why::Deleted;
                // Only the event of the deletion is known, which has the last state.
                if Revision::parse(&last.version) == Some(at) {
                    events.pop();
                    let (at, now, prev) = (Some(at), last, None);
                    events.push(PastEvent { why, at, now, prev });
                    continue;
                }
                events.push(PastEvent {
                    why,
                    at: Some(at),
                    now: Arc::new(deleted(&last, at)),
                    prev: Some(last),
                });
            }
        }
    }
    events
}

/// The object in the event of its deletion: its last state, with the resourceVersion of the deletion.
pub(crate) fn deleted(last: &Version, at: Revision) -> Version {
    let version = ResourceVersion::from(at);
    let body = renumbered(last, &version).map_or_else(|| last.body.clone(), Body::from);
    Version {
        object: last.object.clone(),
        version,
        body,
    }
}

/// The text of an object with another `metadata.resourceVersion` and no other change.
fn renumbered(last: &Version, version: &ResourceVersion) -> Option<String> {
    let doc = last.doc().ok()?;
    let value = doc.root().at(&["metadata", "resourceVersion"])?.raw();
    // The value is a slice of the text, so its address gives its offset.
    let start = value.as_ptr().addr() - doc.text().as_ptr().addr();
    let (before, after) = (
        doc.text().get(..start)?,
        doc.text().get(start + value.len()..)?,
    );
    Some(format!("{before}\"{version}\"{after}"))
}

/// An object at a revision.
#[derive(Clone, Debug)]
pub(in crate::watch) struct ObjectAt {
    /// The revision.
    pub(in crate::watch) at: Revision,
    /// The object; `None` if it does not exist.
    pub(in crate::watch) there: Presence,
}

/// The objects of a source at a revision.
#[derive(Clone, Debug)]
pub struct ObjectsAt {
    /// The revision.
    pub at: Revision,
    /// All objects of the source.
    pub objects: Vec<Arc<Version>>,
}
