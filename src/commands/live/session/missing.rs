//! Errors and hints about objects that do not exist.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::timeout;

use super::place::SessionPlace;
use crate::cluster::{
    ApiRequest, Client, PathSegment, RequestError, RequestPath, namespaces_with, similar_names,
};
use crate::commands::live::sources::named;
use crate::commands::{CommandError, FailedAnswer};
use crate::object::{ObjectRef, listed, near};
use crate::source::{ClusterId, SourceKey};
use crate::watch::FileTransport;

/// How long a hint may take, and anything else that the user can do without.
const HINT: Duration = Duration::from_millis(1500);
/// The most namespaces that a hint names.
const MAX_NAMED: usize = 3;

/// What the user may have meant by the name of an object that does not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NameSuggestions {
    name: String,
    /// Similar names, the nearest first.
    near: Vec<String>,
    /// The other namespaces that have an object of this type and name, sorted.
    elsewhere: Vec<String>,
}

impl NameSuggestions {
    /// The suggestions as sentences. With a namespace, they say that the similar names are in it.
    pub(crate) fn texts(&self, namespace: Option<&str>) -> Vec<String> {
        let mut texts = Vec::new();
        if !self.near.is_empty() {
            let place = namespace.map(|namespace| format!(" in namespace \"{namespace}\""));
            let near = self.near.join(" or ");
            texts.push(format!("did you mean {near}{}?", place.unwrap_or_default()));
        }
        let name = &self.name;
        match &self.elsewhere[..] {
            [] => {}
            [one] => texts.push(format!("{name} is in namespace \"{one}\": use -n {one}")),
            [named @ .., last] if named.len() < MAX_NAMED => {
                let named = named.join(", ");
                texts.push(format!(
                    "{name} is in the namespaces {named} and {last}: choose one with -n"
                ));
            }
            all => {
                let named = listed(all, MAX_NAMED);
                texts.push(format!(
                    "{name} is in the namespaces {named}: choose one with -n"
                ));
            }
        }
        texts
    }
}

/// What the user may have meant by a source's named object. Empty if nothing is known in time.
pub(super) async fn suggestions(client: &Client, key: &SourceKey) -> NameSuggestions {
    let Some(name) = named(key) else {
        return NameSuggestions::default();
    };
    let near = similar_names(client, &key.resource, key.namespace(), name);
    let elsewhere = async {
        match key.namespace() {
            Some(_) => namespaces_with(client, &key.resource, name).await,
            None => Ok(Vec::new()),
        }
    };
    let (near, elsewhere) = tokio::join!(timeout(HINT, near), timeout(HINT, elsewhere));
    let mut found = NameSuggestions {
        name: name.to_owned(),
        near: near.map_or_else(|_| Vec::new(), Result::unwrap_or_default),
        elsewhere: elsewhere.map_or_else(|_| Vec::new(), Result::unwrap_or_default),
    };
    // Somebody may have created the object in the meantime.
    found.near.retain(|near| near != name);
    let own = key.namespace();
    found.elsewhere.retain(|namespace| own != Some(namespace));
    found
}

/// kubectl's error for missing objects or a missing namespace, with similar names as hints.
pub(super) async fn not_found(
    place: &SessionPlace,
    cluster: &ClusterId,
    missing: &[SourceKey],
) -> CommandError {
    match place {
        SessionPlace::Cluster(connection) => not_in_cluster(&connection.client, missing).await,
        SessionPlace::File(file) => not_in_file(&cluster.0, file, missing),
        SessionPlace::Record(_) => {
            let lines = missing.iter().map(|key| {
                let source = key.to_string();
                format!("error: {source} is not in the record of {}", cluster.0)
            });
            CommandError::failed(lines.collect::<Vec<_>>().join("\n"))
                .because(FailedAnswer::NotFound)
                .hint("name its namespace with -n, or list what is recorded: kubectl spy store ls --store DIR")
        }
    }
}

/// The error for objects that did not exist at a time in the past of a record, or that nobody recorded then.
pub(super) fn not_then(cluster: &ClusterId, missing: &[SourceKey]) -> CommandError {
    let lines = missing.iter().map(|key| {
        let source = key.to_string();
        format!(
            "error: {source} is not in the record of {} at that time",
            cluster.0
        )
    });
    CommandError::failed(lines.collect::<Vec<_>>().join("\n"))
        .because(FailedAnswer::NotFound)
        .hint("choose another time, or name its namespace with -n")
}

async fn not_in_cluster(client: &Client, missing: &[SourceKey]) -> CommandError {
    let namespaces: BTreeSet<&str> = missing.iter().filter_map(SourceKey::namespace).collect();
    let mut absent = BTreeSet::new();
    for namespace in namespaces {
        if lacks_namespace(client, namespace).await {
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
    let mut error = CommandError::failed(lines.join("\n")).because(FailedAnswer::NotFound);
    for key in missing.iter().filter(is_inside) {
        let suggestions = suggestions(client, key).await.texts(key.namespace());
        error = suggestions.into_iter().fold(error, CommandError::hint);
    }
    error
}

/// Whether the cluster answers that the namespace does not exist.
pub(super) async fn lacks_namespace(client: &Client, namespace: &str) -> bool {
    let get = async {
        let path = RequestPath::from("/api/v1/namespaces").then(PathSegment::Name, namespace)?;
        let ask = ApiRequest::new(path);
        client.get(&ask.about("get", "namespaces")).await
    };
    matches!(
        timeout(HINT, get).await,
        Ok(Err(RequestError::Api { error, .. })) if error.status.code == 404
    )
}

/// The error for objects that are not in a file, with similar names as hints.
fn not_in_file(path: &str, file: &FileTransport, missing: &[SourceKey]) -> CommandError {
    let lines = missing.iter().map(|key| {
        let (resource, name) = (
            key.resource.group_resource(),
            named(key).unwrap_or_default(),
        );
        format!("error: {resource} \"{name}\" not found in {path}")
    });
    let error = CommandError::failed(lines.collect::<Vec<_>>().join("\n"));
    let error = error.because(FailedAnswer::NotFound);
    missing.iter().fold(error, |error, key| {
        let texts = suggestions_in(file, key).texts(None);
        texts.into_iter().fold(error, CommandError::hint)
    })
}

/// What the user may have meant by a source's named object that is not in a file.
fn suggestions_in(file: &FileTransport, key: &SourceKey) -> NameSuggestions {
    let name = named(key).unwrap_or_default();
    let found = file.resources.iter();
    let found = found.filter(|found| found.resource == key.resource);
    let objects: Vec<&ObjectRef> = found.flat_map(|found| &found.objects).collect();
    let (same, others): (Vec<&ObjectRef>, Vec<&ObjectRef>) = objects
        .into_iter()
        .partition(|object| &*object.name == name);
    let elsewhere = same.iter().filter_map(|object| object.namespace.as_deref());
    let elsewhere: BTreeSet<&str> = elsewhere
        .filter(|own| key.namespace() != Some(own))
        .collect();
    NameSuggestions {
        name: name.to_owned(),
        near: near(name, others.iter().map(|object| &*object.name)),
        elsewhere: elsewhere.into_iter().map(str::to_owned).collect(),
    }
}

fn line(resource: &str, name: &str) -> String {
    format!("Error from server (NotFound): {resource} \"{name}\" not found")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_name_near_names_and_other_namespaces() {
        let check = |near: &[&str], elsewhere: &[&str]| {
            let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
            let suggestions = NameSuggestions {
                name: "web".to_owned(),
                near: owned(near),
                elsewhere: owned(elsewhere),
            };
            suggestions.texts(Some("shop")).join("\n")
        };
        assert_eq!(check(&[], &[]), "");
        assert_eq!(
            check(&["wbe", "weg"], &["a"]),
            "did you mean wbe or weg in namespace \"shop\"?\nweb is in namespace \"a\": use -n a"
        );
        assert_eq!(
            check(&[], &["a", "b", "c"]),
            "web is in the namespaces a, b and c: choose one with -n"
        );
        assert_eq!(
            check(&[], &["a", "b", "c", "d", "e"]),
            "web is in the namespaces a, b, c and 2 more: choose one with -n"
        );
    }
}
