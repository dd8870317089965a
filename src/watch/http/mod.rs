//! The transport for an API server.

mod keys;
mod lines;
mod list_metadata;
mod page;
mod table;
#[cfg(test)]
mod tests;

pub use keys::source_keys;

use futures::StreamExt;
use futures::future::BoxFuture;

use super::{At, LineStream, ListPage, Page, SourceError, Transport, WATCH_SECONDS};
use crate::cluster::{ApiRequest, Client, RequestError, RequestPath};
use crate::object::ResourceVersion;
use crate::source::{Form, SourceKey};
use table::PrintedColumns;

/// Lists and watches over HTTP.
#[derive(Clone, Debug)]
pub struct HttpTransport {
    client: Client,
}

impl HttpTransport {
    /// Reads the cluster of `client`, whatever cluster a key names.
    pub fn new(client: Client) -> HttpTransport {
        HttpTransport { client }
    }

    async fn read_page(
        &self,
        key: &SourceKey,
        at: At,
        page: Page,
    ) -> Result<ListPage, SourceError> {
        let request = list(key, &at, &page)?;
        let body = self.client.get(&request).await;
        let body = body.map_err(|error| self.put_off(error))?;
        page::parse(&body, key)
    }

    /// The error of a request. A long wait that the server asks for is reported.
    fn put_off(&self, error: RequestError) -> SourceError {
        self.client.report(&error);
        source_error(error)
    }

    async fn open_watch(
        &self,
        key: &SourceKey,
        from: &ResourceVersion,
    ) -> Result<LineStream, SourceError> {
        let request = watch(key, from, fastrand::u32(WATCH_SECONDS))?;
        let answer = self.client.open(&request).await;
        let answer = answer.map_err(|error| self.put_off(error))?;
        let lines = lines::lines(answer);
        Ok(match key.form {
            Form::Full | Form::Metadata => lines,
            Form::Table => {
                let mut columns = PrintedColumns::default();
                Box::pin(lines.map(move |line| line.map(|line| columns.line(line))))
            }
        })
    }
}

impl Transport for HttpTransport {
    fn list<'a>(
        &'a self,
        key: &'a SourceKey,
        at: At,
        page: Page,
    ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
        Box::pin(self.read_page(key, at, page))
    }

    fn watch<'a>(
        &'a self,
        key: &'a SourceKey,
        from: &'a ResourceVersion,
    ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
        Box::pin(self.open_watch(key, from))
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
        RequestError::Tls(detail) => SourceError::Tls { detail },
        RequestError::Cut(detail) => SourceError::Cut { detail },
        RequestError::Timeout(after) => SourceError::Timeout { after },
        RequestError::Decode(detail) => SourceError::Decode { detail },
        RequestError::Impossible(detail) => SourceError::Input { detail },
        RequestError::Credential(detail) => SourceError::Credential { detail },
    }
}
