//! `FileReader`: reads texts, one after the other, as one file.

use std::sync::Arc;

use super::entry::FileEntry;
use super::faults::Faults;
use super::log::FileLog;
use super::order::{EntryOrder, Nameless};
use super::{FileError, FileTransport};

/// Reads texts, one after the other, as one file. An object that several texts have counts once, in its newest version.
#[derive(Default)]
pub struct FileReader {
    order: EntryOrder,
}

impl FileReader {
    /// Reads a text. `name` is its name in messages. Nothing in it is ignored: anything that is not an object, a list or an
    /// event is a fault with its line. Only bookmarks, which a recorded watch may contain, and logs are skipped. After an
    /// `ERROR` event the sources fail at the end.
    pub fn read(&mut self, name: &str, text: &str, nameless: Nameless) -> Faults {
        self.order.go_on(name, nameless);
        self.order.text(text)
    }

    /// How many objects and events were read.
    pub fn count(&self) -> usize {
        self.order.count()
    }

    /// How many values were read without a fault: objects, lists and events.
    pub fn values(&self) -> usize {
        self.order.values()
    }

    /// How many objects several texts have.
    pub fn repeated(&self) -> usize {
        self.order.repeated()
    }

    /// The file, with its name in messages. Fails if the only thing in it is the error of a recorded watch.
    pub fn finish(mut self, name: &str) -> Result<FileTransport, FileError> {
        let entries: Vec<Arc<FileEntry>> = self.order.take().into_iter().map(Arc::new).collect();
        let is_blank = self.order.values() == 0;
        let end = self.order.end();
        if entries.is_empty() {
            end.clone()?;
        }
        let log = FileLog::of(&entries, end);
        let mut file = FileTransport::new(name, log.into(), &entries);
        file.is_blank = is_blank;
        Ok(file)
    }
}

#[cfg(test)]
impl FileTransport {
    /// Reads one text without faults.
    pub(in crate::watch) fn parse(name: &str, text: &str) -> Result<FileTransport, FileError> {
        let mut reader = FileReader::default();
        reader.read(name, text, Nameless::NoObject).into_result()?;
        reader.finish(name)
    }
}
