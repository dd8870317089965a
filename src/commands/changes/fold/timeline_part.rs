//! `TimelinePart`: what a version is in the timeline of every kind. A pure decision about one compared version.

use super::Author;
use crate::commands::changes::compared::Compared;
use crate::diff::{Change, Diff};
use crate::object::{ObjectRef, Value};
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
    /// A version of an object that a controller created for its owner.
    Owned,
    /// A report of a controller about an object.
    Report,
}

impl TimelinePart {
    /// Decides what a version is. What people do to owned objects, or report, is what somebody did.
    pub(crate) fn of(compared: &Compared<'_>) -> TimelinePart {
        let event = compared.read.event;
        if is_event(&event.now.object) {
            return TimelinePart::Event;
        }
        let mut actors = compared.writers.actors();
        let is_by_person = actors.any(|actor| Author::of(actor) == Author::Person);
        if is_by_person {
            TimelinePart::Version
        } else if is_controlled(&event.now.object, compared.read.doc.root()) {
            TimelinePart::Owned
        } else if is_report(compared) {
            TimelinePart::Report
        } else {
            TimelinePart::Version
        }
    }
}

/// Whether the object is an Event, of either of the groups that serve them.
pub(crate) fn is_event(object: &ObjectRef) -> bool {
    &*object.kind == "Event" && matches!(object.group(), "" | "events.k8s.io")
}

/// Whether a controller made the object for another one: it has a controller, or is the Endpoints of a Service.
pub(crate) fn is_controlled(object: &ObjectRef, root: Value<'_>) -> bool {
    let mut owners = root.items_at(&["metadata", "ownerReferences"]);
    owners.any(|owner| owner.bool_at(&["controller"]) == Some(true)) || is_endpoints(object)
}

/// Whether the object is an Endpoints, which has the name of its Service and no owner.
pub(super) fn is_endpoints(object: &ObjectRef) -> bool {
    &*object.kind == "Endpoints" && object.group().is_empty()
}

fn is_report(compared: &Compared<'_>) -> bool {
    let Some(diff) = &compared.diff else {
        return false;
    };
    let changes = diff.changes().iter();
    let mut real = changes.filter(|change| change.noise.is_none()).peekable();
    let is_modified = compared.change() == ChangeType::Modified;
    let mut actors = compared.writers.actors().peekable();
    let is_by_reporters =
        actors.peek().is_some() && actors.all(|actor| &*actor.subresource == "status");
    is_modified
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
