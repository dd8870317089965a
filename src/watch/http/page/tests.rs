//! Tests of `page`.

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

#[test]
fn a_row_becomes_an_object_with_its_cells() {
    let mut columns = PrintedColumns::default();
    let definitions = r#"[{"name":"Name"},{"name":"Desired","type":"integer","priority":0},{"name":"Images","priority":1}]"#;
    let line = |kind: &str, definitions: &str| {
        let row = r#"{"cells":["web",3,"web:v1"],"object":{"kind":"ReplicaSet"}}"#;
        let table = format!(
            r#"{{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{{}},"columnDefinitions":{definitions},"rows":[{row}]}}"#
        );
        Bytes::from(format!(r#"{{"type":"{kind}","object":{table}}}"#))
    };
    let printed = r#""$printed":[{"column":"Desired","text":"3","wide":false},{"column":"Images","text":"web:v1","wide":true}]"#;
    let object = format!(r#"{{"kind":"ReplicaSet",{printed}}}"#);
    let expect = |kind: &str| format!(r#"{{"type":"{kind}","object":{object}}}"#);
    assert_eq!(columns.line(line("ADDED", definitions)), expect("ADDED"));
    assert_eq!(columns.line(line("MODIFIED", "null")), expect("MODIFIED"));
    let bookmark = line("BOOKMARK", "null");
    assert_eq!(columns.line(bookmark.clone()), bookmark);
    let plain = Bytes::from(r#"{"type":"ADDED","object":{"kind":"Pod"}}"#);
    assert_eq!(columns.line(plain.clone()), plain);
}
