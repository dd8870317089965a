//! Test aids: a trace that gets objects as its sources would send them, from literals or from a scenario of
//! the sandbox.

mod objects;
mod width_tests;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::chain::Chain;
use super::cluster_traces::open;
use super::printed_trace::TraceTransitions;
use super::record;
use super::traced::{TraceOptions, Traced};
use crate::object::well_known;
use crate::render::canvas::{Canvas, ExitKey};
use crate::render::json::trace::GraphRecord;
use crate::render::style::testing::plain;
use crate::render::style::{Look, Styles, Symbols};
use crate::sandbox::scenario::{Scenario, Stage, rollout};
use crate::sandbox::{Options, Sandbox};
use crate::source::{Event, Scope, Select, SourceKey, Why};

use objects::{ready_node, selects, version};

/// The kinds that have no namespace here.
const CLUSTER_SCOPED: [&str; 7] = [
    "Node",
    "Namespace",
    "StorageClass",
    "PersistentVolume",
    "ClusterRole",
    "ClusterRoleBinding",
    "VolumeAttachment",
];

/// The time at which every test starts.
pub(super) const START: Timestamp = Timestamp::constant(1_777_896_000, 0);

/// A trace and its cluster.
pub(super) struct Feed {
    pub(super) chain: Box<dyn Chain>,
    pub(super) now: Timestamp,
    objects: Vec<Value>,
    /// The open sources.
    open: Vec<Arc<SourceKey>>,
    versions: u64,
    transitions: TraceTransitions,
}

impl Feed {
    /// The trace of an object of this kind in namespace `shop`, or of a cluster-scoped one, in an empty cluster.
    pub(super) fn of(kind: &str, name: &str) -> Feed {
        let mut known = well_known().iter().map(|found| &found.resource);
        let resource = known.find(|resource| &*resource.kind == kind);
        let resource = resource.expect("a well-known kind").clone();
        let scope = if resource.namespaced {
            Scope::Namespace("shop".into())
        } else {
            Scope::Cluster
        };
        let source = SourceKey {
            scope,
            select: Select::Name(name.into()),
            ..SourceKey::all(&resource.group, kind)
        };
        Feed {
            chain: open(Traced::new(source, TraceOptions::default())),
            now: START,
            objects: Vec::new(),
            open: Vec::new(),
            versions: 0,
            transitions: TraceTransitions::default(),
        }
    }

    /// The trace of the rollout scenario, from its start until `end` milliseconds later. Objects that exist
    /// at the start are listed; all others arrive as events.
    pub(super) fn story(kind: &str, end: u64) -> Feed {
        Feed::of_scenario(&rollout(), (kind, "web"), end)
    }

    /// The same of an object of any scenario.
    pub(super) fn of_scenario(scenario: &Scenario, (kind, name): (&str, &str), end: u64) -> Feed {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let sandbox = Sandbox::start(Options::new(Arc::new(|| START)))
                .await
                .expect("a free port");
            let mut stage = Stage::set(&sandbox, scenario).expect("a set stage");
            let mut feed = Feed::of(kind, name);
            feed.replay(&sandbox, 0);
            feed.settle();
            for at in (0..=end).step_by(100) {
                let before = sandbox.revision();
                stage.play_until(at).expect("a story");
                feed.now = START + SignedDuration::from_millis(i64::try_from(at).unwrap());
                feed.replay(&sandbox, before);
                feed.settle();
            }
            feed
        })
    }

    fn replay(&mut self, sandbox: &Sandbox, after: u64) {
        for record in sandbox.log_after(after) {
            let object = serde_json::from_slice(&record.after).expect("JSON");
            match record.change {
                crate::sandbox::Change::Deleted => self.remove(&object),
                _ => self.insert(object),
            }
        }
    }

    /// Creates or changes objects from YAML documents, separated by `---`.
    pub(super) fn put(&mut self, yaml: &str) -> &mut Feed {
        for document in yaml.split("\n---\n") {
            let mut object: Value = serde_saphyr::from_str(document).expect("YAML");
            let kind = object["kind"].as_str().unwrap_or_default().to_owned();
            let metadata = &mut object["metadata"];
            if metadata["namespace"].is_null() && !CLUSTER_SCOPED.contains(&&*kind) {
                metadata["namespace"] = json!("shop");
            }
            if metadata["uid"].is_null() {
                metadata["uid"] = json!(format!("uid-{}", metadata["name"].as_str().unwrap()));
            }
            self.insert(object);
        }
        self.settle();
        self
    }

    /// Deletes an object.
    pub(super) fn delete(&mut self, kind: &str, name: &str) -> &mut Feed {
        let object = self
            .objects
            .iter()
            .find(|object| object["kind"] == kind && object["metadata"]["name"] == name)
            .expect("it is there")
            .clone();
        self.remove(&object);
        self.settle();
        self
    }

    /// Advances the time.
    pub(super) fn after(&mut self, milliseconds: i64) -> &mut Feed {
        self.now += SignedDuration::from_millis(milliseconds);
        self.chain.refresh(self.now);
        self.chain.settle();
        self
    }

    fn insert(&mut self, object: Value) {
        let same = |other: &Value| {
            other["kind"] == object["kind"]
                && other["metadata"]["name"] == object["metadata"]["name"]
        };
        let at = self.objects.iter().position(same);
        let prev = at.map(|at| self.objects.remove(at));
        if let Some(prev) = &prev
            && prev["metadata"]["uid"] != object["metadata"]["uid"]
        {
            self.send(prev, Why::Deleted, None);
            self.send(&object, Why::Added, None);
        } else {
            let why = if prev.is_some() {
                Why::Modified
            } else {
                Why::Added
            };
            self.send(&object, why, prev.as_ref());
        }
        self.objects.push(object);
    }

    fn remove(&mut self, object: &Value) {
        let uid = &object["metadata"]["uid"];
        self.objects
            .retain(|other| other["metadata"]["uid"] != *uid);
        self.send(object, Why::Deleted, None);
    }

    /// Sends a version to each open source that has the object, or had it.
    fn send(&mut self, object: &Value, why: Why, prev: Option<&Value>) {
        for key in self.open.clone() {
            let had = prev.filter(|prev| selects(&key, prev));
            let why = match (why, selects(&key, object), had) {
                (Why::Modified, true, None) => Why::Added,
                (Why::Modified, false, Some(_)) => Why::LeftSelector,
                (_, false, _) => continue,
                (why, true, _) => why,
            };
            self.event(&key, why, (object, had));
        }
    }

    fn event(&mut self, key: &Arc<SourceKey>, why: Why, (object, prev): (&Value, Option<&Value>)) {
        self.versions += 1;
        let event = Event::Object {
            why,
            past: false,
            seen: self.now,
            now: version(object, self.versions),
            prev: prev.map(|prev| version(prev, self.versions - 1)),
        };
        self.chain.apply(key, &event, self.now);
    }

    /// Opens the wanted sources until there are no new ones, then settles the trace.
    pub(super) fn settle(&mut self) {
        for _ in 0..10 {
            self.chain.refresh(self.now);
            let sources = self.chain.traced().model.sources();
            let wanted: Vec<SourceKey> = sources.cloned().collect();
            let rereads = self.chain.traced_mut().model.take_rereads();
            self.open
                .retain(|key| wanted.contains(key) && !rereads.contains(key));
            let new: Vec<_> = wanted
                .into_iter()
                .filter(|key| !self.open.iter().any(|open| **open == *key))
                .map(Arc::new)
                .collect();
            if new.is_empty() {
                break;
            }
            for key in new {
                self.open.push(key.clone());
                let mut found: Vec<Value> = self
                    .objects
                    .iter()
                    .filter(|object| selects(&key, object))
                    .cloned()
                    .collect();
                found.extend(ready_node(&key).filter(|_| found.is_empty()));
                for object in &found {
                    self.event(&key, Why::Listed, (object, None));
                }
                let count = found.len();
                self.chain.apply(&key, &Event::synced(count), self.now);
            }
        }
        self.chain.settle();
    }

    /// The followed sources: resource, labels, fields.
    pub(super) fn sources(&self) -> Vec<String> {
        self.open
            .iter()
            .map(|key| {
                let labels = key.select.label_selector().map(Into::into);
                let selector = labels.or(key.select.field_selector());
                format!(
                    "{} {}",
                    key.resource.plural,
                    selector.unwrap_or("all".into())
                )
            })
            .collect()
    }

    /// The frame at this width, on a terminal with enough lines.
    pub(super) fn frame(&self, width: usize) -> String {
        self.frame_of(width, None)
    }

    /// The frame at this width, with room for `rows` lines.
    pub(super) fn frame_of(&self, width: usize, rows: Option<usize>) -> String {
        let canvas = Canvas {
            look: Look {
                width: Some(width),
                styles: Styles::PLAIN,
                symbols: &Symbols::UNICODE,
            },
            now: self.now,
            started: Some(START),
            rows,
            exit_key: ExitKey::CtrlC,
        };
        plain(self.chain.frame(canvas))
    }

    /// The lines for changes since the last call.
    pub(super) fn transitions(&mut self) -> String {
        plain(self.transitions.lines(&mut *self.chain, self.now))
    }

    /// The graph.
    pub(super) fn graph(&self) -> GraphRecord {
        record::graph(&*self.chain)
    }
}
