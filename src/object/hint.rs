//! What the previous version of a text tells about the next one: values whose bytes did not change
//! need no parsing.
//!
//! The hint is followed by place alone (same key, same index), so that finding a counterpart costs
//! next to nothing; where the guess is wrong, the value is parsed as any other.

use super::tape::{Kind, TapeNode};

/// An earlier text and its tape; both are empty where there is none.
#[derive(Clone, Copy, Default)]
pub(super) struct Hint<'a> {
    pub(super) text: &'a str,
    pub(super) nodes: &'a [TapeNode],
}

impl<'a> Hint<'a> {
    /// The counterpart of the whole text.
    pub(super) fn root(self) -> Option<usize> {
        (!self.nodes.is_empty()).then_some(0)
    }

    /// The tape of the value at `old`, if the bytes of that value open `rest` as a value of their
    /// own.
    pub(super) fn standing(self, old: usize, rest: &[u8]) -> Option<&'a [TapeNode]> {
        let node = &self.nodes[old];
        let raw = &self.text.as_bytes()[node.start as usize..node.end as usize];
        let after = rest.strip_prefix(raw)?;
        // `12` opens `123` too: only the other kinds of values end by themselves.
        let goes_on = matches!(after.first(), Some(b'0'..=b'9' | b'.' | b'e' | b'E'));
        if node.kind == Kind::Number && goes_on {
            return None;
        }
        Some(&self.nodes[old..old + node.size as usize])
    }

    /// The children of the value at `parent`, if it is of this kind.
    pub(super) fn children(self, parent: Option<usize>, kind: Kind) -> Siblings<'a> {
        match parent {
            Some(at) if self.nodes[at].kind == kind => Siblings {
                hint: self,
                next: at + 1,
                end: at + self.nodes[at].size as usize,
            },
            _ => Siblings {
                hint: self,
                next: 0,
                end: 0,
            },
        }
    }
}

/// Walks the children of a counterpart beside the children that are being read.
pub(super) struct Siblings<'a> {
    hint: Hint<'a>,
    next: usize,
    end: usize,
}

impl Siblings<'_> {
    /// How far ahead a field is looked for: fields come and go, but rarely many at once.
    const REACH: usize = 8;

    /// The next item.
    pub(super) fn item(&mut self) -> Option<usize> {
        let at = (self.next < self.end).then_some(self.next)?;
        self.next = at + self.hint.nodes[at].size as usize;
        Some(at)
    }

    /// The field whose key is written as `key`; what lies before it is passed over for good.
    #[inline]
    pub(super) fn field(&mut self, key: &[u8]) -> Option<usize> {
        if self.next >= self.end {
            return None;
        }
        self.find(key)
    }

    fn find(&mut self, key: &[u8]) -> Option<usize> {
        let mut at = self.next;
        for _ in 0..Self::REACH {
            if at >= self.end {
                return None;
            }
            let node = &self.hint.nodes[at];
            let after = at + node.size as usize;
            if node.key_raw(self.hint.text.as_bytes()) == key {
                self.next = after;
                return Some(at);
            }
            at = after;
        }
        None
    }
}
