//! `KnownStates`: the last known state of each object of a cluster, and what a snapshot says that is new.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::object::{ObjectRef, Uid};
use crate::render::json::RefRecord;
use crate::serve::ServedRow;
use crate::status::{Assessment, Status};

/// An object that is created may appear this much later, because clocks and watches differ.
const SLACK: SignedDuration = SignedDuration::from_mins(2);

/// An object and its last known state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectState {
    /// The object.
    pub object: ObjectRef,
    /// Its last known state.
    pub status: Status,
}

/// A change of the state of an object.
#[derive(Clone, Debug)]
pub struct StateChange {
    /// The id of its row.
    pub id: String,
    /// The state before; `None` for a new object.
    pub from: Option<Status>,
    /// When it was noticed.
    pub time: Timestamp,
    /// The object after the change.
    pub row: Arc<ServedRow>,
}

/// What a snapshot says that is new.
#[derive(Clone, Debug, Default)]
pub struct StateUpdate {
    /// Changes of state.
    pub changes: Vec<StateChange>,
    /// Objects without a former state that are not new. Their states are no changes.
    pub met: BTreeMap<String, ObjectState>,
    /// The ids of objects that an earlier run knew, with the state that they still have.
    pub seen: Vec<String>,
    /// The ids of objects that are no longer of interest.
    pub forgotten: Vec<String>,
}

impl StateUpdate {
    /// Whether there is nothing new.
    pub fn is_empty(&self) -> bool {
        let has_states = !self.met.is_empty() || !self.seen.is_empty();
        self.changes.is_empty() && !has_states && self.forgotten.is_empty()
    }
}

/// The rows of a cluster whose objects are all read.
#[derive(Clone, Copy, Debug)]
pub struct ClusterRows<'r> {
    /// The cluster.
    pub cluster: RowCluster<'r>,
    /// Its rows.
    pub rows: &'r [Arc<ServedRow>],
    /// Whether they are the present state. Without a connection, they are an earlier one.
    pub is_current: bool,
}

/// Why a known object has no row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowAbsence {
    /// A source that is up to date would have it, and has not: it was deleted.
    Deleted,
    /// Only a source with a selector would have it, and has not: it was deleted, or has other labels.
    Unselected,
    /// No source that would have it is up to date.
    Unread,
    /// It is no longer followed, or has left the view.
    Unfollowed,
}

/// The cluster of rows.
#[derive(Clone, Copy, Debug)]
pub enum RowCluster<'r> {
    /// The only one that the server follows.
    Only(&'r str),
    /// One of several.
    OneOfSeveral(&'r str),
}

impl<'r> RowCluster<'r> {
    /// The cluster with this name, which is one of several or the only one.
    pub fn of(name: &'r str, are_several: bool) -> RowCluster<'r> {
        if are_several {
            RowCluster::OneOfSeveral(name)
        } else {
            RowCluster::Only(name)
        }
    }

    /// What tells its states from those of others: its name, and nothing for the only cluster.
    pub(super) fn key(&self) -> &str {
        match self {
            RowCluster::Only(_) => "",
            RowCluster::OneOfSeveral(name) => name,
        }
    }
}

/// The last known states of a cluster.
#[derive(Debug, Default)]
pub struct KnownStates {
    objects: BTreeMap<String, ObjectState>,
    /// The ids of objects that an earlier run knew and this one has not seen.
    unseen: BTreeSet<String>,
    /// Until when the states are complete; `None` before the first snapshot of all.
    until: Option<Timestamp>,
    /// Whether this run has seen the states.
    is_compared: bool,
    /// The rows of objects that were deleted in this run, until their deletions are known. The rows of a slow moment may lack them.
    deleted: BTreeMap<String, Arc<ServedRow>>,
}

impl KnownStates {
    /// What an earlier run knew. Nothing was seen since.
    pub fn of_earlier_run(
        objects: BTreeMap<String, ObjectState>,
        until: Option<Timestamp>,
    ) -> KnownStates {
        KnownStates {
            unseen: objects.keys().cloned().collect(),
            objects,
            until,
            is_compared: false,
            deleted: BTreeMap::new(),
        }
    }

    /// Notes a row that is new or has changed. A deletion is found later, too, when no row shows it any more.
    pub fn note(&mut self, row: &Arc<ServedRow>) {
        if row.status() == Status::NotFound {
            self.deleted.insert(row.id(), row.clone());
        } else if !self.deleted.is_empty() {
            self.deleted.remove(&row.id());
        }
    }

    /// Until when the states are complete.
    pub fn until(&self) -> Option<Timestamp> {
        self.until
    }

    /// Whether this run has seen the states.
    pub fn is_compared(&self) -> bool {
        self.is_compared
    }

    /// The states are complete until this time.
    pub fn are_known_until(&mut self, now: Timestamp) {
        self.until = self.until.max(Some(now));
    }

    /// What these rows say that is new. `absence` tells why an object has no row.
    pub fn compare(
        &self,
        of: &ClusterRows<'_>,
        absence: impl Fn(&ObjectRef) -> RowAbsence,
        now: Timestamp,
    ) -> StateUpdate {
        let mut update = StateUpdate::default();
        let mut present = BTreeSet::new();
        for row in of.rows {
            let id = row.id();
            let was = self.objects.get(&id).map(|known| known.status);
            if !present.insert(id.clone()) {
                continue;
            }
            if was == Some(row.status()) {
                update.seen.extend(self.unseen.get(&id).cloned());
                continue;
            }
            if was.is_none() && !self.is_new(row) {
                update.met.insert(id, known(row));
                continue;
            }
            update.changes.push(StateChange {
                id,
                from: was,
                time: now,
                row: row.clone(),
            });
        }
        for (id, known) in self.objects.iter().filter(|(id, _)| !present.contains(*id)) {
            let is_unseen = self.unseen.contains(id);
            let deleted = self.deleted.get(id);
            let is_gone = match absence(&known.object) {
                _ if known.status == Status::NotFound => None,
                _ if deleted.is_some() => Some(true),
                RowAbsence::Deleted => Some(true),
                // In this run, there would have been a row of its deletion.
                RowAbsence::Unselected => is_unseen.then_some(true),
                RowAbsence::Unread => Some(false),
                RowAbsence::Unfollowed => is_unseen.then_some(false),
            };
            match is_gone {
                Some(true) => update.changes.push(StateChange {
                    id: id.clone(),
                    from: Some(known.status),
                    time: now,
                    row: deleted
                        .cloned()
                        .unwrap_or_else(|| Arc::new(gone_row(&known.object, of.cluster, now))),
                }),
                Some(false) => {}
                None => update.forgotten.push(id.clone()),
            }
        }
        update
    }

    /// Whether an object was created after the states were complete.
    fn is_new(&self, row: &ServedRow) -> bool {
        let since = self.until.and_then(|until| until.checked_sub(SLACK).ok());
        row.created
            .zip(since)
            .is_some_and(|(at, since)| at >= since)
    }

    /// Takes what is new.
    pub fn apply(&mut self, update: &StateUpdate, rows: &[Arc<ServedRow>]) {
        self.is_compared = true;
        if !self.unseen.is_empty() {
            for row in rows {
                self.unseen.remove(&row.id());
            }
        }
        for id in &update.forgotten {
            self.objects.remove(id);
            self.unseen.remove(id);
        }
        for change in &update.changes {
            // The object is gone, or has a row: in both cases it is seen.
            self.unseen.remove(&change.id);
            self.objects.insert(change.id.clone(), known(&change.row));
        }
        let met = update.met.iter();
        self.objects
            .extend(met.map(|(id, known)| (id.clone(), known.clone())));
        let objects = &self.objects;
        let is_there = |known: &ObjectState| known.status != Status::NotFound;
        self.deleted
            .retain(|id, _| objects.get(id).is_some_and(is_there));
    }
}

/// The object of a row, with its state.
pub(super) fn known(row: &ServedRow) -> ObjectState {
    let object = &row.object_ref;
    ObjectState {
        object: ObjectRef {
            api_version: object.api_version.clone(),
            kind: object.kind.clone(),
            namespace: object.namespace.clone(),
            name: object.name.clone(),
            uid: object.uid.clone().map(Uid::new),
        },
        status: row.status(),
    }
}

/// The [key](RowCluster::key) of the cluster in the id of a row ([`ServedRow::id`]).
pub(super) fn cluster_key(id: &str) -> &str {
    id.rsplit_once(' ').map_or("", |(cluster, _)| cluster)
}

/// The row of an object that was deleted while nobody looked.
fn gone_row(object: &ObjectRef, from: RowCluster<'_>, now: Timestamp) -> ServedRow {
    let (cluster, label) = match from {
        RowCluster::Only(name) => (name, None),
        RowCluster::OneOfSeveral(name) => (name, Some(name.into())),
    };
    ServedRow {
        object_ref: RefRecord::new(cluster, object),
        label,
        assessment: Arc::new(Assessment::not_found()),
        time: now,
        owner: None,
        depth: 0,
        worst: None,
        last_changes: Vec::new(),
        last_lines: Vec::new(),
        created: None,
        is_requested: false,
        is_unhealthy: true,
        own: None,
        own_time: now,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::testing::failed_pod;

    const START: Timestamp = Timestamp::UNIX_EPOCH;

    fn at(seconds: i64) -> Timestamp {
        START + SignedDuration::from_secs(seconds)
    }

    /// The rows of `NAME=STATUS@CREATED` words.
    fn rows(words: &str) -> Vec<Arc<ServedRow>> {
        let row = |word: &str| {
            let (name, rest) = word.split_once('=').expect("a state");
            let (status, created) = rest.split_once('@').expect("a time");
            let mut row = failed_pod(name, "");
            Arc::make_mut(&mut row.assessment).verdict.status =
                Status::named(status).expect("a state");
            row.created = created.parse().ok().map(at);
            Arc::new(row)
        };
        words.split_whitespace().map(row).collect()
    }

    fn whole(rows: &[Arc<ServedRow>]) -> ClusterRows<'_> {
        ClusterRows {
            cluster: RowCluster::Only("test"),
            rows,
            is_current: true,
        }
    }

    /// What the second snapshot says that is new, after a run that saw the first and ended at the 1000th second.
    fn check(first: &str, second: &str, absence: RowAbsence, expect: &str) {
        let mut known = KnownStates::default();
        let before = rows(first);
        let update = known.compare(&whole(&before), |_| RowAbsence::Unread, at(1000));
        assert!(update.changes.is_empty(), "the first states are no changes");
        known.apply(&update, &before);
        let mut known = KnownStates::of_earlier_run(known.objects, Some(at(1000)));
        let after = rows(second);
        let update = known.compare(&whole(&after), |_| absence, at(5000));
        let word = |change: &StateChange| {
            let from = change.from.map_or("new", Status::as_str);
            let name = &change.row.object_ref.name;
            format!("{name}:{from}>{}", change.row.status())
        };
        let changes: Vec<String> = update.changes.iter().map(word).collect();
        assert_eq!(changes.join(" "), expect, "{first} then {second}");
        known.apply(&update, &after);
        let again = known.compare(&whole(&after), |_| absence, at(5001));
        assert!(again.changes.is_empty(), "{first} then {second}, twice");
    }

    #[test]
    fn the_difference_between_two_runs_is_found_once() {
        let deleted = RowAbsence::Deleted;
        check("a=Current@1", "a=Current@1", deleted, "");
        check("a=Current@1", "a=Failed@1", deleted, "a:Current>Failed");
        // It was created while nobody looked, or so long ago that it was only not of interest.
        check("", "a=Failed@2000", deleted, "a:new>Failed");
        check("", "a=Failed@900", deleted, "a:new>Failed");
        check("", "a=Failed@100", deleted, "");
        check("", "a=NotFound@-", deleted, "");
        // It has no row: it is gone, or its source is not read.
        check(
            "a=Current@1 b=Failed@1",
            "b=Failed@1",
            deleted,
            "a:Current>NotFound",
        );
        for (absence, changes) in [
            (RowAbsence::Unselected, "a:Current>NotFound"),
            (RowAbsence::Unread, ""),
            (RowAbsence::Unfollowed, ""),
        ] {
            check("a=Current@1 b=Failed@1", "b=Failed@1", absence, changes);
        }
        check("a=NotFound@-", "", deleted, "");
    }

    /// The change of an object that a snapshot of the same run no longer has, and whether it is forgotten.
    fn check_left(status: &str, absence: RowAbsence, expect: Option<Status>, is_forgotten: bool) {
        let mut known = KnownStates::default();
        let before = rows(&format!("a={status}@1"));
        let update = known.compare(&whole(&before), |_| absence, at(1));
        known.apply(&update, &before);
        let update = known.compare(&whole(&[]), |_| absence, at(2));
        let change = update.changes.first().map(|change| change.row.status());
        let found = (change, !update.forgotten.is_empty());
        assert_eq!(found, (expect, is_forgotten), "{status} {absence:?}");
        known.apply(&update, &[]);
        let again = known.compare(&whole(&[]), |_| absence, at(3));
        assert!(again.changes.is_empty(), "{status} {absence:?}, twice");
    }

    #[test]
    fn an_object_whose_deletion_had_no_row_is_reported() {
        check_left("Failed", RowAbsence::Deleted, Some(Status::NotFound), false);
        // Later it may turn out to be deleted.
        check_left("Failed", RowAbsence::Unread, None, false);
    }

    #[test]
    fn an_object_that_leaves_the_view_is_forgotten() {
        check_left("Failed", RowAbsence::Unselected, None, true);
        check_left("Failed", RowAbsence::Unfollowed, None, true);
        check_left("NotFound", RowAbsence::Deleted, None, true);
    }

    /// The deletion was published, and no rows with it were compared.
    #[test]
    fn a_deletion_that_no_compared_rows_show_is_reported_once() {
        for absence in [
            RowAbsence::Deleted,
            RowAbsence::Unselected,
            RowAbsence::Unread,
            RowAbsence::Unfollowed,
        ] {
            let mut known = KnownStates::default();
            let before = rows("a=Failed@1");
            let update = known.compare(&whole(&before), |_| absence, at(1));
            known.apply(&update, &before);
            known.note(&rows("a=NotFound@1")[0]);
            // What is not written is found again.
            for _ in 0..2 {
                let update = known.compare(&whole(&[]), |_| absence, at(9));
                let change = update.changes.first().expect("a change");
                let found = (change.from, change.row.status());
                assert_eq!(found, (Some(Status::Failed), Status::NotFound));
                assert!(update.forgotten.is_empty(), "{absence:?}");
            }
            let update = known.compare(&whole(&[]), |_| absence, at(9));
            known.apply(&update, &[]);
            let again = known.compare(&whole(&[]), |_| absence, at(10));
            assert!(again.changes.is_empty(), "{absence:?}, twice");
            assert!(known.deleted.is_empty(), "{absence:?}");
        }
    }

    #[test]
    fn an_object_that_is_there_again_was_not_deleted() {
        let mut known = KnownStates::default();
        let before = rows("a=Failed@1");
        let update = known.compare(&whole(&before), |_| RowAbsence::Unread, at(1));
        known.apply(&update, &before);
        for states in ["a=NotFound@1", "a=Current@1"] {
            known.note(&rows(states)[0]);
        }
        let update = known.compare(&whole(&[]), |_| RowAbsence::Unselected, at(9));
        assert!(update.changes.is_empty() && update.forgotten.len() == 1);
    }
}
