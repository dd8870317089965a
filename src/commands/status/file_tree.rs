//! `FileTree`: the objects of a file, judged together, as if the file were a cluster.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::file_versions::{Versions, type_of};
use super::rows::StatusRow;
use super::state::{RETENTION, StatusState};
use crate::graph::Graph;
use crate::model::Model;
use crate::object::{Doc, GroupKind, ObjectRef, ResourceVersion, ServedTypes, Uid};
use crate::source::{Event, Matcher, SourceKey, Why};
use crate::status::{Assessment, Rules, compute};

/// The objects of a file.
pub(super) struct FileTree {
    /// The objects that nothing else has the uid of.
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
    /// Judges these objects. Only those that `is_row` chooses by their types have rows; the others are evidence.
    pub(super) fn of(
        objects: &[(ObjectRef, Doc)],
        rules: Rules,
        now: Timestamp,
        is_row: fn(&ObjectRef) -> bool,
    ) -> FileTree {
        // A file may have the same object in several versions of its type.
        let mut types: HashMap<Uid, HashSet<GroupKind>> = HashMap::new();
        let mut is_new = |object: &ObjectRef| {
            let of_uid = types.entry(object.identity()).or_default();
            of_uid.insert(type_of(object))
        };
        let objects: Vec<_> = objects
            .iter()
            .enumerate()
            .filter(|(_, (object, _))| is_new(object))
            .collect();
        let served = ServedTypes::in_documents(objects.iter().map(|(_, (_, doc))| doc.root()));
        let mut places = BTreeMap::new();
        let mut versions = Versions::default();
        let mut alone = Vec::new();
        for (place, (object, document)) in objects {
            let uid = object.identity();
            let is_alone = types.get(&uid).is_none_or(|types| types.len() > 1);
            if !is_alone && is_readable(document) {
                versions.add(document, object.clone());
                places.insert(uid, place);
                continue;
            }
            if !is_row(object) {
                continue;
            }
            let assessment = Assessment::of(document.root(), now, rules);
            let assessment = if rules == Rules::Spy && served.has_status(object) {
                assessment.expecting_status(document.root())
            } else {
                assessment
            };
            let mut graph = Graph::default();
            graph.apply(document.root());
            alone.push(Alone {
                place,
                object: object.clone().into(),
                assessment: Arc::new(assessment),
                graph,
            });
        }
        let model = Model::new(rules, RETENTION).with_types(served);
        FileTree {
            state: state(&versions, versions.sources(is_row), model, now),
            places,
            alone,
        }
    }

    /// The judgement of the objects that nothing else has the uid of.
    pub(super) fn model(&self) -> &Model {
        &self.state.model
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

/// Whether an object has a name, and a state that can be computed.
fn is_readable(document: &Doc) -> bool {
    let name = document.root().str_at(&["metadata", "name"]);
    // What is wrong with an object does not depend on the time.
    let verdict = compute(document.root(), Timestamp::UNIX_EPOCH, Rules::Kstatus);
    name.is_some_and(|name| !name.is_empty()) && verdict.error.is_none()
}

/// The state of these objects, with every source that it wants read from them.
fn state(
    versions: &Versions,
    requested: Vec<SourceKey>,
    model: Model,
    now: Timestamp,
) -> StatusState {
    let mut state = StatusState::new(model.of_excerpt(), requested, now);
    let mut known: HashSet<SourceKey> = HashSet::new();
    loop {
        let wanted = state.model.coverage().sources();
        let unread = wanted.filter(|source| !known.contains(source)).cloned();
        let unread: Vec<SourceKey> = unread.collect();
        if unread.is_empty() {
            return state;
        }
        for source in unread {
            read_source(&mut state, &source, versions, now);
            known.insert(source);
        }
        state.refresh(now);
    }
}

/// Lists the objects of a source.
fn read_source(state: &mut StatusState, source: &SourceKey, versions: &Versions, now: Timestamp) {
    let key = Arc::new(source.clone());
    let matcher = Matcher::new(&source.select);
    let mut count = 0;
    for version in versions.within(source) {
        let is_selected = |doc: &Doc| matcher.matches(doc.root());
        if !version.body.read().is_some_and(is_selected) {
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
