//! Errors and hints about objects that do not exist.

use std::collections::BTreeSet;

use super::{HINT, Session, SessionPlace};
use crate::cluster::{ApiRequest, Client, Part, RequestError, RequestPath, similar_names};
use crate::commands::CommandError;
use crate::commands::sources::named;
use crate::source::SourceKey;

impl Session {
    /// Names similar to that of a source's named object. Empty if there are none, or if the server takes too long.
    pub(crate) async fn similar(&self, key: &SourceKey) -> Vec<String> {
        let Some(name) = named(key) else {
            return Vec::new();
        };
        let SessionPlace::Cluster(client) = &self.place else {
            return Vec::new();
        };
        let ask = similar_names(client, &key.resource, key.namespace(), name);
        let mut names = match tokio::time::timeout(HINT, ask).await {
            Ok(Ok(names)) => names,
            Ok(Err(_)) | Err(_) => Vec::new(),
        };
        // Somebody may have created the object in the meantime.
        names.retain(|near| near != name);
        names
    }

    /// kubectl's error for missing objects or a missing namespace, with similar names as hints.
    pub(crate) async fn not_found(&self, missing: &[SourceKey]) -> CommandError {
        let namespaces: BTreeSet<&str> = missing.iter().filter_map(SourceKey::namespace).collect();
        let mut absent = BTreeSet::new();
        for namespace in namespaces {
            if self.lacks_namespace(namespace).await {
                absent.insert(namespace);
            }
        }
        let is_inside = |key: &&SourceKey| !key.namespace().is_some_and(|own| absent.contains(own));
        let lines = absent.iter().map(|namespace| line("namespaces", namespace));
        let objects = missing.iter().filter(is_inside).map(|key| {
            let resource = key.resource.group_resource();
            line(&resource, named(key).unwrap_or_default())
        });
        let lines: Vec<String> = lines.chain(objects).collect();
        let mut error = CommandError::failed(lines.join("\n"));
        for key in missing.iter().filter(is_inside) {
            let near = self.similar(key).await.join(" or ");
            error = match key.namespace() {
                _ if near.is_empty() => error,
                Some(namespace) => {
                    error.hint(format!("did you mean {near} in namespace \"{namespace}\"?"))
                }
                None => error.hint(format!("did you mean {near}?")),
            };
        }
        error.hint("to wait until it is created, drop --once")
    }

    /// Whether the cluster answers that the namespace does not exist.
    async fn lacks_namespace(&self, namespace: &str) -> bool {
        let SessionPlace::Cluster(client) = &self.place else {
            return false;
        };
        matches!(
            tokio::time::timeout(HINT, get_namespace(client, namespace)).await,
            Ok(Err(RequestError::Api { error, .. })) if error.status.code == 404
        )
    }
}

async fn get_namespace(client: &Client, namespace: &str) -> Result<(), RequestError> {
    let path = RequestPath::from("/api/v1/namespaces").then(Part::Name, namespace)?;
    let ask = ApiRequest::new(path);
    client.get(&ask.about("get", "namespaces")).await.map(drop)
}

fn line(resource: &str, name: &str) -> String {
    format!("Error from server (NotFound): {resource} \"{name}\" not found")
}
