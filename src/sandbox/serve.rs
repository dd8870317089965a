//! Connections: accepts them, speaks HTTP/1.1 or HTTP/2 with prior knowledge, and hands each request on.

use std::io;
use std::net::Shutdown;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{DATE, HeaderName, HeaderValue};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use jiff::fmt::rfc2822::DateTimePrinter;
use socket2::SockRef;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::answer::{self, Caller};
use super::shared::ServerState;
use super::wire::{Switch, Wire};

/// What an HTTP/2 client says first.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The task that serves, and its off switch.
pub(super) struct Server {
    task: JoinHandle<()>,
    stop: CancellationToken,
}

impl Server {
    /// Serves in a task of its own.
    pub(super) fn start(listener: TcpListener, shared: &Arc<ServerState>) -> Self {
        let stop = CancellationToken::new();
        let task = tokio::spawn(serve(listener, Arc::clone(shared), stop.clone()));
        Self { task, stop }
    }

    /// Breaks all connections and no longer listens by the time it returns.
    pub(super) async fn stop(self) {
        self.stop.cancel();
        // A panic in the task has been reported where it happened.
        let _ended = self.task.await;
    }

    /// The same, without waiting.
    pub(super) fn abort(&self) {
        self.task.abort();
    }
}

/// Serves until told to stop, and then breaks all connections; dropping it does the same.
async fn serve(listener: TcpListener, shared: Arc<ServerState>, stop: CancellationToken) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            // A failed accept is the client's loss; the listener goes on.
            accepted = listener.accept() => if let Ok((stream, _)) = accepted {
                connections.spawn(connection(stream, Arc::clone(&shared)));
            },
            Some(_) = connections.join_next() => {}
        }
    }
    // A process that another thread is just starting may hold a copy of the socket for a moment: closed it
    // would go on listening, shut down it does not. Not every system has that; it is closed in any case.
    drop(SockRef::from(&listener).shutdown(Shutdown::Both));
    connections.shutdown().await;
}

async fn connection(mut stream: TcpStream, shared: Arc<ServerState>) {
    // Latency of small events matters more than packets here; a socket that refuses works all the same.
    drop(stream.set_nodelay(true));
    let Ok(read_ahead) = first_bytes(&mut stream).await else {
        return;
    };
    let is_http2 = read_ahead.as_ref() == PREFACE;
    let switch = Arc::new(Switch::default());
    let number = shared.journal.connected(&switch);
    let io = TokioIo::new(Wire {
        stream,
        read_ahead,
        switch: Arc::clone(&switch),
    });
    let service = service_fn(move |request: http::Request<Incoming>| {
        let caller = Caller {
            connection: number,
            switch: Arc::clone(&switch),
        };
        let shared = Arc::clone(&shared);
        async move {
            let mut response = answer::answer(&shared, &request, caller).await?;
            response.headers_mut().extend(date(&shared));
            Ok::<_, io::Error>(response)
        }
    });
    // A connection ends in an error whenever a fault or the client wants it to.
    let _ended = if is_http2 {
        http2::Builder::new(TokioExecutor::new())
            .auto_date_header(false)
            .serve_connection(io, service)
            .await
    } else {
        http1::Builder::new()
            .auto_date_header(false)
            .serve_connection(io, service)
            .await
    };
}

/// The `Date` of an answer, by the sandbox's clock.
fn date(shared: &ServerState) -> Option<(HeaderName, HeaderValue)> {
    let now = shared.sends_date.then(|| (shared.clock)())?;
    let text = DateTimePrinter::new()
        .timestamp_to_rfc9110_string(&now)
        .ok()?;
    Some((DATE, HeaderValue::from_str(&text).ok()?))
}

/// Reads until it is clear whether this is the preface of HTTP/2.
async fn first_bytes(stream: &mut TcpStream) -> io::Result<Bytes> {
    let mut buffer = Vec::with_capacity(PREFACE.len());
    while buffer.len() < PREFACE.len() && PREFACE.starts_with(&buffer) {
        let mut rest = [0; 24];
        let room = PREFACE.len() - buffer.len();
        match stream.read(&mut rest[..room]).await? {
            0 => break,
            count => buffer.extend_from_slice(&rest[..count]),
        }
    }
    Ok(Bytes::from(buffer))
}
