//! The true history: a watch sees every version, and the audit log has its author and its time.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use futures::TryStreamExt;
use http::Request;
use kube::api::WatchEvent;
use serde_json::Value;
use tokio::task::JoinSet;

use super::api::Api;
use super::audit::Audited;
use super::objects::{KINDS, Kind};
use super::write::{Storage, What, Write};

/// Records the versions of all objects.
pub struct Recorder {
    /// The storage of Events.
    events: Storage,
    seen: Arc<Mutex<Vec<Seen>>>,
    /// Dropping it ends the watches.
    _watches: JoinSet<()>,
}

/// An event of a watch.
#[derive(Clone, Debug)]
struct Seen {
    kind: Kind,
    what: What,
    object: Value,
}

impl Recorder {
    /// Starts to record at the current state.
    pub async fn start(api: &Api, events: Storage) -> Recorder {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut watches = JoinSet::new();
        for kind in KINDS {
            let path = kind.path_of_all();
            let list = api.get(&format!("{path}?limit=1")).await.unwrap();
            let from = list["metadata"]["resourceVersion"].as_str().unwrap();
            let uri = format!("{path}?watch=1&resourceVersion={from}");
            let (api, seen) = (api.clone(), seen.clone());
            watches.spawn(async move { follow(&api, kind, &uri, &seen).await });
        }
        Recorder {
            events,
            seen,
            _watches: watches,
        }
    }

    /// Whether an object with this name was seen of each kind.
    pub fn has_seen(&self, name: &str) -> bool {
        let seen = self.seen.lock().unwrap();
        let is_of = |kind: Kind| {
            move |seen: &&Seen| seen.kind == kind && seen.object["metadata"]["name"] == name
        };
        KINDS
            .into_iter()
            .all(|kind| seen.iter().any(|seen| is_of(kind)(&seen)))
    }

    /// The history of a namespace. The error names a version without a request.
    pub fn history(&self, namespace: &str, audited: &[Audited]) -> Result<Vec<Write>, String> {
        let mut requests = Requests::of(namespace, audited);
        let mut before: HashMap<(Kind, String), Value> = HashMap::new();
        let mut writes = Vec::new();
        for seen in self.seen.lock().unwrap().iter() {
            if seen.object["metadata"]["namespace"] != namespace {
                continue;
            }
            let (name, uid) = (seen.text("name"), seen.text("uid"));
            let revision = seen.text("resourceVersion").parse().unwrap();
            let request = requests.take(seen, before.get(&(seen.kind, name.clone())));
            let request = request
                .ok_or_else(|| format!("no request wrote {:?} {name} {revision}", seen.kind))?;
            writes.push(Write {
                before: before.remove(&(seen.kind, name.clone())),
                by: request.by.clone(),
                verb: request.verb.clone(),
                span: request.span,
                storage: match seen.kind {
                    Kind::Event => self.events,
                    _ => Storage::Main,
                },
                kind: seen.kind,
                what: seen.what,
                object: seen.object.clone(),
                uid,
                revision,
                name: name.clone(),
            });
            if seen.what != What::Deleted {
                before.insert((seen.kind, name), seen.object.clone());
            }
        }
        writes.sort_by_key(|write| write.span.done);
        Ok(writes)
    }
}

impl Seen {
    fn text(&self, field: &str) -> String {
        let text = self.object["metadata"][field].as_str();
        text.unwrap_or_default().to_owned()
    }
}

async fn follow(api: &Api, kind: Kind, uri: &str, seen: &Mutex<Vec<Seen>>) {
    let request = Request::get(uri).body(Vec::new()).unwrap();
    let events = api.0.request_events::<Value>(request).await.unwrap();
    let mut events = std::pin::pin!(events);
    // The watch ends with the API server.
    while let Ok(Some(event)) = events.try_next().await {
        let (what, object) = match event {
            WatchEvent::Added(object) => (What::Created, object),
            WatchEvent::Modified(object) => (What::Modified, object),
            WatchEvent::Deleted(object) => (What::Deleted, object),
            WatchEvent::Bookmark(_) | WatchEvent::Error(_) => continue,
        };
        seen.lock().unwrap().push(Seen { kind, what, object });
    }
}

/// The requests of a namespace.
struct Requests<'a> {
    /// The first request whose response has a version. Later ones changed nothing.
    wrote: HashMap<(&'a str, u64), &'a Audited>,
    /// The last request about an object.
    last: HashMap<&'a str, &'a Audited>,
    /// The bindings of each Pod.
    bindings: HashMap<&'a str, VecDeque<&'a Audited>>,
}

impl<'a> Requests<'a> {
    fn of(namespace: &str, audited: &'a [Audited]) -> Requests<'a> {
        let mut requests = Requests {
            wrote: HashMap::new(),
            last: HashMap::new(),
            bindings: HashMap::new(),
        };
        for request in audited.iter().filter(|it| it.namespace == namespace) {
            if let Some(revision) = request.revision {
                let version = (request.resource.as_str(), revision);
                requests.wrote.entry(version).or_insert(request);
            }
            if let Some(uid) = &request.uid {
                requests.last.insert(uid, request);
            }
            if request.by.subresource == "binding" {
                let bindings = requests.bindings.entry(&request.name);
                bindings.or_default().push_back(request);
            }
        }
        requests
    }

    /// The request that wrote a version.
    fn take(&mut self, seen: &Seen, before: Option<&Value>) -> Option<&'a Audited> {
        let (name, uid) = (seen.text("name"), seen.text("uid"));
        if seen.what == What::Deleted {
            return self.last.get(&*uid).copied();
        }
        // The answer to a binding has no version. A Pod that is created from a dump has its node from the start.
        let node = |object: &Value| object["spec"].get("nodeName").cloned();
        let is_change = seen.kind == Kind::Pod && seen.what == What::Modified;
        if is_change && node(&seen.object) != before.and_then(node) {
            return self.bindings.get_mut(&*name)?.pop_front();
        }
        let revision = seen.text("resourceVersion").parse().unwrap();
        let wrote = self.wrote.get(&(seen.kind.plural(), revision)).copied();
        // A deletion writes `deletionTimestamp` first.
        let is_marked = seen.object["metadata"].get("deletionTimestamp").is_some();
        wrote.or_else(|| self.last.get(&*uid).copied().filter(|_| is_marked))
    }
}
