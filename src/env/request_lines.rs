//! `RequestLines`: the lines about requests on standard error, such as those of `-v`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::render::display::Stream;
use crate::render::style::Styles;

/// Where the lines go: at once to standard error, unless a view redraws a frame on the same terminal. Then they wait until
/// the view prints them above the frame.
#[derive(Clone)]
pub struct RequestLines {
    held: Arc<Mutex<Vec<String>>>,
    stderr: Option<Arc<Mutex<Stream>>>,
    /// Whether a view redraws frames on the terminal of standard error.
    has_frames: Arc<AtomicBool>,
}

impl RequestLines {
    /// Lines for this stream, at once.
    pub(super) fn at_once(stderr: Stream) -> RequestLines {
        RequestLines {
            held: Arc::default(),
            stderr: Some(Arc::new(Mutex::new(stderr))),
            has_frames: Arc::default(),
        }
    }

    /// Lines that wait for [`RequestLines::take`].
    #[cfg(any(test, feature = "testing"))]
    pub(super) fn held() -> RequestLines {
        RequestLines {
            held: Arc::default(),
            stderr: None,
            has_frames: Arc::default(),
        }
    }

    /// From now on, a view redraws frames on the same terminal.
    pub(crate) fn hold(&self) {
        self.has_frames.store(true, Ordering::Relaxed);
    }

    /// Prints lines, or holds them.
    pub(crate) fn print(&self, lines: Vec<String>) {
        let has_frames = self.has_frames.load(Ordering::Relaxed);
        let Some(stderr) = self.stderr.as_ref().filter(|_| !has_frames) else {
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
        at_once.hold();
        at_once.print(vec!["c".to_owned()]);
        assert_eq!(out.text(), "a\nb\n");
        assert_eq!(at_once.take(), ["c"]);
        let held = RequestLines::held();
        held.print(vec!["a".to_owned()]);
        held.print(vec!["b".to_owned()]);
        assert_eq!(held.take(), ["a", "b"]);
        assert!(held.take().is_empty());
    }
}
