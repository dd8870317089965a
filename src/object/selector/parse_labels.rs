//! The parser of label selectors. It accepts and refuses what Kubernetes' own does, with the same errors.

use std::collections::BTreeSet;
use std::str::FromStr;

use super::label_syntax::{key_faults, value_fault};
use super::{LabelSelector, SelectorError, Test};

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
