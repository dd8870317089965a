//! `DocCache`: the last parsed version of each object. Most versions are compared with the previous one. The cache saves
//! parsing that again, and a parsed version makes the next one cheaper to parse.

use std::sync::Arc;

use crate::object::{Doc, ObjectRef, ParseError};
use crate::source::Version;
use crate::watch::Recent;

/// The most bytes it keeps. The objects of a large cluster take far more.
const MOST: usize = 8 << 20;

/// The last version of each recently changed object.
pub(super) struct DocCache(Recent<Arc<ObjectRef>>);

impl Default for DocCache {
    fn default() -> DocCache {
        DocCache(Recent::up_to(MOST))
    }
}

impl DocCache {
    /// Parses a version and the previous one. The previous one is `None` if there is none or it cannot be parsed.
    pub(super) fn read(
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::ResourceVersion;

    fn version(name: &str, n: usize) -> Version {
        let body = format!(r#"{{"kind":"A","metadata":{{"name":"{name}"}},"n":{n}}}"#);
        Version {
            object: ObjectRef::of(Doc::parse(&*body).expect("valid").root()).into(),
            version: ResourceVersion::new(n.to_string()),
            body: body.into(),
        }
    }

    fn both(cache: &mut DocCache, old: &Version, now: &Version) -> (Doc, Doc) {
        let (before, doc) = cache.read(Some(old), now);
        (before.expect("valid"), doc.expect("valid"))
    }

    #[test]
    fn the_previous_version_is_not_parsed_again() {
        let mut cache = DocCache::default();
        let [one, two, three] = [1, 2, 3].map(|n| version("a", n));
        let (_, doc) = both(&mut cache, &one, &two);
        let (before, after) = both(&mut cache, &two, &three);
        assert!(std::ptr::eq(doc.text(), before.text()));
        assert!(after.is_same_tape(&three.doc().expect("valid")));
    }

    #[test]
    fn after_a_gap_the_cached_version_is_not_used_as_the_previous_one() {
        let mut cache = DocCache::default();
        both(&mut cache, &version("a", 1), &version("a", 2));
        let (before, _) = both(&mut cache, &version("a", 7), &version("a", 8));
        assert_eq!(*before.text(), *version("a", 7).body.text());
    }

    #[test]
    fn a_version_that_cannot_be_parsed_is_not_cached() {
        let mut cache = DocCache::default();
        let broken = Version {
            body: "{".into(),
            ..version("a", 2)
        };
        let (_, doc) = cache.read(Some(&version("a", 1)), &broken);
        assert!(doc.is_err());
        let (before, doc) = cache.read(Some(&broken), &version("a", 3));
        assert!(before.is_none() && doc.is_ok());
    }
}
