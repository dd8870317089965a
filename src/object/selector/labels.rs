//! Label selectors: `app=web,tier in (front,back),!legacy`.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use super::SelectorError;

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
        if tokens.peek().is_empty() {
            return Ok(Self::default());
        }
        loop {
            requirements.push(requirement(&mut tokens)?);
            match tokens.next() {
                "" => return Ok(Self::new(requirements)),
                "," => {}
                found => return Err(unexpected(found, "',' or the end of the selector")),
            }
        }
    }
}

/// Splits a label selector into operators and words. An empty token marks the end.
struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Tokens<'a> {
    fn peek(&self) -> &'a str {
        let rest = self.rest.trim_start();
        let operator = ["==", "!=", "=", "!", "<", ">", "(", ")", ","];
        if let Some(found) = operator.iter().find(|symbol| rest.starts_with(**symbol)) {
            return &rest[..found.len()];
        }
        let end = rest
            .find(|c: char| c.is_whitespace() || "=!<>(),".contains(c))
            .unwrap_or(rest.len());
        &rest[..end]
    }

    fn next(&mut self) -> &'a str {
        let token = self.peek();
        self.rest = &self.rest.trim_start()[token.len()..];
        token
    }

    fn next_is_word(&self) -> bool {
        self.peek()
            .chars()
            .next()
            .is_some_and(|c| !"=!<>(),".contains(c))
    }
}

fn unexpected(found: &str, expected: &'static str) -> SelectorError {
    SelectorError::Unexpected {
        found: found.to_owned(),
        expected,
    }
}

fn requirement(tokens: &mut Tokens<'_>) -> Result<(String, Test), SelectorError> {
    if tokens.peek() == "!" {
        tokens.next();
        return Ok((key(tokens)?, Test::DoesNotExist));
    }
    let key = key(tokens)?;
    let test = match tokens.peek() {
        "" | "," => Test::Exists,
        "=" | "==" => {
            tokens.next();
            Test::In(BTreeSet::from([value(tokens)?]))
        }
        "!=" => {
            tokens.next();
            Test::NotIn(BTreeSet::from([value(tokens)?]))
        }
        operator @ (">" | "<") => {
            tokens.next();
            let text = tokens.next();
            let bound = text
                .parse()
                .map_err(|_| SelectorError::Integer(text.to_owned()))?;
            if operator == ">" {
                Test::GreaterThan(bound)
            } else {
                Test::LessThan(bound)
            }
        }
        "in" => {
            tokens.next();
            Test::In(values(tokens)?)
        }
        "notin" => {
            tokens.next();
            Test::NotIn(values(tokens)?)
        }
        found => return Err(unexpected(found, "in, notin, =, ==, !=, gt, lt")),
    };
    Ok((key, test))
}

fn key(tokens: &mut Tokens<'_>) -> Result<String, SelectorError> {
    if !tokens.next_is_word() {
        return Err(unexpected(tokens.peek(), "!, identifier"));
    }
    let key = tokens.next();
    let (prefix, name) = key
        .rsplit_once('/')
        .map_or((None, key), |(prefix, name)| (Some(prefix), name));
    let prefix_holds = prefix.is_none_or(|prefix| {
        !prefix.is_empty()
            && prefix.len() <= 253
            && prefix
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-.".contains(c))
    });
    if name.is_empty() || !is_label_text(name) || !prefix_holds {
        return Err(SelectorError::Key(key.to_owned()));
    }
    Ok(key.to_owned())
}

/// Whether a text has at most 63 characters of `[A-Za-z0-9._-]`, and is alphanumeric at both ends. It may be
/// empty.
fn is_label_text(text: &str) -> bool {
    let ends = text
        .chars()
        .next()
        .into_iter()
        .chain(text.chars().next_back());
    text.len() <= 63
        && ends.into_iter().all(|c| c.is_ascii_alphanumeric())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// Parses one value. Without a token it is the empty value, as in `app=`.
fn value(tokens: &mut Tokens<'_>) -> Result<String, SelectorError> {
    let text = if tokens.next_is_word() {
        tokens.next()
    } else {
        ""
    };
    if is_label_text(text) {
        Ok(text.to_owned())
    } else {
        Err(SelectorError::Value(text.to_owned()))
    }
}

fn values(tokens: &mut Tokens<'_>) -> Result<BTreeSet<String>, SelectorError> {
    match tokens.next() {
        "(" => {}
        found => return Err(unexpected(found, "'('")),
    }
    let mut values = BTreeSet::new();
    loop {
        values.insert(value(tokens)?);
        match tokens.next() {
            ")" => return Ok(values),
            "," => {}
            found => return Err(unexpected(found, "',' or ')'")),
        }
    }
}
