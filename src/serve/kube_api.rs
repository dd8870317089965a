//! The read API of Kubernetes: which requests a cache can answer, and the form of answers.
//!
//! A list of whole objects comes from the cache. Everything else goes to the API server as it is, with the rights of the reader:
//! single objects, watches, tables, discovery, and every form but JSON. Resource versions are those of the API server, so a
//! watch continues a list wherever that came from.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use futures::future::BoxFuture;
use http::header::CONTENT_TYPE;
use http::{StatusCode, Uri};

use super::params::Params;
use super::reader::WebReader;

/// The parameters of a list that a cache can answer.
const LIST_PARAMS: [&str; 7] = [
    "labelSelector",
    "fieldSelector",
    "limit",
    "resourceVersion",
    "resourceVersionMatch",
    "timeout",
    "timeoutSeconds",
];

/// The subresources that do more than read, and parts of the API that reach other programs.
const CONNECTING: [&str; 4] = ["proxy", "exec", "attach", "portforward"];

/// A request for the API server.
#[derive(Clone, Debug)]
pub struct ApiRead {
    /// Its address.
    pub uri: Uri,
    /// The media types that the reader takes.
    pub accept: String,
    /// Who asks.
    pub reader: WebReader,
}

/// Answers requests for the API server.
pub trait ApiSource: Send + Sync + 'static {
    /// The answer, whatever its code is.
    fn answer(&self, read: ApiRead) -> BoxFuture<'_, Response>;
}

/// A list of whole objects in JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedList {
    /// The API group; empty for the core group.
    pub group: String,
    /// The version in the group.
    pub version: String,
    /// The resource.
    pub plural: String,
    /// The namespace; `None` for all, and for cluster-scoped resources.
    pub namespace: Option<String>,
    /// The label selector.
    pub labels: Option<String>,
    /// The field selector.
    pub fields: Option<String>,
    /// The state must not be older than this resource version; 0 for any.
    pub at_least: u64,
}

impl CachedList {
    /// Reads a request; `None` if only the API server can answer it.
    pub fn of(read: &ApiRead) -> Option<CachedList> {
        let params = Params::of(&read.uri);
        params.only(&LIST_PARAMS).ok()?;
        if !takes_json(&read.accept) {
            return None;
        }
        let is_exact = params
            .first("resourceVersionMatch")
            .is_some_and(|it| it != "NotOlderThan");
        let at_least = match params.first("resourceVersion") {
            None | Some("") => 0,
            Some(version) => version.parse().ok()?,
        };
        let given = |name| params.first(name).filter(|text| !text.is_empty());
        let parts: Vec<&str> = read.uri.path().split('/').skip(1).collect();
        let (group, version, rest) = match &parts[..] {
            ["api", version, rest @ ..] => ("", *version, rest),
            ["apis", group, version, rest @ ..] => (*group, *version, rest),
            _ => return None,
        };
        let (namespace, plural) = match rest {
            [plural] => (None, *plural),
            ["namespaces", namespace, plural] => (Some(*namespace), *plural),
            _ => return None,
        };
        // An encoded part is not in its usual spelling.
        let is_plain = !read.uri.path().contains('%') && !is_exact;
        is_plain.then(|| CachedList {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: plural.to_owned(),
            namespace: namespace.map(str::to_owned),
            labels: given("labelSelector").map(str::to_owned),
            fields: given("fieldSelector").map(str::to_owned),
            at_least,
        })
    }
}

/// Whether whole objects in JSON are what a reader wants first.
fn takes_json(accept: &str) -> bool {
    let first = accept.split(',').next().unwrap_or_default();
    let mut parts = first.split(';').map(str::trim);
    let media = parts.next().unwrap_or_default();
    let is_whole = parts.all(|part| !part.starts_with("as="));
    is_whole && matches!(media, "" | "*/*" | "application/*" | "application/json")
}

/// Whether a path is one of the API server.
pub(super) fn is_api_path(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next();
    matches!(first, Some("api" | "apis" | "openapi" | "version"))
}

/// Whether a path reaches into a container or another program, where even GET may change something.
pub fn connects(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    let (["api", _, rest @ ..] | ["apis", _, _, rest @ ..]) = &parts[..] else {
        return false;
    };
    let object = match rest {
        ["namespaces", _, object @ ..] if object.len() > 1 => object,
        object => object,
    };
    let is_connecting = |part: Option<&&str>| part.is_some_and(|part| CONNECTING.contains(part));
    is_connecting(object.get(2)) || is_connecting(rest.first())
}

/// A `Status` object (meta/v1): how the API server answers an error.
pub fn status_answer(code: StatusCode, reason: &str, message: &str) -> Response {
    let status = serde_json::json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code.as_u16(),
    });
    let body = status.to_string();
    let content = (CONTENT_TYPE, "application/json");
    (code, [content], Body::from(body)).into_response()
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn read(path: &str, accept: &str) -> ApiRead {
        ApiRead {
            uri: path.parse().expect("a path"),
            accept: accept.to_owned(),
            reader: WebReader::Owner,
        }
    }

    #[test]
    fn a_list_of_whole_objects_comes_from_the_cache() {
        let shown = |path: &str| {
            let request = CachedList::of(&read(path, "application/json"));
            request.map_or("passed on".to_owned(), |it| {
                let place = it.namespace.as_deref().unwrap_or("*");
                let select = [&it.labels, &it.fields].map(|it| it.as_deref().unwrap_or("-"));
                format!(
                    "{}/{} {place}/{} {} {}",
                    it.group,
                    it.version,
                    it.plural,
                    select.join(" "),
                    it.at_least
                )
            })
        };
        let paths = [
            "/api/v1/pods",
            "/api/v1/namespaces/shop/pods?limit=500",
            "/apis/apps/v1/namespaces/shop/deployments?labelSelector=a%3Db&fieldSelector=metadata.name%3Dx",
            "/apis/apps/v1/deployments?resourceVersion=7&resourceVersionMatch=NotOlderThan",
            "/api/v1/pods?resourceVersion=7&resourceVersionMatch=Exact",
            "/api/v1/pods?watch=true",
            "/api/v1/pods?continue=x",
            "/api/v1/pods?sendInitialEvents=true",
            "/api/v1/pods?resourceVersion=x",
            "/api/v1/namespaces/shop/pods/web",
            "/api/v1/namespaces/shop/p%6Fds",
            "/api/v1/namespaces",
            "/api/v1",
            "/apis",
            "/version",
        ];
        assert_snapshot!(paths.map(|path| format!("{path}: {}", shown(path))).join("\n"), @"
        /api/v1/pods: /v1 */pods - - 0
        /api/v1/namespaces/shop/pods?limit=500: /v1 shop/pods - - 0
        /apis/apps/v1/namespaces/shop/deployments?labelSelector=a%3Db&fieldSelector=metadata.name%3Dx: apps/v1 shop/deployments a=b metadata.name=x 0
        /apis/apps/v1/deployments?resourceVersion=7&resourceVersionMatch=NotOlderThan: apps/v1 */deployments - - 7
        /api/v1/pods?resourceVersion=7&resourceVersionMatch=Exact: passed on
        /api/v1/pods?watch=true: passed on
        /api/v1/pods?continue=x: passed on
        /api/v1/pods?sendInitialEvents=true: passed on
        /api/v1/pods?resourceVersion=x: passed on
        /api/v1/namespaces/shop/pods/web: passed on
        /api/v1/namespaces/shop/p%6Fds: passed on
        /api/v1/namespaces: /v1 */namespaces - - 0
        /api/v1: passed on
        /apis: passed on
        /version: passed on
        ");
    }

    #[test]
    fn only_whole_objects_in_json_come_from_the_cache() {
        for (accept, expect) in [
            ("application/json", true),
            ("application/json, */*", true),
            ("*/*", true),
            ("", true),
            (
                "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
                false,
            ),
            (
                "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
                false,
            ),
            (
                "application/vnd.kubernetes.protobuf,application/json",
                false,
            ),
            ("application/yaml", false),
            ("application/cbor", false),
        ] {
            let request = CachedList::of(&read("/api/v1/pods", accept));
            assert_eq!(request.is_some(), expect, "{accept}");
        }
    }

    #[test]
    fn nothing_reaches_into_a_container() {
        for (path, expect) in [
            ("/api/v1/namespaces/shop/pods/web/exec", true),
            ("/api/v1/namespaces/shop/pods/web/proxy/x/y", true),
            ("/api/v1/namespaces/shop/services/web/proxy", true),
            ("/api/v1/nodes/n1/proxy/logs", true),
            ("/api/v1/proxy/nodes/n1", true),
            ("/api/v1/namespaces/shop/pods/web/portforward", true),
            ("/api/v1/namespaces/shop/pods/web/attach", true),
            ("/api/v1/namespaces/shop/pods/web/log", false),
            ("/api/v1/namespaces/shop/pods/proxy", false),
            ("/api/v1/namespaces/proxy", false),
            ("/apis/apps/v1/namespaces/shop/deployments/web/scale", false),
        ] {
            assert_eq!(connects(path), expect, "{path}");
        }
    }
}
