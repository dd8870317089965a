//! The read API of Kubernetes: which requests a cache can answer, and the form of answers.
//!
//! Single objects, lists and watches come from the cache, as whole objects or as their metadata. Everything else goes to the API
//! server as it is, with the rights of the reader: tables, discovery, and readers who do not take JSON. Resource versions are those of the
//! API server, so a watch continues a list wherever that came from.

use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use futures::future::BoxFuture;
use http::header::CONTENT_TYPE;
use http::{StatusCode, Uri};

use super::params::Params;
use super::reader::WebReader;
use crate::object::parse_duration;

/// The parameters of a read of an object, a list and a watch that a cache can answer.
const OBJECT_PARAMS: [&str; 2] = ["resourceVersion", "timeout"];
const LIST_PARAMS: [&str; 9] = [
    "watch",
    "labelSelector",
    "fieldSelector",
    "limit",
    "continue",
    "resourceVersion",
    "resourceVersionMatch",
    "timeout",
    "timeoutSeconds",
];
const WATCH_PARAMS: [&str; 9] = [
    "watch",
    "labelSelector",
    "fieldSelector",
    "resourceVersion",
    "resourceVersionMatch",
    "timeout",
    "timeoutSeconds",
    "allowWatchBookmarks",
    "sendInitialEvents",
];

/// The media types of objects that are no text.
const BINARY: [&str; 2] = ["application/vnd.kubernetes.protobuf", "application/cbor"];

/// The subresources that do more than read, and parts of the API that reach other programs.
const CONNECTING: [&str; 4] = ["proxy", "exec", "attach", "portforward"];

/// A request for the API server.
#[derive(Clone, Debug)]
pub struct ApiRead {
    /// The name of the cluster, if the address has one.
    pub cluster: Option<String>,
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

/// A request that a cache can answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedRead {
    /// The objects.
    pub place: ApiPlace,
    /// What is read of them.
    pub verb: CachedVerb,
    /// How much of each object.
    pub form: ObjectForm,
}

/// A resource in a namespace, as a path of the API names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiPlace {
    /// The API group; empty for the core group.
    pub group: String,
    /// The version in the group.
    pub version: String,
    /// The resource.
    pub plural: String,
    /// The namespace; `None` for all, and for cluster-scoped resources.
    pub namespace: Option<String>,
}

/// What a request reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CachedVerb {
    /// One object.
    Get {
        /// Its name.
        name: String,
        /// The state must not be older than this resource version; 0 for any.
        at_least: u64,
    },
    /// The objects that match.
    List {
        /// Which ones.
        selectors: ApiSelectors,
        /// The state must not be older than this resource version; 0 for any.
        at_least: u64,
    },
    /// The changes of the objects that match.
    Watch(CachedWatch),
}

/// A watch of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedWatch {
    /// Of which objects.
    pub selectors: ApiSelectors,
    /// Where it begins.
    pub from: WatchFrom,
    /// Whether the reader takes bookmarks.
    pub has_bookmarks: bool,
    /// After how many seconds it ends; `None` for the time of the server.
    pub seconds: Option<u64>,
}

/// Where a watch begins
/// (<https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-watch>).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchFrom {
    /// After this resource version.
    Version(u64),
    /// With the present objects. Their state must not be older than this resource version; 0 for any.
    Objects {
        /// That resource version.
        at_least: u64,
        /// Whether a bookmark marks their end (`sendInitialEvents`).
        is_marked: bool,
    },
}

/// The selectors of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApiSelectors {
    /// The label selector.
    pub labels: Option<String>,
    /// The field selector.
    pub fields: Option<String>,
}

/// How much of each object an answer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectForm {
    /// All of it.
    Whole,
    /// `apiVersion`, `kind` and `metadata` (meta/v1 `PartialObjectMetadata`).
    Metadata,
}

impl CachedRead {
    /// Reads a request; `None` if only the API server can answer it.
    pub fn of(read: &ApiRead) -> Option<CachedRead> {
        // An encoded part is not in its usual spelling.
        if read.uri.path().contains('%') {
            return None;
        }
        let params = Params::of(&read.uri);
        let parts: Vec<&str> = read.uri.path().split('/').skip(1).collect();
        if parts.contains(&"") {
            return None;
        }
        let (group, version, rest) = match &parts[..] {
            ["api", version, rest @ ..] => ("", *version, rest),
            ["apis", group, version, rest @ ..] => (*group, *version, rest),
            _ => return None,
        };
        let (namespace, plural, name) = match rest {
            // Also the path of a Namespace.
            ["namespaces", name] => (None, "namespaces", Some(*name)),
            ["namespaces", namespace, plural] => (Some(*namespace), *plural, None),
            ["namespaces", namespace, plural, name] => (Some(*namespace), *plural, Some(*name)),
            [plural] => (None, *plural, None),
            [plural, name] => (None, *plural, Some(*name)),
            _ => return None,
        };
        let verb = match name {
            Some(name) => CachedVerb::get(name, &params)?,
            None if is_watch(&params) => CachedVerb::Watch(CachedWatch::of(&params)?),
            None => CachedVerb::list(&params)?,
        };
        Some(CachedRead {
            place: ApiPlace {
                group: group.to_owned(),
                version: version.to_owned(),
                plural: plural.to_owned(),
                namespace: namespace.map(str::to_owned),
            },
            form: ObjectForm::accepted(&read.accept, &verb)?,
            verb,
        })
    }
}

impl CachedVerb {
    fn get(name: &str, params: &Params) -> Option<CachedVerb> {
        params.only(&OBJECT_PARAMS).ok()?;
        duration(params)?;
        Some(CachedVerb::Get {
            name: name.to_owned(),
            at_least: number(params, "resourceVersion")?,
        })
    }

    fn list(params: &Params) -> Option<CachedVerb> {
        params.only(&LIST_PARAMS).ok()?;
        let is_recent = match given(params, "resourceVersionMatch") {
            None => true,
            // Without a version, the API server refuses it.
            Some(matching) => {
                matching == "NotOlderThan" && given(params, "resourceVersion").is_some()
            }
        };
        let is_first = given(params, "continue").is_none();
        // The API server knows what is wrong with another value.
        number(params, "limit")?;
        number(params, "timeoutSeconds")?;
        duration(params)?;
        Some(CachedVerb::List {
            selectors: ApiSelectors::of(params),
            at_least: number(params, "resourceVersion")?,
        })
        .filter(|_| is_recent && is_first)
    }
}

impl CachedWatch {
    fn of(params: &Params) -> Option<CachedWatch> {
        params.only(&WATCH_PARAMS).ok()?;
        duration(params)?;
        let version = number(params, "resourceVersion")?;
        let has_bookmarks = is_on(params, "allowWatchBookmarks");
        let matching = given(params, "resourceVersionMatch");
        let from = match (given(params, "sendInitialEvents"), matching) {
            (None, None) if version > 0 => WatchFrom::Version(version),
            (None, None) => WatchFrom::Objects {
                at_least: 0,
                is_marked: false,
            },
            (Some("true" | "1"), Some("NotOlderThan")) => WatchFrom::Objects {
                at_least: version,
                is_marked: has_bookmarks,
            },
            // The API server knows what is wrong with it.
            _ => return None,
        };
        Some(CachedWatch {
            selectors: ApiSelectors::of(params),
            from,
            has_bookmarks,
            seconds: Some(number(params, "timeoutSeconds")?).filter(|seconds| *seconds > 0),
        })
    }
}

impl ApiSelectors {
    fn of(params: &Params) -> ApiSelectors {
        ApiSelectors {
            labels: given(params, "labelSelector").map(str::to_owned),
            fields: given(params, "fieldSelector").map(str::to_owned),
        }
    }
}

/// A parameter with a value.
fn given<'p>(params: &'p Params, name: &str) -> Option<&'p str> {
    params.first(name).filter(|text| !text.is_empty())
}

/// A number, 0 if it is not there; `None` for anything else.
fn number(params: &Params, name: &str) -> Option<u64> {
    given(params, name).map_or(Some(0), |text| text.parse().ok())
}

/// The time limit of a request, zero if it is not there; `None` for anything else.
fn duration(params: &Params) -> Option<Duration> {
    given(params, "timeout").map_or(Some(Duration::ZERO), parse_duration)
}

/// Whether a switch of the API is on, as the API server reads it.
fn is_on(params: &Params, name: &str) -> bool {
    let value = params.first(name);
    value.is_some_and(|text| !matches!(text, "false" | "0"))
}

/// Whether a request asks for a watch.
pub fn is_watch(params: &Params) -> bool {
    is_on(params, "watch")
}

/// Whether a request asks for a log that goes on.
pub fn follows_log(path: &str, params: &Params) -> bool {
    path.ends_with("/log") && is_on(params, "follow")
}

impl ObjectForm {
    /// The form that a reader wants first; `None` if it is none of these. Clients of built-in types name Protobuf before JSON, and
    /// take either: JSON is all that custom resources have.
    fn accepted(accept: &str, verb: &CachedVerb) -> Option<ObjectForm> {
        let partial = match verb {
            CachedVerb::List { .. } => "as=PartialObjectMetadataList",
            CachedVerb::Get { .. } | CachedVerb::Watch(_) => "as=PartialObjectMetadata",
        };
        let mut wanted = accept.split(',').map(str::trim);
        let first = wanted.find(|it| !BINARY.iter().any(|binary| it.starts_with(binary)))?;
        let mut parts = first.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default();
        let settings: Vec<&str> = parts.collect();
        let is_json = matches!(media, "" | "*/*" | "application/*" | "application/json");
        let is_whole = !settings.iter().any(|it| it.starts_with("as="));
        let is_partial = [partial, "g=meta.k8s.io", "v=v1"]
            .iter()
            .all(|it| settings.contains(it));
        match (is_json, is_whole, is_partial) {
            (true, true, _) => Some(ObjectForm::Whole),
            (true, _, true) => Some(ObjectForm::Metadata),
            _ => None,
        }
    }
}

/// Where the API of each cluster is: `/clusters/edge-1/api/v1/pods`.
pub(super) const CLUSTERS: &str = "/clusters/";

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
    let body = status_object(code, reason, message).to_string();
    let content = (CONTENT_TYPE, "application/json");
    (code, [content], Body::from(body)).into_response()
}

/// The same object, as part of an event of a watch.
pub fn status_object(code: StatusCode, reason: &str, message: &str) -> serde_json::Value {
    serde_json::json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code.as_u16(),
    })
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn read(path: &str, accept: &str) -> ApiRead {
        ApiRead {
            cluster: None,
            uri: path.parse().expect("a path"),
            accept: accept.to_owned(),
            reader: WebReader::Owner,
        }
    }

    /// A request in a few words.
    fn shown(path: &str) -> String {
        let Some(request) = CachedRead::of(&read(path, "application/json")) else {
            return "passed on".to_owned();
        };
        let of = |selectors: &ApiSelectors| {
            let texts = [&selectors.labels, &selectors.fields];
            texts.map(|it| it.as_deref().unwrap_or("-")).join(" ")
        };
        let what = match &request.verb {
            CachedVerb::Get { name, at_least } => format!("get {name} {at_least}"),
            CachedVerb::List {
                selectors,
                at_least,
            } => format!("list {} {at_least}", of(selectors)),
            CachedVerb::Watch(watch) => format!(
                "watch {} {:?} bookmarks={} {:?}",
                of(&watch.selectors),
                watch.from,
                watch.has_bookmarks,
                watch.seconds
            ),
        };
        let place = request.place;
        let namespace = place.namespace.as_deref().unwrap_or("*");
        format!(
            "{}/{} {namespace}/{} {what}",
            place.group, place.version, place.plural
        )
    }

    #[test]
    fn objects_and_lists_come_from_the_cache() {
        let paths = [
            "/api/v1/pods",
            "/api/v1/pods?watch=false",
            "/api/v1/namespaces/shop/pods?limit=500&continue=",
            "/apis/apps/v1/namespaces/shop/deployments?labelSelector=a%3Db&fieldSelector=metadata.name%3Dx",
            "/apis/apps/v1/deployments?resourceVersion=7&resourceVersionMatch=NotOlderThan",
            "/api/v1/pods?resourceVersion=7&resourceVersionMatch=Exact",
            "/api/v1/pods?continue=x",
            "/api/v1/pods?pretty=true",
            "/api/v1/pods?resourceVersion=x",
            "/api/v1/pods?resourceVersionMatch=NotOlderThan",
            "/api/v1/pods?limit=x",
            "/api/v1/pods?limit=-1",
            "/api/v1/pods?timeoutSeconds=x",
            "/api/v1/pods?timeout=x",
            "/api/v1/pods?timeout=30s",
            "/api/v1/pods/",
            "/api/v1/namespaces/shop/pods/web",
            "/api/v1/namespaces/shop/pods/web?resourceVersion=7",
            "/api/v1/namespaces/shop/pods/web?pretty=true",
            "/api/v1/namespaces/shop/pods/web/status",
            "/api/v1/namespaces/shop/p%6Fds",
            "/api/v1/nodes/n1",
            "/api/v1/namespaces",
            "/api/v1/namespaces/shop",
            "/api/v1",
            "/apis",
            "/version",
        ];
        assert_snapshot!(paths.map(|path| format!("{path}: {}", shown(path))).join("\n"), @"
        /api/v1/pods: /v1 */pods list - - 0
        /api/v1/pods?watch=false: /v1 */pods list - - 0
        /api/v1/namespaces/shop/pods?limit=500&continue=: /v1 shop/pods list - - 0
        /apis/apps/v1/namespaces/shop/deployments?labelSelector=a%3Db&fieldSelector=metadata.name%3Dx: apps/v1 shop/deployments list a=b metadata.name=x 0
        /apis/apps/v1/deployments?resourceVersion=7&resourceVersionMatch=NotOlderThan: apps/v1 */deployments list - - 7
        /api/v1/pods?resourceVersion=7&resourceVersionMatch=Exact: passed on
        /api/v1/pods?continue=x: passed on
        /api/v1/pods?pretty=true: passed on
        /api/v1/pods?resourceVersion=x: passed on
        /api/v1/pods?resourceVersionMatch=NotOlderThan: passed on
        /api/v1/pods?limit=x: passed on
        /api/v1/pods?limit=-1: passed on
        /api/v1/pods?timeoutSeconds=x: passed on
        /api/v1/pods?timeout=x: passed on
        /api/v1/pods?timeout=30s: /v1 */pods list - - 0
        /api/v1/pods/: passed on
        /api/v1/namespaces/shop/pods/web: /v1 shop/pods get web 0
        /api/v1/namespaces/shop/pods/web?resourceVersion=7: /v1 shop/pods get web 7
        /api/v1/namespaces/shop/pods/web?pretty=true: passed on
        /api/v1/namespaces/shop/pods/web/status: passed on
        /api/v1/namespaces/shop/p%6Fds: passed on
        /api/v1/nodes/n1: /v1 */nodes get n1 0
        /api/v1/namespaces: /v1 */namespaces list - - 0
        /api/v1/namespaces/shop: /v1 */namespaces get shop 0
        /api/v1: passed on
        /apis: passed on
        /version: passed on
        ");
    }

    #[test]
    fn watches_come_from_the_cache() {
        let queries = [
            "watch=true",
            "watch",
            "watch=1&resourceVersion=0",
            "watch=true&resourceVersion=7&timeoutSeconds=300&allowWatchBookmarks=true",
            "watch=true&labelSelector=a%3Db&fieldSelector=metadata.name%3Dx&resourceVersion=7",
            "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
            "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=7",
            "watch=true&sendInitialEvents=true",
            "watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan",
            "watch=true&resourceVersion=7&resourceVersionMatch=NotOlderThan",
            "watch=true&resourceVersion=x",
            "watch=true&limit=1",
        ];
        let shown =
            queries.map(|query| format!("{query}: {}", shown(&format!("/api/v1/pods?{query}"))));
        assert_snapshot!(shown.join("\n"), @"
        watch=true: /v1 */pods watch - - Objects { at_least: 0, is_marked: false } bookmarks=false None
        watch: /v1 */pods watch - - Objects { at_least: 0, is_marked: false } bookmarks=false None
        watch=1&resourceVersion=0: /v1 */pods watch - - Objects { at_least: 0, is_marked: false } bookmarks=false None
        watch=true&resourceVersion=7&timeoutSeconds=300&allowWatchBookmarks=true: /v1 */pods watch - - Version(7) bookmarks=true Some(300)
        watch=true&labelSelector=a%3Db&fieldSelector=metadata.name%3Dx&resourceVersion=7: /v1 */pods watch a=b metadata.name=x Version(7) bookmarks=false None
        watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true: /v1 */pods watch - - Objects { at_least: 0, is_marked: true } bookmarks=true None
        watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=7: /v1 */pods watch - - Objects { at_least: 7, is_marked: false } bookmarks=false None
        watch=true&sendInitialEvents=true: passed on
        watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan: passed on
        watch=true&resourceVersion=7&resourceVersionMatch=NotOlderThan: passed on
        watch=true&resourceVersion=x: passed on
        watch=true&limit=1: passed on
        ");
    }

    #[test]
    fn only_json_comes_from_the_cache() {
        let list = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
        let one = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
        let (objects, object, watch) = ("/api/v1/pods", "/api/v1/nodes/a", "/api/v1/pods?watch=1");
        for (accept, path, expect) in [
            ("application/json", objects, Some(ObjectForm::Whole)),
            ("application/json, */*", object, Some(ObjectForm::Whole)),
            ("*/*", watch, Some(ObjectForm::Whole)),
            (
                "application/json;stream=watch",
                watch,
                Some(ObjectForm::Whole),
            ),
            ("", objects, Some(ObjectForm::Whole)),
            (list, objects, Some(ObjectForm::Metadata)),
            (list, object, None),
            (one, objects, None),
            (one, object, Some(ObjectForm::Metadata)),
            (one, watch, Some(ObjectForm::Metadata)),
            (
                "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1",
                object,
                None,
            ),
            (
                "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
                objects,
                None,
            ),
            (
                "application/vnd.kubernetes.protobuf,application/json",
                objects,
                Some(ObjectForm::Whole),
            ),
            (
                &format!(
                    "{},{list},application/json",
                    list.replace("json", "vnd.kubernetes.protobuf")
                ),
                objects,
                Some(ObjectForm::Metadata),
            ),
            ("application/vnd.kubernetes.protobuf", objects, None),
            ("application/yaml", objects, None),
            ("application/cbor", objects, None),
        ] {
            let request = CachedRead::of(&read(path, accept));
            assert_eq!(request.map(|it| it.form), expect, "{accept} {path}");
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
