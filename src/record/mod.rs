//! The record: what the multiplexer has seen of a cluster, kept in files for days.
//!
//! A store is a directory. Each recorder writes files of its own, one a day, and every file begins with a snapshot of all
//! objects. So the oldest files can be deleted at any time, and nothing is ever rewritten. A file is a SQLite database:
//! docs/record.md describes its tables. Secret values do not enter it.

mod block;
mod covered_revisions;
mod covered_source;
mod database;
mod delta;
mod entry;
mod error;
mod export;
mod file_reader;
mod file_writer;
mod index;
mod layered;
mod listing;
mod mark;
mod past;
mod progress;
mod recorded_history;
mod recorder;
mod recording;
mod redaction;
mod replay;
mod schema;
mod sealer;
mod snapshot;
mod store;
mod tail;
#[cfg(test)]
mod tests;
mod transport;
mod unread;

pub use block::RecordedWhy;
pub use covered_revisions::CoveredRevisions;
pub use entry::{EntryContent, EntryField, RecordEntry};
pub use error::StoreError;
pub use export::{ExportQuery, ExportedEvent, RecordExport};
pub use file_reader::{RecordedSource, RecordedVersion, StoreFileReader};
pub use layered::LayeredTransport;
pub use mark::Mark;
pub use past::last_states;
pub use progress::{RecordProgress, UndeletedNews};
pub use recorder::Recorder;
pub use recording::{RecordOptions, ResumedSource};
pub use redaction::{Redaction, RedactionError};
pub use replay::{RecordReplay, recorder_of};
pub use schema::RecordedCluster;
pub use snapshot::{RecordedSnapshot, StaleCause, StaleSource};
pub use store::{ClusterFiles, RetentionPolicy, Store, StoreFile};
pub use tail::{RecordHeading, RecordTail, TailEntry, TailPosition};
pub use transport::StoreTransport;
pub use unread::UnreadStoreFiles;
