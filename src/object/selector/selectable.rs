//! Which fields a server supports in field selectors, and the values it compares.
//!
//! Source: the field label conversions in `k8s.io/kubernetes/pkg/apis`, and the selectable fields of each kind in
//! `pkg/registry`. The `ReplicaSet` of `apps/v1` has no conversion, so it has the fields of every kind.

use super::FieldSelector;

/// A field in a field selector.
#[derive(Clone, Copy, Debug)]
struct Field {
    /// The name in a selector.
    label: &'static str,
    /// Where the object has the value.
    path: &'static str,
    /// Where the object has it, if it is not at `path`.
    or: Option<&'static str>,
    /// The value of an object without the field.
    default: &'static str,
}

impl Field {
    const fn new(label: &'static str) -> Field {
        Field {
            label,
            path: label,
            or: None,
            default: "",
        }
    }

    const fn at(self, path: &'static str) -> Field {
        Field { path, ..self }
    }

    const fn default(self, default: &'static str) -> Field {
        Field { default, ..self }
    }
}

const NAME: Field = Field::new("metadata.name");
const NAMESPACE: Field = Field::new("metadata.namespace");
/// The fields of a kind without fields of its own.
const OF_EVERY_KIND: &[Field] = &[NAME, NAMESPACE];
const SIGNER: Field = Field::new("spec.signerName");

/// The kinds with other fields, by group and kind.
const OF_KIND: [(&str, &str, &[Field]); 13] = [
    (
        "",
        "Pod",
        &[
            NAME,
            NAMESPACE,
            Field::new("spec.nodeName"),
            Field::new("spec.host").at("spec.nodeName"),
            Field::new("spec.restartPolicy").default("Always"),
            Field::new("spec.schedulerName").default("default-scheduler"),
            Field::new("spec.serviceAccountName"),
            Field::new("spec.hostNetwork").default("false"),
            Field::new("status.phase"),
            Field::new("status.podIP"),
            // The server accepts it, but gives it no value.
            Field::new("status.podIPs").at(""),
            Field::new("status.nominatedNodeName"),
        ],
    ),
    (
        "",
        "Node",
        &[NAME, Field::new("spec.unschedulable").default("false")],
    ),
    ("", "Namespace", &[NAME, Field::new("status.phase")]),
    (
        "",
        "Secret",
        &[NAME, NAMESPACE, Field::new("type").default("Opaque")],
    ),
    (
        "",
        "Service",
        &[
            NAME,
            NAMESPACE,
            Field::new("spec.clusterIP"),
            Field::new("spec.type").default("ClusterIP"),
        ],
    ),
    (
        "",
        "ReplicationController",
        &[NAME, NAMESPACE, Field::new("status.replicas").default("0")],
    ),
    (
        "",
        "Event",
        &[
            NAME,
            NAMESPACE,
            Field::new("involvedObject.kind"),
            Field::new("involvedObject.namespace"),
            Field::new("involvedObject.name"),
            Field::new("involvedObject.uid"),
            Field::new("involvedObject.apiVersion"),
            Field::new("involvedObject.resourceVersion"),
            Field::new("involvedObject.fieldPath"),
            Field::new("reason"),
            Field::new("reportingComponent"),
            Field {
                label: "source",
                path: "source.component",
                or: Some("reportingComponent"),
                default: "",
            },
            Field::new("type"),
        ],
    ),
    (
        "events.k8s.io",
        "Event",
        &[
            NAME,
            NAMESPACE,
            Field::new("regarding.kind"),
            Field::new("regarding.namespace"),
            Field::new("regarding.name"),
            Field::new("regarding.uid"),
            Field::new("regarding.apiVersion"),
            Field::new("regarding.resourceVersion"),
            Field::new("regarding.fieldPath"),
            Field::new("reason"),
            Field::new("reportingController"),
            Field::new("type"),
        ],
    ),
    (
        "batch",
        "Job",
        &[
            NAME,
            NAMESPACE,
            Field::new("status.successful")
                .at("status.succeeded")
                .default("0"),
        ],
    ),
    (
        "certificates.k8s.io",
        "CertificateSigningRequest",
        &[NAME, SIGNER],
    ),
    ("certificates.k8s.io", "ClusterTrustBundle", &[NAME, SIGNER]),
    (
        "certificates.k8s.io",
        "PodCertificateRequest",
        &[
            NAME,
            SIGNER,
            Field::new("spec.podName"),
            Field::new("spec.nodeName"),
        ],
    ),
    (
        "resource.k8s.io",
        "ResourceSlice",
        &[NAME, Field::new("spec.nodeName"), Field::new("spec.driver")],
    ),
];

/// The fields of a kind that a server supports in field selectors. A custom kind may have more, which its
/// `CustomResourceDefinition` names.
#[derive(Clone, Copy, Debug)]
pub struct SelectableFields(&'static [Field]);

impl SelectableFields {
    /// Those of a kind.
    pub fn of(group: &str, kind: &str) -> SelectableFields {
        let mut kinds = OF_KIND.into_iter();
        let found = kinds.find(|found| (found.0, found.1) == (group, kind));
        SelectableFields(found.map_or(OF_EVERY_KIND, |(_, _, fields)| fields))
    }

    /// Their names in selectors.
    pub fn labels(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.0.iter().map(|field| field.label)
    }

    /// The first field of a selector that the kind does not have.
    pub fn unsupported<'s>(&self, selector: &'s FieldSelector) -> Option<&'s str> {
        let mut labels = selector.terms().iter().map(|term| &*term.field);
        labels.find(|label| self.labels().all(|known| known != *label))
    }

    /// The value of a field, with `at` to look up a path in the object. Another field is a path.
    pub fn value<'t, S: AsRef<str> + From<&'t str>>(
        &self,
        label: &str,
        at: impl Fn(&str) -> Option<S>,
    ) -> Option<S> {
        let Some(field) = self.0.iter().find(|field| field.label == label) else {
            return at(label);
        };
        let is_given = |value: &S| !value.as_ref().is_empty();
        at(field.path)
            .filter(is_given)
            .or_else(|| at(field.or?))
            .or_else(|| Some(field.default.into()))
    }
}
