//! Reads one page of a listing without reading its items.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::{ListPage, SourceError};
use crate::object::ResourceVersion;

#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    metadata: Metadata<'a>,
    /// Go writes an empty list as `null`, too.
    #[serde(borrow)]
    items: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[derive(Default)]
struct Metadata<'a> {
    #[serde(borrow)]
    resource_version: Cow<'a, str>,
    #[serde(borrow)]
    r#continue: Cow<'a, str>,
}

/// Takes a page apart. The version is empty where the server gives none, as metrics-server does.
pub(super) fn parse(body: &[u8]) -> Result<ListPage, SourceError> {
    let list: List<'_> = serde_json::from_slice(body).map_err(|error| SourceError::Decode {
        // The parser's message says where and what, never the text around it.
        detail: format!("the server's answer is no list: {error}").into(),
    })?;
    let next = &list.metadata.r#continue;
    Ok(ListPage {
        version: ResourceVersion::new(&*list.metadata.resource_version),
        items: list
            .items
            .unwrap_or_default()
            .into_iter()
            .map(|item| item.get().into())
            .collect(),
        next: Some(&**next)
            .filter(|next| !next.is_empty())
            .map(Into::into),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_keep_their_bytes() {
        let page = parse(
            br#"{"kind":"PodList","metadata":{"resourceVersion":"12","continue":"a\u0062c"},
                "items":[{"n":12345678901234567890123, "a" : null},{}]}"#,
        )
        .expect("a page");
        assert_eq!(page.version.as_str(), "12");
        assert_eq!(page.next.as_deref(), Some("abc"));
        let items: Vec<&str> = page.items.iter().map(|item| &**item).collect();
        assert_eq!(
            items,
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
    fn what_is_no_list_is_refused() {
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
