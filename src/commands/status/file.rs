//! `status --from FILE`: the objects of a file, judged together, as if the file were a cluster.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;

use crate::commands::{Answer, CommandError, Context, Ended, Session};
use crate::graph::{Graph, well_known};
use crate::model::Model;
use crate::object::{
    Doc, GroupKind, ObjectRef, Resource, ResourceVersion, ServedTypes, Uid, well_known_type,
};
use crate::render::canvas::Canvas;
use crate::render::json::line;
use crate::render::text::Text;
use crate::render::unhealthy::{LookedAt, ReadShare};
use crate::source::{ClusterId, Event, Matcher, Scope, Select, SourceKey, Version, Why};
use crate::status::{Assessment, Rules, compute};
use crate::watch::FileTransport;

use super::StatusArgs;
use super::blocks::blocks;
use super::columns::StatusColumns;
use super::documents::{Documents, REDACTED};
use super::options::{HealthFilter, StatusFormat, Titles};
use super::rows::{StatusRow, StatusRows};
use super::state::{RETENTION, StatusState};
use super::view::{are_spread, counts, listing};

/// Shows the objects of the file that a session reads.
pub(super) fn show_objects(
    args: &StatusArgs,
    session: &Session,
    file: &FileTransport,
    context: &mut Context<'_>,
) -> Result<Ended, CommandError> {
    let name: &str = &session.cluster.0;
    let objects = file.objects();
    let now = context.env.now();
    let choice = RowChoice::of(args, session, file, context);
    let namespace = choice.namespace.clone();
    let tree = FileTree::of(&objects, args.rules, now, choice);
    let rows = tree.rows();
    let mut yaml = Documents::new();
    let view = FileView {
        args,
        name,
        objects: &objects,
        rows: &rows,
        namespace: namespace.as_deref(),
        model: tree.model(),
    };
    let lines = view.lines(&mut yaml, Canvas::unbounded(context.look(), now));
    context.print(lines)?;
    if rows.is_empty() {
        context.note(&match &namespace {
            Some(namespace) => format!("No resources found in {namespace} namespace."),
            None => format!("No resources found in {name}."),
        });
    }
    if yaml.has_secret {
        context.hint(REDACTED);
    }
    refuse_unreadable(&rows, file)?;
    let is_well = rows.iter().all(|(_, row)| row.assessment.is_well());
    let answer = if rows.is_empty() {
        Answer::NoObject
    } else {
        Answer::from(!is_well)
    };
    args.wait.conclude(Ended::Answered, answer, [])
}

/// Which objects of a file have rows. The others are evidence.
struct RowChoice {
    /// Whether Events have rows. Of what is not well, they are no objects: they have no state.
    has_events: bool,
    /// The namespace of `-n`.
    namespace: Option<Arc<str>>,
    /// The types that live in no namespace.
    cluster_scoped: HashSet<GroupKind>,
}

impl RowChoice {
    fn of(
        args: &StatusArgs,
        session: &Session,
        file: &FileTransport,
        context: &Context<'_>,
    ) -> RowChoice {
        let is_of_one = context.origin.names_namespace() && !args.objects.all_namespaces;
        let resources = file.resources.iter();
        let cluster_scoped = resources
            .filter(|found| found.is_cluster_scoped())
            .map(|found| found.resource.group_kind());
        RowChoice {
            has_events: !args.unhealthy,
            namespace: is_of_one.then(|| session.namespace.clone()),
            cluster_scoped: cluster_scoped.collect(),
        }
    }

    /// Whether an object has a row. A manifest without a namespace belongs to every namespace.
    fn includes(&self, object: &ObjectRef) -> bool {
        let is_inside = match (&self.namespace, &object.namespace) {
            (None, _) => true,
            (Some(chosen), Some(own)) => chosen == own,
            (Some(_), None) => !self.cluster_scoped.contains(&object.group_kind()),
        };
        is_inside && (self.has_events || !is_event(object))
    }
}

/// The rows of a file, with the places of their objects in it.
struct FileView<'v> {
    args: &'v StatusArgs,
    name: &'v str,
    objects: &'v [(ObjectRef, Doc)],
    rows: &'v [(usize, StatusRow<'v>)],
    /// The namespace of `-n`.
    namespace: Option<&'v str>,
    model: &'v Model,
}

impl FileView<'_> {
    fn lines(&self, yaml: &mut Documents, canvas: Canvas) -> Vec<Text> {
        let health = self.args.options().health;
        let shown = in_file_order(self.rows).into_iter();
        let shown = shown.filter(|(_, row)| health.includes(row));
        match self.args.output {
            StatusFormat::Json => shown
                .map(|(_, row)| self.record(row, canvas).into())
                .collect(),
            StatusFormat::Yaml => shown
                .flat_map(|(place, _)| yaml.document(&self.objects[place].1))
                .collect(),
            StatusFormat::Name => shown
                .map(|(_, row)| row.object.resource_name().into())
                .collect(),
            StatusFormat::ResourceGroup | StatusFormat::ConfigMap => {
                let form = self.args.output.package_form();
                let members = self.args.options().members;
                let packages = self.model.object_packages();
                let document = |row: &StatusRow<'_>| {
                    form?.document(&packages, &row.object.identity(), members)
                };
                let documents: Vec<Doc> = shown.filter_map(|(_, row)| document(row)).collect();
                documents
                    .iter()
                    .flat_map(|doc| yaml.document(doc))
                    .collect()
            }
            StatusFormat::Text | StatusFormat::Wide => self.table(canvas),
        }
    }

    fn table(&self, canvas: Canvas) -> Vec<Text> {
        let options = self.args.options();
        let shown: Vec<&StatusRow<'_>> = self.rows.iter().map(|(_, row)| row).collect();
        let columns = StatusColumns {
            clusters: false,
            namespaces: are_spread(&shown),
            live: false,
            options,
            printed: Vec::new(),
            width: canvas.look.width,
        };
        let rows: Vec<StatusRow<'_>> = shown.into_iter().cloned().collect();
        let rows = StatusRows::from(rows);
        let counts = counts(std::slice::from_ref(&rows), options);
        let rows = blocks(options.health.select(rows), self.model, options.health);
        let mut lines = listing(counts, &rows, &columns, canvas);
        let has_counts =
            options.titles == Titles::Shown && options.health == HealthFilter::Unhealthy;
        if has_counts && lines.len() == 1 {
            let looked_at = LookedAt {
                namespace: self.namespace,
                read: ReadShare::Whole,
            };
            lines.push(looked_at.nothing_unhealthy().into());
        }
        lines
    }

    fn record(&self, row: &StatusRow<'_>, canvas: Canvas) -> String {
        let record = row.record(&self.name.into(), canvas.now);
        line(&if self.args.explain {
            record.explained(row.assessment)
        } else {
            record
        })
    }
}

fn in_file_order<'r, 'a>(rows: &'r [(usize, StatusRow<'a>)]) -> Vec<(usize, &'r StatusRow<'a>)> {
    let mut rows: Vec<_> = rows.iter().map(|(place, row)| (*place, row)).collect();
    rows.sort_by_key(|(place, _)| *place);
    rows
}

/// Fails if an object cannot be read or has no status, and if the file records the failure of a watch. The other objects are
/// printed by then.
fn refuse_unreadable(
    rows: &[(usize, StatusRow<'_>)],
    file: &FileTransport,
) -> Result<(), CommandError> {
    let unreadable = file.unreadable().into_iter();
    let unreadable = unreadable.map(|what| format!("error: {what}"));
    let files = file.files();
    let rows = in_file_order(rows).into_iter();
    let without_status = rows.filter_map(|(place, row)| {
        let error = row.assessment.verdict.error.as_ref()?;
        let name = files.get(place)?;
        Some(format!("error: {name}: {}: {error}", row.object))
    });
    let failed = file.end().err();
    let failed = failed.map(|error| format!("error: {}: {error}", file.name));
    let lines: Vec<String> = unreadable.chain(without_status).chain(failed).collect();
    if lines.is_empty() {
        return Ok(());
    }
    Err(CommandError::failed(lines.join("\n")))
}

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
    /// Judges these objects. Those of the choice have rows.
    fn of(
        objects: &[(ObjectRef, Doc)],
        rules: Rules,
        now: Timestamp,
        choice: RowChoice,
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
        let mut versions = Versions::of(choice);
        let mut alone = Vec::new();
        for (place, (object, document)) in objects {
            let uid = object.identity();
            let is_alone = types.get(&uid).is_none_or(|types| types.len() > 1);
            if !is_alone && is_readable(document) {
                versions.add(document, object.clone());
                places.insert(uid, place);
                continue;
            }
            if !versions.choice.includes(object) {
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
            state: state(&versions, versions.sources(), model, now),
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
    let mut state = StatusState::new(model.of_excerpt(), requested);
    let mut known: HashSet<SourceKey> = HashSet::new();
    loop {
        let wanted = state.model.sources();
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

/// The objects of a file, by their types and namespaces.
struct Versions {
    choice: RowChoice,
    of_type: HashMap<GroupKind, TypeVersions>,
}

/// The objects of a type, in the order of the file.
#[derive(Debug)]
struct TypeVersions {
    resource: Resource,
    all: Vec<Arc<Version>>,
    in_namespace: HashMap<Arc<str>, Vec<Arc<Version>>>,
}

impl Versions {
    fn of(choice: RowChoice) -> Versions {
        Versions {
            choice,
            of_type: HashMap::new(),
        }
    }

    fn add(&mut self, document: &Doc, object: ObjectRef) {
        let number = document.root().str_at(&["metadata", "resourceVersion"]);
        let found = self.of_type.entry(type_of(&object));
        let found = found.or_insert_with(|| TypeVersions {
            resource: resource(&object),
            all: Vec::new(),
            in_namespace: HashMap::new(),
        });
        found.resource.namespaced |= object.namespace.is_some();
        // A manifest without a namespace is in the requested one.
        let namespace = object.namespace.as_ref().or(self.choice.namespace.as_ref());
        let namespace = namespace.cloned();
        let version = Arc::new(Version {
            object: object.into(),
            version: ResourceVersion::new(&*number.unwrap_or_default()),
            body: document.clone().into(),
        });
        if let Some(namespace) = namespace {
            let inside = found.in_namespace.entry(namespace).or_default();
            inside.push(version.clone());
        }
        found.all.push(version);
    }

    /// The sources of the types with rows, sorted.
    fn sources(&self) -> Vec<SourceKey> {
        let chosen = self.of_type.values().filter(|found| {
            let mut all = found.all.iter();
            all.any(|version| self.choice.includes(&version.object))
        });
        let mut resources: Vec<&Resource> = chosen.map(|found| &found.resource).collect();
        resources.sort();
        let file = ClusterId("file".into());
        let source = |resource: &Resource| {
            let namespace = self.choice.namespace.clone();
            SourceKey::of(&file, resource.clone(), namespace, Select::All)
        };
        resources.into_iter().map(source).collect()
    }

    /// The objects of the type and the namespace of a source, in the order of the file.
    fn within(&self, source: &SourceKey) -> &[Arc<Version>] {
        let found = self.of_type.get(&source.resource.group_kind());
        let found = found.and_then(|found| match &source.scope {
            Scope::Cluster => Some(&found.all),
            Scope::Namespace(namespace) => found.in_namespace.get(namespace),
        });
        found.map_or(&[], Vec::as_slice)
    }
}

/// Whether an object is an Event, of either group.
pub(super) fn is_event(object: &ObjectRef) -> bool {
    &*object.kind == "Event" && matches!(object.group(), "" | "events.k8s.io")
}

/// The type of an object. Events of both groups are the same ones.
pub(super) fn type_of(object: &ObjectRef) -> GroupKind {
    if is_event(object) {
        return well_known("", "Event").group_kind();
    }
    object.group_kind()
}

/// The resource of an object. Its plural appears nowhere.
fn resource(object: &ObjectRef) -> Resource {
    if is_event(object) {
        return well_known("", "Event");
    }
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
