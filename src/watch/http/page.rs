//! Parses one page of a listing, but not its items.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use bytes::Bytes;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::super::{ListPage, SourceError};
use super::list_metadata::ListMetadata;
use super::table::{self, PrintedColumns, PrintedTable};
use crate::object::{is_kubernetes_own, json_fault};
use crate::source::{Form, SourceKey};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListBody<'a> {
    #[serde(borrow, default)]
    api_version: Cow<'a, str>,
    #[serde(borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow, deserialize_with = "object")]
    metadata: ListMetadata<'a>,
    /// Go also writes an empty list as `null`.
    #[serde(borrow)]
    items: Option<Vec<&'a RawValue>>,
}

/// Parses a page of a list of `key`. The version is empty if the server sends none, as metrics-server does.
pub(super) fn parse(body: &Bytes, key: &SourceKey) -> Result<ListPage, SourceError> {
    let refused = |what: &str| {
        let resource = key.resource.group_resource();
        let detail = format!("the server's answer is not a list of {resource}: {what}");
        SourceError::Decode {
            detail: detail.into(),
        }
    };
    if key.form == Form::Table
        && let Some(table) = std::str::from_utf8(body).ok().and_then(table::read)
    {
        return Ok(table_page(table));
    }
    let mut reader = serde_json::Deserializer::from_slice(body);
    let list: Result<ListBody<'_>, _> = object(&mut reader);
    let list = list.and_then(|list| reader.end().map(|()| list));
    let list = list.map_err(|error| refused(&json_fault(&error)))?;
    if !list.is_of(key) {
        return Err(refused("it is of another type"));
    }
    let items = list.items.unwrap_or_default().into_iter();
    // Each item borrows from the body, as `slice_ref` requires.
    let items = items.map(|item| body.slice_ref(item.get().as_bytes()));
    Ok(list.metadata.page(items.collect()))
}

/// The page with the objects of a table. Each names its type, which its reader checks.
fn table_page(mut table: PrintedTable<'_>) -> ListPage {
    let metadata = std::mem::take(&mut table.metadata);
    let objects = PrintedColumns::default().objects(table).into_iter();
    metadata.page(objects.map(Bytes::from).collect())
}

/// Reads a struct from a JSON object. serde's derived code would also accept an array with the values of the
/// fields in order.
fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    struct Object<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
        type Value = T;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(fields))
        }
    }

    from.deserialize_map(Object(PhantomData))
}

impl ListBody<'_> {
    /// Whether the list has the type that was requested. Only a custom resource can have a list kind that does
    /// not follow from its kind.
    fn is_of(&self, key: &SourceKey) -> bool {
        let resource = &key.resource;
        let is_partial = self.kind == "PartialObjectMetadataList"
            && self.api_version.starts_with("meta.k8s.io/");
        let is_named = || {
            let kind = self.kind.strip_suffix("List");
            self.kind.is_empty() || kind == Some(&*resource.kind)
        };
        let is_version = self.api_version.is_empty() || self.api_version == resource.api_version();
        (key.form == Form::Metadata && is_partial)
            || (is_version && (is_named() || !is_kubernetes_own(&resource.group)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Resource;
    use crate::source::{ClusterId, Scope, Select};

    fn key(group: &str, kind: &str, form: Form) -> SourceKey {
        SourceKey {
            cluster: ClusterId("test".into()),
            resource: Resource {
                group: group.into(),
                version: "v1".into(),
                plural: "things".into(),
                kind: kind.into(),
                namespaced: true,
            },
            scope: Scope::Cluster,
            select: Select::All,
            form,
        }
    }

    fn parse(body: &[u8]) -> Result<ListPage, SourceError> {
        let body = Bytes::copy_from_slice(body);
        super::parse(&body, &key("", "Pod", Form::Full))
    }

    #[test]
    fn an_array_is_neither_a_list_nor_metadata() {
        for body in [
            r#"{"kind":"PodList","metadata":["5"],"items":[]}"#,
            r#"["v1","PodList",{"resourceVersion":"5"},[]]"#,
        ] {
            assert!(
                matches!(parse(body.as_bytes()), Err(SourceError::Decode { .. })),
                "{body}"
            );
        }
    }

    #[test]
    fn a_list_of_another_type_is_refused() {
        let check = |key: &SourceKey, api_version: &str, kind: &str| {
            let body = format!(
                r#"{{"apiVersion":"{api_version}","kind":"{kind}","metadata":{{}},"items":[]}}"#
            );
            super::parse(&body.into(), key).map(drop)
        };
        let pods = key("", "Pod", Form::Full);
        assert_eq!(check(&pods, "v1", "PodList"), Ok(()));
        let detail = "the server's answer is not a list of things: it is of another type";
        let refused = Err(SourceError::Decode {
            detail: detail.into(),
        });
        for (api_version, kind) in [
            ("v1", "SecretList"),
            ("v1", "Pod"),
            ("v1", "Status"),
            ("v1", "List"),
            ("v2", "PodList"),
            ("meta.k8s.io/v1", "PartialObjectMetadataList"),
            ("meta.k8s.io/v1", "Table"),
        ] {
            assert_eq!(
                check(&pods, api_version, kind),
                refused,
                "{api_version} {kind}"
            );
        }
        let partial = key("", "Pod", Form::Metadata);
        assert_eq!(
            check(&partial, "meta.k8s.io/v1", "PartialObjectMetadataList"),
            Ok(())
        );
        assert_eq!(
            check(&partial, "v1", "PodList"),
            Ok(()),
            "a server without that form"
        );
        assert!(check(&partial, "v1", "SecretList").is_err());
        let custom = key("example.com", "Widget", Form::Full);
        assert_eq!(check(&custom, "example.com/v1", "WidgetCollection"), Ok(()));
        assert!(check(&custom, "v1", "SecretList").is_err());
    }

    #[test]
    fn errors_do_not_quote_the_response() {
        let error = parse(br#"{"metadata":{},"items":"hunter2"}"#).expect_err("no list");
        let wrong = "a field is missing or of the wrong type (line 1, column 32)";
        assert_eq!(
            error.to_string(),
            format!("the server's answer is not a list of things: {wrong}")
        );
    }

    #[test]
    fn items_keep_their_bytes() {
        let page = parse(
            br#"{"kind":"PodList","metadata":{"resourceVersion":"12","continue":"a\u0062c"},
                "items":[{"n":12345678901234567890123, "a" : null},{}]}"#,
        )
        .expect("a page");
        assert_eq!(page.version.as_str(), "12");
        assert_eq!(page.next.as_deref(), Some("abc"));
        assert_eq!(
            page.items,
            [r#"{"n":12345678901234567890123, "a" : null}"#, "{}"]
        );
    }

    #[test]
    fn empty_lists_come_in_three_spellings() {
        for items in [r#","items":[]"#, r#","items":null"#, ""] {
            let text = format!(r#"{{"metadata":{{"resourceVersion":"7"}}{items}}}"#);
            let page = parse(text.as_bytes()).expect("a page");
            assert!(page.items.is_empty() && page.next.is_none(), "{text}");
        }
    }

    #[test]
    fn a_response_that_is_not_a_list_is_refused() {
        for body in [
            "",
            "<html>",
            "[]",
            r#"{"items":[]}"#,
            r#"{"metadata":{},"items":{}}"#,
            "\u{fffd}",
        ] {
            assert!(
                matches!(parse(body.as_bytes()), Err(SourceError::Decode { .. })),
                "{body}"
            );
        }
        assert!(parse(b"{\"metadata\":{},\"items\":[\"\xff\"]}").is_err());
    }
}
