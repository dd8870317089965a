//! What a look-back found of one source.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::watch::{Between, End, Missing, PastEvent, Revision, SourceKey};

/// What was found of one source.
#[derive(Debug)]
pub(in crate::commands::changes) struct Found {
    pub(in crate::commands::changes) key: Arc<SourceKey>,
    /// What happened, the oldest first, of each object.
    pub(in crate::commands::changes) told: Vec<PastEvent>,
    /// Why there is no more.
    pub(in crate::commands::changes) end: Option<End>,
    /// It was interrupted: there may be more.
    pub(in crate::commands::changes) is_cut: bool,
    /// The objects of which versions are missing, because the server did not answer.
    pub(in crate::commands::changes) missing: Vec<Missing>,
    /// Of a wide source: how many objects it has.
    pub(in crate::commands::changes) objects: Option<usize>,
    /// From which revision on all versions are told of what was there then, or is there now.
    pub(in crate::commands::changes) from: Option<Revision>,
    /// From which revision on nothing is missing that came and went, either, where that is known.
    pub(in crate::commands::changes) complete: Option<Revision>,
    /// When revisions were written, where that is known.
    pub(in crate::commands::changes) dated: BTreeMap<Revision, Between>,
}

impl Found {
    /// Whether something may be missing that came and went.
    pub(in crate::commands::changes) fn is_short(&self) -> bool {
        self.complete.is_none() || self.complete > self.from
    }

    /// The same of a look-back that was interrupted: it came to no end, and nothing older is known.
    pub(in crate::commands::changes) fn cut(self) -> Found {
        Found {
            end: None,
            is_cut: true,
            from: None,
            complete: None,
            ..self
        }
    }

    /// Of this source, nothing yet.
    pub(in crate::commands::changes) fn new(key: Arc<SourceKey>) -> Found {
        Found {
            key,
            told: Vec::new(),
            end: None,
            is_cut: false,
            missing: Vec::new(),
            objects: None,
            from: None,
            complete: None,
            dated: BTreeMap::new(),
        }
    }
}
