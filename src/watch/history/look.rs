//! What views ask of the past: the walk of one object, and which objects of a listing have one.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::read::{Archive, Unread, refused};
use super::revision::Revision;
use super::walk::{End, Limits, Walk, ended};
use crate::object::ObjectRef;
use crate::object::managed_fields::Writers;
use crate::watch::body::Packer;
use crate::watch::envelope::Reader;
use crate::watch::event::Version;
use crate::watch::key::SourceKey;
use crate::watch::store::{Name, name};
use crate::watch::transport::{At, Page, Upstream};

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
    /// The revision of now.
    pub now: Revision,
    /// How many objects there are now.
    pub count: usize,
    /// Those that have changed, gone or come. What came and went in between is in neither listing.
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
        let there = there.map_err(|unread| told(unread, at))?;
        let start = (at, there.clone());
        let walk = Walk::new(&self.archive, object, start, limits);
        Ok((there, walk))
    }

    /// The newest revision.
    pub async fn newest(&self) -> Result<Revision, End> {
        Ok(self.list(1).await?.0)
    }

    /// Compares the listing of now with that of `floor`, or the oldest that can be read. What is there
    /// and was last written before `since` is left out.
    pub async fn compare(
        &self,
        floor: Revision,
        since: Option<Timestamp>,
    ) -> Result<Comparison, End> {
        let metadata = History {
            archive: self.archive.metadata(),
            ..self.clone()
        };
        let (now, listed) = metadata.list(self.page_items).await?;
        let oldest = self.archive.oldest(floor.min(now), now).await;
        let then = oldest.map_err(|unread| told(unread, now))?;
        let old = metadata.archive.listing(then, self.page_items).await;
        let old = old.map_err(|unread| told(unread, now))?;
        Ok(Comparison {
            then,
            now,
            count: listed.len(),
            changed: changed(by_name(old), by_name(listed), since),
        })
    }

    /// The newest listing; all pages of it, or one object of `limit` is 1.
    async fn list(&self, limit: u32) -> Result<(Revision, Vec<Arc<Version>>), End> {
        let archive = &self.archive;
        let mut reader = Reader::new(&archive.key);
        let (mut page, mut found) = (Page { limit, next: None }, Vec::new());
        let mut packer = None;
        loop {
            let answer = archive.transport.list(&archive.key, At::Latest, page).await;
            let answer = answer.map_err(|error| ended(refused(error)))?;
            if answer.next.is_some() {
                packer.get_or_insert_with(Packer::new);
            }
            for item in &answer.items {
                let version = reader.item(item).map_err(End::NotOffered)?;
                found.push(version.kept(packer.as_mut()));
            }
            page = Page {
                limit,
                next: answer.next,
            };
            if page.next.is_none() || limit == 1 {
                let cause = || End::NotOffered("its resourceVersions are no revisions".into());
                let newest = Revision::parse(&answer.version).ok_or_else(cause)?;
                return Ok((newest, found));
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
    let doc = version.doc().ok();
    let written = doc.and_then(|doc| Writers::of(None, Some(doc.root())).time());
    written.is_some_and(|written| written < since)
}

/// What is told of a revision that could not be read.
fn told(unread: Unread, at: Revision) -> End {
    match unread {
        Unread::Forgotten => End::Forgotten(at.next()),
        other => ended(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
