//! `Keys`: what the user types while a frame is on the terminal.
//!
//! The terminal of standard input echoes no keys meanwhile, because an echo would move the cursor away from the frame. It
//! still turns Ctrl-C into a signal. Only a process in the foreground reads or changes its terminal: the system stops others.

#[cfg(unix)]
use std::sync::{Mutex, PoisonError};

use crate::render::pager::Turn;

#[cfg(unix)]
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, isatty, tcgetattr, tcgetpgrp, tcsetattr,
};

/// The settings that the terminal had before. The panic hook and the thread that ends a stuck process restore them too.
#[cfg(unix)]
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// What the user has typed.
#[cfg_attr(not(unix), expect(dead_code, reason = "no key is read"))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// `q`: to quit.
    Quit,
    /// Keys that turn pages, in their order.
    Turns(Vec<Turn>),
}

/// The keys that turn pages: those of `less`, and the escape sequences of arrows and of the keys beside them.
#[cfg(unix)]
const TURNS: [(&[u8], Turn); 18] = [
    (b"\x1b[6~", Turn::NextPage),
    (b"\x1b[5~", Turn::PageBefore),
    (b"\x1b[1~", Turn::First),
    (b"\x1b[4~", Turn::Last),
    (b"\x1b[B", Turn::NextLine),
    (b"\x1b[A", Turn::LineBefore),
    (b"\x1bOB", Turn::NextLine),
    (b"\x1bOA", Turn::LineBefore),
    (b"\x1b[H", Turn::First),
    (b"\x1b[F", Turn::Last),
    (b" ", Turn::NextPage),
    (b"f", Turn::NextPage),
    (b"b", Turn::PageBefore),
    (b"j", Turn::NextLine),
    (b"\n", Turn::NextLine),
    (b"k", Turn::LineBefore),
    (b"g", Turn::First),
    (b"G", Turn::Last),
];

/// The keys of the terminal behind standard input, if it is one. Dropping it restores the terminal.
#[derive(Debug)]
pub(crate) struct Keys {
    #[cfg(unix)]
    is_terminal: bool,
}

#[cfg(unix)]
impl Keys {
    /// Takes the keys, from the first call of [`Keys::take`] on.
    pub(crate) fn of_stdin() -> Keys {
        Keys {
            is_terminal: isatty(rustix::stdio::stdin()),
        }
    }

    /// Whether standard input is a terminal, so that a user can type.
    pub(crate) fn are_typed(&self) -> bool {
        self.is_terminal
    }

    /// What the user has typed since the last call; `None` if that has no effect.
    pub(crate) fn take(&mut self) -> Option<Typed> {
        if !self.is_terminal || !is_in_foreground() {
            // A shell that continues the process in the foreground sets the terminal to its own modes.
            forget();
            return None;
        }
        if !silence() {
            return None;
        }
        let mut typed = [0; 64];
        let length = rustix::io::read(rustix::stdio::stdin(), &mut typed).ok()?;
        Typed::of(&typed[..length])
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

    /// Nothing.
    pub(crate) fn take(&mut self) -> Option<Typed> {
        None
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        restore_terminal();
    }
}

/// Restores the terminal of standard input if [`Keys`] has changed it, until the next call of [`Keys::take`].
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
impl Typed {
    /// The meaning of these bytes; `None` if they have none.
    fn of(mut typed: &[u8]) -> Option<Typed> {
        let mut turns = Vec::new();
        while let [first, rest @ ..] = typed {
            if *first == b'q' {
                return Some(Typed::Quit);
            }
            let turn = TURNS.iter().find(|(key, _)| typed.starts_with(key));
            turns.extend(turn.map(|(_, turn)| *turn));
            typed = turn.map_or(rest, |(key, _)| &typed[key.len()..]);
        }
        (!turns.is_empty()).then_some(Typed::Turns(turns))
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

/// Turns the echo off, and makes reads return at once. Returns whether the terminal is so. A shell that has continued the
/// process after a SIGSTOP has set modes of its own, in which a read would wait for a line.
#[cfg(unix)]
fn silence() -> bool {
    let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    let stdin = rustix::stdio::stdin();
    let Ok(usual) = tcgetattr(stdin) else {
        return false;
    };
    let line_modes = LocalModes::ICANON | LocalModes::ECHO;
    if before.is_some() && !usual.local_modes.intersects(line_modes) {
        return true;
    }
    let mut silent = usual.clone();
    silent.local_modes.remove(line_modes);
    silent.special_codes[SpecialCodeIndex::VMIN] = 0;
    silent.special_codes[SpecialCodeIndex::VTIME] = 0;
    let is_set = tcsetattr(stdin, OptionalActions::Now, &silent).is_ok();
    *before = is_set.then_some(usual);
    is_set
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_turn_pages_or_quit() {
        use Turn::{LineBefore, NextLine, NextPage, PageBefore};
        let turns = |turns: &[Turn]| Some(Typed::Turns(turns.to_vec()));
        for (typed, expect) in [
            (&b""[..], None),
            (b"xyz\x1b", None),
            (b" b", turns(&[NextPage, PageBefore])),
            (
                b"\x1b[Bx\x1b[A\x1b[6~",
                turns(&[NextLine, LineBefore, NextPage]),
            ),
            (b"jjk", turns(&[NextLine, NextLine, LineBefore])),
            (b" q", Some(Typed::Quit)),
        ] {
            assert_eq!(Typed::of(typed), expect, "{typed:?}");
        }
    }
}
