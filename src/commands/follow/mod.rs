//! The loop of every live verb: events in, lines and frames out, until it is answered or stopped.

mod pace;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use jiff::Timestamp;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::shutdown::Suspension;
use super::sources::object;
use super::{CommandError, Ended, Need, Note, Session, Shutdown, Sources, Terminal};
use crate::watch::{Event, Patience, SourceKey, Subscriptions};

use pace::Pace;

/// A verb that follows sources. Everything but the two that are handed the terminal is a function of
/// the events, so that it can be tested without any.
pub(crate) trait Live {
    /// How many times as long as a print took there is none after it. A view of which each print goes
    /// over all there is has to rest, or the cost of a burst of events would be its square; one that
    /// prints what has come, and no more, need not.
    const REST: u32 = 0;

    /// The sources to follow now. Asked again after each batch of events; an object that has come may
    /// lead to others.
    fn wanted(&self) -> Vec<SourceKey>;

    /// Whether the view is of what this source has, or would be of something without it.
    fn need(&self, _key: &SourceKey) -> Need {
        Need::Vital
    }

    /// Whether people are told which objects are waited for.
    fn tells_waiting(&self) -> bool;

    /// Whether what was there at the start is shown, so that it can end.
    fn has_begun(&self) -> bool {
        true
    }

    /// Takes one event.
    fn apply(&mut self, key: &Arc<SourceKey>, event: Event, now: Timestamp);

    /// Tells that a source has come to another state: to people, unless the verb has records of it.
    fn note(
        &mut self,
        _key: &Arc<SourceKey>,
        note: Note,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        Ok(terminal.note(&note)?)
    }

    /// Prints what is new for good. Called after each batch of events, or after several.
    fn print(&mut self, sources: &Sources, terminal: &mut Terminal<'_>)
    -> Result<(), CommandError>;

    /// Draws the frame. Called on a terminal alone, at most ten times a second.
    fn draw(&mut self, sources: &Sources, terminal: &mut Terminal<'_>) -> Result<(), CommandError>;

    /// Whether what was asked is answered. Only sources that are settled can tell.
    fn is_answered(&self, sources: &Sources) -> bool;
}

/// How many events are taken before what they mean is shown.
const BATCH: usize = 512;
/// How often a frame is drawn at most.
const FRAME: Duration = Duration::from_millis(100);
/// How often a frame is drawn at least, as ages go on; and the longest rest.
const BEAT: Duration = Duration::from_secs(1);

/// Follows what `view` wants until it is answered, its sources have ended, or `shutdown` comes.
pub(crate) async fn follow(
    view: &mut impl Live,
    session: &Session,
    terminal: &mut Terminal<'_>,
    shutdown: &Shutdown,
) -> Result<Ended, CommandError> {
    let mut feed = Feed::default();
    let ended = run(view, session, (&mut *terminal, &mut feed), shutdown).await;
    if ended.is_ok() && terminal.is_live() {
        view.draw(&feed.sources, terminal)?;
    }
    if ended.is_err() && !feed.sources.is_read() {
        terminal.clear()?; // it was a frame of nothing
    }
    terminal.close()?;
    ended
}

/// The sources that are followed: their events and their states.
#[derive(Default)]
struct Feed {
    wanted: Vec<SourceKey>,
    subscriptions: Subscriptions,
    sources: Sources,
    printing: Pace,
}

async fn run<V: Live>(
    view: &mut V,
    session: &Session,
    (terminal, feed): (&mut Terminal<'_>, &mut Feed),
    shutdown: &Shutdown,
) -> Result<Ended, CommandError> {
    let mut beat = interval(if terminal.is_live() { FRAME } else { BEAT });
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut drawing = Pace::default();
    let mut suspended = Suspension::listen()?;
    let mut lookups = FuturesUnordered::new();
    loop {
        feed.reconcile(&*view, session, terminal);
        tokio::select! {
            event = feed.subscriptions.next() => {
                let Some(event) = event else {
                    feed.print_owed(view, terminal)?;
                    return Ok(Ended::Answered);
                };
                feed.take(event, view, terminal)?;
                feed.printing.is_owed = true;
                drawing.is_owed = true;
            }
            () = sleep_until(feed.printing.rests_until), if feed.printing.is_owed => {}
            now = beat.tick() => {
                feed.printing.is_owed = true;
                feed.print_if_due(view, terminal)?;
                if terminal.is_live() && (drawing.is_due(now) || drawing.is_overdue(now)) {
                    let begun = Instant::now();
                    view.draw(&feed.sources, terminal)?;
                    drawing.done(begun, V::REST);
                }
            }
            Some(found) = lookups.next() => feed.tell_similar(found, terminal)?,
            () = suspended.asked() => {
                terminal.close()?;
                Suspension::stop();
                drawing.is_owed = true;
            }
            signal = shutdown.wait() => {
                feed.print_owed(view, terminal)?;
                return Ok(signal.map_or(Ended::Answered, Ended::By));
            }
        }
        feed.print_if_due(view, terminal)?;
        if feed.is_over(&*view)? {
            return Ok(Ended::Answered);
        }
        if view.tells_waiting() {
            let absent = feed.sources.take_absent().into_iter();
            lookups.extend(absent.map(|key| look_up(session, key)));
        }
    }
}

/// Asks for names like that of an object that is not there, beside everything else.
async fn look_up(session: &Session, key: Arc<SourceKey>) -> (Arc<SourceKey>, Vec<String>) {
    let near = session.similar(&key).await;
    (key, near)
}

impl Feed {
    /// Prints what is owed, unless it is too soon.
    fn print_if_due<V: Live>(
        &mut self,
        view: &mut V,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        if self.printing.is_due(Instant::now()) {
            self.print_owed(view, terminal)?;
        }
        Ok(())
    }

    fn print_owed<V: Live>(
        &mut self,
        view: &mut V,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        if !self.printing.is_owed {
            return Ok(());
        }
        let begun = Instant::now();
        view.print(&self.sources, terminal)?;
        self.printing.done(begun, V::REST);
        Ok(())
    }

    /// Whether all that was asked is told; an error if it cannot be.
    fn is_over(&self, view: &impl Live) -> Result<bool, CommandError> {
        if let Some(error) = self.sources.refusal() {
            return Err(error);
        }
        if self.printing.is_owed || !view.is_answered(&self.sources) {
            return Ok(false);
        }
        self.sources.silence().map_or(Ok(true), Err)
    }

    /// Tells of names like that of an object that is waited for, if it still is.
    fn tell_similar(
        &self,
        (key, near): (Arc<SourceKey>, Vec<String>),
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        if !near.is_empty() && self.sources.is_absent(&key) {
            let near = near.join(", ");
            terminal.say(&format!("similar to {}: {near}", object(&key)))?;
        }
        Ok(())
    }

    /// Subscribes to what is wanted and ends what no longer is.
    fn reconcile(&mut self, view: &impl Live, session: &Session, terminal: &Terminal<'_>) {
        let wanted = view.wanted();
        if wanted == self.wanted {
            return;
        }
        self.wanted.clone_from(&wanted);
        let patience = if terminal.is_live() {
            Patience::Screen
        } else {
            Patience::Pipe
        };
        let sources: Vec<_> = wanted
            .into_iter()
            .map(|key| session.mux.open(key))
            .collect();
        let keys: HashSet<_> = sources.iter().map(|source| source.key().clone()).collect();
        let gone: Vec<_> = self
            .subscriptions
            .keys()
            .filter(|key| !keys.contains(*key))
            .cloned()
            .collect();
        for key in gone {
            self.subscriptions.remove(&key);
            self.sources.remove(&key);
        }
        for source in sources {
            self.sources.add(source.key(), view.need(source.key()));
            self.subscriptions.add(&source, patience);
        }
    }

    /// Hands this event, and those that wait behind it, to the view.
    fn take(
        &mut self,
        event: (Arc<SourceKey>, Event),
        view: &mut impl Live,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let mut next = Some(event);
        let mut left = BATCH;
        while let Some((key, event)) = next {
            let now = terminal.env().now();
            for (key, note) in self.sources.apply(&key, &event, now) {
                // What ends the program is told as its error.
                if self.sources.refusal().is_none() {
                    view.note(&key, note, terminal)?;
                }
            }
            view.apply(&key, event, now);
            left -= 1;
            if left == 0 {
                break;
            }
            next = self.subscriptions.next().now_or_never().flatten();
        }
        Ok(())
    }
}
