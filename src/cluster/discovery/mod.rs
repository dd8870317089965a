//! Discovers what a cluster serves. It makes requests only if a word or a response requires them.

mod parse;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use futures::stream::{self, StreamExt};
use tokio::sync::OnceCell;

use super::TypeWord;
use super::cache::Cache;
use super::client::{ApiRequest, Client, RequestError};
use super::request_path::RequestPath;
use crate::object::{Resource, ResourceType, json_fault, near, well_known};

use parse::DiscoveryAnswer;

/// Aggregated discovery, and the older form for servers without it.
const ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
    application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
/// How many requests of the older form run at the same time.
const AT_ONCE: usize = 8;

/// All types of a cluster at one moment.
#[derive(Debug, Default)]
pub struct Discovery {
    /// The types, in the server's order of preference. A word means the first type that it matches.
    pub types: Vec<ResourceType>,
    /// `GROUP/VERSION` of the groups that could not be read, for example because their API server is down. Their
    /// types may be missing.
    pub stale: Vec<String>,
}

/// What has the types that words name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypePlace {
    /// An API server.
    Server,
    /// The files of `--from`.
    File,
    /// A record.
    Record,
}

impl fmt::Display for TypePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TypePlace::Server => "server",
            TypePlace::File => "file",
            TypePlace::Record => "record",
        })
    }
}

/// Why a word has no type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// The cluster, the file or the record has no type with that name.
    #[error("error: the {place} doesn't have a resource type {word:?}")]
    Unknown {
        /// What has no such type.
        place: TypePlace,
        /// The word.
        word: String,
        /// Similar words, the nearest first.
        near: Vec<String>,
        /// Groups that could not be read.
        stale: Vec<String>,
    },
    /// The request for the types failed.
    #[error("{0}")]
    Request(RequestError),
}

/// Resolves words to resources.
#[derive(Debug)]
pub struct Resolver {
    /// The cluster's client; `None` if all types are known from the start.
    client: Option<Client>,
    discovered: OnceCell<Discovery>,
    place: TypePlace,
    /// Where the found types are kept.
    cache: Option<Arc<TypeCache>>,
}

impl Resolver {
    /// Creates a resolver, without a request.
    pub fn new(client: Client) -> Resolver {
        Resolver {
            client: Some(client),
            discovered: OnceCell::new(),
            place: TypePlace::Server,
            cache: None,
        }
    }

    /// Keeps the types that it discovers.
    #[must_use]
    pub(crate) fn keeping(self, cache: Option<Arc<TypeCache>>) -> Resolver {
        Resolver { cache, ..self }
    }

    /// A resolver of these types of a place and of Kubernetes' own. It makes no requests.
    pub fn of(place: TypePlace, types: Vec<ResourceType>) -> Resolver {
        let discovery = Discovery {
            types,
            stale: Vec::new(),
        };
        Resolver {
            client: None,
            discovered: OnceCell::new_with(Some(discovery)),
            place,
            cache: None,
        }
    }

    /// The resource of a word. It makes requests only for words that are not Kubernetes' own types, which take
    /// precedence over all others anyway.
    pub async fn resolve(&self, word: &str) -> Result<Resource, ResolveError> {
        let wanted = TypeWord::new(word);
        if let Some(found) = wanted.find(well_known()) {
            return Ok(found.resource.clone());
        }
        let discovery = self.discovery().await.map_err(ResolveError::Request)?;
        match wanted.find(&discovery.types) {
            Some(found) => Ok(found.resource.clone()),
            None => Err(ResolveError::Unknown {
                place: self.place,
                word: wanted.name().to_owned(),
                near: near_types(wanted.name(), discovery),
                stale: discovery.stale.clone(),
            }),
        }
    }

    /// The resource of a kind in exactly this version, as manifests name it; `None` if the cluster does not serve
    /// it. It makes requests only for kinds that are not Kubernetes' own.
    pub async fn of_kind(
        &self,
        api_version: &str,
        kind: &str,
    ) -> Result<Option<Resource>, RequestError> {
        let is_meant = |found: &&ResourceType| {
            let resource = &found.resource;
            &*resource.kind == kind && resource.api_version() == api_version && found.listable()
        };
        let known = well_known().iter().find(is_meant);
        let found = match known {
            Some(known) => Some(known),
            None => self.discovery().await?.types.iter().find(is_meant),
        };
        Ok(found.map(|found| found.resource.clone()))
    }

    /// The resources of a category such as `all`; `None` if the word is not a category. Only the cluster knows
    /// which custom resources belong to it. If the requests fail, this uses Kubernetes' own.
    pub async fn category(&self, word: &str) -> Option<Vec<Resource>> {
        if TypeWord::new(word).find(well_known()).is_some() {
            return None;
        }
        let types = match self.discovery().await {
            Ok(discovery) => &discovery.types[..],
            Err(_) => well_known(),
        };
        let mut members: Vec<Resource> = Vec::new();
        for found in types {
            let resource = &found.resource;
            let another_version =
                |taken: &Resource| taken.group == resource.group && taken.plural == resource.plural;
            if found.categories.iter().any(|category| category == word)
                && found.listable()
                && !members.iter().any(another_version)
            {
                members.push(resource.clone());
            }
        }
        Some(members).filter(|members| !members.is_empty())
    }

    /// Everything that the cluster serves, requested once.
    pub async fn discovery(&self) -> Result<&Discovery, RequestError> {
        self.discovered
            .get_or_try_init(async || match &self.client {
                Some(client) => {
                    let found = discover(client).await?;
                    if let Some(cache) = &self.cache {
                        // If the directory is not writable, completion makes the requests again.
                        let _not_kept = cache.write(&found);
                    }
                    Ok(found)
                }
                None => Ok(Discovery::default()),
            })
            .await
    }
}

/// The names of types that resemble a word. A type with this very name is in another group or version than the user
/// typed, so it is named with its group.
fn near_types(typed: &str, discovery: &Discovery) -> Vec<String> {
    let word = typed.to_lowercase();
    let served = || discovery.types.iter().filter(|found| found.listable());
    let same = served().filter(|found| names(found).any(|name| name == typed));
    let mut same: Vec<String> = same.map(|found| found.resource.group_resource()).collect();
    same.retain(|name| name != typed);
    same.dedup();
    if !same.is_empty() {
        return same;
    }
    let others = served().flat_map(names).filter(|name| *name != typed);
    near(&word, others)
}

/// The words that stand for a type, apart from its kind.
fn names(found: &ResourceType) -> impl Iterator<Item = &str> {
    let names = [&*found.resource.plural, &*found.singular];
    names
        .into_iter()
        .chain(found.short_names.iter().map(String::as_str))
}

/// Discovers all types: with two requests if the server aggregates discovery, else with one per group.
async fn discover(client: &Client) -> Result<Discovery, RequestError> {
    let (core, groups) = tokio::join!(root(client, "/api"), root(client, "/apis"));
    let mut found = Discovery::default();
    for said in [core?, groups?] {
        match said {
            DiscoveryAnswer::Types(types, stale) => {
                found.types.extend(types);
                found.stale.extend(stale);
            }
            DiscoveryAnswer::Names(names) => each(client, names, &mut found).await,
        }
    }
    Ok(found)
}

async fn root(client: &Client, path: &'static str) -> Result<DiscoveryAnswer, RequestError> {
    let request = ApiRequest::new(path);
    let body = match client.get_patiently(&request.clone().accept(ACCEPT)).await {
        Err(RequestError::Api { error, .. }) if error.status.code == 406 => {
            client.get_patiently(&request).await
        }
        // A server of extensions only has no core group.
        Err(RequestError::Api { error, .. }) if error.status.code == 404 => {
            return Ok(DiscoveryAnswer::Names(Vec::new()));
        }
        other => other,
    }?;
    match parse::root(&body).map_err(|error| decode(path, &error))? {
        // Some proxies accept the aggregated form but drop its content.
        DiscoveryAnswer::Types(types, stale) if types.is_empty() && stale.is_empty() => {
            let body = client.get_patiently(&request).await?;
            parse::root(&body).map_err(|error| decode(path, &error))
        }
        said => Ok(said),
    }
}

/// Discovers groups one by one. A group that fails is recorded as stale, and the others are still read.
async fn each(client: &Client, names: Vec<(String, String)>, found: &mut Discovery) {
    let mut answers = stream::iter(names)
        .map(|(group, version)| async move {
            let name = parse::group_version(&group, &version);
            let types = async {
                let path = RequestPath::of_group(&group, &version)?;
                let body = client.get_patiently(&ApiRequest::new(path)).await?;
                parse::resources(&body, &group, &version).map_err(|error| decode(&name, &error))
            };
            let types = types.await;
            (name, types)
        })
        .buffered(AT_ONCE);
    while let Some((name, types)) = answers.next().await {
        match types {
            Ok(types) => found.types.extend(types),
            Err(_) => found.stale.push(name),
        }
    }
}

fn decode(path: &str, error: &serde_json::Error) -> RequestError {
    let fault = json_fault(error);
    RequestError::Decode(format!("{path} is not a list of API groups: {fault}").into())
}

/// The name of the file, and the version of its format.
const NAME: &str = "types";
const FORMAT: &str = "1";

/// The kept types of one server. Each discovery replaces them, so they have no time limit.
#[derive(Debug)]
pub(crate) struct TypeCache {
    cache: Cache,
}

impl TypeCache {
    /// The types of the server at this address (`HOST:PORT/PREFIX`) in this directory. It reads nothing yet.
    pub(crate) fn new(cache_dir: &Path, server: &str) -> TypeCache {
        TypeCache {
            cache: Cache::new(cache_dir, "discovery", server),
        }
    }

    /// The kept types, in the server's order of preference; `None` if there are none, or if the file is damaged.
    pub(crate) fn read(&self) -> Option<Vec<ResourceType>> {
        let document = self.cache.read(NAME, FORMAT)?;
        serde_json::from_slice(&document).ok()
    }

    /// Keeps the types of a discovery. For groups that it could not read, the types of the last one stay.
    fn write(&self, found: &Discovery) -> io::Result<()> {
        let before = self.read().unwrap_or_default();
        let is_stale = |kept: &&ResourceType| {
            let Resource { group, version, .. } = &kept.resource;
            found.stale.contains(&parse::group_version(group, version))
                && !found.types.contains(kept)
        };
        let stale = before.iter().filter(is_stale);
        let types: Vec<&ResourceType> = found.types.iter().chain(stale).collect();
        if types.iter().copied().eq(&before) {
            return Ok(());
        }
        self.cache.write(NAME, FORMAT, &serde_json::to_vec(&types)?)
    }
}

#[cfg(test)]
mod type_cache_tests {
    use super::*;
    use crate::cluster::kubeconfig::tests::Files;

    fn widget(group: &str) -> ResourceType {
        ResourceType {
            resource: Resource {
                group: group.into(),
                version: "v1".into(),
                plural: "widgets".into(),
                kind: "Widget".into(),
                namespaced: true,
            },
            singular: "widget".to_owned(),
            short_names: vec!["wi".to_owned()],
            categories: vec!["all".to_owned()],
            verbs: vec!["list".to_owned()],
            has_status: true,
        }
    }

    #[test]
    fn the_types_of_a_discovery_are_kept() {
        let files = Files::new(&[]);
        let cache = TypeCache::new(&files.path("cache"), "10.0.0.1:6443");
        assert_eq!(cache.read(), None);
        let write = |types: &[ResourceType], stale: &[&str]| {
            let found = Discovery {
                types: types.to_vec(),
                stale: stale.iter().map(|&name| name.to_owned()).collect(),
            };
            cache.write(&found).expect("writable");
            cache.read().expect("kept")
        };
        let [a, b] = ["a.com", "b.com"].map(widget);
        assert_eq!(write(&[a.clone(), b.clone()], &[]), [a.clone(), b.clone()]);
        // The server of a group does not answer: its types are kept, those of other groups are gone.
        assert_eq!(write(&[], &["b.com/v1"]), [b]);
        assert_eq!(write(std::slice::from_ref(&a), &[]), [a]);
        let elsewhere = TypeCache::new(&files.path("cache"), "10.0.0.2:6443");
        assert_eq!(elsewhere.read(), None);
    }

    #[test]
    fn a_damaged_file_counts_as_missing() {
        let damaged = "cache/spy/discovery/host/types.json";
        let files = Files::new(&[(damaged, "1\n[{\"group\":")]);
        let cache = TypeCache::new(&files.path("cache"), "host");
        assert_eq!(cache.read(), None);
    }
}
