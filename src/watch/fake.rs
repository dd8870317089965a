//! A server in memory with a fault script, for tests under a paused clock.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::Bytes;
use futures::stream;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::error::SourceError;
use super::key::{ClusterId, Form, Scope, SourceKey};
use super::selector::{matches_fields, matches_labels};
use super::transport::{At, BoxFuture, LineStream, ListPage, Page, Transport};
use crate::cluster::{ApiError, Status};
use crate::object::{Doc, Resource, ResourceVersion};

/// How often the server sends a bookmark on a quiet watch.
const BOOKMARK: Duration = Duration::from_secs(60);

/// A key for all pods.
pub(super) fn pods() -> SourceKey {
    SourceKey {
        cluster: ClusterId("test".into()),
        resource: Resource {
            group: "".into(),
            version: "v1".into(),
            plural: "pods".into(),
            kind: "Pod".into(),
            namespaced: true,
        },
        scope: Scope::Cluster,
        labels: None,
        fields: None,
        form: Form::Full,
    }
}

/// An error as the server answers it.
pub(super) fn api_error(code: u16) -> SourceError {
    let error = ApiError {
        verb: "list",
        resource: "pods".into(),
        status: Status {
            code,
            reason: String::new(),
            message: format!("code {code}"),
        },
    };
    match code {
        400 | 422 => SourceError::Rejected(error),
        401 => SourceError::Unauthorized(error),
        403 => SourceError::Forbidden(error),
        404 => SourceError::NotServed(error),
        405 => SourceError::MethodNotAllowed(error),
        410 => SourceError::Expired(error),
        429 | 503 | 504 => SourceError::Throttled { error, after: None },
        _ => SourceError::Server(error),
    }
}

/// 429 with a `Retry-After`.
pub(super) fn throttled(seconds: u64) -> SourceError {
    let after = Some(Duration::from_secs(seconds));
    match api_error(429) {
        SourceError::Throttled { error, .. } => SourceError::Throttled { error, after },
        other => other,
    }
}

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Did {
    Added,
    Modified,
    Deleted,
}

/// One version of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pod {
    pub(super) name: String,
    pub(super) uid: String,
    pub(super) rv: u64,
    pub(super) app: String,
    pub(super) deleting: bool,
}

impl Pod {
    /// As a watch event has it.
    pub(super) fn body(&self) -> String {
        format!(
            "{{\"kind\":\"Pod\",\"apiVersion\":\"v1\",{}",
            &self.listed()[1..]
        )
    }

    /// As a listing has it.
    fn listed(&self) -> String {
        let Pod {
            name,
            uid,
            rv,
            app,
            deleting,
        } = self;
        let deleting = if *deleting {
            r#""deletionTimestamp":"2026-01-01T00:00:00Z","#
        } else {
            ""
        };
        format!(
            r#"{{"metadata":{{"name":"{name}","namespace":"ns","uid":"{uid}","resourceVersion":"{rv}",{deleting}"labels":{{"app":"{app}"}}}}, "n":1.50,"at":{rv}}}"#
        )
    }

    fn matches(&self, key: &SourceKey) -> bool {
        if key.labels.is_none() && key.fields.is_none() {
            return true;
        }
        let doc = Doc::parse(self.listed()).expect("valid");
        let labels = key
            .labels
            .as_deref()
            .map(|text| text.parse().expect("labels"));
        let fields = key
            .fields
            .as_deref()
            .map(|text| text.parse().expect("fields"));
        labels.is_none_or(|labels| matches_labels(&labels, doc.root()))
            && fields.is_none_or(|fields| matches_fields(&fields, doc.root()))
    }
}

/// One entry of the server's history.
#[derive(Clone, Debug)]
pub(super) struct Op {
    pub(super) did: Did,
    pub(super) pod: Pod,
}

/// What goes wrong with one watch.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// It is not opened at all.
    pub(super) refuse: Option<SourceError>,
    /// How many versions it sends that were sent before.
    pub(super) replay: u64,
    /// How many events are sent before the fault.
    pub(super) after: usize,
    pub(super) fault: Fault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    /// The server ends the watch.
    Close,
    /// The connection breaks.
    Reset,
    /// Half a line, and the end.
    Half,
    /// Nothing any more.
    Stall,
    /// The next line is damaged; what follows is not.
    Garbage,
    /// The next line is of a type that nobody knows.
    UnknownType,
    /// The next line is too long.
    TooLong,
    /// An `ERROR` line with this code.
    Error(u16),
}

impl Plan {
    pub(super) fn after(after: usize, fault: Fault) -> Plan {
        Plan {
            refuse: None,
            replay: 0,
            after,
            fault,
        }
    }

    pub(super) fn refuse(error: SourceError) -> Plan {
        Plan {
            refuse: Some(error),
            ..Plan::after(0, Fault::None)
        }
    }

    pub(super) fn replay(replay: u64) -> Plan {
        Plan {
            replay,
            ..Plan::after(0, Fault::None)
        }
    }
}

/// One request that the server got, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    List {
        limit: u32,
        next: Option<String>,
        fields: Option<String>,
    },
    Watch {
        from: String,
    },
}

/// The server's state and script.
#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) rv: u64,
    pub(super) log: Vec<Op>,
    /// Versions up to this one are forgotten.
    pub(super) forgotten: u64,
    /// Whether 410 is an HTTP status, not a line.
    pub(super) gone_as_status: bool,
    pub(super) bookmarks: bool,
    /// Versions whose event is damaged each time it is sent.
    pub(super) poison: BTreeSet<u64>,
    /// How many items a page has at most; 0 for what is asked for.
    pub(super) page_items: usize,
    /// How long it takes to open a watch, besides the usual.
    pub(super) opening: Duration,
    pub(super) no_list: Option<SourceError>,
    pub(super) no_watch: Option<SourceError>,
    /// What the next listings answer.
    pub(super) lists: VecDeque<SourceError>,
    /// What the next pages after the first answer.
    pub(super) pages: VecDeque<SourceError>,
    /// What the next watches do.
    pub(super) plans: VecDeque<Plan>,
    /// An object that each page after the first brings again.
    pub(super) doubled: Option<Pod>,
    pub(super) requests: Vec<Request>,
    pub(super) times: Vec<tokio::time::Instant>,
    /// How many watches were told 410, and how many damaged lines were sent.
    pub(super) expired: usize,
    pub(super) damaged: usize,
    /// The version of the first listing that was read to its end.
    pub(super) listed_at: Option<u64>,
    /// Raised to cut all watches.
    kills: u64,
    uids: u64,
}

impl Model {
    /// What is there at a version.
    pub(super) fn at(&self, rv: u64) -> BTreeMap<String, Pod> {
        let mut there = BTreeMap::new();
        for op in self.log.iter().take_while(|op| op.pod.rv <= rv) {
            match op.did {
                Did::Added | Did::Modified => there.insert(op.pod.name.clone(), op.pod.clone()),
                Did::Deleted => there.remove(&op.pod.name),
            };
        }
        there
    }

    fn line(&mut self, key: &SourceKey, op: &Op) -> Option<String> {
        let before = self.at(op.pod.rv - 1).remove(&op.pod.name);
        let before = before.filter(|pod| pod.uid == op.pod.uid && pod.matches(key));
        let matches = op.pod.matches(key);
        let (kind, pod) = match (op.did, before, matches) {
            (Did::Added | Did::Modified, None, true) => ("ADDED", op.pod.clone()),
            (Did::Added | Did::Modified, Some(_), true) => ("MODIFIED", op.pod.clone()),
            (Did::Added | Did::Modified, Some(before), false) => {
                let rv = op.pod.rv;
                ("DELETED", Pod { rv, ..before })
            }
            (Did::Deleted, Some(_), _) => ("DELETED", op.pod.clone()),
            (_, None, _) => return None,
        };
        if self.poison.contains(&op.pod.rv) {
            self.damaged += 1;
            return Some(format!(r#"{{"type":"{kind}","object":{{"metadata":}}"#));
        }
        Some(format!(r#"{{"type":"{kind}","object":{}}}"#, pod.body()))
    }
}

/// The server.
#[derive(Clone)]
pub(super) struct Fake {
    model: Arc<Mutex<Model>>,
    moved: watch::Sender<u64>,
}

impl Fake {
    pub(super) fn new() -> Fake {
        let model = Model {
            rv: 100,
            forgotten: 100,
            bookmarks: true,
            ..Model::default()
        };
        Fake {
            model: Arc::new(Mutex::new(model)),
            moved: watch::Sender::new(0),
        }
    }

    pub(super) fn model(&self) -> MutexGuard<'_, Model> {
        self.model.lock().expect("no panic holds it")
    }

    fn wake(&self) {
        self.moved.send_modify(|moves| *moves += 1);
    }

    fn write(&self, did: Did, mut pod: Pod) -> u64 {
        let mut model = self.model();
        model.rv += 1;
        pod.rv = model.rv;
        model.log.push(Op { did, pod });
        let rv = model.rv;
        drop(model);
        self.wake();
        rv
    }

    pub(super) fn get(&self, name: &str) -> Option<Pod> {
        let model = self.model();
        model.at(model.rv).remove(name)
    }

    /// Creates a pod, or changes the one of that name; returns the version.
    pub(super) fn apply(&self, name: &str) -> u64 {
        if let Some(pod) = self.get(name) {
            return self.write(Did::Modified, pod);
        }
        let mut model = self.model();
        model.uids += 1;
        let pod = Pod {
            name: name.to_owned(),
            uid: format!("uid-{}", model.uids),
            rv: 0,
            app: "web".to_owned(),
            deleting: false,
        };
        drop(model);
        self.write(Did::Added, pod)
    }

    /// Changes a pod's label.
    pub(super) fn label(&self, name: &str, app: &str) -> u64 {
        let pod = self.get(name).expect("there");
        let app = app.to_owned();
        self.write(Did::Modified, Pod { app, ..pod })
    }

    /// Marks a pod as being deleted.
    pub(super) fn terminate(&self, name: &str) -> u64 {
        let pod = self.get(name).expect("there");
        let deleting = true;
        self.write(Did::Modified, Pod { deleting, ..pod })
    }

    pub(super) fn delete(&self, name: &str) -> u64 {
        self.write(Did::Deleted, self.get(name).expect("there"))
    }

    /// Forgets all versions before the present.
    pub(super) fn forget(&self) {
        let mut model = self.model();
        model.forgotten = model.rv;
    }

    /// The version moves on for another resource.
    pub(super) fn elsewhere(&self) {
        self.model().rv += 1;
        self.wake();
    }

    /// Adds the plan of a watch to come.
    pub(super) fn plan(&self, plan: Plan) {
        self.model().plans.push_back(plan);
    }

    /// Cuts all watches; what is asked then is refused until [`Fake::revive`].
    pub(super) fn kill(&self) {
        let down = SourceError::Connect {
            detail: "connection refused".into(),
        };
        let mut model = self.model();
        model.kills += 1;
        model.no_list = Some(down.clone());
        model.no_watch = Some(down);
        drop(model);
        self.wake();
    }

    /// Cuts all watches.
    pub(super) fn cut(&self) {
        self.model().kills += 1;
        self.wake();
    }

    pub(super) fn revive(&self) {
        let mut model = self.model();
        model.no_list = None;
        model.no_watch = None;
    }

    /// How many listings were asked for, and how many watches.
    pub(super) fn asked(&self) -> (usize, usize) {
        let model = self.model();
        let lists = model
            .requests
            .iter()
            .filter(|request| matches!(request, Request::List { .. }))
            .count();
        (lists, model.requests.len() - lists)
    }

    fn list_now(&self, key: &SourceKey, page: &Page) -> Result<ListPage, SourceError> {
        let mut model = self.model();
        model.requests.push(Request::List {
            limit: page.limit,
            next: page.next.as_deref().map(str::to_owned),
            fields: key.fields.as_deref().map(str::to_owned),
        });
        model.times.push(tokio::time::Instant::now());
        if let Some(error) = &model.no_list {
            return Err(error.clone());
        }
        let script = match page.next {
            None => &mut model.lists,
            Some(_) => &mut model.pages,
        };
        if let Some(error) = script.pop_front() {
            return Err(error);
        }
        let (rv, from) = match page.next.as_deref().and_then(|next| next.split_once(':')) {
            Some((rv, from)) => (rv.parse().expect("ours"), from.parse().expect("ours")),
            None => (model.rv, 0_usize),
        };
        let mut pods: Vec<Pod> = model.at(rv).into_values().collect();
        pods.retain(|pod| pod.matches(key));
        let limit = match (page.limit as usize, model.page_items) {
            (0, _) => pods.len(),
            (asked, 0) => asked,
            (asked, items) => asked.min(items),
        };
        let upto = pods.len().min(from + limit);
        let mut items: Vec<Box<str>> = pods[from..upto]
            .iter()
            .map(|pod| pod.listed().into())
            .collect();
        if let Some(pod) = model.doubled.as_ref().filter(|_| from > 0) {
            items.push(pod.listed().into());
        }
        if upto == pods.len() {
            model.listed_at.get_or_insert(rv);
        }
        Ok(ListPage {
            version: ResourceVersion::new(rv.to_string()),
            items,
            next: (upto < pods.len()).then(|| format!("{rv}:{upto}").into()),
        })
    }

    fn watch_now(&self, key: &SourceKey, from: &str) -> Result<LineStream, SourceError> {
        let mut model = self.model();
        model.requests.push(Request::Watch {
            from: from.to_owned(),
        });
        model.times.push(tokio::time::Instant::now());
        if let Some(error) = &model.no_watch {
            return Err(error.clone());
        }
        let mut plan = model
            .plans
            .pop_front()
            .unwrap_or_else(|| Plan::after(0, Fault::None));
        if let Some(error) = plan.refuse {
            return Err(error);
        }
        let from: u64 = from.parse().expect("ours");
        if from < model.forgotten {
            model.expired += 1;
            if model.gone_as_status {
                return Err(api_error(410));
            }
            plan = Plan::after(0, Fault::Error(410));
        }
        let connection = Connection {
            fake: self.clone(),
            moved: self.moved.subscribe(),
            key: key.clone(),
            at: from - plan.replay.min(from - 100),
            kills: model.kills,
            plan,
            sent: 0,
            over: false,
        };
        Ok(Box::pin(stream::unfold(connection, Connection::next)))
    }
}

impl Transport for Fake {
    fn list<'a>(
        &'a self,
        key: &'a SourceKey,
        _: At,
        page: Page,
    ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
        Box::pin(async move {
            sleep(Duration::from_millis(2)).await;
            self.list_now(key, &page)
        })
    }

    fn watch<'a>(
        &'a self,
        key: &'a SourceKey,
        from: &'a ResourceVersion,
    ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
        Box::pin(async move {
            let opening = self.model().opening;
            sleep(opening + Duration::from_millis(1)).await;
            self.watch_now(key, from.as_str())
        })
    }
}

/// One open watch.
struct Connection {
    fake: Fake,
    moved: watch::Receiver<u64>,
    key: SourceKey,
    at: u64,
    kills: u64,
    plan: Plan,
    sent: usize,
    over: bool,
}

type Answer = Result<Bytes, SourceError>;

impl Connection {
    async fn next(mut self) -> Option<(Answer, Connection)> {
        if self.over {
            return None;
        }
        loop {
            self.moved.mark_unchanged();
            if self.fake.model().kills > self.kills {
                self.over = true;
                let detail = "connection reset".into();
                return Some((Err(SourceError::Cut { detail }), self));
            }
            if self.plan.fault != Fault::None && self.sent >= self.plan.after {
                let fault = std::mem::replace(&mut self.plan.fault, Fault::None);
                return self.break_down(fault).await;
            }
            if let Some(line) = self.line() {
                self.sent += 1;
                return Some((Ok(line), self));
            }
            let _ = timeout(BOOKMARK, self.moved.changed()).await.is_err()
                && {
                    let model = self.fake.model();
                    let (rv, bookmarks) = (model.rv, model.bookmarks);
                    drop(model);
                    if bookmarks {
                        self.at = rv;
                        let line = format!(
                            r#"{{"type":"BOOKMARK","object":{{"kind":"Pod","metadata":{{"resourceVersion":"{rv}"}}}}}}"#
                        );
                        return Some((Ok(line.into()), self));
                    }
                    true
                };
        }
    }

    /// The next event of the history.
    fn line(&mut self) -> Option<Bytes> {
        let mut model = self.fake.model();
        while let Some(op) = model.log.iter().find(|op| op.pod.rv > self.at).cloned() {
            self.at = op.pod.rv;
            if let Some(line) = model.line(&self.key, &op) {
                return Some(line.into());
            }
        }
        None
    }

    async fn break_down(mut self, fault: Fault) -> Option<(Answer, Connection)> {
        let cut = |detail: &str| SourceError::Cut {
            detail: detail.into(),
        };
        let answer = match fault {
            Fault::None | Fault::Close => return None,
            Fault::Reset => {
                self.over = true;
                Err(cut("connection reset"))
            }
            Fault::Stall => std::future::pending().await,
            Fault::Error(code) => {
                let line = format!(
                    r#"{{"type":"ERROR","object":{{"kind":"Status","code":{code},"message":"code {code}"}}}}"#
                );
                Ok(line.into())
            }
            Fault::Half | Fault::Garbage | Fault::UnknownType | Fault::TooLong => {
                let line = self.line_or_wait().await;
                self.fake.model().damaged += 1;
                self.over = fault == Fault::Half || fault == Fault::TooLong;
                match fault {
                    Fault::Half => Ok(line.slice(..line.len() / 2)),
                    Fault::UnknownType => {
                        let text = String::from_utf8_lossy(&line);
                        Ok(text.replacen("\"type\":\"", "\"type\":\"X", 1).into())
                    }
                    Fault::TooLong => Err(SourceError::Decode {
                        detail: "a line of more than 16 MiB".into(),
                    }),
                    _ => {
                        let mut damaged = line.to_vec();
                        damaged[20] = 0xff;
                        Ok(damaged.into())
                    }
                }
            }
        };
        Some((answer, self))
    }

    async fn line_or_wait(&mut self) -> Bytes {
        loop {
            self.moved.mark_unchanged();
            if let Some(line) = self.line() {
                return line;
            }
            let _ = self.moved.changed().await;
        }
    }
}
