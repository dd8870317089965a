//! Turns the target of a user into the sources to watch.

use crate::cluster::{Names, Target};
use crate::source::{ClusterId, Form, Scope, Select, SourceKey};

/// The sources for a target: one for each name, or one for all objects.
pub fn source_keys(cluster: &ClusterId, target: &Target, form: Form) -> Vec<SourceKey> {
    let scope = match &target.namespace {
        Some(namespace) => Scope::Namespace(namespace.clone()),
        None => Scope::Cluster,
    };
    let key = |select| SourceKey {
        cluster: cluster.clone(),
        resource: target.resource.clone(),
        scope: scope.clone(),
        select,
        form,
    };
    match &target.names {
        Names::All => {
            let select = Select::matching(target.labels.as_deref(), target.fields.as_deref());
            vec![key(select)]
        }
        // The user needs only permissions by `resourceNames` for these, and the server sends nothing else.
        Names::Named(names) => names.iter().cloned().map(Select::Name).map(key).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::tests::fake::pods;

    /// The field selector of each request, if any.
    fn fields(names: Names, labels: Option<&str>, fields: Option<&str>) -> Vec<String> {
        let target = Target {
            resource: pods().resource,
            namespace: None,
            names,
            labels: labels.map(Into::into),
            fields: fields.map(Into::into),
        };
        let keys = source_keys(&pods().cluster, &target, Form::Full);
        let field = |key: &SourceKey| key.select.field_selector().unwrap_or_default().into_owned();
        keys.iter().map(field).collect()
    }

    #[test]
    fn each_name_has_its_own_request() {
        let names = Names::Named(vec!["web".into(), "a=b,c".into()]);
        assert_eq!(
            fields(names, None, None),
            ["metadata.name=web", r"metadata.name=a\=b\,c"]
        );
        assert_eq!(fields(Names::All, Some("app=web"), None), [""]);
        let node = fields(Names::All, None, Some("spec.nodeName==n1"));
        assert_eq!(node, ["spec.nodeName=n1"]);
    }
}
