//! Reads the manifest of a Helm release out of the Secret or the `ConfigMap` that stores it.
//!
//! A release has Secret values: the user's values, and the Secrets in its manifest. They stay here. Errors name
//! positions and never quote text.

use std::io::Read;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;

use super::read::Manifest;
use crate::object::{Kind, Value};
use crate::watch::documents_by_line;

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
