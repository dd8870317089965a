//! Selectors in one spelling, so that equal ones open one source; and what they match, for sources
//! that are no servers.

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;

use super::key::SourceKey;
use crate::object::Value;
use crate::object::selector::{FieldSelector, LabelSelector};

/// The key with its selectors spelled canonically.
pub(super) fn canonical(key: SourceKey) -> SourceKey {
    SourceKey {
        labels: key.labels.as_deref().and_then(spelled::<LabelSelector>),
        fields: key.fields.as_deref().and_then(spelled::<FieldSelector>),
        ..key
    }
}

/// A selector's canonical spelling; `None` if it selects everything. What cannot be read stays as it
/// is: the server then says so in its words.
fn spelled<S: FromStr + Display>(text: &str) -> Option<Arc<str>> {
    let text = text.trim();
    let canonical = text
        .parse::<S>()
        .map_or_else(|_| text.to_owned(), |read| read.to_string());
    (!canonical.is_empty()).then(|| canonical.into())
}

/// Whether an object has the labels that are asked for.
pub(super) fn matches_labels(selector: &LabelSelector, object: Value<'_>) -> bool {
    let labels = object.at(&["metadata", "labels"]);
    selector.matches(|key| labels.and_then(|labels| labels.get(key)?.as_str()))
}

/// Whether an object has the fields that are asked for: any path of fields, where a server knows but
/// a few.
pub(super) fn matches_fields(selector: &FieldSelector, object: Value<'_>) -> bool {
    selector.matches(|path| {
        let value = path.split('.').try_fold(object, Value::get)?;
        Some(value.as_str().unwrap_or(Cow::Borrowed(value.raw())))
    })
}

/// Whether an object can stop matching. Its name and namespace stay the same.
pub(super) fn can_leave(key: &SourceKey) -> bool {
    let changeable = |fields: &str| {
        fields.split(',').any(|field| {
            !field.starts_with("metadata.name=") && !field.starts_with("metadata.namespace=")
        })
    };
    key.labels.is_some() || key.fields.as_deref().is_some_and(changeable)
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
            ("a in (x", Some("a in (x")),
        ] {
            assert_eq!(
                spelled::<LabelSelector>(text).as_deref(),
                canonical,
                "{text}"
            );
        }
        for (text, canonical) in [
            (" ", None),
            ("metadata.name==x", Some("metadata.name=x")),
            ("b=2,metadata.name=x", Some("b=2,metadata.name=x")),
        ] {
            assert_eq!(
                spelled::<FieldSelector>(text).as_deref(),
                canonical,
                "{text}"
            );
        }
    }

    #[test]
    fn fields_are_looked_up_by_their_path() {
        let doc = Doc::parse(r#"{"metadata":{"name":"x","labels":{"app":"web"}},"spec":{"n":3}}"#)
            .expect("valid");
        for (text, matches) in [
            ("metadata.name=x", true),
            ("metadata.name!=x", false),
            ("spec.n=3,spec.nodeName=", true),
            ("spec.nodeName!=", false),
        ] {
            let selector: FieldSelector = text.parse().expect("a selector");
            assert_eq!(matches_fields(&selector, doc.root()), matches, "{text}");
        }
        for (text, matches) in [("app=web,!tier", true), ("app in (db)", false)] {
            let selector: LabelSelector = text.parse().expect("a selector");
            assert_eq!(matches_labels(&selector, doc.root()), matches, "{text}");
        }
    }
}
