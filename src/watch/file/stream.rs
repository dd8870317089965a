//! Reads a stream while it is played.

use std::io::{ErrorKind, Read};
use std::sync::Arc;

use super::kept::Rest;
use super::log::Log;
use super::parse::{self, FileError, Order};
use super::split::Splitter;

/// How much is read at once, in bytes.
const CHUNK: usize = 64 << 10;
/// UTF-8's byte order mark.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// Reads to the end, or until nobody wants more. JSON is handed on value by value; YAML has to be there as a
/// whole.
pub(super) fn feed(mut input: Box<dyn Read + Send>, log: &Arc<Log>) {
    let mut reader = Reader::new();
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

/// What is being read, once its first character has told.
enum Reader {
    Unknown(Vec<u8>),
    Json(Splitter, Order),
    Yaml(Vec<u8>),
}

impl Reader {
    fn new() -> Reader {
        Reader::Unknown(Vec::new())
    }

    /// Takes in what came; says whether more is wanted.
    fn take(&mut self, bytes: &[u8], log: &Log) -> Result<bool, FileError> {
        match self {
            Reader::Unknown(text) => {
                text.extend_from_slice(bytes);
                let text = std::mem::take(text);
                *self = Reader::of(text);
                match self {
                    Reader::Json(splitter, order) => hand_on(splitter, order, log),
                    Reader::Unknown(_) | Reader::Yaml(_) => Ok(true),
                }
            }
            Reader::Json(splitter, order) => {
                splitter.push(bytes);
                hand_on(splitter, order, log)
            }
            Reader::Yaml(text) => {
                text.extend_from_slice(bytes);
                Ok(true)
            }
        }
    }

    fn of(text: Vec<u8>) -> Reader {
        let after_mark = text.strip_prefix(MARK).unwrap_or(&text);
        match after_mark.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'{' | b'[') => {
                let mut splitter = Splitter::new();
                splitter.push(after_mark);
                Reader::Json(splitter, Order::default())
            }
            // The mark may not be whole yet.
            None => Reader::Unknown(text),
            Some(_) if MARK.starts_with(&text) => Reader::Unknown(text),
            Some(_) => Reader::Yaml(text),
        }
    }

    fn finish(self, log: &Log) -> Result<(), FileError> {
        match self {
            Reader::Json(mut splitter, _) => splitter.finish(),
            Reader::Unknown(text) | Reader::Yaml(text) => {
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
            Reader::Json(splitter, _) => splitter.line(),
            Reader::Unknown(_) | Reader::Yaml(_) => 1,
        }
    }
}

/// Hands on every value that is whole.
fn hand_on(splitter: &mut Splitter, order: &mut Order, log: &Log) -> Result<bool, FileError> {
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
    // What came before an error is told before it.
    let rest = if splitter.is_partial() {
        Rest::Partial
    } else {
        Rest::None
    };
    let wants_more = log.write(order.take(), rest);
    read.map(|()| wants_more)
}

/// In which line of the stream a place in one of its values is.
fn line_in(text: &str, line: usize) -> impl Fn(usize) -> usize {
    move |at| {
        let before = text.as_bytes().get(..at).unwrap_or_default();
        line + memchr::memchr_iter(b'\n', before).count()
    }
}
