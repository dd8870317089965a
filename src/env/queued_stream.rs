//! `QueuedStream`: an output stream that never blocks its writer.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{mem, thread};

use tokio::sync::Notify;
use tokio::time::timeout;

use super::Room;
use crate::render::count::plural;

/// A stream that accepts everything at once.
///
/// It writes at once as many bytes as the stream has room for. If the stream is full (the reader of a pipe is slow, or
/// the user stopped the terminal with Ctrl-S), a thread writes the rest. The thread gets only the rest, because waking a
/// thread for each line would cost more than the line. All clones are one stream.
#[derive(Clone)]
pub struct QueuedStream(Arc<Shared>);

/// How many bytes are written at once. A pipe takes this many as a whole (`PIPE_BUF` on Linux).
const PIECE: usize = 4096;

/// A reader that takes no piece in this time has stopped reading.
const PATIENCE: Duration = Duration::from_secs(1);

/// How many bytes wait for the reader of messages. Later messages are counted.
const MOST_MESSAGES: usize = 1 << 20;

type Out = Box<dyn Write + Send>;

struct Shared {
    room: Room,
    /// How many bytes may wait, besides those that a thread writes.
    most: usize,
    state: Mutex<State>,
    /// The thread has written a piece, or has ended.
    progress: Condvar,
    /// Everything is written.
    written: Notify,
}

struct State {
    /// `None` while a thread has it.
    out: Option<Out>,
    is_busy: bool,
    waiting: Vec<u8>,
    /// How many lines had no room since the last one that had.
    dropped: usize,
    /// The number of pieces that threads have written.
    pieces: usize,
    /// The error of a thread.
    error: Option<io::Error>,
    /// The time limit of the program.
    limit: Option<Instant>,
}

impl QueuedStream {
    /// Writes all bytes to `out`; `room` returns how many bytes `out` takes without blocking.
    pub(crate) fn of_data(out: Out, room: Room) -> QueuedStream {
        QueuedStream::new(out, room, usize::MAX)
    }

    /// Writes messages. If their reader stops, it keeps 1 MiB of them, and a line stands for the others.
    pub(super) fn of_messages(out: Out, room: Room) -> QueuedStream {
        QueuedStream::new(out, room, MOST_MESSAGES)
    }

    fn new(out: Out, room: Room, most: usize) -> QueuedStream {
        QueuedStream(Arc::new(Shared {
            room,
            most,
            state: Mutex::new(State {
                out: Some(out),
                is_busy: false,
                waiting: Vec::new(),
                dropped: 0,
                pieces: 0,
                error: None,
                limit: None,
            }),
            progress: Condvar::new(),
            written: Notify::new(),
        }))
    }

    /// Sets the time limit of the program.
    pub(crate) fn limit(&self, limit: Instant) {
        self.lock().limit = Some(limit);
    }

    /// Whether something waits for the reader.
    pub(crate) fn is_behind(&self) -> bool {
        self.lock().is_busy
    }

    /// Waits until everything is written. Returns the error of the thread, if it had one. It is cancel safe.
    pub(crate) async fn wait_until_written(&self) -> io::Result<()> {
        loop {
            let written = self.0.written.notified();
            {
                let mut state = self.lock();
                if let Some(error) = state.error.take() {
                    return Err(error);
                }
                if !state.is_busy {
                    return Ok(());
                }
            }
            written.await;
        }
    }

    /// Like [`QueuedStream::wait_until_written`], but drops the rest if the reader stops reading. Returns whether all was
    /// written.
    pub(crate) async fn wait_while_read(&self) -> io::Result<bool> {
        loop {
            let before = self.lock().pieces;
            match timeout(PATIENCE, self.wait_until_written()).await {
                Ok(wrote) => return wrote.map(|()| true),
                Err(_) if self.lock().pieces > before => {}
                Err(_) => return Ok(false),
            }
        }
    }

    /// Waits at the end of the program until everything is written. After its time limit, a reader that has stopped gets
    /// one more second.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        while state.is_busy {
            let progress = &self.0.progress;
            let Some(limit) = state.limit else {
                state = progress.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let before = state.pieces;
            let left = limit.saturating_duration_since(now()).max(PATIENCE);
            let waited = progress.wait_timeout(state, left);
            let (after, waited) = waited.unwrap_or_else(PoisonError::into_inner);
            if waited.timed_out() && after.pieces == before {
                return;
            }
            state = after;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the thread. It ends when nothing waits.
    fn start(&self) -> io::Result<()> {
        let stream = self.clone();
        let thread = thread::Builder::new().name("output".to_owned());
        thread.spawn(move || stream.drain()).map(drop)
    }

    fn drain(&self) {
        let mut out = self
            .lock()
            .out
            .take()
            .unwrap_or_else(|| Box::new(io::sink()));
        let mut wrote = Ok(());
        loop {
            let mut state = self.lock();
            let bytes = state.take();
            if bytes.is_empty() || wrote.is_err() {
                state.out = Some(out);
                state.is_busy = false;
                state.error = wrote.err();
                self.0.progress.notify_all();
                self.0.written.notify_waiters();
                return;
            }
            drop(state);
            wrote = self.write_pieces(&mut out, &bytes);
        }
    }

    fn write_pieces(&self, out: &mut Out, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let (piece, rest) = bytes.split_at(piece_of(bytes, PIECE));
            out.write_all(piece)?;
            out.flush()?;
            self.lock().pieces += 1;
            self.0.progress.notify_all();
            bytes = rest;
        }
        Ok(())
    }
}

/// A stream that discards all output.
impl Default for QueuedStream {
    fn default() -> QueuedStream {
        QueuedStream::of_data(Box::new(io::sink()), Arc::new(|| usize::MAX))
    }
}

impl State {
    fn put(&mut self, bytes: &[u8], most: usize) {
        if !self.waiting.is_empty() && self.waiting.len() + bytes.len() > most {
            self.dropped += memchr::memchr_iter(b'\n', bytes).count();
            return;
        }
        self.note_dropped();
        self.waiting.extend(bytes);
    }

    /// Takes what waits.
    fn take(&mut self) -> Vec<u8> {
        if self.waiting.is_empty() {
            self.note_dropped();
        }
        mem::take(&mut self.waiting)
    }

    fn note_dropped(&mut self) {
        if let dropped @ 1.. = mem::take(&mut self.dropped) {
            let lines = plural(dropped, "line");
            let line = format!("{lines} not printed here: nobody has read them in time\n");
            self.waiting.extend(line.into_bytes());
        }
    }
}

impl Write for QueuedStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.lock();
        if let Some(error) = state.error.take() {
            return Err(error);
        }
        if !state.is_busy {
            let room = (self.0.room)();
            if room > 0
                && let Some(out) = &mut state.out
            {
                let piece = piece_of(bytes, room);
                out.write_all(&bytes[..piece])?;
                out.flush()?;
                return Ok(piece);
            }
            state.is_busy = true;
            if let Err(error) = self.start() {
                state.is_busy = false;
                return Err(error);
            }
        }
        state.put(bytes, self.0.most);
        Ok(bytes.len())
    }

    /// Does nothing; use [`QueuedStream::wait_until_written`].
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The length of the first piece of these bytes, of at most so many. It ends with a line, if it can: another stream may
/// share the pipe.
fn piece_of(bytes: &[u8], most: usize) -> usize {
    if bytes.len() <= most {
        return bytes.len();
    }
    let last = bytes[..most].iter().rposition(|&byte| byte == b'\n');
    last.map_or(most, |last| last + 1)
}

#[expect(clippy::disallowed_methods, reason = "the clock enters here")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

    use super::*;
    use crate::env::Capture;

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

    /// A pipe with this room, and its reader. So many bytes may wait.
    fn pipe(room: &Arc<AtomicUsize>, most: usize) -> (QueuedStream, Receiver<Vec<u8>>) {
        let (pipe, reader) = sync_channel(0);
        let room = room.clone();
        let room = move || room.load(Ordering::Relaxed);
        let stream = QueuedStream::new(Box::new(Pipe(pipe)), Arc::new(room), most);
        (stream, reader)
    }

    fn text_of(reader: &Receiver<Vec<u8>>) -> String {
        String::from_utf8(reader.recv().unwrap()).unwrap()
    }

    #[tokio::test]
    async fn bytes_that_fit_are_written_at_once() {
        let out = Capture::default();
        let mut stream = QueuedStream::of_data(Box::new(out.clone()), Arc::new(|| 3));
        stream.write_all(b"seven b").unwrap();
        assert_eq!(out.text(), "seven b");
        assert!(!stream.is_behind());
        stream.wait_until_written().await.unwrap();
    }

    #[tokio::test]
    async fn a_slow_reader_blocks_no_writer_and_gets_the_bytes_in_order() {
        let room = Arc::new(AtomicUsize::new(0));
        let (mut stream, reader) = pipe(&room, usize::MAX);
        stream.write_all(b"one ").unwrap();
        room.store(usize::MAX, Ordering::Relaxed); // the thread's own bytes are not in the pipe yet
        stream.write_all(b"two ").unwrap();
        stream.write_all(b"three").unwrap();
        let reads = thread::spawn(move || {
            let mut text = String::new();
            while text.len() < "one two three".len() {
                text += &text_of(&reader);
            }
            text
        });
        stream.wait_until_written().await.unwrap();
        assert_eq!(reads.join().unwrap(), "one two three");
    }

    #[tokio::test]
    async fn unread_bytes_are_dropped_at_the_end() {
        let room = Arc::new(AtomicUsize::new(0));
        let (mut stream, reader) = pipe(&room, usize::MAX);
        stream.write_all(b"unread").unwrap();
        assert!(!stream.wait_while_read().await.unwrap());
        assert!(stream.is_behind());
        stream.limit(now());
        stream.close();
        drop(reader);
    }

    #[tokio::test]
    async fn a_reader_that_keeps_reading_gets_all_bytes() {
        let room = Arc::new(AtomicUsize::new(0));
        let (mut stream, reader) = pipe(&room, usize::MAX);
        let text = "x".repeat(3 * PIECE + 1);
        stream.write_all(text.as_bytes()).unwrap();
        let reads = thread::spawn(move || (0..4).map(|_| text_of(&reader)).collect::<String>());
        assert!(stream.wait_while_read().await.unwrap());
        assert_eq!(reads.join().unwrap(), text);
    }

    #[tokio::test]
    async fn a_closed_pipe_is_an_error_of_the_next_call() {
        let room = Arc::new(AtomicUsize::new(0));
        let (mut stream, reader) = pipe(&room, usize::MAX);
        stream.write_all(b"lost").unwrap();
        drop(reader);
        let error = stream.wait_until_written().await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        room.store(usize::MAX, Ordering::Relaxed);
        let error = stream.write_all(b"more").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        stream.close();
    }

    #[test]
    fn a_line_stands_for_the_messages_that_had_no_room() {
        let (mut stream, reader) = pipe(&Arc::default(), 8);
        stream.write_all(b"first\n").unwrap();
        // The thread holds the first message now, and waits for its reader.
        while !stream.lock().waiting.is_empty() {
            thread::yield_now();
        }
        for message in ["second\n", "third\n", "fourth\n"] {
            stream.write_all(message.as_bytes()).unwrap();
        }
        let reads = thread::spawn(move || reader.iter().collect::<Vec<_>>().concat());
        stream.close();
        stream.write_all(b"fifth\n").unwrap();
        stream.close();
        drop(stream);
        assert_eq!(
            String::from_utf8(reads.join().unwrap()).unwrap(),
            "first\nsecond\n2 lines not printed here: nobody has read them in time\nfifth\n"
        );
    }

    #[test]
    fn a_piece_ends_with_a_line_if_it_can() {
        for (text, most, expect) in [
            ("ab\n", 3, 3),
            ("ab\ncd\n", 5, 3),
            ("abcdef\n", 5, 5),
            ("a\nb\nc", 4, 4),
        ] {
            assert_eq!(piece_of(text.as_bytes(), most), expect, "{text:?} {most}");
        }
    }
}
