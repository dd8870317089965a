//! The tape behind [`Doc`](super::Doc): a JSON parser that records spans and decodes nothing.

use std::borrow::Cow;

use super::scan;

/// How deep values may nest. `serde_json` stops at 127; objects in etcd stay far below either.
pub(super) const MAX_DEPTH: usize = 512;

/// What sort of JSON value this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number, of any size and spelling.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// Why a text is not one JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The text ends inside a value.
    #[error("the JSON text ends too early, at byte {at}")]
    UnexpectedEnd {
        /// Offset in bytes.
        at: usize,
    },
    /// A byte that cannot stand here.
    #[error("invalid JSON at byte {at}")]
    UnexpectedByte {
        /// Offset in bytes.
        at: usize,
    },
    /// More than [`Doc::MAX_DEPTH`](super::Doc::MAX_DEPTH) levels of arrays and objects.
    #[error("JSON nested too deeply, at byte {at}")]
    TooDeep {
        /// Offset in bytes.
        at: usize,
    },
    /// The text is 4 GiB or longer.
    #[error("the JSON text is too long")]
    TooLong,
}

/// One value on the tape, in document order (a parent before its children).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    /// First byte of the value.
    pub(super) start: u32,
    /// One past its last byte.
    pub(super) end: u32,
    /// First byte of the key inside its quotes; the value's own start for items and the root.
    pub(super) key: u32,
    /// Length of the key in bytes, as written.
    pub(super) key_len: u32,
    /// How many nodes this value takes on the tape, itself included.
    pub(super) size: u32,
    /// What it is.
    pub(super) kind: Kind,
    /// [`ESCAPED`], [`KEY_ESCAPED`], [`SHADOWED`].
    pub(super) flags: u8,
}

/// The string holds a backslash: its text has to be decoded.
pub(super) const ESCAPED: u8 = 1;
/// The key holds a backslash.
pub(super) const KEY_ESCAPED: u8 = 2;
/// A later field of the same object has the same key: this one does not count.
pub(super) const SHADOWED: u8 = 4;

/// Reads `text` into a tape; `hint` is the text and tape of an earlier version.
pub(super) fn parse(text: &[u8], hint: Option<(&[u8], &[Node])>) -> Result<Vec<Node>, ParseError> {
    if u32::try_from(text.len()).is_err() {
        return Err(ParseError::TooLong);
    }
    let (old_text, old) = hint.unwrap_or((&[], &[]));
    let mut nodes = Vec::with_capacity(if old.is_empty() {
        text.len() / 24 + 4
    } else {
        old.len() + 8
    });
    let mut parser = Parser {
        text,
        at: 0,
        depth: 0,
        nodes: &mut nodes,
        old_text,
        old,
    };
    parser.skip_space();
    parser.value(Key::none(parser.at), (!old.is_empty()).then_some(0))?;
    parser.skip_space();
    if parser.at < text.len() {
        return Err(parser.unexpected());
    }
    Ok(nodes)
}

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

/// Offsets are u32: [`parse`] has checked the length of the text.
#[expect(
    clippy::cast_possible_truncation,
    reason = "parse() refuses texts of 4 GiB and more"
)]
fn narrow(offset: usize) -> u32 {
    offset as u32
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
    nodes: &'a mut Vec<Node>,
    old_text: &'a [u8],
    old: &'a [Node],
}

impl Parser<'_> {
    fn unexpected(&self) -> ParseError {
        scan::unexpected(self.text, self.at)
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.text.get(self.at) {
            self.at += 1;
        }
    }

    /// Reads the value at the cursor; `old` is its counterpart on the hint's tape.
    fn value(&mut self, key: Key, old: Option<usize>) -> Result<(), ParseError> {
        if let Some(old) = old
            && self.copy(key, old)
        {
            return Ok(());
        }
        let index = self.nodes.len();
        let start = self.at;
        let kind = match self.text.get(start) {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') => Kind::Null,
            Some(b'-' | b'0'..=b'9') => Kind::Number,
            _ => return Err(self.unexpected()),
        };
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
                let string = scan::string(self.text, start)?;
                self.at = string.end;
                flags = if string.escaped { ESCAPED } else { 0 };
            }
            Kind::Number => self.at = scan::number(self.text, start)?,
            Kind::Bool | Kind::Null => self.at = scan::literal(self.text, start)?,
        }
        let size = narrow(self.nodes.len() - index);
        let node = &mut self.nodes[index];
        node.end = narrow(self.at);
        node.size = size;
        node.flags |= flags;
        Ok(())
    }

    /// Copies the counterpart's nodes where its bytes stand unchanged at the cursor. A counterpart
    /// stands at the same path, so it is nested as deeply and needs no check of its depth.
    fn copy(&mut self, key: Key, old: usize) -> bool {
        let node = self.old[old];
        let raw = &self.old_text[node.start as usize..node.end as usize];
        let Some(rest) = self.text[self.at..].strip_prefix(raw) else {
            return false;
        };
        // `12` is a prefix of `123`: only the other kinds of values end by themselves.
        if node.kind == Kind::Number
            && let Some(b'0'..=b'9' | b'.' | b'e' | b'E') = rest.first()
        {
            return false;
        }
        let (from, to) = (node.start, narrow(self.at));
        let first = self.nodes.len();
        self.nodes.extend(
            self.old[old..old + node.size as usize]
                .iter()
                .map(|node| Node {
                    start: node.start - from + to,
                    end: node.end - from + to,
                    key: if node.key < from {
                        to
                    } else {
                        node.key - from + to
                    }, // the first one's key lies outside
                    ..*node
                }),
        );
        let copied = &mut self.nodes[first];
        copied.key = key.start;
        copied.key_len = key.len;
        copied.flags = (copied.flags & ESCAPED) | key.flags;
        self.at += raw.len();
        true
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
        let mut hint = Siblings::of(self.old, old, Kind::Object);
        if self.take(b'}') {
            return Ok(());
        }
        loop {
            let key = self.key()?;
            let written = &self.text[key.start as usize..][..key.len as usize];
            let counterpart = hint.field(written, self.old_text);
            self.value(key, counterpart)?;
            count += 1;
            self.skip_space();
            if self.take(b'}') {
                self.shadow_duplicates(index, count);
                return Ok(());
            }
            self.expect(b',')?;
            self.skip_space();
        }
    }

    /// Reads a key and its colon.
    fn key(&mut self) -> Result<Key, ParseError> {
        if self.text.get(self.at) != Some(&b'"') {
            return Err(self.unexpected());
        }
        let start = self.at + 1;
        let string = scan::string(self.text, self.at)?;
        self.at = string.end;
        self.skip_space();
        self.expect(b':')?;
        self.skip_space();
        let flags = if string.escaped { KEY_ESCAPED } else { 0 };
        Ok(Key {
            start: narrow(start),
            len: narrow(string.end - 1 - start),
            flags,
        })
    }

    /// Reads the items of an array, up to and with its bracket.
    fn array(&mut self, old: Option<usize>) -> Result<(), ParseError> {
        let mut hint = Siblings::of(self.old, old, Kind::Array);
        if self.take(b']') {
            return Ok(());
        }
        loop {
            let counterpart = hint.item();
            self.value(Key::none(self.at), counterpart)?;
            self.skip_space();
            if self.take(b']') {
                return Ok(());
            }
            self.expect(b',')?;
            self.skip_space();
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.text.get(self.at) == Some(&byte);
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

    /// Marks every field of the object at `index` that a later field of the same key replaces.
    fn shadow_duplicates(&mut self, index: usize, count: usize) {
        let mut fields = Vec::new();
        if count > FEW {
            fields.reserve(count);
        }
        let mut at = index + 1;
        while at < self.nodes.len() {
            if count > FEW {
                fields.push(at);
            } else if self.repeated_later(at) {
                self.nodes[at].flags |= SHADOWED;
            }
            at += self.nodes[at].size as usize;
        }
        // A stable sort keeps equal keys in document order, so all but the last of a run repeat.
        fields.sort_by_cached_key(|&field| key_text(self.text, &self.nodes[field]).into_owned());
        for pair in fields.windows(2) {
            if same_key(self.text, &self.nodes[pair[0]], &self.nodes[pair[1]]) {
                self.nodes[pair[0]].flags |= SHADOWED;
            }
        }
    }

    fn repeated_later(&self, field: usize) -> bool {
        let node = &self.nodes[field];
        let mut at = field + node.size as usize;
        while at < self.nodes.len() {
            if same_key(self.text, node, &self.nodes[at]) {
                return true;
            }
            at += self.nodes[at].size as usize;
        }
        false
    }
}

/// Up to this many fields, comparing each with each is cheaper than sorting.
const FEW: usize = 16;

/// The key of a field, decoded.
pub(super) fn key_text<'a>(text: &'a [u8], node: &Node) -> Cow<'a, str> {
    let raw = key_raw(text, node);
    let raw = std::str::from_utf8(raw).unwrap_or_default();
    if node.flags & KEY_ESCAPED == 0 {
        Cow::Borrowed(raw)
    } else {
        Cow::Owned(scan::unescape(raw))
    }
}

fn key_raw<'a>(text: &'a [u8], node: &Node) -> &'a [u8] {
    &text[node.key as usize..(node.key + node.key_len) as usize]
}

fn same_key(text: &[u8], a: &Node, b: &Node) -> bool {
    if (a.flags | b.flags) & KEY_ESCAPED == 0 {
        key_raw(text, a) == key_raw(text, b)
    } else {
        key_text(text, a) == key_text(text, b)
    }
}

/// Walks the children of the hint's counterpart beside the children that are being read.
struct Siblings<'a> {
    nodes: &'a [Node],
    next: usize,
    end: usize,
}

impl<'a> Siblings<'a> {
    /// How far ahead a field is looked for: fields come and go, but rarely many at once.
    const REACH: usize = 8;

    fn of(nodes: &'a [Node], parent: Option<usize>, kind: Kind) -> Self {
        match parent {
            Some(at) if nodes[at].kind == kind => Siblings {
                nodes,
                next: at + 1,
                end: at + nodes[at].size as usize,
            },
            _ => Siblings {
                nodes,
                next: 0,
                end: 0,
            },
        }
    }

    /// The next item.
    fn item(&mut self) -> Option<usize> {
        let at = (self.next < self.end).then_some(self.next)?;
        self.next = at + self.nodes[at].size as usize;
        Some(at)
    }

    /// The field whose key is written as `key`; what lies before it is passed over for good.
    fn field(&mut self, key: &[u8], old_text: &[u8]) -> Option<usize> {
        let mut at = self.next;
        for _ in 0..Self::REACH {
            if at >= self.end {
                return None;
            }
            let node = &self.nodes[at];
            let after = at + node.size as usize;
            if key_raw(old_text, node) == key {
                self.next = after;
                return Some(at);
            }
            at = after;
        }
        None
    }
}
