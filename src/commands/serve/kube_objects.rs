//! `SelectedObjects`: which objects a request of the read API selects, and their texts as the API server writes them.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::stream::{self, StreamExt, unfold};
use http::header::CONTENT_TYPE;

use crate::object::{Doc, Resource, ResourceVersion};
use crate::serve::{ApiSelectors, ObjectForm};
use crate::source::{Matcher, Select, Version};

/// How many bytes of an answer are written at a time. More would be in memory for each reader.
pub(super) const PIECE: usize = 64 * 1024;

/// Which objects of a source a request selects, and how much of each it wants.
#[derive(Clone, Debug)]
pub(super) struct SelectedObjects {
    namespace: Option<String>,
    select: Select,
    form: ObjectForm,
}

impl SelectedObjects {
    /// `None` if only the API server can select by these selectors.
    pub(super) fn new(
        namespace: Option<&str>,
        selectors: &ApiSelectors,
        form: ObjectForm,
    ) -> Option<SelectedObjects> {
        let select = Select::matching(selectors.labels.as_deref(), selectors.fields.as_deref());
        select.is_of_every_server().then(|| SelectedObjects {
            namespace: namespace.map(str::to_owned),
            select,
            form,
        })
    }

    pub(super) fn has(&self, object: &Version) -> bool {
        let is_within = self.namespace.is_none()
            || self.namespace.as_deref() == object.object.namespace.as_deref();
        let matches = |doc: Doc| Matcher::new(&self.select).matches(doc.root());
        is_within && (self.select == Select::All || object.doc().is_ok_and(matches))
    }

    /// The JSON text of an object.
    pub(super) fn text(&self, object: &Version) -> Arc<str> {
        object_text(object, self.form)
    }

    /// The type of an object in bookmarks: `apiVersion` and `kind`.
    pub(super) fn type_of(&self, resource: &Resource) -> (String, String) {
        match self.form {
            ObjectForm::Whole => (resource.api_version(), resource.kind.to_string()),
            ObjectForm::Metadata => (META.to_owned(), PARTIAL.to_owned()),
        }
    }

    /// A list of those of these objects that are selected.
    pub(super) fn list(
        self,
        resource: &Resource,
        version: &ResourceVersion,
        objects: Vec<Arc<Version>>,
    ) -> Response {
        let (api_version, kind) = self.type_of(resource);
        let (api_version, kind) = (json(&api_version), json(&format!("{kind}List")));
        let version = json(version.as_str());
        let head = format!(
            "{{\"kind\":{kind},\"apiVersion\":{api_version},\"metadata\":{{\"resourceVersion\":{version}}},\"items\":["
        );
        let items = unfold(Some((objects.into_iter(), true)), move |state| {
            let piece = self.items(state);
            std::future::ready(piece)
        });
        let pieces = stream::iter([Bytes::from(head)]).chain(items);
        answer(Body::from_stream(pieces.map(Ok::<_, Infallible>)))
    }

    /// The next piece of a list. The objects are packed in memory, and each is unpacked when it is written.
    fn items(&self, state: ItemsLeft) -> Option<(Bytes, ItemsLeft)> {
        let (mut objects, mut is_first) = state?;
        let mut piece = String::new();
        while piece.len() < PIECE {
            let Some(object) = objects.next() else {
                piece.push_str("]}\n");
                return Some((Bytes::from(piece), None));
            };
            if self.has(&object) {
                if !is_first {
                    piece.push(',');
                }
                is_first = false;
                piece.push_str(&self.text(&object));
            }
        }
        Some((Bytes::from(piece), Some((objects, is_first))))
    }
}

/// The objects of a list that are not written yet, and whether none is written; `None` at the end.
type ItemsLeft = Option<(std::vec::IntoIter<Arc<Version>>, bool)>;

const META: &str = "meta.k8s.io/v1";
const PARTIAL: &str = "PartialObjectMetadata";

/// The JSON text of an object in a form.
pub(super) fn object_text(object: &Version, form: ObjectForm) -> Arc<str> {
    let doc = match form {
        ObjectForm::Whole => return object.body.text(),
        ObjectForm::Metadata => object.doc(),
    };
    let metadata = doc.as_ref().ok();
    let metadata = metadata.and_then(|doc| doc.root().get("metadata"));
    let metadata = metadata.map_or("{}", |metadata| metadata.raw());
    format!("{{\"kind\":\"{PARTIAL}\",\"apiVersion\":\"{META}\",\"metadata\":{metadata}}}").into()
}

/// An answer with this JSON.
pub(super) fn answer(body: Body) -> Response {
    ([(CONTENT_TYPE, "application/json")], body).into_response()
}

pub(super) fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;
    use crate::object::ObjectRef;

    /// A Pod with this namespace and name, these labels as JSON, and this version.
    pub(in crate::commands::serve) fn pod(named: (&str, &str), labels: &str, at: u64) -> Version {
        let (namespace, name) = named;
        let text = format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}","namespace":"{namespace}","labels":{labels},"resourceVersion":"{at}"}},"spec":{{}}}}"#
        );
        let doc = Doc::parse(text).expect("JSON");
        Version {
            object: Arc::new(ObjectRef::of(doc.root())),
            version: ResourceVersion::new(at.to_string()),
            body: doc.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::pod;
    use super::*;

    #[test]
    fn objects_are_selected_as_the_api_server_does() {
        let pod = pod(("shop", "web"), r#"{"app":"web"}"#, 7);
        for (namespace, labels, fields, expect) in [
            (None, None, None, Some(true)),
            (Some("shop"), None, None, Some(true)),
            (Some("prod"), None, None, Some(false)),
            (None, Some("app in (web)"), None, Some(true)),
            (None, Some("!app"), None, Some(false)),
            (None, None, Some("metadata.name=web"), Some(true)),
            (None, None, Some("metadata.name!=web"), Some(false)),
            (None, None, Some("metadata.namespace=prod"), Some(false)),
            (None, None, Some("spec.nodeName=a"), None),
            (None, Some("app in (web"), None, None),
        ] {
            let selectors = ApiSelectors {
                labels: labels.map(str::to_owned),
                fields: fields.map(str::to_owned),
            };
            let selected = SelectedObjects::new(namespace, &selectors, ObjectForm::Whole);
            let found = selected.map(|it| it.has(&pod));
            assert_eq!(found, expect, "{namespace:?} {labels:?} {fields:?}");
        }
    }

    #[test]
    fn metadata_is_that_of_the_object() {
        let pod = pod(("shop", "web"), r#"{"app":"web"}"#, 7);
        assert_eq!(
            &*object_text(&pod, ObjectForm::Metadata),
            r#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"web","namespace":"shop","labels":{"app":"web"},"resourceVersion":"7"}}"#
        );
        assert!(object_text(&pod, ObjectForm::Whole).ends_with(r#""spec":{}}"#));
    }
}
