//! Tests the times of revisions with the Leases of a storage in memory.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::{self, StreamExt};

use super::*;
use crate::object::ResourceVersion;
use crate::watch::error::SourceError;
use crate::watch::tests::fake::{Fake, api_error, pods};
use crate::watch::transport::{At, LineStream, ListPage, Page, Transport};

/// A storage with one Lease. It is renewed at every tenth revision from 100 to 200, every five seconds.
/// Everything before `oldest` is compacted.
struct Renewed {
    oldest: u64,
    refused: bool,
    /// The watch cache has the events after this revision.
    cached: Option<u64>,
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_772_452_800 + seconds).expect("in range")
}

fn revision(number: u64) -> Revision {
    Revision::read(&number.to_string()).expect("a revision")
}

impl Renewed {
    /// The Lease as it was last renewed at or before a revision.
    fn lease(number: u64) -> (u64, String) {
        let own = (number / 10 * 10).min(200);
        let time = at((i64::try_from(own).expect("small") - 100) / 2);
        let lease = format!(
            r#"{{"metadata":{{"name":"l","namespace":"kube-system","uid":"u","resourceVersion":"{own}"}},"spec":{{"renewTime":"{time}"}}}}"#
        );
        (own, lease)
    }

    fn page(&self, number: u64) -> Result<ListPage, SourceError> {
        if self.refused {
            return Err(api_error(403));
        }
        if number < self.oldest {
            return Err(api_error(410));
        }
        let (own, item) = Renewed::lease(number);
        let items = if own < 100 {
            Vec::new()
        } else {
            vec![item.into()]
        };
        Ok(ListPage {
            version: ResourceVersion::new(number.to_string()),
            items,
            next: None,
        })
    }
}

impl Transport for Renewed {
    fn list<'a>(
        &'a self,
        _: &'a SourceKey,
        at: At,
        _: Page,
    ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
        let number = match at {
            At::Exact(at) => at.to_string().parse().expect("a number"),
            At::Latest => 205,
        };
        Box::pin(async move {
            tokio::task::yield_now().await;
            self.page(number)
        })
    }

    fn watch<'a>(
        &'a self,
        _: &'a SourceKey,
        from: &'a ResourceVersion,
    ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
        let from: u64 = from.as_str().parse().expect("a number");
        let events = match self.cached {
            None => Err(api_error(405)),
            Some(cached) if from < cached => Err(too_old(from, cached)),
            Some(_) => Ok((10..=20).map(|tens| tens * 10).filter(|at| *at > from)),
        };
        let lines = events.map(|events| {
            let line = |at| {
                let (_, lease) = Renewed::lease(at);
                Ok(format!(r#"{{"type":"MODIFIED","object":{lease}}}"#).into())
            };
            let lines: Vec<_> = events.map(line).collect();
            stream::iter(lines).chain(stream::pending()).boxed()
        });
        Box::pin(async { lines })
    }
}

/// The answer to a watch from a revision that the watch cache has not.
fn too_old(from: u64, cached: u64) -> SourceError {
    let mut error = api_error(410);
    if let SourceError::Expired(error) = &mut error {
        error.status.message = format!("too old resource version: {from} ({cached})");
    }
    error
}

fn dates(transport: Renewed) -> Dates {
    Dates::new(Archive {
        transport: Arc::new(transport),
        compacted: Arc::default(),
        key: Arc::new(leases(&ClusterId("test".into()))),
        page_items: 0,
    })
}

fn renewed(oldest: u64) -> Renewed {
    Renewed {
        oldest,
        refused: false,
        cached: None,
    }
}

#[tokio::test]
async fn a_revision_lies_between_two_renewals() {
    let dates = dates(renewed(104));
    for (number, between) in [
        (155, Some((25, Some(30)))),
        (150, Some((25, Some(30)))),
        (104, Some((0, Some(5)))),
        (199, Some((45, Some(50)))),
        (203, Some((50, None))),
        // This revision cannot be read, but its renewal is known.
        (103, Some((0, Some(5)))),
        (99, None),
    ] {
        let between = between.map(|(from, until): (i64, Option<i64>)| Between {
            from: at(from),
            until: until.map(at),
        });
        let told = dates.of(revision(number)).await;
        assert_eq!(told, between, "{number}");
    }
}

#[tokio::test]
async fn the_watch_cache_dates_the_last_revisions_in_a_few_requests() {
    for (cached, number, between, requests) in [
        (1, 155, (25, Some(30)), 2),
        (1, 203, (50, None), 2),
        (145, 155, (25, Some(30)), 2),
        // The renewal before is not in the watch cache, but the next one is.
        (145, 147, (20, Some(25)), 3),
        (145, 137, (15, Some(20)), 7),
    ] {
        let dates = dates(Renewed {
            cached: Some(cached),
            ..renewed(1)
        });
        let told = dates.of(revision(number)).await.expect("a time");
        let (from, until) = between;
        assert_eq!(told.from, at(from), "{number}");
        assert_eq!(told.until, until.map(at), "{number}");
        assert_eq!(dates.lock().requests, requests, "{number}");
    }
}

#[tokio::test]
async fn few_requests_give_a_longer_interval() {
    let few = RequestAllowance::new(4);
    let dates = dates(Renewed {
        cached: Some(181),
        ..renewed(1)
    });
    let dates = dates.within(&few);
    let told = dates.of(revision(115)).await.expect("a time");
    assert_eq!((told.from, told.until), (at(5), Some(at(35))));
    assert!(!few.take(1));
}

#[tokio::test]
async fn known_renewals_are_not_read_again() {
    let dates = dates(renewed(1));
    dates.of(revision(155)).await;
    dates.before(at(26), revision(205)).await;
    let asked = dates.lock().requests;
    assert_eq!(
        dates.before(at(26), revision(201)).await,
        Some(revision(140))
    );
    for number in [150, 155] {
        dates.of(revision(number)).await;
    }
    assert_eq!(dates.lock().requests, asked);
    assert!(asked < 24, "{asked}");
}

#[tokio::test]
async fn concurrent_callers_share_their_requests() {
    let newest = revision(205);
    let mut requests = Vec::new();
    for callers in [1, 4] {
        let dates = dates(renewed(1));
        let all = (0..callers).map(|_| dates.of(revision(155)));
        futures::future::join_all(all).await;
        let all = (0..callers).map(|_| dates.before(at(26), newest));
        futures::future::join_all(all).await;
        requests.push(dates.lock().requests);
    }
    assert_eq!(requests[0], requests[1]);
}

#[tokio::test]
async fn the_newest_revision_before_a_time_is_found() {
    let dates = dates(renewed(104));
    for (seconds, number) in [
        (28, Some(150)),
        // The renewal at 25 may have been stored a moment after it was sent.
        (27, Some(140)),
        (26, Some(140)),
        (25, Some(140)),
        (999, Some(200)),
        // The renewal is older than the oldest readable revision, but it is known.
        (3, Some(100)),
        (0, None),
        (-9, None),
    ] {
        let before = dates.before(at(seconds), revision(205)).await;
        assert_eq!(before, number.map(revision), "{seconds}");
    }
}

#[tokio::test]
async fn without_permission_to_read_leases_there_are_no_times() {
    let refused = true;
    let dates = dates(Renewed {
        refused,
        ..renewed(1)
    });
    assert_eq!(dates.of(revision(150)).await, None);
    assert_eq!(dates.before(at(9), revision(205)).await, None);
    assert_eq!(dates.lock().requests, 1);
}

#[tokio::test(start_paused = true)]
async fn a_separate_storage_has_separate_revisions() {
    for (newest, covered) in [(205, true), (204, false), (206, false)] {
        let fake = Fake::new();
        fake.model().rv = newest;
        let archive = Archive {
            transport: Arc::new(fake),
            compacted: Arc::default(),
            key: Arc::new(pods()),
            page_items: 0,
        };
        let history = History::new(archive).expect("live");
        let dates = dates(renewed(1));
        assert_eq!(dates.covers(&history).await, covered, "{newest}");
    }
}
