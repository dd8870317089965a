//! The record of a cluster, as a session reads it.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ring::digest;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::connection::ClusterConnection;
use super::connection_setup::{ClusterOrigin, ConnectionSetup};
use super::every_kind::{EveryKind, all_of};
use super::reader::AskingTransport;
use crate::cluster::{Filters, Namespaces, Resolver, TypePlace, parse_arguments, uid_of};
use crate::commands::{CommandError, Context, Ended, FailedAnswer, MemoryArgs, ObjectArgs};
use crate::env::Clock;
use crate::object::{ResourceType, well_known_type};
use crate::record::{
    LayeredTransport, RecordedCluster, Store, StoreError, StoreTransport, last_states,
};
use crate::render::text::shell_word;
use crate::source::{Scope, SourceKey};
use crate::watch::{KnownState, Mux, Transport};

/// What comes from the record of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordUse {
    /// Everything that the server has forgotten. Digests stand for the values of Secrets, of the present ones, too.
    Everything,
    /// Look-backs alone. Secrets come from the server.
    LookBacks,
}

/// The namespace whose uid identifies a cluster.
const SYSTEM: &str = "kube-system";

/// A cluster as a record names it, and how far it is recorded.
pub(crate) struct LastRecord {
    /// The cluster. Two contexts of one cluster have the same id.
    pub(crate) cluster: RecordedCluster,
    /// The last recorded states of the sources, or why they cannot be read.
    pub(crate) known: Result<HashMap<SourceKey, KnownState>, StoreError>,
}

/// Finds out which cluster it is, and reads the last states of these sources. It fails if the server does not answer.
pub(super) async fn last_record(
    connection: &ClusterConnection,
    store: &Path,
    keys: &[SourceKey],
) -> Result<LastRecord, CommandError> {
    let cluster = identity(connection).await?;
    let files = Store::open(store)?.cluster(&cluster.id);
    let keys = keys.to_vec();
    // A large record takes a second, in which the other clusters go on.
    let reading = spawn_blocking(move || last_states(&files, &keys));
    let known = reading.await;
    Ok(LastRecord {
        cluster,
        known: known.map_err(CommandError::failed)?,
    })
}

/// The cluster as a record names it. It fails if the server does not answer.
pub(super) async fn identity(
    connection: &ClusterConnection,
) -> Result<RecordedCluster, CommandError> {
    if let Some(known) = &connection.recorded_as {
        return Ok(known.clone());
    }
    let config = connection.client.config();
    let uid = system_uid(connection).await?;
    Ok(RecordedCluster {
        // Without the right to read Namespaces, a server is known by its URL and its CA.
        id: uid.unwrap_or_else(|| server_id(&config.url(), config.authority())),
        name: connection.cluster.0.to_string(),
        server: config.address(),
    })
}

/// The uid of the Namespace `kube-system`; `None` if it may not be read. Nothing is known of a server that does not answer, so
/// nobody waits for it to return.
async fn system_uid(connection: &ClusterConnection) -> Result<Option<String>, CommandError> {
    let Some(namespaces) = well_known_type("", "Namespace") else {
        return Ok(None);
    };
    match uid_of(&connection.client, &namespaces.resource, SYSTEM).await {
        Ok(uid) => Ok(uid),
        Err(error) => {
            let error = CommandError::from(error);
            if error.is_silence() {
                Err(error)
            } else {
                Ok(None)
            }
        }
    }
}

/// The SHA-256 of the URL of a server and the certificates of its CA, in hexadecimal digits.
///
/// One address can be that of several clusters, one after the other, or behind different tunnels: `https://localhost:6443`.
fn server_id(url: &str, authority: &[Vec<u8>]) -> String {
    let mut context = digest::Context::new(&digest::SHA256);
    let certificates = authority.iter().map(Vec::as_slice);
    for part in std::iter::once(url.as_bytes()).chain(certificates) {
        context.update(&(part.len() as u64).to_le_bytes());
        context.update(part);
    }
    let mut digits = String::new();
    for byte in context.finish().as_ref() {
        let _infallible = write!(digits, "{byte:02x}");
    }
    digits
}

/// The record of a cluster in a store; `None` if there is none.
pub(super) async fn of_cluster(
    connection: &ClusterConnection,
    store: &Store,
) -> Result<Option<StoreTransport>, CommandError> {
    let cluster = identity(connection).await?;
    let files = store.cluster(&cluster.id);
    // A long record has many files, and meanwhile a view of other clusters goes on.
    let opening = spawn_blocking(move || StoreTransport::open(&files));
    Ok(opening.await.map_err(CommandError::failed)??)
}

/// The server over its record; `None` if there is no record of it.
pub(super) async fn layered(
    connection: &ClusterConnection,
    store: &Store,
    now: Clock,
) -> Result<Option<LayeredTransport>, CommandError> {
    let found = of_cluster(connection, store).await?;
    Ok(found.map(|record| LayeredTransport::new(connection.transport(), record, store, now)))
}

/// The server over its record, for everything. A reader of `serve` may read of the record only what the server lets him list.
pub(super) fn whole(
    connection: &ClusterConnection,
    layered: LayeredTransport,
) -> Arc<dyn Transport> {
    if connection.is_of_reader {
        Arc::new(AskingTransport::new(layered, connection.transport()))
    } else {
        Arc::new(layered)
    }
}

/// The server over its record, for look-backs; `None` for a reader of `serve`.
pub(super) fn look_backs(
    connection: &ClusterConnection,
    layered: LayeredTransport,
    now: Clock,
) -> Option<Mux> {
    let past: Arc<dyn Transport> = Arc::new(layered.without_secrets());
    let own = !connection.is_of_reader;
    own.then(|| Mux::new([(connection.cluster.clone(), past)], now))
}

/// The record of the only cluster, or of the one that `--context` names, and a line for each file that cannot be read.
pub(super) async fn chosen(
    origin: &ClusterOrigin,
    path: &Path,
) -> Result<(StoreTransport, Vec<String>), CommandError> {
    let store = Store::open(path)?;
    let context = match origin {
        ClusterOrigin::Kubeconfig(flags) => flags.overrides.context.clone(),
        ClusterOrigin::Plain { .. } => None,
    };
    let opening = spawn_blocking(move || opened(&store));
    let (mut records, mut unread) = opening.await.map_err(CommandError::failed)??;
    let clusters: Vec<RecordedCluster> = records.iter().map(|it| it.cluster().clone()).collect();
    let names = RecordedCluster::words(&clusters);
    let is_chosen = |record: &StoreTransport| {
        let word = context.as_ref();
        word.is_none_or(|word| record.cluster().is_called(word))
    };
    records.retain(is_chosen);
    let path = path.display();
    match (records.pop(), records.is_empty(), &names[..]) {
        (Some(record), true, _) => {
            let lines = unread
                .iter()
                .map(|error| format!("another record is not read: {error}"));
            let lines = record.unread().iter().cloned().chain(lines).collect();
            Ok((record, lines))
        }
        (None, _, _) if !unread.is_empty() => Err(unread.swap_remove(0).into()),
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

/// The records of all clusters of a store, and why there are none of some.
fn opened(store: &Store) -> Result<(Vec<StoreTransport>, Vec<StoreError>), StoreError> {
    let (mut records, mut unread) = (Vec::new(), Vec::new());
    for files in store.clusters()? {
        match StoreTransport::open(&files) {
            Ok(record) => records.extend(record),
            Err(error) => unread.push(error),
        }
    }
    Ok((records, unread))
}

/// How long it may take to find a record for a hint.
const HINT: Duration = Duration::from_millis(1500);

/// The end of a verb. If the server does not answer, or has no such type, the error gets a hint at the record of that server.
pub(crate) async fn hint_at_record(
    ended: Result<Ended, CommandError>,
    args: &ObjectArgs,
    memory: &MemoryArgs,
    context: &Context<'_>,
) -> Result<Ended, CommandError> {
    let error = match ended {
        Err(error) if !args.source.is_given() && memory.is_read() => error,
        ended => return ended,
    };
    let types = match error.answer() {
        Some(FailedAnswer::Silence) => &[][..],
        Some(FailedAnswer::UnknownType) => &args.objects,
        Some(FailedAnswer::NotFound | FailedAnswer::Forbidden) | None => return Err(error),
    };
    let hint = timeout(HINT, Box::pin(record_hint(types, args, memory, context))).await;
    Err(match hint {
        Ok(Some(hint)) => error.hint(hint),
        Ok(None) | Err(_) => error,
    })
}

/// How to read the record of the server, if there is one that has all of these types.
async fn record_hint(
    types: &[String],
    args: &ObjectArgs,
    memory: &MemoryArgs,
    context: &Context<'_>,
) -> Option<String> {
    let ClusterOrigin::Kubeconfig(flags) = &context.origin else {
        return None;
    };
    let path = memory.directory(context.env).ok()?;
    let store = Store::open(&path).ok()?;
    let setup = ConnectionSetup::of(context);
    let config = setup.only_config(&context.origin).await.ok()?;
    let (records, _) = spawn_blocking(move || opened(&store)).await.ok()?.ok()?;
    let clusters: Vec<RecordedCluster> = records.iter().map(|it| it.cluster().clone()).collect();
    let named = records.iter().zip(RecordedCluster::words(&clusters));
    let is_of_server = |record: &StoreTransport| record.cluster().server == config.address();
    let of_server = named.filter(|(record, _)| is_of_server(record));
    let (record, word) = of_server.max_by_key(|(record, _)| record.until())?;
    if !has_types(record, types).await {
        return None;
    }
    let mut flags_to_add = format!("--from {}", shell_word(&path.display().to_string()));
    let context_flag = flags.overrides.context.as_deref();
    if context_flag.map_or(clusters.len() > 1, |given| given != word) {
        let _infallible = write!(flags_to_add, " --context {}", shell_word(word));
    }
    let namespace = config.namespace();
    let is_other = !args.all_namespaces && *namespace != only_namespace(record.sources());
    if is_other && !context.origin.names_namespace() {
        let _infallible = write!(flags_to_add, " -n {}", shell_word(namespace));
    }
    let until = record.until()?;
    Some(format!(
        "this cluster is recorded until {until:.0}: add {flags_to_add}"
    ))
}

/// Whether a record has all types that these arguments name.
async fn has_types(record: &StoreTransport, arguments: &[String]) -> bool {
    let filters = Filters {
        labels: None,
        fields: None,
        namespaces: Namespaces::One("default".into()),
    };
    let resolver = Resolver::of(TypePlace::Record, recorded_types(record.sources()));
    match parse_arguments(arguments, &filters) {
        Ok(parsed) => parsed.resolve(&resolver, &filters).await.is_ok(),
        Err(_) => arguments.is_empty(),
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

/// The types of recorded sources, as arguments can name them, each once. Several recorders may record a type, each in a namespace of
/// its own.
pub(crate) fn recorded_types(sources: &[SourceKey]) -> Vec<ResourceType> {
    let mut seen = HashSet::new();
    let types = sources.iter().map(|key| &key.resource);
    let types = types.filter(|resource| seen.insert(*resource));
    types.cloned().map(ResourceType::of).collect()
}

/// Every recorded kind, of a namespace or of the cluster.
pub(super) fn every_recorded(
    record: &StoreTransport,
    args: &ObjectArgs,
    namespace: &Arc<str>,
) -> EveryKind {
    let target = |found: ResourceType| all_of(found.resource, args, namespace);
    let types = recorded_types(record.sources()).into_iter();
    let inside = types.filter(|found| args.all_namespaces || found.resource.namespaced);
    EveryKind {
        targets: inside.map(target).collect(),
        is_of_namespace: !args.all_namespaces,
        ..EveryKind::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_of_several_recorders_is_named_once() {
        let of = |kind: &str, namespace: &str| SourceKey {
            scope: Scope::Namespace(namespace.into()),
            ..SourceKey::all("", kind)
        };
        let sources = [
            of("Pod", "a"),
            of("Secret", "a"),
            of("Pod", "b"),
            of("Secret", "b"),
        ];
        let types = recorded_types(&sources);
        let names: Vec<&str> = types.iter().map(|found| &*found.resource.kind).collect();
        assert_eq!(names, ["Pod", "Secret"]);
    }

    #[test]
    fn a_server_is_known_by_its_url_and_its_ca() {
        let [one, other] = [b"one".to_vec(), b"other".to_vec()];
        let both = [one.clone(), other.clone()];
        let ids = [
            server_id("https://localhost:6443", &[]),
            server_id("https://localhost:6444", &[]),
            server_id("https://localhost:6443", &[one]),
            server_id("https://localhost:6443", &[other]),
            server_id("https://localhost:6443", &both),
            server_id("https://localhost:6443", &[b"oneother".to_vec()]),
        ];
        for (at, id) in ids.iter().enumerate() {
            assert_eq!(id.len(), 64, "{id}");
            assert!(!ids[..at].contains(id), "{at}: {id}");
        }
        assert_eq!(server_id("https://localhost:6443", &both), ids[4]);
    }
}
