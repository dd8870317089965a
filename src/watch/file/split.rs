//! Splits a stream of JSON values into its values as they arrive.

use std::ops::Range;

use serde::de::IgnoredAny;

use super::LONGEST_INPUT;
use super::error::FileError;
use super::logs::{LogPart, log_at_start};

/// The bytes of a stream that have not been returned yet.
#[derive(Debug, Default)]
pub(super) struct ValueSplitter {
    bytes: Vec<u8>,
    /// Where the next value begins, and its line.
    start: usize,
    line: usize,
    /// How far the value has been scanned, and the state there.
    at: usize,
    depth: usize,
    inside: Inside,
    /// How many bytes of the value have been checked to be a prefix of JSON.
    checked: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Inside {
    #[default]
    Value,
    Text,
    Escape,
}

impl ValueSplitter {
    /// Creates a splitter for a new stream.
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
    /// error as soon as that is certain.
    pub(super) fn next(&mut self) -> Result<Option<(String, usize)>, FileError> {
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
        self.start < self.bytes.len()
    }

    /// The line of the next value.
    pub(super) fn line(&self) -> usize {
        self.line
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
    /// number has doubled.
    fn wait(&mut self) -> Result<Option<(String, usize)>, FileError> {
        let length = self.bytes.len() - self.start;
        if length > LONGEST_INPUT {
            let detail = format!("a value of more than {} MiB", LONGEST_INPUT >> 20);
            return Err(FileError::new(self.line, detail));
        }
        if length >= 2 * self.checked {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The values of a text that arrives in pieces of this size, and its final error.
    fn split(text: &[u8], size: usize) -> (Vec<(String, usize)>, Option<String>) {
        let mut splitter = ValueSplitter::new();
        let mut values = Vec::new();
        for piece in text.chunks(size) {
            splitter.push(piece);
            loop {
                match splitter.next() {
                    Ok(Some(value)) => values.push(value),
                    Ok(None) => break,
                    Err(error) => return (values, Some(error.to_string())),
                }
            }
        }
        let error = splitter.finish().err();
        (values, error.map(|error| error.to_string()))
    }

    #[test]
    fn values_have_their_lines() {
        let text = "\n{\"a\": \"}\\\"{\",\n\"b\":[{}]}[1]\n\n {} ";
        for size in 1..text.len() {
            let (values, error) = split(text.as_bytes(), size);
            let expect = [
                ("{\"a\": \"}\\\"{\",\n\"b\":[{}]}".to_owned(), 2),
                ("[1]".to_owned(), 3),
                ("{}".to_owned(), 5),
            ];
            assert_eq!((values, error), (expect.into(), None), "{size}");
        }
    }

    #[test]
    fn invalid_json_fails_as_soon_as_possible() {
        for (text, error) in [
            ("{}\nx", "line 2: expected value at line 2 column 1"),
            ("{}\n\n1 ", "line 3: not an object"),
            ("{}\n}", "line 2: expected value at line 2 column 1"),
            ("{\n\"a\": }", "line 2: expected value at line 2 column 6"),
            ("{\"a\":[}", "line 1: expected value at line 1 column 7"),
            // A brace is missing. The next value reveals that, not the end.
            (
                "{\"a\":{\"b\":1}\n{\"a\":{\"b\":2}}\n{\"a\"",
                "line 2: expected `,` or `}` at line 2 column 1",
            ),
            (
                "{}\n{\"a\":\n1",
                "line 3: EOF while parsing an object at line 3 column 1",
            ),
        ] {
            let (_, found) = split(text.as_bytes(), text.len());
            assert_eq!(found.as_deref(), Some(error), "{text}");
        }
        let (values, found) = split(b"{}\n{\"a\":\n\"\xff\"}", 100);
        assert_eq!(
            (values.len(), found.as_deref()),
            (1, Some("line 3: not UTF-8"))
        );
    }

    proptest! {
        #[test]
        fn the_size_of_the_pieces_does_not_matter(text in r#"([{}\[\]",:\\ \n1ae]|\{"a":[0-9]\}|\[\])*"#, size in 1_usize..9) {
            let (whole, error) = split(text.as_bytes(), text.len().max(1));
            let (pieces, other) = split(text.as_bytes(), size);
            prop_assert_eq!(whole, pieces);
            prop_assert_eq!(error.is_some(), other.is_some());
        }
    }
}
