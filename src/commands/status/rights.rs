//! Which states depend on objects that the user may not read.

use std::collections::{BTreeMap, BTreeSet};

use super::state::StatusState;
use crate::model::Reading;
use crate::object::ObjectRef;
use crate::render::count::thousands;
use crate::render::style::Look;
use crate::render::text::escape_line;

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
        if !coverage
            .readings()
            .any(|reading| *reading == Reading::Refused)
        {
            return by_type;
        }
        for place in self.roots.in_order() {
            let uid = place.object.identity();
            let root = self.root(&uid);
            let Some((object, root)) = self.model.object(&uid).zip(root) else {
                continue;
            };
            let dependents = root.dependents.iter();
            let refused = dependents.filter(|key| coverage.reading(key) == Some(&Reading::Refused));
            let types: BTreeSet<String> =
                refused.map(|key| key.resource.group_resource()).collect();
            for of_type in types {
                by_type.entry(of_type).or_default().push(&object.object);
            }
        }
        by_type
    }
}
