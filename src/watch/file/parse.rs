//! Cuts texts into values: JSON values and YAML documents, in any encoding and between logs, at once or as they arrive.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;

use memchr::memmem;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::error::{Faults, FileError, foreign_bytes};
use super::objects::LineOf;
use super::yaml;

/// Takes the JSON text of a value, and a function from its offsets to lines of the file. The faults are those of the text.
type Taker<'a> = &'a mut dyn FnMut(&str, LineOf<'_>, &mut Faults);

/// Calls `take` with each JSON value or YAML document of a text that can be read, and returns the faults of the others.
pub(super) fn values(text: &str, take: Taker<'_>) -> Faults {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = &*without_logs(text);
    let mut faults = Faults::default();
    let is_json = is_json(text.as_bytes()).unwrap_or_else(|| text.contains('{'));
    // No JSON text has a line that starts with `---`, which separates documents.
    if is_json && memmem::find(text.as_bytes(), b"\n---").is_none() {
        json(text, take, &mut faults);
        return faults;
    }
    for document in yaml::documents(text) {
        match document {
            Ok((_, line, value)) => take(&value, &|_| line, &mut faults),
            Err(error) => faults.add_syntax(error, text),
        }
    }
    faults
}

/// Whether a text starts as JSON does: with a list, or with an object whose first key is quoted. `None` if it ends too soon to
/// tell. `{kind: Pod}` is YAML.
pub(super) fn is_json(text: &[u8]) -> Option<bool> {
    let mut seen = text.iter().filter(|byte| !byte.is_ascii_whitespace());
    match seen.next()? {
        b'[' => Some(true),
        b'{' => seen.next().map(|byte| !byte.is_ascii_alphabetic()),
        _ => Some(false),
    }
}

/// Reads JSON values that follow one another, with any white space between.
fn json(text: &str, take: Taker<'_>, faults: &mut Faults) {
    let lines = LineCounter::new(text);
    let (mut begin, mut number) = (0, 0);
    while let Some(rest) = text.get(begin..) {
        let first = lines.of(begin);
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        let error = loop {
            match values.next() {
                None => return,
                Some(Err(error)) => break error,
                Some(Ok(value)) => {
                    number += 1;
                    let start = begin + values.byte_offset() - value.get().len();
                    take(value.get(), &|at| lines.of(start + at), faults);
                }
            }
        };
        number += 1;
        let wrong = FileError::of_json(&error, first).in_document(number);
        faults.add_syntax(wrong, text);
        let start = begin + values.byte_offset();
        let value = &text[start..];
        if error.is_eof() {
            if let Some(whole) = items_before_cut(value) {
                take(&whole, &|at| lines.of(start + at), faults);
            }
            return;
        }
        begin = next_value(text, start, begin + start_of_line(rest, error.line()));
    }
}

/// Where the next value may begin after a broken one: in a line that starts with a brace or a bracket, at or after the error.
fn next_value(text: &str, broken: usize, error: usize) -> usize {
    let first = error.max(broken + 1).min(text.len());
    let is_start =
        |at: &usize| text.as_bytes()[..*at].ends_with(b"\n") && text[*at..].starts_with(['{', '[']);
    let places = memchr::memchr2_iter(b'{', b'[', &text.as_bytes()[first..]);
    let mut places = places.map(|at| first + at);
    places.find(is_start).unwrap_or(usize::MAX)
}

/// Where a line begins, counted from 1.
fn start_of_line(text: &str, line: usize) -> usize {
    let above = text.split_inclusive('\n').take(line.saturating_sub(1));
    above.map(str::len).sum()
}

/// Counts lines. A call costs the distance from the place of the last one: the items of a list come one after the other.
struct LineCounter<'a> {
    text: &'a str,
    /// The last place, and its line.
    last: Cell<(usize, usize)>,
}

impl<'a> LineCounter<'a> {
    fn new(text: &'a str) -> LineCounter<'a> {
        let last = Cell::new((0, 1));
        LineCounter { text, last }
    }

    fn of(&self, at: usize) -> usize {
        let (from, line) = self.last.get();
        let between = self.text.as_bytes().get(from.min(at)..from.max(at));
        let breaks = memchr::memchr_iter(b'\n', between.unwrap_or_default()).count();
        let line = if at < from {
            line - breaks
        } else {
            line + breaks
        };
        self.last.set((at, line));
        line
    }
}

/// The byte order marks of UTF-16.
const LITTLE_ENDIAN: &[u8] = &[0xff, 0xfe];
const BIG_ENDIAN: &[u8] = &[0xfe, 0xff];

/// Whether a file begins with a byte order mark of UTF-16, or may do so when it has more than one byte.
pub(super) fn may_be_utf16(bytes: &[u8]) -> bool {
    let is_of =
        |mark: &[u8]| bytes.starts_with(mark) || (!bytes.is_empty() && mark.starts_with(bytes));
    is_of(LITTLE_ENDIAN) || is_of(BIG_ENDIAN)
}

/// The text of a file. Fails if it is a binary file.
pub fn text_of(bytes: Vec<u8>) -> Result<String, FileError> {
    match foreign_bytes(&bytes) {
        // The words of kubectl.
        Some(foreign) => Err(
            FileError::no_object(1, "control characters are not allowed").of_foreign(Some(foreign)),
        ),
        None => Ok(decoded(bytes)),
    }
}

/// A text, decoded. Like kubectl, it replaces what is not valid in the encoding.
fn decoded(bytes: Vec<u8>) -> String {
    let unit: fn([u8; 2]) -> u16 = match &bytes[..] {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => {
            return String::from_utf8(bytes)
                .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        }
    };
    let (pairs, rest) = bytes[2..].as_chunks::<2>();
    let units = pairs.iter().map(|pair| unit(*pair));
    let letters =
        char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER));
    let half = (!rest.is_empty()).then_some(char::REPLACEMENT_CHARACTER);
    letters.chain(half).collect()
}

/// The list with its whole items alone; `None` if it has none. A place in it is the same place in the text.
fn items_before_cut(text: &str) -> Option<String> {
    let (end, closing) = last_item(text)?;
    Some(format!("{}{closing}", &text[..end]))
}

/// Where the last whole item of the list ends, and what closes the list.
fn last_item(text: &str) -> Option<(usize, &'static str)> {
    let (closing, depth) = match text.as_bytes().first()? {
        b'{' => ("]}", 2),
        b'[' => ("]", 1),
        _ => return None,
    };
    let mut open: Vec<u8> = Vec::new();
    let mut end = None;
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => skip_string(&mut bytes),
            b'{' | b'[' => open.push(byte),
            b'}' | b']' => {
                open.pop();
                if byte == b'}' && open.len() == depth && open.last() == Some(&b'[') {
                    end = Some((at + 1, closing));
                }
            }
            _ => {}
        }
    }
    // Another list may have begun, such as the owners in the metadata of the list.
    end.filter(|_| open.len() >= depth && open[depth - 1] == b'[')
}

fn skip_string(bytes: &mut impl Iterator<Item = (usize, u8)>) {
    while let Some((_, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return,
            _ => {}
        }
    }
}

/// The beginning of the line before a log of `kubectl cluster-info dump`. A log ends with the words of the same line after
/// `END`. Nothing separates these words from its last line.
const START: &str = "==== START logs for ";
/// The beginning of the words after it.
const END: &str = "==== END logs for ";

/// What a text begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogPart {
    /// Something else than a log.
    None,
    /// What may become a whole log when more of it arrives.
    Begun,
    /// A log of this many bytes.
    Whole(usize),
}

fn log_at_start(text: &[u8]) -> LogPart {
    let start = START.as_bytes();
    if !text.starts_with(start) {
        let is_begun = !text.is_empty() && start.starts_with(text);
        return if is_begun {
            LogPart::Begun
        } else {
            LogPart::None
        };
    }
    let Some(line) = memchr::memchr(b'\n', text) else {
        return LogPart::Begun;
    };
    let end = [END.as_bytes(), text[start.len()..line].trim_ascii_end()].concat();
    match memmem::find(&text[line..], &end) {
        Some(at) => LogPart::Whole(line + at + end.len()),
        None => LogPart::Begun,
    }
}

/// The text without its logs. Every line keeps its number. A log that is cut off ends with the text.
fn without_logs(text: &str) -> Cow<'_, str> {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = next_log(rest) {
        let (before, log) = rest.split_at(at);
        let length = match log_at_start(log.as_bytes()) {
            LogPart::Whole(length) => length,
            LogPart::Begun | LogPart::None => log.len(),
        };
        let (log, after) = log.split_at(length);
        kept.push_str(before);
        kept.extend(log.matches('\n'));
        rest = after;
    }
    if kept.is_empty() {
        return Cow::Borrowed(rest);
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// Where the line before the next log begins.
fn next_log(text: &str) -> Option<usize> {
    let mut found = memmem::find_iter(text.as_bytes(), START);
    found.find(|&at| at == 0 || text.as_bytes()[at - 1] == b'\n')
}

/// The bytes of a stream that have not been returned yet.
#[derive(Debug, Default)]
pub(super) struct ValueSplitter {
    bytes: Vec<u8>,
    /// Where the next value begins.
    start: usize,
    /// The line of the next value.
    pub(super) line: usize,
    /// How far the value has been scanned, and the state there.
    at: usize,
    depth: usize,
    inside: Inside,
    /// How many bytes of the value have been checked to be a prefix of JSON.
    checked: usize,
    /// Whether it looks for the next value after what could not be read.
    is_lost: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Inside {
    #[default]
    Value,
    Text,
    Escape,
}

impl ValueSplitter {
    pub(super) fn new() -> ValueSplitter {
        ValueSplitter {
            line: 1,
            ..ValueSplitter::default()
        }
    }

    /// Adds the bytes that arrived.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.start);
        self.at -= self.start;
        self.start = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// The next complete value, and its line; `None` until more arrives. Bytes that cannot become a value are an
    /// error as soon as that is certain. After an error the next value begins in a later line, with a brace or a bracket.
    pub(super) fn next(&mut self) -> Result<Option<(String, usize)>, FileError> {
        if self.is_lost && !self.find_start() {
            return Ok(None);
        }
        let read = self.next_value();
        if read.is_err() {
            (self.depth, self.inside, self.checked) = (0, Inside::Value, 0);
            self.find_start();
        }
        read
    }

    /// Goes to the next line that begins with a brace or a bracket. Without one, it drops all lines. Half a value may have the
    /// next one inside, so the search begins behind its first line, not where the error is.
    fn find_start(&mut self) -> bool {
        let is_start = |at: usize| at > self.start && self.bytes[at - 1] == b'\n';
        let places = memchr::memchr2_iter(b'{', b'[', &self.bytes[self.start..]);
        let found = places.map(|at| self.start + at).find(|at| is_start(*at));
        // The line break before the next line is kept, because that line has not arrived.
        let ends_line = usize::from(self.bytes.ends_with(b"\n"));
        let start = found
            .unwrap_or(self.bytes.len() - ends_line)
            .max(self.start);
        self.line += lines(&self.bytes[self.start..start]);
        (self.start, self.at) = (start, start);
        self.is_lost = found.is_none();
        found.is_some()
    }

    fn next_value(&mut self) -> Result<Option<(String, usize)>, FileError> {
        if !self.skip_space_and_logs() {
            return Ok(None);
        }
        match self.bytes.get(self.start) {
            None => return Ok(None),
            Some(b'{' | b'[') => {}
            Some(_) => return Err(self.refuse()),
        }
        let Some(value) = self.find_end() else {
            return self.wait();
        };
        let line = self.line;
        self.check(value.clone())?;
        let text = std::str::from_utf8(&self.bytes[value.clone()]);
        let text = text.map_err(|error| {
            let valid = &self.bytes[value.start..value.start + error.valid_up_to()];
            FileError::new(line + lines(valid), "not UTF-8")
        })?;
        let text = text.to_owned();
        self.line += lines(text.as_bytes());
        (self.start, self.checked) = (value.end, 0);
        Ok(Some((text, line)))
    }

    /// Whether an incomplete value is left.
    pub(super) fn is_partial(&self) -> bool {
        self.start < self.bytes.len() && !self.is_lost
    }

    /// The error of a stream that ends inside a value.
    pub(super) fn finish(&mut self) -> Result<(), FileError> {
        if self.is_partial() {
            self.check(self.start..self.bytes.len())?;
        }
        Ok(())
    }

    /// Skips what stands between two values. Returns whether the next value can begin.
    fn skip_space_and_logs(&mut self) -> bool {
        if self.depth > 0 {
            return true;
        }
        loop {
            while let Some(byte @ (b' ' | b'\t' | b'\r' | b'\n')) = self.bytes.get(self.start) {
                self.line += usize::from(*byte == b'\n');
                self.start += 1;
            }
            match log_at_start(&self.bytes[self.start..]) {
                LogPart::Whole(length) => {
                    self.line += lines(&self.bytes[self.start..self.start + length]);
                    self.start += length;
                }
                part => {
                    self.at = self.at.max(self.start);
                    return part == LogPart::None;
                }
            }
        }
    }

    /// The range of the value, if it is complete.
    fn find_end(&mut self) -> Option<Range<usize>> {
        while let Some(byte) = self.bytes.get(self.at) {
            self.at += 1;
            self.inside = match (self.inside, byte) {
                (Inside::Text, b'\\') => Inside::Escape,
                (Inside::Text, b'"') => Inside::Value,
                (Inside::Text | Inside::Escape, _) | (Inside::Value, b'"') => Inside::Text,
                (Inside::Value, b'{' | b'[') => {
                    self.depth += 1;
                    Inside::Value
                }
                (Inside::Value, b'}' | b']') => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(self.start..self.at);
                    }
                    Inside::Value
                }
                (Inside::Value, _) => Inside::Value,
            };
        }
        None
    }

    /// Waits for the rest of a value, unless the bytes so far are not JSON. This is checked each time their
    /// number has doubled, and when another value seems to begin.
    fn wait(&mut self) -> Result<Option<(String, usize)>, FileError> {
        let length = self.bytes.len() - self.start;
        if length > LONGEST_INPUT {
            let detail = format!("a value of more than {} MiB", LONGEST_INPUT >> 20);
            return Err(FileError::new(self.line, detail));
        }
        let unchecked = &self.bytes[self.start + self.checked.saturating_sub(1)..];
        let begins = |start: &[u8; 2]| memmem::find(unchecked, start).is_some();
        let is_short = length <= SHORT;
        if length >= 2 * self.checked || (is_short && [b"\n{", b"\n["].into_iter().any(begins)) {
            self.checked = length;
            let value = self.start..self.bytes.len();
            if let Err((error, is_end)) = self.read(value)
                && !is_end
            {
                return Err(error);
            }
        }
        Ok(None)
    }

    /// The error for a value that is neither an object nor a list.
    fn refuse(&self) -> FileError {
        let rest = &self.bytes[self.start..];
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<IgnoredAny>();
        match values.next() {
            Some(Err(error)) => FileError::of_json(&error, self.line),
            Some(Ok(_)) | None => FileError::new(self.line, "not an object"),
        }
    }

    fn check(&self, value: Range<usize>) -> Result<(), FileError> {
        self.read(value).map_err(|(error, _)| error)
    }

    /// The error of a text that is not a value, and whether the text only ends too soon.
    fn read(&self, value: Range<usize>) -> Result<(), (FileError, bool)> {
        let read = serde_json::from_slice::<IgnoredAny>(&self.bytes[value]);
        read.map(drop)
            .map_err(|error| (FileError::of_json(&error, self.line), error.is_eof()))
    }
}

fn lines(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

/// Half a value of at most this many bytes is checked whenever another one seems to begin.
const SHORT: usize = 1 << 20;

/// The most bytes of an input whose length is not known beforehand, and of one JSON value in it. Some have no end.
pub const LONGEST_INPUT: usize = 256 << 20;
