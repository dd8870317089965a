//! `Clusters`: what the loop of a live verb reads: one cluster or file, or several clusters.

use std::time::Duration;

use futures::future::{LocalBoxFuture, join_all};

use super::cluster_group::{ClusterGroup, JoinAttempt};
use super::session::Session;
use super::sources::ClusterStates;
use crate::commands::CommandError;
use crate::env::{Clock, Env};
use crate::source::{ClusterId, SourceKey};

/// One session, or a group of several.
#[derive(Clone, Copy)]
pub(crate) enum Clusters<'a> {
    One(&'a Session),
    Several(&'a ClusterGroup),
}

impl<'a> From<&'a Session> for Clusters<'a> {
    fn from(session: &'a Session) -> Clusters<'a> {
        Clusters::One(session)
    }
}

impl<'a> From<&'a ClusterGroup> for Clusters<'a> {
    fn from(group: &'a ClusterGroup) -> Clusters<'a> {
        Clusters::Several(group)
    }
}

impl<'a> Clusters<'a> {
    /// The session of a cluster; `None` if it has not joined.
    pub(crate) fn session(self, cluster: &ClusterId) -> Option<&'a Session> {
        match self {
            Clusters::One(session) => Some(session),
            Clusters::Several(group) => {
                let mut sessions = group.sessions();
                sessions.find(|session| session.cluster == *cluster)
            }
        }
    }

    /// The session, if there is one cluster or file.
    pub(crate) fn only(self) -> Option<&'a Session> {
        match self {
            Clusters::One(session) => Some(session),
            Clusters::Several(_) => None,
        }
    }

    /// The sessions of the clusters that are connected.
    pub(crate) fn sessions(self) -> Box<dyn Iterator<Item = &'a Session> + 'a> {
        match self {
            Clusters::One(session) => Box::new(std::iter::once(session)),
            Clusters::Several(group) => Box::new(group.sessions()),
        }
    }

    /// The states of several clusters, before any has joined.
    pub(crate) fn states(self) -> ClusterStates {
        match self {
            Clusters::One(_) => ClusterStates::default(),
            Clusters::Several(group) => {
                let clusters = group.clusters().cloned().collect();
                ClusterStates::joining(clusters, group.tries())
            }
        }
    }

    /// The first attempts of several clusters to join.
    pub(crate) fn first_attempts(self) -> Vec<LocalBoxFuture<'a, JoinAttempt<'a>>> {
        match self {
            Clusters::One(_) => Vec::new(),
            Clusters::Several(group) => group.first_attempts(),
        }
    }

    /// An attempt after one that has failed: that number `count` of the cluster at this place.
    pub(crate) fn next_attempt(
        self,
        place: usize,
        count: u32,
        wait: Duration,
    ) -> Option<LocalBoxFuture<'a, JoinAttempt<'a>>> {
        match self {
            Clusters::One(_) => None,
            Clusters::Several(group) => Some(group.next_attempt(place, count, wait)),
        }
    }

    /// Whether it reads a file instead of a cluster.
    pub(crate) fn is_of_file(self) -> bool {
        self.only().is_some_and(Session::is_of_file)
    }

    /// Whether a login is on its way, which may ask the user a question.
    pub(crate) fn is_logging_in(self) -> bool {
        match self {
            Clusters::One(session) => session.is_logging_in(),
            Clusters::Several(group) => group.is_logging_in(),
        }
    }

    /// The clock of a cluster's server; for a file, that of the file.
    pub(crate) fn clock(self, cluster: &ClusterId, env: &Env) -> Clock {
        match self.session(cluster) {
            Some(session) => session.clock(env),
            None => env.now.clone(),
        }
    }

    /// A text about a cluster. Of several, it begins with the name.
    pub(crate) fn about(self, cluster: &ClusterId, text: &str) -> String {
        match self {
            Clusters::One(_) => text.to_owned(),
            Clusters::Several(_) => format!("{}: {text}", cluster.0),
        }
    }

    /// The messages about clocks that differ, with the clusters.
    pub(crate) fn clock_notes(self) -> Vec<(ClusterId, String)> {
        let notes = self.sessions().filter_map(|session| {
            let note = session.clock_note()?;
            Some((session.cluster.clone(), self.about(&session.cluster, &note)))
        });
        notes.collect()
    }

    /// What the user may have meant by a source's named object.
    pub(crate) async fn suggestions(self, key: &SourceKey) -> Vec<String> {
        match self.session(&key.cluster) {
            Some(session) => session.suggestions(key).await.texts(None),
            None => Vec::new(),
        }
    }

    /// Whether it reads servers as they are now, so that an object may still be created.
    pub(crate) fn have_servers(self) -> bool {
        let mut sessions = self.sessions();
        sessions.all(|session| session.has_server() && !session.is_past())
    }

    /// kubectl's error for missing objects or a missing namespace, with similar names as hints. `None` if none is missing. Of
    /// several clusters, each line names its own.
    pub(crate) async fn not_found(self, missing: &[SourceKey]) -> Option<CommandError> {
        let mut all: Option<CommandError> = None;
        for session in self.sessions() {
            let of_cluster = missing.iter();
            let of_cluster = of_cluster.filter(|key| key.cluster == session.cluster);
            let of_cluster: Vec<SourceKey> = of_cluster.cloned().collect();
            if of_cluster.is_empty() {
                continue;
            }
            let mut error = session.not_found(&of_cluster).await;
            if let Clusters::Several(_) = self {
                error = error.of_part(&session.cluster.0);
            }
            all = Some(match all {
                Some(all) => all.and(error),
                None => error,
            });
        }
        all
    }

    /// kubectl's words about a namespace that does not exist; `None` if it may exist.
    pub(crate) async fn absent_namespace(
        self,
        cluster: &ClusterId,
        namespace: &str,
    ) -> Option<String> {
        let absent = self.session(cluster)?.absent_namespace(namespace).await?;
        Some(self.about(cluster, &absent))
    }

    /// The same about the namespace of these sources, for a verb that waits for it; `None` if they are of all namespaces.
    pub(crate) async fn awaited_namespace(self, keys: &[SourceKey]) -> Option<String> {
        let mut namespaced = keys.iter();
        let (key, namespace) = namespaced.find_map(|key| Some((key, key.namespace()?)))?;
        let absent = self.absent_namespace(&key.cluster, namespace).await?;
        Some(format!("{absent}; waiting for it"))
    }

    /// Why nothing proves that there were no news: a server does not answer.
    pub(crate) async fn silence(self) -> Option<String> {
        let sessions = self.sessions();
        let silences = sessions.map(|session| async move {
            let silence = session.silence().await?;
            Some(self.about(&session.cluster, &silence))
        });
        join_all(silences).await.into_iter().flatten().next()
    }
}
