//! `TwoLives`: a new object compared with the deleted one that had its name before.

use super::compared::ReadVersions;
use crate::diff::{Change, Diff};
use crate::object::Doc;
use crate::render::diff::ChangeType;
use crate::source::Version;

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
pub(super) struct TwoLives<'a> {
    /// The last version of the deleted object.
    pub(super) former: &'a Version,
    /// Without the fields that each object has for itself, and without the status, which a new object does not have yet.
    pub(super) diff: Diff<'a>,
}

impl<'a> TwoLives<'a> {
    /// `None` if the object is not re-created, or if nothing differs.
    pub(super) fn of(read: &'a ReadVersions<'_>) -> Option<TwoLives<'a>> {
        let event = read.event;
        let is_other = |former: &&Version| former.object.uid != event.now.object.uid;
        let former = event.former.as_deref().filter(is_other)?;
        if event.change != ChangeType::Recreated {
            return None;
        }
        let (old, keys) = (read.former.as_ref().map(Doc::root), read.keys.as_deref()?);
        let mut diff = Diff::keyed(Some(old?), Some(read.doc.root()), keys);
        diff.retain(|diff, change| !is_of_one_life(diff, change));
        (!diff.changes().is_empty()).then_some(TwoLives { former, diff })
    }
}

/// Whether a change is in a field that each object has for itself.
fn is_of_one_life(diff: &Diff<'_>, change: &Change) -> bool {
    let path: Vec<_> = diff.chain(change.at).map(|at| diff.field(at)).collect();
    match path[..] {
        [.., Some("status")] => true,
        [.., Some(name), Some("metadata")] => OWN_METADATA.contains(&name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::commands::changes::compared::DocCache;
    use crate::commands::changes::state::VersionEvent;
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
