//! `Snapshot`: everything that readers see of a cluster at one moment. It never changes, so all readers share it.

use std::sync::Arc;

use jiff::Timestamp;

use crate::object::well_known_type;
use crate::render::json::line;
use crate::render::json::status::StatusRecord;
use crate::status::Status;

/// What is known of the followed objects at one moment.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// The name of the cluster: its context.
    pub cluster: Arc<str>,
    /// The flags of `kubectl spy` for this place: `-n shop`, `-A`; empty for cluster-scoped objects alone.
    pub place: Arc<str>,
    /// All objects in the order of `status`: each requested one, followed by its dependents.
    pub rows: Vec<Arc<ServedRow>>,
    /// The rows of `status --unhealthy`.
    pub unhealthy: Vec<UnhealthyRow>,
    /// What the view lacks, one line each: kinds that cannot be read, dependents that are not followed.
    pub shortfalls: Vec<String>,
    /// How current it is.
    pub link: Link,
    /// The followed sources.
    pub sources: Vec<SourceHealth>,
}

impl Snapshot {
    /// The namespace of all objects; `None` if there may be several.
    pub fn namespace(&self) -> Option<&str> {
        self.place.strip_prefix("-n ")
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

/// One followed source, for the metrics.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceHealth {
    /// `deployments.apps`.
    pub resource: String,
    /// Its namespace; empty for all.
    pub namespace: String,
    /// Whether its objects are up to date.
    pub is_up: bool,
}

/// An object with its state, in the forms that readers take. All text is as the cluster sent it: the page escapes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedRow {
    /// The record of `status -o json`, with the sources of its rules.
    pub record: StatusRecord,
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
}

impl ServedRow {
    /// Its uid; `GROUP/KIND/NAMESPACE/NAME` without one.
    pub fn id(&self) -> String {
        let object = &self.record.object_ref;
        object.uid.clone().unwrap_or_else(|| {
            let namespace = object.namespace.as_deref().unwrap_or_default();
            format!(
                "{}/{}/{namespace}/{}",
                self.group(),
                object.kind,
                object.name
            )
        })
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
        let is_known_name = known.is_some_and(|known| {
            name == known.singular
                || name == &*known.resource.plural
                || known.short_names.iter().any(|short| short == name)
        });
        // Most plurals of custom kinds follow the rules of English.
        let plural = [kind.to_lowercase() + "s", kind.to_lowercase() + "es"];
        let is_plural = known.is_none() && plural.iter().any(|plural| plural == name);
        is_of_group && (is_kind || is_known_name || is_plural)
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

#[cfg(test)]
pub(super) mod testing {
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
            status: Status::Failed,
            lines: vec![reason.to_owned()],
            changes: Vec::new(),
            last_lines: Vec::new(),
            created: Some(time),
            is_requested: true,
            is_unhealthy: true,
        }
    }

    /// A snapshot with these rows, all of them not well.
    pub(crate) fn snapshot(rows: Vec<ServedRow>) -> Snapshot {
        let rows: Vec<Arc<ServedRow>> = rows.into_iter().map(Arc::new).collect();
        let unhealthy = rows.iter().map(|row| UnhealthyRow {
            row: row.clone(),
            depth: 0,
            beside: Vec::new(),
        });
        Snapshot {
            cluster: "test".into(),
            place: "-n shop".into(),
            unhealthy: unhealthy.collect(),
            rows,
            ..Snapshot::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::failed_pod;

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
    }
}
