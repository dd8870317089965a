//! `RequestLines`: the lines of `-v` on standard error.

use std::sync::{Arc, Mutex, PoisonError};

use crate::render::display::Stream;
use crate::render::style::Styles;

/// Where the lines of `-v` go: at once to standard error, unless a view may redraw a frame on the same terminal. Then they
/// wait until the view prints them above the frame.
#[derive(Clone)]
pub struct RequestLines {
    held: Arc<Mutex<Vec<String>>>,
    stderr: Option<Arc<Mutex<Stream>>>,
}

impl RequestLines {
    /// Lines for this stream, at once.
    pub(super) fn at_once(stderr: Stream) -> RequestLines {
        RequestLines {
            held: Arc::default(),
            stderr: Some(Arc::new(Mutex::new(stderr))),
        }
    }

    /// Lines that wait for [`RequestLines::take`].
    pub(super) fn held() -> RequestLines {
        RequestLines {
            held: Arc::default(),
            stderr: None,
        }
    }

    /// Prints lines, or holds them.
    pub(crate) fn print(&self, lines: Vec<String>) {
        let Some(stderr) = &self.stderr else {
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            held.extend(lines);
            return;
        };
        let lines: Vec<_> = lines.iter().map(|line| Styles::PLAIN.line(line)).collect();
        let mut stderr = stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let _closed_pipe = stderr.print(&lines);
    }

    /// The lines that wait, each once.
    pub(crate) fn take(&self) -> Vec<String> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Capture;

    #[test]
    fn lines_are_printed_at_once_or_wait() {
        let out = Capture::default();
        let at_once = RequestLines::at_once(Stream::new(out.clone()));
        at_once.print(vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!(out.text(), "a\nb\n");
        assert!(at_once.take().is_empty());
        let held = RequestLines::held();
        held.print(vec!["a".to_owned()]);
        held.print(vec!["b".to_owned()]);
        assert_eq!(held.take(), ["a", "b"]);
        assert!(held.take().is_empty());
    }
}
