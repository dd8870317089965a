//! Connections: accepts them, speaks HTTP/1.1 or HTTP/2 with prior knowledge, and hands each request on.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::Shared;
use super::answer::{self, Caller};
use super::wire::{Switch, Wire};

/// What an HTTP/2 client says first.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Serves until dropped; its connections go with it.
pub(super) async fn serve(listener: TcpListener, shared: Arc<Shared>) -> Infallible {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            // A failed accept is the client's loss; the listener goes on.
            accepted = listener.accept() => if let Ok((stream, _)) = accepted {
                connections.spawn(connection(stream, Arc::clone(&shared)));
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(mut stream: TcpStream, shared: Arc<Shared>) {
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
        async move { answer::answer(&shared, &request, caller).await }
    });
    // A connection ends in an error whenever a fault or the client wants it to.
    let _ended = if is_http2 {
        http2::Builder::new(TokioExecutor::new())
            .serve_connection(io, service)
            .await
    } else {
        http1::Builder::new().serve_connection(io, service).await
    };
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
