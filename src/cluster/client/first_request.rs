//! `FirstRequest`: lets the first request of a client pass alone, until it is answered.
//!
//! Until hyper knows that a server speaks HTTP/2, it opens a connection for each request that waits for one. A view of 300 sources
//! opened 300, with a TLS handshake each, of which four remained.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::Mutex;
use tokio::time::timeout;
use tower::{Layer, Service};

/// How long the others wait at most. A handshake takes a few round trips, and an answer can take much longer.
const PATIENCE: Duration = Duration::from_millis(300);

/// Makes services that share one first request.
#[derive(Clone, Default)]
pub(super) struct FirstRequestLayer {
    /// Held during the first request.
    first: Arc<Mutex<IsOpen>>,
}

/// Whether a request was answered, so that there is a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum IsOpen {
    #[default]
    No,
    Yes,
}

/// A service whose requests wait for the first one.
#[derive(Clone)]
pub(super) struct FirstRequest<S> {
    inner: S,
    first: Arc<Mutex<IsOpen>>,
}

impl<S> Layer<S> for FirstRequestLayer {
    type Service = FirstRequest<S>;

    fn layer(&self, inner: S) -> FirstRequest<S> {
        FirstRequest {
            inner,
            first: self.first.clone(),
        }
    }
}

impl<S, R> Service<R> for FirstRequest<S>
where
    S: Service<R> + Clone + Send + 'static,
    S::Future: Send,
    S::Response: Send,
    S::Error: Send,
    R: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<S::Response, S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: R) -> Self::Future {
        // The service that is ready is this one, and not its clone.
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        let first = self.first.clone();
        async move {
            match first.try_lock() {
                Ok(is_open) if *is_open == IsOpen::Yes => {}
                Ok(mut is_open) => {
                    let answer = inner.call(request).await;
                    if answer.is_ok() {
                        *is_open = IsOpen::Yes;
                    }
                    return answer;
                }
                // However the first request ends, the others go on.
                Err(_) => drop(timeout(PATIENCE, first.lock()).await),
            }
            let answer = inner.call(request).await;
            if answer.is_err() {
                *first.lock().await = IsOpen::No;
            }
            answer
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use futures::future::join_all;
    use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
    use tokio::time::{Instant, sleep};
    use tower::{ServiceExt, service_fn};

    use super::*;

    /// When a request was sent, in milliseconds since the start, to the tenth.
    type Sent = UnboundedSender<(u32, u128)>;

    /// Sends five requests at once, of which the first one takes this long, and returns when each was sent.
    async fn sent(first: Option<u64>, is_answered: bool) -> Vec<(u32, u128)> {
        let (report, mut reports) = unbounded_channel();
        let begun = Instant::now();
        let answer = async move |request: u32, report: Sent| {
            let tenths = begun.elapsed().as_millis() / 10;
            report.send((request, tenths * 10)).expect("a reader");
            match first {
                Some(millis) if request == 0 => sleep(Duration::from_millis(millis)).await,
                None if request == 0 => pending().await,
                Some(_) | None => {}
            }
            if is_answered { Ok(()) } else { Err(()) }
        };
        let service = service_fn(move |request: u32| {
            let report = report.clone();
            async move { answer(request, report).await }.boxed()
        });
        let service = FirstRequestLayer::default().layer(service);
        let requests = (0..5).map(|request| service.clone().oneshot(request));
        let _late = timeout(Duration::from_secs(1), join_all(requests)).await;
        let mut all = Vec::new();
        while let Ok(sent) = reports.try_recv() {
            all.push(sent);
        }
        all
    }

    #[tokio::test(start_paused = true)]
    async fn the_others_wait_for_the_first_answer_but_not_for_long() {
        let at = |millis| vec![(0, 0), (1, millis), (2, millis), (3, millis), (4, millis)];
        assert_eq!(sent(Some(40), true).await, at(40));
        assert_eq!(sent(Some(40), false).await, at(40));
        assert_eq!(sent(None, true).await, at(300));
    }
}
