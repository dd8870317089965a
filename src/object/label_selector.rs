//! Reads selectors in objects: `matchLabels` and `matchExpressions`, or a plain map.

use std::collections::BTreeSet;

use super::selector::{LabelSelector, Test};
use super::tape::Kind;
use super::value::Value;

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

#[cfg(test)]
mod tests {
    use super::super::Doc;
    use super::*;

    fn read(text: &str, with: fn(Value<'_>) -> Option<LabelSelector>) -> String {
        let doc = Doc::parse(text).expect("a case is JSON");
        with(doc.root()).map_or("nothing".to_owned(), |selector| selector.to_string())
    }

    #[test]
    fn a_label_selector() {
        for (text, expect) in [
            ("{}", ""),
            (r#"{"matchLabels":null,"matchExpressions":null}"#, ""),
            (
                r#"{"matchLabels":{"app":"web"},"matchExpressions":[
                    {"key":"tier","operator":"In","values":["b","a"]},
                    {"key":"zone","operator":"NotIn","values":["x"]},
                    {"key":"new","operator":"Exists"},
                    {"key":"old","operator":"DoesNotExist","values":[]}]}"#,
                "app=web,new,!old,tier in (a,b),zone!=x",
            ),
            ("null", "nothing"),
            (r#"{"matchLabels":{"app":1}}"#, "nothing"),
            (r#"{"matchLabels":[]}"#, "nothing"),
            (r#"{"matchExpressions":{}}"#, "nothing"),
            (
                r#"{"matchExpressions":[{"key":"a","operator":"In"}]}"#,
                "nothing",
            ),
            (
                r#"{"matchExpressions":[{"key":"a","operator":"Like","values":["b"]}]}"#,
                "nothing",
            ),
        ] {
            assert_eq!(read(text, label_selector), expect, "{text}");
        }
    }

    #[test]
    fn a_map_of_labels() {
        for (text, expect) in [
            (r#"{"tier":"back","app":"web"}"#, "app=web,tier=back"),
            ("{}", "nothing"),
            ("null", "nothing"),
            (r#"{"app":null}"#, "nothing"),
        ] {
            assert_eq!(read(text, map_selector), expect, "{text}");
        }
    }
}
