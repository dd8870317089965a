//! `TypeCache`: the types of a server that the last discovery found, kept on disk. Completion reads them, so that it
//! needs no request to know a word.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Discovery;
use super::parse::group_version;
use crate::cluster::cache::Cache;
use crate::object::{Resource, ResourceType};

/// The name of the file, and the version of its format.
const NAME: &str = "types";
const FORMAT: &str = "1";

/// The kept types of one server. Each discovery replaces them, so they have no time limit.
#[derive(Debug)]
pub(crate) struct TypeCache {
    cache: Cache,
}

/// A type in the file.
#[derive(Serialize, Deserialize)]
struct KeptType {
    group: String,
    version: String,
    plural: String,
    kind: String,
    namespaced: bool,
    singular: String,
    short_names: Vec<String>,
    categories: Vec<String>,
    verbs: Vec<String>,
    #[serde(default)]
    has_status: bool,
}

impl TypeCache {
    /// The types of the server at this address (`HOST:PORT/PREFIX`) in this directory. It reads nothing yet.
    pub(crate) fn new(cache_dir: &Path, server: &str) -> TypeCache {
        TypeCache {
            cache: Cache::new(cache_dir, "discovery", server),
        }
    }

    /// The kept types, in the server's order of preference; `None` if there are none, or if the file is damaged.
    pub(crate) fn read(&self) -> Option<Vec<ResourceType>> {
        let document = self.cache.read(NAME, FORMAT)?;
        let kept: Vec<KeptType> = serde_json::from_slice(&document).ok()?;
        Some(kept.into_iter().map(ResourceType::from).collect())
    }

    /// Keeps the types of a discovery. For groups that it could not read, the types of the last one stay.
    pub(super) fn write(&self, found: &Discovery) -> io::Result<()> {
        let before = self.read().unwrap_or_default();
        let is_stale = |kept: &&ResourceType| {
            let Resource { group, version, .. } = &kept.resource;
            found.stale.contains(&group_version(group, version)) && !found.types.contains(kept)
        };
        let stale = before.iter().filter(is_stale);
        let types: Vec<&ResourceType> = found.types.iter().chain(stale).collect();
        if types.iter().copied().eq(&before) {
            return Ok(());
        }
        let kept: Vec<KeptType> = types.into_iter().map(KeptType::from).collect();
        self.cache.write(NAME, FORMAT, &serde_json::to_vec(&kept)?)
    }
}

impl From<&ResourceType> for KeptType {
    fn from(found: &ResourceType) -> KeptType {
        let Resource {
            group,
            version,
            plural,
            kind,
            namespaced,
        } = &found.resource;
        KeptType {
            group: group.to_string(),
            version: version.to_string(),
            plural: plural.to_string(),
            kind: kind.to_string(),
            namespaced: *namespaced,
            singular: found.singular.clone(),
            short_names: found.short_names.clone(),
            categories: found.categories.clone(),
            verbs: found.verbs.clone(),
            has_status: found.has_status,
        }
    }
}

impl From<KeptType> for ResourceType {
    fn from(kept: KeptType) -> ResourceType {
        ResourceType {
            resource: Resource {
                group: kept.group.into(),
                version: kept.version.into(),
                plural: kept.plural.into(),
                kind: kept.kind.into(),
                namespaced: kept.namespaced,
            },
            singular: kept.singular,
            short_names: kept.short_names,
            categories: kept.categories,
            verbs: kept.verbs,
            has_status: kept.has_status,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::kubeconfig::tests::Files;

    fn widget(group: &str) -> ResourceType {
        ResourceType {
            resource: Resource {
                group: group.into(),
                version: "v1".into(),
                plural: "widgets".into(),
                kind: "Widget".into(),
                namespaced: true,
            },
            singular: "widget".to_owned(),
            short_names: vec!["wi".to_owned()],
            categories: vec!["all".to_owned()],
            verbs: vec!["list".to_owned()],
            has_status: true,
        }
    }

    #[test]
    fn the_types_of_a_discovery_are_kept() {
        let files = Files::new(&[]);
        let cache = TypeCache::new(&files.path("cache"), "10.0.0.1:6443");
        assert_eq!(cache.read(), None);
        let write = |types: &[ResourceType], stale: &[&str]| {
            let found = Discovery {
                types: types.to_vec(),
                stale: stale.iter().map(|&name| name.to_owned()).collect(),
            };
            cache.write(&found).expect("writable");
            cache.read().expect("kept")
        };
        let [a, b] = ["a.com", "b.com"].map(widget);
        assert_eq!(write(&[a.clone(), b.clone()], &[]), [a.clone(), b.clone()]);
        // The server of a group does not answer: its types are kept, those of other groups are gone.
        assert_eq!(write(&[], &["b.com/v1"]), [b]);
        assert_eq!(write(std::slice::from_ref(&a), &[]), [a]);
        let elsewhere = TypeCache::new(&files.path("cache"), "10.0.0.2:6443");
        assert_eq!(elsewhere.read(), None);
    }

    #[test]
    fn a_damaged_file_counts_as_missing() {
        let damaged = "cache/spy/discovery/host/types.json";
        let files = Files::new(&[(damaged, "1\n[{\"group\":")]);
        let cache = TypeCache::new(&files.path("cache"), "host");
        assert_eq!(cache.read(), None);
    }
}
