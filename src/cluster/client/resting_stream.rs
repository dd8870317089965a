//! `RestingStream`: a TCP connection that rests between its reads while many small pieces arrive.
//!
//! A node sends each line of a log in a piece of its own, and to wake for a piece costs more than to read it. So the kernel
//! gathers them for some milliseconds, in which they wake nobody.

use std::io::{self, IoSlice, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};

/// A connection. Writes never rest.
pub(super) struct RestingStream {
    socket: Socket,
    /// `None` if it never rests.
    pace: Option<RestPace>,
    /// The present rest, or the last one.
    rest: Option<Pin<Box<Sleep>>>,
}

/// A socket that does not block.
enum Socket {
    /// The runtime learns of each piece.
    Watched(TcpStream),
    /// The runtime does not know it.
    Unwatched(std::net::TcpStream),
    /// It could not be changed from one to the other.
    Lost,
}

impl RestingStream {
    /// Reads each piece when it arrives.
    pub(super) fn restless(connected: TokioIo<TcpStream>) -> TokioIo<RestingStream> {
        RestingStream::over(connected, None)
    }

    /// Rests while many small pieces arrive.
    pub(super) fn resting(connected: TokioIo<TcpStream>) -> TokioIo<RestingStream> {
        RestingStream::over(connected, Some(RestPace::default()))
    }

    fn over(connected: TokioIo<TcpStream>, pace: Option<RestPace>) -> TokioIo<RestingStream> {
        TokioIo::new(RestingStream {
            socket: Socket::Watched(connected.into_inner()),
            pace,
            rest: None,
        })
    }

    /// Nothing is left to read. Returns whether it rests now. If not, the runtime watches the socket.
    fn begin_rest(&mut self) -> io::Result<bool> {
        let Some(length) = self.pace.as_mut().and_then(RestPace::next_rest) else {
            self.rest = None;
            self.socket.watch()?;
            return Ok(false);
        };
        self.socket.unwatch()?;
        match &mut self.rest {
            Some(rest) => rest.as_mut().reset(Instant::now() + length),
            None => self.rest = Some(Box::pin(sleep(length))),
        }
        Ok(true)
    }
}

impl Socket {
    fn watch(&mut self) -> io::Result<()> {
        *self = match std::mem::replace(self, Socket::Lost) {
            Socket::Unwatched(stream) => Socket::Watched(TcpStream::from_std(stream)?),
            other => other,
        };
        Ok(())
    }

    fn unwatch(&mut self) -> io::Result<()> {
        *self = match std::mem::replace(self, Socket::Lost) {
            Socket::Watched(stream) => Socket::Unwatched(stream.into_std()?),
            other => other,
        };
        Ok(())
    }

    /// Writes with one of two functions. A socket that takes no more is watched until it does.
    fn write(
        &mut self,
        unwatched: impl FnOnce(&mut std::net::TcpStream) -> io::Result<usize>,
        watched: impl FnOnce(Pin<&mut TcpStream>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if let Socket::Unwatched(stream) = self {
            match unwatched(stream) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.watch()?,
                written => return Poll::Ready(written),
            }
        }
        match self {
            Socket::Watched(stream) => watched(Pin::new(stream)),
            Socket::Unwatched(_) | Socket::Lost => Poll::Ready(Err(lost())),
        }
    }
}

fn lost() -> io::Error {
    io::ErrorKind::NotConnected.into()
}

impl AsyncRead for RestingStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            if let Some(rest) = &mut this.rest {
                ready!(rest.as_mut().poll(context));
            }
            let before = buffer.filled().len();
            let read = match &mut this.socket {
                Socket::Watched(stream) => Pin::new(stream).poll_read(context, buffer),
                Socket::Unwatched(stream) => read_now(stream, buffer),
                Socket::Lost => Poll::Ready(Err(lost())),
            };
            if read.is_ready() {
                if let Some(pace) = &mut this.pace {
                    pace.note(buffer.filled().len() - before);
                }
                return read;
            }
            let was_watched = matches!(this.socket, Socket::Watched(_));
            if !this.begin_rest()? && was_watched {
                return Poll::Pending;
            }
        }
    }
}

/// Reads what there is.
fn read_now(stream: &mut std::net::TcpStream, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
    loop {
        match stream.read(buffer.initialize_unfilled()) {
            Ok(length) => {
                buffer.advance(length);
                return Poll::Ready(Ok(()));
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Poll::Ready(Err(error)),
        }
    }
}

impl AsyncWrite for RestingStream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().socket.write(
            |stream| stream.write(bytes),
            |stream| stream.poll_write(context, bytes),
        )
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().socket.write(
            |stream| stream.write_vectored(parts),
            |stream| stream.poll_write_vectored(context, parts),
        )
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// A socket has no buffer of the program's.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.socket.watch()?;
        match &mut this.socket {
            Socket::Watched(stream) => Pin::new(stream).poll_shutdown(context),
            Socket::Unwatched(_) | Socket::Lost => Poll::Ready(Ok(())),
        }
    }
}

impl Connection for RestingStream {
    fn connected(&self) -> Connected {
        match &self.socket {
            Socket::Watched(stream) => stream.connected(),
            Socket::Unwatched(_) | Socket::Lost => Connected::new(),
        }
    }
}

/// The shortest rest, and the longest. Nobody sees the difference between a line and one that is this much later.
const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_millis(16);

/// If fewer bytes have come since the last rest, the next one is longer. If more have come, it is shorter: a stream of a log
/// has a window of 64 KiB, and a server that has filled it waits.
const FEW: usize = 16 << 10;
const MANY: usize = 48 << 10;

/// The rests of a connection. They grow while it brings little each time, and shrink while it brings much. After a rest that
/// brought nothing there is none, so that the first piece after a pause is read at once.
#[derive(Debug, Default)]
struct RestPace {
    rest: Duration,
    /// How many bytes have come since the last rest began.
    bytes: usize,
}

impl RestPace {
    /// So many bytes were read.
    fn note(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    /// Nothing is left to read. Returns how long to rest; `None` to wait for the next piece instead.
    fn next_rest(&mut self) -> Option<Duration> {
        self.rest = match std::mem::take(&mut self.bytes) {
            0 => Duration::ZERO,
            1..FEW => (self.rest * 2).clamp(SHORTEST, LONGEST),
            FEW..=MANY => self.rest,
            _ => self.rest / 2,
        };
        Some(self.rest).filter(|rest| *rest >= SHORTEST)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// Both ends of a connection.
    async fn pair(
        begin: fn(TokioIo<TcpStream>) -> TokioIo<RestingStream>,
    ) -> (RestingStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let ours = TcpStream::connect(address).await.expect("a connection");
        let (theirs, _) = listener.accept().await.expect("a connection");
        (begin(TokioIo::new(ours)).into_inner(), theirs)
    }

    async fn send(theirs: &mut TcpStream, text: &str) {
        theirs.write_all(text.as_bytes()).await.expect("room");
    }

    async fn read(ours: &mut RestingStream) -> String {
        let mut bytes = [0; 64];
        let length = ours.read(&mut bytes).await.expect("an open connection");
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    }

    #[tokio::test(start_paused = true)]
    async fn pieces_that_come_in_a_rest_are_read_together_after_it() {
        let (mut ours, mut theirs) = pair(RestingStream::resting).await;
        send(&mut theirs, "first").await;
        let begun = Instant::now();
        assert_eq!(read(&mut ours).await, "first");
        assert_eq!(
            begun.elapsed(),
            Duration::ZERO,
            "the first piece waits for nothing"
        );
        assert!(ours.begin_rest().expect("an open socket"));
        send(&mut theirs, "a").await;
        send(&mut theirs, "b").await;
        assert_eq!(read(&mut ours).await, "ab");
        assert!(begun.elapsed() >= Duration::from_millis(1));
        assert!(matches!(ours.socket, Socket::Unwatched(_)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_quiet_connection_is_watched_again() {
        let (mut ours, mut theirs) = pair(RestingStream::resting).await;
        send(&mut theirs, "a").await;
        assert_eq!(read(&mut ours).await, "a");
        assert!(ours.begin_rest().expect("an open socket"));
        let reading = async {
            let text = read(&mut ours).await;
            assert!(matches!(ours.socket, Socket::Watched(_)));
            text
        };
        let sending = async {
            sleep(Duration::from_secs(1)).await;
            send(&mut theirs, "b").await;
        };
        assert_eq!(tokio::join!(reading, sending).0, "b");
    }

    #[tokio::test(start_paused = true)]
    async fn writes_do_not_rest_and_go_on_when_there_is_room_again() {
        let (mut ours, mut theirs) = pair(RestingStream::resting).await;
        send(&mut theirs, "a").await;
        assert_eq!(read(&mut ours).await, "a");
        assert!(ours.begin_rest().expect("an open socket"));
        let sent = vec![b'x'; 32 << 20];
        let mut received = vec![0; sent.len()];
        let (written, taken) =
            tokio::join!(ours.write_all(&sent), theirs.read_exact(&mut received));
        written.expect("a reader");
        taken.expect("a writer");
        assert_eq!(sent, received);
        send(&mut theirs, "b").await;
        assert_eq!(read(&mut ours).await, "b");
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_is_seen_after_a_rest() {
        let (mut ours, mut theirs) = pair(RestingStream::resting).await;
        send(&mut theirs, "a").await;
        assert_eq!(read(&mut ours).await, "a");
        assert!(ours.begin_rest().expect("an open socket"));
        drop(theirs);
        assert_eq!(read(&mut ours).await, "");
        ours.shutdown().await.expect("an open socket");
    }

    #[tokio::test(start_paused = true)]
    async fn other_connections_never_rest() {
        let (mut ours, mut theirs) = pair(RestingStream::restless).await;
        send(&mut theirs, "a").await;
        assert_eq!(read(&mut ours).await, "a");
        assert!(!ours.begin_rest().expect("an open socket"));
    }

    /// The rests, in milliseconds, after these numbers of bytes.
    fn rests(bytes: &[usize]) -> Vec<u128> {
        let mut pace = RestPace::default();
        let rest = |bytes: &usize| {
            pace.note(*bytes);
            pace.next_rest().unwrap_or_default().as_millis()
        };
        bytes.iter().map(rest).collect()
    }

    #[test]
    fn rests_grow_while_little_comes_and_end_with_a_pause() {
        assert_eq!(rests(&[0, 100, 100, 100]), [0, 1, 2, 4]);
        assert_eq!(rests(&[9; 7]), [1, 2, 4, 8, 16, 16, 16]);
        assert_eq!(rests(&[9, 9, 9, 0, 0, 9]), [1, 2, 4, 0, 0, 1]);
    }

    #[test]
    fn rests_shrink_while_much_comes() {
        let (some, much) = (FEW, MANY + 1);
        assert_eq!(
            rests(&[9, 9, 9, some, much, much, much, much]),
            [1, 2, 4, 4, 2, 1, 0, 0]
        );
        assert_eq!(rests(&[much; 3]), [0; 3]);
    }
}
