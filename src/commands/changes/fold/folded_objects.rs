//! `FoldedObjects`: the owned objects in a run of folded versions.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::object::ObjectRef;
use crate::render::count::plural;
use crate::render::text::escape_line;
use crate::status::Status;

/// The owned objects in a run, and which of them fail. A run can last for days, so it forgets a deleted object and keeps
/// only the number.
#[derive(Default)]
pub(super) struct FoldedObjects {
    there: BTreeMap<Arc<ObjectRef>, FoldedObject>,
    /// The number of deleted objects of each kind.
    deleted: BTreeMap<FoldedKind, usize>,
}

/// The newest version of an owned object.
pub(super) struct FoldedObject {
    /// The plural of its kind.
    pub(super) plural: Arc<str>,
    /// The word for its state, if it fails.
    pub(super) failing: Option<String>,
}

/// The kind of owned objects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FoldedKind {
    plural: Arc<str>,
    kind: Arc<str>,
}

impl FoldedObjects {
    /// Adds the newest version of an object.
    pub(super) fn add(&mut self, object: Arc<ObjectRef>, newest: FoldedObject) {
        self.there.insert(object, newest);
    }

    /// Adds the deletion of an object. Nothing follows it, because another object of this name has another uid.
    pub(super) fn add_deletion(&mut self, object: &ObjectRef, plural: Arc<str>) {
        self.there.remove(object);
        let kind = object.kind.clone();
        *self.deleted.entry(FoldedKind { plural, kind }).or_default() += 1;
    }

    pub(super) fn count(&self) -> usize {
        self.there.len() + self.deleted.values().sum::<usize>()
    }

    /// `6 pods and 1 replicaset`
    pub(super) fn by_kind(&self) -> String {
        let mut kinds = self.deleted.clone();
        for (object, newest) in &self.there {
            let plural = newest.plural.clone();
            let kind = object.kind.clone();
            *kinds.entry(FoldedKind { plural, kind }).or_default() += 1;
        }
        let kinds = kinds.into_iter().map(|(kind, count)| match count {
            1 => format!("1 {}", kind.kind.to_lowercase()),
            _ => format!("{count} {}", kind.plural),
        });
        escape_line(&listed(&kinds.collect::<Vec<_>>())).into_owned()
    }

    /// `7 objects`
    pub(super) fn in_brief(&self) -> String {
        plural(self.count(), "object")
    }

    /// `2 failing (CrashLoopBackOff)`: the objects that fail in their newest version.
    pub(super) fn failing(&self) -> Option<String> {
        let words = self.there.values();
        let mut words: Vec<&str> = words
            .filter_map(|newest| newest.failing.as_deref())
            .collect();
        let count = words.len();
        words.sort_unstable();
        words.dedup();
        words.retain(|word| *word != Status::Failed.as_str());
        let words = match &words.join(", ")[..] {
            "" => String::new(),
            words => format!(" ({words})"),
        };
        (count > 0).then(|| escape_line(&format!("{count} failing{words}")).into_owned())
    }
}

/// `a, b and c`
fn listed(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Uid;

    fn object(kind: &str, name: &str) -> Arc<ObjectRef> {
        Arc::new(ObjectRef {
            api_version: "v1".into(),
            kind: kind.into(),
            namespace: Some("shop".into()),
            name: name.into(),
            uid: Some(Uid::new(name)),
        })
    }

    fn newest(plural: &str, failing: Option<&str>) -> FoldedObject {
        FoldedObject {
            plural: plural.into(),
            failing: failing.map(str::to_owned),
        }
    }

    #[test]
    fn a_deleted_object_is_counted_and_forgotten() {
        let mut objects = FoldedObjects::default();
        for _ in 0..2 {
            objects.add(object("Pod", "a"), newest("pods", Some("CrashLoopBackOff")));
            objects.add(object("Pod", "b"), newest("pods", Some("Failed")));
            objects.add(object("Job", "c"), newest("jobs", None));
        }
        assert_eq!(objects.by_kind(), "1 job and 2 pods");
        assert_eq!(
            objects.failing().as_deref(),
            Some("2 failing (CrashLoopBackOff)")
        );
        for name in ["a", "b"] {
            objects.add_deletion(&object("Pod", name), "pods".into());
        }
        assert_eq!(objects.by_kind(), "1 job and 2 pods");
        assert_eq!(objects.in_brief(), "3 objects");
        assert_eq!((objects.failing(), objects.there.len()), (None, 1));
    }
}
