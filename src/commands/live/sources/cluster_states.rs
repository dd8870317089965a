//! `ClusterStates`: which of several clusters are live, and a line for each that is not.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::object::listed;
use crate::render::count::plural;
use crate::render::style::{Role, Symbols};
use crate::render::text::Text;
use crate::source::{ClusterId, SourceKey};

/// The most clusters that a view has lines for.
const MAX_LINES: usize = 5;

/// Several clusters, in the order of the request. A verb that reads one cluster has none.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClusterStates {
    all: Vec<(ClusterId, JoinState)>,
    /// How many times to try a cluster that has not joined yet before its silence is an answer.
    tries: u32,
}

/// Whether a cluster has joined the view: its types are known, so its sources are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JoinState {
    /// The first attempt is on its way.
    Joining,
    /// An attempt has failed, and another one follows.
    Failing(FailedAttempt),
    /// It has joined.
    Joined,
    /// It has joined, and has nothing of what is requested.
    Vacant,
}

/// The last failed attempt to read a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FailedAttempt {
    /// How many attempts have failed in a row, from 1.
    pub(crate) attempt: u32,
    /// The error, in kubectl's words.
    pub(crate) cause: Arc<str>,
    /// The time of the next attempt, by this machine's clock.
    pub(crate) until: Timestamp,
    /// Whether more attempts are worth waiting for: the server has not answered.
    pub(crate) may_pass: bool,
}

/// How well a cluster can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ClusterState {
    Connecting,
    Live,
    Retrying(FailedAttempt),
    /// Nothing of it can be read, for this reason.
    Refused(Arc<str>),
}

impl ClusterState {
    /// `connection refused (retrying, 3rd time)`: why the cluster cannot be read; `None` if it can, or if that is not known yet.
    pub(crate) fn trouble(&self) -> Option<String> {
        match self {
            ClusterState::Connecting | ClusterState::Live => None,
            ClusterState::Refused(cause) => Some(short_cause(cause).to_owned()),
            ClusterState::Retrying(failed) => {
                let (cause, time) = (short_cause(&failed.cause), ordinal(failed.attempt));
                Some(format!("{cause} (retrying, {time} time)"))
            }
        }
    }
}

impl ClusterStates {
    /// These clusters, of which none has joined. The silence of one is an answer after so many tries.
    pub(crate) fn joining(clusters: Vec<ClusterId>, tries: u32) -> ClusterStates {
        let all = clusters.into_iter();
        ClusterStates {
            tries,
            all: all.map(|cluster| (cluster, JoinState::Joining)).collect(),
        }
    }

    pub(crate) fn set(&mut self, cluster: &ClusterId, state: JoinState) {
        if let Some((_, old)) = self.all.iter_mut().find(|(known, _)| known == cluster) {
            *old = state;
        }
    }

    /// Forgets a cluster that another context names, too.
    pub(crate) fn remove(&mut self, cluster: &ClusterId) {
        self.all.retain(|(known, _)| known != cluster);
    }

    /// Whether there are several clusters.
    pub(crate) fn are_several(&self) -> bool {
        !self.all.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&ClusterId, &JoinState)> {
        self.all.iter().map(|(cluster, state)| (cluster, state))
    }

    /// Whether all clusters have joined.
    pub(crate) fn have_joined(&self) -> bool {
        let has_joined = |state| matches!(state, &JoinState::Joined | &JoinState::Vacant);
        self.iter().all(|(_, state)| has_joined(state))
    }

    /// Whether a cluster may soon join.
    pub(crate) fn are_joining(&self) -> bool {
        self.iter().any(|(_, state)| match state {
            JoinState::Joining => true,
            JoinState::Failing(failed) => failed.may_pass && failed.attempt < self.tries,
            JoinState::Joined | JoinState::Vacant => false,
        })
    }

    /// A text about a source. Of several clusters, it names the one of the source.
    pub(super) fn about(&self, key: &SourceKey, text: &str) -> String {
        if self.are_several() {
            format!("{}: {text}", key.cluster.0)
        } else {
            text.to_owned()
        }
    }

    /// The last attempts to read the clusters that have not joined.
    pub(super) fn failing(&self) -> impl Iterator<Item = (&ClusterId, &FailedAttempt)> {
        self.iter().filter_map(|(cluster, state)| match state {
            JoinState::Failing(failed) => Some((cluster, failed)),
            JoinState::Joining | JoinState::Joined | JoinState::Vacant => None,
        })
    }
}

/// `● live 3 of 4 clusters`.
pub(super) fn summary(states: &[(&ClusterId, ClusterState)], symbols: &Symbols) -> Text {
    let is = |wanted: fn(&ClusterState) -> bool| states.iter().filter(|(_, it)| wanted(it)).count();
    let live = is(|state| *state == ClusterState::Live);
    let connecting = is(|state| *state == ClusterState::Connecting);
    let text = format!("live {live} of {}", plural(states.len(), "cluster"));
    let (role, symbol) = match () {
        () if live == states.len() => (Role::Good, symbols.current),
        () if connecting > 0 => (Role::Moving, symbols.in_progress),
        () if live > 0 => (Role::Warning, symbols.current),
        () => (Role::Bad, symbols.failed),
    };
    Text::new(role, format!("{symbol} {text}"))
}

/// `live 1 of 2 clusters, away: prod-us`: the same in a line, with the names of the clusters that cannot be read now.
pub(super) fn line(states: &[(&ClusterId, ClusterState)]) -> String {
    let away = states.iter().filter(|(_, it)| *it != ClusterState::Live);
    let names: Vec<&str> = away.map(|(cluster, _)| &*cluster.0).collect();
    let live = states.len() - names.len();
    let text = format!("live {live} of {}", plural(states.len(), "cluster"));
    if names.is_empty() {
        return text;
    }
    format!("{text}, away: {}", listed(names, MAX_LINES))
}

/// `✗ prod-us: connection refused (retrying, 3rd time, 8 s)`: a line for each cluster that cannot be read, and the number of
/// the others.
pub(super) fn lines(
    states: &[(&ClusterId, ClusterState)],
    now: Timestamp,
    symbols: &Symbols,
) -> Vec<Text> {
    let mut lines = Vec::new();
    for (cluster, state) in states {
        let words = match state {
            ClusterState::Connecting | ClusterState::Live => continue,
            ClusterState::Refused(cause) => short_cause(cause).to_owned(),
            ClusterState::Retrying(failed) => {
                let wait = failed.until.duration_since(now).max(SignedDuration::ZERO);
                format!(
                    "{} (retrying, {} time, {} s)",
                    short_cause(&failed.cause),
                    ordinal(failed.attempt),
                    wait.as_secs()
                )
            }
        };
        let line = format!("{} {}: {words}", symbols.failed, cluster.0);
        lines.push(Text::new(Role::Bad, line));
    }
    if lines.len() > MAX_LINES {
        let more = lines.split_off(MAX_LINES - 1).len();
        let text = format!("+ {more} more clusters that cannot be read");
        lines.push(Text::new(Role::Bad, text));
    }
    lines
}

/// The part of kubectl's message that says why, without what each such message begins with.
fn short_cause(cause: &str) -> &str {
    const REFUSED: &str = " was refused - did you specify the right host or port?";
    let cause = cause.strip_prefix("error: ").unwrap_or(cause);
    if cause.starts_with("The connection to the server ") && cause.contains(REFUSED) {
        return "connection refused";
    }
    let cause = cause.lines().next().unwrap_or_default();
    for beginning in [
        "Unable to connect to the server: ",
        "Error from server (Forbidden): ",
    ] {
        if let Some(rest) = cause.strip_prefix(beginning) {
            return rest;
        }
    }
    cause
}

/// `1st`, `2nd`, `11th`.
fn ordinal(number: u32) -> String {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;
    const REFUSED: &str = "The connection to the server 10.0.0.1:6443 was refused - did you specify the right host or port?";

    fn retrying(attempt: u32, seconds: i64) -> ClusterState {
        ClusterState::Retrying(FailedAttempt {
            attempt,
            cause: REFUSED.into(),
            until: Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds),
            may_pass: true,
        })
    }

    /// The lines and the summary of clusters `a`, `b` and so on in these states.
    fn check(states: &[ClusterState], expect: &[&str]) {
        let names = (b'a'..).map(|letter| ClusterId(char::from(letter).to_string().into()));
        let names: Vec<ClusterId> = names.take(states.len()).collect();
        let states: Vec<_> = names.iter().zip(states.iter().cloned()).collect();
        let mut shown = lines(&states, Timestamp::UNIX_EPOCH, &Symbols::UNICODE);
        shown.push(summary(&states, &Symbols::UNICODE));
        assert_eq!(shown, expect);
    }

    #[test]
    fn a_cluster_that_fails_is_one_line() {
        use ClusterState::{Connecting, Live, Refused};
        let unauthorized = "error: You must be logged in to the server (Unauthorized)";
        check(&[Live, Live], &["● live 2 of 2 clusters"]);
        check(&[Live, Connecting], &["~ live 1 of 2 clusters"]);
        check(
            &[Live, retrying(3, 8), Refused(unauthorized.into())],
            &[
                "✗ b: connection refused (retrying, 3rd time, 8 s)",
                "✗ c: You must be logged in to the server (Unauthorized)",
                "● live 1 of 3 clusters",
            ],
        );
        check(
            &[
                Refused("Error from server (Forbidden): pods is forbidden".into()),
                retrying(12, -1),
            ],
            &[
                "✗ a: pods is forbidden",
                "✗ b: connection refused (retrying, 12th time, 0 s)",
                "✗ live 0 of 2 clusters",
            ],
        );
    }

    #[test]
    fn a_line_names_the_clusters_that_are_away() {
        let names = ["a", "b", "c", "d", "e", "f", "g"].map(|name| ClusterId(name.into()));
        let check = |live: usize, expect: &str| {
            let states = names.iter().enumerate().map(|(place, cluster)| {
                let is_live = place < live;
                let state = if is_live {
                    ClusterState::Live
                } else {
                    retrying(1, 1)
                };
                (cluster, state)
            });
            assert_eq!(line(&states.collect::<Vec<_>>()), expect);
        };
        check(7, "live 7 of 7 clusters");
        check(5, "live 5 of 7 clusters, away: f, g");
        check(1, "live 1 of 7 clusters, away: b, c, d, e, f and 1 more");
    }

    #[test]
    fn many_failing_clusters_are_counted() {
        let states = vec![retrying(1, 1); 7];
        let line = |name| format!("✗ {name}: connection refused (retrying, 1st time, 1 s)");
        let lines = ["a", "b", "c", "d"].map(line);
        let mut expect: Vec<&str> = lines.iter().map(String::as_str).collect();
        expect.extend([
            "+ 3 more clusters that cannot be read",
            "✗ live 0 of 7 clusters",
        ]);
        check(&states, &expect);
    }

    #[test]
    fn a_cluster_joins_soon_until_it_was_tried_often_enough() {
        let cluster = ClusterId("a".into());
        let states = |tries| ClusterStates::joining(vec![cluster.clone()], tries);
        let attempt = |attempt, may_pass| {
            JoinState::Failing(FailedAttempt {
                attempt,
                cause: REFUSED.into(),
                until: Timestamp::UNIX_EPOCH,
                may_pass,
            })
        };
        assert!(states(3).are_joining());
        for (tries, state, is_joining) in [
            (3, attempt(2, true), true),
            (3, attempt(3, true), false),
            (3, attempt(1, false), false),
            (3, JoinState::Joined, false),
            (3, JoinState::Vacant, false),
            (u32::MAX, attempt(1000, true), true),
            (u32::MAX, attempt(1000, false), false),
        ] {
            let mut states = states(tries);
            states.set(&cluster, state);
            assert_eq!(states.are_joining(), is_joining);
        }
    }
}
