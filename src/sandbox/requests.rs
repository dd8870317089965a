//! The journal of requests and connections, for tests that count them.

use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use http::header::{ACCEPT, HeaderName, USER_AGENT};
use tokio::sync::watch;

use super::wire::Switch;

/// One request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The HTTP method.
    pub method: String,
    /// Path and query, as sent.
    pub path: String,
    /// The user of its token, if users are configured.
    pub user: Option<String>,
    /// `User-Agent`; empty if none was sent.
    pub user_agent: String,
    /// `Accept`; empty if none was sent.
    pub accept: String,
    /// The connection that it came from, counted from 0.
    pub connection: usize,
    /// The status code of the answer; `None` while there is no answer.
    pub status: Option<u16>,
    /// The number of body bytes sent so far, as on the wire.
    pub bytes: u64,
    /// Whether it is over: answered in full, broken, or cancelled by the client.
    pub ended: bool,
}

/// A running request. Dropping it marks the request as over.
#[derive(Debug)]
pub(super) struct RequestProgress {
    record: Arc<Counters>,
    /// Wakes the tasks that wait for a change of the journal.
    changed: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct Counters {
    status: AtomicU16,
    bytes: AtomicU64,
    ended: AtomicBool,
}

impl RequestProgress {
    pub(super) fn answered(&self, status: u16) {
        self.record.status.store(status, Ordering::SeqCst);
    }

    pub(super) fn sent(&self, bytes: usize) {
        self.record.bytes.fetch_add(bytes as u64, Ordering::SeqCst);
    }
}

impl Drop for RequestProgress {
    fn drop(&mut self) {
        self.record.ended.store(true, Ordering::SeqCst);
        self.changed.send_modify(|_| {});
    }
}

/// All requests and connections since the start.
#[derive(Debug, Default)]
pub(super) struct Journal {
    requests: Mutex<Vec<(Request, Arc<Counters>)>>,
    pub(super) connections: Mutex<Vec<Arc<Switch>>>,
    count: watch::Sender<usize>,
}

impl Journal {
    /// Records a new connection and returns its number.
    pub(super) fn connected(&self, switch: &Arc<Switch>) -> usize {
        let mut connections = self
            .connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        connections.push(Arc::clone(switch));
        connections.len() - 1
    }

    /// Records an incoming request.
    pub(super) fn asked<B>(
        &self,
        request: &http::Request<B>,
        user: Option<String>,
        connection: usize,
    ) -> Arc<RequestProgress> {
        let header = |name: HeaderName| {
            let value = request
                .headers()
                .get(name)
                .and_then(|value| value.to_str().ok());
            value.unwrap_or_default().to_owned()
        };
        let path = request
            .uri()
            .path_and_query()
            .map_or_else(|| "/".to_owned(), ToString::to_string);
        let record = Request {
            method: request.method().to_string(),
            path,
            user,
            user_agent: header(USER_AGENT),
            accept: header(ACCEPT),
            connection,
            status: None,
            bytes: 0,
            ended: false,
        };
        let counters = Arc::new(Counters::default());
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.push((record, Arc::clone(&counters)));
        let count = requests.len();
        drop(requests);
        self.count.send_replace(count);
        Arc::new(RequestProgress {
            record: counters,
            changed: self.count.clone(),
        })
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let now = |(record, counters): &(Request, Arc<Counters>)| {
            let status = counters.status.load(Ordering::SeqCst);
            Request {
                status: (status != 0).then_some(status),
                bytes: counters.bytes.load(Ordering::SeqCst),
                ended: counters.ended.load(Ordering::SeqCst),
                ..record.clone()
            }
        };
        requests.iter().map(now).collect()
    }

    pub(super) async fn until(&self, is_enough: impl Fn(&[Request]) -> bool) -> Vec<Request> {
        let mut count = self.count.subscribe();
        loop {
            count.mark_unchanged();
            let requests = self.requests();
            if is_enough(&requests) || count.changed().await.is_err() {
                return requests;
            }
        }
    }
}
