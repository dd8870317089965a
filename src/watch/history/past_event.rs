//! What happened to an object: as a walk finds it, the newest first, and as events tell it, the oldest first.

use std::sync::Arc;

use super::revision::Revision;
use crate::object::ResourceVersion;
use crate::source::Body;
use crate::source::{Version, Why};

/// What is known of an object at one revision without asking: the version that was there, or `None`.
pub type Presence = Option<Arc<Version>>;

/// One thing that is found on the way back.
#[derive(Clone, Debug)]
pub enum Past {
    /// A version.
    Version(Arc<Version>),
    /// The version told last was the first of its life: before it the object was absent.
    Created,
    /// At this revision the version that is told next was deleted, or ceased to match the selector.
    Deleted(Revision),
}

/// One version of the past, as an event of a watch tells it. [`Why::Listed`] is the oldest version that
/// could be read: nothing is known of what came before it.
#[derive(Clone, Debug)]
pub struct PastEvent {
    /// `Listed`, `Added`, `Modified`, `Deleted` or `LeftSelector`.
    pub why: Why,
    /// At which revision.
    pub at: Option<Revision>,
    /// This version.
    pub now: Arc<Version>,
    /// The one before, of the same life.
    pub prev: Presence,
}

impl PastEvent {
    /// Whether the object was deleted, or ceased to match the selector.
    pub fn is_end(&self) -> bool {
        matches!(self.why, Why::Deleted | Why::LeftSelector)
    }
}

/// Turns round what a walk found, which started at `newest`; that is the last.
pub fn in_order(newest: Presence, found: Vec<Past>) -> Vec<PastEvent> {
    let newest = newest.map(Past::Version);
    let mut told = Vec::with_capacity(found.len() + 1);
    let mut there: Presence = None;
    let mut first = Why::Listed;
    for past in found.into_iter().rev().chain(newest) {
        match past {
            Past::Version(now) => {
                let prev = there.replace(now.clone());
                let why = prev.as_ref().map_or(first, |_| Why::Modified);
                let at = Revision::parse(&now.version);
                told.push(PastEvent { why, at, now, prev });
            }
            Past::Created => first = Why::Added,
            Past::Deleted(at) => {
                first = Why::Listed;
                if let Some(last) = there.take() {
                    told.push(PastEvent {
                        why: Why::Deleted,
                        at: Some(at),
                        now: Arc::new(deleted(&last, at)),
                        prev: Some(last),
                    });
                }
            }
        }
    }
    told
}

/// The object as the event of its deletion has it: its last state, under the deletion's resourceVersion.
fn deleted(last: &Version, at: Revision) -> Version {
    let version = ResourceVersion::from(at);
    let body = renumbered(last, &version).map_or_else(|| last.body.clone(), Body::from);
    Version {
        object: last.object.clone(),
        version,
        body,
    }
}

/// An object's text with another `metadata.resourceVersion`; all else as it stands.
fn renumbered(last: &Version, version: &ResourceVersion) -> Option<String> {
    let doc = last.doc().ok()?;
    let value = doc.root().at(&["metadata", "resourceVersion"])?.raw();
    // The value is a slice of the text, which tells where it stands.
    let start = value.as_ptr().addr() - doc.text().as_ptr().addr();
    let (before, after) = (
        doc.text().get(..start)?,
        doc.text().get(start + value.len()..)?,
    );
    Some(format!("{before}\"{version}\"{after}"))
}
