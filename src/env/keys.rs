//! `Keys`: what the user types while a frame is on the terminal.
//!
//! The terminal of standard input echoes no keys meanwhile, because an echo would move the cursor away from the frame. It
//! still turns Ctrl-C into a signal. Only a process in the foreground reads or changes its terminal: the system stops others.

#[cfg(unix)]
use std::sync::{Mutex, PoisonError};

#[cfg(unix)]
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, isatty, tcgetattr, tcgetpgrp, tcsetattr,
};

/// The settings that the terminal had before. The panic hook and the thread that ends a stuck process restore them too.
#[cfg(unix)]
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// The key that quits.
#[cfg(unix)]
const QUIT: u8 = b'q';

/// The keys of the terminal behind standard input, if it is one. Dropping it restores the terminal.
#[derive(Debug)]
pub(crate) struct Keys {
    #[cfg(unix)]
    is_terminal: bool,
}

#[cfg(unix)]
impl Keys {
    /// Takes the keys, from the first call of [`Keys::take_quit`] on.
    pub(crate) fn of_stdin() -> Keys {
        Keys {
            is_terminal: isatty(rustix::stdio::stdin()),
        }
    }

    /// Whether standard input is a terminal, so that a user can type.
    pub(crate) fn are_typed(&self) -> bool {
        self.is_terminal
    }

    /// Whether the user has pressed `q` since the last call. Other keys have no effect.
    pub(crate) fn take_quit(&mut self) -> bool {
        if !self.is_terminal || !is_in_foreground() {
            // A shell that continues the process in the foreground sets the terminal to its own modes.
            forget();
            return false;
        }
        if !silence() {
            return false;
        }
        let mut typed = [0; 64];
        let read = rustix::io::read(rustix::stdio::stdin(), &mut typed);
        read.is_ok_and(|length| typed[..length].contains(&QUIT))
    }
}

#[cfg(not(unix))]
impl Keys {
    /// Takes no keys: on this system only Ctrl-C ends a view.
    pub(crate) fn of_stdin() -> Keys {
        Keys {}
    }

    /// Never.
    pub(crate) fn are_typed(&self) -> bool {
        false
    }

    /// Never.
    pub(crate) fn take_quit(&mut self) -> bool {
        false
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        restore_terminal();
    }
}

/// Restores the terminal of standard input if [`Keys`] has changed it, until the next call of [`Keys::take_quit`].
pub(crate) fn restore_terminal() {
    #[cfg(unix)]
    if let Some(before) = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take()
        && is_in_foreground()
    {
        // There is no way to restore a terminal that is gone.
        let _gone = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &before);
    }
}

#[cfg(unix)]
fn is_in_foreground() -> bool {
    let foreground = tcgetpgrp(rustix::stdio::stdin());
    foreground.is_ok_and(|group| group == rustix::process::getpgrp())
}

#[cfg(unix)]
fn forget() {
    *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Turns the echo off, and makes reads return at once. Returns whether the terminal is so.
#[cfg(unix)]
fn silence() -> bool {
    let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    if before.is_some() {
        return true;
    }
    let stdin = rustix::stdio::stdin();
    let Ok(usual) = tcgetattr(stdin) else {
        return false;
    };
    let mut silent = usual.clone();
    silent
        .local_modes
        .remove(LocalModes::ICANON | LocalModes::ECHO);
    silent.special_codes[SpecialCodeIndex::VMIN] = 0;
    silent.special_codes[SpecialCodeIndex::VTIME] = 0;
    let is_set = tcsetattr(stdin, OptionalActions::Now, &silent).is_ok();
    *before = is_set.then_some(usual);
    is_set
}
