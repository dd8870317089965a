//! `Follower`: follows the cluster as `status` does, and publishes each change for all readers.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::watch;

use super::package_records::PackageRecords;
use super::sinks::{FollowedObjects, SinkFeed};
use crate::commands::status::{PLAIN, Publication, ServedStatus};
use crate::commands::{CommandError, Live, Need, Note, Sources, Terminal};
use crate::model::Model;
use crate::render::age::rfc3339_millis;
use crate::render::count::plural;
use crate::render::header_footer::{Freshness, ViewHeader};
use crate::serve::{
    Board, Link, Snapshot, SourceHealth, SourcePlace, SourceRecord, WatchRecord, WebServer,
};
use crate::source::{Event, Select, SourceKey, SourceState};

/// The followed objects, and the board that readers look at.
pub(super) struct Follower {
    served: ServedStatus,
    board: watch::Sender<Board>,
    web: Arc<WebServer>,
    /// The printed address, without the token.
    address: String,
    started: Timestamp,
    /// Whether the objects were published once.
    has_begun: bool,
    /// Whether all of them were read once. Only then are changes events.
    is_read: bool,
    /// The time of the last event, for records of sources.
    now: Timestamp,
    /// Where objects have ever been read.
    places: Arc<BTreeSet<SourcePlace>>,
    /// Takes the changes of state for the sinks; `None` without a configuration.
    sinks: Option<SinkFeed>,
    packages: PackageRecords,
    /// The sources of other objects to follow, of which every object is needed.
    rereads: Vec<SourceKey>,
    /// Whether the state of other objects is not complete yet. Readers see the old one meanwhile.
    is_settling: bool,
}

/// Where a follower publishes, and to whom.
pub(super) struct Publisher {
    pub(super) board: watch::Sender<Board>,
    pub(super) web: Arc<WebServer>,
    pub(super) address: String,
    pub(super) sinks: Option<SinkFeed>,
    pub(super) packages: PackageRecords,
}

impl Follower {
    pub(super) fn new(served: ServedStatus, to: Publisher, now: Timestamp) -> Follower {
        Follower {
            served,
            board: to.board,
            web: to.web,
            address: to.address,
            started: now,
            has_begun: false,
            is_read: false,
            now,
            places: Arc::default(),
            sinks: to.sinks,
            packages: to.packages,
            rereads: Vec::new(),
            is_settling: false,
        }
    }

    /// Publishes the objects that have changed.
    fn publish(&mut self, sources: &Sources, now: Timestamp) {
        let Publication { changes, snapshot } = self.served.publish(now);
        self.note_places(sources);
        let mut snapshot = Snapshot {
            link: self.link(sources, now),
            sources: health(sources),
            watches: self.watches(sources),
            places: self.places.clone(),
            ..snapshot
        };
        let model = &self.served.state.model;
        snapshot.packages = self.packages.take(model, &snapshot.cluster, now);
        let are_events = self.is_read;
        self.board.send_modify(|board| {
            for change in changes.iter().filter(|_| are_events) {
                board.announce(&change.row, change.was.as_ref());
            }
            board.snapshot = Arc::new(snapshot);
        });
        if let Some(sinks) = &mut self.sinks {
            sinks.look_again();
        }
    }

    /// Follows what a new configuration names. Returns whether there was one.
    fn reload(&mut self) -> bool {
        let Some(reload) = self.sinks.as_mut().and_then(SinkFeed::take_reload) else {
            return false;
        };
        self.packages = PackageRecords::new(reload.packages);
        if let Some(state) = reload.state {
            self.served.state = *state;
            self.rereads = self.wanted();
            self.is_settling = true;
        }
        true
    }

    /// Gives the states to the sinks, if they are complete and may have changed.
    fn publish_states(&mut self, sources: &Sources, now: Timestamp) {
        let Some(sinks) = self.sinks.as_mut().filter(|_| self.is_read) else {
            return;
        };
        if sinks.take_due() {
            let snapshot = self.board.borrow().snapshot.clone();
            let model = &self.served.state.model;
            sinks.take_rows(&snapshot.rows, &FollowedObjects { sources, model }, now);
        }
    }

    /// Notes where objects are read. What was concluded from them may stay longer than their source.
    fn note_places(&mut self, sources: &Sources) {
        let read = sources.states().map(|(key, _)| place(key));
        let new: Vec<SourcePlace> = read.filter(|it| !self.places.contains(it)).collect();
        if !new.is_empty() {
            Arc::make_mut(&mut self.places).extend(new);
        }
    }

    /// Publishes how current the objects are, if that has changed.
    fn publish_link(&mut self, sources: &Sources, now: Timestamp) {
        self.note_places(sources);
        let places = self.places.clone();
        let (link, watches) = (self.link(sources, now), self.watches(sources));
        let sources = health(sources);
        self.board.send_if_modified(|board| {
            let was = &board.snapshot;
            let is_same_place = was.places == places && was.watches == watches;
            if was.link == link && was.sources == sources && is_same_place {
                return false;
            }
            board.snapshot = Arc::new(Snapshot {
                link,
                sources,
                places,
                watches,
                ..Snapshot::clone(was)
            });
            true
        });
    }

    fn link(&self, sources: &Sources, now: Timestamp) -> Link {
        let is_lost = |state: &SourceState| matches!(state, SourceState::Retrying { .. });
        Link {
            words: sources.summary(now, PLAIN).to_string(),
            is_lost: sources.states().any(|(_, state)| is_lost(state)),
            is_read: self.has_begun && (self.is_read || self.served.state.is_settled()),
            refused: sources.refusal_lines(),
        }
    }

    /// The followed sources, sorted.
    fn watches(&self, sources: &Sources) -> Vec<WatchRecord> {
        let requested = self.served.state.requested();
        let records = sources.states().map(|(key, state)| WatchRecord {
            v: WatchRecord::V,
            cluster: key.cluster.0.to_string(),
            resource: key.resource.group_resource(),
            namespace: key.namespace().map(str::to_owned),
            name: key.select.name().map(str::to_owned),
            labels: key.select.label_selector().map(str::to_owned),
            fields: match key.select {
                Select::Selector(_) => key.select.field_selector().map(Cow::into_owned),
                Select::All | Select::Name(_) => None,
            },
            requested: requested.contains(key),
            state: state.name(),
            cause: state.cause().map(ToString::to_string),
        });
        let mut records: Vec<WatchRecord> = records.collect();
        records.sort();
        records
    }

    fn count(&self, event: &Event) {
        let counted = match event {
            Event::State(SourceState::Retrying {
                attempt: 1,
                cause,
                is_throttled,
                ..
            }) => Some(interruption(cause, *is_throttled)),
            Event::Gap(gap) => Some(gap.cause.name()),
            Event::State(_)
            | Event::Object { .. }
            | Event::Synced { .. }
            | Event::Undecodable { .. } => None,
        };
        let Some(name) = counted else {
            return;
        };
        self.board.send_if_modified(|board| {
            let totals = &mut board.totals;
            let counts = match event {
                Event::Gap(_) => &mut totals.gaps,
                _ => &mut totals.restarts,
            };
            *counts.entry(name).or_default() += 1;
            false
        });
    }
}

/// Where a source reads.
fn place(key: &SourceKey) -> SourcePlace {
    SourcePlace {
        resource: key.resource.clone(),
        namespace: key.namespace().map(Into::into),
    }
}

/// Why a watch was interrupted, in one word.
fn interruption(cause: &str, is_throttled: bool) -> &'static str {
    match () {
        () if is_throttled => "throttled",
        () if cause.contains("(Expired)") => "expired",
        () => "disconnected",
    }
}

/// The followed sources, sorted.
fn health(sources: &Sources) -> Vec<SourceHealth> {
    let is_up =
        |state: &SourceState| matches!(state, SourceState::Live | SourceState::Polling { .. });
    let health = sources.states().map(|(key, state)| SourceHealth {
        resource: key.resource.group_resource(),
        namespace: key.namespace().unwrap_or_default().to_owned(),
        is_up: is_up(state),
    });
    let mut health: Vec<SourceHealth> = health.collect();
    health.sort();
    // Sources of one resource that differ only in their selectors are one series: up if all are.
    health.dedup_by(|next, first| {
        next.resource == first.resource && next.namespace == first.namespace
    });
    health
}

impl Live for Follower {
    const REST: u32 = 4;

    fn wanted(&self) -> Vec<SourceKey> {
        self.served.state.model.sources().cloned().collect()
    }

    fn take_rereads(&mut self) -> Vec<SourceKey> {
        let mut rereads = std::mem::take(&mut self.rereads);
        rereads.extend(self.served.state.model.take_rereads());
        rereads
    }

    fn needs(&self) -> Box<dyn Fn(&SourceKey) -> Need + '_> {
        Box::new(|key| self.served.state.need_of(key))
    }

    fn reports_waiting(&self) -> bool {
        false
    }

    fn has_begun(&self) -> bool {
        self.has_begun
    }

    fn model(&self, _: &SourceKey) -> Option<&Model> {
        Some(&self.served.state.model)
    }

    fn apply(&mut self, key: &Arc<SourceKey>, event: Event, now: Timestamp) {
        self.now = now;
        self.count(&event);
        self.served.state.apply(key, &event, now);
    }

    fn note(
        &mut self,
        key: &Arc<SourceKey>,
        note: Note,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        if let Some(sinks) = &mut self.sinks {
            sinks.look_again();
        }
        let time = rfc3339_millis(self.now);
        let record = SourceRecord {
            v: SourceRecord::V,
            time: &time,
            cluster: &key.cluster.0,
            source: &note.source,
            state: note.state,
            cause: note.cause.as_deref(),
        };
        let place = place(key);
        self.board
            .send_modify(|board| board.announce_source(&record, place));
        Ok(terminal.note(&note)?)
    }

    async fn wait_for_other(&mut self) {
        let sinks = self.sinks.as_mut();
        let news = async {
            match sinks {
                Some(sinks) => sinks.wait().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.served.state.wait_for_lookups() => {}
            () = news => {}
        }
    }

    fn stop_waiting(&mut self) -> bool {
        self.served.state.give_up_lookups()
    }

    fn print(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let now = terminal.env().now();
        let has_changed = self.served.state.take_news(now);
        let is_first = !self.has_begun && self.served.state.model.is_presentable();
        self.has_begun |= is_first;
        if self.has_begun {
            self.served.state.look_back(now);
            let is_configured = self.reload();
            if self.is_settling && !self.served.state.is_settled() {
                return Ok(());
            }
            let is_other = std::mem::take(&mut self.is_settling);
            if has_changed || is_first || is_configured || is_other {
                self.served.state.read_logs();
                self.publish(sources, now);
            }
        }
        self.is_read |= self.has_begun && self.served.state.is_settled();
        self.publish_link(sources, now);
        self.publish_states(sources, now);
        let news = self.sinks.as_mut().map(SinkFeed::take_news);
        for line in news.into_iter().flatten() {
            terminal.notify(&line)?;
        }
        Ok(())
    }

    fn draw(&mut self, sources: &Sources, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let canvas = terminal.frame_canvas(self.started);
        let snapshot = self.board.borrow().snapshot.clone();
        let connection = sources.connection(canvas);
        let header = ViewHeader {
            name: "serving".to_owned(),
            facts: vec![self.address.clone(), snapshot.place.to_string()],
            context: Some(format!("ctx {}", snapshot.cluster)),
            summary: plural(self.web.readers(), "reader"),
        };
        let mut frame = vec![header.line(canvas)];
        frame.extend(connection.first_refusals());
        let footer = Freshness {
            objects: snapshot.rows.len(),
            changed: self.served.state.last,
            ..connection
        };
        frame.push(footer.footer(canvas));
        Ok(terminal.draw(canvas.cut(frame))?)
    }

    fn is_answered(&self, _sources: &Sources) -> bool {
        false
    }
}
