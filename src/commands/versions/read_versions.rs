//! `ReadVersions`: the parsed versions of an event, and the two lives of a re-created object.

use std::sync::Arc;

use super::state::VersionEvent;
use crate::diff::Diff;
use crate::object::list_keys::ListKeys;
use crate::object::{Doc, GroupKind, ObjectRef, ParseError, Value};
use crate::render::diff::ChangeType;
use crate::source::Version;
use crate::watch::Recent;

/// The parsed versions of an event.
pub(crate) struct ReadVersions<'e> {
    pub(crate) event: &'e VersionEvent,
    /// The previous version, if there is one and it can be parsed.
    pub(crate) before: Option<Doc>,
    /// The last version of a deleted object with this name, if the object is re-created and it can be parsed.
    pub(crate) former: Option<Doc>,
    pub(crate) doc: Doc,
    /// The keys that match list items; `None` if nothing is compared.
    pub(crate) keys: Option<Arc<ListKeys>>,
}

impl VersionEvent {
    /// Parses the version and the previous one. Fails if the version itself cannot be parsed.
    ///
    /// It calls `keys` only to compare two versions. That call fixes the list keys of the kind, so a version alone must not
    /// make it: the kind's schema may still arrive.
    pub(crate) fn read(
        &self,
        docs: &mut DocCache,
        keys: impl FnOnce(&GroupKind) -> Arc<ListKeys>,
    ) -> Result<ReadVersions<'_>, ParseError> {
        let (before, doc) = docs.read(self.old.as_deref(), &self.now);
        let doc = doc?;
        let former = self.former.as_deref().and_then(|former| former.doc().ok());
        let is_compared = before.is_some() || former.is_some();
        let keys = is_compared.then(|| keys(&self.now.object.group_kind()));
        Ok(ReadVersions {
            event: self,
            before,
            former,
            doc,
            keys,
        })
    }
}

impl ReadVersions<'_> {
    /// The previous version, if it could be parsed.
    pub(crate) fn old(&self) -> Option<VersionDoc<'_>> {
        let (version, doc) = self.event.old.as_deref().zip(self.before.as_ref())?;
        Some(VersionDoc { version, doc })
    }

    pub(crate) fn now(&self) -> VersionDoc<'_> {
        VersionDoc {
            version: &self.event.now,
            doc: &self.doc,
        }
    }

    /// The keys that match list items of both versions, if there are two.
    pub(crate) fn pair_keys(&self) -> Option<&ListKeys> {
        self.before.as_ref().and(self.keys.as_deref())
    }

    /// The old and the new object.
    pub(crate) fn roots(&self) -> (Option<Value<'_>>, Value<'_>) {
        (self.before.as_ref().map(Doc::root), self.doc.root())
    }
}

/// A version and the object in it.
#[derive(Clone, Copy)]
pub(crate) struct VersionDoc<'v> {
    pub(crate) version: &'v Version,
    pub(crate) doc: &'v Doc,
}

/// The most bytes it keeps. The objects of a large cluster take far more.
const MOST: usize = 8 << 20;

/// The last version of each recently changed object.
pub(crate) struct DocCache(Recent<Arc<ObjectRef>>);

impl Default for DocCache {
    fn default() -> DocCache {
        DocCache(Recent::up_to(MOST))
    }
}

impl DocCache {
    /// Parses a version and the previous one. The previous one is `None` if there is none or it cannot be parsed.
    pub(crate) fn read(
        &mut self,
        old: Option<&Version>,
        now: &Version,
    ) -> (Option<Doc>, Result<Doc, ParseError>) {
        let cached = self.0.take(&now.object);
        let before = old.and_then(|old| match cached {
            Some(cached) if *cached.text() == *old.body.text() => Some(cached),
            hint => old.doc_after(hint.as_ref()).ok(),
        });
        let doc = now.doc_after(before.as_ref());
        if let (Some(_), Ok(doc)) = (old, &doc) {
            self.0.put(now.object.clone(), doc.clone());
        }
        (before, doc)
    }
}

/// The fields of `metadata` that each object has for itself.
const OWN_METADATA: [&str; 8] = [
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
];

/// The changes from the last version of a deleted object to the first one of its successor.
pub(crate) struct TwoLives<'a> {
    /// The last version of the deleted object.
    pub(crate) former: &'a Version,
    /// Without the fields that each object has for itself, and without the status, which a new object does not have yet.
    pub(crate) diff: Diff<'a>,
}

impl<'a> TwoLives<'a> {
    /// `None` if the object is not re-created, or if nothing differs.
    pub(crate) fn of(read: &'a ReadVersions<'_>) -> Option<TwoLives<'a>> {
        let event = read.event;
        let is_other = |former: &&Version| former.object.uid != event.now.object.uid;
        let former = event.former.as_deref().filter(is_other)?;
        if event.change != ChangeType::Recreated {
            return None;
        }
        let (old, keys) = (read.former.as_ref().map(Doc::root), read.keys.as_deref()?);
        let mut diff = Diff::keyed(Some(old?), Some(read.doc.root()), keys);
        // Some fields each object has for itself.
        diff.retain(|diff, change| {
            let path: Vec<_> = diff.chain(change.at).map(|at| diff.field(at)).collect();
            match path[..] {
                [.., Some("status")] => false,
                [.., Some(name), Some("metadata")] => !OWN_METADATA.contains(&name),
                _ => true,
            }
        });
        (!diff.changes().is_empty()).then_some(TwoLives { former, diff })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::commands::versions::state::VersionEvent;
    use crate::object::list_keys::KindKeys;
    use crate::object::{ObjectRef, ResourceVersion};

    fn version(life: u32, rest: &str) -> Arc<Version> {
        let body = format!(
            r#"{{"apiVersion":"v1","kind":"Service","metadata":{{"name":"web","uid":"{life}","resourceVersion":"{life}",
                "generation":{life},"creationTimestamp":"2026-03-02T12:00:0{life}Z","labels":{{"app":"web"}},
                "managedFields":[{{"manager":"m{life}"}}]}},{rest}}}"#
        );
        Arc::new(Version {
            object: ObjectRef::of(Doc::parse(&*body).expect("JSON").root()).into(),
            version: ResourceVersion::new(life.to_string()),
            body: body.into(),
        })
    }

    fn paths(change: ChangeType, former: Option<Arc<Version>>, now: Arc<Version>) -> Vec<String> {
        let event = VersionEvent {
            former,
            ..VersionEvent::new(change, None, now)
        };
        let keys = KindKeys::default();
        let read = event.read(&mut DocCache::default(), |kind| keys.of(kind));
        let read = read.expect("JSON");
        let lives = TwoLives::of(&read);
        let lives = lives.iter();
        let paths = lives.flat_map(|lives| {
            let changes = lives.diff.changes().iter();
            changes.map(|change| lives.diff.path(change.at).to_string())
        });
        paths.collect()
    }

    #[test]
    fn two_lives_differ_in_what_people_and_servers_chose() {
        let old = r#""spec":{"clusterIP":"10.96.165.178","type":"ClusterIP"},"status":{"loadBalancer":{}}"#;
        let new = r#""spec":{"clusterIP":"10.96.11.75","type":"ClusterIP"}"#;
        for (change, former, now, expect) in [
            (
                ChangeType::Recreated,
                Some(version(1, old)),
                version(2, new),
                &[".spec.clusterIP"][..],
            ),
            (
                ChangeType::Recreated,
                Some(version(1, new)),
                version(2, new),
                &[],
            ),
            (ChangeType::Recreated, None, version(2, new), &[]),
            // One object that starts to match a selector again.
            (
                ChangeType::Joined,
                Some(version(1, old)),
                version(2, new),
                &[],
            ),
            (
                ChangeType::Recreated,
                Some(version(2, old)),
                version(2, new),
                &[],
            ),
        ] {
            assert_eq!(paths(change, former, now), expect, "{change:?}");
        }
    }
}
