//! `Evidence`: what the model reads only to explain objects that are not well. It is no object of the model: it
//! has no state and no row.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::graph::Labels;
use crate::object::{Doc, EventFacts, ObjectRef, Uid, Value};
use crate::source::{Event, Form, SourceKey, Version};

/// How many warnings about objects that the model does not have are kept. Such an object may only be late.
const MAX_UNKNOWN_SUBJECTS: usize = 256;

/// The evidence, by source.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    sources: Vec<(SourceKey, SourceEvidence)>,
    pub(super) news: EvidenceNews,
}

/// The changes of the evidence since the last refresh.
#[derive(Debug, Default)]
pub(super) struct EvidenceNews {
    /// The objects with new evidence.
    pub(super) about: BTreeSet<Uid>,
    /// Whether labels have changed, which may concern any object.
    pub(super) has_labels: bool,
    /// Whether warnings about unknown objects have arrived.
    pub(super) has_unknown_subjects: bool,
}

/// The evidence of one source.
#[derive(Debug)]
enum SourceEvidence {
    Warnings(Warnings),
    /// The labels of Nodes or Pods.
    Labels(BTreeMap<Uid, Labels>),
    /// What workloads would create.
    Templates(BTreeMap<Uid, PodTemplate>),
    /// The names of objects, each with its finalizers if it is being deleted. A name that is missing may be a misspelled one
    /// of these.
    Names(BTreeMap<Uid, (Arc<ObjectRef>, Option<Box<str>>)>),
    /// Whole objects, such as the volumes that a claim might have.
    Objects(BTreeMap<Uid, EvidenceObject>),
}

/// The name of an object, and its text.
pub(super) type EvidenceObject = (Arc<ObjectRef>, Doc);

/// The Pods that a workload creates.
#[derive(Debug)]
pub(super) struct PodTemplate {
    /// The workload.
    pub(super) workload: Arc<ObjectRef>,
    /// The labels of its Pods.
    pub(super) labels: Labels,
    /// How many Pods it wants.
    pub(super) replicas: i64,
}

/// Warnings, by the objects that they are about.
#[derive(Debug, Default)]
struct Warnings {
    /// The warning in each event.
    of_event: BTreeMap<Uid, Arc<EventFacts>>,
    /// The events about the objects of each kind and name.
    about: BTreeMap<KindAndName, BTreeSet<Uid>>,
}

/// A kind and a name. Reporters may know no more of an object.
type KindAndName = (Arc<str>, Arc<str>);

fn kind_and_name(object: &ObjectRef) -> KindAndName {
    (object.kind.clone(), object.name.clone())
}

impl Evidence {
    /// Replaces the sources. A source that stays keeps its evidence.
    pub(super) fn follow(&mut self, sources: Vec<SourceKey>) {
        let mut before = std::mem::take(&mut self.sources);
        for source in sources {
            let known = before.iter().position(|(known, _)| *known == source);
            let entry = known.map(|at| before.swap_remove(at));
            self.sources.push(entry.unwrap_or_else(|| {
                let evidence = SourceEvidence::of(&source);
                (source, evidence)
            }));
        }
    }

    /// Whether a source is read for evidence.
    pub(super) fn is_of(&self, source: &SourceKey) -> bool {
        self.sources.iter().any(|(known, _)| known == source)
    }

    /// Records an object event. Returns the object that it is about, if it is a warning.
    pub(super) fn apply(&mut self, source: &SourceKey, event: &Event) -> Option<ObjectRef> {
        let Event::Object { why, now, .. } = event else {
            return None;
        };
        let mut sources = self.sources.iter_mut();
        let (_, evidence) = sources.find(|(known, _)| known == source)?;
        let uid = now.object.identity();
        match evidence {
            SourceEvidence::Labels(labels) if why.is_gone() => drop(labels.remove(&uid)),
            SourceEvidence::Labels(labels) => {
                let doc = now.doc().ok();
                let own = doc.as_ref().map(|doc| Labels::of(doc.root()));
                labels.insert(uid, own.unwrap_or_default());
            }
            SourceEvidence::Templates(templates) if why.is_gone() => drop(templates.remove(&uid)),
            SourceEvidence::Templates(templates) => {
                templates.extend(PodTemplate::of(now).map(|template| (uid, template)));
            }
            SourceEvidence::Names(names) if why.is_gone() => drop(names.remove(&uid)),
            SourceEvidence::Names(names) => {
                // Of many objects, few are being deleted: the others are not parsed.
                let may_be_deleted = now.body.text().contains("\"deletionTimestamp\"");
                let doc = may_be_deleted.then(|| now.doc().ok()).flatten();
                let finalizers = doc.and_then(|doc| finalizers_of_deleted(doc.root()));
                names.insert(uid, (now.object.clone(), finalizers));
            }
            SourceEvidence::Objects(objects) if why.is_gone() => drop(objects.remove(&uid)),
            SourceEvidence::Objects(objects) => {
                let doc = now.doc().ok();
                objects.extend(doc.map(|doc| (uid, (now.object.clone(), doc))));
            }
            SourceEvidence::Warnings(warnings) if why.is_gone() => return warnings.remove(&uid),
            SourceEvidence::Warnings(warnings) => return warnings.put(uid, now),
        }
        None
    }

    /// The warnings about an object.
    pub(super) fn warnings(&self, object: &ObjectRef) -> Vec<Arc<EventFacts>> {
        let key = kind_and_name(object);
        let events = self.sources.iter().flat_map(|(_, evidence)| {
            let SourceEvidence::Warnings(warnings) = evidence else {
                return Vec::new();
            };
            let events = warnings.about.get(&key).into_iter().flatten();
            let events = events.filter_map(|event| warnings.of_event.get(event));
            let own = events.filter(|warning| is_subject(&warning.about, object));
            own.cloned().collect()
        });
        events.collect()
    }

    /// The labels of the objects of a source.
    pub(super) fn labels(&self, source: &SourceKey) -> impl Iterator<Item = &Labels> {
        let labels = match self.of(source) {
            Some(SourceEvidence::Labels(labels)) => Some(labels.values()),
            _ => None,
        };
        labels.into_iter().flatten()
    }

    /// What the workloads of a source would create.
    pub(super) fn templates(&self, source: &SourceKey) -> impl Iterator<Item = &PodTemplate> {
        let templates = match self.of(source) {
            Some(SourceEvidence::Templates(templates)) => Some(templates.values()),
            _ => None,
        };
        templates.into_iter().flatten()
    }

    /// The names of the objects of a source.
    pub(super) fn names(&self, source: &SourceKey) -> impl Iterator<Item = &str> {
        let names = match self.of(source) {
            Some(SourceEvidence::Names(names)) => Some(names.values()),
            _ => None,
        };
        names.into_iter().flatten().map(|(object, _)| &*object.name)
    }

    /// The objects of a source that are being deleted, each with its finalizers: `a, b`.
    pub(super) fn being_deleted(&self, source: &SourceKey) -> Vec<(Arc<ObjectRef>, Box<str>)> {
        match self.of(source) {
            Some(SourceEvidence::Names(names)) => {
                let deleted = names.values();
                let deleted =
                    deleted.filter_map(|(object, it)| Some((object.clone(), it.clone()?)));
                deleted.collect()
            }
            Some(SourceEvidence::Objects(objects)) => {
                let deleted = objects.values().filter_map(|(object, doc)| {
                    Some((object.clone(), finalizers_of_deleted(doc.root())?))
                });
                deleted.collect()
            }
            _ => Vec::new(),
        }
    }

    /// The objects of a source that has whole ones.
    pub(super) fn objects(&self, source: &SourceKey) -> impl Iterator<Item = &EvidenceObject> {
        let objects = match self.of(source) {
            Some(SourceEvidence::Objects(objects)) => Some(objects.values()),
            _ => None,
        };
        objects.into_iter().flatten()
    }

    fn of(&self, source: &SourceKey) -> Option<&SourceEvidence> {
        let found = self.sources.iter().find(|(known, _)| known == source);
        found.map(|(_, evidence)| evidence)
    }

    /// The oldest warnings about unknown objects, if there are too many of these.
    pub(super) fn unknown_subjects(&self, is_known: impl Fn(&ObjectRef) -> bool) -> Vec<Uid> {
        let warnings = self
            .sources
            .iter()
            .filter_map(|(_, evidence)| match evidence {
                SourceEvidence::Warnings(warnings) => Some(warnings),
                _ => None,
            });
        warnings
            .flat_map(|warnings| warnings.unknown_subjects(&is_known))
            .collect()
    }

    /// Forgets these warnings.
    pub(super) fn forget(&mut self, events: &[Uid]) {
        for (_, evidence) in &mut self.sources {
            if let SourceEvidence::Warnings(warnings) = evidence {
                for event in events {
                    warnings.remove(event);
                }
            }
        }
    }
}

/// The finalizers of an object that is being deleted; `None` for another object.
fn finalizers_of_deleted(object: Value<'_>) -> Option<Box<str>> {
    object.at(&["metadata", "deletionTimestamp"])?;
    let finalizers = object.items_at(&["metadata", "finalizers"]);
    let finalizers: Vec<_> = finalizers.filter_map(Value::as_str).collect();
    Some(finalizers.join(", ").into())
}

impl SourceEvidence {
    fn of(source: &SourceKey) -> SourceEvidence {
        match (&*source.resource.kind, source.form) {
            ("Event", _) => SourceEvidence::Warnings(Warnings::default()),
            ("Pod" | "Node", Form::Metadata) => SourceEvidence::Labels(BTreeMap::new()),
            (_, Form::Metadata) => SourceEvidence::Names(BTreeMap::new()),
            ("Deployment" | "StatefulSet" | "DaemonSet", _) => {
                SourceEvidence::Templates(BTreeMap::new())
            }
            _ => SourceEvidence::Objects(BTreeMap::new()),
        }
    }
}

impl Warnings {
    fn put(&mut self, event: Uid, version: &Version) -> Option<ObjectRef> {
        let doc = version.doc().ok()?;
        let warning = EventFacts::of(doc.root()).filter(EventFacts::is_warning)?;
        let about = warning.about.clone();
        let events = self.about.entry(kind_and_name(&about)).or_default();
        events.insert(event.clone());
        self.of_event.insert(event, Arc::new(warning));
        Some(about)
    }

    fn remove(&mut self, event: &Uid) -> Option<ObjectRef> {
        let warning = self.of_event.remove(event)?;
        let key = kind_and_name(&warning.about);
        if let Some(events) = self.about.get_mut(&key) {
            events.remove(event);
            if events.is_empty() {
                self.about.remove(&key);
            }
        }
        Some(warning.about.clone())
    }

    fn unknown_subjects(&self, is_known: impl Fn(&ObjectRef) -> bool) -> Vec<Uid> {
        let unknown = self.of_event.iter();
        let unknown = unknown.filter(|(_, warning)| !is_known(&warning.about));
        let mut unknown: Vec<_> = unknown
            .map(|(event, warning)| (warning.last, event.clone()))
            .collect();
        unknown.sort();
        let forgotten = unknown.len().saturating_sub(MAX_UNKNOWN_SUBJECTS);
        unknown.truncate(forgotten);
        unknown.into_iter().map(|(_, event)| event).collect()
    }
}

/// Whether an event with this subject is about an object. Some reporters know no uid, an object of a file may have none, and
/// the kubelet does not know the uid of its Node.
pub(super) fn is_subject(about: &ObjectRef, object: &ObjectRef) -> bool {
    if kind_and_name(about) != kind_and_name(object) {
        return false;
    }
    if let (Some(about), Some(own)) = (&about.uid, &object.uid)
        && &*object.kind != "Node"
    {
        return about == own;
    }
    let is_of_group = about.api_version.is_empty() || about.group() == object.group();
    let is_inside = match (&about.namespace, &object.namespace) {
        (Some(about), Some(own)) => about == own,
        (None, _) | (_, None) => true,
    };
    is_of_group && is_inside
}

impl PodTemplate {
    /// The template of a Deployment, a `StatefulSet` or a `DaemonSet`.
    pub(super) fn of(version: &Version) -> Option<PodTemplate> {
        let doc = version.doc().ok()?;
        let spec = doc.root().at(&["spec"])?;
        Some(PodTemplate {
            workload: version.object.clone(),
            labels: Labels::of(spec.at(&["template"])?),
            replicas: match &*version.object.kind {
                "DaemonSet" => doc.root().i64_at(&["status", "desiredNumberScheduled"])?,
                _ => spec.i64_at(&["replicas"]).unwrap_or(1),
            },
        })
    }
}

#[cfg(test)]
mod tests;
