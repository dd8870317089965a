//! `Outlet`: standard output that never keeps its writer waiting.

use std::io::{self, Write};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use crate::env::Room;

/// Takes whatever is written. What the stream has room for is written at once; where it has none (the reader
/// of a pipe is slow, or the user has stopped the terminal with Ctrl-S) a thread waits with the rest, and the
/// rest alone: to wake a thread for each line would cost more than the line.
pub(crate) struct Outlet {
    room: Room,
    stream: StdoutStream,
    /// What is to be written after what a thread has taken.
    behind: Vec<u8>,
    /// How many pieces threads have written.
    pieces: Arc<AtomicUsize>,
}

/// How much a thread writes at once, in bytes: a pipe takes that as a whole (`PIPE_BUF` on Linux).
const PIECE: usize = 4096;
/// A reader that takes no piece for this long has stopped reading.
const PATIENCE: Duration = Duration::from_secs(1);

type Out = Box<dyn Write + Send>;

enum StdoutStream {
    Free(Out),
    /// A thread writes to it and gives it back.
    Busy(JoinHandle<(Out, io::Result<()>)>),
}

impl Outlet {
    /// Writes to `out`, which takes `room` at once.
    pub(crate) fn new(out: Out, room: Room) -> Outlet {
        Outlet {
            room,
            stream: StdoutStream::Free(out),
            behind: Vec::new(),
            pieces: Arc::default(),
        }
    }

    /// Waits until everything has been written; tells what a thread could not write. May be dropped half
    /// way and called again.
    pub(crate) async fn written(&mut self) -> io::Result<()> {
        while let StdoutStream::Busy(thread) = &mut self.stream {
            let (out, wrote) = thread.await?;
            self.stream = StdoutStream::Free(out);
            wrote?;
            let behind = mem::take(&mut self.behind);
            self.write_all(&behind)?;
        }
        Ok(())
    }

    /// The same, but drops the rest once the reader has stopped reading.
    pub(crate) async fn written_while_read(&mut self) -> io::Result<()> {
        loop {
            let before = self.pieces.load(Ordering::Relaxed);
            match timeout(PATIENCE, self.written()).await {
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

impl Write for Outlet {
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

    /// Does nothing: see [`Outlet::written`].
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

    /// A stream that is written to as often as somebody reads.
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

    /// A pipe nobody reads yet, of this room.
    fn outlet(room: &Arc<AtomicUsize>) -> (Outlet, Receiver<Vec<u8>>) {
        let (pipe, reader) = sync_channel(0);
        let room = room.clone();
        let room = move || room.load(Ordering::Relaxed);
        (Outlet::new(Box::new(Pipe(pipe)), Arc::new(room)), reader)
    }

    fn text_of(reader: &Receiver<Vec<u8>>) -> String {
        String::from_utf8(reader.recv().unwrap()).unwrap()
    }

    #[tokio::test]
    async fn what_there_is_room_for_is_written_at_once() {
        let out = crate::env::Capture::default();
        let mut outlet = Outlet::new(Box::new(out.clone()), Arc::new(|| 3));
        outlet.write_all(b"seven b").unwrap();
        assert_eq!(out.text(), "seven b");
        assert!(matches!(outlet.stream, StdoutStream::Free(_)));
        outlet.written().await.unwrap();
    }

    #[tokio::test]
    async fn nobody_waits_for_a_reader_and_the_order_stays() {
        let room = Arc::new(AtomicUsize::new(0));
        let (mut outlet, reader) = outlet(&room);
        outlet.write_all(b"one ").unwrap();
        room.store(usize::MAX, Ordering::Relaxed); // the thread's own bytes are not in the pipe yet
        outlet.write_all(b"two ").unwrap();
        outlet.write_all(b"three").unwrap();
        let reads = std::thread::spawn(move || (text_of(&reader), text_of(&reader)));
        outlet.written().await.unwrap();
        assert_eq!(reads.join().unwrap(), ("one ".into(), "two three".into()));
    }

    #[tokio::test]
    async fn what_nobody_reads_is_dropped_at_the_end() {
        let room = Arc::new(AtomicUsize::new(0));
        let (mut outlet, reader) = outlet(&room);
        outlet.write_all(b"unread").unwrap();
        outlet.written_while_read().await.unwrap();
        assert!(matches!(outlet.stream, StdoutStream::Busy(_)));
        drop(reader);
    }

    #[tokio::test]
    async fn a_reader_that_reads_gets_all() {
        let room = Arc::new(AtomicUsize::new(0));
        let (mut outlet, reader) = outlet(&room);
        let text = "x".repeat(3 * PIECE + 1);
        outlet.write_all(text.as_bytes()).unwrap();
        let reads =
            std::thread::spawn(move || (0..4).map(|_| text_of(&reader)).collect::<String>());
        outlet.written_while_read().await.unwrap();
        assert_eq!(reads.join().unwrap(), text);
    }

    #[tokio::test]
    async fn a_reader_that_goes_away_is_told_to_whoever_waits() {
        let room = Arc::new(AtomicUsize::new(0));
        let (mut outlet, reader) = outlet(&room);
        outlet.write_all(b"lost").unwrap();
        drop(reader);
        let told = outlet.written().await.unwrap_err();
        assert_eq!(told.kind(), io::ErrorKind::BrokenPipe);
        room.store(usize::MAX, Ordering::Relaxed);
        let told = outlet.write_all(b"more").unwrap_err();
        assert_eq!(told.kind(), io::ErrorKind::BrokenPipe);
    }
}
