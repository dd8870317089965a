//! `RequestLog`: what `-v` prints about requests. A line names the method, the URI, the status and the time.
//!
//! It sees a request before the layers below add credentials, and an answer without its body. So no token and no Secret
//! reaches it.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use http::response::Parts;

use super::request_error::RequestError;

/// How much a log prints about each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogDetail {
    Line,
    /// Also the headers of the request and of the answer.
    Headers,
}

/// Prints the lines about one request.
pub(crate) type LogPrinter = Arc<dyn Fn(Vec<String>) + Send + Sync>;

/// The log of a client.
#[derive(Clone)]
pub(crate) struct RequestLog {
    /// How much it prints.
    pub(crate) detail: LogDetail,
    /// Where it prints.
    pub(crate) print: LogPrinter,
}

/// A request that is on its way.
pub(super) struct SentRequest {
    /// The whole URI, without a password.
    pub(super) uri: String,
    /// The headers of the request, without credentials.
    pub(super) headers: HeaderMap,
}

/// The words in the names of headers whose values stay hidden.
const HIDDEN: [&str; 4] = ["auth", "cookie", "token", "secret"];

impl RequestLog {
    pub(super) fn note(
        &self,
        sent: &SentRequest,
        answer: Result<&Parts, &RequestError>,
        took: Duration,
    ) {
        (self.print)(lines(self.detail, sent, answer, took));
    }
}

fn lines(
    detail: LogDetail,
    sent: &SentRequest,
    answer: Result<&Parts, &RequestError>,
    took: Duration,
) -> Vec<String> {
    let result = match answer {
        Ok(head) => head.status.to_string(),
        Err(error) => format!("failed: {error}"),
    };
    let millis = took.as_millis();
    let mut lines = vec![format!(
        "GET {} {result} in {millis} milliseconds",
        sent.uri
    )];
    if detail == LogDetail::Headers {
        lines.extend(headers("Request", &sent.headers));
        if let Ok(head) = answer {
            lines.extend(headers("Response", &head.headers));
        }
    }
    lines
}

/// The headers of a message, in kubectl's layout.
fn headers(of: &str, headers: &HeaderMap) -> Vec<String> {
    let headers = headers.iter();
    let mut named: Vec<String> = headers.map(|(name, value)| header(name, value)).collect();
    named.sort_unstable();
    let title = format!("{of} Headers:");
    [title].into_iter().chain(named).collect()
}

fn header(name: &http::HeaderName, value: &http::HeaderValue) -> String {
    let name = name.as_str();
    let is_hidden = value.is_sensitive() || HIDDEN.iter().any(|word| name.contains(word));
    match value.to_str() {
        Ok(text) if !is_hidden => format!("    {name}: {text}"),
        Ok(_) | Err(_) => format!("    {name}: <masked>"),
    }
}

#[cfg(test)]
mod tests {
    use http::Response;
    use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, SET_COOKIE};

    use super::*;

    #[test]
    fn headers_have_no_credentials() {
        let sent = SentRequest {
            uri: "https://x:6443/api".to_owned(),
            headers: [(ACCEPT, "application/json"), (AUTHORIZATION, "Bearer t0p")]
                .map(|(name, value)| (name, http::HeaderValue::from_static(value)))
                .into_iter()
                .collect(),
        };
        let answer = Response::builder()
            .status(200)
            .header(CONTENT_TYPE, "application/json")
            .header(SET_COOKIE, "session=t0p")
            .header("x-auth-token", "t0p");
        let (head, ()) = answer.body(()).expect("a response").into_parts();
        let took = Duration::from_micros(12_700);
        let all = lines(LogDetail::Headers, &sent, Ok(&head), took);
        assert_eq!(
            all,
            [
                "GET https://x:6443/api 200 OK in 12 milliseconds",
                "Request Headers:",
                "    accept: application/json",
                "    authorization: <masked>",
                "Response Headers:",
                "    content-type: application/json",
                "    set-cookie: <masked>",
                "    x-auth-token: <masked>",
            ]
        );
        let error = RequestError::Timeout(Duration::from_secs(1));
        let failed = lines(LogDetail::Line, &sent, Err(&error), took);
        assert_eq!(
            failed,
            [
                "GET https://x:6443/api failed: Unable to connect to the server: no answer within 1 s \
                 in 12 milliseconds"
            ]
        );
    }
}
