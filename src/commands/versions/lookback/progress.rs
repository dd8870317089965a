//! `LookBackProgress`: how far the walks of a run have come.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::render::count::{plural, thousands};

/// The number of changed objects, and how many of them are read back.
#[derive(Debug, Default)]
pub(crate) struct LookBackProgress {
    changed: AtomicUsize,
    read: AtomicUsize,
}

impl LookBackProgress {
    /// Adds changed objects.
    pub(crate) fn expect(&self, objects: usize) {
        self.changed.fetch_add(objects, Ordering::Relaxed);
    }

    /// Counts an object that is read back.
    pub(crate) fn done(&self) {
        self.read.fetch_add(1, Ordering::Relaxed);
    }

    /// `reading back: 1,204 of 3,000 objects`. Until the number of objects is known, it counts the sources left.
    pub(crate) fn line(&self, sources: usize) -> String {
        let read = self.read.load(Ordering::Relaxed);
        match self.changed.load(Ordering::Relaxed) {
            0 => format!("reading back: {} to go", plural(sources, "source")),
            changed => {
                let (read, changed) = (thousands(read), plural(changed, "object"));
                format!("reading back: {read} of {changed}")
            }
        }
    }
}
