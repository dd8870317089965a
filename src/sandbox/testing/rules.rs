//! The rules that tests write.

use crate::sandbox::state::{Permission, Rule};

impl Rule {
    /// Grants everything.
    pub fn everything() -> Self {
        Self {
            permission: Permission::Allow,
            verbs: vec!["*".to_owned()],
            group: "*".to_owned(),
            resource: "*".to_owned(),
            namespace: None,
            names: Vec::new(),
        }
    }

    /// Grants these verbs (`get,list`) on a resource (`pods`, `deployments.apps`).
    pub fn allow(verbs: &str, resource: &str) -> Self {
        let (resource, group) = resource.split_once('.').unwrap_or((resource, ""));
        let group = if resource == "*" { "*" } else { group };
        Self {
            verbs: verbs.split(',').map(str::to_owned).collect(),
            group: group.to_owned(),
            resource: resource.to_owned(),
            ..Self::everything()
        }
    }

    /// Denies these verbs on a resource.
    pub fn deny(verbs: &str, resource: &str) -> Self {
        Self {
            permission: Permission::Deny,
            ..Self::allow(verbs, resource)
        }
    }

    /// Limits the rule to one namespace.
    #[must_use]
    pub fn within(self, namespace: &str) -> Self {
        Self {
            namespace: Some(namespace.to_owned()),
            ..self
        }
    }

    /// Limits the rule to objects with this name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.names.push(name.to_owned());
        self
    }
}
