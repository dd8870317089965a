//! Writes: the fields that kube-apiserver adds, and the checks it makes, before it stores a version.

use std::sync::MutexGuard;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::kinds::Kind;
use super::log::{Change, StoreKey};
use super::managed_fields::{self, Actor};
use super::metadata::{
    bare, has_finalizers, is_terminating, name_it, seconds, specification, uid, whole,
    without_times,
};
use super::store::{ObjectStore, StoreInner};
use super::writer::{Deletion, Target, WriteError, Writer};

pub(super) type Written = Result<Value, WriteError>;

/// A writer and the time of its write.
pub(super) struct Stamp<'a> {
    pub(super) writer: &'a Writer,
    pub(super) now: Timestamp,
}

impl Stamp<'_> {
    fn time(&self) -> String {
        seconds(self.now)
    }
}

/// One write in progress: the locked state, the object's key and the writer.
pub(super) struct Write<'s> {
    store: &'s ObjectStore,
    inner: MutexGuard<'s, StoreInner>,
    key: StoreKey,
    kind: &'s Kind,
    by: &'s Stamp<'s>,
}

impl ObjectStore {
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
        let kind = &self.kinds()[key.kind];
        Write {
            store: self,
            inner: self.lock(),
            key,
            kind,
            by,
        }
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
        let waits = new["metadata"]["deletionGracePeriodSeconds"]
            .as_u64()
            .unwrap_or(0)
            > 0;
        let is_over =
            is_terminating(&new) && has_finalizers(&old) && !has_finalizers(&new) && !waits;
        self.commit(
            if is_over {
                Change::Deleted
            } else {
                Change::Modified
            },
            new,
        )
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
