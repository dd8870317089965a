//! `TimelinePart`: what a version is in the timeline of every kind. A pure decision about one compared version.

use super::{Author, ControlledObject};
use crate::commands::changes::compared::{Compared, authors};
use crate::diff::{Change, Diff};
use crate::object::ObjectRef;
use crate::object::managed_fields::Writers;
use crate::render::diff::ChangeType;

/// The annotation in which the controller of Deployments counts revisions.
const REVISION: &str = r#".metadata.annotations["deployment.kubernetes.io/revision"]"#;

/// The field that the scheduler sets. A binding has no field manager.
const BINDING: &str = ".spec.nodeName";

/// What a version is in the timeline of every kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimelinePart {
    /// What somebody did.
    Version,
    /// An Event.
    Event,
    /// What controllers did about an object that they created for its owner.
    Owned,
    /// A report of a controller about an object.
    Report,
}

impl TimelinePart {
    /// Decides what a version is. What people and tools do to owned objects is what somebody did.
    pub(crate) fn of(compared: &Compared<'_>) -> TimelinePart {
        if is_event(&compared.read.event.now.object) {
            return TimelinePart::Event;
        }
        let owned = ControlledObject::of(compared.read);
        let authors = authors(&compared.writers, compared.diff.as_ref());
        let is_by = |kind| {
            let mut authors = authors.iter();
            authors.any(|author| Author::of(author, owned.as_ref()) == kind)
        };
        match owned {
            _ if is_by(Author::Person) => TimelinePart::Version,
            Some(_) if !is_by(Author::Tool) => TimelinePart::Owned,
            None => match &compared.diff {
                Some(diff) if is_report(compared.change(), diff, &compared.writers) => {
                    TimelinePart::Report
                }
                Some(_) | None => TimelinePart::Version,
            },
            Some(_) => TimelinePart::Version,
        }
    }
}

/// Whether the object is an Event, of either of the groups that serve them.
pub(crate) fn is_event(object: &ObjectRef) -> bool {
    &*object.kind == "Event" && matches!(object.group(), "" | "events.k8s.io")
}

/// Whether a version only reports about an object: who wrote it reports in its status, or all changes are such reports.
pub(crate) fn is_report(change: ChangeType, diff: &Diff<'_>, writers: &Writers<'_>) -> bool {
    let changes = diff.changes().iter();
    let mut real = changes.filter(|change| change.noise.is_none()).peekable();
    let mut actors = writers.actors().peekable();
    let is_by_reporters =
        actors.peek().is_some() && actors.all(|actor| &*actor.subresource == "status");
    change == ChangeType::Modified
        && real.peek().is_some()
        && (is_by_reporters || real.all(|change| is_reported(diff, change)))
}

/// Whether controllers report in this field.
fn is_reported(diff: &Diff<'_>, change: &Change) -> bool {
    let top = diff.chain(change.at).last();
    let is_status = top.and_then(|top| diff.field(top)) == Some("status");
    is_status || {
        let path = diff.path(change.at).to_string();
        path == REVISION || path == BINDING
    }
}
