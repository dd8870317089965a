//! Prints the message of a panic as display text, because the message may quote cluster text.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io;
use std::sync::Once;

use super::restore_terminal;
use crate::render::display::Stream;
use crate::render::style::Styles;

/// Makes a panic print its message as display text. A second call does nothing.
pub(crate) fn escape_panics() {
    static SET: Once = Once::new();
    SET.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            restore_terminal();
            let thread = std::thread::current();
            let thread = thread.name().unwrap_or("<unnamed>");
            let report = report(thread, &panic.to_string(), &Backtrace::capture());
            // If the stream is closed, there is nothing to do.
            let _closed = Stream::new(io::stderr()).print(&Styles::PLAIN.lines(&report));
        }));
    });
}

/// The text that std prints for a panic.
fn report(thread: &str, panic: &str, backtrace: &Backtrace) -> String {
    match backtrace.status() {
        BacktraceStatus::Captured => format!("thread '{thread}' {panic}\n{backtrace}"),
        _ => format!("thread '{thread}' {panic}\nnote: set RUST_BACKTRACE=1 to see a backtrace\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_prints_nothing_that_a_terminal_obeys() {
        let panic = "panicked at src/a.rs:1:2:\nno pod \u{1b}]0;owned\u{7}";
        let report = report("main", panic, &Backtrace::disabled());
        let lines: Vec<String> = Styles::PLAIN
            .lines(&report)
            .iter()
            .map(|line| line.as_str().to_owned())
            .collect();
        assert_eq!(
            lines,
            [
                "thread 'main' panicked at src/a.rs:1:2:",
                "no pod ^[]0;owned^G",
                "note: set RUST_BACKTRACE=1 to see a backtrace",
            ]
        );
    }
}
