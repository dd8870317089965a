//! `FollowedCluster`: a cluster that the server follows: its state, and what readers have of it.

use std::sync::Arc;

use jiff::Timestamp;

use super::followed::joined_state;
use super::package_records::PackageRecords;
use crate::commands::live::cluster_group::JoinedCluster;
use crate::commands::status::{Publication, RowChange, ServedStatus, StatusState};
use crate::commands::{Need, Subject};
use crate::env::{Ahead, shifted};
use crate::model::PackageTool;
use crate::serve::{ServedCluster, Snapshot};
use crate::source::{ClusterId, Event, SourceKey};

/// A cluster with its state.
pub(super) struct FollowedCluster {
    id: ClusterId,
    pub(super) served: ServedStatus,
    /// Its place among several.
    pub(super) place: usize,
    /// How far the clock of its server is ahead, if it is one of several.
    ahead: Option<Ahead>,
    packages: PackageRecords,
    stage: FollowStage,
    /// Whether the state of other objects is not complete yet. Readers see the old one meanwhile.
    pub(super) is_settling: bool,
    /// Whether a source has another state, or was read, since the last snapshot.
    has_source_news: bool,
    /// How many changes of states the snapshot has.
    state_changes: u64,
    /// Whether the sinks may not have its states yet.
    pub(super) has_news: bool,
    /// The sources of other objects to follow, of which every object is needed.
    rereads: Vec<SourceKey>,
    /// What readers have of it.
    pub(super) snapshot: Snapshot,
}

/// How far a cluster is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FollowStage {
    /// Nothing is published.
    Begun,
    /// The objects are published, and may not be all.
    Shown,
    /// All objects were read once. Only then are changes events.
    Read,
}

impl FollowedCluster {
    /// The only cluster of a server.
    pub(super) fn only(id: ClusterId, state: StatusState) -> FollowedCluster {
        FollowedCluster::begun(ServedStatus::only(state, &id), id)
    }

    /// One of several that has joined, for the objects of such arguments.
    pub(super) fn joined(joined: JoinedCluster<'_>, subject: Subject) -> FollowedCluster {
        let id = joined.session.cluster.clone();
        let (place, ahead) = (joined.place, joined.session.ahead());
        let cluster = ServedCluster {
            label: joined.label.clone(),
            ..ServedCluster::alone(id.0.clone())
        };
        let state = joined_state(subject, joined);
        let served = ServedStatus::one_of_several(state, cluster);
        FollowedCluster {
            place,
            ahead: Some(ahead),
            ..FollowedCluster::begun(served, id)
        }
    }

    /// A cluster of which nothing is published.
    fn begun(served: ServedStatus, id: ClusterId) -> FollowedCluster {
        FollowedCluster {
            snapshot: served.empty_snapshot(),
            id,
            served,
            place: 0,
            ahead: None,
            packages: PackageRecords::default(),
            stage: FollowStage::Begun,
            is_settling: false,
            has_source_news: false,
            state_changes: 0,
            has_news: false,
            rereads: Vec::new(),
        }
    }

    /// From now on, packages of these tools are reported.
    pub(super) fn report(&mut self, tools: Vec<PackageTool>) {
        self.packages.report(tools);
    }

    /// Follows other objects. Readers see the old ones until the state is complete.
    pub(super) fn follow(&mut self, state: StatusState) {
        self.served.state = state;
        self.rereads = self.wanted();
        self.is_settling = true;
    }

    /// Whether it is this cluster.
    pub(super) fn is(&self, cluster: &ClusterId) -> bool {
        self.id == *cluster
    }

    pub(super) fn id(&self) -> &ClusterId {
        &self.id
    }

    pub(super) fn has_begun(&self) -> bool {
        self.stage > FollowStage::Begun
    }

    /// Whether every requested source was read once, or is known to be unreadable.
    pub(super) fn is_read(&self) -> bool {
        match self.stage {
            FollowStage::Begun => false,
            FollowStage::Shown => self.served.state.is_settled(),
            FollowStage::Read => true,
        }
    }

    pub(super) fn wanted(&self) -> Vec<SourceKey> {
        self.served.state.model.sources().cloned().collect()
    }

    pub(super) fn take_rereads(&mut self) -> Vec<SourceKey> {
        let mut rereads = std::mem::take(&mut self.rereads);
        rereads.extend(self.served.state.model.take_rereads());
        rereads
    }

    pub(super) fn need_of(&self, key: &SourceKey) -> Need {
        self.served.state.need_of(key)
    }

    /// The time by the clock of the server.
    fn now(&self, now: Timestamp) -> Timestamp {
        let ahead = self.ahead.as_ref().map(|ahead| ahead());
        ahead.map_or(now, |ahead| shifted(now, ahead))
    }

    pub(super) fn apply(&mut self, key: &Arc<SourceKey>, event: &Event, now: Timestamp) {
        let now = self.now(now);
        self.has_source_news |= !matches!(event, Event::Object { .. });
        self.served.state.apply(key, event, now);
    }

    /// Applies the changes since the last call, and makes a new snapshot if there are any, or if it `is_due`. Returns the changes
    /// that are events for readers; `None` without a new snapshot.
    pub(super) fn refresh(&mut self, now: Timestamp, is_due: bool) -> Option<Vec<RowChange>> {
        let now = self.now(now);
        let state = &mut self.served.state;
        let has_versions = state.refresh(now);
        let mut is_due = is_due | std::mem::take(&mut self.has_source_news);
        // A new version of an object alone changes no row.
        is_due |= state.take_look_ups();
        let state_changes = state.model.state_changes();
        is_due |= std::mem::replace(&mut self.state_changes, state_changes) != state_changes;
        if self.stage == FollowStage::Begun && state.model.is_presentable() {
            self.stage = FollowStage::Shown;
            is_due = true;
        }
        if self.stage == FollowStage::Begun {
            return None;
        }
        state.look_back(now);
        if self.is_settling && !state.is_settled() {
            return None;
        }
        is_due |= std::mem::take(&mut self.is_settling);
        let changes = if is_due {
            Some(self.publish(now))
        } else {
            (has_versions && self.take_packages(now)).then(Vec::new)
        };
        if self.is_read() {
            self.stage = FollowStage::Read;
        }
        changes
    }

    /// Puts the present packages into the snapshot. Returns whether any is another one.
    fn take_packages(&mut self, now: Timestamp) -> bool {
        let model = &self.served.state.model;
        let packages = self.packages.take(model, &self.id.0, now);
        let is_other = self.snapshot.packages != packages;
        self.snapshot.packages = packages;
        is_other
    }

    fn publish(&mut self, now: Timestamp) -> Vec<RowChange> {
        self.served.state.read_logs();
        let Publication { changes, snapshot } = self.served.publish(now);
        self.snapshot = snapshot;
        self.take_packages(now);
        match self.stage {
            FollowStage::Begun | FollowStage::Shown => Vec::new(),
            FollowStage::Read => changes,
        }
    }
}
