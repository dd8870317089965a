//! A session over a record: the files of `record` instead of a cluster.

use std::path::Path;
use std::sync::Arc;

use super::{ClusterOrigin, Session, SessionPlace};
use crate::cluster::{Names, Target};
use crate::commands::{CommandError, Context, EveryKind, FileArgs, ObjectArgs};
use crate::env::Clock;
use crate::object::ResourceType;
use crate::record::{LayeredTransport, Store, StoreTransport};
use crate::source::{ClusterId, Scope, SourceKey};
use crate::watch::{HttpTransport, Mux, MuxOptions, Transport};

impl Session {
    /// Opens the record in a directory. The time at which it ends is the current time, unless a flag sets another one.
    pub(crate) fn of_record(
        context: &mut Context<'_>,
        args: &FileArgs,
        path: &Path,
    ) -> Result<Session, CommandError> {
        let record = chosen(&Store::open(path)?, &context.origin, path)?;
        if let Some(now) = args.now.or(record.until()) {
            context.env.now = Arc::new(move || now);
        }
        let namespace = match &context.origin {
            ClusterOrigin::Kubeconfig(flags) => flags.overrides.namespace.as_deref().map(Arc::from),
            ClusterOrigin::Plain { namespace, .. } => Some(Arc::from(*namespace)),
        };
        let record = Arc::new(record);
        let cluster = ClusterId((*record.cluster().name).into());
        let transport: Arc<dyn Transport> = record.clone();
        let options = MuxOptions {
            watches: false,
            ..MuxOptions::default()
        };
        let transports = [(cluster.clone(), transport)];
        Ok(Session {
            mux: Mux::with_options(transports, context.env.now.clone(), options),
            cluster,
            namespace: namespace.unwrap_or_else(|| only_namespace(record.sources())),
            openapi: None,
            types: None,
            place: SessionPlace::Record(record),
            server_clock: None,
            is_by_server: false,
            is_past: false,
        })
    }
}

impl Session {
    /// Lays the record of this cluster under the server, if there is one: look-backs then reach as far as the record.
    /// Returns why an existing record is not used.
    pub(crate) async fn remember(&mut self, store: &Path, now: Clock) -> Option<String> {
        let SessionPlace::Cluster(client) = &self.place else {
            return None;
        };
        if !Store::is_at(store) {
            return None;
        }
        let live: Arc<dyn Transport> = Arc::new(HttpTransport::new(client.clone()));
        let record = async {
            let cluster = self.recorded_cluster().await?;
            let store = Store::open(store)?;
            let record = StoreTransport::open(&store.cluster(&cluster.id))?;
            Ok::<_, CommandError>(record.map(|record| (record, store)))
        };
        let (record, store) = match record.await {
            Ok(record) => record?,
            // The first request fails in the same way, and says so.
            Err(error) => return Some(format!("the record is not used: {error}")),
        };
        let layered = LayeredTransport::new(live, record, &store, now.clone());
        let transport: Arc<dyn Transport> = Arc::new(layered);
        self.mux = Mux::new([(self.cluster.clone(), transport)], now);
        None
    }
}

/// The record of the only cluster, or of the one that `--context` names.
fn chosen(
    store: &Store,
    origin: &ClusterOrigin,
    path: &Path,
) -> Result<StoreTransport, CommandError> {
    let context = match origin {
        ClusterOrigin::Kubeconfig(flags) => flags.overrides.context.clone(),
        ClusterOrigin::Plain { .. } => None,
    };
    let mut records = Vec::new();
    for files in store.clusters()? {
        records.extend(StoreTransport::open(&files)?);
    }
    let names: Vec<String> = records.iter().map(|it| it.cluster().name.clone()).collect();
    let is_chosen = |record: &StoreTransport| {
        context
            .as_ref()
            .is_none_or(|name| *name == record.cluster().name)
    };
    records.retain(is_chosen);
    let path = path.display();
    match (records.pop(), records.is_empty(), &names[..]) {
        (Some(record), true, _) => Ok(record),
        (_, _, []) => Err(CommandError::failed(format!(
            "error: {path}: nothing is recorded"
        ))),
        (Some(_), false, _) => Err(CommandError::failed(format!(
            "error: {path} has the records of several clusters"
        ))
        .hint(format!("choose one with --context: {}", names.join(", ")))),
        (None, _, _) => Err(CommandError::failed(format!(
            "error: {path} has no record of this context"
        ))
        .hint(format!("choose one with --context: {}", names.join(", ")))),
    }
}

/// The only namespace that is recorded, or `default`.
fn only_namespace(sources: &[SourceKey]) -> Arc<str> {
    let mut scopes = sources.iter().map(|key| &key.scope);
    let Some(Scope::Namespace(first)) = scopes.next() else {
        return "default".into();
    };
    let is_only = scopes.all(|scope| *scope == Scope::Namespace(first.clone()));
    if is_only {
        first.clone()
    } else {
        "default".into()
    }
}

/// The recorded types, as arguments can name them.
pub(super) fn recorded_types(record: &StoreTransport) -> Vec<ResourceType> {
    let types = record.sources().iter().map(|key| ResourceType {
        resource: key.resource.clone(),
        singular: key.resource.kind.to_lowercase(),
        short_names: Vec::new(),
        categories: Vec::new(),
        verbs: vec!["list".to_owned(), "watch".to_owned()],
        has_status: false,
    });
    let mut types: Vec<ResourceType> = types.collect();
    types.dedup_by(|one, other| one.resource == other.resource);
    types
}

/// Every recorded kind, of a namespace or of the cluster.
pub(super) fn every_recorded(
    record: &StoreTransport,
    args: &ObjectArgs,
    namespace: &Arc<str>,
) -> EveryKind {
    let place = (!args.all_namespaces).then(|| namespace.clone());
    let target = |found: ResourceType| Target {
        namespace: place.clone().filter(|_| found.resource.namespaced),
        resource: found.resource,
        names: Names::All,
        labels: args.selector.as_deref().map(Arc::from),
        fields: args.field_selector.as_deref().map(Arc::from),
    };
    let types = recorded_types(record).into_iter();
    let inside = types.filter(|found| args.all_namespaces || found.resource.namespaced);
    EveryKind {
        targets: inside.map(target).collect(),
        is_of_namespace: !args.all_namespaces,
        ..EveryKind::default()
    }
}
