//! The JSON parser (RFC 8259). It goes over the text once, records spans, and decodes nothing.

use super::scan::{self, Escapes, ParseError};
use super::tape;
use super::tape::{
    ESCAPED, Hint, KEY_ESCAPED, KEY_RESPELT, Kind, MAX_DEPTH, SeenKeys, TapeNode, narrow,
};

/// Parses `text` into a tape. Every hint gives the same tape.
pub(super) fn parse(text: &str, hint: Hint<'_>) -> Result<Vec<TapeNode>, ParseError> {
    if u32::try_from(text.len()).is_err() {
        return Err(ParseError::TooLong);
    }
    let expected = match hint.nodes.len() {
        0 => text.len() / BYTES_PER_NODE + 4,
        nodes => nodes + 8,
    };
    let mut parser = Parser {
        text,
        bytes: text.as_bytes(),
        at: 0,
        depth: 0,
        nodes: Vec::with_capacity(expected),
        hint,
    };
    parser.skip_space();
    parser.value(ObjectKey::none(parser.at), hint.root())?;
    parser.skip_space();
    if parser.at < text.len() {
        return Err(parser.unexpected());
    }
    Ok(parser.nodes)
}

/// About how many bytes of text a value in an object has, with its key and punctuation.
const BYTES_PER_NODE: usize = 24;

/// The key of the field that is being parsed.
#[derive(Clone, Copy)]
struct ObjectKey {
    start: u32,
    len: u32,
    flags: u8,
}

impl ObjectKey {
    /// No key, for an item of an array and for the root. It has a position, so that all offsets of a copied tape
    /// can be shifted alike.
    fn none(at: usize) -> ObjectKey {
        ObjectKey {
            start: narrow(at),
            len: 0,
            flags: 0,
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    depth: usize,
    nodes: Vec<TapeNode>,
    hint: Hint<'a>,
}

impl Parser<'_> {
    /// Parses the value at the cursor. `old` is its counterpart on the hint's tape.
    #[expect(
        clippy::inline_always,
        reason = "most values are leaves, too short to be worth a call"
    )]
    #[inline(always)]
    fn value(&mut self, key: ObjectKey, old: Option<usize>) -> Result<(), ParseError> {
        if let Some(old) = old
            && let Some(nodes) = self.hint.standing(old, &self.bytes[self.at..])
        {
            self.paste(key, nodes);
            return Ok(());
        }
        let start = self.at;
        let (kind, end, flags) = match self.bytes.get(start) {
            Some(b'"') => {
                let string = scan::string(self.bytes, start)?;
                let flags = match string.escapes {
                    Escapes::None => 0,
                    Escapes::Needed | Escapes::Chosen => ESCAPED,
                };
                (Kind::String, string.end, flags)
            }
            // Managed fields consist mostly of empty objects.
            Some(b'{') if self.is_empty_object() => (Kind::Object, start + 2, 0),
            Some(b'{') => return self.container(key, old, Kind::Object),
            Some(b'[') => return self.container(key, old, Kind::Array),
            Some(b'-' | b'0'..=b'9') => (Kind::Number, scan::number(self.bytes, start)?, 0),
            Some(b't' | b'f') => (Kind::Bool, scan::literal(self.bytes, start)?, 0),
            Some(b'n') => (Kind::Null, scan::literal(self.bytes, start)?, 0),
            _ => return Err(self.unexpected()),
        };
        self.at = end;
        let flags = key.flags | flags;
        self.push(key, (start, end), (kind, flags));
        Ok(())
    }

    #[inline]
    fn is_empty_object(&self) -> bool {
        self.bytes.get(self.at + 1) == Some(&b'}') && self.depth < MAX_DEPTH
    }

    #[inline(never)]
    fn container(
        &mut self,
        key: ObjectKey,
        old: Option<usize>,
        kind: Kind,
    ) -> Result<(), ParseError> {
        if self.depth == MAX_DEPTH {
            return Err(ParseError::TooDeep { at: self.at });
        }
        let (index, start) = (self.nodes.len(), self.at);
        self.push(key, (start, start), (kind, key.flags));
        self.depth += 1;
        self.at += 1;
        self.skip_space();
        match kind {
            Kind::Object => self.object(index, old)?,
            _ => self.array(old)?,
        }
        self.depth -= 1;
        let size = narrow(self.nodes.len() - index);
        let node = &mut self.nodes[index];
        node.end = narrow(self.at);
        node.size = size;
        Ok(())
    }

    #[inline]
    fn push(&mut self, key: ObjectKey, (start, end): (usize, usize), (kind, flags): (Kind, u8)) {
        self.nodes.push(TapeNode {
            start: narrow(start),
            end: narrow(end),
            key: key.start,
            key_len: key.len,
            size: 1,
            kind,
            flags,
        });
    }

    /// Copies the tape of a counterpart whose bytes are at the cursor. A counterpart has the same path and so the
    /// same depth, which needs no check.
    fn paste(&mut self, key: ObjectKey, nodes: &[TapeNode]) {
        let (from, to) = (nodes[0].start, narrow(self.at));
        let first = self.nodes.len();
        if from == to {
            self.nodes.extend_from_slice(nodes);
        } else {
            self.nodes.extend(nodes.iter().map(|node| TapeNode {
                start: node.start - from + to,
                end: node.end - from + to,
                // The key of the first node lies before `from`. It is set below.
                key: node.key.saturating_sub(from) + to,
                ..*node
            }));
        }
        let pasted = &mut self.nodes[first];
        pasted.key = key.start;
        pasted.key_len = key.len;
        pasted.flags = (pasted.flags & ESCAPED) | key.flags;
        self.at = pasted.end as usize;
    }

    /// Parses the fields of the object at `index`, up to and including its brace.
    fn object(&mut self, index: usize, old: Option<usize>) -> Result<(), ParseError> {
        let mut seen = SeenKeys::default();
        let mut siblings = self.hint.children(old, Kind::Object);
        if self.take(b'}') {
            return Ok(());
        }
        loop {
            let key = self.key()?;
            let end = (key.start + key.len) as usize;
            seen.note(&self.bytes[..end], key.len, key.flags);
            let written = &self.bytes[key.start as usize..][..key.len as usize];
            let counterpart = siblings.field(written);
            self.value(key, counterpart)?;
            if !self.goes_on(b'}')? {
                if seen.may_repeat() {
                    tape::shadow_repeated(&mut self.nodes[index + 1..], self.text);
                }
                return Ok(());
            }
        }
    }

    #[inline]
    fn key(&mut self) -> Result<ObjectKey, ParseError> {
        if self.bytes.get(self.at) != Some(&b'"') {
            return Err(self.unexpected());
        }
        let start = self.at + 1;
        let string = scan::string(self.bytes, self.at)?;
        self.at = string.end;
        self.skip_space();
        self.expect(b':')?;
        self.skip_space();
        Ok(ObjectKey {
            start: narrow(start),
            len: narrow(string.end - 1 - start),
            flags: match string.escapes {
                Escapes::None => 0,
                Escapes::Needed => KEY_ESCAPED,
                Escapes::Chosen => KEY_ESCAPED | KEY_RESPELT,
            },
        })
    }

    /// Parses the items of an array, up to and including its bracket.
    fn array(&mut self, old: Option<usize>) -> Result<(), ParseError> {
        let mut siblings = self.hint.children(old, Kind::Array);
        if self.take(b']') {
            return Ok(());
        }
        loop {
            let counterpart = siblings.item();
            self.value(ObjectKey::none(self.at), counterpart)?;
            if !self.goes_on(b']')? {
                return Ok(());
            }
        }
    }

    /// Whether another field or item follows. It moves past a comma, or past `close`.
    #[inline]
    fn goes_on(&mut self, close: u8) -> Result<bool, ParseError> {
        self.skip_space();
        let byte = self.bytes.get(self.at).copied();
        if byte != Some(b',') && byte != Some(close) {
            return Err(self.unexpected());
        }
        self.at += 1;
        let more = byte != Some(close);
        if more {
            self.skip_space();
        }
        Ok(more)
    }

    #[inline]
    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    #[inline]
    fn take(&mut self, byte: u8) -> bool {
        let found = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Result<(), ParseError> {
        if self.take(byte) {
            Ok(())
        } else {
            Err(self.unexpected())
        }
    }

    #[cold]
    #[inline(never)]
    fn unexpected(&self) -> ParseError {
        scan::unexpected(self.bytes, self.at)
    }
}
