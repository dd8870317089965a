//! `SourceRow`: a source as a row.

use super::schema::Checksum;
use crate::object::Resource;
use crate::source::{ClusterId, Select, SourceKey};

/// A source as its columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SourceRow {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) resource: String,
    pub(super) kind: String,
    pub(super) namespaced: bool,
    pub(super) namespace: Option<String>,
    pub(super) name: Option<String>,
    pub(super) labels: Option<String>,
    pub(super) fields: Option<String>,
    /// The version up to which everything is recorded, and the time of that in microseconds since the epoch.
    pub(super) reached: Option<(String, i64)>,
}

impl SourceRow {
    pub(super) fn new(key: &SourceKey) -> SourceRow {
        let resource = &key.resource;
        let name = key.select.name();
        let fields = key.select.field_selector().filter(|_| name.is_none());
        SourceRow {
            group: resource.group.to_string(),
            version: resource.version.to_string(),
            resource: resource.plural.to_string(),
            kind: resource.kind.to_string(),
            namespaced: resource.namespaced,
            namespace: key.namespace().map(str::to_owned),
            name: name.map(str::to_owned),
            labels: key.select.label_selector().map(str::to_owned),
            fields: fields.map(Into::into),
            reached: None,
        }
    }

    /// The key of the source, in a cluster with this name.
    pub(super) fn key(&self, cluster: &ClusterId) -> SourceKey {
        let resource = Resource {
            group: (*self.group).into(),
            version: (*self.version).into(),
            plural: (*self.resource).into(),
            kind: (*self.kind).into(),
            namespaced: self.namespaced,
        };
        let select = match &self.name {
            Some(name) => Select::Name((**name).into()),
            None => Select::matching(self.labels.as_deref(), self.fields.as_deref()),
        };
        let namespace = self.namespace.as_deref().map(Into::into);
        SourceKey::of(cluster, resource, namespace, select)
    }

    pub(super) fn checksum(&self, id: i64) -> i64 {
        let mut sum = Checksum::new();
        sum.number(id);
        for text in [&self.group, &self.version, &self.resource, &self.kind] {
            sum.text(Some(text));
        }
        sum.number(i64::from(self.namespaced));
        for text in [&self.namespace, &self.name, &self.labels, &self.fields] {
            sum.text(text.as_deref());
        }
        sum.text(self.reached.as_ref().map(|(version, _)| version.as_str()));
        sum.number(self.reached.as_ref().map_or(-1, |(_, at)| *at));
        sum.value()
    }
}
