//! `KubeApi`: answers reads from the objects that the server follows, and passes everything else on to the API server.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use futures::future::BoxFuture;
use futures::stream::unfold;
use http::header::{
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, LAST_MODIFIED, RETRY_AFTER, WARNING,
};
use http::{HeaderMap, HeaderValue, StatusCode};

use super::kube_objects::{SelectedObjects, answer, object_text};
use super::kube_watch::{KubeWatch, PresentObjects, WatchWindows, WatchedSource, expired};
use crate::cluster::{ApiRequest, Client, RawAnswer, RequestError, RequestPath};
use crate::object::ObjectRef;
use crate::serve::{
    ApiPlace, ApiRead, ApiSelectors, ApiSource, CachedRead, CachedVerb, CachedWatch, NoPlace,
    ObjectForm, Params, PlaceLimits, ReadRight, ReaderPlace, ReaderPlaces, RightGuard,
    RightsAnswer, RightsAsker, RightsCache, SourcePlace, WatchFrom, WebReader, connects,
    follows_log, is_watch, status_answer,
};
use crate::source::{ClusterId, Form, Select, SourceKey};
use crate::watch::{Mux, Revision};

/// The headers of an answer of the API server that readers get, too.
const PASSED_HEADERS: [http::HeaderName; 5] =
    [CONTENT_TYPE, ETAG, LAST_MODIFIED, RETRY_AFTER, WARNING];

/// The most watches at a time, from memory and of the API server, with the logs that go on.
const WATCHES: PlaceLimits = PlaceLimits {
    all: 2_000,
    of_one: 200,
};

/// The API servers of the clusters, with the followed objects before them.
pub(super) struct KubeApi {
    mux: Mux,
    /// The names of all clusters that the server follows, also of those that cannot be read yet.
    names: Vec<Arc<str>>,
    clusters: RwLock<BTreeMap<Arc<str>, Arc<ApiCluster>>>,
    /// The last events of the requested sources.
    windows: WatchWindows,
    /// The places of watches.
    watches: Arc<ReaderPlaces>,
    /// How readers are asked about; `None` if only the owner reads.
    readers: Option<ApiReaders>,
}

/// A cluster that is connected.
struct ApiCluster {
    /// A client with the credentials of the owner.
    owner: Client,
    /// The requested sources.
    sources: Vec<SourceKey>,
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
            let cluster = match self.cluster_of(&read) {
                Ok(cluster) => cluster,
                Err(refusal) => return *refusal,
            };
            match self.held_answer(&cluster, &read).await {
                Some(answer) => answer,
                None => self.passed(&cluster, &read).await,
            }
        })
    }
}

impl KubeApi {
    /// Answers for clusters with these names, none of which is connected.
    pub(super) fn new(mux: Mux, names: Vec<Arc<str>>) -> KubeApi {
        KubeApi {
            windows: WatchWindows::default(),
            watches: ReaderPlaces::new(WATCHES),
            mux,
            names,
            clusters: RwLock::default(),
            readers: None,
        }
    }

    /// From now on, these sources of a connected cluster are answered from memory, with the rights of the owner.
    pub(super) fn serve(&self, cluster: &ClusterId, owner: Client, sources: Vec<SourceKey>) {
        let served = ApiCluster { owner, sources };
        let clusters = self.clusters.write();
        let mut clusters = clusters.unwrap_or_else(PoisonError::into_inner);
        clusters.insert(cluster.0.clone(), Arc::new(served));
        let sources = clusters.values().flat_map(|cluster| &cluster.sources);
        self.windows
            .keep(sources.filter(|key| is_kept(key)).cloned());
    }

    /// The same for a cluster that is served already.
    pub(super) fn serve_others(&self, cluster: &ClusterId, sources: Vec<SourceKey>) {
        let owner = {
            let clusters = self.clusters.read();
            let clusters = clusters.unwrap_or_else(PoisonError::into_inner);
            clusters.get(&cluster.0).map(|served| served.owner.clone())
        };
        if let Some(owner) = owner {
            self.serve(cluster, owner, sources);
        }
    }

    /// The cluster that a request is for: the only one, or that of its address.
    fn cluster_of(&self, read: &ApiRead) -> Result<Arc<ApiCluster>, Box<Response>> {
        let refused = |code, reason: &str, message: String| {
            Err(Box::new(status_answer(code, reason, &message)))
        };
        let name = match (&read.cluster, &self.names[..]) {
            (Some(name), _) => &**name,
            (None, [only]) => only,
            (None, names) => {
                let message = format!(
                    "this server follows several clusters: name one, as in /clusters/{}{}",
                    names.first().map_or("NAME", |name| &**name),
                    read.uri.path()
                );
                return refused(StatusCode::BAD_REQUEST, "BadRequest", message);
            }
        };
        let found = {
            let clusters = self.clusters.read();
            let clusters = clusters.unwrap_or_else(PoisonError::into_inner);
            clusters.get(name).cloned()
        };
        match found {
            Some(cluster) => Ok(cluster),
            None if self.names.iter().any(|known| **known == *name) => {
                let message = format!("the cluster {name} cannot be read yet");
                refused(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "ServiceUnavailable",
                    message,
                )
            }
            None => {
                let message = format!("this server does not follow the cluster {name:?}");
                refused(StatusCode::NOT_FOUND, "NotFound", message)
            }
        }
    }

    /// The same, for readers with rights of their own.
    pub(super) fn asking(self, readers: Option<ApiReaders>) -> KubeApi {
        KubeApi { readers, ..self }
    }

    /// Keeps the last events of the sources, which somebody else starts. It does not end.
    pub(super) async fn keep_events(&self) {
        self.windows.follow(&self.mux).await;
    }

    /// An answer from memory; `None` if the API server must answer.
    async fn held_answer(&self, cluster: &ApiCluster, read: &ApiRead) -> Option<Response> {
        let request = CachedRead::of(read)?;
        let key = cluster
            .sources
            .iter()
            .find(|key| holds(key, &request.place))?;
        let place = SourcePlace {
            resource: key.resource.clone(),
            namespace: request.place.namespace.as_deref().map(Arc::from),
        };
        let right = match &request.verb {
            CachedVerb::Get { .. } => ReadRight::Get(place),
            CachedVerb::List { .. } => ReadRight::List(place),
            CachedVerb::Watch(_) => ReadRight::Watch(place),
        };
        let guard = match &read.reader {
            WebReader::Owner => None,
            WebReader::User(token) => {
                let rights = &self.readers.as_ref()?.rights;
                if rights.ask(token, &right, RightsAsker::Request).await
                    != Ok(RightsAnswer::Granted)
                {
                    return None;
                }
                Some(RightGuard::new(rights.clone(), token.clone(), right))
            }
        };
        let held = HeldRead {
            key,
            place: &request.place,
            form: request.form,
        };
        match &request.verb {
            CachedVerb::Get { name, at_least } => self.object(&held, name, *at_least),
            CachedVerb::List {
                selectors,
                at_least,
            } => {
                let selected = held.selected(selectors)?;
                let (version, objects) = self.mux.held(key)?;
                is_reached(Revision::parse(&version)?, *at_least)
                    .then(|| selected.list(&key.resource, &version, objects))
            }
            CachedVerb::Watch(watch) => {
                let reader = WatchReader {
                    reader: &read.reader,
                    guard,
                };
                self.watch(&held, watch, reader)
            }
        }
    }

    /// An object from memory. One that is not there may have been created just now: the API server knows.
    fn object(&self, held: &HeldRead<'_>, name: &str, at_least: u64) -> Option<Response> {
        let object = ObjectRef {
            api_version: held.key.resource.api_version().into(),
            kind: held.key.resource.kind.clone(),
            namespace: held.place.namespace.as_deref().map(Arc::from),
            name: name.into(),
            uid: None,
        };
        let (version, object) = self.mux.held_object(held.key, object)?;
        let is_reached = is_reached(Revision::parse(&version)?, at_least);
        let object = object.filter(|_| is_reached)?;
        let text = object_text(&object, held.form);
        Some(answer(Body::from(text.to_string())))
    }

    /// A watch from memory.
    fn watch(
        &self,
        held: &HeldRead<'_>,
        asked: &CachedWatch,
        WatchReader { reader, guard }: WatchReader<'_>,
    ) -> Option<Response> {
        let selected = held.selected(&asked.selectors)?;
        let window = self.windows.of(held.key)?;
        let open = match self.watches.take(reader.holder()) {
            Ok(open) => open,
            Err(no_place) => return Some(too_many(no_place)),
        };
        let reached = Revision::parse(&self.mux.reached(held.key)?)?;
        let (place, present) = match asked.from {
            WatchFrom::Version(version) => {
                // What the memory has not reached may be of another history.
                let after = Revision::of(version).filter(|it| *it <= reached)?;
                let Some(place) = window.borrow().place_after(after) else {
                    return Some(expired(version));
                };
                (place, None)
            }
            WatchFrom::Objects {
                at_least,
                is_marked,
            } => {
                let (version, objects) = self.mux.held(held.key)?;
                let at = Revision::parse(&version)?;
                let place = window.borrow().place_after(at)?;
                let present = PresentObjects {
                    at,
                    objects,
                    is_marked,
                };
                is_reached(at, at_least).then_some((place, Some(present)))?
            }
        };
        let source = WatchedSource {
            window,
            place,
            resource: held.key.resource.clone(),
            selected,
            guard,
            _place: open,
        };
        Some(KubeWatch::new(source, asked, present).answer())
    }

    /// The answer of the API server, with the rights of the reader.
    async fn passed(&self, cluster: &ApiCluster, read: &ApiRead) -> Response {
        let ForeignRequest { request, path } = match ForeignRequest::of(read) {
            Ok(request) => request,
            Err(message) => return status_answer(StatusCode::BAD_REQUEST, "BadRequest", &message),
        };
        // The path that is sent decides: in that of the reader, a letter may be encoded.
        if connects(&path) {
            let message =
                "this server only reads: it opens no connection to containers and services";
            return status_answer(StatusCode::FORBIDDEN, "Forbidden", message);
        }
        let params = Params::of(&read.uri);
        let follows_log = follows_log(&path, &params);
        let is_long = follows_log || is_watch(&params) || path.contains("/watch/");
        let place = match is_long
            .then(|| self.watches.take(read.reader.holder()))
            .transpose()
        {
            Ok(place) => place,
            Err(no_place) => return too_many(no_place),
        };
        let answered = match self.client_of(cluster, &read.reader) {
            Ok(client) => client.pass(&request, follows_log).await,
            Err(message) => {
                return status_answer(StatusCode::UNAUTHORIZED, "Unauthorized", &message);
            }
        };
        match answered {
            Ok(answer) => passed_on(answer, place),
            Err(error) => {
                let code = match error {
                    RequestError::Timeout(_) => StatusCode::GATEWAY_TIMEOUT,
                    _ => StatusCode::SERVICE_UNAVAILABLE,
                };
                status_answer(code, "ServiceUnavailable", &error.to_string())
            }
        }
    }

    fn client_of(&self, cluster: &ApiCluster, reader: &WebReader) -> Result<Client, String> {
        match (reader, &self.readers) {
            (WebReader::Owner, _) => Ok(cluster.owner.clone()),
            (WebReader::User(token), Some(readers)) => {
                let client = readers.client.with_token(token.expose());
                client.map_err(|error| error.to_string())
            }
            (WebReader::User(_), None) => Err("Unauthorized".to_owned()),
        }
    }
}

/// Who watches, and the right that he needs; the owner needs none.
struct WatchReader<'r> {
    reader: &'r WebReader,
    guard: Option<RightGuard>,
}

/// The answer to a watch without a place. Clients of Kubernetes ask again.
fn too_many(no_place: NoPlace) -> Response {
    let message = format!("{}, please try again later", no_place.words("watches"));
    let code = StatusCode::TOO_MANY_REQUESTS;
    NoPlace::later(status_answer(code, "TooManyRequests", &message))
}

/// A request, and the source that has the objects.
struct HeldRead<'a> {
    key: &'a SourceKey,
    place: &'a ApiPlace,
    form: ObjectForm,
}

impl HeldRead<'_> {
    fn selected(&self, selectors: &ApiSelectors) -> Option<SelectedObjects> {
        SelectedObjects::new(self.place.namespace.as_deref(), selectors, self.form)
    }
}

/// Whether a state has reached a version; any has reached 0.
fn is_reached(state: Revision, at_least: u64) -> bool {
    Revision::of(at_least).is_none_or(|wanted| state >= wanted)
}

/// Whether a source may answer at all. Secrets never come from memory.
fn is_kept(key: &SourceKey) -> bool {
    let resource = &key.resource;
    let is_secret = resource.group.is_empty() && &*resource.plural == "secrets";
    key.select == Select::All && key.form == Form::Full && !is_secret
}

/// Whether a source has every object of a place.
fn holds(key: &SourceKey, place: &ApiPlace) -> bool {
    let resource = &key.resource;
    let is_place = match (&place.namespace, key.namespace()) {
        (Some(asked), Some(own)) => asked == own,
        (Some(_), None) => resource.namespaced,
        (None, own) => own.is_none(),
    };
    *resource.group == *place.group
        && *resource.version == *place.version
        && *resource.plural == *place.plural
        && is_kept(key)
        && is_place
}

/// The same request for the API server.
struct ForeignRequest {
    request: ApiRequest,
    /// Its path, as it is sent.
    path: String,
}

impl ForeignRequest {
    fn of(read: &ApiRead) -> Result<ForeignRequest, String> {
        let request = foreign_request(read)?;
        let sent = request.to_http().map_err(|error| error.to_string())?;
        let path = sent.uri().path().to_owned();
        Ok(ForeignRequest { request, path })
    }
}

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
    // The old paths of watches have it as a part.
    Ok(
        if is_watch(&params) || read.uri.path().contains("/watch/") {
            request.identity()
        } else {
            request
        },
    )
}

/// An answer of the API server. A stream keeps its place until it ends.
fn passed_on(answer: RawAnswer, place: Option<ReaderPlace>) -> Response {
    let RawAnswer { head, body } = answer;
    // No answer of another program is a page of this server.
    let policy = HeaderValue::from_static("default-src 'none'; sandbox");
    let mut headers = HeaderMap::from_iter([(CONTENT_SECURITY_POLICY, policy)]);
    for name in PASSED_HEADERS {
        if let Some(value) = head.headers.get(&name) {
            headers.insert(name, value.clone());
        }
    }
    let chunks = unfold(Some((body, place)), |open| async move {
        let (mut body, place) = open?;
        match body.chunk().await {
            Ok(Some(chunk)) => Some((Ok(chunk), Some((body, place)))),
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

    fn read(path: &str) -> ApiRead {
        ApiRead {
            cluster: None,
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
            let request = CachedRead::of(&read(path)).expect("a list");
            assert_eq!(holds(&key, &request.place), expect, "{path}");
        }
    }

    #[test]
    fn only_a_followed_log_may_be_silent() {
        for (path, expect) in [
            ("/api/v1/namespaces/shop/pods/web/log?follow=true", true),
            ("/api/v1/namespaces/shop/pods/web/log?follow=false", false),
            ("/api/v1/namespaces/shop/pods/web/log", false),
            ("/api/v1/namespaces/shop/pods/web?follow=true", false),
        ] {
            let uri = read(path).uri;
            assert_eq!(follows_log(uri.path(), &Params::of(&uri)), expect, "{path}");
        }
    }

    #[test]
    fn no_spelling_hides_what_a_path_reaches() {
        let pod = "/api/v1/namespaces/shop/pods/web";
        for (rest, expect) in [
            ("/proxy", Some(true)),
            ("/%70roxy", Some(true)),
            ("/%65%78%65%63", Some(true)),
            ("/log", Some(false)),
            ("/l%6Fg", Some(false)),
            ("%2Fproxy", None),
            ("/../web/proxy", None),
            ("/%2e%2e/web/proxy", None),
            ("//proxy", None),
        ] {
            let sent = ForeignRequest::of(&read(&format!("{pod}{rest}")));
            assert_eq!(sent.ok().map(|it| connects(&it.path)), expect, "{rest}");
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
