//! `ClusterScopedWrites`: how many changes of cluster-scoped kinds a timeline of one namespace leaves out.
//!
//! The first page of each kind, with the metadata alone, has when each field manager last wrote an object. So the count needs
//! one small request for each kind, and is a lower bound: it has no deletions, and no earlier write of the same manager.

use std::time::Duration;

use futures::future::{BoxFuture, FutureExt, join_all};
use jiff::Timestamp;
use tokio::time::timeout;

use crate::object::managed_fields::{ManagedFieldsEntry, entries};
use crate::render::count::plural;
use crate::source::{Form, SourceKey};
use crate::watch::{End, History, Mux, RequestLimit};

/// How long the requests may take. The timeline waits for them.
const PATIENCE: Duration = Duration::from_secs(2);

/// The most objects of a kind that are read.
const PAGE: u32 = 500;

/// The times of the last writes of cluster-scoped objects.
pub(super) struct ClusterScopedWrites {
    reading: Option<BoxFuture<'static, Vec<Timestamp>>>,
    times: Vec<Timestamp>,
}

impl ClusterScopedWrites {
    /// Reads the objects of these sources.
    pub(super) fn of(keys: &[SourceKey], mux: &Mux, limit: &RequestLimit) -> ClusterScopedWrites {
        let metadata = |key: &SourceKey| SourceKey {
            form: Form::Metadata,
            ..key.clone()
        };
        let histories = keys.iter().filter_map(|key| mux.history(&metadata(key)));
        let histories = histories.map(|history| history.limited(limit));
        let reading = timeout(PATIENCE, write_times(histories.collect()));
        let reading = reading.map(Result::unwrap_or_default).boxed();
        ClusterScopedWrites {
            reading: Some(reading),
            times: Vec::new(),
        }
    }

    /// Whether all times are read that can be.
    pub(super) fn is_over(&self) -> bool {
        self.reading.is_none()
    }

    /// Waits for the times. The caller may drop the future at any point.
    pub(super) async fn next(&mut self) {
        match &mut self.reading {
            Some(reading) => {
                self.times = reading.await;
                self.reading = None;
            }
            None => std::future::pending().await,
        }
    }

    /// Gives the reading up.
    pub(super) fn give_up(&mut self) {
        self.reading = None;
    }

    /// What they say about the time since then, by the server's clock.
    pub(super) fn since(&self, since: Timestamp, now: Timestamp) -> ClusterScoped {
        let is_of_window = |time: &&Timestamp| (since..=now).contains(*time);
        match self.times.iter().filter(is_of_window).count() {
            0 => ClusterScoped::NotRead,
            writes => ClusterScoped::AtLeast(writes),
        }
    }
}

/// The times of the last writes of the objects of these sources, without those of a status. Whoever may not read the first
/// kind is not asked about the others.
async fn write_times(histories: Vec<History>) -> Vec<Timestamp> {
    let Some((first, others)) = histories.split_first() else {
        return Vec::new();
    };
    let Ok(mut times) = times_of(first).await else {
        return Vec::new();
    };
    let others = join_all(others.iter().map(times_of)).await;
    times.extend(others.into_iter().flatten().flatten());
    times
}

async fn times_of(history: &History) -> Result<Vec<Timestamp>, End> {
    let objects = history.first_now(PAGE).await?;
    let mut times = Vec::new();
    for object in objects {
        let Ok(doc) = object.doc() else { continue };
        let written = entries(doc.root()).into_iter();
        let written = written.filter(|entry| entry.subresource.is_empty());
        times.extend(written.filter_map(|entry: ManagedFieldsEntry<'_>| entry.time()));
    }
    Ok(times)
}

/// What a timeline says about cluster-scoped kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClusterScoped {
    /// Nothing: it is not about every kind of one namespace.
    Included,
    /// It leaves them out, and does not know whether they have changes.
    NotRead,
    /// It leaves out at least so many changes.
    AtLeast(usize),
}

impl ClusterScoped {
    /// What the timeline does not contain, with the flag that reads it.
    pub(crate) fn text(self) -> Option<String> {
        match self {
            ClusterScoped::Included => None,
            ClusterScoped::NotRead => Some("cluster-scoped kinds are not read: -A".to_owned()),
            ClusterScoped::AtLeast(writes) => {
                let changes = plural(writes, "cluster-scoped change");
                Some(format!("at least {changes}: -A"))
            }
        }
    }
}
