//! Which objects of a resource a source reads. Equal selections have one spelling, so that they share a source.

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;

use crate::object::Value;
use crate::object::selector::{FieldSelector, LabelSelector, SelectableFields, by_name};

/// The field that holds an object's name.
const NAME: &str = "metadata.name";
/// The fields that never change while an object exists.
const FIXED: [&str; 2] = [NAME, "metadata.namespace"];

/// Which objects of a resource a source reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Select {
    /// Every object.
    All,
    /// The one object with this name. The name may hold any character.
    Name(Arc<str>),
    /// The objects that match selectors.
    Selector(Selectors),
}

/// A label selector, a field selector, or both, in canonical spelling. [`Select::matching`] creates it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Selectors {
    labels: Option<Arc<str>>,
    fields: Option<Arc<str>>,
}

impl Select {
    /// The objects that match a label selector and a field selector, even if the latter selects one name: nobody expects
    /// that such an object exists. A selector that does not parse is kept as it is, so that the server reports the error.
    pub fn matching(labels: Option<&str>, fields: Option<&str>) -> Select {
        let labels = labels.and_then(spelled::<LabelSelector>);
        let fields = fields.and_then(spelled::<FieldSelector>);
        match (&labels, &fields) {
            (None, None) => Select::All,
            (Some(_), _) | (_, Some(_)) => Select::Selector(Selectors { labels, fields }),
        }
    }

    /// The objects that match a label selector.
    pub fn labelled(labels: &str) -> Select {
        Select::matching(Some(labels), None)
    }

    /// The name, if this selects one name.
    pub fn name(&self) -> Option<&str> {
        match self {
            Select::Name(name) => Some(name),
            Select::All | Select::Selector(_) => None,
        }
    }

    /// The label selector for a request.
    pub fn label_selector(&self) -> Option<&str> {
        match self {
            Select::Selector(selectors) => selectors.labels.as_deref(),
            Select::All | Select::Name(_) => None,
        }
    }

    /// The field selector for a request.
    pub fn field_selector(&self) -> Option<Cow<'_, str>> {
        match self {
            Select::All => None,
            Select::Name(name) => Some(by_name(name).into()),
            Select::Selector(selectors) => selectors.fields.as_deref().map(Cow::Borrowed),
        }
    }

    /// The same selection, restricted to the object with this name.
    pub(crate) fn and_name(&self, name: &Arc<str>) -> Select {
        let selectors = match self {
            Select::All | Select::Name(_) => return Select::Name(name.clone()),
            Select::Selector(selectors) => selectors,
        };
        let by_name = by_name(name);
        let fields = match &selectors.fields {
            _ if self.is_of_one_name() => return self.clone(),
            None => by_name,
            Some(fields) => format!("{fields},{by_name}"),
        };
        Select::matching(selectors.labels.as_deref(), Some(&fields))
    }

    /// Whether all selected objects have the same name. Two objects of one namespace cannot share it.
    pub(crate) fn is_of_one_name(&self) -> bool {
        self.only_name().is_some()
    }

    /// The name that all selected objects have, if there is one.
    pub(crate) fn only_name(&self) -> Option<Arc<str>> {
        match self {
            Select::All => None,
            Select::Name(name) => Some(name.clone()),
            Select::Selector(selectors) => {
                let fields: FieldSelector = read(selectors.fields.as_deref()?)?;
                fields.required(NAME).map(Into::into)
            }
        }
    }

    /// Whether a cache can select by it as the server does: its labels parse, and its fields are the name and the namespace.
    pub(crate) fn is_of_every_server(&self) -> bool {
        let Select::Selector(Selectors { labels, fields }) = self else {
            return true;
        };
        let is_valid = |labels| read::<LabelSelector>(labels).is_some();
        let is_fixed = |fields: FieldSelector| {
            let mut terms = fields.terms().iter();
            terms.all(|term| FIXED.contains(&&*term.field))
        };
        labels.as_deref().is_none_or(is_valid)
            && fields
                .as_deref()
                .is_none_or(|fields| read(fields).is_some_and(is_fixed))
    }

    /// Whether an object can stop matching. Its name and namespace never change.
    pub(crate) fn can_leave(&self) -> bool {
        let Select::Selector(Selectors { labels, fields }) = self else {
            return false;
        };
        let is_fixed = |fields: FieldSelector| {
            let mut terms = fields.terms().iter();
            terms.all(|term| FIXED.contains(&&*term.field))
        };
        let fields = fields.as_deref();
        labels.is_some() || fields.is_some_and(|fields| !read(fields).is_some_and(is_fixed))
    }
}

/// Applies a selection to objects, for sources that are not servers.
pub(crate) struct Matcher<'a> {
    name: Option<&'a str>,
    /// `None` if it does not parse.
    labels: Option<LabelSelector>,
    /// `None` if it does not parse.
    fields: Option<FieldSelector>,
}

impl<'a> Matcher<'a> {
    /// Creates a matcher. A selector that does not parse selects nothing.
    pub(crate) fn new(select: &'a Select) -> Matcher<'a> {
        let (labels, fields) = match select {
            Select::Selector(Selectors { labels, fields }) => {
                (labels.as_deref(), fields.as_deref())
            }
            Select::All | Select::Name(_) => (None, None),
        };
        Matcher {
            name: select.name(),
            labels: read(labels.unwrap_or_default()),
            fields: read(fields.unwrap_or_default()),
        }
    }

    /// Whether an object is selected, with the values that a server compares. A field that no server supports is a path here.
    pub(crate) fn matches(&self, object: Value<'_>) -> bool {
        let is_named = |name| object.str_at(&["metadata", "name"]).as_deref() == Some(name);
        let labels = object.at(&["metadata", "labels"]);
        let label = |key: &str| labels.and_then(|labels| labels.get(key)?.as_str());
        let at = |path: &str| {
            let value = path.split('.').try_fold(object, Value::get)?;
            Some(value.as_str().unwrap_or(Cow::Borrowed(value.raw())))
        };
        let field = |label: &str| {
            let api_version = object.str_at(&["apiVersion"]).unwrap_or_default();
            let kind = object.str_at(&["kind"]).unwrap_or_default();
            let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
            SelectableFields::of(group, &kind).value(label, at)
        };
        self.name.is_none_or(is_named)
            && (self.labels.as_ref()).is_some_and(|selector| selector.matches(label))
            && (self.fields.as_ref()).is_some_and(|selector| selector.matches(field))
    }
}

fn read<S: FromStr>(text: &str) -> Option<S> {
    text.parse().ok()
}

/// The canonical spelling of a selector; `None` if it selects everything.
fn spelled<S: FromStr + Display>(text: &str) -> Option<Arc<str>> {
    let text = text.trim();
    let canonical = read(text).map_or_else(|| text.to_owned(), |read: S| read.to_string());
    (!canonical.is_empty()).then(|| canonical.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Doc;

    /// The label selector and the field selector of the request for a selection.
    fn asked(select: &Select) -> String {
        let labels = select.label_selector().unwrap_or("-");
        let fields = select.field_selector().unwrap_or("-".into());
        format!("{labels} {fields}")
    }

    #[test]
    fn equal_selectors_are_spelled_alike() {
        for (labels, fields, request) in [
            ("", " ", "- -"),
            (" a = b ", "", "a=b -"),
            ("b==2,a=1", "", "a=1,b=2 -"),
            ("a in (y, x,y)", "", "a in (x,y) -"),
            ("a in (x", "", "a in (x -"),
            ("", "metadata.name==x", "- metadata.name=x"),
            ("", "b=2,metadata.name=x", "- b=2,metadata.name=x"),
            ("a=b", "metadata.name=x", "a=b metadata.name=x"),
            ("", "a=b=c", "- a=b=c"),
        ] {
            let select = Select::matching(Some(labels), Some(fields));
            assert_eq!(asked(&select), request, "{labels} {fields}");
        }
        assert_eq!(Select::matching(None, Some(" ")), Select::All);
    }

    #[test]
    fn a_name_may_contain_selector_syntax() {
        for name in ["web", "a,b", "a=b", r"a\b", "metadata.name=x,y"] {
            let select = Select::Name(name.into());
            let fields = select.field_selector().expect("a name");
            let selected = Select::matching(None, Some(&fields));
            assert_eq!(selected.field_selector(), Some(fields.clone()), "{name}");
            assert!(selected.is_of_one_name() && selected.name().is_none());
            assert_eq!(select.name(), Some(name));
            let narrowed = Select::labelled("a=b").and_name(&name.into());
            assert_eq!(narrowed.field_selector(), Some(fields), "{name}");
            assert!(narrowed.is_of_one_name() && narrowed.can_leave());
            assert_eq!(narrowed.and_name(&name.into()), narrowed);
        }
    }

    #[test]
    fn an_object_leaves_only_a_selection_by_changing_fields() {
        for (fields, can_leave) in [
            ("metadata.name=x", false),
            ("metadata.name!=x", false),
            ("metadata.name=x,metadata.namespace=y", false),
            (r"metadata.name=a\,status.phase", false),
            ("metadata.name=x,status.phase=Running", true),
            ("a=b=c", true),
        ] {
            let select = Select::matching(None, Some(fields));
            assert_eq!(select.can_leave(), can_leave, "{fields}");
        }
        assert!(Select::labelled("a=b").can_leave() && !Select::All.can_leave());
    }

    #[test]
    fn an_absent_field_has_the_value_of_the_server() {
        for (object, fields) in [
            (
                r#""apiVersion":"v1","kind":"Node""#,
                "spec.unschedulable=false",
            ),
            (
                r#""apiVersion":"v1","kind":"Pod""#,
                "spec.hostNetwork=false,spec.restartPolicy=Always",
            ),
            (
                r#""apiVersion":"v1","kind":"Pod","spec":{"nodeName":"a"}"#,
                "spec.host=a",
            ),
            (
                r#""apiVersion":"v1","kind":"Pod","status":{"podIPs":[{"ip":"1"}]}"#,
                "status.podIPs=",
            ),
            (
                r#""apiVersion":"v1","kind":"Event","source":{"component":"a"}"#,
                "source=a",
            ),
            (
                r#""apiVersion":"v1","kind":"Event","source":{},"reportingComponent":"b""#,
                "source=b,reportingComponent=b",
            ),
            (r#""apiVersion":"v1","kind":"Event""#, "source="),
            (
                r#""apiVersion":"batch/v1","kind":"Job""#,
                "status.successful=0",
            ),
            (
                r#""apiVersion":"batch/v1","kind":"Job","status":{"succeeded":2}"#,
                "status.successful=2",
            ),
        ] {
            let doc = Doc::parse(format!("{{{object}}}")).expect("valid");
            let matches = |fields: &str| {
                let select = Select::matching(None, Some(fields));
                Matcher::new(&select).matches(doc.root())
            };
            assert!(matches(fields), "{object} {fields}");
            for term in fields.split(',') {
                let other = term.replacen('=', "!=", 1);
                assert!(!matches(&other), "{object} {other}");
            }
        }
    }

    #[test]
    fn fields_are_found_by_their_path() {
        let doc = Doc::parse(r#"{"metadata":{"name":"x","labels":{"app":"web"}},"spec":{"n":3}}"#)
            .expect("valid");
        for (labels, fields, matches) in [
            ("", "metadata.name=x", true),
            ("", "metadata.name=y", false),
            ("", "metadata.name!=x", false),
            ("", "spec.n=3,spec.nodeName=", true),
            ("", "spec.nodeName!=", false),
            ("app=web,!tier", "", true),
            ("app in (db)", "", false),
            ("app=web,", "", false),
            ("", "metadata.name", false),
        ] {
            let select = Select::matching(Some(labels), Some(fields));
            let matcher = Matcher::new(&select);
            assert_eq!(matcher.matches(doc.root()), matches, "{labels} {fields}");
        }
    }
}
