//! `LiveFeed`: subscribes to the sources of a live verb and passes their events to the view.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures::future::{LocalBoxFuture, join_all};
use jiff::{SignedDuration, Timestamp};
use tokio::time::{Instant, timeout};

use super::events::{Events, SourceEvent};
use super::live::Live;
use super::pace::{BUSY_FRAME, RedrawPace};
use super::unreadable_parts::UnreadableParts;
use crate::commands::live::cluster_group::{ClusterGroup, JoinAttempt, JoinedCluster};
use crate::commands::live::clusters::Clusters;
use crate::commands::live::session::Session;
use crate::commands::live::shutdown::{Pause, Suspension};
use crate::commands::live::sources::{ClusterNamespace, FailedAttempt, JoinState, StateLines};
use crate::commands::{
    CommandError, Ended, ErrorKind, Signal, Sources, Stop, Terminal, UnreadPart,
};
use crate::env::{Typed, restore_terminal, shifted};
use crate::source::{ClusterId, Event, SourceKey};
use crate::watch::{Patience, SubscribeOptions};

/// The most events that the view takes before it prints.
const BATCH: usize = 512;

/// The followed sources, with their events and states.
pub(super) struct LiveFeed<'a> {
    pub(super) clusters: Clusters<'a>,
    pub(super) stop: &'a mut Stop,
    pub(super) wanted: Vec<SourceKey>,
    pub(super) events: Events<'a>,
    pub(super) sources: Sources,
    pub(super) state_lines: StateLines,
    pub(super) printing: RedrawPace,
    pub(super) drawing: RedrawPace,
    pub(super) unreadable: UnreadableParts,
    /// The sources that were not read at the end, although their silence is an answer.
    pub(super) unread: Vec<UnreadPart>,
    /// The clusters whose clocks a message has been about.
    noted_clocks: BTreeSet<ClusterId>,
}

impl<'a> LiveFeed<'a> {
    pub(super) fn of(clusters: Clusters<'a>, stop: &'a mut Stop) -> LiveFeed<'a> {
        let mut sources = Sources::default();
        sources.clusters = clusters.states();
        LiveFeed {
            clusters,
            stop,
            wanted: Vec::new(),
            events: Events::of(clusters),
            sources,
            state_lines: StateLines::default(),
            printing: RedrawPace::default(),
            drawing: RedrawPace::default(),
            unreadable: UnreadableParts::of(clusters.only().and_then(Session::file)),
            unread: Vec::new(),
            noted_clocks: BTreeSet::new(),
        }
    }

    /// Prints new output, unless the pause after the last print is not over, and the waiting lines of `-v`.
    pub(super) fn print_if_due<V: Live>(
        &mut self,
        view: &mut V,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        for line in terminal.env().requests.take() {
            terminal.notify(&line)?;
        }
        if self.printing.is_due(Instant::now()) {
            self.print_owed(view, terminal)?;
        }
        Ok(())
    }

    pub(super) fn print_owed<V: Live>(
        &mut self,
        view: &mut V,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        if !self.printing.is_owed {
            return Ok(());
        }
        let begun = Instant::now();
        view.print(&self.sources, terminal)?;
        for (cluster, note) in self.clusters.clock_notes() {
            if self.noted_clocks.insert(cluster) {
                terminal.notify(&note)?;
            }
        }
        if view.has_begun() {
            let clock = |cluster: &ClusterId| self.clusters.clock(cluster, terminal.env())();
            self.stop.waiting.judge(|of| view.model(of), clock);
            self.stop.refresh_logs(|source| view.model(source));
            if !self.stop.waiting.is_decided() {
                self.report_met(terminal)?;
            }
        } else {
            self.stop.waiting.count_deaths(|source| view.model(source));
        }
        self.printing.done(begun, V::REST);
        if Self::shows_only_frames(view, terminal) {
            // Each frame judges the news first.
            self.printing.rest_until(begun + BUSY_FRAME);
        }
        Ok(())
    }

    /// Prints which objects have met the goals of `--for`.
    pub(super) fn report_met(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        for name in self.stop.waiting.take_met() {
            terminal.notify(&format!("{name} condition met"))?;
        }
        Ok(())
    }

    /// Prints what belongs before the end of `--for`.
    pub(super) async fn print_before_goal<V: Live>(
        &mut self,
        view: &mut V,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        if self.stop.waiting.is_decided() && view.take_last_output().await {
            self.printing.is_owed = true;
            self.print_owed(view, terminal)?;
        }
        self.stop.close_logs(None, terminal).await
    }

    /// Prints the last output, when no more events come.
    pub(super) fn print_last<V: Live>(
        &mut self,
        view: &mut V,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        self.printing.is_owed |= view.stop_waiting();
        self.print_owed(view, terminal)
    }

    /// Fails if no vital source can be read. It prints the last output first.
    pub(super) fn fail_if_refused<V: Live>(
        &mut self,
        view: &mut V,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let Some(error) = self.sources.refusal() else {
            return Ok(());
        };
        self.print_last(view, terminal)?;
        Err(error)
    }

    /// Whether the output is complete. Returns an error if a source does not answer.
    pub(super) fn is_over(&self, view: &impl Live) -> Result<bool, CommandError> {
        let is_decided = view.has_begun() && self.stop.waiting.is_decided();
        if self.printing.is_owed || !(is_decided || view.is_answered(&self.sources)) {
            return Ok(false);
        }
        self.sources.silence().map_or(Ok(true), Err)
    }

    /// Prints what the user may have meant by a missing object, if it is still missing, or that a namespace does not exist.
    pub(super) fn report(
        &self,
        found: LookedUp,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let lines: Vec<String> = match found {
            LookedUp::Names(key, suggestions) if self.sources.is_absent(&key) => {
                let line = |suggestion| {
                    let text = format!("{} not found: {suggestion}", key.type_and_name());
                    self.clusters.about(&key.cluster, &text)
                };
                suggestions.into_iter().map(line).collect()
            }
            LookedUp::Names(..) => Vec::new(),
            LookedUp::Namespace(absent) => absent.into_iter().collect(),
        };
        for line in lines {
            terminal.notify(&line)?;
        }
        Ok(())
    }

    /// Subscribes to the wanted sources and ends the other subscriptions. Sources that the view holds are
    /// paused.
    pub(super) fn reconcile(&mut self, view: &mut impl Live, terminal: &Terminal<'_>) {
        self.events.subscriptions.hold(|key| view.holds(key));
        let wanted = view.wanted();
        let is_reread = self.forget(&view.take_rereads());
        if wanted == self.wanted && !is_reread {
            return;
        }
        self.wanted.clone_from(&wanted);
        let patience = if terminal.is_live() {
            Patience::Screen
        } else {
            Patience::Pipe
        };
        let open = |key: SourceKey| Some(self.clusters.session(&key.cluster)?.mux.open_idle(key));
        let sources: Vec<_> = wanted.into_iter().filter_map(open).collect();
        let keys: HashSet<_> = sources.iter().map(|source| source.key().clone()).collect();
        let subscriptions = &mut self.events.subscriptions;
        let gone: Vec<_> = subscriptions
            .keys()
            .filter(|key| !keys.contains(*key))
            .cloned()
            .collect();
        for key in gone {
            subscriptions.remove(&key);
            self.sources.remove(&key);
        }
        let (needs, catch_up) = (view.needs(), view.catch_up());
        for source in sources {
            self.sources.add(source.key(), needs(source.key()));
            subscriptions.add(&source, SubscribeOptions { patience, catch_up });
            source.start();
        }
    }

    /// Ends the subscriptions of the sources that the view reads from the start. The sources themselves stay open.
    /// Returns whether there were any.
    fn forget(&mut self, rereads: &[SourceKey]) -> bool {
        let mut is_any = false;
        for key in rereads.iter().filter(|key| self.wanted.contains(key)) {
            self.events.subscriptions.remove(key);
            self.sources.remove(key);
            is_any = true;
        }
        is_any
    }

    /// Whether only frames show news, so that events may wait in their queues for the next one.
    fn shows_only_frames<V: Live>(view: &V, terminal: &Terminal<'_>) -> bool {
        terminal.is_live() && V::REST > 0 && view.has_begun()
    }

    /// Whether to take events now. Without a source there are none, and more clusters may join.
    pub(super) fn takes_events(&self, view: &impl Live, terminal: &Terminal<'_>) -> bool {
        let has_sources = self.sources.count() > 0 || !self.sources.clusters.are_several();
        // Events wait for the next frame if there is news for it already, or if the last one is new.
        let waits_for_frame = Self::shows_only_frames(view, terminal)
            && (self.drawing.is_owed || self.drawing.rests(Instant::now()));
        has_sources && !waits_for_frame
    }

    /// Takes the result of an attempt to let a cluster join. Returns the next attempt after one that has failed.
    pub(super) fn take_attempt<V: Live>(
        &mut self,
        attempt: JoinAttempt<'a>,
        view: &mut V,
        terminal: &mut Terminal<'_>,
    ) -> Result<Option<LocalBoxFuture<'a, JoinAttempt<'a>>>, CommandError> {
        self.printing.is_owed = true;
        self.drawing.is_owed = true;
        let JoinAttempt {
            cluster,
            place,
            count,
            result,
        } = attempt;
        let Err(error) = result.and_then(|joined| self.let_join(joined, view, terminal)) else {
            return Ok(None);
        };
        // It is the same in all clusters.
        if error.kind() == ErrorKind::Usage {
            return Err(error);
        }
        let cause: Arc<str> = error.to_string().into();
        let may_pass = error.is_silence();
        let wait = ClusterGroup::wait_after(count, may_pass);
        // The final error of a view that prints once says it.
        if count == 1 && !terminal.is_live() && !view.prints_once() {
            terminal.notify(&self.clusters.about(&cluster, &cause))?;
        }
        self.stop.waiting.fail_to_join(&cluster, &cause);
        let failed = FailedAttempt {
            attempt: count,
            cause,
            until: after(terminal.env().now(), wait),
            may_pass,
        };
        let failing = JoinState::Failing(failed);
        self.sources.clusters.set(&cluster, failing);
        Ok(self.clusters.next_attempt(place, count + 1, wait))
    }

    /// Begins to follow a cluster that is connected, unless another context has its sources already.
    fn let_join<V: Live>(
        &mut self,
        joined: JoinedCluster<'_>,
        view: &mut V,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let cluster = joined.session.cluster.clone();
        let errors = joined.errors.iter().map(ToString::to_string);
        let notes: Vec<String> = joined.hints.iter().cloned().chain(errors).collect();
        if let Some(logs) = &mut self.stop.logs {
            logs.add_cluster(joined.session, Some(joined.label.clone()));
        }
        let keys = view.join(joined)?;
        for note in notes {
            terminal.notify(&self.clusters.about(&cluster, &note))?;
        }
        match keys {
            Some(keys) => {
                self.stop.waiting.join(&cluster, &keys);
                let state = match &keys[..] {
                    [] => JoinState::Vacant,
                    _ => JoinState::Joined,
                };
                self.sources.clusters.set(&cluster, state);
            }
            None => self.sources.clusters.remove(&cluster),
        }
        Ok(())
    }

    /// Passes the events that have waited for the frame that is due now to the view.
    fn take_waiting(
        &mut self,
        view: &mut impl Live,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        if !Self::shows_only_frames(view, terminal) || self.drawing.rests(Instant::now()) {
            return Ok(());
        }
        while let Some(event) = self.events.next_now() {
            self.take(event, view, terminal)?;
        }
        Ok(())
    }

    /// Passes this event, and those queued behind it, to the view.
    pub(super) fn take(
        &mut self,
        event: SourceEvent,
        view: &mut impl Live,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let mut next = Some(event);
        let mut left = BATCH;
        while let Some((key, event)) = next {
            let now = terminal.env().now();
            if let Event::Undecodable { detail } = &event
                && self.clusters.is_of_file()
            {
                for line in self.unreadable.add(detail) {
                    terminal.notify(&line)?;
                }
            }
            let mut notes = self.sources.apply(&key, &event, now);
            if view.reports_states_at_once() {
                notes.extend(self.sources.take_held());
            }
            for (key, note) in notes {
                let is_for_end =
                    view.reports_refusals_last() && self.sources.is_refused_request(&key);
                // If the source ends the program, the final error reports it.
                if !is_for_end
                    && self.sources.refusal().is_none()
                    && let Some(note) = view.note(&key, note, now)
                    && let Some(note) = self.state_lines.add(&key, note, &self.sources)
                {
                    terminal.note(&note)?;
                }
            }
            let judged_at = self.clusters.clock(&key.cluster, terminal.env())();
            self.stop.waiting.apply(&key, &event, judged_at);
            view.apply(&key, event, now);
            left -= 1;
            if left == 0 || view.holds(&key) {
                break;
            }
            next = self.events.next_now();
        }
        self.print_states(terminal)?;
        self.printing.is_owed = true;
        self.drawing.is_owed = true;
        let is_drained = left > 0;
        if is_drained && view.prints_once() {
            self.printing.end_rest();
        }
        Ok(())
    }
}

/// The time after a wait.
fn after(now: Timestamp, wait: Duration) -> Timestamp {
    SignedDuration::try_from(wait).map_or(now, |wait| shifted(now, wait))
}

/// How long the last listing of a source that cannot be watched may take.
const POLL: Duration = Duration::from_secs(3);

impl LiveFeed<'_> {
    /// Prints the lines about outages that are due.
    fn print_states(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        for note in self.state_lines.take_due(&self.sources, Instant::now()) {
            terminal.note(&note)?;
        }
        Ok(())
    }

    /// Prints and draws what is new. Without news it does so once a beat, because ages change.
    pub(super) fn on_beat<V: Live>(
        &mut self,
        now: Instant,
        view: &mut V,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        if !terminal.is_live() && (terminal.env().reader_gone)() {
            return Err(std::io::Error::from(std::io::ErrorKind::BrokenPipe).into());
        }
        self.take_waiting(view, terminal)?;
        self.print_states(terminal)?;
        if !self.events.holds_one() {
            view.reach(&self.events.subscriptions);
        }
        self.printing.is_owed |= self.printing.is_overdue(now);
        self.print_if_due(view, terminal)?;
        if !terminal.is_live()
            && let Some(line) = self.stop.still_waiting(terminal.printed)
        {
            terminal.notify(&line)?;
        }
        if terminal.is_live() && (self.drawing.is_due(now) || self.drawing.is_overdue(now)) {
            let begun = Instant::now();
            self.print_owed(view, terminal)?;
            view.draw(&self.sources, terminal)?;
            self.drawing.done(begun, V::REST);
            self.drawing.rest_until(now + BUSY_FRAME);
        }
        Ok(())
    }

    /// Prints the remaining output after the user, the system or the time limit has stopped the verb.
    pub(super) async fn stopped<V: Live>(
        &mut self,
        view: &mut V,
        terminal: &mut Terminal<'_>,
        signal: Option<Signal>,
    ) -> Result<Ended, CommandError> {
        if signal.is_none() && self.stop.takes_silence && !self.clusters.is_of_file() {
            self.poll_last(view, terminal).await?;
        }
        view.wind_up().await;
        self.printing.is_owed = true;
        self.print_last(view, terminal)?;
        self.stop.close_logs(signal, terminal).await?;
        Ok(signal.map_or(Ended::OutOfTime, Ended::By))
    }

    /// Lists the sources that are not watched once more, because their silence since the last listing is no answer.
    async fn poll_last<V: Live>(
        &mut self,
        view: &mut V,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let polls = self.sources.unwatched().into_iter().filter_map(|key| {
            let session = self.clusters.session(&key.cluster)?;
            let source = session.mux.open_idle((*key).clone());
            Some(async move { timeout(POLL, source.poll()).await.map_err(|_| key) })
        });
        for polled in join_all(polls).await {
            if let Err(key) = polled {
                let source = key.to_string();
                let line = format!(
                    "error: {source}: not listed again within {} s",
                    POLL.as_secs()
                );
                self.unread.push(UnreadPart::Refused(line));
            }
        }
        while let Some(event) = self.events.next_now() {
            self.take(event, view, terminal)?;
        }
        Ok(())
    }

    /// Stops the process until the user continues it, and draws the whole frame then. Meanwhile the terminal is as it was.
    pub(super) async fn suspend(
        &mut self,
        pause: Pause,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        terminal.release()?;
        if pause == Pause::Asked {
            terminal.wait_until_written().await?;
            restore_terminal();
            Suspension::stop();
        }
        self.drawing.is_owed = true;
        Ok(())
    }

    /// Turns the pages or ends the verb, as the user has typed. With `--for`, `q` is like Ctrl-C, because the goal is not met.
    pub(super) async fn obey<V: Live>(
        &mut self,
        typed: Typed,
        view: &mut V,
        terminal: &mut Terminal<'_>,
    ) -> Result<Option<Ended>, CommandError> {
        match typed {
            Typed::Turns(turns) => {
                terminal.turn(&turns);
                self.drawing.is_owed = true;
                Ok(None)
            }
            Typed::Quit => {
                let signal = self.stop.waiting.has_goal().then_some(Signal::Interrupt);
                self.stopped(view, terminal, signal).await.map(Some)
            }
        }
    }

    /// Fails if a file contains text that could not be read; the rest is printed by then. A server never
    /// causes this error, because its sources read again.
    pub(super) fn ending(&self, ended: Ended) -> Result<Ended, CommandError> {
        match self.unreadable.error() {
            Some(error) if ended == Ended::Answered => Err(error),
            Some(_) | None => Ok(ended),
        }
    }
}

/// What was looked up about a missing object, or about a namespace in which there is nothing.
pub(super) enum LookedUp {
    /// What the user may have meant by the name of an object.
    Names(Arc<SourceKey>, Vec<String>),
    /// That a namespace does not exist; `None` if it may.
    Namespace(Option<String>),
}

pub(super) async fn look_up_names(clusters: Clusters<'_>, key: Arc<SourceKey>) -> LookedUp {
    let suggestions = clusters.suggestions(&key).await;
    LookedUp::Names(key, suggestions)
}

pub(super) async fn look_up_namespace(
    clusters: Clusters<'_>,
    namespace: ClusterNamespace,
) -> LookedUp {
    let (cluster, namespace) = namespace;
    LookedUp::Namespace(clusters.absent_namespace(&cluster, &namespace).await)
}
