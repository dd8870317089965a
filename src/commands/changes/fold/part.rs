//! `TimelinePart`: what a version is in the timeline of every kind. A pure decision about one compared version.

use crate::commands::versions::{Author, Compared, ControlledObject, authors, is_event, is_report};

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
