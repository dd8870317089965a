//! Writes: the fields that kube-apiserver adds, and the checks it makes, before it stores a version.

use std::sync::MutexGuard;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::kinds::Kind;
use super::managed_fields::{self, Actor};
use super::store::{Change, StoreInner, StoreKey, VersionStore};
use super::store::{number, text, whole};

pub(super) type Written = Result<Value, WriteError>;

pub(super) struct Stamp<'a> {
    pub(super) writer: &'a Writer,
    pub(super) now: Timestamp,
}

impl Stamp<'_> {
    fn time(&self) -> String {
        seconds(self.now)
    }
}

/// The fields in the metadata that no client changes.
const SYSTEM_FIELDS: [&str; 8] = [
    "uid",
    "namespace",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "resourceVersion",
    "managedFields",
];

/// One write in progress: the locked state, the object's key and the writer.
pub(super) struct Write<'s> {
    store: &'s VersionStore,
    inner: MutexGuard<'s, StoreInner>,
    key: StoreKey,
    kind: &'s Kind,
    by: &'s Stamp<'s>,
}

impl VersionStore {
    pub(super) fn create(&self, mut object: Value, by: &Stamp<'_>) -> Written {
        name_it(&mut object, &mut self.lock().uids);
        let mut write = self.write(self.key_of(&object)?, by);
        if write.inner.get(&write.key).is_some() {
            return Err(WriteError::AlreadyExists(write.title()));
        }
        let mut value = write.newborn(object);
        write.acting(|actor| managed_fields::after_update(None, &mut value, actor));
        Ok(write.commit(Change::Added, value))
    }

    pub(super) fn update(&self, object: Value, by: &Stamp<'_>) -> Written {
        let write = self.write(self.key_of(&object)?, by);
        let old = write.present()?;
        let asked = &object["metadata"]["resourceVersion"];
        if asked.is_string() && *asked != old["metadata"]["resourceVersion"] {
            return Err(WriteError::Conflict(write.title()));
        }
        let mut new = write.successor(&old, object);
        if new == old {
            return Ok(whole(old, write.kind));
        }
        write.acting(|actor| managed_fields::after_update(Some(&old), &mut new, actor));
        Ok(write.settle(old, new))
    }

    pub(super) fn patch(&self, target: &Target, patch: &Value, by: &Stamp<'_>) -> Written {
        let mut object = self.read(target).ok_or_else(|| match self.key(target) {
            Ok(key) => WriteError::NotFound(self.title(&key)),
            Err(unknown) => unknown,
        })?;
        json_patch::merge(&mut object, patch);
        self.update(object, by)
    }

    pub(super) fn delete(&self, target: &Target, deletion: Deletion, by: &Stamp<'_>) -> Written {
        let write = self.write(self.key(target)?, by);
        let old = write.present()?;
        let is_held = has_finalizers(&old);
        let grace = match deletion {
            Deletion::Graceful(seconds) => seconds,
            Deletion::Immediate => 0,
        };
        if grace == 0 && !is_held {
            return Ok(write.commit(Change::Deleted, old));
        }
        if is_held && is_terminating(&old) {
            return Ok(whole(old, write.kind));
        }
        let mut new = old.clone();
        let end = by.now + jiff::SignedDuration::from_secs(i64::from(grace));
        let metadata = &mut new["metadata"];
        metadata["deletionTimestamp"] = json!(seconds(end));
        metadata["deletionGracePeriodSeconds"] = json!(grace);
        if let Some(generation) = metadata["generation"].as_u64() {
            metadata["generation"] = json!(generation + 1);
        }
        Ok(write.settle(old, new))
    }

    pub(super) fn write<'s>(&'s self, key: StoreKey, by: &'s Stamp<'s>) -> Write<'s> {
        let kind = &self.kinds[key.kind];
        Write {
            store: self,
            inner: self.lock(),
            key,
            kind,
            by,
        }
    }

    pub(super) fn read(&self, target: &Target) -> Option<Value> {
        let key = self.key(target).ok()?;
        Some(self.lock().get(&key)?.whole(&self.kinds[key.kind]))
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
        kept.map(|(_, version)| version.whole(&self.kinds[kind]))
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
        let (api_version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
        let is_it = |known: &Kind| {
            *known.resource.kind == *kind && known.resource.api_version() == api_version
        };
        let found = self.kinds.iter().position(is_it);
        let kind = found.ok_or_else(|| WriteError::UnknownKind(format!("{api_version} {kind}")))?;
        let name = text(&object["metadata"]["name"]).to_owned();
        let namespace = text(&object["metadata"]["namespace"]).to_owned();
        let is_namespaced = self.kinds[kind].resource.namespaced;
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
            self.kinds[key.kind].resource.group_resource(),
            key.name
        )
    }
}

impl Write<'_> {
    /// The current version of the object.
    pub(super) fn present(&self) -> Written {
        let version = self
            .inner
            .get(&self.key)
            .ok_or_else(|| WriteError::NotFound(self.title()))?;
        Ok(version.value.clone())
    }

    pub(super) fn newborn(&mut self, object: Value) -> Value {
        let mut value = bare(object);
        let metadata = &mut value["metadata"];
        metadata["uid"] = json!(uid(&mut self.inner.uids));
        metadata["creationTimestamp"] = json!(self.by.time());
        if self.kind.counts_generations {
            metadata["generation"] = json!(1);
        }
        value
    }

    /// The successor of `old` in an update. System fields stay, and a subresource changes only its own
    /// fields.
    pub(super) fn successor(&self, old: &Value, object: Value) -> Value {
        let mut new = if self.by.writer.subresource.as_deref() == Some("status") {
            // As in kube-apiserver's strategies, a write to the status may change annotations too.
            let mut new = old.clone();
            new["status"] = object["status"].clone();
            if !object["metadata"]["annotations"].is_null() {
                new["metadata"]["annotations"] = object["metadata"]["annotations"].clone();
            }
            new
        } else {
            bare(object)
        };
        for name in SYSTEM_FIELDS {
            match old["metadata"].get(name) {
                Some(value) => new["metadata"][name] = value.clone(),
                None => drop(
                    new["metadata"]
                        .as_object_mut()
                        .map(|metadata| metadata.remove(name)),
                ),
            }
        }
        if self.kind.counts_generations && specification(old) != specification(&new) {
            let generation = old["metadata"]["generation"].as_u64().unwrap_or(0);
            new["metadata"]["generation"] = json!(generation + 1);
        }
        new
    }

    /// Stores the new version, unless nothing has changed. A terminating object without remaining finalizers
    /// is deleted.
    pub(super) fn settle(self, old: Value, new: Value) -> Value {
        if without_times(&old) == without_times(&new) {
            return whole(old, self.kind);
        }
        let waits = number(&new, "/metadata/deletionGracePeriodSeconds") > 0;
        let is_over =
            is_terminating(&new) && has_finalizers(&old) && !has_finalizers(&new) && !waits;
        let change = if is_over {
            Change::Deleted
        } else {
            Change::Modified
        };
        self.commit(change, new)
    }

    pub(super) fn commit(mut self, change: Change, value: Value) -> Value {
        let version = self.inner.commit(&self.key, change, value);
        drop(self.inner);
        self.store.announce();
        version.whole(self.kind)
    }

    /// Runs `act` with the writer in the form of a `managedFields` entry.
    pub(super) fn acting<R>(&self, act: impl FnOnce(&Actor<'_>) -> R) -> R {
        let Writer {
            manager,
            subresource,
            ..
        } = self.by.writer;
        let (api_version, time) = (self.kind.resource.api_version(), self.by.time());
        act(&Actor {
            manager,
            subresource: subresource.as_deref(),
            api_version: &api_version,
            time: &time,
        })
    }

    fn title(&self) -> String {
        self.store.title(&self.key)
    }
}

/// The writer, and the time of its writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Writer {
    /// The field manager, as in `kubectl-edit`.
    pub manager: String,
    /// The subresource, as in `status`. A write to `status` changes only the status and the annotations.
    pub subresource: Option<String>,
    /// The time of the write; `None` reads the clock of the options.
    pub time: Option<Timestamp>,
}

impl Writer {
    /// A field manager that writes to the object itself, at the current time.
    pub fn new(manager: &str) -> Self {
        Self {
            manager: manager.to_owned(),
            subresource: None,
            time: None,
        }
    }

    /// The same manager, for a subresource.
    #[must_use]
    pub fn on(mut self, subresource: &str) -> Self {
        self.subresource = Some(subresource.to_owned());
        self
    }

    /// The same manager, at a fixed time.
    #[must_use]
    pub fn at(mut self, time: Timestamp) -> Self {
        self.time = Some(time);
        self
    }
}

/// An object, by resource, namespace and name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Plural, alone or with the group: `deployments`, `deployments.apps`.
    pub resource: String,
    /// Empty for cluster-wide kinds.
    pub namespace: String,
    /// Name of the object.
    pub name: String,
}

impl Target {
    /// An object in a namespace.
    pub fn new(resource: &str, namespace: &str, name: &str) -> Self {
        Self {
            resource: resource.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }
}

/// How an object is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deletion {
    /// At once, unless the object has finalizers.
    Immediate,
    /// The object stays until a second deletion, with a `deletionTimestamp` this many seconds ahead.
    Graceful(u32),
}

/// Why a write was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// No served kind has this name.
    #[error("no kind {0:?} is served")]
    UnknownKind(String),
    /// An object with this name exists.
    #[error("{0} already exists")]
    AlreadyExists(String),
    /// No object with this name exists.
    #[error("{0} not found")]
    NotFound(String),
    /// The object was written after the client had read it.
    #[error("operation cannot be fulfilled on {0}: the object has been modified")]
    Conflict(String),
    /// The object has no name, or no namespace although its kind needs one.
    #[error("invalid object: {0}")]
    Invalid(&'static str),
}

/// RFC 3339 in whole seconds, as Kubernetes writes times.
pub(super) fn seconds(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Sets a missing name: `metadata.generateName` and five random characters.
fn name_it(object: &mut Value, random: &mut fastrand::Rng) {
    let metadata = &mut object["metadata"];
    if let (true, Some(stem)) = (
        metadata["name"].is_null(),
        metadata["generateName"].as_str(),
    ) {
        let letters: Vec<char> = "bcdfghjklmnpqrstvwxz2456789".chars().collect();
        let suffix: String = (0..5)
            .map(|_| letters[random.usize(..letters.len())])
            .collect();
        metadata["name"] = json!(format!("{stem}{suffix}"));
    }
}

/// A random (version 4) uid.
pub(super) fn uid(random: &mut fastrand::Rng) -> String {
    let bits = random.u128(..);
    let hex = format!(
        "{:032x}",
        bits & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62)
    );
    [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ]
    .join("-")
}

pub(super) fn bare(mut object: Value) -> Value {
    if let Some(map) = object.as_object_mut() {
        map.remove("apiVersion");
        map.remove("kind");
    }
    object
}

/// All fields except metadata and status. A change of one of them increments the generation.
fn specification(value: &Value) -> Vec<(&String, &Value)> {
    let fields = value.as_object().into_iter().flatten();
    fields
        .filter(|(name, _)| !matches!(name.as_str(), "metadata" | "status"))
        .collect()
}

/// The object without the times of its `managedFields`. If nothing else has changed, kube-apiserver stores no
/// new version (`ignoreManagedFieldsTimestampsTransformer`).
fn without_times(value: &Value) -> Value {
    let mut value = value.clone();
    let entries = value["metadata"]["managedFields"].as_array_mut();
    for entry in entries.into_iter().flatten() {
        if let Some(entry) = entry.as_object_mut() {
            entry.remove("time");
        }
    }
    value
}

pub(super) fn is_terminating(value: &Value) -> bool {
    value["metadata"]["deletionTimestamp"].is_string()
}

fn has_finalizers(value: &Value) -> bool {
    value["metadata"]["finalizers"]
        .as_array()
        .is_some_and(|finalizers| !finalizers.is_empty())
}
