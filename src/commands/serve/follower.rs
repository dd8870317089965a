//! `Follower`: follows the clusters as `status` does, and publishes each change for all readers.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::select_all;
use jiff::Timestamp;
use tokio::sync::watch;

use super::followed_cluster::FollowedCluster;
use super::kube_api::KubeApi;
use super::sinks::{FollowedObjects, Reload, SinkFeed, is_current};
use crate::commands::live::cluster_group::JoinedCluster;
use crate::commands::status::{PLAIN, RowChange};
use crate::commands::{CommandError, Live, Need, Note, Sources, Subject, Terminal};
use crate::model::{Model, PackageTool};
use crate::render::age::rfc3339_millis;
use crate::render::count::plural;
use crate::render::header_footer::{Freshness, ViewHeader};
use crate::serve::{
    Board, Link, ServedCluster, Snapshot, SourceHealth, SourcePlace, SourceRecord, WatchRecord,
    WebServer,
};
use crate::sink::{ClusterRows, RowCluster};
use crate::source::{ClusterId, Event, Select, SourceKey, SourceState};

/// The followed clusters, and the board that readers look at.
pub(super) struct Follower {
    /// Those that have joined, in the order of the request.
    clusters: Vec<FollowedCluster>,
    to: Publisher,
    /// How the arguments name the objects.
    subject: Subject,
    started: Timestamp,
    /// The time of the last event, for records of sources.
    now: Timestamp,
    /// Where objects have ever been read.
    places: Arc<BTreeSet<SourcePlace>>,
    /// What is not printed yet.
    notes: Vec<String>,
}

/// Where a follower publishes, and to whom.
pub(super) struct Publisher {
    pub(super) board: watch::Sender<Board>,
    pub(super) web: Arc<WebServer>,
    /// The printed address, without the token.
    pub(super) address: String,
    /// Takes the changes of state for the sinks; `None` without a configuration.
    pub(super) sinks: Option<SinkFeed>,
    /// The packages of these tools are reported.
    pub(super) packages: Vec<PackageTool>,
    /// The read API of Kubernetes over the followed objects.
    pub(super) api: Option<Arc<KubeApi>>,
}

impl Follower {
    /// Follows this cluster; without one, the clusters that join.
    pub(super) fn new(
        only: Option<FollowedCluster>,
        subject: Subject,
        to: Publisher,
        now: Timestamp,
    ) -> Follower {
        let mut clusters: Vec<FollowedCluster> = only.into_iter().collect();
        for cluster in &mut clusters {
            cluster.report(to.packages.clone());
        }
        Follower {
            clusters,
            to,
            subject,
            started: now,
            now,
            places: Arc::default(),
            notes: Vec::new(),
        }
    }

    fn of(&self, cluster: &ClusterId) -> Option<&FollowedCluster> {
        self.clusters.iter().find(|followed| followed.is(cluster))
    }

    /// Publishes the objects, and these changes as events, if readers do not have the same already.
    fn publish(&mut self, changes: &[RowChange], sources: &Sources, now: Timestamp) {
        self.note_places(sources);
        let parts: Vec<&Snapshot> = self.clusters.iter().map(|it| &it.snapshot).collect();
        let snapshot = match &parts[..] {
            [only] if !sources.clusters.are_several() => Snapshot::clone(only),
            several => Snapshot::of_clusters(several),
        };
        if let Some(sinks) = &mut self.to.sinks {
            let are_several = sources.clusters.are_several();
            for RowChange { row, .. } in changes {
                let cluster = RowCluster::of(&row.object_ref.cluster, are_several);
                sinks.note(cluster, row);
            }
            sinks.look_again();
        }
        // Each notice wakes all readers.
        if changes.is_empty() && self.to.board.borrow().snapshot.has_same_objects(&snapshot) {
            return;
        }
        let snapshot = self.with_states(snapshot, sources, now);
        self.to.board.send_modify(|board| {
            for change in changes {
                board.announce(&change.row, change.was.as_ref());
            }
            board.snapshot = Arc::new(snapshot);
        });
    }

    /// The snapshot with the present states of clusters and sources.
    fn with_states(&self, snapshot: Snapshot, sources: &Sources, now: Timestamp) -> Snapshot {
        let link = self.link(sources, now);
        let clusters = self.clusters_now(&link, sources);
        let names: Vec<&str> = clusters.iter().map(|cluster| &*cluster.name).collect();
        Snapshot {
            cluster: names.join(",").into(),
            sources: health(sources),
            watches: self.watches(sources),
            places: self.places.clone(),
            clusters,
            link,
            ..snapshot
        }
    }

    /// Follows what a new configuration names. Returns whether there was one.
    fn reload(&mut self) -> bool {
        let sinks = self.to.sinks.as_mut();
        let Some(Reload { packages, state }) = sinks.and_then(SinkFeed::take_reload) else {
            return false;
        };
        for cluster in &mut self.clusters {
            cluster.report(packages.clone());
        }
        self.to.packages = packages;
        if let (Some(state), [only]) = (state, &mut self.clusters[..]) {
            if let Some(api) = &self.to.api {
                api.serve_others(only.id(), state.requested().to_vec());
            }
            only.follow(*state);
        }
        true
    }

    /// Gives the states of each cluster to the sinks, if they are complete and may have changed. A cluster waits for no other.
    fn publish_states(&mut self, sources: &Sources, now: Timestamp) {
        let Some(sinks) = &mut self.to.sinks else {
            return;
        };
        let is_due = sinks.take_due();
        let are_several = sources.clusters.are_several();
        let snapshot = self.to.board.borrow().snapshot.clone();
        for cluster in &mut self.clusters {
            cluster.has_news |= is_due;
            let is_complete = cluster.is_read() && !cluster.is_settling;
            if !is_complete || !cluster.has_news {
                continue;
            }
            let name = &*cluster.id().0;
            let of = ClusterRows {
                cluster: RowCluster::of(name, are_several),
                rows: &cluster.snapshot.rows,
                is_current: snapshot.cluster_named(name).is_some_and(is_current),
            };
            let at = FollowedObjects { sources, cluster };
            cluster.has_news = !sinks.take_rows(&of, &at, now);
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
        let states = self.with_states(Snapshot::default(), sources, now);
        let mut are_up_otherwise = false;
        self.to.board.send_if_modified(|board| {
            let was = &board.snapshot;
            are_up_otherwise = was.sources != states.sources;
            let is_same_place = was.places == states.places && was.watches == states.watches;
            let is_same_cluster = was.clusters == states.clusters && was.sources == states.sources;
            if was.link == states.link && is_same_cluster && is_same_place {
                return false;
            }
            let was = Snapshot::clone(was);
            board.snapshot = Arc::new(Snapshot {
                place: was.place,
                rows: was.rows,
                unhealthy: was.unhealthy,
                packages: was.packages,
                shortfalls: was.shortfalls,
                ..states
            });
            true
        });
        // A source that is up now shows which objects are gone.
        if let Some(sinks) = self.to.sinks.as_mut().filter(|_| are_up_otherwise) {
            sinks.look_again();
        }
    }

    fn link(&self, sources: &Sources, now: Timestamp) -> Link {
        let is_lost = |state: &SourceState| matches!(state, SourceState::Retrying { .. });
        let troubles = troubles(sources);
        let mut is_read = self.clusters.iter().any(FollowedCluster::is_read);
        for (cluster, trouble) in &troubles {
            // Readers learn which clusters cannot be read. They do not wait for them.
            let is_there = self.of(cluster).is_some_and(FollowedCluster::is_read);
            is_read &= is_there || trouble.is_some();
        }
        Link {
            words: sources.summary(now, PLAIN).to_string(),
            is_lost: sources.states().any(|(_, state)| is_lost(state))
                || troubles.iter().any(|(_, trouble)| trouble.is_some()),
            is_read,
            refused: sources.refusal_lines(),
        }
    }

    /// The clusters, with those that have not joined.
    fn clusters_now(&self, link: &Link, sources: &Sources) -> Vec<ServedCluster> {
        let served = |followed: &FollowedCluster, trouble: Option<String>| ServedCluster {
            is_read: followed.is_read(),
            trouble,
            ..followed.served.cluster.clone()
        };
        if let ([only], false) = (&self.clusters[..], sources.clusters.are_several()) {
            let words = "the connection to the API server is lost";
            return vec![served(only, link.is_lost.then(|| words.to_owned()))];
        }
        let clusters = troubles(sources).into_iter();
        let clusters = clusters.map(|(cluster, trouble)| match self.of(&cluster) {
            Some(followed) => served(followed, trouble),
            None => ServedCluster {
                trouble,
                ..ServedCluster::alone(cluster.0)
            },
        });
        clusters.collect()
    }

    /// The followed sources, sorted.
    fn watches(&self, sources: &Sources) -> Vec<WatchRecord> {
        let is_requested = |key: &SourceKey| {
            let of_cluster = self.of(&key.cluster);
            of_cluster.is_some_and(|it| it.served.state.requested().contains(key))
        };
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
            requested: is_requested(key),
            state: state.name(),
            cause: state.cause().map(ToString::to_string),
        });
        let mut records: Vec<WatchRecord> = records.collect();
        records.sort();
        records
    }

    fn count(&self, cluster: &ClusterId, event: &Event) {
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
        self.to.board.send_if_modified(|board| {
            let totals = &mut board.totals;
            let counts = match event {
                Event::Gap(_) => &mut totals.gaps,
                _ => &mut totals.restarts,
            };
            *counts.entry((cluster.0.clone(), name)).or_default() += 1;
            false
        });
    }
}

/// The clusters, if there are several, each with the reason why it cannot be read now.
fn troubles(sources: &Sources) -> Vec<(ClusterId, Option<String>)> {
    let states = sources.cluster_states().into_iter();
    let troubles = states.map(|(cluster, state)| (cluster.clone(), state.trouble()));
    troubles.collect()
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
        cluster: key.cluster.0.clone(),
        resource: key.resource.group_resource(),
        namespace: key.namespace().unwrap_or_default().to_owned(),
        is_up: is_up(state),
    });
    let mut health: Vec<SourceHealth> = health.collect();
    health.sort();
    // Sources of one resource that differ only in their selectors are one series: up if all are.
    health.dedup_by(|next, first| {
        next.cluster == first.cluster
            && next.resource == first.resource
            && next.namespace == first.namespace
    });
    health
}

impl Live for Follower {
    const REST: u32 = 4;

    fn wanted(&self) -> Vec<SourceKey> {
        let clusters = self.clusters.iter();
        clusters.flat_map(FollowedCluster::wanted).collect()
    }

    fn take_rereads(&mut self) -> Vec<SourceKey> {
        let clusters = self.clusters.iter_mut();
        clusters.flat_map(FollowedCluster::take_rereads).collect()
    }

    fn needs(&self) -> Box<dyn Fn(&SourceKey) -> Need + '_> {
        Box::new(|key| {
            let of_cluster = self.of(&key.cluster);
            of_cluster.map_or(Need::Vital, |followed| followed.need_of(key))
        })
    }

    fn reports_waiting(&self) -> bool {
        false
    }

    fn has_begun(&self) -> bool {
        self.clusters.iter().any(FollowedCluster::has_begun)
    }

    fn model(&self, source: &SourceKey) -> Option<&Model> {
        Some(&self.of(&source.cluster)?.served.state.model)
    }

    fn join(&mut self, joined: JoinedCluster<'_>) -> Result<Option<Vec<SourceKey>>, CommandError> {
        self.notes.extend(joined.silent_groups());
        let owner = joined.session.client()?.clone();
        let mut cluster = FollowedCluster::joined(joined, self.subject);
        cluster.report(self.to.packages.clone());
        let requested = cluster.served.state.requested().to_vec();
        if let Some(api) = &self.to.api {
            api.serve(cluster.id(), owner, requested.clone());
        }
        let before = |known: &FollowedCluster| known.place < cluster.place;
        let at = self.clusters.partition_point(before);
        self.clusters.insert(at, cluster);
        Ok(Some(requested))
    }

    fn apply(&mut self, key: &Arc<SourceKey>, event: Event, now: Timestamp) {
        self.now = now;
        self.count(&key.cluster, &event);
        let mut clusters = self.clusters.iter_mut();
        if let Some(cluster) = clusters.find(|cluster| cluster.is(&key.cluster)) {
            cluster.apply(key, &event, now);
        }
    }

    fn note(&mut self, key: &Arc<SourceKey>, note: Note, _now: Timestamp) -> Option<Note> {
        if let Some(sinks) = &mut self.to.sinks {
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
        self.to
            .board
            .send_modify(|board| board.announce_source(&record, place));
        Some(note)
    }

    async fn wait_for_other(&mut self) {
        let Follower { clusters, to, .. } = self;
        let news = async {
            match &mut to.sinks {
                Some(sinks) => sinks.wait().await,
                None => std::future::pending().await,
            }
        };
        let lookups = async {
            match &mut clusters[..] {
                [] => std::future::pending().await,
                several => {
                    let waits = several.iter_mut();
                    let waits = waits.map(|it| it.served.state.wait_for_lookups().boxed_local());
                    select_all(waits).await;
                }
            }
        };
        tokio::select! {
            () = lookups => {}
            () = news => {}
        }
    }

    fn stop_waiting(&mut self) -> bool {
        let clusters = self.clusters.iter_mut();
        clusters.fold(false, |any, it| it.served.state.give_up_lookups() | any)
    }

    fn print(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let now = terminal.env().now();
        let is_configured = self.has_begun() && self.reload();
        let (mut changes, mut has_news) = (Vec::new(), false);
        for cluster in &mut self.clusters {
            let published = cluster.refresh(now, is_configured);
            has_news |= published.is_some();
            changes.extend(published.into_iter().flatten());
        }
        if has_news {
            self.publish(&changes, sources, now);
        }
        self.publish_link(sources, now);
        self.publish_states(sources, now);
        let news = self.to.sinks.as_mut().map(SinkFeed::take_news);
        let notes = std::mem::take(&mut self.notes);
        for line in notes.into_iter().chain(news.into_iter().flatten()) {
            terminal.notify(&line)?;
        }
        Ok(())
    }

    fn draw(&mut self, sources: &Sources, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let canvas = terminal.frame_canvas(self.started).narrowed();
        let snapshot = self.to.board.borrow().snapshot.clone();
        let connection = sources.connection(canvas);
        let context = if snapshot.is_of_several() {
            snapshot.cluster_words()
        } else {
            format!("ctx {}", snapshot.cluster)
        };
        let header = ViewHeader {
            name: "serving".to_owned(),
            facts: vec![self.to.address.clone(), snapshot.place.to_string()],
            context: Some(context),
            summary: plural(self.to.web.readers(), "reader"),
        };
        let mut frame = vec![header.line(canvas)];
        frame.extend(connection.first_refusals());
        let changed = self.clusters.iter().filter_map(|it| it.served.state.last);
        let footer = Freshness {
            objects: snapshot.rows.len(),
            changed: changed.max(),
            ..connection
        };
        frame.push(footer.footer(canvas));
        Ok(terminal.draw(canvas.cut(frame))?)
    }

    fn is_answered(&self, _sources: &Sources) -> bool {
        false
    }
}
