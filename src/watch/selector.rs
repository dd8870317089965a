//! Selectors in one spelling, so that equal ones open one source; and what they match, for sources
//! that are no servers.

use std::borrow::Cow;
use std::sync::Arc;

use super::key::SourceKey;
use crate::object::Value;

/// The key with its selectors spelled canonically.
pub(super) fn canonical(key: SourceKey) -> SourceKey {
    SourceKey {
        labels: key.labels.as_deref().and_then(canonical_labels),
        fields: key.fields.as_deref().and_then(canonical_fields),
        ..key
    }
}

/// One requirement of a label selector
/// (<https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors>).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Requirement<'a> {
    In(&'a str, Vec<&'a str>),
    NotIn(&'a str, Vec<&'a str>),
    Exists(&'a str),
    Absent(&'a str),
}

/// A label selector that could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Labels<'a>(Vec<Requirement<'a>>);

impl<'a> Labels<'a> {
    /// Reads a selector; `None` if it is not one we understand. The server then says so in its words.
    pub(super) fn parse(text: &'a str) -> Option<Labels<'a>> {
        let mut requirements = Vec::new();
        for part in split_outside_brackets(text) {
            requirements.push(requirement(part.trim())?);
        }
        requirements.sort();
        requirements.dedup();
        Some(Labels(requirements))
    }

    /// Whether an object matches.
    pub(super) fn matches(&self, object: Value<'_>) -> bool {
        let labels = object.at(&["metadata", "labels"]);
        let label = |key: &str| labels.and_then(|labels| labels.get(key)?.as_str());
        self.0.iter().all(|requirement| match requirement {
            Requirement::In(key, values) => {
                label(key).is_some_and(|value| values.contains(&&*value))
            }
            Requirement::NotIn(key, values) => {
                label(key).is_none_or(|value| !values.contains(&&*value))
            }
            Requirement::Exists(key) => label(key).is_some(),
            Requirement::Absent(key) => label(key).is_none(),
        })
    }

    fn spelled(&self) -> String {
        let parts: Vec<String> = self.0.iter().map(spell).collect();
        parts.join(",")
    }
}

fn canonical_labels(text: &str) -> Option<Arc<str>> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let labels = Labels::parse(text);
    Some(labels.map_or_else(|| text.into(), |labels| labels.spelled().into()))
}

fn spell(requirement: &Requirement<'_>) -> String {
    match requirement {
        Requirement::In(key, values) => match values[..] {
            [value] => format!("{key}={value}"),
            _ => format!("{key} in ({})", values.join(",")),
        },
        Requirement::NotIn(key, values) => match values[..] {
            [value] => format!("{key}!={value}"),
            _ => format!("{key} notin ({})", values.join(",")),
        },
        Requirement::Exists(key) => (*key).to_owned(),
        Requirement::Absent(key) => format!("!{key}"),
    }
}

fn requirement(part: &str) -> Option<Requirement<'_>> {
    if let Some(key) = part.strip_prefix('!') {
        return name(key).map(Requirement::Absent);
    }
    if let Some((head, values)) = part.split_once('(') {
        let values = values.strip_suffix(')')?;
        let mut values: Vec<&str> = values.split(',').map(value).collect::<Option<_>>()?;
        values.sort_unstable();
        values.dedup();
        let (key, operator) = head.trim().rsplit_once(char::is_whitespace)?;
        let key = name(key)?;
        return match operator {
            "in" => Some(Requirement::In(key, values)),
            "notin" => Some(Requirement::NotIn(key, values)),
            _ => None,
        };
    }
    if let Some((key, found)) = part.split_once("!=") {
        return Some(Requirement::NotIn(name(key)?, vec![value(found)?]));
    }
    if let Some((key, found)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return Some(Requirement::In(name(key)?, vec![value(found)?]));
    }
    name(part).map(Requirement::Exists)
}

fn name(text: &str) -> Option<&str> {
    let text = text.trim();
    (!text.is_empty() && plain(text)).then_some(text)
}

fn value(text: &str) -> Option<&str> {
    let text = text.trim();
    plain(text).then_some(text)
}

fn plain(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'/'))
}

fn split_outside_brackets(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_u32;
    text.split(move |letter| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    })
}

/// One requirement of a field selector: a path, whether it must be equal, and the value.
pub(super) struct Field {
    path: String,
    equal: bool,
    value: String,
}

/// Reads a field selector; `None` if it is not one.
pub(super) fn fields(text: &str) -> Option<Vec<Field>> {
    split_unescaped(text).map(field).collect()
}

impl Field {
    /// Whether an object matches. A field that is absent is the empty text.
    pub(super) fn matches(&self, object: Value<'_>) -> bool {
        let found = self.path.split('.').try_fold(object, Value::get);
        let found = found.map_or(Cow::Borrowed(""), |value| {
            value.as_str().unwrap_or(Cow::Borrowed(value.raw()))
        });
        (found == self.value) == self.equal
    }
}

fn canonical_fields(text: &str) -> Option<Arc<str>> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let mut parts: Option<Vec<String>> = split_unescaped(text)
        .map(|part| {
            let (path, operator, value) = split_field(part.trim())?;
            Some(format!("{}{operator}{value}", path.trim()))
        })
        .collect();
    if let Some(parts) = &mut parts {
        parts.sort();
        parts.dedup();
    }
    Some(parts.map_or_else(|| text.into(), |parts| parts.join(",").into()))
}

fn field(part: &str) -> Option<Field> {
    let (path, operator, value) = split_field(part.trim())?;
    Some(Field {
        path: path.trim().to_owned(),
        equal: operator == "=",
        value: unescaped(value),
    })
}

fn split_field(part: &str) -> Option<(&str, &'static str, &str)> {
    let (path, value) = part.split_once('=')?;
    Some(match path.strip_suffix('!') {
        Some(path) => (path, "!=", value),
        None => (path, "=", value.strip_prefix('=').unwrap_or(value)),
    })
}

/// The parts between commas; `\,` is no comma.
fn split_unescaped(text: &str) -> impl Iterator<Item = &str> {
    let mut escaped = false;
    text.split(move |letter| {
        let ends = letter == ',' && !escaped;
        escaped = letter == '\\' && !escaped;
        ends
    })
}

fn unescaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        text.push(match letter {
            '\\' => letters.next().unwrap_or('\\'),
            _ => letter,
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Doc;

    #[test]
    fn equal_selectors_have_one_spelling() {
        for (text, canonical) in [
            ("", None),
            (" a = b ", Some("a=b")),
            ("b==2,a=1", Some("a=1,b=2")),
            ("a in (y, x,y)", Some("a in (x,y)")),
            ("a in (x)", Some("a=x")),
            ("a notin (x)", Some("a!=x")),
            ("!a , app.k8s.io/b,a!=", Some("a!=,app.k8s.io/b,!a")),
            ("a>1,b", Some("a>1,b")),
            ("a in (x", Some("a in (x")),
        ] {
            assert_eq!(canonical_labels(text).as_deref(), canonical, "{text}");
        }
        for (text, canonical) in [
            (" ", None),
            ("metadata.name==x", Some("metadata.name=x")),
            (
                "status.phase!=Running,metadata.name=x",
                Some("metadata.name=x,status.phase!=Running"),
            ),
            (r"b=x\,y,a=1", Some(r"a=1,b=x\,y")),
        ] {
            assert_eq!(canonical_fields(text).as_deref(), canonical, "{text}");
        }
    }

    #[test]
    fn selectors_match_as_the_server_does() {
        let doc = Doc::parse(
            r#"{"metadata":{"name":"x","labels":{"app":"web","tier":""}},"spec":{"n":3}}"#,
        )
        .expect("valid");
        for (text, matches) in [
            ("app=web", true),
            ("app in (db,web)", true),
            ("app!=web", false),
            ("other!=web", true),
            ("other notin (a,b)", true),
            ("tier", true),
            ("tier=", true),
            ("!tier", false),
            ("app=web,!other", true),
            ("app=web,other", false),
        ] {
            let labels = Labels::parse(text).expect("a selector");
            assert_eq!(labels.matches(doc.root()), matches, "{text}");
        }
        for (text, matches) in [
            ("metadata.name=x", true),
            ("metadata.name!=x", false),
            ("spec.n=3,spec.nodeName=", true),
            ("spec.nodeName!=", false),
        ] {
            let fields = fields(text).expect("a selector");
            let all = fields.iter().all(|field| field.matches(doc.root()));
            assert_eq!(all, matches, "{text}");
        }
    }
}
