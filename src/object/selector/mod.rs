//! Label and field selectors: Kubernetes' grammar, their canonical form and their matching.
//!
//! Source of the rules: `k8s.io/apimachinery/pkg/labels` and `pkg/fields`.

mod fields;
mod labels;

pub use fields::{FieldOperator, FieldSelector, FieldTerm, by_name};
pub use labels::{LabelSelector, Test};

/// Why a selector is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    /// An unexpected token.
    #[error("found '{found}', expected: {expected}")]
    Unexpected {
        /// The token; empty at the end of the selector.
        found: String,
        /// The expected tokens.
        expected: &'static str,
    },
    /// The key is not a qualified name such as `app` or `example.com/app`.
    #[error("invalid label key '{0}'")]
    Key(String),
    /// The text is not a valid label value.
    #[error("invalid label value '{0}'")]
    Value(String),
    /// The operand of `>` or `<` is not an integer.
    #[error("'{0}' is not an integer")]
    Integer(String),
    /// A field selector term without `=`, `==` or `!=`.
    #[error("invalid selector: '{0}'; can't understand '{0}'")]
    FieldTerm(String),
}

#[cfg(test)]
mod tests;
