//! `KubeApi`: answers lists from the objects that the server follows, and passes everything else on to the API server.

use std::sync::Arc;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::{self, unfold};
use http::header::{
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, LAST_MODIFIED, RETRY_AFTER, WARNING,
};
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::cluster::{ApiRequest, Client, RawAnswer, RequestError, RequestPath};
use crate::object::ResourceVersion;
use crate::serve::{
    ApiRead, ApiSource, CachedList, Params, ReadRight, RightsAnswer, RightsCache, SourcePlace,
    WebReader, connects, status_answer,
};
use crate::source::{Form, Matcher, Select, SourceKey, Version};
use crate::watch::Mux;

/// The headers of an answer of the API server that readers get, too.
const PASSED_HEADERS: [http::HeaderName; 5] =
    [CONTENT_TYPE, ETAG, LAST_MODIFIED, RETRY_AFTER, WARNING];

/// How many bytes of a list are written at a time. More would be in memory for each reader.
const PIECE: usize = 64 * 1024;

/// The API server, with the followed objects before it.
pub(super) struct KubeApi {
    pub(super) mux: Mux,
    /// The requested sources.
    pub(super) sources: Vec<SourceKey>,
    /// A client with the credentials of the owner.
    pub(super) owner: Client,
    /// How readers are asked about; `None` if only the owner reads.
    pub(super) readers: Option<ApiReaders>,
}

/// What the requests of readers need.
pub(super) struct ApiReaders {
    /// A client without credentials.
    pub(super) client: Client,
    pub(super) rights: Arc<RightsCache>,
}

impl ApiSource for KubeApi {
    fn answer(&self, read: ApiRead) -> BoxFuture<'_, Response> {
        Box::pin(async move {
            match self.listed(&read).await {
                Some(listed) => listed,
                None => self.passed(&read).await,
            }
        })
    }
}

impl KubeApi {
    /// A list from memory; `None` if the API server must answer.
    async fn listed(&self, read: &ApiRead) -> Option<Response> {
        let request = CachedList::of(read)?;
        let key = self.sources.iter().find(|key| holds(key, &request))?;
        if !self.may_list(&read.reader, key, &request).await {
            return None;
        }
        let select = Select::matching(request.labels.as_deref(), request.fields.as_deref());
        let (version, objects) = self.mux.held(key)?;
        let reached: u64 = version.as_str().parse().ok()?;
        if !select.is_of_every_server() || reached < request.at_least {
            return None;
        }
        let is_within = |it: &Arc<Version>| {
            request.namespace.is_none()
                || it.object.namespace.as_deref() == request.namespace.as_deref()
        };
        let objects = objects.into_iter().filter(is_within).collect();
        Some(list_answer(
            key,
            &version,
            SelectedObjects { objects, select },
        ))
    }

    /// Whether a reader may list a place. The owner's sources are his own.
    async fn may_list(&self, reader: &WebReader, key: &SourceKey, request: &CachedList) -> bool {
        let token = match reader {
            WebReader::Owner => return true,
            WebReader::User(token) => token,
        };
        let right = ReadRight::List(SourcePlace {
            resource: key.resource.clone(),
            namespace: request.namespace.as_deref().map(Arc::from),
        });
        match &self.readers {
            Some(readers) => readers.rights.ask(token, &right).await == Ok(RightsAnswer::Granted),
            None => false,
        }
    }

    /// The answer of the API server, with the rights of the reader.
    async fn passed(&self, read: &ApiRead) -> Response {
        if connects(read.uri.path()) {
            let message =
                "this server only reads: it opens no connection to containers and services";
            return status_answer(StatusCode::FORBIDDEN, "Forbidden", message);
        }
        let request = match foreign_request(read) {
            Ok(request) => request,
            Err(message) => return status_answer(StatusCode::BAD_REQUEST, "BadRequest", &message),
        };
        let answered = match self.client_of(&read.reader) {
            Ok(client) => client.pass(&request).await,
            Err(message) => {
                return status_answer(StatusCode::UNAUTHORIZED, "Unauthorized", &message);
            }
        };
        match answered {
            Ok(answer) => passed_on(answer),
            Err(error) => {
                let code = match error {
                    RequestError::Timeout(_) => StatusCode::GATEWAY_TIMEOUT,
                    _ => StatusCode::SERVICE_UNAVAILABLE,
                };
                status_answer(code, "ServiceUnavailable", &error.to_string())
            }
        }
    }

    fn client_of(&self, reader: &WebReader) -> Result<Client, String> {
        match (reader, &self.readers) {
            (WebReader::Owner, _) => Ok(self.owner.clone()),
            (WebReader::User(token), Some(readers)) => {
                let client = readers.client.with_token(token.expose());
                client.map_err(|error| error.to_string())
            }
            (WebReader::User(_), None) => Err("Unauthorized".to_owned()),
        }
    }
}

/// Whether a source has every object of a list. Secrets never come from memory.
fn holds(key: &SourceKey, request: &CachedList) -> bool {
    let resource = &key.resource;
    let is_secret = resource.group.is_empty() && &*resource.plural == "secrets";
    let is_place = match (&request.namespace, key.namespace()) {
        (Some(asked), Some(own)) => asked == own,
        (Some(_), None) => resource.namespaced,
        (None, own) => own.is_none(),
    };
    *resource.group == *request.group
        && *resource.version == *request.version
        && *resource.plural == *request.plural
        && key.select == Select::All
        && key.form == Form::Full
        && is_place
        && !is_secret
}

/// The objects of a list, and which of them are selected.
struct SelectedObjects {
    objects: Vec<Arc<Version>>,
    select: Select,
}

/// A list as the API server writes it. It is written piece by piece, because the objects are packed in memory.
fn list_answer(key: &SourceKey, version: &ResourceVersion, listed: SelectedObjects) -> Response {
    let resource = &key.resource;
    let api_version = resource.api_version();
    let head = serde_json::json!({
        "kind": format!("{}List", resource.kind),
        "apiVersion": api_version,
        "metadata": {"resourceVersion": version.as_str()},
    });
    let head = head.to_string();
    let head = format!(
        "{},\"items\":[",
        head.trim_end_matches('}').to_owned() + "}"
    );
    let SelectedObjects { objects, select } = listed;
    let state = Some((objects.into_iter(), true));
    let items = unfold(state, move |state| {
        let select = select.clone();
        async move {
            let (mut objects, mut is_first) = state?;
            let mut piece = String::new();
            while piece.len() < PIECE {
                let Some(object) = objects.next() else {
                    piece.push_str("]}\n");
                    return Some((Bytes::from(piece), None));
                };
                if is_selected(&object, &select) {
                    if !is_first {
                        piece.push(',');
                    }
                    is_first = false;
                    piece.push_str(&object.body.text());
                }
            }
            Some((Bytes::from(piece), Some((objects, is_first))))
        }
    });
    let pieces = stream::StreamExt::chain(stream::iter([Bytes::from(head)]), items);
    let pieces = stream::StreamExt::map(pieces, Ok::<_, std::convert::Infallible>);
    let content = (CONTENT_TYPE, "application/json");
    ([content], Body::from_stream(pieces)).into_response()
}

fn is_selected(object: &Version, select: &Select) -> bool {
    *select == Select::All
        || object
            .doc()
            .is_ok_and(|doc| Matcher::new(select).matches(doc.root()))
}

/// The same request for the API server.
fn foreign_request(read: &ApiRead) -> Result<ApiRequest, String> {
    let path = RequestPath::of_foreign(read.uri.path()).map_err(|error| error.to_string())?;
    let mut request = ApiRequest::new(path).accept(read.accept.clone());
    let params = Params::of(&read.uri);
    for (name, value) in params.pairs() {
        let is_name = !name.is_empty() && name.bytes().all(|c| c.is_ascii_alphanumeric());
        if !is_name {
            return Err(format!("invalid parameter {name:?}"));
        }
        request = request.query(name, value);
    }
    let is_watch = params
        .first("watch")
        .is_some_and(|it| it != "false" && it != "0");
    Ok(if is_watch {
        request.identity()
    } else {
        request
    })
}

fn passed_on(answer: RawAnswer) -> Response {
    let RawAnswer { head, body } = answer;
    // No answer of another program is a page of this server.
    let policy = HeaderValue::from_static("default-src 'none'; sandbox");
    let mut headers = HeaderMap::from_iter([(CONTENT_SECURITY_POLICY, policy)]);
    for name in PASSED_HEADERS {
        if let Some(value) = head.headers.get(&name) {
            headers.insert(name, value.clone());
        }
    }
    let chunks = unfold(Some(body), |body| async move {
        let mut body = body?;
        match body.chunk().await {
            Ok(Some(chunk)) => Some((Ok(chunk), Some(body))),
            Ok(None) => None,
            Err(error) => Some((Err(std::io::Error::other(error.to_string())), None)),
        }
    });
    (head.status, headers, Body::from_stream(chunks)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::well_known_type;
    use crate::source::ClusterId;

    fn read(path: &str) -> ApiRead {
        ApiRead {
            uri: path.parse().expect("a path"),
            accept: "application/json".to_owned(),
            reader: WebReader::Owner,
        }
    }

    #[test]
    fn a_source_answers_for_its_own_places() {
        let key = |group, kind, namespace: Option<&str>, select| {
            let known = well_known_type(group, kind).expect("known");
            let cluster = ClusterId("test".into());
            SourceKey::of(
                &cluster,
                known.resource.clone(),
                namespace.map(Arc::from),
                select,
            )
        };
        let everywhere = || key("", "Pod", None, Select::All);
        let shop = || key("", "Pod", Some("shop"), Select::All);
        for (key, path, expect) in [
            (everywhere(), "/api/v1/pods", true),
            (everywhere(), "/api/v1/namespaces/shop/pods", true),
            (shop(), "/api/v1/namespaces/shop/pods", true),
            (shop(), "/api/v1/namespaces/prod/pods", false),
            (shop(), "/api/v1/pods", false),
            (everywhere(), "/api/v2/pods", false),
            (everywhere(), "/api/v1/services", false),
            (
                key("", "Pod", None, Select::labelled("a=b")),
                "/api/v1/pods",
                false,
            ),
            (
                key("", "Secret", None, Select::All),
                "/api/v1/secrets",
                false,
            ),
            (
                key("apps", "Deployment", None, Select::All),
                "/apis/apps/v1/deployments",
                true,
            ),
            (key("", "Node", None, Select::All), "/api/v1/nodes", true),
        ] {
            let request = CachedList::of(&read(path)).expect("a list");
            assert_eq!(holds(&key, &request), expect, "{path}");
        }
    }

    #[test]
    fn a_request_is_passed_on_as_it_is() {
        let sent = |path: &str| {
            let request = foreign_request(&read(path))?;
            let sent = request.to_http().map_err(|error| error.to_string())?;
            Ok::<_, String>(sent.uri().to_string())
        };
        for (path, expect) in [
            (
                "/api/v1/pods?watch=1&resourceVersion=7",
                Some("/api/v1/pods?watch=1&resourceVersion=7"),
            ),
            (
                "/api/v1/pods?labelSelector=a%3Db%2Cc",
                Some("/api/v1/pods?labelSelector=a%3Db%2Cc"),
            ),
            (
                "/api/v1/pods?t=secret&limit=1",
                Some("/api/v1/pods?limit=1"),
            ),
            ("/api/v1/../../metrics", None),
            ("/api/v1/pods?a%26b=c", None),
        ] {
            assert_eq!(sent(path).ok().as_deref(), expect, "{path}");
        }
    }
}
