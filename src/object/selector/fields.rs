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
        let mut terms = split_terms(text)
            .into_iter()
            .filter(|term| !term.is_empty())
            .map(field_term)
            .collect::<Result<Vec<_>, _>>()?;
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

fn field_term(term: &str) -> Result<FieldTerm, SelectorError> {
    let wrong = || SelectorError::FieldTerm(term.to_owned());
    let at = term.find('=').ok_or_else(wrong)?;
    let (left, right) = (&term[..at], &term[at + 1..]);
    let (field, operator) = match left.strip_suffix('!') {
        Some(field) => (field, FieldOperator::NotEquals),
        None => (left, FieldOperator::Equals),
    };
    let field = field.trim();
    if operator == FieldOperator::Equals && field.ends_with('!') {
        // `a! = b` is half an operator. A field's name cannot end with `!`.
        return Err(wrong());
    }
    let right = match operator {
        FieldOperator::Equals => right.strip_prefix('=').unwrap_or(right),
        FieldOperator::NotEquals => right,
    };
    let mut value = String::with_capacity(right.len());
    let mut chars = right.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => value.push(
                chars
                    .next()
                    .filter(|c| r"\,=".contains(*c))
                    .ok_or_else(wrong)?,
            ),
            '=' => return Err(wrong()),
            c => value.push(c),
        }
    }
    let field = field.trim();
    if field.ends_with('!') {
        return Err(wrong()); // `!=` with a space inside
    }
    Ok(FieldTerm {
        field: field.to_owned(),
        operator,
        value,
    })
}
