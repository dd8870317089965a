//! Accepts connections, speaks HTTP/1.1 or HTTP/2 with prior knowledge, and passes each request on.

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
use super::state::ServerState;
use super::wire::{Switch, Wire};

/// The first bytes of an HTTP/2 client.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The server's task, and the token that stops it.
pub(super) struct Server {
    pub(super) task: JoinHandle<()>,
    #[cfg_attr(
        not(any(test, feature = "testing")),
        expect(dead_code, reason = "only tests stop the server and start it again")
    )]
    pub(super) stop: CancellationToken,
}

impl Server {
    pub(super) fn start(listener: TcpListener, shared: &Arc<ServerState>) -> Self {
        let stop = CancellationToken::new();
        let task = tokio::spawn(serve(listener, Arc::clone(shared), stop.clone()));
        Self { task, stop }
    }

    /// Stops without waiting.
    pub(super) fn abort(&self) {
        self.task.abort();
    }
}

/// Serves until `stop` is cancelled, then breaks all connections. Dropping the future does the same.
async fn serve(listener: TcpListener, shared: Arc<ServerState>, stop: CancellationToken) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            // A failed accept affects one client only, so the listener continues.
            accepted = listener.accept() => if let Ok((stream, _)) = accepted {
                connections.spawn(connection(stream, Arc::clone(&shared)));
            },
            Some(_) = connections.join_next() => {}
        }
    }
    // A process that another thread is starting may hold a copy of the socket for a moment. If the socket
    // were only closed, that copy would keep listening; a shut-down socket does not. Some systems cannot shut
    // down a listener; closing it must do there.
    drop(SockRef::from(&listener).shutdown(Shutdown::Both));
    connections.shutdown().await;
}

async fn connection(mut stream: TcpStream, shared: Arc<ServerState>) {
    // The latency of small events matters more than the number of packets. A socket without this option works
    // too.
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
    // A connection ends in an error if a fault or the client breaks it.
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

fn date(shared: &ServerState) -> Option<(HeaderName, HeaderValue)> {
    let now = (shared.date.as_ref()?)();
    let text = DateTimePrinter::new()
        .timestamp_to_rfc9110_string(&now)
        .ok()?;
    Some((DATE, HeaderValue::from_str(&text).ok()?))
}

/// Reads until the bytes match the HTTP/2 preface or differ from it.
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
