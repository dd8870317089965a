//! The formats `yaml` and `name`: the requested objects, as kubectl prints them.

use std::sync::Arc;

use super::options::HealthFilter;
use super::rows::StatusRow;
use super::state::StatusState;
use super::transitions::Transitions;
use crate::diff::{Projection, Redactor};
use crate::object::Doc;
use crate::render::text::Text;
use crate::render::yaml::yaml;

/// The warning about a document with placeholders for Secret values. It is printed once.
pub(super) const REDACTED: &str =
    "Secret values are hidden, so this output cannot be applied; use kubectl to print them";

/// Prints objects as YAML documents.
#[derive(Debug)]
pub(super) struct Documents {
    redactor: Redactor,
    /// The cluster of the next documents, of several.
    pub(super) cluster: Option<Arc<str>>,
    has_document: bool,
    /// Whether a document has a placeholder for a Secret value.
    pub(super) has_secret: bool,
    pub(super) has_warned: bool,
}

impl Documents {
    pub(super) fn new() -> Documents {
        Documents {
            redactor: Redactor::new(),
            cluster: None,
            has_document: false,
            has_secret: false,
            has_warned: false,
        }
    }

    /// The requested objects that are new or have another state, without managed fields as in kubectl.
    pub(super) fn changed(
        &mut self,
        transitions: &mut Transitions,
        state: &StatusState,
        health: HealthFilter,
    ) -> Vec<Text> {
        transitions.take(state, |row, _| {
            let doc = is_listed(row, health).then(|| state.model.doc(&row.object.identity()));
            doc.flatten()
                .map_or_else(Vec::new, |doc| self.document(&doc))
        })
    }

    /// An object, separated from the one before.
    pub(super) fn document(&mut self, doc: &Doc) -> Vec<Text> {
        let object = self.redactor.shown(doc.root());
        let projection = Projection::default().and_metadata(object, &["managedFields"]);
        self.has_secret |= projection.holds_secret(object);
        let has_other = std::mem::replace(&mut self.has_document, true);
        let mut lines = Vec::from_iter(has_other.then(|| "---".into()));
        let cluster = self.cluster.iter();
        lines.extend(cluster.map(|name| format!("# cluster: {name}").into()));
        lines.extend(yaml(object, &projection));
        lines
    }
}

/// The names of the requested objects that are new or have another state.
pub(super) fn changed_names(
    transitions: &mut Transitions,
    state: &StatusState,
    health: HealthFilter,
) -> Vec<Text> {
    transitions.take(state, |row, _| {
        let name = is_listed(row, health).then(|| row.object.resource_name());
        Vec::from_iter(name.map(Text::from))
    })
}

/// Whether an object was requested, exists and is shown.
fn is_listed(row: &StatusRow<'_>, health: HealthFilter) -> bool {
    let is_there = row.known.is_some_and(|known| known.departure.is_none());
    row.is_requested && is_there && health.includes(row)
}
