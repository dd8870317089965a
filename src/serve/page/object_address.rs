//! `ObjectAddress`: how the page names an object: in addresses, as an argument, and in commands to copy.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

use crate::object::is_kubernetes_own;
use crate::render::text::shell_word;
use crate::serve::served_row::ServedRow;

/// What a segment of a path must not hold: all but the unreserved characters of RFC 3986.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// An object that a page is about. The name stays, whichever object bears it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::serve) struct ObjectAddress {
    pub(in crate::serve) cluster: String,
    kind: String,
    group: String,
    pub(in crate::serve) namespace: Option<String>,
    name: String,
}

/// The parts of the address of an object.
#[derive(Deserialize)]
pub(in crate::serve) struct ObjectPath {
    cluster: String,
    kind: String,
    namespace: String,
    name: String,
}

impl ObjectPath {
    /// The object.
    pub(in crate::serve) fn address(&self) -> ObjectAddress {
        ObjectAddress::of_segments([&self.cluster, &self.kind, &self.namespace, &self.name])
    }

    pub(in crate::serve) fn namespace(&self) -> Option<&str> {
        (self.namespace != "-").then_some(&*self.namespace)
    }
}

/// An object as records name it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RecordedRef {
    #[serde(default)]
    cluster: String,
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    namespace: Option<String>,
    name: String,
}

impl RecordedRef {
    /// Whether it is an Event, which is about another object.
    pub(super) fn is_event(&self) -> bool {
        self.kind == "Event"
    }

    /// Its cluster; empty for an address.
    pub(super) fn cluster(&self) -> &str {
        &self.cluster
    }

    /// Its kind; empty for an address.
    pub(super) fn kind(&self) -> &str {
        &self.kind
    }

    /// What orders objects for a reader.
    pub(super) fn order(&self) -> (&str, Option<&str>, &str) {
        (&self.kind, self.namespace.as_deref(), &self.name)
    }
}

impl ObjectAddress {
    /// The object with the segments of an address: its cluster, its kind with the group, its namespace or `-`, and its name.
    pub(in crate::serve) fn of_segments(
        [cluster, kind, namespace, name]: [&str; 4],
    ) -> ObjectAddress {
        let (kind, group) = kind.split_once('.').unwrap_or((kind, ""));
        ObjectAddress {
            cluster: cluster.to_owned(),
            kind: kind.to_owned(),
            group: group.to_owned(),
            namespace: (namespace != "-").then(|| namespace.to_owned()),
            name: name.to_owned(),
        }
    }

    /// The object of a row.
    pub(super) fn of_row(row: &ServedRow) -> ObjectAddress {
        let object = &row.object_ref;
        ObjectAddress {
            cluster: object.cluster.to_string(),
            kind: object.kind.to_string(),
            group: row.group().to_owned(),
            namespace: object.namespace.as_deref().map(str::to_owned),
            name: object.name.to_string(),
        }
    }

    /// Whether a row is about it.
    pub(super) fn is_of(&self, row: &ServedRow) -> bool {
        let object = &row.object_ref;
        *object.cluster == *self.cluster
            && *object.kind == *self.kind
            && row.group() == self.group
            && object.namespace.as_deref() == self.namespace.as_deref()
            && *object.name == *self.name
    }

    /// The namespace of the Events about it. Those about cluster-scoped objects are in `default`.
    pub(in crate::serve) fn event_namespace(&self) -> &str {
        self.namespace.as_deref().unwrap_or("default")
    }

    /// `Deployment/web`: how an Event names it.
    pub(in crate::serve) fn event_name(&self) -> String {
        format!("{}/{}", self.kind, self.name)
    }

    /// The object of a record.
    pub(super) fn of_record(object: &RecordedRef) -> ObjectAddress {
        let parts = object.api_version.split_once('/');
        ObjectAddress {
            cluster: object.cluster.clone(),
            kind: object.kind.clone(),
            group: parts.map_or("", |(group, _)| group).to_owned(),
            namespace: object.namespace.clone(),
            name: object.name.clone(),
        }
    }

    /// The address of a page about it: `/o/CLUSTER/KIND/NAMESPACE/NAME`.
    pub(super) fn path(&self, page: &str) -> String {
        let kind = match &*self.group {
            "" => self.kind.clone(),
            group => format!("{}.{group}", self.kind),
        };
        // No namespace is called `-`.
        let namespace = self.namespace.as_deref().unwrap_or("-");
        let segments = [&self.cluster, &*kind, namespace, &self.name];
        let segments = segments.map(|segment| utf8_percent_encode(segment, SEGMENT).to_string());
        format!("/{page}/{}", segments.join("/"))
    }

    /// `deployment/web`: how views name it.
    pub(super) fn display(&self) -> String {
        format!("{}/{}", self.kind.to_lowercase(), self.name)
    }

    /// `deployment/web`, `widget.example.com/gear`: what kubectl takes as an argument.
    pub(in crate::serve) fn argument(&self) -> String {
        if is_kubernetes_own(&self.group) {
            return self.display();
        }
        let (kind, group) = (self.kind.to_lowercase(), &self.group);
        format!("{kind}.{group}/{}", self.name)
    }

    /// The parameters of a question about it. `argument` is its own.
    pub(in crate::serve) fn params<'a>(
        &'a self,
        argument: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        let namespace = self.namespace.as_deref();
        let namespace = namespace.map(|namespace| ("namespace", namespace));
        let named = [("object", argument), ("cluster", &*self.cluster)];
        named.into_iter().chain(namespace)
    }

    /// The command that shows the same: `kubectl spy status deployment/web -n shop --context prod`.
    pub(super) fn command(&self, verb: &str) -> String {
        let mut words = vec![shell_word(&self.argument())];
        if let Some(namespace) = &self.namespace {
            words.extend(["-n".to_owned(), shell_word(namespace)]);
        }
        words.extend(["--context".to_owned(), shell_word(&self.cluster)]);
        format!("kubectl spy {verb} {}", words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::snapshot::testing::failed_pod;

    #[test]
    fn an_object_has_an_address_and_a_command() {
        let mut row = failed_pod("web-1", "it fails");
        let address = ObjectAddress::of_row(&row);
        assert_eq!(address.path("o"), "/o/test/Pod/shop/web-1");
        assert_eq!(
            address.command("status"),
            "kubectl spy status pod/web-1 -n shop --context test"
        );
        let object = &mut row.object_ref;
        object.namespace = None;
        object.api_version = "x.io/v1".into();
        object.cluster = "a/b c".into();
        object.name = "it's; rm -rf /".into();
        let address = ObjectAddress::of_row(&row);
        assert_eq!(
            address.path("g"),
            "/g/a%2Fb%20c/Pod.x.io/-/it%27s%3B%20rm%20-rf%20%2F"
        );
        assert_eq!(
            address.command("trace"),
            r"kubectl spy trace 'pod.x.io/it'\''s; rm -rf /' --context 'a/b c'"
        );
        let segments = ["a/b c", "Pod.x.io", "-", "it's; rm -rf /"];
        assert_eq!(ObjectAddress::of_segments(segments), address);
    }
}
