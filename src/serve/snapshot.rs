//! `Snapshot`: everything that readers see of a cluster at one moment. It never changes, so all readers share it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use super::package_metrics::ServedPackage;
use super::rights::{GrantedRights, Judgement, ReaderRights, SourcePlace};
use super::served_cluster::{ServedCluster, merged};
use crate::object::{ResourceType, well_known, well_known_type};
use crate::render::json::status::StatusRecord;
use crate::render::json::{VERSION, line};
use crate::status::Status;

/// What is known of the followed objects at one moment.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// The name of the cluster: its context. Of several clusters, all names as `--context` takes them: `edge-1,edge-2`.
    pub cluster: Arc<str>,
    /// The clusters, in the order of the request.
    pub clusters: Vec<ServedCluster>,
    /// The flags of `kubectl spy` for this place: `-n shop`, `-A`; empty for cluster-scoped objects alone, and if the places of
    /// several clusters differ.
    pub place: Arc<str>,
    /// All objects in the order of `status`: each requested one, followed by its dependents.
    pub rows: Vec<Arc<ServedRow>>,
    /// The rows of `status --unhealthy`.
    pub unhealthy: Vec<UnhealthyRow>,
    /// The packages in the order of their names.
    pub packages: Vec<Arc<ServedPackage>>,
    /// What the view lacks, one line each: kinds that cannot be read, dependents that are not followed.
    pub shortfalls: Vec<String>,
    /// How current it is.
    pub link: Link,
    /// The followed sources.
    pub sources: Vec<SourceHealth>,
    /// Where the server has ever read objects. What it concludes may rest on any of them.
    pub places: Arc<BTreeSet<SourcePlace>>,
    /// The same for programs.
    pub watches: Vec<WatchRecord>,
    /// Whether requested sources are left out, because the reader may not list their objects.
    pub hides_requested: bool,
}

/// The words for readers who may not list everything that the server reads.
const ALONE: &str =
    "each object is judged by itself: you may not list everything that the server reads";

impl Snapshot {
    /// The namespace of all objects; `None` if there may be several.
    pub fn namespace(&self) -> Option<&str> {
        self.place.strip_prefix("-n ")
    }

    /// Whether the server follows several clusters, so that rows name theirs.
    pub fn is_of_several(&self) -> bool {
        self.clusters.len() > 1
    }

    /// The name of the cluster, or the number of several.
    pub fn cluster_words(&self) -> String {
        match self.clusters.len() {
            0 | 1 => self.cluster.to_string(),
            several => format!("{several} clusters"),
        }
    }

    /// The cluster with this name.
    pub fn cluster_named(&self, name: &str) -> Option<&ServedCluster> {
        self.clusters.iter().find(|cluster| *cluster.name == *name)
    }

    /// The error about a cluster that the server does not follow.
    pub fn unknown_cluster(&self, name: &str) -> String {
        let known = self.clusters.iter();
        let known: Vec<&str> = known.map(|cluster| &*cluster.name).collect();
        format!(
            "error: the server does not follow the cluster {name:?}\nhint: it follows {}\n",
            known.join(", ")
        )
    }

    /// One snapshot of several clusters, each with its own. How current it is, and what it reads, the caller adds.
    pub fn of_clusters(parts: &[&Snapshot]) -> Snapshot {
        let names: Vec<&str> = parts.iter().map(|part| &*part.cluster).collect();
        let place = parts.first().map(|part| part.place.clone());
        let place = place.filter(|place| parts.iter().all(|part| part.place == *place));
        let about = |part: &Snapshot, line: &String| format!("{}: {line}", part.cluster);
        let lines = parts.iter().flat_map(|part| {
            let lines = part.shortfalls.iter();
            lines.map(|line| about(part, line))
        });
        Snapshot {
            cluster: names.join(",").into(),
            place: place.unwrap_or_default(),
            rows: merged(
                parts.iter().map(|part| &part.rows[..]),
                |row| row.record.depth,
                |row| row.status,
            ),
            unhealthy: merged(
                parts.iter().map(|part| &part.unhealthy[..]),
                |it| it.depth,
                |it| it.row.status,
            ),
            packages: parts
                .iter()
                .flat_map(|part| part.packages.clone())
                .collect(),
            shortfalls: lines.collect(),
            ..Snapshot::default()
        }
    }

    /// What a reader with these rights sees.
    pub fn for_reader(self: &Arc<Self>, rights: &ReaderRights) -> Arc<Snapshot> {
        if *rights == ReaderRights::Everything {
            return self.clone();
        }
        let judgement = rights.judgement(self.places.iter());
        let seen = self.rows.iter();
        let mut rows: Vec<Arc<ServedRow>> = seen
            .filter_map(|row| row.for_reader(rights, judgement))
            .collect();
        let unhealthy = match judgement {
            Judgement::Whole => self.unhealthy_among(&rows),
            Judgement::Alone => {
                // The order of the server depends on objects that the reader may not see.
                rows.sort_by_cached_key(|row| {
                    let object = &row.record.object_ref;
                    let name = (
                        object.namespace.clone(),
                        object.kind.clone(),
                        object.name.clone(),
                    );
                    (Reverse(row.status), name)
                });
                let unhealthy = rows.iter().filter(|row| row.is_unhealthy);
                unhealthy.map(UnhealthyRow::alone).collect()
            }
        };
        let watches = self.watches_for(rights, judgement);
        let requested = |all: &[WatchRecord]| all.iter().filter(|it| it.requested).count();
        Arc::new(Snapshot {
            hides_requested: requested(&watches) < requested(&self.watches),
            cluster: self.cluster.clone(),
            clusters: self.clusters.clone(),
            place: self.place.clone(),
            shortfalls: match judgement {
                Judgement::Whole => self.shortfalls.clone(),
                Judgement::Alone => vec![ALONE.to_owned()],
            },
            link: match judgement {
                Judgement::Whole => self.link.clone(),
                Judgement::Alone => self.link.without_names(),
            },
            sources: self.sources_for(rights),
            watches,
            // The state of a package rests on several objects.
            packages: match judgement {
                Judgement::Whole => self.packages.clone(),
                Judgement::Alone => Vec::new(),
            },
            places: self.places.clone(),
            rows,
            unhealthy,
        })
    }

    fn unhealthy_among(&self, rows: &[Arc<ServedRow>]) -> Vec<UnhealthyRow> {
        let seen: BTreeMap<String, &Arc<ServedRow>> =
            rows.iter().map(|row| (row.id(), row)).collect();
        let unhealthy = self.unhealthy.iter().filter_map(|it| {
            let row = (*seen.get(&it.row.id())?).clone();
            Some(UnhealthyRow { row, ..it.clone() })
        });
        unhealthy.collect()
    }

    fn sources_for(&self, rights: &ReaderRights) -> Vec<SourceHealth> {
        let seen = self.places_for(rights);
        let is_seen = |source: &&SourceHealth| {
            seen.contains(&(source.resource.clone(), source.namespace.as_str()))
        };
        self.sources.iter().filter(is_seen).cloned().collect()
    }

    /// The followed sources that a reader may list. A cause can name what he may not.
    fn watches_for(&self, rights: &ReaderRights, judgement: Judgement) -> Vec<WatchRecord> {
        let seen = self.places_for(rights);
        let is_seen = |watch: &&WatchRecord| {
            let namespace = watch.namespace.as_deref().unwrap_or_default();
            seen.contains(&(watch.resource.clone(), namespace))
        };
        let seen = self.watches.iter().filter(is_seen).cloned();
        let shown = seen.map(|watch| match judgement {
            Judgement::Whole => watch,
            Judgement::Alone => WatchRecord {
                cause: None,
                ..watch
            },
        });
        shown.collect()
    }

    /// The resources and namespaces that a reader may list.
    fn places_for(&self, rights: &ReaderRights) -> HashSet<(String, &str)> {
        let seen = self.places.iter().filter(|place| rights.may_list(place));
        let seen = seen.map(|place| {
            let namespace = place.namespace.as_deref().unwrap_or_default();
            (place.resource.group_resource(), namespace)
        });
        seen.collect()
    }
}

/// How current a snapshot is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// The state of the connection in a few words: `● live`.
    pub words: String,
    /// Whether the connection is lost, so that the view may be out of date.
    pub is_lost: bool,
    /// Whether every requested source was read, or is known to be unreadable.
    pub is_read: bool,
    /// The sources that cannot be read, one line each.
    pub refused: Vec<String>,
}

impl Link {
    /// Whether it is current, without the names of sources.
    fn without_names(&self) -> Link {
        let words = if self.is_lost {
            "! not live"
        } else {
            "● live"
        };
        Link {
            words: words.to_owned(),
            refused: Vec::new(),
            ..self.clone()
        }
    }
}

/// One followed source, for the metrics.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceHealth {
    /// Its cluster.
    pub cluster: Arc<str>,
    /// `deployments.apps`.
    pub resource: String,
    /// Its namespace; empty for all.
    pub namespace: String,
    /// Whether its objects are up to date.
    pub is_up: bool,
}

/// One followed source, for programs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct WatchRecord {
    /// [`VERSION`].
    pub v: u32,
    /// The cluster.
    pub cluster: String,
    /// `deployments.apps`.
    pub resource: String,
    /// Its namespace; absent for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The name, if one object is followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The label selector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<String>,
    /// The field selector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fields: Option<String>,
    /// Whether its objects were requested.
    pub requested: bool,
    /// The name of its state.
    pub state: &'static str,
    /// Why it is not live.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

impl WatchRecord {
    /// The version of all records.
    pub const V: u32 = VERSION;

    /// Whether its objects are known now.
    pub fn is_read(&self) -> bool {
        ["live", "polling", "ended"].contains(&self.state)
    }

    /// Whether its objects are known now, or its type does not exist.
    pub fn is_answered(&self) -> bool {
        self.is_read() || self.state == "unserved"
    }
}

/// An object with its state, in the forms that readers take. All text is as the cluster sent it: the page escapes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedRow {
    /// The record of `status -o json`, with the sources of its rules.
    pub record: StatusRecord,
    /// The short name of its cluster, if the server follows several.
    pub label: Option<Arc<str>>,
    /// Its state.
    pub status: Status,
    /// The lines below its row: causes, or what it waits for.
    pub lines: Vec<String>,
    /// What changed before it failed, one line each.
    pub changes: Vec<String>,
    /// What its failed containers printed last.
    pub last_lines: Vec<String>,
    /// When it was created.
    pub created: Option<Timestamp>,
    /// Whether it was requested, and not only found below another object.
    pub is_requested: bool,
    /// Whether a view of what is not well has a row for it.
    pub is_unhealthy: bool,
    /// The same from the object alone; `None` if that is the same.
    pub own: Option<Box<OwnState>>,
    /// When its state from the object alone last changed, in RFC 3339.
    pub own_time: Arc<str>,
}

/// The state of an object, judged without any other object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnState {
    /// The record of `status -o json`.
    pub record: StatusRecord,
    /// The state.
    pub status: Status,
    /// The lines below its row.
    pub lines: Vec<String>,
    /// Whether a view of what is not well has a row for it.
    pub is_unhealthy: bool,
}

impl ServedRow {
    /// What a reader sees of the object; `None` if he may not list it.
    pub fn for_reader(
        self: &Arc<Self>,
        rights: &ReaderRights,
        judgement: Judgement,
    ) -> Option<Arc<ServedRow>> {
        let granted = match rights {
            ReaderRights::Everything => return Some(self.clone()),
            ReaderRights::Only(granted) => granted,
        };
        granted
            .may_see(&self.record.object_ref)
            .then(|| match judgement {
                Judgement::Alone => Arc::new(self.alone()),
                Judgement::Whole => self.without_hidden(granted),
            })
    }

    /// The row without changes of objects that the reader may not list, and without lines of logs that he may not read.
    fn without_hidden(self: &Arc<Self>, granted: &GrantedRights) -> Arc<ServedRow> {
        let namespace = self.record.object_ref.namespace.as_deref();
        let shows_lines = self.last_lines.is_empty() || granted.may_read_logs(namespace);
        let changes = self.record.last_changes.iter();
        let is_shown: Vec<bool> = changes
            .map(|change| change.object.as_ref().is_none_or(|it| granted.may_see(it)))
            .collect();
        if shows_lines && is_shown.iter().all(|is_shown| *is_shown) {
            return self.clone();
        }
        let mut seen = ServedRow::clone(self);
        if !shows_lines {
            seen.last_lines.clear();
            seen.record.last_lines.clear();
        }
        // Each text is that of the record at its place.
        let mut kept = is_shown.iter().copied();
        seen.changes.retain(|_| kept.next().unwrap_or(false));
        let mut kept = is_shown.iter().copied();
        seen.record
            .last_changes
            .retain(|_| kept.next().unwrap_or(false));
        Arc::new(seen)
    }

    /// The row for readers who may not know what is around the object: its place among others is left out, too.
    #[must_use]
    pub fn alone(&self) -> ServedRow {
        let own = self.own.as_deref();
        let record = own.map_or(&self.record, |own| &own.record);
        ServedRow {
            record: StatusRecord {
                time: self.own_time.to_string(),
                owner: None,
                depth: 0,
                worst: None,
                last_changes: Vec::new(),
                last_lines: Vec::new(),
                ..record.clone()
            },
            label: self.label.clone(),
            status: own.map_or(self.status, |own| own.status),
            lines: own.map_or(&self.lines, |own| &own.lines).clone(),
            changes: Vec::new(),
            last_lines: Vec::new(),
            is_unhealthy: own.map_or(self.is_unhealthy, |own| own.is_unhealthy),
            created: self.created,
            is_requested: self.is_requested,
            own: None,
            own_time: self.own_time.clone(),
        }
    }

    /// Whether readers learn nothing from this row after that one.
    pub fn is_like(&self, was: &ServedRow) -> bool {
        let timeless = |row: &ServedRow| StatusRecord {
            time: String::new(),
            ..row.record.clone()
        };
        self.is_unhealthy == was.is_unhealthy && timeless(self) == timeless(was)
    }

    /// Its uid; `GROUP/KIND/NAMESPACE/NAME` without one. If the server follows several clusters, the name of the cluster and a
    /// space stand before it: a cluster that is restored from the backup of another has its uids.
    pub fn id(&self) -> String {
        let object = &self.record.object_ref;
        let id = object.uid.clone().unwrap_or_else(|| {
            let namespace = object.namespace.as_deref().unwrap_or_default();
            format!(
                "{}/{}/{namespace}/{}",
                self.group(),
                object.kind,
                object.name
            )
        });
        match self.label {
            Some(_) => format!("{} {id}", object.cluster),
            None => id,
        }
    }

    /// Its API group; empty for the core group.
    pub fn group(&self) -> &str {
        let parts = self.record.object_ref.api_version.split_once('/');
        parts.map_or("", |(group, _)| group)
    }

    /// `Deployment.apps`, `Pod`: its kind and group, as the page writes them in addresses.
    pub fn kind_and_group(&self) -> String {
        let kind = &self.record.object_ref.kind;
        match self.group() {
            "" => kind.clone(),
            group => format!("{kind}.{group}"),
        }
    }

    /// `deployment/web`: what kubectl takes as an argument.
    pub fn name(&self) -> String {
        let object = &self.record.object_ref;
        format!("{}/{}", object.kind.to_lowercase(), object.name)
    }

    /// The record as one line of JSON: that of `status -o json`, or with `--explain`.
    pub fn json(&self, explains: bool) -> String {
        if explains {
            return line(&self.record);
        }
        let mut record = self.record.clone();
        for cause in &mut record.causes {
            cause.source = None;
        }
        line(&record)
    }

    /// Whether a word of kubectl names its type: `deploy`, `deployments.apps`, `Deployment`.
    pub fn is_of_type(&self, word: &str) -> bool {
        let group = self.group();
        let (name, of_group) = match word.split_once('.') {
            Some((name, of_group)) => (name, Some(of_group)),
            None => (word, None),
        };
        // As in kubectl, a version may stand before the group: `deployments.v1.apps`.
        let is_of_group = of_group.is_none_or(|of| {
            of == group || of.split_once('.').is_some_and(|(_, rest)| rest == group)
        });
        let kind = &self.record.object_ref.kind;
        let is_kind = name.eq_ignore_ascii_case(kind);
        let known = well_known_type(group, kind);
        let is_known_name = known.is_some_and(|known| names(known, name));
        // As in kubectl, a word without a group is a kind of Kubernetes first: `svc`, also beside the Services of Knative.
        let is_ambiguous = known.is_none() && of_group.is_none();
        if is_ambiguous && well_known().iter().any(|other| names(other, name)) {
            return false;
        }
        // Most plurals of custom kinds follow the rules of English.
        let plural = [kind.to_lowercase() + "s", kind.to_lowercase() + "es"];
        let is_plural = known.is_none() && plural.iter().any(|plural| plural == name);
        is_of_group && (is_kind || is_known_name || is_plural)
    }
}

/// Whether a word without a group names a type: `deploy`, `deployments`, `Deployment`.
fn names(known: &ResourceType, word: &str) -> bool {
    word.eq_ignore_ascii_case(&known.resource.kind)
        || word == known.singular
        || word == &*known.resource.plural
        || known.short_names.iter().any(|short| short == word)
}

/// A row among those that are not well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnhealthyRow {
    /// The object.
    pub row: Arc<ServedRow>,
    /// The number of shown owners above it.
    pub depth: usize,
    /// What is left out beside it, because it only repeats this problem: `2 more like this`.
    pub beside: Vec<String>,
}

impl UnhealthyRow {
    /// A row without owners above it.
    fn alone(row: &Arc<ServedRow>) -> UnhealthyRow {
        UnhealthyRow {
            row: row.clone(),
            depth: 0,
            beside: Vec::new(),
        }
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::object::ObjectRef;
    use crate::status::Assessment;

    /// A Pod of the namespace `shop` that fails for this reason.
    pub(crate) fn failed_pod(name: &str, reason: &str) -> ServedRow {
        let object = ObjectRef {
            api_version: "v1".into(),
            kind: "Pod".into(),
            namespace: Some("shop".into()),
            name: name.into(),
            uid: Some(crate::object::Uid::new(format!("uid-{name}"))),
        };
        let assessment = Assessment::unreadable(&reason);
        let time = Timestamp::UNIX_EPOCH;
        ServedRow {
            record: StatusRecord::new("test", &object, &assessment, time),
            label: None,
            status: Status::Failed,
            lines: vec![reason.to_owned()],
            changes: Vec::new(),
            last_lines: Vec::new(),
            created: Some(time),
            is_requested: true,
            is_unhealthy: true,
            own: None,
            own_time: "1970-01-01T00:00:00Z".into(),
        }
    }

    /// The type of Pods.
    pub(crate) fn pods() -> crate::object::Resource {
        let known = well_known_type("", "Pod").expect("Pods are well known");
        known.resource.clone()
    }

    /// A snapshot with these rows, all of them not well.
    pub(crate) fn snapshot(rows: Vec<ServedRow>) -> Snapshot {
        let rows: Vec<Arc<ServedRow>> = rows.into_iter().map(Arc::new).collect();
        let unhealthy = rows.iter().map(UnhealthyRow::alone);
        Snapshot {
            cluster: "test".into(),
            clusters: vec![ServedCluster::alone("test".into())],
            place: "-n shop".into(),
            unhealthy: unhealthy.collect(),
            rows,
            ..Snapshot::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{failed_pod, snapshot};
    use super::*;

    #[test]
    fn the_snapshots_of_several_clusters_are_one() {
        let part = |cluster: &str, place: &str, status| {
            let mut row = failed_pod("web", "it fails");
            row.status = status;
            let mut part = snapshot(vec![row]);
            part.cluster = cluster.into();
            part.place = place.into();
            part.shortfalls = vec!["events are not read".to_owned()];
            part
        };
        let one = part("one", "-n shop", Status::Current);
        let other = part("other", "-n shop", Status::Failed);
        let all = Snapshot::of_clusters(&[&one, &other]);
        let states: Vec<Status> = all.rows.iter().map(|row| row.status).collect();
        assert_eq!(states, [Status::Failed, Status::Current]);
        assert_eq!(all.unhealthy.len(), 2);
        assert_eq!((&*all.cluster, &*all.place), ("one,other", "-n shop"));
        let lines = ["one: events are not read", "other: events are not read"];
        assert_eq!(all.shortfalls, lines);
        let elsewhere = part("other", "-n prod", Status::Failed);
        assert_eq!(&*Snapshot::of_clusters(&[&one, &elsewhere]).place, "");
    }

    #[test]
    fn equal_uids_of_two_clusters_are_two_ids() {
        let mut row = failed_pod("web", "it fails");
        assert_eq!(row.id(), "uid-web");
        row.label = Some("t".into());
        assert_eq!(row.id(), "test uid-web");
    }

    #[test]
    fn kubectls_words_name_a_type() {
        let row = failed_pod("web", "it fails");
        for (word, is_it) in [
            ("pod", true),
            ("Pod", true),
            ("po", true),
            ("pods", true),
            ("pods.apps", false),
            ("deploy", false),
            ("", false),
        ] {
            assert_eq!(row.is_of_type(word), is_it, "{word}");
        }
        let mut custom = failed_pod("web", "it fails");
        "example.com/v1".clone_into(&mut custom.record.object_ref.api_version);
        for (word, is_it) in [
            ("pod", false),
            ("pods", false),
            ("po", false),
            ("Pod", false),
            ("pods.example.com", true),
            ("pods.v1.example.com", true),
            ("pods.example.org", false),
        ] {
            assert_eq!(custom.is_of_type(word), is_it, "{word}");
        }
    }
}
