//! `helm:RELEASE`: finds the newest revision of a Helm release.
//!
//! Helm stores each revision in a Secret or in a `ConfigMap`, with labels for the release, the revision and its status
//! (<https://helm.sh/docs/topics/advanced/#storage-backends>). The labels of all revisions are read, and the data of the
//! newest one alone. `ConfigMap`s are read only for a release that no Secret stores.

use std::collections::BTreeSet;
use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use serde::Deserialize;

use super::manifest_resolver::{ManifestResolver, ResolvedTargets};
use super::read::Manifest;
use crate::cluster::{
    ApiRequest, Client, Filters, Namespaces, PathSegment, RequestError, RequestPath, Resolver,
    Target, list_metadata,
};
use crate::commands::args::{RELEASE_PREFIX, is_release};
use crate::commands::{CommandError, ObjectArgs};
use crate::object::{Doc, Kind, Value, near};
use crate::watch::documents_by_line;

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

/// The targets of the releases that the arguments name: the objects in the manifests of their newest revisions. `hint` prints a
/// hint.
pub(crate) async fn release_targets(
    args: &ObjectArgs,
    place: &ReleasePlace<'_>,
    verb: &str,
    hint: &mut dyn FnMut(&str),
) -> Result<Vec<Target>, CommandError> {
    check(args, place)?;
    let mut manifests: Vec<Manifest> = Vec::new();
    for word in &args.objects {
        let release = word.strip_prefix(RELEASE_PREFIX).unwrap_or(word);
        check_name(release)?;
        let newest = place.newest(release).await?;
        let status = &*newest.metadata.labels.status;
        if !matches!(status, "" | "deployed") {
            let (version, namespace) = (&newest.metadata.labels.version, place.namespace);
            let text = format!(
                "to see why revision {version} has the status {status}, run helm history {release} -n {namespace}"
            );
            hint(&text);
        }
        manifests.extend(place.manifests(release, &newest).await?);
    }
    let resolver = ManifestResolver {
        types: place.resolver,
        namespace: place.namespace.into(),
        is_given: false,
        everywhere: false,
        labels: args.labels()?,
        verb,
    };
    let ResolvedTargets { targets, errors } = resolver.targets(&manifests).await?;
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
            let metadata = match revisions(self.client, self.namespace, store, &labels).await {
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
        let path = path(self.namespace, store)?.then(PathSegment::Name, name);
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
    let path = namespaces.then(PathSegment::Namespace, namespace)?;
    Ok(path.then(PathSegment::Resource, store.plural())?)
}

/// The revision with the greatest number. Versions are numbers: 10 is newer than 9.
fn newest(revisions: Vec<RevisionMetadata>) -> Option<RevisionMetadata> {
    let number = |revision: &RevisionMetadata| revision.labels.version.parse::<u64>().ok();
    revisions.into_iter().max_by_key(number)
}

/// The most bytes of an unpacked release. An object holds 1 MiB, and a release shrinks to a tenth; without a limit, a
/// small object could fill the memory.
const MAX_BYTES: usize = 64 << 20;

/// The first bytes of gzip. Helm also reads releases that are not packed.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The kinds of objects in which Helm stores releases: Secrets, or with `HELM_DRIVER=configmap` `ConfigMap`s
/// (<https://github.com/helm/helm/blob/v3.16.0/pkg/storage/driver/cfgmaps.go>).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReleaseStore {
    Secrets,
    ConfigMaps,
}

impl ReleaseStore {
    /// The stores in the order of the search.
    pub(super) const ALL: [ReleaseStore; 2] = [ReleaseStore::Secrets, ReleaseStore::ConfigMaps];

    /// The resource in paths.
    pub(super) fn plural(self) -> &'static str {
        match self {
            ReleaseStore::Secrets => "secrets",
            ReleaseStore::ConfigMaps => "configmaps",
        }
    }

    /// The kind of the objects.
    pub(super) fn kind(self) -> &'static str {
        match self {
            ReleaseStore::Secrets => "Secret",
            ReleaseStore::ConfigMaps => "ConfigMap",
        }
    }
}

/// Why a stored release cannot be read. The text follows `its Secret NAME ` or `its ConfigMap NAME `.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum UnreadableRelease {
    #[error("has no data.release")]
    Absent,
    #[error("is not encoded in base64 twice")]
    Base64InBase64,
    #[error("is not base64")]
    Base64,
    #[error("is not gzip")]
    Gzip,
    #[error("unpacks to more than {} MiB", MAX_BYTES >> 20)]
    TooLarge,
    #[error("has no JSON with a manifest")]
    Json,
    #[error("has a manifest that is not YAML: line {0}")]
    Yaml(usize),
}

/// The part of a release that is read.
#[derive(serde::Deserialize)]
struct StoredRelease {
    manifest: String,
}

/// The objects in the manifest of a release, with `path` as their file name for messages.
pub(super) fn objects(
    stored: Value<'_>,
    store: ReleaseStore,
    path: &str,
) -> Result<Vec<Manifest>, UnreadableRelease> {
    let data = stored.str_at(&["data", "release"]);
    let manifest = manifest(&data.ok_or(UnreadableRelease::Absent)?, store)?;
    let (documents, faults) = documents_by_line(&manifest);
    if let Some(error) = faults.first().first() {
        return Err(UnreadableRelease::Yaml(error.line));
    }
    // A template without output leaves an empty document.
    let objects = documents
        .into_iter()
        .filter(|(_, doc)| doc.root().kind() != Kind::Null);
    let manifest = |(line, doc)| Manifest {
        path: path.to_owned(),
        line,
        doc,
    };
    Ok(objects.map(manifest).collect())
}

/// The manifest of a release: base64 of Kubernetes, which only a Secret has, base64 of Helm, gzip, JSON.
fn manifest(data: &str, store: ReleaseStore) -> Result<String, UnreadableRelease> {
    let decode = |text: &[u8]| STANDARD.decode(text);
    let bytes = match store {
        ReleaseStore::Secrets => decode(data.as_bytes())
            .and_then(|text| decode(&text))
            .map_err(|_| UnreadableRelease::Base64InBase64),
        ReleaseStore::ConfigMaps => decode(data.as_bytes()).map_err(|_| UnreadableRelease::Base64),
    }?;
    let json = if bytes.starts_with(&GZIP) {
        unpacked(&bytes)?
    } else {
        bytes
    };
    let release: Result<StoredRelease, _> = serde_json::from_slice(&json);
    let release = release.map_err(|_| UnreadableRelease::Json)?;
    Ok(release.manifest)
}

fn unpacked(bytes: &[u8]) -> Result<Vec<u8>, UnreadableRelease> {
    let mut unpacked = Vec::new();
    let limit = u64::try_from(MAX_BYTES + 1).unwrap_or(u64::MAX);
    let read = GzDecoder::new(bytes).take(limit).read_to_end(&mut unpacked);
    match read {
        Ok(size) if size <= MAX_BYTES => Ok(unpacked),
        Ok(_) => Err(UnreadableRelease::TooLarge),
        Err(_) => Err(UnreadableRelease::Gzip),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;
    use crate::object::{Doc, ObjectRef};

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

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(bytes).expect("memory");
        gzip.finish().expect("memory")
    }

    fn stored(bytes: &[u8]) -> String {
        STANDARD.encode(STANDARD.encode(bytes))
    }

    fn check(data: &str) -> String {
        check_in(ReleaseStore::Secrets, data)
    }

    fn check_in(store: ReleaseStore, data: &str) -> String {
        let stored = format!(r#"{{"data":{{"release":"{data}"}}}}"#);
        let stored = Doc::parse(stored).expect("a case is JSON");
        match objects(stored.root(), store, "release web") {
            Ok(objects) => {
                let line = |found: &Manifest| {
                    let object = ObjectRef::of(found.doc.root());
                    format!("{object} at {}", found.line)
                };
                objects.iter().map(line).collect::<Vec<_>>().join(", ")
            }
            Err(error) => error.to_string(),
        }
    }

    fn release(manifest: &str) -> Vec<u8> {
        let release = serde_json::json!({
            "name": "web", "config": {"password": "hunter2"}, "manifest": manifest,
        });
        release.to_string().into_bytes()
    }

    const MANIFEST: &str = "---\n# Source: web/templates/secret.yaml\napiVersion: v1\nkind: Secret\n\
        metadata: {name: db}\n---\n# Source: web/templates/none.yaml\n---\n\
        apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n";

    #[test]
    fn the_manifest_names_the_objects() {
        let expected = "secret/db at 3, deployment/web at 9";
        assert_eq!(check(&stored(&gzip(&release(MANIFEST)))), expected);
        assert_eq!(check(&stored(&release(MANIFEST))), expected);
        assert_eq!(check(&stored(&gzip(&release("")))), "");
    }

    #[test]
    fn a_config_map_has_one_base64_fewer() {
        let once = STANDARD.encode(gzip(&release(MANIFEST)));
        let found = check_in(ReleaseStore::ConfigMaps, &once);
        assert_eq!(found, "secret/db at 3, deployment/web at 9");
        assert_eq!(check_in(ReleaseStore::ConfigMaps, "!"), "is not base64");
        assert_eq!(
            check_in(ReleaseStore::ConfigMaps, &stored(b"hunter2")),
            "has no JSON with a manifest"
        );
    }

    #[test]
    fn a_broken_release_is_an_error_without_its_text() {
        let cases = [
            ("!".to_owned(), "is not encoded in base64 twice"),
            (STANDARD.encode("!"), "is not encoded in base64 twice"),
            (stored(b"\x1f\x8bhunter2"), "is not gzip"),
            (stored(b"hunter2"), "has no JSON with a manifest"),
            (stored(b"{}"), "has no JSON with a manifest"),
            (
                stored(&release("a: 1\nb: \"hunter2")),
                "has a manifest that is not YAML: line 2",
            ),
        ];
        for (data, expected) in cases {
            assert_eq!(check(&data), expected);
        }
        let empty = Doc::parse("{}").expect("JSON");
        let error = objects(empty.root(), ReleaseStore::Secrets, "x").expect_err("no data");
        assert_eq!(error, UnreadableRelease::Absent);
    }

    #[test]
    fn a_release_that_unpacks_to_very_much_is_refused() {
        let bomb = gzip(&vec![b' '; MAX_BYTES + 1]);
        assert!(bomb.len() < 1 << 20, "it fits into an object");
        assert_eq!(check(&stored(&bomb)), "unpacks to more than 64 MiB");
    }
}
