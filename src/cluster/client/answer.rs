//! A response: its status in kubectl's words, and its body within limits.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::RETRY_AFTER;
use http::response::Parts;
use http_body_util::BodyExt;
use kube::client::Body;
use serde::Deserialize;
use tokio::time::timeout;

use super::Limits;
use super::request::ApiRequest;
use super::request_error::{RequestError, body_error};
use super::stack::ConnectionSlot;
use crate::cluster::{ApiError, ApiStatus};
use crate::object::excerpt;

/// The most bytes of an error's body that are read.
const ERROR_BYTES: usize = 1 << 20;
/// How many characters of a body that is not a Status an error contains. It may be any text.
const BODY_SHOWN: usize = 200;

/// The body of a successful answer, as it arrives. Dropping it ends the stream.
pub(crate) struct ResponseBody {
    pub(super) body: Body,
    /// Whether it is anything else than 204: a log of a Pod without a node.
    pub(crate) has_content: bool,
    pub(super) _slot: ConnectionSlot,
}

impl ResponseBody {
    /// The next bytes; `None` at a clean end. The caller decides how long to wait for them.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, RequestError> {
        loop {
            return match self.body.frame().await {
                None => Ok(None),
                Some(Err(error)) => Err(body_error(&error)),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => Ok(Some(bytes)),
                    // A frame without data has trailers.
                    Err(_) => continue,
                },
            };
        }
    }

    /// Reads the whole body.
    pub(super) async fn whole(mut self, limits: &Limits) -> Result<Bytes, RequestError> {
        let reading = async {
            let mut bytes = BytesMut::new();
            while let Some(chunk) = timeout(limits.quiet, self.chunk())
                .await
                .map_err(|_| RequestError::Timeout(limits.quiet))??
            {
                if bytes.len() + chunk.len() > limits.bytes {
                    let detail = format!("the answer is longer than {} MiB", limits.bytes >> 20);
                    return Err(RequestError::Decode(detail.into()));
                }
                bytes.extend_from_slice(&chunk);
            }
            Ok(bytes.freeze())
        };
        timeout(limits.whole, reading)
            .await
            .unwrap_or(Err(RequestError::Timeout(limits.whole)))
    }
}

/// Reads the response to a failed request.
pub(super) async fn refusal(
    request: &ApiRequest,
    head: &Parts,
    answer: ResponseBody,
    limits: &Limits,
) -> RequestError {
    let short = Limits {
        bytes: ERROR_BYTES,
        ..*limits
    };
    let body = answer.whole(&short).await.unwrap_or_default();
    RequestError::Api {
        error: request.error(head.status.as_u16(), &body),
        after: retry_after(&head.headers),
    }
}

impl ApiRequest {
    pub(crate) fn error(&self, code: u16, body: &[u8]) -> ApiError {
        ApiError {
            verb: self.verb,
            resource: self.resource.clone(),
            namespace: self.namespace().map(Into::into),
            status: status(code, body, self),
        }
    }
}

/// The server's Status, or kubectl's message for the status code (client-go's `NewGenericServerResponse`).
fn status(code: u16, body: &[u8], request: &ApiRequest) -> ApiStatus {
    #[derive(Deserialize)]
    struct Probe {
        #[serde(default)]
        kind: String,
        #[serde(flatten)]
        status: ApiStatus,
    }
    match serde_json::from_slice::<Probe>(body) {
        Ok(Probe { kind, mut status }) if kind == "Status" && !status.message.is_empty() => {
            // The code of the HTTP response takes precedence.
            status.code = code;
            status
        }
        _ => generic(code, &String::from_utf8_lossy(body), request),
    }
}

/// kubectl's messages for status codes, where it ignores the response's text.
const GENERIC: [(u16, &str, &str); 9] = [
    (
        400,
        "BadRequest",
        "the server rejected our request for an unknown reason",
    ),
    (
        401,
        "Unauthorized",
        "the server has asked for the client to provide credentials",
    ),
    (
        404,
        "NotFound",
        "the server could not find the requested resource",
    ),
    (
        405,
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
    ),
    (409, "Conflict", "the server reported a conflict"),
    (
        422,
        "Invalid",
        "the server rejected our request due to an error in our request",
    ),
    (
        429,
        "TooManyRequests",
        "the server has received too many requests and has asked us to try again later",
    ),
    (
        503,
        "ServiceUnavailable",
        "the server is currently unable to handle the request",
    ),
    (
        504,
        "Timeout",
        "the server was unable to return a response in the time allotted, but may still be \
         processing the request",
    ),
];

fn generic(code: u16, body: &str, request: &ApiRequest) -> ApiStatus {
    let body = match body.trim() {
        "" => "unknown".to_owned(),
        text => excerpt(text, BODY_SHOWN),
    };
    let known = GENERIC.iter().find(|(known, ..)| *known == code);
    let (reason, message) = match (code, known) {
        (_, Some((_, reason, message))) => (*reason, (*message).to_owned()),
        (403, None) => ("Forbidden", body),
        (406, None) => ("NotAcceptable", body),
        (500.., None) => (
            "InternalError",
            format!(
                "an error on the server (\"{body}\") has prevented the request from succeeding"
            ),
        ),
        (_, None) => (
            "",
            format!(
                "the server responded with the status code {code} but did not return more information"
            ),
        ),
    };
    let message = match &*request.resource {
        "" => message,
        resource => format!("{message} (get {resource})"),
    };
    ApiStatus {
        code,
        reason: reason.to_owned(),
        message,
    }
}

/// The seconds of a `Retry-After`. Its other form is a date, which no API server sends.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?;
    Some(Duration::from_secs(text.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: u16, body: &str) -> String {
        let request = ApiRequest::new("/x").about("list", "pods.metrics.k8s.io");
        let status = status(code, body.as_bytes(), &request);
        assert_eq!(status.code, code);
        format!("{}: {}", status.reason, status.message)
    }

    #[test]
    fn the_servers_own_status_is_kept() {
        let body = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",
            "message":"pods is forbidden: User \"x\" cannot list","reason":"Forbidden","code":403}"#;
        assert_eq!(
            check(403, body),
            "Forbidden: pods is forbidden: User \"x\" cannot list"
        );
    }

    #[test]
    fn other_bodies_get_kubectls_message_for_the_code() {
        let get = "(get pods.metrics.k8s.io)";
        for (code, body, expect) in [
            (
                503,
                "no endpoints",
                "ServiceUnavailable: the server is currently unable to handle the request",
            ),
            (
                404,
                "404 page not found",
                "NotFound: the server could not find the requested resource",
            ),
            (
                404,
                "{}",
                "NotFound: the server could not find the requested resource",
            ),
            (
                500,
                "<html>oops</html>",
                "InternalError: an error on the server (\"<html>oops</html>\") has prevented the request from succeeding",
            ),
            (
                502,
                "",
                "InternalError: an error on the server (\"unknown\") has prevented the request from succeeding",
            ),
            (403, "nope\n", "Forbidden: nope"),
            (
                302,
                "",
                ": the server responded with the status code 302 but did not return more information",
            ),
            (
                401,
                "{\"kind\":\"Status\"}",
                "Unauthorized: the server has asked for the client to provide credentials",
            ),
        ] {
            assert_eq!(check(code, body), format!("{expect} {get}"));
        }
    }

    #[test]
    fn a_body_that_is_not_a_status_is_shortened_to_one_line() {
        let page = format!("<html>\n\"login\"\r\n{}", "x".repeat(1 << 20));
        for code in [403, 406, 500, 599] {
            let shown = check(code, &page);
            assert!(shown.contains("<html>\\n\"login\"\\r\\n"), "{shown}");
            assert!(!shown.contains('\n') && shown.len() < 400, "{shown}");
        }
    }

    #[test]
    fn retry_after_is_seconds() {
        let check = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, text.parse().expect("a header"));
            retry_after(&headers)
        };
        assert_eq!(check("7"), Some(Duration::from_secs(7)));
        assert_eq!(check("Wed, 21 Oct 2026 07:28:00 GMT"), None);
        assert_eq!(check("-1"), None);
    }
}
