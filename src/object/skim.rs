//! Scans a JSON text (RFC 8259) without a tape. It checks the skipped values, but does not keep them.

use super::scan;

/// Whether to continue with the next field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SkimNext {
    /// Continue to the end of the object.
    On,
    /// Stop here, in the middle of the object.
    Enough,
}

/// A position in a text. Every method returns `None` for invalid JSON.
pub(crate) struct Skim<'t> {
    text: &'t str,
    at: usize,
}

/// The deepest nesting of a skipped value.
const MAX_DEPTH: usize = 100;

impl<'t> Skim<'t> {
    /// Starts at the beginning of `text`.
    pub(crate) fn new(text: &'t str) -> Skim<'t> {
        Skim { text, at: 0 }
    }

    /// Skips white space.
    pub(crate) fn space(&mut self) {
        self.at = space(self.text.as_bytes(), self.at);
    }

    pub(crate) fn take(&mut self, byte: u8) -> Option<()> {
        (self.text.as_bytes().get(self.at) == Some(&byte)).then_some(())?;
        self.at += 1;
        Some(())
    }

    /// Skips white space, which must reach the end of the text.
    pub(crate) fn end(&mut self) -> Option<()> {
        self.space();
        (self.at == self.text.len()).then_some(())
    }

    pub(crate) fn value(&mut self) -> Option<()> {
        self.at = value(self.text.as_bytes(), self.at, 0)?;
        Some(())
    }

    /// Skips a string without escapes, and returns its text.
    pub(crate) fn plain_string(&mut self) -> Option<&'t str> {
        (self.text.as_bytes().get(self.at) == Some(&b'"')).then_some(())?;
        let start = self.at + 1;
        let token = scan::string(self.text.as_bytes(), self.at).ok()?;
        self.at = token.end;
        (token.escapes == scan::Escapes::None).then(|| &self.text[start..token.end - 1])
    }

    /// Skips an object. `read` is called at the value of each field, and must skip it or return `Enough`. Keys
    /// must have no escapes.
    pub(crate) fn fields(
        &mut self,
        mut read: impl FnMut(&mut Self, &'t str) -> Option<SkimNext>,
    ) -> Option<SkimNext> {
        self.take(b'{')?;
        self.space();
        if self.take(b'}').is_some() {
            return Some(SkimNext::On);
        }
        loop {
            let name = self.plain_string()?;
            self.space();
            self.take(b':')?;
            self.space();
            if read(self, name)? == SkimNext::Enough {
                return Some(SkimNext::Enough);
            }
            self.space();
            if self.take(b'}').is_some() {
                return Some(SkimNext::On);
            }
            self.take(b',')?;
            self.space();
        }
    }
}

fn space(text: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\t' | b'\r') = text.get(at) {
        at += 1;
    }
    at
}

/// The end of the value that starts at `at`.
fn value(text: &[u8], at: usize, depth: usize) -> Option<usize> {
    match text.get(at)? {
        b'"' => Some(scan::string(text, at).ok()?.end),
        b'{' => object(text, at + 1, depth + 1),
        b'[' => array(text, at + 1, depth + 1),
        b't' | b'f' | b'n' => scan::literal(text, at).ok(),
        b'-' | b'0'..=b'9' => scan::number(text, at).ok(),
        _ => None,
    }
}

fn object(text: &[u8], at: usize, depth: usize) -> Option<usize> {
    let mut at = space(text, at);
    if text.get(at)? == &b'}' {
        return Some(at + 1);
    }
    if depth > MAX_DEPTH {
        return None;
    }
    loop {
        if text.get(at)? != &b'"' {
            return None;
        }
        at = space(text, scan::string(text, at).ok()?.end);
        if text.get(at)? != &b':' {
            return None;
        }
        at = space(text, value(text, space(text, at + 1), depth)?);
        match text.get(at)? {
            b',' => at = space(text, at + 1),
            b'}' => return Some(at + 1),
            _ => return None,
        }
    }
}

fn array(text: &[u8], at: usize, depth: usize) -> Option<usize> {
    let mut at = space(text, at);
    if text.get(at)? == &b']' {
        return Some(at + 1);
    }
    if depth > MAX_DEPTH {
        return None;
    }
    loop {
        at = space(text, value(text, at, depth)?);
        match text.get(at)? {
            b',' => at = space(text, at + 1),
            b']' => return Some(at + 1),
            _ => return None,
        }
    }
}
