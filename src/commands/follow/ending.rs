//! What a feed does at each tick, and how it ends.

use std::time::Duration;

use futures::future::join_all;
use tokio::time::{Instant, timeout};

use super::Live;
use super::feed::LiveFeed;
use super::pace::BUSY_FRAME;
use crate::commands::shutdown::Suspension;
use crate::commands::sources::describe;
use crate::commands::{CommandError, Ended, Signal, Terminal, UnreadPart};
use crate::env::{Typed, restore_terminal};

/// How long the last listing of a source that cannot be watched may take.
const POLL: Duration = Duration::from_secs(3);

impl LiveFeed<'_> {
    /// Prints and draws what is new. Without news it does so once a beat, because ages change.
    pub(super) fn on_beat<V: Live>(
        &mut self,
        now: Instant,
        view: &mut V,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        if !terminal.is_live() {
            terminal.check_reader()?;
        }
        self.take_waiting(view, terminal)?;
        self.printing.is_owed |= self.printing.is_overdue(now);
        self.print_if_due(view, terminal)?;
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
        if signal.is_none() && self.stop.takes_silence && !self.session.is_of_file() {
            self.poll_last(view, terminal).await?;
        }
        view.wind_up().await;
        self.printing.is_owed = true;
        self.print_last(view, terminal)?;
        Ok(signal.map_or(Ended::OutOfTime, Ended::By))
    }

    /// Lists the sources that are not watched once more, because their silence since the last listing is no answer.
    async fn poll_last<V: Live>(
        &mut self,
        view: &mut V,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let polls = self.sources.unwatched().into_iter().map(|key| {
            let source = self.session.mux.open_idle((*key).clone());
            async move { timeout(POLL, source.poll()).await.map_err(|_| key) }
        });
        for polled in join_all(polls).await {
            if let Err(key) = polled {
                let source = describe(&key);
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

    /// Stops the process until the user continues it. Meanwhile the terminal is as it was.
    pub(super) async fn suspend(
        &mut self,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        terminal.release()?;
        terminal.wait_until_written().await?;
        restore_terminal();
        Suspension::stop();
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
        if !self.session.is_of_file() || ended != Ended::Answered || self.unreadable.is_empty() {
            return Ok(ended);
        }
        let lines = self.unreadable.iter();
        let lines = lines.map(|detail| format!("error: {detail}"));
        Err(CommandError::failed(lines.collect::<Vec<_>>().join("\n")))
    }
}
