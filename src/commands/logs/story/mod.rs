//! `Story`: what happened to the objects between the lines: versions with their writers, states, and warnings.

mod item;
mod teller;

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::selected_pods::SelectedPods;
use crate::commands::ServerClock;
use crate::commands::versions::{
    ChangesState, LookBack, LookBackStart, Reach, TimelineEntry, is_event, timeline, unfinished,
    unread_lines,
};
use crate::env::shifted;
use crate::graph::{Links, ReferenceTarget, Tier, well_known};
use crate::object::{ResourceVersion, Uid};
use crate::source::{Event, Form, Select, SourceKey, SourceState, Version, Why};
use crate::watch::Mux;
pub(super) use item::{StoryItem, StoryKind};
pub(super) use teller::StoryTeller;

/// How many of the `ConfigMap`s and Secrets that Pods use are followed. Each costs a list and a watch.
const MAX_USED: usize = 24;

/// After this many attempts, other sources no longer wait for one that does not answer.
const ATTEMPTS: u32 = 3;

/// What stands between the lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StoryParts {
    /// The versions of objects, with their writers.
    pub(super) changes: bool,
    /// The warnings about objects.
    pub(super) events: bool,
    /// The states of objects.
    pub(super) status: bool,
}

impl StoryParts {
    /// Whether nothing stands between the lines.
    pub(super) fn is_empty(self) -> bool {
        self == StoryParts::default()
    }

    fn needs_versions(self) -> bool {
        self.changes || self.status
    }
}

/// How the story of the past is read.
pub(super) struct PastStory {
    pub(super) mux: Mux,
    pub(super) reach: Reach,
    pub(super) clock: Option<Arc<ServerClock>>,
}

/// The first listing of a source.
struct FirstListing {
    source: Arc<SourceKey>,
    objects: Vec<Arc<Version>>,
    end: Option<ListingEnd>,
}

/// How a first listing has ended.
enum ListingEnd {
    /// It is complete, and has this version.
    Read(ResourceVersion),
    /// The source cannot be read, or does not answer.
    Refused(Arc<str>),
}

/// The sources of the story and what they have told.
pub(super) struct Story {
    teller: StoryTeller,
    /// Whether versions that arrive are told.
    is_followed: bool,
    past: Option<PastStory>,
    reading: Option<LookBack>,
    arrivals: ChangesState,
    /// `None` once the story has begun.
    listings: Option<Vec<FirstListing>>,
    /// What has arrived and is not told yet.
    arrived: Vec<TimelineEntry>,
    /// The Pods whose `ConfigMap`s and Secrets are known.
    seen_pods: BTreeSet<Uid>,
    /// The `ConfigMap`s and Secrets that the Pods use.
    used: BTreeSet<ReferenceTarget>,
    /// The sources that the model does not follow.
    sources: Vec<SourceKey>,
    notes: Vec<String>,
}

impl Story {
    /// The story of the objects of these sources. With a past it begins there, else now.
    pub(super) fn new(
        teller: StoryTeller,
        requested: &[SourceKey],
        past: Option<PastStory>,
    ) -> Story {
        let warnings = requested.iter().map(|key| SourceKey {
            resource: well_known("", "Event"),
            select: Select::matching(None, Some("type=Warning")),
            form: Form::Full,
            ..key.clone()
        });
        let mut sources: Vec<SourceKey> = Vec::new();
        for source in warnings.filter(|_| teller.parts.events) {
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
        Story {
            teller,
            is_followed: false,
            past,
            reading: None,
            arrivals: ChangesState::default(),
            listings: Some(Vec::new()),
            arrived: Vec::new(),
            seen_pods: BTreeSet::new(),
            used: BTreeSet::new(),
            sources,
            notes: Vec::new(),
        }
    }

    /// The same story, which goes on with what happens from now on.
    pub(super) fn followed(self, is_followed: bool) -> Story {
        Story {
            is_followed,
            ..self
        }
    }

    /// The sources beside those of the model.
    pub(super) fn sources(&self) -> &[SourceKey] {
        &self.sources
    }

    /// Whether every source so far is read, or cannot be read.
    pub(super) fn is_settled(&self) -> bool {
        let Some(listings) = &self.listings else {
            return true;
        };
        let is_settled = |source: &SourceKey| {
            let mut known = listings.iter();
            known.any(|listing| *listing.source == *source && listing.end.is_some())
        };
        self.sources.iter().all(is_settled)
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
            take_listing(listings, key, event);
        }
        let entry = self.arrivals.apply(key, event.clone(), now);
        let is_news = |entry: &TimelineEntry| entry.version().is_some() && !entry.is_baseline();
        self.arrived
            .extend(entry.filter(|entry| self.is_followed && is_news(entry)));
    }

    /// Follows the `ConfigMap`s and Secrets that the selected Pods use.
    pub(super) fn follow_used(&mut self, selection: &SelectedPods) {
        if !self.teller.parts.changes || self.used.len() >= MAX_USED {
            return;
        }
        let model = &selection.model;
        for pod in selection.pods() {
            let uid = pod.pod.identity();
            if !self.seen_pods.insert(uid.clone()) {
                continue;
            }
            let Some((cluster, doc)) = selection.cluster().zip(model.doc(&uid)) else {
                continue;
            };
            let links = Links::of(doc.root(), Tier::Unwell, model.types());
            for reference in links.references {
                let target = reference.target;
                let is_config = matches!(&*target.kind.kind, "ConfigMap" | "Secret");
                // Every Pod has the certificates of its cluster.
                let is_own = is_config && &*target.name != "kube-root-ca.crt";
                if !is_own || self.used.len() >= MAX_USED || self.used.contains(&target) {
                    continue;
                }
                let source = target.source(cluster, model.types());
                self.sources.extend(source.map(|source| SourceKey {
                    form: Form::Full,
                    ..source
                }));
                self.used.insert(target);
            }
        }
    }

    /// Begins with what was listed: with the past, if that was requested.
    pub(super) fn begin(&mut self, selection: &SelectedPods) {
        let Some(listings) = self.listings.take() else {
            return;
        };
        let Some(past) = self.past.take() else {
            return;
        };
        let (events, listings): (Vec<FirstListing>, Vec<FirstListing>) = listings
            .into_iter()
            .filter(|listing| !selection.model.searches(&listing.source))
            .partition(|listing| &*listing.source.resource.kind == "Event");
        self.arrived.splice(0..0, listed_events(events));
        if !self.teller.parts.needs_versions() {
            return;
        }
        let keys: Vec<SourceKey> = listings.iter().map(|of| (*of.source).clone()).collect();
        let reading = LookBack::new(past.mux, past.reach, &keys, self.teller.shown.clone());
        let mut reading = reading.by_clock(past.clock);
        for listing in listings {
            start(&mut reading, listing);
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
    ) -> Vec<StoryItem> {
        if self.listings.is_some() {
            return Vec::new();
        }
        let mut items = Vec::new();
        if let Some(reading) = &mut self.reading {
            if !reading.is_over() {
                return Vec::new();
            }
            items.extend(self.past_items(selection, now));
        }
        for entry in std::mem::take(&mut self.arrived) {
            items.extend(self.teller.tell(&entry, selection));
        }
        items
    }

    fn past_items(&mut self, selection: &SelectedPods, now: Timestamp) -> Vec<StoryItem> {
        let Some(reading) = self.reading.take() else {
            return Vec::new();
        };
        let now = shifted(now, reading.skew());
        let entries = timeline(&reading.found, reading.since(), now);
        let events = std::mem::take(&mut self.arrived);
        let is_in_time = |entry: &TimelineEntry| {
            let since = reading.since();
            since.is_none_or(|since| entry.time() >= since)
        };
        let mut items: Vec<StoryItem> = Vec::new();
        for entry in &entries {
            // The entries are in their order, even if the time of one is vague.
            let last = items.last().map(|item| item.order);
            let told = self.teller.tell(entry, selection).into_iter();
            items.extend(told.map(|item| StoryItem {
                order: last.map_or(item.order, |last| last.max(item.order)),
                ..item
            }));
        }
        for entry in events.iter().filter(|entry| is_in_time(entry)) {
            items.extend(self.teller.tell(entry, selection));
        }
        items.sort_by_key(|item| item.order);
        // A message about its state names each source that cannot be read.
        self.notes.extend(unread_lines(&reading.found, &[]));
        self.notes.extend(unfinished(&reading.found));
        items
    }

    /// The messages about the parts of the past that were not read.
    pub(super) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }
}

/// Takes an event of a source before the story begins.
fn take_listing(listings: &mut Vec<FirstListing>, key: &Arc<SourceKey>, event: &Event) {
    let known = listings.iter().position(|listing| listing.source == *key);
    let at = known.unwrap_or_else(|| {
        listings.push(FirstListing {
            source: key.clone(),
            objects: Vec::new(),
            end: None,
        });
        listings.len() - 1
    });
    let listing = &mut listings[at];
    match event {
        Event::Object {
            why: Why::Listed,
            now,
            ..
        } if listing.end.is_none() => listing.objects.push(now.clone()),
        Event::Synced { version, .. } if listing.end.is_none() => {
            listing.end = Some(ListingEnd::Read(version.clone()));
        }
        Event::State(
            SourceState::Forbidden { cause }
            | SourceState::Unserved { cause }
            | SourceState::Failed { cause }
            | SourceState::Retrying {
                attempt: ATTEMPTS..,
                cause,
                ..
            },
        ) if listing.end.is_none() => {
            listing.end = Some(ListingEnd::Refused(cause.clone()));
        }
        Event::Object { .. }
        | Event::Synced { .. }
        | Event::State(_)
        | Event::Gap(_)
        | Event::Undecodable { .. } => {}
    }
}

/// The warnings that were there at the start. They have times of their own.
fn listed_events(listings: Vec<FirstListing>) -> Vec<TimelineEntry> {
    let events = listings.into_iter().flat_map(|listing| {
        let FirstListing {
            source, objects, ..
        } = listing;
        let events = objects.into_iter();
        events.filter_map(move |now| {
            is_event(&now.object)
                .then(|| StoryTeller::listed_event(&source, now))
                .flatten()
        })
    });
    events.collect()
}

/// Starts the look-back of a source.
fn start(reading: &mut LookBack, listing: FirstListing) {
    let FirstListing {
        source,
        objects,
        end,
    } = listing;
    match end {
        Some(ListingEnd::Read(version)) => {
            let is_named = source.select.name().is_some();
            if let Some(object) = objects.first().filter(|_| is_named) {
                return reading.start(&source, LookBackStart::Version(object.clone()));
            }
            for object in &objects {
                reading.list(&source, object);
            }
            reading.start_listed(&source, &version);
        }
        Some(ListingEnd::Refused(cause)) => reading.skip(&source, &cause),
        None => reading.skip(&source, &Arc::from("the server does not answer")),
    }
}
