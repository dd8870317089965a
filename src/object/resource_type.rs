//! `ResourceType`: a resource and what people call it.

use super::Resource;

/// A resource type and its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceType {
    /// The resource.
    pub resource: Resource,
    /// `deployment`.
    pub singular: String,
    /// `deploy`.
    pub short_names: Vec<String>,
    /// The categories that include it: `all`.
    pub categories: Vec<String>,
    /// The supported verbs: `list`, `watch`.
    pub verbs: Vec<String>,
    /// Whether it has the subresource `status`, which controllers write.
    pub has_status: bool,
}

impl ResourceType {
    /// Whether its objects can be listed. Without that nothing of them can be shown.
    pub fn listable(&self) -> bool {
        self.verbs.iter().any(|verb| verb == "list")
    }

    /// Whether its objects can be watched.
    pub fn watchable(&self) -> bool {
        self.verbs.iter().any(|verb| verb == "watch")
    }
}
