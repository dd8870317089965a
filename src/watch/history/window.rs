//! What became of all objects of a source between two revisions, `then` and `now`, in as few requests as
//! there are versions at most.
//!
//! 1. What is there `now` need not be asked for: the source's own listing says so.
//! 2. A watch from `then` is answered out of the API server's watch cache: every event after the revision that
//!    the cache reaches back to, with its object, in one request. It is believed if its events end with what is
//!    there now. Where it reaches `then`, nothing else is left to read but what each object was before its first
//!    event: an object that was created needs nothing. The others are read one by one, each just before its
//!    event, or with one list if there are so many that the list costs the server less.
//! 3. Where the cache does not reach back to `then`, a metadata list at `then` shows which objects have changed,
//!    come or gone until the cache begins, and each of those is walked back from there: one request a version.
//!    The walk of an object that did not exist at `then` ends with its creation: one request finds it absent, and
//!    no earlier life of the name is searched for. Such a life is in neither list; [`Comparison::complete`] says
//!    from when on none can be missing.
//!
//! A list shared by all objects cannot replace the walk. No two versions have the same revision, and only a read
//! at the revision before a version proves which version it followed. So a walk takes one read for each version,
//! whichever objects they are of.
//!
//! Walks go from the newest version to the oldest: which revision to read next is written in the version
//! read last. So nothing that a walk finds has its place in a timeline before the walk has ended, and neither
//! has what the watch cache tells of later times. A view can show how far the walks are, and print when they end.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::cached::{Before, Cached, Events};
use super::end::{End, end};
use super::look::History;
use super::objects_at::{ObjectAt, ObjectsAt};
use super::past_event::{PastEvent, Presence};
use super::read::Archive;
use super::revision::{Revision, RevisionSpan};
use super::walk::{Limits, Walk};
use crate::object::NamespacedName;
use crate::object::ObjectRef;
use crate::object::managed_fields::Writers;
use crate::source::{Version, Why};
use crate::watch::error::SourceError;

/// What became of a source's objects.
pub struct Comparison {
    /// The revision of then: that of interest, or the oldest from which on all versions are known.
    pub then: Revision,
    /// From which revision on nothing is missing; `None` if that is not known.
    pub complete: Option<Revision>,
    /// The objects that have changed, gone or come.
    pub changed: Vec<Changed>,
    /// The objects of which a version could not be read.
    pub missing: Vec<Missing>,
}

/// What is known of one object that has changed.
#[derive(Default)]
pub struct Changed {
    /// What is left to walk: the version to begin with, and the walk back from it.
    pub earlier: Option<(Presence, Walk)>,
    /// What happened after that, the oldest first.
    pub told: Vec<PastEvent>,
}

/// An object of which versions are missing, because a read failed.
#[derive(Clone, Debug)]
pub struct Missing {
    /// Which object.
    pub object: ObjectRef,
    /// Why.
    pub cause: SourceError,
}

type Named = BTreeMap<NamespacedName, Arc<Version>>;

impl History {
    /// Finds what became of the source's objects up to `now`, after `floor` or as far back as the server
    /// remembers. What is there and was last written before `since` is left out.
    pub async fn compare(
        &self,
        mut now: ObjectsAt,
        floor: Revision,
        since: Option<Timestamp>,
    ) -> Result<Comparison, End> {
        self.settle(&mut now).await?;
        let floor = floor.min(now.at);
        let cached = Cached::read(&self.archive, &now, floor).await;
        let (base, is_read) = (cached.reaches, cached.is_read);
        let (mut then, mut old) = (floor, Named::new());
        if base > floor {
            let span = RevisionSpan {
                after: floor,
                upto: now.at,
            };
            let oldest = self.oldest_metadata(span).await?;
            then = oldest.at;
            if then < base {
                old = by_name(oldest.objects);
            }
        }
        let mut firsts = self.firsts(&cached, &now).await?;
        let mut window = Window {
            archive: &self.archive,
            span: RevisionSpan {
                after: then,
                upto: base,
            },
            since,
            old,
            changed: BTreeMap::new(),
        };
        for (name, events) in cached.objects {
            let before = firsts.known.remove(&name).unwrap_or(Before::Known(None));
            window.touch(name, events, before);
        }
        for there in &now.objects {
            window.leave(there);
        }
        let then = then.max(firsts.forgotten.unwrap_or(then));
        Ok(Comparison {
            then,
            complete: is_read.then(|| then.max(base)),
            changed: window.end(),
            missing: firsts.missing,
        })
    }

    /// Takes a listing back to its revision. Its last pages are younger if the server forgot that revision while
    /// they were read.
    async fn settle(&self, now: &mut ObjectsAt) -> Result<(), End> {
        let at = now.at;
        let is_younger =
            |there: &mut Arc<Version>| Revision::parse(&there.version).is_none_or(|own| own > at);
        let younger: Vec<_> = now.objects.extract_if(.., is_younger).collect();
        for there in younger {
            let archive = self.archive.alone(&there.object);
            let there = archive.object(&there.object, at).await;
            let there = there.map_err(|unread| end(unread, at))?;
            now.objects.extend(there);
        }
        Ok(())
    }
}

/// A comparison under way.
struct Window<'a> {
    archive: &'a Archive,
    /// From then up to where the watch cache begins.
    span: RevisionSpan,
    since: Option<Timestamp>,
    /// What there was then and has not been met since.
    old: Named,
    changed: BTreeMap<NamespacedName, Changed>,
}

impl Window<'_> {
    /// Takes an object that the watch cache has events of.
    fn touch(&mut self, name: NamespacedName, events: Events, before: Before) {
        let existed = self.existed(&name, &before);
        let mut changed = Changed::default();
        if let Before::Known(Some(first)) = &before {
            changed.earlier = self.walk(first, existed);
            if changed.earlier.is_none() {
                // The first change is told against it.
                changed.told.push(PastEvent {
                    why: Why::Listed,
                    at: Revision::parse(&first.version),
                    now: first.clone(),
                    prev: None,
                });
            }
        }
        changed.told.extend(events.told(before));
        self.changed.insert(name, changed);
    }

    /// Whether the object existed then. If it did and is gone where the watch cache begins, it is still to be met.
    fn existed(&mut self, name: &NamespacedName, before: &Before) -> Existed {
        let is_gone = matches!(before, Before::Known(None));
        let existed = if is_gone {
            self.old.contains_key(name)
        } else {
            self.old.remove(name).is_some()
        };
        if existed { Existed::Then } else { Existed::Not }
    }

    /// Takes an object that is there now. The watch cache may have no event of it.
    fn leave(&mut self, there: &Arc<Version>) {
        let name = there.object.namespaced_name();
        if self.changed.contains_key(&name) {
            return;
        }
        let existed = match self.old.remove(&name) {
            Some(_) => Existed::Then,
            None => Existed::Not,
        };
        if is_before(there, self.since) {
            return;
        }
        if let Some(walk) = self.walk(there, existed) {
            let earlier = Some(walk);
            let told = Vec::new();
            self.changed.insert(name, Changed { earlier, told });
        }
    }

    /// The walk back from a version, if it is younger than then.
    fn walk(&self, from: &Arc<Version>, existed: Existed) -> Option<(Presence, Walk)> {
        let then = self.span.after;
        let own = Revision::parse(&from.version)?;
        if own <= then || then >= self.span.upto {
            return None;
        }
        let start = ObjectAt {
            at: own,
            there: Some(from.clone()),
        };
        let walk = Walk::new(self.archive, &from.object, start, down_to(then));
        let walk = match existed {
            Existed::Then => walk.without_watch_cache(),
            Existed::Not => walk.until_created(),
        };
        Some((Some(from.clone()), walk))
    }

    /// All that has changed, once all that is there has been met: what is left went before the watch cache begins.
    fn end(mut self) -> Vec<Changed> {
        let limits = down_to(self.span.after);
        for (name, gone) in std::mem::take(&mut self.old) {
            let start = ObjectAt {
                at: self.span.upto,
                there: None,
            };
            let walk = Walk::new(self.archive, &gone.object, start, limits.clone());
            let changed = self.changed.entry(name).or_default();
            changed.earlier = Some((None, walk.without_watch_cache()));
        }
        self.changed.into_values().collect()
    }
}

/// Whether an object existed at the beginning of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Existed {
    Then,
    Not,
}

fn down_to(floor: Revision) -> Limits {
    Limits {
        floor,
        ..Limits::default()
    }
}

fn by_name(versions: Vec<Arc<Version>>) -> Named {
    let versions = versions.into_iter();
    let named = versions.map(|version| (version.object.namespaced_name(), version));
    named.collect()
}

/// Whether an object's `managedFields` say that all its changes are older.
fn is_before(version: &Version, since: Option<Timestamp>) -> bool {
    let Some(since) = since else { return false };
    let Ok(doc) = version.doc() else { return false };
    let writers = Writers::of(None, Some(doc.root()));
    let is_old = writers.time().is_some_and(|written| written < since);
    is_old && !writers.has_undated()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::envelope::Reader;
    use crate::watch::fake::{Fake, pods};

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
            let archive = Archive {
                transport: Arc::new(Fake::new()),
                memory: Arc::default(),
                key: Arc::new(pods()),
            };
            let [after, upto] = [1, 9].map(|number: u32| {
                let number = Revision::read(&number.to_string());
                number.expect("a revision")
            });
            let mut window = Window {
                archive: &archive,
                span: RevisionSpan { after, upto },
                since,
                old: by_name(old.to_vec()),
                changed: BTreeMap::new(),
            };
            for there in &new {
                window.leave(there);
            }
            let changed = window.end();
            let walks = changed
                .iter()
                .filter_map(|changed| changed.earlier.as_ref());
            walks
                .map(|(_, walk)| walk.object().name.to_string())
                .collect()
        };
        assert_eq!(
            names(Some("2025-01-01T12:00:30Z")),
            ["gone", "late", "new", "silent"]
        );
        assert_eq!(
            names(None),
            ["early", "gone", "late", "new", "not-so-new", "silent"]
        );
    }
}
