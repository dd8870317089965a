//! Reads a stream while it plays.

use std::io::{ErrorKind, Read};
use std::sync::Arc;

use super::LONGEST_INPUT;
use super::error::FileError;
use super::kept::Rest;
use super::log::FileLog;
use super::parse::{self, EntryOrder};
use super::split::ValueSplitter;

/// How many bytes to read at once.
const CHUNK: usize = 64 << 10;
/// UTF-8's byte order mark.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// Reads to the end, or until nobody wants more. JSON is passed on value by value. YAML is parsed when it is
/// complete.
pub(super) fn feed(mut input: Box<dyn Read + Send>, log: &Arc<FileLog>) {
    let mut reader = StreamReader::new();
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

/// The language of a stream, known from its first character.
enum StreamReader {
    Unknown {
        text: Vec<u8>,
        /// How many bytes at the start are known to be white space.
        blank: usize,
    },
    Json(Box<ValueSplitter>, EntryOrder),
    Yaml(Vec<u8>),
}

impl StreamReader {
    fn new() -> StreamReader {
        StreamReader::Unknown {
            text: Vec::new(),
            blank: 0,
        }
    }

    /// Adds the bytes that arrived. Returns whether to read more.
    fn take(&mut self, bytes: &[u8], log: &FileLog) -> Result<bool, FileError> {
        match self {
            StreamReader::Unknown { text, blank } => {
                append(text, bytes)?;
                let text = std::mem::take(text);
                *self = StreamReader::of(text, *blank);
                match self {
                    StreamReader::Json(splitter, order) => hand_on(splitter, order, log),
                    StreamReader::Unknown { .. } | StreamReader::Yaml(_) => Ok(true),
                }
            }
            StreamReader::Json(splitter, order) => {
                splitter.push(bytes);
                hand_on(splitter, order, log)
            }
            StreamReader::Yaml(text) => {
                append(text, bytes)?;
                Ok(true)
            }
        }
    }

    fn of(text: Vec<u8>, blank: usize) -> StreamReader {
        if MARK.starts_with(&text) {
            // The byte order mark may still be incomplete.
            return StreamReader::Unknown { text, blank: 0 };
        }
        let after_mark = text.strip_prefix(MARK).unwrap_or(&text);
        let mark = text.len() - after_mark.len();
        let mut unseen = text[blank.max(mark)..].iter();
        match unseen.find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'{' | b'[') => {
                let mut splitter = ValueSplitter::new();
                splitter.push(after_mark);
                StreamReader::Json(Box::new(splitter), EntryOrder::default())
            }
            None => StreamReader::Unknown {
                blank: text.len(),
                text,
            },
            Some(_) => StreamReader::Yaml(text),
        }
    }

    fn finish(self, log: &FileLog) -> Result<(), FileError> {
        match self {
            StreamReader::Json(mut splitter, order) => splitter.finish().and_then(|()| order.end()),
            StreamReader::Unknown { text, .. } | StreamReader::Yaml(text) => {
                let text = String::from_utf8(text).map_err(|error| {
                    let error = error.utf8_error();
                    FileError::new(1, error.to_string())
                })?;
                let (entries, end) = parse::entries(&text)?;
                log.write(entries, Rest::Partial);
                end
            }
        }
    }

    fn line(&self) -> usize {
        match self {
            StreamReader::Json(splitter, _) => splitter.line(),
            StreamReader::Unknown { .. } | StreamReader::Yaml(_) => 1,
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

/// Passes on every complete value.
fn hand_on(
    splitter: &mut ValueSplitter,
    order: &mut EntryOrder,
    log: &FileLog,
) -> Result<bool, FileError> {
    let mut read = Ok(());
    loop {
        match splitter.next() {
            Ok(None) => break,
            Ok(Some((text, line))) => read = order.value(&text, &line_in(&text, line)),
            Err(error) => read = Err(error),
        }
        if read.is_err() {
            break;
        }
    }
    // The values before an error are passed on first.
    let rest = if splitter.is_partial() {
        Rest::Partial
    } else {
        Rest::None
    };
    let wants_more = log.write(order.take(), rest);
    read.map(|()| wants_more)
}

/// Maps an offset in one of the stream's values to a line of the stream.
fn line_in(text: &str, line: usize) -> impl Fn(usize) -> usize {
    move |at| {
        let before = text.as_bytes().get(..at).unwrap_or_default();
        line + memchr::memchr_iter(b'\n', before).count()
    }
}
