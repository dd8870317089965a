//! The symbol and the role of each state, the same in every view.

use super::canvas::Canvas;
use super::style::{Look, Role};
use super::text::escape_line;
use crate::status::Status;

/// The role in which a state is painted.
pub fn role(status: Status) -> Role {
    match status {
        Status::Current => Role::Good,
        Status::InProgress | Status::Terminating => Role::Moving,
        Status::Failed => Role::Bad,
        Status::NotFound | Status::Unknown => Role::Warning,
    }
}

/// The painted symbol of a state.
pub fn symbol(status: Status, look: Look) -> String {
    let symbols = look.symbols;
    let symbol = match status {
        Status::Current => symbols.current,
        Status::InProgress => symbols.in_progress,
        Status::Failed => symbols.failed,
        Status::Terminating => symbols.terminating,
        Status::NotFound => symbols.not_found,
        Status::Unknown => symbols.unknown,
    };
    look.styles.paint(role(status), symbol)
}

impl Canvas {
    /// The state as its symbol and words. The words are escaped here.
    pub fn state(self, status: Status, words: &str) -> String {
        let symbol = symbol(status, self.look);
        let words = self.look.styles.paint(role(status), &escape_line(words));
        format!("{symbol} {words}")
    }
}
