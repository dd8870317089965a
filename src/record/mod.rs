//! The record: what the multiplexer has seen of a cluster, kept in files for days.
//!
//! A store is a directory. Each recorder writes files of its own, one a day, and every file begins with a snapshot of all
//! objects. So the oldest files can be deleted at any time, and nothing is ever rewritten. A file is a SQLite database:
//! docs/record.md describes its tables. Secret values do not enter it.

mod block;
mod coverage;
mod delta;
mod error;
mod file_reader;
mod file_writer;
mod layered;
mod mark;
mod past;
mod recorder;
mod recording;
mod retention;
mod schema;
mod secret_key;
mod snapshot;
mod source_row;
mod store;
#[cfg(test)]
mod tests;
mod transport;

pub use block::RecordedWhy;
pub use coverage::Coverage;
pub use error::StoreError;
pub use file_reader::{FileReader, RecordedSource, RecordedVersion};
pub use layered::LayeredTransport;
pub use mark::Mark;
pub use recorder::{RecordOptions, RecordProgress, Recorder};
pub use retention::Retention;
pub use schema::RecordedCluster;
pub use snapshot::last_states;
pub use store::{ClusterFiles, Store, StoreFile};
pub use transport::StoreTransport;
