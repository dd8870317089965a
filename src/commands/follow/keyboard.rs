//! `Keyboard`: `q` ends a live view, and other keys turn its pages.

use std::future::pending;
use std::time::Duration;

use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::commands::{Session, Terminal};
use crate::env::{Keys, Typed, restore_terminal};
use crate::render::canvas::ExitKey;

/// How often the keyboard is read.
const READ: Duration = Duration::from_millis(100);

/// Waits for keys. Without a frame on a terminal they never come.
pub(super) struct Keyboard {
    keys: Option<Keys>,
    reads: Interval,
}

impl Keyboard {
    /// Listens, if the view has a frame and standard input is not its data. The frame then names the keys.
    pub(super) fn listen(session: &Session, terminal: &mut Terminal<'_>) -> Keyboard {
        let is_live = terminal.is_live() && !session.is_of_file();
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
    pub(super) async fn typed(&mut self, session: &Session) -> Typed {
        let Some(keys) = &mut self.keys else {
            return pending().await;
        };
        loop {
            self.reads.tick().await;
            if session.is_logging_in() {
                restore_terminal();
            } else if let Some(typed) = keys.take() {
                return typed;
            }
        }
    }
}
