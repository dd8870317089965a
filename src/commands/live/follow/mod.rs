//! The loop of every live verb: it turns events into lines and frames, until the output is complete or it is
//! stopped.

mod events;
mod feed;
mod live;
mod pace;
mod unreadable_parts;

use std::future::pending;

use std::time::Duration;

use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep_until};

use super::clusters::Clusters;
use super::shutdown::Suspension;
use crate::commands::{CommandError, Ended, Signal, Stop, Terminal, UnreadPart};
use crate::env::{Keys, Typed, restore_terminal};
use crate::render::canvas::ExitKey;

use feed::{LiveFeed, look_up_names, look_up_namespace};
pub(crate) use live::Live;
use pace::{BEAT, FRAME};

/// Follows the sources that `view` wants, until the output is complete, the sources have ended, or `stop`
/// comes.
pub(crate) async fn follow(
    view: &mut impl Live,
    clusters: impl Into<Clusters<'_>>,
    terminal: &mut Terminal<'_>,
    stop: &mut Stop,
) -> Result<Ended, CommandError> {
    let clusters = clusters.into();
    stop.open_logs(clusters, terminal);
    let mut feed = LiveFeed::of(clusters, stop);
    feed.sources.is_about_every_kind = view.is_about_every_kind();
    let ended = feed.run(view, terminal).await;
    let ended = ended.and_then(|ended| feed.ending(ended));
    let told = feed.report_met(terminal);
    let told = told.and_then(|()| feed.print_last_states(terminal));
    // The terminal is released also if it does not take these lines.
    let left = feed.leave(view, terminal, &ended);
    match feed.stop.shutdown.wait().now_or_never() {
        // A terminal that has hung up accepts no more output.
        Some(Some(hangup @ Signal::Hangup)) if terminal.is_live() => return Ok(Ended::By(hangup)),
        Some(_) | None => told.and(left)?,
    }
    tokio::select! {
        biased;
        wrote = terminal.wait_until_written() => wrote?,
        _ = feed.stop.shutdown.wait() => terminal.wait_while_read().await?,
    }
    let silence = match &ended {
        Ok(Ended::OutOfTime) if feed.stop.takes_silence => clusters.silence().await,
        Ok(_) | Err(_) => None,
    };
    if let Ok(ended) = &ended {
        let lines = feed.stop.last_lines(*ended, view, clusters).await;
        terminal.notify_lines(lines);
    }
    let ended = ended.and_then(|ended| feed.stop.end(ended, &feed.sources, clusters));
    if feed.sources.is_about_every_kind && view.reports_refusals_last() {
        terminal.notify_lines(match &ended {
            Ok(_) => feed.sources.not_read(),
            Err(_) if feed.sources.refusal().is_some() => Vec::new(),
            Err(_) => feed.sources.partly_read(),
        });
    }
    let lost = silence.filter(|_| feed.stop.unread.is_empty());
    feed.stop.unread.extend(lost.map(UnreadPart::Refused));
    feed.stop.unread.append(&mut feed.unread);
    ended
}

impl LiveFeed<'_> {
    /// Prints what is new, and owes a frame.
    fn print_news<V: Live>(
        &mut self,
        view: &mut V,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        self.printing.is_owed = true;
        self.print_owed(view, terminal)?;
        self.drawing.is_owed = true;
        Ok(())
    }

    /// Prints the lines about outages that would be due later, unless the final error reports their causes.
    fn print_last_states(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        if self.sources.refusal().is_none() {
            for note in self.state_lines.take_all(&self.sources, Instant::now()) {
                terminal.note(&note)?;
            }
        }
        Ok(())
    }

    async fn run<V: Live>(
        &mut self,
        view: &mut V,
        terminal: &mut Terminal<'_>,
    ) -> Result<Ended, CommandError> {
        let mut beat = interval(if terminal.is_live() { FRAME } else { BEAT });
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut suspended = Suspension::listen()?;
        let clusters = self.clusters;
        let mut keyboard = Keyboard::listen(clusters, terminal);
        let mut joining: FuturesUnordered<_> = clusters.first_attempts().into_iter().collect();
        let mut lookups = FuturesUnordered::new();
        loop {
            tokio::select! {
                biased;
                wrote = terminal.wait_until_written() => wrote?,
                signal = self.stop.shutdown.wait() => return self.stopped(view, terminal, signal).await,
            }
            self.reconcile(view, terminal);
            tokio::select! {
                event = self.events.next(), if self.takes_events(view, terminal) => match event {
                    Some(event) => self.take(event, view, terminal)?,
                    // Output that is not printed yet may lead to other sources.
                    None if self.printing.is_owed => self.print_news(view, terminal)?,
                    None => {
                        self.print_last(view, terminal)?;
                        return Ok(Ended::Answered);
                    }
                },
                () = sleep_until(self.printing.rests_until), if self.printing.is_owed => {}
                () = view.wait_for_other() => self.print_news(view, terminal)?,
                () = self.stop.log_lines() => self.stop.print_log_lines(terminal)?,
                now = beat.tick() => self.on_beat(now, view, terminal)?,
                Some(found) = lookups.next() => self.report(found, terminal)?,
                Some(attempt) = joining.next() => {
                    joining.extend(self.take_attempt(attempt, view, terminal)?);
                }
                pause = suspended.next() => self.suspend(pause, terminal).await?,
                typed = keyboard.typed(clusters) => {
                    if let Some(ended) = self.obey(typed, view, terminal).await? {
                        return Ok(ended);
                    }
                }
                signal = self.stop.shutdown.wait() => return self.stopped(view, terminal, signal).await,
            }
            self.print_if_due(view, terminal)?;
            self.fail_if_refused(view, terminal)?;
            if self.is_over(&*view)? {
                self.print_before_goal(view, terminal).await?;
                return Ok(Ended::Answered);
            }
            if view.reports_waiting() {
                let absent = self.sources.take_absent().into_iter();
                lookups.extend(absent.map(|key| look_up_names(clusters, key).boxed_local()));
                let empty = self.sources.take_empty_namespaces().into_iter();
                lookups.extend(empty.map(|name| look_up_namespace(clusters, name).boxed_local()));
            }
        }
    }

    /// Leaves the last frame on the screen, or clears a frame that shows nothing.
    fn leave(
        &self,
        view: &mut impl Live,
        terminal: &mut Terminal<'_>,
        ended: &Result<Ended, CommandError>,
    ) -> Result<(), CommandError> {
        if ended.is_ok() && terminal.is_live() {
            view.finish(&self.sources, terminal)?;
        }
        if ended.is_err() && !self.sources.is_read() {
            terminal.clear()?;
        }
        Ok(terminal.release()?)
    }
}

/// How often the keyboard is read.
const READ: Duration = Duration::from_millis(100);

/// Waits for keys. Without a frame on a terminal they never come.
pub(super) struct Keyboard {
    keys: Option<Keys>,
    reads: Interval,
}

impl Keyboard {
    /// Listens, if the view has a frame and standard input is not its data. The frame then names the keys.
    pub(super) fn listen(clusters: Clusters<'_>, terminal: &mut Terminal<'_>) -> Keyboard {
        let is_live = terminal.is_live() && !clusters.is_of_file();
        let mut reads = interval(READ);
        reads.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let keys = is_live.then(Keys::of_stdin);
        terminal.exit_key = match &keys {
            Some(keys) if keys.are_typed() => ExitKey::Q,
            Some(_) | None => ExitKey::CtrlC,
        };
        Keyboard { keys, reads }
    }

    /// Waits until the user presses a key that means something. While a login may ask the user a question, the keyboard
    /// belongs to it.
    pub(super) async fn typed(&mut self, clusters: Clusters<'_>) -> Typed {
        let Some(keys) = &mut self.keys else {
            return pending().await;
        };
        loop {
            self.reads.tick().await;
            if clusters.is_logging_in() {
                restore_terminal();
            } else if let Some(typed) = keys.take() {
                return typed;
            }
        }
    }
}
