//! `StopRule`: decides how far back a walk goes. It compares each version that the walk finds.
//!
//! Only the write times of these comparisons are kept. The output compares the versions again: a comparison borrows both
//! parsed documents, which a look-back without limits cannot hold, and the schema with the list keys may arrive later.

use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::source_past::WriteTimes;
use crate::commands::versions::compared::{ShownVersions, WriteTime};
use crate::commands::versions::read_versions::DocCache;
use crate::commands::versions::state::VersionEvent;
use crate::render::diff::ChangeType;
use crate::source::SourceKey;
use crate::watch::{Past, Presence, Revision};

/// Decides how far back a walk goes.
pub(crate) struct StopRule<'l> {
    shown: &'l ShownVersions,
    key: &'l SourceKey,
    /// Versions from before this time are too old.
    pub(super) since: Option<Timestamp>,
    /// The number of shown versions that is enough.
    pub(super) limit: usize,
    count: usize,
    /// The last version that the walk found.
    there: Presence,
    docs: DocCache,
    /// The write times of the compared versions.
    pub(crate) written: WriteTimes,
}

impl<'l> StopRule<'l> {
    /// A rule without limits, for a walk that starts with this version.
    pub(crate) fn new(
        there: Presence,
        shown: &'l ShownVersions,
        key: &'l SourceKey,
    ) -> StopRule<'l> {
        StopRule {
            shown,
            key,
            since: None,
            limit: usize::MAX,
            count: 0,
            there,
            docs: DocCache::default(),
            written: WriteTimes::new(),
        }
    }

    /// Whether the walk continues. It never ends at a deletion, because the version before that must be shown.
    pub(crate) fn goes_on(&self) -> bool {
        self.count < self.limit || self.there.is_none()
    }

    /// Takes the next older step. Returns whether it is recent enough; if not, the walk ends.
    pub(crate) fn takes(&mut self, past: &Past) -> bool {
        let event = match past {
            Past::Version(older) => {
                let Some(newer) = self.there.replace(older.clone()) else {
                    return true;
                };
                VersionEvent::new(ChangeType::Modified, Some(older.clone()), newer)
            }
            Past::Created => {
                let Some(first) = self.there.take() else {
                    return true;
                };
                VersionEvent::new(ChangeType::Created, None, first)
            }
            Past::Deleted(_) => {
                self.count += 1;
                return true;
            }
        };
        // Without limits there is no need to compare.
        (self.since.is_none() && self.limit == usize::MAX) || self.is_recent(&event)
    }

    /// Counts a version if it is shown. Returns whether it is recent enough.
    fn is_recent(&mut self, event: &VersionEvent) -> bool {
        let read = event.read(&mut self.docs, |kind| self.shown.keys.so_far(kind));
        let Ok(read) = read else {
            self.count += 1;
            return true;
        };
        let compared = self.shown.compare(self.key, &read);
        self.count += usize::from(compared.is_shown());
        if let Some(at) = Revision::parse(&event.now.version) {
            self.written.insert(at, compared.written);
        }
        let time = compared.written.and_then(WriteTime::exact);
        self.since
            .zip(time)
            .is_none_or(|(since, time)| time >= since)
    }
}

/// The deadline and the stop signal of one walk.
pub(super) struct Interrupt {
    deadline: Option<Instant>,
    stop: watch::Receiver<bool>,
    is_cut: AtomicBool,
}

impl Interrupt {
    /// After `deadline` the walk waits for no request; after `stop` it waits for nothing.
    pub(super) fn new(deadline: Option<Instant>, stop: watch::Receiver<bool>) -> Interrupt {
        Interrupt {
            deadline,
            stop,
            is_cut: AtomicBool::new(false),
        }
    }

    /// Whether `stop` ended the walk before it was complete.
    pub(super) fn has_cut(&self) -> bool {
        self.is_cut.load(Ordering::Relaxed)
    }

    /// The result of a future, or `None` at the deadline or after the stop.
    pub(super) async fn in_time<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let future = self.unless_stopped(future);
        match self.deadline {
            Some(deadline) => timeout_at(deadline, future).await.ok().flatten(),
            None => future.await,
        }
    }

    /// The result of a future, or `None` after the stop. After the stop, the future does not even start.
    pub(super) async fn unless_stopped<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let mut stop = self.stop.clone();
        let stopped = async { stop.wait_for(|is_stopped| *is_stopped).await.is_ok() };
        tokio::select! {
            biased;
            _ = stopped => {
                self.is_cut.store(true, Ordering::Relaxed);
                None
            }
            done = future => Some(done),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::commands::versions::by::ManagerFilter;
    use crate::diff::Filter;
    use crate::object::{Doc, ObjectRef, ResourceVersion};
    use crate::source::{Scope, Select, Version};

    /// Version `n` of a `ConfigMap`, with one field of this manager.
    fn written_by(manager: &str, n: u32) -> Arc<Version> {
        let entry = format!(
            r#"{{"manager":"{manager}","operation":"Update","time":"2026-03-02T12:00:{n:02}Z","fieldsV1":{{"f:data":{{"f:{manager}":{{}}}}}}}}"#
        );
        let text = format!(
            r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"x","managedFields":[{entry}]}},"data":{{"{manager}":"{n}"}}}}"#
        );
        Arc::new(Version {
            object: ObjectRef::of(Doc::parse(&*text).expect("valid").root()).into(),
            version: ResourceVersion::new(n.to_string()),
            body: text.into(),
        })
    }

    fn config_map() -> SourceKey {
        SourceKey {
            scope: Scope::Namespace("shop".into()),
            select: Select::Name("x".into()),
            ..SourceKey::all("", "ConfigMap")
        }
    }

    /// How many versions count. `writers` are their managers, one letter each, the newest first.
    fn counted(shown: &ShownVersions, writers: &str) -> usize {
        let key = config_map();
        let count = u32::try_from(writers.len()).expect("few");
        let versions = writers.chars().zip((1..=count).rev());
        let mut versions = versions.map(|(manager, n)| written_by(&manager.to_string(), n));
        let mut rule = StopRule::new(versions.next(), shown, &key);
        rule.limit = writers.len() + 1;
        for older in versions {
            rule.takes(&Past::Version(older));
        }
        rule.takes(&Past::Created);
        rule.count
    }

    #[test]
    fn only_shown_versions_count() {
        let everyone = ShownVersions::default();
        let by = |manager: &str| ShownVersions {
            by: ManagerFilter::Named(vec![manager.parse().expect("a pattern")]),
            ..ShownVersions::default()
        };
        let only = |path: &str| ShownVersions {
            filter: Filter {
                only: vec![path.parse().expect("a path")],
                ignore: Vec::new(),
            },
            ..ShownVersions::default()
        };
        for (shown, writers, expect) in [
            (&everyone, "aaaa", 4),
            (&by("a"), "aaaa", 4),
            (&by("b"), "bbaa", 2),
            (&by("c"), "aaaa", 0),
            (&only("data.a"), "aaaa", 4),
            (&only("data.none"), "aaaa", 0),
        ] {
            assert_eq!(counted(shown, writers), expect, "{writers}");
        }
    }
}
