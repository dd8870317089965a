//! The loop of every live verb: events in, lines and frames out, until it is answered or stopped.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use jiff::Timestamp;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::shutdown::Suspension;
use super::{CommandError, Ended, Note, Session, Shutdown, Sources, Terminal};
use crate::watch::{Event, Patience, Recall, SourceKey, Subscriptions};

/// A verb that follows sources. Everything but the two that are handed the terminal is a function of
/// the events, so that it can be tested without any.
pub(crate) trait Live {
    /// The sources to follow now. Asked again after each batch of events; an object that has come may
    /// lead to others.
    fn wanted(&self) -> Vec<SourceKey>;

    /// What is to be told after an interruption. Most verbs show how things are.
    fn recall(&self) -> Recall {
        Recall::Newest
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

    /// Waits for what comes from elsewhere than the sources; nothing does, unless the verb says so. It is
    /// dropped half way when something else comes.
    fn more(&mut self) -> impl Future<Output = ()> {
        std::future::pending()
    }

    /// Prints what is new for good. Called after each batch of events.
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
/// How often a frame is drawn at least: ages go on.
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
    terminal.close()?;
    ended
}

/// The sources that are followed: their events and their states.
#[derive(Default)]
struct Feed {
    wanted: Vec<SourceKey>,
    subscriptions: Subscriptions,
    sources: Sources,
}

async fn run(
    view: &mut impl Live,
    session: &Session,
    (terminal, feed): (&mut Terminal<'_>, &mut Feed),
    shutdown: &Shutdown,
) -> Result<Ended, CommandError> {
    let mut beat = interval(if terminal.is_live() { FRAME } else { BEAT });
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut drawn = Drawn::default();
    let mut suspended = Suspension::listen()?;
    loop {
        feed.reconcile((view.wanted(), view.recall()), session, terminal);
        tokio::select! {
            event = feed.subscriptions.next() => {
                let Some(event) = event else { return Ok(Ended::Answered) };
                feed.take(event, view, terminal)?;
                view.print(&feed.sources, terminal)?;
                drawn.is_old = true;
            }
            () = view.more() => {
                view.print(&feed.sources, terminal)?;
                drawn.is_old = true;
            }
            now = beat.tick() => {
                view.print(&feed.sources, terminal)?;
                if terminal.is_live() && drawn.is_due(now) {
                    view.draw(&feed.sources, terminal)?;
                }
            }
            () = suspended.asked() => {
                terminal.close()?;
                Suspension::stop();
                drawn.is_old = true;
            }
            signal = shutdown.wait() => {
                return Ok(signal.map_or(Ended::Answered, Ended::By));
            }
        }
        if let Some(error) = feed.sources.refusal() {
            return Err(error);
        }
        if view.is_answered(&feed.sources) {
            return feed.sources.silence().map_or(Ok(Ended::Answered), Err);
        }
    }
}

/// When the frame was drawn, and whether anything has come since.
#[derive(Default)]
struct Drawn {
    at: Option<Instant>,
    is_old: bool,
}

impl Drawn {
    fn is_due(&mut self, now: Instant) -> bool {
        let due = self.is_old || self.at.is_none_or(|at| now.duration_since(at) >= BEAT);
        if due {
            *self = Drawn {
                at: Some(now),
                is_old: false,
            };
        }
        due
    }
}

impl Feed {
    /// Subscribes to what is wanted and ends what no longer is.
    fn reconcile(
        &mut self,
        (wanted, recall): (Vec<SourceKey>, Recall),
        session: &Session,
        terminal: &Terminal<'_>,
    ) {
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
            self.sources.add(source.key());
            self.subscriptions
                .add_recalling(&source, (patience, recall));
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
            if let Some(note) = self.sources.apply(&key, &event, now) {
                // What ends the program is told as its error.
                if self.sources.count() > 1 || self.sources.refusal().is_none() {
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
