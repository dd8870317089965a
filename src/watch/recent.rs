//! The objects that were read last. The next version of an object is parsed faster with the version before it.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::object::Doc;

/// The versions that were added last, up to a number of bytes.
///
/// There are two generations. The older generation is dropped as a whole. A version that is taken and put back
/// joins the younger one. A generation holds at least one version, whatever its size.
pub struct Recent<K> {
    young: FxHashMap<K, Doc>,
    old: FxHashMap<K, Doc>,
    /// The bytes of the younger generation.
    bytes: usize,
    /// The most bytes of one generation.
    most: usize,
}

impl<K: Hash + Eq> Recent<K> {
    /// Creates an empty cache of at most this many bytes.
    pub fn up_to(bytes: usize) -> Recent<K> {
        Recent {
            young: FxHashMap::default(),
            old: FxHashMap::default(),
            bytes: 0,
            most: bytes / 2,
        }
    }

    /// Takes out the version of an object.
    pub fn take(&mut self, object: &K) -> Option<Doc> {
        if let Some(doc) = self.young.remove(object) {
            self.bytes -= doc.footprint();
            return Some(doc);
        }
        self.old.remove(object)
    }

    /// Adds a version of an object that has none here.
    pub fn put(&mut self, object: K, doc: Doc) {
        let bytes = doc.footprint();
        if self.bytes + bytes > self.most {
            self.old = std::mem::take(&mut self.young);
            self.bytes = 0;
        }
        self.bytes += bytes;
        self.young.insert(object, doc);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_versions_used_last_stay() {
        let doc = || Doc::parse(r#"{"kind":"A"}"#).expect("valid");
        let most = 2 * doc().footprint();
        let mut recent = Recent::up_to(2 * most);
        for name in ["a", "b", "c", "d", "e"] {
            recent.put(name, doc());
            if let Some(first) = recent.take(&"a") {
                recent.put("a", first);
            }
            assert!(recent.bytes <= most);
        }
        let held = ["a", "b", "c", "d", "e"].map(|name| recent.take(&name).is_some());
        assert_eq!(held[0..2], [true, false]);
        assert!(held[4]);
    }

    #[test]
    fn a_large_version_fills_a_generation() {
        let mut recent = Recent::up_to(1);
        for name in ["a", "b", "c"] {
            recent.put(name, Doc::parse("{}").expect("valid"));
        }
        assert!(recent.take(&"a").is_none() && recent.take(&"c").is_some());
    }
}
