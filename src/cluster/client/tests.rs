//! Tests of the client against scripted servers.

use std::io::Write as _;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::*;
use crate::cluster::kubeconfig::tests::Files;
use crate::cluster::kubeconfig::{Ambient, Overrides};
use crate::cluster::testing::{Scripted, ScriptedReply, answer};
use crate::cluster::{ApiError, ApiStatus};

async fn client(url: &str) -> Client {
    let limits = Limits {
        headers: Duration::from_millis(200),
        quiet: Duration::from_millis(200),
        bytes: 1000,
        ..Limits::default()
    };
    let config = ClusterConfig::plain(url, "test").expect("a URL");
    Client::with_limits(config, limits).await.expect("a client")
}

/// The result of one request with one reply: the body, or the error's line.
async fn check(reply: ScriptedReply) -> String {
    let server = Scripted::start([reply]).await;
    let client = client(&server.url).await;
    let request = ApiRequest::new("/api/v1/pods").about("list", "pods");
    match client.get(&request).await {
        Ok(body) => String::from_utf8(body.to_vec()).expect("text"),
        Err(error) => error.to_string().replace(&server.url[7..], "HOST"),
    }
}

#[tokio::test]
async fn responses_and_errors() {
    assert_eq!(check(answer(200, "", "hello")).await, "hello");
    assert_eq!(
        check(answer(503, "", "<html>")).await,
        "Error from server (ServiceUnavailable): the server is currently unable to handle the request (get pods)"
    );
    let status = r#"{"kind":"Status","message":"pods is forbidden","reason":"Forbidden"}"#;
    assert_eq!(
        check(answer(403, "", status)).await,
        "Error from server (Forbidden): pods is forbidden"
    );
    let status = r#"{"kind":"Status","message":"Unauthorized","reason":"Unauthorized"}"#;
    assert_eq!(
        check(answer(401, "", status)).await,
        "error: You must be logged in to the server (Unauthorized)"
    );
}

/// A response with this body, compressed.
fn gzipped(body: &[u8]) -> ScriptedReply {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(body).expect("memory");
    let body = gzip.finish().expect("memory");
    let mut bytes = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
        body.len()
    )
    .into_bytes();
    bytes.extend(body);
    ScriptedReply::Raw(bytes)
}

#[tokio::test]
async fn the_size_limit_counts_unpacked_bytes() {
    // The compressed body has as many bytes as the limit allows, and would expand a thousandfold.
    let server = Scripted::start([gzipped(&vec![b' '; 1 << 20])]).await;
    let body = client(&server.url).await.get(&ApiRequest::new("/x")).await;
    assert_eq!(
        body.expect_err("too long").to_string(),
        "the answer is longer than 0 MiB"
    );
}

#[tokio::test]
async fn gzip_is_requested_and_unpacked() {
    let server = Scripted::start([gzipped(b"hello")]).await;
    let body = client(&server.url).await.get(&ApiRequest::new("/x")).await;
    assert_eq!(&*body.expect("an answer"), b"hello");
    let head = server.heads().remove(0);
    assert!(head.starts_with("GET /x HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("accept-encoding: gzip\r\n"), "{head}");
    assert!(head.contains("user-agent: kubectl-spy/v"), "{head}");
}

#[tokio::test]
async fn each_broken_response_has_its_error() {
    let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhel".to_vec();
    assert_eq!(
        check(ScriptedReply::Raw(cut.clone())).await,
        "connection lost: unexpected EOF"
    );
    let reset = check(ScriptedReply::ThenReset(cut.clone())).await;
    assert!(reset.starts_with("connection lost: "), "{reset}");
    let silent = "Unable to connect to the server: no answer within 0.2 s";
    assert_eq!(check(ScriptedReply::ThenSilence(Vec::new())).await, silent);
    assert_eq!(check(ScriptedReply::ThenSilence(cut)).await, silent);
    assert_eq!(
        check(answer(200, "", &"x".repeat(1001))).await,
        "the answer is longer than 0 MiB"
    );
}

#[tokio::test]
async fn a_request_is_repeated_once_if_its_connection_ends() {
    let reset = || ScriptedReply::ThenReset(Vec::new());
    let server = Scripted::start([reset(), answer(200, "", "hello"), reset(), reset()]).await;
    let client = client(&server.url).await;
    let body = client.get(&ApiRequest::new("/x")).await.expect("an answer");
    assert_eq!(&*body, b"hello");
    let error = client
        .get(&ApiRequest::new("/x"))
        .await
        .expect_err("cut twice");
    assert!(matches!(error, RequestError::Cut(_)), "{error:?}");
    assert_eq!(server.heads().len(), 4);
}

#[tokio::test]
async fn a_missing_server_has_kubectls_message() {
    // The port is bound, so that no other program gets it. It is not listening, so it refuses connections.
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket
        .bind("127.0.0.1:0".parse().expect("an address"))
        .expect("a port");
    let host = socket.local_addr().expect("bound").to_string();
    let error = |url: String| async move {
        let client = client(&url).await;
        let error = client
            .get(&ApiRequest::new("/x"))
            .await
            .expect_err("no server");
        assert!(matches!(error, RequestError::Connect(_)), "{error:?}");
        error.to_string()
    };
    assert_eq!(
        error(format!("http://{host}")).await,
        format!(
            "The connection to the server {host} was refused - did you specify the right host or port?"
        )
    );
    assert_eq!(
        error("http://no-such-host.invalid:6443".to_owned()).await,
        "Unable to connect to the server: dial tcp: lookup no-such-host.invalid: no such host"
    );
}

#[tokio::test]
async fn a_server_without_tls_has_its_own_message() {
    let greeting = b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec();
    let server = Scripted::start([ScriptedReply::Unasked(greeting)]).await;
    let client = client(&server.url.replace("http://", "https://")).await;
    assert_eq!(
        client
            .get(&ApiRequest::new("/x"))
            .await
            .expect_err("no TLS"),
        RequestError::Connect(
            "Unable to connect to the server: http: server gave HTTP response to HTTPS client"
                .into()
        )
    );
}

/// How many requests each of `gets` makes, and whether it succeeds. The credentials can be read again.
async fn renewals(codes: &[u16], gets: usize) -> Vec<(usize, bool)> {
    let server = Scripted::start(codes.iter().map(|code| answer(*code, "", ""))).await;
    let overrides = Overrides {
        server: Some(server.url.clone()),
        ..Overrides::default()
    };
    let config = ClusterConfig::load(&Ambient::default(), &overrides).expect("a server");
    let client = Client::new(config).await.expect("a client");
    let mut outcomes = Vec::new();
    for _ in 0..gets {
        let before = server.heads().len();
        let answer = client.get(&ApiRequest::new("/x")).await;
        outcomes.push((server.heads().len() - before, answer.is_ok()));
    }
    outcomes
}

#[tokio::test]
async fn refused_credentials_are_renewed_once() {
    assert_eq!(renewals(&[401, 200], 1).await, [(2, true)]);
    assert_eq!(
        renewals(&[200, 401, 200, 401, 200], 3).await,
        [(1, true), (2, true), (2, true)],
        "those that were taken once are renewed again when they expire"
    );
    assert_eq!(
        renewals(&[401, 401, 401, 401], 3).await,
        [(2, false), (1, false), (1, false)],
        "those that never were are not asked for again and again"
    );
}

#[tokio::test]
async fn concurrent_requests_renew_credentials_once() {
    let codes = [401, 401, 401, 200, 200, 200];
    let server = Scripted::start(codes.iter().map(|code| answer(*code, "", ""))).await;
    let overrides = Overrides {
        server: Some(server.url.clone()),
        ..Overrides::default()
    };
    let config = ClusterConfig::load(&Ambient::default(), &overrides).expect("a server");
    let client = Client::new(config).await.expect("a client");
    let request = ApiRequest::new("/x");
    let (a, b, c) = tokio::join!(
        client.get(&request),
        client.get(&request),
        client.get(&request)
    );
    assert!(a.is_ok() && b.is_ok() && c.is_ok());
    assert_eq!(server.heads().len(), 6);
}

#[tokio::test]
async fn https_uses_a_tunnel_through_the_proxy() {
    let proxy = Scripted::start([answer(407, "", ""), answer(407, "", "")]).await;
    let ambient = Ambient {
        https_proxy: Some(proxy.url.replace("http://", "http://me:pass@")),
        no_proxy: Some("other.example.com,".to_owned()),
        ..Ambient::default()
    };
    let overrides = Overrides {
        server: Some("https://api.example.com:6443".to_owned()),
        insecure_skip_tls_verify: true,
        ..Overrides::default()
    };
    let config = ClusterConfig::load(&ambient, &overrides).expect("valid");
    let client = Client::new(config).await.expect("a client");
    let error = client
        .get(&ApiRequest::new("/x"))
        .await
        .expect_err("refused");
    assert_eq!(
        error.to_string(),
        "Unable to connect to the server: tunnel error: proxy authorization required"
    );
    let head = proxy.heads().remove(0);
    assert!(
        head.starts_with("CONNECT api.example.com:6443 HTTP/1.1\r\n"),
        "{head}"
    );
    let login = "proxy-authorization: Basic bWU6cGFzcw==\r\n";
    assert!(
        head.to_lowercase().contains(&login.to_lowercase()),
        "{head}"
    );
}

#[tokio::test]
async fn a_missing_plugin_is_named_with_its_hint() {
    let config = r#"
current-context: x
clusters: [{name: c, cluster: {server: "https://c", insecure-skip-tls-verify: true}}]
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: /no/such/plugin, installHint: "get it at example.com"}}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
"#;
    let files = Files::new(&[("config", config)]);
    let overrides = Overrides {
        kubeconfig: Some(files.path("config").into()),
        ..Overrides::default()
    };
    let config = ClusterConfig::load(&Ambient::default(), &overrides).expect("valid");
    let error = Client::new(config)
        .await
        .expect_err("no plugin")
        .to_string();
    assert!(
        error.starts_with("Unable to connect to the server: getting credentials: exec: executable /no/such/plugin not found\n\nIt looks like"),
        "{error}"
    );
    assert!(error.ends_with("\n\nget it at example.com"), "{error}");
}

fn waits(code: u16, after: Option<u64>) -> Vec<u64> {
    let error = RequestError::Api {
        error: ApiError {
            verb: "get",
            resource: "".into(),
            namespace: None,
            status: ApiStatus {
                code,
                reason: String::new(),
                message: String::new(),
            },
        },
        after: after.map(Duration::from_secs),
    };
    let waits = (0..20).map_while(|retries| error.wait_before_retry(retries));
    waits
        .map(|wait| u64::try_from(wait.as_millis()).expect("short"))
        .collect()
}

#[test]
fn the_server_is_asked_again_when_it_says_so() {
    assert_eq!(waits(429, Some(2)), [2000; 10]);
    assert_eq!(waits(503, Some(1)), [1000; 10]);
    assert_eq!(waits(429, Some(86_400)), [60_000; 10]);
    for code in [429, 502, 503, 504] {
        assert_eq!(waits(code, None), [500, 1000], "{code}");
    }
    for (code, after) in [(403, Some(1)), (404, None), (500, None), (501, None)] {
        assert!(waits(code, after).is_empty(), "{code}");
    }
}

fn at(time: &str) -> Timestamp {
    time.parse().expect("a time")
}

fn ahead(now: &str, dates: &[&str]) -> i64 {
    let (skew, now) = (Skew::unknown(), at(now));
    let _first = skew.clock.set(Arc::new(move || now));
    for date in dates {
        let mut headers = HeaderMap::new();
        headers.insert(DATE, date.parse().expect("a header"));
        skew.note(&headers);
    }
    skew.ahead().as_secs()
}

#[test]
fn the_dates_of_responses_show_the_servers_clock() {
    let noon = "Mon, 02 Mar 2026 12:00:00 GMT";
    for (now, dates, expect) in [
        ("2026-03-02T12:02:00Z", vec![noon], -120),
        ("2026-03-02T11:58:00Z", vec![noon], 120),
        // `Date` has whole seconds, and the response took some time.
        ("2026-03-02T12:00:04Z", vec![noon], 0),
        ("2026-03-02T12:00:00Z", vec![], 0),
        ("2026-03-02T12:02:00Z", vec!["soon"], 0),
        // The fastest response gives the most precise difference.
        (
            "2026-03-02T12:02:00Z",
            vec!["Mon, 02 Mar 2026 11:59:30 GMT", noon],
            -120,
        ),
    ] {
        assert_eq!(ahead(now, &dates), expect, "{now} {dates:?}");
    }
}

#[test]
fn without_a_clock_nothing_is_compared() {
    let skew = Skew::unknown();
    let mut headers = HeaderMap::new();
    headers.insert(
        DATE,
        "Mon, 02 Mar 2026 12:00:00 GMT".parse().expect("a header"),
    );
    skew.note(&headers);
    assert_eq!(skew.ahead(), SignedDuration::ZERO);
}
