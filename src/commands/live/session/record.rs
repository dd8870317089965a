//! The record of a cluster, as a session reads it.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use ring::digest;

use super::connection::{ClusterConnection, ClusterOrigin};
use super::every_kind::EveryKind;
use crate::cluster::{Names, Target};
use crate::commands::{CommandError, ObjectArgs};
use crate::env::Clock;
use crate::object::{ResourceType, well_known_type};
use crate::record::{LayeredTransport, RecordedCluster, Store, StoreTransport};
use crate::source::{Scope, Select, SourceKey};
use crate::watch::{End, Mux};

/// The namespace whose uid identifies a cluster.
const SYSTEM: &str = "kube-system";

/// The cluster as a record names it. It fails if the server does not answer.
pub(super) async fn identity(
    connection: &ClusterConnection,
    mux: &Mux,
) -> Result<RecordedCluster, CommandError> {
    let config = connection.client.config();
    let uid = system_uid(connection, mux).await?;
    Ok(RecordedCluster {
        // Without the right to read Namespaces, a server is known by its URL.
        id: uid.unwrap_or_else(|| hash(&config.url())),
        name: connection.cluster.0.to_string(),
        server: config.address(),
    })
}

/// The uid of the Namespace `kube-system`; `None` if it cannot be read.
async fn system_uid(
    connection: &ClusterConnection,
    mux: &Mux,
) -> Result<Option<String>, CommandError> {
    let namespaces = well_known_type("", "Namespace");
    let key = namespaces.map(|found| {
        let select = Select::Name(Arc::from(SYSTEM));
        SourceKey::of(&connection.cluster, found.resource.clone(), None, select)
    });
    let Some(history) = key.and_then(|key| mux.history(&key)) else {
        return Ok(None);
    };
    match history.listing_now().await {
        Ok(found) => {
            let uid = found.first().and_then(|found| found.object.uid.clone());
            Ok(uid.map(|uid| uid.as_str().to_owned()))
        }
        Err(End::Failed(error)) => Err(CommandError::failed(format!("error: {error}"))),
        Err(
            End::NotOffered(_) | End::Limit | End::Spent | End::Forgotten(_) | End::OutOfTime(_),
        ) => Ok(None),
    }
}

/// The first hexadecimal digits of a text's hash.
fn hash(text: &str) -> String {
    let hash = digest::digest(&digest::SHA256, text.as_bytes());
    let mut digits = String::new();
    for byte in &hash.as_ref()[..16] {
        let _infallible = write!(digits, "{byte:02x}");
    }
    digits
}

/// The server over its record; `None` if there is no record of it.
pub(super) async fn layered(
    connection: &ClusterConnection,
    mux: &Mux,
    store: &Path,
    now: Clock,
) -> Result<Option<LayeredTransport>, CommandError> {
    if !Store::is_at(store) {
        return Ok(None);
    }
    let cluster = identity(connection, mux).await?;
    let store = Store::open(store)?;
    let record = StoreTransport::open(&store.cluster(&cluster.id))?;
    Ok(record.map(|record| LayeredTransport::new(connection.transport(), record, &store, now)))
}

/// The record of the only cluster, or of the one that `--context` names.
pub(super) fn chosen(origin: &ClusterOrigin, path: &Path) -> Result<StoreTransport, CommandError> {
    let store = Store::open(path)?;
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
pub(super) fn only_namespace(sources: &[SourceKey]) -> Arc<str> {
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
