//! What a cluster says of the lists of its kinds: the `OpenAPI` v3 document of each group version, kept
//! on disk for as long as the server's index has the same hash for it
//! (<https://kubernetes.io/docs/concepts/overview/kubernetes-api/#openapi-v3>).

mod cache;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tokio::sync::{OnceCell, Semaphore};
use tokio::task::spawn_blocking;

use super::client::{ApiRequest, Client};
use super::request_path::{Part, RequestPath};
use crate::object::list_keys::Schema;
use crate::object::{Doc, Value};
use cache::Cache;

/// How many documents are read at once. One may have megabytes.
const AT_ONCE: usize = 4;
/// Where the index is, and below it the documents.
const ROOT: &str = "/openapi/v3";

/// The schemas of one cluster. Whatever goes wrong with one of them is only that: nobody who asks has
/// anything to do about it.
pub(crate) struct OpenApi {
    client: Client,
    cache: Option<Arc<Cache>>,
    index: OnceCell<Index>,
    turns: Semaphore,
}

/// The names of the documents (`apis/GROUP/VERSION`), each with the hash of its content where there is
/// one.
type Index = FxHashMap<String, Option<String>>;

impl OpenApi {
    /// The schemas of the client's cluster, kept in this directory if there is one. Nothing is asked yet.
    pub(crate) fn new(client: Client, cache_dir: Option<&Path>) -> OpenApi {
        let server = client.config().address();
        OpenApi {
            cache: cache_dir.map(|dir| Arc::new(Cache::new(dir, &server))),
            client,
            index: OnceCell::new(),
            turns: Semaphore::new(AT_ONCE),
        }
    }

    /// The lists of the kinds of a group version; `None` if the server does not tell. The index is asked
    /// for once, the document only if it is not on disk as the index has it.
    pub(crate) async fn schema(&self, group: &str, version: &str) -> Option<Arc<Schema>> {
        let index = self.index.get_or_init(|| self.read_index()).await;
        let name = format!("apis/{group}/{version}");
        let hash = index.get(&name)?.as_deref();
        let _turn = self.turns.acquire().await.ok()?;
        let schema = match self.kept(&name, hash).await {
            Some(kept) => kept,
            None => self.fetch(&name, hash).await?,
        };
        Some(Arc::new(schema))
    }

    /// What the server has; nothing, if it does not tell.
    async fn read_index(&self) -> Index {
        let answer = self.client.get(&ApiRequest::new(ROOT)).await;
        answer.map_or_else(|_| Index::default(), |answer| index(&answer))
    }

    async fn kept(&self, name: &str, hash: Option<&str>) -> Option<Schema> {
        let (cache, hash) = (self.cache.clone()?, hash?.to_owned());
        let name = name.to_owned();
        let reading = spawn_blocking(move || document(&cache.read(&name, &hash)?));
        reading.await.ok()?
    }

    /// Asks by the index's own names: the URLs in it are somebody else's word.
    async fn fetch(&self, name: &str, hash: Option<&str>) -> Option<Schema> {
        let path = name
            .split('/')
            .try_fold(RequestPath::from(ROOT), |path, segment| {
                path.then(Part::Group, segment)
            });
        let mut ask = ApiRequest::new(path.ok()?);
        if let Some(hash) = hash {
            ask = ask.query("hash", hash);
        }
        let answer = self.client.get(&ask).await.ok()?;
        let keep = self.cache.clone().zip(hash.map(str::to_owned));
        let name = name.to_owned();
        let reading = spawn_blocking(move || {
            let schema = document(&answer)?;
            if let Some((cache, hash)) = keep {
                // A directory that cannot be written costs a request the next time.
                let _not_kept = cache.write(&name, &hash, &answer);
            }
            Some(schema)
        });
        reading.await.ok()?
    }
}

/// Reads an index. Hashes that are none are left out.
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

/// Reads the lists out of a document; `None` if it is none.
fn document(bytes: &[u8]) -> Option<Schema> {
    let doc = read(bytes)?;
    doc.root().at(&["components", "schemas"])?;
    Some(Schema::read(doc.root()))
}

fn read(bytes: &[u8]) -> Option<Doc> {
    Doc::parse(std::str::from_utf8(bytes).ok()?).ok()
}
