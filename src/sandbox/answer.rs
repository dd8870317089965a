//! One request, answered: who asks, what befalls it, where it leads, and the response.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, RETRY_AFTER,
};
use http::{Method, Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;

use futures::StreamExt;

use super::Shared;
use super::discovery;
use super::fault::{Effect, ErrorBody, Expiry, Framing, Place, Verb};
use super::feed::{Feed, gzip};
use super::list;
use super::log::Key;
use super::rbac::{Access, User};
use super::requests::Progress;
use super::route::{Form, Query, Route, accepted};
use super::select::Selection;
use super::status::Failure;
use super::view::View;
use super::watch::Source;
use super::wire::Switch;

/// Bodies from this size on are compressed for those who accept it.
const GZIP_FROM: usize = 1024;

type Body = UnsyncBoxBody<Bytes, io::Error>;
type Answer = io::Result<Response<Body>>;

/// The connection a request came by.
pub(super) struct Caller {
    pub(super) connection: usize,
    pub(super) switch: Arc<Switch>,
}

/// A request with what is known about it.
struct Call<'a> {
    shared: &'a Arc<Shared>,
    request: &'a Request<hyper::body::Incoming>,
    query: Query,
    effects: Vec<Effect>,
    switch: Arc<Switch>,
    progress: Arc<Progress>,
}

/// Answers a request; an error breaks the connection without an answer.
pub(super) async fn answer(
    shared: &Arc<Shared>,
    request: &Request<hyper::body::Incoming>,
    caller: Caller,
) -> Answer {
    let user = shared.authenticate(header(request, AUTHORIZATION));
    let name = user
        .as_ref()
        .ok()
        .and_then(Option::as_ref)
        .map(|user| user.name.clone());
    let progress = shared.journal.asked(request, name, caller.connection);
    let query = Query::of(request.uri().query());
    let route = Route::of(request.uri().path(), shared.store.kinds());
    let (verb, resource) = fault_place(route.as_ref().ok(), &query, shared, request.uri().path());
    let effects = shared.faults.befall(verb, &resource);
    let call = Call {
        shared,
        request,
        query,
        effects,
        switch: caller.switch,
        progress,
    };
    call.strike_first().await?;
    if let Some(response) = call.injected_status() {
        return Ok(response);
    }
    let answered = user.and_then(|user| {
        if request.method() != Method::GET {
            return Err(Failure::method_not_allowed());
        }
        call.dispatch(&route?, user.as_ref())
    });
    Ok(answered.unwrap_or_else(|failure| call.refuse(&failure)))
}

/// How the fault script knows a request: verb and resource, or the path of what is no resource.
fn fault_place(
    route: Option<&Route>,
    query: &Query,
    shared: &Shared,
    path: &str,
) -> (Verb, String) {
    match route {
        Some(Route::Objects { kind, name, .. }) => {
            let verb = match name {
                Some(_) => Verb::Get,
                None if query.flag("watch") => Verb::Watch,
                None => Verb::List,
            };
            (verb, shared.store.kinds()[*kind].plural.clone())
        }
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
    /// The faults that leave a request without an answer.
    async fn strike_first(&self) -> io::Result<()> {
        for effect in &self.effects {
            match effect {
                Effect::Cut {
                    at: Place::BeforeHeaders,
                    end,
                } => {
                    self.switch.throw(*end);
                    return Err(io::ErrorKind::ConnectionReset.into());
                }
                Effect::Stall {
                    at: Place::BeforeHeaders,
                } => std::future::pending().await,
                _ => {}
            }
        }
        Ok(())
    }

    fn injected_status(&self) -> Option<Response<Body>> {
        let is_later_page = self.query.get("continue").is_some();
        self.effects.iter().find_map(|effect| match effect {
            Effect::Status {
                code,
                retry_after,
                body,
            } => Some(self.error_page(*code, *retry_after, *body)),
            Effect::Expire(Expiry::HttpStatus) => Some(self.refuse(&self.expired())),
            Effect::Expire(Expiry::SecondPage) if is_later_page => {
                Some(self.refuse(&Failure::page_expired("00".to_owned())))
            }
            _ => None,
        })
    }

    fn expired(&self) -> Failure {
        let newest = self.shared.store.lock().revision();
        let asked = self
            .query
            .parsed("resourceVersion")
            .ok()
            .flatten()
            .unwrap_or(1);
        if self.query.flag("watch") {
            Failure::watch_expired(asked, newest)
        } else {
            Failure::list_expired()
        }
    }

    fn error_page(&self, code: u16, retry_after: Option<u32>, body: ErrorBody) -> Response<Body> {
        let failure = Failure::by_code(code, retry_after);
        let (content, text) = match body {
            ErrorBody::Status => ("application/json", failure.json()),
            ErrorBody::PrettyStatus => {
                let value: serde_json::Value =
                    serde_json::from_slice(&failure.json()).unwrap_or_default();
                ("application/json", Bytes::from(format!("{value:#}\n")))
            }
            ErrorBody::Html => {
                let title = failure.http();
                let page = format!(
                    "<html>\n<head><title>{title}</title></head>\n<body><h1>{title}</h1></body>\n</html>\n"
                );
                ("text/html", Bytes::from(page))
            }
        };
        let mut response = self.respond(
            failure.http().as_u16(),
            content,
            Feed::whole(&text, &self.effects, Arc::clone(&self.switch)),
        );
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        response
    }

    fn refuse(&self, failure: &Failure) -> Response<Body> {
        let feed = Feed::whole(&failure.json(), &self.effects, Arc::clone(&self.switch));
        self.respond(failure.code, "application/json", feed)
    }

    fn dispatch(&self, route: &Route, user: Option<&User>) -> Result<Response<Body>, Failure> {
        let kinds = self.shared.store.kinds();
        let form = accepted(header(self.request, ACCEPT))?;
        let document = match route {
            Route::Objects {
                kind,
                namespace,
                name,
            } => {
                return self.objects((*kind, namespace.clone()), name.as_deref(), (form, user));
            }
            Route::Health => {
                return Ok(self.whole("text/plain; charset=utf-8", Bytes::from_static(b"ok")));
            }
            Route::CoreVersions | Route::Groups if form == Form::Discovery => {
                let document =
                    discovery::aggregated(*route == Route::CoreVersions, kinds).to_string();
                let content =
                    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
                return Ok(self.whole(content, Bytes::from(document)));
            }
            Route::CoreVersions => discovery::core_versions(),
            Route::Groups => discovery::groups(kinds),
            Route::Group(group) => discovery::group(group, kinds),
            Route::Resources(group, version) => discovery::resources(group, version, kinds),
            Route::Version => discovery::version(),
        };
        Ok(self.whole("application/json", Bytes::from(document.to_string())))
    }

    fn objects(
        &self,
        place: (usize, Option<String>),
        name: Option<&str>,
        (form, user): (Form, Option<&User>),
    ) -> Result<Response<Body>, Failure> {
        let shared = self.shared;
        let (index, namespace) = place;
        let kind = &shared.store.kinds()[index];
        let is_watch = self.query.flag("watch");
        let selection = Selection::of(&self.query, (index, namespace.clone()), kind)?;
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
                namespace: namespace.as_deref(),
                name: named,
            })?;
        }
        let view = View::of(form, &self.query, kind)?;
        let now = (shared.clock)();
        if let Some(name) = name {
            let key = Key {
                kind: index,
                namespace: namespace.unwrap_or_default(),
                name: name.to_owned(),
            };
            let version = shared.store.lock().get(&key).cloned();
            let version = version.ok_or_else(|| Failure::not_found(kind, name))?;
            return Ok(self.whole("application/json", view.object(&version, now)));
        }
        if is_watch {
            let source = Source::open(shared, selection, view, &self.query)?;
            return Ok(self.watch(source));
        }
        let body = list::list(
            &shared.store,
            &selection,
            (&self.query, &self.effects),
            (&view, now),
        )?;
        Ok(self.whole("application/json", body))
    }

    fn watch(&self, source: Source) -> Response<Body> {
        let mut effects = self.effects.clone();
        let gzipped = Effect::Framing(Framing::Gzip);
        let is_gzipped = effects.contains(&gzipped) && self.accepts_gzip();
        effects.retain(|effect| is_gzipped || *effect != gzipped);
        let feed = Feed::watch(source, effects, Arc::clone(&self.switch));
        let mut response = self.respond(200, "application/json", feed);
        if is_gzipped {
            response
                .headers_mut()
                .insert(CONTENT_ENCODING, http::HeaderValue::from_static("gzip"));
        }
        response
    }

    /// A whole body, compressed if the client likes that and it is worth it.
    fn whole(&self, content: &'static str, body: Bytes) -> Response<Body> {
        let is_gzipped = body.len() > GZIP_FROM && self.accepts_gzip();
        let body = if is_gzipped { gzip(&body) } else { body };
        let feed = Feed::whole(&body, &self.effects, Arc::clone(&self.switch));
        let mut response = self.respond(200, content, feed);
        if is_gzipped {
            response
                .headers_mut()
                .insert(CONTENT_ENCODING, http::HeaderValue::from_static("gzip"));
        }
        response
    }

    fn accepts_gzip(&self) -> bool {
        let codings = header(self.request, ACCEPT_ENCODING).unwrap_or_default();
        codings.split(',').any(|coding| {
            coding
                .split(';')
                .next()
                .is_some_and(|name| name.trim() == "gzip")
        })
    }

    fn respond(&self, code: u16, content: &'static str, feed: Feed) -> Response<Body> {
        self.progress.answered(code);
        let progress = Arc::clone(&self.progress);
        let frames = feed.into_stream().map(move |chunk| {
            let bytes = chunk?;
            progress.sent(bytes.len());
            Ok(Frame::data(bytes))
        });
        let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
        *response.status_mut() = http::StatusCode::from_u16(code).unwrap_or_default();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, http::HeaderValue::from_static(content));
        headers.insert("audit-id", http::HeaderValue::from_static("sandbox"));
        response
    }
}
