//! `LiveCluster`: the cluster of a command line, as far as completion reads it.

use std::iter::once;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Command, FromArgMatches};
use futures::future::join_all;
use tokio::sync::OnceCell;
use tokio::time::{Instant, timeout_at};

use super::line::{GivenFlag, TypedLine, ValueSort};
use super::offer::Offer;
use crate::cluster::{
    Ambient, Arguments, Client, ClusterConfig, Filters, KubeconfigNames, Namespaces, ObjectRow,
    PluginRun, Resolver, RowsPage, Target, TargetError, TypeCache, TypePlace, object_rows,
    parse_arguments,
};
use crate::commands::manifests::release_names;
use crate::commands::{ClusterArgs, CommandError, Context};
use crate::object::{Doc, Resource, ResourceType};
use crate::source::{ClusterId, Form, SourceKey};
use crate::watch::{At, HttpTransport, Page, Transport, source_keys};

/// How long a credential plugin may run.
const PLUGIN_LIMIT: Duration = Duration::from_secs(1);
/// How many objects are read at most.
const LIMIT: u32 = 500;
/// How long after the start more pages of names are read. It leaves time to answer with the names so far.
const PAGES: Duration = Duration::from_secs(1);
/// How many sources are read at most: one for each named object or type.
const SOURCES: usize = 8;

/// The cluster of a command line. It has sent nothing yet.
pub(super) struct LiveCluster {
    config: ClusterConfig,
    /// The one client of all requests, so that a credential plugin runs once.
    client: OnceCell<Client>,
    namespaces: Namespaces,
    cache: Option<Arc<TypeCache>>,
    /// The types that an earlier discovery found.
    pub(super) kept: Vec<ResourceType>,
    /// When to stop reading names.
    deadline: Instant,
}

impl LiveCluster {
    /// Finds the cluster by the flags of the line; `None` if the line reads no cluster, or if none is configured.
    pub(super) fn of(line: &TypedLine<'_>, context: &Context<'_>) -> Option<LiveCluster> {
        if line.verbs.first() == Some(&"demo") || line.has("from") {
            return None;
        }
        let flags = cluster_args(line);
        let ambient = Ambient::from_lookup(|name| context.env.path(name).map(Into::into));
        let config = if flags.contexts.may_be_several(&flags.overrides) {
            // The clusters of one command line are much alike.
            let contexts = ClusterConfig::load_each(&ambient, &flags.overrides, &flags.contexts);
            contexts.ok()?.into_iter().next()?.config.ok()?
        } else {
            ClusterConfig::load(&ambient, &flags.overrides).ok()?
        };
        let cache = flags.cache_dir(&ambient);
        let cache = cache.map(|dir| Arc::new(TypeCache::new(&dir, &config.address())));
        Some(LiveCluster {
            namespaces: if line.has("all-namespaces") {
                Namespaces::All
            } else {
                Namespaces::One(config.namespace().clone())
            },
            client: OnceCell::new(),
            config: config.running_plugins(PluginRun::Unattended(PLUGIN_LIMIT)),
            kept: cache
                .as_ref()
                .and_then(|cache| cache.read())
                .unwrap_or_default(),
            cache,
            deadline: Instant::now() + PAGES,
        })
    }

    /// The types that the cluster serves now.
    pub(super) async fn served_types(&self) -> Result<Vec<ResourceType>, CommandError> {
        let resolver = self.resolver().await?;
        Ok(resolver.discovery().await?.types.clone())
    }

    /// The resource of a word. It asks the server only for a word that no earlier discovery found.
    pub(super) async fn resource(&self, word: &str) -> Result<Resource, CommandError> {
        if let Ok(known) = Resolver::of(TypePlace::Server, self.kept.clone())
            .resolve(word)
            .await
        {
            return Ok(known);
        }
        let found = self.resolver().await?.resolve(word).await;
        Ok(found.map_err(TargetError::Resolve)?)
    }

    /// The names of the objects of a resource in the namespace of the line, as far as they begin with `text`. With a text,
    /// it reads page after page, until it has enough names or the time is over.
    pub(super) async fn names(
        &self,
        resource: &Resource,
        text: &str,
    ) -> Result<Vec<Offer>, CommandError> {
        let namespace = match &self.namespaces {
            Namespaces::One(namespace) => Some(&**namespace),
            Namespaces::All => None,
        };
        let client = self.client().await?;
        let mut offers = Vec::new();
        let mut next: Option<String> = None;
        loop {
            let page = RowsPage {
                namespace,
                limit: LIMIT,
                next: next.as_deref(),
            };
            let read = timeout_at(self.deadline, object_rows(client, resource, page)).await;
            let page = match read {
                Ok(Ok(page)) => page,
                Ok(Err(error)) if next.is_none() => return Err(error.into()),
                // A token may expire, and the time may be over.
                Ok(Err(_)) | Err(_) => return Ok(offers),
            };
            let fitting = page.rows.into_iter();
            let fitting = fitting.filter(|row| row.name.starts_with(text));
            offers.extend(fitting.map(|row: ObjectRow| Offer::new(row.name, row.summary)));
            if text.is_empty() || page.next.is_none() || offers.len() >= LIMIT as usize {
                return Ok(offers);
            }
            next = page.next;
        }
    }

    /// The names of the Helm releases in the namespace of the line.
    pub(super) async fn releases(&self) -> Result<Vec<String>, CommandError> {
        let client = self.client().await?;
        Ok(release_names(client, self.config.namespace()).await)
    }

    /// The objects that the line names or selects. Of Secrets it reads only the metadata.
    pub(super) async fn objects(
        &self,
        line: &TypedLine<'_>,
        read: ReadDepth,
    ) -> Result<Vec<Doc>, CommandError> {
        let cluster = ClusterId(self.config.name().clone());
        let targets = self.targets(line, read).await?;
        let keys = targets.iter().flat_map(|target| {
            let form = match read {
                ReadDepth::Whole if !is_secret(&target.resource) => Form::Full,
                ReadDepth::Whole | ReadDepth::Metadata => Form::Metadata,
            };
            source_keys(&cluster, target, form)
        });
        let transport = HttpTransport::new(self.client().await?.clone());
        let keys: Vec<SourceKey> = keys.take(SOURCES).collect();
        let lists = keys.iter().map(|key| listed(&transport, key, read));
        Ok(join_all(lists).await.concat())
    }

    async fn targets(
        &self,
        line: &TypedLine<'_>,
        read: ReadDepth,
    ) -> Result<Vec<Target>, CommandError> {
        let given = |flag| match read {
            ReadDepth::Whole => line.value(flag).map(str::to_owned),
            // The selector may be what the user types.
            ReadDepth::Metadata => None,
        };
        let filters = Filters {
            labels: given("selector"),
            fields: given("field-selector"),
            namespaces: self.namespaces.clone(),
        };
        let arguments: Arguments = parse_arguments(&line.named_objects(), &filters)?;
        let kept = Resolver::of(TypePlace::Server, self.kept.clone());
        match arguments.resolve(&kept, &filters).await {
            Err(TargetError::Resolve(_)) => {
                let resolver = self.resolver().await?;
                Ok(arguments.resolve(&resolver, &filters).await?)
            }
            resolved => Ok(resolved?),
        }
    }

    async fn resolver(&self) -> Result<Resolver, CommandError> {
        Ok(Resolver::new(self.client().await?.clone()).keeping(self.cache.clone()))
    }

    async fn client(&self) -> Result<&Client, CommandError> {
        let client = || Client::new(self.config.clone());
        Ok(self.client.get_or_try_init(client).await?)
    }
}

/// How much of the objects to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadDepth {
    /// The metadata of up to 500 objects, whatever the selectors of the line.
    Metadata,
    /// One whole object.
    Whole,
}

/// The objects of a source; none if it cannot be read.
async fn listed(transport: &HttpTransport, key: &SourceKey, read: ReadDepth) -> Vec<Doc> {
    let page = Page {
        limit: match read {
            ReadDepth::Metadata => LIMIT,
            ReadDepth::Whole => 1,
        },
        next: None,
    };
    let items = match transport.list(key, At::Latest, page).await {
        Ok(page) => page.items,
        Err(_) => Vec::new(),
    };
    let texts = items
        .iter()
        .filter_map(|item| std::str::from_utf8(item).ok());
    texts.filter_map(|text| Doc::parse(text).ok()).collect()
}

/// Whether the objects of a resource are Secrets.
fn is_secret(resource: &Resource) -> bool {
    resource.group.is_empty() && &*resource.kind == "Secret"
}

/// The cluster flags of a line. A flag that has no valid value yet counts as absent.
fn cluster_args(line: &TypedLine<'_>) -> ClusterArgs {
    let flags = line.flags.iter().filter(|given| given.arg.is_global_set());
    let words = once("kubectl-spy".to_owned()).chain(flags.filter_map(as_typed));
    let cli = Command::new("kubectl-spy")
        .args_override_self(true)
        .ignore_errors(true);
    let matches = ClusterArgs::augment_args(cli).try_get_matches_from(words);
    let args = matches.and_then(|matches| ClusterArgs::from_arg_matches(&matches));
    args.unwrap_or_default()
}

/// A flag as one word. A switch has no value here.
fn as_typed(given: &GivenFlag<'_>) -> Option<String> {
    let long = given.arg.get_long()?;
    match given.value {
        _ if !given.arg.is_require_equals_set() => {
            Some(format!("--{long}={}", given.value.unwrap_or_default()))
        }
        Some("false") => None,
        Some(_) | None => Some(format!("--{long}")),
    }
}

/// The names of a sort in the kubeconfig.
pub(super) fn cluster_names(
    line: &TypedLine<'_>,
    sort: ValueSort,
    context: &Context<'_>,
) -> Vec<Offer> {
    let ambient = Ambient::from_lookup(|name| context.env.path(name).map(Into::into));
    let names = KubeconfigNames::read(&ambient, &cluster_args(line).overrides);
    let names = names.unwrap_or_default();
    let plain = |names: Vec<String>| names.into_iter().map(|name| Offer::new(name, "")).collect();
    match sort {
        ValueSort::Cluster => plain(names.clusters),
        ValueSort::User => plain(names.users),
        _ => {
            let contexts = names.contexts.into_iter();
            let offers = contexts.map(|context| {
                let namespace = match &*context.namespace {
                    "" => String::new(),
                    namespace => format!(", namespace {namespace}"),
                };
                let about = format!("cluster {}{namespace}", context.cluster);
                Offer::new(context.name, about)
            });
            offers.collect()
        }
    }
}
