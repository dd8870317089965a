//! Tests of HTTP/2 with prior knowledge: many requests on one connection, and faults that break it.

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

use super::*;

type Sender = http2::SendRequest<Empty<Bytes>>;

async fn connect(sandbox: &Sandbox) -> Sender {
    let stream = TcpStream::connect(sandbox.address())
        .await
        .expect("the sandbox listens");
    let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
        .await
        .expect("HTTP/2");
    tokio::spawn(connection);
    sender
}

async fn get(
    sender: &mut Sender,
    sandbox: &Sandbox,
    path: &str,
) -> Result<http::Response<Incoming>, hyper::Error> {
    let request = http::Request::get(format!("{}{path}", sandbox.url()))
        .body(Empty::new())
        .expect("a request");
    sender.send_request(request).await
}

async fn event(watch: &mut http::Response<Incoming>) -> String {
    let frame = watch.frame().await.expect("more").expect("unbroken");
    let line = String::from_utf8(frame.into_data().expect("data").to_vec()).expect("UTF-8");
    super::client::event(&line)
}

#[tokio::test]
async fn watches_and_lists_share_a_connection() {
    let sandbox = sandbox().await;
    let mut sender = connect(&sandbox).await;
    let mut watches = Vec::new();
    for _ in 0..3 {
        watches.push(
            get(
                &mut sender,
                &sandbox,
                "/api/v1/configmaps?watch=1&resourceVersion=1",
            )
            .await
            .expect("a watch"),
        );
    }
    put(&sandbox, config_map("a", &json!({})));
    for watch in &mut watches {
        assert_eq!(event(watch).await, "ADDED a 2");
    }
    let list = get(&mut sender, &sandbox, "/api/v1/configmaps")
        .await
        .expect("a list");
    let body = list.into_body().collect().await.expect("whole").to_bytes();
    assert!(body.starts_with(br#"{"kind":"ConfigMapList""#));
    assert_eq!(
        (sandbox.connections().len(), sandbox.requests().len()),
        (1, 4)
    );
}

#[tokio::test]
async fn a_reset_breaks_all_requests_on_the_connection() {
    let sandbox = sandbox().await;
    put(&sandbox, config_map("a", &json!({})));
    let mut sender = connect(&sandbox).await;
    let mut quiet = get(
        &mut sender,
        &sandbox,
        "/api/v1/pods?watch=1&resourceVersion=1",
    )
    .await
    .expect("a watch");
    let cut = Effect::Cut {
        at: Place::AfterEvents(1),
        end: End::Reset,
    };
    sandbox.inject(Fault::on(Verb::Watch, "configmaps", cut));
    let mut hit = get(
        &mut sender,
        &sandbox,
        "/api/v1/configmaps?watch=1&resourceVersion=1",
    )
    .await
    .expect("a watch");
    assert_eq!(event(&mut hit).await, "ADDED a 2");
    assert!(hit.frame().await.is_some_and(|frame| frame.is_err()));
    assert!(quiet.frame().await.is_some_and(|frame| frame.is_err()));
}
