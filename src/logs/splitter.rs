//! `LogSplitter`: takes the chunks of an answer and returns its lines. Each byte of a line is kept.

use bytes::{Buf, Bytes, BytesMut};
use memchr::memchr;

/// Splits at line feeds, and at nothing else: a line may be empty, of any length, and hold any other byte.
#[derive(Debug, Default)]
pub struct LogSplitter {
    chunk: Bytes,
    /// The start of a line that is not complete yet.
    begun: BytesMut,
}

impl LogSplitter {
    /// Adds a chunk. [`LogSplitter::line`] must have returned every line before.
    pub fn feed(&mut self, chunk: Bytes) {
        debug_assert!(self.chunk.is_empty(), "the last chunk is used up");
        self.chunk = chunk;
    }

    /// The next complete line, without its line feed.
    pub fn line(&mut self) -> Option<Bytes> {
        let Some(end) = memchr(b'\n', &self.chunk) else {
            self.begun.extend_from_slice(&self.chunk);
            self.chunk.clear();
            return None;
        };
        let line = self.chunk.split_to(end);
        self.chunk.advance(1);
        if self.begun.is_empty() {
            return Some(line);
        }
        self.begun.extend_from_slice(&line);
        Some(self.begun.split().freeze())
    }

    /// What follows the last line feed, at the end of the answer. Empty if nothing does.
    pub fn rest(self) -> Bytes {
        self.begun.freeze()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(chunks: &[&[u8]]) -> (Vec<Bytes>, Bytes) {
        let mut splitter = LogSplitter::default();
        let mut lines = Vec::new();
        for chunk in chunks {
            splitter.feed(Bytes::copy_from_slice(chunk));
            lines.extend(std::iter::from_fn(|| splitter.line()));
        }
        (lines, splitter.rest())
    }

    #[test]
    fn lines_keep_everything_but_their_line_feed() {
        let (lines, rest) = split(&[b"a\r\n\n\n b\0\xff", b"c\n", b"", b"half"]);
        assert_eq!(lines, [&b"a\r"[..], b"", b"", b" b\0\xffc"]);
        assert_eq!(rest, &b"half"[..]);
        let long = vec![b'x'; 3 << 20];
        let (lines, rest) = split(&[&long, &long, b"\n"]);
        assert_eq!((lines[0].len(), rest.len()), (6 << 20, 0));
    }

    proptest! {
        #[test]
        fn the_chunks_do_not_matter(text in prop::collection::vec(prop::sample::select(b"a\n\r\0\xff".to_vec()), 0..60), size in 1_usize..8) {
            let chunks: Vec<&[u8]> = text.chunks(size).collect();
            let (mut lines, rest) = split(&chunks);
            lines.push(rest);
            let joined: Vec<u8> = lines.join(&b'\n');
            prop_assert_eq!(joined, text);
        }
    }
}
