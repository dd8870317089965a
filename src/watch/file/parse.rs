//! Parses a text into its values, in order.

use std::cell::Cell;

use serde_json::value::RawValue;

use super::cut::items_before_cut;
use super::error::FileError;
use super::faults::Faults;
use super::logs::without_logs;
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
    if is_json && !has_documents(text) {
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

/// Whether a line separates documents. No JSON text has a line that starts with `---`.
fn has_documents(text: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), b"\n---").is_some()
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
