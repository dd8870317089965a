//! The transport for an API server.

mod log;
mod page;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use memchr::memchr;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use super::{At, LineStream, ListPage, LogAnswer, Page, SourceError, Transport, WATCH_SECONDS};
use crate::cluster::{ApiRequest, Client, Names, RequestError, RequestPath, ResponseBody, Target};
use crate::object::ResourceVersion;
use crate::source::log::{LogRefusal, LogRequest};
use crate::source::{ClusterId, Form, Scope, Select, SourceKey};
use page::PrintedColumns;

/// How many lists and beginnings of watches are on their way at a time. Each needs memory that the program does not give back
/// afterwards: with 300 sources at once, a third of all that a source needs.
const AT_ONCE: usize = 32;

/// How long one waits for the others. So a kind whose server hangs does not delay the other kinds for long.
const PATIENCE: Duration = Duration::from_secs(1);

/// Lists and watches over HTTP.
#[derive(Clone, Debug)]
pub struct HttpTransport {
    client: Client,
    turns: Arc<Semaphore>,
}

impl HttpTransport {
    /// Reads the cluster of `client`, whatever cluster a key names.
    pub fn new(client: Client) -> HttpTransport {
        let turns = Arc::new(Semaphore::new(AT_ONCE));
        HttpTransport { client, turns }
    }

    /// Waits until few enough others are on their way, but not for long.
    async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        timeout(PATIENCE, self.turns.acquire()).await.ok()?.ok()
    }

    /// The error of a request. A long wait that the server asks for is reported.
    fn put_off(&self, error: RequestError) -> SourceError {
        self.client.report(&error);
        source_error(error)
    }
}

impl Transport for HttpTransport {
    fn list<'a>(
        &'a self,
        key: &'a SourceKey,
        at: At,
        page: Page,
    ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
        Box::pin(async move {
            let request = list(key, &at, &page)?;
            let _turn = self.turn().await;
            let body = self.client.get(&request).await;
            let body = body.map_err(|error| self.put_off(error))?;
            page::parse(&body, key)
        })
    }

    fn watch<'a>(
        &'a self,
        key: &'a SourceKey,
        from: &'a ResourceVersion,
    ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
        Box::pin(async move {
            let request = watch(key, from, fastrand::u32(WATCH_SECONDS))?;
            let turn = self.turn().await;
            let answer = self.client.open(&request).await;
            drop(turn);
            let lines = lines(answer.map_err(|error| self.put_off(error))?);
            Ok(match key.form {
                Form::Full | Form::Metadata => lines,
                Form::Table => {
                    let mut columns = PrintedColumns::default();
                    Box::pin(lines.map(move |line| line.map(|line| columns.line(line))))
                }
            })
        })
    }

    fn log<'a>(&'a self, request: &'a LogRequest) -> BoxFuture<'a, Result<LogAnswer, LogRefusal>> {
        Box::pin(async move {
            let sent = log::request(request).map_err(|error| log::refusal(&error))?;
            let answer = self.client.open_log(&sent, request.follow).await;
            let answer = answer.map_err(|error| {
                self.client.report(&error);
                log::refusal(&error)
            })?;
            let silence = (!request.follow).then(|| self.client.longest_silence());
            Ok(log::bytes(answer, silence))
        })
    }
}

fn list(key: &SourceKey, at: &At, page: &Page) -> Result<ApiRequest, SourceError> {
    let request = selected(key, "list")?;
    let mut request = match key.form {
        Form::Full => request,
        Form::Metadata => request.metadata_list(),
        Form::Table => request.accept(TABLE),
    };
    if page.limit > 0 {
        request = request.query("limit", &page.limit.to_string());
    }
    Ok(match (&page.next, at) {
        // The token contains the version. The server refuses a version beside it.
        (Some(next), _) => request.query("continue", next),
        (None, At::Latest) => request,
        (None, At::Exact(revision)) => request
            .query("resourceVersion", &revision.to_string())
            .query("resourceVersionMatch", "Exact"),
    })
}

fn watch(key: &SourceKey, from: &ResourceVersion, seconds: u32) -> Result<ApiRequest, SourceError> {
    let request = selected(key, "watch")?
        .accept(match key.form {
            Form::Full => "application/json",
            Form::Metadata => {
                "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
            }
            Form::Table => TABLE,
        })
        .identity()
        .query("watch", "true")
        .query("allowWatchBookmarks", "true")
        .query("resourceVersion", from.as_str())
        .query("timeoutSeconds", &seconds.to_string());
    Ok(request)
}

/// A table, or the objects from a server that knows no tables.
const TABLE: &str = "application/json;as=Table;g=meta.k8s.io;v=v1,application/json";

fn selected(key: &SourceKey, verb: &'static str) -> Result<ApiRequest, SourceError> {
    let path = RequestPath::of(&key.resource, key.namespace());
    let path = path.map_err(|error| source_error(error.into()))?;
    let mut request = ApiRequest::new(path).about(verb, key.resource.group_resource());
    if key.form == Form::Table {
        request = request.query("includeObject", "Object");
    }
    if let Some(labels) = key.select.label_selector() {
        request = request.query("labelSelector", labels);
    }
    if let Some(fields) = key.select.field_selector() {
        request = request.query("fieldSelector", &fields);
    }
    Ok(request)
}

/// Parses the response to a list request for `key`: one page, with its items as text.
#[cfg(any(test, feature = "testing"))]
pub fn parse_page(key: &SourceKey, body: &[u8]) -> Result<ListPage, SourceError> {
    page::parse(&bytes::Bytes::copy_from_slice(body), key)
}

/// The error when the server answers a list request for `key` with this code and this body.
#[cfg(any(test, feature = "testing"))]
pub fn refusal(key: &SourceKey, code: u16, body: &[u8]) -> SourceError {
    let request = ApiRequest::new("/").about("list", key.resource.group_resource());
    SourceError::answered(request.error(code, body), None)
}

fn source_error(error: RequestError) -> SourceError {
    match error {
        RequestError::Api { error, after } => SourceError::answered(error, after),
        RequestError::Connect(detail) => SourceError::Connect { detail },
        RequestError::Cut(detail) => SourceError::Cut { detail },
        RequestError::Timeout(after) => SourceError::Timeout { after },
        RequestError::Decode(detail) => SourceError::Decode { detail },
        RequestError::Impossible(detail) => SourceError::Input { detail },
        RequestError::Credential(detail) => SourceError::Credential { detail },
    }
}

/// The sources for a target: one for each name, or one for all objects.
pub fn source_keys(cluster: &ClusterId, target: &Target, form: Form) -> Vec<SourceKey> {
    let scope = match &target.namespace {
        Some(namespace) => Scope::Namespace(namespace.clone()),
        None => Scope::Cluster,
    };
    let key = |select| SourceKey {
        cluster: cluster.clone(),
        resource: target.resource.clone(),
        scope: scope.clone(),
        select,
        form,
    };
    match &target.names {
        Names::All => {
            let select = Select::matching(target.labels.as_deref(), target.fields.as_deref());
            vec![key(select)]
        }
        // The user needs only permissions by `resourceNames` for these, and the server sends nothing else.
        Names::Named(names) => names.iter().cloned().map(Select::Name).map(key).collect(),
    }
}

/// The most bytes of one line. etcd stores no object above 1.5 MiB.
const LONGEST: usize = 16 << 20;

/// The lines of a response.
fn lines(answer: ResponseBody) -> LineStream {
    let start = Some((answer, LineSplitter::default()));
    Box::pin(stream::unfold(start, |state| async move {
        let (mut answer, mut splitter) = state?;
        loop {
            match splitter.line() {
                Ok(Some(line)) => return Some((Ok(line), Some((answer, splitter)))),
                Ok(None) => {}
                Err(error) => return Some((Err(error), None)),
            }
            match answer.chunk().await {
                Ok(Some(chunk)) => splitter.feed(chunk),
                Ok(None) => return splitter.end().map(|error| (Err(error), None)),
                Err(error) => return Some((Err(source_error(error)), None)),
            }
        }
    }))
}

/// Takes chunks and returns lines. A line inside one chunk is not copied.
#[derive(Default)]
struct LineSplitter {
    chunk: Bytes,
    /// The start of a line that is not complete yet.
    begun: BytesMut,
}

impl LineSplitter {
    /// Adds a chunk. [`LineSplitter::line`] must have returned everything before.
    fn feed(&mut self, chunk: Bytes) {
        debug_assert!(self.chunk.is_empty(), "the last chunk is used up");
        self.chunk = chunk;
    }

    /// The next complete line that is not blank, without its line end.
    fn line(&mut self) -> Result<Option<Bytes>, SourceError> {
        while let Some(end) = memchr(b'\n', &self.chunk) {
            self.check_length(end)?;
            let mut line = self.chunk.split_to(end);
            self.chunk.advance(1);
            if !self.begun.is_empty() {
                self.begun.extend_from_slice(&line);
                line = self.begun.split().freeze();
            }
            if line.last() == Some(&b'\r') {
                line.truncate(line.len() - 1);
            }
            if !line.trim_ascii().is_empty() {
                return Ok(Some(line));
            }
        }
        self.check_length(self.chunk.len())?;
        self.begun.extend_from_slice(&self.chunk);
        self.chunk.clear();
        Ok(None)
    }

    fn check_length(&self, more: usize) -> Result<(), SourceError> {
        if self.begun.len() + more <= LONGEST {
            return Ok(());
        }
        let detail = format!("a watch line is longer than {} MiB", LONGEST >> 20);
        Err(SourceError::Decode {
            detail: detail.into(),
        })
    }

    /// The error if the body ends here.
    fn end(&self) -> Option<SourceError> {
        if self.begun.trim_ascii().is_empty() {
            return None;
        }
        Some(SourceError::Cut {
            detail: "the watch ended within a line".into(),
        })
    }
}
