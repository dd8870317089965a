//! Compares all objects of a source at two revisions, `then` and `now`, and finds the versions in between. It
//! makes at most one request per version.
//!
//! 1. The objects at `now` need no request: the source's own listing has them.
//! 2. A watch from `then` reads the API server's watch cache. One request returns every event after the oldest
//!    revision in the cache, with its object. The events count if they end with the current objects. If the cache
//!    reaches `then`, only the version of each object before its first event is left to read. An object that was
//!    created needs no read. The others are read one by one, each just before its first event. One list replaces
//!    these reads if it costs the server less.
//! 3. If the cache does not reach `then`, a metadata list at `then` shows which objects were changed, created or
//!    deleted before the cache begins. Each of them is walked back from there, with one request per version. The
//!    walk of an object that did not exist at `then` ends with its creation: one request finds it absent. It does
//!    not search for an earlier lifetime of the name. Such a lifetime is in neither list;
//!    [`Comparison::complete`] is the revision from which none can be missing. A view that begins later than `then`
//!    reads those that existed at its beginning with [`History::ended`](super::History::ended).
//!
//! A list that all objects share cannot replace the walk. Each version has its own revision, and only a read at
//! the revision before it shows which version it followed. So a walk needs one read for each version, whatever
//! the objects are.
//!
//! A walk goes from the newest version to the oldest, because each version names the revision to read next. So
//! its findings have no place in a timeline before the walk has ended, and the later events of the watch cache
//! have none either. A view can show the progress of the walks, and print when they end.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::past_event::{ObjectAt, ObjectsAt, PastEvent, Presence};
use super::read::{Archive, End, end};
use super::replay::{Before, Cached, EventsOfObject};
use super::versions_before::{Missing, VersionsBefore};
use super::walk::{Walk, WalkLimits};
use crate::object::NamespacedName;
use crate::source::{Version, Why};
use crate::watch::revision::{Revision, RevisionSpan};

/// The changes of a source's objects.
pub struct Comparison {
    /// The revision of `then`: the requested one, or the oldest one from which all versions are known.
    pub then: Revision,
    /// The revision from which no version is missing; `None` if it is unknown.
    pub complete: Option<Revision>,
    /// The objects that were changed, created or deleted.
    pub changed: Vec<Changed>,
    /// The objects with a version that could not be read.
    pub missing: Vec<Missing>,
}

/// The changes of one object.
#[derive(Default)]
pub struct Changed {
    /// The rest to walk: the version to start from, and the walk back from it.
    pub earlier: Option<(Presence, Walk)>,
    /// The events after that, oldest first.
    pub later: Vec<PastEvent>,
}

impl Changed {
    /// An object that is gone, with the walk back from its end.
    pub fn ended(walk: Walk) -> Changed {
        Changed {
            earlier: Some((None, walk)),
            later: Vec::new(),
        }
    }
}

type Named = BTreeMap<NamespacedName, Arc<Version>>;

impl Comparison {
    /// Reads the changes up to `now`. See [`History::compare`](super::History::compare).
    pub(super) async fn read(
        archive: &Archive,
        mut now: ObjectsAt,
        floor: Revision,
    ) -> Result<Comparison, End> {
        settle(archive, &mut now).await?;
        let floor = floor.min(now.at);
        let cached = Cached::read(archive, &now, floor).await;
        let (base, is_read) = (cached.reaches, cached.is_read);
        let (mut then, mut old) = (floor, Named::new());
        if base > floor {
            let span = RevisionSpan {
                after: floor,
                upto: now.at,
            };
            let oldest = archive.oldest_metadata(span).await?;
            then = oldest.at;
            if then < base {
                old = by_name(oldest.objects);
            }
        }
        let mut versions = VersionsBefore::read(archive, &cached, &now).await?;
        let mut window = Window {
            archive,
            span: RevisionSpan {
                after: then,
                upto: base,
            },
            old,
            changed: BTreeMap::new(),
        };
        for (name, events) in cached.objects {
            let before = versions.known.remove(&name).unwrap_or(Before::Known(None));
            window.touch(name, events, before);
        }
        for there in &now.objects {
            window.leave(there);
        }
        let then = then.max(versions.forgotten.unwrap_or(then));
        Ok(Comparison {
            then,
            complete: is_read.then(|| then.max(base)),
            changed: window.end(),
            missing: versions.missing,
        })
    }
}

/// Restores a listing to its own revision. Its last pages are newer if the server compacted that revision between two
/// pages.
async fn settle(archive: &Archive, now: &mut ObjectsAt) -> Result<(), End> {
    let at = now.at;
    let is_younger =
        |there: &mut Arc<Version>| Revision::parse(&there.version).is_none_or(|own| own > at);
    let younger: Vec<_> = now.objects.extract_if(.., is_younger).collect();
    for there in younger {
        let there = archive.alone(&there.object).object(&there.object, at).await;
        let there = there.map_err(|unread| end(unread, at))?;
        now.objects.extend(there);
    }
    Ok(())
}

/// A comparison in progress.
struct Window<'a> {
    archive: &'a Archive,
    /// From `then` to the start of the watch cache.
    span: RevisionSpan,
    /// The objects at `then` that have not been met since.
    old: Named,
    changed: BTreeMap<NamespacedName, Changed>,
}

impl Window<'_> {
    /// Adds an object with events in the watch cache.
    fn touch(&mut self, name: NamespacedName, events: EventsOfObject, before: Before) {
        let existed = self.existed(&name, &before);
        let mut changed = Changed::default();
        if let Before::Known(Some(first)) = &before {
            changed.earlier = self.walk(first, existed);
            if changed.earlier.is_none() {
                // The first change is compared with this version.
                changed.later.push(PastEvent {
                    why: Why::Listed,
                    at: Revision::parse(&first.version),
                    now: first.clone(),
                    prev: None,
                });
            }
        }
        changed.later.extend(events.past_events(before));
        self.changed.insert(name, changed);
    }

    /// Whether the object existed at `then`. If it did, and was deleted before the watch cache begins, it stays
    /// in `old`.
    fn existed(&mut self, name: &NamespacedName, before: &Before) -> Existed {
        let is_gone = matches!(before, Before::Known(None));
        let existed = if is_gone {
            self.old.contains_key(name)
        } else {
            self.old.remove(name).is_some()
        };
        if existed { Existed::Then } else { Existed::Not }
    }

    /// Adds an object of the current listing. The watch cache may have no event of it.
    fn leave(&mut self, there: &Arc<Version>) {
        let name = there.object.namespaced_name();
        if self.changed.contains_key(&name) {
            return;
        }
        let existed = match self.old.remove(&name) {
            Some(_) => Existed::Then,
            None => Existed::Not,
        };
        if let Some(walk) = self.walk(there, existed) {
            let earlier = Some(walk);
            let later = Vec::new();
            self.changed.insert(name, Changed { earlier, later });
        }
    }

    /// The walk back from a version, if the version is newer than `then`.
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

    /// All changes. At this point `old` holds the objects that were deleted before the watch cache begins.
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

/// Whether an object existed at `then`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Existed {
    Then,
    Not,
}

fn down_to(floor: Revision) -> WalkLimits {
    WalkLimits {
        floor,
        ..WalkLimits::default()
    }
}

fn by_name(versions: Vec<Arc<Version>>) -> Named {
    let versions = versions.into_iter();
    let named = versions.map(|version| (version.object.namespaced_name(), version));
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::envelope::Reader;
    use crate::watch::tests::fake::{Fake, pods};

    /// A Pod at this version, which records a write in 2025.
    fn pod(name: &str, version: u32) -> Arc<Version> {
        let managed = r#""managedFields":[{"manager":"a","time":"2025-01-01T12:00:00Z"}]"#;
        let meta = format!(r#""name":"{name}","uid":"{name}","resourceVersion":"{version}""#);
        let item = format!(r#"{{"metadata":{{{meta},{managed}}}}}"#);
        let version = Reader::new(&pods()).item(&item);
        Arc::new(version.expect("an object"))
    }

    #[test]
    fn the_revision_decides_which_objects_are_walked() {
        let archive = Archive {
            transport: Arc::new(Fake::new()),
            compacted: Arc::default(),
            key: Arc::new(pods()),
            page_items: 0,
        };
        let [after, upto] = [1, 9].map(|number: u32| {
            let number = Revision::read(&number.to_string());
            number.expect("a revision")
        });
        let mut window = Window {
            archive: &archive,
            span: RevisionSpan { after, upto },
            old: by_name(vec![pod("same", 1), pod("changed", 1), pod("gone", 1)]),
            changed: BTreeMap::new(),
        };
        for there in [pod("same", 1), pod("changed", 2), pod("new", 5)] {
            window.leave(&there);
        }
        let changed = window.end();
        let walks = changed
            .iter()
            .filter_map(|changed| changed.earlier.as_ref());
        let names: Vec<_> = walks.map(|(_, walk)| &*walk.object.name).collect();
        assert_eq!(names, ["changed", "gone", "new"]);
    }
}
