//! Writes: what kube-apiserver adds to an object, checks and refuses before a version is stored.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::kinds::{Kind, Scope};
use super::log::{Change, Key};
use super::managed_fields::{self, Actor};
use super::store::{Inner, Store};
use super::writer::{Deletion, Target, WriteError, Writer};

type Written = Result<Value, WriteError>;

/// A writer with its clock read.
pub(super) struct Stamp<'a> {
    pub(super) writer: &'a Writer,
    pub(super) now: Timestamp,
}

impl Stamp<'_> {
    fn time(&self) -> String {
        seconds(self.now)
    }
}

/// RFC 3339 in whole seconds, as Kubernetes writes times.
pub(super) fn seconds(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

impl Store {
    pub(super) fn read(&self, target: &Target) -> Option<Value> {
        let key = self.key(target).ok()?;
        Some(self.lock().get(&key)?.whole(&self.kinds()[key.kind]))
    }

    pub(super) fn create(&self, mut object: Value, by: &Stamp<'_>) -> Written {
        let mut inner = self.lock();
        name_it(&mut object, &mut inner);
        let key = self.key_of(&object)?;
        if inner.get(&key).is_some() {
            return Err(WriteError::AlreadyExists(self.title(&key)));
        }
        let value = self.newborn(object, &key, by, &mut inner);
        let value = self.with_fields(None, value, (&key, by));
        Ok(self.commit(inner, &key, Change::Added, value))
    }

    pub(super) fn update(&self, object: Value, by: &Stamp<'_>) -> Written {
        let key = self.key_of(&object)?;
        let inner = self.lock();
        let old = inner
            .get(&key)
            .ok_or_else(|| WriteError::NotFound(self.title(&key)))?
            .value
            .clone();
        let asked = &object["metadata"]["resourceVersion"];
        if asked.is_string() && *asked != old["metadata"]["resourceVersion"] {
            return Err(WriteError::Conflict(self.title(&key)));
        }
        let new = self.successor(&old, object, &key, by);
        let new = self.with_fields(Some(&old), new, (&key, by));
        Ok(self.settle(inner, &key, &old, new))
    }

    pub(super) fn apply(&self, object: Value, by: &Stamp<'_>) -> Written {
        let key = self.key_of(&object)?;
        let mut inner = self.lock();
        let kind = &self.kinds()[key.kind];
        let (api_version, time) = (kind.api_version(), by.time());
        let actor = actor(by.writer, &api_version, &time);
        let applied = bare(object);
        let Some(old) = inner.get(&key).map(|version| version.value.clone()) else {
            let mut value = self.newborn(applied, &key, by, &mut inner);
            managed_fields::after_first_apply(&mut value, &actor);
            return Ok(self.commit(inner, &key, Change::Added, value));
        };
        let merged = managed_fields::apply(&old, &applied, &actor);
        let fields = merged["metadata"]["managedFields"].clone();
        let mut new = self.successor(&old, merged, &key, by);
        new["metadata"]["managedFields"] = fields;
        Ok(self.settle(inner, &key, &old, new))
    }

    pub(super) fn patch(&self, target: &Target, patch: &Value, by: &Stamp<'_>) -> Written {
        let key = self.key(target)?;
        let found = self
            .lock()
            .get(&key)
            .map(|version| version.whole(&self.kinds()[key.kind]));
        let mut object = found.ok_or_else(|| WriteError::NotFound(self.title(&key)))?;
        json_patch::merge(&mut object, patch);
        self.update(object, by)
    }

    pub(super) fn delete(&self, target: &Target, deletion: Deletion, by: &Stamp<'_>) -> Written {
        let key = self.key(target)?;
        let inner = self.lock();
        let old = inner
            .get(&key)
            .ok_or_else(|| WriteError::NotFound(self.title(&key)))?
            .value
            .clone();
        let held = has_finalizers(&old);
        let grace = match deletion {
            Deletion::Graceful(seconds) if seconds > 0 => seconds,
            Deletion::Immediate | Deletion::Graceful(_) if held => 0,
            Deletion::Immediate | Deletion::Graceful(_) => {
                return Ok(self.commit(inner, &key, Change::Deleted, old));
            }
        };
        if is_terminating(&old) && held {
            return Ok(whole(old, &self.kinds()[key.kind]));
        }
        let mut new = old.clone();
        let end = by.now + jiff::SignedDuration::from_secs(i64::from(grace));
        let metadata = &mut new["metadata"];
        metadata["deletionTimestamp"] = json!(seconds(end));
        metadata["deletionGracePeriodSeconds"] = json!(grace);
        if let Some(generation) = metadata["generation"].as_u64() {
            metadata["generation"] = json!(generation + 1);
        }
        Ok(self.settle(inner, &key, &old, new))
    }

    /// Stores the new version, unless nothing has changed; a terminating object whose last finalizer has gone is deleted.
    fn settle(
        &self,
        inner: std::sync::MutexGuard<'_, Inner>,
        key: &Key,
        old: &Value,
        new: Value,
    ) -> Value {
        if without_fields(old) == without_fields(&new) {
            return whole(old.clone(), &self.kinds()[key.kind]);
        }
        let waits = new["metadata"]["deletionGracePeriodSeconds"]
            .as_u64()
            .unwrap_or(0)
            > 0;
        let is_over =
            is_terminating(&new) && has_finalizers(old) && !has_finalizers(&new) && !waits;
        let change = if is_over {
            Change::Deleted
        } else {
            Change::Modified
        };
        self.commit(inner, key, change, new)
    }

    fn commit(
        &self,
        mut inner: std::sync::MutexGuard<'_, Inner>,
        key: &Key,
        change: Change,
        value: Value,
    ) -> Value {
        let version = inner.commit(key, change, value);
        drop(inner);
        self.announce();
        version.whole(&self.kinds()[key.kind])
    }

    fn newborn(&self, object: Value, key: &Key, by: &Stamp<'_>, inner: &mut Inner) -> Value {
        let mut value = bare(object);
        let metadata = &mut value["metadata"];
        metadata["uid"] = json!(uid(&mut inner.uids));
        metadata["creationTimestamp"] = json!(by.time());
        if self.kinds()[key.kind].counts_generations {
            metadata["generation"] = json!(1);
        }
        value
    }

    /// What an update makes of `old`: the system's own fields stay, and a subresource changes only what is its own.
    fn successor(&self, old: &Value, object: Value, key: &Key, by: &Stamp<'_>) -> Value {
        let mut new = if by.writer.subresource.as_deref() == Some("status") {
            let mut new = old.clone();
            new["status"] = object["status"].clone();
            new
        } else {
            bare(object)
        };
        let system = [
            "uid",
            "creationTimestamp",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "generation",
        ];
        for name in system
            .into_iter()
            .chain(["namespace", "resourceVersion", "managedFields"])
        {
            match old["metadata"].get(name) {
                Some(value) => new["metadata"][name] = value.clone(),
                None => drop(
                    new["metadata"]
                        .as_object_mut()
                        .map(|metadata| metadata.remove(name)),
                ),
            }
        }
        let is_new_generation =
            self.kinds()[key.kind].counts_generations && specification(old) != specification(&new);
        if is_new_generation {
            let generation = old["metadata"]["generation"].as_u64().unwrap_or(0);
            new["metadata"]["generation"] = json!(generation + 1);
        }
        new
    }

    fn with_fields(
        &self,
        old: Option<&Value>,
        mut new: Value,
        (key, by): (&Key, &Stamp<'_>),
    ) -> Value {
        let (api_version, time) = (self.kinds()[key.kind].api_version(), by.time());
        managed_fields::after_update(old, &mut new, &actor(by.writer, &api_version, &time));
        new
    }

    fn key(&self, target: &Target) -> Result<Key, WriteError> {
        let unknown = || WriteError::UnknownKind(target.resource.clone());
        let kind = self.kind_of(&target.resource).ok_or_else(unknown)?;
        Ok(Key {
            kind,
            namespace: target.namespace.clone(),
            name: target.name.clone(),
        })
    }

    fn key_of(&self, object: &Value) -> Result<Key, WriteError> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (api_version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
        let is_it = |known: &Kind| known.kind == kind && known.api_version() == api_version;
        let found = self.kinds().iter().position(is_it);
        let kind = found.ok_or_else(|| WriteError::UnknownKind(format!("{api_version} {kind}")))?;
        let name = text(&object["metadata"]["name"]);
        if name.is_empty() {
            return Err(WriteError::Invalid("metadata.name is missing"));
        }
        let namespace = match self.kinds()[kind].scope {
            Scope::Cluster => String::new(),
            Scope::Namespaced => text(&object["metadata"]["namespace"]),
        };
        if namespace.is_empty() && self.kinds()[kind].scope == Scope::Namespaced {
            return Err(WriteError::Invalid("metadata.namespace is missing"));
        }
        Ok(Key {
            kind,
            namespace,
            name,
        })
    }

    fn title(&self, key: &Key) -> String {
        format!("{} \"{}\"", self.kinds()[key.kind].qualified(), key.name)
    }
}

fn actor<'a>(writer: &'a Writer, api_version: &'a str, time: &'a str) -> Actor<'a> {
    Actor {
        manager: &writer.manager,
        subresource: writer.subresource.as_deref(),
        api_version,
        time,
    }
}

/// `metadata.generateName` with five characters of the server's choice, when there is no name.
fn name_it(object: &mut Value, inner: &mut Inner) {
    let metadata = &mut object["metadata"];
    if let (true, Some(stem)) = (
        metadata["name"].is_null(),
        metadata["generateName"].as_str(),
    ) {
        let letters: Vec<char> = "bcdfghjklmnpqrstvwxz2456789".chars().collect();
        let suffix: String = (0..5)
            .map(|_| letters[inner.uids.usize(..letters.len())])
            .collect();
        metadata["name"] = json!(format!("{stem}{suffix}"));
    }
}

/// A random (version 4) uid.
fn uid(random: &mut fastrand::Rng) -> String {
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

fn bare(mut object: Value) -> Value {
    if let Some(map) = object.as_object_mut() {
        map.remove("apiVersion");
        map.remove("kind");
    }
    object
}

fn whole(mut value: Value, kind: &Kind) -> Value {
    value["apiVersion"] = json!(kind.api_version());
    value["kind"] = json!(kind.kind);
    value
}

/// Everything but metadata and status: a change of it is a new generation.
fn specification(value: &Value) -> Vec<(&String, &Value)> {
    let fields = value.as_object().into_iter().flatten();
    fields
        .filter(|(name, _)| !matches!(name.as_str(), "metadata" | "status"))
        .collect()
}

fn without_fields(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(metadata) = value["metadata"].as_object_mut() {
        metadata.remove("managedFields");
    }
    value
}

fn is_terminating(value: &Value) -> bool {
    value["metadata"]["deletionTimestamp"].is_string()
}

fn has_finalizers(value: &Value) -> bool {
    value["metadata"]["finalizers"]
        .as_array()
        .is_some_and(|finalizers| !finalizers.is_empty())
}
