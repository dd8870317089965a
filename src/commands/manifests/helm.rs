//! `helm:RELEASE`: finds the newest revision of a Helm release.
//!
//! Helm stores each revision in a Secret or in a `ConfigMap`, with labels for the release, the revision and its status
//! (<https://helm.sh/docs/topics/advanced/#storage-backends>). The labels of all revisions are read, and the data of the
//! newest one alone. `ConfigMap`s are read only for a release that no Secret stores.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::args::{RELEASE_PREFIX, is_release};
use super::named::{ManifestPlace, Naming};
use super::read::Manifest;
use super::release::{ReleaseStore, objects};
use crate::cluster::{
    ApiRequest, Client, Filters, Namespaces, Part, RequestError, RequestPath, Resolver, Target,
    list_metadata,
};
use crate::commands::{CommandError, Context, ObjectArgs};
use crate::object::{Doc, near};

/// The most characters of the name of a release (<https://helm.sh/docs/chart_template_guide/getting_started/>).
const LONGEST: usize = 53;

/// A cluster whose releases are read.
pub(crate) struct ReleasePlace<'r> {
    pub(crate) client: &'r Client,
    pub(crate) resolver: &'r Resolver,
    pub(crate) filters: &'r Filters,
    /// The namespace of the releases, and of their objects without one.
    pub(crate) namespace: &'r str,
}

/// A revision of a release, as its labels describe it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
struct ReleaseLabels {
    #[serde(default)]
    name: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    status: String,
}

/// The newest revision of a release, and where it is stored.
struct NewestRevision {
    store: ReleaseStore,
    metadata: RevisionMetadata,
}

#[derive(Deserialize)]
struct RevisionMetadata {
    name: String,
    #[serde(default)]
    labels: ReleaseLabels,
}

/// The targets of the releases that the arguments name: the objects in the manifests of their newest revisions.
pub(crate) async fn release_targets(
    args: &ObjectArgs,
    place: &ReleasePlace<'_>,
    verb: &str,
    context: &mut Context<'_>,
) -> Result<Vec<Target>, CommandError> {
    check(args, place)?;
    let mut manifests: Vec<Manifest> = Vec::new();
    for word in &args.objects {
        let release = word.strip_prefix(RELEASE_PREFIX).unwrap_or(word);
        check_name(release)?;
        let newest = place.newest(release).await?;
        if let Some(status) = newest.metadata.unusual_status() {
            let (version, namespace) = (&newest.metadata.labels.version, place.namespace);
            let text = format!(
                "to see why revision {version} has the status {status}, run helm history {release} -n {namespace}"
            );
            context.hint(&text);
        }
        manifests.extend(place.manifests(release, &newest).await?);
    }
    let naming = Naming {
        resolver: place.resolver,
        place: &ManifestPlace {
            namespace: place.namespace.into(),
            is_given: false,
        },
        everywhere: false,
        labels: args.labels()?,
        verb,
    };
    let (targets, errors) = naming.targets(&manifests).await?;
    errors.into_iter().next().map_or(Ok(targets), Err)
}

/// Refuses arguments that make no sense beside a release.
fn check(args: &ObjectArgs, place: &ReleasePlace<'_>) -> Result<(), CommandError> {
    let wrong = match () {
        () if !args.objects.iter().all(|word| is_release(word)) => {
            "helm:RELEASE cannot be combined with other objects"
        }
        () if place.filters.namespaces == Namespaces::All => {
            "a release is in one namespace: use -n instead of -A"
        }
        () if args
            .field_selector
            .as_ref()
            .is_some_and(|text| !text.is_empty()) =>
        {
            "a release names objects: --field-selector cannot be used with it"
        }
        () => return Ok(()),
    };
    Err(CommandError::usage(wrong))
}

/// Refuses names that no release can have. Their characters could change the selector.
fn check_name(release: &str) -> Result<(), CommandError> {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
    if !release.is_empty() && release.len() <= LONGEST && release.bytes().all(is_valid) {
        return Ok(());
    }
    Err(CommandError::usage(format!(
        "invalid release name \"{release}\""
    )))
}

impl ReleasePlace<'_> {
    /// The newest revision of a release. Without the right to list Secrets, it may still be in a `ConfigMap`.
    async fn newest(&self, release: &str) -> Result<NewestRevision, CommandError> {
        let labels = format!("owner=helm,name={release}");
        let mut refused = Vec::new();
        for store in ReleaseStore::ALL {
            let metadata = match self.revisions(store, &labels).await {
                Ok(mut revisions) => {
                    // A server may ignore selectors.
                    revisions.retain(|revision| revision.labels.name == release);
                    newest(revisions)
                }
                Err(RequestError::Api { error, .. }) if error.status.code == 403 => {
                    refused.push((store, error));
                    None
                }
                Err(error) => return Err(error.into()),
            };
            if let Some(metadata) = metadata {
                return Ok(NewestRevision { store, metadata });
            }
        }
        match refused.into_iter().next() {
            // Helm stores releases in Secrets unless its user chose otherwise.
            Some((ReleaseStore::Secrets, error)) => Err(error.into()),
            Some((ReleaseStore::ConfigMaps, _)) | None => Err(self.not_found(release).await),
        }
    }

    async fn revisions(
        &self,
        store: ReleaseStore,
        labels: &str,
    ) -> Result<Vec<RevisionMetadata>, RequestError> {
        revisions(self.client, self.namespace, store, labels).await
    }

    /// The manifests of a revision.
    async fn manifests(
        &self,
        release: &str,
        newest: &NewestRevision,
    ) -> Result<Vec<Manifest>, CommandError> {
        let (store, name) = (newest.store, &newest.metadata.name);
        let stored = self.stored(store, name).await?;
        let found = objects(stored.root(), store, &format!("release {release}"));
        found.map_err(|error| {
            let kind = store.kind();
            CommandError::failed(format!(
                "error: release \"{release}\": its {kind} {name} {error}"
            ))
        })
    }

    async fn stored(&self, store: ReleaseStore, name: &str) -> Result<Doc, CommandError> {
        let path = path(self.namespace, store)?.then(Part::Name, name);
        let path = path.map_err(RequestError::from)?;
        let request = ApiRequest::new(path).about("get", store.plural());
        let body = self.client.get_patiently(&request).await?;
        let text = String::from_utf8_lossy(&body).into_owned();
        Doc::parse(text).map_err(|_| CommandError::failed("error: the server's answer is not JSON"))
    }

    /// The error for a release that does not exist, with similar names.
    async fn not_found(&self, release: &str) -> CommandError {
        let namespace = self.namespace;
        let error = CommandError::failed(format!(
            "error: release \"{release}\" not found in namespace \"{namespace}\""
        ));
        let all = release_names(self.client, namespace).await;
        let near = near(release, all.iter().map(String::as_str)).into_iter();
        let near: Vec<String> = near.map(|name| format!("{RELEASE_PREFIX}{name}")).collect();
        match near.join(" or ") {
            near if near.is_empty() => {
                error.hint(format!("list the releases: helm list -n {namespace}"))
            }
            near => error.hint(format!("did you mean {near}?")),
        }
    }
}

/// The names of the releases in a namespace, sorted. Stores that cannot be read are left out.
pub(crate) async fn release_names(client: &Client, namespace: &str) -> Vec<String> {
    let mut names = BTreeSet::new();
    for store in ReleaseStore::ALL {
        let found = revisions(client, namespace, store, "owner=helm").await;
        let found = found.unwrap_or_default().into_iter();
        names.extend(found.map(|revision| revision.labels.name));
    }
    names.into_iter().collect()
}

/// The revisions with these labels.
async fn revisions(
    client: &Client,
    namespace: &str,
    store: ReleaseStore,
    labels: &str,
) -> Result<Vec<RevisionMetadata>, RequestError> {
    let request = ApiRequest::new(path(namespace, store)?)
        .about("list", store.plural())
        .query("labelSelector", labels);
    let request = match store {
        ReleaseStore::Secrets => request.query("fieldSelector", "type=helm.sh/release.v1"),
        ReleaseStore::ConfigMaps => request,
    };
    list_metadata(client, request).await
}

fn path(namespace: &str, store: ReleaseStore) -> Result<RequestPath, RequestError> {
    let namespaces = RequestPath::from("/api/v1/namespaces");
    let path = namespaces.then(Part::Namespace, namespace)?;
    Ok(path.then(Part::Resource, store.plural())?)
}

impl RevisionMetadata {
    /// The status of a revision that is not deployed: `failed`, `pending-upgrade`, `uninstalled`.
    fn unusual_status(&self) -> Option<&str> {
        let status = Some(&*self.labels.status);
        status.filter(|status| !matches!(*status, "" | "deployed"))
    }
}

/// The revision with the greatest number. Versions are numbers: 10 is newer than 9.
fn newest(revisions: Vec<RevisionMetadata>) -> Option<RevisionMetadata> {
    let number = |revision: &RevisionMetadata| revision.labels.version.parse::<u64>().ok();
    revisions.into_iter().max_by_key(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_revision_has_the_greatest_number() {
        let newest_of = |versions: &[&str]| {
            let revision = |version: &&str| RevisionMetadata {
                name: (*version).to_owned(),
                labels: ReleaseLabels {
                    version: (*version).to_owned(),
                    ..ReleaseLabels::default()
                },
            };
            newest(versions.iter().map(revision).collect()).map(|found| found.name)
        };
        assert_eq!(newest_of(&["9", "10", "2"]).as_deref(), Some("10"));
        assert_eq!(newest_of(&["x", "1", ""]).as_deref(), Some("1"));
        assert_eq!(newest_of(&[]), None);
    }

    #[test]
    fn a_name_cannot_change_the_selector() {
        for name in ["web", "web-1.x", &"a".repeat(53)] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for name in ["", "web,name!=web", "a b", "a/b", "é", &"a".repeat(54)] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
