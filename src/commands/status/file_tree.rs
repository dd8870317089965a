//! `FileTree`: the objects of a file, judged together, as if the file were a cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::rows::StatusRow;
use super::state::{RETENTION, StatusState};
use crate::graph::Graph;
use crate::model::Model;
use crate::object::{Doc, ObjectRef, Resource, ResourceVersion, ServedTypes, Uid, well_known_type};
use crate::source::{ClusterId, Event, Matcher, Scope, Select, SourceKey, Version, Why};
use crate::status::{Assessment, Rules};

/// The objects of a file.
pub(super) struct FileTree {
    /// The objects with a uid of their own.
    state: StatusState,
    /// Their positions in the file.
    places: BTreeMap<Uid, usize>,
    /// The other documents, each judged alone.
    alone: Vec<Alone>,
}

struct Alone {
    place: usize,
    object: Arc<ObjectRef>,
    assessment: Arc<Assessment>,
    graph: Graph,
}

impl FileTree {
    /// Judges the objects of these documents.
    pub(super) fn of(documents: &[Doc], rules: Rules, now: Timestamp) -> FileTree {
        let refs: Vec<ObjectRef> = documents
            .iter()
            .map(|document| ObjectRef::of(document.root()))
            .collect();
        let types = ServedTypes::in_documents(documents.iter().map(Doc::root));
        let mut counts: BTreeMap<&Uid, usize> = BTreeMap::new();
        for uid in refs.iter().filter_map(|object| object.uid.as_ref()) {
            *counts.entry(uid).or_default() += 1;
        }
        let mut places = BTreeMap::new();
        let mut versions = Vec::new();
        let mut alone = Vec::new();
        for (place, (document, object)) in documents.iter().zip(&refs).enumerate() {
            let assessment = Assessment::of(document.root(), now, rules);
            let assessment = if rules == Rules::Spy && types.has_status(object) {
                assessment.expecting_status(document.root())
            } else {
                assessment
            };
            let own = object.uid.as_ref().filter(|uid| counts[uid] == 1);
            let is_whole = !object.kind.is_empty() && !object.name.is_empty();
            let is_readable = is_whole && assessment.verdict.error.is_none();
            if let Some(uid) = own.filter(|_| is_readable) {
                places.insert(uid.clone(), place);
                versions.push(version(document, object));
                continue;
            }
            let mut graph = Graph::default();
            graph.apply(document.root());
            alone.push(Alone {
                place,
                object: object.clone().into(),
                assessment: assessment.into(),
                graph,
            });
        }
        FileTree {
            state: state(
                &versions,
                Model::new(rules, RETENTION).with_types(types),
                now,
            ),
            places,
            alone,
        }
    }

    /// The rows with the positions of their documents: the roots in the order of the file, each above its dependents.
    pub(super) fn rows(&self) -> Vec<(usize, StatusRow<'_>)> {
        let mut trees: Vec<Vec<(usize, StatusRow<'_>)>> = Vec::new();
        for row in self.state.rows() {
            let Some(place) = self.places.get(&row.object.identity()) else {
                continue;
            };
            match trees.last_mut().filter(|_| row.depth > 0) {
                Some(tree) => tree.push((*place, row)),
                None => trees.push(vec![(*place, row)]),
            }
        }
        trees.extend(self.alone.iter().map(|alone| {
            let node = alone.graph.nodes().next();
            let row = StatusRow::alone(alone.object.clone(), &alone.assessment, node);
            vec![(alone.place, row)]
        }));
        trees.sort_by_key(|tree| tree.first().map(|(place, _)| *place));
        trees.into_iter().flatten().collect()
    }
}

fn version(document: &Doc, object: &ObjectRef) -> Arc<Version> {
    let number = document.root().str_at(&["metadata", "resourceVersion"]);
    Arc::new(Version {
        object: object.clone().into(),
        version: ResourceVersion::new(&*number.unwrap_or_default()),
        body: document.clone().into(),
    })
}

/// The state of these objects, with every source that it wants read from them.
fn state(versions: &[Arc<Version>], model: Model, now: Timestamp) -> StatusState {
    let types: BTreeSet<Resource> = versions
        .iter()
        .map(|version| resource(&version.object))
        .collect();
    let file = ClusterId("file".into());
    let types = types.into_iter();
    let sources = types.map(|resource| SourceKey::of(&file, resource, None, Select::All));
    let mut state = StatusState::new(model.of_excerpt(), sources.collect(), now);
    let mut known: Vec<SourceKey> = Vec::new();
    loop {
        let wanted = state.model.coverage().sources();
        let unread = wanted.filter(|source| !known.contains(source)).cloned();
        let unread: Vec<SourceKey> = unread.collect();
        if unread.is_empty() {
            return state;
        }
        for source in unread {
            read_source(&mut state, &source, versions, now);
            known.push(source);
        }
        state.refresh(now);
    }
}

/// Lists the objects of a source.
fn read_source(
    state: &mut StatusState,
    source: &SourceKey,
    versions: &[Arc<Version>],
    now: Timestamp,
) {
    let key = Arc::new(source.clone());
    let matcher = Matcher::new(&source.select);
    let mut count = 0;
    for version in versions {
        let object = &version.object;
        let is_inside = match &source.scope {
            Scope::Cluster => true,
            Scope::Namespace(namespace) => object.namespace.as_ref() == Some(namespace),
        };
        let is_of_type = object.group_kind() == source.resource.group_kind();
        let is_selected = |doc: &Doc| matcher.matches(doc.root());
        if !is_inside || !is_of_type || !version.body.read().is_some_and(is_selected) {
            continue;
        }
        let event = Event::Object {
            why: Why::Listed,
            past: false,
            seen: now,
            now: version.clone(),
            prev: None,
        };
        state.apply(&key, &event, now);
        count += 1;
    }
    let synced = Event::Synced {
        epoch: 1,
        count,
        version: ResourceVersion::new(""),
    };
    state.apply(&key, &synced, now);
}

/// The resource of an object. Its plural appears nowhere.
fn resource(object: &ObjectRef) -> Resource {
    if let Some(known) = well_known_type(object.group(), &object.kind) {
        return known.resource.clone();
    }
    let version = object.api_version.rsplit('/').next().unwrap_or_default();
    Resource {
        group: object.group().into(),
        version: version.into(),
        plural: object.kind.to_lowercase().into(),
        kind: object.kind.clone(),
        namespaced: object.namespace.is_some(),
    }
}
