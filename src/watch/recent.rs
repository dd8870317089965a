//! The objects that were read last: the version before tells most of the next one.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::object::Doc;

/// The last versions that were noted, up to so many bytes.
///
/// There are two generations: the older one goes as a whole, and what is asked for in time is younger
/// again. A generation holds at least one version, whatever its size.
pub struct Recent<K> {
    young: FxHashMap<K, Doc>,
    old: FxHashMap<K, Doc>,
    /// How many bytes the younger ones take.
    bytes: usize,
    /// How many a generation may take.
    most: usize,
}

impl<K: Hash + Eq> Recent<K> {
    /// None yet, and no more than this many bytes.
    pub fn up_to(bytes: usize) -> Recent<K> {
        Recent {
            young: FxHashMap::default(),
            old: FxHashMap::default(),
            bytes: 0,
            most: bytes / 2,
        }
    }

    /// Takes out the version that is held of an object.
    pub fn take(&mut self, object: &K) -> Option<Doc> {
        if let Some(doc) = self.young.remove(object) {
            self.bytes -= doc.footprint();
            return Some(doc);
        }
        self.old.remove(object)
    }

    /// Holds a version of an object of which none is held.
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
    fn what_was_asked_for_last_stays() {
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
    fn a_large_version_is_held_alone() {
        let mut recent = Recent::up_to(1);
        for name in ["a", "b", "c"] {
            recent.put(name, Doc::parse("{}").expect("valid"));
        }
        assert!(recent.take(&"a").is_none() && recent.take(&"c").is_some());
    }
}
