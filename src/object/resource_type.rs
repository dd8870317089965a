//! `ResourceType`: a resource and what people call it.

use super::Resource;

/// A resource type and what people call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceType {
    /// What it is.
    pub resource: Resource,
    /// `deployment`.
    pub singular: String,
    /// `deploy`.
    pub short_names: Vec<String>,
    /// What else expands to it: `all`.
    pub categories: Vec<String>,
    /// What can be done with it: `list`, `watch`.
    pub verbs: Vec<String>,
}

impl ResourceType {
    /// Whether its objects can be listed, and so be seen at all.
    pub fn listable(&self) -> bool {
        self.verbs.iter().any(|verb| verb == "list")
    }

    /// Whether its objects can be watched.
    pub fn watchable(&self) -> bool {
        self.verbs.iter().any(|verb| verb == "watch")
    }
}
