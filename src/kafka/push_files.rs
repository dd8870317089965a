//! `PushFiles`: the files of a record that are being sent, and the positions in them. All of it waits for the disk.

use std::collections::BTreeMap;
use std::io;

use jiff::Timestamp;

use super::error::TopicError;
use super::message::{FileLabel, FileSender, MessageFormat, TopicMessage};
use super::positions::{PositionFile, SentFile};
use super::queue::{FileQueue, QueueLook, QueuedFile};
use crate::record::{ClusterFiles, EntryContent, RecordEntry, RecordTail, StoreError, TailEntry};

/// How much is sent at once: bytes before compression, and messages.
const WINDOW_BYTES: usize = 512 << 10;
const WINDOW: usize = 500;

/// The files, and those of them that are open.
pub(super) struct PushFiles {
    queue: FileQueue,
    format: MessageFormat,
    open: BTreeMap<String, FileTail>,
    /// Whether the positions of the run before are read.
    has_begun: bool,
}

/// A file that is being sent.
struct FileTail {
    tail: RecordTail,
    label: FileLabel,
    /// Why it cannot be read on, when what was read before that is sent.
    fault: Option<StoreError>,
}

/// A message, and its entry unless it is the beginning of a file.
pub(super) struct WindowMessage {
    pub(super) message: TopicMessage,
    pub(super) entry: Option<TailEntry>,
}

/// What a look at the files has found.
pub(super) struct FilesLook {
    /// The files to send, with the reason why one cannot be opened.
    pub(super) next: Vec<(QueuedFile, Result<(), StoreError>)>,
    /// The files that the record has deleted, with the number of their versions that are not sent.
    pub(super) gone: Vec<(String, u64)>,
    /// Whether there is no file at all.
    pub(super) is_empty: bool,
}

/// Why the files cannot be read, or a position cannot be written.
#[derive(Debug, thiserror::Error)]
pub(super) enum FilesError {
    #[error("{0}")]
    Store(#[from] StoreError),
    #[error("{0}")]
    Position(#[from] io::Error),
}

impl PushFiles {
    /// These files, whose messages have this form.
    pub(super) fn new(
        files: ClusterFiles,
        positions: PositionFile<BTreeMap<String, SentFile>>,
        format: MessageFormat,
    ) -> PushFiles {
        PushFiles {
            queue: FileQueue::new(files, positions),
            format,
            open: BTreeMap::new(),
            has_begun: false,
        }
    }

    /// Looks at the files, and opens those that are next where their last window ended.
    pub(super) fn look(&mut self, now: Timestamp) -> Result<FilesLook, FilesError> {
        if !self.has_begun {
            self.queue.resume()?;
            self.has_begun = true;
        }
        let QueueLook {
            next,
            gone,
            is_empty,
        } = self.queue.look(now)?;
        for (name, _) in &gone {
            self.close(name);
        }
        let next = next.into_iter().map(|file| {
            let opened = self.open(&file);
            (file, opened)
        });
        Ok(FilesLook {
            next: next.collect(),
            gone,
            is_empty,
        })
    }

    /// Opens a file where its last window ended, and counts what is left.
    fn open(&mut self, file: &QueuedFile) -> Result<(), StoreError> {
        if !self.open.contains_key(&file.name) {
            let position = self.queue.position(&file.name).unwrap_or_default();
            let tail = RecordTail::open(&file.path, position)?;
            let label = FileLabel {
                cluster: tail.heading().cluster.id,
                file: file.name.clone(),
            };
            let opened = FileTail {
                tail,
                label,
                fault: None,
            };
            self.open.insert(file.name.clone(), opened);
        }
        if let Some(opened) = self.open.get(&file.name) {
            self.queue.count(&file.name, opened.tail.left()?);
        }
        Ok(())
    }

    /// What has been read of a file is read again.
    pub(super) fn close(&mut self, name: &str) {
        self.open.remove(name);
    }

    /// Nothing more is sent of a file.
    pub(super) fn finish(&mut self, name: &str) -> io::Result<()> {
        self.close(name);
        self.queue.finish(name)
    }

    /// A file has nothing more to send.
    pub(super) fn end(&mut self, file: &QueuedFile) -> io::Result<()> {
        if !file.may_grow {
            return self.finish(&file.name);
        }
        if self.queue.rest(file) {
            self.close(&file.name);
        }
        Ok(())
    }

    /// The topic has everything of a file that was read.
    pub(super) fn advance(&mut self, name: &str) -> io::Result<()> {
        if let Some(open) = self.open.get(name) {
            self.queue.count(name, open.tail.left().unwrap_or_default());
            self.queue.advance(name, open.tail.position())?;
        }
        Ok(())
    }

    /// The number of versions of a file that are not sent.
    pub(super) fn left(&self, name: &str) -> u64 {
        self.queue.left(name)
    }

    /// The number of versions of all files that are not sent.
    pub(super) fn waiting(&self) -> u64 {
        self.queue.waiting()
    }

    /// The next messages of a file.
    pub(super) fn window(&mut self, name: &str) -> Result<Vec<WindowMessage>, StoreError> {
        let mut window = Vec::new();
        let Some(FileTail { tail, label, fault }) = self.open.get_mut(name) else {
            return Ok(window);
        };
        if let Some(fault) = fault.take() {
            return Err(fault);
        }
        let heading = tail.heading();
        let sent = self.queue.position(name);
        let sender = FileSender {
            label,
            cluster: &heading.cluster.name,
            // The beginning of the file is entry 0.
            sent: sent.map_or(0, |position| position.number() + 1),
            format: self.format,
        };
        if sent.is_none() {
            let message = sender.begin(&heading);
            window.push(WindowMessage {
                message,
                entry: None,
            });
        }
        let mut bytes = 0;
        while bytes < WINDOW_BYTES && window.len() < WINDOW {
            let entry = match tail.next_entry() {
                Ok(Some(entry)) => entry,
                Ok(None) => break,
                Err(error) if window.is_empty() => return Err(error),
                Err(error) => {
                    *fault = Some(error);
                    break;
                }
            };
            let message = sender.entry(&entry);
            bytes += message.size();
            let entry = Some(entry);
            window.push(WindowMessage { message, entry });
        }
        Ok(window)
    }
}

impl WindowMessage {
    /// What stands in the place of a version that the brokers do not take; `None` for other messages.
    pub(super) fn without_object(&self) -> Option<TopicMessage> {
        let TailEntry { position, entry } = self.entry.as_ref()?;
        let EntryContent::Version(recorded) = &entry.content else {
            return None;
        };
        let entry = RecordEntry {
            source: entry.source.clone(),
            content: EntryContent::Missing {
                version: recorded.version.version.clone(),
                seen: recorded.seen,
                cause: TopicError::TooLarge.to_string(),
            },
        };
        let position = *position;
        self.message.replaced(&TailEntry { position, entry })
    }
}
