//! `StateLines`: the lines for people about the states of sources. An outage is one line, however many sources it has, and
//! one line when they are back.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::Sources;
use super::source_status::is_refused;
use super::words::{Note, reason};
use crate::render::count::plural;
use crate::source::{ClusterId, SourceKey, SourceState};

/// How long the first source that retries waits for others, so that they have one line. Meanwhile the first attempts to connect
/// again give the cause.
const TOGETHER: Duration = Duration::from_secs(1);
/// How long the others of an outage may need after the first is live. It is more than the longest wait between two attempts.
const RETURN: Duration = Duration::from_secs(90);
/// The most sources that a line names.
const MAX_NAMED: usize = 3;
/// The most lines about the refused sources of one of several clusters.
const MAX_REFUSALS: usize = 5;

/// What was printed about the states of the sources of each cluster, and what is to be printed.
#[derive(Debug, Default)]
pub(crate) struct StateLines {
    clusters: BTreeMap<ClusterId, ClusterLines>,
}

#[derive(Debug, Default)]
struct ClusterLines {
    /// The sources that retry and have no line yet, in the order of their notes.
    waiting: Vec<(Arc<SourceKey>, Note)>,
    /// When the first of them began to wait.
    since: Option<Instant>,
    outages: Vec<Outage>,
    /// The sources that wait or are part of an outage.
    lost: HashSet<Arc<SourceKey>>,
    /// How many refusals had a line.
    refusals: usize,
}

/// Sources that retry for one reason, and have a line.
#[derive(Debug)]
struct Outage {
    sources: Vec<Arc<SourceKey>>,
    /// Whether no other source of the cluster was live.
    is_whole: bool,
    /// How many sources the last line was about.
    printed: usize,
    /// When the first of them was live again.
    answered: Option<Instant>,
}

/// The present states of the sources of a cluster.
struct PresentStates<'s> {
    cluster: &'s ClusterId,
    are_several: bool,
    states: HashMap<&'s SourceKey, &'s SourceState>,
}

impl StateLines {
    /// Takes a change of a source's state, which `sources` knows already. Returns it if its line is printed at once; the
    /// lines about outages come from [`StateLines::take_due`].
    pub(crate) fn add(
        &mut self,
        key: &Arc<SourceKey>,
        note: Note,
        sources: &Sources,
    ) -> Option<Note> {
        let lines = self.clusters.entry(key.cluster.clone()).or_default();
        match note.state {
            "retrying" => {
                lines.lose(key, note);
                None
            }
            "live" if lines.has_outage_line(key) => None,
            "live" => Some(Note {
                source: sources.clusters.about(key, &note.source),
                ..note
            }),
            _ => {
                lines.forget(key);
                lines.refusal(key, note, sources)
            }
        }
    }

    /// The lines that are due now.
    pub(crate) fn take_due(&mut self, sources: &Sources, now: Instant) -> Vec<Note> {
        let mut notes = Vec::new();
        for (cluster, lines) in &mut self.clusters {
            if lines.waiting.is_empty() && lines.outages.is_empty() {
                continue;
            }
            let present = PresentStates::of(cluster, sources);
            if !lines.waiting.is_empty() {
                lines.since.get_or_insert(now);
            }
            if lines.are_due(&present, now) {
                notes.extend(lines.begin_outages(&present));
            }
            notes.extend(lines.end_outages(&present, now));
        }
        notes
    }

    /// The lines that would be due later, for the end of the verb.
    pub(crate) fn take_all(&mut self, sources: &Sources, now: Instant) -> Vec<Note> {
        let mut notes = Vec::new();
        for (cluster, lines) in &mut self.clusters {
            let present = PresentStates::of(cluster, sources);
            notes.extend(lines.begin_outages(&present));
            notes.extend(lines.end_outages(&present, now));
        }
        notes
    }
}

impl ClusterLines {
    /// Whether the line about the next live state of a source is that of an outage.
    fn has_outage_line(&self, key: &Arc<SourceKey>) -> bool {
        self.lost.contains(key)
    }

    /// Takes a source that retries. One that retries alone has a line for each cause.
    fn lose(&mut self, key: &Arc<SourceKey>, note: Note) {
        let is_of_it = |outage: &Outage| matches!(&outage.sources[..], [only] if only == key);
        let before = self.outages.len();
        self.outages.retain(|outage| !is_of_it(outage));
        let had_own_line = self.outages.len() < before;
        if self.lost.insert(key.clone()) || had_own_line {
            self.waiting.push((key.clone(), note));
        }
    }

    /// Removes a source from those that wait and from its outage: its state has a line of its own.
    fn forget(&mut self, key: &Arc<SourceKey>) {
        if !self.lost.remove(key) {
            return;
        }
        self.waiting.retain(|(waiting, _)| waiting != key);
        if self.waiting.is_empty() {
            self.since = None;
        }
        for outage in &mut self.outages {
            outage.sources.retain(|lost| lost != key);
        }
    }

    /// A note about a source that is refused. Of several clusters, each has only some such lines.
    fn refusal(&mut self, key: &SourceKey, note: Note, sources: &Sources) -> Option<Note> {
        if !sources.clusters.are_several() {
            return Some(note);
        }
        self.refusals += 1;
        match self.refusals.cmp(&MAX_REFUSALS) {
            Ordering::Less => Some(Note {
                source: sources.clusters.about(key, &note.source),
                ..note
            }),
            Ordering::Equal => Some(Note {
                source: key.cluster.0.to_string(),
                cause: Some("and more (-v=6 shows each request)".into()),
                ..note
            }),
            Ordering::Greater => None,
        }
    }

    /// Whether those that wait have a line now. A source that is alone waits for no other.
    fn are_due(&self, present: &PresentStates<'_>, now: Instant) -> bool {
        let has_waited = |since: Instant| now.duration_since(since) >= TOGETHER;
        self.since
            .is_some_and(|since| has_waited(since) || present.states.len() == 1)
    }

    /// The lines about the sources that have waited: one for each reason.
    fn begin_outages(&mut self, present: &PresentStates<'_>) -> Vec<Note> {
        self.since = None;
        let mut groups: Vec<(Arc<str>, Vec<Arc<SourceKey>>)> = Vec::new();
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.retain(|(key, _)| present.may_return(key));
        for (key, note) in waiting {
            // The first cause may only be the end of the connection.
            let Some(cause) = present.retry_cause(&key).cloned().or(note.cause) else {
                continue;
            };
            let of_reason = |(known, _): &&mut (Arc<str>, _)| reason(known) == reason(&cause);
            match groups.iter_mut().find(of_reason) {
                Some((_, keys)) => keys.push(key),
                None => groups.push((cause, vec![key])),
            }
        }
        let lines = groups.into_iter().filter_map(|(cause, keys)| {
            let is_same = |outage: &&mut Outage| outage.is_for(&cause, present);
            if let Some(outage) = self.outages.iter_mut().find(is_same) {
                return outage.grow(keys, &cause, present);
            }
            let outage = Outage {
                is_whole: present.are_all(&keys),
                printed: keys.len(),
                sources: keys,
                answered: None,
            };
            let line = outage.line(&cause, present);
            self.outages.push(outage);
            Some(line)
        });
        lines.collect()
    }

    /// The lines about outages that are over. The sources that do not return with the others get a line of their own.
    fn end_outages(&mut self, present: &PresentStates<'_>, now: Instant) -> Vec<Note> {
        let mut notes = Vec::new();
        for mut outage in std::mem::take(&mut self.outages) {
            outage.sources.retain(|key| present.may_return(key));
            let all = outage.sources.len();
            let (away, back): (Vec<_>, Vec<_>) = (outage.sources.iter().cloned())
                .partition(|key| present.retry_cause(key).is_some());
            let is_any_back = back.iter().any(|key| present.is_live(key));
            let answered = is_any_back.then(|| outage.answered.unwrap_or(now));
            let is_over = answered.is_some_and(|since| now.duration_since(since) >= RETURN);
            if !away.is_empty() && !is_over {
                self.outages.push(Outage { answered, ..outage });
                continue;
            }
            if is_any_back {
                notes.push(outage.live_line(&back, all, present));
            }
            for key in away {
                let note = Note {
                    source: key.to_string(),
                    state: "retrying",
                    cause: present.retry_cause(&key).cloned(),
                };
                self.waiting.push((key, note));
            }
        }
        let waiting = self.waiting.iter().map(|(key, _)| key);
        let out = self.outages.iter().flat_map(|outage| &outage.sources);
        self.lost = waiting.chain(out).cloned().collect();
        notes
    }
}

impl Outage {
    /// Whether one of its sources retries for the reason of this cause.
    fn is_for(&self, cause: &str, present: &PresentStates<'_>) -> bool {
        let mut causes = self
            .sources
            .iter()
            .filter_map(|key| present.retry_cause(key));
        causes.any(|known| reason(known) == reason(cause))
    }

    /// Takes more sources. They have a line if it then has twice as many as in the last one.
    fn grow(
        &mut self,
        more: Vec<Arc<SourceKey>>,
        cause: &str,
        present: &PresentStates<'_>,
    ) -> Option<Note> {
        self.sources.extend(more);
        if self.sources.len() < 2 * self.printed {
            return None;
        }
        self.printed = self.sources.len();
        self.is_whole = present.are_all(&self.sources);
        Some(self.line(cause, present))
    }

    fn line(&self, cause: &str, present: &PresentStates<'_>) -> Note {
        let count = self.sources.len();
        let cause = if self.is_whole && count > 1 {
            format!("{}: {cause}", plural(count, "source"))
        } else {
            cause.to_owned()
        };
        Note {
            source: self.name(&self.sources, present),
            state: "retrying",
            cause: Some(cause.into()),
        }
    }

    /// The line about those of all its sources that are back.
    fn live_line(&self, back: &[Arc<SourceKey>], all: usize, present: &PresentStates<'_>) -> Note {
        let cause = match back.len() {
            1 if all == 1 => None,
            count if count == all && self.is_whole => Some(plural(count, "source")),
            count if self.is_whole => Some(format!("{count} of {}", plural(all, "source"))),
            _ => None,
        };
        Note {
            source: self.name(back, present),
            state: "live",
            cause: cause.map(Into::into),
        }
    }

    /// The cluster, if the whole of it is away, or the sources.
    fn name(&self, sources: &[Arc<SourceKey>], present: &PresentStates<'_>) -> String {
        let cluster = &present.cluster.0;
        if self.is_whole && (present.are_several || self.sources.len() > 1) {
            return cluster.to_string();
        }
        let (shown, more) = match sources.len() {
            count if count <= MAX_NAMED => (count, 0),
            count => (MAX_NAMED - 1, count - (MAX_NAMED - 1)),
        };
        let names = sources.iter().take(shown).map(ToString::to_string);
        let mut names = names.collect::<Vec<_>>().join(", ");
        if more > 0 {
            names = format!("{names} and {more} more sources");
        }
        if present.are_several {
            names = format!("{cluster}: {names}");
        }
        names
    }
}

impl<'s> PresentStates<'s> {
    fn of(cluster: &'s ClusterId, sources: &'s Sources) -> PresentStates<'s> {
        let inside = sources.states().filter(|(key, _)| key.cluster == *cluster);
        PresentStates {
            cluster,
            are_several: sources.clusters.are_several(),
            states: inside.collect(),
        }
    }

    /// Why a source retries; `None` if it does not.
    fn retry_cause(&self, key: &SourceKey) -> Option<&'s Arc<str>> {
        match self.states.get(key) {
            Some(SourceState::Retrying { cause, .. }) => Some(cause),
            Some(_) | None => None,
        }
    }

    /// Whether a source is followed, and may be live again: it is not refused and has no end.
    fn may_return(&self, key: &SourceKey) -> bool {
        let state = self.states.get(key);
        state.is_some_and(|state| !is_refused(state) && **state != SourceState::Ended)
    }

    fn is_live(&self, key: &SourceKey) -> bool {
        self.states.get(key) == Some(&&SourceState::Live)
    }

    /// Whether no source besides these is live, or may soon be.
    fn are_all(&self, keys: &[Arc<SourceKey>]) -> bool {
        let is_well = |state| matches!(state, &SourceState::Live | &SourceState::Connecting);
        let keys: HashSet<&SourceKey> = keys.iter().map(|key| &**key).collect();
        let mut well = self.states.iter().filter(|(_, state)| is_well(**state));
        well.all(|(key, _)| keys.contains(key))
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::super::Need;
    use super::*;
    use crate::commands::live::sources::{ClusterStates, JoinState};
    use crate::source::{Event, Select};

    const REFUSED: &str = "The connection to the server 10.0.0.1:6443 was refused";

    /// The sources of a verb, their lines and the time.
    struct Scene {
        sources: Sources,
        lines: StateLines,
        keys: Vec<Arc<SourceKey>>,
        now: Instant,
    }

    fn lost(cause: &str) -> SourceState {
        SourceState::Retrying {
            attempt: 1,
            cause: cause.into(),
            until: Timestamp::UNIX_EPOCH,
            is_throttled: false,
        }
    }

    impl Scene {
        /// This many sources of one cluster, all live.
        fn of(count: usize) -> Scene {
            let key = |number| {
                let mut key = SourceKey::all("", "Pod");
                key.resource.plural = format!("kind{number}s").into();
                key
            };
            Scene::with((0..count).map(key))
        }

        /// These sources, all live.
        fn with(keys: impl IntoIterator<Item = SourceKey>) -> Scene {
            let mut scene = Scene {
                sources: Sources::default(),
                lines: StateLines::default(),
                keys: keys.into_iter().map(Arc::new).collect(),
                now: Instant::now(),
            };
            for key in &scene.keys {
                scene.sources.add(key, Need::Vital);
                let synced = Event::synced(0);
                scene.sources.apply(key, &synced, Timestamp::UNIX_EPOCH);
            }
            assert_eq!(scene.enter(0..scene.keys.len(), &SourceState::Live), "");
            scene
        }

        /// What is printed when these sources enter a state, and at once after that.
        fn enter(&mut self, places: std::ops::Range<usize>, state: &SourceState) -> String {
            let mut notes = Vec::new();
            for key in &self.keys[places] {
                let event = Event::State(state.clone());
                for (key, note) in self.sources.apply(key, &event, Timestamp::UNIX_EPOCH) {
                    notes.extend(self.lines.add(&key, note, &self.sources));
                }
                notes.extend(self.lines.take_due(&self.sources, self.now));
            }
            text(notes)
        }

        /// What is printed after so many seconds.
        fn wait(&mut self, seconds: u64) -> String {
            self.now += Duration::from_secs(seconds);
            text(self.lines.take_due(&self.sources, self.now))
        }
    }

    fn text(notes: Vec<Note>) -> String {
        let line = |note: Note| {
            let cause = note.cause.map(|cause| format!(": {cause}"));
            format!(
                "{}: {}{}",
                note.source,
                note.state,
                cause.unwrap_or_default()
            )
        };
        notes.into_iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn an_outage_is_one_line_and_its_end_another() {
        let mut scene = Scene::of(31);
        assert_eq!(scene.enter(0..30, &lost("connection lost: reset")), "");
        assert_eq!(scene.enter(0..30, &lost(REFUSED)), "");
        assert_eq!(scene.enter(30..31, &lost(REFUSED)), "");
        let away = format!("test: retrying: 31 sources: {REFUSED}");
        assert_eq!(scene.wait(1), away);
        assert_eq!(scene.enter(0..31, &lost("Error from server: starting")), "");
        assert_eq!(scene.wait(600), "");
        assert_eq!(scene.enter(0..30, &SourceState::Live), "");
        assert_eq!(scene.wait(20), "");
        let back = "test: live: 31 sources";
        assert_eq!(scene.enter(30..31, &SourceState::Live), back);
        assert_eq!(scene.wait(600), "");
    }

    #[test]
    fn a_source_that_fails_alone_has_its_name() {
        let mut scene = Scene::of(3);
        assert_eq!(scene.enter(0..1, &lost(REFUSED)), "");
        let line = format!("kind0s: retrying: {REFUSED}");
        assert_eq!(scene.wait(1), line);
        assert_eq!(scene.enter(0..1, &SourceState::Live), "kind0s: live");
        let forbidden = SourceState::Forbidden { cause: "no".into() };
        assert_eq!(scene.enter(1..2, &forbidden), "kind1s: forbidden: no");
        assert_eq!(scene.enter(1..2, &SourceState::Live), "kind1s: live");
        let mut only = Scene::of(1);
        assert_eq!(only.enter(0..1, &lost(REFUSED)), line);
        assert_eq!(only.enter(0..1, &lost("slow")), "kind0s: retrying: slow");
        assert_eq!(only.enter(0..1, &SourceState::Live), "kind0s: live");
    }

    #[test]
    fn each_reason_has_a_line_with_the_names() {
        let mut scene = Scene::of(9);
        for place in 0..5 {
            let cause = format!("Error from server (ServiceUnavailable): kind{place}s");
            assert_eq!(scene.enter(place..place + 1, &lost(&cause)), "");
        }
        assert_eq!(scene.enter(5..7, &lost("connection lost: reset")), "");
        assert_eq!(
            scene.wait(1),
            "kind0s, kind1s and 3 more sources: retrying: Error from server (ServiceUnavailable): kind0s\n\
             kind5s, kind6s: retrying: connection lost: reset"
        );
        assert_eq!(
            scene.enter(5..7, &SourceState::Live),
            "kind5s, kind6s: live"
        );
        let back = "kind0s, kind1s and 3 more sources: live";
        assert_eq!(scene.enter(0..5, &SourceState::Live), back);
    }

    #[test]
    fn sources_that_are_lost_one_after_the_other_have_few_lines() {
        let mut scene = Scene::of(32);
        let mut lines = String::new();
        for place in 0..32 {
            lines += &scene.enter(place..place + 1, &lost(REFUSED));
            lines += &scene.wait(1);
        }
        assert_eq!(lines.matches("retrying").count(), 6, "{lines}");
        assert!(lines.contains("test: retrying: 32 sources: "), "{lines}");
    }

    #[test]
    fn a_source_that_does_not_return_with_the_others_has_its_name() {
        let mut scene = Scene::of(31);
        scene.enter(0..31, &lost(REFUSED));
        scene.wait(1);
        scene.enter(0..30, &SourceState::Live);
        scene.enter(30..31, &lost("Error from server: no"));
        assert_eq!(scene.wait(89), "");
        assert_eq!(scene.wait(1), "test: live: 30 of 31 sources");
        let line = "kind30s: retrying: Error from server: no";
        assert_eq!([scene.wait(1), scene.wait(1)].concat(), line);
        assert_eq!(scene.enter(30..31, &SourceState::Live), "kind30s: live");
    }

    #[test]
    fn a_source_that_is_refused_is_no_part_of_an_outage() {
        let forbidden = SourceState::Forbidden { cause: "no".into() };
        let of_app = |labels| SourceKey {
            select: Select::matching(Some(labels), None),
            ..SourceKey::all("", "Pod")
        };
        // The refusal of the second list of Pods has no line, because its words are those of the first.
        let several = || {
            let others = ["ConfigMap", "Service"].map(|kind| SourceKey::all("", kind));
            let [one, other] = others;
            Scene::with([one, of_app("app=a"), of_app("app=b"), other])
        };
        let mut scene = several();
        scene.enter(0..4, &lost(REFUSED));
        let all = format!("test: retrying: 4 sources: {REFUSED}");
        assert_eq!(scene.wait(1), all);
        let refused = scene.enter(1..3, &forbidden);
        assert_eq!(refused.matches("forbidden").count(), 1, "{refused}");
        assert_eq!(scene.enter(0..1, &SourceState::Live), "");
        let back = "test: live: 2 sources";
        assert_eq!(scene.enter(3..4, &SourceState::Live), back);
        let mut scene = several();
        scene.enter(0..4, &lost(REFUSED));
        scene.enter(1..3, &forbidden);
        let others = format!("test: retrying: 2 sources: {REFUSED}");
        assert_eq!(scene.wait(1), others);
        let mut scene = Scene::of(2);
        scene.enter(0..1, &lost(REFUSED));
        assert_eq!(scene.enter(0..1, &forbidden), "kind0s: forbidden: no");
        assert_eq!(scene.wait(1), "");
        assert_eq!(scene.enter(0..1, &SourceState::Live), "kind0s: live");
    }

    #[test]
    fn an_outage_that_ends_early_has_both_lines() {
        let mut scene = Scene::of(9);
        scene.enter(0..2, &lost(REFUSED));
        scene.enter(0..2, &SourceState::Live);
        let both = format!("kind0s, kind1s: retrying: {REFUSED}\nkind0s, kind1s: live");
        assert_eq!(scene.wait(1), both);
        scene.enter(0..1, &lost(REFUSED));
        let last = scene.lines.take_all(&scene.sources, scene.now);
        assert_eq!(text(last), format!("kind0s: retrying: {REFUSED}"));
    }

    #[test]
    fn of_several_clusters_each_is_named() {
        let mut scene = Scene::of(3);
        let cluster = scene.keys[0].cluster.clone();
        let several = ClusterStates::joining(vec![cluster.clone()], 3);
        scene.sources.clusters = several;
        scene.sources.clusters.set(&cluster, JoinState::Joined);
        scene.enter(0..1, &lost(REFUSED));
        let line = format!("{}: kind0s: retrying: {REFUSED}", cluster.0);
        assert_eq!(scene.wait(1), line);
        let away = format!("{}: retrying: 2 sources: slow", cluster.0);
        assert_eq!(scene.enter(1..3, &lost("slow")), "");
        assert_eq!(scene.wait(1), away);
        let forbidden = SourceState::Forbidden { cause: "no".into() };
        let refused = format!("{}: kind0s: forbidden: no", cluster.0);
        assert_eq!(scene.enter(0..1, &forbidden), refused);
    }
}
