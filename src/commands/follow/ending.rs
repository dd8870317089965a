//! What a feed does at each tick, and how it ends.

use tokio::time::Instant;

use super::Live;
use super::feed::LiveFeed;
use super::pace::BUSY_FRAME;
use crate::commands::{CommandError, Ended, Signal, Terminal};

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
        view.wind_up().await;
        self.printing.is_owed = true;
        self.print_last(view, terminal)?;
        Ok(signal.map_or(Ended::OutOfTime, Ended::By))
    }

    /// Ends the verb as the user asked. With `--for`, that is as if the user had pressed Ctrl-C, because the goal is not
    /// met.
    pub(super) async fn quit<V: Live>(
        &mut self,
        view: &mut V,
        terminal: &mut Terminal<'_>,
    ) -> Result<Ended, CommandError> {
        let signal = self.stop.waiting.has_goal().then_some(Signal::Interrupt);
        self.stopped(view, terminal, signal).await
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
