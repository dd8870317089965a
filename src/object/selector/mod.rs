//! Label and field selectors: Kubernetes' grammar, their canonical form and their matching.
//!
//! Source of the rules and of the errors: `k8s.io/apimachinery/pkg/labels` and `pkg/fields`.

mod fields;
mod label_syntax;
mod labels;
mod parse_labels;
mod selectable;

pub use fields::{FieldOperator, FieldSelector, FieldTerm, by_name};
pub use labels::{LabelSelector, Test};
pub use selectable::SelectableFields;

/// Why a selector is invalid, in the words of Kubernetes' parser.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SelectorError(String);

#[cfg(test)]
mod tests;
