//! `Capture`: an output stream for tests, which they can read back.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// A stream that keeps its output. Clones share their content.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    written: Arc<Mutex<Vec<u8>>>,
}

impl Capture {
    /// The output so far.
    pub fn text(&self) -> String {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&written).into_owned()
    }
}

impl Write for Capture {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
