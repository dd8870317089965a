//! Splits the body of a watch into lines.

use bytes::{Buf, Bytes, BytesMut};
use futures::stream;
use memchr::memchr;

use super::super::{LineStream, SourceError};
use super::source_error;
use crate::cluster::Answer;

/// The most bytes of one line. etcd stores no object above 1.5 MiB.
const LONGEST: usize = 16 << 20;

/// The lines of a response.
pub(super) fn lines(answer: Answer) -> LineStream {
    let start = Some((answer, LineSplitter::default()));
    Box::pin(stream::unfold(start, |state| async move {
        let (mut answer, mut splitter) = state?;
        loop {
            match splitter.line() {
                Ok(Some(line)) => return Some((Ok(line), Some((answer, splitter)))),
                Ok(None) => {}
                Err(error) => return Some((Err(error), None)),
            }
            match answer.chunk().await {
                Ok(Some(chunk)) => splitter.feed(chunk),
                Ok(None) => return splitter.end().map(|error| (Err(error), None)),
                Err(error) => return Some((Err(source_error(error)), None)),
            }
        }
    }))
}

/// Takes chunks and returns lines. A line inside one chunk is not copied.
#[derive(Default)]
struct LineSplitter {
    chunk: Bytes,
    /// The start of a line that is not complete yet.
    begun: BytesMut,
}

impl LineSplitter {
    /// Adds a chunk. [`LineSplitter::line`] must have returned everything before.
    fn feed(&mut self, chunk: Bytes) {
        debug_assert!(self.chunk.is_empty(), "the last chunk is used up");
        self.chunk = chunk;
    }

    /// The next complete line that is not blank, without its line end.
    fn line(&mut self) -> Result<Option<Bytes>, SourceError> {
        while let Some(end) = memchr(b'\n', &self.chunk) {
            self.check_length(end)?;
            let mut line = self.chunk.split_to(end);
            self.chunk.advance(1);
            if !self.begun.is_empty() {
                self.begun.extend_from_slice(&line);
                line = self.begun.split().freeze();
            }
            if line.last() == Some(&b'\r') {
                line.truncate(line.len() - 1);
            }
            if !line.trim_ascii().is_empty() {
                return Ok(Some(line));
            }
        }
        self.check_length(self.chunk.len())?;
        self.begun.extend_from_slice(&self.chunk);
        self.chunk.clear();
        Ok(None)
    }

    fn check_length(&self, more: usize) -> Result<(), SourceError> {
        if self.begun.len() + more <= LONGEST {
            return Ok(());
        }
        let detail = format!("a watch line is longer than {} MiB", LONGEST >> 20);
        Err(SourceError::Decode {
            detail: detail.into(),
        })
    }

    /// The error if the body ends here.
    fn end(&self) -> Option<SourceError> {
        if self.begun.trim_ascii().is_empty() {
            return None;
        }
        Some(SourceError::Cut {
            detail: "the watch ended within a line".into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(chunks: &[&[u8]]) -> (Vec<Vec<u8>>, Option<SourceError>) {
        let mut splitter = LineSplitter::default();
        let mut lines = Vec::new();
        for chunk in chunks {
            splitter.feed(Bytes::copy_from_slice(chunk));
            loop {
                match splitter.line() {
                    Ok(Some(line)) => lines.push(line.to_vec()),
                    Ok(None) => break,
                    Err(error) => return (lines, Some(error)),
                }
            }
        }
        (lines, splitter.end())
    }

    #[test]
    fn line_ends_and_blank_lines_are_dropped() {
        let (lines, error) = split(&[b"a\r\nb\n\n \r\n", b"c", b"d\n"]);
        assert_eq!(lines, [b"a".to_vec(), b"b".to_vec(), b"cd".to_vec()]);
        assert_eq!(error, None);
    }

    #[test]
    fn an_incomplete_last_line_is_a_cut() {
        let (lines, error) = split(&[b"a\nb"]);
        assert_eq!(lines, [b"a".to_vec()]);
        assert!(matches!(error, Some(SourceError::Cut { .. })), "{error:?}");
    }

    #[test]
    fn a_line_above_16_mib_is_refused_early() {
        let mebibyte = vec![b'x'; 1 << 20];
        let mut chunks = vec![&mebibyte[..]; 16];
        chunks.push(b"\n");
        assert_eq!(split(&chunks).0.len(), 1);
        chunks.insert(0, b"x");
        let (lines, error) = split(&chunks);
        assert!(lines.is_empty());
        assert_eq!(
            error.expect("refused").to_string(),
            "a watch line is longer than 16 MiB"
        );
    }

    proptest! {
        #[test]
        fn chunk_borders_do_not_matter(text in "[ab\r\n]{0,40}", cuts in prop::collection::vec(0_usize..40, 0..6)) {
            let whole = split(&[text.as_bytes()]);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.sort_unstable();
            let mut chunks = Vec::new();
            let mut from = 0;
            for cut in cuts.into_iter().chain([text.len()]) {
                chunks.push(&text.as_bytes()[from..cut]);
                from = cut;
            }
            prop_assert_eq!(split(&chunks), whole);
        }
    }
}
