//! Responses: headers, compression, and bodies that count their bytes and apply faults.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use futures::{Stream, StreamExt};
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use http::{HeaderValue, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;

use super::fault::{Effect, ErrorBody, Framing};
use super::feed::{WatchFeed, gzip};
use super::logs::LogFeed;
use super::requests::RequestProgress;
use super::status::ApiFailure;
use super::watch::WatchSource;
use super::wire::Switch;

/// The size above which bodies are compressed. kube-apiserver has 128 KiB; this is lower so that small tests
/// reach it.
const GZIP_ABOVE: usize = 1024;

/// A body of unknown length.
pub(super) type Body = UnsyncBoxBody<Bytes, io::Error>;

/// The parts needed to answer one request.
pub(super) struct ServerReply {
    pub(super) effects: Vec<Effect>,
    pub(super) switch: Arc<Switch>,
    pub(super) progress: Arc<RequestProgress>,
    pub(super) accepts_gzip: bool,
}

pub(super) fn accepts_gzip(headers: &HeaderMap) -> bool {
    let codings = headers
        .get(ACCEPT_ENCODING)
        .and_then(|value| value.to_str().ok());
    let mut names = codings
        .unwrap_or_default()
        .split(',')
        .filter_map(|coding| coding.split(';').next());
    names.any(|name| name.trim() == "gzip")
}

impl ServerReply {
    /// An error with the body that the fault script asks for.
    pub(super) fn error_page(
        &self,
        code: u16,
        retry_after: Option<u32>,
        body: ErrorBody,
    ) -> Response<Body> {
        let failure = ApiFailure::by_code(code, retry_after);
        let (content, text) = match body {
            ErrorBody::Status => ("application/json", failure.json()),
            ErrorBody::PrettyStatus => {
                let value: serde_json::Value =
                    serde_json::from_slice(&failure.json()).unwrap_or_default();
                ("application/json", Bytes::from(format!("{value:#}\n")))
            }
            ErrorBody::Html => {
                let title = failure.http();
                let page = format!(
                    "<html>\n<head><title>{title}</title></head>\n<body><h1>{title}</h1></body>\n</html>\n"
                );
                ("text/html", Bytes::from(page))
            }
        };
        let mut response = self.respond(
            failure.http().as_u16(),
            content,
            WatchFeed::whole(&text, &self.effects, Arc::clone(&self.switch)),
        );
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        response
    }

    /// A `Status` under its own code.
    pub(super) fn refuse(&self, failure: &ApiFailure) -> Response<Body> {
        let feed = WatchFeed::whole(&failure.json(), &self.effects, Arc::clone(&self.switch));
        self.respond(failure.code, "application/json", feed)
    }

    pub(super) fn watch(&self, source: WatchSource) -> Response<Body> {
        let mut effects = self.effects.clone();
        let gzipped = Effect::Framing(Framing::Gzip);
        let is_gzipped = effects.contains(&gzipped) && self.accepts_gzip;
        effects.retain(|effect| is_gzipped || *effect != gzipped);
        let feed = WatchFeed::watch(source, effects, Arc::clone(&self.switch));
        let mut response = self.respond(200, "application/json", feed);
        if is_gzipped {
            response
                .headers_mut()
                .insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }

    /// A whole body, compressed if it is large enough and the client accepts gzip.
    pub(super) fn whole(&self, content: &'static str, body: Bytes) -> Response<Body> {
        let is_gzipped = body.len() > GZIP_ABOVE && self.accepts_gzip;
        let body = if is_gzipped { gzip(&body) } else { body };
        let feed = WatchFeed::whole(&body, &self.effects, Arc::clone(&self.switch));
        let mut response = self.respond(200, content, feed);
        if is_gzipped {
            response
                .headers_mut()
                .insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }

    /// A log, as its lines come. It is never compressed.
    pub(super) fn log(&self, feed: LogFeed) -> Response<Body> {
        self.send(200, "text/plain", feed.into_stream())
    }

    fn respond(&self, code: u16, content: &'static str, feed: WatchFeed) -> Response<Body> {
        self.send(code, content, feed.into_stream())
    }

    pub(super) fn send(
        &self,
        code: u16,
        content: &'static str,
        chunks: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
    ) -> Response<Body> {
        self.progress.answered(code);
        let progress = Arc::clone(&self.progress);
        let frames = chunks.map(move |chunk| {
            let bytes = chunk?;
            progress.sent(bytes.len());
            Ok(Frame::data(bytes))
        });
        let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
        *response.status_mut() = http::StatusCode::from_u16(code).unwrap_or_default();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content));
        headers.insert("audit-id", HeaderValue::from_static("sandbox"));
        response
    }
}
