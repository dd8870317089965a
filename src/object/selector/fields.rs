//! Field selectors: `metadata.name=web,status.phase!=Running`.

use std::fmt;
use std::str::FromStr;

use super::SelectorError;

/// Whether a field must equal the value or differ from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FieldOperator {
    /// `=` and `==`.
    Equals,
    /// `!=`.
    NotEquals,
}

/// One term of a field selector, for instance `metadata.name=web`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldTerm {
    /// The field's path without a leading dot.
    pub field: String,
    /// The comparison.
    pub operator: FieldOperator,
    /// The value without escapes.
    pub value: String,
}

/// A conjunction of field terms. An empty one matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct FieldSelector {
    terms: Vec<FieldTerm>,
}

impl FieldSelector {
    /// The terms, in canonical order.
    pub fn terms(&self) -> &[FieldTerm] {
        &self.terms
    }

    /// Whether it matches everything.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The value that `field` must equal, if a term requires one.
    pub fn required(&self, field: &str) -> Option<&str> {
        let is_it =
            |term: &&FieldTerm| term.field == field && term.operator == FieldOperator::Equals;
        self.terms
            .iter()
            .find(is_it)
            .map(|term| term.value.as_str())
    }

    /// Whether the selector matches an object, with `field` to look up its fields. An absent field counts as the
    /// empty text.
    pub fn matches<S: AsRef<str>>(&self, field: impl Fn(&str) -> Option<S>) -> bool {
        self.terms.iter().all(|term| {
            let found = field(&term.field);
            let equal = found.as_ref().map_or("", AsRef::as_ref) == term.value;
            equal == (term.operator == FieldOperator::Equals)
        })
    }
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, term) in self.terms.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let operator = match term.operator {
                FieldOperator::Equals => "=",
                FieldOperator::NotEquals => "!=",
            };
            write!(f, "{comma}{}{operator}", term.field)?;
            for c in term.value.chars() {
                let escape = if r"\,=".contains(c) { r"\" } else { "" };
                write!(f, "{escape}{c}")?;
            }
        }
        Ok(())
    }
}

/// The field selector for the one object with this name. The name may contain any character.
pub fn by_name(name: &str) -> String {
    let term = FieldTerm {
        field: "metadata.name".to_owned(),
        operator: FieldOperator::Equals,
        value: name.to_owned(),
    };
    FieldSelector { terms: vec![term] }.to_string()
}

impl FromStr for FieldSelector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        let mut parts = split_terms(text);
        // Of several faults, Kubernetes reports the first in this order.
        parts.sort_unstable();
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        let terms = parts.map(|part| {
            field_term(part)?.ok_or_else(|| {
                SelectorError(format!(
                    "invalid selector: '{text}'; can't understand '{part}'"
                ))
            })
        });
        let mut terms = terms.collect::<Result<Vec<FieldTerm>, _>>()?;
        // Neither field nor value: it selects everything.
        terms.retain(|term| !(term.field.is_empty() && term.value.is_empty()));
        terms.sort();
        terms.dedup();
        Ok(Self { terms })
    }
}

/// Splits a text at commas without a backslash before them.
fn split_terms(text: &str) -> Vec<&str> {
    let (mut terms, mut start, mut escaped) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        if c == ',' && !escaped {
            terms.push(&text[start..at]);
            start = at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    terms.push(&text[start..]);
    terms
}

/// Reads a term; `None` without an operator. White space belongs to the field and to the value.
fn field_term(term: &str) -> Result<Option<FieldTerm>, SelectorError> {
    let Some((left, right)) = term.split_once('=') else {
        return Ok(None);
    };
    let (field, operator, right) = if let Some(field) = left.strip_suffix('!') {
        (field, FieldOperator::NotEquals, right)
    } else {
        let right = right.strip_prefix('=').unwrap_or(right);
        (left, FieldOperator::Equals, right)
    };
    Ok(Some(FieldTerm {
        field: field.to_owned(),
        operator,
        value: unescaped(right)?,
    }))
}

/// A value without its escapes.
fn unescaped(text: &str) -> Result<String, SelectorError> {
    let mut value = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(next) if r"\,=".contains(next) => value.push(next),
                next => {
                    let next = next.map(String::from).unwrap_or_default();
                    return Err(SelectorError(format!(
                        "invalid field selector: invalid escape sequence: \\{next}"
                    )));
                }
            },
            // Go prints the number of the character.
            ',' | '=' => {
                let number = u32::from(c);
                return Err(SelectorError(format!(
                    "invalid field selector: unescaped character in value: {number}"
                )));
            }
            c => value.push(c),
        }
    }
    Ok(value)
}

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
///
/// Source: the field label conversions in `k8s.io/kubernetes/pkg/apis`, and the selectable fields of each kind in
/// `pkg/registry`. The `ReplicaSet` of `apps/v1` has no conversion, so it has the fields of every kind.
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
