//! Reads the objects of a stream as they arrive, on a thread of its own.

use std::io::{ErrorKind, Read};
use std::sync::Arc;

use super::error::{Faults, FileError};
use super::log::{FileLog, Rest};
use super::parse::{LONGEST_INPUT, ValueSplitter, is_json, may_be_utf16, text_of};
use super::reader::FileReader;

/// How many bytes to read at once.
const CHUNK: usize = 64 << 10;

/// UTF-8's byte order mark.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// Reads to the end, or until nobody wants more. JSON is passed on value by value. YAML is parsed when it is
/// complete.
pub(super) fn feed(name: &str, mut input: Box<dyn Read + Send>, log: &Arc<FileLog>) {
    let mut reader = StreamReader::new(name);
    let mut chunk = vec![0; CHUNK];
    let end = loop {
        match input.read(&mut chunk) {
            Ok(0) => break reader.finish(log),
            Ok(read) => match reader.take(&chunk[..read], log) {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => break Err(error),
            },
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => break Err(FileError::new(reader.line(), error.to_string())),
        }
    };
    log.end(end);
}

struct StreamReader {
    order: FileReader,
    text: StreamText,
    /// Whether the last value could not be read. What follows it belongs to the same fault, up to the next object.
    is_bad: bool,
}

/// The text of a stream, whose language is known from its first character.
enum StreamText {
    Unknown {
        text: Vec<u8>,
        /// How many bytes at the start are known to be white space.
        blank: usize,
    },
    Json(Box<ValueSplitter>),
    /// YAML, or a text in UTF-16: it is read to its end first.
    Whole(Vec<u8>),
}

impl StreamReader {
    fn new(name: &str) -> StreamReader {
        StreamReader {
            order: FileReader::of(name),
            text: StreamText::of(Vec::new(), 0),
            is_bad: false,
        }
    }

    /// Adds the bytes that arrived. Returns whether to read more.
    fn take(&mut self, bytes: &[u8], log: &FileLog) -> Result<bool, FileError> {
        match &mut self.text {
            StreamText::Unknown { text, blank } => {
                append(text, bytes)?;
                self.text = StreamText::of(std::mem::take(text), *blank);
            }
            StreamText::Json(splitter) => splitter.push(bytes),
            StreamText::Whole(text) => append(text, bytes)?,
        }
        match &mut self.text {
            StreamText::Json(splitter) => hand_on(splitter, &mut self.order, &mut self.is_bad, log),
            StreamText::Unknown { .. } | StreamText::Whole(_) => Ok(true),
        }
    }

    fn finish(mut self, log: &FileLog) -> Result<(), FileError> {
        match self.text {
            StreamText::Json(_) if self.is_bad => {}
            StreamText::Json(mut splitter) => splitter.finish()?,
            StreamText::Unknown { text, .. } | StreamText::Whole(text) => {
                let faults = self.order.text(&text_of(text)?);
                log.write(self.order.take(), Rest::Partial);
                faults.into_result()?;
            }
        }
        self.order.end()
    }

    fn line(&self) -> usize {
        match &self.text {
            StreamText::Json(splitter) => splitter.line,
            StreamText::Unknown { .. } | StreamText::Whole(_) => 1,
        }
    }
}

impl StreamText {
    fn of(text: Vec<u8>, blank: usize) -> StreamText {
        if MARK.starts_with(&text) {
            // The byte order mark may still be incomplete.
            return StreamText::Unknown { text, blank: 0 };
        }
        if may_be_utf16(&text) {
            return StreamText::Whole(text);
        }
        let after_mark = text.strip_prefix(MARK).unwrap_or(&text);
        let mark = text.len() - after_mark.len();
        let unseen = &text[blank.max(mark)..];
        // What comes after a brace shows the language, unless it comes late.
        let is_late = unseen.len() > CHUNK && unseen.contains(&b'{');
        match is_json(unseen).or(is_late.then_some(true)) {
            Some(true) => {
                let mut splitter = ValueSplitter::new();
                splitter.push(after_mark);
                StreamText::Json(Box::new(splitter))
            }
            Some(false) => StreamText::Whole(text),
            None => {
                let blanks = unseen.iter().take_while(|byte| byte.is_ascii_whitespace());
                StreamText::Unknown {
                    blank: text.len() - unseen.len() + blanks.count(),
                    text,
                }
            }
        }
    }
}

/// Adds bytes to a text that can be parsed only as a whole.
fn append(text: &mut Vec<u8>, bytes: &[u8]) -> Result<(), FileError> {
    if text.len() + bytes.len() > LONGEST_INPUT {
        let detail = format!(
            "more than {} MiB without an end; save it to a file, and pass the name of the file",
            LONGEST_INPUT >> 20
        );
        return Err(FileError::new(1, detail));
    }
    text.extend_from_slice(bytes);
    Ok(())
}

/// Passes on every complete value, and the first fault of each stretch that cannot be read. A stream that begins with a fault
/// is no stream of objects, so it fails.
fn hand_on(
    splitter: &mut ValueSplitter,
    order: &mut FileReader,
    is_bad: &mut bool,
    log: &FileLog,
) -> Result<bool, FileError> {
    loop {
        let read = match splitter.next() {
            Ok(None) => break,
            Ok(Some((text, line))) => {
                let mut faults = Faults::default();
                // Offsets in the value become lines of the stream.
                let line_of = |at| {
                    let before = text.as_bytes().get(..at).unwrap_or_default();
                    line + memchr::memchr_iter(b'\n', before).count()
                };
                order.value(&text, &line_of, &mut faults);
                faults.into_result()
            }
            Err(error) => Err(error),
        };
        let was_bad = std::mem::replace(is_bad, read.is_err());
        if let Err(fault) = read {
            // The values before a fault are passed on first.
            log.write(order.take(), Rest::Partial);
            if !log.has_objects() {
                return Err(fault);
            }
            if !was_bad {
                log.add_fault(fault);
            }
        }
    }
    let rest = if splitter.is_partial() {
        Rest::Partial
    } else {
        Rest::None
    };
    Ok(log.write(order.take(), rest))
}
