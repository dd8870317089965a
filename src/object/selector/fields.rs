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
