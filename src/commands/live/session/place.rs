//! `SessionPlace`: what a session reads.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::connection::ClusterConnection;
use super::every_kind::EveryKind;
use super::file;
use super::record::{every_recorded, recorded_types};
use crate::cluster::{Filters, Namespaces, Resolver, TargetError, TypePlace, parse_arguments};
use crate::commands::manifests::{
    ManifestResolver, ObjectRequest, ReleasePlace, ResolvedTargets, release_targets,
};
use crate::commands::{CommandError, ObjectArgs, Subject};
use crate::object::{ResourceType, ServedTypes};
use crate::record::StoreTransport;
use crate::watch::{FileTransport, Transport};

/// How long to wait for the types. The states of custom resources depend on them.
const TYPES: Duration = Duration::from_secs(10);

/// A cluster, a file, or the record of a cluster.
#[derive(Clone)]
pub(super) enum SessionPlace {
    Cluster(ClusterConnection),
    File(Arc<FileTransport>),
    Record(Arc<StoreTransport>),
}

impl SessionPlace {
    /// Reads it.
    pub(super) fn transport(&self) -> Arc<dyn Transport> {
        match self {
            SessionPlace::Cluster(connection) => connection.transport(),
            SessionPlace::File(file) => file.clone(),
            SessionPlace::Record(record) => record.clone(),
        }
    }

    /// Resolves the types of arguments: by discovery, or by what is there.
    pub(super) fn resolver(&self) -> Resolver {
        match self {
            SessionPlace::Cluster(connection) => connection.resolver(),
            SessionPlace::File(file) => Resolver::of(TypePlace::File, file::types(file)),
            SessionPlace::Record(record) => {
                Resolver::of(TypePlace::Record, recorded_types(record.sources()))
            }
        }
    }

    /// The type that a word names, as its kind and group: `Deployment.apps`. Fails in kubectl's words if it is not served.
    pub(super) async fn type_named(&self, word: &str) -> Result<String, CommandError> {
        let found = self.resolver().resolve(word).await;
        let resource = found.map_err(TargetError::Resolve)?;
        Ok(match &*resource.group {
            "" => resource.kind.to_string(),
            group => format!("{}.{group}", resource.kind),
        })
    }

    /// The types that are served, besides Kubernetes' own. Without an answer in time, there are none.
    pub(super) async fn served_types(&self) -> ServedTypes {
        let listable = |found: &&ResourceType| found.listable() && found.watchable();
        match self {
            SessionPlace::File(file) => ServedTypes::discovered(file::types(file)),
            SessionPlace::Record(record) => {
                ServedTypes::discovered(recorded_types(record.sources()))
            }
            SessionPlace::Cluster(connection) => {
                let resolver = connection.resolver();
                match timeout(TYPES, resolver.discovery()).await {
                    Ok(Ok(found)) => {
                        ServedTypes::discovered(found.types.iter().filter(listable).cloned())
                    }
                    Ok(Err(_)) | Err(_) => ServedTypes::default(),
                }
            }
        }
    }

    /// Every kind, if the arguments have no object and no type; `None` if they have, and for a file.
    pub(super) async fn every_kind(
        &self,
        args: &ObjectArgs,
        namespace: &Arc<str>,
    ) -> Result<Option<EveryKind>, CommandError> {
        match (self, args.subject()) {
            (SessionPlace::Cluster(connection), Subject::Unnamed) => {
                let resolver = connection.resolver();
                let found = resolver.discovery().await?;
                Ok(Some(EveryKind::of(found, args, namespace)))
            }
            (SessionPlace::Record(record), Subject::Unnamed) => {
                if record.sources().is_empty() {
                    let error = CommandError::failed("error: the record has no versions");
                    return Err(
                        error.hint("list what is recorded: kubectl spy store ls --store DIR")
                    );
                }
                Ok(Some(every_recorded(record, args, namespace)))
            }
            (
                SessionPlace::Cluster(_) | SessionPlace::Record(_),
                Subject::Manifests | Subject::Releases | Subject::Words,
            )
            | (SessionPlace::File(_), _) => Ok(None),
        }
    }

    /// The targets of a request, with selectors that may not be supported. `hint` prints a hint.
    pub(super) async fn resolve(
        &self,
        request: &ObjectRequest,
        namespace: &Arc<str>,
        hint: &mut dyn FnMut(&str),
    ) -> Result<ResolvedTargets, CommandError> {
        let (args, verb) = (&request.args, request.verb);
        let filters = Filters {
            labels: args.selector.clone(),
            fields: args.field_selector.clone(),
            namespaces: if args.all_namespaces {
                Namespaces::All
            } else {
                Namespaces::One(namespace.clone())
            },
        };
        let resolver = self.resolver();
        if let Some(manifests) = &request.manifests {
            let resolver = ManifestResolver {
                types: &resolver,
                namespace: namespace.clone(),
                is_given: request.names_namespace,
                everywhere: args.all_namespaces,
                labels: args.labels()?,
                verb,
            };
            return resolver.targets(manifests).await;
        }
        match (args.subject(), self) {
            (Subject::Releases, SessionPlace::Cluster(connection)) => {
                let place = ReleasePlace {
                    client: &connection.client,
                    resolver: &resolver,
                    filters: &filters,
                    namespace,
                };
                return Ok(release_targets(args, &place, verb, hint).await?.into());
            }
            (Subject::Releases, SessionPlace::File(_) | SessionPlace::Record(_)) => {
                return Err(CommandError::usage(
                    "helm:RELEASE needs a cluster: it cannot be used with --from",
                ));
            }
            (Subject::Unnamed, SessionPlace::File(file)) => {
                file.look_at_all();
                let is_of_one = request.names_namespace && !args.all_namespaces;
                let namespace = is_of_one.then_some(namespace);
                return Ok(file::everything(file, &filters, namespace).into());
            }
            // Without a name or type, the arguments are kubectl's error.
            (Subject::Unnamed, SessionPlace::Cluster(_) | SessionPlace::Record(_))
            | (Subject::Words | Subject::Manifests, _) => {}
        }
        let arguments = parse_arguments(&args.objects, &filters)?;
        if let Some(form) = &arguments.equivalent {
            hint(&format!("use `kubectl spy {verb} {form}`"));
        }
        Ok(arguments.resolve(&resolver, &filters).await?.into())
    }
}
