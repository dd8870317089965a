//! The objects that a request selects: by namespace, label selector and field selector.

use crate::object::selector::{FieldSelector, LabelSelector, SelectableFields};

use super::kinds::Kind;
use super::route::{ObjectsRoute, Query};
use super::status::ApiFailure;
use super::store::{StoreKey, StoredVersion};

/// The objects a LIST or WATCH covers.
#[derive(Debug)]
pub(super) struct ListSelection {
    pub(super) kind: usize,
    pub(super) namespace: Option<String>,
    pub(super) labels: LabelSelector,
    pub(super) fields: FieldSelector,
}

impl ListSelection {
    pub(super) fn of(query: &Query, route: &ObjectsRoute, kind: &Kind) -> Result<Self, ApiFailure> {
        let labels = query.get("labelSelector").unwrap_or_default();
        let fields = query.get("fieldSelector").unwrap_or_default();
        let unreadable = |error: &dyn std::fmt::Display| {
            ApiFailure::bad_request(format!("unable to parse requirement: {error}"))
        };
        let selection = Self {
            kind: route.kind,
            namespace: route.namespace.clone(),
            labels: labels.parse().map_err(|error| unreadable(&error))?,
            fields: fields
                .parse()
                .map_err(|error| ApiFailure::bad_request(format!("{error}")))?,
        };
        let selectable = SelectableFields::of(&kind.resource.group, &kind.resource.kind);
        if let Some(field) = selectable.unsupported(&selection.fields) {
            let has_only_names = (selectable.labels()).eq(["metadata.name", "metadata.namespace"]);
            return Err(ApiFailure::bad_request(if has_only_names {
                format!(
                    "{field:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
                )
            } else {
                format!("field label not supported: {field}")
            }));
        }
        Ok(selection)
    }

    /// Whether the object has the kind and the namespace of the selection.
    pub(super) fn covers(&self, key: &StoreKey) -> bool {
        key.kind == self.kind
            && self
                .namespace
                .as_ref()
                .is_none_or(|namespace| *namespace == key.namespace)
    }

    pub(super) fn matches(&self, version: &StoredVersion) -> bool {
        let labels = &version.value["metadata"]["labels"];
        self.labels.matches(|key| labels[key].as_str())
            && self.fields.matches(|label| {
                let own = |key: &str| version.value[key].as_str().unwrap_or_default();
                let group = own("apiVersion")
                    .rsplit_once('/')
                    .map_or("", |(group, _)| group);
                let fields = SelectableFields::of(group, own("kind"));
                fields.value(label, |path| text_at(version, path))
            })
    }
}

/// The text at a path; numbers and booleans as in JSON.
fn text_at(version: &StoredVersion, path: &str) -> Option<String> {
    let pointer = format!("/{}", path.replace('.', "/"));
    let value = version.value.pointer(&pointer)?;
    Some(
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned),
    )
}
