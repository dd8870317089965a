//! `NonblockingStdout`: standard output that never blocks its writer.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use std::{io, mem};

use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use crate::env::Room;

/// A writer that always accepts everything.
///
/// It writes at once as many bytes as the stream has room for. If the stream is full (the reader of a pipe is slow, or
/// the user stopped the terminal with Ctrl-S), a thread writes the rest. The thread gets only the rest, because waking a
/// thread for each line would cost more than the line.
pub(crate) struct NonblockingStdout {
    room: Room,
    stream: StdoutStream,
    /// Bytes to write after those that a thread has.
    behind: Vec<u8>,
    /// The number of pieces that threads have written.
    pieces: Arc<AtomicUsize>,
}

/// How many bytes a thread writes at once. A pipe takes this many as a whole (`PIPE_BUF` on Linux).
const PIECE: usize = 4096;
/// A reader that takes no piece in this time has stopped reading.
const PATIENCE: Duration = Duration::from_secs(1);

type Out = Box<dyn Write + Send>;

enum StdoutStream {
    Free(Out),
    /// A thread writes to the stream and returns it.
    Busy(JoinHandle<(Out, io::Result<()>)>),
}

impl NonblockingStdout {
    /// Writes to `out`; `room` returns how many bytes `out` takes without blocking.
    pub(crate) fn new(out: Out, room: Room) -> NonblockingStdout {
        NonblockingStdout {
            room,
            stream: StdoutStream::Free(out),
            behind: Vec::new(),
            pieces: Arc::default(),
        }
    }

    /// Waits until everything is written. Returns the error of the thread, if it had one.
    ///
    /// Cancel safe: a caller may drop the future and call again.
    pub(crate) async fn wait_until_written(&mut self) -> io::Result<()> {
        while let StdoutStream::Busy(thread) = &mut self.stream {
            let (out, wrote) = thread.await?;
            self.stream = StdoutStream::Free(out);
            wrote?;
            let behind = mem::take(&mut self.behind);
            self.write_all(&behind)?;
        }
        Ok(())
    }

    /// Like [`NonblockingStdout::wait_until_written`], but drops the rest if the reader stops reading.
    pub(crate) async fn wait_while_read(&mut self) -> io::Result<()> {
        loop {
            let before = self.pieces.load(Ordering::Relaxed);
            match timeout(PATIENCE, self.wait_until_written()).await {
                Ok(wrote) => return wrote,
                Err(_) if self.pieces.load(Ordering::Relaxed) > before => {}
                Err(_) => return Ok(()),
            }
        }
    }

    fn hand_over(&mut self, bytes: Vec<u8>) {
        let StdoutStream::Free(out) = &mut self.stream else {
            self.behind.extend(bytes);
            return;
        };
        let mut out = mem::replace(out, Box::new(io::sink()));
        let pieces = self.pieces.clone();
        self.stream = StdoutStream::Busy(spawn_blocking(move || {
            let wrote = bytes.chunks(PIECE).try_for_each(|piece| {
                out.write_all(piece)?;
                out.flush()?;
                pieces.fetch_add(1, Ordering::Relaxed);
                Ok(())
            });
            (out, wrote)
        }));
    }
}

impl Write for NonblockingStdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let StdoutStream::Free(out) = &mut self.stream {
            let room = (self.room)().min(bytes.len());
            if room > 0 {
                out.write_all(&bytes[..room])?;
                out.flush()?;
                return Ok(room);
            }
        }
        self.hand_over(bytes.to_vec());
        Ok(bytes.len())
    }

    /// Does nothing; use [`NonblockingStdout::wait_until_written`].
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

    use super::*;

    /// A stream whose every write blocks until somebody reads.
    struct Pipe(SyncSender<Vec<u8>>);

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
            self.0.send(bytes.to_vec()).map_err(gone)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A pipe with this room, and its reader.
    fn pipe(room: &Arc<AtomicUsize>) -> (NonblockingStdout, Receiver<Vec<u8>>) {
        let (pipe, reader) = sync_channel(0);
        let room = room.clone();
        let room = move || room.load(Ordering::Relaxed);
        (
            NonblockingStdout::new(Box::new(Pipe(pipe)), Arc::new(room)),
            reader,
        )
    }

    fn text_of(reader: &Receiver<Vec<u8>>) -> String {
        String::from_utf8(reader.recv().unwrap()).unwrap()
    }

    #[tokio::test]
    async fn bytes_that_fit_are_written_at_once() {
        let out = crate::env::Capture::default();
        let mut stdout = NonblockingStdout::new(Box::new(out.clone()), Arc::new(|| 3));
        stdout.write_all(b"seven b").unwrap();
        assert_eq!(out.text(), "seven b");
        assert!(matches!(stdout.stream, StdoutStream::Free(_)));
        stdout.wait_until_written().await.unwrap();
    }

    #[tokio::test]
    async fn a_slow_reader_blocks_no_writer_and_gets_the_bytes_in_order() {
        let room = Arc::new(AtomicUsize::new(0));
        let (mut stdout, reader) = pipe(&room);
        stdout.write_all(b"one ").unwrap();
        room.store(usize::MAX, Ordering::Relaxed); // the thread's own bytes are not in the pipe yet
        stdout.write_all(b"two ").unwrap();
        stdout.write_all(b"three").unwrap();
        let reads = std::thread::spawn(move || (text_of(&reader), text_of(&reader)));
        stdout.wait_until_written().await.unwrap();
        assert_eq!(reads.join().unwrap(), ("one ".into(), "two three".into()));
    }

    #[tokio::test]
    async fn unread_bytes_are_dropped_at_the_end() {
        let room = Arc::new(AtomicUsize::new(0));
        let (mut stdout, reader) = pipe(&room);
        stdout.write_all(b"unread").unwrap();
        stdout.wait_while_read().await.unwrap();
        assert!(matches!(stdout.stream, StdoutStream::Busy(_)));
        drop(reader);
    }

    #[tokio::test]
    async fn a_reader_that_keeps_reading_gets_all_bytes() {
        let room = Arc::new(AtomicUsize::new(0));
        let (mut stdout, reader) = pipe(&room);
        let text = "x".repeat(3 * PIECE + 1);
        stdout.write_all(text.as_bytes()).unwrap();
        let reads =
            std::thread::spawn(move || (0..4).map(|_| text_of(&reader)).collect::<String>());
        stdout.wait_while_read().await.unwrap();
        assert_eq!(reads.join().unwrap(), text);
    }

    #[tokio::test]
    async fn a_closed_pipe_is_an_error_of_the_next_call() {
        let room = Arc::new(AtomicUsize::new(0));
        let (mut stdout, reader) = pipe(&room);
        stdout.write_all(b"lost").unwrap();
        drop(reader);
        let error = stdout.wait_until_written().await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        room.store(usize::MAX, Ordering::Relaxed);
        let error = stdout.write_all(b"more").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
