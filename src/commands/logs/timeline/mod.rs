//! `LogTimeline`: what happened to the objects between the lines: versions with their writers, states, and warnings.

mod first_listings;
mod item_builder;
mod used_configuration;

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::selected_pods::SelectedPods;
use crate::commands::container_lines::TimelineItem;
use crate::commands::versions::{
    ChangesState, LookBack, Reach, TimelineEntry, notice, timeline, unfinished, unread_lines,
};
use crate::commands::{ServerClock, Session};
use crate::env::{Clock, shifted};
use crate::graph::well_known;
use crate::render::style::Look;
use crate::source::{Event, Form, Select, SourceKey};
use crate::watch::Mux;
use first_listings::{FirstListing, FirstListings};
use item_builder::ItemBuilder;
pub(super) use item_builder::TimelineParts;
use used_configuration::UsedConfiguration;

/// How the past is read.
struct TimelinePast {
    mux: Mux,
    reach: Reach,
    clock: Option<Arc<ServerClock>>,
}

/// What the timeline of each cluster is made of.
pub(super) struct TimelineSetup {
    pub(super) parts: TimelineParts,
    pub(super) look: Look,
    pub(super) zone: TimeZone,
    /// Where it begins.
    pub(super) reach: Option<Reach>,
    /// Whether it goes on with what happens.
    pub(super) is_followed: bool,
}

impl TimelineSetup {
    /// The timeline of a cluster, by the clock of its server. Its past is also in the record, if there is one.
    pub(super) fn timeline(
        &self,
        session: &Session,
        requested: &[SourceKey],
        clock: &Clock,
    ) -> LogTimeline {
        let builder = ItemBuilder::new(self.parts, self.look, self.zone.clone(), clock);
        let past = self.reach.map(|reach| TimelinePast {
            mux: session.past().clone(),
            reach,
            clock: session.server_clock(),
        });
        LogTimeline {
            is_followed: self.is_followed,
            ..LogTimeline::new(builder, requested, past)
        }
    }
}

/// The sources of the timeline, and what has happened.
pub(super) struct LogTimeline {
    builder: ItemBuilder,
    /// Whether versions that arrive are shown.
    is_followed: bool,
    past: Option<TimelinePast>,
    reading: Option<LookBack>,
    arrivals: ChangesState,
    /// `None` once the timeline has begun.
    listings: Option<FirstListings>,
    /// What has arrived, and the warnings that were there at the start.
    pending: Vec<TimelineEntry>,
    warnings: Vec<SourceKey>,
    used: UsedConfiguration,
    notes: Vec<String>,
}

impl LogTimeline {
    /// The timeline of the objects of these sources. With a past it begins there, else now.
    fn new(
        builder: ItemBuilder,
        requested: &[SourceKey],
        past: Option<TimelinePast>,
    ) -> LogTimeline {
        let mut warnings: Vec<SourceKey> = Vec::new();
        for key in requested.iter().filter(|_| builder.parts.events) {
            let source = SourceKey {
                resource: well_known("", "Event"),
                select: Select::matching(None, Some("type=Warning")),
                form: Form::Full,
                ..key.clone()
            };
            if !warnings.contains(&source) {
                warnings.push(source);
            }
        }
        LogTimeline {
            builder,
            is_followed: false,
            past,
            reading: None,
            arrivals: ChangesState::default(),
            listings: Some(FirstListings::default()),
            pending: Vec::new(),
            warnings,
            used: UsedConfiguration::default(),
            notes: Vec::new(),
        }
    }

    /// The sources beside those of the model.
    pub(super) fn sources(&self) -> impl Iterator<Item = &SourceKey> {
        self.warnings.iter().chain(self.used.sources())
    }

    /// Whether each of these sources is read, or cannot be read.
    pub(super) fn is_settled(&self) -> bool {
        let listings = self.listings.as_ref();
        listings.is_none_or(|listings| self.sources().all(|source| listings.has_ended(source)))
    }

    /// Whether nothing more comes, and all items were taken.
    pub(super) fn is_over(&self) -> bool {
        self.listings.is_none() && !self.is_followed && self.reading.is_none()
    }

    /// Whether it still reads the past.
    pub(super) fn is_reading(&self) -> bool {
        self.reading.is_some()
    }

    /// Applies one event.
    pub(super) fn apply(&mut self, key: &Arc<SourceKey>, event: &Event, now: Timestamp) {
        if let Some(listings) = &mut self.listings {
            listings.apply(key, event);
        }
        let entry = self.arrivals.apply(key, event.clone(), now);
        let entry = entry.filter(|entry| !entry.is_baseline() && !entry.is_listing());
        if let Some(entry) = entry.filter(|_| self.is_followed) {
            match notice(&entry) {
                Some(text) => self.notes.push(text),
                None => self.pending.push(entry),
            }
        }
    }

    /// Updates the sources for the Pods that are selected now.
    pub(super) fn update_sources(&mut self, selection: &SelectedPods) {
        if self.builder.parts.changes {
            self.used.update(selection);
            self.notes.extend(self.used.take_note());
        }
    }

    /// Begins with what was listed: with the past, if that was requested.
    pub(super) fn begin(&mut self, selection: &SelectedPods) {
        let (Some(listings), Some(past)) = (self.listings.take(), self.past.take()) else {
            return;
        };
        let (warnings, mut listings) = listings.into_parts();
        let listed = warnings.into_iter().flat_map(listed_warnings);
        self.pending.splice(0..0, listed);
        let needs_versions = self.builder.parts.changes || self.builder.parts.status;
        listings.retain(|listing| needs_versions && !selection.model.searches(&listing.source));
        let keys: Vec<SourceKey> = listings.iter().map(|of| (*of.source).clone()).collect();
        let shown = self.builder.shown.clone();
        let mut reading = LookBack::new(past.mux, past.reach, &keys, shown).by_clock(past.clock);
        for listing in listings {
            listing.look_back(&mut reading);
        }
        self.reading = Some(reading);
    }

    /// Waits for the past.
    pub(super) async fn next(&mut self) {
        match &mut self.reading {
            Some(reading) if !reading.is_over() => reading.next().await,
            Some(_) | None => std::future::pending().await,
        }
    }

    /// Stops reading the past, and keeps what was found of it.
    pub(super) async fn wind_up(&mut self) {
        if let Some(reading) = &mut self.reading {
            reading.wind_up().await;
        }
    }

    /// Ends the reading of the past at once.
    pub(super) fn give_up(&mut self) {
        if let Some(reading) = &mut self.reading {
            reading.give_up();
        }
    }

    /// What has happened since the last call, in its order. Nothing comes before the past is read.
    pub(super) fn take_items(
        &mut self,
        selection: &SelectedPods,
        now: Timestamp,
    ) -> Vec<TimelineItem> {
        let is_reading = self.reading.as_ref().is_some_and(|past| !past.is_over());
        if self.listings.is_some() || is_reading {
            return Vec::new();
        }
        let mut items = match self.reading.take() {
            Some(past) => self.past_items(&past, selection, now),
            None => Vec::new(),
        };
        for entry in std::mem::take(&mut self.pending) {
            items.extend(self.builder.items(&entry, selection));
        }
        self.notes.extend(self.builder.take_unreadable());
        items
    }

    /// The items of the past, and of what has arrived meanwhile.
    fn past_items(
        &mut self,
        past: &LookBack,
        selection: &SelectedPods,
        now: Timestamp,
    ) -> Vec<TimelineItem> {
        let mut items: Vec<TimelineItem> = Vec::new();
        for entry in timeline(&past.found, past.since(), shifted(now, past.skew())) {
            // The entries are in their order, even if the time of one is vague.
            let last = items.last().map(|item| item.order);
            let own = self.builder.items(&entry, selection).into_iter();
            items.extend(own.map(|item| TimelineItem {
                order: last.map_or(item.order, |last| last.max(item.order)),
                ..item
            }));
        }
        for entry in std::mem::take(&mut self.pending) {
            if past.since().is_none_or(|since| entry.time() >= since) {
                items.extend(self.builder.items(&entry, selection));
            }
        }
        items.sort_by_key(|item| item.order);
        // A message about its state names each source that cannot be read.
        self.notes.extend(unread_lines(&past.found, []));
        self.notes.extend(unfinished(&past.found));
        items
    }

    /// The messages about what is not shown.
    pub(super) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }
}

/// The warnings that were there at the start. Those without a time are left out.
fn listed_warnings(listing: FirstListing) -> impl Iterator<Item = TimelineEntry> {
    let FirstListing {
        source, objects, ..
    } = listing;
    let warnings = objects.into_iter();
    warnings.filter_map(move |version| ItemBuilder::listed_warning(&source, version))
}
