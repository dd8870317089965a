//! An object's text: as it came, with the tape of its values or without, or packed.
//!
//! A namespace of ten thousand Pods is 50 MB of JSON, of which a view needs one object at a time: the
//! version before the one that has just come. The objects of a listing follow each other by name, so that
//! those of one controller are neighbours and say almost the same. Each is kept as what it has that one of
//! them, its base, has not: 300 bytes instead of 4,700.

use std::fmt;
use std::sync::Arc;

use lz4_flex::block::{compress_with_dict, decompress_with_dict};

use crate::object::Doc;

/// An object's JSON, shared and immutable.
#[derive(Clone)]
pub struct Body(BodyText);

#[derive(Clone)]
enum BodyText {
    Plain(Arc<str>),
    Read(Doc),
    Packed {
        /// One LZ4 block, which may refer to `base`.
        block: Arc<[u8]>,
        /// The length of the text.
        len: usize,
        base: Arc<str>,
    },
}

impl Body {
    /// The text.
    pub fn text(&self) -> Arc<str> {
        match &self.0 {
            BodyText::Plain(text) => text.clone(),
            BodyText::Read(doc) => doc.shared_text(),
            BodyText::Packed { block, len, base } => {
                let text = decompress_with_dict(block, *len, base.as_bytes());
                let text = text.expect("a block that was packed with this base");
                let text = String::from_utf8(text).expect("what was packed was a text");
                text.into()
            }
        }
    }

    /// The object, if it has been read already.
    pub(crate) fn read(&self) -> Option<&Doc> {
        match &self.0 {
            BodyText::Read(doc) => Some(doc),
            BodyText::Plain(_) | BodyText::Packed { .. } => None,
        }
    }

    /// How many bytes it keeps in memory, a tape included; of what is packed, those that only it has.
    pub(crate) fn weight(&self) -> usize {
        match &self.0 {
            BodyText::Plain(text) => text.len(),
            BodyText::Read(doc) => doc.footprint(),
            BodyText::Packed { block, .. } => block.len(),
        }
    }

    pub(crate) fn is_packed(&self) -> bool {
        matches!(self.0, BodyText::Packed { .. })
    }

    fn packed(text: &str, base: &Arc<str>) -> Body {
        Body(BodyText::Packed {
            block: compress_with_dict(text.as_bytes(), base.as_bytes()).into(),
            len: text.len(),
            base: base.clone(),
        })
    }

    /// What it was packed with; `None` if it was packed alone, or not at all.
    fn base(&self) -> Option<&Arc<str>> {
        match &self.0 {
            BodyText::Packed { base, .. } if !base.is_empty() => Some(base),
            BodyText::Packed { .. } | BodyText::Plain(_) | BodyText::Read(_) => None,
        }
    }

    /// Whether packing has made it a `times`th of what it was.
    fn is_within(&self, times: usize) -> bool {
        match &self.0 {
            BodyText::Plain(_) | BodyText::Read(_) => false,
            BodyText::Packed { block, len, .. } => block.len().saturating_mul(times) <= *len,
        }
    }
}

/// An object that has been read.
impl From<Doc> for Body {
    fn from(doc: Doc) -> Body {
        Body(BodyText::Read(doc))
    }
}

impl From<Arc<str>> for Body {
    fn from(text: Arc<str>) -> Body {
        Body(BodyText::Plain(text))
    }
}

impl From<&str> for Body {
    fn from(text: &str) -> Body {
        Body(BodyText::Plain(text.into()))
    }
}

impl From<String> for Body {
    fn from(text: String) -> Body {
        Body(BodyText::Plain(text.into()))
    }
}

impl From<Body> for Arc<str> {
    fn from(body: Body) -> Arc<str> {
        match body.0 {
            BodyText::Plain(text) => text,
            BodyText::Read(_) | BodyText::Packed { .. } => body.text(),
        }
    }
}

/// By their texts.
impl PartialEq for Body {
    fn eq(&self, other: &Body) -> bool {
        self.text() == other.text()
    }
}

/// Leaves out the text: it may be a Secret's.
impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body")
            .field("bytes", &self.weight())
            .field("packed", &self.is_packed())
            .finish()
    }
}

/// How many times smaller than its text a body has to be for no other base to be tried.
const GOOD: usize = 8;
/// How many times smaller the last text has to make a body than the base does, to take its place. A base
/// is kept whole, and is worth it where many are packed with it.
const BETTER: usize = 2;

/// Packs one body after the other, in an order in which neighbours are alike.
#[derive(Debug)]
pub(crate) struct Packer {
    base: Arc<str>,
    last: Arc<str>,
}

impl Packer {
    pub(crate) fn new() -> Packer {
        Packer {
            base: "".into(),
            last: "".into(),
        }
    }

    /// Packs a body, with what `before`, the object's last version, was packed with if that is good. What
    /// cannot be made smaller stays as it is.
    pub(crate) fn pack(&mut self, body: &Body, before: Option<&Body>) -> Body {
        let text = &match &body.0 {
            BodyText::Plain(_) | BodyText::Read(_) => body.text(),
            BodyText::Packed { .. } => return body.clone(),
        };
        let own = before
            .and_then(Body::base)
            .map(|base| Body::packed(text, base))
            .filter(|packed| packed.is_within(GOOD));
        let packed = match own {
            Some(packed) => packed,
            None => self.next(text),
        };
        if packed.is_within(1) {
            packed
        } else {
            body.clone()
        }
    }

    /// Packs the next text in a row.
    fn next(&mut self, text: &Arc<str>) -> Body {
        let packed = Body::packed(text, &self.base);
        let last = std::mem::replace(&mut self.last, text.clone());
        if packed.is_within(GOOD) {
            return packed;
        }
        let beside = Body::packed(text, &last);
        if beside.weight().saturating_mul(BETTER) > packed.weight() {
            return packed;
        }
        self.base = last;
        beside
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pod(name: usize, team: &str) -> Body {
        let field = |at: usize| {
            let (name, value) = (at * 7919, at * team.len() * 104_729);
            format!("\"{team}_{name:x}\":{value:x}")
        };
        let env: Vec<String> = (0..40).map(field).collect();
        let env = env.join(",");
        format!(r#"{{"metadata":{{"name":"{team}-{name}"}},"env":[{env}]}}"#).into()
    }

    #[test]
    fn neighbours_are_packed_with_the_first_of_them() {
        let mut packer = Packer::new();
        let teams = ["auth", "billing"].map(|team| {
            let pods = (0..100).map(|name| pod(name, team));
            pods.map(|pod| (packer.pack(&pod, None), pod))
                .collect::<Vec<_>>()
        });
        for (packed, plain) in teams.iter().flatten() {
            assert!(packed == plain && packed.is_packed());
        }
        for pods in &teams {
            let small = |(packed, plain): &&(Body, Body)| packed.weight() * 10 < plain.weight();
            assert!(pods.iter().filter(small).count() >= 98);
        }
    }

    #[test]
    fn what_cannot_be_made_smaller_stays() {
        let mut packer = Packer::new();
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..20 {
            let text: String = std::iter::repeat_with(|| random.alphanumeric())
                .take(5000)
                .collect();
            let body = Body::from(text);
            let kept = packer.pack(&body, None);
            assert!(kept == body && kept.weight() <= body.weight());
            assert!(kept.base().is_none());
        }
    }

    #[test]
    fn a_version_is_packed_with_the_base_of_the_one_before() {
        let mut packer = Packer::new();
        let auth = [0, 1].map(|name| packer.pack(&pod(name, "auth"), None));
        let base = auth[1].base().cloned().expect("packed with the first");
        let other = [0, 1].map(|name| packer.pack(&pod(name, "billing"), None));
        let next = packer.pack(&pod(2, "auth"), Some(&auth[1]));
        assert!(Arc::ptr_eq(next.base().expect("a base"), &base));
        // Unless it has become another.
        let next = packer.pack(&pod(1, "billing"), Some(&auth[1]));
        assert!(next == pod(1, "billing") && next.weight() <= other[1].weight());
    }

    proptest! {
        #[test]
        fn nothing_is_lost(texts in prop::collection::vec("[ab]{0,40}|\\PC{0,80}", 1..20)) {
            let mut packer = Packer::new();
            let mut before: Option<Body> = None;
            for text in texts {
                let packed = packer.pack(&Body::from(text.clone()), before.as_ref());
                prop_assert_eq!(&*packed.text(), &*text);
                before = Some(packed);
            }
        }
    }
}
