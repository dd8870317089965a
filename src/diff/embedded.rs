//! JSON inside a string: in annotations, in the data of a `ConfigMap`.

use std::borrow::Cow;

use crate::object::Doc;
use crate::object::list_keys::ListKeys;

use super::annotation::AnnotationNote;
use super::secret::Guard;
use super::{Diff, Shown, walk};

/// The two versions of a JSON text that a string holds.
pub struct Embedded {
    old: Doc,
    new: Doc,
    guard: Guard,
}

impl Embedded {
    /// The changes from one to the other. A copy of the object has the object's list keys.
    pub fn diff<'e>(&'e self, keys: &'e ListKeys) -> Diff<'e> {
        let (old, new) = (self.old.root(), self.new.root());
        walk::run(Some(old), Some(new), keys, self.guard)
    }
}

impl<'a> Shown<'a> {
    /// The JSON that both versions of a string hold, if they do and may be read.
    pub fn embedded(self, new: Shown<'_>) -> Option<Embedded> {
        let (a, b) = (self.readable()?, new.readable()?);
        let guard = match (self.guard_inside(&a), new.guard_inside(&b)) {
            (Guard::Secret, _) | (_, Guard::Secret) => Guard::Secret,
            (other, _) => other,
        };
        Some(Embedded {
            old: Doc::parse(&*a).ok()?,
            new: Doc::parse(&*b).ok()?,
            guard,
        })
    }

    /// What is known of the JSON in a string that may be read.
    fn guard_inside(self, text: &str) -> Guard {
        match self.guard {
            Guard::Annotation(annotation) => match annotation.note(text) {
                AnnotationNote::Text => Guard::Open,
                AnnotationNote::Json(guard) => guard,
                // Only those read it who may read everything.
                AnnotationNote::Hidden => Guard::Secret,
            },
            _ => Guard::Open,
        }
    }

    fn readable(self) -> Option<Cow<'a, str>> {
        (!self.is_hidden()).then(|| self.value.as_str())?
    }
}
