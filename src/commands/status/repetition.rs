//! `Repetition`: what is left out beside a row, because it only repeats the problem of this row.

use std::sync::Arc;

use crate::object::ObjectRef;
use crate::render::count::plural;

/// The most kinds that a row names of the objects that repeat it.
const MAX_KINDS: usize = 4;

/// How the problem of a row relates to those of others.
#[derive(Clone, Debug, Default)]
pub(super) struct Repetition {
    /// Whether another row says why the object is not well.
    pub(super) is_repeating: bool,
    /// The number of rows beside it that have the same causes and are left out.
    pub(super) alike: usize,
    /// The other objects that are left out because they only repeat it.
    pub(super) left_out: Vec<HiddenObject>,
}

/// An object without a row.
#[derive(Clone, Debug)]
pub(super) struct HiddenObject {
    pub(super) object: Arc<ObjectRef>,
    /// Whether the row that counts it owns it.
    pub(super) is_below: bool,
}

impl Repetition {
    /// `also not well: service/web, 1 replicaset`: what is left out beside this row of a namespace; `None` if nothing is.
    pub(super) fn text(&self, namespace: Option<&str>) -> Option<String> {
        let mut kinds: Vec<(String, Vec<&HiddenObject>)> = Vec::new();
        let mut left_out: Vec<&HiddenObject> = self.left_out.iter().collect();
        left_out.sort_by_key(|left_out| left_out.is_below);
        for left_out in left_out {
            let kind = left_out.object.kind.to_lowercase();
            match kinds.iter_mut().find(|(of, _)| *of == kind) {
                Some((_, objects)) => objects.push(left_out),
                None => kinds.push((kind, vec![left_out])),
            }
        }
        let more: usize = kinds.iter().skip(MAX_KINDS).map(|(_, of)| of.len()).sum();
        let named = kinds.iter().take(MAX_KINDS);
        let mut parts: Vec<String> = named
            .map(|(kind, objects)| match objects[..] {
                [only] if !only.is_below => only.name(namespace),
                _ => plural(objects.len(), kind),
            })
            .collect();
        if more > 0 {
            parts.push(format!("{more} more"));
        }
        let text = format!("also not well: {}", parts.join(", "));
        (!parts.is_empty()).then_some(text)
    }
}

impl HiddenObject {
    /// The object, with its namespace if that is another one.
    fn name(&self, beside: Option<&str>) -> String {
        match self.object.namespace.as_deref() {
            Some(own) if Some(own) != beside => format!("{} -n {own}", self.object),
            _ => self.object.to_string(),
        }
    }
}
