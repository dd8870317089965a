//! What views ask of the past: the walk of one object, and which objects of a listing have one.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::order::Told;
use super::read::{Archive, Unread};
use super::revision::Revision;
use super::ring::{Asked, Ring};
use super::turns::Turns;
use super::walk::{End, Limits, Walk, ended};
use crate::object::ObjectRef;
use crate::object::managed_fields::Writers;
use crate::watch::event::Version;
use crate::watch::key::SourceKey;
use crate::watch::store::{Name, name};
use crate::watch::transport::Upstream;

/// The past of one source.
#[derive(Clone)]
pub struct History {
    archive: Archive,
    page_items: u32,
}

/// A listing then and now.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The revision of then: that of interest, or the oldest that can be read.
    pub then: Revision,
    /// From which revision on nothing is missing; `None` if that is not known. What came and went before
    /// it is in neither listing.
    pub complete: Option<Revision>,
    /// How many objects there are now.
    pub count: usize,
    /// Those that have changed, gone or come.
    pub changed: Vec<ObjectRef>,
}

impl History {
    /// `None` where there is no past: what is read from a file is all there.
    pub(in crate::watch) fn new(archive: Archive, page_items: u32) -> Option<History> {
        let live = archive.transport.upstream() == Upstream::Live;
        live.then_some(History {
            archive,
            page_items,
        })
    }

    /// Which source it is the past of.
    pub fn key(&self) -> &Arc<SourceKey> {
        &self.archive.key
    }

    /// The same, whose requests wait their turn.
    #[must_use]
    pub fn in_turn(mut self, turns: &Turns) -> History {
        self.archive = self.archive.in_turn(turns);
        self
    }

    /// A walk back from a version; `None` if its resourceVersion is no revision.
    pub fn before(&self, version: &Arc<Version>, limits: Limits) -> Option<Walk> {
        let at = Revision::parse(&version.version)?;
        let start = (at, Some(version.clone()));
        Some(Walk::new(&self.archive, &version.object, start, limits))
    }

    /// What an object is at a revision, and the walk back from there.
    pub async fn at(
        &self,
        object: &ObjectRef,
        at: Revision,
        limits: Limits,
    ) -> Result<(Option<Arc<Version>>, Walk), End> {
        let there = self.archive.alone(object).object(object, at).await;
        let there = there.map_err(|unread| end(unread, at))?;
        let start = (at, there.clone());
        let walk = Walk::new(&self.archive, object, start, limits);
        Ok((there, walk))
    }

    /// Tells what only ceased to match the selector from what was deleted, as far as the server tells.
    pub async fn tell_why(&self, told: &mut [Told]) {
        // What is absent is out of sight, whatever the reason.
        let _unknown = self.archive.tell_why(told).await;
    }

    /// The newest revision.
    pub(super) async fn newest(&self) -> Result<Revision, Unread> {
        self.archive.metadata().newest().await
    }

    /// Compares the listing of `now`, when the view's own was read, with that of `floor`, or the oldest
    /// that can be read. What is there and was last written before `since` is left out.
    pub async fn compare(
        &self,
        now: Revision,
        floor: Revision,
        since: Option<Timestamp>,
    ) -> Result<Comparison, End> {
        let metadata = self.archive.metadata();
        let listed = metadata.listing(now, self.page_items).await;
        let listed = listed.map_err(|unread| end(unread, now))?;
        let (then, old) = self.oldest(floor.min(now), now).await?;
        let known = listed
            .iter()
            .filter_map(|there| Revision::parse(&there.version));
        let asked = Asked {
            after: then,
            upto: now,
            known: known.max(),
        };
        let (count, old, new) = (listed.len(), by_name(old), by_name(listed));
        let ring = Ring::read(&metadata, asked).await;
        let complete = ring.reaches;
        let mut gone = ring.into_gone();
        // The others are known to have changed.
        gone.retain(|name, _| !old.contains_key(name) && !new.contains_key(name));
        let mut changed = changed(old, new, since);
        changed.extend(gone.into_values());
        Ok(Comparison {
            then,
            complete,
            count,
            changed,
        })
    }

    /// The oldest listing that can be read, of `low` at the oldest. The server may forget it meanwhile.
    async fn oldest(
        &self,
        low: Revision,
        now: Revision,
    ) -> Result<(Revision, Vec<Arc<Version>>), End> {
        let metadata = self.archive.metadata();
        let mut low = low;
        loop {
            let oldest = self.archive.oldest(low, now).await;
            low = oldest.map_err(|unread| end(unread, now))?;
            match metadata.listing(low, self.page_items).await {
                Ok(old) => return Ok((low, old)),
                Err(Unread::Forgotten) if low < now => low = low.next(),
                Err(unread) => return Err(end(unread, now)),
            }
        }
    }
}

type Named = BTreeMap<Name, Arc<Version>>;

fn by_name(versions: Vec<Arc<Version>>) -> Named {
    let versions = versions.into_iter();
    let named = versions.map(|version| (name(&version.object), version));
    named.collect()
}

/// What differs between two listings, but for what is known to have been written before `since`.
fn changed(mut old: Named, new: Named, since: Option<Timestamp>) -> Vec<ObjectRef> {
    let mut changed = Vec::new();
    for (key, version) in new {
        let before = old.remove(&key);
        let same = |before: &Arc<Version>| {
            before.version == version.version && before.object.uid == version.object.uid
        };
        if !before.is_some_and(|before| same(&before)) && !is_before(&version, since) {
            changed.push(version.object.clone());
        }
    }
    changed.extend(old.into_values().map(|gone| gone.object.clone()));
    changed
}

/// Whether an object's `managedFields` say that all its changes are older.
fn is_before(version: &Version, since: Option<Timestamp>) -> bool {
    let Some(since) = since else { return false };
    let Ok(doc) = version.doc() else { return false };
    let writers = Writers::of(None, Some(doc.root()));
    let is_old = writers.time().is_some_and(|written| written < since);
    is_old && !writers.has_undated()
}

/// What is told of a revision that could not be read.
fn end(unread: Unread, at: Revision) -> End {
    match unread {
        Unread::Forgotten => End::Forgotten(at.next()),
        other => ended(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::envelope::Reader;
    use crate::watch::fake::pods;

    /// A Pod at this version, last written at 12:00 and so many seconds; never, if none are given.
    fn pod(name: &str, version: u32, written: Option<u32>) -> Arc<Version> {
        let managed = written.map_or(String::new(), |second| {
            let early = r#"{"manager":"a","time":"2025-01-01T11:00:00Z"}"#;
            let late = format!(r#"{{"manager":"b","time":"2025-01-01T12:00:{second:02}Z"}}"#);
            format!(r#","managedFields":[{late},{early}]"#)
        });
        let meta = format!(r#""name":"{name}","uid":"{name}","resourceVersion":"{version}""#);
        let item = format!(r#"{{"metadata":{{{meta}{managed}}}}}"#);
        let version = Reader::new(&pods()).item(&item);
        Arc::new(version.expect("an object"))
    }

    #[test]
    fn what_was_written_before_is_not_walked() {
        let old = ["same", "early", "late", "gone", "silent"];
        let old = old.map(|name| pod(name, 1, Some(0)));
        let new = [
            pod("same", 1, Some(0)),
            pod("early", 2, Some(29)),
            pod("late", 3, Some(30)),
            // Its last writer left no time.
            pod("silent", 4, None),
            pod("new", 5, Some(40)),
            pod("not-so-new", 6, Some(20)),
        ];
        let names = |since: Option<&str>| -> Vec<String> {
            let since = since.map(|since| since.parse().expect("a time"));
            let differ = changed(by_name(old.to_vec()), by_name(new.to_vec()), since);
            differ
                .iter()
                .map(|object| object.name.to_string())
                .collect()
        };
        assert_eq!(
            names(Some("2025-01-01T12:00:30Z")),
            ["late", "new", "silent", "gone"]
        );
        assert_eq!(
            names(None),
            ["early", "late", "new", "not-so-new", "silent", "gone"]
        );
    }
}
