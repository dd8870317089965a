//! `ServedRow`: an object with its state, as readers see it, and what of it each of them may see.

use std::sync::Arc;

use jiff::Timestamp;

use super::rights::{GrantedRights, Judgement, ReaderRights};
use crate::object::{ResourceType, well_known, well_known_type};
use crate::render::json::status::StatusRecord;
use crate::render::json::{LastChangeRecord, LastLinesRecord, RefRecord, line};
use crate::status::{Assessment, Status};

/// An object with its state. All text is as the cluster sent it: the page escapes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedRow {
    /// The object.
    pub object_ref: RefRecord,
    /// The short name of its cluster, if the server follows several.
    pub label: Option<Arc<str>>,
    /// Its state, cells and causes.
    pub assessment: Arc<Assessment>,
    /// When the row last changed.
    pub time: Timestamp,
    /// The uid of the owner that it is shown under.
    pub owner: Option<Arc<str>>,
    /// The number of owners above it.
    pub depth: usize,
    /// The worst state among the dependents of its current revision.
    pub worst: Option<Status>,
    /// What changed before it failed, the most suspect change first.
    pub last_changes: Vec<ServedChange>,
    /// What its failed containers printed last.
    pub last_lines: Vec<LastLinesRecord>,
    /// When it was created.
    pub created: Option<Timestamp>,
    /// Whether it was requested, and not only found below another object.
    pub is_requested: bool,
    /// Whether a view of what is not well has a row for it.
    pub is_unhealthy: bool,
    /// The same from the object alone; `None` if that is the same.
    pub own: Option<OwnState>,
    /// When its state from the object alone last changed.
    pub own_time: Timestamp,
}

/// A change before a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedChange {
    /// The record.
    pub record: LastChangeRecord,
    /// The same in one line.
    pub text: String,
}

/// The state of an object, judged without any other object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnState {
    /// Its state, cells and causes.
    pub assessment: Arc<Assessment>,
    /// Whether a view of what is not well has a row for it.
    pub is_unhealthy: bool,
}

impl ServedRow {
    /// Its state.
    pub fn status(&self) -> Status {
        self.assessment.status()
    }

    /// Its assessment without any other object.
    pub fn own_assessment(&self) -> &Arc<Assessment> {
        self.own
            .as_ref()
            .map_or(&self.assessment, |own| &own.assessment)
    }

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
        granted.may_see(&self.object_ref).then(|| match judgement {
            Judgement::Alone => Arc::new(self.alone()),
            Judgement::Whole => self.without_hidden(granted),
        })
    }

    /// The row without changes of objects that the reader may not list, and without lines of logs that he may not read.
    pub fn without_hidden(self: &Arc<Self>, granted: &GrantedRights) -> Arc<ServedRow> {
        let namespace = self.object_ref.namespace.as_deref();
        let shows_lines = self.last_lines.is_empty() || granted.may_read_logs(namespace);
        let is_shown = |change: &ServedChange| {
            let object = change.record.object.as_ref();
            object.is_none_or(|object| granted.may_see(object))
        };
        if shows_lines && self.last_changes.iter().all(is_shown) {
            return self.clone();
        }
        let mut seen = ServedRow::clone(self);
        if !shows_lines {
            seen.last_lines.clear();
        }
        seen.last_changes.retain(is_shown);
        Arc::new(seen)
    }

    /// The row for readers who may not know what is around the object: its place among others is left out, too.
    #[must_use]
    pub fn alone(&self) -> ServedRow {
        let own = self.own.as_ref();
        ServedRow {
            object_ref: self.object_ref.clone(),
            label: self.label.clone(),
            assessment: self.own_assessment().clone(),
            time: self.own_time,
            owner: None,
            depth: 0,
            worst: None,
            last_changes: Vec::new(),
            last_lines: Vec::new(),
            created: self.created,
            is_requested: self.is_requested,
            is_unhealthy: own.map_or(self.is_unhealthy, |own| own.is_unhealthy),
            own: None,
            own_time: self.own_time,
        }
    }

    /// Whether readers learn nothing from this row after that one.
    pub fn is_like(&self, was: &ServedRow) -> bool {
        let timeless = |row: &ServedRow| StatusRecord {
            time: String::new(),
            ..row.record()
        };
        self.status() == was.status()
            && self.is_unhealthy == was.is_unhealthy
            && timeless(self) == timeless(was)
    }

    /// The record of `status -o json`.
    pub fn record(&self) -> StatusRecord {
        let changes = self.last_changes.iter();
        StatusRecord {
            owner: self.owner.clone(),
            depth: self.depth,
            worst: self.worst.map(Status::as_str),
            last_changes: changes.map(|change| change.record.clone()).collect(),
            last_lines: self.last_lines.clone(),
            ..StatusRecord::new(self.object_ref.clone(), &self.assessment, self.time)
        }
    }

    /// Its uid; `GROUP/KIND/NAMESPACE/NAME` without one. If the server follows several clusters, the name of the cluster and a
    /// space stand before it: a cluster that is restored from the backup of another has its uids.
    pub fn id(&self) -> String {
        let object = &self.object_ref;
        let id = object.uid.as_deref().map(str::to_owned);
        let id = id.unwrap_or_else(|| {
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
        let parts = self.object_ref.api_version.split_once('/');
        parts.map_or("", |(group, _)| group)
    }

    /// `Deployment.apps`, `Pod`: its kind and group, as the page writes them in addresses.
    pub fn kind_and_group(&self) -> String {
        let kind = &self.object_ref.kind;
        match self.group() {
            "" => kind.to_string(),
            group => format!("{kind}.{group}"),
        }
    }

    /// `deployment/web`: what kubectl takes as an argument.
    pub fn name(&self) -> String {
        let object = &self.object_ref;
        format!("{}/{}", object.kind.to_lowercase(), object.name)
    }

    /// The record as one line of JSON: that of `status -o json`, or with `--explain`.
    pub fn json(&self, explains: bool) -> String {
        let record = self.record();
        line(&if explains {
            record.explained(&self.assessment)
        } else {
            record
        })
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
        let kind = &self.object_ref.kind;
        let is_kind = name.eq_ignore_ascii_case(kind);
        let known = well_known_type(group, kind);
        let is_known_name = known.is_some_and(|known| names(known, name));
        // As in kubectl, a word without a group is a kind of Kubernetes first: `svc`, also beside the Services of Knative.
        let is_ambiguous = known.is_none() && of_group.is_none();
        if is_ambiguous && well_known().iter().any(|other| names(other, name)) {
            return false;
        }
        // Most plurals of custom kinds follow the rules of English.
        let is_plural = known.is_none() && {
            let singular = kind.to_lowercase();
            let ending = name.strip_prefix(&*singular);
            matches!(ending, Some("s" | "es"))
        };
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

#[cfg(test)]
mod tests {
    use super::super::snapshot::testing::failed_pod;

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
        custom.object_ref.api_version = "example.com/v1".into();
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
