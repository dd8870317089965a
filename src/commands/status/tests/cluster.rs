//! A cluster that sends events to a state, as the multiplexer would.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::super::state::StatusState;
use super::{shared, start};
use crate::object::selector::LabelSelector;
use crate::object::{Doc, ObjectRef, ResourceVersion};
use crate::sandbox::scenario::{Scenario, Stage};
use crate::sandbox::{Change, Options, Sandbox};
use crate::source::{Event, Scope, SourceKey, SourceState, Version, Why};

/// Objects, and the state that follows them.
pub(super) struct Cluster {
    pub(super) state: StatusState,
    /// The lines for forbidden kinds.
    pub(super) refused: Vec<String>,
    objects: BTreeMap<String, Arc<Version>>,
    listed: Vec<SourceKey>,
    forbidden: &'static str,
}

impl Cluster {
    /// A cluster with these objects, which the state has listed.
    pub(super) fn of(state: StatusState, objects: impl IntoIterator<Item = Value>) -> Cluster {
        Cluster::forbidding("", state, objects)
    }

    /// The same, but one resource is forbidden.
    pub(super) fn forbidding(
        forbidden: &'static str,
        state: StatusState,
        objects: impl IntoIterator<Item = Value>,
    ) -> Cluster {
        let mut cluster = Cluster {
            state,
            refused: Vec::new(),
            objects: BTreeMap::new(),
            listed: Vec::new(),
            forbidden,
        };
        for object in objects {
            cluster.write(&object, start());
        }
        cluster.settle(start());
        cluster
    }

    /// Creates or changes an object.
    pub(super) fn write(&mut self, object: &Value, now: Timestamp) {
        let version = version(&object.to_string(), self.objects.len());
        let uid = key(&version);
        let why = match self.objects.insert(uid, version.clone()) {
            Some(_) => Why::Modified,
            None => Why::Added,
        };
        self.send(&version, why, now);
    }

    /// Deletes an object.
    pub(super) fn delete(&mut self, name: &str, now: Timestamp) {
        let found = self
            .objects
            .values()
            .find(|held| &*held.object.name == name);
        let version = found.expect("it is there").clone();
        self.objects.remove(&key(&version));
        self.send(&version, Why::Deleted, now);
    }

    /// Sends the event of an object that left a selector.
    pub(super) fn lose(&mut self, name: &str, now: Timestamp) {
        let found = self
            .objects
            .values()
            .find(|held| &*held.object.name == name);
        let version = found.expect("it is there").clone();
        self.send(&version, Why::LeftSelector, now);
    }

    fn send(&mut self, version: &Arc<Version>, why: Why, now: Timestamp) {
        for key in self.listed.clone() {
            if selects(&key, version) {
                self.state
                    .apply(&shared(&key), &event(version, why, now), now);
            }
        }
    }

    /// Refreshes the state and lists its sources, until it wants no new ones.
    pub(super) fn settle(&mut self, now: Timestamp) {
        loop {
            self.state.refresh(now);
            // A source that is no longer wanted is dropped. It is listed again if it is wanted again.
            let wanted: Vec<_> = self.state.model.sources().cloned().collect();
            self.listed.retain(|key| wanted.contains(key));
            let wanted = self
                .state
                .model
                .sources()
                .find(|key| !self.listed.contains(key));
            let Some(key) = wanted.cloned() else { break };
            self.list(&key, now);
        }
        assert!(self.state.is_settled(), "all sources are listed");
    }

    fn list(&mut self, key: &SourceKey, now: Timestamp) {
        self.listed.push(key.clone());
        let source = shared(key);
        if *key.resource.plural == *self.forbidden {
            let cause: Arc<str> = "pods is forbidden: User \"ana\" cannot list it".into();
            self.refused.push(format!("forbidden: pods: {cause}"));
            let state = SourceState::Forbidden { cause };
            self.state.apply(&source, &Event::State(state), now);
            return;
        }
        let found: Vec<_> = self
            .objects
            .values()
            .filter(|held| selects(key, held))
            .collect();
        for version in &found {
            self.state
                .apply(&source, &event(version, Why::Listed, now), now);
        }
        let count = found.len();
        self.state.apply(&source, &Event::synced(count), now);
    }
}

/// A scenario of the sandbox, played up to some time.
pub(super) struct Played {
    sandbox: Sandbox,
    scenario: Scenario,
}

impl Played {
    pub(super) async fn new(scenario: Scenario) -> Played {
        let options = Options::new(Arc::new(start));
        let sandbox = Sandbox::start(options).await.expect("a free port");
        Played { sandbox, scenario }
    }

    /// Shows the cluster at each of these times, in milliseconds. Objects that exist at the start are listed and
    /// do not count as changes.
    pub(super) fn at(
        &self,
        state: StatusState,
        times: &[u64],
        mut show: impl FnMut(&mut Cluster, u64),
    ) {
        let mut play = Stage::set(&self.sandbox, &self.scenario).expect("set up");
        let mut told = self.sandbox.revision();
        let props = self.sandbox.log().into_iter().map(|record| record.after);
        let props = props.map(|object| serde_json::from_slice(&object).expect("JSON"));
        let mut cluster = Cluster::of(state, props);
        for &time in times {
            play.play_until(time).expect("played");
            let now = start() + SignedDuration::from_millis(time.try_into().expect("short"));
            for record in self.sandbox.log_after(told) {
                told = record.revision;
                let object = serde_json::from_slice(&record.after).expect("JSON");
                match record.change {
                    Change::Added | Change::Modified => cluster.write(&object, now),
                    Change::Deleted => cluster.delete(&record.name, now),
                }
            }
            cluster.settle(now);
            show(&mut cluster, time);
        }
    }
}

pub(super) fn event(version: &Arc<Version>, why: Why, now: Timestamp) -> Event {
    Event::Object {
        why,
        past: false,
        seen: now,
        now: version.clone(),
        prev: None,
    }
}

pub(super) fn version(body: &str, number: usize) -> Arc<Version> {
    let object = Doc::parse(body).map_or_else(|_| nobody(), |doc| ObjectRef::of(doc.root()));
    Arc::new(Version {
        object: object.into(),
        version: ResourceVersion::new(number.to_string()),
        body: body.into(),
    })
}

fn nobody() -> ObjectRef {
    let doc = Doc::parse("{}").expect("JSON");
    ObjectRef::of(doc.root())
}

fn key(version: &Version) -> String {
    version.object.identity().as_str().to_owned()
}

fn selects(key: &SourceKey, version: &Version) -> bool {
    let object = &version.object;
    let is_inside = match &key.scope {
        Scope::Cluster => true,
        Scope::Namespace(namespace) => object.namespace.as_ref() == Some(namespace),
    };
    let name = key.select.name();
    let labels = key.select.label_selector().unwrap_or_default();
    let labels: LabelSelector = labels.parse().expect("a selector");
    let doc = version.doc().expect("JSON");
    let label = |key: &str| {
        let value = doc.root().at(&["metadata", "labels"])?.get(key)?.as_str()?;
        Some(value.into_owned())
    };
    object.group_kind() == key.resource.group_kind()
        && is_inside
        && name.is_none_or(|name| *object.name == *name)
        && labels.matches(label)
}
