//! Requests for logs, and their answers.

use std::sync::Arc;
use std::time::Duration;

use futures::stream;
use jiff::Timestamp;
use tokio::time::timeout;

use crate::cluster::{ApiRequest, PathSegment, RequestError, RequestPath, ResponseBody};
use crate::source::log::{LogRefusal, LogRequest, LogSince};
use crate::watch::LogAnswer;

/// The request for a log, with the time of each line. It never limits the bytes: a server would cut off the newest ones.
pub(super) fn request(request: &LogRequest) -> Result<ApiRequest, RequestError> {
    let pod = &request.container.pod;
    let path = RequestPath::of_group("", "v1")?
        .then(PathSegment::Resource, "namespaces")?
        .then(
            PathSegment::Namespace,
            pod.namespace.as_deref().unwrap_or_default(),
        )?
        .then(PathSegment::Resource, "pods")?
        .then(PathSegment::Name, &pod.name)?
        .then(PathSegment::Resource, "log")?;
    let mut sent = ApiRequest::new(path)
        .about("get", "pods/log")
        .accept("*/*")
        .identity()
        .query("container", &request.container.name)
        .query("timestamps", "true");
    if request.follow {
        sent = sent.query("follow", "true");
    }
    if request.previous {
        sent = sent.query("previous", "true");
    }
    if let Some(tail) = request.start.tail {
        sent = sent.query("tailLines", &tail.min(i64::MAX.unsigned_abs()).to_string());
    }
    Ok(match request.start.since {
        None => sent,
        Some(LogSince::Ago(ago)) => sent.query("sinceSeconds", &ago.as_secs().max(1).to_string()),
        Some(LogSince::Second(second)) => {
            let time = Timestamp::from_second(second).unwrap_or(Timestamp::UNIX_EPOCH);
            sent.query("sinceTime", &time.to_string())
        }
    })
}

/// The bytes of an answer. With a limit, they end in an error if nothing arrives for so long.
pub(super) fn bytes(answer: ResponseBody, silence: Option<Duration>) -> LogAnswer {
    if !answer.has_content {
        return LogAnswer::Unscheduled;
    }
    let chunks = stream::unfold(Some(answer), move |answer| async move {
        let mut answer = answer?;
        let chunk = match silence {
            None => answer.chunk().await,
            Some(silence) => timeout(silence, answer.chunk())
                .await
                .unwrap_or(Err(RequestError::Timeout(silence))),
        };
        match chunk {
            Ok(None) => None,
            Ok(Some(chunk)) => Some((Ok(chunk), Some(answer))),
            Err(error) => Some((Err(Arc::from(error.to_string())), None)),
        }
    });
    LogAnswer::Bytes(Box::pin(chunks))
}

/// The error of a request, in kubectl's words.
pub(super) fn refusal(error: &RequestError) -> LogRefusal {
    let code = match error {
        RequestError::Api { error, .. } => error.status.code,
        RequestError::Impossible(_) => 400,
        RequestError::Connect(_)
        | RequestError::Cut(_)
        | RequestError::Timeout(_)
        | RequestError::Decode(_)
        | RequestError::Credential(_) => 0,
    };
    let text = error.to_string().into();
    LogRefusal { code, text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::ObjectRef;
    use crate::source::ClusterId;
    use crate::source::log::{LogContainer, LogStart};

    #[test]
    fn a_request_names_the_container_and_the_start() {
        let pod = ObjectRef {
            api_version: "v1".into(),
            kind: "Pod".into(),
            namespace: Some("shop".into()),
            name: "web-1".into(),
            uid: None,
        };
        let container = Arc::new(LogContainer {
            cluster: ClusterId("test".into()),
            pod: Arc::new(pod),
            name: "app".into(),
        });
        let asked = LogRequest {
            container,
            follow: true,
            previous: false,
            start: LogStart::default(),
        };
        let ago = |milliseconds| Some(LogSince::Ago(Duration::from_millis(milliseconds)));
        for (follow, previous, tail, since, expect) in [
            (false, false, None, None, ""),
            (true, false, Some(21), None, "&follow=true&tailLines=21"),
            (
                false,
                true,
                None,
                ago(90_500),
                "&previous=true&sinceSeconds=90",
            ),
            (false, false, None, ago(20), "&sinceSeconds=1"),
            (
                false,
                false,
                None,
                Some(LogSince::Second(1_764_110_512)),
                "&sinceTime=2025-11-25T22%3A41%3A52Z",
            ),
        ] {
            let start = LogStart { tail, since };
            let sent = request(&LogRequest {
                follow,
                previous,
                start,
                ..asked.clone()
            });
            let sent = sent.expect("a path").to_http().expect("a request");
            let path = "/api/v1/namespaces/shop/pods/web-1/log?container=app&timestamps=true";
            assert_eq!(sent.uri().to_string(), format!("{path}{expect}"));
        }
    }
}
