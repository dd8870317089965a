//! Finds objects in the store: by target, by their own metadata, or by resource.

use serde_json::Value;

use super::kinds::Kind;
use super::log::StoreKey;
use super::store::ObjectStore;
use super::writer::{Target, WriteError};

impl ObjectStore {
    pub(super) fn read(&self, target: &Target) -> Option<Value> {
        let key = self.key(target).ok()?;
        Some(self.lock().get(&key)?.whole(&self.kinds()[key.kind]))
    }

    /// The objects of a resource in a namespace for which `is_kept` is true, by name.
    pub(super) fn read_all(
        &self,
        resource: &str,
        namespace: &str,
        is_kept: impl Fn(&Value) -> bool,
    ) -> Vec<Value> {
        let Some(kind) = self.kind_of(resource) else {
            return Vec::new();
        };
        let Ok(listing) = self.lock().list(kind, None) else {
            return Vec::new();
        };
        let items = listing
            .items
            .iter()
            .filter(|(key, _)| key.namespace == namespace);
        let kept = items.filter(|(_, version)| is_kept(&version.value));
        kept.map(|(_, version)| version.whole(&self.kinds()[kind]))
            .collect()
    }

    pub(super) fn key(&self, target: &Target) -> Result<StoreKey, WriteError> {
        let unknown = || WriteError::UnknownKind(target.resource.clone());
        let kind = self.kind_of(&target.resource).ok_or_else(unknown)?;
        Ok(StoreKey {
            kind,
            namespace: target.namespace.clone(),
            name: target.name.clone(),
        })
    }

    pub(super) fn key_of(&self, object: &Value) -> Result<StoreKey, WriteError> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (api_version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
        let is_it = |known: &Kind| {
            *known.resource.kind == *kind && known.resource.api_version() == api_version
        };
        let found = self.kinds().iter().position(is_it);
        let kind = found.ok_or_else(|| WriteError::UnknownKind(format!("{api_version} {kind}")))?;
        let name = text(&object["metadata"]["name"]);
        let namespace = text(&object["metadata"]["namespace"]);
        let is_namespaced = self.kinds()[kind].resource.namespaced;
        if name.is_empty() {
            return Err(WriteError::Invalid("metadata.name is missing"));
        }
        if is_namespaced && namespace.is_empty() {
            return Err(WriteError::Invalid("metadata.namespace is missing"));
        }
        Ok(StoreKey {
            kind,
            namespace: if is_namespaced {
                namespace
            } else {
                String::new()
            },
            name,
        })
    }

    pub(super) fn title(&self, key: &StoreKey) -> String {
        format!(
            "{} \"{}\"",
            self.kinds()[key.kind].resource.group_resource(),
            key.name
        )
    }
}
