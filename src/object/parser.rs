//! The JSON parser (RFC 8259): one pass over the text that records spans and decodes nothing.

use super::hint::Hint;
use super::scan;
use super::seen::Seen;
use super::tape::{ESCAPED, KEY_ESCAPED, Kind, MAX_DEPTH, Node, ParseError, SHADOWED, narrow};

/// Reads `text` into a tape. The tape is the same with any hint.
pub(super) fn parse(text: &str, hint: Hint<'_>) -> Result<Vec<Node>, ParseError> {
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
    parser.value(Key::none(parser.at), hint.root())?;
    parser.skip_space();
    if parser.at < text.len() {
        return Err(parser.unexpected());
    }
    Ok(parser.nodes)
}

/// A value of an object takes about this much text, key and punctuation included.
const BYTES_PER_NODE: usize = 24;

/// The key of the field that is being read.
#[derive(Clone, Copy)]
struct Key {
    start: u32,
    len: u32,
    flags: u8,
}

impl Key {
    /// An item of an array, or the root, has none. Its place keeps the offsets of a copied tape
    /// uniform.
    fn none(at: usize) -> Key {
        Key {
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
    nodes: Vec<Node>,
    hint: Hint<'a>,
}

impl Parser<'_> {
    /// Reads the value at the cursor; `old` is its counterpart on the hint's tape.
    fn value(&mut self, key: Key, old: Option<usize>) -> Result<(), ParseError> {
        if let Some(old) = old
            && let Some(nodes) = self.hint.standing(old, &self.bytes[self.at..])
        {
            self.paste(key, nodes);
            return Ok(());
        }
        let index = self.nodes.len();
        let start = self.at;
        let kind = self.bytes.get(start).copied().and_then(kind_of);
        let kind = kind.ok_or_else(|| self.unexpected())?;
        self.nodes.push(Node {
            start: narrow(start),
            end: 0,
            key: key.start,
            key_len: key.len,
            size: 1,
            kind,
            flags: key.flags,
        });
        let mut flags = 0;
        match kind {
            Kind::Object => self.nested(|parser| parser.object(index, old))?,
            Kind::Array => self.nested(|parser| parser.array(old))?,
            Kind::String => {
                let string = scan::string(self.bytes, start)?;
                self.at = string.end;
                flags = if string.escaped { ESCAPED } else { 0 };
            }
            Kind::Number => self.at = scan::number(self.bytes, start)?,
            Kind::Bool | Kind::Null => self.at = scan::literal(self.bytes, start)?,
        }
        let size = narrow(self.nodes.len() - index);
        let node = &mut self.nodes[index];
        node.end = narrow(self.at);
        node.size = size;
        node.flags |= flags;
        Ok(())
    }

    /// Takes over the tape of a counterpart whose bytes stand at the cursor. A counterpart stands at
    /// the same path, so it is nested as deeply and needs no check of its depth.
    fn paste(&mut self, key: Key, nodes: &[Node]) {
        let (from, to) = (nodes[0].start, narrow(self.at));
        let first = self.nodes.len();
        self.nodes.extend(nodes.iter().map(|node| Node {
            start: node.start - from + to,
            end: node.end - from + to,
            // The first one's key lies before `from`; it is set below.
            key: node.key.saturating_sub(from) + to,
            ..*node
        }));
        let pasted = &mut self.nodes[first];
        pasted.key = key.start;
        pasted.key_len = key.len;
        pasted.flags = (pasted.flags & ESCAPED) | key.flags;
        self.at = pasted.end as usize;
    }

    fn nested(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        if self.depth == MAX_DEPTH {
            return Err(ParseError::TooDeep { at: self.at });
        }
        self.depth += 1;
        self.at += 1;
        self.skip_space();
        read(self)?;
        self.depth -= 1;
        Ok(())
    }

    /// Reads the fields of the object at `index`, up to and with its brace.
    fn object(&mut self, index: usize, old: Option<usize>) -> Result<(), ParseError> {
        let mut count = 0;
        let mut seen = Seen::default();
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
            count += 1;
            self.skip_space();
            if self.take(b'}') {
                if seen.may_repeat() {
                    self.shadow_repeated(index, count);
                }
                return Ok(());
            }
            self.expect(b',')?;
            self.skip_space();
        }
    }

    /// Reads a key and its colon.
    fn key(&mut self) -> Result<Key, ParseError> {
        if self.bytes.get(self.at) != Some(&b'"') {
            return Err(self.unexpected());
        }
        let start = self.at + 1;
        let string = scan::string(self.bytes, self.at)?;
        self.at = string.end;
        self.skip_space();
        self.expect(b':')?;
        self.skip_space();
        Ok(Key {
            start: narrow(start),
            len: narrow(string.end - 1 - start),
            flags: if string.escaped { KEY_ESCAPED } else { 0 },
        })
    }

    /// Reads the items of an array, up to and with its bracket.
    fn array(&mut self, old: Option<usize>) -> Result<(), ParseError> {
        let mut siblings = self.hint.children(old, Kind::Array);
        if self.take(b']') {
            return Ok(());
        }
        loop {
            let counterpart = siblings.item();
            self.value(Key::none(self.at), counterpart)?;
            self.skip_space();
            if self.take(b']') {
                return Ok(());
            }
            self.expect(b',')?;
            self.skip_space();
        }
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), ParseError> {
        if self.take(byte) {
            Ok(())
        } else {
            Err(self.unexpected())
        }
    }

    fn unexpected(&self) -> ParseError {
        scan::unexpected(self.bytes, self.at)
    }

    /// Marks every field of the object at `index` that a later field of the same key replaces.
    fn shadow_repeated(&mut self, index: usize, count: usize) {
        if count > FEW {
            self.shadow_repeated_of_many(index, count);
            return;
        }
        let mut at = index + 1;
        while at < self.nodes.len() {
            if self.is_repeated_later(at) {
                self.nodes[at].flags |= SHADOWED;
            }
            at += self.nodes[at].size as usize;
        }
    }

    fn is_repeated_later(&self, field: usize) -> bool {
        let node = &self.nodes[field];
        let mut at = field + node.size as usize;
        while let Some(later) = self.nodes.get(at) {
            if node.has_key_of(later, self.text) {
                return true;
            }
            at += later.size as usize;
        }
        false
    }

    fn shadow_repeated_of_many(&mut self, index: usize, count: usize) {
        let mut fields = Vec::with_capacity(count);
        let mut at = index + 1;
        while let Some(node) = self.nodes.get(at) {
            fields.push((node.key_text(self.text), at));
            at += node.size as usize;
        }
        // In the order of the text among equal keys: all but the last of a run are replaced.
        fields.sort_unstable();
        for pair in fields.windows(2) {
            if pair[0].0 == pair[1].0 {
                self.nodes[pair[0].1].flags |= SHADOWED;
            }
        }
    }
}

/// What a value is that begins with this byte.
fn kind_of(first: u8) -> Option<Kind> {
    match first {
        b'"' => Some(Kind::String),
        b'{' => Some(Kind::Object),
        b'[' => Some(Kind::Array),
        b't' | b'f' => Some(Kind::Bool),
        b'n' => Some(Kind::Null),
        b'-' | b'0'..=b'9' => Some(Kind::Number),
        _ => None,
    }
}

/// Up to this many fields, comparing each with each is cheaper than sorting.
const FEW: usize = 16;
