//! `LookBackProgress`: the progress of a look-back, for the footer.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_counts_the_objects_that_are_read() {
        let progress = LookBackProgress::default();
        assert_eq!(progress.line(2), "reading back: 2 sources to go");
        progress.expect(1);
        assert_eq!(progress.line(1), "reading back: 0 of 1 object");
        progress.expect(2999);
        (0..1204).for_each(|_| progress.done());
        assert_eq!(progress.line(1), "reading back: 1,204 of 3,000 objects");
    }
}
