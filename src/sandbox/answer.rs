//! Answers one request: authenticates the user, applies faults, finds the route, and builds the response.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, HeaderName};
use http::{Method, Request, Response};

use super::discovery;
use super::fault::{Effect, Expiry, Place, Verb};
use super::list::{self, ListRequest};
use super::logs::{LogFeed, LogOptions, RequestedLog, container_of, instance_of};
use super::reply::{Body, ServerReply, accepts_gzip};
use super::route::{AnswerForm, ObjectsRoute, Query, Route, accepted};
use super::select::ListSelection;
use super::state::{Access, ServerState, User};
use super::status::ApiFailure;
use super::store::{StoreKey, text};
use super::view::{ObjectView, TableColumns};
use super::watch::WatchSource;
use super::wire::Switch;

type Answer = io::Result<Response<Body>>;

/// The connection that a request came from.
pub(super) struct Caller {
    pub(super) connection: usize,
    pub(super) switch: Arc<Switch>,
}

/// A request, its parsed query, and the parts of its reply.
struct Call<'a> {
    shared: &'a Arc<ServerState>,
    request: &'a Request<hyper::body::Incoming>,
    query: Query,
    reply: ServerReply,
}

/// Answers a request. An error breaks the connection without an answer.
pub(super) async fn answer(
    shared: &Arc<ServerState>,
    request: &Request<hyper::body::Incoming>,
    caller: Caller,
) -> Answer {
    let user = shared.authenticate(header(request, AUTHORIZATION));
    let known = user.as_ref().ok().and_then(Option::as_ref);
    let name = known.map(|user| user.name.clone());
    let progress = shared.journal.asked(request, name, caller.connection);
    let query = Query::of(request.uri().query());
    let route = Route::of(request.uri().path(), &shared.store.kinds);
    let (verb, resource) = fault_place(route.as_ref().ok(), &query, shared, request.uri().path());
    let call = Call {
        shared,
        request,
        query,
        reply: ServerReply {
            effects: shared.faults.effects_of(verb, &resource),
            switch: caller.switch,
            progress,
            accepts_gzip: accepts_gzip(request.headers()),
        },
    };
    call.apply_early().await?;
    if let Some(response) = call.injected_status() {
        return Ok(response);
    }
    let answered = user.and_then(|user| {
        if request.method() != Method::GET {
            return Err(ApiFailure::method_not_allowed());
        }
        call.dispatch(&route?, user.as_ref())
    });
    Ok(answered.unwrap_or_else(|failure| call.reply.refuse(&failure)))
}

/// The verb and the resource by which the fault script selects a request. Requests for other paths count as
/// GET, with the path as resource.
fn fault_place(
    route: Option<&Route>,
    query: &Query,
    shared: &ServerState,
    path: &str,
) -> (Verb, String) {
    match route {
        Some(Route::Objects(ObjectsRoute { kind, name, .. })) => {
            let verb = match name {
                Some(_) => Verb::Get,
                None if query.flag("watch") => Verb::Watch,
                None if query.get("resourceVersionMatch") == Some("Exact") => Verb::Exact,
                None => Verb::List,
            };
            let resource = &shared.store.kinds[*kind].resource;
            (verb, resource.plural.to_string())
        }
        Some(Route::Log(_)) => (Verb::Get, "pods/log".to_owned()),
        _ => (Verb::Get, path.trim_matches('/').to_owned()),
    }
}

fn header(request: &Request<hyper::body::Incoming>, name: HeaderName) -> Option<&str> {
    request
        .headers()
        .get(name)
        .and_then(|value| value.to_str().ok())
}

impl Call<'_> {
    /// Applies the faults that delay an answer or leave a request without one.
    async fn apply_early(&self) -> io::Result<()> {
        for effect in &self.reply.effects {
            match effect {
                Effect::Cut {
                    at: Place::BeforeHeaders,
                    end,
                } => {
                    self.reply.switch.throw(*end);
                    return Err(io::ErrorKind::ConnectionReset.into());
                }
                Effect::Stall {
                    at: Place::BeforeHeaders,
                } => std::future::pending().await,
                Effect::Latency(delay) => tokio::time::sleep(*delay).await,
                _ => {}
            }
        }
        Ok(())
    }

    fn injected_status(&self) -> Option<Response<Body>> {
        let is_later_page = self.query.get("continue").is_some();
        self.reply.effects.iter().find_map(|effect| match effect {
            Effect::Status {
                code,
                retry_after,
                body,
            } => Some(self.reply.error_page(*code, *retry_after, *body)),
            Effect::Expire(Expiry::HttpStatus) => Some(self.reply.refuse(&self.expired())),
            Effect::Expire(Expiry::SecondPage) if is_later_page => Some(
                self.reply
                    .refuse(&ApiFailure::page_expired("00".to_owned())),
            ),
            _ => None,
        })
    }

    fn expired(&self) -> ApiFailure {
        let newest = self.shared.store.lock().revision;
        if self.query.flag("watch") {
            let asked = self.query.revision(self.shared.version_text);
            ApiFailure::watch_expired(asked.ok().flatten().unwrap_or(1), newest)
        } else {
            ApiFailure::list_expired()
        }
    }

    fn dispatch(&self, route: &Route, user: Option<&User>) -> Result<Response<Body>, ApiFailure> {
        let kinds = &self.shared.store.kinds;
        let form = accepted(header(self.request, ACCEPT))?;
        let document = match route {
            Route::Objects(objects) => return self.objects(objects, form, user),
            Route::Log(pod) => return self.log(pod, user),
            Route::Health => {
                return Ok(self
                    .reply
                    .whole("text/plain; charset=utf-8", Bytes::from_static(b"ok")));
            }
            Route::CoreVersions | Route::Groups if form == AnswerForm::Discovery => {
                let document =
                    discovery::aggregated(*route == Route::CoreVersions, kinds).to_string();
                let content =
                    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
                return Ok(self.reply.whole(content, Bytes::from(document)));
            }
            Route::CoreVersions => discovery::core_versions(),
            Route::Groups => discovery::groups(kinds),
            Route::Group(group) => discovery::group(group, kinds),
            Route::Resources(group, version) => discovery::resources(group, version, kinds),
            Route::OpenApi => discovery::openapi_index(kinds),
            Route::Schemas(group, version) => discovery::openapi_document(group, version, kinds),
            Route::Version => discovery::version(),
        };
        Ok(self
            .reply
            .whole("application/json", Bytes::from(document.to_string())))
    }

    fn objects(
        &self,
        route: &ObjectsRoute,
        form: AnswerForm,
        user: Option<&User>,
    ) -> Result<Response<Body>, ApiFailure> {
        let shared = self.shared;
        let name = route.name.as_deref();
        let kind = &shared.store.kinds[route.kind];
        let is_watch = self.query.flag("watch");
        let selection = ListSelection::of(&self.query, route, kind)?;
        let named = name
            .or(selection.fields.required("metadata.name"))
            .unwrap_or_default();
        let verb = match (name, is_watch) {
            (Some(_), _) => "get",
            (None, true) => "watch",
            (None, false) => "list",
        };
        if let Some(user) = user {
            user.check(&Access {
                verb,
                kind,
                subresource: "",
                namespace: route.namespace.as_deref(),
                name: named,
            })?;
        }
        let view = ObjectView::of(form, self.shared.version_text, &self.query, kind)?;
        let now = (shared.clock)();
        if let Some(name) = name {
            let key = StoreKey {
                kind: route.kind,
                namespace: route.namespace.clone().unwrap_or_default(),
                name: name.to_owned(),
            };
            let version = shared.store.lock().get(&key).cloned();
            let version = version
                .or_else(|| {
                    (*kind.resource.plural == *"namespaces").then(|| shared.namespace(name))?
                })
                .ok_or_else(|| ApiFailure::not_found(kind, name))?;
            let object = view.object(&version, now, TableColumns::Given);
            return Ok(self.reply.whole("application/json", object));
        }
        if is_watch {
            let source = WatchSource::open(shared, selection, view, &self.query)?;
            return Ok(self.reply.watch(source));
        }
        let request = ListRequest {
            selection: &selection,
            query: &self.query,
            effects: &self.reply.effects,
            view: &view,
        };
        let body = list::list(&shared.store, &request, now)?;
        Ok(self.reply.whole("application/json", body))
    }

    fn log(&self, route: &ObjectsRoute, user: Option<&User>) -> Result<Response<Body>, ApiFailure> {
        let shared = self.shared;
        let kind = &shared.store.kinds[route.kind];
        let name = route.name.as_deref().unwrap_or_default();
        if let Some(user) = user {
            user.check(&Access {
                verb: "get",
                kind,
                subresource: "log",
                namespace: route.namespace.as_deref(),
                name,
            })?;
        }
        let key = StoreKey {
            kind: route.kind,
            namespace: route.namespace.clone().unwrap_or_default(),
            name: name.to_owned(),
        };
        let pod = shared.store.lock().get(&key).cloned();
        let pod = pod.ok_or_else(|| ApiFailure::not_found(kind, name))?;
        let pod = pod.whole(kind);
        let options = LogOptions::of(&self.query, (shared.clock)())?;
        let container = container_of(&pod, &options)?;
        if text(&pod["spec"]["nodeName"]).is_empty() {
            return Ok(self.reply.send(204, "text/plain", futures::stream::empty()));
        }
        let id = instance_of(&pod, &container, options.previous)?;
        let requested = RequestedLog {
            pod: key,
            id,
            options,
        };
        let (effects, switch) = (self.reply.effects.clone(), self.reply.switch.clone());
        let feed = LogFeed::open(shared, requested, effects, switch);
        Ok(self.reply.log(feed))
    }
}
