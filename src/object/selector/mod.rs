//! Label and field selectors: Kubernetes' grammar, their canonical form and their matching.
//!
//! Source of the rules and of the errors: `k8s.io/apimachinery/pkg/labels` and `pkg/fields`.

mod fields;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use super::doc::Value;
use super::tape::Kind;

pub use fields::{FieldOperator, FieldSelector, FieldTerm, SelectableFields, by_name};

/// Why a selector is invalid, in the words of Kubernetes' parser.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SelectorError(String);

/// The condition of one requirement for the value of its label.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Test {
    /// The label exists, and its value is one of these.
    In(BTreeSet<String>),
    /// The label does not exist, or its value is none of these.
    NotIn(BTreeSet<String>),
    /// The label exists.
    Exists,
    /// The label does not exist.
    DoesNotExist,
    /// The value is an integer greater than this.
    GreaterThan(i64),
    /// The value is an integer less than this.
    LessThan(i64),
}

/// A conjunction of requirements for labels. An empty one matches everything.
///
/// The requirements are in canonical order (by key), so that equal selectors are equal values and equal texts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct LabelSelector {
    requirements: Vec<(String, Test)>,
}

impl LabelSelector {
    /// Creates a selector from requirements, for a reader of `matchLabels` and `matchExpressions`.
    pub fn new(requirements: impl IntoIterator<Item = (String, Test)>) -> Self {
        let mut requirements: Vec<_> = requirements.into_iter().collect();
        requirements.sort();
        requirements.dedup();
        Self { requirements }
    }

    /// The requirements, in canonical order.
    #[cfg(test)]
    fn requirements(&self) -> &[(String, Test)] {
        &self.requirements
    }

    /// The labels that it requires with one value each. Other requirements are left out.
    pub fn equalities(&self) -> impl Iterator<Item = (&str, &str)> {
        self.requirements
            .iter()
            .filter_map(|(key, test)| match test {
                Test::In(values) if values.len() == 1 => {
                    Some((key.as_str(), values.first()?.as_str()))
                }
                _ => None,
            })
    }

    /// The requirements of both.
    #[must_use]
    pub fn and(&self, other: LabelSelector) -> LabelSelector {
        LabelSelector::new(self.requirements.iter().cloned().chain(other.requirements))
    }

    /// Whether it matches everything.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Whether the selector matches an object, with `label` to look up its labels.
    pub fn matches<S: AsRef<str>>(&self, label: impl Fn(&str) -> Option<S>) -> bool {
        self.requirements
            .iter()
            .all(|(key, test)| test.holds(label(key).as_ref().map(AsRef::as_ref)))
    }
}

impl Test {
    fn holds(&self, value: Option<&str>) -> bool {
        let integer = || value.and_then(|text| text.parse::<i64>().ok());
        match self {
            Self::In(values) => value.is_some_and(|text| values.contains(text)),
            Self::NotIn(values) => value.is_none_or(|text| !values.contains(text)),
            Self::Exists => value.is_some(),
            Self::DoesNotExist => value.is_none(),
            Self::GreaterThan(bound) => integer().is_some_and(|number| number > *bound),
            Self::LessThan(bound) => integer().is_some_and(|number| number < *bound),
        }
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (key, test)) in self.requirements.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            let list =
                |values: &BTreeSet<String>| values.iter().cloned().collect::<Vec<_>>().join(",");
            match test {
                Test::In(values) if values.len() == 1 => write!(f, "{key}={}", list(values))?,
                Test::In(values) => write!(f, "{key} in ({})", list(values))?,
                Test::NotIn(values) if values.len() == 1 => write!(f, "{key}!={}", list(values))?,
                Test::NotIn(values) => write!(f, "{key} notin ({})", list(values))?,
                Test::Exists => f.write_str(key)?,
                Test::DoesNotExist => write!(f, "!{key}")?,
                Test::GreaterThan(bound) => write!(f, "{key}>{bound}")?,
                Test::LessThan(bound) => write!(f, "{key}<{bound}")?,
            }
        }
        Ok(())
    }
}

impl FromStr for LabelSelector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        let mut tokens = Tokens { rest: text };
        let mut requirements = Vec::new();
        match tokens.peek() {
            "" => return Ok(Self::default()),
            _ if tokens.starts_requirement() => {}
            found => return Err(expected(found, "!, identifier, or 'end of string'")),
        }
        loop {
            let requirement = requirement(&mut tokens)
                .map_err(|SelectorError(why)| wrong(format!("unable to parse requirement: {why}")));
            requirements.push(requirement?);
            match tokens.next() {
                "" => return Ok(Self::new(requirements)),
                "," if tokens.starts_requirement() => {}
                "," => return Err(expected(tokens.peek(), "identifier after ','")),
                found => return Err(expected(found, "',' or 'end of string'")),
            }
        }
    }
}

/// The operators of the grammar. Of two that match, the first one counts.
const SYMBOLS: [&str; 9] = ["==", "!=", "=", "!", "<", ">", "(", ")", ","];

/// The white space of the grammar.
const SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

/// Splits a label selector into operators and words. An empty token marks the end.
struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Tokens<'a> {
    fn peek(&self) -> &'a str {
        let rest = self.rest.trim_start_matches(SPACE);
        let mut symbols = SYMBOLS.iter();
        if let Some(found) = symbols.find(|symbol| rest.starts_with(**symbol)) {
            return &rest[..found.len()];
        }
        let end = rest.find(|c: char| SPACE.contains(&c) || "=!<>(),".contains(c));
        &rest[..end.unwrap_or(rest.len())]
    }

    fn next(&mut self) -> &'a str {
        let token = self.peek();
        self.rest = &self.rest.trim_start_matches(SPACE)[token.len()..];
        token
    }

    fn next_is_word(&self) -> bool {
        is_word(self.peek())
    }

    fn starts_requirement(&self) -> bool {
        self.next_is_word() || self.peek() == "!"
    }
}

/// Whether a token is a word. `in` and `notin` are words too: only after a key are they operators.
fn is_word(token: &str) -> bool {
    !token.is_empty() && !SYMBOLS.contains(&token)
}

fn wrong(text: impl Into<String>) -> SelectorError {
    SelectorError(text.into())
}

fn expected(found: &str, tokens: &str) -> SelectorError {
    wrong(format!("found '{found}', expected: {tokens}"))
}

fn requirement(tokens: &mut Tokens<'_>) -> Result<(String, Test), SelectorError> {
    let is_negated = tokens.peek() == "!";
    if is_negated {
        tokens.next();
    }
    let key = key(tokens)?;
    if is_negated {
        return Ok((key, Test::DoesNotExist));
    }
    if matches!(tokens.peek(), "" | ",") {
        return Ok((key, Test::Exists));
    }
    let test = match tokens.next() {
        "=" | "==" => Test::In(checked(&key, [exact_value(tokens)?].into())?),
        "!=" => Test::NotIn(checked(&key, [exact_value(tokens)?].into())?),
        ">" => Test::GreaterThan(bound(&key, &exact_value(tokens)?)?),
        "<" => Test::LessThan(bound(&key, &exact_value(tokens)?)?),
        "in" => Test::In(checked(&key, values(tokens)?)?),
        "notin" => Test::NotIn(checked(&key, values(tokens)?)?),
        found => return Err(expected(found, "in, notin, =, ==, !=, gt, lt")),
    };
    Ok((key, test))
}

fn key(tokens: &mut Tokens<'_>) -> Result<String, SelectorError> {
    let key = tokens.next();
    if !is_word(key) {
        return Err(expected(key, "identifier"));
    }
    let faults = key_faults(key);
    if faults.is_empty() {
        return Ok(key.to_owned());
    }
    // Kubernetes' parser has no path to name here.
    let faults = faults.join("; ");
    Err(wrong(format!("<nil>: Invalid value: {key:?}: {faults}")))
}

/// The value after an operator. Without a word it is the empty value, as in `app=`.
fn exact_value(tokens: &mut Tokens<'_>) -> Result<String, SelectorError> {
    match tokens.peek() {
        "" | "," => Ok(String::new()),
        _ => match tokens.next() {
            word if is_word(word) => Ok(word.to_owned()),
            found => Err(expected(found, "identifier")),
        },
    }
}

/// The values in parentheses. Where a value is missing, it is the empty value.
fn values(tokens: &mut Tokens<'_>) -> Result<BTreeSet<String>, SelectorError> {
    match tokens.next() {
        "(" => {}
        found => return Err(wrong(format!("found '{found}' expected: '('"))),
    }
    let mut values = BTreeSet::new();
    match tokens.peek() {
        ")" => {
            values.insert(String::new());
        }
        "," => {}
        _ if tokens.next_is_word() => {}
        found => return Err(expected(found, "',', ')' or identifier")),
    }
    while tokens.peek() != ")" {
        match tokens.next() {
            "," => {
                if values.is_empty() || matches!(tokens.peek(), "," | ")") {
                    values.insert(String::new());
                }
            }
            word if is_word(word) => {
                values.insert(word.to_owned());
                if !matches!(tokens.peek(), "," | ")") {
                    return Err(expected(tokens.peek(), "',' or ')'"));
                }
            }
            found => return Err(expected(found, "',', or identifier")),
        }
    }
    tokens.next();
    Ok(values)
}

/// The values, if all of them can be the value of a label.
fn checked(key: &str, values: BTreeSet<String>) -> Result<BTreeSet<String>, SelectorError> {
    match all_faults(key, values.iter()) {
        faults if faults.is_empty() => Ok(values),
        faults => Err(several(&faults)),
    }
}

/// The bound of `>` or `<`: an integer that can be the value of a label.
fn bound(key: &str, value: &String) -> Result<i64, SelectorError> {
    let number = value.parse();
    let not_integer = number.is_err().then(|| {
        format!(
            "values[0]: Invalid value: {value:?}: for 'Gt', 'Lt' operators, the value must be an integer"
        )
    });
    let faults = not_integer.into_iter().chain(all_faults(key, [value]));
    let faults: Vec<String> = faults.collect();
    match number {
        Ok(number) if faults.is_empty() => Ok(number),
        _ => Err(several(&faults)),
    }
}

fn all_faults<'v>(key: &str, values: impl IntoIterator<Item = &'v String>) -> Vec<String> {
    let faults = values.into_iter().enumerate().filter_map(|(at, value)| {
        let fault = value_fault(value)?;
        Some(format!(
            "values[{at}][{key}]: Invalid value: {value:?}: {fault}"
        ))
    });
    faults.collect()
}

/// One error for several faults, as Kubernetes joins them.
fn several(faults: &[String]) -> SelectorError {
    match faults {
        [one] => wrong(one.as_str()),
        all => wrong(format!("[{}]", all.join(", "))),
    }
}

/// What a name consists of.
const NAME: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
    alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
/// What a prefix of a key consists of.
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and \
    must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
/// What a value consists of.
const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
    start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for \
    validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// The most bytes of a name and of a value.
const LONGEST: usize = 63;
/// The most bytes of a prefix.
const LONGEST_PREFIX: usize = 253;

/// What is wrong with the key of a label, such as `app` or `example.com/app`.
fn key_faults(key: &str) -> Vec<String> {
    let parts: Vec<&str> = key.split('/').collect();
    let (prefix, name) = match parts[..] {
        [name] => (None, name),
        [prefix, name] => (Some(prefix), name),
        _ => {
            return vec![format!(
                "a valid label key {NAME} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    let mut faults = Vec::new();
    if let Some(prefix) = prefix {
        if prefix.is_empty() {
            faults.push("prefix part must be non-empty".to_owned());
        } else {
            faults.extend(
                too_long(prefix, LONGEST_PREFIX).map(|fault| format!("prefix part {fault}")),
            );
            if !is_subdomain(prefix) {
                faults.push(format!("prefix part {SUBDOMAIN}"));
            }
        }
    }
    if name.is_empty() {
        faults.push("name part must be non-empty".to_owned());
    }
    faults.extend(too_long(name, LONGEST).map(|fault| format!("name part {fault}")));
    if name.is_empty() || !is_name(name) {
        faults.push(format!("name part {NAME}"));
    }
    faults
}

/// What is wrong with the value of a label; `None` if it is valid.
fn value_fault(value: &str) -> Option<String> {
    let is_invalid = !is_name(value);
    let faults = too_long(value, LONGEST).into_iter();
    let faults: Vec<String> = faults.chain(is_invalid.then(|| VALUE.to_owned())).collect();
    (!faults.is_empty()).then(|| faults.join("; "))
}

fn too_long(text: &str, longest: usize) -> Option<String> {
    (text.len() > longest).then(|| format!("must be no more than {longest} bytes"))
}

/// Whether a text is empty or consists of `[A-Za-z0-9._-]`, and is alphanumeric at both ends.
fn is_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut ends = bytes.first().into_iter().chain(bytes.last());
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    ends.all(u8::is_ascii_alphanumeric) && bytes.iter().all(is_part)
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(|label| {
        let bytes = label.as_bytes();
        let is_end = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let ends = [bytes.first(), bytes.last()];
        ends.iter().all(|end| end.is_some_and(is_end))
            && bytes.iter().all(|byte| is_end(byte) || *byte == b'-')
    })
}

/// Reads a meta/v1 `LabelSelector`, as in `spec.selector` of workloads. An empty one selects everything. `None`
/// selects nothing: the value is not a selector, or the API would refuse an expression in it.
pub fn label_selector(selector: Value<'_>) -> Option<LabelSelector> {
    if selector.kind() != Kind::Object {
        return None;
    }
    let labels = match selector
        .get("matchLabels")
        .filter(|labels| !labels.is_null())
    {
        Some(labels) => equalities(labels)?,
        None => Vec::new(),
    };
    let expressions = match selector
        .get("matchExpressions")
        .filter(|expressions| !expressions.is_null())
    {
        Some(expressions) if expressions.kind() == Kind::Array => expressions
            .items()
            .map(expression)
            .collect::<Option<Vec<_>>>()?,
        Some(_) => return None,
        None => Vec::new(),
    };
    Some(LabelSelector::new(labels.into_iter().chain(expressions)))
}

/// Reads a plain map of labels, as in `spec.selector` of Services. `None` selects nothing: the value is not such
/// a map, or it is empty.
pub fn map_selector(selector: Value<'_>) -> Option<LabelSelector> {
    equalities(selector)
        .filter(|labels| !labels.is_empty())
        .map(LabelSelector::new)
}

/// Reads one term of a core/v1 `NodeSelector`. `None` if the API would refuse an expression in it.
pub fn node_selector_term(term: Value<'_>) -> Option<LabelSelector> {
    let expressions = term.items_at(&["matchExpressions"]);
    let requirements: Option<Vec<_>> = expressions.map(expression).collect();
    requirements.map(LabelSelector::new)
}

fn equalities(labels: Value<'_>) -> Option<Vec<(String, Test)>> {
    if labels.kind() != Kind::Object {
        return None;
    }
    labels
        .fields()
        .map(|(key, value)| {
            let value = value.as_str()?.into_owned();
            Some((key.into_owned(), Test::In(BTreeSet::from([value]))))
        })
        .collect()
}

fn expression(expression: Value<'_>) -> Option<(String, Test)> {
    let key = expression.str_at(&["key"])?.into_owned();
    let values: BTreeSet<_> = expression
        .items_at(&["values"])
        .map(|value| value.as_str().map(std::borrow::Cow::into_owned))
        .collect::<Option<_>>()?;
    let bound = || values.first()?.parse().ok();
    let test = match (&*expression.str_at(&["operator"])?, values.is_empty()) {
        ("Gt", false) => Test::GreaterThan(bound()?),
        ("Lt", false) => Test::LessThan(bound()?),
        ("In", false) => Test::In(values),
        ("NotIn", false) => Test::NotIn(values),
        ("Exists", true) => Test::Exists,
        ("DoesNotExist", true) => Test::DoesNotExist,
        _ => return None,
    };
    Some((key, test))
}
