//! `LayeredTransport`: a server with the memory of its record.
//!
//! What is now comes from the server. An old revision comes from the record where that is complete, else from the server, and
//! where the server has forgotten it, from before the hole. Secret values and redacted ones of both look alike: the
//! record has only digests.

use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use jiff::Timestamp;

use super::recorded_history::RecordedHistory;
use super::sealer::{Sealer, is_secret};
use super::store::Store;
use super::transport::StoreTransport;
use crate::object::{Resource, ResourceVersion};
use crate::source::SourceKey;
use crate::watch::{
    At, Between, Clock, Hole, LineStream, ListPage, Page, RecordBegin, RecordedPast, Revision,
    SourceError, Transport,
};

/// A server, and the record of it.
pub struct LayeredTransport {
    live: Arc<dyn Transport>,
    record: StoreTransport,
    sealer: Sealer,
    clock: Clock,
    /// Whether the Secrets of the record are left out.
    leaves_secrets: bool,
    /// What the server has said of its history, for each resource that was asked.
    reaches: Mutex<Vec<(Resource, ServerReach)>>,
}

/// How far back a server remembers. What it forgets is always everything before a revision.
#[derive(Clone, Copy, Debug, Default)]
struct ServerReach {
    /// The newest revision that it has forgotten.
    forgotten: Option<Revision>,
    /// The oldest revision that it still has.
    kept: Option<Revision>,
}

impl LayeredTransport {
    /// Lays the record of a store under the transport of the same cluster.
    pub fn new(
        live: Arc<dyn Transport>,
        record: StoreTransport,
        store: &Store,
        clock: Clock,
    ) -> LayeredTransport {
        LayeredTransport {
            live,
            sealer: Sealer::new(store.key.clone(), record.redactions()),
            record,
            clock,
            leaves_secrets: false,
            reaches: Mutex::default(),
        }
    }

    /// A line for each file of the record that cannot be read.
    pub fn unread(&self) -> &[String] {
        self.record.unread()
    }

    /// Secrets come from the server alone, with their values.
    #[must_use]
    pub fn without_secrets(self) -> LayeredTransport {
        LayeredTransport {
            leaves_secrets: true,
            ..self
        }
    }

    /// The record, if it counts for a source.
    fn record_of(&self, key: &SourceKey) -> Option<&StoreTransport> {
        let is_left = self.leaves_secrets && is_secret(key);
        (!is_left).then_some(&self.record)
    }

    async fn past_page(
        &self,
        key: &SourceKey,
        at: Revision,
        page: Page,
    ) -> Result<ListPage, SourceError> {
        let exact = At::Exact(at);
        let Some(record) = self.record_of(key) else {
            return self.live.list(key, exact, page).await;
        };
        let wanted = page.clone();
        let recorded = record.read_of(key, move |history, key| {
            history.complete_page(key, at, &wanted)
        });
        if let Some(recorded) = recorded.await {
            return recorded;
        }
        match self.live_page(key, at, page.clone()).await {
            Err(expired @ SourceError::Expired(_)) => {
                let before =
                    record.read_of(key, move |history, key| history.before_hole(key, at, &page));
                before.await.ok_or(expired)?
            }
            answer => answer,
        }
    }

    /// A listing at a revision from the server, which tells how far it remembers.
    async fn live_page(
        &self,
        key: &SourceKey,
        at: Revision,
        page: Page,
    ) -> Result<ListPage, SourceError> {
        let answer = self.live.list(key, At::Exact(at), page).await;
        let mut reaches = self.reaches.lock().unwrap_or_else(PoisonError::into_inner);
        let known = reaches.iter().position(|(of, _)| *of == key.resource);
        let known = known.unwrap_or_else(|| {
            reaches.push((key.resource.clone(), ServerReach::default()));
            reaches.len() - 1
        });
        let reach = &mut reaches[known].1;
        match &answer {
            // A server without old versions answers with the newest one.
            Ok(page) if Revision::parse(&page.version) == Some(at) => {
                reach.kept = Some(reach.kept.map_or(at, |kept| kept.min(at)));
            }
            Err(SourceError::Expired(_)) => reach.forgotten = reach.forgotten.max(Some(at)),
            Ok(_) | Err(_) => {}
        }
        answer
    }

    fn reach(&self, key: &SourceKey) -> ServerReach {
        let reaches = self.reaches.lock().unwrap_or_else(PoisonError::into_inner);
        let own = reaches.iter().find(|(of, _)| *of == key.resource);
        own.map(|(_, reach)| *reach).unwrap_or_default()
    }

    /// The part of a hole of the record that the server does not have either; `None` if it has everything.
    async fn forgotten_part(&self, key: &SourceKey, hole: Hole) -> Option<Hole> {
        let first = hole.after.next();
        let reach = self.reach(key);
        let is_known = reach.kept.is_some_and(|kept| kept <= first)
            || reach.forgotten.is_some_and(|forgotten| forgotten >= first);
        if !is_known {
            let probe = Page {
                limit: 1,
                next: None,
            };
            let _answer = self.live_page(key, first, probe).await;
        }
        match self.reach(key).kept {
            Some(kept) if kept <= first => None,
            Some(kept) => Some(Hole {
                upto: kept.min(hole.upto),
                ..hole
            }),
            None => Some(hole),
        }
    }

    /// The hole between the end of the record and what the server still has.
    async fn last_hole(&self, key: &SourceKey) -> Option<Hole> {
        let upto = self.reach(key).forgotten?;
        let until = (self.clock)();
        let hole = self.record_of(key)?.read_of(key, move |history, key| {
            history.hole_until(key, upto, until)
        });
        hole.await
    }

    /// A page with digests in the place of Secret values and redacted ones.
    fn sealed(&self, key: &SourceKey, mut page: ListPage) -> ListPage {
        if self.record_of(key).is_none() {
            return page;
        }
        for item in &mut page.items {
            if let Some(sealed) = self.sealer.sealed_item(key, item) {
                *item = sealed;
            }
        }
        page
    }
}

impl Transport for LayeredTransport {
    fn list<'a>(
        &'a self,
        key: &'a SourceKey,
        at: At,
        page: Page,
    ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
        Box::pin(async move {
            let answer = match at {
                At::Latest => self.live.list(key, at, page).await,
                At::Exact(at) => self.past_page(key, at, page).await,
            };
            Ok(self.sealed(key, answer?))
        })
    }

    /// A watch from an old revision first gives what is recorded, and then continues at the server.
    fn watch<'a>(
        &'a self,
        key: &'a SourceKey,
        from: &'a ResourceVersion,
    ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
        Box::pin(async move {
            let Some(record) = self.record_of(key) else {
                return self.live.watch(key, from).await;
            };
            let recorded = record.recorded_lines(key, from).await?;
            let start = recorded
                .as_ref()
                .map_or(from.clone(), |(_, end)| (*end).into());
            let lines = self.live.watch(key, &start).await?;
            let (sealer, own) = (self.sealer.clone(), key.clone());
            let lines: LineStream = match recorded {
                Some((recorded, _)) => Box::pin(recorded.chain(lines)),
                None => lines,
            };
            // A file of the record may be older than a redaction.
            let lines: LineStream = Box::pin(lines.map(move |line| {
                let line = line?;
                Ok(sealer.sealed_line(&own, &line).unwrap_or(line))
            }));
            Ok(lines)
        })
    }

    fn trouble(&self) -> Option<SourceError> {
        self.live.trouble()
    }

    fn recorded(&self) -> Option<&dyn RecordedPast> {
        Some(self)
    }
}

impl RecordedPast for LayeredTransport {
    fn begin<'a>(&'a self, key: &'a SourceKey) -> BoxFuture<'a, Option<RecordBegin>> {
        async move { RecordedPast::begin(self.record_of(key)?, key).await }.boxed()
    }

    fn oldest<'a>(&'a self, key: &'a SourceKey) -> BoxFuture<'a, Option<Revision>> {
        async move { self.record_of(key)?.oldest(key).await }.boxed()
    }

    fn holes<'a>(&'a self, key: &'a SourceKey) -> BoxFuture<'a, Vec<Hole>> {
        async move {
            let Some(record) = self.record_of(key) else {
                return Vec::new();
            };
            let mut holes = Vec::new();
            // The server has everything after what it has forgotten, so the newest hole is asked about first.
            let recorded = record.read_of(key, RecordedHistory::holes).await;
            for hole in recorded.into_iter().rev() {
                holes.extend(self.forgotten_part(key, hole).await);
            }
            holes.reverse();
            holes.extend(self.last_hole(key).await);
            holes
        }
        .boxed()
    }

    fn time_of<'a>(&'a self, key: &'a SourceKey, at: Revision) -> BoxFuture<'a, Option<Between>> {
        async move {
            match self.last_hole(key).await {
                Some(hole) if at > hole.after && at <= hole.upto => Some(Between {
                    from: hole.since,
                    until: Some(hole.until),
                }),
                Some(_) | None => self.record_of(key)?.time_of(key, at).await,
            }
        }
        .boxed()
    }

    fn before<'a>(
        &'a self,
        key: &'a SourceKey,
        time: Timestamp,
    ) -> BoxFuture<'a, Option<Revision>> {
        let Some(record) = self.record_of(key) else {
            return async { None }.boxed();
        };
        record.read_of(key, move |history, key| {
            let (_, until) = history.newest(key)?;
            // The Leases of the server date what happened after the record.
            (time <= until).then(|| history.before(key, time)).flatten()
        })
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;
    use crate::record::tests::{FOREVER, Folder, block_on, config_map, recorder, start};
    use crate::source::{Event, Gap, GapCause, Why};

    /// A server that answers each list with this version.
    struct Answering(&'static str);

    impl Transport for Answering {
        fn list<'a>(
            &'a self,
            _key: &'a SourceKey,
            at: At,
            _page: Page,
        ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
            let version = match (self.0, at) {
                ("exact", At::Exact(at)) => at.into(),
                (version, _) => ResourceVersion::new(version),
            };
            let (items, next) = (Vec::new(), None);
            Box::pin(async move {
                Ok(ListPage {
                    version,
                    items,
                    next,
                })
            })
        }

        fn watch<'a>(
            &'a self,
            _key: &'a SourceKey,
            _from: &'a ResourceVersion,
        ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
            Box::pin(futures::future::pending())
        }
    }

    /// How many holes there are beside a server, of a record with one.
    fn holes_beside(answer: &'static str) -> usize {
        let folder = Folder::new();
        let key = Arc::new(SourceKey::all("", "ConfigMap"));
        let recorder = recorder(folder.path(), FOREVER);
        let version = ResourceVersion::new;
        let (epoch, count) = (1, 0);
        recorder.record(
            &key,
            Event::Synced {
                epoch,
                count,
                version: version("10"),
            },
        );
        let (after, upto, cause) = (version("10"), version("20"), GapCause::Expired);
        recorder.record(&key, Event::Gap(Gap { after, upto, cause }));
        let seen = start() + SignedDuration::from_hours(1);
        let (why, past, now, prev) = (Why::Modified, false, config_map(1, 21, "a"), None);
        recorder.record(
            &key,
            Event::Object {
                why,
                past,
                seen,
                now,
                prev,
            },
        );
        recorder.finish().expect("written");
        let store = Store::open(folder.path()).expect("a store");
        let record = StoreTransport::open(&store.cluster("c1")).expect("a record");
        let record = record.expect("a record");
        let now: Clock = Arc::new(start);
        let layered = LayeredTransport::new(Arc::new(Answering(answer)), record, &store, now);
        block_on(layered.holes(&key)).len()
    }

    #[test]
    fn only_a_server_with_the_old_versions_fills_a_hole() {
        assert_eq!(holes_beside("exact"), 0);
        // It ignores which version it is asked for.
        assert_eq!(holes_beside("99"), 1);
    }
}
