//! `answer_connections`: accepts connections, within limits of number and time, and passes their requests on.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

use super::places::{PlaceLimits, Places};

/// The most connections at a time. The next one of all waits until another ends, the next one of an address is closed at once.
const CONNECTIONS: PlaceLimits = PlaceLimits {
    all: 2_048,
    of_one: 512,
};

/// How long a client may take for the TLS handshake, and again for the head of a request.
const HEAD_LIMIT: Duration = Duration::from_secs(10);

/// The most requests at a time on one HTTP/2 connection.
const MAX_STREAMS: u32 = 128;

/// How often an HTTP/2 connection is pinged, and how long the answer may take.
const PING: Duration = Duration::from_secs(30);

/// How long to wait after a failed accept: the process may have no file descriptor left.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers every connection until the future is dropped, which ends all connections.
pub async fn answer_connections(
    listener: TcpListener,
    tls: Option<Arc<ServerConfig>>,
    router: Router,
) {
    let room = Arc::new(Semaphore::new(CONNECTIONS.all));
    let places = Places::new(CONNECTIONS);
    let tls = tls.map(TlsAcceptor::from);
    let mut connections = JoinSet::new();
    while let Ok(kept) = room.clone().acquire_owned().await {
        match listener.accept().await {
            Ok((stream, peer)) => {
                let Ok(place) = places.take(holder(peer.ip())) else {
                    continue;
                };
                let (tls, router) = (tls.clone(), router.clone());
                connections.spawn(async move {
                    connection(stream, tls, router).await;
                    drop((place, kept));
                });
            }
            Err(_) => sleep(PAUSE).await,
        }
        while connections.try_join_next().is_some() {}
    }
}

/// Who holds the connection of a client: its address. A host can have every address of its network of IPv6, so that counts.
/// `None` for a client on this machine: a proxy there has many readers.
fn holder(peer: IpAddr) -> Option<IpAddr> {
    let address = peer.to_canonical();
    let holder = match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    };
    (!address.is_loopback()).then_some(holder)
}

async fn connection(stream: TcpStream, tls: Option<TlsAcceptor>, router: Router) {
    // A socket without this option works too.
    drop(stream.set_nodelay(true));
    let Some(tls) = tls else {
        return requests(stream, Protocol::Http1, router).await;
    };
    if let Ok(Ok(stream)) = timeout(HEAD_LIMIT, tls.accept(stream)).await {
        let protocol = match stream.get_ref().1.alpn_protocol() {
            Some(b"h2") => Protocol::Http2,
            Some(_) | None => Protocol::Http1,
        };
        requests(stream, protocol, router).await;
    }
}

/// What the client speaks.
#[derive(Clone, Copy, Debug)]
enum Protocol {
    Http1,
    Http2,
}

async fn requests<S>(stream: S, protocol: Protocol, router: Router)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let has_begun = Arc::new(AtomicBool::new(false));
    let begins = has_begun.clone();
    let service = service_fn(move |request: http::Request<Incoming>| {
        begins.store(true, Ordering::Relaxed);
        let router = router.clone();
        async move {
            Ok::<_, Infallible>(
                router
                    .oneshot(request)
                    .await
                    .unwrap_or_else(|no| match no {}),
            )
        }
    });
    let stream = TokioIo::new(stream);
    let answering = async {
        // A connection ends in an error if the client breaks it.
        let _ended = match protocol {
            Protocol::Http1 => {
                http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(HEAD_LIMIT)
                    .serve_connection(stream, service)
                    .await
            }
            Protocol::Http2 => {
                http2::Builder::new(TokioExecutor::new())
                    .timer(TokioTimer::new())
                    .keep_alive_interval(PING)
                    .max_concurrent_streams(MAX_STREAMS)
                    .serve_connection(stream, service)
                    .await
            }
        };
    };
    let silence = async {
        sleep(HEAD_LIMIT).await;
        if has_begun.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = answering => {}
        // hyper limits the head of HTTP/1.1 requests alone.
        () = silence => {}
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    fn router() -> Router {
        Router::new().route("/", get(async || "here\n"))
    }

    #[test]
    fn the_address_of_a_client_holds_its_connections() {
        for (peer, expect) in [
            ("10.0.0.7", Some("10.0.0.7")),
            ("::ffff:10.0.0.7", Some("10.0.0.7")),
            ("2001:db8:1:2:3:4:5:6", Some("2001:db8:1:2::")),
            ("2001:db8:1:2::1", Some("2001:db8:1:2::")),
            ("127.0.0.6", None),
            ("::1", None),
            ("::ffff:127.0.0.1", None),
        ] {
            let found = holder(peer.parse().expect("an address"));
            assert_eq!(found.map(|it| it.to_string()).as_deref(), expect, "{peer}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_is_answered_over_both_protocols() {
        let (mut client, server) = duplex(1 << 16);
        let answering = tokio::spawn(requests(server, Protocol::Http1, router()));
        let request = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        client.write_all(request).await.expect("it listens");
        let mut text = String::new();
        client.read_to_string(&mut text).await.expect("an answer");
        assert!(
            text.starts_with("HTTP/1.1 200 OK") && text.ends_with("here\n"),
            "{text}"
        );
        answering.await.expect("it ends");

        let (client, server) = duplex(1 << 16);
        let answering = tokio::spawn(requests(server, Protocol::Http2, router()));
        let (mut sender, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(client))
                .await
                .expect("a handshake");
        let driving = tokio::spawn(connection);
        let request = http::Request::get("http://x/").body(axum::body::Body::empty());
        let answer = sender.send_request(request.expect("a request")).await;
        assert_eq!(answer.expect("an answer").status(), 200);
        answering.abort();
        driving.abort();
    }

    /// A client that says nothing, or half a head, does not keep its place.
    #[tokio::test(start_paused = true)]
    async fn a_client_that_sends_no_request_is_cut() {
        for (protocol, sent) in [
            (Protocol::Http1, &b""[..]),
            (Protocol::Http1, b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow:"),
            (Protocol::Http2, b""),
            (Protocol::Http2, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        ] {
            let (mut client, server) = duplex(1 << 16);
            let answering = tokio::spawn(requests(server, protocol, router()));
            client.write_all(sent).await.expect("it listens");
            let ended = timeout(HEAD_LIMIT * 2, answering).await;
            assert!(ended.is_ok(), "{protocol:?} {sent:?}");
        }
    }
}
