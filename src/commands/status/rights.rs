//! Which states depend on objects that the user may not read.

use std::collections::{BTreeMap, BTreeSet};

use super::state::StatusState;
use crate::model::Reading;
use crate::object::ObjectRef;
use crate::render::count::thousands;
use crate::render::style::Look;
use crate::render::text::escape_line;
use crate::source::SourceKey;

/// The most objects that a line about rights names.
const MAX_NAMED: usize = 3;

/// `judged without pods, which you may not read: deployment/api, deployment/web`: which states the missing rights affect.
pub(super) fn judged_without(state: &StatusState, look: Look) -> Vec<String> {
    let by_type = state.judged_without().into_iter();
    let lines = by_type.map(|(of_type, objects)| {
        let names = objects.iter().take(MAX_NAMED);
        let names: Vec<String> = names.map(ToString::to_string).collect();
        let more = match objects.len().saturating_sub(MAX_NAMED) {
            0 => String::new(),
            more => format!(" and {} more", thousands(more)),
        };
        let text = format!(
            "judged without {of_type}, which you may not read: {}{more}",
            names.join(", ")
        );
        look.styles.dim(&escape_line(&text))
    });
    lines.collect()
}

impl StatusState {
    /// The requested objects whose dependents may not be read, by the type of the dependents.
    fn judged_without(&self) -> BTreeMap<String, Vec<&ObjectRef>> {
        let mut by_type: BTreeMap<String, Vec<&ObjectRef>> = BTreeMap::new();
        let coverage = self.model.coverage();
        let readings = coverage.sources().zip(coverage.readings());
        let refused = readings.filter(|(_, reading)| **reading == Reading::Refused);
        let refused: BTreeSet<String> = refused
            .map(|(key, _)| key.resource.group_resource())
            .collect();
        for of_type in refused {
            let is_other = |key: &SourceKey| {
                coverage.reading(key) != Some(&Reading::Refused)
                    || key.resource.group_resource() != of_type
            };
            let owners = self
                .model
                .owners_of_sources(self.model.roots().iter().map(|(uid, _)| uid), is_other);
            let places = self
                .model
                .roots()
                .in_order()
                .map(|place| place.object.identity());
            let owners = places.filter(|uid| owners.contains(uid));
            let objects = owners.filter_map(|uid| self.model.object(&uid));
            let objects: Vec<&ObjectRef> = objects.map(|object| &*object.object).collect();
            if !objects.is_empty() {
                by_type.insert(of_type, objects);
            }
        }
        by_type
    }
}
