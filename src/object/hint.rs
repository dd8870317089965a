//! Uses the previous version of a text to parse the next one: a value whose bytes did not change needs no
//! parsing.
//!
//! The counterpart of a value is found by position only: the same key, or the same index. So the search costs
//! almost nothing. If the guess is wrong, the value is parsed normally.

use super::tape::{Kind, TapeNode};

/// An earlier text and its tape. Both are empty if there is none.
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

    /// The tape of the value at `old`, if `rest` starts with exactly that value.
    pub(super) fn standing(self, old: usize, rest: &[u8]) -> Option<&'a [TapeNode]> {
        let node = &self.nodes[old];
        let raw = &self.text.as_bytes()[node.start as usize..node.end as usize];
        let after = rest.strip_prefix(raw)?;
        // `12` is also a prefix of `123`. The other kinds of values have an end of their own.
        let goes_on = matches!(after.first(), Some(b'0'..=b'9' | b'.' | b'e' | b'E'));
        if node.kind == Kind::Number && goes_on {
            return None;
        }
        Some(&self.nodes[old..old + node.size as usize])
    }

    /// The children of the value at `parent`, if it has this kind.
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

/// Iterates over the children of a counterpart, in step with the children that are being parsed.
pub(super) struct Siblings<'a> {
    hint: Hint<'a>,
    next: usize,
    end: usize,
}

impl Siblings<'_> {
    /// How many fields ahead to search. Fields are added and removed, but rarely many at once.
    const REACH: usize = 8;

    /// The next item.
    pub(super) fn item(&mut self) -> Option<usize> {
        let at = (self.next < self.end).then_some(self.next)?;
        self.next = at + self.hint.nodes[at].size as usize;
        Some(at)
    }

    /// The field whose key is spelled `key`. The fields before it are skipped for good.
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
