//! `FirstListings`: the first listing of each source. The look-back of the timeline begins at them.

use std::sync::Arc;

use crate::commands::versions::{LookBack, LookBackStart};
use crate::object::ResourceVersion;
use crate::source::{Event, SourceKey, SourceState, Version, Why};

/// After this many attempts, other sources no longer wait for one that does not answer.
const ATTEMPTS: u32 = 3;

/// The first listings of the sources so far.
#[derive(Debug, Default)]
pub(super) struct FirstListings(Vec<FirstListing>);

/// The first listing of a source.
#[derive(Debug)]
pub(super) struct FirstListing {
    pub(super) source: Arc<SourceKey>,
    pub(super) objects: Vec<Arc<Version>>,
    end: Option<ListingEnd>,
}

/// How a first listing has ended.
#[derive(Debug)]
enum ListingEnd {
    /// It is complete, and has this version.
    Read(ResourceVersion),
    /// The source cannot be read, or does not answer.
    Refused(Arc<str>),
}

impl FirstListings {
    /// Takes an event of a source.
    pub(super) fn apply(&mut self, key: &Arc<SourceKey>, event: &Event) {
        let known = self.0.iter().position(|listing| listing.source == *key);
        let at = known.unwrap_or_else(|| {
            self.0.push(FirstListing {
                source: key.clone(),
                objects: Vec::new(),
                end: None,
            });
            self.0.len() - 1
        });
        self.0[at].apply(event);
    }

    /// Whether a source is read, or cannot be read.
    pub(super) fn has_ended(&self, source: &SourceKey) -> bool {
        let mut listings = self.0.iter();
        listings.any(|listing| *listing.source == *source && listing.end.is_some())
    }

    /// The listings of Warnings, and those of other objects.
    pub(super) fn into_parts(self) -> (Vec<FirstListing>, Vec<FirstListing>) {
        let listings = self.0.into_iter();
        listings.partition(|listing| &*listing.source.resource.kind == "Event")
    }
}

impl FirstListing {
    fn apply(&mut self, event: &Event) {
        if self.end.is_some() {
            return;
        }
        match event {
            Event::Object {
                why: Why::Listed,
                now,
                ..
            } => self.objects.push(now.clone()),
            Event::Synced { version, .. } => self.end = Some(ListingEnd::Read(version.clone())),
            Event::State(
                SourceState::Forbidden { cause }
                | SourceState::Unserved { cause }
                | SourceState::Failed { cause }
                | SourceState::Retrying {
                    attempt: ATTEMPTS..,
                    cause,
                    ..
                },
            ) => self.end = Some(ListingEnd::Refused(cause.clone())),
            Event::Object { .. } | Event::State(_) | Event::Gap(_) | Event::Undecodable { .. } => {}
        }
    }

    /// Starts the look-back of the source.
    pub(super) fn look_back(self, past: &mut LookBack) {
        let source = &*self.source;
        let version = match self.end {
            Some(ListingEnd::Read(version)) => version,
            Some(ListingEnd::Refused(cause)) => return past.skip(source, &cause),
            None => return past.skip(source, &Arc::from("the server does not answer")),
        };
        if source.select.name().is_some()
            && let [object] = &self.objects[..]
        {
            return past.start(source, LookBackStart::Version(object.clone()));
        }
        for object in &self.objects {
            past.list(source, object);
        }
        past.start_listed(source, &version);
    }
}
