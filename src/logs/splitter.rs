//! `LogSplitter`: takes the chunks of an answer and returns its lines. Each byte of a line is kept.

use bytes::{Buf, Bytes, BytesMut};
use memchr::memchr;

/// The most bytes of a line that are held: 1 MiB of text, and the time before it.
const LONGEST_PART: usize = (1 << 20) + 64;

/// Splits at line feeds, and at nothing else: a line may be empty, of any length, and hold any other byte.
///
/// A line of more than 1 MiB is returned in parts, so that one without an end takes no more memory. The chunks do not
/// matter: all parts but the last have the same length.
#[derive(Debug, Default)]
pub struct LogSplitter {
    chunk: Bytes,
    /// The start of a part that is not complete yet.
    begun: BytesMut,
}

/// A line, or a part of one that is too long to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinePart {
    /// Its bytes, without a line feed.
    pub bytes: Bytes,
    /// Whether its line ends with it.
    pub is_last: bool,
}

impl LinePart {
    /// The last part of a line, or all of it.
    pub fn last(bytes: impl Into<Bytes>) -> LinePart {
        LinePart {
            bytes: bytes.into(),
            is_last: true,
        }
    }
}

impl LogSplitter {
    /// Adds a chunk. [`LogSplitter::part`] must have returned every part before.
    pub fn feed(&mut self, chunk: Bytes) {
        debug_assert!(self.chunk.is_empty(), "the last chunk is used up");
        self.chunk = chunk;
    }

    /// The next line, or the next part of one.
    pub fn part(&mut self) -> Option<LinePart> {
        let end = memchr(b'\n', &self.chunk);
        let room = LONGEST_PART - self.begun.len();
        if end.unwrap_or(self.chunk.len()) > room {
            let bytes = self.chunk.split_to(room);
            return Some(LinePart {
                bytes: self.completed(bytes),
                is_last: false,
            });
        }
        let Some(end) = end else {
            self.begun.extend_from_slice(&self.chunk);
            self.chunk.clear();
            return None;
        };
        let bytes = self.chunk.split_to(end);
        self.chunk.advance(1);
        Some(LinePart::last(self.completed(bytes)))
    }

    /// The start of the part with these bytes behind it.
    fn completed(&mut self, bytes: Bytes) -> Bytes {
        if self.begun.is_empty() {
            return bytes;
        }
        self.begun.extend_from_slice(&bytes);
        self.begun.split().freeze()
    }

    /// What follows the last line feed, or the last part of a line, at the end of the answer. Empty if nothing does.
    pub fn rest(self) -> Bytes {
        self.begun.freeze()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(chunks: &[&[u8]]) -> (Vec<LinePart>, Bytes) {
        let mut splitter = LogSplitter::default();
        let mut parts = Vec::new();
        for chunk in chunks {
            splitter.feed(Bytes::copy_from_slice(chunk));
            parts.extend(std::iter::from_fn(|| splitter.part()));
        }
        (parts, splitter.rest())
    }

    #[test]
    fn lines_keep_everything_but_their_line_feed() {
        let (parts, rest) = split(&[b"a\r\n\n\n b\0\xff", b"c\n", b"", b"half"]);
        let lines = [&b"a\r"[..], b"", b"", b" b\0\xffc"];
        assert_eq!(parts, lines.map(LinePart::last));
        assert_eq!(rest, &b"half"[..]);
    }

    /// The lengths of the parts of a line of this length, and whether each is the last. Then those of the line after it.
    fn parts_of(length: usize, chunk: usize) -> Vec<(usize, bool)> {
        let text = [&vec![b'x'; length][..], b"\nnext\n"].concat();
        let (parts, rest) = split(&text.chunks(chunk).collect::<Vec<_>>());
        assert_eq!(rest.len(), 0);
        let parts = parts.iter().map(|part| (part.bytes.len(), part.is_last));
        parts.collect()
    }

    #[test]
    fn a_long_line_comes_in_parts_of_one_length() {
        const LONG: usize = LONGEST_PART;
        for (length, expect) in [
            (LONG - 1, &[(LONG - 1, true)][..]),
            (LONG, &[(LONG, true)]),
            (LONG + 1, &[(LONG, false), (1, true)]),
            (2 * LONG, &[(LONG, false), (LONG, true)]),
            (
                3 * LONG - 5,
                &[(LONG, false), (LONG, false), (LONG - 5, true)],
            ),
        ] {
            for chunk in [32 << 10, LONG, LONG + 1, 4 * LONG] {
                let parts = parts_of(length, chunk);
                assert_eq!(parts, [expect, &[(4, true)]].concat(), "{length} {chunk}");
            }
        }
    }

    #[test]
    fn a_line_without_an_end_takes_little_memory() {
        let chunk = Bytes::from(vec![b'x'; 32 << 10]);
        let mut splitter = LogSplitter::default();
        let mut sum = 0;
        for _ in 0..1 << 10 {
            splitter.feed(chunk.clone());
            sum += std::iter::from_fn(|| splitter.part())
                .map(|part| part.bytes.len())
                .sum::<usize>();
            assert!(splitter.begun.capacity() <= 2 * LONGEST_PART);
        }
        assert_eq!(sum + splitter.rest().len(), 32 << 20);
    }

    proptest! {
        #[test]
        fn the_chunks_do_not_matter(text in prop::collection::vec(prop::sample::select(b"a\n\r\0\xff".to_vec()), 0..60), size in 1_usize..8) {
            let chunks: Vec<&[u8]> = text.chunks(size).collect();
            let (parts, rest) = split(&chunks);
            prop_assert!(parts.iter().all(|part| part.is_last));
            let mut lines: Vec<Bytes> = parts.into_iter().map(|part| part.bytes).collect();
            lines.push(rest);
            let joined: Vec<u8> = lines.join(&b'\n');
            prop_assert_eq!(joined, text);
        }
    }
}
