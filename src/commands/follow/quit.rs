//! `QuitKey`: `q` ends a live view.

use std::future::pending;
use std::time::Duration;

use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::commands::{Session, Terminal};
use crate::env::{Keys, restore_terminal};
use crate::render::canvas::ExitKey;

/// How often the keyboard is read.
const READ: Duration = Duration::from_millis(100);

/// Waits for the key. Without a frame on a terminal it never comes.
pub(super) struct QuitKey {
    keys: Option<Keys>,
    reads: Interval,
}

impl QuitKey {
    /// Listens, if the view has a frame and standard input is not its data. The footer then names the key.
    pub(super) fn listen(session: &Session, terminal: &mut Terminal<'_>) -> QuitKey {
        let is_live = terminal.is_live() && !session.is_of_file();
        let mut reads = interval(READ);
        reads.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let keys = is_live.then(Keys::of_stdin);
        terminal.exit_key = match &keys {
            Some(keys) if keys.are_typed() => ExitKey::Q,
            Some(_) | None => ExitKey::CtrlC,
        };
        QuitKey { keys, reads }
    }

    /// Waits until the user presses the key. While a login may ask the user a question, the keyboard belongs to it.
    pub(super) async fn pressed(&mut self, session: &Session) {
        let Some(keys) = &mut self.keys else {
            return pending().await;
        };
        loop {
            self.reads.tick().await;
            if session.is_logging_in() {
                restore_terminal();
            } else if keys.take_quit() {
                return;
            }
        }
    }
}
