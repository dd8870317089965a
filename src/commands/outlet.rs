//! `Outlet`: standard output that never keeps its writer waiting.

use std::io::{self, Write};
use std::mem;

use tokio::task::{JoinHandle, spawn_blocking};

use crate::env::Room;

/// Takes whatever is written. What the stream has room for is written at once; where it has none (the reader
/// of a pipe is slow, or the user has stopped the terminal with Ctrl-S) a thread waits with the rest, and the
/// rest alone: to wake a thread for each line would cost more than the line.
pub(crate) struct Outlet {
    room: Room,
    stream: Stream,
    /// What is to be written after what a thread has taken.
    behind: Vec<u8>,
}

type Out = Box<dyn Write + Send>;

enum Stream {
    Free(Out),
    /// A thread writes to it and gives it back.
    Busy(JoinHandle<(Out, io::Result<()>)>),
}

impl Outlet {
    /// Writes to `out`, which takes `room` at once.
    pub(crate) fn new(out: Out, room: Room) -> Outlet {
        Outlet {
            room,
            stream: Stream::Free(out),
            behind: Vec::new(),
        }
    }

    /// Waits until everything has been written; tells what a thread could not write. May be dropped half
    /// way and called again.
    pub(crate) async fn written(&mut self) -> io::Result<()> {
        while let Stream::Busy(thread) = &mut self.stream {
            let (out, wrote) = thread.await?;
            self.stream = Stream::Free(out);
            wrote?;
            let behind = mem::take(&mut self.behind);
            self.write_all(&behind)?;
        }
        Ok(())
    }

    fn hand_over(&mut self, bytes: Vec<u8>) {
        let Stream::Free(out) = &mut self.stream else {
            self.behind.extend(bytes);
            return;
        };
        let mut out = mem::replace(out, Box::new(io::sink()));
        self.stream = Stream::Busy(spawn_blocking(move || {
            let wrote = out.write_all(&bytes).and_then(|()| out.flush());
            (out, wrote)
        }));
    }
}

impl Write for Outlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Stream::Free(out) = &mut self.stream {
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

    fn text(reader: &Receiver<Vec<u8>>) -> String {
        String::from_utf8(reader.recv().unwrap()).unwrap()
    }

    #[tokio::test]
    async fn what_there_is_room_for_is_written_at_once() {
        let out = crate::env::Capture::default();
        let mut outlet = Outlet::new(Box::new(out.clone()), Arc::new(|| 3));
        outlet.write_all(b"seven b").unwrap();
        assert_eq!(out.text(), "seven b");
        assert!(matches!(outlet.stream, Stream::Free(_)));
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
        let reads = std::thread::spawn(move || (text(&reader), text(&reader)));
        outlet.written().await.unwrap();
        assert_eq!(reads.join().unwrap(), ("one ".into(), "two three".into()));
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
