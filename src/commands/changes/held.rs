//! The last versions of objects, as they were read: most versions are compared with the one before, which
//! need not be read again, and which tells most of the next one.

use std::sync::{Mutex, PoisonError};

use crate::object::{Doc, ObjectRef, ParseError};
use crate::watch::{Recent, Version};

/// How many bytes are held at most. What the program takes in all is to stay far below what the
/// objects of a large cluster take.
const MOST: usize = 8 << 20;

/// The last version of each of the objects that changed last.
pub(super) struct Held {
    docs: Mutex<Recent<ObjectRef>>,
}

impl Default for Held {
    fn default() -> Held {
        Held {
            docs: Mutex::new(Recent::up_to(MOST)),
        }
    }
}

/// Two versions of an object that were read.
pub(super) type Both = (Doc, Doc);

impl Held {
    /// Reads both versions; `None` if one of them cannot be read.
    pub(super) fn both(&self, old: &Version, now: &Version) -> Option<Both> {
        let (before, doc) = self.after(Some(old), now);
        Some((before?, doc.ok()?))
    }

    /// Reads a version, and the one before it, if there is one that can be read.
    pub(super) fn after(
        &self,
        old: Option<&Version>,
        now: &Version,
    ) -> (Option<Doc>, Result<Doc, ParseError>) {
        // What is held is whole even if a thread has panicked between two uses of it.
        let mut docs = self.docs.lock().unwrap_or_else(PoisonError::into_inner);
        let held = docs.take(&now.object);
        let before = old.and_then(|old| match held {
            Some(held) if *held.text() == *old.body.text() => Some(held),
            hint => old.doc_after(hint.as_ref()).ok(),
        });
        let doc = now.doc_after(before.as_ref());
        if let (Some(_), Ok(doc)) = (old, &doc) {
            docs.put(now.object.clone(), doc.clone());
        }
        (before, doc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::ResourceVersion;

    fn version(name: &str, n: usize) -> Version {
        let body = format!(r#"{{"kind":"A","metadata":{{"name":"{name}"}},"n":{n}}}"#);
        Version {
            object: ObjectRef::of(Doc::parse(&*body).expect("valid").root()),
            version: ResourceVersion::new(n.to_string()),
            body: body.into(),
        }
    }

    #[test]
    fn the_version_before_is_not_read_again() {
        let held = Held::default();
        let [one, two, three] = [1, 2, 3].map(|n| version("a", n));
        let (_, doc) = held.both(&one, &two).expect("valid");
        let (before, after) = held.both(&two, &three).expect("valid");
        assert!(std::ptr::eq(doc.text(), before.text()));
        assert!(after.is_same_tape(&three.doc().expect("valid")));
    }

    #[test]
    fn what_is_held_is_another_version_after_a_gap() {
        let held = Held::default();
        held.both(&version("a", 1), &version("a", 2));
        let (before, _) = held
            .both(&version("a", 7), &version("a", 8))
            .expect("valid");
        assert_eq!(*before.text(), *version("a", 7).body.text());
    }

    #[test]
    fn what_cannot_be_read_is_not_held() {
        let held = Held::default();
        let broken = Version {
            body: "{".into(),
            ..version("a", 2)
        };
        assert!(held.both(&version("a", 1), &broken).is_none());
        assert!(held.both(&broken, &version("a", 3)).is_none());
        let (before, doc) = held.after(Some(&broken), &version("a", 3));
        assert!(before.is_none() && doc.is_ok());
    }
}
