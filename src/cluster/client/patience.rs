//! Sends a request again if the server puts it off, as client-go does (`rest/with_retry.go`).

use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, sleep};

use super::{ApiRequest, Client, RequestError};

/// How often a request is sent again, as in client-go.
const MAX_RETRIES: u32 = 10;
/// The longest wait that a `Retry-After` can cause.
const LONGEST_ASKED: Duration = Duration::from_secs(60);
/// The waits for a server that cannot handle a request now, and does not say when it can.
const UNASKED: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(1)];
/// A shorter wait is not reported.
const REPORTED: Duration = Duration::from_secs(3);

impl Client {
    /// Like [`Client::get`], for a request that nothing else repeats. It waits as long as the server asks, but no longer than
    /// the limit of a whole answer in total.
    pub(crate) async fn get_patiently(&self, request: &ApiRequest) -> Result<Bytes, RequestError> {
        let end = Instant::now() + self.shared.limits.whole;
        let mut retries = 0;
        loop {
            let error = match self.get(request).await {
                Err(error) => error,
                answer => return answer,
            };
            let wait = error.wait_before_retry(retries);
            let Some(wait) = wait.filter(|wait| Instant::now() + *wait < end) else {
                return Err(error);
            };
            self.report(&error);
            sleep(wait).await;
            retries += 1;
        }
    }

    /// Reports a long wait that the server asks for, once for all requests that wait at the same time.
    pub(crate) fn report(&self, error: &RequestError) {
        let wait = error.wait_before_retry(0).filter(|wait| *wait >= REPORTED);
        let Some(wait) = wait else { return };
        let now = Instant::now();
        let mut reported = self.shared.reported_wait();
        let is_known = reported.is_some_and(|until| until >= now);
        *reported = Some(now + wait);
        if let Some(print) = self.shared.messages.get().filter(|_| !is_known) {
            let seconds = wait.as_secs();
            print(vec![format!(
                "! waiting for {seconds}s, as the server asks: {error}"
            )]);
        }
    }
}

impl RequestError {
    /// How long to wait before the request is sent again after this many retries; `None` if that does not help.
    fn wait_before_retry(&self, retries: u32) -> Option<Duration> {
        let RequestError::Api { error, after } = self else {
            return None;
        };
        match (error.status.code, after) {
            (429 | 500.., Some(after)) if retries < MAX_RETRIES => Some(*after.min(&LONGEST_ASKED)),
            (429 | 502..=504, None) => UNASKED.get(usize::try_from(retries).ok()?).copied(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::error::{ApiError, Status};

    fn waits(code: u16, after: Option<u64>) -> Vec<u64> {
        let error = RequestError::Api {
            error: ApiError {
                verb: "get",
                resource: "".into(),
                namespace: None,
                status: Status {
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
}
