//! `Sources`: the states of all sources that a verb follows, for the footer, the notes and the final error.

mod cluster_states;
mod source_status;
mod state_lines;
#[cfg(test)]
mod tests;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use crate::commands::{CommandError, FailedAnswer};
use crate::render::age;
use crate::render::canvas::Canvas;
use crate::render::header_footer::Freshness;
use crate::render::style::{Look, Role};
use crate::render::text::Text;
use crate::source::{ClusterId, Event, SourceKey, SourceState};
use cluster_states::ClusterState;
pub(crate) use cluster_states::{ClusterStates, FailedAttempt, JoinState};
use source_status::{SourceStatus, is_refused};
pub(crate) use state_lines::StateLines;
use words::can_i;
pub(crate) use words::{
    ClusterNamespace, Need, Note, UnreadPart, describe_counted, named, not_read, nowhere, reason,
    waiting,
};

/// The sources of a verb, in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    known: Vec<SourceStatus>,
    /// The clusters, if there are several.
    pub(crate) clusters: ClusterStates,
    /// Notes from before a vital source was read. If none is ever read, the final error reports them instead.
    held: Vec<(Arc<SourceKey>, Note)>,
    /// Whether the verb shows objects of every kind that it can read. The user named none.
    pub(crate) is_about_every_kind: bool,
    /// The namespaces that were reported as empty.
    empty: BTreeSet<ClusterNamespace>,
}

impl Sources {
    /// Adds a source, which is connecting at first.
    pub(crate) fn add(&mut self, key: &Arc<SourceKey>, need: Need) {
        if !self.known.iter().any(|known| known.key == *key) {
            self.known.push(SourceStatus::new(key.clone(), need));
        }
    }

    /// Removes a source that is no longer followed.
    pub(crate) fn remove(&mut self, key: &SourceKey) {
        self.known.retain(|known| *known.key != *key);
        self.held.retain(|(held, _)| **held != *key);
    }

    /// Records the effect of an event on its source. Returns the changes of state to report now. There are
    /// none until a vital source is read, because the final error may report them instead.
    pub(crate) fn apply(
        &mut self,
        key: &Arc<SourceKey>,
        event: &Event,
        now: Timestamp,
    ) -> Vec<(Arc<SourceKey>, Note)> {
        let is_known_refusal = self.is_known_refusal(key, event);
        let Some(known) = self.known.iter_mut().find(|known| known.key == *key) else {
            return Vec::new();
        };
        match event {
            Event::Synced { .. } => known.synced = true,
            Event::Object { .. } => known.met = true,
            Event::State(state) => {
                let is_spare = known.need == Need::Spare;
                let note = known.enter(state, now);
                let note = note.filter(|_| !is_known_refusal && !is_spare);
                self.held.extend(note.map(|note| (key.clone(), note)));
            }
            Event::Gap(_) | Event::Undecodable { .. } => {}
        }
        if self.is_read() {
            self.take_held()
        } else {
            Vec::new()
        }
    }

    /// Whether an event refuses a source in the same words as another one of its type. Many sources of one type differ only
    /// in their selectors.
    fn is_known_refusal(&self, key: &SourceKey, event: &Event) -> bool {
        let Event::State(state) = event else {
            return false;
        };
        let mut others = self.noticed().filter(|known| *known.key != *key);
        is_refused(state) && others.any(|known| known.is_refused_like(key, state))
    }

    /// The notes from before a vital source was read.
    pub(crate) fn take_held(&mut self) -> Vec<(Arc<SourceKey>, Note)> {
        std::mem::take(&mut self.held)
    }

    /// Whether any vital source has been read.
    pub(crate) fn is_read(&self) -> bool {
        self.vital().any(|known| known.synced)
    }

    /// Those whose states the user should know.
    fn noticed(&self) -> impl Iterator<Item = &SourceStatus> {
        self.known.iter().filter(|known| known.need != Need::Spare)
    }

    /// The same with their states.
    pub(crate) fn states(&self) -> impl Iterator<Item = (&SourceKey, &SourceState)> {
        self.noticed().map(|known| (&*known.key, &known.state))
    }

    /// Whether a source is among them.
    pub(crate) fn has(&self, key: &SourceKey) -> bool {
        self.known.iter().any(|known| *known.key == *key)
    }

    fn vital(&self) -> impl Iterator<Item = &SourceStatus> {
        self.known.iter().filter(|known| known.need == Need::Vital)
    }

    /// The vital sources of one named object each that never existed. Each is returned once.
    pub(crate) fn take_absent(&mut self) -> Vec<Arc<SourceKey>> {
        let absent = self.known.iter_mut().filter(|known| known.is_absent());
        let new = absent.filter_map(|known| {
            let was_reported = std::mem::replace(&mut known.reported_absent, true);
            (!was_reported).then(|| known.key.clone())
        });
        new.collect()
    }

    /// Whether the source is vital, for one named object, and the object never existed.
    pub(crate) fn is_absent(&self, key: &SourceKey) -> bool {
        let mut of_key = self.known.iter().filter(|known| *known.key == *key);
        of_key.any(SourceStatus::is_absent)
    }

    /// Whether every source has delivered a full listing, cannot be read, or was tried often enough.
    pub(crate) fn are_settled(&self) -> bool {
        let is_settled = |known: &SourceStatus| known.synced || known.is_hopeless();
        let is_any = !self.known.is_empty() || self.clusters.are_several();
        is_any && !self.are_joining() && self.noticed().all(is_settled)
    }

    /// The same of the sources of one cluster, as far as they are added.
    pub(crate) fn are_settled_of(&self, cluster: &ClusterId) -> bool {
        let is_open = |known: &SourceStatus| !(known.synced || known.is_hopeless());
        let mut inside = self.noticed().filter(|it| it.key.cluster == *cluster);
        !inside.any(is_open)
    }

    /// Whether one of several clusters may soon join, or has joined and its sources are not added yet.
    fn are_joining(&self) -> bool {
        let has_sources = |cluster: &ClusterId| {
            let mut vital = self.vital();
            vital.any(|known| known.key.cluster == *cluster)
        };
        let mut clusters = self.clusters.iter();
        let is_new = |(cluster, state): (&ClusterId, &JoinState)| {
            *state == JoinState::Joined && !has_sources(cluster)
        };
        self.clusters.are_joining() || clusters.any(is_new)
    }

    /// The error that ends the verb at once: no vital source was ever read and none can be, or all have
    /// failed for good.
    pub(crate) fn refusal(&self) -> Option<CommandError> {
        let never = |known: &SourceStatus| !known.synced && known.is_hopeless();
        let failed = |known: &SourceStatus| matches!(known.state, SourceState::Failed { .. });
        let is_over = self.vital().all(never) || self.vital().all(failed);
        (is_over && !self.are_joining())
            .then(|| self.error_of(&self.vital().collect::<Vec<_>>()))
            .flatten()
    }

    /// The error that ends the verb after it has shown all that it could read: some sources did not answer. It also names the
    /// requested sources that the server refuses. In a view of every kind, a cluster that refuses all of them is an error, too.
    pub(crate) fn silence(&self) -> Option<CommandError> {
        let is_silent = |known: &&SourceStatus| !known.synced && known.state.is_given_up();
        let mut lost: Vec<_> = self.noticed().filter(is_silent).collect();
        let is_any_silent = !lost.is_empty() || self.clusters.failing().next().is_some();
        if is_any_silent && !self.is_about_every_kind {
            lost.extend(self.vital().filter(|known| is_refused(&known.state)));
        }
        let refusals = self.unread_kinds(|cluster| self.refuses_everything(cluster));
        let refusals = Some(refusals).filter(|lines| self.is_about_every_kind && !lines.is_empty());
        let refusals = refusals.map(|lines| CommandError::of_cause(lines.join("\n")));
        let errors = [self.error_of(&lost), refusals].into_iter();
        errors.flatten().reduce(CommandError::and)
    }

    /// Whether one of several clusters has joined, and refuses all that is requested.
    fn refuses_everything(&self, cluster: &ClusterId) -> bool {
        self.clusters.are_several() && matches!(self.state_of(cluster), ClusterState::Refused(_))
    }

    /// The error for sources that cannot be read, and for clusters that have not joined: one line for each reason, and a hint.
    /// `None` without any reason.
    fn error_of(&self, sources: &[&SourceStatus]) -> Option<CommandError> {
        let mut lines: Vec<String> = Vec::new();
        let failing = self.clusters.failing();
        let failing = failing.map(|(cluster, failed)| format!("{}: {}", cluster.0, failed.cause));
        let causes = sources.iter().filter_map(|known| {
            let cause = known.state.cause()?;
            Some(self.clusters.about(&known.key, cause))
        });
        for line in failing.chain(causes) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        let lines = at_most(REFUSALS, lines);
        let forbidden = sources.iter().filter(|known| known.is_forbidden());
        let forbidden: Vec<&SourceKey> = forbidden.map(|known| &*known.key).collect();
        let is_silent = |known: &&SourceStatus| known.state.is_given_up();
        let is_silence = !sources.is_empty() && sources.iter().all(is_silent);
        let error = match lines.join("\n") {
            lines if lines.is_empty() => return None,
            lines if is_silence => CommandError::silent(lines),
            lines => CommandError::failed(lines),
        };
        Some(match can_i(&forbidden) {
            Some(hint) => error.because(FailedAnswer::Forbidden).hint(hint),
            None => error,
        })
    }

    /// The sources that were listed and are not watched: that is refused, or has not begun.
    pub(crate) fn unwatched(&self) -> Vec<Arc<SourceKey>> {
        let is_unwatched = |known: &&SourceStatus| {
            let is_open = matches!(
                known.state,
                SourceState::Polling { .. } | SourceState::Connecting
            );
            known.synced && is_open
        };
        let unwatched = self.noticed().filter(is_unwatched);
        unwatched.map(|known| known.key.clone()).collect()
    }

    /// Whether the user requested a source, and the server refuses it.
    pub(crate) fn is_refused_request(&self, key: &SourceKey) -> bool {
        let mut of_key = self.vital().filter(|known| *known.key == *key);
        of_key.any(|known| is_refused(&known.state))
    }

    /// A line for each cluster about the requested kinds that it refuses.
    pub(crate) fn not_read(&self) -> Vec<String> {
        self.unread_kinds(|_| true)
    }

    /// The same without the clusters that refuse everything. The error of [`Self::silence`] names those.
    pub(crate) fn partly_read(&self) -> Vec<String> {
        self.unread_kinds(|cluster| !self.refuses_everything(cluster))
    }

    fn unread_kinds(&self, is_named: impl Fn(&ClusterId) -> bool) -> Vec<String> {
        let refused = self.vital().filter(|known| is_refused(&known.state));
        let mut clusters: BTreeMap<&ClusterId, Vec<(String, &str)>> = BTreeMap::new();
        for known in refused.filter(|known| is_named(&known.key.cluster)) {
            let kind = known.key.resource.group_resource();
            let cause = known.state.cause().map_or("", |cause| cause);
            let of_cluster = clusters.entry(&known.key.cluster).or_default();
            of_cluster.push((kind, cause));
        }
        let lines = clusters.into_iter().filter_map(|(cluster, unread)| {
            let unread = unread.iter().map(|(kind, cause)| (&**kind, *cause));
            let line = not_read(unread)?;
            Some(if self.clusters.are_several() {
                format!("{}: {line}", cluster.0)
            } else {
                line
            })
        });
        lines.collect()
    }

    /// How many sources there are.
    pub(crate) fn count(&self) -> usize {
        self.known.len()
    }

    /// A line for each source that cannot be read. Sources of one type that the server refuses in the same words share a line.
    fn refused(&self) -> Vec<String> {
        let states = self.cluster_states();
        let is_whole = |known: &SourceStatus| {
            let mut states = states.iter();
            states.any(|(cluster, state)| {
                **cluster == known.key.cluster && matches!(state, ClusterState::Refused(_))
            })
        };
        let refused = self.noticed().filter(|known| is_refused(&known.state));
        let refused: Vec<&SourceStatus> = refused.filter(|known| !is_whole(known)).collect();
        let is_like = |one: &&SourceStatus, other: &SourceStatus| {
            one.is_refused_like(&other.key, &other.state)
        };
        let lines = refused.iter().enumerate().filter_map(|(at, known)| {
            if refused[..at].iter().any(|other| is_like(other, known)) {
                return None;
            }
            let source = if refused[at + 1..].iter().any(|other| is_like(other, known)) {
                known.key.of_all().to_string()
            } else {
                known.key.to_string()
            };
            let why = known.state.cause().map_or("", |cause| cause);
            let text = format!("{}: {source}: {why}", known.state.name());
            Some(self.clusters.about(&known.key, &text))
        });
        lines.collect()
    }

    /// The lines for the sources that cannot be read. Of many, the last line has the number of the others.
    pub(crate) fn refusal_lines(&self) -> Vec<String> {
        at_most(REFUSALS, self.refused())
    }

    /// How current a view on this canvas is.
    pub(crate) fn connection(&self, canvas: Canvas) -> Freshness {
        Freshness {
            summary: self.summary(canvas.now, canvas.look),
            clusters: cluster_states::lines(
                &self.cluster_states(),
                canvas.now,
                canvas.look.symbols,
            ),
            refused: self.refusal_lines(),
            watches: self.count(),
            ..Freshness::default()
        }
    }

    /// `live 1 of 2 clusters, away: prod-us`; `None` if there is one cluster.
    pub(crate) fn live_clusters(&self) -> Option<String> {
        let states = self.cluster_states();
        (!states.is_empty()).then(|| cluster_states::line(&states))
    }

    /// The states of the clusters, if there are several.
    pub(crate) fn cluster_states(&self) -> Vec<(&ClusterId, ClusterState)> {
        let states = self.clusters.iter().map(|(cluster, state)| {
            let state = match state {
                JoinState::Joining => ClusterState::Connecting,
                JoinState::Failing(failed) => ClusterState::Retrying(failed.clone()),
                JoinState::Joined | JoinState::Vacant => self.state_of(cluster),
            };
            (cluster, state)
        });
        states.collect()
    }

    /// The state of a cluster that has joined. The worst of its sources decides; one that is refused does not, unless all
    /// requested ones are.
    fn state_of(&self, cluster: &ClusterId) -> ClusterState {
        let inside = || self.noticed().filter(|known| known.key.cluster == *cluster);
        let vital = || inside().filter(|known| known.need == Need::Vital);
        let retrying = inside().filter_map(SourceStatus::failed_attempt);
        if let Some(failed) = retrying.max_by_key(|failed| failed.attempt) {
            return ClusterState::Retrying(failed);
        }
        let first = vital().next().and_then(|known| known.state.cause());
        match first {
            Some(cause) if vital().all(|known| is_refused(&known.state)) => {
                ClusterState::Refused(cause.clone())
            }
            _ if vital().any(|known| known.state == SourceState::Connecting) => {
                ClusterState::Connecting
            }
            Some(_) | None => ClusterState::Live,
        }
    }

    /// The state of all sources in a few words. The worst state decides.
    pub(crate) fn summary(&self, now: Timestamp, look: Look) -> Text {
        if self.clusters.are_several() {
            return cluster_states::summary(&self.cluster_states(), look.symbols);
        }
        let worst = self.noticed().max_by_key(|known| severity(&known.state));
        let Some(worst) = worst else {
            return Text::default();
        };
        let symbols = look.symbols;
        match &worst.state {
            SourceState::Connecting => {
                Text::new(Role::Moving, format!("{} connecting", symbols.in_progress))
            }
            SourceState::Live | SourceState::Ended => {
                let state = worst.state.name();
                Text::new(Role::Good, format!("{} {state}", symbols.current))
            }
            SourceState::Polling { .. } => {
                Text::new(Role::Moving, format!("{} polling", symbols.in_progress))
            }
            SourceState::Retrying {
                attempt,
                cause,
                until,
                ..
            } => {
                let wait = age::human(until.duration_since(now).max(jiff::SignedDuration::ZERO));
                // The worst source may never have been live, while the view shows objects of another one.
                let mut retrying = self.noticed().filter(|it| it.failed_attempt().is_some());
                let old = if retrying.any(|known| known.since.is_some()) {
                    " (the view may be out of date)"
                } else {
                    ""
                };
                let failed = symbols.failed;
                let text = format!("{failed} reconnecting, try {attempt} in {wait}{old}: {cause}");
                Text::new(Role::Bad, text)
            }
            SourceState::Forbidden { .. }
            | SourceState::Unserved { .. }
            | SourceState::Failed { .. } => {
                let bad = self.refused().len();
                let text = format!(
                    "{} {} of {} sources cannot be read",
                    symbols.failed,
                    bad,
                    self.count()
                );
                Text::new(Role::Warning, text)
            }
        }
    }

    /// What the requested sources have shown so far.
    pub(crate) fn shown(&self) -> SeenObjects {
        let absent = self.vital().filter(|known| known.is_absent());
        let namespaces = self.vital().filter_map(SourceStatus::namespace);
        SeenObjects {
            has_object: self.vital().any(|known| known.met),
            absent: absent.map(|known| SourceKey::clone(&known.key)).collect(),
            namespaces: namespaces.collect(),
        }
    }

    /// The namespaces in which all requested lists are read and empty. Each is returned once.
    pub(crate) fn take_empty_namespaces(&mut self) -> Vec<ClusterNamespace> {
        let is_empty = |known: &SourceStatus| known.synced && !known.met;
        let lists = self.vital().filter(|known| named(&known.key).is_none());
        let namespaces: BTreeSet<_> = lists.filter_map(SourceStatus::namespace).collect();
        let is_new = |namespace: &ClusterNamespace| {
            let mut inside =
                (self.vital()).filter(|known| known.namespace().as_ref() == Some(namespace));
            !self.empty.contains(namespace) && inside.all(is_empty)
        };
        let new: Vec<_> = namespaces.into_iter().filter(is_new).collect();
        self.empty.extend(new.iter().cloned());
        new
    }

    /// The sources that could not be read, or no longer can be: the vital ones, and those that decide about these.
    pub(crate) fn unread(&self) -> Vec<UnreadPart> {
        let is_read = self.is_read();
        let decisive = self.known.iter().filter(|known| match known.need {
            Need::Vital => true,
            // There are no objects of a kind that the server does not serve.
            Need::Decisive => !matches!(known.state, SourceState::Unserved { .. }),
            Need::Useful | Need::Spare => false,
        });
        let unread = decisive.filter_map(|known| match known.unread() {
            // Until a vital source answers, the server may only be slow.
            Some(UnreadPart::Refused(_)) if !is_read && !known.is_hopeless() => Some(known.late()),
            Some(UnreadPart::Requested(cause)) if self.is_about_every_kind => Some(
                UnreadPart::Undecided(self.clusters.about(&known.key, &cause)),
            ),
            unread => unread.map(|it| it.in_words(|cause| self.clusters.about(&known.key, cause))),
        });
        let failing = self.clusters.failing();
        let failing = failing.map(|(cluster, failed)| {
            UnreadPart::Refused(format!("{}: {}", cluster.0, failed.cause))
        });
        unread.chain(failing).collect()
    }
}

/// The most lines about sources that cannot be read.
const REFUSALS: usize = 5;

/// The lines, or the first ones and the number of the others.
fn at_most(most: usize, mut lines: Vec<String>) -> Vec<String> {
    if lines.len() > most {
        let more = lines.len() - (most - 1);
        lines.truncate(most - 1);
        lines.push(format!("and {more} more (-v=6 shows each request)"));
    }
    lines
}

fn severity(state: &SourceState) -> u8 {
    match state {
        SourceState::Ended => 0,
        SourceState::Live => 1,
        SourceState::Polling { .. } => 2,
        SourceState::Forbidden { .. }
        | SourceState::Unserved { .. }
        | SourceState::Failed { .. } => 3,
        SourceState::Connecting => 4,
        SourceState::Retrying { .. } => 5,
    }
}

/// What the requested sources have shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeenObjects {
    /// Whether any of them has ever had an object.
    pub(crate) has_object: bool,
    /// Those of one named object that never existed.
    pub(crate) absent: Vec<SourceKey>,
    /// Their namespaces.
    pub(crate) namespaces: BTreeSet<ClusterNamespace>,
}
