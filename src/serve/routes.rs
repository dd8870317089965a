//! The paths that the server answers.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use axum::{Extension, Router};
use http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, LOCATION,
    REFERRER_POLICY, SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use percent_encoding::percent_decode_str;

use super::api_path::ApiPath;
use super::cluster_choice::{ClusterChoice, add_warning};
use super::event_ring::EventId;
use super::gate::{Admitted, Gate};
use super::guarded_feed::{EventStream, GuardedFeed, StreamAsker};
use super::kube_api::{ApiRead, CLUSTERS, is_api_path};
use super::metrics::metrics;
use super::openapi::openapi;
use super::page::{NowPage, ObjectPage, ObjectPath, POLICY, SCRIPT, View, nothing, page};
use super::params::{CLUSTER, ParamError, Params, RowFilter};
use super::reader::WebReader;
use super::report_routes::{
    all_changes, object_changes, object_events, object_graph, object_logs, past_object,
};
use super::rights::Judgement;
use super::rights_cache::RightsQuestion;
use super::snapshot::Snapshot;
use super::streams::{EventFeed, Feed, ViewFeed};
use super::web_server::{Asker, OpenStream, RecordVerb, Shared, WebServer, text};
use crate::render::json::line;

/// The addresses of pages besides the first one. The token may come with them, and leaves them.
const PAGES: [&str; 6] = ["/o/", "/c/", "/e/", "/l/", "/g/", "/t"];

/// All paths, behind the gate.
pub fn router(server: Arc<WebServer>) -> Router {
    let for_programs = ApiPath::ALL.into_iter();
    let for_programs = for_programs.fold(Router::new(), |router, endpoint| {
        router.route(&endpoint.path(), handler(endpoint))
    });
    for_programs
        .route("/", get(now))
        .route("/o/{cluster}/{kind}/{namespace}/{name}", get(object))
        .route("/live", get(live_now))
        .route(
            "/live/o/{cluster}/{kind}/{namespace}/{name}",
            get(live_object),
        )
        .route(
            "/c/{cluster}/{kind}/{namespace}/{name}",
            get(object_changes),
        )
        .route("/e/{cluster}/{kind}/{namespace}/{name}", get(object_events))
        .route("/l/{cluster}/{kind}/{namespace}/{name}", get(object_logs))
        .route("/g/{cluster}/{kind}/{namespace}/{name}", get(object_graph))
        .route("/t", get(all_changes))
        .route("/page.js", get(script))
        .route("/metrics", get(all_metrics))
        .route(
            "/livez",
            get(async || text(StatusCode::OK, "ok\n".to_owned())),
        )
        .route("/readyz", get(ready))
        .route("/api", get(kube_api))
        .route("/api/{*rest}", get(kube_api))
        .route("/apis", get(kube_api))
        .route("/apis/{*rest}", get(kube_api))
        .route("/openapi/{*rest}", get(kube_api))
        .route("/version", get(kube_api))
        .route("/clusters/{cluster}/{*rest}", get(kube_api_of))
        .fallback(async || not_found("error: the server does not have this path\n"))
        .layer(from_fn_with_state(server.clone(), admit))
        .with_state(server)
}

/// What answers a path for programs.
fn handler(endpoint: ApiPath) -> MethodRouter<Arc<WebServer>> {
    match endpoint {
        ApiPath::Status => get(status),
        ApiPath::Packages => get(packages),
        ApiPath::Watches => get(watches),
        ApiPath::Trace => get(trace),
        ApiPath::Changes => get(changes),
        ApiPath::Logs => get(logs),
        ApiPath::Events => get(events),
        ApiPath::OpenApi => get(document),
    }
}

/// Checks a request, and gives each answer the headers that keep browsers from doing more with it.
async fn admit(State(server): Shared, request: Request, next: Next) -> Response {
    let mut response = admitted(&server, request, next).await;
    let headers = response.headers_mut();
    let fixed = [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        (CONTENT_SECURITY_POLICY, POLICY.as_str()),
    ];
    for (name, value) in fixed {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.entry(name).or_insert(value);
        }
    }
    response
}

/// Answers a request of a known reader, and refuses others.
async fn admitted(server: &Arc<WebServer>, mut request: Request, next: Next) -> Response {
    let uri = request.uri().clone();
    let is_page = PAGES.iter().any(|page| uri.path().starts_with(page)) || uri.path() == "/";
    let reader = match server.gate.check(request.method(), &uri, request.headers()) {
        Err(denial) => return server.deny_at(uri.path(), denial),
        // The token leaves the address, so that no history and no link has it.
        Ok(Admitted::InAddress) if is_page => return welcome(&server.gate, &uri),
        Ok(Admitted::Public) => return next.run(request).await,
        Ok(Admitted::InAddress) => WebReader::Owner,
        Ok(Admitted::Known(reader)) => reader,
    };
    if let Err(error) = server.check(&reader).await {
        return server.unknown_at(uri.path(), &error);
    }
    request.extensions_mut().insert(reader);
    next.run(request).await
}

/// Keeps the token as a cookie and leads to the same address without it.
fn welcome(gate: &Gate, uri: &Uri) -> Response {
    let query = Params::of(uri).to_query();
    let address = match &*query {
        "" => uri.path().to_owned(),
        query => format!("{}?{query}", uri.path()),
    };
    let cookie = gate.cookie().map(|cookie| [(SET_COOKIE, cookie)]);
    (StatusCode::SEE_OTHER, [(LOCATION, address)], cookie, "").into_response()
}

async fn now(State(server): Shared, Extension(reader): Asker, uri: Uri) -> Response {
    let params = Params::of(&uri);
    let view = match NowPage::of(&params) {
        Ok(view) => view,
        Err(error) => return refused(&error),
    };
    match server.seen_by(&reader, chosen_namespace(&params)).await {
        Ok(snapshot) => html(&view, &snapshot),
        Err(error) => server.unknown(&error),
    }
}

/// The namespace that an address asks for.
fn chosen_namespace(params: &Params) -> Option<&str> {
    params.namespace()
}

async fn object(
    State(server): Shared,
    Extension(reader): Asker,
    Path(path): Path<ObjectPath>,
    uri: Uri,
) -> Response {
    let query = Params::of(&uri);
    if let Some(past) = past_object(&server, reader.clone(), &path.address(), &query).await {
        return past;
    }
    let snapshot = match server.seen_by(&reader, path.namespace()).await {
        Ok(snapshot) => snapshot,
        Err(error) => return server.unknown(&error),
    };
    if let Some(view) = ObjectPage::at(path.address(), &snapshot) {
        return html(&view, &snapshot);
    }
    let (code, words) = ClusterChoice::One(&path.address().cluster)
        .unread(&snapshot)
        .unwrap_or_else(|| {
            let words = "This object is not among those that kubectl spy serve follows.";
            (StatusCode::NOT_FOUND, words.to_owned())
        });
    let content = (CONTENT_TYPE, "text/html; charset=utf-8");
    (code, [content], nothing(&words).into_string()).into_response()
}

async fn live_now(State(server): Shared, Extension(reader): Asker, uri: Uri) -> Response {
    let params = Params::of(&uri);
    let view = match NowPage::of(&params) {
        Ok(view) => view,
        Err(error) => return refused(&error),
    };
    let asker = StreamAsker::new(reader, chosen_namespace(&params));
    live(&server, asker, view).await
}

async fn live_object(
    State(server): Shared,
    Extension(reader): Asker,
    Path(path): Path<ObjectPath>,
) -> Response {
    let seen = match server.seen_by(&reader, path.namespace()).await {
        Ok(seen) => seen,
        Err(error) => return server.unknown(&error),
    };
    match ObjectPage::at(path.address(), &seen) {
        Some(view) => live(&server, StreamAsker::new(reader, path.namespace()), view).await,
        None => not_found("error: no such object\n"),
    }
}

async fn live(
    server: &Arc<WebServer>,
    asker: StreamAsker,
    view: impl View + Send + 'static,
) -> Response {
    match asker.rights(server).await {
        Ok(rights) => {
            let feed = ViewFeed::new(server.stream_source(), view, rights);
            streamed(server, asker, feed)
        }
        Err(error) => server.unknown(&error),
    }
}

async fn events(
    State(server): Shared,
    Extension(reader): Asker,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let params = Params::of(&uri);
    let filter = params
        .only(&ApiPath::Events.parameters())
        .and_then(|()| RowFilter::of(&params));
    let filter = match filter {
        Ok(filter) => filter,
        Err(error) => return refused(&error),
    };
    let Ok(last) = last_event_id(&headers) else {
        let error =
            "error: invalid value of \"Last-Event-ID\": expected the id of an event\n".to_owned();
        return text(StatusCode::BAD_REQUEST, error);
    };
    let (choice, now) = (ClusterChoice::of(&params), server.snapshot());
    if let Err(answer) = choice.check_read(&now) {
        return *answer;
    }
    let asker = StreamAsker::new(reader, chosen_namespace(&params));
    match asker.rights(&server).await {
        Ok(rights) => {
            if let Some((code, words)) = filter.unfollowed(&now.for_reader(&rights)) {
                return text(code, words);
            }
            let feed = EventFeed::new(server.stream_source(), filter, last, rights);
            choice.warn(&now, streamed(&server, asker, feed))
        }
        Err(error) => server.unknown(&error),
    }
}

/// The event after which a reader resumes; `None` for a new reader. Fails for what is no id.
fn last_event_id(headers: &HeaderMap) -> Result<Option<EventId>, ()> {
    let Some(id) = headers.get("last-event-id").filter(|id| !id.is_empty()) else {
        return Ok(None);
    };
    id.to_str().map_err(drop)?.parse().map(Some)
}

fn streamed(server: &Arc<WebServer>, asker: StreamAsker, feed: impl Feed) -> Response {
    let open = match OpenStream::begin(server, asker.reader()) {
        Ok(open) => open,
        Err(no_place) => return no_place.answer(),
    };
    EventStream::of(GuardedFeed::new(feed, asker, open)).answer()
}

/// The read API of Kubernetes of the only cluster.
async fn kube_api(
    State(server): Shared,
    Extension(reader): Asker,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let read = ApiRead {
        cluster: None,
        accept: accepted(&headers),
        uri,
        reader,
    };
    kube_answer(&server, read).await
}

/// The same of the cluster that the address names: `/clusters/edge-1/api/v1/pods`.
async fn kube_api_of(
    State(server): Shared,
    Extension(reader): Asker,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let Some(place) = ClusterUri::of(&uri) else {
        return not_found("error: the server does not have this path\n");
    };
    let read = ApiRead {
        cluster: Some(place.cluster),
        accept: accepted(&headers),
        uri: place.within,
        reader,
    };
    kube_answer(&server, read).await
}

/// An address of the API of a cluster.
struct ClusterUri {
    cluster: String,
    /// The address without the name of the cluster before it.
    within: Uri,
}

impl ClusterUri {
    /// `None` for other addresses.
    fn of(uri: &Uri) -> Option<ClusterUri> {
        let rest = uri.path().strip_prefix(CLUSTERS)?;
        let at = rest.find('/')?;
        let cluster = percent_decode_str(&rest[..at]).decode_utf8().ok()?;
        let within = match uri.query() {
            Some(query) => format!("{}?{query}", &rest[at..]),
            None => rest[at..].to_owned(),
        };
        let within: Uri = within.parse().ok()?;
        let is_usual = !within.path().starts_with("//");
        (is_usual && is_api_path(within.path())).then(|| ClusterUri {
            cluster: cluster.into_owned(),
            within,
        })
    }
}

/// The media types that a reader takes.
fn accepted(headers: &HeaderMap) -> String {
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
    accept.unwrap_or("application/json").to_owned()
}

async fn kube_answer(server: &WebServer, read: ApiRead) -> Response {
    let Some(api) = &server.api else {
        return not_found(
            "error: the server does not have this path\n\
             hint: kubectl spy serve --api=kubernetes answers the read API of Kubernetes\n",
        );
    };
    api.answer(read).await
}

async fn script(headers: HeaderMap) -> Response {
    SCRIPT.answer(&headers)
}

/// The records of `status -o json`.
async fn status(State(server): Shared, Extension(reader): Asker, uri: Uri) -> Response {
    let params = Params::of(&uri);
    let known = ApiPath::Status.parameters();
    let asked = params.only(&known).and_then(|()| {
        let filter = RowFilter::of(&params)?;
        Ok((filter, params.has("explain")?))
    });
    let (filter, explains) = match asked {
        Ok(asked) => asked,
        Err(error) => return refused(&error),
    };
    let choice = ClusterChoice::of(&params);
    if let Err(answer) = choice.check_read(&server.snapshot()) {
        return *answer;
    }
    let snapshot = match server.seen_by(&reader, chosen_namespace(&params)).await {
        Ok(snapshot) => snapshot,
        Err(error) => return server.unknown(&error),
    };
    let refusal = filter.unfollowed(&snapshot);
    if let Some((code, words)) = refusal.or_else(|| filter.absence(&snapshot)) {
        return text(code, words);
    }
    let mut body = String::new();
    for row in filter.rows(&snapshot) {
        body.push_str(&row.json(explains));
        body.push('\n');
    }
    choice.warn(&snapshot, records(body))
}

/// The followed sources.
async fn watches(State(server): Shared, Extension(reader): Asker, uri: Uri) -> Response {
    let params = Params::of(&uri);
    if let Err(error) = params.only(&ApiPath::Watches.parameters()) {
        return refused(&error);
    }
    let snapshot = match server.seen_by(&reader, None).await {
        Ok(snapshot) => snapshot,
        Err(error) => return server.unknown(&error),
    };
    let cluster = params.first(CLUSTER);
    let watches = snapshot.watches.iter();
    let watches = watches.filter(|it| cluster.is_none_or(|cluster| it.cluster == cluster));
    records(watches.map(|record| line(record) + "\n").collect())
}

/// The `OpenAPI` document.
async fn document(uri: Uri) -> Response {
    if let Err(error) = Params::of(&uri).only(&ApiPath::OpenApi.parameters()) {
        return refused(&error);
    }
    let content = (CONTENT_TYPE, "application/json; charset=utf-8");
    ([content], openapi().to_string()).into_response()
}

/// The records of packages.
async fn packages(State(server): Shared, Extension(reader): Asker, uri: Uri) -> Response {
    let params = Params::of(&uri);
    if let Err(error) = params.only(&ApiPath::Packages.parameters()) {
        return refused(&error);
    }
    let choice = ClusterChoice::of(&params);
    if let Err(answer) = choice.check_read(&server.snapshot()) {
        return *answer;
    }
    let snapshot = match server.seen_by(&reader, None).await {
        Ok(snapshot) => snapshot,
        Err(error) => return server.unknown(&error),
    };
    let is_asked_for = |value: Option<&str>, name: &str| {
        params.first(name).is_none_or(|asked| value == Some(asked))
    };
    let packages = snapshot.packages.iter().map(|package| &package.record);
    let packages = packages.filter(|record| {
        is_asked_for(Some(&record.cluster), CLUSTER)
            && params
                .namespace()
                .is_none_or(|asked| record.namespace.as_deref() == Some(asked))
            && is_asked_for(Some(&record.package), "package")
            && is_asked_for(Some(&record.tool), "tool")
            && is_asked_for(Some(record.status), "status")
    });
    let lines = packages.map(|record| line(record) + "\n").collect();
    choice.warn(&snapshot, records(lines))
}

/// The records of `trace -o json`.
async fn trace(State(server): Shared, Extension(reader): Asker, uri: Uri) -> Response {
    ask(&server, RecordVerb::Trace, &uri, reader).await
}

/// The records of `changes -o json`.
async fn changes(State(server): Shared, Extension(reader): Asker, uri: Uri) -> Response {
    ask(&server, RecordVerb::Changes, &uri, reader).await
}

/// The records of `logs -o json`.
async fn logs(State(server): Shared, Extension(reader): Asker, uri: Uri) -> Response {
    ask(&server, RecordVerb::Logs, &uri, reader).await
}

async fn ask(server: &WebServer, verb: RecordVerb, uri: &Uri, reader: WebReader) -> Response {
    match server.answer(verb, Params::of(uri), reader).await {
        Ok(answered) => {
            let mut answer = records(answered.records);
            for (cluster, reason) in &answered.absences {
                add_warning(&mut answer, &format!("{cluster}: {reason}"));
            }
            answer
        }
        Err(error) => {
            let content = (CONTENT_TYPE, "text/plain; charset=utf-8");
            error.answer(([content], error.words.clone()))
        }
    }
}

async fn all_metrics(State(server): Shared, Extension(reader): Asker) -> Response {
    let rights = match server
        .rights(RightsQuestion::of_request(&reader, None))
        .await
    {
        Ok(rights) => rights,
        Err(error) => return server.unknown(&error),
    };
    let board = server.board.borrow().for_reader(&rights);
    let mut counts = server.counts();
    if rights.judgement(board.snapshot.places.iter()) == Judgement::Alone {
        // They count changes of objects that the reader may not list.
        counts.sinks.clear();
    }
    let text = metrics(&board, &counts);
    let content = (CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8");
    ([content], text).into_response()
}

async fn ready(State(server): Shared) -> Response {
    let snapshot = server.snapshot();
    // Anybody may ask, so it has no more than the names.
    let absent = snapshot.clusters.iter();
    let absent = absent.filter(|cluster| cluster.absence().is_some());
    let absent: Vec<&str> = absent.map(|cluster| &*cluster.name).collect();
    let is_of_several = snapshot.is_of_several();
    let (code, words) = match (snapshot.link.is_read, &absent[..]) {
        (true, [_, ..]) if is_of_several => (
            StatusCode::OK,
            format!("ok\nnot read: {}\n", absent.join(", ")),
        ),
        (true, _) => (StatusCode::OK, "ok\n".to_owned()),
        (false, _) if is_of_several => {
            let words = format!("not ready: not read yet: {}\n", absent.join(", "));
            (StatusCode::SERVICE_UNAVAILABLE, words)
        }
        (false, _) => {
            let words = "not ready: the cluster is not read yet\n";
            (StatusCode::SERVICE_UNAVAILABLE, words.to_owned())
        }
    };
    text(code, words)
}

fn html(view: &impl View, snapshot: &Snapshot) -> Response {
    match view.of(snapshot) {
        Some(shown) => {
            let content = (CONTENT_TYPE, "text/html; charset=utf-8");
            ([content], page(&shown, view, snapshot).into_string()).into_response()
        }
        None => not_found("error: no such object\n"),
    }
}

fn records(lines: String) -> Response {
    let content = (CONTENT_TYPE, "application/x-ndjson; charset=utf-8");
    ([content], lines).into_response()
}

fn refused(error: &ParamError) -> Response {
    text(StatusCode::BAD_REQUEST, format!("error: {error}\n"))
}

fn not_found(words: &str) -> Response {
    text(StatusCode::NOT_FOUND, words.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_api_of_a_cluster_has_an_address_of_its_own() {
        for (address, expect) in [
            (
                "/clusters/a/api/v1/pods?x=1",
                Some(("a", "/api/v1/pods?x=1")),
            ),
            ("/clusters/a%2Fb%20c/version", Some(("a/b c", "/version"))),
            ("/clusters/a/spy/v1/status", None),
            ("/clusters/a/clusters/b/spy/v1/status", None),
            ("/clusters/a/clusters/b/api", None),
            ("/clusters/a//api", None),
            ("/clusters/%ff/api", None),
            ("/clusters/a", None),
            ("/clusters//api", Some(("", "/api"))),
        ] {
            let found = ClusterUri::of(&address.parse().expect("an address"));
            let found = found.map(|it| (it.cluster, it.within.to_string()));
            let expect = expect.map(|(name, uri)| (name.to_owned(), uri.to_owned()));
            assert_eq!(found, expect, "{address}");
        }
    }
}
