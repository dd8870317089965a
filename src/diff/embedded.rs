//! Compares JSON inside a string, as annotations and the data of a `ConfigMap` contain it.

use std::borrow::Cow;

use crate::object::Doc;
use crate::object::list_keys::ListKeys;

use super::annotation::AnnotationNote;
use super::secret::Guard;
use super::{Diff, Shown, walk};

/// The two versions of a JSON text that a string contains.
pub struct Embedded {
    old: Doc,
    new: Doc,
    guard: Guard,
}

impl Embedded {
    /// The changes between the two texts. The JSON may be a copy of the object, so it uses the object's list
    /// keys.
    pub fn diff<'e>(&'e self, keys: &'e ListKeys) -> Diff<'e> {
        let (old, new) = (self.old.root(), self.new.root());
        walk::run(Some(old), Some(new), keys, self.guard)
    }
}

impl<'a> Shown<'a> {
    /// Parses both strings as JSON. `None` if one of them is not JSON or is hidden.
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

    /// The guard of the JSON in a readable string.
    fn guard_inside(self, text: &str) -> Guard {
        match self.guard {
            Guard::Annotation(annotation) => match annotation.note(text) {
                AnnotationNote::Text => Guard::Open,
                AnnotationNote::Json(guard) => guard,
                // A hidden annotation is readable only if the redactor reveals all Secrets.
                AnnotationNote::Hidden => Guard::Secret,
            },
            _ => Guard::Open,
        }
    }

    fn readable(self) -> Option<Cow<'a, str>> {
        (!self.is_hidden()).then(|| self.value.as_str())?
    }
}
