//! `ClusterStatus`: one cluster of a view, its state, and what was printed of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::cluster_views::{ClusterView, ShownCluster};
use super::documents::{Documents, changed_names};
use super::options::{HealthFilter, RowOptions};
use super::package_documents::{MemberList, PackageDocuments, PackageForm};
use super::sort_by::{SortBy, Sorting};
use super::state::{RETENTION, StatusState};
use super::transitions::Transitions;
use crate::commands::live::cluster_group::JoinedCluster;
use crate::commands::{Ending, FailureLogs, LastChanges, LogLineArgs, Session};
use crate::env::{Ahead, shifted};
use crate::graph::well_known;
use crate::model::Model;
use crate::render::text::Text;
use crate::source::{ClusterId, Event, Form, Scope, Select, SourceKey};
use crate::status::Rules;

/// What the state of each cluster is made of.
#[derive(Clone, Debug)]
pub(super) struct StatusSetup {
    pub(super) rules: Rules,
    /// The field that orders the objects.
    pub(super) sort_by: Option<SortBy>,
    /// Whether objects of every kind are requested.
    pub(super) is_about_every_kind: bool,
    /// Whether to request the columns that the server prints, and of Pods, too.
    pub(super) printed: ServerColumns,
    /// Whether to look up what changed before an object failed.
    pub(super) looks_back: bool,
    /// How to read the last lines of failed containers; `None` if no log is read.
    pub(super) logs: Option<LogLineArgs>,
    pub(super) ending: Ending,
    pub(super) options: RowOptions,
}

/// Which columns of the server a view requests, if one type is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerColumns {
    None,
    /// Those of all types but Pods. Those of Pods are the columns of `status`.
    ButOfPods,
    All,
}

impl StatusSetup {
    /// The sources of the requested objects, with what else a view needs of them.
    pub(super) fn requested(&self, mut keys: Vec<SourceKey>) -> Vec<SourceKey> {
        if self.is_about_every_kind {
            keys.extend(own_namespace(&keys));
        }
        if let [only] = &mut keys[..]
            && only.select.name().is_none()
            && match self.printed {
                ServerColumns::None => false,
                ServerColumns::ButOfPods => *only.resource.kind != *"Pod",
                ServerColumns::All => true,
            }
        {
            only.form = Form::Table;
        }
        keys
    }

    /// The state of a cluster before any event.
    pub(super) fn state(
        &self,
        model: Model,
        requested: Vec<SourceKey>,
        session: &Session,
    ) -> StatusState {
        let mut state = StatusState::new(model, requested);
        if self.is_about_every_kind {
            state.model.request_new_kinds();
        }
        state.sorting = self.sort_by.clone().map(Sorting::new);
        if self.looks_back {
            state = state.looking_back(LastChanges::new(session.past().clone()));
            let feeds = session.failure_feeds().zip(self.logs);
            state.failure_logs =
                feeds.map(|(feeds, logs)| FailureLogs::new(feeds, logs, self.ending));
        }
        state
    }
}

/// The source of the namespace in which all objects are requested. Its deletion may be what is not well.
pub(in crate::commands) fn own_namespace(requested: &[SourceKey]) -> Option<SourceKey> {
    let first = requested.first().filter(|key| key.select == Select::All)?;
    let field = format!("metadata.name={}", first.namespace()?);
    Some(SourceKey {
        resource: well_known("", "Namespace"),
        scope: Scope::Cluster,
        select: Select::matching(None, Some(&field)),
        ..first.clone()
    })
}

/// A cluster of the view.
#[derive(Debug)]
pub(super) struct ClusterStatus {
    pub(super) state: StatusState,
    /// The cluster, if there are several.
    pub(super) name: Option<ClusterName>,
    transitions: Transitions,
    packages: PackageDocuments,
    /// The places of the requested objects that it has said it waits for.
    pub(super) waited_for: BTreeSet<usize>,
    /// Whether its initial objects are shown.
    pub(super) has_begun: bool,
}

/// A cluster of several.
pub(super) struct ClusterName {
    /// Its place in the request.
    pub(super) place: usize,
    pub(super) id: ClusterId,
    label: Arc<str>,
    ahead: Ahead,
}

impl std::fmt::Debug for ClusterName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.id.0)
    }
}

impl ClusterStatus {
    /// The only cluster or file of a view.
    pub(super) fn only(state: StatusState, options: RowOptions) -> ClusterStatus {
        ClusterStatus {
            state,
            name: None,
            transitions: Transitions::new(options),
            packages: PackageDocuments::default(),
            waited_for: BTreeSet::new(),
            has_begun: false,
        }
    }

    /// A cluster of several that has joined.
    pub(super) fn joined(joined: JoinedCluster<'_>, setup: &StatusSetup) -> ClusterStatus {
        let ahead = joined.session.ahead();
        let model = joined.model(setup.rules, RETENTION);
        let requested = setup.requested(joined.keys);
        let state = setup.state(model, requested, joined.session);
        ClusterStatus {
            name: Some(ClusterName {
                place: joined.place,
                id: joined.session.cluster.clone(),
                label: joined.label,
                ahead,
            }),
            ..ClusterStatus::only(state, setup.options)
        }
    }

    /// The cluster as a view shows it.
    pub(super) fn shown(&self) -> ClusterView<'_> {
        ClusterView {
            state: &self.state,
            cluster: self.name.as_ref().map(|name| ShownCluster {
                name: &name.id.0,
                label: &name.label,
                ahead: (name.ahead)(),
            }),
        }
    }

    /// Whether it is this cluster.
    pub(super) fn is(&self, cluster: &ClusterId) -> bool {
        self.name.as_ref().is_none_or(|name| name.id == *cluster)
    }

    /// The time by the clock of the cluster's server.
    pub(super) fn now(&self, now: Timestamp) -> Timestamp {
        let ahead = self.name.as_ref().map(|name| (name.ahead)());
        ahead.map_or(now, |ahead| shifted(now, ahead))
    }

    /// A text about the cluster. Of several, it begins with the name.
    pub(super) fn about(&self, text: &str) -> String {
        match &self.name {
            Some(name) => format!("{}: {text}", name.id.0),
            None => text.to_owned(),
        }
    }

    /// Applies one event.
    pub(super) fn apply(&mut self, source: &Arc<SourceKey>, event: &Event, now: Timestamp) {
        let now = self.now(now);
        self.state.apply(source, event, now);
    }

    /// Applies the changes since the last call, and what was looked up meanwhile. Returns whether anything has changed.
    pub(super) fn refresh(&mut self, now: Timestamp) -> bool {
        let now = self.now(now);
        let has_changed = self.state.take_news(now);
        if self.has_begun {
            self.state.look_back(now);
        }
        if self.has_begun && has_changed {
            self.state.read_logs();
        }
        has_changed
    }

    /// Looks up what changed before objects failed, and what failed containers printed. Returns whether all of that is known.
    pub(super) fn look_up(&mut self, now: Timestamp) -> bool {
        let now = self.now(now);
        let is_looked_up = !self.state.look_back(now);
        let is_read = !self.state.read_logs();
        is_looked_up && is_read
    }

    /// A line for each object that is new or has a new state.
    pub(super) fn lines(&mut self, now: Timestamp) -> Vec<Text> {
        let cluster = self.name.as_ref().map(|name| &*name.id.0);
        self.transitions.lines(&self.state, cluster, now)
    }

    /// A record for each object that is new or has changed in any way.
    pub(super) fn records(&mut self, now: Timestamp) -> Vec<Text> {
        self.transitions.records(&self.state, now)
    }

    /// The requested objects that are new or have another state, as YAML.
    pub(super) fn documents(
        &mut self,
        documents: &mut Documents,
        health: HealthFilter,
    ) -> Vec<Text> {
        documents.cluster = self.name.as_ref().map(|name| name.id.0.clone());
        documents.changed(&mut self.transitions, &self.state, health)
    }

    /// The documents of the requested packages that are new or have changed. Half-read ones are not printed.
    pub(super) fn packages(
        &mut self,
        documents: &mut Documents,
        form: PackageForm,
        members: MemberList,
    ) -> Vec<Text> {
        if !self.state.is_settled() {
            return Vec::new();
        }
        documents.cluster = self.name.as_ref().map(|name| name.id.0.clone());
        let changed = self.packages.changed(&self.state, form, members);
        changed
            .iter()
            .flat_map(|doc| documents.document(doc))
            .collect()
    }

    /// The names of the requested objects that are new or have another state.
    pub(super) fn names(&mut self, health: HealthFilter) -> Vec<Text> {
        changed_names(&mut self.transitions, &self.state, health)
    }
}
