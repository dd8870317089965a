//! Reads from a cluster which lists of its kinds have keys: from the `OpenAPI` v3 document of each group version.
//! A document is kept on disk while the server's index has the same hash for it
//! (<https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-v3>).

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use rustc_hash::FxHashMap;
use tokio::sync::{OnceCell, Semaphore};
use tokio::task::spawn_blocking;

use super::cache::Cache;
use super::client::{ApiRequest, Client, RequestError};
use super::request_path::{PathSegment, RequestPath};
use crate::object::list_keys::Schema;
use crate::object::{Doc, Value};

/// How many documents are read at the same time. One may have several megabytes.
const AT_ONCE: usize = 4;
/// The path of the index. The documents are below it.
const ROOT: &str = "/openapi/v3";

/// The schemas of one cluster. After an error a schema is missing. [`OpenApi::problem`] has the first error.
pub(crate) struct OpenApi {
    client: Client,
    cache: Option<Arc<Cache>>,
    index: OnceCell<Index>,
    turns: Semaphore,
    problem: OnceLock<RequestError>,
}

/// Maps the names of the documents (`apis/GROUP/VERSION`) to the hashes of their content, if they have one.
type Index = FxHashMap<String, Option<String>>;

impl OpenApi {
    /// The schemas of the client's cluster, kept in this directory if there is one. This makes no request.
    pub(crate) fn new(client: Client, cache_dir: Option<&Path>) -> OpenApi {
        let server = client.config().address();
        OpenApi {
            cache: cache_dir.map(|dir| Arc::new(Cache::new(dir, "openapi", &server))),
            client,
            index: OnceCell::new(),
            turns: Semaphore::new(AT_ONCE),
            problem: OnceLock::new(),
        }
    }

    /// The first error for which a schema is missing.
    pub(crate) fn problem(&self) -> Option<&RequestError> {
        self.problem.get()
    }

    async fn read(&self, request: &ApiRequest) -> Option<Bytes> {
        let answer = self.client.get_patiently(request).await;
        answer
            .inspect_err(|error| {
                let _first_stays = self.problem.set(error.clone());
            })
            .ok()
    }

    /// The lists of the kinds of a group version; `None` if the server does not provide them. The index is
    /// requested once, and a document only if the disk does not have it with the hash of the index.
    pub(crate) async fn schema(&self, group: &str, version: &str) -> Option<Arc<Schema>> {
        let index = self.index.get_or_init(async || {
            let answer = self.read(&ApiRequest::new(ROOT)).await;
            answer.map_or_else(Index::default, |answer| index(&answer))
        });
        let index = index.await;
        let name = format!("apis/{group}/{version}");
        let hash = index.get(&name)?.as_deref();
        let _turn = self.turns.acquire().await.ok()?;
        let schema = match self.kept(&name, hash).await {
            Some(kept) => kept,
            None => self.fetch(&name, hash).await?,
        };
        Some(Arc::new(schema))
    }

    async fn kept(&self, name: &str, hash: Option<&str>) -> Option<Schema> {
        let (cache, hash) = (self.cache.clone()?, hash?.to_owned());
        let name = name.to_owned();
        let reading = spawn_blocking(move || document(&cache.read(&name, &hash)?));
        reading.await.ok()?
    }

    /// Requests a document by its name in the index. The URLs in the index are not trusted.
    async fn fetch(&self, name: &str, hash: Option<&str>) -> Option<Schema> {
        let path = name
            .split('/')
            .try_fold(RequestPath::from(ROOT), |path, segment| {
                path.then(PathSegment::Group, segment)
            });
        let mut request = ApiRequest::new(path.ok()?);
        if let Some(hash) = hash {
            request = request.query("hash", hash);
        }
        let answer = self.read(&request).await?;
        let keep = self.cache.clone().zip(hash.map(str::to_owned));
        let name = name.to_owned();
        let reading = spawn_blocking(move || {
            let schema = document(&answer)?;
            if let Some((cache, hash)) = keep {
                // If the directory is not writable, the next run makes the request again.
                let _not_kept = cache.write(&name, &hash, &answer);
            }
            Some(schema)
        });
        reading.await.ok()?
    }
}

/// Parses an index. Invalid hashes are left out.
fn index(answer: &[u8]) -> Index {
    let Some(doc) = read(answer) else {
        return Index::default();
    };
    let paths = doc.root().get("paths");
    let paths = paths.into_iter().flat_map(Value::fields);
    paths
        .map(|(name, entry)| {
            let url = entry.str_at(&["serverRelativeURL"]).unwrap_or_default();
            (name.into_owned(), hash(&url).map(str::to_owned))
        })
        .collect()
}

/// The hash in `/openapi/v3/apis/GROUP/VERSION?hash=HASH`.
fn hash(url: &str) -> Option<&str> {
    let (_, query) = url.split_once('?')?;
    let hash = query
        .split('&')
        .find_map(|pair| pair.strip_prefix("hash="))?;
    let is_one = !hash.is_empty() && hash.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_one.then_some(hash)
}

/// Reads the lists from a document; `None` if it is invalid.
fn document(bytes: &[u8]) -> Option<Schema> {
    let doc = read(bytes)?;
    doc.root().at(&["components", "schemas"])?;
    Some(Schema::read(doc.root()))
}

fn read(bytes: &[u8]) -> Option<Doc> {
    Doc::parse(std::str::from_utf8(bytes).ok()?).ok()
}
