//! The TCP side of a connection: counts the sent bytes, and can break the connection as a network does.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::fault::End;

/// Breaks a connection from within the answer to one of its requests.
#[derive(Debug, Default)]
pub(super) struct Switch {
    state: AtomicU8,
    /// The number of bytes written to the socket so far.
    pub(super) sent: AtomicU64,
}

const DROPPED: u8 = 1;
const RESET: u8 = 2;

impl Switch {
    /// Ends the connection in this way at its next read or write.
    pub(super) fn throw(&self, end: End) {
        let state = match end {
            End::Clean => return,
            End::Dropped => DROPPED,
            End::Reset => RESET,
        };
        self.state.store(state, Ordering::SeqCst);
    }

    fn check(&self) -> io::Result<()> {
        if self.state.load(Ordering::SeqCst) == 0 {
            Ok(())
        } else {
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }
}

/// A socket with a switch. The bytes read while detecting the protocol come first.
pub(super) struct Wire {
    pub(super) stream: TcpStream,
    pub(super) read_ahead: Bytes,
    pub(super) switch: Arc<Switch>,
}

impl Drop for Wire {
    fn drop(&mut self) {
        if self.switch.state.load(Ordering::SeqCst) == RESET {
            // Without lingering, closing a socket resets the connection. If the call fails, the socket is
            // closed normally.
            drop(self.stream.set_zero_linger());
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.switch.check()?;
        if !self.read_ahead.is_empty() {
            let count = self.read_ahead.len().min(buffer.remaining());
            buffer.put_slice(&self.read_ahead[..count]);
            self.read_ahead.advance(count);
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.switch.check()?;
        let written = std::task::ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))?;
        self.switch.sent.fetch_add(written as u64, Ordering::SeqCst);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.switch.check()?;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
