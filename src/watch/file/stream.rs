//! Reads a stream while it plays.

use std::io::{ErrorKind, Read};
use std::sync::Arc;

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
    Unknown(Vec<u8>),
    Json(ValueSplitter, EntryOrder),
    Yaml(Vec<u8>),
}

impl StreamReader {
    fn new() -> StreamReader {
        StreamReader::Unknown(Vec::new())
    }

    /// Adds the bytes that arrived. Returns whether to read more.
    fn take(&mut self, bytes: &[u8], log: &FileLog) -> Result<bool, FileError> {
        match self {
            StreamReader::Unknown(text) => {
                text.extend_from_slice(bytes);
                let text = std::mem::take(text);
                *self = StreamReader::of(text);
                match self {
                    StreamReader::Json(splitter, order) => hand_on(splitter, order, log),
                    StreamReader::Unknown(_) | StreamReader::Yaml(_) => Ok(true),
                }
            }
            StreamReader::Json(splitter, order) => {
                splitter.push(bytes);
                hand_on(splitter, order, log)
            }
            StreamReader::Yaml(text) => {
                text.extend_from_slice(bytes);
                Ok(true)
            }
        }
    }

    fn of(text: Vec<u8>) -> StreamReader {
        let after_mark = text.strip_prefix(MARK).unwrap_or(&text);
        match after_mark.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'{' | b'[') => {
                let mut splitter = ValueSplitter::new();
                splitter.push(after_mark);
                StreamReader::Json(splitter, EntryOrder::default())
            }
            // The byte order mark may still be incomplete.
            None => StreamReader::Unknown(text),
            Some(_) if MARK.starts_with(&text) => StreamReader::Unknown(text),
            Some(_) => StreamReader::Yaml(text),
        }
    }

    fn finish(self, log: &FileLog) -> Result<(), FileError> {
        match self {
            StreamReader::Json(mut splitter, _) => splitter.finish(),
            StreamReader::Unknown(text) | StreamReader::Yaml(text) => {
                let text = String::from_utf8(text).map_err(|error| {
                    let error = error.utf8_error();
                    FileError::new(1, error.to_string())
                })?;
                log.write(parse::entries(&text)?, Rest::Partial);
                Ok(())
            }
        }
    }

    fn line(&self) -> usize {
        match self {
            StreamReader::Json(splitter, _) => splitter.line(),
            StreamReader::Unknown(_) | StreamReader::Yaml(_) => 1,
        }
    }
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
