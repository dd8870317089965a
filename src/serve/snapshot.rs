//! `Snapshot`: everything that readers see of a cluster at one moment. It never changes, so all readers share it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use serde::Serialize;

use super::package_metrics::ServedPackage;
use super::rights::{Judgement, ReaderRights, SourcePlace};
use super::served_cluster::{ServedCluster, merged};
use super::served_row::ServedRow;
use crate::render::json::VERSION;

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

    /// Whether it can have objects of this cluster and namespace: a source of requested objects covers them, or there are some. Of
    /// others, it says nothing.
    pub fn follows(&self, cluster: Option<&str>, namespace: Option<&str>) -> bool {
        let is_of = |of_cluster: &str, within: Option<&str>| {
            cluster.is_none_or(|cluster| cluster == of_cluster)
                && (namespace.is_none() || within == namespace)
        };
        let mut requested = self.watches.iter().filter(|watch| watch.requested);
        let mut objects = self.rows.iter().map(|row| &row.object_ref);
        requested.any(|watch| {
            let within = watch.namespace.as_deref().or(namespace);
            is_of(&watch.cluster, within)
        }) || objects.any(|object| is_of(&object.cluster, object.namespace.as_deref()))
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
                |row| row.depth,
                |row| row.status(),
            ),
            unhealthy: merged(
                parts.iter().map(|part| &part.unhealthy[..]),
                |it| it.depth,
                |it| it.row.status(),
            ),
            packages: parts
                .iter()
                .flat_map(|part| part.packages.clone())
                .collect(),
            shortfalls: lines.collect(),
            ..Snapshot::default()
        }
    }

    /// Whether both have the same objects and packages, in the same order and states.
    pub fn has_same_objects(&self, other: &Snapshot) -> bool {
        let rows = self.rows.iter().zip(&other.rows);
        self.rows.len() == other.rows.len()
            && rows.into_iter().all(|(row, other)| Arc::ptr_eq(row, other))
            && self.unhealthy == other.unhealthy
            && self.packages == other.packages
            && self.shortfalls == other.shortfalls
            && self.place == other.place
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
                    let object = &row.object_ref;
                    let name = (
                        object.namespace.clone(),
                        object.kind.clone(),
                        object.name.clone(),
                    );
                    (Reverse(row.status()), name)
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
    use jiff::Timestamp;

    use super::*;
    use crate::object::{ObjectRef, well_known_type};
    use crate::render::json::{LastChangeRecord, LastLinesRecord, RefRecord, SignRecord};
    use crate::serve::served_row::ServedChange;
    use crate::status::{Assessment, Cause, CauseRule, Status};

    /// A change before a failure, in these words.
    pub(crate) fn change(text: &str) -> ServedChange {
        ServedChange {
            record: LastChangeRecord {
                object: None,
                time: None,
                about: false,
                until: None,
                by: None,
                created: false,
                deleted: true,
                changes: Vec::new(),
                written: Vec::new(),
                more: 0,
                fight: None,
                sign: SignRecord::Tied,
            },
            text: text.to_owned(),
        }
    }

    /// The last line of a container.
    pub(crate) fn last_lines(line: &str) -> LastLinesRecord {
        LastLinesRecord {
            container: "app".to_owned(),
            instance: "1".to_owned(),
            exit_code: None,
            lines: vec![line.to_owned()],
        }
    }

    /// A Pod of the namespace `shop` that fails for this reason.
    pub(crate) fn failed_pod(name: &str, reason: &str) -> ServedRow {
        let object = ObjectRef {
            api_version: "v1".into(),
            kind: "Pod".into(),
            namespace: Some("shop".into()),
            name: name.into(),
            uid: Some(crate::object::Uid::new(format!("uid-{name}"))),
        };
        let mut assessment = Assessment::unreadable(&reason);
        assessment.verdict.status = Status::Failed;
        assessment.causes = vec![Cause::new(CauseRule::Failed, reason)];
        let time = Timestamp::UNIX_EPOCH;
        ServedRow {
            object_ref: RefRecord::new("test", &object),
            label: None,
            assessment: Arc::new(assessment),
            time,
            owner: None,
            depth: 0,
            worst: None,
            last_changes: Vec::new(),
            last_lines: Vec::new(),
            created: Some(time),
            is_requested: true,
            is_unhealthy: true,
            own: None,
            own_time: time,
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
    use crate::status::Status;

    #[test]
    fn the_snapshots_of_several_clusters_are_one() {
        let part = |cluster: &str, place: &str, status| {
            let mut row = failed_pod("web", "it fails");
            Arc::make_mut(&mut row.assessment).verdict.status = status;
            let mut part = snapshot(vec![row]);
            part.cluster = cluster.into();
            part.place = place.into();
            part.shortfalls = vec!["events are not read".to_owned()];
            part
        };
        let one = part("one", "-n shop", Status::Current);
        let other = part("other", "-n shop", Status::Failed);
        let all = Snapshot::of_clusters(&[&one, &other]);
        let states: Vec<Status> = all.rows.iter().map(|row| row.status()).collect();
        assert_eq!(states, [Status::Failed, Status::Current]);
        assert_eq!(all.unhealthy.len(), 2);
        assert_eq!((&*all.cluster, &*all.place), ("one,other", "-n shop"));
        let lines = ["one: events are not read", "other: events are not read"];
        assert_eq!(all.shortfalls, lines);
        let elsewhere = part("other", "-n prod", Status::Failed);
        assert_eq!(&*Snapshot::of_clusters(&[&one, &elsewhere]).place, "");
    }
}
