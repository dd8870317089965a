//! The loop of every live verb: events in, lines and frames out, until it is answered or stopped.

mod ending;
mod live;
mod pace;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::shutdown::Suspension;
use super::sources::object;
use super::{CommandError, Ended, Session, Shutdown, Signal, Sources, Terminal};
use crate::watch::{Event, Patience, SourceKey, Subscriptions, Terms};

pub(crate) use live::Live;
use pace::{BEAT, RedrawPace};

/// How many events are taken before what they mean is shown.
const BATCH: usize = 512;
/// How often a frame is drawn at most.
const FRAME: Duration = Duration::from_millis(100);

/// Follows what `view` wants until it is answered, its sources have ended, or `shutdown` comes.
pub(crate) async fn follow(
    view: &mut impl Live,
    session: &Session,
    terminal: &mut Terminal<'_>,
    shutdown: &Shutdown,
) -> Result<Ended, CommandError> {
    let mut feed = LiveFeed::default();
    let ended = run(view, session, (&mut *terminal, &mut feed), shutdown).await;
    let ended = ended.and_then(|ended| feed.ending(session, ended));
    view.over(&feed.sources);
    let shown = leave(view, (&feed.sources, ended.is_ok()), terminal);
    match shutdown.wait().now_or_never() {
        // A terminal that has hung up takes nothing more.
        Some(Some(Signal::Hangup)) => return Ok(Ended::By(Signal::Hangup)),
        Some(_) | None => shown?,
    }
    tokio::select! {
        biased;
        wrote = terminal.wait_until_written() => wrote?,
        _ = shutdown.wait() => terminal.wait_while_read().await?,
    }
    ended
}

/// Leaves on the screen what is to stay there.
fn leave(
    view: &mut impl Live,
    (sources, is_answered): (&Sources, bool),
    terminal: &mut Terminal<'_>,
) -> Result<(), CommandError> {
    if is_answered && terminal.is_live() {
        view.finish(sources, terminal)?;
    }
    if !is_answered && !sources.is_read() {
        terminal.clear()?; // it was a frame of nothing
    }
    Ok(terminal.release()?)
}

/// The sources that are followed: their events and their states.
#[derive(Default)]
struct LiveFeed {
    wanted: Vec<SourceKey>,
    subscriptions: Subscriptions,
    sources: Sources,
    printing: RedrawPace,
    drawing: RedrawPace,
    /// What could not be read, each once.
    unreadable: Vec<Arc<str>>,
}

async fn run<V: Live>(
    view: &mut V,
    session: &Session,
    (terminal, feed): (&mut Terminal<'_>, &mut LiveFeed),
    shutdown: &Shutdown,
) -> Result<Ended, CommandError> {
    let mut beat = interval(if terminal.is_live() { FRAME } else { BEAT });
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut suspended = Suspension::listen()?;
    let mut lookups = FuturesUnordered::new();
    loop {
        tokio::select! {
            biased;
            wrote = terminal.wait_until_written() => wrote?,
            signal = shutdown.wait() => return feed.stopped(view, terminal, signal).await,
        }
        feed.reconcile(&*view, session, terminal);
        tokio::select! {
            event = feed.subscriptions.next() => {
                let is_event = event.is_some();
                match event {
                    Some(event) => feed.take(event, view, terminal)?,
                    // What was not looked at yet may lead to other sources.
                    None if feed.printing.is_owed => feed.print_owed(view, terminal)?,
                    None => {
                        feed.print_last(view, terminal)?;
                        return Ok(Ended::Answered);
                    }
                }
                feed.printing.is_owed |= is_event;
                feed.drawing.is_owed = true;
            }
            () = sleep_until(feed.printing.rests_until), if feed.printing.is_owed => {}
            () = view.wait_for_other() => {
                feed.printing.is_owed = true;
                feed.print_owed(view, terminal)?;
                feed.drawing.is_owed = true;
            }
            now = beat.tick() => feed.on_beat(now, view, terminal)?,
            Some(found) = lookups.next() => {
                let (key, near): (Arc<SourceKey>, Vec<String>) = found;
                feed.tell_similar(&key, &near, terminal)?;
            }
            () = suspended.asked() => {
                terminal.release()?;
                terminal.wait_until_written().await?;
                Suspension::stop();
                feed.drawing.is_owed = true;
            }
            signal = shutdown.wait() => return feed.stopped(view, terminal, signal).await,
        }
        feed.print_if_due(view, terminal)?;
        feed.fail_if_refused(view, terminal)?;
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

impl LiveFeed {
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

    /// Prints what is owed when nothing more is to come.
    fn print_last<V: Live>(
        &mut self,
        view: &mut V,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        self.printing.is_owed |= view.stop_waiting();
        self.print_owed(view, terminal)
    }

    /// Fails if what was asked cannot be told, once what came of it is printed.
    fn fail_if_refused<V: Live>(
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

    /// Whether all that was asked is told; an error if nobody answers.
    fn is_over(&self, view: &impl Live) -> Result<bool, CommandError> {
        if self.printing.is_owed || !view.is_answered(&self.sources) {
            return Ok(false);
        }
        self.sources.silence().map_or(Ok(true), Err)
    }

    /// Tells of names like that of an object that is waited for, if it still is.
    fn tell_similar(
        &self,
        key: &SourceKey,
        near: &[String],
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        if !near.is_empty() && self.sources.is_absent(key) {
            let near = near.join(" or ");
            terminal.say(&format!("{} not found: did you mean {near}?", object(key)))?;
        }
        Ok(())
    }

    /// Subscribes to what is wanted and ends what no longer is. What the view holds waits.
    fn reconcile(&mut self, view: &impl Live, session: &Session, terminal: &Terminal<'_>) {
        self.subscriptions.hold(|key| view.holds(key));
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
            .map(|key| session.mux.open_idle(key))
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
            let catch_up = view.catch_up();
            self.subscriptions
                .add(&source, Terms { patience, catch_up });
            source.start();
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
            if let Event::Undecodable { detail } = &event
                && !self.unreadable.contains(detail)
            {
                self.unreadable.push(detail.clone());
            }
            let mut notes = self.sources.apply(&key, &event, now);
            if view.tells_states_at_once() {
                notes.extend(self.sources.take_held());
            }
            for (key, note) in notes {
                // What ends the program is told as its error.
                if self.sources.refusal().is_none() {
                    view.note(&key, note, terminal)?;
                }
            }
            view.apply(&key, event, now);
            left -= 1;
            if left == 0 || view.holds(&key) {
                break;
            }
            next = self.subscriptions.next().now_or_never().flatten();
        }
        Ok(())
    }
}
