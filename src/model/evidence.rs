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
    /// Whether something has changed that may concern any object, such as labels.
    pub(super) is_common: bool,
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

/// What an event has changed in the evidence.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EvidenceChange {
    /// Nothing that is kept.
    None,
    /// A warning about this object.
    Warning(ObjectRef),
    /// Something that may concern any object.
    Common,
}

impl EvidenceChange {
    fn of_common(is_other: bool) -> EvidenceChange {
        if is_other {
            EvidenceChange::Common
        } else {
            EvidenceChange::None
        }
    }

    fn of_warning(about: Option<ObjectRef>) -> EvidenceChange {
        about.map_or(EvidenceChange::None, EvidenceChange::Warning)
    }
}

/// The name of an object, and its text.
pub(super) type EvidenceObject = (Arc<ObjectRef>, Doc);

/// The Pods that a workload creates.
#[derive(Debug, PartialEq, Eq)]
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

    /// Records an object event.
    pub(super) fn apply(&mut self, source: &SourceKey, event: &Event) -> EvidenceChange {
        let Event::Object { why, now, .. } = event else {
            return EvidenceChange::None;
        };
        let mut sources = self.sources.iter_mut();
        match sources.find(|(known, _)| known == source) {
            Some((_, evidence)) if why.is_gone() => evidence.remove(&now.object.identity()),
            Some((_, evidence)) => evidence.put(now),
            None => EvidenceChange::None,
        }
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

    /// How many objects of a source have their labels read.
    pub(super) fn label_count(&self, source: &SourceKey) -> usize {
        match self.of(source) {
            Some(SourceEvidence::Labels(labels)) => labels.len(),
            _ => 0,
        }
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

    /// Stores a version of an object. One that does not parse leaves the version before, except its labels.
    fn put(&mut self, version: &Version) -> EvidenceChange {
        let uid = version.object.identity();
        match self {
            SourceEvidence::Labels(labels) => {
                let doc = version.doc().ok();
                let own = doc.map(|doc| Labels::of(doc.root())).unwrap_or_default();
                EvidenceChange::of_common(replace(labels, uid, Some(own)))
            }
            SourceEvidence::Templates(templates) => {
                let template = PodTemplate::of(version);
                EvidenceChange::of_common(replace(templates, uid, template))
            }
            SourceEvidence::Names(names) => {
                // Of many objects, few are being deleted: the others are not parsed.
                let may_be_deleted = version.body.text().contains("\"deletionTimestamp\"");
                let doc = may_be_deleted.then(|| version.doc().ok()).flatten();
                let finalizers = doc.and_then(|doc| finalizers_of_deleted(doc.root()));
                let name = (version.object.clone(), finalizers);
                EvidenceChange::of_common(replace(names, uid, Some(name)))
            }
            SourceEvidence::Objects(objects) => {
                let is_other = |doc: &Doc| {
                    let known = objects.get(&uid);
                    known.is_none_or(|(_, known)| known.root().raw() != doc.root().raw())
                };
                let doc = version.doc().ok().filter(is_other);
                let change = EvidenceChange::of_common(doc.is_some());
                objects.extend(doc.map(|doc| (uid, (version.object.clone(), doc))));
                change
            }
            SourceEvidence::Warnings(warnings) => {
                EvidenceChange::of_warning(warnings.put(uid, version))
            }
        }
    }

    fn remove(&mut self, uid: &Uid) -> EvidenceChange {
        let was_there = match self {
            SourceEvidence::Labels(labels) => labels.remove(uid).is_some(),
            SourceEvidence::Templates(templates) => templates.remove(uid).is_some(),
            SourceEvidence::Names(names) => names.remove(uid).is_some(),
            SourceEvidence::Objects(objects) => objects.remove(uid).is_some(),
            SourceEvidence::Warnings(warnings) => {
                return EvidenceChange::of_warning(warnings.remove(uid));
            }
        };
        EvidenceChange::of_common(was_there)
    }
}

/// Stores what is kept of an object. Returns whether it is another one than before.
fn replace<T: PartialEq>(known: &mut BTreeMap<Uid, T>, uid: Uid, new: Option<T>) -> bool {
    let Some(new) = new.filter(|new| known.get(&uid) != Some(new)) else {
        return false;
    };
    known.insert(uid, new);
    true
}

impl Warnings {
    fn put(&mut self, event: Uid, version: &Version) -> Option<ObjectRef> {
        let doc = version.doc().ok()?;
        let warning = EventFacts::of(doc.root()).filter(EventFacts::is_warning)?;
        let known = self.of_event.get(&event);
        known.is_none_or(|known| **known != warning).then_some(())?;
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
